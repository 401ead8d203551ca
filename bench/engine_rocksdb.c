/*
 * bench/engine_rocksdb.c: RocksDB, through its C interface.
 */
#include "bench/engine.h"

#if PEER_ROCKSDB

#include <errno.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>

static rocksdb_t *db;
static rocksdb_writeoptions_t *writing;
static _Thread_local rocksdb_writebatch_t *batch;

static const char *version_of_rocksdb(void)
{
    return PEER_ROCKSDB_VERSION;
}

static void must(char *error)
{
    if (error == NULL) return;
    fprintf(stderr, "u9bench: RocksDB: %s\n", error);
    exit(4);
}

/*
 * Rows of keys that only grow need no compaction to be sorted: what is left of it is moving files. Of calls that
 * are not durable the log is written when its buffer is full, as u9's frames are; without a log at all it was
 * no faster here, as its memory tables bound it.
 */
static void set_fastest(rocksdb_options_t *o, bool durable)
{
    rocksdb_options_increase_parallelism(o, 2);
    rocksdb_options_set_write_buffer_size(o, 64 << 20);
    rocksdb_options_set_max_write_buffer_number(o, 4);
    rocksdb_options_set_level0_file_num_compaction_trigger(o, 8);
    rocksdb_options_set_compression(o, rocksdb_no_compression);
    rocksdb_options_set_manual_wal_flush(o, !durable);
}

/* Where single records are looked up. */
static void set_filter(rocksdb_options_t *o)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_options_set_block_based_table_factory(o, table);
    rocksdb_block_based_options_destroy(table);
}

static void open_rocksdb(const job_spec *job)
{
    rocksdb_options_t *o = rocksdb_options_create();
    char *error = NULL;
    rocksdb_options_set_create_if_missing(o, 1);
    if (!job->usual) set_fastest(o, job->durable);
    if (job->holds) rocksdb_options_set_write_buffer_size(o, (size_t)4 << 30);
    if (job->keyed) set_filter(o);
    if (job->compressed) rocksdb_options_set_compression(o, rocksdb_lz4_compression);
    db = rocksdb_open(o, job->dir, &error);
    must(error);
    rocksdb_options_destroy(o);
    writing = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(writing, job->durable);
}

static void append_rocksdb(uint64_t first, size_t count)
{
    uint8_t key[KEY_SIZE];
    char *error = NULL;
    if (batch == NULL) batch = rocksdb_writebatch_create();
    rocksdb_writebatch_clear(batch);
    for (size_t k = 0; k < count; k++) {
        const datum *v = value_of(first + k);
        key_of(first + k, key);
        rocksdb_writebatch_put(batch, (char *)key, sizeof key, (const char *)v->text, v->size);
    }
    rocksdb_write(db, writing, batch, &error);
    must(error);
}

static void sync_rocksdb(void)
{
    char *error = NULL;
    rocksdb_flush_wal(db, 1, &error);
    must(error);
}

static void close_rocksdb(void)
{
    rocksdb_close(db);
    rocksdb_writeoptions_destroy(writing);
}

static uint64_t scan_rocksdb(void)
{
    rocksdb_readoptions_t *o = rocksdb_readoptions_create();
    rocksdb_iterator_t *it = rocksdb_create_iterator(db, o);
    uint64_t records = 0;
    size_t size;
    for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it), records++) {
        const char *value = rocksdb_iter_value(it, &size);
        see_bytes(value, size);
    }
    rocksdb_iter_destroy(it);
    rocksdb_readoptions_destroy(o);
    return records;
}

static bool get_rocksdb(uint64_t i)
{
    static rocksdb_readoptions_t *o;
    uint8_t key[KEY_SIZE];
    char *error = NULL;
    size_t size;
    if (o == NULL) o = rocksdb_readoptions_create();
    key_of(i, key);
    char *value = rocksdb_get(db, o, (char *)key, sizeof key, &size, &error);
    must(error);
    free(value);
    return value != NULL;
}

#endif

const engine engine_rocksdb = {
    .name = "rocksdb",
    .label = "RocksDB",
    .side = SIDE_PEER,
    .config =
        "log on, manual_wal_flush where calls are not durable; 4 write buffers of 64 MiB, 2 "
        "background threads, no compression (LZ4 where the workload compresses), compaction at 8 files; "
        "where records are looked up a bloom filter of 10 bits; where it is to hold all, write buffers of 4 GiB",
    .usual_config = "as it comes: log on, Snappy, write buffers of 64 MiB",
#if PEER_ROCKSDB
    .version = version_of_rocksdb,
    .open = open_rocksdb,
    .append = append_rocksdb,
    .sync = sync_rocksdb,
    .close = close_rocksdb,
    .scan = scan_rocksdb,
    .get = get_rocksdb,
#endif
};
