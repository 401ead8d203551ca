/*
 * tests/engine/log/golden_want.c: see golden_want.h.
 */
#include "tests/engine/log/golden_want.h"

#include "tests/engine/fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAMES_MAX = 1000 };

static char names[NAMES_MAX][100];
static size_t name_count;
static bool listed;

/* "tests/golden/<rest>"; U9_TESTS is the folder tests/. */
static void golden_path(char *out, size_t size, const char *rest)
{
    const char *tests = getenv("U9_TESTS");
    int n = snprintf(out, size, "%s/golden/%s", tests && *tests ? tests : "tests", rest);
    if (n < 0 || (size_t)n >= size) abort();
}

static int is_version(const struct dirent *e)
{
    return e->d_name[0] == 'v' && strspn(e->d_name + 1, "0123456789") == strlen(e->d_name) - 1;
}

static int is_expectation(const struct dirent *e)
{
    size_t size = strlen(e->d_name);
    return size > 7 && strcmp(e->d_name + size - 7, ".expect") == 0;
}

static bool list_version(const char *version, void *ctx)
{
    (void)ctx;
    char folder[1000];
    struct dirent **found;
    golden_path(folder, sizeof folder, version);
    int n = scandir(folder, &found, is_expectation, alphasort);
    for (int i = 0; i < n; i++) {
        int size = (int)strlen(found[i]->d_name) - 7;
        if (name_count < NAMES_MAX)
            snprintf(names[name_count++], sizeof names[0], "%.20s/%.*s", version, size,
                     found[i]->d_name);
        free(found[i]);
    }
    if (n >= 0) free(found);
    return false;
}

/* Goes through the folders tests/golden/vN until `one` has enough. */
static bool each_version(bool (*one)(const char *version, void *ctx), void *ctx)
{
    char folder[1000];
    struct dirent **found;
    bool stop = false;
    golden_path(folder, sizeof folder, "");
    int n = scandir(folder, &found, is_version, versionsort);
    for (int i = 0; i < n; i++) {
        stop = stop || one(found[i]->d_name, ctx);
        free(found[i]);
    }
    if (n >= 0) free(found);
    return stop;
}

size_t want_count(void)
{
    if (!listed) (void)each_version(list_version, NULL);
    listed = true;
    return name_count;
}

const char *want_name(size_t i)
{
    return i < want_count() ? names[i] : "?";
}

/* Words and numbers */

/* The next word of a line, which is cut off and a NUL put behind it. */
static const char *word(char **line)
{
    char *at = *line;
    ck_assert_msg(*at != 0, "a line of an expectation ends early");
    *line += strcspn(at, " ");
    if (**line) *(*line)++ = 0;
    return at;
}

static char *kept(char **line)
{
    const char *w = word(line);
    return strdup(w);
}

static uint64_t number(char **line)
{
    char *end;
    const char *text = word(line);
    if (strcmp(text, "?") == 0) return U9_NOWHERE;
    uint64_t v = strtoull(text, &end, 10);
    ck_assert_msg(*end == 0 && end > text, "'%s' is no number", text);
    return v;
}

static u9_verdict verdict(char **line)
{
    const char *text = word(line);
    for (u9_verdict v = U9_V_CLEAN; v <= U9_V_CORRUPT; v++)
        if (strcmp(u9_verdict_name(v), text) == 0) return v;
    ck_abort_msg("'%s' is no verdict", text);
}

static u9_reason reason(char **line)
{
    const char *text = word(line);
    for (u9_reason r = U9_R_NONE; r <= U9_R_NAME; r++)
        if (strcmp(u9_reason_name(r), text) == 0) return r;
    ck_abort_msg("'%s' is no reason", text);
}

static u9_err error(char **line)
{
    const char *text = word(line);
    for (int e = U9_POISONED; e < U9_OK; e++)
        if (strcmp(u9_err_name((u9_err)e), text) == 0) return (u9_err)e;
    ck_abort_msg("'%s' is no error", text);
}

static second_end end(char **line)
{
    const char *text = word(line);
    if (strcmp(text, "open") == 0) return SECOND_OPEN;
    if (strcmp(text, "closed") == 0) return SECOND_CLOSED;
    if (strcmp(text, "sealed") == 0) return SECOND_SEALED;
    ck_abort_msg("'%s' is no end", text);
}

/* Lines */

static void take_path(want *w, char **line)
{
    struct stat st;
    char rest[400];
    const char *log = word(line);
    int version = (int)strcspn(w->name, "/");
    snprintf(rest, sizeof rest, "%.*s/%s", version, w->name, log);
    golden_path(w->path, sizeof w->path, rest);
    ck_assert_msg(stat(w->path, &st) == 0, "%s: there is no %s", w->name, w->path);
    memcpy(w->folder, w->path, sizeof w->folder);
    w->numbered = true;
    if (S_ISDIR(st.st_mode)) return;
    char *slash = strrchr(w->folder, '/');
    *slash = 0;
    w->file = slash + 1;
    w->numbered = strlen(w->file) == 19 && strcmp(w->file + 16, ".u9") == 0;
}

static void take_damage(u9_damage *list, size_t *count, char **line)
{
    ck_assert_uint_lt(*count, WANT_DAMAGES);
    u9_damage *d = &list[(*count)++];
    d->verdict = verdict(line);
    d->reason = reason(line);
    d->segment = number(line);
    d->begin = number(line);
    d->end = number(line);
    d->ordinal = number(line);
    d->lost = number(line);
    d->at_most = strcmp(*line, "at-most") == 0;
    if (d->at_most) *line += strlen(*line);
}

static void take_append(want *w, char **line)
{
    const char *how = word(line);
    if (strcmp(how, "refused") == 0) {
        w->refused = error(line);
        return;
    }
    w->fresh = strcmp(how, "fresh") == 0;
    ck_assert_msg(w->fresh || strcmp(how, "given") == 0, "'%s' is no way to append", how);
    w->goes_on = number(line);
}

static void take_record(want *w, char **line)
{
    if ((w->count & (w->count - 1)) == 0)
        w->records = realloc(w->records, (w->count ? 2 * w->count : 1) * sizeof *w->records);
    want_record *r = &w->records[w->count++];
    r->ordinal = number(line);
    r->segment = number(line);
    r->frame = number(line);
    r->size = number(line);
    r->sha = kept(line);
    r->key = kept(line);
    r->values = strdup(*line);
    *line += strlen(*line);
}

static void take_line(want *w, char *line)
{
    static const struct {
        const char *word;
        size_t field;
    } numbers[] = {
        {"segments", offsetof(want, segments)}, {"frames", offsetof(want, frames)},
        {"lz4", offsetof(want, lz4)},           {"masked", offsetof(want, masked)},
        {"beyond", offsetof(want, beyond)},     {"next", offsetof(want, next)},
        {"lost", offsetof(want, lost)},         {"salvaged", offsetof(want, salvaged)},
    };
    const char *first = word(&line);
    if (strcmp(first, "log") == 0) take_path(w, &line);
    else if (strcmp(first, "kind") == 0) w->kind = kept(&line);
    else if (strcmp(first, "verdict") == 0) w->verdict = verdict(&line);
    else if (strcmp(first, "end") == 0) {
        w->end = end(&line);
        w->end_segment = number(&line);
        w->end_offset = number(&line);
    } else if (strcmp(first, "times") == 0) {
        w->first_us = number(&line);
        w->last_us = number(&line);
    } else if (strcmp(first, "records") == 0) w->announced = number(&line);
    else if (strcmp(first, "damage") == 0) take_damage(w->damages, &w->damage_count, &line);
    else if (strcmp(first, "append") == 0) take_append(w, &line);
    else if (strcmp(first, "after") == 0) w->after = verdict(&line);
    else if (strcmp(first, "after-damage") == 0) take_damage(w->afters, &w->after_count, &line);
    else if (strcmp(first, "record") == 0) take_record(w, &line);
    else {
        size_t i = 0;
        while (i < sizeof numbers / sizeof numbers[0] && strcmp(numbers[i].word, first) != 0) i++;
        ck_assert_msg(i < sizeof numbers / sizeof numbers[0], "'%s' begins no line", first);
        uint64_t v = number(&line);
        memcpy((char *)w + numbers[i].field, &v, sizeof v);
    }
    ck_assert_msg(*line == 0, "%s: '%s' behind a line '%s'", w->name, line, first);
}

want *want_read(size_t i)
{
    char path[1000], rest[200];
    size_t size;
    want *w = calloc(1, sizeof *w);
    snprintf(w->name, sizeof w->name, "%s", want_name(i));
    snprintf(rest, sizeof rest, "%s.expect", w->name);
    golden_path(path, sizeof path, rest);
    char *text = (char *)read_file(path, &size);
    text[size] = 0;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        if (*line && *line != '#') take_line(w, line);
    }
    free(text);
    ck_assert_msg(w->path[0] && w->kind, "%s: says not what log, or of which kind", w->name);
    ck_assert_msg(w->announced == w->count, "%s: %zu of %llu records", w->name, w->count,
                  (unsigned long long)w->announced);
    return w;
}

void want_free(want *w)
{
    for (size_t i = 0; i < w->count; i++) {
        free(w->records[i].sha);
        free(w->records[i].key);
        free(w->records[i].values);
    }
    free(w->records);
    free(w->kind);
    free(w);
}

static bool claimed(const char *folder)
{
    bool found = false;
    for (size_t i = 0; i < want_count() && !found; i++) {
        want *w = want_read(i);
        found = strcmp(w->folder, folder) == 0;
        want_free(w);
    }
    return found;
}

static bool unclaimed_in(const char *version, void *ctx)
{
    char folder[1000], path[1400], *out = ctx;
    struct dirent **found;
    struct stat st;
    bool any = false;
    golden_path(folder, sizeof folder, version);
    int n = scandir(folder, &found, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (!any && name[0] != '.' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
            !claimed(path)) {
            any = true;
            snprintf(out, 100, "%.20s/%.70s", version, name);
        }
        free(found[i]);
    }
    if (n >= 0) free(found);
    return any;
}

bool want_unclaimed(char out[100])
{
    return each_version(unclaimed_in, out);
}
