/*
 * engine/os/address.h: addresses in what stores bring: PREFIX POOL/NAME[?KEY=VALUE&...], read in one way for all of them.
 *
 * What stands behind the question mark chooses the env; what is left is the path in it: rados:POOL/NAME in the first env of
 * its pool, rados:POOL?2/NAME in the second. So an address without options means those of the first one, and what is left
 * may be given again. Both are kept for the life of the process: nobody says when a path is not used any more. Any thread.
 */
#ifndef U9I_ADDRESS_H
#define U9I_ADDRESS_H

#include "engine/os/env.h"

typedef enum u9i_option_kind {
    U9I_OPTION_TEXT,   /* char[size], one character and its end at least */
    U9I_OPTION_NUMBER, /* unsigned, in units: "0.5" of 1000 is 500 */
    U9I_OPTION_SIZE    /* uint64_t, with K, M or G behind */
} u9i_option_kind;

typedef struct u9i_address_option {
    const char *form;     /* "timeout=S (1 to 3600)": the key, '=', and what a message says of the value */
    const char *variable; /* of the environment: of who gives no such option; NULL: none */
    const char *preset;   /* as if it were given, where nothing else is; NULL: the field is zero then */
    u9i_option_kind kind;
    size_t off, size;     /* the field of the env */
    unsigned unit;
    uint64_t min, max;    /* as they are in the field */
} u9i_address_option;

typedef struct u9i_address_type {
    const char *prefix, *form; /* "rados:", "rados:POOL/NAME" */
    u9i_env env;               /* its name and calls; clock, randomness, machine and executor are the system's */
    size_t size;               /* of an env, which begins with that */
    size_t pool_off, pool_size; /* where its pool is, char[pool_size] */
    bool named;                /* an address has a NAME, always */
    const u9i_address_option *options; /* 32 at most */
    unsigned count;
    bool (*complete)(u9i_env *env, char *why, size_t size); /* what else an env needs; false: `why` is a sentence */
} u9i_address_type;

/* The env of an address that begins with the prefix, and the path in it. False: `why` is a sentence, or empty: out of memory. */
bool u9i_address_find(const u9i_address_type *type, const char *path, u9i_env **env, const char **rest, char *why,
                      size_t size);

/* `path` without prefix and pool, if it has them. -EXDEV: it is of another env than this one, which was found so. */
int u9i_address_path_in(const u9i_env *env, const char *path, const char **in);

#endif
