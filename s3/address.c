/*
 * s3/address.c: s3://BUCKET/PREFIX[?cache=DIR&cache_size=SIZE&timeout=S]. [TR-1]
 *
 * As rados/address.c: what stands behind the question mark chooses the env; what is left is the path in it, s3://BUCKET/PREFIX
 * in the first env of its bucket, s3://BUCKET?2/PREFIX in the second. Both are kept for the life of the process.
 */
#include "s3/s3.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "s3://";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static u9s_env *envs;
static struct kept {
    struct kept *next;
    char path[];
} *paths;

#define MEMORY_SIZE (UINT64_C(64) << 20)
#define DISK_SIZE (UINT64_C(1) << 30)

u9s_env *u9s_env_new(void)
{
    u9s_env *e = calloc(1, sizeof *e);
    if (e == NULL) return NULL;
    u9i_env *system = u9s_host->system;
    e->env = (u9i_env){.name = "s3", .fs = &u9s_fs, .queue = &u9s_queue_type, .watch = &u9s_watch_type,
                       .clock = system->clock, .random = system->random, .machine = system->machine,
                       .executor = system->executor};
    e->timeout_s = 30;
    pthread_mutex_init(&e->lock, NULL);
    return e;
}

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

static bool take_text(const char *value, size_t n, char *out, size_t size)
{
    if (n == 0 || n >= size) return false;
    memcpy(out, value, n);
    out[n] = 0;
    return true;
}

/* "1M" to "1024G" */
static bool take_size(const char *value, size_t n, uint64_t *out)
{
    char text[16], *end;
    if (!take_text(value, n, text, sizeof text) || !isdigit((unsigned char)text[0])) return false;
    uint64_t size = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (size > UINT64_C(1) << 40 || end[shift > 0] != 0) return false;
    *out = size << shift;
    return *out >= 1 << 20 && *out <= UINT64_C(1) << 40;
}

static bool take_option(u9s_env *e, const char *text, size_t n)
{
    const char *is = memchr(text, '=', n);
    uint64_t number;
    if (is == NULL) return false;
    size_t key = (size_t)(is - text), rest = n - key - 1;
#define KEY(word) (key == strlen(word) && memcmp(text, word, key) == 0)
    if (KEY("cache")) return take_text(is + 1, rest, e->cache_dir, sizeof e->cache_dir);
    if (KEY("cache_size")) return take_size(is + 1, rest, &e->cache_size);
    if (!KEY("timeout") || rest == 0 || rest > 4 || strspn(is + 1, "0123456789") < rest) return false;
#undef KEY
    number = strtoull(is + 1, NULL, 10);
    e->timeout_s = (unsigned)number;
    return number >= 1 && number <= 3600;
}

/* What the environment says of an address that does not. */
static bool take_defaults(u9s_env *e)
{
    const char *dir = getenv("U9_S3_CACHE"), *size = getenv("U9_S3_CACHE_SIZE");
    if (e->cache_dir[0] == 0 && dir && dir[0] && !take_text(dir, strlen(dir), e->cache_dir, sizeof e->cache_dir)) return false;
    if (e->cache_size == 0 && size && size[0] && !take_size(size, strlen(size), &e->cache_size)) return false;
    if (e->cache_size == 0) e->cache_size = e->cache_dir[0] ? DISK_SIZE : MEMORY_SIZE;
    return true;
}

static uint64_t identity_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

static bool parse(u9s_env *e, const char *bucket, size_t n, const char *options, char *why, size_t size)
{
    bool named = n >= 3 && take_text(bucket, n, e->bucket, sizeof e->bucket);
    for (size_t i = 0; i < n && named; i++) named = isalnum((unsigned char)bucket[i]) || strchr("-._", bucket[i]);
    if (!named) {
        snprintf(why, size, "an address is s3://BUCKET/PREFIX");
        return false;
    }
    for (const char *at = options; *at;) {
        size_t length = strcspn(at, "&");
        if (!take_option(e, at, length)) {
            snprintf(why, size, "'%.*s' is none of cache=DIR, cache_size=SIZE (1M to 1024G), timeout=S (1 to 3600)",
                     (int)(length < 60 ? length : 60), at);
            return false;
        }
        at += length + (at[length] == '&');
    }
    snprintf(why, size, "U9_S3_CACHE is too long, or U9_S3_CACHE_SIZE is none of 1M to 1024G");
    e->identity = identity_of(e->bucket);
    return take_defaults(e);
}

static bool same(const u9s_env *a, const u9s_env *b)
{
    return strcmp(a->bucket, b->bucket) == 0 && strcmp(a->cache_dir, b->cache_dir) == 0 &&
           a->cache_size == b->cache_size && a->timeout_s == b->timeout_s;
}

static u9s_env *env_numbered(const char *bucket, unsigned number)
{
    u9s_env *e = envs;
    while (e && (e->number != number || strcmp(e->bucket, bucket) != 0)) e = e->next;
    return e;
}

/* The env that is like `e`, or `e` itself, numbered then. The lock is held. */
static u9s_env *keep_env(u9s_env *e)
{
    unsigned number = 1;
    for (u9s_env *there = envs; there; there = there->next) {
        if (same(there, e)) return there;
        if (strcmp(there->bucket, e->bucket) == 0 && there->number >= number) number = there->number + 1;
    }
    e->number = number;
    e->next = envs;
    return envs = e;
}

static void begin_of(const u9s_env *e, char out[U9S_BUCKET_MAX + 32])
{
    if (e->number > 1) snprintf(out, U9S_BUCKET_MAX + 32, "%s%s?%u", prefix, e->bucket, e->number);
    else snprintf(out, U9S_BUCKET_MAX + 32, "%s%s", prefix, e->bucket);
}

static const char *path_in(const u9s_env *e, const char *name, size_t n)
{
    char path[U9S_KEY_MAX + 128], begin[U9S_BUCKET_MAX + 32];
    begin_of(e, begin);
    if (n >= U9S_KEY_MAX) return NULL;
    int length = snprintf(path, sizeof path, "%s%.*s", begin, (int)n, name);
    return keep_path(path, (size_t)length);
}

bool u9s_find(const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    const char *bucket = path + sizeof prefix - 1;
    size_t bucket_size = strcspn(bucket, "/?");
    unsigned number = bucket[bucket_size] == '?' ? (unsigned)strtoul(bucket + bucket_size + 1, NULL, 10) : 1;
    const char *name = bucket + strcspn(bucket, "/"), *options = name + strcspn(name, "?");
    u9s_env *e = u9s_env_new(), *found = NULL;
    snprintf(why, size, "out of memory");
    if (e == NULL || !parse(e, bucket, bucket_size, *options ? options + 1 : "", why, size)) {
        free(e);
        return false;
    }
    snprintf(why, size, "out of memory, or the prefix is longer than a key may be");
    pthread_mutex_lock(&lock);
    if (*options == 0) found = env_numbered(e->bucket, number);
    if (found == NULL && number == 1) found = keep_env(e);
    if (found != e) free(e);
    *rest = found ? path_in(found, name, (size_t)(options - name)) : NULL;
    if (found) *env = &found->env;
    pthread_mutex_unlock(&lock);
    return *rest != NULL;
}

int u9s_key_of(const u9s_env *e, const char *path, char key[U9S_KEY_MAX])
{
    char begin[U9S_BUCKET_MAX + 32];
    begin_of(e, begin);
    size_t n = strlen(begin);
    if (strncmp(path, begin, n) != 0 || (path[n] != '/' && path[n] != 0)) return -EXDEV;
    path += n;
    path += strspn(path, "/");
    n = strlen(path);
    while (n > 0 && path[n - 1] == '/') n--;
    if (n >= U9S_KEY_MAX - U9S_NAME_MAX) return -ENAMETOOLONG;
    memcpy(key, path, n);
    key[n] = 0;
    return 0;
}
