/*
 * python/module.h: what the files of the extension u9._u9 share.
 *
 * Room: python
 * Sees: include
 *
 * The room is Python's side of libu9: it uses the public interface alone, and of Python the stable ABI of 3.11 (the first
 * whose limited API has the buffer protocol). What needs no speed is in python/u9/, in Python: errors, identifiers, batches.
 *
 * Lifetimes. What libu9 shows borrows its memory until the next step of a cursor; nothing of that is ever handed out. A
 * cursor copies records, some at a time, into a chunk, which is an object of its own: records, memoryviews and arrays keep
 * it alive, and so stay good whatever becomes of cursor and log. A chunk is filled again only if nobody else holds it.
 * A cursor keeps its log; a log knows its cursors and readings, and closes them before itself.
 *
 * Threads. The GIL guards all fields of all objects; it is released while libu9 works, in between u9p_enter and u9p_leave
 * alone. These count who is inside of a log, so that a close waits for them; a cursor takes one thread at a time and
 * refuses another. A callback comes within such a call, of which its thread knows: what it raises is kept there, and
 * raised by u9p_leave. In a forked child all calls are refused but a close.
 */
#ifndef U9P_MODULE_H
#define U9P_MODULE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <pthread.h>
#include <u9.h>

/* The types of this extension, and what it has from the package's Python. */
extern PyTypeObject *u9p_log_type, *u9p_cursor_type, *u9p_record_type, *u9p_place_type,
    *u9p_array_type, *u9p_reading_type, *u9p_writing_type;
extern PyObject
    *u9p_python; /* a dict of names: classes and functions of python/u9/_plain.py and _ids.py */

/* Borrowed: one of them. NULL with an exception if there is none. */
PyObject *u9p_named(const char *name);

/* ---- fault.c: exceptions ---- */

/* Raise what a call returned: with its fault, or (NULL) with a sentence. Always NULL. `damage` may be NULL. */
PyObject *u9p_raise(u9_err err, const u9_fault *fault, const u9_damage *damage);
PyObject *u9p_refuse(u9_err err, const char *sentence);
PyObject *u9p_number(uint64_t number);         /* None for U9_NOWHERE */
PyObject *u9p_damage(const u9_damage *damage); /* a u9.Damage */

/* ---- value.c: values of both sides ---- */

/* Encodes values into memory that begins as `first` and goes on on the heap. */
struct u9p_writer {
    u9_builder b;
    uint8_t *heap; /* NULL: still in `first` */
    uint8_t first[1024];
};
void u9p_writer_init(struct u9p_writer *w);
void u9p_writer_release(struct u9p_writer *w);
/* 0, or -1 with an exception. */
int u9p_encode(u9_builder *b, PyObject *value);
/* What has a buffer as bytes that no other thread changes while the GIL is released: itself, or a copy. NULL with an exception. */
PyObject *u9p_steady(PyObject *data);
/* `size` bytes of values back to back as a tuple; `owner` keeps them, for arrays that show them in place. */
PyObject *u9p_decode_values(PyObject *owner, const uint8_t *bytes, size_t size);
/* The values of a record, which are behind its key. */
PyObject *u9p_decode_record(PyObject *owner, const u9_record *r);

/* ---- array.c ---- */
PyObject *u9p_array(PyObject *owner, const u9_span *span);
int u9p_encode_buffer(u9_builder *b, PyObject *value);

/* ---- record.c ---- */

enum u9p_kind {
    U9P_KIND_OTHER = 0,
    U9P_KIND_MUID,
    U9P_KIND_GID,
    U9P_KIND_TID,
    U9P_KIND_UID8,
    U9P_KIND_RKEY
};
enum u9p_kind u9p_kind_of(const char *name);
/* The raw form of a key as the type of its kind; bytes where it is none of that. */
PyObject *u9p_key(enum u9p_kind kind, const void *data, size_t size);

struct u9p_item {
    u9_record r; /* its pointers lead into the chunk once that is fixed */
    size_t at;   /* where its bytes begin in the chunk; its key, if it has no bytes */
};

/* Records in memory of their own. */
struct u9p_chunk {
    PyObject_HEAD enum u9p_kind kind;
    uint8_t *bytes;
    size_t used, cap;
    struct u9p_item *items;
    size_t count, room;
};
struct u9p_chunk *u9p_chunk_new(enum u9p_kind kind);
/* Adds a copy. 0 if memory is short. Needs no GIL. */
int u9p_chunk_add(struct u9p_chunk *chunk, const u9_record *r);
/* No more is added: pointers are right from now on. */
void u9p_chunk_fix(struct u9p_chunk *chunk);

PyObject *u9p_record(struct u9p_chunk *chunk, size_t at);
const u9_record *u9p_record_of(PyObject *record); /* borrows */
PyObject *u9p_place(const u9_place *place, enum u9p_kind kind, const void *key, size_t key_size);
/* An ordinal: an int, or a u9.Place. 0, or -1 with an exception. */
int u9p_ordinal(PyObject *o, uint64_t *out);
/* For O&: an int, into the uint64_t or uint32_t at `out`; 0 with an exception if it is not from 0 to what that holds. */
int u9p_u64(PyObject *o, void *out);
int u9p_u32(PyObject *o, void *out);
/* A span of `seconds` as microseconds: 0, or -1 with an exception that names what it is for. */
int u9p_seconds(double seconds, const char *what, uint64_t *us);

/* ---- log.c ---- */

/* What is open on a log: its close closes it first. */
struct u9p_held {
    struct u9p_held *next, *prev;
    void (*close)(struct u9p_held *held);
};

struct u9p_log {
    PyObject_HEAD u9_log *log; /* NULL: closed */
    enum u9p_kind kind;
    unsigned born; /* u9p_forks then */
    int closing;
    unsigned users; /* calls under way; changed under the GIL and `lock` */
    pthread_mutex_t lock;
    pthread_cond_t idle; /* users is 0 */
    struct u9p_held held;
    PyObject *path, *mode, *on_damage;
    struct u9p_log *next, *prev; /* of all that are open */
};

/* ---- call.c: in and out ---- */

/* A call under way, on the stack of its thread. */
struct u9p_call {
    struct u9p_log *log;
    int counted;
    int muted;                      /* damage is not told */
    PyObject *type, *value, *trace; /* what a callback raised */
    PyThreadState *thread;
    struct u9p_call *up;
};

/* Forks that led to this process. */
extern unsigned u9p_forks;
/* 0 if the log is open, and this process's; else -1 with an exception. */
int u9p_log_usable(struct u9p_log *log);
/* Enters the log and releases the GIL: 0, or -1 with an exception, and then nothing is to be left. */
int u9p_enter(struct u9p_log *log, struct u9p_call *call);
/* The same for who must get in, to close something: whatever the log's state. */
void u9p_enter_anyway(struct u9p_log *log, struct u9p_call *call);
/* Takes the GIL again: 0, or -1 with what a callback raised. `u9p_leave_quietly` leaves that in the call. */
int u9p_leave(struct u9p_call *call);
void u9p_leave_quietly(struct u9p_call *call);
/* Within a callback, with the GIL: keeps the exception that is set for the call that it came from. */
void u9p_keep_exception(void);
/* Within a callback, with the GIL: true if the call that it came from ends with an exception. */
int u9p_called_in_vain(void);
/* Within a callback, without the GIL: `whom` is called with the damage, unless that is so or the call is muted. */
void u9p_tell_damage(PyObject *whom, const u9_damage *damage);
/* With the GIL: true if this thread is within the log. */
int u9p_within(const struct u9p_log *log);

void u9p_hold(struct u9p_log *log, struct u9p_held *held);
void u9p_let_go(struct u9p_held *held); /* once more is fine */
int u9p_watch_forks(void);              /* once */

/* ---- key.c ---- */

/* A key for a log from None (NULL: a fresh one), bytes or text. `raw` is room; 0, or -1 with an exception. */
int u9p_key_of(struct u9p_log *log, PyObject *key, uint8_t raw[U9_KEY_SIZE_MAX], u9_key *out,
               u9_key **given);

/* Times: a datetime or None (`none`) as microseconds since 1970. 0, or -1 with an exception. */
int u9p_time_of(PyObject *time, uint64_t none, uint64_t *out);
PyObject *u9p_time(uint64_t us); /* a datetime; None for 0 */

/* ---- cursor.c ---- */
PyObject *u9p_cursor(struct u9p_log *log, int back); /* without a cursor of libu9's: refuses all */
void u9p_cursor_give(PyObject *made,
                     u9_cursor *cursor); /* takes it; the log knows it from now on */

/* ---- check.c: what works on whole logs, and calls back meanwhile ---- */

/* Who is told; NULL: nobody. What one raises, or the handler of a signal, is kept: the run ends at its next progress. */
struct u9p_run {
    PyObject *on_damage, *on_progress, *on_other;
    PyObject *type, *value, *trace; /* what was raised */
    int stop;
};
PyObject *u9p_given(PyObject *function); /* NULL for None; borrows */
/* Within a callback, with the GIL: calls `function` with `args`, which are taken (NULL: an exception is set), unless something
 * was raised before. Whether what it gave is true. */
long u9p_ask(struct u9p_run *run, PyObject *function, PyObject *args);
/* A u9_damage_fn and a u9_progress_fn, whose first argument is the run. */
void u9p_run_damage(void *ctx, const u9_damage *damage);
int u9p_run_progress(void *ctx, uint64_t done, uint64_t all);
/* Behind the call: 0, or -1 with what was raised, or with what the call returned. */
int u9p_run_end(struct u9p_run *run, u9_err err, const u9_fault *fault);

/* ---- large.c: records of any size, in pieces ---- */
PyObject *u9p_log_read(PyObject *log, PyObject *record);
PyObject *u9p_log_begin(PyObject *log, PyObject *args, PyObject *kwargs);

/* ---- the others: functions of the module ---- */
extern PyMethodDef u9p_check_methods[], u9p_mend_methods[], u9p_id_methods[], u9p_value_methods[];
extern PyType_Spec u9p_log_spec, u9p_cursor_spec, u9p_record_spec, u9p_place_spec, u9p_array_spec,
    u9p_chunk_spec, u9p_reading_spec, u9p_writing_spec, u9p_generator_spec;
extern PyTypeObject *u9p_chunk_type, *u9p_generator_type;
PyObject *u9p_open(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *u9p_close_all(PyObject *self, PyObject *ignored);

/* What the deallocators of types without cycles end with. */
void u9p_free(PyObject *self);

#endif
