/*
 * tests/format/link/test_transit.c: frames of values over pipes, the side band, progress. [T-1] to [T-8]
 */
#include "tests/format/base/hex.h"
#include "tests/suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <u9/transit.h>

enum { ROOM = 1024, GUARD = 16, GUARDED = 0xa5 };

/* Hex with spaces into bytes; how many. */
static size_t from_hex(const char *hex, uint8_t *out)
{
    char tight[1024];
    size_t n = 0;
    for (; *hex; hex++)
        if (*hex != ' ') tight[n++] = *hex;
    ck_assert_uint_lt(n, sizeof tight);
    tight[n] = 0;
    return unhex(tight, out);
}

/* A reader whose room ends in bytes that must stay as they are. */
static u9_transit reader;
static uint8_t room[ROOM + GUARD];

static void begin(size_t cap)
{
    memset(room, GUARDED, sizeof room);
    u9_transit_init(&reader, room, cap);
}

/* A stream being built. */
static uint8_t stream[8192];
static size_t stream_size;

static void put(const void *values, size_t size)
{
    ck_assert_uint_le(stream_size + U9_TRANSIT_HEAD + size, sizeof stream);
    u9_transit_head(size, stream + stream_size);
    memcpy(stream + stream_size + U9_TRANSIT_HEAD, values, size);
    stream_size += U9_TRANSIT_HEAD + size;
}

/* What reading a stream came to. */
typedef struct outcome {
    u9_err err;      /* of the push that refused, or of the end */
    u9_fault fault;
    size_t frames;
    size_t size;     /* bytes of the values of all frames, back to back: */
    uint8_t values[8192];
} outcome;

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* Pushes the stream in pieces of `piece` bytes, 0: of any size, each piece from memory of its own. */
static void read_stream(const uint8_t *bytes, size_t size, size_t piece, size_t cap, outcome *out)
{
    begin(cap);
    *out = (outcome){.err = U9_OK};
    for (size_t at = 0; at < size;) {
        size_t n = piece ? piece : 1 + draw(40), used = SIZE_MAX;
        u9_walk values;
        if (n > size - at) n = size - at;
        uint8_t *copy = exactly(bytes + at, n);
        out->err = u9_transit_push(&reader, copy, n, &used, &values, &out->fault);
        if (out->err == U9_OK) {
            memcpy(out->values + out->size, values.next, values.left);
            out->size += values.left;
            out->frames++;
            ck_assert_uint_gt(used, 0);
        } else if (out->err == U9_AGAIN) {
            ck_assert_uint_eq(used, n);
        }
        free(copy);
        if (out->err < 0) break;
        at += used;
    }
    if (out->err == U9_OK || out->err == U9_AGAIN) out->err = u9_transit_end(&reader, &out->fault);
    size_t spilt = 0;
    for (size_t i = cap; i < sizeof room; i++) spilt += room[i] != GUARDED;
    ck_assert_uint_eq(spilt, 0);
}

static void expect_refused(const char *hex, u9_err err, uint64_t at)
{
    static const size_t pieces[] = {1, 2, 5, 13, 8192};
    uint8_t bytes[512];
    outcome o;
    size_t size = from_hex(hex, bytes);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        read_stream(bytes, size, pieces[i], ROOM, &o);
        ck_assert_msg(o.err == err, "%s: %s", hex, u9_err_name(o.err));
        ck_assert_uint_eq(o.fault.offset, at);
        ck_assert_int_eq(o.fault.err, err);
        ck_assert_int_ne(o.fault.rule[0], 0);
        ck_assert_int_ne(o.fault.text[0], 0);
    }
}

/* [T-1] */
START_TEST(a_frame_is_magic_length_and_values)
{
    uint8_t expected[32];
    size_t size = from_hex("ff753900 0000000000000002 8586", expected);
    stream_size = 0;
    put("\x85\x86", 2);
    ck_assert_uint_eq(stream_size, size);
    ck_assert_mem_eq(stream, expected, size);
    u9_transit_head(UINT64_C(0x0102030405060708), stream);
    from_hex("ff753900 0102030405060708", expected);
    ck_assert_mem_eq(stream, expected, U9_TRANSIT_HEAD);
}
END_TEST

/* [T-1] [T-2] */
START_TEST(frames_come_out_as_they_went_in_whatever_the_pieces)
{
    static uint8_t values[ROOM];
    outcome o;
    u9_builder b;
    u9_builder_init(&b, values, sizeof values);
    stream_size = 0;
    for (unsigned i = 0; i < 12; i++) {
        size_t before = b.size;
        char text[100];
        memset(text, 'a' + (int)i, sizeof text);
        ck_assert_int_eq(u9_build_uint(&b, i * 1000), U9_OK);
        ck_assert_int_eq(u9_build_utf8(&b, text, i * 5), U9_OK);
        put(values + before, b.size - before);
    }
    for (size_t piece = 0; piece <= stream_size; piece++) {
        read_stream(stream, stream_size, piece, ROOM, &o);
        ck_assert_int_eq(o.err, U9_OK);
        ck_assert_uint_eq(o.frames, 12);
        ck_assert_uint_eq(o.size, b.size);
        ck_assert_mem_eq(o.values, values, b.size);
    }
}
END_TEST

START_TEST(a_frame_that_lies_in_one_piece_is_not_copied)
{
    size_t used;
    u9_walk values;
    stream_size = 0;
    put("\x85\x86", 2);
    begin(ROOM);
    ck_assert_int_eq(u9_transit_push(&reader, stream, stream_size, &used, &values, NULL), U9_OK);
    ck_assert_ptr_eq(values.next, stream + U9_TRANSIT_HEAD);
    ck_assert_uint_eq(values.left, 2);
    ck_assert_uint_eq(room[0], GUARDED);
}
END_TEST

/* [T-2] */
START_TEST(a_push_stops_behind_a_frame)
{
    size_t used;
    u9_walk values;
    stream_size = 0;
    put("\x85", 1);
    size_t first = stream_size;
    put("\x86", 1);
    begin(ROOM);
    ck_assert_int_eq(u9_transit_push(&reader, stream, stream_size, &used, &values, NULL), U9_OK);
    ck_assert_uint_eq(used, first);
    ck_assert_int_eq(u9_transit_push(&reader, stream + used, 0, &used, &values, NULL), U9_AGAIN);
    ck_assert_uint_eq(used, 0);
}
END_TEST

/* [T-2] Each of the four bytes. */
START_TEST(bytes_that_are_not_the_magic_are_refused_where_they_stand)
{
    expect_refused("fe", U9_CORRUPT, 0);
    expect_refused("ff 74", U9_CORRUPT, 1);
    expect_refused("ff 75 3a", U9_CORRUPT, 2);
    expect_refused("ff 75 39 01", U9_CORRUPT, 3);
    expect_refused("ff753900 0000000000000001 85 ff 00", U9_CORRUPT, 14);
}
END_TEST

/* [T-2] */
START_TEST(a_frame_without_values_is_refused)
{
    expect_refused("ff753900 0000000000000000", U9_CORRUPT, 4);
}
END_TEST

/* [T-2] The head is all that is there. */
START_TEST(a_frame_longer_than_is_accepted_is_refused_by_its_head)
{
    expect_refused("ff753900 0000000000000401", U9_LIMIT, 4);
    expect_refused("ff753900 8000000000000000", U9_LIMIT, 4);
    expect_refused("ff753900 ffffffffffffffff", U9_LIMIT, 4);
    expect_refused("ff753900 0000000000000001 85 ff753900 0000000100000001", U9_LIMIT, 17);
}
END_TEST

/* [T-2] */
START_TEST(a_frame_as_long_as_is_accepted_is_taken)
{
    uint8_t values[ROOM];
    outcome o;
    memset(values, 0x85, sizeof values);
    stream_size = 0;
    put(values, sizeof values);
    for (size_t piece = 1; piece < 2000; piece += 100) {
        read_stream(stream, stream_size, piece, ROOM, &o);
        ck_assert_int_eq(o.err, U9_OK);
        ck_assert_uint_eq(o.size, ROOM);
        read_stream(stream, stream_size, piece, ROOM - 1, &o);
        ck_assert_int_eq(o.err, U9_LIMIT);
    }
}
END_TEST

/* [T-2] */
START_TEST(contents_that_are_not_exactly_values_are_refused_where_they_stand)
{
    expect_refused("ff753900 0000000000000003 85 22 61", U9_CORRUPT, 13);       /* passes the frame's end */
    expect_refused("ff753900 0000000000000002 85 0c", U9_CORRUPT, 13);          /* reserved */
    expect_refused("ff753900 0000000000000003 4a 01 85", U9_CORRUPT, 15);       /* an element short */
    expect_refused("ff753900 0000000000000004 85 49 01 0f", U9_CORRUPT, 15);    /* reserved, nested */
    expect_refused("ff753900 0000000000000004 49 02 85 86", U9_CORRUPT, 15);    /* one too many */
    expect_refused("ff753900 0000000000000001 03 0000000000000000", U9_CORRUPT, 12);
}
END_TEST

/* [T-2] [V-8] */
START_TEST(a_value_nested_too_deeply_is_a_limit)
{
    uint8_t value[5 * (U9_DEPTH_MAX + 1)];
    outcome o;
    for (unsigned deep = U9_DEPTH_MAX; deep <= U9_DEPTH_MAX + 1; deep++) {
        size_t at = sizeof value;
        for (unsigned i = 0; i < deep; i++) {
            size_t inner = sizeof value - at;
            bool small = inner <= 255;
            at -= small ? 2 : 5;
            if (small) {
                value[at] = inner ? 0x49 : 0x48;
                value[at + 1] = (uint8_t)inner;
            } else {
                value[at] = 0x41;
                value[at + 1] = (uint8_t)(inner >> 8);
                value[at + 2] = (uint8_t)inner;
                value[at + 3] = 0;
                value[at + 4] = 1;
            }
        }
        stream_size = 0;
        put(value + at, sizeof value - at);
        read_stream(stream, stream_size, 7, ROOM, &o);
        ck_assert_int_eq(o.err, deep > U9_DEPTH_MAX ? U9_LIMIT : U9_OK);
    }
}
END_TEST

/* [T-2] */
START_TEST(a_refusal_is_for_good)
{
    size_t used;
    u9_walk values;
    u9_fault fault;
    stream_size = 0;
    put("\x85", 1);
    begin(ROOM);
    ck_assert_int_eq(u9_transit_push(&reader, "x", 1, &used, &values, NULL), U9_CORRUPT);
    ck_assert_int_eq(u9_transit_push(&reader, stream, stream_size, &used, &values, &fault), U9_CORRUPT);
    ck_assert_uint_eq(used, 0);
    ck_assert_int_eq(fault.err, U9_CORRUPT);
    ck_assert_int_eq(u9_transit_end(&reader, NULL), U9_CORRUPT);
}
END_TEST

/* [T-2] */
START_TEST(a_stream_that_ends_within_a_frame_is_torn)
{
    outcome o;
    stream_size = 0;
    put("\x85", 1);
    size_t first = stream_size;
    put("\x22go", 3);
    for (size_t size = 0; size <= stream_size; size++) {
        read_stream(stream, size, 0, ROOM, &o);
        bool whole = size == 0 || size == first || size == stream_size;
        ck_assert_int_eq(o.err, whole ? U9_OK : U9_TORN);
        if (!whole) ck_assert_uint_eq(o.fault.offset, size > first ? first : 0);
        ck_assert_uint_eq(o.frames, size == stream_size ? 2u : size >= first ? 1u : 0u);
    }
}
END_TEST

/* [T-2] Streams with a byte changed somewhere: in one piece, byte by byte, in any pieces. */
START_TEST(the_pieces_never_change_what_comes_out)
{
    static outcome whole, bytes, any;
    unsigned refused = 0, taken = 0;
    for (unsigned run = 0; run < 3000; run++) {
        stream_size = 0;
        for (unsigned frames = 1 + draw(4); frames > 0; frames--) {
            uint8_t values[64];
            u9_builder b;
            u9_builder_init(&b, values, sizeof values);
            for (unsigned n = 1 + draw(4); n > 0; n--)
                ck_assert_int_eq(draw(2) ? u9_build_uint(&b, draw(70000)) : u9_build_utf8(&b, "some text", draw(9)),
                                 U9_OK);
            put(values, b.size);
        }
        for (unsigned n = draw(3); n > 0; n--) stream[draw((uint32_t)stream_size)] ^= (uint8_t)(1u << draw(8));
        size_t size = draw(4) ? stream_size : draw((uint32_t)stream_size);
        read_stream(stream, size, sizeof stream, 32, &whole);
        read_stream(stream, size, 1, 32, &bytes);
        read_stream(stream, size, 0, 32, &any);
        const outcome *others[] = {&bytes, &any};
        for (size_t i = 0; i < 2; i++) {
            ck_assert_int_eq(others[i]->err, whole.err);
            ck_assert_uint_eq(others[i]->fault.offset, whole.fault.offset);
            ck_assert_str_eq(others[i]->fault.text, whole.fault.text);
            ck_assert_uint_eq(others[i]->frames, whole.frames);
            ck_assert_uint_eq(others[i]->size, whole.size);
            ck_assert_mem_eq(others[i]->values, whole.values, whole.size);
        }
        refused += whole.err < 0;
        taken += whole.err == U9_OK;
    }
    ck_assert_uint_gt(refused, 500);
    ck_assert_uint_gt(taken, 500);
}
END_TEST

static u9_signal signal_of_hex(const char *hex)
{
    static uint8_t bytes[64];
    u9_value v;
    ck_assert_int_eq(u9_value_decode(bytes, from_hex(hex, bytes), &v), U9_OK);
    return u9_signal_of(&v);
}

/* [T-3] */
START_TEST(a_value_is_side_band_error_or_data)
{
    static const struct {
        const char *hex, *name;
        u9_signal signal;
    } rows[] = {
        {"10", "alpha", U9_SIGNAL_ALPHA},
        {"11", "omega", U9_SIGNAL_OMEGA},
        {"12", "iota", U9_SIGNAL_IOTA},
        {"13", "kappa", U9_SIGNAL_KAPPA},
        {"14", "tau0", U9_SIGNAL_TAU0},
        {"15 0001", "tau", U9_SIGNAL_TAU},
        {"16 00000001", "tau", U9_SIGNAL_TAU},
        {"17 0000000000000001", "tau", U9_SIGNAL_TAU},
        {"4a 0a 0a 75396572726f7200 85", "u9error", U9_SIGNAL_ERROR},
        {"40 09 01 0a 75396572726f7200", "u9error", U9_SIGNAL_ERROR},
        {"85", "data", U9_SIGNAL_DATA},
        {"48 00", "data", U9_SIGNAL_DATA},
        {"49 01 10", "data", U9_SIGNAL_DATA},                      /* a nested alpha */
        {"0a 75396572726f7200", "data", U9_SIGNAL_DATA},           /* the symbol alone */
        {"49 09 0a 75396572726f7273", "data", U9_SIGNAL_DATA},     /* u9errors */
        {"49 08 27 75396572726f72", "data", U9_SIGNAL_DATA},       /* the text */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(signal_of_hex(rows[i].hex) == rows[i].signal, "%s", rows[i].hex);
        ck_assert_str_eq(u9_signal_name(rows[i].signal), rows[i].name);
    }
    ck_assert_str_eq(u9_signal_name((u9_signal)99), "?");
}
END_TEST

/* [T-5] */
START_TEST(an_error_is_read_as_it_was_built)
{
    for (int err = -1; err >= U9_POISONED; err--) {
        uint8_t bytes[64];
        u9_builder b;
        u9_value v;
        u9_fault fault;
        u9_builder_init(&b, bytes, sizeof bytes);
        ck_assert_int_eq(u9_build_error(&b, (u9_err)err, "the disk is full"), U9_OK);
        ck_assert_int_eq(u9_value_check(bytes, b.size, NULL, NULL), U9_OK);
        ck_assert_int_eq(u9_value_decode(bytes, b.size, &v), U9_OK);
        ck_assert_int_eq(u9_signal_of(&v), U9_SIGNAL_ERROR);
        u9_error_read(&v, &fault);
        ck_assert_int_eq(fault.err, err);
        ck_assert_str_eq(fault.text, "the disk is full");
        ck_assert_uint_eq(fault.offset, U9_NOWHERE);
    }
    uint8_t small[20];
    u9_builder b;
    u9_builder_init(&b, small, sizeof small);
    ck_assert_int_eq(u9_build_error(&b, U9_IO, "does not fit"), U9_LIMIT);
}
END_TEST

/* [T-5] */
START_TEST(an_error_of_another_class_counts_as_one_of_the_system)
{
    static const char *const odd[] = {
        "49 09 0a 75396572726f7200",                      /* nothing else */
        "4a 0a 0a 75396572726f7200 85",                   /* a class above 0 */
        "4a 0b 0a 75396572726f7200 04f5",                 /* -11 */
        "4a 0e 0a 75396572726f7200 06 80000000",          /* far below */
        "4b 0d 0a 75396572726f7200 21 61 21 62",          /* a text for a class */
    };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        uint8_t bytes[64];
        u9_value v;
        u9_fault fault;
        ck_assert_int_eq(u9_value_decode(bytes, from_hex(odd[i], bytes), &v), U9_OK);
        u9_error_read(&v, &fault);
        ck_assert_int_eq(fault.err, U9_IO);
    }
}
END_TEST

START_TEST(a_long_reason_is_cut)
{
    uint8_t bytes[600];
    char text[400];
    u9_builder b;
    u9_value v;
    u9_fault fault;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_error(&b, U9_IO, text), U9_OK);
    ck_assert_int_eq(u9_value_decode(bytes, b.size, &v), U9_OK);
    u9_error_read(&v, &fault);
    ck_assert_uint_eq(strlen(fault.text), sizeof fault.text - 1);
}
END_TEST

/*
 * The tables of [T-4] and [T-6] as SPEC-values.md has them, by hand. Columns: data alpha omega iota
 * kappa tau0 tau error, the order of u9_signal. A letter is the state that comes next: n(ew) o(n)
 * f(ailed) v (over), `d` is on, if the flow lets it, `-` is refused.
 */
static const char lives[][U9_SIGNALS + 1] = {
    [U9_LIFE_NEW] = "-o------",
    [U9_LIFE_ON] = "d-vooddf",
    [U9_LIFE_FAILED] = "--v-----",
    [U9_LIFE_OVER] = "--------",
};
/* The flow behind iota and behind kappa; whether the sender sends; whether the receiver takes. */
static const struct {
    u9_flow iota, kappa;
    bool sends, takes;
} flows[] = {
    [U9_FLOW_SHUT] = {U9_FLOW_OPEN, U9_FLOW_SHUT, false, false},
    [U9_FLOW_OPEN] = {U9_FLOW_OPEN, U9_FLOW_HELD, true, true},
    [U9_FLOW_HELD] = {U9_FLOW_OPEN, U9_FLOW_HELD, false, true},
};

/* What the tables make of a signal, sent or received. False: refused. */
static bool by_the_table(u9_link *link, bool sending, u9_signal signal)
{
    u9_life *life = sending ? &link->out.life : &link->in.life;
    u9_flow *own = sending ? &link->out.flow : &link->in.flow;
    u9_flow *other = sending ? &link->in.flow : &link->out.flow;
    char next = lives[*life][signal];
    bool flow_signal = signal == U9_SIGNAL_IOTA || signal == U9_SIGNAL_KAPPA;
    if (next == '-') return false;
    if (next == 'd' && !(sending ? flows[*own].sends : flows[*own].takes)) return false;
    if (flow_signal && link->ways != U9_TWO_WAY) return false; /* [T-7] */
    if (next == 'f') *life = U9_LIFE_FAILED;
    if (next == 'v') *life = U9_LIFE_OVER;
    if (next == 'o') *life = U9_LIFE_ON;
    if (flow_signal) *other = signal == U9_SIGNAL_IOTA ? flows[*other].iota : flows[*other].kappa;
    return true;
}

static bool same_link(const u9_link *a, const u9_link *b)
{
    return a->ways == b->ways && a->out.life == b->out.life && a->out.flow == b->out.flow &&
           a->in.life == b->in.life && a->in.flow == b->in.flow;
}

static void expect_step(const u9_link *from, bool sending, u9_signal signal)
{
    u9_link link = *from, expected = *from;
    bool fine = by_the_table(&expected, sending, signal);
    u9_err refusal = sending ? U9_STATE : U9_CORRUPT;
    u9_err err = sending ? u9_link_sent(&link, signal) : u9_link_received(&link, signal);
    ck_assert_msg(err == (fine ? U9_OK : refusal) && same_link(&link, &expected),
                  "ways %d, out %d %d, in %d %d: %s %s: %s", (int)from->ways, (int)from->out.life,
                  (int)from->out.flow, (int)from->in.life, (int)from->in.flow, sending ? "sent" : "received",
                  u9_signal_name(signal), u9_err_name(err));
    if (sending) ck_assert_int_eq(u9_link_may_send(from, signal) != 0, fine);
}

/* [T-4] [T-5] [T-6] [T-7] */
START_TEST(every_state_takes_or_refuses_each_symbol_as_the_tables_say)
{
    unsigned steps = 0;
    for (int ways = U9_TWO_WAY; ways <= U9_INWARD; ways++)
        for (unsigned state = 0; state < 4 * 3 * 4 * 3; state++)
            for (unsigned step = 0; step < 2 * U9_SIGNALS; step++) {
                u9_link link;
                u9_link_init(&link, (u9_ways)ways);
                link.out.life = (u9_life)(state % 4);
                link.out.flow = (u9_flow)(state / 4 % 3);
                link.in.life = (u9_life)(state / 12 % 4);
                link.in.flow = (u9_flow)(state / 48);
                expect_step(&link, step % 2, (u9_signal)(step / 2));
                steps++;
            }
    ck_assert_uint_eq(steps, 3 * 144 * 2 * U9_SIGNALS);
}
END_TEST

/* [T-6] */
START_TEST(a_two_way_link_begins_without_leave_to_send)
{
    u9_link link;
    u9_link_init(&link, U9_TWO_WAY);
    ck_assert_int_eq(u9_link_sent(&link, U9_SIGNAL_ALPHA), U9_OK);
    ck_assert_int_eq(u9_link_sent(&link, U9_SIGNAL_DATA), U9_STATE);
    ck_assert_int_eq(u9_link_received(&link, U9_SIGNAL_ALPHA), U9_OK);
    ck_assert_int_eq(u9_link_received(&link, U9_SIGNAL_IOTA), U9_OK);
    ck_assert_int_eq(u9_link_sent(&link, U9_SIGNAL_DATA), U9_OK);
    ck_assert_int_eq(u9_link_received(&link, U9_SIGNAL_KAPPA), U9_OK);
    ck_assert_int_eq(u9_link_sent(&link, U9_SIGNAL_DATA), U9_STATE);
    ck_assert_int_eq(u9_link_sent(&link, U9_SIGNAL_TAU), U9_STATE);
    ck_assert_int_eq(u9_link_sent(&link, U9_SIGNAL_ERROR), U9_OK); /* never held back */
    ck_assert_int_eq(u9_link_sent(&link, U9_SIGNAL_OMEGA), U9_OK);
}
END_TEST

/* [T-7] */
START_TEST(a_one_way_link_has_no_way_back)
{
    u9_link out, in;
    u9_link_init(&out, U9_OUTWARD);
    u9_link_init(&in, U9_INWARD);
    for (int s = 0; s < U9_SIGNALS; s++) {
        ck_assert_int_eq(u9_link_received(&out, (u9_signal)s), U9_CORRUPT);
        ck_assert_int_eq(u9_link_sent(&in, (u9_signal)s), U9_STATE);
    }
    static const u9_signal life[] = {U9_SIGNAL_ALPHA, U9_SIGNAL_DATA, U9_SIGNAL_TAU, U9_SIGNAL_TAU0,
                                     U9_SIGNAL_DATA, U9_SIGNAL_OMEGA};
    for (size_t i = 0; i < sizeof life / sizeof life[0]; i++) {
        ck_assert_int_eq(u9_link_sent(&out, life[i]), U9_OK);
        ck_assert_int_eq(u9_link_received(&in, life[i]), U9_OK);
        ck_assert_int_eq(u9_link_sent(&out, U9_SIGNAL_IOTA), U9_STATE);
        ck_assert_int_eq(u9_link_received(&in, U9_SIGNAL_KAPPA), U9_CORRUPT);
    }
    ck_assert_int_eq(in.in.life, U9_LIFE_OVER);
}
END_TEST

/*
 * [T-4] [T-6] Two sides and two queues between them: whatever one may send, the other takes, however late
 * it comes.
 */
START_TEST(what_one_side_may_send_the_other_takes_however_late)
{
    enum { QUEUE = 64 };
    unsigned delivered = 0, held = 0, over = 0;
    for (unsigned run = 0; run < 2000; run++) {
        u9_link side[2];
        u9_signal queue[2][QUEUE];
        size_t head[2] = {0, 0}, tail[2] = {0, 0};
        u9_link_init(&side[0], U9_TWO_WAY);
        u9_link_init(&side[1], U9_TWO_WAY);
        for (unsigned step = 0; step < 100; step++) {
            unsigned who = draw(2);
            u9_signal s = (u9_signal)draw(step < 90 ? U9_SIGNAL_ERROR : U9_SIGNALS);
            if (step < 80 && s == U9_SIGNAL_OMEGA) s = U9_SIGNAL_DATA;
            if (draw(2) && tail[who] < QUEUE) {
                held += side[who].out.flow == U9_FLOW_HELD && s == U9_SIGNAL_DATA;
                if (u9_link_may_send(&side[who], s)) {
                    ck_assert_int_eq(u9_link_sent(&side[who], s), U9_OK);
                    queue[who][tail[who]++] = s;
                }
            } else if (head[1 - who] < tail[1 - who]) {
                ck_assert_int_eq(u9_link_received(&side[who], queue[1 - who][head[1 - who]++]), U9_OK);
                delivered++;
            }
        }
        over += side[0].in.life == U9_LIFE_OVER;
    }
    ck_assert_uint_gt(delivered, 20000);
    ck_assert_uint_gt(held, 1000);
    ck_assert_uint_gt(over, 100);
}
END_TEST

/* [T-8] */
START_TEST(tau_tells_the_total_and_the_time_left)
{
    u9_pace p;
    u9_pace_begin(&p, 1000000);
    u9_estimate e = u9_pace_estimate(&p, 1000000);
    ck_assert_uint_eq(e.done, 0);
    ck_assert_uint_eq(e.rate, 0);
    ck_assert_uint_eq(e.total, U9_NOWHERE);
    ck_assert_uint_eq(e.left_us, U9_NOWHERE);
    u9_pace_data(&p, 1000);
    e = u9_pace_estimate(&p, 3000000);
    ck_assert_uint_eq(e.done, 1000);
    ck_assert_uint_eq(e.rate, 500);
    ck_assert_uint_eq(e.total, U9_NOWHERE);
    u9_pace_tau(&p, U9_TAU_WHOLE / 4);
    e = u9_pace_estimate(&p, 3000000);
    ck_assert_uint_eq(e.total, 4000);
    ck_assert_uint_eq(e.left_us, 6000000);
    u9_pace_data(&p, 1000); /* the total stays as it was told */
    e = u9_pace_estimate(&p, 5000000);
    ck_assert_uint_eq(e.done, 2000);
    ck_assert_uint_eq(e.total, 4000);
    ck_assert_uint_eq(e.left_us, 4000000);
    u9_pace_tau(&p, U9_TAU_WHOLE / 8); /* tau may go back */
    ck_assert_uint_eq(u9_pace_estimate(&p, 5000000).total, 16000);
    u9_pace_begin(&p, 6000000);
    ck_assert_uint_eq(u9_pace_estimate(&p, 6000000).done, 0);
}
END_TEST

/* [T-8] */
START_TEST(an_estimate_is_never_below_what_has_come_and_never_overflows)
{
    u9_pace p;
    u9_pace_begin(&p, 0);
    u9_pace_data(&p, 1000);
    u9_pace_tau(&p, UINT64_MAX);
    u9_pace_data(&p, 50);
    u9_estimate e = u9_pace_estimate(&p, 1000);
    ck_assert_uint_eq(e.total, 1050);
    ck_assert_uint_eq(e.left_us, 0);
    u9_pace_tau(&p, 0); /* nothing yet: no idea */
    ck_assert_uint_eq(u9_pace_estimate(&p, 1000).total, U9_NOWHERE);
    u9_pace_data(&p, UINT64_MAX);
    u9_pace_tau(&p, 1);
    e = u9_pace_estimate(&p, 1);
    ck_assert_uint_eq(e.done, UINT64_MAX);
    ck_assert_uint_eq(e.total, UINT64_MAX);
    ck_assert_uint_eq(e.rate, UINT64_MAX);
    ck_assert_uint_eq(u9_pace_estimate(&p, 0).rate, 0);
}
END_TEST

/* [T-8] */
START_TEST(x_is_the_part_that_lies_behind)
{
    ck_assert_uint_eq(u9_tau_of(0, 1000), 0);
    ck_assert_uint_eq(u9_tau_of(250, 1000), U9_TAU_WHOLE / 4);
    ck_assert_uint_eq(u9_tau_of(999999, 1000000), U9_TAU_WHOLE - 1);
    ck_assert_uint_eq(u9_tau_of(1000, 1000), U9_TAU_WHOLE);
    ck_assert_uint_eq(u9_tau_of(2000, 1000), U9_TAU_WHOLE);
    ck_assert_uint_eq(u9_tau_of(0, 0), U9_TAU_WHOLE);
    ck_assert_uint_eq(u9_tau_of(UINT64_MAX / 2 + 1, UINT64_MAX), U9_TAU_WHOLE / 2);
}
END_TEST

Suite *suite_transit(void)
{
    Suite *s = suite_create("transit");
    TCase *frames = tcase_create("frames");
    tcase_add_test(frames, a_frame_is_magic_length_and_values);
    tcase_add_test(frames, frames_come_out_as_they_went_in_whatever_the_pieces);
    tcase_add_test(frames, a_frame_that_lies_in_one_piece_is_not_copied);
    tcase_add_test(frames, a_push_stops_behind_a_frame);
    tcase_add_test(frames, bytes_that_are_not_the_magic_are_refused_where_they_stand);
    tcase_add_test(frames, a_frame_without_values_is_refused);
    tcase_add_test(frames, a_frame_longer_than_is_accepted_is_refused_by_its_head);
    tcase_add_test(frames, a_frame_as_long_as_is_accepted_is_taken);
    tcase_add_test(frames, contents_that_are_not_exactly_values_are_refused_where_they_stand);
    tcase_add_test(frames, a_value_nested_too_deeply_is_a_limit);
    tcase_add_test(frames, a_refusal_is_for_good);
    tcase_add_test(frames, a_stream_that_ends_within_a_frame_is_torn);
    tcase_add_test(frames, the_pieces_never_change_what_comes_out);
    suite_add_tcase(s, frames);
    TCase *band = tcase_create("side band");
    tcase_add_test(band, a_value_is_side_band_error_or_data);
    tcase_add_test(band, an_error_is_read_as_it_was_built);
    tcase_add_test(band, an_error_of_another_class_counts_as_one_of_the_system);
    tcase_add_test(band, a_long_reason_is_cut);
    tcase_add_test(band, every_state_takes_or_refuses_each_symbol_as_the_tables_say);
    tcase_add_test(band, a_two_way_link_begins_without_leave_to_send);
    tcase_add_test(band, a_one_way_link_has_no_way_back);
    tcase_add_test(band, what_one_side_may_send_the_other_takes_however_late);
    suite_add_tcase(s, band);
    TCase *pace = tcase_create("pace");
    tcase_add_test(pace, tau_tells_the_total_and_the_time_left);
    tcase_add_test(pace, an_estimate_is_never_below_what_has_come_and_never_overflows);
    tcase_add_test(pace, x_is_the_part_that_lies_behind);
    suite_add_tcase(s, pace);
    return s;
}
