/*
 * format/frame/control.h: the control records, byte for byte. [C-1] to [C-10]
 *
 * Encoders fill a u9i_out with the whole record; decoders take the decoded body of a frame. A decoder
 * returns U9_CORRUPT if a fixed bytecode is not where the table has it, and ignores elements that a
 * later version added at the end. [C-2]
 */
#ifndef U9I_CONTROL_H
#define U9I_CONTROL_H

#include "format/frame/body.h"
#include "format/base/bytes.h"

#include <string.h>

/* How the end that a u9open names was judged. [C-3] */
typedef enum u9i_tail {
    U9I_TAIL_NONE = 0,
    U9I_TAIL_CLOSED = 1,
    U9I_TAIL_ROLLED = 2,
    U9I_TAIL_TORN = 3,
    U9I_TAIL_UNKNOWN = 4,
    U9I_TAIL_CORRUPT = 5
} u9i_tail;

/* A place where a log goes on. */
typedef struct u9i_position {
    uint64_t offset;
    uint64_t ordinal;
    uint8_t chain[U9I_HASH_SIZE];
} u9i_position;

static inline bool u9i_position_same(const u9i_position *a, const u9i_position *b)
{
    return a->offset == b->offset && a->ordinal == b->ordinal && memcmp(a->chain, b->chain, sizeof a->chain) == 0;
}

/* A piece of text or bytes within a record; borrows. */
typedef struct u9i_span {
    const uint8_t *data;
    size_t size;
} u9i_span;

typedef struct u9i_open_record {
    uint8_t log[16];
    uint8_t session[16];
    uint64_t segment;
    uint64_t time_us;
    uint64_t medallion;
    uint64_t before_segment;
    uint8_t before_boundary[U9I_HASH_SIZE];
    uint8_t before_secret[U9I_SECRET_SIZE];
    u9i_position end;
    u9i_tail tail;
    u9i_span kind;
    uint64_t accepted; /* ends of segments up to this one that were unknown are not told any more; 0: the session says nothing */
} u9i_open_record;

typedef enum u9i_end_kind { U9I_END_CLOSING = 1, U9I_END_SEALING = 2 } u9i_end_kind;

typedef struct u9i_end_record {
    u9i_end_kind kind;
    uint64_t segment;
    uint64_t frames;
    uint64_t records;
    uint64_t bytes;
    uint64_t data_end;
    uint64_t root;
    uint8_t secret[U9I_SECRET_SIZE];
    u9i_span key_kind;
    u9i_span first_key; /* utf9 values */
    u9i_span last_key;
} u9i_end_record;

typedef struct u9i_trim_record {
    uint64_t segment;
    uint64_t ordinal;
} u9i_trim_record;

typedef struct u9i_part_record {
    uint32_t number;
    uint64_t total;
    uint64_t before;
    u9i_span bytes;
} u9i_part_record;

/* What an index has entries of. [C-9] */
typedef enum u9i_index_form {
    U9I_INDEX_FRAMES = 1, /* frames, in which keys come in order: the first such key of each */
    U9I_INDEX_RECORDS = 2 /* records, all those that the other one does not lead to */
} u9i_index_form;

typedef struct u9i_page_record {
    uint8_t keyspec[8];  /* "k" or "u9kh", NUL padded */
    unsigned key_size;   /* bytes of one key: 16 or 8 */
    uint32_t count;      /* entries */
    const uint8_t *keys; /* count * key_size bytes */
    const uint8_t *at;   /* count * 8 bytes: virtual offsets, big-endian */
    uint64_t seed;       /* only where has_seed */
    bool has_seed;
    bool has_root;       /* it is a root, which says of its index: */
    struct u9i_root_record {
        u9i_index_form form;
        uint64_t entries;  /* of all its pages */
        uint64_t records;  /* of the segment: user records up to the data end */
        u9i_position end;  /* the segment's data end, with its ordinal and chain */
        uint64_t other;    /* virtual offset of the root of the segment's other index, 0: there is none */
        const uint8_t *slices; /* of the filter: slice_count * 8 bytes: virtual offsets, big-endian */
        uint32_t slice_count;
        u9i_span last;     /* the greatest key of all that it leads to, as in ka */
        const uint8_t *lost; /* lost_count * 8 bytes: where records were lost: begin and end, in turn, big-endian */
        uint32_t lost_count; /* even; 0: none were, or it does not say */
        uint8_t content[U9I_HASH_SIZE]; /* of these bytes; where there are any */
    } root;
} u9i_page_record;

typedef struct u9i_mark_record {
    uint8_t log[16];
    uint64_t first_ordinal; /* of the first record that is kept */
    uint64_t segment;       /* the one that `end` is in */
    uint8_t boundary[U9I_HASH_SIZE];
    uint8_t secret[U9I_SECRET_SIZE];
    u9i_position end;       /* durable up to here */
    uint64_t time_us;
} u9i_mark_record;

/* Which control record has this 8-byte name; U9I_BODY_OTHER for unknown ones. */
u9i_body_kind u9i_control_kind(const uint8_t name[8]);

void u9i_open_record_encode(u9i_out *out, const u9i_open_record *r);
void u9i_end_record_encode(u9i_out *out, const u9i_end_record *r);
void u9i_trim_record_encode(u9i_out *out, const u9i_trim_record *r);
void u9i_part_record_encode(u9i_out *out, const u9i_part_record *r);
void u9i_page_record_encode(u9i_out *out, const u9i_page_record *r);
void u9i_bits_record_encode(u9i_out *out, u9i_span bits);
void u9i_mark_record_encode(u9i_out *out, const u9i_mark_record *r);

U9_MUST_CHECK u9_err u9i_open_record_decode(const uint8_t *body, size_t size, u9i_open_record *out);
U9_MUST_CHECK u9_err u9i_end_record_decode(const uint8_t *body, size_t size, u9i_end_record *out);
U9_MUST_CHECK u9_err u9i_trim_record_decode(const uint8_t *body, size_t size, u9i_trim_record *out);
U9_MUST_CHECK u9_err u9i_part_record_decode(const uint8_t *body, size_t size, u9i_part_record *out);

U9_MUST_CHECK u9_err u9i_page_record_decode(const uint8_t *body, size_t size, u9i_page_record *out);
U9_MUST_CHECK u9_err u9i_bits_record_decode(const uint8_t *body, size_t size, u9i_span *out);
U9_MUST_CHECK u9_err u9i_mark_record_decode(const uint8_t *body, size_t size, u9i_mark_record *out);

/*
 * What a part claims, by the first U9I_PART_FRONT bytes of its body as stored, masked or not; `out` has no bytes, only
 * their size. Nothing behind these is looked at. U9_CORRUPT: no part begins so.
 */
enum { U9I_PART_FRONT = U9I_MASK_HEAD + 46 };
U9_MUST_CHECK u9_err u9i_part_record_peek(const uint8_t front[U9I_PART_FRONT], u9i_part_record *out);

#endif
