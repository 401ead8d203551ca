/*
 * u9/value_diff.h: changes to a value that is never modified (SPEC-values.md, D-*).
 *
 * A u9_diff lies over a value, its base, and takes patches, which are utf9 values themselves, like
 * `('set (2 ("age") 1) 41)`. Reading through it gives what the base would be with the patches
 * applied; reducing it writes that as a new value. What no patch went through is neither copied
 * nor looked at. A u9_diff_stream does this again and again: patches, tau0, patches, tau0 ...
 *
 * A patch is `('op path args...)`; its path is a tuple of positions, from 0, and of keys, which are tuples
 * of one: `(2 ("age") 1)` is element 2, in it the first element that is a tuple and begins with "age", and
 * of that element 1. The empty path is the whole value. The ops [D-3]:
 *
 *   ('set path v)        v comes in the place of what is there
 *   ('cas path old v)    the same, if what is there equals old; else U9_AGAIN
 *   ('delete path)       it goes
 *   ('insert path v...)  the vs come in front of it; the last step may be the number of elements
 *   ('append path v...)  the vs come behind the last element of the container that is there
 *   ('prepend path v...) or in front of its first one
 *   ('concat path v)     texts or bytes are joined, the elements of a container come behind
 *   ('cut path from to)  elements, or bytes of a text or of bytes, go: from .. to - 1
 *   ('move path path)    the value at the first path comes in front of the one at the second
 *   ('merge path map)    each (key v...) of map comes in the place of the element with that key, or last
 *   ('add path n)        or '+: a number is added to it
 *   ('min path v)        'max: the lesser, or greater, of both stays
 *   ('and path v)        or '&; 'or or '|; 'xor or '^: the bits of integers, or of bytes, combine
 *
 * Where the last step of a path is the number of elements, 'add to 'xor and 'concat begin with their
 * argument.
 *
 * An array that is changed is written as one if all its elements fit its typecode when it is reduced [D-9].
 *
 * Memory: nothing is allocated but through the caller's `grow`, in a few chunks of doubling size;
 * no chunk moves or goes before u9_diff_reset or u9_diff_release. Base and patches may be bytes
 * that nobody has checked: patches are proved before they are used; a malformed base is U9_CORRUPT
 * or another error of u9_value_decode where it is touched, and is copied as it is where it is not.
 * One diff belongs to one thread at a time; any number may read it while nobody changes it.
 */
#ifndef U9_VALUE_DIFF_H
#define U9_VALUE_DIFF_H

#include <u9/value.h>

#ifdef __cplusplus
extern "C" {
#endif

struct u9_node;  /* a container that patches went through */
struct u9_piece; /* some neighbouring elements of one */

/*
 * A value as it reads through a diff. It borrows the base and the diff's memory: it can be used
 * until u9_diff_reset or u9_diff_release, but reads what later patches make of it only if it is
 * taken again.
 */
typedef struct u9_view {
    u9_type type;
    uint64_t count;                /* TUPLE, ARRAY: elements */
    u9_value value;                /* where `changed` is NULL: the value, for all of u9/value.h */
    const struct u9_node *changed; /* else a container for the functions below, and without bytes */
} u9_view;

/* Element `k`, from 0. As u9_value_at: U9_END: there are not so many; U9_ARG: no container.
 * [X-6] */
U9_API U9_MUST_CHECK u9_err u9_view_at(const u9_view *container, uint64_t k, u9_view *out);

/* The first element that is a tuple or array whose first element equals `key` (u9_value_compare):
 * by an index, where one stands in front and nothing was changed. U9_ABSENT: there is none; U9_ARG:
 * no container; else as u9_view_next or u9_value_by_key. [D-2] */
U9_API U9_MUST_CHECK u9_err u9_view_by_key(const u9_view *container, const u9_value *key,
                                           u9_view *out);

/* Walks the elements of a tuple or array. */
typedef struct u9_view_walk {
    const struct u9_node *changed;
    const struct u9_piece *next; /* borrows */
    u9_walk run;                 /* elements of the base, or of a patch, back to back */
    uint64_t left;               /* how many of them are still to come */
} u9_view_walk;

/* Begins a walk over the elements of a tuple or array; over nothing, for any other value. */
U9_API u9_view_walk u9_view_elements(const u9_view *container);
/* The next element: U9_OK, U9_END behind the last one, or what u9_value_decode returns. */
U9_API U9_MUST_CHECK u9_err u9_view_next(u9_view_walk *walk, u9_view *out);

/* True if they are equal [O-2]. It takes about 6 KiB of stack. */
U9_API int u9_view_equals(const u9_view *view, const u9_value *value);

/*
 * Writes the value that a view reads as, reduced: one more element of what is open in `b`. What the
 * u9_build_ functions return; after an error the builder is of no more use, but that where its
 * buffer was full (U9_LIMIT) `size` tells the room that is needed. [D-8] [D-9]
 */
U9_API U9_MUST_CHECK u9_err u9_view_build(const u9_view *view, u9_builder *b);

/*
 * What a registered op does. `old` is the value at the path as it now reads, or NULL if the last
 * step of the path leads to where a value could be appended; `args` is a tuple of the patch's
 * arguments, without a bytecode of its own; both are borrowed for the call. It builds one value,
 * which comes in the place of the old one, or none: then the old one is deleted. Anything but U9_OK
 * refuses the patch and is returned. It must not patch or reset the same diff. [D-7]
 */
typedef u9_err u9_reducer_fn(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out);

typedef struct u9_reducer {
    const char *op; /* 1 to 8 ASCII characters */
    u9_reducer_fn *apply;
    void *ctx;
} u9_reducer;

#define U9_DIFF_CHUNKS 48

typedef struct u9_diff {
    u9_view root;
    struct u9_node *top;        /* what `root` is a view of, once it is changed */
    uint64_t patches;           /* applied since init or reset */
    const u9_reducer *reducers; /* borrowed */
    size_t reducer_count;
    int busy; /* within a reducer */
    u9_grow_fn *grow;
    void *grow_ctx;
    struct {
        uint8_t *bytes;
        size_t cap;
    } chunk[U9_DIFF_CHUNKS];
    unsigned chunks, given; /* `given`: 1 if the first one is the caller's */
    unsigned now;           /* the one that is being filled, up to `used` */
    size_t used;
} u9_diff;

/*
 * Begins a diff without patches over `base`, which is borrowed until reset or release. `memory`, of
 * `size` bytes, is borrowed too and used first; it may be NULL and 0. More comes from `grow`,
 * always a new buffer from NULL and 0; `grow` may be NULL (U9_NOMEM when the memory is full) or
 * u9_grow_heap.
 */
U9_API void u9_diff_init(u9_diff *d, const u9_value *base, void *memory, size_t size,
                         u9_grow_fn *grow, void *grow_ctx);

/* Drops all patches and lies over `base` from now on; the memory is used again. */
U9_API void u9_diff_reset(u9_diff *d, const u9_value *base);

/* Hands each buffer that came from `grow` to `release`, which is free where `grow` is u9_grow_heap.
 * The diff must be begun again before it is used. */
U9_API void u9_diff_release(u9_diff *d, void (*release)(void *bytes));

/* Registers ops, instead of those registered before; `list` is borrowed. U9_ARG, and nothing is
 * changed: no name for an op, one of [D-3], or one twice. */
U9_API U9_MUST_CHECK u9_err u9_diff_register(u9_diff *d, const u9_reducer *list, size_t count);

/*
 * Applies one patch, `size` bytes that hold exactly one value [D-1]. They are borrowed for the call
 * only. A refused patch changes nothing, and `fault` (may be NULL) tells why: rule, sentence,
 * offset in the patch.
 *
 * U9_ABSENT: the path leads to nothing; U9_AGAIN: 'cas found another value; U9_ARG: not of the form of a patch, an op that nobody has
 * registered, a value of a type that the op is not for; U9_LIMIT: an integer becomes too large, a
 * value too deep; U9_NOMEM, or what `grow` returned; U9_STATE: within a reducer; what
 * u9_value_check returns for the patch, u9_value_decode for the base on the way, a reducer for its
 * op.
 *
 * Time: in each container on the path, the elements of a tuple that stand in front of the place are
 * passed one by one, but for those in front of an earlier patch's place, which take O(log patches);
 * arrays are entered by stride. Keys are compared one after the other.
 */
U9_API U9_MUST_CHECK u9_err u9_diff_apply(u9_diff *d, const void *patch, size_t size,
                                          u9_fault *fault);

/* The whole value as it now reads. */
U9_API u9_view u9_diff_root(const u9_diff *d);

/* The value that `path` [D-2] leads to. U9_ABSENT: to nothing; U9_ARG, U9_LIMIT: no path. */
U9_API U9_MUST_CHECK u9_err u9_diff_get(const u9_diff *d, const u9_value *path, u9_view *out);

/* Takes the value of a stream's tau0, borrowed until the stream gets the next one. */
typedef u9_err u9_emit_fn(void *ctx, const u9_value *value);

/*
 * A value that goes on: patches change it, and at each tau0 it is emitted and is the base for what
 * follows. It is written in turns into two growing buffers, one of which holds the base. [D-10]
 */
typedef struct u9_diff_stream {
    u9_diff diff; /* for u9_diff_register, and for reading between the patches */
    u9_emit_fn *emit;
    void *emit_ctx;
    struct {
        uint8_t *bytes;
        size_t cap;
    } value[2];
    unsigned turn; /* which one the next value goes into */
} u9_diff_stream;

/* Begins a stream with the value `base`, borrowed until a value that differs from it has been
 * emitted. */
U9_API void u9_diff_stream_init(u9_diff_stream *s, const u9_value *base, u9_grow_fn *grow,
                                void *grow_ctx, u9_emit_fn *emit, void *emit_ctx);

/* Hands all buffers to `release`. */
U9_API void u9_diff_stream_release(u9_diff_stream *s, void (*release)(void *bytes));

/*
 * Takes the next value of the stream, `size` bytes: a patch is applied; tau0 emits; tau(x) is an
 * estimate and does nothing; anything else is U9_ARG. After an error, that of `grow` or `emit`
 * included, all is as if the value had not come. `fault` (may be NULL) as u9_diff_apply. U9_STATE:
 * within a reducer or `emit`.
 */
U9_API U9_MUST_CHECK u9_err u9_diff_feed(u9_diff_stream *s, const void *value, size_t size,
                                         u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
