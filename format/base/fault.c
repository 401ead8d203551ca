/*
 * format/base/fault.c: see fault.h.
 */
#include "format/base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void (*u9i_fault_explain)(u9_fault *fault);

u9_err u9i_fault(u9_fault *fault, u9_err err, const u9i_where *where, const char *format, ...)
{
    if (err == U9_IO && where->sys == ENOMEM) err = U9_NOMEM; /* whatever asked for it */
    if (fault == NULL) return err;
    memset(fault, 0, sizeof *fault);
    fault->err = err;
    fault->sys = where->sys;
    fault->segment = where->segment ? where->segment : U9_NOWHERE;
    fault->offset = where->offset;
    if (where->rule) snprintf(fault->rule, sizeof fault->rule, "%s", where->rule);
    if (where->path) {
        size_t n = strlen(where->path), max = sizeof fault->path - 1;
        snprintf(fault->path, sizeof fault->path, "%s", where->path + (n > max ? n - max : 0));
    }
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    if (fault->sys != 0 && u9i_fault_explain) u9i_fault_explain(fault);
    return err;
}

void u9i_fault_add(u9_fault *fault, const char *format, ...)
{
    if (fault == NULL) return;
    size_t size = strlen(fault->text);
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text + size, sizeof fault->text - size, format, args);
    va_end(args);
}

u9_err u9i_refuse(u9_fault *fault, u9_err err, uint64_t offset, const char *rule, const char *text)
{
    return u9i_fault(fault, err, U9I_AT_OFFSET(offset, .rule = rule), "%s", text);
}
