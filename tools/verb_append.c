/*
 * tools/verb_append.c: `u9 append`: lines, files or JSON values become records.
 *
 * Input is read in chunks into one buffer that holds a whole record; lines are cut where they lie.
 * What is appended is committed whenever no more input waits, and every COMMIT_BYTES of it: so a
 * slow pipe is durable line by line, and a bulk load is not held up. Keys are printed only once
 * that has happened. SIGINT and SIGTERM arrive as bytes on a descriptor, never within a call: the
 * log is closed as at the end of input, but an unfinished line is left out.
 */
#include "tools/common.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, COMMIT_BYTES = 8 << 20, WHOLE = -1 };

struct append {
    const char *path;
    char **files;
    u9_options options;
    int ending; /* '\n', 0 or WHOLE */
    int json, print_keys, progress, verbose;
    const char *separator; /* NULL: keys are made */
    u9_log *log;
    int signals;    /* descriptor */
    sigset_t mask;  /* before they were blocked */
    int stopped;    /* the signal that came, 0 */
    int failed;     /* not 0: the log refused something */
    const char *at; /* the input's name and line, for messages */
    uint64_t line;
    char *in;        /* U9_RECORD_MAX + CHUNK bytes */
    uint8_t *values; /* U9_RECORD_MAX bytes */
    uint8_t (*keys)[U9_MUID_SIZE]; /* of what is not committed yet */
    size_t key_count, key_room;
    uint64_t records, bytes, waiting; /* bytes of records; of input not committed yet */
    uint64_t read, all;               /* of the input; `all` 0: not known */
    uint64_t last;                    /* ordinal */
    tool_progress bar;
};

/* One line about the input, naming the line that is being taken. */
static int refuse(const struct append *a, const char *why, const char *detail)
{
    if (a->ending == WHOLE) return tool_say(TOOL_REFUSED, "%s: %s%s", a->at, why, detail);
    return tool_say(TOOL_REFUSED, "%s:%" PRIu64 ": %s%s", a->at, a->line, why, detail);
}

/* The log refused something: the first cause in one line; what follows from it is no news. */
static int log_failed(struct append *a)
{
    char text[1024];
    u9_fault fault;
    if (a->failed) return TOOL_IO;
    a->failed = 1;
    u9_log_fault(a->log, &fault);
    u9_fault_line(&fault, text, sizeof text);
    return tool_say(fault.err == U9_ARG ? TOOL_REFUSED : TOOL_IO,
                    "%s; at %s:%" PRIu64 ", %" PRIu64 " records were appended before it", text,
                    a->at, a->line, a->records);
}

/* Prints the keys of what has just been committed. */
static int print_keys(struct append *a)
{
    for (size_t i = 0; i < a->key_count; i++) {
        char text[TOOL_KEY_TEXT_SIZE];
        puts(tool_key_text("muid", a->keys[i], U9_MUID_SIZE, text));
    }
    a->key_count = 0;
    fflush(stdout);
    return tool_stdout_failed() ? TOOL_IO : TOOL_DONE; /* tool_finish says why */
}

static int commit(struct append *a)
{
    if (a->waiting == 0) return TOOL_DONE;
    a->waiting = 0;
    u9_err err = u9_log_commit(a->log, a->last);
    if (err != U9_OK && err != U9_AGAIN) return log_failed(a);
    return a->print_keys ? print_keys(a) : TOOL_DONE;
}

static int keep_key(struct append *a, const u9_place *place)
{
    if (a->key_count == a->key_room) {
        size_t room = a->key_room ? 2 * a->key_room : 4096;
        void *more = realloc(a->keys, room * sizeof *a->keys);
        if (!more) return tool_nomem();
        a->keys = (uint8_t(*)[U9_MUID_SIZE])more;
        a->key_room = room;
    }
    memcpy(a->keys[a->key_count++], place->key, U9_MUID_SIZE);
    return TOOL_DONE;
}

static int build_line(struct append *a, u9_builder *b, const char *text, size_t size)
{
    if (!a->json) {
        u9_err err = u9_utf8_valid(text, size) ? u9_build_utf8(b, text, size)
                                               : u9_build_bytes(b, text, size);
        return err == U9_OK ? TOOL_DONE : refuse(a, "longer than a record may be (16 MiB)", "");
    }
    json_error_t error;
    json_t *json = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!json) return refuse(a, "not a JSON value: ", error.text);
    const char *why = tool_build_json(b, json);
    json_decref(json);
    return why ? refuse(a, why, "") : TOOL_DONE;
}

/* Takes the key off the front of a line. */
static int cut_key(struct append *a, const char **text, size_t *size, uint8_t key[U9_MUID_SIZE])
{
    size_t width = strlen(a->separator);
    const char *end = (const char *)memmem(*text, *size, a->separator, width);
    if (!end) return refuse(a, "the line has no separator behind a key", "");
    const char *why = tool_key_parse(*text, (size_t)(end - *text), key);
    if (why) return refuse(a, "its first field is not a muid: ", why);
    *size -= (size_t)(end - *text) + width;
    *text = end + width;
    return TOOL_DONE;
}

static int put_line(struct append *a, const char *text, size_t size)
{
    uint8_t raw[U9_MUID_SIZE];
    u9_key key = {raw, sizeof raw};
    u9_place place;
    u9_builder b;
    a->line++;
    int status = a->separator ? cut_key(a, &text, &size, raw) : TOOL_DONE;
    if (status != TOOL_DONE) return status;
    u9_builder_init(&b, a->values, U9_RECORD_MAX);
    status = build_line(a, &b, text, size);
    if (status != TOOL_DONE) return status;
    u9_err err = u9_log_append(a->log, a->separator ? &key : NULL, a->values, b.size, &place);
    if (err == U9_LIMIT) return refuse(a, "longer than a record may be (16 MiB)", "");
    if (err != U9_OK) return log_failed(a);
    a->last = place.ordinal;
    a->records++;
    a->bytes += size;
    a->waiting += size + 1;
    return a->print_keys ? keep_key(a, &place) : TOOL_DONE;
}

/* Waits until there is input, a signal or the end; commits before it has to wait. */
static int wait_input(struct append *a, int fd)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = a->signals, .events = POLLIN}};
    int status = a->waiting >= COMMIT_BYTES ? commit(a) : TOOL_DONE;
    if (status == TOOL_DONE && poll(fds, 2, 0) == 0) {
        status = commit(a);
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
    while (a->ending != WHOLE && status == TOOL_DONE &&
           (stop = (char *)memchr(scan, a->ending, (size_t)(end - scan))) != NULL) {
        status = put_line(a, begin, (size_t)(stop - begin));
        begin = scan = stop + 1;
    }
    *have = (size_t)(end - begin);
    memmove(a->in, begin, *have);
    if (status == TOOL_DONE && *have > U9_RECORD_MAX) {
        a->line++;
        status = refuse(a, "longer than a record may be (16 MiB)", "");
    }
    return status;
}

static int take_input(struct append *a, int fd)
{
    size_t have = 0;
    a->line = 0;
    for (;;) {
        int status = wait_input(a, fd);
        if (status != TOOL_DONE || a->stopped) return status;
        ssize_t fresh = read(fd, a->in + have, CHUNK);
        if (fresh < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (fresh < 0) return tool_say(TOOL_IO, "%s: %s", a->at, strerror(errno));
        if (fresh == 0) /* the last line may lack its end */
            return have > 0 || a->ending == WHOLE ? put_line(a, a->in, have) : TOOL_DONE;
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
            return tool_say(TOOL_IO, "%s: %s", is_stdin(*file) ? "standard input" : *file,
                            strerror(sys));
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
        a->at = own ? *file : "standard input";
        int fd = own ? open(*file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
        if (fd < 0) return tool_say(TOOL_IO, "%s: %s", *file, strerror(errno));
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
    u9_fault fault;
    tool_progress_end(&a->bar);
    release_signals(a);
    int done = commit(a);
    if (status == TOOL_DONE) status = done;
    uint64_t durable = u9_log_durable(a->log);
    u9_err err = u9_log_close(a->log, &fault);
    if (err != U9_OK && !a->failed) status = tool_fault(&fault);
    if (err != U9_OK && a->records > 0 && durable <= a->last)
        tool_say(0, "records from ordinal %" PRIu64 " on are not known to be durable", durable);
    double spent = tool_seconds() - began;
    if (a->verbose)
        tool_say(0, "%" PRIu64 " records, %" PRIu64 " bytes, %.3f s, %.1f MB/s", a->records,
                 a->bytes, spent, (double)a->bytes / 1e6 / spent);
    return a->stopped && status == TOOL_DONE ? 128 + a->stopped : status;
}

static int run(struct append *a)
{
    u9_fault fault;
    double began = tool_seconds();
    if (!a->in || !a->values) return tool_nomem();
    int status = check_inputs(a);
    if (status == TOOL_DONE) status = catch_signals(a);
    if (status != TOOL_DONE) return status;
    if (u9_log_open(a->path, &a->options, &a->log, &fault) != U9_OK) return tool_fault(&fault);
    tool_progress_begin(&a->bar, a->progress);
    status = take_inputs(a);
    return finish(a, status, began);
}

enum { NULLS = 256, WHOLE_FILES, JSON, KEY, KEY_FIELD, PRINT_KEYS, SYNC, LZ4, SEGMENT, PROGRESS };

static const struct argp_option option_table[] = {
    {"null", NULLS, 0, 0, "Records end in NUL, not in newline", 0},
    {"whole", WHOLE_FILES, 0, 0, "Each file is one record", 0},
    {"json", JSON, 0, 0, "Each line is a JSON value: string, number or array of these", 0},
    {"key", KEY, "KIND", 0, "Kind of keys that are made: muid (default)", 0},
    {"key-field", KEY_FIELD, "SEP", 0, "The key is the first field, up to SEP (\\t: tab)", 0},
    {"print-keys", PRINT_KEYS, 0, 0, "Print each key once its record is durable", 0},
    {"sync", SYNC, "POLICY", 0, "Who waits for the disk: commit (default), interval, none", 0},
    {"lz4", LZ4, 0, 0, "Compress", 0},
    {"segment-size", SEGMENT, "SIZE", 0, "Size of the log's files (default 256M)", 0},
    {"progress", PROGRESS, 0, 0, "Show progress, on a terminal", 0},
    {"verbose", 'v', 0, 0, "Say at the end how much was appended, and how fast", 0},
    {0},
};

static u9_policy parse_policy(const char *text)
{
    if (strcmp(text, "commit") == 0) return U9_POLICY_COMMIT;
    if (strcmp(text, "interval") == 0) return U9_POLICY_INTERVAL;
    if (strcmp(text, "none") == 0) return U9_POLICY_NONE;
    tool_usage("'%s' is not a policy: commit, interval or none", text);
}

/* KIND of --key: what is made here is refused or taken before anything is opened. */
static void check_kind(const char *kind)
{
    if (strcmp(kind, "muid") == 0) return;
    int known =
        strcmp(kind, "gid:log") == 0 || strcmp(kind, "tid") == 0 || strcmp(kind, "uid8") == 0;
    if (!known) tool_usage("'%s' is not a kind of keys that can be made: muid", kind);
    exit(tool_say(TOOL_REFUSED, "--key %s: this version makes muid keys only", kind));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct append *a = (struct append *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case NULLS: a->ending = a->ending == WHOLE ? WHOLE : '\0'; break;
    case WHOLE_FILES: a->ending = WHOLE; break;
    case JSON: a->json = 1; break;
    case KEY: check_kind(arg); break;
    case KEY_FIELD: a->separator = strcmp(arg, "\\t") == 0 ? "\t" : arg; break;
    case PRINT_KEYS: a->print_keys = 1; break;
    case SYNC: a->options.policy = parse_policy(arg); break;
    case LZ4: a->options.lz4 = 1; break;
    case SEGMENT:
        if (!tool_size_parse(arg, &a->options.segment_size) || a->options.segment_size < 1 << 16)
            tool_usage("--segment-size %s: not a size of at least 64K", arg);
        break;
    case PROGRESS: a->progress = 1; break;
    case 'v': a->verbose = 1; break;
    case ARGP_KEY_ARGS:
        a->path = state->argv[state->next];
        a->files = state->argv + state->next + 1;
        break;
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    case ARGP_KEY_END:
        if (a->separator && !*a->separator) tool_usage("--key-field: SEP is empty");
        if (a->ending == WHOLE && (a->json || a->separator))
            tool_usage("--whole does not go with --json or --key-field");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_append(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG [FILE...]",
        "Appends each line of the FILEs (or of standard input, also `-`) as a record to LOG, which "
        "is made if it is missing. A value is utf8 if the line is valid UTF-8, else bytes.",
        NULL, NULL, NULL};
    static char *standard_input[] = {"-", NULL};
    struct append a = {.ending = '\n', .options = {.size = sizeof a.options, .mode = U9_CREATE}};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    if (!*a.files) a.files = standard_input;
    a.in = (char *)malloc(U9_RECORD_MAX + CHUNK);
    a.values = (uint8_t *)malloc(U9_RECORD_MAX);
    int status = run(&a);
    free(a.in);
    free(a.values);
    free(a.keys);
    return status;
}
