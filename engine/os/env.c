/*
 * engine/os/env.c: which env a log gets; and what of a file system's word is believed.
 *
 * That nothing was ever written to reserved space is told by maps of extents, which are made for people who look at
 * fragments, and which not every file system keeps as well as its bytes. What they hide would end a log in silence, as
 * the frames that promise it are hidden with it; nor does it help to believe them behind the last promise only, as that
 * is looked for by them. So of whatever they say is empty some blocks are read, the first, the last, and others at equal
 * distances: a few calls, and nothing of the disk, where it is true. What a writer reserves is 16 MiB at a time, so a
 * megabyte that is hidden in it is seen; less, in the midst of it, is not. Holes are another matter: SEEK_DATA is made
 * for those who skip bytes.
 */
#include "engine/os/env.h"

#include "format/base/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static u9i_env *registered; /* tests only */

void u9i_env_register(u9i_env *env)
{
    registered = env;
}

/* A directory, a FIFO or a socket, a link that leads nowhere or to itself; or nothing. */
bool u9i_no_file(int sys)
{
    static const int says[] = {-ENOENT, -EINVAL, -EISDIR, -ELOOP, -ENXIO};
    size_t i = 0;
    while (i < sizeof says / sizeof *says && says[i] != sys) i++;
    return i < sizeof says / sizeof *says;
}

int u9i_read_exactly(u9i_file *file, uint64_t off, void *buf, size_t n)
{
    size_t got = 0;
    int err = u9i_file_read(file, off, buf, n, &got);
    return err == 0 && got < n ? -ENODATA : err;
}

enum { SAMPLE = 4096, SAMPLES = 16 };

/* True if the block at `at`, or what is left of it in front of `end`, is zeros. */
static bool is_empty_at(u9i_file *file, uint64_t at, uint64_t end)
{
    static const uint8_t zeros[SAMPLE];
    uint8_t bytes[SAMPLE];
    size_t n = end - at < SAMPLE ? (size_t)(end - at) : SAMPLE;
    return u9i_read_exactly(file, at, bytes, n) == 0 && memcmp(bytes, zeros, n) == 0;
}

uint64_t u9i_file_written(u9i_file *file, uint64_t off)
{
    const u9i_fs *fs = file->env->fs;
    uint64_t end = fs->written ? fs->written(file, off) : off, data = fs->data(file, off);
    if (end <= data) return data; /* a hole is all that there is, if that */
    uint64_t last = end - data > SAMPLE ? end - SAMPLE : data, step = (last - data) / SAMPLES + 1;
    bool empty = is_empty_at(file, last, end);
    for (uint64_t at = data; at < last && empty; at += step) empty = is_empty_at(file, at, end);
    return empty ? end : data;
}

static u9i_env *env_called(const char *name)
{
    bool any = name == NULL || name[0] == 0;
    if (registered && !any && strcmp(name, registered->name) == 0) return registered;
    if ((any || strcmp(name, "uring") == 0) && u9i_uring_usable()) return &u9i_env_uring;
    if (any || strcmp(name, "posix") == 0) return &u9i_env_posix;
    return NULL;
}

u9_err u9i_env_choose(const char *name, u9i_env **out, u9_fault *fault)
{
    if (name == NULL || name[0] == 0) name = getenv("U9_IO");
    u9i_env *env = env_called(name);
    if (env == NULL)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "the io table '%s' is not to be had here (posix, uring)",
                         name);
    *out = env;
    return U9_OK;
}
