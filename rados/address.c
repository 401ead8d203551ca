/*
 * rados/address.c: rados:POOL/NAME[?conf=FILE&namespace=NS&timeout=S&lease=S&wait=S&grace=S], read as engine/os/address.h
 * says. [RD-2]
 */
#include "rados/rados.h"

#define FIELD(name) .off = offsetof(u9r_env, name), .size = sizeof((u9r_env *)NULL)->name

static const u9i_address_option options[] = {
    {"conf=FILE", .kind = U9I_OPTION_TEXT, FIELD(conf)},
    {"namespace=NS", .preset = "u9", .kind = U9I_OPTION_TEXT, FIELD(space)},
    {"timeout=S", .preset = "30", .kind = U9I_OPTION_NUMBER, FIELD(timeout_s), .unit = 1, .min = 1, .max = 3600},
    {"lease=S (0.5 or more)", .preset = "10", .kind = U9I_OPTION_NUMBER, FIELD(lease_ms), .unit = 1000, .min = 500,
     .max = 3600000},
    {"wait=S", .kind = U9I_OPTION_NUMBER, FIELD(wait_ms), .unit = 1000, .max = 3600000},
    {"grace=S", .preset = "60", .kind = U9I_OPTION_NUMBER, FIELD(grace_s), .unit = 1, .max = 86400},
};

static bool complete(u9i_env *env, char *why, size_t size)
{
    (void)why, (void)size;
    return pthread_mutex_init(&u9r_env_of(env)->lock, NULL) == 0;
}

static const u9i_address_type type = {
    .prefix = "rados:", .form = "rados:POOL/NAME", .env = {.name = "rados", .fs = &u9r_fs, .queue = &u9r_queue_type,
    .watch = &u9r_watch_type}, .size = sizeof(u9r_env), .pool_off = offsetof(u9r_env, pool), .pool_size = U9R_POOL_MAX,
    .named = true, .options = options, .count = sizeof options / sizeof *options, .complete = complete};

bool u9r_find(const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    return u9r_host->find(&type, path, env, rest, why, size);
}

int u9r_path_in(const u9r_env *e, const char *path, const char **in)
{
    return u9r_host->path_in(&e->env, path, in);
}
