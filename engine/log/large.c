/*
 * engine/log/large.c: a record larger than memory, from the caller's pieces to parts in frames. [C-6] [L-7] [V-8]
 *
 *     begin: the key, the record's head  ->  write: [proof] -> the part that is filled -> row_put
 *     ->  end: the last one
 *
 * The part that is filled goes out when another byte comes: so the last one is there for the end, and whatever
 * could not be put is put by the next call. One thread; the writer is only touched within u9i_log_write (handle.h).
 */
#include "engine/log/large.h"
#include "engine/write/row.h"
#include "format/value/flow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct u9_append {
    u9_log *log;     /* NULL: it was closed, or the row is over */
    bool whole;      /* the record comes as it stands, with its key; else its values come: */
    uint64_t values; /*   bytes of these, */
    u9i_flow flow;   /*   and their proof */
    uint64_t size;   /* bytes that come by write; of these were */
    uint64_t taken;  /*   taken */
    uint64_t total;  /* bytes of the record; of these are */
    uint64_t put;    /*   in parts that were put */
    u9i_row_key key;
    uint32_t number; /* of the part that is filled */
    uint64_t before; /* frame of the one before */
    uint64_t ordinal;
    uint8_t *part; /* U9I_PART_BYTES, and behind them the flow's room */
    size_t fill;
    u9_fault refused; /* err U9_OK: the values are well-formed up to here */
};

/* What a flow keeps of one value: an index, an array of tuples. Pages are taken as they are touched. */
#define FLOW_ROOM ((size_t)U9_RECORD_MAX + U9I_FLOW_ROOM)
#define APPEND_ROOM (U9I_PART_BYTES + FLOW_ROOM)

static void append_check(const u9_append *a)
{
    assert(a->fill <= U9I_PART_BYTES && a->taken <= a->size && a->put + a->fill <= a->total);
    assert(a->put + a->fill + (a->size - a->taken) == a->total);
    assert(a->log == NULL || a->size == 0 || __atomic_load_n(&a->log->append, __ATOMIC_ACQUIRE) == a);
}

static void free_append(u9_append *a)
{
    u9i_pages_free(a->part, APPEND_ROOM);
    free(a);
}

static u9_append *new_append(u9_log *log)
{
    u9_append *a = calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->part = u9i_pages(APPEND_ROOM);
    a->log = log;
    if (a->part) return a;
    free(a);
    return NULL;
}

/* A refusal that is told as one of an append is. */
static u9_err refuse_append(const u9_log *log, u9_err err, const char *rule, const char *text)
{
    u9_fault fault;
    (void)u9i_fault(&fault, err, U9I_AT(.path = log ? log->source.path : NULL, .rule = rule), "%s",
                    text);
    return u9i_log_tell(log, err, &fault);
}

/* What a begin asks of the writer. */
typedef struct beginning {
    u9_append *append;
    const u9_key *key; /* NULL: the record brings it */
} beginning;

static u9_err begin_row(u9i_writer *w, void *ctx, u9_fault *fault)
{
    const beginning *b = ctx;
    u9_append *a = b->append;
    u9_err err = u9i_writer_row_begin(w, b->key, b->key ? &a->key : NULL, fault);
    if (err == U9_OK) __atomic_store_n(&a->log->append, a, __ATOMIC_RELEASE);
    return err;
}

/* Puts the record's head and key in front of what comes. */
static void put_front(u9_append *a, uint64_t count)
{
    uint64_t body = a->key.value_size + a->values;
    size_t head = u9i_record_head(count + 1, body, a->part);
    memcpy(a->part + head, a->key.value, a->key.value_size);
    a->fill = head + a->key.value_size;
    a->total = head + body;
}

static void tell_place(const u9_append *a, uint64_t ordinal, u9_place *place)
{
    if (place == NULL) return;
    place->ordinal = ordinal;
    place->key_size = a->key.raw_size <= sizeof place->key ? (uint32_t)a->key.raw_size : 0;
    memcpy(place->key, a->key.raw, place->key_size);
}

u9_err u9_append_begin(u9_log *log, const u9_key *key, uint64_t count, uint64_t size,
                       u9_append **out, u9_place *place)
{
    static const u9_key fresh = {NULL, 0};
    if (log == NULL || out == NULL) return refuse_append(log, U9_ARG, "", "an argument is NULL");
    if (size > U9_LARGE_MAX)
        return refuse_append(log, U9_LIMIT, "S-2", "the record has over 2^41 bytes");
    if (count > size) return refuse_append(log, U9_ARG, "V-4", "no value takes less than a byte");
    if (size > 0 && count == 0) return refuse_append(log, U9_ARG, "V-4", "bytes, and no value");
    u9_append *a = new_append(log);
    if (a == NULL) return refuse_append(log, U9_NOMEM, "", "out of memory");
    a->values = a->size = size;
    u9i_flow_init(&a->flow, 1, count, size, a->part + U9I_PART_BYTES, FLOW_ROOM);
    beginning b = {.append = a, .key = key && key->data ? key : &fresh};
    u9_err err = u9i_log_write(log, begin_row, &b, b.key == &fresh);
    if (err != U9_OK) {
        free_append(a);
        return err;
    }
    put_front(a, count);
    append_check(a);
    tell_place(a, U9_NOWHERE, place);
    *out = a;
    return U9_OK;
}

u9_err u9i_append_begin_whole(u9_log *log, uint64_t total, u9_append **out)
{
    u9_append *a = new_append(log);
    if (a == NULL) return refuse_append(log, U9_NOMEM, "", "out of memory");
    a->whole = true;
    a->size = a->total = total;
    beginning b = {.append = a};
    u9_err err = u9i_log_write(log, begin_row, &b, false);
    if (err != U9_OK) {
        free_append(a);
        return err;
    }
    append_check(a);
    *out = a;
    return U9_OK;
}

/* The key of a record that came as it stands: in its first part. */
static void find_row_key(u9_append *a)
{
    u9i_record front;
    if (u9i_record_front(a->part, a->fill, a->total, &front) != U9_OK) return;
    a->key.raw_size = front.key_size;
    a->key.value_size = (size_t)(front.key + front.key_size - front.key_value);
    memcpy(a->key.raw, front.key, front.key_size);
    memcpy(a->key.value, front.key_value, a->key.value_size);
}

/* Another one may have begun meanwhile. */
static void row_is_over(u9_append *a)
{
    u9_append *mine = a;
    (void)__atomic_compare_exchange_n(&a->log->append, &mine, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static u9_err put_row_part(u9i_writer *w, void *ctx, u9_fault *fault)
{
    u9_append *a = ctx;
    u9i_part_record part = {
        .number = a->number, .total = a->total, .before = a->before, .bytes = {a->part, a->fill}};
    u9i_span key = {.data = a->key.value, .size = a->key.value_size};
    uint64_t rest = a->total - a->put - a->fill, frame;
    u9_err err = u9i_writer_row_put(w, &part, rest, key, &frame, &a->ordinal, fault);
    if (err != U9_OK) return err;
    a->before = frame;
    a->number++;
    a->put += a->fill;
    a->fill = 0;
    if (rest == 0) row_is_over(a);
    return U9_OK;
}

static u9_err put_filled(u9_append *a)
{
    if (a->whole && a->number == 0) find_row_key(a);
    return u9i_log_write(a->log, put_row_part, a, false);
}

/* Values that are not as announced: for good. What the proof says is said as u9_log_append does. */
static u9_err refuse_flow_bytes(u9_append *a, u9_err err, const u9_fault *why)
{
    (void)u9i_fault(&a->refused, err == U9_NOMEM ? U9_LIMIT : U9_ARG,
                    U9I_AT_OFFSET(why->offset, .rule = why->rule),
                    "in the values of the record: %s", why->text);
    return u9i_log_tell(a->log, a->refused.err, &a->refused);
}

/* Whether anything may be written. */
static u9_err ready_append(const u9_append *a)
{
    if (a == NULL) return refuse_append(NULL, U9_ARG, "", "an argument is NULL");
    if (a->log == NULL) return refuse_append(NULL, U9_STATE, "", "the log is closed");
    if (u9i_log_forked(a->log))
        return refuse_append(a->log, U9_STATE, "", "the handle belongs to the parent process");
    return a->refused.err != U9_OK ? u9i_log_tell(a->log, a->refused.err, &a->refused) : U9_OK;
}

u9_err u9_append_write(u9_append *a, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    u9_fault why;
    u9_err err = ready_append(a);
    if (err != U9_OK) return err;
    if (p == NULL && size > 0) return refuse_append(a->log, U9_ARG, "", "an argument is NULL");
    if (size > a->size - a->taken)
        return refuse_append(a->log, U9_ARG, "C-6", "more bytes than were announced");
    while (size > 0) {
        if (a->fill == U9I_PART_BYTES) err = put_filled(a);
        if (err != U9_OK) return err;
        size_t n = U9I_PART_BYTES - a->fill < size ? U9I_PART_BYTES - a->fill : size;
        if (!a->whole) err = u9i_flow_take(&a->flow, p, n, &why);
        if (err != U9_OK) return refuse_flow_bytes(a, err, &why);
        memcpy(a->part + a->fill, p, n);
        a->fill += n;
        a->taken += n;
        p += n;
        size -= n;
        append_check(a);
    }
    return U9_OK;
}

uint64_t u9_append_taken(const u9_append *a)
{
    return a ? a->taken : 0;
}

u9_err u9_append_end(u9_append *a, u9_place *place)
{
    u9_fault why;
    u9_err err = ready_append(a);
    if (err != U9_OK) return err;
    if (a->taken < a->size)
        return refuse_append(a->log, U9_STATE, "C-6", "bytes of the record are still to come");
    if (!a->whole) err = u9i_flow_end(&a->flow, &why);
    if (err != U9_OK) return refuse_flow_bytes(a, err, &why);
    err = put_filled(a);
    if (err != U9_OK) return err;
    tell_place(a, a->ordinal, place);
    free_append(a);
    return U9_OK;
}

static u9_err leave_row(u9i_writer *w, void *ctx, u9_fault *fault)
{
    u9_append *a = ctx;
    (void)fault;
    row_is_over(a);
    u9i_writer_row_leave(w);
    return U9_OK;
}

void u9_append_abort(u9_append *a)
{
    if (a == NULL) return;
    if (a->log && !u9i_log_forked(a->log)) (void)!u9i_log_write(a->log, leave_row, a, false);
    free_append(a);
}

void u9i_append_leave(u9_log *log)
{
    if (log->append == NULL) return;
    log->append->log = NULL;
    log->append = NULL;
    if (!u9i_log_forked(log)) u9i_writer_row_leave(&log->writer);
}
