/*
 * tests/sim/sim.h: a world in memory for the engine: the env "sim", with a disk, a clock, randomness and an
 * executor of its own. One seed is one run: the same test makes the same calls in the same order, draws the
 * same secrets, and leaves the same files and the same diary.
 *
 *     engine --u9i_env--> fs.c, queue.c, sim.c --> calls.c: tick, plans, diary --> disk.c, image.c
 *     test   --verbs----------------------------------------------------------->
 *
 *   image.c    the bytes of a file: chunks, shared between copies, none where nothing was written
 *   disk.c     nodes: directories with names, files with images; paths lead to them
 *   calls.c    each call of the engine: entered in the diary, failed by a plan, held for a test
 *   diary.c    what the diary tells: how often, in which order, and what is durable by it
 *   kill.c     a process that is killed, and what lands afterwards
 *   power.c    what is durable, and what a power cut leaves: exactly that, or some of the rest too
 *   frozen.c   all that a power cut may leave, one state after the other
 *   lies.c     a disk that says done and has not done it; and a watch over who writes: buffers, promises
 *   trouble.c  bytes that show late or cannot be read; a lock that somebody else has
 *   watch.c    posts, and watches that are told
 *   fs.c       the calls on directories and files     queue.c   reads, writes and syncs under way
 *   sim.c      begin and end; clock, randomness, executor
 *   real.c     to and from the real disk
 *
 * What a call does is done at once, in the order of the calls, but for what a queue has under way: see
 * sim_order. What is durable is kept apart from what is written: a sync of a file makes durable what had been told
 * when it began, be it a call that had returned or a completion that had been taken; one of a directory its names.
 * All else may be lost when the power goes, in any part. A disk lies only where it is told to: sim_lie.
 *
 * Whoever writes is watched: a buffer that changes while its write is under way ends the test (abort, with a line on
 * stderr), and so do a file that is closed then, and, after sim_watch_promises, a promise of what is not durable.
 *
 * Short counts, EINTR and EAGAIN do not come through the door (env.h): tests/engine/os/test_short.c makes them below
 * it.
 *
 * Time stands still but for a microsecond per call, sim_advance, sleeping, and waiting until a deadline. Tasks
 * that are due run when it moves, and (sim_task_chance) when a call begins; in an order drawn from
 * the seed, never one within another, and never one whose guard is held.
 *
 * Threads: one, but after sim_begin_threads: then calls may come from any, the clock and the executor
 * are those of the env posix, and runs differ. A forked child that writes, or waits on its parent's queue,
 * exits with SIM_WRONG_PROCESS.
 */
#ifndef TESTS_SIM_H
#define TESTS_SIM_H

#include "engine/os/env.h"

#include <stdio.h>

enum { SIM_WRONG_PROCESS = 99 };

/* Begins an empty world, in place of one that there is, and registers it as the env "sim". */
void sim_begin(uint64_t seed);
void sim_begin_threads(uint64_t seed); /* the same, with threads that are real */
void sim_end(void);                    /* takes everything back; fine if there is none */
bool sim_in_use(void);
u9i_env *sim_env(void);

/* The diary */

typedef enum sim_kind {
    SIM_OPEN_DIR,
    SIM_LOCK,
    SIM_ASK, /* whether another has the lock; cannot fail */
    SIM_LIST,
    SIM_STAT,
    SIM_RENAME,
    SIM_LINK,
    SIM_DRESS, /* owner and mode */
    SIM_REMOVE,
    SIM_SYNC_DIR,
    SIM_OPEN,
    SIM_CREATE,
    SIM_SIZE,
    SIM_READ, /* at once or by a queue */
    SIM_DATA, /* where a hole ends; cannot fail */
    SIM_RESERVE,
    SIM_ZERO, /* zeros over what is reserved */
    SIM_TRUNCATE,
    SIM_EVICT, /* sync_and_evict */
    SIM_MAP,
    SIM_OPEN_QUEUE,
    SIM_SUBMIT, /* these two are entered only where they fail */
    SIM_WAIT,
    SIM_WRITE,
    SIM_SYNC,
    SIM_RANDOM,
    SIM_KINDS,
    SIM_ANY = SIM_KINDS /* in a plan and a count: whatever comes */
} sim_kind;

typedef struct sim_op {
    sim_kind kind;
    const char *path;      /* of the file or directory, as it was opened; good until sim_end */
    uint64_t segment;      /* the number that its name is, 0: none */
    uint64_t begin, end;   /* write, read, map: the range; reserve, truncate: [0, end) */
    uint64_t bytes;        /* read or written */
    int error;             /* what was told: 0 or a negative errno */
    uint64_t began, ended; /* ticks of one clock; ended 0: never told */
    bool durable;          /* a write that says so of itself */
} sim_op;

/* All of it; the array is good until the next call of the engine. */
const sim_op *sim_ops(size_t *count);
/* How many operations of this kind it holds, on all files or on one; and how many bytes they moved. */
unsigned sim_count(sim_kind kind);
unsigned sim_count_of(sim_kind kind, const char *path);
uint64_t sim_bytes(sim_kind kind);
/* The first operation of this kind on this segment that covers `at` (any: U9_NOWHERE); NULL if none. */
const sim_op *sim_find(sim_kind kind, uint64_t segment, uint64_t at);
/*
 * Up to where the segment is on stable storage at this tick, by the diary: writes told complete before a
 * sync began that was told complete, without holes; 0 before the name is. [W-2] [W-4]
 */
uint64_t sim_durable(uint64_t segment, uint64_t tick);
/* The diary in lines; free() it. Two runs that did the same have the same. */
char *sim_diary(void);
void sim_forget_diary(void);

/* Plans */

/* The nth call (from 1, counted from now) of this kind fails with `error`; sticky: all later too. */
void sim_fail(sim_kind kind, unsigned nth, int error, bool sticky);
/* The same for writes, of which the first half reaches the file. */
void sim_fail_half(unsigned nth, int error);
/* Plans pass by files of this name, and do not count what is done with them; NULL: none. Until sim_begin. */
void sim_spare(const char *name);
void sim_aim(const char *name); /* the reverse: plans look at no other files */
/* Drops the plans for this kind alone. */
void sim_fail_no_more(sim_kind kind);
/* Drops all plans, and the lies that are not told yet. */
void sim_mend(void);
/* Told of each call that a plan could let fail, before it is done; NULL: nobody. */
void sim_on_call(void (*hook)(sim_kind kind));
/* How many calls failed by a plan since sim_begin. */
unsigned sim_fired(void);

/*
 * When queues tell of what they have under way: at once; when somebody waits, and then one at a time, done
 * only then: the oldest, the newest, or one drawn from the seed. SIM_WILD, without threads: each operation is done at
 * a moment drawn from the seed, and told at that moment or at a later one: soon, late or very late, whatever the
 * others do; a wait whose deadline comes first gets nothing.
 */
typedef enum sim_order { SIM_PROMPT, SIM_LATE, SIM_REVERSED, SIM_DRAWN, SIM_WILD } sim_order;

void sim_set_order(sim_order order);

/* So many tasks are said to run at once; else 1, or 3 with threads. */
void sim_set_width(unsigned width);

/*
 * The process that has opened all that is open now is killed; the test goes on as another one. The killed one's
 * calls are still made (a handle is closed, to get its memory back), but upon copies of files and empty
 * directories, and are not told in the diary by a segment's name. Its locks are gone, but those of files on which
 * writes are under way: these land from sim_land on, one each `step_us`, in an order drawn from the seed, and
 * then the lock is gone too. Without threads only.
 */
void sim_kill(void);
void sim_kill_at_write(unsigned nth); /* once the nth write (from 1, counted from now) is submitted */
bool sim_killed(void);                /* that has happened, or sim_kill was called */
void sim_land(uint64_t step_us);      /* 0: all at once */
unsigned sim_late_writes(void);       /* how many have not landed */

/*
 * Lies: the nth write or sync (from 1, counted from now; of files that plans look at) is told done, and it is not so.
 * They are told of segments only: files named as such; or of those that are aimed at (sim_aim), and no others.
 */
typedef enum sim_lie_kind {
    SIM_LOST,  /* a write: nothing of it is there */
    SIM_STRAY, /* a write: it stands `arg` bytes further, and not where it belongs */
    SIM_ROT,   /* a write: its bit `arg` (modulo all) is flipped */
    SIM_DEAF   /* a sync, or a write that is to be durable when it is done: nothing is durable by it */
} sim_lie_kind;

void sim_lie(sim_lie_kind kind, unsigned nth, uint64_t arg);
unsigned sim_lies(void); /* how many were told since sim_begin */

/*
 * From now on each write is looked at as it is submitted: what it promises (the `durable` of a frame, the end that a
 * u9open names, a mark) must be on stable storage, the file's name too; else the test ends. Only while no lie was told.
 */
void sim_watch_promises(void);
unsigned sim_promises(void); /* how many were seen that promise something */

/* With threads: the nth call of this kind (from 1, counted from now) stops before it is done, until let go. */
void sim_hold(sim_kind kind, unsigned nth);
void sim_wait_held(void); /* until somebody stands there */
void sim_let_go(void);

/* Trouble */

/* When hidden bytes show. */
typedef enum sim_until {
    SIM_READ_BEHIND, /* a read reached behind them */
    SIM_ASKED,       /* somebody asked whether a writer has the lock */
    SIM_NEVER
} sim_until;

/*
 * Bytes [from, to) of a file are read as zeros: from the first read of some of them until that moment; or for
 * as many such reads.
 */
void sim_hide(const char *path, uint64_t from, uint64_t to, sim_until until);
void sim_hide_for(const char *path, uint64_t from, uint64_t to, unsigned reads);
/* Reads of some of them fail with `error`: so many, or (0) all. */
void sim_spoil(const char *path, uint64_t from, uint64_t to, int error, unsigned reads);
/* True if a read of some of them would fail now. */
bool sim_is_spoiled(const char *path, uint64_t from, uint64_t to);
/* The one that was told last begins only after so many reads of some of its bytes. */
void sim_delay(unsigned reads);
/* How many of these are still to come to their end; and their end. */
unsigned sim_troubles(void);
void sim_clear(void);

/* Somebody else has the lock of this directory or file, or gives it back. */
void sim_take_lock(const char *path);
void sim_drop_lock(const char *path);
/*
 * Called before each call but those of tasks and those that it makes itself, which may be any: what another process does
 * meanwhile. NULL: nobody. Without threads only.
 */
void sim_before_call(void (*hook)(sim_kind kind));
/* Called before a directory is listed for the nth time (from 1, counted from now); NULL: nobody. */
void sim_before_list(void (*hook)(unsigned nth));

/* Which machine the env is from now on, 1 at first; 0: one that has no id. */
void sim_be_machine(unsigned number);

/* Time and tasks */

/* Time passes, and what is due in it runs, each task at its time. Without threads only. */
void sim_advance(uint64_t us);
/* The wall clock from now on; it goes on with the monotonic one. */
void sim_set_wall(uint64_t us);
/* In how many of 100 calls that begin a task that is due and can run does: 25 at first. */
void sim_task_chance(unsigned percent);
/* How many tasks wait for their time, or for their turn. */
unsigned sim_tasks(void);

/* The disk. A path begins at the root, with "/" or without. What cannot be done ends the test. */

bool sim_holds(const char *path); /* there is a world, and the path in it */
bool sim_is_dir(const char *path);
void sim_make_dir(const char *path); /* and what is missing above it */
uint64_t sim_size(const char *path);
unsigned sim_links(const char *path); /* names of the file */
void sim_dress(const char *path, uint64_t owner, uint64_t mode); /* 0 and 0 at first */
void sim_link(const char *path, const char *other);
size_t sim_read(const char *path, uint64_t off, void *buf, size_t n); /* returns how many */
void sim_write(const char *path, uint64_t off, const void *bytes, size_t n); /* makes the file */
void sim_decay(const char *path, uint64_t off, uint8_t mask); /* one byte of it, behind the file system's back */
void sim_resize(const char *path, uint64_t size);                            /* so does this */
void sim_remove(const char *path); /* and what is in it */
void sim_move(const char *from, const char *to);
void sim_copy(const char *from, const char *to); /* a file, or a directory of files */
/*
 * The files in a directory are what was synced of them, under the names that were synced. What tests write themselves
 * is durable, and a copy's is what its source's was.
 */
void sim_cut_power(const char *path);
/*
 * The power goes, on the whole disk: of all that is not durable, and of what is under way, there is then what the
 * seed says, down to single sectors of 512 bytes and single names (power.c has the table); and whoever had something
 * open is killed, with nothing left to land. Without threads only.
 */
void sim_lose_power(void);
void sim_lose_power_at(unsigned nth); /* behind the nth call, submission or completion (from 1, counted from now) */
/*
 * The same, but what is not durable is left open, to be looked at: who had something open is killed, and the
 * directories stay frozen. Of one of them sim_frozen tells what is open, in units, and sim_thaw makes a directory
 * `to` that holds what a power cut may have left: of unit i that which is chosen, and all that is durable. A unit is
 * a change of a name, a new size, or a write, in the order in which they were done. A write has pieces: bit k of
 * `pieces` is its stretch [k, k+1) of SIM_PIECE bytes; for other units it is 0 or 1.
 */
enum { SIM_PIECE = 1024, SIM_UNITS_MAX = 24 };

typedef struct sim_unit {
    uint64_t pieces; /* a bit for each that it has: at most 8, of which the last takes what there is behind it */
    bool write;
} sim_unit;

void sim_freeze_at(unsigned nth);
unsigned sim_frozen(const char *path, sim_unit units[SIM_UNITS_MAX]);
void sim_thaw(const char *path, const char *to, const uint64_t pieces[SIM_UNITS_MAX]);
/* A hash of what a directory holds: names and bytes. */
uint64_t sim_digest(const char *path);
unsigned sim_deaths(void);            /* how many processes were killed so far, by the power or otherwise */
/* The names in a directory, in order: free() each and the array. */
char **sim_names(const char *path, size_t *count);

/* Copies a file, or a directory of files, from the real disk and to it. */
void sim_load(const char *real, const char *path);
void sim_store(const char *path, const char *real);

/* From now on, in this process, the world is not had: see needed.h. */
void sim_stay_away(void);
bool sim_is_away(void);
const char *sim_io(void); /* the name of its env; NULL, that of the run, where it is not had */
void sim_needed(const char *what);

#ifndef SIM_WITHIN
#include "tests/sim/needed.h"
#endif

#endif
