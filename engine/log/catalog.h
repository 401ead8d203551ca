/*
 * engine/log/catalog.h: the segments of a log in a row: which there are, which are void, and where each one's
 * data end by the word of its successor. [L-1] to [L-4] [S-6]
 *
 * A catalog is an immutable snapshot, counted, made by listing the directory and looking at the first and the
 * last block of each segment. A source is what a handle reads from: the directory, the catalog of it that is
 * current, and windows to lend; cursors, lookups, check and salvage share it. It lists the directory each time
 * it is asked, and where nothing changed gives the same catalog; where something did, the new one has the same
 * segments, with all that was judged of them, for the files that are as they were. Nothing on disk is changed.
 *
 * Threads: any.
 */
#ifndef U9I_CATALOG_H
#define U9I_CATALOG_H

#include "engine/log/live.h"
#include "engine/log/mark.h"
#include "engine/segment/iterator.h"
#include "format/base/fault.h"

/* A segment that must be there and is not. [L-4] */
typedef struct u9i_missing {
    uint64_t number;
    size_t before; /* index of the segment in the row that comes behind it */
    bool marked;   /* it is the mark's, which says up to where it was durable [M-4] */
} u9i_missing;

/* A stretch of a segment that belongs to a branch: the valid frames that begin in [begin, end). */
typedef struct u9i_piece {
    size_t segment;      /* index in the catalog's segments; of the row only as a branch's first piece */
    uint64_t begin, end; /* U9_NOWHERE: the end of the file */
} u9i_piece;

/*
 * What went on from a copy of the log, and holds promised records that are off the row. [L-9] Salvage can take it
 * apart from the row, piece after piece:
 *
 *     for (size_t b = 0; b < c->branch_count; b++)
 *         for (size_t i = 0; i < c->branches[b].count; i++)
 *             ... c->pieces[c->branches[b].first + i] ...
 */
typedef struct u9i_branch {
    size_t first, count;  /* its pieces, from where it leaves the row to its end; count is at least 1 */
    size_t leaves;        /* the segment behind whose `at` it goes on, of the row or of another branch; */
    u9i_position at;      /*   U9I_NOT_THERE: that is not there */
} u9i_branch;

#define U9I_NOT_THERE SIZE_MAX

typedef struct u9i_catalog {
    atomic_uint references;
    u9i_segment **segments; /* ascending numbers; those that are not read are among them: see u9i_facts */
    size_t count;
    u9i_missing *missing;
    size_t missing_count;
    u9i_mark mark;               /* as it was read before the directory was listed [M-3] */
    u9i_live live;               /* what a writer had posted before that [M-10]; zeros: nothing, or it is not asked for */
    bool marks;                  /* it promises something of this log [M-4] */
    bool older;                  /* the row ends with a seal, of which it is older [L-2] */
    bool aside;                  /* a repair was broken off while files had a name between two [U-3] */
    size_t untold;               /* records may be lost that no segment's index tells of, in one that is missing, or not read: of
                                  * the segment that stands behind the last of these the index, and 1; 0: there are none */
    u9i_branch *branches; /* those with the highest numbers first */
    size_t branch_count;
    u9i_piece *pieces;
    size_t piece_count;
    u9i_trim_record trim;        /* the u9trim that counts; segment 0: there is none [C-5] */
    bool trim_marked;            /* only the mark says so: the next session begins a segment that does [L-10] */
    uint64_t next;               /* the number of a new segment; 0: no number is left [L-9] */
    uint8_t log[16];             /* the log's id [L-2] */
    char kind[U9I_KIND_MAX + 1]; /* "" if no u9open could be read: */
    const char *like;            /*   a kind that its first record's key may be of, or "" [L-6] */
} u9i_catalog;

/*
 * A segment of which a cursor has just shown a record that is read where it stands: trimmed or not, as long as the cursor is
 * there. `segment` NULL: none.
 */
typedef struct u9i_held {
    u9i_segment *segment; /* counted */
    struct u9i_held *next;
} u9i_held;

typedef struct u9i_source {
    u9i_dir *dir;
    char *path;
    u9i_windows windows;
    bool mends, mends_frames; /* set before the first catalog: see u9i_facts */
    bool accepts; /* what is lost at the end of the row is given up: see u9i_source_accept */
    u9i_trim_record explained; /* goes for a u9trim: see u9i_source_explain; segment 0: nothing does */
    pthread_mutex_t lock; /* guards what follows */
    u9i_catalog *current; /* NULL: none yet */
    u9i_held *held;       /* borrows */
} u9i_source;

/*
 * Opens a directory, or a single segment file; `create` makes a missing directory. U9_IO, U9_NOMEM, U9_CORRUPT
 * (neither a directory nor a regular file). On failure nothing is held.
 */
U9_MUST_CHECK u9_err u9i_source_open(u9i_source *source, u9i_env *env, const char *path, bool create,
                                     u9_fault *fault);
/*
 * From now on catalogs go as if the mark promised nothing, nor a seal in the last segment that the next one is
 * there: the log's id and a spare secret it gives all the same, and numbers go on above it. [M-9] Nobody holds a
 * catalog.
 */
void u9i_source_accept(u9i_source *source);

/*
 * From now on catalogs go as if this u9trim stood in the log: its oldest segments were removed by hand, and its next
 * session says so. [L-10] Nobody holds a catalog.
 */
void u9i_source_explain(u9i_source *source, const u9i_trim_record *trim);

void u9i_source_close(u9i_source *source); /* all catalogs and windows are back, nothing is held */

/* What was held in `held` is no longer; from now on this is, or (NULL) nothing. */
void u9i_source_hold(u9i_source *source, u9i_held *held, u9i_segment *segment);
/* A reference to a held segment of the row; NULL: none has that number. */
u9i_segment *u9i_source_held(u9i_source *source, uint64_t number);

/*
 * A reference to the catalog of what is there now; an empty directory gives an empty one. U9_IO, U9_NOMEM,
 * U9_VERSION (a segment of a later version).
 */
U9_MUST_CHECK u9_err u9i_source_catalog(u9i_source *source, u9i_catalog **out, u9_fault *fault);
void u9i_catalog_unref(u9i_catalog *catalog); /* NULL is fine */

static inline const u9i_facts *u9i_catalog_facts(const u9i_catalog *catalog, size_t index)
{
    return &catalog->segments[index]->facts;
}

/* True if what is read is a plain seed file, or several. [E-4] */
bool u9i_catalog_plain(const u9i_catalog *catalog);

/* The index of the row's first segment; the count if there is none. */
size_t u9i_catalog_first(const u9i_catalog *catalog);

/* The ordinal at which what the log keeps of the segments from this number on begins: one that it trimmed may stand yet. */
uint64_t u9i_catalog_kept(const u9i_catalog *catalog, uint64_t number);

/* True if the oldest segments are missing, nothing says that they were trimmed, and nothing else is missing. [L-4] */
bool u9i_catalog_begins_late(const u9i_catalog *catalog);

/*
 * What stands in the place of a segment that is missing, and is no file; NULL: nothing does. The segment may be where a
 * link leads to, so nothing is given up before it is put back. [L-4]
 */
const u9i_facts *u9i_catalog_stand_in(const u9i_catalog *catalog);
/* U9_CORRUPT, and the fault names it, where there is such a thing, or a file that a repair was giving another name; else U9_OK. */
U9_MUST_CHECK u9_err u9i_source_refuse_stand_in(const u9i_source *source, const u9i_catalog *catalog, u9_fault *fault);

/* Path of a segment's file, for messages. Returns `out`. */
const char *u9i_source_path(const u9i_source *source, const char *name, char *out, size_t size);

/* Turns an error of an iterator on this segment into a fault. Returns err. */
u9_err u9i_source_fault(const u9i_source *source, const u9i_iterator *iterator, u9_err err,
                        u9_fault *fault);

/* A judge's site as a u9_damage; its path is written to `path` and borrows it. */
u9_damage u9i_source_damage(const u9i_source *source, const u9i_facts *facts,
                            const u9i_damage_site *site, char *path, size_t size);

/* Opens an iterator on a segment of the source, with the failure told. */
U9_MUST_CHECK u9_err u9i_source_iterate(u9i_source *source, u9i_segment *segment,
                                        const u9i_position *before, bool knows_chain,
                                        u9i_iterator *out, u9_fault *fault);

#endif
