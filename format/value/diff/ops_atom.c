/*
 * format/value/diff/ops_atom.c: what the ops do to numbers, texts and bytes. [D-4] [D-11] [D-12]
 */
#include "format/value/diff/patch.h"

#include <assert.h>

#include "format/base/bytes.h"
#include "format/value/decode.h"

/*
 * True if the op is done, with *err: the path leads behind the last element, and the argument comes there, as if
 * it was done to what changes nothing; or to nothing. [D-3]
 */
static bool starts_anew(const u9i_patch *p, const u9_value *v, bool fits, const char *rule, u9_err *err)
{
    *err = u9i_patch_takes_identity(p) ? U9_OK : u9i_patch_want_old(p);
    if (!u9i_patch_takes_identity(p)) return *err != U9_OK;
    *err = fits ? u9i_patch_put_copy(p, v->start, v->encoded)
                : u9i_patch_refuse_args(p, U9_ARG, rule, "an argument of a type that the op is not for");
    return true;
}

/* An integer: as large as both kinds of them together. */
typedef struct integer {
    bool below_0;
    uint64_t size; /* without the sign */
} integer;

static integer integer_of(const u9_value *v)
{
    bool below_0 = v->type == U9_INT && v->i < 0;
    return (integer){.below_0 = below_0, .size = below_0 ? -v->u : v->u};
}

/* [D-4] False if the sum is outside -2^63 .. 2^64 - 1. */
static bool add_integers(integer a, integer b, integer *sum)
{
    if (a.below_0 == b.below_0) {
        if (a.size > UINT64_MAX - b.size) return false;
        *sum = (integer){.below_0 = a.below_0, .size = a.size + b.size};
    } else if (a.size > b.size) {
        *sum = (integer){.below_0 = a.below_0, .size = a.size - b.size};
    } else {
        *sum = (integer){.below_0 = b.below_0, .size = b.size - a.size};
    }
    return !sum->below_0 || sum->size <= UINT64_C(1) << 63;
}

static u9_err build_integer(u9_builder *b, integer v)
{
    int64_t below_0; /* memcpy: converting a large unsigned value is not portable */
    uint64_t bits = -v.size;
    memcpy(&below_0, &bits, sizeof below_0);
    return v.below_0 ? u9_build_int(b, below_0) : u9_build_uint(b, v.size);
}

/* [D-4] All NaNs are one. */
static u9_err build_float(u9_builder *b, double sum, bool narrow)
{
    float small = (float)sum;
    if (sum != sum) {
        uint32_t nan32 = UINT32_C(0x7fc00000);
        uint64_t nan64 = UINT64_C(0x7ff8000000000000);
        memcpy(&small, &nan32, sizeof small);
        memcpy(&sum, &nan64, sizeof sum);
    }
    return narrow ? u9_build_float32(b, small) : u9_build_float64(b, sum);
}

static bool is_integer(u9_type type)
{
    return type == U9_UINT || type == U9_INT;
}

static bool is_float(u9_type type)
{
    return type == U9_FLOAT32 || type == U9_FLOAT64;
}

u9_err u9i_op_add(u9i_patch *p)
{
    u9_value by = u9i_patch_arg(p, 0), old = p->old.value;
    u9_builder b;
    uint8_t room[9];
    integer sum;
    u9_err err;
    if (starts_anew(p, &by, is_integer(by.type) || is_float(by.type), "D-4", &err)) return err;
    u9_builder_init(&b, room, sizeof room);
    if (is_integer(p->old.type) && is_integer(by.type)) {
        if (!add_integers(integer_of(&old), integer_of(&by), &sum))
            return u9i_patch_refuse_args(p, U9_LIMIT, "D-4", "the sum is outside -2^63 .. 2^64 - 1");
        err = build_integer(&b, sum);
    } else if (is_float(p->old.type) && is_float(by.type)) {
        err = build_float(&b, old.f + by.f, old.type == U9_FLOAT32);
    } else {
        return u9i_patch_refuse_args(p, U9_ARG, "D-4", "only two integers or two floats add up");
    }
    assert(err == U9_OK);
    return u9i_patch_put_copy(p, room, b.size);
}

/* [D-12] The lesser of two values, or the greater one. */
static u9_err keep_one(u9i_patch *p, int sign)
{
    u9_value v = u9i_patch_arg(p, 0);
    bool fits = !u9i_is_container(v.type);
    u9_err err;
    if (starts_anew(p, &v, fits, "D-12", &err)) return err;
    if (!fits || u9i_is_container(p->old.type) || u9i_domain_of(v.type) != u9i_domain_of(p->old.type))
        return u9i_patch_refuse_args(p, U9_ARG, "D-12",
                                     "only values of one domain, and no containers, have a least one");
    int order = u9_value_compare(&v, &p->old.value);
    return (sign < 0 ? order < 0 : order > 0) ? u9i_patch_put_copy(p, v.start, v.encoded)
                                                : U9_OK;
}

u9_err u9i_op_min(u9i_patch *p)
{
    return keep_one(p, -1);
}

u9_err u9i_op_max(u9i_patch *p)
{
    return keep_one(p, 1);
}

/* Room for a text or bytes of n bytes that an op makes; NULL: refused. */
static uint8_t *take_blob(const u9i_patch *p, size_t n, u9_err *err)
{
    *err = u9i_patch_reserve(p, p->closed, u9i_grains(n) + u9i_grains(n + 9));
    return *err ? NULL : u9i_memory_take(p->diff, n);
}

/* Puts it, in its shortest form. */
static void put_taken(const u9i_patch *p, u9_type type, const uint8_t *blob, size_t n)
{
    u9_builder b;
    u9_builder_init(&b, u9i_memory_take(p->diff, n + 9), n + 9);
    u9_err err = type == U9_UTF8 ? u9_build_utf8(&b, blob, n) : u9_build_bytes(&b, blob, n);
    assert(err == U9_OK);
    u9i_patch_put(p, b.bytes, b.size);
}

typedef enum bit_op { AND, OR, XOR } bit_op;

static uint64_t combine(bit_op op, uint64_t a, uint64_t b)
{
    return op == AND ? a & b : op == OR ? a | b : a ^ b;
}

/* [D-12] As if they had as many bits as it takes, the sign's in front. */
static u9_err combine_integers(u9i_patch *p, bit_op op, const u9_value *a, const u9_value *b)
{
    uint8_t room[9];
    u9_builder out;
    uint64_t bits = combine(op, a->u, b->u);
    bool below_0 = combine(op, integer_of(a).below_0, integer_of(b).below_0) != 0;
    if (below_0 && bits >> 63 == 0)
        return u9i_patch_refuse_args(p, U9_LIMIT, "D-12", "what comes out is outside -2^63 .. 2^64 - 1");
    u9_builder_init(&out, room, sizeof room);
    u9_err err = build_integer(&out, (integer){.below_0 = below_0, .size = below_0 ? -bits : bits});
    assert(err == U9_OK);
    return u9i_patch_put_copy(p, room, out.size);
}

static u9_err combine_bytes(u9i_patch *p, bit_op op, const u9_value *a, const u9_value *b)
{
    u9_err err;
    size_t n = (size_t)a->size;
    uint8_t *out = take_blob(p, n, &err);
    if (err) return err;
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)combine(op, a->data[i], b->data[i]);
    put_taken(p, U9_BYTES, out, n);
    return U9_OK;
}

static u9_err combine_bits(u9i_patch *p, bit_op op)
{
    u9_value v = u9i_patch_arg(p, 0);
    u9_err err;
    if (starts_anew(p, &v, is_integer(v.type) || v.type == U9_BYTES, "D-12", &err)) return err;
    const u9_value old = p->old.value;
    if (is_integer(p->old.type) && is_integer(v.type)) return combine_integers(p, op, &old, &v);
    if (p->old.type == U9_BYTES && v.type == U9_BYTES && old.size == v.size)
        return combine_bytes(p, op, &old, &v);
    return u9i_patch_refuse_args(p, U9_ARG, "D-12",
                                 "only the bits of two integers, or of two bytes of one length, combine");
}

u9_err u9i_op_and(u9i_patch *p)
{
    return combine_bits(p, AND);
}

u9_err u9i_op_or(u9i_patch *p)
{
    return combine_bits(p, OR);
}

u9_err u9i_op_xor(u9i_patch *p)
{
    return combine_bits(p, XOR);
}

static bool is_blob(u9_type type)
{
    return type == U9_UTF8 || type == U9_BYTES;
}

u9_err u9i_op_join(u9i_patch *p)
{
    u9_value v = u9i_patch_arg(p, 0), old = p->old.value;
    u9_err err;
    if (starts_anew(p, &v, is_blob(v.type), "D-11", &err)) return err;
    if (!is_blob(v.type) || p->old.type != v.type)
        return u9i_patch_refuse_args(p, U9_ARG, "D-11",
                                     "only two texts, two bytes or two containers are joined");
    size_t a = (size_t)old.size, b = (size_t)v.size;
    uint8_t *out = take_blob(p, a + b, &err);
    if (err) return err;
    if (a > 0) memcpy(out, old.data, a);
    if (b > 0) memcpy(out + a, v.data, b);
    put_taken(p, v.type, out, a + b);
    return U9_OK;
}

/* True if a character of a text goes on at byte k. */
static bool within_character(const u9_value *text, uint64_t k)
{
    return text->type == U9_UTF8 && k < text->size && (text->data[k] & 0xc0) == 0x80;
}

u9_err u9i_op_cut_text(u9i_patch *p)
{
    u9_value old = p->old.value;
    uint64_t from, to;
    u9_err err;
    if (!is_blob(p->old.type))
        return u9i_patch_refuse_args(p, U9_ARG, "D-11", "only texts, bytes and containers are cut");
    err = u9i_patch_range(p, old.size, &from, &to);
    if (err || from == to) return err;
    if (within_character(&old, from) || within_character(&old, to))
        return u9i_patch_refuse_args(p, U9_ARG, "D-11", "a cut within a character");
    size_t n = (size_t)(old.size - (to - from));
    uint8_t *out = take_blob(p, n, &err);
    if (err) return err;
    memcpy(out, old.data, (size_t)from);
    if (to < old.size) memcpy(out + from, old.data + to, (size_t)(old.size - to));
    put_taken(p, old.type, out, n);
    return U9_OK;
}
