/*
 * engine/segment/promised.h: how much of an unclosed file is surely on stable storage, and making sure of the rest.
 */
#ifndef U9I_PROMISED_H
#define U9I_PROMISED_H

#include "engine/segment/probe.h"

/*
 * Syncs a file that nobody writes, and drops what is cached of it behind the last promise that is known without reading
 * all of it: the mark's, or the latest of a valid frame near the end of what was written. It was synced up to there: what
 * is cached in front of it is what the disk has. `facts` NULL: nothing is promised. Hashes a MiB or a few behind the last
 * frame's, whatever the file's size; what fails there promises nothing. 0 or a negative errno: of the sync.
 */
int u9i_make_sure(const u9i_facts *facts, u9i_file *file, u9i_windows *windows);

/*
 * Takes the lock of a file whose writer is gone: only its last requests may still have it, which are waited for, 10 s at most.
 * 0, -EWOULDBLOCK, or another negative errno. [W-1]
 */
int u9i_wait_landed(u9i_file *file);

/*
 * Where what was written to a file of `size` bytes that nobody writes ends, or up to a MiB behind that; `size` where the file
 * system does not tell.
 */
uint64_t u9i_written_end(u9i_file *file, uint64_t size);

#endif
