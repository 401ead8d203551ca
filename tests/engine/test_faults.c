/*
 * tests/engine/test_faults.c: cases of tests/FAULTS.md that belong to no room alone: crashes within recovery, disks
 * that lie to a whole engine, offsets beyond 32 bits, logs within logs of others, hashes of keys.
 */
#include "format/base/bytes.h"
#include "format/frame/frame.h"
#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/index.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, SECOND = 1000000 };

/* Recovery */

/* A log as a crash left it: two segments, the second torn, all but its last record acknowledged. */
static void leave_torn(const char *log)
{
    char text[9001] = {0};
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    memset(text, 'x', 9000);
    for (unsigned i = 0; i < 10; i++) {
        append_text(w, text);
        if (i < 9) MUST(u9_log_sync(w) == U9_OK);
    }
    sim_lose_power();
    (void)!u9_log_close(w, NULL);
    MUST(segments_in(log) == 2);
}

/* The next session, in which the power goes behind the nth call. False: it ends before that. */
static bool recover_until(const char *log, unsigned nth)
{
    u9_log *w = NULL;
    unsigned deaths = sim_deaths();
    u9_options o = small_options();
    sim_lose_power_at(nth);
    u9_err err = u9_log_open(log, &o, &w, NULL);
    MUST(err == U9_OK || sim_deaths() != deaths);
    if (err == U9_OK) {
        u9_builder b;
        uint8_t value[40];
        u9_builder_init(&b, value, sizeof value);
        MUST(u9_build_utf8(&b, "after", 5) == U9_OK);
        err = u9_log_append(w, NULL, value, b.size, NULL); /* now it goes on, in a file of its own */
        MUST(err == U9_OK || sim_deaths() != deaths);
        if (err == U9_OK) (void)!u9_log_commit(w, u9_log_next(w) - 1);
        (void)!u9_log_close(w, NULL);
    }
    sim_lose_power_at(0);
    return sim_deaths() != deaths;
}

/* What one clean recovery finds, and perhaps records that sessions cut short had appended. */
static void expect_recovered(const char *log, size_t kept)
{
    seen *s = look(log);
    MUST(s->err == U9_OK && s->count >= kept);
    for (size_t i = 0; i < s->count; i++) {
        MUST(s->records[i].ordinal == i);
        MUST(i < kept ? s->records[i].text_size == 9000 : strcmp(s->records[i].text, "after") == 0);
    }
    for (size_t i = 0; i < s->damage_count; i++) MUST(s->damages[i].verdict <= U9_V_TORN);
    forget(s);
}

/*
 * {F08} [W-1] [L-3] The power goes behind any call of the session that recovers; behind some of the next one, and of
 * the one behind that: what one clean recovery keeps is kept.
 */
START_TEST(three_crashes_within_recovery_leave_what_one_recovery_leaves)
{
    char log[3200], first[3200], second[3200];
    strcpy(log, at("log"));
    strcpy(first, at("first"));
    strcpy(second, at("second"));
    leave_torn(log);
    seen *s = look(log);
    size_t kept = s->count;
    ck_assert_uint_ge(kept, 9);
    forget(s);
    unsigned n = 1, crashes = 0;
    copy_log(log, first);
    for (; recover_until(first, n); n = next_call(n), remove_log(first), copy_log(log, first)) {
        expect_recovered(first, kept);
        for (unsigned m = 1 + n % 5; copy_log(first, second), recover_until(second, m); m += 9, remove_log(second)) {
            (void)recover_until(second, 1 + (n * 7 + m * 11) % 60);
            expect_recovered(second, kept);
            crashes += 3;
        }
        remove_log(second);
    }
    ck_assert_uint_gt(n, 40);
    ck_assert_uint_gt(crashes, thorough(150, 500));
}
END_TEST

/* Disks that lie */

enum { RECORDS = 24 };

/* A session of three segments, about whose nth write the disk lies, and a promise behind each record. */
static void write_above_a_lie(const char *log, sim_lie_kind kind, unsigned nth, uint64_t arg)
{
    char text[7001] = {0};
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    memset(text, 'y', 7000);
    if (nth > 0) sim_lie(kind, nth, arg);
    for (unsigned i = 0; i < RECORDS; i++) {
        append_text(w, text);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    sim_mend();
}

static uint64_t told_lost(const seen *s)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < s->damage_count; i++)
        if (s->damages[i].verdict > U9_V_TORN) lost += s->damages[i].lost == U9_NOWHERE ? RECORDS : s->damages[i].lost;
    return lost;
}

/* What is missing is told, with its number; what is there is what was appended; all that is not damaged is saved. */
static void expect_loss_told(const char *log, const char *saved)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io_of(log)};
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_eq(s->records[i].text_size, 7000);
    ck_assert(s->count == RECORDS || s->report.verdict > U9_V_TORN);
    ck_assert_uint_ge(s->count + told_lost(s), RECORDS);
    ck_assert_int_eq(u9_salvage(log, saved, &o, &report, NULL, NULL), U9_OK);
    ck_assert_uint_ge(report.records, s->count);
    remove_log(saved);
    forget(s);
}

/*
 * {F24} {F25} [R-3] [R-5] [M-4] The disk says done, and the write is lost; or it stands elsewhere, and perhaps over
 * what stood there: whichever write it is, the log has all else, and tells.
 */
START_TEST(a_write_that_a_disk_lost_or_put_elsewhere_is_told)
{
    static const uint64_t strays[] = {0, 2 * BLOCK, 9 * BLOCK}; /* 0: lost */
    char log[3200], saved[3200];
    strcpy(log, at("log"));
    strcpy(saved, at("saved"));
    sim_forget_diary();
    write_above_a_lie(log, SIM_LOST, 0, 0);
    unsigned writes = sim_count(SIM_WRITE), told = 0;
    ck_assert_uint_gt(writes, RECORDS);
    for (unsigned nth = 1; nth <= writes; nth++) {
        uint64_t by = strays[nth % 3];
        unsigned lies = sim_lies();
        remove_log(log);
        write_above_a_lie(log, by ? SIM_STRAY : SIM_LOST, nth, by);
        if (sim_lies() == lies) continue; /* of the writes that there are fewer go to segments */
        expect_loss_told(log, saved);
        told++;
    }
    ck_assert_uint_gt(told, RECORDS);
}
END_TEST

/* {F20} {F21} [F-6] One bit of a write is another: told, and it costs a frame at most. */
START_TEST(a_bit_that_rots_on_its_way_is_told)
{
    char log[3200], saved[3200];
    strcpy(log, at("log"));
    strcpy(saved, at("saved"));
    for (unsigned nth = 1; nth <= RECORDS; nth++) {
        unsigned lies = sim_lies();
        remove_log(log);
        write_above_a_lie(log, SIM_ROT, nth, nth * 7919);
        ck_assert_uint_eq(sim_lies(), lies + 1);
        expect_loss_told(log, saved);
        seen *s = look(log);
        ck_assert_uint_ge(s->count, RECORDS - 1);
        forget(s);
    }
}
END_TEST

/*
 * {F41} [R-14] [W-2] A sync fails once: nothing behind it is acknowledged, and it is not asked again, though it would
 * succeed; the next session syncs and drops what is cached before it takes the tail for there.
 */
START_TEST(a_failed_sync_acknowledges_nothing_and_the_next_session_reads_from_the_disk)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    append_many(w, "synced ", 3, 1);
    append_many(w, "not ", 2, 0);
    sim_fail(SIM_SYNC, 1, EIO, false);
    sim_fail(SIM_WRITE, 1, EIO, false); /* or of a write that is durable when it is done */
    ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
    unsigned syncs = sim_count(SIM_SYNC);
    ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
    ck_assert_uint_eq(sim_count(SIM_SYNC), syncs);
    ck_assert_uint_eq(u9_log_durable(w), 3);
    ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
    sim_mend();
    unsigned evicted = sim_count(SIM_EVICT);
    session(log, "next ", 1, 1);
    ck_assert_uint_gt(sim_count(SIM_EVICT), evicted);
    seen *s = look(log);
    ck_assert_uint_ge(s->count, 4);
    ck_assert(has_text(s, "synced 2") && has_text(s, "next 0"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}
END_TEST

/* Offsets */

/* The frame at `p` as it would be at `to`, behind the frame that it follows, promising all before it. */
static void move_frame(forged_segment *f, uint64_t p, uint64_t to)
{
    uint8_t *trailer = f->bytes + p + 64 + u9i_get_be(f->bytes + p + 56, 8) - U9I_TRAILER_SIZE;
    u9i_set_be(trailer + 27, 8, to);
    u9i_set_be(trailer + 45, 8, to);
    forge_mend(f, p);
}

static u9_damage told;
static unsigned tellings;

static void note(void *ctx, const u9_damage *damage)
{
    (void)ctx;
    if (damage->verdict <= U9_V_TORN) return;
    told = *damage;
    tellings++;
}

/*
 * {F61} [F-6] A frame on either side of 2^31, 2^32 and 2^33 in a sparse file is found, served from where it
 * stands, and the gap before it told to the byte. (The second reader, which keeps files in memory, is not asked.)
 */
START_TEST(frames_beyond_32_bits_of_offset_are_read_in_their_places)
{
    static const uint64_t places[] = {(UINT64_C(1) << 31) - BLOCK, UINT64_C(1) << 31, (UINT64_C(1) << 32) - 16,
                                      UINT64_C(1) << 32, (UINT64_C(1) << 33) + BLOCK};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *log = at("log");
        forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&f, "near ", 2);
        uint64_t end = f.end, p = forge_records(&f, "far ", 2), size = f.end - p;
        move_frame(&f, p, places[i]);
        f.size = end;
        forge_save(&f, log);
        cut_file(segment_path(log, 1), end);
        put_bytes(segment_path(log, 1), places[i], f.bytes + p, size);
        u9_report r = {.size = sizeof r};
        u9_check_options o = {.size = sizeof o, .on_damage = note, .io = sim_io()};
        tellings = 0;
        ck_assert_int_eq(u9_check(log, &o, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.records, 4);
        ck_assert_uint_eq(r.next_ordinal, 4);
        ck_assert_uint_eq(tellings, 1);
        ck_assert(told.begin == end && told.end == places[i] && told.verdict == U9_V_CORRUPT);
        u9_log *reader = open_reader(log);
        u9_cursor *c;
        u9_record record;
        ck_assert_int_eq(u9_cursor_open(reader, NULL, &c, NULL), U9_OK);
        for (unsigned k = 0; k < 4;) {
            u9_err err = u9_cursor_next(c, &record);
            ck_assert(err == U9_OK || (err == U9_CORRUPT && k == 2));
            k += err == U9_OK;
        }
        ck_assert_uint_eq(record.frame, places[i]);
        ck_assert_uint_eq(record.at >> 24, places[i] / 16); /* [B-6] */
        u9_cursor_close(c);
        close_log(reader);
        remove_log(log);
        forge_free(&f);
    }
}
END_TEST

/* Indexes */

/* A key that each record of `s` has is found, whatever indexes there are; I8 */
static void expect_found(const char *log, const seen *s)
{
    static uint8_t room[2000];
    u9_log *r = open_reader(log);
    for (size_t i = 0; i < s->count; i += 7) {
        u9_record found;
        u9_key key = {.data = s->records[i].bytes + 4, .size = 16}; /* 4a, length, 1c 10: a muid */
        ck_assert_int_eq(u9_log_get(r, &key, room, sizeof room, &found, NULL), U9_OK);
        ck_assert_uint_eq(found.ordinal, s->records[i].ordinal);
    }
    close_log(r);
}

/*
 * {F16} [K-4] The power goes behind any call of who makes an index beside a segment: it is there or not, whole, and
 * what is found is the same; the next run makes it.
 */
START_TEST(a_power_cut_while_an_index_is_made_costs_the_index_at_most)
{
    char log[3200], work[3200];
    strcpy(log, at("log"));
    strcpy(work, at("work"));
    for (unsigned i = 0; i < 2; i++) session(log, "r", 30, 0); /* a file that was gone on with has no index */
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 60);
    unsigned n = 1, none = 0, made = 0;
    for (bool cut = true; cut; n++) {
        u9_index_options o = {.size = sizeof o, .io = sim_io(), .memory = 64 << 10};
        u9_index_report r = {.size = sizeof r};
        unsigned deaths = sim_deaths();
        copy_log(log, work);
        sim_lose_power_at(n);
        u9_err err = u9_indexes_build(work, &o, &r, NULL);
        sim_lose_power_at(0);
        cut = sim_deaths() != deaths;
        ck_assert(cut || (err == U9_OK && r.made == 1));
        r = (u9_index_report){.size = sizeof r};
        ck_assert_int_eq(u9_indexes_check(work, &o, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.wrong, 0);
        ck_assert_uint_eq(r.beside + r.none, 1);
        none += r.none > 0;
        made += cut && r.beside > 0;
        expect_found(work, s);
        seen *again = look(work);
        ck_assert_uint_eq(again->count, 60);
        forget(again);
        if (r.none > 0) ck_assert_int_eq(u9_indexes_build(work, &o, &r, NULL), U9_OK);
        expect_found(work, s);
        remove_log(work);
    }
    ck_assert(n > 20 && none > 5 && made > 0);
    forget(s);
}
END_TEST

/* {F14} {F42} [K-4] A wait that fails while an index is made: its file is not closed under what is still written there. */
START_TEST(a_failed_wait_closes_no_file_under_a_write)
{
    char log[3200];
    strcpy(log, at("log"));
    for (unsigned i = 0; i < 2; i++) session(log, "r", 30, 0);
    sim_set_order(SIM_LATE);
    unsigned n = 1;
    for (bool fails = true; fails; n++) {
        u9_index_options o = {.size = sizeof o, .io = sim_io(), .memory = 64 << 10};
        u9_index_report r = {.size = sizeof r};
        unsigned fired = sim_fired();
        sim_fail(SIM_WAIT, n, EIO, false);
        u9_err err = u9_indexes_build(log, &o, &r, NULL);
        sim_mend();
        fails = sim_fired() != fired;
        ck_assert_int_eq(err, fails ? U9_IO : U9_OK);
    }
    ck_assert_uint_gt(n, 3);
}
END_TEST

/* Logs within logs */

/*
 * {F52} [H-3] [F-6] A record holds a whole log of somebody else, with its secret in front; its frame is damaged in
 * every way: nothing of what it holds is taken for a frame, and no mask is needed for that.
 */
START_TEST(a_log_of_another_secret_within_a_record_never_surfaces)
{
    const char *log = at("log"), *other = at("other");
    uint8_t record[BLOCK * 24];
    session(other, "theirs ", 30, 3);
    size_t size;
    uint8_t *bytes = read_file(segment_path(other, 1), &size);
    ck_assert_uint_le(size, sizeof record);
    ck_assert_mem_ne(keys_of(segment_path(other, 1)).boundary, bytes + 8, 16);
    for (unsigned shift = 0; shift < 16; shift += 3) { /* wherever its boundaries come to stand */
        memset(record, 0, sizeof record);
        memcpy(record + shift, bytes, size);
        u9_log *w = open_writer(log, NULL);
        append_text(w, "before");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        append_bytes(w, record, size + shift);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        append_text(w, "behind");
        close_log(w);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 3);
        ck_assert_uint_eq(s->report.mask_frames, 0);
        uint64_t frame = s->records[1].frame;
        forget(s);
        for (unsigned way = 0; way < 3; way++) {
            if (way == 0) fill_bytes(segment_path(log, 1), frame + 70, 1, 0xa5);
            if (way == 1) fill_bytes(segment_path(log, 1), frame, 64, 0);
            if (way == 2) fill_bytes(segment_path(log, 1), 0, 32, 0); /* and the log's own secret */
            s = look(log);
            ck_assert_uint_eq(s->count, 2);
            ck_assert(has_text(s, "before") && has_text(s, "behind"));
            forget(s);
        }
        remove_log(log);
    }
    free(bytes);
}
END_TEST

/* Hashes of keys */

/* The seed of the hashed index that a sealed segment holds. [C-7] [C-9] */
static uint64_t index_seed(const char *path)
{
    seen_frame frames[64];
    size_t size;
    uint64_t seed = 0;
    uint8_t *bytes = read_file(path, &size);
    for (size_t i = 0, n = list_frames(bytes, size, frames, 64); i < n; i++) {
        u9i_page_record page;
        size_t n_body = frames[i].length - U9I_TRAILER_SIZE;
        if (u9i_page_record_decode(bytes + frames[i].offset + 64, n_body, &page) == U9_OK &&
            page.has_root && page.has_seed)
            seed = page.seed;
    }
    free(bytes);
    return seed;
}

static void append_keyed(u9_log *w, unsigned number, const char *text, size_t size)
{
    static uint8_t value[9100];
    char key[20];
    u9_builder b;
    u9_builder_init(&b, value, sizeof value);
    ck_assert_int_eq(u9_build_utf8(&b, text, size), U9_OK);
    u9_key k = {.data = key, .size = (size_t)snprintf(key, sizeof key, "keykeykey%c", (int)('a' + number))};
    ck_assert_int_eq(u9_log_append(w, &k, value, b.size, NULL), U9_OK);
}

/* {F59} [K-2] Who knows the keys of one file's index knows nothing of how another's hashes fall. */
START_TEST(each_file_hashes_keys_by_a_seed_of_its_own)
{
    char text[9001] = {0};
    uint64_t seeds[3];
    u9_options o = small_options();
    o.kind = "rkey";
    memset(text, 'z', 9000);
    for (unsigned k = 0; k < 2; k++) {
        const char *log = at(k ? "again" : "log");
        u9_log *w = open_writer(log, &o);
        for (unsigned i = 0; i < 24; i++) append_keyed(w, i, text, 9000);
        close_log(w);
        for (unsigned n = 1; n <= 2 - k; n++) {
            seeds[k * 2 + n - 1] = index_seed(segment_path(log, n));
            ck_assert_uint_ne(seeds[k * 2 + n - 1], 0);
        }
    }
    ck_assert(seeds[0] != seeds[1] && seeds[0] != seeds[2] && seeds[1] != seeds[2]);
}
END_TEST

Suite *suite_faults(void)
{
    Suite *suite = suite_create("faults");
    TCase *tc = tcase_create("faults");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, three_crashes_within_recovery_leave_what_one_recovery_leaves);
    tcase_add_test(tc, a_write_that_a_disk_lost_or_put_elsewhere_is_told);
    tcase_add_test(tc, a_bit_that_rots_on_its_way_is_told);
    tcase_add_test(tc, a_failed_sync_acknowledges_nothing_and_the_next_session_reads_from_the_disk);
    tcase_add_test(tc, a_power_cut_while_an_index_is_made_costs_the_index_at_most);
    tcase_add_test(tc, a_failed_wait_closes_no_file_under_a_write);
    tcase_add_test(tc, frames_beyond_32_bits_of_offset_are_read_in_their_places);
    tcase_add_test(tc, a_log_of_another_secret_within_a_record_never_surfaces);
    tcase_add_test(tc, each_file_hashes_keys_by_a_seed_of_its_own);
    suite_add_tcase(suite, tc);
    return suite;
}
