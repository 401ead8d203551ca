/*
 * engine/write/writer_trim.c: a session says which segments are not kept any more. [C-5] [L-10]
 *
 * The u9trim stands in the same block as the u9open of a new file: both are durable, or neither. So a reader finds it
 * without looking further, and as each file that is begun later repeats it, it is there as long as one of them is.
 */
#include "engine/write/writer_parts.h"

#include <assert.h>

void u9i_writer_keep_from(u9i_writer *w, const u9i_trim_record *trim)
{
    if (trim->segment <= w->plan.trim_segment) return;
    w->plan.trim_segment = trim->segment;
    w->plan.first_ordinal = trim->ordinal;
}

u9_err u9i_writer_put_trim(u9i_writer *w, u9_fault *fault)
{
    const u9i_trim_record trim = {.segment = w->plan.trim_segment, .ordinal = w->plan.first_ordinal};
    if (trim.segment == 0) return U9_OK;
    assert(w->body_size == 0 && trim.segment < w->out.number);
    u9i_out out = u9i_out_init(w->frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK);
    u9i_trim_record_encode(&out, &trim);
    assert(!out.failed);
    w->body_size = out.size;
    return u9i_writer_seal(w, fault);
}

/* The session's first file, which is a new one. Refused, the session stands where it stood. [W-6] */
static u9_err start_fresh(u9i_writer *w, const u9i_trim_record *trim, u9_fault *fault)
{
    const u9i_plan was = w->plan;
    w->plan.goes_on = false;
    w->plan.number = w->plan.fresh;
    u9i_writer_keep_from(w, trim);
    u9i_writer_take_plan(w);
    u9_err err = u9i_writer_create(w, fault);
    if (err == U9_OK || w->poison.err != U9_OK) return err;
    u9i_writer_unstart(w);
    w->plan = was;
    u9i_writer_take_plan(w);
    return err;
}

/* The session's next file. Nobody is asked what goes: that is said. */
static u9_err roll_over(u9i_writer *w, const u9i_trim_record *trim, u9_fault *fault)
{
    const u9i_trim_record was = {.segment = w->plan.trim_segment, .ordinal = w->plan.first_ordinal};
    void (*retain)(void *) = w->retain;
    w->retain = NULL;
    u9i_writer_keep_from(w, trim);
    u9_err err = u9i_writer_roll(w, U9I_WRITER_SLACK, fault);
    w->retain = retain;
    if (err == U9_OK || w->poison.err != U9_OK) return err;
    w->plan.trim_segment = was.segment;
    w->plan.first_ordinal = was.ordinal;
    return err;
}

u9_err u9i_writer_trim(u9i_writer *w, const u9i_trim_record *trim, u9_fault *fault)
{
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    u9_err err = w->started ? roll_over(w, trim, fault) : start_fresh(w, trim, fault);
    u9i_writer_check(w);
    return err;
}
