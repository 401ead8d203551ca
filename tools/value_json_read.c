/*
 * tools/value_json_read.c: builds values from JSON. [J-1] to [J-7]
 *
 * Jansson reads the text; one loop goes over what it made, with a stack of what is open. An object
 * is built apart, in bytes of its own, because its index, which stands in front, can be made only
 * when all of it is there.
 */
#include "tools/value_json.h"

#include <u9.h>

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why[512]; /* what was refused last */

static const char *refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *refuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    return why;
}

u9_err tool_grow(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    (void)ctx;
    if (need > VALUE_SIZE_MAX) return U9_LIMIT;
    size_t room = 2 * *cap > 4096 ? 2 * *cap : 4096;
    room = room < need ? need : room > VALUE_SIZE_MAX ? VALUE_SIZE_MAX : room;
    uint8_t *more = (uint8_t *)realloc(*bytes, room);
    if (!more) return U9_NOMEM;
    *bytes = more;
    *cap = room;
    return U9_OK;
}

/* A container that is open. */
struct level {
    const json_t *json;
    size_t next;             /* of a JSON array: the element to come */
    void *member;            /* of an object: the member to come */
    u9_builder *into;        /* what the container is built into */
    u9_builder *own;         /* of an object: its tuple, without the index */
    uint8_t *owned;          /* to be freed: the typecode */
    const uint8_t *typecode; /* of an array: what its elements are; else NULL */
};

struct reading {
    unsigned depth;      /* levels */
    unsigned containers; /* that are open in the value */
    int objects;         /* not 0: there was one */
    struct level open[U9_DEPTH_MAX];
};

static const char too_deep[] = "containers nested more than 64 deep";

/* What an error of the builder means; NULL for none. */
static const char *because(const u9_builder *b, u9_err err)
{
    if (err == U9_OK) return NULL;
    if (err == U9_NOMEM) return "out of memory";
    if (err != U9_LIMIT) return "an array's element is not what its typecode says";
    if (u9_builder_missing(b) > 0) return "longer than a record may be (16 MiB)";
    return "containers nested more than 64 deep, or more than 255 empty elements";
}

/* Builds the value of a short text in the notation. [N-2] [N-5] */
static const char *build_text(u9_builder *b, const char *key, const char *format, const char *text)
{
    char notation[96];
    uint8_t bytes[16];
    u9_builder one;
    u9_fault fault;
    int size = snprintf(notation, sizeof notation, format, text);
    u9_builder_init(&one, bytes, sizeof bytes);
    if (size < 0 || (size_t)size >= sizeof notation || strpbrk(text, " \t\r\n;") ||
        u9_value_parse(notation, (size_t)size, NULL, &one, &fault) != U9_OK)
        return refuse("\"%s\": '%.40s' is not such a value", key, text);
    return because(b, u9_build_raw(b, bytes, one.size));
}

/* The text of a string; NULL if it is no string, or has a NUL in it. */
static const char *plain_text(const json_t *json)
{
    const char *text = json_string_value(json);
    return text && strlen(text) == json_string_length(json) ? text : NULL;
}

/* A JSON number, or the text of a float. [J-3] */
static const char *build_real(u9_builder *b, const char *key, int narrow, const json_t *json)
{
    const char *format = narrow ? "float32(%s)" : "float64(%s)";
    if (plain_text(json)) return build_text(b, key, format, plain_text(json));
    if (!json_is_number(json)) return refuse("\"%s\" wants a number or a text", key);
    if (!narrow) return because(b, u9_build_float64(b, json_number_value(json)));
    char text[64];
    uint8_t wide[9]; /* its digits are rounded once more only, to the narrow one */
    u9_builder one;
    u9_builder_init(&one, wide, sizeof wide);
    if (u9_build_float64(&one, json_number_value(json)) != U9_OK ||
        u9_value_text(wide, sizeof wide, text, sizeof text, NULL, NULL) != U9_OK)
        return refuse("\"%s\": no such number", key);
    return build_text(b, key, format, text);
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)((at - digits) & 15) : -1;
}

/* A string of hex digits as bytes, to be freed; NULL: it is none, or there is no memory. */
static uint8_t *hex_bytes(const json_t *json, size_t *size)
{
    const char *text = json_string_value(json);
    size_t digits = json_string_length(json);
    if (!text || digits % 2) return NULL;
    uint8_t *bytes = (uint8_t *)malloc(digits / 2 + 1);
    for (size_t i = 0; bytes && i < digits; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) {
            free(bytes);
            return NULL;
        }
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    *size = digits / 2;
    return bytes;
}

/* [J-4] */
static const char *build_symbol(u9_builder *b, const char *name, size_t size)
{
    uint8_t bytes[9] = {0x0a};
    if (size > 8) return refuse("a symbol has at most 8 bytes, '%.40s' has more", name);
    memcpy(bytes + 1, name, size);
    return because(b, u9_build_raw(b, bytes, sizeof bytes));
}

/* {"$bytes":"hex"} and the like. [J-4] */
static const char *build_hex(u9_builder *b, const char *key, const json_t *json)
{
    size_t size = 0;
    uint8_t *bytes = hex_bytes(json, &size);
    if (!bytes) return refuse("\"%s\" wants a string of hex digits, two a byte", key);
    const char *reason;
    if (strcmp(key, "$symbol_bytes") == 0) reason = build_symbol(b, (const char *)bytes, size);
    else
        reason = because(b, strcmp(key, "$utf8") == 0 ? u9_build_utf8(b, bytes, size)
                                                      : u9_build_bytes(b, bytes, size));
    free(bytes);
    return reason;
}

/* [J-5] */
static const char *build_greek(u9_builder *b, const json_t *json)
{
    static const char *const names[] = {"alpha", "omega", "iota", "kappa", "tau0"};
    const char *text = plain_text(json);
    for (int i = 0; text && i < 5; i++)
        if (strcmp(text, names[i]) == 0)
            return because(b, u9_build_greek(b, (u9_type)(U9_ALPHA + i)));
    return refuse("\"$greek\" wants \"alpha\", \"omega\", \"iota\", \"kappa\" or \"tau0\"");
}

/* [J-5] */
static const char *build_pidfd(u9_builder *b, const json_t *json)
{
    const json_t *pid = json_array_get(json, 0), *fd = json_array_get(json, 1);
    json_int_t p = json_integer_value(pid), f = json_integer_value(fd);
    if (json_array_size(json) != 2 || !json_is_integer(pid) || !json_is_integer(fd) || p < 0 ||
        p > UINT32_MAX || f < 0 || f > UINT32_MAX)
        return refuse("\"$pidfd\" wants two numbers from 0 to 4294967295");
    return because(b, u9_build_pidfd(b, (uint32_t)p, (uint32_t)f));
}

static const char *push(struct reading *r, const json_t *json, u9_builder *into,
                        unsigned containers)
{
    if (r->depth == U9_DEPTH_MAX || r->containers + containers > U9_DEPTH_MAX) return too_deep;
    r->containers += containers;
    r->open[r->depth++] = (struct level){.json = json, .into = into};
    return NULL;
}

/* {"$array":[typecode, elements ...]} [J-5] */
static const char *open_array(struct reading *r, u9_builder *b, const json_t *json)
{
    const json_t *text = json_array_get(json, 0);
    size_t size = 0;
    u9_fault fault;
    if (!json_is_string(text))
        return refuse("\"$array\" wants an array that begins with a typecode");
    const char *reason = push(r, json, b, 1);
    if (reason) return reason;
    struct level *l = &r->open[r->depth - 1];
    l->next = 1;
    l->owned = (uint8_t *)malloc(U9_TYPECODE_MAX);
    if (!l->owned) return because(b, U9_NOMEM);
    l->typecode = l->owned;
    if (u9_typecode_parse(json_string_value(text), json_string_length(text), l->owned, &size,
                          &fault) != U9_OK)
        return refuse("\"$array\": '%.40s' is not a typecode: %s", json_string_value(text),
                      fault.text);
    if (tool_typecode_of_tuples(l->owned))
        return refuse("\"$array\": arrays of tuples are JSON arrays of JSON arrays");
    u9_err err = u9_build_array_open(b, l->owned, size);
    return because(b, err);
}

/* An object of a single member whose key begins with a single `$`. [J-1] */
static const char *build_wrapped(struct reading *r, u9_builder *b, const char *key,
                                 const json_t *json)
{
    const char *text = json_string_value(json);
    if (strcmp(key, "$array") == 0) return open_array(r, b, json);
    if (strcmp(key, "$float32") == 0 || strcmp(key, "$float64") == 0)
        return build_real(b, key, key[6] == '3', json);
    if (strcmp(key, "$greek") == 0) return build_greek(b, json);
    if (strcmp(key, "$pidfd") == 0) return build_pidfd(b, json);
    if (strcmp(key, "$bytes") == 0 || strcmp(key, "$utf8") == 0 ||
        strcmp(key, "$symbol_bytes") == 0)
        return build_hex(b, key, json);
    int number = strcmp(key, "$int") == 0 || strcmp(key, "$tau") == 0;
    if (!number && strcmp(key, "$symbol") != 0)
        return refuse("an object with the key \"%s\" is no value (a key of your own is \"$%s\")", key, key);
    if (!text) return refuse("\"%s\" wants a string", key);
    if (!number) return build_symbol(b, text, json_string_length(json));
    if (strspn(text, "-0123456789") != json_string_length(json))
        return refuse("\"%s\" wants a string of digits", key);
    return build_text(b, key, key[1] == 't' ? "tau(%s)" : "%s", text);
}

/* [J-6] */
static const char *open_object(struct reading *r, u9_builder *b, json_t *json)
{
    /* The tuple and a pair, or the index and an array in it. */
    const char *reason = push(r, json, b, 2);
    if (reason) return reason;
    struct level *l = &r->open[r->depth - 1];
    l->own = (u9_builder *)malloc(sizeof *l->own);
    if (!l->own) return because(b, U9_NOMEM);
    u9_builder_init_growing(l->own, tool_grow, NULL);
    l->member = json_object_iter(json);
    r->objects = 1;
    return because(l->own, u9_build_tuple_open(l->own));
}

/* A JSON array: a tuple, or what the array around it says of its elements. [J-5] */
static const char *open_list(struct reading *r, u9_builder *b, const json_t *json,
                             const uint8_t *typecode)
{
    const char *reason = push(r, json, b, 1);
    if (reason) return reason;
    if (!typecode || typecode[0] < 0x44 || typecode[0] > 0x47)
        return because(b, u9_build_tuple_open(b));
    r->open[r->depth - 1].typecode = typecode + 1 + (2u << (typecode[0] & 3));
    return because(b, u9_build_array_open(b, NULL, 0));
}

/* Builds a JSON value, or opens it; `typecode`: of the array that it is an element of, or NULL. */
static const char *build(struct reading *r, u9_builder *b, json_t *json, const uint8_t *typecode)
{
    int real = typecode && (typecode[0] == 0x08 || typecode[0] == 0x09);
    if (real && json_is_number(json)) return build_real(b, "$array", typecode[0] == 0x08, json);
    switch (json_typeof(json)) {
    case JSON_STRING:
        return because(b, u9_build_utf8(b, json_string_value(json), json_string_length(json)));
    case JSON_INTEGER: return because(b, u9_build_int(b, json_integer_value(json)));
    case JSON_REAL: return because(b, u9_build_float64(b, json_real_value(json)));
    case JSON_TRUE: return build_symbol(b, "true", 4);
    case JSON_FALSE: return build_symbol(b, "false", 5);
    case JSON_NULL: return build_symbol(b, "null", 4);
    case JSON_ARRAY: return open_list(r, b, json, typecode);
    case JSON_OBJECT: break;
    }
    void *member = json_object_iter(json);
    const char *key = member ? json_object_iter_key(member) : "";
    if (json_object_size(json) == 1 && key[0] == '$' && key[1] != '$')
        return build_wrapped(r, b, key, json_object_iter_value(member));
    return open_object(r, b, json);
}

/* Begins the pair of a member: its tuple and key. Keys that Jansson tells apart may be one here. [J-6] */
static const char *begin_pair(struct level *l)
{
    const char *key = json_object_iter_key(l->member);
    size_t size = json_object_iter_key_len(l->member);
    int escaped = size > 1 && key[0] == '$' && key[1] == '$';
    if (escaped && key[2] != '$' && json_object_get(l->json, key + 1))
        return "an object has one key twice: \"$$...\" is \"$...\"";
    u9_err err = u9_build_tuple_open(l->own);
    if (err == U9_OK) err = u9_build_utf8(l->own, key + escaped, size - (size_t)escaped);
    return because(l->own, err);
}

/* Puts the finished tuple of an object, with its index, into what the object stands in. [J-6] */
static const char *index_object(const struct level *l)
{
    const u9_index_spec spec = {.keyspec = U9_KEYSPEC_KH};
    u9_value tuple;
    u9_err err = u9_build_tuple_close(l->own);
    if (err == U9_OK) err = u9_value_decode(l->own->bytes, l->own->size, &tuple);
    if (err != U9_OK) return because(l->own, err);
    uint64_t entries = u9_index_scratch(&tuple, &spec, 1);
    u9_index_entry *scratch = (u9_index_entry *)calloc((size_t)entries + 1, sizeof *scratch);
    if (!scratch) return because(l->into, U9_NOMEM);
    err = u9_build_indexed(l->into, &tuple, &spec, 1, scratch, entries);
    free(scratch);
    return because(l->into, err);
}

static void release(struct level *l)
{
    if (l->own) free(l->own->bytes);
    free(l->own);
    free(l->owned);
}

/* Closes the innermost container. */
static const char *pop(struct reading *r)
{
    struct level *l = &r->open[r->depth - 1];
    const char *reason;
    if (l->own) reason = index_object(l);
    else
        reason = because(l->into, l->typecode ? u9_build_array_close(l->into)
                                              : u9_build_tuple_close(l->into));
    r->containers -= l->own ? 2 : 1;
    release(l);
    r->depth--;
    return reason;
}

/* The next value to be built; NULL at the end of the innermost container. */
static json_t *next_value(struct level *l, const char **reason)
{
    if (!l->own) return json_array_get(l->json, l->next++);
    if (l->own->depth > 1)
        *reason = because(l->own, u9_build_tuple_close(l->own)); /* the pair before */
    if (*reason || !l->member) return NULL;
    *reason = begin_pair(l);
    json_t *json = json_object_iter_value(l->member);
    l->member = json_object_iter_next((json_t *)(uintptr_t)l->json, l->member);
    return json;
}

static const char *build_all(struct reading *r, u9_builder *b, json_t *json)
{
    const char *reason = build(r, b, json, NULL);
    while (!reason && r->depth > 0) {
        struct level *l = &r->open[r->depth - 1];
        json_t *next = next_value(l, &reason);
        if (reason) break;
        reason = next ? build(r, l->own ? l->own : l->into, next, l->typecode) : pop(r);
    }
    while (r->depth > 0) release(&r->open[--r->depth]);
    return reason;
}

const char *tool_read_json(u9_builder *b, const char *text, size_t size)
{
    static struct reading r;
    json_error_t error;
    size_t begin = b->size;
    json_t *json =
        json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    if (!json) return refuse("not a JSON value: %s", error.text);
    r.depth = r.containers = 0;
    r.objects = 0;
    const char *reason = build_all(&r, b, json);
    json_decref(json);
    if (!reason && r.objects &&
        u9_value_check(b->bytes + begin, b->size - begin, NULL, NULL) != U9_OK)
        reason = too_deep; /* an object's builder does not see how deep it stands */
    return reason;
}
