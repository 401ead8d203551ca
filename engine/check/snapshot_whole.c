/*
 * engine/check/snapshot_whole.c: what is damaged in the log by now, and stands in the snapshot as it was.
 *
 * What was the snapshot's last segment is replaced by what the log has under that name, and would lose what the log has
 * lost: what is proven of it there stays.
 */
#include "engine/check/snapshot.h"

#include "engine/os/list.h"

#include <errno.h>

/* The frame that follows one that ends at `at`: there, or where a session begins. [S-5] */
static bool find_follower(u9i_window *w, uint64_t at, uint64_t bound, u9i_frame *out)
{
    uint64_t block = (at + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    return u9i_window_at(w, at, bound, out) == U9_OK || (block > at && u9i_window_at(w, block, bound, out) == U9_OK);
}

static bool note_stretch(u9i_snapshot *s, size_t index, uint64_t begin, uint64_t end)
{
    u9i_kept_stretch *more = u9i_grow(s->whole, s->whole_count, &s->whole_room, sizeof *more);
    if (more == NULL) return false;
    s->whole = more;
    s->whole[s->whole_count++] = (u9i_kept_stretch){index, begin, end};
    return true;
}

/*
 * Notes each row of frames that stand there, lead one to the next [F-9] and begin before the damage's end. It is whole if
 * one leads from its begin to the frame at its end, which the log has, too. False: no memory.
 */
static bool note_rows(u9i_snapshot *s, u9i_window *w, size_t index, const u9_damage *d, uint64_t bound)
{
    u9i_frame at, next;
    for (uint64_t p = d->begin; p < d->end && u9i_window_find(w, p, bound, &at) == U9_OK && at.offset < d->end; p = at.end) {
        uint64_t begin = at.offset;
        bool first = begin == d->begin || (find_follower(w, d->begin, bound, &next) && next.offset == begin), leads;
        while ((leads = find_follower(w, at.end, bound, &next) && u9i_frame_follows(&at, &next)) && next.offset < d->end) at = next;
        leads = leads && next.offset == d->end;
        if (!note_stretch(s, index, first ? d->begin : begin, leads ? d->end : at.end)) return false;
        if (first && leads) s->report.whole++;
    }
    return true;
}

/* What the snapshot has of it is noted. 0, or a negative errno: it could not be read, so nothing is known. */
static int look_for_whole(u9i_snapshot *s, u9i_window *w, size_t index, const u9_damage *d)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, index);
    u9i_file *file;
    u9i_stamp stamp;
    int sys = u9i_dir_stat(s->dir, f->name, &stamp);
    if (sys == 0) sys = u9i_file_open(s->dir, f->name, U9I_OPEN_READ, &file);
    if (sys != 0) return sys == -ENOENT ? 0 : sys;
    const u9i_snapshot_state *state = u9i_snapshot_state_of(&s->note, u9i_segment_number(f->name), stamp.size);
    u9i_window_turn(w, file, &f->secret);
    uint64_t whole = s->report.whole;
    if (!note_rows(s, w, index, d, state ? state->offset : stamp.size)) sys = -ENOMEM;
    else if (s->report.whole == whole) sys = w->unread.end > 0 ? -w->unread_sys : -w->sys;
    u9i_window_turn(w, NULL, NULL);
    u9i_file_close(file);
    return sys;
}

u9_err u9i_snapshot_find_whole(u9i_snapshot *s, size_t index, const u9_damage *d, u9_fault *fault)
{
    u9i_window *w;
    const u9i_facts *f = u9i_catalog_facts(s->catalog, index);
    if (s->partial || d->verdict < U9_V_UNKNOWN || d->segment != f->number || d->begin >= d->end) return U9_OK;
    if (u9i_windows_lend(&s->source->windows, &w) != U9_OK)
        return u9i_snapshot_fail(s, -ENOMEM, "read what the snapshot has", fault);
    int sys = look_for_whole(s, w, index, d);
    u9i_windows_return(&s->source->windows, w);
    if (sys != 0) return u9i_snapshot_fail(s, sys, "read what it has whole, perhaps, of what is damaged in the log", fault);
    return U9_OK;
}
