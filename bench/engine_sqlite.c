/*
 * bench/engine_sqlite.c: SQLite with a write-ahead log: one connection, one prepared statement, under a lock
 * where threads share it (one connection each is slower: they wait for each other's file locks).
 *
 * Of calls that are not durable none syncs (synchronous = OFF); the end then syncs both files itself.
 */
#include "bench/engine.h"

#if PEER_SQLITE3

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes of a record on average: larger ones would stand on overflow pages WITHOUT ROWID. */
enum { SMALL_MAX = 400 };

static sqlite3 *db;
static sqlite3_stmt *insert;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static char file_path[PATH_ROOM + 16];

static const char *version_of_sqlite(void)
{
    return sqlite3_libversion();
}

static void must(int status, int want)
{
    if (status == want) return;
    fprintf(stderr, "u9bench: SQLite: %s\n", sqlite3_errmsg(db));
    exit(4);
}

static void execute(const char *sql)
{
    must(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void open_sqlite(const job_spec *job)
{
    snprintf(file_path, sizeof file_path, "%s/db", job->dir);
    must(sqlite3_open(file_path, &db), SQLITE_OK);
    execute("PRAGMA journal_mode = WAL");
    if (job->durable) execute("PRAGMA synchronous = FULL");
    else execute(job->usual ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = OFF");
    if (!job->usual) execute("PRAGMA cache_size = -65536");
    bool small = data_bytes(job->records) / job->records <= SMALL_MAX;
    execute(small
                ? "CREATE TABLE IF NOT EXISTS log (key BLOB PRIMARY KEY, value TEXT) WITHOUT ROWID"
                : "CREATE TABLE IF NOT EXISTS log (key BLOB UNIQUE NOT NULL, value TEXT)");
    must(sqlite3_prepare_v2(db, "INSERT INTO log VALUES (?, ?)", -1, &insert, NULL), SQLITE_OK);
}

static void append_sqlite(uint64_t first, size_t count)
{
    uint8_t key[KEY_SIZE];
    pthread_mutex_lock(&turn);
    if (count > 1) execute("BEGIN");
    for (size_t k = 0; k < count; k++) {
        const datum *v = value_of(first + k);
        key_of(first + k, key);
        sqlite3_bind_blob(insert, 1, key, sizeof key, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, (const char *)v->text, (int)v->size, SQLITE_STATIC);
        must(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    if (count > 1) execute("COMMIT");
    pthread_mutex_unlock(&turn);
}

static void sync_path(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fdatasync(fd) != 0) die(path, NULL);
    close(fd);
}

static void sync_sqlite(void)
{
    char wal[PATH_ROOM + 32];
    snprintf(wal, sizeof wal, "%s-wal", file_path);
    sync_path(wal);
    sync_path(file_path);
}

static void close_sqlite(void)
{
    for (sqlite3_stmt *s; (s = sqlite3_next_stmt(db, NULL)) != NULL;) sqlite3_finalize(s);
    must(sqlite3_close(db), SQLITE_OK);
}

static uint64_t scan_sqlite(void)
{
    sqlite3_stmt *s;
    uint64_t records = 0;
    must(sqlite3_prepare_v2(db, "SELECT value FROM log ORDER BY key", -1, &s, NULL), SQLITE_OK);
    for (; sqlite3_step(s) == SQLITE_ROW; records++)
        see_bytes(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0));
    sqlite3_finalize(s);
    return records;
}

static bool get_sqlite(uint64_t i)
{
    static sqlite3_stmt *s;
    uint8_t key[KEY_SIZE];
    if (s == NULL)
        must(sqlite3_prepare_v2(db, "SELECT value FROM log WHERE key = ?", -1, &s, NULL),
             SQLITE_OK);
    key_of(i, key);
    sqlite3_bind_blob(s, 1, key, sizeof key, SQLITE_STATIC);
    bool found = sqlite3_step(s) == SQLITE_ROW;
    if (found) see_bytes(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0));
    sqlite3_reset(s);
    return found;
}

#endif

const engine engine_sqlite = {
    .name = "sqlite",
    .label = "SQLite",
    .side = SIDE_PEER,
    .config =
        "WAL; a table WITHOUT ROWID (records over 400 bytes: with), 64 MiB of cache; synchronous FULL "
        "where calls are durable, else OFF and a sync at the end",
    .usual_config =
        "WAL; the same table, 2 MiB of cache; synchronous NORMAL, FULL where calls are durable",
#if PEER_SQLITE3
    .version = version_of_sqlite,
    .open = open_sqlite,
    .append = append_sqlite,
    .sync = sync_sqlite,
    .close = close_sqlite,
    .scan = scan_sqlite,
    .get = get_sqlite,
#endif
};
