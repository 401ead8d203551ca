/*
 * tests/engine/os/test_refused.c: what a kernel, a file system or a limit may refuse, and the writer goes on without:
 * registered buffers, direct I/O, durable writes, rings at all. Each session is a child's, to which a filter of system
 * calls (seccomp(2)) answers as they would.
 */
#include "tests/engine/fixture.h"
#include "tests/engine/os/envs.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 60, LARGE = 200000 };

/* A system call, with any of these bits in the argument (no bits: in any case), fails so. */
typedef struct refusal {
    long call;
    unsigned argument;
    uint32_t bits;
    int error;
} refusal;

static const refusal refusals[] = {
    {SYS_io_uring_register, 0, 0, ENOMEM},  /* as under RLIMIT_MEMLOCK */
    {SYS_openat, 2, O_DIRECT, EINVAL},      /* as on file systems without it */
    {SYS_pwritev2, 5, UINT32_MAX, EOPNOTSUPP}, /* before Linux 4.7, and where a file system has no RWF_DSYNC */
    {SYS_pwritev2, 0, 0, ENOSYS},           /* before 4.6 */
};

enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

/* In a child, for good. False: that may not be done here. */
static bool refuse(const refusal *r)
{
    const uint8_t none = r->bits == 0;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r->call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * r->argument)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, none ? UINT32_MAX : r->bits, 0, none ? 0 : 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)r->error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The call that is refused, as it would be made. */
static bool is_refused(const refusal *r)
{
    long got = r->call == SYS_openat ? syscall(r->call, AT_FDCWD, at(""), O_RDONLY | O_DIRECT)
                                     : syscall(r->call, -1, NULL, 0, 0, 0, 2);
    return got == -1 && errno == r->error;
}

/* In a child: lone commits, and much at once. Nothing that it is told is a failure. */
static void write_session(u9i_env *env, const char *log)
{
    static uint8_t value[LARGE + 16], bytes[LARGE];
    u9_options o = small_options();
    u9_place place = {0};
    u9_fault fault = {0};
    u9_log *w;
    o.io = env->name;
    o.policy = U9_POLICY_COMMIT;
    CHILD_EXPECT(u9_log_open(log, &o, &w, NULL) == U9_OK);
    CHILD_EXPECT(strcmp(u9_log_io(w), env->name) == 0);
    for (unsigned i = 0; i < RECORDS; i++) {
        u9_builder b;
        u9_builder_init(&b, value, sizeof value);
        memset(bytes, (int)i, sizeof bytes);
        CHILD_EXPECT(u9_build_bytes(&b, bytes, i % 2 ? LARGE : 10) == U9_OK);
        CHILD_EXPECT(u9_log_append(w, NULL, value, b.size, &place) == U9_OK);
        if (i % 4 == 0) CHILD_EXPECT(u9_log_commit(w, place.ordinal) == U9_OK);
    }
    CHILD_EXPECT(u9_log_sync(w) == U9_OK && u9_log_durable(w) == RECORDS);
    u9_log_fault(w, &fault);
    CHILD_EXPECT(fault.err == U9_OK);
    CHILD_EXPECT(u9_log_close(w, &fault) == U9_OK);
}

/* What the session wrote is there, and nothing is wrong with it. */
static void expect_session(const char *log)
{
    seen *s = look(log);
    ck_assert_uint_eq(s->count, RECORDS);
    for (unsigned i = 0; i < RECORDS; i++) {
        ck_assert_uint_eq(s->records[i].text_size, i % 2 ? LARGE : 10);
        ck_assert_int_eq((uint8_t)s->records[i].text[i % 2 ? LARGE - 1 : 9], (uint8_t)i);
    }
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}

START_TEST(a_writer_goes_on_without_what_the_system_refuses)
{
    enum { MAYBE_NOT_HERE = 77 };
    u9i_env *env = env_row(_i % ENV_HOST_ROWS);
    const refusal *r = &refusals[_i / ENV_HOST_ROWS];
    int status;
    if (env == NULL) return;
    pid_t pid = fork_child();
    if (pid == 0) {
        if (!refuse(r)) _exit(MAYBE_NOT_HERE);
        CHILD_EXPECT(is_refused(r));
        write_session(env, at("log"));
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == MAYBE_NOT_HERE) return;
    ck_assert_msg(status == 0, "not so in the child: status %x, line %d, modulo 255", (unsigned)status,
                  WEXITSTATUS(status) - 1);
    expect_session(at("log"));
}
END_TEST

/* The capability to lock memory without a limit is given up, in a child. */
static bool limit_locked_memory(rlim_t bytes)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    const struct rlimit limit = {bytes, bytes};
    if (syscall(SYS_capget, &head, caps) != 0) return false;
    caps[0].effective &= ~(1u << CAP_IPC_LOCK);
    return syscall(SYS_capset, &head, caps) == 0 && setrlimit(RLIMIT_MEMLOCK, &limit) == 0;
}

/* True if this process may register that many bytes with a ring. */
static bool can_register(void)
{
    struct io_uring ring;
    struct iovec all = {.iov_base = buffers, .iov_len = (size_t)BUFFERS * BUFFER};
    if (io_uring_queue_init(2, &ring, 0) != 0) return false;
    int err = io_uring_register_buffers(&ring, &all, 1);
    io_uring_queue_exit(&ring);
    return err == 0;
}

/* Enough for rings; and on kernels that count these, too little for any. */
START_TEST(a_writer_that_may_lock_little_memory_or_none_goes_on_without)
{
    static const rlim_t limits[] = {(rlim_t)BUFFERS * BUFFER - 100000, 0};
    u9i_env *env = env_row(1);
    if (env == NULL || !can_register()) return;
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_EXPECT(limit_locked_memory(limits[_i]));
        CHILD_EXPECT(!can_register());
        write_session(env, at("log"));
        _exit(0);
    }
    expect_child(pid);
    expect_session(at("log"));
}
END_TEST

START_TEST(where_no_ring_can_be_had_plain_calls_do)
{
    static const refusal no_ring = {SYS_io_uring_setup, 0, 0, EPERM};
    pid_t pid = fork_child();
    if (pid == 0) {
        u9i_env *env;
        u9_fault fault;
        unsetenv("U9_IO");
        if (!refuse(&no_ring)) _exit(0);
        /* u9i_uring_usable asks once, and this process may have asked before */
        if (u9i_uring_usable()) _exit(0);
        CHILD_EXPECT(u9i_env_choose(NULL, &env, NULL) == U9_OK && env == &u9i_env_posix);
        CHILD_EXPECT(u9i_env_choose("uring", &env, &fault) == U9_ARG);
        write_session(&u9i_env_posix, at("log"));
        _exit(0);
    }
    expect_child(pid);
}
END_TEST

/* A host closes every descriptor that it does not know, those of a log among them. */
START_TEST(descriptors_that_the_host_closes_cost_nothing_that_was_acknowledged)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    pid_t pid = fork_child();
    if (pid == 0) {
        u9_options o = small_options();
        u9_fault fault;
        u9_log *w;
        o.io = env->name;
        o.policy = U9_POLICY_COMMIT;
        CHILD_EXPECT(u9_log_open(at("log"), &o, &w, NULL) == U9_OK);
        for (unsigned i = 0; i < 10; i++)
            CHILD_EXPECT(u9_log_append(w, NULL, NULL, 0, NULL) == U9_OK && u9_log_commit(w, i) == U9_OK);
        CHILD_EXPECT(syscall(SYS_close_range, 3, ~0U, 0) == 0);
        CHILD_EXPECT(u9_log_append(w, NULL, NULL, 0, NULL) == U9_OK);
        CHILD_EXPECT(u9_log_commit(w, 10) == U9_POISONED);
        u9_log_fault(w, &fault);
        CHILD_EXPECT(fault.err == U9_POISONED && fault.sys == EBADF);
        CHILD_EXPECT(u9_log_durable(w) == 10);
        CHILD_EXPECT(u9_log_append(w, NULL, NULL, 0, NULL) == U9_POISONED);
        CHILD_EXPECT(u9_log_close(w, &fault) == U9_POISONED);
        _exit(0);
    }
    expect_child(pid);
    seen *s = look(at("log"));
    ck_assert_uint_ge(s->count, 10);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(s);
}
END_TEST

Suite *suite_refused(void)
{
    const TTest *const each[] = {a_writer_goes_on_without_what_the_system_refuses};
    const TTest *const rows[] = {descriptors_that_the_host_closes_cost_nothing_that_was_acknowledged};
    const TTest *const limited[] = {a_writer_that_may_lock_little_memory_or_none_goes_on_without};
    const TTest *const once[] = {where_no_ring_can_be_had_plain_calls_do};
    Suite *suite = suite_create("refused");
    TCase *first = tcase_create("refused"), *second = tcase_create("limited"), *third = tcase_create("once"),
          *fourth = tcase_create("closed");
    add_rows(first, each, 1, REFUSALS * ENV_HOST_ROWS);
    add_rows(second, limited, 1, 2);
    add_rows(third, once, 1, 1);
    suite_add_tcase(suite, first);
    suite_add_tcase(suite, second);
    suite_add_tcase(suite, third);
    add_rows(fourth, rows, 1, ENV_HOST_ROWS);
    suite_add_tcase(suite, fourth);
    return suite;
}
