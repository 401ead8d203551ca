/*
 * tools/when.c: see when.h.
 *
 * A text is taken word by word, from the front; whatever is not taken is refused, and named.
 */
#include "tools/when.h"

#include "tools/text.h"
#include "tools/tool.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { MICROS = 1000000 };

/* What is left of the text, and what is wrong with it. */
struct reading {
    const char *next;
    uint64_t now_us;
    const char *why;
};

static int refuse(struct reading *r, const char *why)
{
    if (!r->why) r->why = why;
    return 0;
}

static void skip_blanks(struct reading *r)
{
    while (*r->next == ' ' || *r->next == '\t') r->next++;
}

/* Letters up to the next thing that is none. */
static size_t word_size(const struct reading *r)
{
    size_t size = 0;
    while (isalpha((unsigned char)r->next[size])) size++;
    return size;
}

/* Takes this word, if it is the next. */
static int take_word(struct reading *r, const char *word)
{
    size_t size = strlen(word);
    if (word_size(r) != size || strncasecmp(r->next, word, size) != 0) return 0;
    r->next += size;
    skip_blanks(r);
    return 1;
}

/* Decimal digits, from `least` to `most` of them. */
static int take_digits(struct reading *r, size_t least, size_t most, uint64_t *out)
{
    size_t size = strspn(r->next, "0123456789");
    *out = 0;
    if (size < least || size > most) return 0;
    for (size_t i = 0; i < size; i++) *out = *out * 10 + (uint64_t)(r->next[i] - '0');
    r->next += size;
    return 1;
}

int tool_micros_parse(const char **text, uint64_t *micros)
{
    const char *next = *text;
    uint64_t unit = MICROS / 10;
    *micros = 0;
    if (*next != '.') return 1;
    if (!isdigit((unsigned char)*++next)) return 0;
    for (; isdigit((unsigned char)*next); unit /= 10) *micros += unit * (uint64_t)(*next++ - '0');
    *text = next;
    return 1;
}

static int take_micros(struct reading *r, uint64_t *micros)
{
    return tool_micros_parse(&r->next, micros) || refuse(r, "no digit is behind the point");
}

/* A unit of time in seconds; 0: the next word is none. */
static uint64_t take_unit(struct reading *r)
{
    static const struct {
        const char *word;
        uint64_t seconds;
    } units[] = {{"s", 1}, {"sec", 1}, {"secs", 1}, {"second", 1}, {"seconds", 1},
                 {"m", 60}, {"min", 60}, {"mins", 60}, {"minute", 60}, {"minutes", 60},
                 {"h", 3600}, {"hr", 3600}, {"hour", 3600}, {"hours", 3600},
                 {"d", 86400}, {"day", 86400}, {"days", 86400},
                 {"w", 604800}, {"week", 604800}, {"weeks", 604800}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (take_word(r, units[i].word)) return units[i].seconds;
    return 0;
}

/* A span like `2 hours` or `1d 30min`, in microseconds. */
static int take_span(struct reading *r, uint64_t *out)
{
    *out = 0;
    do {
        uint64_t number, micros, unit;
        if (!take_digits(r, 1, 12, &number)) return refuse(r, "not a number");
        if (!take_micros(r, &micros)) return 0;
        skip_blanks(r);
        unit = take_unit(r);
        if (unit == 0) return refuse(r, "not a unit of time: s, min, h, d or w");
        if (number > UINT64_MAX / MICROS / 2 / unit) return refuse(r, "too far away");
        *out += (number * MICROS + micros) * unit;
    } while (isdigit((unsigned char)*r->next) && *out < UINT64_MAX / 4);
    return 1;
}

/* So long before now, or after. */
static int take_offset(struct reading *r, uint64_t *out)
{
    char sign = *r->next;
    uint64_t span;
    if (sign == '+' || sign == '-') r->next++;
    skip_blanks(r);
    if (!take_span(r, &span)) return 0;
    if (sign != '+' && sign != '-' && !take_word(r, "ago"))
        return refuse(r, *r->next ? "not 'ago'" : "'ago' is missing behind it");
    if (sign != '+' && span > r->now_us) return refuse(r, "before 1970");
    *out = sign == '+' ? r->now_us + span : r->now_us - span;
    return 1;
}

/* hh:mm, and :ss with decimals perhaps. */
static int take_clock(struct reading *r, struct tm *tm, uint64_t *micros)
{
    const char *from = r->next;
    uint64_t hour, minute, second = 0;
    *micros = 0;
    int good = take_digits(r, 2, 2, &hour) && *r->next == ':' && r->next++ && take_digits(r, 2, 2, &minute) &&
               (*r->next != ':' || (r->next++ && take_digits(r, 2, 2, &second)));
    if (!good || hour > 23 || minute > 59 || second > 60) {
        r->next = from;
        return refuse(r, "not a time of day like 23:59");
    }
    if (!take_micros(r, micros)) return 0;
    tm->tm_hour = (int)hour;
    tm->tm_min = (int)minute;
    tm->tm_sec = (int)second; /* a leap second is the second after it */
    return 1;
}

/* Z, UTC, or +hh:mm, if one is there: then *zoned, and the seconds to add for UTC. */
static int take_zone(struct reading *r, int *zoned, int64_t *shift)
{
    uint64_t hours, minutes;
    *zoned = 1;
    *shift = 0;
    skip_blanks(r);
    if (take_word(r, "z") || take_word(r, "utc")) return 1;
    *zoned = *r->next == '+' || *r->next == '-';
    if (!*zoned) return 1;
    int sign = *r->next++ == '+' ? -1 : 1;
    if (!take_digits(r, 2, 2, &hours) || *r->next != ':' || hours > 23) return refuse(r, "not a zone like +02:00");
    r->next++;
    if (!take_digits(r, 2, 2, &minutes) || minutes > 59) return refuse(r, "not a zone like +02:00");
    *shift = sign * (int64_t)(hours * 3600 + minutes * 60);
    skip_blanks(r);
    return 1;
}

/* The date in `tm`, `days` away, at a clock time that may follow: with a T, a blank or (bare) nothing before it. */
static int take_time_of_day(struct reading *r, struct tm *tm, int days, int bare, uint64_t *out)
{
    uint64_t micros = 0;
    int64_t shift = 0, seconds;
    int zoned = 0, mday = tm->tm_mday, mon = tm->tm_mon;
    tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
    tm->tm_isdst = -1;
    if (!bare && (*r->next == 'T' || *r->next == 't') && *++r->next == '\0') return refuse(r, "no time of day is behind the T");
    skip_blanks(r);
    if (*r->next != '\0' && (!take_clock(r, tm, &micros) || !take_zone(r, &zoned, &shift))) return 0;
    int leap = tm->tm_sec == 60;
    tm->tm_mday += days;
    seconds = zoned ? timegm(tm) + shift : mktime(tm);
    if (days == 0 && !leap && (tm->tm_mday != mday || tm->tm_mon != mon)) return refuse(r, "there is no such day");
    if (seconds < 0) return refuse(r, "before 1970");
    *out = (uint64_t)seconds * MICROS + micros;
    return 1;
}

/* 2026-01-31, and the rest. */
static int take_date(struct reading *r, uint64_t *out)
{
    const char *from = r->next;
    uint64_t year, month, day;
    struct tm tm = {.tm_mday = 1};
    int good = take_digits(r, 4, 4, &year) && *r->next == '-' && r->next++ && take_digits(r, 2, 2, &month) &&
               *r->next == '-' && r->next++ && take_digits(r, 2, 2, &day);
    if (!good || month < 1 || month > 12 || day < 1 || day > 31) {
        r->next = from;
        return refuse(r, "not a date like 2026-01-31");
    }
    tm.tm_year = (int)year - 1900;
    tm.tm_mon = (int)month - 1;
    tm.tm_mday = (int)day;
    if (take_time_of_day(r, &tm, 0, 0, out)) return 1;
    if (r->why && strcmp(r->why, "there is no such day") == 0) r->next = from;
    return 0;
}

static int take_seconds(struct reading *r, uint64_t *out)
{
    uint64_t seconds, micros;
    r->next++;
    if (!take_digits(r, 1, 12, &seconds)) return refuse(r, "not a number of seconds since 1970");
    if (!take_micros(r, &micros)) return 0;
    *out = seconds * MICROS + micros;
    return 1;
}

/* A day named from here, and perhaps a time of it. *none: the next word names none. */
static int take_named(struct reading *r, uint64_t *out, int *none)
{
    static const struct {
        const char *word;
        int days;
    } names[] = {{"today", 0}, {"yesterday", -1}, {"tomorrow", 1}};
    time_t now = (time_t)(r->now_us / MICROS);
    struct tm tm;
    *none = 0;
    localtime_r(&now, &tm);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (take_word(r, names[i].word)) return take_time_of_day(r, &tm, names[i].days, 1, out);
    *none = 1;
    return 0;
}

static int take_any(struct reading *r, uint64_t *out)
{
    int none;
    time_t now = (time_t)(r->now_us / MICROS);
    struct tm tm;
    *out = r->now_us;
    if (*r->next == '\0') return refuse(r, "nothing is given");
    if (take_word(r, "now")) return 1;
    if (take_named(r, out, &none) || !none) return !r->why;
    if (*r->next == '@') return take_seconds(r, out);
    size_t digits = strspn(r->next, "0123456789");
    if (digits > 0 && r->next[digits] == '-') return take_date(r, out);
    if (digits > 0 && r->next[digits] == ':') {
        localtime_r(&now, &tm);
        return take_time_of_day(r, &tm, 0, 1, out);
    }
    if (digits > 0 || *r->next == '+' || *r->next == '-') return take_offset(r, out);
    return refuse(r, "not understood");
}

const char *tool_when_parse(const char *text, uint64_t now_us, uint64_t *out, const char **bad, size_t *size)
{
    struct reading r = {.next = text, .now_us = now_us};
    uint64_t time;
    skip_blanks(&r);
    if (take_any(&r, &time)) {
        skip_blanks(&r);
        if (*r.next != '\0') (void)refuse(&r, "not understood");
    }
    *bad = r.next;
    *size = strcspn(r.next, " \t");
    if (!r.why) *out = time;
    return r.why;
}

uint64_t tool_when(const char *option, const char *text)
{
    const char *bad;
    size_t size;
    uint64_t time = 0;
    const char *why = tool_when_parse(text, tool_now_us(), &time, &bad, &size);
    if (why && size > 0 && (size_t)(bad - text) + size <= strlen(text))
        tool_usage("%s %s: not a time like 2026-01-31, yesterday, '2 hours ago' or @1700000000: '%.*s': %s", option,
                   tool_shown(text), (int)(size < 60 ? size : 60), bad, why);
    if (why)
        tool_usage("%s %s: not a time like 2026-01-31, yesterday, '2 hours ago' or @1700000000: %s", option,
                   tool_shown(text), why);
    return time;
}
