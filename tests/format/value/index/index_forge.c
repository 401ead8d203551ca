/*
 * tests/format/value/index/index_forge.c: see index_forge.h.
 */
#include "tests/format/value/index/index_forge.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/bytes.h"

typedef struct held {
    struct held *next;
    uint8_t *bytes;
} held;

static held *all_held;

void drop_blocks(void)
{
    while (all_held) {
        held *h = all_held;
        all_held = h->next;
        free(h->bytes);
        free(h);
    }
}

block hold(const void *bytes, size_t size)
{
    held *h = malloc(sizeof *h);
    ck_assert_ptr_nonnull(h);
    *h = (held){.next = all_held, .bytes = malloc(size > 0 ? size : 1)};
    ck_assert_ptr_nonnull(h->bytes);
    all_held = h;
    if (bytes && size > 0) memcpy(h->bytes, bytes, size);
    return (block){.bytes = h->bytes, .size = size};
}

block unhex(const char *hex)
{
    uint8_t bytes[1024];
    size_t size = 0;
    while (*hex) {
        if (*hex == ' ') {
            hex++;
            continue;
        }
        const char two[3] = {hex[0], hex[1], '\0'};
        ck_assert_uint_lt(size, sizeof bytes);
        bytes[size++] = (uint8_t)strtoul(two, NULL, 16);
        hex += 2;
    }
    return hold(bytes, size);
}

block forge_index(unsigned code, const char *ks, const char *ka, const char *ia, block rest)
{
    uint8_t bytes[4096], symbol[8] = {0};
    unsigned width = code <= 0x53 ? 2u << (code - 0x51) : 1u << (code - 0x54);
    block keys = unhex(ka), offsets = unhex(ia);
    u9i_out out = u9i_out_init(bytes, sizeof bytes);
    memcpy(symbol, ks, strlen(ks));
    u9i_out_uint(&out, 1, code);
    u9i_out_uint(&out, width, 9 + keys.size + offsets.size);
    u9i_out_uint(&out, 1, 0x0a);
    u9i_out_copy(&out, symbol, sizeof symbol);
    u9i_out_copy(&out, keys.bytes, keys.size);
    u9i_out_copy(&out, offsets.bytes, offsets.size);
    u9i_out_copy(&out, rest.bytes, rest.size);
    ck_assert(!out.failed);
    return hold(bytes, out.size);
}

u9_value view(block b)
{
    u9_value v;
    ck_assert_int_eq(u9_value_decode(b.bytes, b.size, &v), U9_OK);
    ck_assert_uint_eq(v.encoded, b.size);
    return v;
}

u9_value number(uint64_t v)
{
    return (u9_value){.type = U9_UINT, .u = v};
}

u9_value negative(int64_t v)
{
    return (u9_value){.type = U9_INT, .i = v};
}

u9_value text(const char *s)
{
    return (u9_value){.type = U9_UTF8, .data = (const uint8_t *)s, .size = strlen(s)};
}

block build_indexed(const u9_value *container, const u9_index_spec *specs, size_t count)
{
    uint64_t entries = u9_index_scratch(container, specs, count);
    u9_index_entry *scratch = calloc(entries > 0 ? entries : 1, sizeof *scratch);
    u9_builder b;
    u9_fault fault = {.text = ""};
    ck_assert_ptr_nonnull(scratch);
    u9_builder_init(&b, NULL, 0); /* counts */
    u9_err err = u9_build_indexed(&b, container, specs, count, scratch, entries);
    ck_assert_msg(err == U9_LIMIT, "%d", (int)err);
    block built = hold(NULL, b.size);
    u9_builder_init(&b, built.bytes, built.size);
    ck_assert_int_eq(u9_build_indexed(&b, container, specs, count, scratch, entries), U9_OK);
    ck_assert_uint_eq(b.size, built.size);
    free(scratch);
    err = u9_value_check(built.bytes, built.size, NULL, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    u9_value v = view(built);
    err = u9_index_check(&v, &fault);
    ck_assert_msg(err == U9_OK, "%s at %llu", fault.text, (unsigned long long)fault.offset);
    return built;
}

/* Where the contents of an element stand, which tells elements of one container apart. */
static const uint8_t *place(const u9_value *v)
{
    return v->start ? v->start : v->data;
}

static bool same(const u9_value *a, const u9_value *b)
{
    return place(a) == place(b) && u9_value_compare(a, b) == 0;
}

u9_err find_all(const u9_value *container, u9_by by, const u9_value *sought, unsigned *found)
{
    u9_value bare = u9_value_bare(container), here, there;
    u9_find find, walk;
    u9_err err = u9_find_begin(&find, container, by, sought);
    *found = 0;
    if (err) return err;
    ck_assert_int_eq(u9_find_begin(&walk, &bare, by, sought), U9_OK);
    while ((err = u9_find_next(&find, &here)) == U9_OK) {
        ck_assert_int_eq(u9_find_next(&walk, &there), U9_OK);
        ck_assert(same(&here, &there));
        ++*found;
    }
    ck_assert_int_eq(u9_find_next(&find, &here), err);
    if (err == U9_END) ck_assert_int_eq(u9_find_next(&walk, &there), U9_END);
    return err;
}

static void expect_all(const u9_value *container, u9_by by, const u9_value *sought)
{
    unsigned found;
    ck_assert_int_eq(find_all(container, by, sought, &found), U9_END);
}

static void expect_key(const u9_value *container, const u9_value *element)
{
    u9_walk walk = u9_walk_elements(element);
    u9_value key, first;
    if (u9_walk_next(&walk, &key) != U9_OK) return;
    expect_all(container, U9_BY_KEY, &key);
    ck_assert_int_eq(u9_value_by_key(container, &key, &first), U9_OK);
    if (key.type != U9_UINT) return;
    u9_value beside = number(key.u + 1);
    expect_all(container, U9_BY_KEY, &beside);
    beside.u = key.u - 1;
    expect_all(container, U9_BY_KEY, &beside);
}

void expect_found_as_by_a_walk(const u9_value *container)
{
    u9_walk walk = u9_walk_elements(container);
    u9_value element, at, nothing = text("not there"), below = negative(INT64_MIN);
    uint64_t position = 0;
    for (; u9_walk_next(&walk, &element) == U9_OK; position++) {
        expect_all(container, U9_BY_ELEMENT, &element);
        expect_key(container, &element);
        ck_assert_int_eq(u9_value_at(container, position, &at), U9_OK);
        ck_assert(same(&at, &element));
    }
    ck_assert_int_eq(u9_value_at(container, position, &at), U9_END);
    expect_all(container, U9_BY_ELEMENT, &nothing);
    expect_all(container, U9_BY_KEY, &nothing);
    expect_all(container, U9_BY_KEY, &below);
}

void expect_wrong(block b, uint64_t offset, const char *rule)
{
    u9_value v = view(b);
    u9_fault fault;
    memset(&fault, 0xee, sizeof fault);
    ck_assert_int_eq(u9_index_check(&v, &fault), U9_CORRUPT);
    ck_assert_int_eq(u9_index_check(&v, NULL), U9_CORRUPT);
    ck_assert_int_eq(fault.err, U9_CORRUPT);
    ck_assert_str_eq(fault.rule, rule);
    ck_assert_msg(fault.offset == offset, "at %llu: %s", (unsigned long long)fault.offset,
                  fault.text);
    ck_assert_uint_gt(strlen(fault.text), 0);
    ck_assert_uint_eq(fault.segment, U9_NOWHERE);
    ck_assert_str_eq(fault.path, "");
}
