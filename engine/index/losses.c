/*
 * engine/index/losses.c: see losses.h. [C-9]
 */
#include "engine/index/losses.h"

#include "format/base/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE = 16, PIECE = 1 << 20 };

static uint64_t lost_begin(const u9i_losses *l, uint32_t i)
{
    return u9i_get_be(l->ranges + (size_t)i * RANGE, 8);
}

static uint64_t lost_end(const u9i_losses *l, uint32_t i)
{
    return u9i_get_be(l->ranges + (size_t)i * RANGE + 8, 8);
}

static void losses_check(const u9i_losses *l)
{
    assert(l->count <= l->room && l->room <= U9I_LOSSES_MAX);
    for (uint32_t i = 0; i < l->count; i++) assert(lost_begin(l, i) < lost_end(l, i));
    for (uint32_t i = 1; i < l->count; i++) assert(lost_end(l, i - 1) <= lost_begin(l, i));
}

uint64_t u9i_losses_end(const u9i_losses *l)
{
    return l->count ? lost_end(l, l->count - 1) : 0;
}

void u9i_losses_free(u9i_losses *l)
{
    free(l->ranges);
    *l = (u9i_losses){.count = 0};
}

static bool grow_losses(u9i_losses *l)
{
    uint32_t room = l->room ? 2 * l->room : 16;
    if (l->count < l->room) return true;
    if (room > U9I_LOSSES_MAX) return false;
    uint8_t *more = (uint8_t *)realloc(l->ranges, (size_t)room * RANGE);
    if (more == NULL) return false;
    l->ranges = more;
    l->room = room;
    return true;
}

bool u9i_losses_add(u9i_losses *l, uint64_t begin, uint64_t end)
{
    uint64_t behind = u9i_losses_end(l);
    if (begin >= end) return false;
    if (begin < behind) begin = behind;
    if (begin >= end) return true;
    if (!grow_losses(l)) return false;
    u9i_set_be(l->ranges + (size_t)l->count * RANGE, 8, begin);
    u9i_set_be(l->ranges + (size_t)l->count * RANGE + 8, 8, end);
    l->count++;
    losses_check(l);
    return true;
}

u9_err u9i_losses_of(u9i_losses *l, const struct u9i_root_record *root)
{
    uint64_t before = 0;
    *l = (u9i_losses){.count = 0};
    if (root->lost_count / 2 > U9I_LOSSES_MAX) return U9_CORRUPT;
    for (uint32_t i = 0; i < root->lost_count; i += 2) {
        uint64_t begin = u9i_get_be(root->lost + (size_t)i * 8, 8), end = u9i_get_be(root->lost + (size_t)i * 8 + 8, 8);
        bool fits = begin >= before && begin < end;
        if (!fits || !u9i_losses_add(l, begin, end)) {
            u9i_losses_free(l);
            return fits ? U9_NOMEM : U9_CORRUPT;
        }
        before = end;
    }
    return U9_OK;
}

bool u9i_losses_have(const u9i_losses *l, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (lost_begin(l, i) <= begin && end <= lost_end(l, i)) return true;
    return false;
}

/* H of the hash so far and of a piece of the file, which may end before it. 0 or a negative errno. */
static int hash_lost_piece(u9i_file *file, uint64_t at, size_t n, uint8_t *buffer, size_t *got)
{
    int sys = u9i_file_read(file, at, buffer + U9I_HASH_SIZE, n, got);
    if (sys == 0) u9i_hash(buffer, U9I_HASH_SIZE + *got, buffer);
    return sys;
}

static int hash_range(u9i_file *file, uint64_t begin, uint64_t end, uint8_t *buffer)
{
    for (size_t got = PIECE; begin < end && got == PIECE; begin += got) {
        size_t n = end - begin < PIECE ? (size_t)(end - begin) : PIECE;
        int sys = hash_lost_piece(file, begin, n, buffer, &got);
        if (sys != 0) return sys;
    }
    return 0;
}

u9_err u9i_losses_hash(const u9i_losses *l, u9i_segment *s, uint8_t out[U9I_HASH_SIZE])
{
    u9i_file *file;
    uint8_t *buffer = (uint8_t *)calloc(1, U9I_HASH_SIZE + PIECE);
    if (buffer == NULL) return U9_NOMEM;
    int sys = u9i_segment_open(s, &file);
    if (sys == 0) {
        for (uint32_t i = 0; i < l->count && sys == 0; i++) sys = hash_range(file, lost_begin(l, i), lost_end(l, i), buffer);
        u9i_segment_close(s);
    }
    if (sys == 0) memcpy(out, buffer, U9I_HASH_SIZE);
    free(buffer);
    return sys == 0 ? U9_OK : U9_IO;
}
