/*
 * tools/drop.h: what `u9 trim` and `u9 tier` are asked to drop, of which log: the options that both have.
 */
#ifndef U9_TOOLS_DROP_H
#define U9_TOOLS_DROP_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tool_drop {
    const char *path;
    const char *asked;              /* the option that says what goes; NULL: none yet */
    uint64_t keep_bytes, before_us; /* as in u9_trim and u9_tier_options */
    int dry_run, json;
} tool_drop;

enum { TOOL_KEEP = 0x2000, TOOL_OLDER, TOOL_DRY_RUN };

/* Rows of a verb's table of options: how it says each, "Drop"; `dry` is the sentence of --dry-run. */
#define TOOL_DROP_OPTIONS(keep, older, dry)                                                                          \
    {"keep", TOOL_KEEP, "SIZE", 0, keep " as long as at least SIZE (64K, 10G) stays", 0},                            \
    {"older", TOOL_OLDER, "TIME", 0,                                                                                 \
     older " whose records are all older than TIME: an age (45m, 12h, 30d, 2w), or a time as `u9 cat --since` takes " \
     "it: yesterday, '2 weeks ago', 2026-01-31, 2026-01-31T23:59:59Z, @seconds", 0},                                 \
    {"dry-run", TOOL_DRY_RUN, 0, 0, dry, 0},                                                                         \
    {"json", 'j', 0, 0, "One JSON object, numbers of 64 bits as strings", 0}

/* True if `key` is one of them, LOG, or that there is none; what is wrong with it is a usage error. Borrows `arg`. */
bool tool_drop_parse(tool_drop *d, int key, char *arg, struct argp_state *state);

/*
 * Tells people why nothing of the log at `path` went, if it has one segment; if it has more, what `several` says of them, unless
 * it is NULL. Reads one segment at most.
 */
void tool_drop_put_why(const char *path, const char *several);

/* `option` says what goes: a usage error if another did before. Borrows it. */
void tool_drop_ask(tool_drop *d, const char *option);

#endif
