/*
 * s3/address.c: s3://BUCKET/PREFIX[?cache=DIR&cache_size=SIZE&timeout=S], read as engine/os/address.h says. [TR-1]
 */
#include "s3/s3.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_SIZE (UINT64_C(64) << 20)
#define DISK_SIZE (UINT64_C(1) << 30)
#define FIELD(name) .off = offsetof(u9s_env, name), .size = sizeof((u9s_env *)NULL)->name

static const u9i_address_option options[] = {
    {"cache=DIR", .variable = "U9_S3_CACHE", .kind = U9I_OPTION_TEXT, FIELD(cache_dir)},
    {"cache_size=SIZE (1M to 1024G)", .variable = "U9_S3_CACHE_SIZE", .kind = U9I_OPTION_SIZE, FIELD(cache_size), .unit = 1,
     .min = 1 << 20, .max = UINT64_C(1) << 40},
    {"timeout=S (1 to 3600)", .preset = "30", .kind = U9I_OPTION_NUMBER, FIELD(timeout_s), .unit = 1, .min = 1, .max = 3600},
};

static uint64_t identity_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

static bool complete(u9i_env *env, char *why, size_t size)
{
    u9s_env *e = u9s_env_of(env);
    size_t n = strlen(e->bucket);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)e->bucket[i]) && !strchr("-._", e->bucket[i])) n = 0;
    if (n < 3) snprintf(why, size, "a bucket's name has 3 to %d letters, digits, '-', '.' and '_'", U9S_BUCKET_MAX - 1);
    if (e->cache_size == 0) e->cache_size = e->cache_dir[0] ? DISK_SIZE : MEMORY_SIZE;
    e->identity = identity_of(e->bucket);
    pthread_mutex_init(&e->lock, NULL);
    return n >= 3;
}

static const u9i_address_type type = {
    .prefix = "s3://", .form = "s3://BUCKET/PREFIX", .env = {.name = "s3", .fs = &u9s_fs, .queue = &u9s_queue_type,
    .watch = &u9s_watch_type}, .size = sizeof(u9s_env), .pool_off = offsetof(u9s_env, bucket), .pool_size = U9S_BUCKET_MAX,
    .options = options, .count = sizeof options / sizeof *options, .complete = complete};

bool u9s_find(const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    return u9s_host->find(&type, path, env, rest, why, size);
}

int u9s_key_of(const u9s_env *e, const char *path, char key[U9S_KEY_MAX])
{
    int err = u9s_host->path_in(&e->env, path, &path);
    if (err != 0) return err;
    path += strspn(path, "/");
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/') n--;
    if (n >= U9S_KEY_MAX - U9S_NAME_MAX) return -ENAMETOOLONG;
    memcpy(key, path, n);
    key[n] = 0;
    return 0;
}
