/*
 * tools/fsck_map.h: a log as a picture: its files, and what stands where in each: for the terminal, a cell for each
 * stretch, and as a page of HTML that needs nothing else.
 *
 * It is made of what a check tells. Memory: a few dozen bytes for each damage and stretch, and TOOL_SPANS_MAX of them:
 * what comes then goes to the last one of its kind.
 */
#ifndef U9_TOOLS_FSCK_MAP_H
#define U9_TOOLS_FSCK_MAP_H

#include "tools/fsck_lost.h"

enum { TOOL_SPANS_MAX = 200000, TOOL_MAP_DAMAGES_MAX = 2000 };

/* What stands in a span; the higher is shown where a cell has several. */
typedef enum tool_cell {
    TOOL_CELL_RESERVED,
    TOOL_CELL_INDEX,
    TOOL_CELL_INTACT,
    TOOL_CELL_TORN,
    TOOL_CELL_UNKNOWN,
    TOOL_CELL_CORRUPT,
    TOOL_CELL_HOLE, /* damage where the file has a hole: nothing was ever written there, or it was punched out */
    TOOL_CELLS
} tool_cell;

typedef struct tool_span {
    tool_cell cell;
    uint64_t begin, end;
    uint64_t ordinal, records;  /* records: intact, or lost; TOOL_NONE: not known */
    uint64_t first_us, last_us; /* INTACT */
} tool_span;

typedef struct tool_map_file {
    char *path;
    uint64_t segment, size;
    int missing;
    size_t first, count; /* of the spans */
} tool_map_file;

/* A damage as it was told. */
typedef struct tool_map_damage {
    u9_damage damage;        /* its path is a copy */
    uint64_t from_us, to_us; /* it was written between these; 0: not known */
} tool_map_damage;

typedef struct tool_map {
    tool_map_file *files;
    size_t file_count, file_room;
    tool_span *spans;
    size_t span_count, span_room;
    tool_map_damage *damages;
    size_t damage_count, damage_room, damage_open;
    uint64_t damages_more;
    uint64_t last_us;
    int short_of_memory;
} tool_map;

void tool_map_damaged(tool_map *map, const u9_damage *damage);
void tool_map_stretch(tool_map *map, const u9_stretch *stretch);
void tool_map_release(tool_map *map);

/* On `out`: a line for each file, those that are whole in a row in one; `colour`: with escapes. */
void tool_map_put(FILE *out, const tool_map *map, unsigned columns, int colour);

/* The page, to a new file or ("-") standard output. 0, or an errno. */
int tool_map_page(const char *file, const tool_map *map, const tool_lost *lost, const char *path,
                  const u9_report *report);

/* "corrupt". Static. */
const char *tool_cell_name(tool_cell cell);

#endif
