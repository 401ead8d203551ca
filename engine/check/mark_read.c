/*
 * engine/check/mark_read.c: the mark that counts of a log, for who keeps it elsewhere. [M-3] [M-4] [M-7]
 */
#include "engine/check/repair.h"

#include "engine/log/handle.h"

#include <string.h>

void u9i_mark_public(const u9i_mark_record *record, u9_mark *out)
{
    *out = (u9_mark){.first_ordinal = record->first_ordinal, .segment = record->segment,
                     .offset = record->end.offset, .ordinal = record->end.ordinal, .time_us = record->time_us};
    memcpy(out->log, record->log, sizeof out->log);
    memcpy(out->boundary, record->boundary, sizeof out->boundary);
    memcpy(out->chain, record->end.chain, sizeof out->chain);
}

/* Why no mark counts. */
static const char *why_none(const u9i_source *source, const u9i_catalog *catalog)
{
    static const char *const why[] = {
        [U9_MARK_NONE] = "the log has no mark: its next session that writes makes one",
        [U9_MARK_COUNTS] = "",
        [U9_MARK_SHARED] = "the log's mark has other names (hard links), and may be that of a copy: the next session "
                           "that writes makes one of its own",
        [U9_MARK_FOREIGN] = "the log's mark is of another log, or of a trimmed segment: the next session that writes "
                            "replaces it",
        [U9_MARK_DAMAGED] = "no slot of the log's mark can be read: the next session that writes mends it",
    };
    if (source->dir->single[0]) return "a segment file alone has no mark: name the log's directory";
    for (size_t i = 0; i < catalog->count && u9i_mark_state_of(catalog) == U9_MARK_NONE; i++)
        if (u9i_catalog_facts(catalog, i)->plain) return "plain seed files have no mark, and are never appended to";
    return why[u9i_mark_state_of(catalog)];
}

u9_err u9i_mark_of(const u9i_source *source, const u9i_catalog *catalog, u9_mark *out, u9_fault *fault)
{
    if (u9i_mark_state_of(catalog) != U9_MARK_COUNTS)
        return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = source->path, .rule = "M-4"), "%s",
                         why_none(source, catalog));
    u9i_mark_public(u9i_mark_promise(&catalog->mark), out);
    return U9_OK;
}

u9_err u9_mark_read(const char *path, const char *io, u9_mark *out, u9_fault *fault)
{
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = io, .verify = U9_VERIFY_ALWAYS};
    u9_log *log;
    u9i_catalog *catalog;
    if (out == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "an argument is NULL");
    u9_err err = u9_log_open(path, &reading, &log, fault);
    if (err != U9_OK) return err;
    err = u9i_source_catalog(&log->source, &catalog, fault);
    if (err == U9_OK) {
        err = u9i_mark_of(&log->source, catalog, out, fault);
        u9i_catalog_unref(catalog);
    }
    (void)u9_log_close(log, NULL);
    return err;
}
