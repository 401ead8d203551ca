/*
 * format/value/order.c: which value comes before which, and what each hashes to. [O-1] to [O-5]
 *
 * A value is projected into a domain, where its encoding is forgotten: integers of all widths are
 * one domain, tuples and arrays another. Comparing and hashing are two readings of that projection,
 * so equal values have equal hashes.
 *
 * Views need not be proved: a container ends where its bytes are no value, and one inside
 * U9_DEPTH_MAX others is empty, for both readings alike [O-5]. No recursion, no heap, no byte
 * outside the containers is read. Pure functions, any thread.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/base/bytes.h"
#include "format/value/decode.h"
#include "format/value/typecode.h"

/* [O-1] The numbers are the order between domains and the seeds of their hashes. */
enum { INTEGER = 1, FLOAT, SYMBOL, PIDFD, GREEK, UTF8, BYTES, SEQUENCE };

static const uint8_t domains[] = {
    [U9_UINT] = INTEGER,  [U9_INT] = INTEGER, [U9_FLOAT32] = FLOAT,  [U9_FLOAT64] = FLOAT,
    [U9_SYMBOL] = SYMBOL, [U9_PIDFD] = PIDFD, [U9_ALPHA] = GREEK,    [U9_OMEGA] = GREEK,
    [U9_IOTA] = GREEK,    [U9_KAPPA] = GREEK, [U9_TAU0] = GREEK,     [U9_TAU] = GREEK,
    [U9_UTF8] = UTF8,     [U9_BYTES] = BYTES, [U9_TUPLE] = SEQUENCE, [U9_ARRAY] = SEQUENCE,
};

unsigned u9i_domain_of(u9_type type)
{
    return domains[type];
}

/* Where a value of the domains INTEGER to GREEK stands in its domain: by rank, then by number. */
typedef struct domain_place {
    uint8_t rank; /* INTEGER: 0 negative, 1 not; GREEK: alpha 0 to tau(x) 5; else 0 */
    uint64_t number;
} domain_place;

/* [O-2] The bits of a float64, moved so that unsigned order is numeric order; NaNs at the end. No
 * floating point, so that no mode of the processor has a say. */
static uint64_t float_place(double f)
{
    const uint64_t sign = UINT64_C(1) << 63, infinite = UINT64_C(0x7ff) << 52;
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    if ((bits & ~sign) > infinite) return UINT64_MAX;
    if (bits == sign) bits = 0;
    return bits & sign ? ~bits : bits | sign;
}

static domain_place place_of(const u9_value *v)
{
    switch (v->type) {
    case U9_UINT: return (domain_place){1, v->u};
    case U9_INT: return (domain_place){v->i >= 0, (uint64_t)v->i};
    case U9_FLOAT32:
    case U9_FLOAT64: return (domain_place){0, float_place(v->f)};
    case U9_SYMBOL: return (domain_place){0, u9i_get_be(v->data, 8)};
    case U9_PIDFD: return (domain_place){0, (uint64_t)v->pidfd.pid << 32 | v->pidfd.fd};
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: return (domain_place){(uint8_t)(v->type - U9_ALPHA), 0};
    case U9_TAU: return (domain_place){U9_TAU - U9_ALPHA, v->u};
    case U9_UTF8:
    case U9_BYTES:
    case U9_TUPLE:
    case U9_ARRAY: break;
    }
    return (domain_place){0, 0};
}

/* An open container. */
typedef struct open_sequence {
    u9_walk walk;
    u9i_typecode t; /* of an array: read once, not for each element */
} open_sequence;

static void enter_sequence(open_sequence *l, const u9_value *container)
{
    l->walk = u9_walk_elements(container);
    if (l->walk.typecode && u9i_typecode_read(l->walk.typecode, SIZE_MAX, &l->t) != U9_OK)
        l->walk = u9_walk_bytes(NULL, 0);
}

/* [O-5] False at the end and where no value is. */
static bool next_of_sequence(open_sequence *l, u9_value *out)
{
    if (!l->walk.typecode) return u9_walk_next(&l->walk, out) == U9_OK;
    if (l->walk.due == 0) return false;
    u9i_element(&l->t, l->walk.next, out);
    l->walk.next += l->t.stride;
    l->walk.due--;
    return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_bytes(const uint8_t *a, uint64_t a_size, const uint8_t *b, uint64_t b_size)
{
    uint64_t both = a_size < b_size ? a_size : b_size;
    int c = both > 0 ? memcmp(a, b, (size_t)both) : 0;
    return c != 0 ? c : compare_numbers(a_size, b_size);
}

/* [O-2] Two values of one domain, no sequences. */
static int compare_atoms(const u9_value *a, const u9_value *b, uint8_t domain)
{
    if (domain == UTF8 || domain == BYTES) return compare_bytes(a->data, a->size, b->data, b->size);
    domain_place p = place_of(a), q = place_of(b);
    return p.rank != q.rank ? (int)p.rank - (int)q.rank : compare_numbers(p.number, q.number);
}

/* Arrays of one typecode whose elements are ordered as their bytes are: no need to look at each.
 * `depth` others are around them. */
static bool compare_packed(const open_sequence *a, const open_sequence *b, unsigned depth, int *out)
{
    if (!a->walk.typecode || !b->walk.typecode || a->t.length != b->t.length ||
        memcmp(a->walk.typecode, b->walk.typecode, a->t.length) != 0)
        return false;
    uint8_t leaf = a->t.leaf;
    if (leaf != U9_UINT && (leaf < U9_SYMBOL || leaf > U9_BYTES)) return false;
    if (depth + 1 + a->t.depth > U9_DEPTH_MAX) return false; /* [O-5] */
    *out = compare_bytes(a->walk.next, a->walk.left, b->walk.next, b->walk.left);
    if (*out == 0) *out = compare_numbers(a->walk.due, b->walk.due);
    return true;
}

/* [O-3] Element by element; a stack of the sequences that both are in. */
static int compare_sequences(const u9_value *a, const u9_value *b)
{
    open_sequence left[U9_DEPTH_MAX], right[U9_DEPTH_MAX];
    unsigned depth = 0;
    u9_value x = *a, y = *b;
    int c;
    for (;;) {
        uint8_t domain = domains[x.type];
        if (domain != domains[y.type]) return (int)domain - (int)domains[y.type];
        if (domain != SEQUENCE) {
            c = compare_atoms(&x, &y, domain);
            if (c != 0) return c;
        } else if (depth < U9_DEPTH_MAX) { /* [O-5] */
            enter_sequence(&left[depth], &x);
            enter_sequence(&right[depth], &y);
            if (!compare_packed(&left[depth], &right[depth], depth, &c)) depth++;
            else if (c != 0) return c;
        }
        bool more = false;
        while (depth > 0 && !more) {
            more = next_of_sequence(&left[depth - 1], &x);
            if (more != next_of_sequence(&right[depth - 1], &y)) return more ? 1 : -1;
            if (!more) depth--;
        }
        if (!more) return 0;
    }
}

int u9_value_compare(const u9_value *a, const u9_value *b)
{
    uint8_t domain = domains[a->type];
    if (domain != domains[b->type]) return (int)domain - (int)domains[b->type];
    return domain == SEQUENCE ? compare_sequences(a, b) : compare_atoms(a, b, domain);
}

enum { ATOM_MAX = 9 }; /* bytes of a projected INTEGER to GREEK */

/* Spelled out, it becomes one instruction. */
static inline void set_be64(uint8_t *p, uint64_t v)
{
    const uint8_t bytes[8] = {(uint8_t)(v >> 56), (uint8_t)(v >> 48), (uint8_t)(v >> 40),
                              (uint8_t)(v >> 32), (uint8_t)(v >> 24), (uint8_t)(v >> 16),
                              (uint8_t)(v >> 8),  (uint8_t)v};
    memcpy(p, bytes, sizeof bytes);
}

/* [O-4] Fills `out` with the projection of a value of domain INTEGER to GREEK; how many bytes. */
static size_t project(const u9_value *v, uint8_t domain, uint8_t out[ATOM_MAX])
{
    domain_place p = place_of(v);
    size_t rank = domain == INTEGER || domain == GREEK;
    out[0] = p.rank;
    if (domain == GREEK && v->type != U9_TAU) return 1;
    set_be64(out + rank, p.number);
    return rank + 8;
}

static uint64_t hash_atom(const u9_value *v, uint8_t domain)
{
    uint8_t bytes[ATOM_MAX];
    if (domain == UTF8 || domain == BYTES)
        return XXH3_64bits_withSeed(v->data, (size_t)v->size, domain);
    return XXH3_64bits_withSeed(bytes, project(v, domain, bytes), domain);
}

/* [O-4] An element: its domain, a length where it needs one, its projection; of a sequence only the
 * first, the rest follows as its elements do. */
static void hash_element(XXH3_state_t *state, const u9_value *v)
{
    uint8_t head[1 + ATOM_MAX], domain = domains[v->type];
    head[0] = domain;
    if (domain == SEQUENCE) {
        (void)XXH3_64bits_update(state, head, 1);
    } else if (domain != UTF8 && domain != BYTES) {
        (void)XXH3_64bits_update(state, head, 1 + project(v, domain, head + 1));
    } else {
        set_be64(head + 1, v->size);
        (void)XXH3_64bits_update(state, head, 9);
        (void)XXH3_64bits_update(state, v->data, (size_t)v->size);
    }
}

static uint64_t hash_sequence(const u9_value *sequence)
{
    static const uint8_t end = 0;
    open_sequence open[U9_DEPTH_MAX];
    unsigned depth = 1;
    XXH3_state_t state;
    XXH3_INITSTATE(&state)
    (void)XXH3_64bits_reset_withSeed(&state, SEQUENCE);
    enter_sequence(&open[0], sequence);
    for (;;) {
        u9_value v;
        bool more = next_of_sequence(&open[depth - 1], &v);
        if (more) hash_element(&state, &v);
        if (more && domains[v.type] != SEQUENCE) continue;
        if (more && depth < U9_DEPTH_MAX) { /* [O-5] else it has no elements */
            enter_sequence(&open[depth++], &v);
            continue;
        }
        if (!more && --depth == 0) return XXH3_64bits_digest(&state);
        (void)XXH3_64bits_update(&state, &end, 1);
    }
}

uint64_t u9_value_hash(const u9_value *value)
{
    uint8_t domain = domains[value->type];
    return domain == SEQUENCE ? hash_sequence(value) : hash_atom(value, domain);
}
