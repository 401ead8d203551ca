/*
 * tools/damage.c: see damage.h.
 */
#include "tools/damage.h"

#include "tools/place.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* What a record that stands in parts lacks. */
static void put_part(FILE *out, const u9_damage *d)
{
    fprintf(out, "; part %" PRIu64 ", at %" PRIu64 ",", d->part, d->part_at);
    if (d->part_lacks == 0)
        fputs(" does not fit", out);
    else
        fprintf(out, " is missing, %" PRIu64 " of its %" PRIu64 " bytes", d->part_lacks, d->part_total);
}

/* What went while it was read is no damage. */
static void put_trimmed(FILE *out, const u9_damage *d)
{
    fprintf(out, "%s: trimmed before it was read: ", tool_shown(d->path));
    if (d->ordinal == TOOL_NONE || d->lost == TOOL_NONE) fputs("which records are gone is not known", out);
    else if (d->lost == 0) fputs("no record was in it", out);
    else fprintf(out, "records %" PRIu64 "..%" PRIu64 " are gone", d->ordinal, d->ordinal + d->lost - 1);
    fprintf(out, " [%s]\n", u9_reason_rule(d->reason));
}

int tool_is_name(const u9_damage *d)
{
    return d->reason == U9_R_NAME && d->verdict < U9_V_UNKNOWN;
}

const char *tool_verdict_name(const u9_damage *d)
{
    return u9_verdict_name(tool_is_name(d) ? U9_V_CLEAN : d->verdict);
}

/* Damage of a log has another verdict where something is foreign: this is told of a line that was to be proven. */
static int is_of_line(const u9_damage *d)
{
    return d->reason == U9_R_FOREIGN && d->verdict == U9_V_CORRUPT;
}

const char *tool_reason_rule(const u9_damage *d)
{
    return is_of_line(d) ? "M-8" : u9_reason_rule(d->reason);
}

const char *tool_reason_text(const u9_damage *d)
{
    if (d->reason == U9_R_FOREIGN && d->end == 0 && !is_of_line(d)) return "what stands there is no file";
    if (is_of_line(d)) return "the line is of another log; this one proves nothing of it";
    if (tool_is_name(d))
        return d->end > 0 ? "another file here is this segment: this one is not read"
                          : "the file is not named by its segment's number";
    return d->reason == U9_R_MARK && d->verdict != U9_V_CORRUPT ? "the mark is damaged" : u9_reason_text(d->reason);
}

/* What was appended behind the mark is gone with what the mark is about, and nothing counts it. [M-4] */
static int lost_beyond_mark(const u9_damage *d)
{
    return d->reason == U9_R_MARK && d->verdict == U9_V_CORRUPT;
}

void tool_put_damage(FILE *out, const u9_damage *d)
{
    const char *verdict = u9_verdict_name(d->verdict);
    if (d->reason == U9_R_TRIMMED) {
        put_trimmed(out, d);
        return;
    }
    if (tool_is_name(d)) { /* all of the file, and no verdict on its bytes */
        fprintf(out, "%s: %s: %s [%s]\n", tool_shown(d->path), u9_reason_name(d->reason), tool_reason_text(d), tool_reason_rule(d));
        return;
    }
    fprintf(out, "%s [%" PRIu64 ",%" PRIu64 "): ", tool_shown(d->path), d->begin, d->end);
    for (; *verdict; verdict++)
        putc(d->verdict >= U9_V_UNKNOWN ? toupper((unsigned char)*verdict) : *verdict, out);
    fprintf(out, ": %s: %s", u9_reason_name(d->reason), tool_reason_text(d));
    if (d->clause != U9_CLAUSE_NONE) fprintf(out, " (%s: %s)", u9_clause_name(d->clause), u9_clause_text(d->clause));
    if (d->reason == U9_R_PART) put_part(out, d);
    if (d->verdict < U9_V_UNKNOWN)
        ; /* what a crash took was never in the log */
    else if (is_of_line(d))
        ; /* nothing is known to be lost here */
    else if (d->lost == 0 && lost_beyond_mark(d))
        fputs("; no record that the mark counts is lost, but what came behind it may be", out);
    else if (d->lost == 0)
        fputs(d->mended ? "; the frame was mended, no record is lost" : "; no record is lost", out);
    else if (d->ordinal == TOOL_NONE && d->lost == TOOL_NONE)
        fputs("; which records are lost is not known", out);
    else if (d->ordinal == TOOL_NONE)
        fprintf(out, "; %s%" PRIu64 " record%s lost, which is not known", d->at_most ? "at most " : "", d->lost,
                tool_plural(d->lost));
    else if (d->lost == TOOL_NONE)
        fprintf(out, "; records from %" PRIu64 " on, how many is not known", d->ordinal);
    else
        fprintf(out, "; record%s %" PRIu64 "..%" PRIu64 " (%s%" PRIu64 " lost)",
                tool_plural(d->lost), d->ordinal, d->ordinal + d->lost - 1,
                d->at_most ? "at most " : "", d->lost);
    fprintf(out, " [%s]\n", tool_reason_rule(d));
}

int tool_is_loss(const u9_damage *d)
{
    return d->verdict >= U9_V_UNKNOWN && (d->lost > 0 || lost_beyond_mark(d));
}

void tool_on_damage(void *ctx, const u9_damage *damage)
{
    int bad = damage->verdict >= U9_V_UNKNOWN;
    if (tool_is_loss(damage)) *(int *)ctx = TOOL_LOST;
    fprintf(stderr, "%s: %s", tool_name(), bad ? "" : "note: ");
    tool_put_damage(stderr, damage);
}

void tool_losses_add(tool_losses *losses, const u9_damage *damage)
{
    if (damage->verdict < U9_V_UNKNOWN) return;
    if (damage->lost == TOOL_NONE)
        losses->unknown++;
    else if (damage->at_most)
        losses->at_most += damage->lost;
    else
        losses->exact += damage->lost;
}

const char *tool_losses_text(const tool_losses *l, char out[TOOL_LOSSES_SIZE])
{
    uint64_t count = l->unknown > 0 ? l->exact : l->exact + l->at_most;
    if (l->unknown > 0 && l->exact == 0)
        snprintf(out, TOOL_LOSSES_SIZE, "records lost: not known");
    else
        snprintf(out, TOOL_LOSSES_SIZE, "%s%" PRIu64 " record%s lost",
                 l->unknown > 0   ? "at least "
                 : l->at_most > 0 ? "at most "
                                  : "",
                 count, tool_plural(count));
    return out;
}

void tool_say_unharmed(const char *log, const char *out, const u9_fault *fault)
{
    size_t size = strlen(out);
    while (size > 1 && out[size - 1] == '/') size--;
    int of_out = strncmp(fault->path, out, size) == 0 && (fault->path[size] == '\0' || strchr("/.", fault->path[size]));
    if (fault->err == U9_IO && fault->sys != 0 && fault->sys != ENOENT && of_out)
        tool_say(0, "%s was only read and is as it was; run it again when %s can be written", log, out);
}

void tool_say_refused(const char *log, const u9_fault *fault)
{
    u9_loss loss = {.size = sizeof loss};
    char word[TOOL_COMMAND_WORD_SIZE];
    if (fault->err != U9_CORRUPT || !strstr("L-4 L-9 M-4 H-4", fault->rule) || !*fault->rule) return;
    if (u9_accept_loss(log, 0, NULL, &loss, NULL) != U9_OK || loss.state != U9_LOSS_FOUND) {
        tool_say(0, "u9fsck %s says what is damaged, what is lost and what to do", tool_command_word(log, word));
        return;
    }
    tool_say(0, "what its mark promises is not here: put a newer copy back, or give it up for good:");
    tool_say(0, "u9fsck --repair --accept-loss %s (%" PRIu64 " record%s from %" PRIu64 " on)", tool_command_word(log, word), loss.lost,
             tool_plural(loss.lost), loss.next_ordinal);
}

const char tool_late_begin[] = "the oldest segments are missing: put them back or, if they were deleted on purpose, say "
                               "so: `u9 trim --accept`";

static const char *const marks[] = {
    [U9_MARK_NONE] = "none", [U9_MARK_COUNTS] = "counts", [U9_MARK_SHARED] = "shared",
    [U9_MARK_FOREIGN] = "foreign", [U9_MARK_DAMAGED] = "damaged",
};

/* A log without damage gets a mark by its next session; of another one something else comes first. */
static void put_unmarked(const char *path, const u9_report *r)
{
    char word[TOOL_COMMAND_WORD_SIZE];
    fputs("note: without a mark nobody can tell whether the end is missing", stdout);
    if (r->verdict < U9_V_UNKNOWN) printf("; `u9 append %s` makes one", tool_command_word(path, word));
    putchar('\n');
}

void tool_put_unconfirmed(const char *path, const u9_report *r)
{
    static const char nothing[] = "nothing confirms the end from outside";
    char mark[4096], what[TOOL_PLACE_SIZE];
    struct stat st;
    if (r->plain || r->segments == 0 || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return;
    snprintf(mark, sizeof mark, "%s/.mark", path);
    if (r->mark == U9_MARK_FOREIGN)
        printf("note: %s is of another log, or of a trimmed segment: %s\n", tool_shown(mark), nothing);
    if (r->mark == U9_MARK_SHARED) {
        printf("note: %s has other names (hard links), and may be a copy's: %s\n", tool_shown(mark), nothing);
        printf("note: if it is this log's: `cp %s own && mv own %s`, and u9fsck says whether what it promises is here\n", mark, mark);
    }
    if (r->mark != U9_MARK_NONE || r->frames == 0) return; /* without a frame there is no end that could be confirmed */
    tool_place place = tool_place_at(mark, what);
    if (place == TOOL_PLACE_NONE) put_unmarked(path, r);
    else if (place == TOOL_PLACE_LINK || place == TOOL_PLACE_OTHER) printf("note: %s %s: %s\n", mark, what, nothing);
    else printf("note: %s is empty: %s until the next session writes\n", mark, nothing);
}

const char *tool_mark_name(u9_mark_state state)
{
    return (size_t)state < sizeof marks / sizeof *marks ? marks[state] : "?";
}

const char *tool_end_text(const u9_report *r)
{
    if (r->older)
        return "that of an older state: the last segment is sealed, its successor is not here, and the mark is as old";
    return r->closed      ? "closed"
           : r->confirmed ? "confirmed"
                          : "not confirmed: the writer is still at it, did not close, or what it wrote last is not here";
}

const char *tool_mark_text(const u9_report *r, char out[TOOL_MARK_SIZE])
{
    static const char *const why[] = {
        [U9_MARK_NONE] = "there is no mark",
        [U9_MARK_SHARED] = "the mark has other names (hard links)",
        [U9_MARK_FOREIGN] = "the mark is of another log, or of a trimmed segment",
        [U9_MARK_DAMAGED] = "the mark is damaged",
    };
    char time[TOOL_WHEN_SIZE], name[TOOL_SEGMENT_SIZE];
    if (r->mark == U9_MARK_COUNTS)
        snprintf(out, TOOL_MARK_SIZE,
                 "durable is all before record %" PRIu64 ", at offset %" PRIu64 " of %s, as of %s",
                 r->mark_ordinal, r->mark_offset, tool_segment_text(r->mark_segment, name),
                 tool_when_text(r->mark_time_us, time));
    else
        snprintf(out, TOOL_MARK_SIZE, "the end is not confirmed from outside: %s",
                 (size_t)r->mark < sizeof why / sizeof *why ? why[r->mark] : "?");
    return out;
}
