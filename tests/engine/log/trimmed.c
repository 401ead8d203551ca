/*
 * tests/engine/log/trimmed.c: see trimmed.h.
 */
#include "tests/engine/log/trimmed.h"

#include "format/frame/mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

static const uint8_t nothing[TRIM_FILLER];

const char *file_in(const char *log, const char *name)
{
    static char paths[8][4400];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", log, name);
    return path;
}

void append_fillers(u9_log *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) append_bytes(w, nothing, sizeof nothing);
}

u9_log *open_rolling(const char *log)
{
    u9_options o = small_options();
    return open_writer(log, &o);
}

/*
 * TRIM_RECORDS records over several segments, closed. A sync for each: a frame takes what comes while the one before is
 * written, however much that is, so on a slow disk a segment would hold more.
 */
void make_row_of_segments(const char *log)
{
    u9_log *w = open_rolling(log);
    for (unsigned i = 0; i < TRIM_RECORDS; i += 8) {
        append_fillers(w, 8);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    ck_assert_uint_ge(segments_in(log), 5);
}

/* The ordinal of a segment's first record, as its u9open tells. */
uint64_t first_in(const char *log, uint64_t number)
{
    size_t size;
    seen_frame frame;
    uint8_t *bytes = read_file(segment_path(log, number), &size);
    ck_assert_uint_eq(list_frames(bytes, size, &frame, 1), 1);
    free(bytes);
    return frame.ordinal;
}

u9_trim below_ordinal(uint64_t ordinal)
{
    return (u9_trim){.size = sizeof(u9_trim), .before = ordinal};
}

/* Trims on a handle, which must succeed. */
u9_trimmed trim_on(u9_log *log, u9_trim what)
{
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    u9_err err = u9_log_trim(log, &what, &out, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    return out;
}

/* The same in a session of its own. */
u9_trimmed trim_log(const char *log, u9_trim what)
{
    u9_log *w = open_rolling(log);
    u9_trimmed out = trim_on(w, what);
    close_log(w);
    return out;
}

u9i_mark_record marked_by(const char *log)
{
    u9i_slot slots[U9I_MARK_SLOTS];
    size_t size;
    uint8_t *bytes = read_file(file_in(log, ".mark"), &size);
    ck_assert_uint_eq(size, U9I_MARK_SIZE);
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++) u9i_slot_decode(bytes + i * BLOCK, &slots[i]);
    free(bytes);
    int counts = u9i_slots_greater(slots);
    ck_assert_int_ge(counts, 0);
    return slots[counts].mark;
}

/* The log is whole, is kept from `first` on, and goes on at `next`. */
void expect_kept(const char *log, uint64_t first, uint64_t next)
{
    seen *s = look(log);
    ck_assert_int_le(s->report.verdict, U9_V_TORN);
    ck_assert_uint_eq(s->report.damages, 0);
    ck_assert_uint_eq(s->report.next_ordinal, next);
    ck_assert_uint_eq(s->count, next - first);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_eq(s->records[i].ordinal, first + i);
    forget(s);
}

/* The u9trim of a segment, in its place. */
u9i_trim_record said_in(const char *log, uint64_t number)
{
    size_t size;
    seen_frame frames[2];
    u9i_trim_record trim;
    uint8_t *bytes = read_file(segment_path(log, number), &size);
    ck_assert_uint_eq(list_frames(bytes, size, frames, 2), 2);
    ck_assert_uint_eq(frames[1].offset, frames[0].end);
    ck_assert_uint_le(frames[1].end, BLOCK);
    ck_assert_uint_eq(frames[1].count, 0);
    ck_assert_int_eq(u9i_trim_record_decode(bytes + frames[1].offset + 64, frames[1].length - 80, &trim), U9_OK);
    free(bytes);
    return trim;
}

/* The nth operation of this kind on this path. */
static const sim_op *nth_op(sim_kind kind, const char *path, unsigned nth)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++)
        if (ops[i].kind == kind && strcmp(ops[i].path, path) == 0 && --nth == 0) return &ops[i];
    ck_abort_msg("there is no such operation on %s", path);
}

/* The first operation of this kind on this path that began behind that one. */
static const sim_op *next_op(sim_kind kind, const char *path, const sim_op *behind)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    for (const sim_op *op = behind + 1; op < ops + n; op++)
        if (op->kind == kind && strcmp(op->path, path) == 0) return op;
    ck_abort_msg("there is no such operation on %s", path);
}

/* Segment `number` says that those below `kept` are trimmed, then the mark, and only then they go, one by one. */
void expect_trim_order(const char *log, uint64_t number, uint64_t first, uint64_t kept)
{
    const sim_op *op = nth_op(SIM_WRITE, segment_path(log, number), 1);
    const struct {
        sim_kind kind;
        const char *path;
    } steps[] = {{SIM_SYNC, segment_path(log, number)},
                 {SIM_SYNC_DIR, log},
                 {SIM_WRITE, file_in(log, ".mark")},
                 {SIM_SYNC, file_in(log, ".mark")}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const sim_op *next = next_op(steps[i].kind, steps[i].path, op);
        ck_assert(op->ended != 0 && op->ended < next->began && next->error == 0);
        op = next;
    }
    for (uint64_t i = first; i < kept; i++) {
        const char *path = segment_path(log, i);
        const sim_op *gone = nth_op(SIM_REMOVE, path, 1), *synced = next_op(SIM_SYNC_DIR, log, gone);
        ck_assert_uint_lt(op->ended, gone->began);
        ck_assert_uint_lt(gone->ended, synced->began);
        op = synced;
    }
    ck_assert_uint_eq(sim_count(SIM_REMOVE), kept - first);
}

/* As many as go in. */
u9_err append_what_goes_in(u9_log *w, unsigned count)
{
    static uint8_t values[TRIM_FILLER + 8];
    u9_builder b;
    u9_err err = U9_OK;
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, nothing, TRIM_FILLER), U9_OK);
    for (unsigned i = 0; i < count && err == U9_OK; i++) err = u9_log_append(w, NULL, values, b.size, NULL);
    return err;
}

/* Keys out of order: in segment 2 of the log one is above all. */
void make_keyed_row(const char *log)
{
    u9_options o = small_options();
    static uint8_t values[TRIM_FILLER + 8];
    u9_builder b;
    o.kind = "rkey";
    u9_log *w = open_writer(log, &o);
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, nothing, TRIM_FILLER), U9_OK);
    for (unsigned i = 0; i < TRIM_RECORDS; i++) {
        if (i % 8 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        char text[16];
        snprintf(text, sizeof text, i == 12 ? "z" : "k%03u", i);
        u9_key key = {text, strlen(text)};
        ck_assert_int_eq(u9_log_append(w, &key, values, b.size, NULL), U9_OK);
    }
    close_log(w);
}
