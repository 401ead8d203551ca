/*
 * tests/format/value/diff/diff_fixture.h: what the tests of diffs share: values written as text, a diff over
 * one of them, and what is expected of it.
 */
#ifndef U9T_DIFF_FIXTURE_H
#define U9T_DIFF_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value_diff.h>

/* The index `i` over two elements, at 0 and 1. */
#define INDEX "54 17 0a 6900000000000000 44 03 02 00 00 01 44 05 02 05 0000 0001 "

typedef struct block {
    uint8_t *bytes; /* exactly `size` of them */
    size_t size;
} block;

/* A copy of exactly `size` bytes, freed when the test ends. */
block block_of(const void *bytes, size_t size);
/* Frees them: each suite's checked fixture, at the end of a test. */
void forget_blocks(void);

#define fine(call)                                                                \
    do {                                                                          \
        u9_err fine_err = (call);                                                 \
        ck_assert_msg(fine_err == U9_OK, "%s: %s", #call, u9_err_name(fine_err)); \
    } while (0)

/*
 * A value: tuples `(1 -2 1.5 1.5f "text" symbol (3))`, all in the shortest form, and the bytes of
 * one value in hex, `<44 03 02 04 01 fe>`.
 */
block say(const char *text);
/* Of a well-formed one. */
u9_value value_of(block b);

/* A diff over a value, on the heap, with what is needed to see that the value stays as it is. */
typedef struct fixture {
    block base, copy;
    u9_diff diff;
    u9_fault fault;
} fixture;

void begin_over(fixture *f, block base);
void begin(fixture *f, const char *base);
u9_err patch(fixture *f, const char *text);
block reduce_view(const u9_view *view);
block reduce(const fixture *f);
void finish(fixture *f);

void expect_bytes(block got, block want);

/* Reading through the patches gives what reading the reduced value gives. Recursive: at most 64
 * deep. */
void expect_reads_as(const u9_view *view, const u9_value *reduced);

/* What the patches have made of the value, read and reduced. */
void expect(const fixture *f, const char *text);

/* One value, one patch. */
void expect_change(const char *base, const char *text, const char *want);

/* One that is refused: nothing changes, and the fault names the rule. [D-6] */
void expect_refused_bytes(const char *base, block p, u9_err want, const char *rule);
void expect_refused(const char *base, const char *text, u9_err want, const char *rule);

u9_err get(const fixture *f, const char *path, u9_view *out);
void expect_at(const fixture *f, const char *path, const char *want);

/* `count` tuples, one inside the other, and `inner` in the last. */
const char *nest(unsigned count, const char *inner);
const char *nested(unsigned count);

/* `(op (0 0 0 ...) args)`, with `steps` zeros. */
const char *deep_patch(const char *op, unsigned steps, const char *args);

/* What the test's reducers are called with and do. */
typedef struct call {
    u9_diff *diff;
    unsigned calls;
    bool had_old;
    u9_err err;
} call;

/* The reducer `wrap`: (old args...), or (none args...) if there is no old value. */
u9_err wrap(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out);

/* A diff with the reducers wrap; nothing, which yields that; two, open and junk, which build what
 * is not one value; meddle, which patches; and multiply, which builds the old value 20000 times. */
void begin_with_reducers(fixture *f, const char *base, call *c);

/* An allocator that fails from the n-th call on. */
typedef struct miser {
    unsigned calls, allowed;
} miser;

u9_err grow_miser(void *ctx, uint8_t **bytes, size_t *cap, size_t need);

#endif
