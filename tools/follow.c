/*
 * tools/follow.c: see follow.h.
 */
#include "tools/follow.h"

#include "tools/tool.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { RECORDS = 256, /* between two looks whether it is stopped */
       LOOK_MS = 1000, BLIND_MS = 100 }; /* what no descriptor tells is looked for so often; and where there is none */

static int signals = -1;

void tool_follow_begin(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Waits until the descriptor (-1: none) can be read, or it is stopped: true. */
static int stopped_or(int fd, int ms)
{
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = STDOUT_FILENO}, {.fd = fd, .events = POLLIN}};
    return poll(fds, 3, ms) > 0 && (fds[0].revents != 0 || fds[1].revents & POLLERR);
}

int tool_follow_stopped(void)
{
    return stopped_or(-1, 0);
}

int tool_follow_pause(int ms)
{
    return stopped_or(-1, ms);
}

u9_err tool_follow_open(const char *path, const u9_options *options, u9_log **log, int *came, u9_fault *fault)
{
    *came = 0;
    if (!*path) return u9_log_open(path, options, log, fault); /* which says what is wrong: no log comes there */
    for (;; *came = 1) {
        u9_err err = u9_log_await(path, options, *came ? BLIND_MS : 0, fault);
        if (err == U9_AGAIN && tool_follow_stopped()) return U9_END;
        if (err == U9_OK) err = u9_log_open(path, options, log, fault);
        if (err != U9_AGAIN && err != U9_ABSENT) return err;
    }
}

u9_err tool_follow_next(u9_cursor *cursor, u9_record *record)
{
    static unsigned records;
    for (;;) {
        if (records++ % RECORDS == 0 && tool_follow_stopped()) return U9_END;
        u9_err err = u9_cursor_next(cursor, record);
        if (err != U9_END) return err;
        if (fflush(stdout) != 0) return U9_END; /* tool_finish says why */
        int fd = u9_cursor_event_fd(cursor);
        while ((err = u9_cursor_wait(cursor, 0)) == U9_AGAIN)
            if (stopped_or(fd, fd >= 0 ? LOOK_MS : BLIND_MS)) return U9_END;
        if (err != U9_OK) return err;
    }
}
