/*
 * tools/convert_journal.c: systemd's journal in its export format (`journalctl -o export`); see convert.h.
 *
 * An entry is lines NAME=value, or where a value is no line NAME, its size in 8 bytes, little end first, the value and a
 * newline; a blank line ends it. A row is an object of its fields, all of them text or bytes; of one that is there more
 * than once, as the journal has it, an array. Entries count by the byte at which they begin.
 */
#include "tools/convert.h"

#include "tools/value_json.h"

#include <ctype.h>
#include <string.h>

enum { FIELDS_MAX = 1024 /* of an entry, as in systemd */ };

struct field {
    size_t name, name_size, value, value_size; /* in the reader's bytes */
};

struct entry {
    size_t used, count;
    int bad; /* `why` says what is wrong with it */
    struct field fields[FIELDS_MAX];
};

static int open_journal(struct convert_reader *r)
{
    static struct entry entry;
    r->state = &entry;
    return convert_room(r, 1);
}

/* What is wrong first is said; and where memory is short, that. */
static void spoil(struct convert_reader *r, const char *why)
{
    struct entry *e = (struct entry *)r->state;
    if (!e->bad && !convert_is_short(r->why)) convert_why(r->why, "%s", why);
    e->bad = 1;
}

/* A line without its end, behind what is there. Its size; -1: the file ends before it does. */
static long read_line(struct convert_reader *r)
{
    struct entry *e = (struct entry *)r->state;
    size_t at = e->used;
    int c;
    while ((c = convert_get(r)) != '\n') {
        if (c == EOF) return -1;
        if (at < CONVERT_MAX && convert_room(r, at + 1)) r->bytes[at++] = (uint8_t)c;
        else spoil(r, "an entry of more than 64 MiB");
    }
    return (long)(at - e->used);
}

/* The value behind a name alone in its line. 0: the file ends before it does. */
static int read_value(struct convert_reader *r, struct field *f)
{
    struct entry *e = (struct entry *)r->state;
    uint64_t size = 0;
    for (int i = 0, c; i < 8; i++) {
        if ((c = convert_get(r)) == EOF) return 0;
        size |= (uint64_t)c << 8 * i;
    }
    int fits = size < CONVERT_MAX - e->used && convert_room(r, e->used + size);
    if (!fits) spoil(r, "an entry of more than 64 MiB");
    for (uint64_t i = 0; i < size; i++) {
        int c = convert_get(r);
        if (c == EOF) return 0;
        if (fits) r->bytes[e->used + i] = (uint8_t)c;
    }
    f->value = e->used;
    f->value_size = fits ? (size_t)size : 0;
    e->used += f->value_size;
    int c = convert_get(r);
    if (c != '\n' && c != EOF) spoil(r, "a value is longer than its size says");
    return c != EOF;
}

static int is_name(const uint8_t *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!isupper(name[i]) && !isdigit(name[i]) && name[i] != '_') return 0;
    return size > 0 && size <= 64;
}

/* One field. 0: the file ends within it. */
static int take_field(struct convert_reader *r, size_t size)
{
    struct entry *e = (struct entry *)r->state;
    const uint8_t *line = r->bytes + e->used, *equals = (const uint8_t *)memchr(line, '=', size);
    struct field f = {.name = e->used, .name_size = equals ? (size_t)(equals - line) : size};
    if (!is_name(line, f.name_size)) {
        spoil(r, "a line that is no field of the journal's export format");
        return 1; /* on to the end of the entry */
    }
    f.value = e->used + f.name_size + 1;
    f.value_size = equals ? size - f.name_size - 1 : 0;
    e->used += size;
    if (!equals && !read_value(r, &f)) return 0;
    if (e->count == FIELDS_MAX) spoil(r, "an entry of more than 1024 fields");
    else e->fields[e->count++] = f;
    return 1;
}

static int same_name(const struct convert_reader *r, const struct field *a, const struct field *b)
{
    return a->name_size == b->name_size &&
           memcmp(r->bytes + a->name, r->bytes + b->name, a->name_size) == 0;
}

/* How often the field's name stands among the `count` at `fields`. */
static size_t times(const struct convert_reader *r, const struct field *f,
                    const struct field *fields, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += (size_t)same_name(r, f, &fields[i]);
    return n;
}

static void put_field(const struct convert_reader *r, const struct entry *e, size_t at)
{
    const struct field *f = &e->fields[at];
    int many = times(r, f, e->fields + at, e->count - at) > 1;
    convert_put_name(r->bytes + f->name, f->name_size, 2); /* upper case: none of our names */
    if (many) putc('[', r->json);
    convert_put_text(r->bytes + f->value, f->value_size);
    if (!many) return;
    for (size_t i = at + 1; i < e->count; i++) {
        if (!same_name(r, f, &e->fields[i])) continue;
        putc(',', r->json);
        convert_put_text(r->bytes + e->fields[i].value, e->fields[i].value_size);
    }
    putc(']', r->json);
}

static void put_entry(const struct convert_reader *r, const struct entry *e)
{
    putc('{', r->json);
    for (size_t i = 0; i < e->count; i++) {
        if (times(r, &e->fields[i], e->fields, i) > 0) continue;
        if (i > 0) putc(',', r->json);
        put_field(r, e, i);
    }
    putc('}', r->json);
}

static enum convert_got next_entry(struct convert_reader *r)
{
    struct entry *e = (struct entry *)r->state;
    long size;
    e->used = e->count = 0;
    e->bad = 0;
    do r->number = r->at;
    while ((size = read_line(r)) == 0);
    if (size < 0 && r->at == r->number) return CONVERT_END;
    for (uint64_t at = r->number; size != 0; size = read_line(r)) {
        if (size < 0 && r->at == at) break; /* the last entry may lack the line that ends it */
        if (size < 0 || !take_field(r, (size_t)size))
            return convert_why(r->why, "the file ends within the entry"), CONVERT_BROKEN;
        at = r->at;
    }
    if (e->bad) return CONVERT_BAD;
    put_entry(r, e);
    return CONVERT_ROW;
}

const struct convert_format convert_journal = {
    .name = "journal", .unit = " at byte ", .open = open_journal, .next = next_entry};
