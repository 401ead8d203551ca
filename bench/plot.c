/*
 * bench/plot.c: see plot.h. Lengths are in pixels of a picture PLOT_WIDTH wide, which scales with its page.
 */
#include "bench/plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROW = 26,
    LABEL_END = 262,
    BAR_AT = 272,
    BAR_ROOM = 390,
    TEXT_END = PLOT_WIDTH - 4,
    DOT = 9
};

const char plot_style[] =
    ":root{--paper:#fff;--ink:#1b1f24;--faint:#667085;--grid:#d9dee5;--u9:#0b66d8;--u9-soft:#cfe2fb;--peer:#9aa7b7;"
    "--good:#17803d;--bad:#c2410c;--rocksdb:#b45309;--leveldb:#0f766e;--lmdb:#be123c;--sqlite:#7e22ce;"
    "--journal:#475569}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e6e9ee;--faint:#98a2b3;--grid:#353b44;"
    "--u9:#4d9bff;--u9-soft:#1c3a5e;--peer:#667384;--good:#4ade80;--bad:#fb923c;--rocksdb:#d97706;--leveldb:#14918a;"
    "--lmdb:#e11d48;--sqlite:#a855f7;--journal:#64748b}}\n"
    "svg{font:13px system-ui,sans-serif;fill:var(--ink);max-width:100%;height:auto}\n"
    "svg .faint{fill:var(--faint)} svg .strong{font-weight:600} svg .end{text-anchor:end} "
    "svg .middle{text-anchor:middle}\n"
    "svg .grid{stroke:var(--grid)} svg .axis{stroke:var(--ink);stroke-width:1.5} "
    "svg .whisker{stroke:var(--ink);stroke-width:1.2;opacity:.6}\n"
    "svg .u9{fill:var(--u9)} svg .peer{fill:var(--peer)} "
    "svg .floor{fill:none;stroke:var(--faint);stroke-width:1.3;stroke-dasharray:4 3}\n"
    "svg .ours{stroke:var(--u9);stroke-dasharray:2 3} svg .good{fill:var(--good)} svg .bad{fill:var(--bad)}\n"
    "svg .diamond{fill:var(--paper);stroke:var(--ink);stroke-width:1.5} svg .dot text{fill:#fff;font-size:11px;"
    "font-weight:700;text-anchor:middle}\n"
    "svg .rocksdb{fill:var(--rocksdb)} svg .leveldb{fill:var(--leveldb)} svg .lmdb{fill:var(--lmdb)} "
    "svg .sqlite{fill:var(--sqlite)} svg .journal{fill:var(--journal)}\n";

static void open_svg(FILE *f, unsigned height, const char *title, bool alone)
{
    fprintf(
        f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\" role=\"img\">",
        PLOT_WIDTH, height, PLOT_WIDTH, height);
    fputs("<title>", f);
    put_text(f, title);
    fputs("</title>\n", f);
    if (alone) {
        fprintf(f, "<style>%s</style>\n", plot_style);
        fprintf(f, "<rect width=\"%d\" height=\"%u\" style=\"fill:var(--paper)\"/>\n", PLOT_WIDTH,
                height);
    }
}

static void line(FILE *f, const char *kind, double x1, double y1, double x2, double y2)
{
    fprintf(f, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind, x1,
            y1, x2, y2);
}

static void text(FILE *f, const char *kind, double x, double y, const char *what)
{
    fprintf(f, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", kind, x, y);
    put_text(f, what);
    fputs("</text>\n", f);
}

static const char *const side_class[] = {
    [SIDE_U9] = "u9", [SIDE_FLOOR] = "floor", [SIDE_PEER] = "peer"};

/* A logarithmic scale. */
typedef struct log_scale {
    double least, most; /* of the figures */
    double from, to;    /* of the picture */
} log_scale;

static double place(const log_scale *s, double value)
{
    double v = value < s->least ? s->least : value > s->most ? s->most : value;
    return s->from + (s->to - s->from) * log(v / s->least) / log(s->most / s->least);
}

typedef const char *tick_word(double value, char out[32]);

static const char *times(double value, char out[32])
{
    snprintf(out, 32, "%g x", value);
    return out;
}

static const char *microseconds(double value, char out[32])
{
    if (value < 1e3) snprintf(out, 32, "%g µs", value);
    else if (value < 1e6) snprintf(out, 32, "%g ms", value / 1e3);
    else snprintf(out, 32, "%g s", value / 1e6);
    return out;
}

/* Each decade has its figure, where there is room 2 and 5 in it, too. */
static void log_ticks(FILE *f, const log_scale *s, double top, double bottom, tick_word *word)
{
    static const double steps[] = {1, 2, 5};
    double decade = (s->to - s->from) / log10(s->most / s->least);
    char text_of[32];
    for (int e = -6; e <= 9; e++)
        for (unsigned i = 0; i < 3; i++) {
            double v = steps[i] * pow(10, e), x = place(s, v);
            if (v < s->least * 0.999 || v > s->most * 1.001) continue;
            line(f, "grid", x, top, x, bottom);
            if (decade < 160 && i > 0) continue;
            text(f, "faint middle", x, bottom + 15, word(v, text_of));
        }
}

/* Where u9 stands. */

/* Shown there: not u9 itself, and of each other engine what is set as fast as is fair. */
static bool stands(const outcome *o, unsigned w, unsigned c)
{
    const contender *row = &workloads[w].contenders[c];
    bool first = true;
    for (unsigned i = 0; i < c; i++)
        first = first && workloads[w].contenders[i].engine != row->engine;
    return first && !row->usual && row->engine->side != SIDE_U9 && advantage(o, w, c).count > 0;
}

static unsigned standing(const outcome *o, unsigned w)
{
    unsigned n = 0;
    for (unsigned c = 0; has_rows(o, w) && c < contender_count(&workloads[w]); c++)
        n += stands(o, w, c);
    return n;
}

static log_scale scale_of_all(const outcome *o)
{
    log_scale s = {.least = 0.5, .most = 10, .from = BAR_AT + DOT, .to = PLOT_WIDTH - 24};
    for (unsigned w = 0; w < workload_count; w++)
        for (unsigned c = 0; has_rows(o, w) && c < contender_count(&workloads[w]); c++) {
            if (!stands(o, w, c)) continue;
            double ratio = advantage(o, w, c).median;
            if (ratio < s.least * 1.1) s.least = ratio / 1.2;
            if (ratio > s.most / 1.1) s.most = ratio * 1.2;
        }
    if (s.least < 0.01) s.least = 0.01;
    if (s.most > 1000) s.most = 1000;
    return s;
}

static void put_dot(FILE *f, const engine *e, double x, double y, const char *title)
{
    fputs("<g class=\"dot\"><title>", f);
    put_text(f, title);
    fputs("</title>", f);
    if (e->side == SIDE_FLOOR)
        fprintf(f, "<path class=\"diamond\" d=\"M%.1f %.1fl7 7l-7 7l-7 -7z\"/>", x, y - 7);
    else
        fprintf(
            f,
            "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/><text x=\"%.1f\" y=\"%.1f\">%.2s</text>",
            e->name, x, y, DOT, x, y + 4, e->label);
    fputs("</g>\n", f);
}

typedef struct mark {
    unsigned c;
    spread ratio;
} mark;

static int by_ratio(const void *a, const void *b)
{
    double x = ((const mark *)a)->ratio.median, y = ((const mark *)b)->ratio.median;
    return x < y ? -1 : x > y;
}

/* Dots of one workload, from left to right; one that would cover the last is moved down or up. */
static void put_dots(FILE *f, const outcome *o, unsigned w, const log_scale *s, double y)
{
    mark marks[CONTENDERS_MAX];
    unsigned n = 0, level = 0;
    double last = -100;
    char words[200], ratio[64];
    for (unsigned c = 0; c < contender_count(&workloads[w]); c++)
        if (stands(o, w, c)) marks[n++] = (mark){c, advantage(o, w, c)};
    qsort(marks, n, sizeof marks[0], by_ratio);
    for (unsigned i = 0; i < n; i++) {
        static const double shifts[] = {0, 11, -11};
        const contender *row = &workloads[w].contenders[marks[i].c];
        double x = place(s, marks[i].ratio.median);
        level = x - last < 2 * DOT ? (level + 1) % 3 : 0;
        last = x;
        line(f, "whisker", place(s, marks[i].ratio.least), y + shifts[level],
             place(s, marks[i].ratio.most), y + shifts[level]);
        snprintf(words, sizeof words, "%s: u9 is %s", contender_label(row),
                 ratio_spread_text(marks[i].ratio, ratio));
        put_dot(f, row->engine, x, y + shifts[level], words);
    }
}

static void put_legend(FILE *f, double y)
{
    double x = BAR_AT + DOT;
    put_dot(f, &floor_uring, x, y, "floor");
    text(f, "", x + 12, y + 4, "a floor");
    x += 88;
    for (const engine *const *e = all_engines; *e; e++) {
        if ((*e)->side != SIDE_PEER) continue;
        put_dot(f, *e, x, y, (*e)->label);
        text(f, "", x + 13, y + 4, (*e)->label);
        x += 38 + 8.0 * (double)strlen((*e)->label);
    }
}

void plot_standing(FILE *f, const outcome *o, bool alone)
{
    enum { TOP = 66, STEP = 42 };
    unsigned n = 0, at = 0;
    for (unsigned w = 0; w < workload_count; w++) n += standing(o, w) > 0;
    log_scale s = scale_of_all(o);
    double bottom = TOP + n * STEP;
    open_svg(f, (unsigned)bottom + 28, "Where u9 stands: how many times better it is", alone);
    text(f, "strong", 4, 18, "How many times better u9 is");
    text(
        f, "faint", BAR_AT, 18,
        "left of 1 the other is better; lines: spread of the rounds; a dot at an edge lies beyond it");
    put_legend(f, 42);
    log_ticks(f, &s, TOP, bottom, times);
    line(f, "axis", place(&s, 1), TOP - 4, place(&s, 1), bottom);
    for (unsigned w = 0; w < workload_count; w++) {
        if (standing(o, w) == 0) continue;
        double y = TOP + STEP / 2.0 + STEP * at++;
        text(f, "end", LABEL_END, y + 4, workloads[w].title);
        put_dots(f, o, w, &s, y);
    }
    fputs("</svg>\n", f);
}

/* Bars. */

static double greatest(const outcome *o, unsigned w, metric m)
{
    double most = 0;
    for (unsigned c = 0; c < contender_count(&workloads[w]); c++) {
        spread s = figures(o, w, c, m);
        if (s.most > most) most = s.most;
    }
    return most;
}

static unsigned rows_shown(const outcome *o, unsigned w)
{
    unsigned n = 0;
    for (unsigned c = 0; c < contender_count(&workloads[w]); c++)
        n += state_of(o, w, c) != ROW_LEFT_OUT;
    return n;
}

static void put_label(FILE *f, const outcome *o, unsigned w, unsigned c, double y)
{
    const contender *row = &workloads[w].contenders[c];
    const char *absence = absence_text(o, w, c);
    text(f,
         row->engine->side == SIDE_U9 ? "end strong"
         : absence                    ? "end faint"
                                      : "end",
         LABEL_END, y + 4, contender_label(row));
    if (absence) text(f, "faint", BAR_AT, y + 4, absence);
}

static void put_advantage(FILE *f, const outcome *o, unsigned w, unsigned c, double y)
{
    spread s = advantage(o, w, c);
    char ratio[64], words[100];
    if (our_row(w) == (int)c || s.count == 0) return;
    snprintf(words, sizeof words, "u9 is %s", ratio_text(s, ratio));
    text(f, s.median >= 1 ? "end good" : "end bad", TEXT_END, y + 4, words);
}

static void put_bar(FILE *f, const outcome *o, unsigned w, unsigned c, double unit, double y)
{
    const contender *row = &workloads[w].contenders[c];
    metric m = workloads[w].shown;
    spread s = figures(o, w, c, m);
    char number[32];
    put_label(f, o, w, c, y);
    if (s.count == 0) return;
    fprintf(f, "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"16\" rx=\"2\"/>\n",
            side_class[row->engine->side], BAR_AT, y - 8,
            s.median * unit < 1 ? 1 : s.median * unit);
    line(f, "whisker", BAR_AT + s.least * unit, y, BAR_AT + s.most * unit, y);
    text(f, "", BAR_AT + s.most * unit + 8, y + 4, metric_text(m, s.median, number));
    put_advantage(f, o, w, c, y);
}

void plot_bars(FILE *f, const outcome *o, unsigned w)
{
    const metric_info *m = &metrics[workloads[w].shown];
    unsigned n = rows_shown(o, w), at = 0;
    double most = greatest(o, w, workloads[w].shown), unit = most > 0 ? BAR_ROOM / most : 0;
    int ours = our_row(w);
    char words[100];
    open_svg(f, 34 + n * ROW, workloads[w].title, false);
    snprintf(words, sizeof words, "%s, %s is better", m->heading,
             m->lower_is_better ? "less" : "more");
    text(f, "faint", BAR_AT, 16, words);
    if (ours >= 0 && figures(o, w, (unsigned)ours, workloads[w].shown).count > 0) {
        double x = BAR_AT + unit * figures(o, w, (unsigned)ours, workloads[w].shown).median;
        line(f, "ours", x, 24, x, 28 + n * ROW);
    }
    for (unsigned c = 0; c < contender_count(&workloads[w]); c++)
        if (state_of(o, w, c) != ROW_LEFT_OUT) put_bar(f, o, w, c, unit, 38 + ROW * at++);
    fputs("</svg>\n", f);
}

/* Latencies. */

static log_scale latency_scale(const outcome *o, unsigned w)
{
    log_scale s = {.least = 1e9, .most = 0, .from = BAR_AT, .to = PLOT_WIDTH - 40};
    for (unsigned c = 0; c < contender_count(&workloads[w]); c++)
        for (metric m = M_P50; m <= M_P999; m++) {
            spread got = figures(o, w, c, m);
            if (got.count == 0) continue;
            if (got.median * 1e6 < s.least) s.least = got.median * 1e6;
            if (got.median * 1e6 > s.most) s.most = got.median * 1e6;
        }
    s.least /= 1.3, s.most *= 1.3;
    return s;
}

static void put_latency(FILE *f, const outcome *o, unsigned w, unsigned c, const log_scale *s,
                        double y)
{
    static const double radius[] = {6, 5, 4};
    const char *kind = workloads[w].contenders[c].engine->side == SIDE_U9 ? "u9" : "peer";
    double x[3];
    char words[100], number[32];
    put_label(f, o, w, c, y);
    for (metric m = M_P50; m <= M_P999; m++) {
        spread got = figures(o, w, c, m);
        if (got.count == 0) return;
        x[m - M_P50] = place(s, got.median * 1e6);
    }
    line(f, "whisker", x[0], y, x[2], y);
    for (metric m = M_P50; m <= M_P999; m++) {
        snprintf(words, sizeof words, "%s %s", metrics[m].heading,
                 metric_text(m, figures(o, w, c, m).median, number));
        fprintf(
            f,
            "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.0f\"><title>%s</title></circle>\n",
            kind, x[m - M_P50], y, radius[m - M_P50], words);
    }
}

void plot_latencies(FILE *f, const outcome *o, unsigned w)
{
    unsigned n = rows_shown(o, w), at = 0;
    log_scale s = latency_scale(o, w);
    if (s.most <= 0) return;
    double bottom = 28 + n * ROW;
    open_svg(f, (unsigned)bottom + 24, "Latency of a call", false);
    text(f, "faint", BAR_AT, 16,
         "latency of a call: p50 (large dot), p99, p99.9 (small dot); less is better; logarithmic");
    log_ticks(f, &s, 24, bottom, microseconds);
    for (unsigned c = 0; c < contender_count(&workloads[w]); c++)
        if (state_of(o, w, c) != ROW_LEFT_OUT) put_latency(f, o, w, c, &s, 38 + ROW * at++);
    fputs("</svg>\n", f);
}

void plot_verdict(FILE *f, const verdict *v)
{
    log_scale s = {.least = 0.25, .most = 4, .from = 4, .to = 196};
    spread past = past_bound(v);
    double middle = place(&s, 1), x = place(&s, past.median);
    fputs("<svg viewBox=\"0 0 200 20\" width=\"200\" height=\"20\" role=\"img\">", f);
    line(f, "grid", 4, 10, 196, 10);
    fprintf(f, "<rect class=\"%s\" x=\"%.1f\" y=\"5\" width=\"%.1f\" height=\"10\" rx=\"2\"/>",
            v->met ? "good" : "bad", x < middle ? x : middle,
            fabs(x - middle) < 2 ? 2 : fabs(x - middle));
    line(f, "whisker", place(&s, past.least), 10, place(&s, past.most), 10);
    line(f, "axis", middle, 1, middle, 19);
    fputs("</svg>", f);
}

void report_plot(FILE *f, const outcome *o)
{
    plot_standing(f, o, true);
}
