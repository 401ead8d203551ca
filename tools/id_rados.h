/*
 * tools/id_rados.h: `u9 id new uid8 --rados rados:POOL/NAME`.
 */
#ifndef U9_TOOLS_ID_RADOS_H
#define U9_TOOLS_ID_RADOS_H

#include <u9/id.h>

/*
 * Prints `count` fresh eight-byte identifiers, one a line, made under numbers that are claimed at `address`
 * (u9_rados_numbers_new, u9/rados.h). `layout` 1 to 4, 0: the last. Flushes standard output, then gives the number back.
 * Returns the exit status, after a line on standard error if that is not TOOL_DONE: TOOL_REFUSED where libu9-rados,
 * which is loaded for such an address (tools/store.h), cannot be had.
 */
int tool_id_rados(const char *address, unsigned layout, u9_uid8_mode mode, unsigned cluster, uint64_t count);

#endif
