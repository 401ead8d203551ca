/*
 * format/link/hello.c: see hello.h. [T-9] [T-11] [T-13]
 */
#include "format/link/hello.h"

#include <string.h>

static const char log_symbol[8] = "u9log", next_symbol[8] = "u9next", piece_symbol[8] = "u9part";

/* The first of these results that is not U9_OK. */
static u9_err first_of(const u9_err *each, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (each[i] != U9_OK) return each[i];
    return U9_OK;
}

u9_err u9i_hello_build(u9_builder *b, const u9i_hello *s)
{
    u9_err each[] = {u9_build_tuple_open(b), u9_build_symbol(b, log_symbol),
                     u9_build_uint(b, U9I_SHIP_VERSION), u9_build_utf8(b, s->kind, s->kind_size),
                     u9_build_bytes(b, s->log, sizeof s->log), u9_build_uint(b, s->first),
                     u9_build_bytes(b, s->mark, s->has_mark ? sizeof s->mark : 0),
                     u9_build_tuple_close(b)};
    return first_of(each, sizeof each / sizeof each[0]);
}

u9_err u9i_next_build(u9_builder *b, uint64_t ordinal)
{
    u9_err each[] = {u9_build_tuple_open(b), u9_build_symbol(b, next_symbol),
                     u9_build_uint(b, ordinal), u9_build_tuple_close(b)};
    return first_of(each, sizeof each / sizeof each[0]);
}

/* The elements of a tuple of `count` elements that begins with this symbol. */
static bool take_elements(const u9_value *value, const char symbol[8], u9_value *out, size_t count)
{
    u9_walk walk = u9_walk_elements(value);
    if (value->type != U9_TUPLE || value->count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (u9_walk_next(&walk, &out[i]) != U9_OK) return false;
    return out[0].type == U9_SYMBOL && memcmp(out[0].data, symbol, 8) == 0;
}

u9_err u9i_hello_read(const u9_value *value, u9i_hello *out)
{
    u9_value v[6];
    u9_walk walk = u9_walk_elements(value);
    bool named = u9_walk_next(&walk, &v[0]) == U9_OK && v[0].type == U9_SYMBOL &&
                 memcmp(v[0].data, log_symbol, 8) == 0 && u9_walk_next(&walk, &v[1]) == U9_OK;
    if (named && v[1].type == U9_UINT && v[1].u > U9I_SHIP_VERSION) return U9_VERSION;
    if (!take_elements(value, log_symbol, v, 6) || v[1].type != U9_UINT || v[1].u != U9I_SHIP_VERSION ||
        v[2].type != U9_UTF8 || v[2].size == 0 || v[2].size > U9I_KIND_MAX || v[3].type != U9_BYTES ||
        v[3].size != sizeof out->log || v[4].type != U9_UINT || v[5].type != U9_BYTES ||
        (v[5].size != 0 && v[5].size != sizeof out->mark))
        return U9_CORRUPT;
    *out = (u9i_hello){.kind = (const char *)v[2].data, .kind_size = (size_t)v[2].size,
                      .first = v[4].u, .has_mark = v[5].size > 0};
    memcpy(out->log, v[3].data, sizeof out->log);
    if (out->has_mark) memcpy(out->mark, v[5].data, sizeof out->mark);
    return U9_OK;
}

u9_err u9i_next_read(const u9_value *value, uint64_t *ordinal)
{
    u9_value v[2];
    if (!take_elements(value, next_symbol, v, 2) || v[1].type != U9_UINT) return U9_CORRUPT;
    *ordinal = v[1].u;
    return U9_OK;
}

void u9i_hello_mark(const void *key, size_t key_size, const void *values, size_t values_size,
                    uint8_t out[U9I_HASH_SIZE])
{
    uint8_t both[2][U9I_HASH_SIZE];
    u9i_hash(key, key_size, both[0]);
    u9i_hash(values, values_size, both[1]);
    u9i_hash(both, sizeof both, out);
}

void u9i_tally_start(u9i_tally *m, const void *key, size_t key_size)
{
    m->values = (u9i_hasher){.blocks = 0};
    u9i_hasher_init(&m->values);
    m->fill = 0;
    u9i_hash(key, key_size, m->key);
}

void u9i_tally_take(u9i_tally *m, const void *values, size_t size)
{
    const uint8_t *p = values;
    if (m->fill > 0) {
        size_t n = U9I_HASH_BLOCK - m->fill < size ? U9I_HASH_BLOCK - m->fill : size;
        memcpy(m->rest + m->fill, p, n);
        m->fill += n;
        p += n;
        size -= n;
        if (m->fill < U9I_HASH_BLOCK) return;
        u9i_hasher_take(&m->values, m->rest, 1);
    }
    u9i_hasher_take(&m->values, p, size / U9I_HASH_BLOCK);
    m->fill = size % U9I_HASH_BLOCK;
    if (m->fill > 0) memcpy(m->rest, p + (size - m->fill), m->fill);
}

void u9i_tally_finish(const u9i_tally *m, uint8_t out[U9I_HASH_SIZE])
{
    uint8_t both[2][U9I_HASH_SIZE];
    u9i_hasher values = m->values; /* it is used up */
    memcpy(both[0], m->key, U9I_HASH_SIZE);
    u9i_hasher_finish(&values, m->rest, m->fill, both[1]);
    u9i_hash(both, sizeof both, out);
}

u9_err u9i_piece_build(u9_builder *b, const u9i_sent_piece *p)
{
    u9_err each[] = {u9_build_tuple_open(b), u9_build_symbol(b, piece_symbol), u9_build_uint(b, p->number),
                     u9_build_uint(b, p->total), u9_build_bytes(b, p->bytes, p->size), u9_build_tuple_close(b)};
    return first_of(each, sizeof each / sizeof each[0]);
}

u9_err u9i_piece_read(const u9_value *value, u9i_sent_piece *out)
{
    u9_value v[4];
    if (!take_elements(value, piece_symbol, v, 4) || v[1].type != U9_UINT || v[2].type != U9_UINT ||
        v[3].type != U9_BYTES)
        return U9_CORRUPT;
    *out = (u9i_sent_piece){.number = v[1].u, .total = v[2].u, .bytes = v[3].data, .size = (size_t)v[3].size};
    return U9_OK;
}
