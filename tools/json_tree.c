/*
 * tools/json_tree.c: see json_tree.h.
 */
#include "tools/json_tree.h"

#include <u9/value.h>

#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

enum { KEEP_NODES = 1 << 16, FEW_KEYS = 8 };

const char tool_no_memory[] = "out of memory";

/* One text being read. */
struct reading {
    struct tree *tree;
    const char *text;
    size_t size, copied;
    const char *why; /* what we refused; NULL: nothing */
    yajl_handle yajl;
    unsigned depth;
    uint32_t open[TREE_DEPTH_MAX];
};

/*
 * yajl asks for memory and never looks whether it got some: where there is none we leave it at once. What it holds
 * then is lost to the process, which has a sentence to say and ends.
 */
static jmp_buf without_memory;

static void *had(void *memory)
{
    if (!memory) longjmp(without_memory, 1);
    return memory;
}

static void *yajl_malloc(void *ctx, size_t size)
{
    (void)ctx;
    return had(malloc(size));
}

static void *yajl_realloc(void *ctx, void *memory, size_t size)
{
    (void)ctx;
    return had(realloc(memory, size));
}

static void yajl_release(void *ctx, void *memory)
{
    (void)ctx;
    free(memory);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int refuse(struct reading *r, const char *why)
{
    r->why = why;
    return 0;
}

/* Bytes that yajl keeps only for now are copied: all of them together are no longer than the text. */
static const char *keep(struct reading *r, const char *text, size_t size)
{
    struct tree *t = r->tree;
    if (text >= r->text && text < r->text + r->size) return text;
    if (!t->copies) t->copies = (char *)malloc(r->size + 1);
    if (!t->copies) return NULL;
    char *copy = t->copies + r->copied;
    memcpy(copy, text, size);
    copy[size] = '\0';
    r->copied += size;
    return copy;
}

static int add(struct reading *r, enum tree_kind kind, const char *text, size_t size)
{
    struct tree *t = r->tree;
    if (t->count == t->room) {
        uint32_t room = t->room ? t->room * 2 : 256;
        struct tree_node *more =
            room > t->room ? (struct tree_node *)realloc(t->nodes, room * sizeof *more) : NULL;
        if (!more) return refuse(r, tool_no_memory);
        t->nodes = more;
        t->room = room;
    }
    const char *kept = text ? keep(r, text, size) : NULL;
    if (text && !kept) return refuse(r, tool_no_memory);
    size_t read = yajl_get_bytes_consumed(r->yajl);
    size_t at = kept && kept != text ? read : kept ? (size_t)(kept - r->text) : read;
    if (at > 0 && kind != TREE_NUMBER) at--; /* the quote or bracket */
    if (t->count == 0)
        for (at = 0; at < r->size && is_blank(r->text[at]);) at++;
    t->nodes[t->count] = (struct tree_node){.text = kept,
                                            .size = (uint32_t)size,
                                            .at = (uint32_t)at,
                                            .end = t->count + 1,
                                            .kind = kind};
    t->count++;
    return 1;
}

/* A value; its key, if it has one, stands before it. */
static int add_value(struct reading *r, enum tree_kind kind, const char *text, size_t size)
{
    if (r->depth > 0) r->tree->nodes[r->open[r->depth - 1]].size++;
    return add(r, kind, text, size);
}

static int on_null(void *ctx)
{
    return add_value((struct reading *)ctx, TREE_NULL, NULL, 0);
}

static int on_boolean(void *ctx, int yes)
{
    return add_value((struct reading *)ctx, yes ? TREE_TRUE : TREE_FALSE, NULL, 0);
}

static int on_number(void *ctx, const char *text, size_t size)
{
    return add_value((struct reading *)ctx, TREE_NUMBER, text, size);
}

static int on_string(void *ctx, const unsigned char *text, size_t size)
{
    return add_value((struct reading *)ctx, TREE_STRING, (const char *)text, size);
}

static int on_key(void *ctx, const unsigned char *text, size_t size)
{
    struct reading *r = (struct reading *)ctx;
    if (memchr(text, '\0', size)) return refuse(r, "a key with a NUL in it");
    return add(r, TREE_STRING, (const char *)text, size);
}

static int open_container(struct reading *r, enum tree_kind kind)
{
    if (r->depth == TREE_DEPTH_MAX) return refuse(r, "containers nested more than 64 deep");
    if (!add_value(r, kind, NULL, 0)) return 0;
    r->open[r->depth++] = r->tree->count - 1;
    return 1;
}

static int on_object(void *ctx)
{
    return open_container((struct reading *)ctx, TREE_OBJECT);
}

static int on_array(void *ctx)
{
    return open_container((struct reading *)ctx, TREE_ARRAY);
}

static int close_container(void *ctx)
{
    struct reading *r = (struct reading *)ctx;
    r->tree->nodes[r->open[--r->depth]].end = r->tree->count;
    return 1;
}

static int compare_keys(const void *a, const void *b)
{
    const struct tree_node *x = *(const struct tree_node *const *)a;
    const struct tree_node *y = *(const struct tree_node *const *)b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    int order = memcmp(x->text, y->text, x->size);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int same_key(const struct tree_node *x, const struct tree_node *y)
{
    return x->size == y->size && memcmp(x->text, y->text, x->size) == 0;
}

/* Is a key of the object there twice? */
static int close_object(void *ctx)
{
    struct reading *r = (struct reading *)ctx;
    const struct tree_node *nodes = r->tree->nodes, *few[FEW_KEYS];
    const struct tree_node *object = &nodes[r->open[r->depth - 1]];
    static char why[96];
    const struct tree_node **keys =
        object->size <= FEW_KEYS
            ? few
            : (const struct tree_node **)calloc(object->size, sizeof(const struct tree_node *));
    if (!keys) return refuse(r, tool_no_memory);
    const struct tree_node *key = object + 1;
    for (uint32_t i = 0; i < object->size; i++, key = &nodes[key[1].end]) keys[i] = key;
    if (object->size > 1) qsort(keys, object->size, sizeof *keys, compare_keys);
    for (uint32_t i = 1; i < object->size && !r->why; i++) {
        if (!same_key(keys[i - 1], keys[i])) continue;
        snprintf(why, sizeof why, "an object has the key \"%.*s\" twice",
                 keys[i]->size < 40 ? (int)keys[i]->size : 40, keys[i]->text);
        refuse(r, why);
    }
    if (keys != few) free(keys);
    return r->why ? 0 : close_container(r);
}

/* Where the first character stands that is not valid UTF-8. */
static size_t first_bad(const char *text, size_t size)
{
    size_t at = 0;
    for (size_t n = 1; at < size; at += n) {
        for (n = 1; n < 4 && at + n < size && ((unsigned char)text[at + n] & 0xc0) == 0x80;) n++;
        if (!u9_utf8_valid(text + at, n)) break;
    }
    return at;
}

/* The unit of `\uXXXX` at `text`; -1: there is none. */
static int unit_of(const char *text, size_t size)
{
    int unit = 0;
    if (size < 6 || text[0] != '\\' || text[1] != 'u') return -1;
    for (int i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *at = text[i] ? strchr(digits, text[i]) : NULL;
        if (!at) return -1;
        unit = unit << 4 | (int)((at - digits) & 15);
    }
    return unit;
}

/* Where there is a half of a surrogate pair alone; `size`: nowhere. Backslashes are in strings. */
static size_t first_half(const char *text, size_t size)
{
    size_t at = 0;
    for (const char *c; (c = (const char *)memchr(text + at, '\\', size - at)) != NULL;) {
        at = (size_t)(c - text);
        int unit = unit_of(c, size - at);
        int next = unit >= 0xd800 && unit < 0xdc00 ? unit_of(c + 6, size - at - 6) : -1;
        int pair = next >= 0xdc00 && next < 0xe000;
        if (unit >= 0xd800 && unit < 0xe000 && !pair) return at;
        at += pair ? 12 : 2;
        if (at >= size) break;
    }
    return size;
}

/* Behind the value that the text begins with, which is known to be one. */
static size_t end_of_value(const char *text, size_t size)
{
    size_t at = 0, depth = 0;
    while (at < size && is_blank(text[at])) at++;
    do {
        char c = text[at++];
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        while (c == '"' && at < size && text[at++] != '"') at += text[at - 1] == '\\';
        while (depth == 0 && (isalnum((unsigned char)c) || c == '-') && at < size && (isalnum((unsigned char)text[at]) || memchr("+-.", text[at], 3))) at++;
    } while (depth > 0 && at < size);
    return at < size ? at : size;
}

/* Where something stands that yajl takes for a blank, or passes over behind the value; `size`: nowhere. */
static size_t first_passed(const char *text, size_t size)
{
    const char *tab = memchr(text, '\v', size), *feed = memchr(text, '\f', size);
    if (tab || feed) return (size_t)((tab ? tab : feed) - text);
    for (size_t at = end_of_value(text, size); at < size; at++)
        if (!is_blank(text[at])) return at;
    return size;
}

/* What yajl has against the text, without the sort of error in front and the newline behind. */
static const char *yajl_says(const struct reading *r)
{
    static char why[128];
    unsigned char *said = yajl_get_error(r->yajl, 0, (const unsigned char *)r->text, r->size);
    const char *text = said ? (const char *)said : tool_no_memory;
    const char *colon = strstr(text, "error: ");
    snprintf(why, sizeof why, "not a JSON value: %s", colon ? colon + strlen("error: ") : text);
    why[strcspn(why, "\n")] = '\0';
    if (said) yajl_free_error(r->yajl, said);
    return why;
}

static const char *parse(struct reading *r, size_t *at)
{
    yajl_status status = yajl_parse(r->yajl, (const unsigned char *)r->text, r->size);
    *at = yajl_get_bytes_consumed(r->yajl);
    if (status == yajl_status_ok) {
        status = yajl_complete_parse(r->yajl);
        *at = r->size;
    }
    if (*at > 0) --*at;
    if (r->why) return r->why;
    if (status != yajl_status_ok) return yajl_says(r);
    size_t passed = first_passed(r->text, r->size);
    if (passed == r->size) return NULL;
    *at = passed;
    return "not a JSON value: there is something here that is no part of it";
}

const char *tool_tree_read(struct tree *tree, const char *text, size_t size, size_t *at)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_object,
        .yajl_map_key = on_key,
        .yajl_end_map = close_object,
        .yajl_start_array = on_array,
        .yajl_end_array = close_container,
    };
    static yajl_alloc_funcs memory = {yajl_malloc, yajl_realloc, yajl_release, NULL};
    static struct reading r;
    r = (struct reading){.tree = tree, .text = text, .size = size};
    tool_tree_clear(tree); /* copies of another text have another text's room */
    *at = 0;
    if (size >= UINT32_MAX) return "a JSON text of 4 GiB or more";
    if (!u9_utf8_valid(text, size)) {
        *at = first_bad(text, size);
        return "not a JSON value: not valid UTF-8";
    }
    *at = first_half(text, size);
    if (*at < size) return "not a JSON value: half of a surrogate pair";
    if (setjmp(without_memory) != 0) return tool_no_memory;
    r.yajl = yajl_alloc(&callbacks, &memory, &r);
    yajl_config(r.yajl, yajl_dont_validate_strings, 1); /* they are valid, see above */
    const char *why = parse(&r, at);
    yajl_free(r.yajl);
    return why;
}

void tool_tree_clear(struct tree *tree)
{
    free(tree->copies);
    tree->copies = NULL;
    tree->count = 0;
    if (tree->room <= KEEP_NODES) return;
    free(tree->nodes);
    tree->nodes = NULL;
    tree->room = 0;
}
