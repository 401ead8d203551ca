/*
 * engine/link/channel.c: see transit.h. [T-2] [T-4] [T-6]
 */
#include "engine/link/channel.h"

#include "engine/os/system.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    INPUT_SIZE = 256 << 10,
    PIECE = 64 << 10,
    TICK_MS = 200,    /* while nothing moves */
    TICK_US = 50000,  /* at most so often */
    PATIENCE_MS = 1000 /* with one that has said that it has had enough */
};

static u9_err fail(u9i_channel *l, int sys, const char *text, u9_fault *fault)
{
    l->broken = true;
    return u9i_fault(fault, U9_IO, U9I_AT(.sys = sys), "%s", text);
}

/* SIGPIPE is this thread's: it is held back while the line is open, and one that came is taken away. */
static void block_sigpipe(u9i_channel *l)
{
    sigset_t set;
    sigpending(&set);
    l->pending = sigismember(&set, SIGPIPE) == 1;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &l->mask);
}

static void release_sigpipe(u9i_channel *l)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    while (!l->pending && sigtimedwait(&set, NULL, &(struct timespec){0}) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &l->mask, NULL);
}

u9_err u9i_channel_open(u9i_channel *l, int in, int out, u9i_take_fn *take, u9i_tick_fn *tick, void *ctx,
                     u9_fault *fault)
{
    int type;
    socklen_t size = sizeof type;
    assert(in >= 0 || out >= 0);
    *l = (u9i_channel){.in = in, .out = out, .take = take, .tick = tick, .ctx = ctx};
    l->out_socket = out >= 0 && getsockopt(out, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    /* A pipe that is ready takes PIPE_BUF bytes without blocking. */
    l->piece = in >= 0 && !l->out_socket ? PIPE_BUF : PIECE;
    l->in_ended = in < 0;
    l->room = in >= 0 ? u9i_pages(U9_TRANSIT_MAX) : NULL;
    l->input = in >= 0 ? malloc(INPUT_SIZE) : NULL;
    if (in >= 0 && (l->room == NULL || l->input == NULL)) {
        u9i_pages_free(l->room, U9_TRANSIT_MAX);
        free(l->input);
        return u9i_fault(fault, U9_NOMEM, U9I_AT(), "out of memory");
    }
    u9_link_init(&l->link, in < 0 ? U9_OUTWARD : out < 0 ? U9_INWARD : U9_TWO_WAY);
    u9_transit_init(&l->reader, l->room, U9_TRANSIT_MAX);
    block_sigpipe(l);
    return U9_OK;
}

void u9i_channel_release(u9i_channel *l)
{
    release_sigpipe(l);
    u9i_pages_free(l->room, U9_TRANSIT_MAX);
    free(l->input);
    l->room = l->input = NULL;
}

/* Asks whether to go on. */
static u9_err tick(u9i_channel *l, bool now, u9_fault *fault)
{
    uint64_t us = u9i_monotonic_us();
    if (l->tick == NULL || (!now && us - l->tick_us < TICK_US)) return U9_OK;
    l->tick_us = us;
    return l->tick(l->ctx) == 0 ? U9_OK : u9i_fault(fault, U9_STATE, U9I_AT(), "stopped as asked");
}

/* Waits for one of the two descriptors, which may be -1. U9_AGAIN: not ready in `ms`; -1: no end of it. */
static u9_err await(u9i_channel *l, struct pollfd fds[2], int ms, u9_fault *fault)
{
    for (bool now = false;; now = true) {
        u9_err err = tick(l, now, fault);
        if (err != U9_OK) return err;
        int n = poll(fds, 2, ms < 0 && l->tick ? TICK_MS : ms);
        if (n > 0) return U9_OK;
        if (n == 0 && ms >= 0) return U9_AGAIN;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return fail(l, errno, "waiting for the other side", fault);
    }
}

/* Tells the link of each value of a frame, then the owner of the frame. [T-4] */
static u9_err take_frame(u9i_channel *l, u9_walk values, u9_fault *fault)
{
    u9_walk walk = values;
    u9_value v;
    while (u9_walk_next(&walk, &v) == U9_OK) {
        u9_signal signal = u9_signal_of(&v);
        uint64_t at = l->reader.at - (uint64_t)(values.next + values.left - v.start);
        if (u9_link_received(&l->link, signal) != U9_OK)
            return u9i_fault(fault, U9_CORRUPT, U9I_AT_OFFSET(at, .rule = "T-4"),
                             "'%s' may not come here", u9_signal_name(signal));
    }
    return l->take(l->ctx, values, values.left, fault);
}

/* Takes the frames in what was read. Behind omega nothing is looked at. [T-4] */
static u9_err take_input(u9i_channel *l, u9_fault *fault)
{
    u9_err err = U9_OK;
    if (l->reader.have + l->left > l->held_max) l->held_max = l->reader.have + l->left;
    while (l->left > 0 && err == U9_OK && l->link.in.life != U9_LIFE_OVER) {
        size_t used;
        u9_walk values;
        err = u9_transit_push(&l->reader, l->input + l->next, l->left, &used, &values, fault);
        l->next += used;
        l->left -= used;
        if (err == U9_OK) err = take_frame(l, values, fault);
    }
    return err == U9_AGAIN ? U9_OK : err;
}

/* One read. */
static u9_err hear(u9i_channel *l, u9_fault *fault)
{
    ssize_t n = read(l->in, l->input, INPUT_SIZE);
    if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return U9_OK;
    if (n < 0) return fail(l, errno, "reading from the other side", fault);
    l->next = 0;
    l->left = (size_t)n;
    if (n > 0) return take_input(l, fault);
    l->in_ended = true;
    u9_err err = u9_transit_end(&l->reader, fault);
    return err == U9_OK ? U9_END : err;
}

u9_err u9i_channel_turn(u9i_channel *l, bool wait, u9_fault *fault)
{
    struct pollfd fds[2] = {{.fd = l->in, .events = POLLIN}, {.fd = -1}};
    if (l->left > 0 && l->link.in.life != U9_LIFE_OVER) return take_input(l, fault);
    if (l->in_ended) return U9_END;
    u9_err err = await(l, fds, wait ? -1 : 0, fault);
    return err == U9_OK ? hear(l, fault) : err;
}

/* At most l->piece bytes of the two parts, of which `done` bytes are away. */
static ssize_t write_some(const u9i_channel *l, const struct iovec parts[2], size_t done)
{
    struct iovec now[2];
    size_t count = 0, most = l->piece;
    for (size_t i = 0; i < 2; i++) {
        size_t skip = done < parts[i].iov_len ? done : parts[i].iov_len;
        size_t left = parts[i].iov_len - skip;
        done -= skip;
        if (left > most) left = most;
        most -= left;
        if (left > 0)
            now[count++] = (struct iovec){(uint8_t *)parts[i].iov_base + skip, left};
    }
    if (!l->out_socket) return writev(l->out, now, (int)count);
    struct msghdr message = {.msg_iov = now, .msg_iovlen = count};
    return sendmsg(l->out, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * Writes both parts; listens meanwhile, if that is wanted. What is wrong with what comes in is told when the
 * frame is out, as half of one would be the end of the stream, but the other side has to go on reading.
 */
static u9_err write_all(u9i_channel *l, const struct iovec parts[2], u9_fault *fault)
{
    size_t size = parts[0].iov_len + parts[1].iov_len, done = 0;
    u9_err heard = U9_OK;
    if (size > l->held_max) l->held_max = size;
    while (done < size) {
        bool listen = l->listens && !l->in_ended && heard == U9_OK;
        struct pollfd fds[2] = {{.fd = listen ? l->in : -1, .events = POLLIN},
                                {.fd = l->out, .events = POLLOUT}};
        u9_fault unused;
        bool enough = heard != U9_OK || (l->in >= 0 && l->link.in.life == U9_LIFE_OVER);
        u9_err err = await(l, fds, enough ? PATIENCE_MS : -1, heard == U9_OK ? fault : &unused);
        if (err != U9_OK) {
            l->broken = true;
            return heard == U9_OK ? err : heard;
        }
        if (fds[0].revents != 0) heard = hear(l, fault);
        if (heard == U9_END) heard = U9_OK;
        if (fds[1].revents == 0) continue;
        ssize_t n = write_some(l, parts, done);
        if (n > 0) done += (size_t)n;
        if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            return fail(l, errno, "writing to the other side", fault);
    }
    return heard;
}

static u9_err tell_link(u9i_channel *l, u9_signal signal, u9_fault *fault)
{
    if (u9_link_sent(&l->link, signal) == U9_OK) return U9_OK;
    return u9i_fault(fault, U9_STATE, U9I_AT(.rule = "T-4"), "'%s' may not be sent now",
                     u9_signal_name(signal));
}

u9_err u9i_channel_put(u9i_channel *l, const u9_builder *values, const uint8_t *data, size_t size,
                    u9_fault *fault)
{
    uint8_t head[U9_TRANSIT_HEAD + 2048];
    size_t small = values ? values->size : 0;
    if (data == NULL) size = 0;
    u9_err err = U9_OK;
    u9_value v;
    assert(small <= sizeof head - U9_TRANSIT_HEAD && small + size > 0);
    if (l->broken) return u9i_fault(fault, U9_STATE, U9I_AT(), "the link is broken");
    u9_walk walk = u9_walk_bytes(values ? values->bytes : NULL, small);
    while (err == U9_OK && u9_walk_next(&walk, &v) == U9_OK)
        err = tell_link(l, u9_signal_of(&v), fault);
    if (err == U9_OK && data != NULL) err = tell_link(l, U9_SIGNAL_DATA, fault);
    if (err != U9_OK) return err;
    u9_transit_head(small + size, head);
    if (small > 0) memcpy(head + U9_TRANSIT_HEAD, values->bytes, small);
    const struct iovec parts[2] = {{head, U9_TRANSIT_HEAD + small},
                                   {(void *)(uintptr_t)data, size}};
    return write_all(l, parts, fault);
}
