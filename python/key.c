/*
 * python/key.c: keys and times, as Python gives them and libu9 takes them (module.h).
 */
#include "python/module.h"

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
