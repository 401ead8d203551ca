/*
 * engine/segment/mend.c: see mend.h. [Y-1] to [Y-7]
 */
#include "engine/segment/mend.h"

#include "format/base/bytes.h"
#include "format/frame/disk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOKS = 4,
    GUESSES = 2,
    GUESSES_MORE = 1 << 26, /* [Y-5] */
    NEAR = 1 << 18,
    FARTHER = 16,
    MENDED_FIRST = 16
};

/* A gap on its way: what is known moves on from both sides. */
typedef struct gap_walk {
    u9i_mender *m;
    u9i_window *w;
    uint64_t pos;   /* where the next frame is expected */
    uint64_t end;   /* behind the last byte that may be one's */
    u9i_hint front; /* what stands before pos */
    size_t
        unclosed; /* the first of the frames that are there only if what stands behind them fits; SIZE_MAX: none */
    bool linked; /* they go on up to what stands behind the gap */
    size_t first; /* of the frames found in this gap */
} gap_walk;

void u9i_mender_init(u9i_mender *m, uint64_t file_size)
{
    *m = (u9i_mender){.effort = {LOOKS * file_size, GUESSES * file_size + GUESSES_MORE}};
}

void u9i_mender_release(u9i_mender *m)
{
    free(m->frames);
    m->frames = NULL;
    m->count = m->room = 0;
}

static void mender_check(const u9i_mender *m, const u9i_gap *gap, size_t first)
{
    assert(m->count <= m->room && m->count <= U9I_MENDED_MAX && first <= m->count);
    for (size_t i = first; i < m->count; i++) {
        const u9i_frame *f = &m->frames[i].frame;
        assert(f->offset >= (i > first ? m->frames[i - 1].frame.end : gap->begin) &&
               f->end <= gap->end);
    }
}

/* U9_CORRUPT: there is no room for more. */
static u9_err add_mended(u9i_mender *m, const u9i_rejoined *f)
{
    if (m->count == U9I_MENDED_MAX) {
        m->gave_up = true;
        return U9_CORRUPT;
    }
    if (m->count == m->room) {
        size_t room = m->room ? 2 * m->room : MENDED_FIRST;
        u9i_rejoined *more = realloc(m->frames, room * sizeof *more);
        if (more == NULL) return U9_NOMEM;
        m->frames = more;
        m->room = room;
    }
    m->frames[m->count++] = *f;
    return U9_OK;
}

/* The frame at hint->p among the bytes up to `end`, or, `partial`, if all of it is. */
static u9_err rejoin_within(u9i_mender *m, u9i_window *w, const u9i_hint *hint, uint64_t end,
                            bool partial, u9i_rejoined *out)
{
    const uint8_t *bytes;
    size_t avail;
    uint64_t wall = end, p = hint->p;
    u9_err err = u9i_window_boundary(w, p + U9I_FRAME_HEADER_SIZE, end, &wall);
    if (err != U9_OK) return err;
    uint64_t need =
        (end - wall < U9I_ALIGN ? end : wall + U9I_ALIGN) - p; /* the boundary is to be seen */
    err = u9i_window_bytes(w, p, (size_t)need, &bytes, &avail);
    if (err != U9_OK) return err;
    if (avail > need) avail = (size_t)need;
    return u9i_rejoin(hint, bytes, avail, partial && wall == end, &m->effort, out);
}

/*
 * The frame at hint->p, which ends at or before `end`. Most are small: what stands far behind is looked at only for one
 * that is not, so that a row of them costs what it is long. U9_CORRUPT: none is proven there.
 */
static u9_err rejoin_at(u9i_mender *m, u9i_window *w, const u9i_hint *hint, uint64_t end,
                        u9i_rejoined *out)
{
    u9i_frame unused;
    uint64_t p = hint->p, most = end - p < U9I_FRAME_MAX ? end - p : U9I_FRAME_MAX;
    u9_err err = U9_CORRUPT;
    if (end < p + U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE) return U9_CORRUPT;
    for (uint64_t span = NEAR; err == U9_CORRUPT; span *= FARTHER) {
        err = rejoin_within(m, w, hint, p + (span < most ? span : most), span < most, out);
        if (span >= most) break;
    }
    m->gave_up |= err == U9_LIMIT;
    if (err != U9_OK) return err == U9_LIMIT ? U9_CORRUPT : err;
    err = u9i_window_at(w, p, end, &unused);
    out->why = w->why;
    return err == U9_CORRUPT ? U9_OK : err == U9_OK ? U9_CORRUPT : err;
}

/* Where the frame behind pos begins: there, or, over nothing but zeros, at the next block. [F-8] */
static u9_err next_start(gap_walk *k, uint64_t *p)
{
    u9i_zeros z;
    uint64_t block = (k->pos + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    *p = k->pos;
    if (block == k->pos || block > k->end) return U9_OK;
    u9_err err = u9i_window_zeros(k->w, k->pos, block, &z);
    if (err == U9_OK && z.last == k->pos) *p = block;
    return err;
}

/* Moves behind a frame that is proven. */
static void pass(gap_walk *k, const u9i_frame *f)
{
    k->front.has_front = k->front.has_ordinal = k->front.has_chain = true;
    k->front.previous = f->offset;
    k->front.ordinal = f->trailer.ordinal + f->trailer.count;
    memcpy(k->front.chain, f->sha, sizeof k->front.chain);
    k->front.front_end = k->pos = f->end;
    k->front.time_us = f->trailer.time_us;
    k->front.durable = f->trailer.durable;
}

/* What is known of a frame at p, behind which this gap ends if it is the one in front of that. */
static u9i_hint hint_at(const gap_walk *k, const u9i_gap *gap, uint64_t p)
{
    u9i_hint h = k->front;
    h.p = p;
    h.placed = h.has_front;
    h.has_next = gap->hint.has_next && (!gap->has_previous || gap->previous == p);
    h.far = !gap->has_previous;
    h.next_at = gap->end;
    return h;
}

/* Where a frame of the front row may end, and none may begin behind: what is in front of the next valid one is one frame. */
static uint64_t front_limit(const gap_walk *k, const u9i_gap *gap)
{
    return gap->has_previous && gap->previous < k->end ? gap->previous : k->end;
}

static void drop_frames(u9i_mender *m, size_t from, size_t to)
{
    memmove(m->frames + from, m->frames + to, (m->count - to) * sizeof *m->frames);
    m->count -= to - from;
}

/* A frame comes that is no record's bytes: so is what it says that it comes behind, up to `last`, and nothing else that was in doubt. */
static void settle_doubt(gap_walk *k, size_t last, bool follows)
{
    if (k->unclosed != SIZE_MAX && !follows) drop_frames(k->m, k->unclosed, last);
    k->unclosed = SIZE_MAX;
}

/*
 * Takes a frame that was found at p into the row. One that is found over zeros, and without its boundary, may be a
 * record's bytes, of whose own frame all around was wiped out. So it counts only if one that cannot be such bytes says
 * by its chain that it comes behind it. [Y-2]
 */
static u9_err take_rejoined(gap_walk *k, const u9i_gap *gap, uint64_t p, const u9i_rejoined *f)
{
    k->linked = f->proof == U9I_MEND_LINK;
    if (f->bounded || k->linked) settle_doubt(k, k->m->count, f->follows);
    else if (!gap->idle && p != k->pos && k->unclosed == SIZE_MAX) k->unclosed = k->m->count;
    u9_err err = add_mended(k->m, f);
    if (err == U9_OK) pass(k, &f->frame);
    return err;
}

/* The next frame of the row: where the one before it ends. U9_CORRUPT: none is proven there. [Y-2] */
static u9_err walk_on(gap_walk *k, const u9i_gap *gap)
{
    uint64_t p, limit = front_limit(k, gap);
    u9i_rejoined f;
    u9_err err = next_start(k, &p);
    if (err != U9_OK) return err;
    if (gap->has_previous && p > gap->previous) return U9_CORRUPT;
    u9i_hint hint = hint_at(k, gap, p);
    err = rejoin_at(k->m, k->w, &hint, k->end, &f);
    if (err != U9_OK || (p < limit && f.frame.end > limit)) return err == U9_OK ? U9_CORRUPT : err;
    return take_rejoined(k, gap, p, &f);
}

/* Behind a hole: the next boundary, in front of `limit`, behind which a frame proves itself. U9_CORRUPT: there is none. [Y-7] */
static u9_err find_lone(gap_walk *k, const u9i_gap *gap, uint64_t limit, u9i_rejoined *out)
{
    u9i_hint hint = {.secret = gap->hint.secret, .lone = true, .next_at = U9_NOWHERE,
                     .next_time_us = U9_NOWHERE, .next_durable = U9_NOWHERE};
    u9_err err = U9_CORRUPT;
    for (uint64_t at = k->pos; err == U9_CORRUPT && at + U9I_ALIGN < limit;) {
        err = u9i_window_boundary(k->w, at + U9I_ALIGN, limit, &at);
        if (err == U9_OK && at >= limit) return U9_CORRUPT;
        hint.p = at;
        if (err == U9_OK) err = rejoin_at(k->m, k->w, &hint, limit, out);
    }
    return err;
}

/* The last frame in front of a named end, by the trailer that stands right before that. */
static u9_err find_last(gap_walk *k, u9i_hint *hint, u9i_rejoined *out)
{
    uint8_t near[U9I_TRAILER_SIZE + U9I_ALIGN];
    const uint8_t *bytes;
    size_t avail;
    u9i_trailer t;
    if (k->end < k->pos + U9I_FRAME_HEADER_SIZE + sizeof near) return U9_CORRUPT;
    u9_err err = u9i_window_bytes(k->w, k->end - sizeof near, sizeof near, &bytes, &avail);
    if (err != U9_OK || avail < sizeof near) return err == U9_OK ? U9_CORRUPT : err;
    memcpy(near, bytes, sizeof near);
    size_t at = u9i_trailer_before(near, sizeof near);
    if (at > U9I_ALIGN || !u9i_trailer_decode(near + at, &t) || t.offset < k->pos ||
        t.offset >= k->end)
        return U9_CORRUPT;
    hint->p = t.offset;
    return rejoin_at(k->m, k->w, hint, k->end, out);
}

/* The frames from `first` on come in the other order. */
static void reverse_frames(u9i_mender *m, size_t first)
{
    for (size_t i = first, last = m->count; i + 1 < last; i++) {
        u9i_rejoined f = m->frames[i];
        m->frames[i] = m->frames[--last];
        m->frames[last] = f;
    }
}

/* From behind, each frame by the chain of the one that comes next. [Y-3] */
static u9_err walk_back(gap_walk *k, const u9i_gap *gap)
{
    size_t first = k->m->count;
    uint64_t end = gap->end, p = gap->previous, place;
    u9i_hint next = gap->hint;
    u9_err err = next_start(k, &place);
    bool known = gap->has_previous;
    while (err == U9_OK && (!known || p >= k->pos)) {
        u9i_rejoined f;
        bool meets = known && p == place;
        if (meets && k->m->count == first && end == k->end) break; /* that was tried from the front */
        /* Not `placed`: what stands in a header was tried from the front, and does not count where that was dropped. */
        u9i_hint h = meets ? k->front : (u9i_hint){.secret = gap->hint.secret, .time_us = 0};
        h.has_next = true;
        h.next_at = end;
        h.next_ordinal = next.next_ordinal;
        memcpy(h.next_chain, next.next_chain, sizeof h.next_chain);
        h.next_time_us = next.next_time_us;
        h.next_durable = next.next_durable;
        h.p = p;
        err = known ? rejoin_at(k->m, k->w, &h, end, &f) : find_last(k, &h, &f);
        if (err == U9_OK) err = add_mended(k->m, &f);
        if (err != U9_OK) break;
        const u9i_trailer *t = &f.frame.trailer;
        next.next_ordinal = t->ordinal;
        memcpy(next.next_chain, t->chain, sizeof next.next_chain);
        next.next_time_us = t->time_us;
        next.next_durable = t->durable;
        end = f.frame.offset;
        p = t->previous;
        known = true;
        if (p >= end) break;
    }
    reverse_frames(k->m, first);
    return err == U9_CORRUPT ? U9_OK : err;
}

/* What comes next is a valid frame, */
static void stop_at_frame(u9i_gap *g, const u9i_frame *y)
{
    g->end = y->offset;
    g->has_previous = g->hint.has_next = true;
    g->previous = y->trailer.previous;
    g->hint.next_ordinal = y->trailer.ordinal;
    g->hint.next_time_us = y->trailer.time_us;
    g->hint.next_durable = y->trailer.durable;
    memcpy(g->hint.next_chain, y->trailer.chain, sizeof g->hint.next_chain);
}

/* Over a hole to a frame that proves itself, with what can be proven by it of what is in front. U9_CORRUPT: there is none. */
static u9_err hop_on(gap_walk *k, const u9i_gap *gap)
{
    u9i_rejoined f;
    u9i_gap before = *gap;
    size_t last = k->m->count;
    u9_err err = find_lone(k, gap, front_limit(k, gap), &f);
    if (err != U9_OK) return err;
    stop_at_frame(&before, &f.frame);
    err = walk_back(k, &before);
    if (err == U9_OK) err = add_mended(k->m, &f);
    if (err != U9_OK) return err;
    settle_doubt(k, last, last > k->first && u9i_frame_follows(&k->m->frames[last - 1].frame, &k->m->frames[last].frame));
    pass(k, &f.frame);
    return U9_OK;
}

/* From the front, each frame where the one before it ends, and over holes. */
static u9_err walk_forward(gap_walk *k, const u9i_gap *gap)
{
    u9_err err = U9_OK;
    while (err == U9_OK && !k->linked && k->pos < k->end) {
        err = walk_on(k, gap);
        if (err == U9_CORRUPT) err = hop_on(k, gap);
    }
    return err == U9_CORRUPT ? U9_OK : err;
}

u9_err u9i_mend_gap(u9i_mender *m, u9i_window *w, const u9i_gap *gap)
{
    gap_walk k = {.m = m,
                  .w = w,
                  .pos = gap->begin,
                  .end = gap->end,
                  .front = gap->hint,
                  .unclosed = SIZE_MAX,
                  .first = m->count};
    size_t first = m->count;
    assert(gap->begin <= gap->end && (gap->hint.has_next || !gap->has_previous));
    u9_err err = walk_forward(&k, gap);
    size_t turn = m->count;
    if (err == U9_OK && !k.linked && gap->hint.has_next) err = walk_back(&k, gap);
    bool meet = turn > first && turn < m->count &&
                u9i_frame_follows(&m->frames[turn - 1].frame, &m->frames[turn].frame);
    if (err == U9_OK && !meet && k.unclosed != SIZE_MAX) drop_frames(m, k.unclosed, turn);
    if (err != U9_OK) m->count = first;
    mender_check(m, gap, first);
    return err;
}

const u9i_rejoined *u9i_mended_from(const u9i_mender *m, uint64_t p)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->frames[middle].frame.end <= p) low = middle + 1;
        else high = middle;
    }
    return low < m->count ? &m->frames[low] : NULL;
}

/* A file on its way. */
typedef struct file_walk {
    u9i_mender *m;
    u9i_window *w;
    const u9i_facts *facts;
    uint64_t size;
    bool live;
    uint64_t promise; /* P, of what was passed */
    u9i_gap gap;      /* what is known in front of gap.begin */
} file_walk;

static void pass_in_file(file_walk *fw, const u9i_frame *f)
{
    gap_walk k = {.front = fw->gap.hint};
    pass(&k, f);
    fw->gap.hint = k.front;
    fw->gap.begin = f->end;
    if (f->trailer.durable > fw->promise) fw->promise = f->trailer.durable;
}

/* What comes next is an end that is named, or the mark's, or that of the file. [M-4] */
static void stop_at_end(const file_walk *fw, u9i_gap *g)
{
    const u9i_facts *f = fw->facts;
    const u9i_position *at = f->named ? &f->at : f->marked ? &f->mark : NULL;
    g->end = fw->size;
    if (at == NULL || at->offset <= g->begin || at->offset > fw->size) return;
    g->end = at->offset;
    g->hint.has_next = true;
    g->hint.next_ordinal = at->ordinal;
    memcpy(g->hint.next_chain, at->chain, sizeof g->hint.next_chain);
}

/* Puts together what is in front of y, or, NULL, of an end; and passes it. */
static u9_err mend_before(file_walk *fw, const u9i_frame *y)
{
    u9i_gap g = fw->gap;
    if (y) stop_at_frame(&g, y);
    else stop_at_end(fw, &g);
    g.idle = fw->facts->named && g.begin >= fw->facts->at.offset;
    size_t first = fw->m->count;
    if (g.begin >= g.end || (fw->live && g.begin >= fw->promise)) return U9_OK;
    u9_err err = u9i_mend_gap(fw->m, fw->w, &g);
    if (err != U9_OK || fw->m->count == first) return err;
    const u9i_frame *last = &fw->m->frames[fw->m->count - 1].frame;
    if (y == NULL && last->end == g.end && g.end < fw->size) {
        pass_in_file(fw, last);
        return mend_before(fw, NULL); /* behind the end that is named, which is passed: once */
    }
    return U9_OK;
}

static void begin_file(file_walk *fw)
{
    const u9i_facts *f = fw->facts;
    u9i_hint *h = &fw->gap.hint;
    fw->gap.begin = U9I_DISK_HEADER_SIZE;
    *h = (u9i_hint){.secret = &f->secret,
                    .has_front = true,
                    .next_time_us = U9_NOWHERE,
                    .next_durable = U9_NOWHERE};
    h->has_ordinal = h->has_chain = f->has_open;
    h->ordinal = f->open.end.ordinal;
    h->time_us = f->has_open ? f->open.time_us : 0;
    memcpy(h->chain, f->open.end.chain, sizeof h->chain);
    fw->promise = f->named ? f->at.offset : f->marked ? f->mark.offset : 0;
    if (f->has_end && f->end_frame.trailer.durable > fw->promise)
        fw->promise = f->end_frame.trailer.durable;
}

u9_err u9i_mend_start(u9i_mender *m, u9i_window *w, const u9i_facts *facts, uint64_t size)
{
    file_walk fw = {.m = m, .w = w, .facts = facts, .size = size};
    u9i_frame y;
    begin_file(&fw);
    fw.gap.hint.secret = &w->secret;
    u9_err err = u9i_window_find(w, U9I_DISK_HEADER_SIZE, size, &y);
    y.body = NULL;
    m->framed = err == U9_OK;
    return err == U9_OK ? mend_before(&fw, &y) : err == U9_END ? mend_before(&fw, NULL) : err;
}

u9_err u9i_mend_file(u9i_mender *m, u9i_window *w, const u9i_facts *facts, uint64_t size, bool live)
{
    file_walk fw = {.m = m, .w = w, .facts = facts, .size = size, .live = live};
    u9i_frame y;
    u9_err err;
    bool vain = u9i_facts_vain(facts, &w->secret);
    begin_file(&fw);
    for (; (err = u9i_window_find(w, fw.gap.begin, size, &y)) == U9_OK; vain = false) {
        y.body = NULL; /* the window moves on */
        uint64_t begin = fw.gap.begin, block = (begin + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
        bool next =
            y.trailer.previous == fw.gap.hint.previous && (y.offset == begin || y.offset == block);
        if (y.trailer.durable > fw.promise) fw.promise = y.trailer.durable;
        if (!next && y.offset > begin && !vain) err = mend_before(&fw, &y);
        if (err != U9_OK) return err;
        pass_in_file(&fw, &y);
    }
    if (err == U9_END) err = vain ? U9_OK : mend_before(&fw, NULL);
    return err;
}

/* As much of `size` bytes that stand at `from` as is in [at, at + space), to where it is there. */
static void lay_over(uint64_t at, uint8_t *bytes, size_t space, uint64_t from, const uint8_t *want,
                     size_t size)
{
    uint64_t begin = from > at ? from : at,
             end = from + size < at + space ? from + size : at + space;
    if (begin < end) memcpy(bytes + (begin - at), want + (begin - from), (size_t)(end - begin));
}

/* What stands around the frame's body. */
typedef struct shell {
    uint8_t header[U9I_FRAME_HEADER_SIZE], trailer[U9I_TRAILER_SIZE], padding[U9I_ALIGN];
    uint64_t trailer_at, padding_at; /* offsets */
    size_t padding_size;
} shell;

static void make_shell(const u9i_frame *f, const u9i_secret *secret, shell *s)
{
    *s = (shell){.trailer_at = f->offset + U9I_FRAME_HEADER_SIZE + f->body_size};
    s->padding_at = s->trailer_at + U9I_TRAILER_SIZE;
    s->padding_size = (size_t)(f->end - s->padding_at);
    memcpy(s->header, secret->boundary, U9I_HASH_SIZE);
    memcpy(s->header + 16, f->sha, sizeof f->sha);
    u9i_sign(f->sha, secret->bytes, s->header + 32);
    memcpy(s->header + 48, u9i_frame_magic, sizeof u9i_frame_magic);
    u9i_set_be(s->header + 56, 8, f->body_size + U9I_TRAILER_SIZE);
    u9i_trailer_encode(&f->trailer, s->trailer);
}

void u9i_mend_bytes(const u9i_mender *m, const u9i_secret *secret, uint64_t at, uint8_t *bytes,
                    size_t size)
{
    const u9i_rejoined *r = u9i_mended_from(m, at);
    for (; r && r < m->frames + m->count && r->frame.offset < at + size; r++) {
        shell s;
        make_shell(&r->frame, secret, &s);
        lay_over(at, bytes, size, r->frame.offset, s.header, sizeof s.header);
        lay_over(at, bytes, size, s.trailer_at, s.trailer, sizeof s.trailer);
        lay_over(at, bytes, size, s.padding_at, s.padding, s.padding_size);
    }
}

/* Adds a patch if something else stands there. */
static void add_patch(u9i_mend_patch *patches, unsigned *count, uint64_t offset,
                      const uint8_t *there, const uint8_t *want, size_t size)
{
    if (memcmp(there, want, size) == 0) return;
    patches[*count] = (u9i_mend_patch){.offset = offset, .size = size};
    memcpy(patches[(*count)++].bytes, want, size);
}

u9_err u9i_mend_patches(const u9i_frame *f, u9i_window *w, u9i_mend_patch patches[U9I_PATCHES_MAX],
                        unsigned *count)
{
    const uint8_t *bytes;
    size_t avail, total = (size_t)(f->end - f->offset);
    shell s;
    if (w->secret.lost) return U9_STATE;
    u9_err err = u9i_window_bytes(w, f->offset, total, &bytes, &avail);
    if (err != U9_OK) return err;
    if (avail < total) return U9_CORRUPT;
    make_shell(f, &w->secret, &s);
    *count = 0;
    add_patch(patches, count, f->offset, bytes, s.header, sizeof s.header);
    add_patch(patches, count, s.trailer_at, bytes + (s.trailer_at - f->offset), s.trailer,
              sizeof s.trailer);
    add_patch(patches, count, s.padding_at, bytes + (s.padding_at - f->offset), s.padding,
              s.padding_size);
    return U9_OK;
}
