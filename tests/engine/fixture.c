/*
 * tests/engine/fixture.c: see fixture.h.
 */
#include "tests/engine/fixture.h"

#include "engine/check/checker.h"

#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "tests/must.h"
#include "tests/second_reader.h"
#define SIM_WITHIN /* they ask first which disk it is */
#include "tests/sim/sim.h"
#include "tests/thorough.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[3000];

void fixture_setup(void)
{
    const char *base = getenv("U9_TEST_DIR");
    snprintf(directory, sizeof directory, "%s/u9-test-XXXXXX", base && base[0] ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    const char *io = getenv("U9_IO");
    if (io && strchr(io, ':')) sim_stay_away();
    make_dir(directory);
}

static uint64_t seed(void)
{
    const char *given = getenv("U9_SEED");
    return given ? strtoull(given, NULL, 0) : 9;
}

/* In a store, whose address U9_IO is, the directory stands there, and no simulated world is begun. */
static void setup_world(void (*begin)(uint64_t seed))
{
    fixture_setup();
    if (sim_is_away()) return;
    begin(seed());
    sim_make_dir(directory);
}

void fixture_setup_sim(void)
{
    setup_world(sim_begin);
}

void fixture_setup_sim_threads(void)
{
    setup_world(sim_begin_threads);
}

void fixture_teardown(void)
{
    sim_end();
    remove_log(directory);
    (void)rmdir(directory);
}

const char *at(const char *name)
{
    static char paths[16][3200];
    static unsigned next;
    char *p = paths[next++ % 16];
    snprintf(p, sizeof paths[0], "%s/%s", directory, name);
    return p;
}

const char *segment_path(const char *log, uint64_t number)
{
    static char paths[16][3400];
    static unsigned next;
    char *p = paths[next++ % 16];
    snprintf(p, sizeof paths[0], "%s/%016llx.u9", log, (unsigned long long)number);
    return p;
}

const char *io_of(const char *path)
{
    return is_simulated(path) ? "sim" : NULL;
}

u9_options writer_options(void)
{
    return (u9_options){.size = sizeof(u9_options), .mode = U9_CREATE, .io = io_of(directory)};
}

u9_log *open_writer(const char *log, const u9_options *options)
{
    u9_options o = options ? *options : writer_options();
    u9_log *handle = NULL;
    u9_fault fault = {0};
    char line[1024];
    u9_err err = u9_log_open(log, &o, &handle, &fault);
    ck_assert_msg(err == U9_OK, "open for writing: %s: %s", u9_err_name(err), u9_fault_line(&fault, line, sizeof line));
    return handle;
}

u9_log *open_reader(const char *log)
{
    u9_log *handle = NULL;
    u9_fault fault = {0};
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log)};
    u9_err err = u9_log_open(log, &o, &handle, &fault);
    MUST_SAY(err == U9_OK, "open for reading: %s: %s", u9_err_name(err), fault.text);
    return handle;
}

void close_log(u9_log *log)
{
    u9_fault fault = {0};
    u9_err err = u9_log_close(log, &fault);
    MUST_SAY(err == U9_OK, "close: %s: %s", u9_err_name(err), fault.text);
}

static uint64_t append_value(u9_log *log, const void *data, size_t size, bool text)
{
    uint8_t small[4096];
    uint8_t *room = size + 16 > sizeof small ? malloc(size + 16) : small;
    u9_builder b;
    u9_builder_init(&b, room, size + 16);
    ck_assert_int_eq(text ? u9_build_utf8(&b, data, size) : u9_build_bytes(&b, data, size), U9_OK);
    u9_place place;
    ck_assert_int_eq(u9_log_append(log, NULL, room, b.size, &place), U9_OK);
    if (room != small) free(room);
    return place.ordinal;
}

uint64_t append_text(u9_log *log, const char *text)
{
    return append_value(log, text, strlen(text), true);
}

uint64_t append_bytes(u9_log *log, const void *bytes, size_t size)
{
    return append_value(log, bytes, size, false);
}

void append_many(u9_log *log, const char *prefix, unsigned count, unsigned every)
{
    for (unsigned i = 0; i < count; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s%u", prefix, i);
        append_text(log, text);
        if (every != 0 && (i + 1) % every == 0) ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
}

void session(const char *log, const char *prefix, unsigned count, unsigned every)
{
    u9_log *handle = open_writer(log, NULL);
    append_many(handle, prefix, count, every);
    close_log(handle);
}

/* Reading */

static void note_record(seen *s, const u9_record *r)
{
    if ((s->count & (s->count - 1)) == 0)
        s->records = realloc(s->records, (s->count ? 2 * s->count : 1) * sizeof *s->records);
    seen_record *n = &s->records[s->count++];
    *n = (seen_record){.ordinal = r->ordinal, .segment = r->segment, .frame = r->frame,
                       .size = r->size};
    n->bytes = malloc(r->size);
    memcpy(n->bytes, r->bytes, r->size);
    u9_value v;
    if (u9_value_decode(r->values, r->values_size, &v) != U9_OK) return;
    if (v.type != U9_UTF8 && v.type != U9_BYTES) return;
    n->text_size = (size_t)v.size;
    n->text = malloc(n->text_size + 1);
    memcpy(n->text, v.data, n->text_size);
    n->text[n->text_size] = 0;
}

/* A record that comes without its bytes: read in pieces that are no divisor of anything. */
static void note_large(seen *s, u9_log *log, u9_record *r)
{
    u9_reading *reading;
    uint8_t *bytes = malloc(r->size);
    size_t got = 0;
    MUST(r->bytes == NULL && r->values == NULL);
    MUST(u9_record_open(log, r, &reading, NULL) == U9_OK);
    for (uint64_t at = 0; at < r->size; at += got)
        MUST(u9_record_read(reading, at, bytes + at, 777777, &got, NULL) == U9_OK);
    MUST(u9_record_read(reading, r->size, bytes, 1, &got, NULL) == U9_END);
    u9_record_close(reading);
    r->bytes = bytes;
    r->values = bytes + (r->size - r->values_size);
    note_record(s, r);
    free(bytes);
}

static void note_damage(void *ctx, const u9_damage *d)
{
    seen *s = ctx;
    s->damages = realloc(s->damages, (s->damage_count + 1) * sizeof *s->damages);
    s->damages[s->damage_count] = *d;
    s->damages[s->damage_count++].path = strdup(d->path);
}

static void read_cursor(seen *s, const char *path)
{
    u9_log *log;
    u9_cursor *cursor;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(path)};
    s->err = u9_log_open(path, &o, &log, NULL);
    if (s->err != U9_OK) return;
    MUST(u9_cursor_open(log, NULL, &cursor, NULL) == U9_OK);
    u9_record r;
    u9_err err;
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_CORRUPT || err == U9_VERSION || err == U9_LIMIT) {
        if (err == U9_OK) note_record(s, &r);
        if (err == U9_LIMIT) note_large(s, log, &r);
    }
    MUST(err == U9_END);
    u9_cursor_close(cursor);
    close_log(log);
}

static void tell_damage(const char *who, const u9_damage *d)
{
    fprintf(stderr, "%s: segment %llu %s %s [%llu,%llu) lost %lld\n", who,
            (unsigned long long)d->segment, u9_verdict_name(d->verdict), u9_reason_name(d->reason),
            (unsigned long long)d->begin, (unsigned long long)d->end, (long long)d->lost);
}

/* For each block of a simulated file whether it can be read; NULL: all can. free() it. */
static uint8_t *dark_blocks(const char *path, size_t size)
{
    if (!sim_is_spoiled(path, 0, size)) return NULL;
    uint8_t *dark = calloc(size / 4096 + 1, 1);
    for (size_t p = 0; p < size; p += 4096) dark[p / 4096] = sim_is_spoiled(path, p, p + 4096);
    return dark;
}

/* What the second reader makes of a simulated file, or of a directory of files. */
static int second_read_simulated(const char *path, second_log *out)
{
    bool single = is_simulated(path) ? !sim_is_dir(path) : strstr(path, ".u9") != NULL;
    const char *slash = strrchr(path, '/');
    size_t count = 1;
    char **names = single ? NULL : list_names(path, &count);
    second_source *sources = calloc(count + 1, sizeof *sources);
    uint8_t **bytes = calloc(count + 1, sizeof *bytes), **dark = calloc(count + 1, sizeof *dark);
    for (size_t i = 0; i < count; i++) {
        char inner[4400];
        MUST(snprintf(inner, sizeof inner, "%s/%s", path, single ? "" : names[i]) < (int)sizeof inner);
        sources[i].name = single ? slash + 1 : names[i];
        if (!is_simulated(path) || !sim_is_dir(inner)) bytes[i] = read_file(single ? path : inner, &sources[i].size);
        sources[i].bytes = bytes[i];
        if (bytes[i]) sources[i].links = 1;
        if (!is_simulated(path)) continue;
        if (bytes[i]) sources[i].dark = dark[i] = dark_blocks(single ? path : inner, sources[i].size);
        if (bytes[i]) sources[i].links = sim_links(single ? path : inner);
    }
    int err = second_read_memory(sources, count, single, out);
    for (size_t i = 0; i < count; i++) {
        free(bytes[i]);
        free(dark[i]);
        if (!single) free(names[i]);
    }
    free(bytes);
    free(dark);
    free(sources);
    free(names);
    return err;
}

static int second_look(const char *path, second_log *out)
{
    bool stored = !is_simulated(path) && access(path, F_OK) != 0;
    return is_simulated(path) || stored ? second_read_simulated(path, out) : second_read(path, out);
}

/* The second reader tells the same. */
static void agree(const seen *s, const char *path)
{
    second_log other;
    MUST(second_look(path, &other) == 0);
    MUST_SAY(other.n_records == s->count, "%s: %zu records, the second reader sees %zu", path,
                  s->count, other.n_records);
    for (size_t i = 0; i < s->count; i++) {
        const seen_record *a = &s->records[i];
        const second_record *b = &other.records[i];
        MUST(a->ordinal == b->ordinal);
        MUST(a->frame == b->frame);
        MUST(a->size == b->size);
        MUST(memcmp(a->bytes, b->bytes, a->size) == 0);
    }
    if (other.n_damages != s->damage_count) {
        for (size_t i = 0; i < s->damage_count; i++) tell_damage("u9", &s->damages[i]);
        for (size_t i = 0; i < other.n_damages; i++) {
            const second_damage *b = &other.damages[i];
            tell_damage("second", &(u9_damage){.verdict = b->verdict, .reason = b->reason,
                                               .segment = b->segment, .begin = b->begin,
                                               .end = b->end, .lost = b->lost});
        }
    }
    MUST_SAY(other.n_damages == s->damage_count, "%s: %zu damages, the second reader sees %zu",
                  path, s->damage_count, other.n_damages);
    for (size_t i = 0; i < s->damage_count; i++) {
        const u9_damage *a = &s->damages[i];
        const second_damage *b = &other.damages[i];
        MUST_SAY(a->verdict == b->verdict && a->reason == b->reason && a->begin == b->begin &&
                          a->end == b->end && a->lost == b->lost,
                      "%s: damage %zu: %s %s [%llu,%llu) lost %lld; second: %s %s [%llu,%llu) lost %lld",
                      path, i, u9_verdict_name(a->verdict), u9_reason_name(a->reason),
                      (unsigned long long)a->begin, (unsigned long long)a->end, (long long)a->lost,
                      u9_verdict_name(b->verdict), u9_reason_name(b->reason),
                      (unsigned long long)b->begin, (unsigned long long)b->end, (long long)b->lost);
    }
    second_free(&other);
}

/* What a check in pieces has told so far of what one from the start told. */
typedef struct in_pieces {
    const seen *whole;
    size_t told;
} in_pieces;

static void compare_damage(void *ctx, const u9_damage *d)
{
    in_pieces *p = ctx;
    MUST(p->told < p->whole->damage_count);
    const u9_damage *w = &p->whole->damages[p->told++];
    MUST(d->verdict == w->verdict && d->reason == w->reason && d->segment == w->segment && d->begin == w->begin &&
         d->end == w->end && d->ordinal == w->ordinal && d->lost == w->lost && d->at_most == w->at_most &&
         strcmp(d->path, w->path) == 0 && d->part == w->part && d->part_at == w->part_at &&
         d->part_lacks == w->part_lacks && d->part_total == w->part_total);
}

/* What was there of longer keys is no word of a report. */
static u9_report without_rest(const u9_report *r)
{
    u9_report whole = *r;
    memset(whole.first_key + r->first_key_size, 0, sizeof whole.first_key - r->first_key_size);
    memset(whole.last_key + r->last_key_size, 0, sizeof whole.last_key - r->last_key_size);
    return whole;
}

/* The same log in up to nine pieces, read by three at once: tells the same. */
static void agree_in_pieces(const seen *s, const char *path)
{
    in_pieces p = {.whole = s};
    u9_check_options o = {.size = sizeof o, .on_damage = compare_damage, .ctx = &p, .io = io_of(path), .threads = 3};
    u9_report r = {.size = sizeof r};
    u9_fault fault;
    u9_err err = u9i_check_in_pieces(path, &o, 4096 + s->report.bytes / 9, &r, &fault);
    MUST_SAY(err == U9_OK, "check in pieces: %s: %s", u9_err_name(err), fault.text);
    u9_report pieces = without_rest(&r), whole = without_rest(&s->report);
    MUST(p.told == s->damage_count && memcmp(&pieces, &whole, sizeof whole) == 0);
}

seen *look(const char *path)
{
    static unsigned looks;
    seen *s = calloc(1, sizeof *s);
    read_cursor(s, path);
    if (s->err != U9_OK) return s;
    u9_check_options o = {.size = sizeof o, .on_damage = note_damage, .ctx = s,
                          .io = io_of(path)};
    s->report.size = sizeof s->report;
    u9_fault fault;
    u9_err err = u9_check(path, &o, &s->report, &fault);
    MUST_SAY(err == U9_OK, "check: %s: %s", u9_err_name(err), fault.text);
    MUST(s->report.records == s->count);
    if (looks++ % thorough(4, 1) == 0) /* the first time that a test looks, and then now and then */
        agree_in_pieces(s, path);
    agree(s, path);
    return s;
}

void forget(seen *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->records[i].text);
        free(s->records[i].bytes);
    }
    for (size_t i = 0; i < s->damage_count; i++) {
        union {
            const char *in;
            char *out;
        } path = {.in = s->damages[i].path};
        free(path.out);
    }
    free(s->records);
    free(s->damages);
    free(s);
}

size_t count_damages(const seen *s, u9_verdict verdict, u9_reason reason)
{
    size_t n = 0;
    for (size_t i = 0; i < s->damage_count; i++)
        if (s->damages[i].verdict == verdict &&
            (reason == U9_R_NONE || s->damages[i].reason == reason))
            n++;
    return n;
}

bool has_text(const seen *s, const char *text)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->records[i].text && s->records[i].text_size == strlen(text) &&
            memcmp(s->records[i].text, text, strlen(text)) == 0)
            return true;
    return false;
}

size_t frame_offsets(const char *path, uint64_t *out, size_t max)
{
    static const uint8_t magic[8] = {0xff, 0xff, 'u', 't', 'f', '9', 'f', 0x00};
    size_t size, n = 0;
    uint8_t *bytes = read_file(path, &size);
    for (size_t p = 32; p + 64 <= size && n < max; p += 16)
        if (memcmp(bytes + p + 48, magic, 8) == 0 && memcmp(bytes + p, bytes + 32, 16) == 0)
            out[n++] = p;
    free(bytes);
    return n;
}

void crash(u9_log *writer, const char *log)
{
    char aside[4200];
    snprintf(aside, sizeof aside, "%s.crash", log);
    copy_log(log, aside);
    close_log(writer);
    remove_log(log);
    move_file(aside, log);
}

u9_options small_options(void)
{
    u9_options o = writer_options();
    o.segment_size = 65536;
    return o;
}

u9i_secret keys_of(const char *path)
{
    u9i_secret secret;
    uint8_t bytes[U9I_DISK_HEADER_SIZE];
    read_bytes(path, 0, bytes, sizeof bytes);
    ck_assert_int_eq(u9i_disk_decode(bytes, &secret), U9_OK);
    return secret;
}

size_t list_frames(const uint8_t *bytes, size_t size, seen_frame *out, size_t max)
{
    u9i_secret secret;
    size_t n = 0;
    (void)u9i_secret_init(&secret, bytes + 8);
    for (size_t p = U9I_DISK_HEADER_SIZE; p + U9I_FRAME_HEADER_SIZE <= size && n < max;) {
        u9i_proof proof = {0};
        u9i_frame f;
        if (u9i_frame_verify(&secret, p, size, bytes + p, size - p, &proof, &f) != U9_OK) {
            p += U9I_ALIGN;
            continue;
        }
        out[n++] = (seen_frame){.offset = p, .end = f.end, .length = f.body_size + U9I_TRAILER_SIZE,
                                .count = f.trailer.count, .ordinal = f.trailer.ordinal,
                                .previous = f.trailer.previous, .durable = f.trailer.durable,
                                .is_end = f.body_size > 12 && memcmp(f.body + 6, "u9end", 6) == 0};
        p = f.end;
    }
    return n;
}

size_t frames_in(const char *path, seen_frame *out, size_t max)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    size_t count = list_frames(bytes, size, out, max);
    free(bytes);
    return count;
}

/* Segments made by hand */

static void forge_room(const forged_segment *s, size_t more)
{
    ck_assert_uint_le(s->size + more, s->room);
}

void forge_grow(forged_segment *s, size_t room)
{
    s->bytes = realloc(s->bytes, room);
    memset(s->bytes + s->room, 0, room - s->room);
    s->room = room;
}

uint64_t forge_part(forged_segment *s, const u9i_part_record *part, uint32_t count)
{
    size_t room = part->bytes.size + 64;
    uint8_t *body = malloc(room);
    u9i_out out = u9i_out_init(body, room);
    u9i_part_record_encode(&out, part);
    ck_assert(!out.failed);
    uint64_t p = forge_frame(s, body, out.size, count);
    free(body);
    return p;
}

uint64_t forge_frame(forged_segment *s, const void *body, size_t size, uint32_t count)
{
    forge_room(s, u9i_frame_size(size));
    uint8_t *frame = s->bytes + s->size;
    uint8_t sha[U9I_HASH_SIZE];
    if (size > 0) memmove(frame + U9I_FRAME_HEADER_SIZE, body, size);
    s->next.offset = s->size;
    s->next.count = count;
    ck_assert_int_eq(u9i_frame_seal(&s->secret, &s->next, frame, size, sha), U9_OK);
    memcpy(s->next.chain, sha, sizeof sha);
    s->next.previous = s->size;
    s->next.ordinal += count;
    s->next.time_us++;
    s->size += u9i_frame_size(size);
    s->end = s->size;
    s->frames++;
    s->records += count;
    return s->next.offset;
}

size_t record_bytes(uint8_t *out, uint64_t n, const void *text, size_t size)
{
    uint8_t head[17];
    u9_builder b;
    size_t values = size + (size > 65535 ? 5u : size > 255 ? 3u : size > 15 ? 2u : 1u);
    size_t at = u9i_record_head(2, 18 + values, head);
    memcpy(out, head, at);
    out[at] = 0x1c;
    out[at + 1] = 16;
    memset(out + at + 2, 0x60, 8);
    u9i_set_be(out + at + 10, 8, n);
    u9_builder_init(&b, out + at + 18, values);
    ck_assert_int_eq(u9_build_utf8(&b, text, size), U9_OK);
    ck_assert_uint_eq(b.size, values);
    return at + 18 + values;
}

uint64_t forge_records(forged_segment *s, const char *prefix, uint32_t count)
{
    uint8_t *body = malloc(count * (strlen(prefix) + 64));
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        char text[1100];
        int n = snprintf(text, sizeof text, "%s%llu", prefix,
                         (unsigned long long)s->next.ordinal + i);
        size += record_bytes(body + size, s->next.ordinal + i, text, (size_t)n);
    }
    uint64_t p = forge_frame(s, body, size, count);
    free(body);
    return p;
}

uint64_t forge_promise(forged_segment *s)
{
    s->next.durable = s->end;
    return forge_frame(s, NULL, 0, 0);
}

void forge_pad(forged_segment *s)
{
    size_t rest = -s->size & (U9I_BLOCK - 1);
    forge_room(s, rest);
    memset(s->bytes + s->size, 0, rest);
    s->size += rest;
}

u9i_open_record forge_naming(uint64_t number, const forged_segment *before, u9i_tail tail)
{
    u9i_open_record open = {.segment = number, .tail = before ? tail : U9I_TAIL_NONE};
    memset(open.log, 0x70, sizeof open.log);
    memset(open.session, (int)(0x90 + number % 16), sizeof open.session);
    if (before == NULL) return open;
    open.before_segment = before->number;
    memcpy(open.before_boundary, before->secret.boundary, sizeof open.before_boundary);
    memcpy(open.before_secret, before->secret.bytes, sizeof open.before_secret);
    open.end = (u9i_position){.offset = before->end, .ordinal = before->next.ordinal};
    memcpy(open.end.chain, before->next.chain, sizeof open.end.chain);
    return open;
}

forged_segment forge_with_open(uint64_t number, unsigned seed, const u9i_open_record *open)
{
    forged_segment s = {.bytes = calloc(1, FORGED_ROOM), .number = number, .kind = "muid",
                        .size = U9I_DISK_HEADER_SIZE, .room = FORGED_ROOM};
    uint8_t secret[U9I_SECRET_SIZE], body[1024];
    memset(secret, 0x5a, sizeof secret);
    u9i_set_be(secret, 8, number);
    u9i_set_be(secret + 12, 4, seed);
    ck_assert(u9i_secret_init(&s.secret, secret));
    u9i_disk_encode(&s.secret, s.bytes);
    u9i_open_record o = *open;
    s.next = (u9i_trailer){.ordinal = o.end.ordinal, .time_us = 1700000000000000 + number};
    if (o.before_segment == 0) u9i_hash(s.bytes, U9I_DISK_HEADER_SIZE, o.end.chain);
    memcpy(s.next.chain, o.end.chain, sizeof o.end.chain);
    if (o.kind.data == NULL) o.kind = (u9i_span){.data = (const uint8_t *)s.kind, .size = 4};
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_open_record_encode(&out, &o);
    ck_assert(!out.failed);
    forge_frame(&s, body, out.size, 0);
    return s;
}

forged_segment forge_begin(uint64_t number, unsigned seed, const forged_segment *before,
                           u9i_tail tail)
{
    u9i_open_record open = forge_naming(number, before, tail);
    return forge_with_open(number, seed, &open);
}

void forge_end(forged_segment *s, u9i_end_kind kind)
{
    static const uint8_t none[1] = {0x30};
    uint8_t body[1024];
    u9i_end_record end = {.kind = kind, .segment = s->number, .frames = s->frames, .records = s->records,
                     .data_end = s->end, .first_key = {none, 1}, .last_key = {none, 1},
                     .key_kind = {(const uint8_t *)s->kind, strlen(s->kind)}};
    memcpy(end.secret, s->secret.bytes, sizeof end.secret);
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_end_record_encode(&out, &end);
    ck_assert(!out.failed);
    s->next.durable = s->end;
    forge_pad(s);
    forge_frame(s, body, out.size, 0);
    forge_pad(s);
}

void forge_mend(forged_segment *s, uint64_t p)
{
    uint8_t *frame = s->bytes + p;
    uint64_t length = u9i_get_be(frame + 56, 8);
    ck_assert_uint_le(p + U9I_FRAME_HEADER_SIZE + length, s->size);
    u9i_hash(frame + U9I_FRAME_HEADER_SIZE, (size_t)length, frame + 16);
    u9i_sign(frame + 16, s->secret.bytes, frame + 32);
    if (s->next.previous == p) memcpy(s->next.chain, frame + 16, U9I_HASH_SIZE);
}

void forge_save(const forged_segment *s, const char *log)
{
    make_dir(log);
    write_file(segment_path(log, s->number), s->bytes, s->size);
}

void forge_free(forged_segment *s)
{
    free(s->bytes);
    *s = (forged_segment){0};
}
