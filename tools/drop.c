/*
 * tools/drop.c: see drop.h.
 */
#include "tools/drop.h"

#include "tools/args.h"
#include "tools/tool.h"

void tool_drop_ask(tool_drop *d, const char *option)
{
    if (d->asked) tool_usage("%s and %s: one of them at a time", d->asked, option);
    d->asked = option;
}

bool tool_drop_parse(tool_drop *d, int key, char *arg, const struct argp_state *state)
{
    switch (key) {
    case TOOL_KEEP:
        tool_drop_ask(d, "--keep");
        d->keep_bytes = tool_size("--keep", arg);
        if (d->keep_bytes == 0) d->keep_bytes = 1; /* the newest stays all the same */
        break;
    case TOOL_OLDER:
        tool_drop_ask(d, "--older");
        d->before_us = tool_time_or_age("--older", arg);
        break;
    case TOOL_DRY_RUN: d->dry_run = 1; break;
    case 'j': d->json = 1; break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) tool_usage("one LOG only: '%s' is too much", arg);
        d->path = arg;
        break;
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    default: return false;
    }
    return true;
}
