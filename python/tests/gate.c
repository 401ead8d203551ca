/*
 * python/tests/gate.c: for LD_PRELOAD: the next call of the system that the thread which called gate_arm makes for a log waits
 * at a gate, until another thread opens it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

static sem_t within, opened;
static _Thread_local int armed;

__attribute__((constructor)) static void begin(void)
{
    sem_init(&within, 0, 0);
    sem_init(&opened, 0, 0);
}

void gate_arm(void)
{
    armed = 1;
}

/* True if it is armed still, and not any more. */
int gate_disarm(void)
{
    int was = armed;
    armed = 0;
    if (was) sem_post(&within);
    return was;
}

/* Waits until a thread is at the gate, or was disarmed. */
void gate_wait(void)
{
    while (sem_wait(&within) != 0 && errno == EINTR) continue;
}

void gate_open(void)
{
    sem_post(&opened);
}

static void pass(void)
{
    if (!armed) return;
    armed = 0;
    sem_post(&within);
    while (sem_wait(&opened) != 0 && errno == EINTR) continue;
}

#define GATED(type, name, declared, given)                                  \
    type name declared;                                                     \
    type name declared                                                      \
    {                                                                       \
        type(*real) declared = (type(*) declared)dlsym(RTLD_NEXT, #name);   \
        pass();                                                             \
        return real given;                                                  \
    }
GATED(ssize_t, pread, (int fd, void *b, size_t n, off_t o), (fd, b, n, o))
GATED(ssize_t, pread64, (int fd, void *b, size_t n, off64_t o), (fd, b, n, o))
GATED(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
GATED(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
GATED(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t o, int f), (fd, v, n, o, f))
GATED(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off64_t o, int f), (fd, v, n, o, f))
GATED(int, fdatasync, (int fd), (fd))
GATED(int, fsync, (int fd), (fd))
GATED(int, openat, (int fd, const char *p, int f, mode_t m), (fd, p, f, m))
GATED(int, openat64, (int fd, const char *p, int f, mode_t m), (fd, p, f, m))
GATED(int, fallocate, (int fd, int m, off_t o, off_t n), (fd, m, o, n))
GATED(int, fallocate64, (int fd, int m, off64_t o, off64_t n), (fd, m, o, n))
