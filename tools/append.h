/*
 * tools/append.h: `u9 append` in three files: verb_append.c reads input, append_put.c puts what it
 * read into the log, append_large.c what is too large to be read first.
 */
#ifndef U9_TOOLS_APPEND_H
#define U9_TOOLS_APPEND_H

#include "tools/appended.h"
#include "tools/numbers.h"
#include "tools/progress.h"
#include "tools/skip.h"

#include <u9/log.h>
#include <u9/rados.h>

#include <signal.h>
#include <sys/types.h>

enum { APPEND_WHOLE = -1 }; /* an `ending` */

struct append {
    const char *path;
    char **files;
    u9_options options;
    int ending; /* '\n', 0 or APPEND_WHOLE */
    int json, print_keys, progress, verbose;
    tool_numbers numbers;
    const char *separator; /* NULL: keys are made */
    tool_appended done;
    int signals;    /* descriptor */
    sigset_t mask;  /* before they were blocked */
    int stopped;    /* the signal that came, 0 */
    tool_skips skips;
    int passing;    /* not 0: within a line that was too long, and is skipped */
    char *in;        /* U9_RECORD_MAX bytes and a chunk */
    uint8_t *values; /* U9_RECORD_MAX bytes */
    char *keys; /* a line each, of what is not committed yet */
    size_t key_size, key_room; /* bytes */
    uint64_t read, all; /* of the input; `all` 0: not known */
    tool_progress bar;
};

/* Appends one line, file or JSON value. */
int append_put(struct append *a, const char *text, size_t size);

/* True if the rest of the input is a file that is too large for one append: its bytes [*at, *end). */
int append_is_large(int fd, off_t *at, off_t *end);

/* Appends these bytes of it as one record. */
int append_large(struct append *a, int fd, off_t at, off_t end);

/* For both: the record is in the log; what is wrong with the input. */
int append_took(struct append *a, const u9_place *place, const u9_key *given, uint64_t size);
int append_refuse(struct append *a, const char *why);

/* Says that the line behind the last one is too long. TOOL_DONE: it is skipped. */
int append_too_long(struct append *a);

/* Says what the system has against the input, which is being read. */
int append_input_failed(const struct append *a, int sys);

/* Waits as the policy says for what was appended; prints its keys then. */
int append_commit(struct append *a);

#endif
