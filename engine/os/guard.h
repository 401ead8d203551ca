/*
 * engine/os/guard.h: the mappings that the guard watches, and what it met in them. See u9/guard.h.
 *
 * The guard is a handler of SIGBUS. It finds the address in a table that is never locked, notes it there, and lays a
 * page of zeros over the place; the reader goes on, and looks into the table once it has used the bytes.
 *
 * Threads: any; what the handler does is safe in a signal.
 */
#ifndef U9I_GUARD_H
#define U9I_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One mapping: a slot of the table. */
typedef struct u9i_guarded {
    atomic_uint turn;            /* odd: it changes hands */
    atomic_uintptr_t begin, end; /* 0: it is free */
    atomic_uintptr_t low, high;  /* a span of what was met; high 0: nothing */
} u9i_guarded;

/* True if it is installed. */
bool u9i_guard_ready(void);

/*
 * From now on the guard watches the `size` bytes of a mapping, of which nothing was touched yet. NULL: there is no
 * guard, or another handler stands before it, or too much is mapped: the mapping is not to be used.
 */
u9i_guarded *u9i_guard_watch(const void *map, size_t size);

/* No more: nobody touches it, and it is about to be unmapped. */
void u9i_guard_leave(u9i_guarded *guarded);

/* True if something was met: what was read of the mapping until now may have been zeros that are not the file's. */
static inline bool u9i_guard_broken(const u9i_guarded *guarded)
{
    atomic_thread_fence(memory_order_acquire); /* the bytes were read before */
    return atomic_load_explicit(&guarded->high, memory_order_relaxed) != 0;
}

/* True if it was met in [from, to) of the mapping, as far as one span of all that was met tells; `*at`: from where on. */
bool u9i_guard_broken_in(const u9i_guarded *guarded, size_t from, size_t to, size_t *at);

#endif
