/*
 * tests/engine/log/test_succession.c: the ten steps over facts that are made up, with and without a mark; the
 * branches that are listed; and that each segment costs as much in a long row as in a short one.
 */
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "engine/log/succession.h"
#include "format/frame/mark.h"
#include "tests/thorough.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 16 };

static u9i_facts files[ROOM];
static u9i_row row;
static u9i_mark_record mark;
static uint64_t trimmed; /* the first segment that is kept */

static bool trims(void *ctx, uint64_t gone, const u9i_facts *behind)
{
    (void)ctx;
    (void)behind;
    return gone < trimmed;
}

/* A made-up file has three records and a promise of them all, if it has any: at 1000, 2000 and 3000. */
static bool looks(void *ctx, u9i_facts *f, u9i_position *from, uint64_t *promise, uint64_t *records, bool *unread)
{
    (void)ctx;
    *records = 0;
    *unread = false;
    if (f->size > 3000 && *promise < 3000) *promise = 3000;
    for (uint64_t end = 1000; end <= *promise && end < f->size; end += 1000) *records += end > from->offset;
    return true;
}

static bool reaches(void *ctx, const u9i_facts *f, const u9i_position *named, u9i_reach *out)
{
    (void)ctx;
    *out = (u9i_reach){.meets = named && named->offset <= f->size, .end = f->size};
    return true;
}

static bool parts(void *ctx, const u9i_facts *a, const u9i_facts *b, uint64_t promise, u9i_span_lost *own)
{
    (void)ctx;
    uint64_t from = a->size < b->size ? a->size : b->size;
    *own = (u9i_span_lost){.end = 0};
    if (from < promise) *own = (u9i_span_lost){.begin = from, .end = b->size, .lost = 1};
    return true;
}

static bool seals(void *ctx, u9i_facts *f)
{
    (void)ctx;
    (void)f;
    return true;
}

static const u9i_row_eyes eyes = {NULL, trims, looks, reaches, seals, parts};

/* Segment `number`, of which there may be several (`which`), behind `end` of `before` (NULL: of none). */
static u9i_facts *add(uint64_t number, unsigned which, const u9i_facts *before, uint64_t end, uint64_t size)
{
    u9i_facts *f = &files[row.count++];
    ck_assert_uint_lt(row.count, ROOM);
    *f = (u9i_facts){.number = number, .in_name = number, .size = size, .has_open = true};
    memset(f->secret.bytes, (int)(16 * which + number), U9I_SECRET_SIZE);
    memset(f->secret.boundary, (int)(16 * which + number), U9I_HASH_SIZE);
    memset(f->open.log, 7, sizeof f->open.log);
    f->open.segment = number;
    f->open.time_us = which;
    if (before == NULL) return f;
    f->open.before_segment = before->open.segment;
    memcpy(f->open.before_boundary, before->secret.boundary, U9I_HASH_SIZE);
    f->open.end = (u9i_position){.offset = end, .ordinal = before->open.end.ordinal + end / 1000};
    return f;
}

static void set_mark(const u9i_facts *f, uint64_t end)
{
    mark = (u9i_mark_record){.segment = f->open.segment,
                             .end = {.offset = end, .ordinal = f->open.end.ordinal + end / 1000}};
    memcpy(mark.log, f->open.log, sizeof mark.log);
    memcpy(mark.boundary, f->secret.boundary, sizeof mark.boundary);
    row.mark = &mark;
}

static void drop_row(void)
{
    free(row.missing);
    free(row.branches);
    free(row.pieces);
    memset(&row, 0, sizeof row);
    memset(files, 0, sizeof files);
    trimmed = 0;
}

static void begin_row(void)
{
    drop_row();
    row.facts = files;
    row.eyes = &eyes;
}

/* The numbers of the row's segments, in order, "1 2 4"; those by others of the same number have a letter: "2b". */
static const char *linked(void)
{
    static char text[200];
    ck_assert(u9i_row_link(&row));
    text[0] = 0;
    for (size_t i = 0; i < row.count; i++) {
        const u9i_facts *f = &row.facts[i];
        size_t n = strlen(text);
        if (f->wrong || u9i_facts_skipped(f)) continue;
        snprintf(text + n, sizeof text - n, "%s%llu%s", n ? " " : "", (unsigned long long)f->number,
                 f->open.time_us ? "b" : "");
    }
    return text;
}

static const u9i_facts *number(uint64_t n, unsigned which)
{
    for (size_t i = 0; i < row.count; i++)
        if (row.facts[i].number == n && row.facts[i].open.time_us == which) return &row.facts[i];
    ck_abort_msg("no segment %llu", (unsigned long long)n);
    return NULL;
}

/* [L-2] Two go on behind one end: the higher, the later counts; with a mark, the one that it promises. */
START_TEST(the_tip_is_the_highest_that_does_not_leave_out_the_mark)
{
    for (unsigned way = 0; way < 4; way++) {
        begin_row();
        u9i_facts *one = add(1, 0, NULL, 0, 4096), *two = add(2, 0, one, 3000, 4096);
        u9i_facts *fork = add(2, 1, one, 1000, 4096), *three = add(3, 1, fork, 3000, 4096);
        if (way == 1) set_mark(two, 2000);
        if (way == 2) set_mark(one, 2000);
        if (way == 3) set_mark(three, 1000);
        ck_assert_str_eq(linked(), way == 1 || way == 2 ? "1 2" : "1 2b 3b");
        if (way == 1 || way == 2) {
            ck_assert_int_eq(number(2, 1)->wrong, U9_R_FORK);
            ck_assert_int_eq(number(3, 1)->wrong, U9_R_FORK);
            ck_assert_uint_eq(row.branch_count, 1);
            ck_assert_uint_eq(row.branches[0].count, 2); /* both in one line, behind 1 */
            ck_assert_uint_eq(row.branches[0].at.offset, 1000);
            ck_assert_uint_eq(row.pieces[0].end, 3000);
            ck_assert_uint_eq(row.pieces[1].end, U9_NOWHERE);
            ck_assert_uint_eq(row.next, 4);
        } else {
            const u9i_facts *f = number(1, 0);
            ck_assert_uint_eq(f->fork.begin, 1000);
            ck_assert_uint_eq(f->fork.end, 3000);
            ck_assert_uint_eq(f->fork.lost, 2);
            ck_assert_int_eq(number(2, 0)->wrong, U9_R_FORK);
            ck_assert_uint_eq(row.branch_count, 1); /* what is behind 1's end, and then 2 */
            ck_assert_uint_eq(row.branches[0].count, 2);
            ck_assert_uint_eq(row.pieces[0].begin, 1000);
            ck_assert_uint_eq(row.pieces[0].end, 3000);
        }
    }
    drop_row();
}
END_TEST

/* [L-2] What ends the marked segment below the mark is not the tip, also where the marked data are gone. */
START_TEST(a_mark_keeps_its_segment_on_the_row)
{
    begin_row();
    u9i_facts *one = add(1, 0, NULL, 0, 1500);
    (void)add(2, 0, one, 1000, 900);
    set_mark(one, 2000);
    ck_assert_str_eq(linked(), "1");
    ck_assert(number(1, 0)->marked && !number(1, 0)->named && number(1, 0)->newest);
    ck_assert(number(2, 0)->is_void); /* nothing in it was promised [L-3] */
    ck_assert_uint_eq(row.next, 3);
    drop_row();
}
END_TEST

/* [L-2] [L-4] The mark's segment is gone: it is missing, behind the tip or between; below a trimmed start it is not. */
START_TEST(a_marked_segment_that_is_gone_is_missing)
{
    for (unsigned way = 0; way < 4; way++) {
        begin_row();
        u9i_facts *one = add(1, 0, NULL, 0, 4096), *two = add(2, 0, one, 3000, 4096);
        u9i_facts three = *add(3, 0, two, 3000, 4096);
        row.count--;
        set_mark(&three, 1000);
        if (way == 1) (void)add(4, 0, &three, 3000, 4096);
        if (way == 2) files[0].number = files[0].open.segment = files[0].in_name = 5;
        if (way == 2) row.count = 1, trimmed = 5, files[0].open.before_segment = 4;
        if (way == 3) {
            two->has_end = true;
            two->end.kind = U9I_END_SEALING;
        }
        ck_assert_str_eq(linked(), way == 1 ? "1 2 4" : way == 2 ? "5" : "1 2");
        ck_assert_uint_eq(row.missing_count, way != 2);
        if (way == 2) ck_assert_ptr_null(row.mark);
        if (way == 2) continue;
        ck_assert_uint_eq(row.missing[0].number, 3);
        ck_assert_uint_eq(row.missing[0].before, 2);
        ck_assert_int_eq(row.missing[0].marked, way != 1);
        ck_assert_uint_eq(row.next, way == 1 ? 5 : 4);
    }
    drop_row();
}
END_TEST

/* [L-2] A seal tells of a successor only where the mark names one, or none counts; its number is taken all the same. */
START_TEST(a_seal_at_or_above_the_mark_is_of_an_older_state)
{
    for (unsigned way = 0; way < 6; way++) {
        begin_row();
        u9i_facts *one = add(1, 0, NULL, 0, 4096), *two = add(2, 0, one, 3000, 4096);
        u9i_facts three = *add(3, 0, two, 3000, 4096);
        if (way != 5) row.count--;
        one->has_end = two->has_end = true;
        one->end.kind = two->end.kind = U9I_END_SEALING;
        if (way == 1 || way == 5) set_mark(two, 2000);
        if (way == 2) set_mark(one, 2000);
        if (way == 3) set_mark(&three, 2000);
        if (way == 4) set_mark(two, 2000), row.doubtful = true;
        ck_assert_str_eq(linked(), way == 5 ? "1 2 3" : "1 2");
        bool older = way == 1 || way == 2;
        ck_assert_int_eq(row.older, older);
        ck_assert_uint_eq(row.missing_count, way < 5 && !older);
        if (row.missing_count) ck_assert_uint_eq(row.missing[0].number, 3);
        ck_assert_uint_eq(row.next, 4);
        ck_assert_int_eq(number(2, 0)->sealed_before, way != 2); /* 1 is below the mark, or is it not */
        if (way == 5) ck_assert_int_eq(number(3, 0)->sealed_before, false);
    }
    drop_row();
}
END_TEST

/* [L-2] Without a u9open, what the mark or a u9open names belongs, whatever its name, and what nobody names is blank. */
START_TEST(a_segment_without_its_u9open_belongs_where_it_is_named)
{
    for (unsigned way = 0; way < 3; way++) {
        begin_row();
        u9i_facts *one = add(1, 0, NULL, 0, 4096), *two = add(2, 0, one, 3000, 4096);
        if (way == 0) (void)add(3, 0, two, 3000, 4096);
        if (way == 1) set_mark(two, 2000);
        two->has_open = false;
        two->blank = two->spared = true;
        two->in_name = two->number = 99;
        ck_assert_str_eq(linked(), way == 0 ? "1 2 3" : way == 1 ? "1 2" : "1");
        if (way < 2) ck_assert(number(2, 0)->misnamed);
        ck_assert_uint_eq(row.missing_count, 0);
    }
    drop_row();
}
END_TEST

/* [L-2] A mark of another log says nothing here; one of this log outvotes what there is more of. */
START_TEST(the_mark_says_which_log_this_is)
{
    for (unsigned way = 0; way < 3; way++) {
        begin_row();
        u9i_facts *one = add(1, 0, NULL, 0, 4096);
        u9i_facts *other = add(2, 0, NULL, 0, 4096), *third = add(3, 0, other, 3000, 4096);
        memset(other->open.log, 9, sizeof other->open.log);
        memset(third->open.log, 9, sizeof third->open.log);
        if (way > 0) set_mark(one, 2000);
        if (way == 2) memset(mark.log, 3, sizeof mark.log);
        ck_assert_str_eq(linked(), way == 1 ? "1" : "2 3");
        ck_assert((row.mark != NULL) == (way == 1));
    }
    drop_row();
}
END_TEST

/* Many segments, each behind the one before it, closed. */
static void make_long(const char *log, unsigned count, unsigned each)
{
    forged_segment before = {0};
    for (unsigned i = 1; i <= count; i++) {
        forged_segment s = forge_begin(i, i % 200, i > 1 ? &before : NULL, U9I_TAIL_TORN);
        forge_records(&s, "r", 1);
        forge_pad(&s);
        if (i > 1) forge_free(&before);
        if (i % each != 0 || i == count) forge_save(&s, log);
        before = s;
    }
    forge_free(&before);
}

typedef struct cost {
    double calls, bytes;
} cost;

/* What it costs to check a log, or to salvage it, for each file. */
static cost cost_of(const char *log, bool salvages, unsigned files_there)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    u9_fault fault = {.text = ""};
    size_t before, after;
    (void)sim_ops(&before);
    uint64_t bytes = sim_bytes(SIM_READ);
    u9_err err = salvages ? u9_salvage(log, at("saved"), &o, &report, NULL, &fault) : u9_check(log, &o, &report, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
    (void)sim_ops(&after);
    return (cost){(double)(after - before) / files_there, (double)(sim_bytes(SIM_READ) - bytes) / files_there};
}

/* {F72} [L-2] However long the row is, whatever is missing, blank or foreign in it: for a check, and for salvage. */
START_TEST(a_segment_costs_no_more_in_a_long_row)
{
    for (unsigned way = 0; way < 10; way++) {
        const unsigned kind = way % 5;
        const bool salvages = way >= 5;
        cost costs[2];
        for (unsigned i = 0; i < 2; i++) {
            unsigned count = i ? 160 : 40;
            const char *log = at("log");
            make_long(log, kind < 2 ? count : 1, kind == 1 ? 2 : UINT32_MAX);
            char noise[200];
            memset(noise, 'x', sizeof noise);
            for (unsigned n = 2; kind > 1 && n <= count; n++) {
                if (kind == 2) write_file(segment_path(log, n), "", 0);
                if (kind == 3) write_file(segment_path(log, n), noise, sizeof noise);
                if (kind != 4) continue;
                forged_segment s = forge_begin(n, n % 200, NULL, U9I_TAIL_NONE);
                u9i_open_record open = forge_naming(n, NULL, U9I_TAIL_NONE);
                memset(open.log, 99, 8);
                memcpy(open.log + 8, &n, sizeof n);
                forge_free(&s);
                s = forge_with_open(n, n % 200, &open);
                forge_pad(&s);
                forge_save(&s, log);
                forge_free(&s);
            }
            costs[i] = cost_of(log, salvages, count);
            remove_log(log);
            if (salvages) remove_log(at("saved"));
        }
        ck_assert_msg(costs[1].calls <= costs[0].calls * 1.1 + 0.5, "kind %u, %s: %.1f calls a file, then %.1f", kind,
                      salvages ? "salvage" : "check", costs[0].calls, costs[1].calls);
        ck_assert_msg(costs[1].bytes <= costs[0].bytes * 1.1 + 4096, "kind %u, %s: %.0f bytes a file, then %.0f", kind,
                      salvages ? "salvage" : "check", costs[0].bytes, costs[1].bytes);
    }
}
END_TEST

/* {F72} [L-4] What failed appends leave behind is opened once each when the log is opened, and once more at most. */
START_TEST(a_blank_file_is_opened_at_most_twice)
{
    const char *log = at("log");
    session(log, "r", 2, 1);
    for (unsigned n = 2; n <= 100; n++) write_file(segment_path(log, n), "", 0);
    sim_forget_diary();
    u9_log *w = open_writer(log, NULL);
    for (unsigned n = 2; n <= 100; n++) ck_assert_uint_le(sim_count_of(SIM_OPEN, segment_path(log, n)), 2);
    close_log(w);
}
END_TEST

/* [H-4] [H-5] A damaged version byte does not refuse the log where another segment has the secret. */
START_TEST(a_damaged_version_byte_is_seen_through_by_the_copy_of_the_secret)
{
    const char *log = at("log");
    make_long(log, 3, UINT32_MAX);
    flip_bit(segment_path(log, 2), 7, 2);  /* version 5 */
    flip_bit(segment_path(log, 2), 12, 3); /* the secret, twice: no single flip mends it */
    flip_bit(segment_path(log, 2), 13, 3);
    flip_bit(segment_path(log, 2), 150, 0); /* and the u9open */
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 1);
    forget(s);
}
END_TEST

/* A segment of another log, which names one of that log's with this number. */
static void put_stranger(const char *log, uint64_t named)
{
    forged_segment theirs = forge_begin(named, 77, NULL, U9I_TAIL_NONE);
    u9i_open_record open = forge_naming(9, &theirs, U9I_TAIL_TORN);
    memset(open.log, 0x33, sizeof open.log);
    forged_segment s = forge_with_open(9, 78, &open);
    forge_save(&s, log);
    forge_free(&s);
    forge_free(&theirs);
}

/* So many records are read, and one damage is CORRUPT for this reason. */
static void expect_read(const char *log, size_t records, u9_reason reason)
{
    seen *s = look(log);
    ck_assert_uint_eq(s->count, records);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, reason), 1);
    forget(s);
}

/* [H-5] Where several know a secret for a file's number, it is the one by which frames stand there. */
START_TEST(another_logs_copy_of_a_secret_for_the_same_number_hides_no_frames)
{
    const char *log = at("log");
    forged_segment all[3];
    for (unsigned i = 0; i < 3; i++) {
        all[i] = forge_begin(i + 1, i, i > 0 ? &all[i - 1] : NULL, U9I_TAIL_TORN);
        forge_pad(&all[i]);
        forge_records(&all[i], "r", 2);
        forge_pad(&all[i]);
        forge_save(&all[i], log);
    }
    put_stranger(log, 2);
    fill_bytes(segment_path(log, 2), 0, U9I_BLOCK, 0xee);
    expect_read(log, 6, U9_R_HEADER);
    for (unsigned i = 0; i < 3; i++) forge_free(&all[i]);
}
END_TEST

/* [H-5] Nor does it go before a secret that is proven by what stands in the file. */
START_TEST(another_logs_copy_of_a_secret_goes_before_no_proof)
{
    const char *log = at("log");
    make_long(log, 3, UINT32_MAX);
    put_stranger(log, 3);
    flip_bit(segment_path(log, 3), 9, 1);
    expect_read(log, 3, U9_R_HEADER);
}
END_TEST

/* [L-2] (4) What another log's u9open names is not this one's. */
START_TEST(a_stub_that_another_log_names_is_a_creation_cut_short)
{
    const char *log = at("log");
    make_long(log, 3, UINT32_MAX);
    remove_log(segment_path(log, 1));
    write_file(segment_path(log, 1), "something else, of some bytes", 29);
    put_stranger(log, 1);
    expect_read(log, 2, U9_R_MISSING);
}
END_TEST

/* [C-3] [C-4] The keys' kind is in every session's u9open: one that is damaged does not lose it. */
START_TEST(the_kind_of_the_keys_is_found_in_any_u9open)
{
    const char *log = at("log");
    session(log, "a", 3, 1);
    session(log, "b", 3, 1); /* goes on in the same file [S-5] */
    flip_bit(segment_path(log, 1), 150, 0);
    cut_file(segment_path(log, 1), file_size(segment_path(log, 1)) - 4096); /* the u9end */
    u9_log *r = open_reader(log);
    ck_assert_str_eq(u9_log_kind(r), "muid");
    close_log(r);
}
END_TEST

/* A log of one session with one record, of which no u9open and no u9end is left. */
static const char *lose_kind(const char *name, const char *kind, u9_key key, int lz4)
{
    static uint8_t text[5000], values[5100]; /* zeros: packed they are small */
    const char *log = at(name);
    u9_options o = writer_options();
    u9_builder b;
    o.kind = kind;
    o.lz4 = lz4;
    u9_log *w = open_writer(log, &o);
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, text, sizeof text), U9_OK);
    ck_assert_int_eq(u9_log_append(w, key.data ? &key : NULL, values, b.size, NULL), U9_OK);
    close_log(w);
    flip_bit(segment_path(log, 1), 150, 0);
    cut_file(segment_path(log, 1), file_size(segment_path(log, 1)) - 4096); /* the u9end */
    return log;
}

static void expect_kind(const char *log, const char *kind, u9_err want)
{
    u9_options o = writer_options();
    u9_fault fault;
    u9_log *w;
    o.kind = kind;
    ck_assert_int_eq(u9_log_open(log, &o, &w, &fault), want);
    if (want == U9_OK) close_log(w);
    else ck_assert_ptr_nonnull(strstr(fault.text, "no u9open"));
}

/* Memory is asked for to unpack it. */
START_TEST(without_memory_to_see_what_keys_a_log_has_it_is_not_opened)
{
    const char *log = lose_kind("packed", "rkey", (u9_key){"key1", 4}, 1);
    unsigned nth = 1, failed = 1;
    for (; failed > 0; nth++) {
        u9_log *r = NULL;
        u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log)};
        scarce_begin(SCARCE_MEMORY, nth, 0, false);
        u9_err err = u9_log_open(log, &o, &r, NULL);
        failed = scarce_end(NULL);
        ck_assert_msg(err == U9_OK || (failed > 0 && err == U9_NOMEM), "%u: %s", nth, u9_err_name(err));
        if (err == U9_OK) close_log(r);
    }
    ck_assert_uint_gt(nth, 5);
}
END_TEST

/* [L-6] A log of which no kind is known does not get one that its keys are not of. */
START_TEST(a_writer_gives_no_log_a_kind_that_its_keys_are_not_of)
{
    const u9_key text = {"key1", 4}, number = {"\1\2\3\4\5\6\7\x08", 8}, none = {NULL, 0};
    const char *log = lose_kind("plain", "rkey", text, 0);
    expect_kind(log, NULL, U9_ARG);
    expect_kind(log, "tid", U9_ARG);
    expect_kind(log, "rkey", U9_OK);
    log = lose_kind("packed", "rkey", text, 1);
    expect_kind(log, "", U9_ARG);
    expect_kind(log, "rkey", U9_OK);
    log = lose_kind("number", "tid", number, 0);
    expect_kind(log, "muid", U9_ARG);
    expect_kind(log, "uid8", U9_OK);
    log = lose_kind("muid", "muid", none, 0);
    expect_kind(log, "rkey", U9_ARG);
    expect_kind(log, NULL, U9_OK);
}
END_TEST

/* Random rows */

enum { SEGMENTS_MAX = 7, MOMENTS_MAX = 6 };

/* A segment as it stood after each of its frames: what another one may name as its end. */
typedef struct grown {
    forged_segment moments[MOMENTS_MAX];
    unsigned count;
} grown;

static uint64_t draws;

/* 0 to n - 1. */
static unsigned draw(unsigned n)
{
    draws = draws * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(draws >> 33) % n;
}

/* `twins`: several may have one number. */
static grown grow(unsigned i, const grown *others, bool twins)
{
    const grown *g = i > 0 && draw(9) > 0 ? &others[draw(2) ? i - 1 : draw(i)] : NULL;
    const forged_segment *before = g ? &g->moments[draw(3) ? g->count - 1 : draw(g->count)] : NULL;
    grown n = {.count = 0};
    uint64_t number = twins && draw(4) == 0 ? 1 + draw(SEGMENTS_MAX) : i + 1;
    if (draw(60) == 0) number += U9I_NUMBER_END - 3;
    u9i_open_record open = forge_naming(number, before, (u9i_tail)draw(U9I_TAIL_CORRUPT + 1));
    open.time_us = draw(3);
    open.accepted = draw(6) ? 0 : draw(SEGMENTS_MAX);
    if (draw(30) == 0) memset(open.log, 0x33, sizeof open.log);
    if (draw(30) == 0) open.end.offset += 16;
    if (draw(60) == 0) open.before_segment = number + draw(2);
    forged_segment s = forge_with_open(number, i, &open);
    if (draw(5) == 0) s.next.time_us = 1600000000000000;
    unsigned frames = 1 + draw(MOMENTS_MAX - 1);
    for (unsigned k = 0; k < frames; k++) {
        n.moments[n.count++] = s;
        if (k > 1 && draw(6) == 0) s.next.ordinal += draw(2);
        if (draw(3) == 0) forge_pad(&s);
        if (draw(3) == 0) forge_promise(&s);
        else forge_records(&s, "r", draw(4));
    }
    if (draw(3) == 0) forge_end(&s, draw(2) ? U9I_END_CLOSING : U9I_END_SEALING);
    n.moments[n.count - 1] = s;
    return n;
}

/* What may happen to a file. */
static void spoil(const char *log, const forged_segment *s)
{
    static const uint8_t zeros[5000];
    char path[3400], to[3400];
    snprintf(path, sizeof path, "%s", segment_path(log, s->number));
    snprintf(to, sizeof to, "%s", segment_path(log, 1 + draw(2 * SEGMENTS_MAX)));
    uint64_t size = file_size(path);
    if (size < 1000) return; /* another one's harm has come over it */
    switch (draw(30)) {
    case 0: remove_log(path); break;
    case 1: cut_file(path, 100 + draw((unsigned)size - 100)); break;
    case 2: fill_bytes(path, 0, 32, 0); break;
    case 3: case 4: fill_bytes(path, draw(2) ? 0 : 60, 100, 0xee); break;
    case 5: fill_bytes(path, draw((unsigned)size - 9), 9, 0x11); break;
    case 6: extend_file(path, size + draw(9000)); break;
    case 7: if (!exists(to)) write_file(to, zeros, draw(sizeof zeros)); break;
    case 8: if (!exists(to)) move_file(path, to); break;
    case 9: if (!exists(to)) write_file(to, "something else, of some bytes", 29); break;
    case 10: case 11: /* the same once more, and perhaps less of it, or other frames at its end */
        if (exists(to)) break;
        sim_copy(path, to);
        if (draw(2)) cut_file(to, 200 + draw((unsigned)size - 200));
        else fill_bytes(to, size - size / 4, 30, 0x77);
        break;
    default: break;
    }
}

static void mark_some(const char *log, const grown *g)
{
    uint8_t bytes[U9I_MARK_SIZE] = {0};
    for (unsigned i = 0; i < 1 + draw(2); i++) {
        const forged_segment *s = &g->moments[draw(g->count)];
        u9i_mark_record m = {.segment = s->number, .end = {.offset = s->end, .ordinal = s->next.ordinal}};
        memset(m.log, 0x70, sizeof m.log);
        memcpy(m.boundary, s->secret.boundary, sizeof m.boundary);
        memcpy(m.secret, s->secret.bytes, sizeof m.secret);
        memcpy(m.end.chain, s->next.chain, sizeof m.end.chain);
        ck_assert_int_eq(u9i_slot_encode(&m, &s->secret, bytes + (size_t)i * U9I_BLOCK), U9_OK);
        if (draw(6) == 0) bytes[(size_t)i * U9I_BLOCK + draw(200)] ^= 1;
    }
    char path[3400];
    snprintf(path, sizeof path, "%s/.mark", log);
    write_file(path, bytes, sizeof bytes);
}

/*
 * [L-2] [L-3] [L-4] Whatever goes on behind whatever, is lost, or is there twice: the cursor, the check and the second reader
 * make the same of it (look).
 */
START_TEST(rows_drawn_at_random_are_what_the_second_reader_makes_of_them)
{
    enum { ROWS = 50 };
    unsigned rows = sim_in_use() ? thorough(ROWS, 1000) : ROWS / 10; /* in a store each takes a while */
    for (unsigned i = 0; i < rows; i++) {
        grown all[SEGMENTS_MAX];
        draws = (uint64_t)_i * 100000 + i;
        bool twins = draw(2);
        unsigned count = 2 + draw(SEGMENTS_MAX - 1), marked = draw(2 * SEGMENTS_MAX);
        for (unsigned n = 0; n < count; n++) all[n] = grow(n, all, twins);
        for (unsigned n = 0; n < count; n++) {
            const forged_segment *s = &all[n].moments[all[n].count - 1];
            if (!exists(segment_path(at("log"), s->number))) forge_save(s, at("log"));
        }
        for (unsigned n = 0; n < count; n++)
            if (exists(segment_path(at("log"), all[n].moments[0].number))) spoil(at("log"), &all[n].moments[all[n].count - 1]);
        if (marked < count) mark_some(at("log"), &all[marked]);
        forget(look(at("log")));
        for (unsigned n = 0; n < count; n++) forge_free(&all[n].moments[all[n].count - 1]);
        remove_log(at("log"));
    }
}
END_TEST

Suite *suite_succession(void)
{
    Suite *suite = suite_create("succession");
    TCase *tc = tcase_create("succession");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_tip_is_the_highest_that_does_not_leave_out_the_mark);
    tcase_add_test(tc, a_mark_keeps_its_segment_on_the_row);
    tcase_add_test(tc, a_marked_segment_that_is_gone_is_missing);
    tcase_add_test(tc, a_seal_at_or_above_the_mark_is_of_an_older_state);
    tcase_add_test(tc, a_segment_without_its_u9open_belongs_where_it_is_named);
    tcase_add_test(tc, the_mark_says_which_log_this_is);
    tcase_add_test(tc, a_segment_costs_no_more_in_a_long_row);
    tcase_add_test(tc, a_blank_file_is_opened_at_most_twice);
    tcase_add_test(tc, a_damaged_version_byte_is_seen_through_by_the_copy_of_the_secret);
    tcase_add_test(tc, another_logs_copy_of_a_secret_for_the_same_number_hides_no_frames);
    tcase_add_test(tc, another_logs_copy_of_a_secret_goes_before_no_proof);
    tcase_add_test(tc, a_stub_that_another_log_names_is_a_creation_cut_short);
    tcase_add_loop_test(tc, rows_drawn_at_random_are_what_the_second_reader_makes_of_them, 0, 8);
    tcase_add_test(tc, the_kind_of_the_keys_is_found_in_any_u9open);
    tcase_add_test(tc, without_memory_to_see_what_keys_a_log_has_it_is_not_opened);
    tcase_add_test(tc, a_writer_gives_no_log_a_kind_that_its_keys_are_not_of);
    suite_add_tcase(suite, tc);
    return suite;
}
