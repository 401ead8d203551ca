/*
 * tests/engine/read/test_follow.c: waiting at the end of a log for more: what is shown beside a writer, and when; that
 * nothing is missed or shown twice whatever happens to the log meanwhile. [M-10]
 *
 * In the simulated world a wait lets tasks run and time pass, so a test waits for an hour and is done at once.
 */
#include "tests/engine/log/trimmed.h"
#include "tests/engine/scarce.h"
#include "tests/plain_file.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include "engine/log/live.h"

#include <u9/lookup.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOUR_MS = 3600000, PIECE = 400000 };

typedef struct following {
    u9_log *log;
    u9_cursor *cursor;
    uint64_t next; /* the ordinal that is to come */
} following;

static following follow_on(u9_log *log, u9_shown shows)
{
    following f = {.log = log};
    ck_assert_int_eq(u9_cursor_open(log, NULL, &f.cursor, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_follow(f.cursor, shows), U9_OK);
    return f;
}

static following follow(const char *log)
{
    return follow_on(open_reader(log), U9_SHOW_DURABLE);
}

static void stop(following *f)
{
    u9_cursor_close(f->cursor);
    close_log(f->log);
}

/* Takes what there is, in order, each once; returns how many. */
static unsigned take(following *f)
{
    u9_record r;
    u9_err err;
    unsigned n = 0;
    while ((err = u9_cursor_next(f->cursor, &r)) == U9_OK) {
        ck_assert_uint_eq(r.ordinal, f->next);
        f->next++;
        n++;
    }
    u9_fault fault;
    u9_cursor_fault(f->cursor, &fault);
    ck_assert_msg(err == U9_END, "%s: %s", u9_err_name(err), fault.text);
    return n;
}

/* Waits until record number `last` has come. */
static void take_up_to(following *f, uint64_t last)
{
    while (f->next <= last)
        if (take(f) == 0) ck_assert_int_eq(u9_cursor_wait(f->cursor, HOUR_MS), U9_OK);
    ck_assert_uint_eq(f->next, last + 1);
}

/* Takes up to record number `last`: from files at once, in a store as it is told [RD-9]. */
static void take_told(following *f, uint64_t last)
{
    if (sim_is_away()) take_up_to(f, last);
    else (void)take(f);
    ck_assert_uint_eq(f->next, last + 1);
}

static void commit_text(u9_log *w, const char *text)
{
    append_text(w, text);
    ck_assert_int_eq(u9_log_sync(w), U9_OK); /* under any policy */
}

START_TEST(what_was_committed_is_shown_by_the_next_call) /* [M-10] */
{
    u9_log *w = open_writer(at("log"), NULL);
    following f = follow(at("log"));
    ck_assert_uint_eq(take(&f), 0);
    for (unsigned i = 0; i < 20; i++) {
        commit_text(w, "a");
        ck_assert_int_eq(u9_cursor_wait(f.cursor, sim_is_away() ? 8000 : 0), U9_OK); /* in a store: when it is told [RD-9] */
        ck_assert_uint_eq(take(&f), 1);
        ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_AGAIN);
    }
    stop(&f);
    close_log(w);
}
END_TEST

START_TEST(a_wait_without_news_is_over_when_its_time_is)
{
    session(at("log"), "r", 3, 0);
    following f = follow(at("log"));
    ck_assert_uint_eq(take(&f), 3);
    uint64_t began = u9i_monotonic_us(sim_env());
    ck_assert_int_eq(u9_cursor_wait(f.cursor, 5000), U9_AGAIN);
    uint64_t took = u9i_monotonic_us(sim_env()) - began;
    ck_assert_uint_ge(took, 5000000);
    ck_assert_uint_le(took, 5001000);
    ck_assert_uint_eq(take(&f), 0);
    stop(&f);
}
END_TEST

/* Also who began before the first promise was written, by which the file is another to who looks at it from outside. */
START_TEST(who_waits_beside_a_writer_that_rests_is_told_that_the_time_is_over)
{
    u9_log *w = open_writer(at("log"), NULL);
    commit_text(w, "a");
    following f = follow(at("log"));
    take_up_to(&f, 0);
    unsigned woken = 0;
    for (unsigned i = 0; i < (sim_is_away() ? 6 : 30); i++) { /* in a store by the clock of the wall */
        u9_err err = u9_cursor_wait(f.cursor, i % 2 ? 1500 : 300);
        ck_assert(err == U9_OK || err == U9_AGAIN);
        woken += err == U9_OK;
        ck_assert_uint_eq(take(&f), 0);
    }
    ck_assert_uint_le(woken, 4); /* by the promise, at most */
    commit_text(w, "b");
    take_up_to(&f, 1);
    stop(&f);
    close_log(w);
}
END_TEST

START_TEST(a_cursor_that_came_to_the_end_waits_from_there)
{
    u9_log *w = open_writer(at("log"), NULL);
    for (unsigned i = 0; i < 10; i++) commit_text(w, "a");
    if (_i == 1) close_log(w);
    following f = {.log = open_reader(at("log"))};
    ck_assert_int_eq(u9_cursor_open(f.log, NULL, &f.cursor, NULL), U9_OK);
    ck_assert_uint_eq(take(&f), 10);
    if (_i == 1) w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_cursor_wait(f.cursor, 0) == U9_AGAIN || take(&f) == 0, 1);
    for (unsigned i = 10; i < 20; i++) {
        commit_text(w, "b");
        take_up_to(&f, i);
    }
    close_log(w);
    stop(&f);
}
END_TEST

/* A writer that commits a record each time that its task runs. */
typedef struct ticking {
    u9i_task task;
    u9_log *log;
    unsigned left;
} ticking;

static void append_one(void *ctx)
{
    ticking *t = ctx;
    commit_text(t->log, "tick");
    if (--t->left > 0) u9i_task_submit(sim_env(), &t->task, u9i_monotonic_us(sim_env()) + 20000);
}

START_TEST(who_waits_is_woken_by_each_commit) /* [M-10] */
{
    ticking t = {.task = {.run = append_one, .ctx = &t}, .log = open_writer(at("log"), NULL), .left = 10};
    following f = follow(at("log"));
    ck_assert_uint_eq(take(&f), 0);
    u9i_task_submit(sim_env(), &t.task, u9i_monotonic_us(sim_env()) + 20000);
    for (unsigned i = 0; i < 10; i++) {
        while (take(&f) == 0) ck_assert_int_eq(u9_cursor_wait(f.cursor, HOUR_MS), U9_OK);
        ck_assert_uint_eq(f.next, i + 1); /* one by one: nothing waits for the next one */
    }
    u9i_task_finish(sim_env(), &t.task);
    stop(&f);
    close_log(t.log);
}
END_TEST

START_TEST(who_waits_without_memory_is_told_so)
{
    unsigned told = 0;
    session(at("log"), "r", 3, 1);
    for (unsigned nth = 1; nth <= 4; nth++) {
        u9_log *r = open_reader(at("log"));
        u9_cursor *c;
        u9_record record;
        u9_fault fault = {.err = U9_OK};
        ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
        ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_WRITTEN), U9_OK);
        while (u9_cursor_next(c, &record) == U9_OK) continue;
        scarce_begin(SCARCE_MEMORY, nth, 0, false);
        u9_err err = u9_cursor_wait(c, 1);
        bool failed = scarce_end(NULL) > 0;
        u9_cursor_fault(c, &fault);
        ck_assert_msg(err == U9_AGAIN || (failed && err == U9_NOMEM && fault.err == U9_NOMEM), "%s: %s", u9_err_name(err), fault.text);
        told += err == U9_NOMEM;
        ck_assert_int_eq(u9_cursor_wait(c, 1), U9_AGAIN);
        u9_cursor_close(c);
        close_log(r);
    }
    ck_assert_uint_gt(told, 0);
}
END_TEST


/* A writer that makes nothing durable by itself. */
static u9_log *open_careless(void)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    sim_needed("a second that does not end");
    sim_task_chance(0);
    return open_writer(at("log"), &o);
}

static void append_pieces(u9_log *w, unsigned count)
{
    static uint8_t piece[PIECE];
    for (unsigned i = 0; i < count; i++) append_bytes(w, piece, sizeof piece);
}

START_TEST(what_is_written_and_not_durable_is_shown_to_who_asked_for_it_only) /* [M-10] */
{
    u9_log *w = open_careless();
    following durable = follow(at("log")), written = follow_on(open_reader(at("log")), U9_SHOW_WRITTEN);
    append_pieces(w, 20);
    ck_assert_uint_eq(u9_log_durable(w), 0);
    ck_assert_uint_eq(take(&durable), 0);
    ck_assert_int_eq(u9_cursor_wait(durable.cursor, 0), U9_AGAIN);
    ck_assert_uint_gt(take(&written), 0);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&durable, 19);
    take_up_to(&written, 19);
    stop(&durable);
    stop(&written);
    close_log(w);
}
END_TEST

/* What is written one cursor of a handle has read: the other one comes to it, and holds it back. */
START_TEST(what_another_cursor_of_the_handle_has_read_is_held_back_until_it_is_durable) /* [M-10] */
{
    u9_record r;
    u9_log *w = open_careless();
    commit_text(w, "first");
    append_fillers(w, 600);
    following f = follow(at("log")), written = follow_on(f.log, U9_SHOW_WRITTEN);
    ck_assert_uint_gt(take(&written), 100);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(take(&f), 1);
        ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_AGAIN);
        if (_i == 0) break;
        ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_OK); /* back from there, and on again */
        ck_assert_uint_eq(r.ordinal, --f.next);
        if (i == 1) ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_OK);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, 600);
    u9_cursor_close(written.cursor);
    stop(&f);
    close_log(w);
}
END_TEST

START_TEST(nothing_is_shown_that_is_not_durable_also_where_the_cursor_begins) /* [M-10] */
{
    u9_log *w = open_careless();
    commit_text(w, "first");
    append_pieces(w, 20);
    following f = follow(at("log"));
    take_up_to(&f, 0);
    ck_assert_uint_eq(take(&f), 0);
    for (unsigned i = 0; i < 2; i++) { /* nor on the way back, and on from there */
        u9_record r;
        ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, f.next = 0);
        ck_assert_uint_eq(take(&f), 1);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, 20);
    stop(&f);
    close_log(w);
}
END_TEST

/* What is durable may end with a block, where the next frame begins: that one is not durable by it. */
START_TEST(a_frame_that_begins_where_what_is_durable_ends_is_not_shown) /* [M-10] */
{
    static uint8_t bytes[4096];
    bool met = false;
    for (size_t size = 3872; size < 3968; size += 16) {
        u9_log *w = open_careless();
        append_bytes(w, bytes, size);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        seen_frame frames[2];
        size_t all;
        uint8_t *file = read_file(segment_path(at("log"), 1), &all);
        ck_assert_uint_eq(list_frames(file, all, frames, 2), 2);
        free(file);
        met |= frames[1].end % 4096 == 0;
        append_pieces(w, 20);
        following f = follow(at("log"));
        take_up_to(&f, 0);
        ck_assert_uint_eq(take(&f), 0);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        take_up_to(&f, 20);
        stop(&f);
        close_log(w);
        remove_log(at("log"));
    }
    ck_assert(met);
}
END_TEST

START_TEST(a_follower_goes_over_rolls) /* [S-6] */
{
    u9_log *w = open_rolling(at("log"));
    following f = follow(at("log"));
    for (unsigned i = 0; i < TRIM_RECORDS; i++) {
        append_fillers(w, 1);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        if (_i == 0 || i % 13 == 12) take_up_to(&f, i);
    }
    take_up_to(&f, TRIM_RECORDS - 1);
    ck_assert_uint_ge(segments_in(at("log")), 4);
    close_log(w);
    while (u9_cursor_wait(f.cursor, 100) == U9_OK) ck_assert_uint_eq(take(&f), 0); /* a promise, a u9end */
    stop(&f);
}
END_TEST

/* Who sees what is written reads the promise and the seal of a segment before its end, which is in front of them, is named. */
START_TEST(what_a_roll_leaves_behind_the_data_is_no_damage_to_who_read_it_first) /* [S-6] [M-10] */
{
    srand((unsigned)_i + 1);
    u9_log *w = open_rolling(at("log"));
    following f = follow_on(w, U9_SHOW_WRITTEN);
    while (u9_log_next(w) < TRIM_RECORDS) {
        append_fillers(w, 1 + (unsigned)rand() % 4);
        (void)take(&f);
        if (rand() % 3 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        if (rand() % 3 == 0) (void)take(&f);
    }
    take_up_to(&f, u9_log_next(w) - 1);
    u9_cursor_close(f.cursor);
    close_log(w);
}
END_TEST

START_TEST(a_follower_goes_on_in_the_next_session_wherever_that_begins) /* [S-5] */
{
    following f = {0};
    for (unsigned i = 0; i < 6; i++) {
        u9_log *w = open_writer(at("log"), NULL);
        if (i == 0) f = follow(at("log"));
        commit_text(w, "a");
        if (i % 2 == 0) take_up_to(&f, 2 * i);
        commit_text(w, "b");
        close_log(w);
        if (i % 3 != 1) take_up_to(&f, 2 * i + 1);
    }
    take_up_to(&f, 11);
    stop(&f);
}
END_TEST

START_TEST(a_follower_in_the_writers_process_sees_what_is_durable) /* [M-10] */
{
    static uint8_t piece[PIECE];
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    o.segment_size = 1 << 20;
    session(at("log"), "before", 5, 0);
    u9_log *w = open_writer(at("log"), &o);
    following f = follow_on(w, U9_SHOW_DURABLE);
    take_up_to(&f, 4);
    for (unsigned i = 5; i < 25; i++) {
        append_bytes(w, piece, sizeof piece);
        if (i % 4 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        (void)take(&f);
        ck_assert_uint_le(f.next, i < 5 ? 5 : u9_log_durable(w));
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, 24);
    u9_cursor_close(f.cursor);
    close_log(w);
}
END_TEST

/* Also where a file has begun, and nothing of it is durable, nor its name. */
START_TEST(a_follower_in_the_writers_process_sees_no_more_where_a_file_begins) /* [M-10] [W-4] */
{
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    sim_task_chance(0);
    u9_log *w = open_writer(at("log"), &o);
    following f = follow_on(w, U9_SHOW_DURABLE);
    for (unsigned i = 0; i < 400; i++) {
        append_fillers(w, 1);
        (void)take(&f);
        ck_assert_uint_le(f.next, u9_log_durable(w));
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, 399);
    u9_cursor_close(f.cursor);
    close_log(w);
}
END_TEST

/* The files of a log, to be put back: so a session ends as by a kill, and they stay the ones that they are. */
typedef struct kept_files {
    char **names;
    uint8_t **bytes;
    size_t *sizes, *used, count; /* there are zeros behind what is used of one */
} kept_files;

/* But those that nobody writes any more: segments with another behind them. */
static void leave_out_older(kept_files *k)
{
    size_t n = 0;
    const char *newest = "";
    for (size_t i = 0; i < k->count; i++)
        if (k->names[i][0] != '.' && strcmp(k->names[i], newest) > 0) newest = k->names[i];
    for (size_t i = 0; i < k->count; i++) {
        if (k->names[i][0] != '.' && k->names[i] != newest) free(k->names[i]);
        else k->names[n++] = k->names[i];
    }
    k->count = n;
}

static kept_files keep_files(const char *log)
{
    kept_files k;
    k.names = list_names(log, &k.count);
    leave_out_older(&k);
    k.bytes = calloc(k.count, sizeof *k.bytes);
    k.sizes = calloc(k.count, sizeof *k.sizes);
    k.used = calloc(k.count, sizeof *k.used);
    for (size_t i = 0; i < k.count; i++) {
        k.bytes[i] = read_file(file_in(log, k.names[i]), &k.sizes[i]);
        for (k.used[i] = k.sizes[i]; k.used[i] > 0 && k.bytes[i][k.used[i] - 1] == 0;) k.used[i]--;
    }
    return k;
}

static void put_back(kept_files *k, const char *log)
{
    for (size_t i = 0; i < k->count; i++) {
        cut_file(file_in(log, k->names[i]), 0);
        put_bytes(file_in(log, k->names[i]), 0, k->bytes[i], k->used[i]);
        cut_file(file_in(log, k->names[i]), k->sizes[i]);
        free(k->names[i]);
        free(k->bytes[i]);
    }
    free(k->names);
    free(k->bytes);
    free(k->sizes);
    free(k->used);
}

START_TEST(a_torn_tail_is_never_handed_out_and_the_next_session_goes_on_behind_it) /* [R-6] [M-10] */
{
    static uint8_t piece[PIECE];
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    memset(piece, 'x', sizeof piece);
    sim_task_chance(0);
    u9_log *w = open_writer(at("log"), &o);
    following f = follow(at("log"));
    commit_text(w, "one");
    take_up_to(&f, 0);
    for (unsigned i = 0; i < 12; i++) append_bytes(w, piece, sizeof piece);
    ck_assert_uint_eq(take(&f), 0);
    seen_frame frames[64];
    kept_files k = keep_files(at("log"));
    close_log(w);
    put_back(&k, at("log"));
    size_t size;
    uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
    size_t n = list_frames(bytes, size, frames, 64);
    free(bytes);
    ck_assert_uint_gt(n, 2);
    fill_bytes(segment_path(at("log"), 1), frames[n - 1].offset + 8192, 65536, 0); /* it did not land as a whole */
    uint64_t there = frames[n - 1].ordinal;
    ck_assert_uint_gt(there, 1);
    take_up_to(&f, there - 1); /* nobody writes: what is whole was settled, and is shown */
    ck_assert_int_eq(u9_cursor_wait(f.cursor, 10000), U9_AGAIN);
    w = open_writer(at("log"), NULL);
    ck_assert_uint_eq(u9_log_next(w), there);
    commit_text(w, "behind");
    take_up_to(&f, there);
    close_log(w);
    stop(&f);
}
END_TEST

/* {F70} The writer dies while a follower holds back a frame that it has read, which nobody made durable. */
START_TEST(what_a_writer_left_is_settled_before_a_follower_shows_it) /* */
{
    u9_record r;
    const char *segment = segment_path(at("log"), 1);
    u9_log *w = open_careless();
    commit_text(w, "first");
    append_pieces(w, 20);
    following f = follow(at("log")), written = {.cursor = NULL};
    if (_i > 0) written = follow_on(f.log, U9_SHOW_WRITTEN);
    if (_i > 0) ck_assert_uint_gt(take(&written), 1);
    take_up_to(&f, 0);
    ck_assert_uint_eq(take(&f), 0);
    kept_files k = keep_files(at("log"));
    close_log(w);
    put_back(&k, at("log"));
    unsigned syncs = sim_count_of(SIM_EVICT, segment);
    ck_assert_int_eq(u9_cursor_wait(f.cursor, 10000), U9_OK);
    ck_assert_int_eq(u9_cursor_next(f.cursor, &r), U9_OK);
    ck_assert_uint_eq(r.ordinal, 1);
    ck_assert_uint_gt(sim_count_of(SIM_EVICT, segment), syncs);
    u9_cursor_close(written.cursor);
    stop(&f);
}
END_TEST

/* A disk that fails for a while: what was settled once, but may be another's by now, is held back, and shown once it can be. */
START_TEST(what_cannot_be_settled_is_held_back_until_it_can) /* */
{
    u9_record r;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < 3; i++) (void)forge_records(&s, "a", 2);
    forge_save(&s, at("log"));
    forge_free(&s);
    sim_fail(SIM_EVICT, 2, EIO, true);
    following f = follow(at("log"));
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(take(&f), 0);
        ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_AGAIN);
        if (i == 1) ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_END);
    }
    ck_assert_uint_gt(sim_fired(), 2);
    sim_mend();
    if (_i > 0) ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_OK);
    ck_assert_uint_eq(take(&f), 6);
    stop(&f);
}
END_TEST

START_TEST(what_was_trimmed_before_it_was_read_is_told_and_it_goes_on) /* [L-10] */
{
    make_row_of_segments(at("log"));
    following f = follow(at("log"));
    u9_record r;
    if (_i == 0) {
        take_up_to(&f, TRIM_RECORDS - 1); /* at the tip, which goes with the others */
    } else {
        ck_assert_int_eq(u9_cursor_next(f.cursor, &r), U9_OK);
        f.next = 1;
    }
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 30);
    close_log(w);
    unsigned newest = segments_in(at("log"));
    u9_trimmed t = trim_log(at("log"), below_ordinal(first_in(at("log"), newest)));
    ck_assert_uint_gt(t.ordinal, TRIM_RECORDS);
    u9_err err;
    while ((err = u9_cursor_next(f.cursor, &r)) == U9_OK) ck_assert_uint_eq(r.ordinal, f.next++);
    ck_assert_int_eq(err, U9_ABSENT);
    ck_assert_int_eq(u9_cursor_damage(f.cursor)->reason, U9_R_TRIMMED);
    ck_assert_uint_eq(u9_cursor_damage(f.cursor)->ordinal, f.next);
    ck_assert_uint_eq(u9_cursor_damage(f.cursor)->lost, t.ordinal - f.next);
    f.next = t.ordinal;
    take_up_to(&f, TRIM_RECORDS + 29);
    w = open_rolling(at("log"));
    append_fillers(w, 1);
    close_log(w);
    take_up_to(&f, TRIM_RECORDS + 30);
    stop(&f);
}
END_TEST

static const char *trimmed_meanwhile;
static unsigned fired_before;

/* A segment was gone when it was to be opened: the log is trimmed by then. */
static void trim_since(unsigned nth)
{
    (void)nth;
    if (sim_fired() == fired_before) return;
    sim_before_list(NULL);
    trim_log(trimmed_meanwhile, below_ordinal(26));
}

/* The next records, each once; what was trimmed in front of them is told, and passed over. */
static void take_past_trim(following *f, uint64_t last)
{
    while (f->next <= last) {
        u9_record r;
        u9_fault fault;
        u9_err err = u9_cursor_next(f->cursor, &r);
        u9_cursor_fault(f->cursor, &fault);
        if (err == U9_END) {
            ck_assert_int_eq(u9_cursor_wait(f->cursor, HOUR_MS), U9_OK);
        } else if (err == U9_ABSENT) {
            ck_assert_int_eq(u9_cursor_damage(f->cursor)->reason, U9_R_TRIMMED);
            ck_assert_uint_eq(u9_cursor_damage(f->cursor)->ordinal, f->next);
            f->next += u9_cursor_damage(f->cursor)->lost;
        } else {
            ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
            ck_assert_uint_eq(r.ordinal, f->next++);
        }
    }
}

/* Whichever of the times that it is opened at: the follower goes on in the log as it is by then. */
START_TEST(a_segment_that_goes_before_it_is_opened_is_one_that_was_trimmed) /* [L-10] [M-10] */
{
    unsigned trims = 0;
    trimmed_meanwhile = at("log");
    for (unsigned nth = 1, fired = 1; fired > 0; nth++) {
        u9_log *w = open_rolling(at("log"));
        append_fillers(w, 4);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        following f = follow(at("log"));
        take_up_to(&f, 3);
        append_fillers(w, TRIM_RECORDS - 4);
        close_log(w);
        fired_before = sim_fired();
        sim_aim("0000000000000001.u9");
        sim_fail(SIM_OPEN, nth, ENOENT, false);
        sim_before_list(trim_since);
        take_past_trim(&f, TRIM_RECORDS - 1);
        sim_before_list(NULL);
        fired = sim_fired() - fired_before;
        sim_mend();
        sim_aim(NULL);
        trims += !exists(segment_path(at("log"), 1));
        stop(&f);
        remove_log(at("log"));
        ck_assert_uint_lt(nth, 20);
    }
    ck_assert_uint_gt(trims, 0);
}
END_TEST

/* What the log says is trimmed, and was not removed yet, is shown: none is told of that stands. */
START_TEST(what_a_trim_did_not_come_to_remove_is_shown) /* [L-10] [M-10] */
{
    u9_fault fault;
    u9_trimmed t = {.size = sizeof t};
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 4);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    following f = follow(at("log"));
    append_fillers(w, TRIM_RECORDS - 4);
    close_log(w);
    u9_trim what = below_ordinal(first_in(at("log"), 4));
    w = open_rolling(at("log"));
    sim_fail(SIM_REMOVE, 2, EPERM, true);
    ck_assert_int_eq(u9_log_trim(w, &what, &t, &fault), U9_IO);
    sim_mend();
    close_log(w);
    ck_assert(!exists(segment_path(at("log"), 1)) && exists(segment_path(at("log"), 2)));
    take_past_trim(&f, TRIM_RECORDS - 1);
    stop(&f);
}
END_TEST

START_TEST(segments_that_were_read_are_trimmed_without_a_word) /* [L-10] */
{
    u9_log *w = open_rolling(at("log"));
    following f = follow(at("log"));
    append_fillers(w, TRIM_RECORDS);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, TRIM_RECORDS - 1);
    (void)trim_on(w, below_ordinal(TRIM_RECORDS));
    append_fillers(w, 10);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, TRIM_RECORDS + 9);
    close_log(w);
    stop(&f);
}
END_TEST

/* Puts this into the place of what the writer posted. */
static void post(const char *log, const void *bytes, size_t size)
{
    u9i_dir *dir;
    ck_assert_int_eq(u9i_dir_open(sim_env(), log, false, &dir), 0);
    ck_assert_int_eq(u9i_dir_post(dir, u9i_live_name, bytes, size), 0);
    u9i_dir_close(dir);
}

START_TEST(where_the_writer_posts_nothing_the_mark_says_it_within_a_second) /* [M-5] [M-10] */
{
    u9_log *w = open_writer(at("log"), NULL);
    following f = follow(at("log"));
    for (unsigned i = 0; i < 5; i++) {
        commit_text(w, "a");
        post(at("log"), "no post", 8);
        take_up_to(&f, i);
    }
    uint64_t began = u9i_monotonic_us(sim_env());
    commit_text(w, "b");
    post(at("log"), "no post", 8);
    take_up_to(&f, 5);
    ck_assert_uint_le(u9i_monotonic_us(sim_env()) - began, 2100000);
    stop(&f);
    close_log(w);
}
END_TEST

/* Who looks at each call of the writer. */
static struct {
    u9_log *writer;
    u9i_dir *dir;
    uint8_t post[U9I_LIVE_SIZE];
    uint64_t seen; /* so many records are durable by that */
    unsigned moves;
} onlooker;

/* What the writer's handle tells to be durable was posted before. */
static void look_over(sim_kind kind)
{
    uint8_t bytes[U9I_LIVE_SIZE];
    (void)kind;
    uint64_t durable = onlooker.writer ? u9_log_durable(onlooker.writer) : 0;
    if (durable <= onlooker.seen) return;
    size_t got = 0;
    ck_assert_int_eq(u9i_dir_posted(onlooker.dir, u9i_live_name, bytes, sizeof bytes, &got), 0);
    ck_assert_msg(got == sizeof bytes && memcmp(bytes, onlooker.post, got) != 0, "record %llu", (unsigned long long)durable - 1);
    memcpy(onlooker.post, bytes, sizeof bytes);
    onlooker.seen = durable;
    onlooker.moves++;
}

static void look_over_told(void *ctx, uint64_t durable)
{
    (void)ctx;
    if (onlooker.writer) ck_assert_uint_ge(u9_log_durable(onlooker.writer), durable);
    look_over(SIM_ANY);
}

START_TEST(what_a_writer_says_is_durable_was_posted) /* [M-10] also where it goes over to another file */
{
    static uint8_t value[255] = {0x1c, 253}; /* bytes */
    u9_options o = small_options();
    o.segment_size = 1 << 20;
    if (_i % 2) o.policy = U9_POLICY_NONE;
    o.on_durable = look_over_told;
    sim_set_order(_i / 2 ? SIM_LATE : SIM_PROMPT);
    memset(&onlooker, 0, sizeof onlooker);
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_int_eq(u9i_dir_open(sim_env(), at("log"), false, &onlooker.dir), 0);
    sim_before_call(look_over);
    onlooker.writer = w;
    for (unsigned i = 1; i < 20000; i++) {
        ck_assert_int_eq(u9_log_append(w, NULL, value, sizeof value, NULL), U9_OK);
        if (i % 6000 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    onlooker.writer = NULL;
    sim_before_call(NULL);
    u9i_dir_close(onlooker.dir);
    ck_assert_uint_ge(onlooker.moves, 4 + segments_in(at("log")) / 2); /* most rolls, and four syncs */
    close_log(w);
}
END_TEST

static unsigned count_shown(u9_log *log)
{
    u9_cursor *c;
    u9_record r;
    unsigned n = 0;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    while (u9_cursor_next(c, &r) == U9_OK) n++;
    u9_cursor_close(c);
    return n;
}

/* A file that is written past the page cache is another to who looks at it from outside when a write begins; its bytes come later. */
START_TEST(what_comes_to_a_file_that_seems_unchanged_is_seen_when_it_is_posted) /* [M-10] */
{
    static uint8_t bytes[65536], none[65536], buf[64];
    uint8_t posts[2][U9I_LIVE_SIZE];
    char path[128];
    u9_place place;
    u9_record r;
    u9i_dir *dir;
    size_t got, size = sizeof bytes; /* all that is not zero */
    for (unsigned i = 0; i < 2; i++) {
        u9_log *w = open_writer(at("log"), NULL);
        ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, &place), U9_OK);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        ck_assert_int_eq(u9i_dir_open(sim_env(), at("log"), false, &dir), 0);
        ck_assert_int_eq(u9i_dir_posted(dir, u9i_live_name, posts[i], sizeof posts[i], &got), 0);
        u9i_dir_close(dir);
        crash(w, at("log")); /* the next session begins a file */
    }
    snprintf(path, sizeof path, "%s", segment_path(at("log"), 2));
    ck_assert_uint_eq(sim_read(path, 0, bytes, size), size);
    sim_write(path, 0, none, size); /* they are not there yet */
    post(at("log"), posts[0], sizeof posts[0]);
    u9_key key = {place.key, place.key_size};
    u9_log *reader = open_reader(at("log"));
    ck_assert_int_eq(u9_log_get(reader, &key, buf, sizeof buf, &r, NULL), U9_ABSENT);
    ck_assert_uint_eq(count_shown(reader), 1);
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) sim_decay(path, i, bytes[i]); /* they come, and its times do not tell */
    post(at("log"), posts[1], sizeof posts[1]);
    ck_assert_uint_eq(count_shown(reader), 2);
    ck_assert_int_eq(u9_log_get(reader, &key, buf, sizeof buf, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.ordinal, 1);
    close_log(reader);
}
END_TEST

START_TEST(a_forged_post_shows_nothing_but_valid_frames) /* [M-10] [F-6] */
{
    static uint8_t piece[PIECE];
    uint8_t bytes[U9I_LIVE_SIZE];
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    sim_task_chance(0);
    u9_log *w = open_writer(at("log"), &o);
    commit_text(w, "a");
    for (unsigned i = 0; i < 12; i++) append_bytes(w, piece, sizeof piece);
    following f = follow(at("log"));
    u9i_live live = {.segment = _i < 2 ? 1 : 7, .end = UINT64_MAX};
    u9i_secret secret = keys_of(segment_path(at("log"), 1));
    if (_i != 1) memcpy(live.boundary, secret.boundary, sizeof live.boundary);
    u9i_live_encode(&live, bytes);
    post(at("log"), bytes, sizeof bytes);
    (void)take(&f);
    ck_assert_uint_lt(f.next, 13); /* the rest is in memory */
    ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_AGAIN); /* and no hurry */
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, 12);
    stop(&f);
    close_log(w);
}
END_TEST

START_TEST(a_post_is_48_bytes_and_none_with_a_wrong_one_counts) /* [M-10] */
{
    static const uint8_t want[U9I_LIVE_SIZE] = {
        'u', '9', 'l', 'i', 'v', 'e', '1', 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        0, 0, 0, 0, 0, 1, 0, 0x20, 0xaa, 0x0c, 0x92, 0xea, 0xcb, 0xcb, 0xa7, 0x0b};
    u9i_live live = {.segment = 7, .end = 65568}, back;
    uint8_t bytes[U9I_LIVE_SIZE];
    for (uint8_t i = 0; i < 16; i++) live.boundary[i] = i;
    u9i_live_encode(&live, bytes);
    ck_assert_mem_eq(bytes, want, sizeof want);
    ck_assert(u9i_live_decode(bytes, sizeof bytes, &back));
    ck_assert_uint_eq(back.segment, 7);
    ck_assert_uint_eq(back.end, 65568);
    ck_assert_mem_eq(back.boundary, live.boundary, 16);
    for (size_t i = 0; i < sizeof bytes; i++) {
        ck_assert(!u9i_live_decode(bytes, i, &back));
        bytes[i] ^= 1;
        ck_assert(!u9i_live_decode(bytes, sizeof bytes, &back));
        bytes[i] ^= 1;
    }
}
END_TEST

START_TEST(a_follower_beside_a_writer_reads_what_is_new_and_little_more)
{
    u9_log *w = open_writer(at("log"), NULL);
    following f = follow(at("log"));
    for (unsigned i = 0; i < 50; i++) {
        commit_text(w, "a record");
        take_up_to(&f, i);
        if (i == 9) sim_forget_diary();
    }
    ck_assert_uint_lt(sim_bytes(SIM_READ), 40 * 400000);
    ck_assert_uint_eq(sim_count(SIM_LIST), 0);
    stop(&f);
    close_log(w);
}
END_TEST

static void make_log(void *ctx)
{
    session(ctx, "r", 2, 0);
}

static char late_log[4200];

START_TEST(a_log_that_is_made_later_is_waited_for)
{
    u9_options o = {.size = sizeof o, .io = io_of(at("log"))};
    u9i_task task = {.run = make_log, .ctx = late_log};
    snprintf(late_log, sizeof late_log, "%s", at("log"));
    if (_i == 1) make_dir(at("log"));
    ck_assert_int_eq(u9_log_await(late_log, &o, 3000, NULL), U9_AGAIN);
    u9i_task_submit(sim_env(), &task, u9i_monotonic_us(sim_env()) + 30000000);
    ck_assert_int_eq(u9_log_await(late_log, &o, HOUR_MS, NULL), U9_OK);
    following f = follow(late_log);
    take_up_to(&f, 1);
    stop(&f);
    u9i_task_finish(sim_env(), &task);
    ck_assert_int_eq(u9_log_await("", &o, 0, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_await(NULL, &o, 0, NULL), U9_ARG);
    o.io = "carrier pigeon";
    ck_assert_int_eq(u9_log_await(late_log, &o, 0, NULL), U9_ARG);
    o.size = 1;
    ck_assert_int_eq(u9_log_await(late_log, &o, 0, NULL), U9_ARG);
    o = (u9_options){.size = sizeof o, .io = io_of(at("log"))};
    write_file(at("file"), "no log", 6);
    ck_assert_int_eq(u9_log_await(at("file"), &o, 0, NULL), U9_CORRUPT);
}
END_TEST

/* Where not even the folder is that it is to be in, or where that is named otherwise. */
START_TEST(a_log_is_waited_for_wherever_it_is_to_be)
{
    static const char *const names[] = {"folder/log", "log///", "none/of/these/is/there"};
    static char far[5000];
    u9_options o = {.size = sizeof o, .io = io_of(at("log"))};
    u9i_task task = {.run = make_log, .ctx = late_log};
    snprintf(late_log, sizeof late_log, "%s", at(_i == 0 ? "folder/log" : "log"));
    uint64_t began = u9i_monotonic_us(sim_env());
    ck_assert_int_eq(u9_log_await(at(names[_i]), &o, 3000, NULL), U9_AGAIN);
    ck_assert_uint_ge(u9i_monotonic_us(sim_env()) - began, 3000000);
    ck_assert_int_ne(u9_log_await("x", &o, 0, NULL), U9_OK);
    memset(far, 'x', sizeof far - 1);
    ck_assert_int_lt(u9_log_await(far, &o, 0, NULL), 0);
    if (_i == 2) return;
    if (_i == 0) make_dir(at("folder"));
    u9i_task_submit(sim_env(), &task, u9i_monotonic_us(sim_env()) + 30000000);
    ck_assert_int_eq(u9_log_await(at(names[_i]), &o, HOUR_MS, NULL), U9_OK);
    u9i_task_finish(sim_env(), &task);
}
END_TEST

/* What stands behind the last segment and is none, or what the mark says to be there and is not, is no end of waiting. */
START_TEST(what_a_log_lacks_or_has_besides_is_told_once_and_followed_past)
{
    u9_cursor *c;
    u9_record r;
    make_row_of_segments(at("log"));
    unsigned last = segments_in(at("log"));
    uint64_t first = first_in(at("log"), last), lost = first_in(at("log"), 3) - first_in(at("log"), 2);
    if (_i == 0) write_file(segment_path(at("log"), last + 3), "no segment at all", 17);
    else remove_log(segment_path(at("log"), _i < 3 ? last : 2));
    u9_log *log = open_reader(at("log"));
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    if (_i != 1) ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_OK);
    unsigned told = 0, shown = 0, ends = 0;
    for (unsigned n = 0; n < 60; n++) {
        u9_err err = u9_cursor_next(c, &r);
        told += err == U9_CORRUPT;
        shown += err == U9_OK;
        ck_assert(err == U9_OK || err == U9_CORRUPT || err == U9_END);
        if (err != U9_END) continue;
        err = u9_cursor_wait(c, n % 3 ? 0 : sim_is_away() ? 100 : 2000);
        ck_assert(err == U9_AGAIN || (err == U9_OK && ends++ == 0)); /* it had read to the end before it began to follow */
    }
    ck_assert_uint_eq(told, _i > 0);
    ck_assert_uint_eq(shown, _i == 0 ? TRIM_RECORDS : _i < 3 ? first : TRIM_RECORDS - lost);
    if (_i == 0) {
        session(at("log"), "more", 1, 0);
        ck_assert_int_eq(u9_cursor_wait(c, HOUR_MS), U9_OK);
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, TRIM_RECORDS);
    }
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* Of two frames that are gone the first was promised, by one that nobody promised itself. */
START_TEST(a_follower_that_lacks_what_was_promised_is_told_so_once_and_waits)
{
    u9_record r;
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    (void)forge_records(&f, "a", 3);
    uint64_t second = forge_records(&f, "b", 2), promised = f.end, third = forge_records(&f, "c", 1);
    f.next.durable = promised;
    (void)forge_records(&f, "d", 1);
    f.bytes[second + 70] ^= 1;
    f.bytes[third + 70] ^= 1;
    forge_save(&f, at("log"));
    forge_free(&f);
    following at_end = follow(at("log"));
    for (unsigned i = 0; i < 3; i++) ck_assert_int_eq(u9_cursor_next(at_end.cursor, &r), U9_OK);
    ck_assert_int_eq(u9_cursor_next(at_end.cursor, &r), U9_CORRUPT);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(u9_cursor_next(at_end.cursor, &r), U9_END);
        ck_assert_int_eq(u9_cursor_wait(at_end.cursor, 0), U9_AGAIN);
    }
    stop(&at_end);
}
END_TEST

/* The wait looks behind the frame of which the cursor has shown all. */
START_TEST(who_goes_back_after_a_wait_is_shown_what_was_shown)
{
    static uint8_t bytes[30000];
    u9_record r;
    u9_log *w = open_careless();
    following f = follow_on(open_reader(at("log")), U9_SHOW_WRITTEN);
    for (unsigned i = 0; i < 400; i++) {
        memset(bytes, (int)(i % 251), sizeof bytes);
        (void)append_bytes(w, bytes, sizeof bytes - i * 10);
        for (unsigned k = 0; k < 3 && u9_cursor_next(f.cursor, &r) == U9_OK; k++) {
            ck_assert_uint_eq(r.ordinal, f.next++);
            (void)!u9_cursor_wait(f.cursor, 0);
            ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_OK);
            ck_assert_uint_eq(r.ordinal, f.next - 1);
            for (size_t n = 16; n < r.values_size; n++) ck_assert_uint_eq(r.values[n], r.ordinal % 251);
            ck_assert_int_eq(u9_cursor_next(f.cursor, &r), U9_OK);
        }
    }
    ck_assert_uint_gt(f.next, 200);
    stop(&f);
    close_log(w);
}
END_TEST

/* However many frames; beside a writer and where nobody writes any more. */
START_TEST(who_goes_back_from_the_end_comes_to_it_again)
{
    u9_record r;
    u9_log *w = open_writer(at("log"), NULL);
    for (unsigned i = 0; i < 10; i++) commit_text(w, "a");
    if (_i == 0) close_log(w);
    following f = follow_on(open_reader(at("log")), _i == 2 ? U9_SHOW_WRITTEN : U9_SHOW_DURABLE);
    take_up_to(&f, 9);
    ck_assert_uint_eq(take(&f), 0);
    for (unsigned back = 1; back <= 10; back++) {
        for (unsigned k = 0; k < back; k++) {
            ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_OK);
            ck_assert_uint_eq(r.ordinal, --f.next);
        }
        ck_assert_uint_eq(take(&f), back);
        ck_assert_uint_eq(f.next, 10);
    }
    stop(&f);
    if (_i > 0) close_log(w);
}
END_TEST

/* [L-10] It came to the end first, began to follow then, and from that segment on it goes back, whatever is trimmed. */
START_TEST(who_goes_back_from_where_he_follows_comes_to_where_he_began_to)
{
    u9_record r;
    make_row_of_segments(at("log"));
    uint64_t tip = first_in(at("log"), segments_in(at("log"))), last = TRIM_RECORDS;
    following f = {.log = open_reader(at("log"))};
    ck_assert_int_eq(u9_cursor_open(f.log, NULL, &f.cursor, NULL), U9_OK);
    ck_assert_uint_eq(take(&f), TRIM_RECORDS);
    ck_assert_int_eq(u9_cursor_follow(f.cursor, U9_SHOW_DURABLE), U9_OK);
    (void)trim_log(at("log"), below_ordinal(tip));
    session(at("log"), "more", 1, 0);
    last += take(&f);
    ck_assert_uint_eq(last, TRIM_RECORDS + 1);
    for (uint64_t n = last; n > tip; n--) {
        ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, n - 1);
    }
    ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_END);
    stop(&f);
}
END_TEST

/* What was read and is held back, and the follower goes away from it. */
START_TEST(who_goes_back_from_what_is_held_back_comes_to_it_again)
{
    u9_record r;
    if (_i == 3) session(at("log"), "first", 1, 0); /* it comes from one segment into the next, of which nothing is durable */
    u9_log *w = open_careless();
    if (_i == 1 || _i == 2) commit_text(w, "first");
    append_pieces(w, 20);
    following f = follow(at("log"));
    (void)take(&f);
    ck_assert_uint_eq(take(&f), 0);
    for (unsigned i = 0; i < 3; i++) {
        u9_seek start = {.size = sizeof start, .kind = U9_SEEK_START};
        if (_i == 2) ck_assert_int_eq(u9_cursor_seek(f.cursor, &start), U9_OK);
        else while (u9_cursor_prev(f.cursor, &r) != U9_END) ck_assert_uint_eq(r.ordinal, 0);
        if (i == 1) ck_assert_int_ge(u9_cursor_wait(f.cursor, 0), U9_OK);
        f.next = 0;
        ck_assert_uint_eq(take(&f), _i > 0);
        ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_AGAIN);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    take_up_to(&f, 19 + (_i > 0));
    stop(&f);
    close_log(w);
}
END_TEST

/* A follower that was sent to the end, or went back, waits there for what comes. */
START_TEST(a_follower_that_is_sent_to_the_end_goes_on_with_what_comes_then)
{
    u9_record r;
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_log *w = open_writer(at("log"), NULL);
    for (unsigned i = 0; i < 3; i++) commit_text(w, "a");
    following f = follow(at("log"));
    if (_i == 1) (void)take(&f);
    for (unsigned i = 3; i < 8; i++) {
        if (_i == 2) ck_assert_int_eq(u9_cursor_seek(f.cursor, &(u9_seek){.size = sizeof end, .kind = U9_SEEK_START}), U9_OK);
        ck_assert_int_eq(u9_cursor_seek(f.cursor, &end), U9_OK);
        f.next = i;
        ck_assert_uint_eq(take(&f), 0);
        ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_AGAIN);
        commit_text(w, "b");
        take_up_to(&f, i);
        ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, i);
    }
    stop(&f);
    close_log(w);
}
END_TEST

/* Where each look is a row of requests, and what is done is told from anywhere: none is taken while nothing is told. */
/* [Q-2] [M-10] In segments that were begun since it came to the end, too; by the handle that writes (_i 1), and by another. */
START_TEST(a_follower_is_sent_to_what_was_written_since)
{
    enum { ALL = 12 };
    static uint8_t filler[40000];
    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    following f = _i ? follow_on(w, U9_SHOW_DURABLE) : follow(at("log"));
    u9_record r;
    for (uint64_t n = 0; n < ALL; n++) {
        append_bytes(w, filler, sizeof filler);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        if (n == 0) take_told(&f, 0);
        if (n % 4 != 3) continue;
        if (sim_is_away()) take_told(&f, n);
        u9_seek to = {.size = sizeof to, .kind = U9_SEEK_ORDINAL, .number = n};
        ck_assert_int_eq(u9_cursor_seek(f.cursor, &to), U9_OK);
        ck_assert_int_eq(u9_cursor_next(f.cursor, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, n);
        ck_assert_int_eq(u9_cursor_next(f.cursor, &r), U9_END);
        to.number = 1;
        ck_assert_int_eq(u9_cursor_seek(f.cursor, &to), U9_OK);
        f.next = 1;
        ck_assert_uint_eq(take(&f), n);
    }
    if (_i) u9_cursor_close(f.cursor);
    else stop(&f);
    close_log(w);
}
END_TEST

START_TEST(where_looks_are_dear_who_asks_again_is_told_nothing_without_one)
{
    static u9i_watch_type dear;
    uint8_t buf[200];
    u9_record r;
    u9_place place;
    dear = *sim_env()->watch;
    dear.look_us = 5000000;
    sim_env()->watch = &dear;
    u9_log *w = open_writer(at("log"), NULL);
    commit_text(w, "first");
    following f = follow(at("log"));
    for (unsigned i = 0; i < 4; i++) {
        take_up_to(&f, i);
        while (u9_cursor_wait(f.cursor, 0) == U9_OK) ck_assert_uint_eq(take(&f), 0);
        sim_forget_diary();
        for (unsigned n = 0; n < 5; n++) ck_assert_int_eq(u9_cursor_wait(f.cursor, 0), U9_AGAIN);
        ck_assert_uint_eq(sim_count(SIM_LIST) + sim_count(SIM_READ) + sim_count(SIM_ASK), 0);
        sim_advance(6000000);
        ck_assert_int_ge(u9_cursor_wait(f.cursor, i * 3000), U9_OK); /* a promise may come, or a mark */
        ck_assert_uint_eq(take(&f), 0);
        ck_assert_uint_gt(sim_count(SIM_ASK), 0); /* once in a while it is looked all the same */
        ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, &place), U9_OK);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        u9_key key = {place.key, place.key_size};
        for (unsigned n = 0; n < 3; n++) {
            ck_assert_int_eq(u9_log_get(f.log, &key, buf, sizeof buf, &r, NULL), U9_OK);
            ck_assert_uint_eq(r.ordinal, i + 1);
            sim_advance(n * 20000);
        }
    }
    take_up_to(&f, 4);
    stop(&f);
    close_log(w);
}
END_TEST

START_TEST(a_log_that_is_removed_is_an_error_of_the_wait)
{
    session(at("log"), "r", 2, 0);
    following f = follow(at("log"));
    take_up_to(&f, 1);
    sim_remove(segment_path(at("log"), 1));
    u9_fault fault;
    ck_assert_int_eq(u9_cursor_wait(f.cursor, HOUR_MS), U9_IO);
    u9_cursor_fault(f.cursor, &fault);
    ck_assert_ptr_nonnull(strstr(fault.text, "removed"));
    stop(&f);
}
END_TEST

START_TEST(what_cannot_be_followed_is_refused)
{
    u9_cursor *c;
    session(at("log"), "r", 3, 0);
    u9_log *r = open_reader(segment_path(at("log"), 1));
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_event_fd(c), -1);
    ck_assert_int_eq(u9_cursor_wait(c, 0), U9_ARG);
    u9_cursor_close(c);
    close_log(r);
    r = open_reader(at("log"));
    u9_range range = {.size = sizeof range, .segment = 1};
    ck_assert_int_eq(u9_cursor_open(r, &range, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_ARG);
    u9_cursor_close(c);
    range = (u9_range){.size = sizeof range, .from = 2};
    ck_assert_int_eq(u9_cursor_open(r, &range, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_follow(c, (u9_shown)2), U9_ARG);
    ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_OK);
    u9_record record;
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    ck_assert_uint_eq(record.ordinal, 2);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_END);
    u9_cursor_close(c);
    close_log(r);
    static const uint8_t values[] = {0x81, 0x82};
    plain_file p = plain_begin(1);
    plain_frame(&p, values, sizeof values);
    make_dir(at("plain"));
    write_file(segment_path(at("plain"), 1), p.bytes, p.size);
    plain_free(&p);
    r = open_reader(at("plain"));
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_WRITTEN), U9_ARG);
    u9_cursor_close(c);
    close_log(r);
    ck_assert_int_eq(u9_cursor_follow(NULL, U9_SHOW_DURABLE), U9_ARG);
    ck_assert_int_eq(u9_cursor_wait(NULL, 0), U9_ARG);
    ck_assert_int_eq(u9_cursor_event_fd(NULL), -1);
}
END_TEST

START_TEST(an_error_of_a_read_is_told_and_the_same_call_goes_on) /* */
{
    u9_log *w = open_rolling(at("log"));
    following f = follow(at("log"));
    append_fillers(w, 30);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    for (unsigned nth = 1;; nth++) { /* whichever call fails */
        u9_record r;
        u9_err err;
        unsigned before = sim_fired();
        sim_fail(_i == 0 ? SIM_LIST : _i == 1 ? SIM_OPEN : _i == 2 ? SIM_SIZE : SIM_STAT, nth, 28, false);
        while ((err = u9_cursor_next(f.cursor, &r)) == U9_OK || err == U9_IO)
            if (err == U9_OK) ck_assert_uint_eq(r.ordinal, f.next++);
        sim_mend();
        ck_assert_int_eq(err, U9_END);
        if (sim_fired() == before) break;
        append_fillers(w, 5);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    take_up_to(&f, u9_log_next(w) - 1);
    stop(&f);
    close_log(w);
}
END_TEST

/* Each look then says something else than the one before: that must not go on for ever. */
START_TEST(a_follower_that_may_look_at_no_file_any_more_comes_to_an_end)
{
    static const struct {
        sim_kind kind;
        int error;
    } fails[] = {{SIM_SIZE, EINVAL}, {SIM_STAT, EINVAL}, {SIM_READ, EINVAL}, {SIM_OPEN, EMFILE}, {SIM_OPEN, EACCES}};
    for (unsigned nth = 1; nth < 12; nth++) {
        u9_record r;
        u9_err err;
        u9_log *w = open_rolling(at("log"));
        following f = follow(at("log"));
        append_fillers(w, 30);
        if (nth % 3 > 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        if (nth % 3 > 0) take_up_to(&f, u9_log_next(w) - 1);
        if (nth % 3 > 1) append_fillers(w, 30);
        uint64_t last = u9_log_next(w) - 1;
        close_log(w);
        sim_fail(fails[_i].kind, nth / 3 + 1, fails[_i].error, true);
        while ((err = u9_cursor_next(f.cursor, &r)) == U9_OK) ck_assert_uint_eq(r.ordinal, f.next++);
        ck_assert(err == U9_IO || err == U9_END || (err == U9_CORRUPT && _i == 2));
        (void)!u9_cursor_wait(f.cursor, 0);
        sim_mend();
        if (err != U9_CORRUPT) take_up_to(&f, last);
        stop(&f);
        remove_log(at("log"));
    }
}
END_TEST

/* {F70} Sessions with anything in them, and a follower that looks at any time. */
START_TEST(whatever_happens_each_record_is_shown_once_and_not_before_it_is_durable) /* [M-10] [W-2] */
{
    enum { STEPS = 400 };
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    srand((unsigned)_i + 1);
    u9_log *w = open_writer(at("log"), &o);
    following f = follow(at("log")), own = {0};
    uint64_t durable = 0, kept = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned what = (unsigned)rand() % 100;
        if (w == NULL && (what < 50 || f.next < durable)) {
            (void)take(&f);
            ck_assert_uint_eq(f.next, durable);
        } else if (w == NULL) {
            w = open_writer(at("log"), &o);
        } else if (what < 50) {
            append_fillers(w, 1 + (unsigned)rand() % 4);
        } else if (what < 70) {
            ck_assert_int_eq(u9_log_sync(w), U9_OK);
        } else if (what < 75) {
            sim_advance((uint64_t)rand() % 700000);
        } else if (what < 79) {
            if (own.cursor) u9_cursor_close(own.cursor);
            own = (following){0};
            durable = u9_log_next(w);
            close_log(w);
            w = NULL;
        } else if (what == 79) { /* as by a kill: what is there and whole is settled, and shown */
            if (own.cursor) u9_cursor_close(own.cursor);
            own = (following){0};
            kept_files k = keep_files(at("log"));
            close_log(w);
            put_back(&k, at("log"));
            w = NULL;
            (void)take(&f);
            ck_assert_uint_ge(f.next, durable);
            durable = f.next;
        } else if (what < 85) {
            if (own.cursor == NULL) own = follow_on(w, U9_SHOW_DURABLE), own.next = kept;
            (void)take(&own);
            ck_assert_uint_le(own.next, u9_log_durable(w) > durable ? u9_log_durable(w) : durable);
        } else if (what == 91) { /* what both have read goes */
            uint64_t read = own.cursor && own.next < f.next ? own.next : f.next;
            u9_trimmed t = trim_on(w, below_ordinal(read));
            if (t.segments > 0) kept = t.ordinal;
        } else if (what < 90 && f.next > kept) { /* back, and on from there */
            u9_record r;
            u9_seek to = {.size = sizeof to, .kind = U9_SEEK_ORDINAL, .number = kept + (uint64_t)rand() % (f.next - kept)};
            if (what < 87) {
                ck_assert_int_eq(u9_cursor_seek(f.cursor, &to), U9_OK);
                f.next = to.number;
            } else {
                ck_assert_int_eq(u9_cursor_prev(f.cursor, &r), U9_OK);
                ck_assert_uint_eq(r.ordinal, --f.next);
            }
        }
        (void)take(&f);
        if (w && u9_log_durable(w) > durable) durable = u9_log_durable(w);
        ck_assert_uint_le(f.next, durable);
        if (what % 3 == 0) {
            (void)!u9_cursor_wait(f.cursor, 0);
            if (what % 2 == 0) (void)!u9_cursor_wait(f.cursor, 1 + (uint64_t)rand() % 50);
        }
    }
    if (own.cursor) u9_cursor_close(own.cursor);
    if (w) durable = u9_log_next(w);
    if (w) close_log(w);
    take_up_to(&f, durable - 1);
    stop(&f);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, durable - kept);
    forget(s);
}
END_TEST

/* One call of a follower while something else fails: memory, or a call of this kind. */
static u9_err call_badly(following *f, unsigned call, u9_record *r)
{
    static const sim_kind kinds[] = {SIM_READ, SIM_EVICT, SIM_OPEN, SIM_STAT, SIM_LIST, SIM_SIZE};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    unsigned how = (unsigned)rand() % (KINDS + 3), nth = 1 + (unsigned)rand() % 5;
    if (call == 1) how = KINDS; /* the writer's calls are made meanwhile */
    u9_err err;
    if (how < KINDS) sim_fail(kinds[how], nth, rand() % 2 ? ENOSPC : EINVAL, rand() % 4 == 0);
    else scarce_begin(SCARCE_MEMORY, how == KINDS ? 0 : nth, 0, how == KINDS + 1);
    if (call == 0) err = u9_cursor_wait(f->cursor, 0);
    else if (call == 1) err = u9_cursor_wait(f->cursor, 30);
    else if (call == 2) err = u9_cursor_follow(f->cursor, rand() % 2 ? U9_SHOW_WRITTEN : U9_SHOW_DURABLE);
    else if (call == 3) err = u9_cursor_prev(f->cursor, r);
    else if (call == 4) err = u9_cursor_event_fd(f->cursor) < 0 ? U9_AGAIN : U9_OK;
    else err = u9_cursor_next(f->cursor, r);
    if (how >= KINDS) (void)scarce_end(NULL);
    sim_mend();
    return err;
}

static u9_log *kill_writer(u9_log *w)
{
    kept_files k = keep_files(at("log"));
    close_log(w);
    put_back(&k, at("log"));
    return NULL;
}

/* A follower whose calls fail shows each record as it is, none twice, and none is passed without a word. */
START_TEST(whatever_fails_meanwhile_a_follower_passes_no_record_without_a_word) /* [M-10] */
{
    const unsigned steps = thorough(200, 400);
    u9_options o = _i % 2 ? writer_options() : small_options();
    o.policy = U9_POLICY_NONE;
    srand((unsigned)_i + 1);
    u9_log *w = open_writer(at("log"), &o);
    following f = follow(at("log"));
    u9_record r;
    bool told = false;
    for (unsigned step = 0; step < steps; step++) {
        unsigned what = (unsigned)rand() % 40, call = (unsigned)rand() % 12;
        if (w == NULL) w = what < 10 ? open_writer(at("log"), &o) : NULL;
        else if (what < 4 && _i % 2) append_pieces(w, 6); /* some of it is written, and not durable yet */
        else if (what < 12) append_fillers(w, 1 + (unsigned)rand() % 3);
        else if (what < 18) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        else if (what < 20) sim_advance((uint64_t)rand() % 1500000);
        else if (what == 20) close_log(w), w = NULL;
        else if (what == 22) w = kill_writer(w);
        else if (what == 21) sim_remove(at("log/.live"));
        u9_err err = call_badly(&f, call, &r);
        u9_fault fault;
        u9_cursor_fault(f.cursor, &fault);
        if (err < 0) ck_assert_msg(fault.err == err && fault.text[0] != 0, "%u: %s: %s", call, u9_err_name(err), fault.text);
        ck_assert_msg(err >= 0 || err == U9_IO || err == U9_NOMEM || err == U9_CORRUPT, "%u: %s: %s", call, u9_err_name(err), fault.text);
        told |= err == U9_CORRUPT;
        if (call < 3 || call == 4 || err != U9_OK) continue;
        if (!told) ck_assert_uint_eq(r.ordinal + (call == 3), f.next);
        f.next = r.ordinal + (call != 3);
        told = false; /* what could not be read was passed */
    }
    if (w == NULL) w = open_writer(at("log"), &o);
    uint64_t last = u9_log_next(w) - 1;
    close_log(w);
    while (told && u9_cursor_next(f.cursor, &r) == U9_OK) f.next = r.ordinal + 1, told = false;
    if (!told) take_up_to(&f, last);
    stop(&f);
}
END_TEST

/* At once; in a store when its word has come. */
static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, sim_is_away() ? 8000 : 0) == 1;
}

/* On the real disk: how it is told there. */
START_TEST(the_descriptor_can_be_read_when_something_was_committed_until_that_was_asked_for)
{
    u9_log *w = open_writer(at("log"), NULL);
    following f = follow(at("log"));
    int fd = u9_cursor_event_fd(f.cursor);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(u9_cursor_event_fd(f.cursor), fd);
    for (unsigned i = 0; i < 5; i++) {
        (void)take(&f);
        while (u9_cursor_wait(f.cursor, 0) == U9_OK) (void)take(&f);
        commit_text(w, "a");
        ck_assert(is_readable(fd));
        while (u9_cursor_wait(f.cursor, 0) != U9_OK) ck_assert(sim_is_away() && is_readable(fd)); /* a word of before */
        ck_assert_uint_eq(take(&f), 1);
    }
    sim_needed("the word of a writer in a file");
    ck_assert(exists(file_in(at("log"), u9i_live_name)));
    close_log(w);
    ck_assert(!exists(file_in(at("log"), u9i_live_name)));
    ck_assert(is_readable(fd));
    stop(&f);
}
END_TEST

Suite *suite_follow(void)
{
    Suite *suite = suite_create("follow");
    TCase *real = tcase_create("real");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_add_test(real, who_waits_without_memory_is_told_so);
    tcase_add_test(real, the_descriptor_can_be_read_when_something_was_committed_until_that_was_asked_for);
    suite_add_tcase(suite, real);

    TCase *tc = tcase_create("follow");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, what_was_committed_is_shown_by_the_next_call);
    tcase_add_test(tc, a_wait_without_news_is_over_when_its_time_is);
    tcase_add_test(tc, who_waits_beside_a_writer_that_rests_is_told_that_the_time_is_over);
    tcase_add_loop_test(tc, a_cursor_that_came_to_the_end_waits_from_there, 0, 2);
    tcase_add_test(tc, who_waits_is_woken_by_each_commit);
    tcase_add_test(tc, what_is_written_and_not_durable_is_shown_to_who_asked_for_it_only);
    tcase_add_loop_test(tc, what_another_cursor_of_the_handle_has_read_is_held_back_until_it_is_durable, 0, 2);
    tcase_add_test(tc, nothing_is_shown_that_is_not_durable_also_where_the_cursor_begins);
    tcase_add_test(tc, a_frame_that_begins_where_what_is_durable_ends_is_not_shown);
    tcase_add_loop_test(tc, what_a_writer_left_is_settled_before_a_follower_shows_it, 0, 2);
    tcase_add_loop_test(tc, what_cannot_be_settled_is_held_back_until_it_can, 0, 2);
    tcase_add_loop_test(tc, a_follower_goes_over_rolls, 0, 2);
    tcase_add_loop_test(tc, what_a_roll_leaves_behind_the_data_is_no_damage_to_who_read_it_first, 0, 8);
    tcase_add_test(tc, a_follower_goes_on_in_the_next_session_wherever_that_begins);
    tcase_add_test(tc, a_follower_in_the_writers_process_sees_what_is_durable);
    tcase_add_test(tc, a_follower_in_the_writers_process_sees_no_more_where_a_file_begins);
    tcase_add_test(tc, a_torn_tail_is_never_handed_out_and_the_next_session_goes_on_behind_it);
    tcase_add_loop_test(tc, what_was_trimmed_before_it_was_read_is_told_and_it_goes_on, 0, 2);
    tcase_add_test(tc, a_segment_that_goes_before_it_is_opened_is_one_that_was_trimmed);
    tcase_add_test(tc, what_a_trim_did_not_come_to_remove_is_shown);
    tcase_add_test(tc, segments_that_were_read_are_trimmed_without_a_word);
    tcase_add_test(tc, where_the_writer_posts_nothing_the_mark_says_it_within_a_second);
    tcase_add_loop_test(tc, what_a_writer_says_is_durable_was_posted, 0, 4);
    tcase_add_test(tc, what_comes_to_a_file_that_seems_unchanged_is_seen_when_it_is_posted);
    tcase_add_loop_test(tc, a_forged_post_shows_nothing_but_valid_frames, 0, 3);
    tcase_add_test(tc, a_post_is_48_bytes_and_none_with_a_wrong_one_counts);
    tcase_add_test(tc, a_follower_beside_a_writer_reads_what_is_new_and_little_more);
    tcase_add_loop_test(tc, a_log_that_is_made_later_is_waited_for, 0, 2);
    tcase_add_loop_test(tc, a_log_is_waited_for_wherever_it_is_to_be, 0, 3);
    tcase_add_loop_test(tc, what_a_log_lacks_or_has_besides_is_told_once_and_followed_past, 0, 4);
    tcase_add_test(tc, a_follower_that_lacks_what_was_promised_is_told_so_once_and_waits);
    tcase_add_test(tc, who_goes_back_after_a_wait_is_shown_what_was_shown);
    tcase_add_loop_test(tc, who_goes_back_from_the_end_comes_to_it_again, 0, 3);
    tcase_add_test(tc, who_goes_back_from_where_he_follows_comes_to_where_he_began_to);
    tcase_add_loop_test(tc, who_goes_back_from_what_is_held_back_comes_to_it_again, 0, 4);
    tcase_add_loop_test(tc, a_follower_that_is_sent_to_the_end_goes_on_with_what_comes_then, 0, 3);
    tcase_add_loop_test(tc, a_follower_is_sent_to_what_was_written_since, 0, 2);
    tcase_add_test(tc, where_looks_are_dear_who_asks_again_is_told_nothing_without_one);
    tcase_add_test(tc, a_log_that_is_removed_is_an_error_of_the_wait);
    tcase_add_test(tc, what_cannot_be_followed_is_refused);
    tcase_add_loop_test(tc, an_error_of_a_read_is_told_and_the_same_call_goes_on, 0, 4);
    tcase_add_loop_test(tc, a_follower_that_may_look_at_no_file_any_more_comes_to_an_end, 0, 5);
    suite_add_tcase(suite, tc);

    TCase *many = tcase_create("random");
    tcase_add_checked_fixture(many, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(many, 120);
    tcase_add_loop_test(many, whatever_happens_each_record_is_shown_once_and_not_before_it_is_durable, 0, 12);
    tcase_add_loop_test(many, whatever_fails_meanwhile_a_follower_passes_no_record_without_a_word, 0, 8);
    suite_add_tcase(suite, many);
    return suite;
}
