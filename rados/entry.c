/*
 * rados/entry.c: what a directory's object has of each name: a value of 56 bytes in its omap. [RD-4]
 *
 *     0 version (1)   1 kind   2 open   3 zero   4 mode (4)   8 inode (8)   16 size (8)   24 epoch (8)
 *     32 changed_us (8)   40 owner (8)   48 objects (4)   52 zeros (4)        little-endian
 *
 * Names that begin with a byte 1 are those of what was removed: its objects still stand, all of them while the kind is `f`.
 */
#include "rados/rados.h"

#include <errno.h>
#include <string.h>

enum { VERSION = 1, PAGE = 512 };

static void put(char *out, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) out[i] = (char)(value >> 8 * i);
}

static uint64_t take(const char *in, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) value |= (uint64_t)(uint8_t)in[i] << 8 * i;
    return value;
}

void u9r_entry_encode(const u9r_entry *entry, char out[U9R_ENTRY_SIZE])
{
    memset(out, 0, U9R_ENTRY_SIZE);
    out[0] = VERSION;
    out[1] = entry->kind;
    out[2] = entry->open;
    put(out + 4, entry->mode, 4);
    put(out + 8, entry->inode, 8);
    put(out + 16, entry->size, 8);
    put(out + 24, entry->epoch, 8);
    put(out + 32, entry->changed_us, 8);
    put(out + 40, entry->owner, 8);
    put(out + 48, entry->objects, 4);
}

bool u9r_entry_decode(const char *bytes, size_t n, u9r_entry *out)
{
    if (n != U9R_ENTRY_SIZE || bytes[0] != VERSION || memchr("dfx", bytes[1], 3) == NULL) return false;
    *out = (u9r_entry){.kind = bytes[1], .open = bytes[2] != 0, .mode = (uint32_t)take(bytes + 4, 4),
                       .inode = take(bytes + 8, 8), .size = take(bytes + 16, 8), .epoch = take(bytes + 24, 8),
                       .changed_us = take(bytes + 32, 8), .owner = take(bytes + 40, 8),
                       .objects = (uint32_t)take(bytes + 48, 4)};
    return true;
}

int u9r_entry_get(u9r_env *e, const char *oid, const char *name, u9r_entry *out)
{
    rados_omap_iter_t values;
    int err2 = 0;
    size_t length = strlen(name);
    rados_read_op_t op = rados_create_read_op();
    rados_read_op_omap_get_vals_by_keys2(op, &name, 1, &length, &values, &err2);
    int err = rados_read_op_operate(op, e->io, oid, 0);
    if (err == 0) err = err2;
    if (err == 0) {
        char *key, *value;
        size_t key_size, size;
        err = rados_omap_get_next2(values, &key, &value, &key_size, &size);
        if (err == 0 && key == NULL) err = -ENOENT;
        else if (err == 0 && !u9r_entry_decode(value, size, out)) err = -EBADMSG;
        rados_omap_get_end(values);
    }
    rados_release_read_op(op);
    return u9r_fail(e, oid, err, "looking a name up");
}

/* One page of entries behind `after`, which becomes the last name of it. */
static int page(u9r_env *e, const char *oid, char *after, bool trash, unsigned char *more, u9r_entry_fn *each, void *ctx)
{
    rados_omap_iter_t values = NULL;
    int err2 = 0;
    rados_read_op_t op = rados_create_read_op();
    rados_read_op_omap_get_vals2(op, after, trash ? "\1" : "", PAGE, &values, more, &err2);
    int err = rados_read_op_operate(op, e->io, oid, 0);
    if (err == 0) err = err2;
    u9r_fail(e, oid, err, "listing");
    while (err == 0) {
        char *key, *value;
        size_t n, size;
        u9r_entry entry;
        err = rados_omap_get_next2(values, &key, &value, &n, &size);
        if (err != 0 || key == NULL) break;
        if (n > U9R_NAME_MAX) continue;
        memcpy(after, key, n);
        after[n] = 0;
        if ((after[0] == 1) != trash || !u9r_entry_decode(value, size, &entry)) continue;
        err = each(ctx, after, &entry);
    }
    if (values) rados_omap_get_end(values);
    rados_release_read_op(op);
    return err;
}

int u9r_entries(u9r_env *e, const char *oid, bool trash, u9r_entry_fn *each, void *ctx)
{
    char after[U9R_NAME_MAX + 1] = "";
    unsigned char more = 1;
    int err = 0;
    while (err == 0 && more) {
        more = 0;
        err = page(e, oid, after, trash, &more, each, ctx);
    }
    return err;
}
