/*
 * engine/check/small_file.c: see small_file.h.
 */
#include "engine/check/small_file.h"

#include "format/base/limits.h"

#include <errno.h>

/* One after the other. */
static int do_ops(u9i_file *file, u9i_op *ops, unsigned count)
{
    u9i_queue *queue;
    int err = u9i_queue_open(file->env, NULL, 0, 0, &queue);
    if (err != 0) return err;
    int64_t done = 0;
    for (unsigned i = 0; i < count && done >= 0; i++) done = u9i_queue_do(queue, &ops[i]);
    u9i_queue_close(queue);
    return done < 0 ? (int)done : 0;
}

int u9i_write_and_sync(u9i_file *file, uint64_t at, uint8_t *pages, size_t n)
{
    u9i_op ops[] = {{.kind = U9I_OP_WRITE, .file = file, .off = at, .buf = pages, .n = n},
                    {.kind = U9I_OP_SYNC, .file = file}};
    return do_ops(file, ops, 2);
}

static int fill_small(u9i_file *file, uint8_t *pages, size_t size)
{
    size_t whole = (size + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    u9i_op write = {.kind = U9I_OP_WRITE, .file = file, .buf = pages, .n = whole};
    int err = u9i_file_reserve(file, whole);
    if (err == 0) err = do_ops(file, &write, 1);
    if (err == 0) err = u9i_file_truncate(file, size);
    return err == 0 ? u9i_file_sync_and_evict(file) : err;
}

int u9i_small_file_put(u9i_dir *dir, const char *fresh, const char *name, uint8_t *pages, size_t size)
{
    u9i_file *file;
    int err = u9i_dir_remove(dir, fresh); /* what an interrupted run left */
    if (err == 0 || err == -ENOENT) err = u9i_file_open(dir, fresh, U9I_OPEN_CREATE, &file);
    if (err != 0) return err;
    err = fill_small(file, pages, size);
    u9i_file_close(file);
    if (err == 0) err = u9i_dir_rename(dir, fresh, name);
    if (err == 0) return u9i_dir_sync(dir);
    (void)u9i_dir_remove(dir, fresh); /* a disk that is full needs the room */
    return err;
}
