/*
 * tests/engine/log/test_mark.c: the mark of a log, on the simulated disk: when it is written and what it names, what
 * it tells of a log that was cut, emptied, put back, rewritten or copied, and when it promises nothing. [M-1] to [M-6]
 */
#include "engine/log/mark.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL = 65536, SECOND = 1000000, TICK = 50000, BLOCK = 4096 };

static const char *mark_path(const char *log)
{
    static char paths[4][4400];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/.mark", log);
    return path;
}

/* Both slots as they stand in the file. */
typedef struct slots {
    u9i_slot slot[U9I_MARK_SLOTS];
    int counts;
} slots;

static slots slots_of(const char *log)
{
    slots s;
    uint8_t bytes[U9I_MARK_SIZE] = {0};
    size_t size;
    uint8_t *file = read_file(mark_path(log), &size);
    memcpy(bytes, file, size < sizeof bytes ? size : sizeof bytes);
    free(file);
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++) u9i_slot_decode(bytes + i * BLOCK, &s.slot[i]);
    s.counts = u9i_slots_greater(s.slot);
    return s;
}

static u9i_mark_record mark_of(const char *log)
{
    slots s = slots_of(log);
    ck_assert_int_ge(s.counts, 0);
    return s.slot[s.counts].mark;
}

/* The frame of a segment that ends where the mark says, with its ordinal; it must be there. */
static seen_frame marked_frame(const char *log, const u9i_mark_record *m)
{
    size_t size;
    uint8_t *bytes = read_file(segment_path(log, m->segment), &size);
    seen_frame frames[400];
    size_t n = list_frames(bytes, size, frames, 400), i = 0;
    while (i < n && frames[i].end != m->end.offset) i++;
    ck_assert_uint_lt(i, n);
    ck_assert_uint_eq(frames[i].ordinal + frames[i].count, m->end.ordinal);
    ck_assert_mem_eq(bytes + frames[i].offset + 16, m->end.chain, 16);
    ck_assert_mem_eq(bytes + 8, m->secret, 16);
    free(bytes);
    return frames[i];
}

/* By the diary: what the mark names is durable, now. */
static void expect_durable(const char *log)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    slots s = slots_of(log);
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++) {
        if (s.slot[i].state != U9I_SLOT_VALID) continue;
        const u9i_mark_record *m = &s.slot[i].mark;
        ck_assert_uint_le(m->end.offset, sim_durable(m->segment, ops[n - 1].began));
    }
}

/* Appends about `size` bytes. */
static void append_filler(u9_log *w, size_t size)
{
    uint8_t *bytes = calloc(1, size);
    append_bytes(w, bytes, size);
    free(bytes);
}

static u9_log *open_small(const char *log)
{
    u9_options o = small_options();
    return open_writer(log, &o);
}

static void copy_one(const char *log, const char *to, const char *name)
{
    char from_path[4400], to_path[4400];
    snprintf(from_path, sizeof from_path, "%s/%s", log, name);
    snprintf(to_path, sizeof to_path, "%s/%s", to, name);
    size_t size;
    uint8_t *bytes = read_file(from_path, &size);
    write_file(to_path, bytes, size);
    free(bytes);
}

/* Writing [M-1] */

/* The nth operation of this kind on this file, or a directory. */
static const sim_op *nth_op(sim_kind kind, const char *path, unsigned nth)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++)
        if (ops[i].kind == kind && strcmp(ops[i].path, path) == 0 && --nth == 0) return &ops[i];
    ck_abort_msg("there is no such operation on %s", path);
}

START_TEST(a_log_is_made_mark_first_and_marked_when_it_is_durable) /* [M-1] [M-6] */
{
    const char *log = at("log");
    char segment[4400], mark[4400], above[4400];
    snprintf(segment, sizeof segment, "%s", segment_path(log, 1));
    snprintf(mark, sizeof mark, "%s", mark_path(log));
    snprintf(above, sizeof above, "%s/..", log);
    u9_log *w = open_small(log);
    const sim_op *steps[] = {
        nth_op(SIM_CREATE, mark, 1),      nth_op(SIM_EVICT, mark, 1),
        nth_op(SIM_SYNC_DIR, log, 1),     nth_op(SIM_CREATE, segment, 1),
        nth_op(SIM_WRITE, segment, 1),    nth_op(SIM_SYNC, segment, 1),
        nth_op(SIM_SYNC_DIR, log, 2),     nth_op(SIM_SYNC_DIR, above, 1),
        nth_op(SIM_WRITE, mark, 1),       nth_op(SIM_SYNC, mark, 1)};
    for (size_t i = 1; i < sizeof steps / sizeof *steps; i++)
        ck_assert_uint_lt(steps[i - 1]->ended, steps[i]->began);
    ck_assert_uint_eq(file_size(mark), 2 * BLOCK);
    u9i_mark_record m = mark_of(log);
    ck_assert_uint_eq(m.segment, 1);
    ck_assert_uint_eq(m.first_ordinal, 0);
    ck_assert_uint_eq(m.end.ordinal, 0);
    ck_assert_uint_eq(marked_frame(log, &m).offset, 32);
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->count, 0);
    forget(s);
    close_log(w);
    s = look(log);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert(s->report.closed);
    forget(s);
}
END_TEST

START_TEST(what_is_no_log_yet_is_absent_and_opening_one_changes_nothing) /* [M-6] [W-1] */
{
    uint8_t before[16], after[16];
    u9_options o = small_options();
    u9_fault fault;
    u9_log *w;
    o.mode = U9_CREATE;
    o.kind = "foo";
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_ARG);
    ck_assert(!exists(at("log")));
    o.kind = NULL;
    make_dir(at("log"));
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_ABSENT);
    o.mode = U9_WRITE;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_ABSENT);
    o.mode = U9_CREATE;
    o.kind = "no kind";
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_ARG);
    ck_assert_uint_eq(segments_in(at("log")), 0);
    ck_assert(!exists(mark_path(at("log"))));
    o.kind = "tid";
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_OK);
    close_log(w);
    picture(at("log"), before);
    o.kind = "muid"; /* which it is not */
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_ARG);
    o.mode = U9_WRITE;
    o.kind = "no kind";
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, &fault), U9_ARG);
    ck_assert_msg(strstr(fault.text, "is no key kind") != NULL, "%s", fault.text);
    o.kind = NULL;
    for (u9_mode mode = U9_READ; mode <= U9_CREATE; mode++) {
        o.mode = mode;
        ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_OK);
        ck_assert_str_eq(u9_log_kind(w), "tid");
        close_log(w);
    }
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, 16);
}
END_TEST

/* {F18} */
START_TEST(the_mark_follows_within_a_second_in_turns) /* [M-5] */
{
    u9_log *w = open_small(at("log"));
    slots before = slots_of(at("log"));
    for (unsigned i = 0; i < 6; i++) {
        append_text(w, "one");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        ck_assert_uint_eq(mark_of(at("log")).end.ordinal, i); /* nobody waits for it */
        sim_advance(SECOND);
        slots now = slots_of(at("log"));
        ck_assert_int_eq(now.counts, 1 - before.counts);
        u9i_mark_record m = mark_of(at("log"));
        ck_assert_uint_eq(m.end.ordinal, i + 1);
        (void)marked_frame(at("log"), &m);
        expect_durable(at("log"));
        before = now;
    }
    unsigned writes = sim_count_of(SIM_WRITE, mark_path(at("log")));
    sim_advance(10 * SECOND);
    ck_assert_uint_le(sim_count_of(SIM_WRITE, mark_path(at("log"))), writes + 1); /* of the last promise at most */
    close_log(w);
}
END_TEST

START_TEST(it_is_written_twice_a_second_at_most_between_rolls) /* [M-5] */
{
    u9_log *w = open_writer(at("log"), NULL);
    sim_advance(SECOND);
    unsigned writes = sim_count_of(SIM_WRITE, mark_path(at("log")));
    for (unsigned i = 0; i < 100; i++) {
        append_text(w, "one");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        sim_advance(SECOND / 50);
    }
    ck_assert_uint_le(sim_count_of(SIM_WRITE, mark_path(at("log"))), writes + 5);
    close_log(w);
}
END_TEST

START_TEST(a_roll_is_marked_at_once_at_the_successors_open_or_behind_it) /* [M-5] [S-6] */
{
    u9_log *w = open_small(at("log"));
    for (unsigned i = 0; i < 99 && segments_in(at("log")) < 2; i++) append_filler(w, 10000);
    sim_advance(SECOND / 10); /* less than between two other marks */
    u9i_mark_record m = mark_of(at("log"));
    ck_assert_uint_eq(m.segment, 2);
    ck_assert_uint_ge(marked_frame(at("log"), &m).offset, 32); /* of the u9open, or behind it */
    expect_durable(at("log"));
    close_log(w);
}
END_TEST

START_TEST(a_close_is_marked_at_its_end_and_a_seal_never_is) /* [M-5] [S-4] */
{
    for (unsigned session = 0; session < 4; session++) {
        u9_log *w = open_small(at("log"));
        for (unsigned i = 0; i < 9; i++) append_filler(w, 10000);
        close_log(w);
        u9i_mark_record m = mark_of(at("log"));
        ck_assert_uint_eq(m.segment, segments_in(at("log")));
        ck_assert(marked_frame(at("log"), &m).is_end);
        ck_assert_uint_eq(m.end.ordinal, 9 * (session + 1));
        seen *s = look(at("log"));
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
        ck_assert_uint_eq(s->report.mark_segment, m.segment);
        ck_assert_uint_eq(s->report.mark_offset, m.end.offset);
        ck_assert_uint_eq(s->report.mark_ordinal, s->report.next_ordinal);
        ck_assert_uint_gt(s->report.mark_time_us, 0);
        forget(s);
    }
}
END_TEST

START_TEST(a_slot_is_never_written_while_the_other_is_not_durable) /* [M-5] */
{
    sim_set_order(SIM_LATE);
    u9_log *w = open_small(at("log"));
    for (unsigned i = 0; i < 40; i++) {
        append_filler(w, 10000);
        if (i % 3 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        sim_advance(SECOND / 3);
    }
    close_log(w);
    size_t n;
    const sim_op *ops = sim_ops(&n), *last = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(ops[i].path, mark_path(at("log"))) != 0) continue;
        if (ops[i].kind == SIM_WRITE) ck_assert(last == NULL || last->kind != SIM_WRITE);
        if (ops[i].kind == SIM_WRITE || ops[i].kind == SIM_SYNC) last = &ops[i];
    }
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(last->kind, SIM_SYNC);
}
END_TEST

/* What it tells */

/* The log has `count` records, and lost those up to `all`, by its mark and nothing else. */
static void expect_lost(const char *log, size_t count, uint64_t all)
{
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->count, count);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MARK), 1);
    const u9_damage *d = &s->damages[s->damage_count - 1];
    ck_assert_int_eq(d->reason, U9_R_MARK);
    ck_assert_uint_eq(d->ordinal, count);
    ck_assert_uint_eq(d->lost, all - count);
    ck_assert(!d->at_most);
    ck_assert_uint_eq(count_damages(s, U9_V_TORN, U9_R_NONE), 0);
    ck_assert_int_eq(s->report.verdict, U9_V_CORRUPT);
    ck_assert_uint_eq(s->report.next_ordinal, all);
    ck_assert(!s->report.closed);
    forget(s);
}

/* A session goes on behind what was lost, in a new segment; the loss stays told, with the same number. */
static void expect_goes_on(const char *log, size_t count, uint64_t all)
{
    unsigned segments = segments_in(log);
    session(log, "after", 1, 0);
    ck_assert_uint_eq(segments_in(log), segments + 1);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, count + 1);
    ck_assert_uint_eq(s->records[count].ordinal, all);
    ck_assert_str_eq(s->records[count].text, "after0");
    ck_assert_uint_eq(s->report.lost, all - count);
    ck_assert_int_eq(s->report.verdict, U9_V_CORRUPT);
    forget(s);
}

/* {F29} {F64} */
START_TEST(a_closed_log_cut_anywhere_lost_what_is_missing_to_the_record) /* [M-4] */
{
    session(at("log"), "r", 9, 3);
    size_t size;
    const char *path = segment_path(at("log"), 1);
    uint8_t *bytes = read_file(path, &size);
    seen_frame frames[64];
    size_t n = list_frames(bytes, size, frames, 64);
    uint64_t end = mark_of(at("log")).end.offset; /* zeros follow, up to the end of the block */
    ck_assert_uint_gt(end, size - BLOCK);
    for (size_t cut = 0; cut < end; cut += cut % 512 < 2 || cut % 512 == 511 ? 1 : 15) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) count += frames[i].end <= cut ? frames[i].count : 0;
        copy_log(at("log"), at("cut"));
        cut_file(segment_path(at("cut"), 1), cut);
        expect_lost(at("cut"), count, 9);
        if (cut % 512 == 0) expect_goes_on(at("cut"), count, 9);
        remove_log(at("cut"));
    }
    free(bytes);
}
END_TEST

/* {F64} */
START_TEST(so_is_one_cut_at_the_end_of_an_earlier_session) /* [M-4] [S-5] */
{
    uint64_t ends[3];
    for (unsigned i = 0; i < 3; i++) {
        session(at("log"), "r", 5, 2);
        ends[i] = file_size(segment_path(at("log"), 1));
    }
    for (unsigned i = 0; i < 2; i++) {
        copy_log(at("log"), at("cut"));
        cut_file(segment_path(at("cut"), 1), ends[i]); /* by itself it is closed, and clean */
        expect_lost(at("cut"), 5 * (i + 1), 15);
        expect_goes_on(at("cut"), 5 * (i + 1), 15);
        remove_mark(at("cut"));
        seen *s = look(at("cut"));
        ck_assert_int_eq(s->report.mark, U9_MARK_NONE);
        forget(s);
        remove_log(at("cut"));
    }
}
END_TEST

/* A log of several segments, and an older state of it. */
static uint64_t make_two_states(const char *log, const char *older)
{
    u9_options o = small_options();
    for (unsigned k = 0; k < 2; k++) {
        u9_log *w = open_writer(log, &o);
        for (unsigned i = 0; i < 20; i++) append_filler(w, 8000);
        close_log(w);
        if (k == 0) copy_log(log, older);
    }
    return segments_in(log);
}

/* {F64} */
START_TEST(a_newest_segment_that_is_emptied_or_deleted_is_told_to_the_record) /* [M-4] [L-4] */
{
    uint64_t n = make_two_states(at("log"), at("older"));
    seen *whole = look(at("log"));
    size_t count = 0;
    while (count < whole->count && whole->records[count].segment < n) count++;
    ck_assert_uint_lt(count, whole->count);
    copy_log(at("log"), at("emptied"));
    cut_file(segment_path(at("emptied"), n), 0);
    expect_lost(at("emptied"), count, whole->count);
    expect_goes_on(at("emptied"), count, whole->count);
    copy_log(at("log"), at("deleted"));
    remove_log(segment_path(at("deleted"), n));
    expect_lost(at("deleted"), count, whole->count);
    u9_options o = small_options();
    u9_log *w;
    ck_assert_int_eq(u9_log_open(at("deleted"), &o, &w, NULL), U9_CORRUPT); /* as any missing one [L-4] */
    for (uint64_t i = n - 1; i > 0; i--) {
        remove_log(segment_path(at("deleted"), i));
        while (count > 0 && whole->records[count - 1].segment >= i) count--;
        expect_lost(at("deleted"), count, whole->count);
    }
    forget(whole);
}
END_TEST

/* {F26} {F64} */
START_TEST(segments_put_back_from_an_older_copy_are_seen) /* [M-4] */
{
    (void)make_two_states(at("log"), at("older"));
    copy_log(at("older"), at("back"));
    remove_log(mark_path(at("back")));
    size_t size;
    uint8_t *mark = read_file(mark_path(at("log")), &size);
    write_file(mark_path(at("back")), mark, size);
    free(mark);
    expect_lost(at("back"), 20, 40);
}
END_TEST

START_TEST(an_unclosed_log_lost_nothing_that_is_behind_its_mark) /* [M-4] */
{
    u9_log *w = open_small(at("log"));
    append_many(w, "r", 3, 1);
    sim_advance(SECOND);
    append_text(w, "later");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, at("log"));
    u9i_mark_record m = mark_of(at("log"));
    ck_assert_uint_eq(m.end.ordinal, 3);
    cut_file(segment_path(at("log"), 1), m.end.offset + 100); /* "later" is torn */
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 3);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    forget(s);
    cut_file(segment_path(at("log"), 1), m.end.offset - 1);
    expect_lost(at("log"), 2, 3);
}
END_TEST

/* Records "<prefix>0" and on in frames of one, as a session would write them, with the keys of segment 1. */
static forged_segment rewrite(const char *prefix, unsigned count)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < count; i++) forge_records(&f, prefix, 1);
    return f;
}

/* Marks the end of the last frame of a forged segment. */
static void forge_mark(const char *log, const forged_segment *f)
{
    static const uint8_t own[U9I_SECRET_SIZE] = {1, 2, 3};
    u9i_secret secret;
    u9i_mark_record m = {.segment = f->number, .time_us = 1,
                         .end = {.offset = f->end, .ordinal = f->next.ordinal}};
    uint8_t bytes[U9I_MARK_SIZE] = {0}, scratch[4096];
    u9i_proof proof = {0};
    u9i_frame frame;
    u9i_body body;
    u9i_open_record open;
    size_t need;
    ck_assert_int_eq(u9i_frame_verify(&f->secret, 32, f->size, f->bytes + 32, f->size - 32, &proof, &frame), U9_OK);
    ck_assert_int_eq(u9i_body_open(&frame, scratch, sizeof scratch, &need, &body), U9_OK);
    ck_assert_int_eq(u9i_open_record_decode(body.bytes, body.size, &open), U9_OK);
    memcpy(m.log, open.log, 16);
    memcpy(m.boundary, f->secret.boundary, 16);
    memcpy(m.secret, f->secret.bytes, 16);
    memcpy(m.end.chain, f->next.chain, 16);
    ck_assert(u9i_secret_init(&secret, own));
    ck_assert_int_eq(u9i_slot_encode(&m, &secret, bytes), U9_OK);
    write_file(mark_path(log), bytes, sizeof bytes);
}

START_TEST(a_history_that_was_rewritten_with_all_its_hashes_does_not_meet_the_mark) /* [M-4] */
{
    forged_segment was = rewrite("it was like this ", 5);
    forge_save(&was, at("log"));
    forge_mark(at("log"), &was);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 5);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN); /* unclosed, and met */
    forget(s);
    static const struct {
        const char *prefix;
        unsigned count;
        u9_reason reason;
    } tries[] = {{"it was like that ", 5, U9_R_FORK}, {"it was like that ", 9, U9_R_FORK},
                 {"it was quite different, and longer ", 5, U9_R_FORK},
                 {"it was like that ", 4, U9_R_MARK}, {"", 5, U9_R_MARK}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        forged_segment is = rewrite(tries[i].prefix, tries[i].count);
        forge_save(&is, at("log"));
        s = look(at("log"));
        ck_assert_int_eq(s->report.verdict, U9_V_CORRUPT);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, tries[i].reason), 1);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 1);
        ck_assert_uint_eq(s->count, tries[i].count);
        forget(s);
        forge_free(&is);
    }
    forge_free(&was);
}
END_TEST

/* A writer, too, sees that the mark is not met, behind segments that say nothing against it. */
START_TEST(behind_other_segments_a_mark_that_is_not_met_stops_writers) /* [M-4] */
{
    u9_log *w;
    u9_options o = small_options();
    forged_segment first = rewrite("first", 3);
    forge_end(&first, U9I_END_SEALING);
    forge_save(&first, at("log"));
    for (unsigned way = 0; way < 2; way++) {
        forged_segment was = forge_begin(2, 2, &first, U9I_TAIL_ROLLED), is = forge_begin(2, 2, &first, U9I_TAIL_ROLLED);
        forge_records(&was, "it was like this", 5);
        forge_records(&is, way ? "it was like that" : "it was like this", 5);
        forge_save(&is, at("log"));
        forge_mark(at("log"), &was);
        ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), way ? U9_CORRUPT : U9_OK);
        if (way == 0) close_log(w);
        forge_free(&was);
        forge_free(&is);
    }
    forge_free(&first);
}
END_TEST

/* {F65} Two went on behind the same five records: the row is the one that the mark has seen, the other one is told. */
START_TEST(what_went_on_from_an_older_copy_is_a_fork_beside_what_is_marked) /* [M-4] [L-9] */
{
    session(at("log"), "r", 5, 2);
    copy_log(at("log"), at("copy"));
    session(at("log"), "one way ", 7, 2);
    extend_file(segment_path(at("copy"), 1), 1 << 20); /* so that it is not continued */
    session(at("copy"), "the other ", 9, 2);
    ck_assert_uint_eq(segments_in(at("copy")), 2);
    copy_one(at("copy"), at("log"), "0000000000000002.u9");
    for (unsigned way = 0; way < 2; way++) {
        if (way == 1) copy_one(at("copy"), at("log"), ".mark");
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, way == 0 ? 12 : 14);
        ck_assert(has_text(s, way == 0 ? "one way 6" : "the other 8"));
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), 1);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 1);
        ck_assert_uint_eq(s->report.lost, way == 0 ? 9 : 7);
        ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
        forget(s);
        u9_options o = small_options();
        u9_log *w;
        ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_CORRUPT);
    }
}
END_TEST

/* The mark would be written anew, and nothing would tell any more of what it had seen. */
START_TEST(what_passed_the_mark_otherwise_is_not_appended_to) /* [M-4] */
{
    static char text[1500];
    memset(text, 'x', sizeof text - 1);
    for (unsigned way = 0; way < 3; way++) {
        bool rolled = way == 1, sealed = way == 2;
        u9_options o = small_options();
        session(at("log"), "r", 5, 2);
        copy_log(at("log"), at("copy"));
        session(at("log"), "one way ", 7, 2);
        session(at("copy"), "the other ", 9, 2);
        if (sealed) { /* what comes behind it is not here */
            u9_log *w = open_writer(at("copy"), &o);
            for (unsigned n = 0; n < 60; n++) append_text(w, text);
            close_log(w);
            ck_assert_uint_eq(segments_in(at("copy")), 2);
        }
        if (rolled) { /* the mark is not of the segment that a writer would go on in */
            extend_file(segment_path(at("copy"), 1), 1 << 20);
            session(at("copy"), "further on ", 3, 2);
            copy_one(at("copy"), at("log"), "0000000000000002.u9");
        }
        copy_one(at("copy"), at("log"), "0000000000000001.u9");
        for (unsigned again = 0; again < 2; again++) {
            seen *s = look(at("log"));
            if (sealed) ck_assert_uint_gt(s->count, 14);
            else ck_assert_uint_eq(s->count, rolled ? 17 : 14);
            ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), 1);
            forget(s);
            u9_log *w;
            ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_CORRUPT);
        }
        remove_log(at("log"));
        remove_log(at("copy"));
    }
}
END_TEST

/* [H-5] What it says of a segment's secret replaces none by which frames stand in the file, or of which the boundary does. */
START_TEST(the_mark_of_another_log_hides_no_frames)
{
    for (unsigned way = 0; way < 3; way++) {
        forged_segment other = rewrite("other", 5), f = forge_begin(1, 77, NULL, U9I_TAIL_NONE);
        forge_pad(&f);
        forge_records(&f, "r", 3);
        forge_promise(&f);
        if (way == 1) memset(f.bytes + 32, 0, 300);
        else f.bytes[150] ^= 1;
        if (way == 2) memset(f.bytes + 4096 + 64, 0xee, 100); /* nothing is left but the boundary */
        forge_save(&f, at("log"));
        forge_mark(at("log"), &other);
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, way == 2 ? 0 : 3);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 0);
        forget(s);
        forge_free(&other);
        forge_free(&f);
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(a_gap_over_the_mark_is_that_gap_and_no_fork) /* [M-4] */
{
    forged_segment f = rewrite("r", 4);
    forge_save(&f, at("log"));
    forge_mark(at("log"), &f);
    uint64_t last = forge_records(&f, "behind", 1);
    forge_promise(&f);
    (void)last;
    forge_save(&f, at("log"));
    seen *s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(s);
    uint64_t offsets[16];
    size_t n = frame_offsets(segment_path(at("log"), 1), offsets, 16);
    ck_assert_uint_ge(n, 6);
    flip_bit(segment_path(at("log"), 1), offsets[4] + 70, 0); /* the frame that ends at the mark */
    s = look(at("log"));
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 1);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HASH), 1);
    ck_assert_uint_eq(s->report.lost, 1);
    forget(s);
    forge_free(&f);
}
END_TEST

/* {F67} */
START_TEST(the_marks_secret_opens_its_segment) /* [H-5] [M-4] */
{
    u9_log *w = open_small(at("log"));
    append_many(w, "r", 3, 1);
    sim_advance(SECOND);
    crash(w, at("log"));
    fill_bytes(segment_path(at("log"), 1), 8, 16, 0x77);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 1);
    ck_assert_uint_eq(s->report.lost, 0);
    forget(s);
}
END_TEST

/* Copies of a log that is being written */

/* The writer goes on for a while: over half a segment, synced, marked and promised. */
static void go_on(u9_log *w)
{
    for (unsigned i = 0; i < 5; i++) append_filler(w, 9000);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_advance(SECOND);
}

/* What a session appends behind a copy is there when it is read again, behind all that was. [S-5] */
static void expect_own_behind(const char *log, const seen *before)
{
    bool older = before->report.older;
    size_t count;
    char **names = list_names(log, &count);
    uint64_t last = strtoull(names[count - 1], NULL, 16);
    session(log, "own", 3, 1);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, before->count + 3);
    ck_assert_str_eq(s->records[before->count].text, "own0");
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(s->report.closed, 1);
    ck_assert_int_eq(s->report.older, 0);
    ck_assert_uint_eq(s->records[before->count].segment, older ? last + 2 : last + 1); /* [L-9] */
    if (older) ck_assert_int_eq(sim_holds(segment_path(log, last + 1)), 0);
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
    forget(s);
}

START_TEST(a_copy_of_a_live_log_that_takes_the_mark_first_raises_no_alarm) /* [M-3] [M-4] [L-2] */
{
    unsigned older = 0;
    for (unsigned order = 0; order < 12; order++) {
        char log[3300], to[3300];
        snprintf(log, sizeof log, "%s%u", at("log"), order);
        snprintf(to, sizeof to, "%s%u", at("copy"), order);
        u9_log *w = open_small(log);
        for (unsigned i = 0; i < 4; i++) go_on(w);
        make_dir(to);
        copy_one(log, to, ".mark");
        size_t count;
        go_on(w);
        char **names = list_names(log, &count); /* as a tool lists them, then goes file by file */
        for (size_t i = 0; i < count; i++) {
            const char *name = names[order < 6 ? (i + order) % count : (2 * count - 1 - i - order % count) % count];
            if (strcmp(name, ".mark") != 0) copy_one(log, to, name);
            go_on(w);
        }
        seen *s = look(to);
        ck_assert_int_eq(s->err, U9_OK);
        /* The newest that was listed may be sealed by the time it is copied: this is the log before the seal. */
        ck_assert_int_le(s->report.verdict, U9_V_TORN);
        ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
        ck_assert_uint_ge(s->count, s->report.mark_ordinal);
        ck_assert(!s->report.older || (s->report.verdict == U9_V_CLEAN && s->report.confirmed && !s->report.closed));
        older += s->report.older != 0;
        expect_own_behind(to, s);
        forget(s);
        for (size_t i = 0; i < count; i++) free(names[i]);
        free(names);
        close_log(w);
    }
    ck_assert_uint_gt(older, 0);
    ck_assert_uint_lt(older, 12);
}
END_TEST

/* As cp -al does it: the copy's files are the log's own, and go on with it until the writer notices. */
START_TEST(a_copy_by_hard_links_that_takes_the_mark_first_raises_no_alarm) /* [M-4] [M-5] */
{
    u9_log *w = open_small(at("log"));
    for (unsigned i = 0; i < 4; i++) go_on(w);
    make_dir(at("copy"));
    sim_link(mark_path(at("log")), mark_path(at("copy")));
    u9i_mark_record then = mark_of(at("copy"));
    size_t count;
    char **names = list_names(at("log"), &count);
    for (size_t i = 0; i < count; i++) {
        char from[4400], to[4400];
        snprintf(from, sizeof from, "%s/%s", at("log"), names[i]);
        snprintf(to, sizeof to, "%s/%s", at("copy"), names[i]);
        if (strcmp(names[i], ".mark") != 0) sim_link(from, to);
        go_on(w);
        free(names[i]);
    }
    free(names);
    for (unsigned i = 0; i < 4; i++) go_on(w); /* what was the newest is sealed by now, also in the copy */
    ck_assert_uint_eq(sim_links(mark_path(at("log"))), 1);
    ck_assert_uint_eq(sim_links(mark_path(at("copy"))), 1);
    ck_assert_uint_eq(mark_of(at("copy")).end.offset, then.end.offset);
    close_log(w);
    seen *log = look(at("log")), *copy = look(at("copy"));
    ck_assert_int_eq(log->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(log->report.mark, U9_MARK_COUNTS);
    ck_assert_uint_eq(log->report.mark_ordinal, log->count);
    ck_assert_int_eq(copy->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(copy->report.older, 1);
    ck_assert_uint_ge(copy->count, copy->report.mark_ordinal);
    expect_own_behind(at("copy"), copy);
    forget(log);
    forget(copy);
    sim_remove(segment_path(at("log"), mark_of(at("log")).segment));
    seen *s = look(at("log")); /* its own mark is none of the copy's */
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MARK), 1);
    forget(s);
}
END_TEST

/* A log of three segments whose newest is gone; its mark is as it was when only one was there. */
static void lose_newest(const char *log)
{
    u9_log *w = open_small(log);
    go_on(w);
    copy_one(log, at("."), ".mark");
    while (!sim_holds(segment_path(log, 3))) go_on(w);
    close_log(w);
    sim_remove(segment_path(log, 3));
}

START_TEST(a_seal_misses_its_successor_unless_an_older_mark_counts) /* [L-2] [L-4] */
{
    for (unsigned way = 0; way < 5; way++) {
        char log[3300];
        snprintf(log, sizeof log, "%s%u", at("log"), way);
        lose_newest(log);
        if (way == 1) sim_remove(mark_path(log));                 /* there is none */
        if (way > 1) copy_one(at("."), log, ".mark");             /* put back: older is still true */
        if (way == 2) sim_link(mark_path(log), at("linked"));     /* it may be another's */
        if (way == 3) flip_bit(mark_path(log), (slots_of(log).counts == 0) * BLOCK + 100, 1); /* or said more once */
        seen *s = look(log);
        ck_assert_int_eq(s->err, U9_OK);
        ck_assert_int_eq(s->report.older, way == 4);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MARK), way == 0);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), way > 0 && way < 4);
        if (way == 4) ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        if (way == 4) expect_own_behind(log, s);
        forget(s);
        if (way == 2) sim_remove(at("linked"));
    }
}
END_TEST

/* The session that goes on behind such a seal is cut short: its first frame promises nothing yet. */
START_TEST(behind_an_older_seal_a_torn_beginning_is_no_alarm) /* [L-2] */
{
    lose_newest(at("log"));
    copy_one(at("."), at("log"), ".mark");
    seen *before = look(at("log"));
    copy_one(at("log"), at("."), ".mark");
    session(at("log"), "own", 3, 1);
    copy_one(at("."), at("log"), ".mark");
    const char *torn = segment_path(at("log"), 4);
    sim_resize(torn, 300); /* within its u9open */
    seen *s = look(at("log"));
    ck_assert_int_le(s->report.verdict, U9_V_TORN);
    ck_assert_uint_eq(s->count, before->count);
    session(at("log"), "again", 2, 1);
    seen *after = look(at("log"));
    ck_assert_uint_eq(after->count, before->count + 2);
    ck_assert_int_eq(after->report.verdict, U9_V_CLEAN);
    forget(before);
    forget(s);
    forget(after);
}
END_TEST

START_TEST(one_that_takes_the_mark_last_tells_what_it_really_lacks) /* [M-4] */
{
    u9_log *w = open_writer(at("log"), NULL);
    append_many(w, "r", 5, 1);
    make_dir(at("copy"));
    copy_one(at("log"), at("copy"), "0000000000000001.u9");
    append_many(w, "s", 7, 1);
    sim_advance(SECOND);
    copy_one(at("log"), at("copy"), ".mark");
    expect_lost(at("copy"), 5, 12);
    copy_one(at("log"), at("copy"), "0000000000000001.u9"); /* the same copy once more */
    seen *s = look(at("copy"));
    ck_assert_uint_eq(s->count, 12);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    forget(s);
    close_log(w);
}
END_TEST

static unsigned lists_seen;
static u9_log *busy;

static void write_between(unsigned nth)
{
    lists_seen = nth;
    sim_before_list(NULL);
    go_on(busy);
    go_on(busy);
}

START_TEST(a_reader_beside_a_writer_that_goes_on_in_between_sees_no_damage) /* [M-3] */
{
    busy = open_small(at("log"));
    u9_log *r = open_reader(at("log"));
    for (unsigned i = 0; i < 20; i++) {
        sim_before_list(write_between); /* after it has read the mark */
        u9_cursor *c;
        u9_record record;
        u9_err err;
        ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
        while ((err = u9_cursor_next(c, &record)) == U9_OK) continue;
        ck_assert_int_eq(err, U9_END);
        u9_cursor_close(c);
        u9_report report = {.size = sizeof report};
        u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
        sim_before_list(write_between);
        ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
        ck_assert_int_le(report.verdict, U9_V_TORN);
    }
    sim_before_list(NULL);
    close_log(r);
    close_log(busy);
}
END_TEST

/* What promises nothing */

/* It reads clean, with a mark in this state; the next session has one of its own. */
static void expect_no_promise(const char *log, u9_mark_state state, size_t count)
{
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->count, count);
    ck_assert_int_le(s->report.verdict, U9_V_TORN);
    ck_assert_int_eq(s->report.mark, state);
    ck_assert_uint_eq(s->report.mark_segment, 0);
    forget(s);
    session(log, "own", 1, 0);
    s = look(log);
    ck_assert_uint_eq(s->count, count + 1);
    ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
    ck_assert_uint_eq(s->report.mark_ordinal, count + 1);
    forget(s);
}

START_TEST(a_mark_with_two_names_promises_nothing_and_the_next_writer_has_its_own) /* [M-4] */
{
    session(at("log"), "r", 5, 2);
    copy_log(at("log"), at("copy"));
    remove_log(mark_path(at("copy")));
    session(at("log"), "later", 5, 2);
    sim_link(mark_path(at("log")), mark_path(at("copy")));
    uint8_t before[16], after[16];
    expect_no_promise(at("copy"), U9_MARK_SHARED, 5); /* "later" was never in it */
    ck_assert_uint_eq(sim_links(mark_path(at("log"))), 1);
    picture(at("log"), before);
    forget(look(at("log")));
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, 16);
    ck_assert_uint_eq(mark_of(at("log")).end.ordinal, 10);
}
END_TEST

START_TEST(the_mark_of_another_log_promises_nothing) /* [M-4] */
{
    session(at("log"), "r", 5, 2);
    session(at("other"), "s", 50, 2);
    remove_mark(at("log"));
    copy_one(at("other"), at("log"), ".mark");
    expect_no_promise(at("log"), U9_MARK_FOREIGN, 5);
}
END_TEST

START_TEST(a_log_without_a_mark_gets_one_from_its_next_writer) /* [M-1] */
{
    session(at("log"), "r", 5, 2);
    remove_mark(at("log"));
    expect_no_promise(at("log"), U9_MARK_NONE, 5);
    cut_file(mark_path(at("log")), 0);
    expect_no_promise(at("log"), U9_MARK_NONE, 6);
}
END_TEST

START_TEST(the_mark_of_a_trimmed_segment_promises_nothing) /* [M-4] [C-5] */
{
    forged_segment one = rewrite("r", 5), two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    forge_save(&one, at("log"));
    forge_mark(at("log"), &one);
    u9i_trim_record trim = {.segment = 2, .ordinal = 5};
    uint8_t body[128];
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_trim_record_encode(&out, &trim);
    forge_frame(&two, body, out.size, 0);
    forge_records(&two, "s", 3);
    forge_save(&two, at("log"));
    remove_log(segment_path(at("log"), 1));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->records[0].ordinal, 5);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    ck_assert_int_eq(s->report.mark, U9_MARK_FOREIGN);
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

START_TEST(one_bad_slot_is_a_note_and_two_are_unknown) /* [M-3] */
{
    session(at("log"), "r", 5, 2);
    session(at("log"), "s", 5, 2);
    const int greater = slots_of(at("log")).counts;
    flip_bit(mark_path(at("log")), (uint64_t)(1 - greater) * BLOCK + 100, 3);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->damage_count, 1);
    ck_assert_int_eq(s->damages[0].verdict, U9_V_TORN);
    ck_assert_int_eq(s->damages[0].reason, U9_R_MARK);
    ck_assert_uint_eq(s->damages[0].begin, (uint64_t)(1 - greater) * BLOCK);
    ck_assert_ptr_nonnull(strstr(s->damages[0].path, "/.mark"));
    ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
    ck_assert_uint_eq(s->report.mark_ordinal, 10);
    forget(s);
    flip_bit(mark_path(at("log")), (uint64_t)greater * BLOCK + 100, 3);
    s = look(at("log"));
    ck_assert_uint_eq(s->damage_count, 2);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_MARK), 2);
    ck_assert_uint_eq(s->report.lost, 0);
    ck_assert_uint_eq(s->count, 10);
    ck_assert_int_eq(s->report.mark, U9_MARK_DAMAGED);
    forget(s);
    u9_log *w = open_small(at("log")); /* two marks mend it */
    append_text(w, "t");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_advance(SECOND);
    append_text(w, "u");
    close_log(w);
    s = look(at("log"));
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

START_TEST(a_slot_that_is_being_written_is_not_bad) /* [M-3] */
{
    session(at("log"), "r", 5, 2);
    session(at("log"), "s", 5, 2);
    const int greater = slots_of(at("log")).counts;
    sim_hide_for(mark_path(at("log")), (uint64_t)greater * BLOCK + 40, (uint64_t)greater * BLOCK + 50, 2);
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(report.mark_ordinal, 10);
    sim_clear();
}
END_TEST

static void note_slot(void *ctx, const u9_damage *d)
{
    *(u9_clause *)ctx = d->clause;
}

/* {F69} */
START_TEST(a_slot_that_cannot_be_read_costs_the_slot_and_stops_writers) /* [M-3] */
{
    session(at("log"), "r", 5, 2);
    session(at("log"), "s", 5, 2);
    const int greater = slots_of(at("log")).counts;
    u9_options o = small_options();
    u9_log *w;
    u9_fault fault;
    sim_spoil(mark_path(at("log")), (uint64_t)greater * BLOCK, (uint64_t)greater * BLOCK + 1, EIO, 0);
    u9_report report = {.size = sizeof report};
    u9_clause clause = U9_CLAUSE_NONE;
    u9_check_options checking = {.size = sizeof checking, .io = io_of(at("log")), .on_damage = note_slot, .ctx = &clause};
    ck_assert_int_eq(u9_check(at("log"), &checking, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_TORN);
    ck_assert_uint_eq(report.records, 10);
    ck_assert_int_eq(report.mark, U9_MARK_COUNTS); /* the older one, which is still true */
    ck_assert_str_eq(u9_clause_name(clause), "slot.read"); /* [M-11] */
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, EIO);
    sim_clear();
    session(at("log"), "t", 1, 0);
}
END_TEST

START_TEST(an_earlier_hosts_report_is_filled_as_far_as_it_goes)
{
    session(at("log"), "r", 5, 2);
    u9_report reports[2];
    memset(reports, 0xee, sizeof reports);
    reports[0].size = offsetof(u9_report, keyless);
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    ck_assert_int_eq(u9_check(at("log"), &o, &reports[0], NULL), U9_OK);
    ck_assert_uint_eq(reports[0].records, 5);
    ck_assert_uint_eq(reports[0].size, offsetof(u9_report, keyless));
    ck_assert_uint_eq(reports[0].mark_segment, UINT64_C(0xeeeeeeeeeeeeeeee));
    reports[0].size--;
    ck_assert_int_eq(u9_check(at("log"), &o, &reports[0], NULL), U9_ARG);
}
END_TEST

/* {F62} */
START_TEST(what_stands_in_the_marks_place_and_is_no_file_is_no_mark) /* [M-1] */
{
    session(at("log"), "r", 5, 2);
    remove_mark(at("log"));
    make_dir(mark_path(at("log")));
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(report.mark, U9_MARK_NONE);
}
END_TEST

/* On real files, which can be what the simulated disk has not. */
START_TEST(nor_is_a_link_to_itself_nor_a_socket) /* [M-1] */
{
    for (unsigned way = 0; way < 2; way++) {
        session(at("log"), "r", 5, 2);
        remove_mark(at("log"));
        sim_needed("links and sockets");
        if (way == 0) ck_assert_int_eq(symlink(".mark", mark_path(at("log"))), 0);
        else ck_assert_int_eq(mknod(mark_path(at("log")), S_IFSOCK | 0600, 0), 0);
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, 5);
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert_int_eq(s->report.mark, U9_MARK_NONE);
        forget(s);
        remove_log(at("log"));
    }
}
END_TEST

/* Failures */

/* Three sessions with rolls and time that passes. How many closes told of a mark that failed. */
static unsigned tell_sessions(const char *log)
{
    unsigned told = 0;
    u9_options o = small_options();
    for (unsigned k = 0; k < 3; k++) {
        u9_log *w;
        u9_fault fault;
        u9_err err = u9_log_open(log, &o, &w, &fault);
        ck_assert_int_eq(err, U9_OK);
        for (unsigned i = 0; i < 10; i++) {
            append_filler(w, 9000);
            if (i % 4 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
            sim_advance(SECOND / 4);
        }
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        err = u9_log_close(w, &fault);
        if (err == U9_OK) continue;
        ck_assert_int_eq(err, U9_IO);
        ck_assert_int_eq(fault.sys, ENXIO);
        ck_assert_str_eq(fault.rule, "M-5");
        ck_assert_ptr_nonnull(strstr(fault.path, "/.mark"));
        told++;
    }
    return told;
}

/* Each call of this kind on the mark fails once, and (sticky) all from there on: the log is what it would be. */
static void any_mark_fails(sim_kind kind, bool sticky, bool half)
{
    unsigned n = 0, fired, told = 0;
    do {
        sim_begin(n + 1);
        sim_make_dir(at(""));
        close_log(open_small(at("log"))); /* its creation waits for the mark, and may fail with it */
        sim_aim(".mark");
        if (half) sim_fail_half(++n, ENXIO);
        else sim_fail(kind, ++n, ENXIO, sticky);
        told += tell_sessions(at("log"));
        fired = sim_fired();
        sim_mend();
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, 30);
        ck_assert_uint_eq(s->report.lost, 0);
        ck_assert_int_le(s->report.verdict, U9_V_TORN); /* of a slot that was half written */
        ck_assert(s->report.closed);
        forget(s);
        session(at("log"), "after", 1, 0);
        s = look(at("log"));
        ck_assert_uint_eq(s->count, 31);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
        ck_assert_uint_eq(s->report.mark_ordinal, 31);
        forget(s);
    } while (fired > 0 && n < 200);
    ck_assert_uint_gt(n, 3);
    ck_assert_uint_gt(told, 0);
}

START_TEST(a_write_of_the_mark_that_fails_changes_nothing_else) /* [M-5] */
{
    any_mark_fails(SIM_WRITE, false, false);
}
END_TEST

START_TEST(nor_does_one_of_which_half_arrives) /* [M-5] */
{
    any_mark_fails(SIM_WRITE, false, true);
}
END_TEST

START_TEST(nor_a_sync) /* [M-5] */
{
    any_mark_fails(SIM_SYNC, false, false);
}
END_TEST

START_TEST(nor_all_of_them_from_one_on) /* [M-5] */
{
    any_mark_fails(SIM_WRITE, true, false);
    any_mark_fails(SIM_SYNC, true, false);
}
END_TEST

/* A small log of three segments at least, all marks from the second one on failing if it says so; how many are sealed. */
static unsigned count_sealed(const char *log, bool fails)
{
    u9_fault fault;
    u9_log *w = open_small(log);
    append_filler(w, 100);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_advance(2 * SECOND); /* the mark counts segment 1 */
    sim_aim(".mark");
    if (fails) sim_fail(SIM_WRITE, 1, ENXIO, true);
    for (unsigned i = 0; i < 99 && segments_in(log) < 4; i++) append_filler(w, 10000);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_advance(2 * SECOND);
    unsigned sealed = 0;
    for (unsigned k = 1; k < 4; k++) {
        size_t size;
        seen_frame frames[400];
        uint8_t *bytes = read_file(segment_path(log, k), &size);
        size_t n = list_frames(bytes, size, frames, 400);
        sealed += n > 0 && frames[n - 1].is_end;
        free(bytes);
    }
    ck_assert_int_eq(u9_log_close(w, &fault), fails ? U9_IO : U9_OK);
    sim_mend();
    return sealed;
}

/* A seal says that a mark names the successor, so that one which is lost is missed. */
START_TEST(a_segment_whose_successor_no_mark_could_name_stays_unsealed) /* [M-5] [S-6] */
{
    ck_assert_uint_eq(count_sealed(at("log"), false), 3);
    ck_assert_uint_eq(count_sealed(at("other"), true), 0);
    seen *s = look(at("other"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN); /* the row goes on there all the same */
    forget(s);
}
END_TEST

START_TEST(a_creation_that_fails_anywhere_is_told_and_can_be_tried_again) /* [M-6] */
{
    unsigned failed = 0;
    for (unsigned n = 1; n <= 60; n++) { /* some may fail without harm: where the log lies is not known then [I-22] */
        sim_begin(n);
        sim_make_dir(at(""));
        u9_options o = small_options();
        u9_log *w;
        sim_fail(SIM_ANY, n, ENOSPC, false);
        u9_err err = u9_log_open(at("log"), &o, &w, NULL);
        failed += err != U9_OK;
        sim_mend();
        if (err == U9_OK) close_log(w);
        else ck_assert_int_lt(err, 0);
        session(at("log"), "r", 3, 1);
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, 3);
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
        forget(s);
    }
    ck_assert_uint_gt(failed, 15);
}
END_TEST

Suite *suite_mark(void)
{
    Suite *suite = suite_create("mark");
    TCase *t = tcase_create("mark");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_log_is_made_mark_first_and_marked_when_it_is_durable);
    tcase_add_test(t, what_is_no_log_yet_is_absent_and_opening_one_changes_nothing);
    tcase_add_test(t, the_mark_follows_within_a_second_in_turns);
    tcase_add_test(t, it_is_written_twice_a_second_at_most_between_rolls);
    tcase_add_test(t, a_roll_is_marked_at_once_at_the_successors_open_or_behind_it);
    tcase_add_test(t, a_close_is_marked_at_its_end_and_a_seal_never_is);
    tcase_add_test(t, a_slot_is_never_written_while_the_other_is_not_durable);
    tcase_add_test(t, a_closed_log_cut_anywhere_lost_what_is_missing_to_the_record);
    tcase_add_test(t, so_is_one_cut_at_the_end_of_an_earlier_session);
    tcase_add_test(t, a_newest_segment_that_is_emptied_or_deleted_is_told_to_the_record);
    tcase_add_test(t, segments_put_back_from_an_older_copy_are_seen);
    tcase_add_test(t, an_unclosed_log_lost_nothing_that_is_behind_its_mark);
    tcase_add_test(t, a_history_that_was_rewritten_with_all_its_hashes_does_not_meet_the_mark);
    tcase_add_test(t, behind_other_segments_a_mark_that_is_not_met_stops_writers);
    tcase_add_test(t, what_went_on_from_an_older_copy_is_a_fork_beside_what_is_marked);
    tcase_add_test(t, what_passed_the_mark_otherwise_is_not_appended_to);
    tcase_add_test(t, the_mark_of_another_log_hides_no_frames);
    tcase_add_test(t, a_gap_over_the_mark_is_that_gap_and_no_fork);
    tcase_add_test(t, the_marks_secret_opens_its_segment);
    tcase_add_test(t, a_copy_of_a_live_log_that_takes_the_mark_first_raises_no_alarm);
    tcase_add_test(t, a_copy_by_hard_links_that_takes_the_mark_first_raises_no_alarm);
    tcase_add_test(t, a_seal_misses_its_successor_unless_an_older_mark_counts);
    tcase_add_test(t, behind_an_older_seal_a_torn_beginning_is_no_alarm);
    tcase_add_test(t, one_that_takes_the_mark_last_tells_what_it_really_lacks);
    tcase_add_test(t, a_reader_beside_a_writer_that_goes_on_in_between_sees_no_damage);
    tcase_add_test(t, a_mark_with_two_names_promises_nothing_and_the_next_writer_has_its_own);
    tcase_add_test(t, the_mark_of_another_log_promises_nothing);
    tcase_add_test(t, a_log_without_a_mark_gets_one_from_its_next_writer);
    tcase_add_test(t, the_mark_of_a_trimmed_segment_promises_nothing);
    tcase_add_test(t, one_bad_slot_is_a_note_and_two_are_unknown);
    tcase_add_test(t, a_slot_that_is_being_written_is_not_bad);
    tcase_add_test(t, a_slot_that_cannot_be_read_costs_the_slot_and_stops_writers);
    tcase_add_test(t, an_earlier_hosts_report_is_filled_as_far_as_it_goes);
    tcase_add_test(t, what_stands_in_the_marks_place_and_is_no_file_is_no_mark);
    tcase_add_test(t, a_write_of_the_mark_that_fails_changes_nothing_else);
    tcase_add_test(t, nor_does_one_of_which_half_arrives);
    tcase_add_test(t, nor_a_sync);
    tcase_add_test(t, nor_all_of_them_from_one_on);
    tcase_add_test(t, a_segment_whose_successor_no_mark_could_name_stays_unsealed);
    tcase_add_test(t, a_creation_that_fails_anywhere_is_told_and_can_be_tried_again);
    suite_add_tcase(suite, t);

    TCase *real = tcase_create("real");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_add_test(real, nor_is_a_link_to_itself_nor_a_socket);
    suite_add_tcase(suite, real);
    return suite;
}
