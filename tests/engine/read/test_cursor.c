/*
 * tests/engine/read/test_cursor.c: a cursor that goes both ways and anywhere.
 *
 * Logs of all sorts are damaged at random, over and over: the way back is the way forward in reverse order, from the end
 * and from wherever the cursor turns round; and a place that is sought is where a walk comes to it.
 */
#include "format/base/bytes.h"
#include "format/frame/body.h"
#include "tests/engine/read/walks.h"
#include "tests/must.h"
#include "tests/plain_file.h"
#include "tests/sanitized.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/cursor.h>
#include <u9/follow.h>
#include <u9/large.h>
#include <u9/lookup.h>
#include <u9/scan.h>
#include <u9/trim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 4096, FILES = 16 };

/* Of the same with other damage; a file in a store is dear to copy. */
static unsigned rounds_of(unsigned all)
{
    return sim_is_away() ? thorough(all / 6, all) : SANITIZED ? all / 5 : all;
}

static u9_cursor *open_cursor(u9_log *log)
{
    u9_cursor *c;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    return c;
}

static bool mends; /* damaged headers */

static u9_log *open_mending(const char *log, events *e, u9_verify verify)
{
    u9_log *handle;
    u9_options o = {.size = sizeof o, .on_damage = note_damage_event, .on_damage_ctx = e, .io = io_of(log), .mend = mends,
                    .verify = verify};
    MUST(u9_log_open(log, &o, &handle, NULL) == U9_OK);
    return handle;
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

/* One that has more frames than a way back keeps in mind. */
static void make_plain_of_many(const char *log)
{
    plain_file p = plain_begin(1);
    make_dir(log);
    for (unsigned i = 0; i < 1100; i++) plain_frame(&p, "\x81\x82", 2);
    write_file(segment_path(log, 1), p.bytes, p.size);
    plain_free(&p);
}

static bool same_size, closes;

/* A copy went on, too, and its mark is this log's now: what it says of the end was never so here. */
static void make_marked_otherwise(const char *log)
{
    char copy[4400];
    strcpy(copy, at("copy"));
    remove_log(copy);
    session(log, "first", 40, 7);
    copy_log(log, copy);
    for (unsigned i = 0; i < 2; i++) {
        u9_log *w = open_writer(i ? copy : log, NULL);
        append_many(w, i ? "its" : "own", i && !same_size ? 20 : 50, 5);
        if (closes) close_log(w);
        else crash(w, i ? copy : log);
    }
    char mark[4400];
    snprintf(mark, sizeof mark, "%s/.mark", log);
    sim_copy(at("copy/.mark"), mark);
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

/* A number that is not what it says, now and then. */
static void bend(uint64_t *number)
{
    static const int64_t by[] = {-4096, -16, -1, 1, 16, 4096};
    unsigned how = draw(60);
    if (how < 6) *number += (uint64_t)by[how];
    else if (how == 6) *number = 0;
    else if (how == 7) *number = UINT64_MAX - draw(3);
}

/* The first frame once more, which lies too, or is none. */
static void bend_first(forged_segment *f, const u9i_open_record *open)
{
    uint8_t body[1024];
    size_t size = (size_t)(u9i_get_be(f->bytes + U9I_DISK_HEADER_SIZE + 56, 8) - U9I_TRAILER_SIZE);
    memcpy(body, f->bytes + U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE, size);
    memset(f->bytes + U9I_DISK_HEADER_SIZE, 0, f->size - U9I_DISK_HEADER_SIZE);
    f->size = U9I_DISK_HEADER_SIZE;
    f->frames = 0;
    f->next = (u9i_trailer){.ordinal = open->end.ordinal, .time_us = f->next.time_us};
    if (open->before_segment == 0) u9i_hash(f->bytes, U9I_DISK_HEADER_SIZE, f->next.chain);
    else memcpy(f->next.chain, open->end.chain, sizeof f->next.chain);
    switch (draw(4)) {
    case 0: f->next.ordinal++; break;
    case 1: f->next.chain[5] ^= 1; break;
    case 2: return; /* it is not there */
    }
    (void)forge_frame(f, body, size, 0);
}

/* Frames that are whole by every hash, and say of those before them, and of ends, what is not so. */
static void forge_lying(const char *log)
{
    forged_segment f[3];
    unsigned count = 1 + draw(3);
    for (unsigned i = 0; i < count; i++) {
        u9i_tail tail = draw(3) ? U9I_TAIL_ROLLED : draw(2) ? U9I_TAIL_TORN : U9I_TAIL_UNKNOWN;
        u9i_open_record open = forge_naming(i + 1, i ? &f[i - 1] : NULL, tail);
        if (i > 0) bend(&open.end.offset);
        if (i > 0) bend(&open.end.ordinal);
        if (i > 0 && draw(8) == 0) open.end.chain[3] ^= 1;
        f[i] = forge_with_open(i + 1, 1, &open);
        if (draw(4) == 0) bend_first(&f[i], &open);
        for (unsigned n = draw(12); n > 0; n--) {
            u9i_trailer *next = &f[i].next;
            next->time_us += 1000;
            if (draw(4) == 0) next->durable = f[i].end;
            bend(&next->previous);
            bend(&next->ordinal);
            if (draw(12) == 0) next->chain[3] ^= 1;
            if (draw(5) == 0) forge_pad(&f[i]);
            if (draw(6) == 0) forge_promise(&f[i]);
            else forge_records(&f[i], "r", 1 + draw(4));
        }
    }
    if (draw(2)) forge_end(&f[count - 1], U9I_END_CLOSING);
    for (unsigned i = 0; i < count; i++) {
        forge_save(&f[i], log);
        forge_free(&f[i]);
    }
}

/* Claims */

/* One step; damage that no callback was told of is an event too. U9_END: there is nothing more that way. */
static u9_err step_once(u9_cursor *c, bool back, events *told)
{
    u9_record r;
    u9_err err = back ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r);
    if (err == U9_OK || err == U9_LIMIT) note_record_event(told, &r);
    else if (err == U9_CORRUPT) note_damage_event(told, u9_cursor_damage(c));
    else MUST(err == U9_END);
    return err;
}

/* Forwards to some event, and from there back and forth: each step shows and tells what stands there. */
static void stagger(u9_cursor *c, events *told, const events *all)
{
    size_t at = 0;
    for (unsigned turn = 0; turn < 8; turn++) {
        bool back = turn % 2;
        for (unsigned steps = draw(turn == 0 ? 40 : 12) + 1; steps > 0; steps--) {
            told->count = 0;
            u9_err err = step_once(c, back, told);
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

static int is_from(void *ctx, const u9_record *r)
{
    return r->ordinal >= *(const uint64_t *)ctx;
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
        number = e->ordinal + draw(3);
        MUST(u9_cursor_bisect(c, is_from, &number) == U9_OK);
        expect_between(c, told, all, first_at(all, false, number));
        uint64_t offset = (e->at >> 24 << 4) + draw(2) * draw(9000);
        send_to(c, (u9_seek){.kind = U9_SEEK_OFFSET, .segment = e->segment, .offset = offset});
        size_t at = 0;
        while (at < all->count && (all->all[at].damage || all->all[at].segment < e->segment ||
                                   (all->all[at].segment == e->segment && all->all[at].at >> 24 << 4 < offset)))
            at++;
        expect_between(c, told, all, at);
    }
}

/* What was told goes into `to`, in place of what is there. */
static void move_events(events *to, events *told)
{
    drop_events(to);
    *to = *told;
    *told = (events){.all = NULL};
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

/* Between two records, or times, what is shown is what is shown there of all, from either end. */
static void expect_bounded(u9_cursor *c, events *told, const events *all)
{
    const event *a = &all->all[draw((unsigned)all->count)], *z = &all->all[draw((unsigned)all->count)];
    u9_bounds b = {.size = sizeof b, .to = U9_NOWHERE, .until_us = U9_NOWHERE};
    unsigned by = draw(4);
    if (a > z || a->damage || z->damage) return;
    if (a->time_us == 0) by = 0; /* a plain seed file has no times */
    if (by != 1) b.from = a->ordinal + draw(2), b.to = draw(5) ? z->ordinal + 1 + draw(2) : U9_NOWHERE;
    if (by != 0) b.since_us = a->time_us, b.until_us = draw(5) ? z->time_us + 1 : U9_NOWHERE;
    if (by == 2) b.since_us += 1500000, b.until_us = U9_NOWHERE;
    ck_assert_int_eq(u9_cursor_within(c, &b), U9_OK);
    for (unsigned back = 0; back < 2; back++) {
        if (back) send_to(c, (u9_seek){.kind = U9_SEEK_END});
        told->count = 0;
        if (back) walk_back(c, told);
        else walk_on(c, told);
        size_t n = 0;
        for (size_t i = 0; i < all->count; i++) {
            const event *e = &all->all[back ? all->count - 1 - i : i];
            bool timely = e->time_us >= b.since_us && e->time_us < b.until_us;
            if (e->damage || e->ordinal < b.from || e->ordinal >= b.to || !timely) continue;
            while (n < told->count && told->all[n].damage) n++;
            MUST_SAY(n < told->count && same_event(&told->all[n], e), "%s instead of %s",
                     n < told->count ? event_text(&told->all[n]) : "the end", event_text(e));
            n++;
        }
        while (n < told->count && told->all[n].damage) n++;
        MUST_SAY(n == told->count, "%s, which is out of bounds", event_text(&told->all[n]));
    }
    ck_assert_int_eq(u9_cursor_within(c, &(u9_bounds){.size = sizeof b, .to = U9_NOWHERE, .until_us = U9_NOWHERE}), U9_OK);
}

/* The way back over some bytes of the segment that this is of, too. */
static void expect_range(u9_log *handle, events *told, const event *e)
{
    u9_cursor *c;
    events on = {0}, back = {0};
    u9_range range = {.size = sizeof range, .segment = e->segment, .begin = draw(3) ? e->begin : 0,
                      .end = draw(2) ? 0 : e->begin + draw(90000)};
    if (!e->damage && draw(2)) range.begin = (e->at >> 24 << 4) + draw(2);
    if (range.end != 0 && range.end < range.begin) return;
    if (u9_cursor_open(handle, &range, &c, NULL) == U9_ARG) return; /* it is missing */
    for (unsigned i = 0; i < 2; i++) {
        told->count = 0;
        walk_on(c, told);
        move_events(&on, told);
        walk_back(c, told);
        move_events(&back, told);
        expect_mirror(&on, &back);
        send_to(c, (u9_seek){.kind = i ? U9_SEEK_START : U9_SEEK_END});
        if (i == 0) walk_back(c, told), move_events(&back, told), expect_mirror(&on, &back);
    }
    drop_events(&on);
    drop_events(&back);
    u9_cursor_close(c);
}

/* `trusty`: what frames say of where they stand can be bisected by. */
static void expect_both_ways(const char *log, bool trusty)
{
    events on = {0}, back = {0};
    u9_log *handle = open_mending(log, &on, U9_VERIFY_FIRST);
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
    if (trusty && is_ascending(&all)) {
        expect_sought(c, &on, &all);
        if (all.count > 0) expect_bounded(c, &on, &all);
    }
    u9_cursor_close(c);
    close_log(handle);

    handle = open_mending(log, &back, U9_VERIFY_FIRST); /* with nothing remembered */
    c = open_cursor(handle);
    send_to(c, (u9_seek){.kind = U9_SEEK_END});
    walk_on(c, &back); /* nothing */
    walk_back(c, &back);
    expect_mirror(&all, &back);
    u9_cursor_close(c);
    if (all.count > 0) expect_range(handle, &back, &all.all[draw((unsigned)all.count)]);
    close_log(handle);
    drop_events(&on);
    drop_events(&back);
    drop_events(&all);
}

/* Who has no callback is told of each damage by a step, and may turn round at any. */
static void expect_both_ways_aloud(const char *log)
{
    events all = {0}, told = {0};
    u9_log *handle = open_reader(log);
    u9_cursor *c = open_cursor(handle);
    while (step_once(c, false, &all) != U9_END) continue;
    for (unsigned i = 0; i < 2; i++) {
        send_to(c, (u9_seek){.kind = U9_SEEK_START});
        stagger(c, &told, &all);
    }
    u9_cursor_close(c);
    close_log(handle);
    drop_events(&told);
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
    expect_both_ways(whole, true);
    for (unsigned round = 0; round < rounds_of(60); round++) {
        srand(seed + round);
        remove_log(log);
        copy_log(whole, log);
        for (unsigned n = draw(5) + 1; n > 0; n--) damage_once(log);
        mends = round % 30 == 3;
        if (!opens(log)) continue;
        expect_both_ways(log, true);
        if (round % 2) expect_both_ways_aloud(log);
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

/* Under an open cursor, which goes anywhere: what it shows is what was written. */
START_TEST(whatever_changes_under_a_cursor_it_shows_nothing_that_is_not_so)
{
    static void (*const makes[])(const char *) = {make_rolled, make_unclosed, make_forged};
    events truth = {0}, told = {0};
    makes[_i](at("whole"));
    u9_log *handle = open_noting(at("whole"), &truth);
    u9_cursor *c = open_cursor(handle);
    walk_on(c, &truth);
    u9_cursor_close(c);
    close_log(handle);
    for (unsigned round = 0; round < rounds_of(20); round++) {
        srand(7000 + round);
        remove_log(at("log"));
        copy_log(at("whole"), at("log"));
        mends = round % 30 == 3;
        handle = open_mending(at("log"), &told, U9_VERIFY_ALWAYS);
        c = open_cursor(handle);
        for (unsigned turn = 0; turn < 12; turn++) {
            const event *e = &truth.all[draw((unsigned)truth.count)];
            u9_record r;
            u9_err err = U9_OK;
            bool back = draw(2);
            if (draw(2)) damage_once(at("log"));
            if (draw(5) == 0) (void)!u9_cursor_seek(c, &(u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_START + draw(2)});
            if (draw(5) == 0) (void)!u9_cursor_seek(c, &(u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_ORDINAL, .number = e->ordinal});
            for (unsigned steps = draw(40); steps > 0 && err != U9_END; steps--) {
                told.count = 0;
                err = back ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r);
                MUST(err == U9_OK || err == U9_END || err == U9_CORRUPT || err == U9_IO);
                if (err != U9_OK) continue;
                note_record_event(&told, &r);
                const event *shown = &told.all[told.count - 1], *was = &truth.all[first_at(&truth, false, r.ordinal)];
                MUST_SAY(was < truth.all + truth.count && was->ordinal == r.ordinal && was->hash == shown->hash, "round %u: %s, not %s", round, event_text(shown), event_text(was));
            }
        }
        u9_cursor_close(c);
        close_log(handle);
    }
    drop_events(&told);
    drop_events(&truth);
}
END_TEST

/* */
START_TEST(the_same_of_a_file_of_more_frames_than_are_kept_in_mind)
{
    make_plain_of_many(at("log"));
    expect_both_ways(at("log"), true);
}
END_TEST

/* [Q-1] [M-4] */
START_TEST(the_same_of_a_log_with_the_mark_of_a_copy_that_went_on)
{
    same_size = _i % 2;
    closes = _i / 2;
    expect_both_ways_damaged(make_marked_otherwise, 5000);
}
END_TEST

/* [Q-1] [F-9] */
START_TEST(the_same_of_frames_that_say_of_each_other_what_is_not_so)
{
    for (unsigned round = 0; round < rounds_of(120); round++) {
        srand(6000 + round);
        remove_log(at("log"));
        forge_lying(at("log"));
        if (opens(at("log"))) expect_both_ways(at("log"), false);
    }
}
END_TEST

/* A handle and what was opened on it. */
typedef struct opened {
    u9_log *log;
    u9_cursor *cursor;
    u9_reading *reading;
    u9_record record;
    u9_split_range *plan;
} opened;

static opened open_all(const char *log)
{
    opened o = {.log = open_reader(log)};
    u9_record r;
    size_t count;
    o.cursor = open_cursor(o.log);
    ck_assert_int_eq(u9_cursor_follow(o.cursor, U9_SHOW_DURABLE), U9_OK);
    ck_assert_int_eq(u9_cursor_next(o.cursor, &r), U9_OK);
    o.record = (u9_record){.ordinal = r.ordinal, .segment = r.segment, .frame = r.frame, .at = r.at, .size = r.size};
    ck_assert_int_eq(u9_record_open(o.log, &r, &o.reading, NULL), U9_OK);
    ck_assert_int_eq(u9_log_split(o.log, 2, 0, &o.plan, &count, NULL), U9_OK);
    return o;
}

static void close_all(opened *o)
{
    u9_split_free(o->plan);
    u9_record_close(o->reading);
    u9_cursor_close(o->cursor);
    close_log(o->log);
}

static int count_version(void *ctx, const u9_record *r)
{
    (void)r;
    ++*(unsigned *)ctx;
    return 0;
}

/* What each call that reads says, of these arguments; each has its own bit in what is returned: it did not say `want`. */
static uint64_t ask_all(opened *o, u9_err want)
{
    static uint8_t buf[4096];
    char text[U9_CURSOR_TEXT_SIZE];
    u9_record r;
    u9_cursor *c = NULL;
    u9_reading *reading = NULL;
    u9_split_range *plan = NULL;
    u9_tally tally = {0};
    size_t got;
    unsigned count = 0;
    uint64_t number = 0;
    u9_key key = {.data = "sixteen bytes...", .size = 16};
    u9_lookup many = {.key = key, .buf = buf, .cap = sizeof buf};
    u9_bounds bounds = {.size = sizeof bounds, .to = 3, .until_us = U9_NOWHERE};
    u9_seek start = {.size = sizeof start, .kind = U9_SEEK_START};
    u9_trim trim = {.size = sizeof trim, .dry_run = 1, .before_key = key};
    u9_trimmed trimmed = {.size = sizeof trimmed};
    events told = {0};
    const u9_err says[] = {
        u9_cursor_next(o->cursor, &r), u9_cursor_prev(o->cursor, &r), u9_cursor_seek(o->cursor, &start),
        u9_cursor_within(o->cursor, &bounds), u9_cursor_bisect(o->cursor, is_from, &number),
        u9_cursor_save(o->cursor, text, sizeof text), u9_cursor_follow(o->cursor, U9_SHOW_WRITTEN),
        u9_cursor_wait(o->cursor, 0), u9_cursor_open(o->log, NULL, &c, NULL), u9_log_seek(o->log, &start, &c, NULL),
        u9_range_open(o->log, o->plan, &c, NULL), u9_log_split(o->log, 3, 0, &plan, &got, NULL),
        u9_record_open(o->log, &o->record, &reading, NULL), u9_record_read(o->reading, 0, buf, 1, &got, NULL),
        u9_tally_record(&tally, o->log, &o->record, NULL), u9_log_get(o->log, &key, buf, sizeof buf, &r, NULL),
        u9_log_get_many(o->log, &many, 1, NULL), u9_log_versions(o->log, &key, count_version, &count, NULL),
        u9_log_damages(o->log, note_damage_event, &told, NULL), u9_log_trim(o->log, &trim, &trimmed, NULL),
    };
    uint64_t wrong = u9_cursor_event_fd(o->cursor) >= 0;
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) wrong |= (uint64_t)(says[i] != want) << (i + 1);
    return wrong | (c != NULL || reading != NULL || plan != NULL || count > 0 || told.count > 0) * (UINT64_C(1) << 40);
}

/* It may close what it inherited, and nothing else. */
START_TEST(a_child_is_refused_by_each_call_that_reads)
{
    make_rolled(at("log"));
    opened o = open_all(at("log"));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        uint64_t wrong = ask_all(&o, U9_STATE);
        if (wrong) dprintf(2, "child: %llx\n", (unsigned long long)wrong);
        u9_record_close(o.reading);
        u9_cursor_close(o.cursor);
        _exit(wrong != 0 || u9_log_close(o.log, NULL) != U9_OK);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    u9_record r;
    ck_assert_int_eq(u9_cursor_next(o.cursor, &r), U9_OK);
    ck_assert_uint_eq(r.ordinal, 1);
    close_all(&o);
}
END_TEST

START_TEST(what_is_not_there_is_refused_by_each_call_that_reads)
{
    opened none = {.log = NULL};
    ck_assert_uint_eq(ask_all(&none, U9_ARG), 0);
    make_rolled(at("log"));
    opened o = open_all(at("log"));
    u9_key key = {.data = "sixteen bytes...", .size = 16}, no_key = {.size = 16};
    u9_record r;
    u9_fault fault;
    size_t got;
    u9_cursor *c;
    u9_tally tally = {0};
    u9_trim trim = {.size = sizeof trim, .dry_run = 1};
    u9_trimmed trimmed = {.size = sizeof trimmed};
    const u9_err says[] = {
        u9_cursor_next(o.cursor, NULL), u9_cursor_prev(o.cursor, NULL), u9_cursor_save(o.cursor, NULL, 0),
        u9_cursor_open(o.log, NULL, NULL, NULL), u9_range_open(o.log, NULL, &c, NULL), u9_range_open(o.log, o.plan, NULL, NULL),
        u9_log_split(o.log, 1, 0, NULL, &got, NULL), u9_log_split(o.log, 1, 0, &o.plan, NULL, NULL),
        u9_record_open(o.log, NULL, &o.reading, NULL), u9_record_open(o.log, &r, NULL, NULL),
        u9_record_read(o.reading, 0, NULL, 1, &got, NULL), u9_record_read(o.reading, 0, &r, 1, NULL, NULL),
        u9_tally_record(NULL, o.log, &r, NULL), u9_tally_record(&tally, o.log, NULL, NULL),
        u9_log_get(o.log, &key, NULL, 1, &r, NULL), u9_log_get(o.log, &key, NULL, 0, NULL, NULL),
        u9_log_get(o.log, NULL, &tally, 1, &r, NULL), u9_log_get(o.log, &no_key, &tally, 1, &r, NULL),
        u9_log_get_many(o.log, NULL, 1, NULL), u9_log_versions(o.log, &key, NULL, NULL, NULL),
        u9_log_damages(o.log, NULL, NULL, NULL), u9_log_trim(o.log, NULL, &trimmed, NULL), u9_log_trim(o.log, &trim, NULL, NULL),
    };
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) ck_assert_msg(says[i] == U9_ARG, "%zu: %s", i, u9_err_name(says[i]));
    ck_assert_int_eq(u9_log_get_many(o.log, NULL, 0, NULL), U9_OK);
    ck_assert_int_eq(u9_record_read(o.reading, 0, NULL, 0, &got, NULL), U9_OK);
    ck_assert_uint_eq(got, 0);
    trim.dry_run = 0;
    ck_assert_int_eq(u9_log_trim(o.log, &trim, &trimmed, NULL), U9_STATE); /* of a reader */
    ck_assert_ptr_null(u9_cursor_damage(NULL));
    u9_cursor_fault(NULL, &fault);
    ck_assert_int_eq(fault.err, U9_ARG);
    u9_cursor_fault(o.cursor, NULL);
    u9_cursor_close(NULL);
    u9_record_close(NULL);
    close_all(&o);
}
END_TEST

/* [B-6] A place that nobody was shown, or of which something else was said. */
START_TEST(a_record_is_opened_where_it_stands_and_nowhere_else)
{
    make_rolled(at("log"));
    opened o = open_all(at("log"));
    const u9_record right = o.record;
    const struct {
        int64_t segment, frame, at, size;
        u9_err err;
    } rows[] = {{0, 0, 0, 0, U9_OK}, {0, 0, 0, 1, U9_CORRUPT}, {0, 0, 1, 0, U9_CORRUPT}, {0, 0, 9999999, 0, U9_CORRUPT}, {0, 16, 0, 0, U9_CORRUPT},
                {0, 1, 0, 0, U9_CORRUPT}, {0, INT64_C(1) << 40, 0, 0, U9_CORRUPT}, {0, -1000000, 0, 0, U9_CORRUPT}, {4711, 0, 0, 0, U9_ABSENT},
                {0, 32 - (int64_t)right.frame, 0, 0, U9_CORRUPT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        u9_reading *reading;
        u9_fault fault = {.text = ""};
        u9_record r = {.segment = right.segment + (uint64_t)rows[i].segment, .frame = right.frame + (uint64_t)rows[i].frame,
                       .at = right.at + (uint64_t)rows[i].at, .size = right.size + (size_t)rows[i].size};
        u9_err err = u9_record_open(o.log, &r, &reading, &fault);
        ck_assert_msg(err == rows[i].err, "%zu: %s %s", i, u9_err_name(err), fault.text);
        if (err == U9_OK) u9_record_close(reading);
        else ck_assert_int_eq(fault.err, err);
    }
    close_all(&o);
}
END_TEST

/* [C-6] [B-6] Whatever its parts say of each other: what is handed out of a record is what its parts hold there. */
START_TEST(parts_that_lie_are_refused_or_read_as_they_are)
{
    enum { PARTS = 6, SIZE = 400 };
    const unsigned rows = sim_is_away() ? thorough(50, 300) : 300;
    static uint8_t truth[PARTS * SIZE + 100], text[PARTS * SIZE];
    unsigned whole = 0, refused = 0;
    srand(8000);
    memset(text, 'p', sizeof text);
    for (unsigned row = 0; row < rows; row++) {
        forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        unsigned parts = 2 + draw(PARTS - 1), bent = draw(parts * 2); /* one that lies, or none */
        size_t size = record_bytes(truth, row, text, parts * SIZE - 40 - draw(100)), step = size / parts;
        uint64_t before = 0, last = 0;
        bool short_one = false;
        for (unsigned i = 0; i < parts; i++) {
            u9i_part_record p = {.number = i, .total = size, .before = before,
                                 .bytes = {truth + i * step, i + 1 < parts ? step : size - i * step}};
            bool is_last = i + 1 == parts;
            unsigned how = draw(7);
            if (i == bent && how == 0) p.number += draw(2) ? 1 : UINT32_MAX;
            if (i == bent && how == 1) p.total += draw(2) ? 1 : UINT64_MAX;
            if (i == bent && how == 2) p.before = draw(3) ? before + 16 : 0;
            if (i == bent && how == 3) p.bytes.size--, short_one = true;
            if (i == bent && how == 4) p.before = UINT64_MAX - 15;
            if (i == bent && how == 5 && !is_last) forge_records(&f, "between", 1);
            if (i == bent && how == 6 && !is_last) continue; /* it is not there */
            last = before = forge_part(&f, &p, is_last);
        }
        forge_end(&f, U9I_END_CLOSING);
        remove_log(at("log"));
        forge_save(&f, at("log"));
        forge_free(&f);
        u9_log *log = open_reader(at("log"));
        u9_record r = {.segment = 1, .frame = last, .at = last / 16 << 24, .size = size};
        u9_reading *reading = NULL;
        u9_err err = u9_record_open(log, &r, &reading, NULL);
        for (unsigned n = 0; n < 6 && err == U9_OK; n++) {
            static uint8_t got[sizeof truth];
            uint64_t offset = draw((unsigned)size);
            size_t count, want = draw((unsigned)sizeof got);
            err = u9_record_read(reading, offset, got, want, &count, NULL);
            MUST(err == U9_OK || err == U9_CORRUPT);
            if (!short_one) MUST(count <= size - offset && memcmp(got, truth + offset, count) == 0);
            if (err == U9_OK) MUST(count == (want < size - offset ? want : size - offset));
        }
        MUST(err == U9_OK || err == U9_CORRUPT);
        whole += err == U9_OK;
        refused += err != U9_OK;
        if (bent >= parts) MUST(err == U9_OK);
        u9_record_close(reading);
        close_log(log);
    }
    ck_assert_uint_gt(whole, rows / 4);
    ck_assert_uint_gt(refused, rows / 8);
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
    tcase_add_test(tc, a_child_is_refused_by_each_call_that_reads);
    tcase_add_test(tc, what_is_not_there_is_refused_by_each_call_that_reads);
    tcase_add_test(tc, a_record_is_opened_where_it_stands_and_nowhere_else);
    tcase_add_test(tc, parts_that_lie_are_refused_or_read_as_they_are);
    tcase_add_test(tc, the_same_of_plain_seed_files);
    tcase_add_loop_test(tc, whatever_changes_under_a_cursor_it_shows_nothing_that_is_not_so, 0, 3);
    tcase_add_test(tc, the_same_of_a_file_of_more_frames_than_are_kept_in_mind);
    tcase_add_loop_test(tc, the_same_of_a_log_with_the_mark_of_a_copy_that_went_on, 0, 4);
    tcase_add_test(tc, the_same_of_frames_that_say_of_each_other_what_is_not_so);
    suite_add_tcase(suite, tc);
    return suite;
}
