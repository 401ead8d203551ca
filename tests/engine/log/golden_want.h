/*
 * tests/engine/log/golden_want.h: what is expected of the golden logs: the files tests/golden/vN/NAME.expect.
 *
 * tests/golden/README.md tells what their lines mean. They are found by listing the folders, so that a
 * later version's logs are tested once they are there.
 */
#ifndef TESTS_ENGINE_GOLDEN_WANT_H
#define TESTS_ENGINE_GOLDEN_WANT_H

#include "tests/second_reader.h"

#include <u9.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct want_record {
    uint64_t ordinal, segment, frame, size;
    char *sha;    /* of the whole tuple: 32 hex digits */
    char *key;    /* text */
    char *values; /* in the notation, "" if there are none, "..." if it was too long */
} want_record;

enum { WANT_DAMAGES = 32 };

typedef struct want {
    char name[100];    /* "v1/rolled" */
    char path[1000];   /* of the log: a directory, or a segment file */
    char folder[1000]; /* the directory, or that of the file */
    char *file;        /* NULL, or the file's name in it */
    bool numbered;     /* false: a file whose name tells the library no number */
    char *kind;        /* "-": not known */
    u9_verdict verdict;
    second_end end;
    uint64_t end_segment, end_offset;
    uint64_t segments, frames, lz4, masked, first_us, last_us;
    uint64_t beyond, next, lost, salvaged;
    u9_err refused;    /* U9_OK, or how a writer is refused */
    bool fresh;        /* keys are made; else they must be given */
    uint64_t goes_on;  /* ordinal of the next record appended */
    u9_verdict after;  /* when records were appended */
    u9_damage damages[WANT_DAMAGES], afters[WANT_DAMAGES];
    size_t damage_count, after_count;
    want_record *records;
    size_t count;
    uint64_t announced; /* records, by the line that counts them */
} want;

/* How many expectations there are; the name of one, "v1/rolled". Both list the folders once. */
size_t want_count(void);
const char *want_name(size_t i);

/* Reads one; a line that is not understood fails the test. Free it with want_free. */
want *want_read(size_t i);
void want_free(want *w);

/* True if there is a folder, "v1/rolled", that no expectation looks into. */
bool want_unclaimed(char out[100]);

#endif
