/*
 * tests/engine/log/trimmed.h: logs that are trimmed, on the simulated disk as a rule, and what is expected of them.
 */
#ifndef TESTS_ENGINE_TRIMMED_H
#define TESTS_ENGINE_TRIMMED_H

#include "format/frame/control.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"

enum { TRIM_FILLER = 8000, TRIM_RECORDS = 40 };

/* "<log>/<name>"; valid until 8 more calls. */
const char *file_in(const char *log, const char *name);

/* A writer of small segments. */
u9_log *open_rolling(const char *log);

/* Appends records of TRIM_FILLER bytes, some eight to a segment; as many as go in. */
void append_fillers(u9_log *w, unsigned count);
u9_err append_what_goes_in(u9_log *w, unsigned count);

/* TRIM_RECORDS records over several segments, closed. The same with keys of kind rkey: "k000", "k001" ... but "z" for 12. */
void make_row_of_segments(const char *log);
void make_keyed_row(const char *log);

/* The ordinal of a segment's first record, as its u9open tells. */
uint64_t first_in(const char *log, uint64_t number);

u9_trim below_ordinal(uint64_t ordinal);

/* Trims on a handle, which must succeed; and in a session of its own. */
u9_trimmed trim_on(u9_log *log, u9_trim what);
u9_trimmed trim_log(const char *log, u9_trim what);

u9i_mark_record marked_by(const char *log);

/* The u9trim of a segment, in its place. */
u9i_trim_record said_in(const char *log, uint64_t number);

/* The log is whole, is kept from `first` on, and goes on at `next`. */
void expect_kept(const char *log, uint64_t first, uint64_t next);

/*
 * By the diary: segment `number` says that those from `first` to below `kept` are trimmed, then the mark, and only then
 * they go, one by one.
 */
void expect_trim_order(const char *log, uint64_t number, uint64_t first, uint64_t kept);

#endif
