/*
 * tools/appended.c: see appended.h.
 */
#include "tools/appended.h"

#include "tools/tool.h"

#include <inttypes.h>
#include <string.h>

void tool_appended_add(tool_appended *a, const u9_place *place, uint64_t size)
{
    a->last = place->ordinal;
    a->records++;
    a->bytes += size;
    a->waiting += size + 1;
}

const char *tool_appended_before(const tool_appended *a, char out[TOOL_BEFORE_SIZE])
{
    snprintf(out, TOOL_BEFORE_SIZE, "%" PRIu64 " record%s appended before it", a->records,
             a->records == 1 ? " was" : "s were");
    return out;
}

int tool_appended_refused(tool_appended *a)
{
    char text[1024], count[TOOL_BEFORE_SIZE];
    u9_fault fault;
    if (a->failed) return TOOL_IO;
    a->failed = true;
    u9_log_fault(a->log, &fault);
    return tool_say(tool_fault_status(&fault), "%s; at %s%s%" PRIu64 ", %s",
                    u9_fault_line(&fault, text, sizeof text), a->at, a->unit, a->number, tool_appended_before(a, count));
}

int tool_appended_commit(tool_appended *a)
{
    if (a->waiting == 0) return TOOL_DONE;
    a->waiting = 0;
    u9_err err = u9_log_commit(a->log, a->last);
    return err == U9_OK || err == U9_AGAIN ? TOOL_DONE : tool_appended_refused(a);
}

/* All is written and synced: what failed then is that the log was to be trimmed. */
static bool is_of_trim(const u9_fault *fault)
{
    return strcmp(fault->rule, "L-10") == 0;
}

int tool_appended_close(tool_appended *a, int status)
{
    u9_fault fault;
    uint64_t durable = u9_log_durable(a->log);
    u9_err err = u9_log_close(a->log, &fault);
    a->log = NULL;
    a->durable = err == U9_OK || is_of_trim(&fault);
    if (err != U9_OK && !a->failed) status = tool_fault(&fault);
    if (!a->durable && a->records > 0 && durable <= a->last)
        tool_say(0, "records from ordinal %" PRIu64 " on are not known to be durable", durable);
    return status;
}
