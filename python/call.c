/*
 * python/call.c: the way in and out of libu9, with the GIL released, and what calls back from there (module.h).
 */
#include "python/module.h"

#include <string.h>

unsigned u9p_forks;

static _Thread_local struct u9p_call *calls; /* of this thread, the innermost first */

int u9p_log_usable(struct u9p_log *log)
{
    if (!log->log || log->closing) u9p_refuse(U9_STATE, "the log is closed");
    else if (log->born != u9p_forks)
        u9p_refuse(U9_STATE, "the log was opened before this process was forked");
    else return 0;
    return -1;
}

static void count(struct u9p_log *log, int enters)
{
    pthread_mutex_lock(&log->lock);
    if (enters) log->users++;
    else if (--log->users == 0) pthread_cond_broadcast(&log->idle);
    pthread_mutex_unlock(&log->lock);
}

void u9p_enter_anyway(struct u9p_log *log, struct u9p_call *call)
{
    memset(call, 0, sizeof *call);
    call->log = log;
    call->counted = log->born == u9p_forks;
    if (call->counted) count(log, 1);
    call->up = calls;
    calls = call;
    call->thread = PyEval_SaveThread();
}

int u9p_enter(struct u9p_log *log, struct u9p_call *call)
{
    if (u9p_log_usable(log) < 0) return -1;
    u9p_enter_anyway(log, call);
    return 0;
}

void u9p_leave_quietly(struct u9p_call *call)
{
    PyEval_RestoreThread(call->thread);
    calls = call->up;
    if (call->counted) count(call->log, 0);
}

int u9p_leave(struct u9p_call *call)
{
    u9p_leave_quietly(call);
    if (!call->type) return 0;
    PyErr_Restore(call->type, call->value, call->trace);
    return -1;
}

void u9p_keep_exception(void)
{
    if (calls && !calls->type) PyErr_Fetch(&calls->type, &calls->value, &calls->trace);
    else PyErr_WriteUnraisable(NULL);
}

static void forked(void)
{
    u9p_forks++;
}

void u9p_hold(struct u9p_log *log, struct u9p_held *held)
{
    held->next = &log->held;
    held->prev = log->held.prev;
    held->prev->next = held->next->prev = held;
}

void u9p_let_go(struct u9p_held *held)
{
    if (!held->next) return;
    held->next->prev = held->prev;
    held->prev->next = held->next;
    held->next = held->prev = NULL;
}

int u9p_within(const struct u9p_log *log)
{
    for (const struct u9p_call *c = calls; c; c = c->up)
        if (c->log == log) return 1;
    return 0;
}

int u9p_called_in_vain(void)
{
    return calls && calls->type;
}

void u9p_tell_damage(PyObject *whom, const u9_damage *damage)
{
    PyGILState_STATE state = PyGILState_Ensure();
    if (!calls || !(calls->type || calls->muted)) {
        PyObject *told = u9p_damage(damage);
        PyObject *said = told ? PyObject_CallFunctionObjArgs(whom, told, NULL) : NULL;
        if (!said) u9p_keep_exception();
        Py_XDECREF(told);
        Py_XDECREF(said);
    }
    PyGILState_Release(state);
}

int u9p_watch_forks(void)
{
    return pthread_atfork(NULL, NULL, forked);
}
