/*
 * engine/check/tiering.h: segments on their way to another place. [TR-1] to [TR-4]
 *
 *   tier.c         all of it, in its order
 *   tier_plan.c    what is to be copied, and what stands in the way of that
 *   tier_look.c    what is damaged of that, and what the place lost
 *   tier_copy.c    a segment, the mark and the lists, each whole at the place before anything speaks of it
 */
#ifndef U9I_TIERING_H
#define U9I_TIERING_H

#include "engine/log/catalog.h"
#include "engine/log/tier_list.h"

#include <u9/tier.h>

/* What is known of a segment of the log, and is to be done with it. */
typedef struct u9i_tier_step {
    bool wanted;  /* it is to be copied */
    bool altered; /* the place has another, and this is not what was copied, by the list; unless it is wanted, that is */
    bool damaged; /* it is, here */
} u9i_tier_step;

typedef struct u9i_tiering {
    u9_tier_options options;        /* what they point to is borrowed */
    u9i_source source;              /* of the log as it stands here alone */
    bool opened;                    /* that is open */
    u9i_catalog *catalog;
    u9i_tier_step *steps;           /* one for each segment of the catalog; NULL: nothing is to be done */
    u9i_file *lock;                 /* NULL: not had */
    char *place;
    u9i_dir *far;                   /* NULL: not open */
    u9i_tier_list list;             /* what the place has */
    bool unlisted;                  /* the place says nothing of what it has: it may be another disk */
    bool unnamed;                   /* when this run began, nothing here said which place it is */
    bool untold;                    /* the lists in the two places do not say so yet */
    u9i_position marked;            /* what the place's mark names, of the segment of this number: */
    uint64_t marked_segment;        /*   0: none, or it is damaged */
    uint64_t begins;                /* no segment of a lower number is to stand there */
    size_t last;                    /* index of the highest segment that may be copied; U9I_NOT_THERE: none may */
    u9_tiered done;
} u9i_tiering;

/* A failure of the system with a file here or at the place. */
u9_err u9i_tiering_fail(const u9i_tiering *t, bool far, const char *name, int sys, const char *what, u9_fault *fault);

/* Index of the segment of this number; U9I_NOT_THERE: it is not here. */
size_t u9i_tiering_find(const u9i_catalog *catalog, uint64_t number);

/* Whether the place is this log's, and is to stay it. [TR-4] */
U9_MUST_CHECK u9_err u9i_tiering_judge(u9i_tiering *t, u9_fault *fault);

/* A segment of the row that stands at the place, or is to, once it is complete. */
bool u9i_tiering_is_due(const u9i_tiering *t, const u9i_facts *facts);

/* Which segments are to be copied: t->steps. What the place lost is told. */
U9_MUST_CHECK u9_err u9i_tiering_plan(u9i_tiering *t, u9_fault *fault);

/* Tells what is damaged of those; then nothing is to be refused of them, and what they replace is given up. */
U9_MUST_CHECK u9_err u9i_tiering_make_sure(u9i_tiering *t, u9_fault *fault);

/* Of two copies of a segment nobody knows which is the better. [TR-4] */
u9_err u9i_tiering_refuse(const u9i_tiering *t, const u9i_facts *facts, u9_fault *fault);

/* Tells of each segment of the list that is neither here nor at the place, and counts it. */
U9_MUST_CHECK u9_err u9i_tiering_find_lost(u9i_tiering *t, u9_fault *fault);

/* Reads the segments [from, to) as they are here, and tells what is damaged of them, and missing up to the one of number `to`. */
U9_MUST_CHECK u9_err u9i_tiering_look(u9i_tiering *t, uint64_t from, uint64_t to, u9_fault *fault);

/* Segment i of the catalog comes to stand at the place, is verified, and is in t->list. */
U9_MUST_CHECK u9_err u9i_tiering_copy(u9i_tiering *t, size_t i, u9_fault *fault);

/*
 * Of segment i the place has a copy: it is wanted if that is another (which is looked at with options.verify, or if this is not
 * what was copied), or if this is not what the list has. [TR-4]
 */
U9_MUST_CHECK u9_err u9i_tiering_compare(u9i_tiering *t, size_t i, const u9i_tiered *listed, u9_fault *fault);

/* The mark of the place names the end of the highest segment of the list, if it does not. [TR-3] */
U9_MUST_CHECK u9_err u9i_tiering_mark(u9i_tiering *t, u9_fault *fault);

/* The list, there or here, in place of the one that is. */
U9_MUST_CHECK u9_err u9i_tiering_put_list(u9i_tiering *t, bool far, u9_fault *fault);

#endif
