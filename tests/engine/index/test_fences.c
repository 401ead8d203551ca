/*
 * tests/engine/index/test_fences.c: a search by upper bits finds what one through all entries does, however they are
 * spread. [K-1]
 */
#include "tests/suites.h"

#include "engine/index/fences.h"

#include <stdlib.h>

enum { ENTRIES = 300, SPREADS = 5 };

static uint64_t drawn;

static uint64_t draw(uint64_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (drawn >> 20) % below;
}

/* Upper halves that are spread evenly, all the same, in two heaps at both ends, in few steps, or twice as far each. */
static uint64_t draw_high(unsigned spread, unsigned i)
{
    switch (spread) {
    case 0: return draw(UINT64_C(1) << 40);
    case 1: return 77;
    case 2: return draw(2) ? draw(100) : UINT64_MAX - draw(100);
    case 3: return draw(6);
    default: return UINT64_C(1) << i % 64;
    }
}

static int compare_entries(const void *a, const void *b)
{
    const u9i_key_entry *x = (const u9i_key_entry *)a, *y = (const u9i_key_entry *)b;
    if (u9i_key_below(x, y) || u9i_key_below(y, x)) return u9i_key_below(x, y) ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void draw_entries(u9i_key_entry *out, size_t count, unsigned spread, unsigned width)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (u9i_key_entry){.hi = draw_high(spread, (unsigned)i), .lo = width == 16 ? draw(4) : 0, .at = draw(1000)};
    qsort(out, count, sizeof *out, compare_entries);
}

static u9i_fences *fences_of(const u9i_key_entry *all, uint32_t count, unsigned width)
{
    uint8_t keys[ENTRIES * 16], places[ENTRIES * 8];
    for (size_t i = 0; i < count; i++) {
        u9i_set_be(keys + i * width, 8, all[i].hi);
        if (width == 16) u9i_set_be(keys + i * 16 + 8, 8, all[i].lo);
        u9i_set_be(places + i * 8, 8, all[i].at);
    }
    u9i_fences *f = u9i_fences_make(keys, places, count, width);
    ck_assert_ptr_nonnull(f);
    return f;
}

static size_t rank_by_all(const u9i_key_entry *all, size_t count, const u9i_key_entry *e)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += compare_entries(&all[i], e) < 0;
    return n;
}

static void compare_ranks(const u9i_fences *f, const u9i_key_entry *all, size_t count, u9i_key_entry e)
{
    ck_assert_uint_eq(u9i_fences_rank(f, &e), rank_by_all(all, count, &e));
    u9i_fences_bring(f, &e); /* changes nothing, and looks at nothing that is not there */
}

START_TEST(fences_rank_a_key_as_a_search_through_all_of_them_does)
{
    unsigned width = _i % 2 ? 16 : 8, spread = (unsigned)_i / 2;
    drawn = (uint64_t)_i + 1;
    for (uint32_t count = 1; count <= ENTRIES; count = count * 2 + 1) {
        u9i_key_entry all[ENTRIES];
        draw_entries(all, count, spread, width);
        u9i_fences *f = fences_of(all, count, width);
        for (size_t i = 0; i < count; i++) {
            u9i_key_entry e = all[i], next = all[i];
            compare_ranks(f, all, count, e);
            e.at++;
            compare_ranks(f, all, count, e);
            next.hi++;
            compare_ranks(f, all, count, next);
            compare_ranks(f, all, count, (u9i_key_entry){.hi = draw_high(spread, (unsigned)i + 1), .lo = draw(4), .at = UINT64_MAX});
        }
        compare_ranks(f, all, count, (u9i_key_entry){.hi = 0});
        compare_ranks(f, all, count, (u9i_key_entry){.hi = UINT64_MAX, .lo = UINT64_MAX, .at = UINT64_MAX});
        u9i_fences_free(f);
    }
}
END_TEST

START_TEST(bins_hold_few_of_numbers_that_are_spread_evenly)
{
    uint64_t numbers[ENTRIES];
    for (uint64_t i = 0; i < ENTRIES; i++) numbers[i] = 5000 + i * 1000;
    u9i_bins *b = u9i_bins_make(numbers, ENTRIES, sizeof numbers[0]);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_le(u9i_bins_bytes(b), sizeof *b + (ENTRIES + 4) * sizeof b->starts[0]);
    for (uint64_t number = 0; number < numbers[ENTRIES - 1] + 2000; number += 100) {
        size_t low, high;
        u9i_bins_at(b, number, &low, &high);
        ck_assert_uint_le(high - low, 2);
        ck_assert(low == 0 || numbers[low - 1] < number);
        ck_assert(high == ENTRIES || numbers[high] > number);
    }
    free(b);
}
END_TEST

Suite *suite_fences(void)
{
    Suite *s = suite_create("fences");
    TCase *t = tcase_create("fences");
    tcase_add_loop_test(t, fences_rank_a_key_as_a_search_through_all_of_them_does, 0, 2 * SPREADS);
    tcase_add_test(t, bins_hold_few_of_numbers_that_are_spread_evenly);
    suite_add_tcase(s, t);
    return s;
}
