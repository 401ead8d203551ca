/*
 * bench/engine_leveldb.c: LevelDB, through its C interface.
 */
#include "bench/engine.h"

#if PEER_LEVELDB

#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>

static leveldb_t *db;
static leveldb_writeoptions_t *writing;
static _Thread_local leveldb_writebatch_t *batch;

static const char *version_of_leveldb(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%d.%d", leveldb_major_version(), leveldb_minor_version());
    return text;
}

static void must(char *error)
{
    if (error == NULL) return;
    fprintf(stderr, "u9bench: LevelDB: %s\n", error);
    exit(4);
}

static void open_leveldb(const job_spec *job)
{
    leveldb_options_t *o = leveldb_options_create();
    char *error = NULL;
    leveldb_options_set_create_if_missing(o, 1);
    if (!job->usual) {
        leveldb_options_set_write_buffer_size(o, 64 << 20);
        leveldb_options_set_max_file_size(o, 64 << 20);
        leveldb_options_set_compression(o, leveldb_no_compression);
    }
    if (job->holds) leveldb_options_set_write_buffer_size(o, 1 << 30);
    if (job->compressed) leveldb_options_set_compression(o, leveldb_snappy_compression);
    db = leveldb_open(o, job->dir, &error);
    must(error);
    leveldb_options_destroy(o);
    writing = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(writing, job->durable);
}

static void append_leveldb(uint64_t first, size_t count)
{
    uint8_t key[KEY_SIZE];
    char *error = NULL;
    if (batch == NULL) batch = leveldb_writebatch_create();
    leveldb_writebatch_clear(batch);
    for (size_t k = 0; k < count; k++) {
        const datum *v = value_of(first + k);
        key_of(first + k, key);
        leveldb_writebatch_put(batch, (char *)key, sizeof key, (const char *)v->text, v->size);
    }
    leveldb_write(db, writing, batch, &error);
    must(error);
}

/* It has no call for that: an empty batch that is synced makes its log durable up to there. */
static void sync_leveldb(void)
{
    leveldb_writeoptions_t *o = leveldb_writeoptions_create();
    leveldb_writebatch_t *empty = leveldb_writebatch_create();
    char *error = NULL;
    leveldb_writeoptions_set_sync(o, 1);
    leveldb_write(db, o, empty, &error);
    must(error);
    leveldb_writebatch_destroy(empty);
    leveldb_writeoptions_destroy(o);
}

static void close_leveldb(void)
{
    leveldb_close(db);
    leveldb_writeoptions_destroy(writing);
}

static uint64_t scan_leveldb(void)
{
    leveldb_readoptions_t *o = leveldb_readoptions_create();
    leveldb_iterator_t *it = leveldb_create_iterator(db, o);
    uint64_t records = 0;
    size_t size;
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it), records++) {
        const char *value = leveldb_iter_value(it, &size);
        see_bytes(value, size);
    }
    leveldb_iter_destroy(it);
    leveldb_readoptions_destroy(o);
    return records;
}

static bool get_leveldb(uint64_t i)
{
    static leveldb_readoptions_t *o;
    uint8_t key[KEY_SIZE];
    char *error = NULL;
    size_t size;
    if (o == NULL) o = leveldb_readoptions_create();
    key_of(i, key);
    char *value = leveldb_get(db, o, (char *)key, sizeof key, &size, &error);
    must(error);
    leveldb_free(value);
    return value != NULL;
}

#endif

const engine engine_leveldb = {
    .name = "leveldb",
    .label = "LevelDB",
    .side = SIDE_PEER,
    .config =
        "log on; write buffer and files of 64 MiB, no compression (Snappy where the workload "
        "compresses); where it is to hold all, a write buffer of 1 GiB, the most that it takes",
    .usual_config = "as it comes: log on, Snappy, write buffer of 4 MiB",
#if PEER_LEVELDB
    .version = version_of_leveldb,
    .open = open_leveldb,
    .append = append_leveldb,
    .sync = sync_leveldb,
    .close = close_leveldb,
    .scan = scan_leveldb,
    .get = get_leveldb,
#endif
};
