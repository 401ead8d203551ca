/*
 * engine/check/small_file.h: a small file beside a log, written whole: there is the old one or the new one.
 */
#ifndef U9I_SMALL_FILE_H
#define U9I_SMALL_FILE_H

#include "engine/os/env.h"

/* Whole blocks, of pages, by a queue of its own, and a sync. 0 or a negative errno. */
U9_MUST_CHECK int u9i_write_and_sync(u9i_file *file, uint64_t at, uint8_t *pages, size_t n);

/*
 * The file `name` has the first `size` bytes of these pages, whole blocks, durably, or is as it was. Until then it is called
 * `fresh`; whatever has that name goes. 0 or a negative errno.
 */
U9_MUST_CHECK int u9i_small_file_put(u9i_dir *dir, const char *fresh, const char *name, uint8_t *pages, size_t size);

#endif
