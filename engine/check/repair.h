/*
 * engine/check/repair.h: what repairing a log shares with the rest of the room.
 */
#ifndef U9I_REPAIR_H
#define U9I_REPAIR_H

#include "engine/log/catalog.h"

#include <u9/check.h>
#include <u9/mark.h>

/* What the mark of a catalog is worth. [M-4] */
u9_mark_state u9i_mark_state_of(const u9i_catalog *catalog);

/* The mark that counts. U9_ABSENT: there is none, and the fault says why. */
U9_MUST_CHECK u9_err u9i_mark_of(const u9i_source *source, const u9i_catalog *catalog, u9_mark *out, u9_fault *fault);

/* A mark as others may see it. */
void u9i_mark_public(const u9i_mark_record *record, u9_mark *out);

#endif
