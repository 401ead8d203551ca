/*
 * tests/sim/test_script.c: scripts that are drawn from seeds, played, and shrunk where they fail.
 *
 *     make sim SEED=17 CASES=1000          scripts 17 to 1016; sim-long: a million sessions
 *     make sim SEED=17 SCRIPT='open ...'   that one
 *
 * A run that fails prints a line that repeats it, and the shortest script that still fails.
 */
#include "tests/sim/script.h"

#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sanitized.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SHARE = SANITIZED ? 120 : 240, CHUNKS = 4 };

/* Which script each of the tests is at; seen by the parent when a child is gone. */
typedef struct progress {
    bool busy;
    script now;
    uint64_t sessions;
} progress;

static progress *at_work;

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *given = getenv(variable);
    return given && given[0] ? strtoull(given, NULL, 0) : otherwise;
}

static void share(void)
{
    at_work = mmap(NULL, CHUNKS * sizeof *at_work, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(at_work != MAP_FAILED);
}

static bool fails_again(void *ctx, const script *s)
{
    (void)ctx;
    return script_fails_in_child(s, false);
}

static void tell_failure(const script *failed)
{
    char text[SCRIPT_TEXT_MAX];
    script s = *failed;
    fprintf(stderr, "sim: fails: make sim SEED=%llu CASES=1\n", (unsigned long long)s.seed);
    if (!script_fails_in_child(&s, false)) {
        fprintf(stderr, "sim: but not when it is played once more\n");
        return;
    }
    (void)script_shrink(&s, fails_again, NULL);
    script_tell(&s, text);
    fprintf(stderr, "sim: the shortest: make sim SEED=%llu SCRIPT='%s'\n", (unsigned long long)s.seed, text);
    (void)script_fails_in_child(&s, true);
}

static void tell_failures(void)
{
    uint64_t sessions = 0;
    for (unsigned i = 0; i < CHUNKS; i++) {
        sessions += at_work[i].sessions;
        if (at_work[i].busy) tell_failure(&at_work[i].now);
    }
    if (getenv("U9_SIM_CASES")) printf("sim: %llu sessions were ended and recovered\n", (unsigned long long)sessions);
    (void)munmap(at_work, CHUNKS * sizeof *at_work);
}

static void play(progress *p)
{
    p->busy = true;
    p->sessions += script_play(&p->now);
    p->busy = false;
}

/* {F07} {F42} */
START_TEST(what_was_acknowledged_is_there_or_its_loss_is_told_whatever_calls_and_disk_do)
{
    uint64_t first = number_of("U9_SIM_SEED", 1), cases = number_of("U9_SIM_CASES", SHARE);
    const char *text = getenv("U9_SIM_SCRIPT");
    progress *p = &at_work[_i];
    if (text && text[0] && _i == 0) {
        MUST_SAY(script_read(&p->now, first, text), "not a script: %s", text);
        play(p);
    }
    for (uint64_t i = (uint64_t)_i; i < cases && !(text && text[0]); i += CHUNKS) {
        script_draw(&p->now, first + i);
        play(p);
    }
}
END_TEST

/* Found by seeds, and shrunk. */
START_TEST(scripts_that_failed_once_do_not_fail_again)
{
    static const struct {
        uint64_t seed;
        const char *text;
    } once[] = {
        {535635, "power append 2 open append batch 5 append fail 1 trim 12 trim 12"}, /* removed, and not yet said */
        {52, "open 1 lose 4 append sync append 4,16809 open power 47 append"},        /* nothing left to be mended */
        {521160, "batch async pass kill append commit fail 37 index"},                /* closed under a write */
        {113002, "rot 0,287 append open append open append"}, /* the log's id stood in the mark alone, and was made anew */
    };
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        script s;
        MUST(script_read(&s, once[i].seed, once[i].text));
        MUST(script_play(&s) > 0);
    }
}
END_TEST

START_TEST(a_script_is_read_as_it_is_told_and_drawn_the_same_again)
{
    static char text[SCRIPT_TEXT_MAX], again[SCRIPT_TEXT_MAX];
    unsigned kinds[3] = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        script s, other;
        script_draw(&s, seed);
        kinds[script_kind_of(&s)]++;
        script_tell(&s, text);
        MUST(script_read(&other, seed, text));
        script_tell(&other, again);
        MUST(strcmp(text, again) == 0 && other.count == s.count && other.seed == seed);
        script_draw(&other, seed);
        MUST(other.count == s.count && memcmp(other.steps, s.steps, s.count * sizeof *s.steps) == 0);
    }
    ck_assert(kinds[SCRIPT_CRASHES] > 40 && kinds[SCRIPT_FAULTS] > 40 && kinds[SCRIPT_LIES] > 40);
    script s;
    ck_assert(!script_read(&s, 1, "open 1 levitate 2"));
    ck_assert(!script_read(&s, 1, "append 1,2,3,4"));
}
END_TEST

/* An append, a sync somewhere behind it, and above 40 of whatever it is. */
static bool has_these_three(void *ctx, const script *s)
{
    bool appended = false, synced = false, many = false;
    (void)ctx;
    for (unsigned i = 0; i < s->count; i++) {
        appended |= s->steps[i].verb == DO_APPEND;
        synced |= appended && s->steps[i].verb == DO_SYNC;
        many |= s->steps[i].verb == DO_PASS && s->steps[i].arg[0] > 40;
    }
    return synced && many;
}

START_TEST(a_failing_script_is_cut_to_the_steps_and_numbers_that_it_needs)
{
    char text[SCRIPT_TEXT_MAX];
    unsigned found = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        script s;
        script_draw(&s, seed);
        if (!has_these_three(NULL, &s)) continue;
        unsigned asked = script_shrink(&s, has_these_three, NULL);
        script_tell(&s, text);
        MUST_SAY(s.count == 3 && asked < 4000, "'%s' after %u", text, asked);
        MUST_SAY(strstr(text, "pass 41") && strstr(text, "append") && strstr(text, "sync"), "'%s'", text);
        found++;
    }
    ck_assert_uint_gt(found, 10);
}
END_TEST

/* The oracle bites: above a disk whose syncs do nothing, who takes them for done loses what was acknowledged. */
START_TEST(an_oracle_that_trusts_a_lying_disk_fails_and_the_script_shrinks_to_the_lie)
{
    char text[SCRIPT_TEXT_MAX];
    script s;
    script_trust_disks();
    bool fails = false;
    for (uint64_t seed = 1; seed <= 40 && !fails; seed++) { /* what the power leaves is drawn */
        MUST(script_read(&s, seed, "open 6 append 2,100 commit close open 6,1 read append 3,50 append 1,9 "
                                   "batch 3,20 get 2 deaf 1 deaf 2 deaf 3 deaf 4 sync get 4 pass 90 append 2,20 "
                                   "power open 6 append 1 close"));
        fails = script_fails_in_child(&s, false);
    }
    MUST(fails);
    (void)script_shrink(&s, fails_again, NULL);
    script_tell(&s, text);
    MUST(script_fails_in_child(&s, false));
    ck_assert_msg(s.count <= 7 && strstr(text, "deaf") && strstr(text, "power"), "'%s'", text);
}
END_TEST

Suite *suite_script(void)
{
    Suite *suite = suite_create("script");
    TCase *tc = tcase_create("played");
    bool bounded = getenv("U9_SIM_CASES") == NULL && getenv("U9_SIM_SCRIPT") == NULL;
    tcase_add_unchecked_fixture(tc, share, tell_failures);
    tcase_set_timeout(tc, bounded ? 120 : 0);
    tcase_add_loop_test(tc, what_was_acknowledged_is_there_or_its_loss_is_told_whatever_calls_and_disk_do, 0, CHUNKS);
    suite_add_tcase(suite, tc);
    TCase *own = tcase_create("scripts");
    tcase_set_timeout(own, 120);
    tcase_add_test(own, scripts_that_failed_once_do_not_fail_again);
    tcase_add_test(own, a_script_is_read_as_it_is_told_and_drawn_the_same_again);
    tcase_add_test(own, a_failing_script_is_cut_to_the_steps_and_numbers_that_it_needs);
    tcase_add_test(own, an_oracle_that_trusts_a_lying_disk_fails_and_the_script_shrinks_to_the_lie);
    if (bounded) suite_add_tcase(suite, own);
    return suite;
}
