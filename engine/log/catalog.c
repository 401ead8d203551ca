/*
 * engine/log/catalog.c: see map.h. [L-1] to [L-4]
 */
#include "engine/log/catalog.h"

#include "format/frame/disk.h"

#include <u9/value.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void u9i_segment_name(uint64_t number, char out[20])
{
    snprintf(out, 20, "%016llx.u9", (unsigned long long)number);
}

uint64_t u9i_segment_number(const char *name)
{
    uint64_t number = 0;
    if (strlen(name) != 19 || strcmp(name + 16, ".u9") != 0) return 0;
    for (unsigned i = 0; i < 16; i++) {
        const char *digit = strchr("0123456789abcdef", name[i]);
        if (digit == NULL || *digit == 0) return 0;
        number = number << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    return number;
}

const char *u9i_catalog_path(const u9i_catalog *map, const u9i_facts *segment, char *out, size_t size)
{
    if (map->dir->single[0]) snprintf(out, size, "%s", map->path);
    else snprintf(out, size, "%s/%s", map->path, segment->name);
    return out;
}

static u9i_facts *add(u9i_catalog *map, const char *name)
{
    if ((map->count & (map->count - 1)) == 0) { /* room doubles at powers of two */
        size_t room = map->count ? map->count * 2 : 1;
        u9i_facts *more = realloc(map->segments, room * sizeof *more);
        if (more == NULL) return NULL;
        map->segments = more;
    }
    u9i_facts *s = &map->segments[map->count++];
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->number = u9i_segment_number(name);
    return s;
}

static int list_name(void *ctx, const char *name)
{
    if (u9i_segment_number(name) == 0) return 0;
    return add(ctx, name) ? 0 : -ENOMEM;
}

static int by_number(const void *a, const void *b)
{
    const u9i_facts *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Reads the u9open that must be the first frame. [S-1] [C-3] */
static u9_err read_open(u9i_catalog *map, u9i_facts *s, u9i_window *scan)
{
    u9i_frame frame;
    u9i_body body;
    uint8_t scratch[U9I_BLOCK];
    size_t need;
    scan->secret = s->secret;
    u9_err err = u9i_window_at(scan, U9I_DISK_HEADER_SIZE, s->size, &frame);
    if (err == U9_IO) return err;
    if (err != U9_OK || u9i_body_open(&frame, scratch, sizeof scratch, &need, &body) != U9_OK ||
        body.kind != U9I_BODY_OPEN || u9i_open_record_decode(body.bytes, body.size, &s->open) != U9_OK)
        return U9_OK;
    if (frame.trailer.ordinal != s->open.end.ordinal ||
        memcmp(frame.trailer.chain, s->open.end.chain, U9I_HASH_SIZE) != 0)
        return U9_OK; /* [C-3]: the walk reports it */
    s->has_open = true;
    if (map->kind[0] == 0) memcpy(map->kind, s->open.kind.data, s->open.kind.size);
    s->open.kind = (u9i_span){0};
    return U9_OK;
}

static void keep_key(u9i_catalog *map, unsigned which, u9i_span key)
{
    map->end_key_size[which] = key.size;
    memcpy(map->end_key[which], key.data, key.size);
}

/* Reads the u9end that may be the last block. [S-4] */
static u9_err read_end(u9i_catalog *map, u9i_facts *s, u9i_window *scan)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_body body;
    size_t need;
    if (s->size < 2 * U9I_BLOCK || s->size % U9I_BLOCK != 0) return U9_OK;
    u9_err err = u9i_window_at(scan, s->size - U9I_BLOCK, s->size, &s->end_frame);
    if (err == U9_IO) return err;
    if (err != U9_OK ||
        u9i_body_open(&s->end_frame, scratch, sizeof scratch, &need, &body) != U9_OK ||
        body.kind != U9I_BODY_END || u9i_end_record_decode(body.bytes, body.size, &s->end) != U9_OK)
        return U9_OK;
    s->has_end = true;
    if (map->kind[0] == 0) memcpy(map->kind, s->end.key_kind.data, s->end.key_kind.size);
    if (s == &map->segments[map->count - 1]) {
        keep_key(map, 0, s->end.first_key);
        keep_key(map, 1, s->end.last_key);
    }
    s->end.first_key = s->end.last_key = s->end.key_kind = (u9i_span){0};
    s->end_frame.body = NULL;
    return U9_OK;
}

/* A secret counts if its boundary is the one that stands at `boundary`. */
static bool fits(const uint8_t bytes[U9I_SECRET_SIZE], const uint8_t *boundary, u9i_secret *out)
{
    u9i_secret secret;
    u9i_secret_init(&secret, bytes);
    if (memcmp(secret.boundary, boundary, U9I_HASH_SIZE) != 0) return false;
    *out = secret;
    return true;
}

/* The copy in the u9end of the last block, whose frame cannot be proven yet. */
static u9_err secret_from_end(const u9i_facts *s, u9i_window *scan, u9i_secret *out, bool *found)
{
    const uint8_t *p;
    size_t avail;
    if (s->size < 2 * U9I_BLOCK || s->size % U9I_BLOCK != 0) return U9_OK;
    u9_err err = u9i_window_bytes(scan, s->size - U9I_BLOCK, U9I_BLOCK, &p, &avail);
    if (err != U9_OK || avail < U9I_BLOCK) return err;
    /* By its own length, not by the frame's: nothing of that frame is proven. */
    const uint8_t *body = p + U9I_FRAME_HEADER_SIZE;
    u9_value tuple;
    u9i_end_record end;
    if (u9_value_decode(body, U9I_BLOCK - U9I_FRAME_HEADER_SIZE, &tuple) == U9_OK &&
        u9i_end_record_decode(body, tuple.encoded, &end) == U9_OK)
        *found = fits(end.secret, p, out);
    return U9_OK;
}

/* The secret with one bit flipped, against the boundary of the first frame. */
static u9_err secret_from_flips(const u9i_facts *s, u9i_window *scan, u9i_secret *out, bool *found)
{
    const uint8_t *p;
    size_t avail;
    u9_err err = u9i_window_bytes(scan, U9I_DISK_HEADER_SIZE, U9I_HASH_SIZE, &p, &avail);
    if (err != U9_OK || avail < U9I_HASH_SIZE) return err;
    for (unsigned bit = 0; bit < 8 * U9I_SECRET_SIZE && !*found; bit++) {
        uint8_t secret[U9I_SECRET_SIZE];
        memcpy(secret, s->secret.bytes, sizeof secret);
        secret[bit / 8] ^= (uint8_t)(1u << bit % 8);
        *found = fits(secret, p, out);
    }
    return U9_OK;
}

/* A header that opens nothing: the spare copies of the secret, in this order. [H-5] */
static u9_err spare_secret(const u9i_catalog *map, u9i_facts *s, u9i_window *scan)
{
    u9i_secret secret;
    bool found = false;
    const u9i_facts *end = map->segments + map->count;
    for (const u9i_facts *k = s + 1; k < end && !found; k++)
        if (k->has_open && k->open.before_segment == s->number)
            found = fits(k->open.before_secret, k->open.before_boundary, &secret);
    u9_err err = found ? U9_OK : secret_from_end(s, scan, &secret, &found);
    if (err == U9_OK && !found) err = secret_from_flips(s, scan, &secret, &found);
    if (!found || memcmp(secret.bytes, s->secret.bytes, sizeof secret.bytes) == 0) return err;
    s->secret = secret;
    if (s->header == U9_OK) s->header = U9_CORRUPT; /* U9_VERSION stays: another magic is told first [H-4] */
    return U9_OK;
}

/* The trailer that the header at p claims, read apart: the window stays. [F-6] g, and a promise in it. */
static bool claims_promise(const u9i_window *scan, uint64_t p, uint64_t at)
{
    uint8_t bytes[U9I_TRAILER_SIZE];
    size_t got = 0;
    u9i_trailer t;
    if (u9i_file_read(scan->file, at, bytes, sizeof bytes, &got) != 0 ||
        got < sizeof bytes || !u9i_trailer_decode(bytes, &t))
        return false;
    bool place = p == U9I_DISK_HEADER_SIZE
                     ? t.previous == 0
                     : t.previous >= U9I_DISK_HEADER_SIZE && t.previous < p;
    return place && t.offset == p && t.durable != 0 && t.durable <= p;
}

/*
 * True if a frame that carries a promise stands at p, whole but for its boundary and signature. Frames
 * of an honest file do not share a byte: once `*left` bytes were hashed, as many as the file has, more of
 * them are forged, and taken for promises, so that no file costs more than its size.
 */
static bool unsigned_promise(u9i_window *scan, uint64_t p, uint64_t size, uint64_t *left)
{
    const uint8_t *bytes;
    size_t avail;
    uint8_t sha[U9I_HASH_SIZE];
    if (u9i_window_bytes(scan, p, U9I_FRAME_HEADER_SIZE, &bytes, &avail) != U9_OK) return true;
    if (avail < U9I_FRAME_HEADER_SIZE || memcmp(bytes + 48, u9i_frame_magic, 8) != 0) return false;
    uint64_t length = u9i_get_be(bytes + 56, 8);
    if (length < U9I_TRAILER_SIZE || length > U9I_PAYLOAD_MAX) return false;
    uint64_t total = U9I_FRAME_HEADER_SIZE + length;
    if (total + u9i_padding(length) > size - p ||
        !claims_promise(scan, p, p + total - U9I_TRAILER_SIZE))
        return false;
    if (total > *left) return true;
    *left -= total;
    if (u9i_window_bytes(scan, p, (size_t)total, &bytes, &avail) != U9_OK) return true;
    if (avail < total) return false;
    u9i_hash(bytes + U9I_FRAME_HEADER_SIZE, (size_t)length, sha);
    return memcmp(sha, bytes + 16, U9I_HASH_SIZE) == 0;
}

/*
 * A creation cut short: the first sector never reached the disk, or a writer is still at it, and
 * nothing in the file was ever a promise. [L-4] Without the first sector there is no secret, so frames are
 * known by their magic. The frame at 32 was just looked at.
 */
static u9_err look_blank(const u9i_catalog *map, u9i_facts *s, u9i_window *scan)
{
    bool unfinished = s == &map->segments[map->count - 1] && scan->why != U9_R_NONE;
    u9i_zeros zeros;
    uint64_t left = s->size;
    if (s->size < U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE) {
        s->blank = true;
        return U9_OK;
    }
    u9_err err = u9i_window_zeros(scan, 0, U9I_SECTOR, &zeros);
    if (err != U9_OK) return err;
    if (zeros.last != 0 && !(unfinished && u9i_dir_writer_active(map->dir))) return U9_OK;
    s->blank = true;
    for (uint64_t p = U9I_DISK_HEADER_SIZE; p < s->size && s->blank; p += U9I_ALIGN) {
        const uint8_t *bytes;
        size_t avail;
        err = u9i_window_bytes(scan, p, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
        if (err != U9_OK || avail < U9I_FRAME_HEADER_SIZE) return err;
        if (bytes[48] == 0xff && unsigned_promise(scan, p, s->size, &left)) s->blank = false;
    }
    return U9_OK;
}

/* A frame's header at 32 whose boundary is not that of the secret: the secret is damaged. [H-4] */
static u9_err look_secret(u9i_facts *s, u9i_window *scan)
{
    const uint8_t *p;
    size_t avail;
    u9_err err = u9i_window_bytes(scan, U9I_DISK_HEADER_SIZE, U9I_FRAME_HEADER_SIZE, &p, &avail);
    if (err != U9_OK) return err;
    bool other = avail >= U9I_FRAME_HEADER_SIZE && memcmp(p + 48, u9i_frame_magic, 8) == 0 &&
                 memcmp(p, s->secret.boundary, U9I_HASH_SIZE) != 0;
    if (!other && s->header == U9_OK) return U9_OK;
    u9i_frame f; /* unless other frames are there by this secret: then it is that boundary */
    err = u9i_window_find(scan, U9I_DISK_HEADER_SIZE, s->size, &f);
    if (err != U9_END) return err;
    s->barren = true;
    if (other && s->header == U9_OK) s->header = U9_CORRUPT;
    return U9_OK;
}

static u9_err probe(u9i_catalog *map, u9i_facts *s, u9i_window *scan)
{
    const uint8_t *bytes;
    size_t avail;
    u9_err err = u9i_window_bytes(scan, 0, U9I_BLOCK, &bytes, &avail);
    if (err != U9_OK) return err;
    uint8_t header[U9I_DISK_HEADER_SIZE] = {0};
    memcpy(header, bytes, avail < sizeof header ? avail : sizeof header);
    s->header = u9i_disk_decode(header, &s->secret);
    if (avail < sizeof u9i_disk_magic || (avail < sizeof header && s->header == U9_OK))
        s->header = U9_CORRUPT; /* half a magic is of no version, half a header is none */
    err = read_open(map, s, scan);
    if (err == U9_OK && !s->has_open) {
        err = look_blank(map, s, scan);
        if (err == U9_OK) err = spare_secret(map, s, scan); /* a blank one may be named, and is none then */
        if (err == U9_OK) err = read_open(map, s, scan);
        if (err == U9_OK && !s->has_open) err = look_secret(s, scan);
    }
    return err == U9_OK ? read_end(map, s, scan) : err;
}

/* Probes one segment and turns failures into faults. */
static u9_err probe_file(u9i_catalog *map, u9i_facts *s, u9i_window *scan, u9_fault *fault)
{
    char path[4400];
    u9i_catalog_path(map, s, path, sizeof path);
    u9i_file *file;
    int sys = u9i_file_open(map->dir, s->name, U9I_OPEN_READ, &file);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys), "cannot open the segment");
    sys = u9i_file_size(file, &s->size);
    u9i_window_turn(scan, file, NULL);
    u9_err err = sys ? U9_IO : probe(map, s, scan);
    if (sys == 0) sys = -scan->sys;
    u9i_window_turn(scan, NULL, NULL); /* before the file goes: it may be read ahead in */
    u9i_file_close(file);
    if (err != U9_OK)
        return u9i_fault(fault, err, U9I_AT(.path = path, .sys = -sys), "cannot read the segment");
    if (s->header == U9_VERSION && !s->has_open)
        return u9i_fault(fault, U9_VERSION, U9I_AT_OFFSET(7, .path = path, .rule = "H-4"),
                         "the file is of a version of the format that this library does not read");
    return U9_OK;
}

static bool add_missing(u9i_catalog *map, uint64_t number, size_t before)
{
    u9i_missing *more = realloc(map->missing, (map->missing_count + 1) * sizeof *more);
    if (more == NULL) return false;
    map->missing = more;
    map->missing[map->missing_count++] = (u9i_missing){.number = number, .before = before};
    return true;
}

static u9i_facts *find(u9i_catalog *map, uint64_t number, size_t below)
{
    for (size_t i = below; i > 0; i--)
        if (map->segments[i - 1].number == number) return &map->segments[i - 1];
    return NULL;
}

/* Reads the u9trim records of one segment; keeps the one with the highest number. [C-5] */
static void read_trims(u9i_catalog *map, const u9i_facts *s, u9i_window *scan)
{
    u9i_file *file;
    u9i_frame f;
    if (u9i_file_open(map->dir, s->name, U9I_OPEN_READ, &file) != 0) return;
    u9i_window_turn(scan, file, &s->secret);
    for (uint64_t p = 0; u9i_window_find(scan, p, s->size, &f) == U9_OK; p = f.end) {
        u9i_body body;
        u9i_trim_record trim;
        uint8_t scratch[U9I_BLOCK];
        size_t need;
        if (f.trailer.count == 0 &&
            u9i_body_open(&f, scratch, sizeof scratch, &need, &body) == U9_OK &&
            body.kind == U9I_BODY_TRIM && u9i_trim_record_decode(body.bytes, body.size, &trim) == U9_OK &&
            trim.segment > map->trim.segment)
            map->trim = trim;
    }
    u9i_window_turn(scan, NULL, NULL);
    u9i_file_close(file);
}

/* True if a valid u9trim says that segment number `gone` is not kept. Looked for only where one is gone. */
static bool is_trimmed(u9i_catalog *map, uint64_t gone)
{
    u9i_window scan;
    if (map->trim.segment == 0 && u9i_window_init(&scan, NULL, &map->segments[0].secret) == U9_OK) {
        for (size_t i = 0; i < map->count; i++) read_trims(map, &map->segments[i], &scan);
        u9i_window_release(&scan);
    }
    return map->trim.segment > gone;
}

/*
 * Is segment k what its name says, and of this log? If so, what its u9open says of the one before it counts.
 * Later segments are asked first: a foreign one has no say. [L-4]
 */
static void prove_place(u9i_catalog *map, size_t k)
{
    u9i_facts *s = &map->segments[k];
    const u9i_open_record *open = &s->open;
    if (open->segment != s->number || open->before_segment >= s->number ||
        memcmp(map->log, open->log, 16) != 0)
        s->wrong = U9_R_FOREIGN;
    u9i_facts *before = s->wrong ? NULL : find(map, open->before_segment, k);
    if (before && memcmp(before->secret.boundary, open->before_boundary, U9I_HASH_SIZE) != 0)
        before->wrong = U9_R_FOREIGN;
}

/* What the u9open of segment k says of those before it. [L-2] [L-3] [L-4] */
static bool succeed(u9i_catalog *map, size_t k)
{
    u9i_facts *s = &map->segments[k];
    const u9i_open_record *open = &s->open;
    if (s->wrong != U9_R_NONE) return true;
    for (size_t j = k; j > 0 && map->segments[j - 1].number > open->before_segment; j--)
        map->segments[j - 1].is_void = true;
    if (open->before_segment == 0) return true;
    u9i_facts *before = find(map, open->before_segment, k);
    if (before == NULL)
        return is_trimmed(map, open->before_segment) || add_missing(map, open->before_segment, k);
    if (before->named) return true;
    before->named = true;
    before->at = open->end;
    before->tail = open->tail;
    return true;
}

/* True for a creation cut short: it is blank, and no other segment names it. [L-4] */
static bool cut_short(const u9i_catalog *map, const u9i_facts *s)
{
    const u9i_facts *end = map->segments + map->count;
    for (const u9i_facts *k = s + 1; s->blank && k < end; k++)
        if (k->has_open && k->open.before_segment == s->number) return false;
    return s->blank;
}

/* Two files with one boundary are one file twice: the one whose number is wrong is foreign. [L-4] */
static void find_twins(u9i_catalog *map)
{
    for (size_t i = 1; i < map->count; i++)
        for (size_t j = 0; j < i; j++) {
            u9i_facts *a = &map->segments[j], *b = &map->segments[i];
            if (memcmp(a->secret.boundary, b->secret.boundary, U9I_HASH_SIZE) != 0 ||
                cut_short(map, a) || cut_short(map, b))
                continue;
            if (a->has_open && a->open.segment == a->number) b->wrong = U9_R_FOREIGN;
            else if (b->has_open && b->open.segment == b->number) a->wrong = U9_R_FOREIGN;
            else b->wrong = U9_R_FOREIGN;
        }
}

/* A seal proves that the next segment's u9open was durable; behind the last one, that it is missing. */
static bool read_seals(u9i_catalog *map)
{
    const u9i_facts *sealed = NULL;
    for (size_t i = 0; i < map->count; i++) {
        u9i_facts *s = &map->segments[i];
        if (s->is_void || (s->blank && !s->named)) continue;
        s->sealed_before = sealed != NULL;
        sealed = s->has_end && s->end.kind == U9I_END_SEALING ? s : NULL;
    }
    return sealed == NULL || add_missing(map, sealed->number + 1, map->count); /* [L-4] */
}

static bool link_up(u9i_catalog *map)
{
    if (map->dir->single[0]) return true; /* what comes before is not looked at [L-8] */
    find_twins(map);
    for (size_t k = map->count; k > 0; k--)
        if (map->segments[k - 1].has_open) memcpy(map->log, map->segments[k - 1].open.log, 16);
    for (size_t k = map->count; k > 0; k--)
        if (map->segments[k - 1].has_open) prove_place(map, k - 1);
    for (size_t k = 0; k < map->count; k++)
        if (map->segments[k].has_open && !succeed(map, k)) return false;
    return map->count == 0 || read_seals(map);
}

static u9_err load(u9i_catalog *map, u9_fault *fault)
{
    int sys = 0;
    if (map->dir->single[0]) sys = add(map, map->dir->single) ? 0 : -ENOMEM;
    else sys = u9i_dir_list(map->dir, list_name, map);
    if (sys != 0)
        return u9i_fault(fault, sys == -ENOMEM ? U9_NOMEM : U9_IO,
                         U9I_AT(.path = map->path, .sys = -sys), "cannot list the directory");
    if (map->count == 0) return U9_OK;
    qsort(map->segments, map->count, sizeof *map->segments, by_number);
    u9i_window scan;
    u9i_secret none = {{0}, {0}};
    u9_err err = u9i_window_init(&scan, NULL, &none);
    if (err != U9_OK) return u9i_fault(fault, err, U9I_AT(.path = map->path), "out of memory");
    for (size_t i = map->count; i > 0 && err == U9_OK; i--) /* successors first: they hold spares */
        err = probe_file(map, &map->segments[i - 1], &scan, fault);
    u9i_window_release(&scan);
    if (err == U9_OK && !link_up(map))
        err = u9i_fault(fault, U9_NOMEM, U9I_AT(.path = map->path), "out of memory");
    return err;
}

/*
 * What a map of a log that is being written may show for a moment: files are listed and looked at one after
 * the other, while the writer makes the next one and seals. It counts if it is still there when everything
 * is read again.
 */
typedef struct doubts {
    uint64_t missing, last; /* how many segments, and the number of the last */
    uint64_t unopened;      /* segments that hold something, and no valid u9open */
    uint64_t due;           /* of these, those whose u9open is known to be durable */
} doubts;

static doubts doubts_of(const u9i_catalog *map)
{
    doubts d = {.missing = map->missing_count};
    if (d.missing > 0) d.last = map->missing[d.missing - 1].number;
    for (size_t i = 0; i < map->count; i++) {
        const u9i_facts *s = &map->segments[i];
        d.unopened += !s->has_open && !s->blank;
        d.due += !s->has_open && !s->blank && s->sealed_before;
    }
    return d;
}

u9_err u9i_catalog_load(u9i_catalog *map, u9i_dir *dir, const char *path, u9_fault *fault)
{
    doubts before = {0};
    for (;;) {
        memset(map, 0, sizeof *map);
        map->dir = dir;
        snprintf(map->path, sizeof map->path, "%s", path);
        u9_err err = load(map, fault);
        if (err != U9_OK) u9i_catalog_release(map);
        if (err != U9_OK) return err;
        doubts now = doubts_of(map);
        if (now.missing + now.unopened == 0 || memcmp(&now, &before, sizeof now) == 0) return U9_OK;
        before = now;
        u9i_catalog_release(map);
    }
}

void u9i_catalog_release(u9i_catalog *map)
{
    free(map->segments);
    free(map->missing);
    map->segments = NULL;
    map->missing = NULL;
    map->count = map->missing_count = 0;
}
