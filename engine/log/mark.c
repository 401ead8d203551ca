/*
 * engine/log/mark.c: see mark.h. [M-1] to [M-6]
 */
#include "engine/log/mark.h"

#include "engine/os/process.h"
#include "engine/segment/draw.h"
#include "format/base/fault.h"
#include "format/frame/disk.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char u9i_mark_name[] = ".mark";
static const char new_name[] = ".mark.new"; /* until it takes the place of one with other names */

enum { TRIES = 3 }; /* a slot is read so often before it is bad: a writer may be at it [M-3] */

static void read_mark_slot(u9i_file *file, unsigned i, u9i_mark *m)
{
    uint8_t bytes[U9I_BLOCK];
    for (unsigned tries = 0; tries < TRIES; tries++) {
        size_t got = 0;
        int err = u9i_file_read(file, i * U9I_BLOCK, bytes, sizeof bytes, &got);
        if (err != 0) {
            m->sys = -err;
            m->slots[i] = (u9i_slot){.state = U9I_SLOT_BAD, .clause = U9_CLAUSE_SLOT_READ};
            return;
        }
        memset(bytes + got, 0, sizeof bytes - got);
        u9i_slot_decode(bytes, &m->slots[i]);
        if (m->slots[i].state != U9I_SLOT_BAD) return;
    }
}

int u9i_mark_read(u9i_dir *dir, u9i_mark *out)
{
    u9i_file *file;
    u9i_stamp stamp;
    memset(out, 0, sizeof *out);
    out->counts = -1;
    if (dir->single[0]) return 0; /* [L-8] */
    int err = u9i_dir_stat(dir, u9i_mark_name, &stamp);
    if (err == 0) err = u9i_file_open(dir, u9i_mark_name, U9I_OPEN_READ, &file);
    if (err != 0) return u9i_no_file(err) ? 0 : err; /* no file: no mark */
    out->there = true;
    out->linked = stamp.links > 1;
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++) read_mark_slot(file, i, out);
    u9i_file_close(file);
    out->counts = u9i_slots_greater(out->slots);
    return 0;
}

const u9i_mark_record *u9i_mark_promise(const u9i_mark *m)
{
    return m->counts < 0 || m->linked ? NULL : &m->slots[m->counts].mark; /* [M-4] */
}

unsigned u9i_mark_bad_slots(const u9i_mark *m, bool *lost)
{
    unsigned bad = 0;
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++) bad += m->slots[i].state == U9I_SLOT_BAD;
    *lost = bad == U9I_MARK_SLOTS;
    return bad;
}

static void marker_check(const u9i_marker *m)
{
    assert(m->slot < U9I_MARK_SLOTS && m->known.counts < U9I_MARK_SLOTS);
    assert(m->stage == U9I_MARKER_IDLE ||
           (m->file && m->queue && m->known.slots[m->slot].state == U9I_SLOT_BAD));
    assert(m->known.counts == u9i_slots_greater(m->known.slots));
    assert(m->file == NULL || (m->known.there && !m->replace));
}

void u9i_marker_init(u9i_marker *m, u9i_dir *dir, const char *path, const u9i_mark *known,
                     const uint8_t log[16])
{
    *m = (u9i_marker){.dir = dir, .path = path, .known = *known, .replace = known->linked};
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++)
        m->replace |= known->slots[i].state == U9I_SLOT_VALID &&
                      memcmp(known->slots[i].mark.log, log, 16) != 0;
    marker_check(m);
}

static u9_err fail(u9i_marker *m, int sys, const char *what)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", m->path, u9i_mark_name);
    return u9i_fault(&m->fault, U9_IO,
                     U9I_AT(.path = path, .sys = -sys, .rule = "M-5"),
                     "cannot %s the log's mark; its records are not touched by that", what);
}

/* A new file of zeros, durable but for its name. */
static int make_zeroed(u9i_dir *dir, const char *name, u9i_file **out)
{
    u9i_file *file;
    int err = u9i_dir_remove(dir, name); /* what an earlier one left */
    if (err == 0 || err == -ENOENT) err = u9i_file_open(dir, name, U9I_OPEN_CREATE, &file);
    if (err != 0) return err;
    err = u9i_file_reserve(file, U9I_MARK_SIZE);
    if (err == 0) err = u9i_file_truncate(file, U9I_MARK_SIZE);
    if (err == 0) err = u9i_file_sync_and_evict(file);
    if (err == 0) *out = file;
    else u9i_file_close(file);
    return err;
}

/* In place of one that has other names, which stays what it is for them. */
static int replace_mark(u9i_marker *m)
{
    int err = make_zeroed(m->dir, new_name, &m->file);
    if (err == 0) err = u9i_dir_rename(m->dir, new_name, u9i_mark_name);
    return err == 0 ? u9i_dir_sync(m->dir) : err;
}

static int make_mark(u9i_marker *m)
{
    int err = make_zeroed(m->dir, u9i_mark_name, &m->file);
    return err == 0 ? u9i_dir_sync(m->dir) : err;
}

/* The file that is there, at its full size. */
static int open_mark(u9i_marker *m)
{
    uint64_t size;
    int err = u9i_file_open(m->dir, u9i_mark_name, U9I_OPEN_WRITE, &m->file);
    if (err == 0) err = u9i_file_size(m->file, &size);
    if (err == 0 && size < U9I_MARK_SIZE) err = u9i_file_truncate(m->file, U9I_MARK_SIZE);
    return err;
}

u9_err u9i_marker_make(u9i_marker *m, u9_fault *fault)
{
    if (m->file && m->queue) return U9_OK;
    bool fresh = m->file == NULL && (!m->known.there || m->replace);
    int err = m->file ? 0 : !m->known.there ? -ENOENT : m->replace ? replace_mark(m) : open_mark(m);
    if (err == -ENOENT) { /* or not there any more */
        err = make_mark(m);
        fresh = true;
    }
    if (err == 0) err = u9i_file_lock(m->file); /* until the last of its writes has landed [W-1] */
    if (err == 0 && m->queue == NULL) err = u9i_queue_open(m->dir->env, NULL, 0, 0, &m->queue);
    if (err == 0 && m->block == NULL && (m->block = u9i_pages(U9I_BLOCK)) == NULL) err = -ENOMEM;
    if (err == 0) {
        if (fresh) m->known = (u9i_mark){.counts = -1};
        m->known.there = true;
        m->replace = false;
        marker_check(m);
        return U9_OK;
    }
    if (m->file) u9i_file_close(m->file);
    m->file = NULL;
    u9_err failed = fail(m, err, "make");
    if (fault) *fault = m->fault;
    return failed;
}

bool u9i_marker_wants(const u9i_marker *m, const u9i_mark_record *mark)
{
    const u9i_mark *k = &m->known;
    if (m->stage != U9I_MARKER_IDLE) return u9i_mark_beyond(mark, &m->next);
    return k->counts < 0 || m->replace || u9i_mark_beyond(mark, &k->slots[k->counts].mark);
}

/*
 * A mark that was given another name meanwhile is left to that name, as it is: hard links make a copy of the log,
 * whose mark must be no younger than what it was made with. [M-4]
 */
static void part_from_copies(u9i_marker *m)
{
    u9i_stamp stamp;
    if (m->file == NULL || u9i_dir_stat(m->dir, u9i_mark_name, &stamp) != 0 || stamp.links < 2) return;
    u9i_file_close(m->file);
    m->file = NULL;
    m->replace = true;
}

/* Submits one operation. False: that failed. */
static bool submit(u9i_marker *m, u9i_op_kind kind)
{
    bool write = kind == U9I_OP_WRITE;
    u9i_op op = {.kind = kind, .file = m->file, .off = write ? m->slot * U9I_BLOCK : 0,
                 .buf = write ? m->block : NULL, .n = write ? U9I_BLOCK : 0};
    int err = u9i_queue_submit(m->queue, &op, 1);
    if (err != 0) (void)fail(m, err, "write");
    m->stage = err != 0 ? U9I_MARKER_IDLE : write ? U9I_MARKER_WRITING : U9I_MARKER_SYNCING;
    return err == 0;
}

/* The slot by a new secret. */
static bool fill_block(u9i_marker *m)
{
    u9i_secret secret;
    do {
        if (!u9i_secret_draw(m->dir->env, &secret)) return false;
    } while (u9i_slot_encode(&m->next, &secret, m->block) != U9_OK);
    return true;
}

/* The invalid one, else the lesser. */
static unsigned slot_to_write(const u9i_marker *m)
{
    const u9i_slot *s = m->known.slots;
    return s[0].state == U9I_SLOT_VALID && (s[1].state != U9I_SLOT_VALID || m->known.counts == 0);
}

static void begin_in(u9i_marker *m, unsigned slot, const u9i_mark_record *mark)
{
    m->next = *mark;
    if (!fill_block(m)) {
        (void)fail(m, -errno, "draw a secret for");
        return;
    }
    m->fault.err = U9_OK;
    m->slot = slot;
    m->known.slots[slot].state = U9I_SLOT_BAD;
    m->known.counts = u9i_slots_greater(m->known.slots);
    (void)submit(m, U9I_OP_WRITE);
    marker_check(m);
}

void u9i_marker_begin(u9i_marker *m, const u9i_mark_record *mark)
{
    assert(m->stage == U9I_MARKER_IDLE);
    part_from_copies(m);
    if (u9i_marker_make(m, NULL) == U9_OK) begin_in(m, slot_to_write(m), mark);
}

/* What was submitted is done. */
static void take_outcome(u9i_marker *m, int64_t result)
{
    if (result < 0) {
        (void)fail(m, (int)result, m->stage == U9I_MARKER_WRITING ? "write" : "sync");
        m->stage = U9I_MARKER_IDLE;
    } else if (m->stage == U9I_MARKER_WRITING) {
        (void)submit(m, U9I_OP_SYNC);
    } else {
        m->stage = U9I_MARKER_IDLE;
        m->known.slots[m->slot] = (u9i_slot){.state = U9I_SLOT_VALID, .mark = m->next};
        m->known.counts = u9i_slots_greater(m->known.slots);
    }
    marker_check(m);
}

/* Whether it is done will not be told: nothing is written from the block again before that queue is gone, which waits. */
static void give_up_queue(u9i_marker *m, int err)
{
    (void)fail(m, err, "wait for");
    m->stage = U9I_MARKER_IDLE;
    u9i_queue_close(m->queue);
    m->queue = NULL;
    marker_check(m);
}

/* Goes on until nothing is under way, or nothing can be told without waiting. */
static void go_on(u9i_marker *m, uint64_t deadline_us)
{
    u9i_completion c;
    while (m->stage != U9I_MARKER_IDLE) {
        int n = u9i_queue_wait(m->queue, &c, 1, deadline_us);
        if (n == 0 && deadline_us != U9I_FOREVER) return;
        if (n < 0) give_up_queue(m, n);
        else if (n > 0) take_outcome(m, c.result);
    }
}

void u9i_marker_poll(u9i_marker *m)
{
    go_on(m, 0);
}

u9_err u9i_marker_wait(u9i_marker *m, u9_fault *fault)
{
    go_on(m, U9I_FOREVER);
    if (m->fault.err != U9_OK && fault) *fault = m->fault;
    return m->fault.err;
}

u9_err u9i_marker_write(u9i_marker *m, const u9i_mark_record *mark, u9_fault *fault)
{
    go_on(m, U9I_FOREVER);
    u9i_marker_begin(m, mark);
    return u9i_marker_wait(m, fault);
}

u9_err u9i_marker_keep_from(u9i_marker *m, uint64_t segment, uint64_t ordinal, u9_fault *fault)
{
    go_on(m, U9I_FOREVER);
    part_from_copies(m);
    const u9i_mark_record *promise = m->replace ? NULL : u9i_mark_promise(&m->known);
    if (promise == NULL || promise->segment < segment) return U9_STATE;
    u9i_mark_record mark = *promise;
    mark.first_ordinal = ordinal;
    u9_err err = u9i_marker_make(m, fault);
    for (unsigned i = 0, first = slot_to_write(m); i < U9I_MARK_SLOTS && err == U9_OK; i++) {
        begin_in(m, i == 0 ? first : 1 - first, &mark);
        err = u9i_marker_wait(m, fault);
    }
    return err;
}

void u9i_marker_release(u9i_marker *m)
{
    if (m->queue) u9i_queue_close(m->queue); /* which waits: what it writes from is freed only then */
    if (m->file) u9i_file_close(m->file);
    u9i_pages_free(m->block, U9I_BLOCK);
    m->queue = NULL;
    m->file = NULL;
    m->block = NULL;
}
