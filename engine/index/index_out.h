/*
 * engine/index/index_out.h: the frames of an index, behind the data of their segment or in a file of their own: pages,
 * filter, roots. [C-7] [C-9] [C-10] [S-6] [K-1]
 *
 *     | pages of frames | their root | pages of records | filter | their root |
 *                            ^ other ------------------------------------'  the last root leads to all
 *
 * Entries are told in the order of their keys, so that they may come from anywhere. Writes are of whole blocks, each
 * once. One thread.
 */
#ifndef U9I_INDEX_OUT_H
#define U9I_INDEX_OUT_H

#include "engine/index/keys.h"
#include "engine/index/losses.h"
#include "engine/os/env.h"

typedef struct u9i_index_out {
    /* Set by who opens it: */
    u9i_file *file;         /* borrows */
    u9i_secret secret;      /* of the file */
    u9i_position at;        /* behind the last frame: where, the ordinal there, and its frame_sha */
    uint64_t previous;      /* where that begins */
    uint64_t time_us;       /* its time, below which no later one is */
    uint64_t durable;       /* what the frames promise */
    u9i_position data;      /* the segment's data end, for roots */
    uint64_t records;       /* user records up to there */
    u9i_keyspec spec;
    bool unfiltered;        /* no room for a filter */
    const u9i_losses *lost; /* borrows: what roots note of records that were lost; or NULL */
    uint8_t content[U9I_HASH_SIZE]; /*   and the hash of that */
    /* Its own: */
    u9i_queue *queue;       /* NULL: not opened */
    uint64_t frames;        /* written so far */
    uint64_t root;          /* virtual offset of the last root; 0: there is none yet */
    int error;              /* the first failure, a negative errno; sticky */
    uint8_t *buffer;        /* [base, base + fill) of the file, not written yet; whole blocks but for the end */
    size_t buffer_room;
    uint64_t base;
    size_t fill;
    u9i_index_form form;    /* of the index that is being told: */
    uint64_t entries, told; /*   how many there are, and were told */
    u9i_key_entry last;     /*   the greatest key that it leads to */
    size_t page_room;       /*   entries of a page */
    uint8_t *keys, *places; /*   of the page that is filled */
    uint32_t count;
    uint8_t *root_keys, *root_places; /* one entry a page */
    uint32_t pages, root_room;
    uint8_t *filter;        /*   or NULL */
    uint64_t blocks;
} u9i_index_out;

/* Bytes at most that the frames of such an index take, from one block on. */
uint64_t u9i_index_bound(const u9i_keyspec *spec, uint64_t frames, uint64_t records);

/* Behind what is said in the fields of the first part. A negative errno: nothing is held. */
int u9i_index_out_open(u9i_index_out *out);
void u9i_index_out_close(u9i_index_out *out); /* waits for what is under way, should a write have failed */

/* `entries` of that form follow, then its end. -ENOMEM or an earlier error. */
int u9i_index_out_begin(u9i_index_out *out, u9i_index_form form, uint64_t entries);
void u9i_index_out_add(u9i_index_out *out, const u9i_key_entry *entry);

/* `last`: the greatest key that it leads to, if that is not the last entry's; else NULL. */
int u9i_index_out_end(u9i_index_out *out, const u9i_key_entry *last);

/*
 * All of what was collected, which is sorted. `earlier`: NULL, or what stands in front of that in the file and is in
 * order before it. 0 or a negative errno.
 */
int u9i_index_out_keys(u9i_index_out *out, const u9i_keys *earlier, const u9i_keys *keys);

/* What is left goes to the file, with zeros up to a block's end. 0 or a negative errno. It is not synced. */
int u9i_index_out_finish(u9i_index_out *out);

#endif
