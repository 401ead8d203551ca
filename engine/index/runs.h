/*
 * engine/index/runs.h: entries of an index, told in any order and given back sorted, in as much memory as is allowed:
 * what does not fit goes in sorted runs to a temporary file, and is merged as it is given back.
 *
 *     add, add ... -> full: sorted, a run more in the file -> as many runs as can be merged at a time -> next, next ...
 *
 * The file has no name from the moment on that it is made: whatever happens, nothing is left behind. One thread.
 */
#ifndef U9I_RUNS_H
#define U9I_RUNS_H

#include "engine/index/keys.h"
#include "engine/os/env.h"

enum { U9I_RUNS_CHUNK = 512 }; /* entries that are read and written at least: whole blocks */

typedef struct u9i_run {
    uint64_t at;    /* in the file: where its next entries are, */
    uint64_t left;  /*   and how many */
    u9i_key_entry *entries; /* those that were read, of which */
    size_t fill, next;      /*   there are, and were given */
} u9i_run;

typedef struct u9i_runs {
    /* Set by who opens it: */
    u9i_dir *dir;        /* borrows */
    const char *name;    /* borrows: of the temporary file, which nobody else uses */
    u9i_queue *queue;    /* borrows; nothing is under way in it */
    size_t memory;       /* bytes, at least U9I_RUNS_MEMORY */
    /* Its own: */
    u9i_file *file;      /* NULL: there is none yet */
    uint64_t end;        /* of it */
    u9i_key_entry *entries; /* all of the memory */
    size_t room, count;
    uint64_t total;      /* entries that were added */
    u9i_run *runs;       /* NULL: none */
    size_t run_count, run_room;
    size_t *heap;        /* of runs that have entries left, the one with the least in front */
    size_t heap_count;
    size_t given;        /* without runs: entries that were given back */
    unsigned merges;     /* how often runs were merged to fewer */
    int error;           /* a negative errno; sticky */
} u9i_runs;

enum { U9I_RUNS_MEMORY = 4 * U9I_RUNS_CHUNK * 24 };

/* -ENOMEM: nothing is held. */
int u9i_runs_open(u9i_runs *runs);
void u9i_runs_close(u9i_runs *runs); /* one that was never opened, zeroed, is fine */

/* A failure is told by u9i_runs_sort. */
void u9i_runs_add(u9i_runs *runs, const u9i_key_entry *entry);

/* No more are added: they can be had in order. 0 or a negative errno. */
int u9i_runs_sort(u9i_runs *runs);

/* The next one by key and, of one key, by place: 1; 0: that was all; or a negative errno. */
int u9i_runs_next(u9i_runs *runs, u9i_key_entry *out);

#endif
