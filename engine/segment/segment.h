/*
 * engine/segment/segment.h: one file of a log, shared by all that read it: its facts, the descriptor while
 * somebody reads, and what was judged of it so far.
 *
 * A segment remembers the judgement as extents in a row: runs of frames that follow one another, damage, the
 * end. They are added at one place, the frontier, by whoever gets there first, and hold for all others, who
 * only go over them (iterator.h). What a live writer may still change is not remembered: the end of a file that
 * no other names, and damage that nothing promised condemns.
 *
 *     32                                            the frontier
 *     | frames ........ | damage | frames ..............|   not judged yet
 *
 * A frame that was found valid does not change: it is not hashed again while the segment is known. A sealed segment
 * does not change at all [S-6], nor does a closed one up to its end [S-3], nor one that was made sure of: it may be mapped, where there is a guard. A mapping lives as long as the segment: who
 * holds a reference may use it.
 *
 * Threads: any. Facts never change; a directory that changed gets new segments (catalog.h).
 */
#ifndef U9I_SEGMENT_H
#define U9I_SEGMENT_H

#include "engine/segment/judge.h"
#include "engine/segment/mapping.h"
#include "engine/segment/mended_file.h"
#include "engine/segment/outline.h"
#include "engine/segment/verified.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum u9i_extent_kind {
    U9I_EXTENT_FRAMES = 1, /* frames that follow one another, from `begin` on up to `end` */
    U9I_EXTENT_DAMAGE,     /* `site` */
    U9I_EXTENT_END         /* the data end; only of files whose end is named */
} u9i_extent_kind;

typedef struct u9i_extent {
    u9i_extent_kind kind;
    uint64_t begin, end;
    u9i_damage_site site;
} u9i_extent;

/* What a mapping is for: each has one of its own, since the kernel reads ahead in one and not in the other. */
typedef enum u9i_map_use { U9I_MAP_SCAN, U9I_MAP_LOOKUP, U9I_MAP_USES } u9i_map_use;

enum { U9I_EXTENTS_MAX = 4096 }; /* what more is found is judged by each reader for itself */

typedef struct u9i_segment {
    atomic_uint references;
    u9i_dir *dir; /* borrows */
    unsigned forks; /* generation of forks, when it was made */
    u9i_facts facts;
    u9i_verified verified;
    _Atomic(u9i_mapping *) maps[U9I_MAP_USES]; /* NULL: there is none, */
    atomic_bool map_tried[U9I_MAP_USES];       /*   or this is not set */

    pthread_mutex_t judging; /* held by who judges at the frontier; taken before `lock` */
    pthread_mutex_t lock;    /* guards what follows */
    u9i_file *file;          /* NULL: nobody reads */
    bool mended;             /* what can be is, and found in `mender`: `file` reads as if it stood there [Y-6] */
    u9i_mender mender;
    unsigned readers;
    u9i_extent *extents;
    size_t count, room;
    unsigned generation;     /* counts how often it was forgotten */
    u9i_stamp seen;          /* of the file, when somebody last came to it */
    bool settled;            /* what is read is on stable storage, and its name is */
    u9i_outline *outline;    /* NULL: none was made, or is any more */
    bool begun;              /* `frontier` is one: */
    u9i_judge frontier;      /* how the judge stood behind the last extent */
} u9i_segment;

/* With one reference; NULL without memory. `dir` outlives it. */
u9i_segment *u9i_segment_new(u9i_dir *dir, const u9i_facts *facts);
u9i_segment *u9i_segment_ref(u9i_segment *segment);
void u9i_segment_unref(u9i_segment *segment); /* NULL is fine */

/* The descriptor, opened by the first reader and closed by the last, also in a forked child. 0 or a negative errno. */
int u9i_segment_open(u9i_segment *segment, u9i_file **out);
void u9i_segment_close(u9i_segment *segment);

/*
 * Once, while it is open and before it is read, if facts.mends_frames: all of it is read, and damaged frames are put
 * together again, as long as it is known. `*out` is the file that is to be read. U9_IO (`*sys`: errno), U9_NOMEM. [Y-1]
 */
U9_MUST_CHECK u9_err u9i_segment_mend(u9i_segment *segment, u9i_windows *windows, u9i_file **out, int *sys);

/*
 * Once, while it is open and before it is read: syncs the file and its name, and drops what was judged of it, and what
 * is cached behind the last promise that is known; so what is read from then on is what a power cut would leave. 0 or a
 * negative errno.
 */
int u9i_segment_settle(u9i_segment *segment, u9i_windows *windows);

/* Somebody else has done that. */
void u9i_segment_note_settled(u9i_segment *segment);

/* That was done: nobody was writing to it then. */
bool u9i_segment_is_settled(u9i_segment *segment);

/*
 * Fills `out` with how the judge stands before the first frame of a file of `size` bytes; the frontier takes the
 * size up, too. A file that became smaller is judged anew. Returns the generation: what follows goes by it.
 */
unsigned u9i_segment_begin(u9i_segment *segment, u9i_windows *windows, uint64_t size, u9i_judge *out);

typedef enum u9i_known {
    U9I_KNOWN_EXTENT,   /* the extent is there, and ends where the next one begins */
    U9I_KNOWN_GROWING,  /* the last run of frames: it ends behind `pos`, and may grow */
    U9I_KNOWN_FRONTIER, /* nothing is known beyond: `frontier` says how the judge stands there */
    U9I_KNOWN_STALE     /* it was forgotten since: go by your own judgement */
} u9i_known;

/* What is known by the extent number `index`, of which all in front of `pos` was passed. */
u9i_known u9i_segment_recall(u9i_segment *segment, unsigned generation, size_t index, uint64_t pos,
                             u9i_extent *out, u9i_judge *frontier);

/*
 * Adds what a judge found in the round that it began at the frontier, with segment->judging held; `*index` is
 * then the last extent's. False: it is not to be remembered.
 */
bool u9i_segment_remember(u9i_segment *segment, unsigned generation, const u9i_judge *judge,
                          const u9i_round *round, size_t *index);

/* Who went through all of it says what stands there; takes the reference (NULL: nothing is said). */
void u9i_segment_give_outline(u9i_segment *segment, u9i_outline *outline);

/* A reference to it; NULL: there is none, or others have named another end since. */
u9i_outline *u9i_segment_outline(u9i_segment *segment);

/* Drops what was judged, and found valid: the file is not what it was. */
void u9i_segment_forget(u9i_segment *segment);

/* The same, if the file system says that the file has changed; of one that may still be written that is not asked. */
void u9i_segment_look(u9i_segment *segment);

/* The file is as it was for `before`, whatever other segments say of it now: what was found valid then is known. */
void u9i_segment_take_over(u9i_segment *segment, u9i_segment *before);

/* True if the file is complete, and nobody writes to it any more: its last block is a sealing u9end. [S-6] */
bool u9i_segment_sealed(const u9i_segment *segment);

/*
 * The file as memory, made at the first call and as long as the segment lives; NULL: the segment is not sealed, closed or settled, or
 * there is no guard, or it cannot be mapped, or it has broken. Who uses its bytes asks afterwards whether it broke.
 */
const u9i_mapping *u9i_segment_mapping(u9i_segment *segment, u9i_map_use use);

/*
 * The same for lookups, and also of a closed segment, of which a writer that goes on in it changes nothing in front of the
 * data end: the bytes of the whole file, of which `*size` tells how many there are. Nothing is read ahead in it: a frame that is not known to be verified is called for first, with u9i_segment_fetch.
 */
const uint8_t *u9i_segment_map(u9i_segment *segment, uint64_t *size);

/* True if something of its mappings could not be read: what was taken from them may have been zeros. */
bool u9i_segment_broken(const u9i_segment *segment);

/* [offset, offset + size) of the mapping for lookups will be read: comes from the disk in one piece. */
void u9i_segment_fetch(u9i_segment *segment, uint64_t offset, uint64_t size);

/*
 * Whether the frame that begins at `offset` was found valid since the segment is known, and that it was. A few
 * nanoseconds, no lock. Of plain files it is never true; where a segment is forgotten, it is no more.
 */
bool u9i_segment_is_verified(const u9i_segment *segment, uint64_t offset);
void u9i_segment_set_verified(u9i_segment *segment, uint64_t offset);

#endif
