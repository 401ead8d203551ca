/*
 * tools/span.c: see span.h.
 */
#include "tools/span.h"

#include "tools/args.h"
#include "tools/tool.h"
#include "tools/when.h"

#include <u9/lookup.h>
#include <u9/trim.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tool_bound parse_bound(const char *option, const char *text)
{
    tool_bound bound = {.ordinal = TOOL_NONE};
    if (*text == '#') {
        if (!tool_number_parse(text + 1, &bound.ordinal) || bound.ordinal == TOOL_NONE)
            tool_usage("%s %s: not an ordinal", option, text);
        return bound;
    }
    bound.text = text;
    return bound;
}

int tool_span_parse(tool_span *s, int key, char *arg)
{
    switch (key) {
    case TOOL_SPAN_FROM: s->from = parse_bound("--from", arg); break;
    case TOOL_SPAN_TO: s->to = parse_bound("--to", arg); break;
    case TOOL_SPAN_SINCE: s->since = tool_when("--since", arg); break;
    case TOOL_SPAN_UNTIL: s->until = tool_when("--until", arg); break;
    case TOOL_SPAN_REVERSE: s->reverse = 1; break;
    case TOOL_SPAN_CURSOR: s->saved = arg; break;
    case TOOL_SPAN_SAVE: s->save = arg; break;
    case 'n': s->limit = tool_number("--limit", arg); break;
    default: return 0;
    }
    return 1;
}

void tool_span_check(const tool_span *s)
{
    if (s->since > s->until) tool_usage("--since is later than --until: nothing lies between");
    if (s->from.ordinal != TOOL_NONE && s->from.ordinal > s->to.ordinal)
        tool_usage("--from is behind --to: nothing lies between");
    if (s->saved && (s->from.ordinal != TOOL_NONE || s->from.text))
        tool_usage("--cursor and --from: where is it to begin?");
}

uint64_t tool_kept_from(u9_log *log)
{
    u9_trim nothing = {.size = sizeof nothing, .dry_run = 1};
    u9_trimmed begin = {.size = sizeof begin};
    int known = u9_log_trim(log, &nothing, &begin, NULL) == U9_OK && begin.ordinal != U9_NOWHERE;
    return known ? begin.ordinal : 0;
}

/* What is asked for by number, and was trimmed, is no damage, and would be missing without a word. */
static void tell_begin(tool_span *s, u9_log *log, const char *path)
{
    int from = s->from.ordinal != TOOL_NONE && !s->from.text, to = s->to.ordinal != TOOL_NONE && !s->to.text;
    if (s->told || !(from || to)) return;
    uint64_t begin = tool_kept_from(log);
    s->told = (from && s->from.ordinal < begin) || (to && s->to.ordinal <= begin && begin > 0);
    if (s->told) tool_say(0, "note: %s begins at record %" PRIu64 ": what was before it was trimmed", path, begin);
}

static int tell_cursor(const char *path, const u9_cursor *cursor)
{
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(path, &fault);
}

/* The first record with this key, from the log's start on, where keys are in no order. TOOL_REFUSED: there is none. */
static int find_key(const char *path, u9_cursor *cursor, const u9_key *key, uint64_t *ordinal)
{
    static const u9_seek start = {.size = sizeof start, .kind = U9_SEEK_START};
    u9_record r;
    if (u9_cursor_seek(cursor, &start) != U9_OK) return tell_cursor(path, cursor);
    u9_err err;
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_LIMIT || err == U9_VERSION)
        if (err != U9_VERSION && tool_key_compare(&r.key, key) == 0) {
            *ordinal = r.ordinal;
            return TOOL_DONE;
        }
    return err == U9_END ? TOOL_REFUSED : tell_cursor(path, cursor);
}

/* Where a cursor that was just sent somewhere stands: of the record that comes next, if none is lost. TOOL_NONE: not known. */
static uint64_t place_of(u9_cursor *cursor)
{
    char line[U9_CURSOR_TEXT_SIZE];
    uint64_t ordinal;
    int known = u9_cursor_save(cursor, line, sizeof line) == U9_OK && sscanf(line, "u9cursor%*u %*s %" SCNu64, &ordinal) == 1;
    return known ? ordinal : TOOL_NONE;
}

/*
 * True if the cursor, sent to this key, stands in front of a record with it, or between lower keys and higher ones and
 * none has it: where keys are in no order, that can be anywhere.
 */
static int is_between(u9_log *log, u9_cursor *cursor, const u9_key *key, uint64_t *ordinal)
{
    u9_record r = {.size = 0};
    u9_fault why;
    *ordinal = TOOL_NONE;
    u9_err err = u9_cursor_next(cursor, &r);
    if (err == U9_OK || err == U9_LIMIT) {
        *ordinal = r.ordinal;
        if (tool_key_compare(&r.key, key) == 0) return 1;
        (void)!u9_cursor_prev(cursor, &r);
    }
    err = u9_cursor_prev(cursor, &r);
    if ((err == U9_OK || err == U9_LIMIT) && tool_key_compare(&r.key, key) >= 0) return 0;
    err = u9_log_get(log, key, NULL, 0, &r, &why);
    return err != U9_OK && err != U9_LIMIT && !(err == U9_CORRUPT && r.size > 0);
}

/*
 * The ordinal of a bound by key: of the first record with it or above it; where keys are in no order, with it. What begins
 * there begins with what is lost in front of that record, as it may have had the key or a higher one; what ends there ends
 * behind it.
 */
static int take_bound(const char *option, tool_span *s, u9_log *log, const char *path, u9_cursor *cursor, tool_bound *bound)
{
    int begins = bound == &s->from;
    const char *kind = tool_kind_named(log);
    tool_key raw;
    if (!bound->text) return TOOL_DONE;
    const char *why = tool_key_parse(u9_log_kind(log), bound->text, strlen(bound->text), &raw);
    if (why)
        return tool_say(TOOL_REFUSED, "%s %s: neither #ORDINAL nor a key of kind %s: %s", option, tool_shown(bound->text), kind, why);
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_KEY, .key = {raw.bytes, raw.size}};
    u9_err err = u9_cursor_seek(cursor, &to);
    if (err != U9_OK && err != U9_ARG) return tell_cursor(path, cursor);
    uint64_t place = err == U9_OK && begins ? place_of(cursor) : TOOL_NONE;
    if (err == U9_OK && is_between(log, cursor, &to.key, &bound->ordinal)) {
        if (begins) bound->ordinal = place;
        return TOOL_DONE;
    }
    s->mute = !begins; /* what is lost before may have had the key: to where it begins the walk does not come by it */
    s->seeks = begins;
    int status = find_key(path, cursor, &to.key, &bound->ordinal);
    s->mute = s->seeks = 0;
    if (status == TOOL_REFUSED && !begins) status = find_key(path, cursor, &to.key, &bound->ordinal);
    s->mute = 1;
    if (status == TOOL_REFUSED) tool_say(0, "%s %s: no record of %s has this key", option, tool_shown(bound->text), path);
    return status;
}

/* The line that --cursor names, be it itself or in a file. A file that --save-cursor will make may be missing. */
static int read_saved(const tool_span *s, char line[2 * U9_CURSOR_TEXT_SIZE], int *there)
{
    *there = 1;
    if (strncmp(s->saved, "u9cursor", 8) == 0 && strchr(s->saved, ' ')) {
        snprintf(line, 2 * U9_CURSOR_TEXT_SIZE, "%s", s->saved);
        return TOOL_DONE;
    }
    FILE *file = fopen(s->saved, "re");
    *there = file != NULL;
    if (!file && errno == ENOENT && s->save && strcmp(s->save, s->saved) == 0) return TOOL_DONE;
    if (!file) return tool_say(tool_sys_status(errno), "--cursor %s: %s", tool_shown(s->saved), strerror(errno));
    size_t size = fread(line, 1, 2 * U9_CURSOR_TEXT_SIZE - 1, file);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    line[size] = '\0';
    return failed ? tool_say(TOOL_IO, "--cursor %s: %s", s->saved, strerror(failed)) : TOOL_DONE;
}

static int seek_saved(tool_span *s, const char *path, u9_cursor *cursor)
{
    char line[2 * U9_CURSOR_TEXT_SIZE];
    int there;
    u9_fault fault;
    int status = read_saved(s, line, &there);
    if (!there) s->saved = NULL; /* as if it were not given */
    if (status != TOOL_DONE || !there) return status;
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_SAVED, .text = line};
    if (sscanf(line, "u9cursor%*u %*s %" SCNu64, &s->at) != 1) s->at = TOOL_NONE;
    u9_err err = u9_cursor_seek(cursor, &to);
    if (err != U9_ARG && err != U9_VERSION) return err == U9_OK ? TOOL_DONE : tell_cursor(path, cursor);
    u9_cursor_fault(cursor, &fault);
    return tool_say(TOOL_REFUSED, "--cursor %s: %s", tool_shown(s->saved), fault.text);
}

/* Whether a file that is missing could be made; else errno says why not. */
static int has_folder(const char *name)
{
    char folder[4096];
    struct stat st;
    const char *slash = strrchr(name, '/');
    int size = slash ? (int)(slash - name) : 0;
    if (*name == '\0' || size >= (int)sizeof folder) return errno = *name ? ENAMETOOLONG : ENOENT, 0;
    snprintf(folder, sizeof folder, "%.*s/", size, slash ? name : "");
    return stat(slash ? folder : ".", &st) == 0;
}

/*
 * The file that --save-cursor names, through links: *out is the caller's to free. It is replaced as a whole, so it must be
 * a regular file, or be missing.
 */
static int real_place(const char *name, char **out)
{
    struct stat st;
    *out = NULL;
    int missing = lstat(name, &st) != 0 && errno == ENOENT && has_folder(name);
    if (!missing && stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        return tool_say(TOOL_REFUSED, "--save-cursor %s: not a regular file", tool_shown(name));
    *out = missing ? strdup(name) : realpath(name, NULL);
    return *out ? TOOL_DONE : tool_say(tool_sys_status(errno), "--save-cursor %s: %s", tool_shown(name), strerror(errno));
}

int tool_span_tells(tool_span *s, const u9_damage *d)
{
    enum { SAID = sizeof s->said / sizeof *s->said };
    if (s->mute) return 0;
    for (unsigned i = 0; !s->seeks && i < s->said_count && i < SAID; i++)
        if (s->said[i].segment == d->segment && s->said[i].begin == d->begin && s->said[i].end == d->end &&
            s->said[i].reason == d->reason)
            return 0;
    if (s->seeks) s->said[s->said_count++ % SAID] = (tool_span_said){d->segment, d->begin, d->end, d->reason};
    return 1;
}

int tool_span_begin(tool_span *s, u9_log *log, const char *path, u9_cursor *cursor)
{
    u9_bounds bounds = {.size = sizeof bounds, .since_us = s->since, .until_us = s->until};
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    char *place = NULL;
    s->mute = 1;
    int status = s->save ? real_place(s->save, &place) : TOOL_DONE; /* before all is printed in vain */
    free(place);
    if (status == TOOL_DONE) tell_begin(s, log, path);
    if (status == TOOL_DONE) status = take_bound("--from", s, log, path, cursor, &s->from);
    if (status == TOOL_DONE) status = take_bound("--to", s, log, path, cursor, &s->to);
    if (status == TOOL_DONE && s->from.ordinal != TOOL_NONE && s->from.ordinal > s->to.ordinal)
        status = tool_say(TOOL_REFUSED, "--from is behind --to: nothing lies between");
    if (status == TOOL_DONE) {
        bounds.from = s->from.ordinal != TOOL_NONE ? s->from.ordinal : s->from.text ? TOOL_NONE : 0;
        bounds.to = s->to.ordinal;
        if (u9_cursor_within(cursor, &bounds) != U9_OK) status = tell_cursor(path, cursor);
    }
    if (status == TOOL_DONE && s->saved) status = seek_saved(s, path, cursor);
    int back = s->reverse && (!s->saved || s->at < bounds.to);
    if (status == TOOL_DONE && s->saved && back) { /* as an end of the part: so what is lost in front of it is told */
        bounds.to = s->at;
        if (u9_cursor_within(cursor, &bounds) != U9_OK) status = tell_cursor(path, cursor);
    }
    if (status == TOOL_DONE && back && u9_cursor_seek(cursor, &end) != U9_OK) status = tell_cursor(path, cursor);
    s->mute = 0;
    return status;
}

int tool_span_save(const tool_span *s, u9_cursor *cursor)
{
    char text[U9_CURSOR_TEXT_SIZE], *path, *place;
    if (!s->save) return TOOL_DONE;
    if (fflush(stdout) != 0 || tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
    if (u9_cursor_save(cursor, text, sizeof text) != U9_OK) return tell_cursor(s->save, cursor);
    int status = real_place(s->save, &place);
    if (status != TOOL_DONE) return status;
    if (asprintf(&path, "%s.XXXXXX", place) < 0) path = NULL;
    if (!path) {
        free(place);
        return tool_nomem("the name of a file");
    }
    int fd = mkstemp(path), err = fd < 0 ? errno : 0;
    if (err == 0 && (dprintf(fd, "%s\n", text) < 0 || fsync(fd) != 0)) err = errno;
    if (fd >= 0 && close(fd) != 0 && err == 0) err = errno;
    if (err == 0 && rename(path, place) != 0) err = errno;
    if (err != 0 && fd >= 0) unlink(path);
    free(path);
    free(place);
    return err == 0 ? TOOL_DONE : tool_say(tool_sys_status(err), "--save-cursor %s: %s", tool_shown(s->save), strerror(err));
}
