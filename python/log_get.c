/*
 * python/log_get.c: u9.Log: records by their keys (log.h).
 */
#include "python/log.h"

#include <stdlib.h>

/* One record, the newest of its key. `*out` is NULL where there is none. */
int u9p_look_up(struct u9p_log *log, PyObject *key, struct u9p_chunk **out)
{
    uint8_t raw[U9_KEY_SIZE_MAX], few[2048], *room = few;
    size_t cap = sizeof few;
    u9_key space, *given;
    u9_record r;
    struct u9p_call call;
    u9_fault fault = {0};
    u9_err err;
    *out = NULL;
    if (u9p_key_of(log, key, raw, &space, &given) < 0) return -1;
    if (!given) return PyErr_SetString(PyExc_TypeError, "None is no key"), -1;
    struct u9p_chunk *chunk = u9p_chunk_new(log->kind);
    if (!chunk) return -1;
    if (u9p_enter(log, &call) < 0) {
        Py_DECREF((PyObject *)chunk);
        return -1;
    }
    while ((err = u9_log_get(log->log, given, room, cap, &r, &fault)) == U9_LIMIT &&
           r.size <= U9_RECORD_MAX) {
        if (room != few) free(room); /* another, larger one may be the newest by now */
        cap = (size_t)r.size;
        if (!(room = malloc(cap))) break;
    }
    if (!room || ((err == U9_OK || err == U9_LIMIT) && !u9p_chunk_add(chunk, &r))) err = U9_NOMEM;
    u9p_chunk_fix(chunk);
    if (room != few) free(room);
    int raised = u9p_leave(&call);
    if (raised == 0 && chunk->count > 0) *out = chunk;
    else Py_DECREF((PyObject *)chunk);
    if (raised < 0 || *out || err == U9_ABSENT) return raised;
    u9p_raise(err, &fault, NULL);
    return -1;
}

PyObject *u9p_first_of(struct u9p_chunk *chunk)
{
    PyObject *record = u9p_record(chunk, 0);
    Py_DECREF((PyObject *)chunk);
    return record;
}

/* get(key, default=None) */
PyObject *u9p_log_get(PyObject *self, PyObject *args)
{
    struct u9p_chunk *chunk;
    PyObject *key, *otherwise = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:get", &key, &otherwise)) return NULL;
    if (u9p_look_up((struct u9p_log *)self, key, &chunk) < 0) return NULL;
    return chunk ? u9p_first_of(chunk) : Py_NewRef(otherwise);
}

int u9p_log_contains(PyObject *self, PyObject *key)
{
    struct u9p_log *log = (struct u9p_log *)self;
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key space, *given;
    u9_record r = {0};
    struct u9p_call call;
    u9_fault fault = {0};
    if (u9p_key_of(log, key, raw, &space, &given) < 0) return -1;
    if (!given) return PyErr_SetString(PyExc_TypeError, "None is no key"), -1;
    if (u9p_enter(log, &call) < 0) return -1;
    u9_err err = u9_log_get(log->log, given, NULL, 0, &r, &fault);
    if (u9p_leave(&call) < 0) return -1;
    if (err == U9_OK || err == U9_LIMIT || (err == U9_CORRUPT && r.size > 0)) return 1;
    if (err == U9_ABSENT) return 0;
    u9p_raise(err, &fault, NULL);
    return -1;
}

enum {
    ROOM = 512
}; /* bytes for each record that is looked up with others; a larger one is looked up again */

/* Fills `list` with what was found; what is larger, or went wrong by itself, is looked up alone. */
static int answers(struct u9p_log *log, PyObject *keys, const u9_lookup *asked, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        struct u9p_chunk *chunk = NULL;
        if (asked[i].err == U9_OK) {
            if (!(chunk = u9p_chunk_new(log->kind))) return -1;
            if (!u9p_chunk_add(chunk, &asked[i].record)) {
                Py_DECREF((PyObject *)chunk);
                return PyErr_NoMemory(), -1;
            }
            u9p_chunk_fix(chunk);
        } else if (asked[i].err != U9_ABSENT &&
                   u9p_look_up(log, PyTuple_GetItem(keys, i), &chunk) < 0)
            return -1;
        PyObject *found = chunk ? u9p_first_of(chunk) : Py_NewRef(Py_None);
        if (!found) return -1;
        PyList_SetItem(list, i, found);
    }
    return 0;
}

static int keys_of(struct u9p_log *log, PyObject *keys, u9_lookup *asked,
                   uint8_t (*raw)[U9_KEY_SIZE_MAX], uint8_t *rooms)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(keys); i++) {
        u9_key *given;
        if (u9p_key_of(log, PyTuple_GetItem(keys, i), raw[i], &asked[i].key, &given) < 0) return -1;
        if (!given) return PyErr_SetString(PyExc_TypeError, "None is no key"), -1;
        asked[i].buf = rooms + (size_t)i * ROOM;
        asked[i].cap = ROOM;
    }
    return 0;
}

/* get_many(keys) -> [Record or None] */
PyObject *u9p_log_get_many(PyObject *self, PyObject *given)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    u9_fault fault = {0};
    PyObject *keys = PySequence_Tuple(given), *list = keys ? PyList_New(PyTuple_Size(keys)) : NULL;
    size_t count = keys ? (size_t)PyTuple_Size(keys) : 0;
    u9_lookup *asked = calloc(count + 1, sizeof *asked);
    uint8_t(*raw)[U9_KEY_SIZE_MAX] = calloc(count + 1, sizeof *raw),
    *rooms = malloc(count * ROOM + 1);
    int rc = list ? 0 : -1;
    if (list && (!asked || !raw || !rooms)) rc = (PyErr_NoMemory(), -1);
    if (rc == 0) rc = keys_of(log, keys, asked, raw, rooms);
    if (rc == 0 && (rc = u9p_enter(log, &call)) == 0) {
        u9_err err = count ? u9_log_get_many(log->log, asked, count, &fault) : U9_OK;
        rc = u9p_leave(&call);
        if (rc == 0 && err != U9_OK) rc = (u9p_raise(err, &fault, NULL), -1);
    }
    if (rc == 0) rc = answers(log, keys, asked, list);
    if (rc < 0) Py_CLEAR(list);
    Py_XDECREF(keys);
    free(asked);
    free(raw);
    free(rooms);
    return list;
}

static int add_version(void *ctx, const u9_record *r)
{
    struct u9p_chunk *chunk = *(struct u9p_chunk **)ctx;
    if (u9p_chunk_add(chunk, r)) return 0;
    *(struct u9p_chunk **)ctx = NULL;
    return 1;
}

/* versions(key) -> [Record]: the oldest first */
PyObject *u9p_log_versions(PyObject *self, PyObject *key)
{
    struct u9p_log *log = (struct u9p_log *)self;
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key space, *given;
    struct u9p_call call;
    u9_fault fault = {0};
    if (u9p_key_of(log, key, raw, &space, &given) < 0) return NULL;
    if (!given) return PyErr_SetString(PyExc_TypeError, "None is no key"), NULL;
    struct u9p_chunk *chunk = u9p_chunk_new(log->kind), *goes = chunk;
    PyObject *list = NULL;
    if (chunk && u9p_enter(log, &call) == 0) {
        u9_err err = u9_log_versions(log->log, given, add_version, &goes, &fault);
        u9p_chunk_fix(chunk);
        if (u9p_leave(&call) < 0) err = U9_STATE;
        else if (!goes) PyErr_NoMemory();
        else if (err != U9_OK && err != U9_ABSENT) u9p_raise(err, &fault, NULL);
        else list = PyList_New((Py_ssize_t)chunk->count);
    }
    for (size_t i = 0; list && i < chunk->count; i++) {
        PyObject *record = u9p_record(chunk, i);
        if (!record) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, record);
    }
    Py_XDECREF((PyObject *)chunk);
    return list;
}
