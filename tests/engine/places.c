/*
 * tests/engine/places.c: see places.h.
 */
#include "tests/engine/places.h"

#include "tests/must.h"

#include <assert.h>
#include <execinfo.h>
#include <stdint.h>
#include <sys/mman.h>

enum { TRIED = 1 << 16, DEPTH_MAX = 40, NEW_MAX = 1 << 13 };

/* Hashes of places, each in the first slot that was free behind its own; 0: free. */
static uint64_t *tried;

static _Thread_local struct {
    bool on;
    unsigned what, depth, seen;
    size_t count;
    unsigned fresh[NEW_MAX];
} noting;

void places_share(void)
{
    void *first[1];
    if (tried) return;
    void *pages = mmap(NULL, TRIED * sizeof *tried, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(pages != MAP_FAILED);
    tried = pages;
    (void)backtrace(first, 1); /* which loads what it needs, and allocates for that */
}

void places_begin(unsigned what, unsigned depth)
{
    MUST(tried != NULL && depth < DEPTH_MAX);
    noting.on = true;
    noting.what = what;
    noting.depth = depth;
    noting.seen = 0;
    noting.count = 0;
}

/* True if it was not there. */
static bool enter(uint64_t place)
{
    for (size_t i = place % TRIED, n = 0; n < TRIED; i = (i + 1) % TRIED, n++) {
        if (tried[i] == place) return false;
        if (tried[i] != 0) continue;
        tried[i] = place;
        return true;
    }
    return false;
}

void places_note(void)
{
    void *callers[DEPTH_MAX];
    if (!noting.on) return;
    noting.seen++;
    uint64_t place = noting.what + 1;
    int n = backtrace(callers, (int)noting.depth);
    for (int i = 1; i < n; i++)
        place = ((place ^ (uint64_t)(uintptr_t)callers[i]) * UINT64_C(0x9e3779b97f4a7c15)) ^
                (place >> 29);
    if (enter(place) && noting.count < NEW_MAX) noting.fresh[noting.count++] = noting.seen;
}

const unsigned *places_end(size_t *count)
{
    noting.on = false;
    *count = noting.count;
    return noting.fresh;
}
