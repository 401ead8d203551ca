/*
 * engine/write/writer_parts.h: what the files of the writer share: writer.c (the session and its durability),
 * writer_frame.c (records into frames), writer_file.c (segments begun, rolled and ended), writer_trim.c (what is
 * said to be trimmed), writer_space.c (what others left reserved).
 */
#ifndef U9I_WRITER_PARTS_H
#define U9I_WRITER_PARTS_H

#include "engine/write/writer.h"

#include "format/base/fault.h"

enum { U9I_WRITER_SLACK = 6 * U9I_BLOCK }; /* space for padding, a promise, a u9end and their padding */

/* Room of a frame at its largest, and of a compressed one before it turns out to be larger. */
#define U9I_FRAME_ROOM (U9I_FRAME_MAX + U9I_BLOCK)
#define U9I_PACKED_ROOM (U9I_FRAME_ROOM + U9I_BODY_MAX / 128)
#define U9I_BODY_TARGET (U9I_FRAME_TARGET - U9I_FRAME_HEADER_SIZE - U9I_TRAILER_SIZE)

/* What holds of every writer between two calls. */
void u9i_writer_check(const u9i_writer *w);

/* Keeps the first failure, and returns U9_POISONED. `sys` is negative; 0: it is only told again. [W-6] */
u9_err u9i_writer_poison(u9i_writer *w, int sys, const char *what, u9_fault *fault);

/* Seals the frame being filled, whatever is in it, and puts it on the stream. [F-4] [F-7] */
U9_MUST_CHECK u9_err u9i_writer_seal(u9i_writer *w, u9_fault *fault);

/* U9_LIMIT: there are not so many ordinals left. [L-5] */
U9_MUST_CHECK u9_err u9i_writer_count_up(const u9i_writer *w, uint64_t count, u9_fault *fault);

/* What a batch needs in the frame; refuses what is malformed or too large. [B-2] [F-5] */
U9_MUST_CHECK u9_err u9i_writer_measure(const u9i_writer *w, const u9_entry *entries, size_t count,
                                        uint64_t *total, u9_fault *fault);

/* Begins a frame's transaction. U9_LIMIT: muids end in the year 2112. [L-7] */
U9_MUST_CHECK u9_err u9i_writer_begin_frame(u9i_writer *w, u9_fault *fault);

/* Copies a batch, for which there is room, into the frame: all of it, or nothing when a key fails. */
U9_MUST_CHECK u9_err u9i_writer_put(u9i_writer *w, const u9_entry *entries, size_t count,
                                    u9_place *places, u9_fault *fault);

/* Copies the records of a proven body, for which there is room, into the empty frame. [B-2] */
void u9i_writer_put_body(u9i_writer *w, const uint8_t *body, size_t size);

/* Sees to it that the file has blocks up to `end`. U9_IO: there is no room. [W-6] */
U9_MUST_CHECK u9_err u9i_writer_reserve(u9i_writer *w, u9i_output *out, uint64_t end,
                                        u9_fault *fault);

/* Where the session stands before its first frame, by its plan. */
void u9i_writer_take_plan(u9i_writer *w);

/* Behind the u9open of a new file: what the plan says to be trimmed, if anything is. [C-5] */
U9_MUST_CHECK u9_err u9i_writer_put_trim(u9i_writer *w, u9_fault *fault);

/* The session's first file and u9open. [W-3] */
U9_MUST_CHECK u9_err u9i_writer_start(u9i_writer *w, u9_fault *fault);

/*
 * Takes a start back whose append was refused, before anything of it was submitted: the log's files are as they
 * were. [W-6]
 */
void u9i_writer_unstart(u9i_writer *w);

/* 0 if the output's name still stands for the file that is written; -ENOENT, -ESTALE (for another). [W-6] */
int u9i_writer_find_name(const u9i_writer *w, const u9i_output *out);

/* Removes the files of a poisoned session that nothing has reached. Nothing is under way. [W-6] */
void u9i_writer_drop_blank(u9i_writer *w);

/* Cuts what sessions that were killed had reserved: the u9open, by which that is void, is durable. [S-7] */
void u9i_writer_give_back(u9i_writer *w);

/* Goes over to a new segment. Refused without harm if that has no room for `room` bytes of what comes. [S-6] [W-6] */
U9_MUST_CHECK u9_err u9i_writer_roll(u9i_writer *w, uint64_t room, u9_fault *fault);

/* Writes a u9end into a block of its own, cuts the file behind it, and syncs. [S-4] [S-6] */
U9_MUST_CHECK u9_err u9i_writer_end(u9i_writer *w, u9i_end_kind kind, u9_fault *fault);

/* Makes every frame durable, also one that only carries a promise: what is named next ends there. */
U9_MUST_CHECK u9_err u9i_writer_sync_frames(u9i_writer *w, u9_fault *fault);

#endif
