/*
 * engine/check/checker.h: one pass over a whole log: what a report says of it, and, for salvage, each frame's
 * records appended to another.
 *
 * Room: engine/check
 * Sees: include format/base format/frame engine/os engine/segment engine/log engine/read engine/write
 *
 * The room owns the verdict on a whole log, the proof of a line, salvage, repair, carving, giving up what is lost, snapshots
 * and merges.
 */
#ifndef U9I_CHECKER_H
#define U9I_CHECKER_H

#include "engine/check/saved.h"
#include "engine/check/stretch.h"
#include "engine/check/witness.h"
#include "engine/read/reader.h"

#include <u9/log.h>

typedef struct u9i_checker {
    u9_check_options options;
    u9_report report;
    u9i_source *source; /* borrows */
    u9i_reader reader;
    u9i_witness witness;  /* of options->mark */
    uint64_t progress_us; /* when progress was last told */
    uint64_t bytes;       /* of all files */
    u9i_kept_keys keys;   /* of the reader's frame */
    u9i_saved *saved;     /* salvage: the new logs; NULL: only checks */
    unsigned threads;     /* to check with; more than 1, or `piece`: in pieces (pieces.h) */
    uint64_t piece;       /* of about so many bytes; 0: as is good */
    u9i_intact run;          /* options->on_stretch: the frames that were not told yet */
    size_t unsigned_told; /* salvage: behind the last segment of the row of which U9_R_UNSIGNED was told */
} u9i_checker;

/* U9_ARG: an argument is NULL, or a size is of no version of this library. */
U9_MUST_CHECK u9_err u9i_checker_init(u9i_checker *checker, const char *path,
                                      const u9_check_options *options, const u9_report *report,
                                      u9_fault *fault);

/*
 * Checks what is open, and stays so, and salvages it if checker->saved. Errors as u9_check, and what u9_log_append
 * returns.
 */
U9_MUST_CHECK u9_err u9i_checker_run(u9i_checker *checker, u9i_source *source, u9_fault *fault);

/* Hands out the report, as far as the caller's goes. */
void u9i_checker_report(const u9i_checker *checker, u9_report *out);

/* Now and then: how far it is. U9_STATE: asked to stop. */
U9_MUST_CHECK u9_err u9i_checker_progress(u9i_checker *checker, u9_fault *fault);

/* To who asked to be told, if that was not done lately: so many bytes are done. U9_STATE: asked to stop. */
U9_MUST_CHECK u9_err u9i_checker_tell(u9i_checker *checker, uint64_t done, u9_fault *fault);

/* Adds the reader's frame to a report's counts. */
void u9i_report_frame(u9_report *report, const u9i_reader *reader);

/* Tells a stretch to who asked for them; its path is filled in: of segments[index]. */
void u9i_checker_stretch(u9i_checker *checker, size_t index, u9_stretch *stretch);
/* Tells a run, if it is open, and ends it. */
void u9i_checker_run_ends(u9i_checker *checker, u9i_intact *run);

/*
 * All was read, by `reader` at the end: how the log ends, and what became of the line. `last`: the segment that was
 * read last, NULL if none was.
 */
void u9i_checker_finish(u9i_checker *checker, const u9i_reader *reader, const u9i_segment *last);

/* What the reader came to with this step, for the line that the log is to meet. [M-8] */
void u9i_checker_witness(u9i_witness *witness, const u9i_reader *reader, u9i_step step);

/* As u9_check, in pieces of this size, also with one thread: for tests. */
U9_MUST_CHECK u9_err u9i_check_in_pieces(const char *path, const u9_check_options *options, uint64_t piece,
                                         u9_report *report, u9_fault *fault);

/* Tells a damage to the report and to whoever asked to be told. */
void u9i_checker_note(u9i_checker *checker, const u9_damage *damage);

/* Salvage: tells that what is saved of a segment, up to `end`, is unsigned; lost are so many. [G-3] */
void u9i_checker_note_unsigned(u9i_checker *checker, const u9i_facts *facts, uint64_t end, uint64_t lost);

/* Salvage: appends the records of the reader's frame as one batch. */
U9_MUST_CHECK u9_err u9i_checker_save(u9i_checker *checker, u9_fault *fault);

/* Salvage: the same for all valid frames of the segment that the reader is about to leave, behind its end. */
U9_MUST_CHECK u9_err u9i_checker_save_beyond(u9i_checker *checker, u9_fault *fault);

/* Salvage: what is in none of the row's segments, each branch into a log of its own. [G-4] */
U9_MUST_CHECK u9_err u9i_checker_save_branches(u9i_checker *checker, u9_fault *fault);

#endif
