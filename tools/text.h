/*
 * tools/text.h: quantities as people read them.
 */
#ifndef U9_TOOLS_TEXT_H
#define U9_TOOLS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* "" for one, "s" for any other number of things. */
const char *tool_plural(uint64_t count);

/* Bytes for people: "12.3 MB". Fills `out`, returns it. */
const char *tool_bytes_text(uint64_t bytes, char out[24]);

/* Of text in pieces: how many of these bytes are characters that are whole, by their first bytes; all that is no UTF-8 is. */
size_t tool_utf8_whole(const uint8_t *text, size_t size);

#define TOOL_COMMAND_WORD_SIZE 520

/*
 * A log's path, or its address, as a word of a command that a person copies to a shell: in quotes where it has what a
 * shell takes otherwise, ./ in front of a dash. "LOG" if that is too long. Fills `out`, returns it.
 */
const char *tool_command_word(const char *path, char out[TOOL_COMMAND_WORD_SIZE]);

#define TOOL_SEGMENT_SIZE 20

/* A segment as its file is called: "0000000000000010.u9" is number 16. Fills `out`, returns it. */
const char *tool_segment_text(uint64_t number, char out[TOOL_SEGMENT_SIZE]);

#define TOOL_ORDINALS_SIZE 48

/* Records from the first to the one before `next`: "0..41"; where that is not known (TOOL_NONE): "from 0 on". */
const char *tool_ordinals_text(uint64_t first, uint64_t next, char out[TOOL_ORDINALS_SIZE]);

/* Microseconds since 1970. */
uint64_t tool_now_us(void);

#define TOOL_AGE_SIZE 32

/* "3 s", "2 min", "5 h", "40 d": how long ago. Fills `out`, returns it. */
const char *tool_age_text(uint64_t then_us, char out[TOOL_AGE_SIZE]);

/* RFC 3339 with microseconds, UTC. Fills `out`, returns it. */
const char *tool_time_text(uint64_t time_us, char out[48]);

#define TOOL_WHEN_SIZE (48 + TOOL_AGE_SIZE + 8)

/* Such a time for people, and how long ago that was: "2026-01-31T23:59:59.000000Z (5 h ago)". Fills `out`, returns it. */
const char *tool_when_text(uint64_t time_us, char out[TOOL_WHEN_SIZE]);

#endif
