/*
 * format/value/text/float_text.c: floats as decimal text and back. [N-4]
 *
 * Printing is the method of Steele and White: digits of r / s come out one by one until what is
 * left of r is nearer than half the way to the neighbouring floats. Reading divides one whole
 * number by another, bit by bit, and rounds what is left over. Both are exact, so each is the
 * other's inverse.
 *
 * The numbers are at most 10^1093 shifted by a float's width: that is where the least float,
 * written with DIGITS_MAX digits, ends. More digits than that decide nothing but whether the number
 * is above or below a tie: they are read as one.
 */
#include "format/value/text/float_text.h"

#include <assert.h>
#include <string.h>

enum { LIMBS = 120, DIGITS_MAX = 768, DIGITS_OUT = 17 };

typedef struct big {
    unsigned used;        /* limbs in use; the last of them is not 0 */
    uint32_t limb[LIMBS]; /* the least significant one first */
} big;

/* What tells one width of floats from the other. */
typedef struct real_format {
    unsigned precision; /* bits of the mantissa, the hidden one included */
    int least;          /* the exponent of the last bit of the smallest floats */
    unsigned special;   /* the exponent field of infinities and NaNs */
} real_format;

static real_format format_of(unsigned width)
{
    return width == 4 ? (real_format){24, -149, 0xff} : (real_format){53, -1074, 0x7ff};
}

/* x = x * factor + more */
static void big_multiply(big *x, uint32_t factor, uint32_t more)
{
    uint64_t carry = more;
    for (unsigned i = 0; i < x->used; i++) {
        carry += (uint64_t)x->limb[i] * factor;
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry == 0) return;
    assert(x->used < LIMBS);
    x->limb[x->used++] = (uint32_t)carry;
}

static void big_set(big *x, uint64_t number)
{
    x->used = number == 0 ? 0 : number >> 32 == 0 ? 1 : 2;
    x->limb[0] = (uint32_t)number;
    x->limb[1] = (uint32_t)(number >> 32);
}

static void big_power10(big *x, unsigned power)
{
    for (; power >= 9; power -= 9) big_multiply(x, 1000000000, 0);
    for (; power > 0; power--) big_multiply(x, 10, 0);
}

static void big_shift(big *x, unsigned bits)
{
    unsigned limbs = bits / 32;
    if (x->used == 0) return;
    big_multiply(x, UINT32_C(1) << bits % 32, 0);
    assert(x->used + limbs <= LIMBS);
    memmove(x->limb + limbs, x->limb, x->used * sizeof x->limb[0]);
    memset(x->limb, 0, limbs * sizeof x->limb[0]);
    x->used += limbs;
}

static int big_compare(const big *x, const big *y)
{
    if (x->used != y->used) return x->used < y->used ? -1 : 1;
    for (unsigned i = x->used; i-- > 0;)
        if (x->limb[i] != y->limb[i]) return x->limb[i] < y->limb[i] ? -1 : 1;
    return 0;
}

static void big_add(big *x, const big *y)
{
    uint64_t carry = 0;
    for (unsigned i = 0; i < y->used || carry > 0; i++) {
        assert(i < LIMBS);
        if (i == x->used) x->limb[x->used++] = 0;
        carry += (uint64_t)x->limb[i] + (i < y->used ? y->limb[i] : 0);
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* x = x - y, which is not below 0 */
static void big_subtract(big *x, const big *y)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < x->used; i++) {
        uint64_t less = (i < y->used ? y->limb[i] : 0) + borrow;
        borrow = x->limb[i] < less;
        x->limb[i] = (uint32_t)(x->limb[i] - less);
    }
    while (x->used > 0 && x->limb[x->used - 1] == 0) x->used--;
}

static int big_bits(const big *x)
{
    int bits = (int)x->used * 32;
    if (bits > 0)
        for (uint32_t top = x->limb[x->used - 1]; top >> 31 == 0; top <<= 1) bits--;
    return bits;
}

/* Compares x + y with z. */
static int compare_sum(const big *x, const big *y, const big *z)
{
    big sum;
    sum.used = x->used;
    memcpy(sum.limb, x->limb, x->used * sizeof x->limb[0]);
    big_add(&sum, y);
    return big_compare(&sum, z);
}

/* A number r / s below 1, and half the ways to the floats below and above it, in the same unit. */
typedef struct ratio {
    big r, s, below, above;
    int even; /* 1: the ways' ends belong to it, too: a tie reads back as the even mantissa */
} ratio;

/*
 * Makes mantissa * 2^exponent such a ratio, times 10^point, which it returns. `uneven` 1: the float
 * below is only half as far away as the one above.
 */
static int ratio_init(ratio *q, uint64_t mantissa, int exponent, unsigned uneven)
{
    unsigned up = exponent > 0 ? (unsigned)exponent : 0;
    unsigned down = exponent < 0 ? (unsigned)-exponent : 0;
    big_set(&q->r, mantissa);
    big_set(&q->s, 1);
    big_set(&q->below, 1);
    big_set(&q->above, 1);
    q->even = mantissa % 2 == 0;
    int bits = big_bits(&q->r) + exponent - 1;
    int point = (bits * 1233 - (bits < 0 ? 4095 : 0)) / 4096 - 1; /* log10(2) is near 1233 / 4096 */
    big_shift(&q->r, up + 1 + uneven);
    big_shift(&q->s, down + 1 + uneven);
    big_shift(&q->below, up);
    big_shift(&q->above, up + uneven);
    if (point > 0) big_power10(&q->s, (unsigned)point);
    for (unsigned i = 0; point < 0 && i < 3; i++)
        big_power10(i == 0 ? &q->r : i == 1 ? &q->below : &q->above, (unsigned)-point);
    for (; compare_sum(&q->r, &q->above, &q->s) + q->even > 0; point++) big_multiply(&q->s, 10, 0);
    return point;
}

/* Takes the fewest digits behind the point off a ratio. Returns how many. */
static unsigned take_digits(ratio *q, char digits[DIGITS_OUT])
{
    for (unsigned n = 0;; n++) {
        assert(n < DIGITS_OUT);
        digits[n] = '0';
        big_multiply(&q->r, 10, 0);
        big_multiply(&q->below, 10, 0);
        big_multiply(&q->above, 10, 0);
        for (; big_compare(&q->r, &q->s) >= 0; digits[n]++) big_subtract(&q->r, &q->s);
        bool low = big_compare(&q->r, &q->below) - q->even < 0;
        bool high = compare_sum(&q->r, &q->above, &q->s) + q->even > 0;
        if (!low && !high) continue;
        int half = compare_sum(&q->r, &q->r, &q->s); /* of two as near the even digit */
        if (high && (!low || half + digits[n] % 2 > 0)) digits[n]++;
        return n + 1;
    }
}

/* 0.DIGITS * 10^point, the way it is written. */
static size_t lay_out(const char *digits, unsigned n, int point, char *out)
{
    char *p = out;
    bool plain = point > -4 && point <= 16;
    int whole = plain ? point : 1; /* digits before the `.` */
    if (whole <= 0) *p++ = '0';
    for (int i = 0; i < whole; i++) *p++ = i < (int)n ? digits[i] : '0';
    if (plain || n > 1) *p++ = '.';
    for (int i = whole; i < 0; i++) *p++ = '0';
    for (int i = whole > 0 ? whole : 0; i < (int)n; i++) *p++ = digits[i];
    if (plain && whole >= (int)n) *p++ = '0';
    if (plain) return (size_t)(p - out);
    *p++ = 'e';
    if (point <= 0) *p++ = '-';
    unsigned exponent = (unsigned)(point <= 0 ? 1 - point : point - 1);
    if (exponent >= 100) *p++ = (char)('0' + exponent / 100);
    if (exponent >= 10) *p++ = (char)('0' + exponent / 10 % 10);
    *p++ = (char)('0' + exponent % 10);
    return (size_t)(p - out);
}

size_t u9i_float_print(uint64_t bits, unsigned width, char out[U9I_FLOAT_SIZE])
{
    real_format f = format_of(width);
    uint64_t hidden = UINT64_C(1) << (f.precision - 1), mantissa = bits & (hidden - 1);
    unsigned field = (unsigned)(bits >> (f.precision - 1)) & f.special;
    size_t sign = bits >> (8 * width - 1) & 1;
    out[0] = '-';
    if (mantissa == 0 && field == 0) return sign + lay_out("0", 1, 1, out + sign);
    int exponent = f.least + (field > 0 ? (int)field - 1 : 0);
    unsigned uneven = mantissa == 0 && field > 1;
    char digits[DIGITS_OUT];
    ratio q;
    int point = ratio_init(&q, mantissa | (field > 0 ? hidden : 0), exponent, uneven);
    return sign + lay_out(digits, take_digits(&q, digits), point, out + sign);
}

/* What a text says: whole * 10^exponent. */
typedef struct decimal {
    big whole;
    int64_t exponent;
    int64_t digits; /* of `whole` */
} decimal;

static void read_decimal(const char *text, size_t size, decimal *d)
{
    int64_t behind = 0, power = 0, dropped = 0;
    bool fraction = false, more = false;
    size_t at = 0;
    d->whole.used = 0;
    d->digits = 0;
    for (; at < size && (text[at] | 0x20) != 'e'; at++) {
        if (text[at] == '.') fraction = true;
        if (text[at] < '0' || text[at] > '9') continue;
        unsigned digit = (unsigned)(text[at] - '0');
        behind += fraction;
        if (d->digits == DIGITS_MAX) {
            more = more || digit > 0;
            dropped++;
        } else if (d->digits > 0 || digit > 0) {
            d->digits++;
            if (d->whole.used == 0) big_set(&d->whole, digit);
            else big_multiply(&d->whole, 10, digit);
        }
    }
    bool negative = at + 1 < size && text[at + 1] == '-';
    for (; at < size; at++)
        if (text[at] >= '0' && text[at] <= '9' && power < INT32_MAX)
            power = power * 10 + text[at] - '0';
    d->exponent = (negative ? -power : power) - behind + dropped;
    if (!more) return;
    big_multiply(&d->whole, 10, 1);
    d->exponent--;
    d->digits++;
}

/* num / den * 2^-*scale with one bit more than the precision, and whether anything is left over.
 * Both are used up. */
static uint64_t divide(big *num, big *den, real_format f, int *scale, bool *rest)
{
    int guess = big_bits(num) - big_bits(den) - (int)f.precision;
    *scale = guess > f.least ? guess : f.least;
    if (*scale > 0) big_shift(den, (unsigned)*scale);
    else big_shift(num, (unsigned)-*scale);
    big_shift(den, f.precision);
    uint64_t quotient = 0;
    for (unsigned i = 0; i < f.precision + 2; i++) {
        quotient <<= 1;
        if (big_compare(num, den) >= 0) {
            big_subtract(num, den);
            quotient |= 1;
        }
        big_shift(num, 1);
    }
    *rest = num->used > 0;
    if (quotient >> (f.precision + 1) == 0) return quotient;
    *rest = *rest || quotient % 2 > 0;
    ++*scale;
    return quotient >> 1;
}

bool u9i_float_parse(const char *text, size_t size, unsigned width, uint64_t *bits)
{
    real_format f = format_of(width);
    uint64_t sign = (uint64_t)(size > 0 && text[0] == '-') << (8 * width - 1);
    decimal d;
    read_decimal(text, size, &d);
    if (d.whole.used > 0 && d.exponent + d.digits > 310) return false;
    if (d.whole.used == 0 || d.exponent + d.digits < -330) {
        *bits = sign;
        return true;
    }
    big one;
    big_set(&one, 1);
    big_power10(d.exponent < 0 ? &one : &d.whole,
                (unsigned)(d.exponent < 0 ? -d.exponent : d.exponent));
    int scale;
    bool rest;
    uint64_t mantissa = divide(&d.whole, &one, f, &scale, &rest);
    uint64_t hidden = UINT64_C(1) << (f.precision - 1);
    bool up = mantissa % 2 > 0 && (rest || mantissa / 2 % 2 > 0);
    mantissa = mantissa / 2 + up;
    if (mantissa == hidden * 2) mantissa = hidden, scale++;
    uint64_t field = mantissa < hidden ? 0 : (uint64_t)(scale - f.least + 1);
    if (field >= f.special) return false;
    *bits = sign | field << (f.precision - 1) | (mantissa & (hidden - 1));
    return true;
}
