/*
 * format/id/reason.h: how the readers of identifiers tell why they refuse one.
 *
 * Room: format/id
 * Sees: include format/base
 *
 * The room owns the identifiers and the keys of records, in bytes and in text.
 */
#ifndef U9I_REASON_H
#define U9I_REASON_H

#include <u9/id.h>

/* Fills `why` (may be NULL). U9_OK if the reason is that nothing is wrong, else U9_ARG. */
static inline u9_err u9i_told(u9_id_reason reason, u9_id_reason *why)
{
    if (why) *why = reason;
    return reason == U9_ID_FINE ? U9_OK : U9_ARG;
}

#endif
