/*
 * examples/wal_map.c: a map in memory whose write-ahead log is a u9 log: what it said "ok" to survives any crash.
 *
 *     wal_map LOG <<< $'set colour blue\nget colour\ndel colour\nlist'
 *
 * A change is appended and committed first, and made in memory behind that. At the start the changes are made again in
 * their order. Damage that cost records is an error here: a map that forgot something must not go on as if it had not.
 *
 * Built with: cc wal_map.c $(pkg-config --cflags --libs u9)
 * Exit status: 0 done, 1 something failed, which standard error tells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <u9.h>

enum { PAIRS_MAX = 10000, WORD_MAX = 100, CHANGE_MAX = 3 * WORD_MAX };

typedef struct pair {
    char key[WORD_MAX], value[WORD_MAX];
} pair;

static pair pairs[PAIRS_MAX]; /* in order of keys */
static size_t count;

static int fail(const u9_fault *fault)
{
    char text[1024];
    fprintf(stderr, "wal_map: %s\n", u9_fault_line(fault, text, sizeof text));
    return 1;
}

/* Where `key` is, or belongs. */
static size_t find(const char *key, int *is_there)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(pairs[middle].key, key) < 0) low = middle + 1;
        else high = middle;
    }
    *is_there = low < count && strcmp(pairs[low].key, key) == 0;
    return low;
}

/* The change in memory. `value` NULL: the key goes. */
static void change(const char *key, const char *value)
{
    int is_there;
    size_t at = find(key, &is_there);
    if (value == NULL && is_there)
        memmove(&pairs[at], &pairs[at + 1], (--count - at) * sizeof *pairs);
    if (value == NULL) return;
    if (!is_there) memmove(&pairs[at + 1], &pairs[at], (count++ - at) * sizeof *pairs);
    snprintf(pairs[at].key, WORD_MAX, "%s", key);
    snprintf(pairs[at].value, WORD_MAX, "%s", value);
}

/* The change on the disk: (key value), or (key). U9_OK: it is durable. */
static u9_err write_ahead(u9_log *log, const char *key, const char *value)
{
    uint8_t bytes[CHANGE_MAX];
    u9_builder b;
    u9_place place;
    u9_builder_init(&b, bytes, sizeof bytes);
    u9_err err = u9_build_utf8(&b, key, strlen(key));
    if (err == U9_OK && value) err = u9_build_utf8(&b, value, strlen(value));
    if (err == U9_OK) err = u9_log_append(log, NULL, bytes, b.size, &place);
    return err == U9_OK ? u9_log_commit(log, place.ordinal) : err;
}

static int take_word(u9_walk *walk, char word[WORD_MAX])
{
    u9_value v;
    if (u9_walk_next(walk, &v) != U9_OK || v.type != U9_UTF8 || v.size >= WORD_MAX) return 0;
    memcpy(word, v.data, (size_t)v.size);
    word[v.size] = '\0';
    return 1;
}

/* What was said "ok" to. */
static u9_err recover(u9_log *log, u9_fault *fault)
{
    char key[WORD_MAX], value[WORD_MAX];
    u9_cursor *cursor;
    u9_record record;
    u9_err err = u9_cursor_open(log, NULL, &cursor, fault);
    if (err != U9_OK) return err;
    while ((err = u9_cursor_next(cursor, &record)) == U9_OK) {
        u9_walk walk = u9_walk_bytes(record.values, (size_t)record.values_size);
        if (take_word(&walk, key) && count < PAIRS_MAX)
            change(key, take_word(&walk, value) ? value : NULL);
    }
    if (err == U9_END) err = U9_OK; /* a torn end is an end: nobody was told "ok" of what it held */
    else u9_cursor_fault(cursor, fault);
    u9_cursor_close(cursor);
    return err;
}

/* One line. U9_OK also where it makes no sense, which is said. */
static u9_err obey(u9_log *log, const char *line)
{
    char verb[5] = "", key[WORD_MAX] = "", value[WORD_MAX] = "";
    int words = sscanf(line, "%4s %99s %99s", verb, key, value), is_there;
    size_t at = find(key, &is_there);
    int set = words == 3 && strcmp(verb, "set") == 0, del = words == 2 && strcmp(verb, "del") == 0;
    if (set || del) {
        if (set && !is_there && count == PAIRS_MAX) return puts("full"), U9_OK;
        u9_err err = write_ahead(log, key, set ? value : NULL);
        if (err != U9_OK) return err;
        change(key, set ? value : NULL);
        puts("ok");
    } else if (words == 2 && strcmp(verb, "get") == 0) {
        puts(is_there ? pairs[at].value : "-");
    } else if (words == 1 && strcmp(verb, "list") == 0) {
        for (size_t i = 0; i < count; i++) printf("%s=%s\n", pairs[i].key, pairs[i].value);
    } else if (words > 0) {
        puts("set KEY VALUE | del KEY | get KEY | list");
    }
    fflush(stdout);
    return U9_OK;
}

int main(int argc, char **argv)
{
    u9_options options = {.size = sizeof options, .mode = U9_CREATE};
    u9_log *log;
    u9_fault fault = {.err = U9_OK};
    char line[CHANGE_MAX];
    int failed = 0;
    if (argc != 2) return fprintf(stderr, "usage: wal_map LOG <COMMANDS\n"), 2;
    if (u9_log_open(argv[1], &options, &log, &fault) != U9_OK) return fail(&fault);
    if (recover(log, &fault) != U9_OK) failed = fail(&fault);
    while (!failed && fgets(line, sizeof line, stdin))
        if (obey(log, line) != U9_OK) u9_log_fault(log, &fault), failed = fail(&fault);
    return u9_log_close(log, &fault) == U9_OK ? failed : fail(&fault);
}
