/*
 * u9/trim.h: the oldest segments of a log go (SPEC.md, L-10).
 *
 * What goes are whole segments, from the oldest on, never the newest one that holds records: so what is kept begins at
 * a segment's first record, and ordinals stay what they were. The log says in itself from where on it is kept before
 * anything is removed, so what is gone is told from what is lost: a log that was trimmed is whole, and a crash leaves
 * more of it than asked for at worst. Space comes back when nobody reads the removed files any more.
 *
 * A writer trims by itself if it was opened with u9_options.keep_bytes or keep_age_us. Of a log that is tiered (u9/tier.h)
 * only what the place has goes, and is read from there.
 */
#ifndef U9_TRIM_H
#define U9_TRIM_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What goes. Set `size` to sizeof(u9_trim) and everything else to zero, which asks for nothing; a segment goes if
 * anything of this says so of it, and of all that are older.
 */
typedef struct u9_trim {
    size_t size;         /* sizeof(u9_trim) */
    uint64_t keep_bytes; /* as long as files of at least so many bytes stay. 1: all but the newest */
    uint64_t before_us;  /* whose records are all older, microseconds since 1970; where a session that was not closed
                          * leaves that open, it counts with the segment behind it */
    uint64_t before;     /* whose records all have lower ordinals */
    u9_key before_key;   /* whose records all have lower keys (raw form), in the order of their bytes. Segments that
                          * may go by their first and last key are read: that order is not that of the records */
    int dry_run;         /* not 0: nothing goes, it is only told what would; on a handle for reading, too */
} u9_trim;

/* What went, or would go. */
typedef struct u9_trimmed {
    size_t size;            /* set by the caller: sizeof(u9_trimmed) */
    uint64_t segments;      /* 0: none, and the rest but segment and ordinal is 0; nothing was changed, or see below */
    uint64_t records;       /* by their ordinals: lost ones are counted as well. U9_NOWHERE: not known */
    uint64_t bytes;         /* of their files */
    uint64_t first_time_us; /* wall clock when the first of them was begun; 0: not known */
    uint64_t last_time_us;  /* no record of them is newer; 0: not known */
    uint64_t segment;       /* number of the first segment that is kept, */
    uint64_t ordinal;       /* and the ordinal of its first record */
} u9_trimmed;

/*
 * Trims the log as `what` says and fills `*out`. `log` is open for writing: the session begins, or goes over to, a new
 * segment, in which the log says from where on it is kept; when that is durable, and marked, the others are removed.
 * It waits for that; other threads may append meanwhile, and wait where they do for a commit. If nothing is to go,
 * nothing is written. On a full disk the log's mark, which is there already, says it first, and what goes makes the room.
 * Readers that are in a removed segment read it to its end; those that have not come to it yet are told
 * (U9_R_TRIMMED) and go on behind it. If the log gets its place (u9/tier.h) after what goes was chosen, all that is left
 * of that stays: the log says that it is trimmed, and a later trim removes it.
 * Errors: U9_ARG (an argument is NULL, a size is another; a key that is none of the log's kind), U9_AGAIN (a record of
 * u9/large.h is being written, whose segment is not left until it is over: nothing was changed), U9_STATE (opened for
 * reading, and not dry_run; forked), U9_IO, with sys ENOSPC if there is no room for a new segment, not even where all is
 * gone that was to go, or nothing went as there is no mark that could say so; with the log's mark (rule M-5), or a file
 * that cannot be removed: what was removed by then is gone, and the same call goes on with the rest; U9_CORRUPT (the list
 * of a tiered log is damaged: rule TR-2), U9_NOMEM, U9_POISONED; before_key also U9_VERSION (a record in a later form).
 * Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_log_trim(u9_log *log, const u9_trim *what, u9_trimmed *out, u9_fault *fault);

/*
 * For who deleted the oldest segments of a log by hand: the log at `path` says from now on that they were trimmed, so
 * that it is whole again, and can be written. `*out` tells of them: `segments` is 1 whatever their number, `bytes` and
 * times are not known (0), `segment` and `ordinal` are where the log begins now; `segments` is 0, and nothing is done,
 * if it is not its beginning that is missing. With `accept` 0 it only says so. Takes the lock that writers take, if there is
 * something to accept: beside a writer U9_LOCKED then, and U9_OK where there is nothing. `io` as u9_options.io.
 * Errors: what u9_log_open returns: U9_LOCKED, U9_CORRUPT (the log is broken or forked for
 * another reason: salvage helps; or in the place of what is missing stands something that is no file, such as a link to
 * what is not there: rule L-4, and the fault names it; or a repair was broken off while files exchanged their names:
 * rule U-3); U9_ARG, U9_IO, U9_POISONED. Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_accept_trim(const char *path, int accept, const char *io, u9_trimmed *out,
                                           u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
