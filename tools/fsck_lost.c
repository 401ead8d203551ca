/*
 * tools/fsck_lost.c: see fsck_lost.h.
 */
#include "tools/fsck_lost.h"

#include "tools/damage.h"
#include "tools/json.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 8 }; /* losses that are printed */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int has(uint64_t set, u9_reason reason)
{
    return (set >> reason & 1) != 0;
}

static void note_file(tool_files *files, const char *path)
{
    if (files->count++ == 0) snprintf(files->name, sizeof files->name, "%s", base_name(path));
}

static void note_missing(tool_lost *l, const u9_damage *d)
{
    if (l->missing.count == 0) {
        l->gone = d->segment;
        l->in_front = l->passed;
    }
    l->gap = 1;
    note_file(&l->missing, d->path);
}

/* A file of another log, or something that is no file and stands in a segment's place. */
static void note_foreign(tool_lost *l, const u9_damage *d)
{
    tool_stranger s;
    s.place = tool_place_at(d->path, s.what);
    snprintf(s.name, sizeof s.name, "%s", base_name(d->path));
    if (s.place != TOOL_PLACE_LINK && s.place != TOOL_PLACE_OTHER) note_file(&l->foreign, d->path);
    else if (l->strange++ < TOOL_STRANGERS_MAX) l->strangers[l->strange - 1] = s;
}

/* True if something stands in the file from there on, up to `end`, but zeros. */
static int stands(FILE *file, uint64_t begin, uint64_t end)
{
    char bytes[4096];
    if (fseeko(file, (off_t)begin, SEEK_SET) != 0) return 0;
    for (size_t size; begin < end && (size = fread(bytes, 1, sizeof bytes, file)) > 0; begin += size)
        for (size_t i = 0; i < size; i++)
            if (bytes[i] != 0) return 1;
    return 0;
}

static int is_empty(const u9_damage *d)
{
    char what[TOOL_PLACE_SIZE];
    return tool_place_at(d->path, what) == TOOL_PLACE_EMPTY;
}

/* Nothing is left of it but its name; nor, perhaps, of those in front of it. */
static void note_emptied(tool_lost *l, const u9_damage *d)
{
    if (l->emptied.count == 0) {
        l->empty_front = l->passed;
        l->empty_last = d->segment;
    }
    l->gap = 1;
    note_file(&l->emptied, d->path);
}

/* Bytes of what ends early stand there, or it is not there at all: something else may have its name. [M-4] */
static void note_early(tool_lost *l, const u9_damage *d)
{
    struct stat st;
    if (d->begin == 0 || stat(d->path, &st) != 0) {
        note_missing(l, d);
        return;
    }
    if (is_empty(d)) {
        note_emptied(l, d);
        return;
    }
    note_file(&l->cut, d->path);
    FILE *file = fopen(d->path, "re");
    int more = file && stands(file, d->begin, d->end);
    if (file) fclose(file);
    l->mendable |= more;
    l->healable |= more && d->reason == U9_R_MARK;
}

/* Files grow and are cut by blocks: one of another size that reaches behind what is lost got bytes, or lost some, in its midst. */
static int is_shifted(const u9_damage *d)
{
    struct stat st;
    return d->verdict == U9_V_CORRUPT && d->lost > 0 && d->end > d->begin && stat(d->path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size % 4096 != 0 && (uint64_t)st.st_size > d->end;
}

/* An end of which nobody can say what stood behind it. Nothing mends what a session has gone on behind. */
static int is_tail(const u9_damage *d)
{
    return d->verdict == U9_V_UNKNOWN && d->at_most;
}

static int is_mendable(const tool_lost *l, const u9_damage *d)
{
    static const char mendable[64] = {
        [U9_R_HEADER] = 1,  [U9_R_PADDING] = 1, [U9_R_FILL] = 1,      [U9_R_BOUNDARY] = 1,
        [U9_R_MAGIC] = 1,   [U9_R_LENGTH] = 1,  [U9_R_OVERLAP] = 1,   [U9_R_SIGNATURE] = 1,
        [U9_R_TRAILER] = 1, [U9_R_HASH] = 1,    [U9_R_FOLLOW] = 1,    [U9_R_SEAL] = 1,
    };
    if (is_tail(d) && d->ordinal == TOOL_NONE) return 0;
    if (d->reason == U9_R_HEADER && is_empty(d)) return 0;
    return mendable[d->reason] && (d->segment != l->unknown || l->unknown == 0);
}

void tool_lost_damage(tool_lost *l, const u9_damage *d)
{
    l->gap = 0;
    if (d->verdict < U9_V_UNKNOWN) {
        l->notes |= UINT64_C(1) << d->reason;
        if (d->reason == U9_R_BLANK && d->segment > l->blank) l->blank = d->segment;
        if (d->reason == U9_R_NAME) note_file(d->end > 0 ? &l->copies : &l->misnamed, d->path); /* a copy is told whole */
        return;
    }
    l->reasons |= UINT64_C(1) << d->reason;
    if (d->reason == U9_R_HEADER && d->lost > 0) l->unknown = d->segment;
    else l->mendable |= is_mendable(l, d);
    l->healable |= is_mendable(l, d) && (d->reason == U9_R_HASH || d->reason == U9_R_SEAL);
    if (is_tail(d)) l->tails++;
    l->shifted |= is_shifted(d);
    l->forked |= d->reason == U9_R_FORK && d->end > d->begin;
    if (d->reason == U9_R_FORK && d->end == d->begin) l->parts = d->segment, l->parts_at = d->begin;
    if (d->reason == U9_R_MISSING) note_missing(l, d);
    if (d->reason == U9_R_FOREIGN) note_foreign(l, d);
    if ((d->reason == U9_R_MARK && d->verdict == U9_V_CORRUPT) || d->reason == U9_R_CUT) note_early(l, d);
    if (d->lost == 0) return;
    if (l->count == TOOL_LOST_MAX) {
        l->more++;
        return;
    }
    l->losses[l->count++] = (tool_loss){.reason = d->reason,
                                        .segment = d->segment,
                                        .ordinal = d->ordinal,
                                        .lost = d->lost,
                                        .at_most = d->at_most,
                                        .gap = l->gap,
                                        .front = l->passed,
                                        .last = d->segment > l->blank ? d->segment : l->blank,
                                        .before = l->last};
}

static void set_key(tool_key *key, const uint8_t *bytes, size_t size)
{
    if (size == 0 || size > sizeof key->bytes) return;
    key->size = size;
    memcpy(key->bytes, bytes, size);
}

void tool_lost_stretch(tool_lost *l, const u9_stretch *s)
{
    if (s->segment > l->passed) l->passed = s->segment;
    if (s->kind != U9_STRETCH_FRAMES || s->records == 0) return;
    for (; l->open < l->count; l->open++)
        l->losses[l->open].behind = (tool_edge){.known = 1, .time_us = s->first_time_us, .ordinal = s->ordinal};
    for (; s->first_key_size > 0 && l->keyless < l->count; l->keyless++)
        set_key(&l->losses[l->keyless].behind.key, s->first_key, s->first_key_size);
    l->last.known = 1;
    l->last.time_us = s->last_time_us;
    l->last.ordinal = s->ordinal + s->records;
    set_key(&l->last.key, s->last_key, s->last_key_size);
}

/* The record on one side: when it was written, and its key. */
static void put_edge(FILE *out, const tool_edge *e, const char *side, const char *path, const u9_report *r)
{
    char when[TOOL_WHEN_SIZE], text[TOOL_KEY_TEXT_SIZE];
    int timed = e->known && e->time_us > 0;
    if (!timed && e->key.size == 0) return;
    fprintf(out, "%s: lost:   %s ", tool_shown(path), side);
    if (timed) fputs(tool_when_text(e->time_us, when), out);
    if (e->key.size > 0)
        fprintf(out, "%skey %s", timed ? ", " : "", tool_key_text(r->kind, e->key.bytes, e->key.size, text));
    putc('\n', out);
}

int tool_lost_within(const tool_loss *l, const u9_report *r, uint64_t *from, uint64_t *to)
{
    int marked = l->reason == U9_R_MARK && r->mark == U9_MARK_COUNTS;
    if (l->lost != TOOL_NONE || l->ordinal != TOOL_NONE || !(l->gap || l->reason == U9_R_HEADER)) return 0; /* of whole segments */
    *from = l->before.known ? l->before.ordinal : r->trim_segment ? r->trim_ordinal : 0;
    *to = l->behind.known ? l->behind.ordinal : marked ? r->mark_ordinal : TOOL_NONE;
    return *to > *from;
}

static void put_unknown_loss(FILE *out, const tool_loss *l, const u9_report *r)
{
    char name[TOOL_SEGMENT_SIZE];
    uint64_t from, to;
    fprintf(out, "records of %s, which is not known", tool_segment_text(l->segment, name));
    if (!tool_lost_within(l, r, &from, &to)) return;
    if (to == TOOL_NONE) fprintf(out, ": from %" PRIu64 " on", from);
    else fprintf(out, ": some of %" PRIu64 "..%" PRIu64, from, to - 1);
}

/* Places of segments that are gone: the first one's number. 0: there are none. */
static uint64_t first_place(const tool_loss *l, const u9_report *r)
{
    uint64_t front = l->front < r->trim_segment ? r->trim_segment - 1 : l->front;
    return l->gap && l->last > front ? front + 1 : 0;
}

static void put_loss_line(FILE *out, const tool_loss *l, const char *path, const u9_report *r)
{
    char name[TOOL_SEGMENT_SIZE];
    fprintf(out, "%s: lost: ", tool_shown(path));
    if (l->lost == TOOL_NONE && l->ordinal == TOOL_NONE)
        put_unknown_loss(out, l, r);
    else if (l->lost == TOOL_NONE)
        fprintf(out, "records from %" PRIu64 " on, how many is not known", l->ordinal);
    else if (l->ordinal == TOOL_NONE)
        fprintf(out, "%" PRIu64 " record%s of %s", l->lost, tool_plural(l->lost), tool_segment_text(l->segment, name));
    else if (l->lost == 1)
        fprintf(out, "%srecord %" PRIu64, l->at_most ? "at most " : "", l->ordinal);
    else
        fprintf(out, "%srecords %" PRIu64 "..%" PRIu64, l->at_most ? "at most " : "", l->ordinal,
                l->ordinal + l->lost - 1);
    putc('\n', out);
    uint64_t first = first_place(l, r);
    if (first > 0) tool_put_places(out, path, first, l->last);
    put_edge(out, &l->before, "after", path, r);
    put_edge(out, &l->behind, "before", path, r);
}

int tool_lost_again(const tool_lost *l, const u9_report *r)
{
    (void)r;
    return has(l->reasons, U9_R_UNREADABLE) || has(l->reasons, U9_R_MISSING) || has(l->reasons, U9_R_MARK) ||
           has(l->reasons, U9_R_CUT) || has(l->reasons, U9_R_FORK);
}

typedef struct advice {
    const char *path; /* of the log, */
    char word[TOOL_COMMAND_WORD_SIZE]; /* and for a shell */
    const tool_lost *lost;
    const u9_report *report;
    char (*out)[TOOL_ADVICE_SIZE];
    size_t count;
} advice;

__attribute__((format(printf, 2, 3))) static void advise(advice *a, const char *format, ...)
{
    va_list list;
    if (a->count == TOOL_ADVICE_MAX) return;
    va_start(list, format);
    vsnprintf(a->out[a->count++], TOOL_ADVICE_SIZE, format, list);
    va_end(list);
}

/* "" or " and 2 more". */
static const char *and_more(const tool_files *files, char out[40])
{
    out[0] = '\0';
    if (files->count > 1) snprintf(out, 40, " and %" PRIu64 " more", files->count - 1);
    return out;
}

int tool_other_files(const char *path)
{
    DIR *dir = opendir(path);
    int any = 0;
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        const char *dot = strrchr(e->d_name, '.');
        any |= e->d_name[0] != '.' && !(dot && (strcmp(dot, ".u9") == 0 || strcmp(dot, ".u9x") == 0));
    }
    if (dir) closedir(dir);
    return any;
}

static void advise_names(advice *a)
{
    const tool_lost *l = a->lost;
    char more[40];
    if (l->misnamed.count > 0 && !l->tried.ran && l->copies.count == 0 && !l->forked) /* else its name may be another's */
        advise(a, "u9fsck --repair -p %s gives %s%s the name of its number", a->word, l->misnamed.name,
               and_more(&l->misnamed, more));
    if (l->copies.count > 0)
        advise(a, "%s%s is a copy of another segment here, and not read: move it away", l->copies.name,
               and_more(&l->copies, more));
}

/* Nothing is left of the log but its mark, and perhaps creations cut short: a new one could begin here. [M-6] */
static int is_bare(const advice *a)
{
    uint64_t gone = UINT64_C(1) << U9_R_MARK | UINT64_C(1) << U9_R_MISSING;
    return a->report->frames == 0 && (a->lost->reasons & ~gone) == 0;
}

/* Files that are not there. */
static void advise_missing(advice *a)
{
    const tool_files *missing = &a->lost->missing;
    char more[40];
    const tool_lost *l = a->lost;
    uint64_t kept = a->report->trim_segment, in_front = kept > l->in_front ? kept - 1 : l->in_front;
    int others = missing->count > 0 && tool_other_files(a->path), none = a->report->segments == 0, row = l->gone > in_front + 1;
    if (none) advise(a, "no segment is here: put them back, as NUMBER.u9, from a backup or another disk");
    else if (missing->count > 0)
        advise(a, "put the missing segment%s back (%s%s%s), from a backup or another disk", row ? "s" : tool_plural(missing->count),
               row ? "up to " : "", missing->name, and_more(missing, more));
    if (others) advise(a, "u9fsck --carve OUT %s finds logs in files of other names, which are here", a->word);
    else if (is_bare(a)) advise(a, "if they are gone for good: begin a new log elsewhere, or here once .mark is moved away");
}

/* Nothing of the log is damaged: a file that is none of its is all. */
static int is_all_foreign(const tool_lost *l)
{
    return l->reasons == UINT64_C(1) << U9_R_FOREIGN;
}

/* Nor is anything else here: what makes a log of the directory is a name alone, and no writer takes that. [L-4] */
static int is_nothing(const advice *a)
{
    return is_all_foreign(a->lost) && a->report->frames == 0 && a->report->mark != U9_MARK_COUNTS;
}

/* What stands in a segment's place: what it stands for may be near. */
static void advise_strangers(advice *a)
{
    static const char *const ways[] = {
        [TOOL_PLACE_LINK] = "bring that back first, as by a mount", [TOOL_PLACE_OTHER] = "move it out of the directory"};
    const tool_lost *l = a->lost;
    for (size_t i = 0; i < l->strange && i < TOOL_STRANGERS_MAX; i++) {
        const tool_stranger *s = &l->strangers[i];
        advise(a, "%s %s: %s", s->name, s->what, ways[s->place]);
    }
    if (l->strange > TOOL_STRANGERS_MAX)
        advise(a, "%" PRIu64 " more that are called like segments are no files", l->strange - TOOL_STRANGERS_MAX);
}

/* Files of 0 bytes, as some file systems leave them behind a crash. */
static void advise_emptied(advice *a)
{
    const tool_lost *l = a->lost;
    char first[TOOL_SEGMENT_SIZE], last[TOOL_SEGMENT_SIZE], more[40];
    uint64_t front = a->report->trim_segment > l->empty_front ? a->report->trim_segment - 1 : l->empty_front;
    if (l->emptied.count == 0) return;
    tool_segment_text(front + 1, first);
    tool_segment_text(l->empty_last, last);
    if (front + 1 >= l->empty_last)
        advise(a, "%s%s is empty: put a whole copy of it there, from a backup or another disk", last, and_more(&l->emptied, more));
    else
        advise(a, "%s to %s%s are empty or missing: put whole copies there", first, last, and_more(&l->emptied, more));
}

static int is_in(const char *path, const char *name)
{
    char file[4096];
    int n = snprintf(file, sizeof file, "%s/%s", path, name);
    return n > 0 && (size_t)n < sizeof file && access(file, F_OK) == 0;
}

/* The log has a place, and it is a file here that is damaged. */
static int may_be_at_place(const advice *a)
{
    char name[TOOL_SEGMENT_SIZE];
    if (!is_in(a->path, ".tier")) return 0;
    for (size_t i = 0; i < a->lost->count; i++)
        if (!a->lost->losses[i].gap && is_in(a->path, tool_segment_text(a->lost->losses[i].segment, name))) return 1;
    return 0;
}

/* What could still bring back what is lost. */
static void advise_again(advice *a)
{
    const tool_lost *l = a->lost;
    char more[40];
    if (may_be_at_place(a))
        advise(a, "the place that `u9 tier` copied to may have it whole: a file that is moved out of the directory is read there");
    if (has(l->reasons, U9_R_UNREADABLE)) {
        advise(a, "the disk does not give some bytes: write nothing to it, copy the files with ddrescue");
        advise(a, "then check the copy: what the disk gave at another try may be whole in it");
    }
    advise_strangers(a);
    if (l->foreign.count > 0 && a->report->frames == 0)
        advise(a, "nothing here is a segment that can be read: put a whole copy of %s%s there", l->foreign.name, and_more(&l->foreign, more));
    else if (l->foreign.count > 0)
        advise(a, "%s%s is none of this log: move it out of the directory", l->foreign.name, and_more(&l->foreign, more));
    advise_missing(a);
    advise_emptied(a);
    if (l->cut.count > 0)
        advise(a, "%s%s %s: put a whole or newer copy of it there", l->cut.name, and_more(&l->cut, more),
               l->shifted ? "is not as it was" : "ends too early");
    if (has(l->reasons, U9_R_FORK))
        advise(a, "two histories part here: look for the copy that went on%s", l->forked ? "; --salvage writes each as a log" : "");
    if (l->count == 0 && l->more == 0)
        advise(a, has(l->reasons, U9_R_MARK) ? "all that its mark counts is read in full; what came behind that may be lost"
                                             : "no record is lost: the log is read in full as it is");
    else if (!is_all_foreign(l) && !tool_lost_again(l, a->report) && l->tried.safe + l->tried.unsafe == 0)
        advise(a, "another try finds the same: all bytes could be read; a backup may have what is lost");
}

/* Not 0 if the log went on otherwise than its mark says, and not than a segment does. [M-4] */
static int parts_at_mark(const advice *a)
{
    const tool_lost *l = a->lost;
    return l->parts != 0 && l->parts == a->report->mark_segment && l->parts_at == a->report->mark_offset;
}

/* Not 0 if it is the log's own mark that is not met, and not a line from elsewhere: a repair says what would be given up. */
static int is_older(const advice *a)
{
    const tool_lost *l = a->lost;
    if (l->strange > 0) return 0; /* what is promised may be there, and only out of reach */
    if (l->tried.loss_known) return l->tried.loss == U9_LOSS_FOUND;
    return !l->forked && (has(l->reasons, U9_R_MARK) || parts_at_mark(a)) && a->report->mark == U9_MARK_COUNTS &&
           a->report->line == U9_LINE_NONE && a->report->frames > 0 && !has(l->reasons, U9_R_MISSING);
}

/* The mark promises what is not here, and nothing is left that a loss could be given up for. [M-9] */
static int is_endless(const advice *a)
{
    return a->report->frames == 0 && a->report->mark == U9_MARK_COUNTS && has(a->lost->reasons, U9_R_MARK);
}

/* A segment by itself, behind which nobody goes on. */
static int is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Not 0 if no writer takes the log, whatever is given up. [L-4] [L-9] [H-4] */
static int is_refused(const advice *a)
{
    const tool_lost *l = a->lost;
    return l->missing.count > 0 || l->forked || l->unknown > 0 || a->report->plain || a->report->segments == 0 ||
           is_nothing(a) || is_file(a->path);
}

/* Not 0 if a repair may still find something, or found it: before that nothing is to be given up. */
static int may_mend(const tool_lost *l)
{
    const tool_tried *t = &l->tried;
    return t->ran ? t->safe + t->unsafe > 0 || (!t->heal && l->healable) : l->mendable;
}

/* The next step of a repair; nothing if that was made. */
static void advise_repair(advice *a)
{
    const tool_lost *l = a->lost;
    const tool_tried *t = &l->tried;
    const char *heal = l->healable ? "--heal " : "";
    if (!t->ran && l->mendable)
        advise(a, "u9fsck --repair %s%s says what can be mended, and changes nothing", heal, a->word);
    else if (!t->ran && is_older(a))
        advise(a, "u9fsck --repair %s says what could be given up for good, and changes nothing", a->word);
    if (!t->ran) return;
    if (t->safe + t->unsafe > 0)
        advise(a, "u9fsck --repair %s%s-%c %s mends that%s takes it back", t->heal ? "--heal " : "", t->shared ? "--linked " : "",
               t->unsafe > 0 ? 'y' : 'p', a->word, t->shared ? ", in a snapshot with the same file too; --undo --linked" : "; --undo");
    else if (!t->heal && *heal)
        advise(a, "u9fsck --repair --heal %s looks for flipped bits, too", a->word);
    if (t->heal && t->gave_up)
        advise(a, "u9fsck --repair --heal=1h %s gives the search for flipped bits more time", a->word);
    if (is_older(a) && !may_mend(l)) advise(a, "to give up what is missing, for good: u9fsck --repair --accept-loss %s", a->word);
}

/* Ends that were unknown stay so until somebody says that they are fine; what can be mended comes first. */
static void advise_tails(advice *a)
{
    const tool_lost *l = a->lost;
    if (l->tails == 0 || may_mend(l) || l->tried.accepted || l->strange > 0 || is_older(a) || is_refused(a)) return;
    advise(a, "to accept that nobody knows what stood there, for good: u9fsck --repair --accept-loss %s", a->word);
}

static void advise_salvage(advice *a)
{
    const tool_lost *l = a->lost;
    const u9_report *r = a->report;
    uint64_t whole = r->records + r->beyond;
    int lost = l->count > 0 || l->more > 0, foreign = is_all_foreign(l);
    if (l->unknown > 0)
        advise(a, "u9fsck --salvage OUT %s saves also what has lost its secret; nothing signs that then", a->word);
    if (l->shifted) advise(a, "u9fsck --carve OUT %s finds frames anywhere: bytes came into a file, or went", a->word);
    if (l->unknown > 0 || whole == 0 || foreign || (!lost && l->tried.safe + l->tried.unsafe > 0)) return;
    advise(a, "u9fsck --salvage OUT %s copies the %" PRIu64 " whole record%s to a new log", a->word, whole,
           tool_plural(whole));
    if (!lost && l->tried.ran) advise(a, "that log is clean; here, what is damaged holds no record, and stays as it is");
}

/* Who reads and writes until that is done. */
static void advise_meanwhile(advice *a)
{
    const tool_lost *l = a->lost;
    if (has(l->reasons, U9_R_UNREADABLE) || (l->missing.count > 0 && is_in(a->path, ".tier"))) /* writers do not look at the place */
        advise(a, "until then readers go on and skip what is damaged; writers may refuse the log");
    else if (a->report->plain || is_file(a->path)) advise(a, "readers go on and skip what is damaged");
    else if (is_refused(a) || (is_older(a) && parts_at_mark(a)))
        advise(a, "until then readers go on and skip what is damaged; writers refuse the log");
    else if (is_older(a))
        advise(a, "append nothing before that is decided: --accept-loss gives up nothing afterwards");
    else if (is_endless(a)) advise(a, "append nothing: the loss would be final; without a copy begin a new log elsewhere");
    else advise(a, "readers go on and skip what is damaged; a writer goes on behind the end");
}

/* Not 0 if a file has a name that a repair gives it between two others. [U-2] */
static int is_between_names(const char *path)
{
    DIR *dir = opendir(path);
    int any = 0;
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        size_t size = strlen(e->d_name);
        any |= strncmp(e->d_name, ".repair-", 8) == 0 && size > 5 && strcmp(e->d_name + size - 5, ".name") == 0;
    }
    if (dir) closedir(dir);
    return any;
}

size_t tool_lost_advice(const tool_lost *l, const char *path, const u9_report *r, char (*out)[TOOL_ADVICE_SIZE])
{
    advice a = {.path = path, .lost = l, .report = r, .out = out};
    tool_command_word(path, a.word);
    if (r->damages > 0 && is_between_names(path)) { /* nothing else is to be done before */
        advise(&a, "u9fsck --repair -p %s brings back what a broken-off repair has", a.word);
        advise(&a, "until then readers go on and skip what is missing; writers refuse the log");
        return a.count;
    }
    advise_names(&a);
    if (r->damages == 0 || l->tried.saved) return a.count;
    if (l->reasons == UINT64_C(1) << U9_R_MARK && r->mark == U9_MARK_DAMAGED) { /* the log itself is whole */
        advise(&a, "no record is lost: only the mark is damaged, and the next append writes it anew");
        return a.count;
    }
    advise_again(&a);
    advise_repair(&a);
    advise_tails(&a);
    if (r->begins_late) advise(&a, "if the oldest segments were deleted on purpose: u9 trim --accept %s", a.word);
    advise_salvage(&a);
    advise_meanwhile(&a);
    return a.count;
}

void tool_put_lost(FILE *out, const tool_lost *l, const char *path, const u9_report *r)
{
    char texts[TOOL_ADVICE_MAX][TOOL_ADVICE_SIZE];
    for (size_t i = 0; i < l->count && i < SHOWN; i++) put_loss_line(out, &l->losses[i], path, r);
    uint64_t more = l->more + (l->count > SHOWN ? l->count - SHOWN : 0);
    if (more > 0)
        fprintf(out, "%s: lost: %" PRIu64 " more place%s\n", tool_shown(path), more, tool_plural(more));
    size_t n = tool_lost_advice(l, path, r, texts);
    for (size_t i = 0; i < n; i++) fprintf(out, "%s: next: %s\n", tool_shown(path), tool_shown(texts[i]));
}

static json_t *json_edge(const tool_edge *e, const u9_report *r)
{
    char time[48], key[TOOL_KEY_TEXT_SIZE];
    json_t *json = json_object();
    int timed = e->known && e->time_us > 0;
    json = tool_json_with(json, "time",
                          timed ? json_string(tool_time_text(e->time_us, time)) : json_null());
    if (json == NULL) return NULL;
    return tool_json_with(json, "key",
                          e->key.size
                              ? json_string(tool_key_text(r->kind, e->key.bytes, e->key.size, key))
                              : json_null());
}

json_t *tool_json_lost(json_t *json, const tool_lost *l, const char *path, const u9_report *r)
{
    char texts[TOOL_ADVICE_MAX][TOOL_ADVICE_SIZE];
    json_t *losses = json_array(), *next = json_array();
    for (size_t i = 0; i < l->count; i++) {
        const tool_loss *o = &l->losses[i];
        json_t *one = json_pack(
            "{s:o, s:o, s:o, s:b, s:s, s:o, s:o}", "segment", tool_json_number(o->segment),
            "ordinal", tool_json_number(o->ordinal), "lost", tool_json_number(o->lost), "at_most",
            o->at_most, "reason", u9_reason_name(o->reason), "behind", json_edge(&o->before, r),
            "in_front_of", json_edge(&o->behind, r));
        uint64_t from, to, first = first_place(o, r);
        if (one && tool_lost_within(o, r, &from, &to))
            json_object_set_new(one, "within", json_pack("{s:o, s:o}", "from", tool_json_number(from), "to", tool_json_number(to)));
        if (one && first > 0) json_object_set_new(one, "places", tool_json_places(path, first, o->last));
        if (json_array_append_new(losses, one) != 0) break;
    }
    size_t n = tool_lost_advice(l, path, r, texts);
    for (size_t i = 0; i < n; i++) json_array_append_new(next, json_string(texts[i]));
    const struct {
        const char *name;
        json_t *value;
    } members[] = {{"losses", losses},
                   {"more_losses", tool_json_number(l->more)},
                   {"another_try", json_boolean(r->damages > 0 && tool_lost_again(l, r))},
                   {"next", next}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (json == NULL) json_decref(members[i].value);
        else json = tool_json_with(json, members[i].name, members[i].value);
    }
    return json;
}
