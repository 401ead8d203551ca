/*
 * rados/address.c: rados:POOL/NAME[?conf=FILE&namespace=NS&timeout=S&lease=S&wait=S&grace=S]. [RD-2]
 *
 * What stands behind the question mark chooses the env; what is left is the path in it: rados:POOL/NAME in the first env
 * of its pool, rados:POOL?2/NAME in the second. So an address without options means those of the first one, and what is
 * left may be given again. Both are kept for the life of the process: nobody says when a path is not used any more.
 */
#include "rados/rados.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "rados:";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static u9r_env *envs;
static struct kept {
    struct kept *next;
    char path[];
} *paths;

static const char *keep_path(const char *path, size_t n)
{
    for (struct kept *k = paths; k; k = k->next)
        if (strlen(k->path) == n && memcmp(k->path, path, n) == 0) return k->path;
    struct kept *k = calloc(1, sizeof *k + n + 1);
    if (k == NULL) return NULL;
    memcpy(k->path, path, n);
    k->next = paths;
    paths = k;
    return k->path;
}

static bool take_number(const char *value, size_t n, unsigned unit, unsigned max, unsigned *out)
{
    char *end, text[16] = "";
    if (n == 0 || n >= sizeof text) return false;
    memcpy(text, value, n);
    double number = strtod(text, &end);
    if (*end != 0 || !(number >= 0) || number > max) return false;
    *out = (unsigned)(number * unit + 0.5);
    return true;
}

static bool take_text(const char *value, size_t n, char *out, size_t size)
{
    if (n == 0 || n >= size) return false;
    memcpy(out, value, n);
    out[n] = 0;
    return true;
}

/* One KEY=VALUE of the question. */
static bool take_option(u9r_env *e, const char *text, size_t n)
{
    const char *is = memchr(text, '=', n);
    if (is == NULL) return false;
    size_t key = (size_t)(is - text), rest = n - key - 1;
    const char *value = is + 1;
#define KEY(word) (key == strlen(word) && memcmp(text, word, key) == 0)
    if (KEY("conf")) return take_text(value, rest, e->conf, sizeof e->conf);
    if (KEY("namespace")) return take_text(value, rest, e->space, sizeof e->space);
    if (KEY("timeout")) return take_number(value, rest, 1, 3600, &e->timeout_s) && e->timeout_s > 0;
    if (KEY("lease")) return take_number(value, rest, 1000, 3600, &e->lease_ms) && e->lease_ms >= 500;
    if (KEY("wait")) return take_number(value, rest, 1000, 3600, &e->wait_ms);
    if (KEY("grace")) return take_number(value, rest, 1, 86400, &e->grace_s);
#undef KEY
    return false;
}

static bool same(const u9r_env *a, const u9r_env *b)
{
    return strcmp(a->pool, b->pool) == 0 && strcmp(a->space, b->space) == 0 && strcmp(a->conf, b->conf) == 0 &&
           a->timeout_s == b->timeout_s && a->lease_ms == b->lease_ms && a->wait_ms == b->wait_ms &&
           a->grace_s == b->grace_s;
}

static bool parse(u9r_env *e, const char *pool, size_t n, const char *options, char *why, size_t size)
{
    if (n == 0 || !take_text(pool, n, e->pool, sizeof e->pool)) {
        snprintf(why, size, "an address is rados:POOL/NAME");
        return false;
    }
    for (const char *at = options; *at;) {
        size_t length = strcspn(at, "&");
        if (!take_option(e, at, length)) {
            snprintf(why, size, "'%.*s' is none of conf=FILE, namespace=NS, timeout=S, lease=S (0.5 or more), wait=S, "
                     "grace=S", (int)(length < 60 ? length : 60), at);
            return false;
        }
        at += length + (at[length] == '&');
    }
    return true;
}

static u9r_env *env_numbered(const char *pool, unsigned number)
{
    u9r_env *e = envs;
    while (e && (e->number != number || strcmp(e->pool, pool) != 0)) e = e->next;
    return e;
}

/* The env that is like `e`, or `e` itself, numbered then. The lock is held. */
static u9r_env *keep_env(u9r_env *e)
{
    unsigned number = 1;
    for (u9r_env *there = envs; there; there = there->next) {
        if (same(there, e)) return there;
        if (strcmp(there->pool, e->pool) == 0 && there->number >= number) number = there->number + 1;
    }
    e->number = number;
    e->next = envs;
    return envs = e;
}

static const char *path_in(const u9r_env *e, const char *name, size_t n)
{
    char path[5000], number[16] = "";
    if (e->number > 1) snprintf(number, sizeof number, "?%u", e->number);
    if (n > 4096) return NULL;
    int length = snprintf(path, sizeof path, "%s%s%s%.*s", prefix, e->pool, number, (int)n, name);
    return keep_path(path, (size_t)length);
}

bool u9r_find(const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    const char *pool = path + sizeof prefix - 1;
    size_t pool_size = strcspn(pool, "/?");
    unsigned number = pool[pool_size] == '?' ? (unsigned)strtoul(pool + pool_size + 1, NULL, 10) : 1;
    const char *name = pool + strcspn(pool, "/"), *options = name + strcspn(name, "?");
    u9r_env *e = u9r_env_new(), *found = NULL;
    snprintf(why, size, "out of memory");
    if (e == NULL || !parse(e, pool, *name ? pool_size : 0, *options ? options + 1 : "", why, size)) {
        free(e);
        return false;
    }
    pthread_mutex_lock(&lock);
    if (*options == 0) found = env_numbered(e->pool, number);
    if (found == NULL && number == 1) found = keep_env(e);
    if (found != e) free(e);
    *rest = found ? path_in(found, name, (size_t)(options - name)) : NULL;
    if (found) *env = &found->env;
    pthread_mutex_unlock(&lock);
    return *rest != NULL;
}

int u9r_path_in(const u9r_env *e, const char *path, const char **in)
{
    char begin[U9R_POOL_MAX + 32];
    *in = path;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0) return 0;
    if (e->number > 1) snprintf(begin, sizeof begin, "%s%s?%u", prefix, e->pool, e->number);
    else snprintf(begin, sizeof begin, "%s%s", prefix, e->pool);
    size_t n = strlen(begin);
    if (strncmp(path, begin, n) != 0 || (path[n] != '/' && path[n] != 0)) return -EXDEV;
    *in = path + n;
    return 0;
}
