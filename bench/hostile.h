/*
 * bench/hostile.h: stores of u9 that are made to cost as much as they can, and files to carve logs out of.
 */
#ifndef U9_BENCH_HOSTILE_H
#define U9_BENCH_HOSTILE_H

#include "bench/engine.h"

/*
 * Each writes over the inside of the first segment of the closed store, which is in the page cache then.
 *
 *     garbage      bytes that are nothing
 *     boundaries   the file's boundary, at each place where a frame may begin
 *     copies       the first frames, over and over: each is valid where it was, and nowhere else
 *     claims       headers of frames, one behind another, each of which is said to be as long as can be
 *     flips        its own frames, with one bit of each payload flipped
 */
void spoil_garbage(const job_spec *job);
void spoil_boundaries(const job_spec *job);
void spoil_copies(const job_spec *job);
void spoil_claims(const job_spec *job);
void spoil_flips(const job_spec *job);

/* The store's segments become one image, with garbage before, between and behind them. */
void spoil_image(const job_spec *job);

/* An image of about as many bytes as the records have; all of it is garbage. */
void make_garbage(const job_spec *job);

/* Fills `path` with the name of the image of these two. */
void image_of(const job_spec *job, char path[PATH_ROOM + 16]);

#endif
