/*
 * engine/os/gate.h: where threads wait until something has changed, without a lock of its own.
 *
 * Who waits reads the gate while it looks at what it waits for; who changes that turns the gate, then wakes. A turn
 * between the look and the wait is not missed: the wait is over at once.
 */
#ifndef U9I_GATE_H
#define U9I_GATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct u9i_gate {
    uint32_t turns;
} u9i_gate;

static inline uint32_t u9i_gate_read(const u9i_gate *gate)
{
    return __atomic_load_n(&gate->turns, __ATOMIC_ACQUIRE);
}

static inline void u9i_gate_turn(u9i_gate *gate)
{
    (void)__atomic_add_fetch(&gate->turns, 1, __ATOMIC_RELEASE);
}

/* Waits while nobody has turned the gate since `seen` was read; it may also be over for no reason. */
void u9i_gate_wait(u9i_gate *gate, uint32_t seen);

/* Wakes all who wait, or one of them. */
void u9i_gate_wake(u9i_gate *gate, bool all);

#endif
