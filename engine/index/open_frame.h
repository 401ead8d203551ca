/*
 * engine/index/open_frame.h: a verified frame whose records are looked up: by its table (frame_table.h), or by going
 * through them where it has none.
 *
 * Threads: any, if it is kept: then it never changes.
 */
#ifndef U9I_OPEN_FRAME_H
#define U9I_OPEN_FRAME_H

#include "engine/index/keys.h"
#include "engine/segment/segment.h"

#include <u9/log.h>

/* What is asked of a frame at each lookup: one line of the processor's cache. */
typedef struct u9i_open_frame {
    struct u9i_open_frame *next; /* kept beside it */
    const uint8_t *bytes;  /* the body: in the mapping, or its own; NULL: it is read, record by record */
    void *table;           /* of keys, or of places: see frame_table.h; NULL: it is walked */
    uint64_t offset;
    uint64_t ordinal;      /* of its first record */
    uint64_t time_us;
    uint32_t size;         /* bytes of the body */
    uint32_t count;        /* records in it */
    uint8_t kind;          /* a u9i_body_kind: RECORDS, or PART: a record in parts, of which this is the last one */
    bool plain : 1;        /* as the body */
    bool keyed : 1;        /* the table is one of keys */
    bool wide : 1;         /* its table has wider elements */
    bool owned : 1;        /* `bytes` are its own memory */
    bool kept : 1;
    uint16_t spread;       /* of a table of keys: see frame_table.h */
    uint32_t fenced;       /* of a kept one: the page, counted from 1, whose entry was found to say the truth of it; 0: none.
                            * Set and asked atomically */
} u9i_open_frame;

/* A record within an open frame. */
typedef struct u9i_found {
    u9i_record record; /* borrows the frame, or `own` */
    uint64_t at;       /* virtual offset */
    uint32_t number;   /* in the frame */
    uint8_t *own;      /* to be freed, by u9i_found_free; NULL: there is none */
} u9i_found;
void u9i_found_free(u9i_found *found);

typedef struct u9i_frames u9i_frames; /* the frames of a segment: frames.h */

void u9i_open_frame_free(u9i_open_frame *frame); /* NULL is fine */

/*
 * The newest record of this key in the frame that stands before `below`, a virtual offset. U9_ABSENT: none does.
 * U9_IO, U9_NOMEM; U9_CORRUPT: the file is not what it was.
 */
U9_MUST_CHECK u9_err u9i_open_frame_find(const u9i_frames *frames, const u9i_open_frame *frame, const u9_key *key,
                                         uint64_t below, u9i_found *out);

/*
 * The same of a kept frame, of a key of this hash, as far as it is at hand: where keys are looked up most. U9_AGAIN: it is
 * not, ask the other one. Who uses what was found asks u9i_open_frame_fell.
 */
U9_MUST_CHECK u9_err u9i_open_frame_find_at_hand(const u9i_open_frame *frame, const u9_key *key, uint64_t hash, uint64_t below,
                                                 u9i_found *out);

/*
 * Asks the processor for the record that a lookup of this key will look at in a kept frame whose head and slots are at
 * hand. `at`: a virtual offset at which it begins, or 0: then it is that of the slot that is returned, unless that is 0.
 */
uint64_t u9i_open_frame_bring(const u9i_frames *frames, const u9i_open_frame *frame, const u9_key *key, uint64_t at);

/* The record of that slot. U9_ABSENT: it has another key, and the frame may have a record of this one all the same; U9_IO,
 * U9_NOMEM, U9_CORRUPT as u9i_open_frame_find. */
U9_MUST_CHECK u9_err u9i_open_frame_at_slot(const u9i_frames *frames, const u9i_open_frame *frame, const u9_key *key,
                                            uint64_t slot, u9i_found *out);

/* Told of each record, in order, where it begins in the body, and its number; true ends it. */
typedef bool u9i_walk_fn(void *ctx, const u9i_record *record, uint32_t at, uint32_t number);

/* Goes through a frame of RECORDS. U9_CORRUPT, U9_IO, U9_NOMEM: its body is not kept, and cannot be read again. */
U9_MUST_CHECK u9_err u9i_open_frame_walk(const u9i_frames *frames, const u9i_open_frame *frame, u9i_walk_fn *each, void *ctx);

/* The key of the record that begins at this virtual offset, which may be a guess. U9_CORRUPT: no record of such a key. */
U9_MUST_CHECK u9_err u9i_open_frame_key(const u9i_frames *frames, const u9i_open_frame *frame, uint64_t at, u9i_key_entry *out);

/* The record that begins at this virtual offset in the frame. U9_CORRUPT: none does. U9_IO, U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_open_frame_record(const u9i_frames *frames, const u9i_open_frame *frame, uint64_t at, u9i_found *out);

/* Asks the processor for what a lookup of a key of this hash (u9i_key_mix by frames->seed) looks at first: the head of a kept
 * frame, and one of so many groups of its table. */
void u9i_open_frame_bring_slots(const u9i_open_frame *frame, uint32_t groups, uint64_t hash);
uint32_t u9i_open_frame_groups(const u9i_open_frame *frame); /* 0: its table is not one of keys */

/* Asks the processor for what stands there. */
static inline void u9i_bring(const void *at)
{
    __builtin_prefetch(at, 0, 3);
    __builtin_prefetch((const uint8_t *)at + 64, 0, 3); /* the rest of the element, of the record */
    __builtin_prefetch((const uint8_t *)at + 128, 0, 3);
}

#endif
