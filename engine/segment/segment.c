/*
 * engine/segment/segment.c: see segment.h.
 */
#include "engine/segment/segment.h"

#include "engine/os/process.h"
#include "engine/segment/promised.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of a segment that is not sealed, frames in front of this are remembered: 2 MiB of address space. */
#define GROWS_TO (UINT64_C(1) << 32)

/* What holds of every segment while its lock is held. */
static void segment_check(const u9i_segment *s)
{
    assert((s->file == NULL) == (s->readers == 0));
    assert(s->count <= s->room && s->count <= U9I_EXTENTS_MAX && (s->begun || s->count == 0));
    if (s->count == 0) return;
    const u9i_extent *last = &s->extents[s->count - 1];
    assert(last->kind != U9I_EXTENT_END || s->frontier.ended);
    assert(last->kind != U9I_EXTENT_FRAMES || last->end == s->frontier.pos);
}

static bool ends_by(const u9i_facts *f, u9i_end_kind kind)
{
    return f->has_end && f->end.kind == kind && !f->plain && f->wrong == U9_R_NONE;
}

bool u9i_segment_sealed(const u9i_segment *s)
{
    return ends_by(&s->facts, U9I_END_SEALING);
}

/* True in a forked child: a thread of the parent may hold the locks, forever, with what they guard half done. */
static bool inherits_segment(const u9i_segment *s)
{
    return s->forks != u9i_fork_generation();
}

u9i_segment *u9i_segment_new(u9i_dir *dir, const u9i_facts *facts)
{
    u9i_segment *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    atomic_init(&s->references, 1);
    s->dir = dir;
    s->forks = u9i_fork_generation();
    s->facts = *facts;
    s->seen = facts->stamp;
    u9i_verified_init(&s->verified, facts->plain ? 0 : u9i_segment_sealed(s) || facts->size > GROWS_TO ? facts->size : GROWS_TO);
    for (unsigned i = 0; i < U9I_MAP_USES; i++) atomic_init(&s->maps[i], NULL);
    pthread_mutex_init(&s->judging, NULL);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

u9i_segment *u9i_segment_ref(u9i_segment *s)
{
    atomic_fetch_add(&s->references, 1);
    return s;
}

void u9i_segment_unref(u9i_segment *s)
{
    if (s == NULL || atomic_fetch_sub(&s->references, 1) > 1) return;
    if (!inherits_segment(s)) {
        assert(s->readers == 0);
        pthread_mutex_destroy(&s->judging);
        pthread_mutex_destroy(&s->lock);
    }
    for (unsigned i = 0; i < U9I_MAP_USES; i++) u9i_mapping_free(atomic_load(&s->maps[i]));
    u9i_verified_release(&s->verified);
    u9i_mender_release(&s->mender);
    u9i_outline_unref(s->outline);
    free(s->extents);
    free(s);
}

/* With the lock held: the file reads from now on as if what was mended stood there. */
static int wear_mended(u9i_segment *s)
{
    u9i_file *file = s->mended && s->mender.count > 0 ? u9i_mended_file_new(s->file, &s->mender, &s->facts.secret) : s->file;
    if (file) s->file = file;
    return file ? 0 : -ENOMEM;
}

static int open_its_file(u9i_segment *s)
{
    int err = u9i_file_open(s->dir, s->facts.name, U9I_OPEN_READ, &s->file);
    if (err == 0) err = wear_mended(s);
    if (err == 0 || s->file == NULL) return err;
    u9i_file_close(s->file);
    s->file = NULL;
    return err;
}

int u9i_segment_open(u9i_segment *s, u9i_file **out)
{
    pthread_mutex_lock(&s->lock);
    int err = s->file ? 0 : open_its_file(s);
    if (err == 0) {
        s->readers++;
        *out = s->file;
    }
    segment_check(s);
    pthread_mutex_unlock(&s->lock);
    return err;
}

static void drop_reader(u9i_segment *s)
{
    assert(s->readers > 0);
    if (--s->readers > 0) return;
    u9i_file_close(s->file);
    s->file = NULL;
}

void u9i_segment_close(u9i_segment *s)
{
    if (inherits_segment(s)) { /* the child is one thread */
        drop_reader(s);
        return;
    }
    pthread_mutex_lock(&s->lock);
    drop_reader(s);
    segment_check(s);
    pthread_mutex_unlock(&s->lock);
}

/* Mends what it can, with `judging` held. */
static u9_err mend_whole(u9i_segment *s, u9i_windows *windows, int *sys)
{
    const u9i_facts *f = &s->facts;
    u9i_window *w;
    uint64_t size;
    bool live = f->newest && !f->named && u9i_dir_writer_active(s->dir, f->name);
    *sys = -u9i_file_size(s->file, &size);
    u9_err err = *sys ? U9_IO : u9i_windows_lend(windows, &w);
    if (err != U9_OK) return err;
    u9i_window_turn(w, s->file, &f->secret);
    u9i_window_remember(w, &s->verified, windows->verify == U9_VERIFY_ALWAYS ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST);
    u9i_mender_init(&s->mender, size);
    err = u9i_mend_file(&s->mender, w, f, size, live);
    if (err == U9_IO) *sys = w->sys;
    u9i_windows_return(windows, w);
    pthread_mutex_lock(&s->lock);
    s->mended = err == U9_OK;
    if (s->mended && wear_mended(s) != 0) err = U9_NOMEM;
    if (err != U9_OK) u9i_mender_release(&s->mender);
    s->mended = err == U9_OK;
    pthread_mutex_unlock(&s->lock);
    return err;
}

u9_err u9i_segment_mend(u9i_segment *s, u9i_windows *windows, u9i_file **out, int *sys)
{
    u9_err err = U9_OK;
    if (s->facts.mends_frames && !s->facts.plain) {
        pthread_mutex_lock(&s->judging);
        if (!s->mended) err = mend_whole(s, windows, sys);
        pthread_mutex_unlock(&s->judging);
    }
    if (err == U9_OK) *out = s->file;
    return err;
}

/* With the lock held. */
static void make_mapping(u9i_segment *s, u9i_map_use use)
{
    u9i_file *file = s->file;
    if (atomic_load(&s->map_tried[use])) return;
    if (file != NULL || u9i_file_open(s->dir, s->facts.name, U9I_OPEN_READ, &file) == 0)
        atomic_store(&s->maps[use], u9i_mapping_new(file, s->facts.size, use == U9I_MAP_LOOKUP));
    if (file != s->file) u9i_file_close(file);
    atomic_store(&s->map_tried[use], true);
}

/*
 * What a closed file holds stays, whoever goes on behind it: no block is written twice [S-3]. But where nothing
 * promises its end, it is for lookups alone, which do not come there, until it is settled.
 */
static bool is_mappable(u9i_segment *s, u9i_map_use use)
{
    const u9i_facts *f = &s->facts;
    const u9i_trailer *end = &f->end_frame.trailer;
    bool closed = ends_by(f, U9I_END_CLOSING);
    return u9i_segment_sealed(s) || (closed && (use == U9I_MAP_LOOKUP || f->named || end->durable > end->previous)) ||
           (use == U9I_MAP_SCAN && u9i_segment_is_settled(s));
}

const u9i_mapping *u9i_segment_mapping(u9i_segment *s, u9i_map_use use)
{
    u9i_mapping *m = atomic_load_explicit(&s->maps[use], memory_order_acquire);
    if (s->facts.mends_frames) return NULL; /* what is mended stands in no file */
    if (m == NULL && !atomic_load(&s->map_tried[use]) && is_mappable(s, use) && u9i_guard_ready()) {
        pthread_mutex_lock(&s->lock);
        make_mapping(s, use);
        m = atomic_load(&s->maps[use]);
        segment_check(s);
        pthread_mutex_unlock(&s->lock);
    }
    return m && !u9i_segment_broken(s) ? m : NULL;
}

const uint8_t *u9i_segment_map(u9i_segment *s, uint64_t *size)
{
    const u9i_mapping *m = u9i_segment_mapping(s, U9I_MAP_LOOKUP);
    if (m == NULL) return NULL;
    *size = m->size;
    return m->bytes;
}

bool u9i_segment_broken(const u9i_segment *s)
{
    for (unsigned i = 0; i < U9I_MAP_USES; i++) {
        const u9i_mapping *m = atomic_load_explicit(&s->maps[i], memory_order_acquire);
        if (m && u9i_mapping_broken(m)) return true;
    }
    return false;
}

void u9i_segment_fetch(u9i_segment *s, uint64_t offset, uint64_t size)
{
    const u9i_mapping *m = u9i_segment_mapping(s, U9I_MAP_LOOKUP);
    if (m) u9i_mapping_fetch(m, offset, size);
}

bool u9i_segment_is_verified(const u9i_segment *s, uint64_t offset)
{
    return u9i_verified_has(&s->verified, offset);
}

void u9i_segment_set_verified(u9i_segment *s, uint64_t offset)
{
    u9i_verified_note(&s->verified, offset);
}

void u9i_segment_take_over(u9i_segment *s, u9i_segment *before)
{
    const u9i_facts *f = &s->facts, *g = &before->facts;
    bool same = memcmp(f->secret.bytes, g->secret.bytes, sizeof f->secret.bytes) == 0 &&
                memcmp(f->secret.boundary, g->secret.boundary, sizeof f->secret.boundary) == 0 && f->plain == g->plain &&
                f->mends_frames == g->mends_frames;
    if (!same || f->mends_frames) return;
    u9i_verified_take_over(&s->verified, &before->verified);
    pthread_mutex_lock(&before->lock);
    u9i_outline *outline = u9i_outline_ref(before->outline);
    pthread_mutex_unlock(&before->lock);
    u9i_segment_give_outline(s, outline);
}

void u9i_segment_give_outline(u9i_segment *s, u9i_outline *outline)
{
    pthread_mutex_lock(&s->lock);
    u9i_outline *was = s->outline;
    s->outline = outline;
    pthread_mutex_unlock(&s->lock);
    u9i_outline_unref(was);
}

u9i_outline *u9i_segment_outline(u9i_segment *s)
{
    pthread_mutex_lock(&s->lock);
    u9i_outline *outline = u9i_outline_ref(s->outline);
    pthread_mutex_unlock(&s->lock);
    if (outline == NULL || !s->facts.named || s->facts.at.offset == outline->end) return outline;
    u9i_outline_unref(outline);
    return NULL;
}

static void forget_extents(u9i_segment *s)
{
    s->count = 0;
    s->begun = false;
    s->generation++;
    u9i_verified_clear(&s->verified);
    u9i_outline_unref(s->outline);
    s->outline = NULL;
}

void u9i_segment_forget(u9i_segment *s)
{
    pthread_mutex_lock(&s->lock);
    forget_extents(s);
    segment_check(s);
    pthread_mutex_unlock(&s->lock);
}

void u9i_segment_look(u9i_segment *s)
{
    u9i_stamp now;
    if (!(s->facts.named || u9i_segment_sealed(s)) || u9i_dir_stat(s->dir, s->facts.name, &now) != 0) return;
    pthread_mutex_lock(&s->lock);
    if (memcmp(&now, &s->seen, sizeof now) != 0) forget_extents(s);
    s->seen = now;
    segment_check(s);
    pthread_mutex_unlock(&s->lock);
}

void u9i_segment_note_settled(u9i_segment *s)
{
    pthread_mutex_lock(&s->lock);
    forget_extents(s);
    s->settled = true;
    segment_check(s);
    pthread_mutex_unlock(&s->lock);
}

/* Where a file system has nothing that could be synced, being read-only by nature, it says EINVAL. */
static int synced(int err)
{
    return err == -EINVAL ? 0 : err;
}

bool u9i_segment_is_settled(u9i_segment *s)
{
    pthread_mutex_lock(&s->lock);
    bool settled = s->settled;
    pthread_mutex_unlock(&s->lock);
    return settled;
}

int u9i_segment_settle(u9i_segment *s, u9i_windows *windows)
{
    int err = 0;
    pthread_mutex_lock(&s->judging); /* others wait: what they would read is not settled */
    if (!s->settled) {
        err = synced(u9i_make_sure(&s->facts, s->file, windows));
        if (err == 0) err = synced(u9i_dir_sync(s->dir));
        if (err == 0) u9i_segment_note_settled(s);
    }
    pthread_mutex_unlock(&s->judging);
    return err;
}

unsigned u9i_segment_begin(u9i_segment *s, u9i_windows *windows, uint64_t size, u9i_judge *out)
{
    u9i_judge_init(out, &s->facts, s->dir, windows, size, NULL, false);
    pthread_mutex_lock(&s->lock);
    if (s->begun && size < s->frontier.size) forget_extents(s);
    if (!s->begun) s->frontier = *out;
    s->begun = true;
    if (size > s->frontier.size && !s->facts.named) s->frontier.promise_final = false; /* more may promise */
    s->frontier.size = size;
    if (!s->facts.named) s->frontier.bound = size;
    unsigned generation = s->generation;
    segment_check(s);
    pthread_mutex_unlock(&s->lock);
    return generation;
}

u9i_known u9i_segment_recall(u9i_segment *s, unsigned generation, size_t index, uint64_t pos,
                             u9i_extent *out, u9i_judge *frontier)
{
    u9i_known known = U9I_KNOWN_EXTENT;
    pthread_mutex_lock(&s->lock);
    if (s->generation != generation) {
        known = U9I_KNOWN_STALE;
    } else {
        bool last = index + 1 >= s->count;
        if (index < s->count) *out = s->extents[index];
        if (index >= s->count) known = U9I_KNOWN_FRONTIER;
        else if (last && out->kind == U9I_EXTENT_FRAMES)
            known = pos < out->end ? U9I_KNOWN_GROWING : U9I_KNOWN_FRONTIER;
        if (last) *frontier = s->frontier;
    }
    pthread_mutex_unlock(&s->lock);
    return known;
}

/* Room for the extents of one more round. */
static bool make_extents(u9i_segment *s)
{
    if (s->count + U9I_SITES_MAX + 1 > U9I_EXTENTS_MAX) return false;
    if (s->count + U9I_SITES_MAX + 1 <= s->room) return true;
    size_t room = s->room ? 2 * s->room : U9I_SITES_MAX + 1;
    u9i_extent *more = realloc(s->extents, room * sizeof *more);
    if (more == NULL) return false;
    s->extents = more;
    s->room = room;
    return true;
}

/* A frame that goes on where the last run of frames ends belongs to it. */
static void add_frame(u9i_segment *s, const u9i_frame *f)
{
    u9i_extent *last = s->count ? &s->extents[s->count - 1] : NULL;
    if (last && last->kind == U9I_EXTENT_FRAMES) last->end = f->end;
    else s->extents[s->count++] = (u9i_extent){U9I_EXTENT_FRAMES, f->offset, f->end, {0}};
}

/*
 * True if nobody can find otherwise later: the end is named, or the round found a frame, and in front of it
 * at most damage that was promised. What cannot be read now may be read later.
 */
static bool is_final(const u9i_segment *s, const u9i_judge *judge, const u9i_round *round)
{
    if (judge->unread != U9_NOWHERE) return false;
    if (s->facts.named) return round->then != U9I_STEP_DAMAGE;
    bool final = round->then == U9I_STEP_FRAME;
    for (unsigned i = 0; i < round->count; i++) final &= round->sites[i].verdict == U9_V_CORRUPT;
    return final;
}

bool u9i_segment_remember(u9i_segment *s, unsigned generation, const u9i_judge *judge,
                          const u9i_round *round, size_t *index)
{
    pthread_mutex_lock(&s->lock);
    bool keep = s->generation == generation && is_final(s, judge, round) && make_extents(s);
    if (keep) {
        for (unsigned i = 0; i < round->count; i++)
            s->extents[s->count++] = (u9i_extent){U9I_EXTENT_DAMAGE, round->sites[i].begin,
                                                  round->sites[i].end, round->sites[i]};
        if (round->then == U9I_STEP_FRAME) add_frame(s, &round->frame);
        else s->extents[s->count++] = (u9i_extent){U9I_EXTENT_END, judge->pos, judge->pos, {0}};
        s->frontier = *judge;
        *index = s->count - 1;
    }
    segment_check(s);
    pthread_mutex_unlock(&s->lock);
    return keep;
}
