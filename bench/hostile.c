/*
 * bench/hostile.c: see hostile.h. What a file is made of is told by the specification: H-1, F-1, F-5.
 */
#include "bench/hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DISK_HEADER = 32,
    FRAME_HEADER = 64,
    MAGIC_AT = 48,
    LENGTH_AT = 56,
    PLACE = 16,
    BLOCK = 4096,
    PAYLOAD_MAX = 16 << 20,
    KEPT = 1 << 18, /* bytes at both ends of the segment that stay what they are */
    CHUNK = 1 << 20
};

typedef struct mapped_file {
    uint8_t *bytes;
    size_t size, from, to; /* what is written over */
} mapped_file;

static mapped_file map_first(const job_spec *job)
{
    char path[PATH_ROOM + 32];
    struct stat st;
    snprintf(path, sizeof path, "%s/%016x.u9", job->dir, 1u);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) die(path, NULL);
    mapped_file f = {.size = (size_t)st.st_size};
    f.bytes = mmap(NULL, f.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (f.bytes == MAP_FAILED) die(path, NULL);
    close(fd);
    f.from = f.size < 4 * KEPT ? f.size / 4 / BLOCK * BLOCK : KEPT;
    f.to = f.size < 4 * KEPT ? f.size / 2 : f.size - KEPT;
    return f;
}

static void unmap(mapped_file *f)
{
    if (msync(f->bytes, f->size, MS_SYNC) != 0 || munmap(f->bytes, f->size) != 0)
        die("msync", NULL);
}

static void fill_garbage(uint8_t *bytes, size_t size, uint64_t seed)
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t v = mixed(seed + at + 1);
        memcpy(bytes + at, &v, 8);
    }
}

void spoil_garbage(const job_spec *job)
{
    mapped_file f = map_first(job);
    fill_garbage(f.bytes + f.from, f.to - f.from, 0);
    unmap(&f);
}

void spoil_boundaries(const job_spec *job)
{
    mapped_file f = map_first(job);
    for (size_t at = f.from; at + PLACE <= f.to; at += PLACE)
        memcpy(f.bytes + at, f.bytes + DISK_HEADER, PLACE);
    unmap(&f);
}

/* Whole frames, each of which is valid somewhere else. */
void spoil_copies(const job_spec *job)
{
    mapped_file f = map_first(job);
    for (size_t at = f.from; at < f.to; at += f.from - BLOCK)
        memcpy(f.bytes + at, f.bytes + BLOCK, f.to - at < f.from - BLOCK ? f.to - at : f.from - BLOCK);
    unmap(&f);
}

void spoil_claims(const job_spec *job)
{
    mapped_file f = map_first(job);
    for (size_t at = f.from; at + FRAME_HEADER <= f.to; at += FRAME_HEADER) {
        uint64_t room = f.size - at - FRAME_HEADER,
                 length = htobe64(room < PAYLOAD_MAX ? room : PAYLOAD_MAX);
        memcpy(f.bytes + at, f.bytes + DISK_HEADER, LENGTH_AT);
        memcpy(f.bytes + at + LENGTH_AT, &length, sizeof length);
    }
    unmap(&f);
}

void spoil_flips(const job_spec *job)
{
    mapped_file f = map_first(job);
    for (size_t at = DISK_HEADER; at + FRAME_HEADER < f.to;) { /* but the u9open, and what seals */
        uint64_t length;
        memcpy(&length, f.bytes + at + LENGTH_AT, sizeof length);
        length = be64toh(length);
        bool frame =
            memcmp(f.bytes + at, f.bytes + DISK_HEADER, PLACE) == 0 && length < f.size - at;
        if (frame && at > DISK_HEADER) f.bytes[at + FRAME_HEADER + length / 2] ^= 1;
        at = frame ? (at + FRAME_HEADER + (size_t)length + PLACE - 1) / PLACE * PLACE
                   : (at / BLOCK + 1) * BLOCK;
    }
    unmap(&f);
}

void image_of(const job_spec *job, char path[PATH_ROOM + 16])
{
    snprintf(path, PATH_ROOM + 16, "%s/image", job->dir);
}

static FILE *open_image(const job_spec *job)
{
    char path[PATH_ROOM + 16];
    image_of(job, path);
    FILE *f = fopen(path, "wbe");
    if (f == NULL) die(path, NULL);
    return f;
}

static void write_garbage(FILE *to, uint64_t size)
{
    static uint8_t bytes[CHUNK];
    fill_garbage(bytes, sizeof bytes, size);
    for (uint64_t at = 0; at < size; at += CHUNK)
        if (fwrite(bytes, size - at < CHUNK ? (size_t)(size - at) : CHUNK, 1, to) != 1)
            die("image", NULL);
}

static void close_image(FILE *f)
{
    if (fflush(f) != 0 || fdatasync(fileno(f)) != 0 || fclose(f) != 0) die("image", NULL);
}

void make_garbage(const job_spec *job)
{
    FILE *image = open_image(job);
    write_garbage(image, data_bytes(job->records));
    close_image(image);
}

/* Moves the store's segment into the image; false: there is none of this number. */
static bool take_segment(const job_spec *job, unsigned number, FILE *image)
{
    static uint8_t bytes[CHUNK];
    char path[PATH_ROOM + 32];
    size_t got;
    snprintf(path, sizeof path, "%s/%016x.u9", job->dir, number);
    FILE *f = fopen(path, "rbe");
    if (f == NULL) return false;
    while ((got = fread(bytes, 1, sizeof bytes, f)) > 0)
        if (fwrite(bytes, got, 1, image) != 1) die("image", NULL);
    fclose(f);
    remove(path);
    return true;
}

void spoil_image(const job_spec *job)
{
    FILE *image = open_image(job);
    write_garbage(image, CHUNK);
    for (unsigned number = 1; take_segment(job, number, image); number++)
        write_garbage(image, CHUNK + 512);
    close_image(image);
}
