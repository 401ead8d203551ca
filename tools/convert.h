/*
 * tools/convert.h: records from other formats and to them: what `u9 import` and `u9 export` know of a format.
 *
 * A format is a row of the table in convert.c and a file, convert_NAME.c, with a reader, a writer or both. A reader gives
 * one row after the other as a JSON text (SPEC-values.md, J-*: what JSON has no type for is an object with a `$` in its
 * key), and where in the input it stood; the verb makes the record. A writer takes one value after the other. What a
 * format has no place for, a writer says with convert_tell, which says each thing once.
 *
 * Nothing of a file is believed: sizes are held against CONVERT_MAX before memory is asked for.
 */
#ifndef U9_TOOLS_CONVERT_H
#define U9_TOOLS_CONVERT_H

#include "tools/buffer.h"

#include <u9/value.h>

#include <stdint.h>
#include <stdio.h>

/* The names, for help texts. */
#define CONVERT_IMPORTS \
    "jsonl, csv, journal (systemd's, as `journalctl -o export` writes it), mcap, avro or sqlite"
#define CONVERT_EXPORTS "jsonl, csv, mcap, avro or sqlite"

enum { CONVERT_MAX = 1 << 26 }; /* bytes of one row, or chunk, of a file */

enum convert_got {
    CONVERT_ROW,
    CONVERT_END,
    CONVERT_BAD,   /* this row is refused, `why` says so; the next one can be read */
    CONVERT_BROKEN /* `why` says why nothing more can be read */
};

/* What of the command line formats look at. */
struct convert_options {
    const char *table; /* NULL: "records"; of MCAP: the topic, NULL: "u9" */
    int comma;         /* what stands between cells */
    int typed;         /* cells are what they look like */
};

struct convert_format;

/* One file that is read. `json` takes the row; all else is the reader's, and `bytes` its room, see convert_read. */
struct convert_reader {
    const struct convert_format *format;
    const struct convert_options *options;
    const char *path, *name; /* "-": standard input; for messages */
    int fd;
    FILE *file, *json;   /* `json` leads to `row` */
    tool_buffer row;
    uint64_t at, all; /* bytes read, of so many; 0: not known */
    uint64_t number;  /* of the row: a line, an offset or a place in the order, as the format counts */
    char why[256];
    uint8_t *bytes;
    size_t room;
    unsigned told;
    void *state;
};

/* One record for a writer. */
struct convert_row {
    u9_value value; /* for a format of columns an object */
    uint64_t ordinal, time_us;
};

/* Kinds of values, as bits: what a column has. */
enum {
    CONVERT_NULL = 1,
    CONVERT_BOOL = 2,
    CONVERT_INT = 4, /* within 64 bits with a sign */
    CONVERT_HUGE = 8,
    CONVERT_FLOAT32 = 16,
    CONVERT_FLOAT64 = 32, /* either may be infinite, or no number */
    CONVERT_TEXT = 64,
    CONVERT_BYTES = 128,
    CONVERT_NESTED = 256, /* tuples, arrays, objects */
    CONVERT_OTHER = 512,
    CONVERT_ABSENT = 1024 /* of a column: not in each record */
};

struct convert_column {
    char *name;
    size_t size;
    unsigned kinds;
    uint64_t seen;
};

struct convert_writer {
    const struct convert_format *format;
    const struct convert_options *options;
    const char *path, *name; /* "-": standard output; for messages */
    const char *log;
    FILE *file; /* NULL for formats that open the file themselves */
    struct convert_column *columns;
    size_t count;
    u9_value *cells; /* of the row, one for each column; see convert_cells */
    char why[256];
    unsigned told;
    void *state;
};

/* Functions of a writer return 1, or what is wrong in `why`: 0 with this record, -1 for good. What `file` refuses is found there. */
struct convert_format {
    const char *name;
    /* Of these any may be missing. */
    int (*open)(struct convert_reader *reader); /* 1, or 0: `why` */
    enum convert_got (*next)(struct convert_reader *reader);
    void (*close)(struct convert_reader *reader);
    int (*begin)(struct convert_writer *writer);
    int (*put)(struct convert_writer *writer, const struct convert_row *row);
    int (*finish)(struct convert_writer *writer, int whole); /* once `begin` was called; `whole` 0: something failed */
    const char *unit;    /* what stands between a file and the number of a place: ":", " at byte " */
    const char *package; /* NULL, or what it lacks: this build has it not */
    int columns;         /* the writer wants to know the columns first */
    int objects;         /* the writer wants objects, without knowing the columns */
    int binary;          /* not for terminals */
    int whole;           /* wants a file that has a name, and opens it itself; */
    const char *beside;  /*   what the name of a file ends in that may stand beside it meanwhile; NULL: there is none */
};

extern const struct convert_format convert_jsonl, convert_csv, convert_journal, convert_mcap,
    convert_avro, convert_sqlite;

/* The format of a name; else a usage error. `writes`: 1 for export. */
const struct convert_format *convert_find(const char *name, int writes);

/* The argument of --separator; else a usage error. */
int convert_comma(const char *text);

/* Opens the file at `path`. TOOL_DONE, or the status once it is said. */
int convert_open(struct convert_reader *reader, const struct convert_format *format,
                 const char *path);
void convert_close(struct convert_reader *reader);

/* The next row's text, which stands until the next call. */
enum convert_got convert_next(struct convert_reader *reader, const char **text, size_t *size);

/* For readers. One byte, EOF at the end; `size` bytes in `bytes`, behind `have` that are there: 0, `why` filled, if there
 * are not as many. */
int convert_get(struct convert_reader *reader);
int convert_read(struct convert_reader *reader, size_t have, uint64_t size);
int convert_room(struct convert_reader *reader, uint64_t size);

/* Fills `why`. Returns 0. */
int convert_why(char why[256], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same where memory is short; and whether that is what stands there. */
int convert_no_memory(char why[256]);
int convert_is_short(const char *why);

/* Into the row: text, or bytes where it is none; a name of a member, of `members` of an object; bytes. */
void convert_put_text(const void *text, size_t size);
void convert_put_name(const void *name, size_t size, size_t members);
void convert_put_bytes(const void *bytes, size_t size);
void convert_put_real(double number);

/* Says something once, by its bit. */
void convert_tell(unsigned *told, unsigned bit, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a value is, one bit of the above. */
unsigned convert_kind(const u9_value *value);

/* The member of an object. 0: it has none of that name. */
int convert_member(const u9_value *object, const char *name, size_t size, u9_value *out);

/* The place of a column, looked for from `next` on; `count`: there is none. */
size_t convert_column(const struct convert_writer *writer, size_t next, const u9_value *key);

/* The values of a row by its columns, in `writer->cells`; of one that it lacks `type` is 0. */
const u9_value *convert_cells(struct convert_writer *writer, const struct convert_row *row);

/* A value as JSON; the text stands until the next call. NULL: no memory. */
const char *convert_json(const u9_value *value, size_t *size);

#endif
