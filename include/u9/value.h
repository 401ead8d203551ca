/*
 * u9/value.h: utf9 values (SPEC.md, V-*): bytes that describe themselves, used in place.
 *
 * Reading: a u9_value is a small view that borrows the caller's bytes; nothing is unpacked, copied
 * or allocated. Untrusted bytes are safe: every length is checked against the buffer before use.
 * Writing: a u9_builder fills the caller's buffer with values in their shortest form.
 * All functions are pure and thread-safe on distinct objects.
 */
#ifndef U9_VALUE_H
#define U9_VALUE_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_DEPTH_MAX 64 /* containers within containers that are read, typecodes included [V-8] */
#define U9_EMPTY_MAX 255 /* elements without bytes that an array may have [V-10] */

/* What a value is. Several bytecodes may stand for one type: `0x00`..`0x03` and fixint are UINT. */
typedef enum u9_type {
    U9_UINT = 1, /* uint8..uint64, fixint: u9_value.u */
    U9_INT,      /* int8..int64: u9_value.i */
    U9_FLOAT32,  /* u9_value.f */
    U9_FLOAT64,  /* u9_value.f */
    U9_SYMBOL,   /* 8 bytes, NUL padded: u9_value.data, size 8 */
    U9_PIDFD,    /* u9_value.pidfd */
    U9_ALPHA,
    U9_OMEGA,
    U9_IOTA,
    U9_KAPPA,
    U9_TAU0,
    U9_TAU,   /* u9_value.u */
    U9_UTF8,  /* u9_value.data, size: bytes, not checked to be UTF-8 (see u9_value_check) */
    U9_BYTES, /* u9_value.data, size */
    U9_TUPLE, /* u9_value.data, size: the elements back to back; count: how many are claimed */
    U9_ARRAY  /* u9_value.data, size: the packed elements; count; typecode */
} u9_type;

/*
 * Bytecodes, of which those of fixed size and those with a length are also typecodes of arrays [V-2]
 * to [V-5] [V-10]:
 *
 *   00-03 uint8 .. uint64   08 float32   0a symbol   10-14 alpha omega iota kappa tau0
 *   04-07 int8 .. int64     09 float64   0b pidfd    15-17 tau of 16, 32, 64 bits
 *   18-1b utf8, 1c-1f bytes, with a length of 8, 16, 32, 64 bits; 2N, 3N: of N bytes (no typecodes)
 *   40-43 tuple, 44-47 array, likewise; 48-4f tuple of 0 to 7 elements; 51-57 an index in front of one
 *   80-ff the integers 0 to 127 (no typecodes)
 *
 * So {0x06} is the typecode of int32, {0x18, 5} of utf8 of 5 bytes, {0x44, 8, 2, 0x06} of arrays of two
 * int32; u9_typecode_parse makes them from text.
 */

typedef struct u9_pidfd {
    uint32_t pid, fd;
} u9_pidfd;

/*
 * A view of one value. It borrows the caller's bytes, which must stay as they are while it is used.
 *
 * A value that stands in bytes of its own has `start` and `encoded`; a container with indexes in front
 * is one value with them: `start` and `code` are the first index's, `data` the container's. An
 * element of an array has no bytecode of its own: `start` is NULL, `encoded` 0, `code` its typecode's.
 */
typedef struct u9_value {
    u9_type type;
    uint8_t code;         /* the bytecode that stood there */
    const uint8_t *start; /* the value's first byte, or NULL */
    size_t encoded;       /* bytes from start to the value's end */
    const uint8_t *data;  /* SYMBOL, UTF8, BYTES, TUPLE, ARRAY: contents; else NULL */
    uint64_t size;        /* bytes at data */
    uint64_t count;       /* TUPLE, ARRAY: number of elements */
    union {
        uint64_t u;
        int64_t i;
        double f;
        u9_pidfd pidfd;
        const uint8_t *typecode; /* ARRAY: what each element is [V-10] */
    };
} u9_value;

/*
 * Looks at the value that begins at `bytes`, of which `size` bytes may be read. Elements of containers
 * are not looked at; typecodes are. U9_TORN: the value passes the end of the buffer; U9_CORRUPT: a
 * reserved bytecode, an array whose l, n and typecode do not fit, no container behind an index;
 * U9_LIMIT: more empty elements or nested typecodes than are accepted. `out` is untouched on failure.
 */
U9_API U9_MUST_CHECK u9_err u9_value_decode(const void *bytes, size_t size, u9_value *out);

/*
 * The same for a value of which only the first `size` bytes are at hand, of `left` that it may take: for what is
 * read in pieces (u9/large.h). What u9_value.data points at may lie behind what is at hand; where `encoded` has no room
 * for its bytes it is SIZE_MAX, and they are (data - start) + size. U9_AGAIN: these bytes do not show what it is:
 * U9_FRONT_MAX always do; U9_LIMIT also for one with an index in front.
 */
#define U9_FRONT_MAX 2048
U9_API U9_MUST_CHECK u9_err u9_value_front(const void *bytes, size_t size, uint64_t left, u9_value *out);

/*
 * What stands in front of the contents of a utf8 or bytes value of `size` bytes, in its shortest form [V-7]: for a
 * value that is written in pieces. Returns the bytes written, 0 for any other type.
 */
U9_API size_t u9_value_head(u9_type type, uint64_t size, uint8_t out[9]);

/* The tuple or array itself, without the indexes in front; any other value as it is. */
U9_API u9_value u9_value_bare(const u9_value *value);

/* Walks the elements of a tuple or array, or any values that stand back to back. */
typedef struct u9_walk {
    const uint8_t *next;     /* borrows */
    size_t left;             /* bytes */
    const uint8_t *typecode; /* the elements of an array: what they are; else NULL */
    uint64_t due;            /* of an array: elements still to come */
} u9_walk;

/* Begins a walk over the elements of a tuple or array; over nothing, for any other value. */
U9_API u9_walk u9_walk_elements(const u9_value *container);

/* Begins a walk over `size` bytes of values back to back. */
U9_API u9_walk u9_walk_bytes(const void *bytes, size_t size);

/* The next value: U9_OK, U9_END behind the last one, or what u9_value_decode returns. */
U9_API U9_MUST_CHECK u9_err u9_walk_next(u9_walk *walk, u9_value *out);

/*
 * The same without looking at lengths: only for bytes that u9_value_check has proved, or undefined
 * things happen. A little faster.
 */
U9_API U9_MUST_CHECK u9_err u9_walk_next_checked(u9_walk *walk, u9_value *out);

/*
 * Element `k`, from 0: by stride in an array, by the index `i` where one stands in front, else by a
 * walk. U9_END: there are not so many; U9_ARG: no container; else what u9_walk_next returns, or
 * U9_CORRUPT for an index that leads nowhere. [V-5]
 */
U9_API U9_MUST_CHECK u9_err u9_value_at(const u9_value *container, uint64_t k, u9_value *out);

/* The elements of an array for a loop over memory: element k is at data + k * stride, big-endian. */
typedef struct u9_span {
    const uint8_t *data; /* borrows; not aligned */
    uint64_t count;
    uint64_t stride; /* bytes from one element to the next; 0 for empty ones */
    u9_type type;    /* of each element */
    uint8_t code;    /* its typecode's bytecode, which tells the width: 0x06 is int32 */
} u9_span;

/* U9_ARG: not an array. */
U9_API U9_MUST_CHECK u9_err u9_array_span(const u9_value *array, u9_span *out);

/*
 * Proves that `bytes` are exactly one well-formed value, nested ones included: lengths, reserved
 * bytecodes, typecodes, element counts, the form of indexes (not whether they lead to the right place:
 * u9_index_check), depth (U9_LIMIT beyond U9_DEPTH_MAX). `fault` (may be NULL) names the
 * offset and the rule. `*bad_utf8` (may be NULL) is set to the offset of the first utf8 value that
 * is not valid UTF-8, or U9_NOWHERE: such bytes are kept as they are and are no error.
 * Iterative; O(size) time, constant memory.
 */
U9_API U9_MUST_CHECK u9_err u9_value_check(const void *bytes, size_t size, uint64_t *bad_utf8,
                                           u9_fault *fault);

/* True if `size` bytes are valid UTF-8 (RFC 3629: no surrogates, shortest form, up to U+10FFFF). */
U9_API int u9_utf8_valid(const void *bytes, size_t size);

/*
 * Any two values compare and every value hashes, by its domain projection [O-1] to [O-5]: the same
 * for all encodings of one value, for tuples and arrays alike, on all platforms. A value that is
 * malformed inside (see u9_value_check) compares and hashes as if its containers ended there.
 */
/* Below 0, 0 or above 0, as a comes before b, equals it, or comes behind it. */
U9_API int u9_value_compare(const u9_value *a, const u9_value *b);
/* XXH3-64 of the projection; equal values have equal hashes. */
U9_API uint64_t u9_value_hash(const u9_value *value);

/*
 * Makes room for `need` bytes in all: points *bytes at a buffer of at least that size which begins
 * with what the old one held, and sets *cap. Anything but U9_OK leaves both as they were, and the
 * u9_build_ call returns it; U9_LIMIT says that the buffer grows no more: bytes are then counted.
 */
typedef u9_err u9_grow_fn(void *ctx, uint8_t **bytes, size_t *cap, size_t need);

/* On the heap, at least doubling: starts from NULL and 0, the caller frees *bytes with free().
 * `ctx` is not used. U9_NOMEM, and then *bytes is as it was. */
U9_API u9_err u9_grow_heap(void *ctx, uint8_t **bytes, size_t *cap, size_t need);

/* One open container of a u9_builder: the builder's own business. */
typedef struct u9_builder_level {
    size_t at;               /* where its header begins */
    uint64_t base;           /* u9_builder.count when it had no elements */
    const uint8_t *typecode; /* of an array: borrowed until it is closed */
    uint64_t most;           /* of an array: elements that it may have */
    uint64_t stride;         /* of an array: bytes that each element takes */
    uint8_t type;            /* of an array: each element's u9_type */
    uint8_t kind;            /* 0: a tuple in its shortest form; others are in format/value/build.h */
    uint8_t width;           /* bytes of the header's length and count; 0: the fewest */
} u9_builder_level;

/*
 * Fills a caller's buffer, or a growing one, with values. Unless it says otherwise a u9_build_
 * function writes the shortest form [V-7].
 *
 * Where the buffer is full and cannot grow it returns U9_LIMIT; `size` goes on counting, so that
 * after a whole run it is exactly the room that would have been needed. Any other failure, and a
 * U9_LIMIT for another reason, leaves the builder as it was: it can go on.
 *
 * Within an open array elements are written without bytecodes and must be what its typecode says,
 * else U9_ARG and nothing is written: integers by their value, whichever call they come from; tau
 * by type and value; floats, symbols, pidfd by type; utf8 and bytes by type and length. Elements
 * that are tuples or arrays are opened and closed as anywhere else, and judged at the close. A width
 * that is asked for plays no part there. An array in an array takes no more elements than the
 * typecode says (U9_ARG), any other at most U9_EMPTY_MAX that have no bytes (U9_LIMIT).
 *
 * What is inline of all this is in <u9/value_quick.h>.
 */
typedef struct u9_builder {
    uint8_t *bytes;   /* borrows; may be NULL when cap is 0: counting only */
    size_t cap;       /* bytes at `bytes`; those behind `size` may be overwritten at any time */
    size_t size;      /* bytes written, or needed once larger than cap */
    size_t edge;      /* up to there values need no second look: cap, or 0 within an array */
    uint64_t count;   /* values built so far, but for those within closed ones */
    u9_grow_fn *grow; /* NULL: the buffer does not grow */
    void *grow_ctx;
    unsigned depth;                          /* open containers */
    u9_builder_level open[U9_DEPTH_MAX + 1]; /* the innermost is at [depth]; [0] is none */
} u9_builder;

/* A caller's buffer. */
U9_API void u9_builder_init(u9_builder *b, void *bytes, size_t cap);
/* A buffer that grows, from nothing; b->bytes is the caller's in the end. `grow` may be
 * u9_grow_heap. */
U9_API void u9_builder_init_growing(u9_builder *b, u9_grow_fn *grow, void *ctx);
/* Forgets what was written, and what is open, and keeps the buffer. */
U9_API void u9_builder_clear(u9_builder *b);
/* Bytes by which the buffer was too small; 0: all is written. */
U9_API size_t u9_builder_missing(const u9_builder *b);

U9_API U9_MUST_CHECK u9_err u9_build_uint(u9_builder *b, uint64_t v);
/* Values >= 0 are written as the shortest unsigned form: integers of all widths are one domain. */
U9_API U9_MUST_CHECK u9_err u9_build_int(u9_builder *b, int64_t v);
U9_API U9_MUST_CHECK u9_err u9_build_float32(u9_builder *b, float v);
U9_API U9_MUST_CHECK u9_err u9_build_float64(u9_builder *b, double v);
/* 1 to 8 ASCII characters; U9_ARG otherwise. */
U9_API U9_MUST_CHECK u9_err u9_build_symbol(u9_builder *b, const char *name);
U9_API U9_MUST_CHECK u9_err u9_build_pidfd(u9_builder *b, uint32_t pid, uint32_t fd);
/* One of U9_ALPHA, OMEGA, IOTA, KAPPA, TAU0; U9_ARG otherwise. */
U9_API U9_MUST_CHECK u9_err u9_build_greek(u9_builder *b, u9_type type);
U9_API U9_MUST_CHECK u9_err u9_build_tau(u9_builder *b, uint64_t x);
U9_API U9_MUST_CHECK u9_err u9_build_utf8(u9_builder *b, const void *text, size_t size);
U9_API U9_MUST_CHECK u9_err u9_build_bytes(u9_builder *b, const void *bytes, size_t size);
/* Copies one encoded value as it is (it counts as one element). The caller vouches for it, and for
 * its depth; it must not lie in the builder's own buffer. Within an open array it is what
 * u9_build_value makes of it, U9_ARG if it is not one value. */
U9_API U9_MUST_CHECK u9_err u9_build_raw(u9_builder *b, const void *value, size_t size);
/*
 * Copies the value of a view: as it stands where it has bytes of its own, indexes included; an
 * array's element, which has none, in its shortest form. The contents of containers are copied as
 * they are, so within an open array a container must be of the very typecode, and indexes in front
 * are left out. As with u9_build_raw the caller vouches for the contents.
 */
U9_API U9_MUST_CHECK u9_err u9_build_value(u9_builder *b, const u9_value *value);

/* Fixed forms, for fields that are filled in later: `width` is 1, 2, 4 or 8 bytes. U9_ARG if v
 * needs more. A negative number in u9_build_int_wide is an int, any other a uint, as everywhere. */
U9_API U9_MUST_CHECK u9_err u9_build_uint_wide(u9_builder *b, uint64_t v, unsigned width);
U9_API U9_MUST_CHECK u9_err u9_build_int_wide(u9_builder *b, int64_t v, unsigned width);
U9_API U9_MUST_CHECK u9_err u9_build_utf8_wide(u9_builder *b, const void *text, size_t size,
                                               unsigned width);
U9_API U9_MUST_CHECK u9_err u9_build_bytes_wide(u9_builder *b, const void *bytes, size_t size,
                                                unsigned width);

/* Opens a tuple; what is built until its close is its elements. U9_LIMIT beyond U9_DEPTH_MAX. */
U9_API U9_MUST_CHECK u9_err u9_build_tuple_open(u9_builder *b);
/* The same with a header of `width` bytes for each of length and count: the close moves nothing. */
U9_API U9_MUST_CHECK u9_err u9_build_tuple_open_wide(u9_builder *b, unsigned width);
/*
 * Closes the innermost container, a tuple, in its shortest form, or in the one asked for. It stays
 * open, and more may be written to it, where this fails for another reason than room: U9_LIMIT, the
 * header asked for does not hold it; U9_ARG, it is an element of an array and has not the length,
 * or the number of elements, of the typecode. U9_STATE: no tuple is innermost.
 */
U9_API U9_MUST_CHECK u9_err u9_build_tuple_close(u9_builder *b);

/*
 * Opens an array of elements of `typecode` [V-10], which takes all of `size` bytes (U9_ARG if not)
 * and is borrowed until the close. For numbers that is their bytecode alone: {0x06} for int32. It
 * is written as it is given: the caller's to give in its shortest form. Within an open array whose
 * elements are arrays, NULL and 0 opens the next of them; their very typecode does as well.
 * U9_LIMIT where it and the containers in its typecode pass U9_DEPTH_MAX.
 */
U9_API U9_MUST_CHECK u9_err u9_build_array_open(u9_builder *b, const void *typecode, size_t size);
/* The same with a header of `width` bytes for each of length and count. */
U9_API U9_MUST_CHECK u9_err u9_build_array_open_wide(u9_builder *b, const void *typecode,
                                                     size_t size, unsigned width);
/* Closes the innermost container, an array, as u9_build_tuple_close does. U9_ARG: it is an element
 * of another array and has fewer elements than the typecode says. */
U9_API U9_MUST_CHECK u9_err u9_build_array_close(u9_builder *b);
/* A whole array of `count` numbers at once, from native ones at `numbers`, aligned or not, of the
 * width and kind that `code` says: 0x00 to 0x09 (uint8_t .. uint64_t, int8_t .. int64_t, float,
 * double), else U9_ARG. Within an open array it is an element as any other array. */
U9_API U9_MUST_CHECK u9_err u9_build_numbers(u9_builder *b, uint8_t code, const void *numbers,
                                             size_t count);

/*
 * A tuple that can be extended to the left in place: it is buffer[start, end), and what stands
 * before `start` is room for more. The body of the tuple does not move.
 */
typedef struct u9_cons {
    uint8_t *buffer; /* borrows */
    size_t start, end;
} u9_cons;

/* What u9_tuple_cons may need in front beyond the fields, however many they are: a header grows
 * from 2 bytes to 17 at most. */
#define U9_CONS_ROOM 15

/*
 * Puts `field`, `size` bytes of one encoded value, in front of the tuple's first element, and the
 * tuple's header in front of that in its shortest form. The field may lie in the room before the
 * tuple. U9_LIMIT: no room before start; U9_ARG: the bytes are no tuple (a tuple with an index in
 * front included: it would no longer be right), or the field is not one value. Unchanged then.
 */
U9_API U9_MUST_CHECK u9_err u9_tuple_cons(u9_cons *tuple, const void *field, size_t size);

/*
 * If the tuple's first element equals `field` (u9_value_compare), fills `rest` with a view of the
 * others: a tuple of one element less, whose start is NULL, that u9_walk_elements, u9_value_at,
 * u9_build_value and this function take. U9_END if it does not equal or there is none; U9_ARG: no
 * tuple; else what u9_walk_next returns. `rest` may be `tuple`.
 */
U9_API U9_MUST_CHECK u9_err u9_tuple_match(const u9_value *tuple, const u9_value *field,
                                           u9_value *rest);
/* The same in place: takes the first element off by moving `start` and writing a new header before
 * the body. Fails as u9_tuple_match and, for an index in front or bytes behind, with U9_ARG;
 * unchanged then. */
U9_API U9_MUST_CHECK u9_err u9_tuple_strip(u9_cons *tuple, const u9_value *field);

#ifdef __cplusplus
}
#endif

#include <u9/value_quick.h>

#endif
