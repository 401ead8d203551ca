/*
 * engine/link/send.c: a log onto a link, batch by batch. [T-9] to [T-12]
 *
 *     alpha [iota, and the receiver's u9next and iota] u9log batch batch tau batch ... omega [omega]
 *
 * Reads through engine/read/reader.h, so that only what a reader serves is sent; proves each record before, so
 * that a receiver takes it; stops at damage that costs records. One thread.
 */
#include "engine/log/handle.h"
#include "engine/read/reader.h"
#include "engine/link/channel.h"

#include "format/link/hello.h"

#include <assert.h>
#include <string.h>

enum { TAU_BYTES = 256 << 10, ROOM = 2048 };

typedef struct sender {
    u9_log *log;
    const u9_send_options *o;
    u9_ship_report *report;
    u9i_channel channel;
    u9i_reader reader;
    u9i_kind kind;
    uint64_t want;    /* the ordinal that the receiver wants next */
    bool asked;       /* it has said so */
    u9i_hello hello;
    uint64_t all;     /* bytes of the log's files */
    uint64_t start;   /* bytes passed before the first batch */
    uint64_t untold;  /* bytes sent since the last tau */
    u9_fault told;    /* the receiver's u9error; err U9_OK: none */
} sender;

static bool sender_two_way(const sender *s)
{
    return s->channel.link.ways == U9_TWO_WAY;
}

static void sender_check(const sender *s)
{
    assert(s->report->batches <= s->report->records);
    assert(s->report->next == s->hello.first + s->report->records);
}

static int on_send_tick(void *ctx)
{
    sender *s = ctx;
    return s->o->on_progress(s->o->ctx, u9i_reader_passed(&s->reader) - s->start, s->all - s->start);
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
        if (fault) *fault = s->told;
        return s->told.err;
    }
    if (s->channel.link.out.life == U9_LIFE_OVER) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-11"), "the receiver ended before the log did");
}

static u9_err listen_once(sender *s, u9_fault *fault)
{
    u9_err err = u9i_channel_turn(&s->channel, true, fault);
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
    u9_err err = u9_build_greek(&b, U9_ALPHA);
    if (err == U9_OK && sender_two_way(s)) err = u9_build_greek(&b, U9_IOTA);
    if (err == U9_OK) err = sender_say(s, &b, fault);
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
        u9_err err = u9i_reader_step(r, &step, fault);
        if (err != U9_OK) return err;
        if (step == U9I_STEP_END) return U9_END;
        if (step == U9I_STEP_FRAME && r->large > 0)
            return u9i_fault(fault, U9_VERSION, U9I_AT(.path = s->log->source.path, .rule = "C-6"),
                             "record %llu has %llu bytes in parts: more than this version of the library sends",
                             (unsigned long long)r->frame->trailer.ordinal, (unsigned long long)r->large);
        if (step == U9I_STEP_FRAME && r->count > 0) return U9_OK;
        if (step != U9I_STEP_DAMAGE) continue;
        if (o->on_damage) o->on_damage(o->on_damage_ctx, &r->damage);
        if (!hurts(s, &r->damage)) continue;
        return r->damage.reason == U9_R_TRIMMED ? stop_at_trim(s, fault) : stop_at_damage(s, r->damage.ordinal, fault);
    }
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
        if (marked)
            u9i_hello_mark(r->last.key, r->last.key_size, r->last.values, r->last.values_size,
                          s->hello.mark);
    }
    s->hello.first = err == U9_OK ? r->frame->trailer.ordinal : r->at.ordinal;
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
    if (s->untold < TAU_BYTES || !u9_link_may_send(&s->channel.link, U9_SIGNAL_TAU)) return U9_OK;
    s->untold = 0;
    u9_builder_init(&b, room, sizeof room);
    u9_err err = u9_build_tau(&b, u9_tau_of(u9i_reader_passed(&s->reader) - s->start, s->all - s->start));
    return err == U9_OK ? sender_say(s, &b, fault) : err;
}

/* One batch, one frame. [T-10] */
static u9_err send_batch(sender *s, u9_fault *fault)
{
    const u9i_reader *r = &s->reader;
    u9_ship_report *report = s->report;
    u9_err err = prove(s, fault);
    if (err == U9_OK) err = wait_for_iota(s, fault);
    if (err == U9_OK) err = u9i_channel_put(&s->channel, NULL, r->body.bytes, r->body.size, fault);
    if (err != U9_OK) return err;
    report->batches++;
    report->records += r->count;
    report->bytes += r->body.size;
    report->next += r->count;
    s->untold += r->body.size;
    sender_check(s);
    return tell_tau(s, fault);
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
    while (err == U9_OK && found == U9_OK) {
        err = send_batch(s, fault);
        if (err == U9_OK) found = next_batch(s, fault);
    }
    return err == U9_OK && found != U9_END ? found : err;
}

/* Omega, behind the reason if there is one. On a two-way link the receiver's is waited for. [T-5] [T-11] */
static u9_err sender_part(sender *s, u9_err err, u9_fault *fault)
{
    uint8_t room[ROOM];
    u9_builder b;
    u9_fault later, *tell = err == U9_OK ? fault : &later;
    u9_builder_init(&b, room, sizeof room);
    u9_err done = err != U9_OK && s->told.err == U9_OK ? u9_build_error(&b, err, fault->text) : U9_OK;
    if (done == U9_OK) done = u9_build_greek(&b, U9_OMEGA);
    if (done == U9_OK) done = sender_say(s, &b, tell);
    while (done == U9_OK && sender_two_way(s) && s->channel.link.in.life != U9_LIFE_OVER) done = listen_once(s, tell);
    return err == U9_OK ? done : err;
}

/* The descriptor takes no more: perhaps the receiver has said why. */
static u9_err ask_why(sender *s, u9_err err, u9_fault *fault)
{
    u9_fault unused;
    while (sender_two_way(s) && s->told.err == U9_OK && u9i_channel_turn(&s->channel, true, &unused) == U9_OK) continue;
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
    if (log == NULL || o == NULL || o->size != sizeof *o || report == NULL ||
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
    if (s.channel.broken && err == U9_IO) err = ask_why(&s, err, fault);
    report->held_max = s.channel.held_max;
    u9i_channel_release(&s.channel);
    u9i_reader_release(&s.reader);
    return err;
}
