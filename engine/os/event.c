/*
 * engine/os/event.c: see event.h.
 */
#include "engine/os/event.h"

#include "engine/os/posix.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int u9i_event_open(void)
{
    int fd = u9i_posix_apart(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return fd < 0 ? -errno : fd;
}

void u9i_event_signal(int fd)
{
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof one); /* EAGAIN: it is readable. Who does not wait is not interrupted. */
}

void u9i_event_close(int fd)
{
    close(fd);
}
