/*
 * bench/u9bench.c: what u9 does in a second, next to what the machine and others do: the command line.
 */
#include "bench/bench.h"
#include "bench/pool.h"
#include "bench/report.h"
#include "tools/nearest.h"

#include <u9/log.h>
#include <u9/version.h>

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_DATA = 256,
    KEY_VALUE_SIZE,
    KEY_THREADS,
    KEY_BATCH,
    KEY_POLICY,
    KEY_MINUTES,
    KEY_JSON,
    KEY_HTML,
    KEY_MARKDOWN,
    KEY_PLOT,
    KEY_LIST
};

static plan asked = {.rounds = 5, .scale = 1, .dir = ".", .policy = -1};
static const char *lines, *json_path, *html_path, *markdown_path, *plot_path;

/* Tables of their own, run by name. */
static const struct subject {
    const char *name, *what;
    void (*run)(const bench_options *);
} subjects[] = {
    {"ids", "identifiers made, printed and parsed", bench_ids},
    {"values", "utf9 values beside msgpack-c, and from which size on an index pays", bench_values},
    {"segments", "what each file of a log's directory costs", bench_segments},
};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static bool subjects_wanted[SUBJECTS], any_workload, any_subject;

static double number(const char *text, double least, double most, struct argp_state *state)
{
    char *end;
    double n = strtod(text, &end);
    if (end == text || *end != 0 || !(n >= least && n <= most))
        argp_error(state, "'%s' is not a number from %g to %g", text, least, most);
    return n;
}

static unsigned whole(const char *text, double most, struct argp_state *state)
{
    double n = number(text, 1, most, state);
    if (n != (double)(unsigned)n) argp_error(state, "'%s' is not a whole number", text);
    return (unsigned)n;
}

static int policy_named(const char *text, struct argp_state *state)
{
    if (strcmp(text, "commit") == 0) return U9_POLICY_COMMIT;
    if (strcmp(text, "interval") == 0) return U9_POLICY_INTERVAL;
    if (strcmp(text, "none") != 0) argp_error(state, "'%s': commit, interval or none", text);
    return U9_POLICY_NONE;
}

/* The workload or subject that `name` may have been meant to be; NULL: none. */
static const char *meant_workload(const char *name)
{
    const char *meant = NULL;
    size_t best = SIZE_MAX;
    for (unsigned w = 0; w < workload_count; w++)
        if (tool_is_nearer(name, workloads[w].name, &best)) meant = workloads[w].name;
    for (unsigned i = 0; i < SUBJECTS; i++)
        if (tool_is_nearer(name, subjects[i].name, &best)) meant = subjects[i].name;
    return meant;
}

static void want(const char *name, struct argp_state *state)
{
    int w = workload_named(name);
    if (w >= 0) asked.wanted[w] = any_workload = true;
    for (unsigned i = 0; i < SUBJECTS; i++)
        if (strcmp(subjects[i].name, name) == 0) subjects_wanted[i] = any_subject = true, w = 0;
    const char *meant = w < 0 ? meant_workload(name) : NULL;
    if (meant) argp_error(state, "'%s' is no workload; did you mean '%s'? --list tells them", name, meant);
    if (w < 0) argp_error(state, "'%s' is no workload: see --list", name);
}

/* Of names with commas between: the one at `at` is an engine's, or this ends with the one that may have been meant. */
static void check_engine(const char *at, struct argp_state *state)
{
    const char *meant = NULL;
    char name[64];
    size_t best = SIZE_MAX;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
    for (const engine *const *e = all_engines; *e; e++) {
        if (strcmp((*e)->name, name) == 0) return;
        if (tool_is_nearer(name, (*e)->name, &best)) meant = (*e)->name;
    }
    if (meant) argp_error(state, "'%s' is no engine; did you mean '%s'? --list tells them", name, meant);
    argp_error(state, "'%s' is no engine: see --list", name);
}

static const char *engines_named(const char *list, struct argp_state *state)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') check_engine(at, state);
    return list;
}

static void print_workloads(const char *place)
{
    for (unsigned w = 0; w < workload_count; w++)
        if (is_place(workloads[w].place, place))
            printf("%-12s %s. %s\n", workloads[w].name, workloads[w].title, workloads[w].what);
}

static void print_list(void)
{
    print_workloads(NULL);
    for (unsigned i = 0; i < SUBJECTS; i++)
        printf("%-12s A table by itself: %s.\n", subjects[i].name, subjects[i].what);
    puts("\nwith --dir rados:POOL/NAME");
    print_workloads(POOL);
    puts("\nwith --dir s3://BUCKET/PREFIX");
    print_workloads(BUCKET);
    puts("\nengines and floors");
    for (const engine *const *e = all_engines; *e; e++) {
        const char *version = engine_version(*e);
        printf("%-17s %-12s %s\n", (*e)->name, version ? version : "not built", (*e)->config);
        if ((*e)->usual_config) printf("%-17s %-12s usual: %s\n", "", "", (*e)->usual_config);
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case 'n': asked.scale = number(text, 1, 1e9, state) / 1e7; break;
    case 'r': asked.rounds = whole(text, ROUNDS_MAX, state); break;
    case 'e': asked.engines = engines_named(text, state); break;
    case 'd': asked.dir = text; break;
    case 'i': asked.io = text; break;
    case 'l': lines = text; break;
    case 'q': asked.quiet = true; break;
    case KEY_DATA: asked.data = text; break;
    case KEY_VALUE_SIZE: asked.value_size = whole(text, 8 << 20, state); break;
    case KEY_THREADS: asked.threads = whole(text, 1024, state); break;
    case KEY_BATCH: asked.batch = whole(text, 65536, state); break;
    case KEY_POLICY: asked.policy = policy_named(text, state); break;
    case KEY_MINUTES: asked.minutes = number(text, 0.01, 1e6, state); break;
    case KEY_JSON: json_path = text; break;
    case KEY_HTML: html_path = text; break;
    case KEY_MARKDOWN: markdown_path = text; break;
    case KEY_PLOT: plot_path = text; break;
    case KEY_LIST: print_list(); exit(0);
    case ARGP_KEY_ARG: want(text, state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option options[] = {
    {"list", KEY_LIST, NULL, 0, "tell workloads and engines, and how each is set", 0},
    {NULL, 0, NULL, 0, "What runs:", 1},
    {"records", 'n', "N", 0,
     "records of `append` (10000000); the other workloads are cut in proportion", 1},
    {"rounds", 'r', "N", 0, "rounds; medians are of so many (5)", 1},
    {"minutes", KEY_MINUTES, "N", 0, "begin no round that would end later than this", 1},
    {"engines", 'e', "NAMES", 0, "only these engines and floors, with commas between", 1},
    {"data", KEY_DATA, "FILE", 0,
     "values are the lines of FILE (made up from a seed: JSON log lines)", 1},
    {"value-size", KEY_VALUE_SIZE, "BYTES", 0, "of values, in all workloads (the workload's)", 1},
    {"threads", KEY_THREADS, "N", 0, "that append, in all workloads (the workload's)", 1},
    {"batch", KEY_BATCH, "N", 0, "records of a call, in all workloads (the row's)", 1},
    {"policy", KEY_POLICY, "NAME", 0,
     "of u9: commit, interval or none (commit where calls are durable, else none)", 1},
    {"io", 'i', "TABLE", 0, "of u9: posix or uring", 1},
    {"dir", 'd', "DIR", 0,
     "where stores are made and removed (.); rados:POOL/NAME: in a Ceph pool; s3://BUCKET/PREFIX: in S3", 1},
    {"lines", 'l', "DIR", 0, "`values`: of the lines of DIR/*.log (made up)", 1},
    {NULL, 0, NULL, 0, "What is told, besides a table:", 2},
    {"json", KEY_JSON, "FILE", 0, "all figures", 2},
    {"html", KEY_HTML, "FILE", 0, "one page with plots, which needs no other file", 2},
    {"markdown", KEY_MARKDOWN, "FILE", 0, "tables; with --plot, the plot too", 2},
    {"plot", KEY_PLOT, "FILE", 0, "where u9 stands, as SVG", 2},
    {"quiet", 'q', NULL, 0, "do not tell each run", 2},
    {0}};

static const char about[] =
    "Measures u9 on this machine, next to other stores, to floors that the machine sets, and to its targets.\v"
    "Without a WORKLOAD all of them run, but no table by itself. Each run is a process of its own in an empty "
    "directory; u9, peers and floors take turns within each round, ratios are made within a round, and all "
    "figures are medians of the rounds. MB/s are those of keys and values as they were given (16 bytes a "
    "key), from the first call to the end of the final sync. Latencies are of calls. RSS and anonymous "
    "memory are peaks above what the process had before the store was opened. Columns and rows are "
    "explained in bench/README.md.\n\n"
    "Exit status: 0; 1: a run failed; 2: usage; 4: nothing could be measured.";

static FILE *open_report(const char *path)
{
    FILE *f = fopen(path, "w");
    if (f == NULL) die(path, NULL);
    return f;
}

static void close_report(FILE *f, const char *path)
{
    if (fclose(f) != 0) die(path, NULL);
}

static void report(const outcome *o)
{
    FILE *f;
    const char *name =
        plot_path && strrchr(plot_path, '/') ? strrchr(plot_path, '/') + 1 : plot_path;
    report_table(stdout, o);
    if (json_path) report_json(f = open_report(json_path), o), close_report(f, json_path);
    if (html_path) report_html(f = open_report(html_path), o), close_report(f, html_path);
    if (plot_path) report_plot(f = open_report(plot_path), o), close_report(f, plot_path);
    if (markdown_path)
        report_markdown(f = open_report(markdown_path), o, name), close_report(f, markdown_path);
}

static int run_workloads(void)
{
    outcome o;
    run_plan(&asked, &o);
    report(&o);
    int status = any_failed(&o) ? 1 : 0;
    free_outcome(&o);
    return status;
}

/* In a pool u9 does what it does in a folder; in S3 a log is only read. */
static bool runs_in(const workload *w, const char *place)
{
    if (is_place(w->place, place) || (w->place == NULL && is_place(place, POOL))) return true;
    fprintf(stderr, "u9bench: '%s' wants --dir %s\n", w->name,
            w->place == NULL ? "DIR, a folder" : is_place(w->place, POOL) ? "rados:POOL/NAME" : "s3://BUCKET/PREFIX");
    return false;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "[WORKLOAD...]", about, NULL, NULL, NULL};
    static char help[] = "--help";
    char said[TOOL_OPTION_SIZE];
    argp_err_exit_status = 2;
    argp_program_version = "u9bench " U9_VERSION_TEXT;
    for (char **word = argv; *word && strcmp(*word, "--") != 0; word++)
        if (strcmp(*word, "-h") == 0) *word = help; /* as with the other tools */
    const char *meant = tool_meant_option(options, argv, said);
    if (meant) {
        fprintf(stderr, "u9bench: unrecognized option '--%s'; did you mean '--%s'?\n", said, meant);
        return 2;
    }
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    if (!any_workload && !any_subject)
        for (unsigned w = 0; w < workload_count; w++)
            if (is_place(workloads[w].place, place_of(asked.dir))) asked.wanted[w] = any_workload = true;
    for (unsigned w = 0; w < workload_count; w++)
        if (asked.wanted[w] && !runs_in(&workloads[w], place_of(asked.dir))) return 2;
    int status = any_workload ? run_workloads() : 0;
    bench_options o = {.rounds = asked.rounds, .dir = asked.dir, .io = asked.io, .lines = lines};
    for (unsigned i = 0; i < SUBJECTS; i++)
        if (subjects_wanted[i]) subjects[i].run(&o);
    return status;
}
