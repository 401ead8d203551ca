/*
 * engine/check/pieces.c: see pieces.h.
 *
 *     WAITING --take--> READ --the reader's thread is done--> STOPPED at its border, its end, an error, or with as
 *     much as it may hold: then whoever joins goes on with it
 *
 * Threads: helpers are tasks of the env's executor; each takes the next piece, as does the caller's thread, which
 * joins, and which alone touches a piece that is STOPPED. Where the env has one thread, that does all: a task that runs
 * within a read would wait for locks of its own thread.
 */
#include "engine/check/pieces.h"

#include "engine/os/gate.h"
#include "engine/os/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MAX = 64, /* that a piece holds before it waits for its turn */
    SLICE = 1 << 26, /* bytes that it reads before it does */
    PIECE_LEAST = 1 << 18,
    PIECE_MOST = 1 << 26,
    PIECES_EACH = 8, /* a thread, at least, as far as PIECE_LEAST goes */
    LAST_PART = 64,  /* the last ones become smaller, down to this part, so that all threads end at about the same time */
    WINDOW_EACH = 8  /* so many may wait to be joined, a thread: while one reads a large one, nobody waits for it */
};

/* In front of what begins at `offset` of the segment; 0: of it as a whole. The catalog's count: the log's end. */
typedef struct border {
    size_t index;
    uint64_t offset;
} border;

/* What is told when its turn comes. */
typedef struct event {
    bool is_damage;
    char *path; /* of the damage */
    u9_damage damage;
    u9i_intact run; /* else */
} event;

typedef enum piece_state { WAITING, READ, STOPPED } piece_state;

typedef struct check_piece {
    piece_state state;
    border from, to;
    bool opened;
    u9i_reader reader;
    u9i_kept_keys keys; /* of the reader's frame */
    bool begun;         /* something was met: */
    uint64_t home;      /*   what it came with stands there, */
    uint64_t promise;   /*   and the judge knew this; U9_NOWHERE home: nothing can be joined here */
    bool holds;         /* `held` was met, which belongs behind `to` */
    u9i_step held;
    bool over; /* the reader is at its end */
    u9_err err;
    u9_fault fault;
    u9_report counts;
    u9i_witness witness;
    u9i_segment *last; /* that was read; NULL: none */
    bool placed;       /* some were trimmed before it came to them: it stands behind these */
    uint64_t started; /* what the reader's `passed` was at first */
    uint64_t *done;   /* bytes of this that were read; atomic */
    uint64_t slice;   /* up to there it reads before it stops */
    event *events;
    unsigned count;
    u9i_intact run; /* the last one, which may go on */
} check_piece;

typedef struct pieces {
    u9i_checker *checker;
    u9i_task tasks[U9I_CHECK_THREADS_MAX];
    unsigned helpers;
    uint64_t size;       /* of a piece, about, at most */
    check_piece **slots; /* number k is slots[k % window] */
    uint64_t *read;      /* bytes that their pieces have read; atomic */
    bool
        cuts_last; /* the last segment of the row, whose end nobody names, can be cut: all was promised */
    size_t window;
    pthread_mutex_t lock; /* guards what follows, and the state of pieces */
    size_t taken;         /* so many were, */
    border next;          /*   and the next one begins here, */
    bool planned;         /*   or there is none */
    uint64_t left;        /* bytes behind that, about */
    size_t joined;        /* so many are joined, or will be next */
    bool working[U9I_CHECK_THREADS_MAX];
    u9i_gate gate; /* turned when a piece has stopped */
    bool stop;     /* atomic: all are to */
    uint64_t done; /* bytes of pieces that are joined */
} pieces;

static void pieces_check(const pieces *all)
{
    assert(all->joined <= all->taken && all->taken <= all->joined + all->window);
    assert(all->next.index <= all->checker->reader.catalog->count);
}

/* Borders */

/* No piece is behind the file's end, whatever was promised: there is nothing to read. */
static uint64_t data_end(const u9i_facts *f)
{
    uint64_t end = f->named ? f->at.offset : f->has_end ? f->end_frame.offset : f->size;
    return end < f->size ? end : f->size;
}

/* True if a reader that begins in the midst of it can come to what one from its start does. */
static bool can_cut(const pieces *all, const u9i_facts *f)
{
    return f->has_open && (f->named || (f->has_end && all->cuts_last));
}

/* True if where the log stands in front of segments[index], behind segments[before], is known without reading. */
static bool can_begin(const u9i_reader *r, size_t before, size_t index)
{
    return u9i_catalog_facts(r->catalog, index)->has_open &&
           u9i_catalog_facts(r->catalog, before)->named;
}

/* The border behind a piece of about `size` bytes that begins at `from`. *bytes: what it has. */
static border find_border(const pieces *all, border from, uint64_t size, uint64_t *bytes)
{
    const u9i_reader *r = &all->checker->reader;
    uint64_t begin = from.offset, got = 0;
    for (size_t i = u9i_reader_next_on_row(r, from.index), before = i; i < r->catalog->count;) {
        const u9i_facts *f = u9i_catalog_facts(r->catalog, i);
        uint64_t end = data_end(f), most = got < size ? size - got : 0;
        uint64_t cut = (begin + most) / U9I_BLOCK * U9I_BLOCK;
        *bytes = got;
        if (i > before && got >= size / 2 && can_begin(r, before, i)) return (border){i, 0};
        *bytes += cut - begin;
        if (can_cut(all, f) && cut > begin && end > cut && end - cut > size / 2) return (border){i, cut};
        got += end > begin ? end - begin : 0;
        begin = 0;
        before = i;
        i = u9i_reader_next_on_row(r, i + 1);
    }
    *bytes = got;
    return (border){r->catalog->count, 0};
}

/* Of the next piece: what is left is shared out, the more of it the less there is. */
static uint64_t next_size(const pieces *all)
{
    uint64_t share = all->left / (2 * ((uint64_t)all->helpers + 1));
    uint64_t least = all->size / LAST_PART > PIECE_LEAST ? all->size / LAST_PART : PIECE_LEAST;
    if (all->helpers == 0 || all->checker->piece > 0 || share > all->size) return all->size;
    return share > least ? share : least;
}

/* The piece ends there: its reader does not step over it. */
static void set_border(check_piece *p, border to)
{
    u9i_reader *r = &p->reader;
    const u9i_catalog *c = r->catalog;
    p->to = to;
    r->only = to.offset > U9I_DISK_HEADER_SIZE ? to.index + 1 : to.index;
    r->missing_end = r->only == c->count ? c->missing_count : u9i_reader_missing(r, r->only);
}

/* Reading a piece: its reader's thread */

static u9_err open_piece(pieces *all, check_piece *p)
{
    u9i_checker *c = all->checker;
    u9i_reader *r = &p->reader;
    border to = p->to;
    u9i_slice slice = {.first = p->from.index,
                       .begin = p->from.offset,
                       .last = c->reader.catalog->count,
                       .end = U9_NOWHERE,
                       .whole_end = true};
    u9_err err = u9i_reader_open_on(r, c->source, c->reader.catalog, &p->fault);
    if (err != U9_OK) return err;
    p->opened = true;
    bool first = p->from.index == 0 && p->from.offset == 0;
    if (!first) err = u9i_reader_slice(r, &slice, &p->fault);
    r->seals = r->rowless = r->leans = true;
    r->leaves = c->options.on_stretch != NULL;
    set_border(p, to);
    p->started = p->from.offset;
    p->witness.line = c->options.mark;
    p->counts.first_ordinal = U9_NOWHERE;
    return err;
}

/* Where what the reader came to belongs: the frame that owns it. [P-1] */
static uint64_t home_of(const u9i_reader *r, u9i_step step)
{
    bool sites = step == U9I_STEP_DAMAGE && !r->iterator.over;
    return sites ? r->iterator.site.owner : r->place.frame;
}

/* True if the row of parts that it stands in began before. */
static bool in_row(const u9i_reader *r)
{
    u9i_part_record part;
    return r->body.kind == U9I_BODY_PART &&
           u9i_part_record_decode(r->body.bytes, r->body.size, &part) == U9_OK && part.number > 0;
}

/* The first thing that a piece from the midst of a segment meets. */
static void begin_piece(check_piece *p, u9i_step step)
{
    const u9i_reader *r = &p->reader;
    p->begun = true;
    p->home = U9_NOWHERE;
    if (p->from.offset == 0) return;
    bool frame = step == U9I_STEP_FRAME || step == U9I_STEP_DAMAGE;
    if (!frame || !r->reading || r->index != p->from.index || home_of(r, step) < p->from.offset)
        return;
    if (step == U9I_STEP_FRAME && in_row(r)) return;
    p->home = home_of(r, step);
    p->promise = r->iterator.judge.promise;
}

static bool passes_border(const check_piece *p, u9i_step step)
{
    const u9i_reader *r = &p->reader;
    return (step == U9I_STEP_FRAME || step == U9I_STEP_DAMAGE) &&
           p->to.offset > U9I_DISK_HEADER_SIZE && r->reading && r->index == p->to.index &&
           home_of(r, step) >= p->to.offset;
}

static event *add_event(check_piece *p)
{
    assert(p->count < EVENTS_MAX);
    return memset(&p->events[p->count++], 0, sizeof(event));
}

static void end_run(check_piece *p)
{
    if (!p->run.open) return;
    add_event(p)->run = p->run;
    p->run.open = false;
}

static u9_err hold_damage(check_piece *p)
{
    end_run(p);
    char *path = strdup(p->reader.damage.path);
    if (path == NULL) return u9i_fault(&p->fault, U9_NOMEM, U9I_AT(), "out of memory");
    *add_event(p) = (event){.is_damage = true, .path = path, .damage = p->reader.damage};
    return U9_OK;
}

static void hold_behind(check_piece *p)
{
    u9_stretch behind[2];
    end_run(p);
    unsigned n = u9i_stretch_behind(&p->reader, behind);
    for (unsigned i = 0; i < n; i++)
        add_event(p)->run = (u9i_intact){.index = p->reader.index, .it = behind[i]};
}

static void hold_frame(pieces *all, check_piece *p)
{
    u9i_report_frame(&p->counts, &p->reader);
    if (all->checker->options.on_stretch == NULL) return;
    if (!u9i_intact_goes_on(&p->run, &p->reader)) end_run(p);
    u9i_intact_add(&p->run, &p->reader);
}

/* Takes what the reader has come to. */
static u9_err take_found(pieces *all, check_piece *p, u9i_step step)
{
    u9i_reader *r = &p->reader;
    if (r->reading) p->last = r->catalog->segments[r->index];
    u9i_checker_witness(&p->witness, r, step);
    p->placed |= step == U9I_STEP_DAMAGE && r->damage.reason == U9_R_TRIMMED;
    p->over = step == U9I_STEP_END;
    if (step == U9I_STEP_FRAME) hold_frame(all, p);
    if (step == U9I_STEP_LEAVE) hold_behind(p);
    return step == U9I_STEP_DAMAGE ? hold_damage(p) : U9_OK;
}

static void note_read(check_piece *p)
{
    uint64_t passed = u9i_reader_passed(&p->reader);
    __atomic_store_n(p->done, passed > p->started ? passed - p->started : 0, __ATOMIC_RELAXED);
}

static bool is_done(const check_piece *p)
{
    return p->over || p->holds || p->err != U9_OK;
}

/* One step further. */
static void step_piece(pieces *all, check_piece *p)
{
    u9i_step step;
    p->err = u9i_reader_step(&p->reader, &step, &p->fault);
    if (p->err != U9_OK || (step == U9I_STEP_FRAME && !u9i_stretch_keep_keys(&p->reader, &p->keys)))
        return;
    if (!p->begun) begin_piece(p, step);
    p->holds = passes_border(p, step);
    p->held = step;
    if (!p->holds) p->err = take_found(all, p, step);
    note_read(p);
}

/* Reads until it is done, or has as much as it may hold. */
static void read_first(pieces *all, check_piece *p)
{
    p->err = open_piece(all, p);
    while (!is_done(p) && p->count + 4 <= EVENTS_MAX && *p->done < p->slice &&
           !__atomic_load_n(&all->stop, __ATOMIC_RELAXED)) {
        step_piece(all, p);
        if (p->from.offset > 0 && p->home == U9_NOWHERE) break; /* the one before it goes on here */
    }
    if (p->reader.reading) u9i_window_rest(p->reader.iterator.window); /* it waits, perhaps with many others */
}

/* Who reads what */

/* The next piece, for the caller to read; NULL: there is none, or too many wait to be joined. */
static check_piece *next_piece(pieces *all)
{
    check_piece *p = NULL;
    pthread_mutex_lock(&all->lock);
    pieces_check(all);
    if (!all->planned && all->taken < all->joined + all->window &&
        !__atomic_load_n(&all->stop, __ATOMIC_RELAXED)) {
        p = all->slots[all->taken++ % all->window];
        *p = (check_piece){
            .events = p->events, .done = p->done, .state = READ, .slice = SLICE, .from = all->next};
        uint64_t bytes;
        p->to = all->next = find_border(all, p->from, next_size(all), &bytes);
        all->left -= bytes < all->left ? bytes : all->left;
        all->planned = all->next.index == all->checker->reader.catalog->count;
    }
    pthread_mutex_unlock(&all->lock);
    return p;
}

static void stop_piece(pieces *all, check_piece *p)
{
    pthread_mutex_lock(&all->lock);
    p->state = STOPPED;
    pthread_mutex_unlock(&all->lock);
    u9i_gate_turn(&all->gate);
    u9i_gate_wake(&all->gate, true);
}

typedef struct helper {
    pieces *all;
    unsigned number;
} helper;

/* One piece, then whatever else waits for the executor's threads has its turn. */
static void help(void *ctx)
{
    pieces *all = ((helper *)ctx)->all;
    unsigned number = ((helper *)ctx)->number;
    check_piece *p = next_piece(all);
    if (p) {
        read_first(all, p);
        stop_piece(all, p);
    }
    pthread_mutex_lock(&all->lock);
    all->working[number] = p != NULL;
    pthread_mutex_unlock(&all->lock);
    if (p) u9i_task_submit(all->checker->source->dir->env, &all->tasks[number], 0);
}

static void call_helpers(pieces *all)
{
    for (unsigned i = 0; i < all->helpers; i++) {
        pthread_mutex_lock(&all->lock);
        bool call = !all->working[i] && !all->planned;
        all->working[i] |= call;
        pthread_mutex_unlock(&all->lock);
        if (call) u9i_task_submit(all->checker->source->dir->env, &all->tasks[i], 0);
    }
}

/* How far it is, in bytes. */
static u9_err tell_read(pieces *all, u9_fault *fault)
{
    uint64_t done = all->done;
    for (size_t i = 0; i < all->window; i++)
        done += __atomic_load_n(&all->read[i], __ATOMIC_RELAXED);
    return u9i_checker_tell(all->checker, done, fault);
}

/* Until the piece with this number has stopped, the caller's thread reads what nobody has taken. */
static u9_err await_piece(pieces *all, size_t number, u9_fault *fault)
{
    check_piece *p = all->slots[number % all->window], *mine;
    for (;;) {
        uint32_t seen = u9i_gate_read(&all->gate);
        pthread_mutex_lock(&all->lock);
        bool there = all->taken > number && p->state == STOPPED;
        pthread_mutex_unlock(&all->lock);
        u9_err err = all->checker->options.on_progress ? tell_read(all, fault) : U9_OK;
        if (there || err != U9_OK) return err;
        mine = next_piece(all);
        if (mine) {
            read_first(all, mine);
            stop_piece(all, mine);
        } else {
            u9i_gate_wait(&all->gate, seen);
        }
    }
}

/* Joining: the caller's thread */

/* Tells what the piece holds. */
static void tell_events(pieces *all, check_piece *p)
{
    u9i_checker *c = all->checker;
    for (unsigned i = 0; i < p->count; i++) {
        event *e = &p->events[i];
        if (e->is_damage) {
            e->damage.path = e->path;
            u9i_checker_note(c, &e->damage);
            free(e->path);
        } else {
            e->run.open = true;
            u9i_checker_run_ends(c, &e->run);
        }
    }
    p->count = 0;
}

/* Forgets what the piece holds, and closes it. */
static void drop_piece(check_piece *p)
{
    for (unsigned i = 0; i < p->count; i++) free(p->events[i].path);
    if (p->opened) u9i_reader_release(&p->reader);
    p->count = 0;
    p->opened = false;
    __atomic_store_n(p->done, 0, __ATOMIC_RELAXED);
}

/* Reads on, from where it has stopped, until it is at its border. */
static u9_err finish_piece(pieces *all, check_piece *p, u9_fault *fault)
{
    u9_err err = U9_OK;
    tell_events(all, p);
    while (err == U9_OK && !is_done(p)) {
        p->slice = U9_NOWHERE;
        while (!is_done(p) && p->count + 4 <= EVENTS_MAX && err == U9_OK) {
            step_piece(all, p);
            if (all->checker->options.on_progress) err = tell_read(all, fault);
        }
        tell_events(all, p);
    }
    if (err != U9_OK || p->err == U9_OK) return err;
    if (fault) *fault = p->fault;
    return p->err;
}

/* True if the one behind began with what this one has come to, and in the same state. */
static bool comes_to_same(const check_piece *p, const check_piece *behind)
{
    const u9i_reader *r = &p->reader;
    const u9i_judge *j = &r->iterator.judge;
    if (behind->from.offset == 0) return behind->err == U9_OK;
    bool row = r->iterator.over ? r->parts_before.open : r->parts.open; /* in front of the frame */
    if (!p->holds || !behind->begun || behind->home == U9_NOWHERE || row) return false;
    return home_of(r, p->held) == behind->home && j->promise == behind->promise &&
           j->unread == U9_NOWHERE && r->iterator.window->unread.end == 0 && !j->mark_denied &&
           !j->mark_passed && (!j->facts->marked || j->pos < j->facts->mark.offset);
}

/* The run that is open at the border goes on behind it, with the frame that is held, or is told. */
static void join_run(pieces *all, check_piece *p, check_piece *behind)
{
    if (!p->run.open) return;
    bool nothing = behind->count == 0 && !behind->run.open;
    bool damaged = behind->count > 0 && behind->events[0].is_damage;
    u9i_intact *first = behind->count > 0 ? &behind->events[0].run : &behind->run;
    if (nothing) behind->run = p->run;
    else if (damaged || !u9i_intact_goes_on(&p->run, &p->reader))
        u9i_checker_run_ends(all->checker, &p->run);
    else u9i_intact_join(&p->run, first);
    p->run.open = false;
}

/* Adds what a piece has counted to the report. */
static void add_counts(u9i_checker *c, const check_piece *p)
{
    u9_report *r = &c->report;
    const u9_report *n = &p->counts;
    r->frames += n->frames;
    r->lz4_frames += n->lz4_frames;
    r->mask_frames += n->mask_frames;
    r->stored_bytes += n->stored_bytes;
    r->body_bytes += n->body_bytes;
    r->keyless += n->keyless;
    if (r->first_time_us == 0) r->first_time_us = n->first_time_us;
    if (n->frames > 0) r->last_time_us = n->last_time_us;
    if (n->records > 0 && r->records == 0) {
        r->first_ordinal = n->first_ordinal;
        memcpy(r->first_key, n->first_key, n->first_key_size);
        r->first_key_size = n->first_key_size;
    }
    if (n->records > 0) {
        memcpy(r->last_key, n->last_key, n->last_key_size);
        r->last_key_size = n->last_key_size;
    }
    r->records += n->records;
    u9i_witness_join(&c->witness, &p->witness);
}

/* What a reader knows of the log behind it and hands on. */
static void hand_on(const check_piece *p, check_piece *to)
{
    u9i_reader *r = &to->reader;
    r->beyond += p->reader.beyond;
    if (to->last) return;
    r->closed = p->reader.closed;
    r->tail = p->reader.tail;
    if (!to->placed) r->at = p->reader.at;
    to->last = p->last;
}

/* It goes on through the one behind, in whose place it is joined next. */
static void go_through(pieces *all, size_t number, check_piece *p, check_piece *behind)
{
    drop_piece(behind);
    all->slots[(number - 1) % all->window] = behind;
    all->slots[number % all->window] = p;
    set_border(p, behind->to);
    p->over = false;
    if (!p->holds || passes_border(p, p->held)) return;
    p->holds = false;
    p->err = take_found(all, p, p->held);
}

static void join_piece(pieces *all, check_piece *p, check_piece *behind)
{
    join_run(all, p, behind);
    add_counts(all->checker, p);
    hand_on(p, behind);
    all->done += *p->done;
    drop_piece(p);
}

/* The pieces are joined, one after the other. *end: the last one, whose reader is at the log's end. */
static u9_err join_pieces(pieces *all, check_piece **end, u9_fault *fault)
{
    size_t count = all->checker->reader.catalog->count;
    u9_err err = await_piece(all, 0, fault);
    check_piece *p = all->slots[0];
    while (err == U9_OK && (err = finish_piece(all, p, fault)) == U9_OK && p->to.index < count) {
        size_t number = all->joined + 1;
        call_helpers(all);
        if ((err = await_piece(all, number, fault)) != U9_OK) break;
        check_piece *behind = all->slots[number % all->window];
        bool joined = comes_to_same(p, behind);
        if (joined) join_piece(all, p, behind);
        else go_through(all, number, p, behind);
        pthread_mutex_lock(&all->lock); /* until then nobody takes either's slot */
        all->joined++;
        pthread_mutex_unlock(&all->lock);
        if (joined) p = behind;
    }
    *end = p;
    return err;
}

static void finish_helpers(pieces *all)
{
    __atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < all->helpers; i++)
        u9i_task_finish(all->checker->source->dir->env, &all->tasks[i]);
}

static uint64_t piece_size(const u9i_checker *c)
{
    uint64_t size = c->bytes / (c->threads > 0 ? c->threads : 1) / PIECES_EACH;
    if (c->piece > 0) return c->piece;
    return size < PIECE_LEAST ? PIECE_LEAST : size > PIECE_MOST ? PIECE_MOST : size;
}

static bool make_slots(pieces *all)
{
    all->slots = calloc(all->window, sizeof *all->slots);
    all->read = calloc(all->window, sizeof *all->read);
    bool made = all->slots != NULL && all->read != NULL;
    for (size_t i = 0; made && i < all->window; i++) {
        check_piece *p = all->slots[i] = calloc(1, sizeof *p);
        if (p)
            *p = (check_piece){.events = calloc(EVENTS_MAX, sizeof(event)), .done = &all->read[i]};
        made = p && p->events;
    }
    return made;
}

static void free_slots(pieces *all)
{
    for (size_t i = 0; all->slots && i < all->window; i++) {
        check_piece *p = all->slots[i];
        if (p) drop_piece(p);
        if (p) free(p->events);
        free(p);
    }
    free(all->slots);
    free(all->read);
}

/* Whether all of the last segment was promised, for once: it is asked again by whoever begins in the midst of it. */
static void look_at_last(pieces *all)
{
    const u9i_checker *c = all->checker;
    const u9i_catalog *catalog = c->reader.catalog;
    size_t last = catalog->count;
    while (last > 0 && !u9i_facts_on_row(u9i_catalog_facts(catalog, last - 1))) last--;
    if (last == 0 || last < catalog->count) return; /* what stands behind asks how it ends */
    const u9i_facts *f = u9i_catalog_facts(catalog, last - 1);
    if (!f->has_end) return;
    u9i_iterator it;
    u9_err err = u9i_source_iterate(c->source, catalog->segments[last - 1], NULL, false, &it, NULL);
    if (err != U9_OK) return; /* it is not cut; who reads it tells why */
    err = u9i_iterator_promised(&it, &all->cuts_last);
    u9i_iterator_close(&it);
    if (err != U9_OK) all->cuts_last = false;
}

static u9_err run_pieces(pieces *all, helper *helpers, u9_fault *fault)
{
    u9i_checker *c = all->checker;
    check_piece *end;
    look_at_last(all);
    for (unsigned i = 0; i < all->helpers; i++) {
        helpers[i] = (helper){all, i};
        all->tasks[i] = (u9i_task){.run = help, .ctx = &helpers[i]};
    }
    call_helpers(all);
    u9_err err = join_pieces(all, &end, fault);
    finish_helpers(all);
    add_counts(c, end);
    if (err != U9_OK) return err;
    u9i_checker_run_ends(c, &end->run);
    u9i_checker_finish(c, &end->reader, end->last);
    return U9_OK;
}

/* What the threads share, without slots yet. NULL: no memory. */
static pieces *new_pieces(u9i_checker *c)
{
    pieces *all = calloc(1, sizeof *all);
    if (all == NULL) return NULL;
    all->checker = c;
    all->size = piece_size(c);
    all->left = c->bytes;
    bool threads = c->threads > 1 && c->source->dir->env->executor == &u9i_pool_executor;
    all->helpers = threads ? c->threads - 1 : 0;
    all->window = WINDOW_EACH * (size_t)(c->threads > 1 ? c->threads : 1);
    pthread_mutex_init(&all->lock, NULL);
    return all;
}

u9_err u9i_pieces_run(u9i_checker *c, u9_fault *fault)
{
    helper helpers[U9I_CHECK_THREADS_MAX];
    pieces *all = new_pieces(c);
    if (all == NULL || !make_slots(all)) {
        if (all) free_slots(all);
        free(all);
        return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = c->source->path), "out of memory");
    }
    u9_err err = run_pieces(all, helpers, fault);
    free_slots(all);
    pthread_mutex_destroy(&all->lock);
    free(all);
    return err;
}
