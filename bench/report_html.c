/*
 * bench/report_html.c: the outcome as one page that needs no other file and no script: where u9 stands, the
 * targets, then each workload with its plot and, below it, its table; last, how each engine was set.
 */
#include "bench/plot.h"

static const char page_style[] =
    "body{background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2em auto;"
    "padding:0 16px}\nh1{font-size:26px;margin:0} h2{font-size:20px;margin:2.2em 0 .2em} p{margin:.3em 0 .8em}\n"
    ".faint{color:var(--faint)} .good{color:var(--good)} .bad{color:var(--bad)} .wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:12.5px;margin:.6em 0;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:3px 6px;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}\n"
    "th:first-child,td:first-child,td.left,th.left{text-align:left} td.words{white-space:normal;text-align:left}\n"
    "tr.u9 td{background:var(--u9-soft);font-weight:600}\n"
    "nav a,a{color:var(--u9);text-decoration:none;margin-right:.9em} dl{display:grid;"
    "grid-template-columns:max-content 1fr;gap:0 1em;font-size:13px} dt{color:var(--faint)} dd{margin:0}\n";

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<meta name=\"color-scheme\" content=\"light dark\"><title>u9bench</title>\n";

static const char page_begin[] =
    "</head><body>\n<h1>u9bench</h1>\n"
    "<p>u9, an append-only record log, next to other stores and to what the machine can do.</p>\n<dl>";

static const char targets_head[] =
    "<h2 id=\"targets\">Targets</h2>\n"
    "<p>The line in the middle is the target; a bar ends at what was got, right of it is better; "
    "the ends are a quarter of it and four times it.</p>\n"
    "<div class=\"wide\"><table><tr><th>what</th><th>wanted</th><th>got</th><th></th><th></th></tr>\n";

static const char engines_head[] =
    "<h2 id=\"engines\">How each is set</h2>\n"
    "<div class=\"wide\"><table><tr><th>engine or floor</th><th class=\"left\">version</th>"
    "<th class=\"left\">set as</th></tr>\n";

static const char page_end[] =
    "</table></div>\n<p class=\"faint\">Each run is a process of its own in an empty directory. Within a "
    "round all rows of a workload run one behind another; ratios are made within a round; figures are "
    "medians of the rounds, in parentheses least and most. MB/s are those of keys and values as given, "
    "from the first call to the end of the final sync. CPU is user and system time of all threads, from "
    "open to close. RSS and anonymous memory are peaks above what the process had before open. "
    "disk/byte is allocated space after close for each byte of keys and values.</p>\n</body></html>\n";

static const metric columns[] = {M_BYTES, M_RECORDS, M_P50,  M_P99, M_P999,
                                 M_CPU,   M_RSS,     M_ANON, M_DISK};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static bool is_column(metric m)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        if (columns[i] == m) return true;
    return false;
}

static void put_cell(FILE *f, const char *kind, const char *text)
{
    fprintf(f, "<td%s%s%s>", kind ? " class=\"" : "", kind ? kind : "", kind ? "\"" : "");
    put_text(f, text);
    fputs("</td>", f);
}

/* The figure that the workload shows has its spread, too. */
static void put_figure(FILE *f, metric m, spread s, bool shown)
{
    char middle[32], least[32], most[32], all[110];
    if (!shown || s.count == 0) {
        put_cell(f, NULL, metric_text(m, s.median, middle));
        return;
    }
    snprintf(all, sizeof all, "%s (%s - %s)", metric_text(m, s.median, middle),
             metric_text(m, s.least, least), metric_text(m, s.most, most));
    put_cell(f, NULL, all);
}

static void put_row(FILE *f, const outcome *o, unsigned w, unsigned c)
{
    const workload *load = &workloads[w];
    const contender *row = &load->contenders[c];
    const char *absence = absence_text(o, w, c);
    char text[64], all[110];
    fprintf(f, "<tr%s>", our_row(w) == (int)c ? " class=\"u9\"" : "");
    put_cell(f, NULL, contender_label(row));
    if (absence) {
        fprintf(f, "<td class=\"left faint\" colspan=\"%u\">%s</td></tr>\n", COLUMNS + 3 + also_count(load), absence);
        return;
    }
    spread s = advantage(o, w, c);
    put_cell(f, s.median >= 1 ? "good" : "bad",
             our_row(w) == (int)c ? "" : ratio_spread_text(s, text));
    for (unsigned i = 0; i < COLUMNS; i++)
        put_figure(f, columns[i], figures(o, w, c, columns[i]), columns[i] == load->shown);
    const char *shortfall = shortfall_text(o, w, c);
    snprintf(all, sizeof all, "%s%s%s", number_text(records_done(o, w, c), text),
             *shortfall ? ": " : "", shortfall);
    put_cell(f, NULL, all);
    if (!is_column(load->shown)) put_figure(f, load->shown, figures(o, w, c, load->shown), true);
    for (unsigned i = 0; i < also_count(load); i++)
        put_figure(f, load->also[i], figures(o, w, c, load->also[i]), false);
    fputs("</tr>\n", f);
}

static void put_table(FILE *f, const outcome *o, unsigned w)
{
    fputs("<div class=\"wide\"><table><tr><th>row</th><th>u9 is better</th>", f);
    for (unsigned i = 0; i < COLUMNS; i++) fprintf(f, "<th>%s</th>", metrics[columns[i]].heading);
    fputs("<th>records</th>", f);
    if (!is_column(workloads[w].shown))
        fprintf(f, "<th>%s</th>", metrics[workloads[w].shown].heading);
    for (unsigned i = 0; i < also_count(&workloads[w]); i++)
        fprintf(f, "<th>%s</th>", metrics[workloads[w].also[i]].heading);
    fputs("</tr>\n", f);
    for (unsigned c = 0; c < contender_count(&workloads[w]); c++)
        if (state_of(o, w, c) != ROW_LEFT_OUT) put_row(f, o, w, c);
    fputs("</table></div>\n", f);
}

/* How often the log rolled, where that is counted. */
static void put_rolls(FILE *f, const outcome *o, unsigned w)
{
    unsigned rolls = 0;
    int ours = our_row(w);
    for (unsigned r = 0; ours >= 0 && r < o->rounds; r++)
        if (result_of(o, w, (unsigned)ours, r)->rolls > rolls)
            rolls = result_of(o, w, (unsigned)ours, r)->rolls;
    if (workloads[w].deed == DO_ROLL)
        fprintf(f, "<p class=\"faint\">u9's log rolled %u times in a round.</p>\n", rolls);
}

static void put_workload(FILE *f, const outcome *o, unsigned w)
{
    const workload *load = &workloads[w];
    fprintf(f, "<h2 id=\"%s\">", load->name);
    put_text(f, load->title);
    fprintf(f, " <span class=\"faint\">%s</span></h2>\n<p>", load->name);
    put_text(f, load->what);
    fputs("</p>\n", f);
    plot_bars(f, o, w);
    if (load->has_latency) plot_latencies(f, o, w);
    put_rolls(f, o, w);
    put_table(f, o, w);
}

static void put_targets(FILE *f, const outcome *o)
{
    char text[200], got[64];
    unsigned shown = 0;
    for (unsigned i = 0; i < target_count; i++) {
        verdict v = verdict_on(o, &targets[i]);
        if (!v.known) continue;
        if (shown++ == 0) fputs(targets_head, f);
        fputs("<tr>", f);
        put_cell(f, NULL, target_text(v.target, text));
        fprintf(f, "<td>%s %g</td>", v.target->at_most ? "at most" : "at least", v.bound);
        put_cell(f, NULL, got_text(&v, got));
        put_cell(f, v.met ? "good" : "bad", v.met ? "met" : "missed");
        fputs("<td>", f);
        plot_verdict(f, &v);
        fputs("</td></tr>\n", f);
    }
    if (shown > 0) fputs("</table></div>\n", f);
}

static void put_engine(FILE *f, const engine *e)
{
    const char *version = engine_version(e);
    fputs("<tr>", f);
    put_cell(f, NULL, e->label);
    put_cell(f, version ? "left" : "left faint", version ? version : "not built");
    fputs("<td class=\"words\">", f);
    put_text(f, e->config);
    if (e->usual_config) {
        fputs("<br><span class=\"faint\">usual: ", f);
        put_text(f, e->usual_config);
        fputs("</span>", f);
    }
    fputs("</td></tr>\n", f);
}

static void put_head(FILE *f, const outcome *o)
{
    fprintf(f, "%s<style>%s%s</style>%s", page_head, plot_style, page_style, page_begin);
    for (unsigned i = 0; i < FACTS; i++) {
        fprintf(f, "<dt>%s</dt><dd>", facts_of(o)[i].name);
        put_text(f, facts_of(o)[i].text);
        fputs("</dd>\n", f);
    }
    fputs("</dl>\n<nav>", f);
    for (unsigned w = 0; w < workload_count; w++)
        if (has_rows(o, w))
            fprintf(f, "<a href=\"#%s\">%s</a> ", workloads[w].name, workloads[w].name);
    fputs("<a href=\"#engines\">how each is set</a></nav>\n", f);
}

void report_html(FILE *f, const outcome *o)
{
    put_head(f, o);
    plot_standing(f, o, false);
    put_targets(f, o);
    for (unsigned w = 0; w < workload_count; w++)
        if (has_rows(o, w)) put_workload(f, o, w);
    fputs(engines_head, f);
    for (const engine *const *e = all_engines; *e; e++) put_engine(f, *e);
    fputs(page_end, f);
}
