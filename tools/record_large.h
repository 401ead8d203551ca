/*
 * tools/record_large.h: how cat and get print records that are read in pieces.
 */
#ifndef U9_TOOLS_RECORD_LARGE_H
#define U9_TOOLS_RECORD_LARGE_H

#include "tools/record.h"

/*
 * Prints a record of `log` that came with U9_LIMIT, in bounded memory. TOOL_DONE, or the status after saying why
 * not all of it is printed; TOOL_REFUSED: nothing of it is, as a value within is too large to be shown so.
 */
int tool_put_large(const tool_style *style, u9_log *log, const u9_record *record);

#endif
