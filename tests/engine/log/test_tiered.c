/*
 * tests/engine/log/test_tiered.c: a log and the place where its oldest segments stand, as one directory, where both are of
 * different kinds: the log is on the simulated disk, the place in a store that the real disk stands for. And the list that
 * says what is there, forged and without memory. [TR-2] [TR-5] [TR-6]
 */
#include "engine/log/tier_list.h"
#include "engine/log/tiered.h"
#include "engine/os/store.h"
#include "engine/segment/probe.h"
#include "tests/engine/log/trimmed.h"
#include "tests/engine/scarce.h"
#include "tests/sanitized.h"
#include "tests/suites.h"

#include <u9/cursor.h>
#include <u9/follow.h>
#include <u9/guard.h>
#include <u9/index.h>
#include <u9/lookup.h>
#include <u9/tier.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

static u9_fault fault;

/* The list */

/* What one element of a list is instead of what it should be. */
typedef enum forgery { AS_IT_IS, LEFT_OUT, ENDS_HERE, ANOTHER_TYPE, TOO_LARGE, TOO_SMALL, FORGERIES } forgery;

enum { LIST_ELEMENTS = 6, SEGMENT_ELEMENTS = 10, ELEMENTS = LIST_ELEMENTS + 1 + SEGMENT_ELEMENTS + 1 };

/* Builds one list with an element after the other, and forges the one that it is told. */
typedef struct forger {
    u9_builder b;
    unsigned next, forged; /* elements are counted from 0 */
    forgery how;
} forger;

/* True if the next element is to be built as it is. */
static bool goes_in(forger *f)
{
    unsigned i = f->next++;
    if (i != f->forged) return i < f->forged || f->how != ENDS_HERE || i == ELEMENTS - 1;
    if (f->how == ANOTHER_TYPE) ck_assert_int_eq(u9_build_float64(&f->b, 1), U9_OK);
    return f->how > ANOTHER_TYPE;
}

static void forge_uint(forger *f, uint64_t v)
{
    if (goes_in(f)) ck_assert_int_eq(u9_build_uint(&f->b, v), U9_OK);
}

/* `size`: the only one that is right, or, where it is not fixed, one of which `most` is the largest. */
static void forge_sized(forger *f, bool text, size_t size, size_t most)
{
    static char bytes[5000];
    bool forged = f->next == f->forged;
    memset(bytes, 'a', sizeof bytes);
    if (forged && f->how == TOO_LARGE) size = most + 1;
    if (forged && f->how == TOO_SMALL && !text) size--;
    if (goes_in(f))
        ck_assert_int_eq(text ? u9_build_utf8(&f->b, bytes, size) : u9_build_bytes(&f->b, bytes, size), U9_OK);
}

/* A list of one segment, of which element `forged` is what `how` says. Returns its size. */
static size_t forge_list(uint8_t *out, size_t room, unsigned forged, forgery how)
{
    uint8_t sha[17] = {0};
    forger f = {.forged = forged, .how = how};
    u9_builder_init(&f.b, out, room);
    ck_assert_int_eq(u9_build_tuple_open(&f.b), U9_OK);
    if (goes_in(&f)) ck_assert_int_eq(u9_build_symbol(&f.b, forged == 0 && how > ANOTHER_TYPE ? "u9tear" : "u9tier"), U9_OK);
    forge_uint(&f, 1);
    forge_sized(&f, false, 16, 16);
    forge_sized(&f, true, 4, U9I_KIND_MAX);
    forge_sized(&f, true, 5, 4096);
    if (goes_in(&f)) { /* its segments, of which one is a tuple or none */
        ck_assert_int_eq(u9_build_tuple_open(&f.b), U9_OK);
        if (goes_in(&f)) {
            ck_assert_int_eq(u9_build_tuple_open(&f.b), U9_OK);
            for (unsigned i = 0; i < 7; i++) forge_uint(&f, i + 1);
            for (unsigned i = 0; i < 3; i++) forge_sized(&f, false, U9I_HASH_SIZE, U9I_HASH_SIZE);
            ck_assert_int_eq(u9_build_tuple_close(&f.b), U9_OK);
        }
        ck_assert_int_eq(u9_build_tuple_close(&f.b), U9_OK);
    }
    ck_assert_int_eq(u9_build_tuple_close(&f.b), U9_OK);
    u9i_hash(out, f.b.size, sha);
    f.next = ELEMENTS - 1;
    size_t size = forged == f.next && how == TOO_LARGE ? 17 : forged == f.next && how == TOO_SMALL ? 15 : 16;
    if (goes_in(&f)) ck_assert_int_eq(u9_build_bytes(&f.b, sha, size), U9_OK);
    return f.b.size;
}

/* True if an element of this number can be forged so: it is of another size, or of none that is fixed. */
static bool can_be(unsigned element, forgery how)
{
    bool text = element == 3 || element == 4, hash = element == 2 || element >= LIST_ELEMENTS + 8;
    if (how == TOO_LARGE) return text || hash || element == 0;
    if (how == TOO_SMALL) return hash;
    return how != AS_IT_IS && !(element == LIST_ELEMENTS && how < ANOTHER_TYPE); /* none is there: which may be so */
}

START_TEST(a_list_of_which_one_element_is_missing_or_is_another_is_refused) /* [TR-2] */
{
    static uint8_t bytes[8192];
    u9i_tier_list list;
    size_t n = forge_list(bytes, sizeof bytes, ELEMENTS, AS_IT_IS);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n, &list), U9_OK);
    ck_assert_uint_eq(list.count, 1);
    u9i_tier_list_free(&list);
    for (unsigned element = 0; element < ELEMENTS; element++)
        for (forgery how = LEFT_OUT; how < FORGERIES; how++) {
            if (!can_be(element, how)) continue;
            n = forge_list(bytes, sizeof bytes, element, how);
            u9_err err = u9i_tier_list_decode(bytes, n, &list);
            ck_assert_msg(err == U9_CORRUPT, "element %u, forged as %d: %s", element, (int)how, u9_err_name(err));
        }
    n = forge_list(bytes, sizeof bytes, ELEMENTS, AS_IT_IS);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n + 1, &list), U9_CORRUPT); /* a byte is behind it */
    bytes[0] = 0x81; /* no tuple, and hashed as it has to be */
    u9_builder b;
    u9_builder_init(&b, bytes + 1, sizeof bytes - 1);
    uint8_t sha[U9I_HASH_SIZE];
    u9i_hash(bytes, 1, sha);
    ck_assert_int_eq(u9_build_bytes(&b, sha, sizeof sha), U9_OK);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, 1 + b.size, &list), U9_CORRUPT);
}
END_TEST

/* A list of segments 1 and 3, behind which these numbers stand, in a tuple each; 0 ends a tuple, and all. */
static u9_err read_damaged(const uint64_t *numbers, bool single, u9i_tier_list *out)
{
    static uint8_t bytes[8192];
    u9_builder b;
    uint8_t zeros[U9I_HASH_SIZE] = {0}, sha[U9I_HASH_SIZE];
    u9_builder_init(&b, bytes, sizeof bytes);
    u9_err err = u9_build_tuple_open(&b);
    if (err == U9_OK) err = u9_build_symbol(&b, "u9tier");
    if (err == U9_OK) err = u9_build_uint(&b, 1);
    if (err == U9_OK) err = u9_build_bytes(&b, zeros, sizeof zeros);
    if (err == U9_OK) err = u9_build_utf8(&b, "muid", 4);
    if (err == U9_OK) err = u9_build_utf8(&b, "", 0);
    if (err == U9_OK) err = u9_build_tuple_open(&b);
    for (unsigned segment = 1; segment <= 3; segment += 2) {
        if (err == U9_OK) err = u9_build_tuple_open(&b);
        for (unsigned i = 0; i < 7 && err == U9_OK; i++) err = u9_build_uint(&b, segment);
        for (unsigned i = 0; i < 3 && err == U9_OK; i++) err = u9_build_bytes(&b, zeros, sizeof zeros);
        if (err == U9_OK) err = u9_build_tuple_close(&b);
    }
    if (err == U9_OK) err = u9_build_tuple_close(&b);
    if (single && err == U9_OK) err = u9_build_uint(&b, numbers[0]);
    for (; !single && *numbers && err == U9_OK; numbers++) {
        err = u9_build_tuple_open(&b);
        for (; *numbers && err == U9_OK; numbers++) err = u9_build_uint(&b, *numbers);
        if (err == U9_OK) err = u9_build_tuple_close(&b);
    }
    if (err == U9_OK) err = u9_build_tuple_close(&b);
    u9i_hash(bytes, b.size, sha);
    if (err == U9_OK) err = u9_build_bytes(&b, sha, sizeof sha);
    ck_assert_int_eq(err, U9_OK);
    return u9i_tier_list_decode(bytes, b.size, out);
}

START_TEST(those_that_were_damaged_stand_in_the_list_and_ascend) /* [TR-2] */
{
    static const uint64_t wrong[][6] = {{3, 1}, {1, 1}, {2}, {4}, {1, 0, 3}};
    static const uint64_t right[][4] = {{0}, {1}, {3}, {1, 3}};
    u9i_tier_list list;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) ck_assert_int_eq(read_damaged(wrong[i], false, &list), U9_CORRUPT);
    ck_assert_int_eq(read_damaged(right[1], true, &list), U9_CORRUPT);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        uint8_t *bytes;
        size_t size;
        ck_assert_int_eq(read_damaged(right[i], false, &list), U9_OK);
        ck_assert_int_eq(u9i_tier_list_encode(&list, "", &bytes, &size), U9_OK);
        u9i_tier_list_free(&list);
        ck_assert_int_eq(u9i_tier_list_decode(bytes, size, &list), U9_OK); /* as it is written */
        ck_assert_int_eq(list.segments[0].damaged, i == 1 || i == 3);
        ck_assert_int_eq(list.segments[1].damaged, i == 2 || i == 3);
        free(bytes);
        u9i_tier_list_free(&list);
    }
}
END_TEST

/* A list of `count` segments from `first` on, each of which says two keys. False: out of memory. */
static bool fill_list(u9i_tier_list *list, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        u9i_tiered s = {.number = first + i * 2, .size = i, .keys_size = 2};
        if ((s.keys = malloc(2)) == NULL) return false;
        memcpy(s.keys, "\x81\x82", 2);
        if (!u9i_tier_list_put(list, &s)) return false;
    }
    return true;
}

START_TEST(numbers_that_do_not_ascend_are_refused) /* [TR-2] */
{
    uint8_t *bytes;
    size_t size;
    u9i_tier_list read;
    u9i_tiered two[2] = {{.number = 2}, {.number = 2}};
    u9i_tier_list list = {.segments = two, .count = 2};
    for (unsigned first = 0; first < 4; first++) {
        two[0].number = first;
        ck_assert_int_eq(u9i_tier_list_encode(&list, "", &bytes, &size), U9_OK);
        ck_assert_int_eq(u9i_tier_list_decode(bytes, size, &read), first == 1 ? U9_OK : U9_CORRUPT);
        free(bytes);
        u9i_tier_list_free(&read);
    }
}
END_TEST

/* Fills, writes and reads one; what comes of it. */
static u9_err write_and_read(void)
{
    u9i_tier_list list = {.kind = "tid"}, read = {.count = 0};
    uint8_t *bytes = NULL;
    size_t size;
    u9_err err = fill_list(&list, 2, 20) && fill_list(&list, 1, 3) && fill_list(&list, 4, 1) ? U9_OK : U9_NOMEM;
    if (err == U9_OK) err = u9i_tier_list_encode(&list, "place", &bytes, &size);
    if (err == U9_OK) err = u9i_tier_list_decode(bytes, size, &read);
    if (err == U9_OK) {
        ck_assert_uint_eq(read.count, 23);
        ck_assert_uint_eq(read.segments[3].number, 4); /* which took the place of one of this number, */
        ck_assert_uint_eq(read.segments[3].size, 0);
        ck_assert_uint_eq(u9i_tier_list_find(&read, 40)->size, 19);
        ck_assert_ptr_null(u9i_tier_list_find(&read, 41)); /* and none has one that is not there */
        ck_assert_ptr_null(u9i_tier_list_find(&read, 7));
        ck_assert_mem_eq(read.segments[22].keys, "\x81\x82", 2);
    }
    free(bytes);
    u9i_tier_list_free(&list);
    u9i_tier_list_free(&read);
    return err;
}

/* The room for it ends at another of its bytes each time. */
START_TEST(a_list_for_whose_bytes_there_is_no_memory_is_not_made)
{
    char place[300];
    u9i_tier_list list = {.kind = "tid"};
    ck_assert(fill_list(&list, 1, 9));
    for (size_t n = 0; n < sizeof place; n++)
        for (unsigned nth = 1, failed = 1; failed > 0; nth++) {
            size_t kept, size;
            uint8_t *bytes;
            memset(place, 'p', n);
            place[n] = 0;
            scarce_begin(SCARCE_MEMORY, nth, 0, false);
            u9_err err = u9i_tier_list_encode(&list, place, &bytes, &size);
            if (err == U9_OK) free(bytes);
            failed = scarce_end(&kept);
            ck_assert(err == (failed > 0 ? U9_NOMEM : U9_OK) && kept == 0);
        }
    u9i_tier_list_free(&list);
}
END_TEST

START_TEST(a_list_for_which_there_is_no_memory_is_told_so_and_nothing_is_kept)
{
    unsigned nth = 0, failed = 1;
    for (; failed > 0; nth++) {
        size_t kept;
        scarce_begin(SCARCE_MEMORY, nth + 1, 0, false);
        u9_err err = write_and_read();
        failed = scarce_end(&kept);
        ck_assert_msg(err == (failed > 0 ? U9_NOMEM : U9_OK), "%u: %s", nth, u9_err_name(err));
        ck_assert_uint_eq(kept, 0);
    }
    ck_assert_uint_gt(nth, 50);
}
END_TEST

/* Two disks */

static bool find_real(const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    *env = &u9i_env_posix;
    *rest = path + strlen("real:");
    (void)why, (void)size;
    return true;
}

static void explain_nothing(int sys, char *out, size_t size)
{
    (void)sys, (void)out, (void)size;
}

static const u9_store *real_disk(const u9_store_host *host)
{
    static const u9_store store = {"real:", find_real, explain_nothing};
    (void)host;
    return &store;
}

static void tier_it(void)
{
    char to[3300];
    u9_tiered done = {.size = sizeof done};
    ck_assert_int_eq(u9_store_add(real_disk, &fault), U9_OK);
    snprintf(to, sizeof to, "real:%s", at("far"));
    u9_tier_options o = {.size = sizeof o, .to = to, .io = io_of(at("log")), .keep_bytes = 100000};
    u9_err err = u9_tier(at("log"), &o, &done, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_uint_ge(done.dropped, 2);
    ck_assert_uint_ge(segments_in(at("log")), 2);
}

/* A log of keys k000 to k039, all but whose last segments stand there alone. */
static void make_tiered(void)
{
    make_keyed_row(at("log"));
    tier_it();
}

static unsigned count_records(u9_log *log)
{
    u9_cursor *c;
    u9_record r;
    u9_err err;
    unsigned n = 0;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, &fault), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK) ck_assert_uint_eq(r.ordinal, n++);
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
    return n;
}

static void expect_whole(unsigned records)
{
    u9_log *log = open_reader(at("log"));
    ck_assert_uint_eq(count_records(log), records);
    close_log(log);
}

enum { SOUGHT = 24 };

/* Keys from both ends of the log, and from between, at once: all that are there. */
static void expect_all_keys(void)
{
    static char room[SOUGHT][TRIM_FILLER + 100], keys[SOUGHT][8];
    u9_lookup all[SOUGHT];
    u9_log *log = open_reader(at("log"));
    for (unsigned i = 0; i < SOUGHT; i++) {
        snprintf(keys[i], sizeof keys[i], "k%03u", i % 2 ? TRIM_RECORDS - i : i); /* k012 is called z */
        all[i] = (u9_lookup){.key = {keys[i], 4}, .buf = room[i], .cap = sizeof room[i]};
    }
    ck_assert_int_eq(u9_log_get_many(log, all, SOUGHT, &fault), U9_OK);
    for (unsigned i = 0; i < SOUGHT; i++) {
        ck_assert_int_eq(all[i].err, i == 12 ? U9_ABSENT : U9_OK);
        if (i != 12) ck_assert_uint_eq(all[i].record.ordinal, i % 2 ? TRIM_RECORDS - i : i);
    }
    close_log(log);
}

START_TEST(what_stands_on_two_disks_is_read_as_one_log) /* [TR-5] */
{
    make_tiered();
    if (_i == 1) ck_assert_int_eq(u9_guard_install(), U9_OK); /* files of both are mapped */
    expect_whole(TRIM_RECORDS);
    expect_all_keys();
}
END_TEST

/* Whoever had the log open before it had a place: what goes there is read there. */
START_TEST(a_handle_from_before_finds_what_went_to_the_place) /* [TR-5] */
{
    static char room[TRIM_FILLER + 100];
    u9_cursor *c;
    u9_record r;
    make_keyed_row(at("log"));
    u9_log *log = open_reader(at("log"));
    if (_i > 0) ck_assert_uint_eq(count_records(log), TRIM_RECORDS); /* it has looked at all of it */
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, &fault), U9_OK);
    ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_OK);
    tier_it();
    for (unsigned i = 0; i < TRIM_RECORDS; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, i);
    }
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    ck_assert_uint_eq(count_records(log), TRIM_RECORDS);
    ck_assert_int_eq(u9_log_get(log, &(u9_key){"k000", 4}, room, sizeof room, &r, &fault), U9_OK);
    ck_assert_uint_eq(r.ordinal, 0);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* And if that place cannot be reached it is told so, and nothing is left out. */
START_TEST(a_handle_from_before_is_told_of_a_place_that_it_cannot_open) /* [TR-5] */
{
    u9_cursor *c;
    make_keyed_row(at("log"));
    u9_log *log = open_reader(at("log"));
    tier_it();
    char far[3300], away[3300];
    snprintf(far, sizeof far, "%s", at("far"));
    snprintf(away, sizeof away, "%s", at("away"));
    ck_assert_int_eq(rename(far, away), 0);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, &fault), U9_IO);
    ck_assert_int_eq(rename(away, far), 0);
    ck_assert_uint_eq(count_records(log), TRIM_RECORDS);
    close_log(log);
}
END_TEST

START_TEST(indexes_of_segments_that_stand_there_are_made_here) /* [TR-5] */
{
    make_tiered();
    u9_index_options o = {.size = sizeof o, .io = io_of(at("log"))};
    u9_index_report r = {.size = sizeof r};
    uint64_t size = file_size(segment_path(at("far"), 2));
    fill_bytes(segment_path(at("far"), 2), size - 2 * BLOCK, 2 * BLOCK, 0); /* its index is not found */
    ck_assert(!exists(at("log/0000000000000002.u9x")));
    ck_assert_int_eq(u9_indexes_build(at("log"), &o, &r, &fault), U9_OK);
    ck_assert(exists(at("log/0000000000000002.u9x")));
    ck_assert(!exists(at("far/0000000000000002.u9x")));
    expect_all_keys();
}
END_TEST

/* A writer, a session that gives up what is lost, and whoever says more: all is done here. [TR-6] */
START_TEST(a_loss_is_given_up_where_the_log_is)
{
    make_tiered();
    u9_loss loss = {.size = sizeof loss};
    unsigned last = (unsigned)marked_by(at("log")).segment;
    uint64_t lost = first_in(at("log"), last);
    remove_log(segment_path(at("log"), last));
    ck_assert_int_eq(u9_accept_loss(at("log"), 1, io_of(at("log")), &loss, &fault), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_ACCEPTED);
    ck_assert_uint_eq(loss.next_ordinal, lost);
    expect_whole((unsigned)lost);
    ck_assert(exists(segment_path(at("log"), loss.segment)) && !exists(segment_path(at("far"), loss.segment)));
}
END_TEST

START_TEST(who_follows_it_is_told_of_what_is_appended_here) /* [TR-5] [M-10] */
{
    enum { HOUR_MS = 3600000 };
    make_tiered();
    u9_cursor *c;
    u9_record r;
    u9_err err;
    unsigned next = 0;
    u9_options o = small_options();
    o.kind = "rkey";
    u9_log *w = open_writer(at("log"), &o), *log = open_reader(at("log"));
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, &fault), U9_OK);
    ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_OK);
    for (unsigned last = TRIM_RECORDS; last < TRIM_RECORDS + 5; last++) {
        u9_key key = {"more", 4};
        ck_assert_int_eq(u9_log_append(w, &key, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        while (next <= last) {
            while ((err = u9_cursor_next(c, &r)) == U9_OK) ck_assert_uint_eq(r.ordinal, next++);
            ck_assert_int_eq(err, U9_END);
            if (next <= last) ck_assert_int_eq(u9_cursor_wait(c, HOUR_MS), U9_OK);
        }
    }
    u9_cursor_close(c);
    close_log(log);
    close_log(w);
}
END_TEST

/* The log's directory together with the place. */
static u9i_dir *open_both(void)
{
    u9i_dir *dir;
    ck_assert_int_eq(u9i_dir_open(sim_env(), at("log"), false, &dir), 0);
    ck_assert_int_eq(u9i_tiered_open(&dir, at("log"), &fault), U9_OK);
    return dir;
}

START_TEST(what_has_a_name_there_is_read_there_and_changed_nowhere) /* [TR-5] */
{
    static const char there[] = "0000000000000002.u9", none[] = "0000000000000999.u9", other[] = "other";
    char path[4400], bytes[8], last[20];
    uint64_t identity[2];
    size_t got;
    u9i_stamp stamp;
    u9i_file *file;
    make_tiered();
    u9i_segment_name(marked_by(at("log")).segment, last);
    remove_log(segment_path(at("far"), 1)); /* which is lost */
    u9i_dir *dir = open_both(), *beside;
    ck_assert_int_eq(u9i_dir_open(sim_env(), at("beside"), true, &beside), 0);
    ck_assert_int_eq(u9i_dir_stat(dir, "0000000000000001.u9", &stamp), -ENOENT);
    ck_assert_int_eq(u9i_dir_stat(dir, there, &stamp), 0);
    ck_assert_int_eq(u9i_dir_identify(dir, there, identity), 0);
    ck_assert_int_eq(u9i_dir_stat(dir, none, &stamp), -ENOENT);
    ck_assert_int_eq(u9i_dir_identify(dir, none, identity), -ENOENT);
    ck_assert_int_eq(u9i_dir_link(dir, there, beside, other), -EXDEV);
    ck_assert_int_eq(u9i_dir_link(dir, none, beside, other), -ENOENT);
    ck_assert_int_eq(u9i_dir_rename(dir, there, other), -ENOENT);
    ck_assert_int_eq(u9i_dir_remove(dir, there), -ENOENT);
    ck_assert_int_eq(u9i_dir_dress(dir, there, &stamp), -ENOENT);
    ck_assert(exists(segment_path(at("far"), 2)));
    ck_assert(!u9i_dir_writer_active(dir, there) && !u9i_dir_writer_active(dir, last));
    ck_assert(u9i_dir_where(dir, there, path, sizeof path) && strcmp(path + strlen("real:"), segment_path(at("far"), 2)) == 0);
    ck_assert(!u9i_dir_where(dir, last, path, sizeof path) && !u9i_dir_where(dir, none, path, sizeof path));
    ck_assert(!u9i_dir_where(dir, "0000000000000000.u9", path, sizeof path) && !u9i_dir_where(dir, other, path, sizeof path));
    ck_assert_int_eq(u9i_file_open(dir, none, U9I_OPEN_READ, &file), -ENOENT);
    ck_assert_int_eq(u9i_file_open(dir, there, U9I_OPEN_WRITE, &file), -ENOENT);
    ck_assert_int_eq(u9i_dir_post(dir, other, "posted", 7), 0);
    ck_assert_int_eq(u9i_dir_posted(dir, other, bytes, sizeof bytes, &got), 0);
    ck_assert_str_eq(bytes, "posted");
    ck_assert(!exists(at("far/other")));
    u9i_dir_close(beside);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(one_queue_reads_files_of_both) /* [TR-5] */
{
    uint8_t bytes[2][BLOCK], want[BLOCK];
    char last[20];
    u9i_queue *queue;
    u9i_op ops[U9I_QUEUE_DEPTH + 1];
    u9i_completion done[4];
    make_tiered();
    uint64_t numbers[2] = {2, marked_by(at("log")).segment};
    u9i_segment_name(numbers[1], last);
    u9i_dir *dir = open_both();
    u9i_file *files[2];
    ck_assert_int_eq(u9i_file_open(dir, "0000000000000002.u9", U9I_OPEN_READ, &files[0]), 0);
    ck_assert_int_eq(u9i_file_open(dir, last, U9I_OPEN_READ, &files[1]), 0);
    ck_assert_int_eq(u9i_queue_open(dir->env, NULL, 0, 0, &queue), 0);
    for (unsigned i = 0; i < U9I_QUEUE_DEPTH + 1; i++)
        ops[i] = (u9i_op){.kind = U9I_OP_READ, .file = files[i % 2], .buf = bytes[i % 2], .n = BLOCK, .tag = i % 2};
    ck_assert_int_eq(u9i_queue_submit(queue, ops, U9I_QUEUE_DEPTH + 1), -EBUSY);
    u9i_queue_wake(queue);
    ck_assert_int_eq(u9i_queue_wait(queue, done, 4, U9I_FOREVER), 0); /* woken before it waits, and nothing is under way */
    for (unsigned which = 1; which < 4; which++) { /* there, here, both */
        unsigned count = which == 3 ? 2 : 1, told = 0;
        memset(bytes, 0, sizeof bytes);
        ck_assert_int_eq(u9i_queue_submit(queue, ops + which / 2 % 2 * (which != 3), count), 0);
        while (told < count) {
            int n = u9i_queue_wait(queue, done, 4, U9I_FOREVER);
            ck_assert_int_gt(n, 0);
            for (int i = 0; i < n; i++, told++) {
                uint64_t k = done[i].tag;
                ck_assert_int_eq(done[i].result, BLOCK);
                read_bytes(segment_path(at(k == 0 ? "far" : "log"), numbers[k]), 0, want, BLOCK);
                ck_assert_mem_eq(bytes[k], want, BLOCK);
            }
        }
    }
    ck_assert_int_eq(u9i_queue_submit(queue, ops, U9I_QUEUE_DEPTH), 0);
    ck_assert_int_eq(u9i_queue_submit(queue, ops, 1), -EBUSY);
    u9i_queue_settle(queue);
    ck_assert_int_eq(u9i_queue_submit(queue, ops, 1), 0);
    u9i_queue_wake(queue);
    u9i_queue_close(queue);
    u9i_file_close(files[0]);
    u9i_file_close(files[1]);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_list_that_is_none_by_its_size_is_refused_unread) /* [TR-2] */
{
    u9_log *log;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    make_tiered();
    extend_file(file_in(at("log"), ".tier"), (UINT64_C(1) << 30) + 1);
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_CORRUPT);
    ck_assert_str_eq(fault.rule, "TR-2");
}
END_TEST

START_TEST(a_place_whose_address_nobody_knows_is_told) /* [TR-5] */
{
    make_tiered();
    uint8_t *bytes;
    size_t size;
    u9_log *log;
    u9i_tier_list list;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    bytes = read_file(file_in(at("log"), ".tier"), &size);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, size, &list), U9_OK);
    free(bytes);
    ck_assert_int_eq(u9i_tier_list_encode(&list, "nobody://knows", &bytes, &size), U9_OK);
    write_file(file_in(at("log"), ".tier"), bytes, size);
    free(bytes);
    u9i_tier_list_free(&list);
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "nobody://knows: no library was added"));
}
END_TEST

Suite *suite_tiered(void)
{
    Suite *suite = suite_create("tiered");
    TCase *tc = tcase_create("tiered");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, a_list_of_which_one_element_is_missing_or_is_another_is_refused);
    tcase_add_test(tc, a_list_for_which_there_is_no_memory_is_told_so_and_nothing_is_kept);
    tcase_add_test(tc, a_list_for_whose_bytes_there_is_no_memory_is_not_made);
    tcase_add_test(tc, numbers_that_do_not_ascend_are_refused);
    tcase_add_test(tc, those_that_were_damaged_stand_in_the_list_and_ascend);
    tcase_add_loop_test(tc, what_stands_on_two_disks_is_read_as_one_log, 0, SANITIZED ? 1 : 2);
    tcase_add_loop_test(tc, a_handle_from_before_finds_what_went_to_the_place, 0, 2);
    tcase_add_test(tc, a_handle_from_before_is_told_of_a_place_that_it_cannot_open);
    tcase_add_test(tc, indexes_of_segments_that_stand_there_are_made_here);
    tcase_add_test(tc, a_loss_is_given_up_where_the_log_is);
    tcase_add_test(tc, who_follows_it_is_told_of_what_is_appended_here);
    tcase_add_test(tc, what_has_a_name_there_is_read_there_and_changed_nowhere);
    tcase_add_test(tc, one_queue_reads_files_of_both);
    tcase_add_test(tc, a_list_that_is_none_by_its_size_is_refused_unread);
    tcase_add_test(tc, a_place_whose_address_nobody_knows_is_told);
    suite_add_tcase(suite, tc);
    return suite;
}
