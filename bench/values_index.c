/*
 * bench/values_index.c: from how many elements on an index pays: lookups by key in maps of growing size,
 * without an index, where all elements in front are walked past, and with one of each kind.
 */
#include "bench/bench.h"
#include "bench/measure.h"

#include <u9/value_index.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 9, MOST = 4 << (STEPS - 1) }; /* elements: 4, 8, 16 ... */
enum { FORMS = 4, KINDS = 2, LOOKUPS = 20000 };

static const struct form {
    const char *name;
    size_t count; /* of indexes */
    u9_index_spec spec;
} forms[FORMS] = {
    {"none", 0, {.keyspec = U9_KEYSPEC_K}},
    {"cidx k", 1, {.keyspec = U9_KEYSPEC_K}},
    {"iidx k/8", 1, {.keyspec = U9_KEYSPEC_K, .every = 8}},
    {"cidx kh", 1, {.keyspec = U9_KEYSPEC_KH}},
};

static const char *const kinds[KINDS] = {"uint32", "bytes of 16"};

static double took[KINDS][STEPS][FORMS][ROUNDS_MAX]; /* ns a lookup */

static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Ascending keys, with gaps drawn at random. */
static void build_key(u9_builder *b, unsigned kind, uint32_t key)
{
    uint8_t bytes[16] = {0};
    uint32_t big = htobe32(key);
    memcpy(bytes, &big, sizeof big);
    check(kind == 0 ? u9_build_uint_wide(b, key, 4) : u9_build_bytes(b, bytes, sizeof bytes));
}

static void build_map(u9_builder *b, unsigned kind, unsigned elements, uint32_t *keys)
{
    uint32_t key = 0;
    check(u9_build_tuple_open(b));
    for (unsigned i = 0; i < elements; i++) {
        keys[i] = key += 1 + (uint32_t)(draw() % 1000);
        check(u9_build_tuple_open(b));
        build_key(b, kind, key);
        check(u9_build_utf8(b, "a value of 24 characters", 24));
        check(u9_build_tuple_close(b));
    }
    check(u9_build_tuple_close(b));
}

static double time_lookups(const u9_value *map, const u9_value *sought, unsigned elements)
{
    u9_value found;
    double start = thread_seconds();
    for (unsigned i = 0; i < LOOKUPS; i++) {
        const u9_value *key = &sought[draw() % elements];
        check(u9_value_by_key(map, key, &found));
        if (found.count != 2) die("index", NULL);
    }
    return (thread_seconds() - start) / LOOKUPS * 1e9;
}

static void run_size(unsigned kind, unsigned step, unsigned long round)
{
    static uint32_t keys[MOST];
    static u9_value sought[MOST];
    static uint8_t key_bytes[MOST][32];
    unsigned elements = 4u << step;
    u9_builder plain, indexed;
    u9_value map;
    u9_builder_init_growing(&plain, u9_grow_heap, NULL);
    build_map(&plain, kind, elements, keys);
    for (unsigned i = 0; i < elements; i++) {
        u9_builder b;
        u9_builder_init(&b, key_bytes[i], sizeof key_bytes[i]);
        build_key(&b, kind, keys[i]);
        check(u9_value_decode(key_bytes[i], b.size, &sought[i]));
    }
    check(u9_value_decode(plain.bytes, plain.size, &map));
    for (unsigned f = 0; f < FORMS; f++) {
        u9_index_entry scratch[MOST];
        u9_value whole;
        u9_builder_init_growing(&indexed, u9_grow_heap, NULL);
        check(u9_build_indexed(&indexed, &map, &forms[f].spec, forms[f].count, scratch, MOST));
        check(u9_value_decode(indexed.bytes, indexed.size, &whole));
        check(u9_index_check(&whole, NULL));
        took[kind][step][f][round] = time_lookups(&whole, sought, elements);
        free(indexed.bytes);
    }
    free(plain.bytes);
}

static void print_kind(unsigned kind, unsigned long rounds)
{
    unsigned pays[FORMS] = {0};
    double ns[FORMS];
    for (unsigned step = 0; step < STEPS; step++) {
        printf("%-12s %9u", kinds[kind], 4u << step);
        for (unsigned f = 0; f < FORMS; f++) {
            ns[f] = median_of(took[kind][step][f], rounds);
            printf(" %9.0f", ns[f]);
            if (ns[f] >= ns[0]) pays[f] = 0;
            else if (pays[f] == 0) pays[f] = 4u << step;
        }
        putchar('\n');
    }
    printf("%-12s %9s %9s", kinds[kind], "pays from", "");
    for (unsigned f = 1; f < FORMS; f++) printf(" %9u", pays[f]);
    putchar('\n');
}

void bench_indexes(const bench_options *options)
{
    unsigned long rounds = options->rounds;
    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned step = 0; step < STEPS; step++)
            for (unsigned kind = 0; kind < KINDS; kind++) run_size(kind, step, round);
    printf("\nindexes: ns for a lookup by key, %u lookups, %lu rounds\n", LOOKUPS, rounds);
    printf("%-12s %9s", "keys", "elements");
    for (unsigned f = 0; f < FORMS; f++) printf(" %9s", forms[f].name);
    putchar('\n');
    for (unsigned kind = 0; kind < KINDS; kind++) print_kind(kind, rounds);
}
