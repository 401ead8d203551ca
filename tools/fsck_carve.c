/*
 * tools/fsck_carve.c: u9fsck --carve: see fsck_repair.h.
 */
#include "tools/damage.h"
#include "tools/fsck_repair.h"
#include "tools/json.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

enum { LEFT = 4, CANCELLED = 32 };

typedef struct carving {
    int json, quiet;
    int left; /* LEFT: something is damaged, or unsigned */
    int (*stopped)(void);
    tool_progress bar;
} carving;

static void on_carved(void *ctx, const u9_carved *c)
{
    carving *k = ctx;
    int hurt = !c->checked || c->verdict >= U9_V_UNKNOWN;
    tool_progress_end(&k->bar);
    if (hurt) k->left = LEFT;
    if (k->json) {
        tool_put_object(json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "type", "carved", "path",
                                  tool_json_text(c->path), "proven", c->proven, "segments", tool_json_number(c->segments),
                                  "frames", tool_json_number(c->frames), "rejoined", tool_json_number(c->rejoined), "records",
                                  c->checked ? tool_json_number(c->records) : json_null(), "damages",
                                  c->checked ? tool_json_number(c->damages) : json_null(), "lost",
                                  c->checked ? tool_json_number(c->lost) : json_null(), "verdict",
                                  c->checked ? json_string(u9_verdict_name(c->verdict)) : json_null()));
        return;
    }
    if (k->quiet && !hurt) return;
    printf("%s: %" PRIu64 " frame%s in %" PRIu64 " segment%s", tool_shown(c->path), c->frames, tool_plural(c->frames), c->segments,
           tool_plural(c->segments));
    if (c->rejoined > 0) printf(", %" PRIu64 " of them put together from two pieces", c->rejoined);
    if (c->checked)
        printf("; %s: %" PRIu64 " record%s, %" PRIu64 " damaged place%s", u9_verdict_name(c->verdict), c->records,
               tool_plural(c->records), c->damages, tool_plural(c->damages));
    else if (!c->proven)
        fputs("; their secret is lost, and nothing proves that a log's writer wrote them: --salvage makes a log of them", stdout);
    putchar('\n');
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    carving *k = ctx;
    tool_progress_tell(&k->bar, done, all);
    return k->stopped() || tool_stdout_failed();
}

static void put_report(const char *path, const u9_carve_report *r)
{
    char size[24];
    printf("%s: %s in %" PRIu64 " file%s: %" PRIu64 " log%s, %" PRIu64 " segment%s, %" PRIu64 " frame%s", tool_shown(path),
           tool_bytes_text(r->bytes, size), r->files, tool_plural(r->files), r->logs, tool_plural(r->logs), r->segments,
           tool_plural(r->segments), r->frames, tool_plural(r->frames));
    if (r->broken > 0) printf("; of %" PRIu64 " more there is a header, and not the rest", r->broken);
    if (r->held > 0)
        printf("; %" PRIu64 " whole frame%s left out, as %s may be a record's bytes", r->held,
               r->held == 1 ? " is" : "s are", r->held == 1 ? "it" : "they");
    if (r->unread > 0) printf("; %s could not be read", tool_bytes_text(r->unread, size));
    if (r->gave_up) fputs("; the search was given up: there may be more", stdout);
    putchar('\n');
}

/* What is missing of a log that was carved is for its check to say. */
static void put_next(const carving *k, const char *out)
{
    if (k->left) printf("%s: next: u9fsck LOG says of each log in it what is missing, and what to do\n", tool_shown(out));
}

int tool_carve(const char *path, const char *out, int json, int quiet, int (*stopped)(void))
{
    u9_fault fault;
    carving k = {.json = json, .quiet = quiet, .stopped = stopped};
    u9_carve_report r = {.size = sizeof r};
    u9_carve_options o = {.size = sizeof o, .on_carved = on_carved, .on_progress = on_progress, .ctx = &k};
    tool_progress_begin(&k.bar, !quiet);
    u9_err err = u9_carve(path, out, &o, &r, &fault);
    tool_progress_end(&k.bar);
    if (err == U9_STATE && stopped()) return tool_say(CANCELLED, "stopped before the end: run it again to go on");
    if (err != U9_OK) {
        tool_fault(&fault);
        tool_say_unharmed(path, out, &fault);
        return TOOL_FSCK_OPERATIONAL;
    }
    if (json)
        tool_put_object(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "type", "summary", "path",
                                  tool_json_text(path), "files", tool_json_number(r.files), "bytes", tool_json_number(r.bytes),
                                  "unread", tool_json_number(r.unread), "logs", tool_json_number(r.logs), "segments",
                                  tool_json_number(r.segments), "frames", tool_json_number(r.frames), "rejoined",
                                  tool_json_number(r.rejoined), "broken", tool_json_number(r.broken), "gave_up", r.gave_up,
                                  "held", tool_json_number(r.held)));
    else if (!quiet) {
        put_report(path, &r);
        put_next(&k, out);
    }
    return k.left | (r.broken > 0 || r.held > 0 || r.gave_up || r.unread > 0 ? LEFT : TOOL_FSCK_CLEAN);
}
