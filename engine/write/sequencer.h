/*
 * engine/write/sequencer.h: frames get their order: ordinal, chain and place, behind the last one of their file.
 * [F-4] [W-2] Whoever drives the writer calls it, frame after frame; nobody else knows what comes before what.
 */
#ifndef U9I_SEQUENCER_H
#define U9I_SEQUENCER_H

#include "engine/write/segment_out.h"
#include "engine/write/slots.h"

/*
 * Completes a hashed frame as the next one of `out`, with `durable` as its promise, and lays it onto the stream.
 * May wait for room in the stream. 0 or a negative errno, which is the stream's.
 */
int u9i_sequence(u9i_segment_out *out, u9i_stream *stream, u9i_frame_out *frame, uint64_t durable);

#endif
