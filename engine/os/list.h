/*
 * engine/os/list.h: lists that grow, and the order of what is in them.
 */
#ifndef U9I_LIST_H
#define U9I_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The list, with room for one more behind `count` items of this size: it may have moved. NULL: no memory, and it is as it was. */
static inline void *u9i_grow(void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room) return list;
    size_t more = *room ? 2 * *room : 16;
    void *grown = realloc(list, more * size);
    if (grown) *room = more;
    return grown;
}

/* As qsort wants it. */
static inline int u9i_order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

#endif
