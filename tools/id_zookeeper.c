/*
 * tools/id_zookeeper.c: see id_zookeeper.h.
 */
#include "tools/id_zookeeper.h"

#include "tools/shared.h"
#include "tools/tool.h"

#include <u9/zk.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of libu9-zk, once it is loaded. */
static struct {
    __typeof__(u9_zk_open) *open;
    __typeof__(u9_zk_next) *next;
    __typeof__(u9_zk_close) *close;
} zk;

static bool load(const char **why)
{
    void *handle = tool_shared("libu9-zk.so.0", why);
    return handle && tool_shared_find(handle, "u9_zk_open", &zk.open, why) &&
           tool_shared_find(handle, "u9_zk_next", &zk.next, why) &&
           tool_shared_find(handle, "u9_zk_close", &zk.close, why);
}

/* The line that is said after a second. */
static char waits[U9_ZK_HOSTS_MAX + U9_ZK_PATH_MAX + 100];

static void say_that_it_waits(int number)
{
    int sys = errno;
    (void)number;
    (void)!write(STDERR_FILENO, waits, strlen(waits));
    errno = sys;
}

/* The library's threads take no signals, so it comes to this one, also within a call. */
static void watch_the_wait(const char *address, unsigned wait_s)
{
    struct sigaction say = {.sa_handler = say_that_it_waits, .sa_flags = SA_RESTART};
    sigemptyset(&say.sa_mask);
    snprintf(waits, sizeof waits, "%s: %s: waiting for a number, up to %u s\n", tool_name(),
             address, wait_s);
    sigaction(SIGALRM, &say, NULL);
}

static int status_of(u9_err err, const u9_fault *fault)
{
    if (err != U9_ARG && err != U9_AGAIN) return tool_fault(fault);
    return tool_say(err == U9_ARG ? TOOL_USAGE : TOOL_REFUSED, "%s: %s", fault->path, fault->text);
}

static int print(u9_zk_claim *claim, unsigned layout, uint64_t count)
{
    char text[U9_UID8_TEXT_SIZE + 1];
    u9_uid8 id;
    u9_fault fault;
    for (uint64_t i = 0; i < count && !tool_stdout_failed(); i++) {
        alarm(1);
        u9_err err = zk.next(claim, &id, &fault);
        alarm(0);
        if (err != U9_OK) return status_of(err, &fault);
        if (u9_uid8_format(&id, layout, text, NULL) != U9_OK)
            return tool_say(TOOL_IO, "an identifier has no text");
        puts(text);
    }
    return TOOL_DONE;
}

int tool_id_zookeeper(const char *address, unsigned layout, u9_uid8_mode mode, uint64_t count,
                      unsigned wait_s)
{
    const char *why;
    if (!load(&why))
        return tool_say(TOOL_REFUSED,
                        "%s: numbers from ZooKeeper need libu9-zk, which cannot be used here: %s "
                        "(Debian: libu9-zk0)",
                        address, why);
    u9_zk_options options = {.size = sizeof options,
                             .layout = layout ? layout : 1,
                             .mode = mode,
                             .wait_ms_max = wait_s * 1000};
    u9_zk_claim *claim = NULL;
    u9_fault fault;
    u9_err err = zk.open(address, &options, &claim, &fault);
    if (err != U9_OK) return status_of(err, &fault);
    watch_the_wait(address, wait_s);
    int status = print(claim, options.layout, count);
    fflush(stdout);
    zk.close(claim);
    return status;
}
