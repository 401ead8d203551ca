/*
 * engine/check/stretch.h: what was intact, stretch by stretch: a row of frames, then what stands behind a segment's
 * end; and, in pieces, all that is told, kept until its turn.
 */
#ifndef U9I_STRETCH_H
#define U9I_STRETCH_H

#include "engine/read/reader.h"

/* A stretch with room for its keys. */
typedef struct u9i_intact {
    bool open;    /* more may come */
    size_t index; /* of the segment in the catalog */
    u9_stretch it;
    uint8_t first_key[U9I_KEY_MAX], last_key[U9I_KEY_MAX];
} u9i_intact;

/* First and last key of a frame. */
typedef struct u9i_kept_keys {
    uint8_t first[U9I_KEY_MAX], last[U9I_KEY_MAX];
} u9i_kept_keys;

/*
 * The reader's frame, if it is mapped, borrows its first and last key from there from now on. False: bytes of it could
 * not be read meanwhile, and it counts for nothing: the reader comes to it once more, by read calls.
 */
bool u9i_stretch_keep_keys(u9i_reader *reader, u9i_kept_keys *keys);

/* True if the run is open, and the reader's frame goes on where it ends. */
bool u9i_intact_goes_on(const u9i_intact *run, const u9i_reader *reader);
/* Adds the reader's frame, with which a run begins if it is not open. */
void u9i_intact_add(u9i_intact *run, const u9i_reader *reader);

/* What stands behind the end of the segment that the reader is about to leave: up to two stretches. Returns how many. */
unsigned u9i_stretch_behind(const u9i_reader *reader, u9_stretch out[2]);

/* `behind` begins with the frame with which `run` goes on: it is all of both from now on. */
void u9i_intact_join(const u9i_intact *run, u9i_intact *behind);

#endif
