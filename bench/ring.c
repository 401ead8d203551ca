/*
 * bench/ring.c: see ring.h.
 */
#include "bench/ring.h"
#include "bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct io_uring ring;
static uint8_t *memory; /* RING_DEPTH buffers */
static bool busy[RING_DEPTH];
static unsigned next, in_flight;
static uint64_t end, size_written, reserved;
static int fd;
static bool is_registered;

static void must(int status, const char *what)
{
    if (status >= 0) return;
    errno = -status;
    die(what, NULL);
}

const char *ring_version(void)
{
    static int tried = 1; /* 0 or -errno once it was */
    if (tried > 0) {
        tried = io_uring_queue_init(1, &ring, 0);
        if (tried == 0) io_uring_queue_exit(&ring);
    }
    return tried == 0 ? "the kernel's" : NULL;
}

void ring_open(const char *path, bool registered)
{
    struct iovec parts[RING_DEPTH];
    memory = mmap(NULL, (size_t)RING_DEPTH * RING_WRITE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) die("memory for buffers", NULL);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EINVAL)
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644); /* as u9 does */
    if (fd < 0) die(path, NULL);
    must(io_uring_queue_init(RING_DEPTH, &ring, 0), "io_uring");
    is_registered = registered;
    if (!registered) return;
    for (unsigned i = 0; i < RING_DEPTH; i++)
        parts[i] = (struct iovec){memory + (size_t)i * RING_WRITE, RING_WRITE};
    must(io_uring_register_buffers(&ring, parts, RING_DEPTH), "registering buffers");
    must(io_uring_register_files(&ring, &fd, 1), "registering the file");
}

static void wait_for_one(void)
{
    struct io_uring_cqe *done;
    must(io_uring_wait_cqe(&ring, &done), "waiting for a write");
    must(done->res, "a write");
    busy[(size_t)io_uring_cqe_get_data64(done)] = false;
    io_uring_cqe_seen(&ring, done);
    in_flight--;
}

uint8_t *ring_memory(void)
{
    return memory;
}

uint8_t *ring_buffer(void)
{
    while (busy[next]) wait_for_one();
    return memory + (size_t)next * RING_WRITE;
}

/* In steps that grow with the file, as u9 takes its space. */
static void reserve(uint64_t until)
{
    if (until <= reserved) return;
    uint64_t step = reserved < RING_STEP ? RING_STEP : reserved > RING_STEP_MAX ? RING_STEP_MAX : reserved;
    if (fallocate(fd, 0, (off_t)reserved, (off_t)step) != 0 && errno != EOPNOTSUPP)
        die("fallocate", NULL);
    reserved += step;
}

void ring_write(size_t size)
{
    unsigned whole = (unsigned)((size + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN);
    struct io_uring_sqe *s = io_uring_get_sqe(&ring);
    uint8_t *buffer = ring_buffer();
    reserve(end + whole);
    if (is_registered) {
        io_uring_prep_write_fixed(s, 0, buffer, whole, end, (int)next);
        s->flags |= IOSQE_FIXED_FILE;
    } else {
        io_uring_prep_write(s, fd, buffer, whole, end);
    }
    io_uring_sqe_set_data64(s, next);
    must(io_uring_submit(&ring), "submitting a write");
    busy[next] = true;
    in_flight++;
    next = (next + 1) % RING_DEPTH;
    size_written = end + size;
    end += whole;
}

double ring_close(void)
{
    while (in_flight > 0) wait_for_one();
    double start = now();
    if (ftruncate(fd, (off_t)size_written) != 0 || fdatasync(fd) != 0) die("sync", NULL);
    double took = now() - start;
    io_uring_queue_exit(&ring);
    munmap(memory, (size_t)RING_DEPTH * RING_WRITE);
    close(fd);
    return took;
}
