/*
 * engine/log/live.c: see live.h. [M-10]
 */
#include "engine/log/live.h"

#include "engine/log/handle.h"
#include "format/base/bytes.h"
#include "format/base/hash.h"

#include <string.h>

const char u9i_live_name[] = ".live";

static const uint8_t magic[8] = "u9live1";

enum { AT_SEGMENT = 8, AT_BOUNDARY = 16, AT_END = 32, AT_CHECK = 40, TRIES = 3 };

static void check_of_live(const uint8_t *bytes, uint8_t out[8])
{
    uint8_t hash[U9I_HASH_SIZE];
    u9i_hash(bytes, AT_CHECK, hash);
    memcpy(out, hash, 8);
}

void u9i_live_encode(const u9i_live *live, uint8_t out[U9I_LIVE_SIZE])
{
    memcpy(out, magic, sizeof magic);
    u9i_set_be(out + AT_SEGMENT, 8, live->segment);
    memcpy(out + AT_BOUNDARY, live->boundary, sizeof live->boundary);
    u9i_set_be(out + AT_END, 8, live->end);
    check_of_live(out, out + AT_CHECK);
}

bool u9i_live_decode(const uint8_t *bytes, size_t size, u9i_live *out)
{
    uint8_t check[8];
    if (size < U9I_LIVE_SIZE || memcmp(bytes, magic, sizeof magic) != 0) return false;
    check_of_live(bytes, check);
    if (memcmp(check, bytes + AT_CHECK, sizeof check) != 0) return false;
    out->segment = u9i_get_be(bytes + AT_SEGMENT, 8);
    memcpy(out->boundary, bytes + AT_BOUNDARY, sizeof out->boundary);
    out->end = u9i_get_be(bytes + AT_END, 8);
    return true;
}

void u9i_live_post(u9_log *log)
{
    u9i_live live;
    uint8_t bytes[U9I_LIVE_SIZE];
    if (!u9i_writer_reached(&log->writer, &live.segment, live.boundary, &live.end)) return;
    u9i_live_encode(&live, bytes);
    (void)u9i_dir_post(log->source.dir, u9i_live_name, bytes, sizeof bytes);
}

void u9i_live_end(u9_log *log)
{
    (void)u9i_dir_post(log->source.dir, u9i_live_name, NULL, 0);
}

bool u9i_live_read(u9i_dir *dir, u9i_live *out)
{
    uint8_t bytes[U9I_LIVE_SIZE];
    for (unsigned tries = 0; tries < TRIES; tries++) {
        size_t got;
        if (u9i_dir_posted(dir, u9i_live_name, bytes, sizeof bytes, &got) != 0) return false;
        if (u9i_live_decode(bytes, got, out)) return true;
    }
    return false;
}
