/*
 * tools/numbers.c: see numbers.h.
 */
#include "tools/numbers.h"

#include "tools/args.h"
#include "tools/tool.h"

#include <u9/key.h>

#include <string.h>

static const char none[] =
    "keys of kind uid8 are made under a generator number that no other writer uses: --lock-file picks one that is "
    "free on this machine, --rados=ADDRESS one that is free in a cluster, --generator=N[,CLUSTER] gives one";

bool tool_numbers_parse(tool_numbers *n, int key, const char *arg)
{
    uint64_t cluster;
    switch (key) {
    case TOOL_GENERATOR:
        n->given = true;
        if (tool_generator("--generator", arg, &n->generator, &cluster)) n->cluster = cluster;
        tool_within("--generator", n->generator, 0, tool_generator_max(U9_UID8_LAYOUT_MAX), "");
        break;
    case TOOL_CLUSTER: n->cluster = tool_number("--cluster", arg); break;
    case TOOL_LOCK_FILE:
        n->locked = true;
        n->path = arg;
        break;
    case TOOL_RADOS: n->rados = arg; break;
    default: return false;
    }
    tool_within("--cluster", n->cluster, 0, U9_UID8_CLUSTER_MAX, "");
    return true;
}

static bool lacks_number(const tool_numbers *n, const char *kind)
{
    return !n->given && !n->locked && !n->rados && kind && strcmp(kind, "uid8") == 0;
}

void tool_numbers_check(const tool_numbers *n, bool made, u9_options *o)
{
    if (n->given && n->locked) tool_usage("--lock-file picks the number: --generator does not go with it");
    if (n->rados && (n->given || n->locked))
        tool_usage("--rados claims the number: --generator and --lock-file do not go with it");
    if (n->locked && n->path && !*n->path) tool_usage("--lock-file=: PATH is empty");
    if (made && lacks_number(n, o->kind)) tool_usage("%s", none);
    o->generator_given = n->given;
    o->generator = (uint32_t)n->generator;
    o->cluster = n->given ? (uint32_t)n->cluster : 0;
}

static int take_lock_file(tool_numbers *n, const char *path)
{
    char beside[4096 + 32];
    u9_lock_file_options lock = {.size = sizeof lock, .path = n->path, .cluster = (uint32_t)n->cluster};
    u9_fault fault;
    u9_err err = lock.path ? U9_OK : u9_lock_file_beside(path, beside, sizeof beside);
    if (err == U9_ARG) return tool_say(TOOL_REFUSED, "the path is empty");
    if (err != U9_OK) return tool_say(TOOL_REFUSED, "%s: the path is too long", path);
    if (!lock.path) lock.path = beside;
    if (u9_lock_file_new(&lock, &n->lock_file, &fault) != U9_OK) return tool_fault(&fault);
    n->source = u9_lock_file_generator(n->lock_file);
    return TOOL_DONE;
}

int tool_numbers_take(tool_numbers *n, const char *path, u9_options *o)
{
    int status = TOOL_DONE;
    if (!n->locked && !n->rados) return status;
    if (n->locked) status = take_lock_file(n, path);
    else status = tool_rados_numbers(n->rados, U9_UID8_LAYOUT_MAX, (unsigned)n->cluster, &n->claim, &n->source);
    if (status == TOOL_DONE) o->numbers = &n->source;
    return status;
}

int tool_numbers_suffice(const tool_numbers *n, const char *path, const char *kind)
{
    return lacks_number(n, kind) ? tool_say(TOOL_REFUSED, "%s: %s", path, none) : TOOL_DONE;
}

void tool_numbers_free(tool_numbers *n)
{
    u9_lock_file_free(n->lock_file);
    n->lock_file = NULL;
    tool_rados_numbers_free(n->claim);
    n->claim = NULL;
}
