/*
 * engine/log/row_looks.h: looking into the files of a row while it is linked: its eyes (succession.h), by windows of the
 * source; and what only control records within them tell: what was trimmed, of which kind the keys are. Each file is
 * looked into only where a step of the row asks for it.
 *
 * One thread.
 */
#ifndef U9I_ROW_LOOKS_H
#define U9I_ROW_LOOKS_H

#include "engine/log/succession.h"

typedef struct u9i_row_looks {
    u9i_source *source; /* borrows, as what follows */
    u9i_row *row;
    u9i_window *window; /* lent by the source */
    u9_fault *fault;
    u9i_trim_record trim; /* that which counts; segment 0: none is known */
    bool trim_marked;     /* it is the mark's, and no u9trim */
    bool trims_read;      /* they were looked for in all files */
    char kind[U9I_KIND_MAX + 1];
    const char *like; /* no kind: one that the first record's key may be of; "": none was found */
    u9_err failed; /* why a file could not be looked into; */
    bool vanished; /*   it is not there any more */
} u9i_row_looks;

/* They borrow `looks`. */
u9i_row_eyes u9i_row_eyes_of(u9i_row_looks *looks);

/* Notes the highest u9trim of those that stand where writers put them. [C-5] */
void u9i_row_note_trims(u9i_row_looks *looks);

/* Of the keys: looks->kind or, where no control record names it, looks->like. The row is linked. [L-6] */
void u9i_row_find_kind(u9i_row_looks *looks);

#endif
