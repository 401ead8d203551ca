/*
 * tests/engine/check/test_harm.c: logs that came to several harms at once, which are drawn: bytes, blocks, files and names.
 * Whatever is made of one of them, by a reader, salvage, repair, a snapshot, a merge, a transfer or another place for its
 * segments, has no record that was not written; and what one of these shows the others do not hide. (F20, F22, F28, F71)
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/index.h>
#include <u9/merge.h>
#include <u9/repair.h>
#include <u9/snapshot.h>
#include <u9/tier.h>
#include <u9/transit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK = 4096, TEXT = 3000 };

static uint32_t drawn;

static unsigned draw(unsigned n)
{
    drawn = drawn * 1664525 + 1013904223;
    return (drawn >> 8) % n;
}

/* The log as it was, and a copy that went on otherwise from its middle on. */
static seen *written[2];

static void write_on(const char *log, const char *kind, const char *name, unsigned count, bool ends)
{
    static char text[TEXT + 64];
    u9_options o = small_options();
    o.kind = kind;
    o.lz4 = (int)draw(2);
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < count; i++) {
        char key[40];
        uint8_t value[TEXT + 80];
        u9_builder b;
        int n = snprintf(text, 64, "%s %u ", name, i);
        size_t size = (size_t)n + draw(TEXT);
        for (size_t k = (size_t)n; k < size; k++) text[k] = (char)('a' + draw(20));
        u9_builder_init(&b, value, sizeof value);
        ck_assert_int_eq(u9_build_bytes(&b, (const uint8_t *)text, size), U9_OK);
        snprintf(key, sizeof key, "%06u-%s", (unsigned)u9_log_next(w), name);
        u9_key k = {.data = key, .size = strlen(key)};
        ck_assert_int_eq(u9_log_append(w, strcmp(kind, "rkey") == 0 ? &k : NULL, value, b.size, NULL), U9_OK);
        if (draw(4) == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    if (ends) close_log(w);
    else crash(w, log);
}

static void make_logs(const char *kind)
{
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io()};
    write_on(at("whole"), kind, "a", 40, false);
    write_on(at("whole"), kind, "b", 8, draw(2));
    copy_log(at("whole"), at("branch"));
    write_on(at("branch"), kind, "x", 20, true);
    write_on(at("whole"), kind, "c", 30, true);
    write_on(at("whole"), kind, "d", 6, draw(3));
    ck_assert_int_eq(u9_indexes_build(at("whole"), &o, &r, NULL), U9_OK);
    written[0] = look(at("whole"));
    written[1] = look(at("branch"));
}

/* The path of some file of the log; its size. */
static const char *draw_file(uint64_t *size)
{
    static char path[512];
    size_t count;
    char **names = list_names(at("log"), &count);
    size_t at_name = draw((unsigned)count);
    snprintf(path, sizeof path, "%s/%s", at("log"), names[at_name]);
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
    *size = file_size(path);
    return path;
}

static void harm_frame(const char *path)
{
    seen_frame frames[64];
    size_t n = frames_in(path, frames, 64);
    if (n == 0) return;
    const seen_frame *f = &frames[draw((unsigned)n)];
    switch (draw(4)) {
    case 0: flip_bit(path, f->offset + draw(64), draw(8)); break;
    case 1: flip_bit(path, f->offset + 64 + f->length - 1 - draw(80), draw(8)); break;
    case 2: put_bytes(path, f->end - 1, "x", 1); break;
    case 3: fill_bytes(path, f->offset, 64 + draw(40), draw(2) ? 0 : 0xee); break;
    }
}

static void put_copy(const char *from, const char *to)
{
    size_t size;
    uint8_t *bytes = read_file(from, &size);
    write_file(to, bytes, size);
    free(bytes);
}

static void harm_names(const char *path)
{
    char from[512];
    snprintf(from, sizeof from, "%s", path);
    const char *to = segment_path(at("log"), 1 + draw(7));
    switch (draw(4)) {
    case 0: remove_log(from); break;
    case 1:
        if (!exists(to)) move_file(from, to);
        break;
    case 2:
        put_copy(from, to);
        break;
    case 3: /* the branch's instead */
        if (exists(segment_path(at("branch"), 2))) put_copy(segment_path(at("branch"), 1 + draw(2)), to);
        break;
    }
}

static void harm(void)
{
    static const uint8_t junk[2 * BLOCK + 99] = "junk";
    uint64_t size;
    const char *path = draw_file(&size);
    if (size < 2 * BLOCK) return;
    uint64_t place = draw((unsigned)size), block = place / BLOCK * BLOCK;
    switch (draw(10)) {
    case 0: flip_bit(path, place, draw(8)); break;
    case 1: fill_bytes(path, place, size - place < 300 ? size - place : 300, draw(2) ? 0 : 0x5a); break;
    case 2: cut_file(path, draw(2) ? place : block); break;
    case 3: put_bytes(path, draw(2) ? size : (size + BLOCK - 1) / BLOCK * BLOCK, junk, 5 + draw(sizeof junk - 5)); break;
    case 4: flip_bit(path, draw(32), draw(8)); break;
    case 5: fill_bytes(path, 0, 32 + draw(2) * 200, 0); break;
    case 6: fill_bytes(path, size - BLOCK, BLOCK, 0); break;
    case 7: harm_names(path); break;
    case 8: fill_bytes(path, block, size - block < BLOCK ? size - block : BLOCK, 0xee); break;
    case 9: harm_frame(path); break;
    }
}

static bool was_written(const u9_record *r)
{
    for (unsigned i = 0; i < 2; i++)
        for (size_t k = 0; k < written[i]->count; k++) {
            const seen_record *w = &written[i]->records[k];
            if (w->size == r->size && memcmp(w->bytes, r->bytes, r->size) == 0) return true;
        }
    return false;
}

/*
 * What a log shows, all of which was written. Returns how many records there are, as a check says it. The second reader is
 * not asked: it knows less of what becomes of a log whose files were harmed in several ways.
 */
static size_t expect_written(const char *path, const char *what)
{
    u9_cursor *c;
    u9_record record;
    u9_err err;
    size_t count = 0;
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    u9_log *log = open_reader(path);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &record)) == U9_OK || err == U9_CORRUPT || err == U9_ABSENT) {
        if (err != U9_OK) continue;
        ck_assert_msg(was_written(&record), "%s: record %zu was never written", what, count);
        count++;
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
    close_log(log);
    ck_assert_int_eq(u9_check(path, &o, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.records, count);
    return count;
}

static void expect_one_of(u9_err err, u9_err other, const u9_fault *fault, const char *what)
{
    char line[1024];
    ck_assert_msg(err == U9_OK || err == other, "%s: %s", what, u9_fault_line(fault, line, sizeof line));
}

/* Each makes something of the log, which shows `shown` records. */

static void try_salvage(size_t shown)
{
    u9_fault fault = {0};
    uint64_t saved = 0;
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    u9_err err = u9_salvage(at("log"), at("out"), &o, &r, &saved, &fault);
    ck_assert_msg(err == U9_OK, "salvage: %s", fault.text);
    ck_assert_uint_ge(saved, shown);
    if (saved > 0) (void)expect_written(at("out"), "salvage");
}

static void try_repair(size_t shown)
{
    u9_fault fault = {0};
    uint8_t before[16], after[16];
    u9_repair_report r = {.size = sizeof r};
    u9_repair_options o = {.size = sizeof o, .io = sim_io(), .all = (int)draw(3), .heal_ms = draw(2) ? 100 : 0};
    char path[512];
    snprintf(path, sizeof path, "%s", draw(4) || !exists(segment_path(at("log"), 1)) ? at("log") : segment_path(at("log"), 1));
    picture(at("log"), before);
    u9_err err = u9_repair(path, &o, &r, &fault);
    expect_one_of(err, U9_CORRUPT, &fault, "repair");
    if (err != U9_OK) return;
    ck_assert_uint_ge(expect_written(at("log"), "repair"), shown);
    ck_assert_int_le(r.then, r.before);
    uint64_t steps = 0;
    ck_assert_int_eq(u9_undo(path, sim_io(), 0, &steps, &fault), r.steps ? U9_OK : U9_ABSENT);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_uint_eq(steps, r.steps);
}

static void try_snapshot(size_t shown)
{
    u9_fault fault = {0};
    u9_snapshot_report r = {.size = sizeof r};
    u9_snapshot_options o = {.size = sizeof o, .copy = (int)draw(2), .strict = draw(3) == 0};
    u9_log *log = open_reader(at("log"));
    for (unsigned i = 0; i < 2; i++) {
        u9_err err = u9_log_snapshot(log, at("out"), &o, &r, &fault);
        expect_one_of(err, U9_CORRUPT, &fault, "snapshot");
        if (err == U9_OK) ck_assert_uint_eq(expect_written(at("out"), "snapshot"), shown);
    }
    close_log(log);
}

static void try_merge(size_t shown)
{
    u9_fault fault = {0};
    const char *both[] = {at("log"), at("branch")};
    u9_merge_report r = {.size = sizeof r};
    u9_merge_options o = {.size = sizeof o, .io = sim_io(), .memory = draw(2) ? 1 << 24 : 0, .lz4 = (int)draw(2),
                          .strict = draw(3) == 0};
    u9_err err = u9_merge(at("out"), both, 2, &o, &r, &fault);
    if (err == U9_ARG) return; /* not in order */
    expect_one_of(err, U9_CORRUPT, &fault, "merge");
    ck_assert(err == U9_OK || o.strict);
    if (err == U9_OK) ck_assert_uint_ge(expect_written(at("out"), "merge"), shown);
}

/* What is sent before damage stops it. */
static void try_transfer(size_t shown)
{
    u9_fault fault = {0};
    int fd = memfd_create("stream", MFD_CLOEXEC);
    u9_options to = small_options();
    u9_ship_report sent = {.size = sizeof sent}, got = {.size = sizeof got};
    u9_send_options s = {.size = sizeof s, .out = fd, .in = -1, .from = draw(2) * 20};
    u9_recv_options v = {.size = sizeof v, .in = fd, .out = -1, .log = &to};
    u9_log *log = open_reader(at("log"));
    u9_err err = u9_log_send(log, &s, &sent, &fault);
    close_log(log);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_uint_le(sent.records, shown);
    u9_err received = u9_log_recv(at("out"), &v, &got, &fault);
    if (err == U9_OK && sent.records > 0 && s.from == 0 && sent.next == sent.records) ck_assert_int_eq(received, U9_OK);
    if (got.records > 0) ck_assert_uint_eq(expect_written(at("out"), "transfer"), got.records);
    close(fd);
}

static void try_tier(size_t shown)
{
    u9_fault fault = {0};
    u9_tiered d = {.size = sizeof d};
    u9_tier_options o = {.size = sizeof o, .to = at("far"), .io = sim_io(), .verify = (int)draw(2), .keep_bytes = draw(2)};
    for (unsigned i = 0; i < 2; i++) {
        u9_err err = u9_tier(at("log"), &o, &d, &fault);
        if (err != U9_OK) break;
    }
    ck_assert_uint_ge(expect_written(at("log"), "tier"), shown);
}

/* Its owner lives with what is lost, and goes on. */
static void try_going_on(size_t shown)
{
    u9_fault fault = {0};
    u9_loss loss = {.size = sizeof loss};
    u9_tails tails = {.size = sizeof tails};
    u9_trimmed gone = {.size = sizeof gone};
    u9_log *log;
    (void)shown;
    (void)!u9_accept_loss(at("log"), 1, sim_io(), &loss, &fault);
    (void)!u9_accept_tails(at("log"), 1, sim_io(), &tails, &fault);
    (void)!u9_accept_trim(at("log"), 1, sim_io(), &gone, &fault);
    (void)expect_written(at("log"), "going on");
    u9_options o = small_options();
    o.mode = U9_WRITE;
    if (u9_log_open(at("log"), &o, &log, &fault) == U9_OK) close_log(log);
    (void)expect_written(at("log"), "a session behind it");
}

typedef void try_fn(size_t shown);

static try_fn *const tries[] = {try_salvage, try_repair, try_snapshot, try_merge, try_transfer, try_tier, try_going_on};

START_TEST(nothing_comes_of_a_harmed_log_that_was_not_written)
{
    static const char *const kinds[] = {"muid", "rkey", "tid"};
    enum { TRIES = sizeof tries / sizeof *tries };
    drawn = (uint32_t)_i;
    make_logs(kinds[_i % 3]);
    for (unsigned round = 0; round < thorough(12, 500); round++) {
        remove_log(at("log"));
        remove_log(at("out"));
        remove_log(at("far"));
        copy_log(at("whole"), at("log"));
        for (unsigned n = draw(4); n > 0; n--) harm();
        u9_report r = {.size = sizeof r};
        u9_check_options o = {.size = sizeof o, .io = sim_io()};
        if (u9_check(at("log"), &o, &r, NULL) != U9_OK) continue; /* no log any more */
        size_t shown = expect_written(at("log"), "reading");
        tries[((unsigned)_i + round) % TRIES](shown);
    }
    forget(written[0]);
    forget(written[1]);
}
END_TEST

/* [G-1] [L-6] Whatever says of what kind the keys are is lost: they are of the one that such keys may be of. */
START_TEST(a_log_that_nothing_says_the_kind_of_is_saved_as_one_of_its_keys)
{
    static const char *const kinds[] = {"muid", "tid", "rkey"};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    for (unsigned i = 0; i < 3; i++) {
        u9_fault fault;
        uint64_t saved = 0;
        u9_report r = {.size = sizeof r};
        remove_log(at("log"));
        remove_log(at("out"));
        write_on(at("log"), kinds[i], "a", 5, true);
        const char *path = segment_path(at("log"), 1);
        flip_bit(path, 32 + 64 + 10, 3);
        fill_bytes(path, file_size(path) - BLOCK, BLOCK, 0);
        ck_assert_int_eq(u9_salvage(at("log"), at("out"), &o, &r, &saved, &fault), U9_OK);
        ck_assert_uint_eq(saved, 5);
        u9_log *log = open_reader(at("out"));
        ck_assert_str_eq(u9_log_kind(log), kinds[i]);
        close_log(log);
    }
}
END_TEST

/* Of a simulated disk the root can be named, and what stands in it, without a slash. */
START_TEST(names_at_the_root_and_bare_ones_are_paths_too)
{
    static const char *const sources[] = {"bare", "/bare", "/bare//", "/bare/0000000000000001.u9"};
    static const char *const outs[] = {"/out", "out", "out///"};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    session(at("log"), "r", 9, 2);
    sim_needed("a root");
    sim_copy(at("log"), "/bare");
    for (unsigned i = 0; i < 12; i++) {
        u9_fault fault;
        uint64_t saved = 0;
        u9_report r = {.size = sizeof r};
        sim_make_dir("/out.partial"); /* as a run leaves it that is broken off */
        sim_write("/out.partial/.u9-unfinished", 0, "", 0);
        u9_err err = u9_salvage(sources[i % 4], outs[i / 4], &o, &r, &saved, &fault);
        ck_assert_msg(err == U9_OK && saved == 9, "%u: %s", i, fault.text);
        sim_remove("/out");
    }
    sim_move("/bare", "/bare.partial");
    uint64_t saved;
    u9_report r = {.size = sizeof r};
    ck_assert_int_eq(u9_salvage("bare.partial", "/bare", &o, &r, &saved, NULL), U9_ARG);
    ck_assert(exists("/bare.partial/0000000000000001.u9"));
    sim_remove("/bare.partial");
}
END_TEST

/* What stands where a log would grow, and bears no sign of a run that was broken off. */
START_TEST(nothing_of_what_is_not_known_to_be_unfinished_is_removed)
{
    static const char *const others[] = {".live", ".mark", "0000000000000001.u9", "notes"};
    session(at("log"), "r", 3, 0);
    for (unsigned i = 0; i < 4; i++) {
        char path[512];
        u9_fault fault = {0};
        uint64_t saved = 0;
        u9_report r = {.size = sizeof r};
        u9_snapshot_report s = {.size = sizeof s};
        u9_check_options o = {.size = sizeof o, .io = sim_io()};
        remove_log(at("out.partial"));
        make_dir(at("out.partial"));
        snprintf(path, sizeof path, "%s/%s", at("out.partial"), others[i]);
        write_file(path, "mine", 4);
        ck_assert_int_eq(u9_salvage(at("log"), at("out"), &o, &r, &saved, &fault), U9_ARG);
        ck_assert_ptr_nonnull(strstr(fault.text, "nothing of it was touched"));
        u9_log *log = open_reader(at("log"));
        ck_assert_int_eq(u9_log_snapshot(log, at("out"), NULL, &s, &fault), U9_ARG);
        close_log(log);
        ck_assert(exists(path));
    }
}
END_TEST

Suite *suite_harm(void)
{
    Suite *s = suite_create("harm");
    TCase *t = tcase_create("harm");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, nothing_comes_of_a_harmed_log_that_was_not_written, 0, 6);
    tcase_add_test(t, a_log_that_nothing_says_the_kind_of_is_saved_as_one_of_its_keys);
    tcase_add_test(t, names_at_the_root_and_bare_ones_are_paths_too);
    tcase_add_test(t, nothing_of_what_is_not_known_to_be_unfinished_is_removed);
    suite_add_tcase(s, t);
    return s;
}
