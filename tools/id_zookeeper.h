/*
 * tools/id_zookeeper.h: `u9 id new uid8 --zookeeper HOST:PORT/PATH`.
 */
#ifndef U9_TOOLS_ID_ZOOKEEPER_H
#define U9_TOOLS_ID_ZOOKEEPER_H

#include <u9/id.h>

/*
 * Prints `count` fresh eight-byte identifiers, one a line, made under numbers that are claimed at
 * `address`, "HOST:PORT[,HOST:PORT...]/PATH" (u9/zk.h). `layout` 1 to 4, 0: the first. Waits
 * `wait_s` seconds for a number, and says so on standard error when a second has gone. Flushes
 * standard output, then gives the number back, which takes two seconds. Returns the exit status,
 * after a line on standard error if that is not TOOL_DONE: TOOL_REFUSED where libu9-zk, which is
 * loaded for this alone, cannot be had.
 */
int tool_id_zookeeper(const char *address, unsigned layout, u9_uid8_mode mode, uint64_t count,
                      unsigned wait_s);

#endif
