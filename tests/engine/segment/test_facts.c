/*
 * tests/engine/segment/test_facts.c: what is known of a segment's file: when that is the same as before, what its name
 * says, what of it can be mapped; and which errors of a disk are of some bytes alone.
 */
#include "engine/segment/mapping.h"
#include "engine/segment/probe.h"
#include "engine/segment/window.h"
#include "format/base/limits.h"
#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <u9/cursor.h>

#include <errno.h>
#include <string.h>

/* Everything that counts, a byte or a number each. */
/* clang-format off */
#define FIELDS(X) \
    X(size) X(header) X(mends) X(mends_frames) X(secret.bytes[15]) X(secret.boundary[15]) X(secret.lost) X(barren) \
    X(boundaries) X(blank) X(plain) X(stray) X(spared) X(has_open) X(has_trim) X(has_end) X(has_spare) X(unread) \
    X(unread_at) X(kind[0]) X(number) X(first) X(newest) X(is_void) X(called) X(misnamed) X(sealed_before) X(named) \
    X(at.offset) X(at.ordinal) X(at.chain[15]) X(tail) X(wrong) X(fork.begin) X(fork.end) X(fork.lost) X(marked) \
    X(mark.offset) X(mark.ordinal) X(mark.chain[15])
/* clang-format on */

/* A segment whose facts are the same keeps what was found in it: so nothing may be overlooked. */
START_TEST(facts_are_the_same_only_if_each_of_them_is)
{
    static u9i_facts a, b;
    ck_assert(u9i_facts_same(&a, &b));
#define CHANGE(field)                                \
    b.field = 1;                                     \
    MUST_SAY(!u9i_facts_same(&a, &b), "%s", #field); \
    MUST_SAY(!u9i_facts_same(&b, &a), "%s", #field); \
    a.field = 1;                                     \
    MUST_SAY(u9i_facts_same(&a, &b), "%s", #field);
    FIELDS(CHANGE)
}
END_TEST

/* [L-2] [K-4] */
START_TEST(a_segments_name_is_its_number_and_its_index_has_the_same)
{
    static const char *const others[] = {
        "000000000000000g.u9",  "000000000000000A.u9", "0000000000000001.ux", "1.u9",
        "0000000000000001.u9x", "00000000\0",          "000000000000000 .u9"};
    char name[U9I_INDEX_NAME];
    uint64_t number = 7;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        MUST_SAY(!u9i_segment_named(others[i], &number) && u9i_segment_number(others[i]) == 0, "%s",
                 others[i]);
    ck_assert_uint_eq(number, 7);
    ck_assert_uint_eq(u9i_segment_number("00000000000000fe.u9"), 0xfe);
    u9i_index_name("00000000000000fe.u9", name);
    ck_assert_str_eq(name, "00000000000000fe.u9x");
    u9i_index_name("any.log", name);
    ck_assert_str_eq(name, "any.log.u9x");
    u9i_index_name(".u9", name);
    ck_assert_str_eq(name, ".u9.u9x");
}
END_TEST

/* */
START_TEST(a_file_that_is_not_as_large_as_it_was_is_not_mapped)
{
    u9i_dir *dir;
    u9i_file *file;
    char path[3400];
    static const uint8_t bytes[100];
    write_file(at("file"), bytes, sizeof bytes);
    strcpy(path, at(""));
    ck_assert_int_eq(u9i_dir_open(sim_env(), path, false, &dir), 0);
    ck_assert_int_eq(u9i_file_open(dir, "file", U9I_OPEN_READ, &file), 0);
    ck_assert_ptr_null(u9i_mapping_new(file, 0, true));
    ck_assert_ptr_null(u9i_mapping_new(file, 99, true));
    ck_assert_ptr_null(u9i_mapping_new(file, UINT64_MAX, true));
    sim_fail(SIM_SIZE, 1, EIO, false);
    ck_assert_ptr_null(u9i_mapping_new(file, 100, true));
    sim_fail(SIM_MAP, 1, ENOMEM, false);
    ck_assert_ptr_null(u9i_mapping_new(file, 100, true));
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* Other blocks may be read where one has such an error; of what else goes wrong nothing is known. {F69} */
START_TEST(of_some_errors_only_the_bytes_that_cannot_be_read_are_lost)
{
    static const int errors[] = {EIO,       ENODATA, EBADMSG, EUCLEAN, EILSEQ,
                                 EREMOTEIO, ENXIO,   ENOMEM,  ESTALE};
    enum { OF_BYTES = 6, RECORDS = 60 };
    char path[3400];
    uint8_t value[3000] = {1};
    u9_options o = writer_options();
    u9_log *log = open_writer(at("log"), &o);
    for (unsigned i = 0; i < RECORDS; i++) {
        (void)append_bytes(log, value, sizeof value);
        ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
    close_log(log);
    strcpy(path, segment_path(at("log"), 1));
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
        u9_cursor *c;
        u9_record r;
        u9_fault fault;
        u9_err err;
        unsigned shown = 0, lost = 0;
        sim_spoil(path, 81920, 86016, errors[i], 0);
        log = open_reader(at("log"));
        ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
        while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT)
            shown += err == U9_OK, lost += err != U9_OK;
        u9_cursor_fault(c, &fault);
        if (i < OF_BYTES) {
            ck_assert_int_eq(err, U9_END);
            ck_assert_uint_eq(lost, 1);
            ck_assert_uint_ge(shown, RECORDS - 3);
            ck_assert_uint_lt(shown, RECORDS);
        } else {
            ck_assert_int_eq(err, errors[i] == ENOMEM ? U9_NOMEM : U9_IO);
            ck_assert_int_eq(fault.sys, errors[i]);
        }
        u9_cursor_close(c);
        close_log(log);
        sim_clear();
    }
}
END_TEST

Suite *suite_facts(void)
{
    Suite *s = suite_create("facts");
    TCase *t = tcase_create("facts");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, facts_are_the_same_only_if_each_of_them_is);
    tcase_add_test(t, a_segments_name_is_its_number_and_its_index_has_the_same);
    tcase_add_test(t, a_file_that_is_not_as_large_as_it_was_is_not_mapped);
    tcase_add_test(t, of_some_errors_only_the_bytes_that_cannot_be_read_are_lost);
    suite_add_tcase(s, t);
    return s;
}
