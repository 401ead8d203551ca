/*
 * tests/plain_file.c: see plain_file.h. Shares nothing with the library.
 */
#include "tests/plain_file.h"

#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

static void hash16(const uint8_t *bytes, size_t size, uint8_t out[16])
{
    uint8_t whole[SHA256_DIGEST_LENGTH];
    memcpy(out, SHA256(bytes, size, whole), 16);
}

static uint8_t *grow(plain_file *p, size_t more)
{
    p->bytes = realloc(p->bytes, p->size + more);
    if (p->bytes == NULL) abort();
    memset(p->bytes + p->size, 0, more);
    p->size += more;
    return p->bytes + p->size - more;
}

plain_file plain_begin(uint8_t seed)
{
    plain_file p = {0};
    uint8_t *header = grow(&p, 32);
    for (unsigned i = 0; i < 16; i++) p.secret[i] = (uint8_t)(seed + i);
    memcpy(header, "\xff\xffutf9\0\x01", 8);
    memcpy(header + 8, p.secret, 16);
    return p;
}

static size_t put_frame(plain_file *p, const void *payload, size_t size, size_t padding)
{
    uint8_t key[16], *h = grow(p, 64 + size + padding);
    if (size > 0) memcpy(h + 64, payload, size);
    hash16(p->secret, 16, h);
    hash16(h + 64, size, h + 16);
    for (unsigned i = 0; i < 16; i++) key[i] = h[16 + i] ^ p->secret[i];
    hash16(key, 16, h + 32);
    memcpy(h + 48, "\xff\xffutf9f\0", 8);
    for (unsigned i = 0; i < 8; i++) h[56 + i] = (uint8_t)((uint64_t)size >> (56 - 8 * i));
    return (size_t)(h - p->bytes);
}

size_t plain_frame(plain_file *p, const void *payload, size_t size)
{
    return put_frame(p, payload, size, -size & 15);
}

size_t plain_frame_by_the_letter(plain_file *p, const void *payload, size_t size)
{
    size_t at = put_frame(p, payload, size, (size + 15) & ~(size_t)15);
    plain_zeros(p, -p->size & 15); /* frames are aligned */
    return at;
}

void plain_zeros(plain_file *p, size_t count)
{
    if (count > 0) (void)grow(p, count);
}

void plain_free(plain_file *p)
{
    free(p->bytes);
    *p = (plain_file){0};
}

plain_file plain_example(void)
{
    static const uint8_t first[] = {
        0x4a, 0x18, 0x1c, 0x10, 0x5d, 0x5e, 0xac, 0x79, 0x3e, 0x61, 0xf1, 0xbf, 0xc7, 0x1b, 0x11, 0x2d, 0x00, 0x00,
        0x00, 0x0b, 0x25, 'h',  'e',  'l',  'l',  'o',  0x85, 0x25, 'w',  'o',  'r',  'l',  'd'};
    static const uint8_t second[] = {0x4a, 0x02, 0x81, 0x82};
    plain_file p = plain_begin(0);
    plain_frame(&p, first, sizeof first);
    plain_zeros(&p, 16);
    plain_frame(&p, second, sizeof second);
    return p;
}
