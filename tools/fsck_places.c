/*
 * tools/fsck_places.c: see fsck_places.h.
 */
#include "tools/fsck_places.h"

#include "tools/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 6 }; /* places in front of the last one that are told */

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* Whoever may write to the directory chose that text: it does nothing to a terminal, and is UTF-8. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~') *text = '?';
}

tool_place tool_place_at(const char *path, char out[TOOL_PLACE_SIZE])
{
    struct stat st;
    char target[96] = "";
    const char *to = "";
    snprintf(out, TOOL_PLACE_SIZE, "holds something else");
    if (lstat(path, &st) != 0) {
        if (errno != ENOENT) return TOOL_PLACE_FILE;
        snprintf(out, TOOL_PLACE_SIZE, "is not here");
        return TOOL_PLACE_NONE;
    }
    if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        make_plain(target);
        to = "a link to ";
        if (stat(path, &st) != 0) {
            snprintf(out, TOOL_PLACE_SIZE, "is a link to %s%s, which is not there", target,
                     n + 1 == (ssize_t)sizeof target ? "..." : "");
            return TOOL_PLACE_LINK;
        }
    }
    if (S_ISREG(st.st_mode)) {
        if (st.st_size == 0) snprintf(out, TOOL_PLACE_SIZE, "is empty");
        return st.st_size == 0 ? TOOL_PLACE_EMPTY : TOOL_PLACE_FILE;
    }
    snprintf(out, TOOL_PLACE_SIZE, "is %s%s", to, kind_of(st.st_mode));
    return TOOL_PLACE_OTHER;
}

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
    fprintf(out, "%s: lost:   in %s, which %s\n", path, name, what);
}

void tool_put_places(FILE *out, const char *path, uint64_t first, uint64_t last)
{
    char name[TOOL_SEGMENT_SIZE], what[TOOL_PLACE_SIZE];
    if (first == last && look_at(path, last, name, what) == TOOL_PLACE_NONE) return;
    for (uint64_t n = first; n < last && n - first < SHOWN; n++) put_place(out, path, n);
    if (last - first > SHOWN)
        fprintf(out, "%s: lost:   in %" PRIu64 " more that stood between them\n", path, last - first - SHOWN);
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
