/*
 * engine/index/load.c: see load.h.
 */
#include "engine/index/load.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* As u9i_body_open; of a plain seed file the body is values as they stand. [E-3] */
static u9_err open_loaded(const u9i_segment *s, const u9i_frame *f, uint8_t *scratch, size_t cap, size_t *need, u9i_body *out)
{
    if (!s->facts.plain) return u9i_body_open(f, scratch, cap, need, out);
    *out = (u9i_body){.kind = U9I_BODY_RECORDS, .bytes = f->body, .size = f->body_size, .plain = true};
    return f->body_size <= U9I_BODY_MAX ? U9_OK : U9_CORRUPT;
}

/* Opens the body of a frame whose bytes go with a window: into memory of its own. */
static u9_err own_body(const u9i_segment *s, u9i_loaded *l)
{
    size_t need = 0, size = l->frame.body_size;
    u9i_body body;
    u9_err err = open_loaded(s, &l->frame, NULL, 0, &need, &body);
    if (err == U9_AGAIN) size = need;
    else if (err != U9_OK) return err;
    l->own = (uint8_t *)malloc(size + 1);
    if (l->own == NULL) return U9_NOMEM;
    if (err == U9_AGAIN) return u9i_body_open(&l->frame, l->own, need, &need, &l->body);
    memcpy(l->own, body.bytes, body.size);
    l->body = body;
    l->body.bytes = l->own;
    return U9_OK;
}

static u9_err load_by_window(u9i_segment *s, u9i_window *w, u9_verify verify, u9i_file *file, uint64_t offset, uint64_t bound,
                             size_t about, u9i_loaded *out, int *sys)
{
    size_t seen;
    const uint8_t *bytes;
    u9i_window_turn(w, file, &s->facts.secret);
    u9i_window_remember(w, &s->verified, verify == U9_VERIFY_ALWAYS ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST);
    w->plain = s->facts.plain;
    w->until = offset; /* no more is read than the frame */
    if (about > bound - offset) about = offset < bound ? (size_t)(bound - offset) : 0;
    if (about > 0) (void)!u9i_window_bytes(w, offset, about, &bytes, &seen); /* what cannot be read is told below */
    u9_err err = u9i_window_at(w, offset, bound, &out->frame);
    *sys = w->sys;
    return err == U9_OK ? own_body(s, out) : err;
}

/* The frame where the file is mapped: its body stands there, if it is not wrapped. */
static u9_err load_by_map(u9i_segment *s, const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t bound, size_t about,
                          u9i_loaded *out)
{
    bool known = u9i_segment_is_verified(s, offset);
    u9i_proof proof = {.trust = known ? U9I_TRUST_FRAME : U9I_TRUST_NOTHING, .plain = s->facts.plain};
    if (bound > size) bound = size;
    if (offset >= bound) return U9_CORRUPT;
    if (about == 0) about = U9I_FRAME_USUAL;
    u9i_segment_fetch(s, offset, bound - offset < about ? bound - offset : about);
    u9_err err = u9i_frame_verify(&s->facts.secret, offset, bound, bytes + offset, (size_t)(bound - offset), &proof, &out->frame);
    if (err != U9_OK) return U9_CORRUPT;
    if (!known && !u9i_segment_broken(s)) u9i_segment_set_verified(s, offset);
    size_t need = 0;
    err = open_loaded(s, &out->frame, NULL, 0, &need, &out->body);
    if (err != U9_AGAIN) return err;
    out->own = (uint8_t *)malloc(need + 1);
    return out->own ? u9i_body_open(&out->frame, out->own, need, &need, &out->body) : U9_NOMEM;
}

u9_err u9i_load(u9i_segment *s, u9i_windows *windows, uint64_t offset, uint64_t bound, size_t about, u9i_loaded *out, int *sys)
{
    u9i_window *w;
    u9i_file *file;
    uint64_t size;
    assert(offset % U9I_ALIGN == 0);
    memset(out, 0, sizeof *out);
    const uint8_t *bytes = u9i_segment_map(s, &size);
    if (bytes) {
        u9_err found = load_by_map(s, bytes, size, offset, bound, about, out);
        bool broke = u9i_segment_broken(s); /* read calls tell what is there */
        if (broke || found != U9_OK) u9i_unload(out);
        if (!broke) return found;
        memset(out, 0, sizeof *out);
    }
    *sys = -u9i_segment_open(s, &file);
    if (*sys != 0) return U9_IO;
    u9_err err = u9i_segment_mend(s, windows, &file, sys);
    if (err == U9_OK) err = u9i_windows_lend(windows, &w);
    if (err == U9_OK) {
        err = load_by_window(s, w, windows->verify, file, offset, bound, about, out, sys);
        u9i_windows_return(windows, w);
    }
    u9i_segment_close(s);
    if (err != U9_OK) u9i_unload(out);
    return err;
}

void u9i_unload(u9i_loaded *l)
{
    free(l->own);
    l->own = NULL;
}
