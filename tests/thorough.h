/*
 * tests/thorough.h: how much of the same a test tries. `make test` is for every change, and has two processors and
 * a minute: where a thousand damages show what ten thousand do, it tries the thousand, the same ones each time. All
 * of them are tried with U9_LONG in the environment, which `make test-long` sets.
 */
#ifndef TESTS_THOROUGH_H
#define TESTS_THOROUGH_H

#include <stdlib.h>

static inline unsigned thorough(unsigned usual, unsigned all)
{
    return getenv("U9_LONG") ? all : usual;
}

/* Where calls fail or stop in turn, the one behind the n-th: each of the first and every fifth, or all. */
static inline unsigned next_call(unsigned n)
{
    return n + (n < 10 ? 1 : thorough(5, 1));
}

#endif
