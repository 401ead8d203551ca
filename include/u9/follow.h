/*
 * u9/follow.h: waiting at the end of a log for more (SPEC.md, M-10).
 *
 *     err = u9_cursor_follow(cursor, U9_SHOW_DURABLE);
 *     while (err == U9_OK) {
 *         while ((err = u9_cursor_next(cursor, &record)) == U9_OK) use(&record);
 *         if (err == U9_END) err = u9_cursor_wait(cursor, U9_NO_TIMEOUT);
 *     }
 *
 * A followed log may be written by this process, on any handle, or by another. Records come in whole frames, each once
 * and in order, over rolls, over the end of a session, clean or not, and the begin of the next one. What was trimmed
 * before it was read is told (U9_R_TRIMMED), and reading goes on behind it.
 *
 * Beside a live writer only what is on stable storage is shown, and that as soon as it is: the writer says so in the
 * file `.live`. Where that is not to be had (a writer of another version, another machine), the log's mark says it
 * within a second. With no writer what is there is made durable first, as u9_cursor_open says.
 */
#ifndef U9_FOLLOW_H
#define U9_FOLLOW_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is shown beside a live writer. */
typedef enum u9_shown {
    U9_SHOW_DURABLE = 0, /* what is on stable storage */
    U9_SHOW_WRITTEN = 1  /* what is in the files: sooner, but a power cut may take back what was shown, and other records
                          * get its ordinals then. Records that a writer still has in memory are not in the files. */
} u9_shown;

#define U9_NO_TIMEOUT UINT64_MAX /* milliseconds that never pass */

/*
 * From now on the end of the log is not the end: `cursor` shows what `shows` says, and after U9_END u9_cursor_wait tells
 * when u9_cursor_next has more. To be called before the first u9_cursor_next, or what that shows may not be durable.
 * How an unclosed log ends (U9_R_UNCLOSED) is no longer told. The cursor's thread. Once more changes `shows`. U9_ARG: a
 * NULL; a cursor on a range of one segment, on a single file, or on plain seed files; `shows` is neither. U9_STATE:
 * forked. U9_NOMEM. Details: u9_cursor_fault.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_follow(u9_cursor *cursor, u9_shown shows);

/*
 * Waits until u9_cursor_next may have more. U9_OK: it may (it may also say U9_END once more). U9_AGAIN: `timeout_ms`
 * are over, or a signal came. 0: does not wait. A cursor that was not followed is from now on, with U9_SHOW_DURABLE.
 * U9_IO: the log cannot be looked at, its directory was removed, for one; U9_ARG, U9_STATE, U9_NOMEM. Details:
 * u9_cursor_fault.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_wait(u9_cursor *cursor, uint64_t timeout_ms);

/*
 * A descriptor (Linux) for poll, select and their like: readable when something was done to the log. The cursor's own,
 * made at the first call and closed with it. So: u9_cursor_next up to U9_END; u9_cursor_wait(cursor, 0), which takes
 * what made it readable; U9_OK: again from the start; U9_AGAIN: poll, with a timeout of a second or so where what is
 * done on other machines, or by writers of another version, is to be seen. -1: there is none (not followed, forked,
 * too many descriptors).
 */
U9_API int u9_cursor_event_fd(u9_cursor *cursor);

/*
 * Waits until there is a log at `path`: a directory with one, not a creation that was cut short. U9_OK: u9_log_open can
 * be tried, with the same `options` (NULL: read). U9_AGAIN: `timeout_ms` are over, or a signal came. Other errors as
 * u9_log_open, which may well be in the way of it. Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_log_await(const char *path, const u9_options *options, uint64_t timeout_ms,
                                         u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
