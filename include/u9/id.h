/*
 * u9/id.h: muids, the identifiers that key a log by default (SPEC.md, I-*).
 *
 * A muid is a triplet (timestamp, medallion, offset) with three equivalent forms: this struct, 16
 * packed big-endian bytes, and text `TTTTTTTTTTTTT-MMMMMMMMMMM-OOOOOOOO`. All functions are pure
 * and thread-safe.
 */
#ifndef U9_ID_H
#define U9_ID_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_MUID_TIMESTAMP_MAX ((UINT64_C(1) << 52) - 1) /* all ones: the global object */
#define U9_MUID_MEDALLION_MAX ((UINT64_C(1) << 44) - 1) /* all ones: global */
#define U9_MUID_SIZE 16                                 /* packed bytes */
#define U9_MUID_TEXT_SIZE 34                            /* characters without NUL */

typedef struct u9_muid {
    uint64_t timestamp; /* microseconds since 1970, 0 .. U9_MUID_TIMESTAMP_MAX */
    uint64_t medallion; /* the node, 0 .. U9_MUID_MEDALLION_MAX */
    int32_t offset;     /* place in the transaction from 1; 0: the transaction; < 0: relative */
} u9_muid;

/* Why a text is not a muid. */
typedef enum u9_muid_reason {
    U9_MUID_FINE = 0,
    U9_MUID_EMPTY,      /* no characters */
    U9_MUID_CHARACTER,  /* a character that is neither upper-case hex nor a dash in its place */
    U9_MUID_CASE,       /* lower-case hex where only the lenient form allows it */
    U9_MUID_WIDTH,      /* a part is not exactly 13, 11 or 8 digits wide */
    U9_MUID_PARTS,      /* an empty part, a trailing dash, or more than three parts */
    U9_MUID_RANGE       /* a part is wider than its field */
} u9_muid_reason;

#define U9_MUID_LENIENT 1u /* flag: also lower case, 32 digits without dashes, zero parts of any width */

/* Packs `muid` into 16 bytes at `out`. U9_ARG if a field is out of range; `out` is then untouched. */
U9_API U9_MUST_CHECK u9_err u9_muid_pack(const u9_muid *muid, uint8_t out[U9_MUID_SIZE]);

/* Takes 16 packed bytes apart. Every bit pattern is a muid. */
U9_API void u9_muid_unpack(const uint8_t bytes[U9_MUID_SIZE], u9_muid *out);

/* Prints the canonical text (34 upper-case characters and a NUL). U9_ARG if a field is out of range. */
U9_API U9_MUST_CHECK u9_err u9_muid_format(const u9_muid *muid, char out[U9_MUID_TEXT_SIZE + 1]);

/*
 * Reads `size` characters of text (no NUL needed; an embedded NUL is refused). Strict: upper case,
 * widths exactly 13-11-8, the short forms `T` and `T-M`; `flags` may be U9_MUID_LENIENT.
 * Returns U9_ARG and sets `*why` (if not NULL) when the text is refused; `out` is then untouched.
 */
U9_API U9_MUST_CHECK u9_err u9_muid_parse(const char *text, size_t size, unsigned flags, u9_muid *out,
                                          u9_muid_reason *why);

/* One sentence for a reason. Static. */
U9_API const char *u9_muid_reason_text(u9_muid_reason why);

/* Orders by packed bytes: < 0, 0, > 0. */
U9_API int u9_muid_compare(const u9_muid *a, const u9_muid *b);

#ifdef __cplusplus
}
#endif
#endif
