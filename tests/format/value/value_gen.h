/*
 * tests/format/value/value_gen.h: random well-formed utf9 values, for tests of properties.
 *
 * value_gen() is all that most tests need. Who wants several encodings of one value, or to know
 * what the value is, makes a tree and encodes it as often as he likes: widths of integers, lengths
 * and counts, float32 or float64, tuple or array with whatever typecode holds the elements: all are
 * drawn anew each time. The same state of the generator gives the same bytes on every machine.
 *
 * Not thread-safe: encoding works in one static buffer.
 */
#ifndef U9T_VALUE_GEN_H
#define U9T_VALUE_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state; /* the seed; any number */
} rng;

uint64_t rng_next(rng *r);
/* 0 to n - 1; n > 0. */
uint64_t rng_below(rng *r, uint64_t n);

/*
 * Fills `buf` with one value of at most `cap` bytes (at least 1), of all kinds, whose containers
 * are at most `depth` (0 to U9_DEPTH_MAX) deep; how many bytes. Most are far below 1000 bytes.
 */
size_t value_gen(rng *r, uint8_t *buf, size_t cap, unsigned depth);

/* What a value is, however it is encoded: the domains, but that tau has a kind of its own. */
typedef enum gen_kind {
    GEN_INT,    /* number: two's complement; negative */
    GEN_FLOAT,  /* number: bits of a float64. All NaNs are one value, and so are both zeros */
    GEN_SYMBOL, /* bytes, 8 of them */
    GEN_PIDFD,  /* number: pid << 32 | fd */
    GEN_GREEK,  /* number: 0 alpha, 1 omega, 2 iota, 3 kappa, 4 tau0 */
    GEN_TAU,    /* number */
    GEN_UTF8,   /* bytes, size; not always valid UTF-8 */
    GEN_BYTES,
    GEN_SEQ /* first, count: its elements are nodes[first .. first + count) */
} gen_kind;

/* What a node is to be, so that siblings can be packed into arrays. */
typedef struct gen_mold {
    bool set;           /* else: anything */
    uint8_t dims, n[3]; /* a sequence of n[0] sequences of n[1] ... of these: */
    uint8_t kind, size; /* gen_kind; UTF8, BYTES: size, 0xff: any */
    uint64_t row;       /* not 0: a sequence whose columns are drawn from this number */
} gen_mold;

enum { GEN_NODES = 512, GEN_TEXT = 40 };

typedef struct gen_node {
    gen_kind kind;
    bool negative;
    uint64_t number;
    uint8_t size, bytes[GEN_TEXT];
    unsigned first, count;
    unsigned depth; /* sequences around it */
    gen_mold mold;
} gen_node;

/* Breadth first: node 0 is the value, elements stand behind the sequence that holds them, and the
 * elements of neighbours are neighbours. */
typedef struct gen_tree {
    unsigned count;
    gen_node nodes[GEN_NODES];
} gen_tree;

/* A value of at most `nodes` (1 to GEN_NODES) atoms and sequences, those at most `depth` deep. */
void gen_tree_make(rng *r, gen_tree *t, unsigned nodes, unsigned depth);
/* Changes one atom of it a little; what it then is may be encoded as before. */
void gen_tree_vary(rng *r, gen_tree *t);
/* One of its encodings, drawn by `r`; how many bytes. 0: it does not fit. */
size_t gen_tree_encode(rng *r, const gen_tree *t, uint8_t *buf, size_t cap);

#endif
