/*
 * engine/check/pieces.h: a check by several threads: the log is cut into pieces, each is read by whoever is free, and
 * what they found is joined in the log's order, to the report that one reader from the start comes to.
 *
 * A piece is read by a reader of its own, from its border on. A border is where a segment begins whose predecessor's
 * end is named: there nothing is left to be found out. Or it is an offset in a segment of which all was promised, and
 * then the one who comes to it from the left has the say: what it meets first behind the border must be the frame
 * that the other began with, in the same state. If it is not, or a row of parts goes on there, or something could
 * not be read, the left one simply goes on through the other's piece, and what that one found counts for nothing.
 *
 *     |  piece 1        . F                |  piece 2 begins at F, the first valid frame behind the border
 *     0            the border              1 comes to F, too: joined; else 1 reads on up to the next border
 *
 * Memory: a reader for each piece in work, two for each thread, and what each found, up to a bound: a reader that
 * comes to it waits for its turn. Callbacks are called by the caller's thread alone, and in order.
 */
#ifndef U9I_PIECES_H
#define U9I_PIECES_H

#include "engine/check/checker.h"

enum { U9I_CHECK_THREADS_MAX = 64 };

/* Reads all, by up to checker->threads threads, in pieces of about checker->piece bytes. As the checker's own run. */
U9_MUST_CHECK u9_err u9i_pieces_run(u9i_checker *checker, u9_fault *fault);

#endif
