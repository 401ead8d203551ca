/*
 * format/frame/mark.c: see mark.h. [M-1] [M-2] [M-3] [M-11]
 */
#include "format/frame/mark.h"

#include "format/frame/disk.h"

#include <string.h>

_Static_assert(U9_CLAUSE_SLOT_HASH - U9_CLAUSE_SLOT_BOUNDARY == U9_R_HASH - U9_R_BOUNDARY, "clauses of a frame, in its order");

u9_err u9i_slot_encode(const u9i_mark_record *mark, const u9i_secret *secret, uint8_t out[U9I_BLOCK])
{
    uint8_t *frame = out + U9I_DISK_HEADER_SIZE, sha[U9I_HASH_SIZE];
    memset(out, 0, U9I_BLOCK);
    u9i_disk_encode(secret, out);
    u9i_trailer t = {.offset = U9I_DISK_HEADER_SIZE, .time_us = mark->time_us};
    u9i_hash(out, U9I_DISK_HEADER_SIZE, t.chain); /* [F-4] as in a log's first frame */
    u9i_out body = u9i_out_init(frame + U9I_FRAME_HEADER_SIZE, U9I_SECTOR);
    u9i_mark_record_encode(&body, mark);
    return u9i_frame_seal(secret, &t, frame, body.size, sha);
}

/* The end of a frame that can be, and the secret that makes the segment's boundary. [M-2] */
static u9_clause refuse_mark(const u9i_mark_record *m)
{
    u9i_secret secret;
    const uint64_t least = U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE;
    if (m->end.offset < least || m->end.offset > U9I_SEGMENT_MAX || m->end.offset % U9I_ALIGN != 0) return U9_CLAUSE_SLOT_END;
    bool fits = u9i_secret_init(&secret, m->secret) && memcmp(secret.boundary, m->boundary, sizeof secret.boundary) == 0;
    return fits ? U9_CLAUSE_NONE : U9_CLAUSE_SLOT_SECRET;
}

/* Clause by clause; which one refuses it. [M-11] */
static u9_clause decode_slot(const uint8_t *bytes, u9i_mark_record *out)
{
    uint8_t chain[U9I_HASH_SIZE];
    u9i_secret secret;
    u9i_frame f;
    u9i_body body;
    u9i_proof proof = {0};
    size_t need;
    if (u9i_disk_decode(bytes, &secret) != U9_OK) return U9_CLAUSE_SLOT_HEADER;
    if (u9i_frame_verify(&secret, U9I_DISK_HEADER_SIZE, U9I_BLOCK, bytes + U9I_DISK_HEADER_SIZE,
                         U9I_BLOCK - U9I_DISK_HEADER_SIZE, &proof, &f) != U9_OK)
        return (u9_clause)(U9_CLAUSE_SLOT_BOUNDARY + (proof.why - U9_R_BOUNDARY));
    u9i_hash(bytes, U9I_DISK_HEADER_SIZE, chain);
    if (memcmp(f.trailer.chain, chain, sizeof chain) != 0) return U9_CLAUSE_SLOT_CHAIN;
    if (f.trailer.count != 0) return U9_CLAUSE_SLOT_COUNT;
    if (u9i_body_open(&f, NULL, 0, &need, &body) != U9_OK || body.kind != U9I_BODY_MARK) return U9_CLAUSE_SLOT_KIND;
    return u9i_mark_record_decode(body.bytes, body.size, out) == U9_OK ? refuse_mark(out) : U9_CLAUSE_SLOT_FORM;
}

void u9i_slot_decode(const uint8_t bytes[U9I_BLOCK], u9i_slot *out)
{
    static const uint8_t zeros[U9I_BLOCK];
    memset(out, 0, sizeof *out);
    if (memcmp(bytes, zeros, sizeof zeros) == 0) return; /* EMPTY */
    out->clause = decode_slot(bytes, &out->mark);
    out->state = out->clause == U9_CLAUSE_NONE ? U9I_SLOT_VALID : U9I_SLOT_BAD;
}

bool u9i_mark_beyond(const u9i_mark_record *a, const u9i_mark_record *b)
{
    return a->segment != b->segment ? a->segment > b->segment : a->end.offset > b->end.offset;
}

int u9i_slots_greater(const u9i_slot slots[U9I_MARK_SLOTS])
{
    int best = -1;
    for (int i = 0; i < U9I_MARK_SLOTS; i++)
        if (slots[i].state == U9I_SLOT_VALID &&
            (best < 0 || u9i_mark_beyond(&slots[i].mark, &slots[best].mark)))
            best = i;
    return best;
}
