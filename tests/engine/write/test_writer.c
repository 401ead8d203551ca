/*
 * tests/engine/write/test_writer.c: what a writer promises and in what order it writes, shown on the diary of
 * the simulated disk; and what is left when any one call fails. [S-3] to [S-6] [W-1] to [W-6] [L-7]
 *
 * All goes through u9_log as a host does. Time stands still unless a test lets it pass: what a writer does of
 * itself comes when the test wants it.
 */
#include "format/frame/body.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/large.h>
#include <u9/lookup.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SMALL = 65536, /* the smallest segment */
    SECOND = 1000000,
    TICK = 50000   /* how finely a writer watches the time [W-5] */
};

static u9_options sized(uint64_t segment_size)
{
    u9_options o = writer_options();
    o.segment_size = segment_size;
    return o;
}

static u9_log *open_sized(const char *log, uint64_t segment_size)
{
    u9_options o = sized(segment_size);
    return open_writer(log, &o);
}

/* Another world, as empty as the first. */
static void begin_again(uint64_t seed)
{
    sim_begin(seed);
    sim_make_dir(at(""));
}

/* Frames of a file */

typedef struct view {
    uint8_t *bytes;
    size_t size;
    u9i_secret secret;
    u9i_frame *frames; /* in order of offset */
    size_t count;
    uint8_t *scratch;
} view;

static view view_of(const char *log, uint64_t segment)
{
    view v = {.scratch = malloc(U9I_BODY_MAX)};
    v.bytes = read_file(segment_path(log, segment), &v.size);
    ck_assert_uint_ge(v.size, 32);
    ck_assert_int_eq(u9i_disk_decode(v.bytes, &v.secret), U9_OK);
    for (uint64_t p = 32; p < v.size; p += 16) {
        u9i_proof proof = {0};
        u9i_frame f;
        if (u9i_frame_verify(&v.secret, p, v.size, v.bytes + p, v.size - p, &proof, &f) != U9_OK)
            continue;
        if ((v.count & (v.count - 1)) == 0)
            v.frames = realloc(v.frames, (v.count ? 2 * v.count : 1) * sizeof f);
        v.frames[v.count++] = f;
        p = f.end - 16;
    }
    return v;
}

static void close_view(view *v)
{
    free(v->bytes);
    free(v->frames);
    free(v->scratch);
}

static u9i_body body_at(const view *v, size_t i)
{
    u9i_body body;
    size_t need;
    ck_assert_int_eq(u9i_body_open(&v->frames[i], v->scratch, U9I_BODY_MAX, &need, &body), U9_OK);
    return body;
}

static u9i_open_record open_at(const view *v, size_t i)
{
    u9i_body body = body_at(v, i);
    u9i_open_record open;
    ck_assert_int_eq(body.kind, U9I_BODY_OPEN);
    ck_assert_int_eq(u9i_open_record_decode(body.bytes, body.size, &open), U9_OK);
    return open;
}

/* The u9end in frame i; its spans borrow the view until the next body. */
static u9i_end_record end_at(const view *v, size_t i)
{
    u9i_body body = body_at(v, i);
    u9i_end_record end;
    ck_assert_int_eq(body.kind, U9I_BODY_END);
    ck_assert_int_eq(u9i_end_record_decode(body.bytes, body.size, &end), U9_OK);
    return end;
}

/* The last frame in front of frame i that is none of an index. [C-7] [C-10] */
static const u9i_frame *data_before(const view *v, size_t i)
{
    while (i-- > 1) {
        u9i_body_kind kind = body_at(v, i).kind;
        if (kind != U9I_BODY_PAGE && kind != U9I_BODY_BITS) break;
    }
    return &v->frames[i];
}

/* The audit of the diary: what must hold whatever was written */

static void audit_writes(void)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++) {
        const sim_op *a = &ops[i];
        if (a->kind != SIM_WRITE || a->segment == 0) continue; /* the mark is written in turns [M-5] */
        ck_assert_uint_eq(a->begin % 4096, 0); /* [S-3] */
        ck_assert_uint_eq(a->end % 4096, 0);
        ck_assert_uint_lt(a->begin, a->end);
        for (size_t j = i; j-- > 0;) {
            const sim_op *b = &ops[j];
            if (b->kind == SIM_CREATE && b->segment == a->segment) break; /* what was before is another file */
            if (b->kind != SIM_WRITE || b->segment != a->segment) continue;
            ck_assert_msg(a->end <= b->begin || b->end <= a->begin,
                          "blocks of [%llu,%llu) were submitted twice", (unsigned long long)a->begin,
                          (unsigned long long)a->end);
        }
    }
}

/* A u9open is submitted when what it names is durable. [W-3] */
static void audit_open(const view *v, size_t i, const sim_op *write)
{
    u9i_open_record open = open_at(v, i);
    if (open.before_segment == 0) return;
    ck_assert_uint_ge(sim_durable(open.before_segment, write->began), open.end.offset);
}

/* A u9end: in a block of its own, when all before it is durable. [S-4] [S-6] */
static void audit_end(const view *v, size_t i, uint64_t segment, const sim_op *write)
{
    const u9i_frame *f = &v->frames[i];
    u9i_end_record end = end_at(v, i);
    ck_assert_uint_eq(f->offset % 4096, 0);
    ck_assert_uint_le(f->end, f->offset + 4096);
    ck_assert_uint_ge(i, 1);
    ck_assert_uint_eq(f->trailer.durable, v->frames[i - 1].end);
    ck_assert_uint_eq(end.data_end, data_before(v, i)->end);
    ck_assert_uint_eq(end.segment, segment);
    ck_assert_int_eq(memcmp(end.secret, v->secret.bytes, 16), 0);
    if (i + 1 == v->count) ck_assert_uint_eq(v->size, f->offset + 4096);
    if (end.kind != U9I_END_SEALING) return;
    ck_assert_uint_eq(i + 1, v->count);
    ck_assert_uint_ge(sim_durable(segment + 1, write->began), 96);
}

/* No frame promises more than was durable when it was submitted. [W-2] */
static void audit_segment(const char *log, uint64_t segment)
{
    view v = view_of(log, segment);
    for (size_t i = 0; i < v.count; i++) {
        const u9i_frame *f = &v.frames[i];
        const sim_op *write = sim_find(SIM_WRITE, segment, f->offset);
        ck_assert_ptr_nonnull(write);
        ck_assert_uint_le(f->trailer.durable, sim_durable(segment, write->began));
        if (i > 0) ck_assert(u9i_frame_follows(&v.frames[i - 1], f));
        if (f->trailer.count > 0) continue;
        u9i_body body = body_at(&v, i);
        if (body.kind == U9I_BODY_OPEN) audit_open(&v, i, write);
        if (body.kind == U9I_BODY_END) audit_end(&v, i, segment, write);
    }
    close_view(&v);
}

static void audit(const char *log)
{
    audit_writes();
    for (uint64_t k = 1; k <= segments_in(log); k++) audit_segment(log, k);
}

/* Zeros */

/* One bytes value of `size` zeros, and whatever its head takes. */
static u9_err try_zeros(u9_log *w, size_t size)
{
    uint8_t *bytes = calloc(1, size + 1), *room = malloc(size + 16);
    u9_builder b;
    u9_builder_init(&b, room, size + 16);
    ck_assert_int_eq(u9_build_bytes(&b, bytes, size), U9_OK);
    u9_err err = u9_log_append(w, NULL, room, b.size, NULL);
    free(bytes);
    free(room);
    return err;
}

static void append_zeros(u9_log *w, size_t size)
{
    ck_assert_int_eq(try_zeros(w, size), U9_OK);
}

static void sync_log(u9_log *w)
{
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
}

/* Calls of this kind on segments: the mark is written beside, and has its own tests. */
static unsigned on_segments(sim_kind kind)
{
    size_t count;
    unsigned n = 0;
    const sim_op *ops = sim_ops(&count);
    for (size_t i = 0; i < count; i++) n += ops[i].kind == kind && ops[i].segment != 0;
    return n;
}

/* In a second, how much the writer writes of itself; it syncs nothing. */
static unsigned writes_when_idle(void)
{
    unsigned writes = on_segments(SIM_WRITE), syncs = on_segments(SIM_SYNC);
    sim_advance(SECOND);
    ck_assert_uint_eq(on_segments(SIM_SYNC), syncs);
    return on_segments(SIM_WRITE) - writes;
}

/* Lets the writer promise what it has synced. [W-5] */
static void let_it_promise(void)
{
    ck_assert_uint_eq(writes_when_idle(), 1);
}

static size_t count_seen(const char *log)
{
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    size_t n = s->count;
    forget(s);
    return n;
}

/* Order and shape of what is written */

/* [S-3] [S-4] [S-6] [W-2] [W-3] [W-4] */
static void sessions_of_many_shapes(sim_order order)
{
    const char *log = at("log");
    unsigned all = 0;
    sim_set_order(order);
    for (unsigned n = 0; n < 12; n++) {
        u9_options o = sized(n % 3 == 2 ? 1 << 20 : SMALL);
        o.policy = n % 2 ? U9_POLICY_NONE : U9_POLICY_COMMIT;
        o.lz4 = n % 4 == 1;
        u9_log *w = open_writer(log, &o);
        for (unsigned i = 0; i < 10 * n; i++, all++) {
            char text[12000];
            snprintf(text, sizeof text, "%u-%u-%0*u", n, i, (int)(i % 5 == 0 ? 11000 : i % 40), 0u);
            uint64_t ordinal = append_text(w, text);
            ck_assert_uint_eq(ordinal, all);
            if (i % (n + 1) == 0) ck_assert_int_ge(u9_log_commit(w, ordinal), U9_OK);
        }
        close_log(w);
    }
    audit(log);
    ck_assert_uint_gt(segments_in(log), 5);
    ck_assert_uint_eq(count_seen(log), all);
}

/* {F07} */
START_TEST(no_block_is_submitted_twice_and_no_promise_is_early)
{
    sessions_of_many_shapes(SIM_PROMPT);
}
END_TEST

/* {F13} */
START_TEST(the_same_when_completions_are_late)
{
    sessions_of_many_shapes(SIM_LATE);
}
END_TEST

/* {F13} */
START_TEST(the_same_when_completions_come_in_reverse)
{
    sessions_of_many_shapes(SIM_REVERSED);
}
END_TEST

/* {F13} */
START_TEST(megabytes_under_way_in_reverse_order_read_back)
{
    u9_options o = sized(0);
    o.policy = U9_POLICY_NONE;
    sim_set_order(SIM_REVERSED);
    u9_log *w = open_writer(at("log"), &o);
    uint8_t *bytes = malloc(200000);
    for (unsigned i = 0; i < 150; i++) {
        memset(bytes, (int)i, 200000);
        append_bytes(w, bytes, 200000);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_uint_eq(u9_log_durable(w), 150);
    close_log(w);
    audit(at("log"));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 150);
    for (unsigned i = 0; i < 150; i++) {
        memset(bytes, (int)i, 200000);
        ck_assert_uint_eq(s->records[i].text_size, 200000);
        ck_assert_int_eq(memcmp(s->records[i].text, bytes, 200000), 0);
    }
    forget(s);
    free(bytes);
}
END_TEST

START_TEST(a_session_without_an_append_writes_nothing_but_what_makes_the_log) /* [W-1] [M-6] */
{
    u9_options o = sized(0);
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_log_append(w, NULL, "\x40", 1, NULL), U9_ARG);
    close_log(w);
    ck_assert_uint_eq(segments_in(at("log")), 1);
    ck_assert_uint_eq(count_seen(at("log")), 0);
    session(at("log"), "first", 3, 0);
    size_t size, size_after;
    uint8_t *before = read_file(segment_path(at("log"), 1), &size);
    sim_forget_diary();
    w = open_writer(at("log"), &o);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_log_commit(w, 2), U9_OK);
    close_log(w);
    uint8_t *after = read_file(segment_path(at("log"), 1), &size_after);
    ck_assert_uint_eq(size, size_after);
    ck_assert_int_eq(memcmp(before, after, size), 0);
    free(before);
    free(after);
    ck_assert_uint_eq(segments_in(at("log")), 1);
    static const sim_kind changes[] = {SIM_CREATE, SIM_WRITE, SIM_TRUNCATE, SIM_RESERVE,
                                         SIM_SYNC, SIM_SYNC_DIR};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        ck_assert_uint_eq(sim_count(changes[i]), 0);
}
END_TEST

/* {F17} */
START_TEST(a_path_that_is_too_long_is_refused)
{
    sim_needed("paths that are longer than a name may be");
    char path[5000];
    u9_options o = writer_options();
    u9_fault fault;
    u9_log *w;
    size_t n = (size_t)snprintf(path, sizeof path, "%s", at("log"));
    for (; n < sizeof path - 1; n++) path[n] = n % 100 ? 'x' : '/';
    path[n] = 0;
    sim_make_dir(path);
    ck_assert_int_eq(u9_log_open(path, &o, &w, &fault), U9_LIMIT);
    ck_assert_ptr_nonnull(strstr(fault.text, "too long"));
}
END_TEST

START_TEST(a_new_file_is_synced_before_its_directory) /* [W-4] */
{
    u9_log *w = open_sized(at("log"), 0);
    append_zeros(w, 10);
    ck_assert_uint_eq(u9_log_durable(w), 0);
    sync_log(w);
    ck_assert_uint_eq(u9_log_durable(w), 1);
    close_log(w);
    const sim_op *made = sim_find(SIM_CREATE, 1, U9_NOWHERE);
    const sim_op *write = sim_find(SIM_WRITE, 1, 0);
    const sim_op *sync = sim_find(SIM_SYNC, 1, U9_NOWHERE);
    ck_assert_uint_lt(made->ended, write->began);
    ck_assert_uint_lt(write->ended, sync->began);
    size_t n;
    const sim_op *dir = sim_ops(&n), *stop = dir + n;
    while (dir < stop && (dir->kind != SIM_SYNC_DIR || dir->began < made->ended)) dir++;
    ck_assert(dir < stop);
    ck_assert_uint_lt(sync->ended, dir->began);
    audit(at("log"));
}
END_TEST

static u9_log *open_and_append(const char *log, const u9_options *o)
{
    u9_log *w = open_writer(log, o);
    append_text(w, "one");
    return w;
}

/* {F17} */
START_TEST(nothing_is_durable_while_the_directory_cannot_be_synced) /* [W-4] */
{
    u9_options o = sized(0);
    session(at("log"), "first", 3, 0);
    crash(open_and_append(at("log"), &o), at("log")); /* the next session makes a file */
    u9_log *w = open_writer(at("log"), &o);
    uint64_t durable = u9_log_durable(w);
    sim_fail(SIM_SYNC_DIR, 1, EIO, false);
    append_text(w, "one");
    ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
    ck_assert_uint_eq(u9_log_durable(w), durable);
    ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
}
END_TEST

START_TEST(a_roll_syncs_the_old_then_opens_the_new_then_seals) /* [S-6] [W-3] [W-4] */
{
    u9_log *w = open_sized(at("log"), SMALL);
    for (unsigned i = 0; i < 8; i++) append_zeros(w, 10000);
    sync_log(w);
    append_zeros(w, 10);
    close_log(w);
    view old = view_of(at("log"), 1), new = view_of(at("log"), 2);
    u9i_open_record open = open_at(&new, 0);
    u9i_end_record end = end_at(&old, old.count - 1);
    ck_assert_int_eq(open.tail, U9I_TAIL_ROLLED);
    ck_assert_uint_eq(open.before_segment, 1);
    ck_assert_uint_eq(open.end.offset, data_before(&old, old.count - 1)->end);
    ck_assert_uint_eq(open.end.ordinal, 8);
    ck_assert_int_eq(memcmp(open.end.chain, data_before(&old, old.count - 1)->sha, 16), 0);
    ck_assert_int_eq(memcmp(open.before_secret, old.secret.bytes, 16), 0);
    ck_assert_int_eq(end.kind, U9I_END_SEALING);
    ck_assert_uint_eq(end.records, 8);
    const sim_op *data = sim_find(SIM_WRITE, 1, open.end.offset - 1);
    const sim_op *opened = sim_find(SIM_WRITE, 2, 0);
    const sim_op *synced = sim_find(SIM_SYNC, 2, U9_NOWHERE);
    const sim_op *sealed = sim_find(SIM_WRITE, 1, old.frames[old.count - 1].offset);
    const sim_op *cut = sim_find(SIM_TRUNCATE, 1, U9_NOWHERE);
    ck_assert_uint_lt(data->ended, opened->began);
    ck_assert_uint_ge(sim_durable(1, opened->began), open.end.offset);
    ck_assert_uint_lt(opened->ended, synced->began);
    ck_assert_uint_lt(synced->ended, sealed->began);
    ck_assert_uint_ge(sim_durable(2, sealed->began), 4096);
    ck_assert_uint_lt(sealed->ended, cut->began);
    ck_assert_uint_eq(cut->end, old.size);
    close_view(&old);
    close_view(&new);
    audit(at("log"));
    ck_assert_uint_eq(count_seen(at("log")), 9);
}
END_TEST

/* The index inside is made of what the writer remembers. [K-1] */
START_TEST(a_roll_and_a_seal_read_nothing)
{
    u9_log *w = open_sized(at("log"), SMALL);
    sim_forget_diary();
    append_many(w, "before the roll ", 3000, 100);
    sync_log(w);
    ck_assert_uint_gt(segments_in(at("log")), 2);
    ck_assert_uint_eq(sim_count(SIM_READ), 0);
    close_log(w);
    ck_assert_uint_eq(sim_count(SIM_READ), 0);
    view v = view_of(at("log"), 1);
    ck_assert_int_eq(end_at(&v, v.count - 1).kind, U9I_END_SEALING);
    close_view(&v);
}
END_TEST

START_TEST(a_roll_behind_a_promise_syncs_the_promise_first) /* [W-3] [S-6] */
{
    u9_log *w = open_sized(at("log"), SMALL);
    for (unsigned i = 0; i < 8; i++) append_zeros(w, 10000);
    sync_log(w);
    let_it_promise();
    append_zeros(w, 10);
    close_log(w);
    audit(at("log"));
    ck_assert_uint_eq(segments_in(at("log")), 2);
    ck_assert_uint_eq(count_seen(at("log")), 9);
}
END_TEST

START_TEST(a_close_behind_a_promise_syncs_the_promise_first) /* [S-4] */
{
    u9_log *w = open_sized(at("log"), 0);
    append_zeros(w, 10);
    sync_log(w);
    let_it_promise();
    close_log(w);
    audit(at("log"));
    ck_assert_uint_eq(count_seen(at("log")), 1);
}
END_TEST

START_TEST(a_rolled_file_holds_nothing_behind_its_seal_and_is_not_touched_again) /* [S-6] */
{
    u9_options o = sized(SMALL);
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "before the roll ", 3000, 100);
    close_log(w);
    ck_assert_uint_gt(segments_in(at("log")), 2);
    size_t size, size_after;
    uint8_t *before = read_file(segment_path(at("log"), 1), &size);
    w = open_writer(at("log"), &o);
    append_many(w, "after ", 100, 10);
    close_log(w);
    uint8_t *after = read_file(segment_path(at("log"), 1), &size_after);
    ck_assert_uint_eq(size, size_after);
    ck_assert_int_eq(memcmp(before, after, size), 0);
    free(before);
    free(after);
    audit(at("log"));
}
END_TEST

START_TEST(the_end_stands_in_the_last_block_and_the_file_is_cut_there) /* [S-4] */
{
    u9_options o = sized(0);
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "a", 10, 3);
    sim_needed("space that is reserved");
    ck_assert_uint_gt(file_size(segment_path(at("log"), 1)), 1 << 20); /* space taken ahead [W-6] */
    close_log(w);
    view v = view_of(at("log"), 1);
    u9i_end_record end = end_at(&v, v.count - 1);
    ck_assert_int_eq(end.kind, U9I_END_CLOSING);
    ck_assert_uint_eq(v.frames[v.count - 1].offset + 4096, v.size);
    ck_assert_uint_eq(end.records, 10);
    ck_assert_uint_eq(end.frames, v.count - 1);
    ck_assert_uint_eq(end.root, 0);
    close_view(&v);
    audit(at("log"));
}
END_TEST

static u9i_end_record last_end(const char *log, uint64_t segment, uint8_t first[18], uint8_t last[18])
{
    view v = view_of(log, segment);
    u9i_end_record end = end_at(&v, v.count - 1);
    memset(first, 0, 18);
    memset(last, 0, 18);
    memcpy(first, end.first_key.data, end.first_key.size < 18 ? end.first_key.size : 18);
    memcpy(last, end.last_key.data, end.last_key.size < 18 ? end.last_key.size : 18);
    close_view(&v);
    return end;
}

START_TEST(the_end_names_the_first_and_the_last_key_of_the_file) /* [S-4] [C-4] */
{
    uint8_t first[18], last[18];
    session(at("log"), "a", 3, 0);
    session(at("log"), "b", 2, 1);
    seen *s = look(at("log"));
    u9i_end_record end = last_end(at("log"), 1, first, last);
    ck_assert_uint_eq(end.records, 5);
    uint64_t bytes = 0;
    for (size_t i = 0; i < 5; i++) bytes += s->records[i].size;
    ck_assert_uint_eq(end.bytes, bytes);
    ck_assert_int_eq(memcmp(first + 2, s->report.first_key, 16), 0);
    ck_assert_int_eq(memcmp(last + 2, s->report.last_key, 16), 0);
    forget(s);
}
END_TEST

START_TEST(a_session_whose_only_record_found_no_room_keeps_the_last_key) /* [C-4] [W-6] */
{
    uint8_t first[18], last[18], again_first[18], again_last[18];
    session(at("log"), "a", 3, 0);
    (void)last_end(at("log"), 1, first, last);
    u9_log *w = open_sized(at("log"), SMALL);
    sim_fail(SIM_RESERVE, 2, ENOSPC, true);
    ck_assert_int_eq(try_zeros(w, 100000), U9_IO);
    close_log(w);
    u9i_end_record end = last_end(at("log"), 1, again_first, again_last);
    ck_assert_uint_eq(end.records, 3);
    ck_assert_int_eq(memcmp(first, again_first, 18), 0);
    ck_assert_int_eq(memcmp(last, again_last, 18), 0);
    audit_writes();
}
END_TEST

/* Going on */

START_TEST(a_closed_file_is_continued_by_an_open_that_names_it) /* [S-5] [C-3] */
{
    session(at("log"), "a", 3, 0);
    uint64_t size = file_size(segment_path(at("log"), 1));
    session(at("log"), "b", 3, 0);
    ck_assert_uint_eq(segments_in(at("log")), 1);
    view v = view_of(at("log"), 1);
    size_t i = 0;
    while (i < v.count && v.frames[i].offset < size) i++;
    ck_assert_uint_eq(v.frames[i].offset, size); /* the next block */
    u9i_open_record open = open_at(&v, i);
    ck_assert_uint_eq(open.before_segment, 1);
    ck_assert_uint_eq(open.segment, 1);
    ck_assert_int_eq(open.tail, U9I_TAIL_CLOSED);
    ck_assert_uint_eq(open.end.offset, v.frames[i - 1].end);
    ck_assert_uint_eq(open.end.ordinal, 3);
    close_view(&v);
    ck_assert_uint_eq(count_seen(at("log")), 6);
}
END_TEST

/* A session goes on behind segment 1 of `log` in a new file. */
static void expect_new_file(const char *log, u9i_tail tail)
{
    session(log, "on", 1, 0);
    ck_assert_uint_eq(segments_in(log), 2);
    view v = view_of(log, 2);
    u9i_open_record open = open_at(&v, 0);
    ck_assert_uint_eq(open.segment, 2);
    ck_assert_uint_eq(open.before_segment, 1);
    ck_assert_int_eq(open.tail, tail);
    close_view(&v);
    seen *s = look(log);
    ck_assert(has_text(s, "on0"));
    ck_assert_uint_eq(s->count, 4);
    forget(s);
}

/* {F10} */
START_TEST(an_unclosed_file_is_never_continued_and_loses_only_zeros) /* [S-5] [S-7] */
{
    u9_log *w = open_sized(at("log"), 0);
    for (unsigned i = 0; i < 3; i++) append_zeros(w, 10);
    sync_log(w);
    crash(w, at("log"));
    sim_needed("space that is reserved");
    size_t size, size_after;
    uint8_t *before = read_file(segment_path(at("log"), 1), &size);
    expect_new_file(at("log"), U9I_TAIL_TORN);
    uint8_t *after = read_file(segment_path(at("log"), 1), &size_after);
    ck_assert_uint_lt(size_after, size);
    ck_assert_mem_eq(before, after, size_after);
    for (size_t i = size_after; i < size; i++) ck_assert_uint_eq(before[i], 0);
    free(before);
    free(after);
}
END_TEST

START_TEST(a_closed_file_with_zeros_behind_its_end_is_not_continued) /* [S-5] */
{
    session(at("log"), "a", 3, 0);
    extend_file(segment_path(at("log"), 1), file_size(segment_path(at("log"), 1)) + 4096);
    expect_new_file(at("log"), U9I_TAIL_TORN);
}
END_TEST

START_TEST(a_closed_file_with_a_byte_behind_its_end_is_not_continued) /* [S-5] */
{
    session(at("log"), "a", 3, 0);
    extend_file(segment_path(at("log"), 1), file_size(segment_path(at("log"), 1)) + 1);
    expect_new_file(at("log"), U9I_TAIL_TORN);
}
END_TEST

START_TEST(a_closed_file_of_full_size_is_not_continued) /* [S-5] */
{
    u9_options o = writer_options();
    o.segment_size = 1 << 20;
    u9_log *w = open_writer(at("log"), &o);
    uint8_t bytes[30000] = {0};
    for (unsigned i = 0; i < 3; i++) append_bytes(w, bytes, sizeof bytes);
    close_log(w);
    o.segment_size = SMALL;
    w = open_writer(at("log"), &o);
    append_text(w, "on");
    close_log(w);
    ck_assert_uint_eq(segments_in(at("log")), 2);
    ck_assert_uint_eq(count_seen(at("log")), 4);
}
END_TEST

/* {F66} */
START_TEST(a_new_file_is_numbered_above_the_highest_name_even_where_that_is_void) /* [W-3] [L-3] */
{
    session(at("log"), "a", 2, 0);
    write_file(segment_path(at("log"), 7), "", 0); /* a creation cut short */
    session(at("log"), "b", 2, 0);
    ck_assert_uint_eq(segments_in(at("log")), 3);
    view v = view_of(at("log"), 8);
    u9i_open_record open = open_at(&v, 0);
    ck_assert_uint_eq(open.segment, 8);
    ck_assert_uint_eq(open.before_segment, 1);
    close_view(&v);
    ck_assert_uint_eq(count_seen(at("log")), 4);
}
END_TEST

/* Promises of an idle writer */

/* {F18} */
START_TEST(an_idle_writer_promises_what_it_synced_in_an_empty_frame) /* [W-5] [W-2] */
{
    u9_log *w = open_sized(at("log"), 0);
    let_it_promise(); /* what made the log */
    ck_assert_uint_eq(writes_when_idle(), 0);
    append_zeros(w, 10);
    sync_log(w);
    let_it_promise();
    crash(w, at("log"));
    view v = view_of(at("log"), 1);
    ck_assert_uint_eq(v.count, 4);
    for (size_t i = 1; i < 4; i += 2) {
        ck_assert_uint_eq(v.frames[i].body_size, 0);
        ck_assert_uint_eq(v.frames[i].trailer.count, 0);
        ck_assert_uint_eq(v.frames[i].trailer.durable, v.frames[i - 1].end);
    }
    close_view(&v);
    audit(at("log"));
    ck_assert_uint_eq(count_seen(at("log")), 1);
}
END_TEST

START_TEST(a_promise_is_made_once_and_again_only_after_a_sync) /* [W-5] */
{
    u9_log *w = open_sized(at("log"), 0);
    for (unsigned i = 0; i < 5; i++) {
        append_zeros(w, 10);
        sync_log(w);
        let_it_promise();
        ck_assert_uint_eq(writes_when_idle(), 0);
        unsigned syncs = on_segments(SIM_SYNC);
        sync_log(w); /* nothing was appended: nothing to sync for a host */
        ck_assert_uint_eq(on_segments(SIM_SYNC), syncs);
        ck_assert_uint_eq(writes_when_idle(), 0);
    }
    close_log(w);
    audit(at("log"));
}
END_TEST

static bool last_frame_promises_all_before(const char *log)
{
    view v = view_of(log, 1);
    size_t n = v.count;
    bool found = n > 1 && v.frames[n - 1].trailer.durable == v.frames[n - 2].end;
    close_view(&v);
    return found;
}

START_TEST(what_is_appended_becomes_durable_and_promised_without_a_commit) /* [W-5] */
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    sim_advance(SECOND); /* what made the log is promised */
    append_text(w, "one");
    sim_advance(SECOND / 2);
    ck_assert_uint_eq(u9_log_durable(w), 0);
    sim_advance(SECOND / 2 + TICK);
    ck_assert_uint_eq(u9_log_durable(w), 1);
    ck_assert(!last_frame_promises_all_before(at("log")));
    sim_advance(SECOND);
    ck_assert(last_frame_promises_all_before(at("log")));
    close_log(w);
}
END_TEST

/* The same in real time, on the disk of the run: polls for at most a minute. */
START_TEST(it_does_so_by_the_real_clock_too) /* [W-5] */
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "one");
    unsigned polls = 0;
    while (u9_log_durable(w) == 0 && polls++ < 6000) usleep(10000);
    while (!last_frame_promises_all_before(at("log")) && polls++ < 6000) usleep(10000);
    ck_assert_uint_lt(polls, 6000);
    close_log(w);
}
END_TEST

START_TEST(the_same_after_a_first_record_that_found_no_room) /* [W-5] [W-6] */
{
    u9_options o = sized(SMALL);
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    ck_assert_int_eq(try_zeros(w, 100000), U9_IO);
    sim_mend();
    append_text(w, "one");
    sim_advance(SECOND + TICK);
    ck_assert_uint_eq(u9_log_durable(w), 1);
    close_log(w);
}
END_TEST

START_TEST(a_promise_does_not_wait_for_the_sync_of_later_records) /* [W-5] */
{
    u9_options o = sized(0);
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "one");
    sync_log(w);
    unsigned writes = on_segments(SIM_WRITE), syncs = on_segments(SIM_SYNC);
    sim_advance(SECOND / 10);
    append_text(w, "two");
    ck_assert_uint_eq(on_segments(SIM_WRITE), writes);
    sim_advance(SECOND - SECOND / 10); /* a second after the sync, and less than one after the record */
    ck_assert_uint_eq(on_segments(SIM_WRITE), writes + 1);
    ck_assert_uint_eq(on_segments(SIM_SYNC), syncs);
    ck_assert(last_frame_promises_all_before(at("log")));
    close_log(w);
}
END_TEST

START_TEST(a_sync_is_begun_at_least_every_32_mib) /* [W-5] */
{
    u9_options o = sized(0);
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    uint8_t *bytes = calloc(1, 1 << 20);
    for (unsigned i = 0; i < 130; i++) append_bytes(w, bytes, 1 << 20);
    free(bytes);
    close_log(w);
    size_t n;
    uint64_t since = 0;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++) {
        if (ops[i].kind == SIM_SYNC) since = 0;
        if (ops[i].kind == SIM_WRITE) since += ops[i].end - ops[i].begin;
        ck_assert_uint_le(since, (32 << 20) + (2 << 20));
    }
    audit_writes();
}
END_TEST

START_TEST(a_sync_that_completes_while_others_write_still_counts) /* [W-4] [W-5] */
{
    u9_options o = sized(0);
    o.policy = U9_POLICY_NONE;
    sim_set_order(SIM_LATE); /* told only when somebody waits for room */
    u9_log *w = open_writer(at("log"), &o);
    unsigned syncs = on_segments(SIM_SYNC), names = sim_count(SIM_SYNC_DIR);
    append_zeros(w, 10);
    sim_advance(SECOND + TICK);
    ck_assert_uint_eq(on_segments(SIM_SYNC), syncs + 1);
    ck_assert_uint_eq(u9_log_durable(w), 1);
    for (unsigned i = 0; i < 48; i++) append_zeros(w, 1 << 20);
    ck_assert_uint_gt(u9_log_durable(w), 1);
    ck_assert_uint_gt(on_segments(SIM_SYNC), syncs + 1);
    ck_assert_uint_eq(sim_count(SIM_SYNC_DIR), names);
    close_log(w);
    audit(at("log"));
}
END_TEST

/* Batches and keys */

static uint8_t one[] = {0x01, 0xab, 0xcd}; /* uint16 */

START_TEST(a_batch_of_300_is_one_frame) /* [L-7] */
{
    u9_entry entries[300];
    u9_place places[300];
    for (unsigned i = 0; i < 300; i++) entries[i] = (u9_entry){.values = one, .size = sizeof one};
    u9_options o = sized(0);
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "a", 2, 1);
    ck_assert_int_eq(u9_log_append_batch(w, entries, 300, places), U9_OK);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 302);
    for (unsigned i = 0; i < 300; i++) {
        ck_assert_uint_eq(places[i].ordinal, 2 + i);
        ck_assert_uint_eq(places[i].key_size, 16);
        ck_assert_uint_eq(s->records[2 + i].frame, s->records[2].frame);
        ck_assert_ptr_nonnull(memmem(s->records[2 + i].bytes, s->records[2 + i].size, places[i].key, 16));
    }
    forget(s);
}
END_TEST

START_TEST(a_batch_is_all_or_nothing_wherever_the_file_ends)
{
    sim_needed("a writer that puts no mark meanwhile");
    u9_entry entries[300];
    for (unsigned i = 0; i < 300; i++) entries[i] = (u9_entry){.values = one, .size = sizeof one};
    u9_log *w = open_sized(at("log"), 0);
    append_zeros(w, 10);
    sync_log(w);
    ck_assert_int_eq(u9_log_append_batch(w, entries, 300, NULL), U9_OK);
    sync_log(w);
    crash(w, at("log"));
    view v = view_of(at("log"), 1);
    const u9i_frame *last = &v.frames[v.count - 1];
    ck_assert_uint_eq(last->trailer.count, 300);
    for (uint64_t size = last->offset - 16; size <= last->end; size += size + 300 < last->end ? 297 : 1) {
        copy_log(at("log"), at("copy"));
        cut_file(segment_path(at("copy"), 1), size);
        ck_assert_uint_eq(count_seen(at("copy")), size < last->end ? 1 : 301);
        remove_log(at("copy"));
    }
    close_view(&v);
}
END_TEST

START_TEST(the_end_names_no_key_of_a_batch_that_was_refused) /* [C-4] */
{
    uint8_t first[18], last[18];
    size_t nowhere = 100;
    u9_entry batch[2] = {{.values = one, .size = sizeof one},
                         {.values = one, .size = sizeof one, .refs = &nowhere, .ref_count = 1}};
    for (unsigned before = 0; before < 2; before++) {
        u9_log *w = open_sized(at("log"), SMALL);
        if (before) append_text(w, "first");
        ck_assert_int_eq(u9_log_append_batch(w, batch, 2, NULL), U9_ARG);
        if (!before) append_text(w, "first");
        close_log(w);
        seen *s = look(at("log"));
        (void)last_end(at("log"), 1, first, last);
        ck_assert_uint_eq(s->count, 1);
        ck_assert_mem_eq(first + 2, s->report.first_key, 16);
        ck_assert_mem_eq(first, last, 18);
        forget(s);
        remove_log(at("log"));
    }
}
END_TEST

/* Where no packed muid stands it would be made of what does, which may be the heads of other values. */
START_TEST(a_reference_anywhere_leaves_values_that_are_well_formed_or_is_refused) /* [I-5] [B-1] */
{
    uint8_t values[400], zeros[12] = {0};
    u9_builder b;
    unsigned taken = 0, refused = 0;
    u9_log *w = open_writer(at("log"), NULL);
    append_text(w, "before");
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, zeros, sizeof zeros), U9_OK);
    for (unsigned i = 0; i < 4; i++) ck_assert_int_eq(u9_build_uint(&b, 127), U9_OK);
    ck_assert_int_eq(u9_build_utf8(&b, "some text that is longer", 24), U9_OK);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    for (unsigned i = 0; i < 20; i++) ck_assert_int_eq(u9_build_uint(&b, UINT64_MAX - i), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    for (size_t ref = 0; ref + 16 <= b.size; ref++) {
        u9_fault fault;
        u9_entry batch[2] = {{.values = one, .size = sizeof one}, {.values = values, .size = b.size, .refs = &ref, .ref_count = 1}};
        u9_err err = u9_log_append_batch(w, batch, 2, NULL);
        u9_log_fault(w, &fault);
        taken += err == U9_OK;
        refused += err == U9_ARG && strstr(fault.text, "where no muid stands") && fault.offset == ref;
    }
    append_text(w, "behind");
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, 2 + 2 * taken);
    ck_assert(has_text(s, "before") && has_text(s, "behind"));
    forget(s);
}
END_TEST

START_TEST(a_batch_over_16_mib_is_refused_and_nothing_of_it_is_there)
{
    u9_entry entries[3];
    size_t big = (1 << 24) / 3 + 1;
    uint8_t *values = calloc(1, big + 5);
    u9_builder b;
    u9_builder_init(&b, values, big + 5);
    uint8_t *bytes = calloc(1, big);
    ck_assert_int_eq(u9_build_bytes(&b, bytes, big - 5), U9_OK);
    for (unsigned i = 0; i < 3; i++) entries[i] = (u9_entry){.values = values, .size = b.size};
    u9_log *w = open_writer(at("log"), NULL);
    append_text(w, "before");
    ck_assert_int_eq(u9_log_append_batch(w, entries, 3, NULL), U9_LIMIT);
    u9_fault fault;
    u9_log_fault(w, &fault);
    ck_assert_int_eq(fault.err, U9_LIMIT);
    ck_assert_str_eq(fault.rule, "F-5");
    ck_assert_uint_eq(u9_log_next(w), 1);
    append_text(w, "behind");
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 2);
    ck_assert(has_text(s, "before") && has_text(s, "behind"));
    forget(s);
    free(values);
    free(bytes);
}
END_TEST

/* The last ordinal is 2^64 - 2: that of the end behind it is still a number. */
START_TEST(no_ordinal_is_given_twice_where_they_run_out) /* [L-5] */
{
    forged_segment first = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&first, "first ", 1);
    first.next.ordinal = UINT64_MAX - 2; /* as if all between were lost */
    uint64_t end = forge_records(&first, "nearly last ", 1);
    ck_assert_uint_gt(end, 0);
    forge_end(&first, U9I_END_CLOSING);
    forge_save(&first, at("log"));
    forge_free(&first);
    u9_fault fault;
    uint8_t value[] = {0x80, 0x80};
    u9_entry two[2] = {{.values = value, .size = 1}, {.values = value, .size = 1}};
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_uint_eq(u9_log_next(w), UINT64_MAX - 1);
    ck_assert_int_eq(u9_log_append_batch(w, two, 2, NULL), U9_LIMIT);
    append_text(w, "the last");
    ck_assert_uint_eq(u9_log_next(w), UINT64_MAX);
    ck_assert_int_eq(u9_log_append_batch(w, two, 1, NULL), U9_LIMIT);
    u9_log_fault(w, &fault);
    ck_assert_str_eq(fault.rule, "L-5");
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 3);
    ck_assert(has_text(s, "the last"));
    forget(s);
}
END_TEST

static uint64_t check_frame_keys(const view *v, size_t i, uint64_t medallion, uint64_t latest)
{
    u9i_body body = body_at(v, i);
    u9i_record r;
    uint64_t stamp = 0;
    int32_t n = 0;
    while (u9i_record_next(&body.bytes, &body.size, &r) == U9_OK) {
        u9_muid muid;
        ck_assert_uint_eq(r.key_size, 16);
        u9_muid_unpack(r.key, &muid);
        if (n++ == 0) stamp = muid.timestamp;
        ck_assert_uint_eq(muid.timestamp, stamp);
        ck_assert_uint_eq(muid.medallion, medallion);
        ck_assert_int_eq(muid.offset, n);
    }
    ck_assert_uint_eq((uint64_t)n, v->frames[i].trailer.count);
    ck_assert_uint_gt(stamp, latest);
    ck_assert_uint_le(stamp, v->frames[i].trailer.time_us);
    return stamp;
}

START_TEST(a_frame_is_a_transaction_of_muids) /* [L-7] [F-4] */
{
    uint64_t latest = 0, medallion = 0, opens = 0;
    for (unsigned n = 0; n < 4; n++) {
        u9_options o = sized(SMALL);
        u9_log *w = open_writer(at("log"), &o);
        append_many(w, "k", 500, 7);
        close_log(w);
    }
    for (uint64_t k = 1; k <= segments_in(at("log")); k++) {
        view v = view_of(at("log"), k);
        for (size_t i = 0; i < v.count; i++) {
            const u9i_trailer *t = &v.frames[i].trailer;
            if (t->count > 0) {
                (void)check_frame_keys(&v, i, medallion, latest);
            } else if (body_at(&v, i).kind == U9I_BODY_OPEN) {
                u9i_open_record open = open_at(&v, i);
                if (medallion != 0) ck_assert_uint_eq(open.medallion, medallion); /* of all sessions [I-22] */
                medallion = open.medallion;
                opens++;
            }
            if (body_at(&v, i).kind != U9I_BODY_END || i + 1 < v.count) /* a seal is written later */
                ck_assert_uint_ge(t->time_us, latest);
            if (t->time_us > latest && t->count > 0) latest = t->time_us;
        }
        close_view(&v);
    }
    ck_assert_uint_gt(opens, 4);
}
END_TEST

/* Of records whose keys say nothing of the time, so that no key holds the clock up. */
START_TEST(no_frame_is_older_than_the_one_before_though_the_clock_is_set_back) /* [F-4] */
{
    u9_options o = writer_options();
    o.kind = "rkey";
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 8; i++) {
        const u9_entry entry = {.key = {"same", 4}, .values = "\x30", .size = 1};
        sim_set_wall(UINT64_C(1700000000000000) - i * UINT64_C(60000000));
        ck_assert_int_eq(u9_log_append_batch(w, &entry, 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    view v = view_of(at("log"), 1);
    ck_assert_uint_ge(v.count, 9);
    for (size_t i = 1; i < v.count; i++) ck_assert_uint_ge(v.frames[i].trailer.time_us, v.frames[i - 1].trailer.time_us);
    close_view(&v);
}
END_TEST

START_TEST(compression_makes_a_log_smaller_and_reads_back) /* [B-4] */
{
    uint64_t sizes[2];
    for (int lz4 = 0; lz4 < 2; lz4++) {
        const char *log = at(lz4 ? "small" : "large");
        u9_options o = writer_options();
        o.lz4 = lz4;
        u9_log *w = open_writer(log, &o);
        append_many(w, "the same words again and again and again ", 2000, 0);
        close_log(w);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 2000);
        ck_assert(has_text(s, "the same words again and again and again 1999"));
        ck_assert(lz4 ? s->report.lz4_frames > 0 : s->report.lz4_frames == 0);
        forget(s);
        sizes[lz4] = file_size(segment_path(log, 1));
    }
    ck_assert_uint_lt(2 * sizes[1], sizes[0]);
}
END_TEST

/* {F53} */
START_TEST(a_boundary_in_a_record_is_masked_and_comes_back) /* [F-7] [B-5] */
{
    u9_log *w = open_writer(at("log"), NULL);
    append_text(w, "first");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    view v = view_of(at("log"), 1);
    uint8_t hostile[16 * 64 + 16];
    for (size_t i = 0; i < sizeof hostile; i++) hostile[i] = v.secret.boundary[i % 16];
    close_view(&v);
    for (size_t shift = 0; shift < 16; shift++) { /* one of them stands aligned in its frame */
        append_bytes(w, hostile + shift, 16 * 64);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 17);
    ck_assert_uint_ge(s->report.mask_frames, 1);
    for (size_t shift = 0; shift < 16; shift++)
        ck_assert_int_eq(memcmp(s->records[1 + shift].text, hostile + shift, 16 * 64), 0);
    forget(s);
}
END_TEST

/* Twice the same key, at any place in a page: in one of them the boundary stands aligned. All of them are below the
 * first key, so that each has an entry (K-2). */
START_TEST(a_boundary_in_an_index_is_masked_and_its_keys_are_found) /* [F-7] [C-7] */
{
    u9_options o = sized(1 << 20);
    u9_log *w = open_writer(at("log"), &o);
    const u9_key high = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16};
    ck_assert_int_eq(u9_log_append(w, &high, "\x81", 1, NULL), U9_OK);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    view v = view_of(at("log"), 1);
    uint8_t keys[16][16], filler[60000] = {0}, room[200];
    for (unsigned shift = 0; shift < 16; shift++) {
        for (unsigned i = 0; i < 16; i++) keys[shift][i] = v.secret.boundary[(i + shift) % 16];
        for (unsigned twice = 0; twice < 2; twice++)
            ck_assert_int_eq(u9_log_append(w, &(u9_key){keys[shift], 16}, "\x81", 1, NULL), U9_OK);
    }
    close_view(&v);
    u9_builder b;
    uint8_t values[sizeof filler + 16];
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, filler, sizeof filler), U9_OK);
    while (segments_in(at("log")) == 1) ck_assert_int_eq(u9_log_append(w, &high, values, b.size, NULL), U9_OK);
    close_log(w);
    v = view_of(at("log"), 1);
    unsigned masked = 0;
    for (size_t i = 0; i < v.count; i++) {
        u9i_body body = body_at(&v, i);
        masked += body.masked && body.kind == U9I_BODY_PAGE;
    }
    ck_assert_uint_ge(masked, 1);
    close_view(&v);
    u9_log *r = open_reader(at("log"));
    u9_record record;
    for (unsigned shift = 0; shift < 16; shift++) {
        ck_assert_int_eq(u9_log_get(r, &(u9_key){keys[shift], 16}, room, sizeof room, &record, NULL), U9_OK);
        ck_assert_uint_eq(record.ordinal, 2 + 2 * shift);
    }
    close_log(r);
}
END_TEST

START_TEST(a_clock_behind_the_last_muid_is_told) /* [I-1] */
{
    u9_append *a;
    u9_fault fault;
    u9_options o = writer_options();
    o.kind = ""; /* as if it were not given */
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "before");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_set_wall(U9_MUID_TIMESTAMP_MAX);
    ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, NULL), U9_LIMIT);
    u9_log_fault(w, &fault);
    ck_assert_str_eq(fault.rule, "I-1");
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 100, &a, NULL), U9_LIMIT);
    sim_set_wall(UINT64_C(1800000000000000));
    append_text(w, "behind");
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 2);
    forget(s);
}
END_TEST

/* What was opened for a record that is refused is no room for a larger one. */
START_TEST(a_large_record_behind_one_that_is_refused_is_whole)
{
    enum { LARGE = 5 << 20 };
    size_t nowhere = 100;
    const u9_entry refused = {.values = "", .size = 0, .refs = &nowhere, .ref_count = 1};
    uint8_t *large = calloc(1, LARGE);
    u9_log *w = open_writer(at("log"), NULL);
    for (unsigned i = 0; i < 3; i++) {
        if (i > 0) append_text(w, "before");
        if (i > 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        ck_assert_int_eq(u9_log_append_batch(w, &refused, 1, NULL), U9_ARG);
        append_bytes(w, large, LARGE);
        if (i == 1) ck_assert_int_eq(u9_log_append_batch(w, &refused, 1, NULL), U9_ARG);
    }
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 5);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
    free(large);
}
END_TEST

/* The keys of a masked frame cannot be noted then: its file has no index, and all is found by reading. [K-2] */
START_TEST(without_memory_for_the_keys_of_a_frame_they_are_found_without)
{
    u9_options o = sized(1 << 20);
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "first");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    view v = view_of(at("log"), 1);
    uint8_t filler[60000] = {0}, values[16 * 64], room[2 * sizeof values];
    u9_place places[17];
    u9_builder b;
    u9_record r;
    for (unsigned shift = 0; shift <= 16; shift++) { /* in one of them the boundary stands aligned */
        uint8_t hostile[sizeof values - 16];
        for (size_t i = 0; i < sizeof hostile; i++) hostile[i] = v.secret.boundary[(i + shift) % 16];
        u9_builder_init(&b, values, sizeof values);
        ck_assert_int_eq(u9_build_bytes(&b, hostile, sizeof hostile), U9_OK);
        scarce_begin(SCARCE_MEMORY, 1, ENOMEM, true);
        u9_err appended = u9_log_append(w, NULL, values, b.size, &places[shift]), synced = u9_log_sync(w);
        (void)scarce_end(NULL);
        ck_assert_int_eq(appended, U9_OK);
        ck_assert_int_eq(synced, U9_OK);
    }
    close_view(&v);
    while (segments_in(at("log")) == 1) append_bytes(w, filler, sizeof filler);
    for (unsigned i = 0; i <= 16; i++) {
        ck_assert_int_eq(u9_log_get(w, &(u9_key){places[i].key, places[i].key_size}, room, sizeof room, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.ordinal, places[i].ordinal);
    }
    close_log(w);
    v = view_of(at("log"), 1);
    u9i_body end = body_at(&v, v.count - 1);
    u9i_end_record said;
    ck_assert_int_eq(u9i_end_record_decode(end.bytes, end.size, &said), U9_OK);
    ck_assert_uint_eq(said.root, 0);
    close_view(&v);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* No room */

static void expect_no_room(int error)
{
    u9_options o = sized(SMALL);
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "before ", 10, 0);
    uint8_t big[60000] = {0}, values[60010];
    u9_builder b;
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, big, sizeof big), U9_OK);
    sim_fail(SIM_RESERVE, 1, error, true);
    unsigned taken = 0;
    while (u9_log_append(w, NULL, values, b.size, NULL) == U9_OK) ck_assert_uint_lt(taken++, 10);
    for (unsigned i = 0; i < 3; i++) {
        u9_fault fault;
        ck_assert_int_eq(u9_log_append(w, NULL, values, b.size, NULL), U9_IO);
        u9_log_fault(w, &fault);
        ck_assert_int_eq(fault.err, U9_IO);
        ck_assert_int_eq(fault.sys, error);
        ck_assert_str_eq(fault.rule, "W-6");
        ck_assert_ptr_nonnull(strstr(fault.path, at("log")));
    }
    ck_assert_uint_eq(u9_log_next(w), 10 + taken);
    ck_assert_int_eq(u9_log_sync(w), U9_OK); /* what was accepted has its room */
    ck_assert_uint_eq(u9_log_durable(w), 10 + taken);
    sim_mend();
    ck_assert_int_eq(u9_log_append(w, NULL, values, b.size, NULL), U9_OK);
    append_text(w, "behind");
    close_log(w);
    audit(at("log"));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 12 + taken);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert(has_text(s, "before 9") && has_text(s, "behind"));
    forget(s);
}

/* {F40} */
START_TEST(a_full_disk_is_an_ordinary_error_and_appends_go_on_later) /* [W-6] */
{
    expect_no_room(ENOSPC);
}
END_TEST

START_TEST(so_is_a_file_that_may_not_grow) /* [W-6] */
{
    expect_no_room(EFBIG);
}
END_TEST

/* {F42} */
START_TEST(so_is_a_quota) /* [W-6] */
{
    expect_no_room(EDQUOT);
}
END_TEST

/* {F40} */
START_TEST(a_full_disk_can_be_closed_and_continued) /* [W-6] [S-5] */
{
    for (unsigned nth = 1; nth < 8; nth++) {
        u9_options o = sized(SMALL);
        u9_log *w = open_writer(at("log"), &o);
        sim_fail(SIM_RESERVE, nth, ENOSPC, true);
        unsigned taken = 0;
        uint8_t values[3000];
        u9_builder b;
        u9_builder_init(&b, values, sizeof values);
        uint8_t bytes[2900] = {0};
        ck_assert_int_eq(u9_build_bytes(&b, bytes, sizeof bytes), U9_OK);
        while (taken < 100 && u9_log_append(w, NULL, values, b.size, NULL) == U9_OK) taken++;
        close_log(w);
        sim_mend();
        w = open_writer(at("log"), &o);
        append_text(w, "behind");
        close_log(w);
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, taken + 1);
        ck_assert_uint_eq(s->damage_count, 0);
        forget(s);
        begin_again(nth);
    }
}
END_TEST

START_TEST(less_room_than_wanted_ahead_is_enough) /* [W-6] */
{
    u9_options o = sized(0);
    sim_spare(".mark");
    sim_fail(SIM_RESERVE, 1, ENOSPC, false);
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "one");
    ck_assert_uint_eq(sim_fired(), 1);
    close_log(w);
    ck_assert_uint_eq(count_seen(at("log")), 1);
}
END_TEST

START_TEST(a_file_is_never_begun_without_randomness) /* [H-3] */
{
    u9_options o = sized(SMALL);
    u9_log *w = NULL;
    uint8_t bytes[20000] = {0};
    for (unsigned n = 1; w == NULL; n++) { /* of what is drawn to make a log */
        sim_fail(SIM_RANDOM, n, ENOSYS, false);
        u9_err err = u9_log_open(at("log"), &o, &w, NULL);
        ck_assert_int_eq(err, w ? U9_OK : U9_IO);
        ck_assert(w == NULL || n > 4);
        sim_mend();
        if (w == NULL) remove_log(at("log"));
    }
    for (unsigned i = 0; i < 4; i++) append_bytes(w, bytes, sizeof bytes);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_fail(SIM_RANDOM, 1, ENOSYS, false); /* now it is a roll that draws */
    ck_assert_int_eq(u9_log_append(w, NULL, one, sizeof one, NULL), U9_IO);
    append_text(w, "two");
    close_log(w);
    ck_assert_uint_eq(segments_in(at("log")), 2);
    ck_assert_uint_eq(count_seen(at("log")), 5);
}
END_TEST

/* Failures */

enum { STORY_MAX = 80 };

/* What a host knows after a story of three sessions. */
typedef struct story {
    bool appended[STORY_MAX], acked[STORY_MAX];
    unsigned next, begin; /* of all, and of this session */
    bool told;    /* a call returned an error */
    bool poisoned;
    u9_fault first; /* what the first poison said */
} story;

static void ack_all(story *s)
{
    memcpy(s->acked + s->begin, s->appended + s->begin, s->next - s->begin);
}

/* A poisoned writer stays so, and goes on to tell of the first cause. [W-6] */
static void expect_poison(story *s, u9_log *w)
{
    u9_fault cause;
    u9_log_fault(w, &cause);
    s->poisoned = true;
    if (s->first.err == U9_OK) s->first = cause;
    ck_assert_int_eq(cause.err, U9_POISONED);
    uint64_t durable = u9_log_durable(w);
    for (unsigned i = 0; i < 3; i++) {
        u9_fault fault;
        u9_err err = i == 0   ? u9_log_append(w, NULL, one, sizeof one, NULL)
                     : i == 1 ? u9_log_sync(w)
                              : u9_log_commit(w, 0);
        /* a log that never had a record cannot be asked to commit one */
        ck_assert_int_eq(err, i == 2 && u9_log_next(w) == 0 ? U9_ARG : U9_POISONED);
        if (err != U9_POISONED) continue;
        u9_log_fault(w, &fault);
        ck_assert_int_eq(fault.sys, cause.sys);
        ck_assert_str_eq(fault.text, cause.text);
        ck_assert_str_eq(fault.path, cause.path);
    }
    ck_assert_uint_eq(u9_log_durable(w), durable);
}

/* One session of 25 records, a sync after each five. */
static void tell_session(story *s, const char *log, const u9_options *o)
{
    u9_log *w;
    u9_fault fault;
    s->begin = s->next;
    if (u9_log_open(log, o, &w, &fault) != U9_OK) {
        s->told = true;
        ck_assert_int_lt(fault.err, 0);
        s->next += 25;
        return;
    }
    for (unsigned i = 0; i < 25; i++) {
        char text[9000];
        uint8_t values[9010];
        u9_builder b;
        snprintf(text, sizeof text, "%u %0*u", s->next, (int)(s->next % 3 == 0 ? 8000 : 5), 0u);
        u9_builder_init(&b, values, sizeof values);
        ck_assert_int_eq(u9_build_utf8(&b, text, strlen(text)), U9_OK);
        u9_err err = s->poisoned ? U9_POISONED : u9_log_append(w, NULL, values, b.size, NULL);
        s->appended[s->next++] = err == U9_OK;
        if (err == U9_OK && i % 5 == 4) {
            err = u9_log_sync(w);
            if (err == U9_OK) ack_all(s);
        }
        if (err == U9_OK) continue;
        s->told = true;
        if (err == U9_POISONED && !s->poisoned) expect_poison(s, w);
    }
    u9_err err = u9_log_close(w, &fault);
    if (s->poisoned) ck_assert_int_eq(err, U9_POISONED);
    if (err == U9_OK) ack_all(s);
    else s->told = true;
    if (err == U9_POISONED && s->first.err == U9_OK) s->first = fault;
    s->poisoned = false;
}

/*
 * The oracle: what was acknowledged is there, nothing that was never appended is, the order is kept, and
 * nothing is called corrupt.
 */
static void judge(const story *s, const char *log)
{
    bool there[STORY_MAX] = {0};
    int last = -1;
    seen *read = look(log);
    for (size_t i = 0; i < read->count; i++) {
        int n = atoi(read->records[i].text);
        ck_assert_int_gt(n, last);
        ck_assert_uint_lt((unsigned)n, s->next);
        ck_assert(s->appended[n]);
        ck_assert_uint_eq(read->records[i].ordinal, i);
        there[n] = true;
        last = n;
    }
    for (unsigned n = 0; n < s->next; n++)
        ck_assert_msg(there[n] || !s->acked[n], "record %u was acknowledged and is gone", n);
    ck_assert_uint_eq(count_damages(read, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(read);
}

/* Three sessions with what is planned, then a fourth on a whole disk. True if the plan came into play. */
static bool tell_story(sim_order order, story *s)
{
    const char *log = at("story");
    u9_options o = sized(SMALL);
    memset(s, 0, sizeof *s);
    sim_set_order(order);
    for (unsigned i = 0; i < 3; i++) tell_session(s, log, &o);
    bool fired = sim_fired() > 0;
    if (!fired) ck_assert(!s->told);
    sim_mend();
    audit_writes();
    judge(s, log);
    u9_log *w = open_writer(log, &o);
    append_text(w, "999 ");
    close_log(w);
    seen *read = look(log);
    ck_assert_uint_eq(count_damages(read, U9_V_CORRUPT, U9_R_NONE), 0);
    ck_assert_uint_ge(read->count, 1);
    ck_assert_int_eq(strncmp(read->records[read->count - 1].text, "999 ", 4), 0);
    forget(read);
    remove_log(log);
    return fired;
}

START_TEST(a_story_without_a_fault_is_whole)
{
    story s;
    ck_assert(!tell_story(SIM_PROMPT, &s));
    for (unsigned i = 0; i < 75; i++) ck_assert(s.acked[i]);
}
END_TEST

/*
 * The nth call of a kind fails, for all n; then another error would come if anybody tried again. (In reverse
 * order the later one of two under way may be told first: then there is only one.)
 */
static void poison_at_every_position(sim_kind kind, sim_order order)
{
    story s;
    unsigned n = 0;
    do {
        begin_again(n);
        sim_spare(".mark"); /* which poisons nothing [M-5] */
        close_log(open_sized(at("story"), SMALL)); /* what fails is not its creation */
        sim_fail(kind, ++n, ENXIO, false);
        if (order != SIM_REVERSED) sim_fail(kind, n + 1, EIO, true);
        bool fired = tell_story(order, &s);
        if (!fired) break;
        ck_assert_int_eq(s.first.err, U9_POISONED);
        ck_assert_int_eq(s.first.sys, ENXIO);
        ck_assert_str_eq(s.first.rule, "W-6");
        ck_assert_ptr_nonnull(strstr(s.first.path, ".u9"));
    } while (n < 1000);
    ck_assert_uint_gt(n, 3);
}

START_TEST(a_failing_write_poisons_with_its_cause) /* [W-6] */
{
    poison_at_every_position(SIM_WRITE, SIM_PROMPT);
}
END_TEST

/* {F41} */
START_TEST(a_failing_sync_poisons_with_its_cause) /* [W-6] */
{
    poison_at_every_position(SIM_SYNC, SIM_PROMPT);
}
END_TEST

START_TEST(a_failing_sync_of_the_directory_poisons_with_its_cause) /* [W-6] [W-4] */
{
    poison_at_every_position(SIM_SYNC_DIR, SIM_PROMPT);
}
END_TEST

START_TEST(a_failing_cut_poisons_with_its_cause) /* [W-6] */
{
    poison_at_every_position(SIM_TRUNCATE, SIM_PROMPT);
}
END_TEST

START_TEST(a_write_that_fails_late_poisons_too) /* [W-6] */
{
    poison_at_every_position(SIM_WRITE, SIM_LATE);
}
END_TEST

START_TEST(a_write_that_fails_in_reverse_order_poisons_too) /* [W-6] */
{
    poison_at_every_position(SIM_WRITE, SIM_REVERSED);
}
END_TEST

START_TEST(the_first_of_many_failures_under_way_is_the_cause) /* [W-6] */
{
    u9_options o = sized(0);
    u9_fault fault;
    o.policy = U9_POLICY_NONE;
    sim_set_order(SIM_LATE);
    u9_log *w = open_writer(at("log"), &o);
    sim_spare(".mark");
    sim_fail(SIM_WRITE, 1, ENXIO, false);
    sim_fail(SIM_WRITE, 2, EIO, true);
    uint8_t *bytes = calloc(1, 5 << 20);
    append_bytes(w, bytes, 5 << 20);
    free(bytes);
    ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
    ck_assert_uint_ge(sim_fired(), 4);
    u9_log_fault(w, &fault);
    ck_assert_int_eq(fault.sys, ENXIO);
    ck_assert_int_eq(u9_log_close(w, &fault), U9_POISONED);
    ck_assert_int_eq(fault.sys, ENXIO);
}
END_TEST

/* {F12} The new file, of which nobody was given anything, is gone at once; who goes on makes it anew. */
START_TEST(a_write_that_fails_while_a_roll_waits_for_room_leaves_no_new_file) /* [W-6] [W-3] */
{
    unsigned dropped = 0;
    u9_err err = U9_POISONED;
    for (unsigned n = 1; err != U9_OK; n++) {
        begin_again(n);
        u9_options o = sized(3 << 20);
        o.policy = U9_POLICY_NONE;
        o.memory = 4 << 20; /* the ring, full of what is under way */
        u9_log *w = open_writer(at("log"), &o);
        sim_set_order(SIM_LATE);
        sim_spare(".mark");
        sim_fail(SIM_WRITE, n, EIO, false);
        err = U9_OK;
        for (unsigned i = 0; i < 40 && err == U9_OK; i++) err = try_zeros(w, 200000);
        ck_assert(err == U9_OK || err == U9_POISONED);
        uint64_t made = 1;
        while (sim_find(SIM_CREATE, made + 1, U9_NOWHERE)) made++;
        bool gone = !exists(segment_path(at("log"), made));
        dropped += gone;
        (void)!u9_log_close(w, NULL);
        sim_mend();
        if (!gone) continue;
        session(at("log"), "behind", 1, 0);
        ck_assert(exists(segment_path(at("log"), made)) && !exists(segment_path(at("log"), made + 1)));
        ck_assert_uint_gt(count_seen(at("log")), 1);
    }
    ck_assert_uint_gt(dropped, 0);
}
END_TEST

/* {F12} */
START_TEST(a_write_of_which_half_arrives_costs_nothing_acknowledged) /* [W-6] */
{
    story s;
    unsigned n = 0;
    do {
        begin_again(n);
        sim_fail_half(++n, EIO);
    } while (tell_story(SIM_PROMPT, &s) && n < 1000);
    ck_assert_uint_gt(n, 10);
}
END_TEST

static void any_call_fails(int error, bool sticky, sim_order order)
{
    story s;
    unsigned n = 0;
    do {
        begin_again(n);
        sim_fail(SIM_ANY, n = next_call(n), error, sticky);
    } while (tell_story(order, &s) && n < 2000);
    ck_assert_uint_gt(n, 100);
    ck_assert_uint_lt(n, 2000);
}

/* {F14} {F42} */
START_TEST(any_call_may_fail_once)
{
    any_call_fails(EIO, false, SIM_PROMPT);
}
END_TEST

/* {F40} */
START_TEST(any_call_may_fail_for_lack_of_room)
{
    any_call_fails(ENOSPC, false, SIM_REVERSED);
}
END_TEST

/* {F42} */
START_TEST(all_calls_may_fail_from_one_on)
{
    any_call_fails(EIO, true, SIM_LATE);
}
END_TEST

Suite *suite_writer(void)
{
    Suite *suite = suite_create("writer");
    TCase *order = tcase_create("order");
    tcase_add_checked_fixture(order, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(order, 120);
    tcase_add_test(order, no_block_is_submitted_twice_and_no_promise_is_early);
    tcase_add_test(order, the_same_when_completions_are_late);
    tcase_add_test(order, the_same_when_completions_come_in_reverse);
    tcase_add_test(order, megabytes_under_way_in_reverse_order_read_back);
    tcase_add_test(order, a_session_without_an_append_writes_nothing_but_what_makes_the_log);
    tcase_add_test(order, a_new_file_is_synced_before_its_directory);
    tcase_add_test(order, a_path_that_is_too_long_is_refused);
    tcase_add_test(order, nothing_is_durable_while_the_directory_cannot_be_synced);
    tcase_add_test(order, a_roll_syncs_the_old_then_opens_the_new_then_seals);
    tcase_add_test(order, a_roll_and_a_seal_read_nothing);
    tcase_add_test(order, a_roll_behind_a_promise_syncs_the_promise_first);
    tcase_add_test(order, a_close_behind_a_promise_syncs_the_promise_first);
    tcase_add_test(order, a_rolled_file_holds_nothing_behind_its_seal_and_is_not_touched_again);
    tcase_add_test(order, the_end_stands_in_the_last_block_and_the_file_is_cut_there);
    tcase_add_test(order, the_end_names_the_first_and_the_last_key_of_the_file);
    tcase_add_test(order, a_session_whose_only_record_found_no_room_keeps_the_last_key);
    tcase_add_test(order, a_closed_file_is_continued_by_an_open_that_names_it);
    tcase_add_test(order, an_unclosed_file_is_never_continued_and_loses_only_zeros);
    tcase_add_test(order, a_closed_file_with_zeros_behind_its_end_is_not_continued);
    tcase_add_test(order, a_closed_file_with_a_byte_behind_its_end_is_not_continued);
    tcase_add_test(order, a_closed_file_of_full_size_is_not_continued);
    tcase_add_test(order, a_new_file_is_numbered_above_the_highest_name_even_where_that_is_void);
    suite_add_tcase(suite, order);

    TCase *promises = tcase_create("promises");
    tcase_add_checked_fixture(promises, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(promises, 180);
    tcase_add_test(promises, an_idle_writer_promises_what_it_synced_in_an_empty_frame);
    tcase_add_test(promises, a_promise_is_made_once_and_again_only_after_a_sync);
    tcase_add_test(promises, what_is_appended_becomes_durable_and_promised_without_a_commit);
    tcase_add_test(promises, the_same_after_a_first_record_that_found_no_room);
    tcase_add_test(promises, a_promise_does_not_wait_for_the_sync_of_later_records);
    tcase_add_test(promises, a_sync_is_begun_at_least_every_32_mib);
    tcase_add_test(promises, a_sync_that_completes_while_others_write_still_counts);
    suite_add_tcase(suite, promises);

    TCase *real = tcase_create("real");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_set_timeout(real, 180);
    tcase_add_test(real, it_does_so_by_the_real_clock_too);
    suite_add_tcase(suite, real);

    TCase *records = tcase_create("records");
    tcase_add_checked_fixture(records, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(records, 60);
    tcase_add_test(records, a_batch_of_300_is_one_frame);
    tcase_add_test(records, a_batch_is_all_or_nothing_wherever_the_file_ends);
    tcase_add_test(records, the_end_names_no_key_of_a_batch_that_was_refused);
    tcase_add_test(records, a_reference_anywhere_leaves_values_that_are_well_formed_or_is_refused);
    tcase_add_test(records, a_batch_over_16_mib_is_refused_and_nothing_of_it_is_there);
    tcase_add_test(records, no_ordinal_is_given_twice_where_they_run_out);
    tcase_add_test(records, a_frame_is_a_transaction_of_muids);
    tcase_add_test(records, no_frame_is_older_than_the_one_before_though_the_clock_is_set_back);
    tcase_add_test(records, compression_makes_a_log_smaller_and_reads_back);
    tcase_add_test(records, a_boundary_in_a_record_is_masked_and_comes_back);
    tcase_add_test(records, a_boundary_in_an_index_is_masked_and_its_keys_are_found);
    tcase_add_test(records, a_clock_behind_the_last_muid_is_told);
    tcase_add_test(records, a_large_record_behind_one_that_is_refused_is_whole);
    tcase_add_test(records, without_memory_for_the_keys_of_a_frame_they_are_found_without);
    suite_add_tcase(suite, records);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(failures, 240);
    tcase_add_test(failures, a_full_disk_is_an_ordinary_error_and_appends_go_on_later);
    tcase_add_test(failures, so_is_a_file_that_may_not_grow);
    tcase_add_test(failures, so_is_a_quota);
    tcase_add_test(failures, a_full_disk_can_be_closed_and_continued);
    tcase_add_test(failures, less_room_than_wanted_ahead_is_enough);
    tcase_add_test(failures, a_file_is_never_begun_without_randomness);
    tcase_add_test(failures, a_story_without_a_fault_is_whole);
    tcase_add_test(failures, a_failing_write_poisons_with_its_cause);
    tcase_add_test(failures, a_failing_sync_poisons_with_its_cause);
    tcase_add_test(failures, a_failing_sync_of_the_directory_poisons_with_its_cause);
    tcase_add_test(failures, a_failing_cut_poisons_with_its_cause);
    tcase_add_test(failures, a_write_that_fails_late_poisons_too);
    tcase_add_test(failures, a_write_that_fails_in_reverse_order_poisons_too);
    tcase_add_test(failures, the_first_of_many_failures_under_way_is_the_cause);
    tcase_add_test(failures, a_write_that_fails_while_a_roll_waits_for_room_leaves_no_new_file);
    tcase_add_test(failures, a_write_of_which_half_arrives_costs_nothing_acknowledged);
    tcase_add_test(failures, any_call_may_fail_once);
    tcase_add_test(failures, any_call_may_fail_for_lack_of_room);
    tcase_add_test(failures, all_calls_may_fail_from_one_on);
    suite_add_tcase(suite, failures);
    return suite;
}
