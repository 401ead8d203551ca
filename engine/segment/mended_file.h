/*
 * engine/segment/mended_file.h: a file as it would be if the frames that a mender found were put back. [Y-6]
 *
 * It reads like the file under it, but for the headers, trailers and paddings of these frames. So all that reads a
 * segment (judge, parts of a record, lookups, the way back) sees valid frames, and asks here which ones were none.
 * It cannot be written, nor mapped.
 */
#ifndef U9I_MENDED_FILE_H
#define U9I_MENDED_FILE_H

#include "engine/segment/mend.h"

/* Takes over `inner`, which is closed with it; borrows the rest. NULL without memory: `inner` is still the caller's. */
u9i_file *u9i_mended_file_new(u9i_file *inner, const u9i_mender *mender, const u9i_secret *secret);

/* It is one of these, and none of the env of its directory, whose queues do not know it. */
bool u9i_mended_reads(const u9i_file *file);

/* The frame that begins at p, if it is valid only because it was mended; NULL: it is not, or the file is a plain one. */
const u9i_rejoined *u9i_mended_at(const u9i_file *file, uint64_t p);

#endif
