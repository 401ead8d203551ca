/*
 * tools/convert_avro_schema.c: see convert_avro.h. The JSON is cut into its parts by jansson. Recursion goes as deep as
 * schemas nest, which is bounded.
 */
#include "tools/convert.h"
#include "tools/convert_avro.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct compiling {
    struct avro_schema *schema;
    char *why;
};

static const char *const kinds[] = {"null",   "boolean", "int",    "long",   "float",
                                    "double", "bytes",   "string", "record", "enum",
                                    "array",  "map",     NULL,     "fixed"};

static struct avro_type *refuse(struct compiling *c, const char *why, const char *what)
{
    if (!*c->why) convert_why(c->why, "its schema: %s%.80s", why, what);
    return NULL;
}

static struct avro_type *new_type(struct compiling *c, enum avro_kind kind, size_t count)
{
    struct avro_type *t = (struct avro_type *)calloc(1, sizeof *t);
    if (!t) return refuse(c, "out of memory", "");
    t->next = c->schema->all;
    c->schema->all = t;
    t->kind = kind;
    t->of = (struct avro_type **)calloc(count + 1, sizeof *t->of);
    t->names = (char **)calloc(count + 1, sizeof *t->names);
    t->count = t->of && t->names ? count : 0;
    return t->of && t->names ? t : refuse(c, "out of memory", "");
}

/* NAME, or NAMESPACE.NAME; to be freed. */
static char *full_name(const char *name, const char *space)
{
    char *full = NULL;
    if (strchr(name, '.') || !space || !*space) return strdup(name);
    return asprintf(&full, "%s.%s", space, name) < 0 ? NULL : full;
}

static struct avro_type *named(struct compiling *c, const char *name, const char *space)
{
    char *full = full_name(name, space);
    struct avro_type *t = full ? c->schema->all : NULL;
    while (t && !(t->name && (strcmp(t->name, full) == 0 || strcmp(t->name, name) == 0)))
        t = t->next;
    free(full);
    return t ? t : refuse(c, "there is no type ", name);
}

static struct avro_type *compile(struct compiling *c, const json_t *json, const char *space,
                                 unsigned depth);

static struct avro_type *compile_word(struct compiling *c, const char *word, const char *space)
{
    for (int k = AVRO_NULL; k <= AVRO_STRING; k++)
        if (strcmp(word, kinds[k]) == 0) return new_type(c, (enum avro_kind)k, 0);
    return named(c, word, space);
}

static struct avro_type *compile_union(struct compiling *c, const json_t *json, const char *space,
                                       unsigned depth)
{
    struct avro_type *t = new_type(c, AVRO_UNION, json_array_size(json));
    for (size_t i = 0; t && i < t->count; i++)
        if (!(t->of[i] = compile(c, json_array_get(json, i), space, depth))) return NULL;
    return t;
}

/* Fields, or symbols, and their names. */
static int compile_members(struct compiling *c, struct avro_type *t, const json_t *list,
                           const char *space, unsigned depth)
{
    for (size_t i = 0; i < t->count; i++) {
        const json_t *one = json_array_get(list, i);
        const char *name =
            json_string_value(t->kind == AVRO_ENUM ? one : json_object_get(one, "name"));
        if (!name) return refuse(c, "a field, or a symbol, without a name in ", t->name), 0;
        if (!(t->names[i] = strdup(name))) return refuse(c, "out of memory", ""), 0;
        if (t->kind == AVRO_RECORD &&
            !(t->of[i] = compile(c, json_object_get(one, "type"), space, depth)))
            return 0;
    }
    return 1;
}

static struct avro_type *compile_named(struct compiling *c, enum avro_kind kind, const json_t *json,
                                       const char *space, unsigned depth)
{
    const char *name = json_string_value(json_object_get(json, "name"));
    const char *own = json_string_value(json_object_get(json, "namespace"));
    const json_t *list = json_object_get(json, kind == AVRO_ENUM ? "symbols" : "fields");
    json_int_t size = json_integer_value(json_object_get(json, "size"));
    if (!name) return refuse(c, "a type without a name: ", kinds[kind]);
    if (kind == AVRO_FIXED && (size < 0 || size > CONVERT_MAX))
        return refuse(c, "of no such size can be ", name);
    struct avro_type *t = new_type(c, kind, json_array_size(list));
    if (!t) return NULL;
    t->name = full_name(name, own ? own : space);
    if (!t->name) return refuse(c, "out of memory", "");
    char inner[512] = "";
    const char *dot = strrchr(t->name, '.');
    if (dot && dot - t->name < (int)sizeof inner)
        snprintf(inner, sizeof inner, "%.*s", (int)(dot - t->name), t->name);
    if (kind == AVRO_FIXED) t->count = (size_t)size;
    else if (!compile_members(c, t, list, inner, depth)) return NULL;
    return t;
}

static struct avro_type *compile_object(struct compiling *c, const json_t *json, const char *space,
                                        unsigned depth)
{
    const json_t *type = json_object_get(json, "type");
    const char *word = json_string_value(type);
    if (!word) return compile(c, type, space, depth);
    int k = AVRO_RECORD;
    while (k <= AVRO_FIXED && !(kinds[k] && strcmp(word, kinds[k]) == 0)) k++;
    if (k > AVRO_FIXED) return compile_word(c, word, space);
    if (k != AVRO_ARRAY && k != AVRO_MAP)
        return compile_named(c, (enum avro_kind)k, json, space, depth);
    struct avro_type *t = new_type(c, (enum avro_kind)k, 1);
    if (t)
        t->of[0] =
            compile(c, json_object_get(json, k == AVRO_ARRAY ? "items" : "values"), space, depth);
    return t && t->of[0] ? t : NULL;
}

static struct avro_type *compile(struct compiling *c, const json_t *json, const char *space,
                                 unsigned depth)
{
    if (depth == AVRO_DEPTH_MAX) return refuse(c, "nested more than 64 deep", "");
    if (json_is_string(json)) return compile_word(c, json_string_value(json), space);
    if (json_is_array(json)) return compile_union(c, json, space, depth + 1);
    if (json_is_object(json)) return compile_object(c, json, space, depth + 1);
    return refuse(c, "a type is missing", "");
}

int avro_schema_read(struct avro_schema *schema, const char *json, size_t size, char why[256])
{
    struct compiling c = {schema, why};
    json_error_t error;
    *why = '\0';
    *schema = (struct avro_schema){NULL, NULL};
    json_t *root = json_loadb(json, size, JSON_DECODE_ANY, &error);
    if (!root) return refuse(&c, "", error.text), 0;
    schema->top = compile(&c, root, "", 0);
    json_decref(root);
    return schema->top != NULL;
}

void avro_schema_clear(struct avro_schema *schema)
{
    for (struct avro_type *t = schema->all, *next; t; t = next) {
        next = t->next;
        for (size_t i = 0; t->names && t->kind != AVRO_FIXED && i < t->count; i++)
            free(t->names[i]);
        free(t->names);
        free(t->of);
        free(t->name);
        free(t);
    }
    *schema = (struct avro_schema){NULL, NULL};
}
