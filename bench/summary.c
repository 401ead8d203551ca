/*
 * bench/summary.c: see summary.h.
 */
#include "bench/summary.h"

#include <stdio.h>

static spread spread_of(double *values, unsigned count)
{
    if (count == 0) return (spread){0};
    double middle = median_of(values, count); /* sorts */
    return (spread){
        .count = count, .median = middle, .least = values[0], .most = values[count - 1]};
}

spread figures(const outcome *o, unsigned w, unsigned c, metric m)
{
    double values[ROUNDS_MAX];
    unsigned count = 0;
    for (unsigned r = 0; r < o->rounds; r++) {
        const result *done = result_of(o, w, c, r);
        double v = done->ok ? metrics[m].of(done) : 0;
        if (v > 0) values[count++] = v;
    }
    return spread_of(values, count);
}

spread ratios(const outcome *o, unsigned w, unsigned c, unsigned other, metric m)
{
    double values[ROUNDS_MAX];
    unsigned count = 0;
    for (unsigned r = 0; r < o->rounds; r++) {
        const result *a = result_of(o, w, c, r), *b = result_of(o, w, other, r);
        double x = a->ok ? metrics[m].of(a) : 0, y = b->ok ? metrics[m].of(b) : 0;
        if (x > 0 && y > 0) values[count++] = x / y;
    }
    return spread_of(values, count);
}

int our_row(unsigned w)
{
    return contender_named(&workloads[w], "u9");
}

spread advantage(const outcome *o, unsigned w, unsigned c)
{
    metric m = workloads[w].shown;
    int ours = our_row(w);
    if (ours < 0) return (spread){0};
    return metrics[m].lower_is_better ? ratios(o, w, c, (unsigned)ours, m)
                                      : ratios(o, w, (unsigned)ours, c, m);
}

static double bound_of(const outcome *o, const target *t, unsigned w)
{
    int raw = contender_named(&workloads[w], "uring");
    if (t->bound_fast <= 0 || raw < 0) return t->bound;
    return figures(o, w, (unsigned)raw, M_BYTES).median < FAST_DISK ? t->bound : t->bound_fast;
}

static spread in_unit(spread s, double scale)
{
    return (spread){s.count, s.median * scale, s.least * scale, s.most * scale};
}

verdict verdict_on(const outcome *o, const target *t)
{
    verdict v = {.target = t, .w = (unsigned)workload_named(t->workload)};
    unsigned ours = (unsigned)contender_named(&workloads[v.w], t->ours);
    if (t->other)
        v.got = ratios(o, v.w, ours, (unsigned)contender_named(&workloads[v.w], t->other), t->of);
    else v.got = in_unit(figures(o, v.w, ours, t->of), metrics[t->of].scale);
    v.bound = bound_of(o, t, v.w);
    v.known = v.got.count > 0;
    v.met = v.known && (t->at_most ? v.got.median <= v.bound : v.got.median >= v.bound);
    return v;
}

spread past_bound(const verdict *v)
{
    spread s = in_unit(v->got, 1 / v->bound);
    if (!v->target->at_most || s.least <= 0) return s;
    return (spread){s.count, 1 / s.median, 1 / s.most, 1 / s.least};
}

const char *target_text(const target *t, char out[200])
{
    const workload *w = &workloads[workload_named(t->workload)];
    const contender *ours = &w->contenders[contender_named(w, t->ours)];
    if (t->other == NULL) {
        snprintf(out, 200, "%s: %s, %s", t->workload, contender_label(ours),
                 metrics[t->of].heading);
        return out;
    }
    const contender *other = &w->contenders[contender_named(w, t->other)];
    snprintf(out, 200, "%s: %s / %s, %s", t->workload, contender_label(ours),
             contender_label(other), metrics[t->of].heading);
    return out;
}
