/* python/large.c: records of any size, in pieces (u9/large.h): u9.Reading and u9.Writing. */
#include "python/module.h"

#include <string.h>

struct piece {
    PyObject_HEAD struct u9p_log *log;
    struct u9p_held held;
    u9_reading *reading; /* of these one is NULL, and both are once it is closed */
    u9_append *append;
    int busy;
    uint64_t size;      /* of a reading: bytes of the record, */
    uint64_t values_at; /*   and where in it its values begin */
};

PyTypeObject *u9p_reading_type, *u9p_writing_type;

static void close_held(struct u9p_held *held)
{
    struct piece *p = (struct piece *)((char *)held - offsetof(struct piece, held));
    struct u9p_call call;
    u9_reading *reading = p->reading;
    u9_append *append = p->append;
    p->reading = NULL;
    p->append = NULL;
    u9p_enter_anyway(p->log, &call);
    u9_record_close(reading);
    u9_append_abort(append);
    u9p_leave_quietly(&call);
}

static struct piece *piece_new(PyTypeObject *type, struct u9p_log *log)
{
    struct piece *p = PyObject_New(struct piece, type);
    if (!p) return NULL;
    memset((char *)p + offsetof(struct piece, log), 0, sizeof *p - offsetof(struct piece, log));
    p->log = (struct u9p_log *)Py_NewRef((PyObject *)log);
    p->held.close = close_held;
    return p;
}

static void shut(struct piece *p)
{
    if (!p->reading && !p->append) return;
    u9p_let_go(&p->held);
    close_held(&p->held);
}

static void piece_dealloc(PyObject *self)
{
    struct piece *p = (struct piece *)self;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    shut(p);
    PyErr_Restore(type, value, trace);
    Py_DECREF((PyObject *)p->log);
    u9p_free(self);
}

static int enter(struct piece *p, struct u9p_call *call)
{
    if (u9p_log_usable(p->log) < 0) return -1;
    if (!p->reading && !p->append) u9p_refuse(U9_STATE, "it is closed");
    else if (p->busy) u9p_refuse(U9_STATE, "it is in use by another thread");
    else {
        p->busy = 1; /* before the GIL goes */
        if (u9p_enter(p->log, call) == 0) return 0;
        p->busy = 0;
    }
    return -1;
}

/* Of a call on `call`: 0, or -1 with an exception. */
static int leave(struct piece *p, struct u9p_call *call, u9_err err, const u9_fault *fault)
{
    int rc = u9p_leave(call);
    p->busy = 0;
    if (rc == 0 && err != U9_OK && err != U9_END) rc = (u9p_raise(err, fault, NULL), -1);
    return rc;
}

static PyObject *piece_close(PyObject *self, PyObject *ignored)
{
    struct piece *p = (struct piece *)self;
    (void)ignored;
    if (p->busy) return u9p_refuse(U9_STATE, "it is in use by another thread");
    shut(p);
    Py_RETURN_NONE;
}

static PyObject *piece_enter(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return Py_NewRef(self);
}

static PyObject *piece_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return piece_close(self, NULL);
}

/* ---- reading ---- */

/* Log.read(record) */
PyObject *u9p_log_read(PyObject *self, PyObject *record)
{
    struct u9p_log *log = (struct u9p_log *)self;
    const u9_record *r = u9p_record_of(record);
    struct piece *p = r ? piece_new(u9p_reading_type, log) : NULL;
    struct u9p_call call;
    u9_fault fault = {0};
    if (!p) return NULL;
    if (u9p_enter(log, &call) == 0) {
        u9_err err = u9_record_open(log->log, r, &p->reading, &fault);
        int rc = u9p_leave(&call);
        if (err == U9_OK) u9p_hold(log, &p->held);
        p->size = r->size;
        p->values_at = r->size - r->values_size;
        if (rc == 0 && err == U9_OK) return (PyObject *)p;
        if (rc == 0) u9p_raise(err, &fault, NULL);
    }
    Py_DECREF((PyObject *)p);
    return NULL;
}

/* readinto(buffer, offset) -> int */
static PyObject *reading_into(PyObject *self, PyObject *args)
{
    struct piece *p = (struct piece *)self;
    struct u9p_call call;
    u9_fault fault = {0};
    Py_buffer into;
    uint64_t offset;
    size_t got = 0;
    if (!PyArg_ParseTuple(args, "w*O&:readinto", &into, u9p_u64, &offset)) return NULL;
    int rc = enter(p, &call);
    if (rc == 0) {
        u9_err err = u9_record_read(p->reading, offset, into.buf, (size_t)into.len, &got, &fault);
        if (err == U9_END) got = 0;
        rc = leave(p, &call, err, &fault);
    }
    PyBuffer_Release(&into);
    return rc < 0 ? NULL : PyLong_FromSize_t(got);
}

/* read(offset, size) -> bytes */
static PyObject *reading_read(PyObject *self, PyObject *args)
{
    struct piece *p = (struct piece *)self;
    uint64_t offset, size;
    if (!PyArg_ParseTuple(args, "O&O&:read", u9p_u64, &offset, u9p_u64, &size)) return NULL;
    if (offset > p->size) offset = p->size;
    if (size > p->size - offset) size = p->size - offset;
    PyObject *into = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size), *bytes = NULL;
    PyObject *got = into ? PyObject_CallMethod(self, "readinto", "OK", into, (unsigned long long)offset) : NULL;
    if (got) bytes = PyBytes_FromStringAndSize(PyByteArray_AsString(into), PyLong_AsSsize_t(got));
    Py_XDECREF(got);
    Py_XDECREF(into);
    return bytes;
}

static PyObject *reading_size(PyObject *self, void *values)
{
    struct piece *p = (struct piece *)self;
    return PyLong_FromUnsignedLongLong(values ? p->values_at : p->size);
}

static PyMethodDef reading_methods[] = {
    {"read", reading_read, METH_VARARGS,
     "read(offset, size) -> bytes: as many as there are, verified."},
    {"readinto", reading_into, METH_VARARGS,
     "readinto(buffer, offset) -> int: how many it read; 0 at the end."},
    {"close", piece_close, METH_NOARGS, NULL},
    {"__enter__", piece_enter, METH_NOARGS, NULL},
    {"__exit__", piece_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reading_fields[] = {
    {"size", reading_size, NULL, "Bytes of the record, a utf9 tuple.", NULL},
    {"values_at", reading_size, NULL, "Where in it the values begin, which go to its end.", "v"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot reading_slots[] = {
    {Py_tp_dealloc, piece_dealloc},
    {Py_tp_methods, reading_methods},
    {Py_tp_getset, reading_fields},
    {Py_tp_doc, "A record that is read in pieces. One thread at a time uses it."},
    {0, NULL},
};
PyType_Spec u9p_reading_spec = {.name = "u9.Reading",
                                .basicsize = sizeof(struct piece),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = reading_slots};

/* ---- writing ---- */

/* Log.begin(count, size, *, key=None) */
PyObject *u9p_log_begin(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"count", "size", "key", NULL};
    struct u9p_log *log = (struct u9p_log *)self;
    uint64_t count, size;
    PyObject *key = NULL;
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key room, *given;
    struct u9p_call call;
    u9_fault fault = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$O:begin", names, u9p_u64, &count, u9p_u64, &size, &key))
        return NULL;
    if (u9p_key_of(log, key, raw, &room, &given) < 0) return NULL;
    struct piece *p = piece_new(u9p_writing_type, log);
    if (!p) return NULL;
    if (u9p_enter(log, &call) == 0) {
        u9_err err = u9_append_begin(log->log, given, count, size, &p->append, NULL);
        if (err != U9_OK) u9_log_fault(log->log, &fault);
        int rc = u9p_leave(&call);
        if (err == U9_OK) u9p_hold(log, &p->held);
        if (rc == 0 && err == U9_OK) return (PyObject *)p;
        if (rc == 0) u9p_raise(err, &fault, NULL);
    }
    Py_DECREF((PyObject *)p);
    return NULL;
}

/* write(bytes) -> self */
static PyObject *writing_write(PyObject *self, PyObject *data)
{
    struct piece *p = (struct piece *)self;
    struct u9p_call call;
    u9_fault fault = {0};
    char *some = NULL;
    Py_ssize_t size = 0;
    PyObject *bytes = u9p_steady(data);
    int rc = bytes && PyBytes_AsStringAndSize(bytes, &some, &size) == 0 ? enter(p, &call) : -1;
    if (rc == 0) {
        u9_err err = u9_append_write(p->append, some, (size_t)size);
        if (err != U9_OK) u9_log_fault(p->log->log, &fault);
        rc = leave(p, &call, err, &fault);
    }
    Py_XDECREF(bytes);
    return rc < 0 ? NULL : Py_NewRef(self);
}

/* head(type, size) -> self: what stands in front of a text ("str") or bytes ("bytes") whose contents come next */
static PyObject *writing_head(PyObject *self, PyObject *args)
{
    const char *type;
    uint64_t size;
    uint8_t front[9];
    if (!PyArg_ParseTuple(args, "sO&:head", &type, u9p_u64, &size)) return NULL;
    int text = strcmp(type, "str") == 0;
    if (!text && strcmp(type, "bytes") != 0)
        return PyErr_Format(PyExc_ValueError, "type is 'str' or 'bytes', not '%s'", type);
    size_t n = u9_value_head(text ? U9_UTF8 : U9_BYTES, size, front);
    return PyObject_CallMethod(self, "write", "y#", (const char *)front, (Py_ssize_t)n);
}

/* end() -> int: the ordinal */
static PyObject *writing_end(PyObject *self, PyObject *ignored)
{
    struct piece *p = (struct piece *)self;
    struct u9p_call call;
    u9_place place = {0};
    u9_fault fault = {0};
    (void)ignored;
    if (enter(p, &call) < 0) return NULL;
    u9_err err = u9_append_end(p->append, &place);
    if (err != U9_OK) u9_log_fault(p->log->log, &fault);
    int rc = leave(p, &call, err, &fault);
    if (err == U9_OK) {
        p->append = NULL;
        u9p_let_go(&p->held);
    }
    return rc < 0 ? NULL : PyLong_FromUnsignedLongLong(place.ordinal);
}

/* At the end of a `with` block it is appended, as a batch is, unless it was ended or given up; by an exception it is given up. */
static PyObject *writing_exit(PyObject *self, PyObject *args)
{
    struct piece *p = (struct piece *)self;
    int fails = PyTuple_Size(args) > 0 && PyTuple_GetItem(args, 0) != Py_None;
    if (fails || p->append == NULL) return piece_close(self, NULL);
    PyObject *ordinal = writing_end(self, NULL), *type, *value, *trace;
    if (ordinal) return Py_DECREF(ordinal), piece_close(self, NULL);
    PyErr_Fetch(&type, &value, &trace);
    Py_XDECREF(piece_close(self, NULL));
    PyErr_Restore(type, value, trace);
    return NULL;
}

static PyObject *writing_taken(PyObject *self, void *x)
{
    const struct piece *p = (struct piece *)self;
    (void)x;
    if (p->busy) return u9p_refuse(U9_STATE, "it is in use by another thread");
    return PyLong_FromUnsignedLongLong(u9_append_taken(p->append));
}

static PyMethodDef writing_methods[] = {
    {"write", writing_write, METH_O,
     "write(bytes): the next bytes of the values, as u9.encode makes them."},
    {"head", writing_head, METH_VARARGS,
     "head(type, size): what stands in front of a 'str' or 'bytes' of `size` bytes; its contents come by write."},
    {"end", writing_end, METH_NOARGS,
     "end() -> int: the record is appended as a whole; its ordinal."},
    {"close", piece_close, METH_NOARGS,
     "close(): gives it up, if it was not ended: nothing of it is in the log."},
    {"__enter__", piece_enter, METH_NOARGS, NULL},
    {"__exit__", writing_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef writing_fields[] = {
    {"taken", writing_taken, NULL, "Bytes of values taken so far.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot writing_slots[] = {
    {Py_tp_dealloc, piece_dealloc},
    {Py_tp_methods, writing_methods},
    {Py_tp_getset, writing_fields},
    {Py_tp_doc, "A record on its way into a log. `with log.begin(...) as w` appends it at the end of the block, and gives it up "
                "by an exception. One thread at a time uses it."},
    {0, NULL},
};
PyType_Spec u9p_writing_spec = {.name = "u9.Writing",
                                .basicsize = sizeof(struct piece),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = writing_slots};
