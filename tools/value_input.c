/*
 * tools/value_input.c: see value.h.
 */
#include "tools/value.h"

#include "tools/tool.h"

#include <u9/value_text.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

/* Makes room for a chunk behind the bytes: at the front of the buffer, or in a larger one. */
static int make_room(struct value_input *in)
{
    size_t before = (size_t)(in->bytes - in->room);
    if (in->cap - before - in->size >= CHUNK) return TOOL_DONE;
    if (before >= in->size && before > 0) { /* copied at most once for each byte read */
        memcpy(in->room, in->bytes, in->size);
        in->bytes = in->room;
        if (in->cap - in->size >= CHUNK) return TOOL_DONE;
        before = 0;
    }
    size_t cap = 2 * in->cap + 2 * CHUNK;
    uint8_t *room = (uint8_t *)realloc(in->room, cap);
    if (!room) return tool_nomem("a value");
    in->room = room;
    in->bytes = room + before;
    in->cap = cap;
    return TOOL_DONE;
}

static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Makes the `fresh` bytes behind the others, which are hex digits, bytes where they stand. */
static int take_hex(struct value_input *in, size_t fresh)
{
    uint8_t *to = in->bytes + in->size;
    for (const uint8_t *from = to, *end = to + fresh; from < end; from++) {
        int blank = *from == ' ' || *from == '\t' || *from == '\r' || *from == '\n';
        if (*from == '\n') in->line++, in->comment = 0;
        if (*from == ';') in->comment = 1;
        if (in->comment || blank) continue;
        int digit = digit_of(*from);
        if (digit < 0)
            return tool_say(TOOL_REFUSED, "%s:%llu: '%c' is not a hex digit", in->name,
                            (unsigned long long)in->line, *from);
        if (in->high >= 0) *to++ = (uint8_t)(in->high << 4 | digit);
        in->high = in->high >= 0 ? -1 : digit;
    }
    in->size = (size_t)(to - in->bytes);
    return TOOL_DONE;
}

int value_more(struct value_input *in)
{
    size_t had = in->size;
    while (in->size == had && !in->ended) {
        int status = make_room(in);
        if (status != TOOL_DONE) return status;
        fflush(stdout);
        if (tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
        ssize_t fresh = read(in->fd, in->bytes + in->size, CHUNK);
        if (fresh < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (fresh < 0) return tool_say(tool_sys_status(errno), "%s: %s", in->name, strerror(errno));
        if (fresh == 0) in->ended = 1;
        if (fresh == 0 && in->high >= 0)
            return tool_say(TOOL_REFUSED, "%s:%llu: half a byte at the end", in->name,
                            (unsigned long long)in->line);
        if (!in->hex) in->size += (size_t)fresh;
        else status = take_hex(in, (size_t)fresh);
        if (status != TOOL_DONE) return status;
    }
    return TOOL_DONE;
}

void value_used(struct value_input *in, size_t size)
{
    if (size == 0) return; /* there may be no bytes at all */
    in->bytes += size;
    in->size -= size;
    in->offset += size;
}

u9_err value_next(struct value_input *in, u9_value *out, u9_fault *fault, int *status)
{
    in->began = (struct value_place){in->offset, in->line, in->column};
    u9_err err = U9_TORN;
    while (in->size == 0 || (err = u9_value_decode(in->bytes, in->size, out)) == U9_TORN) {
        if (in->size > VALUE_SIZE_MAX || in->ended) break;
        *status = value_more(in);
        if (*status != TOOL_DONE) return U9_IO;
    }
    if (in->size == 0) return U9_END;
    size_t size = err == U9_OK ? out->encoded : in->size;
    if (size > VALUE_SIZE_MAX) {
        *fault = (u9_fault){.err = U9_LIMIT, .text = "a value of more than 16 MiB"};
        fault->segment = U9_NOWHERE;
        err = U9_LIMIT;
    } else {
        err = u9_value_check(in->bytes, size, NULL, fault);
    }
    if (err == U9_OK) return U9_OK;
    fault->offset += in->offset;
    snprintf(fault->path, sizeof fault->path, "%s", in->name);
    return err;
}

/* What a fault says of the text that was parsed, as a place in the whole file. */
static int text_refused(const struct value_input *in, const u9_fault *fault)
{
    unsigned long line = 1, column = 1;
    int prefix = 0;
    if (fault->err == U9_NOMEM) return tool_nomem("a value");
    if (sscanf(fault->text, "line %lu, column %lu: %n", &line, &column, &prefix) != 2) prefix = 0;
    if (line == 1) column += (unsigned long)in->column - 1;
    int long_value = fault->err == U9_LIMIT && !*fault->rule;
    return tool_say(TOOL_REFUSED, "%s:%lu:%lu: %s%s%s%s", in->name, (unsigned long)in->line + line - 1,
                    column, long_value ? "a value of more than 16 MiB" : fault->text + prefix,
                    *fault->rule ? " [" : "", fault->rule, *fault->rule ? "]" : "");
}

/* Reads on: the value may go on. Where much of it has been read, that much more that trying again
 * costs nothing in proportion. */
static int read_on(struct value_input *in)
{
    size_t want = in->size + 1 + (in->size > 1 << 16 ? in->size / 8 : 0);
    if (in->size > VALUE_TEXT_MAX)
        return tool_say(TOOL_REFUSED, "%s:%llu:%llu: a text of more than 96 MiB", in->name,
                        (unsigned long long)in->line, (unsigned long long)in->column);
    int status = TOOL_DONE;
    while (status == TOOL_DONE && in->size < want && !in->ended) status = value_more(in);
    return status;
}

static void pass_text(struct value_input *in, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((in->bytes[i] & 0xc0) != 0x80) in->column++;
        if (in->bytes[i] == '\n') in->line++, in->column = 1;
    }
    value_used(in, size);
}

static void pass_blanks(struct value_input *in)
{
    size_t n = 0;
    while (n < in->size && in->bytes[n] && strchr(" \t\r\n", in->bytes[n])) n++;
    pass_text(in, n);
}

u9_err value_next_text(struct value_input *in, u9_builder *b, int *status)
{
    size_t used = 0;
    u9_fault fault;
    for (;;) {
        pass_blanks(in);
        in->began = (struct value_place){in->offset, in->line, in->column};
        u9_builder_clear(b);
        u9_err err = u9_value_parse((const char *)in->bytes, in->size, &used, b, &fault);
        int done, open = err == U9_TORN || err == U9_END || (err == U9_OK && used == in->size);
        if (err == U9_END && in->ended) return U9_END;
        done = !open || in->ended; /* what is read on now is yet to be judged, its end too */
        if (done) *status = err == U9_OK ? TOOL_DONE : text_refused(in, &fault);
        else *status = read_on(in);
        if (*status != TOOL_DONE) return U9_IO;
        if (done) break;
    }
    pass_text(in, used);
    return U9_OK;
}

int value_put(const struct value_ask *ask, const uint8_t *bytes, size_t size)
{
    if (!ask->hex) {
        fwrite(bytes, 1, size, stdout);
    } else {
        tool_put_hex(bytes, size);
        putchar('\n');
    }
    return tool_stdout_failed() ? TOOL_IO : TOOL_DONE; /* tool_finish says why */
}

static u9_err put_text(void *ctx, const char *text, size_t size)
{
    (void)ctx;
    fwrite(text, 1, size, stdout);
    return U9_OK;
}

int value_put_text(const uint8_t *bytes, size_t size)
{
    u9_fault fault;
    if (u9_value_print(bytes, size, put_text, NULL, &fault) != U9_OK) return tool_fault(&fault);
    putchar('\n');
    return tool_stdout_failed() ? TOOL_IO : TOOL_DONE;
}

static int open_file(struct value_input *in, const char *file)
{
    int own = strcmp(file, "-") != 0;
    *in = (struct value_input){.name = own ? file : "standard input", .line = 1, .column = 1, .high = -1};
    in->fd = own ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (in->fd >= 0) return TOOL_DONE;
    return tool_say(tool_sys_status(errno), "%s: %s", tool_shown(file), strerror(errno));
}

int value_each_file(const struct value_ask *ask, value_step *step)
{
    static char *standard_input[] = {"-", NULL};
    int status = TOOL_DONE;
    for (char **file = *ask->files ? ask->files : standard_input; *file && status == TOOL_DONE;
         file++) {
        struct value_input in;
        status = open_file(&in, *file);
        if (status != TOOL_DONE) break;
        status = step(ask, &in);
        if (in.fd != STDIN_FILENO) close(in.fd);
        free(in.room);
    }
    return status;
}
