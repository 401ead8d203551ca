/*
 * tests/engine/log/test_golden_logs.c: logs that earlier versions wrote stay readable and appendable.
 *
 * Each log below tests/golden/vN is held against what was written down of it when it was made
 * (tests/golden/README.md): through cursor and check, through the second reader, by key, as salvaged,
 * and with records appended to a copy. Nothing is ever written to the tree.
 */
#include "tests/engine/fixture.h"

#include "tests/engine/log/golden_want.h"
#include "tests/second_reader.h"
#include "tests/suites.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITTEN_BY_V1 = 58, LONG = 70000, APPENDED_MAX = 16 };

/* The log that a test looks at; its name stands in front of what failed. */
static want *golden;

static void take_golden(int i)
{
    golden = want_read((size_t)i);
}

/* Nothing but creations cut short: to readers that is no log yet, and a writer may make one there. [M-6] */
static bool is_no_log(void)
{
    bool blank = golden->count == 0 && golden->damage_count == golden->segments && golden->segments > 0;
    for (size_t i = 0; i < golden->damage_count; i++) blank &= golden->damages[i].reason == U9_R_BLANK;
    if (!blank || strstr(golden->path, ".u9")) return false;
    u9_log *log;
    ck_assert_int_eq(u9_log_open(golden->path, NULL, &log, NULL), U9_ABSENT);
    return true;
}

#define expect(what) ck_assert_msg(what, "%s: %s", golden->name, #what)
#define expect_record(what, ordinal)                                                               \
    ck_assert_msg(what, "%s: record %llu: %s", golden->name, (unsigned long long)(ordinal), #what)

static bool has_sha(const want_record *w, const uint8_t *bytes, size_t size)
{
    uint8_t sha[SHA256_DIGEST_LENGTH];
    char text[33];
    SHA256(bytes, size, sha);
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", sha[i]);
    return size == w->size && strcmp(text, w->sha) == 0;
}

static void expect_sha(const want_record *w, const uint8_t *bytes, size_t size)
{
    expect_record(has_sha(w, bytes, size), w->ordinal);
}

static bool same_segment(uint64_t got, uint64_t wanted)
{
    return got == wanted || (got == 0 && !golden->numbered);
}

static void expect_damage(const u9_damage *got, const u9_damage *w)
{
    bool countable = w->lost != 0 && w->lost != U9_NOWHERE;
    expect(got->verdict == w->verdict);
    expect(got->reason == w->reason);
    expect(same_segment(got->segment, w->segment));
    expect(got->begin == w->begin);
    expect(got->end == w->end);
    expect(got->ordinal == w->ordinal);
    expect(got->lost == w->lost);
    expect(!countable || !got->at_most == !w->at_most);
}

static void expect_damages(const u9_damage *got, size_t n, const u9_damage *w, size_t count)
{
    ck_assert_msg(n == count, "%s: %zu damages, not %zu", golden->name, n, count);
    for (size_t i = 0; i < n; i++) expect_damage(&got[i], &w[i]);
}

static u9_log *open_golden(void)
{
    return open_reader(golden->path);
}

/* Reading */

static void expect_values(const u9_record *r, const want_record *w)
{
    uint8_t bytes[4096];
    u9_builder b;
    size_t used, at = 0, size = strlen(w->values);
    if (strcmp(w->values, "...") == 0) return;
    u9_builder_init(&b, bytes, sizeof bytes);
    while (u9_value_parse(w->values + at, size - at, &used, &b, NULL) == U9_OK) at += used;
    expect_record(at == size, w->ordinal);
    expect_record(b.size == r->values_size, w->ordinal);
    expect_record(memcmp(bytes, r->values, b.size) == 0, w->ordinal);
}

/* `body` is where the record begins in its frame's body. */
static void expect_golden(const u9_record *r, const want_record *w, uint64_t body)
{
    char key[U9_KEY_SIZE_MAX + 1];
    expect_record(r->ordinal == w->ordinal, w->ordinal);
    expect_record(same_segment(r->segment, w->segment), w->ordinal);
    expect_record(r->frame == w->frame, w->ordinal);
    expect_record(r->at == (w->frame / 16 << 24 | body), w->ordinal); /* [B-6] */
    expect_record(r->time_us >= golden->first_us && r->time_us <= golden->last_us, w->ordinal);
    expect_sha(w, r->bytes, r->size);
    expect_values(r, w);
    ck_assert_int_eq(u9_key_format(golden->kind, r->key.data, r->key.size, key, NULL), U9_OK);
    expect_record(strcmp(key, w->key) == 0, w->ordinal);
}

/* What costs records is told where it stands; the others are u9_check's to tell. */
static void expect_cursor_damage(const u9_damage *got, size_t *next)
{
    while (*next < golden->damage_count && golden->damages[*next].lost == 0 &&
           golden->damages[*next].begin != got->begin)
        ++*next;
    expect(*next < golden->damage_count);
    expect_damage(got, &golden->damages[(*next)++]);
}

START_TEST(every_golden_log_reads_as_it_was_written)
{
    take_golden(_i);
    if (is_no_log()) {
        want_free(golden);
        return;
    }
    u9_log *log = open_golden();
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    size_t n = 0, told = 0;
    uint64_t body = 0, frame = 0, segment = 0, time_us = 0;
    if (golden->kind[0] != '-') ck_assert_str_eq(u9_log_kind(log), golden->kind);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &cursor, NULL), U9_OK);
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_CORRUPT) {
        if (err == U9_CORRUPT) {
            expect_cursor_damage(u9_cursor_damage(cursor), &told);
            continue;
        }
        expect(n < golden->count);
        body = frame == r.frame && segment == r.segment ? body : 0;
        frame = r.frame;
        segment = r.segment;
        expect_golden(&r, &golden->records[n++], body);
        body += r.size;
        expect(r.time_us >= time_us); /* [F-4] */
        time_us = r.time_us;
    }
    ck_assert_int_eq(err, U9_END);
    expect(n == golden->count);
    for (; told < golden->damage_count; told++)
        expect(golden->damages[told].verdict != U9_V_CORRUPT || golden->damages[told].lost == 0);
    u9_cursor_close(cursor);
    close_log(log);
    want_free(golden);
}
END_TEST

typedef struct damages {
    u9_damage list[WANT_DAMAGES];
    size_t count;
} damages;

static void note_damage(void *ctx, const u9_damage *damage)
{
    damages *d = ctx;
    ck_assert_uint_lt(d->count, WANT_DAMAGES);
    d->list[d->count++] = *damage;
}

START_TEST(a_check_of_every_golden_log_tells_what_it_told)
{
    take_golden(_i);
    if (is_no_log()) {
        want_free(golden);
        return;
    }
    damages told = {.count = 0};
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .on_damage = note_damage, .ctx = &told};
    ck_assert_int_eq(u9_check(golden->path, &o, &r, NULL), U9_OK);
    expect(r.verdict == golden->verdict);
    expect(r.segments == golden->segments);
    expect(r.frames == golden->frames);
    expect(r.lz4_frames == golden->lz4);
    expect(r.mask_frames == golden->masked);
    expect(r.records == golden->count);
    expect(r.beyond == golden->beyond);
    expect(r.lost == golden->lost);
    expect(r.first_time_us == golden->first_us);
    expect(r.last_time_us == golden->last_us);
    expect(golden->next == U9_NOWHERE || r.next_ordinal == golden->next);
    expect(golden->end == SECOND_SEALED || !r.closed == (golden->end == SECOND_OPEN));
    expect(golden->kind[0] == '-' || strcmp(r.kind, golden->kind) == 0);
    expect_damages(told.list, told.count, golden->damages, golden->damage_count);
    want_free(golden);
}
END_TEST

START_TEST(the_second_reader_agrees_on_every_golden_log)
{
    take_golden(_i);
    second_log log;
    ck_assert_int_eq(second_read(golden->path, &log), 0);
    expect(log.n_records == golden->count);
    for (size_t i = 0; i < log.n_records; i++) {
        const second_record *r = &log.records[i];
        const want_record *w = &golden->records[i];
        expect_record(r->ordinal == w->ordinal, w->ordinal);
        expect_record(r->segment == w->segment, w->ordinal);
        expect_record(r->frame == w->frame, w->ordinal);
        expect_sha(w, r->bytes, r->size);
    }
    expect(log.n_damages == golden->damage_count);
    for (size_t i = 0; i < log.n_damages; i++) {
        const second_damage *d = &log.damages[i];
        expect_damage(&(u9_damage){.verdict = d->verdict, .reason = d->reason,
                                   .segment = d->segment, .begin = d->begin, .end = d->end,
                                   .ordinal = d->ordinal, .lost = d->lost, .at_most = d->at_most},
                      &golden->damages[i]);
    }
    expect(log.end == golden->end);
    expect(log.end_segment == golden->end_segment);
    expect(log.end_offset == golden->end_offset);
    expect(log.beyond == golden->beyond);
    expect(log.next_ordinal == (golden->next == U9_NOWHERE ? 0 : golden->next));
    second_free(&log);
    want_free(golden);
}
END_TEST

/* Finding */

/* The newest record with the key of record i. */
static const want_record *newest(size_t i)
{
    const want_record *w = &golden->records[i];
    for (size_t k = i; k < golden->count; k++)
        if (strcmp(golden->records[k].key, w->key) == 0) w = &golden->records[k];
    return w;
}

/* Records were lost that may be newer than this one: only what is known to stand in front of it is not. */
static bool newer_are_lost(const want_record *w)
{
    bool lost = false;
    for (size_t k = 0; k < golden->damage_count; k++) {
        const u9_damage *d = &golden->damages[k];
        lost |= d->verdict >= U9_V_UNKNOWN && d->lost > 0 && (d->ordinal == U9_NOWHERE || d->ordinal > w->ordinal);
    }
    return lost;
}

static void find(u9_log *log, size_t i)
{
    const want_record *w = newest(i);
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key key = {raw, 0};
    u9_record r;
    ck_assert_int_eq(
        u9_key_parse(golden->kind, w->key, strlen(w->key), raw, &key.size, NULL), U9_OK);
    uint8_t *room = malloc(w->size);
    u9_err err = u9_log_get(log, &key, room, w->size, &r, NULL);
    expect_record(err == U9_OK || (err == U9_CORRUPT && newer_are_lost(w)), w->ordinal);
    expect_record(r.ordinal == w->ordinal, w->ordinal);
    expect_sha(w, r.bytes, r.size);
    free(room);
}

START_TEST(records_of_every_golden_log_are_found_by_key)
{
    take_golden(_i);
    if (is_no_log()) {
        want_free(golden);
        return;
    }
    u9_log *log = open_golden();
    if (golden->count > 0) {
        find(log, 0);
        find(log, golden->count / 2);
        find(log, golden->count - 1);
    }
    close_log(log);
    want_free(golden);
}
END_TEST

/* A key of this kind that is in no golden log; size 0: there is only one key, which is there. */
static u9_key absent_key(const char *kind)
{
    static const uint8_t raw[16] = {0x80, 1, 2, 3}, raw8[8] = {0x08, 1, 2, 3};
    if (strcmp(kind, "tid") == 0 || strcmp(kind, "uid8") == 0) return (u9_key){raw8, sizeof raw8};
    if (strcmp(kind, "rkey") == 0) return (u9_key){"absent", 6};
    if (strcmp(kind, "rkey:tid") == 0) return (u9_key){"3jui7kd54zh2y", 13};
    if (strncmp(kind, "rkey:", 5) == 0) return (u9_key){"absent", 0};
    if (strncmp(kind, "gid:", 4) == 0) {
        static uint8_t packed[U9_GID_SIZE];
        u9_gid gid;
        u9_gid_type type = kind[4] == 'v' ? U9_GID_VOLUME : kind[4] == 'l' ? U9_GID_LOG : U9_GID_SEGMENT;
        expect(u9_gid_floor(type, 1, 0, &gid) == U9_OK && u9_gid_pack(&gid, 0, packed) == U9_OK);
        return (u9_key){packed, sizeof packed};
    }
    return (u9_key){raw, sizeof raw};
}

/* Where records were lost, the one asked for may have been among them. */
START_TEST(a_key_that_no_golden_log_has_is_absent_unless_records_were_lost)
{
    take_golden(_i);
    if (is_no_log()) {
        want_free(golden);
        return;
    }
    u9_log *log = open_golden();
    uint8_t room[16];
    u9_key key = absent_key(u9_log_kind(log));
    u9_record r;
    bool lost = false;
    for (size_t i = 0; i < golden->damage_count; i++)
        lost |= golden->damages[i].lost != 0;
    u9_err err = u9_log_get(log, &key, room, sizeof room, &r, NULL);
    expect(err == (key.size == 0 ? U9_ARG : lost ? U9_CORRUPT : U9_ABSENT)); /* [L-6] */
    close_log(log);
    want_free(golden);
}
END_TEST

START_TEST(every_golden_log_is_read_from_an_ordinal_on)
{
    take_golden(_i);
    if (is_no_log()) {
        want_free(golden);
        return;
    }
    u9_log *log = open_golden();
    for (size_t i = 0; i < golden->count; i += 1 + golden->count / 8) {
        const want_record *w = &golden->records[i];
        u9_range range = {.size = sizeof range, .from = w->ordinal};
        u9_cursor *cursor;
        u9_record r;
        u9_err err;
        ck_assert_int_eq(u9_cursor_open(log, &range, &cursor, NULL), U9_OK);
        while ((err = u9_cursor_next(cursor, &r)) == U9_CORRUPT) continue;
        ck_assert_int_eq(err, U9_OK);
        expect_record(r.ordinal == w->ordinal, w->ordinal);
        expect_sha(w, r.bytes, r.size);
        u9_cursor_close(cursor);
    }
    close_log(log);
    want_free(golden);
}
END_TEST

START_TEST(reading_a_golden_log_changes_nothing)
{
    uint8_t before[16], after[16];
    take_golden(_i);
    picture(golden->folder, before);
    forget(look(golden->path));
    picture(golden->folder, after);
    expect(memcmp(before, after, sizeof before) == 0);
    want_free(golden);
}
END_TEST

START_TEST(what_is_whole_in_a_golden_log_is_salvaged)
{
    take_golden(_i);
    if (is_no_log()) {
        want_free(golden);
        return;
    }
    u9_report r = {.size = sizeof r};
    uint64_t salvaged = 0;
    ck_assert_int_eq(u9_salvage(golden->path, at("saved"), NULL, &r, &salvaged, NULL), U9_OK);
    expect(salvaged >= golden->salvaged); /* later versions put together more, never less */
    if (salvaged > 0) {
        seen *s = look(at("saved"));
        expect(s->report.verdict == U9_V_CLEAN && s->report.closed);
        expect(s->count == salvaged && s->count >= golden->count);
        expect(strcmp(s->report.kind, golden->kind) == 0);
        size_t more = (size_t)(salvaged - golden->salvaged); /* records between those that the version then saved */
        for (size_t i = 0, k = 0; i < golden->count; i++, k++) {
            for (; more > 0 && !has_sha(&golden->records[i], s->records[k].bytes, s->records[k].size); more--) k++;
            expect_sha(&golden->records[i], s->records[k].bytes, s->records[k].size);
        }
        forget(s);
    }
    want_free(golden);
}
END_TEST

/* Appending */

/* What was appended to the copy. */
static struct appended {
    char *text;
    u9_place place;
} appended[APPENDED_MAX];
static size_t appended_count;

/* Makes the next record to be appended: its value, and its key where none is made. */
static u9_entry next_entry(size_t size, uint8_t *key, uint8_t *value)
{
    ck_assert_uint_lt(appended_count, APPENDED_MAX);
    struct appended *a = &appended[appended_count++];
    u9_entry e = {.values = value};
    u9_builder b;
    a->text = calloc(1, size + 100);
    int n = snprintf(a->text, 100, "appended.%zu", appended_count);
    if (!golden->fresh) e.key = (u9_key){memcpy(key, a->text, (size_t)n), (size_t)n};
    memset(a->text + n, '.', size);
    u9_builder_init(&b, value, LONG + 200);
    ck_assert_int_eq(u9_build_utf8(&b, a->text, strlen(a->text)), U9_OK);
    e.size = b.size;
    return e;
}

/* Appends a batch of `count` records, of which the first has `size` bytes more. */
static void append_batch(u9_log *log, size_t count, size_t size)
{
    static uint8_t keys[3][100], values[3][LONG + 200];
    u9_entry entries[3] = {{.size = 0}};
    u9_place places[3];
    size_t before = appended_count;
    ck_assert_uint_le(count, 3);
    for (size_t i = 0; i < count; i++)
        entries[i] = next_entry(i == 0 ? size : 0, keys[i], values[i]);
    ck_assert_int_eq(u9_log_append_batch(log, entries, count, places), U9_OK);
    for (size_t i = 0; i < count; i++) appended[before + i].place = places[i];
}

/* Three sessions: as it comes; compressed; and one that goes over to a new segment. */
static void append_sessions(const char *copy)
{
    for (int i = 0; i < 3; i++) {
        u9_options o = {.size = sizeof o, .mode = golden->count ? U9_WRITE : U9_CREATE, .lz4 = i == 1,
                        .segment_size = i == 2 ? 65536 : 0, .generator_given = 1};
        u9_log *log = open_writer(copy, &o);
        append_batch(log, 1, i > 0 ? LONG : 0);
        ck_assert_int_eq(u9_log_sync(log), U9_OK);
        append_batch(log, 3, 0);
        close_log(log);
    }
}

/* Fresh keys are new, and above those made before them; eight-byte ones are in no order, literal ones are
 * what they are. [L-7] [I-10] */
static void expect_fresh_keys(void)
{
    const char *kind = golden->kind[0] == '-' ? "muid" : golden->kind; /* it had no record */
    if (strncmp(kind, "rkey:literal:", 13) == 0) return;
    for (size_t i = 0; i < appended_count; i++) {
        const u9_place *p = &appended[i].place;
        char key[U9_KEY_SIZE_MAX + 1];
        ck_assert_int_eq(u9_key_format(kind, p->key, p->key_size, key, NULL), U9_OK);
        for (size_t k = 0; k < golden->count; k++)
            expect_record(strcmp(golden->records[k].key, key) != 0, p->ordinal);
        for (size_t k = 0; k < i; k++) {
            int order = memcmp(p->key, appended[k].place.key, p->key_size);
            expect_record(strcmp(kind, "uid8") == 0 ? order != 0 : order > 0, p->ordinal);
        }
    }
}

static void expect_appended(const char *copy)
{
    seen *s = look(copy);
    expect(s->report.verdict == golden->after);
    expect(s->report.closed);
    expect_damages(s->damages, s->damage_count, golden->afters, golden->after_count);
    expect(s->count == golden->count + appended_count);
    for (size_t i = 0; i < golden->count; i++) {
        const want_record *w = &golden->records[i];
        expect_record(s->records[i].ordinal == w->ordinal, w->ordinal);
        expect_record(s->records[i].segment == w->segment, w->ordinal);
        expect_record(s->records[i].frame == w->frame, w->ordinal);
        expect_sha(w, s->records[i].bytes, s->records[i].size);
    }
    for (size_t i = 0; i < appended_count; i++) {
        const seen_record *r = &s->records[golden->count + i];
        expect_record(r->ordinal == golden->goes_on + i, r->ordinal);
        expect_record(r->ordinal == appended[i].place.ordinal, r->ordinal);
        expect_record(strcmp(r->text, appended[i].text) == 0, r->ordinal);
    }
    forget(s);
}

/* What was appended last is found by its key; so is what was there before, unless its key came again. */
static void expect_found(const char *copy)
{
    u9_log *log = open_reader(copy);
    const struct appended *last = &appended[appended_count - 1];
    uint8_t room[200];
    u9_record r;
    u9_key key = {last->place.key, last->place.key_size};
    ck_assert_int_eq(u9_log_get(log, &key, room, sizeof room, &r, NULL), U9_OK);
    expect_record(r.ordinal == last->place.ordinal, last->place.ordinal);
    if (golden->count > 0 && strncmp(golden->kind, "rkey:literal:", 13) != 0)
        find(log, golden->count / 2);
    close_log(log);
}

START_TEST(every_golden_log_goes_on_where_it_ended)
{
    char copy[4000];
    take_golden(_i);
    copy_log(golden->folder, at("copy"));
    snprintf(copy, sizeof copy, "%s%s%s", at("copy"), golden->file ? "/" : "",
             golden->file ? golden->file : "");
    if (golden->refused != U9_OK) {
        uint8_t before[16], after[16];
        u9_options o = {.size = sizeof o, .mode = U9_WRITE};
        u9_log *log;
        picture(at("copy"), before);
        expect(u9_log_open(copy, &o, &log, NULL) == golden->refused);
        picture(at("copy"), after);
        expect(memcmp(before, after, sizeof before) == 0);
    } else {
        append_sessions(copy);
        if (golden->fresh) expect_fresh_keys();
        expect_appended(copy);
        expect_found(copy);
    }
    for (size_t i = 0; i < appended_count; i++) free(appended[i].text);
    appended_count = 0;
    want_free(golden);
}
END_TEST

START_TEST(no_golden_log_has_gone_and_none_is_without_expectation)
{
    char folder[100] = "";
    size_t first = 0;
    for (size_t i = 0; i < want_count(); i++)
        if (strncmp(want_name(i), "v1/", 3) == 0) first++;
    ck_assert_uint_ge(first, WRITTEN_BY_V1);
    ck_assert_msg(!want_unclaimed(folder), "nothing is expected of tests/golden/%s", folder);
}
END_TEST

Suite *suite_golden_logs(void)
{
    Suite *suite = suite_create("golden_logs");
    TCase *tc = tcase_create("golden_logs");
    int n = (int)want_count();
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, no_golden_log_has_gone_and_none_is_without_expectation);
    tcase_add_loop_test(tc, every_golden_log_reads_as_it_was_written, 0, n);
    tcase_add_loop_test(tc, a_check_of_every_golden_log_tells_what_it_told, 0, n);
    tcase_add_loop_test(tc, the_second_reader_agrees_on_every_golden_log, 0, n);
    tcase_add_loop_test(tc, records_of_every_golden_log_are_found_by_key, 0, n);
    tcase_add_loop_test(tc, a_key_that_no_golden_log_has_is_absent_unless_records_were_lost, 0, n);
    tcase_add_loop_test(tc, every_golden_log_is_read_from_an_ordinal_on, 0, n);
    tcase_add_loop_test(tc, reading_a_golden_log_changes_nothing, 0, n);
    tcase_add_loop_test(tc, what_is_whole_in_a_golden_log_is_salvaged, 0, n);
    tcase_add_loop_test(tc, every_golden_log_goes_on_where_it_ended, 0, n);
    suite_add_tcase(suite, tc);
    return suite;
}
