/*
 * tests/engine/files.c: see files.h. A few verbs know both disks; the others are made of them.
 */
#include "tests/engine/files.h"

#include "format/base/hash.h"
#include "tests/must.h"
#include "tests/sim/sim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_simulated(const char *path)
{
    char above[4400];
    const char *slash = strrchr(path, '/');
    if (sim_holds(path)) return true;
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - path) : 0, path);
    return slash && slash > path && sim_is_dir(above);
}

/* On either disk */

bool exists(const char *path)
{
    return is_simulated(path) ? sim_holds(path) : access(path, F_OK) == 0;
}

uint64_t file_size(const char *path)
{
    struct stat st;
    if (is_simulated(path)) return sim_size(path);
    MUST_SAY(stat(path, &st) == 0, "%s: %s", path, strerror(errno));
    return (uint64_t)st.st_size;
}

static int open_real(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    MUST_SAY(fd >= 0, "%s: %s", path, strerror(errno));
    return fd;
}

void read_bytes(const char *path, uint64_t offset, void *bytes, size_t size)
{
    if (is_simulated(path)) {
        MUST(sim_read(path, offset, bytes, size) == size);
        return;
    }
    int fd = open_real(path, O_RDONLY);
    MUST(pread(fd, bytes, size, (off_t)offset) == (ssize_t)size);
    close(fd);
}

void put_bytes(const char *path, uint64_t offset, const void *bytes, size_t size)
{
    if (is_simulated(path)) {
        MUST_SAY(sim_holds(path), "%s: not there", path);
        sim_write(path, offset, bytes, size);
        return;
    }
    int fd = open_real(path, O_RDWR);
    MUST(pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size);
    close(fd);
}

void cut_file(const char *path, uint64_t size)
{
    if (is_simulated(path)) sim_resize(path, size);
    else MUST(truncate(path, (off_t)size) == 0);
}

/* In place: ext4 writes a file that was cut to nothing first to the disk when it is closed. */
void write_file(const char *path, const void *bytes, size_t size)
{
    if (is_simulated(path)) {
        sim_resize(path, 0);
        sim_write(path, 0, bytes, size);
        return;
    }
    int fd = open_real(path, O_WRONLY | O_CREAT);
    MUST(write(fd, bytes, size) == (ssize_t)size);
    MUST(ftruncate(fd, (off_t)size) == 0);
    close(fd);
}

void make_dir(const char *path)
{
    if (is_simulated(path)) sim_make_dir(path);
    else MUST_SAY(mkdir(path, 0700) == 0 || errno == EEXIST, "%s: %s", path, strerror(errno));
}

void move_file(const char *from, const char *to)
{
    if (is_simulated(from)) sim_move(from, to);
    else MUST_SAY(rename(from, to) == 0, "%s: %s", from, strerror(errno));
}

static void remove_real(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        unlink(path);
        return;
    }
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        char inner[4400];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        remove_real(inner);
    }
    closedir(dir);
    rmdir(path);
}

void remove_log(const char *path)
{
    if (is_simulated(path)) sim_remove(path);
    else remove_real(path);
}

static int no_dots(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

char **list_names(const char *path, size_t *count)
{
    struct dirent **entries;
    if (is_simulated(path)) return sim_names(path, count);
    int n = scandir(path, &entries, no_dots, alphasort);
    MUST_SAY(n >= 0, "%s: %s", path, strerror(errno));
    char **names = calloc((size_t)n + 1, sizeof *names);
    for (int i = 0; i < n; i++) {
        names[i] = strdup(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    *count = (size_t)n;
    return names;
}

/* Made of these */

void remove_mark(const char *log)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/.mark", log);
    if (exists(path)) remove_log(path);
}

uint8_t *read_file(const char *path, size_t *size)
{
    *size = (size_t)file_size(path);
    uint8_t *bytes = malloc(*size + 1);
    read_bytes(path, 0, bytes, *size);
    return bytes;
}

void flip_bit(const char *path, uint64_t offset, unsigned bit)
{
    uint8_t byte;
    read_bytes(path, offset, &byte, 1);
    byte ^= (uint8_t)(1u << bit);
    put_bytes(path, offset, &byte, 1);
}

void fill_bytes(const char *path, uint64_t offset, uint64_t count, uint8_t value)
{
    uint8_t *bytes = malloc(count + 1);
    memset(bytes, value, count);
    put_bytes(path, offset, bytes, count);
    free(bytes);
}

void extend_file(const char *path, uint64_t size)
{
    MUST(file_size(path) <= size);
    cut_file(path, size);
}

/* Calls `each` for the path and the name of every file in a directory. */
static void each_file(const char *log, void (*each)(void *ctx, const char *path, const char *name),
                      void *ctx)
{
    size_t count;
    char **names = list_names(log, &count);
    for (size_t i = 0; i < count; i++) {
        char path[4400];
        snprintf(path, sizeof path, "%s/%s", log, names[i]);
        each(ctx, path, names[i]);
        free(names[i]);
    }
    free(names);
}

static void copy_file(void *ctx, const char *path, const char *name)
{
    char to[4400];
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    snprintf(to, sizeof to, "%s/%s", *(const char **)ctx, name);
    write_file(to, bytes, size);
    free(bytes);
}

void copy_log(const char *from, const char *to)
{
    MUST_SAY(!exists(to), "%s: there already", to);
    if (is_simulated(from) && is_simulated(to)) {
        sim_copy(from, to);
        return;
    }
    make_dir(to);
    each_file(from, copy_file, &to);
}

static void count_segment(void *ctx, const char *path, const char *name)
{
    (void)path;
    *(unsigned *)ctx += strlen(name) == 19 && strspn(name, "0123456789abcdef") == 16 &&
                        strcmp(name + 16, ".u9") == 0 && strspn(name, "0") < 16;
}

unsigned segments_in(const char *log)
{
    unsigned n = 0;
    if (exists(log)) each_file(log, count_segment, &n);
    return n;
}

static void add_to_picture(void *ctx, const char *path, const char *name)
{
    size_t size, length = strlen(name);
    uint8_t *bytes = read_file(path, &size);
    bytes = realloc(bytes, size + length + 16);
    memcpy(bytes + size, name, length);
    memcpy(bytes + size + length, ctx, 16);
    u9i_hash(bytes, size + length + 16, ctx);
    free(bytes);
}

void picture(const char *log, uint8_t out[16])
{
    memset(out, 0, 16);
    each_file(log, add_to_picture, out);
}
