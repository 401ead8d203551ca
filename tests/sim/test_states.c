/*
 * tests/sim/test_states.c: short scripts, and of each every state that a power cut may leave: at every call, of all
 * that is not durable then every subset, and of each write in it every tear. The number of states is asserted. {F02}
 * {F04} {F05} {F10} {F11} {F17}
 *
 * What is open at a call is a list of units (sim.h): names, sizes, writes. Of K units there are 2^K states in which
 * each is there whole or not; and for each write of n pieces of 1024 bytes (8 at most), 2^n - 2 states with it torn
 * for each of the 2^(K-1) of the others. What is the same bytes, at whichever call, is looked at once.
 *
 * In each of them: what was acknowledged is there; there is nothing that was not appended, and no part of a batch;
 * nothing is told but a torn tail; cursor, check and the second reader agree, and reading changes no byte. Then a
 * session appends to it, and after that all that was read before is there, and what it appended, and nothing else:
 * what was left out once does not come back.
 */
#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sanitized.h"
#include "tests/sim/script.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE_MAX = 10, RECORDS_MAX = 64, STATES_MAX = 1 << 20, TEXT_MAX = 9000, TORN_SHARE = SANITIZED ? 350 : 510 };

/* Records, each as size and sign of what is done behind it; see do_line. */
typedef struct line {
    const char *deeds;
    sim_order order;
    u9_policy policy;
    unsigned states, torn; /* that there are, whole units; and with one write torn */
} line;

/*
 * a: a record of 100 bytes, A: one of 5000, b: a batch of three, c: commit, C: without waiting, s: sync, t: a second
 * passes, r: three records of 30000 bytes, which roll, x: close and open, T: trim all but the newest.
 */
static const line lines[] = {
    {"", SIM_LATE, U9_POLICY_COMMIT, 106, 294},
    {"ac", SIM_PROMPT, U9_POLICY_COMMIT, 103, 196},
    {"aacac", SIM_LATE, U9_POLICY_COMMIT, 120, 336},
    {"bcbs", SIM_LATE, U9_POLICY_COMMIT, 120, 336},
    {"aCaCbCs", SIM_WILD, U9_POLICY_COMMIT, 116, 322},
    {"AcACs", SIM_REVERSED, U9_POLICY_COMMIT, 120, 1056},
    {"aAbs", SIM_WILD, U9_POLICY_NONE, 114, 802},
    {"AAAAs", SIM_DRAWN, U9_POLICY_NONE, 114, 802},
    {"attaCtbCt", SIM_WILD, U9_POLICY_NONE, 193, 938},
    {"asxbsxAs", SIM_REVERSED, U9_POLICY_COMMIT, 322, 3170},
    {"acxac", SIM_LATE, U9_POLICY_COMMIT, 213, 504},
    {"xxac", SIM_LATE, U9_POLICY_COMMIT, 247, 476},
    {"rc", SIM_LATE, U9_POLICY_COMMIT, 114, 802},
    {"rsxTb", SIM_WILD, U9_POLICY_NONE, 259, 1222},
    {"racrCrs", SIM_REVERSED, U9_POLICY_COMMIT, 284, 10198},
    {"rrs", SIM_DRAWN, U9_POLICY_NONE, 254, 13628},
    {"rrs", SIM_LATE, U9_POLICY_NONE, 254, 13628},
    {"rrrrs", SIM_REVERSED, U9_POLICY_NONE, 451, 31026},
    {"artrs", SIM_LATE, U9_POLICY_NONE, 295, 14156},
    {"rxac", SIM_LATE, U9_POLICY_COMMIT, 251, 1222},
    {"rxrxaT", SIM_DRAWN, U9_POLICY_NONE, 887, 9516},
    {"rcrcTac", SIM_LATE, U9_POLICY_COMMIT, 319, 7346},
    {"rrTxac", SIM_WILD, U9_POLICY_NONE, 458, 14146},
    {"rtrtT", SIM_REVERSED, U9_POLICY_NONE, 444, 14982},
    {"ArbrAs", SIM_WILD, U9_POLICY_NONE, 350, 24804},
};

enum { LINES = sizeof lines / sizeof *lines };

/* The tale of one line, up to where it is frozen. */
static struct {
    const line *line;
    unsigned appended, acked, trimmed, deaths;
    unsigned sizes[RECORDS_MAX];
    bool begins[RECORDS_MAX], made;
} t;

static uint64_t *seen_states; /* digests, a table with open addressing */
static unsigned distinct;

static bool is_new(uint64_t digest)
{
    uint64_t i = digest % STATES_MAX;
    while (seen_states[i] != 0 && seen_states[i] != digest) i = (i + 1) % STATES_MAX;
    if (seen_states[i] == digest) return false;
    seen_states[i] = digest;
    MUST(++distinct < STATES_MAX / 2);
    return true;
}

/* What is done */

static void append(u9_log *w, unsigned count, unsigned size)
{
    static char text[TEXT_MAX * 4];
    static uint8_t values[3][TEXT_MAX * 4];
    u9_entry entries[3] = {0};
    for (unsigned i = 0; i < count; i++) {
        u9_builder b;
        u9_builder_init(&b, values[i], sizeof values[i]);
        t.begins[t.appended + i] = i == 0;
        t.sizes[t.appended + i] = size;
        MUST(u9_build_utf8(&b, text, script_text(t.appended + i, size, text)) == U9_OK);
        entries[i] = (u9_entry){.values = values[i], .size = b.size};
    }
    u9_err err = u9_log_append_batch(w, entries, count, NULL);
    MUST(err == U9_OK || sim_deaths() != t.deaths);
    t.appended += count;
}

static u9_log *open_states(const char *log)
{
    u9_log *w = NULL;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = "sim", .segment_size = 65536, .policy = t.line->policy};
    u9_err err = u9_log_open(log, &o, &w, NULL);
    MUST(err == U9_OK || sim_deaths() != t.deaths);
    t.made |= err == U9_OK && sim_deaths() == t.deaths;
    return w;
}

static u9_log *do_deed(u9_log *w, char deed)
{
    u9_trimmed trimmed = {.size = sizeof trimmed};
    bool over = sim_deaths() != t.deaths;
    if (deed == 'a') append(w, 1, 100);
    if (deed == 'A') append(w, 1, 5000);
    if (deed == 'b') append(w, 3, 40);
    if (deed == 'r') append(w, 1, 30000), append(w, 1, 30000), append(w, 1, 30000);
    if (deed == 'c' && t.appended) (void)!u9_log_commit(w, t.appended - 1);
    if (deed == 'C' && t.appended) (void)!u9_log_commit_async(w, t.appended - 1);
    if (deed == 's') (void)!u9_log_sync(w);
    if (deed == 't' && !over) sim_advance(1100000);
    if (deed == 'T') {
        t.trimmed = t.appended;
        (void)!u9_log_trim(w, &(u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1}, &trimmed, NULL);
    }
    if (deed == 'x') {
        u9_err err = u9_log_close(w, NULL);
        if (sim_deaths() == t.deaths && err == U9_OK) t.acked = t.appended;
        w = sim_deaths() == t.deaths ? open_states("/w/log") : NULL;
    }
    if (sim_deaths() == t.deaths && w) t.acked = (unsigned)u9_log_durable(w);
    return w;
}

/* The line from its beginning, until the nth call. False: it ends before that. */
static bool freeze_at(const line *l, unsigned nth)
{
    memset(&t, 0, sizeof t);
    t.line = l;
    sim_begin(1);
    sim_make_dir("/w");
    sim_watch_promises();
    sim_task_chance(100);
    sim_set_order(l->order);
    t.deaths = sim_deaths();
    sim_freeze_at(nth);
    u9_log *w = open_states("/w/log");
    for (const char *p = l->deeds; w && *p && sim_deaths() == t.deaths; p++) w = do_deed(w, *p);
    u9_err err = w ? u9_log_close(w, NULL) : U9_OK;
    bool frozen = sim_deaths() != t.deaths;
    if (!frozen) MUST(err == U9_OK);
    sim_freeze_at(0);
    sim_set_order(SIM_PROMPT);
    return frozen;
}

/* What must be so */

static void expect_beginning(const seen *s, unsigned more)
{
    static char text[TEXT_MAX * 4];
    uint64_t first = s->count ? s->records[0].ordinal : 0;
    MUST_SAY(first <= t.trimmed, "the first record is %llu", (unsigned long long)first);
    for (size_t i = 0; i < s->count - more; i++) {
        const seen_record *r = &s->records[i];
        MUST_SAY(r->ordinal == first + i && r->ordinal < t.appended, "record %llu", (unsigned long long)r->ordinal);
        size_t size = script_text((unsigned)r->ordinal, t.sizes[r->ordinal], text);
        MUST_SAY(r->text_size == size && memcmp(r->text, text, size) == 0, "record %llu is another",
                 (unsigned long long)r->ordinal);
    }
}

static void expect_no_damage(const seen *s)
{
    for (size_t i = 0; i < s->damage_count; i++)
        MUST_SAY(s->damages[i].verdict <= U9_V_TORN, "%s %s", u9_verdict_name(s->damages[i].verdict),
                 u9_reason_name(s->damages[i].reason));
}

/* How many records there are, counted from the first that ever was; UINT64_MAX: there is no log. */
static uint64_t expect_whole(const char *log)
{
    uint64_t digest = sim_digest(log);
    seen *s = look(log);
    uint64_t next = UINT64_MAX;
    if (s->err == U9_OK) {
        next = s->report.next_ordinal;
        expect_no_damage(s);
        expect_beginning(s, 0);
        MUST_SAY(next >= t.acked && next <= t.appended, "%llu of %u to %u", (unsigned long long)next, t.acked,
                 t.appended);
        MUST_SAY(next == t.appended || t.begins[next], "a part of a batch");
    }
    MUST_SAY(s->err == U9_OK || !t.made, "the log is gone: %s", u9_err_name(s->err));
    MUST(sim_digest(log) == digest);
    forget(s);
    return next;
}

static void expect_goes_on(const char *log, uint64_t next)
{
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = "sim", .segment_size = 65536};
    u9_log *w = open_writer(log, &o);
    uint64_t ordinal = append_text(w, "more");
    close_log(w);
    MUST(ordinal == (next == UINT64_MAX ? 0 : next));
    seen *s = look(log);
    expect_no_damage(s);
    MUST(s->err == U9_OK && s->report.closed && s->report.next_ordinal == ordinal + 1);
    expect_beginning(s, 1);
    MUST(strcmp(s->records[s->count - 1].text, "more") == 0);
    forget(s);
}

static void look_at_state(const uint64_t *pieces)
{
    sim_thaw("/w/log", "/w/state", pieces);
    uint64_t digest = sim_digest("/w/state") + t.acked * UINT64_C(0x9e3779b97f4a7c15) + t.made; /* asks other things */
    if (is_new(digest)) expect_goes_on("/w/state", expect_whole("/w/state"));
}

/* All states */

static void choose(const sim_unit *units, unsigned count, uint64_t subset, uint64_t *pieces)
{
    for (unsigned i = 0; i < count; i++) pieces[i] = subset >> i & 1 ? units[i].pieces : 0;
}

static unsigned whole_states(const sim_unit *units, unsigned count)
{
    uint64_t pieces[SIM_UNITS_MAX] = {0};
    for (uint64_t subset = 0; subset < UINT64_C(1) << count; subset++) {
        choose(units, count, subset, pieces);
        look_at_state(pieces);
    }
    return 1u << count;
}

static unsigned torn_states(const sim_unit *units, unsigned count)
{
    uint64_t pieces[SIM_UNITS_MAX] = {0};
    unsigned n = 0;
    for (unsigned torn = 0; torn < count; torn++)
        for (uint64_t subset = 0; subset < UINT64_C(1) << count && units[torn].write; subset++) {
            if (subset >> torn & 1) continue;
            choose(units, count, subset, pieces);
            for (pieces[torn] = 1; pieces[torn] < units[torn].pieces; pieces[torn]++, n++) look_at_state(pieces);
        }
    return n;
}

static bool is_long(void)
{
    return getenv("U9_SIM_LONG") != NULL;
}

/* All lines with whatever tears, or in the share of every test run those that have few. */
static bool tears(const line *l)
{
    return is_long() || l->torn <= TORN_SHARE;
}

/* {F04} {F05} {F10} {F17} */
START_TEST(every_state_that_a_power_cut_may_leave_of_a_short_script_is_whole)
{
    const line *l = &lines[_i];
    unsigned states = 0, torn = 0, nth = 1, deepest = 0;
    seen_states = calloc(STATES_MAX, sizeof *seen_states);
    distinct = 0;
    for (; freeze_at(l, nth); nth++) {
        sim_unit units[SIM_UNITS_MAX];
        if (!sim_holds("/w/log")) continue;
        unsigned count = sim_frozen("/w/log", units);
        MUST_SAY(count <= WHOLE_MAX, "%u units are open at call %u", count, nth);
        if (count > deepest) deepest = count;
        states += whole_states(units, count);
        if (tears(l)) torn += torn_states(units, count);
        sim_end();
    }
    free(seen_states);
    if (getenv("U9_SIM_TELL")) /* for who adds a line, or changes what is written */
        printf("    {\"%s\", %d, %d, %u, %u}, /* %u calls, at most %u open, %u look different */\n", l->deeds,
               (int)l->order, (int)l->policy, states, torn, nth - 1, deepest, distinct);
    else ck_assert_msg(states == l->states && torn == (tears(l) ? l->torn : 0), "'%s': %u states, %u torn", l->deeds, states,
                       torn);
}
END_TEST

Suite *suite_states(void)
{
    Suite *suite = suite_create("states");
    TCase *tc = tcase_create("states");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_set_timeout(tc, is_long() ? 0 : 120);
    tcase_add_loop_test(tc, every_state_that_a_power_cut_may_leave_of_a_short_script_is_whole, 0, LINES);
    suite_add_tcase(suite, tc);
    return suite;
}
