/*
 * python/log_append.c: u9.Log: appending and committing (log.h).
 */
#include "python/log.h"

#include <stdlib.h>

static PyObject *append_bytes(struct u9p_log *log, PyObject *key, const void *values, size_t size)
{
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key room, *given;
    struct u9p_call call;
    u9_place place = {0};
    u9_fault fault = {0};
    if (u9p_key_of(log, key, raw, &room, &given) < 0 || u9p_enter(log, &call) < 0) return NULL;
    u9_err err = u9_log_append(log->log, given, values, size, &place);
    if (err != U9_OK) u9_log_fault(log->log, &fault);
    if (u9p_leave(&call) < 0) return NULL;
    if (err != U9_OK) return u9p_raise(err, &fault, NULL);
    return u9p_place(&place, log->kind, given ? given->data : NULL, given ? given->size : 0);
}

/* append(*values, key=None) */
PyObject *u9p_log_append(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *key = NULL, *place = NULL;
    struct u9p_writer w;
    int rc = 0;
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    if (named > 0) {
        if (named > 1 || PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "key") != 0) {
            PyErr_SetString(PyExc_TypeError, "append takes values, and key=");
            return NULL;
        }
        key = args[count];
    }
    u9p_writer_init(&w);
    for (Py_ssize_t i = 0; rc == 0 && i < count; i++) rc = u9p_encode(&w.b, args[i]);
    if (rc == 0)
        place =
            append_bytes((struct u9p_log *)self, key, w.b.bytes ? w.b.bytes : w.first, w.b.size);
    u9p_writer_release(&w);
    return place;
}

/* append_encoded(values, key=None) */
PyObject *u9p_log_append_encoded(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"values", "key", NULL};
    char *values;
    Py_ssize_t size;
    PyObject *data, *key = NULL, *place = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O:append_encoded", names, &data, &key)) return NULL;
    PyObject *bytes = u9p_steady(data);
    if (bytes && PyBytes_AsStringAndSize(bytes, &values, &size) == 0)
        place = append_bytes((struct u9p_log *)self, key, values, (size_t)size);
    Py_XDECREF(bytes);
    return place;
}

struct rows {
    u9_entry *entries;
    u9_place *places;
    size_t count;
};

/* What is to be appended: pairs of a raw key or None, and encoded values. It borrows from the list's tuples. */
static int rows_from(PyObject *list, struct rows *out)
{
    Py_ssize_t count = PyList_Size(list);
    if (count < 0) return -1;
    out->count = (size_t)count;
    out->entries = calloc(out->count + 1, sizeof *out->entries);
    out->places = calloc(out->count + 1, sizeof *out->places);
    if (!out->entries || !out->places) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        char *p, *raw = NULL;
        Py_ssize_t size, raw_size = 0;
        PyObject *pair = PyList_GetItem(list, i), *key = PyTuple_GetItem(pair, 0),
                 *values = PyTuple_GetItem(pair, 1);
        if (!key || !values || PyBytes_AsStringAndSize(values, &p, &size) < 0) return -1;
        if (key != Py_None && PyBytes_AsStringAndSize(key, &raw, &raw_size) < 0) return -1;
        out->entries[i].key.data = raw;
        out->entries[i].key.size = (size_t)raw_size;
        out->entries[i].values = p;
        out->entries[i].size = (size_t)size;
    }
    return 0;
}

/* _raw_key(key) -> bytes or None: for u9.Batch */
PyObject *u9p_log_raw_key(PyObject *self, PyObject *key)
{
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key room, *given;
    if (u9p_key_of((struct u9p_log *)self, key, raw, &room, &given) < 0) return NULL;
    if (!given) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(given->data, (Py_ssize_t)given->size);
}

/* _append_batch([(key, encoded)]) -> [Place]: for u9.Batch, which makes the list for this call alone. */
PyObject *u9p_log_append_batch(PyObject *self, PyObject *list)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct rows rows = {0};
    struct u9p_call call;
    u9_fault fault = {0};
    PyObject *places = NULL;
    if (rows_from(list, &rows) == 0 && u9p_enter(log, &call) == 0) {
        u9_err err = rows.count
                         ? u9_log_append_batch(log->log, rows.entries, rows.count, rows.places)
                         : U9_OK;
        if (err != U9_OK) u9_log_fault(log->log, &fault);
        if (u9p_leave(&call) == 0)
            places =
                err == U9_OK ? PyList_New((Py_ssize_t)rows.count) : u9p_raise(err, &fault, NULL);
    }
    for (size_t i = 0; places && i < rows.count; i++) {
        const u9_key *key = &rows.entries[i].key;
        PyObject *place = u9p_place(&rows.places[i], log->kind, key->data, key->size);
        if (!place) Py_CLEAR(places);
        else PyList_SetItem(places, (Py_ssize_t)i, place);
    }
    free(rows.entries);
    free(rows.places);
    return places;
}

/* commit(at=None): True if it is durable, False if the policy does not wait; without `at` all is, at the end. */
PyObject *u9p_log_commit(PyObject *self, PyObject *args)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    u9_fault fault = {0};
    PyObject *at = Py_None;
    uint64_t ordinal = 0;
    if (!PyArg_ParseTuple(args, "|O:commit", &at)) return NULL;
    if (at != Py_None && u9p_ordinal(at, &ordinal) < 0) return NULL;
    if (u9p_enter(log, &call) < 0) return NULL;
    u9_err err = at == Py_None ? u9_log_sync(log->log) : u9_log_commit(log->log, ordinal);
    if (err < 0) u9_log_fault(log->log, &fault);
    if (u9p_leave(&call) < 0) return NULL;
    return err < 0 ? u9p_raise(err, &fault, NULL) : PyBool_FromLong(err == U9_OK);
}

/* commit_async(at) */
PyObject *u9p_log_commit_async(PyObject *self, PyObject *at)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    u9_fault fault = {0};
    uint64_t ordinal = 0;
    if (u9p_ordinal(at, &ordinal) < 0 || u9p_enter(log, &call) < 0) return NULL;
    u9_err err = u9_log_commit_async(log->log, ordinal);
    if (err != U9_OK) u9_log_fault(log->log, &fault);
    if (u9p_leave(&call) < 0) return NULL;
    if (err != U9_OK) return u9p_raise(err, &fault, NULL);
    Py_RETURN_NONE;
}
