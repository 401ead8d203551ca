/*
 * python/log.c: u9.Log, an open log; and the way in and out of libu9, with the GIL released (module.h).
 *
 * A log closes when nobody is within it any more: what is open on it is closed first, and is refused from then on. The
 * log that a callback comes from cannot be closed by it. In a forked child a close only frees; if another thread was
 * within the log when it was forked, it frees nothing, for that thread's locks are never given back.
 */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *u9p_log_type;
unsigned u9p_forks;

static _Thread_local struct u9p_call *calls; /* of this thread, the innermost first */
static struct u9p_log *open_logs;            /* guarded by the GIL */

/* ---- in and out ---- */

int u9p_log_usable(struct u9p_log *log)
{
    if (!log->log || log->closing) u9p_refuse(U9_STATE, "the log is closed");
    else if (log->born != u9p_forks)
        u9p_refuse(U9_STATE, "the log was opened before this process was forked");
    else return 0;
    return -1;
}

static void count(struct u9p_log *log, int enters)
{
    pthread_mutex_lock(&log->lock);
    if (enters) log->users++;
    else if (--log->users == 0) pthread_cond_broadcast(&log->idle);
    pthread_mutex_unlock(&log->lock);
}

void u9p_enter_anyway(struct u9p_log *log, struct u9p_call *call)
{
    memset(call, 0, sizeof *call);
    call->log = log;
    call->counted = log->born == u9p_forks;
    if (call->counted) count(log, 1);
    call->up = calls;
    calls = call;
    call->thread = PyEval_SaveThread();
}

int u9p_enter(struct u9p_log *log, struct u9p_call *call)
{
    if (u9p_log_usable(log) < 0) return -1;
    u9p_enter_anyway(log, call);
    return 0;
}

void u9p_leave_quietly(struct u9p_call *call)
{
    PyEval_RestoreThread(call->thread);
    calls = call->up;
    if (call->counted) count(call->log, 0);
}

int u9p_leave(struct u9p_call *call)
{
    u9p_leave_quietly(call);
    if (!call->type) return 0;
    PyErr_Restore(call->type, call->value, call->trace);
    return -1;
}

void u9p_keep_exception(void)
{
    if (calls && !calls->type) PyErr_Fetch(&calls->type, &calls->value, &calls->trace);
    else PyErr_WriteUnraisable(NULL);
}

static void forked(void)
{
    u9p_forks++;
}

void u9p_hold(struct u9p_log *log, struct u9p_held *held)
{
    held->next = &log->held;
    held->prev = log->held.prev;
    held->prev->next = held->next->prev = held;
}

void u9p_let_go(struct u9p_held *held)
{
    if (!held->next) return;
    held->next->prev = held->prev;
    held->prev->next = held->next;
    held->next = held->prev = NULL;
}

/* Told of damage by a walk, within a call of this thread: the host's function is called. */
static void damage_met(void *ctx, const u9_damage *damage)
{
    struct u9p_log *log = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    if (log->on_damage && !(calls && (calls->type || calls->muted))) {
        PyObject *told = u9p_damage(damage);
        PyObject *said = told ? PyObject_CallFunctionObjArgs(log->on_damage, told, NULL) : NULL;
        if (!said) u9p_keep_exception();
        Py_XDECREF(told);
        Py_XDECREF(said);
    }
    PyGILState_Release(state);
}

/* ---- keys and times ---- */

int u9p_key_of(struct u9p_log *log, PyObject *key, uint8_t raw[U9_KEY_SIZE_MAX], u9_key *out,
               u9_key **given)
{
    Py_ssize_t size;
    u9_id_reason why = U9_ID_FINE;
    *given = NULL;
    if (!key || key == Py_None) return 0;
    if (u9p_log_usable(log) < 0) return -1;
    *given = out;
    if (PyBytes_Check(key)) {
        char *p;
        if (PyBytes_AsStringAndSize(key, &p, &size) < 0) return -1;
        out->data = p;
        out->size = (size_t)size;
        return 0;
    }
    if (!PyUnicode_Check(key)) {
        PyErr_Format(PyExc_TypeError, "a %R is no key: bytes, str, or an identifier is",
                     Py_TYPE(key));
        return -1;
    }
    const char *text = PyUnicode_AsUTF8AndSize(key, &size);
    if (!text) return -1;
    out->data = raw;
    if (u9_key_parse(u9_log_kind(log->log), text, (size_t)size, raw, &out->size, &why) == U9_OK)
        return 0;
    u9p_refuse(U9_ARG, u9_id_reason_text(why));
    return -1;
}

int u9p_time_of(PyObject *time, uint64_t none, uint64_t *out)
{
    *out = none;
    if (!time || time == Py_None) return 0;
    PyObject *of = u9p_named("microseconds"),
             *us = of ? PyObject_CallFunctionObjArgs(of, time, NULL) : NULL;
    long long n = us ? PyLong_AsLongLong(us) : -1;
    Py_XDECREF(us);
    if (n == -1 && PyErr_Occurred()) return -1;
    *out = n < 0 ? 0 : (uint64_t)n;
    return 0;
}

PyObject *u9p_time(uint64_t us)
{
    if (us == 0) Py_RETURN_NONE;
    PyObject *of = u9p_named("time_of");
    return of ? PyObject_CallFunction(of, "K", (unsigned long long)us) : NULL;
}

/* ---- open and close ---- */

static int word(const char *given, const char *const *words, const char *what, int *out)
{
    for (int i = 0; given && words[i]; i++)
        if (strcmp(given, words[i]) == 0) {
            *out = i;
            return 0;
        }
    if (!given) return 0;
    PyErr_Format(PyExc_ValueError, "there is no %s '%s'", what, given);
    return -1;
}

static int mode_of(const char *mode, u9_options *o)
{
    static const char *const modes[] = {"", "r", "w", "c", NULL};
    int m = 1;
    if (word(*mode ? mode : "?", modes, "mode", &m) < 0) return -1;
    o->mode = (u9_mode)m;
    return 0;
}

static int choices(u9_options *o, const char *mode, const char *policy, const char *verify)
{
    static const char *const policies[] = {"commit", "interval", "none", NULL};
    static const char *const verifies[] = {"first", "always", "never", NULL};
    int p = 0, v = 0;
    if (mode_of(mode, o) < 0) return -1;
    if (word(policy, policies, "policy", &p) < 0 || word(verify, verifies, "way to verify", &v) < 0)
        return -1;
    o->policy = (u9_policy)p;
    o->verify = (u9_verify)v;
    return 0;
}

static struct u9p_log *log_alloc(PyObject *path, PyObject *mode, PyObject *on_damage)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(u9p_log_type, Py_tp_alloc);
    struct u9p_log *log = (struct u9p_log *)alloc(u9p_log_type, 0);
    if (!log) return NULL;
    log->born = u9p_forks;
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->idle, NULL);
    log->held.next = log->held.prev = &log->held;
    log->path = Py_NewRef(path);
    log->mode = Py_NewRef(mode);
    log->on_damage = on_damage == Py_None ? NULL : Py_XNewRef(on_damage);
    return log;
}

static PyObject *open_as(struct u9p_log *log, const char *path, const u9_options *o)
{
    struct u9p_call call;
    u9_fault fault = {0};
    u9_log *opened = NULL;
    u9p_enter_anyway(log, &call);
    u9_err err = u9_log_open(path, o, &opened, &fault);
    int raised = u9p_leave(&call);
    if (err == U9_OK) {
        log->log = opened;
        log->kind = u9p_kind_of(u9_log_kind(opened));
        log->next = open_logs;
        if (open_logs) open_logs->prev = log;
        open_logs = log;
    } else if (raised == 0) u9p_raise(err, &fault, NULL);
    if (err == U9_OK && raised == 0) return (PyObject *)log;
    Py_DECREF((PyObject *)log);
    return NULL;
}

PyObject *u9p_open(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {
        "path",         "mode",        "kind",      "policy",  "lz4",       "segment_size",
        "io",           "on_damage",   "generator", "cluster", "medallion", "keep_bytes",
        "keep_age",     "interval_ms", "memory",    "no_wait", "verify",    "index_memory",
        "cache_memory", "mend",        NULL};
    u9_options o = {.size = sizeof o};
    PyObject *path = NULL, *mode = NULL, *on_damage = NULL, *generator = NULL, *log = NULL;
    const char *policy = NULL, *verify = NULL;
    unsigned long long segment_size = 0, medallion = 0, keep_bytes = 0, interval = 0, memory = 0,
                       index = 0, cache = 0;
    double age = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|U$zzpKzOOIKKdKKpzKKp:open", names,
                                     PyUnicode_FSConverter, &path, &mode, &o.kind, &policy, &o.lz4,
                                     &segment_size, &o.io, &on_damage, &generator, &o.cluster,
                                     &medallion, &keep_bytes, &age, &interval, &memory, &o.no_wait,
                                     &verify, &index, &cache, &o.mend))
        return NULL;
    PyObject *text = mode ? Py_NewRef(mode) : PyUnicode_FromString("r");
    const char *m = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (m && choices(&o, m, policy, verify) == 0) {
        o.segment_size = segment_size;
        o.medallion = medallion;
        o.keep_bytes = keep_bytes;
        o.keep_age_us = age > 0 ? (uint64_t)(age * 1e6) : 0;
        o.interval_ms = interval;
        o.memory = memory;
        o.index_memory = index;
        o.cache_memory = cache;
        if (generator && generator != Py_None) {
            o.generator_given = 1;
            o.generator = (uint32_t)PyLong_AsUnsignedLong(generator);
        }
        struct u9p_log *l = PyErr_Occurred() ? NULL : log_alloc(path, text, on_damage);
        if (l && l->on_damage) {
            o.on_damage = damage_met;
            o.on_damage_ctx = l;
        }
        if (l) log = open_as(l, PyBytes_AsString(path), &o);
    }
    Py_XDECREF(text);
    Py_DECREF(path);
    return log;
}

static void wait_idle(struct u9p_log *log)
{
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&log->lock);
    while (log->users > 0) pthread_cond_wait(&log->idle, &log->lock);
    pthread_mutex_unlock(&log->lock);
    Py_END_ALLOW_THREADS
}

/* Closes what is open on it, once nobody is within. The last look at both is one step, under the GIL. */
static void close_held(struct u9p_log *log)
{
    while (log->users > 0 || log->held.next != &log->held) {
        if (log->users > 0) wait_idle(log);
        struct u9p_held *h = log->held.next;
        if (log->users > 0 || h == &log->held) continue;
        u9p_let_go(h);
        h->close(h);
    }
}

static int within(const struct u9p_log *log)
{
    for (const struct u9p_call *c = calls; c; c = c->up)
        if (c->log == log) return 1;
    return 0;
}

/* U9_OK also for one that is closed, or is being closed by another thread. */
static u9_err shut(struct u9p_log *log, u9_fault *fault, struct u9p_call *call)
{
    u9_log *closes = log->log;
    if (!closes || log->closing) return U9_OK;
    log->closing = 1;
    int stuck = log->born != u9p_forks && log->users > 0;
    if (!stuck) close_held(log);
    log->log = NULL;
    if (log->next) log->next->prev = log->prev;
    if (log->prev) log->prev->next = log->next;
    else open_logs = log->next;
    log->next = log->prev = NULL;
    if (stuck) return U9_OK;
    u9p_enter_anyway(log, call);
    u9_err err = u9_log_close(closes, fault);
    u9p_leave_quietly(call);
    return log->born == u9p_forks ? err : U9_OK; /* a child is told that it only freed */
}

static PyObject *log_close(PyObject *self, PyObject *ignored)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call = {0};
    u9_fault fault = {0};
    (void)ignored;
    if (within(log))
        return u9p_refuse(U9_STATE, "a log cannot be closed within a callback of its own");
    u9_err err = shut(log, &fault, &call);
    if (call.type) {
        PyErr_Restore(call.type, call.value, call.trace);
        return NULL;
    }
    if (err != U9_OK) return u9p_raise(err, &fault, NULL);
    Py_RETURN_NONE;
}

/* Without anybody to tell: what goes wrong is printed as Python does. */
static void close_unasked(struct u9p_log *log)
{
    PyObject *type, *value, *trace;
    struct u9p_call call = {0};
    u9_fault fault = {0};
    PyErr_Fetch(&type, &value, &trace);
    u9_err err = shut(log, &fault, &call);
    if (call.type) PyErr_Restore(call.type, call.value, call.trace);
    else if (err != U9_OK) u9p_raise(err, &fault, NULL);
    if (PyErr_Occurred()) PyErr_WriteUnraisable(log->path);
    PyErr_Restore(type, value, trace);
}

/* For atexit: sessions end cleanly, whoever still holds a log. */
PyObject *u9p_close_all(PyObject *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    for (struct u9p_log *log = open_logs; log;) {
        if (log->closing) { /* another thread is at it */
            log = log->next;
            continue;
        }
        Py_INCREF((PyObject *)log);
        close_unasked(log);
        Py_DECREF((PyObject *)log);
        log = open_logs;
    }
    Py_RETURN_NONE;
}

static void warn_unclosed(struct u9p_log *log)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (PyErr_ResourceWarning(NULL, 1, "unclosed log %R", log->path) < 0)
        PyErr_WriteUnraisable(log->path);
    PyErr_Restore(type, value, trace);
}

static void log_dealloc(PyObject *self)
{
    struct u9p_log *log = (struct u9p_log *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (log->log) {
        if (log->born == u9p_forks) warn_unclosed(log);
        close_unasked(log);
    }
    Py_XDECREF(log->on_damage);
    Py_XDECREF(log->mode);
    Py_XDECREF(log->path);
    if (log->born == u9p_forks) { /* else a thread that is not here may have them */
        pthread_cond_destroy(&log->idle);
        pthread_mutex_destroy(&log->lock);
    }
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

static int log_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT((PyObject *)Py_TYPE(self));
    Py_VISIT(((struct u9p_log *)self)->on_damage);
    return 0;
}

static int log_clear(PyObject *self)
{
    Py_CLEAR(((struct u9p_log *)self)->on_damage);
    return 0;
}

static PyObject *log_enter(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return u9p_log_usable((struct u9p_log *)self) < 0 ? NULL : Py_NewRef(self);
}

static PyObject *log_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return log_close(self, NULL);
}

/* ---- appending ---- */

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
static PyObject *log_append(PyObject *self, PyObject *const *args, Py_ssize_t count,
                            PyObject *names)
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
static PyObject *log_append_encoded(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"values", "key", NULL};
    Py_buffer values;
    PyObject *key = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*|$O:append_encoded", names, &values, &key))
        return NULL;
    PyObject *place =
        append_bytes((struct u9p_log *)self, key, values.buf ? values.buf : "", (size_t)values.len);
    PyBuffer_Release(&values);
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
static PyObject *log_raw_key(PyObject *self, PyObject *key)
{
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key room, *given;
    if (u9p_key_of((struct u9p_log *)self, key, raw, &room, &given) < 0) return NULL;
    if (!given) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(given->data, (Py_ssize_t)given->size);
}

/* _append_batch([(key, encoded)]) -> [Place]: for u9.Batch, which makes the list for this call alone. */
static PyObject *log_append_batch(PyObject *self, PyObject *list)
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
static PyObject *log_commit(PyObject *self, PyObject *args)
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
static PyObject *log_commit_async(PyObject *self, PyObject *at)
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

/* ---- looking up ---- */

/* One record, the newest of its key. `*out` is NULL where there is none. */
static int look_up(struct u9p_log *log, PyObject *key, struct u9p_chunk **out)
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
        cap = r.size;
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

static PyObject *first_of(struct u9p_chunk *chunk)
{
    PyObject *record = u9p_record(chunk, 0);
    Py_DECREF((PyObject *)chunk);
    return record;
}

/* get(key, default=None) */
static PyObject *log_get(PyObject *self, PyObject *args)
{
    struct u9p_chunk *chunk;
    PyObject *key, *otherwise = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:get", &key, &otherwise)) return NULL;
    if (look_up((struct u9p_log *)self, key, &chunk) < 0) return NULL;
    return chunk ? first_of(chunk) : Py_NewRef(otherwise);
}

static int log_contains(PyObject *self, PyObject *key)
{
    struct u9p_chunk *chunk;
    if (look_up((struct u9p_log *)self, key, &chunk) < 0) return -1;
    Py_XDECREF((PyObject *)chunk);
    return chunk != NULL;
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
        } else if (asked[i].err != U9_ABSENT && look_up(log, PyTuple_GetItem(keys, i), &chunk) < 0)
            return -1;
        PyObject *found = chunk ? first_of(chunk) : Py_NewRef(Py_None);
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
static PyObject *log_get_many(PyObject *self, PyObject *given)
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
static PyObject *log_versions(PyObject *self, PyObject *key)
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

/* ---- cursors ---- */

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

static PyObject *log_iter(PyObject *self)
{
    struct wanted w = all_of(0);
    return cursor_on((struct u9p_log *)self, &w);
}

static PyObject *log_reversed(PyObject *self, PyObject *ignored)
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
    if (u9p_leave(&call) == 0 && err == U9_OK) return first_of(chunk);
    Py_DECREF((PyObject *)chunk);
    if (PyErr_Occurred()) return NULL;
    if (err == U9_ABSENT) return PyErr_Format(PyExc_IndexError, "the log has no record %R", number);
    return u9p_raise(err, &fault, NULL);
}

/* log[ordinal], log[from:to], log[key] */
static PyObject *log_subscript(PyObject *self, PyObject *what)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_chunk *chunk;
    if (PySlice_Check(what)) return log_slice(log, what);
    if (PyIndex_Check(what)) return log_ordinal(log, what);
    if (look_up(log, what, &chunk) < 0) return NULL;
    if (chunk) return first_of(chunk);
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

static PyObject *log_values(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return in_mode(log_iter(self), "values");
}

static PyObject *log_raw(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return in_mode(log_iter(self), "raw");
}

/* seek(**where): a cursor there */
static PyObject *log_seek(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *cursor = log_iter(self),
             *seek = cursor ? PyObject_GetAttrString(cursor, "seek") : NULL;
    PyObject *same = seek ? PyObject_Call(seek, args, kwargs) : NULL;
    Py_XDECREF(seek);
    Py_XDECREF(cursor);
    return same;
}

/* follow(timeout=None, shows="durable") */
static PyObject *log_follow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *cursor = log_iter(self),
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
static PyObject *log_splits(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"ranges", "size", NULL};
    struct u9p_log *log = (struct u9p_log *)self;
    unsigned long long ranges = 0, size = 0;
    struct u9p_call call;
    u9_fault fault = {0};
    u9_split_range *made = NULL;
    size_t count = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|KK:splits", names, &ranges, &size))
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
static PyObject *log_range(PyObject *self, PyObject *split)
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

/* ---- the rest ---- */

static void add_damage(void *ctx, const u9_damage *damage)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *told = calls->type ? NULL : u9p_damage(damage);
    if (!calls->type && (!told || PyList_Append(ctx, told) < 0)) u9p_keep_exception();
    Py_XDECREF(told);
    PyGILState_Release(state);
}

/* damages() -> [Damage]: what is known without reading */
static PyObject *log_damages(PyObject *self, PyObject *ignored)
{
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    u9_fault fault = {0};
    PyObject *list = PyList_New(0);
    (void)ignored;
    if (list && u9p_enter(log, &call) == 0) {
        u9_err err = u9_log_damages(log->log, add_damage, list, &fault);
        if (u9p_leave(&call) == 0 && err == U9_OK) return list;
        if (!PyErr_Occurred()) u9p_raise(err, &fault, NULL);
    }
    Py_XDECREF(list);
    return NULL;
}

/* snapshot(dir, copy=False, strict=False, on_damage=None) -> dict */
struct snap {
    PyObject *on_damage;
};

static void snap_damage(void *ctx, const u9_damage *damage)
{
    struct snap *s = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    if (!calls->type) {
        PyObject *told = u9p_damage(damage),
                 *said = told ? PyObject_CallFunctionObjArgs(s->on_damage, told, NULL) : NULL;
        if (!said) u9p_keep_exception();
        Py_XDECREF(told);
        Py_XDECREF(said);
    }
    PyGILState_Release(state);
}

/* Stops a snapshot whose callback raised, or a signal's handler. */
static int snap_progress(void *ctx, uint64_t done, uint64_t all)
{
    PyGILState_STATE state = PyGILState_Ensure();
    (void)ctx;
    (void)done;
    (void)all;
    if (!calls->type && PyErr_CheckSignals() < 0) u9p_keep_exception();
    int stop = calls->type != NULL;
    PyGILState_Release(state);
    return stop;
}

static PyObject *log_snapshot(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dir", "copy", "strict", "on_damage", NULL};
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    struct snap snap = {Py_None};
    PyObject *dir;
    u9_fault fault = {0};
    u9_snapshot_options o = {.size = sizeof o, .on_progress = snap_progress, .ctx = &snap};
    u9_snapshot_report r = {.size = sizeof r};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$ppO:snapshot", names, PyUnicode_FSConverter,
                                     &dir, &o.copy, &o.strict, &snap.on_damage))
        return NULL;
    if (snap.on_damage != Py_None) o.on_damage = snap_damage;
    int rc = u9p_enter(log, &call);
    u9_err err = U9_OK;
    if (rc == 0) {
        err = u9_log_snapshot(log->log, PyBytes_AsString(dir), &o, &r, &fault);
        rc = u9p_leave(&call);
    }
    Py_DECREF(dir);
    if (rc < 0) return NULL;
    if (err != U9_OK) return u9p_raise(err, &fault, NULL);
    return Py_BuildValue(
        "{sssKsKsKsKsKsKsKsKsKsO}", "verdict", u9_verdict_name(r.verdict), "damages",
        (unsigned long long)r.damages, "lost", (unsigned long long)r.lost, "kept",
        (unsigned long long)r.kept, "linked", (unsigned long long)r.linked, "copied",
        (unsigned long long)r.copied, "removed", (unsigned long long)r.removed, "copied_bytes",
        (unsigned long long)r.copied_bytes, "first_ordinal", (unsigned long long)r.first_ordinal,
        "next_ordinal", (unsigned long long)r.next_ordinal, "closed",
        r.closed ? Py_True : Py_False);
}

/* trim(keep_bytes=0, before=0, before_time=None, dry_run=False) -> dict */
static PyObject *log_trim(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"keep_bytes", "before", "before_time", "dry_run", NULL};
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    PyObject *time = NULL;
    unsigned long long keep = 0, before = 0;
    u9_fault fault = {0};
    u9_trim what = {.size = sizeof what};
    u9_trimmed out = {.size = sizeof out};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$KKOp:trim", names, &keep, &before, &time,
                                     &what.dry_run))
        return NULL;
    if (u9p_time_of(time, 0, &what.before_us) < 0) return NULL;
    what.keep_bytes = keep;
    what.before = before;
    if (u9p_enter(log, &call) < 0) return NULL;
    u9_err err = u9_log_trim(log->log, &what, &out, &fault);
    if (u9p_leave(&call) < 0) return NULL;
    if (err != U9_OK) return u9p_raise(err, &fault, NULL);
    return Py_BuildValue("{sKsNsKsKsK}", "segments", (unsigned long long)out.segments, "records",
                         u9p_number(out.records), "bytes", (unsigned long long)out.bytes, "segment",
                         (unsigned long long)out.segment, "ordinal",
                         (unsigned long long)out.ordinal);
}

/* stats() -> dict */
static PyObject *log_stats(PyObject *self, PyObject *ignored)
{
    struct u9p_log *log = (struct u9p_log *)self;
    u9_stats s = {.size = sizeof s};
    (void)ignored;
    if (u9p_log_usable(log) < 0) return NULL;
    u9_err err = u9_log_stats(log->log, &s);
    if (err != U9_OK) return u9p_refuse(err, "a log that is open for reading has no statistics");
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsK}", "records", (unsigned long long)s.records,
                         "bytes", (unsigned long long)s.bytes, "frames",
                         (unsigned long long)s.frames, "lz4_kept", (unsigned long long)s.lz4_kept,
                         "written_bytes", (unsigned long long)s.written_bytes, "writes",
                         (unsigned long long)s.writes, "syncs", (unsigned long long)s.syncs,
                         "waits", (unsigned long long)s.waits, "rolls", (unsigned long long)s.rolls,
                         "commit_us_max", (unsigned long long)s.commit_us_max);
}

static PyObject *log_event_fd(PyObject *self, PyObject *ignored)
{
    struct u9p_log *log = (struct u9p_log *)self;
    (void)ignored;
    return u9p_log_usable(log) < 0 ? NULL : PyLong_FromLong(u9_log_event_fd(log->log));
}

static PyObject *log_field(PyObject *self, void *which)
{
    struct u9p_log *log = (struct u9p_log *)self;
    const char *name = which;
    if (*name == 'c') return PyBool_FromLong(!log->log || log->closing);
    if (*name == 'p') return PyUnicode_DecodeFSDefault(PyBytes_AsString(log->path));
    if (*name == 'm') return Py_NewRef(log->mode);
    if (u9p_log_usable(log) < 0) return NULL;
    if (*name == 'k') return PyUnicode_FromString(u9_log_kind(log->log));
    if (*name == 'i') return PyUnicode_FromString(u9_log_io(log->log));
    return PyLong_FromUnsignedLongLong(*name == 'd' ? u9_log_durable(log->log)
                                                    : u9_log_next(log->log));
}

static PyObject *log_repr(PyObject *self)
{
    struct u9p_log *log = (struct u9p_log *)self;
    PyObject *path = PyUnicode_DecodeFSDefault(PyBytes_AsString(log->path));
    PyObject *text = path ? PyUnicode_FromFormat("<u9.Log %R mode '%S'%s>", path, log->mode,
                                                 !log->log || log->closing ? " closed" : "")
                          : NULL;
    Py_XDECREF(path);
    return text;
}

#define WITH_NAMES METH_VARARGS | METH_KEYWORDS
#define NAMED(f) (PyCFunction)(void (*)(void))(f)

static PyMethodDef methods[] = {
    {"append", NAMED(log_append), METH_FASTCALL | METH_KEYWORDS,
     "append(*values, key=None) -> Place: appends one record. It is durable when commit says so."},
    {"append_encoded", NAMED(log_append_encoded), WITH_NAMES,
     "append_encoded(values, *, key=None) -> Place: of values that are encoded, back to back."},
    {"_append_batch", log_append_batch, METH_O, "For u9.Batch."},
    {"_raw_key", log_raw_key, METH_O, "For u9.Batch."},
    {"begin", NAMED(u9p_log_begin), WITH_NAMES,
     "begin(count, size, *, key=None) -> Writing: a record of any size, in pieces: `count` values of `size` bytes."},
    {"commit", log_commit, METH_VARARGS,
     "commit(at=None) -> bool: waits, as the policy says, for the record `at`; without it for all, in any case."},
    {"commit_async", log_commit_async, METH_O, "commit_async(at): begins to make it durable."},
    {"get", log_get, METH_VARARGS, "get(key, default=None): the newest record with this key."},
    {"get_many", log_get_many, METH_O,
     "get_many(keys) -> list: the newest record of each key, or None."},
    {"versions", log_versions, METH_O,
     "versions(key) -> list: all records with this key, the oldest first."},
    {"values", log_values, METH_NOARGS,
     "values() -> Cursor: of the values of each record, a tuple."},
    {"raw", log_raw, METH_NOARGS, "raw() -> Cursor: of each record as a memoryview."},
    {"seek", NAMED(log_seek), WITH_NAMES,
     "seek(...) -> Cursor: one that stands there; see Cursor.seek."},
    {"follow", NAMED(log_follow), WITH_NAMES,
     "follow(timeout=None, shows='durable') -> Cursor: all records, and then those to come."},
    {"splits", NAMED(log_splits), WITH_NAMES,
     "splits(ranges, size=0) -> list: ranges that are together the log as it is now, for threads and processes."},
    {"range", log_range, METH_O, "range(split) -> Cursor: the records of one range of a plan."},
    {"read", u9p_log_read, METH_O,
     "read(record) -> Reading: the bytes of a record of any size, in pieces."},
    {"damages", log_damages, METH_NOARGS,
     "damages() -> list: what is known to be wrong without reading."},
    {"snapshot", NAMED(log_snapshot), WITH_NAMES,
     "snapshot(dir, *, copy=False, strict=False, on_damage=None) -> dict"},
    {"trim", NAMED(log_trim), WITH_NAMES,
     "trim(*, keep_bytes=0, before=0, before_time=None, dry_run=False) -> dict"},
    {"stats", log_stats, METH_NOARGS,
     "stats() -> dict: what a writer has done since it was opened."},
    {"event_fd", log_event_fd, METH_NOARGS,
     "event_fd() -> int: readable when `durable` has moved; -1: there is none."},
    {"close", log_close, METH_NOARGS,
     "close(): makes all that was appended durable and ends the session. Closed already: nothing."},
    {"__enter__", log_enter, METH_NOARGS, NULL},
    {"__exit__", log_exit, METH_VARARGS, NULL},
    {"__reversed__", log_reversed, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef fields[] = {
    {"path", log_field, NULL, "Where it is.", "p"},
    {"mode", log_field, NULL, "'r', 'w' or 'c'.", "m"},
    {"closed", log_field, NULL, "True if it is closed.", "c"},
    {"kind", log_field, NULL, "What its keys are: 'muid', 'tid', ...", "k"},
    {"io", log_field, NULL, "The io table in use: 'posix' or 'uring'.", "i"},
    {"durable", log_field, NULL, "Records below this ordinal are durable; 0 for readers.", "d"},
    {"next_ordinal", log_field, NULL, "The ordinal that the next record gets; 0 for readers.", "n"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, log_dealloc},
    {Py_tp_traverse, log_traverse},
    {Py_tp_clear, log_clear},
    {Py_tp_repr, log_repr},
    {Py_tp_iter, log_iter},
    {Py_tp_methods, methods},
    {Py_tp_getset, fields},
    {Py_sq_contains, log_contains},
    {Py_mp_subscript, log_subscript},
    {Py_tp_doc, "An open log: u9.open. Any number of threads may use it at once."},
    {0, NULL},
};
PyType_Spec u9p_log_spec = {.name = "u9.Log",
                            .basicsize = sizeof(struct u9p_log),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                     Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots};

int u9p_watch_forks(void)
{
    return pthread_atfork(NULL, NULL, forked);
}
