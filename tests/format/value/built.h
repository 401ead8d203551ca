/*
 * tests/format/value/built.h: what the tests of the builder share.
 */
#ifndef U9T_BUILT_H
#define U9T_BUILT_H

#include "tests/format/base/hex.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value.h>

enum { BUILD_ROOM = 1 << 20, HEX_ROOM = 4096 };

typedef struct built_hex {
    size_t size;
    uint8_t bytes[HEX_ROOM];
} built_hex;

static inline void ok(u9_err err)
{
    ck_assert_int_eq(err, U9_OK);
}

/* Hex with blanks where one likes. */
static inline built_hex from_hex(const char *hex)
{
    char packed[2 * HEX_ROOM + 1];
    size_t n = 0;
    built_hex out;
    for (; *hex; hex++)
        if (*hex != ' ') {
            ck_assert_uint_lt(n, sizeof packed - 1);
            packed[n++] = *hex;
        }
    packed[n] = '\0';
    out.size = unhex(packed, out.bytes);
    return out;
}

/* A builder in a buffer of its own, which the next one gets as well. */
static inline u9_builder begin(void)
{
    static uint8_t room[BUILD_ROOM];
    u9_builder b;
    memset(&b, 0, sizeof b);
    u9_builder_init(&b, room, sizeof room);
    return b;
}

static inline void expect_bytes(const void *bytes, size_t size, const char *hex)
{
    built_hex want = from_hex(hex);
    ck_assert_msg(size == want.size, "%s: %zu bytes", hex, size);
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(((const uint8_t *)bytes)[i] == want.bytes[i], "%s: byte %zu is %02x", hex, i,
                      ((const uint8_t *)bytes)[i]);
}

static inline void expect_built(const u9_builder *b, const char *hex)
{
    ck_assert_uint_eq(u9_builder_missing(b), 0);
    expect_bytes(b->bytes, b->size, hex);
}

static inline void expect_checked(const void *bytes, size_t size)
{
    u9_fault fault;
    u9_err err = u9_value_check(bytes, size, NULL, &fault);
    ck_assert_msg(err == U9_OK, "%d at %llu: %s", (int)err, (unsigned long long)fault.offset,
                  fault.text);
}

static inline u9_value decoded(const void *bytes, size_t size)
{
    u9_value v;
    ok(u9_value_decode(bytes, size, &v));
    ck_assert_uint_eq(v.encoded, size);
    return v;
}

/* The view of a value in hex; its bytes stay until the view after the next seven. */
static inline u9_value view(const char *hex)
{
    static built_hex kept[8];
    static unsigned next;
    built_hex *k = &kept[next++ % 8];
    *k = from_hex(hex);
    return decoded(k->bytes, k->size);
}

#endif
