/*
 * tools/appended.h: what `u9 append` and `u9 import` have put into a log: counted, committed, and what is said when the log
 * refuses something.
 */
#ifndef U9_TOOLS_APPENDED_H
#define U9_TOOLS_APPENDED_H

#include <u9/log.h>

#include <stdbool.h>

typedef struct tool_appended {
    u9_log *log;          /* NULL: it is not open */
    const char *at;       /* the input's name, what stands between it */
    const char *unit;     /*   and the number, ":" or " at byte ", */
    uint64_t number;      /*   and where in it the record stands; for messages */
    uint64_t records, bytes;
    uint64_t waiting;     /* bytes that are not committed yet */
    uint64_t last;        /* ordinal of the last record */
    bool failed;          /* the log refused something, which was said */
    bool durable;         /* it was closed, and all of them are on the disk */
} tool_appended;

enum { TOOL_COMMIT_BYTES = 8 << 20 }; /* so many are waited for at once */

/* A record of `size` bytes is in the log. */
void tool_appended_add(tool_appended *a, const u9_place *place, uint64_t size);

#define TOOL_BEFORE_SIZE 80

/* "3 records were appended before it". Fills `out`, returns it. */
const char *tool_appended_before(const tool_appended *a, char out[TOOL_BEFORE_SIZE]);

/* The log refused something: the first cause is said, with the place of the input; what follows from it is no news. The status. */
int tool_appended_refused(tool_appended *a);

/* Waits as the policy says for what was appended. TOOL_DONE, or the status, said. */
int tool_appended_commit(tool_appended *a);

/* Closes the log; says what goes wrong, unless something did before, and from where on it is not known whether records are
 * durable. Returns that status, or `status`. */
int tool_appended_close(tool_appended *a, int status);

#endif
