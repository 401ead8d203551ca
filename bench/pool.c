/*
 * bench/pool.c: see pool.h.
 */
#include "bench/pool.h"

#include "bench/engine.h"
#include "bench/pool_objects.h"
#include "tools/shared.h"

#include <u9/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool is_pool(const char *dir)
{
    return strncmp(dir, "rados:", 6) == 0;
}

void pool_load(void)
{
    const char *why = "";
    u9_store_fn *store;
    u9_fault fault = {0};
    void *handle = tool_shared("libu9-rados.so.0", &why);
    if (handle && tool_shared_find(handle, "u9_rados_store", &store, &why) && u9_store_add(store, &fault) == U9_OK) return;
    fprintf(stderr, "u9bench: libu9-rados cannot be used here: %s\n", fault.text[0] ? fault.text : why);
    exit(4);
}

bool pool_address(const char *dir, char *out, size_t size)
{
    const char *options = strchr(dir, '?');
    size_t name = options ? (size_t)(options - dir) : strlen(dir);
    int n = snprintf(out, size, "%.*s?%s%snamespace=u9bench.%ld", (int)name, dir, options ? options + 1 : "",
                     options ? "&" : "", (long)getpid());
    return n > 0 && (size_t)n < size;
}

void pool_clear(const char *address)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        remove_objects(address);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) die("the pool could not be emptied", NULL);
}
