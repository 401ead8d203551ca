/*
 * engine/write/slots.h: frames on their way, one slot each, in the order of their records.
 *
 *     FREE --open--> FILLING --seal--> SEALED --take--> HASHING --hashed--> HASHED --sequenced--> SEQUENCED --written--> FREE
 *
 *     written             sequenced        hashed, in any order      taken            sealed
 *     | SEQUENCED ........ | HASHED, HASHING, HASHED ................ | SEALED ....... | FILLING, if any
 *
 * A slot is filled where it will be written from, in the stream's ring; or, where frames are compressed, in memory of
 * its own, from which the sequencer copies what is left of it. It is FREE again when its blocks are written: what is
 * durable is a place in the log, not a slot.
 *
 * Threads: one at a time, by the owner's lock, but for hashers, which need not have that: appenders hold it while they
 * copy. They look under the lock here, which guards `taken`, `waiting_bytes` and the states from SEALED to HASHED; all
 * else here is read under one of the two, and changed under both. What a slot holds belongs to who took it into its
 * state: the hasher that took it, the sequencer.
 */
#ifndef U9I_SLOTS_H
#define U9I_SLOTS_H

#include "engine/index/keys.h"
#include "engine/write/stream.h"
#include "format/frame/control.h"
#include "format/frame/frame.h"

#include <pthread.h>

enum {
    U9I_SLOTS = 512,     /* frames on their way at most: small ones, of commits */
    U9I_SLOTS_OWN = 32 /* of these, not yet sequenced and with memory of their own */
};

typedef enum u9i_out_state {
    U9I_OUT_FREE,
    U9I_OUT_FILLING,
    U9I_OUT_SEALED,
    U9I_OUT_HASHING,
    U9I_OUT_HASHED,
    U9I_OUT_SEQUENCED
} u9i_out_state;

typedef struct u9i_frame_out {
    u9i_out_state state;
    u9i_place at;      /* in the stream; of one with memory of its own when it is sequenced */
    uint8_t *frame;    /* header room, body, room for mask and trailer */
    uint8_t *packed;   /* room for its compressed form; NULL: the frame stands in the stream */
    bool lz4;          /* it is to be compressed, if that makes it smaller */
    size_t body_size;  /* as filled, */
    uint64_t room;     /*   at most */
    uint32_t count;    /* records in it */
    uint64_t ordinal;  /* of its first record */
    uint64_t time_us;  /* of its trailer */
    bool pads;         /* zeros follow up to the next block */
    bool large;        /* its memory is the one for large frames */
    bool given;        /* a key in it was given, not made */
    u9i_key_entry part_key; /* the last part of a record in parts: its key in an index; else `at` is 0 */

    uint8_t *stored;   /* from SEALED on, or with memory of its own from HASHED on: frame or packed, */
    size_t stored_size; /*  and the bytes of the body there */
    u9i_hasher hasher;
    uint64_t end_v;    /* from SEQUENCED on: behind it in the stream, */
    u9i_position end;  /*   and in the log */
} u9i_frame_out;

typedef struct u9i_slots {
    pthread_mutex_t lock; /* held for a few lines, behind the owner's */
    u9i_frame_out slots[U9I_SLOTS];
    uint64_t written, sequenced, taken, sealed; /* so many came so far, ever; FILLING: the one behind `sealed` */
    uint64_t waiting_bytes; /* of bodies: sealed and not taken */
    bool filling;
    bool awaited;      /* who has the owner's lock waits for a hash */
    uint8_t *own;      /* NULL: frames are filled in the stream */
    uint8_t *large;    /* so one frame of any size, at a time: */
    bool large_used;
} u9i_slots;

/* `own`: slots have memory of their own. False: there is no memory. */
bool u9i_slots_init(u9i_slots *slots, bool own);
void u9i_slots_release(u9i_slots *slots);

static inline u9i_frame_out *u9i_slots_at(u9i_slots *slots, uint64_t n)
{
    return &slots->slots[n % U9I_SLOTS];
}

/* The one that is filled; NULL: none is. */
static inline u9i_frame_out *u9i_slots_filling(u9i_slots *slots)
{
    return slots->filling ? u9i_slots_at(slots, slots->sealed) : NULL;
}

/* Nothing is between being filled and being written. */
static inline bool u9i_slots_idle(const u9i_slots *slots)
{
    return slots->written == slots->sealed && !slots->filling;
}

/* True if a slot for a body of so many bytes can be opened, but for the stream's room. */
bool u9i_slots_can_open(const u9i_slots *slots, size_t body_size);

/* Opens it. Where slots have no memory of their own, the caller gives it its place. */
u9i_frame_out *u9i_slots_open(u9i_slots *slots, size_t body_size);

/* Takes the one that is filled back. */
void u9i_slots_unopen(u9i_slots *slots);

/* All that is sealed is taken back: nothing of it was submitted, and nobody hashes. */
void u9i_slots_forget(u9i_slots *slots);

/* Closes the one that is filled to more records. */
void u9i_slots_seal(u9i_slots *slots);

/* The lock here, for what says so. */
void u9i_slots_lock(u9i_slots *slots);
void u9i_slots_unlock(u9i_slots *slots);

/* Slots that wait to be hashed. Its lock is held. */
static inline unsigned u9i_slots_waiting(const u9i_slots *slots)
{
    return (unsigned)(slots->sealed - slots->taken);
}

/* Takes up to `max` of these; returns how many. Its lock is held. */
unsigned u9i_slots_take(u9i_slots *slots, u9i_frame_out **out, unsigned max);

/* One that was taken is hashed. Its lock is held. */
void u9i_slots_hashed(u9i_slots *slots, u9i_frame_out *f);

/* True if who has the owner's lock is to be told of that: once. Its lock is held. */
bool u9i_slots_took_wait(u9i_slots *slots);

/* True if the next one to be sequenced is being hashed: that will be told. */
bool u9i_slots_await(u9i_slots *slots);

/* The next one to be sequenced, if it is hashed; NULL. */
u9i_frame_out *u9i_slots_next(u9i_slots *slots);

void u9i_slots_sequenced(u9i_slots *slots);

/* Frees those that end at or below `done`; the last one's end is put into `*end`. False: there is none. */
bool u9i_slots_written(u9i_slots *slots, uint64_t done, u9i_position *end);

#endif
