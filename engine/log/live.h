/*
 * engine/log/live.h: the file `.live` beside the segments: what a writer at work tells readers beside it, that its
 * durable end has moved. [M-10]
 *
 * The promise that a frame carries comes with the next frame, and the mark comes within a second; this comes at once,
 * by one write into the page cache, which wakes who watches the file (os/env.h: post). Nothing else rests on it: a
 * reader shows frames that it has verified, up to this end, and asks it nothing about damage.
 *
 *     0  "u9live1\0"   8  segment   16  boundary   32  durable end   40  check: the first 8 bytes of H(what is before it)
 *
 * Numbers are big-endian. Who reads while it is written sees a wrong check, and looks again.
 *
 * Threads: one posts at a time, the writer's driver; any number look.
 */
#ifndef U9I_LIVE_H
#define U9I_LIVE_H

#include "engine/os/env.h"

#include <u9/log.h>

enum { U9I_LIVE_SIZE = 48 };

extern const char u9i_live_name[]; /* [M-10] */

typedef struct u9i_live {
    uint64_t segment;     /* number of the newest segment, of which */
    uint8_t boundary[16]; /*   (this is its boundary) */
    uint64_t end;         /* all bytes before this offset are on stable storage */
} u9i_live;

void u9i_live_encode(const u9i_live *live, uint8_t out[U9I_LIVE_SIZE]);
U9_MUST_CHECK bool u9i_live_decode(const uint8_t *bytes, size_t size, u9i_live *out);

/* Tells what the log's writer made durable, if it has begun. What fails is not told: the mark says it all later. */
void u9i_live_post(u9_log *log);

/* The session is over: takes the file away, if there was a post. */
void u9i_live_end(u9_log *log);

/*
 * What was posted last. False: nothing that can be read. Where no writer is at work (u9i_dir_writer_active), it is
 * what an earlier one said.
 */
U9_MUST_CHECK bool u9i_live_read(u9i_dir *dir, u9i_live *out);

#endif
