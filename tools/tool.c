/*
 * tools/tool.c: see tool.h.
 *
 * Owns standard output's buffer and the tool's prefix. Never ends the process, but for usage errors
 * and for a reader that has gone away.
 */
#include "tools/tool.h"

#include "tools/fold.h"
#include "tools/nearest.h"

#include <u9.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { OUT_SIZE = 1 << 20 };

static const char *name = "u9";
static char out_buffer[OUT_SIZE];

static char version[64];
static int trouble = TOOL_IO; /* what ends the tool outside of its main */
static int finished;          /* tool_finish was called */
static void (*at_end)(void);  /* of tool_at_end */

/* argp ends the process by itself: what it printed counts, too. */
static void finish_early(void)
{
    if (!finished && tool_finish(0) != 0) _exit(trouble);
}

unsigned tool_columns(int fd)
{
    struct winsize window = {0};
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

/* Help as wide as the terminal, where that is narrower than argp has it: words below their option then, not beside. */
static void fit_help(void)
{
    enum { LEAST = 24 };
    char format[128];
    unsigned columns = tool_columns(STDOUT_FILENO);
    if (columns == 0 || columns >= TOOL_FOLD_BELOW) return;
    snprintf(format, sizeof format,
             "rmargin=%u,short-opt-col=0,long-opt-col=4,opt-doc-col=6,header-col=0,usage-indent=4,no-dup-args-note",
             (columns > LEAST ? columns : LEAST) - 1);
    setenv("ARGP_HELP_FMT", format, 0);
}

void tool_begin(const char *tool, int usage_exit, int trouble_exit, char **argv)
{
    static char help[] = "--help";
    /* Opened so that each use fails: reading 1 and 2, writing 0. */
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            _exit(usage_exit);
    name = tool;
    snprintf(version, sizeof version, "%s " U9_VERSION_TEXT, tool);
    argp_program_version = version;
    argp_err_exit_status = usage_exit;
    for (char **word = argv; *word && strcmp(*word, "--") != 0; word++)
        if (strcmp(*word, "-h") == 0) *word = help;
    trouble = trouble_exit;
    fit_help();
    (void)u9_guard_install(); /* without it everything is read by calls */
    (void)!atexit(finish_early);
    setvbuf(stdout, out_buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof out_buffer);
    tool_fold(&stderr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an ordinary error */
}

void tool_rename(const char *tool)
{
    name = tool;
}

const char *tool_name(void)
{
    return name;
}

/* One line, whatever a file is called. */
static void blot(char *text)
{
    for (; *text; text++)
        if (iscntrl((unsigned char)*text)) *text = '?';
}

const char *tool_shown(const char *word)
{
    static char blotted[8][4096]; /* from no heap, which may be what is wrong */
    static unsigned next;
    const char *c = word;
    while (*c && !iscntrl((unsigned char)*c)) c++;
    if (*c == '\0') return *word ? word : "''";
    char *out = blotted[next++ % 8];
    snprintf(out, sizeof blotted[0], "%s", word);
    blot(out);
    return out;
}

static void say(const char *format, va_list list)
{
    static char line[3 * 4096]; /* two paths and words; from no heap, which may be what is wrong */
    vsnprintf(line, sizeof line, format, list);
    blot(line);
    fprintf(stderr, "%s: %s\n", name, line);
}

int tool_say(int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(format, list);
    va_end(list);
    return status;
}

void tool_usage(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(format, list);
    va_end(list);
    exit(argp_err_exit_status);
}

int tool_sys_status(int sys)
{
    return sys == ENOENT || sys == ENOTDIR || sys == EISDIR ? TOOL_REFUSED : TOOL_IO;
}

int tool_fault_status(const u9_fault *fault)
{
    switch (fault->err) {
    case U9_ABSENT:
    case U9_ARG:
    case U9_LIMIT:
    case U9_LOCKED:
    case U9_VERSION:
    case U9_CORRUPT:
    case U9_TORN: return TOOL_REFUSED;
    case U9_IO: return tool_sys_status(fault->sys);
    case U9_OK:
    case U9_END:
    case U9_AGAIN:
    case U9_NOMEM:
    case U9_STATE:
    case U9_POISONED: break;
    }
    return TOOL_IO;
}

int tool_fault(const u9_fault *fault)
{
    char line[1024];
    return tool_say(tool_fault_status(fault), "%s", u9_fault_line(fault, line, sizeof line));
}

/* True if the fault is about a segment in the directory `log`. Its path may have lost its beginning. */
static int in_log(const char *log, const u9_fault *fault)
{
    const char *slash = strrchr(fault->path, '/'), *dot = strrchr(fault->path, '.');
    size_t size = strlen(log), dir = slash ? (size_t)(slash - fault->path) : 0;
    while (size > 1 && log[size - 1] == '/') size--;
    while (dir > 1 && fault->path[dir - 1] == '/') dir--;
    int cut = strlen(fault->path) == sizeof fault->path - 1 && dir < size;
    return slash && dot && strcmp(dot, ".u9") == 0 && (dir == size || cut) &&
           memcmp(log + size - dir, fault->path, dir) == 0;
}

int tool_read_fault(const char *log, const u9_fault *fault)
{
    char line[1024];
    int ours = fault->sys == ENOMEM || fault->sys == EMFILE || fault->sys == ENFILE || fault->sys == EACCES ||
               fault->sys == EPERM; /* not the file's */
    if (fault->err != U9_IO || ours || !in_log(log, fault)) return tool_fault(fault);
    return tool_say(TOOL_IO, "%s (u9fsck --salvage of a copy without this file saves the rest)",
                    u9_fault_line(fault, line, sizeof line));
}

int tool_nomem(const char *what)
{
    return tool_say(TOOL_IO, "out of memory for %s", what);
}

int tool_stdout_failed(void)
{
    static int sys;
    if (!ferror(stdout)) return 0;
    if (sys == 0) sys = errno ? errno : EIO;
    return sys;
}

void tool_at_end(void (*end)(void))
{
    at_end = end;
}

int tool_finish(int status)
{
    finished = 1;
    int sys = tool_stdout_failed();
    if (sys == 0 && fflush(stdout) != 0) sys = errno;
    if (sys != 0 && sys != EPIPE) status = tool_say(TOOL_IO, "standard output: %s", strerror(sys));
    if (at_end) at_end();
    if (sys == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return status;
}

void tool_parse(const struct argp *parser, int argc, char **argv, void *input)
{
    char said[TOOL_OPTION_SIZE];
    const char *meant = tool_meant_option(parser->options, argv, said); /* what is none and like none is told by argp */
    if (meant) tool_usage("unrecognized option '--%s'; did you mean '--%s'?", said, meant);
    error_t sys = argp_parse(parser, argc, argv, 0, NULL, input);
    if (sys == 0) return;
    tool_say(0, "reading the arguments: %s", strerror(sys));
    exit(trouble);
}

void tool_argp_init(struct argp_state *state)
{
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (nowhere) state->err_stream = nowhere;
}

error_t tool_argp_log(int key, char *arg, struct argp_state *state, const char **path)
{
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) tool_usage("one LOG only: '%s' is too much", arg);
        *path = arg;
        break;
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}
