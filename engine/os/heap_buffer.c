/*
 * engine/os/heap_buffer.c: room on the heap for a u9_builder, which format/ cannot have by itself.
 */
#include <u9/value.h>

#include <stdlib.h>

enum { FIRST = 256 /* bytes: enough for most records */ };

u9_err u9_grow_heap(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    (void)ctx;
    size_t size = *cap > SIZE_MAX / 2 ? SIZE_MAX : 2 * *cap;
    if (size < need) size = need;
    if (size < FIRST) size = FIRST;
    uint8_t *more = (uint8_t *)realloc(*bytes, size);
    if (!more) return U9_NOMEM;
    *bytes = more;
    *cap = size;
    return U9_OK;
}
