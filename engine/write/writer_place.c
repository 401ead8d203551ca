/*
 * engine/write/writer_place.c: the log is still where it was opened. [W-6]
 *
 * Who removes, renames or replaces the directory below a running writer has a log, or none, that does not grow, and the
 * writer would go on in one that nobody finds by its path. So each sync asks for it: by its name in the directory above,
 * found from the open directory itself, as the path may be relative to where the process no longer is. Of a lone commit
 * of 110 us on ext4 one look takes 1, so it is one for both, the directory and the file; two say which is not there.
 */
#include "engine/write/writer_parts.h"

#include "engine/segment/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int u9i_writer_find_place(const u9i_writer *w)
{
    uint64_t found[2];
    if (w->place[0] == 0) return 0;
    int sys = u9i_dir_identify(w->dir, w->place, found);
    return sys == 0 && memcmp(found, w->identity, sizeof found) != 0 ? -ESTALE : sys;
}

bool u9i_writer_is_found(const u9i_writer *w, const u9i_segment_out *o)
{
    char path[sizeof w->place + 1 + 20];
    uint64_t found[2];
    size_t n = strlen(w->place);
    if (n == 0) return false;
    memcpy(path, w->place, n);
    path[n] = '/';
    u9i_segment_name(o->number, path + n + 1);
    return u9i_dir_identify(w->dir, path, found) == 0 && memcmp(found, o->identity, sizeof found) == 0;
}

void u9i_writer_note_place(u9i_writer *w)
{
    size_t end = strlen(w->path);
    while (end > 0 && w->path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && w->path[begin - 1] != '/') begin--;
    snprintf(w->place, sizeof w->place, "../%.*s", (int)(end - begin), w->path + begin);
    /* Not so where the path ends in a link, or a dot, or where nobody may look. */
    if (u9i_dir_identify(w->dir, ".", w->identity) != 0 || u9i_writer_find_place(w) != 0) w->place[0] = 0;
}
