/*
 * fuzz/fuzz_transit.c: hostile streams. [T-1] to [T-9] Input: a mode byte, a byte that the pieces are drawn from,
 * then the stream.
 *
 *     mode  bits 0-1  the link: 0, 1 two-way, we have said alpha (and iota), 2 inward, 3 outward
 *           bit 2     the rest is no stream yet: a byte n and n bytes of values, framed here, and so on
 *           bits 4-7  frames of at most 2^n bytes are taken
 *
 * Whatever comes: in one piece, byte by byte and in any pieces it gives the same frames, the same refusal at
 * the same place and the same state of the link; nothing outside a piece or the room is touched; the frames
 * that came out are, framed again, the bytes that went in.
 */
#include "format/link/hello.h"

#include <stdlib.h>
#include <string.h>
#include <u9/transit.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void *take(size_t size)
{
    void *bytes = malloc(size > 0 ? size : 1);
    CHECK(bytes != NULL);
    return bytes;
}

/* What reading a stream came to. */
typedef struct outcome {
    u9_err err, link_err;
    uint64_t offset; /* of the refusal */
    u9_link link;
    uint8_t *again;  /* the frames that came out, framed again */
    size_t size;
} outcome;

/* Values that are said by logs on the move, taken apart and built again. */
static void look_at(const u9_value *v)
{
    uint8_t bytes[1200];
    u9_builder b;
    u9i_hello ship, ship_again;
    uint64_t next, next_again;
    u9_value w;
    u9_fault fault;
    u9_builder_init(&b, bytes, sizeof bytes);
    if (u9i_hello_read(v, &ship) == U9_OK) {
        CHECK(u9i_hello_build(&b, &ship) == U9_OK && u9_value_decode(bytes, b.size, &w) == U9_OK);
        CHECK(u9i_hello_read(&w, &ship_again) == U9_OK && ship_again.first == ship.first);
        CHECK(ship_again.kind_size == ship.kind_size && ship_again.has_mark == ship.has_mark);
        CHECK(memcmp(ship_again.kind, ship.kind, ship.kind_size) == 0);
    } else if (u9i_next_read(v, &next) == U9_OK) {
        CHECK(u9i_next_build(&b, next) == U9_OK && u9_value_decode(bytes, b.size, &w) == U9_OK);
        CHECK(u9i_next_read(&w, &next_again) == U9_OK && next_again == next);
    } else if (u9_signal_of(v) == U9_SIGNAL_ERROR) {
        u9_error_read(v, &fault);
        CHECK(fault.err < 0 && memchr(fault.text, 0, sizeof fault.text) != NULL);
    }
}

static void take_frame(outcome *o, u9_walk values)
{
    u9_value v;
    u9_transit_head(values.left, o->again + o->size);
    memcpy(o->again + o->size + U9_TRANSIT_HEAD, values.next, values.left);
    o->size += U9_TRANSIT_HEAD + values.left;
    while (u9_walk_next(&values, &v) == U9_OK) {
        u9_link before = o->link;
        CHECK(u9_value_check(v.start, v.encoded, NULL, NULL) == U9_OK);
        look_at(&v);
        if (o->link_err == U9_OK) o->link_err = u9_link_received(&o->link, u9_signal_of(&v));
        if (o->link_err != U9_OK) CHECK(memcmp(&before, &o->link, sizeof before) == 0);
    }
    CHECK(values.left == 0);
}

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* `most` 0: pieces of any size. Each piece is a block of exactly its size, as is the room. */
static outcome read_stream(const uint8_t *bytes, size_t size, size_t most, uint8_t mode, uint32_t seed)
{
    outcome o = {.again = take(size)};
    size_t cap = (size_t)1 << (mode >> 4);
    uint8_t *room = take(cap);
    u9_transit reader;
    u9_fault fault = {.offset = 0};
    u9_transit_init(&reader, room, cap);
    u9_link_init(&o.link, (mode & 3) < 2 ? U9_TWO_WAY : (mode & 3) == 2 ? U9_INWARD : U9_OUTWARD);
    if ((mode & 3) < 2) CHECK(u9_link_sent(&o.link, U9_SIGNAL_ALPHA) == U9_OK);
    if ((mode & 3) == 1) CHECK(u9_link_sent(&o.link, U9_SIGNAL_IOTA) == U9_OK);
    for (size_t at = 0; at < size && o.err >= 0;) {
        size_t n = most ? most : draw(&seed) % 32, used;
        u9_walk values;
        if (n > size - at) n = size - at;
        uint8_t *piece = take(n);
        memcpy(piece, bytes + at, n);
        o.err = u9_transit_push(&reader, piece, n, &used, &values, &fault);
        CHECK(used <= n && (o.err != U9_AGAIN || used == n));
        if (o.err == U9_OK) take_frame(&o, values);
        free(piece);
        at += used;
    }
    if (o.err >= 0) o.err = u9_transit_end(&reader, &fault);
    o.offset = fault.offset;
    CHECK(o.err <= 0 && (o.err == U9_OK || (fault.err == o.err && fault.offset <= size && fault.rule[0])));
    CHECK(o.size <= size && memcmp(o.again, bytes, o.size) == 0);
    CHECK(o.err != U9_OK || o.size == size);
    free(room);
    return o;
}

static void expect_same(outcome a, outcome b)
{
    CHECK(a.err == b.err && a.link_err == b.link_err && a.size == b.size);
    CHECK(a.err == U9_OK || a.offset == b.offset);
    CHECK(memcmp(&a.link, &b.link, sizeof a.link) == 0);
    free(b.again);
}

/* Frames of what stands behind each byte n. */
static uint8_t *frame_all(const uint8_t *data, size_t size, size_t *out_size)
{
    uint8_t *out = take(size * (U9_TRANSIT_HEAD + 1));
    *out_size = 0;
    while (size > 0) {
        size_t n = data[0] < size - 1 ? data[0] : size - 1;
        u9_transit_head(n, out + *out_size);
        memcpy(out + *out_size + U9_TRANSIT_HEAD, data + 1, n);
        *out_size += U9_TRANSIT_HEAD + n;
        data += 1 + n;
        size -= 1 + n;
    }
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    uint8_t mode = data[0];
    uint32_t seed = data[1];
    uint8_t *framed = NULL;
    size_t stream_size = size - 2;
    if (mode & 4) framed = frame_all(data + 2, size - 2, &stream_size);
    const uint8_t *stream = framed ? framed : data + 2;
    outcome whole = read_stream(stream, stream_size, stream_size, mode, 0);
    expect_same(whole, read_stream(stream, stream_size, 1, mode, 0));
    expect_same(whole, read_stream(stream, stream_size, 0, mode, seed));
    free(whole.again);
    free(framed);
    return 0;
}
