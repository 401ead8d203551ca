/*
 * engine/idgen/lock_file.c: generator numbers by a lock file, for the logs of one machine.
 *
 * Owns: u9_lock_file. Rules: [I-23], [I-24].
 *
 * A grant is a slot of the file. In it stands a bound: no key under the number is above that millisecond. It
 * is raised before a key above it is used, a second ahead, so that it is written once a second; and lowered to
 * the last key when the slot is given back. So whoever has the number next begins above all that was made,
 * also when the holder was killed, and when the clock was set back since.
 *
 * Threads: any; nothing here changes but what belongs to one grant.
 */
#include "engine/idgen/idgen.h"
#include "engine/os/env.h"
#include "engine/os/slot.h"
#include "format/base/fault.h"

#include <u9/generator.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 2048, AHEAD_MS = 1000 };

struct u9_lock_file {
    uint32_t cluster, first, count;
    char path[];
};

static const char *check_lock_options(const u9_lock_file_options *o)
{
    if (!o || o->size != sizeof *o) return "options.size is not sizeof(u9_lock_file_options)";
    if (!o->path || !o->path[0]) return "options.path is empty";
    if (o->cluster > U9_UID8_CLUSTER_MAX) return "options.cluster is above 15";
    if (o->first >= NUMBERS || o->count > NUMBERS - o->first) return "options.first and count pass 2047";
    return NULL;
}

u9_err u9_lock_file_new(const u9_lock_file_options *o, u9_lock_file **out, u9_fault *fault)
{
    const char *wrong = check_lock_options(o);
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "I-24"), "%s", wrong);
    size_t size = strlen(o->path) + 1;
    u9_lock_file *f = (u9_lock_file *)u9i_gen_new(sizeof *f + size, fault);
    if (!f) return U9_NOMEM;
    *f = (u9_lock_file){.cluster = o->cluster, .first = o->first,
                        .count = o->count ? o->count : NUMBERS - o->first};
    memcpy(f->path, o->path, size);
    *out = f;
    return U9_OK;
}

void u9_lock_file_free(u9_lock_file *file)
{
    free(file);
}

static u9i_number_slot *slot_of(const u9_grant *grant)
{
    return (u9i_number_slot *)(uintptr_t)grant->serial;
}

static u9_err refuse_sys(const u9_lock_file *f, int sys, const char *what, u9_fault *fault)
{
    return u9i_fault(fault, U9_IO,
                     U9I_AT(.path = f->path, .sys = -sys, .rule = "I-24"), "%s", what);
}

static u9_err acquire_slot(void *ctx, u9_grant *out, u9_fault *fault)
{
    const u9_lock_file *f = (const u9_lock_file *)ctx;
    u9i_number_slot *slot;
    int sys = u9i_slot_take(f->path, f->cluster * NUMBERS + f->first, f->count,
                            u9i_wall_us(&u9i_env_posix) / 1000, U9_UID8_TIMESTAMP_MAX - 1, &slot);
    if (sys == -EWOULDBLOCK)
        return u9i_fault(fault, U9_AGAIN, U9I_AT(.path = f->path, .rule = "I-24"),
                         "all generator numbers from %u to %u of cluster %u are in use", (unsigned)f->first,
                         (unsigned)(f->first + f->count - 1), (unsigned)f->cluster);
    if (sys == -EBADMSG)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = f->path, .rule = "I-24"),
                         "this is no lock file, or a damaged one: a number in it was used up to a time that no key has");
    if (sys != 0) return refuse_sys(f, sys, "no generator number can be taken from the lock file", fault);
    *out = (u9_grant){.generator = u9i_slot_index(slot) % NUMBERS, .cluster = f->cluster,
                      .seen_ms = u9i_slot_noted(slot), .serial = (uint64_t)(uintptr_t)slot};
    return U9_OK;
}

static u9_err renew_slot(void *ctx, const u9_grant *grant, uint64_t last_ms, u9_fault *fault)
{
    const u9_lock_file *f = (const u9_lock_file *)ctx;
    u9i_number_slot *slot = slot_of(grant);
    if (u9i_slot_confirm(slot) != 0)
        return u9i_fault(fault, U9_AGAIN, U9I_AT(.path = f->path, .rule = "I-24"),
                         "the lock file was removed or replaced");
    int sys = last_ms > u9i_slot_noted(slot) ? u9i_slot_note(slot, last_ms + AHEAD_MS) : 0;
    return sys ? refuse_sys(f, sys, "the lock file cannot be written", fault) : U9_OK;
}

static void release_slot(void *ctx, const u9_grant *grant, uint64_t last_ms)
{
    (void)ctx;
    /* It fails at worst to lower the bound, which costs the next holder a second, or another number. */
    if (last_ms > 0) (void)u9i_slot_note(slot_of(grant), last_ms);
    u9i_slot_give(slot_of(grant));
}

u9_generator u9_lock_file_generator(u9_lock_file *file)
{
    return (u9_generator){.size = sizeof(u9_generator), .ctx = file, .acquire = acquire_slot,
                          .renew = renew_slot, .release = release_slot};
}

/* Where the path's last name begins; the path's end if it names no place in the directory above it. */
static size_t last_name(const char *path, size_t size)
{
    size_t begin = size;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    size_t n = size - begin;
    bool dots = n <= 2 && memcmp(path + begin, "..", n) == 0;
    return dots ? size : begin;
}

u9_err u9_lock_file_beside(const char *log, char *out, size_t size)
{
    static const char name[] = ".u9-numbers", above[] = "/../";
    size_t n = strlen(log);
    if (n == 0) return U9_ARG;
    while (n > 0 && log[n - 1] == '/') n--;
    size_t keep = last_name(log, n), more = keep == n ? sizeof above - 1 : 0;
    if (keep + more + sizeof name > size) return U9_LIMIT;
    memcpy(out, log, keep);
    memcpy(out + keep, above, more);
    memcpy(out + keep + more, name, sizeof name);
    return U9_OK;
}
