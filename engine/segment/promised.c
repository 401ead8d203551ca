/*
 * engine/segment/promised.c: see promised.h. [R-2] [R-14] [M-4]
 */
#include "engine/segment/promised.h"

#include <errno.h>

/*
 * Bytes in front of the end of what was written: these are looked at first; behind space that is not known to be
 * reserved FARTHER times as many, and so on, up to FAR: a writer syncs more often [W-5].
 */
enum { NEAR = 1 << 20, FARTHER = 4, FAR = 1 << 26 };

uint64_t u9i_written_end(u9i_file *file, uint64_t size)
{
    uint64_t low = 0, high = size; /* behind `high` nothing was */
    while (high - low > NEAR) {
        uint64_t middle = low + (high - low) / 2;
        if (u9i_file_written(file, middle) < size) low = middle;
        else high = middle;
    }
    return high;
}

/* The latest promise of the valid frames that begin in the `reach` bytes before `end`. *found: there is one. */
static uint64_t latest_promise(u9i_window *w, uint64_t size, uint64_t end, uint64_t reach,
                               bool *found)
{
    u9i_frame f;
    uint64_t latest = 0;
    *found = false;
    for (uint64_t p = end > reach ? end - reach : 0; u9i_window_find(w, p, size, &f) == U9_OK;
         p = f.end) {
        *found = true;
        if (f.trailer.durable > latest) latest = f.trailer.durable;
    }
    return latest;
}

/* Up to where a promise reaches that is known; 0: none. */
static uint64_t promised_end(const u9i_facts *facts, u9i_file *file, uint64_t size, uint64_t end,
                             u9i_windows *windows)
{
    uint64_t latest = 0;
    u9i_window *w;
    bool found = false;
    if (facts->plain || facts->wrong != U9_R_NONE || u9i_windows_lend(windows, &w) != U9_OK)
        return 0;
    u9i_window_turn(w, file, &facts->secret);
    w->still = true;
    for (uint64_t reach = NEAR; !found && reach <= FAR && (reach == NEAR || reach / FARTHER < end);
         reach *= FARTHER)
        latest = latest_promise(w, size, end, reach, &found);
    u9i_windows_return(windows, w);
    return facts->marked && facts->mark.offset > latest ? facts->mark.offset : latest;
}

int u9i_make_sure(const u9i_facts *facts, u9i_file *file, u9i_windows *windows)
{
    uint64_t size = 0, from = 0;
    bool known = facts != NULL && u9i_file_size(file, &size) == 0;
    uint64_t end = known ? u9i_written_end(file, size) : 0;
    if (known) from = promised_end(facts, file, size, end, windows);
    return u9i_file_sync_and_evict_from(file, from);
}

int u9i_wait_landed(u9i_file *file)
{
    enum { LATE_US = 10000000, NAP_US = 1000 };
    uint64_t give_up_us = u9i_monotonic_us(file->env) + LATE_US;
    int sys;
    while ((sys = u9i_file_lock(file)) == -EWOULDBLOCK && u9i_monotonic_us(file->env) < give_up_us)
        u9i_sleep_us(file->env, NAP_US);
    return sys;
}
