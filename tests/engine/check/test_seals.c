/*
 * tests/engine/check/test_seals.c: what is damaged behind the data of a sealed segment, where no record stands: it is put
 * right, or made zero, and neither a record nor a line of the log goes with it. [R-8] [U-4] [U-5]
 */
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <u9/repair.h>

#include <stdlib.h>
#include <string.h>

/* Some segments of real sessions; number 2 is sealed, and holds an index. */
static void make_log(void)
{
    u9_options o = small_options();
    uint8_t bytes[8000] = {0};
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 30; i++) append_bytes(w, bytes, sizeof bytes);
    close_log(w);
    ck_assert_uint_gt(segments_in(at("log")), 2); /* how many more depends on where frames fall */
}

typedef struct harm {
    const char *name;
    int64_t from_end; /* where, from the file's end on: of what is a seal, 4096 bytes, or an index in front of it */
    unsigned bytes;   /* that are overwritten; 0: one bit is flipped */
    unsigned more;    /* bytes that are put behind the file */
    bool heals;       /* the search for a flipped bit finds it */
} harm;

static const harm harms[] = {
    {"a payload's bit", -4096 + 100, 0, 0, true},  {"a seal", -4096, 300, 0, false},
    {"bytes behind it", 0, 0, 700, false},         {"a block behind it", 0, 0, 9000, false},
};

static void do_harm(const harm *h)
{
    const char *path = segment_path(at("log"), 2);
    uint64_t size = file_size(path);
    uint8_t *junk = malloc(h->more + 300);
    memset(junk, 0x5a, h->more + 300);
    if (h->more > 0) put_bytes(path, size, junk, h->more);
    else if (h->bytes > 0) put_bytes(path, size - (uint64_t)-h->from_end, junk, h->bytes);
    else flip_bit(path, size - (uint64_t)-h->from_end, 2);
    free(junk);
}

static u9_err repair(int all, uint64_t heal_ms, u9_repair_report *report)
{
    u9_repair_options o = {.size = sizeof o, .io = io_of(at("log")), .all = all, .heal_ms = heal_ms};
    *report = (u9_repair_report){.size = sizeof *report};
    return u9_repair(at("log"), &o, report, NULL);
}

static void expect_bytes(const char *path, const uint8_t *want, size_t size)
{
    size_t now;
    uint8_t *bytes = read_file(path, &now);
    ck_assert_uint_eq(now, size);
    ck_assert_mem_eq(bytes, want, size);
    free(bytes);
}

START_TEST(what_is_damaged_behind_the_data_is_mended_or_made_zero)
{
    const harm *h = &harms[_i];
    u9_repair_report report;
    size_t size, hurt_size;
    make_log();
    uint8_t *whole = read_file(segment_path(at("log"), 2), &size);
    do_harm(h);
    uint8_t *hurt = read_file(segment_path(at("log"), 2), &hurt_size);
    seen *s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_SEAL), 1);
    ck_assert_uint_eq(s->damage_count, 1);
    forget(s);
    ck_assert_int_eq(repair(0, 0, &report), U9_OK);
    ck_assert_msg(report.steps > 0, "%s", h->name);
    s = look(at("log"));
    ck_assert_uint_eq(s->count, 30);
    ck_assert_int_lt(s->report.verdict, U9_V_UNKNOWN);
    forget(s);
    ck_assert_int_eq(u9_undo(at("log"), io_of(at("log")), 0, NULL, NULL), U9_OK);
    expect_bytes(segment_path(at("log"), 2), hurt, hurt_size);
    if (h->heals) {
        ck_assert_int_eq(repair(1, 60000, &report), U9_OK);
        ck_assert_uint_eq(report.steps, 1);
        expect_bytes(segment_path(at("log"), 2), whole, size);
    }
    free(whole);
    free(hurt);
}
END_TEST

/* [L-9] The log went on behind that end, once, and promised it: these records are no damage that may go. */
START_TEST(a_line_that_is_left_out_is_not_made_zero)
{
    u9_repair_report report;
    size_t size;
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "r", 4);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    forge_records(&two, "s", 2);
    forge_pad(&two);
    forge_end(&two, U9I_END_CLOSING);
    forge_records(&one, "fork", 3);
    forge_promise(&one);
    forge_save(&one, at("log"));
    forge_save(&two, at("log"));
    forge_free(&one);
    forge_free(&two);
    seen *s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), 1);
    ck_assert_uint_ge(count_damages(s, U9_V_UNKNOWN, U9_R_SEAL), 1);
    forget(s);
    uint8_t *before = read_file(segment_path(at("log"), 1), &size);
    ck_assert_int_eq(repair(1, 0, &report), U9_OK);
    expect_bytes(segment_path(at("log"), 1), before, size);
    free(before);
}
END_TEST

Suite *suite_seals(void)
{
    Suite *suite = suite_create("seals");
    TCase *t = tcase_create("seals");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_loop_test(t, what_is_damaged_behind_the_data_is_mended_or_made_zero, 0, sizeof harms / sizeof *harms);
    tcase_add_test(t, a_line_that_is_left_out_is_not_made_zero);
    suite_add_tcase(suite, t);
    return suite;
}
