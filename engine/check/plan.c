/*
 * engine/check/plan.c: see plan.h. [U-2] [U-3]
 *
 * The file: a block that says how far it is, then the changes, one behind the other, and zeros up to a block.
 *
 *     "u9saved" 00 | version 1 | stage | changes | bytes of them | H(them) | H(the 56 bytes before this)
 *     kind | offset | size | size of the file | bytes of name, of new name | name | new name | before | after
 *
 * Numbers are 8 bytes. The first block is written over, and only its first sector holds anything: so it is the old or
 * the new one.
 */
#include "engine/check/plan.h"

#include "engine/check/small_file.h"
#include "engine/os/list.h"
#include "engine/os/process.h"
#include "engine/segment/probe.h"
#include "engine/segment/promised.h"
#include "format/base/bytes.h"
#include "format/base/hash.h"
#include "format/base/limits.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 72, ENTRY = 48, SAVED_MAX = 10000, CHANGE_MAX = 1 << 20 };

static const uint8_t magic[8] = "u9saved";

/* What holds between two calls. */
static void changes_check(const u9i_changes *c)
{
    assert(c->count <= c->room);
    assert((c->stage == U9I_PLAN_NEW) == (c->saved[0] == 0));
    for (size_t i = 0; i < c->count; i++) assert(c->list[i].size == 0 || c->list[i].to[0] == 0);
}

void u9i_changes_release(u9i_changes *c)
{
    for (size_t i = 0; i < c->count; i++) free(c->list[i].before);
    free(c->list);
    free(c->sizes);
    *c = (u9i_changes){.count = 0};
}

/* Room for one more, with `size` bytes before and after. */
static int change_room(u9i_changes *c, uint32_t size, u9i_change **out)
{
    size_t room = c->room;
    u9i_change *list = u9i_grow(c->list, c->count, &room, sizeof *list);
    if (list) c->list = list;
    uint64_t *sizes = list ? u9i_grow(c->sizes, c->count, &c->room, sizeof *sizes) : NULL;
    if (sizes == NULL) return -ENOMEM;
    c->sizes = sizes;
    u9i_change *p = &c->list[c->count];
    *p = (u9i_change){.size = size};
    p->before = malloc(2 * (size_t)size + 1);
    if (p->before == NULL) return -ENOMEM;
    p->after = p->before + size;
    *out = p;
    return 0;
}

static int read_before(u9i_dir *dir, const u9i_change *p, uint64_t *size)
{
    u9i_file *file;
    int err = u9i_file_open(dir, p->name, U9I_OPEN_READ, &file);
    if (err != 0) return err;
    err = u9i_file_size(file, size);
    if (err == 0) err = u9i_read_exactly(file, p->offset, p->before, p->size);
    u9i_file_close(file);
    return err;
}

/* The change has bytes of [begin, end) of the file. */
static bool is_within(const u9i_change *p, const char *name, uint64_t begin, uint64_t end)
{
    return p->size > 0 && p->offset < end && begin < p->offset + p->size && strcmp(p->name, name) == 0;
}

bool u9i_changes_within(const u9i_changes *c, const char *name, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < c->count; i++)
        if (is_within(&c->list[i], name, begin, end)) return true;
    return false;
}

void u9i_changes_drop(u9i_changes *c, const char *name, uint64_t begin, uint64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (is_within(&c->list[i], name, begin, end)) {
            free(c->list[i].before);
            continue;
        }
        c->sizes[kept] = c->sizes[i];
        c->list[kept++] = c->list[i];
    }
    c->count = kept;
}

static bool is_taken(const u9i_changes *c, const u9i_change *n)
{
    return u9i_changes_within(c, n->name, n->offset, n->offset + n->size);
}

int u9i_changes_add(u9i_changes *c, u9i_dir *dir, const char *name, uint64_t offset, const void *after, uint32_t size,
                    int kind)
{
    u9i_change *p;
    assert(c->stage == U9I_PLAN_NEW && size > 0 && size <= CHANGE_MAX && strlen(name) <= U9I_NAME_MAX);
    int err = change_room(c, size, &p);
    if (err != 0) return err;
    p->kind = kind;
    p->offset = offset;
    memcpy(p->name, name, strlen(name) + 1);
    memcpy(p->after, after, size);
    if (is_taken(c, p)) err = -EEXIST;
    if (err == 0) err = read_before(dir, p, &c->sizes[c->count]);
    if (err == 0 && memcmp(p->before, p->after, size) != 0) c->count++;
    else free(p->before);
    changes_check(c);
    return err;
}

/* What stands in the file in place of `m`, which was read as `c` makes it. */
static void restore_before(const u9i_changes *c, u9i_change *m)
{
    for (size_t i = 0; i < c->count; i++) {
        const u9i_change *p = &c->list[i];
        if (!is_within(p, m->name, m->offset, m->offset + m->size)) continue;
        uint64_t from = p->offset > m->offset ? p->offset : m->offset;
        uint64_t to = p->offset + p->size < m->offset + m->size ? p->offset + p->size : m->offset + m->size;
        memcpy(m->before + (from - m->offset), p->before + (from - p->offset), (size_t)(to - from));
    }
}

/* Zeros go over whatever else was to be made of these bytes. */
static void clear_way(u9i_changes *c, u9i_changes *more, int zeros)
{
    for (size_t i = 0; i < more->count; i++)
        if (more->list[i].kind == zeros) restore_before(c, &more->list[i]);
    for (size_t i = 0; i < more->count; i++) {
        const u9i_change *m = &more->list[i];
        if (m->kind == zeros && m->size > 0) u9i_changes_drop(c, m->name, m->offset, m->offset + m->size);
    }
}

int u9i_changes_take(u9i_changes *c, u9i_changes *more, int zeros, bool *any)
{
    u9i_change *p;
    int err = 0;
    *any = false;
    clear_way(c, more, zeros);
    for (size_t i = 0; i < more->count && err == 0; i++) {
        const u9i_change *m = &more->list[i];
        if (m->size == 0 || is_taken(c, m)) continue;
        err = change_room(c, m->size, &p);
        if (err != 0) break;
        uint8_t *bytes = p->before;
        *p = *m;
        p->before = bytes;
        p->after = bytes + m->size;
        memcpy(bytes, m->before, 2 * (size_t)m->size);
        c->sizes[c->count++] = more->sizes[i];
        *any = true;
    }
    u9i_changes_release(more);
    changes_check(c);
    return err;
}

int u9i_changes_rename(u9i_changes *c, const char *name, const char *to, int kind)
{
    u9i_change *p;
    assert(c->stage == U9I_PLAN_NEW && strlen(name) <= U9I_NAME_MAX && strlen(to) <= U9I_NAME_MAX);
    int err = change_room(c, 0, &p);
    if (err != 0) return err;
    p->kind = kind;
    memcpy(p->name, name, strlen(name) + 1);
    memcpy(p->to, to, strlen(to) + 1);
    c->sizes[c->count++] = 0;
    changes_check(c);
    return 0;
}

int u9i_changes_made(u9i_changes *c, const char *name, int kind)
{
    u9i_change *p;
    assert((c->stage == U9I_PLAN_NEW || c->stage == U9I_PLAN_DONE) && strlen(name) <= U9I_NAME_MAX);
    int err = change_room(c, 0, &p);
    if (err != 0) return err;
    p->kind = kind;
    memcpy(p->name, name, strlen(name) + 1);
    c->sizes[c->count++] = 0;
    changes_check(c);
    return 0;
}

static bool is_renaming(const u9i_change *p)
{
    return p->to[0] != 0;
}

/* A file that was made. */
static bool is_made(const u9i_change *p)
{
    return p->size == 0 && !is_renaming(p);
}

static bool refuse_change(u9i_changes *c, const char *name, const char *why)
{
    c->why = why;
    memcpy(c->where, name, strlen(name) + 1);
    return false;
}

static const u9i_change *renaming_of(const u9i_changes *c, const u9i_change *p)
{
    for (size_t i = 0; i < c->count; i++)
        if (is_renaming(&c->list[i]) && strcmp(c->list[i].name, p->name) == 0) return &c->list[i];
    return NULL;
}

/* What the file of a change is called when all is done. */
static const char *name_then(const u9i_changes *c, const u9i_change *p)
{
    const u9i_change *renaming = renaming_of(c, p);
    return renaming ? renaming->to : p->name;
}

/* Nothing else in the list has its new name, or gets its old one: it needs none between them. */
static bool is_alone(const u9i_changes *c, const u9i_change *p)
{
    for (size_t k = 0; k < c->count; k++)
        if (is_renaming(&c->list[k]) && (strcmp(c->list[k].name, p->to) == 0 || strcmp(c->list[k].to, p->name) == 0)) return false;
    return true;
}

/* The name of a file between two names. */
static void name_aside(const u9i_changes *c, const u9i_change *p, char aside[U9I_NAME_MAX + 1])
{
    int n = snprintf(aside, U9I_NAME_MAX + 1, "%.200s.%zu.name", c->saved, (size_t)(p - c->list));
    assert(n > 0 && n <= U9I_NAME_MAX);
}

/* What the file of a change is called in this stage, within it too; `aside` has room for that. */
static const char *name_now(const u9i_changes *c, u9i_dir *dir, const u9i_change *p, char aside[U9I_NAME_MAX + 1])
{
    u9i_stamp stamp;
    const u9i_change *r = renaming_of(c, p);
    if (r == NULL || c->stage == U9I_PLAN_NEW) return p->name;
    name_aside(c, r, aside);
    if (u9i_dir_stat(dir, aside, &stamp) == 0) return aside;
    bool renamed = c->stage >= U9I_PLAN_NAMED && c->stage <= U9I_PLAN_BACK_ASIDE;
    bool leaves = is_alone(c, r) && (c->stage == U9I_PLAN_NAMED || c->stage == U9I_PLAN_BACK_NAMED);
    if (leaves && u9i_dir_stat(dir, renamed ? r->to : r->name, &stamp) == -ENOENT) renamed = !renamed;
    return renamed ? r->to : r->name;
}

/*
 * What is in the way of a change; NULL: nothing. A link may lead out of the log, wherever somebody wants bytes changed that
 * whoever repairs may write. A writer counts also if it was killed, and its requests are under way. [L-1] [W-1]
 */
static const char *refusal_of(const u9i_change *p, u9i_dir *dir, const char *name, bool linked)
{
    u9i_stamp stamp;
    u9i_file *file;
    if (p->size > 0 && !linked && u9i_dir_stat(dir, name, &stamp) == 0 && stamp.links > 1)
        return "the file has other names (hard links), as in a snapshot, which would be changed with it";
    int err = u9i_file_open(dir, name, p->size > 0 && !linked ? U9I_OPEN_OWN : U9I_OPEN_WRITE, &file);
    if (err == -ELOOP && !linked) return "the file is a symbolic link: what it leads to would be changed";
    if (err != 0) return NULL; /* writing will say why */
    err = linked ? u9i_file_lock(file) : u9i_wait_landed(file); /* by another name of it, a writer may be at work */
    u9i_file_close(file);
    return err == 0 ? NULL : "a writer is at work on this file";
}

bool u9i_changes_allowed(u9i_changes *c, u9i_dir *dir, bool linked)
{
    c->linked = linked;
    for (size_t i = 0; i < c->count; i++) {
        char aside[U9I_NAME_MAX + 1];
        const char *name = name_now(c, dir, &c->list[i], aside), *why = refusal_of(&c->list[i], dir, name, linked);
        if (why) return refuse_change(c, name, why);
    }
    return true;
}

/* The file that holds them */

static size_t change_size(const u9i_change *p)
{
    return ENTRY + strlen(p->name) + strlen(p->to) + 2 * (size_t)p->size;
}

static uint64_t change_block_end(uint64_t n)
{
    return (n + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
}

static uint8_t *put_entry(uint8_t *out, const u9i_change *p, uint64_t file_size)
{
    size_t name = strlen(p->name), to = strlen(p->to);
    const uint64_t numbers[ENTRY / 8] = {(uint64_t)p->kind, p->offset, p->size, file_size, name, to};
    for (unsigned i = 0; i < ENTRY / 8; i++) u9i_set_be(out + 8 * i, 8, numbers[i]);
    out += ENTRY;
    memcpy(out, p->name, name);
    memcpy(out + name, p->to, to);
    out += name + to;
    memcpy(out, p->before, p->size);
    memcpy(out + p->size, p->after, p->size);
    return out + 2 * (size_t)p->size;
}

static void put_head(uint8_t *out, const u9i_changes *c, uint64_t size, const uint8_t sha[U9I_HASH_SIZE])
{
    memcpy(out, magic, sizeof magic);
    u9i_set_be(out + 8, 8, 1);
    u9i_set_be(out + 16, 8, (uint64_t)c->stage);
    u9i_set_be(out + 24, 8, c->count);
    u9i_set_be(out + 32, 8, size);
    memcpy(out + 40, sha, U9I_HASH_SIZE);
    u9i_hash(out, HEAD - U9I_HASH_SIZE, out + HEAD - U9I_HASH_SIZE);
}

/* ".repair-7", or behind the name of a single file. False: it is too long. */
static bool name_saved(const u9i_dir *dir, unsigned number, const char *end, char out[U9I_NAME_MAX + 1])
{
    int n = snprintf(out, U9I_NAME_MAX + 1, "%s.repair-%u%s", dir->single, number, end);
    return n <= U9I_NAME_MAX;
}

typedef struct saved_names {
    const u9i_dir *dir;
    unsigned highest;
} saved_names;

static int note_saved(void *ctx, const char *name)
{
    saved_names *s = ctx;
    char own[U9I_NAME_MAX + 1];
    const char *dash = strrchr(name, '-');
    unsigned number = 0;
    for (const char *p = dash ? dash + 1 : ""; *p >= '0' && *p <= '9' && number < SAVED_MAX; p++)
        number = 10 * number + (unsigned)(*p - '0');
    if (number > s->highest && number <= SAVED_MAX && name_saved(s->dir, number, "", own) && strcmp(own, name) == 0)
        s->highest = number;
    return 0;
}

static int find_newest_saved(u9i_dir *dir, unsigned *highest)
{
    saved_names s = {.dir = dir};
    int err = u9i_dir_list(dir, note_saved, &s);
    *highest = s.highest;
    return err;
}

static uint8_t *encode_changes(const u9i_changes *c, size_t *total)
{
    size_t size = 0;
    uint8_t sha[U9I_HASH_SIZE];
    for (size_t i = 0; i < c->count; i++) size += change_size(&c->list[i]);
    *total = U9I_BLOCK + (size_t)change_block_end(size);
    uint8_t *bytes = u9i_pages(*total), *out;
    if (bytes == NULL) return NULL;
    out = bytes + U9I_BLOCK;
    for (size_t i = 0; i < c->count; i++) out = put_entry(out, &c->list[i], c->sizes[i]);
    u9i_hash(bytes + U9I_BLOCK, size, sha);
    put_head(bytes, c, size, sha);
    return bytes;
}

/* Under its name, or the next one that is free, at this stage. */
static int save_as(u9i_changes *c, u9i_dir *dir, u9i_plan_stage stage)
{
    char fresh[U9I_NAME_MAX + 1], name[U9I_NAME_MAX + 1];
    u9i_plan_stage before = c->stage;
    unsigned last;
    size_t total;
    assert(c->count > 0);
    int err = find_newest_saved(dir, &last);
    unsigned number = c->saved[0] ? last : last + 1;
    if (err == 0 && (number > SAVED_MAX || !name_saved(dir, number, "", name) || !name_saved(dir, number, ".new", fresh)))
        err = -ENAMETOOLONG;
    if (err == 0 && c->saved[0] && strcmp(c->saved, name) != 0) err = -ESTALE;
    if (err != 0) return err;
    c->stage = stage;
    uint8_t *bytes = encode_changes(c, &total);
    err = bytes ? u9i_small_file_put(dir, fresh, name, bytes, total) : -ENOMEM;
    u9i_pages_free(bytes, total);
    if (err == 0) memcpy(c->saved, name, sizeof name);
    else c->stage = before;
    changes_check(c);
    return err;
}

int u9i_changes_save(u9i_changes *c, u9i_dir *dir)
{
    assert(c->stage == U9I_PLAN_NEW);
    return save_as(c, dir, U9I_PLAN_SAVED);
}

int u9i_changes_save_done(u9i_changes *c, u9i_dir *dir)
{
    assert(c->stage == U9I_PLAN_NEW || c->stage == U9I_PLAN_DONE);
    return save_as(c, dir, U9I_PLAN_DONE);
}

/* An index beside a segment: nothing else is made, and so nothing else is removed by an undo. */
static bool is_index_name(const char *name)
{
    size_t n = strlen(name), end = strlen(".u9x");
    return n >= end && strcmp(name + n - end, ".u9x") == 0;
}

/* One change out of [*at, end). */
static int get_entry(u9i_changes *c, const uint8_t **at, const uint8_t *end)
{
    uint64_t n[ENTRY / 8];
    u9i_change *p;
    if ((size_t)(end - *at) < ENTRY) return -EBADMSG;
    for (unsigned i = 0; i < ENTRY / 8; i++) n[i] = u9i_get_be(*at + 8 * i, 8);
    if (n[2] > CHANGE_MAX || n[4] == 0 || n[4] > U9I_NAME_MAX || n[5] > U9I_NAME_MAX || (n[2] > 0 && n[5] > 0) ||
        n[0] > INT32_MAX || n[1] > n[3] || n[2] > n[3] - n[1] || (size_t)(end - *at) - ENTRY < n[4] + n[5] + 2 * n[2])
        return -EBADMSG;
    int err = change_room(c, (uint32_t)n[2], &p);
    if (err != 0) return err;
    const uint8_t *from = *at + ENTRY;
    p->kind = (int)n[0];
    p->offset = n[1];
    memcpy(p->name, from, (size_t)n[4]);
    memcpy(p->to, from + n[4], (size_t)n[5]);
    memcpy(p->before, from + n[4] + n[5], 2 * (size_t)n[2]); /* `after` stands behind it in both */
    c->sizes[c->count++] = n[3];
    *at = from + n[4] + n[5] + 2 * n[2];
    bool named = strlen(p->name) == n[4] && strlen(p->to) == n[5] &&
                 strchr(p->name, '/') == NULL && strchr(p->to, '/') == NULL;
    return named && (!is_made(p) || is_index_name(p->name)) ? 0 : -EBADMSG;
}

static int decode_changes(u9i_changes *c, const uint8_t *bytes, size_t total)
{
    uint8_t sha[U9I_HASH_SIZE];
    if (total < U9I_BLOCK || memcmp(bytes, magic, sizeof magic) != 0 || u9i_get_be(bytes + 8, 8) != 1) return -EBADMSG;
    u9i_hash(bytes, HEAD - U9I_HASH_SIZE, sha);
    uint64_t stage = u9i_get_be(bytes + 16, 8), count = u9i_get_be(bytes + 24, 8), size = u9i_get_be(bytes + 32, 8);
    if (memcmp(sha, bytes + HEAD - U9I_HASH_SIZE, sizeof sha) != 0 || stage == 0 || stage > U9I_PLAN_BACK_BYTES ||
        size > total - U9I_BLOCK)
        return -EBADMSG;
    const uint8_t *at = bytes + U9I_BLOCK, *end = at + size;
    u9i_hash(at, (size_t)size, sha);
    int err = memcmp(sha, bytes + 40, sizeof sha) == 0 ? 0 : -EBADMSG;
    for (uint64_t i = 0; i < count && err == 0; i++) err = get_entry(c, &at, end);
    if (err == 0 && at != end) err = -EBADMSG;
    c->stage = (u9i_plan_stage)stage;
    return err;
}

/* An index that a killed call was making [K-4], and that nobody makes now: who does has it locked. */
static int sweep_partial(void *ctx, const char *name)
{
    static const char partial[] = ".u9x.partial";
    u9i_dir *dir = ctx;
    u9i_file *file;
    size_t n = strlen(name), end = sizeof partial - 1;
    if (n < end || strcmp(name + n - end, partial) != 0 || strncmp(name, dir->single, strlen(dir->single)) != 0) return 0;
    if (u9i_file_open(dir, name, U9I_OPEN_OWN, &file) != 0) return 0;
    if (u9i_file_lock(file) == 0) (void)u9i_dir_remove(dir, name);
    u9i_file_close(file);
    return 0;
}

void u9i_changes_sweep(u9i_dir *dir)
{
    unsigned last;
    char fresh[U9I_NAME_MAX + 1];
    (void)u9i_dir_list(dir, sweep_partial, dir);
    if (find_newest_saved(dir, &last) != 0) return;
    for (unsigned number = last; number <= last + 1; number++)
        if (name_saved(dir, number, ".new", fresh)) (void)u9i_dir_remove(dir, fresh); /* there is none, as a rule */
}

int u9i_changes_load(u9i_changes *c, u9i_dir *dir)
{
    unsigned last;
    u9i_file *file;
    uint64_t total = 0;
    char name[U9I_NAME_MAX + 1];
    *c = (u9i_changes){.count = 0};
    int err = find_newest_saved(dir, &last);
    if (err != 0 || last == 0) return err;
    if (!name_saved(dir, last, "", name)) return -ENAMETOOLONG;
    err = u9i_file_open(dir, name, U9I_OPEN_OWN, &file); /* its stage is written over */
    if (err == -ELOOP) {
        (void)refuse_change(c, name, "the file with the bytes that were saved is a symbolic link: it undoes nothing");
        return -EBADMSG;
    }
    if (err != 0) err = u9i_file_open(dir, name, U9I_OPEN_READ, &file);
    if (err != 0) return err;
    err = u9i_file_size(file, &total);
    if (err == 0 && total > UINT64_C(1) << 32) err = -EBADMSG;
    uint8_t *bytes = err == 0 ? malloc((size_t)total + 1) : NULL;
    if (err == 0 && bytes == NULL) err = -ENOMEM;
    if (err == 0) err = u9i_read_exactly(file, 0, bytes, (size_t)total);
    if (err == 0) err = decode_changes(c, bytes, (size_t)total);
    free(bytes);
    u9i_file_close(file);
    memcpy(c->saved, name, sizeof name);
    if (err == -EBADMSG)
        (void)refuse_change(c, name, "the file with the bytes that were saved is damaged: it undoes nothing, and is in the way "
                                     "until it is moved out");
    return err;
}

/* Writes the next stage over the file's first block, durably. */
static int enter_stage(u9i_changes *c, u9i_dir *dir, u9i_plan_stage stage)
{
    u9i_file *file;
    uint8_t *block = u9i_pages(U9I_BLOCK);
    if (block == NULL) return -ENOMEM;
    int err = u9i_file_open(dir, c->saved, U9I_OPEN_OWN, &file);
    if (err == 0) {
        err = u9i_read_exactly(file, 0, block, U9I_BLOCK);
        if (err == 0) {
            u9i_plan_stage before = c->stage;
            uint8_t sha[U9I_HASH_SIZE];
            memcpy(sha, block + 40, sizeof sha);
            c->stage = stage;
            put_head(block, c, u9i_get_be(block + 32, 8), sha);
            err = u9i_write_and_sync(file, 0, block, U9I_BLOCK);
            if (err != 0) c->stage = before;
        }
        u9i_file_close(file);
    }
    u9i_pages_free(block, U9I_BLOCK);
    return err;
}

/* Changing bytes */

/* Sector by sector the bytes of p are those before or those after. */
static bool is_either(const u9i_change *p, const uint8_t *now)
{
    for (uint64_t at = p->offset, end = p->offset + p->size; at < end;) {
        uint64_t next = (at / U9I_SECTOR + 1) * U9I_SECTOR;
        size_t from = (size_t)(at - p->offset), n = (size_t)((next < end ? next : end) - at);
        if (memcmp(now + from, p->before + from, n) != 0 && memcmp(now + from, p->after + from, n) != 0) return false;
        at += n;
    }
    return true;
}

/* The blocks that a change lies in. */
static uint64_t first_block(const u9i_change *p)
{
    return p->offset / U9I_BLOCK * U9I_BLOCK;
}

static size_t block_bytes(const u9i_change *p)
{
    return (size_t)(change_block_end(p->offset + p->size) - first_block(p));
}

/* A file is as large as it was, or, where a write of its last block was broken off, ends with that block. */
static bool has_size(uint64_t now, uint64_t before)
{
    return now == before || now == change_block_end(before);
}

bool u9i_changes_trimmed(const u9i_changes *c, u9i_dir *dir, const u9i_change *p)
{
    u9i_stamp stamp;
    const char *then = name_then(c, p);
    uint64_t number = u9i_segment_number(then);
    return number > 0 && number < c->kept && !is_made(p) && u9i_dir_stat(dir, p->name, &stamp) == -ENOENT &&
           u9i_dir_stat(dir, then, &stamp) == -ENOENT;
}

/* True if p is of this file, and what it makes of the bytes at and behind `at`, where it reaches, is zeros. */
static bool makes_zero(const u9i_change *p, const char *name, uint64_t at)
{
    bool zeros = p->size > 0 && p->offset <= at && at < p->offset + p->size && strcmp(p->name, name) == 0;
    for (size_t n = zeros ? (size_t)(at - p->offset) : 0; zeros && n < p->size; n++) zeros = p->after[n] == 0;
    return zeros;
}

/*
 * A writer gives zeros at a file's end back, which this repair has put there [S-7]: up to the last of its changes is
 * nothing but zeros then, and behind that as well; what the file has no more of them is zero. The last change tells for all.
 */
static bool is_given_back(const u9i_changes *c, size_t i, uint64_t size)
{
    const u9i_change *last = &c->list[i];
    for (size_t k = 0; k < c->count; k++)
        if (c->list[k].offset > last->offset && strcmp(c->list[k].name, last->name) == 0) return true;
    uint64_t end = last->offset + last->size, at = size < end ? size : last->offset;
    for (bool on = true; on && at < end;) {
        on = false;
        for (size_t k = 0; k < c->count; k++) {
            if (!makes_zero(&c->list[k], last->name, at)) continue;
            at = c->list[k].offset + c->list[k].size;
            on = true;
        }
    }
    return at >= end;
}

static int compare_change(u9i_changes *c, u9i_dir *dir, size_t i)
{
    const u9i_change *p = &c->list[i];
    char aside[U9I_NAME_MAX + 1];
    u9i_file *file;
    uint64_t size = 0;
    size_t got;
    if (u9i_changes_trimmed(c, dir, p)) return 0;
    uint8_t *now = calloc(1, p->size);
    if (now == NULL) return -ENOMEM;
    int err = u9i_file_open(dir, name_now(c, dir, p, aside), U9I_OPEN_READ, &file);
    if (err == 0) {
        err = u9i_file_size(file, &size);
        if (err == 0) err = u9i_file_read(file, p->offset, now, p->size, &got);
        u9i_file_close(file);
    }
    if (err == 0 && size < c->sizes[i] && !is_given_back(c, i, size)) err = -ENODATA;
    if (err == -ENOENT || err == -ENODATA || (err == 0 && !is_either(p, now))) {
        (void)refuse_change(c, p->name, err == -ENOENT ? "the file is not here, and was not trimmed: it is to be put back first"
                                                       : "the file was changed since its bytes were saved");
        err = -ESTALE;
    }
    free(now);
    return err;
}

static int compare_all(u9i_changes *c, u9i_dir *dir)
{
    int err = 0;
    for (size_t i = 0; i < c->count && err == 0; i++)
        if (c->list[i].size > 0) err = compare_change(c, dir, i);
    return err;
}

static int write_change(const u9i_change *p, uint64_t size, u9i_file *file, const uint8_t *bytes)
{
    size_t n = block_bytes(p), got;
    uint64_t now;
    uint8_t *blocks = u9i_pages(n);
    if (blocks == NULL) return -ENOMEM;
    int err = u9i_file_size(file, &now);
    if (err == 0) err = u9i_file_read(file, first_block(p), blocks, n, &got);
    bool done = err == 0 && memcmp(blocks + (p->offset - first_block(p)), bytes, p->size) == 0;
    memcpy(blocks + (p->offset - first_block(p)), bytes, p->size);
    if (err == 0 && !done) err = u9i_write_and_sync(file, first_block(p), blocks, n);
    u9i_pages_free(blocks, n);
    bool grew = change_block_end(p->offset + p->size) > size && has_size(now, size), given_back = !done && now < size;
    return err == 0 && (grew || given_back) ? u9i_file_truncate(file, size) : err;
}

static int change_bytes(const u9i_changes *c, u9i_dir *dir, size_t i, const uint8_t *bytes)
{
    u9i_file *file;
    if (u9i_changes_trimmed(c, dir, &c->list[i])) return 0;
    int err = u9i_file_open(dir, c->list[i].name, c->linked ? U9I_OPEN_WRITE : U9I_OPEN_OWN, &file);
    if (err != 0) return err;
    err = u9i_wait_landed(file);
    if (err == 0) err = write_change(&c->list[i], c->sizes[i], file, bytes);
    if (err == 0) err = u9i_file_sync_and_evict(file);
    u9i_file_close(file);
    return err;
}

/* Changing names */

/* One step of names: each file that is still called the first gets the second. */
typedef enum name_step { FROM_OLD, TO_NEW, FROM_NEW, TO_OLD } name_step;

/*
 * One that needs no name between goes from one to the other at once: whoever looks meanwhile finds it under one of them. Where
 * both are there it was done before, and somebody has used the other one since.
 */
static int name_at_once(u9i_dir *dir, const char *from, const char *to)
{
    u9i_stamp stamp;
    int err = u9i_dir_stat(dir, to, &stamp);
    if (err != -ENOENT) return err;
    err = u9i_dir_stat(dir, from, &stamp);
    if (err != 0) return err == -ENOENT ? 0 : err; /* it was trimmed */
    return u9i_dir_rename(dir, from, to);
}

static int name_one(const u9i_changes *c, u9i_dir *dir, size_t i, name_step step)
{
    const u9i_change *p = &c->list[i];
    char aside[U9I_NAME_MAX + 1];
    u9i_stamp stamp;
    name_aside(c, p, aside);
    const char *settled = step == FROM_OLD || step == TO_OLD ? p->name : p->to;
    bool leaves = step == FROM_OLD || step == FROM_NEW;
    int err = u9i_dir_stat(dir, aside, &stamp);
    if (err == -ENOENT && is_alone(c, p)) return leaves ? 0 : name_at_once(dir, step == TO_NEW ? p->name : p->to, settled);
    if (err != 0 && err != -ENOENT) return err;
    if ((err == 0) == leaves || (leaves && u9i_changes_trimmed(c, dir, p))) return 0; /* done before, or not to be done */
    if (!leaves && u9i_dir_stat(dir, settled, &stamp) != -ENOENT) return -EEXIST; /* somebody made that meanwhile */
    return leaves ? u9i_dir_rename(dir, settled, aside) : u9i_dir_rename(dir, aside, settled);
}

static int name_all(const u9i_changes *c, u9i_dir *dir, name_step step)
{
    int err = 0;
    bool any = false;
    for (size_t i = 0; i < c->count && err == 0; i++) {
        if (!is_renaming(&c->list[i])) continue;
        any = true;
        err = name_one(c, dir, i, step);
    }
    return err == 0 && any ? u9i_dir_sync(dir) : err;
}

int u9i_changes_apply(u9i_changes *c, u9i_dir *dir)
{
    int err = 0;
    assert(c->stage >= U9I_PLAN_SAVED && c->stage <= U9I_PLAN_DONE);
    if (c->stage == U9I_PLAN_SAVED) {
        err = compare_all(c, dir);
        for (size_t i = 0; i < c->count && err == 0; i++)
            if (c->list[i].size > 0) err = change_bytes(c, dir, i, c->list[i].after);
        if (err == 0) err = enter_stage(c, dir, U9I_PLAN_ASIDE);
    }
    if (err == 0 && c->stage == U9I_PLAN_ASIDE) {
        err = name_all(c, dir, FROM_OLD);
        if (err == 0) err = enter_stage(c, dir, U9I_PLAN_NAMED);
    }
    if (err == 0 && c->stage == U9I_PLAN_NAMED) {
        err = name_all(c, dir, TO_NEW);
        if (err == 0) err = enter_stage(c, dir, U9I_PLAN_DONE);
    }
    changes_check(c);
    return err;
}

/* Before names are put back: each file has its new one, and its old one is free, or will be. */
static int look_at_names(u9i_changes *c, u9i_dir *dir)
{
    u9i_stamp stamp;
    int err = 0;
    for (size_t i = 0; i < c->count && err == 0; i++) {
        const u9i_change *p = &c->list[i];
        if (!is_renaming(p) || u9i_changes_trimmed(c, dir, p)) continue;
        bool leaves = false;
        for (size_t k = 0; k < c->count; k++) leaves |= is_renaming(&c->list[k]) && strcmp(c->list[k].to, p->name) == 0;
        err = u9i_dir_stat(dir, p->to, &stamp);
        bool taken = err == 0 && !leaves && u9i_dir_stat(dir, p->name, &stamp) != -ENOENT;
        if (err != -ENOENT && !taken) continue;
        (void)refuse_change(c, taken ? p->name : p->to, taken ? "a file has the name by now that one was given up for"
                                                              : "the file that was given this name is gone");
        err = -ESTALE;
    }
    return err;
}

static int put_bytes_back(u9i_changes *c, u9i_dir *dir)
{
    int err = compare_all(c, dir);
    for (size_t i = c->count; i-- > 0 && err == 0;)
        if (c->list[i].size > 0) err = change_bytes(c, dir, i, c->list[i].before);
    if (err == 0) err = u9i_dir_remove(dir, c->saved);
    return err == 0 ? u9i_dir_sync(dir) : err;
}

static int remove_made(const u9i_changes *c, u9i_dir *dir)
{
    int err = 0;
    for (size_t i = 0; i < c->count && err == 0; i++) {
        if (is_made(&c->list[i])) err = u9i_dir_remove(dir, c->list[i].name);
        if (err == -ENOENT) err = 0; /* by another run, or somebody else */
    }
    return err;
}

int u9i_changes_undo(u9i_changes *c, u9i_dir *dir)
{
    int err = u9i_changes_going_back(c) ? 0 : u9i_changes_apply(c, dir); /* what was begun is whole first */
    if (err == 0 && c->stage == U9I_PLAN_DONE) {
        err = compare_all(c, dir);
        if (err == 0) err = look_at_names(c, dir);
        if (err == 0) err = remove_made(c, dir);
        if (err == 0) err = enter_stage(c, dir, U9I_PLAN_BACK_ASIDE);
    }
    if (err == 0 && c->stage == U9I_PLAN_BACK_ASIDE) {
        err = name_all(c, dir, FROM_NEW);
        if (err == 0) err = enter_stage(c, dir, U9I_PLAN_BACK_NAMED);
    }
    if (err == 0 && c->stage == U9I_PLAN_BACK_NAMED) {
        err = name_all(c, dir, TO_OLD);
        if (err == 0) err = enter_stage(c, dir, U9I_PLAN_BACK_BYTES);
    }
    return err == 0 ? put_bytes_back(c, dir) : err;
}
