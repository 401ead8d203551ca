/*
 * engine/read/beside_make.c: making the index beside a segment: its records are read as a reader serves them, their keys
 * sorted in as much memory as is allowed, and written. [K-2] [K-4]
 */
#include "engine/os/process.h"
#include "engine/read/beside.h"
#include "engine/read/cursor.h"

#include "engine/read/reader.h"

#include <errno.h>
#include <string.h>

enum {
    STRAYS = 64,         /* keys out of order that are always borne with, */
    STRAYS_PART = 8,     /*   and one record in so many */
    FRAMES_PART = 8,     /* one part in so many of the memory is for frames, */
    FILTER_PART = 2,     /*   and this for the filter, once keys are merged from the file */
    MEMORY_MIN = 64 << 10
};

/* Keys as they come, by the rules of engine/index/keys.h, as many as there are. */
typedef struct gathering {
    u9i_queue *queue; /* of what does not fit the memory */
    u9i_runs frames, records;
    u9i_keyspec spec;
    u9i_key_entry top;   /* the greatest key in order */
    uint64_t in_frame;   /* the frame whose first key in order was taken, as a virtual offset */
    uint64_t count;
    bool disordered, unfit; /* unfit: a key is none of the spec */
} gathering;

static void gather_key(gathering *g, const u9i_record *r, uint64_t at)
{
    u9i_key_entry e;
    if (!u9i_keyspec_entry(&g->spec, r->key, r->key_size, &e)) {
        g->unfit = true;
        return;
    }
    e.at = at;
    g->count++;
    if (g->spec.hashed || g->disordered || u9i_key_below(&e, &g->top)) {
        u9i_runs_add(&g->records, &e);
        if (g->records.total > STRAYS && g->records.total > g->count / STRAYS_PART) g->disordered = true;
        return;
    }
    g->top = e;
    if (g->frames.total > 0 && g->in_frame == at >> U9I_VIRTUAL_SHIFT) return;
    g->in_frame = at >> U9I_VIRTUAL_SHIFT;
    u9i_runs_add(&g->frames, &e);
}

/* The records of the reader's frame. */
static void gather_frame(gathering *g, const u9i_reader *r)
{
    uint64_t base = r->frame->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    const uint8_t *next = r->body.bytes;
    size_t left = r->body.size;
    u9i_record record;
    if (r->large > 0) {
        gather_key(g, &r->first, base);
        return;
    }
    while (u9i_body_next(&r->body, &next, &left, &record) == U9_OK)
        gather_key(g, &record, base + (uint64_t)(record.bytes - r->body.bytes));
}

static int begin_gathering(gathering *g, const u9i_beside *b, const u9i_index_making *m, const char *name)
{
    size_t memory = b->memory < MEMORY_MIN ? MEMORY_MIN : b->memory, frames = memory / FRAMES_PART;
    if (frames < U9I_RUNS_MEMORY) frames = U9I_RUNS_MEMORY;
    if (memory < frames + U9I_RUNS_MEMORY) memory = frames + U9I_RUNS_MEMORY;
    memset(g, 0, sizeof *g);
    g->spec = m->spec;
    int sys = u9i_queue_open(m->dir->env, NULL, 0, 0, &g->queue);
    if (sys != 0) return sys;
    g->frames = (u9i_runs){.dir = m->dir, .name = name, .queue = g->queue, .memory = frames};
    g->records = (u9i_runs){.dir = m->dir, .name = name, .queue = g->queue, .memory = memory - frames};
    sys = u9i_runs_open(&g->frames);
    return sys == 0 ? u9i_runs_open(&g->records) : sys;
}

static void end_gathering(gathering *g)
{
    if (g->queue) u9i_queue_close(g->queue); /* first: what it writes is theirs until then */
    u9i_runs_close(&g->frames);
    u9i_runs_close(&g->records);
}

/* Where the segment's data end, as it was just read. */
typedef struct ending {
    u9i_position at;
    uint64_t last;
} ending;

/* A loss is noted by the bytes that it stands in. One that is elsewhere, or of bytes that could not be read, cannot be. */
static void note_lost_bytes(u9i_beside *b, const u9i_reader *r)
{
    bool alone = u9i_beside_run(r->catalog, b->at) == b->at; /* else what is read depends on other files' bytes, too */
    if (!alone || r->index != b->at || r->damage.reason == U9_R_UNREADABLE ||
        !u9i_losses_add(&b->lost, r->damage.begin, r->damage.end))
        b->lossy = true;
}

/*
 * Where nobody names the end, the index's is that of the last frame, which can be found to stand there. If data end behind it,
 * as the mark says, and records are lost by that, none is made: nothing would tell that their loss was given up.
 */
static void note_data_end(u9i_beside *b, const u9i_judge *j, ending *end)
{
    *end = (ending){.at = j->end, .last = j->last};
    if (u9i_judge_bounded(j) || j->end.offset == j->pos) return;
    end->at.offset = j->pos;
    end->at.ordinal = j->ordinal;
    memcpy(end->at.chain, j->chain, sizeof end->at.chain);
    if (j->end.ordinal != j->ordinal) b->lossy = true;
}

static u9_err walk_all(u9i_beside *b, u9i_reader *r, gathering *g, ending *end, u9_fault *fault)
{
    u9i_step step = U9I_STEP_FRAME;
    while (step != U9I_STEP_END && !g->unfit && !b->lossy) {
        u9_err err = u9i_reader_step(r, &step, fault);
        if (err == U9_VERSION) {
            b->lossy = true;
            return U9_OK;
        }
        if (err != U9_OK) return err;
        if (u9i_reader_loses(r, step)) note_lost_bytes(b, r);
        if (step == U9I_STEP_FRAME && r->index == b->at && r->count > 0) gather_frame(g, r);
        if (step == U9I_STEP_LEAVE && r->index == b->at) note_data_end(b, &r->iterator.judge, end);
        if (b->each(b->ctx, u9i_reader_passed(r)) == 0)
            return u9i_fault(fault, U9_STATE, U9I_AT(.path = b->log->source.path), "stopped as asked");
    }
    return U9_OK;
}

static bool is_still_same_file(const u9i_segment *s)
{
    u9i_stamp now;
    return u9i_dir_stat(s->dir, s->facts.name, &now) == 0 && memcmp(&now, &s->facts.stamp, sizeof now) == 0;
}

/* What stands where records were lost: it is to be what was just read there. False: it is not, or cannot be read. */
static bool hash_losses(u9i_beside *b, uint8_t content[U9I_HASH_SIZE])
{
    u9i_segment *s = b->catalog->segments[b->at];
    return b->lost.count == 0 || (u9i_losses_hash(&b->lost, s, content) == U9_OK && is_still_same_file(s));
}

static u9_err gather_segment(u9i_beside *b, gathering *g, ending *end, u9_fault *fault)
{
    u9i_reader r;
    u9_err err = u9i_reader_open(&r, &b->log->source, fault);
    if (err != U9_OK) return err;
    bool same = b->at < r.catalog->count && r.catalog->segments[b->at] == b->catalog->segments[b->at];
    r.leaves = true;
    if (same) {
        u9i_reader_segments(&r, u9i_beside_run(r.catalog, b->at), b->at);
        r.missing = r.missing_end; /* what is missing in front is no loss of this one */
        err = walk_all(b, &r, g, end, fault);
    }
    u9i_reader_release(&r);
    if (err == U9_OK && !same) b->lossy = false, err = U9_ABSENT; /* it is not what it was: a writer is at it */
    return err;
}

static u9_err fail_making(const u9i_beside *b, int sys, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(b->catalog, b->at);
    const u9i_where *at = U9I_AT(.path = b->log->source.path, .segment = f->number, .sys = -sys, .rule = "K-4");
    if (sys == -EWOULDBLOCK) return u9i_fault(fault, U9_LOCKED, at, "somebody else is making an index of segment %s", f->name);
    if (sys == -ENOMEM) return u9i_fault(fault, U9_NOMEM, at, "out of memory");
    if (sys == -EACCES || sys == -EROFS || sys == -EPERM)
        return u9i_fault(fault, U9_IO, at,
                         "cannot make an index beside segment %s; nothing is lost: lookups make one in memory", f->name);
    return u9i_fault(fault, U9_IO, at, "cannot make an index beside segment %s", f->name);
}

static u9_err write_keys(u9i_beside *b, u9i_index_making *m, gathering *g, const ending *end, u9_fault *fault)
{
    int sys = u9i_runs_sort(&g->frames);
    uint64_t room = g->records.memory / FILTER_PART;
    if (sys == 0) sys = u9i_runs_sort(&g->records);
    b->records = g->count;
    if (sys == 0)
        sys = u9i_index_making_end(m, &g->frames, &g->records, &end->at, end->last, g->count, &g->top, room);
    return sys == 0 ? U9_OK : fail_making(b, sys, fault);
}

/* With keys of this spec. U9_CORRUPT: they are not. */
static u9_err make_of(u9i_beside *b, u9i_index_making *m, u9_fault *fault)
{
    gathering g;
    ending end = {.last = 0};
    char name[sizeof m->partial + 8];
    size_t n = strlen(m->partial);
    memcpy(name, m->partial, n);
    memcpy(name + n, ".runs", 6);
    int sys = begin_gathering(&g, b, m, name);
    u9_err err = sys == 0 ? U9_OK : fail_making(b, sys, fault);
    u9i_losses_free(&b->lost);
    if (err == U9_OK) err = gather_segment(b, &g, &end, fault);
    if (err == U9_OK && !hash_losses(b, m->content)) b->lossy = true;
    m->lost = &b->lost;
    if (err == U9_OK && g.unfit) err = U9_CORRUPT;
    if (err == U9_OK && g.count == 0 && b->lost.count > 0) b->lossy = true; /* there is no root that would say so */
    if (err == U9_OK && (b->lossy || g.count == 0)) err = U9_ABSENT;
    if (err == U9_OK) err = write_keys(b, m, &g, &end, fault);
    end_gathering(&g);
    return err;
}

u9_err u9i_beside_make(u9i_beside *b, u9_fault *fault)
{
    u9i_segment *s = b->catalog->segments[b->at];
    const u9_log *log = b->log;
    u9i_queue *queue;
    u9i_index_making m = {.of = s, .dir = log->source.dir};
    uint64_t seed = u9i_get_be(s->facts.secret.boundary, 8); /* nobody who draws keys can foresee it */
    b->lossy = false;
    m.spec = u9i_keyspec_of(u9i_kind_in(log, b->catalog), seed);
    int sys = u9i_queue_open(log->source.dir->env, NULL, 0, 0, &queue);
    if (sys != 0) return fail_making(b, sys, fault);
    m.queue = queue;
    sys = u9i_index_making_begin(&m);
    u9_err err = sys == 0 ? make_of(b, &m, fault) : fail_making(b, sys, fault);
    if (err == U9_CORRUPT && !m.spec.hashed) { /* keys that are none of the kind */
        m.spec = (u9i_keyspec){.width = 8, .hashed = true, .seed = seed};
        err = make_of(b, &m, fault);
    }
    u9i_queue_close(queue); /* first: what is under way is the file's until then */
    u9i_index_making_drop(&m);
    u9i_pages_free(m.block, U9I_BLOCK);
    u9i_losses_free(&b->lost);
    return err;
}
