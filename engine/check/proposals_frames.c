/*
 * engine/check/proposals_frames.c: the bytes by which damaged headers, trailers and paddings are put back. [U-4] [Y-1]
 */
#include "engine/check/proposals.h"
#include "engine/segment/mend.h"

#include <u9/repair.h>

#include <errno.h>

/* What differs of one frame. */
static u9_err propose_frame(u9i_proposals *p, const u9i_facts *f, u9i_window *window, const u9i_frame *frame, int *sys)
{
    u9i_mend_patch patches[U9I_PATCHES_MAX];
    unsigned count = 0;
    u9_err err = u9i_mend_patches(frame, window, patches, &count);
    for (unsigned i = 0; i < count && err == U9_OK && *sys == 0; i++) {
        *sys = u9i_changes_add(p->changes, p->source->dir, f->name, patches[i].offset, patches[i].bytes,
                               (uint32_t)patches[i].size, U9_REPAIR_FRAME);
        if (*sys == -EEXIST || *sys == -ENODATA) *sys = 0;
    }
    return err == U9_STATE || err == U9_CORRUPT ? U9_OK : err;
}

static u9_err propose_all(u9i_proposals *p, const u9i_facts *f, u9i_window *window, int *sys)
{
    u9i_mender mender;
    u9i_mender_init(&mender, f->size);
    u9_err err = u9i_mend_file(&mender, window, f, f->size, false);
    for (size_t i = 0; i < mender.count && err == U9_OK && *sys == 0; i++)
        err = propose_frame(p, f, window, &mender.frames[i].frame, sys);
    p->gave_up |= mender.gave_up;
    u9i_mender_release(&mender);
    return err;
}

u9_err u9i_propose_frames(u9i_proposals *p, const u9i_facts *f, u9_fault *fault)
{
    char path[4400];
    u9i_file *file;
    u9i_window *window = NULL;
    int sys = u9i_file_open(p->source->dir, f->name, U9I_OPEN_READ, &file);
    if (sys == -ENOENT) return U9_OK;
    u9_err err = sys ? U9_IO : u9i_windows_lend(&p->source->windows, &window);
    if (err == U9_OK) {
        u9i_window_turn(window, file, &f->secret);
        err = propose_all(p, f, window, &sys);
        if (err == U9_IO) sys = window->sys;
        else if (err == U9_OK && sys != 0) err = sys == -ENOMEM ? U9_NOMEM : U9_IO;
        u9i_window_turn(window, NULL, NULL);
    }
    u9i_windows_return(&p->source->windows, window);
    if (sys == 0 || window) u9i_file_close(file);
    if (err == U9_OK) return U9_OK;
    return u9i_fault(fault, err, U9I_AT(.path = u9i_source_path(p->source, f->name, path, sizeof path), .sys = sys < 0 ? -sys : sys),
                     "cannot put its frames together again");
}
