/*
 * tools/verb_split.c: `u9 split`: a log as ranges that are read apart, a line each.
 */
#include "tools/args.h"
#include "tools/json.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>

struct ask {
    const char *path;
    uint64_t ranges, size; /* one of them */
    int json;
};

static json_t *json_place(const u9_split_place *place)
{
    json_t *json = tool_json_with(json_object(), "segment", tool_json_number(place->segment));
    return tool_json_with(json, "offset", tool_json_number(place->offset));
}

static int put_json(const u9_split_range *range, const char *line)
{
    json_t *json = tool_json_with(json_object(), "type", json_string("range"));
    json = tool_json_with(json, "number", tool_json_number(range->number));
    json = tool_json_with(json, "count", tool_json_number(range->count));
    json = tool_json_with(json, "from", json_place(&range->from));
    json = tool_json_with(json, "to", json_place(&range->to));
    json = tool_json_with(json, "bytes", tool_json_number(range->bytes));
    json = tool_json_with(json, "line", json_string(line));
    return tool_put_object(json);
}

static int split(const struct ask *ask, u9_log *log)
{
    u9_fault fault;
    u9_split_range *ranges;
    size_t count;
    char line[U9_SPLIT_LINE_SIZE];
    int status = TOOL_DONE;
    if (u9_log_split(log, ask->ranges, ask->size, &ranges, &count, &fault) != U9_OK)
        return tool_read_fault(ask->path, &fault);
    for (size_t i = 0; i < count && status == TOOL_DONE; i++) {
        (void)u9_split_format(&ranges[i], line);
        if (ask->json) status = put_json(&ranges[i], line);
        else puts(line);
    }
    u9_split_free(ranges);
    return status;
}

static int run(const struct ask *ask)
{
    u9_fault fault;
    u9_log *log;
    if (u9_log_open(ask->path, NULL, &log, &fault) != U9_OK) return tool_read_fault(ask->path, &fault);
    int status = split(ask, log);
    u9_err err = u9_log_close(log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(ask->path, &fault);
    return status;
}

enum { SIZE = 256 };

static const struct argp_option option_table[] = {
    {"ranges", 'n', "N", 0, "At most N ranges of about as many bytes; fewer where the log is small", 0},
    {"size", SIZE, "SIZE", 0, "As many ranges as it takes for about SIZE bytes (64K, 1G) each", 0},
    {"json", 'j', 0, 0, "A JSON object for each, numbers of 64 bits as strings", 0},
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct ask *ask = (struct ask *)state->input;
    switch (option) {
    case 'n':
        ask->ranges = tool_number("-n", arg);
        tool_within("-n", ask->ranges, 1, U9_SPLIT_MAX, "");
        break;
    case SIZE:
        ask->size = tool_size("--size", arg);
        if (ask->size < 4096) tool_usage("--size %s: at least 4K", arg);
        break;
    case 'j': ask->json = 1; break;
    case ARGP_KEY_END:
        if ((ask->ranges == 0) == (ask->size == 0)) tool_usage("how many ranges? -n N or --size SIZE");
        break;
    default: return tool_argp_log(option, arg, state, &ask->path);
    }
    return 0;
}

int verb_split(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Plans ranges over all of LOG, of about as many bytes each, and prints a line for each. Wherever a copy of LOG "
        "is, `u9 scan LOG --range LINE` reads one of them by itself; together they give each record once and tell each "
        "loss once, whatever is damaged. The lines hold no secret. What is appended later is in none of them.",
        NULL, NULL, NULL};
    struct ask ask = {0};
    tool_parse(&parser, argc, argv, &ask);
    return run(&ask);
}
