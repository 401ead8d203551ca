/*
 * tests/engine/read/ruin.c: see ruin.h.
 */
#include "tests/engine/read/ruin.h"

#include "tests/engine/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, BLOCK = 4096, SEGMENTS = 4 };

static uint64_t state;

void draw_from(uint64_t seed)
{
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below == 0 ? 0 : (state >> 11) % below;
}

/* A record in parts that is being put down. */
typedef struct row {
    uint8_t bytes[3000];
    size_t size, next;
    uint32_t part;
    uint64_t before;
} row;

static void begin_row(row *r)
{
    static const char text[2000];
    *r = (row){.next = 0};
    r->size = record_bytes(r->bytes, draw(1000), text, 200 + draw(1500));
}

/* The next part of it; the last one ends the row. */
static void put_part(forged_segment *f, row *r)
{
    size_t left = r->size - r->next, size = 1 + draw(left < 700 ? left : 700);
    u9i_part_record part = {.number = r->part++, .total = r->size, .before = r->before,
                            .bytes = {r->bytes + r->next, size}};
    r->next += size;
    r->before = forge_part(f, &part, r->next == r->size);
    if (r->next == r->size) r->size = 0;
}

/* Records, and among them one in a form of a later version, or something that is none. */
static void put_strange(forged_segment *f)
{
    static const uint8_t later[] = {0x0a, 'u', '9', 'l', 'a', 't', 'e', 'r', 0};
    uint8_t body[2000];
    size_t size = 0;
    uint32_t count = 1 + (uint32_t)draw(9), strange = (uint32_t)draw(count);
    bool none = draw(4) == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i != strange) {
            size += record_bytes(body + size, f->next.ordinal + i, "beside a strange one", 20);
            continue;
        }
        size += u9i_record_head(1, sizeof later, body + size);
        memcpy(body + size, later, sizeof later);
        if (none) body[size] = 0xff;
        size += sizeof later;
    }
    (void)forge_frame(f, body, size, count);
}

static void put_frames(forged_segment *f, bool parts)
{
    row r = {.size = 0};
    for (uint64_t n = draw(24); n > 0 || r.size > 0; n -= n > 0) {
        if (draw(3) == 0) f->next.durable = f->end;
        if (draw(5) == 0) forge_pad(f);
        if (parts && r.size == 0 && draw(4) == 0) begin_row(&r);
        if (r.size > 0 && draw(3) > 0) put_part(f, &r);
        else if (draw(8) == 0) forge_promise(f);
        else if (draw(16) == 0) put_strange(f);
        else (void)forge_records(f, "r", 1 + (uint32_t)draw(20));
    }
}

void forge_any(const char *log)
{
    forged_segment f[SEGMENTS];
    unsigned count = 1 + (unsigned)draw(SEGMENTS);
    bool parts = draw(2) == 0;
    for (unsigned i = 0; i < count; i++) {
        u9i_tail tail = i == 0 ? U9I_TAIL_NONE : draw(3) == 0 ? U9I_TAIL_TORN : U9I_TAIL_ROLLED;
        f[i] = forge_begin(i + 1, 1, i ? &f[i - 1] : NULL, tail);
        if (i > 0 && tail == U9I_TAIL_ROLLED && draw(2) == 0) forge_end(&f[i - 1], U9I_END_SEALING);
        put_frames(&f[i], parts);
    }
    if (draw(3) > 0) forge_end(&f[count - 1], U9I_END_CLOSING);
    else if (draw(2) == 0) forge_pad(&f[count - 1]);
    for (unsigned i = 0; i < count; i++) {
        forge_save(&f[i], log);
        forge_free(&f[i]);
    }
}

static void append_in_parts(u9_log *w, size_t size)
{
    u9_append *a;
    uint8_t head[9], *bytes = calloc(1, size);
    size_t n = u9_value_head(U9_BYTES, size, head);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, n + size, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, size), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    free(bytes);
}

void write_any(const char *log)
{
    u9_options o = small_options();
    o.lz4 = draw(2) == 0;
    unsigned sessions = 1 + (unsigned)draw(3);
    for (unsigned i = 0; i < sessions; i++) {
        u9_log *w = open_writer(log, &o);
        for (unsigned n = 0, steps = (unsigned)draw(5); n < steps; n++) {
            append_many(w, "record", (unsigned)draw(1500), 200);
            if (draw(4) == 0) append_in_parts(w, 1000 + draw(1 << 21));
        }
        if (draw(3) == 0) crash(w, log);
        else close_log(w);
    }
}

static void overwrite(const char *path, uint64_t at, uint64_t size, uint64_t count, uint8_t value)
{
    if (at >= size) return;
    fill_bytes(path, at, count < size - at ? count : size - at, value);
}

/* Something is done to the bytes of one file. */
static void ruin_bytes(const char *path)
{
    uint64_t size = file_size(path);
    switch (draw(9)) {
    case 0: flip_bit(path, draw(size < 32 ? size : 32), (unsigned)draw(8)); break; /* its header */
    case 1: flip_bit(path, draw(size < 500 ? size : 500), (unsigned)draw(8)); break; /* its u9open, perhaps */
    case 2: overwrite(path, draw(size) / SECTOR * SECTOR, size, SECTOR, 0); break;
    case 3: overwrite(path, draw(size) / BLOCK * BLOCK, size, BLOCK, 0); break;
    case 4: overwrite(path, draw(size), size, 1 + draw(3000), (uint8_t)draw(256)); break;
    case 5: cut_file(path, draw(size + 1)); break;
    case 6: extend_file(path, size + draw(3 * BLOCK)); break;
    case 7: put_bytes(path, size, "and what is this?", 17); break;
    default: flip_bit(path, draw(size), (unsigned)draw(8)); break;
    }
}

/* Something is done to a file as a whole. */
static void ruin_file(const char *log, const char *path)
{
    char aside[310];
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    snprintf(aside, sizeof aside, "%s.gone", path);
    switch (draw(4)) {
    case 0: move_file(path, aside); break;
    case 1: write_file(segment_path(log, 1 + draw(9)), bytes, draw(size + 1)); break; /* in another's place, perhaps */
    case 2: write_file(segment_path(log, 1 + draw(9)), "nobody knows", draw(13)); break;
    default: {
        forged_segment f = forge_begin(1 + draw(6), 9 + (unsigned)draw(3), NULL, U9I_TAIL_NONE); /* of another log */
        forge_records(&f, "other", 3);
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, log);
        forge_free(&f);
        break;
    }
    }
    free(bytes);
}

void ruin(const char *log)
{
    char path[300];
    size_t count;
    char **names = list_names(log, &count);
    if (count > 0) {
        snprintf(path, sizeof path, "%s/%s", log, names[draw(count)]); /* the mark is among them */
        if (draw(5) == 0) ruin_file(log, path);
        else if (file_size(path) > 0) ruin_bytes(path);
    }
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
}
