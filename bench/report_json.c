/*
 * bench/report_json.c: the outcome as JSON: for each row the median, least and most of each figure in the unit
 * that its name tells, and all rounds.
 */
#include "bench/report.h"

static void put_spread(FILE *f, const char *name, spread s, double scale)
{
    fprintf(f, "\"%s\": ", name);
    if (s.count == 0) fputs("null", f);
    else
        fprintf(f, "{\"median\": %.9g, \"least\": %.9g, \"most\": %.9g}", s.median * scale,
                s.least * scale, s.most * scale);
}

static void put_rounds(FILE *f, const outcome *o, unsigned w, unsigned c)
{
    metric m = workloads[w].shown;
    const char *comma = "";
    fprintf(f, "\"rounds\": {\"of\": \"%s\", \"values\": [", metrics[m].name);
    for (unsigned r = 0; r < o->rounds; r++, comma = ", ") {
        const result *done = result_of(o, w, c, r);
        fprintf(f, "%s%.9g", comma, done->ok ? metrics[m].of(done) * metrics[m].scale : 0);
    }
    fputs("]}", f);
}

static void put_job(FILE *f, const outcome *o, unsigned w, unsigned c)
{
    job_spec job;
    job_of(o->plan, w, c, &job);
    fprintf(
        f,
        "\"records_wanted\": %llu, \"threads\": %u, \"batch\": %u, \"durable\": %s, \"compressed\": %s",
        (unsigned long long)job.records, job.threads, job.batch, job.durable ? "true" : "false",
        job.compressed ? "true" : "false");
}

static void put_row(FILE *f, const outcome *o, unsigned w, unsigned c)
{
    const contender *row = &workloads[w].contenders[c];
    const char *absence = absence_text(o, w, c), *version = engine_version(row->engine);
    static const char *const sides[] = {
        [SIDE_U9] = "u9", [SIDE_FLOOR] = "floor", [SIDE_PEER] = "peer"};
    fprintf(f, "      {\"id\": \"%s\", \"label\": ", row->id);
    put_json_text(f, contender_label(row));
    fprintf(f, ", \"engine\": \"%s\", \"side\": \"%s\", \"version\": ", row->engine->name,
            sides[row->engine->side]);
    if (version) put_json_text(f, version);
    else fputs("null", f);
    fputs(", \"config\": ", f);
    put_json_text(f, contender_config(row));
    fputs(",\n       ", f);
    put_job(f, o, w, c);
    fputs(", \"state\": ", f);
    put_json_text(f, absence ? absence : "ran");
    if (!absence) {
        unsigned rolls = 0;
        for (unsigned r = 0; r < o->rounds; r++)
            if (result_of(o, w, c, r)->rolls > rolls) rolls = result_of(o, w, c, r)->rolls;
        fprintf(f, ", \"records\": %.0f, \"rolls\": %u,\n       ", records_done(o, w, c), rolls);
        for (metric m = 0; m < METRICS; m++) {
            put_spread(f, metrics[m].name, figures(o, w, c, m), metrics[m].scale);
            fputs(m % 4 == 3 ? ",\n       " : ", ", f);
        }
        put_spread(f, "u9_is_better", advantage(o, w, c), 1);
        fputs(",\n       ", f);
        put_rounds(f, o, w, c);
    }
    putc('}', f);
}

static void put_workload(FILE *f, const outcome *o, unsigned w)
{
    const workload *load = &workloads[w];
    const char *comma = "";
    fprintf(f, "    {\"name\": \"%s\", \"title\": ", load->name);
    put_json_text(f, load->title);
    fputs(", \"what\": ", f);
    put_json_text(f, load->what);
    fprintf(f, ",\n     \"shown\": \"%s\", \"lower_is_better\": %s, \"rows\": [\n",
            metrics[load->shown].name, metrics[load->shown].lower_is_better ? "true" : "false");
    for (unsigned c = 0; c < contender_count(load); c++) {
        if (state_of(o, w, c) == ROW_LEFT_OUT) continue;
        fputs(comma, f);
        put_row(f, o, w, c);
        comma = ",\n";
    }
    fputs("\n     ]}", f);
}

static void put_target(FILE *f, const verdict *v)
{
    char text[200];
    fputs("    {\"what\": ", f);
    put_json_text(f, target_text(v->target, text));
    fprintf(f, ", \"%s\": %g, ", v->target->at_most ? "at_most" : "at_least", v->bound);
    put_spread(f, "got", v->got, 1);
    fprintf(f, ", \"met\": %s}", v->met ? "true" : "false");
}

static void put_facts(FILE *f, const outcome *o)
{
    for (unsigned i = 0; i < FACTS; i++) {
        fprintf(f, "%s\"%s\": ", i ? ", " : "", facts_of(o)[i].name);
        put_json_text(f, facts_of(o)[i].text);
    }
}

void report_json(FILE *f, const outcome *o)
{
    const char *comma = "";
    fputs("{\"u9bench\": {", f);
    put_facts(f, o);
    fputs("},\n  \"workloads\": [\n", f);
    for (unsigned w = 0; w < workload_count; w++) {
        if (!o->plan->wanted[w]) continue;
        fputs(comma, f);
        put_workload(f, o, w);
        comma = ",\n";
    }
    fputs("\n  ],\n  \"targets\": [\n", f);
    comma = "";
    for (unsigned i = 0; i < target_count; i++) {
        verdict v = verdict_on(o, &targets[i]);
        if (!v.known) continue;
        fputs(comma, f);
        put_target(f, &v);
        comma = ",\n";
    }
    fputs("\n  ]}\n", f);
}
