/*
 * u9/log.h: open a log, append records, read them back (SPEC.md, L-*, S-*, R-*).
 *
 * A log is a directory of segment files. A record is a tuple `(key v1 v2 ...)`; the key is made by
 * the log or given; its kind is the log's. The words: a record is *appended* once u9_log_append returned
 * its ordinal, and *durable* once it is known to be on stable storage: u9_log_commit and
 * u9_log_sync wait for that, u9_log_durable tells.
 *
 * Threads: any number of threads may append, commit and get through one u9_log. A u9_cursor
 * belongs to one thread at a time. Nothing may be called on a handle while it is being closed.
 * A process forked off must not use its parent's handles: calls return U9_STATE there, and
 * u9_log_close only frees memory and descriptors.
 */
#ifndef U9_LOG_H
#define U9_LOG_H

#include <u9/check.h>
#include <u9/err.h>
#include <u9/generator.h>
#include <u9/id.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct u9_log u9_log;       /* opaque; one open log */
typedef struct u9_cursor u9_cursor; /* opaque; one walk over its records */

#define U9_RECORD_MAX (UINT64_C(1) << 24) /* bytes of one encoded record, and of one batch */

typedef enum u9_mode {
    U9_READ = 1, /* the log must exist; changes nothing, needs no lock */
    U9_WRITE,    /* the log must exist; one writer at a time */
    U9_CREATE    /* as U9_WRITE; makes the log if there is none, and its directory if it is missing */
} u9_mode;

/*
 * Who waits for stable storage. In each policy the writer syncs at least every 32 MiB and every options.interval_ms.
 * A commit takes one block of 4096 bytes at least, alone or for a whole group: who commits small records one by one,
 * and has the time, commits batches, or waits for an interval.
 */
typedef enum u9_policy {
    U9_POLICY_COMMIT = 0, /* u9_log_commit waits until the record is durable; zeros are written ahead of small commits */
    U9_POLICY_INTERVAL,   /* nobody waits, unless over 32 MiB, or what is older than the interval, is not yet durable */
    U9_POLICY_NONE        /* nobody waits */
} u9_policy;

/*
 * How often the hash of a frame is compared with its bytes. What a frame says of itself and of the one before is judged
 * each time; u9_check, u9_salvage and u9fsck verify all, always.
 */
typedef enum u9_verify {
    U9_VERIFY_FIRST = 0, /* once, by whichever cursor or lookup comes to it first, while the handle is open and the file
                          * is as it was. The file system is asked for that by who comes to a segment: a change under a
                          * cursor that is in it already, or behind the file system's back, is not seen */
    U9_VERIFY_ALWAYS,    /* each time */
    U9_VERIFY_NEVER      /* not at all in sealed segments: damage within records is then found only where it breaks their
                          * form. In others, where a crash may have torn frames, as U9_VERIFY_FIRST */
} u9_verify;

/*
 * Told that the records below `durable` are durable: by whichever thread came to know it, one of the host's within a
 * call or one of the library's own, several perhaps at once and so not in order. It must be quick, and call nothing on
 * the log but u9_log_durable: work is handed on from here, or the log's u9_log_event_fd is watched instead.
 */
typedef void u9_durable_fn(void *ctx, uint64_t durable);

/*
 * Options of u9_log_open. Set `size` to sizeof(u9_options) and everything else to zero for the
 * defaults; later versions add fields at the end, and take the sizes that earlier ones had, but no others.
 */
typedef struct u9_options {
    size_t size;             /* sizeof(u9_options) */
    u9_mode mode;            /* 0: U9_READ */
    u9_policy policy;        /* who waits; writers only */
    int lz4;                 /* not 0: frames are compressed where that makes them smaller */
    uint64_t segment_size;   /* bytes at which a segment is rolled; 0: 256 MiB; at least 64 KiB */
    const char *io;          /* "posix", "uring", NULL: U9_IO from the environment, else the best */
    u9_damage_fn *on_damage; /* told of each damage once per walk that meets it; may be NULL */
    void *on_damage_ctx;     /* its first argument */
    const char *kind;        /* key kind of a new log (u9/key.h), NULL or "": "muid"; of one that is there
                              * the same, or neither. Where none of its u9opens is left that names it, a new log's;
                              * U9_ARG if the keys that are there have another form [L-6] */
    uint32_t generator;      /* kind uid8, fresh keys: the generator's number, 0 .. 2047, and cluster, */
    uint32_t cluster;        /* 0 .. 15: no other writer may use this pair at the same time. Both 0: none is given */
    int generator_given;     /* not 0: they are given, also if both are 0 */
    const u9_generator *numbers; /* instead: where a number is had from (u9/generator.h), copied. Without either,
                              * records of a log of kind uid8 must bring their keys [I-23] */
    uint64_t medallion;      /* of muids that are made: 1 .. U9_MUID_MEDALLION_MAX - 1, which no other node may
                              * have; 0: that of the log where it lies, which stays over sessions [I-22] */
    uint64_t keep_bytes;     /* writers; not 0: the oldest segments go as long as files of at least so many bytes stay, */
    uint64_t keep_age_us;    /* and those whose records are all older than this, microseconds; 0: no matter how old. It
                              * is looked for at open, which waits for that, and when a segment is rolled; what goes
                              * then is removed in the background. A failure hinders neither, is tried again at the
                              * next roll, and if nothing did better since is told by u9_log_close [L-10] (u9/trim.h) */
    uint64_t interval_ms;    /* writers: what nobody commits is synced after so many milliseconds, 1 to 1000; 0: 1000 */
    uint64_t memory;         /* writers: bytes of records on their way to the disk, 4 MiB to 1 GiB; 0: 32 MiB. A batch
                              * of over an eighth of that is on its way alone, and takes what it needs meanwhile */
    int no_wait;             /* writers, not 0: an append that would wait for such memory, or while others wait for
                              * the disk, returns U9_AGAIN, and may be tried again. (It may still wait for a roll.) */
    u9_durable_fn *on_durable; /* writers: called when u9_log_durable has moved; may be NULL */
    void *on_durable_ctx;    /* its first argument */
    u9_verify verify;        /* 0: U9_VERIFY_FIRST */
    uint64_t index_memory;   /* bytes for the keys of one segment, 1 MiB to 16 GiB; 0: 64 MiB. A writer begins another
                              * segment when they are used up; of a segment without an index that has more keys, readers
                              * make none, and lookups scan it [K-3] */
    uint64_t cache_memory;   /* bytes for what lookups keep of frames, indexes and filters, about; 0: 256 MiB. What does
                              * not fit is read once more by each lookup that wants it, a frame at most and some small
                              * reads, and not hashed again. Beside it are indexes that are made of segments without one
                              * (index_memory), and some 100 bytes for 64 KiB of each segment that is looked up in */
    int mend;                /* readers, not 0: frames whose header, padding or trailer is damaged are put together again
                              * where that can be proven, and served (SPEC.md, Y); each is told as a damage with `mended`.
                              * What is read of a segment for the first time is then read twice */
} u9_options;

/*
 * Opens the log at `path`: a directory, or (mode U9_READ) a single segment file. Either may be of plain seed
 * files, which are only read: their records have no time, and perhaps no key [E-3]; a directory of them is U9_ARG
 * to writers. Nothing on disk is changed by opening a log, but options.keep_bytes and keep_age_us may trim it, and
 * U9_CREATE makes one where there is none (SPEC.md, M-6), which then is there, empty, its key kind fixed, even after a
 * crash: it waits for the disk. `options` may be
 * NULL (read). On success `*out` is a handle that the caller closes with u9_log_close. Errors: U9_IO (sys: ENOENT,
 * ENOTDIR, EACCES ...; for writers also where the log's end may depend on bytes that cannot be read: segment and
 * offset are told), U9_ABSENT (the directory holds no log yet; not with U9_CREATE), U9_CORRUPT (not a log; for
 * writers also a missing segment, or a fork), U9_VERSION, U9_LOCKED (another writer has the log; or, tried for ten
 * seconds, a killed writer's last writes are still under way), U9_ARG, U9_NOMEM; U9_CREATE also U9_POISONED (a write
 * or sync failed while the log was made).
 */
U9_API U9_MUST_CHECK u9_err u9_log_open(const char *path, const u9_options *options, u9_log **out,
                                        u9_fault *fault);

/*
 * Tells `fn`, in the log's order, all that is known to be wrong with it without reading it: what is missing, segments of
 * other logs, copies, forks, headers that are damaged, as the directory is now. Opening a log that is damaged succeeds
 * for reading; this says what of it is not there. (Damage within segments is met by reading: options.on_damage,
 * u9_cursor_damage, u9_check.) `ctx` is fn's first argument; it must not call back into the handle. U9_OK, whatever was
 * told; U9_ARG, U9_IO, U9_NOMEM, U9_VERSION, U9_STATE (forked). Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_log_damages(u9_log *log, u9_damage_fn *fn, void *ctx, u9_fault *fault);

/*
 * Makes everything appended durable, ends the session cleanly and frees the handle. The handle is
 * gone whatever is returned; all cursors on it must have been closed. NULL is fine. U9_IO with rule M-5: all is
 * durable and closed, but the log's mark, which confirms that from outside of its segments, could not be written; with
 * rule L-10: the same, but what options.keep_bytes and keep_age_us say could not be done.
 */
U9_API u9_err u9_log_close(u9_log *log, u9_fault *fault);

/* A key in its raw form (u9/key.h): 16 packed bytes for a muid. Borrows. */
typedef struct u9_key {
    const void *data;
    size_t size; /* bytes */
} u9_key;

/* Where a record went. */
typedef struct u9_place {
    uint64_t ordinal;  /* its number in the log, from 0 */
    uint8_t key[16];   /* its key in raw form, given or made, if it has at most 16 bytes */
    uint32_t key_size; /* bytes of it; 0 if it is longer */
} u9_place;

/*
 * Appends one record: `values` are `size` bytes of utf9 values back to back (they become v1 v2 ...;
 * may be empty). `key` NULL: a fresh one, where the log's kind can be made; one of kind uid8 is made under a
 * generator number, which may have to be waited for (u9/generator.h). The bytes are copied. No allocation, no
 * system call in the common case. `place` may be NULL.
 * Errors, with their detail in u9_log_fault: U9_ARG (values are not well-formed back to back: the fault has no
 * path, its offset is the byte of `values`, and its rule one of SPEC-values.md; key not of the log's kind; an
 * argument is NULL; a fresh key of kind uid8, and options.generator and numbers are not given), U9_LIMIT (record
 * over U9_RECORD_MAX: u9/large.h takes it), U9_IO with sys ENOSPC or EFBIG (no room: the record was not accepted, the
 * log goes on when there is some), U9_AGAIN (options.no_wait: it would have waited; kind uid8: the clock stands still, or
 * no generator number is to be had now; other errors of options.numbers as they are; and beside a record of u9/large.h
 * that leaves no room in its segment), U9_POISONED, U9_STATE (opened for reading; forked).
 */
U9_API U9_MUST_CHECK u9_err u9_log_append(u9_log *log, const u9_key *key, const void *values,
                                          size_t size, u9_place *place);

/* One record of a batch. */
typedef struct u9_entry {
    u9_key key;         /* key.data NULL: a fresh key */
    const void *values; /* borrows until the call returns */
    size_t size;        /* bytes */
    const size_t *refs; /* logs keyed by muids: where in `values` a packed muid (16 bytes) stands that is
                         * a reference, to be made absolute in the log with the record's own key as its
                         * context: see u9_muid_resolve. So offset -1 names the record before it */
    size_t ref_count;   /* how many */
} u9_entry;

/*
 * Appends `count` records, one at least, as one atomic batch: after a crash all of them are there or
 * none. They are numbered in order; `places`, if not NULL, is an array of `count`. Errors as u9_log_append, the
 * fault's sentence names the record, counted from 0; U9_ARG also for a reference that names nothing,
 * and for one that would leave values not well-formed; U9_LIMIT if all records together exceed U9_RECORD_MAX. On an error none was appended.
 */
U9_API U9_MUST_CHECK u9_err u9_log_append_batch(u9_log *log, const u9_entry *entries, size_t count,
                                                u9_place *places);

/*
 * Waits as the policy says for the record `ordinal`. U9_OK: it is durable. U9_AGAIN: it is not yet,
 * and the policy does not wait. U9_ARG: it was not appended. U9_POISONED, U9_STATE (u9_log_fault).
 */
U9_API U9_MUST_CHECK u9_err u9_log_commit(u9_log *log, uint64_t ordinal);

/* Waits, under any policy, until everything appended so far is durable. Errors as u9_log_commit. */
U9_API U9_MUST_CHECK u9_err u9_log_sync(u9_log *log);

/*
 * Begins to make the record `ordinal` durable, as a commit does under policy commit, and returns at once: u9_log_durable,
 * options.on_durable and u9_log_event_fd tell when it is. U9_OK: it will be, or is. U9_ARG, U9_POISONED, U9_STATE as
 * u9_log_commit; a failure meanwhile poisons the log, and is told by the next call.
 */
U9_API U9_MUST_CHECK u9_err u9_log_commit_async(u9_log *log, uint64_t ordinal);

/* Records known to be durable are those below this ordinal. 0 for readers. One atomic load. Thread-safe. */
U9_API uint64_t u9_log_durable(u9_log *log);

/*
 * A descriptor (Linux: an eventfd) for poll, select and their like: readable when u9_log_durable has moved since the
 * caller last read 8 bytes from it. The log's own, closed with it; made at the first call. -1: there is none (not a
 * writer, forked, too many descriptors). Thread-safe.
 */
U9_API int u9_log_event_fd(u9_log *log);

/* What a writer has done since it was opened. Set `size` before u9_log_stats fills it. */
typedef struct u9_stats {
    size_t size;               /* sizeof(u9_stats) */
    uint64_t records, bytes;   /* appended, and their bytes as utf9 tuples */
    uint64_t frames;           /* that hold them, and control frames */
    uint64_t lz4_tried;        /* frames that were compressed to see whether that is smaller, */
    uint64_t lz4_kept;         /*   and where it was. After some in a row that were not, a while none is tried */
    uint64_t written_bytes;    /* submitted to segments, padding and headers with them */
    uint64_t writes;           /* in so many requests, */
    uint64_t writes_under_way; /*   of these not yet complete now, */
    uint64_t writes_deepest;   /*   and at most at any time */
    uint64_t syncs;            /* and durable writes of a group */
    uint64_t groups, grouped;  /* commits that waited for a group to become durable: groups, and commits in them */
    uint64_t waits;            /* appends that waited for memory or for who had it */
    uint64_t rolls;            /* segments that were begun behind another */
    uint64_t commit_us[32];    /* commits that waited, by their time: element i counts those of [2^i, 2^(i+1)) microseconds */
    uint64_t commit_us_max;    /* the longest */
} u9_stats;

/* Fills `out`. U9_ARG: a NULL, or another size; U9_STATE: opened for reading, forked. Thread-safe. */
U9_API U9_MUST_CHECK u9_err u9_log_stats(u9_log *log, u9_stats *out);

/* The ordinal that the next record gets: all records below it are appended. Writers only, else 0. */
U9_API uint64_t u9_log_next(u9_log *log);

/* The io table in use ("posix", "uring"), and the key kind ("muid"; "" where none can be read). "" for NULL. */
U9_API const char *u9_log_io(const u9_log *log);
U9_API const char *u9_log_kind(const u9_log *log);

/*
 * The detail of the calling thread's last failure on `log`: of u9_log_append, u9_log_append_batch, u9_log_commit
 * and u9_log_sync, which have no fault argument; what other threads fail at is theirs to ask for. Fills `*out`;
 * `out->err` is U9_OK if none of these calls has failed in this thread.
 *
 * As with errno a thread has one: it holds until the thread's next failing call of these on any handle (of the one
 * before there is nothing then), it is not cleared by a success, and U9_AGAIN of u9_log_commit, which says
 * all there is to say, leaves it. It is kept with the thread and costs it some 600 bytes, taken when it first
 * fails if the library was loaded by dlopen; nothing is to be freed, and a handle that comes to stand where a
 * closed one stood is not taken for it. So ask in the thread that failed, next; a forked child begins with what
 * the forking thread had.
 * `log` NULL: of calls whose handle was NULL. Thread-safe.
 */
U9_API void u9_log_fault(const u9_log *log, u9_fault *out);

/*
 * A record as a cursor or a lookup shows it. The pointers borrow: see there. A value of a plain seed file [E-3]
 * that is no record has key.size 0, and `values` are the value itself.
 */
typedef struct u9_record {
    uint64_t ordinal;       /* in a range of a plain seed file: counted from 0 in the range */
    uint64_t time_us;       /* wall clock of its frame, microseconds since 1970; 0: not known, a plain seed file's */
    uint64_t segment;       /* number of its segment; of a single plain file that of its name, or 0 */
    uint64_t frame;         /* byte offset of its frame */
    uint64_t at;            /* virtual offset: (frame / 16) << 24 | byte offset in the decoded body */
    u9_key key;             /* raw form; size 0: it has none */
    const uint8_t *bytes;   /* the whole record, a utf9 tuple, or the whole value. NULL with U9_LIMIT only */
    uint64_t size;          /* bytes */
    const uint8_t *values;  /* what follows the key, utf9 values back to back; without a key: `bytes` */
    uint64_t values_size;   /* bytes */
} u9_record;

/*
 * What a cursor walks. Set `size` to sizeof(u9_range), the rest to zero for the whole log.
 */
typedef struct u9_range {
    size_t size;            /* sizeof(u9_range) */
    uint64_t from;          /* first ordinal wanted */
    uint64_t segment;       /* not 0: only this segment ... (a single file needs none) */
    uint64_t begin, end;    /* ... and of it the frames that start in [begin, end); end 0: to its end */
} u9_range;

/*
 * Opens a cursor before the first record of `range` (NULL: the whole log). A cursor sees what was
 * in the files when it reached their end; a writer's own records are seen once they are written
 * (u9_log_sync). Of a log that was left unclosed and has no writer, the last segment is synced and read from the
 * disk first, once by each handle, so that what a cursor shows does not vanish in a power cut; if that fails, only
 * what is known to be durable is shown, and the rest told as damage (U9_R_UNREADABLE). A log that was closed is
 * not synced. (SPEC.md, R-14) The handle must stay open. Close with u9_cursor_close. U9_ARG: an argument is NULL,
 * or the range has another size, ends before it begins, or names no segment that is there; U9_STATE: forked.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_open(u9_log *log, const u9_range *range, u9_cursor **out,
                                           u9_fault *fault);

/*
 * The next record, verified; `out` borrows the cursor's memory until the next call on it.
 * U9_END: no more; after a crash the torn tail is simply the end. U9_CORRUPT: something was damaged
 * here, or cannot be read from the disk (U9_R_UNREADABLE, and the fault's `sys` says why), and records
 * may be lost; u9_cursor_damage says what, and the next call goes on behind it. U9_ABSENT: records that come next were
 * trimmed (u9/trim.h) before the cursor came to them; u9_cursor_damage says which (U9_R_TRIMMED), and the next call goes
 * on behind them, if that was there when the cursor was opened.
 * (With options.on_damage set, either is told instead and the walk goes on by itself.)
 * U9_IO, U9_NOMEM, U9_ARG (an argument is NULL): see u9_cursor_fault; the same call may be tried again. U9_IO with sys EIO
 * also where the host has installed the guard (u9/guard.h), and bytes of the record that was shown last could not be
 * read while it was: it may have been zeros (SPEC.md, R-16). The next call goes on behind it.
 * U9_VERSION: a record in a form that this version does not read; the next call goes on behind it.
 * U9_LIMIT: a record of over U9_RECORD_MAX bytes [C-6]: all of it is there, and `*out` tells what it is, with its key,
 * `size` and `values_size`, but `bytes` and `values` are NULL: u9_record_read (u9/large.h) has them; the next call goes
 * on behind it.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_next(u9_cursor *cursor, u9_record *out);

/* The damage behind the last U9_CORRUPT or U9_ABSENT; borrows the cursor's memory until the next call on it. NULL for NULL. */
U9_API const u9_damage *u9_cursor_damage(const u9_cursor *cursor);

/* The detail of the last error of this cursor, which is one thread's; U9_OK in out->err if there was none. */
U9_API void u9_cursor_fault(const u9_cursor *cursor, u9_fault *out);

U9_API void u9_cursor_close(u9_cursor *cursor);

/*
 * The newest record with this key (raw form), by the indexes of the log's segments (SPEC.md, K-1 to K-3): those that
 * have none are read once, and what was found is kept for the next lookups (options.index_memory, cache_memory). A handle
 * that writes finds all that it appended, durable or not, of which `frame`, `at` and `time_us` may be 0: not known yet.
 * Another finds what is in the files: a newer record of a key that was found may be overlooked for 10 ms; absent is what
 * was not there at the call (written on another machine: a second before), or was still being written, though a cursor
 * may show that. The record is copied, and so pinned: `*out` borrows `buf` (`cap` bytes), whatever becomes of the log.
 * U9_ABSENT: no such record; U9_LIMIT: `cap` is too small: out->size tells what it must be, `bytes` and `values` are
 * NULL, its key borrows `key`, and u9_record_read (u9/large.h) has the rest, whatever its size (`buf` may be NULL where
 * `cap` is 0); U9_CORRUPT: records were lost to damage that may have had this key: none is found, and out->size is 0;
 * or, in logs of record keys, they may be newer than what is left, and `*out` is the newest that is found, as with
 * U9_OK, or, where `cap` is too small, with U9_LIMIT; U9_ARG: an argument is NULL, or the key is not of the log's kind,
 * as u9_log_append says; U9_STATE: forked. Thread-safe; the detail is in `fault` alone. More: u9/lookup.h.
 */
U9_API U9_MUST_CHECK u9_err u9_log_get(u9_log *log, const u9_key *key, void *buf, size_t cap,
                                       u9_record *out, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
