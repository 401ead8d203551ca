/*
 * engine/read/view.h: a log as lookups see it: its segments, each with an index and the frames that were opened by it.
 *
 * A handle has one view, which is replaced when the log's files are not those any more; what is known of segments that
 * stayed goes over to the next one. When the memory for opened frames is used up, and frames were too often not kept for
 * that, the next view begins without any; indexes and the table stay.
 *
 * A segment's index is looked for when it is first needed: within the sealed file, or in a file beside it; else it is
 * made in memory, by reading the segment once. One that would take more memory than options.index_memory is not made:
 * lookups go through that segment by a scan.
 *
 * Threads: any. A view is counted; what is in it changes under the lock of its segment, once.
 *
 * Seats: a thread that looks up has one of a few that the handle has, as threads come, and there a count of the view that
 * stays from one lookup to the next. So it takes and frees its seat, in a line of the processor's cache that no other
 * thread has, and sees that the view is still the handle's. Where a seat is taken (by another thread that came to have the
 * same one, or by a lookup within a lookup), the view is counted under the lock instead. When the next view comes, seats
 * let go of the one before: those that are taken when they are freed.
 */
#ifndef U9I_VIEW_H
#define U9I_VIEW_H

#include "engine/index/index.h"
#include "engine/log/handle.h"

typedef enum u9i_indexed_state {
    U9I_INDEXED_NOT_YET, /* nobody has needed it */
    U9I_INDEXED,         /* `index` and `frames` can be asked */
    U9I_INDEXED_NOT      /* there is none, and none can be made */
} u9i_indexed_state;

/* Memory that lookups keep: the handle's, or a part of that for opened frames: of a view and of those after it, until it is
 * used up. */
typedef struct u9i_kept {
    atomic_uint references;
    atomic_bool ended;      /* views that come next have another part */
    struct u9i_kept *whole; /* counted; NULL: this is the handle's */
    u9i_budget budget;
} u9i_kept;
void u9i_kept_release(u9i_kept *kept); /* NULL is fine */

/* A segment and what lookups know of it. */
typedef struct u9i_indexed {
    atomic_uint references;
    u9i_segment *segment; /* counted */
    uint64_t limit;       /* only records below this virtual offset: the others are the writer's */
    u9i_kept *kept;       /* counted: a part; what its index keeps is of the whole */
    pthread_mutex_t lock; /* held by who makes the index */
    atomic_int state;     /* a u9i_indexed_state; from INDEXED on the rest stays as it is: */
    u9i_index index;
    u9i_frames frames;
    uint64_t lost_before; /* of `index`: records were lost behind those below this virtual offset; 0: none were */
    uint64_t id;          /* of its index among all that there ever were in the process, from 1 */
    atomic_bool untabled; /* its index cannot be taken into a table: see tabling.h */
} u9i_indexed;

/* No key of a segment is outside of this; what is not known yet is as wide as can be. */
typedef struct u9i_key_range {
    u9i_key_entry low, high;
} u9i_key_range;

typedef enum u9i_view_order {
    U9I_ORDER_NOT_YET, /* a range is not yet known */
    U9I_ORDER_ROW,     /* the greatest key of a segment is at most the least of the next one */
    U9I_ORDER_NONE
} u9i_view_order;

/* Whether records were lost that no index tells of (catalog->untold), by a scan of all that found nothing. */
typedef enum u9i_view_scanned {
    U9I_NOT_SCANNED,
    U9I_SCANNED_WHOLE,
    U9I_SCANNED_LOSSY
} u9i_view_scanned;

typedef struct u9i_view {
    atomic_uint references;
    u9i_catalog *catalog;   /* counted */
    u9i_kept *kept;         /* counted: where is kept what is found out from here on */
    uint64_t written_from;  /* segments from this number on are the handle's writer's */
    atomic_int stage;       /* how far the handle's session was, see session_stage */
    uint64_t checked_us;    /* monotonic time when it was last seen to be current; atomic */
    u9i_indexed **segments; /* those that are read, ascending */
    u9i_key_range *ranges;  /* of each; written once, under the segment's lock, before its `ranged` */
    bool *ranged;           /* loaded and set atomically */
    size_t count;
    atomic_size_t ranged_count;
    atomic_int order;       /* a u9i_view_order */
    u9i_bins *bins;         /* of `ranges`, once that is ROW; NULL: there is no memory */
    atomic_bool lossy;      /* of a segment whose range is known, records were lost */
    atomic_int scanned;     /* a u9i_view_scanned */
    _Atomic(struct u9i_tabled_view *) tabled; /* what lookups go by, see tabling.h; NULL: by pages */
    atomic_bool settled;    /* there is no more to be done about that */
} u9i_view;

/*
 * The handle's view, counted. `fresh`: of the files as they are now, by their watch; else it may be as old as
 * U9I_VIEW_AGE_US. U9_IO, U9_NOMEM, U9_VERSION.
 */
enum { U9I_VIEW_AGE_US = 10000 };
U9_MUST_CHECK u9_err u9i_view_take(u9_log *log, bool fresh, u9i_view **out, u9_fault *fault);
void u9i_view_release(u9i_view *view); /* NULL is fine */

/* The view while a thread looks something up in it. */
typedef struct u9i_seated {
    u9i_view *view;
    struct u9i_seat *seat; /* NULL: it is counted instead */
} u9i_seated;

/*
 * As u9i_view_take, not fresh, for who does so often: most times nothing is touched that another thread touches too. Given
 * back by the same thread.
 */
U9_MUST_CHECK u9_err u9i_view_sit(u9_log *log, u9i_seated *out, u9_fault *fault);
void u9i_view_rise(const u9i_seated *seated);

/*
 * Sees to it that the segment's index can be asked. U9_ABSENT: it has none; U9_AGAIN: the segment is not there any more,
 * a fresh view is wanted; U9_IO, U9_NOMEM, U9_VERSION.
 */
U9_MUST_CHECK u9_err u9i_view_index(u9_log *log, u9i_view *view, size_t i, u9_fault *fault);

/* A lookup in the view went by pages: see tabling.h. */
void u9i_view_go_on(u9_log *log, u9i_view *view);

/* The frames of a file that the handle's writer has written so far, counted: u9i_indexed_release. U9_IO, U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_view_written(u9_log *log, const u9i_written_spot *spot, u9i_indexed **out, u9_fault *fault);
void u9i_indexed_release(u9i_indexed *indexed); /* NULL is fine */

/* What a handle keeps for lookups: at its end. */
void u9i_view_forget(u9_log *log);

#endif
