/*
 * engine/segment/draw.c: see draw.h.
 */
#include "engine/segment/draw.h"

bool u9i_secret_draw(u9i_env *env, u9i_secret *out)
{
    uint8_t bytes[U9I_SECRET_SIZE];
    do {
        if (!u9i_random(env, bytes, sizeof bytes)) return false;
    } while (!u9i_secret_init(out, bytes));
    return true;
}

void u9i_frame_seal_in_time(const u9i_secret *secret, u9i_trailer *trailer, uint8_t *frame, size_t body_size,
                            uint8_t sha[U9I_HASH_SIZE])
{
    while (u9i_frame_seal(secret, trailer, frame, body_size, sha) != U9_OK) trailer->time_us++;
}
