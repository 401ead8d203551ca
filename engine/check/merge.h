/*
 * engine/check/merge.h: several logs that are read as one, in the order of keys.
 *
 *     stream   one log: record after record, as it stands or, where its keys are not in order, sorted in memory
 *     merge    of all intakes the lowest key; all its records, log by log, less repeats -> the new log
 */
#ifndef U9I_MERGE_H
#define U9I_MERGE_H

#include "engine/log/handle.h"
#include "format/base/hash.h"

#include <u9/large.h>
#include <u9/merge.h>

/* A record of a log that is sorted first: in memory, but one that is larger than a body, which stays where it is. */
typedef struct u9i_sorted {
    u9_record record; /* its pointers are to `bytes`, or NULL; its key's, too */
    uint8_t *bytes;
} u9i_sorted;

typedef struct u9i_intake {
    const char *path; /* borrows */
    u9_log *log;
    u9_cursor *cursor;
    u9_record now;    /* the record at hand; borrows the cursor or `sorted` */
    bool ended;       /* there is none */
    uint64_t end;     /* records from this ordinal on came when its order was known: they are left out */
    bool large;       /* it is larger than a body: u9_record_open has it */
    uint8_t last[512]; /* the key before, raw */
    size_t last_size;
    bool begun;       /* there was one */
    u9i_sorted *sorted; /* NULL: it is read as it stands */
    size_t count, room, next;
} u9i_intake;

/* What intakes share. */
typedef struct u9i_merging {
    const u9_merge_options *options;
    u9_merge_report report;
    uint64_t memory; /* taken by what is sorted */
} u9i_merging;

/* Opens a log, sorts it if that is needed and may be, and goes to its first record. */
U9_MUST_CHECK u9_err u9i_intake_open(u9i_intake *stream, u9i_merging *merging, const char *path, u9_fault *fault);
void u9i_intake_close(u9i_intake *stream);

/* The next record, or stream->ended. U9_ARG: the keys are not in order. */
U9_MUST_CHECK u9_err u9i_intake_next(u9i_intake *stream, u9i_merging *merging, u9_fault *fault);

/* The record at hand was trimmed before it was taken. U9_OK. */
u9_err u9i_intake_tell_trimmed(const u9i_intake *stream, u9i_merging *merging);

/* The order of raw keys: of their bytes. */
int u9i_key_order(const u9_key *a, const u9_key *b);

#endif
