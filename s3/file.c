/*
 * s3/file.c: the calls on files: objects that are read by ranges, through the cache. [TR-9]
 *
 * What several reads want and is not cached is asked for together, in requests of up to 2 MiB: U9S_IN_FLIGHT of them at a
 * time. It is cached by blocks, small ones where little is asked for: the ends of segments, pages of an index. For who
 * reads in a row what comes next is asked for before (ahead.c). Who reads the beginning of one segment
 * is about to open the log, and gets beginning and end of those in front of it, too: a log of many is not opened one
 * answer at a time. What comes is cached as it came: whether it is right is for frames to tell.
 */
#include "s3/s3.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK = 2 << 20, ROW = 1 << 20, AHEAD = 16 << 20, ASKS = 64, BESIDE = 24, READERS = 4 };

int u9s_open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    u9s_dir *d = u9s_dir_of(dir);
    if (mode == U9I_OPEN_WRITE || mode == U9I_OPEN_OWN) return -EROFS;
    u9s_file *f = calloc(1, sizeof *f);
    if (f == NULL) return -ENOMEM;
    f->file.env = dir->env;
    f->dir = d;
    f->next = UINT64_MAX;
    int err = u9s_dir_key(d, name, f->key);
    if (err == 0) err = mode == U9I_OPEN_CREATE ? u9s_upload_begin(f) : u9s_look(d, name, false, &f->entry);
    if (err != 0) {
        free(f);
        return err;
    }
    *out = &f->file;
    return 0;
}

void u9s_close_file(u9i_file *file)
{
    u9s_ahead_drop(u9s_file_of(file));
    u9s_upload_drop(u9s_file_of(file));
    free(file);
}

int u9s_file_size(u9i_file *file, uint64_t *out)
{
    *out = u9s_file_of(file)->entry.size;
    return 0;
}

/* Blocks: each begins at a multiple of its size */

static u9s_block_id id_of(const u9s_file *f, uint64_t off, size_t block)
{
    return (u9s_block_id){.env = u9s_env_of(f->file.env)->identity, .key = f->key, .etag = f->entry.etag,
                          .off = off, .size = block};
}

static uint64_t block_end(const u9s_file *f, uint64_t off, size_t block)
{
    return f->entry.size - off < block ? f->entry.size : off + block;
}

static uint64_t block_of(uint64_t off, size_t block)
{
    return off / block * block;
}

/* Bytes [off, off + n), which are in one block of this size, from the cache: also where they are in a larger one. */
static bool get_cached(const u9s_file *f, uint64_t off, size_t block, void *to, size_t n)
{
    for (size_t size = block; size <= U9S_BLOCK; size = size < U9S_BLOCK ? U9S_BLOCK : U9S_BLOCK + 1) {
        u9s_block_id id = id_of(f, block_of(off, size), size);
        if (u9s_cache_get(u9s_env_of(f->file.env), &id, (size_t)(off - id.off), to, n)) return true;
    }
    return false;
}

/* Requests of one call: each for a row of blocks of a file. */
typedef struct asking {
    u9s_request requests[ASKS];
    u9s_file *files[ASKS];
    size_t blocks[ASKS]; /* the size of each */
    unsigned count;
    u9s_file *beside;    /* BESIDE other files; NULL: none are asked for */
} asking;

/* The request that brings all of the block that begins there; NULL: none does. */
static u9s_request *request_of(asking *a, const u9s_file *f, uint64_t off, size_t block)
{
    uint64_t to = block_end(f, off, block);
    for (unsigned i = a->count; i-- > 0;)
        if (a->files[i] == f && a->requests[i].from <= off && to <= a->requests[i].to) return &a->requests[i];
    return NULL;
}

/* The block that begins there, which is needed, or (`optional`) may be soon. False: there is no room for it. */
static bool ask_for(asking *a, u9s_file *f, uint64_t off, size_t block, bool optional)
{
    uint64_t to = block_end(f, off, block);
    u9s_request *there = request_of(a, f, off, block);
    if (there) {
        there->optional &= optional;
        return true;
    }
    unsigned last = a->count - 1;
    if (a->count > 0 && a->files[last] == f && a->blocks[last] == block && a->requests[last].to == off &&
        to - a->requests[last].from <= ASK) {
        a->requests[last].to = to;
        a->requests[last].optional &= optional;
        return true;
    }
    if (a->count == ASKS) return false;
    a->files[a->count] = f;
    a->blocks[a->count] = block;
    a->requests[a->count++] = (u9s_request){.method = "GET", .key = f->key, .from = off, .to = to, .what = "reading",
                                            .optional = optional};
    return true;
}

/* The next listing says what is there now. */
static int is_gone(const u9s_file *f, const char *what)
{
    u9s_forget(f->dir);
    return u9s_fail(u9s_env_of(f->file.env), f->key, -ESTALE, what);
}

bool u9s_is_another(const u9s_file *f, const u9s_request *came)
{
    const char *a = f->entry.etag, *b = came->etag;
    a += strspn(a, "\""); /* in a listing they may stand without quotes */
    b += strspn(b, "\"");
    size_t n = strcspn(a, "\""), m = strcspn(b, "\"");
    return n > 0 && m > 0 && (n != m || memcmp(a, b, n) != 0);
}

/* The part of a range that is in the block that begins at `at`: from what came, or (NULL) from the cache. False: not there. */
static bool take_block(u9s_range *r, uint64_t at, const u9s_request *came)
{
    u9s_file *f = r->file;
    uint64_t begin = r->off > at ? r->off : at, end = block_end(f, at, r->block);
    if (end > r->off + r->n) end = r->off + r->n;
    void *to = (char *)r->buf + (begin - r->off);
    if (came == NULL) return get_cached(f, begin, r->block, to, (size_t)(end - begin));
    if (came->err == -ENOENT) r->err = is_gone(f, "reading: it is not there any more");
    else if (came->err != 0) r->err = came->err;
    else if (u9s_is_another(f, came)) r->err = is_gone(f, "reading: it is another object than was listed");
    else memcpy(to, came->bytes + (begin - came->from), (size_t)(end - begin));
    return true;
}

void u9s_keep(const u9s_file *f, const u9s_request *came, size_t block)
{
    for (uint64_t at = came->from; at < came->to && came->err == 0 && !u9s_is_another(f, came); at += block) {
        u9s_block_id id = id_of(f, at, block);
        u9s_cache_put(u9s_env_of(f->file.env), &id, came->bytes + (at - came->from), (size_t)(block_end(f, at, block) - at));
    }
}

/* All blocks of [from, to). */
static bool is_cached(const u9s_file *f, uint64_t from, uint64_t to)
{
    char byte;
    while (from < to && get_cached(f, from, U9S_BLOCK, &byte, 1)) from = block_of(from, U9S_BLOCK) + U9S_BLOCK;
    return from >= to;
}

/* The segment behind `f`, in `out`. False: there is none. */
static bool follows(const u9s_file *f, u9s_file *out)
{
    *out = (u9s_file){.file = f->file, .dir = f->dir};
    return u9s_next(f->dir, f->key + strlen(f->dir->prefix), &out->entry) && u9s_dir_key(f->dir, out->entry.name, out->key) == 0;
}

/*
 * Who has read ROW bytes in a row is read ahead for, in pieces, up to a window behind what is read now, and beyond the file's
 * end in the segment that follows: as long as the cache has room for that of several.
 */
static void ask_ahead(const u9s_range *r)
{
    u9s_file *f = r->file, after, *of = f;
    uint64_t share = u9s_env_of(f->file.env)->cache_size / READERS, window = share < AHEAD ? share : AHEAD;
    uint64_t piece = block_of(window / 2 < ASK ? window / 2 : ASK, U9S_BLOCK), size = f->entry.size, begin = 0;
    uint64_t first = block_of(r->off + r->n - 1, U9S_BLOCK) + U9S_BLOCK, at = f->asked;
    if (piece == 0 || f->entry.etag[0] == 0) return;
    if (first > size) first = size;
    if (at < first || at > first + window) at = first;
    for (uint64_t to; at < first + window; at = begin + to) {
        if (of == f && at >= size) {
            of = follows(f, &after) ? &after : NULL;
            begin = size;
        }
        if (of == NULL || at - begin >= of->entry.size) break;
        uint64_t from = at - begin;
        to = from / piece * piece + piece < of->entry.size ? from / piece * piece + piece : of->entry.size;
        if (begin + to > first + window && to < of->entry.size) break;
        if (!is_cached(of, from, to) && !u9s_ahead_ask(of, f, from, to)) break;
    }
    f->asked = at;
}

static void ask_if_needed(asking *a, u9s_file *f, uint64_t off)
{
    char byte;
    if (!get_cached(f, off, U9S_SMALL, &byte, 1)) (void)ask_for(a, f, block_of(off, U9S_SMALL), U9S_SMALL, true);
}

/* Beginning and end of what stands in front of a file whose beginning is read. */
static void ask_beside(asking *a, const u9s_file *f)
{
    u9s_entry *entries = calloc(BESIDE, sizeof *entries);
    a->beside = entries ? calloc(BESIDE, sizeof *a->beside) : NULL;
    unsigned n = a->beside ? u9s_neighbours(f->dir, f->key + strlen(f->dir->prefix), entries, BESIDE) : 0;
    for (unsigned i = 0; i < n; i++) {
        u9s_file *other = &a->beside[i];
        other->file.env = f->file.env;
        other->dir = f->dir;
        other->entry = entries[i];
        if (other->entry.size == 0 || u9s_dir_key(f->dir, entries[i].name, other->key) != 0) continue;
        ask_if_needed(a, other, 0);
        ask_if_needed(a, other, other->entry.size - 1);
    }
    free(entries);
}

static void clip(u9s_range *r)
{
    uint64_t size = r->file->entry.size;
    r->err = 0;
    r->n = r->off >= size ? 0 : size - r->off < r->n ? (size_t)(size - r->off) : r->n;
    r->got = r->n;
}

/* Takes what is cached, and asks for the rest. True: there is a rest. */
static bool look_for(asking *a, u9s_range *r)
{
    bool on = atomic_exchange(&r->file->next, r->off + r->n) == r->off, rest = false;
    r->block = r->n <= U9S_SMALL && !on ? U9S_SMALL : U9S_BLOCK;
    if (!on) r->file->row = r->off;
    if (r->off >= r->file->row + ROW) ask_ahead(r);
    for (uint64_t at = block_of(r->off, r->block); at < r->off + r->n && r->err == 0; at += r->block) {
        if (take_block(r, at, NULL) || (u9s_ahead_wait(r->file, at) && take_block(r, at, NULL))) continue;
        rest = true;
        if (!ask_for(a, r->file, at, r->block, false)) r->err = -EAGAIN;
    }
    if (rest && r->off == 0 && r->block == U9S_SMALL && a->beside == NULL) ask_beside(a, r->file);
    return rest;
}

static void take_what_came(asking *a, u9s_range *r)
{
    for (uint64_t at = block_of(r->off, r->block); at < r->off + r->n; at += r->block) {
        const u9s_request *came = request_of(a, r->file, at, r->block);
        if (came && r->err == 0) (void)take_block(r, at, came);
    }
}

/* Reads them by requests that go together. -EAGAIN: of a range for which these were not enough. */
static void read_some(u9s_range *ranges, unsigned count)
{
    asking *a = calloc(1, sizeof *a);
    bool rest = false;
    for (unsigned i = 0; i < count; i++) {
        if (a == NULL) ranges[i].err = -ENOMEM;
        else if (ranges[i].n > 0) rest |= look_for(a, &ranges[i]);
    }
    if (rest && a->count > 0) (void)u9s_perform(u9s_env_of(ranges->file->file.env), a->requests, a->count);
    for (unsigned i = 0; rest && i < count; i++)
        if (ranges[i].n > 0) take_what_came(a, &ranges[i]);
    for (unsigned i = 0; a && i < a->count; i++) {
        u9s_keep(a->files[i], &a->requests[i], a->blocks[i]);
        u9s_request_free(&a->requests[i]);
    }
    if (a) free(a->beside);
    free(a);
}

/* Of one range, this much always has room among the requests of a call. */
enum { PART = ASKS / 2 * U9S_BLOCK };

static void read_by_parts(u9s_range *r)
{
    for (size_t done = 0; done < r->n && r->err == 0;) {
        size_t n = r->n - done < PART ? r->n - done : PART;
        u9s_range part = {.file = r->file, .off = r->off + done, .buf = (char *)r->buf + done, .n = n};
        read_some(&part, 1);
        r->err = part.err;
        done += n;
    }
}

void u9s_read_ranges(u9s_range *ranges, unsigned count)
{
    for (unsigned i = 0; i < count; i++) clip(&ranges[i]);
    if (count > 1) read_some(ranges, count);
    for (unsigned i = 0; i < count; i++) {
        if (count > 1 && ranges[i].err != -EAGAIN) continue;
        ranges[i].err = 0;
        read_by_parts(&ranges[i]);
    }
}

int u9s_file_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    u9s_file *f = u9s_file_of(file);
    if (f->upload) return -EBADF;
    u9s_range r = {.file = f, .off = off, .buf = buf, .n = n};
    u9s_read_ranges(&r, 1);
    if (r.err == 0) *got = r.got;
    return r.err;
}
