/*
 * tools/tool.h: how a tool begins, what it says, and how it ends.
 *
 * Room: tools
 * Sees: include
 *
 * The room is the programs u9 and u9fsck, hosts of the library like any other: one file for each verb
 * (verb_NAME.c, fsck.c), and what they share.
 *
 * Habits kept here: results go to standard output, everything else goes to standard error as one
 * line prefixed by the tool's name. A reader that goes away (EPIPE) is no news: the tool dies of
 * SIGPIPE, as filters do, but only once its log is closed. Nothing in this room is thread-safe.
 *
 * Exit status of u9: 0 done (a torn tail is a note), 1 the thing asked for is absent or refused, 2
 * usage, 3 done, but data was lost to damage, 4 I/O or internal error.
 */
#ifndef U9_TOOLS_TOOL_H
#define U9_TOOLS_TOOL_H

#include <argp.h>
#include <stdio.h>

#include <u9/log.h>

enum { TOOL_DONE = 0, TOOL_REFUSED = 1, TOOL_USAGE = 2, TOOL_LOST = 3, TOOL_IO = 4 };

/* Not set yet: no time, no ordinal. */
#define TOOL_NONE UINT64_MAX

/*
 * To be called first. Opens what is closed of descriptors 0 to 2 (or a log's file would become
 * standard output), sets buffers, signals and argp up, help of a narrow terminal's width among it, and makes each word `-h` of `argv` `--help`.
 * `name` is the prefix, `usage_exit` the exit status of usage errors, `trouble_exit` the one of what else ends
 * the tool before its work began: no memory for the arguments, no room for the help.
 */
void tool_begin(const char *name, int usage_exit, int trouble_exit, char **argv);

/* The prefix from now on ("u9 append"). Borrows `name` for good. */
void tool_rename(const char *name);

/* The prefix. */
const char *tool_name(void);

/*
 * A word of the user's, or a path, for a message: '' where it would not be seen, and ? for each control character: a line
 * stays one, and nothing happens to a terminal. Valid until the eighth call from now.
 */
const char *tool_shown(const char *word);

/* Columns of the terminal that `fd` is; 0: it is none, or that is not known. */
unsigned tool_columns(int fd);

/* One line on standard error, with the prefix. Returns `status`. */
int tool_say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, then exits as a usage error. */
_Noreturn void tool_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The exit status that fits a fault. */
int tool_fault_status(const u9_fault *fault);

/* As tool_say with the fault's line. Returns the exit status that fits the fault. */
int tool_fault(const u9_fault *fault);

/*
 * The same for one that came of reading `log`: if only a segment of it could not be read, for a reason that is
 * the file's, the line says that a copy without it can be salvaged.
 */
int tool_read_fault(const char *log, const u9_fault *fault);

/* What a system error means for something that was named by the user: TOOL_REFUSED where there is
 * no such thing or it is of another sort, TOOL_IO for all else. */
int tool_sys_status(int sys);

/* Says that memory is short for `what`. Returns TOOL_IO. */
int tool_nomem(const char *what);

/*
 * Flushes standard output. Returns `status`, or TOOL_IO after saying what is wrong; does not
 * return if the reader has gone away: tools that hold a log open for writing ask
 * tool_stdout_failed first.
 */
int tool_finish(int status);

/* `end` is called by tool_finish when all is printed, whatever became of it, before it returns or dies. NULL: nothing is. */
void tool_at_end(void (*end)(void));

/* 0 while standard output took everything, else the errno of the first write that failed. To be
 * asked right after printing. */
int tool_stdout_failed(void);

/*
 * Reads the arguments into `input`. Does not return from a usage error, from --help and --version, nor without
 * memory.
 */
void tool_parse(const struct argp *parser, int argc, char **argv, void *input);

/* ARGP_KEY_INIT of every parser: usage errors are one line, without a second that says "Try". */
void tool_argp_init(struct argp_state *state);

/* What is left of a parser's keys where the one argument is LOG: *path borrows it. ARGP_ERR_UNKNOWN of those that are neither. */
error_t tool_argp_log(int key, char *arg, struct argp_state *state, const char **path);

#endif
