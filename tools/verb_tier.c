/*
 * tools/verb_tier.c: `u9 tier`: sealed segments of a log go to another place, and are read from there.
 */
#include "tools/damage.h"
#include "tools/drop.h"
#include "tools/json.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tier {
    tool_drop ask;
    char *to; /* heap */
    u9_tier_options what;
    u9_tiered done;
    tool_losses losses;
};

/* Standing in one line, on a terminal alone. */
static int show_progress(void *ctx, const u9_tiered *d)
{
    const struct tier *t = ctx;
    char left[24];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s: %" PRIu64 " copied, %" PRIu64 " left (%s)   ", t->ask.path, d->segments, d->left,
                tool_bytes_text(d->left_bytes, left));
    return 0;
}

static void show_damage(void *ctx, const u9_damage *damage)
{
    struct tier *t = ctx;
    int lost = 0;
    tool_losses_add(&t->losses, damage);
    tool_on_damage(&lost, damage);
}

static void put_result(const struct tier *t)
{
    const u9_tiered *d = &t->done;
    char bytes[24], there[24], lost[TOOL_LOSSES_SIZE];
    uint64_t n = t->what.dry_run ? d->left : d->segments;
    printf("%s: %s %" PRIu64 " segment%s, %s", tool_shown(t->ask.path), t->what.dry_run ? "would copy" : "copied", n, tool_plural(n),
           tool_bytes_text(t->what.dry_run ? d->left_bytes : d->bytes, bytes));
    if (d->found > 0) printf(" (%" PRIu64 " %s there already)", d->found, d->found == 1 ? "was" : "were");
    if (d->dropped > 0)
        printf("; dropped %" PRIu64 " here, %s", d->dropped, tool_bytes_text(d->dropped_bytes, bytes));
    printf("; the place has %" PRIu64 ", %s", d->there, tool_bytes_text(d->there_bytes, there));
    if (d->next_ordinal > 0) printf(", all records below %" PRIu64, d->next_ordinal);
    if (d->damages > 0) printf("; %" PRIu64 " place%s damaged or missing, %s", d->damages, tool_plural(d->damages),
                               tool_losses_text(&t->losses, lost));
    putchar('\n');
    if (n == 0 && d->there == 0)
        tool_drop_put_why(t->ask.path, "was filled, or closed, and another begun behind it: what killed writers left goes with the next that is");
}

static int put_json(const struct tier *t)
{
    const u9_tiered *d = &t->done;
    return tool_put_object(json_pack(
        "{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "type", "tier", "path", tool_json_text(t->ask.path),
        "dry_run", t->what.dry_run, "segments", tool_json_number(d->segments), "bytes", tool_json_number(d->bytes), "found",
        tool_json_number(d->found), "left", tool_json_number(d->left), "left_bytes", tool_json_number(d->left_bytes),
        "there", tool_json_number(d->there), "there_bytes", tool_json_number(d->there_bytes), "next_ordinal",
        tool_json_number(d->next_ordinal), "dropped", tool_json_number(d->dropped), "dropped_bytes",
        tool_json_number(d->dropped_bytes), "damages", tool_json_number(d->damages), "lost", tool_json_number(d->lost)));
}

/* A folder stands in the log's list as all its readers find it. */
static void take_place(struct tier *t, const char *arg)
{
    char here[4096];
    if (*arg == 0) tool_usage("--to: PLACE is empty");
    free(t->to);
    t->to = NULL;
    if (*arg == '/' || strstr(arg, "://") || strncmp(arg, "rados:", 6) == 0) t->to = strdup(arg);
    else if (getcwd(here, sizeof here) == NULL || asprintf(&t->to, "%s/%s", here, arg) < 0) t->to = NULL;
    if (t->to == NULL) tool_usage("--to %s: its folder cannot be told", arg);
    t->what.to = t->to;
}

static int refuse(const struct tier *t, const u9_fault *fault)
{
    int status = tool_read_fault(t->ask.path, fault);
    const u9_tiered *d = &t->done;
    tool_say_refused(t->ask.path, fault);
    if (t->to == NULL && strcmp(fault->rule, "TR-2") == 0)
        tool_say(0, "--to PLACE says where: s3://BUCKET/PREFIX, a folder, or rados:POOL/NAME");
    else if (fault->err == U9_LOCKED && d->left == 0 && d->there > 0)
        tool_say(0, "all is copied, nothing was dropped: a log that is being written is trimmed by its writer: "
                    "`u9 append --keep SIZE --keep-age AGE`, which is as good, as the place has it");
    else if (d->segments > 0)
        tool_say(0, "%" PRIu64 " segment%s copied before that: the same command goes on with the rest", d->segments,
                 d->segments == 1 ? " was" : "s were");
    return status;
}

static int run(struct tier *t)
{
    u9_fault fault;
    t->what.on_progress = show_progress;
    t->what.on_damage = show_damage;
    t->what.ctx = t;
    u9_err err = u9_tier(t->ask.path, &t->what, &t->done, &fault);
    if (t->done.segments > 0 && isatty(STDERR_FILENO)) fputc('\n', stderr);
    if (err != U9_OK) return refuse(t, &fault);
    int status = t->done.damages > 0 ? TOOL_LOST : TOOL_DONE;
    if (t->ask.json) return put_json(t) == TOOL_DONE ? status : TOOL_IO;
    put_result(t);
    return status;
}

enum { TO = 256, VERIFY };

static const struct argp_option option_table[] = {
    {"to", TO, "PLACE", 0,
     "Where segments go: s3://BUCKET/PREFIX, a folder, or rados:POOL/NAME; once it is known, it can be left out", 0},
    TOOL_DROP_OPTIONS("Then drop the oldest here", "Then drop those", "Only say what would be copied"),
    {"verify", VERIFY, 0, 0, "Read back each copied segment whole, not only its end, and compare those that are there already with what is here", 0},
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct tier *t = (struct tier *)state->input;
    switch (option) {
    case TO: take_place(t, arg); break;
    case VERIFY: t->what.verify = 1; break;
    case ARGP_KEY_END:
        t->what.keep_bytes = t->ask.keep_bytes;
        t->what.before_us = t->ask.before_us;
        t->what.dry_run = t->ask.dry_run;
        break;
    default: return tool_drop_parse(&t->ask, option, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_tier(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Copies LOG's sealed segments to PLACE, each verified, and says so there and in LOG; then drops here what it was "
        "told to, and PLACE has. Readers of LOG find both as one log, and PLACE is a log by itself, for any machine. Keys "
        "for S3 come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials, never from here.",
        NULL, NULL, NULL};
    struct tier tier = {.what = {.size = sizeof tier.what}, .done = {.size = sizeof tier.done}};
    tool_parse(&parser, argc, argv, &tier);
    int status = run(&tier);
    free(tier.to);
    return status;
}
