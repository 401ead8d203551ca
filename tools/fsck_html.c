/*
 * tools/fsck_html.c: the page of a checked log: the picture, what is damaged, what was lost and when. One file, no
 * script, nothing from elsewhere. See fsck_map.h.
 */
#include "tools/buffer.h"
#include "tools/damage.h"
#include "tools/fsck_map.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c2024;--paper:#fff;--soft:#60646c;--line:#d9dce0;--bad:#c62a2f;--good:#218358}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--paper:#111315;--soft:#a0a6ad;--line:#363a3f;--bad:#ff6369;"
    "--good:#46a758}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;margin:2rem auto;"
    "padding:0 1.5rem}\n"
    "h1{font-size:1.4rem;margin:0 0 .2rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 .5rem}\n"
    "p{margin:.3rem 0}.soft{color:var(--soft)}.bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}\n"
    "table{border-collapse:collapse;width:100%;font-size:.87rem}th{text-align:left;color:var(--soft);font-weight:500}\n"
    "th,td{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}code{font-size:.92em;overflow-wrap:anywhere}\n"
    ".file{display:grid;grid-template-columns:12.5rem 1fr 6rem;gap:.8rem;align-items:center;margin:.25rem 0}\n"
    ".file svg{width:100%;height:22px;display:block;border-radius:3px;background:var(--line)}.file .size{text-align:right}\n"
    ".gone{border:1px dashed var(--bad);height:20px;border-radius:3px;color:var(--bad);font-size:.8rem;padding-left:.5rem}\n"
    ".legend span{display:inline-flex;align-items:center;margin-right:1.1rem}.legend i{width:.8rem;height:.8rem;"
    "border-radius:2px;margin-right:.35rem}\n"
    "td.t{white-space:nowrap}.axis svg{width:100%;height:46px;display:block}.wide{overflow-x:auto}ul{margin:.3rem 0;padding-left:1.2rem}\n";

static const char *const fills[TOOL_CELLS] = {
    [TOOL_CELL_RESERVED] = "#b9bec5", [TOOL_CELL_INDEX] = "#3e7bd6",
    [TOOL_CELL_INTACT] = "#46a758",   [TOOL_CELL_TORN] = "#e2a336",
    [TOOL_CELL_HOLE] = "#a144af",     [TOOL_CELL_UNKNOWN] = "#12a5b4",
    [TOOL_CELL_CORRUPT] = "#d8313a",
};

/* Text as it may stand in a page. */
static void put_text(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '<') fputs("&lt;", out);
        else if (*c == '>') fputs("&gt;", out);
        else if (*c == '&') fputs("&amp;", out);
        else if (*c == '"') fputs("&quot;", out);
        else if (*c < 0x20 || *c >= 0x7f) fprintf(out, *c >= 0x80 ? "%c" : "?", *c);
        else putc(*c, out);
    }
}

static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What a span says when it is pointed at. */
static void put_title(FILE *out, const tool_span *s)
{
    char from[48], to[48];
    fprintf(out, "<title>%s [%" PRIu64 ",%" PRIu64 ")", tool_cell_name(s->cell), s->begin, s->end);
    if (s->cell == TOOL_CELL_INTACT && s->records > 0)
        fprintf(out, ", records %" PRIu64 "..%" PRIu64, s->ordinal, s->ordinal + s->records - 1);
    if (s->cell == TOOL_CELL_INTACT && s->first_us > 0)
        fprintf(out, ", %s to %s", tool_time_text(s->first_us, from),
                tool_time_text(s->last_us, to));
    if (s->cell >= TOOL_CELL_HOLE && s->records != TOOL_NONE)
        fprintf(out, ", %" PRIu64 " lost", s->records);
    fputs("</title>", out);
}

/* One span of a file, never thinner than can be seen where it is damaged. */
static void put_span(FILE *out, const tool_map_file *f, const tool_span *s)
{
    double x = 1000.0 * (double)s->begin / (double)f->size,
           w = 1000.0 * (double)(s->end - s->begin) / (double)f->size;
    double least = s->cell >= TOOL_CELL_TORN ? 3 : 0.2;
    if (w < least) w = least;
    if (x + w > 1000) x = 1000 - w;
    fprintf(out, "<rect x=\"%.2f\" width=\"%.2f\" height=\"22\" fill=\"%s\">", x, w,
            fills[s->cell]);
    put_title(out, s);
    fputs("</rect>", out);
}

static void put_file(FILE *out, const tool_map *map, const tool_map_file *f)
{
    char size[24];
    fputs("<div class=\"file\"><code>", out);
    put_text(out, short_name(f->path));
    fputs("</code>", out);
    if (f->missing || f->size == 0) {
        fprintf(out, "<div class=\"gone\">%s</div><span></span></div>\n",
                f->missing ? "missing" : "empty");
        return;
    }
    fputs("<svg viewBox=\"0 0 1000 22\" preserveAspectRatio=\"none\" role=\"img\">", out);
    for (int bad = 0; bad <= 1; bad++) /* damage over all else */
        for (size_t i = f->first; i < f->first + f->count; i++)
            if ((map->spans[i].cell >= TOOL_CELL_TORN) == bad) put_span(out, f, &map->spans[i]);
    fprintf(out, "</svg><span class=\"size soft\">%s</span></div>\n",
            tool_bytes_text(f->size, size));
}

static void put_picture(FILE *out, const tool_map *map)
{
    fputs("<h2>The log</h2>\n<p class=\"legend soft\">", out);
    for (int c = TOOL_CELLS - 1; c >= 0; c--)
        fprintf(out, "<span><i style=\"background:%s\"></i>%s</span>", fills[c],
                tool_cell_name((tool_cell)c));
    fputs("</p>\n", out);
    for (size_t i = 0; i < map->file_count; i++) put_file(out, map, &map->files[i]);
}

static void put_numbers(FILE *out, const u9_damage *d)
{
    if (d->lost == 0) fputs("none", out);
    else if (d->ordinal == TOOL_NONE && d->lost == TOOL_NONE) fputs("not known", out);
    else if (d->ordinal == TOOL_NONE) fprintf(out, "%" PRIu64 ", which is not known", d->lost);
    else if (d->lost == TOOL_NONE) fprintf(out, "from %" PRIu64 " on", d->ordinal);
    else
        fprintf(out, "%s%" PRIu64 "..%" PRIu64, d->at_most ? "at most " : "", d->ordinal,
                d->ordinal + d->lost - 1);
}

static void put_damages(FILE *out, const tool_map *map)
{
    if (map->damage_count == 0) return;
    fputs(
        "<h2>What is damaged</h2>\n<div class=\"wide\"><table><tr><th>file<th class=\"n\">bytes<th>verdict<th>reason<th>"
        "records lost<th>rule</tr>\n",
        out);
    for (size_t i = 0; i < map->damage_count; i++) {
        const u9_damage *d = &map->damages[i].damage;
        fputs("<tr><td><code>", out);
        put_text(out, short_name(d->path));
        fprintf(out,
                "</code><td class=\"n\">%" PRIu64 "&ndash;%" PRIu64 "<td%s>%s<td>%s: ", d->begin,
                d->end, d->verdict >= U9_V_UNKNOWN ? " class=\"bad\"" : "",
                u9_verdict_name(d->verdict), u9_reason_name(d->reason));
        put_text(out, tool_reason_text(d));
        fputs("<td>", out);
        if (d->verdict >= U9_V_UNKNOWN) put_numbers(out, d);
        else fputs("none", out);
        fprintf(out, "<td>%s</tr>\n", tool_reason_rule(d));
    }
    fputs("</table></div>\n", out);
    if (map->damages_more > 0)
        fprintf(out, "<p class=\"soft\">and %" PRIu64 " more</p>\n", map->damages_more);
}

/* When was what written, on a line from the log's first frame to its last: where records are lost it is marked. */
static void put_axis(FILE *out, const tool_map *map, const u9_report *r)
{
    char from[48], to[48];
    uint64_t begin = r->first_time_us, end = r->last_time_us > begin ? r->last_time_us : begin + 1;
    if (begin == 0) return;
    fputs(
        "<div class=\"axis\"><svg viewBox=\"0 0 1000 46\" preserveAspectRatio=\"none\" role=\"img\">"
        "<rect y=\"14\" width=\"1000\" height=\"10\" rx=\"3\" fill=\"#46a758\"/>",
        out);
    for (size_t i = 0; i < map->damage_count; i++) {
        const tool_map_damage *m = &map->damages[i];
        if (m->damage.verdict < U9_V_UNKNOWN || m->damage.lost == 0) continue;
        uint64_t a = m->from_us > begin ? m->from_us : begin, b = m->to_us > a ? m->to_us
                                                                  : m->to_us   ? a
                                                                               : end;
        double x = 1000 * (double)(a - begin) / (double)(end - begin),
               w = 1000 * (double)(b - a) / (double)(end - begin);
        if (w < 3) w = 3;
        if (x + w > 1000) x = 1000 - w;
        fprintf(out,
                "<rect x=\"%.2f\" y=\"6\" width=\"%.2f\" height=\"26\" fill=\"#d8313a\"><title>", x,
                w);
        put_numbers(out, &m->damage);
        fputs("</title></rect>", out);
    }
    fprintf(out, "</svg><p class=\"soft\">%s &ndash; %s</p></div>\n", tool_time_text(begin, from),
            tool_time_text(r->last_time_us, to));
}

static void put_key(FILE *out, const tool_edge *e, const u9_report *r)
{
    char text[TOOL_KEY_TEXT_SIZE];
    fputs("<td><code>", out);
    if (e->key.size > 0) put_text(out, tool_key_text(r->kind, e->key.bytes, e->key.size, text));
    fputs("</code>", out);
}

static void put_time(FILE *out, const tool_edge *e)
{
    char text[48];
    fprintf(out, "<td class=\"t\">%s",
            e->known && e->time_us ? tool_time_text(e->time_us, text) : "");
}

static void put_losses(FILE *out, const tool_map *map, const tool_lost *l, const u9_report *r)
{
    if (l->count == 0) return;
    fputs("<h2>What was lost, by time</h2>\n", out);
    put_axis(out, map, r);
    fputs(
        "<div class=\"wide\"><table><tr><th>records<th>written after<th>and before<th>behind key<th>in front of key</tr>\n",
        out);
    for (size_t i = 0; i < l->count; i++) {
        const tool_loss *o = &l->losses[i];
        fputs("<tr><td>", out);
        uint64_t from, to;
        if (tool_lost_within(o, r, &from, &to) && to != TOOL_NONE)
            fprintf(out, "some of %" PRIu64 "..%" PRIu64, from, to - 1);
        else
            put_numbers(out, &(u9_damage){.ordinal = o->ordinal, .lost = o->lost, .at_most = o->at_most});
        put_time(out, &o->before);
        put_time(out, &o->behind);
        put_key(out, &o->before, r);
        put_key(out, &o->behind, r);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
    if (l->more > 0) fprintf(out, "<p class=\"soft\">and %" PRIu64 " more places</p>\n", l->more);
}

static void put_head(FILE *out, const tool_map *map, const tool_lost *l, const char *path,
                     const u9_report *r)
{
    char size[24], lost[TOOL_LOSSES_SIZE], texts[TOOL_ADVICE_MAX][TOOL_ADVICE_SIZE];
    tool_losses losses = {0};
    for (size_t i = 0; i < map->damage_count; i++)
        tool_losses_add(&losses, &map->damages[i].damage);
    losses.unknown += map->damages_more;
    fputs(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>u9fsck: ",
        out);
    put_text(out, path);
    fprintf(out, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", style);
    put_text(out, path);
    fprintf(out, "</h1>\n<p><span class=\"%s\">%s</span>",
            r->verdict >= U9_V_UNKNOWN ? "bad" : "good", u9_verdict_name(r->verdict));
    if (r->damages > 0)
        fprintf(out, ": %" PRIu64 " damaged place%s, %s", r->damages, tool_plural(r->damages),
                tool_losses_text(&losses, lost));
    fprintf(out,
            "</p>\n<p class=\"soft\">%" PRIu64 " records in %" PRIu64 " frames, %" PRIu64
            " segments, %s</p>\n",
            r->records, r->frames, r->segments, tool_bytes_text(r->bytes, size));
    size_t n = tool_lost_advice(l, path, r, texts);
    if (n == 0) return;
    fputs("<h2>What to do next</h2>\n<ul>", out);
    for (size_t i = 0; i < n; i++) {
        fputs("<li>", out);
        put_text(out, texts[i]);
    }
    fputs("</ul>\n", out);
}

static void put_page(FILE *out, const tool_map *map, const tool_lost *l, const char *path, const u9_report *r)
{
    put_head(out, map, l, path, r);
    put_picture(out, map);
    put_losses(out, map, l, r);
    put_damages(out, map);
    fputs("</body></html>\n", out);
}

/* To a new file, as nothing is written over; a page that is cut is none. 0 or an errno. */
static int write_page(const char *file, const tool_buffer *page)
{
    FILE *out = fopen(file, "wxe");
    if (out == NULL) return errno;
    errno = 0;
    int failed = fwrite(page->bytes, 1, page->size, out) < page->size ? (errno ? errno : EIO) : 0;
    if (fclose(out) != 0 && failed == 0) failed = errno;
    if (failed) (void)unlink(file);
    return failed;
}

int tool_map_page(const char *file, const tool_map *map, const tool_lost *l, const char *path,
                  const u9_report *r)
{
    tool_buffer page;
    if (strcmp(file, "-") == 0) {
        put_page(stdout, map, l, path, r);
        return 0; /* tool_finish says what became of it */
    }
    if (!tool_buffer_open(&page)) return ENOMEM;
    put_page(page.file, map, l, path, r);
    int err = tool_buffer_take(&page) ? write_page(file, &page) : ENOMEM;
    tool_buffer_close(&page);
    return err;
}
