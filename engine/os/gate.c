/*
 * engine/os/gate.c: see gate.h: by futex(2), which costs no system call where nobody waits or has to.
 */
#include "engine/os/gate.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void u9i_gate_wait(u9i_gate *gate, uint32_t seen)
{
    while (u9i_gate_read(gate) == seen)
        if (syscall(SYS_futex, &gate->turns, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0) == 0) break;
}

void u9i_gate_wake(u9i_gate *gate, bool all)
{
    (void)syscall(SYS_futex, &gate->turns, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, NULL, NULL, 0);
}
