/*
 * engine/segment/boundary.c: see boundary.h. [G-2]
 */
#include "engine/segment/boundary.h"

#include "format/base/bytes.h"
#include "format/frame/disk.h"

#include <string.h>

enum { HASHED_MAX = 4 }; /* times the file */

/*
 * U9_OK if a trailer that names p stands where the header at p says; U9_CORRUPT: none does; U9_AGAIN: who knows, as it
 * cannot be read. Read apart: the window stays. [F-6] d g
 */
static u9_err names_itself(const u9i_window *window, uint64_t p, uint64_t size, uint64_t length, u9i_trailer *out)
{
    uint8_t bytes[U9I_TRAILER_SIZE];
    size_t got = 0;
    if (length < U9I_TRAILER_SIZE || length > U9I_PAYLOAD_MAX ||
        U9I_FRAME_HEADER_SIZE + length + u9i_padding(length) > size - p)
        return U9_CORRUPT;
    uint64_t at = p + U9I_FRAME_HEADER_SIZE + length - U9I_TRAILER_SIZE;
    if (u9i_file_read(window->file, at, bytes, sizeof bytes, &got) != 0) return U9_AGAIN;
    if (got < sizeof bytes || !u9i_trailer_decode(bytes, out)) return U9_CORRUPT;
    bool place = p == U9I_DISK_HEADER_SIZE
                     ? out->previous == 0
                     : out->previous >= U9I_DISK_HEADER_SIZE && out->previous < p;
    return place && out->offset == p && out->durable <= p ? U9_OK : U9_CORRUPT;
}

u9_err u9i_unsigned_at(u9i_window *w, uint64_t p, uint64_t size, uint64_t *left, u9i_unsigned *out)
{
    const uint8_t *bytes;
    size_t avail;
    uint8_t sha[U9I_HASH_SIZE];
    u9_err err = u9i_window_bytes(w, p, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
    if (err != U9_OK) return err;
    if (avail < U9I_FRAME_HEADER_SIZE || memcmp(bytes + 48, u9i_frame_magic, sizeof u9i_frame_magic) != 0)
        return U9_CORRUPT;
    uint64_t length = u9i_get_be(bytes + 56, 8), total = U9I_FRAME_HEADER_SIZE + length;
    err = names_itself(w, p, size, length, &out->trailer);
    if (err != U9_OK) return err;
    if (total > *left) return U9_LIMIT;
    *left -= total;
    err = u9i_window_bytes(w, p, (size_t)total, &bytes, &avail);
    if (err != U9_OK) return err;
    if (avail < total) return U9_CORRUPT;
    out->end = p + total + u9i_padding(length);
    memcpy(out->boundary, bytes, sizeof out->boundary);
    u9i_hash(bytes + U9I_FRAME_HEADER_SIZE, (size_t)length, sha);
    return memcmp(sha, bytes + 16, sizeof sha) == 0 ? U9_OK : U9_TORN;
}

/* Adds a boundary that is not there yet; false if there is no room. */
static bool note_boundary(u9i_boundaries *b, const uint8_t boundary[U9I_HASH_SIZE])
{
    for (unsigned i = 0; i < b->count; i++)
        if (memcmp(b->found[i], boundary, U9I_HASH_SIZE) == 0) return true;
    if (b->count == U9I_BOUNDARIES_MAX) return false;
    memcpy(b->found[b->count++], boundary, U9I_HASH_SIZE);
    return true;
}

/* The next place from `*p` on at which a frame's magic stands; `size` if there is none. */
static u9_err next_magic(u9i_window *w, uint64_t size, uint64_t *p)
{
    for (; *p < size; *p = u9i_window_step(w, *p)) {
        const uint8_t *bytes;
        size_t avail;
        u9_err err = u9i_window_bytes(w, *p, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
        if (err != U9_OK) return err;
        if (avail < U9I_FRAME_HEADER_SIZE) continue; /* it is dark there, or the file's end */
        if (bytes[48] == u9i_frame_magic[0] && memcmp(bytes + 48, u9i_frame_magic, 8) == 0) break;
    }
    return U9_OK;
}

u9_err u9i_boundary_search(u9i_window *w, uint64_t size, u9i_boundaries *out)
{
    uint64_t left = HASHED_MAX * size, p = U9I_DISK_HEADER_SIZE;
    u9i_boundaries wounded = {.count = 0};
    u9i_unsigned f;
    *out = (u9i_boundaries){.count = 0};
    while (!out->given_up) {
        u9_err err = next_magic(w, size, &p);
        if (err != U9_OK) return err;
        if (p >= size) break;
        err = u9i_unsigned_at(w, p, size, &left, &f);
        if (err == U9_IO) return err;
        if (err == U9_OK) out->given_up = !note_boundary(out, f.boundary);
        if (err == U9_TORN) out->contested |= !note_boundary(&wounded, f.boundary);
        if (err == U9_LIMIT) out->given_up = true;
        p = err == U9_OK ? f.end : p + U9I_ALIGN; /* what stands in another does not count */
    }
    for (unsigned i = 0; i < wounded.count; i++)
        out->contested |= memcmp(wounded.found[i], out->found[0], U9I_HASH_SIZE) != 0;
    return U9_OK;
}

const uint8_t *u9i_boundary_elected(const u9i_boundaries *b)
{
    return b->count == 1 && !b->contested && !b->given_up ? b->found[0] : NULL;
}
