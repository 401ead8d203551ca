/*
 * engine/check/heal.c: see heal.h. [U-5]
 */
#include "engine/check/heal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct bit_search {
    const uint8_t *payload;
    size_t blocks, rest;        /* whole blocks of the payload, and bytes behind them */
    const uint8_t *sha;
    u9i_hasher *before;         /* before[i]: blocks [0, i) have gone in */
} bit_search;

/* All states on the way, each hashed from the one before. */
static void hash_prefixes(bit_search *s)
{
    u9i_hasher_init(&s->before[0]);
    for (size_t i = 0; i < s->blocks; i++) {
        s->before[i + 1] = s->before[i];
        u9i_hasher_take(&s->before[i + 1], s->payload + i * U9I_HASH_BLOCK, 1);
    }
}

/* `count` bits from `bit` of block `at` on, at once. The one that fits, or -1. */
static int try_bits(const bit_search *s, size_t at, unsigned bit, unsigned count)
{
    u9i_hasher hashers[U9I_HASH_WIDEST];
    u9i_lane lanes[U9I_HASH_WIDEST];
    uint8_t blocks[U9I_HASH_WIDEST][U9I_HASH_BLOCK], sha[U9I_HASH_SIZE];
    for (unsigned i = 0; i < count; i++) {
        memcpy(blocks[i], s->payload + at * U9I_HASH_BLOCK, U9I_HASH_BLOCK);
        blocks[i][(bit + i) / 8] ^= (uint8_t)(1u << (bit + i) % 8);
        hashers[i] = s->before[at];
        lanes[i] = (u9i_lane){.hasher = &hashers[i], .bytes = blocks[i], .blocks = 1};
    }
    u9i_hash_lanes(lanes, count);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = (u9i_lane){.hasher = &hashers[i], .bytes = s->payload + (at + 1) * U9I_HASH_BLOCK,
                              .blocks = s->blocks - at - 1};
    u9i_hash_lanes(lanes, count);
    for (unsigned i = 0; i < count; i++) {
        u9i_hasher_finish(&hashers[i], s->payload + s->blocks * U9I_HASH_BLOCK, s->rest, sha);
        if (memcmp(sha, s->sha, sizeof sha) == 0) return (int)(bit + i);
    }
    return -1;
}

/* The bits of one whole block. */
static bool try_block(const bit_search *s, u9i_healing *h, size_t at, uint64_t *found)
{
    unsigned width = u9i_hash_width();
    for (unsigned bit = 0; bit < 8 * U9I_HASH_BLOCK; bit += width) {
        unsigned count = 8 * U9I_HASH_BLOCK - bit < width ? 8 * U9I_HASH_BLOCK - bit : width;
        int hit = try_bits(s, at, bit, count);
        h->tries += count;
        if (hit < 0) continue;
        *found = 8 * U9I_HASH_BLOCK * (uint64_t)at + (unsigned)hit;
        return true;
    }
    return false;
}

/* The bits of the bytes behind the last whole block. */
static bool try_last_bits(const bit_search *s, u9i_healing *h, uint64_t *found)
{
    uint8_t rest[U9I_HASH_BLOCK], sha[U9I_HASH_SIZE];
    memcpy(rest, s->payload + s->blocks * U9I_HASH_BLOCK, s->rest);
    for (unsigned bit = 0; bit < 8 * s->rest; bit++) {
        u9i_hasher hasher = s->before[s->blocks];
        rest[bit / 8] ^= (uint8_t)(1u << bit % 8);
        u9i_hasher_finish(&hasher, rest, s->rest, sha);
        rest[bit / 8] ^= (uint8_t)(1u << bit % 8);
        h->tries++;
        if (memcmp(sha, s->sha, sizeof sha) != 0) continue;
        *found = 8 * U9I_HASH_BLOCK * (uint64_t)s->blocks + bit;
        return true;
    }
    return false;
}

enum { PROGRESS_US = 50000 }; /* at most so often it is told */

/* True: it is to stop. */
static bool tell_healing(u9i_healing *h, uint64_t now)
{
    if (h->on_progress == NULL || now - h->told_us < PROGRESS_US) return false;
    h->told_us = now;
    return h->on_progress(h->ctx, (now - h->begun_us) / 1000, (h->until_us - h->begun_us) / 1000) != 0;
}

u9_err u9i_heal(u9i_healing *h, uint8_t *payload, size_t size, const uint8_t sha[U9I_HASH_SIZE], uint64_t *bit)
{
    bit_search s = {.payload = payload, .blocks = size / U9I_HASH_BLOCK, .rest = size % U9I_HASH_BLOCK, .sha = sha};
    assert(size <= U9I_HEAL_MAX);
    s.before = calloc(s.blocks + 1, sizeof *s.before);
    if (s.before == NULL) return U9_NOMEM;
    uint64_t begun = u9i_monotonic_us(h->env);
    hash_prefixes(&s);
    bool found = try_last_bits(&s, h, bit), late = false, stopped = false;
    for (size_t at = s.blocks; at-- > 0 && !found && !late && !stopped;) {
        uint64_t now = u9i_monotonic_us(h->env);
        late = now >= h->until_us;
        stopped = !late && tell_healing(h, now);
        found = !late && !stopped && try_block(&s, h, at, bit);
    }
    free(s.before);
    h->us += u9i_monotonic_us(h->env) - begun;
    h->gave_up |= late;
    if (!found) return stopped ? U9_STATE : U9_ABSENT;
    payload[*bit / 8] ^= (uint8_t)(1u << *bit % 8);
    return U9_OK;
}
