/*
 * u9/transit.h: values over pipes and sockets (SPEC-values.md, T-*): frames that carry them, the
 * side band that says which of them may come when, and a log on the move.
 *
 * The codec, the link and the pace do no I/O, take no memory and are pure: thread-safe on distinct objects.
 * u9_log_send and u9_log_recv do it all over two descriptors, in constant memory.
 */
#ifndef U9_TRANSIT_H
#define U9_TRANSIT_H

#include <u9/check.h>
#include <u9/err.h>
#include <u9/log.h>
#include <u9/value.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_TRANSIT_HEAD 12                             /* bytes in front of a frame's values [T-1] */
#define U9_TRANSIT_MAX ((UINT64_C(1) << 24) + 4096)    /* bytes of values in a frame of a log [T-10] */

/* Writes the head of a frame whose values, back to back, take `length` bytes (at least 1). [T-1] */
U9_API void u9_transit_head(uint64_t length, uint8_t head[U9_TRANSIT_HEAD]);

/* Takes frames out of a stream that comes in pieces of any size. Set up by u9_transit_init. */
typedef struct u9_transit {
    uint8_t *room;     /* borrows: a frame that does not come in one piece is gathered here */
    size_t cap;        /* bytes there, and the most that a frame may hold */
    uint64_t at;       /* where in the stream the frame at hand begins, bytes */
    uint64_t length;   /* of its values, once the head is whole */
    size_t have;       /* bytes of it so far, head included */
    u9_err failed;     /* not U9_OK: the stream was refused, for good */
    uint8_t head[U9_TRANSIT_HEAD];
} u9_transit;

/* `room` of `cap` bytes is borrowed as long as the reader is used. Frames of more bytes are refused. */
U9_API void u9_transit_init(u9_transit *reader, void *room, size_t cap);

/*
 * Takes the next `size` bytes of the stream, up to the end of a frame, and sets `*used` to how many.
 * U9_OK: a frame is whole; `*values` walks its values, which are proven well-formed (u9_walk_next_checked
 * will do) and borrow `bytes` or the room until the next call. U9_AGAIN: more bytes are wanted, all of
 * these were used. U9_CORRUPT: no frame, or not exactly values in it; U9_LIMIT: more than `cap` bytes, or
 * what u9_value_check refuses for its limits. `fault` (may be NULL) has the offset in the stream and the
 * rule. A refusal is for good. Whatever the pieces, the result is the same. [T-1] [T-2]
 */
U9_API U9_MUST_CHECK u9_err u9_transit_push(u9_transit *reader, const void *bytes, size_t size,
                                            size_t *used, u9_walk *values, u9_fault *fault);

/* The stream has ended: U9_OK between two frames, U9_TORN within one, or what it was refused for. */
U9_API U9_MUST_CHECK u9_err u9_transit_end(const u9_transit *reader, u9_fault *fault);

/* What a value is to the link that it travels on. Numbers are pinned. [T-3] */
typedef enum u9_signal {
    U9_SIGNAL_DATA = 0,
    U9_SIGNAL_ALPHA, /* time begins */
    U9_SIGNAL_OMEGA, /* time has ended */
    U9_SIGNAL_IOTA,  /* you may send data */
    U9_SIGNAL_KAPPA, /* you may not: it would block */
    U9_SIGNAL_TAU0,  /* a new time-cycle begins */
    U9_SIGNAL_TAU,   /* roughly here in the time-cycle */
    U9_SIGNAL_ERROR  /* (u9error class text): why the omega that follows is no ordinary end */
} u9_signal;

enum { U9_SIGNALS = U9_SIGNAL_ERROR + 1 };

U9_API u9_signal u9_signal_of(const u9_value *value);
U9_API const char *u9_signal_name(u9_signal signal); /* "alpha"; static */

/* `err` and one sentence as the value that tells of an error. U9_LIMIT as all of u9_build_. [T-5] */
U9_API U9_MUST_CHECK u9_err u9_build_error(u9_builder *b, u9_err err, const char *text);
/* Fills the class and the sentence; one whose class is no u9_err of an error counts as U9_IO. */
U9_API void u9_error_read(const u9_value *value, u9_fault *out);

/* Which ways a link has. */
typedef enum u9_ways {
    U9_TWO_WAY = 1, /* a socket, or two pipes: no data before the other side's iota */
    U9_OUTWARD,     /* a pipe that is written: its own back pressure rules */
    U9_INWARD       /* a pipe that is read */
} u9_ways;

/* How far one direction of a link has come. */
typedef enum u9_life {
    U9_LIFE_NEW = 0, /* before alpha */
    U9_LIFE_ON,
    U9_LIFE_FAILED,  /* an error was told: omega comes next */
    U9_LIFE_OVER     /* behind omega, or there is no such direction */
} u9_life;

/* Whether data may travel in one direction, by what came the other way. */
typedef enum u9_flow {
    U9_FLOW_SHUT = 0, /* no iota yet */
    U9_FLOW_OPEN,
    U9_FLOW_HELD      /* kappa: no more is to be sent, but some may be under way */
} u9_flow;

/* One side of a link: which symbol may come when. [T-4] [T-6] [T-7] */
typedef struct u9_link {
    u9_ways ways;
    struct {
        u9_life life;
        u9_flow flow;
    } out, in; /* what this side sends, what it receives */
} u9_link;

U9_API void u9_link_init(u9_link *link, u9_ways ways);

/* Not 0 if this side may send such a value now. */
U9_API int u9_link_may_send(const u9_link *link, u9_signal signal);
/* To be told of each value sent, in order. U9_STATE: it may not be sent now; nothing changes. */
U9_API U9_MUST_CHECK u9_err u9_link_sent(u9_link *link, u9_signal signal);
/* The same for each value received. U9_CORRUPT: the other side broke the rules; nothing changes. */
U9_API U9_MUST_CHECK u9_err u9_link_received(u9_link *link, u9_signal signal);

#define U9_TAU_WHOLE 65536 /* tau(x): x / 65536 of the time-cycle lie behind [T-8] */

/* How far a time-cycle has come, and how long it takes: by what has come, and what tau(x) said last. */
typedef struct u9_pace {
    uint64_t began_us; /* when the cycle began, by the caller's clock */
    uint64_t bytes;    /* of data since */
    uint64_t x;        /* the last tau(x), 0 if there was none, and what had come by then: */
    uint64_t x_bytes;
} u9_pace;

typedef struct u9_estimate {
    uint64_t done;    /* bytes */
    uint64_t total;   /* bytes, never below done; U9_NOWHERE: no idea */
    uint64_t rate;    /* bytes a second since the cycle began */
    uint64_t left_us; /* until the end of the cycle; U9_NOWHERE: no idea */
} u9_estimate;

U9_API void u9_pace_begin(u9_pace *pace, uint64_t now_us); /* at alpha and at tau0 */
U9_API void u9_pace_data(u9_pace *pace, uint64_t bytes);
U9_API void u9_pace_tau(u9_pace *pace, uint64_t x);
U9_API u9_estimate u9_pace_estimate(const u9_pace *pace, uint64_t now_us);
/* The x of tau(x) where `done` of `all` lie behind. */
U9_API uint64_t u9_tau_of(uint64_t done, uint64_t all);

/* What a log on the move came to. Filled also on failure, as far as it went. */
typedef struct u9_ship_report {
    size_t size;         /* set by the caller: sizeof(u9_ship_report) */
    uint64_t records;    /* sent, or appended */
    uint64_t batches;    /* that they stood in */
    uint64_t bytes;      /* of their encoding */
    uint64_t skipped;    /* records received that the log had already */
    uint64_t next;       /* ordinal behind the last record sent, or in the log */
    uint64_t held_max;   /* the most bytes that were in memory between log and descriptor at a time */
    int damaged;         /* sender: not 0 if the log's damage is why it stopped */
    int peer_failed;     /* not 0 if the error is the other side's, told by it */
} u9_ship_report;

typedef struct u9_send_options {
    size_t size;                 /* sizeof(u9_send_options) */
    int out;                     /* descriptor of a pipe, socket or file, blocking or not */
    int in;                      /* -1: a one-way link; else what the receiver says comes in here */
    uint64_t from;               /* one-way: the receiver has the records before this ordinal */
    u9_progress_fn *on_progress; /* bytes of the log's files; may be NULL */
    void *ctx;                   /* its first argument */
    int follow;                  /* not 0: behind the last record that is durable it waits for more (u9/follow.h), until
                                  * on_progress asks to stop, which ends it as the end of the log would, or the receiver
                                  * goes. A host built without this field has a shorter struct: 0 */
} u9_send_options;

/*
 * Sends the log's records over descriptors, batch by batch, with their keys. On a two-way link the
 * receiver says where to begin, and U9_OK means that it has everything on stable storage. Memory: one
 * batch; a record larger than that goes in pieces [T-13]. Neither raises nor needs SIGPIPE; descriptors keep their flags and stay open.
 *
 * Damage that costs records ends it (U9_CORRUPT, report.damaged): what stands before it was sent, and the
 * receiver is told; damages go to the log's on_damage. Other errors: U9_ARG (the log has fewer than `from`
 * records, or these are plain seed files), U9_ABSENT (records were trimmed before they were sent), U9_IO (sys EPIPE, ECONNRESET ...: the receiver has gone), U9_TORN (it has gone without an omega),
 * U9_CORRUPT, U9_LIMIT (what it says breaks T-*), U9_STATE (on_progress asked to stop), U9_VERSION, U9_NOMEM;
 * with report.peer_failed whatever it told.
 */
U9_API U9_MUST_CHECK u9_err u9_log_send(u9_log *log, const u9_send_options *options,
                                        u9_ship_report *report, u9_fault *fault);

typedef struct u9_recv_options {
    size_t size;                 /* sizeof(u9_recv_options) */
    int in;                      /* descriptor to read */
    int out;                     /* -1: a one-way link; else where the sender hears */
    const u9_options *log;       /* policy, lz4, segment_size, io, on_damage; NULL: the defaults */
    u9_progress_fn *on_progress; /* bytes of records, as far as tau(x) tells; may be NULL */
    void *ctx;                   /* its first argument */
} u9_recv_options;

/*
 * Receives a log into the one at `path`, which is made if it is missing, with the sender's key kind and
 * batches; what it has already is skipped, so that after a break the same call goes on at the last record
 * received. That it is a beginning of what is sent is judged by its last record [T-9]; what it holds is not
 * verified again, and the stream has no hashes. Times are the receiver's. Nothing else may append meanwhile. Syncs as the policy says; when it returns the log is closed
 * and all that was received is durable. Memory: two batches at most, and a pointer for each record of one.
 *
 * Errors: U9_ARG (the log is not a beginning of what is sent, or is keyed otherwise; or the sender's was trimmed of all that
 * this one has, so that nothing could be compared), U9_TORN (the stream
 * ended early), U9_CORRUPT, U9_LIMIT (what comes breaks T-*), U9_VERSION, U9_STATE (on_progress asked to
 * stop), U9_IO and what u9_log_open and u9_log_append_batch return; with report.peer_failed what the
 * sender told. All that came before stays.
 */
U9_API U9_MUST_CHECK u9_err u9_log_recv(const char *path, const u9_recv_options *options,
                                        u9_ship_report *report, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
