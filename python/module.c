/* python/module.c: the extension u9._u9: its types, its functions, and what it knows of the package's Python. */
#include "python/module.h"

PyObject *u9p_python;

PyObject *u9p_named(const char *name)
{
    PyObject *found = PyDict_GetItemString(u9p_python, name);
    if (!found && !PyErr_Occurred()) PyErr_Format(PyExc_SystemError, "u9._plain has no %s", name);
    return found;
}

/* _learn(names): classes and functions that are in Python. */
static PyObject *learn(PyObject *self, PyObject *names)
{
    (void)self;
    if (PyDict_Update(u9p_python, names) < 0) return NULL;
    Py_RETURN_NONE;
}

#define NAMED(f) (PyCFunction)(void (*)(void))(f)

static PyMethodDef methods[] = {
    {"open", NAMED(u9p_open), METH_VARARGS | METH_KEYWORDS,
     "open(path, mode='r', **options) -> Log"},
    {"_close_all", u9p_close_all, METH_NOARGS, "For atexit."},
    {"_learn", learn, METH_O, "For the package."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {PyModuleDef_HEAD_INIT,
                             "_u9",
                             "libu9 for Python: use the package u9.",
                             -1,
                             methods,
                             NULL,
                             NULL,
                             NULL,
                             NULL};

static int add_type(PyObject *m, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromSpec(spec);
    return *type ? PyModule_AddType(m, *type) : -1;
}

static int fill(PyObject *m)
{
    if (PyModule_AddFunctions(m, u9p_check_methods) < 0 ||
        PyModule_AddFunctions(m, u9p_mend_methods) < 0 ||
        PyModule_AddFunctions(m, u9p_id_methods) < 0 ||
        PyModule_AddFunctions(m, u9p_value_methods) < 0)
        return -1;
    if (add_type(m, &u9p_log_spec, &u9p_log_type) < 0 ||
        add_type(m, &u9p_cursor_spec, &u9p_cursor_type) < 0 ||
        add_type(m, &u9p_record_spec, &u9p_record_type) < 0 ||
        add_type(m, &u9p_place_spec, &u9p_place_type) < 0 ||
        add_type(m, &u9p_array_spec, &u9p_array_type) < 0 ||
        add_type(m, &u9p_chunk_spec, &u9p_chunk_type) < 0 ||
        add_type(m, &u9p_reading_spec, &u9p_reading_type) < 0 ||
        add_type(m, &u9p_writing_spec, &u9p_writing_type) < 0 ||
        add_type(m, &u9p_generator_spec, &u9p_generator_type) < 0)
        return -1;
    return PyModule_AddStringConstant(m, "version", U9_VERSION_TEXT);
}

PyMODINIT_FUNC PyInit__u9(void);
PyMODINIT_FUNC PyInit__u9(void)
{
    PyObject *m = PyModule_Create(&module);
    u9p_python = PyDict_New();
    if (!m || !u9p_python || fill(m) < 0) {
        Py_XDECREF(m);
        return NULL;
    }
    if (u9p_watch_forks() != 0) {
        Py_DECREF(m);
        return PyErr_NoMemory();
    }
    return m;
}
