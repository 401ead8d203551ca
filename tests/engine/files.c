/*
 * tests/engine/files.c: see files.h. A few verbs know the disks; the others are made of them.
 */
#include "tests/engine/files.h"

#include "engine/os/store.h"
#include "format/base/hash.h"
#include "tests/must.h"
#define SIM_WITHIN /* they ask first which disk it is */
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

/* In a store: U9_IO is its address, as with `make test-rados` */

static bool is_stored(const char *path)
{
    const char *io = getenv("U9_IO");
    return io && strchr(io, ':') && !is_simulated(path);
}

/* The directory that a path stands in, and the name in it; or what the path itself stands for (`name` NULL). */
static int open_stored(const char *path, const char **name, u9i_dir **out)
{
    static char above[4400];
    u9i_env *env;
    const char *slash = strrchr(path, '/');
    snprintf(above, sizeof above, "%.*s", !name ? (int)strlen(path) : slash ? (int)(slash - path) : 0, path);
    if (name) *name = slash ? slash + 1 : path;
    path = above;
    MUST(u9i_env_of(NULL, &path, &env, NULL) == U9_OK);
    return u9i_dir_open(env, path, false, out);
}

static u9i_file *stored_file(const char *path, u9i_open_mode mode, u9i_dir **dir)
{
    u9i_file *file;
    const char *name;
    int err = open_stored(path, &name, dir);
    if (err == 0) err = u9i_file_open(*dir, name, mode, &file);
    if (err == -ENOENT && mode == U9I_OPEN_WRITE) err = u9i_file_open(*dir, name, U9I_OPEN_CREATE, &file);
    MUST_SAY(err == 0, "%s: %s", path, strerror(-err));
    return file;
}

static void close_stored(u9i_dir *dir, u9i_file *file)
{
    u9i_file_close(file);
    u9i_dir_close(dir);
}

static int stamp_stored(const char *path, u9i_stamp *out)
{
    u9i_dir *dir;
    const char *name;
    int err = open_stored(path, &name, &dir);
    if (err != 0) return err;
    err = u9i_dir_stat(dir, name, out);
    u9i_dir_close(dir);
    return err;
}

static void write_stored(const char *path, uint64_t offset, const void *bytes, size_t size)
{
    u9i_dir *dir;
    u9i_queue *queue;
    u9i_file *file = stored_file(path, U9I_OPEN_WRITE, &dir);
    MUST(u9i_queue_open(dir->env, NULL, 0, 0, &queue) == 0);
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .off = offset, .buf = (void *)(uintptr_t)bytes, .n = size};
    MUST(size == 0 || u9i_queue_do(queue, &op) == (int64_t)size);
    u9i_queue_close(queue);
    close_stored(dir, file);
}

static void cut_stored(const char *path, uint64_t size)
{
    u9i_dir *dir;
    u9i_file *file = stored_file(path, U9I_OPEN_WRITE, &dir);
    MUST(u9i_file_truncate(file, size) == 0);
    close_stored(dir, file);
}

static void make_stored_dir(const char *path)
{
    u9i_dir *dir;
    u9i_env *env;
    const char *in = path, *slash = strrchr(path, '/');
    char above[4400];
    MUST(u9i_env_of(NULL, &in, &env, NULL) == U9_OK);
    int err = u9i_dir_open(env, in, true, &dir);
    if (err == -ENOENT && slash && slash > path) {
        snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
        make_stored_dir(above);
        err = u9i_dir_open(env, in, true, &dir);
    }
    MUST_SAY(err == 0, "%s: %s", path, strerror(-err));
    u9i_dir_close(dir);
}

typedef struct stored_names {
    char **names;
    size_t count;
} stored_names;

static int add_name(void *ctx, const char *name)
{
    stored_names *n = ctx;
    n->names = realloc(n->names, (n->count + 2) * sizeof *n->names);
    n->names[n->count++] = strdup(name);
    n->names[n->count] = NULL;
    return 0;
}

/* In order: so the store has them. */
static char **names_stored(const char *path, size_t *count)
{
    u9i_dir *dir;
    stored_names n = {calloc(1, sizeof *n.names), 0};
    int err = open_stored(path, NULL, &dir);
    MUST_SAY(err == 0, "%s: %s", path, strerror(-err));
    MUST(u9i_dir_list(dir, add_name, &n) == 0);
    u9i_dir_close(dir);
    *count = n.count;
    return n.names;
}

static void remove_stored(const char *path)
{
    u9i_dir *dir;
    const char *name;
    if (open_stored(path, NULL, &dir) != 0) return;
    bool single = dir->single[0] != 0;
    u9i_dir_close(dir);
    size_t count = 0;
    char **names = single ? NULL : names_stored(path, &count);
    for (size_t i = 0; i < count; i++) {
        char inner[4400];
        snprintf(inner, sizeof inner, "%s/%s", path, names[i]);
        remove_stored(inner);
        free(names[i]);
    }
    free(names);
    if (open_stored(path, &name, &dir) != 0) return;
    (void)u9i_dir_remove(dir, name);
    u9i_dir_close(dir);
}

static void move_stored(const char *from, const char *to)
{
    u9i_dir *dir;
    const char *name;
    MUST(open_stored(from, &name, &dir) == 0);
    const char *slash = strrchr(to, '/');
    int err = u9i_dir_rename(dir, name, slash ? slash + 1 : to);
    MUST_SAY(err == 0, "%s: %s", from, strerror(-err));
    u9i_dir_close(dir);
}

/* On any disk */

bool exists(const char *path)
{
    if (is_stored(path)) return stamp_stored(path, &(u9i_stamp){0}) == 0;
    return is_simulated(path) ? sim_holds(path) : access(path, F_OK) == 0;
}

uint64_t file_size(const char *path)
{
    struct stat st;
    u9i_stamp stamp = {0};
    if (is_simulated(path)) return sim_size(path);
    if (is_stored(path)) {
        int err = stamp_stored(path, &stamp);
        MUST_SAY(err == 0, "%s: %s", path, strerror(-err));
        return stamp.size;
    }
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
    if (is_stored(path)) {
        u9i_dir *dir;
        u9i_file *file = stored_file(path, U9I_OPEN_READ, &dir);
        size_t got;
        MUST(u9i_file_read(file, offset, bytes, size, &got) == 0 && got == size);
        close_stored(dir, file);
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
    if (is_stored(path)) {
        MUST_SAY(exists(path), "%s: not there", path);
        write_stored(path, offset, bytes, size);
        return;
    }
    int fd = open_real(path, O_RDWR);
    MUST(pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size);
    close(fd);
}

void cut_file(const char *path, uint64_t size)
{
    if (is_simulated(path)) sim_resize(path, size);
    else if (is_stored(path)) cut_stored(path, size);
    else MUST(truncate(path, (off_t)size) == 0);
}

/*
 * Into a file that has nothing (a simulated one, or else `fd`): what a log holds ready for later is megabytes of zeros, and
 * stays a hole.
 */
static void write_sparse(const char *path, int fd, const uint8_t *bytes, size_t size)
{
    enum { CHUNK = 1 << 16 };
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < CHUNK ? size - at : CHUNK;
        bool zeros = bytes[at] == 0 && memcmp(bytes + at, bytes + at + 1, n - 1) == 0;
        if (zeros) continue;
        if (fd < 0) sim_write(path, at, bytes + at, n);
        else MUST(pwrite(fd, bytes + at, n, (off_t)at) == (ssize_t)n);
    }
}

/* In place: ext4 writes a file that was cut to nothing first to the disk when it is closed. */
void write_file(const char *path, const void *bytes, size_t size)
{
    if (is_simulated(path)) {
        sim_resize(path, 0);
        write_sparse(path, -1, bytes, size);
        sim_resize(path, size);
        return;
    }
    if (is_stored(path)) {
        write_stored(path, 0, bytes, size);
        cut_stored(path, size);
        return;
    }
    int fd = open_real(path, O_WRONLY | O_CREAT);
    if (lseek(fd, 0, SEEK_END) == 0) write_sparse(path, fd, bytes, size);
    else MUST(pwrite(fd, bytes, size, 0) == (ssize_t)size);
    MUST(ftruncate(fd, (off_t)size) == 0);
    close(fd);
}

void make_dir(const char *path)
{
    if (is_simulated(path)) sim_make_dir(path);
    else if (is_stored(path)) make_stored_dir(path);
    else MUST_SAY(mkdir(path, 0700) == 0 || errno == EEXIST, "%s: %s", path, strerror(errno));
}

void move_file(const char *from, const char *to)
{
    if (is_simulated(from)) sim_move(from, to);
    else if (is_stored(from)) move_stored(from, to);
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
    else if (is_stored(path)) remove_stored(path);
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
    if (is_stored(path)) return names_stored(path, count);
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

void make_bytes(const char *path, uint64_t offset, const void *bytes, size_t size)
{
    if (!exists(path)) write_file(path, "", 0);
    put_bytes(path, offset, bytes, size);
}

void make_size(const char *path, uint64_t size)
{
    if (!exists(path)) write_file(path, "", 0);
    cut_file(path, size);
}

size_t read_some(const char *path, uint64_t offset, void *bytes, size_t size)
{
    uint64_t there = file_size(path), left = there > offset ? there - offset : 0;
    if (size > left) size = (size_t)left;
    read_bytes(path, offset, bytes, size);
    return size;
}

void copy_any(const char *from, const char *to)
{
    u9i_dir *dir;
    MUST(open_stored(from, NULL, &dir) == 0);
    bool single = dir->single[0] != 0;
    u9i_dir_close(dir);
    const char *slash = strrchr(to, '/');
    char above[4400];
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - to) : 0, to);
    if (single) copy_file(&(const char *){above}, from, slash ? slash + 1 : to);
    else make_dir(to), each_file(from, copy_file, &to);
}

/* What a writer does by itself, after a while (its mark, its promise), it does much later. */
enum { SOON_US = 30000, PATIENCE = 1000 };

static const u9i_executor *system_executor;

static void submit_late(u9i_env *env, u9i_task *task, uint64_t due_us)
{
    uint64_t now = u9i_monotonic_us(env);
    if (due_us > now + SOON_US) due_us = now + PATIENCE * (due_us - now);
    system_executor->submit(env, task, due_us);
}

static void be_patient(u9i_env *env)
{
    static u9i_executor late;
    if (env->executor == &late) return;
    system_executor = env->executor;
    late = *system_executor;
    late.submit = submit_late;
    env->executor = &late;
}

bool stored_begin(void)
{
    u9i_dir *dir;
    static unsigned worlds;
    char fresh[4400];
    const char *io = getenv("U9_IO");
    if (io == NULL || strchr(io, ':') == NULL) return false;
    sim_stay_away();
    snprintf(fresh, sizeof fresh, "%s&namespace=%d.%u", io, (int)getpid(), worlds++);
    MUST(strchr(io, '?') != NULL && setenv("U9_IO", fresh, 1) == 0);
    make_dir("/");
    MUST(open_stored("/", NULL, &dir) == 0);
    be_patient(dir->env);
    u9i_dir_close(dir);
    return true;
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
