/*
 * engine/log/trim.h: the oldest segments of a log go. [L-10]
 *
 *     plan (which) -> a new segment's u9trim, durable -> the mark says so, durable -> removed, the lowest first, one by one
 *
 * Until the u9trim is durable nothing is gone; from then on nothing that goes is missed. What a crash leaves is the
 * oldest of the row still, and goes with the next trim. On a full disk the mark comes first, and the lowest go until there
 * is room for the segment. A place (u9_tier) that the log got since the plan is looked for before the first is removed.
 *
 * Threads: what has "lock" in its comment is called with log->trim_lock held, all else without it.
 */
#ifndef U9I_TRIM_H
#define U9I_TRIM_H

#include "engine/log/catalog.h"

#include <u9/trim.h>

/* A file that is to be removed, and which one it was. */
typedef struct u9i_victim {
    char name[20];
    uint64_t identity[2];
} u9i_victim;

/* A trim on its way. */
typedef struct u9i_trimming {
    u9i_trim_record trim; /* what the log says, before anything is removed */
    u9_trimmed what;
    u9i_victim *victims;  /* the lowest first */
    size_t count, gone;   /* so many of them are removed */
    bool settled;         /* by the log's place, which it had when this was planned, or was looked for once all was said */
} u9i_trimming;

/* What goes: what anything here says of it. 0: nothing says so. */
typedef struct u9i_limits {
    uint64_t keep_bytes;
    uint64_t before_us;
    uint64_t before;
    uint64_t segment;    /* those of lower numbers */
    uint64_t next;       /* the log's next ordinal; U9_NOWHERE: as its files tell */
    uint64_t tip;        /* the number of the segment that is being written, */
    uint64_t tip_bytes;  /*   and how much of it is; more is reserved. 0: as its file tells */
} u9i_limits;

void u9i_trimming_free(u9i_trimming *trimming);

/* Trims: `limits` says by what, but for what the log itself knows. `dry`: only tells. Errors as u9_log_trim. */
U9_MUST_CHECK u9_err u9i_log_trim(u9_log *log, u9i_limits limits, bool dry, u9_trimmed *out, u9_fault *fault);

/* The log is about to be written again, though its oldest segments were removed by hand: that is explained, if it is so. */
U9_MUST_CHECK u9_err u9i_trim_explain(u9i_source *source, u9_fault *fault);

/* What the options keep, which the writer is asked at each roll: looked for at once, too. Failures are kept. */
void u9i_retain_begin(u9_log *log);                               /* lock, or nobody else has the handle yet */
bool u9i_retain_tick(u9_log *log);                                /* removes some, if it is time; true: not all */
U9_MUST_CHECK u9_err u9i_retain_end(u9_log *log, u9_fault *fault); /* all is closed and marked: removes the rest */

#endif
