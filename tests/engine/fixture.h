/*
 * tests/engine/fixture.h: the verbs that the engine's tests are written in.
 *
 * A test works in a fresh directory below U9_TEST_DIR, or in one of the same name on a simulated disk. Logs are
 * named by short names in it. Every log that is read through look() is also read by the second reader,
 * which must agree.
 */
#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H

#include <check.h>
#include <u9.h>

#include "format/frame/control.h"
#include "tests/engine/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Setup and teardown of a Check fixture: makes and removes the test's directory. The others begin a simulated
 * world first, from U9_SEED or 9, and the directory is in it: all verbs here and writer_options() then
 * work on it. Where U9_IO is the address of a store (`make test-rados`) all stand in that, and what asks for the simulated
 * disk itself ends there: tests/sim/needed.h.
 */
void fixture_setup(void);
void fixture_setup_sim(void);
void fixture_setup_sim_threads(void);
void fixture_teardown(void);

/* "<test directory>/<name>"; valid until 16 more calls. */
const char *at(const char *name);

/* "<log>/<%016x.u9>" */
const char *segment_path(const char *log, uint64_t number);

/* The env for a path: "sim", or NULL, which is that of the run (U9_IO). */
const char *io_of(const char *path);

/* Options for a writer with the env of the test's directory, policy commit. */
u9_options writer_options(void);

u9_log *open_writer(const char *log, const u9_options *options); /* NULL: writer_options() */
u9_log *open_reader(const char *log);
void close_log(u9_log *log); /* expects U9_OK */

/* Appends one record whose value is this text; returns its ordinal. */
uint64_t append_text(u9_log *log, const char *text);
/* Appends a record with one bytes value. */
uint64_t append_bytes(u9_log *log, const void *bytes, size_t size);
/* Appends `count` records "<prefix><i>", and syncs after each `every` (0: never). */
void append_many(u9_log *log, const char *prefix, unsigned count, unsigned every);
/* A whole session: open, append_many, close. */
void session(const char *log, const char *prefix, unsigned count, unsigned every);

/* What a log shows when it is read. */
typedef struct seen_record {
    uint64_t ordinal, segment, frame;
    char *text; /* its first value if that is utf8 or bytes, NUL added */
    size_t text_size;
    uint8_t *bytes; /* the whole tuple */
    size_t size;
} seen_record;

typedef struct seen {
    seen_record *records;
    size_t count;
    u9_damage *damages; /* paths are copies */
    size_t damage_count;
    u9_report report; /* of u9_check */
    u9_err err;       /* what opening for reading returned */
} seen;

/*
 * Reads a log with a cursor and with u9_check, and with the second reader: all must tell the same records,
 * and u9_check and the second reader the same damages. The path may be a single segment.
 */
seen *look(const char *path);
void forget(seen *s);

/* How many damages with this verdict (and reason, if not U9_R_NONE). */
size_t count_damages(const seen *s, u9_verdict verdict, u9_reason reason);

/* True if a record with this text is there. */
bool has_text(const seen *s, const char *text);

/* Frames of a segment file as it stands, found by the second reader's eyes: offsets, ascending. */
size_t frame_offsets(const char *path, uint64_t *out, size_t max);

/*
 * Ends a session as a crash would: what stands in the log's files now stays, and nothing of a close
 * gets there. The handle is gone.
 */
void crash(u9_log *writer, const char *log);

/* Writer options with the smallest segments: files and reservations stay small. */
u9_options small_options(void);

/* The keys of the file whose disk header stands at `path`. */
u9i_secret keys_of(const char *path);

/* A frame of a file, as the rule of the valid frame [F-6] sees it. */
typedef struct seen_frame {
    uint64_t offset, end; /* [offset, end), padding included */
    uint64_t length;      /* of its payload */
    uint32_t count;
    uint64_t ordinal, previous, durable;
    bool is_end;          /* it holds a u9end */
} seen_frame;

/* The valid frames in `bytes`, ascending. Returns how many, at most `max`. */
size_t list_frames(const uint8_t *bytes, size_t size, seen_frame *out, size_t max);
/* Those of a file. */
size_t frames_in(const char *path, seen_frame *out, size_t max);

/*
 * A segment made by hand, frame by frame, whose hashes, chain and numbers fit unless a test forges
 * them. `next` is the trailer of the next frame: a test may change it first; `offset` and `count` are
 * filled in when the frame is made.
 */
typedef struct forged_segment {
    uint8_t *bytes;
    size_t size; /* bytes made so far: a frame's end, or a block's */
    size_t room; /* at `bytes`: FORGED_ROOM, unless forge_grow made it more */
    u9i_secret secret;
    uint64_t number;
    u9i_trailer next;
    uint64_t end; /* behind the last frame */
    uint64_t frames, records, data_end;
    const char *kind;
} forged_segment;

enum { FORGED_ROOM = 1 << 20 };

/*
 * Begins segment `number` with a u9open that names the end of `before` (NULL: it is the log's first),
 * judged as `tail`. The secret is made from `number` and `seed`. Free it with forge_free.
 */
forged_segment forge_begin(uint64_t number, unsigned seed, const forged_segment *before,
                           u9i_tail tail);
/* The same with a given u9open, but for its end chain where it names none. */
forged_segment forge_with_open(uint64_t number, unsigned seed, const u9i_open_record *open);
/* What the u9open of a successor says of `before`. */
u9i_open_record forge_naming(uint64_t number, const forged_segment *before, u9i_tail tail);

/* Puts a frame with this body at the next place; returns its offset. */
uint64_t forge_frame(forged_segment *s, const void *body, size_t size, uint32_t count);
/* Makes room for `room` bytes. */
void forge_grow(forged_segment *s, size_t room);
/* A frame with this u9part. */
uint64_t forge_part(forged_segment *s, const u9i_part_record *part, uint32_t count);
/* A frame with `count` records "<prefix><ordinal>". */
uint64_t forge_records(forged_segment *s, const char *prefix, uint32_t count);
/* An empty frame that promises everything so far. */
uint64_t forge_promise(forged_segment *s);
/* Zeros up to the next block. */
void forge_pad(forged_segment *s);
/* A u9end in a block of its own. */
void forge_end(forged_segment *s, u9i_end_kind kind);
/* Makes hashes and signature of the frame at `p` fit its payload, and the chain of the next frame. */
void forge_mend(forged_segment *s, uint64_t p);
/* Writes it into the log, whose directory is made if need be. */
void forge_save(const forged_segment *s, const char *log);
void forge_free(forged_segment *s);

/* Writes one record with a muid made of `n` and one value into `out`; returns its size. */
size_t record_bytes(uint8_t *out, uint64_t n, const void *text, size_t size);

#endif
