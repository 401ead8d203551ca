/*
 * tests/s3/reads.c: u9s3reads ADDRESS NAME COPY SEED: batches of reads of an object, against a copy of it: as they are asked
 * for together, small ones and large ones of the same blocks, and again when some of these are cached. [TR-9]
 */
#include "engine/os/store.h"

#include <u9/s3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 60, READS = 8, LARGE = 3 << 20, SMALL = 9 << 10 };

static uint8_t *copy;
static size_t size;
static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 20) % below;
}

static int refuse(const char *what, int err)
{
    fprintf(stderr, "reads: %s: %s\n", what, strerror(-err));
    return 1;
}

static bool load(const char *path)
{
    FILE *f = fopen(path, "rbe");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) return false;
    size = (size_t)ftell(f);
    copy = malloc(size + 1);
    rewind(f);
    bool fine = copy && fread(copy, 1, size, f) == size;
    fclose(f);
    return fine;
}

/* The first batch has a small read and a large one in the blocks that begin with the object. */
static u9i_op draw_read(u9i_file *file, unsigned batch, unsigned i, uint8_t *to)
{
    uint64_t n = 1 + draw(draw(2) ? SMALL : LARGE), off = draw(size);
    if (batch == 0 && i < 2) {
        n = i ? 100000 : 4096;
        off = i ? 1000 : 0;
    }
    return (u9i_op){.kind = U9I_OP_READ, .file = file, .off = off, .buf = to, .n = (size_t)n, .tag = i};
}

static int read_batch(u9i_file *file, u9i_queue *queue, unsigned batch, uint8_t *room)
{
    u9i_op ops[READS];
    u9i_completion done[READS];
    for (unsigned i = 0; i < READS; i++) ops[i] = draw_read(file, batch, i, room + (size_t)i * LARGE);
    int err = u9i_queue_submit(queue, ops, READS);
    if (err != 0) return refuse("submit", err);
    for (unsigned left = READS; left > 0;) {
        int n = u9i_queue_wait(queue, done, READS, UINT64_MAX);
        if (n <= 0) return refuse("wait", n);
        for (int i = 0; i < n; i++, left--) {
            const u9i_op *op = &ops[done[i].tag];
            size_t want = size - op->off < op->n ? size - (size_t)op->off : op->n;
            if (done[i].result < 0) return refuse("read", (int)done[i].result);
            if ((size_t)done[i].result != want || memcmp(op->buf, copy + op->off, want) != 0) {
                fprintf(stderr, "reads: batch %u: other bytes at %llu, %zu of them\n", batch, (unsigned long long)op->off, want);
                return 1;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    u9_fault fault;
    u9i_env *env;
    u9i_dir *dir;
    u9i_file *file;
    u9i_queue *queue;
    if (argc != 5 || !load(argv[3])) return refuse("usage: ADDRESS NAME COPY SEED, or the copy", 0);
    state = strtoull(argv[4], NULL, 10);
    const char *path = argv[1];
    if (u9_store_add(u9_s3_store, &fault) != U9_OK || u9i_env_of(NULL, &path, &env, &fault) != U9_OK)
        return refuse(fault.text, 0);
    int err = u9i_dir_open(env, path, false, &dir);
    if (err == 0) err = u9i_file_open(dir, argv[2], U9I_OPEN_READ, &file);
    if (err == 0) err = u9i_queue_open(env, NULL, 0, 0, &queue);
    if (err != 0) return refuse("open", err);
    uint8_t *room = malloc((size_t)READS * LARGE);
    for (unsigned batch = 0; batch < BATCHES && err == 0; batch++) err = room ? read_batch(file, queue, batch, room) : 1;
    free(room);
    free(copy);
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
    return err;
}
