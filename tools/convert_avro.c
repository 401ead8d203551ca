/*
 * tools/convert_avro.c: Avro object files (https://avro.apache.org/docs/1.11.1/specification); see convert.h.
 *
 * A file is `Obj` and 1, a map with the schema and the codec, a marker of 16 bytes; then blocks: how many rows, how many
 * bytes, these, the marker. Integers are zigzag numbers of 7 bits a byte, lowest first. Rows count from 1. Read is every
 * type; of logical types what they are made of. A block that cannot be read costs its own rows alone.
 *
 * Written is a record of the columns, each of the types that it has: of several a union. Arrays and objects are text.
 */
#include "tools/convert_avro.h"
#include "tools/convert.h"

#include "tools/value_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#if CONVERT_ZLIB
#include <zlib.h>
#endif
#if CONVERT_ZSTD
#include <zstd.h>
#endif

enum { SYNC = 16, BLOCK = 1 << 16, EMPTY_ROWS = 1 << 20 /* rows of no bytes that a block may have */ };

static const char magic[4] = {'O', 'b', 'j', 1};

struct avro {
    struct avro_schema schema;
    char codec[16];
    uint8_t sync[SYNC];
    const uint8_t *at, *end; /* of a block, what is not read yet */
    uint8_t *unpacked;
    uint64_t rows, row; /* of the block; that were read of the file */
};

static int64_t unzigzag(uint64_t n)
{
    return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

/* A number of the file. */
static int file_long(struct convert_reader *r, int64_t *out)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        int c = convert_get(r);
        if (c == EOF) return convert_why(r->why, "the file ends within it");
        n |= (uint64_t)(c & 127) << shift;
        if (c < 128) return *out = unzigzag(n), 1;
    }
    return convert_why(r->why, "a number that is malformed");
}

/* A string of the file, in the reader's bytes. */
static int file_string(struct convert_reader *r, size_t *size)
{
    int64_t n;
    if (!file_long(r, &n)) return 0;
    if (n < 0) return convert_why(r->why, "a size that is malformed");
    *size = (size_t)n;
    return convert_read(r, 0, (uint64_t)n);
}

/* A member of the file's own map. */
static int take_meta(struct convert_reader *r)
{
    struct avro *a = (struct avro *)r->state;
    char name[16] = "";
    size_t size;
    if (!file_string(r, &size)) return 0;
    if (size < sizeof name) memcpy(name, r->bytes, size);
    if (!file_string(r, &size)) return 0;
    if (strcmp(name, "avro.schema") == 0 && !a->schema.all)
        return avro_schema_read(&a->schema, (const char *)r->bytes, size, r->why);
    if (strcmp(name, "avro.codec") == 0)
        snprintf(a->codec, sizeof a->codec, "%.*s", size < 15 ? (int)size : 15,
                 (const char *)r->bytes);
    return 1;
}

static int knows_codec(const char *codec)
{
#if CONVERT_ZLIB
    if (strcmp(codec, "deflate") == 0) return 1;
#endif
#if CONVERT_ZSTD
    if (strcmp(codec, "zstandard") == 0) return 1;
#endif
    return strcmp(codec, "null") == 0 || strcmp(codec, "") == 0;
}

static int open_avro(struct convert_reader *r)
{
    struct avro *a = (struct avro *)calloc(1, sizeof *a);
    int64_t count = 1, bytes;
    if (!a) return convert_no_memory(r->why);
    r->state = a;
    if (!convert_read(r, 0, sizeof magic) || memcmp(r->bytes, magic, sizeof magic) != 0)
        return convert_why(r->why, "not an Avro object file: it does not begin as they do");
    while (count != 0) {
        if (!file_long(r, &count) || (count < 0 && !file_long(r, &bytes))) return 0;
        for (int64_t i = count < 0 ? count : -count; i < 0; i++)
            if (!take_meta(r)) return 0;
    }
    if (!a->schema.top) return convert_why(r->why, "it has no schema");
    if (!knows_codec(a->codec))
        return convert_why(r->why, "its codec is %s, which this u9 does not know", a->codec);
    if (!convert_read(r, 0, SYNC)) return 0;
    memcpy(a->sync, r->bytes, SYNC);
    return 1;
}

static void close_avro(struct convert_reader *r)
{
    struct avro *a = (struct avro *)r->state;
    avro_schema_clear(&a->schema);
    free(a->unpacked);
    free(a);
}

#if CONVERT_ZLIB
/* What is deflated, without a header; to be freed. NULL: it is malformed, or larger than 64 MiB. */
static uint8_t *inflated(uint8_t *bytes, size_t size, size_t *out)
{
    z_stream z = {.next_in = bytes, .avail_in = (uInt)size};
    uint8_t *to = NULL;
    size_t room = 0;
    int got = inflateInit2(&z, -15);
    for (*out = 0; got == Z_OK; *out = (size_t)z.total_out) {
        if (*out == room) {
            room = 2 * room + BLOCK;
            uint8_t *more = room <= 2 * (size_t)CONVERT_MAX ? (uint8_t *)realloc(to, room) : NULL;
            if (!more) break;
            to = more;
        }
        z.next_out = to + *out;
        z.avail_out = (uInt)(room - *out);
        got = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    *out = (size_t)z.total_out;
    if (got == Z_STREAM_END) return to;
    free(to);
    return NULL;
}
#endif

static int unpack(struct convert_reader *r, size_t size)
{
    struct avro *a = (struct avro *)r->state;
    a->at = r->bytes;
    a->end = r->bytes + size;
    if (strcmp(a->codec, "null") == 0 || !*a->codec) return 1;
    free(a->unpacked);
    a->unpacked = NULL;
#if CONVERT_ZLIB
    if (strcmp(a->codec, "deflate") == 0) a->unpacked = inflated(r->bytes, size, &size);
#endif
#if CONVERT_ZSTD
    if (strcmp(a->codec, "zstandard") == 0) {
        unsigned long long whole = ZSTD_getFrameContentSize(r->bytes, size);
        size_t room = whole < CONVERT_MAX ? (size_t)whole + 1 : CONVERT_MAX; /* it may not be told */
        a->unpacked = (uint8_t *)malloc(room);
        size = a->unpacked ? ZSTD_decompress(a->unpacked, room, r->bytes, size) : 0;
        if (ZSTD_isError(size)) free(a->unpacked), a->unpacked = NULL;
    }
#endif
    a->at = a->unpacked;
    a->end = a->unpacked ? a->unpacked + size : NULL;
    return a->unpacked != NULL;
}

/* The next block that has rows. */
static enum convert_got next_block(struct convert_reader *r)
{
    struct avro *a = (struct avro *)r->state;
    int64_t rows, size;
    int c = getc(r->file);
    if (c == EOF) return CONVERT_END;
    ungetc(c, r->file);
    a->rows = 0;
    if (!file_long(r, &rows) || !file_long(r, &size)) return CONVERT_BROKEN;
    if (rows < 0 || size < 0)
        return convert_why(r->why, "a block that is malformed"), CONVERT_BROKEN;
    if (!convert_read(r, 0, (uint64_t)size + SYNC)) return CONVERT_BROKEN;
    if (memcmp(r->bytes + size, a->sync, SYNC) != 0)
        return convert_why(r->why, "a block without the marker that ends it"), CONVERT_BROKEN;
    if (unpack(r, (size_t)size)) {
        if (rows <= a->end - a->at || rows <= EMPTY_ROWS) return a->rows = (uint64_t)rows, CONVERT_ROW;
        convert_why(r->why, "a block of %" PRId64 " rows in %zu bytes", rows, (size_t)(a->end - a->at));
        a->at = a->end;
        return CONVERT_BAD;
    }
    a->row += (uint64_t)rows - (rows > 0);
    return convert_why(r->why, "a block of %" PRId64 " rows that cannot be unpacked", rows),
           CONVERT_BAD;
}

static const uint8_t *take(struct convert_reader *r, uint64_t size)
{
    struct avro *a = (struct avro *)r->state;
    const uint8_t *at = a->at;
    if (size > (uint64_t)(a->end - at))
        return convert_why(r->why, "its block ends within it"), NULL;
    a->at += size;
    return at;
}

static int take_long(struct convert_reader *r, int64_t *out)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *c = take(r, 1);
        if (!c) return 0;
        n |= (uint64_t)(*c & 127) << shift;
        if (*c < 128) return *out = unzigzag(n), 1;
    }
    return convert_why(r->why, "a number that is malformed");
}

static const uint8_t *take_string(struct convert_reader *r, size_t *size)
{
    int64_t n;
    if (!take_long(r, &n)) return NULL;
    *size = (size_t)n;
    return take(r, (uint64_t)n);
}

static int put_float(struct convert_reader *r, unsigned size)
{
    const uint8_t *at = take(r, size);
    uint64_t bits = 0;
    uint32_t low;
    double wide;
    float narrow;
    for (unsigned i = 0; at && i < size; i++) bits |= (uint64_t)at[i] << 8 * i;
    if (!at) return 0;
    low = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    if (size == 8) convert_put_real(wide);
    else if (isfinite(narrow)) fprintf(r->json, "{\"$float32\":%.9g}", (double)narrow);
    else
        fprintf(r->json, "{\"$float32\":\"%s\"}",
                isnan(narrow) ? "nan"
                : narrow < 0  ? "-inf"
                              : "inf");
    return 1;
}

static int put_plain(struct convert_reader *r, const struct avro_type *t)
{
    int64_t n;
    size_t size = t->count;
    const uint8_t *at;
    switch (t->kind) {
    case AVRO_NULL: fputs("null", r->json); return 1;
    case AVRO_BOOLEAN:
        if (!(at = take(r, 1))) return 0;
        fputs(*at ? "true" : "false", r->json);
        return 1;
    case AVRO_INT:
    case AVRO_LONG:
        if (!take_long(r, &n)) return 0;
        fprintf(r->json, "%" PRId64, n);
        return 1;
    case AVRO_FLOAT: return put_float(r, 4);
    case AVRO_DOUBLE: return put_float(r, 8);
    case AVRO_STRING:
        if (!(at = take_string(r, &size))) return 0;
        convert_put_text(at, size);
        return 1;
    case AVRO_ENUM:
        if (!take_long(r, &n)) return 0;
        if (n < 0 || (uint64_t)n >= t->count)
            return convert_why(r->why, "a symbol that %.80s has not", t->name);
        tool_put_string(t->names[n], strlen(t->names[n]));
        return 1;
    case AVRO_BYTES:
    case AVRO_FIXED:
        at = t->kind == AVRO_FIXED ? take(r, size) : take_string(r, &size);
        if (at) convert_put_bytes(at, size);
        return at != NULL;
    case AVRO_RECORD:
    case AVRO_ARRAY:
    case AVRO_MAP:
    case AVRO_UNION: break;
    }
    return 0;
}

static int put(struct convert_reader *r, const struct avro_type *t, unsigned depth);

static int put_record(struct convert_reader *r, const struct avro_type *t, unsigned depth)
{
    putc('{', r->json);
    for (size_t i = 0; i < t->count; i++) {
        if (i > 0) putc(',', r->json);
        convert_put_name(t->names[i], strlen(t->names[i]), t->count);
        if (!put(r, t->of[i], depth)) return 0;
    }
    putc('}', r->json);
    return 1;
}

/* The name of a map's member. One that would be taken for ours must be known to stand alone. */
static int put_member_name(struct convert_reader *r, int64_t count, uint64_t before, int *ours)
{
    size_t size;
    const uint8_t *name = take_string(r, &size);
    if (!name) return 0;
    if (*ours) return convert_why(r->why, "a map in parts, with a name that begins as u9's own do");
    *ours = count == 1 && before == 0 && tool_json_marks(name, size) > 0;
    convert_put_name(name, size, *ours ? 1 : 2);
    return 1;
}

/* Arrays and maps come in parts, each with its count; a part may tell its bytes, too. */
static int put_items(struct convert_reader *r, const struct avro_type *t, unsigned depth)
{
    int map = t->kind == AVRO_MAP, ours = 0;
    uint64_t put_before = 0;
    int64_t count, bytes;
    putc(map ? '{' : '[', r->json);
    for (;;) {
        if (!take_long(r, &count)) return 0;
        if (count == 0) break;
        if (count < 0 && !take_long(r, &bytes)) return 0;
        if (count == INT64_MIN) return convert_why(r->why, "a count that is malformed");
        if (count < 0) count = -count;
        for (int64_t i = 0; i < count; i++) {
            if (put_before > 0) putc(',', r->json);
            if (map && !put_member_name(r, count, put_before, &ours)) return 0;
            put_before++;
            if (!put(r, t->of[0], depth)) return 0;
            if (tool_buffer_used(&r->row) > CONVERT_MAX)
                return convert_why(r->why, "a row of more than 64 MiB");
        }
    }
    putc(map ? '}' : ']', r->json);
    return 1;
}

static int put(struct convert_reader *r, const struct avro_type *t, unsigned depth)
{
    int64_t branch;
    if (depth == AVRO_DEPTH_MAX) return convert_why(r->why, "nested more than 64 deep");
    if (t->kind == AVRO_RECORD) return put_record(r, t, depth + 1);
    if (t->kind == AVRO_ARRAY || t->kind == AVRO_MAP) return put_items(r, t, depth + 1);
    if (t->kind != AVRO_UNION) return put_plain(r, t);
    if (!take_long(r, &branch)) return 0;
    if (branch < 0 || (uint64_t)branch >= t->count)
        return convert_why(r->why, "a branch that its union has not");
    return put(r, t->of[branch], depth + 1);
}

static enum convert_got next_row(struct convert_reader *r)
{
    struct avro *a = (struct avro *)r->state;
    char why[256];
    r->number = ++a->row;
    while (a->rows == 0) {
        if (a->at < a->end) {
            convert_why(r->why, "%zu bytes in front of it are of no row of their block", (size_t)(a->end - a->at));
            a->at = a->end;
            return CONVERT_BAD;
        }
        enum convert_got got = next_block(r);
        if (got != CONVERT_ROW) return got;
    }
    if (put(r, a->schema.top, 0)) return a->rows--, CONVERT_ROW;
    memcpy(why, r->why, sizeof why);
    convert_why(r->why, "%.200s; so cannot %" PRIu64 " behind it", why, a->rows - 1);
    if (a->rows == 1) memcpy(r->why, why, sizeof why);
    a->row += a->rows - 1;
    a->rows = 0;
    a->at = a->end;
    return CONVERT_BAD;
}

struct avro_out {
    tool_buffer block;
    uint64_t rows;
    uint8_t sync[SYNC];
};

static void put_long(FILE *file, int64_t number)
{
    uint64_t n = (uint64_t)number << 1 ^ (number < 0 ? ~UINT64_C(0) : 0);
    for (; n >= 128; n >>= 7) putc_unlocked((int)(n & 127) | 128, file);
    putc_unlocked((int)n, file);
}

static void put_bytes(FILE *file, const void *bytes, size_t size)
{
    put_long(file, (int64_t)size);
    fwrite(bytes, 1, size, file);
}

/* The types that a column may have, in the order in which a union has them. */
static const struct {
    unsigned kinds;
    const char *name;
} types[] = {
    {CONVERT_NULL | CONVERT_ABSENT, "null"},
    {CONVERT_BOOL, "boolean"},
    {CONVERT_INT, "long"},
    {CONVERT_FLOAT32, "float"},
    {CONVERT_FLOAT64, "double"},
    {CONVERT_TEXT | CONVERT_HUGE | CONVERT_NESTED | CONVERT_OTHER, "string"},
    {CONVERT_BYTES, "bytes"},
};
enum { TYPES = sizeof types / sizeof *types, NOTE_NAMES = 1 << 16 };

/* How many of them a column has. Of one alone there is no union. */
static int types_of(const struct convert_column *c)
{
    int n = 0;
    for (size_t t = 0; t < TYPES; t++) n += (c->kinds & types[t].kinds) != 0;
    return n;
}

/* A name as Avro allows it. */
static int avro_name(struct convert_writer *w, size_t at, char name[256])
{
    const struct convert_column *c = &w->columns[at];
    size_t n = 0;
    if (c->size > 200)
        return convert_why(w->why, "a field's name of more than 200 bytes: '%.40s...'", c->name);
    if (c->size == 0 || isdigit((unsigned char)c->name[0])) name[n++] = '_';
    for (size_t i = 0; i < c->size; i++) {
        unsigned char b = (unsigned char)c->name[i];
        name[n++] = (char)(b < 128 && (isalnum(b) || b == '_') ? b : '_');
    }
    name[n] = '\0';
    if (n != c->size || memcmp(name, c->name, n) != 0)
        convert_tell(
            &w->told, NOTE_NAMES,
            "names in Avro are of letters, digits and _: what else is in a field's name is _");
    return 1;
}

static int put_schema(struct convert_writer *w, FILE *out)
{
    char name[256], other[256];
    fputs("{\"type\":\"record\",\"name\":\"record\",\"namespace\":\"u9\",\"fields\":[", out);
    for (size_t i = 0; i < w->count; i++) {
        int many = 0;
        if (!avro_name(w, i, name)) return 0;
        for (size_t k = 0; k < i; k++)
            if (avro_name(w, k, other) && strcmp(name, other) == 0)
                return convert_why(w->why, "two fields would be named %.80s", name);
        int alone = types_of(&w->columns[i]) == 1;
        fprintf(out, "%s{\"name\":\"%s\",\"type\":%s", i ? "," : "", name, alone ? "" : "[");
        for (size_t t = 0; t < TYPES; t++)
            if (w->columns[i].kinds & types[t].kinds)
                fprintf(out, "%s\"%s\"", many++ ? "," : "", types[t].name);
        fputs(alone ? "}" : "]}", out);
    }
    fputs("]}", out);
    return 1;
}

static int begin_avro(struct convert_writer *w)
{
    struct avro_out *a = (struct avro_out *)calloc(1, sizeof *a);
    w->state = a;
    if (!a || !tool_buffer_open(&a->block))
        return convert_no_memory(w->why);
    for (size_t i = 0; i < w->count; i++)
        if (w->columns[i].kinds & CONVERT_ABSENT)
            convert_tell(&w->told, CONVERT_ABSENT,
                         "fields that a record lacks are null in its row");
    if (getrandom(a->sync, SYNC, 0) != SYNC) return convert_why(w->why, "no random bytes are to be had");
    if (!put_schema(w, a->block.file)) return 0;
    if (!tool_buffer_take(&a->block)) return convert_no_memory(w->why);
    fwrite(magic, 1, sizeof magic, w->file);
    put_long(w->file, 2);
    put_bytes(w->file, "avro.codec", 10);
    put_bytes(w->file, "null", 4);
    put_bytes(w->file, "avro.schema", 11);
    put_bytes(w->file, a->block.bytes, a->block.size);
    put_long(w->file, 0);
    fwrite(a->sync, 1, SYNC, w->file);
    tool_buffer_clear(&a->block);
    return 1;
}

static void put_real(FILE *out, double number, unsigned kind)
{
    float narrow = (float)number;
    uint64_t bits;
    uint32_t low;
    memcpy(&bits, &number, sizeof bits);
    memcpy(&low, &narrow, sizeof low);
    unsigned size = kind == CONVERT_FLOAT32 ? 4 : 8;
    if (size == 4) bits = low;
    for (unsigned i = 0; i < size; i++) putc_unlocked((int)(bits >> 8 * i & 255), out);
}

static int put_json(struct convert_writer *w, FILE *out, const u9_value *v, unsigned kind)
{
    size_t size = 0;
    const char *text = convert_json(v, &size);
    if (kind == CONVERT_HUGE)
        convert_tell(
            &w->told, kind,
            "Avro has no integers of 2^63 and above: their digits are written, as a string");
    if (kind == CONVERT_NESTED)
        convert_tell(&w->told, kind,
                     "arrays and objects are written to Avro as a string, their JSON text");
    if (kind == CONVERT_OTHER)
        convert_tell(&w->told, kind, "Avro has no symbols and their like: their JSON text is written, as a string");
    if (!text) return convert_no_memory(w->why), -1;
    put_bytes(out, text, size);
    return 1;
}

static int put_value(struct convert_writer *w, FILE *out, const struct convert_column *c,
                     const u9_value *v)
{
    unsigned kind = v->type ? convert_kind(v) : CONVERT_ABSENT;
    int64_t branch = 0;
    for (size_t t = 0; t < TYPES && !(types[t].kinds & kind); t++)
        branch += (types[t].kinds & c->kinds) != 0;
    if (types_of(c) > 1) put_long(out, branch);
    switch (kind) {
    case CONVERT_NULL:
    case CONVERT_ABSENT: return 1;
    case CONVERT_BOOL: putc_unlocked(v->data[0] == 't', out); return 1;
    case CONVERT_INT: put_long(out, v->type == U9_UINT ? (int64_t)v->u : v->i); return 1;
    case CONVERT_FLOAT32:
    case CONVERT_FLOAT64: put_real(out, v->f, kind); return 1;
    case CONVERT_TEXT:
    case CONVERT_BYTES: put_bytes(out, v->data, (size_t)v->size); return 1;
    default: return put_json(w, out, v, kind);
    }
}

static int put_block(struct convert_writer *w)
{
    struct avro_out *a = (struct avro_out *)w->state;
    if (!tool_buffer_take(&a->block)) return convert_no_memory(w->why), -1;
    if (a->rows == 0) return 1;
    put_long(w->file, (int64_t)a->rows);
    put_bytes(w->file, a->block.bytes, a->block.size);
    fwrite(a->sync, 1, SYNC, w->file);
    a->rows = 0;
    tool_buffer_clear(&a->block);
    return 1;
}

static int put_avro(struct convert_writer *w, const struct convert_row *row)
{
    struct avro_out *a = (struct avro_out *)w->state;
    const u9_value *cells = convert_cells(w, row);
    int did = 1;
    for (size_t i = 0; i < w->count && did == 1; i++)
        did = put_value(w, a->block.file, &w->columns[i], &cells[i]);
    a->rows++;
    if (did == 1 && ferror(a->block.file)) did = convert_no_memory(w->why) - 1;
    return did == 1 && tool_buffer_used(&a->block) >= BLOCK ? put_block(w) : did;
}

static int finish_avro(struct convert_writer *w, int whole)
{
    struct avro_out *a = (struct avro_out *)w->state;
    int did = !whole || put_block(w) == 1;
    if (a) tool_buffer_close(&a->block);
    free(a);
    return did;
}

const struct convert_format convert_avro = {
    .name = "avro",
    .unit = ": row ",
    .open = open_avro,
    .next = next_row,
    .close = close_avro,
    .begin = begin_avro,
    .put = put_avro,
    .finish = finish_avro,
    .columns = 1,
    .binary = 1,
};
