/*
 * tests/second_reader.c: a second reader of the format, written from the specification alone.
 *
 * Every file is read whole, all its valid frames are found and decoded first, and only then the
 * rules L and R are played through. Nothing here is shared with the library and nothing is fast.
 */
#include "second_reader.h"

#include <dirent.h>
#include <lz4.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NOWHERE UINT64_MAX
#define BODY_MAX ((uint64_t)1 << 24)

/* BROKEN: what R-9 calls damage. OTHER: a control record that a later version may know. */
typedef enum body_kind { NOTHING, RECORDS, PART, OPEN, END, TRIM, PAGE, MARKED, OTHER, BROKEN } body_kind;

typedef struct field { /* content of an element, without bytecode and length */
    const uint8_t *at;
    uint64_t size;
} field;

typedef struct frame {
    uint64_t p, end, length, ordinal, count, previous, durable;
    const uint8_t *sha, *chain, *body; /* body: decoded */
    uint64_t body_size;
    body_kind kind;
    field f[14]; /* elements of a known control record */
} frame;

typedef struct second_file {
    uint64_t number, name, n; /* what stands inside; what its name says; bytes */
    uint8_t *d, *dark, secret[16], boundary[16]; /* dark: not 0 for a block that cannot be read */
    frame *frames, *open; /* all that are valid, in order; the one at 32, if it is a u9open */
    size_t n_frames;
    int version, bad_header, spared, blank; /* spared: by another's copy of its secret */
    u9_reason wrong; /* foreign, a copy, a fork: not read */
    int called, served;
    int keyless; /* its header cannot be read, and its secret is nowhere else */
    int plain;   /* frames are those of E-2 */
    int none;    /* no frame is valid, by F-6 or E-2 */
    const frame *mark; /* the u9mark of which it is the segment [M-4] */
    const frame *by;      /* of the row: the u9open that names its end */
    int accepted;         /* what was unknown behind that is told no more */
    uint64_t missed;      /* the segment that is missing in front of it, 0: none */
    uint64_t mark_missed; /* the same, of the mark's; another than that */
    uint64_t fork_begin, fork_end, fork_lost, fork_ordinal; /* fork_end 0: none */
} second_file;

/* Where reading stands: at a file's start or behind a frame. */
typedef struct place {
    uint64_t x, ordinal;  /* ordinal: expected next, NOWHERE if not known */
    const uint8_t *chain; /* NULL if not known */
    const frame *last;    /* in this file, NULL if none was read */
} place;

/* ---- small things ---- */

/* The list of n elements with room for one more: it doubles at each power of two. */
static void *grown(void *list, size_t n, size_t each)
{
    void *more = n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * each);
    if (!more) abort();
    return more;
}

static uint8_t *keep(second_log *g, uint64_t size)
{
    g->memory = grown(g->memory, g->n_memory, sizeof *g->memory);
    if (!(g->memory[g->n_memory] = calloc(1, size + 1))) abort();
    return g->memory[g->n_memory++];
}

static void say(second_log *g, u9_verdict verdict, u9_reason reason, const second_file *s,
                uint64_t begin, uint64_t end, uint64_t ordinal, uint64_t lost)
{
    g->damages = grown(g->damages, g->n_damages, sizeof *g->damages);
    g->damages[g->n_damages++] =
        (second_damage){verdict, reason, s->number, begin, end, ordinal, lost, 0};
}

static void record(second_log *g, second_record r)
{
    g->records = grown(g->records, g->n_records, sizeof r);
    g->records[g->n_records++] = r;
}

static uint64_t be(const uint8_t *b, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes--) v = v << 8 | *b++;
    return v;
}

static void hash16(const uint8_t *b, uint64_t n, uint8_t out[16])
{
    uint8_t whole[SHA256_DIGEST_LENGTH];
    memcpy(out, SHA256(b, n, whole), 16);
}

static int same(const uint8_t *a, const uint8_t *b)
{
    return !memcmp(a, b, 16);
}

static uint64_t block_up(uint64_t x)
{
    return (x + 4095) & ~(uint64_t)4095;
}

/* Are there bytes in [a,b) that cannot be read? */
static int unread(const second_file *s, uint64_t a, uint64_t b)
{
    if (b > s->n) b = s->n;
    for (uint64_t k = a / 4096; a < b && k <= (b - 1) / 4096; k++)
        if (s->dark[k]) return 1;
    return 0;
}

/* Behind the last byte of [a,b) that is not zero, or cannot be read; a if all are zero or absent. */
static uint64_t nonzero_end(const second_file *s, uint64_t a, uint64_t b)
{
    if (b > s->n) b = s->n;
    while (b > a && !s->d[b - 1] && !s->dark[(b - 1) / 4096]) b--;
    return b > a ? b : a;
}

static int zeros(const second_file *s, uint64_t a, uint64_t b)
{
    return nonzero_end(s, a, b) == a;
}

/* How many records are gone between two ordinals; not known if they run backwards. */
static uint64_t between(uint64_t from, uint64_t to)
{
    return from == NOWHERE || to == NOWHERE || to < from ? NOWHERE : to - from;
}

/* ---- values and bodies ---- */

/* Size of the utf9 value at b, 0 if it is none or does not fit n bytes. Containers by length. */
static uint64_t value_size(const uint8_t *b, uint64_t n)
{
    static const uint8_t fixed[24] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 8, [21] = 2, 4, 8};
    uint64_t head = 1, length = 0;
    unsigned c, w = 0;
    if (!n) return 0;
    c = b[0];
    if (c >= 0x80) return 1;
    if ((c >= 0x0c && c <= 0x0f) || c == 0x50 || c > 0x57) return 0;
    if (c < 0x18) length = fixed[c];
    else if (c >= 0x20 && c < 0x40) length = c & 15;
    else if (c >= 0x51) w = c <= 0x53 ? 2u << (c - 0x51) : 1u << (c - 0x54);
    else w = c >= 0x48 ? 1 : 1u << (c & 3);
    head += c >= 0x40 && c < 0x48 ? 2 * w : w;
    if (n < head) return 0;
    if (w) length = be(b + 1, w);
    if (length > n - head) return 0;
    head += length;
    if (c < 0x51) return head;
    length = head < n && b[head] >= 0x40 ? value_size(b + head, n - head) : 0;
    return length > 1 ? head + length : 0; /* an index: the container behind it belongs to it */
}

/* A key at b, which is a whole value: text or bytes, 1 to 512 of them, or a uint64 [L-6]. */
static int is_key(const uint8_t *b)
{
    uint64_t size = value_size(b, UINT64_MAX), head = 1;
    if (b[0] == 0x03) return 1;
    if (b[0] < 0x18 || b[0] > 0x3f) return 0;
    if (b[0] < 0x20) head += 1u << (b[0] & 3);
    return size > head && size - head <= 512;
}

/* A tuple at b: its size, its first element and how many; 0 if its elements do not fill it. */
static uint64_t tuple(const uint8_t *b, uint64_t n, const uint8_t **first, uint64_t *count)
{
    uint64_t size = value_size(b, n), at, one;
    unsigned w;
    if (!size || b[0] < 0x40 || b[0] > 0x4f || (b[0] & 0x0c) == 0x04) return 0;
    w = 1u << (b[0] & 3);
    at = b[0] >= 0x48 ? 2 : 1 + 2 * w;
    *count = b[0] >= 0x48 ? b[0] & 7 : be(b + 1 + w, w);
    *first = b + at;
    for (uint64_t i = 0; i < *count; i++, at += one)
        if (!(one = value_size(b + at, size - at))) return 0;
    return at == size && *count ? size : 0;
}

static int is_control(const uint8_t *first)
{
    return first[0] == 0x0a && first[1] == 'u' && first[2] == '9';
}

/* The elements of a control record in the bytecodes of `form`, `v` for any value [C-1]. */
static int fields(const uint8_t *b, const char *form, field *out)
{
    static const struct {
        char letter;
        uint8_t code, head, size;
    } forms[] = {{'s', 0x0a, 1, 8},  {'1', 0x00, 1, 1}, {'4', 0x02, 1, 4}, {'8', 0x03, 1, 8},
                 {'b', 0x1c, 2, 16}, {'t', 0x19, 3, 0}, {'l', 0x1e, 5, 0}, {'a', 0x46, 9, 0}};
    for (; *form; form++, out++) {
        size_t i = 0;
        *out = (field){b, value_size(b, NOWHERE)};
        b += out->size;
        if (*form == 'v') continue;
        while (forms[i].letter != *form) i++;
        if (*out->at != forms[i].code || out->size < forms[i].head) return 0;
        out->at += forms[i].head;
        out->size -= forms[i].head;
        if (forms[i].size && out->size != forms[i].size) return 0;
    }
    return 1;
}

static uint64_t num(const frame *f, int i)
{
    return be(f->f[i].at, (unsigned)f->f[i].size);
}

static int page_ok(const frame *f) /* [C-7] */
{
    const uint8_t *ka = f->f[2].at, *ia = f->f[3].at;
    uint64_t k = f->f[2].size, n = be(ia - 4, 4);
    int hashed = !memcmp(f->f[1].at, "u9kh\0\0\0", 8);
    return (hashed || !memcmp(f->f[1].at, "k\0\0\0\0\0\0", 8)) && be(ka - 4, 4) == n &&
           f->f[3].size == 1 + 8 * n && ia[0] == 0x07 &&
           ((k == 1 + 8 * n && ka[0] == 0x03) ||
            (!hashed && k == 2 + 16 * n && ka[0] == 0x1c && ka[1] == 16));
}

static body_kind control(frame *f, const uint8_t *name, uint64_t elements)
{
    static const struct {
        const char *name, *form;
        uint8_t code;
        body_kind kind;
    } known[] = {{"u9open\0", "sbb8888bb88b1t", 0x41, OPEN},
                 {"u9end\0\0", "s1888888btvv", 0x41, END},
                 {"u9trim\0", "s88", 0x41, TRIM},
                 {"u9mark\0", "sb88bb88b8", 0x41, MARKED},
                 {"u9part\0", "s488l", 0x42, PART},
                 {"u9page\0", "ssaa", 0x42, PAGE},
                 {"u9lz4\0\0", "", 0, BROKEN},
                 {"u9mask\0", "", 0, BROKEN}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        body_kind kind = known[i].kind;
        if (memcmp(name + 1, known[i].name, 8) != 0) continue;
        if (f->body[0] != known[i].code || elements < strlen(known[i].form) ||
            f->count > (kind == PART) || !fields(name, known[i].form, f->f))
            return BROKEN;
        if ((kind == OPEN && /* [C-3] */
             (num(f, 10) != f->ordinal || !same(f->f[11].at, f->chain) || num(f, 12) > 5 ||
              !num(f, 3) || num(f, 6) > num(f, 3) || (num(f, 6) && num(f, 9) < 32) || f->f[13].size > 532)) ||
            (kind == END && num(f, 1) != 1 && num(f, 1) != 2) || (kind == PAGE && !page_ok(f)))
            return BROKEN;
        return kind;
    }
    return f->count ? BROKEN : OTHER; /* [B-3] */
}

static int wrapped(const uint8_t *b, uint64_t n, const char *name, uint64_t head)
{
    return n >= head && b[0] == 0x42 && be(b + 1, 4) == n - 9 && be(b + 5, 4) == 3 &&
           !memcmp(b + 9, name, 9) && b[head - 5] == 0x1e && be(b + head - 4, 4) == n - head;
}

/* Decodes the body b [B-1]: f->count, ordinal and chain are known, body and fields are set. */
static body_kind decode(second_log *g, frame *f, const uint8_t *b, uint64_t n)
{
    const uint8_t *first;
    uint64_t at = 0, count, seen = 0, size;
    uint8_t *plain;
    if (wrapped(b, n, "\nu9lz4\0\0", 32) && b[18] == 3) { /* [B-4] */
        size = be(b + 19, 8);
        if (size > BODY_MAX || n >= size || !f->count) return BROKEN;
        plain = keep(g, size);
        if (LZ4_decompress_safe((const char *)b + 32, (char *)plain, (int)(n - 32), (int)size) !=
            (int)size)
            return BROKEN;
        b = plain;
        n = size;
    } else if (wrapped(b, n, "\nu9mask\0", 41) && b[18] == 0x1c && b[19] == 16) { /* [B-5] */
        plain = keep(g, n -= 41);
        for (uint64_t i = 0; i < n; i++) plain[i] = b[41 + i] ^ b[20 + (i & 15)];
        b = plain;
    }
    f->body = b;
    f->body_size = n;
    if (n > BODY_MAX) return BROKEN;
    if (!n) return f->count ? BROKEN : NOTHING;
    for (; at < n; at += size, seen++) { /* [B-2] */
        if (!(size = tuple(b + at, n - at, &first, &count))) return BROKEN;
        if (is_control(first)) return size == n ? control(f, first, count) : BROKEN;
        if (f->count && !is_key(first)) return BROKEN;
    }
    return seen == f->count ? RECORDS : BROKEN;
}

/* ---- frames ---- */

static int signed_at(const second_file *s, const uint8_t *h)
{
    uint8_t key[16], sum[16];
    for (unsigned i = 0; i < 16; i++) key[i] = h[16 + i] ^ s->secret[i];
    hash16(key, 16, sum);
    return same(sum, h + 32);
}

static int is_trailer(const uint8_t *t) /* [F-4] */
{
    return !memcmp(t, "\x40\x4d\x08\nu9frame\0\3", 13) && t[21] == 2 && t[26] == 3 && t[35] == 3 && t[44] == 3 &&
           t[53] == 3 && t[62] == 0x1c && t[63] == 16;
}

/*
 * The valid frame at p, with bytes up to `limit`: U9_R_NONE, or the first clause of F-6 that fails.
 * `proven` 0 asks only for c, d, g and h; 2, for a plain seed file's frame [E-2].
 */
static u9_reason check(const second_file *s, uint64_t p, uint64_t limit, int proven, frame *f)
{
    const uint8_t *h = s->d + p, *t;
    uint64_t n = limit < s->n ? limit : s->n;
    uint8_t sum[16];
    memset(f, 0, sizeof *f);
    n = n > p ? n - p : 0;
    if (unread(s, p, p + 64)) return U9_R_UNREADABLE;
    if (p % 16 || p < 32 || n < 16 || (proven && !same(h, s->boundary))) return U9_R_BOUNDARY;
    if (n < 56 || memcmp(h + 48, "\xff\xffutf9f", 8) != 0) return U9_R_MAGIC;
    if (n < 64) return U9_R_LENGTH;
    f->length = be(h + 56, 8);
    if ((f->length < 80 && proven != 2) || f->length > BODY_MAX + 121) return U9_R_LENGTH;
    f->p = p; /* magic and F-5 hold */
    f->end = p + 64 + f->length + (-f->length & 15);
    if (f->end - p > n) return U9_R_LENGTH;
    if (unread(s, p, f->end)) return U9_R_UNREADABLE;
    for (uint64_t q = p + 16; proven && q < f->end; q += 16)
        if (same(s->d + q, s->boundary)) return U9_R_OVERLAP;
    if (proven && !signed_at(s, h)) return U9_R_SIGNATURE;
    if (proven == 2) {
        hash16(h + 64, f->length, sum);
        return same(sum, h + 16) ? U9_R_NONE : U9_R_HASH;
    }
    t = h + 64 + f->length - 80;
    if (!is_trailer(t)) return U9_R_TRAILER;
    f->ordinal = be(t + 13, 8);
    f->count = be(t + 22, 4);
    f->previous = be(t + 36, 8);
    f->durable = be(t + 45, 8);
    f->chain = t + 64;
    f->sha = h + 16;
    if (be(t + 27, 8) != p || f->durable > p || f->ordinal > UINT64_MAX - f->count ||
        (p == 32 ? f->previous != 0 : f->previous < 32 || f->previous >= p))
        return U9_R_TRAILER;
    hash16(h + 64, f->length, sum);
    return same(sum, f->sha) ? U9_R_NONE : U9_R_HASH;
}

/* The first valid frame at or behind x that ends at or before `limit`, or NULL. */
static const frame *from(const second_file *s, uint64_t x, uint64_t limit)
{
    size_t a = 0, b = s->n_frames;
    while (a < b) {
        size_t m = (a + b) / 2;
        if (s->frames[m].p < x) a = m + 1;
        else b = m;
    }
    return a < s->n_frames && s->frames[a].end <= limit ? &s->frames[a] : NULL;
}

/* The parts passed of one record, in a list; what does not go on with it begins anew [C-6]. */
static void pass_part(second_log *g, const frame *f)
{
    const frame **row = (const frame **)g->row;
    if (g->n_row && (num(f, 2) != num(row[0], 2) || num(f, 1) <= num(row[g->n_row - 1], 1))) g->n_row = 0;
    g->row = row = grown(row, g->n_row, sizeof *row);
    row[g->n_row++] = f;
}

/* Makes of the list, whose last part is in, a record: U9_R_NONE, or why it is none. */
static u9_reason join(second_log *g, second_record *r)
{
    const frame **row = (const frame **)g->row;
    uint64_t total = num(row[0], 2), sum = 0, count, n = g->n_row;
    const uint8_t *first;
    g->n_row = 0;
    for (uint64_t i = 0; i < n; sum += row[i++]->f[4].size)
        if (num(row[i], 1) != i || num(row[i], 3) != (i ? row[i - 1]->p : 0)) return U9_R_PART;
    if (sum != total) return U9_R_PART;
    uint8_t *bytes = keep(g, total), *end = bytes;
    for (uint64_t i = 0; i < n; end += row[i++]->f[4].size) memcpy(end, row[i]->f[4].at, row[i]->f[4].size);
    r->bytes = bytes;
    r->size = total;
    if (total <= BODY_MAX)
        return tuple(bytes, total, &first, &count) == total && total && is_key(first) ? U9_R_NONE : U9_R_BODY;
    count = bytes[0] == 0x42 ? 9 : 17; /* of a larger one only head and key */
    first = bytes + count;
    return (bytes[0] == 0x42 || bytes[0] == 0x43) && value_size(bytes, total) == total &&
                   be(bytes + 1 + count / 2, (unsigned)(count / 2)) && value_size(first, total - count) && is_key(first)
               ? U9_R_NONE
               : U9_R_BODY;
}

/* The first clause of F-6, which nearly all places fail. */
static int no_boundary(const second_file *s, uint64_t p)
{
    return !same(s->d + p, s->boundary);
}

/* Finds and decodes all valid frames. */
static void find(second_log *g, second_file *s)
{
    frame f;
    for (uint64_t p = 32; p + 16 <= s->n; p += 16) {
        if (no_boundary(s, p)) continue;
        if (check(s, p, NOWHERE, 1, &f) != U9_R_NONE) continue;
        f.kind = decode(g, &f, s->d + p + 64, f.length - 80);
        s->frames = grown(s->frames, s->n_frames, sizeof f);
        s->frames[s->n_frames++] = f;
        p = f.end - 16;
    }
    if (s->n_frames && s->frames[0].p == 32 && s->frames[0].kind == OPEN) s->open = s->frames;
}

/* Is it a plain seed file [E-1]? Then its frames are those. */
static void look_plain(second_file *s)
{
    frame f, *found = NULL;
    size_t n = 0;
    s->none = 1;
    for (uint64_t p = 32; p + 16 <= s->n; p += 16) {
        if (no_boundary(s, p)) continue;
        if (check(s, p, NOWHERE, 2, &f) != U9_R_NONE) continue;
        s->none = 0;
        if (!n && f.length >= 80 && is_trailer(s->d + p + 64 + f.length - 80)) break;
        found = grown(found, n, sizeof f);
        found[n++] = f;
        p = f.end - 16;
    }
    if (!n) return;
    free(s->frames);
    s->frames = found;
    s->n_frames = n;
    s->plain = 1;
}

/* Is this the secret whose boundary is at b? Then it becomes the file's. */
static int fits(second_file *s, const uint8_t *secret, const uint8_t *b)
{
    uint8_t sum[16];
    hash16(secret, 16, sum);
    if (!same(sum, b)) return 0;
    s->bad_header |= !same(s->secret, secret);
    memcpy(s->secret, secret, 16);
    memcpy(s->boundary, sum, 16);
    return 1;
}

static int cut_short(const second_file *s) /* [L-4] */
{
    frame f;
    if (s->n < 96 || !zeros(s, 0, 512) || unread(s, 0, s->n)) return s->n < 96;
    for (uint64_t p = 32; p < s->n; p += 16)
        if (check(s, p, NOWHERE, 0, &f) == U9_R_NONE && f.durable) return 0;
    return 1;
}

static int own_spare(second_log *g, second_file *s) /* [H-5] */
{
    uint8_t *block = s->n % 4096 || !s->n ? NULL : s->d + s->n - 4096, flip[16];
    uint64_t size, count;
    const uint8_t *first;
    frame f = {0};
    size = block ? tuple(block + 64, 4096 - 64, &first, &count) : 0;
    if (size && decode(g, &f, block + 64, size) == END && fits(s, f.f[8].at, block)) return 1;
    for (unsigned i = 0; s->n >= 48 && i < 128; i++) {
        memcpy(flip, s->secret, 16);
        flip[i / 8] = (uint8_t)(flip[i / 8] ^ 1 << i % 8);
        if (fits(s, flip, s->d + 32)) return 1;
    }
    return 0;
}

/* The file of which this is the number in the name, or the boundary at 32: is it the one that a u9open or mark names? */
static int may_be(const second_file *s, int by_name, uint64_t number, const uint8_t *boundary)
{
    return by_name ? number == s->name : s->n >= 48 && same(boundary, s->d + 32);
}

/* Does a valid frame of this boundary stand in the file? */
static int has_frames_of(second_log *g, const second_file *s, const uint8_t *secret, const uint8_t *boundary)
{
    second_file as = *s;
    as.frames = NULL;
    as.n_frames = 0;
    as.open = NULL;
    memcpy(as.secret, secret, 16);
    memcpy(as.boundary, boundary, 16);
    find(g, &as);
    free(as.frames);
    return as.n_frames > 0;
}

enum { BY_BOUNDARY, BY_FRAMES, BY_NAME };

/*
 * Another's copy of the secret: for the boundary that stands at 32; for the number in the file's name, if frames of it stand
 * there; or without any. The highest's, else the mark's. [H-5]
 */
static int others_spare(second_log *g, second_file *s, int how)
{
    second_file *stop = g->files + g->n_files;
    const frame *m = g->mark ? g->mark->frames : NULL;
    uint64_t below = NOWHERE;
    for (;;) {
        const frame *best = NULL;
        for (second_file *k = g->files; k < stop; k++)
            if (k->open && num(k->open, 6) && num(k->open, 3) < below && (!best || num(k->open, 3) > num(best, 3)) &&
                may_be(s, how != BY_BOUNDARY, num(k->open, 6), k->open->f[7].at))
                best = k->open;
        if (!best) break;
        if ((how != BY_FRAMES || has_frames_of(g, s, best->f[8].at, best->f[7].at)) && fits(s, best->f[8].at, best->f[7].at)) return 1;
        below = num(best, 3);
    }
    return m && may_be(s, how != BY_BOUNDARY, num(m, 3), m->f[4].at) &&
           (how != BY_FRAMES || has_frames_of(g, s, m->f[5].at, m->f[4].at)) && fits(s, m->f[5].at, m->f[4].at);
}

/* The header's secret is this file's: its boundary stands at 32, or a frame of it is here. */
static int is_its_own(second_log *g, const second_file *s)
{
    return (s->n >= 48 && same(s->boundary, s->d + 32)) || has_frames_of(g, s, s->secret, s->boundary);
}

static int frame_magic(const second_file *s)
{
    for (uint64_t p = 32; p + 64 <= s->n; p += 16)
        if (!memcmp(s->d + p + 48, "\xff\xffutf9f", 8)) return 1;
    return 0;
}

/* Makes a file in memory ready. */
static void prepare(second_log *g, second_file *s)
{
    int magic = s->n >= 8 && !memcmp(s->d, "\xff\xffutf9", 7);
    s->version = magic ? s->d[7] : 1;
    s->bad_header = !magic || s->d[7] != 1 || s->n < 32 || be(s->d + 24, 8);
    memcpy(s->secret, s->d + 8, 16);
    hash16(s->secret, 16, s->boundary);
    find(g, s);
    s->keyless = unread(s, 0, 32);
    if (!s->open && own_spare(g, s)) {
        s->n_frames = 0;
        s->keyless = 0;
        find(g, s);
    }
    if (!s->open && (!magic || s->d[7] == 1) && !cut_short(s)) look_plain(s);
    s->bad_header |= !s->n_frames && s->n >= 88 && !same(s->d + 32, s->boundary) &&
                     !memcmp(s->d + 80, "\xff\xffutf9f", 8);
    s->blank = !s->open && cut_short(s);
}

/* Once more, by what others know; as long as that brings something. */
static void prepare_by_others(second_log *g)
{
    for (int more = 1; more;) {
        more = 0;
        for (size_t i = g->n_files; i-- > 0;) {
            second_file *s = &g->files[i];
            if (s->open || s->spared) continue;
            memcpy(s->secret, s->d + 8, 16);
            s->spared = others_spare(g, s, BY_BOUNDARY) || others_spare(g, s, BY_FRAMES);
            if (!s->spared && !own_spare(g, s)) {
                hash16(s->secret, 16, s->boundary);
                s->spared = !is_its_own(g, s) && others_spare(g, s, BY_NAME);
            }
            if (!s->spared) continue;
            s->n_frames = 0;
            find(g, s);
            s->bad_header |= !s->n_frames && s->n >= 88 && !same(s->d + 32, s->boundary) &&
                             !memcmp(s->d + 80, "\xff\xffutf9f", 8);
            more |= s->open != NULL;
        }
    }
}

/* -1 if one is of another version, and no frame in it is of a boundary that this one's name [H-4]. */
static int refuse_versions(second_log *g)
{
    for (second_file *s = g->files; s < g->files + g->n_files; s++) {
        if (s->version == 1 || s->open || (s->spared && s->n_frames) || s->name >> 63) continue;
        snprintf(g->error, sizeof g->error, "version %d", s->version);
        return -1;
    }
    return 0;
}

/* ---- the mark ---- */

/* A slot: a file of one frame [M-2]. 0: nothing there, 1: valid, -1: bad. */
static int slot(second_log *g, second_file *s, const uint8_t *bytes)
{
    uint8_t sum[16];
    const frame *f;
    *s = (second_file){.n = 4096, .d = keep(g, 4096 + 32), .dark = keep(g, 2)};
    memcpy(s->d, bytes, 4096);
    if (zeros(s, 0, 4096)) return 0;
    memcpy(s->secret, s->d + 8, 16);
    hash16(s->secret, 16, s->boundary);
    if (memcmp(s->d, "\xff\xffutf9\0\1", 8) != 0 || be(s->d + 24, 8)) return -1;
    find(g, s);
    f = s->frames;
    if (!s->n_frames || f->p != 32 || f->kind != MARKED || f->body != s->d + 96) return -1;
    hash16(s->d, 32, sum);
    if (!same(f->chain, sum) || !num(f, 3)) return -1;
    hash16(f->f[5].at, 16, sum);
    return same(sum, f->f[4].at) && num(f, 6) >= 176 && num(f, 6) <= (uint64_t)1 << 43 &&
                   num(f, 6) % 16 == 0
               ? 1
               : -1;
}

/* The file .mark: which slot counts, if any [M-3] [M-4]. */
static void take_mark(second_log *g, const uint8_t *bytes, uint64_t n, unsigned links)
{
    uint8_t both[2 * 4096] = {0};
    second_file *s = (second_file *)(void *)keep(g, 2 * sizeof *s);
    const frame *a, *b;
    g->slots = s;
    memcpy(both, bytes, n < sizeof both ? n : sizeof both);
    for (int i = 0; i < 2; i++) {
        int is = slot(g, &s[i], both + 4096 * i);
        g->bad_slots[i] = is < 0;
        if (is != 1 || links > 1) continue;
        a = s[i].frames;
        b = g->mark ? g->mark->frames : NULL;
        if (!b || num(a, 3) > num(b, 3) || (num(a, 3) == num(b, 3) && num(a, 6) > num(b, 6)))
            g->mark = &s[i];
    }
}

/* Says which slots are bad [M-3]. */
static void say_slots(second_log *g)
{
    second_file none = {0};
    for (uint64_t i = 0; i < 2; i++)
        if (g->bad_slots[i])
            say(g, g->bad_slots[1 - i] ? U9_V_UNKNOWN : U9_V_TORN, U9_R_MARK, &none, 4096 * i,
                4096 * i + 4096, NOWHERE, 0);
}

/* ---- one file ---- */

/* The frame that follows, at x or at the next block [F-8, F-9]; NULL if there is none. */
static const frame *next(const second_file *s, const place *at, uint64_t limit)
{
    for (uint64_t p = at->x;; p = block_up(p)) {
        const frame *f = from(s, p, limit);
        if (f && f->p == p && f->previous == (at->last ? at->last->p : 0) &&
            (f->ordinal == at->ordinal || at->ordinal == NOWHERE) &&
            (!at->chain || same(f->chain, at->chain)))
            return f;
        if (p % 4096 == 0) return NULL;
    }
}

/* Does a frame follow that passes the end which another file names? */
static int goes_past(const second_file *s, const place *at, uint64_t named)
{
    const frame *f = next(s, at, NOWHERE);
    return f && f->end > named && !unread(s, at->x, named);
}

/* Why [x,y) is no frame, in a file that may not pass `limit`. */
static u9_reason why(const second_file *s, uint64_t x, uint64_t y, uint64_t limit)
{
    frame f;
    u9_reason r = unread(s, x, y) ? U9_R_UNREADABLE : check(s, zeros(s, x, block_up(x)) ? block_up(x) : x, limit, 1, &f);
    return r == U9_R_NONE ? U9_R_FOLLOW : r;
}

/* Reads frame f: its records, and what is wrong with it and with the fill before it. */
static void serve(second_log *g, const second_file *s, const frame *f, place *at, uint64_t promise,
                  int behind)
{
    second_record r = {f->ordinal, s->number, f->p, NULL, 0};
    uint64_t fill = nonzero_end(s, at->x, f->p), data = f->p + 64 + f->length, count;
    body_kind kind = f->kind;
    u9_reason wrong = kind == BROKEN ? U9_R_BODY : U9_R_NONE;
    const uint8_t *first;
    if (fill > at->x) /* */
        say(g, fill <= promise ? U9_V_CORRUPT : U9_V_UNKNOWN, behind ? U9_R_SEAL : U9_R_FILL, s,
            at->x, fill, at->ordinal, 0);
    if (kind == PART && !behind) {
        pass_part(g, f);
        wrong = f->count ? join(g, &r) : U9_R_NONE;
        if (f->count && wrong == U9_R_NONE) record(g, r);
    }
    if (!zeros(s, data, f->end))
        say(g, f->end <= promise ? U9_V_CORRUPT : U9_V_UNKNOWN, U9_R_PADDING, s, data, f->end,
            f->ordinal, 0);
    if (wrong != U9_R_NONE && !behind) /* */
        say(g, U9_V_CORRUPT, wrong, s, f->p, f->end, f->ordinal, f->count);
    for (uint64_t o = 0; kind == RECORDS && o < f->body_size; o += r.size, r.ordinal++) {
        r.bytes = f->body + o;
        r.size = tuple(r.bytes, f->body_size - o, &first, &count);
        record(g, r);
    }
    *at = (place){f->end, f->ordinal + f->count, f->sha, f};
}

/* Is nothing to be behind f: it is a u9end in the last block, or a seal, wherever [S-4, S-6]? */
static int closes(const second_file *s, const frame *f)
{
    return f && f->kind == END && f->p % 4096 == 0 && f->end - f->p <= 4096 && (f->p + 4096 == s->n || num(f, 1) == 2);
}

/* Where the extent of a damaged frame at d ends: it may pass the end of the file. */
static uint64_t extent(const second_file *s, uint64_t d)
{
    uint64_t stop, q = d + 16;
    frame f;
    check(s, d, NOWHERE, 1, &f);
    if (f.p && signed_at(s, s->d + d)) return d + 64 + f.length;
    while (q + 16 <= s->n && !same(s->d + q, s->boundary)) q += 16;
    stop = nonzero_end(s, d, q + 16 <= s->n ? q : s->n);
    return stop < d + 64 ? d + 64 : stop;
}

/* Judges the tail behind x, or what follows a rolled file's index. */
static void tail(second_log *g, const second_file *s, const place *at, const frame *y, int behind)
{
    uint64_t x = at->x, d = zeros(s, x, block_up(x)) ? block_up(x) : x, stop;
    int torn;
    if (closes(s, at->last)) { /* */
        stop = nonzero_end(s, x, s->n);
        if (stop > x)
            say(g, U9_V_UNKNOWN, behind ? U9_R_SEAL : U9_R_FILL, s, x, stop, at->ordinal, 0);
        return;
    }
    if (unread(s, d, s->n)) { /* */
        say(g, U9_V_UNKNOWN, U9_R_UNREADABLE, s, d, nonzero_end(s, d, s->n), at->ordinal,
            behind ? 0 : NOWHERE);
        return;
    }
    if (zeros(s, d, s->n)) {
        if (!behind) say(g, U9_V_TORN, U9_R_UNCLOSED, s, x, x, at->ordinal, 0);
        return;
    }
    stop = extent(s, d);
    torn = stop > s->n;
    for (uint64_t o = d & ~(uint64_t)511; o < stop && o + 512 <= s->n; o += 512)
        torn |= zeros(s, o, o + 512);
    say(g, torn ? U9_V_TORN : U9_V_UNKNOWN, behind ? U9_R_SEAL : why(s, x, x, NOWHERE), s, d,
        stop < s->n ? stop : s->n, at->ordinal,
        torn || behind ? 0 : between(at->ordinal, y ? y->ordinal : NOWHERE));
    g->damages[g->n_damages - 1].at_most = !torn && !behind;
}

/* What was an unknown tail behind x when a session went on there. */
static void was_unknown(second_log *g, const second_file *s, uint64_t x, uint64_t ordinal)
{
    uint64_t d = zeros(s, x, block_up(x)) ? block_up(x) : x, stop = extent(s, d), lost = NOWHERE;
    const frame *y = from(s, x, NOWHERE);
    if (unread(s, d, s->n)) stop = nonzero_end(s, d, s->n);
    else if (zeros(s, d, s->n)) d = stop = x;
    else lost = between(ordinal, y ? y->ordinal : NOWHERE);
    say(g, U9_V_UNKNOWN, why(s, x, unread(s, d, s->n) ? s->n : x, NOWHERE), s, d, stop < s->n || stop == x ? stop : s->n, NOWHERE, lost);
    g->damages[g->n_damages - 1].at_most = 1;
}

/*
 * Reads one file from `at` on. `by` is the u9open that names its end, NULL if none does; `promise`
 * is what the segment before it promises, `last` says that none comes after it.
 */
static void read_file(second_log *g, const second_file *s, const frame *by, uint64_t promise,
                      int last, place *at)
{
    uint64_t named = by ? num(by, 9) : NOWHERE, x, ordinal, mark = s->mark ? num(s->mark, 6) : NOWHERE;
    const frame *f, *y = NULL;
    int met = 0, gap;
    *at = (place){32, at->ordinal, at->chain, NULL};
    g->n_row = 0;
    for (size_t i = 0; i < s->n_frames; i++) /* */
        if (s->frames[i].durable > promise) promise = s->frames[i].durable;
    if (s->mark && mark > promise) promise = mark; /* [M-4] */
    if (by) promise = named;
    if (s->open) *at = (place){32, s->open->ordinal, s->open->chain, NULL};
    if (s->bad_header) /* [H-4] */
        say(g, U9_V_CORRUPT, unread(s, 0, 32) ? U9_R_UNREADABLE : U9_R_HEADER, s, 0, 32, NOWHERE,
            s->n_frames || by || s->mark ? 0 : NOWHERE);
    if (s->fork_end) /* [L-9] */
        say(g, U9_V_CORRUPT, U9_R_FORK, s, s->fork_begin, s->fork_end, s->fork_ordinal, s->fork_lost);
    while (at->x < named) {
        f = next(s, at, named);
        gap = !f;
        if (!f) { /* */
            f = y = from(s, at->x, named);
            int promised = y && (y->previous < promise || promise >= y->p);
            if (!y || (!promised && !unread(s, at->x, y->p))) break;
            say(g, promised ? U9_V_CORRUPT : U9_V_UNKNOWN, why(s, at->x, y->p, named), s, at->x, y->p, at->ordinal,
                between(at->ordinal, y->ordinal));
            at->x = y->p;
        }
        serve(g, s, f, at, promise, 0);
        if (met || f->end < mark) continue; /* [M-4] */
        met = 1;
        if ((f->end != mark || at->ordinal != num(s->mark, 7) || !same(f->sha, s->mark->f[8].at)) &&
            !(gap && f->p >= mark))
            say(g, U9_V_CORRUPT, U9_R_FORK, s, mark, mark, num(s->mark, 7), NOWHERE);
    }
    x = at->x;
    if (by) { /* */
        ordinal = num(by, 10);
        if (x < named)
            say(g, U9_V_CORRUPT, s->n < named ? U9_R_CUT : goes_past(s, at, named) ? U9_R_FORK : why(s, x, named, named), s, x, named,
                at->ordinal, between(at->ordinal, ordinal));
        else if ((at->ordinal != NOWHERE && at->ordinal != ordinal) ||
                 (at->chain && !same(at->chain, by->f[11].at)))
            say(g, U9_V_CORRUPT, U9_R_FORK, s, x, x, at->ordinal, NOWHERE);
        else if (num(by, 12) == 4 && !s->accepted) was_unknown(g, s, x, ordinal);
        if (x >= named && num(by, 12) == 2) { /* */
            while ((f = next(s, at, NOWHERE)) && !f->count) serve(g, s, f, at, promise, 1);
            tail(g, s, at, NULL, 1);
        }
        *at = (place){named, ordinal, by->f[11].at, NULL};
        return;
    }
    if (x < promise && promise == mark) { /* [M-4] */
        say(g, U9_V_CORRUPT, unread(s, x, mark) ? U9_R_UNREADABLE : U9_R_MARK, s, x, mark, at->ordinal,
            between(at->ordinal, num(s->mark, 7)));
        *at = (place){mark, num(s->mark, 7), s->mark->f[8].at, NULL};
    } else if (x < promise) { /* */
        say(g, U9_V_CORRUPT, why(s, x, promise, NOWHERE), s, x, promise, at->ordinal,
            between(at->ordinal, y ? y->ordinal : NOWHERE));
        g->damages[g->n_damages - 1].at_most = 1;
        *at = (place){promise, y ? y->ordinal : NOWHERE, NULL, NULL};
    } else {
        tail(g, s, at, y, 0);
        if (last && closes(s, at->last)) g->end = (second_end)num(at->last, 1);
    }
    for (; last && y && y < s->frames + s->n_frames; y++) g->beyond += y->count;
}

static void gap_plain(second_log *g, const second_file *s, uint64_t x, uint64_t y, uint64_t told, uint64_t ordinal)
{
    frame f;
    if (!zeros(s, x, y)) say(g, U9_V_UNKNOWN, check(s, x, NOWHERE, 2, &f), s, x, told, ordinal, NOWHERE);
}

/* Reads a plain seed file [E-3]. */
static void read_plain(second_log *g, const second_file *s, place *at)
{
    uint64_t x = 32, o, size;
    if (at->ordinal == NOWHERE) at->ordinal = 0;
    if (s->bad_header) say(g, U9_V_UNKNOWN, U9_R_HEADER, s, 0, 32, NOWHERE, 0);
    for (const frame *f = s->frames; f < s->frames + s->n_frames; x = f++->end) {
        const uint8_t *b = s->d + f->p + 64;
        uint64_t data = f->p + 64 + f->length;
        gap_plain(g, s, x, f->p, f->p, at->ordinal);
        if (!zeros(s, data, f->end)) say(g, U9_V_UNKNOWN, U9_R_PADDING, s, data, f->end, at->ordinal, 0);
        for (o = 0; o < f->length && (size = value_size(b + o, f->length - o)); o += size) continue;
        if (o < f->length || o > BODY_MAX) {
            say(g, U9_V_UNKNOWN, U9_R_BODY, s, f->p, f->end, at->ordinal, NOWHERE);
            continue;
        }
        for (o = 0; o < f->length; o += size, at->ordinal++) {
            size = value_size(b + o, f->length - o);
            record(g, (second_record){at->ordinal, s->number, f->p, b + o, size});
        }
    }
    gap_plain(g, s, x, s->n, nonzero_end(s, x, s->n), at->ordinal);
    *at = (place){x, at->ordinal, NULL, NULL};
}

/* ---- the directory ---- */

#define NUMBER_END ((uint64_t)1 << 63)

static int belongs(const second_file *s)
{
    return !s->wrong && (s->open || s->called || !s->blank);
}

static int has_identity(const second_file *s)
{
    return !s->wrong && (s->open || s->spared || !s->blank);
}

static second_file *of_boundary(second_log *g, const uint8_t *boundary)
{
    for (second_file *s = g->files; s < g->files + g->n_files; s++)
        if (has_identity(s) && same(s->boundary, boundary)) return s;
    return NULL;
}

/* (3) The id that most boundaries have; of several the one with the lowest number, then name. */
static const uint8_t *log_id(second_log *g)
{
    second_file *stop = g->files + g->n_files, *s, *k;
    const uint8_t *id = NULL;
    uint64_t most = 0, lowest = 0, name = 0;
    for (s = g->files; s < stop; s++) {
        uint64_t n = 0, low = NOWHERE, first = NOWHERE;
        if (!s->open) continue;
        for (k = g->files; k < stop; k++) {
            second_file *twin = g->files;
            if (!k->open || !same(k->open->f[1].at, s->open->f[1].at)) continue;
            while (twin < k && (!twin->open || !same(twin->open->f[1].at, s->open->f[1].at) ||
                                !same(twin->boundary, k->boundary)))
                twin++;
            n += twin == k;
            if (k->number < low) low = k->number;
            if (k->name < first) first = k->name;
        }
        if (n < most || (n == most && (low > lowest || (low == lowest && first >= name)))) continue;
        most = n;
        lowest = low;
        name = first;
        id = s->open->f[1].at;
    }
    return id;
}

static int is_mark(second_log *g, const second_file *s)
{
    second_file of;
    if (s->n < 4096) return 0;
    int is = slot(g, &of, s->d);
    free(of.frames);
    return is == 1;
}

static int is_foreign(second_log *g, const second_file *s, const uint8_t *id) /* (3) */
{
    if (s->open)
        return !same(s->open->f[1].at, id) || s->number >= NUMBER_END || num(s->open, 6) >= s->number;
    if (s->blank || s->spared) return 0;
    return memcmp(s->d, "\xff\xffutf9", 7) != 0 ? !frame_magic(s) : is_mark(g, s);
}

/* A file that is by its name alone what no segment is [L-9]. */
static int no_number(const second_file *s)
{
    return !s->open && !s->blank && !s->spared && (!s->number || s->number >= NUMBER_END);
}

/* Raises *promise to what frames from `begin` on promise; the records there that it covers. */
static uint64_t promised(const second_file *s, uint64_t begin, uint64_t *promise)
{
    const frame *f, *stop = s->n_frames ? s->frames + s->n_frames : NULL;
    uint64_t n = 0;
    for (f = s->frames; f < stop; f++)
        if (f->p >= begin && f->durable > *promise) *promise = f->durable;
    for (f = s->frames; f < stop; f++)
        if (f->end > begin && f->end <= *promise) n += f->count;
    return n;
}

static uint64_t frames_end(const second_file *s)
{
    return s->n_frames ? s->frames[s->n_frames - 1].end : 0;
}

/* (2) Of two files with one boundary: does a read better? `at` is the u9open that names an end, or NULL. */
static uint64_t records_of(const second_file *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n_frames; i++) n += s->frames[i].count;
    return n;
}

static int is_better(const second_file *a, const second_file *b, const frame *at)
{
    int meets[2] = {0, 0};
    for (int i = 0; at && i < 2; i++) {
        const second_file *s = i ? b : a;
        for (size_t k = 0; k < s->n_frames; k++)
            meets[i] |= s->frames[k].end == num(at, 9) && same(s->frames[k].sha, at->f[11].at);
    }
    if (meets[0] != meets[1]) return meets[0];
    if (frames_end(a) != frames_end(b)) return frames_end(a) > frames_end(b);
    if (records_of(a) != records_of(b)) return records_of(a) > records_of(b);
    if (a->n_frames != b->n_frames) return a->n_frames > b->n_frames;
    if (a->bad_header != b->bad_header) return !a->bad_header;
    if ((a->name == a->number) != (b->name == b->number)) return a->name == a->number;
    return a->name < b->name;
}

static void set_aside(const second_file *better, second_file *s) /* (2) (9) */
{
    uint64_t p = 0, common = 32;
    s->wrong = U9_R_NAME;
    s->fork_lost = s->fork_end = 0;
    promised(s, 0, &p);
    for (size_t i = 0; i < s->n_frames; i++) {
        const frame *f = &s->frames[i];
        int both = 0, gap = f->end <= frames_end(better); /* which is told of the other one */
        for (size_t k = 0; k < better->n_frames; k++) {
            const frame *b = &better->frames[k];
            both |= b->p == f->p && same(b->sha, f->sha);
            gap &= b->end <= f->p || b->p >= f->end;
        }
        if (both) common = f->end;
        if (both || !f->count || f->end > p) continue;
        if (s->wrong == U9_R_NAME) s->fork_begin = common;
        s->wrong = U9_R_FORK;
        s->fork_end = f->end;
        if (!gap) s->fork_lost += f->count;
    }
    if (s->fork_end) s->fork_end = s->n;
}

static void find_twins(second_log *g) /* (2) */
{
    second_file *stop = g->files + g->n_files, *s, *k, *best;
    for (s = g->files; s < stop; s++) {
        const frame *at = NULL;
        if (!has_identity(s)) continue;
        for (k = g->files; k < stop; k++)
            if (has_identity(k) && k->open && num(k->open, 6) && same(k->open->f[7].at, s->boundary) &&
                (!at || num(k->open, 3) >= num(at, 3)))
                at = k->open;
        best = s;
        for (k = s + 1; k < stop; k++) {
            int better;
            if (!has_identity(k) || !same(k->boundary, s->boundary)) continue;
            better = is_better(k, best, at);
            set_aside(better ? k : best, better ? best : k);
            if (better) best = k;
        }
    }
}

static int compare(const void *a, const void *b)
{
    const second_file *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (belongs(x) != belongs(y)) return belongs(y) ? -1 : 1;
    if (x->open && y->open && num(x->open, 4) != num(y->open, 4))
        return num(x->open, 4) < num(y->open, 4) ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int sealed(const second_file *s)
{
    const frame *f = s && s->n_frames && !s->plain ? &s->frames[s->n_frames - 1] : NULL;
    return f && closes(s, f) && num(f, 1) == 2;
}

/* (8) Does a seal say that the next segment was there? The mark that stood before it did not name that one. */
static int proves(const second_log *g, const second_file *s)
{
    return sealed(s) && s->number < g->seals_below;
}

/* Is it where writers put it: behind the u9open, in the first block? [C-5] */
static int in_place(const second_file *s, const frame *f)
{
    const frame *o = s->open;
    return o && f->p == o->end && f->end <= 4096 && f->previous == 32 && f->ordinal == o->ordinal &&
           same(f->chain, o->sha) && num(f, 1) <= num(o, 3);
}

/*
 * The highest u9trim: of those in their place and, if these do not reach above `gone`, what the mark says of the one behind,
 * whose u9open names that one, else the highest of all [C-5].
 */
static int is_trimmed(second_log *g, uint64_t gone, const second_file *behind)
{
    for (int all = 0; all < 2 && g->trim_segment <= gone; all++) {
        const frame *m = g->mark ? g->mark->frames : NULL;
        if (all && behind && m && num(m, 3) >= behind->number && num(behind->open, 10) <= num(m, 2)) {
            g->trim_segment = behind->number;
            g->trim_ordinal = num(behind->open, 10);
            break;
        }
        for (second_file *s = g->files; s < g->files + g->n_files; s++)
            for (size_t i = 0; !s->wrong && i < s->n_frames; i++) {
                const frame *f = &s->frames[i];
                if (f->kind != TRIM || (!all && !in_place(s, f)) || num(f, 1) <= g->trim_segment) continue;
                g->trim_segment = num(f, 1);
                g->trim_ordinal = num(f, 2);
            }
    }
    return g->trim_segment > gone;
}

/* The highest one that belongs and has a number below this. */
static second_file *below(second_log *g, uint64_t number)
{
    for (second_file *s = g->files + g->n_files; s-- > g->files;)
        if (belongs(s) && s->number < number) return s;
    return NULL;
}

/* The one that the u9open of s names; NULL if it is not there. */
static second_file *named_by(second_log *g, const second_file *s)
{
    second_file *before = s->open && num(s->open, 6) ? of_boundary(g, s->open->f[7].at) : NULL;
    return before && before->number < s->number ? before : NULL;
}

/* (5) Does a row with s as its tip leave out what the mark promises? */
static int leaves_mark(second_log *g, const second_file *s)
{
    const frame *m = g->mark->frames;
    while (s && !s->mark && s->number >= num(m, 3)) {
        const second_file *before = named_by(g, s);
        if (s->open && num(s->open, 6) && same(s->open->f[7].at, m->f[4].at))
            return num(s->open, 9) < num(m, 6);
        if (before && before->number < num(m, 3)) return 1;
        if (!before && s->open && !num(s->open, 6)) return 1;
        s = before ? before : below(g, s->open ? num(s->open, 6) : s->number);
    }
    return 0;
}

static second_file *find_tip(second_log *g) /* (5) */
{
    second_file *highest = below(g, NOWHERE), *s = highest;
    while (g->mark && s && leaves_mark(g, s))
        do {
            s = s > g->files ? s - 1 : NULL;
        } while (s && !belongs(s));
    return s ? s : highest;
}

/* Up to which segment a u9open accepts unknown ends [C-3]. */
static uint64_t accepts(const frame *open)
{
    const uint8_t *more = open->f[13].at + open->f[13].size; /* behind the key kind */
    return more < open->body + open->body_size && *more == 3 ? be(more + 1, 8) : 0;
}

static void find_row(second_log *g) /* (6) (7) */
{
    second_file *s = find_tip(g), *before;
    uint64_t accepted = 0;
    while (s) {
        s->served = 1;
        if (s->open && accepts(s->open) > accepted) accepted = accepts(s->open);
        if (!s->open || !num(s->open, 6)) {
            s = s->open ? NULL : below(g, s->number);
            continue;
        }
        before = named_by(g, s);
        if (before) {
            before->by = s->open;
            before->accepted = before->number <= accepted;
        } else {
            if (is_trimmed(g, num(s->open, 6), s)) return;
            s->missed = num(s->open, 6);
            before = below(g, s->missed);
        }
        s = before;
    }
}

/* (9) Promised records of s, behind `begin`, that are not read. */
static void find_fork(second_log *g, second_file *s, uint64_t begin, uint64_t ordinal)
{
    uint64_t end = 0, there = 0, lost;
    for (second_file *k = g->files; k < g->files + g->n_files; k++)
        if (has_identity(k) && k->open && num(k->open, 6) && same(k->open->f[7].at, s->boundary) &&
            num(k->open, 9) > end) {
            end = num(k->open, 9);
            there = num(k->open, 10);
        }
    if (s->mark && num(s->mark, 6) > end) {
        end = num(s->mark, 6);
        there = num(s->mark, 7);
    }
    lost = promised(s, begin, &end);
    if (end <= begin && s->served) return;
    if (there > ordinal && there - ordinal > lost) lost = there - ordinal;
    if (!s->served && !lost && ((s->bad_header && !s->n_frames && !s->blank) || unread(s, 32, s->n))) lost = NOWHERE;
    if (!lost) return;
    if (!s->served) s->wrong = U9_R_FORK;
    s->fork_begin = s->served ? begin : 0;
    s->fork_ordinal = ordinal;
    for (const frame *f = s->frames; s->served && f < s->frames + s->n_frames; f++)
        if (f->p < begin && f->end > begin) {
            s->fork_begin = f->p;
            s->fork_ordinal = f->ordinal;
        }
    s->fork_end = s->served ? end : s->n;
    s->fork_lost = lost;
}

/* (8) The mark's segment is not there: it is missing in front of a higher one, unless it was trimmed. */
static void miss_mark(second_log *g)
{
    uint64_t number = g->mark ? num(g->mark->frames, 3) : 0;
    second_file *stop = g->files + g->n_files, *s, *lowest = NULL;
    if (!g->mark || of_boundary(g, g->mark->frames->f[4].at)) return;
    for (s = stop; s-- > g->files;)
        if (s->served) lowest = s;
    if (lowest && number < lowest->number && is_trimmed(g, number, NULL)) {
        g->mark = NULL;
        return;
    }
    for (s = g->files; s < stop && (!s->served || s->number <= number);) s++;
    g->mark_missing = s == stop;
    if (s < stop && s->missed != number) s->mark_missed = number;
}

/* Which files are the log, and in which order [L-2, L-3, L-4, L-9]. */
static void sort_out(second_log *g)
{
    second_file *stop = g->files + g->n_files, *s, *k;
    const uint8_t *id;
    int ours = 0;
    for (s = g->files; s < stop; s++) s->number = s->open ? num(s->open, 3) : s->name;
    id = log_id(g);
    for (s = g->files; g->mark && id && s < stop; s++)
        if (s->open && same(s->open->f[1].at, g->mark->frames->f[1].at)) break;
    if (s == stop && id) g->mark = NULL; /* it is another log's */
    if (g->mark) id = g->mark->frames->f[1].at;
    for (s = g->files; s < stop; s++) {
        if (s->keyless && !s->spared && !s->open) s->wrong = U9_R_UNREADABLE; /* */
        ours |= !s->plain && !s->blank && !(s->none && !s->n_frames) && s->wrong != U9_R_UNREADABLE;
    }
    for (s = g->files; s < stop; s++)
        if (!s->wrong && (is_foreign(g, s, id) || (ours && s->plain))) { /* [E-4] */
            s->wrong = U9_R_FOREIGN;
            s->number = s->name;
        }
    find_twins(g);
    for (k = g->files; k < stop; k++) { /* (4) */
        s = has_identity(k) && k->open && num(k->open, 6) ? of_boundary(g, k->open->f[7].at) : NULL;
        if (!s) continue;
        if (!s->open && (!s->called || num(k->open, 6) > s->number)) s->number = num(k->open, 6);
        s->called = 1;
        s->blank = 0;
    }
    s = g->mark ? of_boundary(g, g->mark->frames->f[4].at) : NULL;
    if (s) {
        uint64_t number = num(g->mark->frames, 3);
        if (!s->open && (!s->called || number > s->number)) s->number = number;
        s->called = 1;
        s->blank = 0;
        s->mark = g->mark->frames;
    }
    for (s = g->files; s < stop; s++)
        if (!s->wrong && no_number(s)) s->wrong = U9_R_FOREIGN;
    qsort(g->files, g->n_files, sizeof *g->files, compare);
    g->seals_below = g->mark && !g->bad_slots[0] && !g->bad_slots[1] ? num(g->mark->frames, 3) : NOWHERE;
    find_row(g);
    miss_mark(g);
    for (s = g->files; s < stop; s++) {
        if (s->served && s->by) find_fork(g, s, num(s->by, 9), num(s->by, 10));
        if (!s->served && belongs(s)) find_fork(g, s, 32, s->open ? num(s->open, 10) : NOWHERE);
    }
}

/* A segment that is not there: lost is all up to the ordinal `there` [L-4]. */
static void no_segment(second_log *g, uint64_t number, place *at, uint64_t there)
{
    second_file gone = {.number = number};
    uint64_t lost = between(at->ordinal, there);
    say(g, U9_V_CORRUPT, U9_R_MISSING, &gone, 0, 0, lost == NOWHERE ? NOWHERE : at->ordinal, lost);
    *at = (place){at->x, there, NULL, NULL};
}

/* A file that is not read. */
static void tell_aside(second_log *g, const second_file *s, int above)
{
    if (s->wrong == U9_R_FORK)
        say(g, U9_V_CORRUPT, s->wrong, s, s->fork_begin, s->fork_end, NOWHERE, s->fork_lost);
    else if (s->wrong == U9_R_UNREADABLE)
        say(g, U9_V_CORRUPT, s->wrong, s, 0, s->n, NOWHERE, NOWHERE);
    else if (s->wrong == U9_R_FOREIGN)
        say(g, U9_V_UNKNOWN, s->wrong, s, 0, s->n, NOWHERE, s->open ? 0 : NOWHERE);
    else if (s->wrong)
        say(g, U9_V_TORN, s->wrong, s, 0, s->n, NOWHERE, 0);
    else if (s->blank && above)
        say(g, U9_V_TORN, U9_R_BLANK, s, 0, s->n, NOWHERE, 0);
}

/* The mark's segment is behind all that is there [M-4]. */
static void say_mark_missing(second_log *g, const second_file *lower, place *at)
{
    const frame *m = g->mark->frames;
    second_file gone = {.number = num(m, 3)};
    uint64_t here = lower ? at->ordinal : num(m, 2), lost = between(here, num(m, 7));
    say(g, U9_V_CORRUPT, U9_R_MARK, &gone, 0, num(m, 6), here, lost);
    *at = (place){num(m, 6), num(m, 7), m->f[8].at, NULL};
}

static void walk(second_log *g)
{
    second_file *stop = g->files + g->n_files, *s, *lower = NULL, *tip = NULL;
    place at = {0, 0, NULL, NULL};
    int keyless = 0;
    say_slots(g);
    for (s = g->files; s < stop; s++)
        if (s->served) tip = s;
    for (s = g->files; s < stop; s++) {
        if (!s->served) {
            tell_aside(g, s, !tip || s > tip);
            continue;
        }
        if (!lower && s->number > 1) { /* the first */
            if (g->trim_segment && s->number >= g->trim_segment) at.ordinal = g->trim_ordinal;
            else if (g->trim_segment || !s->open) at.ordinal = NOWHERE;
        }
        for (int last = 0; last < 2; last++) { /* the lower number first */
            uint64_t gone = (s->missed < s->mark_missed) == last ? s->mark_missed : s->missed;
            if (gone) no_segment(g, gone, &at, s->open ? s->open->ordinal : NOWHERE);
        }
        if (s->name != s->number) say(g, U9_V_TORN, U9_R_NAME, s, 0, 0, NOWHERE, 0);
        if (s->plain) read_plain(g, s, &at);
        else read_file(g, s, s->by, proves(g, lower) ? 96 : 0, s == tip, &at);
        lower = s;
        g->end_segment = s->number;
        g->end_offset = at.x;
    }
    for (s = lower ? lower + 1 : stop; s < stop; s++) keyless |= s->wrong == U9_R_UNREADABLE; /* that may be it */
    if (g->mark_missing) say_mark_missing(g, lower, &at);
    else if (proves(g, lower) && !keyless) no_segment(g, lower->number + 1, &at, NOWHERE);
    g->next_ordinal = at.ordinal == NOWHERE ? 0 : at.ordinal;
}

/* ---- the outside ---- */

static int is_name(const char *name) /* [L-1] */
{
    return strlen(name) == 19 && strspn(name, "0123456789abcdef") == 16 && !strcmp(name + 16, ".u9");
}

static uint64_t number_in(const char *name)
{
    return is_name(name) ? strtoull(name, NULL, 16) : 0;
}

/* Reads a file of n bytes whole; -1: it cannot be read. */
static int read_whole(second_log *g, const char *path, uint8_t *bytes, uint64_t n)
{
    FILE *in = fopen(path, "rb");
    int whole = in && fread(bytes, 1, n, in) == n;
    if (!whole) snprintf(g->error, sizeof g->error, "cannot read %.150s", path);
    if (in) fclose(in);
    return whole ? 0 : -1;
}

static int load_mark(second_log *g, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    uint8_t *bytes = keep(g, (uint64_t)st.st_size);
    int result = read_whole(g, path, bytes, (uint64_t)st.st_size);
    if (result == 0) take_mark(g, bytes, (uint64_t)st.st_size, (unsigned)st.st_nlink);
    return result;
}

/* Takes in a file of n bytes, which are to be put into `d`. */
static second_file *take(second_log *g, uint64_t number, uint64_t n)
{
    second_file s = {.number = number, .name = number, .n = n};
    s.d = keep(g, n + 32);
    s.dark = keep(g, n / 4096 + 1);
    g->files = grown(g->files, g->n_files, sizeof s);
    g->files[g->n_files++] = s;
    return &g->files[g->n_files - 1];
}

static int load(second_log *g, const char *path, uint64_t number)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    return read_whole(g, path, take(g, number, (uint64_t)st.st_size)->d, (uint64_t)st.st_size);
}

/* Plays the rules through, for the files that were taken in: a log, or a single one. */
static int judge(second_log *out, int single)
{
    if (!out->files && !(out->files = calloc(1, sizeof *out->files))) abort();
    for (size_t i = 0; i < out->n_files; i++) prepare(out, &out->files[i]);
    if (!single) prepare_by_others(out);
    if (refuse_versions(out) != 0) return -1;
    if ((!out->n_files && !out->mark) ||
        (single && !out->files->n_frames && memcmp(out->files->d, "\xff\xffutf9\0\1", 8) != 0)) {
        snprintf(out->error, sizeof out->error, "no log there");
        return -1;
    }
    if (!single) {
        sort_out(out);
        walk(out);
    } else {                              /* [L-8] */
        second_file *s = out->files;
        if (s->open && !s->number) s->number = num(s->open, 3);
        place at = {32, s->number == 1 ? 0 : NOWHERE, NULL, NULL};
        if (s->blank) say(out, U9_V_TORN, U9_R_BLANK, s, 0, s->n, NOWHERE, 0);
        else if (s->plain) read_plain(out, s, &at);
        else read_file(out, s, NULL, 0, 1, &at);
        out->next_ordinal = at.ordinal == NOWHERE ? 0 : at.ordinal;
        out->end_segment = s->number;
        out->end_offset = at.x;
    }
    return 0;
}

int second_read(const char *path, second_log *out)
{
    const char *slash = strrchr(path, '/');
    DIR *dir = opendir(path);
    char name[4096];
    struct dirent *e;
    int result = 0;
    memset(out, 0, sizeof *out);
    while (dir && !result && (e = readdir(dir))) {
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (is_name(e->d_name)) result = load(out, name, number_in(e->d_name));
        if (!strcmp(e->d_name, ".mark")) result = load_mark(out, name);
    }
    if (dir) closedir(dir);
    else result = load(out, path, number_in(slash ? slash + 1 : path));
    return result ? -1 : judge(out, dir == NULL);
}

int second_read_memory(const second_source *sources, size_t n, int single, second_log *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = number_in(sources[i].name);
        if (!single && sources[i].bytes && !strcmp(sources[i].name, ".mark"))
            take_mark(out, sources[i].bytes, sources[i].size, sources[i].links);
        if (!sources[i].bytes || (!single && !is_name(sources[i].name))) continue;
        second_file *s = take(out, number, sources[i].size);
        memcpy(s->d, sources[i].bytes, sources[i].size);
        for (uint64_t k = 0; sources[i].dark && k * 4096 < s->n; k++) {
            s->dark[k] = sources[i].dark[k];
            if (s->dark[k]) memset(s->d + k * 4096, 0, s->n - k * 4096 < 4096 ? s->n - k * 4096 : 4096);
        }
    }
    return judge(out, single);
}

void second_free(second_log *log)
{
    for (size_t i = 0; i < log->n_files; i++) free(log->files[i].frames);
    for (int i = 0; log->slots && i < 2; i++) free(log->slots[i].frames);
    for (size_t i = 0; i < log->n_memory; i++) free(log->memory[i]);
    free(log->files);
    free(log->row);
    free(log->memory);
    free(log->records);
    free(log->damages);
    memset(log, 0, sizeof *log);
}
