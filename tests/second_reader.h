/*
 * tests/second_reader.h: a second reader of the format, written from the specification alone.
 *
 * A judge for tests: it shares no code with the library, reads whole files into memory and is as
 * slow and simple as the rules allow. Unknown numbers are UINT64_MAX.
 */
#ifndef SECOND_READER_H
#define SECOND_READER_H

#include <stddef.h>
#include <stdint.h>
#include <u9/check.h>

typedef struct second_record {
    uint64_t ordinal, segment, frame; /* of a record in parts: the frame of its last part */
    const uint8_t *bytes;
    size_t size;
} second_record;

typedef struct second_damage {
    u9_verdict verdict;
    u9_reason reason;
    uint64_t segment, begin, end, ordinal, lost;
    int at_most;
} second_damage;

/* How the end of the last segment stands. */
typedef enum second_end { SECOND_OPEN = 0, SECOND_CLOSED = 1, SECOND_SEALED = 2 } second_end;

typedef struct second_log {
    second_record *records;
    size_t n_records;
    second_damage *damages;
    size_t n_damages;
    uint64_t next_ordinal;
    uint64_t beyond;
    char error[200];
    second_end end;       /* the last segment ends in a u9end, and of which kind */
    uint64_t end_segment; /* where the log ends: segment and offset */
    uint64_t end_offset;
    uint64_t trim_segment; /* of the last u9trim: first segment kept, 0 if there is none */
    uint64_t trim_ordinal;
    struct second_file *mark; /* the slot that counts, NULL if none does [M-3] */
    int bad_slots[2], mark_missing; /* its segment is behind all that is there */
    uint64_t seals_below;  /* seals of segments with lower numbers say that the next one was there [L-2] */
    struct second_file *slots; /* both, NULL if there is no mark */
    struct second_file *files;
    size_t n_files;
    void *row;     /* parts of a record, as they are passed */
    size_t n_row;
    void **memory; /* everything that second_free gives back */
    size_t n_memory;
} second_log;

/* Reads a log directory or one segment file: 0, or -1 when nothing there is a log (see error). */
int second_read(const char *path, second_log *out);

/* A file in memory. */
typedef struct second_source {
    const char *name; /* without its directory */
    const uint8_t *bytes;
    size_t size;
    const uint8_t *dark; /* not NULL: for each block of 4096 bytes, whether it cannot be read */
    unsigned links; /* names that it has; 0 is 1 */
} second_source;

/* The same for a log in memory; `single`: one segment file. The bytes are copied. */
int second_read_memory(const second_source *sources, size_t n, int single, second_log *out);
void second_free(second_log *log);

#endif
