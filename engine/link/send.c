/*
 * engine/link/send.c: a log onto a link, batch by batch. [T-9] to [T-13]
 *
 *     alpha [iota, and the receiver's u9next and iota] u9log batch batch tau batch ... omega [omega]
 *
 * Reads through engine/read/reader.h, so that only what a reader serves is sent; proves each record before, so
 * that a receiver takes it; stops at damage that costs records. One thread.
 */
#include "engine/log/handle.h"
#include "engine/read/follow.h"
#include "engine/read/part_walk.h"
#include "engine/read/reader.h"
#include "engine/link/channel.h"

#include "format/link/hello.h"
#include "format/value/flow.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    TAU_BYTES = 256 << 10,
    ROOM = 2048,
    PIECE = 1 << 20,
    HEAR_US = 50000,      /* who waits for records listens so often */
    ANSWER_MS = 2000,     /* who is gone is heard so long */
    PATIENCE_US = 1000000 /* with a receiver that takes nothing, once it is asked to stop */
};

/* A piece, the piece as a value, and what is kept of the record's values to prove them. */
#define PIECE_ROOM ((size_t)PIECE + PIECE + U9I_PIECE_HEAD)
#define LARGE_ROOM (PIECE_ROOM + U9_RECORD_MAX + U9I_FLOW_ROOM)

typedef struct sender {
    u9_log *log;
    const u9_send_options *o;
    u9_ship_report *report;
    u9i_channel channel;
    u9i_reader reader;
    u9i_follower follower; /* options.follow: steps are its */
    bool follows;
    uint64_t stop_us; /* monotonic time at which it was asked to stop; 0: it was not */
    u9i_kind kind;
    uint64_t want;    /* the ordinal that the receiver wants next */
    bool asked;       /* it has said so */
    u9i_hello hello;
    uint64_t all;     /* bytes of the log's files */
    uint64_t start;   /* bytes passed before the first batch */
    uint64_t untold;  /* bytes sent since the last tau */
    u9_fault told;    /* the receiver's u9error; err U9_OK: none */
    uint8_t *large;   /* LARGE_ROOM bytes of address space, from the first record in pieces on */
} sender;

/* A record that the reader has passed, and which goes in pieces. */
typedef struct sent_row {
    u9i_window *window;
    u9i_part_walk walk;
    uint64_t ordinal;
    size_t front;     /* bytes in front of its values */
    u9i_flow flow;
} sent_row;

static bool sender_two_way(const sender *s)
{
    return s->channel.link.ways == U9_TWO_WAY;
}

static void sender_check(const sender *s)
{
    assert(s->report->batches <= s->report->records);
    assert(s->report->next == s->hello.first + s->report->records);
}

static int tell_progress(const sender *s, uint64_t passed, uint64_t all)
{
    if (passed < s->start) passed = s->start; /* what was trimmed counts no more */
    return s->o->on_progress(s->o->ctx, passed - s->start, all < passed ? 0 : all - s->start);
}

/* Who follows is not stopped within a batch, unless the receiver takes nothing. */
static int on_send_tick(void *ctx)
{
    sender *s = ctx;
    int stop = tell_progress(s, u9i_reader_passed(&s->reader), s->follows ? u9i_reader_bytes(&s->reader) : s->all);
    if (stop == 0 || !s->follows) return stop;
    uint64_t now = u9i_monotonic_us(s->channel.env);
    if (s->stop_us == 0) s->stop_us = now;
    return now - s->stop_us >= PATIENCE_US;
}

/* Between two batches: whether it is over. */
static bool is_asked_to_stop(sender *s)
{
    if (s->o->on_progress == NULL) return false;
    (void)on_send_tick(s);
    return s->stop_us != 0;
}

/* What the receiver says. [T-11] */
static u9_err on_answer(void *ctx, u9_walk values, uint64_t size, u9_fault *fault)
{
    sender *s = ctx;
    u9_value v;
    (void)size;
    while (u9_walk_next(&values, &v) == U9_OK) {
        u9_signal signal = u9_signal_of(&v);
        if (signal == U9_SIGNAL_ERROR) u9_error_read(&v, &s->told);
        if (signal != U9_SIGNAL_DATA) continue;
        if (s->asked || u9i_next_read(&v, &s->want) != U9_OK)
            return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-11"),
                             "the receiver says what no receiver of a log says");
        s->asked = true;
    }
    if (s->channel.link.in.life != U9_LIFE_OVER) return U9_OK;
    if (s->told.err != U9_OK) {
        s->report->peer_failed = 1;
        *fault = s->told;
        return s->told.err;
    }
    if (s->channel.link.out.life == U9_LIFE_OVER) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-11"), "the receiver ended before the log did");
}

static u9_err listen_once(sender *s, u9_fault *fault)
{
    u9_err err = u9i_channel_turn(&s->channel, -1, fault);
    if (err == U9_END)
        return u9i_fault(fault, U9_TORN, U9I_AT(.rule = "T-11"), "the receiver has gone");
    return err;
}

/* Sends symbols, and what was built. */
static u9_err sender_say(sender *s, const u9_builder *b, u9_fault *fault)
{
    return u9i_channel_put(&s->channel, b, NULL, 0, fault);
}

/* Waits until data may be sent. [T-6] */
static u9_err wait_for_iota(sender *s, u9_fault *fault)
{
    u9_err err = U9_OK;
    while (err == U9_OK && !u9_link_may_send(&s->channel.link, U9_SIGNAL_DATA)) err = listen_once(s, fault);
    return err;
}

/* Alpha; on a two-way link the receiver then says where to begin. [T-4] [T-11] */
static u9_err greet(sender *s, u9_fault *fault)
{
    uint8_t room[ROOM];
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    u9i_channel_symbol(&b, U9_ALPHA);
    if (sender_two_way(s)) u9i_channel_symbol(&b, U9_IOTA);
    u9_err err = sender_say(s, &b, fault);
    while (err == U9_OK && sender_two_way(s) && !s->asked) err = listen_once(s, fault);
    return err;
}

/* True for damage that costs a record which the receiver has not. */
static bool hurts(const sender *s, const u9_damage *d)
{
    if ((d->verdict < U9_V_UNKNOWN && d->reason != U9_R_TRIMMED) || d->lost == 0) return false;
    if (d->ordinal == U9_NOWHERE || d->lost == U9_NOWHERE) return true;
    return d->lost > s->want || d->ordinal > s->want - d->lost;
}

static u9_err stop_at_damage(sender *s, uint64_t ordinal, u9_fault *fault)
{
    s->report->damaged = 1;
    if (ordinal == U9_NOWHERE)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = s->log->source.path, .rule = "T-12"),
                         "records of the log are lost to damage");
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = s->log->source.path, .rule = "T-12"),
                     "records of the log from %llu on are lost to damage", (unsigned long long)ordinal);
}

/* What goes cannot be sent, and a receiver does not take what comes behind it. [L-10] */
static u9_err stop_at_trim(const sender *s, u9_fault *fault)
{
    return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = s->log->source.path, .rule = "L-10"),
                     "the log's oldest records were trimmed before they were sent");
}

/* The next frame with records; U9_END behind the last one. */
static u9_err next_batch(sender *s, u9_fault *fault)
{
    u9i_reader *r = &s->reader;
    const u9_options *o = &s->log->options;
    for (;;) {
        u9i_step step;
        u9_err err = s->follows ? u9i_follower_step(&s->follower, &step, fault) : u9i_reader_step(r, &step, fault);
        if (err != U9_OK) return err;
        if (step == U9I_STEP_END) return U9_END;
        if (step == U9I_STEP_FRAME && r->count > 0) return U9_OK;
        if (step != U9I_STEP_DAMAGE) continue;
        if (o->on_damage) o->on_damage(o->on_damage_ctx, &r->damage);
        if (!hurts(s, &r->damage)) continue;
        return r->damage.reason == U9_R_TRIMMED ? stop_at_trim(s, fault) : stop_at_damage(s, r->damage.ordinal, fault);
    }
}

/* Turns to the reader's record in parts, from its first byte. */
static u9_err open_row(sender *s, sent_row *row, u9_fault *fault)
{
    u9i_reader *r = &s->reader;
    const u9i_facts *facts = u9i_reader_facts(r);
    const char *path = s->log->source.path;
    if (s->large == NULL) s->large = u9i_pages(LARGE_ROOM);
    u9_err err = s->large ? u9i_windows_lend(&s->log->source.windows, &row->window) : U9_NOMEM;
    if (err != U9_OK) return u9i_fault(fault, err, U9I_AT(.path = path), "out of memory");
    u9i_window_turn(row->window, r->iterator.window->file, &facts->secret);
    u9i_part_walk_init(&row->walk, row->window, r->scratch, r->parts.first, r->frame->offset, r->large);
    row->ordinal = r->frame->trailer.ordinal;
    row->front = (size_t)(r->first.key + r->first.key_size - r->first.bytes);
    u9i_flow_init(&row->flow, 1, u9i_row_values(r->first.bytes), r->large - row->front, s->large + PIECE_ROOM, LARGE_ROOM - PIECE_ROOM);
    return U9_OK;
}

static void close_row(sender *s, sent_row *row)
{
    u9i_windows_return(&s->log->source.windows, row->window);
}

/* The record's bytes from `at` on, as many as a piece holds, into s->large. */
static u9_err read_piece(sender *s, sent_row *row, uint64_t at, size_t *size, u9_fault *fault)
{
    u9i_span span;
    *size = 0;
    while (*size < PIECE && at < row->walk.total) {
        u9_err err = u9i_part_walk_at(&row->walk, at, &span);
        if (err == U9_CORRUPT) return stop_at_damage(s, row->ordinal, fault);
        if (err != U9_OK)
            return u9i_fault(fault, err, U9I_AT(.path = s->log->source.path, .sys = row->window->sys),
                             "cannot read the segment");
        size_t n = span.size < PIECE - *size ? span.size : PIECE - *size;
        memcpy(s->large + *size, span.data, n);
        *size += n;
        at += n;
    }
    return U9_OK;
}

/* The mark of the reader's record in parts. [T-9] */
static u9_err mark_row(sender *s, u9_fault *fault)
{
    sent_row row;
    u9i_tally tally;
    size_t size;
    const u9i_record *front = &s->reader.first;
    u9_err err = open_row(s, &row, fault);
    if (err != U9_OK) return err;
    u9i_tally_start(&tally, front->key, front->key_size);
    for (uint64_t at = row.front; at < row.walk.total && err == U9_OK; at += size) {
        err = read_piece(s, &row, at, &size, fault);
        if (err == U9_OK) u9i_tally_take(&tally, s->large, size);
    }
    u9i_tally_finish(&tally, s->hello.mark);
    close_row(s, &row);
    return err;
}

/*
 * Goes to the first batch that the receiver has not, or not whole, with the mark of the record before it.
 * U9_END: it has all there are. [T-9]
 */
static u9_err seek(sender *s, u9_fault *fault)
{
    u9i_reader *r = &s->reader;
    u9_err err;
    if (s->want > 0) u9i_reader_from(r, s->want - 1);
    bool marked = false;
    while ((err = next_batch(s, fault)) == U9_OK) {
        uint64_t first = r->frame->trailer.ordinal;
        if (first > s->want || s->want - first < r->count) break;
        marked = s->want - first == r->count;
        if (marked && r->large > 0) err = mark_row(s, fault);
        else if (marked)
            u9i_hello_mark(r->last.key, r->last.key_size, r->last.values, r->last.values_size,
                          s->hello.mark);
        if (err != U9_OK) return err;
    }
    s->hello.first = err == U9_OK ? r->frame->trailer.ordinal : s->follows ? u9i_follower_next(&s->follower) : r->at.ordinal;
    s->hello.has_mark = marked && s->hello.first == s->want;
    if (err != U9_END || s->want <= s->hello.first) return err;
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->log->source.path, .rule = "T-9"),
                     "the log has %llu records, the receiver %llu",
                     (unsigned long long)s->hello.first, (unsigned long long)s->want);
}

static u9_err say_log(sender *s, u9_fault *fault)
{
    uint8_t room[ROOM];
    u9_builder b;
    const u9i_catalog *catalog = s->reader.catalog;
    u9_builder_init(&b, room, sizeof room);
    s->hello.kind = s->log->kind[0] ? s->log->kind : "muid";
    s->hello.kind_size = strlen(s->hello.kind);
    memcpy(s->hello.log, catalog->log, sizeof s->hello.log);
    u9_err err = u9i_kind_parse(s->hello.kind, s->hello.kind_size, &s->kind, NULL);
    if (err == U9_OK) err = u9i_hello_build(&b, &s->hello);
    if (err != U9_OK)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = s->log->source.path, .rule = "L-6"),
                         "the log's key kind is none");
    err = wait_for_iota(s, fault);
    return err == U9_OK ? sender_say(s, &b, fault) : err;
}

/* A record may be served and yet be none that a log takes: see u9_salvage. */
static u9_err prove(sender *s, u9_fault *fault)
{
    const u9i_reader *r = &s->reader;
    const uint8_t *next = r->body.bytes;
    size_t left = r->body.size;
    uint64_t ordinal = r->frame->trailer.ordinal;
    u9i_record record;
    if (ordinal != s->report->next) return stop_at_damage(s, s->report->next, fault);
    for (; u9i_record_next(&next, &left, &record) == U9_OK; ordinal++)
        if (u9i_kind_fits(&s->kind, record.key, record.key_size, NULL) != U9_OK ||
            u9_value_check(record.bytes, record.size, NULL, NULL) != U9_OK)
            return stop_at_damage(s, ordinal, fault);
    return U9_OK;
}

/* Now and then: how far it is. [T-8] */
static u9_err tell_tau(sender *s, u9_fault *fault)
{
    uint8_t room[16];
    u9_builder b;
    if (s->follows || s->untold < TAU_BYTES || !u9_link_may_send(&s->channel.link, U9_SIGNAL_TAU)) return U9_OK;
    s->untold = 0;
    u9_builder_init(&b, room, sizeof room);
    u9_err err = u9_build_tau(&b, u9_tau_of(u9i_reader_passed(&s->reader) - s->start, s->all - s->start));
    assert(err == U9_OK);
    return sender_say(s, &b, fault);
}

/* It is sent, all of it. */
static u9_err count_sent(sender *s, uint64_t bytes)
{
    u9_ship_report *report = s->report;
    report->batches++;
    report->records += s->reader.count;
    report->bytes += bytes;
    report->next += s->reader.count;
    sender_check(s);
    return U9_OK;
}

/* One batch, one frame. [T-10] */
static u9_err send_batch(sender *s, u9_fault *fault)
{
    const u9i_reader *r = &s->reader;
    u9_err err = prove(s, fault);
    if (err == U9_OK) err = wait_for_iota(s, fault);
    if (err == U9_OK) err = u9i_channel_put(&s->channel, NULL, r->body.bytes, r->body.size, fault);
    if (err == U9_OK) err = count_sent(s, r->body.size);
    if (err != U9_OK) return err;
    s->untold += r->body.size;
    return tell_tau(s, fault);
}

/* A piece's share of the proof that a log takes the record; all of it before its last byte goes out. [T-12] */
static u9_err prove_piece(sent_row *row, const uint8_t *bytes, uint64_t at, size_t size)
{
    size_t skip = at >= row->front ? 0 : row->front - at < size ? (size_t)(row->front - at) : size;
    u9_err err = u9i_flow_take(&row->flow, bytes + skip, size - skip, NULL);
    return err == U9_OK && at + size == row->walk.total ? u9i_flow_end(&row->flow, NULL) : err;
}

/* One piece, one frame. [T-13] */
static u9_err send_piece(sender *s, sent_row *row, uint64_t number, uint64_t at, size_t *size, u9_fault *fault)
{
    u9_builder b;
    u9_err err = read_piece(s, row, at, size, fault);
    if (err != U9_OK) return err;
    if (prove_piece(row, s->large, at, *size) != U9_OK) return stop_at_damage(s, row->ordinal, fault);
    u9i_sent_piece piece = {.number = number, .total = row->walk.total, .bytes = s->large, .size = *size};
    u9_builder_init(&b, s->large + PIECE, PIECE_ROOM - PIECE);
    err = u9i_piece_build(&b, &piece);
    assert(err == U9_OK); /* PIECE_ROOM has room for it */
    err = wait_for_iota(s, fault);
    if (err == U9_OK) err = u9i_channel_put(&s->channel, NULL, b.bytes, b.size, fault);
    if (err != U9_OK) return err;
    s->untold += *size;
    return tell_tau(s, fault);
}

/* A record in parts, piece by piece. */
static u9_err send_row(sender *s, u9_fault *fault)
{
    sent_row row;
    size_t size;
    const u9i_record *front = &s->reader.first;
    uint64_t ordinal = s->reader.frame->trailer.ordinal;
    if (ordinal != s->report->next) return stop_at_damage(s, s->report->next, fault);
    if (u9i_kind_fits(&s->kind, front->key, front->key_size, NULL) != U9_OK) return stop_at_damage(s, ordinal, fault);
    u9_err err = open_row(s, &row, fault);
    if (err != U9_OK) return err;
    for (uint64_t at = 0, number = 0; at < row.walk.total && err == U9_OK; at += size, number++)
        err = send_piece(s, &row, number, at, &size, fault);
    close_row(s, &row);
    return err == U9_OK ? count_sent(s, row.walk.total) : err;
}

/* Waits for records behind the last, and listens. U9_END: it is asked to end. */
static u9_err await_more(sender *s, u9_fault *fault)
{
    for (;;) {
        if (is_asked_to_stop(s)) return U9_END;
        u9_err err = sender_two_way(s) ? u9i_channel_turn(&s->channel, 0, fault) : U9_AGAIN;
        if (err == U9_END) return u9i_fault(fault, U9_TORN, U9I_AT(.rule = "T-11"), "the receiver has gone");
        if (err != U9_OK && err != U9_AGAIN) return err;
        if (u9i_wire_gone(&s->channel.wire)) {
            s->channel.broken = true;
            return u9i_fault(fault, U9_IO, U9I_AT(.sys = EPIPE), "writing to the other side");
        }
        err = u9i_follower_wait(&s->follower, u9i_monotonic_us(s->channel.env) + HEAR_US, fault);
        if (err != U9_AGAIN) return err;
    }
}

/* The batches behind the one that was found, and, of a log that is followed, those that come. */
static u9_err send_batches(sender *s, u9_err found, u9_fault *fault)
{
    u9_err err = U9_OK;
    for (;;) {
        while (err == U9_OK && found == U9_OK) {
            err = s->reader.large > 0 ? send_row(s, fault) : send_batch(s, fault);
            if (err == U9_OK && s->stop_us != 0) return U9_OK;
            if (err == U9_OK) found = next_batch(s, fault);
        }
        if (err != U9_OK || found != U9_END || !s->follows) break;
        err = await_more(s, fault);
        if (err == U9_END) return U9_OK;
        if (err == U9_OK) found = next_batch(s, fault);
    }
    return err == U9_OK && found != U9_END ? found : err;
}

static u9_err send_all(sender *s, u9_fault *fault)
{
    u9_err err = greet(s, fault), found;
    if (err != U9_OK) return err;
    found = seek(s, fault);
    if (found != U9_OK && found != U9_END) return found;
    s->report->next = s->hello.first;
    s->start = u9i_reader_passed(&s->reader);
    err = say_log(s, fault);
    return err == U9_OK ? send_batches(s, found, fault) : err;
}

/* Omega, behind the reason if there is one. On a two-way link the receiver's is waited for. [T-5] [T-11] */
static u9_err sender_part(sender *s, u9_err err, u9_fault *fault)
{
    uint8_t room[ROOM];
    u9_builder b;
    u9_fault later, *tell = err == U9_OK ? fault : &later;
    u9_builder_init(&b, room, sizeof room);
    u9_err done = err != U9_OK && s->told.err == U9_OK ? u9_build_error(&b, err, fault->text) : U9_OK;
    assert(done == U9_OK); /* ROOM has room for any text of a fault */
    u9i_channel_symbol(&b, U9_OMEGA);
    done = sender_say(s, &b, tell);
    while (done == U9_OK && sender_two_way(s) && s->channel.link.in.life != U9_LIFE_OVER) done = listen_once(s, tell);
    return err == U9_OK ? done : err;
}

/* The receiver takes no more: perhaps it has said why, or does so soon; it may be one that never says anything. */
static u9_err ask_why(sender *s, u9_err err, u9_fault *fault)
{
    u9_fault unused;
    u9_err heard = U9_OK;
    while (heard == U9_OK && sender_two_way(s) && s->told.err == U9_OK) heard = u9i_channel_turn(&s->channel, ANSWER_MS, &unused);
    if (s->told.err == U9_OK) return err;
    s->report->peer_failed = 1;
    *fault = s->told;
    return s->told.err;
}

static u9_err begin_send(sender *s, u9_fault *fault)
{
    u9_err err = u9i_reader_open(&s->reader, &s->log->source, fault);
    if (err != U9_OK) return err;
    s->all = u9i_reader_bytes(&s->reader);
    if (u9i_catalog_plain(s->reader.catalog)) {
        u9i_reader_release(&s->reader);
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->log->source.path, .rule = "E-4"),
                         "a plain seed file is not sent: u9fsck --salvage makes a log of it");
    }
    s->follows = s->o->size == sizeof *s->o && s->o->follow != 0;
    if (s->follows) err = u9i_follower_init(&s->follower, s->log, &s->reader, fault);
    if (err != U9_OK) {
        u9i_reader_release(&s->reader);
        return err;
    }
    err = u9i_channel_open(&s->channel, s->log->source.dir->env, s->o->in, s->o->out, on_answer,
                           s->o->on_progress ? on_send_tick : NULL, s, fault);
    s->channel.listens = s->o->in >= 0; /* a receiver that is not heard might stop reading */
    if (err != U9_OK) u9i_reader_release(&s->reader);
    return err;
}

u9_err u9_log_send(u9_log *log, const u9_send_options *o, u9_ship_report *report, u9_fault *fault)
{
    u9_fault own;
    if (fault == NULL) fault = &own;
    bool known = o && (o->size == sizeof *o || o->size == offsetof(u9_send_options, follow));
    if (log == NULL || !known || report == NULL ||
        report->size != sizeof *report || o->out < 0 || (o->in >= 0 && o->from > 0))
        return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL or out of its range");
    if (u9i_log_forked(log))
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                         "the handle belongs to the parent process");
    *report = (u9_ship_report){.size = sizeof *report};
    sender s = {.log = log, .o = o, .report = report, .want = o->from};
    u9_err err = begin_send(&s, fault);
    if (err != U9_OK) return err;
    err = send_all(&s, fault);
    if (!s.channel.broken) err = sender_part(&s, err, fault);
    if (s.channel.broken && err == U9_IO && (fault->sys == EPIPE || fault->sys == ECONNRESET)) err = ask_why(&s, err, fault);
    report->held_max = s.channel.held_max;
    u9i_channel_release(&s.channel);
    if (s.follows) u9i_follower_release(&s.follower);
    u9i_reader_release(&s.reader);
    u9i_pages_free(s.large, LARGE_ROOM);
    return err;
}
