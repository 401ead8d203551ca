/*
 * engine/idgen/keygen.c: see keygen.h. [L-6] [L-7]
 */
#include "engine/idgen/keygen.h"

#include "format/base/bytes.h"
#include "format/base/fault.h"
#include "format/base/hash.h"

#include <assert.h>
#include <string.h>

static int64_t env_now_us(void *ctx)
{
    return (int64_t)u9i_wall_us(ctx);
}

static void env_sleep_us(void *ctx, uint64_t us)
{
    u9i_sleep_us(ctx, us);
}

static int env_fill(void *ctx, void *out, size_t size)
{
    return u9i_random(ctx, out, size) ? 0 : -1;
}

/* [I-23] The number that is given, in `number`; NULL: there is none, as zeros alone give none. */
static const u9_grant *given_in(const u9_options *o, u9_grant *number)
{
    *number = (u9_grant){.generator = o->generator, .cluster = o->cluster};
    return o->generator_given || o->generator != 0 || o->cluster != 0 ? number : NULL;
}

const char *u9i_keygen_wrong(const u9_options *o)
{
    u9_grant number;
    return u9i_uid8keys_wrong(o->numbers, given_in(o, &number));
}

static u9_err make_uid8(u9i_keygen *m, const u9_clock *clock, uint64_t time_us, const u9_options *o,
                        u9_fault *fault)
{
    u9_grant number;
    m->size = U9_UID8_SIZE;
    return u9i_uid8keys_new(o->numbers, given_in(o, &number), clock, time_us / 1000, &m->uid8, fault);
}

/* The generator that the kind needs, if any. */
static u9_err make_generator(u9i_keygen *m, u9i_env *env, uint64_t time_us, const u9_options *o,
                             u9_fault *fault)
{
    u9_clock clock = {.ctx = env, .now_us = env_now_us, .sleep_us = env_sleep_us};
    u9_random random = {.ctx = env, .fill = env_fill};
    u9_gidgen_options gid = {.size = sizeof gid, .clock = &clock, .random = &random, .monotonic = 1,
                             .seen_ms = time_us / 1000};
    u9_tidgen_options tid = {.size = sizeof tid, .clock = &clock, .random = &random, .seen = time_us};
    switch (m->kind.type) {
    case U9I_KIND_MUID: m->size = U9_MUID_SIZE; return U9_OK;
    case U9I_KIND_GID: m->size = U9_GID_SIZE; return u9_gidgen_new(&gid, &m->gid, fault);
    case U9I_KIND_TID: m->size = U9_TID_SIZE; return u9_tidgen_new(&tid, &m->tid, fault);
    case U9I_KIND_UID8: return make_uid8(m, &clock, time_us, o, fault);
    case U9I_KIND_RKEY: break;
    }
    if (m->kind.rule.type == U9_RKEY_LITERAL) m->size = m->kind.rule.literal_size;
    if (m->kind.rule.type != U9_RKEY_TID) return U9_OK;
    m->size = U9_TID_TEXT_SIZE;
    return u9_tidgen_new(&tid, &m->tid, fault);
}

static void keygen_check(const u9i_keygen *m)
{
    assert((m->gid != NULL) + (m->tid != NULL) + (m->uid8 != NULL) <= 1);
    assert(m->size <= U9I_KEY_MAX && strlen(m->text) < sizeof m->text);
}

u9_err u9i_keygen_init(u9i_keygen *m, u9i_env *env, const char *kind, uint64_t time_us, const u9_options *o,
                       u9_fault *fault)
{
    u9_id_reason why = U9_KIND_UNKNOWN;
    memset(m, 0, sizeof *m);
    size_t n = strlen(kind);
    assert(n < sizeof m->text);
    memcpy(m->text, kind, n + 1);
    if (u9i_kind_parse(m->text, n, &m->kind, &why) != U9_OK)
        return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "L-6"), "the key kind '%.100s': %s", kind,
                         u9_id_reason_text(why));
    return make_generator(m, env, time_us, o, fault);
}

void u9i_keygen_release(u9i_keygen *m)
{
    u9_gidgen_free(m->gid);
    u9_tidgen_free(m->tid);
    u9i_uid8keys_free(m->uid8);
    m->gid = NULL;
    m->tid = NULL;
    m->uid8 = NULL;
}

static u9_err next_tid(u9i_keygen *m, uint8_t *raw, uint64_t *stamp_us)
{
    u9_tid tid;
    char text[U9_TID_TEXT_SIZE + 1];
    u9_err err = u9_tidgen_next(m->tid, NULL, &tid);
    if (err != U9_OK) return err;
    *stamp_us = tid.timestamp;
    if (m->kind.type == U9I_KIND_TID) return u9_tid_pack(&tid, 0, raw);
    err = u9_tid_format(&tid, 0, text);
    memcpy(raw, text, U9_TID_TEXT_SIZE);
    return err;
}

u9_err u9i_keygen_confirm(u9i_keygen *m, u9_fault *fault)
{
    return m->uid8 ? u9i_uid8keys_confirm(m->uid8, fault) : U9_OK;
}

bool u9i_keygen_wants_grant(u9i_keygen *m)
{
    return m->uid8 && u9i_uid8keys_wants_grant(m->uid8);
}

u9_err u9i_keygen_next(u9i_keygen *m, uint8_t raw[U9I_KEY_MAX], uint64_t *stamp_us)
{
    u9_gid gid;
    u9_uid8 uid8;
    u9_err err = U9_OK;
    *stamp_us = 0;
    keygen_check(m);
    if (m->tid) return next_tid(m, raw, stamp_us);
    if (m->gid) {
        err = u9_gidgen_next(m->gid, m->kind.gid, &gid);
        *stamp_us = gid.timestamp_ms * 1000;
        return err == U9_OK ? u9_gid_pack(&gid, 0, raw) : err;
    }
    if (m->uid8) {
        err = u9i_uid8keys_next(m->uid8, &uid8);
        *stamp_us = uid8.timestamp_ms * 1000;
        return err == U9_OK ? u9_uid8_pack(&uid8, U9_UID8_LAYOUT_MAX, raw, NULL) : err;
    }
    if (m->kind.rule.type == U9_RKEY_LITERAL) memcpy(raw, m->kind.rule.literal, m->size);
    return U9_OK;
}

uint64_t u9i_keygen_medallion(const uint8_t log[16], const uint8_t machine[U9I_MACHINE_SIZE],
                              const uint64_t place[2])
{
    static const uint8_t about[16] = "u9 medallion";
    uint8_t bytes[64], hash[U9I_HASH_SIZE];
    u9i_out out = u9i_out_init(bytes, sizeof bytes);
    u9i_out_copy(&out, about, sizeof about);
    u9i_out_copy(&out, log, 16);
    u9i_out_copy(&out, machine, U9I_MACHINE_SIZE);
    u9i_out_uint(&out, 8, place[0]);
    u9i_out_uint(&out, 8, place[1]);
    assert(!out.failed && out.size == sizeof bytes);
    u9i_hash(bytes, sizeof bytes, hash);
    return (UINT64_C(1) << 40) + (u9i_get_be(hash, 5));
}

uint64_t u9i_keygen_stamp(const u9i_keygen *m, const void *raw)
{
    u9_muid muid;
    u9_tid tid;
    const uint8_t *bytes = raw;
    if (m->kind.type == U9I_KIND_MUID) {
        u9_muid_unpack(bytes, &muid);
        return muid.timestamp;
    }
    if (m->kind.type == U9I_KIND_TID && u9_tid_unpack(bytes, U9_TID_SIZE, 0, &tid, NULL) == U9_OK)
        return tid.timestamp;
    return 0;
}
