/*
 * tools/id_zookeeper.c: see id_zookeeper.h. The build sets U9_ZOOKEEPER to 1 if libu9-zk is linked.
 */
#include "tools/id_zookeeper.h"

#include "tools/tool.h"

#if U9_ZOOKEEPER

#include <u9/zk.h>

enum { WAIT_MS = 60000 };

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
        u9_err err = u9_zk_next(claim, &id, &fault);
        if (err != U9_OK) return status_of(err, &fault);
        if (u9_uid8_format(&id, layout, text, NULL) != U9_OK)
            return tool_say(TOOL_IO, "an identifier has no text");
        puts(text);
    }
    return TOOL_DONE;
}

int tool_id_zookeeper(const char *address, unsigned layout, u9_uid8_mode mode, uint64_t count)
{
    u9_zk_options options = {.size = sizeof options,
                             .layout = layout ? layout : 1,
                             .mode = mode,
                             .wait_ms_max = WAIT_MS};
    u9_zk_claim *claim = NULL;
    u9_fault fault;
    u9_err err = u9_zk_open(address, &options, &claim, &fault);
    if (err != U9_OK) return status_of(err, &fault);
    int status = print(claim, options.layout, count);
    fflush(stdout);
    u9_zk_close(claim);
    return status;
}

#else

int tool_id_zookeeper(const char *address, unsigned layout, u9_uid8_mode mode, uint64_t count)
{
    (void)layout, (void)mode, (void)count;
    return tool_say(TOOL_REFUSED, "%s: this u9 was built without ZooKeeper: install "
                    "libzookeeper-mt-dev, then run `make` again", address);
}

#endif
