/*
 * format/frame/disk.h: the 32 bytes at the head of every file. [H-1] to [H-4]
 */
#ifndef U9I_DISK_H
#define U9I_DISK_H

#include "format/base/hash.h"

#include <u9/err.h>

#include <stdbool.h>

extern const uint8_t u9i_disk_magic[8];
extern const uint8_t u9i_frame_magic[8];

/* Derives the boundary. False: this secret must be drawn again. [H-2] [H-3] */
bool u9i_secret_init(u9i_secret *secret, const uint8_t bytes[U9I_SECRET_SIZE]);

void u9i_disk_encode(const u9i_secret *secret, uint8_t out[U9I_DISK_HEADER_SIZE]);

/*
 * Takes a disk header apart. U9_OK; U9_VERSION: another version's magic; U9_CORRUPT: not a header,
 * `secret` is still filled from where it would be, so that a reader may try it. [H-4]
 */
U9_MUST_CHECK u9_err u9i_disk_decode(const uint8_t in[U9I_DISK_HEADER_SIZE], u9i_secret *secret);

#endif
