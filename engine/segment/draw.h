/*
 * engine/segment/draw.h: what is drawn for a file of frames until it fits: its secret, and a frame's time.
 */
#ifndef U9I_DRAW_H
#define U9I_DRAW_H

#include "engine/os/env.h"
#include "format/frame/disk.h"
#include "format/frame/frame.h"

/* A new secret. [H-3] False: the system has no randomness. */
U9_MUST_CHECK bool u9i_secret_draw(u9i_env *env, u9i_secret *out);

/* As u9i_frame_seal; where the file's boundary would stand within the frame, at a later time, by which it does not. [F-7] */
void u9i_frame_seal_in_time(const u9i_secret *secret, u9i_trailer *trailer, uint8_t *frame, size_t body_size,
                            uint8_t sha[U9I_HASH_SIZE]);

#endif
