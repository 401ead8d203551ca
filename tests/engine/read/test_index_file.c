/*
 * tests/engine/read/test_index_file.c: indexes in files beside segments: whatever is done to one, it changes how fast a
 * record is found, and no answer; making them in little memory, and what is refused; on the simulated disk. [K-1] [K-4]
 */
#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "format/frame/frame.h"
#include "tests/engine/fixture.h"
#include "tests/engine/read/model.h"
#include "tests/index_reader.h"
#include "tests/plain_file.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include "engine/index/index_file.h"
#include "engine/log/handle.h"
#include "engine/read/beside.h"
#include "engine/segment/probe.h"

#include <u9/index.h>
#include <u9/lookup.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void setup(void)
{
    sim_begin(11);
}

static void teardown(void)
{
    sim_end();
}

/* Some keys again and again, a fifth of them never; some model_drawn by the log, so that they come in order. */
static void append_some(u9_log *w, model *m, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        size_t i = (size_t)model_draw(KEYS * 4 / 5);
        model_append(w, m, i, m->kind == model_kinds[0] && !m->keys[i].there && model_draw(4) > 0);
    }
}

/* Sessions that end: by a close, or (torn) by a kill. The last one goes on in a file or begins one. */
static void write_sessions(model *m, unsigned sessions, unsigned appends, bool torn)
{
    for (unsigned s = 0; s < sessions; s++) {
        u9_log *w = model_open(m, U9_CREATE);
        append_some(w, m, appends);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        if (torn && s + 1 == sessions) {
            sim_kill();
            (void)!u9_log_close(w, NULL);
            sim_land(0);
        } else {
            close_log(w);
        }
    }
}

typedef u9_err index_task(const char *path, const u9_index_options *options, u9_index_report *report, u9_fault *fault);

static u9_index_report do_task(index_task *task, uint64_t memory)
{
    u9_fault fault = {.text = ""};
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .memory = memory};
    ck_assert_msg(task(LOG, &o, &r, &fault) == U9_OK, "%s", fault.text);
    return r;
}

static u9_index_report build(uint64_t memory)
{
    return do_task(u9_indexes_build, memory);
}

static u9_index_report look_at_it(void)
{
    return do_task(u9_indexes_look, 0);
}

static u9_index_report check_it(uint64_t memory)
{
    return do_task(u9_indexes_check, memory);
}

static u9_index_report drop(void)
{
    return do_task(u9_indexes_drop, 0);
}

/* Paths of the files whose names end so: free() each and the array. */
static char **files_ending(const char *end, size_t *count)
{
    size_t all, n = 0;
    char **names = sim_names(LOG, &all);
    for (size_t i = 0; i < all; i++) {
        size_t size = strlen(names[i]), wanted = strlen(end);
        if (size > wanted && strcmp(names[i] + size - wanted, end) == 0) {
            char *path = malloc(size + 8);
            ck_assert(path != NULL);
            snprintf(path, size + 8, "%s/%s", LOG, names[i]);
            free(names[i]);
            names[n++] = path;
        } else {
            free(names[i]);
        }
    }
    *count = n;
    return names;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
}

static size_t count_files(const char *end)
{
    size_t n;
    char **paths = files_ending(end, &n);
    free_names(paths, n);
    return n;
}

START_TEST(every_segment_that_holds_records_gets_an_index)
{
    model *m = model_new(_i);
    write_sessions(m, 3, 250, _i / 4);
    u9_index_report before = look_at_it(), r = build(0);
    ck_assert_uint_gt(before.none, 0);
    ck_assert_uint_eq(r.none, 0);
    ck_assert_uint_eq(r.made, before.none);
    ck_assert_uint_eq(r.made, count_files(".u9x"));
    ck_assert_uint_eq(count_files(".partial") + count_files(".runs"), 0);
    r = build(0);
    ck_assert_uint_eq(r.made, 0); /* once more there is nothing to do */
    ck_assert_uint_eq(r.beside, before.none);
    r = check_it(0);
    ck_assert_uint_eq(r.wrong, 0);
    ck_assert_uint_gt(r.entries, 0);
    ck_assert_uint_eq(r.none, 0);
    model_look_anew(m);
    r = drop();
    ck_assert_uint_eq(r.dropped, before.none);
    ck_assert_uint_eq(count_files(".u9x"), 0);
    model_look_anew(m);
    free(m);
}
END_TEST

START_TEST(a_writer_rolls_while_it_has_all_keys)
{
    model *m = model_new(3);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 64 << 20, .kind = m->kind,
                    .policy = U9_POLICY_NONE, .index_memory = 16 << 20};
    u9_log *w;
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    for (unsigned n = 0; n < 900000; n++) {
        char text[24];
        u9_key key = {.data = text, .size = (size_t)snprintf(text, sizeof text, "k%07u", n * 7919u % 9999991u)};
        ck_assert_int_eq(u9_log_append(w, &key, "\x81", 1, NULL), U9_OK);
    }
    close_log(w);
    u9_index_report r = look_at_it();
    ck_assert_uint_ge(r.segments, 3);
    ck_assert_uint_eq(r.none, 1); /* the last one */
    free(m);
}
END_TEST

static void flip(const char *path, uint64_t at)
{
    uint8_t byte;
    ck_assert_uint_eq(sim_read(path, at, &byte, 1), 1);
    byte ^= (uint8_t)(1u << model_draw(8));
    sim_write(path, at, &byte, 1);
}

/* A record in parts, of `size` bytes. */
static u9_place append_parts(u9_log *w, size_t size)
{
    u9_append *a;
    u9_place place;
    uint8_t *bytes = calloc(1, size), head[5] = {0x1e, (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size};
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 5 + size, &a, &place), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, 5), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, size), U9_OK);
    ck_assert_int_eq(u9_append_end(a, &place), U9_OK);
    free(bytes);
    return place;
}

/* The newest record of all is found. */
static void look_up_last(u9_log *log, const model *m)
{
    size_t last = 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->keys[i].there && m->keys[i].ordinal >= m->keys[last].ordinal) last = i;
    model_look_up(log, m, last);
}

/* One session more, which goes on in the last file. */
static void go_on(model *m, unsigned appends)
{
    u9_log *w = model_open(m, U9_CREATE);
    append_some(w, m, appends);
    close_log(w);
}

START_TEST(a_file_that_sessions_went_on_in_has_its_index_inside_when_it_is_sealed)
{
    model *m = model_new(_i);
    m->lz4 = _i / 4;
    for (unsigned session = 0; session < 3; session++) go_on(m, 30);
    ck_assert_uint_eq(look_at_it().segments, 1);
    go_on(m, m->lz4 ? 6000 : 900);
    u9_index_report r = look_at_it();
    ck_assert_uint_ge(r.segments, 3);
    ck_assert_uint_eq(r.inside, r.segments - 1); /* all that are sealed */
    r = check_it(0);
    ck_assert_uint_eq(r.wrong, 0);
    ck_assert_uint_ge(r.entries, 2);
    model_look_anew(m);
    free(m);
}
END_TEST

START_TEST(a_record_in_parts_of_an_earlier_session_is_in_the_index_inside)
{
    enum { BYTES = 3 << 20 };
    model *m = model_new(0);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 4 << 20, .kind = "muid",
                    .policy = U9_POLICY_NONE};
    u9_log *log;
    u9_record record;
    uint8_t *buf = malloc(BYTES + 100);
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    append_some(log, m, 100);
    u9_place large = append_parts(log, BYTES);
    close_log(log);
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    append_some(log, m, 8000);
    close_log(log);
    u9_index_report r = check_it(0);
    ck_assert_uint_ge(r.inside, 1);
    ck_assert_uint_eq(r.none, 1); /* the last one */
    ck_assert_uint_eq(r.wrong, 0);
    log = model_open(m, U9_READ);
    u9_key key = {.data = large.key, .size = 16};
    ck_assert_int_eq(u9_log_get(log, &key, buf, BYTES + 100, &record, NULL), U9_OK);
    ck_assert_uint_eq(record.ordinal, large.ordinal);
    model_look_up_all(log, m);
    close_log(log);
    free(buf);
    free(m);
}
END_TEST

START_TEST(a_file_whose_earlier_sessions_are_not_whole_is_sealed_without_an_index)
{
    model *m = model_new(_i);
    go_on(m, 100);
    size_t segments;
    char **logs = files_ending(".u9", &segments);
    u9_log *w = model_open(m, U9_CREATE);
    append_some(w, m, 100);
    flip(logs[0], 4096 + model_draw(4096));
    while (segments < 3) {
        append_some(w, m, 800);
        free_names(logs, segments);
        logs = files_ending(".u9", &segments);
    }
    close_log(w);
    u9_index_report r = look_at_it();
    ck_assert_uint_ge(r.segments, 3);
    ck_assert_uint_eq(r.inside, r.segments - 2);
    u9_log *log = model_open(m, U9_READ);
    look_up_last(log, m);
    close_log(log);
    free_names(logs, segments);
    free(m);
}
END_TEST

/* Bytes that were read of the segments for one lookup by a fresh handle. */
static uint64_t cost_of_a_lookup(const model *m, size_t i)
{
    u9_log *r = model_open(m, U9_READ);
    sim_forget_diary();
    model_look_up(r, m, i);
    uint64_t bytes = sim_bytes(SIM_READ);
    close_log(r);
    return bytes;
}

START_TEST(a_file_beside_a_segment_saves_reading_it)
{
    model *m = model_new(_i);
    write_sessions(m, 1, 400, false);
    ck_assert_uint_ge(count_files(".u9"), 2);
    size_t there = 0;
    while (!m->keys[there].there) there++;
    u9_log *w = model_open(m, U9_CREATE); /* goes on in the last file */
    model_append(w, m, there, false);
    for (unsigned n = 0; n < 30; n++) append_some(w, m, 1);
    model_append(w, m, there, false);
    close_log(w);
    uint64_t without = cost_of_a_lookup(m, there);
    build(0);
    uint64_t with = cost_of_a_lookup(m, there);
    ck_assert_msg(with < without, "%llu, not below %llu bytes", (unsigned long long)with, (unsigned long long)without);
    free(m);
}
END_TEST

/* Something happens to an index file. */
static void harm(char **paths, size_t count, unsigned how)
{
    const char *path = paths[model_draw(count)];
    uint64_t size = sim_holds(path) ? sim_size(path) : 0;
    if (size == 0) return;
    switch (how % 5) {
    case 0:
    case 1: flip(path, model_draw(size)); break;
    case 2: sim_resize(path, model_draw(size)); break;
    case 3: sim_copy(paths[model_draw(count)], path); break;
    case 4: sim_remove(path); break;
    }
}

/* {F16} {F60} */
START_TEST(whatever_becomes_of_an_index_file_no_answer_changes)
{
    model *m = model_new(_i);
    write_sessions(m, 4, 150, _i / 4);
    build(0);
    for (unsigned n = 0; n < thorough(12, 20); n++) {
        size_t count;
        char **paths = files_ending(".u9x", &count);
        ck_assert_uint_gt(count, 0);
        harm(paths, count, n);
        free_names(paths, count);
        model_look_anew(m);
        if (n % 4 == 3) {
            ck_assert_uint_eq(build(0).none, 0);
            ck_assert_uint_eq(check_it(0).wrong, 0);
            model_look_anew(m);
        }
    }
    free(m);
}
END_TEST

/* {F26} */
START_TEST(a_segment_that_went_on_has_a_stale_index_which_is_made_again)
{
    model *m = model_new(_i);
    write_sessions(m, 1, 60, _i / 4);
    ck_assert_uint_eq(build(0).made, 1);
    write_sessions(m, 1, 60, false); /* goes on in the file, or (torn) says where it ends */
    model_look_anew(m);
    u9_index_report r = look_at_it();
    ck_assert_uint_eq(r.unused, _i / 4 ? 0 : 1);
    r = build(0);
    ck_assert_uint_eq(r.none, 0);
    ck_assert_uint_ge(r.made, 1);
    ck_assert_uint_eq(r.unused, 0);
    model_look_anew(m);
    free(m);
}
END_TEST

/* {F26} */
START_TEST(an_older_file_put_back_is_not_used)
{
    model *m = model_new(_i);
    write_sessions(m, 1, 60, false);
    size_t count;
    build(0);
    char **paths = files_ending(".u9x", &count);
    ck_assert_uint_eq(count, 1);
    sim_copy(paths[0], "old");
    write_sessions(m, 1, 40, false);
    build(0);
    ck_assert_uint_eq(look_at_it().unused, 0);
    sim_copy("old", paths[0]);
    ck_assert_uint_eq(look_at_it().unused, 1);
    model_look_anew(m);
    free_names(paths, count);
    free(m);
}
END_TEST

/* {F60} */
START_TEST(a_file_of_another_owner_or_mode_is_not_used)
{
    model *m = model_new(_i);
    write_sessions(m, 1, 60, false);
    size_t count, segments;
    build(0);
    char **paths = files_ending(".u9x", &count), **logs = files_ending(".u9", &segments);
    ck_assert_uint_eq(look_at_it().beside, 1);
    sim_dress(paths[0], 7, 0);
    ck_assert_uint_eq(look_at_it().unused, 1);
    model_look_anew(m);
    sim_dress(paths[0], 0, 0644);
    ck_assert_uint_eq(look_at_it().unused, 1);
    sim_dress(logs[segments - 1], 5, 0640);
    ck_assert_uint_eq(build(0).made, 1); /* it is given the segment's */
    ck_assert_uint_eq(look_at_it().beside, 1);
    model_look_anew(m);
    free_names(paths, count);
    free_names(logs, segments);
    free(m);
}
END_TEST

START_TEST(more_keys_than_memory_are_sorted_in_runs)
{
    enum { SMALL = 64 << 10 };
    model *m = model_new(_i);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 16 << 20, .kind = m->kind,
                    .policy = U9_POLICY_NONE};
    u9_log *w;
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    for (unsigned n = 0; n < 30000; n++) model_append(w, m, (size_t)model_draw(KEYS * 4 / 5), false);
    close_log(w);
    sim_forget_diary();
    u9_index_report r = build(SMALL);
    ck_assert_uint_eq(r.none, 0);
    ck_assert_uint_ge(r.made, 1);
    ck_assert_uint_gt(sim_bytes(SIM_WRITE), 2 * 30000 * 24); /* written, and merged more than once */
    ck_assert_uint_eq(count_files(".runs") + count_files(".partial"), 0);
    ck_assert_uint_eq(check_it(SMALL).wrong, 0);
    model_look_anew(m);
    free(m);
}
END_TEST

typedef struct progress {
    unsigned calls, stop_at; /* 0: never */
    uint64_t done, all;
} progress;

static int watch_progress(void *ctx, uint64_t done, uint64_t all)
{
    progress *p = ctx;
    ck_assert(done >= p->done && done <= all && (p->all == 0 || p->all == all));
    *p = (progress){.calls = p->calls + 1, .stop_at = p->stop_at, .done = done, .all = all};
    sim_advance(100000); /* it is told from time to time */
    return p->calls == p->stop_at;
}

START_TEST(progress_is_told_and_may_stop_the_work)
{
    model *m = model_new(_i);
    u9_index_report r = {.size = sizeof r};
    u9_fault fault;
    for (unsigned s = 0; s < 4; s++) write_sessions(m, 1, 150, true);
    uint64_t bytes = 0;
    progress all = {.calls = 0}, some = {.stop_at = 3};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_progress = watch_progress, .ctx = &some};
    ck_assert_int_eq(u9_indexes_build(LOG, &o, &r, &fault), U9_STATE);
    ck_assert_uint_eq(some.calls, 3);
    ck_assert_uint_eq(count_files(".partial") + count_files(".runs"), 0);
    drop();
    ck_assert_uint_gt(build(0).made, 0);
    some = (progress){.stop_at = 2};
    ck_assert_int_eq(u9_indexes_check(LOG, &o, &r, &fault), U9_STATE);
    ck_assert_uint_eq(some.calls, 2);
    drop();
    o.ctx = &all;
    ck_assert_int_eq(u9_indexes_build(LOG, &o, &r, &fault), U9_OK);
    ck_assert_uint_gt(all.calls, 3);
    size_t count;
    char **logs = files_ending(".u9", &count);
    for (size_t i = 0; i < count; i++) bytes += sim_size(logs[i]);
    ck_assert_uint_eq(all.all, bytes); /* of which there are so many */
    ck_assert_uint_gt(all.done, bytes / 2);
    free_names(logs, count);
    all = (progress){.calls = 0};
    ck_assert_int_eq(u9_indexes_check(LOG, &o, &r, &fault), U9_OK);
    ck_assert_uint_gt(all.calls, 3);
    free(m);
}
END_TEST

/* What happens to the log while its indexes are made or checked: when the first segment is done, or progress is told. */
enum { GOES_ON, TRIMS, DROPS, ANOTHER, MEDDLINGS };

typedef struct meddling {
    int how;
    model *m;
    unsigned calls;
} meddling;

static void meddle(meddling *x)
{
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io()};
    u9_trim what = {.size = sizeof what, .keep_bytes = 1};
    u9_trimmed done = {.size = sizeof done};
    if (x->calls++ > 0) return;
    if (x->how == DROPS) drop();
    if (x->how == ANOTHER) ck_assert_int_eq(u9_indexes_build(LOG, &o, &r, NULL), U9_LOCKED);
    if (x->how != GOES_ON && x->how != TRIMS) return;
    u9_log *w = model_open(x->m, U9_CREATE);
    append_some(w, x->m, 40);
    if (x->how == TRIMS) ck_assert_int_eq(u9_log_trim(w, &what, &done, NULL), U9_OK);
    close_log(w);
}

static void meddle_behind_a_segment(void *ctx, const u9_index_info *info)
{
    (void)info;
    if (((meddling *)ctx)->how != ANOTHER) meddle(ctx);
}

static int meddle_in_between(void *ctx, uint64_t done, uint64_t all)
{
    (void)done, (void)all;
    sim_advance(100000);
    if (((meddling *)ctx)->how == ANOTHER) meddle(ctx);
    return 0;
}

/* {F60} Nothing else comes of it but that less is made or checked. */
START_TEST(a_log_that_changes_while_its_indexes_are_made_or_checked_is_told_as_it_was)
{
    index_task *const tasks[] = {u9_indexes_build, u9_indexes_check};
    model *m = model_new(_i / MEDDLINGS ? 3 : 0);
    for (unsigned s = 0; s < 4; s++) write_sessions(m, 1, 60, s < 3); /* torn: each begins a file */
    for (unsigned task = 0; task < 2; task++) {
        if (task) build(0);
        meddling x = {.how = _i % MEDDLINGS, .m = m};
        u9_index_report r = {.size = sizeof r};
        u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = meddle_behind_a_segment, .on_progress = meddle_in_between,
                              .ctx = &x};
        if (task && x.how == ANOTHER) break; /* a check locks nothing */
        u9_fault fault = {.text = ""};
        u9_err err = tasks[task](LOG, &o, &r, &fault);
        ck_assert_msg(err == U9_OK, "%s", fault.text);
        ck_assert_uint_gt(x.calls, 0);
        ck_assert_uint_eq(r.wrong, 0);
        if (x.how != TRIMS) model_look_anew(m);
        ck_assert_uint_eq(build(0).none, x.how == TRIMS); /* the newest has no record then */
        ck_assert_uint_eq(check_it(0).wrong, 0);
    }
    free(m);
}
END_TEST

static meddling trimmer;
static unsigned calls_made, trims_at;

static void trim_at_a_call(sim_kind kind)
{
    (void)kind;
    if (++calls_made == trims_at) meddle(&trimmer);
}

START_TEST(what_is_trimmed_at_any_call_gets_no_index_and_that_is_no_fault) /* [K-4] [L-10] */
{
    index_task *const tasks[] = {u9_indexes_build, u9_indexes_check};
    calls_made = trims_at = 1;
    for (; calls_made >= trims_at; trims_at = next_call(trims_at)) {
        model *m = model_new(0);
        for (unsigned s = 0; s < 4; s++) write_sessions(m, 1, 20, s < 3);
        if (_i) build(0);
        trimmer = (meddling){.how = TRIMS, .m = m};
        u9_index_report r = {.size = sizeof r};
        u9_index_options o = {.size = sizeof o, .io = sim_io()};
        u9_fault fault = {.text = ""};
        calls_made = 0;
        sim_before_call(trim_at_a_call);
        u9_err err = tasks[_i](LOG, &o, &r, &fault);
        sim_before_call(NULL);
        ck_assert_msg(err == U9_OK, "call %u: %s", trims_at, fault.text);
        ck_assert_uint_eq(r.wrong, 0);
        ck_assert_uint_eq(check_it(0).wrong, 0);
        ck_assert_uint_eq(count_files(".partial") + count_files(".runs"), 0);
        free(m);
        sim_end();
        sim_begin(11);
    }
    ck_assert_uint_gt(trims_at, 20);
}
END_TEST

/* What cannot be made, or removed, is told in words, and nothing is half made. */
START_TEST(where_no_index_can_be_made_or_removed_that_is_told)
{
    static const struct {
        sim_kind call;
        int sys;
        index_task *task;
        const char *says;
    } rows[] = {{SIM_CREATE, EROFS, u9_indexes_build, "nothing is lost"}, {SIM_CREATE, EACCES, u9_indexes_build, "nothing is lost"},
                {SIM_CREATE, EPERM, u9_indexes_build, "nothing is lost"}, {SIM_CREATE, EIO, u9_indexes_build, "cannot make"},
                {SIM_CREATE, ENOMEM, u9_indexes_build, "memory"}, {SIM_REMOVE, EACCES, u9_indexes_drop, "cannot remove"}};
    model *m = model_new(0);
    write_sessions(m, 2, 60, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        u9_index_report r = {.size = sizeof r};
        u9_index_options o = {.size = sizeof o, .io = sim_io()};
        u9_fault fault = {.text = ""};
        if (rows[i].task == u9_indexes_drop) build(0);
        sim_fail(rows[i].call, 1, rows[i].sys, false);
        u9_err err = rows[i].task(LOG, &o, &r, &fault);
        sim_mend();
        ck_assert_msg(err == (rows[i].sys == ENOMEM ? U9_NOMEM : U9_IO), "%zu: %s", i, u9_err_name(err));
        ck_assert_msg(strstr(fault.text, rows[i].says) != NULL, "%zu: %s", i, fault.text);
        ck_assert_uint_eq(count_files(".partial") + count_files(".runs"), 0);
    }
    free(m);
}
END_TEST

static void count_reason(void *ctx, const u9_index_info *info)
{
    ++((unsigned *)ctx)[info->why];
}

/* [K-4] */
START_TEST(why_an_index_is_not_used_is_told)
{
    model *m = model_new(0);
    for (unsigned s = 0; s < 3; s++) write_sessions(m, 1, 60, true);
    build(0);
    size_t count;
    char **paths = files_ending(".u9x", &count);
    ck_assert_uint_ge(count, 3);
    sim_copy(paths[0], paths[1]);
    sim_remove(paths[2]);
    fill_bytes(paths[0], 4096, sim_size(paths[0]) - 4096, 0xee);
    unsigned why[16] = {0};
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = count_reason, .ctx = why};
    ck_assert_int_eq(u9_indexes_look(LOG, &o, &r, NULL), U9_OK);
    ck_assert_uint_eq(why[U9_INDEX_FOREIGN], 1);
    ck_assert_uint_ge(why[U9_INDEX_MISSING], 1);
    ck_assert_uint_eq(why[U9_INDEX_DAMAGED], 1);
    memset(why, 0, sizeof why);
    u9_log *w = model_open(m, U9_CREATE);
    append_some(w, m, 3);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_indexes_look(LOG, &o, &r, NULL), U9_OK);
    ck_assert_uint_eq(why[U9_INDEX_WRITING], 1);
    close_log(w);
    for (unsigned y = 0; y < 12; y++) ck_assert_uint_gt(strlen(u9_index_why_text((u9_index_why)y)), 5);
    free_names(paths, count);
    free(m);
}
END_TEST

/* [K-4] {F60} A segment, closed or not, and a plain seed file; and an index up to each block of it. */
START_TEST(what_is_no_index_under_the_name_of_one_is_told_and_not_used)
{
    model *m = model_new(0);
    for (unsigned s = 0; s < 2; s++) write_sessions(m, 1, 60, true);
    build(0);
    size_t count, segments;
    char **paths = files_ending(".u9x", &count), **each = files_ending(".u9", &segments);
    uint64_t whole = sim_size(paths[0]);
    plain_file plain = plain_example();
    sim_copy(paths[0], LOG "/whole");
    for (size_t i = 0; i <= segments + whole / 4096; i++) {
        sim_copy(i < segments ? each[i] : LOG "/whole", paths[0]);
        if (i == segments) sim_resize(paths[0], 0), sim_write(paths[0], 0, plain.bytes, plain.size);
        if (i > segments) sim_resize(paths[0], whole - (i - segments) * 4096);
        unsigned why[16] = {0};
        u9_index_report r = {.size = sizeof r};
        u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = count_reason, .ctx = why};
        ck_assert_int_eq(u9_indexes_look(LOG, &o, &r, NULL), U9_OK);
        ck_assert_msg(why[U9_INDEX_FOREIGN] + why[U9_INDEX_DAMAGED] == 1, "%zu", i);
        model_look_anew(m);
    }
    plain_free(&plain);
    free_names(paths, count);
    free_names(each, segments);
    free(m);
}
END_TEST

/* No answer changes by it, and nobody puts an index in its place. */
START_TEST(a_directory_where_an_index_would_stand_is_none)
{
    model *m = model_new(0);
    write_sessions(m, 2, 60, true);
    build(0);
    size_t count;
    char **paths = files_ending(".u9x", &count);
    ck_assert_uint_ge(count, 1);
    sim_remove(paths[0]);
    sim_make_dir(paths[0]);
    model_look_anew(m);
    unsigned why[16] = {0};
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = count_reason, .ctx = why};
    u9_fault fault = {.text = ""};
    ck_assert_int_eq(u9_indexes_look(LOG, &o, &r, NULL), U9_OK);
    ck_assert_uint_eq(why[U9_INDEX_MISSING] + why[U9_INDEX_DAMAGED], 1);
    ck_assert_int_eq(u9_indexes_build(LOG, &o, &r, &fault), U9_IO);
    ck_assert_ptr_nonnull(strstr(fault.text, "cannot make an index beside segment"));
    ck_assert_uint_eq(count_files(".partial") + count_files(".runs"), 0);
    model_look_anew(m);
    free_names(paths, count);
    free(m);
}
END_TEST

START_TEST(of_a_key_with_very_many_records_few_pages_are_opened)
{
    enum { RECORDS = 40000 };
    model *m = model_new(1);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 16 << 20, .kind = m->kind,
                    .policy = U9_POLICY_NONE};
    u9_log *w;
    uint64_t middle = 0, at[2];
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    for (unsigned n = 0; n < RECORDS; n++) model_append(w, m, n % 16 ? 0 : 1 + (size_t)model_draw(KEYS - 1), false);
    close_log(w);
    ck_assert_uint_eq(build(0).made, 1);
    u9_log *r = model_open(m, U9_READ);
    u9i_catalog *catalog;
    u9i_budget budget = {.limit = 0};
    u9i_index index;
    u9i_index_flaw flaw;
    uint64_t lost_before;
    u9_key key = {.data = m->keys[0].raw, .size = m->keys[0].size};
    ck_assert_int_eq(u9i_source_catalog(&r->source, &catalog, NULL), U9_OK);
    middle = catalog->segments[0]->facts.size / 2 / 16 << U9I_VIRTUAL_SHIFT;
    ck_assert_int_eq(u9i_beside_open(r, catalog->segments[0], &budget, &index, &lost_before, &flaw), U9_OK);
    ck_assert_int_eq(u9i_index_aim(&index, &key, middle, at), U9_OK);
    ck_assert_uint_lt(at[0], middle);
    ck_assert_uint_gt(at[0], middle / 2);
    unsigned opened = 0;
    for (uint32_t n = 0; n < index.records.page_count; n++) opened += index.records.pages[n] != NULL;
    ck_assert_uint_ge(index.records.page_count, 16);
    ck_assert_msg(opened <= 7, "%u of %u", opened, index.records.page_count);
    u9i_index_close(&index);
    u9i_catalog_unref(catalog);
    close_log(r);
    free(m);
}
END_TEST

START_TEST(a_record_in_parts_whose_key_comes_in_order_is_found)
{
    enum { BYTES = 3 << 20 };
    model *m = model_new(0);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 64 << 20, .kind = "muid",
                    .policy = U9_POLICY_NONE};
    u9_log *w, *r;
    uint8_t *buf = malloc(BYTES + 100);
    u9_record record;
    u9_place small;
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, &small), U9_OK);
    u9_place large = append_parts(w, BYTES);
    u9_key key = {.data = large.key, .size = 16};
    for (unsigned n = 0; n < 3; n++) {
        ck_assert_int_eq(u9_log_get(w, &key, buf, BYTES + 100, &record, NULL), U9_OK);
        ck_assert_uint_eq(record.ordinal, large.ordinal);
        if (n == 0) ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, &small), U9_OK);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    for (unsigned beside = 0; beside < 2; beside++) {
        if (beside) ck_assert_uint_eq(build(0).made, 1);
        r = model_open(m, U9_READ);
        ck_assert_int_eq(u9_log_get(r, &key, buf, BYTES + 100, &record, NULL), U9_OK);
        ck_assert_uint_eq(record.ordinal, large.ordinal);
        close_log(r);
    }
    ck_assert_uint_eq(check_it(0).wrong, 0);
    free(buf);
    free(m);
}
END_TEST

/* {F16} */
START_TEST(a_build_that_fails_leaves_nothing_half_made)
{
    static const sim_kind at[] = {SIM_CREATE, SIM_WRITE, SIM_SYNC, SIM_RENAME, SIM_TRUNCATE, SIM_DRESS, SIM_SYNC_DIR};
    model *m = model_new(_i);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 4 << 20, .kind = m->kind,
                    .policy = U9_POLICY_NONE};
    u9_log *w;
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    for (unsigned n = 0; n < 8000; n++) model_append(w, m, (size_t)model_draw(KEYS * 4 / 5), false);
    close_log(w);
    for (unsigned k = 0; k < sizeof at / sizeof *at; k++)
        for (unsigned nth = 1; nth < 5; nth++) {
            u9_index_report r = {.size = sizeof r};
            u9_index_options io = {.size = sizeof io, .io = sim_io(), .memory = 64 << 10};
            u9_fault fault = {.text = ""};
            unsigned fired = sim_fired();
            sim_fail(at[k], nth, ENOSPC, false);
            u9_err err = u9_indexes_build(LOG, &io, &r, &fault);
            ck_assert_msg(err == (sim_fired() > fired ? U9_IO : U9_OK), "call %u, the %u.: %d %s", at[k], nth, err, fault.text);
            sim_mend();
            ck_assert_uint_eq(count_files(".runs") + count_files(".partial"), 0);
            model_look_up(w = model_open(m, U9_READ), m, 3);
            close_log(w);
            drop();
        }
    free(m);
}
END_TEST

/* {F14} The entries are sorted in a file, which cannot be read back: also where nothing of the segment comes behind. */
START_TEST(a_check_that_cannot_read_its_own_file_says_so)
{
    enum { SMALL = 64 << 10, BYTES = 60000 };
    model *m = model_new(3);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 4 << 20, .kind = m->kind,
                    .policy = U9_POLICY_NONE};
    u9_log *w;
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    for (unsigned n = 0; n < 8000; n++) model_append(w, m, (size_t)model_draw(KEYS * 4 / 5), false);
    close_log(w);
    ck_assert_uint_eq(build(SMALL).made, 1);
    const char *path = segment_path(LOG, 1);
    fill_bytes(path, BYTES, file_size(path) - BYTES - 3 * 4096, 0);
    ck_assert_uint_eq(check_it(SMALL).beside, 1);
    unsigned nth = 1;
    for (bool fails = true; fails; nth++) {
        u9_index_report r = {.size = sizeof r};
        u9_index_options small = {.size = sizeof small, .io = sim_io(), .memory = SMALL};
        unsigned fired = sim_fired();
        sim_aim("0000000000000001.u9x.check");
        sim_fail(SIM_READ, nth, EIO, false);
        u9_err err = u9_indexes_check(LOG, &small, &r, NULL);
        sim_mend();
        fails = sim_fired() > fired;
        ck_assert_msg(err == (fails ? U9_IO : U9_OK), "read %u: %s", nth, u9_err_name(err));
    }
    ck_assert_uint_gt(nth, 8);
    sim_aim(NULL);
    free(m);
}
END_TEST

START_TEST(a_trim_takes_the_index_files_of_what_it_removes)
{
    model *m = model_new(_i);
    for (unsigned s = 0; s < 4; s++) {
        write_sessions(m, 1, 60, true); /* torn: each begins a file */
    }
    build(0);
    size_t before = count_files(".u9x");
    ck_assert_uint_ge(before, 3);
    u9_log *w = model_open(m, U9_CREATE);
    u9_trim what = {.size = sizeof what, .keep_bytes = 1};
    u9_trimmed done = {.size = sizeof done};
    append_some(w, m, 1);
    ck_assert_int_eq(u9_log_trim(w, &what, &done, NULL), U9_OK);
    ck_assert_uint_gt(done.segments, 0);
    close_log(w);
    size_t count;
    char **paths = files_ending(".u9x", &count);
    for (size_t i = 0; i < count; i++) { /* each is of a segment that is there */
        paths[i][strlen(paths[i]) - 1] = 0;
        ck_assert(sim_holds(paths[i]));
    }
    ck_assert_uint_lt(count, before);
    free_names(paths, count);
    free(m);
}
END_TEST

/* The keys of the log's records as entries, but one that is left out and one that leads to another's place. */
static uint64_t lie(u9_log *log, u9i_runs *out, uint64_t left_out, uint64_t misled)
{
    u9_cursor *c;
    u9_record r;
    u9i_keyspec spec = u9i_keyspec_of("muid", 0);
    uint64_t n = 0, before = 0;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    for (; u9_cursor_next(c, &r) == U9_OK; n++) {
        u9i_key_entry e;
        ck_assert(u9i_keyspec_entry(&spec, r.key.data, r.key.size, &e));
        e.at = n == misled ? before : r.at;
        before = r.at;
        if (n != left_out) u9i_runs_add(out, &e);
    }
    u9_cursor_close(c);
    return n;
}

/* {F60} */
START_TEST(a_check_tells_what_an_index_lies)
{
    model *m = model_new(0);
    u9_log *w = model_open(m, U9_CREATE);
    for (size_t i = 0; i < 100; i++) model_append(w, m, i, true);
    close_log(w);
    ck_assert_uint_eq(build(0).made, 1);
    ck_assert_uint_eq(check_it(0).wrong, 0);
    u9_log *r = model_open(m, U9_READ);
    u9i_catalog *catalog;
    u9i_index_file file;
    u9i_index_flaw flaw;
    u9i_queue *queue;
    ck_assert_int_eq(u9i_source_catalog(&r->source, &catalog, NULL), U9_OK);
    ck_assert_int_eq(u9i_index_file_open(&file, catalog->segments[0], &r->source.windows, &flaw), U9_OK);
    ck_assert_int_eq(u9i_queue_open(sim_env(), NULL, 0, 0, &queue), 0);
    u9i_runs frames = {.memory = U9I_RUNS_MEMORY}, records = {.memory = U9I_RUNS_MEMORY};
    u9i_index_making making = {.of = catalog->segments[0], .dir = r->source.dir, .queue = queue, .spec = {.width = 16}};
    ck_assert_int_eq(u9i_runs_open(&frames) | u9i_runs_open(&records), 0);
    uint64_t count = lie(r, &records, 3, 5);
    ck_assert_int_eq(u9i_runs_sort(&frames) | u9i_runs_sort(&records) | u9i_index_making_begin(&making), 0);
    ck_assert_int_eq(u9i_index_making_end(&making, &frames, &records, &file.end, file.last, count, NULL, 1 << 20), 0);
    u9i_runs_close(&frames);
    u9i_runs_close(&records);
    u9i_queue_close(queue);
    u9i_index_file_close(&file);
    u9i_catalog_unref(catalog);
    close_log(r);
    /* record 3 is not found; 5 is not, and its entry leads to 4 */
    ck_assert_uint_eq(check_it(0).wrong, 3);
    free(m);
}
END_TEST

/* Something happens to the bytes behind a sealed segment's data. */
static void harm_inside(char **paths, size_t count, unsigned how)
{
    const char *path = paths[model_draw(count)];
    uint8_t end[4096], block[4096];
    uint64_t size = sim_size(path), data;
    u9i_end_record r;
    if (sim_read(path, size - 4096, end, sizeof end) != sizeof end ||
        u9i_end_record_decode(end + U9I_FRAME_HEADER_SIZE, (size_t)u9i_get_be(end + 56, 8) - U9I_TRAILER_SIZE, &r) != U9_OK)
        return;
    data = (r.data_end + 4095) / 4096 * 4096;
    if (r.root == 0 || data >= size) return;
    uint64_t at = data + model_draw((size - data) / 4096) * 4096;
    switch (how % 4) {
    case 0:
    case 1: flip(path, data + model_draw(size - data)); break;
    case 2: sim_resize(path, at); break; /* the index is cut, with the seal */
    case 3: /* a block of it comes from somewhere else in it */
        ck_assert_uint_eq(sim_read(path, data + model_draw((size - data) / 4096) * 4096, block, sizeof block), sizeof block);
        sim_write(path, at, block, sizeof block);
        break;
    }
}

/* {F60} */
START_TEST(whatever_becomes_of_an_index_inside_no_answer_changes)
{
    model *m = model_new(_i);
    write_sessions(m, 2, 900, false);
    size_t count;
    char **paths = files_ending(".u9", &count);
    ck_assert_uint_gt(look_at_it().inside, 2);
    for (unsigned n = 0; n < thorough(8, 16); n++) {
        harm_inside(paths, count, n);
        model_look_anew(m);
        if (n % 4 == 3) {
            ck_assert_uint_eq(build(0).none, 0); /* what is not whole gets one beside */
            ck_assert_uint_eq(check_it(0).unused, 0);
            model_look_anew(m);
        }
    }
    free_names(paths, count);
    free(m);
}
END_TEST

/* What lookups say of all keys. */
typedef struct answers {
    u9_err err[KEYS];
    uint64_t ordinal[KEYS]; /* of those that are found */
} answers;

static answers ask(const model *m)
{
    static answers a;
    uint8_t buf[ROOM];
    u9_log *r = model_open(m, U9_READ);
    for (size_t i = 0; i < KEYS; i++) {
        u9_record record = {.ordinal = 0};
        u9_key key = {.data = m->keys[i].raw, .size = m->keys[i].size};
        a.err[i] = u9_log_get(r, &key, buf, sizeof buf, &record, NULL);
        a.ordinal[i] = record.ordinal;
    }
    close_log(r);
    return a;
}

/* With the index files and without them the answers are the same, but that with one it may be known that a key never was. */
static void compare_with_none(const model *m)
{
    size_t count;
    char **paths = files_ending(".u9x", &count);
    answers with = ask(m);
    for (size_t i = 0; i < count; i++) {
        char saved[32];
        snprintf(saved, sizeof saved, "saved%zu", i);
        sim_copy(paths[i], saved);
        sim_remove(paths[i]);
    }
    answers without = ask(m);
    for (size_t i = 0; i < count; i++) {
        char saved[32];
        snprintf(saved, sizeof saved, "saved%zu", i);
        sim_copy(saved, paths[i]);
    }
    for (size_t i = 0; i < KEYS; i++) {
        bool never = !m->keys[i].there && with.err[i] == U9_ABSENT && without.err[i] == U9_CORRUPT;
        bool newest = with.err[i] == U9_OK && without.err[i] == U9_CORRUPT && with.ordinal[i] == m->keys[i].ordinal;
        never |= newest; /* what was lost behind it has no such key, as the index knows */
        ck_assert_msg(with.err[i] == without.err[i] || never, "key %zu: %d, without %d", i, with.err[i], without.err[i]);
        ck_assert_msg(never || with.ordinal[i] == without.ordinal[i], "key %zu: record %llu, without %llu", i,
                      (unsigned long long)with.ordinal[i], (unsigned long long)without.ordinal[i]);
    }
    free_names(paths, count);
}

static void count_lossy(void *ctx, const u9_index_info *info)
{
    *(unsigned *)ctx += info->place == U9_INDEX_BESIDE && info->why == U9_INDEX_LOSSY;
}

/* Segments with an index that notes losses. */
static unsigned lossy_indexes(void)
{
    unsigned count = 0;
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = count_lossy, .ctx = &count};
    ck_assert_int_eq(u9_indexes_look(LOG, &o, &r, NULL), U9_OK);
    return count;
}

START_TEST(records_lost_to_damage_are_told_with_and_without_an_index)
{
    model *m = model_new(_i);
    write_sessions(m, 2, 60, false);
    size_t segments;
    char **logs = files_ending(".u9", &segments);
    sim_copy(logs[0], "whole");
    flip(logs[0], 4096 + model_draw(4096));
    uint8_t buf[ROOM];
    u9_record record;
    u9_key absent = {.data = m->keys[KEYS - 1].raw, .size = m->keys[KEYS - 1].size};
    u9_err mended[2];
    for (unsigned beside = 0; beside < 2; beside++) {
        if (beside) ck_assert_uint_eq(build(0).none, 0);
        ck_assert_uint_eq(lossy_indexes(), beside);
        u9_options mends = {.size = sizeof mends, .mode = U9_READ, .io = sim_io(), .mend = 1};
        u9_log *log;
        ck_assert_int_eq(u9_log_open(LOG, &mends, &log, NULL), U9_OK);
        mended[beside] = u9_log_get(log, &absent, buf, sizeof buf, &record, NULL);
        close_log(log);
        log = model_open(m, U9_READ);
        ck_assert_int_eq(u9_log_get(log, &absent, buf, sizeof buf, &record, NULL), U9_CORRUPT);
        told t = {.count = 0};
        ck_assert_int_eq(u9_log_versions(log, &absent, model_count_version, &t, NULL), U9_CORRUPT);
        close_log(log);
    }
    ck_assert_int_eq(mended[1], mended[0]); /* [Y-1] what is mended is not lost, whatever the index noted */
    ck_assert_uint_eq(check_it(0).wrong, 0);
    ck_assert_uint_eq(build(0).made, 0);
    compare_with_none(m);
    sim_copy("whole", logs[0]); /* what was lost is back: the index does not hide it */
    ck_assert_uint_eq(look_at_it().unused, 1);
    model_look_anew(m);
    ck_assert_uint_eq(build(0).made, 1);
    ck_assert_uint_eq(lossy_indexes(), 0);
    model_look_anew(m);
    free_names(logs, segments);
    free(m);
}
END_TEST

static void count_without(void *ctx, const u9_index_info *info)
{
    *(unsigned *)ctx += info->place == U9_INDEX_NONE && info->why == U9_INDEX_LOSSY;
}

/*
 * The mark is not met: no frame ends where the data end. An index of what is there is one if no record is lost by that; else
 * none is made, for nothing would tell that the loss was given up. [K-4]
 */
START_TEST(beside_a_segment_whose_end_is_lost_stands_no_index_that_is_not_used)
{
    model *m = model_new(_i / 2);
    write_sessions(m, 2, 60, false);
    size_t segments, files;
    char **logs = files_ending(".u9", &segments);
    ck_assert_uint_eq(segments, 1);
    bool loses = _i % 2;
    sim_resize(logs[0], sim_size(logs[0]) - (loses ? 2u : 1u) * 4096); /* within the second session's records, or before its u9end */
    unsigned lossy = 0;
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = count_without, .ctx = &lossy};
    ck_assert_int_eq(u9_indexes_build(LOG, &o, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.made, !loses);
    ck_assert_uint_eq(lossy, loses);
    char **beside = files_ending(".u9x", &files);
    free_names(beside, files);
    ck_assert_uint_eq(files, !loses);
    ck_assert_uint_eq(build(0).made, 0);
    compare_with_none(m);
    free_names(logs, segments);
    free(m);
}
END_TEST

/*
 * A session goes on in a file that has an index beside it, and breaks off; what it wrote is damaged: it may be lost. So may
 * whole records be behind its damaged u9open, of which nobody knows whether they were promised. [K-3] [K-4]
 */
START_TEST(what_was_lost_at_the_end_behind_an_index_is_told)
{
    u9_log *log;
    u9_record r = {.frame = 0};
    uint8_t buf[64];
    u9_key lost = {"lost", 4}, old = {"old", 3};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey"};
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
        ck_assert_int_eq(u9_log_append(log, i == 0 ? &old : &lost, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(log), U9_OK);
        if (i == 1) ck_assert_int_eq(u9_log_get(log, &lost, buf, sizeof buf, &r, NULL), U9_OK);
        if (i == 1) sim_copy(LOG, "saved");
        close_log(log);
        if (i == 0) ck_assert_uint_eq(build(0).made, 1);
    }
    sim_remove(LOG);
    sim_copy("saved", LOG);
    uint64_t at = r.frame + 70;
    if (_i == 1) {
        size_t size;
        uint8_t *bytes = read_file(segment_path(LOG, 1), &size);
        for (at = r.frame; memcmp(bytes + at, "u9open", 6) != 0; at--) ck_assert_uint_gt(at, 4096);
        free(bytes);
    }
    fill_bytes(segment_path(LOG, 1), at, 1, 0x55);
    o.mode = U9_READ;
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(count_files(".u9x"), i == 0);
        ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
        ck_assert_int_eq(u9_log_get(log, &lost, buf, sizeof buf, &r, NULL), U9_CORRUPT);
        ck_assert_int_eq(u9_log_get(log, &old, buf, sizeof buf, &r, NULL), U9_CORRUPT); /* there may be a newer one */
        ck_assert_uint_eq(r.ordinal, 0);
        close_log(log);
        if (i == 0) ck_assert_uint_eq(drop().dropped, 1);
    }
}
END_TEST

/* Keys out of order, which have entries of their own, in the range of keys of a frame that was lost: what says so is right. [K-2] */
START_TEST(an_index_that_leads_to_what_was_lost_is_not_wrong)
{
    enum { RECORDS = 600, EACH = 10, HARMED = 14, ONE = 405 };
    u9_log *log;
    u9_record r = {.frame = 0};
    uint8_t buf[64], key[8], one[8];
    uint64_t frame = 0;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "uid8"};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < RECORDS; i++) {
        u9i_set_be(key, 8, (uint64_t)(i > RECORDS / 2 && i % EACH == EACH / 2 ? 100 + i / EACH : 10 * i + 1) << 20);
        if (i == ONE) memcpy(one, key, sizeof one);
        ck_assert_int_eq(u9_log_append(log, &(u9_key){key, 8}, "\x81", 1, NULL), U9_OK);
        if (i % EACH == EACH - 1) ck_assert_int_eq(u9_log_sync(log), U9_OK);
        if (i == HARMED) ck_assert_int_eq(u9_log_get(log, &(u9_key){key, 8}, buf, sizeof buf, &r, NULL), U9_OK);
        if (i == HARMED) frame = r.frame;
    }
    close_log(log);
    ck_assert_uint_eq(build(0).made, 1);
    ck_assert_uint_eq(check_it(0).wrong, 0);
    fill_bytes(segment_path(LOG, 1), frame + 70, 1, 0x55);
    ck_assert_uint_eq(check_it(0).wrong, 0);
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_log_get(log, &(u9_key){one, 8}, buf, sizeof buf, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.ordinal, ONE);
    close_log(log);
}
END_TEST

static void note_why(void *ctx, const u9_index_info *info)
{
    u9_index_info *out = ctx;
    if (info->clause != U9_CLAUSE_NONE) *out = *info;
}

/* The frame that begins at p gets the hash and the signature of what stands in it. */
static void sign_again(uint8_t *bytes, uint64_t p)
{
    uint8_t *frame = bytes + p;
    u9i_hash(frame + U9I_FRAME_HEADER_SIZE, (size_t)u9i_get_be(frame + 56, 8), frame + 16);
    u9i_sign(frame + 16, bytes + 8, frame + 32);
}

/* [K-4] [K-5] The ranges of what was lost are forged to run backwards, in each frame that has them: the roots. */
START_TEST(an_index_beside_with_losses_that_cannot_be_is_not_used_and_says_why)
{
    model *m = model_new(0);
    write_sessions(m, 2, 60, false);
    size_t segments, files;
    char **logs = files_ending(".u9", &segments);
    flip(logs[0], 4096 + model_draw(4096));
    ck_assert_uint_eq(build(0).none, 0);
    char **beside = files_ending(".u9x", &files);
    u9_damage lost = {.lost = 0};
    seen *s = look(LOG);
    for (size_t i = 0; i < s->damage_count; i++)
        if (s->damages[i].lost > 0) lost = s->damages[i];
    forget(s);
    ck_assert_uint_lt(lost.begin, lost.end);
    uint64_t size = sim_size(beside[0]), forged = 0;
    uint8_t *bytes = malloc(size), range[16];
    ck_assert_uint_eq(sim_read(beside[0], 0, bytes, size), size);
    seen_frame frames[64];
    size_t count = list_frames(bytes, size, frames, 64);
    u9i_set_be(range, 8, lost.begin);
    u9i_set_be(range + 8, 8, lost.end);
    for (size_t i = 0; i < count; i++) {
        uint8_t *found = memmem(bytes + frames[i].offset, frames[i].end - frames[i].offset, range, sizeof range);
        if (found == NULL) continue;
        u9i_set_be(found, 8, lost.end);
        u9i_set_be(found + 8, 8, lost.begin);
        sign_again(bytes, frames[i].offset);
        forged++;
    }
    ck_assert_uint_gt(forged, 0);
    sim_write(beside[0], 0, bytes, size);
    u9_index_info why = {.segment = 0};
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = note_why, .ctx = &why};
    ck_assert_int_eq(u9_indexes_look(LOG, &o, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.unused, 1);
    ck_assert_int_eq(why.why, U9_INDEX_DAMAGED);
    ck_assert_str_eq(u9_clause_name(why.clause), "root.lost");
    free(bytes);
    free_names(beside, files);
    free_names(logs, segments);
    free(m);
}
END_TEST

/* Something happens to a segment, or all is put back as it was. */
static void harm_segment(char **logs, size_t count, unsigned how)
{
    static const uint8_t zeros[512];
    const char *path = logs[model_draw(count)];
    uint64_t size = sim_size(path);
    switch (how % 6) {
    case 0:
    case 1: flip(path, (4096 * (1 + model_draw(20)) + model_draw(600)) % size); break; /* frames begin there */
    case 2: sim_write(path, (4096 + model_draw(size - 4096)) / 512 * 512, zeros, sizeof zeros); break;
    case 3: sim_resize(path, size - model_draw(8192)); break;
    case 4: flip(path, model_draw(32)); break;
    case 5:
        for (size_t i = 0; i < count; i++) {
            char whole[32];
            snprintf(whole, sizeof whole, "whole%zu", i);
            if (model_draw(2)) sim_copy(whole, logs[i]);
        }
        break;
    }
}

/* A session of so many frames. */
static void write_frames(model *m, unsigned frames, bool torn)
{
    u9_log *w = model_open(m, U9_CREATE);
    for (unsigned n = 0; n < frames; n++) {
        append_some(w, m, 4);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    if (torn) sim_kill();
    (void)!u9_log_close(w, NULL);
    if (torn) sim_land(0);
}

START_TEST(whatever_becomes_of_a_segment_its_index_beside_it_changes_no_answer)
{
    model *m = model_new(_i);
    size_t count;
    for (unsigned s = 0; s < 3; s++) write_frames(m, 30, true); /* torn: each begins a file */
    char **logs = files_ending(".u9", &count);
    write_frames(m, 1, false); /* what there is in them is promised */
    for (size_t i = 0; i < count; i++) {
        char whole[32];
        snprintf(whole, sizeof whole, "whole%zu", i);
        sim_copy(logs[i], whole);
    }
    unsigned lossy = 0;
    build(0);
    for (unsigned n = 0; n < thorough(12, 24); n++) {
        harm_segment(logs, count, n);
        compare_with_none(m);
        if (n % 3 == 2) {
            if (n == 2 || model_draw(2)) drop();
            build(0);
            lossy += lossy_indexes();
            compare_with_none(m);
        }
    }
    ck_assert_uint_gt(lossy, 0);
    free_names(logs, count);
    free(m);
}
END_TEST

static index_reader_file load_file(const char *path)
{
    index_reader_file f = {.size = sim_holds(path) ? (size_t)sim_size(path) : 0};
    uint8_t *bytes = malloc(f.size + 1);
    ck_assert(bytes != NULL);
    if (f.size > 0) ck_assert_uint_eq(sim_read(path, 0, bytes, f.size), f.size);
    f.bytes = bytes;
    return f;
}

/* The newest record of key i in a segment, by the index inside or else beside it. */
static bool find_in_file(const model *m, size_t i, const char *path, uint32_t *value)
{
    char beside[300];
    const uint8_t *record;
    size_t size;
    u9_value tuple, v;
    snprintf(beside, sizeof beside, "%sx", path);
    index_reader_file segment = load_file(path), index = load_file(beside);
    int found = index_reader_find(segment, segment, m->keys[i].raw, m->keys[i].size, &record, &size);
    if (found < 0) found = index_reader_find(segment, index, m->keys[i].raw, m->keys[i].size, &record, &size);
    ck_assert_int_ge(found, 0);
    if (found) {
        ck_assert_int_eq(u9_value_decode(record, size, &tuple), U9_OK);
        ck_assert_int_eq(u9_value_at(&tuple, 1, &v), U9_OK);
        *value = (uint32_t)v.u;
    }
    free((void *)(uintptr_t)segment.bytes);
    free((void *)(uintptr_t)index.bytes);
    return found;
}

START_TEST(each_file_hashes_its_record_keys_by_a_seed_of_its_own) /* [C-7] */
{
    model *m = model_new(3);
    size_t segments;
    write_sessions(m, 3, 400, false);
    ck_assert_uint_eq(build(0).none, 0);
    char **paths = files_ending(".u9", &segments);
    ck_assert_uint_ge(segments, 3);
    uint64_t *seeds = calloc(segments, sizeof *seeds);
    for (size_t n = 0; n < segments; n++) {
        uint32_t value;
        index_reader_seed = 0;
        (void)find_in_file(m, 0, paths[n], &value);
        seeds[n] = index_reader_seed;
        ck_assert_uint_ne(seeds[n], 0);
        for (size_t before = 0; before < n; before++) ck_assert_uint_ne(seeds[n], seeds[before]);
    }
    free(seeds);
    free_names(paths, segments);
    free(m);
}
END_TEST

START_TEST(a_reader_that_knows_values_and_the_specification_finds_records)
{
    model *m = model_new(_i == 0 ? 0 : _i == 1 ? 1 : 3); /* muids in order and not, record keys */
    size_t segments;
    write_sessions(m, 2, 400, false);
    ck_assert_uint_eq(build(0).none, 0);
    char **paths = files_ending(".u9", &segments);
    ck_assert_uint_ge(segments, 2);
    for (size_t i = 0; i < KEYS; i++) {
        uint32_t value = 0;
        bool found = false;
        for (size_t n = segments; n-- > 0 && !found;) found = find_in_file(m, i, paths[n], &value);
        ck_assert_int_eq(found, m->keys[i].there);
        if (found) ck_assert_uint_eq(value, m->keys[i].value);
    }
    ck_assert_uint_gt(index_reader_filtered, 0); /* by the filter of records as well */
    free_names(paths, segments);
    free(m);
}
END_TEST

Suite *suite_index_file(void)
{
    Suite *s = suite_create("index_file");
    TCase *t = tcase_create("index_file");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, every_segment_that_holds_records_gets_an_index, 0, 8);
    tcase_add_loop_test(t, a_file_beside_a_segment_saves_reading_it, 0, 4);
    tcase_add_test(t, a_writer_rolls_while_it_has_all_keys);
    tcase_add_loop_test(t, a_file_that_sessions_went_on_in_has_its_index_inside_when_it_is_sealed, 0, 8);
    tcase_add_test(t, a_record_in_parts_of_an_earlier_session_is_in_the_index_inside);
    tcase_add_loop_test(t, a_file_whose_earlier_sessions_are_not_whole_is_sealed_without_an_index, 0, 4);
    tcase_add_loop_test(t, whatever_becomes_of_an_index_file_no_answer_changes, 0,
                        (int)thorough(4, 8));
    tcase_add_loop_test(t, a_segment_that_went_on_has_a_stale_index_which_is_made_again, 0, 8);
    tcase_add_loop_test(t, an_older_file_put_back_is_not_used, 0, 4);
    tcase_add_loop_test(t, a_file_of_another_owner_or_mode_is_not_used, 0, 4);
    tcase_add_loop_test(t, more_keys_than_memory_are_sorted_in_runs, 0, 4);
    tcase_add_loop_test(t, progress_is_told_and_may_stop_the_work, 0, 4);
    tcase_add_loop_test(t, a_log_that_changes_while_its_indexes_are_made_or_checked_is_told_as_it_was, 0, 2 * MEDDLINGS);
    tcase_add_test(t, where_no_index_can_be_made_or_removed_that_is_told);
    tcase_add_loop_test(t, what_is_trimmed_at_any_call_gets_no_index_and_that_is_no_fault, 0, 2);
    tcase_add_test(t, why_an_index_is_not_used_is_told);
    tcase_add_test(t, what_is_no_index_under_the_name_of_one_is_told_and_not_used);
    tcase_add_test(t, a_directory_where_an_index_would_stand_is_none);
    tcase_add_test(t, of_a_key_with_very_many_records_few_pages_are_opened);
    tcase_add_test(t, a_record_in_parts_whose_key_comes_in_order_is_found);
    tcase_add_loop_test(t, a_build_that_fails_leaves_nothing_half_made, 0, 4);
    tcase_add_test(t, a_check_that_cannot_read_its_own_file_says_so);
    tcase_add_loop_test(t, a_trim_takes_the_index_files_of_what_it_removes, 0, 4);
    tcase_add_test(t, a_check_tells_what_an_index_lies);
    tcase_add_loop_test(t, whatever_becomes_of_an_index_inside_no_answer_changes, 0,
                        (int)thorough(4, 8));
    tcase_add_loop_test(t, records_lost_to_damage_are_told_with_and_without_an_index, 0, 4);
    tcase_add_loop_test(t, beside_a_segment_whose_end_is_lost_stands_no_index_that_is_not_used, 0, 8);
    tcase_add_loop_test(t, what_was_lost_at_the_end_behind_an_index_is_told, 0, 2);
    tcase_add_test(t, an_index_that_leads_to_what_was_lost_is_not_wrong);
    tcase_add_test(t, an_index_beside_with_losses_that_cannot_be_is_not_used_and_says_why);
    tcase_add_loop_test(t, whatever_becomes_of_a_segment_its_index_beside_it_changes_no_answer, 0,
                        (int)thorough(4, 16));
    tcase_add_test(t, each_file_hashes_its_record_keys_by_a_seed_of_its_own);
    tcase_add_loop_test(t, a_reader_that_knows_values_and_the_specification_finds_records, 0, 3);
    suite_add_tcase(s, t);
    return s;
}
