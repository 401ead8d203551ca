/*
 * engine/os/store.c: see store.h: which stores were added, and whose a path is.
 */
#include "engine/os/store.h"

#include "engine/os/pool.h"
#include "engine/os/process.h"
#include "format/base/fault.h"

#include <u9.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORES_MAX = 4 };

static const u9_store *stores[STORES_MAX];
static unsigned count;

static const u9_store_host host = {
    .version = U9_VERSION_TEXT, .env_size = sizeof(u9i_env), .find = u9i_address_find, .path_in = u9i_address_path_in,
    .acquire = u9i_pool_acquire, .release = u9i_pool_release, .forks = u9i_fork_generation};

static void explain(u9_fault *fault)
{
    for (unsigned i = 0; i < count; i++) {
        char text[sizeof fault->text] = "";
        stores[i]->explain(fault->sys, text, sizeof text);
        if (text[0]) u9i_fault_add(fault, "%s", text);
    }
}

u9_err u9_store_add(u9_store_fn *store, u9_fault *fault)
{
    if (store == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "no store is given");
    const u9_store *s = store(&host);
    if (s == NULL)
        return u9i_fault(fault, U9_VERSION, U9I_AT(), "the library that is to be added is not of version %s",
                         U9_VERSION_TEXT);
    for (unsigned i = 0; i < count; i++)
        if (stores[i] == s) return U9_OK;
    if (count == STORES_MAX) return u9i_fault(fault, U9_LIMIT, U9I_AT(), "%d stores are there already", STORES_MAX);
    stores[count++] = s;
    u9i_fault_explain = explain;
    return U9_OK;
}

static const u9_store *store_of(const char *path)
{
    for (unsigned i = 0; i < count && path; i++)
        if (strncmp(path, stores[i]->prefix, strlen(stores[i]->prefix)) == 0) return stores[i];
    return NULL;
}

u9_err u9i_env_of(const char *io, const char **path, u9i_env **out, u9_fault *fault)
{
    char why[200] = "";
    const char *rest, *base = io && io[0] ? io : getenv("U9_IO");
    const u9_store *own = store_of(*path), *s = own ? own : store_of(base);
    if (s == NULL) return u9i_env_choose(io, out, fault);
    if (!s->find(own ? *path : base, out, &rest, why, sizeof why))
        return u9i_fault(fault, why[0] ? U9_ARG : U9_NOMEM, U9I_AT(.path = *path), "%s", why[0] ? why : "out of memory");
    if (own) *path = rest;
    return U9_OK;
}

/* An env that one of the stores brought. */
static bool is_elsewhere(const u9i_env *env)
{
    size_t n = strlen(env->name);
    unsigned i = 0;
    while (i < count && (strncmp(stores[i]->prefix, env->name, n) != 0 || stores[i]->prefix[n] != ':')) i++;
    return i < count;
}

u9_err u9i_env_of_place(u9i_env *near, const char **path, u9i_env **out, u9_fault *fault)
{
    const char *colon = strstr(*path, "://");
    if (store_of(*path)) return u9i_env_of(NULL, path, out, fault);
    if (colon && colon == *path + strcspn(*path, "/:"))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = *path),
                         "no library was added for addresses that begin so (s3:// is libu9-s3's)");
    if (is_elsewhere(near) && store_of(getenv("U9_IO")) == NULL)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = *path),
                         "a log that does not stand in a folder has no folder for a place: s3://..., or an address as its own");
    *out = near;
    return U9_OK;
}

u9_err u9i_env_beside(u9i_env *env, const char **path, u9_fault *fault)
{
    if (env->host) env = env->host;
    u9i_env *its = env;
    bool elsewhere = is_elsewhere(env);
    if (store_of(*path) || (elsewhere && store_of(getenv("U9_IO")))) {
        u9_err err = u9i_env_of(NULL, path, &its, fault);
        if (err != U9_OK) return err;
    } else if (elsewhere) {
        its = NULL;
    }
    if (its == env) return U9_OK;
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = *path), "it must stand where the log does: in the same pool, or here; a merge goes from anywhere to anywhere");
}
