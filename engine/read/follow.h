/*
 * engine/read/follow.h: a reader for which the end of a log is where it waits. Cursors and a sender stand on it.
 * [M-10]
 *
 * It stands at the tip, the last segment of the row, whose end nobody names yet:
 *
 *     step -> what u9i_reader_step says, up to what may be shown; then U9_END
 *     wait -> U9_OK: step may have more
 *
 *     a writer at work, and it says how far this segment is durable (HERE): goes on in it, as far as that
 *     a writer at work, in a later segment (LATER): takes a new catalog, reads this one to its end, which is named now
 *     nobody (NOBODY): takes a new catalog; judges the tip to its end, once for each
 *
 * So beside a live writer the end is never judged: one look at `.live`, one read of a frame. A new catalog never shows
 * less than was shown: all of that was durable, or made so, and the session that comes next names its end.
 *
 * One thread, the reader's.
 */
#ifndef U9I_FOLLOW_H
#define U9I_FOLLOW_H

#include "engine/log/handle.h"
#include "engine/read/reader.h"

#include <u9/follow.h>

/* Who writes, as far as the tip is concerned. */
typedef enum u9i_author { U9I_AUTHOR_NOBODY, U9I_AUTHOR_HERE, U9I_AUTHOR_LATER } u9i_author;

typedef struct u9i_follower {
    u9_log *log;        /* borrows */
    u9i_reader *reader; /* borrows */
    bool written;       /* also what is not durable is shown */
    u9i_watch *watch;   /* NULL: nobody waited yet */
    u9i_stand stand;    /* `astray`: where the reader was, which has lost its place by an error */
    bool astray;
    bool held;          /* the reader's frame was read, and may not be shown yet */
    bool judging;       /* nobody writes: the tip is read to its end, */
    bool judged;        /*   and was, in this catalog */
    u9i_author author;  /* as of the last look: */
    uint64_t durable;   /*   HERE: the tip's bytes before this are durable */
    bool other;         /* a wait has found another catalog: the next step takes it, whatever is known of the tip */
    uint64_t stuck;     /* of the tip: nothing could be read there although this much is durable; 0: no such place */
    u9_reason told;     /* of the tip's end this was told last, */
    uint64_t told_at;   /*   at this place: not once more */
    uint64_t idle_us; /* when nothing was found, and nothing was told since; 0: never */
} u9i_follower;

/* Before the reader's first step, or at any time between two. U9_ARG: what it reads cannot be followed. */
U9_MUST_CHECK u9_err u9i_follower_init(u9i_follower *follower, u9_log *log, u9i_reader *reader, u9_fault *fault);
void u9i_follower_release(u9i_follower *follower);

/* The reader was sent elsewhere: what was known of where it stood is forgotten. */
void u9i_follower_forget(u9i_follower *follower);

/* The reader goes back: from its place, which it has kept also where an error took its way on from it. */
void u9i_follower_turn(u9i_follower *follower);

/* As u9i_reader_step. U9_END: no more may be shown now. */
U9_MUST_CHECK u9_err u9i_follower_step(u9i_follower *follower, u9i_step *step, u9_fault *fault);

/*
 * Until `deadline_us` of the monotonic clock (0: looks once). U9_OK: step may have more; U9_AGAIN: time is up, or a
 * signal came.
 */
U9_MUST_CHECK u9_err u9i_follower_wait(u9i_follower *follower, uint64_t deadline_us, u9_fault *fault);

/* After U9_END of a step: the ordinal of the record that comes next. */
uint64_t u9i_follower_next(const u9i_follower *follower);

/* The watch's descriptor, -1: none. */
int u9i_follower_fd(u9i_follower *follower);

#endif
