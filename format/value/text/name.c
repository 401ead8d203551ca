/*
 * format/value/text/name.c: see name.h. [N-5] [N-6]
 *
 * A typecode is read from the outside in, but an array's length is known only from the inside out:
 * its levels are held until the innermost has been read.
 */
#include "format/value/text/name.h"

#include <u9/value_text.h>

#include <string.h>

static const u9i_name names[] = {
    {"alpha", U9I_NAME_ALONE, 0x10, 0, 1},   {"omega", U9I_NAME_ALONE, 0x11, 0, 1},
    {"iota", U9I_NAME_ALONE, 0x12, 0, 1},    {"kappa", U9I_NAME_ALONE, 0x13, 0, 1},
    {"tau0", U9I_NAME_ALONE, 0x14, 0, 1},    {"tau", U9I_NAME_TAU, 0x15, 2, 3},
    {"uint8", U9I_NAME_WHOLE, 0x00, 1, 1},   {"uint16", U9I_NAME_WHOLE, 0x01, 2, 1},
    {"uint32", U9I_NAME_WHOLE, 0x02, 4, 1},  {"uint64", U9I_NAME_WHOLE, 0x03, 8, 1},
    {"int8", U9I_NAME_WHOLE, 0x04, 1, 1},    {"int16", U9I_NAME_WHOLE, 0x05, 2, 1},
    {"int32", U9I_NAME_WHOLE, 0x06, 4, 1},   {"int64", U9I_NAME_WHOLE, 0x07, 8, 1},
    {"float32", U9I_NAME_REAL, 0x08, 4, 1},  {"float64", U9I_NAME_REAL, 0x09, 8, 1},
    {"symbol", U9I_NAME_SYMBOL, 0x0a, 0, 1}, {"pidfd", U9I_NAME_PIDFD, 0x0b, 8, 1},
    {"utf8", U9I_NAME_UTF8, 0x18, 1, 4},     {"bytes", U9I_NAME_BYTES, 0x1c, 1, 4},
    {"tuple", U9I_NAME_TUPLE, 0x40, 1, 4},   {"array", U9I_NAME_ARRAY, 0x44, 1, 4},
    {"cidx", U9I_NAME_INDEX, 0x51, 2, 3},    {"iidx", U9I_NAME_INDEX, 0x54, 1, 4},
};

const u9i_name *u9i_name_find(u9i_word word, unsigned *width)
{
    static const char *const suffixes[] = {"8", "16", "32", "64"};
    const char *dot = word.size > 0 ? (const char *)memchr(word.text, '.', word.size) : NULL;
    u9i_word base = {.text = word.text, .size = dot ? (size_t)(dot - word.text) : word.size};
    u9i_word suffix = {.text = dot ? dot + 1 : NULL, .size = dot ? word.size - base.size - 1 : 0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const u9i_name *name = &names[i];
        if (!u9i_word_is(base, name->text)) continue;
        *width = 0;
        if (!dot) return name;
        for (unsigned k = 0; k < 4 && name->row > 1; k++) {
            *width = 1u << k;
            if (*width >= name->width && u9i_word_is(suffix, suffixes[k])) return name;
        }
        return NULL;
    }
    return NULL;
}

unsigned u9i_name_code(const u9i_name *name, unsigned width)
{
    unsigned code = name->code;
    return width > name->width ? code + u9i_width_step(width) - u9i_width_step(name->width) : code;
}

/* An array in a typecode. */
typedef struct array_level {
    unsigned width; /* named; 0: the narrowest */
    uint64_t count;
    size_t where;
} array_level;

static u9_err too_narrow(const u9i_scanner *s, size_t where, unsigned width, uint64_t length)
{
    return u9i_scanner_refuse_counts(s, U9_CORRUPT, where, "N-6",
                                     "# bits do not hold a length of # bytes", 8 * width, length);
}

/* The innermost level, whose name has been read: its bytes, and the size of its elements. */
static u9_err scan_leaf(u9i_scanner *s, size_t where, u9i_word word, uint8_t out[9], size_t *size)
{
    unsigned width = 0;
    const u9i_name *name = u9i_name_find(word, &width);
    uint64_t length;
    bool fix = word.size == 9 && memcmp(word.text, "fixtuple", 8) == 0 && word.text[8] >= '0' &&
               word.text[8] <= '7';
    bool sized = fix || (name && name->what >= U9I_NAME_UTF8 && name->what <= U9I_NAME_TUPLE);
    bool tau = name && name->what == U9I_NAME_TAU; /* its width is nowhere else to be seen */
    bool number = name && name->what >= U9I_NAME_WHOLE && name->what <= U9I_NAME_PIDFD;
    if (!sized && !number && !(tau && width > 0)) {
        s->at = where;
        return u9i_scanner_expected(s, "N-6", tau ? "tau.16, tau.32 or tau.64" : "a typecode");
    }
    *size = 1;
    out[0] = (uint8_t)(fix ? 0x48 + (word.text[8] - '0') : (int)u9i_name_code(name, width));
    if (!sized) return U9_OK;
    u9_err err = u9i_scanner_count(s, &length);
    if (err != U9_OK) return err;
    if (width == 0) width = fix ? 1 : u9i_narrowest(length);
    if (!u9i_holds(width, length)) return too_narrow(s, where, width, length);
    if (!fix) out[0] = (uint8_t)u9i_name_code(name, width);
    u9i_set_be(out + 1, width, length);
    *size = 1 + width;
    return U9_OK;
}

/* Settles the arrays around a leaf from the inside out, and writes them from the outside in. */
static u9_err write_levels(const u9i_scanner *s, array_level *levels, unsigned n, const uint8_t *leaf,
                           size_t leaf_size, uint8_t *out)
{
    uint64_t sizes[U9_DEPTH_MAX];
    u9i_typecode t;
    u9_err err = u9i_typecode_read(leaf, leaf_size, &t);
    if (err != U9_OK)
        return u9i_scanner_refuse(s, err, s->at, "N-6", "an element of more than 2^64 - 1 bytes");
    uint64_t z = t.stride;
    for (unsigned i = n; i-- > 0;) {
        array_level *l = &levels[i];
        if (z > 0 && l->count > UINT64_MAX / z)
            return u9i_scanner_refuse(s, U9_CORRUPT, l->where, "N-6",
                                      "an element of more than 2^64 - 1 bytes");
        sizes[i] = z *= l->count;
        if (l->width == 0) l->width = u9i_narrowest_container(false, z, l->count);
        if (!u9i_holds(l->width, z) || !u9i_holds(l->width, l->count))
            return too_narrow(s, l->where, l->width, z);
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned step = u9i_width_step(levels[i].width);
        u9i_set_head(out, 0x44, step, sizes[i], levels[i].count);
        out += 1 + (2u << step);
    }
    memcpy(out, leaf, leaf_size);
    return U9_OK;
}

u9_err u9i_scanner_typecode(u9i_scanner *s, uint8_t *out, u9i_typecode *t)
{
    array_level levels[U9_DEPTH_MAX];
    uint8_t leaf[9];
    size_t leaf_size = 0, begin = s->at;
    unsigned n = 0;
    u9_err err;
    for (;;) {
        u9i_scanner_blank(s);
        size_t where = s->at;
        unsigned width = 0;
        u9i_word word = u9i_scanner_word(s);
        const u9i_name *name = u9i_name_find(word, &width);
        if (!name || name->what != U9I_NAME_ARRAY) {
            err = scan_leaf(s, where, word, leaf, &leaf_size);
            break;
        }
        if (n == U9_DEPTH_MAX)
            return u9i_scanner_refuse(s, U9_LIMIT, where, "N-8", "arrays nested too deeply");
        levels[n] = (array_level){.width = width, .where = where};
        err = u9i_scanner_count(s, &levels[n++].count);
        if (err != U9_OK) break;
    }
    if (err == U9_OK) err = write_levels(s, levels, n, leaf, leaf_size, out);
    if (err != U9_OK) return err;
    err = u9i_typecode_read(out, SIZE_MAX, t);
    if (err == U9_OK) return U9_OK;
    return u9i_scanner_refuse(s, err, begin, "N-8",
                              "arrays nested too deeply, or too many empty elements");
}
