/*
 * bench/floor_hash.c: floors of the processor: as many bytes as the records have, hashed or compressed on one
 * thread, 64 KiB at a time, out of its caches.
 */
#include "bench/engine.h"

#include <lz4.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

enum { BLOCK_BYTES = 65536, BLOCKS = 16 };

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

static void over_all(const job_spec *job, result *out, work_on_block *work)
{
    uint64_t rounds = data_bytes(job->records) / BLOCK_BYTES + 1;
    fill_blocks();
    double start = now();
    for (uint64_t i = 0; i < rounds; i++) work(blocks[i % BLOCKS]);
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
