/*
 * zk/queue.c: steps 2 to 4: a ticket, the wait for its turn, the lock.
 *
 * Tickets bear their makers' clocks, so a wrong clock costs fairness and nothing else. Entries that
 * are no tickets are waited for like tickets: so does the Java library. Watches are set by reading
 * the node, not by asking whether it exists, so that none is left on a node that has gone. Worker
 * only.
 */
#include "zk/claim.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { NAME_SIZE = 48, TICKET_TRIES = 100 };

/* Where a ticket stands. */
typedef struct place {
    bool there;
    bool fits;                     /* the name of the entry before it fits below */
    char before[U9I_ZK_NODE_SIZE]; /* path of the entry to wait for, "": none */
} place;

static u9i_zk_result take_ticket(u9_zk_claim *c, char name[NAME_SIZE])
{
    char path[U9I_ZK_NODE_SIZE];
    u9i_zk_result result = U9I_ZK_TAKEN;
    for (int i = 0; i < TICKET_TRIES && result == U9I_ZK_TAKEN; i++) {
        struct timespec now;
        uint32_t random = 0;
        clock_gettime(CLOCK_REALTIME, &now);
        (void)!getrandom(&random, sizeof random, 0); /* if not random, the time will do */
        long long ms = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
        snprintf(name, NAME_SIZE, "nr-%014lld-%04u", ms, random % 10000);
        (void)u9i_zk_path(c, "queue", name, path);
        result = u9i_zk_make(c, path, "make a ticket");
    }
    return result == U9I_ZK_TAKEN ? U9I_ZK_BROKEN : result;
}

static void note_place(const u9_zk_claim *c, const struct String_vector *names, const char *ticket,
                       place *out)
{
    const char *first = NULL, *before = NULL;
    out->there = false;
    for (int i = 0; i < names->count; i++) {
        const char *name = names->data[i];
        if (first == NULL || strcmp(name, first) < 0) first = name;
        if (strcmp(name, ticket) == 0) out->there = true;
    }
    bool locked = first && strcmp(first, U9I_ZK_LOCK) == 0;
    for (int i = 0; i < names->count; i++) {
        const char *name = names->data[i];
        if (strcmp(name, ticket) >= 0 || (locked && strcmp(name, U9I_ZK_LOCK) == 0)) continue;
        if (before == NULL || strcmp(name, before) > 0) before = name;
    }
    out->before[0] = 0;
    out->fits = before == NULL || u9i_zk_path(c, "queue", before, out->before);
}

static u9i_zk_result find_place(u9_zk_claim *c, const char *ticket, place *out)
{
    char path[U9I_ZK_NODE_SIZE];
    struct String_vector names = {0};
    (void)u9i_zk_path(c, "queue", NULL, path);
    u9i_zk_result result = u9i_zk_going(c);
    if (result == U9I_ZK_DONE)
        result = u9i_zk_judge(c, zoo_get_children(c->zk, path, 0, &names), "list the queue", path);
    if (result == U9I_ZK_DONE) note_place(c, &names, ticket, out);
    deallocate_String_vector(&names);
    return result;
}

/* Waits until something happens to the node; not at all if there is none. */
static u9i_zk_result wait_for_node(u9_zk_claim *c, const char *path, const char *waits_for)
{
    char data[1];
    int size = sizeof data;
    uint64_t seen = u9i_zk_events(c);
    int rc = zoo_wget(c->zk, path, u9i_zk_on_event, c, data, &size, NULL);
    if (rc == ZNONODE) return U9I_ZK_DONE;
    u9i_zk_result result = u9i_zk_judge(c, rc, "watch the queue", path);
    return result == U9I_ZK_DONE ? u9i_zk_await(c, seen, waits_for) : result;
}

/* One look at the queue. TAKEN: look again. */
static u9i_zk_result step_forward(u9_zk_claim *c, char ticket[NAME_SIZE])
{
    char path[U9I_ZK_NODE_SIZE];
    place at = {0};
    u9i_zk_result result = find_place(c, ticket, &at);
    if (result != U9I_ZK_DONE) return result;
    if (!at.there) {
        (void)u9i_zk_path(c, "queue", ticket, path);
        result = u9i_zk_drop(c, path);
        if (result == U9I_ZK_DONE) result = take_ticket(c, ticket);
    } else if (!at.fits) {
        result = U9I_ZK_BROKEN;
    } else if (at.before[0] != 0) {
        result = wait_for_node(c, at.before, "its turn in the queue");
    } else {
        (void)u9i_zk_path(c, "queue", U9I_ZK_LOCK, path);
        result = u9i_zk_make(c, path, "make the lock");
        if (result != U9I_ZK_TAKEN) return result;
        result = wait_for_node(c, path, "the lock");
    }
    return result == U9I_ZK_DONE ? U9I_ZK_TAKEN : result;
}

u9i_zk_result u9i_zk_queue(u9_zk_claim *c)
{
    char ticket[NAME_SIZE], path[U9I_ZK_NODE_SIZE];
    u9i_zk_result result = take_ticket(c, ticket);
    if (result != U9I_ZK_DONE) return result;
    do {
        result = step_forward(c, ticket);
    } while (result == U9I_ZK_TAKEN);
    if (result != U9I_ZK_DONE) return result; /* the worker drops the ticket */
    (void)u9i_zk_path(c, "queue", ticket, path);
    return u9i_zk_drop(c, path);
}
