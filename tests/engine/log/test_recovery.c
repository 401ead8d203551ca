/*
 * tests/engine/log/test_recovery.c: what a crash leaves behind, and that every session after it goes on.
 *
 * A segment is left unclosed by keeping the files of a live writer, or made by hand; then it is cut,
 * zeroed or overwritten as a power cut might have left it. In each case the prefix comes back, the
 * verdict is right, a new session goes on behind it, and nothing that was void comes back.
 */
#include "engine/log/handle.h"
#include "engine/os/guard.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64, SECTOR = 512, BLOCK = 4096 };

/* A segment as it stood at a crash, and its frames. */
typedef struct remains {
    uint8_t *bytes; /* as they were */
    uint8_t *work;  /* a copy, to be damaged */
    size_t size;
    seen_frame frames[MAX];
    size_t count;
    seen_frame last;
    size_t before; /* records in front of the last frame */
} remains;

static remains take(const char *path)
{
    remains r = {0};
    r.bytes = read_file(path, &r.size);
    r.work = malloc(r.size);
    memcpy(r.work, r.bytes, r.size);
    r.count = list_frames(r.bytes, r.size, r.frames, MAX);
    ck_assert_uint_ge(r.count, 2);
    r.last = r.frames[r.count - 1];
    for (size_t i = 0; i + 1 < r.count; i++) r.before += r.frames[i].count;
    return r;
}

static void drop(remains *r)
{
    free(r->bytes);
    free(r->work);
}

/* A session that crashed: two records, then one large one, both synced. */
static void crashed_session(const char *log, const char *prefix, size_t large)
{
    char text[8192];
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_many(w, prefix, 2, 2);
    memset(text, 'x', large);
    text[large] = 0;
    append_text(w, text);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, log);
}

/* Puts the bytes in place of segment 1, the only one of the log. */
static void put_alone(const char *log, const void *bytes, size_t size)
{
    remove_log(segment_path(log, 2));
    remove_mark(log);
    write_file(segment_path(log, 1), bytes, size);
}

/* The log holds `count` records, and its only damage is a tail judged no worse than `worst`. */
static u9_verdict expect_prefix(const char *log, size_t count, u9_verdict worst)
{
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->count, count);
    for (size_t i = 0; i < count; i++) ck_assert_uint_eq(s->records[i].ordinal, i);
    ck_assert_uint_eq(s->damage_count, 1);
    u9_verdict verdict = s->damages[0].verdict;
    ck_assert_int_ge(verdict, U9_V_TORN);
    ck_assert_msg(verdict <= worst, "%s %s [%llu,%llu)", u9_verdict_name(verdict),
                  u9_reason_name(s->damages[0].reason), (unsigned long long)s->damages[0].begin,
                  (unsigned long long)s->damages[0].end);
    ck_assert(!s->report.closed);
    ck_assert_uint_eq(s->report.next_ordinal, count);
    forget(s);
    return verdict;
}

/*
 * A new session goes on in segment `number` behind `count` records, and nothing is wrong then, but for what was unknown:
 * that stays so.
 */
static void expect_goes_on(const char *log, size_t count, uint64_t number)
{
    seen *s = look(log);
    size_t unknown = count_damages(s, U9_V_UNKNOWN, U9_R_NONE);
    forget(s);
    session(log, "after", 1, 0);
    s = look(log);
    ck_assert_uint_eq(s->count, count + 1);
    ck_assert_str_eq(s->records[count].text, "after0");
    ck_assert_uint_eq(s->records[count].ordinal, count);
    ck_assert_uint_eq(s->records[count].segment, number);
    ck_assert_uint_eq(s->damage_count, unknown);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_NONE), unknown);
    ck_assert(s->report.closed);
    forget(s);
}

/* {F01} [R-4] [R-6] [R-1] [W-3] The file ends at every byte of the last frame. */
START_TEST(a_torn_tail_of_every_length_ends_the_log)
{
    const char *log = at("log");
    crashed_session(log, "first", 300);
    remains r = take(segment_path(log, 1));
    for (uint64_t kept = 0; kept < r.last.end - r.last.offset; kept++) {
        put_alone(log, r.bytes, r.last.offset + kept);
        /* R-6 does not count the padding: a payload that is there is no tear's shape. */
        bool whole = kept >= 64 + r.last.length;
        expect_prefix(log, r.before, whole ? U9_V_UNKNOWN : U9_V_TORN);
        if (kept < 70 || kept % 8 == 0) expect_goes_on(log, r.before, 2);
    }
    drop(&r);
}
END_TEST

/* {F01} [R-6] [F-8] The same where the file keeps its size and what is lost are zeros. */
START_TEST(a_torn_tail_with_zeros_behind_it_ends_the_log)
{
    const char *log = at("log");
    crashed_session(log, "first", 700);
    remains r = take(segment_path(log, 1));
    uint64_t end = r.last.offset + 64 + r.last.length;
    for (uint64_t from = end - 1; from >= r.last.offset; from--) {
        r.work[from] = 0;
        if (r.bytes[from] == 0 && from > r.last.offset) continue; /* the same file as before */
        put_alone(log, r.work, r.size);
        u9_verdict v = expect_prefix(log, r.before, U9_V_UNKNOWN);
        if (from % SECTOR == 0) ck_assert_int_eq(v, U9_V_TORN);
    }
    expect_goes_on(log, r.before, 2);
    drop(&r);
}
END_TEST

/* What stands behind a tear. */
typedef enum behind { ZEROS, GARBAGE, OLD } behind;

static void fill_behind(remains *r, uint64_t from, behind what)
{
    memcpy(r->work, r->bytes, r->size);
    uint64_t end = (r->last.end + BLOCK - 1) / BLOCK * BLOCK;
    for (uint64_t i = from; i < end; i++) {
        if (what == ZEROS) r->work[i] = 0;
        if (what == GARBAGE) r->work[i] = (uint8_t)(rand() % 255 + 1);
        if (what == OLD) r->work[i] = r->bytes[i - from < 4096 - 32 ? 32 + i - from : 0];
    }
}

/* {F02} A tear at each sector of a large frame, with anything behind it, and a new session. */
START_TEST(a_tear_at_each_sector_may_have_anything_behind_it)
{
    const char *log = at("log");
    srand(7);
    crashed_session(log, "first", 5000);
    remains r = take(segment_path(log, 1));
    uint64_t end = r.last.offset + 64 + r.last.length;
    for (uint64_t from = (r.last.offset + SECTOR - 1) / SECTOR * SECTOR; from < end; from += SECTOR)
        for (behind what = ZEROS; what <= OLD; what++) {
            fill_behind(&r, from, what);
            put_alone(log, r.work, r.size);
            expect_prefix(log, r.before, what == ZEROS ? U9_V_TORN : U9_V_UNKNOWN);
            expect_goes_on(log, r.before, 2);
        }
    drop(&r);
}
END_TEST

/* {F29} The file ends exactly behind a frame, or behind its block. */
START_TEST(a_cut_behind_each_frame_leaves_an_unclosed_log)
{
    const char *log = at("log");
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_many(w, "r", 6, 2);
    crash(w, log);
    remains r = take(segment_path(log, 1));
    size_t records = 0;
    for (size_t i = 0; i < r.count; i++) {
        records += r.frames[i].count;
        uint64_t end = r.frames[i].end, block = (end + BLOCK - 1) / BLOCK * BLOCK;
        for (unsigned k = 0; k < 3; k++) {
            put_alone(log, r.bytes, k == 0 ? end : k == 1 ? (end + block) / 2 : block);
            if (k > 0 && i + 1 < r.count && r.frames[i + 1].offset < block) break;
            expect_prefix(log, records, U9_V_TORN);
        }
        put_alone(log, r.bytes, end);
        expect_goes_on(log, records, 2);
    }
    drop(&r);
}
END_TEST

/* Cuts into the last frame of a segment, from whose size zeros follow. */
static void tear(const char *path)
{
    remains r = take(path);
    ck_assert_uint_gt(r.last.length, 2 * SECTOR);
    uint64_t from = (r.last.offset + SECTOR) / SECTOR * SECTOR;
    memset(r.work + from, 0, r.size - from);
    write_file(path, r.work, r.size);
    drop(&r);
}

/* {F10} [L-2] [L-3] [C-3] Torn, gone on, torn again: each session keeps what it had. */
START_TEST(sessions_torn_one_after_the_other_keep_their_prefixes)
{
    const char *log = at("log");
    char prefix[8];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(prefix, sizeof prefix, "s%u-", i);
        crashed_session(log, prefix, 3000);
        tear(segment_path(log, i + 1));
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 2 * (i + 1));
        ck_assert_uint_eq(s->damage_count, 1);
        ck_assert_int_eq(s->report.verdict, U9_V_TORN);
        forget(s);
    }
    session(log, "last", 3, 1);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 13);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert(has_text(s, "s0-1") && has_text(s, "s4-1") && has_text(s, "last2"));
    forget(s);
}
END_TEST

/* [S-5] A file that was continued is torn in its second session. */
START_TEST(a_torn_continued_segment_keeps_both_sessions)
{
    const char *log = at("log");
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_many(w, "one", 3, 1);
    close_log(w);
    crashed_session(log, "two", 3000);
    sim_needed("space that is reserved");
    ck_assert_uint_eq(file_size(segment_path(log, 1)) > 65536, 1);
    tear(segment_path(log, 1));
    expect_prefix(log, 5, U9_V_TORN);
    crashed_session(log, "three", 3000);
    tear(segment_path(log, 2));
    session(log, "four", 1, 0);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 8);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->records[7].segment, 3);
    forget(s);
}
END_TEST

/* [S-6] A log that rolled is torn in its last segment: the sealed ones do not care. */
START_TEST(a_torn_rolled_log_keeps_its_sealed_segments)
{
    const char *log = at("log");
    char text[3001] = {0};
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    memset(text, 'r', 3000);
    for (unsigned i = 0; i < 60; i++) {
        append_text(w, text);
        if (i % 5 == 4) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    crash(w, log);
    uint64_t last = 1;
    while (exists(segment_path(log, last + 1))) last++;
    ck_assert_uint_ge(last, 3);
    tear(segment_path(log, last));
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 55);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    ck_assert_uint_eq(s->damage_count, 1);
    forget(s);
    expect_goes_on(log, 55, last + 1);
}
END_TEST

/* {F11} [L-3] Frames behind a hole that a crash left are out for good, even if the hole heals. */
START_TEST(what_a_new_session_made_void_never_comes_back)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "a", 2);
    forge_pad(&f);
    uint64_t hole = forge_records(&f, "b", 2), hole_end = f.end;
    forge_pad(&f);
    forge_records(&f, "c", 3);
    forge_pad(&f);
    forge_save(&f, log);
    fill_bytes(segment_path(log, 1), hole, hole_end - hole, 0);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    ck_assert_uint_eq(s->report.beyond, 3);
    forget(s);
    expect_goes_on(log, 2, 2);
    put_bytes(segment_path(log, 1), hole, f.bytes + hole, hole_end - hole);
    s = look(log);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_str_eq(s->records[2].text, "after0");
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
    forge_free(&f);
}
END_TEST

/* {F11} [L-3] [L-4] The same for a whole segment whose first sector was not there at the time. */
START_TEST(a_segment_that_was_void_stays_void_when_its_first_sector_comes_back)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    forge_pad(&one);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
    forge_records(&two, "lost", 2);
    forge_pad(&two);
    forge_save(&one, log);
    forge_save(&two, log);
    fill_bytes(segment_path(log, 2), 0, SECTOR, 0);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(count_damages(s, U9_V_TORN, U9_R_BLANK), 1);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    forget(s);
    expect_goes_on(log, 2, 3);
    forge_save(&two, log);
    s = look(log);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert(!has_text(s, "lost2"));
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* [W-1] Sessions without an append, and all reading, leave every byte as it is. */
START_TEST(recovery_changes_nothing_on_the_disk)
{
    const char *log = at("log");
    uint8_t before[16], after[16];
    crashed_session(log, "first", 3000);
    tear(segment_path(log, 1));
    picture(log, before);
    for (unsigned i = 0; i < 2; i++) {
        close_log(open_writer(log, NULL));
        expect_prefix(log, 2, U9_V_TORN);
        seen *s = look(segment_path(log, 1)); /* [L-8] */
        ck_assert_uint_eq(s->count, 2);
        ck_assert(!s->report.confirmed);
        forget(s);
    }
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
}
END_TEST

/* The first bytes of a new segment that reached the disk. */
static void expect_creation_cut(const char *log, uint64_t number, size_t count)
{
    seen *s = look(log);
    ck_assert(s->err == U9_OK || (number == 1 && s->err == U9_ABSENT)); /* [M-6] */
    ck_assert_uint_eq(s->count, count);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(s);
    session(log, "after", 1, 0);
    s = look(log);
    ck_assert_uint_eq(s->count, count + 1);
    ck_assert_uint_eq(s->records[count].segment, number + 1);
    ck_assert_uint_eq(s->records[count].ordinal, count);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}

/* [L-4] [L-2] A crash right after a segment was made, in a new log and in one with a torn tail. */
START_TEST(a_creation_cut_short_at_any_point_is_no_damage)
{
    for (uint64_t number = 1; number <= 2; number++) {
        size_t count = number == 1 ? 0 : 2;
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE), two = {0};
        forge_records(&one, "a", 2);
        forge_pad(&one);
        if (number == 2) two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
        if (number == 2) forge_records(&two, "b", 2);
        const forged_segment *f = number == 1 ? &one : &two;
        static const size_t kept[] = {0, 1, 8, 31, 32, 33, 48, 95, 96, 97, 150, 200, 300};
        for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
            for (unsigned zeros = 0; zeros < 2; zeros++) {
                if (zeros && kept[i] > 0 && kept[i] < 32) continue; /* half a header: H-4 */
                const char *log = at("log");
                uint8_t *bytes = calloc(1, 65536);
                memcpy(bytes, f->bytes, kept[i]);
                if (number == 2) forge_save(&one, log);
                else forge_save(f, log);
                write_file(segment_path(log, number), bytes, zeros ? 65536 : kept[i]);
                u9_log *r; /* nothing, or less than a header and a frame's: no log yet */
                u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log)};
                if (number == 1 && (kept[i] == 0 || (kept[i] < 96 && !zeros)))
                    ck_assert_int_eq(u9_log_open(log, &o, &r, NULL), U9_ABSENT);
                expect_creation_cut(log, number, count);
                remove_log(log);
                free(bytes);
            }
        forge_free(&one);
        if (number == 2) forge_free(&two);
    }
}
END_TEST

/* [L-4] Without its first sector, a segment that promised nothing is void; one that did is not. */
START_TEST(a_missing_first_sector_is_damage_only_where_something_was_promised)
{
    for (unsigned i = 0; i < 4; i++) { /* also where a frame behind it is torn */
        const char *log = at("log");
        bool promise = i % 2, torn = i / 2;
        forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&f, "a", 30);
        forge_pad(&f);
        uint64_t p = forge_records(&f, "b", 2);
        if (promise) forge_promise(&f);
        forge_pad(&f);
        memset(f.bytes, 0, SECTOR);
        if (torn) f.bytes[p + 70] ^= 1;
        forge_save(&f, log);
        seen *s = look(log);
        ck_assert_int_eq(s->err, promise ? U9_OK : U9_ABSENT); /* [M-6] */
        ck_assert_uint_eq(s->count, 0);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), promise);
        ck_assert_int_eq(s->report.verdict, promise ? U9_V_CORRUPT : U9_V_CLEAN);
        forget(s);
        u9_log *w;
        u9_fault fault = {0};
        u9_options o = writer_options();
        u9_err err = u9_log_open(log, &o, &w, &fault);
        ck_assert_int_eq(err, promise ? U9_CORRUPT : U9_OK); /* nothing is lost unseen */
        if (!promise) close_log(w);
        forge_free(&f);
        remove_log(log);
    }
}
END_TEST

/* At each byte of headers and trailers, and around the edges of frames and sectors; of bodies and fill at every seventeenth. */
static bool is_cut_at(size_t n, const seen_frame *frames, size_t count)
{
    size_t in_sector = n % SECTOR;
    bool cut = n % thorough(17, 1) == 0 || in_sector < 2 || in_sector + 2 > SECTOR || n < 100;
    for (size_t i = 0; i < count && !cut; i++)
        cut = (n + 4 > frames[i].offset && n < frames[i].offset + 68) ||
              (n + 100 > frames[i].end && n < frames[i].end + 4);
    return cut;
}

/* {F18} {F29} */
/* [S-4] [R-6] [L-4] After a clean close, every cut is seen, even where only zeros are gone, without a mark too. */
START_TEST(every_truncation_of_a_closed_log_is_seen)
{
    const char *log = at("log");
    session(log, "r", 8, 4);
    remove_mark(log);
    remains r = take(segment_path(log, 1));
    ck_assert(r.last.is_end);
    size_t records = 0, i = 0;
    for (size_t n = 0; n < r.size; n++) {
        if (!is_cut_at(n, r.frames, r.count)) continue;
        write_file(segment_path(log, 1), r.bytes, n);
        while (i < r.count && r.frames[i].end <= n) records += r.frames[i++].count;
        seen *s = look(log);
        /* [L-4] What is shorter than 96 bytes cannot be told from a file that was just made. */
        ck_assert_int_eq(s->err, n < 96 ? U9_ABSENT : U9_OK);
        ck_assert_uint_eq(s->count, records);
        ck_assert(!s->report.closed);
        if (n >= 96) ck_assert_int_ge(s->report.verdict, U9_V_TORN);
        forget(s);
    }
    drop(&r);
}
END_TEST

/* {F29} The same for a segment that another names: what is gone is known to the record. */
START_TEST(every_truncation_of_a_named_segment_is_corrupt)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < 4; i++) forge_records(&one, "a", 3);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    forge_end(&one, U9I_END_SEALING);
    forge_records(&two, "b", 2);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&two, log);
    seen_frame frames[8];
    size_t n_frames = list_frames(one.bytes, one.size, frames, 8), records = 0, i = 0;
    ck_assert_uint_eq(n_frames, 6);
    for (size_t n = 0; n < one.size; n++) {
        if (!is_cut_at(n, frames, n_frames)) continue;
        write_file(segment_path(log, 1), one.bytes, n);
        while (i < 5 && frames[i].end <= n) records += frames[i++].count;
        seen *s = look(log);
        ck_assert_uint_eq(s->count, records + 2);
        ck_assert_uint_eq(s->records[s->count - 1].ordinal, 13);
        if (n < frames[4].end) {
            ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_CUT), 1);
            ck_assert_uint_eq(s->report.lost, 12 - records);
        }
        /* Behind the named end, an unfinished seal is what a crash leaves. */
        if (n >= frames[4].end) ck_assert_int_le(s->report.verdict, U9_V_UNKNOWN);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE) > 0, n < frames[4].end);
        forget(s);
    }
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* An unclosed segment of five blocks, two records in each; each frame promises those before it. */
static forged_segment five_blocks(bool promised, uint64_t p[5])
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < 5; i++) {
        if (promised) f.next.durable = f.end;
        p[i] = forge_records(&f, "r", 2);
        forge_pad(&f);
    }
    return f;
}

/* {F05} {F06} A frame whose header is gone: CORRUPT where it was promised, else the end of the log. */
START_TEST(a_hole_is_corrupt_only_below_a_promise)
{
    uint64_t p[5];
    for (unsigned promised = 0; promised < 2; promised++)
        for (unsigned i = 0; i < 5; i++) {
            const char *log = at("log");
            forged_segment f = five_blocks(promised, p);
            memset(f.bytes + p[i], 0, 64);
            forge_save(&f, log);
            bool corrupt = promised && i < 4;
            seen *s = look(log);
            ck_assert_uint_eq(s->count, corrupt ? 8 : 2 * i);
            ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), corrupt);
            ck_assert_uint_eq(s->damage_count, corrupt ? 2 : 1);
            ck_assert_uint_eq(s->report.beyond, corrupt || i == 4 ? 0 : 8 - 2 * i);
            ck_assert_uint_eq(s->report.next_ordinal, corrupt ? 10 : 2 * i);
            if (corrupt) {
                ck_assert_int_eq(s->damages[0].reason, U9_R_BOUNDARY);
                ck_assert_uint_eq(s->damages[0].lost, 2);
                ck_assert_uint_eq(s->damages[0].ordinal, 2 * i);
                ck_assert_uint_eq(s->damages[0].end, p[i + 1]);
            }
            size_t unknown = count_damages(s, U9_V_UNKNOWN, U9_R_NONE); /* it stays so */
            forget(s);
            session(log, "after", 1, 0);
            s = look(log);
            ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_NONE), unknown);
            ck_assert_uint_eq(s->damage_count, corrupt + unknown);
            ck_assert_uint_eq(s->records[s->count - 1].ordinal, corrupt ? 10 : 2 * i);
            forget(s);
            forge_free(&f);
            remove_log(log);
        }
}
END_TEST

/* {F03} {F06} [R-3] [F-8] [F-9] Whole blocks of zeros, one after the other; none is taken for the end. */
START_TEST(a_promised_block_of_zeros_hides_nothing_behind_it)
{
    uint64_t p[5];
    for (unsigned i = 0; i < 5; i++)
        for (uint64_t from = 0; from < 2; from++) {
            const char *log = at("log");
            forged_segment f = five_blocks(true, p);
            /* The header stays; block 0 without the u9open, then the others. */
            uint64_t begin = i == 0 ? 32 : i * BLOCK, end = (i + 1) * BLOCK;
            if (from == 1)
                begin = p[i] - (i == 0 ? 32 : 128), end = p[i] + 32; /* over a boundary */
            memset(f.bytes + begin, 0, end - begin);
            forge_save(&f, log);
            seen *s = look(log);
            ck_assert_uint_eq(s->count, 8);
            if (i < 4) ck_assert_int_eq(s->damages[0].verdict, U9_V_CORRUPT);
            else ck_assert_int_eq(s->damages[0].verdict, from ? U9_V_UNKNOWN : U9_V_TORN);
            if (i < 4) ck_assert_uint_eq(s->damages[0].lost, 2);
            if (i < 4) ck_assert_uint_eq(s->records[7].ordinal, 9);
            forget(s);
            forge_free(&f);
            remove_log(log);
        }
}
END_TEST

/* [F-9] Only the u9open is gone: the frame behind it is no first frame. */
START_TEST(a_first_frame_of_zeros_is_damage)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_pad(&f);
    f.next.durable = f.end;
    forge_records(&f, "r", 2);
    forge_end(&f, U9I_END_CLOSING);
    memset(f.bytes + 32, 0, BLOCK - 32);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FOLLOW), 1); /* */
    ck_assert_uint_eq(s->damages[0].begin, 32);
    ck_assert_uint_eq(s->damages[0].end, BLOCK);
    ck_assert_uint_eq(s->damages[0].lost, 0);
    forget(s);
    forge_free(&f);
}
END_TEST

/* [R-2] [S-6] Behind a sealed segment, the u9open was durable: its loss is no crash. */
START_TEST(a_first_frame_behind_a_sealed_segment_was_promised)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 7);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    forge_end(&one, U9I_END_SEALING);
    memset(two.bytes + 32, 0, two.size - 32);
    forge_pad(&two);
    forge_save(&one, log);
    forge_save(&two, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 7);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_BOUNDARY), 1);
    ck_assert_uint_eq(s->damages[0].begin, 32);
    ck_assert_uint_eq(s->damages[0].end, 96);
    ck_assert_uint_eq(s->report.next_ordinal, 7);
    forget(s);
    /* [L-5] Ordinals go on behind those of the sealed one. */
    session(log, "after", 1, 0);
    s = look(log);
    ck_assert_uint_eq(s->count, 8);
    ck_assert_uint_eq(s->records[7].ordinal, 7);
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* {F16} A seal that a crash cut short, at each sector of it, is no loss; a new log end is not needed. */
START_TEST(an_unfinished_seal_is_at_most_torn)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 7);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    uint64_t end = one.end;
    forge_end(&one, U9I_END_SEALING);
    forge_records(&two, "b", 2);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&two, log);
    uint8_t *work = calloc(1, 65536);
    for (unsigned zeros = 0; zeros < 2; zeros++)
        for (uint64_t n = end; n <= one.size; n++) {
            if (n % (zeros ? SECTOR : n > one.end + 16 ? 16 : thorough(3, 1)) != 0 && n != one.size) continue;
            memset(work, 0, 65536);
            memcpy(work, one.bytes, n);
            write_file(segment_path(log, 1), work, zeros ? 65536 : n);
            seen *s = look(log);
            ck_assert_uint_eq(s->count, 9);
            ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
            ck_assert_uint_eq(count_damages(s, U9_V_TORN, U9_R_SEAL),
                              s->damage_count - count_damages(s, U9_V_UNKNOWN, U9_R_SEAL));
            if (zeros) ck_assert_int_le(s->report.verdict, U9_V_TORN);
            ck_assert_uint_eq(s->report.lost, 0);
            forget(s);
        }
    free(work);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* A named segment without its last frame, and one whose end has other numbers than named. */
START_TEST(a_named_end_that_is_not_reached_is_corrupt)
{
    for (unsigned way = 0; way < 3; way++) {
        const char *log = at("log");
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&one, "a", 3);
        uint64_t last = forge_records(&one, "b", 4);
        u9i_open_record open = forge_naming(2, &one, U9I_TAIL_TORN);
        if (way == 1) open.end.ordinal++;
        if (way == 2) open.end.chain[5] ^= 1;
        forged_segment two = forge_with_open(2, 1, &open);
        forge_records(&two, "c", 2);
        forge_end(&two, U9I_END_CLOSING);
        if (way == 0) one.bytes[last + 100] ^= 1;
        forge_save(&one, log);
        forge_save(&two, log);
        seen *s = look(log);
        ck_assert_uint_eq(s->damage_count, 1);
        ck_assert_int_eq(s->damages[0].verdict, U9_V_CORRUPT);
        ck_assert_int_eq(s->damages[0].reason, way == 0 ? U9_R_HASH : U9_R_FORK);
        ck_assert_uint_eq(s->damages[0].begin, way == 0 ? last : one.end);
        ck_assert_uint_eq(s->damages[0].end, one.end);
        ck_assert_uint_eq(s->damages[0].lost, way == 0 ? 4 : U9_NOWHERE); /* it went on otherwise */
        ck_assert_uint_eq(s->count, way == 0 ? 5 : 9);
        ck_assert_uint_eq(s->records[s->count - 1].ordinal, way == 1 ? 9 : 8);
        forget(s);
        forge_free(&one);
        forge_free(&two);
        remove_log(log);
    }
}
END_TEST

static u9_cursor *open_cursor(const char *log, u9_log **handle)
{
    u9_cursor *c;
    *handle = open_reader(log);
    ck_assert_int_eq(u9_cursor_open(*handle, NULL, &c, NULL), U9_OK);
    return c;
}

/*
 * {F27} What cannot be read for a moment costs nothing; what is wrong with more than the disk is an error of
 * that read, and then all of the log is there.
 */
START_TEST(a_read_error_never_ends_a_log)
{
    int error = _i == 0 ? EIO : ESTALE;
    unsigned errors = 0;
    u9_log *handle;
    u9_record r;
    u9_fault fault;
    uint64_t p[5];
    const char *log = at("log");
    forged_segment f = five_blocks(true, p);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    u9_cursor *c = open_cursor(log, &handle);
    sim_spoil(segment_path(log, 1), p[2], UINT64_MAX, error, 3);
    for (unsigned i = 0; i < 10;) {
        u9_err err = u9_cursor_next(c, &r);
        if (err == U9_OK) ck_assert_uint_eq(r.ordinal, i++);
        if (err == U9_OK) continue;
        ck_assert_int_eq(err, U9_IO);
        u9_cursor_fault(c, &fault);
        ck_assert_int_eq(fault.sys, ESTALE);
        ck_assert_uint_le(++errors, 3);
    }
    ck_assert_uint_eq(errors, error == EIO ? 0 : 3);
    ck_assert_uint_eq(sim_troubles(), 0);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    u9_cursor_close(c);
    close_log(handle);
    forge_free(&f);
}
END_TEST

/* A gap that is gone when it is read again was a write on its way. */
START_TEST(a_gap_counts_only_when_it_is_read_twice)
{
    u9_log *handle;
    u9_record r;
    uint64_t p[5];
    const char *log = at("log");
    forged_segment f = five_blocks(true, p);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    u9_cursor *c = open_cursor(log, &handle);
    sim_hide_for(segment_path(log, 1), p[2], UINT64_MAX, 1);
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, i);
    }
    if (!u9i_guard_ready()) ck_assert_uint_eq(sim_troubles(), 0); /* U9_GUARD: it is mapped */
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    u9_cursor_close(c);
    close_log(handle);
    forge_free(&f);
}
END_TEST

/* What was told of an opening: how many damages, and the first one's place. */
typedef struct opening {
    unsigned damages;
    uint64_t begin, end;
} opening;

static void note_opening(void *ctx, const u9_damage *d)
{
    opening *o = ctx;
    if (o->damages++ == 0) o->begin = d->begin, o->end = d->end;
}

static uint64_t reopen(const char *log, u9_verify verify, opening *told)
{
    u9_options o = writer_options();
    uint64_t ordinal;
    o.verify = verify;
    o.on_damage = note_opening;
    o.on_damage_ctx = told;
    u9_log *w = open_writer(log, &o);
    ordinal = append_text(w, "next");
    close_log(w);
    return ordinal;
}

/* Two go over a long segment, from both ends, where each frame may be proven once: they find what one finds. */
START_TEST(a_long_segment_is_proven_from_both_ends)
{
    static uint8_t bytes[60000];
    u9_options o = writer_options();
    o.segment_size = 64 << 20;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 500; i++) {
        for (unsigned k = 0; k < sizeof bytes; k += 4) bytes[k] = (uint8_t)(i * 7 + k / 4);
        append_bytes(w, bytes, sizeof bytes);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    append_bytes(w, bytes, sizeof bytes);
    crash(w, at("log"));
    for (unsigned at_mib = 0; at_mib < 28; at_mib += thorough(14, 3)) {
        char one[40], two[40];
        opening alone = {0}, together = {0};
        snprintf(one, sizeof one, "one.%u", at_mib);
        snprintf(two, sizeof two, "two.%u", at_mib);
        copy_log(at("log"), at(one));
        if (at_mib > 0) flip_bit(segment_path(at(one), 1), (uint64_t)at_mib << 20, 1);
        copy_log(at(one), at(two));
        uint64_t by_one = reopen(at(one), U9_VERIFY_ALWAYS, &alone);
        ck_assert_uint_eq(reopen(at(two), U9_VERIFY_FIRST, &together), by_one);
        ck_assert(by_one >= 500 || at_mib > 0); /* what nothing promises ends at its first damage */
        ck_assert_uint_eq(together.damages, alone.damages);
        ck_assert_uint_eq(together.begin, alone.begin);
        ck_assert_uint_eq(together.end, alone.end);
        ck_assert_uint_ge(alone.damages, 1);
        remove_log(at(one));
        remove_log(at(two));
    }
}
END_TEST

/* What a crashed log of keyed records is like. */
typedef enum keyed_case { IN_ORDER, KEYS_TWICE, OUT_OF_ORDER, ORDER_OF_FRAMES, COMPRESSED, IN_PARTS, DAMAGED, KEYED_CASES } keyed_case;

enum { KEYED = 320 }; /* records, of 60000 bytes */

static u9_key keyed_key(keyed_case what, unsigned i, uint8_t room[16])
{
    unsigned n = what == KEYS_TWICE ? i / 2 : (what == OUT_OF_ORDER && i == 41) || (what == ORDER_OF_FRAMES && i == 200) ? 7 : i;
    memset(room, 0, 16);
    u9i_set_be(room + 8, 8, 1000 + n);
    return (u9_key){.data = room, .size = 16};
}

/* Of short ones several stand in a frame. */
static unsigned count_keyed(keyed_case what)
{
    return what == OUT_OF_ORDER ? 6 * KEYED : KEYED;
}

static void make_keyed(keyed_case what)
{
    static uint8_t bytes[60000], value[60010];
    uint8_t room[16];
    u9_append *a;
    u9_builder b;
    u9_options o = writer_options();
    o.segment_size = 64 << 20;
    o.lz4 = what == COMPRESSED;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < count_keyed(what); i++) {
        u9_key key = keyed_key(what, i, room);
        for (unsigned k = 0; k < sizeof bytes; k += 4) bytes[k] = (uint8_t)(i * 7 + k / 4);
        u9_builder_init(&b, value, sizeof value);
        ck_assert_int_eq(u9_build_bytes(&b, bytes, what == OUT_OF_ORDER ? 9000 : sizeof bytes), U9_OK);
        if (what == IN_PARTS && i == 100) {
            ck_assert_int_eq(u9_append_begin(w, &key, 1, b.size, &a, NULL), U9_OK);
            ck_assert_int_eq(u9_append_write(a, value, b.size), U9_OK);
            ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
        } else ck_assert_int_eq(u9_log_append(w, &key, value, b.size, NULL), U9_OK);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    if (what == DAMAGED) append_many(w, "a promise", 3, 1); /* of all before */
    crash(w, at("log"));
    static uint64_t frames[2 * KEYED];
    if (what != DAMAGED) return;
    ck_assert_uint_gt(frame_offsets(segment_path(at("log"), 1), frames, 2 * KEYED), 310);
    flip_bit(segment_path(at("log"), 1), frames[300] + 1000, 1);
}

/* True if lookups need not go through the log's first segment. */
static bool is_outlined(u9_log *log)
{
    u9i_catalog *c;
    ck_assert_int_eq(u9i_source_catalog(&log->source, &c, NULL), U9_OK);
    u9i_outline *o = u9i_segment_outline(c->segments[0]);
    u9i_catalog_unref(c);
    u9i_outline_unref(o);
    return o != NULL;
}

/* Nothing happens to the records from there on for a while. */
static bool is_usual(unsigned i)
{
    return i < 25 || (i >= 55 && i < 90) || (i >= 115 && i < 150) || (i >= 210 && i < 290);
}

/* [R-16] [K-4] What was noted of a segment to find its end is what a walk over its records finds, whatever they are like. */
START_TEST(a_lookup_behind_a_crash_finds_by_what_was_noted_what_a_walk_finds)
{
    static uint8_t rooms[2][70000];
    u9_record r[2];
    u9_log *w[2];
    uint8_t room[16];
    keyed_case what = (keyed_case)(_i % KEYED_CASES);
    if (_i >= KEYED_CASES) ck_assert_int_eq(u9_guard_install(), U9_OK); /* from mappings, too */
    make_keyed(what);
    copy_log(at("log"), at("two"));
    for (unsigned k = 0; k < 2; k++) {
        u9_options o = writer_options();
        o.verify = k ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST; /* nothing is noted then */
        w[k] = open_writer(at(k ? "two" : "log"), &o);
    }
    ck_assert_int_eq(is_outlined(w[0]), what == IN_ORDER || what == KEYS_TWICE);
    ck_assert(!is_outlined(w[1]));
    for (unsigned i = 0; i < KEYED + 3; i += is_usual(i) ? thorough(17, 1) : 1) {
        u9_err err[2];
        u9_key key = keyed_key(what == KEYS_TWICE ? IN_ORDER : what, i, room);
        if (i == KEYED + 2) memset(room, 0, 16); /* below all */
        if (i == 160) ck_assert_uint_eq(append_text(w[0], "next"), append_text(w[1], "next")); /* it is told where the segment ends */
        for (unsigned k = 0; k < 2; k++) err[k] = u9_log_get(w[k], &key, rooms[k], sizeof rooms[k], &r[k], NULL);
        ck_assert_int_eq(err[0], err[1]);
        bool absent = i == KEYED + 2 || (what == KEYS_TWICE ? i >= KEYED / 2 : i >= count_keyed(what));
        if (what != DAMAGED) ck_assert_int_eq(err[0] == U9_ABSENT, absent);
        if (err[0] != U9_OK) continue;
        ck_assert_uint_eq(r[0].ordinal, r[1].ordinal);
        ck_assert_uint_eq(r[0].size, r[1].size);
        ck_assert_mem_eq(r[0].bytes, r[1].bytes, r[0].size);
        if (what == KEYS_TWICE) ck_assert_uint_eq(r[0].ordinal, 2 * i + 1);
    }
    for (unsigned k = 0; k < 2; k++) close_log(w[k]);
}
END_TEST

Suite *suite_recovery(void)
{
    Suite *suite = suite_create("recovery");
    TCase *tc = tcase_create("recovery");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_torn_tail_of_every_length_ends_the_log);
    tcase_add_test(tc, a_torn_tail_with_zeros_behind_it_ends_the_log);
    tcase_add_test(tc, a_tear_at_each_sector_may_have_anything_behind_it);
    tcase_add_test(tc, a_cut_behind_each_frame_leaves_an_unclosed_log);
    tcase_add_test(tc, sessions_torn_one_after_the_other_keep_their_prefixes);
    tcase_add_test(tc, a_torn_continued_segment_keeps_both_sessions);
    tcase_add_test(tc, a_torn_rolled_log_keeps_its_sealed_segments);
    tcase_add_test(tc, what_a_new_session_made_void_never_comes_back);
    tcase_add_test(tc, a_segment_that_was_void_stays_void_when_its_first_sector_comes_back);
    tcase_add_test(tc, recovery_changes_nothing_on_the_disk);
    tcase_add_test(tc, a_creation_cut_short_at_any_point_is_no_damage);
    tcase_add_test(tc, a_missing_first_sector_is_damage_only_where_something_was_promised);
    tcase_add_test(tc, every_truncation_of_a_closed_log_is_seen);
    tcase_add_test(tc, every_truncation_of_a_named_segment_is_corrupt);
    tcase_add_test(tc, a_hole_is_corrupt_only_below_a_promise);
    tcase_add_test(tc, a_promised_block_of_zeros_hides_nothing_behind_it);
    tcase_add_test(tc, a_first_frame_of_zeros_is_damage);
    tcase_add_test(tc, a_first_frame_behind_a_sealed_segment_was_promised);
    tcase_add_test(tc, an_unfinished_seal_is_at_most_torn);
    tcase_add_test(tc, a_named_end_that_is_not_reached_is_corrupt);
    tcase_add_loop_test(tc, a_read_error_never_ends_a_log, 0, 2);
    tcase_add_test(tc, a_gap_counts_only_when_it_is_read_twice);
    TCase *real = tcase_create("threads");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_set_timeout(real, 120);
    tcase_add_test(real, a_long_segment_is_proven_from_both_ends);
    tcase_add_loop_test(real, a_lookup_behind_a_crash_finds_by_what_was_noted_what_a_walk_finds, 0, 2 * KEYED_CASES);
    suite_add_tcase(suite, real);
    suite_add_tcase(suite, tc);
    return suite;
}
