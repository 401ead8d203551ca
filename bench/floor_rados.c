/*
 * bench/floor_rados.c: floors of a log in a Ceph pool: bare loops of librados that write, commit and read as many bytes.
 *
 * Writing is 4 MiB a request, each an object, 8 under way; a commit is a request of 4 KiB behind the one before, and its
 * acknowledgement; reading is ranges of 1 MiB, or 64 KiB all over the store, one at a time for each thread.
 */
#include "bench/engine.h"
#include "bench/pool.h"
#include "bench/pool_objects.h"

#if PEER_RADOS

#include <rados/librados.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECT = 4 << 20, UNDER_WAY = 8, COMMIT_BYTES = 4096, RANGE = 1 << 20, SMALL_RANGE = 64 << 10, THREADS_MAX = 64,
       REMOVED_AT_ONCE = 32, OID_SIZE = 32 };

static rados_t cluster;
static rados_ioctx_t io;
static uint8_t *object_bytes;

static const char *version_of_rados(void)
{
    static char text[32];
    int major, minor, extra;
    rados_version(&major, &minor, &extra);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, extra);
    return text;
}

static void must(int err, const char *what)
{
    if (err >= 0) return;
    fprintf(stderr, "u9bench: RADOS: %s: %s\n", what, strerror(-err));
    exit(4);
}

/* The text behind the last "KEY=" of an address, up to the next "&". False: it has none. */
static bool option_of(const char *address, const char *key, char *out, size_t size)
{
    bool found = false;
    size_t n = strlen(key);
    for (const char *at = strchr(address, '?'); at; at = strchr(at, '&')) {
        at++;
        if (strncmp(at, key, n) != 0 || at[n] != '=') continue;
        snprintf(out, size, "%.*s", (int)strcspn(at + n + 1, "&"), at + n + 1);
        found = true;
    }
    return found;
}

static void connect_to(const char *address)
{
    char pool[128], conf[PATH_ROOM], space[128];
    const char *begin = address + strlen("rados:");
    snprintf(pool, sizeof pool, "%.*s", (int)strcspn(begin, "/?"), begin);
    must(rados_create(&cluster, NULL), "client");
    must(rados_conf_read_file(cluster, option_of(address, "conf", conf, sizeof conf) ? conf : NULL), "configuration");
    must(rados_connect(cluster), "connecting");
    must(rados_ioctx_create(cluster, pool, &io), pool);
    if (option_of(address, "namespace", space, sizeof space)) rados_ioctx_set_namespace(io, space);
    if (posix_memalign((void **)&object_bytes, 4096, OBJECT) != 0) die("memory", NULL);
    for (size_t i = 0; i < OBJECT; i++) object_bytes[i] = (uint8_t)(i * 31 + i / 4096);
}

void remove_objects(const char *address)
{
    rados_list_ctx_t list;
    const char *name;
    rados_completion_t under_way[REMOVED_AT_ONCE] = {NULL};
    connect_to(address);
    must(rados_nobjects_list_open(io, &list), "listing");
    for (unsigned i = 0; rados_nobjects_list_next(list, &name, NULL, NULL) == 0; i = (i + 1) % REMOVED_AT_ONCE) {
        if (under_way[i]) rados_aio_wait_for_complete(under_way[i]), rados_aio_release(under_way[i]);
        must(rados_aio_create_completion2(NULL, NULL, &under_way[i]), "completion");
        must(rados_aio_remove(io, name, under_way[i]), "removing");
    }
    rados_nobjects_list_close(list);
    for (unsigned i = 0; i < REMOVED_AT_ONCE; i++)
        if (under_way[i]) rados_aio_wait_for_complete(under_way[i]);
}

static void name_object(uint64_t i, char out[OID_SIZE])
{
    snprintf(out, OID_SIZE, "floor.%08llx", (unsigned long long)i);
}

/* The result is the request's; the completion is taken. */
static void take(rados_completion_t *c, const char *what)
{
    if (*c == NULL) return;
    rados_aio_wait_for_complete(*c);
    must(rados_aio_get_return_value(*c), what);
    rados_aio_release(*c);
    *c = NULL;
}

static void write_objects(uint64_t bytes)
{
    rados_completion_t under_way[UNDER_WAY] = {NULL};
    char oid[OID_SIZE];
    for (uint64_t at = 0, i = 0; at < bytes; at += OBJECT, i++) {
        rados_completion_t *c = &under_way[i % UNDER_WAY];
        size_t n = bytes - at < OBJECT ? (size_t)(bytes - at) : OBJECT;
        take(c, "writing");
        name_object(i, oid);
        must(rados_aio_create_completion2(NULL, NULL, c), "completion");
        must(rados_aio_write(io, oid, *c, (const char *)object_bytes, n, 0), "writing");
    }
    for (unsigned i = 0; i < UNDER_WAY; i++) take(&under_way[i], "writing");
}

static uint64_t bytes_of(const job_spec *job)
{
    return job->file_bytes ? job->file_bytes : data_bytes(job->records);
}

static void keep(const latencies *took, result *out)
{
    out->p50 = latency_at(took, 0.5) / 1e9, out->p99 = latency_at(took, 0.99) / 1e9;
    out->p999 = latency_at(took, 0.999) / 1e9, out->most = latency_at(took, 1) / 1e9;
}

static void append_rados(const job_spec *job, result *out)
{
    connect_to(job->dir);
    double start = now();
    write_objects(bytes_of(job));
    out->seconds = now() - start;
    out->records = job->records;
}

static void commit_rados(const job_spec *job, result *out)
{
    static latencies took;
    char oid[OID_SIZE];
    connect_to(job->dir);
    double start = now();
    uint64_t before = now_ns(), first = before;
    while (out->records < job->records && (double)(before - first) < job->seconds_max * 1e9) {
        uint64_t at = out->records++ * COMMIT_BYTES;
        name_object(at / OBJECT, oid);
        must(rados_write(io, oid, (const char *)object_bytes, COMMIT_BYTES, at % OBJECT), "writing");
        uint64_t after = now_ns();
        note_latency(&took, after - before);
        before = after;
    }
    out->seconds = now() - start;
    keep(&took, out);
}

typedef struct share {
    uint64_t begin, end;
    pthread_t thread;
} share;

static void read_at(uint64_t at, size_t n, char *room)
{
    char oid[OID_SIZE];
    name_object(at / OBJECT, oid);
    must(rados_read(io, oid, room, n, at % OBJECT), "reading");
    see_bytes(room, n);
}

static void *read_share(void *ctx)
{
    const share *s = ctx;
    char *room = malloc(RANGE);
    if (room == NULL) die("memory", NULL);
    for (uint64_t at = s->begin; at < s->end; at += RANGE) read_at(at, RANGE, room);
    free(room);
    return NULL;
}

static void read_rados(const job_spec *job, result *out)
{
    share shares[THREADS_MAX];
    uint64_t ranges = (bytes_of(job) + RANGE - 1) / RANGE;
    if (job->threads > THREADS_MAX) die("threads", NULL);
    connect_to(job->dir);
    write_objects(bytes_of(job));
    double start = now();
    for (unsigned t = 0; t < job->threads; t++) {
        shares[t] = (share){.begin = ranges * t / job->threads * RANGE, .end = ranges * (t + 1) / job->threads * RANGE};
        if (t > 0 && pthread_create(&shares[t].thread, NULL, read_share, &shares[t]) != 0) die("threads", NULL);
    }
    read_share(&shares[0]);
    for (unsigned t = 1; t < job->threads; t++) pthread_join(shares[t].thread, NULL);
    out->seconds = now() - start;
    out->records = job->records;
}

static void range_rados(const job_spec *job, result *out)
{
    static latencies took;
    static char room[SMALL_RANGE];
    uint64_t places = bytes_of(job) / SMALL_RANGE;
    connect_to(job->dir);
    write_objects(bytes_of(job));
    double start = now();
    while (places > 0 && now() - start < job->seconds_max) {
        uint64_t before = now_ns();
        read_at(mixed(out->records++) % places * SMALL_RANGE, SMALL_RANGE, room);
        note_latency(&took, now_ns() - before);
    }
    out->seconds = now() - start;
    keep(&took, out);
}

#else

#define version_of_rados NULL
#define append_rados NULL
#define commit_rados NULL
#define read_rados NULL
#define range_rados NULL

void remove_objects(const char *address)
{
    (void)address;
}

#endif

const engine floor_rados_append = {
    .name = "rados-aio", .label = "librados, 4 MiB writes", .side = SIDE_FLOOR, .place = POOL,
    .config = "as many bytes as the records have: rados_aio_write of 4 MiB, an object each, 8 under way",
    .version = version_of_rados, .whole = append_rados};

const engine floor_rados_commit = {
    .name = "rados-write", .label = "librados, a 4 KiB write", .side = SIDE_FLOOR, .place = POOL,
    .config = "one thread, rados_write of 4 KiB a commit, one behind another in objects of 4 MiB",
    .version = version_of_rados, .whole = commit_rados};

const engine floor_rados_read = {
    .name = "rados-read", .label = "librados, 1 MiB reads", .side = SIDE_FLOOR, .place = POOL,
    .config = "as many bytes as the records have, in objects of 4 MiB: rados_read of 1 MiB, one at a time a thread",
    .version = version_of_rados, .whole = read_rados};

const engine floor_rados_range = {
    .name = "rados-range", .label = "librados, 64 KiB reads", .side = SIDE_FLOOR, .place = POOL,
    .config = "the same objects: rados_read of 64 KiB all over them, one at a time, by one thread: a round trip",
    .version = version_of_rados, .whole = range_rados};
