/*
 * bench/floor_hash.c: floors of the processor: as many bytes as the records have, hashed or compressed on the
 * row's threads, one as a rule, 64 KiB at a time, out of its caches.
 */
#include "bench/engine.h"

#include <lz4.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>

enum { BLOCK_BYTES = 65536, BLOCKS = 16, THREADS_MAX = 64 };

static uint8_t blocks[BLOCKS][BLOCK_BYTES];

static const char *version_of_openssl(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static const char *version_of_lz4(void)
{
    return LZ4_versionString();
}

static void fill_blocks(void)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < BLOCKS; i++)
        for (size_t at = 0; at < BLOCK_BYTES; v++) {
            const datum *d = value_of(v);
            size_t n = d->size < BLOCK_BYTES - at ? d->size : BLOCK_BYTES - at;
            memcpy(blocks[i] + at, d->text, n);
            at += n > 0 ? n : 1;
        }
}

typedef void work_on_block(const uint8_t *block);

/* What one of the threads does. */
typedef struct share {
    work_on_block *work;
    uint64_t rounds;
    pthread_t thread;
} share;

static void *work_share(void *ctx)
{
    const share *s = ctx;
    for (uint64_t i = 0; i < s->rounds; i++) s->work(blocks[i % BLOCKS]);
    return NULL;
}

static void in_threads(work_on_block *work, uint64_t rounds, unsigned threads)
{
    share shares[THREADS_MAX];
    if (threads == 0 || threads > THREADS_MAX) die("threads", NULL);
    for (unsigned t = 0; t < threads; t++) {
        shares[t] = (share){.work = work, .rounds = rounds * (t + 1) / threads - rounds * t / threads};
        if (t > 0 && pthread_create(&shares[t].thread, NULL, work_share, &shares[t]) != 0) die("threads", NULL);
    }
    work_share(&shares[0]);
    for (unsigned t = 1; t < threads; t++) pthread_join(shares[t].thread, NULL);
}

static void over_all(const job_spec *job, result *out, work_on_block *work)
{
    uint64_t rounds = data_bytes(job->records) / BLOCK_BYTES + 1;
    fill_blocks();
    double start = now();
    in_threads(work, rounds, job->threads);
    out->seconds =
        (now() - start) * (double)data_bytes(job->records) / (double)(rounds * BLOCK_BYTES);
    out->records = job->records;
}

static void hash_block(const uint8_t *block)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (!EVP_Digest(block, BLOCK_BYTES, digest, NULL, EVP_sha256(), NULL)) die("sha256", NULL);
}

static void compress_block(const uint8_t *block)
{
    static char packed[LZ4_COMPRESSBOUND(BLOCK_BYTES)];
    if (LZ4_compress_default((const char *)block, packed, BLOCK_BYTES, sizeof packed) <= 0)
        die("lz4", NULL);
}

static void sha256(const job_spec *job, result *out)
{
    over_all(job, out, hash_block);
}

static void lz4(const job_spec *job, result *out)
{
    over_all(job, out, compress_block);
}

const engine floor_sha256 = {
    .name = "sha256",
    .label = "hashing alone",
    .side = SIDE_FLOOR,
    .config = "SHA-256 of as many bytes, OpenSSL, one thread, 64 KiB at a time, nothing else",
    .version = version_of_openssl,
    .whole = sha256,
};

const engine floor_lz4 = {
    .name = "lz4",
    .label = "LZ4 alone",
    .side = SIDE_FLOOR,
    .config = "LZ4_compress_default of as many bytes, one thread, 64 KiB at a time, nothing else",
    .version = version_of_lz4,
    .whole = lz4,
};
