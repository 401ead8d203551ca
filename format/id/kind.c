/*
 * format/id/kind.c: see kind.h and u9/key.h. [L-6]
 */
#include "format/id/kind.h"

#include "format/base/bytes.h"

static u9_err refuse_kind(u9_id_reason *why, u9_id_reason reason)
{
    if (why) *why = reason;
    return U9_ARG;
}

/* True if the text begins with `word`, which is then taken off. */
static int take(const char **text, size_t *size, const char *word)
{
    size_t n = strlen(word);
    if (*size < n || memcmp(*text, word, n) != 0) return 0;
    *text += n;
    *size -= n;
    return 1;
}

static u9_err parse_gid(const char *text, size_t size, u9i_kind *out, u9_id_reason *why)
{
    static const u9_gid_type types[] = {U9_GID_VOLUME, U9_GID_LOG, U9_GID_SEGMENT};
    for (unsigned i = 0; i < 3; i++) {
        const char *name = u9_gid_type_name(types[i]);
        if (strlen(name) != size || memcmp(name, text, size) != 0) continue;
        *out = (u9i_kind){.type = U9I_KIND_GID, .gid = types[i]};
        return U9_OK;
    }
    return refuse_kind(why, U9_KIND_UNKNOWN);
}

u9_err u9i_kind_parse(const char *text, size_t size, u9i_kind *out, u9_id_reason *why)
{
    u9i_kind kind = {.type = U9I_KIND_MUID};
    if (take(&text, &size, "gid:")) return parse_gid(text, size, out, why);
    if (take(&text, &size, "rkey:")) {
        kind.type = U9I_KIND_RKEY;
        u9_err err = u9_rkey_rule_parse(text, size, &kind.rule, why);
        if (err != U9_OK) return err;
        size = 0;
        if (kind.rule.type == U9_RKEY_ANY) /* that is `rkey` */
            return refuse_kind(why, U9_KIND_UNKNOWN);
    } else if (take(&text, &size, "rkey")) {
        kind.type = U9I_KIND_RKEY;
    } else if (take(&text, &size, "tid")) {
        kind.type = U9I_KIND_TID;
    } else if (take(&text, &size, "uid8")) {
        kind.type = U9I_KIND_UID8;
    } else if (!take(&text, &size, "muid")) {
        return refuse_kind(why, U9_KIND_UNKNOWN);
    }
    if (size != 0) return refuse_kind(why, U9_KIND_UNKNOWN);
    *out = kind;
    return U9_OK;
}

u9_err u9i_kind_fits(const u9i_kind *kind, const void *raw, size_t size, u9_id_reason *why)
{
    const uint8_t *bytes = (const uint8_t *)raw;
    u9_gid gid;
    u9_tid tid;
    u9_uid8 uid8;
    switch (kind->type) {
    case U9I_KIND_MUID: return size == U9_MUID_SIZE ? U9_OK : refuse_kind(why, U9_KIND_SIZE);
    case U9I_KIND_GID: return u9_gid_unpack(bytes, size, kind->gid, 0, &gid, why);
    case U9I_KIND_TID: return u9_tid_unpack(bytes, size, 0, &tid, why);
    case U9I_KIND_UID8: return u9_uid8_unpack(bytes, size, U9_UID8_LAYOUT_MAX, &uid8, why);
    case U9I_KIND_RKEY: break;
    }
    return u9_rkey_check((const char *)raw, size, &kind->rule, why);
}

size_t u9i_kind_value_size(const u9i_kind *kind, size_t size)
{
    switch (kind->type) {
    case U9I_KIND_MUID:
    case U9I_KIND_GID: return 2 + size;
    case U9I_KIND_TID:
    case U9I_KIND_UID8: return 1 + size;
    case U9I_KIND_RKEY: break;
    }
    return size + (size <= 15 ? 1 : size <= UINT8_MAX ? 2 : 3);
}

size_t u9i_kind_encode(const u9i_kind *kind, const void *raw, size_t size, uint8_t *out)
{
    size_t head = u9i_kind_value_size(kind, size) - size;
    if (kind->type == U9I_KIND_RKEY) {
        out[0] = (uint8_t)(head == 1 ? 0x20 + size : head == 2 ? 0x18 : 0x19);
        if (head > 1) u9i_set_be(out + 1, (unsigned)head - 1, size);
    } else {
        out[0] = head == 2 ? 0x1c : 0x03;
        if (head == 2) out[1] = (uint8_t)size;
    }
    memcpy(out + head, raw, size);
    return head + size;
}

u9_err u9_kind_check(const char *kind, size_t size, u9_id_reason *why)
{
    u9i_kind parsed;
    return u9i_kind_parse(kind, size, &parsed, why);
}

u9_err u9_key_check(const char *kind, const void *raw, size_t size, u9_id_reason *why)
{
    u9i_kind parsed;
    u9_err err = u9i_kind_parse(kind, strlen(kind), &parsed, why);
    return err == U9_OK ? u9i_kind_fits(&parsed, raw, size, why) : err;
}

/* The text of an identifier, packed. */
static u9_err parse_id(const u9i_kind *kind, const char *text, size_t size, uint8_t *raw,
                       u9_id_reason *why)
{
    u9_muid muid;
    u9_gid gid;
    u9_tid tid;
    u9_uid8 uid8;
    u9_err err;
    switch (kind->type) {
    case U9I_KIND_MUID:
        err = u9_muid_parse(text, size, 0, &muid, why);
        return err == U9_OK ? u9_muid_pack(&muid, raw) : err;
    case U9I_KIND_GID:
        err = u9_gid_parse(text, size, kind->gid, 0, &gid, why);
        return err == U9_OK ? u9_gid_pack(&gid, 0, raw) : err;
    case U9I_KIND_TID:
        err = u9_tid_parse(text, size, 0, &tid, why);
        return err == U9_OK ? u9_tid_pack(&tid, 0, raw) : err;
    case U9I_KIND_UID8:
    case U9I_KIND_RKEY: break;
    }
    err = u9_uid8_parse(text, size, U9_UID8_LAYOUT_MAX, &uid8, why);
    return err == U9_OK ? u9_uid8_pack(&uid8, U9_UID8_LAYOUT_MAX, raw, why) : err;
}

u9_err u9_key_parse(const char *kind, const char *text, size_t size, uint8_t raw[U9_KEY_SIZE_MAX],
                    size_t *raw_size, u9_id_reason *why)
{
    u9i_kind parsed;
    u9_err err = u9i_kind_parse(kind, strlen(kind), &parsed, why);
    if (err != U9_OK) return err;
    bool text_is_raw = parsed.type == U9I_KIND_RKEY;
    err = text_is_raw ? u9i_kind_fits(&parsed, text, size, why)
                      : parse_id(&parsed, text, size, raw, why);
    if (err != U9_OK) return err;
    if (text_is_raw) memcpy(raw, text, size);
    else size = parsed.type == U9I_KIND_MUID || parsed.type == U9I_KIND_GID ? 16 : 8;
    *raw_size = size;
    return U9_OK;
}

u9_err u9_key_format(const char *kind, const void *raw, size_t size, char out[U9_KEY_SIZE_MAX + 1],
                     u9_id_reason *why)
{
    u9i_kind parsed;
    const uint8_t *bytes = (const uint8_t *)raw;
    u9_muid muid;
    u9_gid gid;
    u9_tid tid;
    u9_uid8 uid8;
    u9_err err = u9i_kind_parse(kind, strlen(kind), &parsed, why);
    if (err == U9_OK) err = u9i_kind_fits(&parsed, raw, size, why);
    if (err != U9_OK) return err;
    switch (parsed.type) {
    case U9I_KIND_MUID: u9_muid_unpack(bytes, &muid); return u9_muid_format(&muid, out);
    case U9I_KIND_GID:
        err = u9_gid_unpack(bytes, size, parsed.gid, 0, &gid, why);
        return err == U9_OK ? u9_gid_format(&gid, 0, out) : err;
    case U9I_KIND_TID:
        err = u9_tid_unpack(bytes, size, 0, &tid, why);
        return err == U9_OK ? u9_tid_format(&tid, 0, out) : err;
    case U9I_KIND_UID8:
        err = u9_uid8_unpack(bytes, size, U9_UID8_LAYOUT_MAX, &uid8, why);
        return err == U9_OK ? u9_uid8_format(&uid8, U9_UID8_LAYOUT_MAX, out, why) : err;
    case U9I_KIND_RKEY: break;
    }
    memcpy(out, raw, size);
    out[size] = 0;
    return U9_OK;
}
