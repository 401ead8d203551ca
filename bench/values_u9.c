/*
 * bench/values_u9.c: what the rows on values measure, done by u9.
 */
#include "bench/values.h"

#include <endian.h>
#include <stdlib.h>

static void *room(size_t size)
{
    void *p = malloc(size);
    if (p == NULL) die("memory", NULL);
    return p;
}

static void build_line(u9_builder *b, const line *l)
{
    check(u9_build_tuple_open(b));
    check(u9_build_bytes(b, l->key, sizeof l->key));
    check(u9_build_utf8(b, l->text, l->size));
    check(u9_build_tuple_close(b));
}

static void build_row(u9_builder *b, const fields *f)
{
    check(u9_build_tuple_open(b));
    check(u9_build_bytes(b, f->key, sizeof f->key));
    check(u9_build_uint(b, f->level));
    check(u9_build_uint(b, f->port));
    check(u9_build_uint(b, f->time_us));
    check(u9_build_int(b, f->delta));
    check(u9_build_float64(b, f->load));
    check(u9_build_utf8(b, f->host, f->host_size));
    check(u9_build_utf8(b, f->unit, f->unit_size));
    check(u9_build_bytes(b, f->digest, sizeof f->digest));
    check(u9_build_uint(b, f->retries));
    check(u9_build_tuple_close(b));
}

static uint64_t encode(const record_set *set)
{
    u9_builder b;
    u9_builder_init(&b, set->u9.bytes, set->u9.cap);
    for (size_t i = 0; i < set->count; i++) {
        set->u9.at[i] = b.size;
        if (set->lines) build_line(&b, &set->lines[i]);
        else build_row(&b, &set->rows[i]);
    }
    set->u9.at[set->count] = b.size;
    return set->count;
}

static void decode(const record_set *set, size_t i, u9_value *record)
{
    const size_t *at = &set->u9.at[i];
    check(u9_value_decode(set->u9.bytes + at[0], at[1] - at[0], record));
}

static uint64_t compare_each(const record_set *set)
{
    uint64_t equal = 0;
    for (size_t i = 0; i < set->count; i++) {
        u9_value a, b;
        decode(set, i, &a);
        decode(set, i, &b);
        equal += u9_value_compare(&a, &b) == 0;
    }
    return equal;
}

static uint64_t hash_each(const record_set *set)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < set->count; i++) {
        u9_value record;
        decode(set, i, &record);
        sum += u9_value_hash(&record);
    }
    return sum;
}

static uint64_t print_each(const record_set *set)
{
    char text[TEXT_MAX];
    for (size_t i = 0; i < set->count; i++) {
        const size_t *at = &set->u9.at[i];
        check(u9_value_text(set->u9.bytes + at[0], at[1] - at[0], text, sizeof text, NULL, NULL));
    }
    return set->count;
}

typedef struct texts {
    char *all;
    size_t *at;
} texts;

static texts print_all(const record_set *set)
{
    texts made = {room(set->count * TEXT_MAX), room((set->count + 1) * sizeof(size_t))};
    size_t length;
    made.at[0] = 0;
    for (size_t i = 0; i < set->count; i++) {
        const size_t *at = &set->u9.at[i];
        check(u9_value_text(set->u9.bytes + at[0], at[1] - at[0], made.all + made.at[i], TEXT_MAX,
                            &length, NULL));
        made.at[i + 1] = made.at[i] + length;
    }
    return made;
}

/* Must come to the bytes that were printed. */
static uint64_t parse_each(const record_set *set)
{
    static texts made[2];
    texts *from = &made[set->rows != NULL];
    uint8_t bytes[TEXT_MAX];
    size_t total = 0;
    if (from->all == NULL) *from = print_all(set);
    for (size_t i = 0; i < set->count; i++) {
        u9_builder b;
        u9_builder_init(&b, bytes, sizeof bytes);
        check(
            u9_value_parse(from->all + from->at[i], from->at[i + 1] - from->at[i], NULL, &b, NULL));
        total += b.size;
    }
    if (total != set->u9.at[set->count]) die("a text is not what was printed", NULL);
    return set->count;
}

static uint64_t encode_numbers(const record_set *set)
{
    u9_builder b;
    u9_builder_init(&b, set->u9.bytes, set->u9.cap);
    check(u9_build_numbers(&b, 0x06, set->numbers, set->count));
    set->u9.at[set->count] = b.size;
    return set->count;
}

static u9_walk walk_of(const record_set *set)
{
    return u9_walk_bytes(set->u9.bytes, set->u9.at[set->count]);
}

/* The records' ends are not known beforehand. */
static uint64_t check_records(const record_set *set, bool text)
{
    u9_walk walk = walk_of(set);
    u9_value record;
    uint64_t count = 0, bad;
    u9_err err;
    while ((err = u9_walk_next(&walk, &record)) == U9_OK) {
        check(u9_value_check(record.start, record.encoded, text ? &bad : NULL, NULL));
        count += !text || bad == U9_NOWHERE;
    }
    if (err != U9_END) die("walk", NULL);
    return count;
}

static uint64_t check_all(const record_set *set)
{
    return check_records(set, false);
}

static uint64_t check_text(const record_set *set)
{
    return check_records(set, true);
}

static inline uint64_t sum_of(const u9_value *v)
{
    switch ((int)v->type) {
    case U9_UINT: return v->u;
    case U9_INT: return (uint64_t)v->i;
    case U9_FLOAT32:
    case U9_FLOAT64: return sum_float(v->f);
    case U9_UTF8:
    case U9_BYTES: return sum_text(v->data, v->size);
    default: return 0;
    }
}

typedef u9_err next_fn(u9_walk *walk, u9_value *out);

static inline uint64_t walk_with(const record_set *set, next_fn *next)
{
    u9_walk walk = walk_of(set);
    u9_value record, v;
    uint64_t sum = 0;
    u9_err err;
    while ((err = next(&walk, &record)) == U9_OK) {
        u9_walk inner = u9_walk_elements(&record);
        while ((err = next(&inner, &v)) == U9_OK) sum += sum_of(&v);
        if (err != U9_END) break;
    }
    if (err != U9_END) die("walk", NULL);
    return sum;
}

static uint64_t walk_all(const record_set *set)
{
    return walk_with(set, u9_walk_next);
}

static uint64_t walk_checked(const record_set *set)
{
    return walk_with(set, u9_walk_next_checked);
}

static uint64_t field_of_each(const record_set *set)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < set->count; i++) {
        u9_value record, v;
        decode(set, i, &record);
        check(u9_value_at(&record, set->field, &v));
        sum += sum_of(&v);
    }
    return sum;
}

static size_t make_tag(uint8_t out[TAG_SIZE + 1])
{
    u9_builder b;
    u9_builder_init(&b, out, TAG_SIZE + 1);
    check(u9_build_utf8(&b, tag, TAG_SIZE));
    return b.size;
}

enum { ROOM = 16 }; /* in front of each record */

/* A copy of record i at its place among copies that have room in front. */
static u9_cons roomy_record(const record_set *set, uint8_t *bytes, size_t i)
{
    size_t before = (i + 1) * ROOM;
    return (u9_cons){bytes, set->u9.at[i] + before, set->u9.at[i + 1] + before};
}

static uint8_t *make_roomy(const record_set *set)
{
    uint8_t *bytes = room(set->u9.at[set->count] + set->count * ROOM);
    for (size_t i = 0; i < set->count; i++) {
        u9_cons copy = roomy_record(set, bytes, i);
        memcpy(bytes + copy.start, set->u9.bytes + set->u9.at[i], copy.end - copy.start);
    }
    return bytes;
}

/* Puts each record's header back behind the measured call, so that every pass finds the same. */
static uint64_t cons_each(const record_set *set)
{
    static uint8_t *roomy[2];
    uint8_t **bytes = &roomy[set->rows != NULL], field[TAG_SIZE + 1], head[4];
    size_t size = make_tag(field);
    if (*bytes == NULL) *bytes = make_roomy(set);
    for (size_t i = 0; i < set->count; i++) {
        u9_cons tuple = roomy_record(set, *bytes, i);
        uint8_t *old = *bytes + tuple.start;
        memcpy(head, old, sizeof head);
        check(u9_tuple_cons(&tuple, field, size));
        memcpy(old, head, sizeof head);
    }
    return set->count;
}

/* All records with the tag in front. */
static void build_tagged(u9_builder *b, const record_set *set, const uint8_t *field, size_t size)
{
    uint8_t *bytes = make_roomy(set);
    u9_builder_init_growing(b, u9_grow_heap, NULL);
    for (size_t i = 0; i < set->count; i++) {
        u9_cons tuple = roomy_record(set, bytes, i);
        check(u9_tuple_cons(&tuple, field, size));
        check(u9_build_raw(b, bytes + tuple.start, tuple.end - tuple.start));
    }
    free(bytes);
}

static uint64_t match_each(const record_set *set)
{
    static u9_builder made[2];
    u9_builder *tagged = &made[set->rows != NULL];
    uint8_t bytes[TAG_SIZE + 1];
    size_t size = make_tag(bytes);
    u9_value field, record, rest, first;
    uint64_t sum = 0;
    u9_err err;
    check(u9_value_decode(bytes, size, &field));
    if (tagged->bytes == NULL) build_tagged(tagged, set, bytes, size);
    u9_walk walk = u9_walk_bytes(tagged->bytes, tagged->size);
    while ((err = u9_walk_next(&walk, &record)) == U9_OK) {
        check(u9_tuple_match(&record, &field, &rest));
        check(u9_value_at(&rest, 0, &first));
        sum += rest.count + sum_of(&first);
    }
    if (err != U9_END) die("walk", NULL);
    return sum;
}

static inline int32_t int32_at(const uint8_t *p)
{
    uint32_t big;
    memcpy(&big, p, sizeof big);
    return (int32_t)be32toh(big);
}

static uint64_t sum_numbers(const record_set *set)
{
    u9_value array;
    u9_span span;
    int64_t sum = 0;
    check(u9_value_decode(set->u9.bytes, set->u9.at[set->count], &array));
    check(u9_array_span(&array, &span));
    if (span.code != 0x06) die("no int32", NULL); /* so the stride is 4 */
    for (size_t i = 0; i < span.count; i++) sum += int32_at(span.data + 4 * i);
    return (uint64_t)sum;
}

static uint64_t sum_by_walk(const record_set *set)
{
    u9_value array, v;
    uint64_t sum = 0;
    u9_err err;
    check(u9_value_decode(set->u9.bytes, set->u9.at[set->count], &array));
    u9_walk walk = u9_walk_elements(&array);
    while ((err = u9_walk_next(&walk, &v)) == U9_OK) sum += (uint64_t)v.i;
    if (err != U9_END) die("walk", NULL);
    return sum;
}

side u9_side = {[ENCODE] = encode,          [ENCODE_NUMBERS] = encode_numbers,
                [CHECK] = check_all,        [CHECK_TEXT] = check_text,
                [WALK] = walk_all,          [WALK_CHECKED] = walk_checked,
                [FIELD] = field_of_each,    [CONS] = cons_each,
                [MATCH] = match_each,       [COMPARE] = compare_each,
                [HASH] = hash_each,         [PRINT] = print_each,
                [PARSE] = parse_each,       [SUM] = sum_numbers,
                [SUM_BY_WALK] = sum_by_walk};

/* What a C programmer without either would write: big-endian numbers in memory. */
static uint64_t sum_plain(const record_set *set)
{
    static uint32_t *big;
    int64_t sum = 0;
    if (big == NULL) {
        big = room(set->count * sizeof *big);
        for (size_t i = 0; i < set->count; i++) big[i] = htobe32((uint32_t)set->numbers[i]);
    }
    for (size_t i = 0; i < set->count; i++) sum += (int32_t)be32toh(big[i]);
    return (uint64_t)sum;
}

side plain_side = {[SUM] = sum_plain};
