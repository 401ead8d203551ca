/*
 * u9/value_index.h: container indexes (SPEC-values.md, X-*): elements of a tuple or array by what
 * they are, by their key or by position, without walking past all that stand in front.
 *
 * An index is bytes in front of its container, made once, used in place, and never believed: an
 * element that it leads to is compared with what was asked for. A wrong index costs a miss or
 * U9_CORRUPT, never a read outside the container nor an element that is not what was asked for;
 * u9_index_check proves one. All functions are pure and thread-safe on distinct objects.
 */
#ifndef U9_VALUE_INDEX_H
#define U9_VALUE_INDEX_H

#include <u9/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The aspect of an element that an index finds it by. */
typedef enum u9_keyspec {
    U9_KEYSPEC_OTHER = 0, /* a symbol that lookups pass over */
    U9_KEYSPEC_I,         /* `i`: its position, from 0 */
    U9_KEYSPEC_H,         /* `h`: its hash, or the top bits of that */
    U9_KEYSPEC_K,         /* `k`: its key, the first element of what is a tuple or array */
    U9_KEYSPEC_KH         /* `kh`: the hash of its key, or the top bits of that */
} u9_keyspec;

/* A view of one index. It borrows the caller's bytes. */
typedef struct u9_index {
    u9_keyspec keyspec;
    int complete;         /* 1: an entry for each element (cidx), 0: for some (iidx) */
    const uint8_t *start; /* its first byte */
    size_t encoded;       /* bytes, up to the next index or the container */
    u9_value ks;          /* the symbol itself */
    u9_value ka;          /* array: keys, ascending */
    u9_value ia;          /* array: as many offsets from the container's first element */
    u9_span keys;         /* the memory of ka, of any type */
    u9_span offsets;      /* the memory of ia, int16, int32 or int64 */
} u9_index;

/* Begins a walk over the indexes in front of a tuple or array; over nothing if there are none. */
U9_API u9_walk u9_walk_indexes(const u9_value *container);

/* The next index. U9_END behind the last one; U9_CORRUPT: it is not (ks ka ia); U9_LIMIT as u9_value_decode.
 * [X-1] */
U9_API U9_MUST_CHECK u9_err u9_index_next(u9_walk *walk, u9_index *out);

/* What elements are looked for by. By position: u9_value_at. */
typedef enum u9_by {
    U9_BY_ELEMENT = 1, /* elements that equal a value: sets */
    U9_BY_KEY          /* elements whose key equals a value: maps and multimaps */
} u9_by;

/* A lookup under way. It borrows the bytes of the container and of the value sought. */
typedef struct u9_find {
    u9_value container; /* without its indexes */
    u9_value sought;
    u9_index index;  /* the one in use; the rest is the lookup's own business */
    u9_value aspect; /* what stands in its ka for the value sought */
    uint64_t entry;  /* the next to look at */
    u9_walk walk;
    const uint8_t *last; /* of those found */
    int how;
    u9_err over;
} u9_find;

/*
 * Begins to look in a tuple or array for the elements whose aspect `by` equals `sought`
 * (u9_value_compare). Of the indexes in front it uses the best one, a complete one before another:
 * by element `h`, by key `k`, else `kh`. Without any it walks all elements. U9_ARG: no container,
 * no such aspect; U9_CORRUPT: a malformed or wrong index. `find` is untouched on failure.
 */
U9_API U9_MUST_CHECK u9_err u9_find_begin(u9_find *find, const u9_value *container, u9_by by,
                                          const u9_value *sought);

/*
 * The next matching element, in the order of the container. U9_END: there is none, or no more;
 * U9_CORRUPT: the index leads to no element or to one that is not what its entry says, or is out of
 * order as far as that was noticed; or an element is malformed; U9_LIMIT as u9_value_decode.
 * Whatever was not U9_OK is returned again by each later call. At most O(elements) time, with a
 * complete index O(log elements + those found and those that share their truncated hash).
 */
U9_API U9_MUST_CHECK u9_err u9_find_next(u9_find *find, u9_value *element);

/* The first element of `container` with this key: u9_find_begin and u9_find_next in one. U9_ABSENT:
 * there is none. */
U9_API U9_MUST_CHECK u9_err u9_value_by_key(const u9_value *container, const u9_value *key,
                                            u9_value *element);

/*
 * Proves that each index in front of a container is right: its form, the types and the order of its
 * keys, that each entry leads to an element which has its key, that a complete one has all
 * elements, and that the container's elements are in the order that an incomplete one needs.
 * Indexes whose keyspec is U9_KEYSPEC_OTHER are proved in form only, those in front of nested
 * containers not at all. U9_CORRUPT and `fault` (may be NULL): offset, from container->start, and
 * rule. U9_ARG: no container. U9_LIMIT as u9_value_decode. O(n log n) time for n elements, constant
 * memory. to
 */
U9_API U9_MUST_CHECK u9_err u9_index_check(const u9_value *container, u9_fault *fault);

/* An index to be made. */
typedef struct u9_index_spec {
    u9_keyspec keyspec;
    uint64_t every;     /* 0: complete (cidx); n: each n-th element, from the first (iidx) */
    unsigned hash_bits; /* of `h` and `kh`: 8, 16, 32, 64; 0: by the number of elements */
} u9_index_spec;

/* Room that sorting an entry takes. */
typedef struct u9_index_entry {
    uint64_t key, offset;
} u9_index_entry;

/* How many entries of scratch room u9_build_indexed needs for these indexes. */
U9_API uint64_t u9_index_scratch(const u9_value *container, const u9_index_spec *specs,
                                 size_t count);

/*
 * Builds one value, one element of what is open: `count` indexes, in this order, and the container
 * behind them, a copy; indexes that stood in front of it are left behind. Keys and offsets take the
 * narrowest form that holds them all. `scratch` has room for `entries` entries,
 * u9_index_scratch or more, and may be NULL where that is 0; its contents are lost.
 *
 * U9_ARG, and nothing is built: no container, an unknown keyspec or width; a `k` index over keys
 * that no one typecode holds (use `kh`: numbers below 0 beside such above 2^63 - 1, texts of
 * different lengths, more than U9_EMPTY_MAX empty ones, mixed types, containers); keys asked of
 * elements that have none; elements without bytes; an incomplete index over elements that are not
 * in its order; too little scratch room; an open array. U9_CORRUPT: the container is malformed.
 * U9_LIMIT: the buffer is full. O(n log n) time for n elements.
 */
U9_API U9_MUST_CHECK u9_err u9_build_indexed(u9_builder *b, const u9_value *container,
                                             const u9_index_spec *specs, size_t count,
                                             u9_index_entry *scratch, uint64_t entries);

#ifdef __cplusplus
}
#endif
#endif
