/*
 * engine/index/runs.c: see runs.h.
 */
#include "engine/index/runs.h"

#include "engine/os/list.h"
#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY = sizeof(u9i_key_entry), CHUNK_BYTES = U9I_RUNS_CHUNK * ENTRY };

_Static_assert(CHUNK_BYTES % 4096 == 0, "chunks are whole blocks");
_Static_assert(U9I_RUNS_MEMORY >= 4 * CHUNK_BYTES, "two runs are merged, and written");

static void runs_check(const u9i_runs *r)
{
    assert(r->count <= r->room && r->given <= r->count && r->run_count <= r->run_room);
    assert((r->file == NULL) == (r->end == 0) || r->error != 0);
    assert(r->heap_count <= r->run_count);
}

static int fail_runs(u9i_runs *r, int error)
{
    if (r->error == 0) r->error = error;
    return r->error;
}

int u9i_runs_open(u9i_runs *r)
{
    r->room = r->memory / CHUNK_BYTES * U9I_RUNS_CHUNK;
    assert(r->room >= 4 * U9I_RUNS_CHUNK);
    r->entries = (u9i_key_entry *)u9i_pages(r->room * ENTRY);
    return r->entries ? 0 : -ENOMEM;
}

void u9i_runs_close(u9i_runs *r)
{
    if (r->file) u9i_file_close(r->file);
    if (r->entries) u9i_pages_free(r->entries, r->room * ENTRY);
    free(r->runs);
    free(r->heap);
    memset(r, 0, sizeof *r);
}

/* The temporary file, whose name is gone at once. */
static int make_file(u9i_runs *r)
{
    if (r->file) return 0;
    (void)u9i_dir_remove(r->dir, r->name); /* what a crash left */
    int sys = u9i_file_open(r->dir, r->name, U9I_OPEN_CREATE, &r->file);
    if (sys != 0) return sys;
    sys = u9i_dir_remove(r->dir, r->name);
    if (sys == 0) return 0;
    u9i_file_close(r->file);
    r->file = NULL;
    return sys;
}

/* So many entries go to the end of the file, which is moved on by whole chunks. */
static void write_entries(u9i_runs *r, u9i_key_entry *entries, size_t count)
{
    size_t whole = (count + U9I_RUNS_CHUNK - 1) / U9I_RUNS_CHUNK * U9I_RUNS_CHUNK;
    u9i_op write = {.kind = U9I_OP_WRITE, .off = r->end, .buf = entries, .n = whole * ENTRY};
    if (r->error != 0 || fail_runs(r, make_file(r)) != 0) return;
    memset((void *)(entries + count), 0, (whole - count) * ENTRY);
    write.file = r->file;
    int64_t sys = u9i_queue_do(r->queue, &write);
    if (sys < 0) (void)fail_runs(r, (int)sys);
    r->end += whole * ENTRY;
}

/* One run more, of what begins at `at`. */
static void note_run(u9i_runs *r, uint64_t at, uint64_t count)
{
    u9i_run *more = (u9i_run *)u9i_grow(r->runs, r->run_count, &r->run_room, sizeof *more);
    if (more == NULL) {
        (void)fail_runs(r, -ENOMEM);
        return;
    }
    r->runs = more;
    r->runs[r->run_count++] = (u9i_run){.at = at, .left = count};
}

/* What is in memory becomes a run. */
static void spill(u9i_runs *r)
{
    uint64_t at = r->end;
    u9i_key_entries_sort(r->entries, r->count);
    write_entries(r, r->entries, r->count);
    if (r->error == 0) note_run(r, at, r->count);
    r->count = 0;
}

void u9i_runs_add(u9i_runs *r, const u9i_key_entry *e)
{
    if (r->error != 0) return;
    if (r->count == r->room) spill(r);
    r->entries[r->count++] = *e;
    r->total++;
}

/* Reading */

static bool comes_below(const u9i_key_entry *a, const u9i_key_entry *b)
{
    return u9i_key_below(a, b) || (u9i_key_same(a, b) && a->at < b->at);
}

/* The next entries of a run, `room` at most, whole chunks. */
static void refill(u9i_runs *r, u9i_run *run, size_t room)
{
    size_t got, n = run->left < room ? (size_t)run->left : room;
    run->next = run->fill = 0;
    if (n == 0 || r->error != 0) return;
    int sys = u9i_file_read(r->file, run->at, run->entries, n * ENTRY, &got);
    if (sys == 0 && got != n * ENTRY) sys = -EIO;
    if (fail_runs(r, sys) != 0) return;
    run->fill = n;
    run->at += n * ENTRY;
    run->left -= n;
}

static bool comes_first(const u9i_runs *r, size_t a, size_t b)
{
    const u9i_run *x = &r->runs[r->heap[a]], *y = &r->runs[r->heap[b]];
    return comes_below(&x->entries[x->next], &y->entries[y->next]);
}

static void sink(u9i_runs *r, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < r->heap_count; child++)
            if (comes_first(r, child, least)) least = child;
        if (least == i) return;
        size_t moved = r->heap[i];
        r->heap[i] = r->heap[least];
        r->heap[least] = moved;
        i = least;
    }
}

/* The runs [first, first + count) are read side by side, each with `room` entries of the memory, from `from` on. */
static void begin_merge(u9i_runs *r, size_t first, size_t count, u9i_key_entry *from, size_t room)
{
    free(r->heap);
    r->heap = (size_t *)malloc(count * sizeof *r->heap);
    r->heap_count = 0;
    if (r->heap == NULL) (void)fail_runs(r, -ENOMEM);
    for (size_t i = 0; i < count && r->error == 0; i++) {
        r->runs[first + i].entries = from + i * room;
        refill(r, &r->runs[first + i], room);
        r->heap[r->heap_count++] = first + i;
    }
    for (size_t i = r->heap_count; i-- > 0 && r->error == 0;) sink(r, i);
}

/* The least of all that are merged. */
static int take_least(u9i_runs *r, size_t room, u9i_key_entry *out)
{
    if (r->error != 0) return r->error;
    if (r->heap_count == 0) return 0;
    u9i_run *run = &r->runs[r->heap[0]];
    *out = run->entries[run->next++];
    if (run->next == run->fill) refill(r, run, room);
    if (run->next == run->fill) r->heap[0] = r->heap[--r->heap_count];
    sink(r, 0);
    return r->error != 0 ? r->error : 1;
}

/* How many runs can be merged while the result is written. */
static size_t most_runs(const u9i_runs *r)
{
    return r->room / U9I_RUNS_CHUNK - 1;
}

static size_t room_of_each(const u9i_runs *r, size_t count)
{
    return r->room / U9I_RUNS_CHUNK / count * U9I_RUNS_CHUNK;
}

/* The first `count` runs become one, the last. */
static void merge_first(u9i_runs *r, size_t count)
{
    u9i_key_entry *out = r->entries; /* a chunk of the memory; the others are read into the rest */
    uint64_t at = r->end, total = 0;
    size_t n = 0;
    int more;
    begin_merge(r, 0, count, out + U9I_RUNS_CHUNK, U9I_RUNS_CHUNK);
    while ((more = take_least(r, U9I_RUNS_CHUNK, &out[n])) > 0) {
        total++;
        if (++n < U9I_RUNS_CHUNK) continue;
        write_entries(r, out, n);
        n = 0;
    }
    if (n > 0) write_entries(r, out, n);
    if (r->error != 0) return;
    memmove(r->runs, r->runs + count, (r->run_count - count) * sizeof *r->runs);
    r->run_count -= count;
    r->merges++;
    note_run(r, at, total);
}

int u9i_runs_sort(u9i_runs *r)
{
    runs_check(r);
    if (r->run_count == 0) {
        u9i_key_entries_sort(r->entries, r->count);
        return r->error;
    }
    if (r->count > 0) spill(r);
    while (r->error == 0 && r->run_count > most_runs(r)) merge_first(r, most_runs(r));
    if (r->error == 0) begin_merge(r, 0, r->run_count, r->entries, room_of_each(r, r->run_count));
    runs_check(r);
    return r->error;
}

int u9i_runs_next(u9i_runs *r, u9i_key_entry *out)
{
    if (r->run_count > 0) return take_least(r, room_of_each(r, r->run_count), out);
    if (r->error != 0 || r->given == r->count) return r->error;
    *out = r->entries[r->given++];
    return 1;
}
