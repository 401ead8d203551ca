/*
 * engine/check/atomic_dir.c: see newdir.h.
 */
#include "engine/check/atomic_dir.h"

#include "engine/log/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *u9i_atomic_dir_name(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    char *name = malloc(n + sizeof ".partial");
    if (name == NULL) return NULL;
    memcpy(name, path, n);
    memcpy(name + n, ".partial", sizeof ".partial");
    return name;
}

int u9i_atomic_dir_clear(const char *partial)
{
    DIR *dir = opendir(partial);
    if (dir == NULL) return errno == ENOENT ? 0 : -errno;
    int err = 0;
    struct dirent *e;
    while (err == 0 && (e = readdir(dir)) != NULL)
        if (u9i_segment_number(e->d_name) != 0 && unlinkat(dirfd(dir), e->d_name, 0) != 0)
            err = -errno;
    closedir(dir);
    if (err == 0 && rmdir(partial) != 0) err = -errno;
    return err;
}

static int sync_parent(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL) return -ENOMEM;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = fd < 0 || fsync(fd) != 0 ? -errno : 0;
    if (fd >= 0) close(fd);
    free(copy);
    return err;
}

int u9i_atomic_dir_keep(const char *partial, const char *path)
{
    return rename(partial, path) != 0 ? -errno : sync_parent(path);
}
