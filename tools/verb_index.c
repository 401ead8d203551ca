/*
 * tools/verb_index.c: `u9 index`: makes the indexes that segments lack, beside them; proves or removes them.
 *
 * A line for each segment says where its index is. Nothing of the log itself is changed, whatever is asked.
 */
#include "tools/args.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <string.h>

struct index {
    const char *path;
    const char *asked; /* the option that says what is to be done; NULL: what is missing is made */
    int check, drop, look, json, failed;
    u9_index_options options;
    u9_index_report report;
    tool_progress bar;
};

static const char *place_name(u9_index_place place)
{
    switch (place) {
    case U9_INDEX_NONE: return "none";
    case U9_INDEX_INSIDE: return "inside";
    case U9_INDEX_BESIDE: return "beside";
    case U9_INDEX_MADE: return "made";
    }
    return "none";
}

static const char *place_text(u9_index_place place)
{
    switch (place) {
    case U9_INDEX_NONE: return "no index";
    case U9_INDEX_INSIDE: return "index in the segment";
    case U9_INDEX_BESIDE: return "index beside it";
    case U9_INDEX_MADE: return "index made now";
    }
    return "no index";
}

static int put_json_segment(const u9_index_info *i)
{
    return tool_put_object(json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:o, s:b, s:o, s:s}", "type", "segment", "segment",
                                     tool_json_number(i->segment), "path", tool_json_text(i->path), "index",
                                     place_name(i->place), "why", u9_index_why_text(i->why), "records",
                                     tool_json_number(i->records), "entries", tool_json_number(i->entries), "filter",
                                     i->filtered, "wrong", tool_json_number(i->wrong), "clause", u9_clause_name(i->clause)));
}

static void put_segment(const struct index *x, const u9_index_info *i)
{
    printf("%s: %s", tool_shown(i->path), place_text(i->place));
    if (i->place == U9_INDEX_NONE) printf(": %s", u9_index_why_text(i->why));
    else printf(": %" PRIu64 " record%s, %" PRIu64 " entr%s", i->records, tool_plural(i->records), i->entries, i->entries == 1 ? "y" : "ies");
    if (i->place != U9_INDEX_NONE && i->why == U9_INDEX_LOSSY) fputs("; others were lost to damage", stdout);
    if (i->place != U9_INDEX_NONE && x->check)
        printf(i->wrong ? "; %" PRIu64 " WRONG" : "; all right", i->wrong);
    if (i->clause != U9_CLAUSE_NONE) printf(" (%s: %s)", u9_clause_name(i->clause), u9_clause_text(i->clause));
    putchar('\n');
}

static void on_segment(void *ctx, const u9_index_info *info)
{
    struct index *x = (struct index *)ctx;
    tool_progress_end(&x->bar);
    if (x->json) x->failed |= put_json_segment(info);
    else put_segment(x, info);
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    return tool_progress_tell(&((struct index *)ctx)->bar, done, all) || tool_stdout_failed();
}

static int put_json_sum(const struct index *x)
{
    const u9_index_report *r = &x->report;
    return tool_put_object(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "type", "index", "path",
                                     tool_json_text(x->path), "segments", tool_json_number(r->segments), "inside",
                                     tool_json_number(r->inside), "beside", tool_json_number(r->beside), "made",
                                     tool_json_number(r->made), "none", tool_json_number(r->none), "dropped",
                                     tool_json_number(r->dropped), "unused", tool_json_number(r->unused), "entries",
                                     tool_json_number(r->entries), "wrong", tool_json_number(r->wrong)));
}

static void put_sum(const struct index *x)
{
    const u9_index_report *r = &x->report;
    printf("%s: %" PRIu64 " segment%s: %" PRIu64 " with an index inside, %" PRIu64 " beside, %" PRIu64 " made now, %" PRIu64
           " without", tool_shown(x->path), r->segments, tool_plural(r->segments), r->inside, r->beside, r->made, r->none);
    if (x->drop) printf("; %" PRIu64 " file%s removed", r->dropped, tool_plural(r->dropped));
    if (x->check && r->wrong > 0) printf("; %" PRIu64 " WRONG", r->wrong);
    else if (x->check) fputs("; all that there is was proven", stdout);
    putchar('\n');
}

static u9_err do_it(struct index *x, u9_fault *fault)
{
    if (x->check) return u9_indexes_check(x->path, &x->options, &x->report, fault);
    if (x->drop) return u9_indexes_drop(x->path, &x->options, &x->report, fault);
    if (x->look) return u9_indexes_look(x->path, &x->options, &x->report, fault);
    return u9_indexes_build(x->path, &x->options, &x->report, fault);
}

static int run(struct index *x)
{
    u9_fault fault;
    x->options.on_segment = on_segment;
    x->options.on_progress = on_progress;
    x->options.ctx = x;
    tool_progress_begin(&x->bar, 1);
    u9_err err = do_it(x, &fault);
    tool_progress_end(&x->bar);
    if (err != U9_OK) return tool_read_fault(x->path, &fault);
    int status = x->json ? put_json_sum(x) : TOOL_DONE;
    if (!x->json) put_sum(x);
    if (status == TOOL_DONE) status = x->failed;
    return status == TOOL_DONE && x->report.wrong > 0 ? TOOL_LOST : status;
}

enum { CHECK = 256, DROP, LOOK, MEMORY };

static const struct argp_option option_table[] = {
    {"check", CHECK, 0, 0, "Make nothing: prove each entry of each index, and that each record is found", 0},
    {"drop", DROP, 0, 0, "Remove the indexes beside segments; those inside stay", 0},
    {"dry-run", LOOK, 0, 0, "Only say what there is", 0},
    {"memory", MEMORY, "SIZE", 0, "Memory for keys (default 256M, at least 64K); more of them are sorted in a file", 0},
    {"json", 'j', 0, 0, "JSON objects, one for each segment and one for all; numbers of 64 bits as strings", 0},
    {0},
};

static void ask(struct index *x, const char *option, int *what)
{
    if (x->asked) tool_usage("%s and %s: one of them at a time", x->asked, option);
    x->asked = option;
    *what = 1;
}

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct index *x = (struct index *)state->input;
    switch (option) {
    case CHECK: ask(x, "--check", &x->check); break;
    case DROP: ask(x, "--drop", &x->drop); break;
    case LOOK: ask(x, "--dry-run", &x->look); break;
    case MEMORY:
        x->options.memory = tool_size("--memory", arg);
        if (x->options.memory < 64 << 10) tool_usage("--memory: at least 64K");
        break;
    case 'j': x->json = 1; break;
    default: return tool_argp_log(option, arg, state, &x->path);
    }
    return 0;
}

int verb_index(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Makes the indexes that segments of LOG lack, in files beside them (NUMBER.u9x), so that lookups need not read "
        "those segments first. The log itself is not changed, and a writer may be at work. Of --check the exit status is "
        "3 if an index is wrong.",
        NULL, NULL, NULL};
    struct index index = {.options = {.size = sizeof index.options}, .report = {.size = sizeof index.report}};
    tool_parse(&parser, argc, argv, &index);
    return run(&index);
}
