/*
 * tools/args.c: see args.h.
 *
 * Whatever is not taken is refused: nothing is guessed, wrapped or cut.
 */
#include "tools/args.h"

#include "tools/text.h"
#include "tools/tool.h"
#include "tools/when.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

int tool_number_parse(const char *text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return 0;
    errno = 0;
    uintmax_t number = strtoumax(text, &end, 10);
    if (errno != 0 || *end != '\0') return 0;
    *out = number;
    return 1;
}

uint64_t tool_number(const char *option, const char *text)
{
    uint64_t number;
    if (tool_number_parse(text, &number)) return number;
    size_t digits = strspn(text, "0123456789");
    if (*text == '-' && isdigit((unsigned char)text[1]))
        tool_usage("%s %s: the number must be positive", option, text);
    if (digits > 0 && text[digits] == '\0') tool_usage("%s %s: too large", option, text);
    tool_usage("%s %s: not a number", option, tool_shown(text));
}

int tool_size_parse(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    char digits[32];
    size_t size = strlen(text);
    unsigned shift = 0;
    if (size > 3 && strcasecmp(text + size - 2, "iB") == 0 && isalpha((unsigned char)text[size - 3])) size -= 2;
    const char *unit = size > 1 ? strchr(units, toupper((unsigned char)text[size - 1])) : NULL;
    if (unit) shift = 10 * ((unsigned)(unit - units) + 1), size--;
    if (size >= sizeof digits) return 0;
    memcpy(digits, text, size);
    digits[size] = '\0';
    uint64_t number;
    if (!tool_number_parse(digits, &number) || number > UINT64_MAX >> shift) return 0;
    *out = number << shift;
    return 1;
}

uint64_t tool_size(const char *option, const char *text)
{
    uint64_t size;
    if (!tool_size_parse(text, &size)) tool_usage("%s %s: not a size like 4096, 64K or 10G", option, tool_shown(text));
    return size;
}

uint64_t tool_segment_size(const char *text)
{
    uint64_t size;
    if (!tool_size_parse(text, &size) || size < 1 << 16 || size >= UINT64_C(1) << 42)
        tool_usage("--segment-size %s: not a size of at least 64K and below 4T", tool_shown(text));
    return size;
}

uint64_t tool_index_memory(const char *text)
{
    uint64_t size;
    if (!tool_size_parse(text, &size) || size < 1 << 20 || size > UINT64_C(1) << 34)
        tool_usage("--index-memory %s: not a size of 1M to 16G", tool_shown(text));
    return size;
}

int tool_generator(const char *option, const char *text, uint64_t *generator, uint64_t *cluster)
{
    char digits[24];
    size_t size = strcspn(text, ",");
    snprintf(digits, sizeof digits, "%.*s", (int)(size < 23 ? size : 23), text);
    if (!tool_number_parse(digits, generator) || (text[size] && !tool_number_parse(text + size + 1, cluster)))
        tool_usage("%s '%s': not a number, or two with a comma between", option, text);
    return text[size] != '\0';
}

uint32_t tool_generator_max(unsigned layout)
{
    u9_uid8 last = {.generator = 0};
    (void)!u9_uid8_ceil(0, U9_UID8_SPREAD, layout, &last, NULL);
    return last.generator;
}

void tool_within(const char *option, uint64_t number, uint64_t min, uint64_t max, const char *note)
{
    if (number < min || number > max)
        tool_usage("%s %" PRIu64 ": not a number from %" PRIu64 " to %" PRIu64 "%s%s%s", option, number, min,
                   max, *note ? " (" : "", note, *note ? ")" : "");
}

uint64_t tool_medallion(const char *option, const char *text)
{
    uint64_t number = 0;
    size_t digits = strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdefABCDEF") : 0;
    if (digits > 0 && digits <= 16 && text[2 + digits] == '\0') number = strtoumax(text + 2, NULL, 16);
    else number = tool_number(option, text);
    tool_within(option, number, 1, U9_MUID_MEDALLION_MAX - 1, "");
    return number;
}

u9_policy tool_policy(const char *text)
{
    if (strcmp(text, "commit") == 0) return U9_POLICY_COMMIT;
    if (strcmp(text, "interval") == 0) return U9_POLICY_INTERVAL;
    if (strcmp(text, "none") == 0) return U9_POLICY_NONE;
    tool_usage("'%s' is not a policy: commit, interval or none", text);
}

/* Nothing, `Z` or `+hh:mm` to the end of the text: the seconds to add for UTC. 0: none of these. */
static int parse_zone(const char *text, int64_t *shift)
{
    int used = 0;
    unsigned hours, minutes;
    *shift = 0;
    if (*text == '\0' || strcmp(text, "Z") == 0 || strcmp(text, "z") == 0) return 1;
    if (*text != '+' && *text != '-') return 0;
    for (int i = 1; i < 6; i++)
        if (i == 3 ? text[i] != ':' : !isdigit((unsigned char)text[i])) return 0;
    if (sscanf(text + 1, "%2u:%2u%n", &hours, &minutes, &used) != 2 || used != 5) return 0;
    if (text[1 + used] != '\0' || hours > 23 || minutes > 59) return 0;
    *shift = (int64_t)(hours * 3600 + minutes * 60) * (*text == '+' ? -1 : 1);
    return 1;
}

/* 10 characters `2026-01-31`, or 19 with a time behind, as seconds since 1970. 0: neither. */
static int parse_clock(const char *text, int size, int64_t *seconds)
{
    static const char pattern[] = "dddd-dd-ddTdd:dd:dd";
    for (int i = 0; i < size; i++) {
        char c = text[i];
        if (pattern[i] == 'd' ? !isdigit((unsigned char)c)
                              : c != pattern[i] && !(i == 10 && (c == 't' || c == ' ')))
            return 0;
    }
    struct tm tm = {.tm_year = atoi(text) - 1900, .tm_mon = atoi(text + 5) - 1,
                    .tm_mday = atoi(text + 8)};
    if (size > 10) {
        tm.tm_hour = atoi(text + 11);
        tm.tm_min = atoi(text + 14);
        tm.tm_sec = atoi(text + 17);
    }
    struct tm same = tm;
    if (tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60) return 0;
    *seconds = timegm(&same);
    if (tm.tm_sec == 60) return 1; /* a leap second is the second after it */
    return same.tm_mday == tm.tm_mday && same.tm_mon == tm.tm_mon; /* no 30th of February */
}

/* Behind the @: seconds since 1970, with decimals. */
static int parse_seconds(const char *text, int64_t *seconds, uint64_t *micros)
{
    char digits[24];
    uint64_t whole;
    size_t size = strspn(text, "0123456789");
    snprintf(digits, sizeof digits, "%.*s", (int)(size < 23 ? size : 23), text);
    text += size;
    if (!tool_number_parse(digits, &whole) || whole > INT64_MAX / 1000000) return 0;
    *seconds = (int64_t)whole;
    return tool_micros_parse(&text, micros) && *text == '\0';
}

/* Microseconds since 1970 of a date (its midnight), a time, or `@seconds`. 0: not a time. */
int tool_time_parse(const char *text, uint64_t *out)
{
    uint64_t micros = 0;
    int64_t seconds, shift = 0;
    if (*text == '@') {
        if (!parse_seconds(text + 1, &seconds, &micros)) return 0;
    } else if (strlen(text) == 10) {
        if (!parse_clock(text, 10, &seconds)) return 0;
    } else {
        if (!parse_clock(text, 19, &seconds)) return 0;
        text += 19;
        if (!tool_micros_parse(&text, &micros) || !parse_zone(text, &shift)) return 0;
    }
    if (seconds + shift < 0) return 0;
    *out = (uint64_t)(seconds + shift) * 1000000 + micros;
    return 1;
}

uint64_t tool_time(const char *option, const char *text)
{
    uint64_t time;
    if (!tool_time_parse(text, &time))
        tool_usage("%s %s: not a time like 2026-01-31, 2026-01-31T23:59:59.5Z or @1700000000",
                   option, tool_shown(text));
    return time;
}

/* Digits and a unit of time, as microseconds. 0: not an age. */
static int parse_age(const char *text, uint64_t *out)
{
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    char digits[24];
    uint64_t number;
    size_t size = strspn(text, "0123456789"), i = 0;
    if (size == 0 || size >= sizeof digits || text[size] == '\0' || text[size + 1] != '\0') return 0;
    memcpy(digits, text, size);
    digits[size] = '\0';
    while (i < sizeof units / sizeof *units && units[i].unit != text[size]) i++;
    if (i == sizeof units / sizeof *units || !tool_number_parse(digits, &number)) return 0;
    if (number > UINT64_MAX / 1000000 / units[i].seconds) return 0;
    *out = number * units[i].seconds * 1000000;
    return 1;
}

uint64_t tool_age(const char *option, const char *text)
{
    uint64_t age;
    if (!parse_age(text, &age)) tool_usage("%s %s: not an age like 45m, 12h, 30d or 2w", option, tool_shown(text));
    return age;
}

uint64_t tool_time_or_age(const char *option, const char *text)
{
    uint64_t age, now = tool_now_us();
    if (!parse_age(text, &age)) return tool_when(option, text);
    return age < now ? now - age : 1;
}
