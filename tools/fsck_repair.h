/*
 * tools/fsck_repair.h: u9fsck's --repair, --undo and --carve: what they print. Exit bits as fsck(8) has them.
 */
#ifndef TOOLS_FSCK_REPAIR_H
#define TOOLS_FSCK_REPAIR_H

#include "tools/fsck_lost.h"
#include "tools/progress.h"

#include <u9.h>

#include <stdio.h>

/* What is done about what can be mended. */
typedef enum tool_mending {
    TOOL_MEND_SAY = 0, /* -n: it is told */
    TOOL_MEND_SAFE,    /* -p: what changes nothing that readers see is done */
    TOOL_MEND_ALL      /* -y: and what brings records back */
} tool_mending;

typedef struct tool_repair {
    const char *path;
    tool_mending mode;
    int linked, json, quiet;
    uint64_t heal_ms; /* 0: no search */
    int (*stopped)(void); /* asked while it searches */
    FILE *told;       /* set by tool_repair_log: where steps are told, */
    uint64_t safe;    /*   how many of them are safe, */
    int shared;       /*   and whether one is of a file with other names */
} tool_repair;

enum { TOOL_FSCK_CLEAN = 0, TOOL_FSCK_CORRECTED = 1, TOOL_FSCK_OPERATIONAL = 8, TOOL_FSCK_CANCELLED = 32 };

/* Mends the log, or says what it would; TOOL_FSCK_*. What is left is for the check to tell; `tried`: what need not be said next. */
int tool_repair_log(const tool_repair *repair, tool_tried *tried);

/* Puts back what the last repair changed. */
int tool_undo_repair(const tool_repair *repair);

/* "10s", "5m", "250ms" as milliseconds; 0: it is none of these. */
uint64_t tool_parse_span_ms(const char *text);

/* Carves logs out of `path` into `out`; `stopped` is asked now and then. */
int tool_carve(const char *path, const char *out, int json, int quiet, int (*stopped)(void));

#endif
