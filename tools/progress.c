/*
 * tools/progress.c: see progress.h.
 */
#include "tools/progress.h"

#include "tools/text.h"
#include "tools/tool.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double tool_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void tool_progress_begin(tool_progress *progress, int on)
{
    *progress = (tool_progress){.on = on && isatty(STDERR_FILENO), .began = tool_seconds()};
    progress->told = progress->began;
}

/* Adds a part to the line if it fits; else the line is full, and nothing more is added. */
static void add_part(char *line, size_t *room, const char *format, ...)
{
    va_list list;
    size_t size = strlen(line);
    va_start(list, format);
    int part = vsnprintf(line + size, TOOL_PROGRESS_SIZE - size, format, list);
    va_end(list);
    if (part >= 0 && (size_t)part <= *room) {
        *room -= (size_t)part;
        return;
    }
    line[size] = '\0';
    *room = 0;
}

const char *tool_progress_line(uint64_t done, uint64_t all, double spent, unsigned columns,
                               char line[TOOL_PROGRESS_SIZE])
{
    char bytes[24], total[24], rate[24];
    double speed = (double)done / spent;
    if (speed > 1e18) speed = 1e18; /* a clock that stood still */
    size_t room = columns == 0 || columns > TOOL_PROGRESS_SIZE ? TOOL_PROGRESS_SIZE - 1 : columns - 1;
    line[0] = '\0';
    add_part(line, &room, "%s: %s", tool_name(), tool_bytes_text(done, bytes));
    if (all > 0)
        add_part(line, &room, " of %s, %.0f%%", tool_bytes_text(all, total),
                 100 * (double)done / (double)all);
    add_part(line, &room, ", %s/s", tool_bytes_text((uint64_t)speed, rate));
    if (all > done && done > 0) {
        double left = (double)(all - done) / speed;
        if (left < 1e6 * 3600)
            add_part(line, &room, ", ETA %d:%02d:%02d", (int)(left / 3600), (int)(left / 60) % 60,
                     (int)left % 60);
    }
    return line;
}

int tool_progress_tell(void *ctx, uint64_t done, uint64_t all)
{
    tool_progress *progress = (tool_progress *)ctx;
    if (!progress->on) return 0;
    double now = tool_seconds(), spent = now - progress->began;
    if (now - progress->told < 0.2 || spent <= 0) return 0;
    progress->told = now;
    char line[TOOL_PROGRESS_SIZE];
    fprintf(stderr, "\r\033[K%s", tool_progress_line(done, all, spent, tool_columns(STDERR_FILENO), line));
    return 0;
}

void tool_progress_end(tool_progress *progress)
{
    if (progress->on && progress->told > progress->began) fputs("\r\033[K", stderr);
}
