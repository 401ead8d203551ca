/*
 * tools/place.h: what stands where a file of a log should.
 */
#ifndef U9_TOOLS_PLACE_H
#define U9_TOOLS_PLACE_H

enum { TOOL_PLACE_SIZE = 200 };

/* What stands under a path. */
typedef enum tool_place {
    TOOL_PLACE_FILE,  /* a file with something in it; or it cannot be looked at */
    TOOL_PLACE_EMPTY, /* a file of 0 bytes */
    TOOL_PLACE_NONE,  /* nothing */
    TOOL_PLACE_LINK,  /* a link to what is not there */
    TOOL_PLACE_OTHER  /* a directory, a FIFO, a socket, a device; or a link to one */
} tool_place;

/* Looks at it. `out` is what to say behind its name: "is empty", "is a link to X, which is not there". */
tool_place tool_place_at(const char *path, char out[TOOL_PLACE_SIZE]);

#endif
