/*
 * engine/index/losses.h: the bytes of a segment in which records were lost, as an index that was made without these
 * records notes them: it holds as long as they are as they were. [C-9] [K-4]
 *
 *     | frames | [begin, end): damage | frames ... | [begin, end): damage | frames |
 *                      `- content: H over all of these -'
 *
 * Ranges ascend and do not overlap, so that no byte is hashed twice, whatever a file says.
 *
 * Threads: one at a time.
 */
#ifndef U9I_LOSSES_H
#define U9I_LOSSES_H

#include "engine/segment/segment.h"
#include "format/frame/control.h"

enum { U9I_LOSSES_MAX = 4096 }; /* ranges */

typedef struct u9i_losses {
    uint8_t *ranges; /* 2 * count numbers, as a root has them; NULL: there are none */
    uint32_t count, room;
} u9i_losses;

void u9i_losses_free(u9i_losses *losses); /* all zeros: fine */

/* One that comes behind all before, or reaches into the last. False: it is empty, too many are there, or no memory. */
U9_MUST_CHECK bool u9i_losses_add(u9i_losses *losses, uint64_t begin, uint64_t end);

/* What a root says. U9_CORRUPT: not ranges that ascend; U9_NOMEM. On failure nothing is held. */
U9_MUST_CHECK u9_err u9i_losses_of(u9i_losses *losses, const struct u9i_root_record *root);

/* Where the last one ends; 0: there is none. */
uint64_t u9i_losses_end(const u9i_losses *losses);

/* True if [begin, end) is within one of them. */
bool u9i_losses_have(const u9i_losses *losses, uint64_t begin, uint64_t end);

/* The hash of what stands there now. U9_IO, U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_losses_hash(const u9i_losses *losses, u9i_segment *segment, uint8_t out[U9I_HASH_SIZE]);

#endif
