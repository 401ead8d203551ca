/*
 * bench/report.c: what the reports have in common; and the facts of machine and run.
 */
#include "bench/report.h"

#include "bench/pool.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <u9.h>
#include <unistd.h>

void put_text(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '&') fputs("&amp;", f);
        else if (*text == '<') fputs("&lt;", f);
        else if (*text == '>') fputs("&gt;", f);
        else if (*text == '"') fputs("&quot;", f);
        else putc(*text, f);
    }
}

void put_json_text(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20) fprintf(f, "\\u%04x", *text);
        else {
            if (*text == '"' || *text == '\\') putc('\\', f);
            putc(*text, f);
        }
    }
    putc('"', f);
}

const char *ratio_text(spread s, char out[64])
{
    char text[32];
    if (s.count == 0) return strcpy(out, "-");
    snprintf(out, 64, "%s x", number_text(s.median, text));
    return out;
}

static const char *spread_text(spread s, const char *unit, char out[64])
{
    char middle[32], least[32], most[32];
    if (s.count == 0) return strcpy(out, "-");
    snprintf(out, 64, "%.16s %s%s(%.16s - %.16s)", number_text(s.median, middle), unit,
             *unit ? " " : "", number_text(s.least, least), number_text(s.most, most));
    return out;
}

const char *ratio_spread_text(spread s, char out[64])
{
    return spread_text(s, "x", out);
}

const char *got_text(const verdict *v, char out[64])
{
    return spread_text(v->got, v->target->other ? "x" : metrics[v->target->of].unit, out);
}

const char *absence_text(const outcome *o, unsigned w, unsigned c)
{
    switch (state_of(o, w, c)) {
    case ROW_RAN: return NULL;
    case ROW_FAILED: return "failed";
    case ROW_NOT_BUILT: return "not built";
    case ROW_LEFT_OUT: return "left out";
    }
    return NULL;
}

bool has_rows(const outcome *o, unsigned w)
{
    for (unsigned c = 0; o->plan->wanted[w] && c < contender_count(&workloads[w]); c++)
        if (state_of(o, w, c) == ROW_RAN) return true;
    return false;
}

double records_done(const outcome *o, unsigned w, unsigned c)
{
    double values[ROUNDS_MAX];
    unsigned count = 0;
    for (unsigned r = 0; r < o->rounds; r++)
        if (result_of(o, w, c, r)->ok) values[count++] = (double)result_of(o, w, c, r)->records;
    return count > 0 ? median_of(values, count) : 0;
}

const char *shortfall_text(const outcome *o, unsigned w, unsigned c)
{
    job_spec job;
    job_of(o->plan, w, c, &job);
    if (workloads[w].deed == DO_GET) return "";
    if (records_done(o, w, c) < (double)job.records) return "stopped by time";
    return workloads[w].contenders[c].share > 0 ? "fewer, as it is slow" : "";
}

/* The rest of the first line of `path` that begins with `name`, behind colon and blanks. */
static void line_of(const char *path, const char *name, char *out, size_t cap)
{
    char line[300];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0) {
            const char *at = line + strlen(name);
            at += strspn(at, " \t:");
            snprintf(out, cap, "%.*s", (int)strcspn(at, "\n"), at);
            break;
        }
    if (f) fclose(f);
}

static const char *file_system(const char *dir)
{
    struct statfs s;
    if (place_of(dir)) return is_place(place_of(dir), POOL) ? "none: a Ceph pool" : "none: a bucket of S3";
    if (statfs(dir, &s) != 0) return "unknown";
    switch ((unsigned long)s.f_type) {
    case 0xef53: return "ext4";
    case 0x58465342: return "xfs";
    case 0x9123683e: return "btrfs";
    case 0x01021994: return "tmpfs";
    case 0x794c7630: return "overlayfs";
    default: return "another";
    }
}

/* The io table that u9 used. */
static const char *io_used(const outcome *o)
{
    for (unsigned w = 0; w < workload_count; w++)
        for (unsigned r = 0; our_row(w) >= 0 && r < o->rounds; r++) {
            const result *done = result_of(o, w, (unsigned)our_row(w), r);
            if (done->ok && done->detail[0]) return done->detail;
        }
    return "not run";
}

const fact *facts_of(const outcome *o)
{
    static fact facts[FACTS] = {{.name = "u9"},      {.name = "processor"}, {.name = "memory"},
                                {.name = "kernel"},  {.name = "disk"},      {.name = "when"},
                                {.name = "records"}, {.name = "run"}};
    struct utsname u;
    time_t t = time(NULL);
    char cpu[150] = "unknown";
    if (facts[0].text[0] != 0) return facts;
    const plan *p = o->plan;
    const char *commit = getenv("U9BENCH_COMMIT");
    snprintf(facts[0].text, sizeof facts[0].text, "%s%s%s, io %s", U9_VERSION_TEXT,
             commit ? ", " : "", commit ? commit : "", io_used(o));
    line_of("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    snprintf(facts[1].text, sizeof facts[1].text, "%ld x %s", sysconf(_SC_NPROCESSORS_ONLN), cpu);
    snprintf(facts[2].text, sizeof facts[2].text, "%.1f GiB",
             (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (1 << 30));
    uname(&u);
    snprintf(facts[3].text, sizeof facts[3].text, "%.60s %.60s", u.sysname, u.release);
    snprintf(facts[4].text, sizeof facts[4].text, "file system %s", file_system(p->dir));
    strftime(facts[5].text, sizeof facts[5].text, "%Y-%m-%d %H:%M UTC", gmtime(&t));
    snprintf(facts[6].text, sizeof facts[6].text, "keys of 16 bytes; values %.120s",
             p->data ? p->data : "made up: JSON log lines");
    snprintf(facts[7].text, sizeof facts[7].text, "%u of %u rounds at scale %g, %.0f seconds",
             o->rounds, p->rounds, p->scale, o->seconds);
    return facts;
}
