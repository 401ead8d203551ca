/*
 * tests/engine/os/test_short.c: what the system does below the door and nobody above it sees: short counts, EINTR and
 * EAGAIN, on both tables. {F12} The engine's own calls are led through here by the linker (--wrap): plain calls are
 * cut short or refused themselves, those of a ring while they are handed over.
 */
#include "tests/engine/fixture.h"
#include "tests/engine/os/envs.h"
#include "tests/engine/scarce.h"
#include "tests/suites.h"

#include <errno.h>
#include <limits.h>
#include <liburing.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t __real_pread(int fd, void *buf, size_t n, off_t off);
ssize_t __real_pwrite(int fd, const void *buf, size_t n, off_t off);
int __real_fdatasync(int fd);
int __real_io_uring_submit(struct io_uring *ring);
ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t off);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t off);
ssize_t __wrap_pwritev2(int fd, const struct iovec *vec, int count, off_t off, int flags);
ssize_t __real_pwritev2(int fd, const struct iovec *vec, int count, off_t off, int flags);
int __wrap_fdatasync(int fd);
int __wrap_io_uring_submit(struct io_uring *ring);
int __real___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit, unsigned wait_for,
                              sigset_t *mask);
int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit, unsigned wait_for,
                              sigset_t *mask);

static atomic_bool cuts;         /* the system is as it may be */
static atomic_bool stops;        /* writes come to nothing */
static atomic_bool breaks;       /* nothing is handed over to a ring any more, nor can it be waited at */
static atomic_uint cut, refused; /* how often */
static int says;                 /* not 0: of an operation on a ring the kernel says this; INT_MAX: that half of it was done */
static unsigned says_left;       /*   so often */

static unsigned draw(void)
{
    static atomic_uint state = 1;
    return (atomic_fetch_add(&state, 1) * 2654435761u) >> 16;
}

/* How much of n bytes is done, whole blocks if there are some: O_DIRECT wants them. 0: the call is refused. */
static size_t part_of(size_t n)
{
    if (!atomic_load(&cuts) || n == 0) return n;
    if (draw() % 4 == 0) {
        atomic_fetch_add(&refused, 1);
        errno = draw() % 2 ? EINTR : EAGAIN;
        return 0;
    }
    size_t blocks = n / BLOCK, part = blocks > 1 ? (1 + draw() % blocks) * BLOCK : n;
    atomic_fetch_add(&cut, part < n);
    return part;
}

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t off)
{
    if (scarce_refuses()) return -1;
    size_t part = part_of(n);
    return part == 0 && n > 0 ? -1 : __real_pread(fd, buf, part, off);
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t off)
{
    if (atomic_load(&stops)) return 0;
    if (scarce_refuses()) return -1;
    size_t part = part_of(n);
    return part == 0 && n > 0 ? -1 : __real_pwrite(fd, buf, part, off);
}

/* Durable writes, of one piece each. */
ssize_t __wrap_pwritev2(int fd, const struct iovec *vec, int count, off_t off, int flags)
{
    ck_assert_int_eq(count, 1);
    if (atomic_load(&stops)) return 0;
    if (scarce_refuses()) return -1;
    struct iovec part = {.iov_base = vec->iov_base, .iov_len = part_of(vec->iov_len)};
    return part.iov_len == 0 && vec->iov_len > 0 ? -1 : __real_pwritev2(fd, &part, 1, off, flags);
}

int __wrap_fdatasync(int fd)
{
    if (scarce_refuses()) return -1;
    if (part_of(1) > 0) return __real_fdatasync(fd);
    errno = EINTR; /* it knows no EAGAIN */
    return -1;
}

int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit, unsigned wait_for,
                              sigset_t *mask)
{
    if (atomic_load(&breaks) && wait_for > 0) return -EBADF;
    return __real___io_uring_get_cqe(ring, cqe, submit, wait_for, mask);
}

int __wrap_io_uring_submit(struct io_uring *ring)
{
    if (atomic_load(&breaks)) return -EBADF;
    if (scarce_refuses()) return -errno;
    const struct io_uring_sq *sq = &ring->sq;
    for (unsigned i = sq->sqe_head; i != sq->sqe_tail; i++) {
        struct io_uring_sqe *sqe = &sq->sqes[i & sq->ring_mask];
        bool writes = sqe->opcode == IORING_OP_WRITE || sqe->opcode == IORING_OP_WRITE_FIXED;
        bool reads = sqe->opcode == IORING_OP_READ || sqe->opcode == IORING_OP_READ_FIXED;
        if (writes && atomic_load(&stops)) sqe->len = 0;
        if ((!writes && !reads) || sqe->len <= sizeof(uint64_t)) continue; /* that is its wake */
        size_t part = part_of(sqe->len);
        if (part > 0) sqe->len = (unsigned)part;
    }
    if (atomic_load(&cuts) && draw() % 4 == 0) return -EAGAIN; /* it is all handed over later */
    int n = __real_io_uring_submit(ring);
    struct io_uring_cqe *cqe;
    if (n != 1 || says_left == 0 || __real___io_uring_get_cqe(ring, &cqe, 0, 1, NULL) != 0) return n;
    says_left--;
    cqe->res = says == INT_MAX ? cqe->res / 2 : says; /* it was done, and is done once more */
    return n;
}

static void end_cuts(void)
{
    atomic_store(&cuts, false);
    ck_assert_uint_gt(atomic_load(&cut), 10);
    ck_assert_uint_gt(atomic_load(&refused), 3);
}

/* {F12} {F32} */
START_TEST(short_and_interrupted_calls_are_whole_at_the_door)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    enum { ALL = BUFFERS * BUFFER };
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    uint8_t *before = malloc(ALL);
    fill_buffers();
    memcpy(before, buffers, ALL);
    atomic_store(&cuts, true);
    for (unsigned times = 0; times < 8; times++) {
        for (unsigned i = 0; i < BUFFERS; i++)
            write_at(queue, file, (uint64_t)i * BUFFER, buffers + (size_t)i * BUFFER, BUFFER, i);
        take_all(queue, BUFFERS, BUFFER);
        sync_file(queue, file);
        memset(buffers, 0, ALL);
        for (unsigned i = 0; i < BUFFERS; i++) {
            u9i_op op = {.kind = U9I_OP_READ,
                         .file = file,
                         .off = (uint64_t)i * BUFFER,
                         .buf = buffers + (size_t)i * BUFFER,
                         .n = BUFFER,
                         .tag = i};
            ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
        }
        take_all(queue, BUFFERS, BUFFER);
        ck_assert_int_eq(memcmp(buffers, before, ALL), 0);
        expect_in_file(file, 0, before, ALL);
    }
    end_cuts();
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
    free(before);
}
END_TEST

/* {F32} */
START_TEST(a_read_that_is_cut_short_ends_at_the_end_of_the_file_only)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    enum { SIZE = 5 * BUFFER + 100 };
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file;
    fill_buffers();
    put_file(dir, "a", buffers, SIZE);
    uint8_t *into = malloc(8 * BUFFER);
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_READ, &file), 0);
    u9i_queue *queue = open_queue(env);
    atomic_store(&cuts, true);
    for (unsigned i = 0; i < 20; i++) {
        u9i_op op = {.kind = U9I_OP_READ, .file = file, .off = i, .buf = into, .n = 8 * BUFFER};
        memset(into, 0, 8 * BUFFER);
        ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
        take_all(queue, 1, SIZE - (int)i);
        ck_assert_int_eq(memcmp(into, buffers + i, SIZE - i), 0);
    }
    end_cuts();
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
    free(into);
}
END_TEST

START_TEST(a_write_that_comes_to_nothing_is_an_error_and_no_endless_loop)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    atomic_store(&stops, true);
    write_at(queue, file, 0, buffers, BUFFER, 0);
    take_all(queue, 1, -EIO);
    ck_assert_int_eq(u9i_file_zero(file, 0, BUFFER), -EIO);
    atomic_store(&stops, false);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

/* {F32} Sessions with frames of some blocks each, read back without the cuts, and with them. */
START_TEST(a_log_that_was_written_through_them_is_whole)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9_options o = small_options();
    o.io = env->name;
    uint8_t filler[30000];
    memset(filler, 'f', sizeof filler);
    atomic_store(&cuts, true);
    for (unsigned sessions = 0; sessions < 3; sessions++) {
        u9_log *w = open_writer(at("log"), &o);
        for (unsigned i = 0; i < 20; i++) {
            append_bytes(w, filler, sizeof filler - i);
            if (i % 3 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        }
        close_log(w);
    }
    for (unsigned i = 0; i < 2; i++) {
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, 60);
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        forget(s);
        if (i == 0) end_cuts();
    }
}
END_TEST

/* {F12} {F40} What a ring says of an operation: it is done again, in another way, or that is what it comes to. */
START_TEST(what_a_ring_says_of_an_operation_is_what_it_comes_to_unless_it_can_be_done_otherwise)
{
    static const struct {
        int says;
        bool durable, done; /* a write, done all the same */
        bool read;          /* so is a read */
    } rows[] = {{-EINTR, false, true, true},      {-EAGAIN, false, true, true},  {INT_MAX, false, true, true},
                {-ECANCELED, false, true, true},  {-EFAULT, false, true, true},  {-EIO, false, false, false},
                {-EOPNOTSUPP, false, false, false}, {-EOPNOTSUPP, true, true, false}, {-EIO, true, false, false}};
    u9i_env *env = env_row(_i);
    if (env == NULL || env != &u9i_env_uring) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file = make_file(dir, "a");
    fill_buffers();
    uint8_t *into = malloc(BUFFER);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        u9i_queue *queue = open_queue(env);
        u9i_op ops[2] = {{.kind = U9I_OP_WRITE, .file = file, .buf = buffers, .n = BUFFER, .durable = rows[i].durable, .tag = 0},
                         {.kind = U9I_OP_READ, .file = file, .buf = into, .n = BUFFER, .tag = 0}};
        u9i_completion c;
        if (rows[i].durable) { /* beside another one, else it is none of the ring's */
            write_at(queue, file, 2 * BUFFER, buffers, BUFFER, 7);
        }
        says = rows[i].says;
        says_left = 1;
        ck_assert_int_eq(u9i_queue_submit(queue, &ops[0], 1), 0);
        for (unsigned n = rows[i].durable ? 2 : 1; n > 0; n--) {
            ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 1);
            if (rows[i].durable) continue; /* the one or the other: the next row has it alone */
            ck_assert_int_eq(c.result, rows[i].done ? BUFFER : rows[i].says);
        }
        expect_in_file(file, 0, buffers, BUFFER);
        says_left = rows[i].durable ? 0 : 1;
        memset(into, 0, BUFFER);
        ck_assert_int_eq(u9i_queue_submit(queue, &ops[1], 1), 0);
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 1);
        if (!rows[i].durable) ck_assert_int_eq(c.result, rows[i].read ? BUFFER : rows[i].says);
        says_left = 0;
        if (rows[i].read) ck_assert_mem_eq(into, buffers, BUFFER);
        u9i_queue_close(queue);
    }
    free(into);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* {F14} As where somebody has closed its descriptor: what the kernel took before is waited for all the same. */
START_TEST(a_ring_that_breaks_leaves_nothing_under_way)
{
    enum { ALL = BUFFERS * BUFFER };
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file = make_file(dir, "a");
    u9i_op more = {.kind = U9I_OP_WRITE, .file = file, .off = ALL, .buf = buffers, .n = BUFFER};
    uint8_t *before = malloc(ALL);
    u9i_completion c;
    fill_buffers();
    memcpy(before, buffers, ALL);
    for (unsigned times = 0; times < 20; times++) {
        bool ring = env == &u9i_env_uring;
        u9i_queue *queue = open_queue(env);
        for (unsigned i = 0; i < BUFFERS; i++)
            write_at(queue, file, (uint64_t)i * BUFFER, before + (size_t)i * BUFFER, BUFFER, i);
        atomic_store(&breaks, ring);
        if (ring && times % 2) ck_assert_int_eq(u9i_queue_submit(queue, &more, 1), -EBADF);
        if (ring && times % 4 == 0) {
            int n;
            while ((n = u9i_queue_wait(queue, &c, 1, U9I_FOREVER)) > 0) continue;
            ck_assert_int_eq(n, -EBADF);
        }
        u9i_queue_close(queue);
        atomic_store(&breaks, false);
        memset(before, 0, ALL); /* nobody writes from there any more */
        memcpy(before, buffers, ALL);
        expect_in_file(file, 0, buffers, ALL);
        ck_assert_int_eq(u9i_file_truncate(file, 0), 0);
    }
    free(before);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* {F14} The rest of a read that was short cannot be handed over: that read is over, and the kernel has none of it. */
START_TEST(a_ring_that_breaks_in_the_midst_of_an_operation_does_not_wait_for_it)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file = make_file(dir, "a");
    bool ring = env == &u9i_env_uring;
    u9i_completion c;
    fill_buffers();
    for (unsigned reads = 1; reads < 4; reads++) {
        u9i_queue *queue = open_queue(env);
        write_at(queue, file, 0, buffers, 100, 0);
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 1);
        u9i_op ops[3];
        for (unsigned i = 0; i < reads; i++)
            ops[i] = (u9i_op){.kind = U9I_OP_READ, .file = file, .buf = buffers + (i + 1) * BUFFER, .n = BUFFER, .tag = i};
        ck_assert_int_eq(u9i_queue_submit(queue, ops, reads), 0);
        atomic_store(&breaks, ring);
        int n = 0;
        for (unsigned left = reads; left > 0 && (n = u9i_queue_wait(queue, &c, 1, U9I_FOREVER)) >= 0; left -= (unsigned)n)
            if (n > 0) ck_assert_int_eq(c.result, ring ? -EBADF : 100);
        u9i_queue_close(queue);
        atomic_store(&breaks, false);
    }
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

Suite *suite_short(void)
{
    const TTest *const tests[] = {short_and_interrupted_calls_are_whole_at_the_door,
                                  a_read_that_is_cut_short_ends_at_the_end_of_the_file_only,
                                  a_write_that_comes_to_nothing_is_an_error_and_no_endless_loop,
                                  a_log_that_was_written_through_them_is_whole,
                                  what_a_ring_says_of_an_operation_is_what_it_comes_to_unless_it_can_be_done_otherwise,
                                  a_ring_that_breaks_leaves_nothing_under_way,
                                  a_ring_that_breaks_in_the_midst_of_an_operation_does_not_wait_for_it};
    Suite *suite = suite_create("short");
    TCase *tc = tcase_create("short");
    add_rows(tc, tests, sizeof tests / sizeof tests[0], ENV_HOST_ROWS);
    suite_add_tcase(suite, tc);
    return suite;
}
