/*
 * tools/verb_id.c: `u9 id`: makes identifiers, and takes them apart as JSON (SPEC.md, I-*).
 *
 * Answers are one line for one question, in order, refusals included: a program may keep the
 * other ends of the pipes.
 */
#include "tools/common.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct id {
    int make; /* new or show */
    uint64_t count;
    int lenient, bytes;
    char **texts;
    int status;
};

static int make_muids(uint64_t count)
{
    char text[U9_MUID_TEXT_SIZE + 1];
    u9_muid muid = {.offset = 1};
    if (getrandom(&muid.medallion, sizeof muid.medallion, 0) != sizeof muid.medallion)
        return tool_say(TOOL_IO, "getrandom: %s", strerror(errno));
    uint64_t half = UINT64_C(1) << 40; /* [2^40, 2^41 - 1] */
    muid.medallion = half | (muid.medallion & (half - 1));
    for (uint64_t i = 0; i < count && !tool_stdout_failed(); i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        uint64_t us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
        muid.timestamp = us > muid.timestamp ? us : muid.timestamp + 1;
        if (u9_muid_format(&muid, text) != U9_OK)
            return tool_say(TOOL_IO, "the clock is beyond what a muid can hold");
        puts(text);
    }
    return TOOL_DONE;
}

/* 32 hex digits, packed. 0: they are not. */
static int parse_hex(const char *text, size_t size, uint8_t out[U9_MUID_SIZE])
{
    if (size != 2 * U9_MUID_SIZE) return 0;
    for (size_t i = 0; i < size; i++) {
        int c = tolower((unsigned char)text[i]);
        if (!isxdigit(c)) return 0;
        int digit = isdigit(c) ? c - '0' : c - 'a' + 10;
        out[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : out[i / 2] | digit);
    }
    return 1;
}

/* NULL, or why `text` is refused. */
static const char *read_muid(const struct id *id, const char *text, size_t size, u9_muid *muid)
{
    uint8_t packed[U9_MUID_SIZE];
    u9_muid_reason why = U9_MUID_FINE;
    if (id->bytes) {
        if (!parse_hex(text, size, packed)) return "packed bytes are exactly 32 hex digits";
        u9_muid_unpack(packed, muid);
        return NULL;
    }
    if (u9_muid_parse(text, size, id->lenient ? U9_MUID_LENIENT : 0, muid, &why) == U9_OK)
        return NULL;
    return u9_muid_reason_text(why);
}

static json_t *show_muid(const u9_muid *muid)
{
    char text[U9_MUID_TEXT_SIZE + 1], hex[2 * U9_MUID_SIZE + 1], time[48];
    uint8_t packed[U9_MUID_SIZE];
    if (u9_muid_format(muid, text) != U9_OK || u9_muid_pack(muid, packed) != U9_OK) return NULL;
    for (size_t i = 0; i < sizeof packed; i++) snprintf(hex + 2 * i, 3, "%02x", packed[i]);
    int timed = muid->timestamp != U9_MUID_TIMESTAMP_MAX; /* all ones: the global object */
    return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:o, s:i}", "kind", "muid", "text", text, "bytes",
                     hex, "time", timed ? tool_time_text(muid->timestamp, time) : NULL, "timestamp",
                     tool_json_number(muid->timestamp), "medallion",
                     tool_json_number(muid->medallion), "offset", (int)muid->offset);
}

static void answer(struct id *id, const char *text, size_t size)
{
    u9_muid muid;
    const char *why = read_muid(id, text, size, &muid);
    if (why) id->status = TOOL_REFUSED;
    if (tool_put_object(why ? json_pack("{s:s}", "error", why) : show_muid(&muid)) != TOOL_DONE)
        id->status = TOOL_IO;
    fflush(stdout);
}

static void answer_lines(struct id *id)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    while (!tool_stdout_failed() && (size = getline(&line, &room, stdin)) >= 0) {
        if (size > 0 && line[size - 1] == '\n') size--;
        answer(id, line, (size_t)size);
    }
    if (ferror(stdin)) id->status = tool_say(TOOL_IO, "standard input: %s", strerror(errno));
    free(line);
}

static int run(struct id *id)
{
    if (id->make) return make_muids(id->count);
    for (char **text = id->texts; *text && !tool_stdout_failed(); text++) {
        if (strcmp(*text, "-") == 0)
            answer_lines(id);
        else
            answer(id, *text, strlen(*text));
    }
    return id->status;
}

enum { LENIENT = 256, BYTES };

static const struct argp_option option_table[] = {
    {"count", 'n', "N", 0, "new: how many (default 1)", 0},
    {"lenient", LENIENT, 0, 0, "show: also lower case, 32 digits without dashes, short zeros", 0},
    {"bytes", BYTES, 0, 0, "show: TEXT is the packed bytes as 32 hex digits", 0},
    {0},
};

static void check_kind(const char *kind)
{
    static const char *const later[] = {"gid", "gid:volume", "gid:log", "gid:segment",
                                        "tid", "uid8",       "rkey"};
    if (strcmp(kind, "muid") == 0) return;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (strcmp(kind, later[i]) == 0)
            exit(tool_say(TOOL_REFUSED, "%s: not in this version, which knows muid", kind));
    tool_usage("'%s' is not a kind of identifiers: muid", kind);
}

static void parse_args(struct id *id, char **args)
{
    id->make = strcmp(args[0], "new") == 0;
    if (!id->make && strcmp(args[0], "show") != 0)
        tool_usage("'%s' is neither `new` nor `show`", args[0]);
    if (!args[1]) tool_usage("%s: no kind given (muid)", args[0]);
    check_kind(args[1]);
    id->texts = args + 2;
    if (!id->make && !*id->texts) tool_usage("show: no TEXT given");
    if (id->make && *id->texts) tool_usage("new: '%s' is too much", *id->texts);
    if (id->make && (id->lenient || id->bytes)) tool_usage("--lenient and --bytes go with show");
    if (!id->make && id->count != 1) tool_usage("-n goes with new");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct id *id = (struct id *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case 'n':
        if (!tool_number_parse(arg, &id->count)) tool_usage("-n %s: not a number", arg);
        break;
    case LENIENT: id->lenient = 1; break;
    case BYTES: id->bytes = 1; break;
    case ARGP_KEY_ARGS: id->texts = state->argv + state->next; break;
    case ARGP_KEY_NO_ARGS: tool_usage("`new` or `show`?");
    case ARGP_KEY_END: parse_args(id, id->texts); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_id(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "new muid\nshow muid TEXT...",
        "new: prints fresh muids. show: takes each TEXT (`-`: lines of standard input) apart, a "
        "JSON object a line; for what is refused {\"error\":...}, and exit status 1 at the end.",
        NULL, NULL, NULL};
    struct id id = {.count = 1};
    argp_parse(&parser, argc, argv, 0, NULL, &id);
    return run(&id);
}
