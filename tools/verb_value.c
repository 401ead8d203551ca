/*
 * tools/verb_value.c: `u9 value`: values from JSON or the text notation, and back (SPEC-values.md,
 * J-*, N-*).
 *
 * Values stand back to back; each is written before the next is looked for. The first thing that is
 * refused ends it: what stood before has been written. Showing values is value_show.c's part.
 */
#include "tools/value.h"

#include "tools/tool.h"
#include "tools/verb.h"

#include <u9/value_text.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum verb { ENCODE, DECODE, SHOW };
enum { SKIP_BAD = 256 };

struct value {
    struct value_ask ask;
    enum verb verb;
    tool_skips skips;
    char **words;
};

static int put_value(const struct value_ask *ask, const u9_builder *b)
{
    if (!ask->hex) {
        fwrite(b->bytes, 1, b->size, stdout);
    } else {
        tool_put_hex(b->bytes, b->size);
        putchar('\n');
    }
    return tool_stdout_failed() ? TOOL_IO : TOOL_DONE; /* tool_finish says why */
}

/* One line of JSON; blank ones are passed over. */
static int encode_line(const struct value_ask *ask, struct value_input *in, u9_builder *b,
                       size_t size)
{
    const char *line = (const char *)in->bytes;
    size_t column = 0;
    if (tool_json_blank(line, size)) return TOOL_DONE;
    u9_builder_clear(b);
    const char *why = tool_read_json(b, line, size, &column);
    if (why && tool_json_no_memory(why)) return tool_nomem("a value");
    if (why)
        return tool_skip(ask->skips, "%s:%llu:%zu: %s", in->name, (unsigned long long)in->line,
                         column, why);
    return put_value(ask, b);
}

/* Reads on to the next newline, which stays, and forgets all before it. */
static int pass_line(struct value_input *in)
{
    for (;;) {
        const void *end = memchr(in->bytes, '\n', in->size);
        value_used(in, end ? (size_t)((const uint8_t *)end - in->bytes) : in->size);
        if (end || in->ended) return TOOL_DONE;
        int status = value_more(in);
        if (status != TOOL_DONE) return status;
    }
}

/* Reads on until the input has a newline. Its place in *end, NULL at the end of the input. Of a line
 * that is too long, and skipped, nothing is left. */
static int find_line(const struct value_ask *ask, struct value_input *in, const uint8_t **end)
{
    size_t seen = 0;
    for (;;) {
        *end = in->size > seen ? (const uint8_t *)memchr(in->bytes + seen, '\n', in->size - seen)
                               : NULL;
        if (*end || in->ended) return TOOL_DONE;
        seen = in->size;
        int status = TOOL_DONE;
        if (seen <= VALUE_TEXT_MAX) {
            status = value_more(in);
        } else {
            status = tool_skip(ask->skips, "%s:%llu: a line of more than 96 MiB", in->name,
                               (unsigned long long)in->line);
            if (status == TOOL_DONE) status = pass_line(in);
            seen = 0;
        }
        if (status != TOOL_DONE) return status;
    }
}

static int encode_lines(const struct value_ask *ask, struct value_input *in, u9_builder *b)
{
    for (;; in->line++) {
        const uint8_t *end;
        int status = find_line(ask, in, &end);
        if (status != TOOL_DONE || (!end && in->size == 0)) return status;
        size_t size = end ? (size_t)(end - in->bytes) : in->size;
        status = encode_line(ask, in, b, size);
        if (status != TOOL_DONE) return status;
        value_used(in, size + (end != NULL));
    }
}

/* A place in a text: what a fault says of the rest that was parsed, as one of the whole file. */
struct place {
    unsigned long line, column; /* of the rest's first character */
};

static int text_refused(const struct value_input *in, const struct place *at, const u9_fault *fault)
{
    unsigned long line = 1, column = 1;
    int prefix = 0;
    if (fault->err == U9_NOMEM) return tool_nomem("a value");
    if (sscanf(fault->text, "line %lu, column %lu: %n", &line, &column, &prefix) != 2) prefix = 0;
    if (line == 1) column += at->column - 1;
    int long_value = fault->err == U9_LIMIT && !*fault->rule;
    return tool_say(TOOL_REFUSED, "%s:%lu:%lu: %s%s%s%s", in->name, at->line + line - 1, column,
                    long_value ? "a value of more than 16 MiB" : fault->text + prefix,
                    *fault->rule ? " [" : "", fault->rule, *fault->rule ? "]" : "");
}

/* Reads on: the value may go on. Where much of it has been read, that much more that trying again
 * costs nothing in proportion. */
static int read_on(struct value_input *in, const struct place *at)
{
    size_t want = in->size + 1 + (in->size > 1 << 16 ? in->size / 8 : 0);
    if (in->size > VALUE_TEXT_MAX)
        return tool_say(TOOL_REFUSED, "%s:%lu:%lu: a text of more than 96 MiB", in->name, at->line,
                        at->column);
    int status = TOOL_DONE;
    while (status == TOOL_DONE && in->size < want && !in->ended) status = value_more(in);
    return status;
}

static int encode_text(const struct value_ask *ask, struct value_input *in, u9_builder *b)
{
    struct place at = {1, 1};
    for (;;) {
        size_t used = 0;
        u9_fault fault;
        u9_builder_clear(b);
        u9_err err = u9_value_parse((const char *)in->bytes, in->size, &used, b, &fault);
        int open = err == U9_TORN || err == U9_END || (err == U9_OK && used == in->size);
        if (open && !in->ended) {
            int status = read_on(in, &at);
            if (status != TOOL_DONE) return status;
            continue;
        }
        if (err == U9_END) return TOOL_DONE;
        if (err != U9_OK) return text_refused(in, &at, &fault);
        int status = put_value(ask, b);
        if (status != TOOL_DONE) return status;
        for (size_t i = 0; i < used; i++) {
            if ((in->bytes[i] & 0xc0) != 0x80) at.column++;
            if (in->bytes[i] == '\n') at.line++, at.column = 1;
        }
        value_used(in, used);
    }
}

static int encode(const struct value_ask *ask, struct value_input *in)
{
    u9_builder b;
    u9_builder_init_growing(&b, tool_grow, NULL);
    int status = ask->text ? encode_text(ask, in, &b) : encode_lines(ask, in, &b);
    free(b.bytes);
    return status;
}

static u9_err put_text(void *ctx, const char *text, size_t size)
{
    (void)ctx;
    fwrite(text, 1, size, stdout);
    return U9_OK;
}

static int decode(const struct value_ask *ask, struct value_input *in)
{
    in->hex = ask->hex;
    for (;;) {
        u9_value v;
        u9_fault fault;
        int status = TOOL_DONE;
        u9_err err = value_next(in, &v, &fault, &status);
        if (err == U9_END || err == U9_IO) return status;
        if (err == U9_OK && ask->text)
            err = u9_value_print(v.start, v.encoded, put_text, NULL, &fault);
        if (err != U9_OK) return tool_fault(&fault);
        if (!ask->text) tool_put_json(&v);
        putchar('\n');
        if (tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
        value_used(in, v.encoded);
    }
}

static const struct argp_option option_table[] = {
    {"text", 't', 0, 0,
     "encode, decode: the text notation (SPEC-values.md, N-*), not JSON lines: values between "
     "blanks, and comments from `;` to the end of the line",
     0},
    {"hex", 'x', 0, 0,
     "Bytes are hex digits: encode writes a line for each value; decode and show read "
     "them, with blanks, and comments from `;` to the end of the line",
     0},
    {"skip-bad", SKIP_BAD, 0, 0,
     "encode: skip JSON lines that are refused: the first 5 are named, all counted, and the exit "
     "status is 1",
     0},
    {"json", 'j', 0, 0, "show: a JSON object for each line", 0},
    {0},
};

static const char help_text[] =
    "Values from and to JSON or text, and what their bytes say.\v"
    "encode: JSON lines become utf9 values, back to back. decode: values become JSON lines. show: "
    "prints offset, bytes and meaning of all that is in a value, a line each.\n"
    "\n"
    "What JSON has no form for is an object with one key: {\"$bytes\":\"00ff\"}, "
    "{\"$symbol\":\"name\"}, {\"$float32\":1.5}, "
    "{\"$tau\":\"5\"}, {\"$greek\":\"alpha\"}, {\"$pidfd\":[1,2]}, {\"$array\":[\"int16\",1,2]}, "
    "{\"$float64\":\"nan\"}, {\"$utf8\":\"ff\"} (no valid UTF-8). Integers from -2^63 to 2^64 - 1 are plain "
    "numbers; true, false and null are symbols. Only where a key of your own would read as one of these, "
    "it has one $ more: {\"$$bytes\":1}. Arrays are of "
    "uint8 to uint64, int8 to int64, float32, float64, symbol, pidfd, tau.16 to tau.64, `utf8 N`, `bytes N`, "
    "tuples and arrays. The text notation has every value, to the byte: "
    "(5 -3 1.5 \"text\" x\"00ff\" 'symbol tau(5) [int16: 1 2] uint64(5)).\n"
    "\n"
    "FILE is also `-`, standard input, which is read where none is given. What is refused ends it "
    "with exit status 1, and is told with file and offset or line.";

static void take_words(struct value *value)
{
    char **words = value->words;
    static const char *const verbs[] = {"encode", "decode", "show"};
    unsigned k = 0;
    while (k < 3 && strcmp(words[0], verbs[k]) != 0) k++;
    if (k == 3) tool_usage("'%s' is none of `encode`, `decode` and `show`", words[0]);
    value->verb = (enum verb)k;
    value->ask.files = words + 1;
    if (value->ask.json && k != SHOW) tool_usage("--json goes with show");
    if (value->skips.on && (k != ENCODE || value->ask.text))
        tool_usage("--skip-bad goes with encode, and not with --text");
    if (value->ask.text && k == SHOW) tool_usage("--text goes with encode and decode");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct value *value = (struct value *)state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case 't': value->ask.text = 1; break;
    case SKIP_BAD: value->skips.on = 1; break;
    case 'x': value->ask.hex = 1; break;
    case 'j': value->ask.json = 1; break;
    case ARGP_KEY_ARGS: value->words = state->argv + state->next; break;
    case ARGP_KEY_NO_ARGS: tool_usage("`encode`, `decode` or `show`?");
    case ARGP_KEY_END: take_words(value); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_value(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "encode [FILE...]\ndecode [FILE...]\nshow [FILE...]", help_text, NULL,
        NULL,         NULL};
    static value_step *const steps[] = {encode, decode, value_show};
    struct value value = {.ask = {.text = 0}};
    value.ask.skips = &value.skips;
    tool_parse(&parser, argc, argv, &value);
    if (value.verb == ENCODE && !value.ask.hex && isatty(STDOUT_FILENO))
        return tool_say(TOOL_REFUSED,
                        "values are not for a terminal: redirect the output, or use --hex");
    return tool_skips_end(&value.skips, value_each_file(&value.ask, steps[value.verb]));
}
