/*
 * engine/segment/rejoin.c: see rejoin.h. [Y-1] to [Y-4]
 *
 * A trailer that stands is looked for first: it names its frame's place, and so its length; the payload goes through
 * SHA-256 once, and each place where it may end is asked on the way. Where none fits, the trailer itself is damaged: it
 * is written anew at each length that may be the frame's, of what is known, and what nobody knows (the promise, the
 * time) is tried, with the hash for a judge.
 */
#include "engine/segment/rejoin.h"

#include "format/base/bytes.h"
#include "format/frame/control.h"
#include "format/frame/disk.h"

#include <string.h>

enum {
    FORM_SIZE = 13,  /* bytes with which every trailer begins [F-4] */
    AT_DURABLE = 44, /* in a trailer: what is in front of this is known, or as it stands */
    LENGTHS_MAX = 1 + 2 * U9I_ALIGN,
    COUNTS_MAX = 1 << 16,
    TIMES_MAX = 1 << 20, /* microseconds that are tried behind a frame with none behind it */
    TAIL_MAX = U9I_HASH_BLOCK + U9I_TRAILER_SIZE,
    LIKE_MIN = 24 /* bytes of a trailer that stand where they should: more than chance puts there */
};

/* What a payload's hash may be, and the bytes from the header on up to where the frame must end. */
typedef struct subject {
    const u9i_hint *hint;
    const uint8_t *bytes;
    size_t limit; /* of bytes */
    bool walled;  /* a boundary, or what comes next, stands at the limit */
    u9i_effort *effort;
    bool guesses; /* it is the second kind of effort that is spent */
    bool spent;
    u9i_rejoined *out;
} subject;

static const uint8_t *form(void)
{
    static const uint8_t bytes[FORM_SIZE] = {0x40, 0x4d, 0x08, 0x0a, 'u', '9', 'f',
                                             'r',  'a',  'm',  'e',  0,   0x03};
    return bytes;
}

size_t u9i_trailer_before(const uint8_t *bytes, size_t end)
{
    for (size_t at = end; at > 0; at--)
        if (end - (at - 1) >= FORM_SIZE && memcmp(bytes + at - 1, form(), FORM_SIZE) == 0)
            return at - 1;
    return SIZE_MAX;
}

/* The first place in `bytes` at which a trailer begins; NULL: none. */
static const uint8_t *find_form(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size;
    while (bytes < end && (bytes = memchr(bytes, form()[0], (size_t)(end - bytes))) != NULL) {
        if ((size_t)(end - bytes) < FORM_SIZE) return NULL;
        if (memcmp(bytes, form(), FORM_SIZE) == 0) return bytes;
        bytes++;
    }
    return NULL;
}

/* Takes what is about to be hashed off what is left. */
static bool spend(subject *s, uint64_t bytes)
{
    uint64_t *left = s->guesses ? &s->effort->guesses : &s->effort->looks;
    if (*left < bytes) s->spent = true;
    else *left -= bytes;
    return !s->spent;
}

/* [F-6] g */
static bool is_sane(const u9i_trailer *t, uint64_t p)
{
    bool place = p == U9I_DISK_HEADER_SIZE ? t->previous == 0
                                           : t->previous >= U9I_DISK_HEADER_SIZE && t->previous < p;
    return place && t->offset == p && t->durable <= p && t->ordinal <= UINT64_MAX - t->count;
}

/* True if it follows_front what is known in front of it. [F-9] */
static bool follows_front(const u9i_hint *h, const u9i_trailer *t)
{
    return h->has_front && t->previous == h->previous &&
           (!h->has_ordinal || t->ordinal == h->ordinal) &&
           (!h->has_chain || memcmp(t->chain, h->chain, U9I_HASH_SIZE) == 0);
}

static bool is_bounded(const subject *s)
{
    return memcmp(s->bytes, s->hint->secret->boundary, U9I_HASH_SIZE) == 0;
}

/* What proves that this is the hash of the frame's payload; 0: nothing. [Y-2] [Y-3] */
static u9i_mend_proof proof_of(const subject *s, const uint8_t sha[U9I_HASH_SIZE], bool fits)
{
    const u9i_hint *h = s->hint;
    uint8_t sign[U9I_HASH_SIZE];
    if (h->has_next && memcmp(sha, h->next_chain, U9I_HASH_SIZE) == 0) return U9I_MEND_LINK;
    if (h->lone ? !is_bounded(s) : !h->placed || !fits) return (u9i_mend_proof)0;
    u9i_sign(sha, h->secret->bytes, sign);
    if (!h->secret->lost && memcmp(sign, s->bytes + 32, U9I_HASH_SIZE) == 0) return U9I_MEND_SIGN;
    bool is_sha = memcmp(sha, s->bytes + 16, U9I_HASH_SIZE) == 0;
    return is_sha && is_bounded(s) ? U9I_MEND_SHA : (u9i_mend_proof)0;
}

/* The hash of a payload of `length` bytes with this trailer: true, and the frame is there, if that proves it. */
static bool is_it(subject *s, const u9i_trailer *t, size_t length, const uint8_t sha[U9I_HASH_SIZE])
{
    uint64_t p = s->hint->p;
    bool follows = follows_front(s->hint, t);
    u9i_mend_proof proof = proof_of(s, sha, follows);
    if (proof == 0) return false;
    u9i_frame f = {.offset = p,
                   .end = p + U9I_FRAME_HEADER_SIZE + length + u9i_padding(length),
                   .trailer = *t,
                   .body_size = length - U9I_TRAILER_SIZE,
                   .padding_ok = true};
    memcpy(f.sha, sha, sizeof f.sha);
    for (size_t i = U9I_FRAME_HEADER_SIZE + length; p + i < f.end; i++)
        if (s->bytes[i] != 0) f.padding_ok = false;
    *s->out = (u9i_rejoined){.frame = f, .proof = proof, .bounded = is_bounded(s), .follows = follows};
    return true;
}

/* True if a frame with such a payload ends within the bytes that may be its. [F-2] [F-5] */
static bool has_room(const subject *s, uint64_t length)
{
    return length >= U9I_TRAILER_SIZE && length <= U9I_PAYLOAD_MAX &&
           U9I_FRAME_HEADER_SIZE + length + u9i_padding(length) <= s->limit;
}

/* Moves a hasher on to the block in which byte `to` of the payload is. */
static bool hash_up_to(subject *s, u9i_hasher *hasher, size_t to)
{
    size_t from = (size_t)hasher->blocks * U9I_HASH_BLOCK, blocks = (to - from) / U9I_HASH_BLOCK;
    if (!spend(s, blocks * U9I_HASH_BLOCK)) return false;
    u9i_hasher_take(hasher, s->bytes + U9I_FRAME_HEADER_SIZE + from, blocks);
    return true;
}

/* By a trailer that stands. [Y-2] */
static bool find_whole(subject *s)
{
    u9i_trailer t;
    uint8_t sha[U9I_HASH_SIZE];
    u9i_hasher hasher = {.blocks = 0};
    u9i_hasher_init(&hasher);
    for (size_t at = U9I_FRAME_HEADER_SIZE; at + U9I_TRAILER_SIZE <= s->limit; at++) {
        const uint8_t *hit = find_form(s->bytes + at, s->limit - at);
        if (hit == NULL) break;
        at = (size_t)(hit - s->bytes);
        size_t length = at + U9I_TRAILER_SIZE - U9I_FRAME_HEADER_SIZE;
        if (!has_room(s, length) || !u9i_trailer_decode(hit, &t) || !is_sane(&t, s->hint->p))
            continue;
        if (!s->hint->has_next && !s->hint->lone && !follows_front(s->hint, &t)) continue;
        if (!hash_up_to(s, &hasher, length) || !spend(s, 3 * U9I_HASH_BLOCK)) return false;
        u9i_hasher now = hasher;
        size_t done = (size_t)now.blocks * U9I_HASH_BLOCK;
        u9i_hasher_finish(&now, s->bytes + U9I_FRAME_HEADER_SIZE + done, length - done, sha);
        if (is_it(s, &t, length, sha)) return true;
    }
    return false;
}

/* A trailer that is tried at the end of a payload of `length` bytes, of which the blocks in front went in. */
typedef struct trailer_try {
    subject *s;
    size_t length;
    u9i_trailer trailer;
    u9i_hasher hasher;
    uint8_t tail[TAIL_MAX]; /* the payload's bytes behind what went in */
    size_t tail_size;
    uint64_t left; /* of what may be hashed for this length */
} trailer_try;

/* Tries the trailer as it is. */
static bool try_it(trailer_try *a)
{
    uint8_t sha[U9I_HASH_SIZE], bytes[U9I_TRAILER_SIZE];
    uint64_t cost = a->tail_size + 2 * U9I_HASH_BLOCK;
    if (!is_sane(&a->trailer, a->s->hint->p)) return false;
    if (a->left < cost) a->left = 0; /* who goes on while something is left comes to an end */
    if (a->left == 0 || !spend(a->s, cost)) return false;
    a->left -= cost;
    size_t n = a->tail_size < sizeof bytes ? a->tail_size : sizeof bytes;
    u9i_trailer_encode(&a->trailer, bytes);
    memcpy(a->tail + a->tail_size - n, bytes + sizeof bytes - n, n);
    u9i_hasher now = a->hasher;
    u9i_hasher_finish(&now, a->tail, a->tail_size, sha);
    return is_it(a->s, &a->trailer, a->length, sha);
}

/* From now on only what stands from `at` in the trailer on changes. */
static void narrow(trailer_try *a, size_t at)
{
    uint8_t bytes[U9I_TRAILER_SIZE];
    u9i_trailer_encode(&a->trailer, bytes);
    if (a->tail_size >= sizeof bytes)
        memcpy(a->tail + a->tail_size - sizeof bytes, bytes, sizeof bytes);
    size_t before = a->tail_size - (U9I_TRAILER_SIZE - at);
    size_t gone = before / U9I_HASH_BLOCK * U9I_HASH_BLOCK;
    u9i_hasher_take(&a->hasher, a->tail, gone / U9I_HASH_BLOCK);
    a->tail_size -= gone;
    memmove(a->tail, a->tail + gone, a->tail_size);
}

static bool try_durable(trailer_try *a, uint64_t durable)
{
    a->trailer.durable = durable;
    return try_it(a);
}

static bool try_time(trailer_try *a, uint64_t time_us)
{
    a->trailer.time_us = time_us;
    return try_it(a);
}

/* Any byte of the time may be another. */
static bool try_time_bytes(trailer_try *a)
{
    uint64_t stored = a->trailer.time_us;
    for (unsigned shift = 0; shift < 64; shift += 8)
        for (uint64_t x = 1; x < 256; x++)
            if (try_time(a, stored ^ x << shift)) return true;
    a->trailer.time_us = stored;
    return false;
}

/* Times from that of the frame before up to that of the frame behind. [F-4] */
static bool try_times(trailer_try *a)
{
    const u9i_hint *h = a->s->hint;
    bool known = h->has_next && h->next_time_us != U9_NOWHERE;
    uint64_t last = known ? h->next_time_us : h->time_us + TIMES_MAX;
    for (uint64_t t = h->time_us; h->time_us && t <= last && a->left > TAIL_MAX && !a->s->spent;
         t++)
        if (try_time(a, t)) return true;
    return false;
}

/* The promises that are likely, of which the first is as it stands. */
static unsigned likely_durables(const trailer_try *a, uint64_t out[5])
{
    const u9i_hint *h = a->s->hint;
    const uint64_t all[] = {a->trailer.durable, h->front_end, h->durable,
                            h->has_next ? h->next_durable : 0, 0};
    unsigned n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool seen = all[i] > h->p;
        for (unsigned k = 0; k < n; k++) seen |= out[k] == all[i];
        if (!seen) out[n++] = all[i];
    }
    return n;
}

/* Promises: ends of frames, from that of the frame before up to that of the frame behind. [F-2] [F-4] */
static bool try_durables(trailer_try *a)
{
    const u9i_hint *h = a->s->hint;
    uint64_t last = h->has_next && h->next_durable < h->p ? h->next_durable : h->p;
    for (uint64_t d = h->durable & ~(uint64_t)(U9I_ALIGN - 1);
         d <= last && a->left > TAIL_MAX && !a->s->spent; d += U9I_ALIGN)
        if (try_durable(a, d)) return true;
    return false;
}

/* With place, order and chain settled: the promise and the time. [Y-4] */
static bool try_rest(trailer_try *a)
{
    uint64_t likely[5], stored = a->trailer.durable, time_us = a->trailer.time_us;
    u9i_trailer least = a->trailer;
    least.durable = 0;
    if (!is_sane(&least, a->s->hint->p)) return false; /* with no promise and time: what is not hashed costs nothing, but has no end */
    narrow(a, AT_DURABLE);
    if (try_it(a)) return true;
    unsigned n = likely_durables(a, likely);
    for (unsigned i = 0; i < n; i++)
        if (try_durable(a, likely[i])) return true;
    for (unsigned i = 0; i < n; i++) {
        a->trailer.durable = likely[i];
        a->trailer.time_us = time_us;
        if (try_time_bytes(a)) return true;
    }
    a->trailer.durable = likely[0];
    if (try_times(a)) return true;
    a->trailer.time_us = time_us;
    if (try_durables(a)) return true;
    for (unsigned i = 1; i < n; i++) {
        a->trailer.durable = likely[i];
        if (try_times(a)) return true;
    }
    a->trailer.durable = stored;
    a->trailer.time_us = time_us;
    return false;
}

/* The fields as they stand, whatever stands between them. [F-4] */
static u9i_trailer as_it_stands(const uint8_t *in)
{
    u9i_trailer t = {.ordinal = u9i_get_be(in + 13, 8),
                     .count = (uint32_t)u9i_get_be(in + 22, 4),
                     .previous = u9i_get_be(in + 36, 8),
                     .durable = u9i_get_be(in + 45, 8),
                     .time_us = u9i_get_be(in + 54, 8)};
    memcpy(t.chain, in + 64, sizeof t.chain);
    return t;
}

/* Puts what the neighbours say in place of what stands there. `counts`: the count is believed, not the ordinal. */
static void correct(const u9i_hint *h, u9i_trailer *t, bool counts)
{
    t->offset = h->p;
    if (h->has_front) t->previous = h->previous;
    if (h->has_chain) memcpy(t->chain, h->chain, sizeof t->chain);
    if (h->has_ordinal) t->ordinal = h->ordinal;
    uint64_t count = h->next_ordinal - t->ordinal;
    if (!h->has_next) return;
    if (counts && !h->has_ordinal) t->ordinal = h->next_ordinal - t->count;
    else if (count <= UINT32_MAX) t->count = (uint32_t)count;
}

/* Of a frame with none behind it, nobody knows how many records it has, if what stands there is not it. */
static bool try_counts(trailer_try *a)
{
    if (try_it(a)) return true;
    for (uint32_t n = 0; n < COUNTS_MAX && !a->s->spent; n++) {
        a->trailer.count = n;
        if (try_it(a)) return true;
    }
    return false;
}

/* The hint, and what a u9open says of the end before it, which is what its trailer says. [C-3] */
static u9i_hint hint_with_open(const subject *s, size_t length)
{
    u9i_hint h = *s->hint;
    u9i_open_record open;
    if (h.p != U9I_DISK_HEADER_SIZE || h.has_chain) return h;
    if (u9i_open_record_decode(s->bytes + U9I_FRAME_HEADER_SIZE, length - U9I_TRAILER_SIZE,
                               &open) != U9_OK)
        return h;
    h.has_ordinal = h.has_chain = true;
    h.ordinal = open.end.ordinal;
    h.time_us = open.time_us;
    memcpy(h.chain, open.end.chain, sizeof h.chain);
    return h;
}

/* How the number of a frame's records, and of its first one, are found. */
typedef enum count_way {
    BY_ORDINALS, /* by that of what comes next, and its own */
    BY_COUNT,    /* its own by that of what comes next, and how many there are, as that stands */
    ALONE,       /* nothing is known by what comes next */
    COUNT_WAYS
} count_way;

static bool is_way(const u9i_hint *h, count_way way)
{
    if (way == ALONE) return !h->has_next || h->far;
    return h->has_next && (way == BY_ORDINALS || !h->has_ordinal);
}

/* With what goes for all ways, which is not spent. */
static bool try_way(const trailer_try *all, u9i_hint h, count_way way)
{
    subject *s = all->s;
    const u9i_hint *known = s->hint;
    trailer_try a = *all, b = a;
    h.has_next = way != ALONE;
    a.trailer = as_it_stands(s->bytes + U9I_FRAME_HEADER_SIZE + a.length - U9I_TRAILER_SIZE);
    s->hint = &h;
    correct(&h, &a.trailer, way == BY_COUNT);
    b.trailer = a.trailer;
    bool found = (way == ALONE && try_counts(&b)) || try_rest(&a);
    s->hint = known;
    return found;
}

/* A payload of `length` bytes, with a trailer made anew. `front` has the blocks of the shortest. */
static bool try_length(subject *s, const u9i_hasher *front, size_t length, uint64_t most)
{
    const uint8_t *payload = s->bytes + U9I_FRAME_HEADER_SIZE;
    u9i_hint more = hint_with_open(s, length);
    trailer_try a = {.s = s, .length = length, .hasher = *front};
    if (!hash_up_to(s, &a.hasher, length - U9I_TRAILER_SIZE)) return false;
    size_t done = (size_t)a.hasher.blocks * U9I_HASH_BLOCK;
    a.tail_size = length - done;
    memcpy(a.tail, payload + done, a.tail_size);
    unsigned ways = 0;
    for (unsigned way = 0; way < COUNT_WAYS; way++) ways += is_way(&more, way);
    a.left = most / ways;
    for (unsigned way = 0; way < COUNT_WAYS; way++)
        if (is_way(&more, way) && try_way(&a, more, way)) return true;
    return false;
}

/* How much of a trailer's fixed bytes, and of its place, stands where one of this length would. */
static unsigned likeness(const subject *s, size_t length)
{
    uint8_t want[U9I_TRAILER_SIZE];
    u9i_hint h = hint_with_open(s, length);
    u9i_trailer t = as_it_stands(s->bytes + U9I_FRAME_HEADER_SIZE + length - U9I_TRAILER_SIZE);
    correct(&h, &t, false);
    u9i_trailer_encode(&t, want);
    unsigned like = 0;
    for (size_t i = 0; i < sizeof want; i++)
        like += want[i] == s->bytes[U9I_FRAME_HEADER_SIZE + length - U9I_TRAILER_SIZE + i];
    return like;
}

typedef struct length_list {
    size_t all[LENGTHS_MAX];
    unsigned like[LENGTHS_MAX];
    unsigned count;
    unsigned first; /* so many stand first, whatever looks more like one */
} length_list;

/* Adds a length, those that look most like one first. */
static void add_length(const subject *s, length_list *l, uint64_t length)
{
    if (!has_room(s, length) || l->count == LENGTHS_MAX) return;
    for (unsigned i = 0; i < l->count; i++)
        if (l->all[i] == length) return;
    unsigned like = likeness(s, (size_t)length), at = l->count++;
    for (; at > l->first && l->like[at - 1] < like; at--) {
        l->all[at] = l->all[at - 1];
        l->like[at] = l->like[at - 1];
    }
    l->all[at] = (size_t)length;
    l->like[at] = like;
}

/* True if nothing but zeros is behind a payload of this length, which has room. */
static bool ends_the_bytes(const subject *s, uint64_t length)
{
    for (size_t i = U9I_FRAME_HEADER_SIZE + (size_t)length; i < s->limit; i++)
        if (s->bytes[i] != 0) return false;
    return true;
}

/*
 * The length_list that a frame may have whose trailer does not stand: as its header says, or up to what comes next. [F-8]
 * What the header says is first, where it fits: up to the end of a block, zeros look like the greater part of a trailer.
 */
static void collect_lengths(const subject *s, length_list *l)
{
    *l = (length_list){.count = 0};
    uint64_t named = u9i_get_be(s->bytes + 56, 8);
    add_length(s, l, named);
    if (!s->walled) return;
    if (l->count > 0 && ends_the_bytes(s, named)) l->first = 1;
    for (size_t k = 0; k < U9I_ALIGN; k++) add_length(s, l, s->limit - U9I_FRAME_HEADER_SIZE - k);
    if ((s->hint->p + s->limit) % U9I_BLOCK != 0) return;
    size_t end = s->limit; /* behind the last byte that is not zero */
    while (end > U9I_FRAME_HEADER_SIZE && s->bytes[end - 1] == 0) end--;
    for (size_t k = 0; k < U9I_ALIGN; k++) add_length(s, l, end - U9I_FRAME_HEADER_SIZE + k);
}

/* True if what the payload's hash must be is known for sure: by what comes next, or by two hashes that say the same. */
static bool is_sure(const subject *s)
{
    uint8_t sign[U9I_HASH_SIZE];
    const u9i_hint *h = s->hint;
    if (h->has_next) return true;
    u9i_sign(s->bytes + 16, h->secret->bytes, sign);
    return (h->placed || h->lone) && !h->secret->lost && memcmp(sign, s->bytes + 32, U9I_HASH_SIZE) == 0;
}

/*
 * What of `all` may be hashed to guess at a trailer of this length: little where one seems to stand, for then it is the
 * body that is damaged, as a rule; nothing where none ever stood, or nobody could say whether it is the right one.
 */
static uint64_t worth(const subject *s, uint64_t all, size_t length, unsigned like)
{
    bool stands = like == U9I_TRAILER_SIZE, sure = is_sure(s),
         named = length == u9i_get_be(s->bytes + 56, 8);
    if (stands) return sure && !s->hint->lone ? all / 16 : 0;
    return like >= LIKE_MIN || (sure && named) ? all / 2 : 0;
}

/* By a trailer that is made anew. Half of what may be hashed stays for other frames: this may be none, or not be proven yet. [Y-4] */
static bool find_harmed(subject *s)
{
    length_list l;
    u9i_hasher front = {.blocks = 0};
    uint64_t kept = s->effort->guesses / 2;
    collect_lengths(s, &l);
    size_t shortest = SIZE_MAX;
    for (unsigned i = 0; i < l.count; i++)
        if (worth(s, kept, l.all[i], l.like[i]) > 0 && l.all[i] < shortest) shortest = l.all[i];
    if (shortest == SIZE_MAX) return false;
    u9i_hasher_init(&front);
    if (!hash_up_to(s, &front, shortest - U9I_TRAILER_SIZE)) return false;
    s->guesses = true;
    for (unsigned i = 0; i < l.count && !s->spent && s->effort->guesses > kept; i++) {
        uint64_t most = worth(s, s->effort->guesses - kept, l.all[i], l.like[i]);
        if (most > 0 && try_length(s, &front, l.all[i], most)) return true;
    }
    return false;
}

u9_err u9i_rejoin(const u9i_hint *h, const uint8_t *bytes, size_t avail, bool partial,
                  u9i_effort *effort, u9i_rejoined *out)
{
    subject s = {.hint = h, .bytes = bytes, .effort = effort, .out = out};
    size_t most = U9I_FRAME_HEADER_SIZE + U9I_PAYLOAD_MAX + U9I_ALIGN,
           whole = avail - avail % U9I_ALIGN;
    if (whole < U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE) return U9_CORRUPT;
    if (whole > most) whole = most - most % U9I_ALIGN;
    s.limit =
        u9i_boundary_find(h->secret->boundary, bytes, U9I_FRAME_HEADER_SIZE, whole); /* [F-7] */
    s.walled = s.limit < whole || (h->has_next && h->p + s.limit == h->next_at);
    bool found = find_whole(&s) || (!partial && !s.spent && find_harmed(&s));
    return found ? U9_OK : s.spent ? U9_LIMIT : U9_CORRUPT;
}
