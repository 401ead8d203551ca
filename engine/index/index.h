/*
 * engine/index/index.h: an index that is read: which records of a segment have a key. [C-7] [C-9] [C-10] [K-1] [K-2]
 *
 * It leads to places, and is never believed: who looks there sees whether the record has the key. So one that is
 * damaged or of another file costs time, and answers nothing by itself; one that is not whole is not taken.
 *
 * Its pages are opened when they are first needed, from the segment, from a file beside it, or from keys in memory. Where
 * the file is not mapped, what is kept of a page is where its entries stand: once it was proven the few that are wanted are
 * read, and not hashed again. What the budget has no room for is done without, at a few reads more: directories, copies of
 * pages, the filter. So memory does not grow with the entries, but by some 100 bytes a page for roots and heads.
 *
 * Threads: any, once it is open.
 */
#ifndef U9I_INDEX_H
#define U9I_INDEX_H

#include "engine/index/fences.h"
#include "engine/index/page.h"

#include <u9/clause.h>

/* A part of the filter. What is set is loaded and set atomically. */
typedef struct u9i_filter_slice {
    uint64_t place;      /* of its frame */
    const uint8_t *bits; /* NULL: not in memory, */
    uint64_t bits_at;    /*   but from this offset on in the file; 0: not yet looked at, U9_NOWHERE: they cannot be had */
} u9i_filter_slice;

/* One of the two forms. */
typedef struct u9i_index_part {
    uint64_t entries;     /* 0: there is none */
    uint32_t page_count;
    u9i_key_entry *roots; /* of each page the first key, and where the page is */
    u9i_page **pages;     /* loaded and set atomically; NULL: not yet opened, or not kept */
    u9i_filter_slice *slices;    /* of the filter */
    uint32_t slice_count;
    uint64_t blocks;      /* of the filter; 0: there is none */
    u9i_key_entry last;   /* the greatest key that it leads to */
} u9i_index_part;

/* What all who share an index have together, besides what its parts lead to. */
typedef struct u9i_index_common {
    atomic_uint references;
    _Atomic(uint64_t) counted; /* bytes, in the budget */
    pthread_mutex_t lock;      /* held by who opens a page */
} u9i_index_common;

typedef struct u9i_index {
    u9i_keyspec spec;
    u9i_index_part frames, records;
    u9i_index_common *common; /* counted */
    u9i_segment *source;  /* counted, and kept open: the file that it stands in; NULL: memory */
    u9i_windows *windows; /* borrows */
    uint64_t bound;       /* in it */
    u9i_budget *budget;   /* borrows: it outlives all who share this */
    uint64_t count;       /* records of the segment, by its word */
    uint8_t *memory;      /* of an index made of keys: its pages */
    const u9i_frames *home; /* frames that live as long as the index: which of them are kept is noted beside the entries
                             * that lead there; NULL: there are none such. Set before anybody looks up */
    u9_clause refused;    /* the first clause that refused something of it; set and loaded atomically [K-5] */
} u9i_index;

/*
 * The index of which the last root stands at `root`, a virtual offset in this file; its frames end at or before `bound`.
 * `end`: the data end, ordinal and chain that it must be of. U9_CORRUPT: it is none, not whole, or of something else;
 * U9_IO, U9_NOMEM. On failure nothing is held, and index->refused says why it is U9_CORRUPT.
 */
U9_MUST_CHECK u9_err u9i_index_open(u9i_index *index, u9i_segment *source, u9i_windows *windows, uint64_t root,
                                    uint64_t bound, const u9i_position *end, u9i_budget *budget);

/* One made of sorted keys, which are copied: how much memory that takes is not for the budget to say. U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_index_make(u9i_index *index, const u9i_keys *keys, u9i_budget *budget);

/* The same index once more, of one that is open: all that is opened of it is theirs together. Both are closed. */
void u9i_index_share(u9i_index *index, const u9i_index *of);
void u9i_index_close(u9i_index *index); /* one that was never opened, zeroed, is fine */

/*
 * The newest record of the segment that has this key and stands before `below`, a virtual offset. U9_OK: `frame` and
 * `out` are filled, `out` is given back by u9i_found_free; `*own` as by u9i_frames_at. U9_ABSENT: by what the index says there is none. U9_CORRUPT: what it
 * leads to is not there, or a page is not: it says nothing. U9_IO, U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_index_find(u9i_index *index, u9i_frames *frames, const u9_key *key, uint64_t below,
                                    const u9i_open_frame **frame, u9i_found *out, u9i_open_frame **own);

/*
 * The same of a key whose entry is `e`, and that stands before e->at, as far as what is asked is at hand: pages that are
 * open, and frames that are kept and known to the index (`home`). U9_OK: nothing is to be given back. U9_ABSENT. U9_AGAIN:
 * ask the other one, as is to be done where a mapping broke since: that is not looked at here.
 */
U9_MUST_CHECK u9_err u9i_index_find_at_hand(const u9i_index *index, const u9_key *key, const u9i_key_entry *e,
                                            const u9i_open_frame **frame, u9i_found *out);

/*
 * The places that u9i_index_find would look at first, virtual offsets: of the newest entry of the key's own, and of the
 * frame in which it is if it came in order; 0: there is none. U9_CORRUPT, U9_IO, U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_index_aim(u9i_index *index, const u9_key *key, uint64_t below, uint64_t at[2]);

/* The same; and of the second place the frame, if it is noted that it is kept: else `*kept` is NULL. The processor is asked
 * for its head, and what is first in its table. */
U9_MUST_CHECK u9_err u9i_index_aim_kept(u9i_index *index, const u9_key *key, uint64_t below, uint64_t at[2],
                                        const u9i_open_frame **kept);

/* Asks the processor for what a lookup of this key looks at first in pages of form 1 that are open. */
void u9i_index_bring(const u9i_index *index, const u9i_key_entry *key);

/* Calls `each` for every entry of a form, in order. U9_CORRUPT, U9_IO, U9_NOMEM, or what `each` returned. */
typedef u9_err u9i_index_fn(void *ctx, const u9i_key_entry *entry);
U9_MUST_CHECK u9_err u9i_index_each(u9i_index *index, u9i_index_form form, u9i_index_fn *each, void *ctx);

/* The same of one page; adds its entries to `*told`. All pages together should have as many as the root says. */
U9_MUST_CHECK u9_err u9i_index_pass(u9i_index *index, u9i_index_form form, uint32_t page, u9i_index_fn *each, void *ctx,
                                    uint64_t *told);

#endif
