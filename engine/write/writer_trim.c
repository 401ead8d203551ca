/*
 * engine/write/writer_trim.c: a session says which segments are not kept any more. [C-5] [L-10]
 *
 * The u9trim stands in the same block as the u9open of a new file: both are durable, or neither. So a reader finds it
 * without looking further, and as each file that is begun later repeats it, it is there as long as one of them is.
 */
#include "engine/write/writer_parts.h"

#include <assert.h>

void u9i_writer_take_trim(u9i_writer *w, const u9i_trim_record *trim)
{
    if (trim->segment <= w->plan.trim_segment) return;
    w->plan.trim_segment = trim->segment;
    w->plan.first_ordinal = trim->ordinal;
}

void u9i_writer_keep_from(u9i_writer *w, const u9i_trim_record *trim)
{
    u9i_writer_lock(w);
    u9i_writer_take_trim(w, trim);
    u9i_writer_unlock(w);
}

uint64_t u9i_writer_kept_from(u9i_writer *w)
{
    u9i_writer_lock(w);
    uint64_t segment = w->poison.err == U9_OK ? w->plan.trim_segment : 0; /* what says so may not be durable */
    u9i_writer_unlock(w);
    return segment;
}

void u9i_writer_put_trim(u9i_writer *w)
{
    const u9i_trim_record trim = {.segment = w->plan.trim_segment, .ordinal = w->plan.first_ordinal};
    if (trim.segment == 0) return;
    assert(trim.segment < w->out.number);
    u9i_frame_out *f = u9i_writer_begin_frame(w, U9I_BLOCK, 0);
    u9i_out out = u9i_out_init(f->frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK);
    u9i_trim_record_encode(&out, &trim);
    assert(!out.failed);
    f->body_size = out.size;
    u9i_writer_seal(w, false);
}

/* The session's first file, which is a new one. Refused, the session stands where it stood. [W-6] */
static u9_err start_fresh(u9i_writer *w, const u9i_trim_record *trim, u9_fault *fault)
{
    const u9i_plan was = w->plan;
    w->plan.goes_on = false;
    w->plan.number = w->plan.fresh;
    u9i_writer_take_trim(w, trim);
    u9i_writer_take_plan(w);
    u9_err err = u9i_writer_start(w, fault);
    if (err == U9_OK) return u9i_writer_flush(w, fault);
    w->plan = was;
    u9i_writer_take_plan(w);
    return err;
}

u9_err u9i_writer_trim(u9i_writer *w, const u9i_trim_record *trim, u9i_mark_record *mark, u9_fault *fault)
{
    uint64_t now_us = u9i_wall_us(w->env);
    u9i_writer_lock(w);
    u9i_writer_take_role(w);
    u9_err err = u9i_writer_refuse(w, fault);
    if (err == U9_OK && w->row.barred) {
        err = u9i_fault(fault, U9_AGAIN, U9I_AT(.path = w->path, .segment = w->out.number, .rule = "C-6"),
                        "a record in parts is being written, which stays in its segment: nothing was trimmed");
    } else if (err == U9_OK && !w->started) {
        err = start_fresh(w, trim, fault);
    } else if (err == U9_OK) {
        err = u9i_writer_roll(w, U9I_WRITER_SLACK, trim, fault);
        if (err == U9_OK) err = u9i_writer_flush(w, fault);
    }
    if (err == U9_OK) {
        bool durable = u9i_writer_mark_at(w, now_us, mark);
        assert(durable && mark->first_ordinal >= trim->ordinal);
    }
    u9i_writer_give_role(w);
    u9i_writer_unlock(w);
    return err;
}
