/*
 * bench/run.c: see run.h.
 *
 * The parent does nothing while a run goes on but look, a hundred times a second, how much anonymous memory the
 * child has (RssAnon); what it has at the end the child looks up itself. The peak is the most of these. Between
 * runs the file system is synced, so that none begins among the writes of the one before, and the disk is let come to
 * rest, as it is told of freed blocks behind that (discards, which hold up all else); no cache is dropped.
 */
#include "bench/run.h"

#include "bench/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS_PER_S = 100,
    SETTLE_QUIET = 20,  /* looks in a row at a disk that does nothing, */
    SETTLE_LOOKS = 300, /*   of so many at most */
    RUN_SECONDS_MAX = 900,
    SECONDS_MAX = 6,
    SEGMENT_MIN = 65536,
    TIMES_ROOM = 4, /* as large as all, of one that is not sealed */
    ROLLS_WANTED = 100
};

#define TRIAL 0.01 /* at most so much of the records only shows that it runs: no disk needs to rest for that */

static char run_dir[PATH_ROOM], kept_dir[PATH_ROOM];
static volatile sig_atomic_t interrupted;

static result *slot_of(const outcome *o, unsigned w, unsigned c, unsigned round)
{
    return &o->results[((size_t)w * CONTENDERS_MAX + c) * o->plan->rounds + round];
}

const result *result_of(const outcome *o, unsigned w, unsigned c, unsigned round)
{
    return slot_of(o, w, c, round);
}

static bool is_named(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && strncmp(at, name, n) == 0) return true;
    return false;
}

/* In a pool or a bucket u9 and the floors of it; elsewhere all others. */
static bool takes_part(const plan *p, const contender *c)
{
    if (c->engine != &engine_u9 && !is_place(c->engine->place, place_of(p->dir))) return false;
    return p->engines == NULL || is_named(p->engines, c->engine->name);
}

/* Whether the row's pace is none, or that of a row that runs. */
static bool has_pace(const plan *p, const workload *w, const contender *row)
{
    if (w->pace == NULL || row->engine->side == SIDE_FLOOR) return true;
    const contender *pace = &w->contenders[contender_named(w, w->pace)];
    return takes_part(p, pace) && engine_version(pace->engine) != NULL;
}

row_state state_of(const outcome *o, unsigned w, unsigned c)
{
    const contender *row = &workloads[w].contenders[c];
    if (!takes_part(o->plan, row) || !has_pace(o->plan, &workloads[w], row)) return ROW_LEFT_OUT;
    if (engine_version(row->engine) == NULL) return ROW_NOT_BUILT;
    for (unsigned r = 0; r < o->rounds; r++)
        if (result_of(o, w, c, r)->ok) return ROW_RAN;
    return ROW_FAILED;
}

bool any_failed(const outcome *o)
{
    for (unsigned w = 0; w < workload_count; w++)
        for (unsigned c = 0; o->plan->wanted[w] && c < contender_count(&workloads[w]); c++)
            for (unsigned r = 0; r < o->rounds; r++)
                if (state_of(o, w, c) >= ROW_FAILED && !result_of(o, w, c, r)->ok) return true;
    return false;
}

/* The first that is not 0; else 1. */
static unsigned first_of(unsigned a, unsigned b, unsigned c)
{
    return a ? a : b ? b : c ? c : 1;
}

/* What is only read lies where the next run that reads the same finds it. Threads and the guard are the reader's. */
static void name_kept(const plan *p, const workload *load, job_spec *job)
{
    bool reads = load->deed == DO_SCAN || load->deed == DO_SCAN_AGAIN || load->deed == DO_GET ||
                 load->deed == DO_GET_COLD || (load->deed == DO_VERIFY && job->spoil == NULL);
    if (!reads || job->engine->open == NULL || place_of(p->dir)) return;
    snprintf(job->kept, sizeof job->kept, "%s/%s-%llu-%zu-%u-%llu%s%s%s%s", kept_dir, job->engine->name,
             (unsigned long long)job->records, p->value_size ? p->value_size : load->value_size, job->batch,
             (unsigned long long)job->segment_size, job->compressed ? "-packed" : "", job->keyed ? "-keyed" : "",
             job->random ? "-random" : "", job->usual && job->engine->side == SIDE_PEER ? "-usual" : "");
}

void job_of(const plan *p, unsigned w, unsigned c, job_spec *out)
{
    const workload *load = &workloads[w];
    const contender *row = &load->contenders[c];
    double records = (double)load->records * p->scale * (row->share > 0 ? row->share : 1);
    *out = (job_spec){.engine = row->engine,
                      .io = p->io,
                      .policy = p->policy,
                      .records = records < 1 ? 1 : (uint64_t)(records + 0.5),
                      .threads = first_of(p->threads, row->threads, load->threads),
                      .batch = first_of(p->batch, row->batch, load->batch),
                      .usual = row->usual,
                      .cold = row->cold,
                      .durable = load->durable && !row->plain,
                      .compressed = load->compressed && !row->plain,
                      .keyed = load->keyed,
                      .random = load->random,
                      .holds = row->holds,
                      .spoil = row->spoil,
                      .seconds_max = load->seconds_max > 0 ? load->seconds_max : SECONDS_MAX};
    snprintf(out->dir, sizeof out->dir, "%s", run_dir);
}

/* True if the disk that `dir` is on does something just now; false also where the system does not tell. */
static bool disk_is_busy(const char *dir)
{
    struct stat st;
    char path[64];
    unsigned long under_way = 0;
    if (stat(dir, &st) != 0) return false;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/stat", major(st.st_dev), minor(st.st_dev));
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    if (fscanf(f, "%*u %*u %*u %*u %*u %*u %*u %*u %lu", &under_way) != 1) under_way = 0;
    fclose(f);
    return under_way > 0;
}

/* No run begins among the writes of the one before, nor while the disk takes back what its files had. */
static void settle(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) syncfs(fd), close(fd);
    for (unsigned look = 0, quiet = 0; look < SETTLE_LOOKS && quiet < SETTLE_QUIET; look++) {
        quiet = disk_is_busy(dir) ? 0 : quiet + 1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000000 / LOOKS_PER_S}, NULL);
    }
}

static void look_at_memory(pid_t pid, uint64_t *peak)
{
    uint64_t anon = status_kb(pid, "RssAnon:") * 1024;
    if (anon > *peak) *peak = anon;
}

/* Waits for the child. Returns the most anonymous memory that it was seen to have. */
static uint64_t watch(pid_t pid)
{
    uint64_t peak = 0;
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        look_at_memory(pid, &peak);
        nanosleep(&(struct timespec){.tv_nsec = 1000000000 / LOOKS_PER_S}, NULL);
    }
    return peak;
}

static void in_child(deed what, const job_spec *job, result *out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    alarm(RUN_SECONDS_MAX);
    drive(what, job, out);
    _exit(0);
}

static void run_job(deed what, const job_spec *job, result *out)
{
    result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || (!place_of(run_dir) && mkdir(run_dir, 0755) != 0)) die(run_dir, NULL);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) in_child(what, job, shared);
    if (pid < 0) die("fork", NULL);
    uint64_t peak = watch(pid);
    *out = *shared;
    if (out->anon_end > peak) peak = out->anon_end;
    out->anon_peak = peak > out->anon_before ? peak - out->anon_before : 0;
    out->anon_end = out->anon_end > out->anon_before ? out->anon_end - out->anon_before : 0;
    if (job->engine->elsewhere) out->rss_peak = out->anon_peak = out->anon_end = 0;
    munmap(shared, sizeof *shared);
    if (!out->ok || !job->kept[0] || rename(run_dir, job->kept) != 0) remove_store(run_dir);
}

static void ready_data(const plan *p, const workload *w)
{
    static size_t made = SIZE_MAX;
    size_t size = p->value_size ? p->value_size : w->value_size;
    if (made == size || (p->data && made != SIZE_MAX)) return;
    free_data();
    if (p->data) load_data(p->data);
    else make_data(size);
    made = size;
}

/* The last result of a row that ran, NULL if there is none yet. */
static const result *last_result(const outcome *o, unsigned w, const char *id)
{
    int c = contender_named(&workloads[w], id);
    for (unsigned r = o->plan->rounds; c >= 0 && r-- > 0;)
        if (result_of(o, w, (unsigned)c, r)->ok) return result_of(o, w, (unsigned)c, r);
    return NULL;
}

/* Floors write what u9's files hold. */
static void size_floor(const outcome *o, unsigned w, job_spec *job)
{
    const result *ours = last_result(o, w, "u9");
    if (ours && ours->records > 0)
        job->file_bytes =
            (uint64_t)((double)ours->file_bytes * (double)job->records / (double)ours->records);
}

/*
 * Room for the records, and for what each takes at least: what stands around them makes it some more segments. Of one, a
 * second that is small, so that the first is sealed, and that costs next to nothing to go through.
 */
static uint64_t size_of_segment(uint64_t records, unsigned count)
{
    enum { OF_RECORD = 6 }; /* bytes: the typecodes of key and value, its length, a share of the frame's header */
    uint64_t bytes = data_bytes(records) + records * OF_RECORD;
    uint64_t size = count == ONE_OPEN ? bytes * TIMES_ROOM + (1 << 20) : bytes / count;
    return size > SEGMENT_MIN ? size : SEGMENT_MIN;
}

/* Returns whether the pace is known. */
static bool set_pace(const outcome *o, unsigned w, job_spec *job)
{
    const result *floor = last_result(o, w, workloads[w].pace);
    job->segment_size = size_of_segment(job->records, ROLLS_WANTED);
    if (floor == NULL || floor->seconds <= 0) return false;
    job->bytes_per_s = (double)floor->bytes / floor->seconds / 2;
    return true;
}

static void tell(const plan *p, unsigned round, const workload *w, const contender *c,
                 const result *r)
{
    char text[32];
    if (p->quiet) return;
    fprintf(stderr, "round %u of %u  %-11s %-34s %12s %s\n", round + 1, p->rounds, w->name,
            contender_label(c),
            r->ok ? metric_text(w->shown, metrics[w->shown].of(r), text) : "failed",
            metrics[w->shown].unit);
}

static void run_row(const outcome *o, unsigned w, unsigned c, unsigned round)
{
    const workload *load = &workloads[w];
    const contender *row = &load->contenders[c];
    result *out = slot_of(o, w, c, round);
    job_spec job;
    if (state_of(o, w, c) < ROW_FAILED || interrupted) return;
    ready_data(o->plan, load);
    job_of(o->plan, w, c, &job);
    if (load->deed == DO_OPEN) job.segment_size = SEGMENT_MIN;
    if (row->segments > 0) job.segment_size = size_of_segment(job.records, row->segments);
    name_kept(o->plan, load, &job);
    if (row->engine->side == SIDE_FLOOR) size_floor(o, w, &job);
    else if (load->pace && !set_pace(o, w, &job)) return; /* the floor failed */
    run_job(load->deed, &job, out);
    if (o->plan->scale > TRIAL) settle(o->plan->dir);
    tell(o->plan, round, load, row, out);
}

static void run_round(const outcome *o, unsigned round)
{
    for (unsigned w = 0; w < workload_count; w++) {
        unsigned n = o->plan->wanted[w] ? contender_count(&workloads[w]) : 0;
        for (unsigned i = 0; i < n; i++) run_row(o, w, round % 2 ? n - 1 - i : i, round);
    }
}

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* What was asked for ends early on Ctrl-C: the rounds that were done are told. */
static void catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal};
    sigaction(SIGINT, &a, NULL);
}

/* Where runs make their stores, and where those lie that others read. In a pool or a bucket none are kept. */
static void name_places(const char *dir)
{
    if (place_of(dir)) {
        pool_load(dir);
        if (!pool_address(dir, run_dir, sizeof run_dir)) die("--dir is too long", NULL);
        return;
    }
    snprintf(run_dir, sizeof run_dir, "%s/u9bench.%ld", dir, (long)getpid());
    snprintf(kept_dir, sizeof kept_dir, "%s/u9bench.%ld.kept", dir, (long)getpid());
    if (mkdir(kept_dir, 0755) != 0) die(kept_dir, NULL);
}

void run_plan(const plan *p, outcome *out)
{
    double start = now(), last = 0; /* seconds of the last round: the first one also fills what all read */
    *out = (outcome){.plan = p};
    out->results =
        calloc((size_t)workload_count * CONTENDERS_MAX * p->rounds, sizeof out->results[0]);
    if (out->results == NULL || workload_count > WORKLOADS_MAX) die("memory for results", NULL);
    name_places(p->dir);
    catch_signals();
    while (out->rounds < p->rounds && !interrupted) {
        double began = now();
        if (p->minutes > 0 && out->rounds > 0 && began - start + last > p->minutes * 60) break;
        run_round(out, out->rounds++);
        last = now() - began;
        if (!p->quiet) fprintf(stderr, "round %u took %.0f seconds\n", out->rounds, last);
    }
    out->seconds = now() - start;
    if (kept_dir[0]) remove_store(kept_dir);
    free_data();
}

void free_outcome(outcome *out)
{
    free(out->results);
    out->results = NULL;
}
