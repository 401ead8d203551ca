/*
 * engine/read/part_walk.h: the bytes of one record that stands in parts, a part at a time: each is verified before
 * its bytes are handed out, and none is kept. [C-6]
 *
 * The row was found whole before, by who passed its parts (part_row.h): its first and last frame are known. Parts are
 * gone through forwards, as they follow one another; for a place behind, from the nearest one of those that are
 * remembered, so that memory does not grow with the record.
 */
#ifndef U9I_PART_WALK_H
#define U9I_PART_WALK_H

#include "engine/segment/window.h"
#include "format/frame/control.h"

enum { U9I_STOPS = 64 };

/* A part that was passed. */
typedef struct u9i_stop {
    uint64_t frame;  /* its frame's offset */
    uint64_t before; /* that of the part before, 0 for none */
    uint64_t begin;  /* of its bytes, in the record */
    uint32_t number;
} u9i_stop;

typedef struct u9i_part_walk {
    u9i_window *window; /* borrows: on the file */
    uint8_t *scratch;   /* borrows: U9I_BODY_MAX bytes */
    uint64_t total;     /* bytes of the record */
    uint64_t last;      /* frame of its last part */
    u9i_stop next;      /* what comes next; its frame stands there or behind */
    u9i_span part;      /* the part that is held, with bytes from `begin` on; data NULL: none */
    uint64_t begin;
    u9i_stop stops[U9I_STOPS]; /* ascending, every `stride`-th part; the first is the row's */
    unsigned count;
    uint32_t stride;
} u9i_part_walk;

/* Readies a walk over the row whose first and last part stand in these frames. Nothing is read. */
void u9i_part_walk_init(u9i_part_walk *walk, u9i_window *window, uint8_t *scratch, uint64_t first, uint64_t last,
                        uint64_t total);

/*
 * The bytes of the record from `offset`, below its total, up to the end of their part; they borrow window and
 * scratch until the next call. U9_CORRUPT: a part is not there, or not as it was: walk->next says which. U9_IO:
 * window->sys.
 */
U9_MUST_CHECK u9_err u9i_part_walk_at(u9i_part_walk *walk, uint64_t offset, u9i_span *out);

/*
 * Looks, by what the parts name, for the frame of the first part of the row whose last one stands in this verified
 * frame, and is `part`. Nothing on the way is verified: whoever goes forwards from there does that. U9_CORRUPT: it
 * leads nowhere.
 */
U9_MUST_CHECK u9_err u9i_part_walk_first(u9i_window *window, const u9i_frame *last, const u9i_part_record *part,
                                         uint64_t *first);

/* What holds of every walk between two calls. */
void u9i_part_walk_check(const u9i_part_walk *walk);

#endif
