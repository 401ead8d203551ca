/*
 * tests/engine/segment/test_mapped.c: sealed and closed segments as mapped files: the same records and the same damages as by read
 * calls, none of which is made; what cannot be read is an error. And what is hashed once, always, or not at all.
 * [R-11] [R-16] [S-6]
 */
#include "engine/log/handle.h"
#include "engine/read/view.h"
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 65536, RECORD = 3000, RECORDS = 120, BLOCK = 4096 };

/* The path of the log, for as long as a test takes. */
static const char *the_log(void)
{
    static char path[3200];
    snprintf(path, sizeof path, "%s", at("log"));
    return path;
}

/* A closed log of several sealed segments and one that is not, in frames of a few blocks. */
static void fill_log(const char *log, int lz4)
{
    static uint8_t bytes[RECORD];
    u9_options o = small_options();
    o.segment_size = SMALL;
    o.lz4 = lz4;
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < RECORDS; i++) {
        for (unsigned k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(lz4 ? i : i * 7 + k * k + k / 256);
        append_bytes(w, bytes, sizeof bytes);
        if (i % 3 == 2) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
}

static u9_log *open_verifying(const char *log, u9_verify verify)
{
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log), .verify = verify};
    u9_log *r = NULL;
    u9_fault fault;
    ck_assert_msg(u9_log_open(log, &o, &r, &fault) == U9_OK, "%s", fault.text);
    return r;
}

static void guard(void)
{
    if (!u9i_guard_ready()) signal(SIGBUS, SIG_DFL); /* sanitizers catch it */
    ck_assert_int_eq(u9_guard_install(), U9_OK);
}

/* All that a cursor tells, as text: so that two ways to it can be compared. */
typedef struct story {
    char *text;
    size_t size;
    unsigned records, damages, faults;
} story;

static void tell(FILE *f, const char *what, uint64_t a, uint64_t b, uint64_t c)
{
    fprintf(f, "%s %llu %llu %llu\n", what, (unsigned long long)a, (unsigned long long)b,
            (unsigned long long)c);
}

static uint64_t sum_of(const u9_record *r)
{
    uint64_t sum = r->size;
    for (size_t i = 0; i < r->size; i++) sum = sum * 31 + r->bytes[i];
    return sum;
}

/* Reads on to the end. Errors of I/O are counted, and asked about again. */
static void read_on(u9_cursor *c, FILE *f, story *s)
{
    u9_record r;
    u9_err err;
    while ((err = u9_cursor_next(c, &r)) != U9_END) {
        const u9_damage *d = u9_cursor_damage(c);
        if (err == U9_OK) tell(f, "record", r.ordinal, r.at, sum_of(&r));
        else if (err == U9_CORRUPT) tell(f, u9_reason_name(d->reason), d->begin, d->end, d->lost);
        else if (err == U9_IO) tell(f, "fault", 0, 0, 0);
        else ck_abort_msg("%s", u9_err_name(err));
        s->records += err == U9_OK;
        s->damages += err == U9_CORRUPT;
        s->faults += err == U9_IO;
        ck_assert_uint_lt(s->faults, 10);
    }
}

static story read_story(u9_log *log, const u9_range *range)
{
    story s = {0};
    u9_cursor *c;
    FILE *f = open_memstream(&s.text, &s.size);
    ck_assert_int_eq(u9_cursor_open(log, range, &c, NULL), U9_OK);
    read_on(c, f, &s);
    u9_cursor_close(c);
    fclose(f);
    return s;
}

static void expect_same(story *a, story *b)
{
    ck_assert_str_eq(a->text, b->text);
    free(a->text);
    free(b->text);
}

/* The segments of a handle that are mapped, as far as somebody read them. */
static unsigned mapped_in(u9_log *log)
{
    unsigned n = 0;
    u9i_catalog *c = log->source.current;
    for (size_t i = 0; i < c->count; i++)
        n += atomic_load(&c->segments[i]->maps[U9I_MAP_SCAN]) != NULL;
    return n;
}

static unsigned sealed_in(u9_log *log)
{
    unsigned n = 0;
    u9i_catalog *c = log->source.current;
    for (size_t i = 0; i < c->count; i++) n += u9i_segment_sealed(c->segments[i]);
    return n;
}

/* Those that can be: the last one is closed, the others are sealed. */
static unsigned mappable_in(u9_log *log)
{
    const u9i_catalog *c = log->source.current;
    ck_assert_uint_eq(sealed_in(log) + 1, c->count);
    ck_assert_int_eq(c->segments[c->count - 1]->facts.end.kind, U9I_END_CLOSING);
    return (unsigned)c->count;
}

/* Records and places are the same, for plain and compressed frames, whole and in ranges. */
START_TEST(mapped_segments_tell_what_read_calls_tell)
{
    const char *log = the_log();
    fill_log(log, _i);
    u9_log *calls = open_verifying(log, U9_VERIFY_FIRST);
    u9_range range = {.size = sizeof range, .segment = 2, .begin = 9000, .end = 50000};
    story whole = read_story(calls, NULL), part = read_story(calls, &range);
    if (!u9i_guard_ready()) ck_assert_uint_eq(mapped_in(calls), 0);
    ck_assert_uint_eq(whole.records, RECORDS);
    guard();
    u9_log *maps = open_verifying(log, U9_VERIFY_FIRST);
    story again = read_story(maps, NULL), part_again = read_story(maps, &range);
    ck_assert_uint_ge(sealed_in(maps), _i ? 0 : 4);
    ck_assert_uint_eq(mapped_in(maps), mappable_in(maps));
    expect_same(&whole, &again);
    expect_same(&part, &part_again);
    close_log(maps);
    close_log(calls);
}
END_TEST

START_TEST(a_second_scan_of_mapped_segments_reads_nothing)
{
    const char *log = the_log();
    fill_log(log, 0);
    guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    story first = read_story(r, NULL);
    unsigned maps = sim_count(SIM_MAP), all = mappable_in(r);
    ck_assert_uint_ge(all, 4);
    ck_assert_uint_eq(maps, all);
    sim_forget_diary();
    story second = read_story(r, NULL);
    ck_assert_uint_eq(sim_count(SIM_MAP), 0); /* once made, they stay */
    for (unsigned i = 1; i <= all; i++)
        ck_assert_uint_eq(sim_count_of(SIM_READ, segment_path(log, i)), 0);
    expect_same(&first, &second);
    close_log(r);
}
END_TEST

START_TEST(what_is_written_or_not_guarded_is_read_by_calls)
{
    if (u9i_guard_ready()) return; /* CK_FORK=no, U9_GUARD */
    const char *log = the_log();
    fill_log(log, 0);
    u9_log *before = open_verifying(log, U9_VERIFY_FIRST);
    free(read_story(before, NULL).text);
    ck_assert_uint_eq(sim_count(SIM_MAP), 0);
    uint64_t size = 7;
    ck_assert_ptr_null(u9i_segment_map(before->source.current->segments[0], &size));
    ck_assert_uint_eq(size, 7);
    guard();
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_bytes(w, (const uint8_t *)"more", 4);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    sim_forget_diary();
    free(read_story(r, NULL).text);
    const u9i_catalog *c = r->source.current;
    const u9i_segment *last = c->segments[c->count - 1];
    ck_assert(!last->facts.has_end);
    ck_assert_uint_gt(sim_count_of(SIM_READ, segment_path(log, last->facts.number)), 0);
    ck_assert_uint_eq(sim_count_of(SIM_MAP, segment_path(log, last->facts.number)), 0);
    close_log(r);
    close_log(w);
    close_log(before);
}
END_TEST

/* [S-3] [S-5] What is mapped stays; what comes behind it is read. A cursor is in the file meanwhile, or is opened then. */
START_TEST(who_goes_on_in_a_closed_segment_changes_nothing_of_what_is_mapped)
{
    enum { FEW = 9 };
    const char *log = the_log();
    u9_options o = small_options();
    u9_record record;
    u9_cursor *c;
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < FEW; i++) append_bytes(w, (const uint8_t *)"first", 5);
    close_log(w);
    guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    ck_assert_uint_eq(mapped_in(r), 1);
    w = open_writer(log, &o);
    for (unsigned i = 0; i < FEW; i++) append_bytes(w, (const uint8_t *)"second", 6);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    if (_i) close_log(w);
    story s = {0};
    FILE *f = open_memstream(&s.text, &s.size);
    read_on(c, f, &s);
    fclose(f);
    ck_assert_uint_ge(s.records, FEW - 1);
    ck_assert_uint_eq(s.damages + s.faults, 0);
    story whole = read_story(r, NULL);
    ck_assert_uint_eq(whole.records, 2 * FEW);
    ck_assert_uint_eq(whole.damages + whole.faults, 0);
    ck_assert_uint_eq(r->source.current->count, 1);
    free(s.text);
    free(whole.text);
    u9_cursor_close(c);
    close_log(r);
    if (!_i) close_log(w);
}
END_TEST

/* A cursor in a closed file whose size is asked once more when it comes to what was its end. */
START_TEST(a_window_that_leans_on_a_file_that_grew_reads_behind_the_mapping)
{
    const char *log = the_log();
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_bytes(w, (const uint8_t *)"first", 5);
    close_log(w);
    guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    free(read_story(r, NULL).text);
    const u9i_mapping *map = u9i_segment_mapping(r->source.current->segments[0], U9I_MAP_SCAN);
    ck_assert_ptr_nonnull(map);
    w = open_writer(log, &o);
    append_bytes(w, (const uint8_t *)"second", 6);
    close_log(w);
    u9i_windows windows;
    u9i_window *window;
    u9i_file *file;
    u9i_frame frame;
    uint64_t p = U9I_DISK_HEADER_SIZE;
    unsigned frames = 0;
    const u9i_segment *s = r->source.current->segments[0];
    u9i_windows_init(&windows, s->dir->env);
    ck_assert_int_eq(u9i_file_open(s->dir, s->facts.name, U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_windows_lend(&windows, &window), U9_OK);
    u9i_window_turn(window, file, &s->facts.secret);
    u9i_window_lean(window, map);
    for (; u9i_window_find(window, p, U9_NOWHERE / 2, &frame) == U9_OK; p = frame.end, frames++)
        ck_assert(frame.offset < map->size || window->map == NULL);
    ck_assert_uint_gt(p, map->size);
    ck_assert_uint_ge(frames, 5); /* u9open, record, u9end; u9open, record, u9end */
    u9i_windows_return(&windows, window);
    u9i_windows_release(&windows);
    u9i_file_close(file);
    close_log(r);
}
END_TEST

START_TEST(a_map_that_cannot_be_made_costs_speed_alone)
{
    const char *log = the_log();
    fill_log(log, 0);
    guard();
    u9_log *maps = open_verifying(log, U9_VERIFY_FIRST),
           *calls = open_verifying(log, U9_VERIFY_FIRST);
    story whole = read_story(maps, NULL);
    sim_fail(SIM_MAP, 1, -ENOMEM, true);
    story again = read_story(calls, NULL);
    ck_assert_uint_eq(mapped_in(calls), 0);
    expect_same(&whole, &again);
    close_log(calls);
    close_log(maps);
}
END_TEST

/* One after the other, each block of a sealed segment cannot be read: every way to read it tells the same. */
START_TEST(a_block_that_cannot_be_read_is_the_same_damage_through_a_map)
{
    const char *log = the_log();
    fill_log(log, 0);
    guard();
    for (uint64_t at_block = BLOCK; at_block + BLOCK < SMALL; at_block += BLOCK) {
        u9_log *maps = open_verifying(log, U9_VERIFY_FIRST);
        sim_spoil(segment_path(log, 2), at_block, at_block + 1, EIO, 0);
        u9_log *calls = open_verifying(log, U9_VERIFY_FIRST);
        sim_fail(SIM_MAP, 1, -ENOMEM, true);
        story by_calls = read_story(calls, NULL);
        sim_mend();
        story by_map = read_story(maps, NULL);
        ck_assert_uint_gt(mapped_in(maps), 0);
        ck_assert_uint_eq(by_map.faults, 0); /* nothing had been shown of it */
        ck_assert_uint_eq(by_map.damages, 1);
        expect_same(&by_calls, &by_map);
        close_log(calls);
        close_log(maps);
        sim_clear();
    }
}
END_TEST

/* {F31} The file goes under a cursor that shows a record of it. */
START_TEST(a_file_that_is_cut_under_a_cursor_is_an_error_with_its_name_and_place)
{
    const char *log = the_log(), *path = segment_path(log, 1);
    fill_log(log, 0);
    guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    free(read_story(r, NULL).text); /* verified: it is not looked at again */
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    cut_file(path, 0);
    for (size_t i = 0; i < record.size; i++)
        ck_assert_uint_eq(record.bytes[i], 0); /* there is nothing to see */
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_IO);
    u9_fault fault;
    u9_cursor_fault(c, &fault);
    ck_assert_int_eq(fault.sys, EIO);
    ck_assert_uint_eq(fault.segment, 1);
    ck_assert_uint_ge(fault.offset, 32);
    ck_assert_uint_lt(fault.offset, SMALL);
    ck_assert_ptr_nonnull(strstr(fault.path, ".u9"));
    story rest = {0};
    FILE *f = open_memstream(&rest.text, &rest.size);
    read_on(c, f, &rest);
    fclose(f);
    ck_assert_uint_eq(rest.faults, 0);
    ck_assert_uint_ge(rest.damages, 1); /* what was promised and is gone */
    ck_assert_ptr_nonnull(strstr(rest.text, "record 119 "));
    free(rest.text);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

/* {F31} What was proven once is not what it was: the rest of its frame is passed, in words. */
START_TEST(records_that_are_overwritten_under_a_cursor_are_damage_and_the_next_frame_is_read)
{
    const char *log = the_log(), *path = segment_path(log, 1);
    uint8_t there[16];
    u9_cursor *c;
    u9_record r;
    u9_fault fault;
    fill_log(log, 0);
    guard();
    u9_log *reader = open_verifying(log, U9_VERIFY_FIRST);
    ck_assert_int_eq(u9_cursor_open(reader, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    uint64_t place = r.frame + U9I_FRAME_HEADER_SIZE + (r.at & 0xffffff);
    read_bytes(path, place, there, sizeof there);
    ck_assert_mem_eq(there, r.bytes, sizeof there);
    fill_bytes(path, place + r.size, 16, 0xff);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_CORRUPT);
    u9_cursor_fault(c, &fault);
    ck_assert_int_eq(fault.err, U9_CORRUPT);
    ck_assert_uint_eq(fault.segment, 1);
    ck_assert_str_eq(fault.rule, "R-9");
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    ck_assert_uint_eq(r.ordinal, 3);
    u9_cursor_close(c);
    close_log(reader);
}
END_TEST

/* Each record of a story is one of the whole, behind the one before; but what was shown right before a fault. */
static void expect_of(char *told, const char *whole, uint64_t next)
{
    for (char *line = strtok(told, "\n"), *behind; line; line = behind) {
        behind = strtok(NULL, "\n");
        if (strncmp(line, "record", 6) != 0) continue;
        bool refuted = behind && strncmp(behind, "fault", 5) == 0;
        ck_assert_msg(refuted || strstr(whole, line) != NULL, "%s", line);
        uint64_t ordinal = strtoull(line + 7, NULL, 10);
        ck_assert_uint_ge(ordinal, next);
        next = ordinal + 1;
    }
}

/* {F31} Wherever the file is cut, and whatever was shown by then: no record twice, none that is not its own. */
START_TEST(what_a_cursor_shows_of_a_file_that_is_cut_is_right_or_refuted_by_its_next_call)
{
    const char *log = the_log(), *path = segment_path(log, 1);
    fill_log(log, 0);
    guard();
    u9_log *whole = open_verifying(log, U9_VERIFY_FIRST);
    story all = read_story(whole, NULL);
    char *copy = strdup(at("copy"));
    for (unsigned shown = 1; shown < 14; shown += 3)
        for (uint64_t size = BLOCK; size < SMALL; size += 5 * BLOCK) {
            ck_assert_int_eq(rename(path, copy), 0);
            size_t n;
            uint8_t *bytes = read_file(copy, &n);
            write_file(path, bytes, n);
            free(bytes);
            u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
            free(read_story(r, NULL).text);
            u9_cursor *c;
            u9_record record;
            ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
            for (unsigned i = 0; i < shown; i++)
                ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
            cut_file(path, size);
            story rest = {0};
            FILE *f = open_memstream(&rest.text, &rest.size);
            read_on(c, f, &rest);
            fclose(f);
            ck_assert_uint_le(rest.faults, 1);
            ck_assert_uint_le(shown + rest.records, RECORDS);
            expect_of(rest.text, all.text, shown);
            free(rest.text);
            u9_cursor_close(c);
            close_log(r);
            ck_assert_int_eq(rename(copy, path), 0);
        }
    free(copy);
    free(all.text);
    close_log(whole);
}
END_TEST

enum { LOOKED_UP = 90 };

/* The first records' keys and sums. */
static void note_records(u9_log *log, uint8_t keys[][16], uint64_t sums[])
{
    u9_cursor *c;
    u9_record r;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < LOOKED_UP; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        ck_assert_uint_eq(r.key.size, 16);
        memcpy(keys[i], r.key.data, 16);
        sums[i] = sum_of(&r);
    }
    u9_cursor_close(c);
}

/* Looks all up. What is found is right; returns how many are. */
static unsigned look_all_up(u9_log *log, uint8_t keys[][16], const uint64_t sums[])
{
    uint8_t room[4096];
    u9_record r;
    unsigned found = 0;
    for (unsigned i = 0; i < LOOKED_UP; i++) {
        u9_key key = {.data = keys[i], .size = 16};
        if (u9_log_get(log, &key, room, sizeof room, &r, NULL) != U9_OK) continue;
        ck_assert_uint_eq(sum_of(&r), sums[i]);
        found++;
    }
    return found;
}

/* Frames that lookups keep stand in mappings: zeros there are no record, and what is left in the file is found. */
START_TEST(lookups_in_a_file_that_is_cut_find_what_is_left_and_nothing_else)
{
    static uint8_t keys[LOOKED_UP][16];
    static uint64_t sums[LOOKED_UP];
    char log[3300];
    guard();
    for (uint64_t size = 0; size <= 40960; size += 8192) {
        snprintf(log, sizeof log, "%s.%u", the_log(), (unsigned)size);
        fill_log(log, 0);
        u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
        note_records(r, keys, sums);
        ck_assert_uint_eq(look_all_up(r, keys, sums), LOOKED_UP);
        cut_file(segment_path(log, 1), size);
        cut_file(segment_path(log, 3), size);
        for (unsigned again = 0; again < 2; again++) ck_assert_uint_ge(look_all_up(r, keys, sums), LOOKED_UP / 3);
        close_log(r);
    }
}
END_TEST

/* The same where the first look at a frame meets zeros: its index is in memory, and leads there. */
START_TEST(frames_of_a_file_that_is_cut_before_they_are_looked_at_are_not_found)
{
    enum { FRAMES = 5, EACH = 3 };
    static uint8_t bytes[RECORD], room[4096];
    uint8_t keys[FRAMES * EACH][16];
    u9_record r;
    guard();
    u9_log *w = open_writer(the_log(), NULL);
    for (unsigned i = 0; i < FRAMES * EACH; i++) {
        append_bytes(w, bytes, sizeof bytes);
        if (i % EACH == EACH - 1) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    u9_log *log = open_verifying(the_log(), U9_VERIFY_FIRST);
    u9_cursor *c;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < FRAMES * EACH; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        memcpy(keys[i], r.key.data, 16);
    }
    u9_cursor_close(c);
    ck_assert_int_eq(u9_log_get(log, &(u9_key){keys[0], 16}, room, sizeof room, &r, NULL), U9_OK);
    cut_file(segment_path(the_log(), 1), r.frame + (EACH + 1) * BLOCK);
    for (unsigned i = EACH * FRAMES; i-- > 0;) {
        u9_err err = u9_log_get(log, &(u9_key){keys[i], 16}, room, sizeof room, &r, NULL);
        if (i < EACH) ck_assert(err == U9_OK && r.ordinal == i);
        else ck_assert_msg(err == U9_CORRUPT || err == U9_IO, "record %u: %s", i, u9_err_name(err));
    }
    close_log(log);
}
END_TEST

/* Where the file is cut that an index stands in, its pages may have been zeros: what it leads to does not count. */
START_TEST(what_an_index_in_a_file_that_is_cut_leads_to_does_not_count)
{
    static uint8_t keys[LOOKED_UP][16];
    static uint64_t sums[LOOKED_UP];
    u9i_view *view;
    uint64_t size;
    guard();
    fill_log(the_log(), 0);
    u9_log *log = open_verifying(the_log(), U9_VERIFY_FIRST);
    note_records(log, keys, sums);
    ck_assert_int_eq(u9i_view_take(log, false, &view, NULL), U9_OK);
    ck_assert_int_eq(u9i_view_index(log, view, 0, NULL), U9_OK);
    u9i_indexed *s = view->segments[0];
    ck_assert(s->index.source == s->segment);
    const volatile uint8_t *map = u9i_segment_map(s->segment, &size);
    ck_assert(map != NULL);
    for (unsigned cut = 0; cut < 2; cut++) { /* what is asked for stands in front of it, each time */
        const u9i_open_frame *f;
        u9i_open_frame *own;
        u9i_found found;
        if (cut) {
            cut_file(segment_path(the_log(), 1), size - BLOCK);
            ck_assert_uint_eq(map[size - 1], 0); /* now it is known */
        }
        u9_err err = u9i_index_find(&s->index, &s->frames, &(u9_key){keys[0], 16}, s->limit, &f, &found, &own);
        ck_assert_int_eq(err, cut ? U9_CORRUPT : U9_OK);
        if (err == U9_OK) {
            u9i_found_free(&found);
            u9i_open_frame_free(own);
        }
    }
    u9i_view_release(view);
    close_log(log);
}
END_TEST

START_TEST(a_child_of_a_process_with_mapped_segments_closes_and_its_parent_reads_on)
{
    const char *log = the_log();
    fill_log(log, 0);
    guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    u9_cursor *c;
    u9_record record;
    int status;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(20);
        bool fine = u9_cursor_next(c, &record) == U9_STATE;
        u9_cursor_close(c);
        _exit(u9_log_close(r, NULL) == U9_OK && fine ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    story rest = {0};
    FILE *f = open_memstream(&rest.text, &rest.size);
    read_on(c, f, &rest);
    fclose(f);
    ck_assert_uint_eq(rest.records, RECORDS - 1);
    free(rest.text);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(the_mapping_for_lookups_shows_the_whole_file)
{
    const char *log = the_log();
    fill_log(log, 0);
    guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    u9i_catalog *catalog;
    ck_assert_int_eq(u9i_source_catalog(&r->source, &catalog, NULL), U9_OK);
    u9i_segment *s = catalog->segments[0];
    uint64_t size = 0;
    const uint8_t *bytes = u9i_segment_map(s, &size); /* nobody has it open */
    ck_assert_ptr_nonnull(bytes);
    u9i_segment_fetch(s, 0, size);
    u9i_segment_fetch(s, size, 1);
    size_t there;
    uint8_t *file = read_file(segment_path(log, 1), &there);
    ck_assert_uint_eq(size, there);
    ck_assert_int_eq(memcmp(bytes, file, there), 0);
    ck_assert(!u9i_segment_broken(s));
    ck_assert_ptr_eq(u9i_segment_map(s, &size), bytes);
    cut_file(segment_path(log, 1), 0);
    ck_assert_uint_eq(*(const volatile uint8_t *)(bytes + 8192), 0);
    ck_assert(u9i_segment_broken(s));
    ck_assert_ptr_null(u9i_segment_map(s, &size)); /* and not used again */
    free(file);
    u9i_catalog_unref(catalog);
    close_log(r);
}
END_TEST

/* What is remembered */

static u9i_verified shared_marks;

static void note_meanwhile(void)
{
    u9i_verified_note(&shared_marks, 3 * BLOCK);
}

/* Two who note their first frames at once note them in one place. */
START_TEST(what_two_find_valid_at_once_is_remembered_of_both)
{
    u9i_verified_init(&shared_marks, 10 * BLOCK);
    scarce_amid(SCARCE_MEMORY, 1, note_meanwhile);
    u9i_verified_note(&shared_marks, BLOCK);
    (void)scarce_end(NULL);
    if (!u9i_verified_has(&shared_marks, 3 * BLOCK)) note_meanwhile(); /* no memory was asked for */
    ck_assert(u9i_verified_has(&shared_marks, BLOCK) && u9i_verified_has(&shared_marks, 3 * BLOCK));
    ck_assert(!u9i_verified_has(&shared_marks, 2 * BLOCK));
    u9i_verified_release(&shared_marks);
}
END_TEST


START_TEST(frames_are_remembered_by_the_place_where_they_begin)
{
    u9i_verified v;
    u9i_verified_init(&v, 10 * BLOCK + 1);
    ck_assert(!u9i_verified_has(&v, 32));
    u9i_verified_note(&v, 32);
    u9i_verified_note(&v, 5 * BLOCK);
    u9i_verified_note(&v, 7 * BLOCK - 16);
    u9i_verified_note_body(&v, 8 * BLOCK);
    u9i_verified_note(&v, 10 * BLOCK);
    for (uint64_t p = 0; p < 12 * BLOCK; p++) {
        bool noted =
            p == 32 || p == 5 * BLOCK || p == 7 * BLOCK - 16 || p == 8 * BLOCK || p == 10 * BLOCK;
        ck_assert(u9i_verified_has(&v, p) == noted);
        ck_assert(u9i_verified_has_body(&v, p) == (p == 8 * BLOCK));
    }
    u9i_verified_note(&v, 48); /* of two in a block the last one */
    ck_assert(u9i_verified_has(&v, 48) && !u9i_verified_has(&v, 32));
    u9i_verified_note(&v, 11 * BLOCK); /* there is no such block */
    u9i_verified_note(&v, U9_NOWHERE);
    ck_assert(!u9i_verified_has(&v, 11 * BLOCK) && !u9i_verified_has(&v, U9_NOWHERE));
    u9i_verified_clear(&v);
    ck_assert(!u9i_verified_has(&v, 48) && !u9i_verified_has_body(&v, 8 * BLOCK));
    u9i_verified_note(&v, 80);
    u9i_verified_note_body(&v, 2 * BLOCK + 16);
    u9i_verified shorter, longer;
    u9i_verified_init(&shorter, 2 * BLOCK);
    u9i_verified_init(&longer, 100 * BLOCK);
    u9i_verified_take_over(&shorter, &longer); /* nothing */
    ck_assert(!u9i_verified_has(&shorter, 80));
    u9i_verified_take_over(&shorter, &v);
    u9i_verified_take_over(&longer, &v);
    ck_assert(u9i_verified_has(&shorter, 80) && !u9i_verified_has(&shorter, 2 * BLOCK + 16));
    ck_assert(u9i_verified_has(&longer, 80) && u9i_verified_has_body(&longer, 2 * BLOCK + 16));
    u9i_verified_release(&shorter);
    u9i_verified_release(&longer);
    u9i_verified_release(&v);
}
END_TEST

/* The second record of a segment's second frame, which is then not what was hashed. */
static void damage_text(const char *path, uint64_t from)
{
    uint8_t bytes[8] = {0};
    ck_assert_uint_eq(sim_read(path, from, bytes, sizeof bytes), sizeof bytes);
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] ^= 0x55;
    sim_write(path, from, bytes, sizeof bytes);
}

/*
 * A byte changes under a cursor that has not come to it; another of the same handle has, or has not. The file system knows
 * of the change, or not.
 */
static story after_damage(u9_verify verify, bool scanned, bool known)
{
    const char *log = the_log(), *path = segment_path(log, 2);
    u9_log *r = open_verifying(log, verify);
    if (scanned) free(read_story(r, NULL).text);
    story s = {0};
    u9_cursor *c;
    FILE *f = open_memstream(&s.text, &s.size);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    if (known) sim_advance(1000000), damage_text(path, 20000);
    else sim_decay(path, 20000, 0x55);
    read_on(c, f, &s);
    fclose(f);
    u9_cursor_close(c);
    if (known) damage_text(path, 20000); /* as it was */
    else sim_decay(path, 20000, 0x55);
    close_log(r);
    free(s.text);
    return s;
}

/* */
START_TEST(payloads_are_hashed_first_or_always_or_never)
{
    if (u9i_guard_ready())
        return; /* CK_FORK=no, U9_GUARD: a simulated map is a copy, and does not change */
    fill_log(the_log(), 0);
    ck_assert_uint_eq(after_damage(U9_VERIFY_FIRST, false, false).damages, 1);
    ck_assert_uint_eq(after_damage(U9_VERIFY_FIRST, true, false).damages, 0);
    ck_assert_uint_eq(after_damage(U9_VERIFY_FIRST, true, true).damages, 1);
    ck_assert_uint_eq(after_damage(U9_VERIFY_ALWAYS, false, false).damages, 1);
    ck_assert_uint_eq(after_damage(U9_VERIFY_ALWAYS, true, false).damages, 1);
    ck_assert_uint_eq(after_damage(U9_VERIFY_NEVER, false, false).damages, 0);
    ck_assert_uint_eq(after_damage(U9_VERIFY_NEVER, false, false).records, RECORDS);
}
END_TEST

START_TEST(a_segment_that_has_changed_is_hashed_again_by_the_next_cursor)
{
    const char *log = the_log();
    fill_log(log, 0);
    if (_i) guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    story first = read_story(r, NULL);
    ck_assert_uint_eq(first.damages, 0);
    sim_advance(1000000);
    damage_text(segment_path(log, 2), 20000);
    story second = read_story(r, NULL);
    ck_assert_uint_eq(second.damages, 1);
    free(first.text);
    free(second.text);
    close_log(r);
}
END_TEST

START_TEST(check_hashes_all_whatever_is_known)
{
    const char *log = the_log();
    fill_log(log, 0);
    guard();
    damage_text(segment_path(log, 2), 20000);
    seen *s = look(log);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HASH), 1);
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    u9_report report = {.size = sizeof report};
    sim_forget_diary();
    ck_assert_int_eq(u9_check(log, &o, &report, NULL), U9_OK);
    ck_assert_uint_gt(sim_count(SIM_MAP), 0);
    ck_assert_uint_eq(report.damages, 1);
    sim_forget_diary();
    uint64_t saved;
    ck_assert_int_eq(u9_salvage(log, at("saved"), &o, &report, &saved, NULL), U9_OK);
    for (unsigned i = 1; i <= report.segments; i++) /* what it copies is what it has hashed */
        ck_assert_uint_eq(sim_count_of(SIM_MAP, segment_path(log, i)), 0);
    forget(s);
}
END_TEST

/* Cuts the file that is checked, once, when the first damage in it is told. */
typedef struct cut {
    const char *path;
    uint64_t size;
    bool done;
    char told[64]; /* first and last key of the last stretch */
} cut;

static void cut_it(void *ctx, const u9_damage *d)
{
    cut *c = ctx;
    if (!c->done && d->verdict == U9_V_CORRUPT) cut_file(c->path, c->size);
    c->done = true;
}

static void note_keys(void *ctx, const u9_stretch *s)
{
    cut *c = ctx;
    if (s->kind == U9_STRETCH_FRAMES && s->records > 0) memcpy(c->told, s->last_key, s->last_key_size < 64 ? s->last_key_size : 64);
}

/* {F31} Wherever a file is cut under a check, it tells from there on what one tells that comes later. */
START_TEST(a_file_that_is_cut_under_a_check_is_judged_as_it_is_then)
{
    char log[3300];
    guard();
    for (uint64_t size = 16384; size < SMALL; size += 5000) {
        snprintf(log, sizeof log, "%s.%u", the_log(), (unsigned)size);
        fill_log(log, 0);
        flip_bit(segment_path(log, 2), 5000, 3);
        cut now = {.path = segment_path(log, 2), .size = size}, later = {.done = true};
        u9_check_options o = {.size = sizeof o, .on_damage = cut_it, .on_stretch = note_keys, .ctx = &now};
        u9_report cut_under = {.size = sizeof cut_under}, found_cut = {.size = sizeof found_cut};
        ck_assert_int_eq(u9_check(log, &o, &cut_under, NULL), U9_OK);
        ck_assert(now.done);
        o.ctx = &later;
        ck_assert_int_eq(u9_check(log, &o, &found_cut, NULL), U9_OK);
        ck_assert_uint_eq(cut_under.records, found_cut.records);
        ck_assert_uint_eq(cut_under.lost, found_cut.lost);
        ck_assert_uint_ge(cut_under.damages, found_cut.damages); /* told apart: before, and behind */
        ck_assert_uint_eq(cut_under.frames, found_cut.frames);
        ck_assert_uint_eq(cut_under.last_key_size, found_cut.last_key_size);
        ck_assert_mem_eq(cut_under.last_key, found_cut.last_key, found_cut.last_key_size);
        ck_assert_mem_eq(now.told, later.told, sizeof now.told);
    }
}
END_TEST

/* Without the hash, all else of the valid frame is still asked for. */
START_TEST(headers_and_chain_are_judged_though_payloads_are_not)
{
    const char *log = the_log(), *path = segment_path(log, 2);
    fill_log(log, 0);
    seen_frame frames[64];
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    size_t n = list_frames(bytes, size, frames, 64);
    ck_assert_uint_ge(n, 4);
    const seen_frame *f = &frames[2];
    const uint64_t forged[] = {f->offset,      f->offset + 20, f->offset + 40,
                               f->offset + 50, f->offset + 63, f->offset + 64 + f->length - 8};
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        uint8_t wrong = bytes[forged[i]] ^ 1;
        sim_write(path, forged[i], &wrong, 1);
        u9_log *r = open_verifying(log, U9_VERIFY_NEVER);
        story s = read_story(r, NULL);
        ck_assert_uint_eq(s.damages, 1);
        free(s.text);
        close_log(r);
        sim_write(path, forged[i], bytes + forged[i], 1);
    }
    free(bytes);
}
END_TEST

enum { THREADS = 4 };

static void *scan_in_thread(void *ctx)
{
    u9_log *log = ctx;
    for (unsigned i = 0; i < 5; i++) {
        story s = read_story(log, NULL);
        ck_assert_uint_eq(s.records, RECORDS);
        free(s.text);
    }
    return NULL;
}

START_TEST(threads_share_mappings_and_what_is_verified)
{
    const char *log = the_log();
    fill_log(log, 0);
    guard();
    u9_log *r = open_verifying(log, U9_VERIFY_FIRST);
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, scan_in_thread, r), 0);
    for (unsigned i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(mapped_in(r), mappable_in(r));
    close_log(r);
}
END_TEST

Suite *suite_mapped(void)
{
    Suite *suite = suite_create("mapped");
    TCase *real = tcase_create("real"), *sim = tcase_create("sim");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_add_loop_test(real, mapped_segments_tell_what_read_calls_tell, 0, 2);
    tcase_add_loop_test(real, who_goes_on_in_a_closed_segment_changes_nothing_of_what_is_mapped, 0, 2);
    tcase_add_test(real, a_file_that_is_cut_under_a_cursor_is_an_error_with_its_name_and_place);
    tcase_add_test(real, records_that_are_overwritten_under_a_cursor_are_damage_and_the_next_frame_is_read);
    tcase_add_test(real,
                   what_a_cursor_shows_of_a_file_that_is_cut_is_right_or_refuted_by_its_next_call);
    tcase_add_test(real, a_file_that_is_cut_under_a_check_is_judged_as_it_is_then);
    tcase_add_test(real, lookups_in_a_file_that_is_cut_find_what_is_left_and_nothing_else);
    tcase_add_test(real, frames_of_a_file_that_is_cut_before_they_are_looked_at_are_not_found);
    tcase_add_test(real, what_an_index_in_a_file_that_is_cut_leads_to_does_not_count);
    tcase_add_test(real, a_child_of_a_process_with_mapped_segments_closes_and_its_parent_reads_on);
    tcase_add_test(real, the_mapping_for_lookups_shows_the_whole_file);
    tcase_add_test(real, threads_share_mappings_and_what_is_verified);
    tcase_add_checked_fixture(sim, fixture_setup_sim, fixture_teardown);
    tcase_add_test(sim, a_second_scan_of_mapped_segments_reads_nothing);
    tcase_add_test(sim, what_is_written_or_not_guarded_is_read_by_calls);
    tcase_add_loop_test(sim, who_goes_on_in_a_closed_segment_changes_nothing_of_what_is_mapped, 0, 2);
    tcase_add_test(sim, a_window_that_leans_on_a_file_that_grew_reads_behind_the_mapping);
    tcase_add_test(sim, a_map_that_cannot_be_made_costs_speed_alone);
    tcase_add_test(sim, a_block_that_cannot_be_read_is_the_same_damage_through_a_map);
    tcase_add_test(sim, frames_are_remembered_by_the_place_where_they_begin);
    tcase_add_test(sim, what_two_find_valid_at_once_is_remembered_of_both);
    tcase_add_test(sim, payloads_are_hashed_first_or_always_or_never);
    tcase_add_loop_test(sim, a_segment_that_has_changed_is_hashed_again_by_the_next_cursor, 0, 2);
    tcase_add_test(sim, check_hashes_all_whatever_is_known);
    tcase_add_test(sim, headers_and_chain_are_judged_though_payloads_are_not);
    suite_add_tcase(suite, real);
    suite_add_tcase(suite, sim);
    return suite;
}
