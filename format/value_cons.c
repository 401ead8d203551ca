/*
 * format/value_cons.c: tuples that lose and gain elements on their left while their body stays in
 * place, as when a stream of tuples is multiplexed by their first field. [V-4] [V-7]
 *
 * Only headers are written, in their shortest form. A tuple with an index in front is refused where
 * its bytes would change: the index would lead to the wrong places.
 */
#include <u9/value.h>

#include "format/shortest.h"

/* Looks at the tuple that is buffer[start, end). */
static u9_err look(const u9_cons *cons, u9_value *tuple)
{
    u9_value v;
    if (cons->start >= cons->end) return U9_ARG;
    size_t size = cons->end - cons->start;
    if (u9_value_decode(cons->buffer + cons->start, size, &v) != U9_OK) return U9_ARG;
    if (v.type != U9_TUPLE || v.code < 0x40 || v.code > 0x4f || v.encoded != size) return U9_ARG;
    *tuple = v;
    return U9_OK;
}

/* Writes the header in front of the elements that begin at `body` in the buffer. */
static void set_head(u9_cons *cons, size_t body, uint64_t count)
{
    size_t size = cons->end - body;
    cons->start = body - u9i_tuple_head(size, count);
    u9i_set_tuple_head(cons->buffer + cons->start, size, count);
}

u9_err u9_tuple_cons(u9_cons *cons, const void *field, size_t size)
{
    u9_value tuple, v;
    u9_err err = look(cons, &tuple);
    if (err) return err;
    if (tuple.count > tuple.size) return U9_ARG; /* malformed: no value is empty */
    if (u9_value_decode(field, size, &v) != U9_OK || v.encoded != size) return U9_ARG;
    size_t body = cons->end - (size_t)tuple.size;
    if (size > body) return U9_LIMIT;
    if (u9i_tuple_head(tuple.size + size, tuple.count + 1) > body - size) return U9_LIMIT;
    memmove(cons->buffer + body - size, field, size);
    set_head(cons, body - size, tuple.count + 1);
    return U9_OK;
}

u9_err u9_tuple_match(const u9_value *tuple, const u9_value *field, u9_value *rest)
{
    if (tuple->type != U9_TUPLE) return U9_ARG;
    u9_walk walk = u9_walk_elements(tuple);
    u9_value first;
    if (tuple->count == 0) return U9_END;
    u9_err err = u9_walk_next(&walk, &first);
    if (err) return err;
    if (u9_value_compare(&first, field) != 0) return U9_END;
    *rest = (u9_value){.type = U9_TUPLE,
                       .code = u9i_tuple_code(walk.left, tuple->count - 1),
                       .data = walk.next,
                       .size = walk.left,
                       .count = tuple->count - 1};
    return U9_OK;
}

u9_err u9_tuple_strip(u9_cons *cons, const u9_value *field)
{
    u9_value tuple, rest;
    u9_err err = look(cons, &tuple);
    if (!err) err = u9_tuple_match(&tuple, field, &rest);
    if (err) return err;
    set_head(cons, cons->end - (size_t)rest.size, rest.count);
    return U9_OK;
}
