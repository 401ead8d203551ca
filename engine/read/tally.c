/*
 * engine/read/tally.c: what was read, added up so that it does not matter in which order, or by whom: u9/scan.h. [P-6]
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/log/catalog.h"

#include <u9/large.h>
#include <u9/scan.h>

#include <stdlib.h>

enum { PIECE = 1 << 20 };

static void add(u9_tally *t, uint64_t records, uint64_t bytes, uint64_t low, uint64_t high)
{
    t->records += records;
    t->bytes += bytes;
    t->low += low;
    t->high += high + (t->low < low);
}

/* The bytes of a record that a cursor does not hand out. */
static u9_err hash_pieces(XXH3_state_t *state, u9_log *log, const u9_record *record, u9_fault *fault)
{
    u9_reading *reading;
    size_t got;
    uint8_t *piece = malloc(PIECE);
    if (piece == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(), "out of memory");
    u9_err err = u9_record_open(log, record, &reading, fault);
    if (err == U9_OK) {
        for (uint64_t at = 0; at < record->size && err == U9_OK; at += got) {
            err = u9_record_read(reading, at, piece, PIECE, &got, fault);
            if (err == U9_OK) (void)XXH3_128bits_update(state, piece, got);
        }
        u9_record_close(reading);
    }
    free(piece);
    return err;
}

u9_err u9_tally_record(u9_tally *t, u9_log *log, const u9_record *record, u9_fault *fault)
{
    if (t == NULL || record == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    XXH128_hash_t hash;
    if (record->bytes) {
        hash = XXH3_128bits(record->bytes, (size_t)record->size);
    } else {
        XXH3_state_t state;
        XXH3_INITSTATE(&state);
        (void)XXH3_128bits_reset(&state);
        u9_err err = hash_pieces(&state, log, record, fault);
        if (err != U9_OK) return err;
        hash = XXH3_128bits_digest(&state);
    }
    add(t, 1, record->size, hash.low64, hash.high64);
    return U9_OK;
}

void u9_tally_merge(u9_tally *t, const u9_tally *other)
{
    add(t, other->records, other->bytes, other->low, other->high);
}
