/*
 * tests/engine/write/test_power.c: ordinary sessions above a disk that does everything in any order and late, until
 * the power goes or the process is killed; then all that was acknowledged is there. {F04} {F12} {F13} {F15} {F17}
 *
 * A story is a few sessions on one log, all of it drawn from one seed: what is appended, when somebody waits for it,
 * how long segments are, when and how it ends, and what the disk keeps. After each session
 *
 *     every record that was durable by the word of the writer is there, in order;
 *     there is nothing that was never appended, nor anything twice, nor a part of a batch;
 *     nothing is told but a torn tail: no crash of ours is damage;
 *     cursor, check and the second reader agree, and so do they once more after the next session;
 *     nothing was promised that was not durable, as it was submitted. {F07}
 *
 * A story that fails says on one line how it is told again.
 */
#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STORIES = 400, CHUNKS = 8, RECORDS_MAX = 4000, TEXT_MAX = 40000, BATCH_MAX = 6 };

/* What was appended, in order: what is there after a crash is a beginning of it. */
typedef struct tale {
    uint64_t rng;
    unsigned next; /* the number of the next record; numbers are never given twice */
    unsigned numbers[RECORDS_MAX]; /* by ordinal */
    bool begins[RECORDS_MAX];      /* a batch begins there, or a record alone */
    unsigned appended, acked;
    bool made;       /* the log is there for good */
    unsigned deaths; /* so far */
} tale;

static tale t;

/* Which story each of the tests is at, 0: none; seen by the parent when a child is gone. */
static uint64_t *under_way;

static void share(void)
{
    under_way = mmap(NULL, CHUNKS * sizeof *under_way, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(under_way != MAP_FAILED);
}

static void say_seeds(void)
{
    for (unsigned i = 0; i < CHUNKS; i++)
        if (under_way[i] != 0)
            fprintf(stderr, "power: again by: U9_SEED=%llu build/release/u9tests power\n",
                    (unsigned long long)under_way[i]);
    (void)munmap(under_way, CHUNKS * sizeof *under_way);
}

static unsigned draw(unsigned n)
{
    t.rng = t.rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((t.rng >> 33) % n);
}

/* The text of a record follows from its number; most are short. Half of them shrink. */
static size_t text_of(unsigned number, char *out)
{
    uint32_t h = number * UINT32_C(2654435761);
    size_t size = h % 64 == 0 ? 9000 + h / 64 % 30000 : h % 8 == 0 ? h / 8 % 5000 : h / 8 % 150;
    int head = sprintf(out, "%u:", number);
    for (size_t i = 0; i < size; i++) {
        if (number % 2) h = h * UINT32_C(1664525) + UINT32_C(1013904223);
        out[(size_t)head + i] = (char)('a' + h / 65536 % 26);
    }
    out[(size_t)head + size] = 0;
    return (size_t)head + size;
}

static bool is_over(void)
{
    return sim_deaths() != t.deaths;
}

static void append_some(u9_log *w, unsigned count)
{
    static char text[TEXT_MAX];
    static uint8_t values[BATCH_MAX][TEXT_MAX + 16];
    u9_entry entries[BATCH_MAX] = {0};
    MUST(t.appended + count <= RECORDS_MAX);
    for (unsigned i = 0; i < count; i++) {
        u9_builder b;
        t.numbers[t.appended + i] = t.next;
        t.begins[t.appended + i] = i == 0;
        size_t size = text_of(t.next++, text);
        u9_builder_init(&b, values[i], sizeof values[i]);
        MUST(u9_build_utf8(&b, text, size) == U9_OK);
        entries[i].values = values[i];
        entries[i].size = b.size;
    }
    u9_err err = u9_log_append_batch(w, entries, count, NULL);
    MUST_SAY(err == U9_OK || is_over(), "append: %s", u9_err_name(err));
    t.appended += count; /* if it was refused then, it is not there: as if it were lost */
}

/* A reader beside the writer sees a beginning of it, and all that is durable. */
static void read_beside(const char *log)
{
    u9_log *r;
    u9_cursor *c = NULL;
    u9_record record;
    unsigned n = 0;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io()};
    u9_err err = u9_log_open(log, &o, &r, NULL);
    if (err != U9_OK && is_over()) return;
    MUST_SAY(err == U9_OK, "reader: %s", u9_err_name(err));
    err = u9_cursor_open(r, NULL, &c, NULL);
    MUST(err == U9_OK || is_over());
    while (err == U9_OK && (err = u9_cursor_next(c, &record)) == U9_OK) n++;
    if (!is_over())
        MUST_SAY(err == U9_END && n >= t.acked && n <= t.appended, "%s, %u of %u to %u",
                 u9_err_name(err), n, t.acked, t.appended);
    if (c) u9_cursor_close(c);
    (void)!u9_log_close(r, NULL);
}

/* One thing that a program does. */
static void do_something(const char *log, u9_log *w)
{
    u9_err err = U9_OK;
    unsigned what = draw(20);
    if (what < 8) append_some(w, 1);
    else if (what < 11) append_some(w, 2 + draw(BATCH_MAX - 1));
    else if (what < 15 && t.appended > 0) err = u9_log_commit(w, t.appended - 1);
    else if (what < 16) err = u9_log_sync(w);
    else if (what < 18) sim_advance(draw(3) ? draw(3000) : draw(2500000));
    else if (what < 19) read_beside(log);
    MUST_SAY(err == U9_OK || err == U9_AGAIN || is_over(), "%s", u9_err_name(err));
    uint64_t durable = u9_log_durable(w);
    if (is_over()) return; /* what is said in a killed process nobody hears */
    MUST(durable <= t.appended && durable >= t.acked);
    t.acked = (unsigned)durable;
    if (err == U9_OK && what >= 11 && what < 16) MUST(what < 15 || t.acked == t.appended);
}

/* A session that is closed, killed, or ends with the power. */
static void tell_session(const char *log)
{
    u9_options o = small_options();
    u9_log *w = NULL;
    unsigned ending = draw(10), things = 5 + draw(60);
    o.lz4 = draw(2) == 0;
    o.policy = draw(2) ? U9_POLICY_COMMIT : U9_POLICY_NONE;
    sim_set_order(draw(8) ? SIM_WILD : SIM_REVERSED);
    if (ending < 7) sim_lose_power_at(1 + draw(draw(3) ? 150 : 1500));
    if (ending == 7) sim_kill_at_write(1 + draw(60));
    u9_fault fault;
    u9_err err = u9_log_open(log, &o, &w, &fault);
    MUST_SAY(err == U9_OK || is_over(), "open: %s: %s", u9_err_name(err), fault.text);
    t.made |= err == U9_OK && !is_over();
    for (unsigned i = 0; i < things && w && !is_over(); i++) do_something(log, w);
    if (ending == 8) sim_kill();
    err = w ? u9_log_close(w, &fault) : U9_OK;
    bool closed = !is_over();
    if (closed) MUST_SAY(err == U9_OK, "close: %s: %s", u9_err_name(err), fault.text);
    if (closed) t.acked = t.appended;
    sim_lose_power_at(0);
    sim_kill_at_write(0);
    sim_land(0);
    t.deaths = sim_deaths();
}

/* What there is now is what counts from now on. */
static void expect_whole(const char *log)
{
    static char text[TEXT_MAX];
    seen *s = look(log);
    if (s->err != U9_OK) {
        MUST_SAY(!t.made, "the log is gone: %s", u9_err_name(s->err));
        forget(s);
        return;
    }
    for (size_t i = 0; i < s->damage_count; i++)
        MUST_SAY(s->damages[i].verdict <= U9_V_TORN, "segment %u %s %s [%llu,%llu)",
                 (unsigned)s->damages[i].segment, u9_verdict_name(s->damages[i].verdict),
                 u9_reason_name(s->damages[i].reason), (unsigned long long)s->damages[i].begin,
                 (unsigned long long)s->damages[i].end);
    MUST_SAY(s->count >= t.acked, "%zu records are there, %u were acknowledged", s->count, t.acked);
    MUST_SAY(s->count <= t.appended, "%zu records are there, %u were appended", s->count,
             t.appended);
    for (size_t i = 0; i < s->count; i++) {
        size_t size = text_of(t.numbers[i], text);
        MUST_SAY(s->records[i].ordinal == i && s->records[i].text_size == size &&
                     memcmp(s->records[i].text, text, size) == 0,
                 "record %zu is '%.20s', not '%.20s'", i, s->records[i].text, text);
    }
    MUST_SAY(s->count == t.appended || t.begins[s->count],
             "a part of the batch before record %zu is there", s->count);
    t.appended = t.acked = (unsigned)s->count;
    t.made = true;
    forget(s);
}

static void tell(uint64_t seed)
{
    const char *log = at("log");
    t = (tale){.rng = seed * UINT64_C(0x9e3779b97f4a7c15), .next = 1};
    sim_begin(seed);
    sim_watch_promises();
    sim_make_dir(at(""));
    for (unsigned sessions = 2 + draw(4); sessions > 0; sessions--) {
        tell_session(log);
        expect_whole(log);
    }
    sim_set_order(SIM_PROMPT);
    session(log, "last", 3, 1);
    seen *s = look(log);
    MUST(s->count == t.appended + 3 && s->report.closed);
    MUST(s->damage_count == count_damages(s, U9_V_TORN, U9_R_SEAL)); /* one that was cut short stays so */
    forget(s);
}

/* {F04} {F13} */
START_TEST(what_was_acknowledged_is_there_whatever_the_disk_had_done)
{
    const char *given = getenv("U9_SEED");
    unsigned count = given ? _i == 0 : thorough(STORIES / 2, STORIES) / CHUNKS;
    for (unsigned i = 0; i < count; i++) {
        under_way[_i] = given ? strtoull(given, NULL, 0) : (uint64_t)_i + 1 + i * CHUNKS;
        tell(under_way[_i]);
        under_way[_i] = 0;
    }
}
END_TEST

/* {F74} Where it matters: on real files, under the table of this run. */
START_TEST(what_is_synced_into_a_directory_that_was_removed_is_not_acknowledged) /* [W-6] */
{
    u9_fault fault;
    u9_log *w = open_writer(at("log"), NULL);
    append_text(w, "there");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    remove_log(at("log"));
    append_text(w, "into the void");
    ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
    u9_log_fault(w, &fault);
    ck_assert_int_eq(fault.sys, ENOENT);
    ck_assert_uint_eq(u9_log_durable(w), 1);
    ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
    ck_assert(!exists(at("log")));
}
END_TEST

Suite *suite_power(void)
{
    Suite *suite = suite_create("power");
    TCase *tc = tcase_create("power");
    tcase_add_unchecked_fixture(tc, share, say_seeds);
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, what_was_acknowledged_is_there_whatever_the_disk_had_done, 0, CHUNKS);
    suite_add_tcase(suite, tc);
    TCase *below = tcase_create("below");
    tcase_add_checked_fixture(below, fixture_setup, fixture_teardown);
    tcase_add_test(below, what_is_synced_into_a_directory_that_was_removed_is_not_acknowledged);
    suite_add_tcase(suite, below);
    return suite;
}
