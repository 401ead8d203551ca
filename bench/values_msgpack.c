/*
 * bench/values_msgpack.c: what the rows on values measure, done by msgpack-c as its users do: a packer
 * into a buffer that is used again, and msgpack_unpack into a zone that is used again. That is faster
 * than msgpack_unpack_next, which makes and frees a zone for each value. There is no check that makes no
 * objects.
 */
#include "bench/values.h"

#if PEER_MSGPACK || PEER_MSGPACK_C

#define NDEBUG /* its headers assert */
#include <msgpack.h>

#include <stdlib.h>

static void must_pack(int failed)
{
    if (failed) die("msgpack", NULL);
}

static void put_text(msgpack_packer *p, const void *text, size_t size)
{
    must_pack(msgpack_pack_str(p, size));
    must_pack(msgpack_pack_str_body(p, text, size));
}

static void put_bytes(msgpack_packer *p, const void *bytes, size_t size)
{
    must_pack(msgpack_pack_bin(p, size));
    must_pack(msgpack_pack_bin_body(p, bytes, size));
}

static void pack_line(msgpack_packer *p, const line *l)
{
    must_pack(msgpack_pack_array(p, 2));
    put_bytes(p, l->key, sizeof l->key);
    put_text(p, l->text, l->size);
}

static void pack_row(msgpack_packer *p, const fields *f)
{
    must_pack(msgpack_pack_array(p, 10));
    put_bytes(p, f->key, sizeof f->key);
    must_pack(msgpack_pack_uint32(p, f->level));
    must_pack(msgpack_pack_uint32(p, f->port));
    must_pack(msgpack_pack_uint64(p, f->time_us));
    must_pack(msgpack_pack_int32(p, f->delta));
    must_pack(msgpack_pack_double(p, f->load));
    put_text(p, f->host, f->host_size);
    put_text(p, f->unit, f->unit_size);
    put_bytes(p, f->digest, sizeof f->digest);
    must_pack(msgpack_pack_uint32(p, f->retries));
}

/* It is large enough, and never grows. */
static msgpack_sbuffer buffer_of(const record_set *set)
{
    return (msgpack_sbuffer){.data = (char *)set->msgpack.bytes, .alloc = set->msgpack.cap};
}

static uint64_t encode(const record_set *set)
{
    msgpack_sbuffer buffer = buffer_of(set);
    msgpack_packer p;
    msgpack_packer_init(&p, &buffer, msgpack_sbuffer_write);
    for (size_t i = 0; i < set->count; i++) {
        set->msgpack.at[i] = buffer.size;
        if (set->lines) pack_line(&p, &set->lines[i]);
        else pack_row(&p, &set->rows[i]);
    }
    set->msgpack.at[set->count] = buffer.size;
    return set->count;
}

static uint64_t encode_numbers(const record_set *set)
{
    msgpack_sbuffer buffer = buffer_of(set);
    msgpack_packer p;
    msgpack_packer_init(&p, &buffer, msgpack_sbuffer_write);
    must_pack(msgpack_pack_array(&p, set->count));
    for (size_t i = 0; i < set->count; i++) must_pack(msgpack_pack_int32(&p, set->numbers[i]));
    set->msgpack.at[set->count] = buffer.size;
    return set->count;
}

static inline uint64_t sum_of(const msgpack_object *o)
{
    switch ((int)o->type) {
    case MSGPACK_OBJECT_POSITIVE_INTEGER: return o->via.u64;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER: return (uint64_t)o->via.i64;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64: return sum_float(o->via.f64);
    case MSGPACK_OBJECT_STR: return sum_text(o->via.str.ptr, o->via.str.size);
    case MSGPACK_OBJECT_BIN: return sum_text(o->via.bin.ptr, o->via.bin.size);
    default: return 0;
    }
}

/* A zone that holds all objects of the values unpacked here, so that it is never grown. */
static msgpack_zone *zone_for(size_t objects)
{
    static msgpack_zone *small, *large;
    msgpack_zone **zone = objects > 64 ? &large : &small;
    size_t size = objects * sizeof(msgpack_object) + 4096;
    if (*zone == NULL) *zone = msgpack_zone_new(size);
    if (*zone == NULL) die("memory", NULL);
    msgpack_zone_clear(*zone);
    return *zone;
}

/* The value at *off, which moves on. */
static inline msgpack_object unpack(const packed *from, size_t end, size_t *off)
{
    msgpack_object o;
    msgpack_unpack_return r = msgpack_unpack((const char *)from->bytes, end, off, zone_for(64), &o);
    must_pack(r != MSGPACK_UNPACK_SUCCESS && r != MSGPACK_UNPACK_EXTRA_BYTES);
    return o;
}

static uint64_t check_all(const record_set *set)
{
    size_t off = 0, end = set->msgpack.at[set->count];
    uint64_t count = 0;
    while (off < end) {
        unpack(&set->msgpack, end, &off);
        count++;
    }
    return count;
}

static uint64_t walk_all(const record_set *set)
{
    size_t off = 0, end = set->msgpack.at[set->count];
    uint64_t sum = 0;
    while (off < end) {
        msgpack_object record = unpack(&set->msgpack, end, &off);
        const msgpack_object *o = record.via.array.ptr, *behind = o + record.via.array.size;
        while (o < behind) sum += sum_of(o++);
    }
    return sum;
}

static uint64_t field_of_each(const record_set *set)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t off = set->msgpack.at[i];
        msgpack_object record = unpack(&set->msgpack, set->msgpack.at[i + 1], &off);
        sum += sum_of(&record.via.array.ptr[set->field]);
    }
    return sum;
}

/* As it comes: unpacked, and packed with one more. */
static uint64_t cons_each(const record_set *set)
{
    static msgpack_sbuffer buffer;
    msgpack_packer p;
    msgpack_packer_init(&p, &buffer, msgpack_sbuffer_write);
    for (size_t i = 0, off = 0; i < set->count; i++) {
        msgpack_object record = unpack(&set->msgpack, set->msgpack.at[i + 1], &off);
        msgpack_sbuffer_clear(&buffer);
        must_pack(msgpack_pack_array(&p, record.via.array.size + 1));
        put_text(&p, tag, TAG_SIZE);
        for (uint32_t k = 0; k < record.via.array.size; k++)
            must_pack(msgpack_pack_object(&p, record.via.array.ptr[k]));
    }
    return set->count;
}

/* With some knowledge of the format: the record's elements are copied as they are, nothing is unpacked. */
static void pack_tagged(msgpack_sbuffer *buffer, const record_set *set, size_t i)
{
    const char *record = (const char *)set->msgpack.bytes + set->msgpack.at[i];
    size_t size = set->msgpack.at[i + 1] - set->msgpack.at[i];
    msgpack_packer p;
    msgpack_packer_init(&p, buffer, msgpack_sbuffer_write);
    must_pack(msgpack_pack_array(&p, ((unsigned char)*record & 15u) + 1)); /* fixarray: the header is one byte */
    put_text(&p, tag, TAG_SIZE);
    must_pack(msgpack_sbuffer_write(buffer, record + 1, size - 1));
}

static uint64_t splice_each(const record_set *set)
{
    static msgpack_sbuffer buffer;
    for (size_t i = 0; i < set->count; i++) {
        msgpack_sbuffer_clear(&buffer);
        pack_tagged(&buffer, set, i);
    }
    return set->count;
}

static uint64_t match_each(const record_set *set)
{
    static msgpack_sbuffer buffers[2];
    msgpack_sbuffer *buffer = &buffers[set->rows != NULL];
    if (buffer->size == 0)
        for (size_t i = 0; i < set->count; i++) pack_tagged(buffer, set, i);
    packed tagged = {.bytes = (uint8_t *)buffer->data};
    uint64_t sum = 0;
    for (size_t off = 0; off < buffer->size;) {
        msgpack_object record = unpack(&tagged, buffer->size, &off);
        const msgpack_object *first = record.via.array.ptr;
        must_pack(first->type != MSGPACK_OBJECT_STR || first->via.str.size != TAG_SIZE ||
              memcmp(first->via.str.ptr, tag, TAG_SIZE) != 0);
        sum += record.via.array.size - 1 + sum_of(first + 1);
    }
    return sum;
}

static uint64_t sum_numbers(const record_set *set)
{
    msgpack_object array;
    size_t off = 0;
    uint64_t sum = 0;
    must_pack(msgpack_unpack((const char *)set->msgpack.bytes, set->msgpack.at[set->count], &off,
                         zone_for(set->count), &array) != MSGPACK_UNPACK_SUCCESS);
    for (uint32_t i = 0; i < array.via.array.size; i++) sum += sum_of(&array.via.array.ptr[i]);
    return sum;
}

static uint64_t print_each(const record_set *set)
{
    char text[TEXT_MAX];
    for (size_t i = 0, off = 0; i < set->count; i++) {
        msgpack_object record = unpack(&set->msgpack, set->msgpack.at[i + 1], &off);
        must_pack(msgpack_object_print_buffer(text, sizeof text, record) <= 0);
    }
    return set->count;
}

side splice_side = {[CONS] = splice_each};

side msgpack_side = {[ENCODE] = encode,          [ENCODE_NUMBERS] = encode_numbers,
                     [CHECK] = check_all,        [WALK] = walk_all,
                     [WALK_CHECKED] = walk_all,  [FIELD] = field_of_each,
                     [CONS] = cons_each,         [MATCH] = match_each,
                     [PRINT] = print_each,       [SUM] = sum_numbers,
                     [SUM_BY_WALK] = sum_numbers};

#else

side msgpack_side = {NULL}, splice_side = {NULL};

#endif
