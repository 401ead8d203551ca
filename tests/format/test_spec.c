/*
 * tests/format/test_spec.c: the examples of SPEC.md and SPEC-values.md are real. A fence "```hex
 * RULE name" holds bytes in hex, `;` begins a comment, `* n` are zeros up to offset n. An example of the rules
 * H, F, B, C, T must be, byte by byte, what the encoders make for its name; one of the rules V must be a value; one of the rules X, what
 * the builder makes of its container; those of the rules D, fed to a stream, emit one another; one of the
 * rules I, hex; the one of the rules R is a log, made here and judged as SPEC.md tells.
 */
#include "format/frame/disk.h"
#include "format/frame/filter.h"
#include "format/link/hello.h"
#include "tests/format/frame/forge.h"
#include "tests/format/golden.h"
#include "tests/plain_file.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <u9/check.h>
#include <u9/scan.h>
#include <u9/id.h>
#include <u9/transit.h>
#include <u9/value_diff.h>
#include <u9/value_index.h>
#include <unistd.h>

enum { EXAMPLES_MAX = 256, LINE_ROOM = 4096 };

typedef struct example {
    const char *document;
    char rule[8], name[32];
    size_t size;
    uint8_t bytes[U9I_BLOCK];
} example;

static example examples[EXAMPLES_MAX];
static size_t example_count;
static golden g;

static unsigned digit(char c, const char *line)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    ck_assert_msg(at != NULL, "not a pair of hex digits: %s", line);
    return (unsigned)(at - digits);
}

/* Pairs of hex digits, spaces where one likes, up to the end or a `;`. `* n`: zeros up to offset n. */
static void take_line(example *e, const char *line)
{
    if (line[0] == '*') {
        size_t to = strtoul(line + 1, NULL, 10);
        ck_assert_msg(to > e->size && to <= sizeof e->bytes, "no zeros up to there: %s", line);
        e->size = to;
        return;
    }
    for (const char *c = line; *c && *c != ';' && *c != '\n';) {
        if (*c == ' ') {
            c++;
            continue;
        }
        ck_assert_uint_lt(e->size, sizeof e->bytes);
        unsigned high = digit(c[0], line), low = digit(c[1], line);
        e->bytes[e->size++] = (uint8_t)(high << 4 | low);
        c += 2;
    }
}

static void read_document(const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    static char line[LINE_ROOM];
    example *open = NULL;
    while (fgets(line, sizeof line, file)) {
        if (open && strncmp(line, "```", 3) == 0) open = NULL;
        else if (open) take_line(open, line);
        else if (strncmp(line, "```hex", 6) == 0) {
            ck_assert_uint_lt(example_count, EXAMPLES_MAX);
            open = &examples[example_count++];
            *open = (example){.document = path};
            ck_assert_msg(sscanf(line, "```hex %7[A-Z0-9-] %31[a-z0-9-]", open->rule, open->name) ==
                              2,
                          "%s: a hex fence without rule and name: %s", path, line);
        }
    }
    ck_assert_msg(open == NULL, "%s: a fence without an end", path);
    fclose(file);
}

static void read_spec(void)
{
    example_count = 0;
    read_document("SPEC.md");
    read_document("SPEC-values.md");
    golden_make(&g);
}

/* What the encoders make for each name. */
typedef struct made {
    const char *rule, *name;
    golden_frame frame; /* the body of this one, if it is one of the golden file's */
} made;

static const made list[] = {
    {"H-1", "disk-header", GOLDEN_FRAMES}, {"H-2", "boundary", GOLDEN_FRAMES},
    {"F-1", "empty-frame", GOLDEN_FRAMES}, {"B-4", "lz4-body", GOLDEN_LZ4},
    {"B-5", "mask-body", GOLDEN_MASK},     {"C-3", "open-body", GOLDEN_OPEN},
    {"C-4", "end-body", GOLDEN_END},       {"C-5", "trim-body", GOLDEN_TRIM},
    {"C-6", "part-body", GOLDEN_PART_1},   {"C-7", "page-body", GOLDEN_PAGE},
    {"C-9", "root-body", GOLDEN_FRAMES},   {"C-10", "bits-body", GOLDEN_FRAMES},
    {"E-2", "plain-file", GOLDEN_FRAMES},
    {"M-2", "mark-slot", GOLDEN_FRAMES},   {"C-5", "trim-frame", GOLDEN_FRAMES},
};

enum { MADE = sizeof list / sizeof list[0] };

static const example *find_example(const char *name)
{
    const example *found = NULL;
    for (size_t i = 0; i < example_count; i++) {
        if (strcmp(examples[i].name, name) != 0) continue;
        ck_assert_msg(found == NULL, "two examples are named %s", name);
        found = &examples[i];
    }
    ck_assert_msg(found != NULL, "there is no example %s", name);
    return found;
}

static void expect_bytes(const example *e, const void *bytes, size_t size)
{
    ck_assert_msg(e->size == size, "%s has %zu bytes, not %zu", e->name, size, e->size);
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(e->bytes[i] == ((const uint8_t *)bytes)[i], "%s: byte %zu", e->name, i);
}

/* [B-4] [B-5] [C-3] [C-4] [C-5] [C-6] [C-7] test_golden.c decodes them and encodes them again. */
START_TEST(the_examples_of_bodies_are_those_of_the_golden_file)
{
    for (size_t i = 0; i < MADE; i++) {
        golden_frame frame = list[i].frame;
        if (frame == GOLDEN_FRAMES) continue;
        expect_bytes(find_example(list[i].name), golden_body(&g, frame), g.body_size[frame]);
    }
}
END_TEST

/* [H-1] [H-2] */
START_TEST(the_example_of_a_disk_header_is_decoded_and_encoded_again)
{
    const example *e = find_example("disk-header");
    uint8_t again[U9I_DISK_HEADER_SIZE];
    u9i_secret keys;
    ck_assert_uint_eq(e->size, U9I_DISK_HEADER_SIZE);
    ck_assert_int_eq(u9i_disk_decode(e->bytes, &keys), U9_OK);
    u9i_disk_encode(&keys, again);
    expect_bytes(e, again, sizeof again);
    expect_bytes(find_example("boundary"), keys.boundary, sizeof keys.boundary);
}
END_TEST

/* [F-1] [F-4] */
START_TEST(the_example_of_a_frame_is_valid_and_sealed_again)
{
    const example *e = find_example("empty-frame");
    uint8_t again[GOLDEN_EMPTY_SIZE], sha[U9I_HASH_SIZE];
    u9i_secret keys = fixed_keys();
    u9i_proof proof = {.need = 0};
    u9i_frame frame;
    golden_empty_frame(again);
    expect_bytes(e, again, sizeof again);
    ck_assert_int_eq(u9i_frame_verify(&keys, 32, 32 + e->size, e->bytes, e->size, &proof, &frame),
                     U9_OK);
    memset(again, 0, sizeof again);
    ck_assert_int_eq(u9i_frame_seal(&keys, &frame.trailer, again, frame.body_size, sha), U9_OK);
    expect_bytes(e, again, sizeof again);
}
END_TEST

/* [C-5] In its place behind the u9open of the golden file, which is that of R-13. */
START_TEST(the_example_of_a_u9trim_follows_the_u9open_and_is_sealed_again)
{
    const example *e = find_example("trim-frame");
    const size_t at = g.at[GOLDEN_PLAIN];
    uint8_t again[512] = {0}, sha[U9I_HASH_SIZE];
    u9i_proof proof = {.need = 0};
    u9i_trim_record trim;
    u9i_frame frame;
    u9i_trailer t = {.offset = at, .previous = U9I_DISK_HEADER_SIZE, .time_us = UINT64_C(1700000000000000)};
    memcpy(t.chain, g.bytes + U9I_DISK_HEADER_SIZE + 16, sizeof t.chain);
    memcpy(again + U9I_FRAME_HEADER_SIZE, golden_body(&g, GOLDEN_TRIM), g.body_size[GOLDEN_TRIM]);
    ck_assert_int_eq(u9i_frame_seal(&g.keys, &t, again, g.body_size[GOLDEN_TRIM], sha), U9_OK);
    expect_bytes(e, again, u9i_frame_size(g.body_size[GOLDEN_TRIM]));
    ck_assert_int_eq(u9i_frame_verify(&g.keys, at, at + e->size, e->bytes, e->size, &proof, &frame), U9_OK);
    ck_assert_uint_eq(frame.end, at + e->size);
    ck_assert_int_eq(u9i_trim_record_decode(frame.body, frame.body_size, &trim), U9_OK);
    ck_assert_uint_eq(trim.segment, 1);
}
END_TEST

/* [C-9] [C-10] A root of the golden page, and its filter: of these keys, and not of others. */
START_TEST(the_examples_of_an_index_are_encoded_again_and_its_filter_holds_its_keys)
{
    const example *root = find_example("root-body"), *bits = find_example("bits-body"), *page = find_example("page-body");
    u9i_page_record r, p;
    u9i_span filter;
    uint8_t again[1024];
    unsigned passed = 0;
    ck_assert_int_eq(u9i_page_record_decode(root->bytes, root->size, &r), U9_OK);
    ck_assert_int_eq(u9i_page_record_decode(page->bytes, page->size, &p), U9_OK);
    ck_assert(r.has_root && !p.has_root);
    ck_assert_int_eq(r.root.form, U9I_INDEX_RECORDS);
    ck_assert_uint_eq(r.root.entries, p.count);
    ck_assert_mem_eq(r.keys, p.keys, 16);
    ck_assert_mem_eq(r.root.last.data, p.keys + 48, 16);
    u9i_out out = u9i_out_init(again, sizeof again);
    u9i_page_record_encode(&out, &r);
    expect_bytes(root, again, out.size);
    ck_assert_int_eq(u9i_bits_record_decode(bits->bytes, bits->size, &filter), U9_OK);
    out = u9i_out_init(again, sizeof again);
    u9i_bits_record_encode(&out, filter);
    expect_bytes(bits, again, out.size);
    uint64_t blocks = u9i_filter_blocks(r.root.entries);
    ck_assert_uint_eq(filter.size, blocks * U9I_FILTER_BLOCK);
    for (uint32_t i = 0; i < p.count; i++)
        ck_assert(u9i_filter_has(filter.data, u9i_filter_hash(p.keys + 16 * i, 16)));
    for (uint32_t i = 0; i < 1000; i++) {
        uint8_t other[16] = {(uint8_t)i, (uint8_t)(i >> 8)};
        passed += u9i_filter_has(filter.data, u9i_filter_hash(other, 16));
    }
    ck_assert_uint_le(passed, 20);
}
END_TEST

/* [E-2] [E-3] tests/engine/read/test_plain.c reads it. */
START_TEST(the_example_of_a_plain_seed_file_is_made_again)
{
    plain_file p = plain_example();
    expect_bytes(find_example("plain-file"), p.bytes, p.size);
    plain_free(&p);
}
END_TEST

/* [M-2] The zeros behind it are left out. */
START_TEST(the_example_of_a_mark_is_a_slot_and_encoded_again)
{
    const example *e = find_example("mark-slot");
    uint8_t again[U9I_BLOCK], padded[U9I_BLOCK] = {0};
    u9i_mark_record mark;
    u9i_slot slot;
    u9i_secret own;
    golden_mark_slot(again, &mark);
    expect_bytes(e, again, GOLDEN_SLOT_SIZE);
    for (size_t i = GOLDEN_SLOT_SIZE; i < sizeof again; i++) ck_assert_uint_eq(again[i], 0);
    memcpy(padded, e->bytes, e->size);
    u9i_slot_decode(padded, &slot);
    ck_assert_int_eq(slot.state, U9I_SLOT_VALID);
    ck_assert_int_eq(u9i_disk_decode(padded, &own), U9_OK);
    ck_assert_int_eq(u9i_slot_encode(&slot.mark, &own, again), U9_OK);
    ck_assert_mem_eq(again, padded, sizeof again);
}
END_TEST

/* Builds the values of a transit example; the results are those of its builders. */
static void build_transit(const char *name, u9_builder *b)
{
    u9i_hello ship = {.kind = "muid", .kind_size = 4};
    u9_err first = U9_OK, second = U9_OK;
    for (unsigned i = 0; i < sizeof ship.log; i++) ship.log[i] = (uint8_t)(0x70 + i);
    if (strcmp(name, "two-values") == 0) {
        first = u9_build_uint(b, 5);
        second = u9_build_utf8(b, "data", 4);
    } else if (strcmp(name, "alpha-iota") == 0) {
        first = u9_build_greek(b, U9_ALPHA);
        second = u9_build_greek(b, U9_IOTA);
    } else if (strcmp(name, "error") == 0) {
        first = u9_build_error(b, U9_CORRUPT, "disk is old");
        second = u9_build_greek(b, U9_OMEGA);
    } else if (strcmp(name, "tau") == 0) {
        first = u9_build_tau(b, u9_tau_of(1, 4));
    } else if (strcmp(name, "log") == 0) {
        first = u9i_hello_build(b, &ship);
    } else if (strcmp(name, "next") == 0) {
        first = u9i_next_build(b, 1000);
        second = u9_build_greek(b, U9_IOTA);
    }
    ck_assert_msg(b->size > 0, "no test knows the transit example %s", name);
    ck_assert(first == U9_OK && second == U9_OK);
}

/* [T-1] [T-4] [T-5] [T-8] [T-9] [T-11] */
START_TEST(every_example_of_transit_is_read_and_framed_again)
{
    unsigned seen = 0;
    for (size_t i = 0; i < example_count; i++) {
        const example *e = &examples[i];
        uint8_t room[128], again[U9_TRANSIT_HEAD + 128];
        u9_transit reader;
        u9_walk values;
        u9_builder b;
        size_t used;
        if (e->rule[0] != 'T') continue;
        u9_builder_init(&b, again + U9_TRANSIT_HEAD, sizeof again - U9_TRANSIT_HEAD);
        build_transit(e->name, &b);
        u9_transit_head(b.size, again);
        expect_bytes(e, again, U9_TRANSIT_HEAD + b.size);
        u9_transit_init(&reader, room, sizeof room);
        ck_assert_int_eq(u9_transit_push(&reader, e->bytes, e->size, &used, &values, NULL), U9_OK);
        ck_assert_uint_eq(used, e->size);
        seen++;
    }
    ck_assert_uint_eq(seen, 6);
}
END_TEST

enum { DAMAGED = U9I_BLOCK };

/* Begins a record, keyed by the muid that its time makes, as the body of the frame at `at`. */
static void begin_word(u9_builder *b, uint8_t *file, size_t at, uint32_t later, const char *word)
{
    uint8_t raw[U9_MUID_SIZE];
    u9_muid muid = {.timestamp = UINT64_C(1700000000000000) + later, .medallion = 0x123456789ab, .offset = 1};
    u9_builder_init(b, file + at + U9I_FRAME_HEADER_SIZE, 100);
    ck_assert_int_eq(u9_muid_pack(&muid, raw), U9_OK);
    ck_assert_int_eq(u9_build_tuple_open(b), U9_OK);
    ck_assert_int_eq(u9_build_bytes_wide(b, raw, sizeof raw, 1), U9_OK);
    ck_assert_int_eq(u9_build_utf8(b, word, strlen(word)), U9_OK);
}

/* Seals it, with a promise of all before it unless nothing is. Where the next frame begins. */
static size_t seal_words(uint8_t *file, size_t at, size_t before, uint32_t ordinal, uint32_t count, uint32_t later, size_t body)
{
    uint8_t sha[U9I_HASH_SIZE];
    u9i_secret keys = fixed_keys();
    u9i_trailer t = {.ordinal = ordinal, .count = count, .offset = at, .previous = before, .durable = ordinal ? at : 0,
                     .time_us = UINT64_C(1700000000000000) + later};
    memcpy(t.chain, file + before + 16, sizeof t.chain);
    ck_assert_int_eq(u9i_frame_seal(&keys, &t, file + at, body, sha), U9_OK);
    return at + (size_t)u9i_frame_size(body);
}

/* A u9open and six records: a bit is flipped in the first, the last is cut at a sector. */
static void make_damaged(uint8_t file[DAMAGED])
{
    size_t one = g.at[GOLDEN_PLAIN], two, three, six;
    u9_builder b;
    memset(file, 0, DAMAGED);
    memcpy(file, g.bytes, one);
    begin_word(&b, file, one, 0, "one");
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    two = seal_words(file, one, U9I_DISK_HEADER_SIZE, 0, 1, 0, b.size);
    begin_word(&b, file, two, 1, "two");
    ck_assert_int_eq(u9_build_uint(&b, 42), U9_OK);
    ck_assert_int_eq(u9_build_int(&b, -1000), U9_OK);
    ck_assert_int_eq(u9_build_float64(&b, 0.5), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    three = seal_words(file, two, one, 1, 1, 1, b.size);
    memcpy(file + three + U9I_FRAME_HEADER_SIZE, golden_body(&g, GOLDEN_LZ4), g.body_size[GOLDEN_LZ4]);
    six = seal_words(file, three, two, 2, 3, 2000, g.body_size[GOLDEN_LZ4]);
    begin_word(&b, file, six, 3000, "six");
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    (void)seal_words(file, six, three, 5, 1, 3000, b.size);
    file[one + U9I_FRAME_HEADER_SIZE + 22] ^= 0x01; /* "one" is "ooe" */
    memset(file + 1024, 0, DAMAGED - 1024);
}

typedef struct told {
    u9_damage list[4];
    unsigned count;
} told;

static void note_told(void *ctx, const u9_damage *d)
{
    told *t = ctx;
    ck_assert_uint_lt(t->count, 4);
    t->list[t->count++] = *d;
}

static void expect_told(const u9_damage *d, u9_verdict verdict, u9_reason reason, uint64_t begin, uint64_t end,
                        uint64_t ordinal, uint64_t lost)
{
    ck_assert_int_eq(d->verdict, verdict);
    ck_assert_int_eq(d->reason, reason);
    ck_assert_uint_eq(d->begin, begin);
    ck_assert_uint_eq(d->end, end);
    ck_assert_uint_eq(d->ordinal, ordinal);
    ck_assert_uint_eq(d->lost, lost);
}

/* [P-5] The plan of one range of that log is the line that SPEC.md shows. */
static void expect_plan(const char *dir)
{
    char text[U9_SPLIT_LINE_SIZE], shown[LINE_ROOM] = "";
    u9_split_range *ranges;
    size_t count;
    u9_log *log;
    FILE *file = fopen("SPEC.md", "r");
    while (strncmp(shown, "u9range1 ", 9) != 0) ck_assert_ptr_nonnull(fgets(shown, sizeof shown, file));
    fclose(file);
    shown[strcspn(shown, "\n")] = 0;
    ck_assert_int_eq(u9_log_open(dir, NULL, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_log_split(log, 1, 0, &ranges, &count, NULL), U9_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(u9_split_format(&ranges[0], text), shown);
    u9_split_free(ranges);
    ck_assert_int_eq(u9_log_close(log, NULL), U9_OK);
}

/* What SPEC.md says of it, in numbers. */
START_TEST(the_damaged_log_is_made_and_judged_as_it_is_told)
{
    static uint8_t file[DAMAGED];
    char dir[512], path[600];
    told t = {.count = 0};
    u9_check_options o = {.size = sizeof o, .on_damage = note_told, .ctx = &t};
    u9_report report = {.size = sizeof report};
    make_damaged(file);
    expect_bytes(find_example("damaged-log"), file, DAMAGED);
    snprintf(dir, sizeof dir, "%s/spec-XXXXXX", getenv("U9_TEST_DIR"));
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/0000000000000001.u9", dir);
    FILE *f = fopen(path, "w");
    ck_assert(f && fwrite(file, 1, DAMAGED, f) == DAMAGED && fclose(f) == 0);
    ck_assert_int_eq(u9_check(dir, &o, &report, NULL), U9_OK);
    ck_assert_uint_eq(t.count, 2);
    expect_told(&t.list[0], U9_V_CORRUPT, U9_R_HASH, 352, 528, 0, 1);
    expect_told(&t.list[1], U9_V_TORN, U9_R_TRAILER, 960, 1128, 5, 0);
    ck_assert_uint_eq(report.records, 4);
    ck_assert_uint_eq(report.next_ordinal, 5);
    expect_plan(dir);
    unlink(path);
    rmdir(dir);
}
END_TEST

/* */
START_TEST(the_table_of_verdicts_has_every_reason)
{
    static char table[1 << 16], line[LINE_ROOM];
    size_t size = 0;
    FILE *file = fopen("SPEC.md", "r");
    ck_assert_ptr_nonnull(file);
    for (bool in = false; fgets(line, sizeof line, file);) {
        in = in ? strncmp(line, "*Precedence*", 12) != 0 : strncmp(line, "**[R-15]**", 10) == 0;
        if (!in || line[0] != '|') continue;
        ck_assert_uint_lt(size + strlen(line), sizeof table);
        size += (size_t)sprintf(table + size, "%s", line);
    }
    fclose(file);
    for (int r = U9_R_NONE + 1; strcmp(u9_reason_name((u9_reason)r), "?") != 0; r++) {
        char name[32];
        snprintf(name, sizeof name, "`%s`", u9_reason_name((u9_reason)r));
        ck_assert_msg(strstr(table, name) != NULL, "the table does not tell of %s", name);
    }
}
END_TEST

START_TEST(every_example_is_one_that_is_checked)
{
    for (size_t i = 0; i < example_count; i++) {
        const example *e = &examples[i];
        if (strchr("VXITNJDR", e->rule[0])) continue;
        size_t k = 0;
        while (k < MADE && strcmp(list[k].name, e->name) != 0) k++;
        ck_assert_msg(k < MADE, "%s has an example %s that no test knows", e->document, e->name);
        ck_assert_str_eq(e->rule, list[k].rule);
    }
}
END_TEST

START_TEST(every_example_of_a_value_is_a_value)
{
    for (size_t i = 0; i < example_count; i++) {
        const example *e = &examples[i];
        u9_fault fault;
        ck_assert_msg(e->size > 0, "the example %s is empty", e->name);
        if (!strchr("VXD", e->rule[0])) continue;
        ck_assert_msg(u9_value_check(e->bytes, e->size, NULL, &fault) == U9_OK, "%s: %s", e->name,
                      fault.text);
    }
}
END_TEST

/* What such an index was built from: of an incomplete one, how many elements until its second entry. */
static u9_index_spec spec_of(const u9_value *container, const u9_index *index)
{
    u9_index_spec spec = {.keyspec = index->keyspec};
    u9_walk walk = u9_walk_elements(container);
    u9_value second, element;
    if (spec.keyspec != U9_KEYSPEC_K) spec.hash_bits = 8 * (unsigned)index->keys.stride;
    if (index->complete) return spec;
    ck_assert_int_eq(u9_value_at(&index->ia, 1, &second), U9_OK);
    for (; walk.next < container->data + second.i; spec.every++)
        ck_assert_int_eq(u9_walk_next(&walk, &element), U9_OK);
    return spec;
}

/* [X-1] [X-2] */
START_TEST(every_example_of_an_index_is_right_and_built_again)
{
    unsigned count = 0;
    for (size_t i = 0; i < example_count; i++) {
        const example *e = &examples[i];
        if (e->rule[0] != 'X') continue;
        count++;
        u9_index_spec specs[4];
        size_t indexes = 0;
        u9_value v;
        u9_index index;
        ck_assert_int_eq(u9_value_decode(e->bytes, e->size, &v), U9_OK);
        ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
        for (u9_walk walk = u9_walk_indexes(&v); u9_index_next(&walk, &index) == U9_OK;) {
            ck_assert_uint_lt(indexes, 4);
            specs[indexes++] = spec_of(&v, &index);
        }
        uint8_t again[sizeof e->bytes];
        u9_index_entry scratch[16];
        u9_builder b;
        u9_builder_init(&b, again, sizeof again);
        ck_assert_int_eq(u9_build_indexed(&b, &v, specs, indexes, scratch, 16), U9_OK);
        expect_bytes(e, again, b.size);
    }
    ck_assert_uint_ge(count, 5);
}
END_TEST

static u9_err expect_emitted(void *ctx, const u9_value *value)
{
    unsigned *count = ctx;
    expect_bytes(find_example(++*count == 1 ? "diff-reduced-1" : "diff-reduced-2"), value->start,
                 value->encoded);
    return U9_OK;
}

/* [D-3] [D-4] [D-5] [D-8] [D-9] [D-10] */
START_TEST(the_examples_of_diffs_are_a_stream)
{
    static const char *const names[] = {"diff-add",   "diff-append", NULL,
                                        "diff-merge", "diff-set",    NULL};
    const example *base = find_example("diff-base");
    unsigned emitted = 0;
    u9_diff_stream s;
    u9_value v;
    ck_assert_int_eq(u9_value_decode(base->bytes, base->size, &v), U9_OK);
    u9_diff_stream_init(&s, &v, u9_grow_heap, NULL, expect_emitted, &emitted);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const example *e = names[i] ? find_example(names[i]) : NULL;
        ck_assert_int_eq(e ? u9_diff_feed(&s, e->bytes, e->size, NULL)
                           : u9_diff_feed(&s, "\x14", 1, NULL),
                         U9_OK);
    }
    ck_assert_uint_eq(emitted, 2);
    u9_diff_stream_release(&s, free);
}
END_TEST

Suite *suite_spec(void)
{
    Suite *s = suite_create("spec");
    TCase *t = tcase_create("examples");
    tcase_add_checked_fixture(t, read_spec, NULL);
    tcase_add_test(t, the_examples_of_bodies_are_those_of_the_golden_file);
    tcase_add_test(t, the_example_of_a_disk_header_is_decoded_and_encoded_again);
    tcase_add_test(t, the_example_of_a_frame_is_valid_and_sealed_again);
    tcase_add_test(t, the_examples_of_an_index_are_encoded_again_and_its_filter_holds_its_keys);
    tcase_add_test(t, the_example_of_a_u9trim_follows_the_u9open_and_is_sealed_again);
    tcase_add_test(t, the_example_of_a_plain_seed_file_is_made_again);
    tcase_add_test(t, the_example_of_a_mark_is_a_slot_and_encoded_again);
    tcase_add_test(t, every_example_of_transit_is_read_and_framed_again);
    tcase_add_test(t, the_damaged_log_is_made_and_judged_as_it_is_told);
    tcase_add_test(t, the_table_of_verdicts_has_every_reason);
    tcase_add_test(t, every_example_is_one_that_is_checked);
    tcase_add_test(t, every_example_of_a_value_is_a_value);
    tcase_add_test(t, every_example_of_an_index_is_right_and_built_again);
    tcase_add_test(t, the_examples_of_diffs_are_a_stream);
    suite_add_tcase(s, t);
    return s;
}
