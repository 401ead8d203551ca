/*
 * format/id/gid.c: the three forms of a GID: fields, 16 packed bytes, text.
 *
 * Owns: u9_gid. Rules: [I-6] packing and byte 7, [I-7] text, [I-18] order, [I-19] the bounds of a time,
 * [I-20] the empty GID and the short form.
 *
 * The text is two numbers in base58, each of a fixed width: bytes 0 to 6 in 10 digits and bytes 7
 * to 15 in 13. The widths hold because the top bit of bytes 0 and 7 is set, so the numbers are at
 * least 58^9 and 58^12. The alphabet ascends in ASCII: texts are ordered as the bytes are.
 *
 * The second number has 72 bits. It is reckoned in two limbs of 36 bits, which leave room for a
 * factor of 58 in 64.
 */
#include <u9/id.h>

#include "format/base/bytes.h"
#include "format/id/reason.h"

enum { TIME_DIGITS = 10, RANDOM_DIGITS = 13, NOT_BASE58 = -1 };

#define LIMB_BITS 36
#define LIMB_MASK ((UINT64_C(1) << LIMB_BITS) - 1)

static const char alphabet[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/* 58^12, the least number of 13 digits. */
static const uint8_t least[U9_GID_RANDOM_SIZE] = {0x4e, 0x90, 0x0a, 0xbb, 0x53,
                                                  0xe6, 0xb7, 0x10, 0x00};

/* A number of 72 bits. */
typedef struct wide {
    uint64_t high, low; /* 36 bits each */
} wide;

static bool flags_fit(unsigned flags)
{
    return flags == 0 || flags == U9_GID_STRICT || flags == U9_GID_LENIENT;
}

static bool is_prefix(unsigned byte)
{
    return byte == U9_GID_VOLUME || byte == U9_GID_LOG || byte == U9_GID_SEGMENT;
}

/* [I-6] What byte 7 and those behind it may be. */
static u9_id_reason check_random(unsigned prefix, const uint8_t *random, unsigned flags)
{
    if (flags == U9_GID_STRICT && random[0] != prefix) return U9_GID_COPY;
    if (random[0] & 0x80) return U9_ID_FINE;
    if (flags != U9_GID_LENIENT) return U9_GID_TOP_BIT;
    return memcmp(random, least, sizeof least) < 0 ? U9_GID_NO_TEXT : U9_ID_FINE;
}

static u9_id_reason read_bytes(const uint8_t *bytes, u9_gid_type type, unsigned flags, u9_gid *out)
{
    if (!is_prefix(bytes[0])) return U9_GID_PREFIX;
    if (type != U9_GID_ANY && bytes[0] != (unsigned)type) return U9_GID_TYPE;
    u9_id_reason why = check_random(bytes[0], bytes + 7, flags);
    if (why != U9_ID_FINE) return why;
    out->type = (u9_gid_type)bytes[0];
    out->timestamp_ms = u9i_get_be(bytes + 1, 6);
    memcpy(out->random, bytes + 7, sizeof out->random);
    return U9_ID_FINE;
}

u9_err u9_gid_pack(const u9_gid *gid, unsigned flags, uint8_t out[U9_GID_SIZE])
{
    if (!flags_fit(flags) || !is_prefix(gid->type)) return U9_ARG;
    if (gid->timestamp_ms > U9_GID_TIMESTAMP_MAX) return U9_ARG;
    if (check_random(gid->type, gid->random, flags) != U9_ID_FINE) return U9_ARG;
    out[0] = (uint8_t)gid->type;
    u9i_set_be(out + 1, 6, gid->timestamp_ms);
    memcpy(out + 7, gid->random, sizeof gid->random);
    return U9_OK;
}

u9_err u9_gid_unpack(const uint8_t *bytes, size_t size, u9_gid_type type, unsigned flags,
                     u9_gid *out, u9_id_reason *why)
{
    if (!flags_fit(flags) || (type != U9_GID_ANY && !is_prefix(type))) return U9_ARG;
    if (size != U9_GID_SIZE) return u9i_told(U9_GID_LENGTH, why);
    return u9i_told(read_bytes(bytes, type, flags, out), why);
}

/* Prints the last digit, and divides. */
static char take_digit(wide *n)
{
    uint64_t rest = n->high % 58 << LIMB_BITS | n->low;
    n->high /= 58;
    n->low = rest / 58;
    return alphabet[rest % 58];
}

u9_err u9_gid_format(const u9_gid *gid, unsigned flags, char out[U9_GID_TEXT_SIZE + 1])
{
    uint8_t bytes[U9_GID_SIZE];
    u9_err err = u9_gid_pack(gid, flags, bytes);
    if (err != U9_OK) return err;
    uint64_t time = u9i_get_be(bytes, 7), low = u9i_get_be(bytes + 8, 8);
    wide random = {.high = (uint64_t)bytes[7] << 28 | low >> LIMB_BITS, .low = low & LIMB_MASK};
    for (unsigned i = TIME_DIGITS; i > 0; i--) {
        out[i - 1] = alphabet[time % 58];
        time /= 58;
    }
    out[TIME_DIGITS] = '-';
    for (unsigned i = RANDOM_DIGITS; i > 0; i--) out[TIME_DIGITS + i] = take_digit(&random);
    out[U9_GID_TEXT_SIZE] = '\0';
    return U9_OK;
}

/* The alphabet leaves out 0 O I l. */
static int base58_digit(char c)
{
    if (c >= '1' && c <= '9') return c - '1';
    if (c >= 'A' && c <= 'H') return c - 'A' + 9;
    if (c >= 'J' && c <= 'N') return c - 'J' + 17;
    if (c >= 'P' && c <= 'Z') return c - 'P' + 22;
    if (c >= 'a' && c <= 'k') return c - 'a' + 33;
    if (c >= 'm' && c <= 'z') return c - 'm' + 44;
    return NOT_BASE58;
}

/* [I-7] 24 digits and a dash into 16 bytes. */
static u9_id_reason read_gid_text(const char *text, size_t size, uint8_t bytes[U9_GID_SIZE])
{
    if (size != U9_GID_TEXT_SIZE) return U9_GID_LENGTH;
    const char *dash = (const char *)memchr(text, '-', size);
    if (dash != text + TIME_DIGITS) return U9_GID_DASH;
    uint64_t time = 0;
    wide random = {0, 0};
    for (unsigned i = 0; i < U9_GID_TEXT_SIZE; i++) {
        if (i == TIME_DIGITS) continue;
        int digit = base58_digit(text[i]);
        if (digit == NOT_BASE58) return U9_GID_CHARACTER;
        if (i < TIME_DIGITS) {
            time = time * 58 + (unsigned)digit; /* < 58^10 < 2^59 */
            continue;
        }
        random.low = random.low * 58 + (unsigned)digit;
        random.high = random.high * 58 + (random.low >> LIMB_BITS); /* < 58^13 / 2^36 < 2^41 */
        random.low &= LIMB_MASK;
    }
    if (time >> 56 != 0) return U9_GID_TIME_PART;
    if (random.high > LIMB_MASK) return U9_GID_RANDOM_PART;
    u9i_set_be(bytes, 7, time);
    bytes[7] = (uint8_t)(random.high >> 28);
    u9i_set_be(bytes + 8, 8, random.high << LIMB_BITS | random.low);
    return U9_ID_FINE;
}

u9_err u9_gid_parse(const char *text, size_t size, u9_gid_type type, unsigned flags, u9_gid *out,
                    u9_id_reason *why)
{
    uint8_t bytes[U9_GID_SIZE];
    if (!flags_fit(flags) || (type != U9_GID_ANY && !is_prefix(type))) return U9_ARG;
    u9_id_reason reason = read_gid_text(text, size, bytes);
    if (reason == U9_ID_FINE) reason = read_bytes(bytes, type, flags, out);
    return u9i_told(reason, why);
}

u9_err u9_gid_format_short(const u9_gid *gid, unsigned flags, char out[U9_GID_SHORT_SIZE + 1])
{
    char text[U9_GID_TEXT_SIZE + 1];
    u9_err err = u9_gid_format(gid, flags, text);
    if (err == U9_OK) memcpy(out, text + TIME_DIGITS + 1, RANDOM_DIGITS + 1); /* with its NUL */
    return err;
}

/* [I-18] */
int u9_gid_compare(const u9_gid *a, const u9_gid *b)
{
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    if (a->timestamp_ms != b->timestamp_ms) return a->timestamp_ms < b->timestamp_ms ? -1 : 1;
    return memcmp(a->random, b->random, sizeof a->random);
}

/* [I-19] */
u9_err u9_gid_floor(u9_gid_type type, uint64_t timestamp_ms, unsigned flags, u9_gid *out)
{
    u9_gid made = {.type = type, .timestamp_ms = timestamp_ms};
    if (!flags_fit(flags) || !is_prefix(type) || timestamp_ms > U9_GID_TIMESTAMP_MAX) return U9_ARG;
    made.random[0] = flags == U9_GID_STRICT ? (uint8_t)type : 0x80;
    if (flags == U9_GID_LENIENT) memcpy(made.random, least, sizeof least);
    *out = made;
    return U9_OK;
}

u9_err u9_gid_ceil(u9_gid_type type, uint64_t timestamp_ms, unsigned flags, u9_gid *out)
{
    u9_gid made = {.type = type, .timestamp_ms = timestamp_ms};
    if (!flags_fit(flags) || !is_prefix(type) || timestamp_ms > U9_GID_TIMESTAMP_MAX) return U9_ARG;
    memset(made.random, 0xff, sizeof made.random);
    if (flags == U9_GID_STRICT) made.random[0] = (uint8_t)type;
    *out = made;
    return U9_OK;
}

/* [I-20] */
u9_err u9_gid_empty(u9_gid_type type, u9_gid *out)
{
    return u9_gid_floor(type, 0, 0, out);
}

int u9_gid_is_empty(const u9_gid *gid)
{
    if (!is_prefix(gid->type) || gid->timestamp_ms != 0) return 0;
    if (gid->random[0] != 0x80 && gid->random[0] != (unsigned)gid->type) return 0;
    for (unsigned i = 1; i < U9_GID_RANDOM_SIZE; i++)
        if (gid->random[i] != 0) return 0;
    return 1;
}

const char *u9_gid_type_name(u9_gid_type type)
{
    switch (type) {
    case U9_GID_VOLUME: return "volume";
    case U9_GID_LOG: return "log";
    case U9_GID_SEGMENT: return "segment";
    case U9_GID_ANY: break;
    }
    return "?";
}
