/*
 * engine/index/fences.h: what a lookup goes by to get from a key to a frame, laid out so that it looks at few lines of
 * the processor's cache: the entries of a page of form 1, and where elements of a sorted row begin by their upper bits.
 *
 * An entry stands by itself here, with the frame that it leads to beside it once that is kept, as keys and places of a
 * page in the file are in different lines. The records' own entries, of which there are many more, stay there.
 *
 * Threads: any; but for the frames, which come when they are kept, nothing changes.
 */
#ifndef U9I_FENCES_H
#define U9I_FENCES_H

#include "engine/index/frames.h"

typedef struct u9i_fence {
    uint64_t hi, lo, at;         /* as of a u9i_key_entry */
    const u9i_open_frame *frame; /* loaded and set atomically; NULL: it is not known to be kept */
    const uint8_t *bytes;        /* its body, */
    uint32_t size, groups;       /*   and what its table has: see u9i_frames_bring_kept; set atomically, before `frame` */
} u9i_fence;

static inline u9i_key_entry u9i_fence_entry(const u9i_fence *f)
{
    return (u9i_key_entry){.hi = f->hi, .lo = f->lo, .at = f->at};
}

/* The kept frame that it leads to. */
static inline const u9i_open_frame *u9i_fence_frame(const u9i_fence *f)
{
    return __atomic_load_n(&f->frame, __ATOMIC_ACQUIRE);
}

/* Notes that it is kept. */
static inline void u9i_fence_note(u9i_fence *f, const u9i_open_frame *frame)
{
    __atomic_store_n(&f->bytes, frame->bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&f->size, frame->size, __ATOMIC_RELAXED);
    __atomic_store_n(&f->groups, u9i_open_frame_groups(frame), __ATOMIC_RELAXED);
    __atomic_store_n(&f->frame, frame, __ATOMIC_RELEASE);
}

/* Where elements of a sorted row begin, by the upper bits of a number that each begins with. */
typedef struct u9i_bins {
    uint64_t first, span; /* the least number; the greatest one less that */
    unsigned shift;       /* bits of a number less the first that do not count */
    size_t count;         /* elements */
    uint32_t starts[];    /* (span >> shift) + 2; the last one is `count` */
} u9i_bins;

/* Of `count` elements of `size` bytes each, not 0. Memory from malloc; NULL: there is none. */
u9i_bins *u9i_bins_make(const void *elements, size_t count, size_t size);
size_t u9i_bins_bytes(const u9i_bins *bins);

/* The first `*low` elements have a lesser number; those from `*high` on a greater one. */
static inline void u9i_bins_at(const u9i_bins *b, uint64_t number, size_t *low, size_t *high)
{
    bool below = number < b->first, above = number - b->first > b->span;
    uint64_t bin = below || above ? 0 : (number - b->first) >> b->shift;
    *low = below ? 0 : above ? b->count : b->starts[bin];
    *high = below ? 0 : above ? b->count : b->starts[bin + 1];
}

/* Those of a page. */
typedef struct u9i_fences {
    u9i_bins *bins;
    uint32_t count;
    u9i_fence all[];
} u9i_fences;

/* Of so many entries, not 0, as they stand in a page of form 1. NULL: there is no memory. */
u9i_fences *u9i_fences_make(const uint8_t *keys, const uint8_t *places, uint32_t count, unsigned width);
void u9i_fences_free(u9i_fences *fences); /* NULL is fine */
size_t u9i_fences_bytes(const u9i_fences *fences);

/* How many have a key and place below that of `e`. */
size_t u9i_fences_rank(const u9i_fences *fences, const u9i_key_entry *e);

/* About where in the body of that frame a record of this key stands, if keys are spread evenly from it to the next one;
 * NULL: it is not known. Only to be asked of the processor. */
const uint8_t *u9i_fences_guess(const u9i_fences *fences, const u9i_fence *fence, const u9i_key_entry *e);

/* Asks the processor for what u9i_fences_rank looks at. */
void u9i_fences_bring(const u9i_fences *fences, const u9i_key_entry *e);

#endif
