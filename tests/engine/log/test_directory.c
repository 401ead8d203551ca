/*
 * tests/engine/log/test_directory.c: segments in a row. What is missing or forks is told, and nothing is written
 * then; what is misnamed, of another log or no segment is told, and in nobody's way; what was trimmed is not missed; what can be saved is saved.
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "format/base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A rolled log of `count` segments with four records each, the last one closed. */
static void make_row(const char *log, unsigned seed, uint64_t count)
{
    forged_segment before = {0};
    char prefix[16];
    for (uint64_t i = 1; i <= count; i++) {
        u9i_open_record open = forge_naming(i, i > 1 ? &before : NULL, U9I_TAIL_ROLLED);
        memset(open.log, (int)seed, sizeof open.log);
        forged_segment s = forge_with_open(i, seed, &open);
        if (i > 1) {
            forge_end(&before, U9I_END_SEALING);
            forge_save(&before, log);
            forge_free(&before);
        }
        snprintf(prefix, sizeof prefix, "s%llu-", (unsigned long long)i);
        forge_records(&s, prefix, 3);
        forge_records(&s, prefix, 1);
        before = s;
    }
    forge_end(&before, U9I_END_CLOSING);
    forge_save(&before, log);
    forge_free(&before);
}

static void move(const char *log, uint64_t from, uint64_t to)
{
    move_file(segment_path(log, from), segment_path(log, to));
}

static void copy(const char *from, uint64_t a, const char *to, uint64_t b)
{
    size_t size;
    uint8_t *bytes = read_file(segment_path(from, a), &size);
    write_file(segment_path(to, b), bytes, size);
    free(bytes);
}

/* [L-4] A writer refuses the log, says which file it is about (0: any), and changes nothing. */
static void expect_refused(const char *log, uint64_t number)
{
    u9_options o = writer_options();
    u9_log *w;
    u9_fault fault = {0};
    char name[32], line[800];
    uint8_t before[16], after[16];
    picture(log, before);
    ck_assert_int_eq(u9_log_open(log, &o, &w, &fault), U9_CORRUPT);
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
    snprintf(name, sizeof name, "%016llx.u9", (unsigned long long)number);
    u9_fault_line(&fault, line, sizeof line);
    ck_assert_msg(number == 0 || strstr(line, name) != NULL, "%s is not named: %s", name, line);
    ck_assert(strcmp(fault.rule, "L-4") == 0 || strcmp(fault.rule, "L-9") == 0);
}

/* A writer takes the log, and what it appends is read behind what is there. */
static void expect_taken(const char *log)
{
    seen *s = look(log);
    size_t count = s->count;
    forget(s);
    session(log, "taken", 1, 1);
    s = look(log);
    ck_assert_uint_eq(s->count, count + 1);
    ck_assert_str_eq(s->records[count].text, "taken0");
    forget(s);
}

/* All 16 records of a row of four are read, in order. */
static void expect_whole(const seen *s)
{
    ck_assert_uint_eq(s->count, 16);
    for (size_t k = 0; k < 16; k++) ck_assert_uint_eq(s->records[k].ordinal, k);
}

static const u9_damage *find(const seen *s, u9_reason reason, uint64_t number)
{
    for (size_t i = 0; i < s->damage_count; i++)
        if (s->damages[i].reason == reason && s->damages[i].segment == number &&
            s->damages[i].verdict == (reason == U9_R_FOREIGN ? U9_V_UNKNOWN
                                      : reason == U9_R_NAME  ? U9_V_TORN
                                                             : U9_V_CORRUPT))
            return &s->damages[i];
    ck_abort_msg("segment %llu is not told as %s", (unsigned long long)number,
                 u9_reason_name(reason));
    return NULL;
}

/* The records' ordinals are these, in order. */
static void expect_ordinals(const seen *s, const uint64_t *ordinals, size_t count)
{
    ck_assert_uint_eq(s->count, count);
    for (size_t i = 0; i < count; i++) ck_assert_uint_eq(s->records[i].ordinal, ordinals[i]);
}

/* {F30} [L-4] [L-5] Any one segment is gone: which, and how many records, is told. */
START_TEST(a_missing_segment_is_told_with_its_records)
{
    for (uint64_t gone = 1; gone <= 4; gone++) {
        const char *log = at("log");
        make_row(log, 1, 4);
        remove_log(segment_path(log, gone));
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 12);
        const u9_damage *d = find(s, U9_R_MISSING, gone);
        ck_assert_uint_eq(d->begin, 0);
        ck_assert_uint_eq(d->end, 0);
        ck_assert_uint_eq(d->lost, gone == 4 ? U9_NOWHERE : 4);
        ck_assert_uint_eq(s->damage_count, 1);
        for (size_t i = 0; i < 12; i++)
            ck_assert_uint_eq(s->records[i].ordinal, i < 4 * (gone - 1) ? i : i + 4);
        forget(s);
        expect_refused(log, gone);
        remove_log(log);
    }
}
END_TEST

/* [L-4] Two in a row: the one that is named is missing; how many were before it, ordinals tell. */
START_TEST(two_missing_segments_are_told_as_the_one_that_is_named)
{
    const char *log = at("log");
    make_row(log, 1, 4);
    remove_log(segment_path(log, 2));
    remove_log(segment_path(log, 3));
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 8);
    ck_assert_uint_eq(find(s, U9_R_MISSING, 3)->lost, 8);
    forget(s);
    expect_refused(log, 3);
}
END_TEST

/* {F71} [L-2] Two segments have changed names: each is read in its place, and the names are told. */
START_TEST(swapped_segments_are_read_in_their_places)
{
    const char *log = at("log");
    make_row(log, 1, 4);
    move(log, 2, 9);
    move(log, 3, 2);
    move(log, 9, 3);
    seen *s = look(log);
    expect_whole(s);
    ck_assert_uint_eq(s->damage_count, 2);
    ck_assert_uint_eq(find(s, U9_R_NAME, 2)->lost, 0);
    (void)find(s, U9_R_NAME, 3);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    forget(s);
    expect_taken(log);
}
END_TEST

/* {F30} {F71} */
/* [L-2] [L-9] Under any number, 0 and with gaps of billions, the last one too: it is not written to there. */
START_TEST(a_renamed_segment_is_read_in_its_place)
{
    static const uint64_t names[] = {0, 5, 7, 90000000000, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < 6 * 4; i++) {
        const char *log = at("log");
        make_row(log, 1, 4);
        move(log, 1 + i / 6, names[i % 6]);
        seen *s = look(log);
        expect_whole(s);
        ck_assert_uint_eq(s->damage_count, 1);
        (void)find(s, U9_R_NAME, 1 + i / 6);
        forget(s);
        expect_taken(log);
        ck_assert(exists(segment_path(log, names[i % 6])));
        remove_log(log);
    }
}
END_TEST

/* {F30} [L-2] [L-9] So is one whose u9open is damaged, as the next one names it; a copy of it is one. */
START_TEST(a_renamed_segment_is_known_by_who_names_it)
{
    static const uint64_t names[] = {0, 9, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < 5 * 3 * 2; i++) {
        uint64_t number = 1 + i / 5 % 3, name = names[i % 5];
        const char *log = at("log");
        make_row(log, 1, 4);
        if (i / 15 == 0) move(log, number, name);
        else copy(log, number, log, name);
        flip_bit(segment_path(log, name), 38, 0);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 16);
        ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FOREIGN), 0);
        ck_assert_uint_eq(count_damages(s, U9_V_TORN, U9_R_NAME), 1);
        ck_assert_uint_eq(s->report.lost, 0);
        forget(s);
        remove_log(log);
    }
}
END_TEST

/* [W-3] [L-9] A session that goes on in the last segment makes none under such a name when that one is full. */
START_TEST(a_roll_goes_past_a_segment_that_was_renamed)
{
    static const uint8_t filler[30000];
    const char *log = at("log");
    u9_options o = small_options();
    make_row(log, 1, 4);
    move(log, 2, 6);
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < 12; i++) {
        append_bytes(w, filler, sizeof filler);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 16 + 12);
    ck_assert_uint_eq(s->damage_count, 1);
    (void)find(s, U9_R_NAME, 2);
    ck_assert_uint_eq(s->records[16].segment, 4);
    ck_assert_uint_gt(s->records[27].segment, 6);
    forget(s);
    ck_assert(!exists(segment_path(log, 5)));
}
END_TEST

/* {F30} [L-2] One file twice: it is read once, and the copy is told. */
START_TEST(a_duplicated_segment_is_read_once)
{
    static const uint64_t cases[][2] = {{2, 9}, {4, 9}, {1, 5}, {3, 6}, {2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *log = at("log");
        make_row(log, 1, 4);
        copy(log, cases[i][0], log, cases[i][1]);
        seen *s = look(log);
        expect_whole(s);
        ck_assert_uint_eq(s->damage_count, 1);
        ck_assert_uint_eq(find(s, U9_R_NAME, cases[i][0])->end, file_size(segment_path(log, cases[i][1])));
        forget(s);
        expect_taken(log);
        remove_log(log);
    }
    /* In the place of another, which is then gone. */
    const char *log = at("log");
    make_row(log, 1, 4);
    copy(log, 3, log, 2);
    seen *s = look(log);
    static const uint64_t left[] = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15};
    expect_ordinals(s, left, 12);
    (void)find(s, U9_R_NAME, 3);
    ck_assert_uint_eq(find(s, U9_R_MISSING, 2)->lost, 4);
    forget(s);
    expect_refused(log, 2);
}
END_TEST

/* [C-3] No frame ends in a disk header: a u9open that says so is damaged, and names nothing. */
START_TEST(an_end_within_the_disk_header_names_nothing)
{
    static const uint64_t ends[] = {0, 16, 31};
    for (unsigned i = 0; i < 3; i++) {
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        (void)forge_records(&one, "r", 3);
        (void)forge_promise(&one);
        u9i_open_record open = forge_naming(2, &one, U9I_TAIL_TORN);
        open.end.offset = ends[i];
        forged_segment two = forge_with_open(2, 1, &open);
        (void)forge_records(&two, "s", 2);
        (void)forge_promise(&two);
        forge_save(&one, at("log"));
        forge_save(&two, at("log"));
        seen *s = look(at("log"));
        for (size_t k = 0; k < s->damage_count; k++) ck_assert_uint_le(s->damages[k].begin, s->damages[k].end);
        ck_assert_uint_eq(s->count, 5);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_BODY), 1);
        forget(s);
        forge_free(&one);
        forge_free(&two);
        remove_log(at("log"));
    }
}
END_TEST

/* [L-2] Of two that both lack something the one that ends furthest counts, though it has fewer records, whatever their names. */
START_TEST(of_damaged_duplicates_the_one_that_ends_furthest_counts)
{
    static const uint64_t left[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15};
    for (unsigned way = 0; way < 2; way++) {
        const char *log = at("log");
        seen_frame f[8];
        make_row(log, 1, 4);
        copy(log, 4, log, 9);
        ck_assert_uint_eq(frames_in(segment_path(log, 4), f, 8), 4);
        flip_bit(segment_path(log, way ? 4 : 9), f[1].offset + 70, 0);
        cut_file(segment_path(log, way ? 9 : 4), f[2].offset);
        seen *s = look(log);
        expect_ordinals(s, left, 13);
        forget(s);
        remove_log(log);
    }
}
END_TEST

/* [L-2] Of a copy that was cut the whole one counts, whatever their names. */
START_TEST(of_duplicates_the_one_that_reads_furthest_counts)
{
    for (unsigned way = 0; way < 2; way++) {
        const char *log = at("log");
        make_row(log, 1, 4);
        copy(log, 4, log, 9);
        cut_file(segment_path(log, way ? 9 : 4), 500);
        seen *s = look(log);
        expect_whole(s);
        ck_assert_uint_eq(count_damages(s, U9_V_TORN, U9_R_NAME), way ? 1 : 2);
        forget(s);
        expect_taken(log);
        remove_log(log);
    }
}
END_TEST

/* [L-4] A segment of another log, in place of one, which is missing then, and behind the last. */
START_TEST(a_segment_of_another_log_is_foreign)
{
    for (uint64_t place = 2; place <= 5; place++) {
        const char *log = at("log"), *other = at("other");
        make_row(log, 1, 4);
        make_row(other, 2, 5);
        copy(other, place, log, place);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, place == 5 ? 16 : 12);
        for (size_t i = 0; i < s->count; i++) ck_assert_uint_ne(s->records[i].segment, place);
        const u9_damage *d = find(s, U9_R_FOREIGN, place);
        ck_assert_uint_eq(d->begin, 0);
        ck_assert_uint_eq(d->end, file_size(segment_path(log, place)));
        ck_assert_uint_eq(d->lost, 0);
        if (place < 5) (void)find(s, U9_R_MISSING, place);
        forget(s);
        if (place < 5) expect_refused(log, place);
        else expect_taken(log);
        remove_log(log);
        remove_log(other);
    }
}
END_TEST

/* [L-2] The log is the one that most segments are of; of as many, the one with the lowest number. */
START_TEST(the_log_is_what_most_segments_are_of)
{
    for (unsigned mine = 1; mine <= 3; mine++) {
        const char *log = at("log"), *other = at("other");
        make_row(log, 1, mine);
        make_row(other, 2, 2);
        copy(other, 1, log, 11);
        copy(other, 2, log, 12);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, mine == 1 ? 8 : 4 * mine);
        ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FOREIGN), mine == 1 ? 1 : 2);
        forget(s);
        expect_taken(log);
        remove_log(log);
        remove_log(other);
    }
}
END_TEST

/* [L-2] [L-9] A named segment that was made anew: it is a fork, and the one that is named is missing. */
START_TEST(a_segment_with_another_boundary_than_named_is_off_the_row)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 4);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    forged_segment anew = forge_begin(2, 2, &one, U9I_TAIL_ROLLED);
    forge_end(&one, U9I_END_SEALING);
    forge_records(&two, "b", 4);
    forge_records(&anew, "x", 4);
    forged_segment three = forge_begin(3, 1, &two, U9I_TAIL_ROLLED);
    forge_end(&anew, U9I_END_SEALING);
    forge_records(&three, "c", 4);
    forge_end(&three, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&anew, log);
    forge_save(&three, log);
    seen *s = look(log);
    static const uint64_t left[] = {0, 1, 2, 3, 8, 9, 10, 11};
    expect_ordinals(s, left, 8);
    ck_assert_uint_eq(find(s, U9_R_FORK, 2)->lost, 4);
    ck_assert_uint_eq(find(s, U9_R_MISSING, 2)->lost, 4);
    ck_assert_uint_eq(s->damage_count, 2);
    forget(s);
    expect_refused(log, 2);
    forge_free(&one);
    forge_free(&two);
    forge_free(&anew);
    forge_free(&three);
}
END_TEST

/*
 * [L-9] A segment of a branch of the same log, as from a copy that was written to: what it says of the end of
 * the one before it does not count, so that nothing is taken from that one; nor is it left out in silence.
 */
START_TEST(what_a_fork_names_does_not_count)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 4);
    forge_pad(&one);
    forged_segment branch = forge_begin(2, 2, &one, U9I_TAIL_TORN);
    forge_records(&branch, "x", 4);
    forge_end(&branch, U9I_END_CLOSING);
    forge_records(&one, "a", 2);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
    forge_pad(&one);
    forge_records(&two, "b", 4);
    forged_segment three = forge_begin(3, 1, &two, U9I_TAIL_TORN);
    forge_records(&three, "c", 4);
    forge_end(&three, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&branch, log);
    forge_save(&three, log);
    seen *s = look(log);
    static const uint64_t left[] = {0, 1, 2, 3, 4, 5, 10, 11, 12, 13};
    expect_ordinals(s, left, 10);
    ck_assert_uint_eq(find(s, U9_R_FORK, 2)->lost, 4);
    ck_assert_uint_eq(find(s, U9_R_MISSING, 2)->lost, 4);
    forget(s);
    expect_refused(log, 2);
    forge_free(&one);
    forge_free(&branch);
    forge_free(&two);
    forge_free(&three);
}
END_TEST

/*
 * {F65} [L-9] A log is copied, the copy goes on in a segment of its own, and the first goes on where it was: when the
 * copy's segment comes back, under whatever name, what the first one promised is not left out in silence.
 */
START_TEST(a_fork_that_voids_what_was_promised_is_told_and_refused)
{
    static const uint64_t names[] = {2, 3, 0, 77};
    for (size_t i = 0; i < 4; i++) {
        const char *log = at("log");
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&one, "a", 4);
        forged_segment branch = forge_begin(2, 2, &one, U9I_TAIL_TORN);
        uint64_t end = one.end;
        forge_pad(&one);
        forge_records(&branch, "x", 1);
        forge_end(&branch, U9I_END_CLOSING);
        forge_records(&one, "b", 30);
        forge_promise(&one);
        uint64_t promised = one.end;
        forge_records(&one, "c", 5); /* never promised */
        forge_pad(&one);
        forge_save(&one, log);
        forge_save(&branch, log);
        if (names[i] != 2) move(log, 2, names[i]);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 5);
        const u9_damage *d = find(s, U9_R_FORK, 1);
        ck_assert_uint_eq(d->begin, end);
        ck_assert_uint_lt(d->end, promised);
        ck_assert_uint_eq(d->ordinal, 4);
        ck_assert_uint_eq(d->lost, 30);
        forget(s);
        expect_refused(log, 1);
        forge_free(&one);
        forge_free(&branch);
        remove_log(log);
    }
}
END_TEST

/* {F65} [L-2] [L-9] A log is copied, and both go on in the same file: one file's records are a fork of the other's. */
START_TEST(duplicates_that_part_are_a_fork)
{
    for (unsigned longer = 0; longer < 2; longer++) {
        const char *log = at("log"), *other = at("other");
        session(log, "both", 5, 1);
        size_t size;
        make_dir(other);
        copy(log, 1, other, 1);
        free(read_file(segment_path(log, 1), &size));
        session(log, "mine", longer ? 40 : 3, 1);
        session(other, "copy", longer ? 3 : 40, 1);
        copy(other, 1, log, 9);
        seen *s = look(log);
        ck_assert(has_text(s, longer ? "mine0" : "copy0"));
        ck_assert(!has_text(s, longer ? "copy0" : "mine0"));
        ck_assert_uint_eq(find(s, U9_R_FORK, 1)->lost, 3);
        ck_assert_uint_ge(find(s, U9_R_FORK, 1)->begin, size - 4096);
        forget(s);
        expect_refused(log, 0);
        remove_log(log);
        remove_log(other);
    }
}
END_TEST

/* [L-4] A u9open in a first frame that names its own file. */
START_TEST(a_segment_that_names_no_earlier_one_is_foreign)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    u9i_open_record open = forge_naming(2, &one, U9I_TAIL_TORN);
    forge_pad(&one);
    open.before_segment = 2;
    forged_segment two = forge_with_open(2, 1, &open);
    forge_records(&two, "b", 2);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&two, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    (void)find(s, U9_R_FOREIGN, 2);
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* {F66} [L-4] [L-9] Whatever lies under whatever number is told, and in nobody's way. */
START_TEST(a_stray_file_is_told_and_never_in_the_way)
{
    sim_needed("a fifo");
    static const uint64_t names[] = {2, 90000000000, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX,
                                     (UINT64_C(1) << 63) - 1, UINT64_C(1) << 62};
    for (size_t i = 0; i < 7; i++)
        for (unsigned what = 0; what < 4; what++) {
            const char *log = at("log"), *path;
            char noise[3000];
            session(log, "a", 4, 1);
            path = segment_path(log, names[i]);
            memset(noise, 'x', sizeof noise);
            if (what == 0) write_file(path, "", 0);
            if (what == 1) write_file(path, noise, sizeof noise);
            if (what == 2) ck_assert_int_eq(mkfifo(path, 0600), 0);
            if (what == 3) ck_assert_int_eq(symlink("/nowhere/at/all", path), 0);
            for (unsigned n = 0; n < 2; n++) session(log, "b", 2, 1);
            u9_log *r = open_reader(log);
            u9_report report = {.size = sizeof report};
            close_log(r);
            ck_assert_int_eq(u9_check(log, NULL, &report, NULL), U9_OK);
            ck_assert_uint_eq(report.records, 8);
            ck_assert_uint_eq(report.lost, 0);
            bool below = i < 2; /* the sessions' segments stand above it by now: void, if it is nothing [L-3] */
            ck_assert_int_eq(report.verdict, what ? U9_V_UNKNOWN : below ? U9_V_CLEAN : U9_V_TORN);
            remove_log(path);
            remove_log(log);
        }
}
END_TEST

/*
 * {F71} [M-2] A mark that stands as a segment is none: writers do not begin to count by what is in it. Way 0: in place of the
 * last segment, which is gone; 1: the two have each other's names; 2: a copy, behind the last.
 */
START_TEST(a_mark_under_a_segments_name_is_no_segment)
{
    unsigned way = (unsigned)_i;
    const char *log = at("log");
    static char text[9000];
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    memset(text, 'x', sizeof text - 1);
    for (unsigned i = 0; i < 16; i++) append_text(w, text);
    close_log(w);
    size_t size, whole;
    uint64_t last = segments_in(log), place = way == 2 ? last + 3 : last;
    ck_assert_uint_gt(last, 1);
    uint8_t *mark = read_file(at("log/.mark"), &size), *newest = read_file(segment_path(log, last), &whole);
    remove_log(at("log/.mark"));
    if (way == 1) write_file(at("log/.mark"), newest, whole);
    if (way == 2) write_file(at("log/.mark"), mark, size);
    write_file(segment_path(log, place), mark, size);
    free(mark);
    free(newest);
    seen *s = look(log);
    (void)find(s, U9_R_FOREIGN, place);
    if (way == 2) ck_assert_uint_eq(s->count, 16);
    else ck_assert_uint_lt(s->count, 16);
    forget(s);
    o.mode = U9_WRITE;
    u9_fault fault;
    u9_err err = u9_log_open(log, &o, &w, &fault);
    ck_assert_int_eq(err, way == 2 ? U9_OK : U9_CORRUPT);
    if (err != U9_OK) return;
    append_text(w, "next");
    close_log(w);
    s = look(log);
    ck_assert_uint_eq(s->records[s->count - 1].ordinal, 16);
    forget(s);
}
END_TEST

/* {F66} */
/* [L-9] [H-4] [S-7] Under names that no writer makes, neither another version's file nor zeros are touched or in the way. */
START_TEST(a_stray_under_a_name_of_nobody_is_left_as_it_is)
{
    static const uint64_t names[] = {UINT64_C(1) << 63, UINT64_MAX};
    static const uint8_t later[4096] = {0xff, 0xff, 0x75, 0x74, 0x66, 0x39, 0x00, 0x02, 1, 2, 3};
    static const uint8_t zeros[8192];
    for (unsigned i = 0; i < 4; i++) {
        const char *log = at("log"), *path;
        session(log, "a", 4, 1);
        path = segment_path(log, names[i / 2]);
        write_file(path, i % 2 ? zeros : later, i % 2 ? sizeof zeros : sizeof later);
        for (unsigned n = 0; n < 2; n++) session(log, "b", 2, 1);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 8);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
        forget(s);
        ck_assert_uint_eq(file_size(path), i % 2 ? sizeof zeros : sizeof later);
        remove_log(log);
    }
}
END_TEST

/* [L-1] Other names are no business of the log's; a new segment's number is above all that are. */
START_TEST(files_that_are_no_segments_are_ignored)
{
    static const char *const names[] = {"notes",
                                        "0000000000000002.u9x",
                                        "0000000000000003.u9~",
                                        "000000000000000.u9",
                                        "00000000000000004.u9",
                                        "000000000000000A.u9",
                                        "0000000000000000.u9",
                                        "000000000000000g.u9",
                                        ".u9",
                                        "0000000000000001.u9.bak"};
    const char *log = at("log");
    session(log, "r", 3, 1);
    char path[4200];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", log, names[i]);
        write_file(path, "no segment", 10);
    }
    session(log, "s", 3, 1);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 6);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->report.segments, 2); /* number 0 is looked into */
    forget(s);
    snprintf(path, sizeof path, "%s/00000000000000ff.u9", log);
    write_file(path, "", 0);
    session(log, "t", 1, 1);
    s = look(log);
    ck_assert_uint_eq(s->count, 7);
    ck_assert_uint_eq(s->records[6].segment, 0x100); /* [W-3] */
    forget(s);
}
END_TEST

/* A trimmed log: segments 1 and 2 are removed, and a u9trim in the last says so. */
static void make_trimmed(const char *log, uint64_t first_kept)
{
    make_row(log, 1, 3);
    forged_segment three = {0}; /* segment 3 with a u9trim in it: made again */
    size_t size;
    uint8_t body[64], *two = read_file(segment_path(log, 2), &size);
    seen_frame frames[8];
    size_t n = list_frames(two, size, frames, 8);
    ck_assert_uint_eq(n, 4);
    forged_segment before = {.bytes = two, .number = 2, .end = frames[2].end, .next.ordinal = 8};
    before.secret = keys_of(segment_path(log, 2));
    memcpy(before.next.chain, two + frames[2].offset + 16, 16);
    u9i_open_record open = forge_naming(3, &before, U9I_TAIL_ROLLED);
    memset(open.log, 1, sizeof open.log);
    three = forge_with_open(3, 1, &open);
    forge_records(&three, "kept", 2);
    u9i_trim_record trim = {.segment = first_kept, .ordinal = 8};
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_trim_record_encode(&out, &trim);
    forge_frame(&three, body, out.size, 0);
    forge_records(&three, "kept", 2);
    forge_end(&three, U9I_END_CLOSING);
    forge_save(&three, log);
    forge_free(&three);
    free(two);
    remove_log(segment_path(log, 1));
    remove_log(segment_path(log, 2));
}

/* {F30} [L-4] [L-5] [C-5] */
START_TEST(a_trimmed_log_is_whole)
{
    const char *log = at("log");
    make_trimmed(log, 3);
    seen *s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(s->records[0].ordinal, 8);
    ck_assert_uint_eq(s->report.first_ordinal, 8);
    forget(s);
    session(log, "more", 2, 1);
    s = look(log);
    ck_assert_uint_eq(s->count, 6);
    ck_assert_uint_eq(s->records[5].ordinal, 13);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* [L-4] [C-5] A u9trim that keeps the segment does not say that it was removed. */
START_TEST(a_segment_that_a_trim_kept_is_missing)
{
    const char *log = at("log");
    make_trimmed(log, 2);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 4);
    (void)find(s, U9_R_MISSING, 2);
    forget(s);
    expect_refused(log, 2);
}
END_TEST

/* [L-8] [L-2] Each segment alone shows its own records, with the ordinals that it says. */
START_TEST(a_segment_alone_is_read_by_its_own_word)
{
    const char *log = at("log");
    make_row(log, 1, 3);
    for (uint64_t i = 1; i <= 3; i++) {
        seen *s = look(segment_path(log, i));
        ck_assert_uint_eq(s->count, 4);
        ck_assert_uint_eq(s->damage_count, 0);
        ck_assert(s->report.confirmed);
        for (size_t k = 0; k < 4; k++) ck_assert_uint_eq(s->records[k].ordinal, 4 * (i - 1) + k);
        forget(s);
        cut_file(segment_path(log, i), file_size(segment_path(log, i)) - 4096);
        s = look(segment_path(log, i));
        ck_assert_uint_eq(s->count, 4);
        ck_assert(!s->report.confirmed);
        ck_assert_int_eq(s->report.verdict, U9_V_TORN);
        forget(s);
    }
}
END_TEST

/* [L-2] A segment whose u9open is damaged follows the one below it. */
START_TEST(a_segment_without_its_first_frame_follows_the_one_below)
{
    for (unsigned sealed = 0; sealed < 2; sealed++) {
        const char *log = at("log");
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&one, "a", 3);
        forged_segment two = forge_begin(2, 1, &one, sealed ? U9I_TAIL_ROLLED : U9I_TAIL_TORN);
        if (sealed) forge_end(&one, U9I_END_SEALING);
        forge_pad(&one);
        forge_records(&two, "b", 2);
        forge_end(&two, U9I_END_CLOSING);
        two.bytes[130] ^= 1;
        forge_save(&one, log);
        forge_save(&two, log);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 5);
        ck_assert_uint_eq(s->records[4].ordinal, 4);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HASH), 1);
        ck_assert_uint_eq(s->report.lost, 0);
        forget(s);
        session(log, "after", 1, 0);
        s = look(log);
        ck_assert_uint_eq(s->count, 6);
        ck_assert_uint_eq(s->records[5].ordinal, 5);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FOREIGN), 0);
        forget(s);
        forge_free(&one);
        forge_free(&two);
        remove_log(log);
    }
}
END_TEST

/* [R-4] [L-2] Of an end whose last frame is lost the chain is not known: what follows need not have it. */
START_TEST(a_segment_behind_a_lost_end_is_read)
{
    for (unsigned beyond = 0; beyond < 2; beyond++) {
        const char *log = at("log");
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&one, "a", 2);
        forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
        forge_end(&one, U9I_END_SEALING);
        forge_records(&two, "lost", 3);
        forge_pad(&two);
        forged_segment three = forge_begin(3, 1, &two, U9I_TAIL_TORN);
        size_t lost = two.size - 32;
        if (beyond)
            forge_records(&two, "beyond", 1); /* it tells the ordinal at the end, and no chain */
        forge_pad(&two);
        memset(two.bytes + 32, 0, lost);
        three.size = 32; /* it begins with records */
        three.next.previous = 0;
        three.next.ordinal = 5;
        forge_records(&three, "c", 2);
        forge_pad(&three);
        forge_save(&one, log);
        forge_save(&two, log);
        forge_save(&three, log);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 4);
        ck_assert_uint_eq(s->records[3].ordinal, 6);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 1);
        ck_assert_uint_eq(s->damages[0].end, 96);
        forget(s);
        forge_free(&one);
        forge_free(&two);
        forge_free(&three);
        remove_log(log);
    }
}
END_TEST

/* A valid first frame that is no u9open is read like any other, and what it begins is not void. */
START_TEST(a_segment_that_begins_with_records_keeps_them)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint8_t chain[16];
    u9i_hash(f.bytes, 32, chain);
    f.size = 32;
    f.next = (u9i_trailer){.time_us = 1};
    memcpy(f.next.chain, chain, sizeof chain);
    forge_records(&f, "a", 3);
    forge_records(&f, "b", 2);
    forge_pad(&f);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 5);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    forget(s);
    session(log, "after", 1, 0);
    s = look(log);
    ck_assert_uint_eq(s->count, 6);
    ck_assert_uint_eq(s->records[5].ordinal, 5);
    forget(s);
    forge_free(&f);
}
END_TEST

/* [L-3] Segments between a segment and the one that names it are void, whatever is in them. */
START_TEST(segments_that_were_passed_over_are_void)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    u9i_open_record open = forge_naming(3, &one, U9I_TAIL_TORN);
    forge_pad(&one);
    forged_segment three = forge_with_open(3, 1, &open);
    forge_records(&three, "c", 2);
    forge_end(&three, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&three, log);
    for (unsigned way = 0; way < 4; way++) {
        forged_segment two = forge_begin(2, 1, way == 3 ? NULL : &one, U9I_TAIL_TORN);
        forge_records(&two, "void", 5);
        if (way != 1) forge_end(&two, way == 2 ? U9I_END_SEALING : U9I_END_CLOSING);
        if (way == 3) memset(two.bytes, 0xaa, two.size);
        if (way == 0) memset(two.bytes, 0, two.size);
        if (way == 1) two.size = 40;
        forge_save(&two, log);
        seen *s = look(log);
        ck_assert(!has_text(s, "void2"));
        ck_assert_uint_eq(s->count, 4);
        ck_assert_uint_eq(s->records[3].ordinal, 3);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), way == 2); /* [L-9] it was promised */
        ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FOREIGN), way == 3);
        ck_assert_uint_eq(s->damage_count, way >= 2);
        forget(s);
        forge_free(&two);
    }
    forge_free(&one);
    forge_free(&three);
}
END_TEST

/* [L-6] Logs with other keys than muids are read. */
START_TEST(keys_of_every_form_are_shown_raw)
{
    static const struct {
        const char *kind, *value;
        size_t size, head;
    } cases[] = {{"muid",
                  "\x1c\x10"
                  "0123456789abcdef",
                  18, 2},
                 {"gid:volume",
                  "\x1c\x10"
                  "0123456789abcdef",
                  18, 2},
                 {"tid",
                  "\x03"
                  "01234567",
                  9, 1},
                 {"uid8",
                  "\x03"
                  "01234567",
                  9, 1},
                 {"rkey",
                  "\x25"
                  "hello",
                  6, 1},
                 {"rkey:literal:x",
                  "\x18\x11"
                  "a key of 17 bytes",
                  19, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *log = at("log");
        u9i_open_record open = forge_naming(1, NULL, U9I_TAIL_NONE);
        open.kind = (u9i_span){(const uint8_t *)cases[i].kind, strlen(cases[i].kind)};
        forged_segment f = forge_with_open(1, 1, &open);
        uint8_t body[64] = {0x49, (uint8_t)cases[i].size};
        memcpy(body + 2, cases[i].value, cases[i].size);
        forge_frame(&f, body, cases[i].size + 2, 1);
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, log);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 1);
        ck_assert_uint_eq(s->damage_count, 0);
        ck_assert_str_eq(s->report.kind, cases[i].kind);
        ck_assert_uint_eq(s->report.first_key_size, cases[i].size - cases[i].head);
        ck_assert_mem_eq(s->report.first_key, cases[i].value + cases[i].head,
                         cases[i].size - cases[i].head);
        forget(s);
        forge_free(&f);
        remove_log(log);
    }
}
END_TEST

/* [L-7] The muids of a frame share timestamp and medallion, count from 1, and rise. */
START_TEST(a_frame_is_the_transaction_of_its_muids)
{
    const char *log = at("log");
    for (unsigned i = 0; i < 3; i++) session(log, "r", 30, 7);
    u9_log *handle = open_reader(log);
    u9_cursor *c;
    u9_record r;
    u9_err err;
    u9_muid last = {0}, id;
    uint64_t frame = 0, frames = 0;
    ck_assert_int_eq(u9_cursor_open(handle, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK) {
        ck_assert_uint_eq(r.key.size, 16);
        u9_muid_unpack(r.key.data, &id);
        if (r.frame == frame) {
            ck_assert(id.timestamp == last.timestamp && id.medallion == last.medallion);
            ck_assert_int_eq(id.offset, last.offset + 1);
        } else {
            ck_assert_uint_gt(id.timestamp, last.timestamp);
            ck_assert_int_eq(id.offset, 1);
            frames++;
        }
        ck_assert_uint_le(id.timestamp, r.time_us);
        frame = r.frame;
        last = id;
    }
    ck_assert_int_eq(err, U9_END);
    ck_assert_uint_eq(frames, 15);
    u9_cursor_close(c);
    close_log(handle);
}
END_TEST

/* Salvages `log` into a new one and looks at that. */
static seen *salvage(const char *log, const char *out, u9_report *report, uint64_t *saved)
{
    u9_fault fault = {0};
    *report = (u9_report){.size = sizeof *report};
    u9_err err = u9_salvage(log, out, NULL, report, saved, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
    seen *s = look(out);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, *saved);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_eq(s->records[i].ordinal, i);
    return s;
}

/* The same records, to the byte; what was one batch is in one frame. */
static void expect_equal(const seen *a, size_t from, const seen *b, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const seen_record *x = &a->records[from + i], *y = &b->records[at + i];
        ck_assert(x->size == y->size && memcmp(x->bytes, y->bytes, x->size) == 0);
        if (i == 0) continue;
        if (x[-1].frame == x->frame && x[-1].segment == x->segment)
            ck_assert(y[-1].frame == y->frame && y[-1].segment == y->segment);
    }
}

/* [R-1] [L-5] A whole log is copied as it is: keys, values, batches. */
START_TEST(salvage_of_a_whole_log_is_equal)
{
    u9_report report;
    uint64_t saved;
    const char *log = at("log"), *out = at("out");
    for (unsigned i = 0; i < 3; i++) session(log, "r", 50, 1 + 3 * i);
    seen *a = look(log), *b = salvage(log, out, &report, &saved);
    ck_assert_uint_eq(saved, 150);
    expect_equal(a, 0, b, 0, 150);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    forget(a);
    forget(b);
}
END_TEST

/* Everything outside the damage is saved, numbered anew. */
START_TEST(salvage_saves_every_frame_outside_the_damage)
{
    u9_report report;
    uint64_t saved;
    const char *log = at("log"), *out = at("out");
    make_row(log, 1, 4);
    seen *whole = look(log);
    flip_bit(segment_path(log, 2), whole->records[4].frame + 90, 1); /* records 4 to 6 */
    remove_log(segment_path(log, 3));                                /* and 8 to 11 */
    seen *s = salvage(log, out, &report, &saved);
    ck_assert_uint_eq(saved, 9);
    ck_assert_int_eq(report.verdict, U9_V_CORRUPT);
    ck_assert_uint_eq(report.lost, 7);
    expect_equal(whole, 0, s, 0, 4);
    expect_equal(whole, 7, s, 4, 1);
    expect_equal(whole, 12, s, 5, 4);
    forget(s);
    forget(whole);
}
END_TEST

/* [R-4] [L-3] Frames behind an unconfirmed end are saved; those that a session made void never are. */
START_TEST(salvage_takes_what_is_beyond_the_end_but_nothing_void)
{
    u9_report report;
    uint64_t saved;
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    uint64_t hole = forge_records(&one, "b", 2);
    forge_records(&one, "c", 3);
    forge_pad(&one);
    memset(one.bytes + hole, 0, 64);
    one.bytes[hole + 72] ^= 1; /* its header alone would be mended [Y-2] */
    forge_save(&one, log);
    seen *s = salvage(log, at("out"), &report, &saved);
    ck_assert_uint_eq(saved, 5);
    ck_assert_uint_eq(report.beyond, 3);
    ck_assert_str_eq(s->records[2].text, "c4");
    forget(s);
    session(log, "after", 1, 0);
    s = salvage(log, at("out2"), &report, &saved);
    ck_assert_uint_eq(saved, 3);
    ck_assert(!has_text(s, "c4") && has_text(s, "after0"));
    forget(s);
    forge_free(&one);
}
END_TEST

/* [R-9] [B-2] What is beyond the end is proven like everything else. */
START_TEST(salvage_passes_by_what_is_no_batch)
{
    u9_report report;
    uint64_t saved;
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint8_t body[64];
    forge_records(&one, "a", 2);
    /* A record that B-2 allows, with a tuple in it whose elements are not there. */
    size_t n = record_bytes(body, 1, "12", 2);
    memcpy(body + n - 3, "\x49\x01\x0f", 3);
    forge_frame(&one, body, n, 1);
    forge_records(&one, "b", 2);
    uint64_t hole = forge_records(&one, "h", 2);
    n = record_bytes(body, 1, "x", 1);
    forge_frame(&one, body, n, UINT32_MAX);
    forge_frame(&one, body, n - 1, 1);
    memcpy(body + n, "\x80", 1);
    forge_frame(&one, body, n + 1, 1);
    forge_records(&one, "c", 2);
    forge_pad(&one);
    memset(one.bytes + hole, 0, 64);
    one.bytes[hole + 72] ^= 1; /* its header alone would be mended [Y-2] */
    forge_save(&one, log);
    seen *s = salvage(log, at("out"), &report, &saved);
    ck_assert_uint_eq(saved, 7); /* with the record that no append takes */
    ck_assert_int_eq(report.verdict, U9_V_UNKNOWN);
    ck_assert(has_text(s, "a0") && has_text(s, "b3"));
    forget(s);
    forge_free(&one);
}
END_TEST

/* {F63} What is there is never written to. */
START_TEST(salvage_refuses_an_output_that_exists)
{
    u9_fault fault;
    u9_report report = {.size = sizeof report};
    uint64_t saved;
    uint8_t before[16], after[16];
    const char *log = at("log"), *out = at("out");
    make_row(log, 1, 2);
    picture(log, before);
    ck_assert_int_eq(u9_salvage(log, log, NULL, &report, &saved, &fault), U9_ARG);
    make_dir(out);
    ck_assert_int_eq(u9_salvage(log, out, NULL, &report, &saved, &fault), U9_ARG);
    remove_log(out);
    write_file(out, "file", 4);
    ck_assert_int_eq(u9_salvage(log, out, NULL, &report, &saved, &fault), U9_ARG);
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
    ck_assert_uint_eq(file_size(out), 4);
}
END_TEST

Suite *suite_directory(void)
{
    Suite *suite = suite_create("directory");
    TCase *tc = tcase_create("directory");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_missing_segment_is_told_with_its_records);
    tcase_add_test(tc, two_missing_segments_are_told_as_the_one_that_is_named);
    tcase_add_test(tc, swapped_segments_are_read_in_their_places);
    tcase_add_test(tc, a_renamed_segment_is_read_in_its_place);
    tcase_add_test(tc, a_renamed_segment_is_known_by_who_names_it);
    tcase_add_test(tc, a_roll_goes_past_a_segment_that_was_renamed);
    tcase_add_test(tc, a_duplicated_segment_is_read_once);
    tcase_add_test(tc, an_end_within_the_disk_header_names_nothing);
    tcase_add_test(tc, of_duplicates_the_one_that_reads_furthest_counts);
    tcase_add_test(tc, of_damaged_duplicates_the_one_that_ends_furthest_counts);
    tcase_add_test(tc, a_segment_of_another_log_is_foreign);
    tcase_add_test(tc, the_log_is_what_most_segments_are_of);
    tcase_add_test(tc, a_segment_with_another_boundary_than_named_is_off_the_row);
    tcase_add_test(tc, what_a_fork_names_does_not_count);
    tcase_add_test(tc, a_fork_that_voids_what_was_promised_is_told_and_refused);
    tcase_add_test(tc, duplicates_that_part_are_a_fork);
    tcase_add_test(tc, a_segment_that_names_no_earlier_one_is_foreign);
    tcase_add_test(tc, a_stray_file_is_told_and_never_in_the_way);
    tcase_add_test(tc, a_stray_under_a_name_of_nobody_is_left_as_it_is);
    tcase_add_loop_test(tc, a_mark_under_a_segments_name_is_no_segment, 0, 3);
    tcase_add_test(tc, files_that_are_no_segments_are_ignored);
    tcase_add_test(tc, a_trimmed_log_is_whole);
    tcase_add_test(tc, a_segment_that_a_trim_kept_is_missing);
    tcase_add_test(tc, a_segment_alone_is_read_by_its_own_word);
    tcase_add_test(tc, a_segment_without_its_first_frame_follows_the_one_below);
    tcase_add_test(tc, a_segment_behind_a_lost_end_is_read);
    tcase_add_test(tc, a_segment_that_begins_with_records_keeps_them);
    tcase_add_test(tc, segments_that_were_passed_over_are_void);
    tcase_add_test(tc, keys_of_every_form_are_shown_raw);
    tcase_add_test(tc, a_frame_is_the_transaction_of_its_muids);
    tcase_add_test(tc, salvage_of_a_whole_log_is_equal);
    tcase_add_test(tc, salvage_saves_every_frame_outside_the_damage);
    tcase_add_test(tc, salvage_takes_what_is_beyond_the_end_but_nothing_void);
    tcase_add_test(tc, salvage_passes_by_what_is_no_batch);
    tcase_add_test(tc, salvage_refuses_an_output_that_exists);
    suite_add_tcase(suite, tc);
    return suite;
}
