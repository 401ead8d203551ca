/*
 * tools/verb_append.c: `u9 append`: lines, files or JSON values become records.
 *
 * Input is read in chunks into one buffer that holds a whole record; lines are cut where they lie.
 * What is appended is committed whenever no more input waits, and every TOOL_COMMIT_BYTES of it: so a
 * slow pipe is durable line by line, and a bulk load is not held up. Keys are printed only once
 * that has happened. SIGINT and SIGTERM arrive as bytes on a descriptor, never within a call: the
 * log is closed as at the end of input, but an unfinished line is left out.
 */
#include "tools/damage.h"
#include "tools/append.h"

#include "tools/args.h"
#include "tools/id_rados.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9/key.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

/* Waits until there is input, a signal or the end; commits before it has to wait. */
static int wait_input(struct append *a, int fd)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = a->signals, .events = POLLIN}};
    int status = a->done.waiting >= TOOL_COMMIT_BYTES ? append_commit(a) : TOOL_DONE;
    if (status == TOOL_DONE && poll(fds, 2, 0) == 0) {
        status = append_commit(a);
        while (status == TOOL_DONE && poll(fds, 2, -1) < 0)
            if (errno != EINTR) return tool_say(TOOL_IO, "poll: %s", strerror(errno));
    }
    struct signalfd_siginfo info;
    if (fds[1].revents != 0 && read(a->signals, &info, sizeof info) == sizeof info)
        a->stopped = (int)info.ssi_signo;
    return status;
}

/* Appends the records that end in the `fresh` bytes behind `*have`; the rest moves to the front. */
static int take_chunk(struct append *a, size_t *have, size_t fresh)
{
    char *begin = a->in, *scan = a->in + *have, *end = scan + fresh, *stop;
    int status = TOOL_DONE;
    if (a->passing) {
        stop = (char *)memchr(scan, a->ending, fresh);
        begin = scan = stop ? stop + 1 : end;
        a->passing = !stop;
    }
    while (a->ending != APPEND_WHOLE && status == TOOL_DONE &&
           (stop = (char *)memchr(scan, a->ending, (size_t)(end - scan))) != NULL) {
        status = append_put(a, begin, (size_t)(stop - begin));
        begin = scan = stop + 1;
    }
    *have = (size_t)(end - begin);
    memmove(a->in, begin, *have);
    if (status != TOOL_DONE || *have <= U9_RECORD_MAX) return status;
    status = append_too_long(a);
    a->passing = 1;
    *have = 0;
    return status;
}

static int take_input(struct append *a, int fd)
{
    size_t have = 0;
    off_t at, end;
    a->done.number = 0;
    a->passing = 0;
    if (a->ending == APPEND_WHOLE && append_is_large(fd, &at, &end)) return append_large(a, fd, at, end);
    for (;;) {
        int status = wait_input(a, fd);
        if (status != TOOL_DONE || a->stopped) return status;
        ssize_t fresh = read(fd, a->in + have, CHUNK);
        if (fresh < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (fresh < 0) return append_input_failed(a, errno);
        if (fresh == 0) /* the last line may lack its end */
            return have > 0 || a->ending == APPEND_WHOLE ? append_put(a, a->in, have) : TOOL_DONE;
        a->read += (size_t)fresh;
        status = take_chunk(a, &have, (size_t)fresh);
        if (status != TOOL_DONE) return status;
        tool_progress_tell(&a->bar, a->read, a->all);
    }
}

static int is_stdin(const char *file)
{
    return strcmp(file, "-") == 0;
}

/* Before anything is appended: is all the input there? */
static int check_inputs(struct append *a)
{
    int known = 1;
    for (char **file = a->files; *file; file++) {
        struct stat st;
        int sys = (is_stdin(*file) ? fstat(STDIN_FILENO, &st) : stat(*file, &st)) ? errno : 0;
        if (!sys && S_ISDIR(st.st_mode)) sys = EISDIR;
        if (!sys && !is_stdin(*file) && access(*file, R_OK) != 0) sys = errno;
        if (sys)
            return tool_say(tool_sys_status(sys), "%s: %s",
                            is_stdin(*file) ? "standard input" : tool_shown(*file), strerror(sys));
        known = known && S_ISREG(st.st_mode);
        a->all += (uint64_t)st.st_size;
    }
    if (!known) a->all = 0;
    return TOOL_DONE;
}

static int take_inputs(struct append *a)
{
    int status = TOOL_DONE;
    for (char **file = a->files; *file && status == TOOL_DONE && !a->stopped; file++) {
        int own = !is_stdin(*file);
        a->done.at = own ? *file : "standard input";
        /* not to wait here for who writes into a FIFO: take_input does, and for signals as well */
        int fd = own ? open(*file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
        if (fd < 0) return append_input_failed(a, errno);
        if (own) fcntl(fd, F_SETFL, 0);
        fcntl(fd, F_SETPIPE_SZ, CHUNK); /* a pipe: let it fill while the disk is waited for */
        status = take_input(a, fd);
        if (own) close(fd);
    }
    return status;
}

/* Blocks SIGINT and SIGTERM, for the log's threads too: they come through `a->signals`. */
static int catch_signals(struct append *a)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &a->mask);
    a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return a->signals < 0 ? tool_say(TOOL_IO, "signalfd: %s", strerror(errno)) : TOOL_DONE;
}

/* From here on a second signal ends the tool at once. */
static void release_signals(struct append *a)
{
    sigprocmask(SIG_SETMASK, &a->mask, NULL);
    close(a->signals);
}

/* Commits what is appended, says how it went, closes the log. */
static int finish(struct append *a, int status, double began)
{
    tool_progress_end(&a->bar);
    release_signals(a);
    int done = append_commit(a);
    if (status == TOOL_DONE) status = done;
    status = tool_appended_close(&a->done, status);
    double spent = tool_seconds() - began;
    if (a->verbose)
        tool_say(0, "%" PRIu64 " record%s, %" PRIu64 " bytes, %.3f s, %.1f MB/s", a->done.records,
                 tool_plural(a->done.records), a->done.bytes, spent, (double)a->done.bytes / 1e6 / spent);
    if (a->stopped && status == TOOL_DONE) status = 128 + a->stopped;
    return tool_skips_end(&a->skips, status);
}

static int open_log(struct append *a)
{
    u9_fault fault;
    if (u9_log_open(a->path, &a->options, &a->done.log, &fault) != U9_OK) {
        int status = tool_fault(&fault);
        tool_say_refused(a->path, &fault);
        return status;
    }
    return a->separator ? TOOL_DONE : tool_numbers_suffice(&a->numbers, a->path, u9_log_kind(a->done.log));
}

static int run(struct append *a)
{
    double began = tool_seconds();
    if (!a->in || !a->values) return tool_nomem("a record of the largest size");
    int status = check_inputs(a);
    if (status == TOOL_DONE) status = tool_numbers_take(&a->numbers, a->path, &a->options);
    if (status == TOOL_DONE) status = catch_signals(a);
    if (status == TOOL_DONE) status = open_log(a);
    if (!a->done.log) return status;
    tool_progress_begin(&a->bar, a->progress);
    if (status == TOOL_DONE) status = take_inputs(a);
    return finish(a, status, began);
}

enum { NULLS = 256, WHOLE_FILES, KEY, MEDALLION, KEY_FIELD,
       PRINT_KEYS, SKIP_BAD, SYNC, LZ4, SEGMENT, INDEX_MEMORY, KEEP, KEEP_AGE, PROGRESS };

static const struct argp_option option_table[] = {
    {"null", NULLS, 0, 0, "Records end in NUL, not in newline", 0},
    {"whole", WHOLE_FILES, 0, 0, "Each file is one record, of up to 2 TiB (from a pipe 16 MiB)", 0},
    {"json", 'j', 0, 0, "Each line that is not blank is a JSON value; `u9 value --help` tells what becomes of it", 0},
    {"key", KEY, "KIND", 0,
     "Kind of a new log's keys: muid (default), gid:log, gid:volume, gid:segment, tid, uid8, rkey, "
     "rkey:tid, rkey:literal:VALUE; of one with records only the same", 0},
    TOOL_NUMBERS_OPTIONS,
    {"medallion", MEDALLION, "N", 0,
     "muid: make keys of this node, 1 to 2^44 - 2 or 0x and hex (default: that of LOG where it lies, the same in "
     "each session)", 0},
    {"key-field", KEY_FIELD, "SEP", 0, "The key is the first field, up to SEP (\\t: tab)", 0},
    {"skip-bad", SKIP_BAD, 0, 0,
     "--json: skip lines that are refused: the first 5 are named, all counted, and the exit status is 1", 0},
    {"print-keys", PRINT_KEYS, 0, 0, "Print each key, with --sync=commit once its record is durable, else once it is appended", 0},
    {"sync", SYNC, "POLICY", 0, "Who waits for the disk: commit (default), interval, none", 0},
    {"lz4", LZ4, 0, 0, "Compress", 0},
    {"segment-size", SEGMENT, "SIZE", 0, "Size of the log's files (default 256M)", 0},
    {"index-memory", INDEX_MEMORY, "SIZE", 0,
     "Memory for the keys of a file (1M to 16G, default 64M); when it is full, the next file begins", 0},
    {"keep", KEEP, "SIZE", 0, "Drop the oldest segments as long as at least SIZE (10G) stays: at the start, and whenever "
     "a segment is full", 0},
    {"keep-age", KEEP_AGE, "AGE", 0, "The same with segments whose records are all older than AGE (12h, 30d, 2w)", 0},
    {"progress", PROGRESS, 0, 0, "Show progress, on a terminal", 0},
    {"verbose", 'v', 0, 0, "Say at the end how much was appended and how fast", 0},
    {0},
};

/* KIND of --key; `gid` alone is a log's. */
static const char *parse_kind(const char *kind)
{
    u9_id_reason why = U9_ID_FINE;
    if (strcmp(kind, "gid") == 0) kind = "gid:log";
    if (u9_kind_check(kind, strlen(kind), &why) != U9_OK)
        tool_usage("--key %s: %s: muid, gid:log, gid:volume, gid:segment, tid, uid8, rkey, rkey:tid, "
                   "rkey:literal:VALUE", kind, u9_id_reason_text(why));
    return kind;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct append *a = (struct append *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case NULLS: a->ending = a->ending == APPEND_WHOLE ? APPEND_WHOLE : '\0'; break;
    case WHOLE_FILES: a->ending = APPEND_WHOLE; break;
    case 'j': a->json = 1; break;
    case KEY: a->options.kind = parse_kind(arg); break;
    case MEDALLION: a->options.medallion = tool_medallion("--medallion", arg); break;
    case KEY_FIELD: a->separator = strcmp(arg, "\\t") == 0 ? "\t" : arg; break;
    case SKIP_BAD: a->skips.on = 1; break;
    case PRINT_KEYS: a->print_keys = 1; break;
    case SYNC: a->options.policy = tool_policy(arg); break;
    case LZ4: a->options.lz4 = 1; break;
    case INDEX_MEMORY: a->options.index_memory = tool_index_memory(arg); break;
    case SEGMENT: a->options.segment_size = tool_segment_size(arg); break;
    case KEEP: a->options.keep_bytes = tool_size("--keep", arg); break;
    case KEEP_AGE: a->options.keep_age_us = tool_age("--keep-age", arg); break;
    case PROGRESS: a->progress = 1; break;
    case 'v': a->verbose = 1; break;
    case ARGP_KEY_ARGS:
        a->path = state->argv[state->next];
        a->files = state->argv + state->next + 1;
        break;
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    case ARGP_KEY_END:
        if (a->separator && !*a->separator) tool_usage("--key-field: SEP is empty");
        if (a->ending == APPEND_WHOLE && (a->json || a->separator))
            tool_usage("--whole does not go with --json or --key-field");
        if (a->skips.on && !a->json) tool_usage("--skip-bad goes with --json");
        tool_numbers_check(&a->numbers, !a->separator, &a->options);
        break;
    default: return tool_numbers_parse(&a->numbers, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* What the log lost before this session goes on behind it. */
static void on_damage(void *ctx, const u9_damage *damage)
{
    int lost;
    (void)ctx;
    if (damage->verdict < U9_V_UNKNOWN) return;
    tool_on_damage(&lost, damage);
    if (damage->reason != U9_R_MARK || damage->lost == 0) return;
    tool_say(0, "these records are lost; an append goes behind them, and ends what --accept-loss could do");
    tool_say(0, "a whole copy of the file, put there, still brings them back");
}

int verb_append(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG [FILE...]",
        "Appends each line of the FILEs (or of standard input, also `-`) as a record to LOG, which "
        "is made if it is missing. A value is utf8 if the line is valid UTF-8, else bytes.",
        NULL, NULL, NULL};
    static char *standard_input[] = {"-", NULL};
    struct append a = {.ending = '\n', .done.unit = ":", .options = {.size = sizeof a.options, .mode = U9_CREATE, .on_damage = on_damage}};
    tool_parse(&parser, argc, argv, &a);
    if (!*a.files) a.files = standard_input;
    a.in = (char *)malloc(U9_RECORD_MAX + CHUNK);
    a.values = (uint8_t *)malloc(U9_RECORD_MAX);
    int status = run(&a);
    free(a.in);
    free(a.values);
    free(a.keys);
    tool_numbers_free(&a.numbers);
    return status;
}
