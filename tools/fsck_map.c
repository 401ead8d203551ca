/*
 * tools/fsck_map.c: see fsck_map.h. What it is made of, and how it looks in a terminal.
 */
#include "tools/fsck_map.h"

#include "tools/text.h"
#include "tools/tool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *colour;
    char sign;
} cells[TOOL_CELLS] = {
    [TOOL_CELL_RESERVED] = {"reserved", "\033[2m", '.'},
    [TOOL_CELL_INDEX] = {"index", "\033[34m", 'i'},
    [TOOL_CELL_INTACT] = {"intact", "\033[32m", '='},
    [TOOL_CELL_TORN] = {"torn", "\033[33m", 't'},
    [TOOL_CELL_HOLE] = {"hole", "\033[35;1m", 'o'},
    [TOOL_CELL_UNKNOWN] = {"unknown", "\033[36;1m", '?'},
    [TOOL_CELL_CORRUPT] = {"corrupt", "\033[31;1m", 'X'},
};

const char *tool_cell_name(tool_cell cell)
{
    return cells[cell].name;
}

/* Room for one more in a row; 0: no memory, which is noted. */
static int make_room(tool_map *map, void **row, size_t count, size_t *room, size_t size)
{
    if (count < *room) return 1;
    size_t more = *room ? 2 * *room : 64;
    void *grown = realloc(*row, more * size);
    if (grown == NULL) {
        map->short_of_memory = 1;
        return 0;
    }
    *row = grown;
    *room = more;
    return 1;
}

/* The file's entry: files come one after the other. NULL: no memory. */
static tool_map_file *find_file(tool_map *map, const char *path, uint64_t segment, uint64_t size)
{
    void *row = map->files;
    tool_map_file *f = map->file_count ? &map->files[map->file_count - 1] : NULL;
    if (f == NULL || strcmp(f->path, path) != 0) {
        if (!make_room(map, &row, map->file_count, &map->file_room, sizeof *map->files))
            return NULL;
        map->files = (tool_map_file *)row;
        f = &map->files[map->file_count];
        *f = (tool_map_file){.path = strdup(path), .segment = segment, .first = map->span_count};
        if (f->path == NULL) {
            map->short_of_memory = 1;
            return NULL;
        }
        map->file_count++;
    }
    if (size > f->size) f->size = size;
    return f;
}

static void add_span(tool_map *map, tool_map_file *f, const tool_span *span)
{
    void *row = map->spans;
    if (map->span_count == TOOL_SPANS_MAX && f->count > 0) { /* what is damaged stays to be seen */
        tool_span *last = &map->spans[map->span_count - 1];
        if (span->end > last->end) last->end = span->end;
        if (span->cell > last->cell) last->cell = span->cell;
        return;
    }
    if (map->span_count == TOOL_SPANS_MAX + 1024 ||
        !make_room(map, &row, map->span_count, &map->span_room, sizeof *map->spans))
        return;
    map->spans = (tool_span *)row;
    map->spans[map->span_count++] = *span;
    f->count++;
    if (span->end > f->size) f->size = span->end;
}

/* The first hole of the file in [begin, end), of a block at least: [*from, *to). 0: there is none. */
static int find_hole(int fd, uint64_t begin, uint64_t end, uint64_t *from, uint64_t *to)
{
    off_t hole = lseek(fd, (off_t)begin, SEEK_HOLE), data;
    off_t size = lseek(fd, 0, SEEK_END);
    if (hole < 0 || size < 0 || hole >= size || (uint64_t)hole >= end)
        return 0; /* behind the last byte is none */
    data = lseek(fd, hole, SEEK_DATA);
    *from = (uint64_t)hole;
    *to = data < 0 || (uint64_t)data > end ? end : (uint64_t)data;
    return *to > *from;
}

static uint64_t file_size(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    if (fd >= 0) close(fd);
    return end > 0 ? (uint64_t)end : 0;
}

/* What of damaged bytes is a hole of the file. */
static void add_holes(tool_map *map, tool_map_file *f, tool_span damaged)
{
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    tool_span hole = damaged;
    hole.cell = TOOL_CELL_HOLE;
    for (unsigned n = 0;
         fd >= 0 && n < 16 && find_hole(fd, damaged.begin, damaged.end, &hole.begin, &hole.end);
         n++) {
        add_span(map, f, &hole);
        damaged.begin = hole.end;
    }
    if (fd >= 0) close(fd);
}

static void keep_damage(tool_map *map, const u9_damage *d)
{
    void *row = map->damages;
    if (map->damage_count == TOOL_MAP_DAMAGES_MAX ||
        !make_room(map, &row, map->damage_count, &map->damage_room, sizeof *map->damages)) {
        map->damages_more++;
        return;
    }
    map->damages = (tool_map_damage *)row;
    tool_map_damage *m = &map->damages[map->damage_count];
    *m = (tool_map_damage){.damage = *d, .from_us = map->last_us};
    m->damage.path = strdup(d->path);
    if (m->damage.path) map->damage_count++;
    else map->short_of_memory = 1;
}

void tool_map_damaged(tool_map *map, const u9_damage *d)
{
    keep_damage(map, d);
    if (d->reason == U9_R_UNCLOSED || d->reason == U9_R_TRIMMED) return; /* nothing stands there */
    tool_map_file *f =
        find_file(map, d->path, d->segment, d->reason == U9_R_MISSING ? 0 : file_size(d->path));
    if (f == NULL) return;
    f->missing |= d->reason == U9_R_MISSING;
    tool_span span = {.cell = d->verdict == U9_V_CORRUPT   ? TOOL_CELL_CORRUPT
                              : d->verdict == U9_V_UNKNOWN ? TOOL_CELL_UNKNOWN
                                                           : TOOL_CELL_TORN,
                      .begin = d->begin,
                      .end = d->end,
                      .ordinal = d->ordinal,
                      .records = d->lost};
    add_span(map, f, &span);
    if (span.cell >= TOOL_CELL_UNKNOWN && span.end > span.begin) add_holes(map, f, span);
}

void tool_map_stretch(tool_map *map, const u9_stretch *s)
{
    static const tool_cell kinds[] = {[U9_STRETCH_FRAMES] = TOOL_CELL_INTACT,
                                      [U9_STRETCH_INDEX] = TOOL_CELL_INDEX,
                                      [U9_STRETCH_RESERVED] = TOOL_CELL_RESERVED};
    tool_map_file *f = find_file(map, s->path, s->segment, s->size);
    if (s->kind == U9_STRETCH_FRAMES && s->records > 0) {
        for (; map->damage_open < map->damage_count; map->damage_open++)
            map->damages[map->damage_open].to_us = s->first_time_us;
        map->last_us = s->last_time_us;
    }
    if (f == NULL || (size_t)s->kind >= sizeof kinds / sizeof *kinds) return;
    add_span(map, f,
             &(tool_span){.cell = kinds[s->kind],
                          .begin = s->begin,
                          .end = s->end,
                          .ordinal = s->ordinal,
                          .records = s->records,
                          .first_us = s->first_time_us,
                          .last_us = s->last_time_us});
}

static void free_const(const char *text)
{
    union {
        const char *in;
        char *out;
    } both = {.in = text};
    free(both.out);
}

void tool_map_release(tool_map *map)
{
    for (size_t i = 0; i < map->file_count; i++) free(map->files[i].path);
    for (size_t i = 0; i < map->damage_count; i++) free_const(map->damages[i].damage.path);
    free(map->files);
    free(map->spans);
    free(map->damages);
    *map = (tool_map){0};
}

/* True if nothing in it is damaged. */
static int is_whole(const tool_map *map, const tool_map_file *f)
{
    for (size_t i = f->first; i < f->first + f->count; i++)
        if (map->spans[i].cell >= TOOL_CELL_TORN) return 0;
    return !f->missing;
}

/* Fills `row`, a cell for each of `count` equal parts of the file, in one pass over its spans. */
static void fill_row(const tool_map *map, const tool_map_file *f, tool_cell *row, unsigned count)
{
    for (unsigned c = 0; c < count; c++)
        row[c] = f->missing ? TOOL_CELL_CORRUPT : TOOL_CELL_RESERVED;
    for (size_t i = f->first; i < f->first + f->count && f->size > 0; i++) {
        const tool_span *s = &map->spans[i];
        double each = (double)f->size / count;
        unsigned from = (unsigned)((double)s->begin / each),
                 to = (unsigned)((double)(s->end > s->begin ? s->end - 1 : s->begin) / each);
        for (unsigned c = from; c <= to && c < count; c++)
            if (s->cell > row[c]) row[c] = s->cell;
    }
}

/* How wide things are, for a terminal of so many columns. */
typedef struct layout {
    unsigned columns, name, cells;
    int narrow; /* names go without their zeros in front */
    int colour;
} layout;

enum { NAME = 20, SIZE = 9, NARROW = 60, CELLS_LEAST = 4, CELLS_MOST = 512 };

static const char *short_name(const char *path, int narrow)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    while (narrow && name[0] == '0' && name[1] != '.' && name[1] != '\0') name++;
    return name;
}

static layout lay_out(const tool_map *map, unsigned columns, int colour)
{
    layout l = {.columns = columns, .name = NAME, .narrow = columns < NARROW, .colour = colour};
    size_t longest = strlen("...");
    for (size_t i = 0; i < map->file_count; i++) {
        size_t n = strlen(short_name(map->files[i].path, 1));
        if (n > longest) longest = n;
    }
    if (l.narrow && longest < NAME) l.name = (unsigned)longest;
    unsigned taken = l.name + 1 + 1 + SIZE + (l.narrow ? 0 : 3);
    l.cells = columns < taken + CELLS_LEAST ? CELLS_LEAST : columns - taken;
    if (l.cells > CELLS_MOST) l.cells = CELLS_MOST;
    return l;
}

static void put_row(FILE *out, const tool_map *map, const tool_map_file *f, const layout *l)
{
    tool_cell row[CELLS_MOST];
    char size[24];
    fprintf(out, "%-*.*s ", (int)l->name, (int)l->name, short_name(f->path, l->narrow));
    fill_row(map, f, row, l->cells);
    for (unsigned c = 0; c < l->cells; c++) {
        if (l->colour && (c == 0 || row[c] != row[c - 1]))
            fprintf(out, "\033[0m%s", cells[row[c]].colour);
        putc(cells[row[c]].sign, out);
    }
    if (l->colour) fputs("\033[0m", out);
    fprintf(out, " %s\n", f->missing ? "missing" : tool_bytes_text(f->size, size));
}

/* Of as many lines as it takes. */
static void put_legend(FILE *out, const layout *l)
{
    unsigned at = 0;
    for (int c = TOOL_CELLS - 1; c >= 0; c--) {
        unsigned size = 2 + (unsigned)strlen(cells[c].name);
        int fits = at + 2 + size <= l->columns;
        fputs(at == 0 ? "" : fits ? "  " : "\n", out);
        fprintf(out, "%s%c%s %s", l->colour ? cells[c].colour : "", cells[c].sign, l->colour ? "\033[0m" : "", cells[c].name);
        at = at > 0 && fits ? at + 2 + size : size;
    }
    putc('\n', out);
}

void tool_map_put(FILE *out, const tool_map *map, unsigned columns, int colour)
{
    layout l = lay_out(map, columns, colour);
    for (size_t i = 0; i < map->file_count;) {
        size_t same = i;
        while (same < map->file_count && is_whole(map, &map->files[same])) same++;
        if (same - i > 3) { /* the first and the last of them stand for all */
            put_row(out, map, &map->files[i], &l);
            fprintf(out, "%-*s %zu more, intact\n", (int)l.name, "...", same - i - 2);
            i = same - 1;
        }
        put_row(out, map, &map->files[i++], &l);
    }
    put_legend(out, &l);
    if (map->short_of_memory) fputs("memory was short: some of it is not shown\n", out);
}
