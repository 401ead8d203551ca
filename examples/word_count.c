/*
 * examples/word_count.c: the words of all texts in a log, counted by several threads, each a range of it at a time.
 *
 *     word_count LOG 4                   the ten most frequent words; the same ones for any number of threads
 *
 * The plan cuts the log into more ranges than there are threads, so that who is done early takes another one. Each
 * thread counts for itself; the counts are added up at the end. A range that cannot be read, or in which records were
 * lost to damage, fails the count: half a result looks like a whole one. Ranges may as well go to processes or machines,
 * as lines of text: see scan_mpi.c.
 *
 * Built with: cc -pthread word_count.c $(pkg-config --cflags --libs u9)
 * Exit status: 0 done, 1 something failed, which standard error tells.
 */
#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <u9.h>

enum {
    THREADS_MAX = 64,
    SHARES = 8,
    WORD_MAX = 32,
    WORDS_MAX = 1 << 16,
    SHOWN = 10
}; /* words are cut at 31 bytes */

typedef struct word {
    char text[WORD_MAX];
    uint64_t times; /* 0: a free place */
} word;

typedef struct counter {
    word *words; /* WORDS_MAX places, found by their hash */
    u9_fault fault;
} counter;

static u9_log *log_;
static u9_split_range *plan;
static size_t plan_size;
static atomic_size_t next_range;

static int fail(const u9_fault *fault)
{
    char text[1024];
    fprintf(stderr, "word_count: %s\n", u9_fault_line(fault, text, sizeof text));
    return 1;
}

static void count(word *words, const char *text, uint64_t times)
{
    uint32_t at = 2166136261u;
    for (const char *c = text; *c; c++) at = (at ^ (unsigned char)*c) * 16777619u;
    for (unsigned tries = 0; tries < WORDS_MAX; tries++, at++) {
        word *w = &words[at % WORDS_MAX];
        if (w->times == 0) strcpy(w->text, text);
        if (strcmp(w->text, text) != 0) continue;
        w->times += times;
        return;
    }
    fprintf(stderr, "word_count: more than %d words\n", WORDS_MAX);
    exit(1);
}

static void count_text(word *words, const char *text, uint64_t size)
{
    char one[WORD_MAX];
    size_t n = 0;
    for (uint64_t i = 0; i <= size; i++) {
        int in_word = i < size && isalnum((unsigned char)text[i]);
        if (in_word && n < WORD_MAX - 1) one[n++] = text[i];
        if (in_word || n == 0) continue;
        one[n] = '\0';
        count(words, one, 1);
        n = 0;
    }
}

static u9_err count_range(counter *c, const u9_split_range *range)
{
    u9_cursor *cursor;
    u9_record record;
    u9_value v;
    u9_err err = u9_range_open(log_, range, &cursor, &c->fault);
    if (err != U9_OK) return err;
    while ((err = u9_cursor_next(cursor, &record)) == U9_OK) {
        u9_walk walk = u9_walk_bytes(record.values, (size_t)record.values_size);
        while (u9_walk_next(&walk, &v) == U9_OK)
            if (v.type == U9_UTF8) count_text(c->words, (const char *)v.data, v.size);
    }
    if (err != U9_END) u9_cursor_fault(cursor, &c->fault);
    u9_cursor_close(cursor);
    return err == U9_END ? U9_OK : err;
}

static void *work(void *arg)
{
    counter *c = arg;
    size_t i;
    while ((i = atomic_fetch_add(&next_range, 1)) < plan_size)
        if (count_range(c, &plan[i]) != U9_OK) break;
    return NULL;
}

static int by_times(const void *a, const void *b)
{
    const word *x = a, *y = b;
    return x->times != y->times ? (x->times < y->times ? 1 : -1) : strcmp(x->text, y->text);
}

static int count_all(unsigned threads)
{
    static counter counters[THREADS_MAX];
    pthread_t running[THREADS_MAX];
    int failed = 0;
    for (unsigned i = 0; i < threads; i++) {
        counters[i].words = calloc(WORDS_MAX, sizeof(word));
        if (counters[i].words == NULL || pthread_create(&running[i], NULL, work, &counters[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(running[i], NULL);
        if (counters[i].fault.err != U9_OK) failed = fail(&counters[i].fault);
        for (size_t k = 0; i > 0 && k < WORDS_MAX; k++)
            if (counters[i].words[k].times > 0)
                count(counters[0].words, counters[i].words[k].text, counters[i].words[k].times);
        if (i > 0) free(counters[i].words);
    }
    word *all = counters[0].words;
    qsort(all, WORDS_MAX, sizeof *all, by_times);
    for (size_t k = 0; !failed && k < SHOWN && all[k].times > 0; k++)
        printf("%" PRIu64 " %s\n", all[k].times, all[k].text);
    free(all);
    return failed;
}

int main(int argc, char **argv)
{
    u9_fault fault;
    unsigned long threads = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: word_count LOG THREADS    (1 to %d)\n", THREADS_MAX);
        return 2;
    }
    if (u9_log_open(argv[1], NULL, &log_, &fault) != U9_OK) return fail(&fault);
    int failed = u9_log_split(log_, threads * SHARES, 0, &plan, &plan_size, &fault) == U9_OK
                     ? count_all((unsigned)threads)
                     : fail(&fault);
    u9_split_free(plan);
    return u9_log_close(log_, &fault) == U9_OK ? failed : fail(&fault);
}
