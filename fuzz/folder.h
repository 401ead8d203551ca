/*
 * fuzz/folder.h: a folder of its own for a fuzz target that works on files, and how such a target says what does not hold.
 * To be included by one source of a program: it takes the place of two calls of the C library.
 */
#ifndef FUZZ_FOLDER_H
#define FUZZ_FOLDER_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Durability is not what is looked at here: the disk is left alone. */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

#define must(holds) ((holds) ? (void)0 : fail(__FILE__, __LINE__, #holds))

static void fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

static char log_path[3100];

/* Makes the folder, names the log in it, and has the calls of the system without a ring. Returns the folder. */
static const char *make_folder(void)
{
    static char base[3000];
    const char *dir = getenv("TMPDIR");
    snprintf(base, sizeof base, "%s/u9-fuzz-XXXXXX", dir && dir[0] ? dir : "/tmp");
    must(mkdtemp(base) != NULL && setenv("U9_IO", "posix", 1) == 0);
    snprintf(log_path, sizeof log_path, "%s/log", base);
    return base;
}

static void clear(const char *path)
{
    char file[3500];
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        unlink(file); /* all but . and .. */
    }
    if (d) closedir(d);
    rmdir(path);
}

#endif
