/*
 * format/base/err.c: names of errors and verdicts, names, rules and sentences of reasons. Pure; thread-safe.
 */
#include <u9/check.h>
#include <u9/err.h>

#include <stdbool.h>
#include <stddef.h>

const char *u9_err_name(u9_err err)
{
    switch (err) {
    case U9_OK: return "OK";
    case U9_END: return "END";
    case U9_AGAIN: return "AGAIN";
    case U9_ABSENT: return "ABSENT";
    case U9_ARG: return "ARG";
    case U9_NOMEM: return "NOMEM";
    case U9_IO: return "IO";
    case U9_CORRUPT: return "CORRUPT";
    case U9_TORN: return "TORN";
    case U9_VERSION: return "VERSION";
    case U9_LIMIT: return "LIMIT";
    case U9_LOCKED: return "LOCKED";
    case U9_STATE: return "STATE";
    case U9_POISONED: return "POISONED";
    }
    return "?";
}

const char *u9_verdict_name(u9_verdict verdict)
{
    switch (verdict) {
    case U9_V_CLEAN: return "clean";
    case U9_V_TORN: return "torn";
    case U9_V_UNKNOWN: return "unknown";
    case U9_V_CORRUPT: return "corrupt";
    }
    return "?";
}

/* */
static const struct {
    const char *name, *rule, *text;
} reasons[] = {
    [U9_R_NONE] = {"none", "", "nothing is wrong"},
    [U9_R_HEADER] = {"header", "H-4", "the file's header is damaged"},
    [U9_R_BOUNDARY] = {"boundary", "F-6", "no boundary stands where a frame must begin"},
    [U9_R_MAGIC] = {"magic", "F-6", "the frame's magic bytes are wrong"},
    [U9_R_LENGTH] = {"length", "F-6", "the frame's length passes its limit or the file's end"},
    [U9_R_OVERLAP] = {"overlap", "F-6", "another boundary stands before the frame's end"},
    [U9_R_SIGNATURE] = {"signature", "F-6", "the frame's signature does not fit its hash"},
    [U9_R_TRAILER] = {"trailer", "F-6", "the frame's trailer is damaged or names another place"},
    [U9_R_HASH] = {"hash", "F-6", "the payload does not have the frame's hash"},
    [U9_R_FOLLOW] = {"follow", "F-9", "a whole frame does not follow the one before it"},
    [U9_R_PADDING] = {"padding", "F-2", "the padding behind a frame is not zero"},
    [U9_R_FILL] = {"fill", "F-8", "bytes skipped up to the next block are not zero"},
    [U9_R_BODY] = {"body", "B-1", "the hashes fit, but the body is not what the format allows"},
    [U9_R_CUT] = {"cut", "R-5", "the file ends before its promised end"},
    [U9_R_MISSING] = {"missing", "L-4", "a segment is missing"},
    [U9_R_FOREIGN] = {"foreign", "L-4", "the segment belongs to another log or another place"},
    [U9_R_UNCLOSED] = {"unclosed", "R-6", "the writer is still at it, or did not close"},
    [U9_R_SEAL] = {"seal", "R-8", "what stands behind the segment's end is unfinished or damaged"},
    [U9_R_BLANK] = {"blank", "L-4", "the segment's creation was cut short; nothing was in it"},
    [U9_R_FORK] = {"fork", "L-9", "promised records stand off the log's row of segments: it was continued twice"},
    [U9_R_MARK] = {"mark", "M-4", "what the mark tells is not there"},
    [U9_R_NAME] = {"name", "L-2", "the file is not named by its segment's number, or is another file's copy"},
    [U9_R_UNSIGNED] = {"unsigned", "G-3", "the secret is lost: what is saved here is whole, but its signatures cannot be proven"},
    [U9_R_TRIMMED] = {"trimmed", "L-10", "the oldest segments were trimmed before they were read"},
    [U9_R_UNREADABLE] = {"unreadable", "R-11", "bytes of the segment cannot be read from the disk"},
    [U9_R_PART] = {"part", "C-6", "a record that stands in parts is not there as a whole"},
};

/* True for a number that some reason has. */
static bool is_reason(u9_reason reason)
{
    return (unsigned)reason < sizeof reasons / sizeof reasons[0] && reasons[reason].name;
}

const char *u9_reason_name(u9_reason reason)
{
    return is_reason(reason) ? reasons[reason].name : "?";
}

const char *u9_reason_text(u9_reason reason)
{
    return is_reason(reason) ? reasons[reason].text : "?";
}

const char *u9_reason_rule(u9_reason reason)
{
    return is_reason(reason) ? reasons[reason].rule : "";
}
