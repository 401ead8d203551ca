/*
 * tests/sim/script.h: a run of the simulation as data: a list of steps, drawn from a seed or written as a line of text,
 * that can be played, told on one line, and cut down to what of it still fails.
 *
 *     script.c   steps: drawn, as text and back, shrunk      play.c   the engine goes through them, and the oracle
 *
 * A line is steps with blanks between: a verb, and up to three numbers behind it: "open 1,0 append 3,200 power 17".
 * Numbers are taken modulo what there is: every line of known verbs can be played.
 */
#ifndef TESTS_SIM_SCRIPT_H
#define TESTS_SIM_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define SCRIPT_VERBS(X) \
    X(OPEN,   "open")   /* a session: its options by the bits of a, how the disk tells by b */ \
    X(APPEND, "append") /* a records of about b bytes, one by one */ \
    X(BATCH,  "batch")  /* as many in one batch */ \
    X(COMMIT, "commit") /* the last record */ \
    X(ASYNC,  "async")  /* the same, without waiting */ \
    X(SYNC,   "sync") \
    X(PASS,   "pass")   /* a microseconds */ \
    X(READ,   "read")   /* a reader beside the writer goes through the log */ \
    X(GET,    "get")    /* and looks up a record */ \
    X(TRIM,   "trim")   /* records below a hundredths of all that are there may go */ \
    X(INDEX,  "index")  /* somebody makes the indexes that are missing */ \
    X(DROP,   "drop")   /* and removes those beside segments */ \
    X(CLOSE,  "close") \
    X(KILL,   "kill")   /* a: what is under way lands, each so many microseconds behind the one before */ \
    X(KILLAT, "killat") /* once the a-th write from here is submitted */ \
    X(POWER,  "power")  /* it goes: now (0), or behind the a-th call from here */ \
    X(FAIL,   "fail")   /* of calls of kind a the b-th from here fails with an error number of the list, c */ \
    X(STUCK,  "stuck")  /* and all that come later */ \
    X(HALF,   "half")   /* the a-th write fails, and half of it is there */ \
    X(MEND,   "mend")   /* no call fails any more */ \
    X(LOSE,   "lose")   /* lies, told of the a-th write: it is not there; */ \
    X(STRAY,  "stray")  /*   it is b blocks further; */ \
    X(ROT,    "rot")    /*   its bit b is flipped; */ \
    X(DEAF,   "deaf")   /*   and of the a-th sync */
/* clang-format on */

typedef enum script_verb {
#define SCRIPT_VERB(verb, text) DO_##verb,
    SCRIPT_VERBS(SCRIPT_VERB)
#undef SCRIPT_VERB
    SCRIPT_VERB_COUNT
} script_verb;

enum { SCRIPT_STEPS_MAX = 200, SCRIPT_TEXT_MAX = 6000 };

typedef struct script_step {
    script_verb verb;
    unsigned arg[3];
} script_step;

typedef struct script {
    uint64_t seed; /* of the world that it is played in */
    unsigned count;
    script_step steps[SCRIPT_STEPS_MAX];
} script;

/* What there is in a script, besides crashes. */
typedef enum script_kind { SCRIPT_CRASHES, SCRIPT_FAULTS, SCRIPT_LIES } script_kind;

/* The script of a seed; its kind follows from the seed, too. */
void script_draw(script *s, uint64_t seed);
script_kind script_kind_of(const script *s);
void script_tell(const script *s, char out[SCRIPT_TEXT_MAX]);
bool script_read(script *s, uint64_t seed, const char *text); /* false: not one */

/*
 * Shortens it as long as `fails` says yes: steps are left out, many at a time and then one by one, and numbers made
 * smaller. What is left fails, and each single step of it is needed. Returns how often it was asked.
 */
typedef bool script_fails(void *ctx, const script *s);
unsigned script_shrink(script *s, script_fails *fails, void *ctx);

/*
 * Plays it in a world of its own, and asks the oracle after each session: a failure ends the test, or the process, with
 * its sentence. Returns how many sessions there were, each of which ended in a crash or a close, and was recovered.
 */
unsigned script_play(const script *s);
/* Whether it fails, tried by a forked child; its last words go to stderr only if `aloud`. */
bool script_fails_in_child(const script *s, bool aloud);
/* The oracle takes it from now on that no disk lies: where one does, it fails. For tests of the oracle itself. */
void script_trust_disks(void);

/* The text of a record follows from its number and about how long it is. */
size_t script_text(unsigned number, unsigned size, char *out);

#endif
