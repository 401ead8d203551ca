/*
 * engine/segment/probe.h: the facts of one file, from its first and its last block: header, secret, u9open,
 * u9trim, u9end; and what its place in the row of segments adds to them. [H-4] [H-5] [S-1] [S-4] [C-5] [L-4]
 */
#ifndef U9I_PROBE_H
#define U9I_PROBE_H

#include "engine/os/env.h"
#include "engine/segment/window.h"
#include "format/frame/control.h"

/* A stretch of a file, and how many records are lost with it. */
typedef struct u9i_span_lost {
    uint64_t begin, end; /* end 0: none */
    uint64_t lost;       /* U9_NOWHERE: not known */
    uint64_t ordinal;    /* of the first one, where it is known: behind a named end [L-9] */
} u9i_span_lost;

/* A search in vain for what is in front of a file's first valid frame: once is enough, while it knew the same. [Y-5] */
typedef struct u9i_vain {
    bool tried;
    uint8_t boundary[U9I_HASH_SIZE]; /* of the secret that it was by; */
    bool framed;                     /* there is such a frame; else it knew */
    u9i_position end;                /*   this end, or none */
} u9i_vain;

typedef struct u9i_facts {
    uint64_t number;    /* what its u9open says, or who names it; else as in its name [L-2] */
    uint64_t in_name;   /* 0: it has no segment's name, or that of number 0 */
    char name[256];
    u9i_stamp stamp;    /* the file, when it was looked at */
    uint64_t size;      /* bytes, then */
    u9_err header;      /* what the disk header is: U9_OK, U9_CORRUPT, U9_VERSION [H-4] */
    bool mends;         /* asked for: the boundary is found without the secret, if need be [G-2] */
    bool mends_frames;  /* asked for: damaged headers and trailers of frames are mended [Y-1] */
    u9i_secret secret;  /* from the header, or from a spare copy (header is not U9_OK then) [H-5] */
    bool bare;          /* no frame is valid, with a trailer or without [E-4] */
    bool barren;        /* and the header is damaged: perhaps no segment at all */
    unsigned boundaries; /* so many were found without the secret; of several none is believed */
    bool blank;         /* a creation cut short [L-4] */
    bool plain;         /* a plain seed file: no trailers, no promises, no u9open [E-1] */
    bool stray;         /* no regular file, or nothing in it is a segment's [L-4]: */
    bool no_file;       /*   a directory, a FIFO, a link to nothing: */
    bool gone;          /*     nothing, since it was listed; while a directory is looked at */
    bool spared;        /* the secret is a copy from another segment or the mark [H-5] */
    uint8_t at_first[U9I_HASH_SIZE]; /* where the first frame's boundary stands */
    char kind[U9I_KIND_MAX + 1];     /* of the keys, as its u9open or u9end tells; "" if neither does */
    bool has_open;      /* the first frame is a valid u9open: */
    u9i_open_record open; /* (its `kind` is not kept) */
    uint64_t open_us;   /* the time of its frame, which no frame before it is above; the clock it tells may be back [F-4] */
    bool has_trim;      /* behind it stands a valid u9trim: [C-5] */
    u9i_trim_record trim;
    bool has_end;       /* the last block is a valid u9end frame, or what u9i_probe_seal found is there: */
    u9i_end_record end; /*  (its spans are not kept) */
    u9i_frame end_frame; /* (its body is not kept) */
    bool has_spare;     /* the last block is zeros: they may be cut [S-7] */
    u9i_vain vain[2];   /* what was not found, where frames are mended: without an end, and by one */
    int unread;         /* errno: the first frame or the last block cannot be read; 0: they can */
    uint64_t unread_at; /*   from here on; 0: nor can the header */

    /* From the other segments: see u9i_catalog. */
    bool first;         /* the log begins here [L-5] */
    bool newest;        /* the last of the row: a writer may be at it */
    bool is_void;       /* not on the row, and nothing in it was promised [L-3] */
    bool called;        /* a u9open or the mark names it [L-4] */
    bool misnamed;      /* its name has another number [L-2] */
    bool sealed_before; /* the segment before it is sealed: its u9open was durable */
    bool named;         /* a later u9open names an end of it: */
    u9i_position at;
    u9i_tail tail;
    u9_reason wrong;    /* FOREIGN: not of this log; NAME: another file's copy; FORK: off the row; UNREADABLE: its secret
                         * is not to be had; none is read */
    u9i_span_lost fork; /* records that were promised, and are off the row: behind `at`, or of this file [L-9] */
    bool marked;        /* the log's mark says that this one is durable up to: [M-4] */
    u9i_position mark;
} u9i_facts;

/* What a later segment's u9open or the mark names: a boundary, a copy of its secret, an end of that file. [H-5] [C-3] */
typedef struct u9i_spare {
    const uint8_t *boundary, *secret; /* borrow, */
    const u9i_position *end;          /*   as does this */
} u9i_spare;

/*
 * Looks at the file that the window is on; `facts` has its name, stamp, `newest` and `mends`. `spares` are
 * tried, in this order, where the header opens nothing. U9_IO, U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_probe(u9i_facts *facts, u9i_dir *dir, u9i_window *window,
                               const u9i_spare *spares, size_t spare_count);

/*
 * Looks for a seal behind which something stands: a u9end of kind 2 that is the file's last valid frame. If there is
 * one, it is the facts' from now on. The window is on the file, with its secret; time is that of reading the file from
 * its end to that frame. U9_IO, U9_NOMEM. [S-6]
 */
U9_MUST_CHECK u9_err u9i_probe_seal(u9i_facts *facts, u9i_window *window);

/* First and last key in a segment's u9end, as values: each with room for U9I_KEY_MAX + 16 bytes. */
typedef struct u9i_end_keys {
    uint8_t key[2][U9I_KEY_MAX + 16];
    size_t size[2];
} u9i_end_keys;

/* Reads them again. facts->has_end. U9_CORRUPT: the u9end is not there any more. U9_IO. */
U9_MUST_CHECK u9_err u9i_probe_end_keys(const u9i_facts *facts, u9i_window *window, u9i_end_keys *out);

/* True if a u9end that seals it stands in its last block, or in front of what is behind a seal. [S-6] */
bool u9i_facts_sealed(const u9i_facts *facts);

/* True if reading passes this segment by: void, or a creation cut short. [L-3] [L-4] */
bool u9i_facts_skipped(const u9i_facts *facts);

/*
 * True if two looks at one file, which is as it was, say the same of it, and others do: what stands in it follows from
 * its secret.
 */
bool u9i_facts_same(const u9i_facts *a, const u9i_facts *b);

/* True if mending in front of the first valid frame, by this secret and all that is known now, was in vain. [Y-5] */
bool u9i_facts_vain(const u9i_facts *facts, const u9i_secret *secret);

/* True if it is of the row, whose records are read. [L-2] */
bool u9i_facts_on_row(const u9i_facts *facts);

/* "%016x.u9" [L-1]; `out` has 20 bytes. */
void u9i_segment_name(uint64_t number, char out[20]);

/* The name of the index file beside the segment's file of this name; `out` has 256 bytes. [K-4] */
enum { U9I_INDEX_NAME = 256 };
void u9i_index_name(const char *segment, char out[U9I_INDEX_NAME]);

/* True if that is a segment's name, and the number in it, which may be 0. */
bool u9i_segment_named(const char *name, uint64_t *number);

/* The number in a segment's name, 0 if it is none. */
uint64_t u9i_segment_number(const char *name);

#endif
