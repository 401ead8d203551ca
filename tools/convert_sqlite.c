/*
 * tools/convert_sqlite.c: a table of an SQLite database; see convert.h.
 *
 * Written is a new database with one table, whose columns have no types of their own: values stay what they are. Read is any
 * table, or view, of one: a row is an object of all its columns, also of those that are NULL; rows count from 1.
 */
#include "tools/convert.h"

#include "tools/value_json.h"

#if CONVERT_SQLITE3
#include "tools/shared.h"

#include <sqlite3.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What of the library is called. It is loaded when it is asked for: every verb would begin later else. */
/* clang-format off */
#define CALLED(X) \
    X(bind_blob64) X(bind_double) X(bind_int) X(bind_int64) X(bind_null) X(bind_text64) X(busy_timeout) X(close) \
    X(column_blob) X(column_bytes) X(column_count) X(column_double) X(column_int64) X(column_name) X(column_text) \
    X(column_type) X(errmsg) X(exec) X(finalize) X(free) X(mprintf) X(open_v2) X(prepare_v2) X(reset) X(step) \
    X(str_appendall) X(str_appendf) X(str_finish) X(str_new)
/* clang-format on */

static struct {
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
    CALLED(MEMBER)
} lite;

static int load(char why[256])
{
    const char *reason = NULL;
    void *handle = tool_shared("libsqlite3.so.0", &reason);
    int good = handle != NULL;
#define FIND(name) good = good && tool_shared_find(handle, "sqlite3_" #name, &lite.name, &reason);
    CALLED(FIND)
    return good ? 1 : convert_why(why, "SQLite is not to be had here (Debian: libsqlite3-0): %s", reason);
}

enum { NOTE_NAN = 1 << 16 };

struct database {
    sqlite3 *db;
    sqlite3_stmt *rows; /* that are read, or put in */
};

static const char *table_of(const struct convert_options *o)
{
    return o->table ? o->table : "records";
}

static int said(struct database *d, char why[256])
{
    return convert_why(why, "%s", d->db ? lite.errmsg(d->db) : "out of memory");
}

static void close_database(struct database *d)
{
    lite.finalize(d->rows);
    lite.close(d->db);
    free(d);
}

static int prepare(struct database *d, char *sql)
{
    int got = sql ? lite.prepare_v2(d->db, sql, -1, &d->rows, NULL) : SQLITE_NOMEM;
    lite.free(sql);
    return got == SQLITE_OK;
}

/* What is damaged may be read as rows that nobody wrote. */
static int is_whole(struct database *d, char why[256])
{
    if (!prepare(d, lite.mprintf("PRAGMA quick_check(1)")) || lite.step(d->rows) != SQLITE_ROW) return said(d, why);
    const char *word = (const char *)lite.column_text(d->rows, 0);
    int whole = word && strcmp(word, "ok") == 0;
    if (!whole) (void)convert_why(why, "the database is damaged: %.180s", word ? word : "out of memory");
    lite.finalize(d->rows);
    d->rows = NULL;
    return whole;
}

static int open_table(struct convert_reader *r)
{
    if (!load(r->why)) return 0;
    struct database *d = (struct database *)calloc(1, sizeof *d);
    if (!d) return convert_no_memory(r->why);
    r->state = d;
    if (lite.open_v2(r->path, &d->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return said(d, r->why);
    lite.busy_timeout(d->db, 5000);
    if (!is_whole(d, r->why)) return 0;
    int good = prepare(d, lite.mprintf("SELECT * FROM \"%w\"", table_of(r->options)));
    return good ? 1 : said(d, r->why);
}

static void close_table(struct convert_reader *r)
{
    close_database((struct database *)r->state);
}

static void put_column(const struct convert_reader *r, sqlite3_stmt *rows, int i)
{
    const void *bytes;
    switch (lite.column_type(rows, i)) {
    case SQLITE_INTEGER: fprintf(r->json, "%lld", (long long)lite.column_int64(rows, i)); break;
    case SQLITE_FLOAT: convert_put_real(lite.column_double(rows, i)); break;
    case SQLITE_NULL: fputs("null", r->json); break;
    case SQLITE_TEXT:
        bytes = lite.column_text(rows, i);
        convert_put_text(bytes, (size_t)lite.column_bytes(rows, i));
        break;
    default:
        bytes = lite.column_blob(rows, i);
        convert_put_bytes(bytes, (size_t)lite.column_bytes(rows, i));
        break;
    }
}

static enum convert_got next_row(struct convert_reader *r)
{
    struct database *d = (struct database *)r->state;
    int got = lite.step(d->rows), columns = lite.column_count(d->rows);
    r->number++;
    if (got == SQLITE_DONE) return CONVERT_END;
    if (got != SQLITE_ROW) return said(d, r->why), CONVERT_BROKEN;
    putc('{', r->json);
    for (int i = 0; i < columns; i++) {
        const char *name = lite.column_name(d->rows, i);
        if (!name) return convert_no_memory(r->why), CONVERT_BROKEN;
        if (i > 0) putc(',', r->json);
        convert_put_name(name, strlen(name), (size_t)columns);
        put_column(r, d->rows, i);
    }
    putc('}', r->json);
    return CONVERT_ROW;
}

static int execute(struct database *d, char *sql)
{
    int got = sql ? lite.exec(d->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    lite.free(sql);
    return got == SQLITE_OK;
}

/* `CREATE TABLE t (a, b)`, or `INSERT INTO t VALUES (?, ?)`. */
static char *statement(const struct convert_writer *w, int create)
{
    sqlite3_str *s = lite.str_new(NULL);
    lite.str_appendf(s, create ? "CREATE TABLE \"%w\" (" : "INSERT INTO \"%w\" VALUES (",
                     table_of(w->options));
    for (size_t i = 0; i < w->count; i++) {
        if (i > 0) lite.str_appendall(s, ", ");
        if (create) lite.str_appendf(s, "\"%w\"", w->columns[i].name);
        else lite.str_appendall(s, "?");
    }
    if (w->count == 0) lite.str_appendall(s, create ? "value" : "NULL");
    lite.str_appendall(s, ")");
    return lite.str_finish(s);
}

static int begin_table(struct convert_writer *w)
{
    if (!load(w->why)) return 0;
    struct database *d = (struct database *)calloc(1, sizeof *d);
    if (!d) return convert_no_memory(w->why);
    w->state = d;
    for (size_t i = 0; i < w->count; i++)
        if (w->columns[i].kinds & CONVERT_ABSENT)
            convert_tell(&w->told, CONVERT_ABSENT,
                         "fields that a record lacks are NULL in its row");
    int good = lite.open_v2(w->path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
               SQLITE_OK;
    good = good && execute(d, lite.mprintf("BEGIN")) && execute(d, statement(w, 1)) &&
           prepare(d, statement(w, 0));
    return good ? 1 : said(d, w->why);
}

static int bind_text(struct database *d, int i, const void *text, size_t size)
{
    return lite.bind_text64(d->rows, i, (const char *)text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int bind_json(struct convert_writer *w, struct database *d, int i, const u9_value *v,
                     unsigned kind)
{
    size_t size = 0;
    const char *text = convert_json(v, &size);
    if (kind == CONVERT_HUGE)
        convert_tell(&w->told, kind,
                     "SQLite has no integers of 2^63 and above: their digits are written, as text");
    if (kind == CONVERT_NESTED)
        convert_tell(&w->told, kind,
                     "SQLite has no arrays and objects: their JSON text is written");
    if (kind == CONVERT_OTHER)
        convert_tell(&w->told, kind, "SQLite has no symbols and their like: their JSON text is written");
    return text ? bind_text(d, i, text, size) : SQLITE_NOMEM;
}

/* An infinity is a REAL as others are. What is no number SQLite makes NULL. */
static int bind_real(struct convert_writer *w, struct database *d, int i, double number)
{
    if (isnan(number)) convert_tell(&w->told, NOTE_NAN, "SQLite has no NaN: NULL is written");
    return lite.bind_double(d->rows, i, number);
}

static int bind(struct convert_writer *w, struct database *d, int i, const u9_value *v)
{
    unsigned kind = v->type ? convert_kind(v) : CONVERT_NULL;
    switch (kind) {
    case CONVERT_NULL: return lite.bind_null(d->rows, i);
    case CONVERT_BOOL:
        convert_tell(&w->told, kind, "SQLite has no true and false: 1 and 0 are written");
        return lite.bind_int(d->rows, i, v->data[0] == 't');
    case CONVERT_INT:
        return lite.bind_int64(d->rows, i, v->type == U9_UINT ? (sqlite3_int64)v->u : v->i);
    case CONVERT_FLOAT32:
        convert_tell(&w->told, kind, "SQLite has no float32: a REAL is written"); /* fall through */
    case CONVERT_FLOAT64: return bind_real(w, d, i, v->f);
    case CONVERT_TEXT: return bind_text(d, i, v->data, (size_t)v->size);
    case CONVERT_BYTES:
        return lite.bind_blob64(d->rows, i, v->size ? (const void *)v->data : "", v->size,
                                SQLITE_TRANSIENT);
    default: return bind_json(w, d, i, v, kind);
    }
}

static int put_table_row(struct convert_writer *w, const struct convert_row *row)
{
    struct database *d = (struct database *)w->state;
    const u9_value *cells = convert_cells(w, row);
    int got = SQLITE_OK;
    for (size_t i = 0; i < w->count && got == SQLITE_OK; i++)
        got = bind(w, d, (int)i + 1, &cells[i]);
    if (got == SQLITE_OK) got = lite.step(d->rows);
    if (got != SQLITE_DONE) return said(d, w->why), -1;
    lite.reset(d->rows);
    return 1;
}

static int finish_table(struct convert_writer *w, int whole)
{
    struct database *d = (struct database *)w->state;
    if (!d) return 1;
    int good = !whole || execute(d, lite.mprintf("COMMIT")) || said(d, w->why);
    close_database(d);
    return good;
}

const struct convert_format convert_sqlite = {
    .name = "sqlite",
    .unit = ": row ",
    .open = open_table,
    .next = next_row,
    .close = close_table,
    .begin = begin_table,
    .put = put_table_row,
    .finish = finish_table,
    .columns = 1,
    .binary = 1,
    .whole = 1,
    .beside = "-journal",
};
#else
static int not_here(struct convert_reader *r)
{
    (void)r;
    return 0;
}

static int nor_here(struct convert_writer *w, const struct convert_row *row)
{
    (void)w;
    (void)row;
    return 0;
}

const struct convert_format convert_sqlite = {
    .name = "sqlite", .open = not_here, .put = nor_here, .package = "SQLite (libsqlite3-dev)"};
#endif
