/*
 * tests/engine/check/test_merge.c: several logs become one in the order of their keys, repeats once.
 */
#include "tests/engine/log/trimmed.h"
#include "tests/plain_file.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u9_log *open_kind(const char *log, const char *kind)
{
    u9_options o = small_options();
    o.kind = kind;
    o.mode = U9_CREATE;
    return open_writer(log, &o);
}

static void put(u9_log *w, const char *key, const char *text)
{
    uint8_t value[256];
    u9_builder b;
    u9_builder_init(&b, value, sizeof value);
    ck_assert_int_eq(u9_build_utf8(&b, text, strlen(text)), U9_OK);
    u9_key k = {.data = key, .size = strlen(key)};
    ck_assert_int_eq(u9_log_append(w, &k, value, b.size, NULL), U9_OK);
}

/* A log of kind rkey with the records "key=text key=text ...". */
static void make(const char *log, const char *records)
{
    char copy[512], *at_word = copy, *space;
    u9_log *w = open_kind(at(log), "rkey");
    snprintf(copy, sizeof copy, "%s", records);
    for (; *at_word; at_word = space) {
        space = at_word + strcspn(at_word, " ");
        if (*space) *space++ = 0;
        char *equals = strchr(at_word, '=');
        *equals = 0;
        put(w, at_word, equals + 1);
    }
    close_log(w);
}

static u9_merge_report report;
static u9_fault fault;

static u9_err merge(const char *out, const char *names, u9_merge_options o)
{
    char paths[4][4400];
    const char *list[4];
    size_t n = 0;
    for (; names[n]; n++) {
        snprintf(paths[n], sizeof paths[n], "%s", at((char[]){names[n], 0}));
        list[n] = paths[n];
    }
    o.size = sizeof o;
    o.io = io_of(at("log"));
    fault = (u9_fault){0};
    report = (u9_merge_report){.size = sizeof report};
    return u9_merge(at(out), list, n, &o, &report, &fault);
}

/* The records of a log as make() takes them. */
static const char *records_of(const char *log)
{
    static char text[1024];
    size_t used = 0;
    u9_cursor *c;
    u9_record record;
    u9_value value;
    u9_log *r = open_reader(at(log));
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    text[0] = 0;
    while (u9_cursor_next(c, &record) == U9_OK) {
        ck_assert_int_eq(u9_value_decode(record.values, record.values_size, &value), U9_OK);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s=%.*s", used ? " " : "", (int)record.key.size,
                                 (const char *)record.key.data, (int)value.size, (const char *)value.data);
    }
    u9_cursor_close(c);
    close_log(r);
    return text;
}

static void expect(const char *out, const char *records, uint64_t repeats, uint64_t conflicts)
{
    ck_assert_str_eq(records_of(out), records);
    ck_assert_uint_eq(report.repeats, repeats);
    ck_assert_uint_eq(report.conflicts, conflicts);
    ck_assert_uint_eq(report.records + report.repeats, report.read);
    seen *s = look(at(out));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(s->report.closed, 1);
    ck_assert_uint_eq(s->report.records, report.records);
    forget(s);
    ck_assert(!exists(at("out.partial")));
}

START_TEST(records_come_in_the_order_of_keys) /* */
{
    make("a", "b=1 d=2 f=3");
    make("b", "a=4 e=5");
    make("c", "aa=6 z=7");
    ck_assert_int_eq(merge("out", "abc", (u9_merge_options){0}), U9_OK);
    expect("out", "a=4 aa=6 b=1 d=2 e=5 f=3 z=7", 0, 0);
}
END_TEST

START_TEST(a_repeat_stands_there_once_and_what_differs_in_the_order_of_the_logs) /* */
{
    make("a", "a=1 b=2 c=3");
    make("b", "a=1 b=9 c=3 d=4");
    make("c", "b=9 b=8");
    ck_assert_int_eq(merge("out", "abc", (u9_merge_options){0}), U9_OK);
    expect("out", "a=1 b=2 b=9 b=8 c=3 d=4", 3, 1);
    ck_assert_int_eq(merge("out2", "cba", (u9_merge_options){0}), U9_OK);
    expect("out2", "a=1 b=9 b=8 b=2 c=3 d=4", 3, 1);
}
END_TEST

START_TEST(what_a_log_has_several_times_it_keeps) /* */
{
    make("a", "k=1 k=2 k=1");
    make("b", "k=1 k=2 k=1");
    ck_assert_int_eq(merge("one", "a", (u9_merge_options){0}), U9_OK);
    expect("one", "k=1 k=2 k=1", 0, 0);
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){0}), U9_OK);
    expect("out", "k=1 k=2 k=1", 3, 0);
    make("c", "k=1 k=1 k=1 k=3");
    ck_assert_int_eq(merge("out2", "abc", (u9_merge_options){0}), U9_OK);
    expect("out2", "k=1 k=2 k=1 k=1 k=3", 5, 1);
}
END_TEST

START_TEST(a_key_with_many_records_is_merged_as_fast_as_others) /* the table of variants grows */
{
    char text[16];
    u9_log *w = open_kind(at("a"), "rkey"), *v = open_kind(at("b"), "rkey");
    for (unsigned i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "%u", i);
        put(w, "k", text);
        if (i % 2) put(v, "k", text);
    }
    close_log(w);
    put(v, "k", "more");
    close_log(v);
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){0}), U9_OK);
    ck_assert_uint_eq(report.repeats, 250);
    ck_assert_uint_eq(report.records, 501);
    ck_assert_uint_eq(report.conflicts, 1);
}
END_TEST

START_TEST(a_log_that_is_not_in_order_is_refused_or_sorted) /* */
{
    make("a", "a=1 c=3");
    make("b", "b=2 d=4 c=5 a=6 c=7");
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){0}), U9_ARG);
    ck_assert_str_eq(fault.path, at("b"));
    ck_assert_ptr_nonnull(strstr(fault.text, "record 2 is below the one before"));
    ck_assert(!exists(at("out")) && !exists(at("out.partial")));
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){.memory = 100}), U9_LIMIT);
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){.memory = 1 << 20}), U9_OK);
    ck_assert_uint_eq(report.sorted, 1);
    expect("out", "a=1 a=6 b=2 c=3 c=5 c=7 d=4", 0, 2);
}
END_TEST

static u9_log *writer;
static unsigned call, writes_at;
static void write_at_a_call(sim_kind kind)
{
    (void)kind;
    if (writer == NULL || ++call != writes_at) return;
    u9_log *w = writer;
    writer = NULL;
    put(w, "a", "low");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    writer = w;
}

START_TEST(what_a_writer_appends_meanwhile_is_sorted_or_left_out) /* */
{
    unsigned lines[2] = {0};
    for (call = writes_at = 1; call >= writes_at; writes_at++) {
        make("a", "b=1 d=2");
        u9_log *w = open_kind(at("a"), "rkey");
        put(w, "f", "3");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        call = 0;
        writer = w;
        sim_before_call(write_at_a_call);
        u9_err err = merge("out", "a", (u9_merge_options){.memory = 1 << 20});
        sim_before_call(NULL);
        writer = NULL;
        ck_assert_msg(err == U9_OK, "%u: %s", writes_at, fault.text);
        bool with = strcmp(records_of("out"), "a=low b=1 d=2 f=3") == 0;
        if (!with) ck_assert_str_eq(records_of("out"), "b=1 d=2 f=3");
        lines[with]++;
        close_log(w);
        remove_log(at("a"));
        remove_log(at("out"));
    }
    ck_assert_uint_gt(lines[0], 0);
    ck_assert_uint_gt(lines[1], 0);
}
END_TEST

START_TEST(logs_of_different_kinds_are_refused) /* [A-5] [L-6] */
{
    make("a", "a=1");
    session(at("b"), "r", 3, 0);
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){0}), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "of kind 'muid'"));
    ck_assert_int_eq(merge("b", "a", (u9_merge_options){0}), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "must not exist"));
    ck_assert_int_eq(merge("out", "x", (u9_merge_options){0}), U9_IO);
    ck_assert_int_eq(merge("out", "", (u9_merge_options){0}), U9_ARG);
}
END_TEST

START_TEST(a_log_with_its_own_past_is_itself) /* over rolls and frames of their own */
{
    make_row_of_segments(at("a"));
    copy_log(at("a"), at("b"));
    session(at("a"), "new", 7, 2);
    ck_assert_int_eq(merge("out", "ba", (u9_merge_options){.segment_size = 1 << 16, .lz4 = 1}), U9_OK);
    ck_assert_uint_eq(report.records, TRIM_RECORDS + 7);
    ck_assert_uint_eq(report.repeats, TRIM_RECORDS);
    seen *a = look(at("a")), *o = look(at("out"));
    ck_assert_uint_eq(a->count, o->count);
    for (size_t i = 0; i < a->count; i++) {
        ck_assert_uint_eq(o->records[i].ordinal, i);
        ck_assert_uint_eq(a->records[i].size, o->records[i].size);
        ck_assert_mem_eq(a->records[i].bytes, o->records[i].bytes, a->records[i].size);
    }
    forget(a);
    forget(o);
    session(at("out"), "on", 3, 0);
}
END_TEST

/* A record of `size` bytes of `fill`, whose last byte is `last`. */
static void put_large(const char *log, size_t size, uint8_t fill, uint8_t last)
{
    u9_append *a;
    uint8_t head[9], *bytes = malloc(size);
    u9_log *w = open_kind(at(log), "rkey");
    size_t n = u9_value_head(U9_BYTES, size, head);
    memset(bytes, fill, size);
    bytes[size - 1] = last;
    u9_key key = {.data = "big", .size = 3};
    ck_assert_int_eq(u9_append_begin(w, &key, 1, n + size, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, size), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    put(w, "small", "1");
    close_log(w);
    free(bytes);
}

START_TEST(records_larger_than_memory_are_merged_and_told_apart_by_their_last_byte) /* [A-5] [C-6] */
{
    size_t size = U9_RECORD_MAX + 100001;
    put_large("a", size, 'x', 'x');
    put_large("b", size, 'x', 'x');
    put_large("c", size, 'x', 'y');
    ck_assert_int_eq(merge("out", "abc", (u9_merge_options){0}), U9_OK);
    ck_assert_uint_eq(report.records, 3);
    ck_assert_uint_eq(report.repeats, 3);
    ck_assert_uint_eq(report.conflicts, 1);
    ck_assert_int_eq(merge("out2", "a", (u9_merge_options){.memory = 1}), U9_OK);
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    ck_assert_int_eq(u9_check(at("out"), &o, &r, NULL), U9_OK);
    ck_assert_int_eq(r.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(r.records, 3);
    ck_assert_uint_gt(r.body_bytes, 2 * size);
}
END_TEST

static uint64_t trimmed_told, trimmed_below;

static void trim_at_a_conflict(void *ctx, const u9_key *key)
{
    (void)ctx;
    (void)key;
    ck_assert_uint_gt(trim_log(at("a"), below_ordinal(trimmed_below)).segments, 0);
}

static void count_trimmed(void *ctx, const u9_damage *d)
{
    (void)ctx;
    ck_assert_int_eq(d->reason, U9_R_TRIMMED);
    trimmed_told += d->lost;
}

/* Its bytes are read where they stand: while the cursor is there, or, if the log was sorted, when its turn comes. */
START_TEST(a_record_larger_than_memory_may_be_trimmed_before_its_turn) /* [A-5] [L-10] */
{
    u9_merge_options o = {.memory = _i == 0 ? 0 : 1 << 20, .on_conflict = trim_at_a_conflict, .on_damage = count_trimmed};
    make("a", _i == 0 ? "aa=1" : "b=0 aa=1");
    trimmed_below = _i == 0 ? 2 : 3; /* "small" stays */
    put_large("a", U9_RECORD_MAX + 1, 'x', 'x');
    make("b", "aa=2 zz=3");
    ck_assert_int_eq(merge("out", "ab", o), U9_OK);
    ck_assert_uint_eq(trimmed_told, _i == 0 ? 0 : 1);
    ck_assert_uint_eq(report.damages, 0);
    ck_assert_uint_eq(report.records, 5);
    ck_assert_uint_eq(report.conflicts, 1);
    if (_i == 1) expect("out", "aa=1 aa=2 b=0 small=1 zz=3", 0, 1);
}
END_TEST

static u9_err salvage(const char *log, uint64_t *saved)
{
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    fault = (u9_fault){0};
    return u9_salvage(at(log), at("out"), &o, &r, saved, &fault);
}

static u9_err merge_or_salvage(bool merges)
{
    uint64_t saved;
    return merges ? merge("out", "ab", (u9_merge_options){0}) : salvage("a", &saved);
}

/* Not in order, too: its key is kept, and the record read again. */
START_TEST(a_record_larger_than_memory_is_sorted_and_told_where_it_cannot_be_copied) /* [A-5] [G-1] */
{
    static const struct {
        sim_kind kind;
        unsigned nth;
        int sys;
    } fails[] = {{SIM_WRITE, 1, ENOSPC}, {SIM_WRITE, 3, ENOSPC}, {SIM_WRITE, 15, EIO}, {SIM_READ, 12, ENXIO}};
    size_t size = U9_RECORD_MAX + 1000;
    make("a", "zz=1");
    put_large("a", size, 'x', 'x');
    make("b", "c=2");
    for (unsigned i = 0; i < 2 * sizeof fails / sizeof *fails; i++) {
        unsigned fired = sim_fired();
        if (i % 2 == 0 && i / 2 < 3) remove_log(at("out"));
        sim_fail(fails[i / 2].kind, fails[i / 2].nth, fails[i / 2].sys, true);
        u9_err err = i % 2 ? merge("out", "ab", (u9_merge_options){.memory = 1 << 20}) : merge_or_salvage(false);
        sim_mend();
        ck_assert_msg(sim_fired() > fired && (err == U9_IO || err == U9_POISONED), "%u: %s", i, u9_err_name(err));
        ck_assert_msg(fault.sys == fails[i / 2].sys, "%u: %s", i, fault.text);
        ck_assert(!exists(at("out")));
    }
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){.memory = 1 << 20}), U9_OK);
    ck_assert_uint_eq(report.sorted, 1);
    ck_assert_uint_eq(report.records, 4);
}
END_TEST

/* {F63} What was written is read again before it gets its name. */
START_TEST(what_a_disk_keeps_otherwise_is_no_new_log) /* [A-5] [G-5] */
{
    make("a", "a=1 b=2 c=3");
    make("b", "bb=4");
    for (unsigned i = 0; i < 2; i++)
        for (unsigned nth = 1, lies = 0; lies < sim_lies() || nth == 1; nth++) {
            lies = sim_lies();
            sim_lie(nth % 2 ? SIM_ROT : SIM_LOST, nth, 8 * 90 + 3);
            u9_err err = merge_or_salvage(i == 0);
            sim_mend();
            bool lied = sim_lies() > lies;
            ck_assert_msg(err == (lied ? U9_CORRUPT : U9_OK), "%u, %u: %s: %s", i, nth, u9_err_name(err), fault.text);
            ck_assert(exists(at("out")) == !lied);
            remove_log(at("out"));
            if (!lied) break;
        }
}
END_TEST

typedef struct heard {
    unsigned conflicts, damages, asked;
} heard;

static void hear_conflict(void *ctx, const u9_key *key)
{
    ck_assert_uint_eq(key->size, 1);
    ((heard *)ctx)->conflicts++;
}

static void hear_damage(void *ctx, const u9_damage *d)
{
    (void)d;
    ((heard *)ctx)->damages++;
}

static int stop_now(void *ctx, uint64_t done, uint64_t of)
{
    ck_assert(done > 0 && of == 0);
    return ++((heard *)ctx)->asked > 1;
}

START_TEST(a_merge_tells_what_it_meets_and_stops_when_it_is_told_to) /* */
{
    heard h = {0};
    u9_merge_options o = {.on_conflict = hear_conflict, .on_damage = hear_damage, .on_progress = stop_now, .ctx = &h, .strict = 1};
    make("a", "a=1 b=2");
    make("b", "a=3");
    ck_assert_int_eq(merge("out", "ab", o), U9_OK);
    ck_assert_uint_eq(h.conflicts, 1);
    ck_assert_uint_eq(h.damages + h.asked, 0);
    u9_log *w = open_kind(at("c"), "rkey");
    for (unsigned i = 0; i < 40000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%06u", i);
        u9_key k = {.data = key, .size = strlen(key)};
        ck_assert_int_eq(u9_log_append(w, &k, "\x81", 1, NULL), U9_OK);
    }
    close_log(w);
    ck_assert_int_eq(merge("no", "ac", o), U9_STATE);
    ck_assert_uint_eq(h.asked, 2);
    ck_assert(!exists(at("no")) && !exists(at("no.partial")));
    crash(open_kind(at("c"), "rkey"), at("c"));
    put(w = open_kind(at("d"), "rkey"), "d", "torn");
    crash(w, at("d"));
    o.on_progress = NULL;
    ck_assert_int_eq(merge("out2", "d", o), U9_OK); /* a torn end is a note */
    ck_assert_uint_ge(h.damages, 1);
    ck_assert_uint_eq(report.damages, 0);
}
END_TEST

/* Plain seed files, with a key and without, and a log whose u9open is lost. */
START_TEST(what_has_no_keys_or_none_of_a_known_kind_is_not_merged) /* [A-5] [E-3] [L-6] */
{
    plain_file p = plain_begin(3);
    (void)plain_frame(&p, "\x81", 1);
    make_dir(at("p"));
    write_file(segment_path(at("p"), 1), p.bytes, p.size);
    plain_free(&p);
    ck_assert_int_eq(merge("out", "p", (u9_merge_options){0}), U9_ARG);
    ck_assert_msg(strstr(fault.text, "has no key") != NULL, "%s", fault.text);
    make("q", "a=1 b=2");
    flip_bit(segment_path(at("q"), 1), U9I_DISK_HEADER_SIZE + 64 + 10, 3); /* its u9open says it, and its u9end */
    fill_bytes(segment_path(at("q"), 1), file_size(segment_path(at("q"), 1)) - 4096, 4096, 0);
    ck_assert_int_eq(merge("out", "q", (u9_merge_options){0}), U9_ARG);
    ck_assert_msg(strstr(fault.text, "is not known") != NULL, "%s", fault.text);
    ck_assert(!exists(at("out")));
    char path[512];
    const char *paths[] = {path};
    snprintf(path, sizeof path, "%s", at("p"));
    report = (u9_merge_report){.size = sizeof report};
    if (sim_in_use()) ck_assert_int_eq(u9_merge(at("out"), paths, 1, NULL, &report, NULL), U9_IO); /* on the system's disk */
}
END_TEST

START_TEST(what_is_damaged_is_told_and_left_out) /* */
{
    make_keyed_row(at("b"));
    ck_assert_int_eq(merge("x", "b", (u9_merge_options){.memory = 1 << 24}), U9_OK);
    remove_log(at("b"));
    sim_move(at("x"), at("b"));
    flip_bit(segment_path(at("b"), 1), 3 * 4096, 1);
    make("a", "a=1");
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){.strict = 1}), U9_CORRUPT);
    ck_assert_uint_eq(report.damages, 1);
    ck_assert(!exists(at("out")) && !exists(at("out.partial")));
    ck_assert_int_eq(merge("out", "ab", (u9_merge_options){0}), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_CORRUPT);
    ck_assert_uint_gt(report.lost, 0);
    ck_assert_uint_eq(report.records, TRIM_RECORDS + 1 - report.lost);
}
END_TEST

START_TEST(a_stop_at_any_call_leaves_no_log_that_looks_whole) /* */
{
    u9_err err = U9_END;
    for (unsigned nth = 1; err != U9_OK; nth++) {
        sim_begin(nth);
        sim_make_dir(at(""));
        make("a", "b=1 d=2 f=3");
        make("b", "a=4 d=2");
        sim_fail(SIM_ANY, nth, EIO, true);
        err = merge("out", "ab", (u9_merge_options){0});
        sim_mend();
        sim_lose_power();
        if (err != U9_OK && !exists(at("out"))) {
            err = merge("out", "ab", (u9_merge_options){0});
            if (err != U9_OK) { /* its own sign got lost, so nothing of it was touched [G-5] */
                ck_assert_ptr_nonnull(strstr(fault.text, "nothing of it was touched"));
                remove_log(at("out.partial"));
                ck_assert_int_eq(merge("out", "ab", (u9_merge_options){0}), U9_OK);
            }
            err = U9_END;
            expect("out", "a=4 b=1 d=2 f=3", 1, 0);
        }
        ck_assert_str_eq(records_of("out"), "a=4 b=1 d=2 f=3");
    }
}
END_TEST

START_TEST(where_a_call_fails_once_there_is_no_new_log_or_all_is_well) /* [A-5] [G-5] also where the name itself is not durable */
{
    unsigned fired = 0, failed = 0;
    for (unsigned nth = 1; nth == 1 || sim_fired() > fired; nth++) {
        sim_begin(nth);
        sim_make_dir(at(""));
        make("a", "b=1 d=2 f=3");
        make("b", "a=4 d=2");
        fired = sim_fired();
        sim_fail(SIM_ANY, nth, EIO, false);
        u9_err err = merge("out", "ab", (u9_merge_options){0});
        sim_mend();
        ck_assert_msg(exists(at("out")) == (err == U9_OK), "%u: %s", nth, fault.text);
        failed += err != U9_OK;
        if (err != U9_OK)
            ck_assert_msg(merge("out", "ab", (u9_merge_options){0}) == U9_OK, "%u: %s", nth, fault.text);
        expect("out", "a=4 b=1 d=2 f=3", 1, 0);
    }
    ck_assert_uint_gt(failed, 20);
}
END_TEST

Suite *suite_merge(void)
{
    Suite *s = suite_create("merge");
    TCase *t = tcase_create("merge");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, records_come_in_the_order_of_keys);
    tcase_add_test(t, a_repeat_stands_there_once_and_what_differs_in_the_order_of_the_logs);
    tcase_add_test(t, what_a_log_has_several_times_it_keeps);
    tcase_add_test(t, a_key_with_many_records_is_merged_as_fast_as_others);
    tcase_add_test(t, a_log_that_is_not_in_order_is_refused_or_sorted);
    tcase_add_test(t, what_a_writer_appends_meanwhile_is_sorted_or_left_out);
    tcase_add_test(t, logs_of_different_kinds_are_refused);
    tcase_add_test(t, a_log_with_its_own_past_is_itself);
    tcase_add_test(t, records_larger_than_memory_are_merged_and_told_apart_by_their_last_byte);
    tcase_add_loop_test(t, a_record_larger_than_memory_may_be_trimmed_before_its_turn, 0, 2);
    tcase_add_test(t, a_record_larger_than_memory_is_sorted_and_told_where_it_cannot_be_copied);
    tcase_add_test(t, what_a_disk_keeps_otherwise_is_no_new_log);
    tcase_add_test(t, a_merge_tells_what_it_meets_and_stops_when_it_is_told_to);
    tcase_add_test(t, what_has_no_keys_or_none_of_a_known_kind_is_not_merged);
    tcase_add_test(t, what_is_damaged_is_told_and_left_out);
    tcase_add_test(t, a_stop_at_any_call_leaves_no_log_that_looks_whole);
    tcase_add_test(t, where_a_call_fails_once_there_is_no_new_log_or_all_is_well);
    suite_add_tcase(s, t);
    return s;
}
