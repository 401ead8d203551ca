/*
 * tests/must.h: ck_assert and ck_assert_msg for what is done a million times. Those write to Check's pipe each
 * time; these tell it nothing unless they fail.
 */
#ifndef TESTS_MUST_H
#define TESTS_MUST_H

#include <check.h>

#define MUST_SAY(what, ...) ((what) ? (void)0 : ck_abort_msg(__VA_ARGS__))
#define MUST(what) MUST_SAY(what, "Assertion '%s' failed", #what)

#endif
