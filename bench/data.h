/*
 * bench/data.h: the records that all engines append: a 16-byte key and a value, a line of text.
 *
 * The values lie in memory that is shared with child processes and counts as nobody's own; when they are
 * used up they begin again. u9 gets a value encoded (utf9: a head of 2 to 5 bytes, then the text), the
 * others get the text alone. u9 makes its keys itself, 16 bytes each (muids); the others get key_of.
 */
#ifndef U9_BENCH_DATA_H
#define U9_BENCH_DATA_H

#include "bench/measure.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { KEY_SIZE = 16 };
enum { MIXED = 0 }; /* as a value size: 20 bytes to 20 KiB, small ones as often as large */

typedef struct datum {
    const uint8_t *text;
    uint32_t size, head; /* bytes of the text, and of utf9 that stand before it */
} datum;

typedef struct data_set {
    datum *values;
    uint64_t mask;  /* their number, a power of two, less one */
    uint64_t bytes; /* of all texts */
} data_set;

extern data_set the_data;

/* Values of `size` bytes, made up from a seed, the same each time. */
void make_data(size_t size);

/* Values that are the lines of `path`, whatever their sizes. */
void load_data(const char *path);

void free_data(void);

/* Sees every page: what is mapped later is not the engine's. */
void touch_data(void);

/* Bytes of keys and texts of the first `records`. */
uint64_t data_bytes(uint64_t records);

static inline const datum *value_of(uint64_t i)
{
    return &the_data.values[i & the_data.mask];
}

/* Keys grow with `i`, like time. */
static inline void key_of(uint64_t i, uint8_t out[KEY_SIZE])
{
    uint64_t halves[2] = {htobe64(UINT64_C(1700000000000000) + i / 4), htobe64(i)};
    memcpy(out, halves, sizeof halves);
}

/* What a scan does with a value: it looks at each line of the processor's cache. */
static inline void see_bytes(const void *bytes, size_t size)
{
    const volatile uint8_t *b = bytes;
    for (size_t i = 0; i < size; i += 64) (void)b[i];
}

#endif
