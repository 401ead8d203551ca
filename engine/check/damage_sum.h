/*
 * engine/check/damage_sum.h: what a report says of all damages together.
 */
#ifndef U9I_DAMAGE_SUM_H
#define U9I_DAMAGE_SUM_H

#include <u9/check.h>

/* Takes one more into the worst verdict, the number of those that are more than notes, and the records lost by them. */
static inline void u9i_damage_sum(const u9_damage *d, u9_verdict *verdict, uint64_t *damages, uint64_t *lost)
{
    if (d->verdict > *verdict) *verdict = d->verdict;
    if (d->verdict < U9_V_UNKNOWN) return;
    ++*damages;
    if (d->lost != U9_NOWHERE) *lost = d->lost < UINT64_MAX - *lost ? *lost + d->lost : UINT64_MAX;
}

#endif
