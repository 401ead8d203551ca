/*
 * engine/log/tier_list.c: see tier_list.h. [TR-2]
 */
#include "engine/log/tier_list.h"

#include "engine/os/list.h"

#include <u9/value.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, LIST_MAX = 1 << 30, READ_STEP = 1 << 20 };

const char u9i_tier_name[] = ".tier";

void u9i_tier_list_free(u9i_tier_list *l)
{
    for (size_t i = 0; i < l->count; i++) free(l->segments[i].keys);
    free(l->segments);
    free(l->place);
    *l = (u9i_tier_list){.count = 0};
}

/* Where a segment of this number is, or would be. */
static size_t index_of_number(const u9i_tier_list *l, uint64_t number)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->segments[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

const u9i_tiered *u9i_tier_list_find(const u9i_tier_list *l, uint64_t number)
{
    size_t i = index_of_number(l, number);
    return i < l->count && l->segments[i].number == number ? &l->segments[i] : NULL;
}

bool u9i_tiered_is(const u9i_tiered *s, const u9i_facts *f)
{
    if (memcmp(s->boundary, f->secret.boundary, U9I_HASH_SIZE) != 0) return false;
    return !f->named || (s->end == f->at.offset && memcmp(s->chain, f->at.chain, U9I_HASH_SIZE) == 0);
}

bool u9i_tier_list_put(u9i_tier_list *l, const u9i_tiered *segment)
{
    size_t i = index_of_number(l, segment->number);
    if (i < l->count && l->segments[i].number == segment->number) {
        free(l->segments[i].keys);
        l->segments[i] = *segment;
        return true;
    }
    u9i_tiered *more = u9i_grow(l->segments, l->count, &l->room, sizeof *more);
    if (more == NULL) {
        free(segment->keys);
        return false;
    }
    l->segments = more;
    memmove(l->segments + i + 1, l->segments + i, (l->count - i) * sizeof *l->segments);
    l->segments[i] = *segment;
    l->count++;
    return true;
}

/* Writing */

static u9_err build_segment(u9_builder *b, const u9i_tiered *t)
{
    const uint64_t numbers[] = {t->number, t->size, t->first, t->next, t->first_us, t->last_us, t->end};
    u9_err err = u9_build_tuple_open(b);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && err == U9_OK; i++) err = u9_build_uint(b, numbers[i]);
    if (err == U9_OK) err = u9_build_bytes(b, t->boundary, sizeof t->boundary);
    if (err == U9_OK) err = u9_build_bytes(b, t->chain, sizeof t->chain);
    if (err == U9_OK) err = u9_build_bytes(b, t->sha, sizeof t->sha);
    u9_walk keys = u9_walk_bytes(t->keys, t->keys_size);
    u9_value key;
    while (err == U9_OK && u9_walk_next(&keys, &key) == U9_OK) err = u9_build_raw(b, key.start, key.encoded);
    return err == U9_OK ? u9_build_tuple_close(b) : err;
}

/* The numbers of those that were damaged; nothing, where none was. */
static u9_err build_damaged(u9_builder *b, const u9i_tier_list *l)
{
    size_t count = 0;
    u9_err err = U9_OK;
    for (size_t i = 0; i < l->count && err == U9_OK; i++) {
        if (!l->segments[i].damaged) continue;
        if (count++ == 0) err = u9_build_tuple_open(b);
        if (err == U9_OK) err = u9_build_uint(b, l->segments[i].number);
    }
    return err == U9_OK && count > 0 ? u9_build_tuple_close(b) : err;
}

static u9_err build_list(u9_builder *b, const u9i_tier_list *l, const char *place)
{
    u9_err err = u9_build_tuple_open(b);
    if (err == U9_OK) err = u9_build_symbol(b, "u9tier");
    if (err == U9_OK) err = u9_build_uint(b, VERSION);
    if (err == U9_OK) err = u9_build_bytes(b, l->log, sizeof l->log);
    if (err == U9_OK) err = u9_build_utf8(b, l->kind, strlen(l->kind));
    if (err == U9_OK) err = u9_build_utf8(b, place, strlen(place));
    if (err == U9_OK) err = u9_build_tuple_open(b);
    for (size_t i = 0; i < l->count && err == U9_OK; i++) err = build_segment(b, &l->segments[i]);
    if (err == U9_OK) err = u9_build_tuple_close(b);
    if (err == U9_OK) err = build_damaged(b, l);
    return err == U9_OK ? u9_build_tuple_close(b) : err;
}

u9_err u9i_tier_list_encode(const u9i_tier_list *l, const char *place, uint8_t **out, size_t *size)
{
    u9_builder b;
    uint8_t sha[U9I_HASH_SIZE];
    u9_builder_init_growing(&b, u9_grow_heap, NULL);
    u9_err err = build_list(&b, l, place);
    if (err == U9_OK) {
        u9i_hash(b.bytes, b.size, sha);
        err = u9_build_bytes(&b, sha, sizeof sha);
    }
    if (err != U9_OK) {
        free(b.bytes);
        return U9_NOMEM;
    }
    *out = b.bytes;
    *size = b.size;
    return U9_OK;
}

/* Reading */

static bool take_uint(u9_walk *w, uint64_t *out)
{
    u9_value v;
    if (u9_walk_next(w, &v) != U9_OK || v.type != U9_UINT) return false;
    *out = v.u;
    return true;
}

static bool take_bytes(u9_walk *w, u9_type type, size_t min, size_t max, const uint8_t **out, size_t *size)
{
    u9_value v;
    if (u9_walk_next(w, &v) != U9_OK || v.type != type || v.size < min || v.size > max) return false;
    *out = v.data;
    *size = (size_t)v.size;
    return true;
}

static bool take_hash(u9_walk *w, uint8_t out[U9I_HASH_SIZE])
{
    const uint8_t *bytes;
    size_t size;
    if (!take_bytes(w, U9_BYTES, U9I_HASH_SIZE, U9I_HASH_SIZE, &bytes, &size)) return false;
    memcpy(out, bytes, size);
    return true;
}

/* U9_CORRUPT, U9_NOMEM. */
static u9_err take_tiered(u9i_tier_list *l, const u9_value *tuple)
{
    u9i_tiered t = {.number = 0};
    u9_walk w = u9_walk_elements(tuple);
    bool fine = tuple->type == U9_TUPLE && take_uint(&w, &t.number) && take_uint(&w, &t.size) && take_uint(&w, &t.first) &&
                take_uint(&w, &t.next) && take_uint(&w, &t.first_us) && take_uint(&w, &t.last_us) &&
                take_uint(&w, &t.end) && take_hash(&w, t.boundary) && take_hash(&w, t.chain) && take_hash(&w, t.sha);
    uint64_t below = l->count > 0 ? l->segments[l->count - 1].number : 0;
    if (!fine || t.number <= below) return U9_CORRUPT;
    if (w.left > 0) {
        t.keys_size = w.left;
        t.keys = malloc(w.left);
        if (t.keys == NULL) return U9_NOMEM;
        memcpy(t.keys, w.next, w.left);
    }
    return u9i_tier_list_put(l, &t) ? U9_OK : U9_NOMEM;
}

/* Which of them were damaged, if any was. */
static u9_err take_damaged(u9i_tier_list *l, u9_walk *list)
{
    u9_value tuple;
    uint64_t number, below = 0;
    u9_err err = u9_walk_next(list, &tuple);
    if (err == U9_END) return U9_OK;
    if (err != U9_OK || tuple.type != U9_TUPLE || list->left > 0) return U9_CORRUPT;
    for (u9_walk w = u9_walk_elements(&tuple); w.left > 0; below = number) {
        if (!take_uint(&w, &number) || number <= below) return U9_CORRUPT;
        size_t i = index_of_number(l, number);
        if (i == l->count || l->segments[i].number != number) return U9_CORRUPT;
        l->segments[i].damaged = true;
    }
    return U9_OK;
}

static u9_err take_list(u9i_tier_list *l, const u9_value *tuple)
{
    u9_value symbol, segments, one;
    const uint8_t *log, *kind, *place;
    size_t log_size, kind_size, place_size;
    uint64_t version;
    if (tuple->type != U9_TUPLE) return U9_CORRUPT;
    u9_walk w = u9_walk_elements(tuple);
    if (u9_walk_next(&w, &symbol) != U9_OK || symbol.type != U9_SYMBOL || memcmp(symbol.data, "u9tier\0", 8) != 0)
        return U9_CORRUPT;
    if (!take_uint(&w, &version)) return U9_CORRUPT;
    if (version != VERSION) return U9_VERSION;
    if (!take_bytes(&w, U9_BYTES, sizeof l->log, sizeof l->log, &log, &log_size) ||
        !take_bytes(&w, U9_UTF8, 0, sizeof l->kind - 1, &kind, &kind_size) ||
        !take_bytes(&w, U9_UTF8, 0, 4096, &place, &place_size) || u9_walk_next(&w, &segments) != U9_OK ||
        segments.type != U9_TUPLE)
        return U9_CORRUPT;
    memcpy(l->log, log, log_size);
    memcpy(l->kind, kind, kind_size);
    l->place = calloc(1, place_size + 1);
    if (l->place == NULL) return U9_NOMEM;
    memcpy(l->place, place, place_size);
    u9_walk tuples = u9_walk_elements(&segments);
    u9_err err = U9_OK;
    while (err == U9_OK && (err = u9_walk_next(&tuples, &one)) == U9_OK) err = take_tiered(l, &one);
    if (err != U9_END) return err == U9_NOMEM ? U9_NOMEM : U9_CORRUPT;
    return take_damaged(l, &w);
}

u9_err u9i_tier_list_decode(const void *bytes, size_t size, u9i_tier_list *out)
{
    uint8_t sha[U9I_HASH_SIZE];
    u9_value value, hash;
    *out = (u9i_tier_list){.count = 0};
    if (u9_value_decode(bytes, size, &value) != U9_OK || u9_value_check(bytes, value.encoded, NULL, NULL) != U9_OK ||
        u9_value_decode((const uint8_t *)bytes + value.encoded, size - value.encoded, &hash) != U9_OK ||
        hash.type != U9_BYTES || hash.size != sizeof sha || value.encoded + hash.encoded != size)
        return U9_CORRUPT;
    u9i_hash(bytes, value.encoded, sha);
    if (memcmp(sha, hash.data, sizeof sha) != 0) return U9_CORRUPT;
    u9_err err = take_list(out, &value);
    if (err != U9_OK) u9i_tier_list_free(out);
    return err;
}

static int read_file(u9i_file *file, uint8_t **bytes, size_t *size)
{
    uint64_t n;
    int err = u9i_file_size(file, &n);
    if (err != 0) return err;
    if (n > LIST_MAX) return -EBADMSG;
    *bytes = malloc((size_t)n + 1);
    return *bytes ? u9i_file_read(file, 0, *bytes, (size_t)n, size) : -ENOMEM;
}

/* A link to nothing is no list that is not there; and one that comes at the moment is one. */
static int open_list(u9i_dir *dir, u9i_file **out)
{
    u9i_stamp stamp;
    int err = -ENOENT, there = 0;
    for (unsigned tries = 0; tries < 3 && err == -ENOENT && there == 0; tries++) {
        err = u9i_file_open(dir, u9i_tier_name, U9I_OPEN_READ, out);
        there = err == -ENOENT ? u9i_dir_stat(dir, u9i_tier_name, &stamp) : 0;
    }
    return there ? there : err;
}

int u9i_tier_list_read(u9i_dir *dir, u9i_tier_list *out)
{
    u9i_file *file;
    uint8_t *bytes = NULL;
    size_t size = 0;
    *out = (u9i_tier_list){.count = 0};
    int err = open_list(dir, &file);
    if (err != 0) return err;
    err = read_file(file, &bytes, &size);
    u9i_file_close(file);
    u9_err decoded = err == 0 ? u9i_tier_list_decode(bytes, size, out) : U9_OK;
    free(bytes);
    if (err != 0 || decoded == U9_OK) return err;
    return decoded == U9_NOMEM ? -ENOMEM : decoded == U9_VERSION ? -EPROTONOSUPPORT : -EBADMSG;
}

/* The files it is of */

typedef struct present {
    const u9i_tier_list *list;
    bool *there;
} present;

static int note_present(void *ctx, const char *name)
{
    present *p = ctx;
    uint64_t number;
    const u9i_tiered *s = u9i_segment_named(name, &number) ? u9i_tier_list_find(p->list, number) : NULL;
    if (s) p->there[s - p->list->segments] = true;
    return 0;
}

int u9i_tier_list_present(const u9i_tier_list *l, u9i_dir *place, bool *there)
{
    return u9i_dir_list(place, note_present, &(present){.list = l, .there = there});
}

int u9i_tiered_hash(u9i_file *file, uint64_t size, uint8_t out[U9I_HASH_SIZE])
{
    u9i_hasher hasher = {.blocks = 0};
    int err = 0;
    uint8_t *bytes = malloc(READ_STEP);
    if (bytes == NULL) return -ENOMEM;
    (void)u9i_hasher_open(&hasher);
    u9i_hasher_init(&hasher);
    for (uint64_t at = 0; at <= size; at += READ_STEP) {
        size_t n = size - at < READ_STEP ? (size_t)(size - at) : READ_STEP, rest = n % U9I_HASH_BLOCK;
        if (n > 0 && (err = u9i_read_exactly(file, at, bytes, n)) != 0) break;
        u9i_hasher_take(&hasher, bytes, n / U9I_HASH_BLOCK);
        if (n < READ_STEP) u9i_hasher_finish(&hasher, bytes + n - rest, rest, out);
    }
    u9i_hasher_close(&hasher);
    free(bytes);
    return err;
}

int u9i_tiered_compare(const u9i_tiered *s, u9i_dir *dir, const char *name, bool *same)
{
    uint8_t sha[U9I_HASH_SIZE];
    uint64_t size = 0;
    u9i_file *file;
    *same = false;
    int err = u9i_file_open(dir, name, U9I_OPEN_READ, &file);
    if (err != 0) return err;
    err = u9i_file_size(file, &size);
    if (err == 0 && size == s->size && (err = u9i_tiered_hash(file, size, sha)) == 0)
        *same = memcmp(sha, s->sha, sizeof sha) == 0;
    u9i_file_close(file);
    return err;
}
