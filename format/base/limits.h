/*
 * format/base/limits.h: every number that bounds the format, in one place, with the rule of SPEC.md.
 */
#ifndef U9I_LIMITS_H
#define U9I_LIMITS_H

#include <stdint.h>

enum {
    U9I_HASH_SIZE = 16,         /* H(x): the first half of a SHA-256 */
    U9I_SECRET_SIZE = 16,       /* [H-1] */
    U9I_DISK_HEADER_SIZE = 32,  /* [H-1] also the offset of the first frame */
    U9I_FRAME_HEADER_SIZE = 64, /* [F-1] */
    U9I_TRAILER_SIZE = 80,      /* [F-4] */
    U9I_ALIGN = 16,             /* [F-2] frames begin at multiples of this */
    U9I_VIRTUAL_SHIFT = 24,     /* [B-6] virtual offsets: frame / 16 above so many bits, a place in its body below */
    U9I_BLOCK = 4096,           /* [S-3] writes begin and end at multiples of this */
    U9I_SECTOR = 512,           /* what a disk writes in one piece */
    U9I_FRAME_TARGET = 65536,   /* frames are filled to about this many bytes */
    U9I_LZ4_HEAD = 32,          /* [B-4] bytes of u9lz4 in front of the compressed bytes */
    U9I_MASK_HEAD = 41,         /* [B-5] bytes of u9mask in front of the masked bytes */
    U9I_KIND_MAX = 532,         /* [C-3] bytes of a key kind: "rkey:literal:" + 512, some spare */
    U9I_KEY_MAX = 512           /* [L-6] bytes of a key in raw form */
};

#define U9I_BODY_MAX (UINT64_C(1) << 24)                                  /* [F-5] decoded */
#define U9I_PAYLOAD_MAX (U9I_BODY_MAX + U9I_MASK_HEAD + U9I_TRAILER_SIZE) /* [F-5] */
#define U9I_FRAME_MAX (U9I_FRAME_HEADER_SIZE + U9I_PAYLOAD_MAX + U9I_ALIGN)
#define U9I_SEGMENT_MAX (UINT64_C(1) << 43)                               /* [S-2] bytes */

_Static_assert(U9I_FRAME_HEADER_SIZE % U9I_ALIGN == 0, "payloads begin aligned");
_Static_assert(U9I_DISK_HEADER_SIZE % U9I_ALIGN == 0, "the first frame is aligned");
_Static_assert(U9I_BLOCK % U9I_SECTOR == 0, "blocks are whole sectors");

#endif
