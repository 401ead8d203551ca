/*
 * python/log.h: the methods of u9.Log, by file; what they do is said where they are.
 */
#ifndef U9P_LOG_H
#define U9P_LOG_H

#include "python/module.h"

/* ---- log_append.c ---- */
PyObject *u9p_log_append(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *u9p_log_append_encoded(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *u9p_log_append_batch(PyObject *self, PyObject *list);
PyObject *u9p_log_raw_key(PyObject *self, PyObject *key);
PyObject *u9p_log_commit(PyObject *self, PyObject *args);
PyObject *u9p_log_commit_async(PyObject *self, PyObject *at);

/* ---- log_get.c ---- */
PyObject *u9p_log_get(PyObject *self, PyObject *args);
PyObject *u9p_log_get_many(PyObject *self, PyObject *keys);
PyObject *u9p_log_versions(PyObject *self, PyObject *key);
int u9p_log_contains(PyObject *self, PyObject *key);
/* The newest record of a key: a chunk that the caller owns, NULL: there is none. 0, or -1 with an exception. */
int u9p_look_up(struct u9p_log *log, PyObject *key, struct u9p_chunk **out);
PyObject *u9p_first_of(struct u9p_chunk *chunk); /* the record; takes the chunk */

/* ---- log_walk.c ---- */
PyObject *u9p_log_iter(PyObject *self);
PyObject *u9p_log_reversed(PyObject *self, PyObject *ignored);
PyObject *u9p_log_subscript(PyObject *self, PyObject *what);
PyObject *u9p_log_values(PyObject *self, PyObject *ignored);
PyObject *u9p_log_raw(PyObject *self, PyObject *ignored);
PyObject *u9p_log_seek(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *u9p_log_follow(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *u9p_log_splits(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *u9p_log_range(PyObject *self, PyObject *split);

/* ---- log_whole.c ---- */
PyObject *u9p_log_damages(PyObject *self, PyObject *ignored);
PyObject *u9p_log_snapshot(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *u9p_log_trim(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *u9p_log_stats(PyObject *self, PyObject *ignored);

#endif
