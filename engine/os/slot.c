/*
 * engine/os/slot.c: see slot.h.
 */
#include "engine/os/slot.h"

#include "engine/os/posix.h"
#include "format/base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOT_SIZE = 8, OPEN_TRIES = 100 };

struct u9i_number_slot {
    int fd;
    uint32_t index;
    uint64_t noted;
    char path[];
};

static off_t slot_offset(uint32_t index)
{
    return (off_t)index * SLOT_SIZE;
}

/* Sets or drops the lock of a slot; does not wait. */
static int lock_slot(int fd, uint32_t index, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = slot_offset(index),
                          .l_len = SLOT_SIZE};
    while (fcntl(fd, F_OFD_SETLK, &range) != 0) {
        if (errno == EACCES || errno == EAGAIN) return -EWOULDBLOCK;
        if (errno != EINTR) return -errno;
    }
    return 0;
}

static int read_slot(int fd, uint32_t index, uint64_t *out)
{
    uint8_t bytes[SLOT_SIZE] = {0};
    ssize_t n;
    do n = pread(fd, bytes, sizeof bytes, slot_offset(index));
    while (n < 0 && errno == EINTR);
    if (n < 0) return -errno;
    *out = n == SLOT_SIZE ? u9i_get_be(bytes, SLOT_SIZE) : 0; /* behind the end: nothing is noted */
    return 0;
}

/* True if `path` leads to what `fd` is. */
static bool leads_to(const char *path, int fd)
{
    struct stat there, here;
    return stat(path, &there) == 0 && fstat(fd, &here) == 0 && there.st_dev == here.st_dev &&
           there.st_ino == here.st_ino;
}

/* Locks a slot of the open file. A note is read under the lock alone: before, somebody may be writing it. */
static int choose_slot(u9i_number_slot *s, uint32_t first, uint32_t count, uint64_t below, uint64_t most)
{
    int err = -EWOULDBLOCK;
    for (uint32_t i = 0; i < 2 * count && err == -EWOULDBLOCK; i++) {
        s->index = first + i % count;
        err = lock_slot(s->fd, s->index, F_WRLCK);
        if (err == 0) err = read_slot(s->fd, s->index, &s->noted);
        if (err == 0 && s->noted > most) err = -EBADMSG;
        if (err != 0 || s->noted < below || i >= count) continue;
        err = lock_slot(s->fd, s->index, F_UNLCK); /* perhaps there is a better one */
        if (err == 0) err = -EWOULDBLOCK;
    }
    return err;
}

static int open_slots(const char *path, int *fd)
{
    struct stat st;
    *fd = u9i_posix_apart(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
    if (*fd < 0) return -errno;
    return fstat(*fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

int u9i_slot_take(const char *path, uint32_t first, uint32_t count, uint64_t below, uint64_t most, u9i_number_slot **out)
{
    size_t size = strlen(path) + 1;
    u9i_number_slot *s = malloc(sizeof *s + size);
    if (s == NULL) return -ENOMEM;
    *s = (u9i_number_slot){.fd = -1};
    memcpy(s->path, path, size);
    int err = -ESTALE;
    for (unsigned tries = 0; err == -ESTALE && tries < OPEN_TRIES; tries++) {
        if (s->fd >= 0) close(s->fd);
        err = open_slots(path, &s->fd);
        if (err == 0) err = choose_slot(s, first, count, below, most);
        if (err == 0 && !leads_to(path, s->fd)) err = -ESTALE; /* replaced while it was opened */
    }
    if (err == 0) {
        *out = s;
        return 0;
    }
    if (s->fd >= 0) close(s->fd);
    free(s);
    return err;
}

uint32_t u9i_slot_index(const u9i_number_slot *s)
{
    return s->index;
}

uint64_t u9i_slot_noted(const u9i_number_slot *s)
{
    return s->noted;
}

int u9i_slot_note(u9i_number_slot *s, uint64_t number)
{
    uint8_t bytes[SLOT_SIZE];
    ssize_t n;
    u9i_set_be(bytes, SLOT_SIZE, number);
    do n = pwrite(s->fd, bytes, sizeof bytes, slot_offset(s->index));
    while (n < 0 && errno == EINTR);
    if (n != SLOT_SIZE) return n < 0 ? -errno : -EIO;
    s->noted = number;
    return 0;
}

int u9i_slot_confirm(const u9i_number_slot *s)
{
    return leads_to(s->path, s->fd) ? 0 : -ESTALE;
}

void u9i_slot_give(u9i_number_slot *s)
{
    (void)lock_slot(s->fd, s->index, F_UNLCK); /* a child may have the descriptor still */
    close(s->fd);
    free(s);
}
