/*
 * tools/convert_mcap.c: MCAP, messages with times (https://mcap.dev/spec); see convert.h.
 *
 * A file is the magic, records (a byte that says which, 8 bytes of size, the content; little end first), the magic again.
 * Read are messages, also those in chunks, as objects: topic, sequence, log_time and publish_time (nanoseconds), encoding,
 * schema (its name, if there is one), and data: of encoding json the value, else bytes. They count by the byte at which
 * their record begins, or the chunk that they are in. Of what else may be there it is said that it is left out.
 *
 * Written is one channel of messages in JSON, objects, without chunks and summary, which the specification allows.
 */
#include "tools/convert.h"

#include "tools/json_tree.h"
#include "tools/value_json.h"

#include <u9/version.h>

#include <inttypes.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#if CONVERT_ZSTD
#include <zstd.h>
#endif

enum {
    HEADER = 1,
    FOOTER,
    SCHEMA,
    CHANNEL,
    MESSAGE,
    CHUNK,
    MESSAGE_INDEX,
    ATTACHMENT = 9,
    METADATA = 12,
    DATA_END = 15
};
enum { IDS = 1 << 16, NOTE_SCHEMAS = 1, NOTE_ATTACHMENTS = 2, NOTE_METADATA = 4 };

static const char magic[8] = {'\x89', 'M', 'C', 'A', 'P', '0', '\r', '\n'};

struct channel {
    char *topic, *encoding; /* NULL: there is none */
    uint16_t schema;
};

struct mcap {
    struct channel channels[IDS];
    char *schemas[IDS]; /* their names */
    struct tree tree;
    uint8_t *chunk;
    size_t size, at; /* of what is unpacked; where its next record begins */
    uint32_t sum;    /* the checksum of the file up to here */
    int ended;       /* not 0: the data have ended */
};

/* What is left of a record; `lacks` once more was wanted than there is. */
struct bytes {
    const uint8_t *at;
    size_t left;
    int lacks;
};

static const uint8_t *take(struct bytes *b, uint64_t size)
{
    const uint8_t *at = b->at;
    if (size > b->left) {
        b->lacks = 1;
        b->left = 0;
        return NULL;
    }
    b->at += size;
    b->left -= (size_t)size;
    return at;
}

static uint64_t number(struct bytes *b, unsigned size)
{
    const uint8_t *at = take(b, size);
    uint64_t n = 0;
    for (unsigned i = 0; at && i < size; i++) n |= (uint64_t)at[i] << 8 * i;
    return n;
}

static const uint8_t *text(struct bytes *b, size_t *size)
{
    *size = (size_t)number(b, 4);
    const uint8_t *at = take(b, *size);
    if (!at) *size = 0;
    return at;
}

/* A copy of a text, which must be valid UTF-8; an empty one otherwise. */
static char *text_copy(struct bytes *b)
{
    size_t size;
    const uint8_t *at = text(b, &size);
    int valid = at && u9_utf8_valid(at, size) && !memchr(at, '\0', size);
    if (!valid) b->lacks = 1;
    return strndup(valid ? (const char *)at : "", valid ? size : 0);
}

/* The checksum of zlib, of what `sum` is the checksum of and these bytes; 0: of nothing. */
static uint32_t crc32_on(uint32_t sum, const uint8_t *bytes, size_t size)
{
    static uint32_t table[256];
    uint32_t crc = ~sum;
    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
    }
    for (size_t i = 0; i < size; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
    return ~crc;
}

static int open_mcap(struct convert_reader *r)
{
    if (!convert_read(r, 0, sizeof magic) || memcmp(r->bytes, magic, sizeof magic) != 0)
        return convert_why(r->why, "not an MCAP file: it does not begin as they do");
    struct mcap *m = (struct mcap *)calloc(1, sizeof *m);
    r->state = m;
    if (m) m->sum = crc32_on(0, r->bytes, sizeof magic);
    return m ? 1 : convert_no_memory(r->why);
}

static void close_mcap(struct convert_reader *r)
{
    struct mcap *m = (struct mcap *)r->state;
    for (size_t i = 0; i < IDS; i++) {
        free(m->channels[i].topic);
        free(m->channels[i].encoding);
        free(m->schemas[i]);
    }
    tool_tree_clear(&m->tree);
    free(m->tree.nodes);
    free(m->chunk);
    free(m);
}

static int take_schema(struct convert_reader *r, struct bytes b)
{
    struct mcap *m = (struct mcap *)r->state;
    uint16_t id = (uint16_t)number(&b, 2);
    char *name = text_copy(&b);
    size_t size;
    (void)text(&b, &size); /* encoding */
    (void)text(&b, &size);
    if (size > 0)
        convert_tell(&r->told, NOTE_SCHEMAS,
                     "%s: the definitions of schemas are left out, their names are taken", r->name);
    free(m->schemas[id]);
    m->schemas[id] = name;
    return name && !b.lacks ? 1 : convert_why(r->why, "a schema that is malformed");
}

static int take_channel(struct convert_reader *r, struct bytes b)
{
    struct mcap *m = (struct mcap *)r->state;
    struct channel *c = &m->channels[number(&b, 2)];
    uint16_t schema = (uint16_t)number(&b, 2);
    free(c->topic);
    free(c->encoding);
    c->topic = text_copy(&b);
    c->encoding = text_copy(&b);
    c->schema = schema;
    if (number(&b, 4) > 0)
        convert_tell(&r->told, NOTE_METADATA, "%s: metadata are left out", r->name);
    return c->topic && c->encoding && !b.lacks ? 1
                                               : convert_why(r->why, "a channel that is malformed");
}

static void put_string(const char *name, const char *value)
{
    fprintf(tool_out(), ",\"%s\":", name);
    tool_put_string(value, strlen(value));
}

static enum convert_got take_message(struct convert_reader *r, struct bytes b)
{
    struct mcap *m = (struct mcap *)r->state;
    const struct channel *c = &m->channels[number(&b, 2)];
    uint64_t sequence = number(&b, 4), logged = number(&b, 8), published = number(&b, 8);
    size_t at;
    if (b.lacks) return convert_why(r->why, "a message that is malformed"), CONVERT_BAD;
    if (!c->topic)
        return convert_why(r->why, "a message of a channel that is not there"), CONVERT_BAD;
    int json = strcmp(c->encoding, "json") == 0;
    const char *why = json ? tool_tree_read(&m->tree, (const char *)b.at, b.left, &at) : NULL;
    if (why) return convert_why(r->why, "%s", why), CONVERT_BAD;
    fputs("{\"topic\":", r->json);
    tool_put_string(c->topic, strlen(c->topic));
    fprintf(r->json, ",\"sequence\":%" PRIu64 ",\"log_time\":%" PRIu64 ",\"publish_time\":%" PRIu64,
            sequence, logged, published);
    put_string("encoding", c->encoding);
    if (c->schema > 0 && m->schemas[c->schema]) put_string("schema", m->schemas[c->schema]);
    fputs(",\"data\":", r->json);
    if (json) fwrite(b.at, 1, b.left, r->json);
    else convert_put_bytes(b.at, b.left);
    putc('}', r->json);
    return CONVERT_ROW;
}

/* Unpacks an LZ4 frame, which gives `size` bytes and no more. */
static int unpack_lz4(const struct bytes *b, uint8_t *out, size_t size)
{
    LZ4F_dctx *ctx;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&ctx, LZ4F_VERSION))) return 0;
    size_t from = 0, to = 0, left = 1;
    while (left > 0 && from < b->left) {
        size_t took = b->left - from, gave = size - to;
        left = LZ4F_decompress(ctx, out + to, &gave, b->at + from, &took, NULL);
        if (LZ4F_isError(left) || (took == 0 && gave == 0)) break;
        from += took;
        to += gave;
    }
    LZ4F_freeDecompressionContext(ctx);
    return left == 0 && to == size;
}

static int unpack(struct convert_reader *r, const struct bytes *b, const char *how, uint8_t *out,
                  size_t size)
{
    int good = 0;
    if (strcmp(how, "") == 0 && (good = b->left == size)) memcpy(out, b->at, size);
    else if (strcmp(how, "lz4") == 0) good = unpack_lz4(b, out, size);
    else if (strcmp(how, "zstd") == 0) {
#if CONVERT_ZSTD
        good = ZSTD_decompress(out, size, b->at, b->left) == size;
#else
        return convert_why(r->why,
                           "a chunk that is compressed with zstd, which this u9 was built without");
#endif
    } else if (*how)
        return convert_why(r->why, "a chunk that is compressed with %.40s, which u9 does not know",
                           how);
    return good ? 1 : convert_why(r->why, "a chunk that cannot be unpacked");
}

static int take_chunk(struct convert_reader *r, struct bytes b)
{
    struct mcap *m = (struct mcap *)r->state;
    number(&b, 8);
    number(&b, 8);
    uint64_t size = number(&b, 8);
    uint32_t crc = (uint32_t)number(&b, 4);
    char *how = text_copy(&b);
    uint64_t packed = number(&b, 8);
    struct bytes records = {.at = take(&b, packed), .left = (size_t)packed};
    int good = how && !b.lacks ? 1 : convert_why(r->why, "a chunk that is malformed");
    if (good && size > CONVERT_MAX) good = convert_why(r->why, "a chunk of more than 64 MiB");
    m->size = m->at = 0;
    free(m->chunk);
    m->chunk = good ? (uint8_t *)malloc((size_t)size + 1) : NULL;
    if (good && !m->chunk) good = convert_no_memory(r->why);
    if (good) good = unpack(r, &records, how, m->chunk, (size_t)size);
    if (good && crc != 0 && crc != crc32_on(0, m->chunk, (size_t)size))
        good = convert_why(r->why, "a chunk whose checksum is wrong");
    if (good) m->size = (size_t)size;
    free(how);
    return good;
}

/* A record that has been read: a row, bad, or CONVERT_END: none of either. */
static enum convert_got take_record(struct convert_reader *r, int op, struct bytes b)
{
    int good = 1;
    if (op == MESSAGE) return take_message(r, b);
    if (op == SCHEMA) good = take_schema(r, b);
    else if (op == CHANNEL) good = take_channel(r, b);
    else if (op == CHUNK) good = take_chunk(r, b);
    return good ? CONVERT_END : CONVERT_BAD;
}

/* The next one of the chunk. */
static enum convert_got next_in_chunk(struct convert_reader *r)
{
    struct mcap *m = (struct mcap *)r->state;
    struct bytes b = {.at = m->chunk + m->at, .left = m->size - m->at};
    int op = (int)number(&b, 1);
    uint64_t size = number(&b, 8);
    const uint8_t *content = take(&b, size);
    m->at = m->size - b.left;
    if (b.lacks || op == CHUNK) {
        m->at = m->size;
        return convert_why(r->why, "a chunk that is malformed"), CONVERT_BAD;
    }
    return take_record(r, op, (struct bytes){.at = content, .left = (size_t)size});
}

/* Passes over a record that no row is made of. 0: the file ends within it. */
static int pass(struct convert_reader *r, int op, uint64_t size)
{
    struct mcap *m = (struct mcap *)r->state;
    if (op == ATTACHMENT)
        convert_tell(&r->told, NOTE_ATTACHMENTS, "%s: attachments are left out", r->name);
    if (op == METADATA) convert_tell(&r->told, NOTE_METADATA, "%s: metadata are left out", r->name);
    while (size-- > 0) {
        int c = convert_get(r);
        if (c == EOF) return convert_why(r->why, "the file ends within it");
        uint8_t byte = (uint8_t)c;
        m->sum = crc32_on(m->sum, &byte, 1);
    }
    return 1;
}

/* The record that ends the data has the checksum of all in front of it, or 0. */
static enum convert_got take_end(struct convert_reader *r, uint64_t size)
{
    struct mcap *m = (struct mcap *)r->state;
    m->ended = 1;
    if (!convert_read(r, 0, size)) return CONVERT_BROKEN;
    struct bytes b = {.at = r->bytes, .left = (size_t)size};
    uint32_t sum = (uint32_t)number(&b, 4);
    return sum == 0 || sum == m->sum ? CONVERT_END
                                     : (convert_why(r->why, "the checksum of the data in front of it is wrong"), CONVERT_BAD);
}

static enum convert_got next_message(struct convert_reader *r)
{
    struct mcap *m = (struct mcap *)r->state;
    for (enum convert_got got = CONVERT_END; !m->ended;) {
        if (m->at < m->size) {
            got = next_in_chunk(r);
        } else {
            r->number = r->at;
            if (!convert_read(r, 0, 9))
                return convert_why(
                           r->why,
                           "the file ends without the record that ends its data: it was cut off"),
                       CONVERT_BROKEN;
            struct bytes b = {.at = r->bytes, .left = 9};
            int op = (int)number(&b, 1);
            uint64_t size = number(&b, 8);
            if (op == FOOTER) return CONVERT_END;
            if (op == DATA_END) return take_end(r, size);
            m->sum = crc32_on(m->sum, r->bytes, 9);
            int wanted = op >= SCHEMA && op <= CHUNK;
            if (!(wanted ? convert_read(r, 0, size) : pass(r, op, size))) return CONVERT_BROKEN;
            if (wanted) m->sum = crc32_on(m->sum, r->bytes, (size_t)size);
            got = wanted ? take_record(r, op, (struct bytes){.at = r->bytes, .left = (size_t)size})
                         : CONVERT_END;
        }
        if (got != CONVERT_END) return got;
    }
    return CONVERT_END;
}

static void put_number(FILE *file, uint64_t n, unsigned size)
{
    for (unsigned i = 0; i < size; i++) putc_unlocked((int)(n >> 8 * i & 255), file);
}

static void put_text(FILE *file, const char *words)
{
    put_number(file, strlen(words), 4);
    fputs(words, file);
}

static int begin_mcap(struct convert_writer *w)
{
    static const char name[] = "u9.record", how[] = "jsonschema",
                      schema[] = "{\"type\":\"object\"}", json[] = "json";
    const char *topic = w->options->table ? w->options->table : "u9",
               *library = "u9 " U9_VERSION_TEXT;
    fwrite(magic, 1, sizeof magic, w->file);
    put_number(w->file, HEADER, 1);
    put_number(w->file, 4 + 4 + strlen(library), 8);
    put_text(w->file, "");
    put_text(w->file, library);
    put_number(w->file, SCHEMA, 1);
    put_number(w->file, 2 + 4 + strlen(name) + 4 + strlen(how) + 4 + strlen(schema), 8);
    put_number(w->file, 1, 2);
    put_text(w->file, name);
    put_text(w->file, how);
    put_text(w->file, schema);
    put_number(w->file, CHANNEL, 1);
    put_number(w->file, 2 + 2 + 4 + strlen(topic) + 4 + strlen(json) + 4, 8);
    put_number(w->file, 1, 2);
    put_number(w->file, 1, 2);
    put_text(w->file, topic);
    put_text(w->file, json);
    put_number(w->file, 0, 4);
    return 1;
}

static int put_message(struct convert_writer *w, const struct convert_row *row)
{
    size_t size = 0;
    const char *data = convert_json(&row->value, &size);
    if (!data) return convert_no_memory(w->why);
    put_number(w->file, MESSAGE, 1);
    put_number(w->file, 2 + 4 + 8 + 8 + size, 8);
    put_number(w->file, 1, 2);
    put_number(w->file, row->ordinal, 4);
    put_number(w->file, row->time_us * 1000, 8);
    put_number(w->file, row->time_us * 1000, 8);
    fwrite(data, 1, size, w->file);
    return 1;
}

static int finish_mcap(struct convert_writer *w, int whole)
{
    if (!whole) return 1;
    put_number(w->file, DATA_END, 1);
    put_number(w->file, 4, 8);
    put_number(w->file, 0, 4);
    put_number(w->file, FOOTER, 1);
    put_number(w->file, 8 + 8 + 4, 8);
    put_number(w->file, 0, 8);
    put_number(w->file, 0, 8);
    put_number(w->file, 0, 4);
    fwrite(magic, 1, sizeof magic, w->file);
    return 1;
}

const struct convert_format convert_mcap = {
    .name = "mcap",
    .unit = " at byte ",
    .open = open_mcap,
    .next = next_message,
    .close = close_mcap,
    .begin = begin_mcap,
    .put = put_message,
    .finish = finish_mcap,
    .objects = 1,
    .binary = 1,
};
