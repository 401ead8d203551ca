/*
 * engine/write/sequencer.c: see sequencer.h.
 */
#include "engine/write/sequencer.h"

#include "engine/segment/draw.h"

#include <assert.h>
#include <string.h>

/* Where a frame comes to stand that was filled elsewhere: as soon as there is room. */
static void find_place(u9i_stream *s, u9i_frame_out *f)
{
    size_t n = u9i_frame_size(f->stored_size);
    bool large = u9i_stream_is_large(s, n);
    if (large) u9i_stream_pad(s); /* it begins at a block, with nothing before it */
    if (large) (void)u9i_stream_submit(s, false);
    for (;;) {
        bool idle = s->count == 0 && s->laid.pos == s->sent.pos;
        if (idle || !large) {
            f->at = u9i_stream_place(s, s->laid, n, idle);
            if (u9i_stream_has_room(s, f->at, n, s->done, idle)) return;
        }
        if (s->error != 0 || s->count == 0) return; /* the place is nobody's then */
        (void)u9i_stream_reap(s, true);
    }
}

/* The frame's last bytes, where it stands. */
static void complete(u9i_segment_out *o, u9i_frame_out *f, uint64_t durable)
{
    u9i_trailer t = {.ordinal = o->end.ordinal, .count = f->count, .offset = f->at.pos, .previous = o->previous,
                     .durable = durable, .time_us = f->time_us > o->time_us ? f->time_us : o->time_us};
    memcpy(t.chain, o->end.chain, sizeof t.chain);
    assert(f->ordinal == o->end.ordinal && durable <= f->at.pos);
    if (u9i_frame_finish(&o->secret, &t, f->stored, f->stored_size, &f->hasher, o->end.chain) != U9_OK)
        u9i_frame_seal_in_time(&o->secret, &t, f->stored, f->stored_size, o->end.chain);
    o->previous = f->at.pos;
    o->time_us = t.time_us;
    o->promised = durable;
    o->end.offset = f->at.pos + u9i_frame_size(f->stored_size);
    o->end.ordinal += f->count;
    o->totals.frames++;
    o->totals.records += f->count;
    if (f->count > 0) o->totals.bytes += f->body_size;
    f->end = o->end;
}

int u9i_sequence(u9i_segment_out *o, u9i_stream *s, u9i_frame_out *f, uint64_t durable)
{
    bool elsewhere = f->packed != NULL;
    size_t n = u9i_frame_size(f->stored_size);
    if (elsewhere) find_place(s, f);
    if (s->error != 0) return s->error;
    complete(o, f, durable);
    if (elsewhere) memcpy(u9i_stream_at(s, f->at.v), f->stored, n);
    f->end_v = f->at.v + n;
    int err = u9i_stream_lay(s, f->at, n);
    if (err == 0 && f->pads) u9i_stream_pad(s);
    return err;
}
