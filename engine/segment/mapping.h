/*
 * engine/segment/mapping.h: a file that does not change any more but behind its end, as memory.
 *
 * Where a page cannot be read, for the disk fails or the file was cut, the guard (engine/os/guard.h) shows zeros and
 * notes that: who has used bytes of a mapping asks whether it broke meanwhile, and if so takes them for nothing. A
 * mapping that broke anywhere is not used again: read calls tell what is there and what is not.
 *
 * Threads: any may read; made and freed by one.
 */
#ifndef U9I_MAPPING_H
#define U9I_MAPPING_H

#include "engine/os/env.h"
#include "engine/os/guard.h"

typedef struct u9i_mapping {
    u9i_env *env;
    const uint8_t *bytes;
    uint64_t size; /* bytes: the whole file's */
    u9i_guarded *guarded;
} u9i_mapping;

/*
 * The whole file, which must have this size and be about to keep it. `random`: nothing is read ahead of what is
 * looked at. NULL: no guard is installed, or it cannot be mapped.
 */
u9i_mapping *u9i_mapping_new(u9i_file *file, uint64_t size, bool random);
void u9i_mapping_free(u9i_mapping *mapping); /* NULL is fine */

static inline bool u9i_mapping_broken(const u9i_mapping *mapping)
{
    return u9i_guard_broken(mapping->guarded);
}

/* True if it broke in [from, to); `*at`: from where on. */
static inline bool u9i_mapping_broken_in(const u9i_mapping *mapping, uint64_t from, uint64_t to,
                                         uint64_t *at)
{
    size_t where;
    if (!u9i_guard_broken_in(mapping->guarded, (size_t)from, (size_t)to, &where)) return false;
    *at = where;
    return true;
}

/* [from, from + size) is wanted, and was perhaps never read: it comes in one piece, not page by page. A system call. */
void u9i_mapping_fetch(const u9i_mapping *mapping, uint64_t from, uint64_t size);

/* [from, to) is not wanted for now: what of it was looked at takes no memory of the process any more. */
void u9i_mapping_pass(const u9i_mapping *mapping, uint64_t from, uint64_t to);

#endif
