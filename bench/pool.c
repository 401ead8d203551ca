/*
 * bench/pool.c: see pool.h.
 */
#include "bench/pool.h"

#include "bench/engine.h"
#include "bench/pool_objects.h"
#include "tools/shared.h"

#include <u9/store.h>

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *place_of(const char *dir)
{
    return strncmp(dir, POOL, strlen(POOL)) == 0 ? POOL : strncmp(dir, BUCKET, strlen(BUCKET)) == 0 ? BUCKET : NULL;
}

bool is_place(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void pool_load(const char *dir)
{
    bool bucket = is_place(place_of(dir), BUCKET);
    const char *why = "", *library = bucket ? "libu9-s3.so.0" : "libu9-rados.so.0";
    u9_store_fn *store;
    u9_fault fault = {0};
    void *handle = tool_shared(library, &why);
    if (handle && tool_shared_find(handle, bucket ? "u9_s3_store" : "u9_rados_store", &store, &why) &&
        u9_store_add(store, &fault) == U9_OK)
        return;
    fprintf(stderr, "u9bench: %s cannot be used here: %s\n", library, fault.text[0] ? fault.text : why);
    exit(4);
}

bool pool_address(const char *dir, char *out, size_t size)
{
    const char *options = strchr(dir, '?');
    int name = (int)(options ? (size_t)(options - dir) : strlen(dir));
    const char *more = options ? options + 1 : "";
    int n = is_place(place_of(dir), BUCKET)
                ? snprintf(out, size, "%.*s/u9bench.%ld%s%s", name, dir, (long)getpid(), options ? "?" : "", more)
                : snprintf(out, size, "%.*s?%s%snamespace=u9bench.%ld", name, dir, more, options ? "&" : "", (long)getpid());
    return n > 0 && (size_t)n < size;
}

/* In a process of its own, which has a connection then. */
static void clear(const char *address)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (is_place(place_of(address), BUCKET)) remove_keys(address);
        else remove_objects(address);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) die("what was stored could not be removed", NULL);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void remove_store(const char *dir)
{
    if (place_of(dir)) clear(dir);
    else nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
