/*
 * tools/convert_sqlite.c: a table of an SQLite database; see convert.h.
 *
 * Written is a new database with one table, whose columns have no types of their own: values stay what they are. Read is any
 * table, or view, of one: a row is an object of all its columns, also of those that are NULL; rows count from 1.
 */
#include "tools/convert.h"

#include "tools/value_json.h"

#if CONVERT_SQLITE3
#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>

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
    return convert_why(why, "%s", d->db ? sqlite3_errmsg(d->db) : "out of memory");
}

static void close_database(struct database *d)
{
    sqlite3_finalize(d->rows);
    sqlite3_close(d->db);
    free(d);
}

static int prepare(struct database *d, char *sql)
{
    int got = sql ? sqlite3_prepare_v2(d->db, sql, -1, &d->rows, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return got == SQLITE_OK;
}

static int open_table(struct convert_reader *r)
{
    struct database *d = (struct database *)calloc(1, sizeof *d);
    if (!d) return convert_why(r->why, "out of memory");
    r->state = d;
    if (sqlite3_open_v2(r->path, &d->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return said(d, r->why);
    sqlite3_busy_timeout(d->db, 5000);
    return prepare(d, sqlite3_mprintf("SELECT * FROM \"%w\"", table_of(r->options)))
               ? 1
               : said(d, r->why);
}

static void close_table(struct convert_reader *r)
{
    close_database((struct database *)r->state);
}

static void put_column(const struct convert_reader *r, sqlite3_stmt *rows, int i)
{
    const void *bytes;
    switch (sqlite3_column_type(rows, i)) {
    case SQLITE_INTEGER: fprintf(r->json, "%lld", (long long)sqlite3_column_int64(rows, i)); break;
    case SQLITE_FLOAT: convert_put_real(sqlite3_column_double(rows, i)); break;
    case SQLITE_NULL: fputs("null", r->json); break;
    case SQLITE_TEXT:
        bytes = sqlite3_column_text(rows, i);
        convert_put_text(bytes, (size_t)sqlite3_column_bytes(rows, i));
        break;
    default:
        bytes = sqlite3_column_blob(rows, i);
        convert_put_bytes(bytes, (size_t)sqlite3_column_bytes(rows, i));
        break;
    }
}

static enum convert_got next_row(struct convert_reader *r)
{
    struct database *d = (struct database *)r->state;
    int got = sqlite3_step(d->rows), columns = sqlite3_column_count(d->rows);
    r->number++;
    if (got == SQLITE_DONE) return CONVERT_END;
    if (got != SQLITE_ROW) return said(d, r->why), CONVERT_BROKEN;
    putc('{', r->json);
    for (int i = 0; i < columns; i++) {
        const char *name = sqlite3_column_name(d->rows, i);
        if (!name) return convert_why(r->why, "out of memory"), CONVERT_BROKEN;
        if (i > 0) putc(',', r->json);
        convert_put_name(name, strlen(name), (size_t)columns);
        put_column(r, d->rows, i);
    }
    putc('}', r->json);
    return CONVERT_ROW;
}

static int execute(struct database *d, char *sql)
{
    int got = sql ? sqlite3_exec(d->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return got == SQLITE_OK;
}

/* `CREATE TABLE t (a, b)`, or `INSERT INTO t VALUES (?, ?)`. */
static char *statement(const struct convert_writer *w, int create)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    sqlite3_str_appendf(s, create ? "CREATE TABLE \"%w\" (" : "INSERT INTO \"%w\" VALUES (",
                        table_of(w->options));
    for (size_t i = 0; i < w->count; i++) {
        if (i > 0) sqlite3_str_appendall(s, ", ");
        if (create) sqlite3_str_appendf(s, "\"%w\"", w->columns[i].name);
        else sqlite3_str_appendall(s, "?");
    }
    if (w->count == 0) sqlite3_str_appendall(s, create ? "value" : "NULL");
    sqlite3_str_appendall(s, ")");
    return sqlite3_str_finish(s);
}

static int begin_table(struct convert_writer *w)
{
    struct database *d = (struct database *)calloc(1, sizeof *d);
    if (!d) return convert_why(w->why, "out of memory");
    w->state = d;
    for (size_t i = 0; i < w->count; i++)
        if (w->columns[i].kinds & CONVERT_ABSENT)
            convert_tell(&w->told, CONVERT_ABSENT,
                         "fields that a record lacks are NULL in its row");
    int good = sqlite3_open_v2(w->path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
               SQLITE_OK;
    good = good && execute(d, sqlite3_mprintf("BEGIN")) && execute(d, statement(w, 1)) &&
           prepare(d, statement(w, 0));
    return good ? 1 : said(d, w->why);
}

static int bind_text(struct database *d, int i, const void *text, size_t size)
{
    return sqlite3_bind_text64(d->rows, i, (const char *)text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
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
        convert_tell(
            &w->told, kind,
            "SQLite has no symbols, infinities and their like: their JSON text is written");
    return text ? bind_text(d, i, text, size) : SQLITE_NOMEM;
}

static int bind(struct convert_writer *w, struct database *d, int i, const u9_value *v)
{
    unsigned kind = v->type ? convert_kind(v) : CONVERT_NULL;
    switch (kind) {
    case CONVERT_NULL: return sqlite3_bind_null(d->rows, i);
    case CONVERT_BOOL:
        convert_tell(&w->told, kind, "SQLite has no true and false: 1 and 0 are written");
        return sqlite3_bind_int(d->rows, i, v->data[0] == 't');
    case CONVERT_INT:
        return sqlite3_bind_int64(d->rows, i, v->type == U9_UINT ? (sqlite3_int64)v->u : v->i);
    case CONVERT_FLOAT32:
        convert_tell(&w->told, kind, "SQLite has no float32: a REAL is written"); /* fall through */
    case CONVERT_FLOAT64: return sqlite3_bind_double(d->rows, i, v->f);
    case CONVERT_TEXT: return bind_text(d, i, v->data, (size_t)v->size);
    case CONVERT_BYTES:
        return sqlite3_bind_blob64(d->rows, i, v->size ? (const void *)v->data : "", v->size,
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
    if (got == SQLITE_OK) got = sqlite3_step(d->rows);
    if (got != SQLITE_DONE) return said(d, w->why), -1;
    sqlite3_reset(d->rows);
    return 1;
}

static int finish_table(struct convert_writer *w, int whole)
{
    struct database *d = (struct database *)w->state;
    if (!d) return 1;
    int good = !whole || execute(d, sqlite3_mprintf("COMMIT")) || said(d, w->why);
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
