/*
 * tests/rados/fixture.h: what the tests of libu9-rados share: a cluster of their own, and writers that are processes.
 */
#ifndef TESTS_RADOS_FIXTURE_H
#define TESTS_RADOS_FIXTURE_H

#include <check.h>
#include <u9.h>

#include "engine/os/store.h"

#include <stdio.h>
#include <sys/types.h>

enum { LEASE_S = 1, TAKEN_WITHIN_S = LEASE_S + 2 };

/* Starts it with scripts/rados in `dir`. False: it cannot be had, which is said. */
bool rados_start(const char *dir);
void rados_stop(void);
/* A signal to its object daemon. */
void rados_signal(int sig);

/* "rados:u9/NAME?conf=...&lease=1" and what `more` adds ("&wait=3"); a name of its own for each test. Valid until 8 more. */
const char *address(const char *name, const char *more);

/* The env and the path in it. */
u9i_env *env_at(const char **path);

/* A process of its own that appends "0", "1", ... from `first` on, each committed, and prints the number when it is. */
typedef struct writer {
    pid_t pid;
    FILE *said;
} writer;

writer begin_writer(const char *address, unsigned first, unsigned count);
/* The next number that it has committed; -1: it has ended, and *why (room for 512; may be NULL) is what it said last. */
long next_commit(writer *w, char *why);
/* Waits for its end; its status. */
int end_writer(writer *w);
/* The program of such a process. */
int run_writer(const char *address, unsigned first, unsigned count);

/*
 * The program of a process whose `threads` append and commit numbers from `first` on, each in a record "N:xxx", until it
 * gets SIGTERM or a call fails. Each number that is durable is a line of its output; what it says else is on stderr: how
 * long opening took, what failed first, that the pool is full (it goes on), how long a call took at most. 3: one failed.
 */
int run_appenders(const char *address, unsigned threads, unsigned first);

/* A process that makes `count` identifiers under a number of this address (of one number, 7, in cluster 3), a line each. */
writer begin_numbers(const char *address, unsigned count);
int run_numbers(const char *address, unsigned count);

/*
 * The program of a process that fills a log with `count` records of random keys, opens it, and looks 100 keys up, 100 others,
 * and those once more, a line on its output behind each; before the second and the third time, and its end, it waits for SIGUSR1.
 */
int run_gets(const char *address, unsigned count);

/* Every number in [first, behind) is the text of a record of the log, in order; nothing is damaged. How many records. */
uint64_t expect_numbers(const char *address, unsigned first, unsigned behind);

Suite *suite_rados_files(void);
Suite *suite_rados_fence(void);
Suite *suite_rados_numbers(void);

#endif
