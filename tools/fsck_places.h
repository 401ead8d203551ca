/*
 * tools/fsck_places.h: what stands in the places of segments that are not there, for who has to put them back.
 */
#ifndef U9_TOOLS_FSCK_PLACES_H
#define U9_TOOLS_FSCK_PLACES_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

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

/*
 * The places of segments `first` to `last` of the log at `path`, a line each, or of many the first ones and the last:
 * some of these hold what is lost. Of one that is simply not there nothing is said that was not said.
 */
void tool_put_places(FILE *out, const char *path, uint64_t first, uint64_t last);

/* The same places, also of a single one, as an array of objects. */
json_t *tool_json_places(const char *path, uint64_t first, uint64_t last);

#endif
