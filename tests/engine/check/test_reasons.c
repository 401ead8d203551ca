/*
 * tests/engine/check/test_reasons.c: one log for each branch that refuses bytes, forged so that it alone does, and what
 * is then told of it: tests/golden/reasons.expect, a line each. The same log is made each time; the line has the hash
 * of its files. U9_GOLDEN_WRITE=1 writes the file anew. [R-12] [R-13] [R-15] [M-11]
 *
 * An id stays what it is: `part.branch`. Who adds a branch adds a row.
 */
#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "format/frame/mark.h"
#include "tests/engine/fixture.h"
#include "tests/engine/read/walks.h"
#include "tests/suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all of them begin with: a u9open, and a frame of two records. Then comes the victim. */
static forged_segment begin(void)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "a", 2);
    return f;
}

/* Behind the victim: two records more, and a u9end, so that all was promised. */
static void end(forged_segment *f, const char *log)
{
    forge_records(f, "c", 2);
    forge_end(f, U9I_END_CLOSING);
    forge_save(f, log);
    forge_free(f);
}

/* Bytes of a frame of three records: in its header and body, or, below 0, from its trailer's end on. */
typedef struct bytes_case {
    const char *id;
    int at;
    uint8_t size, bytes[8]; /* they become these; size 0: the first bit of one is flipped */
    bool mends;             /* and hash and signature are made to fit */
} bytes_case;

static const bytes_case byte_cases[] = {
    {"frame.boundary", 0, 0, {0}, false},
    {"frame.magic", 48, 0, {0}, false},
    {"frame.length.small", 56, 8, {0, 0, 0, 0, 0, 0, 0, 79}, false},
    {"frame.length.cap", 56, 8, {0, 0, 0, 0, 1, 0, 0, 81}, false},
    {"frame.length.file", 56, 8, {0, 0, 0, 0, 0, 1, 0, 0}, false},
    {"frame.signature.hash", 16, 0, {0}, false},
    {"frame.signature", 32, 0, {0}, false},
    {"frame.hash", 64, 0, {0}, false},
    {"trailer.form", -80, 0, {0}, true},
    {"trailer.name", -76, 1, {'x'}, true},
    {"trailer.ordinal.overflow", -67, 8, {255, 255, 255, 255, 255, 255, 255, 255}, true},
    {"trailer.offset", -53, 0, {0}, true},
    {"trailer.previous.none", -44, 8, {0, 0, 0, 0, 0, 0, 0, 0}, true},
    {"trailer.previous.self", -44, 8, {0, 0, 0, 0, 0, 0, 255, 255}, true},
    {"trailer.durable", -35, 8, {0, 0, 0, 0, 0, 0, 255, 255}, true},
    {"follow.ordinal", -67, 8, {0, 0, 0, 0, 0, 0, 0, 9}, true},
    {"follow.previous", -44, 8, {0, 0, 0, 0, 0, 0, 0, 32}, true},
    {"follow.chain", -16, 0, {0}, true},
};

static void forge_bytes(const char *log, const bytes_case *c)
{
    forged_segment f = begin();
    uint64_t p = forge_records(&f, "b", 3), length = u9i_get_be(f.bytes + p + 56, 8);
    uint8_t *to = f.bytes + (c->at < 0 ? p + 64 + length - (uint64_t)-c->at : p + (uint64_t)c->at);
    if (c->size == 0) *to ^= 0x80;
    else memcpy(to, c->bytes, c->size);
    if (c->mends) forge_mend(&f, p);
    end(&f, log);
}

/* A body that is whole by its hashes and means nothing. */
typedef struct body_case {
    const char *id;
    uint32_t count;
    uint8_t size, bytes[40];
} body_case;

static const body_case body_cases[] = {
    {"body.empty", 1, 0, {0}},
    {"body.value", 1, 3, {0x41, 0x00, 0xff}},
    {"body.tuple", 1, 2, {0x02, 0x07}},
    {"body.tuple.empty", 1, 1, {0x38}},
    {"body.symbol",
     1,
     14,
     {0x41, 0x00, 0x09, 0x00, 0x01, 0x0a, 'm', 'y', 'n', 'a', 'm', 'e', 0, 0}},
    {"body.control.count",
     1,
     14,
     {0x41, 0x00, 0x09, 0x00, 0x01, 0x0a, 'u', '9', 'e', 'n', 'd', 0, 0, 0}},
    {"body.control.form",
     0,
     14,
     {0x41, 0x00, 0x09, 0x00, 0x01, 0x0a, 'u', '9', 'e', 'n', 'd', 0, 0, 0}},
    {"body.part.form",
     1,
     14,
     {0x41, 0x00, 0x09, 0x00, 0x01, 0x0a, 'u', '9', 'p', 'a', 'r', 't', 0, 0}},
    {"body.lz4.form",
     1,
     18,
     {0x42, 0, 0, 0, 9, 0, 0, 0, 3, 0x0a, 'u', '9', 'l', 'z', '4', 0, 0, 0}},
    {"body.lz4.size", 1, 36, {0x42, 0,   0,   0,    27, 0, 0, 0, 3,    0x0a, 'u', '9',
                              'l',  'z', '4', 0,    0,  0, 3, 0, 0,    0,    0,   0,
                              0,    0,   0,   0x1e, 0,  0, 0, 4, 0x40, 'a',  'b', 'c'}},
    {"body.lz4.data", 1, 36, {0x42, 0,   0,   0,    27, 0, 0, 0, 3,    0x0a, 'u', '9',
                              'l',  'z', '4', 0,    0,  0, 3, 0, 0,    0,    0,   0,
                              0,    0,   99,  0x1e, 0,  0, 0, 4, 0x40, 'a',  'b', 'c'}},
    {"body.mask.form",
     1,
     18,
     {0x42, 0, 0, 0, 9, 0, 0, 0, 3, 0x0a, 'u', '9', 'm', 'a', 's', 'k', 0, 0}},
};

static void forge_body(const char *log, const body_case *c)
{
    forged_segment f = begin();
    forge_frame(&f, c->bytes, c->size, c->count);
    end(&f, log);
}

/* What takes more than some bytes. */

static void overlap(const char *log)
{
    forged_segment f = begin();
    uint64_t p = forge_records(&f, "a record long enough for a boundary to stand in it", 3);
    memcpy(f.bytes + p + 96, f.secret.boundary, 16);
    forge_mend(&f, p);
    end(&f, log);
}

static void padding(const char *log)
{
    forged_segment f = begin();
    uint64_t p = forge_records(&f, "bb", 3), payload = p + 64 + u9i_get_be(f.bytes + p + 56, 8);
    ck_assert_uint_lt(payload, f.end);
    f.bytes[payload] = 7;
    end(&f, log);
}

static void fill(const char *log)
{
    forged_segment f = begin();
    forge_records(&f, "b", 3);
    uint64_t at = f.end;
    forge_pad(&f);
    f.bytes[at + 100] = 7;
    end(&f, log);
}

static void count_of_records(const char *log)
{
    uint8_t body[64];
    forged_segment f = begin();
    forge_frame(&f, body, record_bytes(body, 9, "b", 1), 2);
    end(&f, log);
}

static void key_of_record(const char *log)
{
    uint8_t body[64];
    forged_segment f = begin();
    size_t size = record_bytes(body, 9, "b", 1);
    for (size_t i = 0; i + 1 < size; i++)
        if (body[i] == 0x1c && body[i + 1] == 16) body[i + 1] = 0; /* a key of no bytes */
    forge_frame(&f, body, size, 1);
    end(&f, log);
}

static void part_missing(const char *log)
{
    static const uint8_t bytes[24];
    forged_segment f = begin();
    u9i_part_record part = {.number = 1, .total = 48, .before = 32, .bytes = {bytes, sizeof bytes}};
    forge_part(&f, &part, 1); /* its row has no beginning */
    end(&f, log);
}

static void header_byte(const char *log, unsigned at)
{
    forged_segment f = begin();
    f.bytes[at] ^= 0x80;
    end(&f, log);
}

static void header_magic(const char *log)
{
    header_byte(log, 2);
}
static void header_secret(const char *log)
{
    header_byte(log, 9);
}
static void header_zero(const char *log)
{
    header_byte(log, 30);
}

static void unclosed(const char *log)
{
    forged_segment f = begin();
    forge_save(&f, log);
    forge_free(&f);
}

static void torn(const char *log)
{
    forged_segment f = begin();
    forge_records(&f, "b", 3);
    f.size -= 32;
    forge_save(&f, log);
    forge_free(&f);
}

/* Damage at an end that nothing promised, which does not look like a crash. */
static void unknown(const char *log)
{
    forged_segment f = begin();
    uint64_t p = forge_records(&f, "b", 3);
    f.bytes[p + 64] ^= 1;
    forge_pad(&f);
    forge_save(&f, log);
    forge_free(&f);
}

/* Two segments; the first is rolled. What becomes of it is the caller's. */
static forged_segment two(const char *log, forged_segment *second)
{
    forged_segment f = begin();
    forge_end(&f, U9I_END_SEALING);
    *second = forge_begin(2, 2, &f, U9I_TAIL_ROLLED);
    forge_records(second, "d", 2);
    forge_end(second, U9I_END_CLOSING);
    forge_save(second, log);
    return f;
}

static void free_two(forged_segment *f, forged_segment *second)
{
    forge_free(f);
    forge_free(second);
}

/* A gap that no frame near it promises, but one far behind. */
static void promised_later(const char *log)
{
    forged_segment f = begin();
    uint64_t p = forge_records(&f, "b", 3);
    forge_records(&f, "c", 2);
    forge_records(&f, "d", 2);
    f.next.durable = f.end;
    forge_records(&f, "e", 2);
    f.bytes[p + 64] ^= 1;
    forge_save(&f, log);
    forge_free(&f);
}

static void cut(const char *log)
{
    forged_segment second, f = two(log, &second);
    f.size = f.next.previous > 400 ? 400 : f.size; /* in the midst of its records */
    forge_save(&f, log);
    free_two(&f, &second);
}

static void missing(const char *log)
{
    forged_segment second, f = two(log, &second);
    free_two(&f, &second);
}

static void seal(const char *log)
{
    forged_segment second, f = two(log, &second);
    f.bytes[f.size - 100] = 7; /* behind the u9end, in its block */
    forge_save(&f, log);
    free_two(&f, &second);
}

static void name(const char *log)
{
    forged_segment second, f = two(log, &second);
    forge_save(&f, log);
    move_file(segment_path(log, 2), segment_path(log, 5));
    free_two(&f, &second);
}

static void blank(const char *log)
{
    static const uint8_t zeros[4096];
    forged_segment second, f = two(log, &second);
    forge_save(&f, log);
    write_file(segment_path(log, 3), zeros, sizeof zeros);
    free_two(&f, &second);
}

static void foreign(const char *log)
{
    forged_segment second, f = two(log, &second);
    u9i_open_record open = forge_naming(3, &second, U9I_TAIL_ROLLED);
    memset(open.log, 0x11, sizeof open.log);
    forged_segment other = forge_with_open(3, 7, &open);
    forge_records(&other, "x", 2);
    forge_end(&other, U9I_END_CLOSING);
    forge_save(&f, log);
    forge_save(&other, log);
    forge_free(&other);
    free_two(&f, &second);
}

/* The log was copied, and both went on: two segments say that they come behind the first. */
static void fork_of(const char *log)
{
    forged_segment second, f = two(log, &second);
    u9i_open_record open = forge_naming(3, &f, U9I_TAIL_ROLLED);
    forged_segment other = forge_with_open(3, 7, &open);
    forge_records(&other, "x", 5);
    forge_end(&other, U9I_END_CLOSING);
    forge_save(&f, log);
    forge_save(&other, log);
    forge_free(&other);
    free_two(&f, &second);
}

static const struct {
    const char *id;
    void (*forge)(const char *log);
} log_cases[] = {
    {"frame.overlap", overlap},
    {"frame.padding", padding},
    {"frame.fill", fill},
    {"body.count", count_of_records},
    {"body.key", key_of_record},
    {"body.part", part_missing},
    {"header.magic", header_magic},
    {"header.secret", header_secret},
    {"header.zero", header_zero},
    {"log.unclosed", unclosed},
    {"log.torn", torn},
    {"log.unknown", unknown},
    {"log.cut", cut},
    {"log.missing", missing},
    {"log.seal", seal},
    {"log.name", name},
    {"log.blank", blank},
    {"log.foreign", foreign},
    {"log.fork", fork_of},
    {"gap.promised.later", promised_later},
};

/* Bytes of the first slot of a mark: in it, or, below 0, from its frame's payload's end on. [M-11] */
static const bytes_case slot_cases[] = {
    {"slot.header", 2, 0, {0}, false},
    {"slot.boundary", 32, 0, {0}, false},
    {"slot.magic", 80, 0, {0}, false},
    {"slot.length", 88, 8, {0, 0, 0, 0, 0, 0, 16, 0}, false},
    {"slot.overlap", 112, 0, {0}, true}, /* the slot's boundary itself, not a bit */
    {"slot.signature", 64, 0, {0}, false},
    {"slot.trailer", -80, 0, {0}, true},
    {"slot.hash", 96, 0, {0}, false},
    {"slot.chain", -16, 0, {0}, true},
    {"slot.count", -58, 4, {0, 0, 0, 1}, true},
    {"slot.kind", 106, 1, {'n'}, true},
    {"slot.form", 110, 1, {0x77}, true},
    {"slot.end", 0, 0, {0}, false}, /* these two say what it is before it is sealed */
    {"slot.secret", 0, 0, {0}, false},
};

static void forge_slot(const char *log, const bytes_case *c)
{
    char path[600];
    uint8_t mark[U9I_MARK_SIZE] = {0}, bytes[U9I_SECRET_SIZE] = {0x17, 0x2a};
    u9i_mark_record m = {.segment = 1, .end = {.offset = strcmp(c->id, "slot.end") == 0 ? 168 : 544}};
    forged_segment f = begin(), slot = {.bytes = mark, .size = sizeof mark};
    memcpy(m.boundary, f.secret.boundary, sizeof m.boundary);
    memcpy(m.secret, f.secret.bytes, sizeof m.secret);
    m.secret[0] ^= strcmp(c->id, "slot.secret") == 0;
    ck_assert(u9i_secret_init(&slot.secret, bytes));
    ck_assert_int_eq(u9i_slot_encode(&m, &slot.secret, mark), U9_OK);
    uint8_t *to = mark + (c->at < 0 ? 96 + u9i_get_be(mark + 88, 8) - (uint64_t)-c->at : (uint64_t)c->at);
    if (strcmp(c->id, "slot.overlap") == 0) memcpy(to, slot.secret.boundary, 16);
    else if (c->size > 0) memcpy(to, c->bytes, c->size);
    else if (c->at != 0) *to ^= 0x80;
    if (c->mends) forge_mend(&slot, U9I_DISK_HEADER_SIZE);
    end(&f, log);
    snprintf(path, sizeof path, "%s/.mark", log);
    write_file(path, mark, sizeof mark);
}

#define COUNT(row) (sizeof(row) / sizeof *(row))

/* What is told, and by which reasons. */
typedef struct told {
    FILE *out;
    bool reasons[64], clauses[U9_CLAUSE_PAGE_PLACE];
} told;

static void put_number(FILE *out, uint64_t n)
{
    if (n == U9_NOWHERE) fputs(" ?", out);
    else fprintf(out, " %" PRIu64, n);
}

static void tell_log(told *t, const char *id, const char *log)
{
    uint8_t hash[16];
    picture(log, hash);
    seen *s = look(log);
    fprintf(t->out, "%s ", id);
    for (unsigned i = 0; i < 8; i++) fprintf(t->out, "%02x", hash[i]);
    fprintf(t->out, " %s, %zu records\n", u9_verdict_name(s->report.verdict), s->count);
    for (size_t i = 0; i < s->damage_count; i++) {
        const u9_damage *d = &s->damages[i];
        fprintf(t->out, "  %s %s %" PRIu64 " [%" PRIu64 ",%" PRIu64 ")",
                u9_verdict_name(d->verdict), u9_reason_name(d->reason), d->segment, d->begin,
                d->end);
        put_number(t->out, d->ordinal);
        put_number(t->out, d->lost);
        if (d->clause != U9_CLAUSE_NONE) fprintf(t->out, " %s", u9_clause_name(d->clause));
        fputs(d->at_most ? " at-most\n" : "\n", t->out);
        t->reasons[d->reason] = t->clauses[d->clause] = true;
    }
    forget(s);
    remove_log(log);
}

static void tell_all(told *t)
{
    for (size_t i = 0; i < COUNT(byte_cases); i++) {
        forge_bytes(at("log"), &byte_cases[i]);
        tell_log(t, byte_cases[i].id, at("log"));
    }
    for (size_t i = 0; i < COUNT(body_cases); i++) {
        forge_body(at("log"), &body_cases[i]);
        tell_log(t, body_cases[i].id, at("log"));
    }
    for (size_t i = 0; i < COUNT(log_cases); i++) {
        log_cases[i].forge(at("log"));
        tell_log(t, log_cases[i].id, at("log"));
    }
    for (size_t i = 0; i < COUNT(slot_cases); i++) {
        forge_slot(at("log"), &slot_cases[i]);
        tell_log(t, slot_cases[i].id, at("log"));
    }
}

static FILE *open_expected(const char *mode)
{
    char path[600];
    const char *tests = getenv("U9_TESTS");
    snprintf(path, sizeof path, "%s/golden/reasons.expect", tests && *tests ? tests : "tests");
    FILE *file = fopen(path, mode);
    ck_assert_msg(file != NULL, "%s", path);
    return file;
}

/* True, and both lines: they differ. */
static bool differ(const char **a, FILE *file, char line[400])
{
    if (fgets(line, 400, file) == NULL) line[0] = '\0';
    size_t n = strlen(line), m = strcspn(*a, "\n") + 1;
    if (n != m || memcmp(*a, line, n) != 0) return true;
    *a += n;
    return false;
}

/* */
START_TEST(each_branch_that_refuses_bytes_tells_what_it_always_told)
{
    char *text = NULL, line[400];
    size_t size = 0;
    told t = {.out = open_memstream(&text, &size)};
    tell_all(&t);
    fclose(t.out);
    const char *write = getenv("U9_GOLDEN_WRITE");
    if (write && strcmp(write, "1") == 0) {
        FILE *file = open_expected("w");
        ck_assert_uint_eq(fwrite(text, 1, size, file), size);
        fclose(file);
    }
    FILE *file = open_expected("r");
    const char *at_line = text;
    while (*at_line)
        if (differ(&at_line, file, line))
            ck_abort_msg("told: %.*s\nexpected: %s", (int)strcspn(at_line, "\n"), at_line, line);
    ck_assert_msg(fgets(line, sizeof line, file) == NULL, "more is expected: %s", line);
    fclose(file);
    free(text);
}
END_TEST

/* A reason has a log here, or is told where no forged file alone brings it about. */
START_TEST(each_reason_has_a_log_that_is_refused_by_it)
{
    static const u9_reason elsewhere[] = {
        U9_R_MARK,       /* tests/engine/log/test_mark.c */
        U9_R_UNREADABLE, /* tests/engine/segment/test_unreadable.c: a disk that fails */
        U9_R_UNSIGNED,   /* tests/engine/check/test_salvage_reading.c: told by salvage alone */
        U9_R_TRIMMED,    /* tests/engine/log/test_trim_readers.c: while a log is trimmed */
    };
    char *text = NULL;
    size_t size = 0;
    told t = {.out = open_memstream(&text, &size)};
    tell_all(&t);
    fclose(t.out);
    free(text);
    for (size_t i = 0; i < COUNT(elsewhere); i++) t.reasons[elsewhere[i]] = true;
    for (unsigned r = 1; strcmp(u9_reason_name((u9_reason)r), "?") != 0; r++)
        ck_assert_msg(t.reasons[r], "%s", u9_reason_name((u9_reason)r));
    t.clauses[U9_CLAUSE_SLOT_READ] = true; /* tests/engine/log/test_mark.c: a disk that fails */
    for (unsigned c = 1; strcmp(u9_clause_name((u9_clause)c), "?") != 0; c++)
        ck_assert_msg(t.clauses[c], "%s", u9_clause_name((u9_clause)c));
}
END_TEST

static void forge_nth(size_t n, const char *log)
{
    if (n < COUNT(byte_cases)) forge_bytes(log, &byte_cases[n]);
    else if (n < COUNT(byte_cases) + COUNT(body_cases)) forge_body(log, &body_cases[n - COUNT(byte_cases)]);
    else log_cases[n - COUNT(byte_cases) - COUNT(body_cases)].forge(log);
}

/* Who reads backwards is told the same, the other way round. */
START_TEST(each_of_them_is_told_backwards_too)
{
    events on = {0}, back = {0};
    u9_cursor *c;
    u9_seek to_end = {.size = sizeof to_end, .kind = U9_SEEK_END};
    forge_nth((size_t)_i, at("log"));
    u9_log *log = open_noting(at("log"), &on);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    walk_on(c, &on);
    u9_cursor_close(c);
    close_log(log);
    log = open_noting(at("log"), &back);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_seek(c, &to_end), U9_OK);
    walk_back(c, &back);
    expect_mirror(&on, &back);
    u9_cursor_close(c);
    close_log(log);
    drop_events(&on);
    drop_events(&back);
}
END_TEST

typedef struct known {
    size_t count;
    u9_damage last;
} known;

static void note_known(void *ctx, const u9_damage *d)
{
    known *k = ctx;
    k->count++;
    k->last = *d;
}

static known known_of(const char *log)
{
    known k = {0};
    u9_log *reader = open_reader(log);
    ck_assert_int_eq(u9_log_damages(reader, note_known, &k, NULL), U9_OK);
    close_log(reader);
    return k;
}

/* [L-4] Opened for reading, a damaged log says at once what of it is not there. */
START_TEST(what_is_wrong_with_a_log_as_a_whole_is_known_when_it_is_open)
{
    static const struct {
        void (*forge)(const char *log);
        u9_reason reason; /* NONE: nothing is known before it is read */
    } cases[] = {{missing, U9_R_MISSING}, {foreign, U9_R_FOREIGN}, {fork_of, U9_R_FORK},
                 {name, U9_R_NAME},       {blank, U9_R_BLANK},     {header_secret, U9_R_HEADER},
                 {fill, U9_R_NONE},       {torn, U9_R_NONE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        cases[i].forge(at("log"));
        known k = known_of(at("log"));
        ck_assert_uint_eq(k.count, cases[i].reason != U9_R_NONE);
        ck_assert_int_eq(k.last.reason, cases[i].reason);
        if (cases[i].reason == U9_R_MISSING) {
            ck_assert_uint_eq(k.last.ordinal, 0);
            ck_assert_uint_eq(k.last.lost, 2);
        }
        remove_log(at("log"));
    }
    ck_assert_int_eq(u9_log_damages(NULL, note_known, NULL, NULL), U9_ARG);
}
END_TEST

Suite *suite_reasons(void)
{
    Suite *s = suite_create("reasons");
    TCase *t = tcase_create("reasons");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, each_branch_that_refuses_bytes_tells_what_it_always_told);
    tcase_add_test(t, each_reason_has_a_log_that_is_refused_by_it);
    tcase_add_loop_test(t, each_of_them_is_told_backwards_too, 0, (int)(COUNT(byte_cases) + COUNT(body_cases) + COUNT(log_cases)));
    tcase_add_test(t, what_is_wrong_with_a_log_as_a_whole_is_known_when_it_is_open);
    suite_add_tcase(s, t);
    return s;
}
