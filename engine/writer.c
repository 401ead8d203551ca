/*
 * engine/writer.c: see writer.h. [W-1] to [W-6]
 *
 * Order of a roll, which recovery relies on: the old file's data are durable; the new file's u9open,
 * which names their end, is durable, and so is its name; only then the old file is sealed. [S-6]
 */
#include "engine/writer.h"

#include "engine/system.h"
#include "format/disk.h"

#include <u9/value.h>

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    RESERVE_STEP = 1 << 24,  /* bytes of space taken at once */
    SLACK = 6 * U9I_BLOCK,   /* for padding, a promise, a u9end and their padding */
    KEY_ROOM = 18,           /* `1c 10` + 16 bytes */
    MASK_TRIES = 64          /* a mask fails once in 2^100 or so */
};

#define FRAME_ROOM (U9I_FRAME_HEADER_SIZE + U9I_BODY_MAX + U9I_MASK_HEAD + U9I_TRAILER_SIZE + U9I_ALIGN)
#define PACKED_ROOM (FRAME_ROOM + U9I_BODY_MAX / 128 + U9I_BLOCK)
#define BODY_TARGET (U9I_FRAME_TARGET - U9I_FRAME_HEADER_SIZE - U9I_TRAILER_SIZE)

static u9_err poisoned(u9i_writer *w, int sys, const char *what, u9_fault *fault)
{
    if (w->poison.err == U9_OK) {
        char path[4400], name[20];
        u9i_segment_name(w->out.number, name);
        size_t n = strlen(w->path);
        memcpy(path, w->path, n);
        path[n] = '/';
        memcpy(path + n + 1, name, sizeof name);
        (void)u9i_fault(&w->poison, U9_POISONED, U9I_AT(.path = path, .sys = -sys, .rule = "W-6"),
                        "%s failed: nothing more is accepted", what);
    }
    if (fault) *fault = w->poison;
    return U9_POISONED;
}

static u9_err draw_medallion(u9i_writer *w)
{
    uint64_t r;
    if (!u9i_random(&r, sizeof r) || !u9i_random(w->session, sizeof w->session)) return U9_IO;
    w->medallion = (UINT64_C(1) << 40) + (r & ((UINT64_C(1) << 40) - 1)); /* [2^40, 2^41) */
    return U9_OK;
}

/* Where the session stands before its first frame. */
static void take_plan(u9i_writer *w)
{
    const u9i_resume *p = &w->plan;
    w->end = p->end;
    w->durable = p->end;
    w->time_us = p->time_us;
    w->out.number = p->number;
    w->totals = (u9i_close){.segment = p->number};
    if (!p->goes_on) {
        w->end.offset = w->durable.offset = 0;
        return;
    }
    w->previous = p->previous;
    w->totals = p->totals;
    w->totals.frames++; /* the u9end itself */
    memcpy(w->first_key, p->first_key, p->totals.first_key.size);
}

u9_err u9i_writer_open(u9i_writer *w, u9i_io *io, const char *path, const u9_options *options,
                       u9_fault *fault)
{
    memset(w, 0, sizeof *w);
    w->io = io;
    w->lz4 = options->lz4 != 0;
    w->segment_size = options->segment_size ? options->segment_size : UINT64_C(1) << 28;
    if (strlen(path) >= sizeof w->path)
        return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = path), "the path is too long");
    memcpy(w->path, path, strlen(path) + 1);
    u9_err err = u9i_resume_find(&w->plan, io, path, w->segment_size, options->on_damage,
                                 options->on_damage_ctx, fault);
    if (err != U9_OK) return err;
    if (w->plan.kind[0] != 0 && strcmp(w->plan.kind, "muid") != 0)
        return u9i_fault(fault, U9_VERSION, U9I_AT(.path = path, .rule = "L-6"),
                         "the log's keys are '%s'; this version writes muids only", w->plan.kind);
    memcpy(w->plan.kind, "muid", 5);
    if (draw_medallion(w) != U9_OK)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = errno),
                         "the system has no randomness");
    take_plan(w);
    w->frame = u9i_pages(FRAME_ROOM);
    w->packed = w->lz4 ? u9i_pages(PACKED_ROOM) : NULL;
    int sys = w->frame == NULL || (w->lz4 && w->packed == NULL) ? -ENOMEM
                                                                : u9i_stream_init(&w->stream, io);
    if (sys == 0) return U9_OK;
    u9i_writer_release(w);
    return u9i_fault(fault, sys == -ENOMEM ? U9_NOMEM : U9_IO, U9I_AT(.path = path, .sys = -sys),
                     "cannot set up writing");
}

void u9i_writer_abandon(u9i_writer *w)
{
    /* The parent's ring must not be waited on: what is under way is the parent's. */
    w->stream.writes = 0;
    w->stream.syncing = false;
    u9i_writer_release(w);
}

void u9i_writer_release(u9i_writer *w)
{
    if (w->stream.buffers) u9i_stream_release(&w->stream);
    if (w->out.file) w->io->table->close(w->out.file);
    if (w->next.file) w->io->table->close(w->next.file);
    u9i_pages_free(w->frame, FRAME_ROOM);
    u9i_pages_free(w->packed, PACKED_ROOM);
    w->frame = w->packed = NULL;
    w->out.file = w->next.file = NULL;
}

/* Frames */

/* Masks the body in place until no boundary stands inside the frame. [F-7] [B-5] */
static u9_err seal_masked(const u9i_writer *w, const u9i_trailer *t, uint8_t *frame, size_t *body_size,
                          uint8_t sha[U9I_HASH_SIZE])
{
    uint8_t mask[U9I_HASH_SIZE];
    uint8_t *body = frame + U9I_FRAME_HEADER_SIZE;
    for (unsigned i = 0; i < MASK_TRIES; i++) {
        if (!u9i_random(mask, sizeof mask)) return U9_IO;
        if (i == 0) *body_size = u9i_mask_wrap(body, *body_size, mask);
        else u9i_mask_again(body, *body_size, mask);
        u9_err err = u9i_frame_seal(&w->out.keys, t, frame, *body_size, sha);
        if (err != U9_AGAIN) return err;
    }
    return U9_LIMIT;
}

/* Compressed if that is smaller and has no boundary in it, else plain, else masked. */
static u9_err seal_best(const u9i_writer *w, const u9i_trailer *t, uint8_t **frame, size_t *body_size,
                        uint8_t sha[U9I_HASH_SIZE])
{
    if (w->lz4 && t->count > 0) {
        size_t n = u9i_lz4_wrap(w->frame + U9I_FRAME_HEADER_SIZE, *body_size,
                                w->packed + U9I_FRAME_HEADER_SIZE);
        if (n > 0 && u9i_frame_seal(&w->out.keys, t, w->packed, n, sha) == U9_OK) {
            *frame = w->packed;
            *body_size = n;
            return U9_OK;
        }
    }
    *frame = w->frame;
    u9_err err = u9i_frame_seal(&w->out.keys, t, w->frame, *body_size, sha);
    return err == U9_AGAIN ? seal_masked(w, t, w->frame, body_size, sha) : err;
}

/* Seals the frame being filled, whatever is in it, and puts it on the stream. */
static u9_err seal(u9i_writer *w, u9_fault *fault)
{
    uint64_t now = u9i_wall_us();
    if (now < w->time_us) now = w->time_us; /* [F-4] */
    if (w->count > 0 && now < w->stamp) now = w->stamp; /* [L-7] */
    uint64_t p = u9i_stream_position(&w->stream);
    u9i_trailer t = {.ordinal = w->end.ordinal, .count = w->count, .offset = p,
                     .previous = w->previous, .durable = w->durable.offset, .time_us = now};
    memcpy(t.chain, w->end.chain, sizeof t.chain);
    uint8_t *frame, sha[U9I_HASH_SIZE];
    size_t body_size = w->body_size;
    assert(t.durable <= p);
    u9_err err = seal_best(w, &t, &frame, &body_size, sha);
    if (err != U9_OK) return poisoned(w, -errno, "drawing a mask", fault);
    int sys = u9i_stream_put(&w->stream, frame, u9i_frame_size(body_size));
    if (sys != 0) return poisoned(w, sys, "a write", fault);

    w->totals.frames++;
    w->totals.records += w->count;
    if (w->count > 0) w->totals.bytes += w->body_size;
    w->promised = t.durable;
    w->previous = p;
    w->time_us = now;
    w->end.offset = u9i_stream_position(&w->stream);
    w->end.ordinal += w->count;
    memcpy(w->end.chain, sha, sizeof sha);
    w->body_size = 0;
    w->count = 0;
    return U9_OK;
}

static u9_err seal_if_any(u9i_writer *w, u9_fault *fault)
{
    return w->count > 0 ? seal(w, fault) : U9_OK;
}

/* Durability */

/* What the finished sync covered is durable now. */
static u9_err sync_done(u9i_writer *w, u9_fault *fault)
{
    if (w->names_dirty) {
        int sys = w->io->table->sync_dir(w->io); /* [W-4] */
        if (sys != 0) return poisoned(w, sys, "syncing the directory", fault);
        w->names_dirty = false;
    }
    w->durable = w->syncing;
    w->synced_us = u9i_monotonic_us();
    return U9_OK;
}

/* Waits for the sync under way, if any. */
static u9_err sync_wait(u9i_writer *w, u9_fault *fault)
{
    bool was = w->stream.syncing;
    int sys = u9i_stream_sync_end(&w->stream);
    if (sys != 0) return poisoned(w, sys, "a write or sync", fault);
    return was ? sync_done(w, fault) : U9_OK;
}

u9_err u9i_writer_sync_begin(u9i_writer *w, u9_fault *fault)
{
    if (w->poison.err != U9_OK) return poisoned(w, 0, "", fault);
    if (!w->started || (w->count == 0 && w->first_us == 0)) return U9_OK;
    u9_err err = sync_wait(w, fault);
    if (err == U9_OK) err = seal_if_any(w, fault);
    if (err != U9_OK) return err;
    int sys = u9i_stream_sync_begin(&w->stream);
    if (sys != 0) return poisoned(w, sys, "a write or sync", fault);
    w->syncing = w->end;
    w->first_us = 0;
    return U9_OK;
}

u9_err u9i_writer_sync(u9i_writer *w, u9_fault *fault)
{
    u9_err err = u9i_writer_sync_begin(w, fault);
    return err == U9_OK ? sync_wait(w, fault) : err;
}

u9_err u9i_writer_poll(u9i_writer *w, u9_fault *fault)
{
    if (w->poison.err != U9_OK) return poisoned(w, 0, "", fault);
    if (!w->started) return U9_OK;
    bool was = w->stream.syncing;
    int sys = u9i_stream_poll(&w->stream);
    if (sys != 0) return poisoned(w, sys, "a write or sync", fault);
    return was && !w->stream.syncing ? sync_done(w, fault) : U9_OK;
}

bool u9i_writer_owes_promise(const u9i_writer *w)
{
    return w->started && w->poison.err == U9_OK && w->durable.offset > w->promised;
}

u9_err u9i_writer_promise(u9i_writer *w, u9_fault *fault)
{
    if (!u9i_writer_owes_promise(w)) return U9_OK;
    u9_err err = seal(w, fault); /* records that wait may as well carry it */
    if (err != U9_OK) return err;
    int sys = u9i_stream_pad(&w->stream);
    return sys ? poisoned(w, sys, "a write", fault) : U9_OK;
}

uint64_t u9i_writer_behind(const u9i_writer *w)
{
    return w->started ? w->end.offset + w->body_size - w->durable.offset : 0;
}

/* Files */

static u9_err no_room(u9i_writer *w, int sys, u9_fault *fault)
{
    return u9i_fault(fault, U9_IO, U9I_AT(.path = w->path, .sys = -sys, .rule = "W-6"),
                     "there is no room for the record; it was not accepted");
}

/* Sees to it that the file has blocks up to `end`. [W-6] */
static u9_err reserve(u9i_writer *w, u9i_output *out, uint64_t end, u9_fault *fault)
{
    if (end <= out->reserved) return U9_OK;
    uint64_t most = w->segment_size < RESERVE_STEP ? w->segment_size : RESERVE_STEP;
    uint64_t least = (end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    int sys;
    /* On a disk that is nearly full ever smaller steps are tried, and remembered. */
    for (;; out->halved++) {
        uint64_t step = (most >> out->halved) / U9I_BLOCK * U9I_BLOCK;
        sys = w->io->table->reserve(out->file, least + step);
        if (sys == 0) out->reserved = least + step;
        if ((sys != -ENOSPC && sys != -EFBIG && sys != -EDQUOT) || step == 0) break;
    }
    return sys ? no_room(w, sys, fault) : U9_OK;
}

static u9_err draw_keys(u9i_keys *keys)
{
    uint8_t secret[U9I_SECRET_SIZE];
    do {
        if (!u9i_random(secret, sizeof secret)) return U9_IO;
    } while (!u9i_keys_init(keys, secret)); /* [H-3] */
    return U9_OK;
}

/* Makes (or, continuing, opens) an output's file, with room for `end`. May be called again. */
static u9_err make_file(u9i_writer *w, u9i_output *out, bool exists, uint64_t end, u9_fault *fault)
{
    char name[20];
    u9i_segment_name(out->number, name);
    if (out->file == NULL) {
        int sys = w->io->table->open(w->io, name, exists ? U9I_OPEN_WRITE : U9I_OPEN_CREATE,
                                     &out->file);
        if (sys != 0)
            return u9i_fault(fault, U9_IO, U9I_AT(.path = w->path, .sys = -sys),
                             "cannot %s segment %s", exists ? "open" : "make", name);
        if (exists) out->keys = w->plan.before;
        else if (draw_keys(&out->keys) != U9_OK) return no_room(w, -errno, fault);
    }
    return reserve(w, out, end, fault);
}

/* Writes the disk header, unless the file is continued, and the u9open. [S-1] [W-3] */
static u9_err put_open(u9i_writer *w, const u9i_open *before, bool continued, u9_fault *fault)
{
    if (!continued) {
        uint8_t header[U9I_DISK_HEADER_SIZE];
        u9i_disk_encode(&w->out.keys, header);
        if (before->before_segment == 0) u9i_hash(header, sizeof header, w->end.chain); /* [F-4] */
        (void)u9i_stream_put(&w->stream, header, sizeof header); /* a failure is sticky */
        w->previous = 0;
        w->promised = w->durable.offset = 0;
    }
    u9i_open open = *before;
    memcpy(open.log, w->plan.log, sizeof open.log);
    memcpy(open.session, w->session, sizeof open.session);
    open.segment = w->out.number;
    open.time_us = u9i_wall_us();
    open.medallion = w->medallion;
    memcpy(open.end.chain, w->end.chain, sizeof open.end.chain);
    open.kind = (u9i_span){.data = (const uint8_t *)w->plan.kind, .size = strlen(w->plan.kind)};
    u9i_out out = u9i_out_init(w->frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK);
    u9i_open_encode(&out, &open);
    assert(!out.failed);
    w->body_size = out.size;
    return seal(w, fault);
}

static u9i_open before_of(uint64_t number, const u9i_keys *keys, const u9i_end *end, u9i_tail tail)
{
    u9i_open open = {.before_segment = number, .end = *end, .tail = tail};
    if (number == 0) return open;
    memcpy(open.before_boundary, keys->boundary, sizeof open.before_boundary);
    memcpy(open.before_secret, keys->secret, sizeof open.before_secret);
    return open;
}

/* The session's first file and u9open. [W-3] */
static u9_err start(u9i_writer *w, u9_fault *fault)
{
    const u9i_resume *p = &w->plan;
    uint64_t at = p->goes_on ? p->offset : 0;
    u9_err err = make_file(w, &w->out, p->goes_on, at + SLACK, fault);
    if (err != U9_OK) return err;
    u9i_stream_turn(&w->stream, w->out.file, at);
    u9i_open open = before_of(p->before_segment, &p->before, &p->end, p->tail);
    w->started = true;
    w->names_dirty = !p->goes_on;
    w->first_us = u9i_monotonic_us();
    return put_open(w, &open, p->goes_on, fault);
}

/* Writes a u9end into a block of its own, cuts the file behind it, and syncs. [S-4] [S-6] */
static u9_err put_end(u9i_writer *w, u9i_end_kind kind, u9_fault *fault)
{
    int sys = u9i_stream_pad(&w->stream);
    if (sys != 0) return poisoned(w, sys, "a write", fault);
    w->totals.kind = kind;
    w->totals.data_end = w->end.offset;
    memcpy(w->totals.secret, w->out.keys.secret, sizeof w->totals.secret);
    w->totals.key_kind = (u9i_span){.data = (const uint8_t *)w->plan.kind,
                                    .size = strlen(w->plan.kind)};
    static const uint8_t none[1] = {0x30};
    if (w->totals.first_key.size == 0) w->totals.first_key = (u9i_span){.data = none, .size = 1};
    else w->totals.first_key.data = w->first_key;
    if (w->totals.last_key.size == 0) w->totals.last_key = (u9i_span){.data = none, .size = 1};
    else w->totals.last_key.data = w->last_key;
    u9i_out out = u9i_out_init(w->frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK);
    u9i_close_encode(&out, &w->totals);
    w->body_size = out.size;
    assert(!out.failed && u9i_frame_size(out.size) + U9I_MASK_HEAD <= U9I_BLOCK);
    u9_err err = seal(w, fault);
    if (err != U9_OK) return err;
    sys = u9i_stream_sync_begin(&w->stream);
    if (sys == 0) sys = u9i_stream_sync_end(&w->stream);
    if (sys == 0) sys = w->io->table->cut(w->out.file, u9i_stream_position(&w->stream));
    if (sys == 0) sys = u9i_stream_sync_begin(&w->stream);
    if (sys == 0) sys = u9i_stream_sync_end(&w->stream);
    return sys ? poisoned(w, sys, "closing the segment", fault) : U9_OK;
}

/* Swaps to the prepared next file, with a durable u9open in it. */
static u9_err open_next(u9i_writer *w, u9_fault *fault)
{
    u9i_open open = before_of(w->out.number, &w->out.keys, &w->end, U9I_TAIL_ROLLED);
    u9i_output old = w->out;
    w->out = w->next;
    w->next = old; /* closed by the caller, or on release */
    u9i_stream_turn(&w->stream, w->out.file, 0);
    w->names_dirty = true;
    w->first_us = u9i_monotonic_us();
    u9_err err = put_open(w, &open, false, fault);
    return err == U9_OK ? u9i_writer_sync(w, fault) : err;
}

/* The state of one file, set aside while the other is written. */
typedef struct aside {
    u9i_output out;
    u9i_end end, durable;
    uint64_t previous, promised, time_us, position;
    u9i_close totals;
} aside;

static aside set_aside(const u9i_writer *w)
{
    return (aside){w->out, w->end, w->durable, w->previous, w->promised, w->time_us,
                   u9i_stream_position(&w->stream), w->totals};
}

static void take_up(u9i_writer *w, const aside *a)
{
    w->out = a->out;
    w->end = a->end;
    w->durable = a->durable;
    w->previous = a->previous;
    w->promised = a->promised;
    if (w->time_us < a->time_us) w->time_us = a->time_us;
    w->totals = a->totals;
    u9i_stream_turn(&w->stream, a->out.file, a->position);
}

/* Goes over to a new segment. Refused without harm if there is no room for it. [S-6] */
static u9_err roll(u9i_writer *w, u9_fault *fault)
{
    u9_err err = seal_if_any(w, fault);
    if (err == U9_OK) err = u9i_writer_sync(w, fault);
    if (err != U9_OK) return err;
    w->next.number = w->out.number + 1;
    err = make_file(w, &w->next, false, SLACK, fault);
    if (err != U9_OK) return err;

    aside old = set_aside(w);
    w->totals = (u9i_close){.segment = w->next.number};
    err = open_next(w, fault);
    if (err != U9_OK) return err;
    aside new = set_aside(w);
    take_up(w, &old); /* no record is in the new file yet: the keys kept are the old one's */
    err = put_end(w, U9I_END_SEALING, fault);
    if (err != U9_OK) return err;
    take_up(w, &new);
    w->io->table->close(w->next.file);
    w->next = (u9i_output){0};
    return U9_OK;
}

/* Records */

/* What one entry needs, and how many elements its record has. */
static u9_err measure(const u9_entry *e, uint64_t *elements, uint64_t *size)
{
    u9_walk walk = u9_walk_bytes(e->values, e->size);
    u9_value v;
    u9_err err;
    *elements = 1;
    while ((err = u9_walk_next(&walk, &v)) == U9_OK) {
        ++*elements;
        if (v.type >= U9_TUPLE && u9_value_check(v.start, v.encoded, NULL, NULL) != U9_OK)
            return U9_ARG;
    }
    if (err != U9_END) return U9_ARG;
    if (e->key.data != NULL && e->key.size != U9_MUID_SIZE) return U9_ARG;
    uint8_t head[17];
    *size = u9i_record_head(*elements, KEY_ROOM + e->size, head) + KEY_ROOM + e->size;
    return U9_OK;
}

static u9_err measure_all(const u9i_writer *w, const u9_entry *entries, size_t count, uint64_t *total,
                          u9_fault *fault)
{
    *total = 0;
    if (count == 0 || count > UINT32_MAX)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = w->path), "a batch has 1 to 2^32-1 records");
    for (size_t i = 0; i < count; i++) {
        uint64_t elements, size;
        if (entries[i].size > U9_RECORD_MAX)
            return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = w->path, .rule = "F-5"),
                             "record %zu of the batch has over 2^24 bytes", i);
        if (measure(&entries[i], &elements, &size) != U9_OK)
            return u9i_fault(fault, U9_ARG, U9I_AT(.path = w->path, .rule = "B-2"),
                             "record %zu of the batch: values are not well-formed, or the key is no "
                             "muid of 16 bytes", i);
        *total += size;
        if (*total > U9I_BODY_MAX)
            return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = w->path, .rule = "F-5"),
                             "the batch has over 2^24 bytes");
    }
    return U9_OK;
}

/* Begins a frame's transaction. U9_LIMIT: muids end in the year 2112. [L-7] */
static u9_err begin_frame(u9i_writer *w, u9_fault *fault)
{
    uint64_t now = u9i_wall_us();
    w->stamp = now > w->time_us ? now : w->time_us + 1;
    if (w->stamp < U9_MUID_TIMESTAMP_MAX) return U9_OK;
    return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = w->path, .rule = "I-1"),
                     "the clock is beyond the last muid");
}

/* Copies one record into the frame. There is room. */
static void put_record(u9i_writer *w, const u9_entry *e, u9_place *place)
{
    uint64_t elements, size;
    (void)!measure(e, &elements, &size);
    uint8_t *p = w->frame + U9I_FRAME_HEADER_SIZE + w->body_size;
    p += u9i_record_head(elements, KEY_ROOM + e->size, p);
    uint8_t *key = p;
    key[0] = 0x1c; /* [L-6] */
    key[1] = U9_MUID_SIZE;
    u9_muid made = {.timestamp = w->stamp, .medallion = w->medallion,
                    .offset = (int32_t)(w->count + 1)};
    if (e->key.data) memcpy(key + 2, e->key.data, U9_MUID_SIZE);
    else if (u9_muid_pack(&made, key + 2) != U9_OK) assert(false && "a muid out of range");
    if (e->size > 0) memcpy(p + KEY_ROOM, e->values, e->size);
    if (w->totals.first_key.size == 0) {
        memcpy(w->first_key, key, KEY_ROOM);
        w->totals.first_key.size = KEY_ROOM;
    }
    memcpy(w->last_key, key, KEY_ROOM);
    w->totals.last_key.size = KEY_ROOM;
    if (place) {
        place->ordinal = w->end.ordinal + w->count;
        place->key_size = U9_MUID_SIZE;
        memcpy(place->key, key + 2, U9_MUID_SIZE);
    }
    w->body_size += size;
    w->count++;
}

/* A frame, a file and space for `total` more bytes of records in one frame. */
static u9_err make_room(u9i_writer *w, uint64_t total, u9_fault *fault)
{
    u9_err err = U9_OK;
    if (!w->started) err = start(w, fault);
    if (err == U9_OK && w->count > 0 && w->body_size + total > BODY_TARGET) err = seal(w, fault);
    if (err == U9_OK && w->count == 0 && u9i_stream_position(&w->stream) >= w->segment_size)
        err = roll(w, fault);
    if (err == U9_OK)
        err = reserve(w, &w->out,
                      u9i_stream_position(&w->stream) +
                          u9i_frame_size(w->body_size + (size_t)total + U9I_MASK_HEAD) + SLACK,
                      fault);
    if (err == U9_OK && w->count == 0) err = begin_frame(w, fault);
    return err;
}

u9_err u9i_writer_append(u9i_writer *w, const u9_entry *entries, size_t count, u9_place *places,
                         u9_fault *fault)
{
    uint64_t total;
    if (w->poison.err != U9_OK) return poisoned(w, 0, "", fault);
    u9_err err = measure_all(w, entries, count, &total, fault);
    if (err == U9_OK) err = make_room(w, total, fault);
    if (err != U9_OK) return err;
    if (w->first_us == 0) w->first_us = u9i_monotonic_us();
    for (size_t i = 0; i < count; i++) put_record(w, &entries[i], places ? &places[i] : NULL);
    if (w->body_size < BODY_TARGET) return U9_OK;
    /* The records are in; a failure from here on poisons, and is told by the next call. */
    u9_fault later;
    (void)!seal(w, &later);
    return U9_OK;
}

u9_err u9i_writer_close(u9i_writer *w, u9_fault *fault)
{
    u9_err err = U9_OK;
    if (w->poison.err != U9_OK) err = poisoned(w, 0, "", fault);
    else if (w->started) {
        err = u9i_writer_sync(w, fault);
        if (err == U9_OK) err = sync_wait(w, fault);
        if (err == U9_OK) err = put_end(w, U9I_END_CLOSING, fault);
    }
    u9i_writer_release(w);
    return err;
}
