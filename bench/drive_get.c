/*
 * bench/drive_get.c: see drive_get.h.
 */
#include "bench/drive_get.h"

#include "bench/drive_append.h"

enum {
    FIRST = 10000,
    WARM_UP = 1000000,
    COLD = 100,
    CHECKED = 256, /* lookups between two looks at the clock */
    TIMED = 16,    /* of so many one is timed: looking at the clock waits for all that came before */
    ROUNDS = 10    /* as many lookups as records so often are enough, of a small store */
};

static uint64_t enough(const job_spec *job)
{
    return job->records * ROUNDS + CHECKED;
}

/* Record numbers all over the store. */
static uint64_t some_record(const job_spec *job, uint64_t draw)
{
    return mixed(draw) % job->records;
}

static void get_one(const job_spec *job, uint64_t draw)
{
    if (!job->engine->get(some_record(job, draw))) die("get: a record is not there", NULL);
}

/* Returns how many were looked up: at most so many, and within so many seconds. */
static uint64_t warm_up(const job_spec *job, uint64_t most, double seconds)
{
    uint64_t done = 0;
    for (double start = now(); done < most && (done % CHECKED || now() - start < seconds); done++)
        get_one(job, done);
    return done;
}

static void time_one(const job_spec *job, uint64_t draw, latencies *took)
{
    uint64_t before = now_ns();
    get_one(job, draw);
    note_latency(took, now_ns() - before);
}

/* All are counted, and of `each` one after the other the last one is timed. */
static void time_lookups(const job_spec *job, uint64_t most, unsigned each, result *out)
{
    static latencies took;
    double start = now();
    for (uint64_t n = 0; n < most;) {
        uint64_t draw = WARM_UP + n++;
        if (n % each == 0) time_one(job, draw, &took);
        else get_one(job, draw);
        out->records = n;
        if (n % CHECKED == 0 && now() - start >= job->seconds_max) break;
    }
    out->seconds = now() - start;
    keep_latencies(&took, out);
}

/* In a second. */
static double rate_of_absent(const job_spec *job)
{
    uint64_t done = 0;
    double start = now(), took;
    do {
        for (unsigned i = 0; i < CHECKED; i++)
            if (job->engine->get(some_record(job, done++) | KEY_ABSENT)) die("get: a record that is none", NULL);
    } while ((took = now() - start) < job->seconds_max / 2 && done < enough(job));
    return (double)done / took;
}

/* One by one where the engine has no call for more. */
static size_t get_those(const job_spec *job, const uint64_t *numbers)
{
    size_t found = 0;
    if (job->engine->get_many) return job->engine->get_many(numbers, MANY);
    for (unsigned i = 0; i < MANY; i++) found += job->engine->get(numbers[i]);
    return found;
}

static double rate_of_many(const job_spec *job)
{
    uint64_t numbers[MANY], done = 0;
    double start = now(), took;
    do {
        for (unsigned i = 0; i < MANY; i++) numbers[i] = some_record(job, 2 * WARM_UP + done++);
        if (get_those(job, numbers) != MANY) die("get_many: a record is not there", NULL);
    } while ((took = now() - start) < job->seconds_max / 2 && done < enough(job));
    return (double)done / took;
}

void look_up(const job_spec *job, result *out)
{
    if (job->engine->side == SIDE_U9) job->engine->scan(); /* all is verified then; for others the page cache is all */
    double start = now();
    uint64_t first = warm_up(job, FIRST, job->seconds_max);
    out->first = (now() - start) / (double)first;
    warm_up(job, WARM_UP < enough(job) ? WARM_UP : enough(job), 2 * job->seconds_max);
    time_lookups(job, enough(job), TIMED, out);
    out->absent = rate_of_absent(job);
    out->many = rate_of_many(job);
}

void look_up_cold(const job_spec *job, result *out)
{
    time_lookups(job, COLD, 1, out);
}
