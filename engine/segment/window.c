/*
 * engine/segment/window.c: see scan.h. [F-6]
 */
#include "engine/segment/window.h"

#include "engine/os/process.h"

#include <string.h>

enum {
    FIRST = 1 << 16,  /* bytes of the first read of a row; the next ones double */
    CHUNK = 1 << 20,  /* up to this, and more only for larger frames */
    COMPACT = 1 << 21, /* bytes done with at the window's front before the rest is moved there */
    STREAK = 1 << 21  /* bytes read in a row before reading ahead begins */
};

#define WINDOW (U9I_FRAME_MAX + COMPACT + 4 * (size_t)CHUNK)

u9_err u9i_window_init(u9i_window *scan, u9i_file *file, const u9i_secret *secret)
{
    void *p = u9i_pages(WINDOW);
    if (p == NULL) return U9_NOMEM;
    memset(scan, 0, sizeof *scan);
    scan->window = p;
    u9i_window_turn(scan, file, secret);
    return U9_OK;
}

/* Takes in the chunk that is being read ahead. If that failed, it is as if it had not been tried. */
static void collect(u9i_window *s)
{
    size_t got = 0;
    if (!s->coming) return;
    s->coming = false;
    if (u9i_readahead_take(s->ahead, &got) != 0) return;
    s->fill += got;
    s->streak += got;
    s->ended = got < CHUNK;
}

void u9i_window_release(u9i_window *scan)
{
    collect(scan);
    u9i_readahead_free(scan->ahead);
    scan->ahead = NULL;
    u9i_pages_free(scan->window, WINDOW);
    scan->window = NULL;
}

void u9i_window_turn(u9i_window *scan, u9i_file *file, const u9i_secret *secret)
{
    u9i_window_forget(scan);
    scan->file = file;
    if (secret) scan->secret = *secret;
}

static void restart(u9i_window *s, uint64_t p)
{
    collect(s);
    s->base = p;
    s->fill = 0;
    s->head_start.offset = 0;
    s->streak = 0;
    s->ended = false;
}

void u9i_window_forget(u9i_window *scan)
{
    restart(scan, 0);
}

/* Reads until the window holds `need` bytes from its base on, or the file ends. */
static u9_err fill_window(u9i_window *s, size_t need)
{
    while (s->fill < need) {
        size_t chunk = s->streak < FIRST ? FIRST : s->streak < CHUNK ? (size_t)s->streak : CHUNK;
        size_t want = need - s->fill > chunk ? need - s->fill : chunk;
        size_t got = 0;
        int err = u9i_file_read(s->file, s->base + s->fill, s->window + s->fill, want, &got);
        if (err != 0) {
            s->sys = -err;
            s->sys_at = s->base + s->fill;
            return U9_IO;
        }
        s->fill += got;
        s->streak += got;
        s->ended = got < want;
        if (s->ended) break;
    }
    return U9_OK;
}

/* Sends for the next chunk. */
static void read_ahead(u9i_window *s)
{
    if (s->streak < STREAK || s->ended) return;
    if (s->ahead == NULL) s->ahead = u9i_readahead_new();
    if (s->ahead == NULL) return;
    u9i_readahead_post(s->ahead, s->file, s->base + s->fill, s->window + s->fill, CHUNK);
    s->coming = true;
}

u9_err u9i_window_bytes(u9i_window *s, uint64_t p, size_t need, const uint8_t **bytes, size_t *avail)
{
    if (p < s->base || p > s->base + s->fill) restart(s, p);
    size_t at = (size_t)(p - s->base);
    if (at + need > s->fill) {
        collect(s);
        if (at >= COMPACT || at + need + CHUNK > COMPACT + U9I_FRAME_MAX) {
            if (at > 0) memmove(s->window, s->window + at, s->fill - at);
            s->base = p;
            s->fill -= at;
            at = 0;
        }
        u9_err err = fill_window(s, at + need);
        if (err != U9_OK) return err;
        read_ahead(s);
    }
    *bytes = s->window + at;
    *avail = s->fill - at;
    return U9_OK;
}

/* u9i_window_at, which also tells where a search goes on behind a frame that is not valid. */
static u9_err prove(u9i_window *s, uint64_t p, uint64_t bound, u9i_frame *out, uint64_t *next)
{
    u9i_proof proof = {.need = U9I_FRAME_HEADER_SIZE, .head_start = u9i_hash_paired() ? &s->head_start : NULL};
    u9_err err;
    do {
        const uint8_t *bytes;
        size_t avail;
        size_t want = proof.need;
        err = u9i_window_bytes(s, p, want, &bytes, &avail);
        if (err != U9_OK) return err;
        /* A file that is shorter than `bound` ends where reading ends. */
        if (avail < want && bound > p + avail) bound = p + avail;
        err = u9i_frame_verify(&s->secret, p, bound, bytes, avail, &proof, out);
    } while (err == U9_AGAIN);
    s->why = err == U9_OK ? U9_R_NONE : proof.why;
    /* No boundary stands in [p + 16, p + searched): nothing can begin there. */
    *next = p + (proof.searched > U9I_ALIGN ? proof.searched : U9I_ALIGN);
    return err;
}

u9_err u9i_window_at(u9i_window *s, uint64_t p, uint64_t bound, u9i_frame *out)
{
    uint64_t next;
    return prove(s, p, bound, out, &next);
}

u9_err u9i_window_boundary(u9i_window *s, uint64_t from, uint64_t to, uint64_t *at)
{
    uint64_t p = (from + U9I_ALIGN - 1) / U9I_ALIGN * U9I_ALIGN;
    for (*at = to; p < to;) {
        const uint8_t *bytes;
        size_t avail;
        u9_err err = u9i_window_bytes(s, p, U9I_ALIGN, &bytes, &avail);
        if (err != U9_OK) return err;
        avail -= avail % U9I_ALIGN;
        if (avail == 0) break;
        size_t hit = u9i_boundary_find(s->secret.boundary, bytes, 0, avail);
        p += hit;
        if (hit == avail || p >= to) continue;
        *at = p;
        break;
    }
    return U9_OK;
}

u9_err u9i_window_find(u9i_window *s, uint64_t from, uint64_t bound, u9i_frame *out)
{
    uint64_t p = from < U9I_DISK_HEADER_SIZE ? U9I_DISK_HEADER_SIZE : from;
    while (p < bound) {
        u9_err err = u9i_window_boundary(s, p, bound, &p);
        if (err == U9_OK && p < bound) err = prove(s, p, bound, out, &p);
        else if (err == U9_OK) break;
        if (err != U9_CORRUPT) return err;
    }
    return U9_END;
}

/* True if n bytes, a multiple of 8, are zero. */
static bool all_zero(const uint8_t *p, size_t n)
{
    uint64_t any = 0;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t v;
        memcpy(&v, p + i, 8);
        any |= v;
    }
    return any == 0;
}

/* The stretch p of n bytes at `at`, within one sector, of which only what is at or behind `from` counts. */
static void look_at(uint64_t at, uint64_t from, const uint8_t *p, size_t n, u9i_zeros *out)
{
    if (n == U9I_SECTOR && all_zero(p, n)) {
        if (out->sector == U9_NOWHERE) out->sector = at;
        return;
    }
    for (size_t i = n; i > 0 && at + i > from; i--) {
        if (p[i - 1] == 0) continue;
        out->last = at + i;
        return;
    }
}

u9_err u9i_window_zeros(u9i_window *s, uint64_t from, uint64_t to, u9i_zeros *out)
{
    *out = (u9i_zeros){.last = from, .sector = U9_NOWHERE};
    for (uint64_t at = from / U9I_SECTOR * U9I_SECTOR; at < to; at += U9I_SECTOR) {
        size_t n = (size_t)(to - at < U9I_SECTOR ? to - at : U9I_SECTOR);
        const uint8_t *bytes;
        size_t avail;
        u9_err err = u9i_window_bytes(s, at, n, &bytes, &avail);
        if (err != U9_OK) return err;
        if (avail == 0) break;
        look_at(at, from, bytes, n < avail ? n : avail, out);
    }
    return U9_OK;
}
