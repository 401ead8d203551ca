/*
 * tools/text.c: see text.h.
 */
#include "tools/text.h"
#include "tools/tool.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *tool_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

const char *tool_bytes_text(uint64_t bytes, char out[24])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double shown = (double)bytes / 1e3;
    size_t unit = 0;
    if (bytes < 1000) {
        snprintf(out, 24, "%d bytes", (int)bytes);
        return out;
    }
    for (; shown >= 999.95 && unit < 5; unit++) shown /= 1e3;
    snprintf(out, 24, "%.1f %s", shown, units[unit]);
    return out;
}

/* What a shell takes as it stands, wherever it is in a word. */
static int is_plain(char c)
{
    return (c & 0x80) != 0 || isalnum((unsigned char)c) || strchr("_-./:@%+,=", c) != NULL;
}

/* Within quotes: '...', or $'...' (POSIX of 2024, and shells long before), which has escapes. */
static void quote(char c, int escapes, char out[8])
{
    int control = iscntrl((unsigned char)c);
    const char *as = control ? "\\%03o" : escapes && strchr("'\\", c) ? "\\%c" : c == '\'' ? "'\\%c'" : "%c";
    snprintf(out, 8, as, (unsigned char)c);
}

const char *tool_command_word(const char *path, char out[TOOL_COMMAND_WORD_SIZE])
{
    int plain = *path != '\0', escapes = 0;
    char piece[8];
    for (const char *c = path; *c; c++) {
        plain &= is_plain(*c);
        escapes |= iscntrl((unsigned char)*c);
    }
    const char *quotes = plain ? "" : "'";
    size_t at = (size_t)snprintf(out, TOOL_COMMAND_WORD_SIZE, "%s%s%s", escapes ? "$" : "", quotes, *path == '-' ? "./" : "");
    for (; *path; path++) {
        quote(*path, escapes, piece);
        if (at + strlen(piece) + sizeof "'" > TOOL_COMMAND_WORD_SIZE) return strcpy(out, "LOG");
        at += strlen(strcpy(out + at, piece));
    }
    strcpy(out + at, quotes);
    return out;
}

const char *tool_segment_text(uint64_t number, char out[TOOL_SEGMENT_SIZE])
{
    snprintf(out, TOOL_SEGMENT_SIZE, "%016" PRIx64 ".u9", number);
    return out;
}

const char *tool_ordinals_text(uint64_t first, uint64_t next, char out[TOOL_ORDINALS_SIZE])
{
    if (next == TOOL_NONE) snprintf(out, TOOL_ORDINALS_SIZE, "from %" PRIu64 " on", first);
    else snprintf(out, TOOL_ORDINALS_SIZE, "%" PRIu64 "..%" PRIu64, first, next - 1);
    return out;
}

const char *tool_time_text(uint64_t time_us, char out[48])
{
    struct tm tm;
    time_t seconds = (time_t)(time_us / 1000000);
    if (!gmtime_r(&seconds, &tm)) {
        snprintf(out, 48, "@%" PRIu64 ".%06u", time_us / 1000000, (unsigned)(time_us % 1000000));
        return out;
    }
    size_t size = strftime(out, 48, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + size, 48 - size, ".%06uZ", (unsigned)(time_us % 1000000));
    return out;
}

uint64_t tool_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

const char *tool_age_text(uint64_t then_us, char out[TOOL_AGE_SIZE])
{
    uint64_t now = tool_now_us(), seconds = now > then_us ? (now - then_us) / 1000000 : 0;
    if (seconds < 120) snprintf(out, TOOL_AGE_SIZE, "%" PRIu64 " s", seconds);
    else if (seconds < 7200) snprintf(out, TOOL_AGE_SIZE, "%" PRIu64 " min", seconds / 60);
    else if (seconds < 172800) snprintf(out, TOOL_AGE_SIZE, "%" PRIu64 " h", seconds / 3600);
    else snprintf(out, TOOL_AGE_SIZE, "%" PRIu64 " d", seconds / 86400);
    return out;
}

const char *tool_when_text(uint64_t time_us, char out[TOOL_WHEN_SIZE])
{
    char time[48], age[TOOL_AGE_SIZE];
    snprintf(out, TOOL_WHEN_SIZE, "%s (%s ago)", tool_time_text(time_us, time), tool_age_text(time_us, age));
    return out;
}

size_t tool_utf8_whole(const uint8_t *text, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        uint8_t c = text[size - back];
        if ((c & 0xc0) == 0x80) continue; /* in a character */
        size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        return need > back ? size - back : size;
    }
    return size;
}
