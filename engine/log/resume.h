/*
 * engine/log/resume.h: finds where a new session goes on. [C-3] [R-4] [S-5] [W-3]
 */
#ifndef U9I_RESUME_H
#define U9I_RESUME_H

#include "engine/log/catalog.h"
#include "engine/write/plan.h"

#include <u9/check.h>

/*
 * Finds the end of the log in `source`, whose directory is locked by the caller. What it relies on is synced
 * first and read from the disk. Damage met is told to `on_damage` (may be NULL). `segment_size`: a segment that
 * has grown to it is not continued. U9_CORRUPT: a segment is missing or foreign, or the last one's header
 * is beyond help: nothing may be appended. U9_LOCKED: a killed writer's requests do not come to an end. U9_IO,
 * U9_NOMEM, U9_VERSION.
 */
U9_MUST_CHECK u9_err u9i_resume_find(u9i_plan *plan, u9i_source *source, uint64_t segment_size,
                                     u9_damage_fn *on_damage, void *ctx, u9_fault *fault);

#endif
