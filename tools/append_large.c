/*
 * tools/append_large.c: `u9 append --whole` of a file that no append takes at once. It is read twice: whether it is
 * text, and how large, has to be known before the first byte goes in. So it must be a file, not a pipe.
 */
#include "tools/append.h"

#include "tools/text.h"
#include "tools/tool.h"

#include <u9/large.h>
#include <u9/value.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

/* True if a signal has come. */
static int is_stopped(struct append *a)
{
    struct pollfd fd = {.fd = a->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&fd, 1, 0) > 0 && read(a->signals, &info, sizeof info) == sizeof info)
        a->stopped = (int)info.ssi_signo;
    return a->stopped != 0;
}

/* Up to `size` bytes from `at` on; fewer only at the end. -1: errno. */
static ssize_t read_at(int fd, char *buf, size_t size, off_t at)
{
    size_t have = 0;
    while (have < size) {
        ssize_t n = pread(fd, buf + have, size - have, at + (off_t)have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

/* Is all of [at, end) valid UTF-8? */
static int look_through(struct append *a, int fd, off_t at, off_t end, int *text)
{
    *text = 1;
    while (at < end && *text && !is_stopped(a)) {
        ssize_t n = read_at(fd, a->in, PIECE, at);
        if (n < 0) return append_input_failed(a, errno);
        if (n == 0) break;
        size_t whole =
            at + n < end ? tool_utf8_whole((const uint8_t *)a->in, (size_t)n) : (size_t)n;
        *text = whole > 0 && u9_utf8_valid(a->in, whole);
        at += (off_t)whole;
    }
    return TOOL_DONE;
}

/* The file's bytes, behind the value's head. */
static int copy_file(struct append *a, u9_append *append, int fd, off_t at, off_t end)
{
    while (at < end && !is_stopped(a)) {
        ssize_t n = read_at(fd, a->in, end - at < PIECE ? (size_t)(end - at) : PIECE, at);
        if (n < 0) return append_input_failed(a, errno);
        if (n == 0) return append_refuse(a, "it became shorter while it was read");
        if (u9_append_write(append, a->in, (size_t)n) != U9_OK) return tool_appended_refused(&a->done);
        at += n;
        a->read += (uint64_t)n;
        tool_progress_tell(&a->bar, a->read, a->all);
    }
    return TOOL_DONE;
}

static int put_large(struct append *a, int fd, off_t at, off_t end)
{
    int text;
    uint8_t head[9];
    u9_append *append;
    u9_place place;
    uint64_t size = (uint64_t)(end - at);
    int status = look_through(a, fd, at, end, &text);
    if (status != TOOL_DONE || a->stopped) return status;
    size_t front = u9_value_head(text ? U9_UTF8 : U9_BYTES, size, head);
    u9_err err = u9_append_begin(a->done.log, NULL, 1, front + size, &append, NULL);
    if (err == U9_LIMIT) return append_refuse(a, "longer than a record may be (2 TiB)");
    if (err != U9_OK) return tool_appended_refused(&a->done);
    if (u9_append_write(append, head, front) != U9_OK) status = tool_appended_refused(&a->done);
    if (status == TOOL_DONE) status = copy_file(a, append, fd, at, end);
    if (status == TOOL_DONE && !a->stopped && u9_append_end(append, &place) != U9_OK)
        status = tool_appended_refused(&a->done);
    if (status != TOOL_DONE || a->stopped) {
        u9_append_abort(append);
        return status;
    }
    return append_took(a, &place, NULL, size);
}

int append_is_large(int fd, off_t *at, off_t *end)
{
    struct stat st;
    *at = lseek(fd, 0, SEEK_CUR);
    if (*at < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    *end = st.st_size;
    return st.st_size - *at > (off_t)U9_RECORD_MAX - 1024; /* what a key and heads take */
}

int append_large(struct append *a, int fd, off_t at, off_t end)
{
    a->done.number++;
    return put_large(a, fd, at, end);
}
