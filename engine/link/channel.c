/*
 * engine/link/channel.c: see channel.h. [T-2] [T-4] [T-6]
 */
#include "engine/link/channel.h"

#include "engine/os/process.h"
#include "format/base/bytes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUT_SIZE = 256 << 10,
    TICK_MS = 200,    /* while nothing moves */
    TICK_US = 50000,  /* at most so often */
    PATIENCE_MS = 1000 /* with one that has said that it has had enough */
};

static void channel_check(const u9i_channel *l)
{
    assert((l->room == NULL) == (l->input == NULL));
    assert(l->next + l->left <= INPUT_SIZE && l->reader.have <= U9_TRANSIT_MAX);
    assert(l->take != NULL && l->env != NULL);
}

static u9_err fail_channel(u9i_channel *l, int sys, const char *text, u9_fault *fault)
{
    l->broken = true;
    return u9i_fault(fault, U9_IO, U9I_AT(.sys = sys), "%s", text);
}

u9_err u9i_channel_open(u9i_channel *l, u9i_env *env, int in, int out, u9i_take_fn *take, u9i_tick_fn *tick,
                     void *ctx, u9_fault *fault)
{
    assert(in >= 0 || out >= 0);
    *l = (u9i_channel){.env = env, .take = take, .tick = tick, .ctx = ctx};
    l->in_ended = in < 0;
    l->room = in >= 0 ? u9i_pages(U9_TRANSIT_MAX) : NULL;
    l->input = in >= 0 ? malloc(INPUT_SIZE) : NULL;
    if (in >= 0 && (l->room == NULL || l->input == NULL)) {
        u9i_pages_free(l->room, U9_TRANSIT_MAX);
        free(l->input);
        return u9i_fault(fault, U9_NOMEM, U9I_AT(), "out of memory");
    }
    u9_link_init(&l->link, in < 0 ? U9_OUTWARD : out < 0 ? U9_INWARD : U9_TWO_WAY);
    u9_transit_init(&l->reader, l->room, U9_TRANSIT_MAX);
    u9i_wire_open(&l->wire, in, out);
    return U9_OK;
}

void u9i_channel_release(u9i_channel *l)
{
    u9i_wire_close(&l->wire);
    u9i_pages_free(l->room, U9_TRANSIT_MAX);
    free(l->input);
    l->room = l->input = NULL;
}

/* Asks whether to go on. */
static u9_err ask_owner(u9i_channel *l, bool now, u9_fault *fault)
{
    uint64_t us = u9i_monotonic_us(l->env);
    if (l->tick == NULL || (!now && us - l->tick_us < TICK_US)) return U9_OK;
    l->tick_us = us;
    return l->tick(l->ctx) == 0 ? U9_OK : u9i_fault(fault, U9_STATE, U9I_AT(), "stopped as asked");
}

/* Waits for one of the sides in `which`. U9_AGAIN: none is ready in `ms`; -1: no end of it. */
static u9_err await(u9i_channel *l, unsigned which, int ms, unsigned *ready, u9_fault *fault)
{
    for (bool now = false;; now = true) {
        u9_err err = ask_owner(l, now, fault);
        if (err != U9_OK) return err;
        int n = u9i_wire_wait(&l->wire, which, ms < 0 && l->tick ? TICK_MS : ms);
        *ready = n > 0 ? (unsigned)n : 0;
        if (n > 0) return U9_OK;
        if (n == 0 && ms >= 0) return U9_AGAIN;
        if (n < 0 && n != -EINTR) return fail_channel(l, -n, "waiting for the other side", fault);
    }
}

/* Tells the link of each value of a frame, then the owner of the frame. [T-4] */
static u9_err hear_frame(u9i_channel *l, u9_walk values, u9_fault *fault)
{
    u9_walk walk = values;
    u9_value v;
    while (u9_walk_next(&walk, &v) == U9_OK) {
        u9_signal signal = u9_signal_of(&v);
        uint64_t at = l->reader.at - (uint64_t)(values.next + values.left - v.start);
        if (u9_link_received(&l->link, signal) != U9_OK)
            return u9i_fault(fault, U9_CORRUPT, U9I_AT_OFFSET(at, .rule = "T-4"),
                             "'%s' may not come here", u9_signal_name(signal));
    }
    return l->take(l->ctx, values, values.left, fault);
}

/* Takes the frames in what was read. Behind omega nothing is looked at. [T-4] */
static u9_err take_input(u9i_channel *l, u9_fault *fault)
{
    u9_err err = U9_OK;
    if (l->reader.have + l->left > l->held_max) l->held_max = l->reader.have + l->left;
    while (l->left > 0 && err == U9_OK && l->link.in.life != U9_LIFE_OVER) {
        size_t used;
        u9_walk values;
        err = u9_transit_push(&l->reader, l->input + l->next, l->left, &used, &values, fault);
        l->next += used;
        l->left -= used;
        if (err == U9_OK) err = hear_frame(l, values, fault);
    }
    channel_check(l);
    return err == U9_AGAIN ? U9_OK : err;
}

/* One read. */
static u9_err hear(u9i_channel *l, u9_fault *fault)
{
    int64_t n = u9i_wire_read(&l->wire, l->input, INPUT_SIZE);
    if (n == -EINTR || n == -EAGAIN) return U9_OK;
    if (n < 0) return fail_channel(l, (int)-n, "reading from the other side", fault);
    l->next = 0;
    l->left = (size_t)n;
    if (n > 0) return take_input(l, fault);
    l->in_ended = true;
    u9_err err = u9_transit_end(&l->reader, fault);
    return err == U9_OK ? U9_END : err;
}

u9_err u9i_channel_turn(u9i_channel *l, int ms, u9_fault *fault)
{
    unsigned ready;
    if (l->left > 0 && l->link.in.life != U9_LIFE_OVER) return take_input(l, fault);
    if (l->in_ended) return U9_END;
    u9_err err = await(l, U9I_WIRE_IN, ms, &ready, fault);
    return err == U9_OK ? hear(l, fault) : err;
}

/*
 * Writes both parts; listens meanwhile, if that is wanted. What is wrong with what comes in is told when the
 * frame is out, as half of one would be the end of the stream, but the other side has to go on reading.
 */
static u9_err write_parts(u9i_channel *l, const u9i_wire_part parts[2], u9_fault *fault)
{
    size_t size = parts[0].size + parts[1].size, done = 0;
    u9_err heard = U9_OK;
    if (size > l->held_max) l->held_max = size;
    while (done < size) {
        bool listen = l->listens && !l->in_ended && heard == U9_OK;
        unsigned which = U9I_WIRE_OUT | (listen ? U9I_WIRE_IN : 0), ready;
        u9_fault unused;
        bool enough = heard != U9_OK || (l->wire.in >= 0 && l->link.in.life == U9_LIFE_OVER);
        u9_err err = await(l, which, enough ? PATIENCE_MS : -1, &ready, heard == U9_OK ? fault : &unused);
        if (err != U9_OK) {
            l->broken = true;
            return heard == U9_OK ? err : heard;
        }
        if (ready & U9I_WIRE_IN) heard = hear(l, fault);
        if (heard == U9_END) heard = U9_OK;
        if (!(ready & U9I_WIRE_OUT)) continue;
        int64_t n = u9i_wire_write(&l->wire, parts, done);
        if (n > 0) done += (size_t)n;
        if (n < 0 && n != -EINTR && n != -EAGAIN)
            return fail_channel(l, (int)-n, "writing to the other side", fault);
    }
    return heard;
}

/* Who sends it has asked whether it may be sent. [T-4] */
static void tell_link(u9i_channel *l, u9_signal signal)
{
    u9_err err = u9_link_sent(&l->link, signal);
    assert(err == U9_OK);
}

uint64_t u9i_row_values(const uint8_t *head)
{
    unsigned width = head[0] == 0x43 ? 8 : 4; /* of its length and its count */
    return u9i_get_be(head + 1 + width, width) - 1;
}

void u9i_channel_symbol(u9_builder *values, u9_type symbol)
{
    u9_err err = u9_build_greek(values, symbol);
    assert(err == U9_OK);
}

u9_err u9i_channel_put(u9i_channel *l, const u9_builder *values, const uint8_t *data, size_t size,
                    u9_fault *fault)
{
    uint8_t head[U9_TRANSIT_HEAD + 2048];
    size_t small = values ? values->size : 0;
    if (data == NULL) size = 0;
    u9_value v;
    assert(small <= sizeof head - U9_TRANSIT_HEAD && small + size > 0);
    if (l->broken) return u9i_fault(fault, U9_STATE, U9I_AT(), "the link is broken");
    u9_walk walk = u9_walk_bytes(values ? values->bytes : NULL, small);
    while (u9_walk_next(&walk, &v) == U9_OK) tell_link(l, u9_signal_of(&v));
    if (data != NULL) tell_link(l, U9_SIGNAL_DATA);
    u9_transit_head(small + size, head);
    if (small > 0) memcpy(head + U9_TRANSIT_HEAD, values->bytes, small);
    const u9i_wire_part parts[2] = {{head, U9_TRANSIT_HEAD + small}, {data, size}};
    return write_parts(l, parts, fault);
}
