/*
 * tests/engine/read/test_cursor.c: a cursor that goes both ways and anywhere.
 *
 * Logs of all sorts are damaged at random, over and over: the way back is the way forward in reverse order, from the end
 * and from wherever the cursor turns round; and a place that is sought is where a walk comes to it.
 */
#include "format/frame/body.h"
#include "tests/engine/read/walks.h"
#include "tests/must.h"
#include "tests/plain_file.h"
#include "tests/sanitized.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <u9/cursor.h>
#include <u9/trim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, FILES = 16 };

enum { ROUNDS = SANITIZED ? 12 : 60 };

static u9_cursor *open_cursor(u9_log *log)
{
    u9_cursor *c;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    return c;
}

static void send_to(u9_cursor *c, u9_seek to)
{
    to.size = sizeof to;
    u9_err err = u9_cursor_seek(c, &to);
    u9_fault fault;
    u9_cursor_fault(c, &fault);
    MUST_SAY(err == U9_OK, "%s", fault.text);
}

/* Logs */

/* Sessions that close, one that crashes, and perhaps the last; small segments, two records a frame or many. */
static void make_sessions(const char *log, bool closed)
{
    u9_options o = small_options();
    char text[700];
    memset(text, 'x', sizeof text);
    for (unsigned session = 0; session < 3; session++) {
        o.lz4 = session == 1;
        u9_log *w = open_writer(log, &o);
        for (unsigned i = 0; i < 160; i++) {
            snprintf(text, sizeof text, "s%u r%u", session, i);
            append_bytes(w, text, session == 1 ? 300 + i : sizeof text);
            if (i % (session == 0 ? 3 : 40) == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
            if (i % 10 == 0) sim_advance(1000000);
        }
        if (session == 1 || (session == 2 && !closed)) crash(w, log);
        else close_log(w);
    }
    ck_assert_uint_ge(segments_in(log), 5);
}

static void make_rolled(const char *log)
{
    make_sessions(log, true);
}

static void make_unclosed(const char *log)
{
    make_sessions(log, false);
}

static void put_part(forged_segment *f, uint64_t *before, unsigned i, const uint8_t *bytes, size_t size)
{
    u9i_part_record part = {.number = i, .total = 3 * size, .before = *before, .bytes = {bytes + i * size, size}};
    *before = forge_part(f, &part, i == 2);
}

/* One segment with fill, promises, records in three parts, and others between them. */
static void make_forged(const char *log)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint8_t bytes[1200], text[1100];
    memset(text, 'p', sizeof text);
    for (unsigned i = 0; i < 10; i++) {
        uint64_t before = 0;
        if (i % 3 == 0) forge_pad(&f);
        f.next.durable = f.end;
        f.next.time_us += 1000;
        forge_records(&f, "r", 1 + i % 4);
        size_t size = record_bytes(bytes, 1000 + i, text, 1050 + i % 3) / 3;
        record_bytes(bytes, 1000 + i, text, 1050 + i % 3);
        if (i % 2 == 0 && record_bytes(bytes, 1000 + i, text, 1050 + i % 3) % 3 == 0) {
            put_part(&f, &before, 0, bytes, size);
            forge_records(&f, "between", 2);
            put_part(&f, &before, 1, bytes, size);
            put_part(&f, &before, 2, bytes, size);
        }
    }
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    forge_free(&f);
}

/* Files of the seed's own tools: values of all kinds, without trailers. */
static void make_plain(const char *log)
{
    static const uint8_t payload[] = {0x85, 0x25, 'h', 'e', 'l', 'l', 'o', 0x4a, 0x02, 0x81, 0x82};
    make_dir(log);
    for (unsigned n = 1; n <= 2; n++) {
        plain_file p = plain_begin((uint8_t)n);
        for (unsigned i = 0; i < 30; i++) plain_frame(&p, payload, i % 2 ? sizeof payload : 7);
        write_file(segment_path(log, n), p.bytes, p.size);
        plain_free(&p);
    }
}

/* Damages */

static unsigned draw(unsigned below)
{
    return (unsigned)rand() % below;
}

static void damage_once(const char *log)
{
    unsigned count = segments_in(log);
    if (count == 0) return;
    char path[4400], other[4400];
    strcpy(path, segment_path(log, 1 + draw(count)));
    if (!exists(path) || file_size(path) == 0) return;
    uint64_t size = file_size(path), offset = (uint64_t)rand() % size;
    switch (draw(12)) {
    case 0: cut_file(path, offset); break;
    case 1: fill_bytes(path, offset / BLOCK * BLOCK, size - offset / BLOCK * BLOCK < BLOCK ? 100 : BLOCK, 0); break;
    case 2: extend_file(path, size + BLOCK * draw(3) + draw(2)); break;
    case 3:
        if (count > 2) sim_remove(path);
        break;
    case 4: remove_mark(log); break;
    case 5:
        strcpy(other, segment_path(log, 1 + draw(count + 2)));
        if (draw(3) == 0 && strcmp(path, other) != 0) sim_copy(path, other);
        break;
    case 6: fill_bytes(path, offset, size - offset < 64 ? 1 : 64, (uint8_t)rand()); break;
    case 7: flip_bit(path, draw(32), draw(8)); break;
    default: flip_bit(path, offset, draw(8)); break;
    }
}

/* Claims */

/* Forwards to some event, and from there back and forth: each step shows and tells what stands there. */
static void stagger(u9_cursor *c, events *told, const events *all)
{
    size_t at = 0;
    u9_record r;
    for (unsigned turn = 0; turn < 8; turn++) {
        bool back = turn % 2;
        for (unsigned steps = draw(turn == 0 ? 40 : 12) + 1; steps > 0; steps--) {
            told->count = 0;
            u9_err err = back ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r);
            if (err == U9_OK || err == U9_LIMIT) note_record_event(told, &r);
            else MUST(err == U9_END);
            for (size_t i = 0; i < told->count; i++) {
                const event *was = back ? (at > 0 ? &all->all[--at] : NULL) : (at < all->count ? &all->all[at++] : NULL);
                MUST_SAY(was && same_event(was, &told->all[i]), "turn %u: %s instead of %s", turn, event_text(&told->all[i]),
                         was ? event_text(was) : "nothing");
            }
            MUST(err != U9_END || at == (back ? 0 : all->count));
        }
    }
}

/* The first record from `from` on in `all` for which the test of this number holds; the count: none. */
static size_t first_at(const events *all, bool by_time, uint64_t number)
{
    size_t i = 0;
    while (i < all->count && (all->all[i].damage || (by_time ? all->all[i].time_us : all->all[i].ordinal) < number)) i++;
    return i;
}

/* The next record is that one, and the one before it is the record before. */
static void expect_between(u9_cursor *c, events *told, const events *all, size_t at)
{
    u9_record r;
    events got = {0};
    u9_err err = u9_cursor_next(c, &r);
    MUST((err == U9_END) == (at == all->count));
    if (err != U9_END) {
        note_record_event(&got, &r);
        MUST_SAY(same_event(&got.all[0], &all->all[at]), "%s instead of %s", event_text(&got.all[0]), event_text(&all->all[at]));
        MUST(u9_cursor_prev(c, &r) == err);
    }
    got.count = 0;
    do err = u9_cursor_prev(c, &r);
    while (err == U9_VERSION);
    size_t before = at;
    while (before > 0 && all->all[before - 1].damage) before--;
    MUST((err == U9_END) == (before == 0));
    if (err != U9_END) {
        note_record_event(&got, &r);
        MUST_SAY(same_event(&got.all[0], &all->all[before - 1]), "before: %s instead of %s", event_text(&got.all[0]),
                 event_text(&all->all[before - 1]));
    }
    drop_events(&got);
    told->count = 0;
}

static void expect_sought(u9_cursor *c, events *told, const events *all)
{
    for (unsigned i = 0; i < 6 && all->count > 0; i++) {
        const event *e = &all->all[draw((unsigned)all->count)];
        if (e->damage) continue;
        uint64_t number = e->ordinal + draw(3);
        send_to(c, (u9_seek){.kind = U9_SEEK_ORDINAL, .number = number});
        expect_between(c, told, all, first_at(all, false, number));
        number = e->time_us + draw(2);
        send_to(c, (u9_seek){.kind = U9_SEEK_TIME, .number = number});
        expect_between(c, told, all, first_at(all, true, number));
        send_to(c, (u9_seek){.kind = U9_SEEK_OFFSET, .segment = e->segment, .offset = e->at >> 24 << 4});
        size_t at = 0;
        while (all->all[at].damage || all->all[at].segment != e->segment || all->all[at].at >> 24 != e->at >> 24) at++;
        expect_between(c, told, all, at);
    }
}

/* Ordinals and times that only grow, as bisection needs it: copies of files may have made others. */
static bool is_ascending(const events *all)
{
    const event *last = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const event *e = &all->all[i];
        if (e->damage) continue;
        if (last && (e->ordinal <= last->ordinal || e->time_us < last->time_us || e->segment < last->segment)) return false;
        last = e;
    }
    return true;
}

static void expect_both_ways(const char *log)
{
    events on = {0}, back = {0};
    u9_log *handle = open_noting(log, &on);
    u9_cursor *c = open_cursor(handle);
    walk_on(c, &on);
    events all = on; /* the log's goes on being filled */
    on = (events){.all = NULL};
    walk_back(c, &on); /* from where it is */
    expect_mirror(&all, &on);
    on.count = 0;
    walk_on(c, &on); /* and again */
    MUST(on.count == all.count);
    for (size_t i = 0; i < on.count; i++) MUST(same_event(&on.all[i], &all.all[i]));
    on.count = 0;
    send_to(c, (u9_seek){.kind = U9_SEEK_START});
    stagger(c, &on, &all);
    if (is_ascending(&all)) expect_sought(c, &on, &all);
    u9_cursor_close(c);
    close_log(handle);

    handle = open_noting(log, &back); /* with nothing remembered */
    c = open_cursor(handle);
    send_to(c, (u9_seek){.kind = U9_SEEK_END});
    walk_back(c, &back);
    expect_mirror(&all, &back);
    u9_cursor_close(c);
    close_log(handle);
    drop_events(&on);
    drop_events(&back);
    drop_events(&all);
}

static bool opens(const char *log)
{
    u9_log *handle;
    u9_options o = {.size = sizeof o, .io = io_of(log)};
    if (u9_log_open(log, &o, &handle, NULL) != U9_OK) return false;
    close_log(handle);
    return true;
}

static void expect_both_ways_damaged(void (*make)(const char *log), unsigned seed)
{
    const char *whole = at("whole"), *log = at("log");
    make(whole);
    expect_both_ways(whole);
    for (unsigned round = 0; round < ROUNDS; round++) {
        srand(seed + round);
        remove_log(log);
        copy_log(whole, log);
        for (unsigned n = draw(5) + 1; n > 0; n--) damage_once(log);
        
        if (opens(log)) expect_both_ways(log);
    }
}

/* */
START_TEST(the_way_back_over_a_rolled_log_is_the_way_forward_reversed_whatever_is_damaged)
{
    expect_both_ways_damaged(make_rolled, 1000);
}
END_TEST

/* [Q-1] [M-4] */
START_TEST(the_same_of_one_that_was_never_closed)
{
    expect_both_ways_damaged(make_unclosed, 4000);
}
END_TEST

/* [Q-1] [C-6] */
START_TEST(the_same_of_a_segment_with_records_in_parts)
{
    expect_both_ways_damaged(make_forged, 2000);
}
END_TEST

/* [Q-1] [E-3] */
START_TEST(the_same_of_plain_seed_files)
{
    expect_both_ways_damaged(make_plain, 3000);
}
END_TEST

Suite *suite_cursor(void)
{
    Suite *suite = suite_create("cursor");
    TCase *tc = tcase_create("cursor");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, the_way_back_over_a_rolled_log_is_the_way_forward_reversed_whatever_is_damaged);
    tcase_add_test(tc, the_same_of_one_that_was_never_closed);
    tcase_add_test(tc, the_same_of_a_segment_with_records_in_parts);
    tcase_add_test(tc, the_same_of_plain_seed_files);
    suite_add_tcase(suite, tc);
    return suite;
}
