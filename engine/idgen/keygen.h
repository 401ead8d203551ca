/*
 * engine/idgen/keygen.h: fresh keys for a log, by its key kind. [L-6] [L-7]
 *
 * Muids come from the frame they stand in, which is their transaction: the writer makes those. All other
 * kinds come from a generator that goes on above what the log has seen.
 */
#ifndef U9I_KEYGEN_H
#define U9I_KEYGEN_H

#include "engine/idgen/uid8keys.h"
#include "engine/os/env.h"
#include "format/id/kind.h"
#include "format/base/limits.h"

#include <u9/idgen.h>
#include <u9/log.h>

typedef struct u9i_keygen {
    char text[U9I_KIND_MAX + 1]; /* the kind's name; `kind` borrows it */
    u9i_kind kind;
    size_t size;      /* bytes of a fresh key in raw form; 0: none can be made */
    u9_gidgen *gid;   /* of these at most one */
    u9_tidgen *tid;
    u9i_uid8keys *uid8;
} u9i_keygen;

/* What is wrong with where the options have the number of eight-byte keys from; NULL: nothing. [I-23] */
const char *u9i_keygen_wrong(const u9_options *options);

/*
 * Makes keys of `kind`, above those of `time_us`, by the clock and the randomness of `env`. Of the options, in which
 * that is not wrong, it reads no more. U9_ARG: no such kind. On failure nothing is held.
 */
U9_MUST_CHECK u9_err u9i_keygen_init(u9i_keygen *maker, u9i_env *env, const char *kind, uint64_t time_us,
                                     const u9_options *options, u9_fault *fault);
void u9i_keygen_release(u9i_keygen *maker);

/* Between fresh keys and their use; and why an append is to be tried again: see uid8keys.h. */
U9_MUST_CHECK u9_err u9i_keygen_confirm(u9i_keygen *maker, u9_fault *fault);
bool u9i_keygen_wants_grant(u9i_keygen *maker);

/*
 * The next key in raw form, maker->size bytes, and in `*stamp_us` the time that is in it, 0 if there is none.
 * Not for muids. U9_AGAIN (uid8: the clock stands still), U9_LIMIT, U9_IO, U9_STATE: see u9/idgen.h.
 */
U9_MUST_CHECK u9_err u9i_keygen_next(u9i_keygen *maker, uint8_t raw[U9I_KEY_MAX],
                                       uint64_t *stamp_us);

/*
 * The medallion of the muids that a log's writers make where it lies: of the log's id, the machine's, and device
 * and inode of the directory. [I-22]
 */
uint64_t u9i_keygen_medallion(const uint8_t log[16], const uint8_t machine[U9I_MACHINE_SIZE],
                              const uint64_t place[2]);

/* The time in a given key, microseconds; 0 if there is none to be minded. */
uint64_t u9i_keygen_stamp(const u9i_keygen *maker, const void *raw);

#endif
