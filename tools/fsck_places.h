/*
 * tools/fsck_places.h: what stands in the places of segments that are not there, for who has to put them back.
 */
#ifndef U9_TOOLS_FSCK_PLACES_H
#define U9_TOOLS_FSCK_PLACES_H

#include "tools/place.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The places of segments `first` to `last` of the log at `path`, a line each, or of many the first ones and the last:
 * some of these hold what is lost. Of one that is simply not there nothing is said that was not said.
 */
void tool_put_places(FILE *out, const char *path, uint64_t first, uint64_t last);

/* The same places, also of a single one, as an array of objects. */
json_t *tool_json_places(const char *path, uint64_t first, uint64_t last);

#endif
