/*
 * engine/check/segment_copy.h: the bytes of a segment into a new file of another directory, durable, read back from
 * the disk and compared; closed there with a u9end of its own, if that is asked for.
 */
#ifndef U9I_SEGMENT_COPY_H
#define U9I_SEGMENT_COPY_H

#include "engine/write/segment_out.h"

/* A stretch of the file that stays as it is where the copy is to be. */
typedef struct u9i_kept_stretch {
    size_t index;        /* which segment it is of, for who has several */
    uint64_t begin, end; /* offsets */
} u9i_kept_stretch;

typedef struct u9i_segment_copy {
    u9i_file *from;
    u9i_dir *to;
    const char *path, *name; /* `to` for messages, and the name of the file in it: what has that is replaced */
    u9i_queue *queue;        /* with nothing under way */
    uint64_t bytes;          /* copied from the file's start on, */
    uint64_t size;           /*   and this large is the new file: zeros come behind them. No u9end */
    u9i_segment_out *out;    /* closes it behind `bytes`: what its u9end says is filled in, `file` and `dir` are not. NULL */
    const char *kind;        /*   of the keys */
    const u9i_kept_stretch *kept; /* these are read from `old`, and not from `from`; ascending. NULL: none */
    size_t kept_count;
    u9i_file *old;
    bool unread;             /* set by a failure: it was `from` that could not be read, and not the copy that failed */
} u9i_segment_copy;

/*
 * Makes the copy; its name is not durable. *size: of the new file. 0 or a negative errno: -EIO also if other bytes
 * are read back, -ENODATA: there are fewer bytes in the file.
 */
U9_MUST_CHECK int u9i_segment_copy_make(u9i_segment_copy *copy, uint64_t *size);

#endif
