/*
 * tools/id_rados.c: see id_rados.h.
 */
#include "tools/id_rados.h"

#include "tools/args.h"
#include "tools/shared.h"
#include "tools/tool.h"

#include <u9/idgen.h>
#include <u9/rados.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Of libu9-rados, which is loaded when the address was met. */
static struct {
    __typeof__(u9_rados_numbers_new) *make;
    __typeof__(u9_rados_numbers_generator) *generator;
    __typeof__(u9_rados_numbers_free) *free;
} rados;

static bool load(const char **why)
{
    void *handle = tool_shared("libu9-rados.so.0", why);
    return handle && tool_shared_find(handle, "u9_rados_numbers_new", &rados.make, why) &&
           tool_shared_find(handle, "u9_rados_numbers_generator", &rados.generator, why) &&
           tool_shared_find(handle, "u9_rados_numbers_free", &rados.free, why);
}

static int status_of(u9_err err, const u9_fault *fault)
{
    if (err != U9_ARG && err != U9_AGAIN && err != U9_STATE) return tool_fault(fault);
    return tool_say(err == U9_ARG ? TOOL_USAGE : TOOL_REFUSED, "%s%s%s", fault->path, fault->path[0] ? ": " : "",
                    fault->text);
}

typedef struct asked {
    unsigned layout;
    u9_uid8_mode mode;
    uint64_t count; /* that are to be printed yet */
} asked;

/* [I-23] The number, the clock, the identifier, and that the number was held all the while: only then is it printed. */
static u9_err print_under(const u9_generator *source, const u9_grant *grant, asked *a, uint64_t *last_ms, u9_fault *fault)
{
    char text[U9_UID8_TEXT_SIZE + 1];
    struct timespec now;
    u9_uid8gen *gen = NULL;
    u9_uid8 id;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    const u9_uid8gen_options options = {.size = sizeof options, .layout = a->layout, .mode = a->mode,
                                        .generator = grant->generator, .cluster = grant->cluster,
                                        .seen_ms = grant->seen_ms > now_ms ? grant->seen_ms : now_ms,
                                        .tries_max = 10000};
    u9_err err = u9_uid8gen_new(&options, &gen, fault);
    while (err == U9_OK && a->count > 0 && !tool_stdout_failed()) {
        err = u9_uid8gen_next(gen, &id);
        if (err == U9_OK) err = source->renew(source->ctx, grant, id.timestamp_ms, fault);
        else snprintf(fault->text, sizeof fault->text, "the clock stands still, was set back, or is out of range");
        if (err == U9_OK) err = u9_uid8_format(&id, a->layout, text, NULL);
        if (err != U9_OK) break;
        puts(text);
        *last_ms = id.timestamp_ms;
        a->count--;
    }
    u9_uid8gen_free(gen);
    return err;
}

static int print(const u9_generator *source, asked *a)
{
    u9_err err = U9_OK;
    u9_fault fault = {0};
    while (err == U9_OK && a->count > 0 && !tool_stdout_failed()) {
        u9_grant grant;
        uint64_t last_ms = 0, before = a->count;
        err = source->acquire(source->ctx, &grant, &fault);
        if (err != U9_OK) break;
        err = print_under(source, &grant, a, &last_ms, &fault);
        fflush(stdout);
        source->release(source->ctx, &grant, last_ms);
        if (err == U9_AGAIN && a->count < before) err = U9_OK; /* a lease that was lost: under another number */
    }
    return err == U9_OK ? TOOL_DONE : status_of(err, &fault);
}

int tool_rados_numbers(const char *address, unsigned layout, unsigned cluster, u9_rados_numbers **out, u9_generator *source)
{
    const char *why;
    u9_fault fault = {0};
    if (strncmp(address, "rados:", 6) != 0) return tool_say(TOOL_USAGE, "--rados %s: not an address rados:POOL/NAME", address);
    if (!load(&why))
        return tool_say(TOOL_REFUSED, "%s: numbers from RADOS need libu9-rados, which cannot be used here: %s "
                        "(Debian: libu9-rados0)", address, why);
    const u9_rados_numbers_options options = {.size = sizeof options, .cluster = cluster,
                                              .count = (uint32_t)tool_generator_max(layout) + 1};
    u9_err err = rados.make(address, &options, out, &fault);
    if (err != U9_OK) return status_of(err, &fault);
    *source = rados.generator(*out);
    return TOOL_DONE;
}

void tool_rados_numbers_free(u9_rados_numbers *numbers)
{
    if (numbers) rados.free(numbers);
}

int tool_id_rados(const char *address, unsigned layout, u9_uid8_mode mode, unsigned cluster, uint64_t count)
{
    u9_generator source;
    u9_rados_numbers *numbers;
    asked a = {layout ? layout : U9_UID8_LAYOUT_MAX, mode, count};
    int status = tool_rados_numbers(address, a.layout, cluster, &numbers, &source);
    if (status != TOOL_DONE) return status;
    status = print(&source, &a);
    tool_rados_numbers_free(numbers);
    return status;
}
