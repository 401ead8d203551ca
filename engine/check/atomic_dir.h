/*
 * engine/check/atomic_dir.h: a directory that comes into being whole or not at all: filled under the name
 * "<path>.partial", then renamed. What an interrupted run left under that name is replaced by the next.
 *
 * Room: engine/check
 * Sees: include engine/os engine/log engine/read
 *
 * The room owns checking and salvage.
 */
#ifndef U9I_NEWDIR_H
#define U9I_NEWDIR_H

/* "<path>.partial", without the slashes that `path` may end in; NULL without memory. free() it. */
char *u9i_atomic_dir_name(const char *path);

/*
 * Removes what an earlier run left at `partial`: a directory with nothing but segments in it. 0 (also if
 * there is none) or a negative errno; -ENOTEMPTY if other things are in it.
 */
int u9i_atomic_dir_clear(const char *partial);

/* Gives the finished directory its name, durably. 0 or a negative errno. */
int u9i_atomic_dir_keep(const char *partial, const char *path);

#endif
