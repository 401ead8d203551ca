/*
 * tests/rados/fixture.c: see fixture.h.
 */
#include "tests/rados/fixture.h"

#include <u9/idgen.h>
#include <u9/rados.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[512];

static int run_script(const char *what, const char *more)
{
    char line[1200];
    snprintf(line, sizeof line, "scripts/rados %s '%s' %s", what, folder, more);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool rados_start(const char *dir)
{
    char line[600], port[16];
    snprintf(folder, sizeof folder, "%s", dir);
    rados_stop(); /* of a run that was killed */
    snprintf(line, sizeof line, "rm -rf '%s' && mkdir -p '%s'", dir, dir);
    if (system(line) != 0) return false;
    for (unsigned i = 0, status = 3; i < 5; i++) {
        snprintf(port, sizeof port, "%u", 20000 + ((unsigned)getpid() * 7 + i * 101) % 20000);
        status = (unsigned)run_script("start", port);
        if (status != 3) return status == 0;
    }
    return false;
}

void rados_stop(void)
{
    if (folder[0]) (void)run_script("stop", "");
}

void rados_signal(int sig)
{
    char path[600];
    long pid = 0;
    snprintf(path, sizeof path, "%s/osd.0.pid", folder);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%ld", &pid), 1);
    fclose(f);
    ck_assert_int_eq(kill((pid_t)pid, sig), 0);
}

const char *address(const char *name, const char *more)
{
    static char addresses[8][1200];
    static unsigned next;
    char *a = addresses[next++ % 8];
    snprintf(a, sizeof addresses[0], "rados:u9/%s?conf=%s/ceph.conf&lease=%d%s", name, folder, LEASE_S, more);
    return a;
}

u9i_env *env_at(const char **path)
{
    u9i_env *env;
    u9_fault fault = {0};
    ck_assert_int_eq(u9_store_add(u9_rados_store, &fault), U9_OK);
    ck_assert_msg(u9i_env_of(NULL, path, &env, &fault) == U9_OK, "%s", fault.text);
    return env;
}

static writer begin_self(const char *const *args)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "u9radostests", args[0], args[1], args[2], args[3], (char *)NULL);
        _exit(127);
    }
    ck_assert_int_gt(pid, 0);
    close(ends[1]);
    return (writer){pid, fdopen(ends[0], "r")};
}

writer begin_writer(const char *at, unsigned first, unsigned count)
{
    char from[16], many[16];
    snprintf(from, sizeof from, "%u", first);
    snprintf(many, sizeof many, "%u", count);
    return begin_self((const char *const[]){"--writer", at, from, many});
}

writer begin_numbers(const char *at, unsigned count)
{
    char many[16];
    snprintf(many, sizeof many, "%u", count);
    return begin_self((const char *const[]){"--numbers", at, many, NULL});
}

/* In the order of [I-23]: the number is had, the clock is read and an identifier made, and it is said only once confirmed. */
static u9_err print_numbers(const u9_generator *g, unsigned *count, u9_fault *fault)
{
    u9_grant grant;
    u9_uid8gen *gen = NULL;
    u9_uid8 id;
    char text[U9_UID8_TEXT_SIZE + 1];
    u9_err err = g->acquire(g->ctx, &grant, fault);
    if (err != U9_OK) return err;
    const u9_uid8gen_options o = {.size = sizeof o, .generator = grant.generator, .cluster = grant.cluster,
                                  .seen_ms = grant.seen_ms, .tries_max = 100000};
    err = u9_uid8gen_new(&o, &gen, fault);
    uint64_t last = 0;
    while (err == U9_OK && *count > 0) {
        err = u9_uid8gen_next(gen, &id);
        if (err == U9_OK) err = g->renew(g->ctx, &grant, id.timestamp_ms, fault);
        if (err != U9_OK || u9_uid8_format(&id, U9_UID8_LAYOUT_MAX, text, NULL) != U9_OK) break;
        last = id.timestamp_ms;
        printf("%s\n", text);
        fflush(stdout);
        --*count;
    }
    u9_uid8gen_free(gen);
    g->release(g->ctx, &grant, last);
    return err;
}

int run_numbers(const char *at, unsigned count)
{
    const u9_rados_numbers_options o = {.size = sizeof o, .cluster = 3, .first = 7, .count = 1};
    u9_rados_numbers *n = NULL;
    u9_fault fault = {0};
    u9_err err = u9_store_add(u9_rados_store, &fault);
    if (err == U9_OK) err = u9_rados_numbers_new(at, &o, &n, &fault);
    if (err != U9_OK) return 3;
    const u9_generator g = u9_rados_numbers_generator(n);
    while (err == U9_OK && count > 0) {
        err = print_numbers(&g, &count, &fault);
        if (err == U9_AGAIN) err = U9_OK; /* it was lost, or is another's: once more */
    }
    u9_rados_numbers_free(n);
    return err == U9_OK ? 0 : 3;
}

long next_commit(writer *w, char *why)
{
    char line[512] = "";
    if (fgets(line, sizeof line, w->said) == NULL) return -1;
    if (line[0] >= '0' && line[0] <= '9') return strtol(line, NULL, 10);
    line[strcspn(line, "\n")] = 0;
    if (why) memcpy(why, line, sizeof line);
    return -1;
}

int end_writer(writer *w)
{
    int status = 0;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    fclose(w->said);
    return status;
}

static u9_err append_number(u9_log *log, unsigned n, u9_fault *fault)
{
    uint8_t room[64];
    char text[16];
    u9_builder b;
    u9_place place;
    snprintf(text, sizeof text, "%u", n);
    u9_builder_init(&b, room, sizeof room);
    u9_err err = u9_build_utf8(&b, text, strlen(text));
    if (err == U9_OK) err = u9_log_append(log, NULL, room, b.size, &place);
    if (err == U9_OK) err = u9_log_sync(log);
    if (err != U9_OK) u9_log_fault(log, fault);
    return err;
}

int run_writer(const char *at, unsigned first, unsigned count)
{
    u9_log *log = NULL;
    u9_fault fault = {0};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE};
    char line[1024];
    u9_err err = u9_store_add(u9_rados_store, &fault);
    if (err == U9_OK) err = u9_log_open(at, &o, &log, &fault);
    for (unsigned n = first; err == U9_OK && n - first < count; n++) {
        err = append_number(log, n, &fault);
        if (err == U9_OK) printf("%u\n", n);
        fflush(stdout);
    }
    if (err != U9_OK) printf("%s: %s\n", u9_err_name(err), u9_fault_line(&fault, line, sizeof line));
    fflush(stdout);
    if (log) (void)u9_log_close(log, NULL);
    return err == U9_OK ? 0 : 3;
}

uint64_t expect_numbers(const char *at, unsigned first, unsigned behind)
{
    u9_log *log;
    u9_cursor *cursor;
    u9_record record;
    u9_fault fault = {0};
    u9_options o = {.size = sizeof o, .mode = U9_READ};
    uint64_t count = 0;
    (void)env_at(&at);
    ck_assert_msg(u9_log_open(at, &o, &log, &fault) == U9_OK, "%s", fault.text);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &cursor, &fault), U9_OK);
    u9_err err;
    while ((err = u9_cursor_next(cursor, &record)) == U9_OK) {
        u9_value value;
        char text[16] = "";
        count++;
        ck_assert_int_eq(u9_value_decode(record.values, record.values_size, &value), U9_OK);
        memcpy(text, value.data, value.size < 15 ? (size_t)value.size : 15);
        if (strtoul(text, NULL, 10) == first && first < behind) first++;
    }
    ck_assert_int_eq(err, U9_END);
    ck_assert_uint_eq(first, behind);
    u9_cursor_close(cursor);
    ck_assert_int_eq(u9_log_close(log, NULL), U9_OK);
    u9_report report = {.size = sizeof report};
    ck_assert_int_eq(u9_check(at, NULL, &report, &fault), U9_OK);
    ck_assert_uint_eq(report.lost, 0);
    ck_assert_uint_eq(report.damages, 0);
    return count;
}
