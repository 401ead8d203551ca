/*
 * bench/u9bench.c: what u9 does in a second, next to what the machine and others do: the command line.
 *
 * Each table shows median, least and most of its rounds. Ratios are of medians of one run.
 */
#include "bench/bench.h"
#include "bench/measure.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

static bench_options asked = {.records = 5000000, .commits = 2000, .rounds = 5, .dir = "."};
static const char *only; /* NULL: all */

static unsigned long number(const char *text, unsigned long most, struct argp_state *state)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end != 0 || n == 0 || n > most) argp_error(state, "'%s' is not a number from 1 to %lu", text, most);
    return n;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case 'n': asked.records = number(text, 1000000000, state); break;
    case 'c': asked.commits = number(text, 1000000000, state); break;
    case 'r': asked.rounds = number(text, ROUNDS_MAX, state); break;
    case 'd': asked.dir = text; break;
    case 'i': asked.io = text; break;
    case 'o':
        if (strcmp(text, "log") != 0 && strcmp(text, "segments") != 0 && strcmp(text, "ids") != 0 &&
            strcmp(text, "values") != 0)
            argp_error(state, "'%s': log, segments, ids or values", text);
        only = text;
        break;
    case 'l': asked.lines = text; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option options[] = {
    {"records", 'n', "N", 0, "records of an append run (5000000)", 0},
    {"commits", 'c', "N", 0, "commits of a commit run (2000)", 0},
    {"rounds", 'r', "N", 0, "rounds; the median is of so many (5)", 0},
    {"dir", 'd', "DIR", 0, "where the log is made and removed (.)", 0},
    {"only", 'o', "WHAT", 0, "log, segments, ids or values: only these rows", 0},
    {"lines", 'l', "DIR", 0, "values of the lines of DIR/*.log (made up)", 0},
    {"io", 'i', "TABLE", 0, "posix or uring", 0},
    {0}};

static int wanted(const char *subject)
{
    return only == NULL || strcmp(only, subject) == 0;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, NULL, "Measures u9 on this machine, next to what bounds it.", NULL, NULL, NULL};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    if (wanted("log")) bench_log(&asked);
    if (wanted("segments")) bench_segments(&asked);
    if (wanted("ids")) bench_ids(&asked);
    if (wanted("values")) {
        bench_values(&asked);
        bench_indexes(&asked);
    }
    return 0;
}
