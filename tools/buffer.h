/*
 * tools/buffer.h: a stream into memory that says when memory is short. (One of open_memstream leaves out what it has no room
 * for, and no call on it tells.)
 */
#ifndef U9_TOOLS_BUFFER_H
#define U9_TOOLS_BUFFER_H

#include <stdbool.h>
#include <stdio.h>

typedef struct tool_buffer {
    FILE *file;  /* to be written to; NULL: it is not open */
    char *bytes; /* what was written, and a NUL behind it, once that is taken */
    size_t size, room;
} tool_buffer;

/* False: out of memory. */
bool tool_buffer_open(tool_buffer *buffer);
void tool_buffer_close(tool_buffer *buffer);

/* What is written next is all of it. */
void tool_buffer_clear(tool_buffer *buffer);

/* Bytes that were written so far. */
size_t tool_buffer_used(const tool_buffer *buffer);

/* Now `bytes` and `size` are what was written. False: not all of that, as memory was short. */
bool tool_buffer_take(tool_buffer *buffer);

#endif
