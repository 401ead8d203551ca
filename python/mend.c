/*
 * python/mend.c: what mends a log in place, or makes others of logs and of what is none any more: repair and undo, merge, carve.
 * Callbacks are as in check.c; a repair has no progress, so that what its callback raises comes through at its end.
 */
#include "python/module.h"

#include <stdlib.h>

static PyObject *path_or_none(const char *path)
{
    if (!path || !*path) Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(path);
}

static PyObject *truth(int is)
{
    return PyBool_FromLong(is);
}

/* ---- merge ---- */

/* A merge, and the kind of its keys. */
struct merging {
    struct u9p_run run; /* first: the callbacks of check.c see only this */
    enum u9p_kind kind;
};

static void conflict_met(void *ctx, const u9_key *key)
{
    struct merging *m = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    if (!m->run.type) (void)u9p_ask(&m->run, m->run.on_other, Py_BuildValue("(N)", u9p_key(m->kind, key->data, key->size)));
    PyGILState_Release(state);
}

/* For keys as their types. A log that cannot be opened the merge tells. */
static enum u9p_kind kind_of_log(const char *path, const char *io)
{
    u9_options reading = {.size = sizeof reading, .io = io};
    u9_log *log;
    if (u9_log_open(path, &reading, &log, NULL) != U9_OK) return U9P_KIND_OTHER;
    enum u9p_kind kind = u9p_kind_of(u9_log_kind(log));
    (void)u9_log_close(log, NULL);
    return kind;
}

/* A list of bytes of an iterable of paths. NULL with an exception. */
static PyObject *paths_of(PyObject *given)
{
    PyObject *list = NULL;
    if (PyUnicode_Check(given) || PyBytes_Check(given)) PyErr_SetString(PyExc_TypeError, "paths: a list of paths is needed");
    else list = PySequence_List(given);
    for (Py_ssize_t i = 0, n = list ? PyList_Size(list) : 0; i < n; i++) {
        PyObject *bytes = NULL;
        if (!PyUnicode_FSConverter(PyList_GetItem(list, i), &bytes) || PyList_SetItem(list, i, bytes) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

/* In the order of u9.MergeReport. */
static PyObject *merge_report(const u9_merge_report *r)
{
    PyObject *type = u9p_named("MergeReport");
    if (!type) return NULL;
    return PyObject_CallFunction(type, "sKKKKKKK", u9_verdict_name(r->verdict), (unsigned long long)r->read,
                                 (unsigned long long)r->records, (unsigned long long)r->repeats,
                                 (unsigned long long)r->conflicts, (unsigned long long)r->sorted,
                                 (unsigned long long)r->damages, (unsigned long long)r->lost);
}

static PyObject *merge_paths(struct merging *m, PyObject *out, PyObject *list, u9_merge_options *o)
{
    size_t count = (size_t)PyList_Size(list);
    const char **paths = calloc(count + 1, sizeof *paths);
    u9_merge_report report = {.size = sizeof report};
    u9_fault fault = {0};
    u9_err err;
    if (!paths) return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++) paths[i] = PyBytes_AsString(PyList_GetItem(list, (Py_ssize_t)i));
    Py_BEGIN_ALLOW_THREADS
    if (o->on_conflict && count > 0) m->kind = kind_of_log(paths[0], o->io);
    err = u9_merge(PyBytes_AsString(out), paths, count, o, &report, &fault);
    Py_END_ALLOW_THREADS
    free((void *)paths);
    return u9p_run_end(&m->run, err, &fault) == 0 ? merge_report(&report) : NULL;
}

/* merge(out, paths, **options) -> MergeReport */
static PyObject *merge(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"out", "paths", "memory", "lz4", "segment_size", "strict", "on_damage", "on_conflict",
                            "on_progress", "io", NULL};
    PyObject *out = NULL, *paths, *on_damage = Py_None, *on_conflict = Py_None, *on_progress = Py_None;
    uint64_t memory = 0, segment_size = 0;
    struct merging m = {.kind = U9P_KIND_OTHER};
    u9_merge_options o = {.size = sizeof o, .on_progress = u9p_run_progress, .ctx = &m};
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O|$O&pO&pOOOz:merge", names, PyUnicode_FSConverter, &out,
                                     &paths, u9p_u64, &memory, &o.lz4, u9p_u64, &segment_size, &o.strict, &on_damage, &on_conflict, &on_progress,
                                     &o.io))
        return NULL;
    o.memory = memory;
    o.segment_size = segment_size;
    m.run = (struct u9p_run){.on_damage = u9p_given(on_damage), .on_progress = u9p_given(on_progress),
                             .on_other = u9p_given(on_conflict)};
    if (m.run.on_damage) o.on_damage = u9p_run_damage;
    if (m.run.on_other) o.on_conflict = conflict_met;
    PyObject *list = paths_of(paths), *made = list ? merge_paths(&m, out, list, &o) : NULL;
    Py_XDECREF(list);
    Py_DECREF(out);
    return made;
}

/* ---- carve ---- */

static PyObject *known(int is, uint64_t number)
{
    return is ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

static void log_carved(void *ctx, const u9_carved *c)
{
    struct u9p_run *run = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type = run->type ? NULL : u9p_named("Carved");
    if (!run->type)
        (void)u9p_ask(run, run->on_other,
                      Py_BuildValue("(N)", PyObject_CallFunction(
                                               type, "NNKKKNNNN", PyUnicode_DecodeFSDefault(c->path), truth(c->proven),
                                               (unsigned long long)c->segments, (unsigned long long)c->frames,
                                               (unsigned long long)c->rejoined, known(c->checked, c->records),
                                               known(c->checked, c->damages), known(c->checked, c->lost),
                                               c->checked ? PyUnicode_FromString(u9_verdict_name(c->verdict))
                                                          : Py_NewRef(Py_None))));
    PyGILState_Release(state);
}

/* In the order of u9.CarveReport. */
static PyObject *carve_report(const u9_carve_report *r)
{
    PyObject *type = u9p_named("CarveReport");
    if (!type) return NULL;
    return PyObject_CallFunction(type, "KKKKKKKKNK", (unsigned long long)r->files, (unsigned long long)r->bytes,
                                 (unsigned long long)r->unread, (unsigned long long)r->logs,
                                 (unsigned long long)r->segments, (unsigned long long)r->frames,
                                 (unsigned long long)r->rejoined, (unsigned long long)r->broken, truth(r->gave_up),
                                 (unsigned long long)r->held);
}

/* carve(path, out, *, on_carved=None, on_progress=None, io=None) -> CarveReport */
static PyObject *carve(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "out", "on_carved", "on_progress", "io", NULL};
    PyObject *path = NULL, *out = NULL, *on_carved = Py_None, *on_progress = Py_None;
    struct u9p_run run = {0};
    u9_fault fault = {0};
    u9_carve_report report = {.size = sizeof report};
    u9_carve_options o = {.size = sizeof o, .on_progress = u9p_run_progress, .ctx = &run};
    u9_err err;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$OOz:carve", names, PyUnicode_FSConverter, &path,
                                     PyUnicode_FSConverter, &out, &on_carved, &on_progress, &o.io))
        return NULL;
    run.on_other = u9p_given(on_carved);
    run.on_progress = u9p_given(on_progress);
    if (run.on_other) o.on_carved = log_carved;
    Py_BEGIN_ALLOW_THREADS err = u9_carve(PyBytes_AsString(path), PyBytes_AsString(out), &o, &report, &fault);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    Py_DECREF(out);
    return u9p_run_end(&run, err, &fault) == 0 ? carve_report(&report) : NULL;
}

/* ---- repair, undo ---- */

static void step_found(void *ctx, const u9_repair_step *s)
{
    struct u9p_run *run = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type = run->type ? NULL : u9p_named("RepairStep");
    if (!run->type)
        (void)u9p_ask(run, run->on_other,
                      Py_BuildValue("(N)", PyObject_CallFunction(type, "sNNNKKK", u9_repair_name(s->kind), truth(s->safe),
                                                                 PyUnicode_DecodeFSDefault(s->path), path_or_none(s->to),
                                                                 (unsigned long long)s->segment,
                                                                 (unsigned long long)s->begin, (unsigned long long)s->end)));
    PyGILState_Release(state);
}

/* In the order of u9.RepairReport. */
static PyObject *repair_report(const u9_repair_report *r)
{
    PyObject *type = u9p_named("RepairReport");
    if (!type) return NULL;
    return PyObject_CallFunction(
        type, "KKKKssKKKKKNNN", (unsigned long long)r->steps, (unsigned long long)r->left, (unsigned long long)r->records,
        (unsigned long long)r->regained, u9_verdict_name(r->before), u9_verdict_name(r->then),
        (unsigned long long)r->damages_before, (unsigned long long)r->damages_then, (unsigned long long)r->indexes,
        (unsigned long long)r->tries, (unsigned long long)r->tries_us, truth(r->gave_up), truth(r->finished),
        path_or_none(r->saved));
}

/* repair(path, *, dry=False, all=False, indexes=False, linked=False, heal=0, on_step=None, io=None) -> RepairReport */
static PyObject *repair(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "dry", "all", "indexes", "linked", "heal", "on_step", "io", NULL};
    PyObject *path = NULL, *on_step = Py_None;
    double heal = 0;
    uint64_t heal_us;
    struct u9p_run run = {0};
    u9_fault fault = {0};
    u9_repair_report report = {.size = sizeof report};
    u9_repair_options o = {.size = sizeof o, .ctx = &run};
    u9_err err;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$ppppdOz:repair", names, PyUnicode_FSConverter, &path, &o.dry, &o.all,
                                     &o.indexes, &o.linked, &heal, &on_step, &o.io))
        return NULL;
    if (u9p_seconds(heal, "heal", &heal_us) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    o.heal_ms = (heal_us + 500) / 1000;
    run.on_other = u9p_given(on_step);
    if (run.on_other) o.on_step = step_found;
    Py_BEGIN_ALLOW_THREADS err = u9_repair(PyBytes_AsString(path), &o, &report, &fault);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    return u9p_run_end(&run, err, &fault) == 0 ? repair_report(&report) : NULL;
}

/* undo(path, *, linked=False, io=None) -> int */
static PyObject *undo(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "linked", "io", NULL};
    PyObject *path = NULL;
    const char *io = NULL;
    int linked = 0;
    uint64_t steps = 0;
    u9_fault fault = {0};
    u9_err err;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$pz:undo", names, PyUnicode_FSConverter, &path, &linked, &io))
        return NULL;
    Py_BEGIN_ALLOW_THREADS err = u9_undo(PyBytes_AsString(path), io, linked, &steps, &fault);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    return err == U9_OK ? PyLong_FromUnsignedLongLong(steps) : u9p_raise(err, &fault, NULL);
}

#define NAMED(f) (PyCFunction)(void (*)(void))(f)

PyMethodDef u9p_mend_methods[] = {
    {"merge", NAMED(merge), METH_VARARGS | METH_KEYWORDS,
     "merge(out, paths, *, memory=0, lz4=False, segment_size=0, strict=False, on_damage=None, on_conflict=None, "
     "on_progress=None, io=None) -> MergeReport: makes the new log `out` of several, by the order of their keys.\n\n"
     "A record that an earlier log has as well stands there once; of a key with different records all are kept, and "
     "on_conflict(key) is called once for each. Logs whose keys are not in order are sorted in `memory` bytes, or with 0 "
     "refused. `strict`: of a damaged log nothing is made. `out` is there whole, or not at all."},
    {"carve", NAMED(carve), METH_VARARGS | METH_KEYWORDS,
     "carve(path, out, *, on_carved=None, on_progress=None, io=None) -> CarveReport: finds logs in a file, a disk image say, "
     "or in all files of a directory, and writes each into a directory of its own below `out`.\n\n"
     "on_carved(carved) is called for each, on_progress(done, all) with bytes now and then, as in check."},
    {"repair", NAMED(repair), METH_VARARGS | METH_KEYWORDS,
     "repair(path, *, dry=False, all=False, indexes=False, linked=False, heal=0, on_step=None, io=None) -> RepairReport: mends "
     "a log in place, as far as that can be proven; the bytes before are saved beside it, and undo puts them back.\n\n"
     "on_step(step) is called for each thing that can be mended, before anything is changed; what it raises comes through, "
     "but stops nothing. `dry`: nothing is changed. `all`: also what brings records back. `heal`: seconds at most in which "
     "flipped bits are looked for. `linked`: also files with other names. Nobody may write to the log."},
    {"undo", NAMED(undo), METH_VARARGS | METH_KEYWORDS,
     "undo(path, *, linked=False, io=None) -> int: puts back what the last repair changed; how many changes that were."},
    {NULL, NULL, 0, NULL},
};
