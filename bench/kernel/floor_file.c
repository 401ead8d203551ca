/*
 * bench/kernel/floor_file.c: floors of scans and checks: as many bytes as u9's files have, out of the page cache, hashed:
 * four messages of 64 KiB at once by the kernel that u9 hashes with, or as one stream by OpenSSL; read by calls, or mapped,
 * as u9 reads what is closed, and then by several threads, too. And of a search: the same bytes mapped, in which a
 * boundary is looked for.
 *
 * Room: bench/kernel
 * Sees: include bench format/base format/frame
 *
 * The one room of u9bench that sees within: for how fast the kernel is by itself no public call tells.
 */
#include "bench/drive.h"

#include "format/base/hash.h"
#include "format/frame/frame.h"

#include <u9.h>

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MESSAGE = 65536, AT_ONCE = U9I_HASH_WIDEST, CHUNK = MESSAGE * AT_ONCE, THREADS_MAX = 64 };

static _Alignas(4096) uint8_t chunk[CHUNK];

/* What is done with each chunk; the last may be shorter. */
typedef void take_chunk(const uint8_t *bytes, size_t size);

static EVP_MD_CTX *stream;

static void by_kernel(const uint8_t *bytes, size_t size)
{
    u9i_hasher hashers[AT_ONCE];
    u9i_lane lanes[AT_ONCE];
    uint8_t sha[U9I_HASH_SIZE];
    unsigned n = 0;
    for (size_t at = 0; at < size; at += MESSAGE, n++) {
        size_t whole = size - at < MESSAGE ? size - at : MESSAGE;
        u9i_hasher_init(&hashers[n]);
        lanes[n] = (u9i_lane){
            .hasher = &hashers[n], .bytes = bytes + at, .blocks = whole / U9I_HASH_BLOCK};
    }
    u9i_hash_lanes(lanes, n);
    for (unsigned i = 0; i < n; i++) u9i_hasher_finish(&hashers[i], bytes, 0, sha);
}

static void by_openssl(const uint8_t *bytes, size_t size)
{
    if (EVP_DigestUpdate(stream, bytes, size) != 1) die("sha256", NULL);
}

/* In the page cache then, as it was just written. */
static int make_file(const job_spec *job, uint64_t size)
{
    char path[PATH_ROOM + 16];
    snprintf(path, sizeof path, "%s/file", job->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (size_t at = 0; at < CHUNK;) {
        const datum *d = value_of(at / 64);
        size_t n = d->size < CHUNK - at ? d->size : CHUNK - at;
        memcpy(chunk + at, d->text, n);
        at += n > 0 ? n : 1;
    }
    for (uint64_t at = 0; at < size; at += CHUNK) {
        size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
        if (fd < 0 || write(fd, chunk, n) != (ssize_t)n) die(path, NULL);
    }
    if (fdatasync(fd) != 0) die(path, NULL);
    return fd;
}

static void read_file(const job_spec *job, result *out, take_chunk *take)
{
    uint64_t at = 0, size = job->file_bytes ? job->file_bytes : data_bytes(job->records);
    int fd = make_file(job, size);
    ssize_t got;
    out->cpu_seconds = cpu_seconds(); /* what the file took to make does not count */
    double start = now();
    for (; (got = pread(fd, chunk, CHUNK, (off_t)at)) > 0; at += (uint64_t)got)
        take(chunk, (size_t)got);
    out->seconds = now() - start;
    out->records = job->records;
    if (at != size) die("the file could not be read", NULL);
    close(fd);
}

static void with_kernel(const job_spec *job, result *out)
{
    read_file(job, out, by_kernel);
}

static void with_openssl(const job_spec *job, result *out)
{
    uint8_t sha[EVP_MAX_MD_SIZE];
    stream = EVP_MD_CTX_new();
    if (stream == NULL || EVP_DigestInit_ex(stream, EVP_sha256(), NULL) != 1) die("sha256", NULL);
    read_file(job, out, by_openssl);
    if (EVP_DigestFinal_ex(stream, sha, NULL) != 1) die("sha256", NULL);
    EVP_MD_CTX_free(stream);
}

/* What one of the threads does of a mapped file. */
typedef struct part {
    const uint8_t *bytes;
    size_t size;
    take_chunk *take;
    pthread_t thread;
} part;

static void *take_part(void *ctx)
{
    const part *p = ctx;
    for (size_t at = 0; at < p->size; at += CHUNK)
        p->take(p->bytes + at, p->size - at < CHUNK ? p->size - at : CHUNK);
    return NULL;
}

static void take_shared(const uint8_t *bytes, size_t size, take_chunk *take, unsigned threads)
{
    part parts[THREADS_MAX];
    size_t chunks = size / CHUNK, from = 0;
    if (threads == 0 || threads > THREADS_MAX) die("threads", NULL);
    for (unsigned t = 0; t < threads; t++) {
        size_t to = t + 1 == threads ? size : chunks * (t + 1) / threads * CHUNK;
        parts[t] = (part){.bytes = bytes + from, .size = to - from, .take = take};
        if (t > 0 && pthread_create(&parts[t].thread, NULL, take_part, &parts[t]) != 0)
            die("threads", NULL);
        from = to;
    }
    take_part(&parts[0]);
    for (unsigned t = 1; t < threads; t++) pthread_join(parts[t].thread, NULL);
}

static void map_file(const job_spec *job, result *out, take_chunk *take)
{
    uint64_t size = job->file_bytes ? job->file_bytes : data_bytes(job->records);
    int fd = make_file(job, size);
    out->cpu_seconds = cpu_seconds();
    double start = now();
    void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) die("mmap", NULL);
    take_shared(map, (size_t)size, take, job->threads);
    out->seconds = now() - start;
    out->records = job->records;
    (void)munmap(map, (size_t)size);
    close(fd);
}

static void mapped(const job_spec *job, result *out)
{
    map_file(job, out, by_kernel);
}

static void by_search(const uint8_t *bytes, size_t size)
{
    static const uint8_t boundary[U9I_HASH_SIZE] = {0xff, 0xfe, 0xfd}; /* no text has it */
    if (u9i_boundary_find(boundary, bytes, 0, size) < size)
        die("what was searched for stands in the file", NULL);
}

static void with_search(const job_spec *job, result *out)
{
    map_file(job, out, by_search);
}

static const char *version_of_kernel(void)
{
    return U9_VERSION_TEXT;
}

static const char *version_of_openssl(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

const engine floor_file_kernel = {
    .name = "kernel",
    .label = "read and hash, u9's kernel",
    .side = SIDE_FLOOR,
    .config =
        "as many bytes as u9's files have, read in 256 KiB from the page cache and hashed by u9's own SHA-256, four "
        "messages of 64 KiB at once, one thread, nothing else",
    .version = version_of_kernel,
    .whole = with_kernel,
};

const engine floor_file_openssl = {
    .name = "openssl",
    .label = "read and hash, OpenSSL",
    .side = SIDE_FLOOR,
    .config = "the same by OpenSSL, as one stream",
    .version = version_of_openssl,
    .whole = with_openssl,
};

const engine floor_file_mapped = {
    .name = "mapped",
    .label = "map and hash, u9's kernel",
    .side = SIDE_FLOOR,
    .config =
        "as many bytes as u9's files have, mapped, in the page cache, and hashed by u9's own SHA-256, four messages of "
        "64 KiB at once, nothing else; each thread a part of the file",
    .version = version_of_kernel,
    .whole = mapped,
};

const engine floor_file_search = {
    .name = "search",
    .label = "map and search",
    .side = SIDE_FLOOR,
    .config = "the same, searched for a boundary that is not there instead of hashed",
    .version = version_of_kernel,
    .whole = with_search,
};
