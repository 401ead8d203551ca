/*
 * tools/store.c: see store.h.
 */
#include "tools/store.h"

#include "tools/shared.h"
#include "tools/tool.h"

#include <u9/store.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void refuse(int status, const char *address, const char *why)
{
    exit(tool_say(status,
                  "%s: logs in Ceph need libu9-rados, which cannot be used here: %s "
                  "(Debian: libu9-rados0)",
                  address, why));
}

static void load(const char *address, int status)
{
    u9_fault fault;
    u9_store_fn *store;
    const char *why;
    void *handle = tool_shared("libu9-rados.so.0", &why);
    if (handle == NULL || !tool_shared_find(handle, "u9_rados_store", &store, &why))
        refuse(status, address, why);
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
