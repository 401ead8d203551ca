/*
 * tools/value_patch.c: `u9 value patch`: patches to a value, and what comes of them. [D-1] to [D-14]
 *
 * The values go through a u9_diff_stream one by one: patches are applied, a tau0 writes the value as it then
 * is, and so does the end, unless nothing was applied since. A refused patch changes nothing.
 */
#include "tools/value.h"

#include "tools/tool.h"

#include <u9/value_diff.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct patching {
    u9_builder base; /* the first value */
    u9_builder text; /* the one that was parsed last */
    u9_diff_stream stream;
    int emitted;     /* a value was written, */
    int fresh;       /* and nothing was applied since */
    int status;      /* of writing */
};

/* The next value, in the form that was asked for. */
static u9_err next_value(const struct value_ask *ask, struct value_input *in, u9_value *out, int *status)
{
    struct patching *p = (struct patching *)ask->ctx;
    u9_fault fault;
    in->hex = ask->hex;
    if (ask->text) {
        u9_err err = value_next_text(in, &p->text, status);
        return err == U9_OK ? u9_value_decode(p->text.bytes, p->text.size, out) : err;
    }
    u9_err err = value_next(in, out, &fault, status);
    if (err < 0 && err != U9_IO) *status = tool_fault(&fault);
    return err;
}

/* Passes a value that next_value gave. */
static void pass_value(const struct value_ask *ask, struct value_input *in, const u9_value *v)
{
    if (!ask->text) value_used(in, v->encoded);
}

static int read_base(const struct value_ask *ask, struct value_input *in)
{
    struct patching *p = (struct patching *)ask->ctx;
    u9_value v;
    int status = TOOL_DONE;
    u9_err err = next_value(ask, in, &v, &status);
    if (err == U9_OK && u9_build_raw(&p->base, v.start, v.encoded) != U9_OK) return tool_nomem("a value");
    if (err == U9_OK) pass_value(ask, in, &v);
    if (err == U9_END) return tool_say(TOOL_REFUSED, "%s: no value is here to be patched", in->name);
    if (err == U9_OK) err = next_value(ask, in, &v, &status);
    if (err == U9_OK)
        return tool_say(TOOL_REFUSED, "%s: more than one value is here: which is to be patched?", in->name);
    return status;
}

static u9_err put_emitted(void *ctx, const u9_value *v)
{
    const struct value_ask *ask = (const struct value_ask *)ctx;
    struct patching *p = (struct patching *)ask->ctx;
    p->status = ask->text ? value_put_text(v->start, v->encoded) : value_put(ask, v->start, v->encoded);
    p->emitted = p->fresh = 1;
    return p->status == TOOL_DONE ? U9_OK : U9_IO;
}

/* A patch that was refused: where it stands, and why. */
static int patch_refused(const struct value_ask *ask, const struct value_input *in, const u9_fault *fault)
{
    const struct value_place *at = &in->began;
    char place[64];
    uint64_t offset = at->offset + (fault->offset == U9_NOWHERE ? 0 : fault->offset);
    if (fault->err == U9_NOMEM) return tool_nomem("the patches");
    if (ask->text) snprintf(place, sizeof place, ":%" PRIu64 ":%" PRIu64, at->line, at->column);
    else snprintf(place, sizeof place, ": offset %" PRIu64, offset);
    return tool_skip(ask->skips, "%s%s: %s%s%s%s", in->name, place, fault->text, *fault->rule ? " [" : "",
                     fault->rule, *fault->rule ? "]" : "");
}

static int feed(const struct value_ask *ask, struct value_input *in)
{
    struct patching *p = (struct patching *)ask->ctx;
    for (;;) {
        u9_value v;
        u9_fault fault;
        int status = TOOL_DONE;
        u9_err err = next_value(ask, in, &v, &status);
        if (err != U9_OK) return status;
        err = u9_diff_feed(&p->stream, v.start, v.encoded, &fault);
        if (p->status != TOOL_DONE) return p->status;
        if (err != U9_OK) status = patch_refused(ask, in, &fault);
        else if (v.type == U9_TUPLE) p->fresh = 0;
        if (status != TOOL_DONE) return status;
        pass_value(ask, in, &v);
    }
}

/* The value as it is at the end. */
static int put_last(struct patching *p)
{
    static const uint8_t tau0[] = {0x14};
    u9_fault fault;
    if (p->emitted && p->fresh) return TOOL_DONE;
    u9_err err = u9_diff_feed(&p->stream, tau0, sizeof tau0, &fault);
    return p->status != TOOL_DONE || err == U9_OK ? p->status : tool_fault(&fault);
}

int value_patch(const struct value_ask *ask)
{
    struct patching p = {.status = TOOL_DONE};
    struct value_ask first = *ask, rest = *ask;
    char *base[] = {ask->files[0], NULL};
    u9_value v;
    first.files = base;
    rest.files = ask->files + 1;
    first.ctx = rest.ctx = &p;
    u9_builder_init_growing(&p.base, tool_grow, NULL);
    u9_builder_init_growing(&p.text, tool_grow, NULL);
    int status = value_each_file(&first, read_base);
    if (status == TOOL_DONE && u9_value_decode(p.base.bytes, p.base.size, &v) == U9_OK) {
        u9_diff_stream_init(&p.stream, &v, tool_grow, NULL, put_emitted, &rest);
        status = value_each_file(&rest, feed);
        if (status == TOOL_DONE) status = put_last(&p);
        u9_diff_stream_release(&p.stream, free);
    }
    free(p.base.bytes);
    free(p.text.bytes);
    return status;
}
