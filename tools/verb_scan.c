/*
 * tools/verb_scan.c: `u9 scan`: reads all records of a log, in parallel, or one range of it, and adds up what they are.
 */
#include "tools/args.h"
#include "tools/json.h"
#include "tools/scan.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ask {
    const char *path, *line; /* line: of --range; NULL: all of the log */
    u9_split_range range;
    tool_field field;
    int counts, json;
    unsigned threads;
};

static int put_totals(const struct ask *ask, const scan *s)
{
    double seconds = s->seconds > 1e-6 ? s->seconds : 1e-6;
    char digest[33], rate[24];
    snprintf(digest, sizeof digest, "%016" PRIx64 "%016" PRIx64, s->tally.high, s->tally.low);
    if (ask->json) {
        json_t *json = json_object();
        json = tool_json_with(json, "type", json_string("scan"));
        json = tool_json_with(json, "path", tool_json_text(ask->path));
        json = tool_json_with(json, "records", tool_json_number(s->tally.records));
        json = tool_json_with(json, "bytes", tool_json_number(s->tally.bytes));
        json = tool_json_with(json, "digest", json_string(digest));
        json = tool_json_with(json, "ranges", tool_json_number(s->count));
        json = tool_json_with(json, "threads", tool_json_number(s->threads));
        json = tool_json_with(json, "seconds", json_real(s->seconds));
        return tool_put_object(json);
    }
    printf("records %" PRIu64 "\nbytes   %" PRIu64 "\ndigest  %s\n", s->tally.records, s->tally.bytes, digest);
    printf("rate    %s/s, %.0f records/s\n", tool_bytes_text((uint64_t)((double)s->tally.bytes / seconds), rate),
           (double)s->tally.records / seconds);
    return TOOL_DONE;
}

/* Nothing is printed of a scan in which a range failed: totals of less than all of it would pass for the totals. */
static int put_results(const struct ask *ask, scan *s, int status)
{
    if (s->failed) return status;
    if (ask->counts) tool_counts_put(&s->counts, ask->json);
    if (s->counts.large > 0)
        tool_say(TOOL_DONE, "note: %" PRIu64 " large record%s not counted", s->counts.large, s->counts.large == 1 ? " was" : "s were");
    int put = ask->counts && !ask->json ? TOOL_DONE : put_totals(ask, s);
    return put == TOOL_DONE ? status : put;
}

static int scan_log(const struct ask *ask, u9_log *log)
{
    scan s = {.path = ask->path, .log = log, .threads = ask->line ? 1 : ask->threads,
              .field = ask->counts ? &ask->field : NULL, .ranges = &ask->range, .count = 1};
    int status = put_results(ask, &s, ask->line ? scan_run(&s) : scan_all(&s, NULL));
    scan_free(&s);
    return status;
}

static int run(const struct ask *ask)
{
    u9_fault fault;
    u9_log *log;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = scan_note_damage};
    if (u9_log_open(ask->path, &options, &log, &fault) != U9_OK) return tool_read_fault(ask->path, &fault);
    int status = scan_log(ask, log);
    u9_err err = u9_log_close(log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(ask->path, &fault);
    return status;
}

static void take_line(struct ask *ask, const char *arg)
{
    u9_fault fault;
    if (u9_split_parse(arg, strlen(arg), &ask->range, &fault) != U9_OK)
        tool_usage("--range: %s [%s]", fault.text, fault.rule);
    ask->line = arg;
}

enum { COUNT_BY = 256, RANGE, JSON };

static const struct argp_option option_table[] = {
    SCAN_JOBS_OPTION,
    {"count-by", COUNT_BY, "FIELD", 0,
     "Print how many records have which value in FIELD: a name, of a member of the object that is the first value; or a "
     "position: 1 is the first value, 2 the second, 0 the key. Values that are equal are one; - has those without", 0},
    {"range", RANGE, "LINE", 0, "Read only the range that LINE, a line of `u9 split`, names", 0},
    {"json", JSON, 0, 0, "JSON objects, one a line, numbers of 64 bits as strings", 0},
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct ask *ask = (struct ask *)state->input;
    switch (option) {
    case 'j': ask->threads = scan_jobs(arg); break;
    case COUNT_BY:
        if (*arg == '\0') tool_usage("--count-by: FIELD is empty");
        ask->field = tool_field_parse(arg);
        ask->counts = 1;
        break;
    case RANGE: take_line(ask, arg); break;
    case JSON: ask->json = 1; break;
    default: return tool_argp_log(option, arg, state, &ask->path);
    }
    return 0;
}

int verb_scan(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Reads and verifies all records of LOG, on several threads, and prints how many there are, their bytes, and a "
        "digest that does not depend on who read what: the sum modulo 2^128 of the XXH3-128 hashes of the records. "
        "Damage is told on standard error, a line each; if records were lost to it, the exit status is 3, and 1 if some "
        "of it was trimmed before it was read. If a part of the log cannot be read, nothing is printed.",
        NULL, NULL, NULL};
    struct ask ask = {.threads = scan_processors()};
    tool_parse(&parser, argc, argv, &ask);
    return run(&ask);
}
