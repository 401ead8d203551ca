/*
 * python/cursor.c: u9.Cursor, a walk over records, as an iterator.
 *
 * It reads some records at a time into a chunk, with the GIL released, and hands them out one by one: `at` is the next of
 * them. What stopped the reading stands behind these: `pending`, an exception; or the end. Where the cursor of libu9
 * stands is therefore ahead of where this one does; before it is asked or sent anywhere it goes back (settle).
 */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CHUNK_BYTES = 1 << 16,
    CHUNK_RECORDS = 512,
    SLICE_MS = 100
}; /* how long a wait does not look up */

enum shape { RECORDS, VALUES, RAW };

struct u9p_cursor {
    PyObject_HEAD struct u9p_log *log;
    struct u9p_held held;
    u9_cursor *cursor; /* NULL: closed */
    int busy;          /* a thread is within */
    enum shape shape;
    int back; /* goes backwards */
    int follows;
    uint64_t timeout_ms; /* of a wait for more */
    struct u9p_chunk *chunk;
    size_t at, upto;   /* next to be handed out; `pending` comes before this one */
    size_t batch;      /* records to read at once */
    PyObject *pending; /* an exception */
    int ended,
        passed; /* what stopped the reading: the end, or something told that libu9's cursor is behind now */
};

PyTypeObject *u9p_cursor_type;

/* What a call of libu9 said, and where. */
struct outcome {
    u9_err err;
    u9_fault fault;
    const u9_damage *damage;
};

static void close_held(struct u9p_held *held)
{
    struct u9p_cursor *c = (struct u9p_cursor *)((char *)held - offsetof(struct u9p_cursor, held));
    struct u9p_call call;
    u9_cursor *closes = c->cursor;
    c->cursor = NULL;
    u9p_enter_anyway(c->log, &call);
    u9_cursor_close(closes);
    u9p_leave_quietly(&call);
    if (!call.type) return;
    PyErr_Restore(call.type, call.value, call.trace);
    PyErr_WriteUnraisable(NULL);
}

PyObject *u9p_cursor(struct u9p_log *log, int back)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(u9p_cursor_type, Py_tp_alloc);
    struct u9p_cursor *c = (struct u9p_cursor *)alloc(u9p_cursor_type, 0);
    if (!c) return NULL;
    c->log = (struct u9p_log *)Py_NewRef((PyObject *)log);
    c->held.close = close_held;
    c->back = back;
    c->batch = 4;
    c->timeout_ms = U9_NO_TIMEOUT;
    return (PyObject *)c;
}

void u9p_cursor_give(PyObject *made, u9_cursor *cursor)
{
    struct u9p_cursor *c = (struct u9p_cursor *)made;
    c->cursor = cursor;
    u9p_hold(c->log, &c->held);
}

static void shut(struct u9p_cursor *c)
{
    if (!c->cursor) return;
    u9p_let_go(&c->held);
    close_held(&c->held);
}

static void cursor_dealloc(PyObject *self)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject *kind, *value, *trace;
    PyObject_GC_UnTrack(self);
    PyErr_Fetch(&kind, &value, &trace);
    shut(c);
    PyErr_Restore(kind, value, trace);
    Py_XDECREF((PyObject *)c->chunk);
    Py_XDECREF(c->pending);
    Py_XDECREF((PyObject *)c->log);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* No tp_clear: a cycle through a cursor goes through what its log calls, which log_clear lets go of. */
static int cursor_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    Py_VISIT((PyObject *)Py_TYPE(self));
    Py_VISIT((PyObject *)c->log);
    Py_VISIT(c->pending);
    return 0;
}

/* ---- in and out ---- */

static int usable(struct u9p_cursor *c)
{
    if (u9p_log_usable(c->log) < 0) return -1;
    if (!c->cursor) u9p_refuse(U9_STATE, "the cursor is closed");
    else if (c->busy)
        u9p_refuse(U9_STATE, "the cursor is in use, by another thread or by what it called");
    else return 0;
    return -1;
}

static int enter(struct u9p_cursor *c, struct u9p_call *call)
{
    if (usable(c) < 0) return -1;
    c->busy = 1; /* before the GIL goes */
    if (u9p_enter(c->log, call) == 0) return 0;
    c->busy = 0;
    return -1;
}

/* The GIL is had again, and what failed is in `o`; the cursor is still busy, so its damage is as it was. */
static void note(struct u9p_cursor *c, struct outcome *o)
{
    if (o->err == U9_OK || o->err == U9_END || o->err == U9_AGAIN) return;
    u9_cursor_fault(c->cursor, &o->fault);
    o->damage = o->err == U9_CORRUPT || o->err == U9_ABSENT ? u9_cursor_damage(c->cursor) : NULL;
    if (o->damage && o->damage->reason == U9_R_NONE) o->damage = NULL;
}

/* 0; or -1 with the exception of a callback, or of `o`. */
static int leave(struct u9p_cursor *c, struct u9p_call *call, struct outcome *o)
{
    int rc = u9p_leave(call);
    if (rc == 0 && o && o->err != U9_OK && o->err != U9_END && o->err != U9_AGAIN) {
        u9p_raise(o->err, &o->fault, o->damage);
        rc = -1;
    }
    c->busy = 0;
    return rc;
}

/* ---- reading ---- */

static u9_err step(struct u9p_cursor *c, u9_record *r)
{
    return c->back ? u9_cursor_prev(c->cursor, r) : u9_cursor_next(c->cursor, r);
}

static u9_err step_back(struct u9p_cursor *c, u9_record *r)
{
    return c->back ? u9_cursor_next(c->cursor, r) : u9_cursor_prev(c->cursor, r);
}

/* Fills the chunk, without the GIL. Ends where a callback raised: its damage stands in front of the last record. */
static u9_err fill(struct u9p_cursor *c, const struct u9p_call *call)
{
    u9_record r;
    u9_err err = U9_OK;
    struct u9p_chunk *chunk = c->chunk;
    while (chunk->count < c->batch && chunk->used < CHUNK_BYTES) {
        err = step(c, &r);
        if (err != U9_OK && err != U9_LIMIT) break;
        if (!u9p_chunk_add(chunk, &r)) {
            err = step_back(c, &r); /* it comes again */
            return U9_NOMEM;
        }
        err = U9_OK;
        if (call->type) break;
    }
    u9p_chunk_fix(chunk);
    return err;
}

static int fresh_chunk(struct u9p_cursor *c)
{
    if (c->chunk && Py_REFCNT((PyObject *)c->chunk) == 1) {
        c->chunk->used = c->chunk->count = 0;
        return 0;
    }
    Py_XDECREF((PyObject *)c->chunk);
    c->chunk = u9p_chunk_new(c->log->kind);
    return c->chunk ? 0 : -1;
}

/* The exception that is set, as an object. */
static PyObject *taken(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

/* Reads some more. 0: there are records, or `pending`, or the end. -1: it could not be begun. */
static int more(struct u9p_cursor *c)
{
    struct u9p_call call;
    struct outcome o = {0};
    if (usable(c) < 0 || fresh_chunk(c) < 0 || enter(c, &call) < 0) return -1;
    c->at = 0;
    o.err = fill(c, &call);
    note(c, &o);
    int raised = call.type != NULL;
    c->upto = c->chunk->count;
    c->ended = o.err == U9_END && !raised;
    c->passed = !raised && (o.err == U9_CORRUPT || o.err == U9_ABSENT || o.err == U9_VERSION);
    if (raised && o.err == U9_OK) c->upto--;
    if (leave(c, &call, &o) < 0) c->pending = taken();
    if (c->batch < CHUNK_RECORDS) c->batch *= 2;
    return 0;
}

/* The chunk is held meanwhile: what runs within decoding may use this cursor. */
static PyObject *shaped_values(struct u9p_chunk *chunk, size_t at)
{
    Py_INCREF((PyObject *)chunk);
    PyObject *values = u9p_decode_record((PyObject *)chunk, &chunk->items[at].r);
    Py_DECREF((PyObject *)chunk);
    return values;
}

static PyObject *shaped(struct u9p_cursor *c, size_t at)
{
    if (c->shape == VALUES) return shaped_values(c->chunk, at);
    PyObject *record = u9p_record(c->chunk, at);
    if (!record || c->shape == RECORDS) return record;
    PyObject *view = PyMemoryView_FromObject(record);
    Py_DECREF(record);
    return view;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* At the end of a log that is followed: 1, there may be more; 0, the time is over; -1. */
static int wait_more(struct u9p_cursor *c, uint64_t timeout_ms)
{
    for (uint64_t began = now_ms();;) {
        struct u9p_call call;
        struct outcome o = {0};
        uint64_t gone = now_ms() - began, left = gone < timeout_ms ? timeout_ms - gone : 0;
        uint64_t slice = left < SLICE_MS ? left : SLICE_MS;
        if (enter(c, &call) < 0) return -1;
        o.err = u9_cursor_wait(c->cursor, slice);
        note(c, &o);
        if (leave(c, &call, &o) < 0 || PyErr_CheckSignals() < 0) return -1;
        if (o.err == U9_OK) return 1;
        if (left == 0) return 0;
    }
}

/* And goes on behind it. */
static void raise_pending(struct u9p_cursor *c)
{
    PyObject *error = c->pending;
    c->pending = NULL;
    c->passed = 0;
    c->upto = c->chunk->count;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
}

static PyObject *cursor_next(PyObject *self)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    if (usable(c) < 0) return NULL;
    for (;;) {
        if (c->at < c->upto) return shaped(c, c->at++);
        if (c->pending) {
            raise_pending(c);
            return NULL;
        }
        if (c->ended) {
            c->ended = 0; /* asked once more, it looks whether there is more by now */
            int again = c->follows ? wait_more(c, c->timeout_ms) : 0;
            if (again <= 0) return NULL;
        }
        if (more(c) < 0) return NULL;
    }
}

/* ---- to stand where the host thinks that it stands ---- */

/* Steps back over what was read ahead. Damages on the way were told, and are told again when it goes on. */
static u9_err settle(struct u9p_cursor *c)
{
    u9_record r;
    u9_err err = U9_OK;
    size_t left = c->chunk ? c->chunk->count - c->at : 0;
    if (c->passed && left == 0 && ((err = step_back(c, &r)) == U9_OK || err == U9_LIMIT))
        err = step(c, &r);
    while (left > 0) {
        err = step_back(c, &r);
        if (err == U9_OK || err == U9_LIMIT) left--;
        else if (err != U9_CORRUPT && err != U9_ABSENT && err != U9_VERSION) break;
    }
    if (left > 0) return err == U9_END ? U9_STATE : err;
    return U9_OK;
}

static void forget(struct u9p_cursor *c)
{
    c->at = c->upto = 0;
    if (c->chunk) {
        Py_DECREF((PyObject *)c->chunk);
        c->chunk = NULL;
    }
    c->ended = c->passed = 0;
    c->batch = 4;
    Py_CLEAR(c->pending);
}

/* Enters, standing where the host thinks: 0, or -1 with an exception. */
static int enter_settled(struct u9p_cursor *c, struct u9p_call *call)
{
    struct outcome o = {0};
    if (c->pending && !c->passed && c->at == c->upto) return raise_pending(c), -1;
    if (enter(c, call) < 0) return -1;
    call->muted = 1;
    o.err = settle(c);
    note(c, &o);
    if (o.err == U9_OK) {
        call->muted = 0;
        return 0;
    }
    (void)leave(c, call, &o);
    return -1;
}

/* Leaves a call behind which nothing is read ahead. */
static PyObject *moved(struct u9p_cursor *c, struct u9p_call *call, struct outcome *o)
{
    note(c, o);
    int rc = leave(c, call, o);
    forget(c);
    return rc < 0 ? NULL : Py_NewRef((PyObject *)c);
}

/* The record that `err` came with, out of a chunk of its own; None at the end. */
static PyObject *one(struct u9p_cursor *c, struct u9p_call *call, struct outcome *o,
                     struct u9p_chunk *chunk, const u9_record *r)
{
    if (o->err == U9_OK || o->err == U9_LIMIT) o->err = u9p_chunk_add(chunk, r) ? U9_OK : U9_NOMEM;
    u9p_chunk_fix(chunk);
    note(c, o);
    int rc = leave(c, call, o);
    forget(c);
    c->chunk = chunk;
    PyObject *made = rc < 0 ? NULL : chunk->count ? shaped(c, 0) : Py_NewRef(Py_None);
    c->at = c->upto = chunk->count;
    return made;
}

/* next(), prev() as methods: the record behind the cursor, or in front of it; None where there is none. */
static PyObject *stepped(PyObject *self, int back)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    struct u9p_call call;
    struct outcome o = {0};
    u9_record r;
    struct u9p_chunk *chunk = u9p_chunk_new(c->log->kind);
    if (!chunk || enter_settled(c, &call) < 0) {
        Py_XDECREF((PyObject *)chunk);
        return NULL;
    }
    o.err = back ? u9_cursor_prev(c->cursor, &r) : u9_cursor_next(c->cursor, &r);
    return one(c, &call, &o, chunk, &r);
}

static PyObject *cursor_step_next(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return stepped(self, 0);
}

static PyObject *cursor_step_prev(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return stepped(self, 1);
}

/* What seek's only argument says. */
static int place_sought(struct u9p_cursor *c, PyObject *kwargs, u9_seek *to,
                        uint8_t raw[U9_KEY_SIZE_MAX])
{
    static char *names[] = {"ordinal", "time", "key", "saved", "start", "end", NULL};
    PyObject *none = PyTuple_New(0), *ordinal = NULL, *time = NULL, *key = NULL;
    const char *saved = NULL;
    int start = 0, end = 0;
    u9_key *given;
    int ok = none && PyArg_ParseTupleAndKeywords(none, kwargs, "|$OOOspp:seek", names, &ordinal,
                                                 &time, &key, &saved, &start, &end);
    Py_XDECREF(none);
    if (!ok) return -1;
    if (!ordinal + !time + !key + !saved + !start + !end != 5) {
        PyErr_SetString(PyExc_TypeError,
                        "seek takes one of ordinal=, time=, key=, saved=, start=True, end=True");
        return -1;
    }
    to->kind = ordinal ? U9_SEEK_ORDINAL
               : time  ? U9_SEEK_TIME
               : key   ? U9_SEEK_KEY
               : saved ? U9_SEEK_SAVED
               : start ? U9_SEEK_START
                       : U9_SEEK_END;
    to->text = saved;
    if (ordinal) return u9p_ordinal(ordinal, &to->number);
    if (time) return u9p_time_of(time, 0, &to->number);
    return key ? u9p_key_of(c->log, key, raw, &to->key, &given) : 0;
}

/* seek(ordinal=, time=, key=, saved=, start=True, end=True) -> self */
static PyObject *cursor_seek(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    struct u9p_call call;
    struct outcome o = {0};
    u9_seek to = {.size = sizeof to};
    uint8_t raw[U9_KEY_SIZE_MAX];
    if (PyTuple_Size(args) > 0)
        return PyErr_SetString(PyExc_TypeError, "seek takes one named argument"), NULL;
    if (place_sought(c, kwargs, &to, raw) < 0 || enter(c, &call) < 0) return NULL;
    o.err = u9_cursor_seek(c->cursor, &to);
    return moved(c, &call, &o);
}

/* bisect(test) -> self: before the first record for which test(record) is true */
struct bisecting {
    struct u9p_cursor *cursor;
    PyObject *test;
    struct u9p_call *call;
};

static int bisect_test(void *ctx, const u9_record *r)
{
    struct bisecting *b = ctx;
    if (b->call->type) return 1;
    PyGILState_STATE state = PyGILState_Ensure();
    struct u9p_chunk *chunk = u9p_chunk_new(b->cursor->log->kind);
    PyObject *record = NULL, *said = NULL;
    if (chunk && !u9p_chunk_add(chunk, r)) PyErr_NoMemory();
    else if (chunk) {
        u9p_chunk_fix(chunk);
        record = u9p_record(chunk, 0);
    }
    if (record) said = PyObject_CallFunctionObjArgs(b->test, record, NULL);
    int yes = said ? PyObject_IsTrue(said) : -1;
    Py_XDECREF(said);
    Py_XDECREF(record);
    Py_XDECREF((PyObject *)chunk);
    if (yes < 0) u9p_keep_exception();
    PyGILState_Release(state);
    return yes != 0;
}

static PyObject *cursor_bisect(PyObject *self, PyObject *test)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    struct u9p_call call;
    struct outcome o = {0};
    struct bisecting b = {c, test, &call};
    if (enter(c, &call) < 0) return NULL;
    o.err = u9_cursor_bisect(c->cursor, bisect_test, &b);
    return moved(c, &call, &o);
}

/* save() -> str */
static PyObject *cursor_save(PyObject *self, PyObject *ignored)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    struct u9p_call call;
    struct outcome o = {0};
    char text[U9_CURSOR_TEXT_SIZE] = "";
    (void)ignored;
    if (enter_settled(c, &call) < 0) return NULL;
    o.err = u9_cursor_save(c->cursor, text, sizeof text);
    PyObject *same = moved(c, &call, &o);
    if (!same) return NULL;
    Py_DECREF(same);
    return PyUnicode_FromString(text);
}

/* follow(timeout=None, shows="durable") -> self; timeout in seconds */
static PyObject *cursor_follow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"timeout", "shows", NULL};
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    struct u9p_call call;
    struct outcome o = {0};
    PyObject *timeout = Py_None;
    const char *shows = "durable";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Os:follow", names, &timeout, &shows))
        return NULL;
    int written = strcmp(shows, "written") == 0;
    if (!written && strcmp(shows, "durable") != 0)
        return PyErr_Format(PyExc_ValueError, "shows is 'durable' or 'written', not '%s'", shows);
    double seconds = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
    if (PyErr_Occurred() || enter_settled(c, &call) < 0) return NULL;
    o.err = u9_cursor_follow(c->cursor, written ? U9_SHOW_WRITTEN : U9_SHOW_DURABLE);
    PyObject *same = moved(c, &call, &o);
    if (!same) return NULL;
    c->follows = 1;
    c->timeout_ms = timeout == Py_None ? U9_NO_TIMEOUT
                    : seconds > 0      ? (uint64_t)(seconds * 1e3)
                                       : 0;
    return same;
}

/* wait(timeout=None) -> bool: for a host that goes by next() */
static PyObject *cursor_wait(PyObject *self, PyObject *args)
{
    PyObject *timeout = Py_None;
    if (!PyArg_ParseTuple(args, "|O:wait", &timeout)) return NULL;
    double seconds = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
    if (PyErr_Occurred()) return NULL;
    int rc = wait_more((struct u9p_cursor *)self, timeout == Py_None ? U9_NO_TIMEOUT
                                                  : seconds > 0      ? (uint64_t)(seconds * 1e3)
                                                                     : 0);
    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

static PyObject *cursor_event_fd(PyObject *self, PyObject *ignored)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    (void)ignored;
    return usable(c) < 0 ? NULL : PyLong_FromLong(u9_cursor_event_fd(c->cursor));
}

/* reversed(cursor): itself, from its end backwards. */
static PyObject *cursor_reversed(PyObject *self, PyObject *ignored)
{
    static const u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    struct u9p_call call;
    struct outcome o = {0};
    (void)ignored;
    if (enter(c, &call) < 0) return NULL;
    o.err = u9_cursor_seek(c->cursor, &end);
    PyObject *same = moved(c, &call, &o);
    if (same) c->back = 1;
    return same;
}

static PyObject *as_shape(PyObject *self, enum shape shape)
{
    ((struct u9p_cursor *)self)->shape = shape;
    return Py_NewRef(self);
}

static PyObject *cursor_values(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return as_shape(self, VALUES);
}

static PyObject *cursor_raw(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return as_shape(self, RAW);
}

static PyObject *cursor_close(PyObject *self, PyObject *ignored)
{
    struct u9p_cursor *c = (struct u9p_cursor *)self;
    (void)ignored;
    if (c->busy)
        return u9p_refuse(U9_STATE, "the cursor is in use, by another thread or by what it called");
    shut(c);
    forget(c);
    Py_RETURN_NONE;
}

static PyObject *cursor_enter(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return usable((struct u9p_cursor *)self) < 0 ? NULL : Py_NewRef(self);
}

static PyObject *cursor_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return cursor_close(self, NULL);
}

static PyObject *cursor_log(PyObject *self, void *x)
{
    (void)x;
    return Py_NewRef((PyObject *)((struct u9p_cursor *)self)->log);
}

#define WITH_NAMES METH_VARARGS | METH_KEYWORDS
#define NAMED(f) (PyCFunction)(void (*)(void))(f)

static PyMethodDef methods[] = {
    {"next", cursor_step_next, METH_NOARGS,
     "next(): the record behind the cursor, which moves over it; None at the end."},
    {"prev", cursor_step_prev, METH_NOARGS,
     "prev(): the record in front of it; None at the start."},
    {"seek", NAMED(cursor_seek), WITH_NAMES,
     "seek(*, ordinal | time | key | saved | start=True | end=True): goes there, and returns itself."},
    {"bisect", cursor_bisect, METH_O,
     "bisect(test): goes before the first record for which test(record) is true, as it must be for all behind it."},
    {"save", cursor_save, METH_NOARGS,
     "save() -> str: where it is, as a line that seek(saved=) takes in any process."},
    {"follow", NAMED(cursor_follow), WITH_NAMES,
     "follow(timeout=None, shows='durable'): its end is not the end from now on: iteration waits for more, and ends when "
     "nothing came for `timeout` seconds."},
    {"wait", cursor_wait, METH_VARARGS,
     "wait(timeout=None) -> bool: waits at the end until next() may have more."},
    {"event_fd", cursor_event_fd, METH_NOARGS,
     "event_fd() -> int: readable when something was done to a followed log."},
    {"values", cursor_values, METH_NOARGS,
     "values(): it hands out the values of records from now on, as tuples."},
    {"raw", cursor_raw, METH_NOARGS, "raw(): it hands out records as memoryviews from now on."},
    {"close", cursor_close, METH_NOARGS, "close(): gives back what it holds. Its log does so too."},
    {"__enter__", cursor_enter, METH_NOARGS, NULL},
    {"__exit__", cursor_exit, METH_VARARGS, NULL},
    {"__reversed__", cursor_reversed, METH_NOARGS, "The same cursor, from its end backwards."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef fields[] = {
    {"log", cursor_log, NULL, "The log that it walks.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, cursor_dealloc},
    {Py_tp_traverse, cursor_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, cursor_next},
    {Py_tp_methods, methods},
    {Py_tp_getset, fields},
    {Py_tp_doc,
     "A walk over the records of a log: an iterator that can be sent anywhere. One thread at a time uses it.\n\n"
     "Damage is raised (u9.CorruptError), and the next step goes on behind it."},
    {0, NULL},
};
PyType_Spec u9p_cursor_spec = {.name = "u9.Cursor",
                               .basicsize = sizeof(struct u9p_cursor),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
