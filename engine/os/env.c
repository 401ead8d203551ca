/*
 * engine/os/env.c: which env a log gets.
 */
#include "engine/os/env.h"

#include "format/base/fault.h"

#include <stdlib.h>
#include <string.h>

static u9i_env *registered; /* tests only */

void u9i_env_register(u9i_env *env)
{
    registered = env;
}

static u9i_env *env_called(const char *name)
{
    bool any = name == NULL || name[0] == 0;
    if (registered && !any && strcmp(name, registered->name) == 0) return registered;
    if ((any || strcmp(name, "uring") == 0) && u9i_uring_usable()) return &u9i_env_uring;
    if (any || strcmp(name, "posix") == 0) return &u9i_env_posix;
    return NULL;
}

u9_err u9i_env_choose(const char *name, u9i_env **out, u9_fault *fault)
{
    if (name == NULL || name[0] == 0) name = getenv("U9_IO");
    u9i_env *env = env_called(name);
    if (env == NULL)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "the io table '%s' is not to be had here (posix, uring)",
                         name);
    *out = env;
    return U9_OK;
}
