/*
 * format/base/hash.c: see hash.h. Which way a message goes, its padding, and lanes that are not
 * equal.
 */
#include "format/base/hash.h"

#include "format/base/bytes.h"
#include "format/base/hash_blocks.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdatomic.h>

/* Below this many bytes OpenSSL is longer in preparing (0.3 us) than C in hashing. */
enum { LONG_MESSAGE = 256 };

static atomic_int forced; /* u9i_hash_way; tests alone change it */

static u9i_hash_way way_here(void)
{
    int way = atomic_load_explicit(&forced, memory_order_relaxed);
    if (way != U9I_HASH_ANY) return (u9i_hash_way)way;
    return u9i_sha_width() > 0 ? U9I_HASH_SHA : U9I_HASH_OPENSSL;
}

bool u9i_hash_force(u9i_hash_way way)
{
    if (way == U9I_HASH_SHA && u9i_sha_width() == 0) return false;
    atomic_store_explicit(&forced, way, memory_order_relaxed);
    return true;
}

unsigned u9i_hash_width(void)
{
    return way_here() == U9I_HASH_SHA ? u9i_sha_width() : 1;
}

bool u9i_hasher_open(u9i_hasher *h)
{
    *h = (u9i_hasher){.blocks = 0};
    if (way_here() != U9I_HASH_OPENSSL) return true;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1) {
        h->context = context;
        return true;
    }
    EVP_MD_CTX_free(context);
    return false;
}

void u9i_hasher_close(u9i_hasher *h)
{
    EVP_MD_CTX_free(h->context);
    *h = (u9i_hasher){.blocks = 0};
}

void u9i_hasher_init(u9i_hasher *h)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(h->state, first, sizeof first);
    h->blocks = 0;
    h->outside = way_here() == U9I_HASH_OPENSSL && h->context &&
                 EVP_DigestInit_ex(h->context, NULL, NULL) == 1;
}

/* Once it has begun, OpenSSL needs nothing that could be missing. */
static void take_outside(u9i_hasher *h, const void *bytes, size_t size)
{
    int ok = EVP_DigestUpdate(h->context, bytes, size);
    assert(ok == 1);
}

/* `blocks` of each of these lanes, which are no more than u9i_hash_width. */
static void run_lanes(u9i_lane *const *lanes, unsigned count, size_t blocks)
{
    u9i_lane *one = lanes[0];
    if (one->hasher->outside) take_outside(one->hasher, one->bytes, blocks * U9I_HASH_BLOCK);
    else if (way_here() == U9I_HASH_SHA) u9i_sha_blocks(lanes, count, blocks);
    else u9i_hash_blocks(one->hasher->state, one->bytes, blocks);
    for (unsigned i = 0; i < count; i++) {
        lanes[i]->bytes += blocks * U9I_HASH_BLOCK;
        lanes[i]->blocks -= blocks;
        lanes[i]->hasher->blocks += blocks;
    }
}

/*
 * As far as the shortest of them goes. Fills out those that have blocks still, and returns how
 * many.
 */
static unsigned run_together(u9i_lane **lanes, unsigned count)
{
    size_t blocks = lanes[0]->blocks;
    for (unsigned i = 1; i < count; i++)
        if (lanes[i]->blocks < blocks) blocks = lanes[i]->blocks;
    if (blocks > 0) run_lanes(lanes, count, blocks);
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++)
        if (lanes[i]->blocks > 0) lanes[left++] = lanes[i];
    return left;
}

/*
 * How many of `more` lanes go in beside `busy` ones. Two and three at once take hardly longer than
 * four: so none is left to go alone at the end.
 */
static unsigned room_beside(unsigned busy, unsigned more, unsigned width)
{
    unsigned room = width - busy;
    return more == room + 1 && room > 0 && width > 2 ? room - 1 : room < more ? room : more;
}

void u9i_hash_lanes(u9i_lane *lanes, unsigned count)
{
    u9i_lane *at_once[U9I_HASH_WIDEST];
    unsigned busy = 0, next = 0, width = u9i_hash_width();
    while (busy > 0 || next < count) {
        for (unsigned n = room_beside(busy, count - next, width); n > 0; n--)
            at_once[busy++] = &lanes[next++];
        busy = run_together(at_once, busy);
    }
}

void u9i_hasher_take(u9i_hasher *h, const uint8_t *bytes, size_t blocks)
{
    u9i_lane lane = {h, bytes, blocks};
    u9i_lane *lanes[1] = {&lane};
    if (blocks > 0) run_lanes(lanes, 1, blocks);
}

static void finish_outside(u9i_hasher *h, const void *rest, size_t size, uint8_t out[U9I_HASH_SIZE])
{
    uint8_t full[EVP_MAX_MD_SIZE];
    take_outside(h, rest, size);
    int ok = EVP_DigestFinal_ex(h->context, full, NULL);
    assert(ok == 1);
    memcpy(out, full, U9I_HASH_SIZE);
}

void u9i_hasher_finish(u9i_hasher *h, const void *rest, size_t size, uint8_t out[U9I_HASH_SIZE])
{
    uint8_t last[2 * U9I_HASH_BLOCK] = {0};
    size_t whole = size - size % U9I_HASH_BLOCK, tail = size - whole;
    if (h->outside) {
        finish_outside(h, rest, size, out);
        return;
    }
    u9i_hasher_take(h, rest, whole / U9I_HASH_BLOCK);
    if (tail > 0) memcpy(last, (const uint8_t *)rest + whole, tail);
    last[tail] = 0x80;
    size_t end = tail + 9 <= U9I_HASH_BLOCK ? U9I_HASH_BLOCK : 2 * U9I_HASH_BLOCK;
    u9i_set_be(last + end - 8, 8, (h->blocks * U9I_HASH_BLOCK + tail) * 8);
    u9i_hasher_take(h, last, end / U9I_HASH_BLOCK);
    for (unsigned i = 0; i < U9I_HASH_SIZE / 4; i++) u9i_set_be(out + 4 * i, 4, h->state[i]);
}

void u9i_hash(const void *bytes, size_t size, uint8_t out[U9I_HASH_SIZE])
{
    uint8_t full[SHA256_DIGEST_LENGTH];
    u9i_hasher h = {.blocks = 0};
    if (size >= LONG_MESSAGE && way_here() == U9I_HASH_OPENSSL && SHA256(bytes, size, full)) {
        memcpy(out, full, U9I_HASH_SIZE);
        return;
    }
    u9i_hasher_init(&h);
    u9i_hasher_finish(&h, bytes, size, out);
}

void u9i_sign(const uint8_t sha[U9I_HASH_SIZE], const uint8_t secret[U9I_SECRET_SIZE],
              uint8_t out[U9I_HASH_SIZE])
{
    uint8_t mixed[U9I_HASH_SIZE];
    for (unsigned i = 0; i < U9I_HASH_SIZE; i++) mixed[i] = sha[i] ^ secret[i];
    u9i_hash(mixed, sizeof mixed, out);
}
