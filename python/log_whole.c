/*
 * python/log_whole.c: u9.Log as a whole: its damage, snapshots, trims, statistics (log.h).
 */
#include "python/log.h"

static void add_damage(void *ctx, const u9_damage *damage)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *told = u9p_called_in_vain() ? NULL : u9p_damage(damage);
    if (!u9p_called_in_vain() && (!told || PyList_Append(ctx, told) < 0)) u9p_keep_exception();
    Py_XDECREF(told);
    PyGILState_Release(state);
}

/* damages() -> [Damage]: what is known without reading */
PyObject *u9p_log_damages(PyObject *self, PyObject *ignored)
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

static void snap_damage(void *ctx, const u9_damage *damage)
{
    u9p_tell_damage(ctx, damage);
}

/* Stops a snapshot whose callback raised, or a signal's handler. */
static int snap_progress(void *ctx, uint64_t done, uint64_t all)
{
    PyGILState_STATE state = PyGILState_Ensure();
    (void)ctx;
    (void)done;
    (void)all;
    if (!u9p_called_in_vain() && PyErr_CheckSignals() < 0) u9p_keep_exception();
    int stop = u9p_called_in_vain();
    PyGILState_Release(state);
    return stop;
}

/* snapshot(dir, copy=False, strict=False, on_damage=None) -> dict */
PyObject *u9p_log_snapshot(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dir", "copy", "strict", "on_damage", NULL};
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    PyObject *dir, *on_damage = Py_None;
    u9_fault fault = {0};
    u9_snapshot_options o = {.size = sizeof o, .on_progress = snap_progress};
    u9_snapshot_report r = {.size = sizeof r};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$ppO:snapshot", names, PyUnicode_FSConverter,
                                     &dir, &o.copy, &o.strict, &on_damage))
        return NULL;
    if (on_damage != Py_None) {
        o.on_damage = snap_damage;
        o.ctx = on_damage;
    }
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
        "{sssKsKsKsKsKsKsKsKsKsKsO}", "verdict", u9_verdict_name(r.verdict), "damages",
        (unsigned long long)r.damages, "lost", (unsigned long long)r.lost, "whole", (unsigned long long)r.whole, "kept",
        (unsigned long long)r.kept, "linked", (unsigned long long)r.linked, "copied",
        (unsigned long long)r.copied, "removed", (unsigned long long)r.removed, "copied_bytes",
        (unsigned long long)r.copied_bytes, "first_ordinal", (unsigned long long)r.first_ordinal,
        "next_ordinal", (unsigned long long)r.next_ordinal, "closed",
        r.closed ? Py_True : Py_False);
}

/* trim(keep_bytes=0, before=0, before_time=None, dry_run=False) -> dict */
PyObject *u9p_log_trim(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"keep_bytes", "before", "before_time", "dry_run", NULL};
    struct u9p_log *log = (struct u9p_log *)self;
    struct u9p_call call;
    PyObject *time = NULL;
    u9_fault fault = {0};
    u9_trim what = {.size = sizeof what};
    u9_trimmed out = {.size = sizeof out};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O&O&Op:trim", names, u9p_u64, &what.keep_bytes, u9p_u64,
                                     &what.before, &time,
                                     &what.dry_run))
        return NULL;
    if (u9p_time_of(time, 0, &what.before_us) < 0) return NULL;
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
PyObject *u9p_log_stats(PyObject *self, PyObject *ignored)
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
