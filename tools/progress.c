/*
 * tools/progress.c: see progress.h.
 */
#include "tools/progress.h"

#include "tools/text.h"
#include "tools/tool.h"

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

int tool_progress_tell(void *ctx, uint64_t done, uint64_t all)
{
    tool_progress *progress = (tool_progress *)ctx;
    if (!progress->on) return 0;
    double now = tool_seconds(), spent = now - progress->began;
    if (now - progress->told < 0.2 || spent <= 0) return 0;
    progress->told = now;
    char bytes[24], total[24], rate[24];
    double speed = (double)done / spent;
    fprintf(stderr, "\r\033[K%s: %s", tool_name(), tool_bytes_text(done, bytes));
    if (all > 0)
        fprintf(stderr, " of %s, %.0f%%", tool_bytes_text(all, total),
                100 * (double)done / (double)all);
    fprintf(stderr, ", %s/s", tool_bytes_text((uint64_t)speed, rate));
    if (all > done && done > 0) {
        double left = (double)(all - done) / speed;
        fprintf(stderr, ", ETA %d:%02d:%02d", (int)(left / 3600), (int)(left / 60) % 60,
                (int)left % 60);
    }
    return 0;
}

void tool_progress_end(tool_progress *progress)
{
    if (progress->on && progress->told > progress->began) fputs("\r\033[K", stderr);
}
