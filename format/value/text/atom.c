/*
 * format/value/text/atom.c: see atom.h. [N-2] to [N-5]
 */
#include "format/value/text/atom.h"

#include "format/value/text/float_text.h"

/* Adds bytes to what is built. */
u9_err u9i_read_put(u9i_text_reader *in, const void *bytes, size_t size)
{
    u9_err err = size > 0 ? u9_build_raw(&in->out, bytes, size) : U9_OK;
    if (err == U9_OK) return U9_OK;
    return u9i_scanner_refuse(&in->s, err, in->where, "", "no room for the bytes of this value");
}

/* A bytecode and a number. */
u9_err u9i_read_put_number(u9i_text_reader *in, unsigned code, unsigned width, uint64_t number)
{
    uint8_t bytes[9];
    bytes[0] = (uint8_t)code;
    u9i_set_be(bytes + 1, width, number);
    return u9i_read_put(in, bytes, 1 + width);
}

/* The same without the bytecode: an array's element. */
u9_err u9i_read_put_element(u9i_text_reader *in, unsigned width, uint64_t number)
{
    uint8_t bytes[8];
    u9i_set_be(bytes, width, number);
    return u9i_read_put(in, bytes, width);
}

/* A number that is too large: where the text ends more of it, such as `e-9`, might mend it. */
static u9_err cut_or_wrong(const u9i_text_reader *in)
{
    return in->s.at == in->s.size ? U9_TORN : U9_CORRUPT;
}

/* Reads a whole number that an integer of this type and width holds; its bits. [N-2] */
u9_err u9i_read_integer(u9i_text_reader *in, bool is_signed, unsigned width, uint64_t *bits)
{
    size_t at = in->s.at;
    u9i_word word = u9i_scanner_word(&in->s);
    bool negative = false, too_large;
    uint64_t v = 0, most = UINT64_MAX >> (64 - 8 * width + is_signed);
    bool whole = u9i_word_integer(word, &negative, &v, &too_large);
    if (!whole && !too_large) {
        in->s.at = at;
        return u9i_scanner_expected(&in->s, "N-2", "a whole number");
    }
    if (too_large || (negative ? v > (is_signed ? most + 1 : 0) : v > most))
        return u9i_scanner_refuse_counts(&in->s, cut_or_wrong(in), at, "N-5",
                                         is_signed ? "$ does not fit in int#"
                                                   : "$ does not fit in uint#",
                                         8 * width, 0);
    *bits = negative ? 0 - v : v;
    return u9i_scanner_delimiter(&in->s);
}

/* nan(x"..."), of which the name has been passed. */
static u9_err nan_payload(u9i_text_reader *in, unsigned width, uint64_t *bits)
{
    uint8_t bytes[U9I_PIECE];
    u9i_quoted quoted;
    size_t at = ++in->s.at;
    bool hex = u9i_word_is(u9i_scanner_word(&in->s), "x");
    if (!hex) in->s.at = at;
    if (!hex || u9i_scanner_peek(&in->s) != '"') return u9i_scanner_expected(&in->s, "N-4", "x\"...\"");
    u9_err err = u9i_scanner_quoted(&in->s, true, &quoted);
    if (err != U9_OK) return err;
    uint64_t least = width == 4 ? 0x7f800000 : UINT64_C(0x7ff) << 52;
    *bits =
        quoted.size == width && u9i_unquote(&quoted, bytes) == width ? u9i_get_be(bytes, width) : 0;
    if ((*bits & ~(UINT64_C(1) << (8 * width - 1))) <= least)
        return u9i_scanner_refuse_counts(&in->s, U9_CORRUPT, at, "N-4", "not the # bytes of a NaN",
                                         width, 0);
    return u9i_scanner_take(&in->s, ')', "N-4");
}

/* Reads a float of `width` bytes; its bits. [N-4] */
u9_err u9i_read_real(u9i_text_reader *in, unsigned width, uint64_t *bits)
{
    uint64_t infinity = width == 4 ? 0x7f800000 : UINT64_C(0x7ff) << 52;
    size_t at = in->s.at;
    u9i_word word = u9i_scanner_word(&in->s);
    if (u9i_word_is(word, "inf")) {
        *bits = infinity;
    } else if (u9i_word_is(word, "-inf")) {
        *bits = infinity | UINT64_C(1) << (8 * width - 1);
    } else if (u9i_word_is(word, "nan")) {
        *bits = infinity | infinity >> 1;
        u9_err err = u9i_scanner_peek(&in->s) == '(' ? nan_payload(in, width, bits) : U9_OK;
        if (err != U9_OK) return err;
    } else if (!u9i_word_real(word)) {
        in->s.at = at;
        return u9i_scanner_expected(&in->s, "N-4", "a number, inf, -inf or nan");
    } else if (!u9i_float_parse(word.text, word.size, width, bits)) {
        return u9i_scanner_refuse_counts(&in->s, cut_or_wrong(in), at, "N-4",
                                         "larger than any float# but inf", 8 * width, 0);
    }
    return u9i_scanner_delimiter(&in->s);
}

/* A number without a name: with a `.` or an `e` it is a float64. [N-2] [N-4] */
u9_err u9i_read_number(u9i_text_reader *in)
{
    u9i_scanner ahead = in->s;
    u9i_word word = u9i_scanner_word(&ahead);
    bool whole = true, negative = word.size > 0 && word.text[0] == '-';
    for (size_t i = negative; i < word.size; i++)
        whole = whole && word.text[i] >= '0' && word.text[i] <= '9';
    uint64_t bits;
    u9_err err = whole ? u9i_read_integer(in, negative, 8, &bits) : u9i_read_real(in, 8, &bits);
    if (err != U9_OK) return err;
    if (!whole) return u9i_read_put_number(in, 0x09, 8, bits);
    if (negative && bits > 0) {
        unsigned width = u9i_narrowest(~bits << 1);
        return u9i_read_put_number(in, 0x04 + u9i_width_step(width), width, bits);
    }
    if (bits <= 127) return u9i_read_put_number(in, 0x80 + (unsigned)bits, 0, 0);
    return u9i_read_put_number(in, u9i_step_of(bits), u9i_narrowest(bits), bits);
}

u9_err u9i_read_put_quoted(u9i_text_reader *in, u9i_quoted *quoted)
{
    uint8_t piece[U9I_PIECE];
    u9_err err = U9_OK;
    for (size_t n; err == U9_OK && (n = u9i_unquote(quoted, piece)) > 0;)
        err = u9i_read_put(in, piece, n);
    return err;
}

/* Quoted text, or x and hex digits. */
u9_err u9i_read_quoted(u9i_text_reader *in, bool bytes, u9i_quoted *quoted)
{
    size_t at = in->s.at;
    if (bytes && !u9i_word_is(u9i_scanner_word(&in->s), "x")) in->s.at = at;
    if (u9i_scanner_peek(&in->s) != '"' || (bytes && in->s.at == at)) {
        in->s.at = at;
        return u9i_scanner_expected(&in->s, "N-3", bytes ? "x\"...\"" : "'\"'");
    }
    return u9i_scanner_quoted(&in->s, bytes, quoted);
}

/* utf8 or bytes, in the form that is named, or (width 0) in the shortest. [N-3] */
u9_err u9i_read_blob(u9i_text_reader *in, bool bytes, unsigned width)
{
    u9i_quoted quoted;
    u9_err err = u9i_read_quoted(in, bytes, &quoted);
    if (err != U9_OK) return err;
    size_t size = quoted.size;
    if (width == 0 && size <= 15) {
        err = u9i_read_put_number(in, (bytes ? 0x30 : 0x20) + (unsigned)size, 0, 0);
    } else {
        if (width == 0) width = u9i_narrowest(size);
        if (!u9i_holds(width, size))
            return u9i_scanner_refuse_counts(&in->s, U9_CORRUPT, in->where, "N-5",
                                             "# bytes are more than a length of # bits says", size,
                                             8 * width);
        err = u9i_read_put_number(in, (bytes ? 0x1c : 0x18) + u9i_width_step(width), width, size);
    }
    return err == U9_OK ? u9i_read_put_quoted(in, &quoted) : err;
}

/* The 8 bytes of a symbol. [N-3] */
u9_err u9i_read_symbol(u9i_text_reader *in)
{
    uint8_t bytes[U9I_PIECE] = {0};
    size_t at = ++in->s.at, size = 0;
    if (u9i_scanner_peek(&in->s) == '"') {
        u9i_quoted quoted;
        u9_err err = u9i_scanner_quoted(&in->s, false, &quoted);
        if (err != U9_OK) return err;
        size = quoted.size;
        if (size <= 8) (void)u9i_unquote(&quoted, bytes);
    } else {
        for (int c; (c = u9i_scanner_peek(&in->s)) >= 0 && u9i_symbol_plain((unsigned char)c);
             in->s.at++)
            if (size++ < 8) bytes[size - 1] = (uint8_t)c;
        if (size == 0)
            return u9i_scanner_expected(&in->s, "N-3", "a symbol's name, or a name in quotes");
    }
    if (size > 8)
        return u9i_scanner_refuse(&in->s, U9_CORRUPT, at, "N-3", "a symbol of more than 8 bytes");
    u9_err err = u9i_scanner_delimiter(&in->s);
    return err == U9_OK ? u9i_read_put(in, bytes, 8) : err;
}

/* (pid fd), behind the name. */
u9_err u9i_read_pidfd(u9i_text_reader *in)
{
    uint64_t pid, fd;
    u9_err err = u9i_read_integer(in, false, 4, &pid);
    if (err != U9_OK) return err;
    u9i_scanner_blank(&in->s);
    err = u9i_read_integer(in, false, 4, &fd);
    return err == U9_OK ? u9i_read_put_element(in, 8, pid << 32 | fd) : err;
}
