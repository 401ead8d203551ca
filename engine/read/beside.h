/*
 * engine/read/beside.h: indexes in files beside segments: whether one can be used, and making one. [K-4]
 */
#ifndef U9I_BESIDE_H
#define U9I_BESIDE_H

#include "engine/index/index_file.h"
#include "engine/log/handle.h"

#include <u9/index.h>

/*
 * The index in the file beside this segment. U9_OK; `*lost_before`: records of the segment, of which it knows nothing, were lost
 * behind those below this virtual offset, 0: none were; U9_ABSENT: none that is of the segment as it stands, `*flaw` says why, and out->refused, if a page of it is not as it must
 * be; U9_IO, U9_NOMEM. Unless it is U9_OK nothing is held.
 */
U9_MUST_CHECK u9_err u9i_beside_open(u9_log *log, u9i_segment *segment, u9i_budget *budget, u9i_index *out, uint64_t *lost_before,
                                     u9i_index_flaw *flaw);

/* The index that a sealed file has in itself. As above. */
U9_MUST_CHECK u9_err u9i_inside_open(u9_log *log, u9i_segment *segment, u9i_budget *budget, u9i_index *out);

/* Told of bytes that were read. 0: stop. */
typedef int u9i_beside_fn(void *ctx, uint64_t done);

typedef struct u9i_beside {
    u9_log *log;         /* borrows */
    u9i_catalog *catalog; /* borrows */
    size_t at;           /* the segment in it */
    size_t memory;       /* bytes */
    u9i_beside_fn *each;
    void *ctx;
    /* What became of it: */
    uint64_t records;
    u9i_losses lost;     /* where records were lost; freed by the call */
    bool lossy;          /* some were lost that are not noted there: no index was made */
} u9i_beside;

/*
 * Makes the file beside the segment, in place of one that is there. U9_ABSENT: it has no records that are read, or
 * `lossy`; U9_IO, U9_NOMEM, U9_LOCKED, U9_STATE (stopped).
 */
U9_MUST_CHECK u9_err u9i_beside_make(u9i_beside *beside, u9_fault *fault);

/*
 * Proves an index of the segment: `*wrong` is how many of its entries do not lead to a record with their key, and of the
 * records that are read are not found by it. `lossy`: there may have been more of these. Errors as u9i_beside_make.
 */
U9_MUST_CHECK u9_err u9i_beside_prove(u9i_beside *beside, u9i_index *index, uint64_t *wrong, u9_fault *fault);

/* As u9_indexes_look; but of a segment that has none, and no record that is read, it says why it gets none. */
U9_MUST_CHECK u9_err u9i_indexes_plan(const char *path, const u9_index_options *options, u9_index_report *report, u9_fault *fault);

/* The run of segments [first, i] that must be read for what segment i holds: it begins with a u9open. [F-9] */
size_t u9i_beside_run(const u9i_catalog *catalog, size_t i);

#endif
