/*
 * format/base/hash_blocks.c: SHA-256's compression in C, the last resort of hash.h: it needs
 * nothing and cannot fail. [F-1]
 */
#include "format/base/hash_blocks.h"

#include "format/base/bytes.h"

const uint32_t u9i_hash_rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t turned(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static inline uint32_t word_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Word i of the message, 16 <= i, from the 16 before it, which `w` holds in turn. */
static inline uint32_t next_word(const uint32_t w[16], unsigned i)
{
    uint32_t a = w[(i + 1) % 16], b = w[(i + 14) % 16];
    return w[i % 16] + w[(i + 9) % 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) +
           (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
}

/* Round i. What the standard moves from variable to variable stays where it is: the names move. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                 \
    do {                                                                                 \
        if ((i) >= 16) w[(i) % 16] = next_word(w, i);                                    \
        h += (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (g ^ (e & (f ^ g))) +      \
             u9i_hash_rounds[i] + w[(i) % 16];                                           \
        d += h;                                                                          \
        h += (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (c & (a | b))); \
    } while (0)

static void take_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[16], a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned i = 0; i < 16; i++) w[i] = word_at(block + 4 * i);
    for (unsigned i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    const uint32_t now[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++) state[i] += now[i];
}

void u9i_hash_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks)
{
    for (; blocks > 0; blocks--, bytes += U9I_HASH_BLOCK) take_block(state, bytes);
}
