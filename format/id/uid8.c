/*
 * format/id/uid8.c: the three forms of an eight-byte identifier: fields, 8 packed bytes, text.
 *
 * Owns: u9_uid8. Rules: [I-10] packing, [I-11] layouts, [I-12] text, [I-18] order,
 * [I-19] the bounds of a time.
 *
 *     bits 63..22 timestamp | 21..16 sequence | 15..13 generator, high | 12 mode
 *          11..4 generator, low | 3..0 cluster
 *
 * This is layout 4. The layouts before it are the same with bits reserved: an identifier of any
 * layout is read right by a later one, and a layout is told by a mask of what it reserves and the
 * number of its generators. In the mode SPREAD the 42 bits of the timestamp stand in reverse.
 */
#include <u9/id.h>

#include "format/base/bytes.h"
#include "format/id/reason.h"

enum { TIMESTAMP_SHIFT = 22, SEQUENCE_SHIFT = 16, MODE_SHIFT = 12 };

/* [I-11] */
static const struct layout {
    uint32_t reserved; /* of the low 16 bits */
    uint32_t generator_max;
    u9_uid8_mode mode_max;
} layouts[U9_UID8_LAYOUT_MAX] = {
    {0xfc00, 63, U9_UID8_SPREAD},
    {0xf000, 255, U9_UID8_SPREAD},
    {0xe000, 255, U9_UID8_TIME_SEQUENTIAL},
    {0x0000, 2047, U9_UID8_TIME_SEQUENTIAL},
};

static const struct layout *find_layout(unsigned layout)
{
    return layout >= 1 && layout <= U9_UID8_LAYOUT_MAX ? &layouts[layout - 1] : NULL;
}

/* Turns the low 42 bits round: bit 0 becomes bit 41. Its own inverse. */
static uint64_t spread(uint64_t x)
{
    x = (x >> 1 & UINT64_C(0x5555555555555555)) | (x & UINT64_C(0x5555555555555555)) << 1;
    x = (x >> 2 & UINT64_C(0x3333333333333333)) | (x & UINT64_C(0x3333333333333333)) << 2;
    x = (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    x = (x >> 8 & UINT64_C(0x00ff00ff00ff00ff)) | (x & UINT64_C(0x00ff00ff00ff00ff)) << 8;
    x = (x >> 16 & UINT64_C(0x0000ffff0000ffff)) | (x & UINT64_C(0x0000ffff0000ffff)) << 16;
    return (x >> 32 | x << 32) >> TIMESTAMP_SHIFT;
}

static u9_id_reason check_fields(const u9_uid8 *id, const struct layout *l)
{
    if (id->timestamp_ms > U9_UID8_TIMESTAMP_MAX) return U9_UID8_TIMESTAMP;
    if (id->sequence > U9_UID8_SEQUENCE_MAX) return U9_UID8_SEQUENCE;
    if (id->generator > l->generator_max) return U9_UID8_GENERATOR;
    if (id->cluster > U9_UID8_CLUSTER_MAX) return U9_UID8_CLUSTER;
    if ((unsigned)id->mode > (unsigned)l->mode_max) return U9_UID8_MODE;
    return U9_ID_FINE;
}

/* [I-10] */
static uint64_t uid8_number(const u9_uid8 *id)
{
    uint64_t time = id->mode == U9_UID8_SPREAD ? spread(id->timestamp_ms) : id->timestamp_ms;
    return time << TIMESTAMP_SHIFT | (uint64_t)id->sequence << SEQUENCE_SHIFT |
           (id->generator >> 8) << 13 | (uint32_t)id->mode << MODE_SHIFT |
           (id->generator & 0xff) << 4 | id->cluster;
}

static u9_id_reason read_uid8_number(uint64_t number, const struct layout *l, u9_uid8 *out)
{
    uint32_t low = number & 0xffff;
    if (low & l->reserved) return U9_UID8_RESERVED;
    uint64_t time = number >> TIMESTAMP_SHIFT;
    out->mode = low >> MODE_SHIFT & 1 ? U9_UID8_TIME_SEQUENTIAL : U9_UID8_SPREAD;
    out->timestamp_ms = out->mode == U9_UID8_SPREAD ? spread(time) : time;
    out->sequence = number >> SEQUENCE_SHIFT & U9_UID8_SEQUENCE_MAX;
    out->generator = (low >> 13) << 8 | (low >> 4 & 0xff);
    out->cluster = low & U9_UID8_CLUSTER_MAX;
    return U9_ID_FINE;
}

u9_err u9_uid8_pack(const u9_uid8 *id, unsigned layout, uint8_t out[U9_UID8_SIZE],
                    u9_id_reason *why)
{
    const struct layout *l = find_layout(layout);
    if (!l) return U9_ARG;
    u9_id_reason reason = check_fields(id, l);
    if (reason == U9_ID_FINE) u9i_set_be(out, U9_UID8_SIZE, uid8_number(id));
    return u9i_told(reason, why);
}

u9_err u9_uid8_unpack(const uint8_t *bytes, size_t size, unsigned layout, u9_uid8 *out,
                      u9_id_reason *why)
{
    const struct layout *l = find_layout(layout);
    if (!l) return U9_ARG;
    if (size != U9_UID8_SIZE) return u9i_told(U9_UID8_LENGTH, why);
    return u9i_told(read_uid8_number(u9i_get_be(bytes, U9_UID8_SIZE), l, out), why);
}

u9_err u9_uid8_format(const u9_uid8 *id, unsigned layout, char out[U9_UID8_TEXT_SIZE + 1],
                      u9_id_reason *why)
{
    const struct layout *l = find_layout(layout);
    if (!l) return U9_ARG;
    u9_id_reason reason = check_fields(id, l);
    if (reason != U9_ID_FINE) return u9i_told(reason, why);
    uint64_t number = uid8_number(id);
    for (unsigned i = U9_UID8_TEXT_SIZE; i > 0; i--) {
        out[i - 1] = "0123456789abcdef"[number & 15];
        number >>= 4;
    }
    out[U9_UID8_TEXT_SIZE] = '\0';
    return u9i_told(U9_ID_FINE, why);
}

u9_err u9_uid8_parse(const char *text, size_t size, unsigned layout, u9_uid8 *out,
                     u9_id_reason *why)
{
    const struct layout *l = find_layout(layout);
    if (!l) return U9_ARG;
    if (size != U9_UID8_TEXT_SIZE) return u9i_told(U9_UID8_LENGTH, why); /* [I-12] */
    uint64_t number = 0;
    for (unsigned i = 0; i < U9_UID8_TEXT_SIZE; i++) {
        int digit = u9i_hex_digit(text[i]);
        if (digit < 0) return u9i_told(U9_UID8_CHARACTER, why);
        number = number << 4 | (unsigned)digit;
    }
    return u9i_told(read_uid8_number(number, l, out), why);
}

/* [I-18] */
int u9_uid8_compare(const u9_uid8 *a, const u9_uid8 *b)
{
    uint64_t x = uid8_number(a), y = uid8_number(b);
    return (x > y) - (x < y);
}

/* [I-19] Whatever the layout reserves is 0 in both. */
u9_err u9_uid8_floor(uint64_t timestamp_ms, u9_uid8_mode mode, unsigned layout, u9_uid8 *out,
                     u9_id_reason *why)
{
    const struct layout *l = find_layout(layout);
    const u9_uid8 made = {.timestamp_ms = timestamp_ms, .mode = mode};
    if (!l) return U9_ARG;
    u9_id_reason reason = check_fields(&made, l);
    if (reason == U9_ID_FINE) *out = made;
    return u9i_told(reason, why);
}

u9_err u9_uid8_ceil(uint64_t timestamp_ms, u9_uid8_mode mode, unsigned layout, u9_uid8 *out,
                    u9_id_reason *why)
{
    u9_uid8 made;
    u9_err err = u9_uid8_floor(timestamp_ms, mode, layout, &made, why);
    if (err != U9_OK) return err;
    made.sequence = U9_UID8_SEQUENCE_MAX;
    made.generator = find_layout(layout)->generator_max;
    made.cluster = U9_UID8_CLUSTER_MAX;
    *out = made;
    return U9_OK;
}
