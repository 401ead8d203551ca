/*
 * engine/segment/prover.c: see prover.h.
 */
#include "engine/segment/prover.h"

#include "engine/os/pool.h"
#include "engine/segment/promised.h"

#include <assert.h>

enum { PIECE = 4 << 20, LONG = 4 * PIECE };

static bool is_ahead(u9i_prover *p, uint64_t at)
{
    uint64_t front = atomic_load_explicit(&p->front, memory_order_relaxed);
    return front != U9_NOWHERE && at > front;
}

/* The frames that begin in [begin, end): none is the task of two pieces, nor is what stands behind. */
static void prove_back_piece(u9i_prover *p, u9i_window *w, uint64_t begin, uint64_t end)
{
    u9i_frame f;
    for (uint64_t at = begin; is_ahead(p, begin);) {
        if (u9i_window_boundary(w, at, end, &at) != U9_OK || at >= end) return;
        u9_err err = u9i_window_at(w, at, p->size, &f);
        if (err != U9_OK && err != U9_CORRUPT) return;
        if (err == U9_OK) u9i_outline_add(&p->outline, &f);
        at = err == U9_OK ? f.end : at + U9I_ALIGN;
    }
}

static void prove_backwards(void *ctx)
{
    u9i_prover *p = ctx;
    u9i_window *w;
    if (u9i_windows_lend(p->windows, &w) != U9_OK) return;
    u9i_window_turn(w, p->file, &p->segment->facts.secret);
    w->still = u9i_segment_is_settled(p->segment);
    if (w->still) p->size = u9i_written_end(p->file, p->size);
    u9i_window_remember(w, &p->segment->verified, U9_VERIFY_FIRST);
    u9i_window_lean(w, p->map);
    u9i_file_fetch(p->file, p->size > PIECE ? p->size - PIECE : 0,
                   p->size); /* what is not cached */
    for (uint64_t end = p->size; end > PIECE && is_ahead(p, end - PIECE); end -= PIECE) {
        if (end > 2 * PIECE) u9i_file_fetch(p->file, end - 2 * PIECE, end - PIECE);
        w->until = end;
        prove_back_piece(p, w, end - PIECE, end);
    }
    u9i_windows_return(p->windows, w);
}

void u9i_prover_begin(u9i_prover *p, u9i_segment *segment, u9i_windows *windows, u9i_file *file,
                      const u9i_mapping *map)
{
    *p = (u9i_prover){.segment = segment, .windows = windows, .file = file, .map = map, .outline.spoiled = true};
    atomic_init(&p->front, 0);
    bool threads = file->env->executor ==
                   &u9i_pool_executor; /* else it would run within a read, for nothing */
    bool notes = windows->verify != U9_VERIFY_ALWAYS && !segment->facts.plain;
    if (!threads || !notes || u9i_file_size(file, &p->size) != 0 || p->size < LONG) return;
    p->task = (u9i_task){.run = prove_backwards, .ctx = p};
    p->posted = true;
    p->outline.spoiled = false;
    u9i_task_submit(file->env, &p->task, 0);
}

void u9i_prover_follow(u9i_prover *p, uint64_t front)
{
    atomic_store_explicit(&p->front, front, memory_order_relaxed);
}

void u9i_prover_end(u9i_prover *p)
{
    if (!p->posted) return;
    u9i_prover_follow(p, U9_NOWHERE);
    u9i_task_finish(p->file->env, &p->task);
    p->posted = false;
}
