/*
 * fuzz/fuzz_segment.c: any bytes as the segments of a log. [F-6] [L-4] to [R-9] [P-1]
 *
 * The input is one file, or up to five that MARK stands between: segments 1 to 4 of a log, and its `.mark`. It is read by
 * a cursor, whole, backwards and in two ranges, checked twice, salvaged, gone on with by a writer, and trimmed. Whatever the
 * bytes are: nothing crashes or hangs, the two checks agree, damages are ranges, ranges give what the
 * whole gives, the salvaged log is clean, a new session keeps every record that was there, and what goes is explained.
 *
 * The mutator knows frames: it changes bodies, trailers and lengths, and mends what stands over them, so
 * that hashes do not end every attempt at the door.
 */
#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "format/frame/frame.h"
#include "fuzz/folder.h"

#include <u9.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 4, MAX = 64 }; /* segments */

static const uint8_t mark[16] = "=next=segment=\r\n";

static char out_path[3100];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    snprintf(out_path, sizeof out_path, "%s/out", make_folder());
    return 0;
}

/* Puts the files in place, and nothing else. Returns how many segments there are. */
static unsigned place(const uint8_t *data, size_t size)
{
    unsigned n = 0;
    clear(log_path);
    must(mkdir(log_path, 0700) == 0);
    for (unsigned i = 1; i <= FILES + 1 && data; i++) {
        char path[3200];
        if (i > FILES) snprintf(path, sizeof path, "%s/.mark", log_path);
        else snprintf(path, sizeof path, "%s/%016x.u9", log_path, i);
        const uint8_t *end = i <= FILES ? memmem(data, size, mark, sizeof mark) : NULL;
        size_t here = end ? (size_t)(end - data) : size;
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        must(fd >= 0 && write(fd, data, here) == (ssize_t)here);
        close(fd);
        n = i < FILES ? i : FILES;
        size -= here + (end ? sizeof mark : 0);
        data = end ? end + sizeof mark : NULL;
    }
    return n;
}

/* What a reading gave, folded into numbers. */
typedef struct gist {
    uint64_t records, damages, lost;
    uint64_t fold; /* of the records */
    uint64_t told; /* of the damages */
    bool version;
    bool misnamed; /* a file is not called by its number [L-2] */
    bool relative;  /* set first: ordinals are left out of the fold, as each range has its own [E-3] */
} gist;

static void mix(uint64_t *fold, uint64_t v)
{
    *fold = (*fold ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    *fold ^= *fold >> 29;
}

static void note(void *ctx, const u9_damage *d)
{
    gist *g = ctx;
    must(d->begin <= d->end && d->path && d->path[0]);
    must(d->verdict >= U9_V_TORN && d->verdict <= U9_V_CORRUPT && d->reason != U9_R_NONE);
    must(strcmp(u9_reason_name(d->reason), "?") != 0);
    g->damages++;
    g->misnamed |= d->reason == U9_R_NAME;
    mix(&g->told, d->begin);
    mix(&g->told, d->end);
    mix(&g->told,
        d->lost + 7 * d->segment + 31 * (uint64_t)d->reason + 1000 * (uint64_t)d->verdict);
}

/* What a cursor has shown is there once more, by its place and in pieces. */
static void read_again(u9_log *log, const u9_record *r)
{
    static uint8_t piece[997];
    u9_reading *reading;
    size_t got;
    must(u9_record_open(log, r, &reading, NULL) == U9_OK);
    for (size_t at = 0; at < r->size; at += got) {
        must(u9_record_read(reading, at, piece, sizeof piece, &got, NULL) == U9_OK && got > 0);
        must(memcmp(piece, r->bytes + at, got) == 0);
    }
    must(u9_record_read(reading, r->size / 2, piece, 1, &got, NULL) == U9_OK && piece[0] == r->bytes[r->size / 2]);
    must(u9_record_read(reading, r->size, piece, 1, &got, NULL) == U9_END);
    u9_record_close(reading);
}

/* Reads a range, NULL: all. */
static void read_log(const u9_range *range, gist *g)
{
    u9_log *log;
    u9_cursor *c;
    u9_record r;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .on_damage = note, .on_damage_ctx = g};
    u9_err err = u9_log_open(log_path, &o, &log, NULL);
    if (err != U9_OK) return;
    must(u9_cursor_open(log, range, &c, NULL) == U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_VERSION) {
        g->version |= err != U9_OK;
        if (err != U9_OK) continue;
        must(r.size > 0 && r.size <= U9_RECORD_MAX && r.values + r.values_size == r.bytes + r.size);
        if (g->records < 8 || r.at % (1 << 24) == 0) read_again(log, &r);
        g->records++;
        if (!g->relative) mix(&g->fold, r.ordinal);
        mix(&g->fold, r.segment);
        for (size_t i = 0; i < r.size; i += 13) mix(&g->fold, r.bytes[i]);
    }
    must(err == U9_END);
    u9_cursor_close(c);
    must(u9_log_close(log, NULL) == U9_OK);
}

enum { EVENTS = 4096 };

/* What one walk shows and tells, event after event. */
typedef struct trace {
    uint64_t events[EVENTS];
    size_t count;
} trace;

static void trace_event(trace *t, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t fold = 0;
    mix(&fold, a);
    mix(&fold, b);
    mix(&fold, c);
    if (t->count < EVENTS) t->events[t->count] = fold;
    t->count++;
}

static void trace_damage(void *ctx, const u9_damage *d)
{
    trace_event(ctx, d->begin * 31 + d->end, d->lost + 7 * d->segment, (uint64_t)d->reason * 4 + (uint64_t)d->verdict + (d->ordinal << 8));
}

/* The way back is the way forward, from its end, in reverse order; and from the start it goes forward again. */
static void read_back(void)
{
    static trace on, back;
    u9_log *log;
    u9_cursor *c;
    u9_record r;
    u9_err err;
    on.count = back.count = 0;
    for (unsigned turn = 0; turn < 3; turn++) {
        trace *t = turn == 0 ? &on : &back;
        u9_options o = {.size = sizeof o, .mode = U9_READ, .on_damage = trace_damage, .on_damage_ctx = t};
        u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
        if (u9_log_open(log_path, &o, &log, NULL) != U9_OK) return;
        must(u9_cursor_open(log, NULL, &c, NULL) == U9_OK);
        must(turn == 0 || u9_cursor_seek(c, &end) == U9_OK);
        back.count = 0;
        while ((err = turn ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r)) == U9_OK || err == U9_VERSION)
            if (err == U9_OK) trace_event(t, r.ordinal, r.at, r.segment + (r.size << 20));
        must(err == U9_END);
        for (size_t i = 0; turn == 1 && i < on.count && on.count <= EVENTS; i++)
            must(back.count == on.count && back.events[i] == on.events[on.count - 1 - i]);
        back.count = 0;
        while (turn == 2 && ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_VERSION))
            if (err == U9_OK) trace_event(t, r.ordinal, r.at, r.segment + (r.size << 20));
        for (size_t i = 0; turn == 2 && i < on.count && on.count <= EVENTS; i++)
            must(back.count == on.count && back.events[i] == on.events[i]);
        u9_cursor_close(c);
        must(u9_log_close(log, NULL) == U9_OK);
    }
}

/* The ranges of a file's two halves, in each file, give what the whole gives. */
static void read_ranges(unsigned files, const gist *whole, uint64_t cut, bool relative)
{
    gist parts = {.relative = relative}, halves = {.relative = relative};
    for (unsigned i = 1; i <= files; i++) {
        u9_range all = {.size = sizeof all, .segment = i};
        u9_range low = {.size = sizeof low, .segment = i, .end = cut};
        u9_range high = {.size = sizeof high, .segment = i, .begin = cut};
        read_log(&all, &parts);
        read_log(&low, &halves);
        read_log(&high, &halves);
    }
    must(halves.records == parts.records && halves.fold == parts.fold);
    must(parts.records == whole->records && (relative || parts.fold == whole->fold));
}

static u9_err check(const char *path, u9_report *report, gist *g)
{
    u9_check_options o = {.size = sizeof o, .on_damage = note, .ctx = g};
    *report = (u9_report){.size = sizeof *report};
    return u9_check(path, &o, report, NULL);
}

/* Each new log is clean, and has what is told of it. */
static void look_at_output(void *ctx, const u9_output *o)
{
    u9_report after;
    gist g = {0};
    *(uint64_t *)ctx += o->records;
    must(o->records > 0 || o->number == 1);
    if (o->records == 0) return;
    must(check(o->path, &after, &g) == U9_OK);
    must(after.verdict == U9_V_CLEAN && after.records == o->records && after.closed);
    must(after.next_ordinal == o->records && o->unsigned_records <= o->records);
}

/* "<out_path>", "<out_path>.fork-2" ..., and what is unfinished of them. */
static void clear_outputs(void)
{
    char path[3200];
    for (unsigned i = 1; i < 40; i++) {
        int n = snprintf(path, sizeof path, i > 1 ? "%s.fork-%u" : "%s", out_path, i);
        clear(path);
        snprintf(path + n, sizeof path - (size_t)n, ".partial");
        clear(path);
    }
}

static bool is_unknown_kind(const u9_report *r)
{
    return r->kind[0] != 0 && u9_kind_check(r->kind, strlen(r->kind), NULL) != U9_OK;
}

static void salvage(const u9_report *before)
{
    u9_report report = {.size = sizeof report};
    uint64_t saved = 0, told = 0;
    u9_check_options o = {.size = sizeof o, .on_output = look_at_output, .ctx = &told};
    u9_err err = u9_salvage(log_path, out_path, &o, &report, &saved, NULL);
    /* What is read without its secret may hold what was not seen before. [L-6] [B-3] [G-3] */
    must(err == U9_OK || err == U9_VERSION || is_unknown_kind(before) || is_unknown_kind(&report));
    must(err != U9_OK || told == saved);
    clear_outputs();
}

/* A new session takes nothing away, and what it appends is read behind all else. */
static void go_on(const u9_report *before)
{
    static const uint8_t value[1] = {0x80};
    u9_log *log;
    u9_place p;
    u9_report after;
    gist g = {0};
    u9_options o = {.size = sizeof o, .mode = U9_WRITE};
    if (u9_log_open(log_path, &o, &log, NULL) != U9_OK) return;
    bool appended = u9_log_append(log, NULL, value, sizeof value, &p) == U9_OK;
    must(u9_log_close(log, NULL) == U9_OK);
    if (!appended) return; /* a clock or an ordinal at its end */
    must(check(log_path, &after, &g) == U9_OK);
    must(after.records >= before->records + 1 && after.closed);
    must(after.next_ordinal == p.ordinal + 1);
}

/* A log that is trimmed says so, and nothing else of it is missed then. [L-10] */
static void trim(void)
{
    u9_log *log;
    u9_report after;
    gist g = {0};
    u9_options o = {.size = sizeof o, .mode = U9_WRITE};
    u9_trim what = {.size = sizeof what, .keep_bytes = 1};
    u9_trimmed out = {.size = sizeof out};
    if (u9_log_open(log_path, &o, &log, NULL) != U9_OK) return;
    u9_err err = u9_log_trim(log, &what, &out, NULL);
    must(u9_log_close(log, NULL) == U9_OK);
    if (err != U9_OK || out.segments == 0) return;
    must(check(log_path, &after, &g) == U9_OK);
    must(after.trim_segment >= out.segment && !after.begins_late && after.closed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u9_report one, two;
    gist a = {0}, b = {0}, whole = {0};
    unsigned files = place(data, size);
    u9_err err = check(log_path, &one, &a);
    must(check(log_path, &two, &b) == err);
    must(a.told == b.told && a.damages == b.damages && memcmp(&one, &two, sizeof one) == 0);
    must(err == U9_OK || err == U9_VERSION || err == U9_CORRUPT || err == U9_ABSENT);
    read_log(NULL, &whole);
    read_back();
    if (err == U9_OK) {
        must(whole.records == one.records && !whole.version);
        /* What is slow is not done each time. */
        unsigned turn = (unsigned)(whole.fold ^ size) % 4;
        if (turn == 0 && one.verdict <= U9_V_TORN && !a.misnamed)
            read_ranges(files, &whole, size / files / 2, one.plain);
        if (turn == 1) salvage(&one);
        if (turn == 2) go_on(&one);
        if (turn == 3) trim();
    }
    clear(log_path);
    return 0;
}

/* The mutator */

static unsigned state;

static unsigned draw(size_t below)
{
    state = state * 1664525u + 1013904223u;
    return below ? (unsigned)((state >> 8) % below) : 0;
}

/* A file in the input, and where its frames stand, judged by their magic alone. */
typedef struct part {
    uint8_t *bytes;
    size_t size;
    u9i_secret secret;
    size_t frames[MAX];
    size_t count;
} part;

static part choose_part(uint8_t *data, size_t size)
{
    part p = {.bytes = data, .size = size};
    for (unsigned skip = draw(FILES + 1); skip > 0; skip--) {
        uint8_t *next = memmem(p.bytes, p.size, mark, sizeof mark);
        if (next == NULL) break;
        p.size -= (size_t)(next - p.bytes) + sizeof mark;
        p.bytes = next + sizeof mark;
    }
    uint8_t *end = memmem(p.bytes, p.size, mark, sizeof mark);
    if (end) p.size = (size_t)(end - p.bytes);
    if (p.size < U9I_DISK_HEADER_SIZE) return p;
    (void)u9i_secret_init(&p.secret, p.bytes + 8);
    for (size_t at = 32; at + 144 <= p.size && p.count < MAX; at += 16)
        if (memcmp(p.bytes + at + 48, u9i_frame_magic, 8) == 0) p.frames[p.count++] = at;
    return p;
}

/* The payload's length as far as it is in the file; 0 if there is no room for a trailer. */
static size_t length_of(const part *p, size_t at)
{
    uint64_t length = u9i_get_be(p->bytes + at + 56, 8);
    size_t room = p->size - at - 64;
    return length < 80 || length > room ? 0 : (size_t)length;
}

static void mend(part *p, size_t at)
{
    size_t length = length_of(p, at);
    if (length == 0) return;
    memcpy(p->bytes + at, p->secret.boundary, 16);
    u9i_hash(p->bytes + at + 64, length, p->bytes + at + 16);
    u9i_sign(p->bytes + at + 16, p->secret.bytes, p->bytes + at + 32);
}

static void mend_trailer(part *p, size_t at)
{
    u9i_trailer t = {.offset = at};
    size_t length = length_of(p, at);
    if (length == 0) return;
    uint8_t *where = p->bytes + at + 64 + length - 80;
    if (!u9i_trailer_decode(where, &t)) t.previous = at == 32 ? 0 : 32;
    t.offset = at;
    u9i_trailer_encode(&t, where);
    mend(p, at);
}

/* Makes all frames of the file follow one another. [F-9] */
static void mend_all(part *p)
{
    u9i_trailer before = {0};
    for (size_t i = 0; i < p->count; i++) {
        size_t at = p->frames[i], length = length_of(p, at);
        u9i_trailer t;
        if (length == 0) continue;
        uint8_t *where = p->bytes + at + 64 + length - 80;
        if (!u9i_trailer_decode(where, &t)) t = (u9i_trailer){.durable = 0};
        t.offset = at;
        if (i == 0) before = t, before.count = 0;
        t.previous = i == 0 ? 0 : before.offset;
        t.ordinal = before.ordinal + before.count;
        if (i > 0) memcpy(t.chain, p->bytes + before.offset + 16, 16);
        u9i_trailer_encode(&t, where);
        mend(p, at);
        before = t;
    }
}

static uint64_t interesting(const part *p)
{
    static const uint64_t some[] = {0,
                                    1,
                                    2,
                                    31,
                                    32,
                                    79,
                                    80,
                                    96,
                                    4096,
                                    UINT32_MAX,
                                    UINT64_MAX,
                                    INT64_MAX,
                                    UINT64_MAX - 79,
                                    (1 << 24) + 121,
                                    (1 << 24) + 122};
    unsigned n = draw(24);
    if (n < 15) return some[n];
    if (n < 20 && p->count > 0) return p->frames[draw(p->count)];
    return n < 22 ? p->size : draw(p->size + 1);
}

/* One number of a frame's trailer, or its length, becomes another. */
static void forge_number(part *p, size_t at)
{
    static const struct {
        uint8_t at, width;
    } fields[] = {{13, 8}, {22, 4}, {27, 8}, {36, 8}, {45, 8}, {54, 8}, {64, 8}};
    size_t length = length_of(p, at);
    unsigned f = draw(8);
    uint64_t v = interesting(p);
    if (f == 7 || length == 0) {
        u9i_set_be(p->bytes + at + 56, 8,
                   draw(2) ? v : u9i_get_be(p->bytes + at + 56, 8) + draw(64) - 32);
        mend_trailer(p, at);
    } else {
        uint8_t *where = p->bytes + at + 64 + length - 80 + fields[f].at;
        if (draw(2)) v = u9i_get_be(where, fields[f].width) + draw(5) - 2;
        u9i_set_be(where, fields[f].width, v);
        mend(p, at);
    }
}

/* A stretch of the file, at sectors and blocks more often than not, is lost or becomes another. */
static void forge_stretch(part *p)
{
    static const size_t sizes[] = {1, 8, 16, 64, 512, 4096};
    size_t n = sizes[draw(6)], from = draw(p->size), to = draw(p->size);
    if (n >= 512 || draw(2)) from = from / n * n, to = to / n * n;
    if (n > p->size - from) n = p->size - from;
    if (n > p->size - to) n = p->size - to;
    if (draw(3) > 0) memset(p->bytes + from, draw(3) ? 0 : 0xff, n);
    else memmove(p->bytes + to, p->bytes + from, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    state = seed;
    part p = choose_part(data, size);
    if (p.count == 0 || p.size < 200 || draw(12) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    bool last = p.bytes + p.size == data + size;
    for (unsigned n = 1 + draw(3); n > 0; n--) {
        size_t at = p.frames[draw(p.count)], length = length_of(&p, at);
        switch (draw(7)) {
        case 0:
        case 1: forge_number(&p, at); break;
        case 2:
            if (length <= 80) break;
            (void)LLVMFuzzerMutate(p.bytes + at + 64, length - 80, length - 80);
            mend(&p, at);
            break;
        case 3:
            if (length <= 80) break;
            p.bytes[at + 64 + draw(length - 80)] = (uint8_t)draw(256);
            mend(&p, at);
            break;
        case 4: forge_stretch(&p); break;
        case 5: mend_all(&p); break;
        case 6:
            if (!last || p.size < 64) break;
            size -= draw(2) ? p.size - p.size / 512 * 512 : draw(p.size - 33);
            return size;
        }
    }
    if (draw(3) == 0) mend_all(&p);
    return size;
}
