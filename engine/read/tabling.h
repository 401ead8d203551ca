/*
 * engine/read/tabling.h: one table (index/table.h) for all segments of a view in which keys come in no order, made while
 * lookups go on: each that had to go through pages of indexes takes one page in. So none waits for the whole, and who
 * looks up a few keys pays nothing.
 *
 *     lookups by pages -> ... PATIENCE of them -> each takes a page in -> ready -> lookups by the table
 *
 * It holds what the indexes say, no more: what they lead to is looked at there. A segment whose index is not whole, or
 * for which there is no room, is left out, and looked through by its pages. It stays for later views, of which segments
 * may have gone or come; of too many that came the next one is made, while this one is used.
 *
 * Threads: any. A table that is ready does not change, and is counted.
 */
#ifndef U9I_TABLING_H
#define U9I_TABLING_H

#include "engine/index/table.h"
#include "engine/read/view.h"

/* A table, and which segments are in it. */
typedef struct u9i_tabled {
    atomic_uint references;
    u9i_kept *kept;      /* counted: the whole; its budget has what this takes */
    u9i_table table;
    uint64_t bytes;
    uint64_t *ids;       /* of each segment in the order of the view; 0: it is not in the table */
    uint32_t *spec_of;   /* the number of its keyspec */
    u9i_keyspec *specs;  /* those that there are */
    size_t count, spec_count;
} u9i_tabled;

/* The same for one view. */
typedef struct u9i_tabled_view {
    struct u9i_tabled_view *older; /* that it had before: some lookup may be at it */
    u9i_tabled *tabled;            /* counted */
    uint32_t *places;              /* of its segments in the view; NOWHERE: in none */
    uint32_t *rest;                /* segments of the view that are not in it, ascending */
    size_t rest_count;
    bool lossy;                    /* one that is in it is */
} u9i_tabled_view;

/* Where a record may be. */
typedef struct u9i_guess {
    uint64_t rank; /* in the table */
    size_t i;      /* segment of the view */
    uint64_t at;   /* virtual offset in it */
} u9i_guess;

/* What a handle has of this. */
typedef struct u9i_tabling {
    pthread_mutex_t lock; /* guards what follows but `asked`; taken before an index's */
    atomic_uint asked;    /* lookups that went by pages */
    u9i_tabled *ready;    /* counted; NULL: there is none */
    u9i_tabled *making;   /* NULL: none is. Of it: */
    size_t segment;       /*   which one is taken in, */
    uint32_t page;        /*   which page of it is next, */
    uint64_t told;        /*   entries of those before, */
    u9i_key_entry held;   /*   the last one of these, if */
    bool holds;           /*   there is one: it goes in when it is seen that it is its key's newest */
    uint64_t refused;     /* entries for which there was no memory; 0: that was not so */
    unsigned looks;       /* lookups since, of which some look at whether there is something to do */
} u9i_tabling;

void u9i_tabling_open(u9i_tabling *tabling);
void u9i_tabling_close(u9i_tabling *tabling, bool forked);

/* A view that is made: it uses the table that is ready, if that has any of its segments. */
void u9i_tabling_attach(u9i_tabling *tabling, u9i_view *view);
void u9i_tabled_free(u9i_tabled_view *tabled); /* at the view's end, all that it had; NULL is fine */

/* A lookup went by pages: perhaps a page is taken in. Never fails: what cannot be had is done without. */
void u9i_tabling_go_on(u9i_tabling *tabling, u9i_view *view);

/*
 * The newest guess for a key of the handle's, before the one that `guess` holds; its rank is UINT64_MAX at first. False:
 * no segment that is in the table has the key, but by what was guessed.
 */
bool u9i_tabled_find(const u9i_tabled_view *tabled, const u9_key *key, u9i_guess *guess);

/* True if a record of this other key is found by a right index where the key was guessed: tables keep part of a hash. */
bool u9i_tabled_mistakes(const u9i_tabled_view *tabled, const u9i_guess *guess, const u9_key *key, const u9_key *other);

/* Asks the processor for what u9i_tabled_find looks at first. */
void u9i_tabled_bring(const u9i_tabled_view *tabled, const u9_key *key);

#endif
