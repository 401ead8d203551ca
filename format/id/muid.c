/*
 * format/id/muid.c: the three forms of a muid: fields, 16 packed bytes, text.
 *
 * Owns: u9_muid. Rules: [I-1] packing, [I-2] strict text, [I-3] lenient text, [I-4] order, [I-5]
 * references, [I-19] the bounds of a time.
 *
 * The fields are 52, 44 and 32 bits wide, which is 13, 11 and 8 hex digits: so digits of the text
 * and digits of the packed bytes are the same, and a part that has no more significant digits than
 * its field has digits is in range. Negative fields are two's complement: offset -1 is FFFFFFFF.
 *
 * Text comes from anywhere: lengths are explicit, a NUL is a character like any other and refused,
 * no locale is asked. Pure functions, any thread.
 */
#include <u9/id.h>

#include "format/base/bytes.h"
#include "format/id/reason.h"

enum { PARTS = 3 };

static const unsigned part_digits[PARTS] = {13, 11, 8}; /* timestamp, medallion, offset */
/* The widths in which the scheme's first description prints a medallion and an offset that are 0. */
static const unsigned first_digits[PARTS] = {13, 13, 5};

/* A run of digits within the text. */
typedef struct muid_part {
    const char *digits; /* borrows */
    size_t size;        /* digits */
    uint64_t number;
} muid_part;

static bool in_range(const u9_muid *muid)
{
    return muid->timestamp <= U9_MUID_TIMESTAMP_MAX && muid->medallion <= U9_MUID_MEDALLION_MAX;
}

static int32_t offset_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    int32_t offset; /* memcpy: converting a large unsigned value is not portable */
    memcpy(&offset, &low, sizeof offset);
    return offset;
}

u9_err u9_muid_pack(const u9_muid *muid, uint8_t out[U9_MUID_SIZE])
{
    if (!in_range(muid)) return U9_ARG;
    u9i_set_be64(out, muid->timestamp << 12 | muid->medallion >> 32);
    u9i_set_be64(out + 8, muid->medallion << 32 | (uint32_t)muid->offset);
    return U9_OK;
}

void u9_muid_unpack(const uint8_t bytes[U9_MUID_SIZE], u9_muid *out)
{
    uint64_t high = u9i_get_be(bytes, 8), low = u9i_get_be(bytes + 8, 8);
    out->timestamp = high >> 12;
    out->medallion = (high & 0xfff) << 32 | low >> 32;
    out->offset = offset_of(low);
}

static char *print_hex(char *out, uint64_t number, unsigned digits)
{
    for (unsigned i = digits; i > 0; i--) {
        out[i - 1] = "0123456789ABCDEF"[number & 15];
        number >>= 4;
    }
    return out + digits;
}

u9_err u9_muid_format(const u9_muid *muid, char out[U9_MUID_TEXT_SIZE + 1])
{
    if (!in_range(muid)) return U9_ARG;
    out = print_hex(out, muid->timestamp, part_digits[0]);
    *out++ = '-';
    out = print_hex(out, muid->medallion, part_digits[1]);
    *out++ = '-';
    out = print_hex(out, (uint32_t)muid->offset, part_digits[2]);
    *out = '\0';
    return U9_OK;
}

/* Takes the text apart at its dashes. `*count` parts, `*lower` if a digit is lower case. */
static u9_id_reason split_muid(const char *text, size_t size, muid_part parts[PARTS], unsigned *count,
                               bool *lower)
{
    if (size == 0) return U9_MUID_EMPTY;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '-' && u9i_hex_digit(text[i]) < 0) return U9_MUID_CHARACTER;
        if (text[i] >= 'a' && text[i] <= 'f') *lower = true;
    }
    size_t begin = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && text[i] != '-') continue;
        if (i == begin || *count == PARTS) return U9_MUID_PARTS;
        parts[(*count)++] = (muid_part){.digits = text + begin, .size = i - begin};
        begin = i + 1;
    }
    return U9_ID_FINE;
}

/* Reads one part's number. [I-2] As wide as asked for; [I-3] or zero, if lenient. */
static u9_id_reason read_part(muid_part *p, unsigned digits, unsigned width, bool lenient)
{
    size_t zeros = 0;
    while (zeros < p->size && p->digits[zeros] == '0') zeros++;
    if (p->size - zeros > digits) return U9_MUID_RANGE;
    for (size_t i = zeros; i < p->size; i++)
        p->number = p->number << 4 | (unsigned)u9i_hex_digit(p->digits[i]);
    if (lenient && p->number == 0) return U9_ID_FINE;
    if (p->size != width) return U9_MUID_WIDTH;
    return width == digits || p->number == 0 ? U9_ID_FINE : U9_MUID_WIDTH;
}

static u9_id_reason read_muid_text(const char *text, size_t size, bool lenient, u9_muid *out)
{
    muid_part parts[PARTS] = {{.number = 0}};
    unsigned count = 0;
    bool lower = false;
    u9_id_reason why = split_muid(text, size, parts, &count, &lower);
    if (why != U9_ID_FINE) return why;
    if (lenient && count == 1 && size == U9_MUID_TEXT_SIZE - 2) { /* [I-3] no dashes */
        parts[0].size = part_digits[0];
        parts[1] = (muid_part){.digits = text + part_digits[0], .size = part_digits[1]};
        parts[2] = (muid_part){.digits = parts[1].digits + part_digits[1], .size = part_digits[2]};
        count = PARTS;
    }
    bool first = !lenient && count > 1 && parts[1].size == first_digits[1];
    for (unsigned i = 0; i < count; i++) {
        why = read_part(&parts[i], part_digits[i], (first ? first_digits : part_digits)[i], lenient);
        if (why != U9_ID_FINE) return why;
    }
    if (lower && !lenient) return U9_MUID_CASE;
    out->timestamp = parts[0].number;
    out->medallion = parts[1].number;
    out->offset = offset_of(parts[2].number);
    return U9_ID_FINE;
}

u9_err u9_muid_parse(const char *text, size_t size, unsigned flags, u9_muid *out, u9_id_reason *why)
{
    if (flags & ~U9_MUID_LENIENT) return U9_ARG;
    u9_id_reason reason = read_muid_text(text, size, (flags & U9_MUID_LENIENT) != 0, out);
    return u9i_told(reason, why);
}

static int compare_fields(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* [I-4] Each field unsigned: that is the order of the packed bytes. */
int u9_muid_compare(const u9_muid *a, const u9_muid *b)
{
    int order = compare_fields(a->timestamp, b->timestamp);
    if (order == 0) order = compare_fields(a->medallion, b->medallion);
    if (order == 0) order = compare_fields((uint32_t)a->offset, (uint32_t)b->offset);
    return order;
}

/* [I-19] Out of range is refused before anything is filled. */
u9_err u9_muid_floor(uint64_t timestamp, u9_muid *out)
{
    if (timestamp > U9_MUID_TIMESTAMP_MAX) return U9_ARG;
    *out = (u9_muid){.timestamp = timestamp};
    return U9_OK;
}

u9_err u9_muid_ceil(uint64_t timestamp, u9_muid *out)
{
    if (timestamp > U9_MUID_TIMESTAMP_MAX) return U9_ARG;
    *out = (u9_muid){.timestamp = timestamp, .medallion = U9_MUID_MEDALLION_MAX, .offset = -1};
    return U9_OK;
}

/* [I-5] Each check stands in front of the step that needs it. */
static u9_id_reason resolve_muid(u9_muid *m, const u9_muid *context)
{
    if (!in_range(m) || !in_range(context)) return U9_MUID_RANGE;
    if (m->timestamp == 0) m->timestamp = context->timestamp;
    if (m->medallion == 0) m->medallion = context->medallion;
    if (m->timestamp == 0 || m->medallion == 0) return U9_MUID_NO_CONTEXT;
    if (m->offset >= 0) return U9_ID_FINE;
    if (m->timestamp != context->timestamp || m->medallion != context->medallion)
        return U9_MUID_FOREIGN;
    if (context->offset < 1) return U9_MUID_NO_CONTEXT;
    m->offset += context->offset; /* of opposite signs: cannot overflow */
    return m->offset < 1 ? U9_MUID_BEFORE : U9_ID_FINE;
}

u9_err u9_muid_resolve(const u9_muid *ref, const u9_muid *context, u9_muid *out, u9_id_reason *why)
{
    u9_muid found = *ref;
    u9_id_reason reason = resolve_muid(&found, context);
    if (reason == U9_ID_FINE) *out = found;
    return u9i_told(reason, why);
}
