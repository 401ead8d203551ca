/*
 * engine/check/carve_scan.c: looks through bytes for disk headers and frames. See carving.h. [U-6]
 *
 * One pass, in order. The magics of both begin with the same six bytes, which are searched for at any offset; behind a
 * whole frame the search goes on, and nothing in it counts.
 */
#include "engine/check/carving.h"

#include "engine/os/list.h"
#include "engine/os/process.h"
#include "format/base/bytes.h"
#include "format/base/fault.h"
#include "format/frame/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 4 << 20,
    FRAMES_ROOM = 2 * (17 << 20), /* for a frame twice */
    HASHED_MAX = 4,               /* times the bytes */
    TRIED_MAX = 64,               /*   and as often in search of what is in two pieces, */
    TRIED_LEAST = 1 << 30,        /*   of small images too */
    WOUNDS_MAX = 1 << 20,
    GLANCE_MAX = 256,             /* bytes for which a block is read */
    TABLE_FIRST = 64
};

u9_err u9i_carve_no_memory(const u9i_carving *c)
{
    return u9i_fault(c->fault, U9_NOMEM, U9I_AT(.path = c->path), "out of memory");
}

/* Bytes within one block, from what is kept of it; false: they cross blocks, or it cannot be read. */
static bool glance_at(const u9i_carving *c, uint32_t image, uint64_t at, void *bytes, size_t n)
{
    uint64_t block = at / U9I_BLOCK;
    size_t in = (size_t)(at % U9I_BLOCK);
    if (n > U9I_BLOCK - in) return false;
    u9i_glance *g = &c->glances[(block * 0x9e3779b97f4a7c15 >> 32) % U9I_GLANCES]; /* two rows of places seldom share one */
    if (g->size == 0 || g->image != image || g->at != block * U9I_BLOCK) {
        g->image = image;
        g->at = block * U9I_BLOCK;
        if (u9i_file_read(c->images[image].file, g->at, g->bytes, sizeof g->bytes, &g->size) != 0) g->size = 0;
    }
    if (in + n > g->size) return false;
    memcpy(bytes, g->bytes + in, n);
    return true;
}

bool u9i_carve_read(const u9i_carving *c, uint32_t image, uint64_t at, void *bytes, size_t n)
{
    u9i_image *i = &c->images[image];
    if (at > i->size || n > i->size - at) return false;
    if (n <= GLANCE_MAX && glance_at(c, image, at, bytes, n)) return true;
    bool read = u9i_read_exactly(i->file, at, bytes, n) == 0;
    if (!read) i->missed = n;
    return read;
}

bool u9i_carve_fetch(const u9i_carving *c, const u9i_fragment *f)
{
    size_t first = (size_t)(f->split - f->offset), rest = (size_t)(f->end - f->split);
    return u9i_carve_read(c, f->image, f->at, c->frame, first) &&
           (rest == 0 || u9i_carve_read(c, f->rest_image, f->rest, c->frame + first, rest));
}

/* Files */

static int note_image(void *ctx, const char *name)
{
    u9i_carving *c = ctx;
    u9i_stamp stamp;
    if (u9i_dir_stat(c->dir, name, &stamp) != 0) return 0;
    u9i_image *more = u9i_grow(c->images, c->image_count, &c->image_room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    c->images = more;
    u9i_image *i = &c->images[c->image_count];
    *i = (u9i_image){.size = 0};
    snprintf(i->name, sizeof i->name, "%s", name);
    int err = u9i_file_open(c->dir, name, U9I_OPEN_READ, &i->file);
    if (err == -EINVAL || err == -ENOENT) return 0; /* a directory, or no file at all */
    if (err != 0) return err;
    c->image_count++;
    return u9i_file_size(i->file, &i->size);
}

static int image_order(const void *a, const void *b)
{
    return strcmp(((const u9i_image *)a)->name, ((const u9i_image *)b)->name);
}

/* Kin by boundary, which is a hash already */

static size_t kin_slot(const u9i_carving *c, const uint8_t boundary[U9I_HASH_SIZE])
{
    size_t i = (size_t)u9i_get_be(boundary, 8) & (c->table_size - 1);
    while (c->table[i] && memcmp(c->kin[c->table[i] - 1].boundary, boundary, U9I_HASH_SIZE) != 0)
        i = (i + 1) & (c->table_size - 1);
    return i;
}

static bool make_table(u9i_carving *c, size_t size)
{
    uint32_t *table = calloc(size, sizeof *table);
    if (table == NULL) return false;
    free(c->table);
    c->table = table;
    c->table_size = size;
    for (size_t i = 0; i < c->kin_count; i++) table[kin_slot(c, c->kin[i].boundary)] = (uint32_t)(i + 1);
    return true;
}

u9_err u9i_carve_open(u9i_carving *c)
{
    int err = u9i_dir_open(c->env, c->path, false, &c->dir);
    if (err == 0) err = c->dir->single[0] ? note_image(c, c->dir->single) : u9i_dir_list(c->dir, note_image, c);
    if (err == -ENOMEM) return u9i_carve_no_memory(c);
    if (err != 0)
        return u9i_fault(c->fault, U9_IO, U9I_AT(.path = c->path, .sys = -err), "cannot open what is to be looked through");
    if (c->image_count > 0) qsort(c->images, c->image_count, sizeof *c->images, image_order);
    for (size_t i = 0; i < c->image_count; i++) c->all += c->images[i].size;
    c->report->files = c->image_count;
    c->report->bytes = c->all;
    c->left = HASHED_MAX * c->all;
    c->tries = TRIED_MAX * c->all + TRIED_LEAST;
    c->chunk = u9i_pages(CHUNK);
    c->frame = u9i_pages(FRAMES_ROOM);
    c->glances = calloc(U9I_GLANCES, sizeof *c->glances);
    return c->chunk && c->frame && c->glances && make_table(c, TABLE_FIRST) ? U9_OK : u9i_carve_no_memory(c);
}

void u9i_carve_release(u9i_carving *c)
{
    for (size_t i = 0; i < c->image_count; i++) u9i_file_close(c->images[i].file);
    for (size_t i = 0; i < c->kin_count; i++) free(c->kin[i].frames);
    if (c->dir) u9i_dir_close(c->dir);
    if (c->chunk) u9i_pages_free(c->chunk, CHUNK);
    if (c->frame) u9i_pages_free(c->frame, FRAMES_ROOM);
    free(c->glances);
    free(c->ends);
    free(c->mended);
    free(c->images);
    free(c->kin);
    free(c->table);
    free(c->wounds);
}

u9i_kin *u9i_carve_kin(u9i_carving *c, const uint8_t boundary[U9I_HASH_SIZE], bool make)
{
    if (make && 2 * (c->kin_count + 1) > c->table_size && !make_table(c, 2 * c->table_size)) return NULL;
    size_t slot = kin_slot(c, boundary);
    if (c->table[slot] || !make) return c->table[slot] ? &c->kin[c->table[slot] - 1] : NULL;
    u9i_kin *more = u9i_grow(c->kin, c->kin_count, &c->kin_room, sizeof *more);
    if (more == NULL) return NULL;
    c->kin = more;
    u9i_kin *k = &c->kin[c->kin_count++];
    memset(k, 0, sizeof *k);
    memcpy(k->boundary, boundary, U9I_HASH_SIZE);
    c->table[slot] = (uint32_t)c->kin_count;
    return k;
}

bool u9i_carve_add(u9i_kin *k, const u9i_fragment *f)
{
    u9i_fragment *more = u9i_grow(k->frames, k->count, &k->room, sizeof *more);
    if (more == NULL) return false;
    k->frames = more;
    k->frames[k->count++] = *f;
    return true;
}

/* What stands there */

/* Reads what lies within the bytes that are looked through. *dark: it does, and cannot be read. */
static bool read_within(const u9i_carving *c, uint32_t image, uint64_t at, void *bytes, size_t n, bool *dark)
{
    uint64_t size = c->images[image].size;
    if (u9i_carve_read(c, image, at, bytes, n)) return true;
    *dark = at <= size && n <= size - at;
    return false;
}

/* What stands around a magic that was read just now: that it cannot be read is told. */
static bool read_around(u9i_carving *c, uint32_t image, uint64_t at, void *bytes, size_t n)
{
    bool dark = false, read = read_within(c, image, at, bytes, n, &dark);
    if (dark) c->report->unread += n;
    return read;
}

/* A disk header is one if the hash of its secret stands behind it. [H-2] */
static u9_err take_header(u9i_carving *c, uint32_t image, uint64_t at)
{
    static const uint8_t zeros[8];
    uint8_t bytes[U9I_DISK_HEADER_SIZE + U9I_HASH_SIZE];
    u9i_secret secret;
    if (!read_around(c, image, at, bytes, sizeof bytes) || memcmp(bytes + 24, zeros, sizeof zeros) != 0 ||
        !u9i_secret_init(&secret, bytes + 8) ||
        memcmp(secret.boundary, bytes + U9I_DISK_HEADER_SIZE, U9I_HASH_SIZE) != 0)
        return U9_OK;
    u9i_kin *k = u9i_carve_kin(c, secret.boundary, true);
    if (k == NULL) return u9i_carve_no_memory(c);
    k->proven = k->has_header = true;
    k->secret = secret;
    k->header_image = image;
    k->header_at = at;
    return U9_OK;
}

bool u9i_carve_trailer(const uint8_t bytes[U9I_TRAILER_SIZE], u9i_trailer *t)
{
    if (!u9i_trailer_decode(bytes, t) || t->offset < U9I_DISK_HEADER_SIZE || t->offset % U9I_ALIGN != 0 ||
        t->offset >= U9I_SEGMENT_MAX || t->durable > t->offset)
        return false;
    return t->offset == U9I_DISK_HEADER_SIZE ? t->previous == 0
                                             : t->previous >= U9I_DISK_HEADER_SIZE && t->previous < t->offset;
}

static u9_err note_wound(u9i_carving *c, uint32_t image, uint64_t at, bool dark)
{
    if (c->wound_count == WOUNDS_MAX) {
        c->report->gave_up = 1;
        return U9_OK;
    }
    u9i_wound *more = u9i_grow(c->wounds, c->wound_count, &c->wound_room, sizeof *more);
    if (more == NULL) return u9i_carve_no_memory(c);
    c->wounds = more;
    c->wounds[c->wound_count++] = (u9i_wound){.at = at, .image = image, .dark = dark};
    return U9_OK;
}

/*
 * True if the payload behind this header hashes to what it says; *f is the frame then. [F-6] d g h *dark: it may be, but
 * for what cannot be read of it.
 */
static bool frame_is_whole(u9i_carving *c, uint32_t image, uint64_t at, const uint8_t *header, u9i_fragment *f, bool *dark)
{
    uint64_t length = u9i_get_be(header + 56, 8);
    uint8_t trailer[U9I_TRAILER_SIZE], sha[U9I_HASH_SIZE];
    u9i_trailer t;
    if (length < U9I_TRAILER_SIZE || length > U9I_PAYLOAD_MAX ||
        !read_within(c, image, at + U9I_FRAME_HEADER_SIZE + length - U9I_TRAILER_SIZE, trailer, sizeof trailer, dark) ||
        !u9i_carve_trailer(trailer, &t))
        return false;
    if (length > c->left) {
        c->report->gave_up = 1;
        return false;
    }
    if (!read_within(c, image, at + U9I_FRAME_HEADER_SIZE, c->frame, (size_t)length, dark)) return false;
    c->left -= length;
    u9i_hash(c->frame, (size_t)length, sha);
    if (memcmp(sha, header + 16, sizeof sha) != 0) return false;
    uint64_t end = t.offset + U9I_FRAME_HEADER_SIZE + length;
    *f = (u9i_fragment){.offset = t.offset, .end = end, .at = at, .split = end, .image = image, .previous = t.previous,
                        .ordinal = t.ordinal};
    memcpy(f->sha, sha, sizeof sha);
    memcpy(f->signature, header + 32, U9I_HASH_SIZE);
    memcpy(f->chain, t.chain, U9I_HASH_SIZE);
    return true;
}

static u9_err take_carved(u9i_carving *c, uint32_t image, uint64_t magic_at, uint64_t *next)
{
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    u9i_fragment f;
    bool dark = false;
    if (magic_at < 48 || !read_around(c, image, magic_at - 48, header, sizeof header)) return U9_OK;
    if (!frame_is_whole(c, image, magic_at - 48, header, &f, &dark)) return note_wound(c, image, magic_at - 48, dark);
    u9i_kin *k = u9i_carve_kin(c, header, true);
    if (k == NULL || !u9i_carve_add(k, &f)) return u9i_carve_no_memory(c);
    *next = f.at + U9I_FRAME_HEADER_SIZE + u9i_get_be(header + 56, 8);
    return U9_OK;
}

static u9_err take_magic(u9i_carving *c, uint32_t image, uint64_t at, const uint8_t *bytes, uint64_t *next)
{
    *next = at + 6;
    if (memcmp(bytes, u9i_disk_magic, sizeof u9i_disk_magic) == 0) return take_header(c, image, at);
    return memcmp(bytes, u9i_frame_magic, sizeof u9i_frame_magic) == 0 ? take_carved(c, image, at, next) : U9_OK;
}

u9_err u9i_carve_tell(u9i_carving *c, uint64_t done)
{
    if (c->options->on_progress == NULL || c->options->on_progress(c->options->ctx, done, c->all) == 0) return U9_OK;
    return u9i_fault(c->fault, U9_STATE, U9I_AT(.path = c->path), "stopped as asked");
}

/* What cannot be read is passed by the block. */
static uint64_t pass_dark(u9i_carving *c, uint32_t image, uint64_t at)
{
    uint64_t next = (at / U9I_BLOCK + 1) * U9I_BLOCK, size = c->images[image].size;
    next = next < size ? next : size;
    c->report->unread += next - at;
    return next;
}

/* One chunk, from *at on; *at is where the next one begins. */
static u9_err scan_chunk(u9i_carving *c, uint32_t image, uint64_t *at)
{
    const u9i_image *i = &c->images[image];
    size_t n = i->size - *at < CHUNK ? (size_t)(i->size - *at) : CHUNK, got = 0;
    uint64_t base = *at, next = base;
    int sys = u9i_file_read(i->file, base, c->chunk, n, &got);
    if (sys != 0 && n > U9I_BLOCK) {
        n = U9I_BLOCK - (size_t)(base % U9I_BLOCK);
        sys = u9i_file_read(i->file, base, c->chunk, n, &got);
    }
    if (sys != 0 || got == 0) {
        *at = pass_dark(c, image, base);
        return U9_OK;
    }
    while (next < base + got) {
        size_t hit = u9i_magic_find(c->chunk, (size_t)(next - base), got);
        if (hit >= got) break;
        u9_err err = take_magic(c, image, base + hit, c->chunk + hit, &next);
        if (err != U9_OK) return err;
    }
    uint64_t end = base + got, overlap = end < i->size && got > 7 ? 7 : 0;
    *at = next > end - overlap ? next : end - overlap; /* a magic may lie across */
    return U9_OK;
}

u9_err u9i_carve_scan(u9i_carving *c)
{
    u9_err err = U9_OK;
    for (size_t i = 0; i < c->image_count && err == U9_OK; i++) {
        const u9i_image *image = &c->images[i];
        for (uint64_t at = 0; err == U9_OK && (at = u9i_file_data(image->file, at)) < image->size;) {
            err = scan_chunk(c, (uint32_t)i, &at);
            if (err == U9_OK) err = u9i_carve_tell(c, c->done + (at < image->size ? at : image->size));
        }
        c->done += image->size;
    }
    return err;
}

/* Calls `each` for the trailers that begin in the chunk. */
static u9_err each_trailer(u9i_carving *c, uint32_t image, uint64_t base, size_t got, u9i_trailer_fn *each)
{
    u9i_trailer t;
    u9_err err = U9_OK;
    for (size_t i = 0; got >= U9I_TRAILER_SIZE && i <= got - U9I_TRAILER_SIZE && err == U9_OK; i++) {
        const uint8_t *hit = memchr(c->chunk + i, 0x4d, got - U9I_TRAILER_SIZE + 2 - i);
        if (hit == NULL) break;
        i = (size_t)(hit - c->chunk);
        if (i == 0 || !u9i_carve_trailer(hit - 1, &t)) continue;
        err = each(c, image, base + i - 1, &t);
    }
    return err;
}

u9_err u9i_carve_trailers(u9i_carving *c, u9i_trailer_fn *each)
{
    u9_err err = U9_OK;
    for (size_t i = 0; i < c->image_count && err == U9_OK; i++) {
        const u9i_image *image = &c->images[i];
        for (uint64_t at = 0; err == U9_OK && (at = u9i_file_data(image->file, at)) < image->size;) {
            size_t n = image->size - at < CHUNK ? (size_t)(image->size - at) : CHUNK, got = 0;
            if (u9i_file_read(image->file, at, c->chunk, n, &got) != 0) {
                n = U9I_BLOCK - (size_t)(at % U9I_BLOCK);
                if (u9i_file_read(image->file, at, c->chunk, n, &got) != 0) got = 0;
            }
            err = each_trailer(c, (uint32_t)i, at, got, each);
            if (err == U9_OK) err = u9i_carve_tell(c, c->all);
            at += got == 0 ? n : got == n && n > 2 * U9I_TRAILER_SIZE && at + n < image->size ? n - U9I_TRAILER_SIZE : n;
        }
    }
    return err;
}
