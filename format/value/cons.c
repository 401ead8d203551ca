/*
 * format/value/cons.c: tuples that lose and gain elements on their left while their body stays in
 * place, as when a stream of tuples is multiplexed by their first field. [V-4] [V-7]
 *
 * Only headers are written, in their shortest form. A tuple with an index in front is refused where
 * its bytes would change: the index would lead to the wrong places.
 */
#include <u9/value.h>

#include "format/value/shortest.h"
#include "format/value/decode.h"

/* Takes the tuple apart that is buffer[start, end). */
static u9_err look_at_tuple(const u9_cons *cons, u9i_parts *tuple)
{
    if (cons->start >= cons->end) return U9_ARG;
    const uint8_t *p = cons->buffer + cons->start;
    size_t size = cons->end - cons->start;
    if (u9i_take_apart(false, *p, p, size, tuple) != U9_OK) return U9_ARG;
    return tuple->type == U9_TUPLE && tuple->head + tuple->body == size ? U9_OK : U9_ARG;
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
    u9i_parts tuple;
    size_t step;
    u9_err err = look_at_tuple(cons, &tuple);
    if (err) return err;
    if (tuple.count > tuple.body) return U9_ARG; /* malformed: no value is empty */
    if (size == 0 || u9i_skip((const uint8_t *)field, size, &step) != U9_OK || step != size)
        return U9_ARG;
    size_t body = cons->end - (size_t)tuple.body;
    if (size > body) return U9_LIMIT;
    if (u9i_tuple_head(tuple.body + size, tuple.count + 1) > body - size) return U9_LIMIT;
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
    u9i_parts tuple;
    u9_value rest;
    u9_err err = look_at_tuple(cons, &tuple);
    if (err) return err;
    err = u9_tuple_match(&(u9_value){.type = U9_TUPLE,
                                     .data = tuple.contents,
                                     .size = tuple.body,
                                     .count = tuple.count},
                         field, &rest);
    if (err) return err;
    set_head(cons, cons->end - (size_t)rest.size, rest.count);
    return U9_OK;
}
