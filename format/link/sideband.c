/*
 * format/link/sideband.c: which symbol may come when, and what tau(x) says of the end. [T-3] to [T-8]
 *
 *     a direction   new --alpha--> on --omega--> over
 *                                  on --error--> failed --omega--> over
 *     its flow      shut --iota--> open <--iota, kappa--> held        (told by what comes the other way)
 *
 * Data and both taus travel while their direction is on and their flow open; the receiver takes them also
 * while it is held, as they may have been under way. Of a one-way link the missing direction is over from
 * the start, and the flow of the other open for good.
 *
 * Pure functions on the caller's structs; no I/O, no heap.
 */
#include <u9/transit.h>

#include "format/base/bytes.h"

static const char error_symbol[8] = "u9error"; /* [T-5] */

/* True if the value is a tuple that begins with `u9error`. */
static bool is_error(const u9_value *v)
{
    u9_value first;
    return v->type == U9_TUPLE && u9_value_decode(v->data, (size_t)v->size, &first) == U9_OK &&
           first.type == U9_SYMBOL && memcmp(first.data, error_symbol, sizeof error_symbol) == 0;
}

u9_signal u9_signal_of(const u9_value *v)
{
    if (v->type >= U9_ALPHA && v->type <= U9_TAU)
        return (u9_signal)(U9_SIGNAL_ALPHA + (v->type - U9_ALPHA));
    return is_error(v) ? U9_SIGNAL_ERROR : U9_SIGNAL_DATA;
}

_Static_assert(U9_TAU - U9_ALPHA == U9_SIGNAL_TAU - U9_SIGNAL_ALPHA, "in the same order");

const char *u9_signal_name(u9_signal signal)
{
    static const char *const names[U9_SIGNALS] = {"data", "alpha", "omega", "iota",
                                                  "kappa", "tau0", "tau", "u9error"};
    return (unsigned)signal < U9_SIGNALS ? names[signal] : "?";
}

u9_err u9_build_error(u9_builder *b, u9_err err, const char *text)
{
    u9_err each[] = {u9_build_tuple_open(b), u9_build_symbol(b, error_symbol), u9_build_int(b, err),
                     u9_build_utf8(b, text, strlen(text)), u9_build_tuple_close(b)};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        if (each[i] != U9_OK) return each[i];
    return U9_OK;
}

void u9_error_read(const u9_value *value, u9_fault *out)
{
    u9_walk walk = u9_walk_elements(value);
    u9_value v;
    *out = (u9_fault){.err = U9_IO, .segment = U9_NOWHERE, .offset = U9_NOWHERE};
    for (unsigned i = 0; u9_walk_next(&walk, &v) == U9_OK && i < 3; i++) {
        if (i == 1 && v.type == U9_INT && v.i < 0 && v.i >= U9_POISONED) out->err = (u9_err)v.i;
        if (i == 2 && v.type == U9_UTF8)
            memcpy(out->text, v.data, v.size < sizeof out->text ? (size_t)v.size : sizeof out->text - 1);
    }
}

void u9_link_init(u9_link *link, u9_ways ways)
{
    *link = (u9_link){.ways = ways};
    if (ways == U9_TWO_WAY) return;
    if (ways == U9_OUTWARD) link->in.life = U9_LIFE_OVER;
    else link->out.life = U9_LIFE_OVER;
    link->in.flow = link->out.flow = U9_FLOW_OPEN; /* [T-6] */
}

/* Whether a way that has come so far takes such a value. [T-4] [T-5] [T-6] */
static bool takes(const u9_link *link, u9_life life, bool flows, u9_signal signal)
{
    switch (signal) {
    case U9_SIGNAL_ALPHA: return life == U9_LIFE_NEW;
    case U9_SIGNAL_DATA:
    case U9_SIGNAL_TAU0:
    case U9_SIGNAL_TAU: return life == U9_LIFE_ON && flows;
    case U9_SIGNAL_IOTA:
    case U9_SIGNAL_KAPPA: return life == U9_LIFE_ON && link->ways == U9_TWO_WAY;
    case U9_SIGNAL_ERROR: return life == U9_LIFE_ON;
    case U9_SIGNAL_OMEGA: return life == U9_LIFE_ON || life == U9_LIFE_FAILED;
    }
    return false;
}

/* Where such a value takes the way that it travels, and the flow of the other one. */
static void move(u9_life *life, u9_flow *other, u9_signal signal)
{
    if (signal == U9_SIGNAL_ALPHA) *life = U9_LIFE_ON;
    if (signal == U9_SIGNAL_ERROR) *life = U9_LIFE_FAILED;
    if (signal == U9_SIGNAL_OMEGA) *life = U9_LIFE_OVER;
    if (signal == U9_SIGNAL_IOTA) *other = U9_FLOW_OPEN;
    if (signal == U9_SIGNAL_KAPPA && *other == U9_FLOW_OPEN) *other = U9_FLOW_HELD;
}

int u9_link_may_send(const u9_link *link, u9_signal signal)
{
    return takes(link, link->out.life, link->out.flow == U9_FLOW_OPEN, signal);
}

u9_err u9_link_sent(u9_link *link, u9_signal signal)
{
    if (!u9_link_may_send(link, signal)) return U9_STATE;
    move(&link->out.life, &link->in.flow, signal);
    return U9_OK;
}

u9_err u9_link_received(u9_link *link, u9_signal signal)
{
    if (!takes(link, link->in.life, link->in.flow != U9_FLOW_SHUT, signal)) return U9_CORRUPT;
    move(&link->in.life, &link->out.flow, signal);
    return U9_OK;
}

void u9_pace_begin(u9_pace *pace, uint64_t now_us)
{
    *pace = (u9_pace){.began_us = now_us};
}

void u9_pace_data(u9_pace *pace, uint64_t bytes)
{
    pace->bytes = bytes > UINT64_MAX - pace->bytes ? UINT64_MAX : pace->bytes + bytes;
}

void u9_pace_tau(u9_pace *pace, uint64_t x)
{
    pace->x = x;
    pace->x_bytes = pace->bytes;
}

/* a * b / c, at most UINT64_MAX. */
static uint64_t scale(uint64_t a, double b, double c)
{
    double v = (double)a * b / c;
    return v < 18446744073709549568.0 ? (uint64_t)v : UINT64_MAX;
}

u9_estimate u9_pace_estimate(const u9_pace *pace, uint64_t now_us)
{
    uint64_t spent_us = now_us > pace->began_us ? now_us - pace->began_us : 0;
    u9_estimate e = {.done = pace->bytes, .total = U9_NOWHERE, .left_us = U9_NOWHERE};
    if (spent_us > 0) e.rate = scale(pace->bytes, 1e6, (double)spent_us);
    if (pace->x == 0 || pace->x_bytes == 0) return e;
    uint64_t total = pace->x < U9_TAU_WHOLE ? scale(pace->x_bytes, U9_TAU_WHOLE, (double)pace->x)
                                            : pace->x_bytes; /* [T-8] */
    e.total = total > e.done ? total : e.done;
    if (spent_us > 0) e.left_us = scale(spent_us, (double)(e.total - e.done), (double)e.done);
    return e;
}

uint64_t u9_tau_of(uint64_t done, uint64_t all)
{
    if (done >= all) return U9_TAU_WHOLE;
    return scale(done, U9_TAU_WHOLE, (double)all);
}
