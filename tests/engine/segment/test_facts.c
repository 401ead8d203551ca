/*
 * tests/engine/segment/test_facts.c: what is known of a segment's file: when that is the same as before, what its name
 * says, what of it can be mapped; and which errors of a disk are of some bytes alone.
 */
#include "engine/log/handle.h"
#include "engine/segment/boundary.h"
#include "engine/segment/iterator.h"
#include "engine/segment/mapping.h"
#include "engine/segment/mended_file.h"
#include "engine/segment/probe.h"
#include "engine/segment/window.h"
#include "format/base/limits.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
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
    X(boundaries) X(blank) X(plain) X(stray) X(no_file) X(spared) X(has_open) X(has_trim) X(has_end) X(has_spare) X(unread) \
    X(unread_at) X(kind[0]) X(number) X(first) X(newest) X(is_void) X(called) X(misnamed) X(sealed_before) X(named) \
    X(at.offset) X(at.ordinal) X(at.chain[15]) X(tail) X(wrong) X(fork.begin) X(fork.end) X(fork.lost) X(fork.ordinal) \
    X(marked) X(mark.offset) X(mark.ordinal) X(mark.chain[15])
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
    ck_assert_ptr_null(u9i_mapping_new(file, 100, true)); /* nobody watches it: no guard is installed */
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

/* Frames back to back whose secret nobody knows, each with one of its own. */
typedef struct unknown {
    uint8_t bytes[8192];
    size_t size;
    uint64_t previous;
} unknown;

enum { BODY = 30 };

/* Returns where it stands. What is changed in its trailer is so in the hash, too. */
static uint64_t put_unknown(unknown *u, uint8_t who, const u9i_trailer *change)
{
    u9i_secret secret;
    uint8_t bytes[U9I_SECRET_SIZE], sha[U9I_HASH_SIZE];
    uint64_t at = u->size ? u->size : U9I_DISK_HEADER_SIZE;
    memset(bytes, who, sizeof bytes);
    ck_assert(u9i_secret_init(&secret, bytes));
    u9i_trailer t = {.offset = at + change->offset, .previous = u->previous + change->previous, .durable = change->durable};
    memset(u->bytes + at + U9I_FRAME_HEADER_SIZE, 'b', BODY);
    ck_assert_int_eq(u9i_frame_seal(&secret, &t, u->bytes + at, BODY, sha), U9_OK);
    u->previous = at;
    u->size = at + u9i_frame_size(BODY);
    return at;
}

/* Looks for boundaries in it. `*is`: what the frame at p is by itself. */
static u9i_boundaries search_unknown(const unknown *u, uint64_t p, u9_err *is)
{
    u9i_dir *dir;
    u9i_file *file;
    u9i_windows windows;
    u9i_window *w;
    u9i_unsigned f;
    u9i_boundaries found;
    static const u9i_secret none;
    char path[3400];
    uint64_t left = UINT64_MAX;
    write_file(at("file"), u->bytes, u->size);
    strcpy(path, at(""));
    ck_assert_int_eq(u9i_dir_open(sim_env(), path, false, &dir), 0);
    ck_assert_int_eq(u9i_file_open(dir, "file", U9I_OPEN_READ, &file), 0);
    u9i_windows_init(&windows, sim_env());
    ck_assert_int_eq(u9i_windows_lend(&windows, &w), U9_OK);
    u9i_window_turn(w, file, &none);
    *is = u9i_unsigned_at(w, p, u->size, &left, &f);
    ck_assert_int_eq(u9i_boundary_search(w, u->size, &found), U9_OK);
    u9i_windows_return(&windows, w);
    u9i_windows_release(&windows);
    u9i_file_close(file);
    u9i_dir_close(dir);
    return found;
}

START_TEST(a_boundary_is_believed_if_it_is_the_only_one_that_is_found) /* [G-2] */
{
    static const u9i_trailer as_it_is = {.offset = 0};
    u9_err is;
    for (unsigned others = 0; others <= U9I_BOUNDARIES_MAX; others++) {
        unknown u = {.size = 0};
        for (unsigned i = 0; i <= others; i++) (void)put_unknown(&u, (uint8_t)(i + 1), &as_it_is);
        (void)put_unknown(&u, 1, &as_it_is);
        u9i_boundaries found = search_unknown(&u, U9I_DISK_HEADER_SIZE, &is);
        ck_assert_int_eq(is, U9_OK);
        ck_assert_uint_eq(found.count, others < U9I_BOUNDARIES_MAX ? others + 1 : U9I_BOUNDARIES_MAX);
        ck_assert(found.given_up == (others == U9I_BOUNDARIES_MAX) && !found.contested);
        ck_assert((u9i_boundary_elected(&found) != NULL) == (others == 0));
        found.given_up = true; /* there may be another */
        ck_assert_ptr_null(u9i_boundary_elected(&found));
    }
}
END_TEST

START_TEST(a_frame_without_its_secret_names_its_place_and_those_before_it) /* [G-2] */
{
    static const struct {
        u9i_trailer change;
        unsigned nth;
    } lies[] = {{{.offset = 16}, 1}, {{.durable = 4096}, 1}, {{.previous = 4096}, 1}, {{.previous = (uint64_t)-16}, 1},
                {{.previous = 32}, 0}};
    static const u9i_trailer as_it_is = {.offset = 0};
    u9_err is;
    for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
        unknown u = {.size = 0};
        uint64_t at = U9I_DISK_HEADER_SIZE;
        for (unsigned n = 0; n <= lies[i].nth; n++) at = put_unknown(&u, 1, n == lies[i].nth ? &lies[i].change : &as_it_is);
        u9i_boundaries found = search_unknown(&u, at, &is);
        ck_assert_msg(is == U9_CORRUPT && found.count == lies[i].nth, "%u: %s, %u", i, u9_err_name(is), found.count);
    }
    unknown u = {.size = 0};
    uint64_t at = put_unknown(&u, 1, &as_it_is);
    u.bytes[at + U9I_FRAME_HEADER_SIZE] ^= 1; /* its hash is another */
    ck_assert_uint_eq(search_unknown(&u, at, &is).count, 0);
    ck_assert_int_eq(is, U9_TORN);
    u.bytes[at + 55] ^= 1; /* the end of the magic */
    ck_assert_uint_eq(search_unknown(&u, at, &is).count, 0);
    ck_assert_int_eq(is, U9_CORRUPT);
    ck_assert_uint_eq(search_unknown(&u, u.size - 32, &is).count, 0); /* half a header */
    ck_assert_int_eq(is, U9_CORRUPT);
}
END_TEST

/* An outline is of a file that ends where others say that it does. */
START_TEST(an_outline_up_to_another_end_says_nothing)
{
    u9i_dir *dir;
    char path[3400];
    strcpy(path, at(""));
    MUST(u9i_dir_open(sim_env(), path, false, &dir) == 0);
    for (uint64_t end = 8192; end <= 16384; end += 8192) {
        u9i_facts named = {.size = 65536, .named = true, .at.offset = 8192}, unnamed = {.size = 65536};
        u9i_segment *before = u9i_segment_new(dir, &unnamed), *now = u9i_segment_new(dir, &named);
        u9i_outline noted = {.end = end};
        ck_assert_ptr_null(u9i_segment_outline(before));
        u9i_segment_give_outline(before, u9i_outline_share(&noted));
        u9i_segment_take_over(now, before);
        u9i_outline *was = u9i_segment_outline(before), *is = u9i_segment_outline(now);
        ck_assert_ptr_nonnull(was);
        ck_assert_int_eq(is == was, end == 8192);
        ck_assert_int_eq(is == NULL, end != 8192);
        u9i_segment_forget(before); /* it is not what it was */
        ck_assert_ptr_null(u9i_segment_outline(before));
        u9i_outline_unref(was);
        u9i_outline_unref(is);
        u9i_segment_unref(before);
        u9i_segment_unref(now);
    }
    u9i_dir_close(dir);
}
END_TEST

/* What is known of one file holds of another only if both are the same, and read alike. */
START_TEST(what_was_found_valid_is_taken_over_only_of_the_same_file)
{
    enum { SAME, BYTES, BOUNDARY, PLAIN, MENDS, CASES };
    u9i_dir *dir;
    char path[3400];
    strcpy(path, at(""));
    MUST(u9i_dir_open(sim_env(), path, false, &dir) == 0);
    for (int what = SAME; what < CASES; what++) {
        u9i_facts was = {.size = 65536, .has_end = true, .end.kind = U9I_END_SEALING}, is = was;
        is.secret.bytes[15] ^= what == BYTES;
        is.secret.boundary[15] ^= what == BOUNDARY;
        is.plain = what == PLAIN;
        is.mends_frames = what == MENDS;
        u9i_segment *before = u9i_segment_new(dir, &was), *now = u9i_segment_new(dir, &is);
        u9i_segment_set_verified(before, 4096);
        u9i_segment_set_verified(before, 8192 + 1); /* no place of a frame */
        ck_assert(u9i_segment_is_verified(before, 4096) && !u9i_segment_is_verified(before, 8192 + 1));
        u9i_segment_take_over(now, before);
        ck_assert_int_eq(u9i_segment_is_verified(now, 4096), what == SAME);
        ck_assert_int_eq(u9i_segment_sealed(now), what != PLAIN);
        u9i_segment_unref(before);
        u9i_segment_unref(now);
    }
    u9i_dir_close(dir);
}
END_TEST

/* Bad blocks with good ones between them, more than a window has room for at first, and one far behind. */
START_TEST(all_that_is_dark_in_a_window_is_known_of_or_there_is_no_memory)
{
    enum { BLOCKS = 1100, BAD = 10, LAST = BLOCKS - 2 };
    static uint8_t bytes[BLOCKS * U9I_BLOCK];
    static const u9i_secret none;
    u9i_dir *dir;
    u9i_file *file;
    u9i_windows windows;
    u9i_window *w, *other;
    char path[3400];
    strcpy(path, at("file"));
    memset(bytes, 7, sizeof bytes);
    write_file(path, bytes, sizeof bytes);
    for (uint64_t i = 1; i <= BAD; i++) sim_spoil(path, 2 * i * U9I_BLOCK, (2 * i + 1) * U9I_BLOCK, EIO, 0);
    sim_spoil(path, LAST * U9I_BLOCK, (LAST + 1) * U9I_BLOCK, EIO, 0);
    strcpy(path, at(""));
    MUST(u9i_dir_open(sim_env(), path, false, &dir) == 0 && u9i_file_open(dir, "file", U9I_OPEN_READ, &file) == 0);
    u9i_windows_init(&windows, sim_env());
    unsigned failed = 1, told = 0;
    for (unsigned nth = 1; failed > 0; nth++) {
        u9i_zeros z;
        MUST(u9i_windows_lend(&windows, &w) == U9_OK && u9i_windows_lend(&windows, &other) == U9_OK);
        u9i_window_turn(w, file, &none);
        u9i_window_turn(other, file, &none);
        other->unread = (u9i_stretch){3 * U9I_BLOCK, 4 * U9I_BLOCK};
        scarce_begin(SCARCE_MEMORY, nth, 0, false);
        u9_err err = u9i_window_zeros(w, U9I_BLOCK, sizeof bytes, &z);
        failed = scarce_end(NULL);
        ck_assert(err == U9_OK || (failed && err == U9_IO && w->sys == ENOMEM)); /* to read ahead is not needed */
        told += err != U9_OK;
        if (err == U9_OK) {
            ck_assert_uint_eq(z.last, sizeof bytes);
            u9i_window_share_unread(other, w);
            ck_assert_uint_eq(other->unread.begin, 2 * U9I_BLOCK);
            ck_assert_uint_eq(other->unread.end, (LAST + 1) * U9I_BLOCK);
            ck_assert_int_eq(other->unread_sys, EIO);
        }
        u9i_windows_return(&windows, w);
        u9i_windows_return(&windows, other);
        if (failed) { /* the next one is a new one, that has no room yet */
            u9i_windows_release(&windows);
            u9i_windows_init(&windows, sim_env());
        }
        ck_assert_uint_lt(nth, 20);
    }
    ck_assert_uint_ge(told, 2);
    u9i_windows_release(&windows);
    u9i_file_close(file);
    u9i_dir_close(dir);
    sim_clear();
}
END_TEST

/* [Y-6] */
START_TEST(a_file_that_is_read_mended_has_data_where_frames_were_mended)
{
    enum { HOLE = 1 << 16, FRAME = 8192 };
    static const u9i_secret none;
    u9i_rejoined mended = {.frame = {.offset = FRAME, .end = FRAME + 4096, .body_size = 3000}};
    u9i_mender m = {.frames = &mended, .count = 1, .room = 1};
    u9i_dir *dir;
    u9i_file *inner;
    const void *map;
    char path[3400];
    write_file(at("file"), "", 0);
    cut_file(at("file"), HOLE);
    strcpy(path, at(""));
    MUST(u9i_dir_open(sim_env(), path, false, &dir) == 0 && u9i_file_open(dir, "file", U9I_OPEN_READ, &inner) == 0);
    u9i_file *file = u9i_mended_file_new(inner, &m, &none);
    ck_assert_uint_eq(u9i_file_data(inner, 0), HOLE);
    ck_assert_uint_eq(u9i_file_data(file, 0), FRAME);
    ck_assert_uint_eq(u9i_file_data(file, FRAME + 16), FRAME + 16);
    ck_assert_uint_eq(u9i_file_data(file, FRAME + 4096), HOLE);
    ck_assert_int_eq(u9i_file_map(file, 0, HOLE, &map), -ENODEV); /* what is mended stands in no file */
    ck_assert_int_eq(u9i_file_sync_and_evict_from(file, 0), 0);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* Who is in the middle of a segment when what it remembers is forgotten goes on alone, and is told the same. */
START_TEST(who_reads_a_segment_that_is_forgotten_meanwhile_is_told_the_rest_once)
{
    enum { FRAMES = 6 };
    u9i_catalog *catalog;
    u9i_iterator it;
    u9i_step step = U9I_STEP_FRAME;
    unsigned frames = 0;
    int sys;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < FRAMES; i++) (void)forge_records(&s, "r", 3);
    forge_end(&s, U9I_END_CLOSING);
    forge_save(&s, at("log"));
    u9_log *log = open_reader(at("log"));
    ck_assert_int_eq(u9i_source_catalog(&log->source, &catalog, NULL), U9_OK);
    u9i_segment *segment = catalog->segments[0];
    ck_assert_int_eq(u9i_iterator_open(&it, segment, &log->source.windows, NULL, false, &sys), U9_OK);
    while (step != U9I_STEP_END) {
        ck_assert_int_eq(u9i_iterator_step(&it, &step), U9_OK);
        ck_assert(step != U9I_STEP_DAMAGE);
        if (step == U9I_STEP_FRAME) frames += it.frame.trailer.count;
        if (frames == 3 * (unsigned)_i) u9i_segment_forget(segment);
    }
    ck_assert_uint_eq(frames, 3 * FRAMES);
    u9i_iterator_close(&it);
    ck_assert_int_eq(u9i_iterator_open(&it, segment, &log->source.windows, NULL, false, &sys), U9_OK);
    ck_assert_int_eq(u9i_iterator_range(&it, 0, U9I_BLOCK), U9_OK);
    do ck_assert_int_eq(u9i_iterator_step(&it, &step), U9_OK);
    while (step != U9I_STEP_END);
    ck_assert_int_eq(u9i_iterator_step(&it, &step), U9_OK); /* and it stays there */
    ck_assert_int_eq(step, U9I_STEP_END);
    u9i_iterator_close(&it);
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
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
    tcase_add_test(t, a_boundary_is_believed_if_it_is_the_only_one_that_is_found);
    tcase_add_test(t, a_frame_without_its_secret_names_its_place_and_those_before_it);
    tcase_add_test(t, what_was_found_valid_is_taken_over_only_of_the_same_file);
    tcase_add_test(t, an_outline_up_to_another_end_says_nothing);
    tcase_add_test(t, all_that_is_dark_in_a_window_is_known_of_or_there_is_no_memory);
    tcase_add_test(t, a_file_that_is_read_mended_has_data_where_frames_were_mended);
    tcase_add_loop_test(t, who_reads_a_segment_that_is_forgotten_meanwhile_is_told_the_rest_once, 1, 6);
    suite_add_tcase(s, t);
    return s;
}
