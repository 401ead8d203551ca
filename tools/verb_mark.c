/*
 * tools/verb_mark.c: `u9 mark`: the mark of a log as a line to keep elsewhere.
 */
#include "tools/json.h"
#include "tools/mark.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

struct mark {
    const char *path;
    int json;
};

static int run(const struct mark *m)
{
    u9_fault fault;
    u9_mark mark;
    char line[U9_MARK_LINE_SIZE];
    u9_err err = u9_mark_read(m->path, NULL, &mark, &fault);
    if (err != U9_OK) return tool_read_fault(m->path, &fault);
    if (m->json) return tool_put_object(tool_json_mark("mark", m->path, &mark));
    puts(u9_mark_format(&mark, line));
    return TOOL_DONE;
}

static const struct argp_option option_table[] = {
    {"json", 'j', 0, 0, "One JSON object, numbers of 64 bits as strings", 0},
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct mark *m = (struct mark *)state->input;
    switch (option) {
    case 'j': m->json = 1; break;
    default: return tool_argp_log(option, arg, state, &m->path);
    }
    return 0;
}

int verb_mark(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Prints the mark of LOG, which says before which record all is durable, as one line without secrets. Kept where "
        "nobody who can write to LOG can change it, the line proves with u9fsck --mark that all before that record is what "
        "was there. A writer may be at work. If no mark counts, the exit status is 1.",
        NULL, NULL, NULL};
    struct mark mark = {0};
    tool_parse(&parser, argc, argv, &mark);
    return run(&mark);
}
