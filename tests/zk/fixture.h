/*
 * tests/zk/fixture.h: a server of our own, a bare client to look at the tree and to play the
 * others in it, a connection that can be frozen and cut, threads that wait for a number.
 *
 * Nothing here measures how fast anything is: a test waits for a condition, and only one that does
 * not come for a minute fails.
 */
#ifndef U9T_ZK_FIXTURE_H
#define U9T_ZK_FIXTURE_H

#ifndef THREADED
#define THREADED
#endif

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <zookeeper/zookeeper.h>

#include <u9/zk.h>

#define LOCK_NAME "nr-00000000000000"
#define LOCK "queue/" LOCK_NAME

enum { WAIT_S = 60 };

/* Waits until `condition` is true. */
#define AWAIT(condition)                                                          \
    do {                                                                          \
        double until_ = zkt_seconds() + WAIT_S;                                   \
        while (!(condition)) {                                                    \
            if (zkt_seconds() > until_) ck_abort_msg("never came: " #condition); \
            zkt_nap(5);                                                           \
        }                                                                         \
    } while (0)

/* For children, whose failed assertions Check would not see: says so and exits 1. */
#define MUST(condition) zkt_must((condition), #condition, __FILE__, __LINE__)
void zkt_must(bool condition, const char *text, const char *file, int line);

double zkt_seconds(void);
void zkt_nap(unsigned ms);

/* The server: started and stopped in main. False: none can be had, and a line says why. */
bool zkt_server_start(const char *dir);
void zkt_server_stop(void);
extern int zkt_port;

/* "127.0.0.1:PORT/t/TEST": a tree of this test's own. Static; `port` 0: the server's. */
void zkt_begin(const char *test);
const char *zkt_address(int port);

/* The bare client. Paths are below this test's tree. All of these fail the test on errors. */
zhandle_t *zkt_raw_open(void);
void zkt_raw_close(zhandle_t *zk);
void zkt_raw_plant(zhandle_t *zk); /* the tree, with cluster id 0 */
void zkt_raw_make(zhandle_t *zk, const char *path, bool ephemeral);
void zkt_raw_fill(zhandle_t *zk, int from, int to); /* pool/from to pool/to-1, persistent */
void zkt_raw_set(zhandle_t *zk, const char *path, const char *data);
void zkt_raw_drop(zhandle_t *zk, const char *path);
bool zkt_raw_has(zhandle_t *zk, const char *path);
struct Stat zkt_raw_stat(zhandle_t *zk, const char *path);
int zkt_raw_count(zhandle_t *zk, const char *path); /* children; -1: no such node */
/* The one child of queue that is not the lock. False: there is none, or several. */
bool zkt_raw_ticket(zhandle_t *zk, char path[64]);

/* A claim: 20 s of session, 1 minute of hold and wait, 100 ms of rest. */
u9_zk_options zkt_options(void);
u9_zk_options zkt_short_session(void); /* the same with 5 s, where its end is waited for */
u9_zk_claim *zkt_claim(int port, const u9_zk_options *options);
u9_zk_grant zkt_get(u9_zk_claim *claim);

/* u9_zk_get in a thread. */
typedef struct zkt_getter {
    u9_zk_claim *claim;
    pthread_t thread;
    atomic_bool done;
    u9_err err;
    u9_zk_grant grant;
    u9_fault fault;
} zkt_getter;

void zkt_get_begin(zkt_getter *getter, u9_zk_claim *claim);
u9_zk_grant zkt_get_end(zkt_getter *getter); /* and it must have succeeded */

/*
 * A process between a claim and the server. It can be frozen (SIGSTOP, SIGCONT) and cut (killed,
 * then begun again on the same port). `trap`, if not NULL: the connection of the first request
 * that contains it is cut after the server has answered, before the answer is passed on.
 */
typedef struct zkt_proxy {
    int listener, port;
    pid_t pid;
} zkt_proxy;

void zkt_proxy_open(zkt_proxy *proxy, const char *trap);
void zkt_proxy_cut(zkt_proxy *proxy);
void zkt_proxy_again(zkt_proxy *proxy);
void zkt_proxy_close(zkt_proxy *proxy);

/* A child process that dies with the test. `end` waits for it; it must have gone well. */
pid_t zkt_child_begin(void (*body)(void *), void *arg);
void zkt_child_end(pid_t pid);

Suite *suite_claim(void);
Suite *suite_hold(void);
Suite *suite_loss(void);
Suite *suite_many(void);

#endif
