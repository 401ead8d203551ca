/*
 * engine/segment/promised.c: see promised.h. [R-2] [R-14] [M-4]
 */
#include "engine/segment/promised.h"

enum {
    NEAR =
        1
        << 20, /* bytes in front of the file's end that are looked at first; behind space reserved ahead, */
    FARTHER = 4,  /*   so many times as many, */
    FAR = 1 << 26 /*   and at most these: a writer syncs more often [W-5] */
};

/* The latest promise of the valid frames that begin in the last `reach` bytes. *found: there is one. */
static uint64_t latest_promise(u9i_window *w, uint64_t size, uint64_t reach, bool *found)
{
    u9i_frame f;
    uint64_t latest = 0;
    *found = false;
    for (uint64_t p = size > reach ? size - reach : 0; u9i_window_find(w, p, size, &f) == U9_OK;
         p = f.end) {
        *found = true;
        if (f.trailer.durable > latest) latest = f.trailer.durable;
    }
    return latest;
}

uint64_t u9i_promised_end(const u9i_facts *facts, u9i_file *file, u9i_windows *windows)
{
    uint64_t size, latest = 0;
    u9i_window *w;
    bool found = false;
    if (facts->plain || facts->wrong != U9_R_NONE || u9i_file_size(file, &size) != 0) return 0;
    if (u9i_windows_lend(windows, &w) != U9_OK) return 0;
    u9i_window_turn(w, file, &facts->secret);
    for (uint64_t reach = NEAR; !found && reach <= FAR && (reach == NEAR || reach / FARTHER < size);
         reach *= FARTHER)
        latest = latest_promise(w, size, reach, &found);
    u9i_windows_return(windows, w);
    return facts->marked && facts->mark.offset > latest ? facts->mark.offset : latest;
}
