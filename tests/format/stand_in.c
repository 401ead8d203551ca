/*
 * tests/format/stand_in.c: see stand_in.h. The two sources are compiled once more, under other
 * names.
 */
#define u9i_hash stand_in_hash
#define u9i_sign stand_in_sign
#define u9i_secret_init stand_in_keys_init
#define u9i_disk_magic stand_in_disk_magic
#define u9i_disk_encode stand_in_disk_encode
#define u9i_disk_decode stand_in_disk_decode
#define u9i_frame_magic stand_in_frame_magic
#define u9i_trailer_encode stand_in_trailer_encode
#define u9i_trailer_decode stand_in_trailer_decode
#define u9i_frame_verify stand_in_frame_verify
#define u9i_frame_verify_ends stand_in_frame_verify_ends
#define u9i_frame_header_whole stand_in_frame_header_whole
#define u9i_frame_follows stand_in_frame_follows
#define u9i_frame_seal stand_in_frame_seal
#define u9i_frame_is_clear stand_in_frame_is_clear
#define u9i_frame_lane stand_in_frame_lane
#define u9i_frame_finish stand_in_frame_finish
#define u9i_hasher_finish stand_in_hasher_finish

#include "tests/format/stand_in.h"

#include "format/base/hash.h"

void stand_in_hasher_finish(u9i_hasher *hasher, const void *rest, size_t size, uint8_t out[U9I_HASH_SIZE]);
#include "format/frame/disk.c"
#include "format/frame/frame.c"

uint8_t stand_in_hash_is[U9I_HASH_SIZE];
uint8_t stand_in_sign_is[U9I_HASH_SIZE];

void stand_in_hash(const void *bytes, size_t size, uint8_t out[U9I_HASH_SIZE])
{
    (void)bytes, (void)size;
    memcpy(out, stand_in_hash_is, U9I_HASH_SIZE);
}

void stand_in_hasher_finish(u9i_hasher *hasher, const void *rest, size_t size, uint8_t out[U9I_HASH_SIZE])
{
    (void)hasher;
    stand_in_hash(rest, size, out);
}

void stand_in_sign(const uint8_t sha[U9I_HASH_SIZE], const uint8_t secret[U9I_SECRET_SIZE],
                   uint8_t out[U9I_HASH_SIZE])
{
    (void)sha, (void)secret;
    memcpy(out, stand_in_sign_is, U9I_HASH_SIZE);
}
