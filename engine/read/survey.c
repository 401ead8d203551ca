/*
 * engine/read/survey.c: what is known to be wrong with a log as soon as it is open: what its files and their first and
 * last blocks tell. [L-2] [L-4] [L-9] [H-4]
 */
#include "engine/log/handle.h"
#include "engine/read/reader.h"

u9_err u9_log_damages(u9_log *log, u9_damage_fn *fn, void *ctx, u9_fault *fault)
{
    u9i_reader r;
    u9i_step step = U9I_STEP_DAMAGE;
    if (log == NULL || fn == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    if (u9i_log_forked(log))
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                         "the handle belongs to the parent process");
    u9_err err = u9i_reader_open(&r, &log->source, fault);
    if (err != U9_OK) return err;
    r.surveys = true;
    while ((err = u9i_reader_step(&r, &step, fault)) == U9_OK && step != U9I_STEP_END)
        if (step == U9I_STEP_DAMAGE) fn(ctx, &r.damage);
    u9i_reader_release(&r);
    return err;
}
