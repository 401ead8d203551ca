/*
 * examples/scan_mpi.c: a log read by the ranks of an MPI job, each a range of it at a time; totals as `u9 scan` has them.
 *
 *     mpirun -n 4 scan_mpi /data/log
 *     mpirun -n 4 scan_mpi s3://bucket/logs/mylog
 *
 * Each rank needs the log, or a copy of it, at that path or address. Rank 0 plans and sends everybody the lines of the
 * plan, which is all that ranks need to know of each other: a scheduler that starts processes by itself can do the same
 * with `u9 split` and `u9 scan --range`. Built with: mpicc scan_mpi.c $(pkg-config --cflags --libs u9), and for logs
 * whose segments are elsewhere -DWITH_S3 and u9-s3, -DWITH_RADOS and u9-rados.
 *
 * Exit status: 0 done, 3 records were lost to damage, which is told on standard error, 4 a range could not be read.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <u9.h>
#ifdef WITH_S3
#include <u9/s3.h>
#endif
#ifdef WITH_RADOS
#include <u9/rados.h>
#endif

static u9_store_fn *const stores[] = {
#ifdef WITH_S3
    u9_s3_store,
#endif
#ifdef WITH_RADOS
    u9_rados_store,
#endif
    NULL};

enum { DONE = 0, USAGE = 2, LOST = 3, FAILED = 4, SHARES = 4 };

static int rank, ranks, status; /* the gravest so far */

static void raise_to(int other)
{
    if (other > status) status = other;
}

static void say(const u9_fault *fault)
{
    char text[1024];
    fprintf(stderr, "rank %d: %s\n", rank, u9_fault_line(fault, text, sizeof text));
    raise_to(FAILED);
}

static void on_damage(void *ctx, const u9_damage *d)
{
    (void)ctx;
    if (d->verdict == U9_V_TORN && d->reason != U9_R_TRIMMED) return; /* what a crash leaves */
    fprintf(stderr, "rank %d: %s [%" PRIu64 ",%" PRIu64 "): %s\n", rank, d->path, d->begin, d->end,
            u9_reason_text(d->reason));
    if (d->lost > 0) raise_to(LOST);
}

/* Rank 0 plans; all get the lines, NULL if there are none. Returns how many. */
static int share_plan(u9_log *log, char (**lines)[U9_SPLIT_LINE_SIZE])
{
    u9_split_range *plan = NULL;
    u9_fault fault;
    size_t n = 0;
    if (rank == 0 && u9_log_split(log, (uint64_t)ranks * SHARES, 0, &plan, &n, &fault) != U9_OK) say(&fault);
    int count = (int)n;
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    *lines = calloc((size_t)count + 1, sizeof **lines);
    if (*lines == NULL) MPI_Abort(MPI_COMM_WORLD, FAILED);
    for (size_t i = 0; i < n; i++) u9_split_format(&plan[i], (*lines)[i]);
    u9_split_free(plan);
    MPI_Bcast(*lines, count * U9_SPLIT_LINE_SIZE, MPI_CHAR, 0, MPI_COMM_WORLD);
    return count;
}

static void read_range(u9_log *log, const char *line, u9_tally *tally)
{
    u9_split_range range;
    u9_cursor *cursor;
    u9_record record;
    u9_fault fault = {0};
    u9_err err = u9_split_parse(line, strlen(line), &range, &fault);
    if (err == U9_OK) err = u9_range_open(log, &range, &cursor, &fault);
    if (err != U9_OK) {
        say(&fault);
        return;
    }
    while ((err = u9_cursor_next(cursor, &record)) == U9_OK || err == U9_LIMIT)
        if (u9_tally_record(tally, log, &record, &fault) != U9_OK) break; /* here would be the work on the record */
    if (err != U9_OK && err != U9_LIMIT && err != U9_END) u9_cursor_fault(cursor, &fault);
    if (fault.err != U9_OK) say(&fault);
    u9_cursor_close(cursor);
}

/* Adds up what the ranks counted, on rank 0, and lets all know the gravest status. */
static void gather(u9_tally *tally)
{
    uint64_t mine[4] = {tally->records, tally->bytes, tally->low, tally->high};
    uint64_t(*all)[4] = calloc((size_t)ranks, sizeof *all);
    int gravest = FAILED;
    if (all == NULL) MPI_Abort(MPI_COMM_WORLD, FAILED);
    MPI_Gather(mine, 4, MPI_UINT64_T, all, 4, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < ranks; i++)
        u9_tally_merge(tally, &(u9_tally){.records = all[i][0], .bytes = all[i][1], .low = all[i][2], .high = all[i][3]});
    free(all);
    MPI_Allreduce(&status, &gravest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    status = gravest;
}

static void scan(const char *path)
{
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage};
    u9_log *log = NULL;
    u9_fault fault;
    u9_tally tally = {0};
    char(*lines)[U9_SPLIT_LINE_SIZE] = NULL;
    for (unsigned i = 0; stores[i]; i++)
        if (u9_store_add(stores[i], &fault) != U9_OK) say(&fault);
    if (u9_log_open(path, &options, &log, &fault) != U9_OK) say(&fault);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int count = status == FAILED ? 0 : share_plan(log, &lines);
    for (int i = rank; i < count; i += ranks) read_range(log, lines[i], &tally);
    gather(&tally);
    if (rank == 0 && status != FAILED)
        printf("records %" PRIu64 "\nbytes   %" PRIu64 "\ndigest  %016" PRIx64 "%016" PRIx64 "\n", tally.records,
               tally.bytes, tally.high, tally.low);
    free(lines);
    if (log && u9_log_close(log, &fault) != U9_OK) say(&fault);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 2) scan(argv[1]);
    else if (rank == 0) fprintf(stderr, "usage: %s LOG\n", argv[0]);
    MPI_Finalize();
    return argc == 2 ? status : USAGE;
}
