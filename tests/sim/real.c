/*
 * tests/sim/real.c: copies between the simulated disk and the real one, so that what stands beside the engine
 * (the second reader, the tools) can look at a simulated log. Chunks that were never written stay holes.
 */
#include "tests/must.h"
#include "tests/sim/world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void load_file(const char *real, const char *path)
{
    uint8_t *chunk = malloc(SIM_CHUNK);
    int fd = open(real, O_RDONLY | O_CLOEXEC);
    MUST_SAY(fd >= 0, "%s: %s", real, strerror(errno));
    sim_resize(path, 0);
    uint64_t off = 0;
    for (ssize_t n; (n = read(fd, chunk, SIM_CHUNK)) > 0; off += (uint64_t)n)
        sim_write(path, off, chunk, (size_t)n);
    close(fd);
    free(chunk);
}

void sim_load(const char *real, const char *path)
{
    DIR *dir = opendir(real);
    if (dir == NULL) {
        load_file(real, path);
        return;
    }
    sim_make_dir(path);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        char from[4400], to[4400];
        struct stat st;
        snprintf(from, sizeof from, "%s/%s", real, e->d_name);
        snprintf(to, sizeof to, "%s/%s", path, e->d_name);
        if (stat(from, &st) == 0 && S_ISREG(st.st_mode)) load_file(from, to);
    }
    closedir(dir);
}

static void store_chunk(int fd, const sim_image *image, size_t i)
{
    uint64_t off = (uint64_t)i * SIM_CHUNK;
    size_t n = image->size - off < SIM_CHUNK ? (size_t)(image->size - off) : SIM_CHUNK;
    if (image->chunks[i] == NULL) return;
    MUST_SAY(pwrite(fd, image->chunks[i]->bytes, n, (off_t)off) == (ssize_t)n, "cannot write");
}

static void store_file(const char *path, const char *real)
{
    sim_node *node = NULL;
    sim_image image = {0};
    pthread_mutex_lock(&world.lock);
    int err = sim_walk(path, &node);
    if (err == 0) sim_image_copy(&image, &node->image);
    pthread_mutex_unlock(&world.lock);
    MUST_SAY(err == 0, "%s: %s", path, strerror(-err));
    int fd = open(real, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    MUST_SAY(fd >= 0 && ftruncate(fd, (off_t)image.size) == 0, "%s: %s", real, strerror(errno));
    for (size_t i = 0; i < image.count; i++) store_chunk(fd, &image, i);
    close(fd);
    pthread_mutex_lock(&world.lock);
    sim_image_release(&image);
    pthread_mutex_unlock(&world.lock);
}

void sim_store(const char *path, const char *real)
{
    if (!sim_is_dir(path)) {
        store_file(path, real);
        return;
    }
    size_t count;
    char **names = sim_names(path, &count);
    MUST_SAY(mkdir(real, 0700) == 0 || errno == EEXIST, "%s: %s", real, strerror(errno));
    for (size_t i = 0; i < count; i++) {
        char from[4400], to[4400];
        snprintf(from, sizeof from, "%s/%s", path, names[i]);
        snprintf(to, sizeof to, "%s/%s", real, names[i]);
        if (!sim_is_dir(from)) store_file(from, to);
        free(names[i]);
    }
    free(names);
}
