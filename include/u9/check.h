/*
 * u9/check.h: is a log whole, what is lost, and saving the rest (SPEC.md, R-*).
 *
 * Three verdicts that are never confused: TORN is what a crash leaves behind at the end of a log
 * and costs only what was never acknowledged; CORRUPT is damage to bytes that had been promised
 * durable; UNKNOWN is damage at an unpromised end that does not look like a crash, or bytes that nothing
 * promised and the disk cannot read.
 */
#ifndef U9_CHECK_H
#define U9_CHECK_H

#include <u9/clause.h>
#include <u9/err.h>
#include <u9/mark.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum u9_verdict {
    U9_V_CLEAN = 0,
    U9_V_TORN = 1,
    U9_V_UNKNOWN = 2,
    U9_V_CORRUPT = 3
} u9_verdict;

/* Why bytes were not accepted, by the clause that refused them. Numbers are pinned. */
typedef enum u9_reason {
    U9_R_NONE = 0,
    U9_R_HEADER = 1,     /* disk header: magic, zero bytes, or a secret that fits nothing */
    U9_R_BOUNDARY = 2,   /* no boundary where a frame must begin */
    U9_R_MAGIC = 3,      /* frame magic */
    U9_R_LENGTH = 4,     /* length beyond the cap or the file */
    U9_R_OVERLAP = 5,    /* another boundary before the frame's end */
    U9_R_SIGNATURE = 6,  /* signed_sha is not H(frame_sha XOR secret) */
    U9_R_TRAILER = 7,    /* the trailer does not parse, or names another offset */
    U9_R_HASH = 8,       /* the payload does not hash to frame_sha */
    U9_R_FOLLOW = 9,     /* a valid frame that does not follow the one before it */
    U9_R_PADDING = 10,   /* padding behind a frame is not zero (no record is lost) */
    U9_R_FILL = 11,      /* bytes skipped up to the next block are not zero (no record is lost) */
    U9_R_BODY = 12,      /* hashes fit, but the body is not what SPEC.md allows */
    U9_R_CUT = 13,       /* the segment ends before an end that was promised */
    U9_R_MISSING = 14,   /* a segment is missing */
    U9_R_FOREIGN = 15,   /* a segment of another log, or in another's place */
    U9_R_UNCLOSED = 16,  /* the writer did not close: the end of the log is where its frames end */
    U9_R_SEAL = 17,      /* the index or seal behind a segment's end is unfinished or damaged */
    U9_R_BLANK = 18,     /* a segment's creation was cut short: nothing in it was ever promised */
    U9_R_FORK = 19,      /* promised records that the log's row of segments leaves out: the log was copied, and both went on */
    U9_R_MARK = 20,      /* the log ends before its mark, or (no record is lost) the mark is damaged */
    U9_R_UNREADABLE = 21, /* bytes there cannot be read from the disk */
    U9_R_PART = 22,      /* a record that stands in parts is not there as a whole */
    U9_R_NAME = 23,      /* a segment's file has another name than its number, or holds one that another file holds */
    U9_R_UNSIGNED = 24,  /* salvage: the secret is lost; frames were found without it, and are not authentic for sure */
    U9_R_TRIMMED = 25    /* no damage: segments were trimmed (u9/trim.h) before whoever reads came to them */
} u9_reason;

U9_API const char *u9_verdict_name(u9_verdict verdict);    /* "torn" */
U9_API const char *u9_reason_name(u9_reason reason);       /* "hash": one word, stable */
U9_API const char *u9_reason_text(u9_reason reason);       /* a sentence; static */
U9_API const char *u9_reason_rule(u9_reason reason);       /* the rule of SPEC.md: "F-9" */

/* One damaged place. Plain memory but for `path`, which borrows until the callback returns. */
typedef struct u9_damage {
    u9_verdict verdict;
    u9_reason reason;
    uint64_t segment;  /* its number, 0 for a single file whose number is unknown */
    const char *path;  /* the segment's file */
    uint64_t begin;    /* byte range [begin, end) in that file */
    uint64_t end;
    uint64_t ordinal;  /* first record that may be lost, U9_NOWHERE if not known */
    uint64_t lost;     /* how many records are lost; U9_NOWHERE: not known */
    int at_most;       /* not 0: `lost` is an upper bound */
    /* U9_R_PART only, else 0. */
    uint64_t part;       /* number of the part that is missing, the last of them if there are several, */
    uint64_t part_at;    /* and the offset in that file where its frame must begin */
    uint64_t part_lacks; /* bytes of the record that are missing; 0 if there are too many */
    uint64_t part_total; /* bytes of the record, as its parts say */
    int mended;        /* not 0: [begin, end) is a frame whose header, padding or trailer is damaged, for this reason. It
                        * was put together again, proven (SPEC.md, Y), and is served: nothing is lost, the file is as it was */
    u9_clause clause;  /* U9_R_MARK of a damaged slot: which clause refuses it; else none */
} u9_damage;

/* Told of each damage, in the order of the log. Must not call back into the same handle. */
typedef void u9_damage_fn(void *ctx, const u9_damage *damage);

/* What confirms the end of a log from outside of its segments (SPEC.md, M-4). */
typedef enum u9_mark_state {
    U9_MARK_NONE = 0, /* nothing: there is no mark, or nothing in it yet */
    U9_MARK_COUNTS,   /* its mark: a log that ends before it is CORRUPT */
    U9_MARK_SHARED,   /* nothing: its mark has other names (hard links), and may be a copy's */
    U9_MARK_FOREIGN,  /* nothing: its mark is of another log, or of a trimmed segment */
    U9_MARK_DAMAGED   /* nothing: no slot of its mark can be read */
} u9_mark_state;

/* What became of a line that a log was checked against: u9_check_options.mark (SPEC.md, M-8). */
typedef enum u9_line_state {
    U9_LINE_NONE = 0, /* there was none */
    U9_LINE_MET,      /* a frame of the log ends there, and hashes of all before it lead to that */
    U9_LINE_UNMET,    /* none does: the log was cut, damaged or rewritten. Told as damage, CORRUPT */
    U9_LINE_FOREIGN,  /* it is of another log. The same */
    U9_LINE_GONE      /* its segment is not kept: trimmed, or not the single file that was read. Proven is nothing */
} u9_line_state;

/* What a check found. Totals over all segments. */
typedef struct u9_report {
    size_t size;              /* set by the caller: sizeof(u9_report); that of an earlier version is fine */
    u9_verdict verdict;       /* the worst found; a torn tail is TORN */
    uint64_t segments;        /* files read */
    uint64_t frames;          /* valid frames of the log's data: never those of an index, nor a seal */
    uint64_t records;         /* user records within the log's end */
    uint64_t bytes;           /* size of all files */
    uint64_t body_bytes;      /* decoded bodies of frames with records */
    uint64_t stored_bytes;    /* the same bodies as stored (compressed, masked) */
    uint64_t lz4_frames;      /* frames stored compressed */
    uint64_t mask_frames;     /* frames stored masked */
    uint64_t damages;         /* calls of on_damage with verdict UNKNOWN or CORRUPT */
    uint64_t lost;            /* records lost where countable (upper bounds included) */
    uint64_t beyond;          /* records in valid frames behind an unconfirmed end: not in the log */
    uint64_t first_ordinal;   /* of the first record, U9_NOWHERE if there is none */
    uint64_t next_ordinal;    /* where the log goes on; U9_NOWHERE: not known, as its end is missing */
    uint64_t first_time_us;   /* wall clock of the first and last frame; 0 if there is none */
    uint64_t last_time_us;
    int closed;               /* not 0: the log ends in a clean close */
    int confirmed;            /* not 0: the end is confirmed (clean close, or a later segment) */
    char kind[600];           /* the key kind, "" if not known */
    uint8_t first_key[512];   /* raw form of the first and last record's key; what is behind it is not set */
    uint8_t last_key[512];
    size_t first_key_size;    /* 0 if there is none */
    size_t last_key_size;
    uint64_t keyless;         /* of the records those without a key: values of a plain seed file */
    int plain;                /* not 0: a plain seed file, without promises and times; numbers by counting */
    int older;                /* not 0: the last segment is sealed, the next one is not here, and the mark does not */
                              /*   name it yet: the log as it once was, whole, as a copy of a live one may be (L-2) */
    uint64_t unsigned_records; /* salvage: records whose signatures could not be proven (U9_R_UNSIGNED) */
    uint64_t outputs;         /* salvage: logs written, OUT included */
    int gave_up;              /* salvage, not 0: a search without a secret was given up; there may be more */
    u9_mark_state mark;       /* what confirms the end from outside; COUNTS: all was durable up to */
    uint64_t mark_segment;    /*   this segment, */
    uint64_t mark_offset;     /*   this offset in it, */
    uint64_t mark_ordinal;    /*   and in front of this record, */
    uint64_t mark_time_us;    /*   as was written then */
    u9_line_state line;       /* what became of options.mark; MET: */
    uint64_t proven_from;     /*   the records from this ordinal on up to the line's are those that were there */
    uint64_t trim_segment;    /* the log was trimmed: number of the first segment that it says to be kept; 0: it was not */
    uint64_t trim_ordinal;    /*   and the ordinal of its first record */
    int begins_late;          /* not 0: the oldest segments are missing, nothing stands in their places that is no file, and
                               * nothing says that they were trimmed: if they were deleted on purpose, u9_accept_trim
                               * (u9/trim.h) tells the log so */
} u9_report; /* earlier versions', without what comes from `keyless` or from `trim_segment` on, are taken as well, and
              * filled as far as they go */

/* Told of progress: bytes done of all, at most some 20 times a second. Returns 0 to go on. */
typedef int u9_progress_fn(void *ctx, uint64_t done, uint64_t all);

/* A log that a salvage wrote. Plain memory; the texts borrow until the callback returns. */
typedef struct u9_output {
    const char *path;          /* it is there, whole and verified */
    unsigned number;           /* 1: out_path; above that a branch: "<out_path>.fork-<number>" */
    uint64_t records;          /* in it */
    uint64_t unsigned_records; /* of these, those whose signatures could not be proven */
    const char *from;          /* where the first of them stood: the file, NULL if there is none, */
    uint64_t segment;          /*   the segment's number, as in u9_damage, */
    uint64_t begin;            /*   the frame's offset, */
    uint64_t ordinal;          /*   and the number that it had there */
} u9_output;

/* Told of each log that a salvage wrote, by rising numbers, when all of them are there. */
typedef void u9_output_fn(void *ctx, const u9_output *output);

/* What stands in a stretch of a segment's file that is as it should be. */
typedef enum u9_stretch_kind {
    U9_STRETCH_FRAMES = 1, /* frames in a row, of the log */
    U9_STRETCH_INDEX,      /* behind a segment's end: what was found there of index and seal */
    U9_STRETCH_RESERVED    /* behind that, up to the end of the file: reserved and not used, or torn, as damage tells */
} u9_stretch_kind;

/* Plain memory; path and keys borrow until the callback returns. */
typedef struct u9_stretch {
    u9_stretch_kind kind;
    uint64_t segment;  /* as in u9_damage */
    const char *path;
    uint64_t size;     /* bytes of the file */
    uint64_t begin;    /* byte range [begin, end) in it */
    uint64_t end;
    uint64_t ordinal;  /* of the first record in it, or behind it */
    uint64_t frames;   /* FRAMES: how many; */
    uint64_t records;
    uint64_t first_time_us; /* wall clock of the first and last frame with records; 0: there is none */
    uint64_t last_time_us;
    const uint8_t *first_key; /* raw form of the first and last record's key */
    const uint8_t *last_key;
    size_t first_key_size;    /* 0: there is none, or it has none */
    size_t last_key_size;
} u9_stretch;

/*
 * Told of each stretch of frames as long as it goes, before the damage that ends it, and of what stands behind each
 * segment's end. Files that are not read have none, but damage that says why.
 */
typedef void u9_stretch_fn(void *ctx, const u9_stretch *stretch);

typedef struct u9_check_options {
    size_t size;              /* sizeof(u9_check_options) */
    u9_damage_fn *on_damage;  /* may be NULL */
    u9_progress_fn *on_progress; /* may be NULL */
    void *ctx;                /* first argument of all */
    const char *io;           /* as u9_options.io, also for the log that is made; NULL: U9_IO, else the best */
    u9_output_fn *on_output;  /* salvage; may be NULL */
    const u9_mark *mark;      /* the log must meet it, whatever its own says; NULL: it is on its own */
    u9_stretch_fn *on_stretch; /* may be NULL; not of salvage */
    unsigned threads;         /* check: so many at once, up to 64, the caller's among them; 0: that one alone. More than the
                               * machine has processors does not help. What is found is the same */
} u9_check_options;

/*
 * Verifies every byte of the log (or single segment file) at `path` and fills `*report`. Reads
 * only; memory does not grow with the log, but by some 8 MiB a thread. All callbacks come from the calling thread.
 * Returns U9_OK when the check ran to its end, whatever it found: the verdict is in the report.
 * Errors: U9_IO, U9_ABSENT (nothing is here), U9_CORRUPT (nothing here is a log), U9_NOMEM, U9_VERSION (a record in a later form: nothing behind it was judged), U9_STATE (on_progress asked to
 * stop), U9_ARG (a path or `report` is NULL, a size is none that this version knows, options.io is not to be had):
 * then nothing was read or made.
 */
U9_API U9_MUST_CHECK u9_err u9_check(const char *path, const u9_check_options *options,
                                     u9_report *report, u9_fault *fault);

/*
 * As u9_check, and copies every record that stands in a valid frame into new logs (SPEC.md, G-*): those of the log,
 * in order, into one at `out_path`, also those behind an unconfirmed end (report.beyond), but none that a later
 * session has made void; what went on from a copy of the log (U9_R_FORK), each branch into one of its own,
 * "<out_path>.fork-2", "<out_path>.fork-3" ...; each record once. None of these paths may exist. Bodies are copied
 * byte for byte, frame by frame: batches stay batches, keys stay keys, compressed stays compressed, and a record is
 * kept that no append takes. Times stay as they were, but for those to come; ordinals are given anew.
 * Where a segment's secret is lost, and no copy of it is there, its frames are found without it, and read as part of
 * the log: the report counts them as records, and in unsigned_records; on_damage is told U9_R_UNSIGNED. If it is
 * not sure which frames are the segment's, each kind goes into a "fork" of its own, and the report does not count
 * them as records.
 * Of a plain seed file it makes a log whose kind takes all keys, else one of muids, where a value without such a
 * key stands whole behind a fresh one [E-4]; values that no log takes are told one by one.
 * A record in parts [C-6] of over U9_RECORD_MAX bytes is copied a part at a time.
 * `*salvaged` (may be NULL) is the number of records written to all of them, also on failure; report.outputs is
 * how many there are, and on_output is told of each. They are made as "<path>.partial" and get their names when
 * all are durable, closed, and were re-read and verified, out_path last; after a failure the partial ones stay, and
 * the next run replaces those that it comes to; anything else of that name is not touched.
 * Errors: as u9_check; U9_ARG (one of the paths exists, or something else is in the way), and what u9_log_append returns.
 */
U9_API U9_MUST_CHECK u9_err u9_salvage(const char *path, const char *out_path,
                                       const u9_check_options *options, u9_report *report,
                                       uint64_t *salvaged, u9_fault *fault);

/* What giving up a loss came to. */
typedef enum u9_loss_state {
    U9_LOSS_NONE = 0, /* the log meets its mark: there is nothing to give up, nothing was done */
    U9_LOSS_FOUND,    /* it does not; nothing was done yet */
    U9_LOSS_ACCEPTED, /* that was given up, durably: the log goes on as it is */
    U9_LOSS_DAMAGE    /* the mark's place is damaged, but the log goes on behind it: nothing to give up, nothing done */
} u9_loss_state;

typedef struct u9_loss {
    size_t size;           /* set by the caller: sizeof(u9_loss) */
    u9_loss_state state;
    u9_mark mark;          /* what the log's mark said, before */
    uint64_t next_ordinal; /* FOUND, ACCEPTED: where the log goes on, */
    uint64_t lost;         /*   records less than the mark promised; 0: it has as many or more, but others */
    uint64_t segment;      /* ACCEPTED: number of the segment in which it goes on */
    char kept[32];         /* ACCEPTED: the file in the log's directory that holds the old mark */
} u9_loss;

/*
 * For who put an older state of a log back on purpose: gives up what its mark promises and is not there, so that the
 * log is whole as it is, and sessions go on behind its end, in a new segment. The old mark is kept beside. With
 * `accept` 0 it only says what would be given up. Takes the lock that writers take. After a failure or a crash the
 * loss is told as before, or given up: nothing between. `io` as u9_options.io.
 * Errors: U9_ABSENT (no mark counts, and the fault says why; or nothing of the log is left to go on from), U9_LOCKED (a
 * writer is at work), U9_CORRUPT (the log is broken or forked for another reason, or without its mark another line of it
 * would be read instead of this one: salvage helps; or in the place of what is missing stands something that is no file, such as a link to what is not there: rule L-4; or a repair was broken off while files
 * exchanged their names: rule U-3), what u9_check returns, and U9_IO. Thread-safe. [M-9]
 */
U9_API U9_MUST_CHECK u9_err u9_accept_loss(const char *path, int accept, const char *io, u9_loss *out,
                                           u9_fault *fault);

/* Ends of segments behind which stood, or stand, bytes that nobody can judge: U9_V_UNKNOWN, at most so many are lost. */
typedef struct u9_tails {
    size_t size;      /* set by the caller: sizeof(u9_tails) */
    uint64_t count;   /* how many there are, or were: the log's own end, and those behind which a session went on */
    uint64_t segment; /* number of the segment that says that they are accepted; 0: nothing was done */
} u9_tails;

/*
 * For who knows by now that nothing is missed: accepts all ends that were unknown as they are, so that they are told no
 * more. A new segment says so, and the log goes on in it; what stands behind those ends stays void. An end that becomes
 * unknown later is told, as is all other damage. With `accept` 0, or if there is none, nothing is written. Takes the lock
 * that writers take. After a failure or a crash they are told as before, or are accepted. `io` as u9_options.io.
 * Errors: U9_LOCKED (a writer is at work), U9_CORRUPT (the log is not one that is written to: a segment is missing, it
 * forks, or its mark is not met), U9_IO, U9_ARG (a plain seed file; an argument), what u9_log_open returns. Thread-safe.
 * [R-17]
 */
U9_API U9_MUST_CHECK u9_err u9_accept_tails(const char *path, int accept, const char *io, u9_tails *out,
                                            u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
