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

/* True if frames stand there that lead, one to the next, to the one at `end`, which the log has, too. [F-9] */
static bool shows_chain(u9i_window *w, uint64_t begin, uint64_t end, uint64_t bound)
{
    u9i_frame at, next;
    if (!find_follower(w, begin, bound, &at)) return false;
    for (; at.offset < end; at = next)
        if (!find_follower(w, at.end, bound, &next) || !u9i_frame_follows(&at, &next)) return false;
    return at.offset == end;
}

/* *whole: the snapshot has it. 0, or a negative errno: it could not be read, so nothing is known. */
static int look_for_whole(u9i_snapshot *s, u9i_window *w, const u9i_facts *f, const u9_damage *d, bool *whole)
{
    u9i_file *file;
    u9i_stamp stamp;
    int sys = u9i_dir_stat(s->dir, f->name, &stamp);
    if (sys == 0) sys = u9i_file_open(s->dir, f->name, U9I_OPEN_READ, &file);
    *whole = false;
    if (sys != 0) return sys == -ENOENT ? 0 : sys;
    const u9i_snapshot_state *state = u9i_snapshot_state_of(&s->note, u9i_segment_number(f->name), stamp.size);
    u9i_window_turn(w, file, &f->secret);
    *whole = shows_chain(w, d->begin, d->end, state ? state->offset : stamp.size);
    if (!*whole) sys = w->unread.end > 0 ? -w->unread_sys : -w->sys;
    u9i_window_turn(w, NULL, NULL);
    u9i_file_close(file);
    return sys;
}

static u9_err note_whole(u9i_snapshot *s, size_t index, const u9_damage *d, u9_fault *fault)
{
    u9i_kept_stretch *more = u9i_grow(s->whole, s->report.whole, &s->whole_room, sizeof *more);
    if (more == NULL) return u9i_snapshot_fail(s, -ENOMEM, "note what the snapshot has whole", fault);
    s->whole = more;
    s->whole[s->report.whole++] = (u9i_kept_stretch){index, d->begin, d->end};
    return U9_OK;
}

u9_err u9i_snapshot_find_whole(u9i_snapshot *s, size_t index, const u9_damage *d, u9_fault *fault)
{
    u9i_window *w;
    const u9i_facts *f = u9i_catalog_facts(s->catalog, index);
    if (s->partial || d->verdict < U9_V_UNKNOWN || d->segment != f->number || d->begin >= d->end) return U9_OK;
    if (u9i_windows_lend(&s->source->windows, &w) != U9_OK)
        return u9i_snapshot_fail(s, -ENOMEM, "read what the snapshot has", fault);
    bool whole;
    int sys = look_for_whole(s, w, f, d, &whole);
    u9i_windows_return(&s->source->windows, w);
    if (sys != 0) return u9i_snapshot_fail(s, sys, "read what it has whole, perhaps, of what is damaged in the log", fault);
    return whole ? note_whole(s, index, d, fault) : U9_OK;
}
