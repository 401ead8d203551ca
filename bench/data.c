/*
 * bench/data.c: see data.h.
 *
 * A made-up value is a JSON object of exactly its size, a line as services log them: a time, a level, a
 * service, numbers, a message of words and numbers as long as it must be. LZ4 makes a third of 64 KiB of
 * them, as of the log lines of a real machine.
 */
#include "bench/data.h"

#include <u9/value.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { POOL_BYTES = 32 << 20, POOL_VALUES_MIN = 16, MIXED_MEAN = 3072, HEAD_MAX = 9 };
enum { MIXED_LEAST = 20, MIXED_OCTAVES = 10, MIXED_MOST = MIXED_LEAST << MIXED_OCTAVES };

data_set the_data;
bool keys_are_random;
static uint8_t *pool; /* encoded values, back to back */
static size_t pool_size, pool_used, table_size;
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (seed >> 11) % below;
}

static void *shared_pages(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) die("memory for values", NULL);
    return p;
}

static void make_room(uint64_t values, size_t bytes)
{
    the_data.mask = values - 1;
    table_size = values * sizeof the_data.values[0];
    the_data.values = shared_pages(table_size);
    pool_size = bytes + values * HEAD_MAX;
    pool = shared_pages(pool_size);
    pool_used = 0;
    the_data.bytes = 0;
}

void free_data(void)
{
    if (pool == NULL) return;
    munmap(pool, pool_size);
    munmap(the_data.values, table_size);
    pool = NULL;
}

static void add_value(uint64_t i, const char *text, size_t size)
{
    u9_builder b;
    u9_builder_init(&b, pool + pool_used, pool_size - pool_used);
    check(u9_build_utf8(&b, text, size));
    the_data.values[i] = (datum){.text = pool + pool_used + b.size - size,
                                 .size = (uint32_t)size,
                                 .head = (uint32_t)(b.size - size)};
    pool_used += b.size;
    the_data.bytes += size;
}

/* A word or a number, and a blank. */
static size_t write_word(char *out, size_t room)
{
    static const char *const words[] = {
        "session", "opened",  "closed", "for",           "user",   "request", "from",
        "timeout", "after",   "retry",  "failed",        "node",   "queue",   "ready",
        "block",   "written", "GET",    "/api/v1/items", "status", "200",     "upstream",
        "connect", "pool",    "worker", "accepted",      "key",    "cache"};
    char number[24];
    const char *word = words[draw(sizeof words / sizeof words[0])];
    if (draw(5) == 0) {
        snprintf(number, sizeof number, "%u", (unsigned)draw(1000000));
        word = number;
    }
    size_t n = strlen(word);
    if (n + 1 > room) n = room > 0 ? room - 1 : 0;
    memcpy(out, word, n);
    if (room > 0) out[n] = ' ';
    return room > 0 ? n + 1 : 0;
}

/* `size` bytes, at least 8. */
static void write_line(char *out, size_t size, uint64_t i)
{
    static const char *const services[] = {"auth", "api", "store", "mail"};
    char head[100];
    int n = snprintf(head, sizeof head,
                     "{\"t\":%llu,\"level\":\"%s\",\"svc\":\"%s\",\"id\":\"%06x\",\"msg\":\"",
                     (unsigned long long)(1767225600000 + i * 3 + draw(3)),
                     draw(9) ? "info" : "warn", services[draw(4)], (unsigned)draw(1 << 24));
    if ((size_t)n + 12 > size) n = snprintf(head, sizeof head, "{\"m\":\"");
    size_t at = (size_t)n, end = size - 2;
    memcpy(out, head, at);
    while (at < end) at += write_word(out + at, end - at);
    memcpy(out + end, "\"}", 2);
}

/* Each octave as often as the next. */
static size_t size_of_value(size_t size)
{
    if (size != MIXED) return size;
    size_t least = (size_t)MIXED_LEAST << draw(MIXED_OCTAVES);
    return least + draw(least);
}

void make_data(size_t size)
{
    size_t most = size == MIXED ? MIXED_MOST : size;
    uint64_t values = 1 << 18;
    while (values > POOL_VALUES_MIN && values * (size == MIXED ? MIXED_MEAN : most) > POOL_BYTES)
        values /= 2;
    char *text = malloc(most);
    if (text == NULL || size > UINT32_MAX) die("a value", NULL);
    seed = 88172645463325252u;
    make_room(values, values * most);
    for (uint64_t i = 0; i < values; i++) {
        size_t n = size_of_value(size);
        write_line(text, n, i);
        add_value(i, text, n);
    }
    free(text);
}

void load_data(const char *path)
{
    struct stat st;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    uint64_t lines = 0, values = 1 << 20;
    FILE *f = fopen(path, "r");
    if (f == NULL || fstat(fileno(f), &st) != 0) die(path, NULL);
    make_room(values, (size_t)st.st_size < POOL_BYTES ? POOL_BYTES : 4u * POOL_BYTES);
    while (lines < values && (n = getline(&line, &cap, f)) >= 0) {
        if (n > 0 && line[n - 1] == '\n') n--;
        if ((size_t)n + HEAD_MAX > pool_size - pool_used) break;
        add_value(lines++, line, (size_t)n);
    }
    if (lines == 0) errno = 0, die("--data: no line", NULL);
    while (values > lines) values /= 2; /* so many of them are used */
    the_data.mask = values - 1;
    the_data.bytes = 0;
    for (uint64_t i = 0; i < values; i++) the_data.bytes += the_data.values[i].size;
    free(line);
    fclose(f);
}

void touch_data(void)
{
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < pool_used; i += 4096) sum = (uint8_t)(sum + pool[i]);
    for (uint64_t i = 0; i <= the_data.mask; i += 64)
        sum = (uint8_t)(sum + the_data.values[i].size);
}

uint64_t data_bytes(uint64_t records)
{
    uint64_t values = the_data.mask + 1, sum = records / values * the_data.bytes;
    for (uint64_t i = 0; i < records % values; i++) sum += the_data.values[i].size;
    return sum + records * KEY_SIZE;
}
