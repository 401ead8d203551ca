/*
 * python/log_walk.c: u9.Log: cursors on it, slices, ordinals and ranges (log.h).
 */
#include "python/log.h"

/* What a slice asks for. */
struct wanted {
    int bounded;
    u9_bounds bounds;
    int back;         /* the last first */
    int64_t from, to; /* below 0: counted from the end */
};

/* Ends the call in which a cursor was opened for `made`, which is given up if that failed. No Python runs from the end of
 * the call until the log knows the cursor. */
static PyObject *cursor_made(PyObject *made, struct u9p_call *call, u9_cursor *cursor, u9_err err,
                             const u9_fault *fault)
{
    int raised = u9p_leave(call);
    if (cursor) u9p_cursor_give(made, cursor);
    if (err == U9_OK && raised == 0) return made;
    if (raised == 0) u9p_raise(err, fault, NULL);
    Py_DECREF(made);
    return NULL;
}

/* The ordinal behind the last record. */
static u9_err end_of(u9_cursor *cursor, uint64_t *end)
{
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_END};
    u9_record r;
    u9_err err = u9_cursor_seek(cursor, &to);
    if (err != U9_OK) return err;
    do err = u9_cursor_prev(cursor, &r);
    while (err == U9_CORRUPT || err == U9_ABSENT || err == U9_VERSION);
    *end = err == U9_OK || err == U9_LIMIT ? r.ordinal + 1 : 0;
    return err == U9_LIMIT || err == U9_END ? U9_OK : err;
}

static u9_err from_end(u9_cursor *cursor, struct wanted *w)
{
    uint64_t end;
    u9_err err = end_of(cursor, &end);
    if (err != U9_OK) return err;
    if (w->from < 0) w->bounds.from = (uint64_t)-w->from > end ? 0 : end - (uint64_t)-w->from;
    if (w->to < 0) w->bounds.to = (uint64_t)-w->to > end ? 0 : end - (uint64_t)-w->to;
    return U9_OK;
}

static u9_err walk_wanted(u9_cursor *cursor, struct wanted *w)
{
    static const u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_err err = U9_OK;
    if (w->from < 0 || w->to < 0) err = from_end(cursor, w);
    if (w->bounds.to < w->bounds.from) w->bounds.to = w->bounds.from; /* empty, as slices are */
    if (w->bounds.until_us < w->bounds.since_us) w->bounds.until_us = w->bounds.since_us;
    if (err == U9_OK && w->bounded) err = u9_cursor_within(cursor, &w->bounds);
    if (err == U9_OK && w->back) err = u9_cursor_seek(cursor, &end);
    return err;
}

static PyObject *cursor_on(struct u9p_log *log, struct wanted *w)
{
    struct u9p_call call;
    u9_fault fault = {0};
    u9_cursor *cursor = NULL;
    PyObject *made = u9p_cursor(log, w->back);
    if (!made || u9p_enter(log, &call) < 0) {
        Py_XDECREF(made);
        return NULL;
    }
    call.muted =
        w->from < 0 || w->to < 0; /* what is passed on the way to the end is not told here */
    u9_err err = u9_cursor_open(log->log, NULL, &cursor, &fault);
    if (err == U9_OK && (err = walk_wanted(cursor, w)) != U9_OK) u9_cursor_fault(cursor, &fault);
    return cursor_made(made, &call, cursor, err, &fault);
}

static struct wanted all_of(int back)
{
    return (struct wanted){
        .bounds = {.size = sizeof(u9_bounds), .to = U9_NOWHERE, .until_us = U9_NOWHERE},
        .back = back};
}

PyObject *u9p_log_iter(PyObject *self)
{
    struct wanted w = all_of(0);
    return cursor_on((struct u9p_log *)self, &w);
}

PyObject *u9p_log_reversed(PyObject *self, PyObject *ignored)
{
    struct wanted w = all_of(1);
    (void)ignored;
    return cursor_on((struct u9p_log *)self, &w);
}

/* One end of a slice: an ordinal, below 0 from the end, or a time. */
static int slice_end(PyObject *end, uint64_t *ordinal, uint64_t *time, int64_t *below)
{
    if (end == Py_None) return 0;
    if (!PyIndex_Check(end)) return u9p_time_of(end, 0, time);
    PyObject *number = PyNumber_Index(end);
    int over = 0;
    long long n = number ? PyLong_AsLongLongAndOverflow(number, &over) : -1;
    Py_XDECREF(number);
    if (PyErr_Occurred()) return -1;
    if (over != 0) n = over < 0 ? INT64_MIN + 1 : INT64_MAX;
    if (n < 0) *below = n;
    else *ordinal = (uint64_t)n;
    return 0;
}

static PyObject *log_slice(struct u9p_log *log, PyObject *slice)
{
    struct wanted w = all_of(0);
    PyObject *from = PyObject_GetAttrString(slice, "start"),
             *to = PyObject_GetAttrString(slice, "stop");
    PyObject *step = PyObject_GetAttrString(slice, "step"), *cursor = NULL;
    w.bounded = from != Py_None || to != Py_None;
    if (!from || !to || !step) cursor = NULL;
    else if (step != Py_None && (!PyLong_Check(step) || PyLong_AsLong(step) != 1)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a slice of a log has no step: reversed() goes back");
    } else if (slice_end(from, &w.bounds.from, &w.bounds.since_us, &w.from) == 0 &&
               slice_end(to, &w.bounds.to, &w.bounds.until_us, &w.to) == 0)
        cursor = cursor_on(log, &w);
    Py_XDECREF(from);
    Py_XDECREF(to);
    Py_XDECREF(step);
    return cursor;
}

/* The record of one ordinal: the first one from there on, if it is that. Damage in front of another one is told. */
static u9_err record_at(u9_cursor *cursor, uint64_t ordinal, struct u9p_chunk *chunk,
                        u9_fault *fault)
{
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_ORDINAL, .number = ordinal};
    u9_record r;
    u9_err err = u9_cursor_seek(cursor, &to), met = U9_ABSENT;
    while (err == U9_OK || err == U9_CORRUPT || err == U9_ABSENT) {
        err = u9_cursor_next(cursor, &r);
        if (err == U9_OK || err == U9_LIMIT || err == U9_END) break;
        met = err;
        u9_cursor_fault(cursor, fault);
    }
    if (err == U9_END || ((err == U9_OK || err == U9_LIMIT) && r.ordinal != ordinal)) return met;
    if (err == U9_OK || err == U9_LIMIT) return u9p_chunk_add(chunk, &r) ? U9_OK : U9_NOMEM;
    u9_cursor_fault(cursor, fault);
    return err;
}

static PyObject *log_ordinal(struct u9p_log *log, PyObject *number)
{
    struct u9p_call call;
    u9_fault fault = {0};
    u9_cursor *cursor = NULL;
    uint64_t ordinal = 0, time = 0, end = 0;
    int64_t below = 0;
    if (slice_end(number, &ordinal, &time, &below) < 0) return NULL;
    struct u9p_chunk *chunk = u9p_chunk_new(log->kind);
    if (!chunk || u9p_enter(log, &call) < 0) {
        Py_XDECREF((PyObject *)chunk);
        return NULL;
    }
    call.muted = 1;
    u9_err err = u9_cursor_open(log->log, NULL, &cursor, &fault);
    if (err == U9_OK && below < 0) {
        if ((err = end_of(cursor, &end)) != U9_OK) u9_cursor_fault(cursor, &fault);
        else if ((uint64_t)-below > end) err = U9_ABSENT;
        else ordinal = end - (uint64_t)-below;
    }
    if (err == U9_OK) err = record_at(cursor, ordinal, chunk, &fault);
    u9_cursor_close(cursor);
    u9p_chunk_fix(chunk);
    if (u9p_leave(&call) == 0 && err == U9_OK) return u9p_first_of(chunk);
    Py_DECREF((PyObject *)chunk);
    if (PyErr_Occurred()) return NULL;
    if (err == U9_ABSENT) return PyErr_Format(PyExc_IndexError, "the log has no record %R", number);
    return u9p_raise(err, &fault, NULL);
}

/* log[ordinal], log[from:to], log[key] */
PyObject *u9p_log_subscript(PyObject *self, PyObject *what)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_chunk *chunk;
    if (PySlice_Check(what)) return log_slice(log, what);
    if (PyIndex_Check(what)) return log_ordinal(log, what);
    if (u9p_look_up(log, what, &chunk) < 0) return NULL;
    if (chunk) return u9p_first_of(chunk);
    PyObject *make = u9p_named("absent_key"),
             *error = make ? PyObject_CallFunctionObjArgs(make, what, NULL) : NULL;
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

static PyObject *in_mode(PyObject *cursor, const char *how)
{
    PyObject *same = cursor ? PyObject_CallMethod(cursor, how, NULL) : NULL;
    Py_XDECREF(cursor);
    return same;
}

PyObject *u9p_log_values(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return in_mode(u9p_log_iter(self), "values");
}

PyObject *u9p_log_raw(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return in_mode(u9p_log_iter(self), "raw");
}

/* seek(**where): a cursor there */
PyObject *u9p_log_seek(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *cursor = u9p_log_iter(self),
             *seek = cursor ? PyObject_GetAttrString(cursor, "seek") : NULL;
    PyObject *same = seek ? PyObject_Call(seek, args, kwargs) : NULL;
    Py_XDECREF(seek);
    Py_XDECREF(cursor);
    return same;
}

/* follow(timeout=None, shows="durable") */
PyObject *u9p_log_follow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *cursor = u9p_log_iter(self),
             *follow = cursor ? PyObject_GetAttrString(cursor, "follow") : NULL;
    PyObject *same = follow ? PyObject_Call(follow, args, kwargs) : NULL;
    Py_XDECREF(follow);
    Py_XDECREF(cursor);
    return same;
}

static PyObject *split_texts(const u9_split_range *ranges, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count), *type = u9p_named("Split");
    for (size_t i = 0; list && i < count; i++) {
        char line[U9_SPLIT_LINE_SIZE];
        PyObject *split =
            type ? PyObject_CallFunction(type, "sKKK", u9_split_format(&ranges[i], line),
                                         (unsigned long long)ranges[i].number,
                                         (unsigned long long)ranges[i].count,
                                         (unsigned long long)ranges[i].bytes)
                 : NULL;
        if (!split) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, split);
    }
    return list;
}

/* splits(ranges, size=0) -> [Split] */
PyObject *u9p_log_splits(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"ranges", "size", NULL};
    struct u9p_log *log = (struct u9p_log *)self;
    uint64_t ranges = 0, size = 0;
    struct u9p_call call;
    u9_fault fault = {0};
    u9_split_range *made = NULL;
    size_t count = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&O&:splits", names, u9p_u64, &ranges, u9p_u64, &size))
        return NULL;
    if (u9p_enter(log, &call) < 0) return NULL;
    u9_err err = u9_log_split(log->log, ranges, size, &made, &count, &fault);
    int raised = u9p_leave(&call);
    PyObject *list = raised < 0     ? NULL
                     : err != U9_OK ? u9p_raise(err, &fault, NULL)
                                    : split_texts(made, count);
    if (err == U9_OK) u9_split_free(made);
    return list;
}

/* range(split) -> Cursor */
PyObject *u9p_log_range(PyObject *self, PyObject *split)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    u9_fault fault = {0};
    u9_split_range range;
    u9_cursor *cursor = NULL;
    Py_ssize_t size;
    const char *line = PyUnicode_Check(split) ? PyUnicode_AsUTF8AndSize(split, &size) : NULL;
    if (!line && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a u9.Split is needed, or its text");
    if (!line) return NULL;
    u9_err err = u9_split_parse(line, (size_t)size, &range, &fault);
    if (err != U9_OK) return u9p_raise(err, &fault, NULL);
    PyObject *made = u9p_cursor(log, 0);
    if (!made || u9p_enter(log, &call) < 0) {
        Py_XDECREF(made);
        return NULL;
    }
    err = u9_range_open(log->log, &range, &cursor, &fault);
    return cursor_made(made, &call, cursor, err, &fault);
}
