/*
 * format/base/hash.c: SHA-256 through OpenSSL's one-shot state on the stack: the EVP interface takes
 * memory from the heap for each hash, which this room must not do.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "format/base/hash.h"

#include <openssl/sha.h>
#include <string.h>

void u9i_hash(const void *bytes, size_t size, uint8_t out[U9I_HASH_SIZE])
{
    uint8_t full[SHA256_DIGEST_LENGTH];
    SHA256_CTX ctx;
    SHA256_Init(&ctx);
    SHA256_Update(&ctx, bytes, size);
    SHA256_Final(full, &ctx);
    memcpy(out, full, U9I_HASH_SIZE);
}

void u9i_sign(const uint8_t sha[U9I_HASH_SIZE], const uint8_t secret[U9I_SECRET_SIZE],
              uint8_t out[U9I_HASH_SIZE])
{
    uint8_t mixed[U9I_HASH_SIZE];
    for (unsigned i = 0; i < U9I_HASH_SIZE; i++) mixed[i] = sha[i] ^ secret[i];
    u9i_hash(mixed, sizeof mixed, out);
}
