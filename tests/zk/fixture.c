/*
 * tests/zk/fixture.c: see fixture.h.
 */
#include "tests/zk/fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int zkt_port;
static char base[128];
static char server_dir[512];
static pid_t guard;
static int guard_pipe = -1;

void zkt_must(bool condition, const char *text, const char *file, int line)
{
    if (condition) return;
    fprintf(stderr, "%s:%d: in a child: failed: %s\n", file, line, text);
    _exit(1);
}

double zkt_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void zkt_nap(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) continue;
}

/* A socket that listens on a free loopback port. */
static int listen_somewhere(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, 16) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0) {
        perror("u9zktests: a loopback port");
        exit(1);
    }
    *port = ntohs(at.sin_port);
    return fd;
}

static int run_script(const char *verb, const char *port)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("scripts/zookeeper", "zookeeper", verb, server_dir, port, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* However this program ends, a process that outlives it stops the server. */
static void begin_guard(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) exit(1);
    guard = fork();
    if (guard == 0) {
        char c;
        setsid();
        close(ends[1]);
        while (read(ends[0], &c, 1) < 0 && errno == EINTR) continue;
        _exit(run_script("stop", NULL));
    }
    close(ends[0]);
    guard_pipe = ends[1];
}

bool zkt_server_start(const char *dir)
{
    char port[16];
    snprintf(server_dir, sizeof server_dir, "%s", dir);
    begin_guard();
    int status = 3;
    for (int tries = 0; tries < 3 && status == 3; tries++) { /* another may be faster on the port */
        close(listen_somewhere(&zkt_port));
        snprintf(port, sizeof port, "%d", zkt_port);
        status = run_script("start", port);
    }
    return status == 0;
}

void zkt_server_stop(void)
{
    close(guard_pipe);
    while (waitpid(guard, NULL, 0) < 0 && errno == EINTR) continue;
}

void zkt_begin(const char *test)
{
    snprintf(base, sizeof base, "/t/%s", test);
}

const char *zkt_address(int port)
{
    static char address[256];
    snprintf(address, sizeof address, "127.0.0.1:%d%s", port ? port : zkt_port, base);
    return address;
}

static const char *full(const char *path, char out[256])
{
    snprintf(out, 256, "%s%s%s", base, *path ? "/" : "", path);
    return out;
}

static void say_nothing(const char *message)
{
    (void)message;
}

zhandle_t *zkt_raw_open(void)
{
    char host[64];
    snprintf(host, sizeof host, "127.0.0.1:%d", zkt_port);
    zhandle_t *zk = zookeeper_init2(host, NULL, 30000, NULL, NULL, 0, say_nothing);
    ck_assert_ptr_nonnull(zk);
    AWAIT(zoo_state(zk) == ZOO_CONNECTED_STATE);
    return zk;
}

void zkt_raw_close(zhandle_t *zk)
{
    ck_assert_int_eq(zookeeper_close(zk), ZOK);
}

static int make(zhandle_t *zk, const char *path, const char *data, int mode)
{
    return zoo_create(zk, path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, mode, NULL, 0);
}

void zkt_raw_plant(zhandle_t *zk)
{
    static const char *const nodes[][2] = {
        {"", ""}, {"queue", ""}, {"pool", ""}, {"cluster-id", "0"}};
    char path[256];
    (void)make(zk, "/t", "", 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(make(zk, full(nodes[i][0], path), nodes[i][1], 0), ZOK);
}

void zkt_raw_make(zhandle_t *zk, const char *path, bool ephemeral)
{
    char at[256];
    ck_assert_int_eq(make(zk, full(path, at), "", ephemeral ? ZOO_EPHEMERAL : 0), ZOK);
}

void zkt_raw_fill(zhandle_t *zk, int from, int to)
{
    for (int i = from; i < to; i++) {
        char path[32];
        snprintf(path, sizeof path, "pool/%d", i);
        zkt_raw_make(zk, path, false);
    }
}

void zkt_raw_set(zhandle_t *zk, const char *path, const char *data)
{
    char at[256];
    ck_assert_int_eq(zoo_set(zk, full(path, at), data, (int)strlen(data), -1), ZOK);
}

void zkt_raw_drop(zhandle_t *zk, const char *path)
{
    char at[256];
    ck_assert_int_eq(zoo_delete(zk, full(path, at), -1), ZOK);
}

bool zkt_raw_has(zhandle_t *zk, const char *path)
{
    char at[256];
    int rc = zoo_exists(zk, full(path, at), 0, NULL);
    ck_assert(rc == ZOK || rc == ZNONODE);
    return rc == ZOK;
}

struct Stat zkt_raw_stat(zhandle_t *zk, const char *path)
{
    char at[256];
    struct Stat stat;
    ck_assert_int_eq(zoo_exists(zk, full(path, at), 0, &stat), ZOK);
    return stat;
}

int zkt_raw_count(zhandle_t *zk, const char *path)
{
    char at[256];
    struct String_vector names = {0};
    int rc = zoo_get_children(zk, full(path, at), 0, &names);
    ck_assert(rc == ZOK || rc == ZNONODE);
    int count = rc == ZOK ? names.count : -1;
    deallocate_String_vector(&names);
    return count;
}

bool zkt_raw_ticket(zhandle_t *zk, char path[64])
{
    char at[256];
    int found = 0;
    struct String_vector names = {0};
    int rc = zoo_get_children(zk, full("queue", at), 0, &names);
    ck_assert(rc == ZOK || rc == ZNONODE);
    for (int i = 0; rc == ZOK && i < names.count; i++) {
        if (strcmp(names.data[i], LOCK_NAME) == 0) continue;
        snprintf(path, 64, "queue/%s", names.data[i]);
        found++;
    }
    deallocate_String_vector(&names);
    return found == 1;
}

u9_zk_options zkt_options(void)
{
    return (u9_zk_options){.size = sizeof(u9_zk_options),
                           .session_timeout_ms = 20000,
                           .wait_ms_max = WAIT_S * 1000,
                           .hold_ms = 60000,
                           .give_back_ms = 100};
}

u9_zk_options zkt_short_session(void)
{
    u9_zk_options options = zkt_options();
    options.session_timeout_ms = 5000;
    return options;
}

u9_zk_claim *zkt_claim(int port, const u9_zk_options *options)
{
    u9_zk_options defaults = zkt_options();
    u9_zk_claim *claim = NULL;
    u9_fault fault = {0};
    u9_err err = u9_zk_open(zkt_address(port), options ? options : &defaults, &claim, &fault);
    ck_assert_msg(err == U9_OK, "open: %s", fault.text);
    return claim;
}

u9_zk_grant zkt_get(u9_zk_claim *claim)
{
    u9_zk_grant grant = {0};
    u9_fault fault = {0};
    u9_err err = u9_zk_get(claim, &grant, &fault);
    ck_assert_msg(err == U9_OK, "get: %s: %s: %s", u9_err_name(err), fault.path, fault.text);
    return grant;
}

static void *gets(void *arg)
{
    zkt_getter *g = arg;
    g->err = u9_zk_get(g->claim, &g->grant, &g->fault);
    atomic_store(&g->done, true);
    return NULL;
}

void zkt_get_begin(zkt_getter *g, u9_zk_claim *claim)
{
    memset(g, 0, sizeof *g);
    g->claim = claim;
    ck_assert_int_eq(pthread_create(&g->thread, NULL, gets, g), 0);
}

u9_zk_grant zkt_get_end(zkt_getter *g)
{
    ck_assert_int_eq(pthread_join(g->thread, NULL), 0);
    ck_assert_msg(g->err == U9_OK, "get: %s: %s", u9_err_name(g->err), g->fault.text);
    return g->grant;
}

pid_t zkt_child_begin(void (*body)(void *), void *arg)
{
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    body(arg);
    _exit(0);
}

void zkt_child_end(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child's status is %d", status);
}

void zkt_proxy_close(zkt_proxy *proxy)
{
    zkt_proxy_cut(proxy);
    close(proxy->listener);
}

void zkt_proxy_cut(zkt_proxy *proxy)
{
    if (proxy->pid <= 0) return;
    kill(proxy->pid, SIGKILL);
    while (waitpid(proxy->pid, NULL, 0) < 0 && errno == EINTR) continue;
    proxy->pid = 0;
}

void zkt_proxy_run(int listener, const char *trap);

struct proxy_arg {
    int listener;
    const char *trap;
};

static void proxies(void *arg)
{
    const struct proxy_arg *a = arg;
    zkt_proxy_run(a->listener, a->trap);
}

void zkt_proxy_open(zkt_proxy *proxy, const char *trap)
{
    proxy->listener = listen_somewhere(&proxy->port);
    struct proxy_arg arg = {proxy->listener, trap};
    proxy->pid = zkt_child_begin(proxies, &arg);
}

void zkt_proxy_again(zkt_proxy *proxy)
{
    struct proxy_arg arg = {proxy->listener, NULL};
    proxy->pid = zkt_child_begin(proxies, &arg);
}
