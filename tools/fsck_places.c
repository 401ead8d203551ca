/*
 * tools/fsck_places.c: see fsck_places.h.
 */
#include "tools/fsck_places.h"

#include "tools/text.h"
#include "tools/tool.h"

#include <inttypes.h>

enum { SHOWN = 6 }; /* places in front of the last one that are told */

/* What stands in the place of a segment of the log at `path`. */
static tool_place look_at(const char *path, uint64_t number, char name[TOOL_SEGMENT_SIZE], char what[TOOL_PLACE_SIZE])
{
    char file[4400];
    snprintf(file, sizeof file, "%s/%s", path, tool_segment_text(number, name));
    return tool_place_at(file, what);
}

static void put_place(FILE *out, const char *path, uint64_t number)
{
    char name[TOOL_SEGMENT_SIZE], what[TOOL_PLACE_SIZE];
    (void)look_at(path, number, name, what);
    fprintf(out, "%s: lost:   in %s, which %s\n", tool_shown(path), name, what);
}

void tool_put_places(FILE *out, const char *path, uint64_t first, uint64_t last)
{
    char name[TOOL_SEGMENT_SIZE], what[TOOL_PLACE_SIZE];
    if (first == last && look_at(path, last, name, what) == TOOL_PLACE_NONE) return;
    for (uint64_t n = first; n < last && n - first < SHOWN; n++) put_place(out, path, n);
    if (last - first > SHOWN)
        fprintf(out, "%s: lost:   in %" PRIu64 " more that stood between them\n", tool_shown(path), last - first - SHOWN);
    put_place(out, path, last);
}

static void add_place(json_t *all, const char *path, uint64_t number)
{
    static const char *const words[] = {[TOOL_PLACE_FILE] = "file", [TOOL_PLACE_EMPTY] = "empty", [TOOL_PLACE_NONE] = "none",
                                        [TOOL_PLACE_LINK] = "link", [TOOL_PLACE_OTHER] = "other"};
    char name[TOOL_SEGMENT_SIZE], what[TOOL_PLACE_SIZE];
    tool_place place = look_at(path, number, name, what);
    (void)json_array_append_new(all, json_pack("{s:s, s:s}", "file", name, "stands", words[place]));
}

json_t *tool_json_places(const char *path, uint64_t first, uint64_t last)
{
    json_t *all = json_array();
    for (uint64_t n = first; n < last && n - first < SHOWN; n++) add_place(all, path, n);
    add_place(all, path, last);
    return all;
}
