/*
 * engine/read/lookup.h: what lookups of one key, of many and of versions share.
 */
#ifndef U9I_LOOKUP_H
#define U9I_LOOKUP_H

#include "engine/read/view.h"

#include <u9/lookup.h>

/* An argument is NULL, or the handle is another process's: U9_ARG, U9_STATE; a key that is none of the log's: U9_ARG. */
U9_MUST_CHECK u9_err u9i_lookup_check(const u9_log *log, const u9_key *key, u9_fault *fault);

/* As u9_record_open; not `shown` to the caller before, frames that were proven once are not proven again. */
U9_MUST_CHECK u9_err u9i_reading_open(u9_log *log, const u9_record *record, bool shown, u9_reading **out, u9_fault *fault);

/* Goes through all of its parts. U9_CORRUPT: one is not there, or not as it was. */
U9_MUST_CHECK u9_err u9i_reading_prove(u9_reading *reading);

/* True if these bytes are the key. A record without a key has none. */
bool u9i_lookup_same(const u9_key *key, const void *data, size_t size);

/* What the key is in indexes of the log's own spec, if these are in the order of keys. False: they are not. */
U9_MUST_CHECK bool u9i_lookup_entry(const u9_log *log, const u9_key *key, u9i_key_entry *out);

/* What the handle has appended is there for who reads, from now on. */
U9_MUST_CHECK u9_err u9i_lookup_sync(u9_log *log, u9_fault *fault);

/* True if no record of segment i of the view can have this key. */
bool u9i_lookup_excludes(const u9i_view *view, size_t i, const u9i_key_entry *entry);

/* How many segments of a view whose order is U9I_ORDER_ROW begin at or below the key: it is in the last of these, if not
 * in one before that ends with it. */
size_t u9i_lookup_last(const u9i_view *view, const u9i_key_entry *entry);

/* True if records were lost behind this place in a segment of the view, so that one that is newer than what was found there
 * may have had its key. All segments behind that have been asked for an index. */
bool u9i_lookup_newer_lost(const u9i_view *view, const u9i_indexed *segment, uint64_t at);

/* A found record as it is shown; borrows the frame. */
u9_record u9i_lookup_record(uint64_t segment, const u9i_open_frame *frame, const u9i_found *found);

/* The same in the caller's buffer, which has room for it. */
void u9i_lookup_keep(const u9_record *r, void *buf, u9_record *out);

#endif
