/*
 * zk/tree.c: step 1: the nodes that stay, and the cluster id.
 *
 * Peers may make the same nodes at the same time: "it exists" is success. Whether a node exists is
 * asked first, since making what exists may be forbidden where asking is not. Worker only.
 */
#include "zk/claim.h"

#include <stdio.h>
#include <string.h>

bool u9i_zk_path(const u9_zk_claim *c, const char *room, const char *name,
                 char out[U9I_ZK_NODE_SIZE])
{
    const char *slash = name ? "/" : "";
    int n = snprintf(out, U9I_ZK_NODE_SIZE, "%s/%s%s%s", c->base, room, slash, name ? name : "");
    return n > 0 && n < U9I_ZK_NODE_SIZE;
}

static u9i_zk_result plant(u9_zk_claim *c, const char *path, const char *data)
{
    int rc = zoo_exists(c->zk, path, 0, NULL);
    if (rc == ZNONODE)
        rc = zoo_create(c->zk, path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    if (rc == ZNODEEXISTS) rc = ZOK;
    return u9i_zk_judge(c, rc, "make a node of the tree", path);
}

static u9i_zk_result plant_base(u9_zk_claim *c)
{
    char path[sizeof c->base];
    u9i_zk_result result = U9I_ZK_DONE;
    for (size_t n = 1; result == U9I_ZK_DONE; n++) {
        if (c->base[n] != '/' && c->base[n] != 0) continue;
        memcpy(path, c->base, n);
        path[n] = 0;
        result = plant(c, path, "");
        if (c->base[n] == 0) break;
    }
    return result;
}

/* The whole value is a decimal number, as the Java library wants it. -1: it is not, or above 15. */
static int parse_cluster(const char *text, int size)
{
    int cluster = 0;
    if (size < 1) return -1;
    for (int i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        cluster = cluster * 10 + (text[i] - '0');
        if (cluster > (int)U9_UID8_CLUSTER_MAX) return -1;
    }
    return cluster;
}

static u9i_zk_result read_cluster(u9_zk_claim *c, const char *path)
{
    char text[16];
    int size = sizeof text;
    struct Stat stat;
    int rc = zoo_get(c->zk, path, 0, text, &size, &stat);
    if (rc != ZOK) return u9i_zk_judge(c, rc, "read the cluster id", path);
    int cluster = stat.dataLength <= (int)sizeof text ? parse_cluster(text, size) : -1;
    if (cluster >= 0) {
        c->cluster = cluster;
        return U9I_ZK_DONE;
    }
    pthread_mutex_lock(&c->lock);
    u9i_zk_fault(&c->refusal, U9_CORRUPT, 0, path, "the cluster id is not a number from 0 to %u",
                 U9_UID8_CLUSTER_MAX);
    pthread_mutex_unlock(&c->lock);
    return U9I_ZK_REFUSED;
}

u9i_zk_result u9i_zk_tree(u9_zk_claim *c)
{
    char path[U9I_ZK_NODE_SIZE];
    if (c->planted && c->cluster >= 0) return U9I_ZK_DONE;
    u9i_zk_result result = plant_base(c);
    static const char *const rooms[] = {"queue", "pool"};
    for (size_t i = 0; i < 2 && result == U9I_ZK_DONE; i++) {
        (void)u9i_zk_path(c, rooms[i], NULL, path);
        result = plant(c, path, "");
    }
    if (result == U9I_ZK_DONE && c->cluster < 0) {
        (void)u9i_zk_path(c, "cluster-id", NULL, path);
        result = plant(c, path, "0");
        if (result == U9I_ZK_DONE) result = read_cluster(c, path);
    }
    c->planted = result == U9I_ZK_DONE;
    return result;
}
