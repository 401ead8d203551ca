/*
 * engine/link/recv.c: a log off a link, batch by batch. [T-9] to [T-13]
 *
 * What comes is anybody's: frames and values are proven before they get here, the order of symbols by the
 * link, and every record by the log that takes it. A frame is appended whole, or as far as the log has
 * not its records, or not at all. One thread.
 */
#include "engine/log/handle.h"
#include "engine/link/channel.h"
#include "engine/os/list.h"
#include "engine/os/store.h"

#include "format/frame/body.h"
#include "format/link/hello.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMMIT_BYTES = 8 << 20, ROOM = 2048 };

/* A record that comes in pieces. [T-13] */
typedef struct received_row {
    bool open;           /* its first piece came, its last one not: */
    uint64_t total, got; /*   bytes */
    uint64_t number;     /*   of the piece that comes next */
    u9_append *append;   /*   NULL: the log has the record already */
    u9i_tally tally;   /*   of one that it has */
} received_row;

typedef struct receiver {
    const char *path;
    const u9_recv_options *o;
    u9_ship_report *report;
    u9i_channel channel;
    u9_options options;
    u9_log *log;       /* NULL: not opened yet */
    uint64_t next;     /* its next ordinal */
    uint8_t mark[U9I_HASH_SIZE]; /* of the record before, if next > 0 */
    bool asked;        /* the sender was told what is wanted */
    bool parting;      /* what comes is dropped */
    bool begun;        /* u9log came: */
    uint64_t at;       /* ordinal of the record that comes next */
    received_row row;
    bool piece;        /* this frame has a piece in it */
    u9_entry *entries; /* one frame's new records; grows to the largest batch */
    size_t count, room;
    uint64_t fresh;    /* bytes of these */
    uint64_t waiting;  /* bytes appended since the last commit */
    u9_pace pace;
    u9_fault told;     /* the sender's u9error; err U9_OK: none */
} receiver;

static bool receiver_two_way(const receiver *r)
{
    return r->channel.link.ways == U9_TWO_WAY;
}

static void receiver_check(const receiver *r)
{
    assert(r->count <= r->room && (r->count > 0 || r->fresh == 0));
    assert(!r->begun || r->log != NULL);
    assert(r->report->next == r->next);
    assert(!r->row.open || (r->begun && r->row.got < r->row.total));
    assert(r->row.open || r->row.append == NULL);
}

static int on_recv_tick(void *ctx)
{
    receiver *r = ctx;
    u9_estimate e = u9_pace_estimate(&r->pace, u9i_monotonic_us(r->channel.env));
    return r->o->on_progress(r->o->ctx, e.done, e.total == U9_NOWHERE ? 0 : e.total);
}

static u9_err no_beginning(const receiver *r, uint64_t ordinal, const char *why, u9_fault *fault)
{
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = r->path, .rule = "T-9"),
                     "the log is not a beginning of what is sent: record %llu %s",
                     (unsigned long long)ordinal, why);
}

/* The mark of a record that is read in pieces. */
static u9_err mark_large(receiver *r, const u9_record *record, u9_fault *fault)
{
    enum { PIECE = 1 << 16 };
    u9i_tally tally;
    u9_reading *reading;
    size_t got;
    uint8_t *buf = malloc(PIECE);
    if (buf == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = r->path), "out of memory");
    u9_err err = u9_record_open(r->log, record, &reading, fault);
    if (err != U9_OK) {
        free(buf);
        return err;
    }
    u9i_tally_start(&tally, record->key.data, record->key.size);
    for (uint64_t at = record->size - record->values_size; at < record->size && err == U9_OK; at += got) {
        err = u9_record_read(reading, at, buf, PIECE, &got, fault);
        if (err == U9_OK) u9i_tally_take(&tally, buf, got);
    }
    u9i_tally_finish(&tally, r->mark);
    u9_record_close(reading);
    free(buf);
    return err;
}

/* The mark of the log's last record. */
static u9_err read_mark(receiver *r, u9_fault *fault)
{
    u9_cursor *c;
    u9_record record;
    u9_range range = {.size = sizeof range, .from = r->next - 1};
    u9_err err = u9_cursor_open(r->log, &range, &c, fault);
    if (err != U9_OK) return err;
    while ((err = u9_cursor_next(c, &record)) == U9_CORRUPT) continue;
    if (err == U9_OK)
        u9i_hello_mark(record.key.data, record.key.size, record.values, (size_t)record.values_size, r->mark);
    else if (err == U9_LIMIT)
        err = mark_large(r, &record, fault);
    else if (err == U9_END)
        err = no_beginning(r, r->next - 1, "cannot be read here", fault);
    else
        u9_cursor_fault(c, fault);
    u9_cursor_close(c);
    return err;
}

/* Opens the log with a key kind, NULL: the one it has. */
static u9_err open_log(receiver *r, const char *kind, u9_mode mode, u9_fault *fault)
{
    r->options.kind = kind;
    r->options.mode = mode;
    u9_err err = u9_log_open(r->path, &r->options, &r->log, fault);
    if (err != U9_OK) return err;
    r->report->next = r->next = u9_log_next(r->log);
    return r->next > 0 ? read_mark(r, fault) : U9_OK;
}

static u9_err close_log(receiver *r, u9_fault *fault)
{
    u9_log *log = r->log;
    r->log = NULL;
    return u9_log_close(log, fault);
}

/*
 * The log's next ordinal is wanted before its kind is known. One without records may be none yet: it is
 * opened again, with the kind, when one comes. So is what a receiver left that was killed before its log was there. [M-6]
 */
static u9_err look_at_log(receiver *r, u9_fault *fault)
{
    u9_err err = open_log(r, NULL, U9_WRITE, fault);
    if (r->log == NULL && (err == U9_ABSENT || (err == U9_IO && fault->sys == ENOENT))) return U9_OK;
    return err == U9_OK && r->next == 0 ? close_log(r, fault) : err;
}

static u9_err receiver_say(receiver *r, const u9_builder *b, u9_fault *fault)
{
    return u9i_channel_put(&r->channel, b, NULL, 0, fault);
}

static u9_err say_greek(receiver *r, u9_type type, u9_fault *fault)
{
    uint8_t room[1];
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    u9i_channel_symbol(&b, type);
    return receiver_say(r, &b, fault);
}

/* As soon as the sender listens: what is wanted, and iota. [T-11] */
static u9_err ask(receiver *r, u9_fault *fault)
{
    uint8_t room[32];
    u9_builder b;
    if (r->asked || !receiver_two_way(r) || !u9_link_may_send(&r->channel.link, U9_SIGNAL_DATA)) return U9_OK;
    r->asked = true;
    u9_builder_init(&b, room, sizeof room);
    u9_err err = u9i_next_build(&b, r->next);
    assert(err == U9_OK);
    u9i_channel_symbol(&b, U9_IOTA);
    return receiver_say(r, &b, fault);
}

/* The last record that the log has must be the one that the sender has there. [T-9] */
static u9_err compare(const receiver *r, const uint8_t mark[U9I_HASH_SIZE], u9_fault *fault)
{
    if (memcmp(mark, r->mark, sizeof r->mark) == 0) return U9_OK;
    return no_beginning(r, r->next - 1, "is another one here", fault);
}

/* Whether the log, with what it has, is a beginning of what is sent. [T-9] */
static u9_err compare_begin(const receiver *r, const u9i_hello *hello, const char *kind, u9_fault *fault)
{
    if (r->log != NULL && strcmp(kind, u9_log_kind(r->log)) != 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = r->path, .rule = "L-6"),
                         "the log's keys are of kind '%.80s', not '%.80s'", u9_log_kind(r->log), kind);
    if (hello->first > r->next)
        return no_beginning(r, hello->first, "is the first one sent, and those before it are not here", fault);
    if (hello->first < r->next || r->next == 0) return U9_OK;
    if (!hello->has_mark) return no_beginning(r, r->next - 1, "is not sent and cannot be compared", fault);
    return compare(r, hello->mark, fault);
}

/* u9log: compares, and opens the log if that is still to be done. */
static u9_err begin_log(receiver *r, const u9_value *v, u9_fault *fault)
{
    u9i_hello hello;
    char kind[U9I_KIND_MAX + 1];
    u9_err err = u9i_hello_read(v, &hello);
    if (err == U9_VERSION)
        return u9i_fault(fault, err, U9I_AT(.rule = "T-9"), "the log is sent in a later version's form");
    if (err == U9_OK && u9_kind_check(hello.kind, hello.kind_size, NULL) != U9_OK) err = U9_CORRUPT;
    if (err != U9_OK)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-9"), "no log begins here");
    memcpy(kind, hello.kind, hello.kind_size);
    kind[hello.kind_size] = 0;
    err = compare_begin(r, &hello, kind, fault);
    if (err == U9_OK && r->log == NULL) err = open_log(r, kind, U9_CREATE, fault);
    r->begun = err == U9_OK;
    r->at = hello.first;
    return err;
}

/* One record of a frame: known already, or to be appended. [T-10] */
static u9_err take_record(receiver *r, const u9_value *v, u9_fault *fault)
{
    const uint8_t *next = v->start;
    size_t left = v->encoded;
    u9i_record record;
    if (u9i_record_next(&next, &left, &record) != U9_OK)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-10"), "a value that is no record, where "
                         "record %llu must be", (unsigned long long)r->at);
    uint64_t ordinal = r->at++;
    uint8_t mark[U9I_HASH_SIZE];
    if (ordinal < r->next) {
        r->report->skipped++;
        if (ordinal + 1 < r->next) return U9_OK;
        u9i_hello_mark(record.key, record.key_size, record.values, record.values_size, mark);
        return compare(r, mark, fault);
    }
    u9_entry *more = u9i_grow(r->entries, r->count, &r->room, sizeof *more);
    if (more == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = r->path), "out of memory");
    r->entries = more;
    r->entries[r->count++] = (u9_entry){.key = {.data = record.key, .size = record.key_size},
                                        .values = record.values, .size = record.values_size};
    r->fresh += record.size;
    return U9_OK;
}

/* What an append of what was received returned: what no log takes is the sender's fault. */
static u9_err took_in(const receiver *r, u9_err err, u9_fault *fault)
{
    if (err == U9_OK) return err;
    u9_log_fault(r->log, fault);
    if (err == U9_ARG) fault->err = err = U9_CORRUPT;
    return err;
}

static u9_err refuse_piece(const receiver *r, u9_fault *fault)
{
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-13"), "a piece that is not the next one of record %llu",
                     (unsigned long long)r->at);
}

/* The first piece: which record it is, and whether it is here already. *front: bytes in front of its values. */
static u9_err begin_received(receiver *r, const u9i_sent_piece *p, size_t *front, u9_fault *fault)
{
    u9i_record record;
    if (p->total <= U9I_BODY_MAX || u9i_record_front(p->bytes, p->size, p->total, &record) != U9_OK)
        return refuse_piece(r, fault);
    *front = (size_t)(record.key + record.key_size - p->bytes);
    uint64_t count = u9i_row_values(p->bytes);
    u9_key key = {.data = record.key, .size = record.key_size};
    u9_err err = U9_OK;
    r->row = (received_row){.total = p->total};
    if (r->at < r->next) u9i_tally_start(&r->row.tally, key.data, key.size);
    else err = took_in(r, u9_append_begin(r->log, &key, count, p->total - *front, &r->row.append, NULL), fault);
    r->row.open = err == U9_OK;
    return err;
}

/* All of it is here. */
static u9_err end_received(receiver *r, u9_fault *fault)
{
    received_row *row = &r->row;
    uint8_t mark[U9I_HASH_SIZE];
    row->open = false;
    uint64_t ordinal = r->at++;
    if (row->append == NULL) {
        r->report->skipped++;
        u9i_tally_finish(&row->tally, mark);
        return ordinal + 1 < r->next ? U9_OK : compare(r, mark, fault);
    }
    u9_err err = took_in(r, u9_append_end(row->append, NULL), fault);
    if (err != U9_OK) u9_append_abort(row->append);
    row->append = NULL;
    if (err != U9_OK) return err;
    r->report->batches++;
    r->report->records++;
    r->report->bytes += row->total;
    r->report->next = ++r->next;
    r->waiting += row->total;
    return U9_OK;
}

/* A piece of a record: the next one, alone in its frame. [T-13] */
static u9_err take_piece(receiver *r, const u9i_sent_piece *p, u9_fault *fault)
{
    received_row *row = &r->row;
    size_t front = 0;
    uint64_t left = row->open ? row->total - row->got : p->total;
    if (r->count > 0 || r->piece || p->number != (row->open ? row->number : 0) ||
        (row->open && p->total != row->total) || p->size == 0 || p->size > left)
        return refuse_piece(r, fault);
    r->piece = true;
    u9_err err = row->open ? U9_OK : begin_received(r, p, &front, fault);
    if (err != U9_OK) return err;
    if (row->append) err = took_in(r, u9_append_write(row->append, p->bytes + front, p->size - front), fault);
    else u9i_tally_take(&row->tally, p->bytes + front, p->size - front);
    row->number++;
    row->got += p->size;
    return err == U9_OK && row->got == row->total ? end_received(r, fault) : err;
}

/* A value of the log that is sent. */
static u9_err take_data(receiver *r, const u9_value *v, u9_fault *fault)
{
    u9i_sent_piece piece;
    if (!r->begun) return begin_log(r, v, fault);
    if (u9i_piece_read(v, &piece) == U9_OK) return take_piece(r, &piece, fault);
    return r->row.open || r->piece ? refuse_piece(r, fault) : take_record(r, v, fault);
}

/* Waits for the disk as the policy says; the sender is held back meanwhile. [T-6] */
static u9_err commit(receiver *r, u9_fault *fault)
{
    bool hold = u9_link_may_send(&r->channel.link, U9_SIGNAL_KAPPA);
    r->waiting = 0;
    if (r->log == NULL || r->next == 0) return U9_OK;
    u9_err err = hold ? say_greek(r, U9_KAPPA, fault) : U9_OK;
    if (err != U9_OK) return err;
    err = u9_log_commit(r->log, r->next - 1);
    if (err == U9_AGAIN) err = U9_OK;
    if (err != U9_OK) u9_log_fault(r->log, fault);
    return err == U9_OK && hold ? say_greek(r, U9_IOTA, fault) : err;
}

/* The new records of a frame are one batch. [T-10] */
static u9_err append(receiver *r, u9_fault *fault)
{
    if (r->count == 0) return r->waiting < COMMIT_BYTES ? U9_OK : commit(r, fault);
    u9_err err = took_in(r, u9i_log_append_frame(r->log, r->entries, r->count), fault);
    if (err != U9_OK) return err;
    r->report->batches++;
    r->report->records += r->count;
    r->report->bytes += r->fresh;
    r->report->next = r->next += r->count;
    r->waiting += r->fresh;
    r->count = 0;
    r->fresh = 0;
    return r->waiting < COMMIT_BYTES ? U9_OK : commit(r, fault);
}

/* One value of a frame; sets *cycle if a time-cycle ends. */
static u9_err take_value(receiver *r, const u9_value *v, bool *cycle, u9_fault *fault)
{
    switch (u9_signal_of(v)) {
    case U9_SIGNAL_DATA: return take_data(r, v, fault);
    case U9_SIGNAL_ALPHA: u9_pace_begin(&r->pace, u9i_monotonic_us(r->channel.env)); break;
    case U9_SIGNAL_TAU0: *cycle = true; break;
    case U9_SIGNAL_TAU: u9_pace_tau(&r->pace, v->u); break;
    case U9_SIGNAL_ERROR: u9_error_read(v, &r->told); break;
    case U9_SIGNAL_OMEGA:
    case U9_SIGNAL_IOTA:
    case U9_SIGNAL_KAPPA: break;
    }
    return U9_OK;
}

static u9_err on_sent_frame(void *ctx, u9_walk values, uint64_t size, u9_fault *fault)
{
    receiver *r = ctx;
    u9_value v;
    u9_err err = U9_OK;
    bool cycle = false;
    if (r->parting) return U9_OK;
    r->piece = false;
    while (err == U9_OK && u9_walk_next(&values, &v) == U9_OK) err = take_value(r, &v, &cycle, fault);
    if (err == U9_OK) err = append(r, fault);
    if (err == U9_OK && cycle) err = commit(r, fault);
    if (err == U9_OK) receiver_check(r);
    if (err != U9_OK) return err;
    if (cycle) u9_pace_begin(&r->pace, u9i_monotonic_us(r->channel.env));
    else if (r->begun) u9_pace_data(&r->pace, size);
    return ask(r, fault);
}

/* What omega means: all is here, or the sender says why not. */
static u9_err judge_end(receiver *r, u9_fault *fault)
{
    if (r->told.err != U9_OK) {
        r->report->peer_failed = 1;
        *fault = r->told;
        return fault->err;
    }
    if (!r->begun)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-9"), "the stream ends before a log begins");
    if (r->row.open)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.rule = "T-13"), "the stream ends within record %llu",
                         (unsigned long long)r->at);
    if (r->at < r->next) return no_beginning(r, r->next - 1, "is not among those sent", fault);
    return U9_OK;
}

static u9_err receive(receiver *r, u9_fault *fault)
{
    u9_err err = look_at_log(r, fault);
    if (err == U9_OK && receiver_two_way(r)) err = say_greek(r, U9_ALPHA, fault);
    while (err == U9_OK && r->channel.link.in.life != U9_LIFE_OVER) {
        err = u9i_channel_turn(&r->channel, -1, fault);
        if (err == U9_END)
            err = u9i_fault(fault, U9_TORN, U9I_AT_OFFSET(r->channel.reader.at, .rule = "T-4"),
                            "the stream ends before its omega");
    }
    return err == U9_OK ? judge_end(r, fault) : err;
}

/*
 * Omega, behind the reason if there is one: without one the sender knows that all is durable. With one, what
 * is still under way is waited for and dropped, up to the sender's omega. [T-5] [T-11]
 */
static u9_err receiver_part(receiver *r, u9_err err, u9_fault *fault)
{
    uint8_t room[ROOM];
    u9_builder b;
    u9_err done = U9_OK;
    u9_fault later, *tell = err == U9_OK ? fault : &later;
    if (!receiver_two_way(r)) return err;
    r->parting = true;
    u9_builder_init(&b, room, sizeof room);
    if (r->channel.link.out.life == U9_LIFE_NEW) u9i_channel_symbol(&b, U9_ALPHA);
    if (err != U9_OK && r->told.err == U9_OK) done = u9_build_error(&b, err, fault->text);
    assert(done == U9_OK); /* ROOM has room for any text of a fault */
    u9i_channel_symbol(&b, U9_OMEGA);
    done = receiver_say(r, &b, tell);
    while (done == U9_OK && r->channel.link.in.life != U9_LIFE_OVER) done = u9i_channel_turn(&r->channel, -1, tell);
    return err == U9_OK ? done : err;
}

u9_err u9_log_recv(const char *path, const u9_recv_options *o, u9_ship_report *report, u9_fault *fault)
{
    u9_fault own;
    if (fault == NULL) fault = &own;
    if (path == NULL || o == NULL || o->size != sizeof *o || report == NULL ||
        report->size != sizeof *report || o->in < 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL or out of its range");
    if (path[0] == 0) return u9i_fault(fault, U9_ARG, U9I_AT(), "the path is empty");
    if (o->log && !u9i_options_known(o->log))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "log: options.size is not sizeof(u9_options)");
    *report = (u9_ship_report){.size = sizeof *report};
    receiver r = {.path = path, .o = o, .report = report};
    if (o->log) memcpy(&r.options, o->log, o->log->size);
    r.options.size = sizeof r.options; /* the sender's kind is put in, whatever the caller's version knows */
    u9i_env *env;
    if (u9i_env_of(r.options.io, &path, &env, NULL) != U9_OK) env = &u9i_env_posix; /* told when the log is opened */
    u9_err err = u9i_channel_open(&r.channel, env, o->in, o->out, on_sent_frame, o->on_progress ? on_recv_tick : NULL, &r,
                                  fault);
    if (err != U9_OK) return err;
    err = receive(&r, fault);
    u9_append_abort(r.row.append);
    u9_fault closing;
    u9_err closed = close_log(&r, &closing);
    if (err == U9_OK && closed != U9_OK) *fault = closing;
    if (err == U9_OK) err = closed;
    err = receiver_part(&r, err, fault);
    report->held_max = r.channel.held_max;
    u9i_channel_release(&r.channel);
    free(r.entries);
    return err;
}
