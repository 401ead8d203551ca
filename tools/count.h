/*
 * tools/count.h: how many records have which value in a field.
 *
 * Values that are equal, in whatever encoding, are one (u9_value_compare). Memory grows with how many there are.
 */
#ifndef U9_TOOLS_COUNT_H
#define U9_TOOLS_COUNT_H

#include <u9/log.h>
#include <u9/value.h>

/* Which field: --count-by. */
typedef struct tool_field {
    const char *name;  /* of a member of the record's first value, an object; NULL: by position: */
    uint64_t position; /* 0: the key, 1: the first value ... */
} tool_field;

/* A name or a position. */
tool_field tool_field_parse(const char *text);

typedef struct tool_count {
    uint8_t *bytes; /* the value as it stood where it was seen first; NULL: a free place */
    size_t size;
    uint64_t hash, count;
} tool_count;

/* All zeros: nothing was counted. */
typedef struct tool_counts {
    tool_count *places;
    size_t used, room; /* a power of two, or 0 */
    uint64_t absent;   /* records without the field */
    uint64_t large;    /* records without bytes (U9_LIMIT): what they have in it is not known */
} tool_counts;

/*
 * The value of a record's field. A name that no member has and that has dots in it is a path: of the member by the name in
 * front of the first dot, an object, the member by what is behind it. 0: it has none.
 */
int tool_field_find(const tool_field *field, const u9_record *record, u9_value *out);

/* Counts a record. 0: out of memory. */
int tool_counts_record(tool_counts *counts, const tool_field *field, const u9_record *record);

/* Adds what another one counted. 0: out of memory. */
int tool_counts_merge(tool_counts *counts, const tool_counts *other);

/* Prints them, the most frequent first, then in the order of values: a line or a JSON object each. */
void tool_counts_put(tool_counts *counts, int json);

void tool_counts_free(tool_counts *counts);

#endif
