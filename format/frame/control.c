/*
 * format/frame/control.c: encoders and decoders of the control records. Each pair reads like its table in
 * SPEC.md. [C-1] to [C-10]
 */
#include "format/frame/control.h"

#include "format/frame/filter.h"

#include <u9/value.h>

enum { CODE_U8 = 0x00, CODE_U32 = 0x02, CODE_U64 = 0x03, CODE_I64 = 0x07, CODE_SYMBOL = 0x0a };
enum { CODE_TEXT16 = 0x19, CODE_BYTES8 = 0x1c, CODE_BYTES32 = 0x1e, CODE_NONE = 0x30 };
enum { CODE_ARRAY32 = 0x46 };

static const char names[][8] = {
    [U9I_BODY_OPEN] = "u9open", [U9I_BODY_END] = "u9end",   [U9I_BODY_TRIM] = "u9trim",
    [U9I_BODY_PART] = "u9part", [U9I_BODY_PAGE] = "u9page",  [U9I_BODY_MARK] = "u9mark",
    [U9I_BODY_BITS] = "u9bits",
};

u9i_body_kind u9i_control_kind(const uint8_t name[8])
{
    for (u9i_body_kind k = U9I_BODY_OPEN; k <= U9I_BODY_BITS; k++)
        if (memcmp(name, names[k], 8) == 0) return k;
    return U9I_BODY_OTHER;
}

static void put_code(u9i_out *out, unsigned code)
{
    u9i_out_uint(out, 1, code);
}

static void put_u64(u9i_out *out, uint64_t v)
{
    put_code(out, CODE_U64);
    u9i_out_uint(out, 8, v);
}

static void put_symbol(u9i_out *out, const void *name)
{
    put_code(out, CODE_SYMBOL);
    u9i_out_copy(out, name, 8);
}

static void put_bytes16(u9i_out *out, const uint8_t bytes[16])
{
    put_code(out, CODE_BYTES8);
    put_code(out, 16);
    u9i_out_copy(out, bytes, 16);
}

static void put_text(u9i_out *out, u9i_span text)
{
    put_code(out, CODE_TEXT16);
    u9i_out_uint(out, 2, text.size);
    u9i_out_copy(out, text.data, text.size);
}

/* Opens a tuple whose length and count have `width` bytes; returns where it begins. [C-1] */
static size_t open_control(u9i_out *out, unsigned width, u9i_body_kind kind)
{
    size_t at = out->size;
    put_code(out, width == 2 ? 0x41 : 0x42);
    u9i_out_uint(out, width, 0);
    u9i_out_uint(out, width, 0);
    put_symbol(out, names[kind]);
    return at;
}

static void close_control(u9i_out *out, size_t at, unsigned width, unsigned count)
{
    if (out->failed) return;
    u9i_set_be(out->bytes + at + 1, width, out->size - at - 1 - 2 * width);
    u9i_set_be(out->bytes + at + 1 + width, width, count);
}

void u9i_open_record_encode(u9i_out *out, const u9i_open_record *r)
{
    size_t at = open_control(out, 2, U9I_BODY_OPEN); /* [C-3] */
    put_bytes16(out, r->log);
    put_bytes16(out, r->session);
    put_u64(out, r->segment);
    put_u64(out, r->time_us);
    put_u64(out, r->medallion);
    put_u64(out, r->before_segment);
    put_bytes16(out, r->before_boundary);
    put_bytes16(out, r->before_secret);
    put_u64(out, r->end.offset);
    put_u64(out, r->end.ordinal);
    put_bytes16(out, r->end.chain);
    put_code(out, CODE_U8);
    put_code(out, (unsigned)r->tail);
    put_text(out, r->kind);
    if (r->accepted) put_u64(out, r->accepted);
    close_control(out, at, 2, r->accepted ? 15 : 14);
}

void u9i_end_record_encode(u9i_out *out, const u9i_end_record *r)
{
    size_t at = open_control(out, 2, U9I_BODY_END); /* [C-4] */
    put_code(out, CODE_U8);
    put_code(out, (unsigned)r->kind);
    put_u64(out, r->segment);
    put_u64(out, r->frames);
    put_u64(out, r->records);
    put_u64(out, r->bytes);
    put_u64(out, r->data_end);
    put_u64(out, r->root);
    put_bytes16(out, r->secret);
    put_text(out, r->key_kind);
    u9i_out_copy(out, r->first_key.data, r->first_key.size);
    u9i_out_copy(out, r->last_key.data, r->last_key.size);
    close_control(out, at, 2, 12);
}

void u9i_trim_record_encode(u9i_out *out, const u9i_trim_record *r)
{
    size_t at = open_control(out, 2, U9I_BODY_TRIM); /* [C-5] */
    put_u64(out, r->segment);
    put_u64(out, r->ordinal);
    close_control(out, at, 2, 3);
}

void u9i_part_record_encode(u9i_out *out, const u9i_part_record *r)
{
    size_t at = open_control(out, 4, U9I_BODY_PART); /* [C-6] */
    put_code(out, CODE_U32);
    u9i_out_uint(out, 4, r->number);
    put_u64(out, r->total);
    put_u64(out, r->before);
    put_code(out, CODE_BYTES32);
    u9i_out_uint(out, 4, r->bytes.size);
    u9i_out_copy(out, r->bytes.data, r->bytes.size);
    close_control(out, at, 4, 5);
}

static void put_array(u9i_out *out, const uint8_t *type, size_t type_size, uint32_t count,
                      const uint8_t *elements, size_t size)
{
    put_code(out, CODE_ARRAY32);
    u9i_out_uint(out, 4, type_size + size);
    u9i_out_uint(out, 4, count);
    u9i_out_copy(out, type, type_size);
    u9i_out_copy(out, elements, size);
}

static const uint8_t type_key16[2] = {CODE_BYTES8, 16};
static const uint8_t type_key8[1] = {CODE_U64};
static const uint8_t type_at[1] = {CODE_I64};

enum { ROOT_ELEMENTS = 9, LOST_ELEMENTS = 2 };

static void put_root(u9i_out *out, const struct u9i_root_record *r)
{
    put_code(out, CODE_U8); /* [C-9] */
    put_code(out, (unsigned)r->form);
    put_u64(out, r->entries);
    put_u64(out, r->records);
    put_u64(out, r->end.offset);
    put_u64(out, r->end.ordinal);
    put_bytes16(out, r->end.chain);
    put_u64(out, r->other);
    put_array(out, type_at, 1, r->slice_count, r->slices, (size_t)r->slice_count * 8);
    put_code(out, CODE_BYTES32);
    u9i_out_uint(out, 4, r->last.size);
    u9i_out_copy(out, r->last.data, r->last.size);
    if (r->lost_count == 0) return;
    put_array(out, type_at, 1, r->lost_count, r->lost, (size_t)r->lost_count * 8);
    put_bytes16(out, r->content);
}

/* Elements that a root has beside those of a page. */
static unsigned root_elements(const struct u9i_root_record *r)
{
    return ROOT_ELEMENTS + (r->lost_count > 0 ? LOST_ELEMENTS : 0u);
}

void u9i_page_record_encode(u9i_out *out, const u9i_page_record *r)
{
    size_t at = open_control(out, 4, U9I_BODY_PAGE); /* [C-7] */
    put_symbol(out, r->keyspec);
    size_t n = r->count;
    if (r->key_size == 16) put_array(out, type_key16, 2, r->count, r->keys, n * 16);
    else put_array(out, type_key8, 1, r->count, r->keys, n * 8);
    put_array(out, type_at, 1, r->count, r->at, n * 8);
    if (r->has_seed) put_u64(out, r->seed);
    if (r->has_root) put_root(out, &r->root);
    close_control(out, at, 4, 4u + r->has_seed + (r->has_root ? root_elements(&r->root) : 0u));
}

void u9i_bits_record_encode(u9i_out *out, u9i_span bits)
{
    size_t at = open_control(out, 4, U9I_BODY_BITS); /* [C-10] */
    put_code(out, CODE_BYTES32);
    u9i_out_uint(out, 4, bits.size);
    u9i_out_copy(out, bits.data, bits.size);
    close_control(out, at, 4, 2);
}

void u9i_mark_record_encode(u9i_out *out, const u9i_mark_record *r)
{
    size_t at = open_control(out, 2, U9I_BODY_MARK); /* [C-8] */
    put_bytes16(out, r->log);
    put_u64(out, r->first_ordinal);
    put_u64(out, r->segment);
    put_bytes16(out, r->boundary);
    put_bytes16(out, r->secret);
    put_u64(out, r->end.offset);
    put_u64(out, r->end.ordinal);
    put_bytes16(out, r->end.chain);
    put_u64(out, r->time_us);
    close_control(out, at, 2, 10);
}

static void take_code(u9i_in *in, unsigned code)
{
    if (u9i_in_uint(in, 1) != code) in->failed = true;
}

static uint64_t take_u64(u9i_in *in)
{
    take_code(in, CODE_U64);
    return u9i_in_uint(in, 8);
}

static void take_bytes16(u9i_in *in, uint8_t out[16])
{
    take_code(in, CODE_BYTES8);
    take_code(in, 16);
    const uint8_t *p = u9i_in_span(in, 16);
    if (p) memcpy(out, p, 16);
}

static u9i_span take_span(u9i_in *in, uint64_t size)
{
    const uint8_t *p = u9i_in_span(in, size);
    return (u9i_span){.data = p, .size = p ? (size_t)size : 0};
}

static u9i_span take_text(u9i_in *in, size_t max)
{
    take_code(in, CODE_TEXT16);
    u9i_span s = take_span(in, u9i_in_uint(in, 2));
    if (s.size > max) in->failed = true;
    return s;
}

/* A key as the value that stands there: `30`, or one of the forms of [L-6]. */
static u9i_span take_key(u9i_in *in)
{
    u9_value v;
    if (in->failed || u9_value_decode(in->next, in->left, &v) != U9_OK ||
        (v.type != U9_BYTES && v.type != U9_UTF8 && v.code != CODE_U64) || v.size > U9I_KEY_MAX ||
        (v.size == 0 && v.code != CODE_U64 && v.code != CODE_NONE)) {
        in->failed = true;
        return (u9i_span){0};
    }
    return take_span(in, v.encoded);
}

/*
 * The elements of the control record `kind`, its name taken; at least `count` elements, `*more` is
 * how many are claimed beyond them.
 */
static u9i_in take_tuple(const uint8_t *body, size_t size, unsigned width, u9i_body_kind kind,
                         unsigned count, uint64_t *more)
{
    u9i_in in = u9i_in_init(body, size);
    take_code(&in, width == 2 ? 0x41 : 0x42);
    uint64_t length = u9i_in_uint(&in, width);
    uint64_t claimed = u9i_in_uint(&in, width);
    if (length != in.left || claimed < count) in.failed = true; /* [C-2] */
    take_code(&in, CODE_SYMBOL);
    const uint8_t *name = u9i_in_span(&in, 8);
    if (name && memcmp(name, names[kind], 8) != 0) in.failed = true;
    *more = claimed - count;
    return in;
}

/* What a later version added: as many values as are claimed, and not a byte else. [C-2] */
static void leave_tuple(u9i_in *in, uint64_t more)
{
    u9_walk walk = u9_walk_bytes(in->next, in->left);
    u9_value v;
    for (; !in->failed && more > 0; more--)
        if (u9_walk_next(&walk, &v) != U9_OK) in->failed = true;
    if (walk.left > 0) in->failed = true;
}

static u9_err done(const u9i_in *in)
{
    return in->failed ? U9_CORRUPT : U9_OK;
}

u9_err u9i_open_record_decode(const uint8_t *body, size_t size, u9i_open_record *out)
{
    u9i_open_record r;
    uint64_t more;
    u9i_in in = take_tuple(body, size, 2, U9I_BODY_OPEN, 14, &more); /* [C-3] */
    take_bytes16(&in, r.log);
    take_bytes16(&in, r.session);
    r.segment = take_u64(&in);
    r.time_us = take_u64(&in);
    r.medallion = take_u64(&in);
    r.before_segment = take_u64(&in);
    take_bytes16(&in, r.before_boundary);
    take_bytes16(&in, r.before_secret);
    r.end.offset = take_u64(&in);
    r.end.ordinal = take_u64(&in);
    take_bytes16(&in, r.end.chain);
    take_code(&in, CODE_U8);
    uint64_t tail = u9i_in_uint(&in, 1);
    r.kind = take_text(&in, U9I_KIND_MAX);
    bool accepts = !in.failed && more > 0 && in.left > 8 && in.next[0] == CODE_U64;
    r.accepted = accepts ? take_u64(&in) : 0;
    leave_tuple(&in, more - accepts);
    if (tail > U9I_TAIL_CORRUPT || r.segment == 0 || r.before_segment > r.segment) in.failed = true;
    if (r.before_segment != 0 && r.end.offset < U9I_DISK_HEADER_SIZE) in.failed = true;
    if (!in.failed) {
        r.tail = (u9i_tail)tail;
        *out = r;
    }
    return done(&in);
}

u9_err u9i_end_record_decode(const uint8_t *body, size_t size, u9i_end_record *out)
{
    u9i_end_record r;
    uint64_t more;
    u9i_in in = take_tuple(body, size, 2, U9I_BODY_END, 12, &more); /* [C-4] */
    take_code(&in, CODE_U8);
    uint64_t kind = u9i_in_uint(&in, 1);
    r.segment = take_u64(&in);
    r.frames = take_u64(&in);
    r.records = take_u64(&in);
    r.bytes = take_u64(&in);
    r.data_end = take_u64(&in);
    r.root = take_u64(&in);
    take_bytes16(&in, r.secret);
    r.key_kind = take_text(&in, U9I_KIND_MAX);
    r.first_key = take_key(&in);
    r.last_key = take_key(&in);
    leave_tuple(&in, more);
    if (kind != U9I_END_CLOSING && kind != U9I_END_SEALING) in.failed = true;
    if (!in.failed) {
        r.kind = (u9i_end_kind)kind;
        *out = r;
    }
    return done(&in);
}

u9_err u9i_trim_record_decode(const uint8_t *body, size_t size, u9i_trim_record *out)
{
    uint64_t more;
    u9i_in in = take_tuple(body, size, 2, U9I_BODY_TRIM, 3, &more); /* [C-5] */
    u9i_trim_record r = {.segment = take_u64(&in)};
    r.ordinal = take_u64(&in);
    leave_tuple(&in, more);
    if (!in.failed) *out = r;
    return done(&in);
}

u9_err u9i_part_record_decode(const uint8_t *body, size_t size, u9i_part_record *out)
{
    u9i_part_record r;
    uint64_t more;
    u9i_in in = take_tuple(body, size, 4, U9I_BODY_PART, 5, &more); /* [C-6] */
    take_code(&in, CODE_U32);
    r.number = (uint32_t)u9i_in_uint(&in, 4);
    r.total = take_u64(&in);
    r.before = take_u64(&in);
    take_code(&in, CODE_BYTES32);
    r.bytes = take_span(&in, u9i_in_uint(&in, 4));
    leave_tuple(&in, more);
    if (!in.failed) *out = r;
    return done(&in);
}

u9_err u9i_part_record_peek(const uint8_t front[U9I_PART_FRONT], u9i_part_record *out)
{
    enum { NAMED = 1 + 4 + 4 }; /* bytes in front of the name */
    uint8_t plain[U9I_PART_FRONT - U9I_MASK_HEAD];
    u9i_mask_peek(front, plain, sizeof plain);
    u9i_in in = u9i_in_init(plain + NAMED, sizeof plain - NAMED);
    take_code(&in, CODE_SYMBOL);
    const uint8_t *name = u9i_in_span(&in, 8);
    if (name == NULL || plain[0] != 0x42 || u9i_control_kind(name) != U9I_BODY_PART) return U9_CORRUPT;
    u9i_part_record r = {.number = 0};
    take_code(&in, CODE_U32);
    r.number = (uint32_t)u9i_in_uint(&in, 4);
    r.total = take_u64(&in);
    r.before = take_u64(&in);
    take_code(&in, CODE_BYTES32);
    r.bytes.size = (size_t)u9i_in_uint(&in, 4);
    if (!in.failed) *out = r;
    return done(&in);
}

/* The elements of an array with this typecode and element size, `*count` of them. */
static const uint8_t *take_array(u9i_in *in, const uint8_t *type, size_t type_size, unsigned element,
                                 uint32_t *count)
{
    take_code(in, CODE_ARRAY32);
    uint64_t length = u9i_in_uint(in, 4);
    uint64_t n = u9i_in_uint(in, 4);
    const uint8_t *t = u9i_in_span(in, type_size);
    if (!t || memcmp(t, type, type_size) != 0 || length != type_size + n * element)
        in->failed = true;
    *count = (uint32_t)n;
    return u9i_in_span(in, n * element);
}

static void take_root(u9i_in *in, unsigned key_size, struct u9i_root_record *r)
{
    take_code(in, CODE_U8); /* [C-9] */
    uint64_t form = u9i_in_uint(in, 1);
    r->entries = take_u64(in);
    r->records = take_u64(in);
    r->end.offset = take_u64(in);
    r->end.ordinal = take_u64(in);
    take_bytes16(in, r->end.chain);
    r->other = take_u64(in);
    r->slices = take_array(in, type_at, 1, 8, &r->slice_count);
    take_code(in, CODE_BYTES32);
    r->last = take_span(in, u9i_in_uint(in, 4));
    if (r->last.size != key_size) in->failed = true;
    if (form != U9I_INDEX_FRAMES && form != U9I_INDEX_RECORDS) in->failed = true;
    r->form = (u9i_index_form)form;
}

static void take_lost(u9i_in *in, struct u9i_root_record *r)
{
    r->lost = take_array(in, type_at, 1, 8, &r->lost_count);
    take_bytes16(in, r->content);
    if (r->lost_count % 2 != 0) in->failed = true;
}

u9_err u9i_page_record_decode(const uint8_t *body, size_t size, u9i_page_record *out)
{
    u9i_page_record r = {0};
    uint64_t more;
    u9i_in in = take_tuple(body, size, 4, U9I_BODY_PAGE, 4, &more); /* [C-7] */
    take_code(&in, CODE_SYMBOL);
    const uint8_t *spec = u9i_in_span(&in, 8);
    if (spec) memcpy(r.keyspec, spec, 8);
    bool hashed = memcmp(r.keyspec, "u9kh\0\0\0", 8) == 0;
    bool wide = !hashed && in.left > 9 && in.next[9] == CODE_BYTES8;
    if (!hashed && memcmp(r.keyspec, "k\0\0\0\0\0\0", 8) != 0) in.failed = true;
    r.key_size = wide ? 16 : 8;
    r.keys = take_array(&in, wide ? type_key16 : type_key8, wide ? 2 : 1, r.key_size, &r.count);
    uint32_t places = 0;
    r.at = take_array(&in, type_at, 1, 8, &places);
    if (places != r.count) in.failed = true;
    if (hashed && more > 0) {
        r.has_seed = true;
        r.seed = take_u64(&in);
        more--;
    }
    if (more >= ROOT_ELEMENTS) {
        r.has_root = true;
        take_root(&in, r.key_size, &r.root);
        more -= ROOT_ELEMENTS;
    }
    if (r.has_root && more >= LOST_ELEMENTS) {
        take_lost(&in, &r.root);
        more -= LOST_ELEMENTS;
    }
    leave_tuple(&in, more);
    if (!in.failed) *out = r;
    return done(&in);
}

u9_err u9i_bits_record_decode(const uint8_t *body, size_t size, u9i_span *out)
{
    uint64_t more;
    u9i_in in = take_tuple(body, size, 4, U9I_BODY_BITS, 2, &more); /* [C-10] */
    take_code(&in, CODE_BYTES32);
    u9i_span bits = take_span(&in, u9i_in_uint(&in, 4));
    leave_tuple(&in, more);
    if (bits.size == 0 || bits.size % U9I_FILTER_BLOCK != 0) in.failed = true;
    if (!in.failed) *out = bits;
    return done(&in);
}

u9_err u9i_mark_record_decode(const uint8_t *body, size_t size, u9i_mark_record *out)
{
    u9i_mark_record r;
    uint64_t more;
    u9i_in in = take_tuple(body, size, 2, U9I_BODY_MARK, 10, &more); /* [C-8] */
    take_bytes16(&in, r.log);
    r.first_ordinal = take_u64(&in);
    r.segment = take_u64(&in);
    take_bytes16(&in, r.boundary);
    take_bytes16(&in, r.secret);
    r.end.offset = take_u64(&in);
    r.end.ordinal = take_u64(&in);
    take_bytes16(&in, r.end.chain);
    r.time_us = take_u64(&in);
    leave_tuple(&in, more);
    if (r.segment == 0) in.failed = true;
    if (!in.failed) *out = r;
    return done(&in);
}
