/*
 * tests/sim/needed.h: engine tests above another place than the simulated disk: a log store, where U9_IO is an address of
 * one (tests/engine/fixture.h). There a test ends, passed as far as it came, with a line on stderr, where it asks for
 * something that only this disk does, or a file system. What files.h does on any disk is done there, too; and what only
 * says when things happen (an order, a chance), or drops what was never planned, is passed over. Part of sim.h, but for
 * those who make the disk (world.h) or ask which it is.
 */
#ifndef TESTS_SIM_NEEDED_H
#define TESTS_SIM_NEEDED_H

#include "tests/engine/files.h"

/* A world is an empty namespace. */
#define sim_begin(...) (stored_begin() ? (void)0 : sim_begin(__VA_ARGS__))
#define sim_begin_threads(...) (stored_begin() ? (void)0 : sim_begin_threads(__VA_ARGS__))

#define sim_make_dir(path) (sim_is_away() ? make_dir(path) : sim_make_dir(path))
#define sim_size(path) (sim_is_away() ? file_size(path) : sim_size(path))
#define sim_read(path, off, buf, n) (sim_is_away() ? read_some(path, off, buf, n) : sim_read(path, off, buf, n))
#define sim_write(path, off, bytes, n) (sim_is_away() ? make_bytes(path, off, bytes, n) : sim_write(path, off, bytes, n))
#define sim_resize(path, size) (sim_is_away() ? make_size(path, size) : sim_resize(path, size))
#define sim_remove(path) (sim_is_away() ? remove_log(path) : sim_remove(path))
#define sim_move(from, to) (sim_is_away() ? move_file(from, to) : sim_move(from, to))
#define sim_copy(from, to) (sim_is_away() ? copy_any(from, to) : sim_copy(from, to))
#define sim_names(path, count) (sim_is_away() ? list_names(path, count) : sim_names(path, count))
#define sim_holds(path) (sim_is_away() ? exists(path) : sim_holds(path))

#define sim_forget_diary() (sim_is_away() ? (void)0 : sim_forget_diary())
#define sim_set_order(order) (sim_is_away() ? (void)0 : sim_set_order(order))
#define sim_task_chance(percent) (sim_is_away() ? (void)0 : sim_task_chance(percent))
#define sim_watch_promises() (sim_is_away() ? (void)0 : sim_watch_promises())
#define sim_mend() (sim_is_away() ? (void)0 : sim_mend())
#define sim_clear() (sim_is_away() ? (void)0 : sim_clear())

#define sim_fail(...) (sim_needed("sim_fail"), sim_fail(__VA_ARGS__))
#define sim_fail_half(...) (sim_needed("sim_fail_half"), sim_fail_half(__VA_ARGS__))
#define sim_set_width(...) (sim_needed("sim_set_width"), sim_set_width(__VA_ARGS__))
#define sim_spare(...) (sim_needed("sim_spare"), sim_spare(__VA_ARGS__))
#define sim_aim(...) (sim_needed("sim_aim"), sim_aim(__VA_ARGS__))
#define sim_fired(...) (sim_needed("sim_fired"), sim_fired(__VA_ARGS__))
#define sim_ops(...) (sim_needed("sim_ops"), sim_ops(__VA_ARGS__))
#define sim_count(...) (sim_needed("sim_count"), sim_count(__VA_ARGS__))
#define sim_count_of(...) (sim_needed("sim_count_of"), sim_count_of(__VA_ARGS__))
#define sim_bytes(...) (sim_needed("sim_bytes"), sim_bytes(__VA_ARGS__))
#define sim_find(...) (sim_needed("sim_find"), sim_find(__VA_ARGS__))
#define sim_durable(...) (sim_needed("sim_durable"), sim_durable(__VA_ARGS__))
#define sim_diary(...) (sim_needed("sim_diary"), sim_diary(__VA_ARGS__))
#define sim_kill(...) (sim_needed("sim_kill"), sim_kill(__VA_ARGS__))
#define sim_kill_at_write(...) (sim_needed("sim_kill_at_write"), sim_kill_at_write(__VA_ARGS__))
#define sim_killed(...) (sim_needed("sim_killed"), sim_killed(__VA_ARGS__))
#define sim_land(...) (sim_needed("sim_land"), sim_land(__VA_ARGS__))
#define sim_late_writes(...) (sim_needed("sim_late_writes"), sim_late_writes(__VA_ARGS__))
#define sim_lie(...) (sim_needed("sim_lie"), sim_lie(__VA_ARGS__))
#define sim_lies(...) (sim_needed("sim_lies"), sim_lies(__VA_ARGS__))
#define sim_promises(...) (sim_needed("sim_promises"), sim_promises(__VA_ARGS__))
#define sim_hold(...) (sim_needed("sim_hold"), sim_hold(__VA_ARGS__))
#define sim_wait_held(...) (sim_needed("sim_wait_held"), sim_wait_held(__VA_ARGS__))
#define sim_let_go(...) (sim_needed("sim_let_go"), sim_let_go(__VA_ARGS__))
#define sim_hide(...) (sim_needed("sim_hide"), sim_hide(__VA_ARGS__))
#define sim_hide_for(...) (sim_needed("sim_hide_for"), sim_hide_for(__VA_ARGS__))
#define sim_spoil(...) (sim_needed("sim_spoil"), sim_spoil(__VA_ARGS__))
#define sim_troubles(...) (sim_needed("sim_troubles"), sim_troubles(__VA_ARGS__))
#define sim_delay(...) (sim_needed("sim_delay"), sim_delay(__VA_ARGS__))
#define sim_before_call(...) (sim_needed("sim_before_call"), sim_before_call(__VA_ARGS__))
#define sim_before_list(...) (sim_needed("sim_before_list"), sim_before_list(__VA_ARGS__))
#define sim_take_lock(...) (sim_needed("sim_take_lock"), sim_take_lock(__VA_ARGS__))
#define sim_drop_lock(...) (sim_needed("sim_drop_lock"), sim_drop_lock(__VA_ARGS__))
#define sim_advance(...) (sim_needed("sim_advance"), sim_advance(__VA_ARGS__))
#define sim_set_wall(...) (sim_needed("sim_set_wall"), sim_set_wall(__VA_ARGS__))
#define sim_be_machine(...) (sim_needed("sim_be_machine"), sim_be_machine(__VA_ARGS__))
#define sim_lose_power(...) (sim_needed("sim_lose_power"), sim_lose_power(__VA_ARGS__))
#define sim_lose_power_at(...) (sim_needed("sim_lose_power_at"), sim_lose_power_at(__VA_ARGS__))
#define sim_cut_power(...) (sim_needed("sim_cut_power"), sim_cut_power(__VA_ARGS__))
#define sim_freeze_at(...) (sim_needed("sim_freeze_at"), sim_freeze_at(__VA_ARGS__))
#define sim_deaths(...) (sim_needed("sim_deaths"), sim_deaths(__VA_ARGS__))
#define sim_env(...) (sim_needed("sim_env"), sim_env(__VA_ARGS__))
#define sim_in_use(...) (sim_needed("sim_in_use"), sim_in_use(__VA_ARGS__))
#define sim_load(...) (sim_needed("sim_load"), sim_load(__VA_ARGS__))
#define sim_store(...) (sim_needed("sim_store"), sim_store(__VA_ARGS__))
#define sim_link(...) (sim_needed("sim_link"), sim_link(__VA_ARGS__))
#define sim_links(...) (sim_needed("sim_links"), sim_links(__VA_ARGS__))
#define sim_dress(...) (sim_needed("sim_dress"), sim_dress(__VA_ARGS__))

#endif
