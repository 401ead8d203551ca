/*
 * tools/count.c: see count.h.
 */
#include "tools/count.h"

#include "tools/args.h"
#include "tools/fold.h"
#include "tools/value_json.h"

#include <u9/value_index.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 64 };

tool_field tool_field_parse(const char *text)
{
    tool_field field = {.name = NULL};
    if (!tool_number_parse(text, &field.position)) field.name = text;
    return field;
}

/* What a lookup in a container is for: a text. 0: it is too long to be a name. */
static int make_name(const char *name, uint8_t *room, size_t cap, u9_value *out)
{
    u9_builder b;
    u9_builder_init(&b, room, cap);
    return u9_build_utf8(&b, name, strlen(name)) == U9_OK && u9_value_decode(b.bytes, b.size, out) == U9_OK;
}

/* The member of an object: of the pair that its name begins, the second. */
static int find_member(const u9_value *object, const char *name, u9_value *out)
{
    uint8_t room[600];
    u9_value key, pair;
    return make_name(name, room, sizeof room, &key) && u9_value_by_key(object, &key, &pair) == U9_OK &&
           u9_value_at(&pair, 1, out) == U9_OK;
}

/* The same, down a dotted path. A name as it stands goes first, on each level. */
static int find_path(const u9_value *object, const char *path, u9_value *out)
{
    char name[512];
    u9_value at = *object;
    for (const char *dot; !find_member(&at, path, out); path = dot + 1, at = *out) {
        dot = strchr(path, '.');
        if (!dot || (size_t)(dot - path) >= sizeof name) return 0;
        snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
        if (!find_member(&at, name, out)) return 0;
    }
    return 1;
}

int tool_field_find(const tool_field *field, const u9_record *r, u9_value *out)
{
    u9_value tuple;
    if (r->bytes == NULL) return 0;
    if (field->name)
        return u9_value_decode(r->values, (size_t)r->values_size, &tuple) == U9_OK && find_path(&tuple, field->name, out);
    if (r->key.size == 0) { /* of a plain seed file: a value by itself */
        return field->position == 1 && u9_value_decode(r->values, (size_t)r->values_size, out) == U9_OK;
    }
    return u9_value_decode(r->bytes, (size_t)r->size, &tuple) == U9_OK && u9_value_at(&tuple, field->position, out) == U9_OK;
}

static u9_value value_of(const tool_count *place)
{
    u9_value value;
    (void)!u9_value_decode(place->bytes, place->size, &value); /* it was one when it was taken */
    return value;
}

/* Where the value is, or has to go. There is a free place. */
static tool_count *look_up(const tool_counts *c, const u9_value *value, uint64_t hash)
{
    for (size_t i = (size_t)hash & (c->room - 1);; i = (i + 1) & (c->room - 1)) {
        tool_count *place = &c->places[i];
        if (place->bytes == NULL) return place;
        if (place->hash != hash) continue;
        u9_value there = value_of(place);
        if (u9_value_compare(&there, value) == 0) return place;
    }
}

/* The first free place for a value with this hash. */
static tool_count *find_free(const tool_counts *c, uint64_t hash)
{
    size_t i = (size_t)hash & (c->room - 1);
    while (c->places[i].bytes) i = (i + 1) & (c->room - 1);
    return &c->places[i];
}

/* Half of the places stay free. */
static int make_room(tool_counts *c)
{
    if (2 * c->used < c->room) return 1;
    tool_counts wider = {.room = c->room ? 2 * c->room : ROOM_MIN};
    wider.places = calloc(wider.room, sizeof *wider.places);
    if (!wider.places) return 0;
    for (size_t i = 0; i < c->room; i++)
        if (c->places[i].bytes) *find_free(&wider, c->places[i].hash) = c->places[i];
    free(c->places);
    c->places = wider.places;
    c->room = wider.room;
    return 1;
}

/* A copy on the heap of a value, which gets bytes of its own if it has none: an array's element. 0: out of memory. */
static int copy_value(const u9_value *value, tool_count *out)
{
    u9_builder b;
    if (value->start) {
        out->size = value->encoded;
        out->bytes = malloc(out->size);
        if (out->bytes) memcpy(out->bytes, value->start, out->size);
        return out->bytes != NULL;
    }
    u9_builder_init_growing(&b, u9_grow_heap, NULL);
    int built = u9_build_value(&b, value) == U9_OK;
    if (!built) free(b.bytes);
    else out->bytes = b.bytes, out->size = b.size;
    return built;
}

static int add(tool_counts *c, const u9_value *value, uint64_t hash, uint64_t count)
{
    if (!make_room(c)) return 0;
    tool_count *place = look_up(c, value, hash);
    if (place->bytes == NULL) {
        if (!copy_value(value, place)) return 0;
        place->hash = hash;
        c->used++;
    }
    place->count += count;
    return 1;
}

int tool_counts_record(tool_counts *c, const tool_field *field, const u9_record *record)
{
    u9_value value;
    c->large += record->bytes == NULL;
    if (record->bytes == NULL) return 1;
    if (tool_field_find(field, record, &value)) return add(c, &value, u9_value_hash(&value), 1);
    c->absent++;
    return 1;
}

int tool_counts_merge(tool_counts *c, const tool_counts *other)
{
    c->absent += other->absent;
    c->large += other->large;
    for (size_t i = 0; i < other->room; i++) {
        if (other->places[i].bytes == NULL) continue;
        u9_value value = value_of(&other->places[i]);
        if (!add(c, &value, other->places[i].hash, other->places[i].count)) return 0;
    }
    return 1;
}

/* Free places go to the end. */
static int by_count(const void *one, const void *other)
{
    const tool_count *a = one, *b = other;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    if (a->bytes == NULL || b->bytes == NULL) return 0;
    u9_value x = value_of(a), y = value_of(b);
    return u9_value_compare(&x, &y);
}

static void put_count(uint64_t count, const u9_value *value, int json)
{
    if (json) printf("{\"type\":\"count\",\"count\":\"%" PRIu64 "\",%s", count, value ? "\"value\":" : "\"absent\":true");
    else printf("%" PRIu64 "\t%s", count, value ? "" : "-");
    if (value) tool_put_json(value);
    puts(json ? "}" : "");
}

void tool_counts_put(tool_counts *c, int json)
{
    tool_unfold(); /* values */
    if (c->room > 0) qsort(c->places, c->room, sizeof *c->places, by_count);
    for (size_t i = 0; i < c->used; i++) {
        u9_value value = value_of(&c->places[i]);
        put_count(c->places[i].count, &value, json);
    }
    if (c->absent > 0) put_count(c->absent, NULL, json);
}

void tool_counts_free(tool_counts *c)
{
    for (size_t i = 0; i < c->room; i++) free(c->places[i].bytes);
    free(c->places);
    *c = (tool_counts){0};
}
