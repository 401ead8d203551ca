/*
 * engine/check/carve_lines.c: each segment's frames in order, and those of copies that went on otherwise. See
 * carving.h. [U-6] [U-8]
 *
 * Of a log that was copied, and went on in both, one segment's frames part: the first line is the segment, and what is
 * in none of its places is another kin of the same boundary, with all that leads to it.
 */
#include "engine/check/carving.h"

#include "engine/os/list.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAMED = 1 << 30, /* more than all frames that may follow */
    LINES_MAX = 16   /* of one segment that are written */
};

static bool is_earlier(const u9i_fragment *x, const u9i_fragment *y)
{
    return x->image != y->image ? x->image < y->image : x->at < y->at;
}

static int by_offset(const void *a, const void *b)
{
    const u9i_fragment *x = a, *y = b;
    int order = u9i_order(x->offset, y->offset);
    if (order == 0) order = memcmp(x->sha, y->sha, sizeof x->sha);
    return order ? order : is_earlier(y, x) - is_earlier(x, y);
}

void u9i_carve_sort(u9i_fragment *frames, size_t count)
{
    if (count > 1) qsort(frames, count, sizeof *frames, by_offset);
}

u9i_fragment *u9i_carve_find(u9i_fragment *frames, size_t count, uint64_t offset, const uint8_t sha[U9I_HASH_SIZE])
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const u9i_fragment *f = &frames[middle];
        if (f->offset < offset || (f->offset == offset && memcmp(f->sha, sha, sizeof f->sha) < 0)) low = middle + 1;
        else high = middle;
    }
    bool found = low < count && frames[low].offset == offset && memcmp(frames[low].sha, sha, sizeof frames[low].sha) == 0;
    return found ? &frames[low] : NULL;
}

/* Frames of one boundary, in that order. */
typedef struct frame_list {
    u9i_fragment *frames;
    size_t count;
} frame_list;

/* [F-9] */
static bool is_next_of(const u9i_fragment *f, const u9i_fragment *last)
{
    if (last == NULL || f->previous != last->offset || memcmp(f->chain, last->sha, sizeof f->chain) != 0) return false;
    uint64_t end = u9i_fragment_end(last);
    return f->offset == end || f->offset == u9i_carve_block(end);
}

/*
 * True if a frame is another line's: one follows this one's last, of which that does with the most behind it, and it is
 * none such; or what it follows is there, and is not this one's last.
 */
static bool is_of_another(const frame_list *every, const u9i_fragment *f, const u9i_fragment *last)
{
    if (last && last->after > 0) return !is_next_of(f, last) || f->behind + 1 < last->after;
    return f->offset > U9I_DISK_HEADER_SIZE && u9i_carve_find(every->frames, every->count, f->previous, f->chain) != NULL;
}

/* How much follows each of these, which are in order, from behind. */
static void weigh(const u9i_carving *c, const u9i_kin *k, u9i_fragment *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) frames[i].after = 0;
    for (size_t i = count; i-- > 0;) {
        u9i_fragment *f = &frames[i], *before = u9i_carve_find(frames, count, f->previous, f->chain);
        f->behind = u9i_carve_is_named(c, k, f) && f->after < NAMED ? NAMED : f->after;
        if (before && is_next_of(f, before) && before->after <= f->behind) before->after = f->behind + 1;
    }
}

/* Of two frames at one place: that which follows, that which more stands behind, that which stands first. */
static bool counts_more(const u9i_fragment *f, const u9i_fragment *best, const u9i_fragment *last)
{
    if (best == NULL) return true;
    if (is_next_of(f, last) != is_next_of(best, last)) return is_next_of(f, last);
    return f->behind != best->behind ? f->behind > best->behind : is_earlier(f, best);
}

/*
 * Each byte of a segment once: of several frames at one place (copies of the file, older ones too) the better one of those
 * that are not of another line. They come behind those in the line.
 */
static void choose_line(const frame_list *every, const u9i_fragment *frames, size_t count, frame_list *line)
{
    for (size_t i = 0, more; i < count; i = more) {
        const u9i_fragment *last = line->count ? &line->frames[line->count - 1] : NULL, *best = NULL;
        for (more = i; more < count && frames[more].offset == frames[i].offset; more++) {
            if (last && frames[more].offset < u9i_fragment_end(last)) continue;
            if (counts_more(&frames[more], best, last) && !is_of_another(every, &frames[more], last)) best = &frames[more];
        }
        if (best) line->frames[line->count++] = *best;
    }
}

/* Leaves of `frames` those that are not in the line, which ascends. Copies of its frames are in it. */
static size_t drop_line(u9i_fragment *frames, size_t count, u9i_fragment *line, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (u9i_carve_find(line, n, frames[i].offset, frames[i].sha) == NULL) frames[kept++] = frames[i];
    return kept;
}

/* The frames that lead to this one, each by the hash of the one before, or at least the segment's first. */
static size_t lead_to(const u9i_fragment *f, u9i_fragment *frames, size_t count, u9i_fragment *list)
{
    size_t n = 0;
    while (f->offset > U9I_DISK_HEADER_SIZE) {
        const u9i_fragment *before = u9i_carve_find(frames, count, f->previous, f->chain);
        if (before == NULL && frames[0].offset == U9I_DISK_HEADER_SIZE) before = &frames[0];
        if (before == NULL || u9i_fragment_end(before) > f->offset) break;
        list[n++] = *before;
        f = before;
    }
    for (size_t i = 0; i < n / 2; i++) {
        u9i_fragment swap = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = swap;
    }
    return n;
}

static bool has_records(const u9i_carving *c, const u9i_fragment *frames, size_t count)
{
    u9i_trailer t;
    for (size_t i = 0; i < count; i++)
        if (u9i_carve_fetch(c, &frames[i]) &&
            u9i_carve_trailer(c->frame + (frames[i].end - frames[i].offset) - U9I_TRAILER_SIZE, &t) && t.count > 0)
            return true;
    return false;
}

/* Adds the next line of a kin, which takes these frames. */
static bool add_line(u9i_carving *c, size_t of, unsigned line, u9i_fragment *frames, size_t count)
{
    u9i_kin *more = u9i_grow(c->kin, c->kin_count, &c->kin_room, sizeof *more);
    if (more == NULL) return false;
    c->kin = more;
    u9i_kin *k = &c->kin[c->kin_count++];
    *k = c->kin[of];
    k->line = line;
    k->rejoined = 0;
    k->frames = frames;
    k->count = k->room = count;
    k->others = 0;
    return true;
}

/* Each copy once, in order. */
static void drop_copies(u9i_kin *k)
{
    size_t kept = 0;
    u9i_carve_sort(k->frames, k->count);
    for (size_t i = 0; i < k->count; i++) {
        const u9i_fragment *last = kept ? &k->frames[kept - 1] : NULL, *f = &k->frames[i];
        if (last == NULL || last->offset != f->offset || memcmp(last->sha, f->sha, sizeof f->sha) != 0) k->frames[kept++] = *f;
    }
    k->count = kept;
}

void u9i_carve_settle(const u9i_carving *c, u9i_kin *k, u9i_fragment *list)
{
    k->count += k->others;
    k->others = 0;
    if (k->count == 0) return; /* a disk header alone */
    drop_copies(k);
    weigh(c, k, k->frames, k->count);
    frame_list every = {k->frames, k->count}, line = {list, 0};
    choose_line(&every, k->frames, k->count, &line);
    size_t n = line.count;
    k->others = drop_line(k->frames, k->count, list, n);
    memmove(k->frames + n, k->frames, k->others * sizeof *list);
    memcpy(k->frames, list, n * sizeof *list);
    k->count = n;
}

/* The other lines of a kin, one after the other, from what the lines before have left. */
static u9_err part_kin(u9i_carving *c, size_t i)
{
    size_t all = c->kin[i].count + c->kin[i].others, left = c->kin[i].others;
    u9i_fragment *every = malloc(all * sizeof *every), *rest = malloc(left * sizeof *rest);
    bool fine = every && rest;
    if (fine) {
        memcpy(every, c->kin[i].frames, all * sizeof *every);
        memcpy(rest, every + c->kin[i].count, left * sizeof *rest);
        u9i_carve_sort(every, all);
    }
    for (unsigned line = 1; fine && left > 0 && line < LINES_MAX;) {
        u9i_fragment *list = malloc(2 * all * sizeof *list);
        fine = list != NULL;
        if (!fine) break;
        weigh(c, &c->kin[i], rest, left);
        size_t lead = lead_to(&rest[0], every, all, list);
        if (lead > 0) list[lead - 1].after = 0; /* of what is left, what follows it counts, and no more */
        for (size_t n = 0; n < left && lead > 0; n++)
            if (is_next_of(&rest[n], &list[lead - 1]) && list[lead - 1].after <= rest[n].behind) list[lead - 1].after = rest[n].behind + 1;
        frame_list others = {every, all}, chosen = {list, lead};
        choose_line(&others, rest, left, &chosen);
        if (chosen.count == lead) list[chosen.count++] = rest[0]; /* what leads to it is not whole */
        size_t own = chosen.count - lead;
        left = drop_line(rest, left, list + lead, own);
        bool kept = has_records(c, list + lead, own);
        if (kept) fine = add_line(c, i, line++, list, lead + own);
        if (!kept || !fine) free(list);
    }
    if (left > 0) c->report->gave_up = 1;
    free(every);
    free(rest);
    return fine ? U9_OK : u9i_carve_no_memory(c);
}

u9_err u9i_carve_part(u9i_carving *c)
{
    u9_err err = U9_OK;
    for (size_t i = 0, count = c->kin_count; i < count && err == U9_OK; i++)
        if (c->kin[i].others > 0 && !c->kin[i].aside) err = part_kin(c, i);
    return err;
}
