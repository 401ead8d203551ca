/*
 * tools/u9.c: the command `u9`: finds the verb. A verb is a row of the table below and one file,
 * tools/verb_NAME.c.
 */
#include "tools/fold.h"
#include "tools/nearest.h"
#include "tools/store.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const struct verb {
    const char *name, *prefix;
    int (*run)(int argc, char **argv);
    const char *arguments, *text;
    bool for_people; /* what it prints, but for JSON */
} verbs[] = {
    {"append", "u9 append", verb_append, "LOG [FILE...]", "appends each line as a record", false},
    {"cat", "u9 cat", verb_cat, "LOG", "prints the records in order", false},
    {"tail", "u9 tail", verb_tail, "LOG", "prints the last records, goes on with -f", false},
    {"grep", "u9 grep", verb_grep, "FIELD=VALUE|PATTERN LOG", "records with a value, or a pattern", false},
    {"get", "u9 get", verb_get, "LOG KEY...", "prints the newest record of each key", false},
    {"info", "u9 info", verb_info, "LOG", "checks a log and says what is in it", true},
    {"stat", "u9 stat", verb_stat, "LOG", "how a log stands, and how it grows", true},
    {"du", "u9 du", verb_du, "LOG", "what takes the space of a log", true},
    {"mark", "u9 mark", verb_mark, "LOG", "prints a line that proves what is there", false},
    {"index", "u9 index", verb_index, "LOG", "makes and proves indexes", true},
    {"trim", "u9 trim", verb_trim, "LOG", "drops the oldest segments of a log", true},
    {"tier", "u9 tier", verb_tier, "LOG --to PLACE", "sealed segments to S3, and read from there", true},
    {"split", "u9 split", verb_split, "LOG", "plans ranges that are read apart", false},
    {"scan", "u9 scan", verb_scan, "LOG", "reads all in parallel: totals, counts", true},
    {"snapshot", "u9 snapshot", verb_snapshot, "LOG DIR", "a copy of a log as it is now", true},
    {"merge", "u9 merge", verb_merge, "OUT LOG...", "several logs into one by key order", true},
    {"send", "u9 send", verb_send, "LOG", "sends a log down a pipe or socket", false},
    {"recv", "u9 recv", verb_recv, "LOG", "receives it, goes on after a break", false},
    {"import", "u9 import", verb_import, "FORMAT LOG [FILE]", "records from JSON, CSV, journal, MCAP ...", false},
    {"export", "u9 export", verb_export, "FORMAT LOG [FILE]", "and to them", false},
    {"id", "u9 id", verb_id, "new|show|make KIND", "makes identifiers, takes them apart", false},
    {"value", "u9 value", verb_value, "encode|decode|show|patch", "values from and to JSON or text", false},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static int help(void)
{
    unsigned columns = tool_columns(STDOUT_FILENO);
    const char *row = columns > 0 && columns < TOOL_FOLD_BELOW ? "  %s %s\n    %s\n" : "  %-8s %-25s %s\n";
    tool_fold(&stdout);
    puts("Usage: u9 VERB [OPTION...] [ARGUMENT...]\n"
         "Append-only record logs. LOG is a directory, to be read also one segment file.\n");
    for (size_t i = 0; i < VERBS; i++) printf(row, verbs[i].name, verbs[i].arguments, verbs[i].text);
    puts("\n  u9 help VERB     what a verb does, and its options; also u9 VERB --help\n"
         "  u9 --help        this list; -h is --help everywhere\n"
         "  u9 --version     the version\n\n"
         "Exit status: 0 done, 1 absent or refused, 2 wrong usage, 3 done but data was\n"
         "lost to damage, 4 I/O or internal error. Damaged logs are the work of u9fsck.");
    return tool_finish(TOOL_DONE);
}

/* The verb, or option without one, that `word` may have been meant to be; NULL: none. */
static const char *meant_word(const char *word)
{
    static const char *const options[] = {"--help", "--version"};
    const char *meant = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < VERBS; i++)
        if (tool_is_nearer(word, verbs[i].name, &best)) meant = verbs[i].name;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (tool_is_nearer(word, options[i], &best)) meant = options[i];
    return meant;
}

int main(int argc, char **argv)
{
    static char asks[] = "--help";
    char *help_of[] = {argv[0], argc > 2 ? argv[2] : NULL, asks, NULL};
    tool_begin("u9", TOOL_USAGE, TOOL_IO, argv);
    tool_load_stores(argc, argv, TOOL_REFUSED);
    if (argc < 2) tool_usage("no verb given; `u9 --help` lists them");
    if (strcmp(argv[1], "help") == 0 && argc > 2) argc = 3, argv = help_of;
    char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0 || strcmp(word, "help") == 0)
        return help();
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts(argp_program_version);
        return tool_finish(TOOL_DONE);
    }
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(word, verbs[i].name) != 0) continue;
        char prefix[32];
        snprintf(prefix, sizeof prefix, "%s", verbs[i].prefix);
        argv[1] = prefix;
        tool_rename(verbs[i].prefix);
        if (verbs[i].for_people) tool_fold(&stdout);
        return tool_finish(verbs[i].run(argc - 1, argv + 1));
    }
    const char *what = *word == '-' ? "option" : "verb", *meant = meant_word(word);
    if (strcmp(word, "fsck") == 0 || strcmp(word, "check") == 0) tool_usage("unknown verb '%s'; `u9fsck` checks a log", word);
    if (meant) tool_usage("unknown %s '%s'; did you mean `u9 %s`? `u9 --help` lists the verbs", what, word, meant);
    tool_usage("unknown %s '%s'; `u9 --help` lists the verbs", what, word);
}
