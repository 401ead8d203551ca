/* python/fault.c: what libu9 refuses, as exceptions with the whole fault (python/u9/_errors.py). */
#include "python/module.h"

#include <stdio.h>

PyObject *u9p_number(uint64_t number)
{
    if (number == U9_NOWHERE) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *path_text(const char *path)
{
    if (!path || !*path) Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(path);
}

PyObject *u9p_damage(const u9_damage *d)
{
    PyObject *type = u9p_named("Damage");
    if (!type) return NULL;
    return PyObject_CallFunction(
        type, "sssNkNKKNNOOKKKK", u9_verdict_name(d->verdict), u9_reason_name(d->reason),
        u9_reason_text(d->reason), PyUnicode_FromString(u9_reason_rule(d->reason)),
        (unsigned long)d->segment, path_text(d->path), (unsigned long long)d->begin,
        (unsigned long long)d->end, u9p_number(d->ordinal), u9p_number(d->lost),
        d->at_most ? Py_True : Py_False, d->mended ? Py_True : Py_False,
        (unsigned long long)d->part, (unsigned long long)d->part_at,
        (unsigned long long)d->part_lacks, (unsigned long long)d->part_total);
}

PyObject *u9p_raise(u9_err err, const u9_fault *fault, const u9_damage *damage)
{
    static const u9_fault none = {.segment = U9_NOWHERE, .offset = U9_NOWHERE};
    char line[1200];
    PyObject *make = u9p_named("make_error"),
             *told = damage ? u9p_damage(damage) : Py_NewRef(Py_None);
    if (!fault || fault->err == U9_OK) fault = &none;
    u9_fault_line(fault, line, sizeof line);
    if (!make || !told) {
        Py_XDECREF(told);
        return NULL;
    }
    PyObject *error =
        PyObject_CallFunction(make, "isiNNsNNNN", (int)err, u9_err_name(err), fault->sys,
                              u9p_number(fault->segment), u9p_number(fault->offset), fault->rule,
                              path_text(fault->path), PyUnicode_DecodeFSDefault(fault->text),
                              PyUnicode_DecodeFSDefault(fault == &none ? "" : line), told);
    if (!error) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return NULL;
}

PyObject *u9p_refuse(u9_err err, const char *sentence)
{
    u9_fault fault = {.err = err, .segment = U9_NOWHERE, .offset = U9_NOWHERE};
    snprintf(fault.text, sizeof fault.text, "%s", sentence);
    return u9p_raise(err, &fault, NULL);
}
