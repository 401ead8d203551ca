/*
 * tools/drop.c: see drop.h.
 */
#include "tools/drop.h"

#include "tools/args.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <u9.h>

#include <inttypes.h>
#include <stdio.h>

void tool_drop_ask(tool_drop *d, const char *option)
{
    if (d->asked) tool_usage("%s and %s: one of them at a time", d->asked, option);
    d->asked = option;
}

struct segments {
    uint64_t count, newest;
};

static void count_segment(void *ctx, const u9_index_info *info)
{
    struct segments *s = ctx;
    s->count++;
    s->newest = info->segment;
}

void tool_drop_put_why(const char *path, const char *several)
{
    struct segments s = {0};
    u9_index_options look = {.size = sizeof look, .on_segment = count_segment, .ctx = &s};
    u9_index_report indexes = {.size = sizeof indexes};
    u9_check_options options = {.size = sizeof options};
    u9_report r = {.size = sizeof r};
    u9_fault fault;
    char name[TOOL_SEGMENT_SIZE], word[TOOL_COMMAND_WORD_SIZE];
    if (u9_indexes_look(path, &look, &indexes, &fault) != U9_OK) return;
    if (s.count > 1 && several) printf("%s: none of its %" PRIu64 " segments %s\n", tool_shown(path), s.count, several);
    if (s.count != 1 || u9_check(path, &options, &r, &fault) != U9_OK) return;
    printf("%s: its only segment, %s, is the newest, which stays: ", tool_shown(path), tool_segment_text(s.newest, name));
    if (r.verdict >= U9_V_UNKNOWN) printf("it is damaged, and `u9fsck %s` says what to do\n", tool_command_word(path, word));
    else if (r.closed) puts("the next `u9 append` goes on in it, until it is full (--segment-size SIZE) and another begins");
    else puts("it is being written, or a killed writer left it: then the next `u9 append` begins another");
}

bool tool_drop_parse(tool_drop *d, int key, char *arg, struct argp_state *state)
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
    default: return tool_argp_log(key, arg, state, &d->path) == 0;
    }
    return true;
}
