/*
 * s3/file.c: the calls on files: objects that are read by ranges, through the cache. [TR-9]
 *
 * What several reads want and is not cached is asked for together, in requests of up to 2 MiB: U9S_IN_FLIGHT of them at a
 * time. Who reads on where the last read ended gets more than that was asked for, into the cache. What comes is cached as
 * it came: whether it is right is for frames to tell.
 */
#include "s3/s3.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_BLOCKS = 8, AHEAD_BLOCKS = 32, ASKS = 64 };

int u9s_open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    u9s_dir *d = u9s_dir_of(dir);
    if (mode == U9I_OPEN_WRITE) return -EROFS;
    u9s_file *f = calloc(1, sizeof *f);
    if (f == NULL) return -ENOMEM;
    f->file.env = dir->env;
    f->dir = d;
    f->next = UINT64_MAX;
    int err = u9s_dir_key(d, name, f->key);
    if (err == 0) err = mode == U9I_OPEN_CREATE ? u9s_upload_begin(f) : u9s_look(d, name, &f->entry);
    if (err != 0) {
        free(f);
        return err;
    }
    *out = &f->file;
    return 0;
}

void u9s_close_file(u9i_file *file)
{
    u9s_upload_drop(u9s_file_of(file));
    free(file);
}

int u9s_file_size(u9i_file *file, uint64_t *out)
{
    *out = u9s_file_of(file)->entry.size;
    return 0;
}

static u9s_block_id id_of(const u9s_file *f, uint64_t index)
{
    return (u9s_block_id){.env = u9s_env_of(f->file.env)->identity, .key = f->key, .etag = f->entry.etag, .index = index};
}

static size_t block_size(const u9s_file *f, uint64_t index)
{
    uint64_t left = f->entry.size - index * U9S_BLOCK;
    return left < U9S_BLOCK ? (size_t)left : U9S_BLOCK;
}

/* Requests of one call: each for a row of blocks of a file. */
typedef struct asking {
    u9s_request requests[ASKS];
    u9s_file *files[ASKS];
    unsigned count;
} asking;

/* The request that brings this block; NULL: none does. */
static u9s_request *request_of(asking *a, const u9s_file *f, uint64_t index)
{
    uint64_t at = index * U9S_BLOCK;
    for (unsigned i = a->count; i-- > 0;)
        if (a->files[i] == f && a->requests[i].from <= at && at < a->requests[i].to) return &a->requests[i];
    return NULL;
}

/* False: there is no room for it. */
static bool ask_for(asking *a, u9s_file *f, uint64_t index)
{
    uint64_t from = index * U9S_BLOCK, to = from + block_size(f, index);
    if (request_of(a, f, index)) return true;
    u9s_request *last = a->count ? &a->requests[a->count - 1] : NULL;
    if (last && a->files[a->count - 1] == f && last->to == from && to - last->from <= (uint64_t)ASK_BLOCKS * U9S_BLOCK) {
        last->to = to;
        return true;
    }
    if (a->count == ASKS) return false;
    a->files[a->count] = f;
    a->requests[a->count++] = (u9s_request){.method = "GET", .key = f->key, .from = from, .to = to, .what = "reading"};
    return true;
}

/* The part of a range that is in one block: from what came, or (`came` NULL) from the cache. False: it is not there. */
static bool take_block(u9s_range *r, uint64_t index, const u9s_request *came)
{
    u9s_file *f = r->file;
    u9s_env *e = u9s_env_of(f->file.env);
    uint64_t at = index * U9S_BLOCK, begin = r->off > at ? r->off : at;
    uint64_t end = at + block_size(f, index) < r->off + r->n ? at + block_size(f, index) : r->off + r->n;
    u9s_block_id id = id_of(f, index);
    void *to = (char *)r->buf + (begin - r->off);
    if (came == NULL) return u9s_cache_get(e, &id, (size_t)(begin - at), to, (size_t)(end - begin));
    if (came->err == 0) memcpy(to, came->bytes + (begin - came->from), (size_t)(end - begin));
    else r->err = came->err == -ENOENT ? u9s_fail(e, f->key, -EIO, "reading: it is not there any more") : came->err;
    return true;
}

static void keep_what_came(asking *a)
{
    for (unsigned i = 0; i < a->count; i++) {
        u9s_request *r = &a->requests[i];
        const u9s_file *f = a->files[i];
        for (uint64_t at = r->from; at < r->to && r->err == 0; at += U9S_BLOCK) {
            u9s_block_id id = id_of(f, at / U9S_BLOCK);
            u9s_cache_put(u9s_env_of(f->file.env), &id, r->bytes + (at - r->from), block_size(f, at / U9S_BLOCK));
        }
    }
}

/* What is to be read on where somebody reads on. */
static void ask_ahead(asking *a, u9s_range *r)
{
    u9s_file *f = r->file;
    uint64_t first = (r->off + r->n - 1) / U9S_BLOCK + 1;
    char byte;
    for (uint64_t i = first; i < first + AHEAD_BLOCKS && i * U9S_BLOCK < f->entry.size; i++) {
        u9s_block_id id = id_of(f, i);
        if (!u9s_cache_get(u9s_env_of(f->file.env), &id, 0, &byte, 1) && !ask_for(a, f, i)) return;
    }
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
    for (uint64_t b = r->off / U9S_BLOCK; b * U9S_BLOCK < r->off + r->n && r->err == 0; b++) {
        if (take_block(r, b, NULL)) continue;
        rest = true;
        if (!ask_for(a, r->file, b)) r->err = -EAGAIN;
    }
    if (on && rest) ask_ahead(a, r);
    return rest;
}

static void take_what_came(asking *a, u9s_range *r)
{
    for (uint64_t b = r->off / U9S_BLOCK; b * U9S_BLOCK < r->off + r->n; b++) {
        const u9s_request *came = request_of(a, r->file, b);
        if (came && r->err == 0) (void)take_block(r, b, came);
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
    for (unsigned i = 0; rest && i < count; i++) take_what_came(a, &ranges[i]);
    if (rest) keep_what_came(a);
    for (unsigned i = 0; a && i < a->count; i++) u9s_request_free(&a->requests[i]);
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
