/*
 * bench/engine_journal.c: systemd's journal. It has no interface that writes a file: sd_journal_send speaks to the
 * system's one journald. What writes a journal file that one names is systemd-journal-remote, fed with the export
 * format through a pipe: a process of its own, whose parsing of that text is part of the figure.
 *
 * It is done when it has ended, the journal offline and synced: that is the final sync here. No call can
 * be made durable by itself.
 */
#include "bench/engine.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *feed;

static const char program[] = "/usr/lib/systemd/systemd-journal-remote";

static const char *version_of_journal(void)
{
    static char line[64];
    char command[100];
    if (access(program, X_OK) != 0) return NULL;
    snprintf(command, sizeof command, "%s --version", program);
    FILE *f = popen(command, "r");
    if (f == NULL) return NULL;
    bool ok = fgets(line, sizeof line, f) != NULL;
    pclose(f);
    line[strcspn(line, "(\n")] = 0;
    return ok ? line : NULL;
}

static void open_journal(const job_spec *job)
{
    char command[PATH_ROOM + 200];
    snprintf(command, sizeof command,
             "exec %s --split-mode=none --seal=no --compress=%s -o '%s/log.journal' - 2>/dev/null",
             program, job->compressed ? "yes" : "no", job->dir);
    feed = popen(command, "w");
    if (feed == NULL) die("systemd-journal-remote", NULL);
    setvbuf(feed, NULL, _IOFBF, 1 << 16);
}

static void append_journal(uint64_t first, size_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        const datum *v = value_of(i);
        unsigned long long t = 1700000000000000ull + i;
        fprintf(feed,
                "__REALTIME_TIMESTAMP=%llu\n__MONOTONIC_TIMESTAMP=%llu\n_BOOT_ID=%032x\nMESSAGE=",
                t, (unsigned long long)i + 1, 9);
        fwrite(v->text, 1, v->size, feed);
        if (fputs("\n\n", feed) < 0) die("systemd-journal-remote", NULL);
    }
}

static void sync_journal(void)
{
    if (pclose(feed) != 0) die("systemd-journal-remote", NULL);
}

static void close_journal(void)
{
}

const engine engine_journal = {
    .name = "journal",
    .label = "systemd journal",
    .side = SIDE_PEER,
    .elsewhere = true,
    .config =
        "systemd-journal-remote, fed through a pipe in the export format and waited for: another process, "
        "parsing included, no keys but times",
    .version = version_of_journal,
    .open = open_journal,
    .append = append_journal,
    .sync = sync_journal,
    .close = close_journal,
};
