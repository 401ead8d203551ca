/*
 * u9/zk.h: generator numbers claimed through ZooKeeper, for eight-byte identifiers (libu9-zk).
 *
 * Processes that share a ZooKeeper ensemble and a path in it draw distinct generator numbers from
 * a pool; each may then make eight-byte identifiers (u9/id.h: uid8) that no other makes. The tree
 * and the protocol are those of the Java library uniqueid, versions 1.0 to 3.2, whose processes may
 * share a path with ours; zk/claim.h tells them step by step.
 *
 * A number is held for a while only, 30 s by default, and is lost early when the connection is. So
 * a number is never kept: ask for it, use it, and ask again, or leave all that to u9_zk_next or, for the keys
 * of a log, to u9_zk_generator.
 *
 * Threads: any number of threads may use one u9_zk_claim; nothing may be called on it while it is
 * being closed. Each claim runs three threads of its own (one here, two of the ZooKeeper client),
 * in which all signals are blocked. A process forked off must not use its parent's claims: calls
 * return U9_STATE there (u9_zk_held: 0), and u9_zk_close frees what is ours.
 */
#ifndef U9_ZK_H
#define U9_ZK_H

#include <u9/err.h>
#include <u9/generator.h>
#include <u9/id.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what libu9-zk offers, as U9_API does for libu9. */
#if defined(__GNUC__)
#define U9_ZK_API __attribute__((visibility("default")))
#else
#define U9_ZK_API
#endif

typedef struct u9_zk_claim u9_zk_claim; /* opaque; one session with an ensemble */

#define U9_ZK_HOSTS_MAX 511 /* characters of the hosts in an address */
#define U9_ZK_PATH_MAX 255  /* characters of the path in an address */

/*
 * Options of u9_zk_open. Set `size` to sizeof(u9_zk_options) and everything else to zero for the
 * defaults; later versions add fields at the end.
 */
typedef struct u9_zk_options {
    size_t size;     /* sizeof(u9_zk_options) */
    unsigned layout; /* of the identifiers, 1 .. 4: numbers below 64, 256, 256 or 2048; 0: 1 */
    u9_uid8_mode mode;           /* of u9_zk_next's identifiers; layouts 3 and 4 have both */
    uint32_t session_timeout_ms; /* asked of the ensemble, 500 .. 600000; 0: 10000 */
    uint32_t wait_ms_max;        /* how long a call waits for a number; 0: 600000 (10 minutes) */
    uint32_t hold_ms;            /* how long a number is used; 0: 30000 */
    uint32_t give_back_ms;       /* how long a number rests unused before another may claim it; at
                                    least the difference of any two peers' clocks; 0: 2000 */
} u9_zk_options;

/* A number, and which claim it was: the same number claimed anew is another grant. */
typedef struct u9_zk_grant {
    uint32_t generator; /* 0 .. pool size - 1 */
    uint32_t cluster;   /* 0 .. 15: the content of PATH/cluster-id */
    uint64_t serial;    /* grows with each claim of this handle, from 1 */
} u9_zk_grant;

/*
 * Begins a session. `address` is "HOST:PORT[,HOST:PORT...]/PATH", hosts and ports as the ZooKeeper
 * client takes them; PATH is made when it is missing, readable and writable for anyone. All peers
 * must give the same path, and the ensemble must be the only one that hands out numbers for the
 * cluster id. Borrows its arguments for the call; `options` may be NULL. Does not wait: the
 * ensemble need not be there. On success `*out` is closed by the caller with u9_zk_close. Errors:
 * U9_ARG, U9_NOMEM, U9_IO (no thread to be had).
 */
U9_ZK_API U9_MUST_CHECK u9_err u9_zk_open(const char *address, const u9_zk_options *options,
                                          u9_zk_claim **out, u9_fault *fault);

/*
 * Fills `*out` with the number that is held, or claims one first (steps 1 to 7 of zk/claim.h):
 * waits in line behind the peers, and for a free number when the pool is full, wait_ms_max
 * altogether. The number may be void as soon as the call returns: whoever makes identifiers under
 * it reads the clock after this call and asks u9_zk_held before using what was made. U9_AGAIN: no
 * number within wait_ms_max; `fault` is filled and says what was waited for. Errors: U9_IO (sys
 * ETIMEDOUT: no connection within wait_ms_max; else a host cannot be found, or the ensemble
 * refused), U9_CORRUPT (PATH/cluster-id is not a number from 0 to 15), U9_STATE (after fork),
 * U9_ARG (NULL).
 */
U9_ZK_API U9_MUST_CHECK u9_err u9_zk_get(u9_zk_claim *claim, u9_zk_grant *out, u9_fault *fault);

/*
 * Not 0 while `grant` (from u9_zk_get on the same claim) is still held: the connection was never
 * lost since, the hold time is not over, nobody has deleted the node, and the ensemble confirmed
 * the session lately enough that it cannot have ended, even if this process was stopped for a
 * while. Does not wait. What was made under the grant before a call that returns not 0 is good.
 */
U9_ZK_API int u9_zk_held(u9_zk_claim *claim, const u9_zk_grant *grant);

/*
 * Stops using the number that is held, if any: u9_zk_held says 0 at once, and the number is given
 * back give_back_ms later, in the background (step 7). The next u9_zk_get claims anew.
 */
U9_ZK_API void u9_zk_release(u9_zk_claim *claim);

/*
 * Makes a fresh eight-byte identifier under a held number, claiming one where needed: claim first,
 * then the clock, and the claim is checked again before the identifier is given out. One handle
 * never gives an identifier twice, whatever the clock does. Waits as u9_zk_get does, and for the
 * next millisecond when 64 were made in one (u9/idgen.h, I-17). Errors: those of u9_zk_get;
 * U9_AGAIN also when the clock stands still or was set back; U9_LIMIT when it is beyond what an
 * identifier can hold; U9_STATE also while the number is lent to a log (u9_zk_generator). `out` is untouched
 * unless U9_OK comes back.
 */
U9_ZK_API U9_MUST_CHECK u9_err u9_zk_next(u9_zk_claim *claim, u9_uid8 *out, u9_fault *fault);

/*
 * The claim as a source of numbers for one log (u9_options.numbers, u9/generator.h): acquire is u9_zk_get, renew
 * is u9_zk_held, release is u9_zk_release. Borrows `claim`, which is closed after the log. While the log has a
 * number of it, u9_zk_next, and another log's acquire, are U9_STATE: give each log a claim of its own. Its
 * numbers go to 2047 if the claim's layout is 4, else as that layout says; its mode is spread.
 */
U9_ZK_API u9_generator u9_zk_generator(u9_zk_claim *claim);

/*
 * Gives the number back and ends the session. Waits until the number has rested for give_back_ms,
 * if the connection stands; else the number comes back when the session times out. The handle is
 * gone then. No thread may be in another call on it. NULL is fine.
 */
U9_ZK_API void u9_zk_close(u9_zk_claim *claim);

#ifdef __cplusplus
}
#endif
#endif
