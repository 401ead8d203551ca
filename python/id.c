/*
 * python/id.c: identifiers as raw bytes, for the classes of python/u9/_ids.py, and u9.Generator, which makes fresh ones.
 *
 * A type is named as the kind of keys is (u9/key.h): "muid", "gid:volume", "gid:log", "gid:segment", "tid", "uid8".
 */
#include "python/module.h"

#include <string.h>

PyTypeObject *u9p_generator_type;

static PyObject *refused(u9_id_reason why)
{
    return u9p_refuse(U9_ARG,
                      why != U9_ID_FINE ? u9_id_reason_text(why) : "a field is out of its range");
}

static u9_gid_type gid_type(const char *kind)
{
    if (strcmp(kind, "gid:volume") == 0) return U9_GID_VOLUME;
    if (strcmp(kind, "gid:log") == 0) return U9_GID_LOG;
    return strcmp(kind, "gid:segment") == 0 ? U9_GID_SEGMENT : U9_GID_ANY;
}

/* id_parse(kind, text) -> bytes */
static PyObject *id_parse(PyObject *self, PyObject *args)
{
    const char *kind, *text;
    Py_ssize_t size;
    uint8_t raw[U9_KEY_SIZE_MAX];
    size_t raw_size = 0;
    u9_id_reason why = U9_ID_FINE;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss#", &kind, &text, &size)) return NULL;
    if (u9_key_parse(kind, text, (size_t)size, raw, &raw_size, &why) != U9_OK) return refused(why);
    return PyBytes_FromStringAndSize((const char *)raw, (Py_ssize_t)raw_size);
}

/* id_text(kind, raw) -> str; of what is no such key the reason is raised */
static PyObject *id_text(PyObject *self, PyObject *args)
{
    const char *kind, *raw;
    Py_ssize_t size;
    char text[U9_KEY_SIZE_MAX + 1];
    u9_id_reason why = U9_ID_FINE;
    (void)self;
    if (!PyArg_ParseTuple(args, "sy#", &kind, &raw, &size)) return NULL;
    if (u9_key_format(kind, raw, (size_t)size, text, &why) != U9_OK) return refused(why);
    return PyUnicode_FromString(text);
}

static PyObject *bytes_of(u9_err err, const void *raw, size_t size, u9_id_reason why)
{
    return err == U9_OK ? PyBytes_FromStringAndSize(raw, (Py_ssize_t)size) : refused(why);
}

/* muid_fields(raw) -> (timestamp, medallion, offset); muid_pack(...) -> raw */
static PyObject *muid_fields(PyObject *self, PyObject *args)
{
    const char *raw;
    Py_ssize_t size;
    u9_muid id;
    (void)self;
    if (!PyArg_ParseTuple(args, "y#", &raw, &size)) return NULL;
    if (size != U9_MUID_SIZE) return refused(U9_KIND_SIZE);
    u9_muid_unpack((const uint8_t *)raw, &id);
    return Py_BuildValue("(KKi)", (unsigned long long)id.timestamp,
                         (unsigned long long)id.medallion, (int)id.offset);
}

static PyObject *muid_pack(PyObject *self, PyObject *args)
{
    unsigned long long timestamp, medallion;
    int offset;
    uint8_t raw[U9_MUID_SIZE];
    (void)self;
    if (!PyArg_ParseTuple(args, "KKi", &timestamp, &medallion, &offset)) return NULL;
    u9_muid id = {timestamp, medallion, offset};
    return bytes_of(u9_muid_pack(&id, raw), raw, sizeof raw, U9_ID_FINE);
}

/* gid_fields(raw) -> (type, timestamp_ms, random); gid_pack(kind, timestamp_ms, random) -> raw */
static PyObject *gid_fields(PyObject *self, PyObject *args)
{
    const char *raw;
    Py_ssize_t size;
    u9_gid id;
    u9_id_reason why = U9_ID_FINE;
    (void)self;
    if (!PyArg_ParseTuple(args, "y#", &raw, &size)) return NULL;
    if (u9_gid_unpack((const uint8_t *)raw, (size_t)size, U9_GID_ANY, 0, &id, &why) != U9_OK)
        return refused(why);
    return Py_BuildValue("(sKy#)", u9_gid_type_name(id.type), (unsigned long long)id.timestamp_ms,
                         (const char *)id.random, (Py_ssize_t)sizeof id.random);
}

static PyObject *gid_pack(PyObject *self, PyObject *args)
{
    const char *kind, *random;
    unsigned long long timestamp;
    Py_ssize_t size;
    uint8_t raw[U9_GID_SIZE];
    (void)self;
    if (!PyArg_ParseTuple(args, "sKy#", &kind, &timestamp, &random, &size)) return NULL;
    if (size != U9_GID_RANDOM_SIZE) return refused(U9_GID_LENGTH);
    u9_gid id = {.type = gid_type(kind), .timestamp_ms = timestamp};
    memcpy(id.random, random, sizeof id.random);
    return bytes_of(u9_gid_pack(&id, 0, raw), raw, sizeof raw, U9_ID_FINE);
}

/* tid_fields(raw) -> (timestamp, clock_id); tid_pack(...) -> raw */
static PyObject *tid_fields(PyObject *self, PyObject *args)
{
    const char *raw;
    Py_ssize_t size;
    u9_tid id;
    u9_id_reason why = U9_ID_FINE;
    (void)self;
    if (!PyArg_ParseTuple(args, "y#", &raw, &size)) return NULL;
    if (u9_tid_unpack((const uint8_t *)raw, (size_t)size, 0, &id, &why) != U9_OK)
        return refused(why);
    return Py_BuildValue("(KI)", (unsigned long long)id.timestamp, (unsigned)id.clock_id);
}

static PyObject *tid_pack(PyObject *self, PyObject *args)
{
    unsigned long long timestamp;
    unsigned clock_id;
    uint8_t raw[U9_TID_SIZE];
    (void)self;
    if (!PyArg_ParseTuple(args, "KI", &timestamp, &clock_id)) return NULL;
    u9_tid id = {timestamp, clock_id};
    return bytes_of(u9_tid_pack(&id, 0, raw), raw, sizeof raw, U9_ID_FINE);
}

/* uid8_fields(raw) -> (timestamp_ms, sequence, generator, cluster, mode); uid8_pack(...) -> raw */
static PyObject *uid8_fields(PyObject *self, PyObject *args)
{
    const char *raw;
    Py_ssize_t size;
    u9_uid8 id;
    u9_id_reason why = U9_ID_FINE;
    (void)self;
    if (!PyArg_ParseTuple(args, "y#", &raw, &size)) return NULL;
    if (u9_uid8_unpack((const uint8_t *)raw, (size_t)size, U9_UID8_LAYOUT_MAX, &id, &why) != U9_OK)
        return refused(why);
    return Py_BuildValue("(KIIIi)", (unsigned long long)id.timestamp_ms, (unsigned)id.sequence,
                         (unsigned)id.generator, (unsigned)id.cluster, (int)id.mode);
}

static PyObject *uid8_pack(PyObject *self, PyObject *args)
{
    unsigned long long timestamp;
    unsigned sequence, generator, cluster;
    int mode;
    uint8_t raw[U9_UID8_SIZE];
    u9_id_reason why = U9_ID_FINE;
    (void)self;
    if (!PyArg_ParseTuple(args, "KIIIi", &timestamp, &sequence, &generator, &cluster, &mode))
        return NULL;
    u9_uid8 id = {timestamp, sequence, generator, cluster, (u9_uid8_mode)mode};
    u9_err err = u9_uid8_pack(&id, U9_UID8_LAYOUT_MAX, raw, &why);
    return bytes_of(err, raw, sizeof raw, why);
}

/* id_bound(kind, time, ceil, mode) -> raw: the lowest or highest identifier of a time, in the type's own unit */
static PyObject *id_bound(PyObject *self, PyObject *args)
{
    const char *kind;
    unsigned long long time;
    int ceil, mode;
    uint8_t raw[16];
    u9_id_reason why = U9_ID_FINE;
    (void)self;
    if (!PyArg_ParseTuple(args, "sKpi", &kind, &time, &ceil, &mode)) return NULL;
    if (strcmp(kind, "muid") == 0) {
        u9_muid id;
        u9_err err = ceil ? u9_muid_ceil(time, &id) : u9_muid_floor(time, &id);
        return bytes_of(err == U9_OK ? u9_muid_pack(&id, raw) : err, raw, U9_MUID_SIZE, why);
    }
    if (strcmp(kind, "tid") == 0) {
        u9_tid id;
        u9_err err = ceil ? u9_tid_ceil(time, 0, &id) : u9_tid_floor(time, 0, &id);
        return bytes_of(err == U9_OK ? u9_tid_pack(&id, 0, raw) : err, raw, U9_TID_SIZE, why);
    }
    if (strcmp(kind, "uid8") == 0) {
        u9_uid8 id;
        u9_uid8_mode m = (u9_uid8_mode)mode;
        u9_err err = ceil ? u9_uid8_ceil(time, m, U9_UID8_LAYOUT_MAX, &id, &why)
                          : u9_uid8_floor(time, m, U9_UID8_LAYOUT_MAX, &id, &why);
        if (err == U9_OK) err = u9_uid8_pack(&id, U9_UID8_LAYOUT_MAX, raw, &why);
        return bytes_of(err, raw, U9_UID8_SIZE, why);
    }
    u9_gid id;
    u9_err err = ceil ? u9_gid_ceil(gid_type(kind), time, 0, &id)
                      : u9_gid_floor(gid_type(kind), time, 0, &id);
    return bytes_of(err == U9_OK ? u9_gid_pack(&id, 0, raw) : err, raw, U9_GID_SIZE, why);
}

PyMethodDef u9p_id_methods[] = {
    {"id_parse", id_parse, METH_VARARGS, NULL},   {"id_text", id_text, METH_VARARGS, NULL},
    {"id_bound", id_bound, METH_VARARGS, NULL},   {"muid_fields", muid_fields, METH_VARARGS, NULL},
    {"muid_pack", muid_pack, METH_VARARGS, NULL}, {"gid_fields", gid_fields, METH_VARARGS, NULL},
    {"gid_pack", gid_pack, METH_VARARGS, NULL},   {"tid_fields", tid_fields, METH_VARARGS, NULL},
    {"tid_pack", tid_pack, METH_VARARGS, NULL},   {"uid8_fields", uid8_fields, METH_VARARGS, NULL},
    {"uid8_pack", uid8_pack, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

/* ---- generators ---- */

struct u9p_generator {
    PyObject_HEAD enum u9p_kind kind;
    u9_gid_type type;
    u9_muidgen *muids;
    u9_tidgen *tids;
    u9_gidgen *gids;
    u9_uid8gen *uid8s;
};

static u9_err generator_make(struct u9p_generator *g, const u9_muidgen_options *m,
                             const u9_tidgen_options *t, const u9_gidgen_options *d,
                             const u9_uid8gen_options *u, u9_fault *fault)
{
    if (g->kind == U9P_KIND_MUID) return u9_muidgen_new(m, &g->muids, fault);
    if (g->kind == U9P_KIND_TID) return u9_tidgen_new(t, &g->tids, fault);
    if (g->kind == U9P_KIND_GID) return u9_gidgen_new(d, &g->gids, fault);
    return u9_uid8gen_new(u, &g->uid8s, fault);
}

/* Generator(kind, *, seen=0, medallion=0, clock_id=None, monotonic=False, generator=0, cluster=0, sequential=False) */
static PyObject *generator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"kind",      "seen",    "medallion",  "clock_id", "monotonic",
                            "generator", "cluster", "sequential", NULL};
    const char *kind;
    uint64_t seen = 0, medallion = 0;
    PyObject *clock_id = Py_None;
    uint32_t generator = 0, cluster = 0;
    int monotonic = 0, sequential = 0;
    u9_fault fault = {0};
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|$O&O&OpO&O&p:Generator", names, &kind, u9p_u64, &seen,
                                     u9p_u64, &medallion, &clock_id, &monotonic, u9p_u32, &generator,
                                     u9p_u32, &cluster, &sequential))
        return NULL;
    enum u9p_kind k = u9p_kind_of(kind);
    u9_gid_type of = gid_type(kind);
    if (k == U9P_KIND_OTHER || k == U9P_KIND_RKEY || (k == U9P_KIND_GID && of == U9_GID_ANY))
        return PyErr_Format(PyExc_ValueError, "no identifiers are of kind '%s'", kind);
    u9_muidgen_options m = {.size = sizeof m, .seen = seen, .medallion = medallion};
    u9_tidgen_options t = {.size = sizeof t, .seen = seen, .clock_id_given = clock_id != Py_None};
    u9_gidgen_options d = {.size = sizeof d, .seen_ms = seen, .monotonic = monotonic};
    u9_uid8gen_options u = {
        .size = sizeof u, .seen_ms = seen, .generator = generator, .cluster = cluster};
    u.mode = sequential ? U9_UID8_TIME_SEQUENTIAL : U9_UID8_SPREAD;
    if (t.clock_id_given && !u9p_u32(clock_id, &t.clock_id)) return NULL;
    struct u9p_generator *g = PyObject_New(struct u9p_generator, u9p_generator_type);
    if (!g) return NULL;
    memset((char *)g + offsetof(struct u9p_generator, kind), 0,
           sizeof *g - offsetof(struct u9p_generator, kind));
    g->kind = k;
    g->type = of;
    u9_err err = generator_make(g, &m, &t, &d, &u, &fault);
    if (err == U9_OK) return (PyObject *)g;
    Py_DECREF((PyObject *)g);
    return u9p_raise(err, &fault, NULL);
}

static void generator_dealloc(PyObject *self)
{
    struct u9p_generator *g = (struct u9p_generator *)self;
    u9_muidgen_free(g->muids);
    u9_tidgen_free(g->tids);
    u9_gidgen_free(g->gids);
    u9_uid8gen_free(g->uid8s);
    u9p_free(self);
}

/* The next one, packed. */
static u9_err generator_draw(struct u9p_generator *g, uint8_t raw[16], size_t *size)
{
    u9_err err;
    u9_muid muid;
    u9_tid tid;
    u9_gid gid;
    u9_uid8 uid8;
    if (g->muids) {
        *size = U9_MUID_SIZE;
        return (err = u9_muidgen_next(g->muids, &muid)) == U9_OK ? u9_muid_pack(&muid, raw) : err;
    }
    if (g->gids) {
        *size = U9_GID_SIZE;
        return (err = u9_gidgen_next(g->gids, g->type, &gid)) == U9_OK ? u9_gid_pack(&gid, 0, raw)
                                                                       : err;
    }
    *size = 8;
    if (g->tids)
        return (err = u9_tidgen_next(g->tids, NULL, &tid)) == U9_OK ? u9_tid_pack(&tid, 0, raw)
                                                                    : err;
    err = u9_uid8gen_next(g->uid8s, &uid8);
    return err == U9_OK ? u9_uid8_pack(&uid8, U9_UID8_LAYOUT_MAX, raw, NULL) : err;
}

/* A generator of eight-byte identifiers may sleep. */
static PyObject *generator_next(PyObject *self)
{
    struct u9p_generator *g = (struct u9p_generator *)self;
    uint8_t raw[16];
    size_t size = 0;
    u9_err err;
    Py_BEGIN_ALLOW_THREADS err = generator_draw(g, raw, &size);
    Py_END_ALLOW_THREADS return err == U9_OK ? u9p_key(g->kind, raw, size)
                                             : u9p_refuse(err, "no identifier is to be had");
}

static PyType_Slot slots[] = {
    {Py_tp_new, generator_new},
    {Py_tp_dealloc, generator_dealloc},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, generator_next},
    {Py_tp_doc,
     "Generator(kind, *, seen=0, medallion=0, clock_id=None, monotonic=False, generator=0, cluster=0, "
     "sequential=False): fresh identifiers, by next() or in a loop, none of them twice.\n\n"
     "kind is 'muid', 'gid:volume', 'gid:log', 'gid:segment', 'tid' or 'uid8'. Any number of threads may use "
     "one at once."},
    {0, NULL},
};
PyType_Spec u9p_generator_spec = {.name = "u9.Generator",
                                  .basicsize = sizeof(struct u9p_generator),
                                  .flags = Py_TPFLAGS_DEFAULT,
                                  .slots = slots};
