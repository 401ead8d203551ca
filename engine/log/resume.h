/*
 * engine/log/resume.h: where a new session goes on: the end of the log, judged, and what its u9open must say
 * of it. [C-3] [S-5] [W-3]
 */
#ifndef U9I_RESUME_H
#define U9I_RESUME_H

#include "engine/log/catalog.h"

#include <u9/check.h>

typedef struct u9i_resume {
    uint64_t number;         /* of the segment that the session writes */
    bool goes_on;            /* it is there and cleanly closed: [S-5] */
    char kind[U9I_KIND_MAX + 1]; /* of the log; "" for a new one */
    uint8_t log[16];         /* its id; drawn for a new one */
    uint64_t before_segment; /* 0: the log is new */
    u9i_secret before;
    u9i_position end;
    u9i_tail tail;
    uint64_t time_us;        /* of the last frame: no frame may be older */

    /* Only where goes_on: */
    uint64_t offset;         /* of the next block */
    uint64_t previous;       /* offset of the u9end frame */
    u9i_end_record totals;        /* of the u9end; its key spans borrow what follows */
    uint8_t first_key[U9I_KEY_MAX + 16]; /* as values; sizes in totals */
    uint8_t last_key[U9I_KEY_MAX + 16];
} u9i_resume;

/*
 * Finds the end of the log in `dir`, which is locked by the caller. What it relies on is synced first and
 * read from the disk. Damage met is told to `on_damage` (may be NULL). `segment_size`: a segment that
 * has grown to it is not continued. U9_CORRUPT: a segment is missing or foreign, or the last one's header
 * is beyond help: nothing may be appended. U9_IO, U9_NOMEM, U9_VERSION.
 */
U9_MUST_CHECK u9_err u9i_resume_find(u9i_resume *resume, u9i_dir *dir, const char *path,
                                     uint64_t segment_size, u9_damage_fn *on_damage, void *ctx,
                                     u9_fault *fault);

#endif
