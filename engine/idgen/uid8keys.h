/*
 * engine/idgen/uid8keys.h: fresh eight-byte keys for a log, under a generator's number that it has for a while.
 * [I-17] [I-23]
 *
 *     ready    before the log's lock is taken: has a grant, or acquires one, which may wait
 *     next     makes a key, any number of times
 *     confirm  the source says whether the grant was held all the while; only then may they be used
 *
 * A grant that is over between ready and confirm makes next or confirm U9_AGAIN, and wants_grant true: the
 * caller goes back to ready.
 *
 * Threads: ready from any; next and confirm from one at a time, which holds the log's lock. Locks: `turn` is held
 * while a grant is asked for, by ready alone and before the log's lock; `lock` for a few lines, and for renew.
 */
#ifndef U9I_UID8KEYS_H
#define U9I_UID8KEYS_H

#include <u9/generator.h>
#include <u9/idgen.h>

#include <stdbool.h>

typedef struct u9i_uid8keys u9i_uid8keys;

/* What is wrong with what a number is to be had from, by the names of u9_options; NULL: nothing. Not both. */
const char *u9i_uid8keys_wrong(const u9_generator *source, const u9_grant *given);

/*
 * Makes one, of what is not wrong. `source` NULL: `given` is the number, for good; both NULL: there is none, and ready
 * is U9_ARG. The source is copied, and so is `clock`. Keys are above `seen_ms`. U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_uid8keys_new(const u9_generator *source, const u9_grant *given, const u9_clock *clock,
                                      uint64_t seen_ms, u9i_uid8keys **out, u9_fault *fault);
/* Releases the grant, but not in a forked child. NULL is fine. */
void u9i_uid8keys_free(u9i_uid8keys *keys);

/* `path` is the log's, for the fault. */
U9_MUST_CHECK u9_err u9i_uid8keys_ready(u9i_uid8keys *keys, const char *path, u9_fault *fault);
U9_MUST_CHECK u9_err u9i_uid8keys_next(u9i_uid8keys *keys, u9_uid8 *out);
U9_MUST_CHECK u9_err u9i_uid8keys_confirm(u9i_uid8keys *keys, u9_fault *fault);
bool u9i_uid8keys_wants_grant(u9i_uid8keys *keys);

#endif
