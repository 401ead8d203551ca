/*
 * python/log.c: u9.Log, an open log: opening, closing, and its type (log.h).
 *
 * A log closes when nobody is within it any more: what is open on it is closed first, and is refused from then on. The
 * log that a callback comes from cannot be closed by it. In a forked child a close only frees; if another thread was
 * within the log when it was forked, it frees nothing, for that thread's locks are never given back.
 */
#include "python/log.h"

#include <string.h>

PyTypeObject *u9p_log_type;

static struct u9p_log *open_logs; /* guarded by the GIL */

static void damage_met(void *ctx, const u9_damage *damage)
{
    const struct u9p_log *log = ctx;
    if (log->on_damage) u9p_tell_damage(log->on_damage, damage);
}

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
    double age = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|U$zzpO&zOOO&O&O&dO&O&pzO&O&p:open", names,
                                     PyUnicode_FSConverter, &path, &mode, &o.kind, &policy, &o.lz4,
                                     u9p_u64, &o.segment_size, &o.io, &on_damage, &generator, u9p_u32,
                                     &o.cluster, u9p_u64, &o.medallion, u9p_u64, &o.keep_bytes, &age,
                                     u9p_u64, &o.interval_ms, u9p_u64, &o.memory, &o.no_wait, &verify,
                                     u9p_u64, &o.index_memory, u9p_u64, &o.cache_memory, &o.mend))
        return NULL;
    PyObject *text = mode ? Py_NewRef(mode) : PyUnicode_FromString("r");
    const char *m = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    o.generator_given = generator && generator != Py_None;
    if (m && choices(&o, m, policy, verify) == 0 && u9p_seconds(age, "keep_age", &o.keep_age_us) == 0 &&
        (!o.generator_given || u9p_u32(generator, &o.generator))) {
        struct u9p_log *l = log_alloc(path, text, on_damage);
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
    if (u9p_within(log))
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
    {"append", NAMED(u9p_log_append), METH_FASTCALL | METH_KEYWORDS,
     "append(*values, key=None) -> Place: appends one record. It is durable when commit says so."},
    {"append_encoded", NAMED(u9p_log_append_encoded), WITH_NAMES,
     "append_encoded(values, *, key=None) -> Place: of values that are encoded, back to back."},
    {"_append_batch", u9p_log_append_batch, METH_O, "For u9.Batch."},
    {"_raw_key", u9p_log_raw_key, METH_O, "For u9.Batch."},
    {"begin", NAMED(u9p_log_begin), WITH_NAMES,
     "begin(count, size, *, key=None) -> Writing: a record of any size, in pieces: `count` values of `size` bytes."},
    {"commit", u9p_log_commit, METH_VARARGS,
     "commit(at=None) -> bool: waits, as the policy says, for the record `at`; without it for all, in any case."},
    {"commit_async", u9p_log_commit_async, METH_O, "commit_async(at): begins to make it durable."},
    {"get", u9p_log_get, METH_VARARGS, "get(key, default=None): the newest record with this key. Raises CorruptError where it, or a newer one, may be lost."},
    {"get_many", u9p_log_get_many, METH_O,
     "get_many(keys) -> list: the newest record of each key, or None."},
    {"versions", u9p_log_versions, METH_O,
     "versions(key) -> list: all records with this key, the oldest first."},
    {"values", u9p_log_values, METH_NOARGS,
     "values() -> Cursor: of the values of each record, a tuple."},
    {"raw", u9p_log_raw, METH_NOARGS, "raw() -> Cursor: of each record as a memoryview."},
    {"seek", NAMED(u9p_log_seek), WITH_NAMES,
     "seek(...) -> Cursor: one that stands there; see Cursor.seek."},
    {"follow", NAMED(u9p_log_follow), WITH_NAMES,
     "follow(timeout=None, shows='durable') -> Cursor: all records, and then those to come."},
    {"splits", NAMED(u9p_log_splits), WITH_NAMES,
     "splits(ranges, size=0) -> list: ranges that are together the log as it is now, for threads and processes."},
    {"range", u9p_log_range, METH_O, "range(split) -> Cursor: the records of one range of a plan."},
    {"read", u9p_log_read, METH_O,
     "read(record) -> Reading: the bytes of a record of any size, in pieces."},
    {"damages", u9p_log_damages, METH_NOARGS,
     "damages() -> list: what is known to be wrong without reading."},
    {"snapshot", NAMED(u9p_log_snapshot), WITH_NAMES,
     "snapshot(dir, *, copy=False, strict=False, on_damage=None) -> dict"},
    {"trim", NAMED(u9p_log_trim), WITH_NAMES,
     "trim(*, keep_bytes=0, before=0, before_time=None, dry_run=False) -> dict"},
    {"stats", u9p_log_stats, METH_NOARGS,
     "stats() -> dict: what a writer has done since it was opened."},
    {"event_fd", log_event_fd, METH_NOARGS,
     "event_fd() -> int: readable when `durable` has moved; -1: there is none."},
    {"close", log_close, METH_NOARGS,
     "close(): makes all that was appended durable and ends the session. Closed already: nothing."},
    {"__enter__", log_enter, METH_NOARGS, NULL},
    {"__exit__", log_exit, METH_VARARGS, NULL},
    {"__reversed__", u9p_log_reversed, METH_NOARGS, NULL},
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
    {Py_tp_iter, u9p_log_iter},
    {Py_tp_methods, methods},
    {Py_tp_getset, fields},
    {Py_sq_contains, u9p_log_contains},
    {Py_mp_subscript, u9p_log_subscript},
    {Py_tp_doc, "An open log: u9.open. Any number of threads may use it at once."},
    {0, NULL},
};
PyType_Spec u9p_log_spec = {.name = "u9.Log",
                            .basicsize = sizeof(struct u9p_log),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                     Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots};
