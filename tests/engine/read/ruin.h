/*
 * tests/engine/read/ruin.h: logs of all shapes, and what can happen to them, drawn from a seed: so that what must hold
 * of every log is tried on many.
 */
#ifndef TESTS_ENGINE_READ_RUIN_H
#define TESTS_ENGINE_READ_RUIN_H

#include <stdint.h>

/* Starts the row of numbers that all here, and draw(), go by. */
void draw_from(uint64_t seed);
/* 0 .. below - 1; 0 for 0. */
uint64_t draw(uint64_t below);

/*
 * Makes a log of 1 to 4 segments, frame by frame: records, records in parts with other frames between them, empty
 * frames, promises, fill; closed, sealed, torn off, with and without a named end. Some frames hold what is no record, or one
 * in a form of a later version.
 */
void forge_any(const char *log);

/* The same by a writer of ours: rolls, LZ4, large records, a mark; closed or crashed. */
void write_any(const char *log);

/* Does something to it: bits, sectors, blocks, headers, ends, whole files, copies and strangers among them. */
void ruin(const char *log);

#endif
