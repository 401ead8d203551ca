/*
 * tools/convert.c: see convert.h.
 */
#include "tools/convert.h"

#include "tools/stop.h"
#include "tools/tool.h"
#include "tools/value_json.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct convert_format *const formats[] = {
    &convert_jsonl, &convert_csv, &convert_journal, &convert_mcap, &convert_avro, &convert_sqlite};

const struct convert_format *convert_find(const char *name, int writes)
{
    char known[128] = "";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct convert_format *f = formats[i];
        if (!(writes ? f->put != NULL : f->open != NULL)) continue;
        if (strcmp(f->name, name) == 0) {
            if (!f->package) return f;
            tool_say(TOOL_REFUSED, "%s: this u9 was built without %s, which that needs", name,
                     f->package);
            exit(TOOL_REFUSED);
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "",
                 f->name);
    }
    tool_usage("there is no format '%s' to %s: there are %s", name, writes ? "export" : "import",
               known);
}

int convert_comma(const char *text)
{
    if (strcmp(text, "\\t") == 0) return '\t';
    if (strlen(text) != 1 || strchr("\"\r\n+-.", *text) || isalnum((unsigned char)*text) || (unsigned char)*text >= 0x80)
        tool_usage("--separator '%s': not one character that may stand between cells", text);
    return *text;
}

int convert_why(char why[256], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why, 256, format, list);
    va_end(list);
    return 0;
}

static const char no_memory[] = "out of memory";

int convert_no_memory(char why[256])
{
    return convert_why(why, "%s", no_memory);
}

int convert_is_short(const char *why)
{
    return strcmp(why, no_memory) == 0;
}

void convert_tell(unsigned *told, unsigned bit, const char *format, ...)
{
    char text[512];
    va_list list;
    if (*told & bit) return;
    *told |= bit;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tool_say(0, "note: %s", text);
}

/* Of a stream: what there is, or EINTR once it is stopped. */
static ssize_t read_input(void *ctx, char *bytes, size_t size)
{
    const struct convert_reader *r = (const struct convert_reader *)ctx;
    ssize_t got = -1;
    errno = EAGAIN;
    while (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (!tool_stop_wait(r->fd)) return errno = EINTR, -1;
        got = read(r->fd, bytes, size);
    }
    return got;
}

static int open_stream(struct convert_reader *r)
{
    enum { CHUNK = 1 << 16 };
    cookie_io_functions_t calls = {.read = read_input};
    r->file = fopencookie(r, "r", calls);
    if (!r->file || !tool_buffer_open(&r->row)) return tool_nomem("a row");
    r->json = r->row.file;
    setvbuf(r->file, NULL, _IOFBF, CHUNK);
    return TOOL_DONE;
}

int convert_open(struct convert_reader *r, const struct convert_format *format, const char *path)
{
    int own = strcmp(path, "-") != 0;
    struct stat st;
    r->format = format;
    r->path = path;
    r->name = own ? path : "standard input";
    if (!own && format->whole)
        tool_usage("%s: FILE is needed: it is not read from a pipe", format->name);
    /* not to wait here for who writes into a FIFO: read_input does, and for signals as well */
    r->fd = own ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
    int sys = r->fd < 0 || fstat(r->fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (sys) return tool_say(tool_sys_status(sys), "%s: %s", tool_shown(r->name), strerror(sys));
    if (own) fcntl(r->fd, F_SETFL, 0);
    if (S_ISREG(st.st_mode)) r->all = (uint64_t)st.st_size;
    else if (format->whole) return tool_say(TOOL_REFUSED, "%s: %s is read from a regular file alone", path, format->name);
    int status = open_stream(r);
    if (status != TOOL_DONE || format->open(r)) return status;
    if (!ferror(r->file)) return tool_say(convert_is_short(r->why) ? TOOL_IO : TOOL_REFUSED, "%s: %s", r->name, r->why);
    return tool_stopped() ? 128 + tool_stopped() : tool_say(TOOL_IO, "%s: %s", r->name, strerror(errno));
}

void convert_close(struct convert_reader *r)
{
    if (r->state && r->format->close) r->format->close(r);
    tool_buffer_close(&r->row);
    if (r->file) fclose(r->file);
    if (r->fd > STDERR_FILENO) close(r->fd);
    free(r->bytes);
    r->json = r->file = NULL;
    r->bytes = NULL;
}

enum convert_got convert_next(struct convert_reader *r, const char **text, size_t *size)
{
    tool_sink = r->json;
    tool_buffer_clear(&r->row);
    enum convert_got got = r->format->next(r);
    tool_sink = NULL;
    if (!tool_buffer_take(&r->row)) return convert_no_memory(r->why), CONVERT_BROKEN;
    *text = r->row.bytes;
    *size = r->row.size;
    return got;
}

int convert_get(struct convert_reader *r)
{
    int c = getc_unlocked(r->file);
    if (c != EOF) r->at++;
    return c;
}

int convert_room(struct convert_reader *r, uint64_t size)
{
    if (size > CONVERT_MAX)
        return convert_why(r->why, "%llu bytes in one piece: more than 64 MiB",
                           (unsigned long long)size);
    if (size <= r->room) return 1;
    size_t room = 2 * r->room > size ? 2 * r->room : (size_t)size + 4096;
    uint8_t *more = (uint8_t *)realloc(r->bytes, room);
    if (!more) return convert_no_memory(r->why);
    r->bytes = more;
    r->room = room;
    return 1;
}

int convert_read(struct convert_reader *r, size_t have, uint64_t size)
{
    if (size > CONVERT_MAX) size = (uint64_t)CONVERT_MAX + 1; /* no sum overflows */
    if (!convert_room(r, have + size)) return 0;
    size_t got = fread(r->bytes + have, 1, (size_t)size, r->file);
    r->at += got;
    return got == size ? 1 : convert_why(r->why, "the file ends within it");
}

void convert_put_bytes(const void *bytes, size_t size)
{
    fputs("{\"$bytes\":\"", tool_out());
    tool_put_hex((const uint8_t *)bytes, size);
    fputs("\"}", tool_out());
}

void convert_put_text(const void *text, size_t size)
{
    if (u9_utf8_valid(text, size)) tool_put_string(text, size);
    else convert_put_bytes(text, size);
}

/* A name that would read as one of ours has a mark more, where it is the only one. [J-6] */
void convert_put_name(const void *name, size_t size, size_t members)
{
    putc('"', tool_out());
    if (members == 1 && tool_json_marks(name, size) > 0) putc('$', tool_out());
    if (u9_utf8_valid(name, size)) tool_put_characters((const uint8_t *)name, size);
    else fwrite(name, 1, size, tool_out()); /* the reader of JSON refuses it */
    fputs("\":", tool_out());
}

void convert_put_real(double number)
{
    if (isnan(number)) fputs("{\"$float64\":\"nan\"}", tool_out());
    else if (isinf(number)) fprintf(tool_out(), "{\"$float64\":\"%sinf\"}", number < 0 ? "-" : "");
    else {
        char text[40];
        snprintf(text, sizeof text, "%.17g", number);
        fprintf(tool_out(), "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    }
}

unsigned convert_kind(const u9_value *v)
{
    switch (v->type) {
    case U9_UINT: return v->u <= INT64_MAX ? CONVERT_INT : CONVERT_HUGE;
    case U9_INT: return CONVERT_INT;
    case U9_FLOAT32: return CONVERT_FLOAT32;
    case U9_FLOAT64: return CONVERT_FLOAT64;
    case U9_UTF8: return u9_utf8_valid(v->data, (size_t)v->size) ? CONVERT_TEXT : CONVERT_OTHER;
    case U9_BYTES: return CONVERT_BYTES;
    case U9_TUPLE:
    case U9_ARRAY: return CONVERT_NESTED;
    case U9_SYMBOL:
        if (memcmp(v->data, "null\0\0\0", 8) == 0) return CONVERT_NULL;
        if (memcmp(v->data, "true\0\0\0", 8) == 0 || memcmp(v->data, "false\0\0", 8) == 0)
            return CONVERT_BOOL;
        return CONVERT_OTHER;
    case U9_PIDFD:
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0:
    case U9_TAU: break;
    }
    return CONVERT_OTHER;
}

int convert_member(const u9_value *object, const char *name, size_t size, u9_value *out)
{
    u9_walk walk = u9_walk_elements(object);
    u9_value pair, key;
    while (u9_walk_next(&walk, &pair) == U9_OK) {
        u9_walk in = u9_walk_elements(&pair);
        if (u9_walk_next(&in, &key) != U9_OK) return 0;
        if (key.size == size && memcmp(key.data, name, size) == 0)
            return u9_walk_next(&in, out) == U9_OK;
    }
    return 0;
}

size_t convert_column(const struct convert_writer *w, size_t next, const u9_value *key)
{
    for (size_t n = 0, i = next; n < w->count; n++, i++) {
        if (i >= w->count) i = 0;
        const struct convert_column *c = &w->columns[i];
        if (c->size == key->size && memcmp(c->name, key->data, c->size) == 0) return i;
    }
    return w->count;
}

const u9_value *convert_cells(struct convert_writer *w, const struct convert_row *row)
{
    u9_walk walk = u9_walk_elements(&row->value);
    u9_value pair, key;
    size_t next = 0;
    for (size_t i = 0; i < w->count; i++) w->cells[i].type = (u9_type)0;
    while (u9_walk_next(&walk, &pair) == U9_OK) {
        u9_walk in = u9_walk_elements(&pair);
        if (u9_walk_next(&in, &key) != U9_OK) continue;
        size_t i = convert_column(w, next, &key);
        if (i < w->count && u9_walk_next(&in, &w->cells[i]) == U9_OK) next = i + 1;
    }
    return w->cells;
}

const char *convert_json(const u9_value *value, size_t *size)
{
    static tool_buffer buffer;
    FILE *before = tool_sink;
    if (!buffer.file && !tool_buffer_open(&buffer)) return NULL;
    tool_buffer_clear(&buffer);
    tool_sink = buffer.file;
    tool_put_json(value);
    tool_sink = before;
    if (!tool_buffer_take(&buffer)) return NULL;
    *size = buffer.size;
    return buffer.bytes;
}
