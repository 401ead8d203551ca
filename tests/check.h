/*
 * tests/check.h: Check, without a mark for each assertion that holds.
 *
 * Check tells the process that runs the tests of every passed assertion, by a write to a file, so that it
 * can say behind which one a test crashed. In our tests these were more system calls than all else they do:
 * eight million in one suite. What remains: a failed assertion names its file and line, a crash or a
 * timeout the beginning of its test; `make CFLAGS='-O1 -g -DU9T_MARKS'` brings the marks back.
 *
 * The compiler puts this in front of every source of tests/ (Makefile: room_tests), so that none forgets.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <check.h>

#ifndef U9T_MARKS
/* Where an assertion holds, Check's macros call this function. */
#define _mark_point(file, line) ((void)0)
#endif

#endif
