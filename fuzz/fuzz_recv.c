/*
 * fuzz/fuzz_recv.c: hostile streams, received into logs. [T-9] to [T-13] Input: a byte, then the stream; of the byte
 * bit 0: the log has records already that a first stream brought, [1, 1 + the rest of the byte) bytes of eight of the input.
 *
 * Whatever comes: it is received, or refused with a fault that has a rule or an errno; the log that is there then is whole, and closed; what
 * it had is still there; and once more the same stream changes nothing, and comes to the same.
 */
#include "fuzz/folder.h"

#include <u9.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)make_folder();
    return 0;
}

static u9_err receive(const uint8_t *bytes, size_t size, u9_ship_report *report)
{
    u9_options quick = {.size = sizeof quick, .policy = U9_POLICY_NONE, .segment_size = 1 << 16};
    u9_fault fault = {.sys = 0};
    int in = memfd_create("stream", MFD_CLOEXEC);
    must(in >= 0 && pwrite(in, bytes, size, 0) == (ssize_t)size);
    u9_recv_options o = {.size = sizeof o, .in = in, .out = -1, .log = &quick};
    *report = (u9_ship_report){.size = sizeof *report};
    u9_err err = u9_log_recv(log_path, &o, report, &fault);
    close(in);
    must(err <= 0 && err != U9_POISONED && err != U9_STATE && err != U9_LOCKED);
    must(err == U9_OK || (fault.err == err && fault.text[0]));
    return err;
}

/* What the log holds, folded into a number; it is whole, if there is one. */
static uint64_t look(uint64_t *fold)
{
    u9_report r = {.size = sizeof r};
    u9_log *log;
    u9_cursor *c = NULL;
    u9_record record;
    uint64_t count = 0;
    u9_options o = {.size = sizeof o, .mode = U9_READ};
    *fold = 0;
    u9_err err = u9_check(log_path, NULL, &r, NULL);
    if (err == U9_ABSENT || err == U9_IO) return 0; /* nothing came */
    must(err == U9_OK && r.verdict == U9_V_CLEAN && r.closed);
    must(u9_log_open(log_path, &o, &log, NULL) == U9_OK &&
         u9_cursor_open(log, NULL, &c, NULL) == U9_OK);
    while ((err = u9_cursor_next(c, &record)) == U9_OK) {
        must(record.ordinal == count++);
        for (size_t i = 0; i < record.size; i++)
            *fold = (*fold ^ record.bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    must(err == U9_END && count == r.records);
    u9_cursor_close(c);
    must(u9_log_close(log, NULL) == U9_OK);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u9_ship_report report;
    uint64_t before = 0, after, again, fold_before, fold, fold_again;
    if (size < 1) return 0;
    clear(log_path);
    const uint8_t *stream = data + 1;
    size_t n = size - 1;
    if (data[0] & 1) {
        (void)receive(stream, n * (data[0] >> 1) / 128, &report);
        before = look(&fold_before);
        must(before == report.records);
    }
    u9_err err = receive(stream, n, &report);
    after = look(&fold);
    must(after >= before && after == before + report.records);
    must(err != U9_OK || report.next == after);
    u9_err then = receive(stream, n, &report);
    again = look(&fold_again);
    must(then == err && again == after && fold_again == fold && report.records == 0);
    clear(log_path);
    return 0;
}
