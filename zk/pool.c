/*
 * zk/pool.c: steps 5 and 6: with the lock, take the lowest free number.
 *
 * Only numbers of our own range count: peers of a later layout use higher ones, and other nodes
 * are none of our business. Worker only.
 */
#include "zk/claim.h"

#include <stdio.h>
#include <string.h>

typedef struct taken {
    bool number[U9I_ZK_POOL_MAX];
    uint32_t count; /* of those in our range */
} taken;

/* A decimal number as the library writes it: no sign, no leading zero. */
static bool parse_number(const char *name, uint32_t pool_size, uint32_t *out)
{
    uint32_t number = 0;
    size_t n = strlen(name);
    if (n == 0 || n > 4 || (name[0] == '0' && n > 1)) return false;
    for (size_t i = 0; i < n; i++) {
        if (name[i] < '0' || name[i] > '9') return false;
        number = number * 10 + (uint32_t)(name[i] - '0');
    }
    *out = number;
    return number < pool_size;
}

/* Lists the pool; with a watch if `watch`. */
static u9i_zk_result list_taken(u9_zk_claim *c, bool watch, taken *out)
{
    char path[U9I_ZK_NODE_SIZE];
    struct String_vector names = {0};
    uint32_t number;
    memset(out, 0, sizeof *out);
    (void)u9i_zk_path(c, "pool", NULL, path);
    int rc = zoo_wget_children(c->zk, path, watch ? u9i_zk_on_event : NULL, c, &names);
    for (int i = 0; rc == ZOK && i < names.count; i++) {
        if (!parse_number(names.data[i], c->pool_size, &number)) continue;
        out->number[number] = true;
        out->count++;
    }
    deallocate_String_vector(&names);
    return u9i_zk_judge(c, rc, "list the pool", path);
}

/* Tries all that is free, lowest first. TAKEN: others were faster, without the lock. */
static u9i_zk_result take_free(u9_zk_claim *c, const taken *known, uint32_t *number,
                               int64_t *proven_ms)
{
    char name[16], path[U9I_ZK_NODE_SIZE];
    u9i_zk_result result = U9I_ZK_TAKEN;
    for (uint32_t i = 0; i < c->pool_size && result == U9I_ZK_TAKEN; i++) {
        if (known->number[i]) continue;
        snprintf(name, sizeof name, "%u", i);
        (void)u9i_zk_path(c, "pool", name, path);
        int64_t before = u9i_zk_now_ms();
        result = u9i_zk_make(c, path, "claim a number");
        if (result != U9I_ZK_DONE) continue;
        *number = i;
        *proven_ms = before;
    }
    return result;
}

static u9i_zk_result take(u9_zk_claim *c, uint32_t *number, int64_t *proven_ms)
{
    static const char *const why = "a free number: all of the pool are taken";
    taken known;
    u9i_zk_result result = U9I_ZK_TAKEN;
    bool watch = false;
    while (result == U9I_ZK_TAKEN) {
        result = u9i_zk_going(c);
        uint64_t seen = u9i_zk_events(c);
        if (result == U9I_ZK_DONE) result = list_taken(c, watch, &known);
        if (result != U9I_ZK_DONE) break;
        if (known.count < c->pool_size)
            result = take_free(c, &known, number, proven_ms);
        else if (watch && (result = u9i_zk_await(c, seen, why)) != U9I_ZK_DONE)
            break;
        else
            result = U9I_ZK_TAKEN;
        watch = known.count >= c->pool_size;
    }
    return result;
}

u9i_zk_result u9i_zk_pool(u9_zk_claim *c, uint32_t *number, int64_t *proven_ms)
{
    char lock[U9I_ZK_NODE_SIZE];
    u9i_zk_result result = take(c, number, proven_ms);
    if (result == U9I_ZK_BROKEN) return result; /* the lock is in `own`: swept once connected */
    (void)u9i_zk_path(c, "queue", U9I_ZK_LOCK, lock);
    u9i_zk_result dropped = u9i_zk_drop(c, lock);
    return result == U9I_ZK_DONE ? dropped : result;
}
