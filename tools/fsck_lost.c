/*
 * tools/fsck_lost.c: see fsck_lost.h.
 */
#include "tools/fsck_lost.h"

#include "tools/damage.h"
#include "tools/json.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <string.h>

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

void tool_lost_damage(tool_lost *l, const u9_damage *d)
{
    if (d->verdict < U9_V_UNKNOWN) {
        l->notes |= UINT64_C(1) << d->reason;
        return;
    }
    l->reasons |= UINT64_C(1) << d->reason;
    if (d->reason == U9_R_MISSING && l->missing_count++ == 0)
        snprintf(l->missing, sizeof l->missing, "%s", base_name(d->path));
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
    if (s->kind != U9_STRETCH_FRAMES || s->records == 0) return;
    for (; l->open < l->count; l->open++)
        l->losses[l->open].behind = (tool_edge){.known = 1, .time_us = s->first_time_us};
    for (; s->first_key_size > 0 && l->keyless < l->count; l->keyless++)
        set_key(&l->losses[l->keyless].behind.key, s->first_key, s->first_key_size);
    l->last.known = 1;
    l->last.time_us = s->last_time_us;
    set_key(&l->last.key, s->last_key, s->last_key_size);
}

const char *tool_lost_when(const tool_loss *l, char out[160])
{
    char from[48], to[48];
    int after = l->before.known && l->before.time_us > 0,
        until = l->behind.known && l->behind.time_us > 0;
    if (after) tool_time_text(l->before.time_us, from);
    if (until) tool_time_text(l->behind.time_us, to);
    out[0] = '\0';
    if (after && until) snprintf(out, 160, "written between %s and %s", from, to);
    else if (after) snprintf(out, 160, "written after %s", from);
    else if (until) snprintf(out, 160, "written before %s", to);
    return out;
}

static void put_loss_line(FILE *out, const tool_loss *l, const char *path, const u9_report *r)
{
    char when[160], text[TOOL_KEY_TEXT_SIZE];
    fprintf(out, "%s: lost: ", path);
    if (l->lost == TOOL_NONE && l->ordinal == TOOL_NONE)
        fprintf(out, "records of segment %" PRIu64 ", which is not known", l->segment);
    else if (l->lost == TOOL_NONE)
        fprintf(out, "records from %" PRIu64 " on, how many is not known", l->ordinal);
    else if (l->ordinal == TOOL_NONE)
        fprintf(out, "%" PRIu64 " record%s of segment %" PRIu64, l->lost, tool_plural(l->lost),
                l->segment);
    else if (l->lost == 1)
        fprintf(out, "%srecord %" PRIu64, l->at_most ? "at most " : "", l->ordinal);
    else
        fprintf(out, "%srecords %" PRIu64 "..%" PRIu64, l->at_most ? "at most " : "", l->ordinal,
                l->ordinal + l->lost - 1);
    if (*tool_lost_when(l, when)) fprintf(out, ", %s", when);
    if (l->before.key.size > 0)
        fprintf(out, ", behind key %s",
                tool_key_text(r->kind, l->before.key.bytes, l->before.key.size, text));
    if (l->behind.key.size > 0)
        fprintf(out, ", in front of key %s",
                tool_key_text(r->kind, l->behind.key.bytes, l->behind.key.size, text));
    putc('\n', out);
}

int tool_lost_again(const tool_lost *l, const u9_report *r)
{
    (void)r;
    return has(l->reasons, U9_R_UNREADABLE) || has(l->reasons, U9_R_MISSING) ||
           has(l->reasons, U9_R_MARK) || has(l->reasons, U9_R_CUT);
}

typedef struct advice {
    char (*out)[TOOL_ADVICE_SIZE];
    size_t count;
} advice;

static void advise(advice *a, const char *text)
{
    if (a->count < TOOL_ADVICE_MAX) snprintf(a->out[a->count++], TOOL_ADVICE_SIZE, "%s", text);
}

/* What could still bring back what is lost. */
static void advise_again(advice *a, const tool_lost *l)
{
    char text[TOOL_ADVICE_SIZE];
    if (has(l->reasons, U9_R_UNREADABLE))
        advise(
            a,
            "the disk does not give some bytes: copy the files to another disk with ddrescue, which tries again, and "
            "check the copy; do not write to this disk");
    if (l->missing_count > 0) {
        snprintf(
            text, sizeof text,
            "put the missing segment%s back (%s%s) from a backup or another disk, and check again",
            tool_plural(l->missing_count), l->missing, l->missing_count > 1 ? " and others" : "");
        advise(a, text);
    }
    if (has(l->reasons, U9_R_MARK) || has(l->reasons, U9_R_CUT))
        advise(
            a,
            "something ends before what was promised: an older copy may have been put back, or a newer one is "
            "elsewhere; look for it first");
    if (has(l->reasons, U9_R_FOREIGN))
        advise(a, "a file of another log is among the segments: move it out of the directory");
}

size_t tool_lost_advice(const tool_lost *l, const char *path, const u9_report *r,
                        char (*out)[TOOL_ADVICE_SIZE])
{
    advice a = {.out = out};
    char text[TOOL_ADVICE_SIZE];
    if (has(l->notes, U9_R_NAME)) {
        snprintf(text, sizeof text, "u9fsck --repair -p %.200s gives a file the name of its number back, where that is free; a copy "
                 "beside its segment may be moved away", path);
        advise(&a, text);
    }
    if (r->damages == 0) return a.count;
    advise_again(&a, l);
    if (!tool_lost_again(l, r))
        advise(
            &a,
            "another try finds the same: all bytes could be read, and some are wrong; a backup may have them");
    if (l->count == 0 && l->more == 0)
        advise(&a, "no record is lost: the log is read in full as it is");
    if (has(l->reasons, U9_R_MARK))
        advise(&a, "if the older state is meant: u9fsck --repair says what would be given up");
    snprintf(text, sizeof text, "u9fsck --repair%s %.200s says what can be mended in place%s (with -y it is done, --undo takes it back)",
             has(l->reasons, U9_R_HASH) ? " --heal" : "", path, has(l->reasons, U9_R_HASH) ? ", flipped bits too" : "");
    if (!has(l->reasons, U9_R_UNREADABLE)) advise(&a, text);
    snprintf(text, sizeof text,
             "u9fsck --salvage OUT %.200s copies the %" PRIu64
             " whole record%s to a new log; %.100s is not touched",
             path, r->records + r->beyond, tool_plural(r->records + r->beyond),
             strlen(path) > 100 ? "the old one" : path);
    if (r->records + r->beyond > 0) advise(&a, text);
    if (has(l->reasons, U9_R_UNREADABLE) || has(l->reasons, U9_R_FOREIGN) || l->missing_count > 0)
        advise(&a, "until then readers go on and skip what is damaged; writers may refuse the log");
    else if (has(l->reasons, U9_R_MARK) || has(l->reasons, U9_R_CUT))
        advise(&a, "append nothing before that is decided: it would make the loss final");
    else advise(&a, "readers go on and skip what is damaged; a writer goes on behind the end");
    return a.count;
}

void tool_put_lost(FILE *out, const tool_lost *l, const char *path, const u9_report *r)
{
    char texts[TOOL_ADVICE_MAX][TOOL_ADVICE_SIZE];
    for (size_t i = 0; i < l->count && i < SHOWN; i++) put_loss_line(out, &l->losses[i], path, r);
    uint64_t more = l->more + (l->count > SHOWN ? l->count - SHOWN : 0);
    if (more > 0)
        fprintf(out, "%s: lost: %" PRIu64 " more place%s\n", path, more, tool_plural(more));
    size_t n = tool_lost_advice(l, path, r, texts);
    for (size_t i = 0; i < n; i++) fprintf(out, "%s: next: %s\n", path, texts[i]);
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
