/*
 * tools/store.c: see store.h.
 *
 * The library is looked for beside the tool and in ../lib, as in a build folder and where it is installed, then wherever
 * the system looks.
 */
#include "tools/store.h"

#include "tools/tool.h"

#include <u9/store.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char library[] = "libu9-rados.so.0";

static void *load_beside(const char *folder)
{
    char path[4400];
    ssize_t n = readlink("/proc/self/exe", path, 4096);
    if (n <= 0) return NULL;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (slash == NULL) return NULL;
    snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%s%s", folder, library);
    return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW) : NULL;
}

static _Noreturn void refuse(int status, const char *address, const char *why)
{
    exit(tool_say(status, "%s: logs in Ceph need libu9-rados, which cannot be used here: %s", address, why));
}

static void load(const char *address, int status)
{
    u9_fault fault;
    void *handle = load_beside("");
    if (handle == NULL) handle = load_beside("../lib/");
    if (handle == NULL) handle = dlopen(library, RTLD_NOW);
    if (handle == NULL) refuse(status, address, dlerror());
    void *found = dlsym(handle, "u9_rados_store");
    u9_store_fn *store;
    memcpy(&store, &found, sizeof store); /* ISO C has no cast for it */
    if (u9_store_add(store, &fault) != U9_OK) refuse(status, address, fault.text);
}

void tool_load_stores(int argc, char **argv, int status)
{
    for (int i = 1; i < argc; i++) {
        const char *address = strstr(argv[i], "rados:");
        bool begins = address == argv[i] || (address && argv[i][0] == '-' && address[-1] == '=');
        if (!begins) continue;
        load(address, status);
        return;
    }
}
