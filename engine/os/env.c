/*
 * engine/os/env.c: which io table a log gets.
 */
#include "engine/os/env.h"

#include <stdlib.h>
#include <string.h>

static const u9i_io_table *extra; /* tests only */

void u9i_io_offer(const u9i_io_table *table)
{
    extra = table;
}

const u9i_io_table *u9i_io_choose(const char *name)
{
    if (name == NULL || name[0] == 0) name = getenv("U9_IO");
    bool any = name == NULL || name[0] == 0;
    if (extra && !any && strcmp(name, extra->name) == 0) return extra;
    if ((any || strcmp(name, "uring") == 0) && u9i_uring_usable()) return &u9i_io_uring;
    if (any || strcmp(name, "posix") == 0) return &u9i_io_posix;
    return NULL;
}
