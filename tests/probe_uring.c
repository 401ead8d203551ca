/*
 * tests/probe_uring.c: exits 0 if this process may use io_uring for what an engine needs, else 1
 * with the reason on standard error. A program of its own: `make test` asks it whether to run the
 * tests on that io table. Seccomp filters and sysctls refuse io_uring in many containers.
 */
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>

static int refuse(const char *what, int err)
{
    fprintf(stderr, "probe_uring: %s: %s\n", what, strerror(err));
    return 1;
}

/* Sends one no-op through the ring: that it can be set up does not mean that it may be entered. */
static int round_trip(struct io_uring *ring)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    if (!sqe) return refuse("no submission entry", EBUSY);
    io_uring_prep_nop(sqe);

    int submitted = io_uring_submit(ring);
    if (submitted != 1) return refuse("io_uring_submit", submitted < 0 ? -submitted : EIO);

    struct io_uring_cqe *cqe;
    int err = io_uring_wait_cqe(ring, &cqe);
    if (err < 0) return refuse("io_uring_wait_cqe", -err);
    io_uring_cqe_seen(ring, cqe);
    return 0;
}

static int knows_operations(struct io_uring *ring)
{
    static const int needed[] = {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_WRITE_FIXED,
                                 IORING_OP_FSYNC};
    struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
    if (!probe) return refuse("the kernel does not list its operations", ENOSYS);

    int missing = 0;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!io_uring_opcode_supported(probe, needed[i])) missing++;
    io_uring_free_probe(probe);
    return missing > 0 ? refuse("the kernel lacks an operation", ENOSYS) : 0;
}

int main(void)
{
    struct io_uring ring;
    int err = io_uring_queue_init(8, &ring, 0);
    if (err < 0) return refuse("io_uring_queue_init", -err);

    int status = round_trip(&ring);
    if (status == 0) status = knows_operations(&ring);
    io_uring_queue_exit(&ring);
    return status;
}
