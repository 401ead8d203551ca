/*
 * bench/values.h: what the rows on values work on: the same records for both sides, as C structures and
 * as the bytes that each side's encoder makes of them.
 */
#ifndef U9_BENCH_VALUES_H
#define U9_BENCH_VALUES_H

#include "bench/measure.h"

#include <u9.h>

#include <stdbool.h>
#include <string.h>

/* A log record: its key and its line. */
typedef struct line {
    uint8_t key[16];
    const char *text;
    size_t size;
} line;

/* A row of ten fields, as of a table. */
typedef struct fields {
    uint8_t key[16];
    uint32_t level, port;
    uint64_t time_us;
    int32_t delta;
    double load;
    char host[16], unit[24];
    size_t host_size, unit_size;
    uint8_t digest[32];
    uint32_t retries;
} fields;

/* What an encoder made of a set: records back to back, or one array. Record i is at bytes + at[i];
 * at[count] is the end. */
typedef struct packed {
    uint8_t *bytes;
    size_t cap;
    size_t *at;
} packed;

/* Records or numbers: one of the three pointers is not NULL. */
typedef struct record_set {
    const char *name;
    size_t count;
    unsigned field; /* the one that field access asks for */
    const line *lines;
    const fields *rows;
    const int32_t *numbers;
    packed u9, msgpack;
} record_set;

enum { TEXT_MAX = 4096 }; /* characters of a printed record */
enum { TAG_SIZE = 9 };
extern const char tag[TAG_SIZE + 1]; /* the field that cons puts in front and match looks for */

extern record_set line_set, row_set, number_set;

/* Makes the three, with room for what encoders make of them. The lines are those of all *.log files
 * in `dir` that make records of about 100 bytes; NULL: made up. */
void make_sets(const char *dir);

/* What one pass over a set does. */
enum pass {
    ENCODE,         /* all records, into one buffer that is used again */
    CHECK,          /* proves each record well-formed */
    CHECK_TEXT,     /* and its text to be UTF-8 */
    WALK,           /* sees each field of each record */
    WALK_CHECKED,   /* the same, the bytes known to be well-formed */
    FIELD,          /* one field of each record, the records' places known */
    CONS,           /* puts the tag in front of each record */
    MATCH,          /* sees the first field behind the tag of each record that begins with it */
    COMPARE,        /* each record with itself: no field decides early */
    HASH,           /* each record */
    PRINT,          /* each record as text */
    PARSE,          /* and back */
    ENCODE_NUMBERS, /* the array of numbers */
    SUM,            /* adds up the numbers */
    SUM_BY_WALK,    /* the same, each number seen as a value */
    PASSES
};

/* Returns a sum of what it saw, the same on all sides. */
typedef uint64_t pass_fn(const record_set *set);

/* NULL: that side has no such thing. */
typedef pass_fn *const side[PASSES];
extern side u9_side, msgpack_side, splice_side, plain_side;

/* What a field adds to the sum of a walk. */
static inline uint64_t sum_text(const void *text, uint64_t size)
{
    return size > 0 ? size + *(const uint8_t *)text : 0;
}

static inline uint64_t sum_float(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

#endif
