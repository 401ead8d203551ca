/*
 * bench/floor_uring.c: floors of appending: the bytes that u9 writes, written by a bare loop, with and without
 * registered buffers; and what a single thread makes of the records that packs, hashes and writes them.
 */
#include "bench/engine.h"
#include "bench/ring.h"

#include <lz4.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

enum { BODY = 65536, SHA_SIZE = 32 };

static void open_file(const job_spec *job, bool registered)
{
    char path[PATH_ROOM + 8];
    snprintf(path, sizeof path, "%s/raw", job->dir);
    ring_open(path, registered);
}

/* With texts, so that no disk finds its work too easy. */
static void fill_buffers(void)
{
    uint8_t *to = ring_memory(), *end = to + (size_t)RING_DEPTH * RING_WRITE;
    for (uint64_t i = 0; to < end; i++) {
        size_t n = value_of(i)->size < (size_t)(end - to) ? value_of(i)->size : (size_t)(end - to);
        memcpy(to, value_of(i)->text, n);
        to += n > 0 ? n : 1;
    }
}

static void write_raw(const job_spec *job, result *out, bool registered)
{
    uint64_t left = job->file_bytes ? job->file_bytes : data_bytes(job->records);
    open_file(job, registered);
    fill_buffers();
    double start = now();
    for (size_t size; left > 0; left -= size) {
        size = left < RING_WRITE ? left : RING_WRITE;
        ring_write(size);
    }
    out->sync_seconds = ring_close();
    out->seconds = now() - start;
    out->records = job->records;
}

static void raw(const job_spec *job, result *out)
{
    write_raw(job, out, false);
}

static void raw_registered(const job_spec *job, result *out)
{
    write_raw(job, out, true);
}

/* Appends bytes to the file, in writes of RING_WRITE. */
static void put_bytes(const uint8_t *bytes, size_t size)
{
    static size_t fill;
    while (size > 0) {
        size_t n = size < RING_WRITE - fill ? size : RING_WRITE - fill;
        memcpy(ring_buffer() + fill, bytes, n);
        bytes += n, size -= n, fill += n;
        if (fill < RING_WRITE) break;
        ring_write(RING_WRITE);
        fill = 0;
    }
    if (bytes == NULL && fill > 0) ring_write(fill), fill = 0;
}

/* Keys and texts of records from `*i` on that fit into a body; at least one. */
static size_t fill_body(const job_spec *job, uint64_t *i, uint8_t *body, size_t cap)
{
    size_t used = 0;
    for (; *i < job->records; ++*i) {
        const datum *v = value_of(*i);
        size_t need = KEY_SIZE + v->size;
        if (used > 0 && used + need > BODY) break;
        if (need > cap) die("a value too large for this floor", NULL);
        key_of(*i, body + used);
        memcpy(body + used + KEY_SIZE, v->text, v->size);
        used += need;
    }
    return used;
}

static void lz4_loop(const job_spec *job, result *out)
{
    enum { CAP = 2 << 20 };
    static uint8_t body[CAP], packed[LZ4_COMPRESSBOUND(CAP) + SHA_SIZE];
    open_file(job, true);
    double start = now();
    for (uint64_t i = 0; i < job->records;) {
        size_t used = fill_body(job, &i, body, sizeof body);
        int n =
            LZ4_compress_default((char *)body, (char *)packed, (int)used, LZ4_COMPRESSBOUND(CAP));
        if (n <= 0 || !EVP_Digest(packed, (size_t)n, packed + n, NULL, EVP_sha256(), NULL))
            die("lz4 and sha256", NULL);
        put_bytes(packed, (size_t)n + SHA_SIZE);
    }
    put_bytes(NULL, 0);
    out->sync_seconds = ring_close();
    out->seconds = now() - start;
    out->records = job->records;
}

const engine floor_uring = {
    .name = "uring",
    .label = "raw io_uring",
    .side = SIDE_FLOOR,
    .config =
        "the bytes of u9's files: direct writes of 1 MiB, 8 under way, space by fallocate in steps of "
        "16 to 64 MiB, fdatasync at the end; no record is touched",
    .version = ring_version,
    .whole = raw,
};

const engine floor_uring_registered = {
    .name = "uring-registered",
    .label = "raw io_uring, registered",
    .side = SIDE_FLOOR,
    .config = "the same with registered buffers and file",
    .version = ring_version,
    .whole = raw_registered,
};

const engine floor_lz4_loop = {
    .name = "lz4-loop",
    .label = "lz4 + sha + write loop",
    .side = SIDE_FLOOR,
    .config =
        "one thread: 64 KiB of keys and texts compressed, hashed by OpenSSL, written as raw io_uring does",
    .version = ring_version,
    .whole = lz4_loop,
};
