/*
 * tests/engine/read/test_plain.c: files of frames without trailers, as the seed's own tools write them: read by all
 * that reads, written by nothing, and never taken for a damaged segment, nor one of those for them.
 * [E-1] [E-2] [E-3] [E-4]
 */
#include "engine/read/lookup.h"
#include "tests/engine/fixture.h"
#include "tests/plain_file.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A record with a text for its key, in `out`; returns its size. */
static size_t text_record(uint8_t *out, const char *key, const char *text)
{
    uint8_t head[17], *p = out;
    size_t k = strlen(key), t = strlen(text), n = u9i_record_head(2, k + t + 2, head);
    memcpy(p, head, n);
    p += n;
    *p++ = (uint8_t)(0x20 + k);
    memcpy(p, key, k);
    p += k;
    *p++ = (uint8_t)(0x20 + t);
    memcpy(p, text, t);
    return (size_t)(p + t - out);
}

/* Puts a frame with `count` muid records "<prefix><n>", numbered from `*n` on. */
static size_t put_records(plain_file *p, const char *prefix, unsigned count, unsigned *n)
{
    uint8_t body[4096];
    size_t size = 0;
    for (unsigned i = 0; i < count; i++, ++*n) {
        char text[40];
        int length = snprintf(text, sizeof text, "%s%u", prefix, *n);
        size += record_bytes(body + size, *n, text, (size_t)length);
    }
    return plain_frame(p, body, size);
}

/* Three frames: two records; a value of 5 and a record; two records. */
static plain_file three_frames(size_t at[3])
{
    plain_file p = plain_begin(7);
    uint8_t body[200] = {0x85};
    unsigned n = 0;
    at[0] = put_records(&p, "r", 2, &n);
    size_t size = 1 + record_bytes(body + 1, n++, "middle", 6);
    at[1] = plain_frame(&p, body, size);
    n++;
    at[2] = put_records(&p, "r", 2, &n);
    return p;
}

static void save(const plain_file *p, const char *path)
{
    write_file(path, p->bytes, p->size);
}

static u9_report check_of(const char *path)
{
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = io_of(path)};
    ck_assert_int_eq(u9_check(path, &o, &r, NULL), U9_OK);
    return r;
}

/* [E-2] [E-3] */
START_TEST(the_example_of_the_specification_is_read)
{
    plain_file p = plain_example();
    save(&p, at("plain.u9"));
    seen *s = look(at("plain.u9"));
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_int_eq(s->report.plain, 1);
    ck_assert_uint_eq(s->report.keyless, 3);
    ck_assert_int_eq(s->report.closed, 0);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_str_eq(s->report.kind, "muid");
    forget(s);
    u9_log *log = open_reader(at("plain.u9"));
    u9_cursor *c;
    u9_record r;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, i);
        ck_assert_uint_eq(r.key.size, i == 0 ? 16 : 0);
        ck_assert_uint_eq(r.time_us, 0);
        ck_assert_uint_eq(r.values_size, i == 0 ? 6 : i == 1 ? 1 : i == 2 ? 6 : 4);
        if (i > 0) ck_assert_ptr_eq(r.values, r.bytes);
        if (i > 0) ck_assert_uint_eq(r.values_size, r.size);
    }
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    u9_cursor_close(c);
    close_log(log);
    plain_free(&p);
}
END_TEST

/* [E-4] What stands before it and is no key of any kind says nothing. */
START_TEST(the_first_key_in_a_form_of_a_kind_says_the_kind)
{
    static const struct { const char *bytes; size_t size; const char *kind; } rows[] = {
        {"\x4a\x13\x1c\x10" "0123456789abcdef" "\x85", 21, "muid"},
        {"\x4a\x05\x23" "abc" "\x85", 7, "rkey"},
        {"\x4a\x0a\x03" "\x80\0\0\0\0\0\0\1" "\x85", 12, "tid"},
    };
    for (unsigned i = 0; i < 3; i++)
        for (unsigned other = 0; other < 3; other++) {
            uint8_t payload[64] = {0x81, 0x4a, 0x07, 0x1c, 0x04, 'a', 'b', 'c', 'd', 0x85}; /* a value; one with a key of 4 bytes */
            size_t size = 10;
            memcpy(payload + size, rows[i].bytes, rows[i].size);
            size += rows[i].size;
            memcpy(payload + size, rows[other].bytes, rows[other].size);
            size += rows[other].size;
            plain_file p = plain_begin(3);
            (void)plain_frame(&p, payload, size);
            save(&p, at("plain.u9"));
            u9_report r = check_of(at("plain.u9"));
            ck_assert_uint_eq(r.records, 4);
            ck_assert_str_eq(r.kind, rows[i].kind);
            plain_free(&p);
        }
}
END_TEST

START_TEST(a_record_without_a_time_is_in_no_bounds_of_time) /* [E-3] */
{
    plain_file p = plain_example();
    save(&p, at("plain.u9"));
    u9_log *log = open_reader(at("plain.u9"));
    u9_cursor *c;
    u9_record r;
    u9_bounds all = {.size = sizeof all, .to = U9_NOWHERE, .until_us = U9_NOWHERE}, since = all, until = all;
    since.since_us = 1;
    until.until_us = U9_NOWHERE - 1;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    const u9_bounds *each[] = {&since, &all, &until, &all};
    for (unsigned i = 0; i < 4; i++) {
        unsigned count = 0;
        ck_assert_int_eq(u9_cursor_within(c, each[i]), U9_OK);
        while (u9_cursor_next(c, &r) == U9_OK) count++;
        ck_assert_uint_eq(count, each[i] == &all ? 4 : 0);
        ck_assert_int_eq(u9_cursor_prev(c, &r), each[i] == &all ? U9_OK : U9_END);
    }
    u9_cursor_close(c);
    close_log(log);
    plain_free(&p);
}
END_TEST

/* Values of every kind, a control record and a wrapping too; empty frames; reserved space; the seed's padding. */
START_TEST(what_the_seed_allows_is_no_damage)
{
    static const uint8_t values[] = {0x10, 0x0a, 'u', '9', 'o', 'p', 'e', 'n', 0, 0, 0x48, 0x00, 0x49, 0x01, 0x85,
                                     0x44, 0x03, 0x02, 0x00, 0x05, 0x06, 0x08, 0x3f, 0xc0, 0, 0, 0x4a, 0x0a, 0x0a,
                                     'u', '9', 'x', 0, 0, 0, 0, 0, 0x81};
    plain_file p = plain_begin(3);
    plain_frame(&p, values, sizeof values);
    plain_frame(&p, NULL, 0);
    plain_frame_by_the_letter(&p, values, sizeof values);
    plain_frame_by_the_letter(&p, values, 16 - 1);
    plain_zeros(&p, 5008);
    plain_frame(&p, values, 1);
    plain_zeros(&p, 9000);
    save(&p, at("plain.u9"));
    seen *s = look(at("plain.u9"));
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, 7 + 7 + 4 + 1);
    ck_assert_uint_eq(s->report.keyless, s->count);
    ck_assert_uint_eq(s->report.frames, 5);
    forget(s);
    plain_free(&p);
}
END_TEST

/* Any bit of such a file: what is hit is told as UNKNOWN, and all else is there. */
START_TEST(damage_to_a_plain_seed_file_is_unknown_and_costs_its_frame)
{
    size_t place[3];
    plain_file p = three_frames(place);
    const char *path = at("plain.u9");
    for (uint64_t byte = 32; byte < p.size; byte++) {
        save(&p, path);
        flip_bit(path, byte, (unsigned)byte % 8);
        seen *s = look(path);
        ck_assert_int_eq(s->err, U9_OK);
        ck_assert_int_eq(s->report.plain, 1);
        ck_assert_int_eq(s->report.verdict, U9_V_UNKNOWN);
        ck_assert_uint_eq(s->damage_count, 1);
        bool padding = s->damages[0].reason == U9_R_PADDING;
        ck_assert_uint_eq(s->count, padding ? 6 : 4);
        ck_assert_uint_eq(s->damages[0].lost, padding ? 0 : U9_NOWHERE);
        forget(s);
    }
    plain_free(&p);
}
END_TEST

START_TEST(a_cut_plain_seed_file_is_read_up_to_the_cut)
{
    size_t place[3];
    plain_file p = three_frames(place);
    const char *path = at("plain.u9");
    for (uint64_t size = place[1]; size < p.size; size++) {
        write_file(path, p.bytes, size);
        seen *s = look(path);
        size_t frames = 1 + (size >= place[2]);
        ck_assert_int_eq(s->report.plain, 1);
        ck_assert_uint_eq(s->count, 2 * frames);
        ck_assert_int_eq(s->report.verdict, size == place[frames] ? U9_V_CLEAN : U9_V_UNKNOWN);
        forget(s);
    }
    plain_free(&p);
}
END_TEST

/* [E-3] Whole hashes, and no values: nothing of it counts. */
START_TEST(a_payload_that_is_not_values_is_told)
{
    plain_file p = plain_begin(5);
    unsigned n = 0;
    put_records(&p, "r", 2, &n);
    size_t bad = plain_frame(&p, "\x81\x82\x25no", 5);
    put_records(&p, "r", 1, &n);
    save(&p, at("plain.u9"));
    seen *s = look(at("plain.u9"));
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->records[2].ordinal, 2);
    ck_assert_uint_eq(s->damage_count, 1);
    ck_assert_int_eq(s->damages[0].reason, U9_R_BODY);
    ck_assert_int_eq(s->damages[0].verdict, U9_V_UNKNOWN);
    ck_assert_uint_eq(s->damages[0].begin, bad);
    ck_assert_uint_eq(s->damages[0].lost, U9_NOWHERE);
    forget(s);
    plain_free(&p);
}
END_TEST

/* [E-3] The most that a record, and a virtual offset, can be. */
START_TEST(a_payload_above_the_largest_body_is_told)
{
    for (unsigned over = 0; over < 2; over++) {
        size_t size = (1 << 24) + over;
        uint8_t *body = malloc(size);
        memset(body, 0x85, size);
        body[0] = 0x1e;
        u9i_set_be(body + 1, 4, size - 5); /* one value */
        plain_file p = plain_begin(5);
        plain_frame(&p, body, size);
        plain_frame(&p, "\x85", 1);
        save(&p, at("plain.u9"));
        seen *s = look(at("plain.u9"));
        ck_assert_uint_eq(s->count, 2 - over);
        ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_BODY), over);
        forget(s);
        plain_free(&p);
        free(body);
    }
}
END_TEST

/* [E-1] Whatever is damaged in a segment, also its first frames: it stays one, and promises count. */
START_TEST(a_damaged_segment_is_never_taken_for_a_plain_seed_file)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint64_t one = forge_records(&f, "a", 2), two = forge_records(&f, "b", 2);
    forge_promise(&f);
    forge_end(&f, U9I_END_CLOSING);
    for (uint64_t byte = 32; byte < two; byte += 3) {
        forge_save(&f, log);
        flip_bit(segment_path(log, 1), 32 + byte % 64, 1); /* its u9open, and then what is behind */
        flip_bit(segment_path(log, 1), byte, 2);
        seen *s = look(log);
        ck_assert_int_eq(s->report.plain, 0);
        ck_assert_int_eq(s->report.verdict, U9_V_CORRUPT);
        forget(s);
    }
    uint8_t *moved = malloc(f.size); /* its frames, a block too far: their trailers name other places */
    memcpy(moved, f.bytes, f.size);
    memset(moved + 32, 0, one - 32);
    memmove(moved + one + 4096, moved + one, f.size - one - 4096);
    memset(moved + one, 0, 4096);
    write_file(segment_path(log, 1), moved, f.size);
    ck_assert_int_eq(check_of(log).plain, 0);
    free(moved);
    forge_free(&f);
}
END_TEST

/* [E-1] Of both kinds: the first whole frame decides. */
START_TEST(in_a_file_of_both_kinds_of_frames_the_first_decides)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint64_t ours = forge_records(&f, "a", 2);
    plain_file p = {.bytes = f.bytes, .size = (size_t)f.end};
    memcpy(p.secret, f.secret.bytes, sizeof p.secret);
    p.bytes = malloc(p.size);
    memcpy(p.bytes, f.bytes, p.size);
    plain_frame(&p, "\x85", 1);
    make_dir(log);
    write_file(segment_path(log, 1), p.bytes, p.size);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_int_eq(s->report.plain, 0);
    ck_assert_int_eq(s->report.verdict, U9_V_UNKNOWN);
    forget(s);
    plain_free(&p);
    p.bytes = malloc(ours);
    p.size = 32;
    memcpy(p.secret, f.secret.bytes, sizeof p.secret);
    memcpy(p.bytes, f.bytes, 32);
    plain_frame(&p, "\x85", 1);
    plain_frame(&p, f.bytes + ours + 64, (size_t)(f.end - ours - 64) / 16 * 16 - 16);
    write_file(segment_path(log, 1), p.bytes, p.size);
    ck_assert_int_eq(check_of(log).plain, 1);
    plain_free(&p);
    forge_free(&f);
}
END_TEST

/* [P-1] Each value once, in order, and each loss once; ordinals are those of the range. */
START_TEST(ranges_of_a_plain_seed_file_neither_miss_nor_repeat)
{
    size_t place[3];
    plain_file p = three_frames(place);
    const char *path = at("plain.u9");
    for (unsigned hurt = 0; hurt < 2; hurt++) {
        save(&p, path);
        if (hurt) flip_bit(path, place[1] + 70, 1);
        u9_log *log = open_reader(path);
        for (uint64_t cut = 16; cut <= p.size; cut += 16) {
            unsigned records = 0, damages = 0;
            for (unsigned half = 0; half < 2; half++) {
                u9_range range = {.size = sizeof range, .begin = half ? cut : 0, .end = half ? UINT64_MAX : cut};
                u9_cursor *c;
                u9_record r;
                u9_err err;
                uint64_t next = 0;
                ck_assert_int_eq(u9_cursor_open(log, &range, &c, NULL), U9_OK);
                while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT) {
                    damages += err == U9_CORRUPT;
                    if (err != U9_OK) continue;
                    ck_assert_uint_eq(r.ordinal, next++);
                    ck_assert(r.frame >= range.begin && r.frame < range.end);
                    records++;
                }
                ck_assert_int_eq(err, U9_END);
                u9_cursor_close(c);
            }
            ck_assert_uint_eq(records, hurt ? 4 : 6);
            ck_assert_uint_eq(damages, hurt);
        }
        close_log(log);
    }
    plain_free(&p);
}
END_TEST

/* Stretches of anything, anywhere behind `spared` bytes. */
static plain_file ruined(uint8_t seed, unsigned frames, size_t spared)
{
    plain_file p = plain_begin(seed);
    unsigned n = 0;
    for (unsigned i = 0; i < frames; i++) {
        put_records(&p, "some text ", (unsigned)rand() % 4, &n);
        plain_zeros(&p, 16 * ((size_t)rand() % 3));
    }
    plain_zeros(&p, (size_t)rand() % 40);
    for (unsigned i = (unsigned)rand() % 4; i > 0; i--) {
        size_t from = spared + (size_t)rand() % (p.size - spared), to = spared + (size_t)rand() % (p.size - spared);
        size_t most = p.size - (from > to ? from : to), size = (size_t)rand() % 300;
        if (rand() % 2) from -= from % 16, to -= to % 16;
        memmove(p.bytes + to, p.bytes + from, size < most ? size : most);
    }
    return p;
}

/* Both readers see the same. */
START_TEST(a_plain_seed_file_in_ruins_is_read_alike_by_both_readers)
{
    const char *path = at("plain.u9");
    srand(5);
    for (unsigned round = 0; round < 200; round++) {
        plain_file p = ruined((uint8_t)round, 8, 96);
        save(&p, path);
        seen *s = look(path);
        ck_assert(s->err != U9_OK || s->report.verdict <= U9_V_UNKNOWN);
        forget(s);
        plain_free(&p);
    }
}
END_TEST

/* [E-4] Also where of some nothing is left, and none is read alone. */
START_TEST(plain_seed_files_in_ruins_are_read_alike_by_both_readers)
{
    make_dir(at("log"));
    srand(6);
    for (unsigned round = 0; round < 200; round++) {
        for (unsigned i = 1; i <= 3; i++) {
            plain_file p = ruined((uint8_t)(3 * round + i), 1 + (unsigned)rand() % 2, 8 + (size_t)rand() % 90);
            save(&p, segment_path(at("log"), i));
            plain_free(&p);
        }
        forget(look(at("log")));
    }
}
END_TEST

/* They are walked to a place: what is damaged right in front of it is behind it all the same. */
START_TEST(what_is_damaged_in_front_of_a_place_in_a_plain_seed_file_is_told_there)
{
    plain_file p = plain_begin(9);
    unsigned n = 0;
    size_t frames[4];
    for (unsigned i = 0; i < 4; i++) frames[i] = put_records(&p, "r", 2, &n);
    for (unsigned hurt = 0; hurt < 4; hurt++) {
        uint8_t was = p.bytes[frames[hurt] + 70];
        p.bytes[frames[hurt] + 70] ^= 4;
        save(&p, at("plain.u9"));
        p.bytes[frames[hurt] + 70] = was;
        u9_log *log = open_reader(at("plain.u9"));
        for (unsigned i = 0; i < 4; i++) { /* the frame whose records are sought first, in front of which the damage is, or not */
            u9_seek to = {.size = sizeof to, .kind = U9_SEEK_OFFSET, .offset = frames[i]};
            u9_cursor *c;
            u9_record r;
            ck_assert_int_eq(u9_log_seek(log, &to, &c, NULL), U9_OK);
            u9_err err = u9_cursor_next(c, &r);
            bool near = hurt == i || hurt + 1 == i;
            ck_assert_msg(err == (near ? U9_CORRUPT : U9_OK), "hurt %u, to %u: %d", hurt, i, err);
            if (near) ck_assert_uint_eq(u9_cursor_damage(c)->begin, frames[hurt]);
            if (near) err = u9_cursor_next(c, &r);
            ck_assert_int_eq(err, hurt == i && i == 3 ? U9_END : U9_OK);
            if (err == U9_OK) ck_assert_uint_eq(r.frame, frames[hurt == i ? i + 1 : i]);
            u9_cursor_close(c);
        }
        close_log(log);
    }
    plain_free(&p);
}
END_TEST

START_TEST(a_key_is_found_and_a_value_without_one_never_is)
{
    uint8_t body[200] = {0x85}, buf[100];
    plain_file p = plain_begin(5);
    size_t size = 1 + text_record(body + 1, "one", "first");
    size += text_record(body + size, "two", "other");
    size += text_record(body + size, "one", "again");
    plain_frame(&p, body, size);
    save(&p, at("plain.u9"));
    u9_log *log = open_reader(at("plain.u9"));
    u9_record r;
    ck_assert_str_eq(u9_log_kind(log), "rkey");
    ck_assert_int_eq(u9_log_get(log, &(u9_key){"one", 3}, buf, sizeof buf, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.ordinal, 3);
    ck_assert_int_eq(u9_log_get(log, &(u9_key){"six", 3}, buf, sizeof buf, &r, NULL), U9_ABSENT);
    ck_assert_int_eq(u9_log_get(log, &(u9_key){"", 0}, buf, sizeof buf, &r, NULL), U9_ARG);
    close_log(log);
    plain_free(&p);
}
END_TEST

/* [E-4] In a directory, alone and several; among segments they are foreign. */
START_TEST(a_key_in_a_plain_seed_file_is_found_by_an_index)
{
    enum { FRAMES = 200, IN_FRAME = 5 };
    plain_file p = plain_begin(11);
    unsigned n = 0;
    for (unsigned i = 0; i < FRAMES; i++) {
        uint8_t body[500] = {0x85}; /* a value without a key counts as well */
        size_t size = 1;
        for (unsigned k = 0; k < IN_FRAME; k++, n++) {
            char key[16], text[24];
            snprintf(key, sizeof key, "key%u", n * 7919 % (FRAMES * IN_FRAME));
            snprintf(text, sizeof text, "number %u", n);
            size += text_record(body + size, key, text);
        }
        plain_frame(&p, body, size);
    }
    save(&p, at("plain.u9"));
    u9_log *log = open_reader(at("plain.u9"));
    u9i_view *view;
    ck_assert_int_eq(u9i_view_take(log, false, &view, NULL), U9_OK);
    ck_assert_int_eq(u9i_view_index(log, view, 0, NULL), U9_OK);
    for (n = 0; n < FRAMES * IN_FRAME; n++) {
        char text[16];
        int size = snprintf(text, sizeof text, "key%u", n * 7919 % (FRAMES * IN_FRAME));
        u9_key key = {text, (size_t)size};
        const u9i_open_frame *f;
        u9i_open_frame *own;
        u9i_found found;
        u9i_indexed *s = view->segments[0];
        ck_assert_int_eq(u9i_index_find(&s->index, &s->frames, &key, s->limit, &f, &found, &own), U9_OK);
        ck_assert_uint_eq(u9i_lookup_record(1, f, &found).ordinal, n / IN_FRAME * (IN_FRAME + 1) + 1 + n % IN_FRAME);
        u9i_found_free(&found);
        u9i_open_frame_free(own);
    }
    u9i_view_release(view);
    close_log(log);
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("plain.u9")), .cache_memory = 12000}; /* what is kept goes, again and again */
    ck_assert_int_eq(u9_log_open(at("plain.u9"), &o, &log, NULL), U9_OK);
    for (n = 0; n < 8 * FRAMES * IN_FRAME; n += 1 + n % 3) {
        char text[16];
        uint8_t buf[100];
        u9_record r;
        unsigned i = n % (FRAMES * IN_FRAME);
        int size = snprintf(text, sizeof text, "key%u", i * 7919 % (FRAMES * IN_FRAME));
        ck_assert_int_eq(u9_log_get(log, &(u9_key){text, (size_t)size}, buf, sizeof buf, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.ordinal, i / IN_FRAME * (IN_FRAME + 1) + 1 + i % IN_FRAME);
        if (sim_in_use() && n % 7 == 0) sim_advance(2 * U9I_VIEW_AGE_US); /* the next view keeps where frames begin, not what they say */
    }
    close_log(log);
    plain_free(&p);
}
END_TEST

START_TEST(plain_seed_files_stand_in_a_row_of_their_own)
{
    const char *log = at("log");
    unsigned n = 0;
    plain_file p = plain_begin(5), q = plain_begin(9);
    put_records(&p, "p", 3, &n);
    put_records(&q, "q", 2, &n);
    make_dir(log);
    save(&p, segment_path(log, 4));
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_int_eq(s->report.plain, 1);
    forget(s);
    save(&q, segment_path(log, 9));
    s = look(log);
    ck_assert_uint_eq(s->count, 5);
    ck_assert_uint_eq(s->records[4].ordinal, 4);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
    forged_segment f = forge_begin(2, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "ours", 2);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_int_eq(s->report.plain, 0);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FOREIGN), 2);
    forget(s);
    forge_free(&f);
    plain_free(&p);
    plain_free(&q);
}
END_TEST

/* [E-4] What it was nobody knows: whichever it is, and whatever of it is damaged, the others are read. */
START_TEST(a_file_without_a_whole_frame_takes_nothing_from_plain_seed_files_beside_it)
{
    static const size_t damaged[] = {10, 64, 90, 140}; /* secret, signature, length, payload */
    enum { FILES = 3 };
    const char *log = at("log");
    make_dir(log);
    for (unsigned which = 0; which < FILES; which++)
        for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
            for (unsigned file = 0, n = 0; file < FILES; file++) {
                plain_file p = plain_begin((uint8_t)(5 + 4 * file));
                put_records(&p, "p", 2, &n);
                if (file == which) p.bytes[damaged[i]] ^= 3; /* two bits: one of the secret is found by trying */
                save(&p, segment_path(log, file + 1));
                plain_free(&p);
            }
            seen *s = look(log);
            ck_assert_uint_eq(s->count, 2 * (FILES - 1));
            ck_assert_uint_eq(s->records[2].ordinal, 2);
            ck_assert_int_eq(s->report.plain, 1);
            ck_assert_uint_gt(s->damage_count, 0);
            ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FOREIGN), 0);
            forget(s);
            if (!sim_in_use()) continue;
            sim_spoil(segment_path(log, which + 1), 0, 4096, EIO, 0); /* and where its bytes cannot be read */
            s = look(log);
            ck_assert_uint_eq(s->count, 2 * (FILES - 1));
            ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_UNREADABLE), 1);
            forget(s);
            sim_clear();
        }
    forged_segment f = forge_begin(2, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "ours", 2);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FOREIGN), 1);
    forget(s);
    forge_free(&f);
}
END_TEST

/* {F30} */
START_TEST(nothing_is_ever_appended_to_a_plain_seed_file)
{
    uint8_t before[16], after[16];
    size_t place[3];
    plain_file p = three_frames(place);
    make_dir(at("log"));
    save(&p, segment_path(at("log"), 1));
    picture(at("log"), before);
    u9_options o = writer_options();
    u9_log *log;
    u9_fault fault;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_ARG);
    ck_assert_str_eq(fault.rule, "E-4");
    ck_assert_ptr_nonnull(strstr(fault.text, "plain seed file"));
    ck_assert_int_eq(u9_log_open(segment_path(at("log"), 1), &o, &log, &fault), U9_IO);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    plain_free(&p);
}
END_TEST

START_TEST(a_plain_seed_file_is_not_sent)
{
    int out[2];
    size_t place[3];
    plain_file p = three_frames(place);
    save(&p, at("plain.u9"));
    u9_log *log = open_reader(at("plain.u9"));
    ck_assert_int_eq(pipe(out), 0);
    u9_send_options o = {.size = sizeof o, .in = -1, .out = out[1]};
    u9_ship_report report = {.size = sizeof report};
    u9_fault fault;
    ck_assert_int_eq(u9_log_send(log, &o, &report, &fault), U9_ARG);
    ck_assert_str_eq(fault.rule, "E-4");
    close(out[0]);
    close(out[1]);
    close_log(log);
    plain_free(&p);
}
END_TEST

/* Salvages `p` into "out<n>"; returns what is there. */
static seen *salvaged(const plain_file *p, unsigned n, const char *kind, uint64_t want)
{
    char name[20];
    uint64_t saved;
    u9_report report = {.size = sizeof report};
    u9_fault fault;
    u9_check_options o = {.size = sizeof o, .io = io_of(at("x"))};
    snprintf(name, sizeof name, "out%u", n);
    save(p, at("plain.u9"));
    u9_err err = u9_salvage(at("plain.u9"), at(name), &o, &report, &saved, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
    ck_assert_uint_eq(saved, want);
    u9_log *log = open_reader(at(name));
    ck_assert_str_eq(u9_log_kind(log), kind);
    close_log(log);
    return look(at(name));
}

/* [E-4] Keys stay keys where one kind takes them all; else fresh ones, and nothing is lost. */
START_TEST(salvage_makes_a_log_of_a_plain_seed_file)
{
    size_t place[3];
    uint8_t body[200];
    plain_file p = three_frames(place);
    seen *s = salvaged(&p, 1, "muid", 6);
    ck_assert(has_text(s, "middle"));
    ck_assert_mem_eq(s->records[0].bytes, p.bytes + place[0] + 64, s->records[0].size);
    ck_assert_uint_eq(s->records[2].size, 2 + 18 + 1); /* the 5, behind a key of its own */
    forget(s);
    plain_free(&p);
    p = plain_begin(5);
    size_t size = text_record(body, "one", "first");
    plain_frame(&p, body, size);
    s = salvaged(&p, 2, "rkey", 1);
    ck_assert_mem_eq(s->records[0].bytes, body, size);
    forget(s);
    plain_frame(&p, "\x85", 1); /* no kind has both */
    s = salvaged(&p, 3, "muid", 2);
    ck_assert_uint_eq(s->records[0].size, 2 + 18 + size);
    ck_assert_mem_eq(s->records[0].bytes + 20, body, size);
    forget(s);
    memset(body, 0x49, 200); /* nested too deep: no log takes it; the values around it are taken */
    for (unsigned i = 0; i < 70; i++) body[2 * i + 1] = (uint8_t)(140 - 2 - 2 * i);
    body[140] = 0x85;
    plain_frame(&p, body, 141);
    s = salvaged(&p, 4, "muid", 3);
    forget(s);
    plain_free(&p);
}
END_TEST

START_TEST(a_report_of_an_earlier_version_is_filled_as_far_as_it_goes)
{
    struct {
        u9_report report;
    } room;
    size_t place[3], earlier = offsetof(u9_report, keyless);
    plain_file p = three_frames(place);
    save(&p, at("plain.u9"));
    u9_check_options o = {.size = sizeof o, .io = io_of(at("plain.u9"))};
    memset(&room, 0xee, sizeof room);
    room.report.size = earlier;
    ck_assert_int_eq(u9_check(at("plain.u9"), &o, &room.report, NULL), U9_OK);
    ck_assert_uint_eq(room.report.size, earlier);
    ck_assert_uint_eq(room.report.records, 6);
    for (size_t i = earlier; i < sizeof room; i++) ck_assert_uint_eq(((const uint8_t *)&room)[i], 0xee);
    room.report.size = earlier + 8;
    ck_assert_int_eq(u9_check(at("plain.u9"), &o, &room.report, NULL), U9_ARG);
    plain_free(&p);
}
END_TEST

Suite *suite_plain(void)
{
    Suite *suite = suite_create("plain");
    TCase *tc = tcase_create("plain");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, the_example_of_the_specification_is_read);
    tcase_add_test(tc, a_record_without_a_time_is_in_no_bounds_of_time);
    tcase_add_test(tc, the_first_key_in_a_form_of_a_kind_says_the_kind);
    tcase_add_test(tc, what_the_seed_allows_is_no_damage);
    tcase_add_test(tc, damage_to_a_plain_seed_file_is_unknown_and_costs_its_frame);
    tcase_add_test(tc, a_cut_plain_seed_file_is_read_up_to_the_cut);
    tcase_add_test(tc, a_payload_that_is_not_values_is_told);
    tcase_add_test(tc, a_payload_above_the_largest_body_is_told);
    tcase_add_test(tc, a_damaged_segment_is_never_taken_for_a_plain_seed_file);
    tcase_add_test(tc, in_a_file_of_both_kinds_of_frames_the_first_decides);
    tcase_add_test(tc, ranges_of_a_plain_seed_file_neither_miss_nor_repeat);
    tcase_add_test(tc, a_plain_seed_file_in_ruins_is_read_alike_by_both_readers);
    tcase_add_test(tc, plain_seed_files_in_ruins_are_read_alike_by_both_readers);
    tcase_add_test(tc, what_is_damaged_in_front_of_a_place_in_a_plain_seed_file_is_told_there);
    tcase_add_test(tc, a_key_is_found_and_a_value_without_one_never_is);
    tcase_add_test(tc, a_key_in_a_plain_seed_file_is_found_by_an_index);
    tcase_add_test(tc, plain_seed_files_stand_in_a_row_of_their_own);
    tcase_add_test(tc, a_file_without_a_whole_frame_takes_nothing_from_plain_seed_files_beside_it);
    tcase_add_test(tc, nothing_is_ever_appended_to_a_plain_seed_file);
    tcase_add_test(tc, a_plain_seed_file_is_not_sent);
    tcase_add_test(tc, salvage_makes_a_log_of_a_plain_seed_file);
    tcase_add_test(tc, a_report_of_an_earlier_version_is_filled_as_far_as_it_goes);
    suite_add_tcase(suite, tc);
    return suite;
}
