/*
 * tools/store.c: see store.h.
 */
#include "tools/store.h"

#include "tools/shared.h"
#include "tools/tool.h"

#include <u9/store.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The libraries that bring places for logs; a log of one may be tiered to what a later one brings. */
static const struct library {
    const char *prefix, *file, *function, *what, *package;
} libraries[] = {
    {"rados:", "libu9-rados.so.0", "u9_rados_store", "logs in Ceph need libu9-rados", "libu9-rados0"},
    {"s3://", "libu9-s3.so.0", "u9_s3_store", "segments in S3 need libu9-s3", "libu9-s3-0"},
};

enum { LIBRARIES = sizeof libraries / sizeof *libraries, FRONT = 8192 };

static _Noreturn void refuse(const struct library *l, int status, const char *address, const char *why)
{
    exit(tool_say(status, "%s: %s, which cannot be used here: %s (Debian: %s)", address, l->what, why, l->package));
}

/* Without an address it is one that may be needed: where it cannot be had, libu9 says so when it is. */
static void load(const struct library *l, const char *address, int status)
{
    u9_fault fault = {0};
    u9_store_fn *store;
    const char *why = fault.text;
    void *handle = tool_shared(l->file, &why);
    bool added = handle && tool_shared_find(handle, l->function, &store, &why) && u9_store_add(store, &fault) == U9_OK;
    if (!added && address) refuse(l, status, address, why);
}

/* An address stands in the front of the log's file `.tier`. */
static bool is_tiered(const char *log, const char *prefix)
{
    char path[4200], front[FRONT];
    if (snprintf(path, sizeof path, "%s/.tier", log) >= (int)sizeof path) return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is for libu9 to refuse */
    if (file < 0) return false;
    ssize_t n = read(file, front, sizeof front);
    close(file);
    return n > 0 && memmem(front, (size_t)n, prefix, strlen(prefix)) != NULL;
}

static bool begins(const char *argument, const char *prefix)
{
    const char *address = strstr(argument, prefix);
    return address == argument || (address && argument[0] == '-' && address[-1] == '=');
}

/* The first argument that needs a library; `argc`: none does. */
static int who_needs(const struct library *l, int argc, char **argv)
{
    int i = 1;
    while (i < argc && !begins(argv[i], l->prefix) && (argv[i][0] == '-' || !is_tiered(argv[i], l->prefix))) i++;
    return i;
}

void tool_load_stores(int argc, char **argv, int status)
{
    bool elsewhere = false; /* a log is not of this machine's files: what its `.tier` names is not known before it is opened */
    for (size_t l = 0; l < LIBRARIES; l++) {
        int i = who_needs(&libraries[l], argc, argv);
        if (i < argc || elsewhere) load(&libraries[l], i < argc ? argv[i] : NULL, status);
        elsewhere |= i < argc && begins(argv[i], libraries[l].prefix);
    }
}
