/*
 * bench/engine.h: what u9bench runs: u9 itself, peers, and floors, each in a file of its own.
 *
 * A run has its process to itself, so an adapter keeps its state in static variables. What fails in it
 * ends that process (die).
 *
 * A peer whose library is not there when u9bench is built has no version: its rows say "not built". What a
 * function does must be what a user of the engine would do; what was set, and why, stands in `config`.
 */
#ifndef U9_BENCH_ENGINE_H
#define U9_BENCH_ENGINE_H

#include "bench/data.h"
#include "bench/measure.h"

enum { PATH_ROOM = 4096 };

typedef enum side { SIDE_U9, SIDE_FLOOR, SIDE_PEER } side;

typedef struct engine engine;

/* What one run has to do. */
typedef struct job_spec {
    const engine *engine;
    char dir[PATH_ROOM]; /* an empty directory, the run's own */
    char kept[PATH_ROOM + 128]; /* where a store filled the same way lies, if one was filled before; "": none is kept */
    const char *io;      /* of u9: "posix", "uring", NULL */
    int policy;          /* of u9, a u9_policy; -1: commit where calls are durable, else none */
    uint64_t records;    /* to append */
    unsigned threads;    /* that append */
    unsigned batch;      /* records of a call */
    bool usual;          /* set as most people have it, instead of as fast as is fair */
    bool durable;        /* each call waits for stable storage; else only the end does */
    bool compressed;
    bool cold;          /* read from the disk: nothing of it in the page cache */
    bool keyed, random; /* u9 is given its keys, as the others are; keys are in no order */
    bool fills;         /* the store is made, to be read by others */
    bool holds;         /* peers: what is appended stays in memory, and in the log from which that is filled again */
    void (*spoil)(const struct job_spec *job); /* changes the closed store before it is read; NULL: it stays */
    double seconds_max; /* after which appending stops early */
    double
        bytes_per_s; /* open loop: calls are due at this rate of keys and texts; 0: one behind another */
    uint64_t segment_size; /* of u9; 0: its own */
    uint64_t
        file_bytes; /* floors: how much to write, what u9's files hold; 0: the records' bytes */
} job_spec;

/* What came of it. Seconds are of the clock; sizes in bytes. */
typedef struct result {
    bool ok;
    char detail[32];         /* what the engine tells of itself */
    uint64_t records, calls; /* done */
    uint64_t bytes;          /* of their keys and texts */
    uint64_t stored,
        stored_bytes;    /* records that lie in the store in the end, and their keys and texts */
    double seconds;      /* from the first call to the end of the final sync */
    double sync_seconds; /* of these, the final sync */
    double open_seconds, close_seconds;
    double cpu_seconds; /* of all its threads and processes, user and system, from open to close */
    double p50, p99, p999, most;     /* of a call, seconds; 0: not measured */
    double first;            /* seconds of one of the first lookups, in the mean */
    double absent, many;     /* lookups a second of keys that are not there, and of MANY at a time */
    uint64_t index_bytes;    /* of indexes beside the data; 0: not known */
    unsigned rolls;                  /* of the log during the run; 0: not counted */
    uint64_t file_bytes, disk_bytes; /* sum of sizes, and of allocated blocks, after close */
    uint64_t disk_bytes_synced;      /* allocated blocks after the final sync, before close */
    uint64_t rss_peak, anon_peak, anon_end; /* above what the process had before open */
    uint64_t anon_before;                   /* which was so much */
} result;

/*
 * The functions of an engine that stores. `append` appends records first .. first + count - 1 as one call,
 * from any of the job's threads; if the job is durable they are so when it returns.
 */
struct engine {
    const char *name, *label; /* in commands and JSON; in tables */
    side side;
    const char *place; /* a floor of a log there: runs with --dir of it alone ("rados:", "s3://"); NULL: in a folder */
    bool elsewhere; /* another process does the work: this one's memory tells nothing */
    const char *config, *usual_config; /* what is set, one sentence; NULL: nothing */
    const char *(*version)(void);      /* NULL: not built; may return NULL: not there */
    void (*open)(const job_spec *job);
    void (*append)(uint64_t first, size_t count);
    void (*sync)(void); /* all that was appended is durable then */
    void (*close)(void);
    const char *(*detail)(void); /* while it is open: a word on how it runs here; NULL: none */
    /* What some can do besides. A scan sees every byte of every record, in order. */
    uint64_t (*scan)(void);  /* between open and close; returns the number of records */
    uint64_t (*scan_shared)(unsigned threads); /* the same by so many threads, each in an order of its own */
    bool (*get)(uint64_t i); /* between open and close: the record that was appended i-th */
    size_t (*get_many)(const uint64_t *i, size_t count); /* the same of several; returns how many are there */
    uint64_t (*index_bytes)(const job_spec *job); /* of the closed store */
    void (*verify)(const job_spec *job); /* checks the closed store as a whole */
    void (*carve)(const job_spec *job);  /* looks for stores in the image (hostile.h) */
    void (*look)(const job_spec *job);   /* opens it to read, checks and closes it, whatever is found */
    size_t (*rolls)(const job_spec *job, double *times,
                    size_t cap); /* when it rolled: seconds since 1970 */
    /* Instead of all these: runs the job itself and fills records, seconds and whatever else it knows. */
    void (*whole)(const job_spec *job, result *out);
};

extern const engine engine_u9, engine_rocksdb, engine_leveldb, engine_lmdb, engine_sqlite,
    engine_journal;
extern const engine follow_within, follow_between;
extern const engine floor_uring, floor_uring_registered, floor_fio, floor_fio_dsync, floor_dsync,
    floor_dsync_ahead, floor_sha256, floor_lz4, floor_lz4_loop, floor_file_kernel, floor_file_openssl,
    floor_file_mapped, floor_file_search;
extern const engine floor_rados_append, floor_rados_commit, floor_rados_read, floor_rados_range;
extern const engine floor_s3_read, floor_s3_range;

/* All of them, ended by NULL. */
extern const engine *const all_engines[];

/* Its version, NULL if it cannot run here. */
const char *engine_version(const engine *e);

#endif
