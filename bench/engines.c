/*
 * bench/engines.c: the table of engines.
 */
#include "bench/engine.h"

const engine *const all_engines[] = {
    &engine_u9,     &engine_rocksdb,  &engine_leveldb, &engine_lmdb,
    &engine_sqlite, &engine_journal,  &floor_uring,    &floor_uring_registered,
    &floor_fio,     &floor_fio_dsync, &floor_dsync,    &floor_dsync_ahead,
    &floor_sha256,  &floor_lz4,       &floor_lz4_loop, &floor_file_kernel, &floor_file_openssl,
    &floor_file_mapped, &floor_file_search, &follow_within, &follow_between,
    &floor_rados_append, &floor_rados_commit, &floor_rados_read, &floor_rados_range, &floor_s3_read, &floor_s3_range,
    NULL};

enum { ENGINES = sizeof all_engines / sizeof all_engines[0] - 1 };

/* Some versions are had from another program: it is asked once. */
const char *engine_version(const engine *e)
{
    static const char *versions[ENGINES];
    static bool asked[ENGINES];
    for (unsigned i = 0; i < ENGINES; i++) {
        if (all_engines[i] != e) continue;
        if (!asked[i] && e->version) versions[i] = e->version();
        asked[i] = true;
        return versions[i];
    }
    return NULL;
}
