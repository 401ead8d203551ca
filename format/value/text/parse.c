/*
 * format/value/text/parse.c: reads the text notation. [N-1] to [N-8]
 *
 * One loop over the text with a stack of what is open. Bytes are written as they are read; how a
 * container begins is settled when it ends, and what is in it moves up then if the room kept for
 * that is too small. An index is an item of its own that does not count, and after it only an index
 * or a container may come.
 *
 * Atoms are atom.c's business, words scanner.c's. No recursion, no allocation but the
 * builder's growing.
 */
#include <u9/value_text.h>

#include "format/value/build.h"
#include "format/value/text/atom.h"

#define ANY UINT64_MAX

enum kind { TUPLE, ARRAY, INDEX, PACKED_TUPLE, PACKED_ARRAY };

/* What has been opened and not yet closed. */
typedef struct open {
    enum kind kind;
    uint8_t width;        /* the width that was named; 0: the narrowest */
    uint8_t head;         /* bytes kept for its header */
    size_t at;            /* where that begins in the builder */
    size_t where;         /* where it begins in the text */
    uint64_t count;       /* elements so far */
    uint64_t due;         /* elements that there must be, or ANY */
    uint64_t size;        /* PACKED_TUPLE: bytes that they must take */
    const u9i_name *name; /* INDEX: which of the two kinds */
    size_t typecodes;     /* ARRAY: where its typecode begins in the parser's room */
    u9i_typecode t;       /* ARRAY, PACKED_ARRAY: what the elements are */
} open;

typedef struct parser {
    u9i_text_reader in;  /* writes behind what `to` has, which counts only when all is well */
    u9_builder *to; /* the caller's */
    bool indexed;   /* an index was the last */
    unsigned depth;
    open open[U9_DEPTH_MAX];
    size_t typecodes; /* bytes in use of the room: the typecodes of arrays that are open */
    uint8_t room[U9_TYPECODE_MAX + (17 + 9) * U9_DEPTH_MAX];
} parser;

/* [N-8] */
static u9_err too_deep(const parser *p)
{
    return u9i_scanner_refuse_counts(&p->in.s, U9_LIMIT, p->in.where, "N-8",
                                     "containers nested more than # deep", U9_DEPTH_MAX, 0);
}

/* Opens something with `head` bytes kept in front; NULL and the refusal in *err. */
static open *push(parser *p, enum kind kind, unsigned width, unsigned head, u9_err *err)
{
    static const uint8_t nothing[17];
    *err = p->depth + p->to->depth < U9_DEPTH_MAX ? U9_OK : too_deep(p);
    size_t at = p->in.out.size;
    if (*err == U9_OK) *err = u9i_read_put(&p->in, nothing, head);
    if (*err != U9_OK) return NULL;
    open *o = &p->open[p->depth++];
    o->kind = kind;
    o->width = (uint8_t)width;
    o->head = (uint8_t)head;
    o->at = at;
    o->where = p->in.where;
    o->count = 0;
    o->due = ANY;
    return o;
}

static u9_err open_tuple(parser *p, unsigned width)
{
    u9_err err;
    p->in.s.at++;
    (void)!push(p, TUPLE, width, width > 0 ? 1 + 2 * width : 2, &err);
    return err;
}

/* [N-6] */
static u9_err open_array(parser *p, unsigned width)
{
    u9_err err;
    p->in.s.at++;
    open *o = push(p, ARRAY, width, width > 0 ? 1 + 2 * width : 3, &err);
    if (err != U9_OK) return err;
    o->typecodes = p->typecodes;
    uint8_t *typecode = p->room + p->typecodes;
    err = u9i_scanner_typecode(&p->in.s, typecode, &o->t);
    if (err == U9_OK) err = u9i_scanner_take(&p->in.s, ':', "N-6");
    if (err != U9_OK) return err;
    p->typecodes += o->t.length;
    if (p->depth + p->to->depth + o->t.depth > U9_DEPTH_MAX) return too_deep(p);
    return u9i_read_put(&p->in, typecode, o->t.length);
}

/* What stands in parentheses behind a name. [N-5] */
static u9_err named(parser *p, const u9i_name *name, unsigned width)
{
    uint64_t bits = 0;
    u9_err err;
    p->in.s.at++;
    u9i_scanner_blank(&p->in.s);
    if (name->what == U9I_NAME_WHOLE) {
        err = u9i_read_integer(&p->in, name->code >= 0x04, name->width, &bits);
        if (err == U9_OK) err = u9i_read_put_number(&p->in, name->code, name->width, bits);
    } else if (name->what == U9I_NAME_TAU) {
        err = u9i_read_integer(&p->in, false, width > 0 ? width : 8, &bits);
        if (width == 0) width = bits <= UINT16_MAX ? 2 : u9i_narrowest(bits);
        unsigned code = u9i_name_code(name, width);
        if (err == U9_OK) err = u9i_read_put_number(&p->in, code, width, bits);
    } else if (name->what == U9I_NAME_REAL) {
        err = u9i_read_real(&p->in, name->width, &bits);
        if (err == U9_OK) err = u9i_read_put_number(&p->in, name->code, name->width, bits);
    } else if (name->what == U9I_NAME_PIDFD) {
        err = u9i_read_put(&p->in, &name->code, 1);
        if (err == U9_OK) err = u9i_read_pidfd(&p->in);
    } else {
        err = u9i_read_blob(&p->in, name->what == U9I_NAME_BYTES, width);
    }
    if (err == U9_OK) err = u9i_scanner_take(&p->in.s, ')', "N-5");
    return err == U9_OK ? u9i_scanner_delimiter(&p->in.s) : err;
}

/* A value that begins with a letter. */
static u9_err word(parser *p)
{
    size_t at = p->in.s.at;
    unsigned width = 0;
    u9i_word w = u9i_scanner_word(&p->in.s);
    bool bytes = u9i_word_is(w, "x"), real_word = u9i_word_is(w, "inf") || u9i_word_is(w, "nan");
    const u9i_name *name = u9i_name_find(w, &width);
    if (bytes || real_word) p->in.s.at = at;
    if (bytes) return u9i_read_blob(&p->in, true, 0);
    if (real_word) return u9i_read_number(&p->in);
    if (!name || name->what == U9I_NAME_SYMBOL) {
        p->in.s.at = at;
        return u9i_scanner_expected(&p->in.s, "N-2", "a value");
    }
    if (name->what == U9I_NAME_ALONE) {
        u9_err err = u9i_scanner_delimiter(&p->in.s);
        return err == U9_OK ? u9i_read_put(&p->in, &name->code, 1) : err;
    }
    bool array = name->what == U9I_NAME_ARRAY;
    if (u9i_scanner_peek(&p->in.s) != (array ? '[' : '('))
        return u9i_scanner_expected(&p->in.s, "N-5",
                                    array ? "'[' right behind the name" : "'(' right behind the name");
    if (array) return open_array(p, width);
    if (name->what == U9I_NAME_TUPLE) return open_tuple(p, width);
    if (name->what != U9I_NAME_INDEX) return named(p, name, width);
    u9_err err;
    p->in.s.at++;
    open *o = push(p, INDEX, width, 1 + (width > 0 ? width : name->width), &err);
    if (err != U9_OK) return err;
    o->due = 3; /* ks ka ia */
    o->name = name;
    return U9_OK;
}

/* Any value that has a bytecode of its own. */
static u9_err value(parser *p)
{
    static const uint8_t symbol_code = 0x0a;
    int c = u9i_scanner_peek(&p->in.s);
    bool container = c == '(' || c == '[';
    if (p->indexed && !container) {
        u9i_scanner ahead = p->in.s;
        unsigned width = 0;
        const u9i_name *name = u9i_name_find(u9i_scanner_word(&ahead), &width);
        if (!name || name->what < U9I_NAME_TUPLE)
            return u9i_scanner_expected(&p->in.s, "N-7", "the tuple or array that the index is of");
    }
    p->indexed = false;
    if (c == '(') return open_tuple(p, 0);
    if (c == '[') return open_array(p, 0);
    if (c == '"') return u9i_read_blob(&p->in, false, 0);
    if (c == '-' || (c >= '0' && c <= '9')) return u9i_read_number(&p->in);
    if (c != '\'') return word(p);
    u9_err err = u9i_read_put(&p->in, &symbol_code, 1);
    return err == U9_OK ? u9i_read_symbol(&p->in) : err;
}

/* An array's element that is a tuple or an array itself. */
static u9_err open_packed(parser *p, const u9i_typecode *t)
{
    bool tuple = t->type == U9_TUPLE;
    u9_err err;
    if (u9i_scanner_peek(&p->in.s) != (tuple ? '(' : '['))
        return u9i_scanner_expected(&p->in.s, "N-6", tuple ? "'(' of a tuple" : "'[' of an array");
    p->in.s.at++;
    open *o = push(p, tuple ? PACKED_TUPLE : PACKED_ARRAY, t->width, tuple ? t->width : 0, &err);
    if (err != U9_OK) return err;
    if (t->width == 0) o->due = t->count;
    o->size = t->stride - (tuple ? t->width : 0);
    return tuple ? U9_OK : u9i_typecode_read(t->inner, SIZE_MAX, &o->t);
}

/* What has no bytecode, because the typecode is one for all. [N-6] */
static u9_err element(parser *p, const u9i_typecode *t)
{
    u9i_quoted quoted;
    uint64_t bits;
    u9_err err;
    unsigned width = t->width;
    switch (t->type) {
    case U9_FLOAT32:
    case U9_FLOAT64:
        err = u9i_read_real(&p->in, width, &bits);
        return err == U9_OK ? u9i_read_put_element(&p->in, width, bits) : err;
    case U9_SYMBOL:
        if (u9i_scanner_peek(&p->in.s) != '\'') return u9i_scanner_expected(&p->in.s, "N-6", "a symbol");
        return u9i_read_symbol(&p->in);
    case U9_PIDFD: {
        u9i_scanner ahead = p->in.s;
        if (!u9i_word_is(u9i_scanner_word(&ahead), "pidfd") || u9i_scanner_peek(&ahead) != '(')
            return u9i_scanner_expected(&p->in.s, "N-6", "pidfd(pid fd)");
        p->in.s.at = ahead.at + 1;
        u9i_scanner_blank(&p->in.s);
        err = u9i_read_pidfd(&p->in);
        return err == U9_OK ? u9i_scanner_take(&p->in.s, ')', "N-6") : err;
    }
    case U9_UTF8:
    case U9_BYTES:
        err = u9i_read_quoted(&p->in, t->type == U9_BYTES, &quoted);
        if (err != U9_OK) return err;
        if (quoted.size == t->stride) return u9i_read_put_quoted(&p->in, &quoted);
        return u9i_scanner_refuse_counts(&p->in.s, U9_CORRUPT, p->in.where, "N-6",
                                         "# bytes, where the typecode says #", quoted.size, t->stride);
    case U9_TUPLE:
    case U9_ARRAY: return open_packed(p, t);
    default: /* uint, int, tau */
        err = u9i_read_integer(&p->in, t->type == U9_INT, width, &bits);
        return err == U9_OK ? u9i_read_put_element(&p->in, width, bits) : err;
    }
}

static u9_err wrong(const parser *p, const open *o, const char *rule, const char *text)
{
    return u9i_scanner_refuse(&p->in.s, U9_CORRUPT, o->where, rule, text);
}

/* Puts the header in front of what has been read: bytecode, length, `counted` the number of
 * elements. */
static u9_err put_header(parser *p, const open *o, unsigned code, unsigned width, bool counted)
{
    static const uint8_t nothing[17];
    size_t body = p->in.out.size - o->at - o->head, head = 1 + width + (counted ? width : 0);
    u9_err err = u9i_read_put(&p->in, nothing, head - o->head);
    if (err != U9_OK) return err;
    uint8_t *header = p->in.out.bytes + o->at;
    if (head > o->head) memmove(header + head, header + o->head, body);
    header[0] = (uint8_t)code;
    u9i_set_be(header + 1, width, body);
    if (counted) u9i_set_be(header + 1 + width, width, o->count);
    return U9_OK;
}

/* True if the bytes are a symbol and two arrays, of keys and of as many offsets. [X-1] */
static bool is_index(const uint8_t *bytes, size_t size)
{
    u9_walk walk = u9_walk_bytes(bytes, size);
    u9_value part[3];
    for (int i = 0; i < 3; i++)
        if (u9_walk_next(&walk, &part[i]) != U9_OK ||
            part[i].type != (i == 0 ? U9_SYMBOL : U9_ARRAY) || part[i].code > 0x47)
            return false;
    uint8_t offsets = part[2].typecode[0]; /* int16, int32, int64 */
    return part[1].count == part[2].count && offsets >= 0x05 && offsets <= 0x07;
}

/* [N-7] */
static u9_err close_index(parser *p, const open *o)
{
    size_t body = p->in.out.size - o->at - o->head;
    unsigned width = o->width > 0 ? o->width : u9i_narrowest_index(o->name->width == 2, body);
    if (!is_index(p->in.out.bytes + o->at + o->head, body))
        return wrong(p, o, "N-7",
                     "an index is a symbol, an array of keys and one of as many offsets, int16, "
                     "int32 or int64");
    if (!u9i_holds(width, body)) return wrong(p, o, "N-5", "the length does not hold the index");
    p->indexed = true;
    return put_header(p, o, u9i_name_code(o->name, width), width, false);
}

static u9_err close_container(parser *p, const open *o)
{
    size_t body = p->in.out.size - o->at - o->head;
    bool tuple = o->kind == TUPLE;
    unsigned width = o->width > 0 ? o->width : u9i_narrowest_container(tuple, body, o->count);
    if (!tuple && o->t.stride == 0 && o->count > U9_EMPTY_MAX / o->t.empties)
        return u9i_scanner_refuse_counts(&p->in.s, U9_LIMIT, o->where, "N-8",
                                         "more than # empty elements", U9_EMPTY_MAX, 0);
    if (!tuple) p->typecodes = o->typecodes;
    if (width == 0) return put_header(p, o, 0x48 + (unsigned)o->count, 1, false);
    if (!u9i_holds(width, body) || !u9i_holds(width, o->count))
        return wrong(p, o, "N-5", "length and count do not hold what is in it");
    return put_header(p, o, (tuple ? 0x40 : 0x44) + u9i_width_step(width), width, true);
}

/* Passes the bracket that closes the innermost of what is open. */
static u9_err close_bracket(parser *p)
{
    const open *o = &p->open[p->depth - 1];
    size_t body = p->in.out.size - o->at - o->head;
    p->in.where = p->in.s.at;
    if (o->due != ANY && o->count < o->due)
        return u9i_scanner_refuse_counts(&p->in.s, U9_CORRUPT, p->in.s.at, "N-6",
                                         "# elements, where # are due", o->count, o->due);
    p->in.s.at++;
    u9_err err = u9i_scanner_delimiter(&p->in.s);
    if (err != U9_OK) return err;
    p->depth--;
    if (o->kind == INDEX) return close_index(p, o);
    if (o->kind == TUPLE || o->kind == ARRAY) return close_container(p, o);
    if (o->kind == PACKED_ARRAY) return U9_OK;
    if (body != o->size)
        return u9i_scanner_refuse_counts(&p->in.s, U9_CORRUPT, o->where, "N-6",
                                         "a tuple of # bytes, where the typecode says #", body,
                                         o->size);
    u9i_set_be(p->in.out.bytes + o->at, o->head, o->count);
    return U9_OK;
}

/* One step: a bracket that closes, or the next value. */
static u9_err parse_step(parser *p)
{
    open *o = p->depth > 0 ? &p->open[p->depth - 1] : NULL;
    bool array = o && (o->kind == ARRAY || o->kind == PACKED_ARRAY);
    u9i_scanner_blank(&p->in.s);
    int c = u9i_scanner_peek(&p->in.s);
    p->in.where = p->in.s.at;
    if (o && !p->indexed) {
        if (c == (array ? ']' : ')')) return close_bracket(p);
        if (c == U9I_SCANNER_END)
            return u9i_scanner_expected(&p->in.s, "N-1", array ? "a value or ']'" : "a value or ')'");
        if (o->count++ == o->due)
            return u9i_scanner_refuse_counts(&p->in.s, U9_CORRUPT, p->in.where, "N-6",
                                             "more than # elements", o->due, 0);
    }
    return array ? element(p, &o->t) : value(p);
}

/* Makes room in the caller's builder for what is read. */
static u9_err grow(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    u9_builder *to = ((parser *)ctx)->to;
    if (need > SIZE_MAX - to->size) return U9_LIMIT;
    u9_err err = to->grow(to->grow_ctx, &to->bytes, &to->cap, to->size + need);
    if (err != U9_OK) return err;
    to->edge = to->cap; /* no array is open in it */
    *bytes = to->bytes + to->size;
    *cap = to->cap - to->size;
    return U9_OK;
}

/* Reads one value to p->in.out. */
static u9_err read_value(parser *p, bool alone)
{
    u9_err err;
    if (u9i_in_array(p->to))
        return u9i_scanner_refuse(&p->in.s, U9_STATE, p->in.s.at, "", "an array is being built");
    do err = parse_step(p);
    while (err == U9_OK && (p->depth > 0 || p->indexed));
    if (err != U9_OK || !alone) return err;
    u9i_scanner_blank(&p->in.s);
    if (u9i_scanner_peek(&p->in.s) == U9I_SCANNER_END) return U9_OK;
    return u9i_scanner_refuse(&p->in.s, U9_CORRUPT, p->in.s.at, "N-1", "more than one value");
}

u9_err u9_value_parse(const char *text, size_t size, size_t *used, u9_builder *b, u9_fault *fault)
{
    parser p;
    size_t room = b->size < b->cap ? b->cap - b->size : 0;
    p.in.s = (u9i_scanner){.text = text, .size = size, .fault = fault};
    p.to = b;
    u9_builder_init(&p.in.out, room > 0 ? b->bytes + b->size : NULL, room);
    if (b->grow && b->size <= b->cap) {
        p.in.out.grow = grow;
        p.in.out.grow_ctx = &p;
    }
    p.indexed = false;
    p.depth = 0;
    p.typecodes = 0;
    u9i_scanner_blank(&p.in.s);
    p.in.where = p.in.s.at;
    if (u9i_scanner_peek(&p.in.s) == U9I_SCANNER_END) return U9_END;
    u9_err err = read_value(&p, used == NULL);
    if (err == U9_OK) err = u9i_build_take(b, 0, p.in.out.size); /* the bytes are there already */
    if (err == U9_OK && used) *used = p.in.s.at;
    return err;
}

u9_err u9_typecode_parse(const char *text, size_t size, uint8_t typecode[U9_TYPECODE_MAX],
                         size_t *typecode_size, u9_fault *fault)
{
    u9i_scanner s = {.text = text, .size = size, .fault = fault};
    uint8_t bytes[U9_TYPECODE_MAX];
    u9i_typecode t;
    u9_err err = u9i_scanner_typecode(&s, bytes, &t);
    if (err != U9_OK) return err;
    u9i_scanner_blank(&s);
    if (u9i_scanner_peek(&s) != U9I_SCANNER_END)
        return u9i_scanner_refuse(&s, U9_CORRUPT, s.at, "N-6", "more than a typecode");
    memcpy(typecode, bytes, t.length);
    *typecode_size = t.length;
    return U9_OK;
}
