/*
 * tests/engine/test_hardship.c: whatever is done with a log, while any one allocation, or all from one on, come to
 * nothing, or calls of the system: that is told, no memory is kept, nothing is shown that is not so, and the log is one
 * with which the same can be done again.
 *
 * A deed is one thing that users do, from opening to closing. A place is a log as it may be found. The file is long as it has
 * one function for each of these, a few lines; what is done with them stands behind the tables.
 */
#include "engine/check/checker.h"
#include "format/base/bytes.h"
#include "tests/engine/link/ship.h"
#include "tests/engine/log/trimmed.h"
#include "tests/engine/places.h"
#include "tests/engine/scarce.h"
#include "tests/must.h"
#include "tests/plain_file.h"
#include "tests/sanitized.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/carve.h>
#include <u9/cursor.h>
#include <u9/follow.h>
#include <u9/generator.h>
#include <u9/guard.h>
#include <u9/index.h>
#include <u9/large.h>
#include <u9/lookup.h>
#include <u9/merge.h>
#include <u9/repair.h>
#include <u9/scan.h>
#include <u9/snapshot.h>
#include <u9/tier.h>
#include <u9/transit.h>
#include <u9/trim.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILLER = 8000, LARGE = 1200000, KEYS = 6, NEVER_ENDS = 20000 };

/* Deeds */

typedef u9_err deed_fn(uint64_t *told);

static u9_fault fault;
static u9_log *handle;

/* How the place is, and how it is read. */
static struct {
    bool numbered; /* keys are in order: these are some of them, and the last is none */
    uint8_t keys[KEYS][16];
    bool frugal; /* nothing is kept of what is looked up, and all is hashed each time */
    bool lz4;    /* records are compressed; */
    bool mends;  /* damaged headers are mended */
} way;

static u9_err open_as(u9_mode mode, const u9_options *more)
{
    u9_options o = more ? *more : small_options();
    if (way.frugal) o.cache_memory = 1;
    if (way.frugal) o.verify = U9_VERIFY_ALWAYS;
    if (mode == U9_READ) o.mend = way.mends;
    o.mode = mode;
    handle = NULL;
    return u9_log_open(at("log"), &o, &handle, &fault);
}

/* The first error of several; what a cursor or a lookup finds is none. */
static u9_err first_of(u9_err a, u9_err b)
{
    return a < 0 ? a : b;
}

/* What is told of the deed is told of its first error. */
static u9_err done(u9_err err)
{
    u9_fault closing;
    if (err < 0 && fault.err != err) u9_log_fault(handle, &fault);
    u9_err closed = u9_log_close(handle, &closing);
    if (err >= 0 && closed < 0) fault = closing;
    return first_of(err, closed);
}

static void end_cursor(u9_cursor *c, u9_err err)
{
    if (err < 0 && fault.err != err) u9_cursor_fault(c, &fault);
    u9_cursor_close(c);
}

static u9_err done_with(u9_cursor *c, u9_err err)
{
    end_cursor(c, err);
    return done(err);
}

static bool goes_on(u9_err err)
{
    return err >= 0 || err == U9_CORRUPT;
}

/* What was shown, in a sum that does not depend on the order. */
static uint64_t mix(const u9_record *r)
{
    uint64_t sum =
        (r->ordinal + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ r->size * UINT64_C(0xff51afd7ed558ccd);
    for (size_t i = 0; r->values && i < r->values_size; i += 97) sum = sum * 31 + r->values[i];
    return sum ^ sum >> 31;
}

/* What is damage, and gone past; but for files that changed under the cursor, by which it has lost its place. */
static bool is_damage(const u9_cursor *c, u9_err err)
{
    u9_fault why;
    u9_cursor_fault(c, &why);
    return err == U9_ABSENT || (err == U9_CORRUPT && strcmp(why.rule, "Q-1") != 0);
}

/* All that comes one way. Damage is gone past, and told in the end. */
static u9_err walk(u9_cursor *c, bool back, uint64_t *told)
{
    u9_record r;
    u9_err err, worst = U9_OK;
    for (unsigned i = 0; (err = back ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r)) != U9_END;
         i++) {
        MUST(i < NEVER_ENDS);
        if (err == U9_OK || err == U9_LIMIT) *told += mix(&r);
        else if (is_damage(c, err)) worst = U9_CORRUPT;
        else return err;
    }
    return worst;
}

static u9_err read_on(uint64_t *told)
{
    u9_cursor *c;
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_cursor_open(handle, NULL, &c, &fault);
    if (err != U9_OK) return done(err);
    err = walk(c, false, told);
    return done_with(c, err);
}

/* The deed in another way: `*turn` is one of `way`. */
static u9_err turned(bool *turn, deed_fn *deed, uint64_t *told)
{
    *turn = true;
    u9_err err = deed(told);
    *turn = false;
    return err;
}

static u9_err read_mended(uint64_t *told)
{
    return turned(&way.mends, read_on, told);
}

static u9_err read_back(uint64_t *told)
{
    u9_cursor *c;
    char text[U9_CURSOR_TEXT_SIZE];
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_seek saved = {.size = sizeof saved, .kind = U9_SEEK_SAVED, .text = text};
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_log_seek(handle, &end, &c, &fault);
    if (err != U9_OK) return done(err);
    err = u9_cursor_save(c, text, sizeof text);
    u9_err walked = err == U9_OK ? walk(c, true, told) : err;
    if (err == U9_OK) err = goes_on(walked) ? first_of(walked, u9_cursor_seek(c, &saved)) : walked;
    if (err == U9_OK) err = walk(c, false, told); /* the end: nothing */
    return done_with(c, err);
}

static u9_key key_of(unsigned i)
{
    static char keys[KEYS][8];
    static const char *const names[KEYS] = {"k000", "k007", "z", "k021", "k039", "none"};
    if (way.numbered) return (u9_key){.data = way.keys[i], .size = sizeof way.keys[i]};
    snprintf(keys[i], sizeof keys[i], "%s", names[i]);
    return (u9_key){.data = keys[i], .size = strlen(keys[i])};
}

/* A lookup's answer, which is none of the answers that are wrong. */
static u9_err answer(u9_err err, const u9_record *r, uint64_t *told)
{
    if (err == U9_OK || err == U9_LIMIT) *told += mix(r);
    return err == U9_ABSENT || err == U9_LIMIT ? U9_OK : err;
}

static u9_err get(uint64_t *told)
{
    static uint8_t room[FILLER + 100];
    u9_record r;
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    for (unsigned i = 0; i < KEYS && goes_on(err); i++) {
        u9_key key = key_of(i);
        err = first_of(
            err,
            answer(u9_log_get(handle, &key, room, i == 3 ? 5 : sizeof room, &r, &fault), &r, told));
    }
    return done(err);
}

/* So often that they make a table of keys. */
static u9_err get_often(uint64_t *told)
{
    static uint8_t room[FILLER + 100];
    u9_record r;
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    for (unsigned i = 0; i < 400 && goes_on(err); i++) {
        u9_key key = key_of(i % KEYS);
        err = first_of(err, answer(u9_log_get(handle, &key, room, sizeof room, &r, &fault), &r, told));
    }
    return done(err);
}

static u9_err get_mended(uint64_t *told)
{
    return turned(&way.mends, get, told);
}

static u9_err get_many(uint64_t *told)
{
    static uint8_t rooms[KEYS][FILLER + 100];
    u9_lookup all[KEYS];
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    for (unsigned i = 0; i < KEYS; i++)
        all[i] = (u9_lookup){.key = key_of(i), .buf = rooms[i], .cap = sizeof rooms[i]};
    err = u9_log_get_many(handle, all, KEYS, &fault);
    for (unsigned i = 0; i < KEYS && err == U9_OK; i++)
        err = first_of(err, answer(all[i].err, &all[i].record, told));
    return done(err);
}

static u9_err get_many_mended(uint64_t *told)
{
    return turned(&way.mends, get_many, told);
}

static int add_version(void *told, const u9_record *r)
{
    *(uint64_t *)told += mix(r);
    return 0;
}

static u9_err versions(uint64_t *told)
{
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    for (unsigned i = 1; i < KEYS && goes_on(err); i += 2) {
        u9_key key = key_of(i);
        u9_err found = u9_log_versions(handle, &key, add_version, told, &fault);
        err = first_of(err, found == U9_ABSENT ? U9_OK : found);
    }
    return done(err);
}

static u9_err seek(uint64_t *told)
{
    u9_cursor *c;
    u9_record r;
    u9_seek to[3] = {{.kind = U9_SEEK_ORDINAL, .number = 17},
                     {.kind = U9_SEEK_TIME},
                     {.kind = U9_SEEK_ORDINAL, .number = 38}};
    u9_bounds bounds = {.size = sizeof bounds, .from = 3, .to = 9, .until_us = U9_NOWHERE};
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_cursor_open(handle, NULL, &c, &fault);
    if (err != U9_OK) return done(err);
    for (unsigned i = 0; i < 3 && err == U9_OK; i++) {
        to[i].size = sizeof to[i];
        err = u9_cursor_seek(c, &to[i]);
        if (err == U9_OK) err = u9_cursor_prev(c, &r);
        if (err == U9_OK) *told += mix(&r);
        if (err == U9_END) err = U9_OK;
    }
    if (err == U9_OK) err = u9_cursor_within(c, &bounds);
    if (err == U9_OK) err = walk(c, false, told);
    return done_with(c, err);
}

/* Three steps on, two back, until the end; then the other way round. */
static u9_err waver(uint64_t *told)
{
    u9_cursor *c;
    u9_record r;
    u9_err worst = U9_OK, err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_cursor_open(handle, NULL, &c, &fault);
    if (err != U9_OK) return done(err);
    for (unsigned back = 0, i = 0; back < 2; i++) {
        bool turned = i % 5 > 2;
        err = turned != (back == 1) ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r);
        MUST(i < NEVER_ENDS);
        if (err == U9_OK || err == U9_LIMIT) *told = *told * 3 + mix(&r);
        else if (err == U9_CORRUPT || err == U9_ABSENT) worst = U9_CORRUPT;
        else if (err == U9_END) back += !turned;
        else break;
    }
    return done_with(c, err == U9_END ? worst : err);
}

static u9_err waver_mended(uint64_t *told)
{
    return turned(&way.mends, waver, told);
}

/* The second file of the log, alone: from a place in it, a record of it in pieces, and both ways. */
static u9_err read_single(uint64_t *told)
{
    static uint8_t piece[FILLER];
    u9_cursor *c;
    u9_record r;
    u9_reading *reading;
    size_t got = 0;
    u9_options o = small_options();
    u9_seek place = {.size = sizeof place, .kind = U9_SEEK_OFFSET, .segment = 2, .offset = 9000};
    o.mode = U9_READ;
    u9_err err = u9_log_open(segment_path(at("log"), 2), &o, &handle, &fault);
    if (err != U9_OK) return err;
    err = u9_log_seek(handle, &place, &c, &fault);
    if (err != U9_OK) return done(err);
    err = u9_cursor_next(c, &r);
    if (err == U9_OK) {
        err = u9_record_open(handle, &r, &reading, &fault);
        if (err == U9_OK) {
            err = u9_record_read(reading, 3, piece, sizeof piece, &got, &fault);
            u9_record_close(reading);
        }
        *told = got + piece[100];
    }
    if (err == U9_OK) err = first_of(walk(c, true, told), walk(c, false, told));
    return done_with(c, err);
}

static u9_err get_frugally(uint64_t *told)
{
    return turned(&way.frugal, get, told);
}

static u9_err get_many_frugally(uint64_t *told)
{
    return turned(&way.frugal, get_many, told);
}

static u9_err versions_frugally(uint64_t *told)
{
    return turned(&way.frugal, versions, told);
}

static int is_late(void *ctx, const u9_record *r)
{
    return r->ordinal >= *(const uint64_t *)ctx;
}

/* The record behind what was sought, and where the cursor then is, in words. */
static u9_err step_and_save(u9_cursor *c, u9_err err, uint64_t *told)
{
    char text[U9_CURSOR_TEXT_SIZE];
    u9_record r;
    if (err == U9_OK) err = u9_cursor_save(c, text, sizeof text);
    for (const char *p = text; err == U9_OK && *p; p++) *told = *told * 31 + (uint8_t)*p;
    if (err == U9_OK) err = u9_cursor_next(c, &r);
    if (err == U9_OK) *told += mix(&r);
    return err == U9_END || err == U9_CORRUPT ? U9_OK : err;
}

/* By a key, by a test, by a place in a file, and within times. */
static u9_err seek_all_ways(uint64_t *told)
{
    u9_cursor *c;
    uint64_t late = 13;
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_KEY, .key = key_of(2)};
    u9_seek place = {.size = sizeof place, .kind = U9_SEEK_OFFSET, .segment = 2, .offset = 9000};
    u9_bounds bounds = {.size = sizeof bounds,
                        .from = 2,
                        .to = U9_NOWHERE,
                        .since_us = 1,
                        .until_us = U9_NOWHERE - 1};
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_cursor_open(handle, NULL, &c, &fault);
    if (err != U9_OK) return done(err);
    if (way.numbered) err = step_and_save(c, u9_cursor_seek(c, &to), told);
    if (err == U9_OK) err = step_and_save(c, u9_cursor_bisect(c, is_late, &late), told);
    if (err == U9_OK) err = step_and_save(c, u9_cursor_seek(c, &place), told);
    if (err == U9_OK) err = u9_cursor_within(c, &bounds);
    if (err == U9_OK) err = step_and_save(c, u9_cursor_seek(c, &end), told);
    bounds.to = 17;
    if (err == U9_OK) err = u9_cursor_within(c, &bounds);
    if (err == U9_OK) err = u9_cursor_seek(c, &end);
    if (err == U9_OK) err = walk(c, true, told);
    return done_with(c, err);
}

static u9_err split(uint64_t *told)
{
    u9_split_range *ranges = NULL;
    size_t count = 0;
    u9_tally tally = {0};
    u9_err worst = U9_OK, err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_log_split(handle, 5, 0, &ranges, &count, &fault);
    for (size_t i = 0; err == U9_OK && i < count; i++) {
        u9_cursor *c;
        u9_record r;
        err = u9_range_open(handle, &ranges[i], &c, &fault);
        if (err != U9_OK) break;
        while ((err = u9_cursor_next(c, &r)) != U9_END) {
            if (err == U9_OK || err == U9_LIMIT) err = u9_tally_record(&tally, handle, &r, &fault);
            else if (err == U9_CORRUPT || err == U9_ABSENT) worst = U9_CORRUPT, err = U9_OK;
            if (err != U9_OK) break;
        }
        if (err == U9_END) err = U9_OK;
        end_cursor(c, err);
    }
    u9_split_free(ranges);
    *told = tally.low ^ tally.high ^ tally.records;
    return done(err == U9_OK ? worst : err);
}

static u9_err check_with(unsigned threads, uint64_t *told)
{
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log")), .threads = threads};
    u9_err err = u9_check(at("log"), &o, &r, &fault);
    *told = r.records + 1000 * r.damages + 1000000 * r.lost;
    return err == U9_OK && r.verdict > U9_V_TORN ? U9_CORRUPT : err;
}

static u9_err check(uint64_t *told)
{
    return check_with(0, told);
}

static int go_on(void *ctx, uint64_t done, uint64_t of)
{
    (void)ctx;
    return done > of;
}

static void add_stretch(void *told, const u9_stretch *s)
{
    *(uint64_t *)told += s->end - s->begin;
}

static u9_err check_in_pieces(uint64_t *told)
{
    uint64_t bytes = 0;
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log")), .on_progress = go_on, .on_stretch = add_stretch, .ctx = &bytes};
    u9_err err = u9i_check_in_pieces(at("log"), &o, 9000, &r, &fault);
    *told = r.records + 1000 * r.damages + 1000000 * r.lost + (err == U9_OK ? bytes << 32 : 0);
    return err == U9_OK && r.verdict > U9_V_TORN ? U9_CORRUPT : err;
}

static u9_err salvage(uint64_t *told)
{
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    u9_err err = u9_salvage(at("log"), at("out"), &o, &r, told, &fault);
    return err == U9_OK && r.verdict > U9_V_TORN ? U9_CORRUPT : err;
}

static u9_err index_with(uint64_t *told, u9_err (*call)(const char *, const u9_index_options *,
                                                        u9_index_report *, u9_fault *))
{
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = io_of(at("log")), .memory = 64 << 10};
    u9_err err = call(at("log"), &o, &r, &fault);
    *told = r.entries + 1000 * r.wrong;
    return err;
}

static u9_err index_build(uint64_t *told)
{
    return index_with(told, u9_indexes_build);
}

static u9_err index_check(uint64_t *told)
{
    return index_with(told, u9_indexes_check);
}

static u9_err snapshot(uint64_t *told)
{
    u9_snapshot_report r = {.size = sizeof r};
    u9_snapshot_options o = {.size = sizeof o, .copy = 1};
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_log_snapshot(handle, at("out"), &o, &r, &fault);
    *told = r.next_ordinal;
    return done(err == U9_OK && r.verdict > U9_V_TORN ? U9_CORRUPT : err);
}

static u9_err over_remains(deed_fn *deed, uint64_t *told)
{
    remove_log(at("out.partial"));
    copy_log(at("remains"), at("out.partial"));
    return deed(told);
}

/* An earlier run was broken off. */
static u9_err salvage_over_remains(uint64_t *told)
{
    return over_remains(salvage, told);
}

/* The same: it goes on. */
static u9_err snapshot_on_remains(uint64_t *told)
{
    return over_remains(snapshot, told);
}

/* What the log has lost since stays in it. */
static u9_err snapshot_on_whole(uint64_t *told)
{
    remove_log(at("out"));
    copy_log(at("remains"), at("out"));
    return snapshot(told);
}

/* All of it is at both places together then: so many records, if by now with an end that a stop left. */
static u9_err tier(uint64_t *told)
{
    u9_tier_options o = {.size = sizeof o, .to = at("tiered"), .io = io_of(at("log")), .keep_bytes = 1, .verify = 1};
    u9_tiered d = {.size = sizeof d};
    u9_err err = u9_tier(at("log"), &o, &d, &fault);
    if (err != U9_OK) return err;
    u9_report r = {.size = sizeof r};
    u9_check_options whole = {.size = sizeof whole, .io = o.io};
    err = u9_check(at("log"), &whole, &r, &fault);
    *told = r.records;
    return err == U9_OK && r.damages > 0 ? U9_CORRUPT : err;
}

static u9_err merge_with(size_t memory, uint64_t *told)
{
    char first[3400], second[3400];
    const char *both[] = {strcpy(first, at("log")), strcpy(second, at("second"))};
    u9_merge_report r = {.size = sizeof r};
    u9_merge_options o = {
        .size = sizeof o, .io = io_of(at("log")), .memory = memory, .segment_size = 65536};
    u9_err err = u9_merge(at("out"), both, 2, &o, &r, &fault);
    *told = r.records;
    return err == U9_OK && r.verdict > U9_V_TORN ? U9_CORRUPT : err;
}

static u9_err merge(uint64_t *told)
{
    return merge_with(64 << 20, told);
}

/* Records that do not fit are read once more for each that is to be done with them. */
static u9_err merge_frugally(uint64_t *told)
{
    return merge_with(1 << 20, told);
}

static void count_carved(void *told, const u9_carved *c)
{
    *(uint64_t *)told += c->records;
}

static u9_err carve(uint64_t *told)
{
    uint64_t records = 0;
    u9_carve_report r = {.size = sizeof r};
    u9_carve_options o = {.size = sizeof o, .io = io_of(at("log")), .on_carved = count_carved, .ctx = &records};
    u9_err err = u9_carve(at("image"), at("out"), &o, &r, &fault);
    *told = r.frames;
    return err == U9_OK && r.unread + r.broken > 0 ? U9_CORRUPT : err;
}

static u9_err repair(uint64_t *told)
{
    uint64_t undone;
    u9_repair_report r = {.size = sizeof r};
    u9_repair_options o = {.size = sizeof o, .io = io_of(at("log")), .all = 1, .indexes = 1};
    u9_err err = u9_repair(at("log"), &o, &r, &fault);
    *told = r.then <= U9_V_TORN;
    if (err == U9_OK && r.steps > 0) err = u9_undo(at("log"), io_of(at("log")), 0, &undone, &fault);
    if (err == U9_OK && r.steps > 0) err = u9_repair(at("log"), &o, &r, &fault);
    return err;
}

/* Bits that were flipped in payloads are sought. */
static u9_err heal(uint64_t *told)
{
    u9_repair_report r = {.size = sizeof r};
    u9_repair_options o = {.size = sizeof o, .io = io_of(at("log")), .all = 1, .heal_ms = 100000};
    u9_err err = u9_repair(at("log"), &o, &r, &fault);
    *told = r.then <= U9_V_TORN; /* a slot of the mark that cannot be read is a note */
    return err == U9_OK && r.then > U9_V_TORN ? U9_CORRUPT
                                              : err; /* what cannot be read is not searched */
}

static u9_err send_and_receive(uint64_t *told)
{
    int fd = memfd_create("stream", MFD_CLOEXEC);
    u9_options to = small_options();
    u9_ship_report r = {.size = sizeof r};
    u9_send_options s = {.size = sizeof s, .out = fd, .in = -1};
    u9_recv_options v = {.size = sizeof v, .in = fd, .out = -1, .log = &to};
    MUST(fd >= 0);
    u9_err err = open_as(U9_READ, NULL);
    if (err == U9_OK) err = done(u9_log_send(handle, &s, &r, &fault));
    if (err == U9_OK) MUST(lseek(fd, 0, SEEK_SET) == 0);
    if (err == U9_OK) err = u9_log_recv(at("out"), &v, &r, &fault);
    *told = r.records;
    close(fd);
    return err;
}

static void add_damage(void *told, const u9_damage *d)
{
    *(uint64_t *)told += d->begin + 1;
}

static u9_err damages(uint64_t *told)
{
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_log_damages(handle, add_damage, told, &fault);
    return done(err == U9_OK && *told > 0 ? U9_CORRUPT : err);
}

/* Deeds of writers: what they append goes behind what is there. */

static u9_options rolling(void)
{
    u9_options o = small_options();
    o.kind = "rkey";
    return o;
}

static u9_err put(const char *key, size_t size)
{
    static const uint8_t nothing[FILLER];
    static uint8_t value[FILLER + 16];
    u9_builder b;
    u9_key k = {.data = key, .size = strlen(key)};
    u9_builder_init(&b, value, sizeof value);
    MUST(u9_build_bytes(&b, nothing, size) == U9_OK);
    return u9_log_append(handle, &k, value, b.size, NULL);
}

/* What the mark promises and is gone is given up. */
static u9_err accept_loss(uint64_t *told)
{
    u9_loss loss = {.size = sizeof loss};
    u9_err err = u9_accept_loss(at("log"), 1, io_of(at("log")), &loss, &fault);
    *told = loss.next_ordinal;
    return err;
}

static u9_err accept_tails(uint64_t *told)
{
    u9_tails tails = {.size = sizeof tails};
    u9_err err = u9_accept_tails(at("log"), 1, io_of(at("log")), &tails, &fault);
    *told = tails.count;
    return err;
}

/* Part of it was copied by a run that was broken off, which said nothing of that. */
static u9_err tier_on_remains(uint64_t *told)
{
    if (!exists(at("tiered"))) copy_log(at("remains"), at("tiered")); /* else what is not here any more may be there alone */
    return tier(told);
}

/* Of a log that was trimmed since the last one. */
static u9_err snapshot_behind_trim(uint64_t *told)
{
    u9_options o = rolling();
    u9_trim what = {.size = sizeof what, .before_key = {.data = "k015", .size = 4}};
    u9_trimmed gone = {.size = sizeof gone};
    u9_snapshot_options s = {.size = sizeof s};
    u9_snapshot_report r = {.size = sizeof r};
    u9_err err = open_as(U9_WRITE, &o);
    if (err != U9_OK) return err;
    err = u9_log_snapshot(handle, at("out"), &s, &r, &fault);
    if (err == U9_OK) err = u9_log_trim(handle, &what, &gone, &fault);
    if (err == U9_OK) err = put("s", FILLER);
    if (err == U9_OK) err = u9_log_snapshot(handle, at("out"), &s, &r, &fault);
    *told = r.next_ordinal;
    return done(err);
}

/* The second time only what is new is copied. */
static u9_err snapshot_twice(uint64_t *told)
{
    u9_options o = rolling();
    u9_snapshot_options s = {.size = sizeof s};
    u9_err err = open_as(U9_CREATE, &o);
    if (err != U9_OK) return err;
    for (unsigned i = 0; i < 3 && err == U9_OK; i++) {
        u9_snapshot_report r = {.size = sizeof r};
        s.verify_all = i == 2; /* nothing is new then */
        if (i < 2) err = put("s", FILLER);
        if (err == U9_OK) err = u9_log_snapshot(handle, at("out"), &s, &r, &fault);
        *told = r.next_ordinal;
    }
    return done(err);
}

/* What it finds is what it appended. */
static u9_err find_own(const char *name, size_t size)
{
    static uint8_t room[FILLER + 100];
    u9_record r;
    u9_key key = {.data = name, .size = strlen(name)};
    u9_err err = u9_log_get(handle, &key, room, sizeof room, &r, &fault);
    if (err == U9_OK) MUST(r.values_size >= size && r.values_size <= size + 9);
    MUST(err != U9_ABSENT);
    return err;
}

static u9_err append_and_get(uint64_t *told)
{
    u9_options o = rolling();
    uint64_t versions_told = 0;
    o.lz4 = 1;
    u9_err err = open_as(U9_CREATE, &o);
    if (err != U9_OK) return err;
    for (unsigned i = 0; i < 12 && err == U9_OK; i++) {
        char key[8];
        snprintf(key, sizeof key, "n%03u", i);
        err = put(key, i % 2 ? FILLER : 50);
        if (err == U9_OK && i % 5 == 0) err = u9_log_commit(handle, u9_log_next(handle) - 1);
        if (err == U9_OK && i % 4 != 0) err = find_own(key, i % 2 ? FILLER : 50);
    }
    u9_key key = {.data = "n003", .size = 4};
    if (err == U9_OK) err = u9_log_versions(handle, &key, add_version, &versions_told, &fault);
    *told = err == U9_OK && versions_told != 0;
    return done(err);
}

/* A record in pieces, another one that is given up, and the first one read from its middle on. */
static u9_err append_in_pieces(uint64_t *told)
{
    static uint8_t piece[LARGE / 3];
    uint8_t head[9];
    u9_append *a = NULL;
    u9_options o = rolling();
    u9_key key = {.data = "large", .size = 5};
    size_t n = u9_value_head(U9_BYTES, LARGE, head);
    u9_err err = open_as(U9_CREATE, &o);
    if (err != U9_OK) return err;
    err = u9_append_begin(handle, &key, 1, n + LARGE, &a, NULL);
    if (err != U9_OK) return done(err);
    err = u9_append_write(a, head, n);
    for (unsigned i = 0; i < 3 && err == U9_OK; i++) err = u9_append_write(a, piece, sizeof piece);
    if (err == U9_OK) err = u9_append_end(a, NULL);
    if (err != U9_OK) u9_append_abort(a);
    *told = err == U9_OK;
    return done(err);
}

/* From its middle on. */
static u9_err read_in_pieces(uint64_t *told)
{
    static uint8_t piece[LARGE], all[LARGE + 100];
    u9_key key = {.data = "large", .size = 5};
    u9_record r;
    u9_reading *reading = NULL;
    size_t got = 0;
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_log_get(handle, &key, NULL, 0, &r, &fault);
    MUST(err != U9_OK && err != U9_ABSENT);
    if (err == U9_LIMIT) err = u9_record_open(handle, &r, &reading, &fault);
    if (err == U9_OK) err = u9_record_read(reading, LARGE / 2, piece, LARGE / 4, &got, &fault);
    if (err == U9_OK) err = u9_record_read(reading, 9, piece, LARGE / 4, &got, &fault);
    *told = got;
    u9_record_close(reading);
    if (err == U9_OK) err = u9_log_get(handle, &key, all, sizeof all, &r, &fault);
    return done(err);
}

static u9_err trim(uint64_t *told)
{
    u9_options o = rolling();
    u9_trim what = {.size = sizeof what, .before_key = {.data = "k015", .size = 4}};
    u9_trimmed out = {.size = sizeof out};
    u9_err err = open_as(U9_WRITE, &o);
    if (err != U9_OK) return err;
    err = u9_log_trim(handle, &what, &out, &fault);
    *told = err == U9_OK;
    return done(err);
}

/* A follower beside a writer, who appends and rolls. */
static u9_err follow(uint64_t *told)
{
    u9_options o = rolling();
    u9_log *writer, *reader;
    u9_cursor *c = NULL, *own = NULL; /* the writer's, which sees what is not durable yet */
    uint64_t written = 0;
    u9_err err = open_as(U9_CREATE, &o);
    if (err != U9_OK) return err;
    writer = handle;
    err = u9_cursor_open(writer, NULL, &own, &fault);
    if (err == U9_OK) err = u9_cursor_follow(own, U9_SHOW_WRITTEN);
    if (err != U9_OK) return done_with(own, err);
    err = open_as(U9_READ, NULL);
    reader = handle;
    if (err == U9_OK) err = u9_cursor_open(reader, NULL, &c, &fault);
    if (err == U9_OK) err = u9_cursor_follow(c, U9_SHOW_DURABLE);
    if (err == U9_OK) (void)u9_cursor_event_fd(c);
    for (unsigned i = 0; i < 3 && err == U9_OK; i++) {
        handle = writer;
        for (unsigned k = 0; k < 4 && err == U9_OK; k++) err = put("f", FILLER);
        if (err == U9_OK) err = walk(own, false, &written);
        if (err < 0) u9_cursor_fault(own, &fault);
        if (err == U9_OK) err = u9_log_sync(writer);
        if (err == U9_OK) err = walk(c, false, told);
        if (err == U9_OK) err = u9_cursor_wait(c, 0);
        if (err == U9_AGAIN) err = U9_OK;
    }
    end_cursor(c, err);
    u9_cursor_close(own);
    err = first_of(err, u9_log_close(reader, NULL));
    handle = writer;
    return done(err);
}

/* A follower where nobody writes: at the end, back from there and on again, and sent there. */
static u9_err follow_alone(uint64_t *told)
{
    u9_cursor *c;
    u9_record r;
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_err err = open_as(U9_READ, NULL);
    if (err != U9_OK) return err;
    err = u9_cursor_open(handle, NULL, &c, &fault);
    if (err != U9_OK) return done(err);
    err = u9_cursor_follow(c, U9_SHOW_DURABLE);
    for (unsigned turn = 0; turn < 3 && goes_on(err); turn++) {
        if (turn == 1) err = first_of(err, u9_cursor_prev(c, &r));
        if (turn == 2) err = first_of(err, u9_cursor_seek(c, &end));
        if (goes_on(err)) err = first_of(err, walk(c, false, told));
        if (goes_on(err)) err = first_of(err, u9_cursor_wait(c, 0));
    }
    return done_with(c, err > U9_OK ? U9_OK : err);
}

static u9_err append_one(uint64_t *told)
{
    u9_options o = rolling();
    u9_err err = open_as(U9_CREATE, &o);
    if (err != U9_OK) return err;
    err = put("one", 10);
    *told = err == U9_OK;
    return done(err);
}

static const char *fresh_kind; /* of keys that the log makes; NULL: muids, or what it has */

/* Every way in which records are accepted and become durable; of a log that is not there yet, too. */
static u9_err append_all_ways(uint64_t *told)
{
    u9_options o = small_options();
    u9_stats stats = {.size = sizeof stats};
    o.kind = fresh_kind;
    u9_place places[3] = {{0}};
    u9_entry batch[3] = {{.values = "\x81", .size = 1}, {.values = "", .size = 0}, {.values = "\x81\x81", .size = 2}};
    o.memory = 4 << 20;
    o.index_memory = 1 << 20;
    o.policy = U9_POLICY_INTERVAL;
    o.interval_ms = 1;
    u9_err err = open_as(U9_CREATE, &o);
    if (err != U9_OK) return err;
    (void)u9_log_event_fd(handle);
    for (unsigned i = 0; i < 3 && err == U9_OK; i++) {
        err = u9_log_append_batch(handle, batch, 3, places);
        if (err == U9_OK) err = u9_log_commit_async(handle, places[1].ordinal);
        if (err == U9_OK) err = u9_log_commit(handle, places[0].ordinal);
        if (err == U9_AGAIN) err = U9_OK;
        if (err == U9_OK && i > 0) err = u9_log_sync(handle);
        if (err == U9_OK && i > 0) MUST(u9_log_durable(handle) > places[2].ordinal);
        if (err == U9_OK) err = u9_log_stats(handle, &stats);
    }
    *told = err == U9_OK && stats.records == 9;
    return done(err);
}

/* Keys under a number of a lock file's, one of them of a record in pieces. Where that is lost, nothing is appended. */
static u9_err append_under_numbers(uint64_t *told)
{
    u9_lock_file *file;
    u9_append *a = NULL;
    u9_options o = small_options();
    u9_lock_file_options of = {.size = sizeof of, .path = at("numbers")};
    u9_err err = u9_lock_file_new(&of, &file, &fault);
    if (err != U9_OK) return err;
    u9_generator numbers = u9_lock_file_generator(file);
    o.kind = "uid8";
    o.numbers = &numbers;
    err = open_as(U9_CREATE, &o);
    for (unsigned i = 0; i < 2 && err == U9_OK; i++) err = u9_log_append(handle, NULL, "\x81", 1, NULL);
    if (err == U9_OK) err = u9_append_begin(handle, NULL, 1, 1, &a, NULL);
    if (err == U9_OK) err = u9_append_write(a, "\x81", 1);
    if (err == U9_OK) err = u9_append_end(a, NULL);
    if (err != U9_OK) u9_append_abort(a);
    *told = err == U9_OK;
    if (handle) err = done(err == U9_AGAIN ? U9_IO : err);
    u9_lock_file_free(file);
    return err;
}

/* Where the log was copied by hard links: its mark is left to the copy, and another one takes its place. */
static u9_err append_beside_a_copy(uint64_t *told)
{
    remove_log(at("copy"));
    sim_link(at("log/.mark"), at("copy"));
    return append_and_get(told);
}

/* Rolls, each of which lets the oldest go. */
static u9_err retain(uint64_t *told)
{
    u9_options o = rolling();
    o.keep_bytes = 100000;
    u9_err err = open_as(U9_CREATE, &o);
    if (err != U9_OK) return err;
    for (unsigned i = 0; i < 16 && err == U9_OK; i++) {
        err = put("r", FILLER);
        if (err == U9_OK && i % 4 == 3) err = u9_log_sync(handle);
    }
    *told = err == U9_OK;
    return done(err);
}

/* Says that the oldest segments were deleted on purpose. */
static u9_err accept_trim(uint64_t *told)
{
    u9_trimmed out = {.size = sizeof out};
    u9_err err = u9_accept_trim(at("log"), 1, io_of(at("log")), &out, &fault);
    *told = err == U9_OK && out.segments > 0;
    return err;
}

/* The other end, which hangs up when it is done. */
static void *send_and_close(void *arg)
{
    (void)send_main(arg);
    close(((side *)arg)->in);
    return NULL;
}

static void *recv_and_close(void *arg)
{
    (void)recv_main(arg);
    close(((side *)arg)->in);
    return NULL;
}

/* One end of a transfer both ways; the other one is another thread, which has no hardship. */
static u9_err move(bool sends, const char *to, uint64_t *told)
{
    int ways[2];
    char its_path[3400];
    side other;
    u9_ship_report r = {.size = sizeof r};
    u9_err err;
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ways) == 0);
    snprintf(its_path, sizeof its_path, "%s", at(sends ? to : "place"));
    other = (side){.in = ways[1], .out = ways[1], .path = its_path};
    MUST(pthread_create(&other.thread, NULL, sends ? recv_and_close : send_and_close, &other) == 0);
    if (sends) {
        u9_send_options s = {.size = sizeof s, .out = ways[0], .in = ways[0]};
        err = open_as(U9_READ, NULL);
        if (err == U9_OK) err = done(u9_log_send(handle, &s, &r, &fault));
    } else {
        u9_options o = small_options();
        u9_recv_options v = {.size = sizeof v, .in = ways[0], .out = ways[0], .log = &o};
        err = u9_log_recv(at(to), &v, &r, &fault);
    }
    close(ways[0]);
    MUST(pthread_join(other.thread, NULL) == 0);
    *told = r.records;
    return err;
}

static u9_err send_to_another(uint64_t *told)
{
    return move(true, "out", told);
}

static u9_err receive_from_another(uint64_t *told)
{
    return move(false, "out", told);
}

/* Where all is there already. */
static u9_err send_to_its_twin(uint64_t *told)
{
    return move(true, "twin", told);
}

static u9_err receive_into_its_twin(uint64_t *told)
{
    return move(false, "twin", told);
}

/* Places */

static void fill(const char *log, unsigned from, unsigned to, bool ends)
{
    char path[3400];
    u9_options o = rolling();
    snprintf(path, sizeof path, "%s", log);
    way.numbered = false;
    o.lz4 = way.lz4;
    handle = open_writer(path, &o);
    for (unsigned i = from; i < to; i++) {
        char key[8];
        snprintf(key, sizeof key, i == 12 ? "z" : "k%03u", i);
        MUST(put(key, FILLER) == U9_OK);
        if (i % 3 == 0) MUST(u9_log_sync(handle) == U9_OK);
    }
    if (ends) close_log(handle);
    else crash(handle, path);
}

static void make_row(void)
{
    fill(at("place"), 0, 24, true);
}

static void make_compressed(void)
{
    way.lz4 = true;
    make_row();
    way.lz4 = false;
}

/* Keys that are in order; and the last session's are in none of the segments' indexes. */
static void make_numbered(void)
{
    static const uint8_t nothing[FILLER] = {1};
    char path[3400];
    u9_cursor *c;
    u9_record r;
    u9_options o = small_options();
    snprintf(path, sizeof path, "%s", at("place"));
    for (unsigned session = 0; session < 2; session++) {
        handle = open_writer(path, &o);
        for (unsigned i = 0; i < 30; i++) {
            (void)append_bytes(handle, nothing, i % 3 == 0 ? FILLER : 700);
            if (i % 3 == 0) MUST(u9_log_sync(handle) == U9_OK);
        }
        close_log(handle);
    }
    way.numbered = true;
    handle = open_reader(path);
    MUST(u9_cursor_open(handle, NULL, &c, NULL) == U9_OK);
    for (unsigned i = 0; u9_cursor_next(c, &r) == U9_OK; i++)
        for (unsigned k = 0; k < KEYS; k++)
            if (i <= 5 * k) memcpy(way.keys[k], r.key.data, sizeof way.keys[k]);
    way.keys[KEYS - 1][15] ^= 1;
    u9_cursor_close(c);
    close_log(handle);
}

/* Two sessions in one file, which has no index in it; and it is torn. */
static void make_torn(void)
{
    fill(at("place"), 0, 12, true);
    fill(at("place"), 12, 18, false);
    uint64_t size = file_size(segment_path(at("place"), segments_in(at("place"))));
    MUST(size > 3000);
}

/* A header, a payload, and a whole segment are gone. */
static void make_damaged(void)
{
    seen_frame frames[64];
    fill(at("place"), 0, 32, true);
    size_t n = frames_in(segment_path(at("place"), 1), frames, 64);
    MUST(n > 4);
    fill_bytes(segment_path(at("place"), 1), frames[2].offset + 4, 40, 0xee);
    fill_bytes(segment_path(at("place"), 1), frames[4].offset + 200, 30, 0xee);
    remove_log(segment_path(at("place"), 3));
}

/* One segment, unclosed, in which reading comes to damage in the midst of much else. */
static void make_long(void)
{
    enum { FRAMES_MAX = 200 };
    static seen_frame frames[FRAMES_MAX];
    char path[3400];
    u9_options o = rolling();
    o.segment_size = 1 << 24;
    snprintf(path, sizeof path, "%s", at("place"));
    handle = open_writer(path, &o);
    for (unsigned i = 0; i < 60; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%03u", i);
        MUST(put(key, FILLER) == U9_OK);
        if (i % 3 == 0) MUST(u9_log_sync(handle) == U9_OK);
    }
    crash(handle, path);
    const char *segment = segment_path(path, 1);
    size_t n = frames_in(segment, frames, FRAMES_MAX);
    MUST(n > 18);
    fill_bytes(segment, frames[4].offset + 4, 40, 0xee);
    fill_bytes(segment, frames[8].offset + 300, 40, 0xee);
    fill_bytes(segment, frames[12].offset, frames[13].end - frames[12].offset, 0);
    fill_bytes(segment, frames[n - 1].offset + 500, 100, 0xee);
}

static void make_headless(void)
{
    seen_frame frames[64];
    make_row();
    for (unsigned k = 1; k < 3; k++) {
        MUST(frames_in(segment_path(at("place"), k), frames, 64) > 3);
        fill_bytes(segment_path(at("place"), k), frames[k].offset + 4, 40, 0xee);
    }
    fill_bytes(segment_path(at("place"), 2), 0, 32, 0);
}

/* Two runs were broken off: one that makes a log of what it finds, and one that copies segments. */
static void make_remains(void)
{
    make_row();
    remove_log(at("remains"));
    copy_log(at("place"), at("remains"));
    write_file(at("remains/.u9-unfinished"), "", 0);
    write_file(at("remains/.live"), "x", 1);
    cut_file(segment_path(at("remains"), 2), 9000);
}

/* A snapshot that some segments are there of. */
static void make_begun(void)
{
    u9_snapshot_report r = {.size = sizeof r};
    make_row();
    remove_log(at("remains"));
    handle = open_reader(at("place"));
    sim_fail(SIM_RENAME, 4, EIO, false);
    MUST(u9_log_snapshot(handle, at("begun"), NULL, &r, &fault) == U9_IO);
    sim_mend();
    close_log(handle);
    move_file(at("begun.partial"), at("remains"));
}

/* Two files have each other's names, one header is damaged, and paddings are not zero. */
static void make_swapped(void)
{
    char first[3400];
    seen_frame frames[64];
    make_row();
    const char *path = strcpy(first, segment_path(at("place"), 1));
    size_t n = frames_in(path, frames, 64);
    for (size_t i = 0; i < n; i++)
        if (frames[i].length % 16 != 0) put_bytes(path, frames[i].end - 1, "x", 1);
    flip_bit(path, 3, 5);
    move_file(first, at("place/aside"));
    move_file(segment_path(at("place"), 2), first);
    move_file(at("place/aside"), segment_path(at("place"), 2));
}

/* One segment of many small records, an index beside it, and then half of its data are gone. */
static void make_halved(void)
{
    char path[3400];
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = io_of(at("place"))};
    snprintf(path, sizeof path, "%s", at("place"));
    u9_options w = rolling();
    w.segment_size = 1 << 24;
    handle = open_writer(path, &w);
    for (unsigned i = 0; i < 5000; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%04u", i * 7 % 5000);
        MUST(put(key, 20) == U9_OK);
        if (i % 500 == 0) MUST(u9_log_sync(handle) == U9_OK);
    }
    close_log(handle);
    MUST(u9_indexes_build(path, &o, &r, &fault) == U9_OK && r.entries > 0);
    uint64_t size = file_size(segment_path(path, 1));
    fill_bytes(segment_path(path, 1), size / 3, size / 2, 0xee);
}

/* A copy went on, too, and its segments were put back under names that are free. */
static void make_fork(void)
{
    char from[3400], to[3400];
    fill(at("place"), 0, 12, true);
    copy_log(at("place"), at("branch"));
    fill(at("place"), 12, 20, true);
    fill(at("branch"), 20, 30, true);
    unsigned last = segments_in(at("branch"));
    strcpy(from, segment_path(at("branch"), last));
    strcpy(to, segment_path(at("place"), segments_in(at("place")) + 1));
    move_file(from, to);
    remove_log(at("branch"));
}

/* A copy went on in the same file, which was put back under a name that is free. */
static void make_parted(void)
{
    char from[3400];
    fill(at("place"), 0, 5, true);
    copy_log(at("place"), at("branch"));
    fill(at("place"), 5, 8, true);
    fill(at("branch"), 5, 7, true);
    strcpy(from, segment_path(at("branch"), 1));
    move_file(from, segment_path(at("place"), 9));
    remove_log(at("branch"));
}

static void make_trimmed(void)
{
    fill(at("place"), 0, 24, true);
    (void)trim_log(at("place"), below_ordinal(12));
}

static void make_large(void)
{
    uint64_t told;
    fill(at("log"), 0, 4, true);
    MUST(append_in_pieces(&told) == U9_OK);
    move_file(at("log"), at("place"));
}

/* Two logs with a record in pieces in each. */
static void make_two_large(void)
{
    uint64_t told;
    make_large();
    fill(at("log"), 6, 9, true);
    MUST(append_in_pieces(&told) == U9_OK);
    remove_log(at("second"));
    move_file(at("log"), at("second"));
}

static void make_twins(void)
{
    make_large();
    copy_log(at("place"), at("twin"));
}

static void make_empty(void)
{
    make_dir(at("place"));
}

static void make_muids(void)
{
    session(at("place"), "text ", 5, 2);
}

static void make_tids(void)
{
    make_empty();
    fresh_kind = "tid";
}

static void make_gids(void)
{
    make_empty();
    fresh_kind = "gid:log";
}

/* Its oldest segments are gone, and nobody says why. */
static void make_late(void)
{
    fill(at("place"), 0, 24, true);
    remove_log(segment_path(at("place"), 1));
}

/* A copy that took the mark first, and not the last segment, so that it ends with a sealed one. */
static void make_older(void)
{
    char mark[3400];
    size_t size;
    snprintf(mark, sizeof mark, "%s", at("place/.mark"));
    fill(at("place"), 0, 5, true);
    uint8_t *bytes = read_file(mark, &size);
    fill(at("place"), 5, 20, true);
    write_file(mark, bytes, size);
    remove_log(segment_path(at("place"), segments_in(at("place"))));
    free(bytes);
}

/* The last segment is not closed, and its u9open is damaged. */
static void make_unopened(void)
{
    seen_frame frames[64];
    fill(at("place"), 0, 12, false);
    fill(at("place"), 12, 18, false);
    const char *last = segment_path(at("place"), segments_in(at("place")));
    MUST(frames_in(last, frames, 64) > 2);
    fill_bytes(last, frames[0].offset + 60, 40, 0xee);
}

static void make_plain(void)
{
    plain_file p = plain_begin(7);
    uint8_t body[200];
    for (unsigned i = 0; i < 8; i++) (void)plain_frame(&p, body, record_bytes(body, i, "plain", 5));
    make_dir(at("place"));
    write_file(segment_path(at("place"), 1), p.bytes, p.size);
    plain_free(&p);
    way.numbered = true;
    for (unsigned k = 0; k < KEYS; k++) {
        memset(way.keys[k], 0x60, 8);
        u9i_set_be(way.keys[k] + 8, 8, k < KEYS - 1 ? k : 99);
    }
}

static void make_image(void)
{
    size_t size, used = 0;
    static uint8_t all[1 << 20];
    make_row();
    for (unsigned k = 3; k > 0; k--) {
        uint8_t *bytes = read_file(segment_path(at("place"), k), &size), *to = all + used;
        MUST(used + size + 3 * 4096 < sizeof all);
        memcpy(to, bytes, size / 2 / 4096 * 4096); /* in two pieces */
        memcpy(to + size / 2 / 4096 * 4096 + 8192, bytes + size / 2 / 4096 * 4096,
               size - size / 2 / 4096 * 4096);
        used += (size + 8192 + 4095) / 4096 * 4096;
        free(bytes);
    }
    write_file(at("image"), all, used);
}

/* Of the heads of these segments each is damaged in another way, and files lie there that are none, or only plain ones. */
static void make_odd(void)
{
    static const uint8_t text[3000] = "what is this", zeros[8192];
    seen_frame frames[64];
    char path[3400];
    fill(at("place"), 0, 80, true);
    MUST(segments_in(at("place")) > 7);
    flip_bit(segment_path(at("place"), 2), 9, 3);
    fill_bytes(segment_path(at("place"), 3), 0, 32, 0);
    MUST(frames_in(segment_path(at("place"), 4), frames, 64) > 3);
    fill_bytes(segment_path(at("place"), 4), 32 + 4, 60, 0xee);
    fill_bytes(segment_path(at("place"), 5), 7, 1, 0x77);
    MUST(frames_in(segment_path(at("place"), 6), frames, 64) > 3);
    fill_bytes(segment_path(at("place"), 6), file_size(segment_path(at("place"), 6)) - 4096, 4096,
               0);
    unsigned last = segments_in(at("place"));
    write_file(segment_path(at("place"), last + 1), text, sizeof text);
    write_file(segment_path(at("place"), last + 3), zeros, sizeof zeros);
    snprintf(path, sizeof path, "%s/000000000000000a.u9x", at("place"));
    write_file(path, text, sizeof text);
}

static void make_lost(void)
{
    make_row();
    for (unsigned n = segments_in(at("place")); n > 2; n--)
        remove_log(segment_path(at("place"), n));
}

/* What stands at its end can be of a crash, or not. */
static void make_unknown(void)
{
    seen_frame frames[64];
    make_torn();
    const char *last = segment_path(at("place"), segments_in(at("place")));
    size_t n = frames_in(last, frames, 64);
    MUST(n > 1);
    flip_bit(last, frames[n - 1].offset + 200, 3);
    remove_mark(at("place"));
}

static void make_flipped(void)
{
    seen_frame frames[64];
    make_row();
    MUST(frames_in(segment_path(at("place"), 2), frames, 64) > 3);
    flip_bit(segment_path(at("place"), 2), frames[2].end - 150,
             5); /* they are tried from the end on */
}

/* No secret is left, nor a copy of one. */
static void make_barren(void)
{
    fill(at("place"), 0, 2, true);
    for (unsigned k = 1; k <= segments_in(at("place")); k++) {
        uint64_t size = file_size(segment_path(at("place"), k));
        fill_bytes(segment_path(at("place"), k), 0, 32, 0);
        fill_bytes(segment_path(at("place"), k), 36, 200, 0xee);
        fill_bytes(segment_path(at("place"), k), size - 4096, 4096, 0);
    }
    remove_mark(at("place"));
}

/* Its oldest segments stand in another place alone. */
static void make_tiered(void)
{
    make_row();
    u9_tier_options o = {.size = sizeof o, .to = at("far"), .io = io_of(at("place")), .keep_bytes = 100000};
    MUST(u9_tier(at("place"), &o, &(u9_tiered){.size = sizeof(u9_tiered)}, &fault) == U9_OK);
}

/* What the place has lost of what it had, where nothing here names its end any more. */
static void make_unnamed(void)
{
    make_row();
    u9_tier_options o = {.size = sizeof o, .to = at("tiered"), .io = io_of(at("place"))};
    MUST(u9_tier(at("place"), &o, &(u9_tiered){.size = sizeof(u9_tiered)}, &fault) == U9_OK);
    flip_bit(segment_path(at("place"), 3), 100, 3); /* its u9open */
    copy_log(at("tiered"), at("remains"));
    remove_log(segment_path(at("remains"), 2));
}

/* Zeros that are none: in padding, in fill, behind ends, of which one could not be judged, and one is rolled; in a seal's place. */
static void make_marred(void)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned n = 1; n < 9; n++) { /* some of these frames have padding */
        uint64_t p = forge_records(&one, "r", n), length = u9i_get_be(one.bytes + p + 56, 8);
        if (length % 16 != 0) one.bytes[p + 64 + length] = 0x11;
    }
    forge_pad(&one);
    one.bytes[one.end + 5] = 0x11;
    (void)forge_records(&one, "s", 2);
    (void)forge_promise(&one);
    forged_segment two = forge_begin(2, 2, &one, U9I_TAIL_UNKNOWN);
    memset(one.bytes + one.size, 0x77, 300);
    one.size += 300;
    (void)forge_records(&two, "t", 4);
    forged_segment three = forge_begin(3, 3, &two, U9I_TAIL_ROLLED);
    forge_pad(&two);
    two.bytes[two.end + 9] = 0x11;
    (void)forge_promise(&two);
    memset(two.bytes + two.size, 0x77, 5000);
    two.size += 5000;
    (void)forge_records(&three, "u", 4);
    memset(three.bytes + three.size, 0x77, 700);
    three.size += 700;
    forge_save(&one, at("place"));
    forge_save(&two, at("place"));
    forge_save(&three, at("place"));
    forge_free(&one);
    forge_free(&two);
    forge_free(&three);
}

/* Two logs to be merged, one of them not in order. */
static void make_two(void)
{
    make_row();
    fill(at("second"), 6, 9, true);
}

/* Small ones: two segments. */
static void make_small(void)
{
    fill(at("place"), 0, 2, false);
    fill(at("place"), 2, 3, true);
}

/* What a snapshot has is damaged in the log by now. */
static void make_overtaken(void)
{
    seen_frame frames[16];
    u9_snapshot_report r = {.size = sizeof r};
    u9_snapshot_options o = {.size = sizeof o, .copy = 1};
    fill(at("place"), 0, 3, true);
    remove_log(at("remains"));
    handle = open_reader(at("place"));
    MUST(u9_log_snapshot(handle, at("remains"), &o, &r, &fault) == U9_OK);
    close_log(handle);
    const char *path = segment_path(at("place"), 1);
    MUST(frames_in(path, frames, 16) > 2);
    flip_bit(path, frames[1].offset + 20, 2);
    fill(at("place"), 3, 5, true);
}

static void make_two_small(void)
{
    make_small();
    fill(at("second"), 1, 2, true);
}

static void make_small_harmed(void)
{
    seen_frame frames[16];
    make_small();
    const char *path = segment_path(at("place"), 1);
    MUST(frames_in(path, frames, 16) > 1);
    flip_bit(path, frames[1].offset + 20, 2);
    flip_bit(path, 9, 2);
}

/* The first one in two pieces, of which the second stands in front; the header of a frame of the other one is damaged. */
static void make_small_image(void)
{
    static uint8_t all[1 << 18];
    seen_frame frames[16];
    size_t size, other, cut = 8192;
    make_small();
    uint8_t *bytes = read_file(segment_path(at("place"), 1), &size), *more = read_file(segment_path(at("place"), 2), &other);
    MUST(size > cut && size + other < sizeof all && list_frames(more, other, frames, 16) > 1);
    more[frames[1].offset + 5] ^= 1;
    memcpy(all, bytes + cut, size - cut);
    memcpy(all + size - cut, bytes, cut);
    memcpy(all + size, more, other);
    write_file(at("image"), all, size + other);
    free(bytes);
    free(more);
}

/* A list of 16 frames is full: one more is put together from two pieces, or though it is damaged. */
static void make_full_image(bool in_pieces)
{
    enum { BLOCK = 4096, LISTED = 16 };
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE); /* has one */
    for (unsigned i = 1; i < LISTED; i++) (void)forge_records(&s, "r", 1);
    forge_pad(&s);
    uint64_t large = forge_records(&s, "large", 300), cut = large + BLOCK;
    forge_pad(&s);
    MUST(s.end > cut + BLOCK);
    uint8_t *all = calloc(1, s.size);
    memcpy(all, s.bytes + (in_pieces ? cut : 0), in_pieces ? s.size - cut : s.size);
    if (in_pieces) memcpy(all + s.size - cut, s.bytes, cut);
    else all[large + 20] ^= 1;
    write_file(at("image"), all, s.size);
    free(all);
    forge_save(&s, at("place"));
    forge_free(&s);
}

static void make_joined_image(void)
{
    make_full_image(true);
}

static void make_broken_image(void)
{
    make_full_image(false);
}

/* What stands behind the data of a sealed segment is damaged. */
static void make_unsealed(void)
{
    make_row();
    const char *path = segment_path(at("place"), 1);
    fill_bytes(path, file_size(path) - 8192, 8192, 0xee);
}

/* Hardship */

typedef struct trial {
    void (*make)(void);
    deed_fn *deed;
    bool writes;  /* what is there changes */
    bool indexes; /* what cannot be read is passed by: less is told then; and each call is tried */
} trial;

static const trial reading[] = {
    {make_row, read_on, false, false},
    {make_row, read_back, false, false},
    {make_row, get, false, false},
    {make_row, get_many, false, false},
    {make_row, versions, false, false},
    {make_row, seek, false, false},
    {make_row, split, false, false},
    {make_row, check_in_pieces, false, false},
    {make_row, index_check, false, true},
    {make_torn, read_on, false, false},
    {make_torn, read_back, false, false},
    {make_torn, get, false, false},
    {make_torn, get_many, false, false},
    {make_torn, versions, false, false},
    {make_torn, split, false, false},
    {make_torn, check, false, false},
    {make_damaged, read_back, false, false},
    {make_damaged, get, false, false},
    {make_damaged, get_many, false, false},
    {make_damaged, split, false, false},
    {make_damaged, versions, false, false},
    {make_damaged, seek, false, false},
    {make_damaged, check_in_pieces, false, false},
    {make_long, check_in_pieces, false, false},
    {make_damaged, damages, false, false},
    {make_headless, read_mended, false, false},
    {make_headless, read_on, false, false},
    {make_fork, read_on, false, false},
    {make_fork, damages, false, false},
    {make_trimmed, read_back, false, false},
    {make_trimmed, get, false, false},
    {make_large, read_on, false, false},
    {make_large, read_back, false, false},
    {make_large, read_in_pieces, false, false},
    {make_plain, read_on, false, false},
    {make_plain, read_back, false, false},
    {make_odd, read_on, false, false},
    {make_odd, read_mended, false, false},
    {make_odd, check, false, false},
    {make_barren, read_mended, false, false},
    {make_numbered, get, false, false},
    {make_numbered, get_many, false, false},
    {make_numbered, versions, false, false},
    {make_numbered, get_frugally, false, false},
    {make_row, get_frugally, false, false},
    {make_row, get_many_frugally, false, false},
    {make_row, versions_frugally, false, false},
    {make_numbered, seek_all_ways, false, false},
    {make_damaged, seek_all_ways, false, false},
    {make_trimmed, seek_all_ways, false, false},
    {make_numbered, index_check, false, true},
    {make_halved, index_check, false, true},
    {make_compressed, get, false, false},
    {make_compressed, get_many, false, false},
    {make_compressed, get_frugally, false, false},
    {make_compressed, versions, false, false},
    {make_headless, get_mended, false, false},
    {make_headless, get_many_mended, false, false},
    {make_row, waver, false, false},
    {make_damaged, waver, false, false},
    {make_headless, waver_mended, false, false},
    {make_odd, waver, false, false},
    {make_trimmed, waver, false, false},
    {make_large, waver, false, false},
    {make_plain, waver, false, false},
    {make_row, read_single, false, false},
    {make_parted, damages, false, false},
    {make_unopened, read_on, false, false},
    {make_tiered, read_on, false, false},
    {make_tiered, get_many, false, false},
    {make_plain, get, false, false},
    {make_plain, get_many, false, false},
    {make_plain, versions, false, false},
    {make_plain, get_frugally, false, false},
    {make_row, get_often, false, false},
    {make_large, get, false, false},
    {make_large, versions, false, false},
    {make_large, split, false, false},
    {make_large, index_check, false, true},
    {make_trimmed, split, false, false},
    {make_unopened, split, false, false},
    {make_unopened, read_back, false, false},
    {make_odd, split, false, false},
    {make_odd, get, false, false},
    {make_odd, seek_all_ways, false, false},
    {make_fork, read_back, false, false},
    {make_torn, seek_all_ways, false, false},
    {make_lost, versions, false, false},
    {make_torn, follow_alone, false, false},
    {make_damaged, follow_alone, false, false},
    {make_lost, follow_alone, false, false},
    {make_trimmed, follow_alone, false, false},
};

static const trial writing[] = {
    {make_row, append_and_get, true, false},
    {make_torn, append_and_get, true, false},
    {make_trimmed, append_and_get, true, false},
    {make_row, append_in_pieces, true, false},
    {make_row, trim, true, false},
    {make_torn, follow, true, false},
    {make_torn, index_build, true, true},
    {make_large, send_and_receive, true, false},
    {make_fork, salvage, true, false},
    {make_headless, salvage, true, false},
    {make_parted, salvage, true, false},
    {make_remains, salvage_over_remains, true, false},
    {make_row, snapshot, true, false},
    {make_begun, snapshot_on_remains, true, false},
    {make_row, snapshot_behind_trim, true, false},
    {make_damaged, snapshot, true, false},
    {make_row, tier, true, false},
    {make_remains, tier_on_remains, true, false},
    {make_unnamed, tier_on_remains, true, false},
    {make_overtaken, snapshot_on_whole, true, false},
    {make_two, merge, true, false},
    {make_image, carve, true, false},
    {make_headless, repair, true, false},
    {make_odd, repair, true, false},
    {make_swapped, repair, true, false},
    {make_damaged, index_build, true, true},
    {make_numbered, index_build, true, true},
    {make_flipped, heal, true, false},
    {make_row, snapshot_twice, true, false},
    {make_plain, salvage, true, false},
    {make_large, salvage, true, false},
    {make_damaged, salvage, true, false},
    {make_trimmed, repair, true, false},
    {make_lost, accept_loss, true, false},
    {make_unknown, accept_tails, true, false},
    {make_unknown, append_and_get, true, false},
    {make_large, index_build, true, true},
    {make_halved, index_build, true, true},
    {make_odd, index_build, true, true},
};

/* More of these, and not only without memory. */
static const trial writing_more[] = {
    {make_empty, append_all_ways, true, false}, {make_muids, append_all_ways, true, false},
    {make_tids, append_all_ways, true, false},  {make_gids, append_all_ways, true, false},
    {make_row, retain, true, false},            {make_late, accept_trim, true, false},
    {make_unopened, append_and_get, true, false}, {make_older, append_and_get, true, false},
    {make_row, append_beside_a_copy, true, false},
};

/* On the system's own files, some beside a thread. */
static const trial on_system[] = {
    {make_row, send_to_another, true, false},
    {make_row, receive_from_another, true, false},
    {make_twins, send_to_its_twin, true, false},
    {make_twins, receive_into_its_twin, true, false},
    {make_empty, append_under_numbers, true, false},
    {make_empty, append_all_ways, true, false},
};

/* Where each read fails in turn. */
static const trial wading[] = {
    {make_long, read_on, false, false},
    {make_long, read_back, false, false},
    {make_long, check, false, false},
    {make_long, seek, false, false},
    {make_long, append_and_get, true, false},
    {make_fork, read_on, false, false},
    {make_odd, read_on, false, false},
    {make_odd, read_mended, false, false},
    {make_row, get, false, false},
    {make_barren, read_mended, false, false},
    {make_numbered, get, false, false},
    {make_numbered, seek_all_ways, false, false},
    {make_long, waver, false, false},
    {make_compressed, get_frugally, false, false},
    {make_row, append_and_get, true, false},
    {make_older, append_and_get, true, false},
    {make_parted, read_on, false, false},
    {make_unopened, append_and_get, true, false},
    {make_marred, check, false, false},
};

/* Where nothing is seen of what is looked at, one look after the other. */
static const trial looking[] = {
    {make_long, read_on, false, false},
    {make_long, read_back, false, false},
    {make_long, check, false, false},
    {make_long, seek, false, false},
    {make_row, get, false, false},
    {make_row, versions, false, false},
    {make_row, get_many, false, false},
    {make_row, index_check, false, true},
    {make_row, check_in_pieces, false, false},
    {make_long, check_in_pieces, false, false},
    {make_torn, read_on, false, false},
    {make_torn, get, false, false},
    {make_torn, split, false, false},
    {make_torn, follow, true, false},
    {make_torn, index_build, true, true},
    {make_damaged, read_on, false, false},
    {make_damaged, read_back, false, false},
    {make_damaged, split, false, false},
    {make_damaged, seek, false, false},
    {make_damaged, check_in_pieces, false, false},
    {make_headless, read_mended, false, false},
    {make_headless, repair, true, false},
    {make_fork, read_on, false, false},
    {make_fork, salvage, true, false},
    {make_headless, salvage, true, false},
    {make_parted, salvage, true, false},
    {make_swapped, repair, true, false},
    {make_begun, snapshot_on_remains, true, false},
    {make_remains, tier_on_remains, true, false},
    {make_row, tier, true, false},
    {make_trimmed, read_back, false, false},
    {make_large, read_on, false, false},
    {make_large, read_back, false, false},
    {make_large, read_in_pieces, false, false},
    {make_plain, read_on, false, false},
    {make_plain, read_back, false, false},
    {make_odd, read_on, false, false},
    {make_odd, read_mended, false, false},
    {make_odd, check, false, false},
    {make_odd, repair, true, false},
    {make_barren, read_mended, false, false},
    {make_numbered, get, false, false},
    {make_numbered, versions, false, false},
    {make_numbered, get_many, false, false},
    {make_numbered, seek_all_ways, false, false},
    {make_damaged, seek_all_ways, false, false},
    {make_damaged, index_build, true, true},
    {make_row, append_and_get, true, false},
    {make_torn, append_and_get, true, false},
    {make_row, snapshot, true, false},
    {make_two, merge, true, false},
    {make_image, carve, true, false},
    {make_row, trim, true, false},
    {make_large, send_and_receive, true, false},
    {make_lost, accept_loss, true, false},
    {make_unknown, accept_tails, true, false},
    {make_compressed, get_frugally, false, false},
    {make_headless, get_mended, false, false},
    {make_damaged, waver, false, false},
    {make_odd, waver, false, false},
    {make_trimmed, waver, false, false},
    {make_large, waver, false, false},
    {make_plain, waver, false, false},
    {make_row, read_single, false, false},
    {make_flipped, heal, true, false},
    {make_row, snapshot_twice, true, false},
    {make_plain, salvage, true, false},
    {make_large, salvage, true, false},
    {make_damaged, salvage, true, false},
    {make_unopened, append_one, true, false},
    {make_row, append_one, true, false},
    {make_older, append_one, true, false},
    {make_parted, read_on, false, false},
    {make_marred, read_on, false, false},
    {make_marred, check, false, false},
    {make_plain, get, false, false},
    {make_plain, versions, false, false},
    {make_large, get, false, false},
    {make_large, index_check, false, true},
    {make_large, index_build, true, true},
    {make_large, split, false, false},
    {make_halved, index_check, false, true},
    {make_unopened, split, false, false},
    {make_unopened, read_back, false, false},
    {make_torn, seek_all_ways, false, false},
    {make_torn, versions, false, false},
    {make_odd, versions, false, false},
    {make_odd, seek_all_ways, false, false},
    {make_fork, read_back, false, false},
    {make_lost, read_back, false, false},
    {make_row, get_often, false, false},
    {make_compressed, versions_frugally, false, false},
    {make_torn, follow_alone, false, false},
    {make_damaged, follow_alone, false, false},
};

/* Where a frame is none any more when it is looked at once more, or for the first time: the disk decays. */
static const trial doubting[] = {
    {make_headless, read_mended, false, false},
    {make_odd, read_mended, false, false},
    {make_row, versions, false, false},
    {make_row, index_check, false, true},
    {make_trimmed, get, false, false},
    {make_large, get, false, false},
    {make_large, versions, false, false},
    {make_large, read_in_pieces, false, false},
    {make_torn, seek_all_ways, false, false},
    {make_large, salvage, true, false},
    {make_parted, salvage, true, false},
    {make_row, tier, true, false},
    {make_row, append_one, true, false},
    {make_row, trim, true, false},
    {make_torn, index_build, true, true},
    {make_headless, repair, true, false},
    {make_begun, snapshot_on_remains, true, false},
    {make_two, merge, true, false},
    {make_large, send_and_receive, true, false},
};

/* Where each call fails in turn. */
static const trial small[] = {
    {make_small, salvage, true, false},
    {make_small, check_in_pieces, false, false},
    {make_two_small, merge, true, false},
    {make_small, tier, true, false},
    {make_small, snapshot_twice, true, false},
    {make_overtaken, snapshot_on_whole, true, false},
    {make_small, send_and_receive, true, false},
    {make_small_harmed, repair, true, false},
    {make_small_harmed, salvage, true, false},
    {make_unknown, accept_tails, true, false},
    {make_small_image, carve, true, false},
    {make_joined_image, carve, true, false},
    {make_broken_image, carve, true, false},
    {make_begun, snapshot_on_remains, true, false},
    {make_small, snapshot_behind_trim, true, false},
    {make_plain, salvage, true, false},
    {make_swapped, repair, true, false},
    {make_unsealed, repair, true, false},
    {make_late, accept_trim, true, false},
    {make_two_large, merge_frugally, true, false},
};

static void clear_outputs(void)
{
    static const char *const made[] = {"out", "out.partial", "out.fork-2", "out.fork-2.partial"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) remove_log(at(made[i]));
}

static void begin_anew(void)
{
    clear_outputs();
    remove_log(at("tiered"));
    remove_log(at("log"));
    copy_log(at("place"), at("log"));
    if (sim_in_use()) sim_forget_diary();
}

/* Once as it goes by itself: what it is to tell. */
static u9_err do_well(const trial *t, uint64_t *told)
{
    *told = 0;
    return t->deed(told);
}

typedef enum hardship { NO_MEMORY, NO_CALL, NO_READ, NO_SYSTEM, NO_SIGHT, NO_DIRECTORY, NO_TRUTH } hardship;

static const scarcity scarcities[] = {SCARCE_MEMORY, SCARCE_NOTHING, SCARCE_NOTHING, SCARCE_CALLS,
                                      SCARCE_SIGHT,  SCARCE_NOTHING, SCARCE_TRUTH};

static int read_error; /* of NO_READ and NO_SIGHT */

/* Once, with that. False: nothing came to nothing. */
static bool do_badly(const trial *t, hardship what, unsigned nth, bool sticky, u9_err well,
                     uint64_t told)
{
    uint64_t now = 0;
    size_t kept;
    unsigned fired = sim_in_use() ? sim_fired() : 0;
    int error = nth % 2 ? EIO : what == NO_CALL || sticky ? ENOSPC : EINTR;
    if (what == NO_CALL) sim_fail(SIM_ANY, nth, error, sticky);
    if (what == NO_READ) sim_fail(SIM_READ, nth, read_error, false);
    if (what == NO_SIGHT) error = read_error;
    if (what == NO_DIRECTORY) sim_fail(SIM_OPEN_DIR, nth, ENOMEM, sticky);
    scarce_begin(scarcities[what], nth, error, sticky);
    fault = (u9_fault){.err = U9_OK};
    u9_err err = t->deed(&now);
    unsigned failed = scarce_end(&kept);
    if (err == U9_IO || err == U9_NOMEM)
        MUST_SAY(fault.err == err && fault.text[0] != 0, "%u: %s is told as %s: %s", nth, u9_err_name(err),
                 u9_err_name(fault.err), fault.text);
    if (sim_in_use()) {
        failed += sim_fired() - fired;
        sim_mend();
    }
    MUST_SAY(kept == 0, "%u: %zu blocks are kept behind %s: %s", nth, kept, u9_err_name(err),
             fault.text);
    if ((err == U9_OK && what != NO_TRUTH && !(t->indexes && what != NO_MEMORY)) || (err == well && failed == 0))
        MUST_SAY(now == told, "%u: %s tells something else: %llx, %llx", nth, u9_err_name(err),
                 (unsigned long long)now, (unsigned long long)told);
    if (what == NO_MEMORY || what == NO_DIRECTORY)
        MUST_SAY(err == well || err == U9_NOMEM, "%u%s: %s: %s", nth, sticky ? " and all behind" : "", u9_err_name(err),
                 fault.text);
    return failed > 0;
}

/* The same once more: it is as if nothing had been. */
static void do_again(const trial *t, u9_err well, uint64_t told, unsigned n)
{
    uint64_t now;
    u9_err err = do_well(t, &now);
    MUST_SAY(err == well, "behind %u again: %s: %s", n, u9_err_name(err), fault.text);
    if (!t->writes) MUST(now == told);
}

static void note_any(sim_kind kind)
{
    (void)kind;
    places_note();
}

static void note_read(sim_kind kind)
{
    if (kind == SIM_READ) places_note();
}

static void note_directory(sim_kind kind)
{
    if (kind == SIM_OPEN_DIR) places_note();
}

enum {
    CALLERS = 2, /* who asks, and on whose behalf */
    CALLERS_READING = 4, /* the same of who writes nothing, which is soon done: there are many who go on with what another began */
    CALLERS_DOUBTING = 4,
#ifdef __OPTIMIZE__
    WITHIN_SCARCE = 2,
    WITHIN_SIM = 3 /* callers on the way to places_note, if they are not inlined */
#else
    WITHIN_SCARCE = 3,
    WITHIN_SIM = 8
#endif
};

/* Once as it goes by itself: what it tells, and which calls could come to nothing that nothing was tried with yet. */
static u9_err learn(const trial *t, hardship what, uint64_t *told, const unsigned **nths,
                    size_t *count)
{
    bool sim = sim_in_use(), called = what == NO_CALL || what == NO_READ || what == NO_DIRECTORY;
    if (sim) sim_on_call(what == NO_READ ? note_read : what == NO_CALL ? note_any : what == NO_DIRECTORY ? note_directory : NULL);
    places_begin((unsigned)what * 2 + (what == NO_READ && read_error == EIO),
                 (called ? WITHIN_SIM : WITHIN_SCARCE) + thorough(what == NO_TRUTH ? CALLERS_DOUBTING : t->writes ? CALLERS : CALLERS_READING, 10));
    scarce_begin(scarcities[what], 0, 0, false);
    u9_err well = do_well(t, told);
    (void)scarce_end(NULL);
    *nths = places_end(count);
    if (sim) sim_on_call(NULL);
    MUST_SAY(well == U9_OK || well == U9_CORRUPT, "%s: %s", u9_err_name(well), fault.text);
    return well;
}

static void endure(const trial *t, hardship what)
{
    uint64_t told;
    size_t count;
    const unsigned *nths;
    t->make();
    begin_anew();
    u9_err well = learn(t, what, &told, &nths, &count);
    for (size_t i = 0; i < count; i++) {
        if (t->writes) begin_anew();
        (void)do_badly(t, what, nths[i], nths[i] % 4 == 0 && what != NO_SIGHT, well, told);
        if (t->writes) {
            clear_outputs();
            do_again(t, well, told, nths[i]);
        }
    }
    if (!t->writes && count > 0) do_again(t, well, told, 0);
}

/* Each call in turn, wherever it is made: of a small log there are few. */
static void endure_all(const trial *t, hardship what)
{
    uint64_t told;
    t->make();
    begin_anew();
    u9_err well = do_well(t, &told);
    bool failed = true;
    for (unsigned nth = 1; failed; nth += nth < 20 ? 1 : thorough(13, 1)) {
        begin_anew();
        failed = do_badly(t, what, nth, false, well, told);
        MUST(nth < 3000);
    }
    begin_anew();
    do_again(t, well, told, 0);
}

START_TEST(who_has_little_to_do_is_told_what_fails_at_each_step_of_it)
{
    static const hardship each[] = {NO_MEMORY, NO_CALL, NO_SIGHT};
    read_error = ENXIO;
    endure_all(&small[_i / 3], each[_i % 3]);
}
END_TEST

START_TEST(who_reads_without_memory_is_told_so)
{
    endure(&reading[_i], NO_MEMORY);
}
END_TEST

START_TEST(who_reads_where_a_call_fails_is_told_so_and_nothing_else_that_is_wrong)
{
    endure(&reading[_i], NO_CALL);
}
END_TEST

START_TEST(who_writes_without_memory_is_told_so_and_the_next_one_goes_on)
{
    endure(&writing[_i], NO_MEMORY);
}
END_TEST

START_TEST(who_writes_without_memory_for_a_directory_is_told_so_and_the_next_one_goes_on)
{
    endure(&writing[_i], NO_DIRECTORY);
}
END_TEST

/* {F40} */
START_TEST(who_writes_where_a_call_fails_is_told_so_and_the_next_one_goes_on)
{
    endure(&writing[_i], NO_CALL);
}
END_TEST

/* The same where sealed segments are mapped. */
START_TEST(who_reads_mapped_files_without_memory_is_told_so)
{
    if (!SANITIZED) ck_assert_int_eq(u9_guard_install(), U9_OK);
    endure(&reading[_i], NO_MEMORY);
}
END_TEST

/* An error that the disk has for these bytes, and one that it has for all. */
START_TEST(who_reads_where_a_read_fails_is_told_so)
{
    read_error = _i % 2 ? EIO : ENXIO;
    endure(&wading[_i / 2], NO_READ);
}
END_TEST

START_TEST(who_writes_in_any_way_is_told_what_fails_and_the_next_one_goes_on)
{
    endure(&writing_more[_i / 2], _i % 2 ? NO_CALL : NO_MEMORY);
}
END_TEST

/* A log may be so large that any look at it is a read. */
START_TEST(who_sees_nothing_where_there_is_something_to_be_read_is_told_so)
{
    read_error = ENXIO;
    endure(&looking[_i], NO_SIGHT);
}
END_TEST

START_TEST(who_finds_something_else_than_there_was_says_so_or_goes_on_without_it)
{
    endure(&doubting[_i], NO_TRUTH);
}
END_TEST

/* The same on the system's own files, whose calls fail. */
START_TEST(who_reads_where_the_system_fails_is_told_so)
{
    endure(&reading[_i], NO_SYSTEM);
}
END_TEST

START_TEST(who_writes_where_the_system_fails_is_told_so)
{
    endure(&writing[_i], NO_SYSTEM);
}
END_TEST

/* {F14} {F40} Where one end of a link has trouble, both come to an end. */
START_TEST(who_has_more_to_do_with_the_system_is_told_what_fails)
{
    endure(&on_system[_i / 2], _i % 2 ? NO_SYSTEM : NO_MEMORY);
}
END_TEST

/* Else the tests above could not fail. */
START_TEST(what_is_asked_for_is_counted_and_what_is_kept_too)
{
    size_t kept;
    scarce_begin(SCARCE_MEMORY, 2, 0, false);
    void *volatile first = malloc(1), *volatile second = malloc(1), *volatile third = malloc(1);
    ck_assert_ptr_null(second);
    free(third);
    ck_assert_uint_eq(scarce_end(&kept), 1);
    ck_assert_uint_eq(kept, 1);
    free(first);
    scarce_begin(SCARCE_MEMORY, 1, 0, true);
    first = calloc(1, 1);
    second = strdup("");
    ck_assert(first == NULL && second == NULL);
    ck_assert_uint_eq(scarce_end(NULL), 2);
}
END_TEST

Suite *suite_hardship(void)
{
    enum {
        READING = sizeof reading / sizeof *reading,
        WRITING = sizeof writing / sizeof *writing,
        MAPPED = 9
    };
    Suite *suite = suite_create("hardship");
    places_share();
    TCase *tc = tcase_create("hardship");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, who_reads_without_memory_is_told_so, 0, READING);
    tcase_add_loop_test(tc, who_reads_where_a_call_fails_is_told_so_and_nothing_else_that_is_wrong,
                        0, READING);
    tcase_add_loop_test(tc, who_writes_without_memory_is_told_so_and_the_next_one_goes_on, 0,
                        WRITING);
    tcase_add_loop_test(tc, who_writes_without_memory_for_a_directory_is_told_so_and_the_next_one_goes_on, 0,
                        WRITING);
    tcase_add_loop_test(tc, who_writes_where_a_call_fails_is_told_so_and_the_next_one_goes_on, 0,
                        WRITING);
    tcase_add_loop_test(tc, who_reads_where_a_read_fails_is_told_so, 0,
                        2 * sizeof wading / sizeof *wading);
    tcase_add_loop_test(tc, who_reads_mapped_files_without_memory_is_told_so, 0, MAPPED);
    tcase_add_loop_test(tc, who_sees_nothing_where_there_is_something_to_be_read_is_told_so, 0,
                        sizeof looking / sizeof *looking);
    tcase_add_loop_test(tc, who_finds_something_else_than_there_was_says_so_or_goes_on_without_it, 0,
                        sizeof doubting / sizeof *doubting);
    tcase_add_loop_test(tc, who_has_little_to_do_is_told_what_fails_at_each_step_of_it, 0, 3 * sizeof small / sizeof *small);
    tcase_add_test(tc, what_is_asked_for_is_counted_and_what_is_kept_too);
    suite_add_tcase(suite, tc);
    TCase *real = tcase_create("system");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_set_timeout(real, 120);
    tcase_add_loop_test(real, who_reads_where_the_system_fails_is_told_so, 0, 4);
    tcase_add_loop_test(real, who_writes_where_the_system_fails_is_told_so, 0, 2);
    suite_add_tcase(suite, real);
    TCase *ways = tcase_create("ways"), *more = tcase_create("more of the system");
    tcase_add_checked_fixture(ways, fixture_setup_sim, fixture_teardown);
    tcase_add_checked_fixture(more, fixture_setup, fixture_teardown);
    tcase_set_timeout(ways, 120);
    tcase_set_timeout(more, 120);
    tcase_add_loop_test(ways, who_writes_in_any_way_is_told_what_fails_and_the_next_one_goes_on, 0,
                        2 * sizeof writing_more / sizeof *writing_more);
    tcase_add_loop_test(more, who_has_more_to_do_with_the_system_is_told_what_fails, 0,
                        2 * sizeof on_system / sizeof *on_system);
    suite_add_tcase(suite, ways);
    suite_add_tcase(suite, more);
    return suite;
}
