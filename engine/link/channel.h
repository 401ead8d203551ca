/*
 * engine/link/channel.h: frames over two descriptors: pipes, sockets, files. [T-1] to [T-7]
 *
 * Room: engine/link
 * Sees: include format/base format/value format/frame format/link engine/os engine/log engine/read
 *
 * The room owns logs on the move: the two ends of a connection.
 *
 * A channel writes while it listens, so that neither side waits for the other; goes on after short reads and
 * writes, EINTR and EAGAIN; and keeps SIGPIPE from its thread. What comes in is proven, and told to the
 * link, before the owner sees it. One thread. Memory: what was read at once, and one frame.
 */
#ifndef U9I_CHANNEL_H
#define U9I_CHANNEL_H

#include "engine/os/env.h"
#include "engine/os/wire.h"
#include "format/base/fault.h"

#include <u9/transit.h>

struct u9i_channel;

/* A frame came in: its values, of which the link knows. The values borrow until it returns. */
typedef u9_err u9i_take_fn(void *ctx, u9_walk values, uint64_t size, u9_fault *fault);

/* Asked now and then, also while nothing moves. Not 0: stop. */
typedef int u9i_tick_fn(void *ctx);

typedef struct u9i_channel {
    u9i_env *env;      /* for the time only */
    u9i_wire wire;
    bool in_ended;
    bool broken;       /* a descriptor failed, or a frame was left unfinished: nothing more can be sent */
    u9_link link;
    u9_transit reader;
    uint8_t *room;     /* U9_TRANSIT_MAX bytes of address space: the reader's */
    uint8_t *input;    /* what was read at once: */
    size_t next, left; /* of it, what is not taken yet; something is only behind an error of `take` */
    uint64_t held_max; /* the most bytes that were held at a time, either way */
    bool listens;      /* set by the owner: frames are taken also while one is put; `take` puts none then */
    u9i_take_fn *take;
    u9i_tick_fn *tick; /* may be NULL */
    void *ctx;         /* first argument of both */
    uint64_t tick_us;
} u9i_channel;

/* Borrows the descriptors until u9i_channel_release; their flags stay as they are. On failure nothing is held. */
U9_MUST_CHECK u9_err u9i_channel_open(u9i_channel *channel, u9i_env *env, int in, int out, u9i_take_fn *take,
                                   u9i_tick_fn *tick, void *ctx, u9_fault *fault);
void u9i_channel_release(u9i_channel *channel);

/* How many values stand behind the key of a record that is sent in pieces, by the head that it begins with. [C-6] */
uint64_t u9i_row_values(const uint8_t *head);

/* Adds a symbol to what is to be said, which has room for it. */
void u9i_channel_symbol(u9_builder *values, u9_type symbol);

/*
 * Sends one frame with these values, of which the link is told first (one DATA for all of `data`). `data`
 * may be NULL. The link allows them. Frames that come in meanwhile are taken if channel->listens. U9_STATE: it is broken, or
 * `tick` said stop; U9_IO; what `take` returns.
 */
U9_MUST_CHECK u9_err u9i_channel_put(u9i_channel *channel, const u9_builder *values, const uint8_t *data,
                                  size_t size, u9_fault *fault);

/*
 * Waits `ms` until something comes in (-1: as long as it takes), takes the frames that are whole then. U9_AGAIN: nothing is
 * there; U9_END: nothing more will be; U9_TORN: the same, within a frame; what u9_transit_push refuses,
 * what `take` returns.
 */
U9_MUST_CHECK u9_err u9i_channel_turn(u9i_channel *channel, int ms, u9_fault *fault);

#endif
