/*
 * engine/os/event.c: see event.h.
 */
#include "engine/os/event.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int u9i_event_open(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

void u9i_event_signal(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR) continue; /* EAGAIN: it is readable */
}

void u9i_event_close(int fd)
{
    close(fd);
}
