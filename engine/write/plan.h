/*
 * engine/write/plan.h: where a new session goes on: the end of the log, judged, and what the session's u9open
 * must say of it. [C-3] [S-5] [W-3] Made by engine/log/resume.h.
 */
#ifndef U9I_PLAN_H
#define U9I_PLAN_H

#include "engine/segment/probe.h"

enum { U9I_LEFT_MAX = 16 }; /* what there is beyond, a later session finds */

/* A segment that ends with zeros: a killed session may have left them, reserved and not written. [S-7] */
typedef struct u9i_left {
    char name[20];
    uint64_t keep; /* below this offset nothing is cut */
} u9i_left;

typedef struct u9i_plan {
    uint64_t number;             /* of the segment that the session writes */
    uint64_t fresh;              /* of a new one, should the session go on in that instead */
    bool goes_on;                /* it is there and cleanly closed: [S-5] */
    char kind[U9I_KIND_MAX + 1]; /* of the log; "" for a new one, and where it is not known: */
    const char *like;            /*   its keys have the form of this kind's; "": that neither */
    uint8_t log[16];             /* its id; drawn for a new one */
    uint64_t trim_segment;       /* the first that is kept, which each new segment repeats; 0: nothing was trimmed [C-5] */
    uint64_t first_ordinal;      /* of the first record that the log keeps */
    uint64_t before_segment;     /* 0: the log is new */
    u9i_secret before;
    u9i_position end;
    u9i_tail tail;
    uint64_t accepted;           /* what the session's first u9open says of unknown ends; 0: nothing */
    uint64_t time_us;            /* of the last frame: no frame may be older */
    u9i_left left[U9I_LEFT_MAX]; /* the newest first */
    unsigned left_count;

    /* Only where goes_on: */
    uint64_t offset;        /* of the next block */
    uint64_t previous;      /* offset of the u9end frame */
    u9i_end_record totals;  /* of the u9end, without its spans */
    u9i_end_keys keys;      /* the first and last key that it tells */
} u9i_plan;

#endif
