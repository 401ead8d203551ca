/*
 * u9/idgen.h: fresh identifiers (SPEC-values.md, I-15 to I-17 and I-21).
 *
 * A generator is one object that any number of threads may use at once; u9/id.h has the forms of
 * what comes out. It never gives out an identifier twice, whatever the clock does, and those of
 * u9_muidgen, u9_tidgen, a monotonic u9_gidgen and a time-sequential u9_uid8gen only ever grow. For
 * that to hold across restarts the caller tells what was given out before (`seen`).
 *
 * A clock that steps back changes nothing but that the identifiers run ahead of it for a while.
 *
 * Forks: a child may use its parent's generators. Numbers and randomness that were drawn are drawn
 * again there; a generator with a number that the caller gave returns U9_STATE in the child.
 *
 * Errors of the functions that make one: U9_LIMIT, the clock or what was seen is beyond what the
 * identifier can hold (for GIDs also: before 1970); U9_IO, no randomness can be had; U9_STATE, see
 * above. `*out` is then untouched, and nothing was given out.
 *
 * Batches (`next_n`) [I-21]: fill `out`, room for `n`, with what `n` calls of `next` might have made, in
 * one step, so that those of other threads stand before or behind all of it; the clock is read once. It
 * is all or none, and on failure as above; but u9_uid8gen_next_n, of which a batch may take several
 * milliseconds, tells how many it made. `n` 0 is U9_OK and does nothing; `out` may be NULL then.
 *
 * Options: set `size` to sizeof of the struct and everything else to zero for the defaults; later
 * versions add fields at the end. They may be NULL where all have a default. Clock and randomness
 * are copied; what their `ctx` points to is borrowed until the generator is freed.
 */
#ifndef U9_IDGEN_H
#define U9_IDGEN_H

#include <u9/err.h>
#include <u9/id.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A clock instead of the system's. Called by any thread that asks for an identifier. */
typedef struct u9_clock {
    int64_t (*now_us)(void *ctx);             /* microseconds since 1970, below 0: before */
    void (*sleep_us)(void *ctx, uint64_t us); /* NULL: really sleeps */
    void *ctx;
} u9_clock;

/* Randomness instead of the system's. Called by any thread that asks for an identifier. */
typedef struct u9_random {
    int (*fill)(void *ctx, void *out, size_t size); /* 0: done; else nothing is given out: U9_IO */
    void *ctx;
} u9_random;

typedef struct u9_muidgen u9_muidgen; /* opaque */
typedef struct u9_tidgen u9_tidgen;   /* opaque */
typedef struct u9_gidgen u9_gidgen;   /* opaque */
typedef struct u9_uid8gen u9_uid8gen; /* opaque */

typedef struct u9_muidgen_options {
    size_t size;             /* sizeof(u9_muidgen_options) */
    const u9_clock *clock;   /* NULL: the system's */
    const u9_random *random; /* NULL: the system's */
    uint64_t seen;           /* the highest timestamp given out before, microseconds; 0: none */
    uint64_t medallion;      /* 1 .. U9_MUID_MEDALLION_MAX - 1; 0: drawn from [2^40, 2^41 - 1] */
} u9_muidgen_options;

/*
 * Makes a generator of muids, to be freed with u9_muidgen_free. U9_ARG (an option is out of its
 * range), U9_IO (no randomness), U9_NOMEM.
 */
U9_API U9_MUST_CHECK u9_err u9_muidgen_new(const u9_muidgen_options *options, u9_muidgen **out,
                                           u9_fault *fault);
U9_API void u9_muidgen_free(u9_muidgen *gen); /* NULL is fine */

/*
 * Begins a transaction: a fresh timestamp, above all before it, at offset 0. The changes in it get
 * their muids from u9_muid_advance. [I-15]
 */
U9_API U9_MUST_CHECK u9_err u9_muidgen_transaction(u9_muidgen *gen, u9_muid *out);

/* The next offset of a transaction, from 1 on. U9_LIMIT behind 2^31 - 1, U9_ARG below 0. Pure. */
U9_API U9_MUST_CHECK u9_err u9_muid_advance(u9_muid *muid);

/* The only change of a transaction of its own: u9_muidgen_transaction, then u9_muid_advance. */
U9_API U9_MUST_CHECK u9_err u9_muidgen_next(u9_muidgen *gen, u9_muid *out);

/*
 * The changes of `n` transactions of their own: consecutive timestamps, of which the first is the
 * clock's or one above the last; so `n` muids run at most `n` microseconds ahead of the clock. The `n`
 * changes of one transaction: u9_muidgen_transaction, then u9_muid_advance. U9_LIMIT also if fewer than
 * `n` are left. [I-21]
 */
U9_API U9_MUST_CHECK u9_err u9_muidgen_next_n(u9_muidgen *gen, u9_muid *out, size_t n);

/* Timestamps will be above this one. U9_ARG if no muid could follow it. */
U9_API U9_MUST_CHECK u9_err u9_muidgen_seen(u9_muidgen *gen, uint64_t timestamp);

typedef struct u9_tidgen_options {
    size_t size;             /* sizeof(u9_tidgen_options) */
    const u9_clock *clock;   /* NULL: the system's */
    const u9_random *random; /* NULL: the system's */
    uint64_t seen;           /* the highest timestamp given out before, microseconds; 0: none */
    int clock_id_given;      /* 0: drawn from 0 .. U9_TID_CLOCK_ID_MAX */
    uint32_t clock_id;       /* 0 .. U9_TID_CLOCK_ID_MAX, if given */
} u9_tidgen_options;

/* As u9_muidgen_new. */
U9_API U9_MUST_CHECK u9_err u9_tidgen_new(const u9_tidgen_options *options, u9_tidgen **out,
                                          u9_fault *fault);
U9_API void u9_tidgen_free(u9_tidgen *gen); /* NULL is fine */

/* A fresh TID, above all before it and above `prev`, which may be NULL. [I-15] */
U9_API U9_MUST_CHECK u9_err u9_tidgen_next(u9_tidgen *gen, const u9_tid *prev, u9_tid *out);

/* `n` TIDs of consecutive timestamps, all above `prev`, which may be NULL. As u9_muidgen_next_n. [I-21] */
U9_API U9_MUST_CHECK u9_err u9_tidgen_next_n(u9_tidgen *gen, const u9_tid *prev, u9_tid *out, size_t n);

typedef struct u9_gidgen_options {
    size_t size;             /* sizeof(u9_gidgen_options) */
    const u9_clock *clock;   /* NULL: the system's */
    const u9_random *random; /* NULL: the system's, fetched in blocks for each thread */
    int monotonic;           /* not 0: GIDs of one type only ever grow */
    int wide;                /* not 0: byte 7 is not the prefix but has 7 random bits: 71 in all */
    uint64_t seen_ms;        /* monotonic: the highest timestamp given out before; 0: none */
} u9_gidgen_options;

/* As u9_muidgen_new. */
U9_API U9_MUST_CHECK u9_err u9_gidgen_new(const u9_gidgen_options *options, u9_gidgen **out,
                                          u9_fault *fault);
U9_API void u9_gidgen_free(u9_gidgen *gen); /* NULL is fine */

/* A fresh GID. U9_ARG if `type` is none of the three. [I-16] */
U9_API U9_MUST_CHECK u9_err u9_gidgen_next(u9_gidgen *gen, u9_gid_type type, u9_gid *out);

/*
 * `n` GIDs of one millisecond; of a monotonic generator ascending, their random bits going up by one. If
 * too few are left in its millisecond, the whole batch stands in the next. On U9_IO those that were begun
 * are zero, which is no GID, and nothing was given out. [I-21]
 */
U9_API U9_MUST_CHECK u9_err u9_gidgen_next_n(u9_gidgen *gen, u9_gid_type type, u9_gid *out, size_t n);

typedef struct u9_uid8gen_options {
    size_t size;             /* sizeof(u9_uid8gen_options) */
    const u9_clock *clock;   /* NULL: the system's */
    unsigned layout;         /* 1 .. U9_UID8_LAYOUT_MAX; 0: the latest */
    u9_uid8_mode mode;       /* as the layout allows */
    uint32_t generator;      /* as the layout allows; no other may use it in this cluster */
    uint32_t cluster;        /* 0 .. U9_UID8_CLUSTER_MAX */
    uint64_t seen_ms;        /* the highest timestamp given out before; 0: none */
    unsigned tries_max;      /* how often the clock is read for one identifier; 0: 11 */
} u9_uid8gen_options;

/* As u9_muidgen_new. `options` is needed: nothing makes up a generator's number. */
U9_API U9_MUST_CHECK u9_err u9_uid8gen_new(const u9_uid8gen_options *options, u9_uid8gen **out,
                                           u9_fault *fault);
U9_API void u9_uid8gen_free(u9_uid8gen *gen); /* NULL is fine */

/*
 * A fresh eight-byte identifier, of 64 in each millisecond. When they are used up it sleeps 400
 * microseconds and reads the clock again; U9_AGAIN if that does not help within `tries_max`
 * readings: the clock stands still or was set back. [I-17]
 */
U9_API U9_MUST_CHECK u9_err u9_uid8gen_next(u9_uid8gen *gen, u9_uid8 *out);

/*
 * Up to `n` eight-byte identifiers, and in `*made` how many, whatever is returned: the first `*made` of
 * `out` were given out and are good, the rest is untouched. Each millisecond's share is taken in one
 * step; between them it waits as u9_uid8gen_next does. U9_OK: all `n`. U9_AGAIN: no more within
 * `tries_max` readings, counted anew with each share; call again for the rest. U9_LIMIT, U9_STATE: there
 * are no more. [I-21]
 */
U9_API U9_MUST_CHECK u9_err u9_uid8gen_next_n(u9_uid8gen *gen, u9_uid8 *out, size_t n, size_t *made);

#ifdef __cplusplus
}
#endif
#endif
