/*
 * u9/large.h: records larger than memory, written and read in pieces (SPEC.md, C-6).
 *
 * Such a record is like any other: it has a key, an ordinal, and is there as a whole or not at all. Its bytes stand in
 * parts, in frames of their own, between which other records may be appended. One that is being written takes some
 * 1 MiB of memory, one that is read a frame's worth.
 */
#ifndef U9_LARGE_H
#define U9_LARGE_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_LARGE_MAX (UINT64_C(1) << 41) /* bytes of values that one record takes */

typedef struct u9_append u9_append;   /* opaque; one record on its way into a log */
typedef struct u9_reading u9_reading; /* opaque; one record that is read in pieces */

/*
 * Begins a record of `count` values that have `size` bytes together, back to back, as u9_log_append takes them;
 * the values then come by u9_append_write. `key` as there; it is drawn, or checked, here and now, and told in `*place`
 * (may be NULL), whose ordinal is U9_NOWHERE until the end. It costs a frame for each 1 MiB or less, and is not
 * compressed: for records of up to U9_RECORD_MAX bytes u9_log_append is better.
 *
 * Until it is ended or aborted the log goes on in the segment in which its first part stands, however large that
 * becomes, and others append to it as always (U9_AGAIN: the segment's bytes, 2^43, would no longer hold what is to
 * come of this record). After a crash, an abort or a close in between nothing of it is there, and that is no
 * damage; its bytes stay in their segment. The key's time is that of the beginning: records that come in between
 * have later ones [L-7].
 *
 * On success the caller ends it with u9_append_end or u9_append_abort. One thread at a time uses it; several logs'
 * are independent. Errors, with their detail in u9_log_fault: U9_AGAIN (another one is under way in this log),
 * U9_LIMIT (over U9_LARGE_MAX), U9_ARG (also size above 0 with count 0), U9_NOMEM, and those of u9_log_append. On
 * an error nothing is begun.
 */
U9_API U9_MUST_CHECK u9_err u9_append_begin(u9_log *log, const u9_key *key, uint64_t count, uint64_t size,
                                            u9_append **out, u9_place *place);

/*
 * Takes the next `size` bytes of the values, in pieces of any size; they are copied. Does not wait for stable
 * storage, but as the policy says. U9_ARG: more than were announced, and nothing was taken; or the values are not
 * well-formed, or not so many: the fault has no path, its offset is the byte of the values, its rule one of
 * SPEC-values.md; then only u9_append_abort helps. U9_LIMIT: the same for what cannot be proved in pieces: a single
 * array of tuples, or index, of over U9_RECORD_MAX bytes. U9_IO with sys ENOSPC or EFBIG: no room; what
 * u9_append_taken tells was taken, the rest may be written when there is some. U9_AGAIN (options.no_wait): so it is
 * while the writer's memory is in use. U9_POISONED, U9_STATE (the log is closed, or another process's).
 */
U9_API U9_MUST_CHECK u9_err u9_append_write(u9_append *append, const void *bytes, size_t size);

/* Bytes of values taken so far. 0 for NULL. */
U9_API uint64_t u9_append_taken(const u9_append *append);

/*
 * Ends it: the record is appended as a whole, and `append` is gone. `*place` (may be NULL) has its ordinal, with
 * which u9_log_commit waits for it. U9_STATE: bytes are still to come; U9_ARG: fewer values than were announced;
 * else as u9_append_write. On an error it is still there, and the same call may be tried again.
 */
U9_API U9_MUST_CHECK u9_err u9_append_end(u9_append *append, u9_place *place);

/* Gives it up, also behind a failure, or when the log is closed: nothing of it is in the log. NULL is fine. */
U9_API void u9_append_abort(u9_append *append);

/*
 * Opens a record to be read in pieces: any that a cursor or u9_log_get of this log has shown, by its `segment`,
 * `frame`, `at` and `size`; nothing else of `record` is used, and it need not live on. It may be opened again
 * later, while its segment is there; while a cursor that has shown it in pieces (U9_LIMIT) is still at it, also if that
 * was trimmed. The log must stay open. One thread at a time uses a reading. Close with
 * u9_record_close. U9_ARG: an argument is NULL; U9_ABSENT: its segment is not there (any more); U9_CORRUPT: no such
 * record stands there; U9_IO, U9_NOMEM, U9_STATE; of a handle that writes, which writes it first where that was not done
 * yet, those of u9_log_sync.
 */
U9_API U9_MUST_CHECK u9_err u9_record_open(u9_log *log, const u9_record *record, u9_reading **out, u9_fault *fault);

/*
 * Copies `size` bytes of the record (u9_record.bytes: a tuple, its values at the end of it) from `offset` on, or as
 * many as there are, into `buf`, and sets `*got`. All of them were verified, as they came from the disk now. Going
 * on from where the last call ended costs the least; going back costs at most 1/32 of the record, or what was not
 * read before. U9_END: there are none at `offset`. U9_CORRUPT: a part is damaged, or gone: `*got` bytes before it
 * are good; the fault has the record's first byte that is not to be had in its sentence, and the place in the file.
 * U9_IO.
 */
U9_API U9_MUST_CHECK u9_err u9_record_read(u9_reading *reading, uint64_t offset, void *buf, size_t size, size_t *got,
                                           u9_fault *fault);

U9_API void u9_record_close(u9_reading *reading); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
