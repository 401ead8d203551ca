/*
 * tests/engine/index/test_key_tables.c: tables of keys in memory cannot be made slow by who draws the keys. [C-7]
 */
#include "tests/suites.h"

#include "engine/index/keys.h"
#include "engine/index/table.h"

enum { DRAWN = 200, MEMORY = 1 << 20 };

/* Keys whose hashes begin alike with this seed. */
static void draw_alike(u9i_key_entry *out, uint64_t seed)
{
    uint64_t hi = 1;
    for (size_t n = 0; n < DRAWN; hi++) {
        u9i_key_entry e = {.hi = hi, .lo = hi * 3};
        if ((u9i_key_mix(&e, seed) >> 32 & 16383) == 0) out[n++] = e;
    }
}

/* So many used slots stand in a row, at most, once these keys are in: a lookup may pass them all. */
static size_t longest_row(const u9i_key_entry *keys, uint64_t seed)
{
    u9i_keys k;
    size_t row = 0, longest = 0;
    u9i_keyspec spec = {.width = 16, .seed = seed};
    ck_assert(u9i_keys_open(&k, &spec, MEMORY));
    for (size_t n = 0; n < DRAWN; n++) {
        u9i_key_entry e = keys[n];
        e.at = n + 1;
        u9i_keys_add_entry(&k, &e, true);
    }
    ck_assert(!k.partial);
    for (size_t i = 0; i < k.table_room; i++) {
        row = k.table[i] != 0 ? row + 1 : 0;
        if (longest < row) longest = row;
    }
    for (size_t n = 0; n < DRAWN; n++) {
        uint64_t at, frame;
        ck_assert(u9i_keys_find(&k, &keys[n], &at, &frame));
        ck_assert_uint_eq(at, n + 1);
    }
    u9i_keys_close(&k);
    return longest;
}

START_TEST(keys_that_were_drawn_for_another_seed_do_not_fall_together)
{
    static u9i_key_entry keys[DRAWN];
    draw_alike(keys, 17);
    ck_assert_uint_gt(longest_row(keys, 17), 64); /* who knows the seed can */
    for (uint64_t seed = 18; seed < 28; seed++) ck_assert_uint_lt(longest_row(keys, seed), 16);
    ck_assert_uint_lt(longest_row(keys, UINT64_C(0xfedcba9876543210)), 16);
}
END_TEST

/* Keys of many rows, some of them again and again: in an order in which they are sorted, too. */
static void fill(u9i_keys *k, unsigned count, bool sorted)
{
    for (unsigned n = 0; n < count; n++) {
        u9i_key_entry e = {.hi = (n % 3 ? n : n / 2) * UINT64_C(0x9e3779b97f4a7c15), .at = n + 1};
        u9i_keys_add_entry(k, &e, true);
    }
    ck_assert(!k->partial);
    if (sorted) u9i_keys_sort(k);
}

START_TEST(after_a_reset_no_key_is_in_the_table_however_many_were)
{
    static const unsigned counts[] = {1, 2, 50, 400, 700, 3000, 12000};
    u9i_keys k;
    u9i_keyspec spec = {.width = 16, .seed = 17}, next = {.width = 16, .seed = 18};
    ck_assert(u9i_keys_open(&k, &spec, MEMORY));
    for (unsigned i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        unsigned count = counts[i / 2];
        size_t used = 0;
        u9i_keys_reset(&k, &spec);
        fill(&k, count, i % 2 != 0);
        ck_assert_uint_eq(k.record_count, count);
        u9i_keys_reset(&k, &next); /* of another file: the keys were placed by the seed of this one */
        for (size_t slot = 0; slot < k.table_room; slot++) used += k.table[slot] != 0;
        ck_assert_msg(used == 0, "%u keys: %zu slots are in use", count, used);
    }
    u9i_keys_close(&k);
}
END_TEST

/* In whatever order they come: what is there is found, of what is not it is known that it is missing. */
START_TEST(keys_that_find_no_room_are_known_to_be_missing)
{
    for (unsigned alone = 0; alone < 2; alone++) {
        u9i_keys k;
        u9i_keyspec spec = {.width = 16, .seed = 17};
        uint64_t n = 0, at, frame;
        ck_assert(u9i_keys_open(&k, &spec, MEMORY));
        ck_assert_uint_gt(u9i_keys_left(&k), 0);
        for (bool room = true; !k.partial; n++) { /* each in a frame of its own */
            u9i_key_entry e = {.hi = n + 1, .at = (n + 1) << U9I_VIRTUAL_SHIFT};
            ck_assert_msg(room || u9i_keys_left(&k) == 0, "there is room again");
            room = u9i_keys_left(&k) > 0;
            u9i_keys_add_entry(&k, &e, alone);
        }
        ck_assert_uint_gt(n, 1000);
        ck_assert_uint_eq(u9i_keys_left(&k), 0);
        ck_assert_uint_eq(alone ? k.record_count : k.frame_count, n - 1);
        for (uint64_t i = 1; i < n; i += 97) {
            ck_assert(u9i_keys_find(&k, &(u9i_key_entry){.hi = i}, &at, &frame));
            ck_assert_uint_eq(alone ? at : frame, i << U9I_VIRTUAL_SHIFT);
        }
        u9i_keys_close(&k);
    }
}
END_TEST

/* The pairs that collide whatever is added to a key beforehand: with multiplications alone there are such. */
START_TEST(no_pair_of_keys_falls_together_for_all_seeds)
{
    unsigned alike = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        for (unsigned by = 0; by < 64; by++)
            for (uint64_t seed = 1, same = 0; seed < 9; seed++) {
                u9i_key_entry a = {.hi = 5, .lo = 9}, b = {.hi = 5 ^ UINT64_C(1) << bit, .lo = 9 ^ UINT64_C(1) << by};
                same += u9i_key_mix(&a, seed * UINT64_C(0x9e3779b97f4a7c15)) == u9i_key_mix(&b, seed * UINT64_C(0x9e3779b97f4a7c15));
                alike += same == 8;
            }
    ck_assert_uint_eq(alike, 0);
}
END_TEST

/* Alike: of one tag, and at home so near that both may stand in one row, which goes on at the first group. */
START_TEST(two_keys_of_a_table_are_alike_if_one_may_stand_where_the_other_does)
{
    enum { GROUPS = 1000, NEAR = 64 };
    u9i_table t = {.groups = GROUPS, .place_bits = 17, .frame_bits = 20, .segment_bits = 3};
    uint64_t step = (UINT64_MAX / GROUPS + 1) & ~((UINT64_C(1) << 24) - 1); /* of one group, and of no bit of the tag */
    for (unsigned i = 0; i < 2 * GROUPS; i += 7) {
        uint64_t a = i / 2 * step + 5, b = i % 2 * 900 * step + 5, home_a = u9i_table_home(&t, a), home_b = u9i_table_home(&t, b);
        uint64_t apart = home_a < home_b ? home_b - home_a : home_a - home_b;
        bool near = apart < NEAR || GROUPS - apart < NEAR;
        ck_assert_msg(u9i_table_alike(&t, a, b) == near, "%u: %u", i, (unsigned)apart);
        ck_assert(!u9i_table_alike(&t, a, b ^ 1));
    }
}
END_TEST

START_TEST(entries_that_are_the_same_in_all_are_sorted_too)
{
    u9i_key_entry e[200];
    for (unsigned i = 0; i < 200; i++) e[i] = (u9i_key_entry){.hi = i % 2, .lo = 7, .at = 9};
    u9i_key_entries_sort(e, 200);
    for (unsigned i = 0; i < 200; i++) ck_assert(e[i].hi == i / 100 && e[i].lo == 7 && e[i].at == 9);
}
END_TEST

START_TEST(a_table_that_would_need_too_many_bits_is_not_planned)
{
    u9i_table_plan plan = {.entries = 100, .place_bits = U9I_TABLE_PLACE_BITS, .seed = 3};
    ck_assert_uint_gt(u9i_table_bytes(&plan), 0); /* of nothing but empty segments */
    plan.entries = UINT64_C(1) << 36;
    ck_assert_uint_eq(u9i_table_bytes(&plan), 0);
    plan = (u9i_table_plan){.entries = 100, .place_bits = U9I_TABLE_PLACE_BITS_MAX, .segment_max = UINT64_C(1) << 40, .segments = 9};
    ck_assert_uint_eq(u9i_table_bytes(&plan), 0);
}
END_TEST

Suite *suite_key_tables(void)
{
    Suite *s = suite_create("key_tables");
    TCase *t = tcase_create("key_tables");
    tcase_add_test(t, keys_that_were_drawn_for_another_seed_do_not_fall_together);
    tcase_add_test(t, after_a_reset_no_key_is_in_the_table_however_many_were);
    tcase_add_test(t, keys_that_find_no_room_are_known_to_be_missing);
    tcase_add_test(t, no_pair_of_keys_falls_together_for_all_seeds);
    tcase_add_test(t, two_keys_of_a_table_are_alike_if_one_may_stand_where_the_other_does);
    tcase_add_test(t, entries_that_are_the_same_in_all_are_sorted_too);
    tcase_add_test(t, a_table_that_would_need_too_many_bits_is_not_planned);
    suite_add_tcase(s, t);
    return s;
}
