/*
 * tools/common.h: what the verbs of u9 and u9fsck share.
 *
 * Room: tools
 * Sees: include
 *
 * The room is the programs u9 and u9fsck: hosts of the library like any other.
 *
 * Habits kept here: results go to standard output, everything else goes to standard error as one
 * line prefixed by the tool's name. A reader that goes away (EPIPE) is no news: the tool dies of
 * SIGPIPE, as filters do, but only once its log is closed. Nothing here is thread-safe.
 *
 * Exit status of u9: 0 done (a torn tail is a note), 1 the thing asked for is absent or refused, 2
 * usage, 3 done, but data was lost to damage, 4 I/O or internal error.
 */
#ifndef U9_TOOLS_COMMON_H
#define U9_TOOLS_COMMON_H

#include <argp.h>
#include <jansson.h>
#include <stdio.h>

#include <u9.h>

enum { TOOL_DONE = 0, TOOL_REFUSED = 1, TOOL_USAGE = 2, TOOL_LOST = 3, TOOL_IO = 4 };

/* Not set yet: no time, no ordinal. */
#define TOOL_NONE UINT64_MAX

/*
 * To be called first. Opens what is closed of descriptors 0 to 2 (or a log's file would become
 * standard output), sets buffers, signals and argp up, and makes each word `-h` of `argv` `--help`.
 * `name` is the prefix, `usage_exit` the exit status of usage errors.
 */
void tool_begin(const char *name, int usage_exit, char **argv);

/* The prefix from now on ("u9 append"). Borrows `name` for good. */
void tool_rename(const char *name);

/* One line on standard error, with the prefix. Returns `status`. */
int tool_say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, then exits as a usage error. */
_Noreturn void tool_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The exit status that fits a fault. */
int tool_fault_status(const u9_fault *fault);

/* As tool_say with the fault's line. Returns the exit status that fits the fault. */
int tool_fault(const u9_fault *fault);

/*
 * The same for one that came of reading `log`: if only a segment of it could not be read, the line
 * says that a copy without it can be salvaged.
 */
int tool_read_fault(const char *log, const u9_fault *fault);

/* What a system error means for something that was named by the user: TOOL_REFUSED where there is
 * no such thing or it is of another sort, TOOL_IO for all else. */
int tool_sys_status(int sys);

/* Says that memory is short for `what`. Returns TOOL_IO. */
int tool_nomem(const char *what);

/* "" for one, "s" for any other number of things. */
const char *tool_plural(uint64_t count);

/*
 * Flushes standard output. Returns `status`, or TOOL_IO after saying what is wrong; does not
 * return if the reader has gone away: tools that hold a log open for writing ask
 * tool_stdout_failed first.
 */
int tool_finish(int status);

/* 0 while standard output took everything, else the errno of the first write that failed. To be
 * asked right after printing. */
int tool_stdout_failed(void);

/* ARGP_KEY_INIT of every parser: usage errors are one line, without a second that says "Try". */
void tool_argp_init(struct argp_state *state);

/* A size: digits, then nothing or one of K M G T (powers of 1024). 0: not a size. */
int tool_size_parse(const char *text, uint64_t *out);

/* The argument of --segment-size, bytes, and of --sync; anything else is a usage error that says why. */
uint64_t tool_segment_size(const char *text);
u9_policy tool_policy(const char *text);

/* A whole decimal number up to 2^64 - 1, nothing around it. 0: not a number. */
int tool_number_parse(const char *text, uint64_t *out);

/* The argument of an option as such a number; anything else is a usage error that says why. */
uint64_t tool_number(const char *option, const char *text);

/* The same for a time, as microseconds since 1970: 2026-01-31 (midnight), RFC 3339, @seconds; UTC
 * if no zone is given. */
uint64_t tool_time(const char *option, const char *text);

/* Bytes for people: "12.3 MB". Fills `out`, returns it. */
const char *tool_bytes_text(uint64_t bytes, char out[24]);

/* RFC 3339 with microseconds, UTC. Fills `out`, returns it. */
const char *tool_time_text(uint64_t time_us, char out[48]);

/* Seconds that only grow. */
double tool_seconds(void);

#define TOOL_KEY_TEXT_SIZE 1040 /* room for any key as text */

/* A key as text; what is no key of the kind as hex. */
const char *tool_key_text(const char *kind, const void *key, size_t size,
                          char out[TOOL_KEY_TEXT_SIZE]);

/* A key of a log, in raw form. */
typedef struct tool_key {
    size_t size;
    uint8_t bytes[U9_KEY_SIZE_MAX];
} tool_key;

/* The key kind of a log, where none of it can be read the default. */
const char *tool_kind(const u9_log *log);

/* A key in text form. NULL and the raw form in `out`, or the reason why it is none. */
const char *tool_key_parse(const char *kind, const char *text, size_t size, tool_key *out);

/* Orders raw keys by their bytes, then by their size. */
int tool_key_compare(const u9_key *a, const u9_key *b);

/* One damaged place as a line without prefix, for people; on `out`. */
void tool_put_damage(FILE *out, const u9_damage *damage);

/* A u9_damage_fn: a line on standard error. `ctx` is an `int`, set to TOOL_LOST if records are. */
void tool_on_damage(void *ctx, const u9_damage *damage);

/* A number of 64 bits as JSON: a string, null for TOOL_NONE. A new reference. */
json_t *tool_json_number(uint64_t number);

/* A text that may not be UTF-8, as a path. A new reference. */
json_t *tool_json_text(const char *text);

/* What damages have cost, added up. All zero: nothing. */
typedef struct tool_losses {
    uint64_t exact;   /* records */
    uint64_t at_most; /* records, where only an upper bound is known */
    uint64_t unknown; /* damages of which it is not known what they cost */
} tool_losses;

#define TOOL_LOSSES_SIZE 64 /* room for any losses as text */

/* Adds a damage. */
void tool_losses_add(tool_losses *losses, const u9_damage *damage);

/* "at least 3 records lost": never more than is known. Fills `out`, returns it. */
const char *tool_losses_text(const tool_losses *losses, char out[TOOL_LOSSES_SIZE]);

/* What a check found; `type` (may be NULL) is its first field. A new reference. */
json_t *tool_json_report(const char *type, const char *path, const u9_report *report,
                         const tool_losses *losses);

/* Prints `json` as one line on standard output and lets go of it. Returns the exit status. */
int tool_put_object(json_t *json);

/* Progress on standard error if that is a terminal; else, or if `on` is 0, nothing. */
typedef struct tool_progress {
    int on;
    double began;
    double told;
} tool_progress;

void tool_progress_begin(tool_progress *progress, int on);
/* A u9_progress_fn. `all` 0: not known. */
int tool_progress_tell(void *progress, uint64_t done, uint64_t all);
void tool_progress_end(tool_progress *progress);

/* How cat and get print records. */
typedef enum tool_format { TOOL_LINES = 0, TOOL_RAW, TOOL_JSON } tool_format;

typedef struct tool_style {
    tool_format format;
    int keys;         /* not 0: key and tab in front of each line */
    int null;         /* not 0: NUL behind each record, not newline */
    int terminal;     /* standard output is one: control characters are made visible */
    const char *kind; /* of the log's keys */
} tool_style;

/* "raw", "lines", "json"; anything else is a usage error. */
tool_format tool_format_parse(const char *text);

/* What does not go together is a usage error. To be asked when all options are known. */
void tool_style_check(const tool_style *style);

/* Completes `style` for `log`. TOOL_DONE, or the status after saying why it is refused. */
int tool_style_begin(tool_style *style, const u9_log *log);

/* Prints one record to standard output. */
void tool_put_record(const tool_style *style, const u9_record *record);

/* The verbs. argv[0] is "u9 VERB"; what comes back is the exit status. */
int verb_append(int argc, char **argv);
int verb_cat(int argc, char **argv);
int verb_get(int argc, char **argv);
int verb_info(int argc, char **argv);
int verb_id(int argc, char **argv);
int verb_send(int argc, char **argv);
int verb_recv(int argc, char **argv);
int verb_value(int argc, char **argv);

#endif
