/*
 * tools/buffer.c: see buffer.h.
 */
#include "tools/buffer.h"

#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 1 << 10 };

/* What a stream calls: how many bytes were taken, 0 being a failure, which it keeps in mind. */
static ssize_t add(void *ctx, const char *bytes, size_t size)
{
    tool_buffer *b = (tool_buffer *)ctx;
    if (b->room - b->size <= size) {
        size_t room = 2 * b->room > b->size + size ? 2 * b->room : b->size + size + LEAST;
        char *more = (char *)realloc(b->bytes, room);
        if (!more) return 0;
        b->bytes = more;
        b->room = room;
    }
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    b->bytes[b->size] = '\0';
    return (ssize_t)size;
}

bool tool_buffer_open(tool_buffer *b)
{
    cookie_io_functions_t calls = {.write = add};
    *b = (tool_buffer){.bytes = (char *)calloc(1, LEAST), .room = LEAST};
    b->file = b->bytes ? fopencookie(b, "w", calls) : NULL;
    if (b->file) return true;
    free(b->bytes);
    *b = (tool_buffer){.file = NULL};
    return false;
}

void tool_buffer_close(tool_buffer *b)
{
    if (!b->file) return;
    __fpurge(b->file);
    fclose(b->file);
    free(b->bytes);
    *b = (tool_buffer){.file = NULL};
}

void tool_buffer_clear(tool_buffer *b)
{
    __fpurge(b->file);
    clearerr(b->file);
    b->size = 0;
    b->bytes[0] = '\0';
}

size_t tool_buffer_used(const tool_buffer *b)
{
    return b->size + __fpending(b->file);
}

bool tool_buffer_take(tool_buffer *b)
{
    return fflush(b->file) == 0 && !ferror(b->file);
}
