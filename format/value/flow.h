/*
 * format/value/flow.h: the proof that values back to back are well-formed, while their bytes flow by in pieces of any
 * size: for what is larger than memory. [V-4] to [V-10]
 *
 * It is u9_value_check (check.c) turned around: there the bytes lie still and the proof goes over them; here it
 * stands still between two bytes. Text, bytes, numbers, arrays of these, and tuples of anything take no memory, however
 * large. An array of tuples, and an index, are kept until they are whole, in the caller's room: a larger one is refused
 * (U9_NOMEM).
 *
 *     open[depth]            the innermost container, whose elements come next
 *     skip                   bytes of a value's contents that are to be passed yet
 *     kept .. want           the beginning of a value that is not all here yet
 */
#ifndef U9I_FLOW_H
#define U9I_FLOW_H

#include <u9/value.h>

#include <stdbool.h>

enum { U9I_FLOW_ROOM = 4096 }; /* the least that is kept: any head, with any typecode */

typedef struct u9i_flow_level {
    uint64_t end; /* where it must end */
    uint64_t due; /* values still to come */
    bool indexed; /* an index was the last: only an index or a container may follow */
} u9i_flow_level;

typedef struct u9i_flow {
    uint64_t at;   /* bytes taken, but for those that are kept */
    uint64_t skip;
    uint8_t *room; /* borrows: `cap` bytes */
    size_t cap, kept, want;
    unsigned depth, depth_max;
    bool refused;  /* for good */
    u9i_flow_level open[U9_DEPTH_MAX + 1];
} u9i_flow;

/*
 * Begins with `count` values that take exactly `total` bytes, inside `outer` containers. `room` of `cap`, at least
 * U9I_FLOW_ROOM bytes, is borrowed.
 */
void u9i_flow_init(u9i_flow *flow, unsigned outer, uint64_t count, uint64_t total, uint8_t *room, size_t cap);

/*
 * Takes the next bytes. U9_CORRUPT, U9_LIMIT: these cannot be such values, whatever follows; U9_NOMEM: the room is too
 * small for one of them. `fault` (may be NULL) tells at which byte it begins, and the flow is over.
 */
U9_MUST_CHECK u9_err u9i_flow_take(u9i_flow *flow, const void *bytes, size_t size, u9_fault *fault);

/* U9_OK if all is here: exactly so many values, in so many bytes. U9_TORN: not yet; U9_CORRUPT as above. */
U9_MUST_CHECK u9_err u9i_flow_end(u9i_flow *flow, u9_fault *fault);

#endif
