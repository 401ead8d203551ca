/*
 * engine/check/carving.h: segments in bytes that are no log: what was found of each, by its boundary. [U-6] [U-7] [U-9]
 *
 *     u9i_carve_scan -> kin by boundary, their whole frames, places of broken ones
 *     u9i_carve_know -> secrets, what their first frames say
 *     u9i_carve_join -> frames in two pieces; each kin's frames in order, none twice
 *     u9i_carve_hold -> of these, none that may be a record's bytes; broken ones that are proven (u9i_carve_mend)
 *     u9i_carve_part -> kin of the same boundary, where a copy went on otherwise
 *
 * A secret proves itself, as its boundary is its hash; a frame proves itself by its own hash, and, where the secret is
 * known, by its signature. What stands inside a whole frame is never looked at;
 * what may stand inside a broken one is believed only on the word of something outside.
 */
#ifndef U9I_CARVING_H
#define U9I_CARVING_H

#include "engine/os/env.h"
#include "format/frame/control.h"
#include "format/frame/frame.h"

#include <u9/carve.h>

/* Bytes that are looked through. */
typedef struct u9i_image {
    char name[256];
    u9i_file *file;
    uint64_t size;
    uint64_t missed; /* bytes of the last look that failed; 0: none did */
} u9i_image;

/* A block of an image, of which a few bytes were asked for: others will be, as a rule. */
typedef struct u9i_glance {
    uint64_t at;
    uint32_t image;
    size_t size; /* 0: nothing was read */
    uint8_t bytes[U9I_BLOCK];
} u9i_glance;

enum { U9I_GLANCES = 8 };

/* A frame: in one piece, or up to `split` at `at` and from there on at `rest`. */
typedef struct u9i_fragment {
    uint64_t offset, end; /* in its segment, without its padding */
    uint64_t at, rest;    /* in these images */
    uint64_t split;       /* offset in the segment; `end`: it is in one piece */
    uint32_t image, rest_image;
    uint64_t previous, ordinal;
    uint64_t behind;      /* weight of what follows it, frame by frame: settled frames have it */
    uint64_t after;       /* the most of what is behind those that follow it, and one more; 0: none does */
    bool held;            /* it may be in another's record: */
    bool counts;          /*   it is not, or one that counts says that it is one of its segment's */
    bool mended;          /* it is damaged, and was put together to prove it */
    uint8_t sha[U9I_HASH_SIZE], signature[U9I_HASH_SIZE], chain[U9I_HASH_SIZE];
} u9i_fragment;

/* A header without the rest of its frame. */
typedef struct u9i_wound {
    uint64_t at;
    uint32_t image;
    bool healed;
    bool known;      /* its frame counts as it stands: how far it goes is no question */
    bool dark;       /* some of what is behind it cannot be read: perhaps the frame is whole */
    uint64_t offset; /* in its segment; 0: not known */
    uint64_t tried;  /* where it was tried in vain whether its rest ends: in this image; 0: nowhere yet */
    uint32_t tried_image;
} u9i_wound;

/* All that has one boundary: a segment, or something that looks like one. */
typedef struct u9i_kin {
    uint8_t boundary[U9I_HASH_SIZE];
    bool proven;       /* the secret is known: */
    u9i_secret secret;
    u9i_fragment *frames;
    size_t count, room;
    size_t others;     /* frames behind these that are in none of their places: it went on otherwise, in a copy */
    unsigned line;     /* 0, or it is such a line, of a kin with the same boundary: the first, the second ... */
    uint64_t rejoined;
    bool has_open;     /* its first frame is a u9open: */
    u9i_open_record open;
    bool aside;        /* it is a mark, or an index beside a segment: no segment */
    bool has_log;      /* it is known to be of this log, with this number: */
    uint8_t log[16];
    uint64_t number;
    bool has_header;   /* its disk header stands at: */
    uint32_t header_image;
    uint64_t header_at;
    bool held;         /* all of it may be in others' records: it stands apart */
} u9i_kin;

/* A segment's last frame, as the u9open of the next one names it, and its end. */
typedef struct u9i_named_end {
    uint8_t boundary[U9I_HASH_SIZE], sha[U9I_HASH_SIZE];
    uint64_t offset, ordinal;
} u9i_named_end;

/* Bytes of an image. */
typedef struct u9i_image_span {
    uint32_t image;
    uint64_t from, to;
} u9i_image_span;

/* A place beside a frame in a row where nothing was found. */
typedef struct u9i_row_gap {
    u9i_kin *kin;
    u9i_fragment frame;
    uint64_t low; /* 0: behind the frame, where the row ends; else in front of it, down to this offset */
    bool known;   /* a frame that belongs there was found elsewhere: nothing is missing, and others come first */
} u9i_row_gap;

typedef struct u9i_carving {
    const u9_carve_options *options;
    u9_carve_report *report;
    u9_fault *fault;
    u9i_env *env;
    const char *path;
    u9i_dir *dir;
    u9i_image *images;
    size_t image_count, image_room;
    u9i_kin *kin;
    size_t kin_count, kin_room;
    uint32_t *table; /* of kin by boundary: index + 1; 0: free */
    size_t table_size;
    u9i_wound *wounds;
    size_t wound_count, wound_room;
    u9i_named_end *ends; /* what segments that are not held name, in order */
    size_t end_count;
    u9i_image_span *whole; /* all frames in one piece, by place, while it is looked for what holds what */
    size_t whole_count;
    u9i_image_span *mended; /* frames that were put together in one look at the gaps */
    size_t mended_count, mended_room;
    u9i_glance *glances; /* U9I_GLANCES */
    uint8_t *chunk;   /* what is looked through */
    uint8_t *frame;   /* a frame that is looked at, and room for the half of another */
    uint64_t left;    /* bytes that may still be hashed */
    uint64_t tries;   /*   and such that may be hashed, or compared, in search of what is in two pieces */
    uint64_t done, all;
} u9i_carving;

/* Opens all that is to be looked through. On failure release it all the same. */
U9_MUST_CHECK u9_err u9i_carve_open(u9i_carving *carving);
void u9i_carve_release(u9i_carving *carving);

U9_MUST_CHECK u9_err u9i_carve_scan(u9i_carving *carving);
U9_MUST_CHECK u9_err u9i_carve_know(u9i_carving *carving);
U9_MUST_CHECK u9_err u9i_carve_join(u9i_carving *carving);
U9_MUST_CHECK u9_err u9i_carve_hold(u9i_carving *carving);

/* True if a segment that is not held names this frame as this one's last. */
bool u9i_carve_is_named(const u9i_carving *carving, const u9i_kin *kin, const u9i_fragment *fragment);

/* An end behind this offset that a segment that is not held names for this one; NULL: there is none. */
const u9i_named_end *u9i_carve_named_behind(const u9i_carving *carving, const u9i_kin *kin, uint64_t offset);

/* Where a broken frame stands behind one with which its row ends, at its end or the next block; 0: at neither. [F-8] */
uint64_t u9i_carve_behind(const u9i_carving *carving, const u9i_kin *kin, const u9i_fragment *fragment,
                          uint8_t header[U9I_FRAME_HEADER_SIZE]);

/* Lists them: there is room for all frames. */
void u9i_carve_list_whole(u9i_carving *carving, u9i_image_span *whole);

/* Puts frames together that are missing in these places, once. *any: there were some. */
U9_MUST_CHECK u9_err u9i_carve_mend(u9i_carving *carving, const u9i_row_gap *gaps, size_t count, bool *any);

/* By offset and hash, and copies in the order in which they stand. */
void u9i_carve_sort(u9i_fragment *frames, size_t count);

/* Of frames in that order the first at this offset with this hash; NULL: there is none. */
u9i_fragment *u9i_carve_find(u9i_fragment *frames, size_t count, uint64_t offset, const uint8_t sha[U9I_HASH_SIZE]);

/* Puts a kin's frames in order, each place once; its others come behind them. `list`: room for all of them. */
void u9i_carve_settle(const u9i_carving *carving, u9i_kin *kin, u9i_fragment *list);

/* Makes kin of what the others are, each with the frames that lead to it. No kin is found by its boundary but the first. */
U9_MUST_CHECK u9_err u9i_carve_part(u9i_carving *carving);

/* Told of a trailer: bytes at `at` of an image, which end a payload. */
typedef u9_err u9i_trailer_fn(u9i_carving *carving, uint32_t image, uint64_t at, const u9i_trailer *trailer);

/* Tells how far it is; U9_STATE: it is to stop. */
U9_MUST_CHECK u9_err u9i_carve_tell(u9i_carving *carving, uint64_t done);

/* Looks once more through all, for trailers, wherever they stand. */
U9_MUST_CHECK u9_err u9i_carve_trailers(u9i_carving *carving, u9i_trailer_fn *each);

/* The kin with this boundary, made if need be; NULL: there is none, or no memory. */
u9i_kin *u9i_carve_kin(u9i_carving *carving, const uint8_t boundary[U9I_HASH_SIZE], bool make);

/* Adds a frame. False: no memory. */
bool u9i_carve_add(u9i_kin *kin, const u9i_fragment *fragment);

/* Drops all frames that begin in [from, to) of an image; none of the headers behind `from` says anything then. */
void u9i_carve_drop(u9i_carving *carving, uint32_t image, uint64_t from, uint64_t to);

/* Reads n bytes, few ones with their block, which is kept; false: they are not all there. */
bool u9i_carve_read(const u9i_carving *carving, uint32_t image, uint64_t at, void *bytes, size_t n);

/* Reads a frame, header and payload, into carving->frame. */
bool u9i_carve_fetch(const u9i_carving *carving, const u9i_fragment *fragment);

/* Where a frame's padding ends. */
static inline uint64_t u9i_fragment_end(const u9i_fragment *f)
{
    return f->end + u9i_padding(f->end);
}

/* The next multiple of 4096, where a frame stands that does not follow at once. [F-8] */
static inline uint64_t u9i_carve_block(uint64_t offset)
{
    return (offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
}

/* What a trailer says fits a frame's place: F-6 g, but that it is there. */
bool u9i_carve_trailer(const uint8_t bytes[U9I_TRAILER_SIZE], u9i_trailer *out);

u9_err u9i_carve_no_memory(const u9i_carving *carving);

#endif
