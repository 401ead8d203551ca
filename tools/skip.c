/*
 * tools/skip.c: see skip.h.
 */
#include "tools/skip.h"

#include "tools/text.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdarg.h>

int tool_skip(tool_skips *skips, const char *format, ...)
{
    char text[2048];
    va_list list;
    skips->count += skips->on != 0;
    if (skips->on && skips->count > SKIPS_SHOWN) return TOOL_DONE;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tool_say(0, "%s%s", text, skips->on ? "; skipped" : "");
    return skips->on ? TOOL_DONE : TOOL_REFUSED;
}

int tool_skips_end(const tool_skips *skips, int status)
{
    if (skips->count == 0) return status;
    tool_say(0, "%" PRIu64 " %s%s skipped%s", skips->count, skips->what ? skips->what : "line",
             skips->count == 1 ? " was" : "s were", skips->count > SKIPS_SHOWN ? ", the first 5 are named above" : "");
    return status == TOOL_DONE ? TOOL_REFUSED : status;
}
