/*
 * format/id/tid.c: the three forms of a TID: fields, 8 packed bytes, text.
 *
 * Owns: u9_tid. Rules: [I-8] packing, [I-9] text, [I-18] order, [I-19] the bounds of a time.
 *
 * 13 digits of 5 bits are 65 bits, one more than there are: the first digit holds bits 63 to 60
 * only. Two rules read it differently. By the layout bit 63 is always 0, so the first digit is at
 * most `b`; by the syntax it is at most `j`, so bit 63 may be set. Syntax is asked alone where a
 * text is only passed on (record keys); fields are read by the layout.
 */
#include <u9/id.h>

#include "format/base/bytes.h"
#include "format/id/reason.h"

enum { NOT_BASE32 = -1, FIRST_MAX = 15 /* `j` */, CLOCK_ID_BITS = 10 };

static const char alphabet[] = "234567abcdefghijklmnopqrstuvwxyz";

static int base32_digit(char c)
{
    if (c >= '2' && c <= '7') return c - '2';
    if (c >= 'a' && c <= 'z') return c - 'a' + 6;
    return NOT_BASE32;
}

/* [I-9] The syntax, and the number. */
static u9_id_reason read_tid_text(const char *text, size_t size, uint64_t *out)
{
    if (size != U9_TID_TEXT_SIZE) return U9_TID_LENGTH;
    uint64_t number = 0;
    for (unsigned i = 0; i < U9_TID_TEXT_SIZE; i++) {
        int digit = base32_digit(text[i]);
        if (digit == NOT_BASE32) return U9_TID_CHARACTER;
        number = number << 5 | (unsigned)digit;
    }
    if (base32_digit(text[0]) > FIRST_MAX) return U9_TID_OVERFLOW;
    *out = number;
    return U9_ID_FINE;
}

static u9_id_reason read_tid_number(uint64_t number, unsigned flags, u9_tid *out)
{
    if (number >> 63 != 0 && !(flags & U9_TID_TOP_BIT)) return U9_TID_SIGN;
    out->timestamp = number >> CLOCK_ID_BITS;
    out->clock_id = number & U9_TID_CLOCK_ID_MAX;
    return U9_ID_FINE;
}

static bool tid_number(const u9_tid *tid, unsigned flags, uint64_t *out)
{
    if (flags & ~U9_TID_TOP_BIT) return false;
    uint64_t max = U9_TID_TIMESTAMP_MAX << (flags & U9_TID_TOP_BIT ? 1 : 0) | 1;
    if (tid->timestamp > max || tid->clock_id > U9_TID_CLOCK_ID_MAX) return false;
    *out = tid->timestamp << CLOCK_ID_BITS | tid->clock_id;
    return true;
}

int u9_tid_is_valid(const char *text, size_t size)
{
    uint64_t number;
    return read_tid_text(text, size, &number) == U9_ID_FINE;
}

u9_err u9_tid_pack(const u9_tid *tid, unsigned flags, uint8_t out[U9_TID_SIZE])
{
    uint64_t number;
    if (!tid_number(tid, flags, &number)) return U9_ARG;
    u9i_set_be(out, U9_TID_SIZE, number);
    return U9_OK;
}

u9_err u9_tid_unpack(const uint8_t *bytes, size_t size, unsigned flags, u9_tid *out,
                     u9_id_reason *why)
{
    if (flags & ~U9_TID_TOP_BIT) return U9_ARG;
    if (size != U9_TID_SIZE) return u9i_told(U9_TID_LENGTH, why);
    return u9i_told(read_tid_number(u9i_get_be(bytes, U9_TID_SIZE), flags, out), why);
}

u9_err u9_tid_format(const u9_tid *tid, unsigned flags, char out[U9_TID_TEXT_SIZE + 1])
{
    uint64_t number;
    if (!tid_number(tid, flags, &number)) return U9_ARG;
    for (unsigned i = U9_TID_TEXT_SIZE; i > 0; i--) {
        out[i - 1] = alphabet[number & 31];
        number >>= 5;
    }
    out[U9_TID_TEXT_SIZE] = '\0';
    return U9_OK;
}

u9_err u9_tid_parse(const char *text, size_t size, unsigned flags, u9_tid *out, u9_id_reason *why)
{
    uint64_t number = 0;
    if (flags & ~U9_TID_TOP_BIT) return U9_ARG;
    u9_id_reason reason = read_tid_text(text, size, &number);
    if (reason == U9_ID_FINE) reason = read_tid_number(number, flags, out);
    return u9i_told(reason, why);
}

/* [I-18] */
int u9_tid_compare(const u9_tid *a, const u9_tid *b)
{
    if (a->timestamp != b->timestamp) return a->timestamp < b->timestamp ? -1 : 1;
    return (a->clock_id > b->clock_id) - (a->clock_id < b->clock_id);
}

u9_err u9_tid_from_time(uint64_t timestamp, uint32_t clock_id, unsigned flags, u9_tid *out)
{
    const u9_tid made = {.timestamp = timestamp, .clock_id = clock_id};
    uint64_t number;
    if (!tid_number(&made, flags, &number)) return U9_ARG;
    *out = made;
    return U9_OK;
}

/* [I-19] */
u9_err u9_tid_floor(uint64_t timestamp, unsigned flags, u9_tid *out)
{
    return u9_tid_from_time(timestamp, 0, flags, out);
}

u9_err u9_tid_ceil(uint64_t timestamp, unsigned flags, u9_tid *out)
{
    return u9_tid_from_time(timestamp, U9_TID_CLOCK_ID_MAX, flags, out);
}
