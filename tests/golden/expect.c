/*
 * tests/golden/expect.c: writes down what a golden log holds. Run by v1/make, never by a test.
 *
 * Records, damages and the end are those that the second reader finds, which shares no code with the
 * library; the library must agree. From the library alone come keys and values as texts (of the second
 * reader's bytes), the counts of frames, what a salvage writes, and how the log goes on when something is
 * appended to it. Lines are explained in README.md.
 *
 *     expect LOG COPY      LOG as it is named in the file; COPY has the same bytes and is appended to
 */
#include "tests/second_reader.h"

#include <u9.h>

#include <inttypes.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 240 }; /* a longer text of values is left out: the hash is there */

#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "expect.c:%d: %s: %s\n", __LINE__, path, #what);                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *path; /* of the log that is looked at */

static void put_number(uint64_t v)
{
    if (v == UINT64_MAX) printf(" ?");
    else printf(" %" PRIu64, v);
}

/* What the library tells of damage, to be compared with the second reader. */
typedef struct told {
    u9_damage damages[32];
    size_t count;
} told;

static void on_damage(void *ctx, const u9_damage *damage)
{
    told *t = ctx;
    MUST(t->count < sizeof t->damages / sizeof t->damages[0]);
    t->damages[t->count++] = *damage;
}

/* The library does not number a file whose name does not (u9/check.h); the second reader looks inside. */
static bool same_segment(uint64_t library, uint64_t second)
{
    return library == second || (library == 0 && strstr(path, ".u9") == NULL);
}

/* The ordinal behind the end; not known where the second reader has 0 behind records. */
static uint64_t next_of(const second_log *log)
{
    return log->next_ordinal == 0 && log->n_records > 0 ? UINT64_MAX : log->next_ordinal;
}

static u9_report check(const second_log *log)
{
    static told t;
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .on_damage = on_damage, .ctx = &t};
    t.count = 0;
    MUST(u9_check(path, &o, &r, NULL) == U9_OK);
    MUST(r.records == log->n_records);
    MUST(r.next_ordinal == next_of(log) || next_of(log) == UINT64_MAX);
    MUST(r.beyond == log->beyond && t.count == log->n_damages);
    MUST(!r.closed == (log->end == SECOND_OPEN) && r.confirmed == r.closed);
    for (size_t i = 0; i < t.count; i++) {
        const u9_damage *a = &t.damages[i];
        const second_damage *b = &log->damages[i];
        MUST(a->verdict == b->verdict && a->reason == b->reason);
        MUST(same_segment(a->segment, b->segment));
        MUST(a->begin == b->begin && a->end == b->end && a->ordinal == b->ordinal);
        MUST(a->lost == b->lost);
        MUST(!a->at_most == !b->at_most || a->lost == 0 || a->lost == UINT64_MAX);
    }
    return r;
}

static void put_damages(const char *word, const second_log *log)
{
    for (size_t i = 0; i < log->n_damages; i++) {
        const second_damage *d = &log->damages[i];
        printf("%s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64, word, u9_verdict_name(d->verdict),
               u9_reason_name(d->reason), d->segment, d->begin, d->end);
        put_number(d->ordinal);
        put_number(d->lost);
        printf("%s\n", d->at_most && d->lost != 0 && d->lost != UINT64_MAX ? " at-most" : "");
    }
}

static void put_report(const u9_report *r, const second_log *log)
{
    static const char *const ends[] = {"open", "closed", "sealed"};
    printf("kind %s\n", r->kind[0] ? r->kind : "-");
    printf("verdict %s\n", u9_verdict_name(r->verdict));
    printf("end %s %" PRIu64 " %" PRIu64 "\n", ends[log->end], log->end_segment, log->end_offset);
    printf("segments %" PRIu64 "\nframes %" PRIu64 "\nlz4 %" PRIu64 "\nmasked %" PRIu64 "\n",
           r->segments, r->frames, r->lz4_frames, r->mask_frames);
    printf("times %" PRIu64 " %" PRIu64 "\n", r->first_time_us, r->last_time_us);
    printf("records %zu\nbeyond %" PRIu64 "\nnext", log->n_records, log->beyond);
    put_number(next_of(log));
    printf("\nlost %" PRIu64 "\n", r->lost);
    put_damages("damage", log);
}

/* The notation of all values, a space between; "..." if that is long. */
static void put_values(const u9_record *r)
{
    char text[TEXT_MAX + 1];
    size_t size = 0, one;
    u9_walk walk = u9_walk_bytes(r->values, r->values_size);
    u9_value v;
    while (u9_walk_next(&walk, &v) == U9_OK) {
        if (size > 0 && size < TEXT_MAX) text[size++] = ' ';
        if (u9_value_text(v.start, (size_t)v.encoded, text + size, sizeof text - size, &one, NULL) !=
            U9_OK) {
            printf(" ...");
            return;
        }
        size += one;
    }
    if (size > 0) printf(" %.*s", (int)size, text);
}

static void put_records(const u9_report *r, const second_log *log)
{
    u9_log *reader;
    u9_cursor *cursor;
    told unused = {.count = 0};
    u9_options o = {.size = sizeof o, .on_damage = on_damage, .on_damage_ctx = &unused};
    MUST(u9_log_open(path, &o, &reader, NULL) == U9_OK);
    MUST(u9_cursor_open(reader, NULL, &cursor, NULL) == U9_OK);
    for (size_t i = 0; i < log->n_records; i++) {
        const second_record *b = &log->records[i];
        uint8_t sha[SHA256_DIGEST_LENGTH];
        char key[U9_KEY_SIZE_MAX + 1];
        u9_record a;
        MUST(u9_cursor_next(cursor, &a) == U9_OK);
        MUST(a.ordinal == b->ordinal && a.frame == b->frame && same_segment(a.segment, b->segment));
        MUST(a.size == b->size && memcmp(a.bytes, b->bytes, a.size) == 0);
        MUST(u9_key_format(r->kind, a.key.data, a.key.size, key, NULL) == U9_OK);
        SHA256(b->bytes, b->size, sha);
        printf("record %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu ", b->ordinal, b->segment, b->frame,
               b->size);
        for (int k = 0; k < 16; k++) printf("%02x", sha[k]);
        printf(" %s", key);
        put_values(&a);
        printf("\n");
    }
    u9_record none;
    MUST(u9_cursor_next(cursor, &none) == U9_END);
    u9_cursor_close(cursor);
    MUST(u9_log_close(reader, NULL) == U9_OK);
}

static void put_salvage(const char *copy)
{
    char out[4200];
    uint64_t salvaged;
    u9_report r = {.size = sizeof r};
    snprintf(out, sizeof out, "%s.salvaged", copy);
    MUST(u9_salvage(path, out, NULL, &r, &salvaged, NULL) == U9_OK);
    printf("salvaged %" PRIu64 "\n", salvaged);
}

/* One record is appended to the copy, and the second reader looks at it again. */
static void put_append(const char *copy)
{
    static const u9_key given = {"appended", 8};
    u9_options o = {.size = sizeof o, .mode = U9_WRITE};
    u9_report r = {.size = sizeof r};
    second_log log;
    u9_place place;
    u9_log *w;
    u9_err err = u9_log_open(copy, &o, &w, NULL);
    if (err != U9_OK) {
        printf("append refused %s\n", u9_err_name(err));
        return;
    }
    err = u9_log_append(w, NULL, NULL, 0, &place);
    const char *key = err == U9_OK ? "fresh" : "given";
    if (err != U9_OK) MUST(u9_log_append(w, &given, NULL, 0, &place) == U9_OK);
    MUST(u9_log_close(w, NULL) == U9_OK);
    printf("append %s %" PRIu64 "\n", key, place.ordinal);
    MUST(second_read(copy, &log) == 0 && u9_check(copy, NULL, &r, NULL) == U9_OK);
    printf("after %s\n", u9_verdict_name(r.verdict));
    put_damages("after-damage", &log);
    second_free(&log);
}

int main(int argc, char **argv)
{
    second_log log;
    if (argc != 3) {
        fprintf(stderr, "usage: %s LOG COPY\n", argv[0]);
        return 2;
    }
    path = argv[1];
    MUST(second_read(path, &log) == 0);
    u9_report r = check(&log);
    printf("log %s\n", path);
    put_report(&r, &log);
    put_salvage(argv[2]);
    put_append(argv[2]);
    put_records(&r, &log);
    second_free(&log);
    return 0;
}
