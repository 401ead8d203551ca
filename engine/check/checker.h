/*
 * engine/check/checker.h: one pass over a whole log: what a report says of it, and, for salvage, each frame's
 * records appended to another.
 *
 * Room: engine/check
 * Sees: include format/base engine/os engine/log engine/read engine/write
 *
 * The room owns the verdict on a whole log, the proof of a line, salvage, and giving up what is lost.
 */
#ifndef U9I_CHECKER_H
#define U9I_CHECKER_H

#include "engine/check/witness.h"
#include "engine/read/reader.h"

#include <u9/log.h>

typedef struct u9i_checker {
    const u9_check_options *options; /* may be NULL; borrows */
    u9_report *report;               /* borrows */
    u9i_source *source;              /* borrows */
    u9i_reader reader;
    u9i_witness witness;  /* of options->mark */
    uint64_t progress_us; /* when progress was last told */
    uint64_t bytes;       /* of all files */
    u9_log *out;          /* salvage: the new log; NULL: only checks */
    u9_entry *entries;    /* salvage: one frame's records; grows to the largest batch */
    size_t room;
    uint64_t saved;       /* salvage: records appended */
} u9i_checker;

/*
 * Checks the log at `path`, and salvages into `out` if it is not NULL. `*saved` (may be NULL) is filled also on
 * failure. Errors as u9_check and u9_log_append_batch.
 */
U9_MUST_CHECK u9_err u9i_check_log(const char *path, u9_log *out, const u9_check_options *options,
                                   u9_report *report, uint64_t *saved, u9_fault *fault);

/* The same on what is open, and stays so. */
U9_MUST_CHECK u9_err u9i_check_source(u9i_source *source, u9_log *out, const u9_check_options *options,
                                      u9_report *report, uint64_t *saved, u9_fault *fault);

/* The io that `options` (may be NULL) ask for, as in u9_options. */
const char *u9i_check_io(const u9_check_options *options);

/* Tells a damage to the report and to whoever asked to be told. */
void u9i_checker_note(u9i_checker *checker, const u9_damage *damage);

/* Salvage: appends the records of the reader's frame as one batch, or tells them as lost. */
U9_MUST_CHECK u9_err u9i_checker_save(u9i_checker *checker, u9_fault *fault);

/* Salvage: the same for valid frames behind the unconfirmed end of the last segment. */
U9_MUST_CHECK u9_err u9i_checker_save_beyond(u9i_checker *checker, u9i_segment *segment,
                                             uint64_t from, u9_fault *fault);

#endif
