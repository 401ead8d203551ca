/*
 * engine/os/fault_line.c: a u9_fault as one line for a person; the system's word for its errno among it.
 */
#include <u9/err.h>

#include <stdio.h>
#include <string.h>

const char *u9_fault_line(const u9_fault *fault, char *out, size_t size)
{
    char at[40] = "", sys[96] = "", rule[16] = "";
    if (fault->offset != U9_NOWHERE)
        snprintf(at, sizeof at, "offset %llu: ", (unsigned long long)fault->offset);
    if (fault->sys != 0) snprintf(sys, sizeof sys, ": %s", strerror(fault->sys));
    if (fault->rule[0] != 0) snprintf(rule, sizeof rule, " [%s]", fault->rule);
    snprintf(out, size, "%s%s%s%s%s%s", fault->path, fault->path[0] ? ": " : "", at, fault->text, sys,
             rule);
    return out;
}
