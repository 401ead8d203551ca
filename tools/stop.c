/*
 * tools/stop.c: see stop.h.
 */
#include "tools/stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    stopped = number;
}

void tool_notice_stops(bool restarts)
{
    struct sigaction once = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | (restarts ? SA_RESTART : 0)};
    sigemptyset(&once.sa_mask);
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
}

int tool_stopped(void)
{
    return stopped;
}

const char *tool_stop_name(void)
{
    return stopped == SIGINT ? "SIGINT" : "SIGTERM";
}

bool tool_stop_wait(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    sigset_t both, before;
    int got = -1;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &before); /* one that comes behind the look is noticed by ppoll */
    while (!stopped && got < 0) {
        got = ppoll(&wanted, 1, NULL, &before);
        if (got < 0 && errno != EINTR) break; /* whoever reads is told why */
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !stopped;
}
