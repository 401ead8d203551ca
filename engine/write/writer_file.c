/*
 * engine/write/writer_file.c: the files of a session: begun, rolled, ended. [S-1] [S-4] [S-5] [S-6] [W-3] [W-6]
 *
 * Order of a roll, which recovery relies on: the old file's data are durable; the new file's u9open,
 * which names their end, is durable, and so is its name; only then the old file is sealed. [S-6]
 */
#include "engine/write/writer_parts.h"

#include "format/frame/disk.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { RESERVE_STEP = 1 << 24 }; /* bytes of space taken at once */

static u9_err no_room(u9i_writer *w, int sys, u9_fault *fault)
{
    return u9i_fault(fault, U9_IO, U9I_AT(.path = w->path, .sys = -sys, .rule = "W-6"),
                     "there is no room for the record; it was not accepted");
}

/* Sees to it that the file has blocks up to `end`. [W-6] */
u9_err u9i_writer_reserve(u9i_writer *w, u9i_output *out, uint64_t end, u9_fault *fault)
{
    if (end <= out->reserved) return U9_OK;
    uint64_t most = w->segment_size < RESERVE_STEP ? w->segment_size : RESERVE_STEP;
    uint64_t least = (end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    int sys;
    /* On a disk that is nearly full ever smaller steps are tried, and remembered. */
    for (;; out->halved++) {
        uint64_t step = (most >> out->halved) / U9I_BLOCK * U9I_BLOCK;
        sys = u9i_file_reserve(out->file, least + step);
        if (sys == 0) out->reserved = least + step;
        if ((sys != -ENOSPC && sys != -EFBIG && sys != -EDQUOT) || step == 0) break;
    }
    return sys ? no_room(w, sys, fault) : U9_OK;
}

static u9_err draw_secret(u9i_env *env, u9i_secret *secret)
{
    uint8_t bytes[U9I_SECRET_SIZE];
    do {
        if (!u9i_random(env, bytes, sizeof bytes)) return U9_IO;
    } while (!u9i_secret_init(secret, bytes)); /* [H-3] */
    return U9_OK;
}

int u9i_writer_find_name(const u9i_writer *w, const u9i_output *out)
{
    char name[20];
    u9i_stamp stamp;
    u9i_segment_name(out->number, name);
    int sys = u9i_dir_stat(w->dir, name, &stamp);
    return sys == 0 && memcmp(stamp.identity, out->identity, sizeof stamp.identity) != 0 ? -ESTALE : sys;
}

/* Lets go of a file that the session made and that nobody needs: a name that stays is of a blank one. [W-6] [L-4] */
static void unmake_file(u9i_writer *w, u9i_output *out)
{
    char name[20];
    u9i_segment_name(out->number, name);
    if (u9i_writer_find_name(w, out) == 0) (void)u9i_dir_remove(w->dir, name);
    u9i_file_close(out->file);
    out->file = NULL;
    out->reserved = 0;
}

/* Locks an output's file [W-1], and keeps which one has its name. */
static u9_err hold_file(const u9i_writer *w, u9i_output *out, const char *name, u9_fault *fault)
{
    u9i_stamp stamp;
    int sys = u9i_dir_stat(w->dir, name, &stamp);
    if (sys == 0) memcpy(out->identity, stamp.identity, sizeof out->identity);
    if (sys == 0) sys = u9i_file_lock(out->file);
    if (sys == 0) return U9_OK;
    return u9i_fault(fault, sys == -EWOULDBLOCK ? U9_LOCKED : U9_IO,
                     U9I_AT(.path = w->path, .sys = -sys, .rule = "W-1"), "cannot lock segment %s", name);
}

/* Makes (or, continuing, opens) an output's file, with room for `end`. Refused, it is not there. [W-6] */
static u9_err make_file(u9i_writer *w, u9i_output *out, bool exists, uint64_t end, u9_fault *fault)
{
    char name[20];
    assert(out->file == NULL);
    u9i_segment_name(out->number, name);
    if (exists) out->secret = w->plan.before;
    else if (draw_secret(w->env, &out->secret) != U9_OK)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = w->path, .sys = errno, .rule = "H-3"),
                         "the system has no randomness");
    int sys = u9i_file_open(w->dir, name, exists ? U9I_OPEN_WRITE : U9I_OPEN_CREATE, &out->file);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = w->path, .sys = -sys),
                         "cannot %s segment %s", exists ? "open" : "make", name);
    out->fresh = !exists;
    u9_err err = hold_file(w, out, name, fault);
    if (err == U9_OK) err = u9i_writer_reserve(w, out, end, fault);
    if (err != U9_OK && !exists) unmake_file(w, out);
    return err;
}

/* Writes the disk header, unless the file is continued, and the u9open. [S-1] [W-3] */
static u9_err put_open(u9i_writer *w, const u9i_open_record *before, bool continued, u9_fault *fault)
{
    if (!continued) {
        uint8_t header[U9I_DISK_HEADER_SIZE];
        u9i_disk_encode(&w->out.secret, header);
        if (before->before_segment == 0) u9i_hash(header, sizeof header, w->end.chain); /* [F-4] */
        (void)u9i_stream_put(&w->stream, header, sizeof header); /* a failure is sticky */
        w->previous = 0;
        w->promised = w->durable.offset = 0;
    }
    u9i_open_record open = *before;
    memcpy(open.log, w->plan.log, sizeof open.log);
    memcpy(open.session, w->session, sizeof open.session);
    open.segment = w->out.number;
    open.time_us = u9i_wall_us(w->env);
    open.medallion = w->medallion;
    memcpy(open.end.chain, w->end.chain, sizeof open.end.chain);
    open.kind = (u9i_span){.data = (const uint8_t *)w->plan.kind, .size = strlen(w->plan.kind)};
    u9i_out out = u9i_out_init(w->frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK);
    u9i_open_record_encode(&out, &open);
    assert(!out.failed);
    w->body_size = out.size;
    u9_err err = u9i_writer_seal(w, fault);
    return err == U9_OK && !continued ? u9i_writer_put_trim(w, fault) : err;
}

static u9i_open_record before_of(uint64_t number, const u9i_secret *secret, const u9i_position *end, u9i_tail tail)
{
    u9i_open_record open = {.before_segment = number, .end = *end, .tail = tail};
    if (number == 0) return open;
    memcpy(open.before_boundary, secret->boundary, sizeof open.before_boundary);
    memcpy(open.before_secret, secret->bytes, sizeof open.before_secret);
    return open;
}

void u9i_writer_unstart(u9i_writer *w)
{
    assert(w->stream.sent == 0 && w->poison.err == U9_OK);
    u9i_stream_turn(&w->stream, NULL, 0);
    w->started = w->names_dirty = false;
    w->first_us = 0;
    if (w->out.file == NULL) return;
    if (!w->plan.goes_on) {
        unmake_file(w, &w->out);
        return;
    }
    if (w->out.reserved > 0) (void)u9i_file_truncate(w->out.file, w->plan.offset);
    u9i_file_close(w->out.file);
    w->out.file = NULL;
    w->out.reserved = 0;
}

/* True if a file's first sector is zero or absent: nobody was ever given anything of it. */
static bool reached_by_nothing(u9i_file *file)
{
    static const uint8_t zeros[U9I_SECTOR];
    uint8_t first[U9I_SECTOR];
    size_t got;
    return u9i_file_read(file, 0, first, sizeof first, &got) == 0 && memcmp(first, zeros, got) == 0;
}

void u9i_writer_drop_blank(u9i_writer *w)
{
    if (w->out.file && w->out.fresh && reached_by_nothing(w->out.file)) unmake_file(w, &w->out);
    if (w->next.file && w->next.fresh && reached_by_nothing(w->next.file)) unmake_file(w, &w->next);
}

/* The session's first file and u9open. [W-3] */
u9_err u9i_writer_start(u9i_writer *w, u9_fault *fault)
{
    const u9i_plan *p = &w->plan;
    uint64_t at = p->goes_on ? p->offset : 0;
    u9_err err = make_file(w, &w->out, p->goes_on, at + U9I_WRITER_SLACK, fault);
    if (err != U9_OK) return err;
    u9i_stream_turn(&w->stream, w->out.file, at);
    u9i_open_record open = before_of(p->before_segment, &p->before, &p->end, p->tail);
    w->started = true;
    w->names_dirty = !p->goes_on;
    w->first_us = u9i_monotonic_us(w->env);
    return put_open(w, &open, p->goes_on, fault);
}

/* Writes a u9end into a block of its own, cuts the file behind it, and syncs. [S-4] [S-6] */
u9_err u9i_writer_end(u9i_writer *w, u9i_end_kind kind, u9_fault *fault)
{
    int sys = u9i_stream_pad(&w->stream);
    if (sys != 0) return u9i_writer_poison(w, sys, "a write", fault);
    w->totals.kind = kind;
    w->totals.data_end = w->end.offset;
    memcpy(w->totals.secret, w->out.secret.bytes, sizeof w->totals.secret);
    w->totals.key_kind = (u9i_span){.data = (const uint8_t *)w->plan.kind,
                                    .size = strlen(w->plan.kind)};
    static const uint8_t none[1] = {0x30};
    if (w->totals.first_key.size == 0) w->totals.first_key = (u9i_span){.data = none, .size = 1};
    else w->totals.first_key.data = w->first_key;
    if (w->totals.last_key.size == 0) w->totals.last_key = (u9i_span){.data = none, .size = 1};
    else w->totals.last_key.data = w->last_key;
    u9i_out out = u9i_out_init(w->frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK);
    u9i_end_record_encode(&out, &w->totals);
    w->body_size = out.size;
    assert(!out.failed && u9i_frame_size(out.size) + U9I_MASK_HEAD <= U9I_BLOCK);
    u9_err err = u9i_writer_seal(w, fault);
    if (err != U9_OK) return err;
    sys = u9i_stream_sync_begin(&w->stream);
    if (sys == 0) sys = u9i_stream_sync_end(&w->stream);
    if (sys == 0) sys = u9i_file_truncate(w->out.file, u9i_stream_position(&w->stream));
    if (sys == 0) sys = u9i_stream_sync_begin(&w->stream);
    if (sys == 0) sys = u9i_stream_sync_end(&w->stream);
    if (sys != 0) return u9i_writer_poison(w, sys, "closing the segment", fault);
    if (kind == U9I_END_CLOSING) w->durable = w->end; /* a seal is none of the log's ends [M-5] */
    return U9_OK;
}

/* Swaps to the prepared next file, with a durable u9open in it. */
static u9_err open_next(u9i_writer *w, u9_fault *fault)
{
    u9i_open_record open = before_of(w->out.number, &w->out.secret, &w->end, U9I_TAIL_ROLLED);
    u9i_output old = w->out;
    w->out = w->next;
    w->next = old; /* closed by the caller, or on release */
    u9i_stream_turn(&w->stream, w->out.file, 0);
    w->names_dirty = true;
    w->first_us = u9i_monotonic_us(w->env);
    u9_err err = put_open(w, &open, false, fault);
    return err == U9_OK ? u9i_writer_sync(w, fault) : err;
}

/* The state of one file, set aside while the other is written. */
typedef struct aside {
    u9i_output out;
    u9i_position end, durable;
    uint64_t previous, promised, time_us, position;
    u9i_end_record totals;
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
u9_err u9i_writer_roll(u9i_writer *w, uint64_t room, u9_fault *fault)
{
    u9_err err = u9i_writer_sync_frames(w, fault);
    if (err != U9_OK) return err;
    w->next.number = w->out.number + 1;
    err = make_file(w, &w->next, false, 2 * U9I_BLOCK + room, fault); /* header and u9open, and that */
    if (err != U9_OK) return err;
    if (w->retain) w->retain(w->retain_ctx); /* what goes, the new file says [L-10] */

    aside old = set_aside(w);
    w->totals = (u9i_end_record){.segment = w->next.number};
    err = open_next(w, fault);
    if (err != U9_OK) return err;
    aside new = set_aside(w);
    take_up(w, &old); /* no record is in the new file yet: the keys kept are the old one's */
    w->next = new.out; /* each file stands in one place, to be closed once if sealing fails */
    err = u9i_writer_end(w, U9I_END_SEALING, fault);
    if (err != U9_OK) return err;
    take_up(w, &new);
    u9i_file_close(old.out.file);
    w->next = (u9i_output){0};
    return U9_OK;
}
