/*
 * engine/os/wire.h: the two descriptors of a link that the host brings: pipes, sockets, files. Their flags stay
 * as they are, so nothing here may wait but u9i_wire_wait; and SIGPIPE is kept from the thread.
 *
 * One thread, the same from open to close.
 */
#ifndef U9I_WIRE_H
#define U9I_WIRE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { U9I_WIRE_IN = 1, U9I_WIRE_OUT = 2 };

typedef struct u9i_wire {
    int in, out;     /* descriptors; -1: none */
    bool out_socket;
    size_t piece;    /* bytes that are written at once: no write waits while there is something to hear */
    sigset_t mask;   /* of the thread, before SIGPIPE was blocked */
    bool pending;    /* a SIGPIPE was, before */
} u9i_wire;

typedef struct u9i_wire_part {
    const void *bytes;
    size_t size;
} u9i_wire_part;

/* Borrows the descriptors. Between open and close SIGPIPE is blocked for the thread. */
void u9i_wire_open(u9i_wire *wire, int in, int out);
void u9i_wire_close(u9i_wire *wire);

/*
 * Waits for up to `ms` milliseconds (-1: without end) until one of the sides in `which` is ready; returns
 * those that are, 0 if none is by then, or a negative errno: -EINTR after a signal.
 */
int u9i_wire_wait(u9i_wire *wire, unsigned which, int ms);

/* True if what is written goes nowhere any more: the other end of a pipe or socket is closed. Does not wait. */
bool u9i_wire_gone(const u9i_wire *wire);

/* One read: how many bytes came, 0 at the end, or a negative errno: -EAGAIN if there is nothing now. */
int64_t u9i_wire_read(u9i_wire *wire, void *buf, size_t size);

/*
 * One write, of some bytes of the two parts behind the first `done`: how many went, or a negative errno:
 * -EAGAIN if none can go now.
 */
int64_t u9i_wire_write(u9i_wire *wire, const u9i_wire_part parts[2], size_t done);

#endif
