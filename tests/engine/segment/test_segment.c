/*
 * tests/engine/segment/test_segment.c: what is opened, read and judged once: handles share a catalog, its
 * segments and what was found in them. Shown by counts on the diary of the simulated disk.
 */
#include "engine/log/handle.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 65536, MANY = 136, MIB = 1 << 20 };

static const char *const LOG = "log";

static void setup(void)
{
    sim_begin(7);
}

static void teardown(void)
{
    sim_end();
}

static u9_log *open_sim(u9_mode mode, uint64_t segment_size)
{
    u9_options o = {.size = sizeof o, .mode = mode, .io = sim_io(), .segment_size = segment_size};
    return open_writer(LOG, &o);
}

static u9_log *open_sim_reader(void)
{
    return open_sim(U9_READ, 0);
}

/* Appends one record of `size` bytes, made durable; its key goes to `key`. */
static void append_filler(u9_log *log, size_t size, u9_place *place)
{
    uint8_t *bytes = calloc(1, size + 16);
    u9_builder b;
    u9_builder_init(&b, bytes, size + 16);
    uint8_t *filler = malloc(size);
    memset(filler, 'f', size);
    ck_assert_int_eq(u9_build_bytes(&b, filler, size), U9_OK);
    ck_assert_int_eq(u9_log_append(log, NULL, bytes, b.size, place), U9_OK);
    free(filler);
    free(bytes);
}

/* Reads a range of segment 1 (end 0: all of it) and returns the records; the damages are counted. */
static uint64_t count_range(u9_log *log, uint64_t begin, uint64_t end, unsigned *damages)
{
    u9_range range = {.size = sizeof range, .segment = 1, .begin = begin, .end = end};
    u9_cursor *c;
    u9_record r;
    u9_err err;
    uint64_t n = 0;
    ck_assert_int_eq(u9_cursor_open(log, end ? &range : NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT) {
        n += err == U9_OK;
        if (err == U9_CORRUPT && damages) ++*damages;
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
    return n;
}

/* How many segments were opened. */
static unsigned opened(void)
{
    char mark[64];
    snprintf(mark, sizeof mark, "%s/.mark", LOG);
    return sim_count(SIM_OPEN) - sim_count_of(SIM_OPEN, mark);
}

START_TEST(a_record_of_the_last_of_many_segments_costs_three_more_opens_and_one_window)
{
    u9_place place;
    u9_log *w = open_sim(U9_CREATE, SMALL);
    for (unsigned i = 0; i < MANY; i++) append_filler(w, SMALL, &place);
    close_log(w);

    size_t count;
    char **names = sim_names(LOG, &count);
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
    ck_assert_uint_eq(count, MANY + 1); /* and the mark */

    sim_forget_diary();
    u9_log *r = open_sim_reader();
    ck_assert_uint_eq(opened(), MANY); /* the catalog's look at each */
    uint8_t *buf = malloc(2 * SMALL);
    u9_record record;
    u9_key key = {.data = place.key, .size = place.key_size};
    ck_assert_int_eq(u9_log_get(r, &key, buf, 2 * SMALL, &record, NULL), U9_OK);
    ck_assert_uint_eq(record.ordinal, MANY - 1);
    ck_assert_uint_eq(record.segment, MANY);
    ck_assert_uint_le(opened(), MANY + 3);
    ck_assert_uint_eq(r->source.windows.made, 1);

    unsigned before = opened(); /* and where nothing changed, nothing is looked at again; the last one is open */
    ck_assert_uint_eq(count_range(r, 0, 0, NULL), MANY);
    ck_assert_uint_eq(opened(), before + MANY - 1);
    ck_assert_uint_eq(r->source.windows.made, 1);
    free(buf);
    close_log(r);
}
END_TEST

START_TEST(opening_a_clean_log_reads_two_blocks_of_each_segment)
{
    u9_log *w = open_sim(U9_CREATE, SMALL);
    for (unsigned i = 0; i < MANY; i++) append_filler(w, SMALL, NULL);
    close_log(w);
    sim_forget_diary();
    u9_log *r = open_sim_reader();
    ck_assert_uint_le(sim_count(SIM_READ), 2 * MANY + 2); /* and the mark's */
    ck_assert_uint_le(sim_bytes(SIM_READ), (2 * MANY + 2) * 4096);
    ck_assert_uint_eq(count_range(r, 0, 0, NULL), MANY);
    close_log(r);
}
END_TEST

/* An unclosed segment of some 16 MiB: its writer goes on having it. */
static u9_log *write_unclosed(unsigned mib)
{
    u9_log *w = open_sim(U9_CREATE, 0);
    for (unsigned i = 0; i < 16 * mib; i++) append_filler(w, MIB / 16, NULL);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    return w;
}

/* Goes over the frames of the window's file; their records, and how many were shown without a body. */
static unsigned go_over(u9i_window *w, uint64_t *records, unsigned *bodiless)
{
    u9i_frame f;
    unsigned frames = 0;
    *bodiless = 0;
    *records = 0;
    for (uint64_t p = U9I_DISK_HEADER_SIZE;; p = f.end, frames++) {
        u9_err err = u9i_window_at(w, p, 4 * MIB, &f);
        if (err == U9_CORRUPT) err = u9i_window_at(w, (p / U9I_BLOCK + 1) * U9I_BLOCK, 4 * MIB, &f); /* [F-8] */
        if (err != U9_OK) return frames;
        *records += f.trailer.count;
        *bodiless += f.body == NULL;
    }
}

/* Of a frame that was found valid only the two ends are read, if nobody looks into it; what changed there is seen. */
START_TEST(frames_that_were_proven_are_passed_by_their_ends)
{
    u9_log *w = write_unclosed(2), *r = open_sim_reader();
    u9i_segment *s = r->source.current->segments[0];
    u9i_window *window;
    u9i_file *file;
    uint64_t records, again;
    unsigned bodiless;
    ck_assert_int_eq(u9i_segment_open(s, &file), 0);
    ck_assert_int_eq(u9i_windows_lend(&r->source.windows, &window), U9_OK);
    u9i_window_turn(window, file, &s->facts.secret);
    u9i_window_remember(window, &s->verified, U9_VERIFY_FIRST);
    window->brief = true;
    unsigned frames = go_over(window, &records, &bodiless);
    ck_assert_uint_eq(records, 32);
    ck_assert_uint_eq(bodiless, 0); /* nothing was known yet */
    u9i_window_forget(window);
    sim_forget_diary();
    ck_assert_uint_eq(go_over(window, &again, &bodiless), frames);
    ck_assert_uint_eq(again, records);
    ck_assert_uint_gt(bodiless, 20); /* but not those without records, and of two in one block one */
    ck_assert_uint_lt(sim_bytes(SIM_READ), MIB);
    char path[64];
    u9i_frame first, f;
    snprintf(path, sizeof path, "%s/0000000000000001.u9", LOG);
    ck_assert_int_eq(u9i_window_find(window, MIB, 4 * MIB, &first), U9_OK);
    sim_write(path, first.offset + 48, "damage", 6); /* where its magic is */
    u9i_window_forget(window);
    ck_assert_int_eq(u9i_window_at(window, first.offset, 4 * MIB, &f), U9_CORRUPT);
    ck_assert_int_eq(window->why, U9_R_MAGIC);
    u9i_windows_return(&r->source.windows, window);
    u9i_segment_close(s);
    close_log(r);
    close_log(w);
}
END_TEST

START_TEST(ranges_of_an_unclosed_segment_read_its_bytes_about_once)
{
    enum { MIBS = 24, RANGES = 12 };
    u9_log *w = write_unclosed(MIBS), *whole = open_sim_reader(), *r = open_sim_reader();
    uint64_t n = 0;
    sim_forget_diary();
    ck_assert_uint_eq(count_range(whole, 0, 0, NULL), 16 * MIBS);
    uint64_t once = sim_bytes(SIM_READ); /* and what is reserved behind the end, to see that it is one */
    sim_forget_diary();
    for (uint64_t i = 0; i < RANGES; i++)
        n += count_range(r, i * 2 * MIB, i + 1 < RANGES ? (i + 1) * 2 * MIB : U9_NOWHERE, NULL);
    ck_assert_uint_eq(n, 16 * MIBS);
    ck_assert_uint_ge(sim_bytes(SIM_READ), (uint64_t)MIBS * MIB);
    ck_assert_uint_le(sim_bytes(SIM_READ), once * 5 / 4);
    close_log(r);
    close_log(whole);
    close_log(w);
}
END_TEST

START_TEST(a_gap_is_searched_and_looked_behind_once)
{
    u9_log *w = write_unclosed(8), *r = open_sim_reader();
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_advance(2000000); /* the promise of it all is written */
    remove_mark(LOG); /* which would tell it at once */
    char path[64];
    snprintf(path, sizeof path, "%s/0000000000000001.u9", LOG);
    uint8_t zeros[2 * SMALL] = {0};
    sim_write(path, 2 * MIB, zeros, sizeof zeros);
    unsigned damages = 0;
    uint64_t read[2], records[2];
    for (unsigned i = 0; i < 2; i++) {
        sim_forget_diary();
        records[i] = count_range(r, 0, 0, &damages);
        read[i] = sim_bytes(SIM_READ);
    }
    ck_assert_uint_eq(damages, 2); /* each reading is told */
    ck_assert_uint_eq(records[0], records[1]);
    ck_assert_uint_lt(records[0], 128);
    ck_assert_uint_ge(read[0], read[1] + 5 * (uint64_t)MIB); /* what stands behind it, for its promises */
    close_log(r);
    close_log(w);
}
END_TEST

START_TEST(what_a_writer_appends_is_seen_by_the_next_cursor)
{
    u9_log *w = open_sim(U9_CREATE, SMALL), *r;
    append_text(w, "first");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    r = open_sim_reader();
    for (unsigned i = 1; i < 30; i++) {
        ck_assert_uint_eq(count_range(r, 0, 0, NULL), i);
        append_filler(w, 9000, NULL);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    ck_assert_uint_eq(count_range(r, 0, 0, NULL), 30);
    close_log(r);
}
END_TEST

/* {F31} */
START_TEST(a_file_that_changes_behind_a_reader_is_judged_anew)
{
    u9_log *w = write_unclosed(2), *r = open_sim_reader();
    close_log(w);
    ck_assert_uint_eq(count_range(r, 0, 0, NULL), 32);
    char path[64];
    snprintf(path, sizeof path, "%s/0000000000000001.u9", LOG);
    sim_write(path, MIB + 5000, "damage", 6);
    unsigned damages = 0;
    ck_assert_uint_eq(count_range(r, 0, 0, &damages), 31);
    ck_assert_uint_eq(damages, 1);
    ck_assert_uint_eq(count_range(r, 0, 0, &damages), 31);
    ck_assert_uint_eq(damages, 2);
    sim_resize(path, MIB); /* and it is cut: the tail is the end */
    ck_assert_uint_lt(count_range(r, 0, 0, &damages), 17);
    sim_remove(path);
    ck_assert_uint_eq(count_range(r, 0, 0, &damages), 0);
    close_log(r);
}
END_TEST

/* Bytes that change while a cursor is in the middle of what it was told before. */
START_TEST(a_frame_that_goes_bad_once_it_was_judged_is_told_if_it_is_always_hashed)
{
    if (u9i_guard_ready()) return; /* U9_GUARD: what the simulated disk shows as a mapping is a copy */
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .verify = _i ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST};
    u9_log *w = write_unclosed(2), *r = open_writer(LOG, &o);
    u9_cursor *c;
    u9_record record;
    close_log(w);
    ck_assert_uint_eq(count_range(r, 0, 0, NULL), 32); /* all of it is judged */
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    char path[64];
    snprintf(path, sizeof path, "%s/0000000000000001.u9", LOG);
    sim_write(path, 3 * MIB / 2, "damage", 6);
    unsigned n = 1, damages = 0;
    u9_err err;
    while ((err = u9_cursor_next(c, &record)) == U9_OK || err == U9_CORRUPT) {
        n += err == U9_OK;
        if (err != U9_CORRUPT) continue;
        damages++;
        ck_assert_uint_eq(u9_cursor_damage(c)->lost, 1);
        ck_assert_int_eq(u9_cursor_damage(c)->reason, U9_R_HASH);
    }
    ck_assert_int_eq(err, U9_END);
    ck_assert_uint_eq(n, _i ? 31 : 32);
    ck_assert_uint_eq(damages, _i ? 1 : 0);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(more_damages_than_a_segment_remembers_are_told_to_every_reader)
{
    enum { FRAMES = 5000 };
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    static uint64_t at[FRAMES];
    unsigned made = 0;
    while (made < FRAMES && f.size + 400 < FORGED_ROOM - 8192) {
        f.next.durable = f.end;
        at[made++] = forge_records(&f, "r", 1);
    }
    forge_end(&f, U9I_END_CLOSING);
    ck_assert_uint_gt(made, 2 * U9I_EXTENTS_MAX / 2);
    for (unsigned i = 0; i < made; i += 2) f.bytes[at[i] + 70] ^= 1;
    sim_make_dir(LOG);
    char path[64];
    snprintf(path, sizeof path, "%s/0000000000000001.u9", LOG);
    sim_write(path, 0, f.bytes, f.size);
    u9_log *r = open_sim_reader();
    for (unsigned n = 0; n < 2; n++) {
        unsigned damages = 0;
        ck_assert_uint_eq(count_range(r, 0, 0, &damages), made / 2);
        ck_assert_uint_eq(damages, (made + 1) / 2);
    }
    close_log(r);
    forge_free(&f);
}
END_TEST

/* Many at once */

enum { THREADS = 4 };

typedef struct shared_reading {
    u9_log *log;
    uint64_t begin, end, records;
} shared_reading;

static void *read_shared(void *arg)
{
    shared_reading *me = arg;
    u9_range range = {.size = sizeof range, .segment = 1, .begin = me->begin, .end = me->end};
    u9_cursor *c;
    u9_record r;
    if (u9_cursor_open(me->log, me->end ? &range : NULL, &c, NULL) != U9_OK) return NULL;
    while (u9_cursor_next(c, &r) == U9_OK) me->records++;
    u9_cursor_close(c);
    return NULL;
}

/* [P-1] [P-2] All of it, or each a range of it, on one handle. */
START_TEST(threads_share_what_is_judged)
{
    enum { MIBS = 4 };
    sim_begin_threads(7);
    u9_log *w = write_unclosed(MIBS), *r = open_sim_reader();
    for (unsigned way = 0; way < 3; way++) {
        shared_reading reading[THREADS];
        pthread_t thread[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            reading[i] = (shared_reading){.log = r};
            if (way != 1) reading[i].begin = i * (uint64_t)MIB;
            if (way != 1) reading[i].end = i + 1 < THREADS ? (i + 1) * (uint64_t)MIB : 9 * (uint64_t)MIB;
            ck_assert_int_eq(pthread_create(&thread[i], NULL, read_shared, &reading[i]), 0);
        }
        uint64_t all = 0;
        for (unsigned i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            all += reading[i].records;
        }
        ck_assert_uint_eq(all, way == 1 ? THREADS * 16 * MIBS : 16 * MIBS);
    }
    close_log(r);
    close_log(w);
}
END_TEST

/* As another thread does that is in the middle of something while the process forks. */
static void hold_locks(u9_log *log, u9i_segment *segment, bool held)
{
    pthread_mutex_t *locks[] = {&log->source.lock, &segment->judging, &segment->lock,
                                &log->source.windows.lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        (void)(held ? pthread_mutex_lock(locks[i]) : pthread_mutex_unlock(locks[i]));
}

START_TEST(a_child_waits_for_no_thread_of_its_parent)
{
    u9_log *w = open_sim(U9_CREATE, SMALL);
    append_filler(w, 100, NULL);
    close_log(w);
    u9_log *log = open_sim_reader();
    u9_cursor *c;
    u9_record r;
    int status;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    u9i_segment *segment = log->source.current->segments[0];
    hold_locks(log, segment, true);
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(20); /* a child that hangs dies */
        u9_cursor_close(c);
        _exit(u9_log_close(log, NULL) == U9_OK ? 0 : 1);
    }
    hold_locks(log, segment, false);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "the child died of signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* Also where a whole frame of records stands at the next block, which is void. [R-6] [R-8] [L-3] */
START_TEST(fill_behind_a_rolled_end_is_told_from_that_end_on)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    uint64_t end = one.end;
    forged_segment two = forge_begin(2, 2, &one, U9I_TAIL_ROLLED);
    forge_pad(&one);
    forge_records(&one, "b", 1);
    one.bytes[end + 20] = 0x11;
    sim_make_dir(LOG);
    forge_save(&one, LOG);
    forge_save(&two, LOG);
    seen *s = look(LOG);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_SEAL), 1);
    ck_assert_uint_eq(s->damages[0].begin, end);
    ck_assert_uint_eq(s->count, 2);
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

Suite *suite_segment(void)
{
    Suite *suite = suite_create("segment");
    TCase *tc = tcase_create("segment");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_record_of_the_last_of_many_segments_costs_three_more_opens_and_one_window);
    tcase_add_test(tc, opening_a_clean_log_reads_two_blocks_of_each_segment);
    tcase_add_test(tc, frames_that_were_proven_are_passed_by_their_ends);
    tcase_add_test(tc, ranges_of_an_unclosed_segment_read_its_bytes_about_once);
    tcase_add_test(tc, a_gap_is_searched_and_looked_behind_once);
    tcase_add_test(tc, what_a_writer_appends_is_seen_by_the_next_cursor);
    tcase_add_test(tc, a_file_that_changes_behind_a_reader_is_judged_anew);
    tcase_add_loop_test(tc, a_frame_that_goes_bad_once_it_was_judged_is_told_if_it_is_always_hashed, 0, 2);
    tcase_add_test(tc, more_damages_than_a_segment_remembers_are_told_to_every_reader);
    tcase_add_test(tc, fill_behind_a_rolled_end_is_told_from_that_end_on);
    tcase_add_test(tc, threads_share_what_is_judged);
    tcase_add_test(tc, a_child_waits_for_no_thread_of_its_parent);
    suite_add_tcase(suite, tc);
    return suite;
}
