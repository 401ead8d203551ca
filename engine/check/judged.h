/*
 * engine/check/judged.h: whether a log that is to be changed would hold all that it holds now. [U-1]
 */
#ifndef U9I_JUDGED_H
#define U9I_JUDGED_H

#include "engine/log/catalog.h"

typedef struct u9i_judgement {
    u9_verdict before, then;
    uint64_t damages_before, damages_then;
    uint64_t records;    /* that are read before, and then */
    uint64_t regained;   /* that are read then, and were not */
    bool fits;           /* all records that are read before are read then, none of them in another place or twice, but for
                          * those that prove to be void */
    uint64_t ordinal;    /* not fits: the first record at which that is not so */
} u9i_judgement;

/* Goes over both, in one pass each and with as much memory as two readers. Errors as a reader's. */
U9_MUST_CHECK u9_err u9i_judge_change(u9i_source *before, u9i_source *then, u9i_judgement *out, u9_fault *fault);

#endif
