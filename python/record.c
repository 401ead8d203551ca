/* python/record.c: chunks of records that are copied out of a cursor, records in them, places, and keys. */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *u9p_chunk_type, *u9p_record_type, *u9p_place_type;

struct u9p_record {
    PyObject_HEAD struct u9p_chunk *chunk;
    size_t at;
};

struct u9p_place {
    PyObject_HEAD uint64_t ordinal;
    enum u9p_kind kind;
    PyObject *key; /* bytes: the raw form */
};

void u9p_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* ---- keys ---- */

enum u9p_kind u9p_kind_of(const char *name)
{
    if (strcmp(name, "muid") == 0) return U9P_KIND_MUID;
    if (strncmp(name, "gid:", 4) == 0) return U9P_KIND_GID;
    if (strcmp(name, "tid") == 0) return U9P_KIND_TID;
    if (strcmp(name, "uid8") == 0) return U9P_KIND_UID8;
    return strncmp(name, "rkey", 4) == 0 ? U9P_KIND_RKEY : U9P_KIND_OTHER;
}

/* A bytes of a class of _ids.py: made by bytes.__new__, since the raw form is what it is. */
static PyObject *key_as(const char *name, PyObject *bytes)
{
    PyObject *type = u9p_named(name), *make = type ? u9p_named("bytes_new") : NULL;
    return make ? PyObject_CallFunctionObjArgs(make, type, bytes, NULL) : NULL;
}

static PyObject *key_from(enum u9p_kind kind, PyObject *bytes, size_t size)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {[U9P_KIND_MUID] = {"Muid", 16},
                 [U9P_KIND_GID] = {"Gid", 16},
                 [U9P_KIND_TID] = {"Tid", 8},
                 [U9P_KIND_UID8] = {"Uid8", 8}};
    if (kind == U9P_KIND_RKEY)
        return PyUnicode_FromEncodedObject(bytes, "utf-8", "surrogateescape");
    return kind != U9P_KIND_OTHER && types[kind].size == size ? key_as(types[kind].name, bytes)
                                                              : Py_NewRef(bytes);
}

PyObject *u9p_key(enum u9p_kind kind, const void *data, size_t size)
{
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    PyObject *key = bytes ? key_from(kind, bytes, size) : NULL;
    Py_XDECREF(bytes);
    return key;
}

/* ---- chunks ---- */

struct u9p_chunk *u9p_chunk_new(enum u9p_kind kind)
{
    struct u9p_chunk *c = PyObject_New(struct u9p_chunk, u9p_chunk_type);
    if (!c) return NULL;
    c->kind = kind;
    c->bytes = NULL;
    c->items = NULL;
    c->used = c->cap = c->count = c->room = 0;
    return c;
}

static void chunk_dealloc(PyObject *self)
{
    struct u9p_chunk *c = (struct u9p_chunk *)self;
    free(c->bytes);
    free(c->items);
    u9p_free(self);
}

static int make_room(struct u9p_chunk *c, size_t need)
{
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        struct u9p_item *items = realloc(c->items, room * sizeof *items);
        if (!items) return 0;
        c->items = items;
        c->room = room;
    }
    if (c->cap - c->used >= need) return 1;
    size_t cap = c->cap < need ? c->used + need : 2 * c->cap;
    uint8_t *bytes = realloc(c->bytes, cap);
    if (!bytes) return 0;
    c->bytes = bytes;
    c->cap = cap;
    return 1;
}

/* The key of a record stands in its bytes, if it has any. */
static int key_within(const u9_record *r)
{
    uintptr_t key = (uintptr_t)r->key.data, from = (uintptr_t)r->bytes;
    return r->bytes && key >= from && key - from <= r->size &&
           r->key.size <= r->size - (key - from);
}

int u9p_chunk_add(struct u9p_chunk *c, const u9_record *r)
{
    size_t size = r->bytes ? (size_t)r->size : 0, key = key_within(r) ? 0 : r->key.size;
    if (!make_room(c, size + key + 1)) return 0;
    struct u9p_item *item = &c->items[c->count++];
    item->r = *r;
    item->at = c->used;
    if (size > 0) memcpy(c->bytes + c->used, r->bytes, size);
    if (key > 0) memcpy(c->bytes + c->used + size, r->key.data, key);
    /* offsets from the record's first byte, until its chunk is fixed */
    item->r.key.data =
        (const void *)(key > 0 || !r->bytes ? size : (uintptr_t)r->key.data - (uintptr_t)r->bytes);
    c->used += size + key;
    return 1;
}

void u9p_chunk_fix(struct u9p_chunk *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct u9p_item *item = &c->items[i];
        const uint8_t *first = c->bytes + item->at;
        item->r.key.data = first + (uintptr_t)item->r.key.data;
        if (!item->r.bytes) continue;
        item->r.bytes = first;
        item->r.values = first + (item->r.size - item->r.values_size);
    }
}

static PyType_Slot chunk_slots[] = {{Py_tp_dealloc, chunk_dealloc}, {0, NULL}};
PyType_Spec u9p_chunk_spec = {.name = "u9._Chunk",
                              .basicsize = sizeof(struct u9p_chunk),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              .slots = chunk_slots};

/* ---- records ---- */

PyObject *u9p_record(struct u9p_chunk *chunk, size_t at)
{
    struct u9p_record *r = PyObject_New(struct u9p_record, u9p_record_type);
    if (!r) return NULL;
    r->chunk = (struct u9p_chunk *)Py_NewRef((PyObject *)chunk);
    r->at = at;
    return (PyObject *)r;
}

static const u9_record *seen(PyObject *self)
{
    struct u9p_record *r = (struct u9p_record *)self;
    return &r->chunk->items[r->at].r;
}

const u9_record *u9p_record_of(PyObject *record)
{
    if (Py_TYPE(record) == u9p_record_type) return seen(record);
    PyErr_SetString(PyExc_TypeError, "a u9.Record is needed");
    return NULL;
}

static void record_dealloc(PyObject *self)
{
    Py_DECREF((PyObject *)((struct u9p_record *)self)->chunk);
    u9p_free(self);
}

static int record_buffer(PyObject *self, Py_buffer *view, int flags)
{
    const u9_record *r = seen(self);
    if (r->bytes)
        return PyBuffer_FillInfo(view, self, (void *)(uintptr_t)r->bytes, (Py_ssize_t)r->size, 1,
                                 flags);
    view->obj = NULL;
    PyErr_SetString(PyExc_BufferError,
                    "the record is larger than memory is given for: Log.read has its bytes");
    return -1;
}

static PyObject *get_ordinal(PyObject *self, void *x)
{
    (void)x;
    return PyLong_FromUnsignedLongLong(seen(self)->ordinal);
}

static PyObject *get_time_us(PyObject *self, void *x)
{
    (void)x;
    return PyLong_FromUnsignedLongLong(seen(self)->time_us);
}

static PyObject *get_time(PyObject *self, void *x)
{
    (void)x;
    return u9p_time(seen(self)->time_us);
}

static PyObject *get_segment(PyObject *self, void *x)
{
    (void)x;
    return PyLong_FromUnsignedLongLong(seen(self)->segment);
}

static PyObject *get_offset(PyObject *self, void *x)
{
    (void)x;
    return PyLong_FromUnsignedLongLong(seen(self)->frame);
}

static PyObject *get_size(PyObject *self, void *x)
{
    (void)x;
    return PyLong_FromUnsignedLongLong(seen(self)->size);
}

static PyObject *get_large(PyObject *self, void *x)
{
    (void)x;
    return PyBool_FromLong(!seen(self)->bytes);
}

static PyObject *get_key(PyObject *self, void *x)
{
    const u9_record *r = seen(self);
    (void)x;
    if (r->key.size == 0) Py_RETURN_NONE;
    return u9p_key(((struct u9p_record *)self)->chunk->kind, r->key.data, r->key.size);
}

static PyObject *get_values(PyObject *self, void *x)
{
    (void)x;
    return u9p_decode_record((PyObject *)((struct u9p_record *)self)->chunk, seen(self));
}

static PyObject *get_value(PyObject *self, void *x)
{
    PyObject *row = get_values(self, x), *value = NULL;
    if (row && PyTuple_Size(row) == 1) value = Py_NewRef(PyTuple_GetItem(row, 0));
    else if (row)
        PyErr_Format(PyExc_ValueError, "the record has %zd values: .values are all of them",
                     PyTuple_Size(row));
    Py_XDECREF(row);
    return value;
}

static PyObject *get_encoded(PyObject *self, void *x)
{
    const u9_record *r = seen(self);
    (void)x;
    if (!r->bytes) return u9p_decode_record(self, r);
    PyObject *all = PyMemoryView_FromObject(self);
    PyObject *part =
        all ? PySequence_GetSlice(all, (Py_ssize_t)(r->size - r->values_size), (Py_ssize_t)r->size)
            : NULL;
    Py_XDECREF(all);
    return part;
}

static PyObject *record_repr(PyObject *self)
{
    const u9_record *r = seen(self);
    PyObject *key = get_key(self, NULL), *values = NULL, *text = NULL;
    if (key && r->bytes) values = get_values(self, NULL);
    else if (key) values = PyUnicode_FromFormat("%zu bytes", r->size);
    if (key && !values) { /* a repr does not fail because bytes are not well-formed */
        PyErr_Clear();
        values = PyUnicode_FromString("malformed");
    }
    if (values)
        text = PyUnicode_FromFormat("<u9.Record %llu %S %R>", (unsigned long long)r->ordinal, key,
                                    values);
    Py_XDECREF(key);
    Py_XDECREF(values);
    return text;
}

static PyGetSetDef record_fields[] = {
    {"ordinal", get_ordinal, NULL, "Its number in the log, from 0.", NULL},
    {"key", get_key, NULL, "Its key as the type of the log's kind; None if it has none.", NULL},
    {"values", get_values, NULL, "What follows the key: a tuple, made each time.", NULL},
    {"value", get_value, NULL, "Its only value; ValueError if it has not exactly one.", NULL},
    {"encoded", get_encoded, NULL,
     "The values as they stand in the log, back to back: a memoryview.", NULL},
    {"time", get_time, NULL,
     "When its frame was written: a datetime in UTC; None if that is not known.", NULL},
    {"time_us", get_time_us, NULL, "The same in microseconds since 1970; 0 if it is not known.",
     NULL},
    {"segment", get_segment, NULL, "Number of the segment that it is in.", NULL},
    {"offset", get_offset, NULL, "Byte offset of its frame in that.", NULL},
    {"size", get_size, NULL, "Bytes of it, key and all.", NULL},
    {"large", get_large, NULL,
     "True if it is larger than what is handed out at once: Log.read has its bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot record_slots[] = {
    {Py_tp_dealloc, record_dealloc},
    {Py_tp_repr, record_repr},
    {Py_tp_getset, record_fields},
    {Py_bf_getbuffer, record_buffer},
    {Py_tp_doc,
     "A record of a log. It stays good when the cursor has gone on, and when the log is closed.\n\n"
     "As a buffer (memoryview, bytes) it is the whole record as it stands in the log, a utf9 tuple."},
    {0, NULL},
};
PyType_Spec u9p_record_spec = {.name = "u9.Record",
                               .basicsize = sizeof(struct u9p_record),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = record_slots};

/* ---- places ---- */

PyObject *u9p_place(const u9_place *place, enum u9p_kind kind, const void *key, size_t key_size)
{
    struct u9p_place *p = PyObject_New(struct u9p_place, u9p_place_type);
    if (!p) return NULL;
    p->ordinal = place->ordinal;
    p->kind = kind;
    if (place->key_size > 0) {
        key = place->key;
        key_size = place->key_size;
    }
    p->key = PyBytes_FromStringAndSize(key, (Py_ssize_t)key_size);
    if (p->key) return (PyObject *)p;
    Py_DECREF((PyObject *)p);
    return NULL;
}

static void place_dealloc(PyObject *self)
{
    Py_XDECREF(((struct u9p_place *)self)->key);
    u9p_free(self);
}

static PyObject *place_ordinal(PyObject *self, void *x)
{
    (void)x;
    return PyLong_FromUnsignedLongLong(((struct u9p_place *)self)->ordinal);
}

static PyObject *place_index(PyObject *self)
{
    return place_ordinal(self, NULL);
}

static PyObject *place_key(PyObject *self, void *x)
{
    struct u9p_place *p = (struct u9p_place *)self;
    (void)x;
    return key_from(p->kind, p->key, (size_t)PyBytes_Size(p->key));
}

static PyObject *place_repr(PyObject *self)
{
    PyObject *key = place_key(self, NULL);
    PyObject *text =
        key ? PyUnicode_FromFormat("Place(%llu, %R)",
                                   (unsigned long long)((struct u9p_place *)self)->ordinal, key)
            : NULL;
    Py_XDECREF(key);
    return text;
}

static int take_number(PyObject *o, uint64_t most, uint64_t *out)
{
    PyObject *number = PyNumber_Index(o);
    unsigned long long n = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    if (number && (PyErr_Occurred() || n > most))
        PyErr_Format(PyExc_OverflowError, "%S is not from 0 to %llu", o, (unsigned long long)most);
    if (PyErr_Occurred()) return 0;
    *out = n;
    return 1;
}

int u9p_u64(PyObject *o, void *out)
{
    return take_number(o, UINT64_MAX, out);
}

int u9p_u32(PyObject *o, void *out)
{
    uint64_t n;
    if (!take_number(o, UINT32_MAX, &n)) return 0;
    *(uint32_t *)out = (uint32_t)n;
    return 1;
}

int u9p_ordinal(PyObject *o, uint64_t *out)
{
    return u9p_u64(o, out) ? 0 : -1;
}

int u9p_seconds(double seconds, const char *what, uint64_t *us)
{
    if (!(seconds >= 0 && seconds < 1e12)) {
        PyErr_Format(PyExc_ValueError, "%s: not a number of seconds", what);
        return -1;
    }
    *us = (uint64_t)(seconds * 1e6 + 0.5);
    return 0;
}

static PyGetSetDef place_fields[] = {
    {"ordinal", place_ordinal, NULL, "The record's number in the log, from 0.", NULL},
    {"key", place_key, NULL, "Its key, given or made.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot place_slots[] = {
    {Py_tp_dealloc, place_dealloc},
    {Py_tp_repr, place_repr},
    {Py_tp_getset, place_fields},
    {Py_nb_index, place_index},
    {Py_nb_int, place_index},
    {Py_tp_doc,
     "Where a record went: its ordinal (which is also what it is as an int) and its key."},
    {0, NULL},
};
PyType_Spec u9p_place_spec = {.name = "u9.Place",
                              .basicsize = sizeof(struct u9p_place),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              .slots = place_slots};
