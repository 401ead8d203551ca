/*
 * zk/claim.h: the protocol by which numbers are claimed, and the state of one handle.
 *
 * Room: zk
 * Sees: include
 *
 * The room is libu9-zk, a library of its own: it knows of libu9 what any host does.
 *
 * The tree, below BASE, the path of the address. Every node is open to anyone and, but for
 * cluster-id, empty; every delete takes any version.
 *
 *   BASE/cluster-id                   persistent, decimal 0..15, no newline; made with "0"
 *   BASE/queue/nr-<14 digits>-<4>     ephemeral: a ticket, <milliseconds of its maker>-<random>
 *   BASE/queue/nr-00000000000000      ephemeral: the lock
 *   BASE/pool/<decimal number>        ephemeral: a claim
 *
 *   step 1  (tree.c)    make BASE, queue, pool and cluster-id where missing; read cluster-id, once
 *   step 2  (queue.c)   make a ticket
 *   step 3  (queue.c)   list the queue. Own ticket gone: step 2. The lock, if it is the first, does
 *                       not count. Own ticket first: make the lock; else, or when there is a lock
 *                       already, watch that, or the entry before the own, and repeat
 *   step 4  (queue.c)   holding the lock: delete the ticket
 *   step 5  (pool.c)    list the pool. All numbers taken: watch it, keeping the lock, and repeat.
 *                       Make the node of the lowest free number; watch it
 *   step 6  (pool.c)    delete the lock, whatever came of step 5
 *   step 7  (worker.c)  use the number until one of: its hold time is over, the connection is lost,
 *                       the node is deleted, it is released, or the ensemble did not confirm the
 *                       session for two fifths of its timeout. From then on the claim is void, and
 *                       the node is deleted give_back_ms later, if the session still lives
 *
 * What keeps two from one number: the node of a number can be made only once, and lasts until its
 * session ends or we delete it; and we use the number only while our session cannot have ended.
 * Queue and lock give order, not safety.
 *
 * Invariants:
 * 1. Every ephemeral node that may be ours stands in `own`, from before the call that makes it
 *    until a reply says that it is gone. So nothing is left behind when a call's reply is lost:
 *    after the connection is back, each one whose ephemeralOwner is our session is deleted.
 * 2. An attempt (steps 1 to 6) belongs to one connection: when that breaks, it starts over.
 * 3. `held` implies that the connection was not lost since the node was made.
 * 4. Only the worker (worker.c), a thread of ours, calls ZooKeeper. Its callbacks (session.c) only
 *    take the lock, note what happened, and wake everyone.
 *
 * Where we differ from the Java library, unseen by peers: it leaves the lock behind when step 5
 * fails, and the claims of a connection that was lost; it may miss the freeing of a number between
 * listing and watching; it counts numbers outside its own range as taken.
 */
#ifndef U9I_ZK_CLAIM_H
#define U9I_ZK_CLAIM_H

#include <u9/idgen.h>
#include <u9/zk.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <zookeeper/zookeeper.h>

#define U9I_ZK_LOCK "nr-00000000000000"
#define U9I_ZK_NEVER INT64_MAX
enum {
    U9I_ZK_NODE_SIZE = 320,  /* bytes of the path of a node that we make, NUL included */
    U9I_ZK_OWN_MAX = 12,     /* nodes that may be ours at one time */
    U9I_ZK_OWN_ATTEMPT = 4,  /* of these, what one attempt needs */
    U9I_ZK_POOL_MAX = 2048,
    U9I_ZK_PAUSE_MS = 50     /* before something that failed is tried again */
};

/* How a step ended. */
typedef enum u9i_zk_result {
    U9I_ZK_DONE = 0,
    U9I_ZK_BROKEN, /* the connection was lost, or the tree changed under us: start over */
    U9I_ZK_OVER,   /* nobody waits for a number any more */
    U9I_ZK_TAKEN,  /* somebody else has that node */
    U9I_ZK_REFUSED /* the ensemble says no; `refusal` is filled */
} u9i_zk_result;

/* A node that may be ours. */
typedef struct u9i_zk_node {
    char path[U9I_ZK_NODE_SIZE];
    int64_t due_ms; /* when it is to be deleted, U9I_ZK_NEVER while in use */
} u9i_zk_node;

struct u9_zk_claim {
    /* Set by open, then constant. */
    char hosts[U9_ZK_HOSTS_MAX + 1];
    char base[U9_ZK_PATH_MAX + 1];
    u9_zk_options options; /* with defaults filled in */
    uint32_t pool_size;
    pid_t pid;
    pthread_t worker;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t turn;  /* told when any of it changes */
    bool stop;            /* close was called */
    bool connected;
    bool expired;    /* the session is dead, and its nodes are gone */
    uint64_t events; /* watches fired and session events */
    uint64_t breaks; /* losses of the connection */
    u9i_zk_node own[U9I_ZK_OWN_MAX];
    size_t own_count;

    /* The claim. Times are those of u9i_zk_now_ms. */
    bool held;
    bool gone; /* others deleted or changed the node at `node` */
    u9_zk_grant grant;
    char node[U9I_ZK_NODE_SIZE]; /* of the number held, or about to be */
    int64_t held_until_ms;
    int64_t proven_ms; /* the session was alive at this time or later */
    int64_t session_ms; /* timeout that the ensemble granted */

    /* Who waits. Each call of get has a number; an attempt that is refused answers all so far. */
    uint32_t waiters;
    uint64_t asked, answered;
    u9_fault refusal;
    const char *waits_for; /* what the worker waits for, for a sentence. Static */

    int barrier_rc; /* 1: under way */

    /* The worker's own. */
    zhandle_t *zk;
    uint64_t attempt_breaks; /* `breaks` when the attempt began */
    int64_t pause_until_ms;
    int cluster; /* -1: not read yet */
    bool planted; /* the tree was there */

    /* uid8.c's own, under this lock, which is taken before `lock`. */
    pthread_mutex_t uid8_lock;
    uint64_t uid8_serial; /* the grant that uid8.c's generator is made for, 0: none */
    uint64_t uid8_seen_ms; /* the newest timestamp of its identifiers */
    u9_uid8gen *gen;
    bool lent; /* to a log, which makes identifiers of its own under it */
};

/* claim.c */

/* Milliseconds of a clock that only grows, and also while the machine sleeps. */
int64_t u9i_zk_now_ms(void);

/* Fills `fault` (may be NULL) and returns `err`. `sys` is an errno or 0, `path` may be NULL. */
u9_err u9i_zk_fault(u9_fault *fault, u9_err err, int sys, const char *path, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* session.c: with `lock` held. */

/* Waits until told, or until `due_ms`. */
void u9i_zk_sleep(u9_zk_claim *claim, int64_t due_ms);
/* Whether the claim stands at this moment. */
bool u9i_zk_standing(const u9_zk_claim *claim);
/* Ends the claim, if there is one; its node is due give_back_ms from now. */
void u9i_zk_void(u9_zk_claim *claim);
/* When the next of `own` is due, U9I_ZK_NEVER if none. */
int64_t u9i_zk_own_due(const u9_zk_claim *claim);
/* All of `own` that is in use is due at once. */
void u9i_zk_own_end(u9_zk_claim *claim);

/* session.c: worker only, without `lock`. */

/* Ends the session, if there is one, and begins another. */
void u9i_zk_session_begin(u9_zk_claim *claim);
void u9i_zk_session_end(u9_zk_claim *claim);
/* What `rc` means. `what` ("make the ticket") goes into the refusal. */
u9i_zk_result u9i_zk_judge(u9_zk_claim *claim, int rc, const char *what, const char *path);
/* Returns once the ensemble's leader has confirmed the session, and we see all it did before. */
int u9i_zk_barrier(u9_zk_claim *claim);
/* Makes an ephemeral node, entered in `own`. TAKEN: somebody else has it. */
u9i_zk_result u9i_zk_make(u9_zk_claim *claim, const char *path, const char *what);
/* Deletes a node of `own` if it is ours on the server too, and forgets it. */
u9i_zk_result u9i_zk_drop(u9_zk_claim *claim, const char *path);
/* Drops all of `own` that is due. */
u9i_zk_result u9i_zk_sweep(u9_zk_claim *claim);
/* DONE while the attempt may go on, else BROKEN or OVER. */
u9i_zk_result u9i_zk_going(u9_zk_claim *claim);
/* The count of events, to be taken before setting a watch. */
uint64_t u9i_zk_events(u9_zk_claim *claim);
/* Waits for an event after `seen`, sweeping meanwhile what falls due. */
u9i_zk_result u9i_zk_await(u9_zk_claim *claim, uint64_t seen, const char *waits_for);
/* The watch of queue and pool: notes an event. */
void u9i_zk_on_event(zhandle_t *zk, int type, int state, const char *path, void *claim);
/* The watch of the node of the number that is held. */
void u9i_zk_on_node(zhandle_t *zk, int type, int state, const char *path, void *claim);

/* tree.c, queue.c, pool.c: the steps. */
u9i_zk_result u9i_zk_tree(u9_zk_claim *claim);
u9i_zk_result u9i_zk_queue(u9_zk_claim *claim);
u9i_zk_result u9i_zk_pool(u9_zk_claim *claim, uint32_t *number, int64_t *proven_ms);

/* The path BASE/<room>/<name>. False: too long. */
bool u9i_zk_path(const u9_zk_claim *claim, const char *room, const char *name,
                 char out[U9I_ZK_NODE_SIZE]);

/* worker.c: the thread's function; `claim` is its u9_zk_claim. */
void *u9i_zk_work(void *claim);

/* uid8.c */
void u9i_zk_uid8_end(u9_zk_claim *claim);

#endif
