/*
 * engine/index/index_file.h: the index of a segment in a file of its own, beside it: NUMBER.u9x. [K-4]
 *
 *     | disk header | u9open: of which segment, and where its data end |
 *     | pages, filter, roots: as in a sealed segment (index_out.h)      |
 *     | u9end: the last root                                           |
 *
 * It is made under another name, which its maker holds locked, and has its own once it is durable.
 */
#ifndef U9I_INDEX_FILE_H
#define U9I_INDEX_FILE_H

#include "engine/index/index.h"
#include "engine/index/index_out.h"
#include "engine/index/runs.h"

/* One that is read. */
typedef struct u9i_index_file {
    u9i_segment *file; /* counted */
    u9i_position end;  /* of the segment's data, when it was made */
    uint64_t last;     /* where the last frame of the data begins */
    uint64_t root;     /* virtual offset of the last root */
    uint64_t bound;    /* all that it leads to in the file ends there */
    u9_clause refused; /* of its last root, if what that notes of losses cannot be had [K-5] */
} u9i_index_file;

/* What is wrong with one. */
typedef enum u9i_index_flaw {
    U9I_FLAW_NONE,
    U9I_FLAW_MISSING, /* there is none */
    U9I_FLAW_OWNER,   /* it has another owner or mode than the segment's file */
    U9I_FLAW_DAMAGED, /* it is not whole */
    U9I_FLAW_FOREIGN, /* of another segment */
    U9I_FLAW_STALE    /* the segment went on since */
} u9i_index_flaw;

/*
 * Looks at the file beside this segment. It is not compared with the segment's end: that is who uses it to do. U9_OK;
 * U9_ABSENT: there is none that can be used, `*flaw` says why; U9_IO, U9_NOMEM. Unless it is U9_OK nothing is held.
 */
U9_MUST_CHECK u9_err u9i_index_file_open(u9i_index_file *file, u9i_segment *of, u9i_windows *windows,
                                         u9i_index_flaw *flaw);

/* What its last root notes of records that were lost, to be freed. U9_CORRUPT: file->refused says why; U9_IO, U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_index_file_losses(u9i_index_file *file, u9i_windows *windows, u9i_losses *out,
                                           uint8_t content[U9I_HASH_SIZE]);
void u9i_index_file_close(u9i_index_file *file); /* one that was never opened, zeroed, is fine */

/* One that is made. */
typedef struct u9i_index_making {
    /* Set by who begins it: */
    u9i_segment *of;   /* borrows: the segment; its facts are true */
    u9i_dir *dir;      /* borrows: where it is */
    u9i_queue *queue;  /* borrows; nothing is under way in it */
    uint8_t *block;   /* what is written by it, besides the index; freed by who closes it, behind that; or NULL */
    u9i_keyspec spec;
    const u9i_losses *lost; /* borrows: where records were lost; or NULL: none were, */
    uint8_t content[U9I_HASH_SIZE]; /*   and what stands there */
    /* Its own: */
    char partial[U9I_INDEX_NAME + 16]; /* the name that it is made under */
    u9i_file *file;    /* NULL: it is given up, or done */
    uint64_t size;     /* bytes, once it is done */
} u9i_index_making;

/*
 * Takes the name. 0, -EWOULDBLOCK: somebody else is making one; or a negative errno: nothing is held.
 */
int u9i_index_making_begin(u9i_index_making *making);

/*
 * Writes all of it, of the sorted entries of both forms, and gives it its name, durably. `end` and `last` as in
 * u9i_index_file; `count`: records that it leads to; `top`: the greatest key in order; `filter_room`: bytes that its
 * filter may take in memory, else it has none. 0 or a negative errno.
 */
int u9i_index_making_end(u9i_index_making *making, u9i_runs *frames, u9i_runs *records, const u9i_position *end,
                         uint64_t last, uint64_t count, const u9i_key_entry *top, uint64_t filter_room);

/* Gives up what is not done, and its name. One that is done or was not begun is fine. */
void u9i_index_making_drop(u9i_index_making *making);

#endif
