/*
 * engine/write/writer_parts.h: what the files of the writer share: writer.c (the session, and what it offers),
 * writer_entry.c (records are measured and copied), writer_frame.c (frames are opened, sealed, hashed),
 * writer_drive.c (the driver's work, waiting, durability), writer_roll.c (files begun, rolled, sealed),
 * writer_place.c (where the log is), writer_ahead.c (space ahead), writer_space.c (what others left reserved),
 * writer_trim.c (what is said to be trimmed), writer_find.c (keys, and what is found by them), row.c (a record in parts).
 */
#ifndef U9I_WRITER_PARTS_H
#define U9I_WRITER_PARTS_H

#include "engine/write/writer.h"

#include "format/base/fault.h"

enum {
    U9I_WRITER_SLACK = 6 * U9I_BLOCK, /* space for padding, a promise, a u9end and their padding */
    U9I_WRITER_BATCH = 64             /* records whose measures are kept from check to copy */
};

#define U9I_BODY_TARGET (U9I_FRAME_TARGET - U9I_FRAME_HEADER_SIZE - U9I_TRAILER_SIZE)

/* What holds of every writer while its lock is held. */
void u9i_writer_check(u9i_writer *w);

/* Waits at a gate until it is turned; the lock is given back meanwhile. */
void u9i_writer_wait(u9i_writer *w, unsigned gate);
/* Turns a gate, so that all who wait there look again. The lock is held. */
void u9i_writer_turn(u9i_writer *w, unsigned gate);

/* The driver's role; the lock is held. Taking waits for it, unless the writer is poisoned. */
void u9i_writer_take_role(u9i_writer *w);
void u9i_writer_give_role(u9i_writer *w);

/* Keeps the first failure, on this file, and returns U9_POISONED. `sys` is negative. Without the lock. [W-6] */
u9_err u9i_writer_poison(u9i_writer *w, const u9i_segment_out *out, int sys, const char *what, u9_fault *fault);

/* Tells that the writer is poisoned, if it is; else U9_OK. The lock is held. */
u9_err u9i_writer_refuse(const u9i_writer *w, u9_fault *fault);

/* u9i_writer_mark, of now; the lock is held. */
bool u9i_writer_mark_at(const u9i_writer *w, uint64_t now_us, u9i_mark_record *out);

/* Records */

typedef struct u9i_measure {
    uint64_t elements; /* of the record's tuple: how many, */
    uint64_t content;  /*   their bytes, the key's first, */
    uint64_t size;     /*   and these with its head */
} u9i_measure;

/*
 * What a batch needs in the frame; refuses what is malformed or too large. [B-2] [F-5] `kept` are the measures of its
 * first U9I_WRITER_BATCH records. Without the lock.
 */
U9_MUST_CHECK u9_err u9i_writer_measure(const u9i_writer *w, const u9_entry *entries, size_t count,
                                        u9i_measure *kept, uint64_t *total, u9_fault *fault);

/* Copies a batch, for which there is room, into the frame: all of it, or nothing when a key fails. */
U9_MUST_CHECK u9_err u9i_writer_put(u9i_writer *w, u9i_frame_out *f, const u9_entry *entries, size_t count,
                                    const u9i_measure *kept, u9_place *places, u9_fault *fault);

/* Copies the records of a proven body, for which there is room, into the empty frame. [B-2] */
void u9i_writer_put_body(u9i_writer *w, u9i_frame_out *f, const uint8_t *body, size_t size);

/* U9_LIMIT: there are not so many ordinals left. [L-5] */
U9_MUST_CHECK u9_err u9i_writer_count_up(const u9i_writer *w, uint64_t count, u9_fault *fault);

/* The raw key of a record: the one given, which fits the kind, or (data NULL) a fresh one of this frame's transaction. */
U9_MUST_CHECK u9_err u9i_writer_key(u9i_writer *w, uint32_t count, const u9_key *given, uint8_t raw[U9I_KEY_MAX],
                                    size_t *size);

/* The first and last key, as values, of records that are accepted. [S-4] */
void u9i_writer_keep_keys(u9i_writer *w, u9i_span first, u9i_span last);

/* Appending: the lock is held, which the second gives back; `driver`: and the role, as the session is begun with it */

U9_MUST_CHECK u9_err u9i_writer_begin_append(u9i_writer *w, uint64_t count, bool *driver, u9_fault *fault);

/* A frame in which there is room for a body, or `total` more bytes of one; a file, and space in it. */
U9_MUST_CHECK u9_err u9i_writer_admit(u9i_writer *w, bool driver, uint64_t total, u9i_frame_out **out, u9_fault *fault);

/* The same, for a body that has a frame to itself: there is nothing in it yet. */
U9_MUST_CHECK u9_err u9i_writer_admit_alone(u9i_writer *w, bool driver, uint64_t total, u9i_frame_out **out, u9_fault *fault);

/* Ends it with `err`; `frames` were sealed when it began. A first append that was refused leaves the files as they were. [W-6] */
void u9i_writer_end_append(u9i_writer *w, bool driver, u9_err err, uint64_t frames);

/* Frames; the lock is held */

/* Bytes that a frame with such a body may take, masked and padded. */
uint64_t u9i_writer_bound(uint64_t body_size);

/* True if it begins at a block, when nothing else is on its way: see stream.h. */
bool u9i_writer_is_large(const u9i_writer *w, uint64_t body_size);

/* True if the body of a frame that is filled may have `more` bytes than now. */
bool u9i_writer_fits(const u9i_frame_out *f, uint64_t more);

/* True if a frame for such a body can be opened now, in memory. */
bool u9i_writer_has_room(const u9i_writer *w, uint64_t body_size);

/* Opens it for a body that may grow to `room` bytes, to U9I_BODY_TARGET at most or not at all. */
u9i_frame_out *u9i_writer_begin_frame(u9i_writer *w, uint64_t body_size, uint64_t room);

/* The time of what is written now. */
uint64_t u9i_writer_now(const u9i_writer *w);

/* Begins its transaction, while it is empty. U9_LIMIT: muids end in the year 2112. [L-7] */
U9_MUST_CHECK u9_err u9i_writer_begin_stamp(u9i_writer *w, u9_fault *fault);

/* Seals it if there are records in it. */
void u9i_writer_seal_records(u9i_writer *w);

/* Seals the frame that is filled, if there is one; `pads`: up to the next block. [F-4] [F-7] */
void u9i_writer_seal(u9i_writer *w, bool pads);

/* Hashes some of the frames that wait, without the lock meanwhile. False: none does. */
bool u9i_writer_hash_some(u9i_writer *w);

/* The tasks that hash: readied, and gone. */
void u9i_writer_open_hashers(u9i_writer *w);
void u9i_writer_close_hashers(u9i_writer *w);

/* After an append: sees to it that full frames go on, by another thread if there is work for one. */
void u9i_writer_go_on(u9i_writer *w);

/* The driver; the lock is held on the way in and out, and not while there is anything to wait for */

/* Does the next thing that brings frames nearer to the disk, or waits for it. */
void u9i_writer_step(u9i_writer *w);

/* The same, if it is to be had without waiting for the disk or another thread; false: it is not. */
bool u9i_writer_step_now(u9i_writer *w);

/* Seals what is filled, and has zeros follow up to the next block. */
void u9i_writer_pad(u9i_writer *w);

/* Gives everything that is filled its order, padded; blocks may wait to be submitted. */
void u9i_writer_lay_all(u9i_writer *w);

/* Brings everything that is filled to the file, padded. U9_POISONED. */
U9_MUST_CHECK u9_err u9i_writer_push(u9i_writer *w, u9_fault *fault);

/* The same, and waits until it is durable, each frame of it, also one that only carries a promise. */
U9_MUST_CHECK u9_err u9i_writer_flush(u9i_writer *w, u9_fault *fault);

/* The task that leads a group of which nobody waits, and brings a new file on; the lock is its guard. */
void u9i_writer_run_committer(void *writer);

/* Finds by which name the directory can be looked for from within: the path's last part, if that is a name of it. */
void u9i_writer_note_place(u9i_writer *w);

/* True if the file is there by the directory's name and its own: one call, where two would say why not. Without the lock. */
bool u9i_writer_is_found(const u9i_writer *w, const u9i_segment_out *out);

/* 0 if the directory still has that name, or had none; -ENOENT, -ESTALE (another one has it). Without the lock. [W-6] */
int u9i_writer_find_place(const u9i_writer *w);

/* Space in the file; by the driver, the lock is held on the way in and out */

/* Space that a frame with such a body takes, and what may have to follow it. */
uint64_t u9i_writer_space_for(uint64_t body_size);

/* Has space reserved in the background before somebody needs it. That it cannot be had is told to who does. */
void u9i_writer_reserve_ahead(u9i_writer *w);

/* Sees to it that zeros stand in [from, to), where a small durable write goes next; some more come in the background. [S-3] */
void u9i_writer_zero_ahead(u9i_writer *w, uint64_t from, uint64_t to);

/* Returns when none are written in the background below `to`. */
void u9i_writer_finish_zeros(u9i_writer *w, uint64_t to);

/* The task that does both; the lock is its guard. */
void u9i_writer_run_reserver(void *writer);

/* Returns when that is over: the file's space is the driver's alone. */
void u9i_writer_finish_reserving(u9i_writer *w);

/* Files; by the driver, the lock is held on the way in and out */

/* The session's first file and u9open. [W-3] */
U9_MUST_CHECK u9_err u9i_writer_start(u9i_writer *w, u9_fault *fault);

/*
 * Takes a start back whose append was refused, before anything of it was submitted: the log's files are as they
 * were. [W-6]
 */
void u9i_writer_unstart(u9i_writer *w);

/*
 * Goes over to a new segment, which says this of what is trimmed (NULL: as who retains wants it). Refused without harm if
 * that has no room for `room` bytes of what comes. [S-6] [W-6] [L-10]
 */
U9_MUST_CHECK u9_err u9i_writer_roll(u9i_writer *w, uint64_t room, const u9i_trim_record *trim, u9_fault *fault);

/* While crossing: does what is next for the old file's data, and when they are durable, turns to the new one. Without the lock. */
void u9i_writer_cross(u9i_writer *w);

/* The file that is written and synced just now. By the driver. */
static inline u9i_segment_out *u9i_writer_sinking(u9i_writer *w)
{
    return w->crossing ? &w->old : &w->out;
}

/* Each file that is begun from here on says that; what it said before is never taken back. [C-5] Lock. */
void u9i_writer_take_trim(u9i_writer *w, const u9i_trim_record *trim);

/* Behind the u9open of a new file: what is trimmed, if anything is. [C-5] */
void u9i_writer_put_trim(u9i_writer *w);

/* The task that seals the old file, whose successor is durable, once the mark names that; the lock is its guard. [M-5] [S-6] */
void u9i_writer_run_sealer(void *writer);

/* Submits it, if its time has come. Without the lock. */
void u9i_writer_seal_old(u9i_writer *w);

/* Returns when the old file is sealed, or the writer poisoned. The successor is durable. */
void u9i_writer_finish_old(u9i_writer *w);

/* Where the session stands before its first frame. */
void u9i_writer_take_plan(u9i_writer *w);

/* Keys, for lookups and for the index of a sealed file */

/* Room for them: see options.index_memory. False: there is no memory. */
U9_MUST_CHECK bool u9i_writer_open_keys(u9i_writer *w, size_t memory);
void u9i_writer_release_keys(u9i_writer *w);

/* The current file is another; nothing of it is sequenced. */
void u9i_writer_begin_keys(u9i_writer *w);

/* Takes in a frame that was just sequenced. The driver, without the lock. */
void u9i_writer_collect(u9i_writer *w, const u9i_frame_out *f);

/* The current file is about to be the old one. The lock is held. */
void u9i_writer_keys_rolled(u9i_writer *w);

/* The old one is sealed, or never will be: readers find its keys, or those that they make of it. Without the lock. */
void u9i_writer_keys_sealed(u9i_writer *w);

/* Cuts what sessions that were killed had reserved: the u9open, by which that is void, is durable. Without the lock. [S-7] */
void u9i_writer_give_back(u9i_writer *w);

#endif
