/*
 * engine/check/atomic_dir.h: a directory that comes into being whole or not at all: filled under the name
 * "<path>.partial", then renamed. What an interrupted run left under that name is replaced by the next.
 */
#ifndef U9I_ATOMIC_DIR_H
#define U9I_ATOMIC_DIR_H

#include "engine/os/env.h"

/* "<path>.partial", without the slashes that `path` may end in; NULL without memory. free() it. */
char *u9i_atomic_dir_name(const char *path);

/*
 * Removes what an earlier run left at `partial`: a directory with nothing but segments in it. 0 (also if
 * there is none) or a negative errno; -ENOTEMPTY if other things are in it.
 */
int u9i_atomic_dir_clear(u9i_env *env, const char *partial);

/* Gives the finished directory its name, `partial` without ".partial", durably. 0 or a negative errno. */
int u9i_atomic_dir_keep(u9i_env *env, const char *partial);

#endif
