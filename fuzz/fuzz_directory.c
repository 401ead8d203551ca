/*
 * fuzz/fuzz_directory.c: any files as a log's directory: segments, indexes beside them, mark, strays. [L-2] [K-4] [M-4] [Q-1] [U-3] [Y-5]
 *
 * The input is files, each behind a head of 16 bytes: "=the next file=", of which the last byte is what it is: bits 0-3 its number, bits
 * 4-6 0-2 a segment, 3-4 the index beside it, 5 the mark, 6 a stray of another name, 7 a segment by another name.
 *
 * Whatever they are: a check by one thread and by three tell the same, and hash no more than a bound that grows with the files;
 * the way back is the way forward; what a lookup finds is a record that reading shows, under that key, and where
 * the indexes are proven, or dropped, the newest one; a snapshot holds what the log holds; what a repair changed is put back byte for byte.
 */
#include "format/base/bytes.h"
#include "format/base/hash_blocks.h"
#include "format/frame/disk.h"
#include "fuzz/folder.h"

#include <u9.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 16, FILES = 12, EVENTS = 4096, KEYS = 8 };

static const uint8_t head[HEAD] = "=the next file=";

/* All that is hashed goes this way: the Makefile links it so. */
static _Atomic uint64_t hashed;
void __real_u9i_sha_blocks(u9i_lane *const *lanes, unsigned count, size_t blocks);
void __wrap_u9i_sha_blocks(u9i_lane *const *lanes, unsigned count, size_t blocks);
void __real_u9i_hash_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks);
void __wrap_u9i_hash_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks);

void __wrap_u9i_sha_blocks(u9i_lane *const *lanes, unsigned count, size_t blocks)
{
    hashed += (uint64_t)count * blocks * U9I_HASH_BLOCK;
    __real_u9i_sha_blocks(lanes, count, blocks);
}

void __wrap_u9i_hash_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks)
{
    hashed += blocks * U9I_HASH_BLOCK;
    __real_u9i_hash_blocks(state, bytes, blocks);
}

static char snap_path[3100];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (!u9i_sha_width()) must(u9i_hash_force(U9I_HASH_PLAIN));
    snprintf(snap_path, sizeof snap_path, "%s/snap", make_folder());
    return 0;
}

/* The next file of an input; NULL: there is none. */
static const uint8_t *next_file(const uint8_t *data, size_t size, size_t *file_size)
{
    if (size < HEAD || memcmp(data, head, HEAD - 1) != 0) return NULL;
    const uint8_t *end = memmem(data + HEAD, size - HEAD, head, HEAD - 1);
    *file_size = end ? (size_t)(end - data) - HEAD : size - HEAD;
    return data + HEAD;
}

static void name_file(uint8_t what, char *path, size_t size)
{
    unsigned number = what & 15, kind = what >> 4 & 7;
    if (kind == 5) snprintf(path, size, "%s/.mark", log_path);
    else if (kind == 6) snprintf(path, size, "%s/stray-%u", log_path, number);
    else if (kind == 7) snprintf(path, size, "%s/%016x.u9", log_path, number * 1000);
    else snprintf(path, size, "%s/%016x.u9%s", log_path, number, kind >= 3 ? "x" : "");
}

/* Puts the files in place; returns how many bytes are in segments and indexes, and *files how many these are. */
static size_t place(const uint8_t *data, size_t size, unsigned *files)
{
    const uint8_t *bytes;
    size_t n, all = 0;
    clear(log_path);
    must(mkdir(log_path, 0700) == 0);
    *files = 0;
    for (; *files < FILES && (bytes = next_file(data, size, &n)) != NULL; data = bytes + n) {
        char path[3200];
        size -= HEAD + n;
        name_file(data[HEAD - 1], path, sizeof path);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
        close(fd);
        all += n;
        ++*files;
    }
    return all;
}

static void mix(uint64_t *fold, uint64_t v)
{
    *fold = (*fold ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    *fold ^= *fold >> 29;
}

static void note(void *ctx, const u9_damage *d)
{
    must(d->begin <= d->end && d->path && d->path[0] && d->reason != U9_R_NONE);
    mix(ctx, d->begin);
    mix(ctx, d->end);
    mix(ctx, d->lost + 7 * d->segment + 31 * (uint64_t)d->reason + 1000 * (uint64_t)d->verdict);
}

static u9_err check(unsigned threads, u9_report *report, uint64_t *told)
{
    u9_check_options o = {.size = sizeof o, .on_damage = note, .ctx = told, .threads = threads};
    *report = (u9_report){.size = sizeof *report};
    *told = 0;
    return u9_check(log_path, &o, report, NULL);
}

/* What a walk shows, event after event, and some of its keys, each with the newest record that has it. */
typedef struct trace {
    uint64_t events[EVENTS];
    size_t count;
    uint8_t keys[KEYS][512];
    size_t key_sizes[KEYS], key_count;
    uint64_t newest[KEYS];
    bool version; /* of a later version: what is behind it is not shown */
} trace;

static void trace_record(trace *t, const u9_record *r)
{
    uint64_t fold = r->ordinal;
    mix(&fold, r->at);
    mix(&fold, r->segment + (r->size << 20));
    if (t->count < EVENTS) t->events[t->count] = fold;
    t->count++;
    for (size_t i = 0; i < t->key_count; i++)
        if (t->key_sizes[i] == r->key.size && memcmp(t->keys[i], r->key.data, r->key.size) == 0) {
            t->newest[i] = r->ordinal;
            return;
        }
    if (t->key_count == KEYS || r->key.size == 0 || r->key.size > sizeof t->keys[0]) return;
    memcpy(t->keys[t->key_count], r->key.data, r->key.size);
    t->newest[t->key_count] = r->ordinal;
    t->key_sizes[t->key_count++] = r->key.size;
}

static u9_log *open_log(const char *path)
{
    static uint64_t told; /* who is told of damage is not stopped by it */
    u9_log *log;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .on_damage = note, .on_damage_ctx = &told};
    return u9_log_open(path, &o, &log, NULL) == U9_OK ? log : NULL;
}

/* Reads all, forward or back. False: there is no log. */
static bool walk(const char *path, bool back, trace *t)
{
    u9_cursor *c = NULL;
    u9_record r;
    u9_err err;
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_log *log = open_log(path);
    t->count = t->key_count = 0;
    t->version = false;
    if (log == NULL) return false;
    must(u9_cursor_open(log, NULL, &c, NULL) == U9_OK);
    must(!back || u9_cursor_seek(c, &end) == U9_OK);
    while ((err = back ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r)) == U9_OK ||
           err == U9_VERSION) {
        t->version |= err != U9_OK;
        if (err == U9_OK) trace_record(t, &r);
    }
    must(err == U9_END);
    u9_cursor_close(c);
    must(u9_log_close(log, NULL) == U9_OK);
    return true;
}

/* `exact`: what is found must be the newest, and nothing may be missed. [K-1] */
static void look_up(const trace *t, bool exact)
{
    static uint8_t buf[1 << 16];
    u9_log *log = open_log(log_path);
    for (size_t i = 0; log && i < t->key_count; i++) {
        u9_key key = {.data = t->keys[i], .size = t->key_sizes[i]};
        u9_record r = {.ordinal = 0};
        u9_err err = u9_log_get(log, &key, buf, sizeof buf, &r, NULL);
        if (err == U9_OK)
            must(r.key.size == key.size && memcmp(r.key.data, key.data, key.size) == 0);
        if (err == U9_OK) must(!exact || r.ordinal == t->newest[i]);
        must(!exact || (err != U9_ABSENT && err != U9_CORRUPT));
    }
    if (log) must(u9_log_close(log, NULL) == U9_OK);
}

/* Indexes are made, proven, and dropped; whatever becomes of them, they change no answer. [K-4] */
static void index_it(const trace *t, bool plain)
{
    u9_index_options o = {.size = sizeof o};
    u9_index_report r = {.size = sizeof r};
    look_up(t, false);
    if (u9_indexes_build(log_path, &o, &r, NULL) == U9_OK &&
        u9_indexes_check(log_path, &o, &r, NULL) == U9_OK)
        look_up(t, !plain && r.wrong == 0 && !t->version);
    if (u9_indexes_drop(log_path, &o, &r, NULL) == U9_OK) look_up(t, false);
}

/* What a repair changes, --undo takes back. [U-3] */
static void mend_it(const uint8_t *data, size_t size)
{
    static uint8_t bytes[1 << 20];
    const uint8_t *want;
    size_t n;
    u9_repair_options o = {.size = sizeof o, .all = 1};
    u9_repair_report r = {.size = sizeof r};
    if (u9_repair(log_path, &o, &r, NULL) != U9_OK) return;
    must(r.regained == 0 || r.steps > 0);
    if (r.steps == 0) return;
    must(u9_undo(log_path, NULL, 0, NULL, NULL) == U9_OK);
    for (unsigned i = 0; i < FILES && (want = next_file(data, size, &n)) != NULL; i++) {
        char path[3200], later[3200];
        const uint8_t *behind = want + n;
        size_t rest = size - HEAD - n, m;
        bool again = false; /* a later file had the same name, or it is an index, which an undo takes away */
        name_file(data[HEAD - 1], path, sizeof path);
        again = path[strlen(path) - 1] == 'x';
        for (const uint8_t *p = behind; next_file(p, rest, &m) != NULL;
             p += HEAD + m, rest -= HEAD + m) {
            name_file(p[HEAD - 1], later, sizeof later);
            again |= strcmp(path, later) == 0;
        }
        int fd = again ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        must(again || fd >= 0);
        if (fd >= 0 && n <= sizeof bytes)
            must(read(fd, bytes, sizeof bytes) == (ssize_t)n && memcmp(bytes, want, n) == 0);
        if (fd >= 0) close(fd);
        size -= HEAD + n;
        data = behind;
    }
}

/* A snapshot shows what the log shows, where nothing of it is damaged. */
static void copy_it(const trace *t, const u9_report *report)
{
    static trace copied;
    u9_snapshot_options o = {.size = sizeof o};
    u9_snapshot_report r = {.size = sizeof r};
    u9_log *log = open_log(log_path);
    if (log == NULL) return;
    u9_err err = u9_log_snapshot(log, snap_path, &o, &r, NULL);
    must(u9_log_close(log, NULL) == U9_OK);
    if (err == U9_OK && report->verdict <= U9_V_TORN && walk(snap_path, false, &copied) &&
        t->count <= EVENTS) {
        must(copied.count == t->count);
        must(memcmp(copied.events, t->events, t->count * sizeof t->events[0]) == 0);
    }
    clear(snap_path);
    strcat(snap_path, ".partial");
    clear(snap_path);
    snap_path[strlen(snap_path) - 8] = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static trace on, back;
    u9_report one, three;
    uint64_t told_one, told_three;
    unsigned files;
    size_t all = place(data, size, &files);
    hashed = 0;
    u9_err err = check(0, &one, &told_one);
    must(hashed <= 32 * (uint64_t)all + files * (UINT64_C(5) << 26) + (1 << 20));
    must(check(3, &three, &told_three) == err && told_one == told_three);
    must(memcmp(&one, &three, sizeof one) == 0);
    if (walk(log_path, false, &on) && walk(log_path, true, &back) && on.count <= EVENTS) {
        must(on.count == back.count);
        for (size_t i = 0; i < on.count; i++) must(on.events[i] == back.events[on.count - 1 - i]);
        must(err != U9_OK || on.version || on.count == one.records);
        unsigned turn = (unsigned)(told_one ^ on.count ^ size) % 3;
        if (turn == 0) index_it(&on, one.plain || one.verdict > U9_V_TORN);
        if (turn == 1) copy_it(&on, &one);
        if (turn == 2) mend_it(data, size);
    }
    clear(log_path);
    return 0;
}

/* The mutator: a byte of a frame changes, and the hashes over it are mended; or a file becomes another one. */

static unsigned state;

static unsigned draw(size_t below)
{
    state = state * 1664525u + 1013904223u;
    return below ? (unsigned)((state >> 8) % below) : 0;
}

static void change_frame(uint8_t *file, size_t size)
{
    size_t frames[64], count = 0;
    u9i_secret secret = {.lost = false};
    if (size < 200) return;
    (void)u9i_secret_init(&secret, file + 8);
    for (size_t at = 32; at + 144 <= size && count < 64; at += 16)
        if (memcmp(file + at + 48, u9i_frame_magic, 8) == 0) frames[count++] = at;
    if (count == 0) return;
    uint8_t *p = file + frames[draw(count)];
    uint64_t length = u9i_get_be(p + 56, 8);
    if (length < 80 || length > size - (size_t)(p - file) - 64) return;
    size_t behind = draw(2) ? draw((size_t)length) : (size_t)length - 1 - draw(80);
    p[64 + behind] = (uint8_t)(draw(2) ? draw(256) : p[64 + behind] ^ 1u << draw(8));
    if (draw(8) == 0) return;
    memcpy(p, secret.boundary, 16);
    u9i_hash(p + 64, (size_t)length, p + 16);
    u9i_sign(p + 16, secret.bytes, p + 32);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint8_t *heads[FILES];
    size_t sizes[FILES], n;
    unsigned count = 0;
    state = seed;
    const uint8_t *p = data, *file;
    for (size_t left = size; count < FILES && (file = next_file(p, left, &n)) != NULL;
         p = file + n) {
        heads[count] = data + (p - data);
        sizes[count++] = n;
        left -= HEAD + n;
    }
    if (count == 0 || draw(6) == 0) return LLVMFuzzerMutate(data, size, max_size);
    unsigned which = draw(count);
    if (draw(5) > 0) {
        for (unsigned k = 1 + draw(3); k > 0; k--) change_frame(heads[which] + HEAD, sizes[which]);
        return size;
    }
    size_t whole = HEAD + sizes[which], at = (size_t)(heads[which] - data);
    switch (draw(4)) {
    case 0:
        heads[which][HEAD - 1] =
            (uint8_t)(draw(2) ? heads[which][HEAD - 1] ^ 1u << draw(7) : draw(128));
        break;
    case 1: /* it goes */
        memmove(heads[which], heads[which] + whole, size - at - whole);
        return size - whole;
    case 2: /* it is there twice */
        if (size + whole > max_size) break;
        memmove(heads[which] + whole, heads[which], size - at);
        heads[which][HEAD - 1] = (uint8_t)(heads[which][HEAD - 1] ^ 1u << draw(7));
        return size + whole;
    case 3: /* it is cut */
        if (sizes[which] < 64) break;
        n = draw(sizes[which]);
        memmove(heads[which] + whole - n, heads[which] + whole, size - at - whole);
        return size - n;
    }
    return size;
}
