/*
 * tests/suites.h: the list of all suites. A new tests/<room>/test_NAME.c defines
 * `Suite *suite_NAME(void)` and is entered here; main.c runs them in this order.
 */
#ifndef U9T_SUITES_H
#define U9T_SUITES_H

#include <check.h>

#define U9_SUITES(X) \
    X(bytes)   \
    X(value)   \
    X(value_build) \
    X(value_pack) \
    X(value_cons) \
    X(value_gen) \
    X(value_flow) \
    X(value_index) \
    X(value_index_build) \
    X(value_array) \
    X(value_order) \
    X(value_text) \
    X(value_json) \
    X(progress) \
    X(when) \
    X(nearest) \
    X(value_diff) \
    X(value_view) \
    X(value_diff_stream) \
    X(value_diff_random) \
    X(muid)    \
    X(gid)     \
    X(tid)     \
    X(uid8)    \
    X(rkey)    \
    X(kind)    \
    X(id_order) \
    X(idgen)   \
    X(idgen_batch) \
    X(idgen_race) \
    X(hash)    \
    X(disk)    \
    X(frame)   \
    X(body)    \
    X(control) \
    X(mark_slot) \
    X(mark_line) \
    X(range_line) \
    X(golden)  \
    X(golden_logs) \
    X(transit) \
    X(hello)   \
    X(spec)    \
    X(env)     \
    X(sim)     \
    X(lies)    \
    X(script)  \
    X(states)  \
    X(queue)   \
    X(short)   \
    X(door)    \
    X(refused) \
    X(executor) \
    X(guard)   \
    X(overlay) \
    X(store) \
    X(writer)  \
    X(space)   \
    X(earlier) \
    X(commits) \
    X(power)   \
    X(log)     \
    X(large)   \
    X(calls)   \
    X(locks)   \
    X(mark) \
    X(trim) \
    X(trim_kept) \
    X(trim_readers) \
    X(ship) \
    X(ship_large) \
    X(link) \
    X(keys) \
    X(lock_file) \
    X(faults)  \
    X(reference) \
    X(heap)    \
    X(hardship) \
    X(api) \
    X(recovery) \
    X(damage)  \
    X(mend) \
    X(salvage) \
    X(salvage_reading) \
    X(reasons) \
    X(pieces)  \
    X(witness) \
    X(repair)  \
    X(in_place) \
    X(carve) \
    X(snapshot) \
    X(merge) \
    X(hostile) \
    X(parts) \
    X(plain) \
    X(range)   \
    X(cursor)  \
    X(seek)    \
    X(split)   \
    X(split_apart) \
    X(directory) \
    X(told) \
    X(tails) \
    X(seals) \
    X(succession) \
    X(lookup) \
    X(budget) \
    X(cache) \
    X(cache_threads) \
    X(key_tables) \
    X(fences) \
    X(index_file) \
    X(index_forged) \
    X(tabling) \
    X(seats) \
    X(live) \
    X(follow) \
    X(segment) \
    X(mapped)  \
    X(unreadable) \
    X(settled) \
    X(sparse)

#define U9_DECLARE_SUITE(name) Suite *suite_##name(void);
U9_SUITES(U9_DECLARE_SUITE)
#undef U9_DECLARE_SUITE

#endif
