/*
 * engine/read/back.h: a reader that goes back: the same frames and the same damages as forwards, in reverse order, and
 * turns round anywhere.
 *
 * Nothing is judged here. Where a frame stands whose `previous` leads to one that it follows, with nothing between them
 * that is to be told, that is the one that reading forwards comes from: it is gone to straight, and verified. Where that
 * does not fit, a second reader, blind to bodies, goes over the unit from its start, and what it passes is noted as
 * a *trail*: runs of frames and damages. The trail is followed back. It holds so many notes at most; what is older is
 * forgotten, and looked for anew when one comes there.
 *
 *     end of a unit ----straight----> frame ----straight----> frame at 32 ----> end of the unit before
 *                  \                    | does not fit          |  its u9open, or what is told of the unit
 *                   \---- trail --------+-----------------------+
 */
#ifndef U9I_BACK_H
#define U9I_BACK_H

#include "engine/read/reader.h"

/*
 * The step before the place where the reader is; it is the new place then. FRAME: as of u9i_reader_step; END: the first
 * unit's start. U9_VERSION: as there, the next call goes on in front of it. U9_IO, U9_NOMEM: may be tried again.
 * U9_CORRUPT: the files are not what they were a moment ago.
 */
U9_MUST_CHECK u9_err u9i_reader_back(u9i_reader *reader, u9i_step *step, u9_fault *fault);

/* The reader's frame, of the last step: from now on the reader is behind it, or in front of it. */
void u9i_reader_behind(u9i_reader *reader);
void u9i_reader_before(u9i_reader *reader);

/* Goes to a place: the next step, either way, is from there. Nothing is read yet. */
void u9i_reader_go(u9i_reader *reader, u9i_spot place);

/* After a step back, or u9i_reader_go: readies the reader for steps forwards. Done by u9i_reader_step. Errors as above. */
U9_MUST_CHECK u9_err u9i_reader_turn(u9i_reader *reader, u9_fault *fault);

/* Shows this frame of the unit that is open, and is in front of it, whatever stands before it. As u9i_reader_back. */
U9_MUST_CHECK u9_err u9i_reader_show(u9i_reader *reader, const u9i_frame *frame, u9i_step *step, u9_fault *fault);

/* Opens the segment of a unit, for its window. */
U9_MUST_CHECK u9_err u9i_reader_open_unit(u9i_reader *reader, size_t unit, u9_fault *fault);

/* Forgets the trail. */
void u9i_trail_drop(u9i_reader *reader);

#endif
