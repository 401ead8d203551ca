/*
 * engine/check/small_file.h: a small file beside a log, written whole: there is the old one or the new one. And reads of as
 * many bytes as there must be.
 */
#ifndef U9I_SMALL_FILE_H
#define U9I_SMALL_FILE_H

#include "engine/os/env.h"

/* Bytes [at, at + n) of the file. 0 or a negative errno; -ENODATA: they are not all there. */
U9_MUST_CHECK int u9i_read_exactly(u9i_file *file, uint64_t at, void *bytes, size_t n);

/* Whole blocks, of pages, by a queue of its own, and a sync. 0 or a negative errno. */
U9_MUST_CHECK int u9i_write_and_sync(u9i_file *file, uint64_t at, uint8_t *pages, size_t n);

/*
 * The file `name` has the first `size` bytes of these pages, whole blocks, durably, or is as it was. Until then it is called
 * `fresh`; whatever has that name goes. 0 or a negative errno.
 */
U9_MUST_CHECK int u9i_small_file_put(u9i_dir *dir, const char *fresh, const char *name, uint8_t *pages, size_t size);

#endif
