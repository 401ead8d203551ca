/*
 * tools/damage.h: what is damaged in a log, as a line, and what it has cost.
 */
#ifndef U9_TOOLS_DAMAGE_H
#define U9_TOOLS_DAMAGE_H

#include <u9/check.h>

#include <stdio.h>

/* One damaged place as a line without prefix, for people; on `out`. */
void tool_put_damage(FILE *out, const u9_damage *damage);

/* True of a note that a file has another's name, or is a copy: its bytes are whole, and no crash tore them. */
int tool_is_name(const u9_damage *damage);

/* Its verdict in a word; "clean" of such a note. Static. */
const char *tool_verdict_name(const u9_damage *damage);

/* One sentence for its reason, as u9_reason_text; a mark that is damaged itself has one of its own. Static. */
const char *tool_reason_text(const u9_damage *damage);

/* Not 0 if records are lost by it, or may be. */
int tool_is_loss(const u9_damage *damage);

/* A u9_damage_fn: a line on standard error. `ctx` is an `int`, set to TOOL_LOST if records are, or may be. */
void tool_on_damage(void *ctx, const u9_damage *damage);

/* What damages have cost, added up. All zero: nothing. */
typedef struct tool_losses {
    uint64_t exact;   /* records */
    uint64_t at_most; /* records, where only an upper bound is known */
    uint64_t unknown; /* damages of which it is not known what they cost */
} tool_losses;

#define TOOL_LOSSES_SIZE 64 /* room for any losses as text */

/* Adds a damage. */
void tool_losses_add(tool_losses *losses, const u9_damage *damage);

/* "at least 3 records lost": never more than is known. Fills `out`, returns it. */
const char *tool_losses_text(const tool_losses *losses, char out[TOOL_LOSSES_SIZE]);

/* The rule that this breaks, as u9_reason_rule; of a line that is proven, the line's. Static. */
const char *tool_reason_rule(const u9_damage *damage);

/* What to say of a log of which nothing but the beginning is missing. */
extern const char tool_late_begin[];

/* Behind the fault by which a damaged log was refused to a writer: what to do about it. */
void tool_say_refused(const char *log, const u9_fault *fault);

/* Where `out`, or a file of it, could not be written: says that the log it is made of has nothing to do with that. */
void tool_say_unharmed(const char *log, const char *out, const u9_fault *fault);

#define TOOL_MARK_SIZE 256 /* room for what a mark says as text */

/* How the log's last segment ends. */
const char *tool_end_text(const u9_report *report);
/* What confirms the end of the log from outside, or why nothing does. Fills `out`, returns it. */
const char *tool_mark_text(const u9_report *report, char out[TOOL_MARK_SIZE]);

/* Where the mark of a log's directory promises nothing, though it could: a note of why, and what to do. [M-3] [M-4] */
void tool_put_unconfirmed(const char *path, const u9_report *report);

/* One word of it, stable. Static. */
const char *tool_mark_name(u9_mark_state state);

#endif
