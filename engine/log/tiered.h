/*
 * engine/log/tiered.h: a log's directory together with the place where its oldest segments stand: one directory, to who
 * reads. [TR-5] [TR-6]
 *
 * A handle that reads gets this one in a directory's stead, whether there is a `.tier` (tier_list.h) yet or not: it is looked
 * for each time that the directory is listed. A name that is not here is looked for there, if the list has it. What is
 * opened is a file of the one or the other, with that one's env: nothing stands between a reader and its bytes. What is
 * made, changed or locked is so here alone.
 *
 * Threads: as a dir.
 */
#ifndef U9I_TIERED_H
#define U9I_TIERED_H

#include "engine/os/env.h"

/*
 * Puts such a directory in the place of *dir, which it owns then; one of a single file is as it was.
 * U9_CORRUPT (the list is damaged), U9_VERSION (it is of a later version), U9_IO (the place cannot be reached), U9_ARG
 * (what it names is no address here), U9_NOMEM: *dir is as it was.
 */
U9_MUST_CHECK u9_err u9i_tiered_open(u9i_dir **dir, const char *path, u9_fault *fault);

#endif
