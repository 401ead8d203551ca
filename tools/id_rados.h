/*
 * tools/id_rados.h: generator numbers from RADOS: `u9 id new uid8 --rados rados:POOL/NAME`, and --rados of append and import.
 */
#ifndef U9_TOOLS_ID_RADOS_H
#define U9_TOOLS_ID_RADOS_H

#include <u9/generator.h>
#include <u9/id.h>
#include <u9/rados.h>

/*
 * A source of numbers at `address` (u9_rados_numbers_new, u9/rados.h), for `layout` 1 to 4. Returns the exit status, after a
 * line on standard error if that is not TOOL_DONE: TOOL_REFUSED where libu9-rados, which is loaded for such an address
 * (tools/store.h), cannot be had. The caller frees it when what uses it is closed.
 */
int tool_rados_numbers(const char *address, unsigned layout, unsigned cluster, u9_rados_numbers **out, u9_generator *source);
void tool_rados_numbers_free(u9_rados_numbers *numbers); /* NULL is fine */

/*
 * Prints `count` fresh eight-byte identifiers, one a line, made under numbers that are claimed there. `layout` 0: the last.
 * Flushes standard output, then gives the number back. Returns as that.
 */
int tool_id_rados(const char *address, unsigned layout, u9_uid8_mode mode, unsigned cluster, uint64_t count);

#endif
