/*
 * engine/check/atomic_dir.h: a directory that comes into being whole or not at all: filled under the name
 * "<path>.partial", then renamed. While it is unfinished it holds a file of a name of its own: by that, and by
 * nothing else, what an interrupted run left is known and replaced by the next.
 */
#ifndef U9I_ATOMIC_DIR_H
#define U9I_ATOMIC_DIR_H

#include "engine/os/env.h"

/* Bytes of a path without the slashes that it ends in; "/" is itself. */
size_t u9i_path_length(const char *path);

/* "<path>.partial", without the slashes that `path` may end in; NULL without memory. free() it. */
char *u9i_atomic_dir_name(const char *path);

/*
 * Makes `partial`, empty and marked as unfinished. What stands there already is removed if it is marked so, holds
 * nothing but segments, and is none of the `count` sources nor a directory that one stands in; else nothing of it is
 * touched: U9_ARG, and the fault says what it is. U9_IO, U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_atomic_dir_begin(u9i_env *env, const char *partial, const char *const *sources,
                                          size_t count, u9_fault *fault);

/*
 * As u9i_atomic_dir_begin, but what an unfinished run left there stays, and an empty directory will do. *out is open.
 */
U9_MUST_CHECK u9_err u9i_atomic_dir_resume(u9i_env *env, const char *partial, const char *source, u9i_dir **out,
                                           u9_fault *fault);

/*
 * Removes `partial`, if u9i_atomic_dir_begin would replace it. False: nothing is there, or it is something else, or
 * that failed.
 */
bool u9i_atomic_dir_drop(u9i_env *env, const char *partial, const char *source);

/*
 * Gives the finished directory its name, `partial` without ".partial", durably; or a negative errno, and it has the old one
 * again, if the disk lets it.
 */
int u9i_atomic_dir_keep(u9i_env *env, const char *partial);

#endif
