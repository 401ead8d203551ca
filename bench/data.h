/*
 * bench/data.h: the records that all engines append: a 16-byte key and a value, a line of text.
 *
 * The values lie in memory that is shared with child processes and counts as nobody's own; when they are
 * used up they begin again. u9 gets a value encoded (utf9: a head of 2 to 5 bytes, then the text), the
 * others get the text alone. u9 makes its keys itself, 16 bytes each (muids); the others get key_of. Where
 * records are looked up by their keys all get key_of, u9 too.
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

/* Of a number with this bit the key is none that is stored, and stands among those that are. */
#define KEY_ABSENT (UINT64_C(1) << 63)

extern bool keys_are_random; /* of the run; else they grow with the number, like time */

/* One to one. */
static inline uint64_t mixed(uint64_t i)
{
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
    return i ^ i >> 31;
}

static inline void key_of(uint64_t i, uint8_t out[KEY_SIZE])
{
    uint64_t n = i & ~KEY_ABSENT;
    uint64_t high = keys_are_random ? mixed(n + 1) : UINT64_C(1700000000000000) + n / 4;
    uint64_t low = keys_are_random ? mixed(high) >> 1 : n;
    uint64_t halves[2] = {htobe64(high), htobe64(low | (i & KEY_ABSENT))};
    memcpy(out, halves, sizeof halves);
}

/* What a scan does with a value: it looks at each line of the processor's cache. */
static inline void see_bytes(const void *bytes, size_t size)
{
    const volatile uint8_t *b = bytes;
    for (size_t i = 0; i < size; i += 64) (void)b[i];
}

#endif
