/*
 * bench/report_markdown.c: the outcome as Markdown, with the plot of where u9 stands beside it.
 */
#include "bench/report.h"

static void put_row(FILE *f, const outcome *o, unsigned w, unsigned c)
{
    static const metric columns[] = {M_P50, M_P99, M_P999, M_CPU, M_RSS, M_ANON, M_DISK};
    const workload *load = &workloads[w];
    metric m = load->shown;
    char a[64], b[64], d[64];
    bool ours = our_row(w) == (int)c;
    const char *absence = absence_text(o, w, c), *shortfall = shortfall_text(o, w, c),
               *bold = ours ? "**" : "";
    fprintf(f, "| %s%s%s | ", bold, contender_label(&load->contenders[c]), bold);
    if (absence) {
        fprintf(f, "%s | | | | | | | | | |", absence);
        for (unsigned i = 0; i < also_count(load); i++) fputs(" |", f);
        fputs("\n", f);
        return;
    }
    spread s = figures(o, w, c, m);
    fprintf(f, "%s%s%s (%s - %s) | %s |", bold, metric_text(m, s.median, a), bold,
            metric_text(m, s.least, b), metric_text(m, s.most, d),
            ours ? "" : ratio_spread_text(advantage(o, w, c), a));
    for (unsigned i = 0; i < sizeof columns / sizeof columns[0]; i++)
        fprintf(f, " %s |", metric_text(columns[i], figures(o, w, c, columns[i]).median, a));
    for (unsigned i = 0; i < also_count(load); i++)
        fprintf(f, " %s |", metric_text(load->also[i], figures(o, w, c, load->also[i]).median, a));
    fprintf(f, " %s%s%s |\n", number_text(records_done(o, w, c), a), *shortfall ? ": " : "",
            shortfall);
}

static void put_workload(FILE *f, const outcome *o, unsigned w)
{
    const workload *load = &workloads[w];
    fprintf(f, "\n## %s: %s\n\n%s\n\n| row | %s | u9 is better | p50 µs | p99 µs | p99.9 µs | ",
            load->name, load->title, load->what, metrics[load->shown].heading);
    fputs("CPU s | RSS MiB | anon MiB | disk/byte | ", f);
    for (unsigned i = 0; i < also_count(load); i++) fprintf(f, "%s | ", metrics[load->also[i]].heading);
    fputs("records |\n|", f);
    for (unsigned i = 0; i < 11 + also_count(load); i++) fputs("---|", f);
    fputs("\n", f);
    for (unsigned c = 0; c < contender_count(load); c++)
        if (state_of(o, w, c) != ROW_LEFT_OUT) put_row(f, o, w, c);
}

static void put_targets(FILE *f, const outcome *o)
{
    char text[200], got[64];
    unsigned shown = 0;
    for (unsigned i = 0; i < target_count; i++) {
        verdict v = verdict_on(o, &targets[i]);
        if (!v.known) continue;
        if (shown++ == 0)
            fputs("\n## Targets\n\n| what | wanted | got | |\n|---|---|---|---|\n", f);
        fprintf(f, "| %s | %s %g | %s | %s |\n", target_text(v.target, text),
                v.target->at_most ? "at most" : "at least", v.bound, got_text(&v, got),
                v.met ? "met" : "**missed**");
    }
}

void report_markdown(FILE *f, const outcome *o, const char *plot)
{
    fputs("# What u9bench measured\n\nMade by `make bench-all`; what rows and columns are: "
          "[README.md](README.md).\n\n",
          f);
    for (unsigned i = 0; i < FACTS; i++)
        fprintf(f, "- %s: %s\n", facts_of(o)[i].name, facts_of(o)[i].text);
    if (plot) fprintf(f, "\n![Where u9 stands: how many times better it is](%s)\n", plot);
    put_targets(f, o);
    for (unsigned w = 0; w < workload_count; w++)
        if (has_rows(o, w)) put_workload(f, o, w);
    fputs("\n## How each was set\n\n| engine or floor | version | set as |\n|---|---|---|\n", f);
    for (const engine *const *e = all_engines; *e; e++) {
        const char *version = engine_version(*e);
        fprintf(f, "| %s | %s | %s |\n", (*e)->label, version ? version : "not built",
                (*e)->config);
        if ((*e)->usual_config)
            fprintf(f, "| %s, usual | | %s |\n", (*e)->label, (*e)->usual_config);
    }
}
