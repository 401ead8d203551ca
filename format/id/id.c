/*
 * format/id/id.c: the sentences for why something is not an identifier.
 *
 * Owns: u9_id_reason_text. The reasons are found in muid.c, gid.c, tid.c, uid8.c and rkey.c.
 */
#include <u9/id.h>

const char *u9_id_reason_text(u9_id_reason why)
{
    switch (why) {
    case U9_ID_FINE: return "nothing is wrong";

    case U9_MUID_EMPTY: return "the text is empty";
    case U9_MUID_CHARACTER: return "a character is neither a hex digit nor a dash";
    case U9_MUID_CASE: return "hex digits must be upper case";
    case U9_MUID_WIDTH: return "a part is not exactly 13, 11 or 8 digits wide";
    case U9_MUID_PARTS: return "a part is empty, or there are more than three";
    case U9_MUID_RANGE: return "a part is wider than its field";
    case U9_MUID_NO_CONTEXT: return "the change around the reference lacks what it needs";
    case U9_MUID_FOREIGN: return "an offset below 0 counts in its own transaction only";
    case U9_MUID_BEFORE: return "the offset is before the first change of the transaction";

    case U9_GID_LENGTH: return "a GID is exactly 24 characters, or 16 bytes";
    case U9_GID_DASH: return "the first dash is not the 11th character";
    case U9_GID_CHARACTER: return "a character is not a base58 digit";
    case U9_GID_TIME_PART: return "the first 10 digits are more than 7 bytes";
    case U9_GID_RANDOM_PART: return "the last 13 digits are more than 9 bytes";
    case U9_GID_PREFIX: return "the first byte is not the prefix of a volume, log or segment";
    case U9_GID_TYPE: return "a GID of another type";
    case U9_GID_TOP_BIT: return "the top bit of byte 7 is clear";
    case U9_GID_COPY: return "byte 7 does not repeat the prefix";
    case U9_GID_NO_TEXT: return "bytes 7 to 15 are too small for 13 digits";

    case U9_TID_LENGTH: return "a TID is exactly 13 characters, or 8 bytes";
    case U9_TID_CHARACTER: return "a character is not one of 2-7 and a-z";
    case U9_TID_OVERFLOW: return "the first character is above j: more than 64 bits";
    case U9_TID_SIGN: return "the top bit is set: the first character is above b";

    case U9_UID8_LENGTH: return "an eight-byte identifier is exactly 16 hex digits, or 8 bytes";
    case U9_UID8_CHARACTER: return "a character is not a hex digit";
    case U9_UID8_RESERVED: return "bits are set that this layout reserves";
    case U9_UID8_TIMESTAMP: return "the timestamp is wider than 42 bits";
    case U9_UID8_SEQUENCE: return "the sequence is above 63";
    case U9_UID8_GENERATOR: return "the generator is above those of this layout";
    case U9_UID8_CLUSTER: return "the cluster is above 15";
    case U9_UID8_MODE: return "this layout does not have this mode";

    case U9_RKEY_EMPTY: return "the key is empty";
    case U9_RKEY_LENGTH: return "the key has more than 512 characters";
    case U9_RKEY_CHARACTER: return "a character is none of A-Z a-z 0-9 . - _ : ~";
    case U9_RKEY_DOTS: return "`.` and `..` are not keys";
    case U9_RKEY_NO_TID: return "the key is not a TID";
    case U9_RKEY_OTHER: return "the key is not the literal of its type";
    case U9_RKEY_TYPE_NAME: return "the type is none of tid, literal:VALUE and any";
    case U9_RKEY_TYPE_LITERAL: return "the VALUE of the type literal:VALUE is not a key";

    case U9_KIND_UNKNOWN: return "no key kind has this name";
    case U9_KIND_SIZE: return "a raw key has another size than its kind";
    }
    return "an unknown reason";
}
