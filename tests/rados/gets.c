/*
 * tests/rados/gets.c: see fixture.h: lookups of random keys, step by step, so that who watches can count what they ask for.
 */
#include "tests/rados/fixture.h"

#include <u9/rados.h>

#include <endian.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 16, SEGMENT = 16 << 20, GETS = 100 };

static uint64_t mixed(uint64_t i)
{
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
    return i ^ i >> 31;
}

/* In no order. */
static u9_key key_of(uint64_t i, uint8_t bytes[KEY])
{
    uint64_t high = mixed(i + 1), halves[2] = {htobe64(high), htobe64(mixed(high) >> 1)};
    memcpy(bytes, halves, KEY);
    return (u9_key){.data = bytes, .size = KEY};
}

static u9_err fill(const char *at, uint64_t count, u9_fault *fault)
{
    static const uint8_t value[100] = {0x1d, 0, 97}; /* 97 bytes of zeros */
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .policy = U9_POLICY_NONE, .segment_size = SEGMENT};
    u9_log *log;
    u9_err err = u9_log_open(at, &o, &log, fault);
    if (err != U9_OK) return err;
    for (uint64_t i = 0; i < count && err == U9_OK; i++) {
        uint8_t bytes[KEY];
        u9_key key = key_of(i, bytes);
        u9_place place;
        err = u9_log_append(log, &key, value, sizeof value, &place);
    }
    if (err != U9_OK) u9_log_fault(log, fault);
    u9_err closed = u9_log_close(log, err == U9_OK ? fault : NULL);
    return err == U9_OK ? closed : err;
}

static void wait_for_word(void)
{
    sigset_t usr;
    int got;
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    (void)sigwait(&usr, &got);
}

static bool find_all(u9_log *log, uint64_t from, uint64_t count)
{
    static uint8_t room[4096];
    for (uint64_t i = 0; i < GETS; i++) {
        uint8_t bytes[KEY];
        u9_key key = key_of(mixed(from + i) % count, bytes);
        u9_record r;
        u9_fault fault = {0};
        if (u9_log_get(log, &key, room, sizeof room, &r, &fault) == U9_OK) continue;
        fprintf(stderr, "get: %s\n", fault.text);
        return false;
    }
    puts("got");
    fflush(stdout);
    return true;
}

int run_gets(const char *at, unsigned count)
{
    u9_options o = {.size = sizeof o, .mode = U9_READ};
    u9_fault fault = {0};
    u9_log *log;
    sigset_t usr;
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr, NULL);
    u9_err err = u9_store_add(u9_rados_store, &fault);
    if (err == U9_OK) err = fill(at, count, &fault);
    if (err == U9_OK) err = u9_log_open(at, &o, &log, &fault);
    if (err != U9_OK) {
        fprintf(stderr, "%s: %s\n", u9_err_name(err), fault.text);
        return 3;
    }
    bool found = find_all(log, 0, count); /* the view is made, the tables of segments are read */
    wait_for_word();
    found = found && find_all(log, 1000, count);
    wait_for_word();
    found = found && find_all(log, 1000, count); /* once more: these frames are known */
    wait_for_word();
    return u9_log_close(log, NULL) == U9_OK && found ? 0 : 3;
}
