/*
 * engine/check/tier_plan.c: see tiering.h: what is to be copied, and what stands in the way of it. [TR-3] [TR-4]
 */
#include "engine/check/tiering.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The highest segment that is sealed or closed, and whose end the next one's u9open says: it does not change any more,
 * nor does any below it, and read by itself it ends where it does here. U9I_NOT_THERE: there is none. [S-4] [S-6]
 */
static size_t find_last_complete(const u9i_catalog *c)
{
    for (size_t i = c->count; i > 0; i--) {
        const u9i_facts *f = u9i_catalog_facts(c, i - 1);
        if (u9i_facts_on_row(f) && f->named && f->has_end) return i - 1;
    }
    return U9I_NOT_THERE;
}

/* The number of the first segment that the log keeps, by what it said, be those below removed by now or not. */
static uint64_t first_kept(const u9i_catalog *c)
{
    uint64_t first = c->trim.segment, kept = c->marks ? u9i_mark_promise(&c->mark)->first_ordinal : 0;
    for (size_t i = 0; i < c->count && kept > 0; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        if (u9i_facts_on_row(f) && f->has_open && f->open.end.ordinal <= kept && f->number > first) first = f->number;
    }
    return first;
}

bool u9i_tiering_is_due(const u9i_tiering *t, const u9i_facts *f)
{
    return u9i_facts_on_row(f) && f->number >= t->begins;
}

/*
 * Where the place begins: behind what the log had trimmed when it got its place, which may go at any time [L-10]. It may have
 * begun below what was trimmed since: with its first segment, by the list, or one that a run copied which was interrupted before
 * a list told of it.
 */
static u9_err find_begin(u9i_tiering *t, u9_fault *fault)
{
    t->begins = first_kept(t->catalog);
    if (t->list.count > 0 && t->list.segments[0].number < t->begins) t->begins = t->list.segments[0].number;
    for (size_t i = 0; i < t->catalog->count && t->list.count == 0 && t->far; i++) {
        const u9i_facts *f = u9i_catalog_facts(t->catalog, i);
        char name[20];
        u9i_stamp stamp;
        if (!u9i_facts_on_row(f) || f->number >= t->begins) continue;
        u9i_segment_name(f->number, name);
        int sys = u9i_dir_stat(t->far, name, &stamp);
        if (sys == 0) t->begins = f->number;
        else if (sys != -ENOENT) return u9i_tiering_fail(t, true, name, sys, "cannot look whether it is there", fault);
    }
    return U9_OK;
}

/* Once it was copied, it is complete, whatever became of it or of the one behind it since. */
static bool is_ready(const u9i_tiering *t, size_t i)
{
    const u9i_facts *f = u9i_catalog_facts(t->catalog, i);
    const u9i_tiered *s = u9i_tier_list_find(&t->list, f->number);
    if (!u9i_tiering_is_due(t, f)) return false;
    return (t->last != U9I_NOT_THERE && i <= t->last && f->named) || (s && u9i_tiered_is(s, f));
}

/* The place has it, as large as the list says. */
static bool stands_there(u9i_tiering *t, const u9i_tiered *s, int *sys)
{
    char name[20];
    u9i_stamp stamp;
    if (s == NULL || t->far == NULL) return false;
    u9i_segment_name(s->number, name);
    int err = u9i_dir_stat(t->far, name, &stamp);
    if (err != 0 && err != -ENOENT) *sys = err;
    return err == 0 && stamp.size == s->size;
}

/* What the place has, and all that the log here has of it, is of one line: else nothing of it is said here. [TR-4] */
static u9_err compare_lines(const u9i_tiering *t, u9_fault *fault)
{
    const u9i_tier_list *list = &t->list;
    uint64_t highest = U9_NOWHERE;
    for (size_t i = 0; i < t->catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(t->catalog, i);
        if (!u9i_facts_on_row(f)) continue;
        highest = f->number;
        const u9i_tiered *s = u9i_tier_list_find(list, f->number);
        if (s && !u9i_tiered_is(s, f))
            return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .segment = f->number, .rule = "TR-4"),
                             "the place has another segment of number %llu: the log was forked. Nothing was copied or dropped: "
                             "choose another place, once the file .tier here is moved away", (unsigned long long)f->number);
    }
    uint64_t last = list->count > 0 ? list->segments[list->count - 1].number : 0;
    if (highest > last) return U9_OK; /* none of the row is here, or what is at the place is below the last one */
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .segment = last, .rule = "TR-4"),
                     "the place has segment %llu, whole, and the log here ends below that: it is an older state. Nothing was "
                     "copied or dropped: bring what is missing from there, or choose another place, once the file .tier here is "
                     "moved away", (unsigned long long)last);
}

/* What is listed and not here must be there, where the place itself says nothing of it: else it is not the place. [TR-4] */
static u9_err find_dropped(u9i_tiering *t, u9_fault *fault)
{
    for (size_t k = 0; k < t->list.count && t->unlisted; k++) {
        const u9i_tiered *s = &t->list.segments[k];
        int sys = 0;
        if (u9i_tiering_find(t->catalog, s->number) != U9I_NOT_THERE || stands_there(t, s, &sys)) continue;
        if (sys != 0) return u9i_tiering_fail(t, true, u9i_tier_name, sys, "cannot look what is there", fault);
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .segment = s->number, .rule = "TR-4"),
                         "segment %llu was dropped here as it stood at the place, which has neither that nor a list: is its disk "
                         "mounted? Nothing was copied or dropped", (unsigned long long)s->number);
    }
    return U9_OK;
}

typedef struct stranger {
    const u9i_catalog *catalog;
    uint64_t number;
} stranger;

static int note_stranger(void *ctx, const char *name)
{
    stranger *s = ctx;
    uint64_t number;
    if (!u9i_segment_named(name, &number) || u9i_tiering_find(s->catalog, number) != U9I_NOT_THERE) return 0;
    s->number = number;
    return 1;
}

/* Where nothing says what a place has, what stands there and not here is not mixed with what comes. [TR-4] */
static u9_err refuse_unlisted(const u9i_tiering *t, u9_fault *fault)
{
    stranger s = {.catalog = t->catalog};
    if (t->far == NULL || t->list.count > 0) return U9_OK;
    int sys = u9i_dir_list(t->far, note_stranger, &s);
    if (sys < 0) return u9i_tiering_fail(t, true, ".", sys, "cannot list the place", fault);
    if (sys == 0) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .segment = s.number, .rule = "TR-4"),
                     "segment %llu stands there, which is not here, and no list says of what log it is: nothing was copied. Choose "
                     "another place, or empty this one", (unsigned long long)s.number);
}

/* Whether segment i is to be copied. A copy of what was damaged is compared by the list, others if that is asked for. */
static u9_err plan_step(u9i_tiering *t, size_t i, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(t->catalog, i);
    const u9i_tiered *s = u9i_tier_list_find(&t->list, f->number);
    int sys = 0;
    bool there = stands_there(t, s, &sys);
    if (sys != 0) return u9i_tiering_fail(t, true, f->name, sys, "cannot look whether it is there", fault);
    t->steps[i].wanted = is_ready(t, i) && !there;
    return is_ready(t, i) && there && (t->options.verify || s->damaged) ? u9i_tiering_compare(t, i, s, fault) : U9_OK;
}

static u9_err plan_steps(u9i_tiering *t, u9_fault *fault)
{
    u9_err err = U9_OK;
    for (size_t i = 0; i < t->catalog->count && err == U9_OK; i++) {
        err = plan_step(t, i, fault);
        if (err != U9_OK || !t->steps[i].wanted) continue;
        t->done.left++;
        t->done.left_bytes += u9i_catalog_facts(t->catalog, i)->size;
    }
    return err;
}

/* From the first one on that goes, or cannot, as what is behind it is missing. */
static u9_err look_at_wanted(u9i_tiering *t, u9_fault *fault)
{
    size_t first = U9I_NOT_THERE, newest = U9I_NOT_THERE;
    for (size_t i = 0; i < t->catalog->count; i++) {
        if (!u9i_tiering_is_due(t, u9i_catalog_facts(t->catalog, i))) continue;
        if (first == U9I_NOT_THERE && (t->steps[i].wanted || t->steps[i].altered || !is_ready(t, i))) first = i;
        newest = i;
    }
    if (first == newest) return U9_OK; /* none, or the one that may change */
    return u9i_tiering_look(t, u9i_catalog_facts(t->catalog, first)->number, u9i_catalog_facts(t->catalog, newest)->number, fault);
}

/* One that is whole here takes the place of a copy that is not what it was, of two damaged ones neither. [TR-4] */
static u9_err refuse_altered(const u9i_tiering *t, u9_fault *fault)
{
    for (size_t i = 0; i < t->catalog->count; i++)
        if (t->steps[i].wanted && t->steps[i].altered && t->steps[i].damaged) return u9i_tiering_refuse(t, u9i_catalog_facts(t->catalog, i), fault);
    return U9_OK;
}

/* Of what comes anew both lists say that the copy is worth nothing, so that nobody drops it here meanwhile. [TR-3] */
static u9_err give_up_copies(u9i_tiering *t, u9_fault *fault)
{
    bool any = false;
    for (size_t i = 0, k = 0; i < t->catalog->count; i++) {
        while (k < t->list.count && t->list.segments[k].number < u9i_catalog_facts(t->catalog, i)->number) k++;
        if (k == t->list.count) break;
        u9i_tiered *s = &t->list.segments[k];
        if (s->number != u9i_catalog_facts(t->catalog, i)->number || !t->steps[i].wanted || s->damaged) continue;
        s->damaged = any = true; /* of one that is, H protects what is here */
        memset(s->sha, 0, sizeof s->sha);
    }
    if (!any) return U9_OK;
    t->untold = true;
    u9_err err = u9i_tiering_put_list(t, true, fault);
    return err == U9_OK ? u9i_tiering_put_list(t, false, fault) : err;
}

u9_err u9i_tiering_judge(u9i_tiering *t, u9_fault *fault)
{
    u9_err err = compare_lines(t, fault);
    if (err == U9_OK) err = find_dropped(t, fault);
    return err == U9_OK ? refuse_unlisted(t, fault) : err;
}

u9_err u9i_tiering_plan(u9i_tiering *t, u9_fault *fault)
{
    u9_err err = u9i_tiering_find_lost(t, fault);
    if (err == U9_OK) err = find_begin(t, fault);
    if (err != U9_OK) return err;
    t->steps = calloc(t->catalog->count, sizeof *t->steps);
    if (t->steps == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = t->source.path), "out of memory");
    t->last = find_last_complete(t->catalog);
    return plan_steps(t, fault);
}

u9_err u9i_tiering_make_sure(u9i_tiering *t, u9_fault *fault)
{
    u9_err err = look_at_wanted(t, fault);
    if (err == U9_OK) err = refuse_altered(t, fault);
    return err == U9_OK ? give_up_copies(t, fault) : err;
}
