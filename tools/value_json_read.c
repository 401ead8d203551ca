/*
 * tools/value_json_read.c: builds values from JSON. [J-1] to [J-7]
 *
 * json_tree.c makes a tree of the text; one loop goes over its nodes, with a stack of what is open.
 * An object is built apart, in bytes of its own, because its index, which stands in front, can be
 * made only when all of it is there. Numbers are read from their own digits, once.
 */
#include "tools/value_json.h"

#include "tools/json_tree.h"

#include <u9.h>

#include <math.h>
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
    uint32_t next, end;      /* indexes of the node to come, and of the one behind the container */
    int lone;                /* of an object: it has one member */
    u9_builder *into;        /* what the container is built into */
    u9_builder *own;         /* of an object: its tuple, without the index */
    uint8_t *owned;          /* to be freed: the typecode */
    const uint8_t *typecode; /* of an array: what its elements are; else NULL */
};

struct reading {
    const struct tree_node *nodes, *node; /* all; the one that is being built */
    unsigned depth;                       /* levels */
    unsigned containers;                  /* that are open in the value */
    int objects;                          /* not 0: there was one */
    struct level open[U9_DEPTH_MAX];
};

static const char too_deep[] = "containers nested more than 64 deep";

/* What an error of the builder means; NULL for none. */
static const char *because(const u9_builder *b, u9_err err)
{
    if (err == U9_OK) return NULL;
    if (err == U9_NOMEM) return tool_no_memory;
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

/* The text of a string in `room`; NULL if it is no string, too long, or has a NUL in it. */
static const char *plain_text(const struct tree_node *node, char room[96])
{
    if (node->kind != TREE_STRING || node->size > 95 || memchr(node->text, '\0', node->size))
        return NULL;
    memcpy(room, node->text, node->size);
    room[node->size] = '\0';
    return room;
}

/* For messages: the first characters of a text. */
static int some_of(const struct tree_node *node)
{
    return node->size < 40 ? (int)node->size : 40;
}

/* A number as the nearest float, which must be a finite one. Behind its text stands no digit. [J-3] */
static const char *build_float(u9_builder *b, int narrow, const struct tree_node *node)
{
    float single = narrow ? strtof(node->text, NULL) : 0;
    double wide = narrow ? 0 : strtod(node->text, NULL);
    if (isinf(single) || isinf(wide))
        return refuse("%.*s is too large for a float%s", some_of(node), node->text,
                      narrow ? "32" : "64");
    return because(b, narrow ? u9_build_float32(b, single) : u9_build_float64(b, wide));
}

/* A number without fraction and exponent, from its digits. [J-2] */
static const char *build_integer(u9_builder *b, const struct tree_node *node)
{
    int negative = *node->text == '-', over = 0;
    uint64_t number = 0;
    for (uint32_t i = (uint32_t)negative; i < node->size && !over; i++)
        over = __builtin_mul_overflow(number, 10u, &number) ||
               __builtin_add_overflow(number, (uint64_t)(node->text[i] - '0'), &number);
    if (over || (negative && number > (uint64_t)1 << 63))
        return refuse("%.*s is not an integer from -2^63 to 2^64 - 1", some_of(node), node->text);
    if (!negative) return because(b, u9_build_uint(b, number));
    return because(b, u9_build_int(b, (int64_t)(0 - number)));
}

static int has_point(const struct tree_node *node)
{
    for (uint32_t i = 0; i < node->size; i++)
        if (strchr(".eE", node->text[i])) return 1;
    return 0;
}

/* A JSON number, or the text of a float. [J-3] */
static const char *build_real(u9_builder *b, const char *key, int narrow,
                              const struct tree_node *node)
{
    char room[96];
    const char *text = plain_text(node, room);
    if (text) return build_text(b, key, narrow ? "float32(%s)" : "float64(%s)", text);
    if (node->kind == TREE_NUMBER) return build_float(b, narrow, node);
    return refuse("\"%s\" wants a number or a text", key);
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)((at - digits) & 15) : -1;
}

/* A string of hex digits as bytes, to be freed; NULL: it is none, or there is no memory. */
static uint8_t *hex_bytes(const struct tree_node *node, size_t *size)
{
    const char *text = node->text;
    size_t digits = node->size;
    if (node->kind != TREE_STRING || digits % 2) return NULL;
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
    if (size > 8)
        return refuse("a symbol has at most 8 bytes, '%.*s' has more", size < 40 ? (int)size : 40,
                      name);
    memcpy(bytes + 1, name, size);
    return because(b, u9_build_raw(b, bytes, sizeof bytes));
}

/* {"$bytes":"hex"} and the like. [J-4] */
static const char *build_hex(u9_builder *b, const char *key, const struct tree_node *node)
{
    size_t size = 0;
    uint8_t *bytes = hex_bytes(node, &size);
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
static const char *build_greek(u9_builder *b, const struct tree_node *node)
{
    static const char *const names[] = {"alpha", "omega", "iota", "kappa", "tau0"};
    char room[96];
    const char *text = plain_text(node, room);
    for (int i = 0; text && i < 5; i++)
        if (strcmp(text, names[i]) == 0)
            return because(b, u9_build_greek(b, (u9_type)(U9_ALPHA + i)));
    return refuse("\"$greek\" wants \"alpha\", \"omega\", \"iota\", \"kappa\" or \"tau0\"");
}

/* 1: a number from 0 to 4294967295. */
static int small_number(const struct tree_node *node, uint32_t *number)
{
    if (node->kind != TREE_NUMBER || node->size > 10) return 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < node->size; i++) {
        if (node->text[i] < '0' || node->text[i] > '9') return 0;
        sum = sum * 10 + (uint64_t)(node->text[i] - '0');
    }
    *number = (uint32_t)sum;
    return sum <= UINT32_MAX;
}

/* [J-5] */
static const char *build_pidfd(u9_builder *b, const struct tree_node *node)
{
    uint32_t pid, fd;
    if (node->kind != TREE_ARRAY || node->size != 2 || !small_number(node + 1, &pid) ||
        !small_number(node + 2, &fd))
        return refuse("\"$pidfd\" wants two numbers from 0 to 4294967295");
    return because(b, u9_build_pidfd(b, pid, fd));
}

/* What is in a container stands behind its node. */
static const char *push(struct reading *r, const struct tree_node *node, u9_builder *into,
                        unsigned containers)
{
    if (r->depth == U9_DEPTH_MAX || r->containers + containers > U9_DEPTH_MAX) return too_deep;
    r->containers += containers;
    r->open[r->depth++] =
        (struct level){.next = (uint32_t)(node - r->nodes) + 1, .end = node->end, .into = into};
    return NULL;
}

/* {"$array":[typecode, elements ...]} [J-5] */
static const char *open_array(struct reading *r, u9_builder *b, const struct tree_node *node)
{
    const struct tree_node *text = node + 1;
    size_t size = 0;
    u9_fault fault;
    if (node->kind != TREE_ARRAY || node->size == 0 || text->kind != TREE_STRING)
        return refuse("\"$array\" wants an array that begins with a typecode");
    const char *reason = push(r, node, b, 1);
    if (reason) return reason;
    struct level *l = &r->open[r->depth - 1];
    l->next = text->end;
    l->owned = (uint8_t *)malloc(U9_TYPECODE_MAX);
    if (!l->owned) return because(b, U9_NOMEM);
    l->typecode = l->owned;
    if (u9_typecode_parse(text->text, text->size, l->owned, &size, &fault) != U9_OK)
        return refuse("\"$array\": '%.*s' is not a typecode: %s", some_of(text), text->text,
                      fault.text);
    if (tool_typecode_of_tuples(l->owned))
        return refuse("\"$array\": arrays of tuples are JSON arrays of JSON arrays");
    u9_err err = u9_build_array_open(b, l->owned, size);
    return because(b, err);
}

/* The digits of an integer, for readers and writers whose numbers end at 2^53. [J-2] */
static const char *build_digits(u9_builder *b, const char *key, const struct tree_node *node)
{
    char room[96];
    const char *text = plain_text(node, room);
    if (node->kind != TREE_STRING) return refuse("\"%s\" wants a string", key);
    if (!text || strspn(text, "-0123456789") != node->size)
        return refuse("\"%s\" wants a string of digits", key);
    return build_text(b, key, key[1] == 't' ? "tau(%s)" : "%s", text);
}

/* The content of an object that is no object, by its key, which is one of ours. [J-1] */
static const char *build_content(struct reading *r, u9_builder *b, const char *key,
                                 const struct tree_node *node)
{
    if (strcmp(key, "$array") == 0) return open_array(r, b, node);
    if (strcmp(key, "$float32") == 0 || strcmp(key, "$float64") == 0)
        return build_real(b, key, key[6] == '3', node);
    if (strcmp(key, "$greek") == 0) return build_greek(b, node);
    if (strcmp(key, "$pidfd") == 0) return build_pidfd(b, node);
    if (strcmp(key, "$int") == 0 || strcmp(key, "$tau") == 0) return build_digits(b, key, node);
    if (strcmp(key, "$malformed") == 0) return refuse("\"$malformed\" is no value");
    if (strcmp(key, "$symbol") != 0) return build_hex(b, key, node);
    if (node->kind != TREE_STRING) return refuse("\"%s\" wants a string", key);
    return build_symbol(b, node->text, node->size);
}

/* [J-1] [J-6] */
static const char *build_wrapped(struct reading *r, u9_builder *b, const struct tree_node *key)
{
    char name[24];
    snprintf(name, sizeof name, "%.*s", (int)key->size, key->text);
    const char *reason = build_content(r, b, name, key + 1);
    size_t said = strlen(why);
    if (reason == why && said < sizeof why - 64)
        snprintf(why + said, sizeof why - said, " (a key of your own is \"$%s\")", name);
    return reason;
}

/* [J-6] */
static const char *open_object(struct reading *r, u9_builder *b, const struct tree_node *node)
{
    /* The tuple and a pair, or the index and an array in it. */
    const char *reason = push(r, node, b, 2);
    if (reason) return reason;
    struct level *l = &r->open[r->depth - 1];
    l->own = (u9_builder *)malloc(sizeof *l->own);
    if (!l->own) return because(b, U9_NOMEM);
    u9_builder_init_growing(l->own, tool_grow, NULL);
    l->lone = node->size == 1;
    r->objects = 1;
    return because(l->own, u9_build_tuple_open(l->own));
}

/* A JSON array: a tuple, or what the array around it says of its elements. [J-5] */
static const char *open_list(struct reading *r, u9_builder *b, const struct tree_node *node,
                             const uint8_t *typecode)
{
    const char *reason = push(r, node, b, 1);
    if (reason) return reason;
    if (!typecode || typecode[0] < 0x44 || typecode[0] > 0x47)
        return because(b, u9_build_tuple_open(b));
    r->open[r->depth - 1].typecode = typecode + 1 + (2u << (typecode[0] & 3));
    return because(b, u9_build_array_open(b, NULL, 0));
}

/* Builds a JSON value, or opens it; `typecode`: of the array that it is an element of, or NULL. */
static const char *build(struct reading *r, u9_builder *b, const struct tree_node *node,
                         const uint8_t *typecode)
{
    int real = typecode && (typecode[0] == 0x08 || typecode[0] == 0x09);
    r->node = node;
    switch (node->kind) {
    case TREE_STRING: return because(b, u9_build_utf8(b, node->text, node->size));
    case TREE_NUMBER:
        if (real) return build_float(b, typecode[0] == 0x08, node);
        return has_point(node) ? build_float(b, 0, node) : build_integer(b, node);
    case TREE_TRUE: return build_symbol(b, "true", 4);
    case TREE_FALSE: return build_symbol(b, "false", 5);
    case TREE_NULL: return build_symbol(b, "null", 4);
    case TREE_ARRAY: return open_list(r, b, node, typecode);
    case TREE_OBJECT: break;
    }
    if (node->size == 1 && tool_json_marks(node[1].text, node[1].size) == 1)
        return build_wrapped(r, b, node + 1);
    return open_object(r, b, node);
}

/* Begins the pair of a member: its tuple and key. A mark more than ours stands in front of a key
 * that would read as one of ours. [J-6] */
static const char *begin_pair(struct level *l, const struct tree_node *key)
{
    size_t extra = l->lone && tool_json_marks(key->text, key->size) > 1;
    u9_err err = u9_build_tuple_open(l->own);
    if (err == U9_OK) err = u9_build_utf8(l->own, key->text + extra, key->size - extra);
    return because(l->own, err);
}

const char *tool_build_object(u9_builder *into, const u9_value *tuple)
{
    const u9_index_spec spec = {.keyspec = U9_KEYSPEC_KH};
    uint64_t entries = u9_index_scratch(tuple, &spec, 1);
    u9_index_entry *scratch = (u9_index_entry *)calloc((size_t)entries + 1, sizeof *scratch);
    if (!scratch) return because(into, U9_NOMEM);
    u9_err err = u9_build_indexed(into, tuple, &spec, 1, scratch, entries);
    free(scratch);
    return because(into, err);
}

/* Puts the finished tuple of an object, with its index, into what the object stands in. [J-6] */
static const char *index_object(const struct level *l)
{
    u9_value tuple;
    u9_err err = u9_build_tuple_close(l->own);
    if (err == U9_OK) err = u9_value_decode(l->own->bytes, l->own->size, &tuple);
    return err == U9_OK ? tool_build_object(l->into, &tuple) : because(l->own, err);
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
static const struct tree_node *next_value(struct reading *r, const char **reason)
{
    struct level *l = &r->open[r->depth - 1];
    if (l->own && l->own->depth > 1)
        *reason = because(l->own, u9_build_tuple_close(l->own)); /* the pair before */
    if (*reason || l->next == l->end) return NULL;
    const struct tree_node *node = &r->nodes[l->next];
    if (l->own) *reason = begin_pair(l, node++);
    l->next = node->end;
    return node;
}

static const char *build_all(struct reading *r, u9_builder *b)
{
    const char *reason = build(r, b, r->nodes, NULL);
    while (!reason && r->depth > 0) {
        struct level *l = &r->open[r->depth - 1];
        const struct tree_node *next = next_value(r, &reason);
        if (reason) break;
        reason = next ? build(r, l->own ? l->own : l->into, next, l->typecode) : pop(r);
    }
    while (r->depth > 0) release(&r->open[--r->depth]);
    return reason;
}

const char *tool_read_json(u9_builder *b, const char *text, size_t size, size_t *column)
{
    static struct reading r;
    static struct tree tree;
    size_t begin = b->size, at = 0;
    const char *reason = tool_tree_read(&tree, text, size, &at);
    if (!reason) {
        r.nodes = tree.nodes;
        r.depth = r.containers = 0;
        r.objects = 0;
        reason = build_all(&r, b);
        at = r.node->at;
    }
    if (!reason && r.objects &&
        u9_value_check(b->bytes + begin, b->size - begin, NULL, NULL) != U9_OK)
        reason = too_deep; /* an object's builder does not see how deep it stands */
    tool_tree_clear(&tree);
    if (reason) *column = tool_json_column(text, at);
    return reason;
}

int tool_json_no_memory(const char *sentence)
{
    return sentence == tool_no_memory;
}

size_t tool_json_column(const char *line, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80) column++;
    return column;
}

int tool_json_blank(const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r' && line[i] != '\n') return 0;
    return 1;
}

const unsigned char tool_order_mark[3] = {0xef, 0xbb, 0xbf};

size_t tool_json_order_mark(const char *text, size_t size)
{
    return size >= sizeof tool_order_mark && memcmp(text, tool_order_mark, sizeof tool_order_mark) == 0 ? sizeof tool_order_mark : 0;
}
