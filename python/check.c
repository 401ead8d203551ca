/*
 * python/check.c: check and salvage. Their callbacks come from the calling thread, which takes the GIL for each; what one
 * raises, or the handler of a signal, ends the run at its next progress, and comes through.
 */
#include "python/module.h"

long u9p_ask(struct u9p_run *run, PyObject *function, PyObject *args)
{
    PyObject *said = args && !run->type ? PyObject_CallObject(function, args) : NULL;
    long yes = said ? PyObject_IsTrue(said) : run->type ? 0 : -1;
    Py_XDECREF(args);
    Py_XDECREF(said);
    if (yes < 0) PyErr_Fetch(&run->type, &run->value, &run->trace);
    return yes;
}

void u9p_run_damage(void *ctx, const u9_damage *damage)
{
    struct u9p_run *run = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    if (!run->type) (void)u9p_ask(run, run->on_damage, Py_BuildValue("(N)", u9p_damage(damage)));
    PyGILState_Release(state);
}

int u9p_run_progress(void *ctx, uint64_t done, uint64_t all)
{
    struct u9p_run *run = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    if (!run->type && PyErr_CheckSignals() < 0) PyErr_Fetch(&run->type, &run->value, &run->trace);
    if (!run->type && run->on_progress &&
        u9p_ask(run, run->on_progress, Py_BuildValue("(KK)", (unsigned long long)done, (unsigned long long)all)) > 0)
        run->stop = 1;
    int stop = run->stop || run->type;
    PyGILState_Release(state);
    return stop;
}

PyObject *u9p_given(PyObject *function)
{
    return function == Py_None ? NULL : function;
}

int u9p_run_end(struct u9p_run *run, u9_err err, const u9_fault *fault)
{
    if (run->type) PyErr_Restore(run->type, run->value, run->trace);
    else if (err != U9_OK) u9p_raise(err, fault, NULL);
    else return 0;
    return -1;
}

static void output_made(void *ctx, const u9_output *o)
{
    struct u9p_run *run = ctx;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type = run->type ? NULL : u9p_named("Output");
    if (!run->type)
        (void)u9p_ask(run, run->on_other,
                      Py_BuildValue("(N)", PyObject_CallFunction(
                                               type, "NIKKNKKK", PyUnicode_DecodeFSDefault(o->path), o->number,
                                               (unsigned long long)o->records, (unsigned long long)o->unsigned_records,
                                               o->from ? PyUnicode_DecodeFSDefault(o->from) : Py_NewRef(Py_None),
                                               (unsigned long long)o->segment, (unsigned long long)o->begin,
                                               (unsigned long long)o->ordinal)));
    PyGILState_Release(state);
}

static PyObject *key_or_none(const char *kind, const uint8_t *key, size_t size)
{
    if (size == 0) Py_RETURN_NONE;
    return u9p_key(u9p_kind_of(kind), key, size);
}

static PyObject *yes(int is)
{
    return PyBool_FromLong(is);
}

/* In the order of u9.Report. */
static PyObject *report_of(const u9_report *r, PyObject *salvaged)
{
    PyObject *type = u9p_named("Report");
    if (!type) return NULL;
    return PyObject_CallFunction(
        type, "sKKKKKKKKKNNNNNNsNNKNNKKO", u9_verdict_name(r->verdict),
        (unsigned long long)r->segments, (unsigned long long)r->frames,
        (unsigned long long)r->records, (unsigned long long)r->bytes,
        (unsigned long long)r->body_bytes, (unsigned long long)r->stored_bytes,
        (unsigned long long)r->damages, (unsigned long long)r->lost, (unsigned long long)r->beyond,
        u9p_number(r->first_ordinal), u9p_number(r->next_ordinal),
        u9p_time(r->first_time_us), u9p_time(r->last_time_us), yes(r->closed), yes(r->confirmed),
        r->kind, key_or_none(r->kind, r->first_key, r->first_key_size),
        key_or_none(r->kind, r->last_key, r->last_key_size), (unsigned long long)r->keyless,
        yes(r->plain), yes(r->begins_late), (unsigned long long)r->unsigned_records,
        (unsigned long long)r->outputs, salvaged);
}

/* What both end with. `err` is what was returned. */
static PyObject *ended(struct u9p_run *run, u9_err err, const u9_fault *fault, const u9_report *report, PyObject *salvaged)
{
    return u9p_run_end(run, err, fault) == 0 ? report_of(report, salvaged) : NULL;
}

/* check(path, *, on_damage=None, on_progress=None, threads=0, io=None) -> Report */
static PyObject *check(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "on_damage", "on_progress", "threads", "io", NULL};
    PyObject *path, *on_damage = Py_None, *on_progress = Py_None;
    struct u9p_run run = {0};
    u9_fault fault = {0};
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .on_progress = u9p_run_progress, .ctx = &run};
    u9_err err;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$OOO&z:check", names, PyUnicode_FSConverter,
                                     &path, &on_damage, &on_progress, u9p_u32, &o.threads, &o.io))
        return NULL;
    run.on_damage = u9p_given(on_damage);
    run.on_progress = u9p_given(on_progress);
    if (run.on_damage) o.on_damage = u9p_run_damage;
    Py_BEGIN_ALLOW_THREADS err = u9_check(PyBytes_AsString(path), &o, &report, &fault);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    return ended(&run, err, &fault, &report, Py_None);
}

/* salvage(path, out, *, on_damage=None, on_progress=None, on_output=None, io=None) -> Report */
static PyObject *salvage(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "out", "on_damage", "on_progress", "on_output", "io", NULL};
    PyObject *path = NULL, *out, *on_damage = Py_None, *on_progress = Py_None, *on_output = Py_None;
    struct u9p_run run = {0};
    u9_fault fault = {0};
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .on_progress = u9p_run_progress, .ctx = &run};
    uint64_t salvaged = 0;
    u9_err err;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$OOOz:salvage", names,
                                     PyUnicode_FSConverter, &path, PyUnicode_FSConverter, &out,
                                     &on_damage, &on_progress, &on_output, &o.io))
        return NULL;
    run.on_damage = u9p_given(on_damage);
    run.on_progress = u9p_given(on_progress);
    run.on_other = u9p_given(on_output);
    if (run.on_damage) o.on_damage = u9p_run_damage;
    if (run.on_other) o.on_output = output_made;
    Py_BEGIN_ALLOW_THREADS err =
        u9_salvage(PyBytes_AsString(path), PyBytes_AsString(out), &o, &report, &salvaged, &fault);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    Py_DECREF(out);
    PyObject *number = PyLong_FromUnsignedLongLong(salvaged);
    PyObject *made = number ? ended(&run, err, &fault, &report, number) : NULL;
    Py_XDECREF(number);
    return made;
}

#define NAMED(f) (PyCFunction)(void (*)(void))(f)

PyMethodDef u9p_check_methods[] = {
    {"check", NAMED(check), METH_VARARGS | METH_KEYWORDS,
     "check(path, *, on_damage=None, on_progress=None, threads=0, io=None) -> Report: verifies every byte.\n\n"
     "on_damage(damage) is called for each damaged place, on_progress(done, all) now and then: if it returns something "
     "true, the check ends with a StateError. What they raise comes through."},
    {"salvage", NAMED(salvage), METH_VARARGS | METH_KEYWORDS,
     "salvage(path, out, *, on_damage=None, on_progress=None, on_output=None, io=None) -> Report: saves what can be read "
     "into a new log at `out`.\n\non_output(output) is called for each log that was written, the others as in check."},
    {NULL, NULL, 0, NULL},
};
