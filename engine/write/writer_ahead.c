/*
 * engine/write/writer_ahead.c: space in the current file is reserved before somebody needs it, and where small durable
 * writes go, zeros are written into it. [S-3] [W-6] [S-7]
 *
 * A call that reserves waits for the file system's journal, now and then for tens of milliseconds: appends go on
 * meanwhile, in the space that is there. So it is asked for a whole step before the last one is used up; and not beyond
 * where the file is rolled, for what is cut from it then costs the disk as much as a write. On ext4 such a call also
 * waits until all that is under way in the file is written, and keeps what comes from being submitted: steps grow with
 * the file, so that a segment of 256 MiB takes 7 calls, not 16.
 *
 *     | submitted, laid ... | zeros .......... | zeros under way  | reserved ...
 *                           laid            out.zeroed       zeroing_to
 *
 * Zeros are complete before data is submitted there, and are never written over any: the driver lays nothing behind
 * out.zeroed while some are under way.
 */
#include "engine/write/writer_parts.h"

enum {
    ZEROS_LEFT = 1 << 19, /* bytes of them: more are asked for */
    STEP_MAX = 1 << 26    /* bytes of space taken at once, in a file that has as many */
};

uint64_t u9i_writer_space_for(uint64_t body_size)
{
    return u9i_writer_bound(body_size) + U9I_WRITER_SLACK;
}

/* As much as the last frame before a roll may need. */
static uint64_t space_wanted(const u9i_writer *w)
{
    return (w->segment_size + u9i_writer_space_for(U9I_BODY_TARGET) + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
}

/* How much is reserved next: as much as there is, within bounds. */
static uint64_t next_step(const u9i_writer *w)
{
    uint64_t there = w->out.end.offset / U9I_RESERVE_STEP * U9I_RESERVE_STEP;
    return there < U9I_RESERVE_STEP ? U9I_RESERVE_STEP : there > STEP_MAX ? STEP_MAX : there;
}

void u9i_writer_reserve_ahead(u9i_writer *w)
{
    uint64_t step = next_step(w), to = w->reserved + step, most = space_wanted(w);
    uint64_t least = step / 2 > U9I_RESERVE_STEP ? step / 2 : U9I_RESERVE_STEP; /* with less it is asked for */
    if (w->reserving || w->scarce || w->out.step < U9I_RESERVE_STEP || w->poison.err != U9_OK) return;
    if (w->reserved >= most || w->out.end.offset + least <= w->reserved) return;
    w->reserving_to = to < most ? to : most;
    w->reserving = true;
    u9i_task_submit(w->env, &w->reserver, 0);
}

/* Has the next zeros written, if there soon are none. The lock is held. */
static void call_zeros(u9i_writer *w, uint64_t at)
{
    const u9i_segment_out *o = &w->out;
    if (w->reserving || w->poison.err != U9_OK || o->zeroed < at) return;
    if (o->zeroed - at > ZEROS_LEFT || o->zeroed + U9I_ZERO_STEP > o->reserved) return;
    w->zeroing_to = o->zeroed + U9I_ZERO_STEP;
    w->reserving = true;
    u9i_task_submit(w->env, &w->reserver, 0);
}

void u9i_writer_finish_zeros(u9i_writer *w, uint64_t to)
{
    if (w->zeroing_to > 0 && to > w->out.zeroed) u9i_writer_finish_reserving(w);
}

void u9i_writer_zero_ahead(u9i_writer *w, uint64_t from, uint64_t to)
{
    u9i_writer_finish_zeros(w, to);
    if (to > w->out.zeroed) {
        u9i_writer_unlock(w);
        (void)u9i_segment_out_zero(&w->out, from, to); /* else the write is slow */
        u9i_writer_lock(w);
    }
    call_zeros(w, to);
}

void u9i_writer_run_reserver(void *ctx)
{
    u9i_writer *w = ctx;
    u9i_file *file = w->out.file; /* which stays, and so does what is wanted, while this is submitted */
    uint64_t to = w->reserving_to, zeros = w->zeroing_to, zeroed = zeros > 0 ? w->out.zeroed : 0, from = w->reserved;
    bool reserves = to > from;
    u9i_writer_unlock(w);
    int sys = reserves ? u9i_file_reserve(file, to) : 0, failed = zeros > 0 ? u9i_file_zero(file, zeroed, zeros) : 0;
    if (sys != 0 && to > from + U9I_RESERVE_STEP) sys = u9i_file_reserve(file, to = from + U9I_RESERVE_STEP);
    u9i_writer_lock(w);
    if (reserves && sys == 0) w->reserved = to;
    if (reserves) w->scarce = sys != 0;
    if (zeros > 0 && failed == 0) w->out.zeroed = zeros; /* else they are tried again, or the write is slow */
    w->zeroing_to = 0;
    w->reserving = false;
    u9i_writer_rest(w);
}

void u9i_writer_finish_reserving(u9i_writer *w)
{
    while (w->reserving) {
        u9i_writer_unlock(w);
        u9i_task_finish(w->env, &w->reserver);
        u9i_writer_lock(w);
    }
    if (w->out.reserved < w->reserved) w->out.reserved = w->reserved;
}
