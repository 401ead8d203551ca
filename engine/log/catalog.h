/*
 * engine/log/catalog.h: the segments of a log in a row: which there are, which are void, and where each one's
 * data end by the word of its successor. [L-1] to [L-4] [S-6]
 *
 * Made by listing the directory and reading the first and the last block of each segment; a snapshot,
 * some hundred bytes a segment. Nothing is changed.
 */
#ifndef U9I_MAP_H
#define U9I_MAP_H

#include "format/base/fault.h"
#include "engine/os/env.h"
#include "engine/segment/window.h"
#include "format/frame/control.h"

typedef struct u9i_facts {
    uint64_t number;
    char name[256];
    uint64_t size;      /* bytes, when the map was made */
    u9_err header;      /* what the disk header is: U9_OK, U9_CORRUPT, U9_VERSION [H-4] */
    u9i_secret secret;      /* from the header, or from a spare copy (header is not U9_OK then) [H-5] */
    bool barren;        /* the header is damaged and no frame is valid: perhaps no segment at all */
    bool blank;         /* a creation cut short [L-4] */
    bool has_open;      /* the first frame is a valid u9open: */
    u9i_open_record open;      /*   (its `kind` is not kept) */
    bool has_end;       /* the last block is a valid u9end frame: */
    u9i_end_record end;      /*   (its spans are not kept) */
    u9i_frame end_frame; /*  (its body is not kept) */
    bool is_void;       /* a later u9open leaves it out [L-3] */
    bool sealed_before; /* the segment before it is sealed: its u9open was durable */
    bool named;         /* a later u9open names an end of it: */
    u9i_position at;
    u9i_tail tail;
    u9_reason wrong;    /* U9_R_FOREIGN: not of this log, or not in this place [L-4] */
} u9i_facts;

/* A segment that must be there and is not. [L-4] */
typedef struct u9i_missing {
    uint64_t number;
    size_t before; /* index of the segment in the row that comes behind it */
} u9i_missing;

typedef struct u9i_catalog {
    u9i_dir *dir; /* borrows */
    char path[4096];
    u9i_facts *segments; /* ascending numbers */
    size_t count;
    u9i_missing *missing;
    size_t missing_count;
    u9i_trim_record trim;                 /* the highest, if it was looked for: see is_trimmed */
    uint8_t log[16];               /* the log's id, from the first u9open */
    char kind[U9I_KIND_MAX + 1];   /* "" if no u9open could be read */
    uint8_t end_key[2][U9I_KEY_MAX + 16]; /* first and last key in the last segment's u9end, as values */
    size_t end_key_size[2];
} u9i_catalog;

/*
 * Makes the map of what is in `dir`. An empty directory gives an empty map. U9_IO, U9_NOMEM,
 * U9_VERSION (a segment of a later version), U9_CORRUPT (a single file that is not a segment).
 */
U9_MUST_CHECK u9_err u9i_catalog_load(u9i_catalog *map, u9i_dir *dir, const char *path, u9_fault *fault);
void u9i_catalog_release(u9i_catalog *map);

/* Path of a segment's file, for messages. Returns `out`. */
const char *u9i_catalog_path(const u9i_catalog *map, const u9i_facts *segment, char *out, size_t size);

/* "%016x.u9" [L-1]; `out` has 20 bytes. */
void u9i_segment_name(uint64_t number, char out[20]);

/* The number in a segment's name, 0 if it is none. */
uint64_t u9i_segment_number(const char *name);

#endif
