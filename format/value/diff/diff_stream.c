/*
 * format/value/diff/diff_stream.c: patches and tau0, value after value. [D-10]
 *
 * The base lies in one of two buffers, or in the caller's bytes at first; the next value is written
 * into the other one, and only when it is whole and was taken do the patches go and the turns
 * change.
 */
#include "format/value/diff/overlay.h"

#include "format/base/fault.h"

void u9_diff_stream_init(u9_diff_stream *s, const u9_value *base, u9_grow_fn *grow, void *grow_ctx,
                         u9_emit_fn *emit, void *emit_ctx)
{
    *s = (u9_diff_stream){.emit = emit, .emit_ctx = emit_ctx};
    u9_diff_init(&s->diff, base, NULL, 0, grow, grow_ctx);
}

void u9_diff_stream_release(u9_diff_stream *s, void (*release)(void *bytes))
{
    u9_diff_release(&s->diff, release);
    for (unsigned k = 0; k < 2; k++)
        if (s->value[k].bytes) release(s->value[k].bytes);
    *s = (u9_diff_stream){.turn = 0};
}

static u9_err refuse_feed(u9_fault *fault, u9_err err, const char *text)
{
    return u9i_refuse(fault, err, 0, "D-10", text);
}

/* Writes the value as it now reads into the buffer whose turn it is. */
static u9_err write_value(u9_diff_stream *s, u9_value *out)
{
    u9_builder b;
    u9_builder_init(&b, s->value[s->turn].bytes, s->value[s->turn].cap);
    b.grow = s->diff.grow;
    b.grow_ctx = s->diff.grow_ctx;
    u9_err err = u9_view_build(&s->diff.root, &b);
    s->value[s->turn].bytes = b.bytes;
    s->value[s->turn].cap = b.cap;
    return err ? err : u9_value_decode(b.bytes, b.size, out);
}

static u9_err emit(u9_diff_stream *s, u9_fault *fault)
{
    u9_value value = s->diff.root.value;
    if (s->diff.patches > 0) {
        u9_err err = write_value(s, &value);
        if (err) return refuse_feed(fault, err, "the value cannot be written");
    }
    s->diff.busy = 1;
    u9_err err = s->emit(s->emit_ctx, &value);
    s->diff.busy = 0;
    if (err) return refuse_feed(fault, err, "the value was not taken");
    if (s->diff.patches == 0) return U9_OK;
    u9_diff_reset(&s->diff, &value);
    s->turn = !s->turn;
    return U9_OK;
}

u9_err u9_diff_feed(u9_diff_stream *s, const void *bytes, size_t size, u9_fault *fault)
{
    u9_value v;
    if (s->diff.busy) return refuse_feed(fault, U9_STATE, "a value from within a reducer or a taker");
    if (u9_value_decode(bytes, size, &v) || v.type == U9_TUPLE)
        return u9_diff_apply(&s->diff, bytes, size, fault);
    if (v.encoded == size && v.type == U9_TAU0) return emit(s, fault);
    if (v.encoded == size && v.type == U9_TAU) return U9_OK;
    return refuse_feed(fault, U9_ARG, "neither a patch nor a mark of time");
}
