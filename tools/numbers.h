/*
 * tools/numbers.h: the generator number under which a verb has eight-byte keys made: its options, and where it comes from.
 */
#ifndef U9_TOOLS_NUMBERS_H
#define U9_TOOLS_NUMBERS_H

#include "tools/id_rados.h"

#include <u9/log.h>

#include <stdbool.h>

typedef struct tool_numbers {
    uint64_t generator, cluster;
    bool given, locked;      /* --generator; --lock-file */
    const char *path;        /* of that; NULL: the usual one */
    const char *rados;       /* --rados; NULL: it is not asked for */
    u9_lock_file *lock_file; /* NULL: none was taken */
    u9_rados_numbers *claim; /* the same */
    u9_generator source;     /* of either */
} tool_numbers;

enum { TOOL_GENERATOR = 0x1000, TOOL_CLUSTER, TOOL_LOCK_FILE, TOOL_RADOS };

/* Rows of a verb's table of options. */
#define TOOL_NUMBERS_OPTIONS                                                                                       \
    {"generator", TOOL_GENERATOR, "N[,CLUSTER]", 0,                                                                \
     "uid8: make keys under this generator number, 0 to 2047, which no other writer of the cluster uses", 0},      \
    {"cluster", TOOL_CLUSTER, "N", 0, "uid8: the cluster, 0 to 15 (default 0)", 0},                                \
    {"lock-file", TOOL_LOCK_FILE, "PATH", OPTION_ARG_OPTIONAL,                                                     \
     "uid8: make keys under a number that is free on this machine, by a lock file: .u9-numbers beside LOG, or "    \
     "PATH, which all logs of the machine should name that do not lie in one folder", 0},                          \
    {"rados", TOOL_RADOS, "ADDRESS", 0,                                                                            \
     "uid8: make keys under a number that is claimed at rados:POOL/NAME, a name that is no log's, and that all "   \
     "writers of the cluster name", 0}

/* True if `key` is one of them; what is wrong with its argument is a usage error. Borrows `arg`. */
bool tool_numbers_parse(tool_numbers *n, int key, const char *arg);

/* When all options are read: usage errors, one of them that keys of a new log have no number; puts into `o` what was given.
 * `made`: keys are made, and not given. */
void tool_numbers_check(const tool_numbers *n, bool made, u9_options *o);

/* Before the log at `path` is opened by `o`: a lock file or a cluster, if one is asked for, gives numbers when the first key is made.
 * Borrows *n until tool_numbers_free. TOOL_DONE, or the status, said. */
int tool_numbers_take(tool_numbers *n, const char *path, u9_options *o);

/* When the kind of the log's keys is known: TOOL_DONE, or said that they lack a number. */
int tool_numbers_suffice(const tool_numbers *n, const char *path, const char *kind);

/* Behind the log's end. */
void tool_numbers_free(tool_numbers *n);

#endif
