/*
 * engine/os/store.h: other places for logs than the system's files: what a library beside this one gives, and what it is
 * lent. Both are built from one source, and say so (version, env_size): what stands here changes freely.
 */
#ifndef U9I_STORE_H
#define U9I_STORE_H

#include <u9/store.h>

#include "engine/os/address.h"

struct u9_store_host {
    const char *version; /* U9_VERSION_TEXT */
    size_t env_size;     /* sizeof(u9i_env), for who was built from another source */
    bool (*find)(const u9i_address_type *type, const char *path, u9i_env **env, const char **rest, char *why, size_t size);
    int (*path_in)(const u9i_env *env, const char *path, const char **in); /* both: engine/os/address.h */
    void (*acquire)(void); /* a part in the executor's threads: engine/os/pool.h */
    void (*release)(void);
    unsigned (*forks)(void); /* engine/os/process.h */
};

struct u9_store {
    const char *prefix; /* of the paths that are its own: "rados:" */
    /*
     * The env for a path that begins so, and the path as that env takes it: valid as long as the process. False: `why`
     * is a sentence, or empty: out of memory. Any thread.
     */
    bool (*find)(const char *path, u9i_env **env, const char **rest, char *why, size_t size);
    /* What is known of the last call of this thread that failed with this errno, as ": ..."; "" if nothing is. Once. */
    void (*explain)(int sys, char *out, size_t size);
};

/*
 * The env that a log of this path gets: that of the store that has its prefix, else the one called `io` (u9i_env_choose).
 * `io`, or U9_IO, may also be an address: then any path stands in that pool and namespace. `*path` becomes what
 * that env takes.
 */
U9_MUST_CHECK u9_err u9i_env_of(const char *io, const char **path, u9i_env **out, u9_fault *fault);

/*
 * The env of a place that a log names: that of the store that has its prefix, else `near`, the log's own. As u9i_env_of.
 */
U9_MUST_CHECK u9_err u9i_env_of_place(u9i_env *near, const char **path, u9i_env **out, u9_fault *fault);

/* `*path` as `env` takes it, which is that of a log, for what is to stand beside that. U9_ARG: it is of another place. */
U9_MUST_CHECK u9_err u9i_env_beside(u9i_env *env, const char **path, u9_fault *fault);

#endif
