/*
 * python/array.c: u9.Array, the numbers of an array where they lie: a sequence, and a buffer that memoryview and
 * numpy.asarray take without a copy, in the byte order that it has in the log (big-endian).
 */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

struct u9p_array {
    PyObject_HEAD PyObject *owner;
    const uint8_t *data;
    Py_ssize_t count, stride;
    uint8_t code; /* 00 to 09, its typecode */
};

PyTypeObject *u9p_array_type;

static const struct {
    const char *name, *format;
    u9_type type;
} codes[] = {
    {"uint8", "B", U9_UINT},       {"uint16", ">H", U9_UINT}, {"uint32", ">I", U9_UINT},
    {"uint64", ">Q", U9_UINT},     {"int8", "b", U9_INT},     {"int16", ">h", U9_INT},
    {"int32", ">i", U9_INT},       {"int64", ">q", U9_INT},   {"float32", ">f", U9_FLOAT32},
    {"float64", ">d", U9_FLOAT64},
};

PyObject *u9p_array(PyObject *owner, const u9_span *span)
{
    struct u9p_array *a = PyObject_New(struct u9p_array, u9p_array_type);
    if (!a) return NULL;
    a->owner = Py_NewRef(owner);
    a->data = span->data;
    a->count = (Py_ssize_t)span->count;
    a->stride = (Py_ssize_t)span->stride;
    a->code = span->code;
    return (PyObject *)a;
}

static void array_dealloc(PyObject *self)
{
    Py_DECREF(((struct u9p_array *)self)->owner);
    u9p_free(self);
}

static int array_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct u9p_array *a = (struct u9p_array *)self;
    if (flags & PyBUF_WRITABLE) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "an array of a record is read-only");
        return -1;
    }
    view->obj = Py_NewRef(self);
    view->buf = (void *)(uintptr_t)a->data;
    view->len = a->count * a->stride;
    view->readonly = 1;
    view->itemsize = a->stride;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)codes[a->code].format : NULL;
    view->ndim = 1;
    view->shape = flags & PyBUF_ND ? &a->count : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &a->stride : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static Py_ssize_t array_length(PyObject *self)
{
    return ((struct u9p_array *)self)->count;
}

static PyObject *number_at(const struct u9p_array *a, Py_ssize_t i)
{
    uint64_t bits = 0;
    const uint8_t *p = a->data + i * a->stride;
    for (Py_ssize_t k = 0; k < a->stride; k++) bits = bits << 8 | p[k];
    if (a->code == 8) {
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof f);
        return PyFloat_FromDouble((double)f);
    }
    if (a->code == 9) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return PyFloat_FromDouble(d);
    }
    if (a->code < 4) return PyLong_FromUnsignedLongLong(bits);
    unsigned above = (unsigned)(64 - 8 * a->stride);
    return PyLong_FromLongLong((int64_t)(bits << above) >> above);
}

static PyObject *array_item(PyObject *self, Py_ssize_t i)
{
    struct u9p_array *a = (struct u9p_array *)self;
    if (i >= 0 && i < a->count) return number_at(a, i);
    PyErr_SetString(PyExc_IndexError, "the array has not so many elements");
    return NULL;
}

static PyObject *array_subscript(PyObject *self, PyObject *key)
{
    struct u9p_array *a = (struct u9p_array *)self;
    if (PySlice_Check(key)) {
        Py_ssize_t from, to, step;
        if (PySlice_Unpack(key, &from, &to, &step) < 0) return NULL;
        Py_ssize_t count = PySlice_AdjustIndices(a->count, &from, &to, step);
        u9_span part = {
            .data = a->data + from * a->stride, .count = (uint64_t)count, .code = a->code};
        part.stride = (uint64_t)a->stride;
        if (step == 1) return u9p_array(a->owner, &part);
        PyErr_SetString(PyExc_ValueError,
                        "a slice of an array has no step: numpy.asarray takes it without a copy");
        return NULL;
    }
    Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return NULL;
    return array_item(self, i < 0 ? i + a->count : i);
}

static PyObject *array_list(PyObject *self, PyObject *ignored)
{
    struct u9p_array *a = (struct u9p_array *)self;
    PyObject *list = PyList_New(a->count);
    (void)ignored;
    for (Py_ssize_t i = 0; list && i < a->count; i++) {
        PyObject *n = number_at(a, i);
        if (!n) Py_CLEAR(list);
        else PyList_SetItem(list, i, n);
    }
    return list;
}

static PyObject *array_type(PyObject *self, void *ignored)
{
    (void)ignored;
    return PyUnicode_FromString(codes[((struct u9p_array *)self)->code].name);
}

static PyObject *array_repr(PyObject *self)
{
    PyObject *list = array_list(self, NULL);
    PyObject *text = list ? PyUnicode_FromFormat("Array('%s', %R)",
                                                 codes[((struct u9p_array *)self)->code].name, list)
                          : NULL;
    Py_XDECREF(list);
    return text;
}

/* Equal to any sequence of the same numbers. */
static PyObject *array_compare(PyObject *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !PySequence_Check(other) || PyUnicode_Check(other))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *mine = array_list(self, NULL), *theirs = PySequence_List(other);
    PyObject *said = mine && theirs ? PyObject_RichCompare(mine, theirs, op) : NULL;
    Py_XDECREF(mine);
    Py_XDECREF(theirs);
    return said;
}

/* The code of what a buffer's format says; -1 if it has none. `swap`: it is not in this machine's order. */
static int code_of(const Py_buffer *view, int *swap)
{
    static const char little[] = {1};
    const char *f = view->format ? view->format : "B";
    uint16_t one = 1;
    int ours_little = memcmp(&one, little, 1) == 0, width;
    *swap = 0;
    if (*f == '<' || *f == '>' || *f == '!') *swap = (*f == '<') != ours_little;
    if (*f && strchr("@=<>!", *f)) f++;
    switch (view->itemsize) {
    case 1: width = 0; break;
    case 2: width = 1; break;
    case 4: width = 2; break;
    case 8: width = 3; break;
    default: return -1;
    }
    if (!*f || f[1]) return -1;
    if (strchr("BHILQN", *f)) return width;
    if (strchr("bhilqn", *f)) return 4 + width;
    if (strchr("fd", *f) && width >= 2) return 6 + width;
    return -1;
}

static void reverse_each(uint8_t *p, size_t count, size_t width)
{
    for (size_t i = 0; i < count; i++, p += width)
        for (size_t k = 0; k < width / 2; k++) {
            uint8_t low = p[k];
            p[k] = p[width - 1 - k];
            p[width - 1 - k] = low;
        }
}

static int build(u9_builder *b, Py_buffer *view)
{
    int swap, code = code_of(view, &swap);
    if (code < 0 || view->ndim != 1) {
        PyErr_Format(PyExc_TypeError,
                     "no array of a log holds elements of format '%s' in %d dimensions",
                     view->format ? view->format : "B", view->ndim);
        return -1;
    }
    size_t width = (size_t)view->itemsize, size = (size_t)view->len;
    uint8_t *copy = NULL;
    const void *numbers = view->buf;
    if (swap || !PyBuffer_IsContiguous(view, 'C')) {
        if (!(copy = malloc(size + 1)) || PyBuffer_ToContiguous(copy, view, view->len, 'C') < 0) {
            free(copy);
            if (!PyErr_Occurred()) PyErr_NoMemory();
            return -1;
        }
        if (swap) reverse_each(copy, size / width, width);
        numbers = copy;
    }
    u9_err err = u9_build_numbers(b, (uint8_t)code, numbers, size / width);
    free(copy);
    if (err == U9_OK) return 0;
    if (err == U9_NOMEM) PyErr_NoMemory();
    else u9p_refuse(err, "the array cannot be built");
    return -1;
}

/* A single number of numpy's, as Python's. */
static PyObject *number_of(PyObject *value, const char *format)
{
    int truth = format && strcmp(format, "?") == 0 ? PyObject_IsTrue(value) : -2;
    if (truth != -2) return truth < 0 ? NULL : PyBool_FromLong(truth);
    PyObject *number = PyNumber_Index(value);
    if (number || !PyErr_ExceptionMatches(PyExc_TypeError)) return number;
    PyErr_Clear();
    return PyNumber_Float(value);
}

/* A memoryview of bytes is bytes; all else that shows numbers in memory is an array. */
int u9p_encode_buffer(u9_builder *b, PyObject *value)
{
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_FULL_RO) < 0) return -1;
    int rc;
    if (PyMemoryView_Check(value) && view.ndim == 1 && view.itemsize == 1 &&
        (!view.format || !strcmp(view.format, "B"))) {
        PyObject *bytes = PyBytes_FromObject(value);
        rc = bytes ? u9p_encode(b, bytes) : -1;
        Py_XDECREF(bytes);
    } else if (view.ndim == 0) {
        PyObject *number = number_of(value, view.format);
        rc = number ? u9p_encode(b, number) : -1;
        Py_XDECREF(number);
    } else rc = build(b, &view);
    PyBuffer_Release(&view);
    return rc;
}

static int add_all(u9_builder *b, PyObject *numbers, int floats)
{
    PyObject *each = PyObject_GetIter(numbers), *n;
    int rc = each ? 0 : -1;
    while (rc == 0 && (n = PyIter_Next(each))) {
        PyObject *number = floats ? PyNumber_Float(n) : PyNumber_Index(n);
        u9_err err = U9_OK;
        if (number && floats) {
            double v = PyFloat_AsDouble(number);
            err = floats == 1 ? u9_build_float32(b, (float)v) : u9_build_float64(b, v);
        }
        rc = !number || err != U9_OK ? -1 : floats ? 0 : u9p_encode(b, number);
        if (rc < 0 && (!PyErr_Occurred() || !PyErr_ExceptionMatches(PyExc_TypeError))) {
            PyErr_Clear();
            PyErr_SetString(PyExc_OverflowError, "a number does not fit the array's type");
        }
        Py_XDECREF(number);
        Py_DECREF(n);
    }
    Py_XDECREF(each);
    return PyErr_Occurred() ? -1 : rc;
}

/* Array("int32", numbers) */
static PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *name;
    PyObject *numbers, *array = NULL;
    uint8_t code = 0;
    static char *names[] = {"type", "numbers", NULL};
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO:Array", names, &name, &numbers)) return NULL;
    while (code <= 9 && strcmp(codes[code].name, name) != 0) code++;
    if (code > 9) return PyErr_Format(PyExc_ValueError, "no numbers are of type '%s'", name);
    struct u9p_writer w;
    u9p_writer_init(&w);
    u9_err err = u9_build_array_open(&w.b, &code, 1);
    int rc = err == U9_OK ? add_all(&w.b, numbers, code < 8 ? 0 : code - 7) : -1;
    if (rc == 0) err = u9_build_array_close(&w.b);
    if (err != U9_OK) u9p_refuse(err, "the array cannot be built");
    else if (rc == 0) {
        PyObject *bytes = PyBytes_FromStringAndSize((const char *)w.b.bytes, (Py_ssize_t)w.b.size);
        PyObject *row =
            bytes ? u9p_decode_values(bytes, (const uint8_t *)PyBytes_AsString(bytes), w.b.size)
                  : NULL;
        if (row) array = Py_XNewRef(PyTuple_GetItem(row, 0));
        Py_XDECREF(row);
        Py_XDECREF(bytes);
    }
    u9p_writer_release(&w);
    return array;
}

static PyMethodDef methods[] = {
    {"tolist", array_list, METH_NOARGS, "The numbers as a list."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef fields[] = {
    {"type", array_type, NULL,
     "What the numbers are: 'uint8' .. 'uint64', 'int8' .. 'int64', 'float32', 'float64'.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, array_new},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_repr, array_repr},
    {Py_tp_richcompare, array_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_methods, methods},
    {Py_tp_getset, fields},
    {Py_sq_length, array_length},
    {Py_sq_item, array_item},
    {Py_mp_length, array_length},
    {Py_mp_subscript, array_subscript},
    {Py_bf_getbuffer, array_buffer},
    {Py_tp_doc, "Array(type, numbers): numbers of one type, as a sequence and as a buffer."},
    {0, NULL},
};

PyType_Spec u9p_array_spec = {.name = "u9.Array",
                              .basicsize = sizeof(struct u9p_array),
                              .flags = Py_TPFLAGS_DEFAULT,
                              .slots = slots};
