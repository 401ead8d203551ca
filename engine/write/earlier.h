/*
 * engine/write/earlier.h: the keys that sessions before this one put into the file that it goes on in. [S-5] [K-1]
 *
 *     | earlier: read when the file is sealed | keys of this session, collected as they come |
 *                                             `-> one index of all, told in order by index_out.h
 *
 * They are read by whoever seals the file, in the background, and only then: many a file is gone on in again and again,
 * and sealed once. What does not stand there whole, frame behind frame by their chain, gets no index.
 *
 * Threads: one at a time.
 */
#ifndef U9I_EARLIER_H
#define U9I_EARLIER_H

#include "engine/write/segment_out.h"

/*
 * Collects, sorted, what stands in the file before `end`, where a u9end ends: `records` user records. So that what is
 * in order there is in order before all of `later`, keys above its first one get entries of their own. [K-2] False: it
 * is not whole, does not fit `memory`, or cannot be read now; `keys` is to be closed in any case.
 */
U9_MUST_CHECK bool u9i_earlier_keys(const u9i_segment_out *out, const u9i_position *end, uint64_t records,
                                    const u9i_keys *later, size_t memory, u9i_keys *keys);

#endif
