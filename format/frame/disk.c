/*
 * format/frame/disk.c: the disk header. [H-1] to [H-4]
 */
#include "format/frame/disk.h"

#include "format/base/bytes.h"

const uint8_t u9i_disk_magic[8] = {0xff, 0xff, 'u', 't', 'f', '9', 0x00, 0x01};
const uint8_t u9i_frame_magic[8] = {0xff, 0xff, 'u', 't', 'f', '9', 'f', 0x00};

static const uint8_t zeros[16];

bool u9i_secret_init(u9i_secret *secret, const uint8_t bytes[U9I_SECRET_SIZE])
{
    memcpy(secret->bytes, bytes, U9I_SECRET_SIZE);
    secret->lost = false;
    u9i_hash(bytes, U9I_SECRET_SIZE, secret->boundary);
    return memcmp(secret->boundary, zeros, sizeof zeros) != 0 && /* [H-3] */
           memcmp(secret->boundary, u9i_disk_magic, sizeof u9i_disk_magic) != 0 &&
           memcmp(secret->boundary, u9i_frame_magic, sizeof u9i_frame_magic) != 0;
}

void u9i_disk_encode(const u9i_secret *secret, uint8_t out[U9I_DISK_HEADER_SIZE])
{
    memcpy(out, u9i_disk_magic, sizeof u9i_disk_magic); /* [H-1] */
    memcpy(out + 8, secret->bytes, U9I_SECRET_SIZE);
    memset(out + 24, 0, 8);
}

u9_err u9i_disk_decode(const uint8_t in[U9I_DISK_HEADER_SIZE], u9i_secret *secret)
{
    bool usable = u9i_secret_init(secret, in + 8);
    if (memcmp(in, u9i_disk_magic, 7) == 0 && in[7] != u9i_disk_magic[7]) return U9_VERSION;
    if (memcmp(in, u9i_disk_magic, 8) != 0 || memcmp(in + 24, zeros, 8) != 0) return U9_CORRUPT;
    return usable ? U9_OK : U9_CORRUPT; /* [H-4] */
}
