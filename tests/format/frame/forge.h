/*
 * tests/format/frame/forge.h: fixtures for the tests of format/: frames and bodies are made whole, broken
 * one byte at a time, and their hashes mended, so that only the clause that is meant can fail.
 *
 * All input is handed to the library in heap blocks of exactly its size: under the address
 * sanitizer a read of one byte too many is an error.
 */
#ifndef U9T_FORGE_H
#define U9T_FORGE_H

#include "format/frame/body.h"
#include "format/base/bytes.h"

enum {
    FORGE_ROOM = 4096,  /* bytes of a forged frame at most */
    FORGE_PLACE = 8192, /* where forged frames stand in their file */
    AT_SHA = 16,        /* offsets in a frame [F-1] */
    AT_SIGN = 32,
    AT_MAGIC = 48,
    AT_LENGTH = 56,
    AT_PAYLOAD = 64
};

/* A frame in a file of which nothing else exists. */
typedef struct forged {
    u9i_secret keys;
    u9i_trailer trailer; /* as it was sealed */
    uint64_t p;          /* where it stands */
    uint64_t bound;      /* where its file ends */
    size_t body_size;
    size_t size; /* of the whole frame */
    uint8_t bytes[FORGE_ROOM];
} forged;

/* The keys of the secret 00 01 .. 0f, the one of SPEC.md. */
u9i_secret fixed_keys(void);

/* The first keys, counting secrets up, whose boundary ends in these bytes (2 at most, for time). */
u9i_secret keys_ending_in(const uint8_t *tail, size_t size);

/* A valid frame at `p` with this body; its file ends where it does. */
void make_frame_at(forged *f, uint64_t p, const void *body, size_t size);

/* The same at FORGE_PLACE. */
void make_frame(forged *f, const void *body, size_t size);

/* Offset of byte `at` of the trailer within the frame. */
size_t in_trailer(const forged *f, size_t at);

void forge_byte(forged *f, size_t at, uint8_t value);
void flip_byte(forged *f, size_t at); /* its lowest bit */
void forge_length(forged *f, uint64_t length);

/* Makes frame_sha and signed_sha fit the payload that the header's length names. */
void mend_hash(forged *f);

/*
 * Verifies the frame whole and, from the start again, with one byte more each time, and asserts
 * that both agree and keep the promises of u9i_proof. U9_R_NONE if it is valid; then `out`, which
 * may be NULL, is filled.
 */
u9_reason verdict_on(const forged *f, u9i_frame *out);

/* A body that was opened, with memory of its own. */
typedef struct opened {
    u9i_body body;
    uint8_t *stored, *scratch;
    size_t need; /* what was asked for, 0 if nothing */
} opened;

/*
 * Opens `stored` as the body of a frame with `count` records, growing the scratch buffer from
 * nothing to what is asked for. close_body frees the memory, whatever was returned.
 */
u9_err open_body(opened *o, const void *stored, size_t size, uint32_t count);
void close_body(opened *o);

/* What open_body returns; nothing is kept. */
u9_err body_verdict(const void *stored, size_t size, uint32_t count);

/* Appends the record (muid, text) whose muid is 16 times `n`; at most 200 bytes of text. */
void put_record(u9i_out *out, uint8_t n, const char *text);

/* Walks `size` bytes of records: how many there are if U9_END is returned. */
u9_err count_records(const void *body, size_t size, uint32_t *count);

/* A heap block with a copy of the bytes and no byte more. */
uint8_t *exact_copy(const void *bytes, size_t size);

#endif
