/*
 * engine/write/writer_space.c: what a killed session had reserved and not written is cut from its files by the
 * next one that writes. [S-7]
 *
 * Only zeros go, whole blocks of them, behind the end that is named: no byte that was ever promised or read, and
 * no verdict, depends on them. Nothing here is an error: what stays, a later session cuts.
 */
#include "engine/write/writer_parts.h"

/*
 * The offset behind the last byte that is not zero in [from, to), or `from`. 0 or a negative errno. Holes are not
 * read: in front of one the next look goes twice as far back, and half as far where there are data.
 */
static int last_written(u9i_file *file, uint64_t from, uint64_t to, uint64_t *out)
{
    uint8_t bytes[4 * U9I_BLOCK];
    uint64_t step = sizeof bytes;
    while (to > from) {
        uint64_t at = to - from > step ? to - step : from;
        size_t got = 0;
        bool hole = u9i_file_data(file, at) >= to;
        if (!hole && to - at > sizeof bytes) {
            step /= 2;
            continue;
        }
        int sys = hole ? 0 : u9i_file_read(file, at, bytes, (size_t)(to - at), &got);
        if (sys != 0) return sys;
        if (hole) step *= 2;
        while (got > 0 && bytes[got - 1] == 0) got--;
        to = at + got;
        if (got > 0) break;
    }
    *out = to;
    return 0;
}

static void cut_zeros(u9i_file *file, uint64_t keep)
{
    uint64_t size, end;
    if (u9i_file_lock(file) != 0 || u9i_file_size(file, &size) != 0) return; /* its writer is not gone for good */
    if (size % U9I_BLOCK != 0 || keep >= size || last_written(file, keep, size, &end) != 0) return;
    end = (end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    if (end < size) (void)u9i_file_truncate(file, end);
}

void u9i_writer_give_back(u9i_writer *w)
{
    for (; w->plan.left_count > 0; w->plan.left_count--) {
        const u9i_left *left = &w->plan.left[w->plan.left_count - 1];
        u9i_file *file;
        if (u9i_file_open(w->dir, left->name, U9I_OPEN_WRITE, &file) != 0) continue;
        cut_zeros(file, left->keep);
        u9i_file_close(file);
    }
}
