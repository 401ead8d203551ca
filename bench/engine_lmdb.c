/*
 * bench/engine_lmdb.c: LMDB: a B+tree in a file that is mapped; one writer at a time.
 *
 * Keys come in order where one thread appends: MDB_APPEND then fills pages to the end. Of calls that are not
 * durable none syncs (MDB_NOSYNC), and the end does.
 */
#include "bench/engine.h"

#if PEER_LMDB

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>

static MDB_env *env;
static MDB_dbi table;
static bool in_order;
static MDB_txn *lookups; /* NULL until there is one */

static const char *version_of_lmdb(void)
{
    static char text[32];
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}

static void must(int status)
{
    if (status == 0) return;
    fprintf(stderr, "u9bench: LMDB: %s\n", mdb_strerror(status));
    exit(4);
}

static void open_lmdb(const job_spec *job)
{
    MDB_txn *txn;
    in_order = job->threads == 1 && !job->random;
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, (size_t)64 << 30));
    must(mdb_env_open(env, job->dir, job->durable ? 0 : MDB_NOSYNC, 0644));
    must(mdb_txn_begin(env, NULL, 0, &txn));
    must(mdb_dbi_open(txn, NULL, 0, &table));
    must(mdb_txn_commit(txn));
}

static void append_lmdb(uint64_t first, size_t count)
{
    MDB_txn *txn;
    uint8_t bytes[KEY_SIZE];
    must(mdb_txn_begin(env, NULL, 0, &txn));
    for (size_t k = 0; k < count; k++) {
        const datum *v = value_of(first + k);
        MDB_val key = {sizeof bytes, bytes}, value = {v->size, (void *)(uintptr_t)v->text};
        key_of(first + k, bytes);
        must(mdb_put(txn, table, &key, &value, in_order ? MDB_APPEND : 0));
    }
    must(mdb_txn_commit(txn));
}

static void sync_lmdb(void)
{
    must(mdb_env_sync(env, 1));
}

static void close_lmdb(void)
{
    if (lookups) mdb_txn_abort(lookups);
    mdb_env_close(env);
}

static uint64_t scan_lmdb(void)
{
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;
    uint64_t records = 0;
    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    must(mdb_cursor_open(txn, table, &cursor));
    for (; mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0; records++)
        see_bytes(value.mv_data, value.mv_size);
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return records;
}

static bool get_lmdb(uint64_t i)
{
    uint8_t bytes[KEY_SIZE];
    MDB_val key = {sizeof bytes, bytes}, value;
    key_of(i, bytes);
    if (lookups == NULL) must(mdb_txn_begin(env, NULL, MDB_RDONLY, &lookups));
    else must(mdb_txn_renew(lookups));
    bool found = mdb_get(lookups, table, &key, &value) == 0;
    if (found) see_bytes(value.mv_data, value.mv_size);
    mdb_txn_reset(lookups);
    return found;
}

#endif

const engine engine_lmdb = {
    .name = "lmdb",
    .label = "LMDB",
    .side = SIDE_PEER,
    .config =
        "MDB_APPEND where one thread appends; MDB_NOSYNC and a sync at the end where calls are not "
        "durable",
#if PEER_LMDB
    .version = version_of_lmdb,
    .open = open_lmdb,
    .append = append_lmdb,
    .sync = sync_lmdb,
    .close = close_lmdb,
    .scan = scan_lmdb,
    .get = get_lmdb,
#endif
};
