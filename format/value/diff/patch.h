/*
 * format/value/diff/patch.h: a patch on its way.
 *
 * A patch is applied in two halves. The first reads: it proves the patch, follows its path and
 * finds out all that could be refused; then memory is reserved for all that will change. The second
 * half changes the overlay and cannot fail. So a refused patch leaves no trace [D-6].
 */
#ifndef U9I_PATCH_H
#define U9I_PATCH_H

#include "format/value/diff/overlay.h"

enum { U9I_SYMBOL_SIZE = 8 };

/* A patch, taken apart, and the place that it leads to. */
typedef struct u9i_patch {
    u9_diff *diff;
    const uint8_t *bytes;
    u9_fault *fault;
    u9_value path, args; /* args: a tuple without a bytecode */

    uint64_t position[U9_DEPTH_MAX]; /* the path's steps, keys found */
    unsigned steps;
    unsigned closed; /* containers on the path, but for what it leads to, that have no node yet */
    bool absent;     /* the last step leads behind the last element, */
    bool by_key;     /* where a key was looked for */
    u9_view parent;  /* what the last step is taken in */
    u9_view old;     /* what is there, unless absent */
} u9i_patch;

/* Fills the fault; `at`: where in the patch, or NULL. Returns err. */
u9_err u9i_patch_refuse(const u9i_patch *p, u9_err err, const uint8_t *at, const char *rule,
                        const char *text);
u9_err u9i_patch_refuse_base(const u9i_patch *p, u9_err err);
u9_err u9i_patch_refuse_args(const u9i_patch *p, u9_err err, const char *rule, const char *text);

/* Argument k; there is one. */
u9_value u9i_patch_arg(const u9i_patch *p, unsigned k);
/* The two arguments of a cut, 0 <= from <= to <= size. U9_ARG. [D-11] */
U9_MUST_CHECK u9_err u9i_patch_range(const u9i_patch *p, uint64_t size, uint64_t *from, uint64_t *to);

/* The first element of a tuple or array; false: there is none. */
bool u9i_key_of(const u9_value *container, u9_value *key);

/*
 * Takes one step. `exactly`: not by an index, as for patches. U9_OK, U9_ABSENT (*k is the
 * container's count where an element could be appended, else U9_NOWHERE), U9_ARG: no step; or the
 * base is malformed. [D-2]
 */
U9_MUST_CHECK u9_err u9i_take_step(const u9_view *in, const u9_value *step, bool exactly,
                                   uint64_t *k, u9_view *out);
/* Follows the path. [D-2] */
U9_MUST_CHECK u9_err u9i_patch_follow(u9i_patch *p);

/* True if the path leads to the position behind the last element, where some ops take what changes
 * nothing for the old value. [D-3] */
static inline bool u9i_patch_takes_identity(const u9i_patch *p)
{
    return p->absent && !p->by_key;
}

/* What an op wants of the place: that something is there; that it is not the whole; that a tuple or
 * array is there, which is to be changed itself; that `value` may stand within `outer`
 * containers. */
U9_MUST_CHECK u9_err u9i_patch_want_old(const u9i_patch *p);
U9_MUST_CHECK u9_err u9i_patch_want_step(const u9i_patch *p);
U9_MUST_CHECK u9_err u9i_patch_want_container(const u9i_patch *p);
U9_MUST_CHECK u9_err u9i_patch_want_depth(const u9i_patch *p, const u9_value *value,
                                          unsigned outer);

/* Reserves what it takes to open `closed` containers and to change an element or begin to insert
 * behind one, and `more` bytes. */
U9_MUST_CHECK u9_err u9i_patch_reserve(const u9i_patch *p, unsigned closed, size_t more);

/* The container that the first `steps` steps lead to, opened, and with it all that it stands in. */
u9_node *u9i_patch_open(const u9i_patch *p, unsigned steps);
/* `n`, which was opened so, was changed. */
void u9i_patch_close(const u9i_patch *p, u9_node *n);

/* Puts a value, which lies in the diff's memory, where the path leads. Its room was reserved. */
void u9i_patch_put(const u9i_patch *p, const uint8_t *value, size_t size);
/* The same for a value that lies elsewhere. */
U9_MUST_CHECK u9_err u9i_patch_put_copy(const u9i_patch *p, const uint8_t *value, size_t size);
/* Removes what the path leads to. */
U9_MUST_CHECK u9_err u9i_patch_drop(const u9i_patch *p);

/* An op that every program knows. [D-3] */
typedef struct u9i_patch_op {
    char name[U9I_SYMBOL_SIZE];
    uint64_t least, most; /* arguments */
    u9_err (*apply)(u9i_patch *p);
} u9i_patch_op;

/* Those for numbers, texts and bytes. [D-4] [D-11] [D-12] */
u9_err u9i_op_add(u9i_patch *p);
u9_err u9i_op_min(u9i_patch *p);
u9_err u9i_op_max(u9i_patch *p);
u9_err u9i_op_and(u9i_patch *p);
u9_err u9i_op_or(u9i_patch *p);
u9_err u9i_op_xor(u9i_patch *p);
u9_err u9i_op_join(u9i_patch *p);
u9_err u9i_op_cut_text(u9i_patch *p);

/* NULL: it is none of them. */
const u9i_patch_op *u9i_op_find(const uint8_t symbol[U9I_SYMBOL_SIZE]);

#endif
