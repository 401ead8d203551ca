/*
 * format/value/typecode.h: what the elements of an array are. [V-10]
 *
 * A typecode is read once for an array; after that each element is found by stride and looked at with
 * u9i_element. Pure functions on borrowed bytes.
 */
#ifndef U9I_TYPECODE_H
#define U9I_TYPECODE_H

#include <u9/value.h>

#include <stdbool.h>

typedef struct u9i_typecode {
    uint8_t code;         /* its bytecode */
    uint8_t type;         /* u9_type of each element */
    uint8_t leaf;         /* array: the type that the nested ones hold in the end; else type */
    uint8_t width;        /* of the numbers in the element or the typecode: 1, 2, 4 or 8; 0: none */
    size_t length;        /* bytes that the typecode takes */
    uint64_t stride;      /* bytes that an element takes */
    uint64_t count;       /* fixtuple, array: elements in each element */
    const uint8_t *inner; /* array: the typecode of those; borrows */
    unsigned depth;       /* containers that an element is: 0 for atoms, 1 for a tuple, ... */
    uint64_t empties;     /* stride 0: empty values in each element, arrays in arrays multiplied */
} u9i_typecode;

/*
 * Reads the typecode at `bytes`, of which `size` bytes may be read, and proves that it is one: arrays in
 * it have l = n z. U9_TORN: it passes the end; U9_CORRUPT: no typecode; U9_LIMIT: nested too deeply, too
 * many empty elements. `out` is untouched on failure.
 */
U9_MUST_CHECK u9_err u9i_typecode_read(const uint8_t *bytes, size_t size, u9i_typecode *out);

/* What the elements of an array are whose typecode was proved when the array was looked at. */
static inline u9i_typecode u9i_typecode_of(const uint8_t *bytes)
{
    u9i_typecode t = {0};
    (void)!u9i_typecode_read(bytes, SIZE_MAX, &t);
    return t;
}

/* Fills `out` with the element at `bytes`, of which t->stride bytes may be read. */
void u9i_element(const u9i_typecode *t, const uint8_t *bytes, u9_value *out);

#endif
