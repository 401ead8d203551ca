/*
 * tools/pager.c: see pager.h.
 *
 * The pager is a child; this process stays the one that reads the log, and ends after it, so that the shell's prompt does
 * not come while the pager is on the screen. A pager that goes away early is a reader that goes away: EPIPE.
 */
#include "tools/pager.h"

#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child; /* 0: there is no pager */
static int outside[3] = {-1, -1, -1}; /* where descriptors 1 and 2 led before; -1: the same as now */
static int seen;                      /* a terminal is behind the pager */

/* Signals that end the tool: behind its pager. */
static const int ends_it[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDS = sizeof ends_it / sizeof *ends_it };

/* NULL: none is wanted. */
static const char *wanted(void)
{
    const char *command = getenv("U9_PAGER"), *term = getenv("TERM");
    if (command == NULL) command = getenv("PAGER");
    if (command == NULL && (term == NULL || strcmp(term, "dumb") == 0)) return NULL;
    if (command == NULL)
        command = "if command -v less >/dev/null; then exec less; else exec cat; fi";
    return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* Starts it with `in` as its standard input, and with the signals that this process ignores. Not 0: it runs. */
static int start(const char *command, int in)
{
    char shell[] = "sh", dash[] = "-c";
    static const char instead[] = "\ncase $? in 127) exec cat;; esac"; /* there is no such pager, which the shell says */
    char *text = (char *)malloc(strlen(command) + sizeof instead), *words[] = {shell, dash, text, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    if (text) stpcpy(stpcpy(text, command), instead);
    if (text == NULL || posix_spawn_file_actions_init(&files) != 0) return free(text), 0;
    int sys = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (sys == 0 && (sys = posix_spawnattr_init(&how)) == 0) {
        posix_spawnattr_setsigdefault(&how, &set);
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
        setenv("LESS", "FRX", 0); /* leaves what fits on the screen there, and shows colours */
        sys = posix_spawnp(&child, "sh", &files, &how, words, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    free(text);
    if (sys != 0) child = 0;
    return sys == 0;
}

/* Lets go of the pager's input, and waits for its end. Calls what a signal may call. */
static void leave(void)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (outside[fd] < 0) continue;
        dup2(outside[fd], fd);
        close(outside[fd]);
        outside[fd] = -1;
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    child = 0;
}

static void end(void)
{
    for (size_t i = 0; i < ENDS; i++) signal(ends_it[i], SIG_IGN); /* they are the pager's alone now */
    leave();
}

static void interrupted(int number)
{
    leave();
    signal(number, SIG_DFL);
    raise(number);
}

/* Descriptor `fd` leads to `to`; where it led before is kept. */
static void divert(int fd, int to)
{
    outside[fd] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (outside[fd] >= 0) dup2(to, fd);
}

void tool_page(int off)
{
    const char *command = off || !isatty(STDOUT_FILENO) ? NULL : wanted();
    int ends[2];
    if (command == NULL || pipe2(ends, O_CLOEXEC) != 0) return;
    if (start(command, ends[0])) {
        seen = 1;
        tool_at_end(end);
        for (size_t i = 0; i < ENDS; i++) signal(ends_it[i], interrupted);
        if (isatty(STDERR_FILENO)) divert(STDERR_FILENO, ends[1]);
        divert(STDOUT_FILENO, ends[1]);
    }
    close(ends[0]);
    close(ends[1]);
}

int tool_seen(void)
{
    return seen || isatty(STDOUT_FILENO);
}
