/*
 * fuzz/fuzz_id.c: any bytes as identifiers of each kind, [I-1] to [I-14].
 *
 * The input is read as text, as packed bytes, and as the fields of identifiers. Whatever is taken
 * must survive the way to its other forms and back, its text must be the one that was read (but
 * for muids and hex digits, which have other spellings), and each refusal must have a sentence.
 * Stricter readers take no more than lenient ones.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <u9/id.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

/* A verdict and its reason agree. */
static bool taken(u9_err err, u9_id_reason why)
{
    must(err == U9_OK || err == U9_ARG);
    must((err == U9_OK) == (why == U9_ID_FINE));
    must(strcmp(u9_id_reason_text(why), u9_id_reason_text((u9_id_reason)-1)) != 0);
    return err == U9_OK;
}

static void try_muid(const char *text, size_t size)
{
    char canonical[U9_MUID_TEXT_SIZE + 1];
    uint8_t packed[U9_MUID_SIZE];
    u9_muid strict, lenient, again;
    u9_id_reason why = U9_MUID_EMPTY;
    bool loose = taken(u9_muid_parse(text, size, U9_MUID_LENIENT, &lenient, &why), why);
    if (taken(u9_muid_parse(text, size, 0, &strict, &why), why))
        must(loose && u9_muid_compare(&strict, &lenient) == 0);
    if (!loose) return;
    must(u9_muid_format(&lenient, canonical) == U9_OK);
    must(u9_muid_parse(canonical, U9_MUID_TEXT_SIZE, 0, &again, NULL) == U9_OK);
    must(u9_muid_compare(&again, &lenient) == 0);
    must(u9_muid_pack(&again, packed) == U9_OK);
    u9_muid_unpack(packed, &again);
    must(u9_muid_compare(&again, &lenient) == 0);
}

/* The first 32 bytes are a reference and the change around it. */
static void try_resolve(const uint8_t *bytes, size_t size)
{
    u9_muid ref, context, found, twice;
    u9_id_reason why = U9_MUID_EMPTY;
    if (size < 2 * U9_MUID_SIZE) return;
    u9_muid_unpack(bytes, &ref);
    u9_muid_unpack(bytes + U9_MUID_SIZE, &context);
    if (!taken(u9_muid_resolve(&ref, &context, &found, &why), why)) return;
    must(found.timestamp != 0 && found.medallion != 0 && found.offset >= 0);
    must(u9_muid_resolve(&found, &context, &twice, NULL) == U9_OK);
    must(u9_muid_compare(&found, &twice) == 0);
}

static const unsigned gid_flags[] = {U9_GID_STRICT, 0, U9_GID_LENIENT};

static void gid_round_trip(const u9_gid *gid, unsigned flags, const char *expected)
{
    char text[U9_GID_TEXT_SIZE + 1];
    uint8_t packed[U9_GID_SIZE], again[U9_GID_SIZE];
    u9_gid read;
    must(u9_gid_pack(gid, flags, packed) == U9_OK);
    must(u9_gid_format(gid, flags, text) == U9_OK);
    if (expected) must(memcmp(text, expected, U9_GID_TEXT_SIZE) == 0);
    must(u9_gid_parse(text, U9_GID_TEXT_SIZE, gid->type, flags, &read, NULL) == U9_OK);
    must(u9_gid_pack(&read, flags, again) == U9_OK && memcmp(packed, again, sizeof again) == 0);
    must(u9_gid_unpack(packed, sizeof packed, gid->type, flags, &read, NULL) == U9_OK);
    must(u9_gid_pack(&read, flags, again) == U9_OK && memcmp(packed, again, sizeof again) == 0);
}

static void try_gid(const uint8_t *data, size_t size)
{
    bool text_taken = false, bytes_taken = false;
    for (size_t i = 0; i < sizeof gid_flags / sizeof *gid_flags; i++) {
        const char *text = (const char *)data;
        u9_gid gid;
        u9_id_reason why = U9_GID_LENGTH;
        bool fine = taken(u9_gid_parse(text, size, U9_GID_ANY, gid_flags[i], &gid, &why), why);
        must(fine || !text_taken); /* later flags take more */
        text_taken = fine;
        if (fine) gid_round_trip(&gid, gid_flags[i], text);
        size_t head = size < U9_GID_SIZE ? size : U9_GID_SIZE;
        fine = taken(u9_gid_unpack(data, head, U9_GID_ANY, gid_flags[i], &gid, &why), why);
        must(fine || !bytes_taken);
        bytes_taken = fine;
        if (fine) gid_round_trip(&gid, gid_flags[i], NULL);
    }
}

static void tid_round_trip(const u9_tid *tid, unsigned flags, const char *expected)
{
    char text[U9_TID_TEXT_SIZE + 1];
    uint8_t packed[U9_TID_SIZE];
    u9_tid read;
    must(u9_tid_format(tid, flags, text) == U9_OK);
    if (expected) must(memcmp(text, expected, U9_TID_TEXT_SIZE) == 0);
    must(u9_tid_is_valid(text, U9_TID_TEXT_SIZE));
    must(u9_tid_parse(text, U9_TID_TEXT_SIZE, flags, &read, NULL) == U9_OK);
    must(read.timestamp == tid->timestamp && read.clock_id == tid->clock_id);
    must(u9_tid_pack(tid, flags, packed) == U9_OK);
    must(u9_tid_unpack(packed, sizeof packed, flags, &read, NULL) == U9_OK);
    must(read.timestamp == tid->timestamp && read.clock_id == tid->clock_id);
}

static void try_tid(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t head = size < U9_TID_SIZE ? size : U9_TID_SIZE;
    u9_tid tid;
    u9_id_reason why = U9_TID_LENGTH;
    bool valid = u9_tid_is_valid(text, size) != 0;
    must(taken(u9_tid_parse(text, size, U9_TID_TOP_BIT, &tid, &why), why) == valid);
    if (valid) tid_round_trip(&tid, U9_TID_TOP_BIT, text);
    if (taken(u9_tid_parse(text, size, 0, &tid, &why), why)) {
        must(valid && tid.timestamp <= U9_TID_TIMESTAMP_MAX);
        tid_round_trip(&tid, 0, text);
    }
    if (taken(u9_tid_unpack(data, head, U9_TID_TOP_BIT, &tid, &why), why))
        tid_round_trip(&tid, U9_TID_TOP_BIT, NULL);
    if (taken(u9_tid_unpack(data, head, 0, &tid, &why), why)) tid_round_trip(&tid, 0, NULL);
}

static void uid8_round_trip(const u9_uid8 *id, unsigned layout, const char *expected)
{
    char text[U9_UID8_TEXT_SIZE + 1];
    uint8_t packed[U9_UID8_SIZE], again[U9_UID8_SIZE];
    u9_uid8 read;
    must(u9_uid8_pack(id, layout, packed, NULL) == U9_OK);
    must(u9_uid8_format(id, layout, text, NULL) == U9_OK);
    for (size_t i = 0; expected && i < U9_UID8_TEXT_SIZE; i++)
        must(text[i] == tolower((unsigned char)expected[i]));
    must(u9_uid8_parse(text, U9_UID8_TEXT_SIZE, layout, &read, NULL) == U9_OK);
    must(u9_uid8_pack(&read, layout, again, NULL) == U9_OK);
    must(memcmp(packed, again, sizeof again) == 0);
    must(u9_uid8_unpack(packed, sizeof packed, layout, &read, NULL) == U9_OK);
    must(u9_uid8_pack(&read, layout, again, NULL) == U9_OK);
    must(memcmp(packed, again, sizeof again) == 0);
}

static void try_uid8(const uint8_t *data, size_t size)
{
    bool text_taken = false, bytes_taken = false;
    for (unsigned layout = 1; layout <= U9_UID8_LAYOUT_MAX; layout++) {
        const char *text = (const char *)data;
        u9_uid8 id;
        u9_id_reason why = U9_UID8_LENGTH;
        bool fine = taken(u9_uid8_parse(text, size, layout, &id, &why), why);
        must(fine || !text_taken); /* later layouts take more */
        text_taken = fine;
        if (fine) uid8_round_trip(&id, layout, text);
        size_t head = size < U9_UID8_SIZE ? size : U9_UID8_SIZE;
        fine = taken(u9_uid8_unpack(data, head, layout, &id, &why), why);
        must(fine || !bytes_taken);
        bytes_taken = fine;
        if (fine) uid8_round_trip(&id, layout, NULL);
    }
}

/* The bytes in memory as fields, most of them out of range: what is packed is read back. */
static void try_fields(const uint8_t *data, size_t size)
{
    struct {
        uint64_t time;
        uint32_t fields[4];
    } any;
    uint8_t packed[U9_UID8_SIZE];
    if (size < sizeof any) return;
    memcpy(&any, data, sizeof any);
    const u9_uid8 id = {any.time, any.fields[0], any.fields[1], any.fields[2],
                        (u9_uid8_mode)(any.fields[3] % 3)};
    for (unsigned layout = 1; layout <= U9_UID8_LAYOUT_MAX; layout++) {
        u9_id_reason why = U9_UID8_LENGTH;
        u9_uid8 read;
        if (!taken(u9_uid8_pack(&id, layout, packed, &why), why)) continue;
        must(u9_uid8_unpack(packed, sizeof packed, layout, &read, NULL) == U9_OK);
        must(read.timestamp_ms == id.timestamp_ms && read.sequence == id.sequence);
        must(read.generator == id.generator && read.cluster == id.cluster && read.mode == id.mode);
    }
    const u9_tid tid = {any.time, any.fields[0]};
    if (u9_tid_pack(&tid, 0, packed) == U9_OK) tid_round_trip(&tid, 0, NULL);
}

/* [I-14] A type is what stands before the first newline, the key what stands behind it. */
static void try_rkey(const char *text, size_t size)
{
    u9_rkey_rule rule;
    u9_id_reason why = U9_RKEY_EMPTY;
    bool is_key = taken(u9_rkey_check(text, size, NULL, &why), why);
    must(!is_key || (size >= 1 && size <= U9_RKEY_SIZE_MAX));
    if (u9_tid_is_valid(text, size)) must(is_key);
    const char *end = size > 0 ? (const char *)memchr(text, '\n', size) : NULL;
    if (!end) return;
    size_t type_size = (size_t)(end - text), key_size = size - type_size - 1;
    if (!taken(u9_rkey_rule_parse(text, type_size, &rule, &why), why)) return;
    bool fits = taken(u9_rkey_check(end + 1, key_size, &rule, &why), why);
    if (fits) must(u9_rkey_check(end + 1, key_size, NULL, NULL) == U9_OK);
    if (rule.type == U9_RKEY_LITERAL)
        must(u9_rkey_check(rule.literal, rule.literal_size, &rule, NULL) == U9_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    try_muid(text, size);
    try_resolve(data, size);
    try_gid(data, size);
    try_tid(data, size);
    try_uid8(data, size);
    try_fields(data, size);
    try_rkey(text, size);
    return 0;
}
