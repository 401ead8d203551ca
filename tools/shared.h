/*
 * tools/shared.h: libraries that have a client of another system in them, libu9-zk and libu9-rados: the tools load one
 * when they are asked for what it does, and need nothing of it before.
 */
#ifndef U9_TOOLS_SHARED_H
#define U9_TOOLS_SHARED_H

#include <stdbool.h>

/*
 * Loads a library of this project, "libu9-zk.so.0": the one beside the tool or in ../lib, as in a build folder and where
 * it is installed, else wherever the system looks. It stays until the process ends. NULL: `*why` is a sentence, until the
 * next call here.
 */
void *tool_shared(const char *library, const char **why);

/* Puts the function of this name into `*function`, a pointer to it. False: it has none; `*why` as above. */
bool tool_shared_find(void *handle, const char *name, void *function, const char **why);

#endif
