/*
 * tools/span.h: the part of a log that a verb walks: --from --to --since --until --reverse --limit, --cursor and
 * --save-cursor. The walk begins where the part does; what stands before is not read.
 */
#ifndef U9_TOOLS_SPAN_H
#define U9_TOOLS_SPAN_H

#include "tools/key.h"

#include <u9/check.h>
#include <u9/cursor.h>

#include <argp.h>

/* One end of --from/--to. */
typedef struct tool_bound {
    uint64_t ordinal; /* TOOL_NONE: not given */
    const char *text; /* the key, until the log tells its kind; NULL: not by key */
} tool_bound;

typedef struct tool_span_said {
    uint64_t segment, begin, end;
    u9_reason reason;
} tool_span_said;

typedef struct tool_span {
    tool_bound from, to;
    uint64_t since, until; /* microseconds since 1970 */
    uint64_t limit;        /* records */
    int reverse;           /* not 0: the last one first */
    const char *saved;     /* --cursor: text, or file; NULL: not given */
    const char *save;      /* --save-cursor: file; NULL: not given */
    int mute;              /* not 0: damages are not to be told now: they will be, when the walk comes there */
    uint64_t at;           /* the ordinal of the saved cursor, once it is read; TOOL_NONE */
    int told;              /* not 0: it was said where the log begins */
    tool_span_said said[4]; /* the last damages that were told on the way to where the walk begins, which meets them again */
    unsigned said_count;
    int seeks;             /* not 0: on that way */
} tool_span;

#define TOOL_SPAN_NONE {.from.ordinal = TOOL_NONE, .to.ordinal = TOOL_NONE, .until = TOOL_NONE, .limit = TOOL_NONE, .at = TOOL_NONE}

enum { TOOL_SPAN_FROM = 512, TOOL_SPAN_TO, TOOL_SPAN_SINCE, TOOL_SPAN_UNTIL, TOOL_SPAN_REVERSE, TOOL_SPAN_CURSOR,
       TOOL_SPAN_SAVE };

#define TOOL_SPAN_BOUNDS \
    {"from", TOOL_SPAN_FROM, "KEY|#ORDINAL", 0, "Records from this one on; it is gone to straight", 0}, \
    {"to", TOOL_SPAN_TO, "KEY|#ORDINAL", 0, "Records before this one", 0}, \
    {"since", TOOL_SPAN_SINCE, "TIME", 0, \
     "Records written at or after TIME: 2026-01-31, '2026-01-31 23:59', 2026-01-31T23:59:59.5Z, 'yesterday 14:00', " \
     "today, now, '2 hours ago', @seconds since 1970; in the local zone (TZ), if none is given", 0}, \
    {"until", TOOL_SPAN_UNTIL, "TIME", 0, "Records written before TIME", 0}, \
    {"reverse", TOOL_SPAN_REVERSE, 0, 0, "The last record first", 0}

#define TOOL_SPAN_OPTIONS TOOL_SPAN_BOUNDS, {"limit", 'n', "N", 0, "At most N records", 0}

#define TOOL_SPAN_SAVED_OPTIONS \
    {"cursor", TOOL_SPAN_CURSOR, "TEXT|FILE", 0, \
     "Go on where a cursor was saved; FILE may be missing if it is the one of --save-cursor", 0}, \
    {"save-cursor", TOOL_SPAN_SAVE, "FILE", 0, "Save where it ended in FILE, once the last record was printed", 0}

/* An option of these. 0: it is none. Usage errors say why. */
int tool_span_parse(tool_span *span, int key, char *arg);

/* Bounds the wrong way round are a slip, not a question whose answer is nothing. To be asked when all options are known. */
void tool_span_check(const tool_span *span);

/* The first record that the log keeps; 0: all, or nobody knows. */
uint64_t tool_kept_from(u9_log *log);

/* Sends a new cursor of `log` where the walk begins. If a bound by number is of what was trimmed, it is said, once, where the
 * log begins now. TOOL_DONE, or the status after saying what is wrong. */
int tool_span_begin(tool_span *span, u9_log *log, const char *path, u9_cursor *cursor);

/* For who is told of damage: not 0 if it is to be said now. */
int tool_span_tells(tool_span *span, const u9_damage *damage);

/* The next record of the walk. */
static inline u9_err tool_span_next(const tool_span *span, u9_cursor *cursor, u9_record *out)
{
    return span->reverse ? u9_cursor_prev(cursor, out) : u9_cursor_next(cursor, out);
}

/* Behind the last record that was printed: writes --save-cursor's file, at once or not at all. TOOL_DONE or TOOL_IO, said. */
int tool_span_save(const tool_span *span, u9_cursor *cursor);

#endif
