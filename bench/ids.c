/*
 * bench/ids.c: rows on identifiers: making them on one thread and on two, printing and parsing them.
 * Generators read the real clock, as they do in use.
 */
#include "bench/bench.h"
#include "bench/rows.h"

#include <u9.h>

#include <pthread.h>
#include <string.h>

enum { BLOCK = 4096 };

static u9_muidgen *muids;
static u9_tidgen *tids;
static u9_gidgen *gids;
static u9_uid8gen *uid8s;
static volatile uint64_t sink; /* so that no work is left out */

static void make_generators(void)
{
    u9_uid8gen_options o = {.size = sizeof o, .generator = 1, .tries_max = 1000};
    if (muids != NULL) return;
    if (u9_muidgen_new(NULL, &muids, NULL) != U9_OK || u9_tidgen_new(NULL, &tids, NULL) != U9_OK ||
        u9_gidgen_new(NULL, &gids, NULL) != U9_OK || u9_uid8gen_new(&o, &uid8s, NULL) != U9_OK)
        die("generators", NULL);
}

typedef void block_fn(void); /* makes BLOCK identifiers */

static void make_muids(void)
{
    u9_muid id;
    for (int i = 0; i < BLOCK; i++) check(u9_muidgen_next(muids, &id));
    sink = id.timestamp;
}

static void make_tids(void)
{
    u9_tid id;
    for (int i = 0; i < BLOCK; i++) check(u9_tidgen_next(tids, NULL, &id));
    sink = id.timestamp;
}

static void make_gids(void)
{
    u9_gid id;
    for (int i = 0; i < BLOCK; i++) check(u9_gidgen_next(gids, U9_GID_LOG, &id));
    sink = id.timestamp_ms;
}

static void make_uid8s(void)
{
    u9_uid8 id;
    for (int i = 0; i < BLOCK; i++) check(u9_uid8gen_next(uid8s, &id));
    sink = id.timestamp_ms;
}

typedef struct work {
    block_fn *block;
    unsigned long made;
} work;

static void *works(void *arg)
{
    work *w = arg;
    double start = now();
    for (w->made = 0; now() - start < 0.2; w->made += BLOCK) w->block();
    return NULL;
}

static double on_threads(block_fn *block, unsigned threads)
{
    pthread_t ids[2];
    work w[2] = {{block, 0}, {block, 0}};
    make_generators();
    double start = now();
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, works, &w[i]) != 0) die("thread", NULL);
    works(&w[0]);
    for (unsigned i = 1; i < threads; i++) pthread_join(ids[i], NULL);
    return (double)(w[0].made + w[1].made) / (now() - start);
}

static double muid_1(void) { return on_threads(make_muids, 1); }
static double muid_2(void) { return on_threads(make_muids, 2); }
static double tid_1(void) { return on_threads(make_tids, 1); }
static double tid_2(void) { return on_threads(make_tids, 2); }
static double gid_1(void) { return on_threads(make_gids, 1); }
static double gid_2(void) { return on_threads(make_gids, 2); }
static double uid8_1(void) { return on_threads(make_uid8s, 1); }
static double uid8_2(void) { return on_threads(make_uid8s, 2); }

/* Texts of one kind, to be parsed and printed again. */
enum { TEXTS = 1024, TEXT_ROOM = 40 };
static char texts[TEXTS][TEXT_ROOM];
static uint8_t raws[TEXTS][16];
static size_t raw_size;

static void make_texts(const char *kind)
{
    make_generators();
    raw_size = strcmp(kind, "muid") == 0 || strncmp(kind, "gid", 3) == 0 ? 16 : 8;
    for (int i = 0; i < TEXTS; i++) {
        u9_muid muid;
        u9_tid tid;
        u9_gid gid;
        u9_uid8 uid8;
        char text[U9_KEY_SIZE_MAX + 1];
        if (kind[0] == 'm') check(u9_muidgen_next(muids, &muid)), check(u9_muid_pack(&muid, raws[i]));
        if (kind[0] == 't') check(u9_tidgen_next(tids, NULL, &tid)), check(u9_tid_pack(&tid, 0, raws[i]));
        if (kind[0] == 'g')
            check(u9_gidgen_next(gids, U9_GID_LOG, &gid)), check(u9_gid_pack(&gid, 0, raws[i]));
        if (kind[0] == 'u')
            check(u9_uid8gen_next(uid8s, &uid8)), check(u9_uid8_pack(&uid8, 4, raws[i], NULL));
        check(u9_key_format(kind, raws[i], raw_size, text, NULL));
        memcpy(texts[i], text, strlen(text) + 1);
    }
}

static double prints(const char *kind)
{
    char text[U9_KEY_SIZE_MAX + 1];
    unsigned long n = 0;
    make_texts(kind);
    double start = now();
    for (; now() - start < 0.1; n += TEXTS)
        for (int i = 0; i < TEXTS; i++) {
            check(u9_key_format(kind, raws[i], raw_size, text, NULL));
            sink = (uint64_t)text[0];
        }
    return (double)n / (now() - start);
}

static double parses(const char *kind)
{
    uint8_t raw[U9_KEY_SIZE_MAX];
    size_t size;
    unsigned long n = 0;
    make_texts(kind);
    double start = now();
    for (; now() - start < 0.1; n += TEXTS)
        for (int i = 0; i < TEXTS; i++) {
            check(u9_key_parse(kind, texts[i], strlen(texts[i]), raw, &size, NULL));
            sink = raw[0];
        }
    return (double)n / (now() - start);
}

static double print_muid(void) { return prints("muid"); }
static double print_gid(void) { return prints("gid:log"); }
static double print_tid(void) { return prints("tid"); }
static double print_uid8(void) { return prints("uid8"); }
static double parse_muid(void) { return parses("muid"); }
static double parse_gid(void) { return parses("gid:log"); }
static double parse_tid(void) { return parses("tid"); }
static double parse_uid8(void) { return parses("uid8"); }

static row id_rows[] = {
    {"muid made, 1 thread", "ns", -1e9, muid_1, {0}},
    {"muid made, 1 thread", "M/s", 1e6, muid_1, {0}},
    {"muid made, 2 threads, one generator", "M/s", 1e6, muid_2, {0}},
    {"tid made, 1 thread", "ns", -1e9, tid_1, {0}},
    {"tid made, 1 thread", "M/s", 1e6, tid_1, {0}},
    {"tid made, 2 threads, one generator", "M/s", 1e6, tid_2, {0}},
    {"gid made, 1 thread", "ns", -1e9, gid_1, {0}},
    {"gid made, 1 thread", "M/s", 1e6, gid_1, {0}},
    {"gid made, 2 threads, one generator", "M/s", 1e6, gid_2, {0}},
    {"uid8 made, 1 thread (64 a millisecond)", "K/s", 1e3, uid8_1, {0}},
    {"uid8 made, 2 threads, one generator", "K/s", 1e3, uid8_2, {0}},
    {"muid printed", "ns", -1e9, print_muid, {0}},
    {"gid printed", "ns", -1e9, print_gid, {0}},
    {"tid printed", "ns", -1e9, print_tid, {0}},
    {"uid8 printed", "ns", -1e9, print_uid8, {0}},
    {"muid parsed", "ns", -1e9, parse_muid, {0}},
    {"gid parsed", "ns", -1e9, parse_gid, {0}},
    {"tid parsed", "ns", -1e9, parse_tid, {0}},
    {"uid8 parsed", "ns", -1e9, parse_uid8, {0}},
};

enum { ID_ROWS = sizeof id_rows / sizeof id_rows[0] };

void bench_ids(const bench_options *options)
{
    run_rows(id_rows, ID_ROWS, options->rounds);
}
