/*
 * bench/report_table.c: the outcome as a table for a terminal.
 */
#include "bench/report.h"

static const metric columns[] = {M_BYTES, M_RECORDS, M_P50,  M_P99, M_P999,
                                 M_CPU,   M_RSS,     M_ANON, M_DISK};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void print_row(FILE *f, const outcome *o, unsigned w, unsigned c)
{
    char text[64];
    const char *absence = absence_text(o, w, c), *shortfall;
    fprintf(f, "%-34s", contender_label(&workloads[w].contenders[c]));
    if (absence) {
        fprintf(f, " %s\n", absence);
        return;
    }
    for (unsigned i = 0; i < COLUMNS; i++)
        fprintf(f, " %10s", metric_text(columns[i], figures(o, w, c, columns[i]).median, text));
    for (unsigned i = 0; i < also_count(&workloads[w]); i++)
        fprintf(f, " %16s", metric_text(workloads[w].also[i], figures(o, w, c, workloads[w].also[i]).median, text));
    fprintf(f, " %11s", number_text(records_done(o, w, c), text));
    if (our_row(w) != (int)c) fprintf(f, "  %s", ratio_spread_text(advantage(o, w, c), text));
    shortfall = shortfall_text(o, w, c);
    fprintf(f, "%s%s\n", *shortfall ? "  " : "", shortfall);
}

static void print_workload(FILE *f, const outcome *o, unsigned w)
{
    const workload *load = &workloads[w];
    fprintf(f, "\n%s: %s\n%s\n%-34s", load->name, load->title, load->what, "");
    for (unsigned i = 0; i < COLUMNS; i++) {
        /* "µ" is two bytes, and one column */
        int wide = strstr(metrics[columns[i]].heading, "µ") ? 11 : 10;
        fprintf(f, " %*s", wide, metrics[columns[i]].heading);
    }
    for (unsigned i = 0; i < also_count(load); i++)
        fprintf(f, " %*s", strstr(metrics[load->also[i]].heading, "µ") ? 17 : 16, metrics[load->also[i]].heading);
    fprintf(f, " %11s  u9 is better, by %s\n", "records", metrics[load->shown].heading);
    for (unsigned c = 0; c < contender_count(load); c++)
        if (state_of(o, w, c) != ROW_LEFT_OUT) print_row(f, o, w, c);
}

static void print_target(FILE *f, const verdict *v)
{
    char text[200], got[64];
    fprintf(f, "%-66s %s %-6g  %s%s\n", target_text(v->target, text),
            v->target->at_most ? "at most " : "at least", v->bound, got_text(v, got),
            v->met ? "" : "  MISSED");
}

void report_table(FILE *f, const outcome *o)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < FACTS; i++)
        fprintf(f, "%-10s %s\n", facts_of(o)[i].name, facts_of(o)[i].text);
    for (unsigned w = 0; w < workload_count; w++)
        if (has_rows(o, w)) print_workload(f, o, w);
    for (unsigned i = 0; i < target_count; i++) {
        verdict v = verdict_on(o, &targets[i]);
        if (!v.known) continue;
        if (shown++ == 0) fputs("\ntargets\n", f);
        print_target(f, &v);
    }
}
