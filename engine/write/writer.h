/*
 * engine/write/writer.h: appends records to a log. [W-1] to [W-6] [S-3] to [S-6] [L-7]
 *
 * Room: engine/write
 * Sees: include format/base format/value format/id format/frame engine/os engine/segment engine/index engine/idgen
 *
 * The room owns the way of a record to the disk. A writer is a session; it writes nothing before its first append.
 *
 *     append --lock--> slot, which is filled            (slots.h)
 *       any thread --> hashes sealed slots, several at once, in any order; compresses, masks
 *       one driver --> gives hashed ones their order (sequencer.h), lays them onto the stream (stream.h), which
 *                      submits whole blocks, takes completions in, syncs; rolls to the next file (segment_out.h)
 *     -> what is durable moves, who waits for it is woken; later frames carry it as their promise
 *
 * Threads: any number, but open, close and release, which are alone. The lock is held for a few lines, and while
 * records are copied: never while anything is hashed, compressed, written or waited for. The driver is whoever finds
 * that role free when something is to be done: an appender whose frame is full, a committer, the tick of the log. A
 * thread that is alone does all in turn and waits for nobody. Frames are taken to be hashed, and are told to be, under a
 * lock of the slots' own, so that who hashes never waits for a copy.
 *
 * Records are copied under the lock because the next frame's place is only known when it is known whether the present
 * one holds the boundary and grows by a mask (F-7); and the copy of a record costs less than telling of its end.
 */
#ifndef U9I_WRITER_H
#define U9I_WRITER_H

#include "engine/idgen/keygen.h"
#include "engine/os/gate.h"
#include "engine/write/plan.h"
#include "engine/write/segment_out.h"
#include "engine/write/slots.h"
#include "engine/write/stream.h"

#include <u9/log.h>

/* Where threads of a writer wait. */
enum {
    U9I_GATE_ROOM,   /* for a slot, for the driver's role, for an old file to be sealed */
    U9I_GATE_HASHED, /* the driver, for a hash that another thread makes */
    U9I_GATE_GROUP,  /* two, in turn: committers whose records are on their way, and those who gather behind them */
    U9I_GATES = U9I_GATE_GROUP + 2
};

/*
 * Makes this durable in the log's mark, and returns when that is so: before a file is sealed, its successor is named
 * there. [M-5] U9_AGAIN: that cannot be tried just now. Called by a thread that has no lock of the writer.
 */
typedef u9_err u9i_witness_fn(void *ctx, const u9i_mark_record *mark);

/* Asked at each roll by the driver: which segments the new file is to say are not kept; segment 0: as before. [L-10] */
typedef void u9i_retain_fn(void *ctx, u9i_trim_record *out);

/* The record in parts that is being written, of which there is one at most. [C-6] See row.h. */
typedef struct u9i_writer_row {
    bool open;      /* there is one: */
    bool barred;    /*   its first part is in the file, so the writer stays in that: no roll */
    uint64_t needs; /*   bytes that what is to come of it takes in the file, at most */
} u9i_writer_row;

/* The keys of one file, from its beginning in this session on. */
typedef struct u9i_file_keys {
    pthread_mutex_t lock; /* guards `keys`; nothing else is taken while it is held */
    u9i_keys keys;
    uint64_t number;      /* the file's; these change under the writer's lock too: */
    u9i_secret secret;
    bool whole;           /* the session began the file: they are all its keys */
    bool old;             /* the file was rolled, and is not yet sealed */
} u9i_file_keys;

/* Where a record of a key may be in a file that the session wrote, or writes. */
typedef struct u9i_written_spot {
    uint64_t segment;
    u9i_secret secret;
    u9i_keyspec spec;
    uint64_t at, frame; /* as by u9i_keys_find */
} u9i_written_spot;

enum { U9I_HASHERS = 3 }; /* at most */

/* A task that hashes beside appenders and driver, without the lock of the writer; the slots' lock guards: */
typedef struct u9i_hash_task {
    u9i_task task;
    struct u9i_writer *writer;
    bool submitted;
    bool begun; /* it looks for frames itself, as long as there are some */
} u9i_hash_task;

typedef struct u9i_writer {
    /* The same from open to release: */
    u9i_dir *dir; /* borrows */
    u9i_env *env; /* its */
    char path[4096];
    char place[256 + 3];  /* the directory's name from within it, "": that cannot be told; and */
    uint64_t identity[2]; /*   which one it is */
    bool lz4;          /* frames are compressed */
    bool no_wait;      /* appends say AGAIN rather than wait for memory */
    u9_policy policy;
    uint64_t segment_size;
    uint64_t medallion;
    size_t fresh_size; /* bytes of a fresh key as a value */
    uint8_t session[16];
    u9i_plan plan; /* what the session's u9open says; but what is trimmed is guarded by the lock, what is left the driver's */
    u9i_witness_fn *witness; /* NULL: nobody is told */
    void *witness_ctx;
    u9i_retain_fn *retain; /* NULL: nothing is trimmed */
    void *retain_ctx;
    void (*posts)(void *ctx); /* called without a lock whenever `durable` has moved, before anybody is told; NULL: nobody */
    void (*told)(void *ctx);  /* the same, when u9i_writer_durable tells it */
    void *told_ctx;           /* of both */

    pthread_mutex_t lock; /* guards, up to the driver's: */
    bool driving;         /* somebody is the driver */
    bool started;         /* the u9open is laid; set atomically */
    bool padded;          /* a block begins behind the last sealed frame */
    u9i_keygen keygen;
    u9i_writer_row row;
    u9i_slots slots;
    u9i_place fill;       /* behind the last sealed frame, where frames are filled in the stream */
    uint64_t placed;      /* offset behind the last sequenced frame, and what follows it to be padded */
    uint64_t ahead;       /* bytes, at most, that frames sealed and not yet sequenced will take */
    uint64_t reserved;    /* the current file has blocks below this */
    bool rolling;         /* the driver goes over to the next file: nothing is filled meanwhile */
    bool tight;           /* there was no room for a frame of the usual size: smaller ones do */
    uint64_t reserving_to; /* there are to be blocks below this, which comes in the background: */
    bool reserving;       /*   the task is submitted, and nobody else asks for space in the file */
    uint64_t zeroing_to;  /* it writes zeros from out.zeroed up to there, where nothing is laid meanwhile; 0: none */
    bool scarce;          /*   it failed: space is asked for when it is needed */
    u9i_task reserver;
    uint64_t next;        /* ordinal of the next record */
    uint64_t done;        /* the stream's, as the driver saw it last */
    uint64_t stamp;       /* timestamp of the muids of the frame that is filled [L-7] */
    uint64_t seen_us;     /* the latest time in a key, given or made */
    uint64_t time_us;     /* of the last sealed frame */
    uint64_t given_us;    /* what frames have for the time, or the last one's, if that is later; 0, and beyond it: the clock's */
    uint64_t first_us;    /* monotonic time of the oldest record not under a sync; 0: none */
    uint8_t mask_seed[U9I_HASH_SIZE]; /* masks are drawn from it */
    uint64_t masks;       /* so many were */
    unsigned shrinkless, lz4_rest; /* frames in a row that did not shrink; how many are not tried now: the slots' lock guards */
    u9i_hash_task hashers[U9I_HASHERS];
    unsigned hashers_most; /* of these are used; does not change */

    u9i_position durable; /* what is known to be durable; its offset is in the current file [W-2] */
    uint64_t durable_ordinal; /* its ordinal, to be loaded atomically */
    uint64_t synced_us;   /* monotonic time of the last sync's end */
    uint64_t flushing;    /* records below this ordinal are on their way to be durable */
    unsigned group;       /* the gate, 0 or 1, of those who gather */
    unsigned committers;  /* how many have gathered */
    uint32_t waiting;     /* a bit for each gate at which somebody may wait */
    uint32_t wake_all, wake_one; /* gates to be woken when the lock is given back */
    bool only_filled;     /* since the lock was taken, records came into a frame and nothing else happened: not checked */
    u9i_gate gates[U9I_GATES];
    uint64_t async_below; /* records below this were asked to become durable, by nobody who waits; */
    bool asked;           /*   the committer is submitted */
    u9i_task committer;
    u9_stats stats;

    u9_fault poison;      /* err != U9_OK: the first failure of a write or sync [W-6]; */
    bool poisoned;        /*   then this is set, to be loaded atomically */

    /* The driver's alone; `out` and `old` change under the lock: */
    u9i_segment_out out;  /* the current file */
    u9i_segment_out old;  /* file NULL: none is to be sealed */
    uint64_t old_durable; /* offset, while nothing of `out` is: the same of `old` */
    bool crossing;        /* its last data are not known to be durable: nothing goes to `out` yet [S-6] */
    u9i_stream stream;
    u9i_position written; /* up to here the current file is written; while crossing, the old one */
    u9i_position syncing; /* what the sync under way covers */
    uint64_t sync_at;     /* a sync is begun when so much is written [W-5] */
    unsigned company;     /* who waited with the last group */
    u9i_task sealer;      /* seals `old`: */
    bool sealing;         /*   it is submitted */

    u9i_file_keys keys[2]; /* of the current file, and of the one before while that is not sealed; see writer_find.c */
    unsigned keys_now;     /* which are the current file's; changes under the lock */
    uint64_t keys_left;    /* as u9i_keys_left of them; atomic */
    uint64_t keyed_from;   /* segments from this number on are found by these; atomic */
} u9i_writer;

/* Readies a session on the locked directory, by this plan. U9_ARG, U9_IO, U9_NOMEM. On failure nothing is held. */
U9_MUST_CHECK u9_err u9i_writer_open(u9i_writer *writer, u9i_dir *dir, const char *path,
                                     const u9i_plan *plan, const u9_options *options,
                                     u9_fault *fault);

/* Bytes at which a segment is rolled, by these options. */
static inline uint64_t u9i_segment_size(const u9_options *options)
{
    return options->segment_size ? options->segment_size : UINT64_C(1) << 28;
}

/* Appends a batch into one frame. Errors as u9_log_append_batch. */
U9_MUST_CHECK u9_err u9i_writer_append(u9i_writer *writer, const u9_entry *entries, size_t count,
                                       u9_place *places, u9_fault *fault);

/* The same, into a frame that holds nothing else. */
U9_MUST_CHECK u9_err u9i_writer_append_alone(u9i_writer *writer, const u9_entry *entries, size_t count,
                                             u9_fault *fault);

/*
 * Appends the records of a body that was read and proven [B-2], byte for byte, into a frame that holds nothing
 * else. Nothing in them is looked into, and their keys may be of any kind. Compressed if `lz4` and the
 * writer's options have it. U9_LIMIT, U9_IO, U9_POISONED.
 */
U9_MUST_CHECK u9_err u9i_writer_append_body(u9i_writer *writer, const uint8_t *body, size_t size,
                                            uint32_t count, bool lz4, u9_fault *fault);

/* Where everything before is durable, as a mark says it; false: nowhere yet in the present file. [M-5] */
bool u9i_writer_mark(u9i_writer *writer, u9i_mark_record *out);

/*
 * Up to which offset the file that is written is durable, or, while nothing of that is, the one before. False: the session
 * has no file yet, or neither is known. `number` and `boundary` (16 bytes) are the file's. [M-10]
 */
bool u9i_writer_reached(u9i_writer *writer, uint64_t *number, uint8_t *boundary, uint64_t *end);

/* Begins the session at once, durably: a log that is made. [M-6] */
U9_MUST_CHECK u9_err u9i_writer_create(u9i_writer *writer, u9_fault *fault);

/*
 * Says that segments below `trim->segment` are not kept, durably, in a new file, which the session begins or goes over
 * to. Everything appended is durable then, too: that is what `mark` says, whatever others append meanwhile. U9_IO: there is
 * no room, or U9_AGAIN: a record in parts is being written; nothing changed. U9_POISONED. [L-10] [C-6]
 */
U9_MUST_CHECK u9_err u9i_writer_trim(u9i_writer *writer, const u9i_trim_record *trim, u9i_mark_record *mark, u9_fault *fault);

/* What is begun and marked from here on says that the log is kept from there on: something else says so already. [L-10] */
void u9i_writer_keep_from(u9i_writer *writer, const u9i_trim_record *trim);

/* From which segment on the log is kept, by what this session or an earlier one says, or is about to; 0: it is poisoned. */
uint64_t u9i_writer_kept_from(u9i_writer *writer);

/* The file that is written, and about how many bytes of it are; 0: none yet. */
uint64_t u9i_writer_tip(u9i_writer *writer, uint64_t *bytes);

/* The ordinal of the next record. */
uint64_t u9i_writer_next(u9i_writer *writer);

/* Records below this ordinal are durable. One load. */
static inline uint64_t u9i_writer_durable(const u9i_writer *writer)
{
    return __atomic_load_n(&writer->durable_ordinal, __ATOMIC_ACQUIRE);
}

static inline bool u9i_writer_is_poisoned(const u9i_writer *writer)
{
    return __atomic_load_n(&writer->poisoned, __ATOMIC_ACQUIRE);
}

/* They are, and the writer is not poisoned: a commit of them is a success. Without the lock. */
static inline bool u9i_writer_has(const u9i_writer *writer, uint64_t below)
{
    return u9i_writer_durable(writer) >= below && !u9i_writer_is_poisoned(writer);
}

/* Waits until the records below this ordinal, which are appended, are durable. */
U9_MUST_CHECK u9_err u9i_writer_commit(u9i_writer *writer, uint64_t below, u9_fault *fault);

/* The same, without waiting. */
U9_MUST_CHECK u9_err u9i_writer_commit_async(u9i_writer *writer, uint64_t below, u9_fault *fault);

void u9i_writer_stats(u9i_writer *writer, u9_stats *out);

/* Makes everything appended durable. */
U9_MUST_CHECK u9_err u9i_writer_sync(u9i_writer *writer, u9_fault *fault);

/*
 * What is due: takes completions in; syncs what is `interval_us` old, or carries the promise of what was synced
 * `promise_us` ago [W-5]. Waits for no other thread. True if there is more to come. The lock is held on the way in and
 * out: it is the guard of the task that ticks.
 */
bool u9i_writer_tick(u9i_writer *writer, uint64_t interval_us, uint64_t promise_us);

/* The number of the first segment whose records u9i_writer_find finds: what of it the session wrote. One atomic load. */
static inline uint64_t u9i_writer_keyed_from(const u9i_writer *writer)
{
    return __atomic_load_n(&writer->keyed_from, __ATOMIC_ACQUIRE);
}

/* False: the session has no record yet, so that u9i_writer_find finds none. One atomic load. */
static inline bool u9i_writer_has_begun(const u9i_writer *writer)
{
    return __atomic_load_n(&writer->started, __ATOMIC_ACQUIRE);
}

/*
 * The newest record of this key in these segments, written or not. U9_OK: it is copied to `buf`, which `out` borrows.
 * U9_LIMIT: it has more than `cap` bytes, and only the rest of `out` is filled. U9_AGAIN: if there is one it is at
 * one of `*count` spots, in a file, the newer one first. U9_ABSENT. U9_CORRUPT: they do not say. Thread-safe.
 */
U9_MUST_CHECK u9_err u9i_writer_find(u9i_writer *writer, const u9_key *key, void *buf, size_t cap, u9_record *out,
                                     u9i_written_spot spots[2], unsigned *count);

/* Once all that is appended now is written: the same of what has its place. U9_AGAIN, U9_ABSENT, U9_CORRUPT. */
U9_MUST_CHECK u9_err u9i_writer_find_written(u9i_writer *writer, const u9_key *key, u9i_written_spot spots[2], unsigned *count);

/* The lock, and what is to be woken when it is given back. */
void u9i_writer_lock(u9i_writer *writer);
void u9i_writer_unlock(u9i_writer *writer);

/* For the end of a task whose guard the lock is: the executor, which gives that back, wakes nobody. */
void u9i_writer_rest(u9i_writer *writer);

/* True if something is appended for which no sync was begun. */
bool u9i_writer_waits(u9i_writer *writer);

/* True if more is not durable than policy interval allows to be lost: 32 MiB, or what is older than this. */
bool u9i_writer_is_behind(u9i_writer *writer, uint64_t interval_us);

/* Ends the session: everything durable, the file closed. Then frees. [S-4] */
u9_err u9i_writer_close(u9i_writer *writer, u9_fault *fault);

/* Frees without writing; in a forked child, whose parent goes on, also without waiting. */
void u9i_writer_release(u9i_writer *writer);

#endif
