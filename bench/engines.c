/*
 * bench/engines.c: the table of engines.
 */
#include "bench/engine.h"

const engine *const all_engines[] = {
    &engine_u9,     &engine_rocksdb,  &engine_leveldb, &engine_lmdb,
    &engine_sqlite, &engine_journal,  &floor_uring,    &floor_uring_registered,
    &floor_fio,     &floor_fio_dsync, &floor_dsync,    &floor_dsync_ahead,
    &floor_sha256,  &floor_lz4,       &floor_lz4_loop, NULL};

const char *engine_version(const engine *e)
{
    return e->version ? e->version() : NULL;
}
