/*
 * bench/values_data.c: the records that the rows on values work on: lines of real logs where a folder of
 * them is named, else lines that look like them; rows of a made-up table; numbers. All but the folder's
 * lines are the same in each run.
 */
#include "bench/values.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 1 << 16, LINE_MAX = 160, MADE_UP = 1 << 14, ROWS = 1 << 14, NUMBERS = 1000000 };

record_set line_set = {.name = "log lines", .field = 1};
record_set row_set = {.name = "rows", .field = 7};
record_set number_set = {.name = "int32 array", .count = NUMBERS};
const char tag[] = "stream-07";

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void draw_bytes(uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(draw() >> 56);
}

static void *room(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (p == NULL) die("memory", NULL);
    return p;
}

static line *lines;

/* The line is borrowed for good. */
static void add_line(const char *text, size_t size)
{
    if (size == 0 || size > LINE_MAX || line_set.count == LINES_MAX) return;
    line *l = &lines[line_set.count++];
    l->text = text;
    l->size = size;
    draw_bytes(l->key, sizeof l->key);
}

static void read_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t cap = 0;
    ssize_t size;
    if (file == NULL) die(path, NULL);
    while ((size = getline(&text, &cap, file)) > 0) {
        add_line(text, (size_t)(text[size - 1] == '\n' ? size - 1 : size));
        text = NULL; /* the line has it now */
        cap = 0;
    }
    fclose(file);
}

static void read_folder(const char *dir)
{
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.log", dir);
    if (glob(pattern, 0, NULL, &found) != 0) die(pattern, NULL);
    for (size_t i = 0; i < found.gl_pathc; i++) read_lines(found.gl_pathv[i]);
    globfree(&found);
}

static void make_lines_up(void)
{
    static const char *words[] = {"open", "close", "session", "timeout", "user", "root",  "block",
                                  "from", "disk",  "failed",  "retry",   "node", "queue", "ready"};
    for (int i = 0; i < MADE_UP; i++) {
        char text[2 * LINE_MAX];
        size_t size = 60 + draw() % 100;
        int n = snprintf(text, sizeof text, "Jun 14 15:16:%02d combo sshd[%d]: ", i % 60, i);
        while ((size_t)n < size)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s=%u ", words[draw() % 14],
                          (unsigned)(draw() >> 44));
        char *copy = room(1, size);
        memcpy(copy, text, size);
        add_line(copy, size);
    }
}

static void make_rows(void)
{
    static const char *units[] = {"nginx.service", "ssh.service", "cron",
                                  "systemd-journald.service"};
    fields *rows = room(ROWS, sizeof *rows);
    for (unsigned i = 0; i < ROWS; i++) {
        fields *f = &rows[i];
        draw_bytes(f->key, sizeof f->key);
        draw_bytes(f->digest, sizeof f->digest);
        f->level = (uint32_t)(draw() % 8);
        f->port = (uint32_t)(draw() % 65536);
        f->retries = (uint32_t)(draw() % 100);
        f->time_us = UINT64_C(1700000000000000) + i * 1000 + draw() % 1000;
        f->delta = -(int32_t)(draw() % 100000) - 1;
        f->load = (double)(draw() % 100000) / 1000;
        unsigned host = (unsigned)(draw() % 1000);
        f->host_size = (size_t)snprintf(f->host, sizeof f->host, "node-%u", host);
        f->unit_size = strlen(units[i % 4]);
        memcpy(f->unit, units[i % 4], f->unit_size);
    }
    row_set.rows = rows;
    row_set.count = ROWS;
}

static void make_numbers(void)
{
    int32_t *all = room(NUMBERS, sizeof *all);
    for (unsigned i = 0; i < NUMBERS; i++) {
        uint64_t drawn = draw();
        memcpy(&all[i], &drawn, sizeof all[i]);
    }
    number_set.numbers = all;
}

static void make_room(record_set *set, size_t each)
{
    size_t cap = set->count * each + 64;
    set->u9 = (packed){room(cap, 1), cap, room(set->count + 1, sizeof(size_t))};
    set->msgpack = (packed){room(cap, 1), cap, room(set->count + 1, sizeof(size_t))};
}

void make_sets(const char *dir)
{
    lines = room(LINES_MAX, sizeof *lines);
    if (dir) read_folder(dir);
    else make_lines_up();
    if (line_set.count == 0) die("no lines of a record's size", NULL);
    line_set.lines = lines;
    make_rows();
    make_numbers();
    make_room(&line_set, LINE_MAX + 2 * sizeof(line));
    make_room(&row_set, 2 * sizeof(fields));
    make_room(&number_set, 5);
}
