/*
 * format/frame/body.c: bodies, their wrappings and their records. [B-1] to [B-6]
 *
 * Everything here runs on bytes whose hashes were proven, and trusts them no more for that: a forged
 * file has right hashes too.
 */
#include "format/frame/body.h"

#include "format/base/bytes.h"
#include "format/frame/control.h"
#include "format/value/shortest.h"
#include "format/value/decode.h"

#include <u9/value.h>

#include <assert.h>
#include <lz4.h>

static const uint8_t lz4_name[9] = {0x0a, 'u', '9', 'l', 'z', '4', 0, 0, 0};
static const uint8_t mask_name[9] = {0x0a, 'u', '9', 'm', 'a', 's', 'k', 0, 0};

/* A tuple of 3 elements with 32-bit length whose first is `name`. */
static bool wrapped_as(const uint8_t *body, size_t size, const uint8_t name[9])
{
    return size >= 18 && body[0] == 0x42 && u9i_get_be(body + 5, 4) == 3 &&
           memcmp(body + 9, name, 9) == 0;
}

static void put_wrap_head(uint8_t *out, size_t size, const uint8_t name[9])
{
    out[0] = 0x42;
    u9i_set_be(out + 1, 4, size - 9);
    u9i_set_be(out + 5, 4, 3);
    memcpy(out + 9, name, 9);
}

size_t u9i_lz4_bound(size_t size)
{
    return U9I_LZ4_HEAD + (size_t)LZ4_COMPRESSBOUND(size);
}

size_t u9i_lz4_wrap(const uint8_t *body, size_t size, uint8_t *out)
{
    assert(size <= U9I_BODY_MAX);
    int n = LZ4_compress_default((const char *)body, (char *)out + U9I_LZ4_HEAD, (int)size,
                                 (int)(u9i_lz4_bound(size) - U9I_LZ4_HEAD));
    if (n <= 0 || (size_t)n + U9I_LZ4_HEAD >= size) return 0;
    put_wrap_head(out, U9I_LZ4_HEAD + (size_t)n, lz4_name);
    out[18] = 0x03;
    u9i_set_be(out + 19, 8, size);
    out[27] = 0x1e;
    u9i_set_be(out + 28, 4, (uint64_t)n);
    return U9I_LZ4_HEAD + (size_t)n;
}

size_t u9i_mask_wrap(uint8_t *body, size_t size, const uint8_t mask[U9I_HASH_SIZE])
{
    memmove(body + U9I_MASK_HEAD, body, size);
    put_wrap_head(body, U9I_MASK_HEAD + size, mask_name);
    body[18] = 0x1c;
    body[19] = U9I_HASH_SIZE;
    memset(body + 20, 0, U9I_HASH_SIZE);
    body[36] = 0x1e;
    u9i_set_be(body + 37, 4, size);
    u9i_mask_again(body, U9I_MASK_HEAD + size, mask);
    return U9I_MASK_HEAD + size;
}

void u9i_mask_again(uint8_t *body, size_t size, const uint8_t mask[U9I_HASH_SIZE])
{
    uint8_t change[U9I_HASH_SIZE];
    for (unsigned i = 0; i < U9I_HASH_SIZE; i++) change[i] = body[20 + i] ^ mask[i];
    memcpy(body + 20, mask, U9I_HASH_SIZE);
    for (size_t i = U9I_MASK_HEAD; i < size; i++)
        body[i] ^= change[(i - U9I_MASK_HEAD) % U9I_HASH_SIZE];
}

void u9i_mask_peek(const uint8_t *stored, uint8_t *out, size_t size)
{
    memcpy(out, stored, size);
    if (!wrapped_as(stored, U9I_MASK_HEAD, mask_name)) return;
    for (size_t i = 0; i < size; i++) out[i] = stored[U9I_MASK_HEAD + i] ^ stored[20 + i % U9I_HASH_SIZE];
}

/* [B-4] */
static u9_err lz4_open(u9i_body *b, uint8_t *scratch, size_t cap, size_t *need)
{
    const uint8_t *p = b->bytes;
    if (b->size <= U9I_LZ4_HEAD || u9i_get_be(p + 1, 4) != b->size - 9 || p[18] != 0x03 ||
        p[27] != 0x1e || u9i_get_be(p + 28, 4) != b->size - U9I_LZ4_HEAD)
        return U9_CORRUPT;
    uint64_t decoded = u9i_get_be(p + 19, 8);
    if (decoded == 0 || decoded > U9I_BODY_MAX) return U9_CORRUPT;
    if (decoded > cap) {
        *need = (size_t)decoded;
        return U9_AGAIN;
    }
    int n = LZ4_decompress_safe((const char *)p + U9I_LZ4_HEAD, (char *)scratch,
                                (int)(b->size - U9I_LZ4_HEAD), (int)decoded);
    if (n < 0 || (uint64_t)n != decoded) return U9_CORRUPT;
    *b = (u9i_body){.bytes = scratch, .size = (size_t)decoded, .lz4 = true};
    return U9_OK;
}

/* [B-5] */
static u9_err mask_open(u9i_body *b, uint8_t *scratch, size_t cap, size_t *need)
{
    const uint8_t *p = b->bytes;
    if (b->size < U9I_MASK_HEAD || u9i_get_be(p + 1, 4) != b->size - 9 || p[18] != 0x1c ||
        p[19] != U9I_HASH_SIZE || p[36] != 0x1e ||
        u9i_get_be(p + 37, 4) != b->size - U9I_MASK_HEAD)
        return U9_CORRUPT;
    size_t n = b->size - U9I_MASK_HEAD;
    if (n > U9I_BODY_MAX) return U9_CORRUPT;
    if (n > cap) {
        *need = n;
        return U9_AGAIN;
    }
    for (size_t i = 0; i < n; i++) scratch[i] = p[U9I_MASK_HEAD + i] ^ p[20 + i % U9I_HASH_SIZE];
    *b = (u9i_body){.bytes = scratch, .size = n, .masked = true};
    return U9_OK;
}

/* What stands in an unwrapped body of a frame with this count. [B-1] [B-3] */
static u9_err body_kind(u9i_body *b, uint32_t count)
{
    if (b->size == 0) {
        b->kind = U9I_BODY_EMPTY;
        return count == 0 ? U9_OK : U9_CORRUPT;
    }
    u9_value tuple, name;
    if (u9_value_decode(b->bytes, b->size, &tuple) != U9_OK || tuple.type != U9_TUPLE ||
        tuple.count == 0 || u9_value_decode(tuple.data, (size_t)tuple.size, &name) != U9_OK)
        return U9_CORRUPT;
    if (name.type != U9_SYMBOL) {
        b->kind = U9I_BODY_RECORDS;
        return count > 0 ? U9_OK : U9_CORRUPT;
    }
    if (memcmp(name.data, "u9", 2) != 0) return U9_CORRUPT; /* a key is never a symbol [L-6] */
    if (memcmp(name.data, lz4_name + 1, 8) == 0 || memcmp(name.data, mask_name + 1, 8) == 0)
        return U9_CORRUPT; /* within another wrapping, or in a form that is not [B-4] [B-5] */
    b->kind = u9i_control_kind(name.data);
    if (b->lz4) return U9_CORRUPT; /* [B-4] wraps records only */
    if (tuple.encoded != b->size && b->kind != U9I_BODY_OTHER) return U9_CORRUPT;
    if (count == 0) return tuple.encoded == b->size ? U9_OK : U9_CORRUPT;
    if (b->kind == U9I_BODY_PART) return count == 1 ? U9_OK : U9_CORRUPT; /* [C-6] */
    return b->kind == U9I_BODY_OTHER ? U9_VERSION : U9_CORRUPT;
}

u9_err u9i_body_open(const u9i_frame *frame, uint8_t *scratch, size_t cap, size_t *need,
                     u9i_body *out)
{
    u9i_body b = {.bytes = frame->body, .size = frame->body_size};
    u9_err err = U9_OK;
    if (wrapped_as(b.bytes, b.size, lz4_name)) err = lz4_open(&b, scratch, cap, need);
    else if (wrapped_as(b.bytes, b.size, mask_name)) err = mask_open(&b, scratch, cap, need);
    else if (b.size > U9I_BODY_MAX) err = U9_CORRUPT; /* [F-5] */
    if (err == U9_OK) err = body_kind(&b, frame->trailer.count);
    if (err == U9_OK) *out = b;
    return err;
}

/* The raw form of a key, or NULL if it is none. [L-6] */
static const uint8_t *key_raw(const u9_value *key, size_t *size)
{
    if (key->type == U9_BYTES || key->type == U9_UTF8) {
        *size = (size_t)key->size;
        return key->size > 0 && key->size <= U9I_KEY_MAX ? key->data : NULL;
    }
    *size = 8;
    return key->code == 0x03 ? key->start + 1 : NULL;
}

/* Bytes of the value at p by its length, 0 if there is none within `left`. [B-2] */
static inline size_t value_span(const uint8_t *p, size_t left)
{
    u9i_parts v;
    size_t at = u9i_is_index(p[0]) ? u9i_pass_indexes(p, left) : 0;
    if (at >= left || u9i_take_apart(false, p[at], p + at, left - at, &v) != U9_OK) return 0;
    if (v.type == 0 || (at > 0 && v.type < U9_TUPLE)) return 0;
    return at + v.head + (size_t)v.body;
}

/* How many values stand back to back in exactly `size` bytes; UINT64_MAX if they do not. */
static uint64_t count_values(const uint8_t *p, size_t size)
{
    uint64_t n = 0;
    for (size_t one; size > 0; p += one, size -= one, n++)
        if ((one = value_span(p, size)) == 0) return UINT64_MAX;
    return n;
}

/* True if `size` bytes are one value of utf8 or bytes with a length of one byte: what most records hold. */
static inline bool is_short_text(const uint8_t *p, size_t size)
{
    return size >= 2 && p[1] == size - 2 && u9i_shapes[p[0]].form == U9I_FORM_SIZED_1 &&
           (u9i_shapes[p[0]].type == U9_BYTES || u9i_shapes[p[0]].type == U9_UTF8);
}

/*
 * The form of most records, a fixtuple whose key is 16 bytes, without the general decoder: scans spend their
 * time here. False: it is another form, or not a record; the general way says which.
 */
static bool common_record(const uint8_t *p, size_t left, u9i_record *out)
{
    size_t size = u9i_common_size(p, left);
    if (size == 0) return false;
    unsigned elements = p[0] & 7;
    *out = u9i_common_record(p, size);
    if (elements == 2 && is_short_text(out->values, out->values_size)) return true;
    return elements > 0 && count_values(out->values, out->values_size) == elements - 1; /* [B-2] */
}

u9_err u9i_record_next(const uint8_t **next, size_t *left, u9i_record *out)
{
    if (*left == 0) return U9_END;
    if (common_record(*next, *left, out)) {
        *next += out->size;
        *left -= out->size;
        return U9_OK;
    }
    u9_value tuple, key;
    if (u9_value_decode(*next, *left, &tuple) != U9_OK || tuple.type != U9_TUPLE ||
        u9i_is_index(tuple.code) || tuple.count == 0 || u9_value_decode(tuple.data, (size_t)tuple.size, &key) != U9_OK)
        return U9_CORRUPT;
    if (key.type == U9_SYMBOL) {
        bool later = u9i_control_kind(key.data) == U9I_BODY_OTHER && memcmp(key.data, "u9", 2) == 0;
        return later ? U9_VERSION : U9_CORRUPT; /* [B-3] */
    }
    u9i_record r = {.bytes = tuple.start, .size = tuple.encoded, .key_value = key.start};
    r.key = key_raw(&key, &r.key_size);
    if (r.key == NULL) return U9_CORRUPT;
    r.values = key.start + key.encoded;
    r.values_size = (size_t)(tuple.start + tuple.encoded - r.values);
    if (count_values(r.values, r.values_size) != tuple.count - 1) return U9_CORRUPT; /* [B-2] */
    *next += r.size;
    *left -= r.size;
    *out = r;
    return U9_OK;
}

u9_err u9i_value_next(const uint8_t **next, size_t *left, u9i_record *out)
{
    const uint8_t *p = *next;
    if (*left == 0) return U9_END;
    size_t size = value_span(p, *left), rest = size;
    if (size == 0) return U9_CORRUPT;
    *next += size;
    *left -= size;
    if (u9i_record_next(&p, &rest, out) == U9_OK && rest == 0) return U9_OK;
    p = *next - size;
    *out = (u9i_record){.bytes = p, .size = size, .key = p, .key_value = p, .values = p, .values_size = size};
    return U9_OK;
}

u9_err u9i_record_front(const uint8_t *bytes, size_t size, uint64_t total, u9i_record *out)
{
    u9_value key;
    u9i_record r = {.bytes = bytes};
    unsigned width = size > 0 && bytes[0] == 0x43 ? 8 : 4;
    size_t head = 1 + 2 * (size_t)width;
    if (size <= head || total < head || (bytes[0] != 0x42 && bytes[0] != 0x43) ||
        u9i_get_be(bytes + 1, width) != total - head || u9i_get_be(bytes + 1 + width, width) == 0 ||
        u9_value_decode(bytes + head, size - head, &key) != U9_OK)
        return U9_CORRUPT;
    r.key_value = key.start;
    r.key = key_raw(&key, &r.key_size);
    if (r.key == NULL) return U9_CORRUPT;
    *out = r;
    return U9_OK;
}

const char *u9i_record_kind(const u9i_record *r)
{
    u9_value key;
    if (r->key_size == 0 || u9_value_decode(r->key_value, (size_t)(r->key - r->key_value) + r->key_size, &key) != U9_OK) return "";
    if (key.type == U9_UTF8) return "rkey";
    if (key.type == U9_UINT) return "tid";
    return r->key_size == 16 ? "muid" : "";
}

size_t u9i_record_head(uint64_t count, uint64_t size, uint8_t out[17])
{
    u9i_set_tuple_head(out, size, count);
    return u9i_tuple_head(size, count);
}
