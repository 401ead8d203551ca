/*
 * tools/verb_value.c: `u9 value`: values from JSON or the text notation, and back (SPEC-values.md,
 * J-*, N-*).
 *
 * Values stand back to back; each is written before the next is looked for. The first thing that is
 * refused ends it: what stood before has been written. Showing values is value_show.c's part, patching
 * them value_patch.c's.
 */
#include "tools/value.h"

#include "tools/fold.h"
#include "tools/pager.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum verb { ENCODE, DECODE, SHOW, PATCH };
enum { SKIP_BAD = 256, NO_PAGER };

struct value {
    struct value_ask ask;
    enum verb verb;
    tool_skips skips;
    int unpaged;
    char **words;
};

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
    return value_put(ask, b->bytes, b->size);
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

static int encode_text(const struct value_ask *ask, struct value_input *in, u9_builder *b)
{
    for (;;) {
        int status = TOOL_DONE;
        u9_err err = value_next_text(in, b, &status);
        if (err != U9_OK) return status;
        status = value_put(ask, b->bytes, b->size);
        if (status != TOOL_DONE) return status;
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

static int decode(const struct value_ask *ask, struct value_input *in)
{
    in->hex = ask->hex;
    for (;;) {
        u9_value v;
        u9_fault fault;
        int status = TOOL_DONE;
        u9_err err = value_next(in, &v, &fault, &status);
        if (err == U9_END || err == U9_IO) return status;
        if (err != U9_OK) return tool_fault(&fault);
        if (ask->text) {
            status = value_put_text(v.start, v.encoded);
            if (status != TOOL_DONE) return status;
        } else {
            tool_put_json(&v);
            putchar('\n');
        }
        if (tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
        value_used(in, v.encoded);
    }
}

static const struct argp_option option_table[] = {
    {"text", 't', 0, 0,
     "The text notation (SPEC-values.md, N-*): values between blanks, and comments from `;` to the end of the "
     "line. encode, decode: instead of JSON lines. patch: BASE, patches and what comes of them, instead of "
     "utf9 bytes",
     0},
    {"hex", 'x', 0, 0,
     "Bytes are hex digits: encode and patch write a line for each value; decode, show and patch read "
     "them, with blanks, and comments from `;` to the end of the line",
     0},
    {"skip-bad", SKIP_BAD, 0, 0,
     "encode, patch: skip JSON lines, or patches, that are refused: the first 5 are named, all counted, "
     "and the exit status is 1",
     0},
    {"json", 'j', 0, 0, "show: a JSON object for each line", 0},
    TOOL_PAGER_OPTION(NO_PAGER),
    {0},
};

static const char help_text[] =
    "Values from and to JSON or text, and what their bytes say.\v"
    "encode: JSON lines become utf9 values, back to back. decode: values become JSON lines. show: "
    "prints offset, bytes and meaning of all that is in a value, a line each. patch: applies patches, such as "
    "(+ (0) 5) in the text notation, to the value in the file BASE, and writes what comes of it: at each tau0 "
    "between them, and at the end (SPEC-values.md, D-*).\n"
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
    static const char *const verbs[] = {"encode", "decode", "show", "patch"};
    unsigned k = 0;
    while (k < 4 && strcmp(words[0], verbs[k]) != 0) k++;
    if (k == 4) tool_usage("'%s' is none of `encode`, `decode`, `show` and `patch`", words[0]);
    value->verb = (enum verb)k;
    value->ask.files = words + 1;
    if (value->ask.json && k != SHOW) tool_usage("--json goes with show");
    if (value->skips.on && k != PATCH && (k != ENCODE || value->ask.text))
        tool_usage("--skip-bad goes with patch, and with encode without --text");
    if (value->ask.text && k == SHOW) tool_usage("--text goes with encode, decode and patch");
    if (value->ask.text && value->ask.hex && k == PATCH) tool_usage("patch: --text or --hex?");
    if (!words[1] && k == PATCH) tool_usage("patch: which file has the value to be patched?");
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
    case NO_PAGER: value->unpaged = 1; break;
    case ARGP_KEY_ARGS: value->words = state->argv + state->next; break;
    case ARGP_KEY_NO_ARGS: tool_usage("`encode`, `decode`, `show` or `patch`?");
    case ARGP_KEY_END: take_words(value); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_value(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "encode [FILE...]\ndecode [FILE...]\nshow [FILE...]\npatch BASE [FILE...]", help_text, NULL,
        NULL,         NULL};
    static value_step *const steps[] = {encode, decode, value_show};
    struct value value = {.ask = {.text = 0}};
    value.ask.skips = &value.skips;
    tool_parse(&parser, argc, argv, &value);
    int binary = !value.ask.hex && (value.verb == ENCODE || (value.verb == PATCH && !value.ask.text));
    if (binary && isatty(STDOUT_FILENO))
        return tool_say(TOOL_REFUSED,
                        "values are not for a terminal: redirect the output, or use --hex");
    int typed = (!value.words[1] || strcmp(value.words[1], "-") == 0) && isatty(STDIN_FILENO); /* who types values needs the keyboard */
    if (value.verb == SHOW && !value.ask.json) tool_fold(&stdout);
    if (value.verb == SHOW && !typed) tool_page(value.unpaged);
    return tool_skips_end(&value.skips, value.verb == PATCH
                                            ? value_patch(&value.ask)
                                            : value_each_file(&value.ask, steps[value.verb]));
}
