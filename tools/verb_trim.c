/*
 * tools/verb_trim.c: `u9 trim`: the oldest segments of a log go.
 *
 * One thing says what goes: a size, a time, a key, an ordinal; or --accept, that they are gone already. With --dry-run
 * nothing is changed, and a writer may be at work.
 */
#include "tools/args.h"
#include "tools/damage.h"
#include "tools/drop.h"
#include "tools/json.h"
#include "tools/key.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <string.h>

struct trim {
    tool_drop ask;
    const char *key; /* the argument of --before, if it is one; NULL */
    int accept;
    u9_trim what;
    u9_trimmed done;
};

/* What is not at its place yet stays. */
static void put_untiered(const char *path)
{
    u9_tier_options what = {.size = sizeof what, .dry_run = 1};
    u9_tiered there = {.size = sizeof there};
    u9_fault why;
    if (u9_tier(path, &what, &there, &why) == U9_OK && there.left > 0)
        printf("%s: what its place has not got yet stays: `u9 tier` copies it\n", tool_shown(path));
}

static void put_result(const struct trim *t)
{
    const u9_trimmed *d = &t->done;
    char bytes[24], first[TOOL_WHEN_SIZE], last[TOOL_WHEN_SIZE], name[TOOL_SEGMENT_SIZE];
    int dry = t->what.dry_run;
    printf("%s: ", tool_shown(t->ask.path));
    if (d->segments == 0 && t->accept) fputs("its beginning is not missing: there is nothing to accept", stdout);
    else if (d->segments == 0) fputs("nothing to drop", stdout);
    else if (t->accept && d->records != TOOL_NONE)
        printf("%s that its oldest segments, with %" PRIu64 " record%s, are gone", dry ? "would accept" : "accepted",
               d->records, tool_plural(d->records));
    else if (t->accept) printf("%s that its oldest segments are gone", dry ? "would accept" : "accepted");
    else {
        printf("%s %" PRIu64 " segment%s", dry ? "would drop" : "dropped", d->segments, tool_plural(d->segments));
        if (d->records != TOOL_NONE) printf(", %" PRIu64 " record%s", d->records, tool_plural(d->records));
        printf(", %s", tool_bytes_text(d->bytes, bytes));
        if (d->first_time_us != 0) printf(", %s", tool_when_text(d->first_time_us, first));
        if (d->first_time_us != 0) printf(" to %s", d->last_time_us ? tool_when_text(d->last_time_us, last) : "a time that is not known");
    }
    if (d->ordinal != TOOL_NONE)
        printf("; it %s at record %" PRIu64 ", in %s", dry && d->segments > 0 ? "would begin" : "begins", d->ordinal,
               tool_segment_text(d->segment, name));
    putchar('\n');
    if (d->segments > 0 || t->accept) return;
    tool_drop_put_why(t->ask.path, NULL);
    put_untiered(t->ask.path);
}

static json_t *json_time(uint64_t time_us)
{
    char text[48];
    return time_us ? json_string(tool_time_text(time_us, text)) : json_null();
}

static int put_json(const struct trim *t)
{
    const u9_trimmed *d = &t->done;
    return tool_put_object(json_pack("{s:s, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "type", "trim", "path",
                                     tool_json_text(t->ask.path), "dry_run", t->what.dry_run, "accept", t->accept,
                                     "segments", tool_json_number(d->segments), "records", tool_json_number(d->records),
                                     "bytes", tool_json_number(d->bytes), "first_time", json_time(d->first_time_us),
                                     "last_time", json_time(d->last_time_us), "first_segment",
                                     tool_json_number(d->segment), "first_ordinal", tool_json_number(d->ordinal)));
}

/* Why not, and where another writer is at work, how it can be done all the same. */
static int refuse(const struct trim *t, const u9_fault *fault)
{
    int status = tool_read_fault(t->ask.path, fault);
    tool_say_refused(t->ask.path, fault);
    if (fault->err == U9_LOCKED)
        tool_say(0, "a log that is being written is trimmed by its writer: `u9 append --keep SIZE --keep-age AGE`; in a program "
                    "u9_log_trim, or u9_log_open with keep_bytes and keep_age_us");
    return status;
}

static int take_key(struct trim *t, const u9_log *log, tool_key *key)
{
    const char *kind = tool_kind_named(log), *why = tool_key_parse(u9_log_kind(log), t->key, strlen(t->key), key);
    if (why)
        return tool_say(TOOL_REFUSED, "--before %s: not a key of kind %s: %s", tool_shown(t->key), kind, why);
    t->what.before_key = (u9_key){key->bytes, key->size};
    return TOOL_DONE;
}

static int trim_log(struct trim *t)
{
    u9_fault fault;
    u9_log *log;
    tool_key key;
    u9_options options = {.size = sizeof options, .mode = t->what.dry_run ? U9_READ : U9_WRITE};
    if (u9_log_open(t->ask.path, &options, &log, &fault) != U9_OK) return refuse(t, &fault);
    int status = t->key ? take_key(t, log, &key) : TOOL_DONE;
    if (status == TOOL_DONE && u9_log_trim(log, &t->what, &t->done, &fault) != U9_OK) status = refuse(t, &fault);
    if (u9_log_close(log, &fault) != U9_OK && status == TOOL_DONE) status = tool_fault(&fault);
    return status;
}

static int run(struct trim *t)
{
    u9_fault fault;
    int status = TOOL_DONE;
    if (!t->accept) status = trim_log(t);
    else if (u9_accept_trim(t->ask.path, !t->what.dry_run, NULL, &t->done, &fault) != U9_OK) status = refuse(t, &fault);
    if (status != TOOL_DONE) return status;
    if (t->ask.json) return put_json(t);
    put_result(t);
    return TOOL_DONE;
}

enum { BEFORE = 256, ACCEPT };

static const struct argp_option option_table[] = {
    TOOL_DROP_OPTIONS("Drop the oldest segments", "Drop segments", "Only say what would go; a writer may be at work"),
    {"before", BEFORE, "KEY|#ORDINAL", 0,
     "Drop segments whose records all have lower keys than KEY, by its bytes, or lower numbers than ORDINAL", 0},
    {"accept", ACCEPT, 0, 0, "The oldest segments were deleted by hand: the log is to begin where it does now", 0},
    {0},
};

/* The argument of --before. */
static void take_before(struct trim *t, const char *arg)
{
    if (*arg == '#') t->what.before = tool_number("--before #", arg + 1);
    else if (*arg) t->key = arg;
    else tool_usage("--before: KEY is empty");
}

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct trim *t = (struct trim *)state->input;
    switch (option) {
    case BEFORE:
        tool_drop_ask(&t->ask, "--before");
        take_before(t, arg);
        break;
    case ACCEPT:
        tool_drop_ask(&t->ask, "--accept");
        t->accept = 1;
        break;
    case ARGP_KEY_END:
        if (!t->ask.asked) tool_usage("what is to go? --keep, --older, --before or --accept");
        t->what.keep_bytes = t->ask.keep_bytes;
        t->what.before_us = t->ask.before_us;
        t->what.dry_run = t->ask.dry_run;
        break;
    default: return tool_drop_parse(&t->ask, option, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_trim(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Drops the oldest segments of LOG, whole ones, never the newest that holds records. LOG says in itself from "
        "where on it is kept before anything is removed, so it stays whole. Records keep their numbers and keys.",
        NULL, NULL, NULL};
    struct trim trim = {.what = {.size = sizeof trim.what}, .done = {.size = sizeof trim.done}};
    tool_parse(&parser, argc, argv, &trim);
    return run(&trim);
}
