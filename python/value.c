/*
 * python/value.c: utf9 values as Python's, and back.
 *
 *   int          integers of -2^63 .. 2^64 - 1         list, tuple    tuple; comes back as a list
 *   float        float64; float32 comes as one, too     dict           a tuple of pairs with an index by key, as JSON's
 *   str          utf8; bytes that are not are kept      None, bool     the symbols null, true, false
 *                as lone surrogates                     datetime       ('datetime microseconds), with a time zone
 *   bytes        bytes; bytearray, memoryview as well   u9.Array, array.array, numpy's of one dimension: array
 *   u9.Symbol, u9.Tau, u9.Greek, u9.Pidfd               the types that Python has no like for
 *
 * Recursion goes as deep as values do [V-8].
 */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

#define STAMP "datetime" /* the symbol in front of a time's microseconds since 1970 */

static u9_err writer_grow(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    struct u9p_writer *w = ctx;
    size_t size = *cap;
    if (!*bytes && need <= sizeof w->first) {
        *bytes = w->first;
        *cap = sizeof w->first;
        return U9_OK;
    }
    uint8_t *heap = w->heap;
    size_t room = 0;
    if (heap) room = size;
    u9_err err =
        u9_grow_heap(NULL, &heap, &room, need < 4 * sizeof w->first ? 4 * sizeof w->first : need);
    if (err != U9_OK) return err;
    if (!w->heap && *bytes) memcpy(heap, w->first, size);
    w->heap = heap;
    *bytes = heap;
    *cap = room;
    return U9_OK;
}

void u9p_writer_init(struct u9p_writer *w)
{
    w->heap = NULL;
    u9_builder_init_growing(&w->b, writer_grow, w);
}

void u9p_writer_release(struct u9p_writer *w)
{
    free(w->heap);
}

/* ---- encoding ---- */

static int done(u9_err err)
{
    if (err == U9_OK) return 0;
    if (err == U9_NOMEM) PyErr_NoMemory();
    else u9p_refuse(err, "the value cannot be built");
    return -1;
}

static int encode(u9_builder *b, PyObject *value, unsigned depth);

static int encode_int(u9_builder *b, PyObject *value)
{
    int over = 0;
    long long v = PyLong_AsLongLongAndOverflow(value, &over);
    if (over == 0) return v == -1 && PyErr_Occurred() ? -1 : done(u9_build_int(b, v));
    unsigned long long u = over > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
    if (over > 0 && !PyErr_Occurred()) return done(u9_build_uint(b, u));
    PyErr_SetString(PyExc_OverflowError, "an integer is not within -2^63 .. 2^64 - 1");
    return -1;
}

static int encode_text(u9_builder *b, PyObject *value)
{
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text) return done(u9_build_utf8(b, text, (size_t)size));
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
    PyErr_Clear(); /* what came from bytes that are no UTF-8 goes back as it came */
    char *p;
    PyObject *bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
    int rc = bytes && PyBytes_AsStringAndSize(bytes, &p, &size) == 0
                 ? done(u9_build_utf8(b, p, (size_t)size))
                 : -1;
    Py_XDECREF(bytes);
    return rc;
}

static int encode_bytes(u9_builder *b, PyObject *value)
{
    char *p;
    Py_ssize_t size;
    return PyBytes_AsStringAndSize(value, &p, &size) == 0 ? done(u9_build_bytes(b, p, (size_t)size))
                                                          : -1;
}

static int encode_symbol(u9_builder *b, PyObject *value)
{
    PyObject *bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
    char *p;
    Py_ssize_t size;
    uint8_t raw[9] = {
        0x0a}; /* [V-9] takes any 8 bytes from a reader, and so do we from what was read */
    int rc = -1;
    if (bytes && PyBytes_AsStringAndSize(bytes, &p, &size) == 0) {
        if (size > 8) PyErr_SetString(PyExc_ValueError, "a symbol has at most 8 bytes");
        else {
            memcpy(raw + 1, p, (size_t)size);
            rc = done(u9_build_raw(b, raw, sizeof raw));
        }
    }
    Py_XDECREF(bytes);
    return rc;
}

static int too_deep(unsigned depth)
{
    if (depth <= U9_DEPTH_MAX) return 0;
    u9p_refuse(U9_LIMIT, "containers are nested more than 64 deep");
    return -1;
}

/* A list or a tuple. What changes it meanwhile is noticed by its size. */
static int encode_row(u9_builder *b, PyObject *row, unsigned depth)
{
    if (too_deep(depth) < 0 || done(u9_build_tuple_open(b)) < 0) return -1;
    int list = PyList_Check(row);
    for (Py_ssize_t i = 0; i < (list ? PyList_Size(row) : PyTuple_Size(row)); i++) {
        PyObject *item = Py_XNewRef(list ? PyList_GetItem(row, i) : PyTuple_GetItem(row, i));
        int rc = item ? encode(b, item, depth + 1) : -1;
        Py_XDECREF(item);
        if (rc < 0) return -1;
    }
    return done(u9_build_tuple_close(b));
}

static int encode_pair(u9_builder *b, PyObject *pair, unsigned depth)
{
    PyObject *key = PyTuple_GetItem(pair, 0),
             *value = PyTuple_GetItem(pair, 1); /* borrowed of the pair, which we hold */
    if (!key || !value || done(u9_build_tuple_open(b)) < 0) return -1;
    return encode(b, key, depth + 1) < 0 || encode(b, value, depth + 1) < 0
               ? -1
               : done(u9_build_tuple_close(b));
}

/* Puts the tuple of pairs in `own` into `b`, with a complete index by the hash of the key in front. [J-6] */
static int add_indexed(u9_builder *b, u9_builder *own)
{
    static const u9_index_spec by_key = {.keyspec = U9_KEYSPEC_KH};
    u9_value pairs;
    if (done(u9_value_decode(own->bytes, own->size, &pairs)) < 0) return -1;
    uint64_t entries = u9_index_scratch(&pairs, &by_key, 1);
    u9_index_entry *scratch = calloc((size_t)entries + 1, sizeof *scratch);
    u9_err err = scratch ? u9_build_indexed(b, &pairs, &by_key, 1, scratch, entries) : U9_NOMEM;
    free(scratch);
    return done(err);
}

static int encode_dict(u9_builder *b, PyObject *dict, unsigned depth)
{
    struct u9p_writer *own = NULL;
    PyObject *items = too_deep(depth + 1) < 0 ? NULL : PyMapping_Items(dict);
    int rc = -1;
    if (items && !(own = malloc(sizeof *own))) PyErr_NoMemory();
    if (own) {
        u9p_writer_init(own);
        rc = done(u9_build_tuple_open(&own->b));
        for (Py_ssize_t i = 0; rc == 0 && i < PyList_Size(items); i++)
            rc = encode_pair(&own->b, PyList_GetItem(items, i), depth + 1);
        if (rc == 0 && (rc = done(u9_build_tuple_close(&own->b))) == 0)
            rc = add_indexed(b, &own->b);
        u9p_writer_release(own);
    }
    free(own);
    Py_XDECREF(items);
    return rc;
}

static int encode_stamp(u9_builder *b, PyObject *time)
{
    PyObject *of = u9p_named("microseconds"),
             *us = of ? PyObject_CallFunctionObjArgs(of, time, NULL) : NULL;
    int rc = us ? done(u9_build_tuple_open(b)) : -1;
    if (rc == 0) rc = done(u9_build_symbol(b, STAMP));
    if (rc == 0) rc = encode_int(b, us);
    if (rc == 0) rc = done(u9_build_tuple_close(b));
    Py_XDECREF(us);
    return rc;
}

static int encode_made(u9_builder *b, PyObject *made, int (*as)(u9_builder *, PyObject *))
{
    int rc = made ? as(b, made) : -1;
    Py_XDECREF(made);
    return rc;
}

static int encode_float(u9_builder *b, PyObject *value)
{
    double v = PyFloat_AsDouble(value);
    return v == -1.0 && PyErr_Occurred() ? -1 : done(u9_build_float64(b, v));
}

static int encode_pidfd(u9_builder *b, PyObject *value)
{
    unsigned long pid = PyLong_AsUnsignedLong(PyTuple_GetItem(value, 0));
    unsigned long fd = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLong(PyTuple_GetItem(value, 1));
    if (PyErr_Occurred()) return -1;
    if (pid <= UINT32_MAX && fd <= UINT32_MAX)
        return done(u9_build_pidfd(b, (uint32_t)pid, (uint32_t)fd));
    PyErr_SetString(PyExc_OverflowError, "pid and fd have 32 bits");
    return -1;
}

static int is_a(PyObject *value, const char *name)
{
    PyObject *type = u9p_named(name);
    return type ? PyObject_IsInstance(value, type) : -1;
}

static int encode_greek(u9_builder *b, PyObject *value)
{
    PyObject *number = PyObject_GetAttrString(value, "value");
    long v = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    return v == -1 && PyErr_Occurred() ? -1 : done(u9_build_greek(b, (u9_type)v));
}

/* Those that are no type of their own of Python. */
static int encode_other(u9_builder *b, PyObject *value, unsigned depth)
{
    int is;
    if ((is = is_a(value, "datetime")) != 0) return is < 0 ? -1 : encode_stamp(b, value);
    if ((is = is_a(value, "Greek")) != 0) return is < 0 ? -1 : encode_greek(b, value);
    if ((is = is_a(value, "Mapping")) != 0) return is < 0 ? -1 : encode_dict(b, value, depth);
    if (PyByteArray_Check(value)) return encode_made(b, PyBytes_FromObject(value), encode_bytes);
    if (PyObject_CheckBuffer(value))
        return u9p_encode_buffer(b, value); /* numpy's numbers are such as well */
    if (PyIndex_Check(value)) return encode_made(b, PyNumber_Index(value), encode_int);
    PyErr_Format(PyExc_TypeError, "a %R is no value that a log takes", Py_TYPE(value));
    return -1;
}

static int encode(u9_builder *b, PyObject *value, unsigned depth)
{
    if (PyUnicode_CheckExact(value)) return encode_text(b, value);
    if (PyLong_CheckExact(value)) return encode_int(b, value);
    if (PyFloat_Check(value)) return encode_float(b, value);
    if (PyBytes_Check(value)) return encode_bytes(b, value);
    if (value == Py_None) return done(u9_build_symbol(b, "null"));
    if (PyBool_Check(value)) return done(u9_build_symbol(b, value == Py_True ? "true" : "false"));
    if (PyDict_Check(value)) return encode_dict(b, value, depth);
    int is;
    if (PyUnicode_Check(value)) {
        if ((is = is_a(value, "Symbol")) < 0) return -1;
        return is ? encode_symbol(b, value) : encode_text(b, value);
    }
    if (PyLong_Check(value)) {
        if ((is = is_a(value, "Tau")) < 0) return -1;
        if (!is) return encode_int(b, value);
        unsigned long long x = PyLong_AsUnsignedLongLong(value);
        return x == (unsigned long long)-1 && PyErr_Occurred() ? -1 : done(u9_build_tau(b, x));
    }
    if (PyTuple_Check(value) || PyList_Check(value)) {
        if (!PyTuple_CheckExact(value) && (is = is_a(value, "Pidfd")) != 0)
            return is < 0 ? -1 : encode_pidfd(b, value);
        return encode_row(b, value, depth);
    }
    return encode_other(b, value, depth);
}

int u9p_encode(u9_builder *b, PyObject *value)
{
    return encode(b, value, 2); /* a record's own tuple is the first container [V-8] */
}

/* ---- decoding ---- */

static PyObject *decode(PyObject *owner, const u9_value *v, unsigned depth);

static PyObject *malformed(u9_err err)
{
    if (err == U9_OK || err == U9_END || err == U9_TORN) err = U9_CORRUPT;
    return u9p_refuse(err, err == U9_LIMIT
                               ? "the value is nested too deeply, or has too many empty elements"
                               : "the value is not well-formed");
}

static PyObject *decode_text(const u9_value *v)
{
    return PyUnicode_DecodeUTF8((const char *)v->data, (Py_ssize_t)v->size, "surrogateescape");
}

static PyObject *decode_symbol(const u9_value *v)
{
    if (memcmp(v->data, "true\0\0\0\0", 8) == 0) Py_RETURN_TRUE;
    if (memcmp(v->data, "false\0\0\0", 8) == 0) Py_RETURN_FALSE;
    if (memcmp(v->data, "null\0\0\0\0", 8) == 0) Py_RETURN_NONE;
    Py_ssize_t size = 8;
    while (size > 0 && v->data[size - 1] == 0) size--;
    PyObject *type = u9p_named("Symbol"),
             *text = PyUnicode_DecodeUTF8((const char *)v->data, size, "surrogateescape");
    PyObject *symbol = type && text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    Py_XDECREF(text);
    return symbol;
}

/* ('datetime us): 1 and the number, if it is one that a datetime holds. */
static int is_stamp(const u9_value *v, int64_t *us)
{
    u9_walk walk = u9_walk_elements(v);
    u9_value name, number, more;
    if (v->count != 2 || u9_walk_next(&walk, &name) != U9_OK || name.type != U9_SYMBOL) return 0;
    if (memcmp(name.data, STAMP, 8) != 0 || u9_walk_next(&walk, &number) != U9_OK) return 0;
    if (number.type == U9_UINT) *us = number.u <= INT64_MAX ? (int64_t)number.u : INT64_MAX;
    else if (number.type == U9_INT) *us = number.i;
    else return 0;
    return *us >= INT64_C(-62135596800000000) && *us < INT64_C(253402300800000000) &&
           u9_walk_next(&walk, &more) == U9_END;
}

static PyObject *decode_stamp(int64_t us)
{
    PyObject *of = u9p_named("time_of");
    return of ? PyObject_CallFunction(of, "L", (long long)us) : NULL;
}

/* Exactly `count` values, into a new list or tuple. */
static PyObject *decode_all(PyObject *owner, u9_walk *walk, uint64_t count, unsigned depth,
                            int list)
{
    u9_value v;
    u9_err err = U9_OK;
    PyObject *row = list ? PyList_New((Py_ssize_t)count) : PyTuple_New((Py_ssize_t)count);
    for (uint64_t i = 0; row && i < count; i++) {
        err = u9_walk_next(walk, &v);
        PyObject *item = err == U9_OK ? decode(owner, &v, depth) : malformed(err);
        if (!item) Py_CLEAR(row);
        else if (list) PyList_SetItem(row, (Py_ssize_t)i, item);
        else PyTuple_SetItem(row, (Py_ssize_t)i, item);
    }
    if (row && (err = u9_walk_next(walk, &v)) != U9_END) {
        Py_DECREF(row);
        return malformed(err);
    }
    return row;
}

/* 1: added; 0: not a pair of a dict; -1: an exception. */
static int decode_pair(PyObject *owner, const u9_value *pair, PyObject *dict, unsigned depth)
{
    u9_value key, value, more;
    if (pair->type != U9_TUPLE || pair->count != 2 || (pair->start && (pair->code & 0xf8) == 0x50))
        return 0;
    u9_walk walk = u9_walk_elements(pair);
    if (u9_walk_next(&walk, &key) != U9_OK || key.type == U9_TUPLE || key.type == U9_ARRAY)
        return 0;
    if (u9_walk_next(&walk, &value) != U9_OK || u9_walk_next(&walk, &more) != U9_END) return 0;
    Py_ssize_t before = PyDict_Size(dict);
    PyObject *k = decode(owner, &key, depth), *v = k ? decode(owner, &value, depth) : NULL;
    int rc = v && PyDict_SetItem(dict, k, v) == 0 ? PyDict_Size(dict) > before : -1;
    Py_XDECREF(k);
    Py_XDECREF(v);
    return rc;
}

/* The dict that a tuple with an index by key stands for; None if it is none after all; NULL. */
static PyObject *decode_dict(PyObject *owner, const u9_value *v, unsigned depth)
{
    u9_walk walk = u9_walk_indexes(v);
    u9_index index;
    u9_value pair;
    if (u9_index_next(&walk, &index) != U9_OK || index.keyspec != U9_KEYSPEC_KH || !index.complete)
        Py_RETURN_NONE;
    PyObject *dict = PyDict_New();
    walk = u9_walk_elements(v);
    u9_err err = U9_OK;
    int rc = dict ? 1 : -1;
    for (uint64_t i = 0; rc == 1 && i < v->count && (err = u9_walk_next(&walk, &pair)) == U9_OK;
         i++)
        rc = decode_pair(owner, &pair, dict, depth + 1);
    if (rc == 1 && (err != U9_OK || u9_walk_next(&walk, &pair) != U9_END)) rc = 0;
    if (rc == 1) return dict;
    Py_XDECREF(dict);
    return rc == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *decode_tuple(PyObject *owner, const u9_value *v, unsigned depth)
{
    int64_t us;
    int indexed = v->start && (v->code & 0xf8) == 0x50;
    if (v->count > v->size) return malformed(U9_CORRUPT); /* an element has a byte at least */
    if (!indexed && is_stamp(v, &us)) return decode_stamp(us);
    PyObject *dict = indexed ? decode_dict(owner, v, depth + 1) : Py_NewRef(Py_None);
    if (dict != Py_None) return dict;
    Py_DECREF(dict);
    u9_walk walk = u9_walk_elements(v);
    return decode_all(owner, &walk, v->count, depth + 1 + (unsigned)indexed, 1);
}

static PyObject *decode_array(PyObject *owner, const u9_value *v, unsigned depth)
{
    u9_span span;
    u9_err err = u9_array_span(v, &span);
    if (err != U9_OK) return malformed(err);
    if (span.code <= 0x09) return u9p_array(owner, &span);
    if (span.stride ? v->count > v->size : v->count > U9_EMPTY_MAX) return malformed(U9_CORRUPT);
    u9_walk walk = u9_walk_elements(v);
    return decode_all(owner, &walk, v->count, depth + 1, 1);
}

static PyObject *decode_special(const u9_value *v)
{
    PyObject *type = u9p_named(v->type == U9_PIDFD ? "Pidfd" : v->type == U9_TAU ? "Tau" : "Greek");
    if (!type) return NULL;
    if (v->type == U9_PIDFD) return PyObject_CallFunction(type, "II", v->pidfd.pid, v->pidfd.fd);
    if (v->type == U9_TAU) return PyObject_CallFunction(type, "K", (unsigned long long)v->u);
    return PyObject_CallFunction(type, "i", (int)v->type);
}

static PyObject *decode(PyObject *owner, const u9_value *v, unsigned depth)
{
    switch (v->type) {
    case U9_UINT: return PyLong_FromUnsignedLongLong(v->u);
    case U9_INT: return PyLong_FromLongLong(v->i);
    case U9_FLOAT32:
    case U9_FLOAT64: return PyFloat_FromDouble(v->f);
    case U9_UTF8: return decode_text(v);
    case U9_BYTES: return PyBytes_FromStringAndSize((const char *)v->data, (Py_ssize_t)v->size);
    case U9_SYMBOL: return decode_symbol(v);
    case U9_TUPLE:
        if (depth >= U9_DEPTH_MAX) return malformed(U9_LIMIT);
        return decode_tuple(owner, v, depth);
    case U9_ARRAY:
        if (depth >= U9_DEPTH_MAX) return malformed(U9_LIMIT);
        return decode_array(owner, v, depth);
    case U9_PIDFD:
    case U9_TAU:
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: return decode_special(v);
    }
    return malformed(U9_CORRUPT);
}

/* As many as there are: few are counted on the stack, in one walk. */
PyObject *u9p_decode_values(PyObject *owner, const uint8_t *bytes, size_t size)
{
    enum { FEW = 32 };
    PyObject *few[FEW];
    Py_ssize_t count = 0;
    u9_walk walk = u9_walk_bytes(bytes, size);
    u9_value v;
    u9_err err = U9_OK;
    while (count < FEW && (err = u9_walk_next(&walk, &v)) == U9_OK) {
        if (!(few[count] = decode(owner, &v, 1))) err = U9_CORRUPT;
        if (err != U9_OK) break;
        count++;
    }
    if (err == U9_END) {
        PyObject *row = PyTuple_New(count);
        for (Py_ssize_t i = 0; row && i < count; i++) PyTuple_SetItem(row, i, few[i]);
        if (row) return row;
    }
    while (count > 0) Py_DECREF(few[--count]);
    if (PyErr_Occurred()) return NULL;
    if (err != U9_OK) return malformed(err);
    uint64_t all = 0; /* more than a few: counted, then decoded */
    for (walk = u9_walk_bytes(bytes, size); (err = u9_walk_next(&walk, &v)) == U9_OK;) all++;
    if (err != U9_END) return malformed(err);
    walk = u9_walk_bytes(bytes, size);
    return decode_all(owner, &walk, all, 1, 0);
}

PyObject *u9p_decode_record(PyObject *owner, const u9_record *r)
{
    if (!r->bytes)
        return u9p_refuse(U9_LIMIT,
                          "the record is larger than memory is given for: Log.read has its bytes");
    return u9p_decode_values(owner, r->values, (size_t)r->values_size);
}

PyObject *u9p_steady(PyObject *data)
{
    if (PyObject_CheckBuffer(data)) return PyBytes_FromObject(data);
    PyErr_SetString(PyExc_TypeError, "bytes are needed, or what has a buffer of them");
    return NULL;
}

/* ---- functions ---- */

/* encode(*values) -> bytes: back to back. */
static PyObject *encode_values(PyObject *self, PyObject *values)
{
    struct u9p_writer w;
    PyObject *bytes = NULL;
    int rc = 0;
    (void)self;
    u9p_writer_init(&w);
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_Size(values); i++)
        rc = u9p_encode(&w.b, PyTuple_GetItem(values, i));
    if (rc == 0) bytes = PyBytes_FromStringAndSize((const char *)w.b.bytes, (Py_ssize_t)w.b.size);
    u9p_writer_release(&w);
    return bytes;
}

/* decode(bytes) -> tuple */
static PyObject *decode_bytes(PyObject *self, PyObject *data)
{
    char *p;
    Py_ssize_t size;
    PyObject *bytes = PyBytes_FromObject(data); /* itself, if it is one */
    (void)self;
    PyObject *row = bytes && PyBytes_AsStringAndSize(bytes, &p, &size) == 0
                        ? u9p_decode_values(bytes, (const uint8_t *)p, (size_t)size)
                        : NULL;
    Py_XDECREF(bytes);
    return row;
}

/* text(value) -> str: the notation of SPEC-values.md, N */
static PyObject *text_of(PyObject *self, PyObject *value)
{
    struct u9p_writer w;
    PyObject *text = NULL;
    size_t size = 0;
    (void)self;
    u9p_writer_init(&w);
    if (u9p_encode(&w.b, value) == 0) {
        u9_fault fault = {0};
        u9_err err = u9_value_text(w.b.bytes, w.b.size, NULL, 0, &size, &fault);
        char *room = err == U9_LIMIT ? malloc(size + 1) : NULL;
        if (room) err = u9_value_text(w.b.bytes, w.b.size, room, size + 1, &size, &fault);
        if (err == U9_OK) text = PyUnicode_DecodeUTF8(room, (Py_ssize_t)size, "surrogateescape");
        else if (!room && err == U9_LIMIT) PyErr_NoMemory();
        else u9p_raise(err, &fault, NULL);
        free(room);
    }
    u9p_writer_release(&w);
    return text;
}

/* parse(text) -> value */
static PyObject *value_of_text(PyObject *self, PyObject *text)
{
    struct u9p_writer w;
    u9_fault fault = {0};
    Py_ssize_t size;
    (void)self;
    const char *p = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (!p && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a str is needed");
    if (!p) return NULL;
    u9p_writer_init(&w);
    u9_err err = u9_value_parse(p, (size_t)size, NULL, &w.b, &fault);
    PyObject *bytes = NULL, *row = NULL, *value = NULL;
    if (err != U9_OK) u9p_raise(err == U9_END ? U9_TORN : err, &fault, NULL);
    else bytes = PyBytes_FromStringAndSize((const char *)w.b.bytes, (Py_ssize_t)w.b.size);
    u9p_writer_release(&w);
    if (bytes && (row = decode_bytes(NULL, bytes))) value = Py_XNewRef(PyTuple_GetItem(row, 0));
    Py_XDECREF(bytes);
    Py_XDECREF(row);
    return value;
}

PyMethodDef u9p_value_methods[] = {
    {"encode", encode_values, METH_VARARGS,
     "encode(*values) -> bytes: the values as utf9, back to back"},
    {"decode", decode_bytes, METH_O, "decode(bytes) -> tuple: utf9 values that stand back to back"},
    {"text", text_of, METH_O, "text(value) -> str: the value in the text notation"},
    {"parse", value_of_text, METH_O, "parse(text) -> value: one value of the text notation"},
    {NULL, NULL, 0, NULL},
};
