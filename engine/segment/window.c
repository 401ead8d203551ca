/*
 * engine/segment/window.c: see window.h. [F-6]
 */
#include "engine/segment/window.h"

#include "engine/os/process.h"
#include "format/frame/disk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 1 << 16,   /* bytes of the first read of a row; the next ones double */
    CHUNK = 1 << 20,   /* up to this, and more only for larger frames */
    COMPACT = 1 << 21, /* bytes done with at the window's front before the rest is moved there */
    STREAK = 1 << 21,  /* bytes read in a row before reading ahead begins */
    BEHIND = 1 << 24,  /* bytes of a mapping that were looked at before they are given back */
    IDLE_MAX = 2       /* windows that a pool keeps */
};

#define WINDOW (U9I_FRAME_MAX + COMPACT + 4 * (size_t)CHUNK)

void u9i_window_check(const u9i_window *w)
{
    assert(w->bytes != NULL && w->fill <= WINDOW);
    assert(!w->coming || (w->ahead != NULL && w->file != NULL && w->fill + CHUNK <= WINDOW));
    assert(w->file != NULL || w->fill == 0);
    assert(w->map == NULL || (w->file != NULL && w->fill == 0 && !w->coming));
    for (size_t i = 0; i < w->dark_count; i++)
        assert(w->dark[i].begin < w->dark[i].end && w->dark[i].end <= w->base + w->fill &&
               (i == 0 || w->dark[i - 1].end < w->dark[i].begin));
}

static void windows_check(const u9i_windows *p)
{
    assert(p->idle_count <= IDLE_MAX && (p->idle == NULL) == (p->idle_count == 0));
    assert(p->lent + p->idle_count <= p->made);
}

void u9i_windows_init(u9i_windows *p, u9i_env *env)
{
    *p = (u9i_windows){.env = env, .forks = u9i_fork_generation()};
    pthread_mutex_init(&p->lock, NULL);
}

static void free_window(u9i_window *w)
{
    u9i_readahead_free(w->ahead);
    u9i_pages_free(w->bytes, WINDOW);
    free(w->dark);
    free(w);
}

/*
 * True in a forked child: other threads of the parent have windows that never come back, and one of them may
 * hold the lock, forever. What such a thread leaves half done is a row that can be gone through.
 */
static bool inherits_windows(const u9i_windows *p)
{
    return p->forks != u9i_fork_generation();
}

void u9i_windows_release(u9i_windows *p)
{
    assert(p->lent == 0 || inherits_windows(p));
    for (u9i_window *w = p->idle, *next; w; w = next) {
        next = w->next;
        free_window(w);
    }
    p->idle = NULL;
    if (!inherits_windows(p)) pthread_mutex_destroy(&p->lock);
}

static u9i_window *new_window(void)
{
    u9i_window *w = calloc(1, sizeof *w);
    if (w == NULL) return NULL;
    w->bytes = u9i_pages(WINDOW);
    if (w->bytes) return w;
    free(w);
    return NULL;
}

u9_err u9i_windows_lend(u9i_windows *p, u9i_window **out)
{
    pthread_mutex_lock(&p->lock);
    u9i_window *w = p->idle;
    if (w) {
        p->idle = w->next;
        p->idle_count--;
    } else if ((w = new_window()) != NULL) {
        p->made++;
    }
    p->lent += w != NULL;
    windows_check(p);
    pthread_mutex_unlock(&p->lock);
    if (w == NULL) return U9_NOMEM;
    *out = w;
    return U9_OK;
}

void u9i_windows_return(u9i_windows *p, u9i_window *w)
{
    if (w == NULL) return;
    u9i_window_turn(w, NULL, NULL);
    if (inherits_windows(p)) {
        free_window(w);
        return;
    }
    pthread_mutex_lock(&p->lock);
    assert(p->lent > 0);
    p->lent--;
    bool keep = p->idle_count < IDLE_MAX;
    if (keep) {
        w->next = p->idle;
        p->idle = w;
        p->idle_count++;
    }
    windows_check(p);
    pthread_mutex_unlock(&p->lock);
    if (!keep) free_window(w);
}

/* Takes in the chunk that is being read ahead. If that failed, it is as if it had not been tried. */
static void collect(u9i_window *w)
{
    size_t got = 0;
    if (!w->coming) return;
    w->coming = false;
    if (u9i_readahead_take(w->ahead, &got) != 0) return;
    w->fill += got;
    w->streak += got;
    w->ended = got < CHUNK;
}

/* Every read begins and ends at a block: so what cannot be read is the same from wherever one comes. */
static void restart(u9i_window *w, uint64_t p)
{
    collect(w);
    w->base = p / U9I_BLOCK * U9I_BLOCK;
    w->fill = w->dark_count = 0;
    w->head_start = (u9i_head_start){.row = 0};
    w->streak = 0;
    w->ended = false;
}

/* Gives back what was looked at in front of `at`, or, on the way back, behind it. Whoever still has something of that
 * borrowed finds it in the page cache. `end`: of what is looked at now. */
static void pass_behind(u9i_window *w, uint64_t at, uint64_t end)
{
    if (at < w->near) {
        w->near = at;
        if (w->far > at + 2 * (uint64_t)BEHIND) {
            u9i_mapping_pass(w->map, at + BEHIND, w->far);
            w->far = at + BEHIND;
        }
    } else if (at - w->near >= BEHIND) {
        u9i_mapping_pass(w->map, w->near, at);
        w->near = at;
    }
    if (end > w->far) w->far = end;
}

void u9i_window_rest(u9i_window *w)
{
    if (w->map && w->near < w->far) u9i_mapping_pass(w->map, w->near, w->far);
    w->near = U9_NOWHERE;
    w->far = 0;
}

void u9i_window_turn(u9i_window *w, u9i_file *file, const u9i_secret *secret)
{
    u9i_window_forget(w);
    u9i_window_rest(w);
    w->map = NULL;
    w->verified = NULL;
    w->file = file;
    w->until = U9_NOWHERE;
    w->plain = w->brief = w->still = false;
    w->sys = 0;
    if (secret) w->secret = *secret;
    u9i_window_check(w);
}

void u9i_window_remember(u9i_window *w, u9i_verified *verified, u9_verify verify)
{
    w->verified = verify == U9_VERIFY_ALWAYS ? NULL : verified;
    w->verify = verify;
}

void u9i_window_lean(u9i_window *w, const u9i_mapping *map)
{
    u9i_window_rest(w);
    restart(w, 0);
    w->map = map;
    u9i_window_check(w);
}

/* True if the mapping broke under what was just looked at: it is to be looked at again, and is read from now on. */
static bool fell(u9i_window *w)
{
    if (w->map == NULL || !u9i_mapping_broken(w->map)) return false;
    u9i_window_lean(w, NULL);
    return true;
}

void u9i_window_forget(u9i_window *w)
{
    restart(w, 0);
    w->unread = (u9i_stretch){U9_NOWHERE, 0};
    w->unread_sys = 0;
}

void u9i_window_share_unread(u9i_window *w, const u9i_window *other)
{
    if (other->unread.end == 0) return;
    if (other->unread.begin < w->unread.begin) w->unread.begin = other->unread.begin;
    if (other->unread.end > w->unread.end) w->unread.end = other->unread.end;
    w->unread_sys = other->unread_sys;
}

/* Errors of the disk, which it has for these bytes and perhaps not for others. */
static bool is_disk_error(int err)
{
    return err == -EIO || err == -ENODATA || err == -EBADMSG || err == -EUCLEAN || err == -EILSEQ ||
           err == -EREMOTEIO;
}

/* [begin, end), behind all that is known to be dark, is. False without memory. */
static bool note_dark(u9i_window *w, uint64_t begin, uint64_t end, int err)
{
    u9i_stretch *last = w->dark_count ? &w->dark[w->dark_count - 1] : NULL;
    if (last && last->end == begin) {
        last->end = end;
    } else {
        if (w->dark_count == w->dark_room) {
            size_t room = w->dark_room ? 2 * w->dark_room : 8;
            u9i_stretch *more = realloc(w->dark, room * sizeof *more);
            if (more == NULL) return false;
            w->dark = more;
            w->dark_room = room;
        }
        w->dark[w->dark_count++] = (u9i_stretch){begin, end};
    }
    if (begin < w->unread.begin) w->unread.begin = begin;
    if (end > w->unread.end) w->unread.end = end;
    w->unread_sys = -err;
    return true;
}

/* The first dark stretch that reaches into [from, to) of what the window holds; NULL: none. */
static const u9i_stretch *dark_in(const u9i_window *w, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < w->dark_count && w->dark[i].begin < to; i++)
        if (w->dark[i].end > from) return &w->dark[i];
    return NULL;
}

/* The window begins at `base` from now on: what is dark before it does not matter any more. */
static void drop_dark(u9i_window *w)
{
    size_t n = 0;
    while (n < w->dark_count && w->dark[n].end <= w->base) n++;
    w->dark_count -= n;
    if (n > 0) memmove(w->dark, w->dark + n, w->dark_count * sizeof *w->dark);
}

/* How many bytes to read at once behind what is there, of which `least` are wanted. */
static size_t chunk_of(const u9i_window *w, size_t least)
{
    size_t chunk = w->streak < FIRST ? FIRST : w->streak < CHUNK ? (size_t)w->streak : CHUNK;
    uint64_t at = w->base + w->fill;
    if (w->until < at + chunk) chunk = w->until > at ? (size_t)(w->until - at) : 0;
    return least > chunk ? least : chunk;
}

/* Reads `want` bytes behind what is there, block by block. A read that fails does not tell the file's end. */
static int read_blocks(u9i_window *w, size_t want, size_t *got)
{
    uint64_t at = w->base + w->fill, size;
    int err = u9i_file_size(w->file, &size);
    uint64_t end = err == 0 && size < at + want ? size : at + want;
    uint8_t *to = w->bytes + w->fill;
    size_t part = 0;
    for (; err == 0 && at < end; at += part, to += part) {
        uint64_t next = (at / U9I_BLOCK + 1) * U9I_BLOCK;
        size_t n = (size_t)((next < end ? next : end) - at);
        err = u9i_file_read(w->file, at, to, n, &part);
        if (err == 0 && part < n) end = at + part; /* it became shorter */
        if (!is_disk_error(err)) continue;
        memset(to, 0, n);
        err = note_dark(w, at, at + n, err) ? 0 : -ENOMEM;
        part = n;
    }
    *got = (size_t)(to - (w->bytes + w->fill));
    return err;
}

/* Reads until the window holds `need` bytes from its base on, or the file ends. */
static u9_err fill_window(u9i_window *w, size_t need)
{
    while (w->fill < need) {
        size_t want = chunk_of(w, need - w->fill), got = 0;
        want += (size_t)(-(w->base + w->fill + want) % U9I_BLOCK);
        int err = u9i_file_read(w->file, w->base + w->fill, w->bytes + w->fill, want, &got);
        if (is_disk_error(err)) err = read_blocks(w, want, &got);
        if (err != 0) {
            w->sys = -err;
            w->sys_at = w->base + w->fill;
            return U9_IO;
        }
        w->fill += got;
        w->streak += got;
        w->ended = got < want;
        if (w->ended) break;
    }
    return U9_OK;
}

/* Sends for the next chunk. */
static void read_ahead(u9i_window *w)
{
    if (w->streak < STREAK || w->ended || w->base + w->fill + CHUNK > w->until) return;
    if (w->ahead == NULL) w->ahead = u9i_readahead_new();
    if (w->ahead == NULL) return;
    u9i_readahead_post(w->ahead, w->file, w->base + w->fill, w->bytes + w->fill, CHUNK);
    w->coming = true;
}

/* True if the file is larger than what is mapped of it: a closed one, behind whose end somebody goes on. */
static bool outgrew_map(const u9i_window *w)
{
    uint64_t size;
    return u9i_file_size(w->file, &size) != 0 || size > w->map->size;
}

/* What is wanted of a mapping, and a chunk behind it, which others may be hashed beside. False: it is to be read. */
static bool see_map(u9i_window *w, uint64_t p, size_t need, const uint8_t **bytes, size_t *avail)
{
    uint64_t at = p < w->map->size ? p : w->map->size, end = at + need, more = end + CHUNK;
    if (p + need > w->map->size && outgrew_map(w)) {
        u9i_window_lean(w, NULL);
        return false;
    }
    if (w->until > end) end = w->until < more ? w->until : more;
    if (end > w->map->size) end = w->map->size;
    pass_behind(w, at, end);
    *bytes = w->map->bytes + at;
    *avail = (size_t)(end - at);
    return true;
}

/* As u9i_window_bytes, mapped ones too, and with zeros where it is dark. */
static u9_err see(u9i_window *w, uint64_t p, size_t need, const uint8_t **bytes, size_t *avail)
{
    if (w->map && see_map(w, p, need, bytes, avail)) return U9_OK;
    if (p < w->base || p > w->base + w->fill) restart(w, p);
    size_t at = (size_t)(p - w->base);
    if (at + need > w->fill) {
        collect(w);
        if (at >= COMPACT || at + need + CHUNK > COMPACT + U9I_FRAME_MAX) {
            if (at > 0) memmove(w->bytes, w->bytes + at, w->fill - at);
            w->base = p;
            w->fill -= at;
            at = 0;
            drop_dark(w);
        }
        u9_err err = fill_window(w, at + need);
        if (err != U9_OK) return err;
        read_ahead(w);
        u9i_window_check(w);
    }
    *bytes = w->bytes + at;
    *avail = at < w->fill ? w->fill - at : 0;
    return U9_OK;
}

/* How many of `n` bytes from `p` on, which the window holds, are in front of what is dark. */
static size_t light(const u9i_window *w, uint64_t p, size_t n)
{
    const u9i_stretch *dark = dark_in(w, p, p + n);
    return dark == NULL ? n : dark->begin > p ? (size_t)(dark->begin - p) : 0;
}

u9_err u9i_window_bytes(u9i_window *w, uint64_t p, size_t need, const uint8_t **bytes, size_t *avail)
{
    if (w->map) u9i_window_lean(w, NULL); /* who looks at them does not ask whether they were there */
    u9_err err = see(w, p, need, bytes, avail);
    if (err == U9_OK) *avail = light(w, p, *avail);
    return err;
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

/*
 * `end`, where a chunk ends that was looked at; if its bytes from `from` on, a multiple of 8, are zero: where the hole
 * ends that begins there. So the file system is asked once a chunk, and only where a hole may be.
 */
static uint64_t known_end(const u9i_window *w, uint64_t from, uint64_t end)
{
    bool over = w->map ? end >= w->map->size : w->ended;
    if (over || from > end) return end;
    const uint8_t *bytes = w->map ? w->map->bytes + from : w->bytes + (from - w->base);
    if (!all_zero(bytes, (size_t)(end - from) / 8 * 8)) return end;
    return w->still ? u9i_file_written(w->file, end) : u9i_file_data(w->file, end);
}

static u9i_trust trust_in(const u9i_window *w, uint64_t p)
{
    if (w->verified == NULL) return U9I_TRUST_NOTHING;
    if (u9i_verified_has(w->verified, p)) return U9I_TRUST_FRAME;
    return w->verify == U9_VERIFY_NEVER ? U9I_TRUST_PAYLOAD : U9I_TRUST_NOTHING;
}

/* Has a look at each page of a frame that nobody hashes: so what cannot be read is known before it is shown. */
static void touch_pages(const u9i_frame *f, const uint8_t *bytes)
{
    uint8_t any = 0;
    for (size_t at = 0; at < f->end - f->offset; at += U9I_BLOCK) any |= *(const volatile uint8_t *)(bytes + at);
    (void)any;
}

/*
 * A frame with records that was found valid, and that nobody looks into. False: it is to be looked at as any other. By calls,
 * of a mapped file, too: a touch would map sixteen pages or more for these few bytes, each to be given back.
 */
static bool prove_briefly(const u9i_window *w, uint64_t p, uint64_t bound, u9i_frame *out)
{
    uint8_t head[U9I_FRAME_HEADER_SIZE], tail[U9I_FRAME_TAIL];
    uint64_t total;
    u9i_frame f;
    bool valid = w->brief && trust_in(w, p) == U9I_TRUST_FRAME && u9i_read_exactly(w->file, p, head, sizeof head) == 0 &&
                 u9i_frame_verify_ends(&w->secret, p, bound, head, NULL, &total, &f) == U9_AGAIN &&
                 u9i_read_exactly(w->file, p + total - sizeof tail, tail, sizeof tail) == 0 &&
                 u9i_frame_verify_ends(&w->secret, p, bound, head, tail, &total, &f) == U9_OK && f.trailer.count > 0;
    if (valid) *out = f;
    return valid;
}

/* u9i_window_at, which also tells where a search goes on behind a frame that is not valid. */
static u9_err prove_once(u9i_window *w, uint64_t p, uint64_t bound, u9i_frame *out, uint64_t *next)
{
    u9i_proof proof = {.need = U9I_FRAME_HEADER_SIZE, .plain = w->plain, .trust = trust_in(w, p), .head_start = &w->head_start};
    u9_err err;
    do {
        const uint8_t *bytes;
        size_t avail, seen;
        size_t want = proof.need;
        err = see(w, p, want, &bytes, &seen);
        if (err != U9_OK) return err;
        /* A file that is shorter than `bound` ends where reading ends. */
        if (seen < want && bound > p + seen) bound = p + seen;
        avail = light(w, p, seen);
        if (avail < want && avail < seen) {
            w->why = U9_R_UNREADABLE;
            *next = p + U9I_ALIGN;
            return U9_CORRUPT;
        }
        err = u9i_frame_verify(&w->secret, p, bound, bytes, avail, &proof, out);
        if (err == U9_OK && w->map && proof.trust != U9I_TRUST_NOTHING) touch_pages(out, bytes);
    } while (err == U9_AGAIN);
    w->why = err == U9_OK ? U9_R_NONE : proof.why;
    /* No boundary stands in [p + 16, p + searched): nothing can begin there. */
    *next = p + (proof.searched > U9I_ALIGN ? proof.searched : U9I_ALIGN);
    if (err == U9_OK && w->verified && proof.trust != U9I_TRUST_FRAME && !(w->map && u9i_mapping_broken(w->map)))
        u9i_verified_note(w->verified, p);
    return err;
}

static u9_err prove_frame(u9i_window *w, uint64_t p, uint64_t bound, u9i_frame *out, uint64_t *next)
{
    u9_err err;
    if (prove_briefly(w, p, bound, out)) {
        w->why = U9_R_NONE;
        return U9_OK;
    }
    do err = prove_once(w, p, bound, out, next);
    while (fell(w));
    return err;
}

u9_err u9i_window_at(u9i_window *w, uint64_t p, uint64_t bound, u9i_frame *out)
{
    uint64_t next;
    return prove_frame(w, p, bound, out, &next);
}

static u9_err search_boundary(u9i_window *w, uint64_t from, uint64_t to, uint64_t *at)
{
    uint64_t p = (from + U9I_ALIGN - 1) / U9I_ALIGN * U9I_ALIGN;
    for (*at = to; p < to;) {
        const uint8_t *bytes;
        size_t avail;
        u9_err err = see(w, p, U9I_ALIGN, &bytes, &avail); /* no boundary is zero */
        if (err != U9_OK) return err;
        avail -= avail % U9I_ALIGN;
        if (avail == 0) break;
        size_t hit = u9i_boundary_find(w->secret.boundary, bytes, 0, avail);
        p += hit;
        if (hit == avail) {
            uint64_t end = known_end(w, p - (avail < U9I_SECTOR ? avail : U9I_SECTOR), p);
            if (end > p) p = end / U9I_ALIGN * U9I_ALIGN;
        }
        if (hit == avail || p >= to) continue;
        *at = p;
        break;
    }
    return U9_OK;
}

u9_err u9i_window_boundary(u9i_window *w, uint64_t from, uint64_t to, uint64_t *at)
{
    u9_err err;
    do err = search_boundary(w, from, to, at);
    while (fell(w));
    return err;
}

uint64_t u9i_window_step(u9i_window *w, uint64_t p)
{
    uint64_t next = p + U9I_ALIGN, held = w->base + w->fill;
    if (w->map || next + U9I_FRAME_HEADER_SIZE <= held) return next;
    uint64_t end = known_end(w, next, held);
    /* A header whose magic is in front of the hole's end is none. */
    return end > held + U9I_FRAME_HEADER_SIZE ? end / U9I_ALIGN * U9I_ALIGN - U9I_FRAME_HEADER_SIZE : next;
}

/* The first of a row of places, from *p on, at which more than the boundary stands, or *p itself. [F-6] c */
static u9_err pass_once(u9i_window *w, uint64_t *p)
{
    const uint8_t *bytes;
    size_t avail, at = 0;
    u9_err err = see(w, *p, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
    if (err != U9_OK) return err;
    while (avail >= at + U9I_FRAME_HEADER_SIZE && memcmp(bytes + at, w->secret.boundary, U9I_HASH_SIZE) == 0 &&
           memcmp(bytes + at + 48, u9i_frame_magic, sizeof u9i_frame_magic) != 0)
        at += U9I_ALIGN;
    *p += at;
    return U9_OK;
}

/* So a file of boundaries alone is passed as fast as it is searched. */
static u9_err pass_headless(u9i_window *w, uint64_t *p)
{
    u9_err err;
    uint64_t from = *p;
    do {
        *p = from;
        err = pass_once(w, p);
    } while (fell(w));
    return err;
}

u9_err u9i_window_find(u9i_window *w, uint64_t from, uint64_t bound, u9i_frame *out)
{
    uint64_t p = from < U9I_DISK_HEADER_SIZE ? U9I_DISK_HEADER_SIZE : from;
    while (p < bound) {
        u9_err err = u9i_window_boundary(w, p, bound, &p);
        uint64_t headed = p;
        if (err == U9_OK && p < bound) err = pass_headless(w, &headed);
        if (err == U9_OK && headed > p) {
            p = headed;
            continue;
        }
        if (err == U9_OK && p < bound) err = prove_frame(w, p, bound, out, &p);
        else if (err == U9_OK) break;
        if (err != U9_CORRUPT) return err;
    }
    return U9_END;
}

/* The stretch p of n bytes at `at`, within one sector, of which only what is at or behind `from` counts. */
static void note_sector(uint64_t at, uint64_t from, const uint8_t *p, size_t n, u9i_zeros *out)
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

static u9_err look_for_zeros(u9i_window *w, uint64_t from, uint64_t to, u9i_zeros *out)
{
    *out = (u9i_zeros){.last = from, .sector = U9_NOWHERE};
    for (uint64_t at = from / U9I_SECTOR * U9I_SECTOR, next; at < to; at = next) {
        size_t n = (size_t)(to - at < U9I_SECTOR ? to - at : U9I_SECTOR);
        const uint8_t *bytes;
        size_t avail;
        u9_err err = see(w, at, n, &bytes, &avail);
        if (err != U9_OK) return err;
        if (avail == 0) break;
        if (n > avail) n = avail;
        if (dark_in(w, at, at + n)) out->last = at + n;
        else note_sector(at, from, bytes, n, out);
        next = at + U9I_SECTOR;
        if (w->map ? next % CHUNK == 0 : next == w->base + w->fill) next = known_end(w, at, next) / U9I_SECTOR * U9I_SECTOR;
    }
    return U9_OK;
}

u9_err u9i_window_zeros(u9i_window *w, uint64_t from, uint64_t to, u9i_zeros *out)
{
    u9_err err;
    do err = look_for_zeros(w, from, to, out);
    while (fell(w));
    return err;
}
