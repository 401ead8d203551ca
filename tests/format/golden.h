/*
 * tests/format/golden.h: a segment file with one frame of every kind, made the same each time:
 * tests/golden/every_frame.u9. SPEC.md's examples of bodies are this file's bodies.
 */
#ifndef U9T_GOLDEN_H
#define U9T_GOLDEN_H

#include "format/frame/control.h"
#include "format/frame/mark.h"
#include "format/base/limits.h"

/* The frames, in the file's order. */
typedef enum golden_frame {
    GOLDEN_OPEN,
    GOLDEN_PLAIN,
    GOLDEN_LZ4,
    GOLDEN_MASK,
    GOLDEN_EMPTY,
    GOLDEN_TRIM,
    GOLDEN_PART_0,
    GOLDEN_PART_1,
    GOLDEN_LATER,     /* a control record of a later version */
    GOLDEN_PAGE,      /* keyspec k: the first key of each frame with records */
    GOLDEN_ROOT,      /* keyspec k */
    GOLDEN_HASH_ROOT, /* keyspec u9kh: only its form is an example, its hash is made up */
    GOLDEN_END,       /* in a block of its own */
    GOLDEN_FRAMES
} golden_frame;

enum { GOLDEN_ROOM = 3 * U9I_BLOCK };

typedef struct golden {
    u9i_secret keys;
    size_t at[GOLDEN_FRAMES];        /* where each frame begins */
    size_t body_size[GOLDEN_FRAMES]; /* of the body as stored */
    size_t size;                     /* of the file */
    uint8_t bytes[GOLDEN_ROOM];
    /* while it is made: */
    uint8_t sha[U9I_HASH_SIZE]; /* of the frame before */
    uint64_t ordinal, durable, records, record_bytes;
    uint8_t place[4][8];                 /* virtual offsets for the page */
    uint8_t key[4][16];                  /* and their keys */
    uint8_t first_key[18], last_key[18]; /* as values */
} golden;

void golden_make(golden *g);

/* A frame's body as it is stored. */
const uint8_t *golden_body(const golden *g, golden_frame which);

/* The records of the frames GOLDEN_LZ4 and GOLDEN_MASK as they are decoded, and of both parts. */
size_t golden_lz4_records(uint8_t *out, size_t cap);
size_t golden_mask_record(const golden *g, uint8_t *out, size_t cap);
size_t golden_large_record(uint8_t *out, size_t cap);

/* An empty frame at offset 32, by itself: the example of F-1. */
enum { GOLDEN_EMPTY_SIZE = U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE };
void golden_empty_frame(uint8_t out[GOLDEN_EMPTY_SIZE]);

/* A slot of a mark, which tells of the golden file's first frames: the example of M-2. */
enum { GOLDEN_SLOT_SIZE = 320 }; /* of its header and its frame; zeros follow */
void golden_mark_slot(uint8_t out[U9I_BLOCK], u9i_mark_record *mark);

#endif
