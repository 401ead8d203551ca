/*
 * engine/check/tier_copy.c: see tiering.h. [TR-1] [TR-3] [TR-4]
 *
 * What is small (the mark, the lists) is written under another name and renamed, so there is the old one or the new one.
 * A segment, and the index beside it, gets its name at once, by an exclusive create, and nothing speaks of it before it was
 * read back.
 */
#include "engine/check/small_file.h"
#include "engine/check/tiering.h"

#include "engine/os/process.h"
#include "format/frame/disk.h"
#include "format/frame/mark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 4 << 20 };

static uint64_t whole_blocks(uint64_t offset)
{
    return (offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
}

/* Small files */

/* The file of this name has these bytes, durably, or is as it was. */
static int put_file(u9i_dir *dir, const char *name, const void *bytes, size_t size)
{
    char new_name[32];
    size_t whole = (size_t)whole_blocks(size);
    uint8_t *pages = u9i_pages(whole);
    if (pages == NULL) return -ENOMEM;
    memcpy(pages, bytes, size);
    snprintf(new_name, sizeof new_name, "%s.new", name);
    int err = u9i_small_file_put(dir, new_name, name, pages, size);
    u9i_pages_free(pages, whole);
    return err;
}

u9_err u9i_tiering_put_list(u9i_tiering *t, bool far, u9_fault *fault)
{
    uint8_t *bytes;
    size_t size;
    if (u9i_tier_list_encode(&t->list, far ? "" : t->place, &bytes, &size) != U9_OK)
        return u9i_tiering_fail(t, far, u9i_tier_name, -ENOMEM, "out of memory", fault);
    int sys = put_file(far ? t->far : t->source.dir, u9i_tier_name, bytes, size);
    free(bytes);
    return sys ? u9i_tiering_fail(t, far, u9i_tier_name, sys, "cannot write the list of what stands at the place", fault) : U9_OK;
}

/* The secret of the highest segment of the list, which stands here until a higher one is copied. False: it is not here. */
static bool find_secret(const u9i_tiering *t, const u9i_tiered *s, u9i_secret *out)
{
    for (size_t i = t->catalog->count; i > 0; i--) {
        *out = u9i_catalog_facts(t->catalog, i - 1)->secret;
        if (!out->lost && memcmp(out->boundary, s->boundary, sizeof s->boundary) == 0) return true;
    }
    return false;
}

static bool is_marked_end(const u9i_tiering *t, const u9i_tiered *s)
{
    return t->marked_segment == s->number && t->marked.offset == s->end && memcmp(t->marked.chain, s->chain, sizeof s->chain) == 0;
}

u9_err u9i_tiering_mark(u9i_tiering *t, u9_fault *fault)
{
    uint8_t bytes[U9I_MARK_SIZE] = {0}, drawn[U9I_SECRET_SIZE];
    u9i_secret secret, own;
    u9i_env *env = t->source.dir->env;
    if (t->list.count == 0) return U9_OK;
    const u9i_tiered *first = t->list.segments, *last = first + t->list.count - 1;
    if (is_marked_end(t, last) || !find_secret(t, last, &own)) return U9_OK;
    u9i_mark_record mark = {.first_ordinal = first->number > 1 ? first->first : 0, .segment = last->number,
                            .end = {.offset = last->end, .ordinal = last->next}, .time_us = u9i_wall_us(env)};
    memcpy(mark.end.chain, last->chain, sizeof last->chain);
    memcpy(mark.log, t->list.log, sizeof mark.log);
    memcpy(mark.boundary, own.boundary, sizeof mark.boundary);
    memcpy(mark.secret, own.bytes, sizeof mark.secret);
    do {
        if (!u9i_random(env, drawn, sizeof drawn))
            return u9i_tiering_fail(t, true, u9i_mark_name, -errno, "cannot draw a secret for the mark", fault);
    } while (!u9i_secret_init(&secret, drawn) || u9i_slot_encode(&mark, &secret, bytes) != U9_OK); /* [H-3] */
    int sys = put_file(t->far, u9i_mark_name, bytes, sizeof bytes);
    if (sys != 0) return u9i_tiering_fail(t, true, u9i_mark_name, sys, "cannot write the mark", fault);
    t->marked_segment = last->number;
    t->marked = mark.end;
    return U9_OK;
}

/* A segment */

/* One that is copied, or compared. */
typedef struct moving {
    u9i_tiering *t;
    const u9i_facts *facts;
    char name[U9I_INDEX_NAME]; /* there: by its number, whatever it is called here [TR-1] */
    u9i_file *from;
    uint8_t *here, *there; /* STEP bytes each */
    u9i_hasher hasher;
    const char *what;      /* that failed, */
    bool far;              /*   and whether it was there */
} moving;

static size_t tier_step_at(const moving *m, uint64_t at)
{
    return m->facts->size - at < STEP ? (size_t)(m->facts->size - at) : STEP;
}

static void hash_step(moving *m, const uint8_t *bytes, size_t n, uint8_t sha[U9I_HASH_SIZE])
{
    size_t rest = n % U9I_HASH_BLOCK;
    u9i_hasher_take(&m->hasher, bytes, n / U9I_HASH_BLOCK);
    if (n < STEP) u9i_hasher_finish(&m->hasher, bytes + n - rest, rest, sha);
}

/* Whether it was there is said before: it fails here. */
static int read_here(moving *m, uint64_t at, size_t n)
{
    int err = n ? u9i_read_exactly(m->from, at, m->here, n) : 0;
    if (err == 0) return 0;
    m->what = "cannot read the segment";
    m->far = false;
    return err;
}

/* All of the file here; its H. */
static int copy_bytes_there(moving *m, u9i_file *to, u9i_queue *queue, uint8_t sha[U9I_HASH_SIZE])
{
    u9i_hasher_init(&m->hasher);
    for (uint64_t at = 0; at <= m->facts->size; at += STEP) {
        size_t n = tier_step_at(m, at), whole = (size_t)whole_blocks(n);
        int err = read_here(m, at, n);
        if (err != 0) return err;
        hash_step(m, m->here, n, sha);
        if (n == 0) continue;
        memset(m->here + n, 0, whole - n);
        u9i_op write = {.kind = U9I_OP_WRITE, .file = to, .off = at, .buf = m->here, .n = whole};
        int64_t done = u9i_queue_do(queue, &write);
        if (done < 0) return (int)done;
    }
    return 0;
}

static int fill_there(moving *m, u9i_file *to, u9i_queue *queue, uint8_t sha[U9I_HASH_SIZE])
{
    uint64_t size = m->facts->size;
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = to};
    m->what = "cannot copy the segment to there";
    m->far = true;
    int err = u9i_file_reserve(to, whole_blocks(size));
    if (err == 0) err = copy_bytes_there(m, to, queue, sha);
    if (err == 0) err = u9i_file_truncate(to, size);
    int64_t done = err ? err : u9i_queue_do(queue, &sync);
    return done < 0 ? (int)done : 0;
}

/* Bytes from `from` on are there what they are here. -EBADMSG: they are not. */
static int compare_there(moving *m, uint64_t from)
{
    u9i_file *file;
    uint64_t size = 0;
    m->what = "cannot read back what was copied";
    m->far = true;
    int err = u9i_file_open(m->t->far, m->name, U9I_OPEN_READ, &file);
    if (err != 0) return err;
    err = u9i_file_size(file, &size);
    if (err == 0 && size != m->facts->size) err = -EBADMSG;
    for (uint64_t at = from; at < size && err == 0; at += STEP) {
        size_t n = tier_step_at(m, at);
        err = read_here(m, at, n);
        if (err == 0) err = u9i_read_exactly(file, at, m->there, n);
        if (err == 0 && memcmp(m->here, m->there, n) != 0) err = -EBADMSG;
    }
    u9i_file_close(file);
    return err;
}

static bool is_void_block(const uint8_t *bytes, size_t n)
{
    static const uint8_t zeros[U9I_BLOCK];
    return memcmp(bytes, zeros, n) == 0;
}

/* What stands there is as it is here, up to some block, and zeros from there on: nothing is there that is not here. */
static int find_nothing_else(moving *m, u9i_file *file, uint64_t size, bool *nothing)
{
    int err = 0;
    bool ended = false;
    *nothing = true;
    for (uint64_t at = 0; at < size && *nothing && err == 0; at += STEP) {
        size_t n = size - at < STEP ? (size_t)(size - at) : STEP, mine = at < m->facts->size ? tier_step_at(m, at) : 0;
        if (mine > n) mine = n;
        memset(m->here + mine, 0, n - mine);
        err = read_here(m, at, mine);
        if (err == 0) err = u9i_read_exactly(file, at, m->there, n);
        for (size_t b = 0, part; b < n && *nothing && err == 0; b += part) {
            part = n - b < U9I_BLOCK ? n - b : U9I_BLOCK;
            ended |= memcmp(m->here + b, m->there + b, part) != 0;
            *nothing = !ended || is_void_block(m->there + b, part);
        }
    }
    return err;
}

/*
 * Where the segment is damaged here, what stands there is removed only if that has nothing else, as an interrupted run
 * leaves it. -EUCLEAN: it has, and may be the better one. [TR-4]
 */
static int clear_beginning(moving *m)
{
    u9i_file *file;
    uint64_t size = 0;
    bool nothing = false;
    int err = u9i_file_open(m->t->far, m->name, U9I_OPEN_READ, &file);
    if (err != 0) return err;
    err = u9i_file_size(file, &size);
    if (err == 0) err = find_nothing_else(m, file, size, &nothing);
    u9i_file_close(file);
    if (err == 0 && !nothing) err = -EUCLEAN;
    return err ? err : u9i_dir_remove(m->t->far, m->name);
}

/*
 * What stands there is this segment, cut short or damaged: it begins with the same block, and so by the same secret, or
 * with nothing, as a run leaves it that was interrupted where the place has files; or it is what the list says was copied.
 * -EEXIST: it is something else.
 */
static int clear_remains(moving *m)
{
    const u9i_tiered *listed = u9i_tier_list_find(&m->t->list, m->facts->number);
    u9i_file *file;
    uint64_t size = 0;
    int err = u9i_file_open(m->t->far, m->name, U9I_OPEN_READ, &file);
    if (err != 0) return err;
    err = u9i_file_size(file, &size);
    size_t n = size < U9I_BLOCK ? (size_t)size : U9I_BLOCK;
    if (err == 0) err = read_here(m, 0, n);
    if (err == 0 && n > 0) err = u9i_read_exactly(file, 0, m->there, n);
    bool ours = err == 0 && (memcmp(m->here, m->there, n) == 0 || is_void_block(m->there, n));
    u9i_file_close(file);
    if (err == 0 && !ours && listed) err = u9i_tiered_compare(listed, m->t->far, m->name, &ours);
    if (err == 0 && !ours) err = -EEXIST;
    return err ? err : u9i_dir_remove(m->t->far, m->name);
}

/* -EEXIST: something has the name there. */
static int copy_there(moving *m, uint8_t sha[U9I_HASH_SIZE])
{
    u9i_dir *far = m->t->far;
    u9i_queue *queue;
    u9i_file *to;
    m->what = "cannot make the segment's file";
    m->far = true;
    int err = u9i_queue_open(far->env, NULL, 0, 0, &queue);
    if (err != 0) return err;
    err = u9i_file_open(far, m->name, U9I_OPEN_CREATE, &to);
    if (err == 0) {
        err = fill_there(m, to, queue, sha);
        u9i_file_close(to);
    }
    u9i_queue_close(queue);
    if (err == 0) err = u9i_dir_sync(far);
    return err;
}

/* From where on a copy is read back: its u9end, at least; all of it, if that is asked for. [TR-3] */
static uint64_t read_back_from(const moving *m)
{
    const u9i_facts *f = m->facts;
    uint64_t end = f->has_end ? f->end_frame.offset : f->size > 0 ? f->size - 1 : 0;
    return m->t->options.verify ? 0 : end / U9I_BLOCK * U9I_BLOCK;
}

static int move_bytes(moving *m, bool damaged, bool *found, uint8_t sha[U9I_HASH_SIZE])
{
    int err = copy_there(m, sha);
    *found = err == -EEXIST;
    if (err == -EEXIST) {
        err = compare_there(m, 0);
        if (err == 0) return u9i_tiered_hash(m->from, m->facts->size, sha);
        if (err == -EBADMSG) err = damaged ? clear_beginning(m) : clear_remains(m);
        *found = false;
        if (err == 0) err = copy_there(m, sha);
    }
    return err == 0 ? compare_there(m, read_back_from(m)) : err;
}

/*
 * The index beside it, if there is one, so that lookups there need not read all of a segment that has none in itself. Whether
 * it is right is for who reads it to see, as here [K-4]; another one there is replaced.
 */
static int copy_index(const moving *segment)
{
    uint8_t sha[U9I_HASH_SIZE];
    u9i_facts index = {.number = segment->facts->number};
    moving m = *segment;
    m.facts = &index;
    u9i_index_name(segment->facts->name, index.name);
    u9i_index_name(segment->name, m.name);
    int err = u9i_file_open(m.t->source.dir, index.name, U9I_OPEN_READ, &m.from);
    if (err == -ENOENT) return 0;
    if (err != 0) return err;
    err = u9i_file_size(m.from, &index.size);
    if (err == 0) err = copy_there(&m, sha);
    if (err == -EEXIST && (err = compare_there(&m, 0)) == -EBADMSG) {
        err = u9i_dir_remove(m.t->far, m.name);
        if (err == 0) err = copy_there(&m, sha);
    }
    u9i_file_close(m.from);
    return err;
}

u9_err u9i_tiering_refuse(const u9i_tiering *t, const u9i_facts *f, u9_fault *fault)
{
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .segment = f->number, .rule = "TR-4"),
                     "its copy differs from segment %llu here, which is damaged and is not what was copied: check both with "
                     "u9fsck, and put the better one in the place of the other; nothing was dropped", (unsigned long long)f->number);
}

static u9_err tell_failure(const moving *m, int sys, u9_fault *fault)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", m->t->place, m->name);
    if (sys == -EEXIST)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = path, .segment = m->facts->number, .rule = "TR-4"),
                         "something else stands there: it is left as it is, and the segment here is not dropped; remove "
                         "it, or choose another place");
    if (sys == -EUCLEAN) return u9i_tiering_refuse(m->t, m->facts, fault);
    if (sys == -EBADMSG)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = path, .segment = m->facts->number, .rule = "TR-3"),
                         "other bytes are read back than were written: the segment here is not dropped");
    return u9i_tiering_fail(m->t, m->far, m->far ? m->name : m->facts->name, sys, m->what, fault);
}

/* First and last key, as its u9end says them. */
static u9_err read_tiered_keys(u9i_tiering *t, size_t i, u9i_tiered *s, u9_fault *fault)
{
    u9i_segment *segment = t->catalog->segments[i];
    u9i_end_keys keys;
    u9i_iterator it; /* for its window only */
    if (!segment->facts.has_end || segment->facts.end.records == 0) return U9_OK;
    u9_err err = u9i_source_iterate(&t->source, segment, NULL, false, &it, fault);
    if (err != U9_OK) return err;
    err = u9i_probe_end_keys(&segment->facts, it.window, &keys);
    if (err == U9_IO) (void)u9i_source_fault(&t->source, &it, err, fault);
    u9i_iterator_close(&it);
    if (err == U9_CORRUPT) return U9_OK; /* reading tells */
    if (err != U9_OK) return err;
    s->keys_size = keys.size[0] + keys.size[1];
    s->keys = malloc(s->keys_size + 1);
    if (s->keys == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = t->source.path), "out of memory");
    memcpy(s->keys, keys.key[0], keys.size[0]);
    memcpy(s->keys + keys.size[0], keys.key[1], keys.size[1]);
    return U9_OK;
}

/* Where nothing here names its end any more, that is as it was when it was copied first. */
static u9_err enter_again(u9i_tiering *t, size_t i, const uint8_t sha[U9I_HASH_SIZE], u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(t->catalog, i);
    u9i_tiered s = *u9i_tier_list_find(&t->list, f->number);
    const uint8_t *keys = s.keys;
    s.size = f->size;
    s.damaged = t->steps[i].damaged;
    memcpy(s.sha, sha, sizeof s.sha);
    s.keys = keys ? malloc(s.keys_size + 1) : NULL;
    if (s.keys) memcpy(s.keys, keys, s.keys_size);
    if ((keys == NULL || s.keys) && u9i_tier_list_put(&t->list, &s)) return U9_OK;
    return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = t->source.path), "out of memory");
}

static u9_err enter_tiered(u9i_tiering *t, size_t i, const uint8_t sha[U9I_HASH_SIZE], u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(t->catalog, i);
    if (!f->named) return enter_again(t, i, sha, fault);
    u9i_tiered s = {.number = f->number, .size = f->size, .first = f->has_open ? f->open.end.ordinal : 0,
                    .next = f->at.ordinal, .first_us = f->has_open ? f->open.time_us : 0, .last_us = f->has_end ? f->end_frame.trailer.time_us : 0,
                    .end = f->at.offset, .damaged = t->steps[i].damaged};
    memcpy(s.boundary, f->secret.boundary, sizeof s.boundary);
    memcpy(s.chain, f->at.chain, sizeof s.chain);
    memcpy(s.sha, sha, sizeof s.sha);
    u9_err err = read_tiered_keys(t, i, &s, fault);
    if (err != U9_OK) return err;
    if (u9i_tier_list_put(&t->list, &s)) return U9_OK;
    return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = t->source.path), "out of memory");
}

/* Opens a segment's file to be copied or compared; 0 or a negative errno. To be closed in any case. */
static int open_moving(moving *m, u9i_tiering *t, size_t i)
{
    *m = (moving){.t = t, .facts = u9i_catalog_facts(t->catalog, i), .what = "cannot open the segment", .here = u9i_pages(2 * STEP)};
    (void)u9i_hasher_open(&m->hasher);
    if (m->here == NULL) return -ENOMEM;
    u9i_segment_name(m->facts->number, m->name);
    m->there = m->here + STEP;
    int sys = u9i_file_open(t->source.dir, m->facts->name, U9I_OPEN_READ, &m->from);
    if (sys != 0) m->from = NULL;
    return sys;
}

static void close_moving(moving *m)
{
    if (m->from) u9i_file_close(m->from);
    u9i_hasher_close(&m->hasher);
    if (m->here) u9i_pages_free(m->here, 2 * STEP);
}

u9_err u9i_tiering_compare(u9i_tiering *t, size_t i, const u9i_tiered *listed, u9_fault *fault)
{
    bool copied = false, intact = false;
    moving m;
    int sys = open_moving(&m, t, i);
    if (sys == 0) sys = u9i_tiered_compare(listed, t->source.dir, m.facts->name, &copied);
    if (sys == -ENOENT) { /* it was trimmed meanwhile, as it stands there */
        close_moving(&m);
        return U9_OK;
    }
    if (sys != 0) m.what = "cannot read the segment";
    else if (t->options.verify || !copied) sys = compare_there(&m, 0);
    bool differs = sys == -EBADMSG;
    if (differs) sys = copied || listed->damaged ? 0 : u9i_tiered_compare(listed, t->far, m.name, &intact);
    t->steps[i].wanted = differs ? !intact : !copied;
    t->steps[i].altered = differs && !copied;
    close_moving(&m);
    return sys ? tell_failure(&m, sys, fault) : U9_OK;
}

u9_err u9i_tiering_copy(u9i_tiering *t, size_t i, u9_fault *fault)
{
    uint8_t sha[U9I_HASH_SIZE];
    bool found = false;
    moving m;
    int sys = open_moving(&m, t, i);
    if (sys == 0) sys = move_bytes(&m, t->steps[i].damaged, &found, sha);
    if (sys == 0 && (sys = copy_index(&m)) != 0) m.what = "cannot copy its index to there";
    close_moving(&m);
    if (sys != 0) return tell_failure(&m, sys, fault);
    t->done.found += found;
    return enter_tiered(t, i, sha, fault);
}
