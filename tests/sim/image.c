/*
 * tests/sim/image.c: the bytes of a file, in chunks that copies share until one of them is written to. A chunk
 * that was never written is not there: space that is only reserved costs a pointer for each.
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void drop_chunk(sim_chunk *chunk)
{
    if (chunk && --chunk->refs == 0) free(chunk);
}

/* The chunk, for writing: made, or no longer shared. */
static sim_chunk *own_chunk(sim_image *image, size_t i)
{
    sim_chunk *old = image->chunks[i];
    if (old && old->refs == 1) return old;
    sim_chunk *chunk = old ? malloc(sizeof *chunk) : calloc(1, sizeof *chunk);
    assert(chunk);
    if (old) memcpy(chunk, old, sizeof *chunk);
    chunk->refs = 1;
    drop_chunk(old);
    image->chunks[i] = chunk;
    return chunk;
}

static size_t chunks_for(uint64_t size)
{
    return (size_t)((size + SIM_CHUNK - 1) / SIM_CHUNK);
}

void sim_image_resize(sim_image *image, uint64_t size)
{
    size_t count = chunks_for(size);
    for (size_t i = count; i < image->count; i++) drop_chunk(image->chunks[i]);
    if (count > image->count) {
        image->chunks = realloc(image->chunks, count * sizeof *image->chunks);
        assert(image->chunks);
        memset(image->chunks + image->count, 0, (count - image->count) * sizeof *image->chunks);
    }
    image->count = count;
    size_t rest = (size_t)(size % SIM_CHUNK);
    if (size < image->size && rest > 0 && image->chunks[count - 1])
        memset(own_chunk(image, count - 1)->bytes + rest, 0, SIM_CHUNK - rest);
    image->size = size;
}

/* What of [off, off + n) lies in its first chunk. */
static size_t in_chunk(uint64_t off, size_t n)
{
    size_t room = SIM_CHUNK - (size_t)(off % SIM_CHUNK);
    return n < room ? n : room;
}

size_t sim_image_read(const sim_image *image, uint64_t off, void *buf, size_t n)
{
    if (off >= image->size) return 0;
    if (n > image->size - off) n = (size_t)(image->size - off);
    for (size_t done = 0, part; done < n; done += part) {
        const sim_chunk *chunk = image->chunks[(off + done) / SIM_CHUNK];
        part = in_chunk(off + done, n - done);
        if (chunk) memcpy((char *)buf + done, chunk->bytes + (off + done) % SIM_CHUNK, part);
        else memset((char *)buf + done, 0, part);
    }
    return n;
}

uint64_t sim_image_data(const sim_image *image, uint64_t off)
{
    size_t i = (size_t)(off / SIM_CHUNK);
    if (off >= image->size || image->chunks[i]) return off;
    while (i < image->count && image->chunks[i] == NULL) i++;
    return i < image->count ? (uint64_t)i * SIM_CHUNK : image->size;
}

void sim_image_write(sim_image *image, uint64_t off, const void *buf, size_t n)
{
    if (n > 0 && off + n > image->size) sim_image_resize(image, off + n);
    for (size_t done = 0, part; done < n; done += part) {
        sim_chunk *chunk = own_chunk(image, (size_t)((off + done) / SIM_CHUNK));
        part = in_chunk(off + done, n - done);
        memcpy(chunk->bytes + (off + done) % SIM_CHUNK, (const char *)buf + done, part);
    }
}

void sim_image_copy(sim_image *to, const sim_image *from)
{
    sim_image copy = {.count = from->count, .size = from->size};
    if (from->count > 0) {
        copy.chunks = malloc(from->count * sizeof *copy.chunks);
        assert(copy.chunks);
    }
    for (size_t i = 0; i < from->count; i++) {
        copy.chunks[i] = from->chunks[i];
        if (copy.chunks[i]) copy.chunks[i]->refs++;
    }
    sim_image_release(to);
    *to = copy;
}

void sim_image_release(sim_image *image)
{
    for (size_t i = 0; i < image->count; i++) drop_chunk(image->chunks[i]);
    free(image->chunks);
    *image = (sim_image){0};
}
