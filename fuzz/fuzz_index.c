/*
 * fuzz/fuzz_index.c: container indexes to, found in any bytes and built over any
 * container.
 *
 * The first byte chooses. Even: the rest is a value, whatever its indexes claim. Looking there is
 * safe and ends; what is found lies in the container and equals what was sought; and where the
 * proof finds the indexes right, each lookup finds what a walk finds. Odd: two bytes choose indexes
 * to build, two a byte of the outcome, the rest is a container, or the elements of a tuple. The
 * indexes are refused or proved right, and answer so; with that byte changed they are looked at as
 * above.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value_index.h>

enum { ROOM = 1 << 16, ENTRIES = 1 << 14, LOOKUPS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

static bool is_container(const u9_value *v)
{
    return v->type == U9_TUPLE || v->type == U9_ARRAY;
}

static bool within(const u9_value *v, const u9_value *container)
{
    const uint8_t *p = v->start ? v->start : v->data;
    size_t size = v->start ? v->encoded : (size_t)v->size;
    return !p || (p >= container->data && size <= container->size &&
                  (size_t)(p - container->data) <= container->size - size);
}

/* [X-6] `proved`: the indexes are right, and all bytes are well-formed. */
static void look(const u9_value *container, u9_by by, const u9_value *sought, bool proved)
{
    u9_value bare = u9_value_bare(container), here, there;
    u9_find find, walk;
    u9_err err = u9_find_begin(&find, container, by, sought), other;
    must(err == U9_OK || err == U9_CORRUPT || err == U9_LIMIT);
    must(err == U9_OK || !proved);
    if (err) return;
    must(u9_find_begin(&walk, &bare, by, sought) == U9_OK);
    while ((err = u9_find_next(&find, &here)) == U9_OK) {
        must(within(&here, &bare));
        u9_value key = here;
        u9_walk first = u9_walk_elements(&here);
        if (by == U9_BY_KEY) must(u9_walk_next(&first, &key) == U9_OK);
        must(u9_value_compare(&key, sought) == 0);
        if (!proved) continue;
        other = u9_find_next(&walk, &there);
        must(other == U9_OK && here.start == there.start && here.data == there.data);
    }
    must(err == U9_END || err == U9_CORRUPT || err == U9_LIMIT);
    must(u9_find_next(&find, &here) == err);
    if (proved) must(err == U9_END && u9_find_next(&walk, &there) == U9_END);
}

static void look_at(const u9_value *container, uint64_t k, const u9_value *element, bool proved)
{
    u9_value bare = u9_value_bare(container), at;
    u9_err err = u9_value_at(container, k, &at);
    if (err == U9_OK) must(within(&at, &bare));
    if (!proved) return;
    must(err == (element ? U9_OK : U9_END));
    if (element) must(at.start == element->start && at.data == element->data);
}

static void look_for_all(const u9_value *container, bool proved)
{
    u9_walk walk = u9_walk_elements(container);
    u9_value element, key;
    uint64_t k = 0;
    for (; k < LOOKUPS && u9_walk_next(&walk, &element) == U9_OK; k++) {
        u9_walk first = u9_walk_elements(&element);
        look(container, U9_BY_ELEMENT, &element, proved);
        look(container, U9_BY_KEY, &element, proved);
        if (u9_walk_next(&first, &key) == U9_OK) look(container, U9_BY_KEY, &key, proved);
        look_at(container, k, &element, proved);
    }
    look_at(container, container->count, NULL, proved);
}

/* For what the indexes have as keys, whether the container has them or not. */
static void look_for_keys(const u9_value *container, bool proved)
{
    u9_walk indexes = u9_walk_indexes(container);
    u9_index index;
    for (unsigned looks = 0; looks < LOOKUPS && u9_index_next(&indexes, &index) == U9_OK;) {
        u9_walk keys = u9_walk_elements(&index.ka);
        u9_value key;
        must(index.ka.count == index.ia.count && index.start + index.encoded <= container->data);
        for (; looks < LOOKUPS && u9_walk_next(&keys, &key) == U9_OK; looks++) {
            look(container, U9_BY_KEY, &key, proved);
            look(container, U9_BY_ELEMENT, &key, proved);
            if (key.type == U9_UINT) look_at(container, key.u, NULL, false);
        }
        looks++;
    }
}

static void try_value(const uint8_t *data, size_t size)
{
    u9_value v;
    u9_fault fault;
    if (u9_value_decode(data, size, &v) != U9_OK || !is_container(&v)) return;
    bool well_formed = u9_value_check(data, v.encoded, NULL, NULL) == U9_OK;
    u9_err err = u9_index_check(&v, &fault);
    must(err == U9_OK || err == U9_LIMIT || err == U9_CORRUPT);
    if (err == U9_CORRUPT) must(fault.offset <= v.encoded && strchr("XV", fault.rule[0]));
    look_for_all(&v, err == U9_OK && well_formed);
    look_for_keys(&v, err == U9_OK && well_formed);
}

/* A container of the bytes: themselves, or a tuple of the values that they are. */
static bool container_of(const uint8_t *data, size_t size, u9_value *out)
{
    static uint8_t tuple[ROOM + 17];
    if (size > ROOM) return false;
    if (u9_value_check(data, size, NULL, NULL) == U9_OK)
        return u9_value_decode(data, size, out) == U9_OK && is_container(out);
    u9_builder b;
    u9_builder_init(&b, tuple, sizeof tuple);
    must(u9_build_tuple_open_wide(&b, 8) == U9_OK);
    u9_walk walk = u9_walk_bytes(data, size);
    u9_value v;
    u9_err err;
    while ((err = u9_walk_next(&walk, &v)) == U9_OK) must(u9_build_value(&b, &v) == U9_OK);
    must(u9_build_tuple_close(&b) == U9_OK);
    return err == U9_END && u9_value_check(tuple, b.size, NULL, NULL) == U9_OK &&
           u9_value_decode(tuple, b.size, out) == U9_OK;
}

static void try_build(const uint8_t *data, size_t size)
{
    static u9_index_entry scratch[ENTRIES];
    static uint8_t indexed[4 * ROOM + ENTRIES * 32];
    u9_value v;
    if (size < 4 || !container_of(data + 4, size - 4, &v)) return;
    u9_index_spec specs[2];
    for (unsigned i = 0; i < 2; i++) {
        specs[i].keyspec = (u9_keyspec)(U9_KEYSPEC_I + data[i] % 4);
        specs[i].every = data[i] / 4 % 4;
        specs[i].hash_bits = (unsigned[]){0, 8, 16, 64}[data[i] / 16 % 4];
    }
    size_t count = 1 + data[0] / 64 % 2;
    if (u9_index_scratch(&v, specs, count) > ENTRIES) return;
    u9_builder b;
    u9_builder_init(&b, indexed, sizeof indexed);
    u9_err err = u9_build_indexed(&b, &v, specs, count, scratch, ENTRIES);
    must(err == U9_OK || (err == U9_ARG && b.size == 0));
    if (err) return;
    must(u9_value_check(indexed, b.size, NULL, NULL) == U9_OK);
    must(u9_value_decode(indexed, b.size, &v) == U9_OK && v.encoded == b.size);
    must(u9_index_check(&v, NULL) == U9_OK);
    look_for_all(&v, true);
    look_for_keys(&v, true);
    uint8_t *exact = malloc(b.size);
    must(exact != NULL);
    memcpy(exact, indexed, b.size);
    exact[data[2] % b.size] ^= data[3];
    try_value(exact, b.size);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    if (data[0] % 2 == 0) try_value(data + 1, size - 1);
    else try_build(data + 1, size - 1);
    return 0;
}
