/*
 * engine/os/wire.c: see wire.h. [T-2]
 */
#include "engine/os/wire.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

/* SIGPIPE is this thread's: it is held back while the wire is open, and one that came is taken away. */
static void block_sigpipe(u9i_wire *w)
{
    sigset_t set;
    sigpending(&set);
    w->pending = sigismember(&set, SIGPIPE) == 1;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &w->mask);
}

static void release_sigpipe(u9i_wire *w)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    while (!w->pending && sigtimedwait(&set, NULL, &(struct timespec){0}) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &w->mask, NULL);
}

void u9i_wire_open(u9i_wire *w, int in, int out)
{
    int type;
    socklen_t size = sizeof type;
    w->in = in;
    w->out = out;
    w->out_socket = out >= 0 && getsockopt(out, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    /* A pipe that is ready takes PIPE_BUF bytes without blocking. */
    w->piece = in >= 0 && !w->out_socket ? PIPE_BUF : PIECE;
    block_sigpipe(w);
}

void u9i_wire_close(u9i_wire *w)
{
    release_sigpipe(w);
}

_Static_assert(EWOULDBLOCK == EAGAIN, "they are one to the caller");

static int64_t result_of(ssize_t n)
{
    return n >= 0 ? n : -errno;
}

int u9i_wire_wait(u9i_wire *w, unsigned which, int ms)
{
    struct pollfd fds[2] = {{.fd = which & U9I_WIRE_IN ? w->in : -1, .events = POLLIN},
                            {.fd = which & U9I_WIRE_OUT ? w->out : -1, .events = POLLOUT}};
    int n = poll(fds, 2, ms);
    if (n < 0) return errno == EAGAIN ? -EINTR : -errno;
    return (fds[0].revents != 0 ? U9I_WIRE_IN : 0) | (fds[1].revents != 0 ? U9I_WIRE_OUT : 0);
}

bool u9i_wire_gone(const u9i_wire *w)
{
    struct pollfd fd = {.fd = w->out};
    return w->out >= 0 && poll(&fd, 1, 0) > 0 && fd.revents & (POLLERR | POLLHUP | POLLNVAL);
}

int64_t u9i_wire_read(u9i_wire *w, void *buf, size_t size)
{
    return result_of(read(w->in, buf, size));
}

int64_t u9i_wire_write(u9i_wire *w, const u9i_wire_part parts[2], size_t done)
{
    struct iovec now[2];
    size_t count = 0, most = w->piece;
    for (size_t i = 0; i < 2; i++) {
        size_t skip = done < parts[i].size ? done : parts[i].size;
        size_t left = parts[i].size - skip;
        done -= skip;
        if (left > most) left = most;
        most -= left;
        if (left > 0)
            now[count++] = (struct iovec){(uint8_t *)(uintptr_t)parts[i].bytes + skip, left};
    }
    if (!w->out_socket) return result_of(writev(w->out, now, (int)count));
    struct msghdr message = {.msg_iov = now, .msg_iovlen = count};
    return result_of(sendmsg(w->out, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}
