/*
 * tools/common.c: messages, numbers, times, keys, values as JSON, damage lines, progress.
 *
 * Owns standard output's buffer and the tool's prefix. Never ends the process, but for usage errors
 * and for a reader that has gone away.
 */
#include "tools/common.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OUT_SIZE = 1 << 20 };

static const char *name = "u9";
static char out_buffer[OUT_SIZE];

static char version[64];

void tool_begin(const char *tool, int usage_exit, char **argv)
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
    setvbuf(stdout, out_buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof out_buffer);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an ordinary error */
}

void tool_rename(const char *tool)
{
    name = tool;
}

static void say(const char *format, va_list list)
{
    char *line;
    if (vasprintf(&line, format, list) < 0) {
        fprintf(stderr, "%s: out of memory for a message: %s\n", name, format);
        return;
    }
    for (char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?'; /* one line, whatever a file is called */
    fprintf(stderr, "%s: %s\n", name, line);
    free(line);
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

int tool_read_fault(const char *log, const u9_fault *fault)
{
    char line[1024];
    size_t n = strlen(fault->path), size = strlen(log);
    int inside = n > 0 && (n > size || strcmp(log + size - n, fault->path) != 0);
    if (fault->err != U9_IO || !inside) return tool_fault(fault);
    return tool_say(TOOL_IO, "%s (u9fsck --salvage of a copy without this file saves the rest)",
                    u9_fault_line(fault, line, sizeof line));
}

int tool_nomem(const char *what)
{
    return tool_say(TOOL_IO, "out of memory for %s", what);
}

const char *tool_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

int tool_stdout_failed(void)
{
    static int sys;
    if (!ferror(stdout)) return 0;
    if (sys == 0) sys = errno ? errno : EIO;
    return sys;
}

int tool_finish(int status)
{
    int sys = tool_stdout_failed();
    if (sys == 0 && fflush(stdout) != 0) sys = errno;
    if (sys == 0) return status;
    if (sys == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return tool_say(TOOL_IO, "standard output: %s", strerror(sys));
}

void tool_argp_init(struct argp_state *state)
{
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (nowhere) state->err_stream = nowhere;
}

const char *tool_bytes_text(uint64_t bytes, char out[24])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double shown = (double)bytes / 1e3;
    size_t unit = 0;
    if (bytes < 1000) {
        snprintf(out, 24, "%d bytes", (int)bytes);
        return out;
    }
    for (; shown >= 999.95 && unit < 5; unit++) shown /= 1e3;
    snprintf(out, 24, "%.1f %s", shown, units[unit]);
    return out;
}

const char *tool_time_text(uint64_t time_us, char out[48])
{
    struct tm tm;
    time_t seconds = (time_t)(time_us / 1000000);
    if (!gmtime_r(&seconds, &tm)) {
        snprintf(out, 48, "@%" PRIu64 ".%06u", time_us / 1000000, (unsigned)(time_us % 1000000));
        return out;
    }
    size_t size = strftime(out, 48, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + size, 48 - size, ".%06uZ", (unsigned)(time_us % 1000000));
    return out;
}

double tool_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

const char *tool_key_text(const char *kind, const void *key, size_t size,
                          char out[TOOL_KEY_TEXT_SIZE])
{
    const uint8_t *bytes = (const uint8_t *)key;
    if (u9_key_format(*kind ? kind : "muid", key, size, out, NULL) == U9_OK) return out;
    size = size < 512 ? size : 512;
    for (size_t i = 0; i < size; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * size] = '\0';
    return out;
}

void tool_put_damage(FILE *out, const u9_damage *d)
{
    const char *verdict = u9_verdict_name(d->verdict);
    fprintf(out, "%s [%" PRIu64 ",%" PRIu64 "): ", d->path, d->begin, d->end);
    for (; *verdict; verdict++)
        putc(d->verdict >= U9_V_UNKNOWN ? toupper((unsigned char)*verdict) : *verdict, out);
    fprintf(out, ": %s: %s", u9_reason_name(d->reason), u9_reason_text(d->reason));
    if (d->verdict < U9_V_UNKNOWN)
        ; /* what a crash took was never in the log */
    else if (d->lost == 0)
        fputs("; no record is lost", out);
    else if (d->ordinal == TOOL_NONE)
        fputs("; which records are lost is not known", out);
    else if (d->lost == TOOL_NONE)
        fprintf(out, "; records from %" PRIu64 " on, how many is not known", d->ordinal);
    else
        fprintf(out, "; record%s %" PRIu64 "..%" PRIu64 " (%s%" PRIu64 " lost)",
                tool_plural(d->lost), d->ordinal, d->ordinal + d->lost - 1,
                d->at_most ? "at most " : "", d->lost);
    fprintf(out, " [%s]\n", u9_reason_rule(d->reason));
}

void tool_on_damage(void *ctx, const u9_damage *damage)
{
    int bad = damage->verdict == U9_V_UNKNOWN || damage->verdict == U9_V_CORRUPT;
    if (bad && damage->lost > 0) *(int *)ctx = TOOL_LOST;
    fprintf(stderr, "%s: %s", name, bad ? "" : "note: ");
    tool_put_damage(stderr, damage);
}

void tool_losses_add(tool_losses *losses, const u9_damage *damage)
{
    if (damage->verdict < U9_V_UNKNOWN) return;
    if (damage->lost == TOOL_NONE)
        losses->unknown++;
    else if (damage->at_most)
        losses->at_most += damage->lost;
    else
        losses->exact += damage->lost;
}

const char *tool_losses_text(const tool_losses *l, char out[TOOL_LOSSES_SIZE])
{
    uint64_t count = l->unknown > 0 ? l->exact : l->exact + l->at_most;
    if (l->unknown > 0 && l->exact == 0)
        snprintf(out, TOOL_LOSSES_SIZE, "how many records are lost is not known");
    else
        snprintf(out, TOOL_LOSSES_SIZE, "%s%" PRIu64 " record%s lost",
                 l->unknown > 0   ? "at least "
                 : l->at_most > 0 ? "at most "
                                  : "",
                 count, tool_plural(count));
    return out;
}

json_t *tool_json_number(uint64_t number)
{
    return number == TOOL_NONE ? json_null() : json_sprintf("%" PRIu64, number);
}

static json_t *json_time(uint64_t time_us)
{
    char text[48];
    return time_us ? json_string(tool_time_text(time_us, text)) : json_null();
}

static json_t *json_key(const u9_report *r, const uint8_t *key, size_t size)
{
    char text[TOOL_KEY_TEXT_SIZE];
    return size ? json_string(tool_key_text(r->kind, key, size, text)) : json_null();
}

json_t *tool_json_text(const char *text)
{
    char plain[4096];
    snprintf(plain, sizeof plain, "%s", text);
    if (!u9_utf8_valid(plain, strlen(plain)))
        for (char *c = plain; *c; c++)
            if (*c & 0x80) *c = '?';
    return json_string(plain);
}

json_t *tool_json_report(const char *type, const char *path, const u9_report *r,
                         const tool_losses *losses)
{
    json_t *json = json_pack("{s:s*, s:o, s:s, s:b, s:b}", "type", type, "path",
                             tool_json_text(path), "state", u9_verdict_name(r->verdict), "closed",
                             r->closed, "confirmed", r->confirmed);
    const struct {
        const char *name;
        json_t *value;
    } fields[] = {
        {"segments", tool_json_number(r->segments)},
        {"frames", tool_json_number(r->frames)},
        {"records", tool_json_number(r->records)},
        {"bytes", tool_json_number(r->bytes)},
        {"body_bytes", tool_json_number(r->body_bytes)},
        {"stored_bytes", tool_json_number(r->stored_bytes)},
        {"lz4_frames", tool_json_number(r->lz4_frames)},
        {"mask_frames", tool_json_number(r->mask_frames)},
        {"damages", tool_json_number(r->damages)},
        {"lost", tool_json_number(r->lost)},
        {"unknown_losses", tool_json_number(losses->unknown)},
        {"beyond", tool_json_number(r->beyond)},
        {"first_ordinal", tool_json_number(r->first_ordinal)},
        {"next_ordinal", tool_json_number(r->next_ordinal)},
        {"first_time", json_time(r->first_time_us)},
        {"last_time", json_time(r->last_time_us)},
        {"kind", tool_json_text(r->kind)},
        {"first_key", json_key(r, r->first_key, r->first_key_size)},
        {"last_key", json_key(r, r->last_key, r->last_key_size)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(json, fields[i].name, fields[i].value);
    return json;
}

int tool_put_object(json_t *json)
{
    if (!json) return tool_nomem("a JSON object");
    int failed = json_dumpf(json, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(json);
    putc('\n', stdout);
    return failed && !ferror(stdout) ? tool_nomem("a JSON object") : TOOL_DONE;
}

void tool_progress_begin(tool_progress *progress, int on)
{
    *progress = (tool_progress){.on = on && isatty(STDERR_FILENO), .began = tool_seconds()};
    progress->told = progress->began;
}

int tool_progress_tell(void *ctx, uint64_t done, uint64_t all)
{
    tool_progress *progress = (tool_progress *)ctx;
    if (!progress->on) return 0;
    double now = tool_seconds(), spent = now - progress->began;
    if (now - progress->told < 0.2 || spent <= 0) return 0;
    progress->told = now;
    char bytes[24], total[24], rate[24];
    double speed = (double)done / spent;
    fprintf(stderr, "\r\033[K%s: %s", name, tool_bytes_text(done, bytes));
    if (all > 0)
        fprintf(stderr, " of %s, %.0f%%", tool_bytes_text(all, total),
                100 * (double)done / (double)all);
    fprintf(stderr, ", %s/s", tool_bytes_text((uint64_t)speed, rate));
    if (all > done && done > 0) {
        double left = (double)(all - done) / speed;
        fprintf(stderr, ", ETA %d:%02d:%02d", (int)(left / 3600), (int)(left / 60) % 60,
                (int)left % 60);
    }
    return 0;
}

void tool_progress_end(tool_progress *progress)
{
    if (progress->on && progress->told > progress->began) fputs("\r\033[K", stderr);
}
