/*
 * u9/id.h: identifiers that order themselves by time, and record keys (SPEC-values.md, I-*).
 *
 *   muid   (timestamp, medallion, offset): 16 bytes, the default keys of a log
 *   GID    prefix, milliseconds, randomness: 16 bytes
 *   TID    microseconds and a clock id: 64 bits, 13 characters
 *   uid8   milliseconds, sequence, generator, cluster: 64 bits
 *   rkey   a record key: 1 to 512 characters
 *
 * Each has equivalent forms: a struct of its fields, packed big-endian bytes, and text. Packed
 * bytes compare (memcmp) as the identifiers do, and so do canonical texts [I-18]. A `compare` takes
 * fields that are in range and says < 0, 0 or > 0. `floor` and `ceil` fill the lowest and the highest
 * identifier of a time, of what a flag or layout allows: what was made at that time, by whomever,
 * lies between them, both included [I-19]. An identifier from its fields is a struct that `pack` or
 * `format` takes. All functions are pure and thread-safe, borrow
 * their input and fill the caller's `out`, which a refusal leaves untouched. u9/idgen.h makes
 * fresh ones.
 *
 * Texts are given with their size and need no NUL; one inside is refused. `pack` and `format`
 * return U9_ARG if a field is out of range: nothing is ever wrapped or cut. `parse` and `unpack`
 * return U9_ARG and set `*why` (which may be NULL) if the input is refused; an argument of the
 * caller that makes no sense, such as an unknown flag, is U9_ARG too and leaves `*why` alone.
 */
#ifndef U9_ID_H
#define U9_ID_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why something is not an identifier. The numbers are pinned. */
typedef enum u9_id_reason {
    U9_ID_FINE = 0,

    U9_MUID_EMPTY = 1,      /* no characters */
    U9_MUID_CHARACTER = 2,  /* a character that is neither a hex digit nor a dash */
    U9_MUID_CASE = 3,       /* lower-case hex where only the lenient form allows it */
    U9_MUID_WIDTH = 4,      /* a part is not exactly 13, 11 or 8 digits wide [I-2] */
    U9_MUID_PARTS = 5,      /* an empty part, a trailing dash, or more than three parts */
    U9_MUID_RANGE = 6,      /* a part is wider than its field */
    U9_MUID_NO_CONTEXT = 7, /* a reference takes a field that the change around it does not have */
    U9_MUID_FOREIGN = 8,    /* a relative offset into another transaction */
    U9_MUID_BEFORE = 9,     /* a relative offset to before the first change of the transaction */

    U9_GID_LENGTH = 20,      /* not 24 characters, or not 16 bytes */
    U9_GID_DASH = 21,        /* the first dash is not the 11th character */
    U9_GID_CHARACTER = 22,   /* a character that is not a base58 digit */
    U9_GID_TIME_PART = 23,   /* the first 10 digits are 2^56 or more */
    U9_GID_RANDOM_PART = 24, /* the last 13 digits are 2^72 or more */
    U9_GID_PREFIX = 25,      /* the first byte is none of the three prefixes */
    U9_GID_TYPE = 26,        /* of another type than the one asked for */
    U9_GID_TOP_BIT = 27,     /* the top bit of byte 7 is clear */
    U9_GID_COPY = 28,        /* byte 7 is not the prefix, and U9_GID_STRICT was given */
    U9_GID_NO_TEXT = 29,     /* bytes 7 to 15 are too small for 13 digits: it has no text */

    U9_TID_LENGTH = 40,    /* not 13 characters, or not 8 bytes */
    U9_TID_CHARACTER = 41, /* a character that is not a base32-sortable digit */
    U9_TID_OVERFLOW = 42,  /* the first character is above `j`: more than 64 bits */
    U9_TID_SIGN = 43,      /* bit 63 is set, and U9_TID_TOP_BIT was not given */

    U9_UID8_LENGTH = 60,    /* not 16 hex digits, or not 8 bytes */
    U9_UID8_CHARACTER = 61, /* a character that is not a hex digit */
    U9_UID8_RESERVED = 62,  /* bits are set that the layout reserves */
    U9_UID8_TIMESTAMP = 63, /* milliseconds beyond 42 bits */
    U9_UID8_SEQUENCE = 64,  /* a sequence above 63 */
    U9_UID8_GENERATOR = 65, /* a generator above those of the layout */
    U9_UID8_CLUSTER = 66,   /* a cluster above 15 */
    U9_UID8_MODE = 67,      /* a mode that the layout does not have */

    U9_RKEY_EMPTY = 80,       /* no characters */
    U9_RKEY_LENGTH = 81,      /* over 512 characters */
    U9_RKEY_CHARACTER = 82,   /* a character other than A-Z a-z 0-9 . - _ : ~ */
    U9_RKEY_DOTS = 83,        /* `.` or `..` */
    U9_RKEY_NO_TID = 84,      /* of type `tid`, but no TID */
    U9_RKEY_OTHER = 85,       /* of type `literal:VALUE`, but another text */
    U9_RKEY_TYPE_NAME = 86,   /* a type that is none of `tid`, `literal:VALUE`, `any` */
    U9_RKEY_TYPE_LITERAL = 87, /* a type `literal:VALUE` whose value is no record key */

    U9_KIND_UNKNOWN = 100, /* no key kind has this name */
    U9_KIND_SIZE = 101     /* a raw key of another size than the kind's */
} u9_id_reason;

/* One sentence for a reason. Static. */
U9_API const char *u9_id_reason_text(u9_id_reason why);

#define U9_MUID_TIMESTAMP_MAX ((UINT64_C(1) << 52) - 1) /* all ones: the global object */
#define U9_MUID_MEDALLION_MAX ((UINT64_C(1) << 44) - 1) /* all ones: global */
#define U9_MUID_SIZE 16                                 /* packed bytes */
#define U9_MUID_TEXT_SIZE 34                            /* characters without NUL */

typedef struct u9_muid {
    uint64_t timestamp; /* microseconds since 1970, 0 .. U9_MUID_TIMESTAMP_MAX */
    uint64_t medallion; /* the node, 0 .. U9_MUID_MEDALLION_MAX */
    int32_t offset;     /* place in the transaction from 1; 0: the transaction; < 0: relative */
} u9_muid;

/* Flag: also lower case, 32 digits without dashes, zero parts of any width. */
#define U9_MUID_LENIENT 1u

/* Packs `muid` into 16 bytes at `out`. [I-1] */
U9_API U9_MUST_CHECK u9_err u9_muid_pack(const u9_muid *muid, uint8_t out[U9_MUID_SIZE]);

/* Takes 16 packed bytes apart. Every bit pattern is a muid. [I-1] */
U9_API void u9_muid_unpack(const uint8_t bytes[U9_MUID_SIZE], u9_muid *out);

/* Prints the canonical text (34 upper-case characters and a NUL). [I-2] */
U9_API U9_MUST_CHECK u9_err u9_muid_format(const u9_muid *muid, char out[U9_MUID_TEXT_SIZE + 1]);

/*
 * Reads `size` characters of text. Strict: upper case, widths exactly 13-11-8, the short forms `T`
 * and `T-M`, and `T` with 13 zeros, or 13 and 5, behind it [I-2]; `flags` may be U9_MUID_LENIENT
 * [I-3].
 */
U9_API U9_MUST_CHECK u9_err u9_muid_parse(const char *text, size_t size, unsigned flags,
                                          u9_muid *out, u9_id_reason *why);

/* Orders by packed bytes: < 0, 0, > 0. [I-4] */
U9_API int u9_muid_compare(const u9_muid *a, const u9_muid *b);

/*
 * The lowest muid of `timestamp` (microseconds, 0 .. U9_MUID_TIMESTAMP_MAX): medallion and offset 0;
 * the highest: both all ones. U9_ARG beyond that range. [I-19]
 */
U9_API U9_MUST_CHECK u9_err u9_muid_floor(uint64_t timestamp, u9_muid *out);
U9_API U9_MUST_CHECK u9_err u9_muid_ceil(uint64_t timestamp, u9_muid *out);

/*
 * Makes a reference that stands inside a transaction absolute [I-5]. `context` is the muid of the
 * change that holds it. Timestamp 0 and medallion 0 are taken from `context`; an offset below 0
 * counts back from the offset of `context` and must meet a change of the same transaction; offset
 * 0 stays: it is the transaction itself. `out` may be `ref`. U9_ARG with U9_MUID_RANGE (a field of
 * either is out of range), U9_MUID_NO_CONTEXT, U9_MUID_FOREIGN or U9_MUID_BEFORE.
 */
U9_API U9_MUST_CHECK u9_err u9_muid_resolve(const u9_muid *ref, const u9_muid *context,
                                            u9_muid *out, u9_id_reason *why);

#define U9_GID_TIMESTAMP_MAX ((UINT64_C(1) << 48) - 1) /* milliseconds */
#define U9_GID_SIZE 16                                 /* packed bytes */
#define U9_GID_TEXT_SIZE 24                            /* characters without NUL */
#define U9_GID_RANDOM_SIZE 9                           /* bytes 7 to 15 */
#define U9_GID_SHORT_SIZE 13                           /* characters of the short form without NUL */

/* The first byte. The numbers are pinned. */
typedef enum u9_gid_type {
    U9_GID_ANY = 0, /* when asking only */
    U9_GID_VOLUME = 0x80,
    U9_GID_LOG = 0xa0,
    U9_GID_SEGMENT = 0xc0
} u9_gid_type;

typedef struct u9_gid {
    u9_gid_type type;
    uint64_t timestamp_ms;              /* since 1970, 0 .. U9_GID_TIMESTAMP_MAX */
    uint8_t random[U9_GID_RANDOM_SIZE]; /* first the prefix once more, or 0x80 and 7 random bits */
} u9_gid;

#define U9_GID_STRICT 1u  /* flag: random[0] must be the prefix */
#define U9_GID_LENIENT 2u /* flag: the top bit of random[0] may be clear, if there is a text */

/*
 * The forms of a GID [I-6] [I-7]. `flags`: 0 (the top bit of random[0] must be set), U9_GID_STRICT
 * or U9_GID_LENIENT. `type`: what is asked for, or U9_GID_ANY.
 */
U9_API U9_MUST_CHECK u9_err u9_gid_pack(const u9_gid *gid, unsigned flags,
                                        uint8_t out[U9_GID_SIZE]);
U9_API U9_MUST_CHECK u9_err u9_gid_unpack(const uint8_t *bytes, size_t size, u9_gid_type type,
                                          unsigned flags, u9_gid *out, u9_id_reason *why);
U9_API U9_MUST_CHECK u9_err u9_gid_format(const u9_gid *gid, unsigned flags,
                                          char out[U9_GID_TEXT_SIZE + 1]);
U9_API U9_MUST_CHECK u9_err u9_gid_parse(const char *text, size_t size, u9_gid_type type,
                                         unsigned flags, u9_gid *out, u9_id_reason *why);

/* Orders by packed bytes: by type, then timestamp, then random: < 0, 0, > 0. [I-18] */
U9_API int u9_gid_compare(const u9_gid *a, const u9_gid *b);

/*
 * The lowest and the highest GID of `type` and `timestamp_ms` (0 .. U9_GID_TIMESTAMP_MAX) that `flags`
 * allows: 0, U9_GID_STRICT or U9_GID_LENIENT as above. U9_ARG if one of the three is out of its
 * range; U9_GID_ANY is no type here. [I-19]
 */
U9_API U9_MUST_CHECK u9_err u9_gid_floor(u9_gid_type type, uint64_t timestamp_ms, unsigned flags,
                                         u9_gid *out);
U9_API U9_MUST_CHECK u9_err u9_gid_ceil(u9_gid_type type, uint64_t timestamp_ms, unsigned flags,
                                        u9_gid *out);

/*
 * The empty GID of a type, which stands for none: timestamp 0, byte 7 80, all else 0. U9_ARG if `type`
 * is none of the three. [I-20]
 */
U9_API U9_MUST_CHECK u9_err u9_gid_empty(u9_gid_type type, u9_gid *out);

/* Not 0 if `gid` is an empty one: of today, or of before with byte 7 repeating the prefix. [I-20] */
U9_API int u9_gid_is_empty(const u9_gid *gid);

/*
 * Prints the short form, for people and log lines: the 13 digits behind the dash of the text, and a
 * NUL. It cannot be read back. `flags` and U9_ARG as u9_gid_format. [I-20]
 */
U9_API U9_MUST_CHECK u9_err u9_gid_format_short(const u9_gid *gid, unsigned flags,
                                                char out[U9_GID_SHORT_SIZE + 1]);

/* "volume", "log", "segment"; "?" for anything else. Static. */
U9_API const char *u9_gid_type_name(u9_gid_type type);

#define U9_TID_TIMESTAMP_MAX ((UINT64_C(1) << 53) - 1) /* microseconds */
#define U9_TID_CLOCK_ID_MAX 1023u
#define U9_TID_SIZE 8       /* packed bytes */
#define U9_TID_TEXT_SIZE 13 /* characters without NUL */

typedef struct u9_tid {
    uint64_t timestamp; /* microseconds since 1970, 0 .. U9_TID_TIMESTAMP_MAX */
    uint32_t clock_id;  /* 0 .. U9_TID_CLOCK_ID_MAX */
} u9_tid;

#define U9_TID_TOP_BIT 1u /* flag: bit 63 may be set, which makes the timestamp 54 bits wide */

/* Not 0 if the text has the syntax of a TID [I-9]; it may have bit 63 set, which no field holds. */
U9_API int u9_tid_is_valid(const char *text, size_t size);

/* The forms of a TID [I-8] [I-9]. `flags`: 0 (bit 63 is refused) or U9_TID_TOP_BIT. */
U9_API U9_MUST_CHECK u9_err u9_tid_pack(const u9_tid *tid, unsigned flags,
                                        uint8_t out[U9_TID_SIZE]);
U9_API U9_MUST_CHECK u9_err u9_tid_unpack(const uint8_t *bytes, size_t size, unsigned flags,
                                          u9_tid *out, u9_id_reason *why);
U9_API U9_MUST_CHECK u9_err u9_tid_format(const u9_tid *tid, unsigned flags,
                                          char out[U9_TID_TEXT_SIZE + 1]);
U9_API U9_MUST_CHECK u9_err u9_tid_parse(const char *text, size_t size, unsigned flags, u9_tid *out,
                                         u9_id_reason *why);

/* Orders by number: by timestamp, then clock id: < 0, 0, > 0. [I-18] */
U9_API int u9_tid_compare(const u9_tid *a, const u9_tid *b);

/*
 * The TID of a time: `timestamp` in microseconds, 0 .. U9_TID_TIMESTAMP_MAX (with U9_TID_TOP_BIT in
 * `flags` twice that and one more), `clock_id` 0 .. U9_TID_CLOCK_ID_MAX. U9_ARG beyond. Nothing sees
 * to it that it is fresh: that does u9_tidgen_next. Its text is also the record key of that time, of
 * the type `tid`. [I-8]
 */
U9_API U9_MUST_CHECK u9_err u9_tid_from_time(uint64_t timestamp, uint32_t clock_id, unsigned flags,
                                             u9_tid *out);

/* The lowest TID of a time, with clock id 0, and the highest. As u9_tid_from_time. [I-19] */
U9_API U9_MUST_CHECK u9_err u9_tid_floor(uint64_t timestamp, unsigned flags, u9_tid *out);
U9_API U9_MUST_CHECK u9_err u9_tid_ceil(uint64_t timestamp, unsigned flags, u9_tid *out);

#define U9_UID8_TIMESTAMP_MAX ((UINT64_C(1) << 42) - 1) /* milliseconds */
#define U9_UID8_SEQUENCE_MAX 63u
#define U9_UID8_CLUSTER_MAX 15u
#define U9_UID8_LAYOUT_MAX 4u /* the latest layout; it reads the identifiers of all */
#define U9_UID8_SIZE 8        /* packed bytes */
#define U9_UID8_TEXT_SIZE 16  /* characters without NUL */

/* How the timestamp is written. The numbers are pinned. */
typedef enum u9_uid8_mode {
    U9_UID8_SPREAD = 0,         /* lowest bit first: identifiers are spread over the whole range */
    U9_UID8_TIME_SEQUENTIAL = 1 /* highest bit first: identifiers are ordered by time */
} u9_uid8_mode;

typedef struct u9_uid8 {
    uint64_t timestamp_ms; /* since 1970, 0 .. U9_UID8_TIMESTAMP_MAX */
    uint32_t sequence;     /* place in the millisecond, 0 .. U9_UID8_SEQUENCE_MAX */
    uint32_t generator;    /* 0 .. 63 in layout 1, 255 in layouts 2 and 3, 2047 in layout 4 */
    uint32_t cluster;      /* 0 .. U9_UID8_CLUSTER_MAX */
    u9_uid8_mode mode;     /* U9_UID8_SPREAD in layouts 1 and 2 */
} u9_uid8;

/*
 * The forms of an eight-byte identifier [I-10] [I-11] [I-12]. `layout`: 1 (the first), 2, 3 or 4;
 * a later one takes all of an earlier one. What a layout cannot hold is refused, when writing too,
 * and `*why` says what it was.
 */
U9_API U9_MUST_CHECK u9_err u9_uid8_pack(const u9_uid8 *id, unsigned layout,
                                         uint8_t out[U9_UID8_SIZE], u9_id_reason *why);
U9_API U9_MUST_CHECK u9_err u9_uid8_unpack(const uint8_t *bytes, size_t size, unsigned layout,
                                           u9_uid8 *out, u9_id_reason *why);
U9_API U9_MUST_CHECK u9_err u9_uid8_format(const u9_uid8 *id, unsigned layout,
                                           char out[U9_UID8_TEXT_SIZE + 1], u9_id_reason *why);
U9_API U9_MUST_CHECK u9_err u9_uid8_parse(const char *text, size_t size, unsigned layout,
                                          u9_uid8 *out, u9_id_reason *why);

/*
 * Orders by packed bytes: < 0, 0, > 0. Among identifiers of the mode U9_UID8_TIME_SEQUENTIAL that is
 * by time; the mode U9_UID8_SPREAD scatters times on purpose. [I-18]
 */
U9_API int u9_uid8_compare(const u9_uid8 *a, const u9_uid8 *b);

/*
 * The lowest and the highest eight-byte identifier of a millisecond, in a mode and a layout: sequence,
 * generator and cluster 0, or at their largest. In the mode U9_UID8_SPREAD they enclose those of this
 * one millisecond, and two of them no span of time. U9_ARG and `*why` as u9_uid8_pack. [I-19]
 */
U9_API U9_MUST_CHECK u9_err u9_uid8_floor(uint64_t timestamp_ms, u9_uid8_mode mode, unsigned layout,
                                          u9_uid8 *out, u9_id_reason *why);
U9_API U9_MUST_CHECK u9_err u9_uid8_ceil(uint64_t timestamp_ms, u9_uid8_mode mode, unsigned layout,
                                         u9_uid8 *out, u9_id_reason *why);

#define U9_RKEY_SIZE_MAX 512 /* characters */

typedef enum u9_rkey_type {
    U9_RKEY_ANY = 0,    /* any record key */
    U9_RKEY_TID = 1,    /* one that has the syntax of a TID */
    U9_RKEY_LITERAL = 2 /* one given text */
} u9_rkey_type;

/* What the keys of a collection must be. All zero: any record key. */
typedef struct u9_rkey_rule {
    u9_rkey_type type;
    const char *literal; /* of U9_RKEY_LITERAL: the one key; borrows from the rule's text */
    size_t literal_size; /* characters */
} u9_rkey_rule;

/* Reads `tid`, `literal:VALUE` or `any`. `*out` borrows from `text`. [I-14] */
U9_API U9_MUST_CHECK u9_err u9_rkey_rule_parse(const char *text, size_t size, u9_rkey_rule *out,
                                               u9_id_reason *why);

/* Checks that `key` is a record key [I-13] and follows `rule` [I-14], which may be NULL: any. */
U9_API U9_MUST_CHECK u9_err u9_rkey_check(const char *key, size_t size, const u9_rkey_rule *rule,
                                          u9_id_reason *why);

/*
 * Orders record keys by their bytes, a key before those that it begins: < 0, 0, > 0. Any bytes are
 * taken, NULL if the size is 0. Those of the type `tid` are so in the order of their times; the lowest
 * and the highest of a time are the texts of u9_tid_floor and u9_tid_ceil. [I-18] [I-19]
 */
U9_API int u9_rkey_compare(const char *a, size_t a_size, const char *b, size_t b_size);

#ifdef __cplusplus
}
#endif
#endif
