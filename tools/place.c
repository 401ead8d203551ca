/*
 * tools/place.c: see place.h.
 */
#include "tools/place.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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
