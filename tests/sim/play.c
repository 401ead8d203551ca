/*
 * tests/sim/play.c: the engine goes through a script above the simulated disk, and after each session the oracle asks
 * what is there. {F04} {F07} {F08} {F09} {F10} {F11} {F12} {F13} {F14} {F24} {F25} {F40} {F41} {F42}
 *
 *     I1  each record that was acknowledged is there as it was, or its loss is told; where no disk lied it is there
 *     I2  nothing is there that was never appended, I3 in order, gaps told, I4 no batch in part
 *     I5  what is read twice is the same, and so after the next session, wherever that ended; I6 reading changes no
 *         byte
 *     I7  reading and checking read no more than so many times the bytes that are there; how long that takes, and what
 *         memory, is not asked here
 *     I8  three of the records that are read from end to end are found by their keys, with the indexes that there are
 *
 * The model of the verdicts is the second reader, which is written from the specification alone: look() compares what
 * it says with what the library says, damage by damage, in every state. No crash and no failed call is damage: where
 * the disk told no lie, nothing is told but a torn tail. Every write is watched meanwhile: sim_watch_promises.
 */
#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sim/script.h"
#include "tests/sim/sim.h"

#include <u9/index.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS_MAX = 1200, TEXT_MAX = 25000, BATCH_MAX = 8, HANGS_S = 60 };

static const char log_path[] = "/w/log", saved_path[] = "/w/saved";

/* What was appended, in order: what is there after a crash is a beginning of it. */
typedef struct tale {
    const script *script;
    unsigned next;                               /* numbers of records are never given twice */
    unsigned numbers[RECORDS_MAX], sizes[RECORDS_MAX]; /* by ordinal */
    uint8_t keys[RECORDS_MAX][16];
    bool begins[RECORDS_MAX];                    /* a batch begins there, or a record alone */
    unsigned appended, acked;
    unsigned before;                             /* acknowledged when the session began */
    unsigned trimmed;                            /* no record at or above was asked to go */
    bool made;                                   /* the log is there for good */
    unsigned deaths, fired;                      /* when the session began */
    u9_log *log;
    unsigned sessions;
} tale;

static tale t;

/* Told to whoever waits for the end of a child, instead of to Check. */
static bool is_child;

/* See script_trust_disks. */
static bool trusts;

static unsigned lies(void)
{
    return trusts ? 0 : sim_lies();
}

#define EXPECT(what, ...) ((what) ? (void)0 : broken(__VA_ARGS__))

static void __attribute__((format(printf, 1, 2), noreturn)) broken(const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!is_child) ck_abort_msg("%s", text);
    fprintf(stderr, "%s\n", text);
    _exit(1);
}

size_t script_text(unsigned number, unsigned size, char *out)
{
    uint32_t h = number * UINT32_C(2654435761);
    int head = sprintf(out, "%u:", number);
    for (unsigned i = 0; i < size; i++) {
        if (number % 2) h = h * UINT32_C(1664525) + UINT32_C(1013904223); /* half of them shrink */
        out[(unsigned)head + i] = (char)('a' + h / 65536 % 26);
    }
    out[(unsigned)head + size] = 0;
    return (size_t)head + size;
}

static bool is_over(void)
{
    return sim_deaths() != t.deaths;
}

/* A call may have failed: one did by a plan, or the process is gone. */
static bool may_fail(void)
{
    return is_over() || sim_fired() != t.fired || lies() > 0;
}

/* Deeds */

static void append_some(unsigned count, unsigned size, bool batch)
{
    static char text[TEXT_MAX];
    static uint8_t values[BATCH_MAX][TEXT_MAX + 16];
    u9_entry entries[BATCH_MAX] = {0};
    u9_place places[BATCH_MAX];
    if (t.appended + count > RECORDS_MAX) return;
    for (unsigned i = 0; i < count; i++) {
        u9_builder b;
        unsigned o = t.appended + i;
        t.begins[o] = i == 0 || !batch;
        t.sizes[o] = size;
        t.numbers[o] = t.next++;
        u9_builder_init(&b, values[i], sizeof values[i]);
        MUST(u9_build_utf8(&b, text, script_text(t.numbers[o], size, text)) == U9_OK);
        entries[i].values = values[i];
        entries[i].size = b.size;
    }
    for (unsigned i = 0; i < count; i += batch ? count : 1) {
        u9_err err = u9_log_append_batch(t.log, &entries[i], batch ? count : 1, &places[i]);
        EXPECT(err == U9_OK || may_fail(), "append: %s", u9_err_name(err));
        if (err != U9_OK) return;
        for (unsigned k = 0; k < (batch ? count : 1); k++) {
            EXPECT(is_over() || places[i + k].ordinal == t.appended, "append: ordinal %llu, not %u",
                   (unsigned long long)places[i + k].ordinal, t.appended);
            memcpy(t.keys[t.appended++], places[i + k].key, 16);
        }
    }
}

/* A reader beside the writer sees a beginning of it, and all that is durable. */
static void read_beside(void)
{
    u9_log *r;
    u9_cursor *c = NULL;
    u9_record record;
    uint64_t n = 0;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = "sim"};
    u9_err err = u9_log_open(log_path, &o, &r, NULL);
    EXPECT(err == U9_OK || may_fail(), "reader: %s", u9_err_name(err));
    if (err != U9_OK) return;
    err = u9_cursor_open(r, NULL, &c, NULL);
    while (err == U9_OK && (err = u9_cursor_next(c, &record)) == U9_OK) n = record.ordinal + 1;
    EXPECT(may_fail() || (err == U9_END && n <= t.appended && (n >= t.acked || t.trimmed > 0)),
           "reader: %s, %llu of %u to %u", u9_err_name(err), (unsigned long long)n, t.acked, t.appended);
    if (c) u9_cursor_close(c);
    (void)!u9_log_close(r, NULL);
}

static void look_up(u9_log *log, unsigned ordinal, bool there, bool absent)
{
    static uint8_t room[TEXT_MAX + 100];
    u9_record r;
    u9_err err = u9_log_get(log, &(u9_key){t.keys[ordinal], 16}, room, sizeof room, &r, NULL);
    bool right = err == U9_OK ? there && r.ordinal == ordinal : err == U9_ABSENT && (absent || !there);
    bool failed = err != U9_OK && err != U9_ABSENT && may_fail();
    EXPECT(right || failed || is_over(), "looked up, record %u: %s", ordinal, u9_err_name(err));
}

static void trim(unsigned percent)
{
    u9_trimmed out = {.size = sizeof out};
    unsigned before = t.appended * (percent % 100) / 100;
    if (before > t.trimmed) t.trimmed = before;
    u9_err err = u9_log_trim(t.log, &(u9_trim){.size = sizeof(u9_trim), .before = before}, &out, NULL);
    EXPECT(err == U9_OK || may_fail(), "trim: %s", u9_err_name(err));
}

static void index_log(bool drop)
{
    u9_index_report report = {.size = sizeof report};
    u9_index_options o = {.size = sizeof o, .io = "sim", .memory = 64 << 10};
    u9_fault fault = {.text = ""};
    u9_err err = (drop ? u9_indexes_drop : u9_indexes_build)(log_path, &o, &report, &fault);
    EXPECT(err == U9_OK || may_fail(), "index: %s: %s", u9_err_name(err), fault.text);
}

static sim_kind kind_of(unsigned n)
{
    static const sim_kind kinds[] = {SIM_ANY,    SIM_WRITE,    SIM_SYNC,  SIM_SYNC_DIR, SIM_CREATE, SIM_RESERVE,
                                     SIM_RENAME, SIM_TRUNCATE, SIM_OPEN,  SIM_READ,     SIM_LIST,   SIM_STAT,
                                     SIM_LOCK,   SIM_EVICT,    SIM_SUBMIT, SIM_WAIT,    SIM_REMOVE, SIM_RANDOM,
                                     SIM_ZERO,   SIM_SIZE,     SIM_OPEN_DIR, SIM_OPEN_QUEUE};
    return kinds[n % (sizeof kinds / sizeof *kinds)];
}

static int error_of(unsigned n)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT, EROFS, ENOMEM};
    return errors[n % (sizeof errors / sizeof *errors)];
}

static unsigned nth(unsigned n)
{
    return n > 0 ? n : 1;
}

/* The oracle */

/* Whether the loss of this record is told. */
static bool is_told(const seen *s, uint64_t ordinal)
{
    for (size_t i = 0; i < s->damage_count; i++) {
        const u9_damage *d = &s->damages[i];
        if (d->verdict <= U9_V_TORN) continue;
        if (d->lost == U9_NOWHERE || d->ordinal == U9_NOWHERE) return true;
        if (ordinal >= d->ordinal && ordinal - d->ordinal < d->lost) return true;
    }
    return false;
}

static void expect_record(const seen_record *r)
{
    static char text[TEXT_MAX];
    uint64_t o = r->ordinal;
    EXPECT(o < t.appended, "record %llu is there, %u were appended", (unsigned long long)o, t.appended);
    size_t size = script_text(t.numbers[o], t.sizes[o], text);
    EXPECT(r->text_size == size && memcmp(r->text, text, size) == 0, "record %llu is '%.20s', not '%.20s'",
           (unsigned long long)o, r->text ? r->text : "", text);
}

/*
 * I1 I3: what is missing between two records, in front of the first, or up to what was acknowledged. Where a disk has
 * lied, what the last session acknowledged and nothing promised may look as if it had never been written.
 */
static void expect_told(const seen *s, uint64_t from, uint64_t to)
{
    bool at_the_end = s->count == 0 || from > s->records[s->count - 1].ordinal;
    for (uint64_t o = from; o < to; o++) {
        if (o < t.trimmed && (s->count == 0 || o < s->records[0].ordinal)) continue;
        bool looks_unwritten = o >= t.before || (s->report.verdict != U9_V_CLEAN && !s->report.closed);
        bool torn = lies() > 0 && at_the_end && looks_unwritten;
        EXPECT(torn || (lies() > 0 && is_told(s, o)), "record %llu is gone%s; %zu are there, %u were acknowledged",
               (unsigned long long)o, lies() ? " and nobody says so" : "", s->count, t.acked);
    }
}

static void expect_records(const seen *s)
{
    uint64_t next = 0;
    for (size_t i = 0; i < s->count; i++) {
        const seen_record *r = &s->records[i];
        EXPECT(i == 0 || r->ordinal >= next, "record %llu comes behind %llu", (unsigned long long)r->ordinal,
               (unsigned long long)next);
        expect_record(r);
        expect_told(s, next, r->ordinal);
        next = r->ordinal + 1;
    }
    expect_told(s, next, t.acked);
    if (next < t.appended && next > 0) /* I4 */
        EXPECT(t.begins[next] || lies() > 0, "a part of the batch before record %llu is there",
               (unsigned long long)next);
}

/* No damage is told where no disk lied. */
static void expect_no_alarm(const seen *s)
{
    for (size_t i = 0; i < s->damage_count && lies() == 0; i++) {
        const u9_damage *d = &s->damages[i];
        EXPECT(d->verdict <= U9_V_TORN, "segment %llu %s %s [%llu,%llu)", (unsigned long long)d->segment,
               u9_verdict_name(d->verdict), u9_reason_name(d->reason), (unsigned long long)d->begin,
               (unsigned long long)d->end);
    }
}

static void expect_lookups(const seen *s)
{
    u9_log *r;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = "sim"};
    if (s->count == 0) return;
    EXPECT(u9_log_open(log_path, &o, &r, NULL) == U9_OK, "no reader");
    for (unsigned i = 0; i < 3; i++)
        look_up(r, (unsigned)s->records[s->count * i / 3].ordinal, true, false);
    EXPECT(u9_log_close(r, NULL) == U9_OK, "a reader cannot be closed");
}

/* What is saved of a damaged log has all that a reader serves. */
static void expect_saved(const seen *s)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = "sim"};
    u9_fault fault;
    if (s->report.verdict <= U9_V_TORN) return;
    remove_log(saved_path);
    u9_err err = u9_salvage(log_path, saved_path, &o, &report, NULL, &fault);
    EXPECT(err == U9_OK, "salvage: %s: %s", u9_err_name(err), fault.text);
    EXPECT(report.records >= s->count || report.outputs > 1, "%llu records are saved of %zu",
           (unsigned long long)report.records, s->count);
}

static uint64_t bytes_of(const char *log)
{
    size_t count;
    uint64_t n = 0;
    char **names = sim_names(log, &count);
    for (size_t i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", log, names[i]);
        n += sim_size(path);
        free(names[i]);
    }
    free(names);
    return n;
}

/* I7: cursor and check, each of which may look twice at an unconfirmed end; what a few windows hold is not counted. */
static void expect_cheap(uint64_t read)
{
    uint64_t there = bytes_of(log_path);
    EXPECT(read <= 12 * there + (8 << 20), "%llu bytes are read to check %llu", (unsigned long long)read,
           (unsigned long long)there);
}

static bool is_refused(const seen *s)
{
    EXPECT(!t.made || lies() > 0, "the log is gone: %s", u9_err_name(s->err));
    return true;
}

static void judge(void)
{
    sim_mend();
    sim_clear();
    t.deaths = sim_deaths();
    t.fired = sim_fired();
    if (!sim_holds(log_path)) {
        EXPECT(!t.made, "the log is gone");
        return;
    }
    uint64_t before = sim_digest(log_path);
    sim_forget_diary();
    seen *s = look(log_path);
    if (s->err == U9_OK || !is_refused(s)) {
        expect_cheap(sim_bytes(SIM_READ));
        expect_no_alarm(s);
        expect_records(s);
        expect_lookups(s);
        if (lies() > 0) expect_saved(s);
        EXPECT(sim_digest(log_path) == before, "reading has changed the log"); /* I6, and I5 with it */
        t.made = true;
        EXPECT(s->report.next_ordinal <= t.appended, "ordinals go on at %llu, %u were given",
               (unsigned long long)s->report.next_ordinal, t.appended);
        t.appended = (unsigned)s->report.next_ordinal;
        t.acked = t.before = t.appended;
    }
    forget(s);
}

/* Sessions */

static void open_log(unsigned bits, unsigned order)
{
    static const sim_order orders[] = {SIM_WILD, SIM_WILD, SIM_LATE, SIM_REVERSED, SIM_DRAWN, SIM_PROMPT};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = "sim", .segment_size = 65536, .lz4 = bits & 1,
                    .policy = bits & 2 ? U9_POLICY_NONE : U9_POLICY_COMMIT, .keep_bytes = bits & 12 ? 0 : 200000};
    u9_fault fault;
    sim_set_order(orders[order % (sizeof orders / sizeof *orders)]);
    if (o.keep_bytes) t.trimmed = RECORDS_MAX;
    u9_err err = u9_log_open(log_path, &o, &t.log, &fault);
    EXPECT(err == U9_OK || may_fail(), "open: %s: %s", u9_err_name(err), fault.text);
    if (err != U9_OK) t.log = NULL;
    t.made |= err == U9_OK && !is_over();
}

static void end_session(unsigned step_us)
{
    u9_fault fault;
    bool over = is_over();
    u9_err err = t.log ? u9_log_close(t.log, &fault) : U9_OK;
    EXPECT(err == U9_OK || may_fail(), "close: %s: %s", u9_err_name(err), fault.text);
    if (!over && !is_over() && err == U9_OK && t.log) t.acked = t.appended;
    t.log = NULL;
    sim_lose_power_at(0);
    sim_kill_at_write(0);
    sim_land(step_us);
    sim_land(0);
    t.sessions++;
    judge();
}

static void do_deed(const script_step *step)
{
    u9_err err = U9_OK;
    unsigned a = step->arg[0], b = step->arg[1];
    script_verb v = step->verb;
    if (v == DO_APPEND || v == DO_BATCH)
        append_some(1 + (nth(a) - 1) % BATCH_MAX, b % (TEXT_MAX - 20), v == DO_BATCH);
    if (v == DO_COMMIT && t.appended) err = u9_log_commit(t.log, t.appended - 1);
    if (v == DO_ASYNC && t.appended) err = u9_log_commit_async(t.log, t.appended - 1);
    if (v == DO_SYNC) err = u9_log_sync(t.log);
    if (v == DO_READ) read_beside();
    if (v == DO_GET && t.appended) look_up(t.log, a % t.appended, true, a % t.appended < t.trimmed || may_fail());
    if (v == DO_TRIM) trim(a);
    if (v == DO_INDEX || v == DO_DROP) index_log(v == DO_DROP);
    EXPECT(err == U9_OK || err == U9_AGAIN || may_fail(), "%s", u9_err_name(err));
    uint64_t durable = u9_log_durable(t.log);
    if (is_over()) return; /* what is said in a killed process nobody hears */
    EXPECT(durable <= t.appended && (durable >= t.acked || lies()),
           "%llu records are said to be durable, %u were, %u are appended",
           (unsigned long long)durable, t.acked, t.appended);
    if (err == U9_OK && step->verb == DO_SYNC) EXPECT(durable == t.appended, "synced, and not durable");
    t.acked = (unsigned)durable;
}

static void make_trouble(const script_step *step)
{
    unsigned a = step->arg[0], b = step->arg[1], c = step->arg[2];
    script_verb v = step->verb;
    if (v == DO_FAIL || v == DO_STUCK) sim_fail(kind_of(a), nth(b), error_of(c), v == DO_STUCK);
    if (v == DO_HALF) sim_fail_half(nth(a), error_of(c));
    if (v == DO_MEND) sim_mend();
    if (v == DO_LOSE) sim_lie(SIM_LOST, nth(a), 0);
    if (v == DO_STRAY) sim_lie(SIM_STRAY, nth(a), nth(b) % 16 * 4096);
    if (v == DO_ROT) sim_lie(SIM_ROT, nth(a), b);
    if (v == DO_DEAF) sim_lie(SIM_DEAF, nth(a), 0);
    if (v == DO_KILLAT) sim_kill_at_write(nth(a));
    if (v == DO_POWER) sim_lose_power_at(nth(a));
    if (v == DO_PASS && !is_over()) sim_advance(a);
}

static bool is_deed(script_verb v)
{
    return v == DO_APPEND || v == DO_BATCH || v == DO_COMMIT || v == DO_ASYNC || v == DO_SYNC || v == DO_READ ||
           v == DO_GET || v == DO_TRIM || v == DO_INDEX || v == DO_DROP;
}

static bool is_end(const script_step *step)
{
    return step->verb == DO_CLOSE || step->verb == DO_KILL || (step->verb == DO_POWER && step->arg[0] == 0);
}

/* What it says of a session comes before it is opened, so that opening is within reach of it. */
static void play_session(const script_step *from, const script_step *to, const script_step *end)
{
    const script_step *open = from < to && from->verb == DO_OPEN ? from++ : NULL;
    const script_step *first = from;
    while (first < to && !is_deed(first->verb) && first->verb != DO_PASS) make_trouble(first++);
    open_log(open ? open->arg[0] : 4, open ? open->arg[1] : 0);
    for (const script_step *step = first; step < to && t.log && !is_over(); step++)
        if (is_deed(step->verb)) do_deed(step);
        else make_trouble(step);
    if (end && end->verb == DO_KILL && !is_over()) sim_kill();
    if (end && end->verb == DO_POWER && !is_over()) sim_lose_power();
    end_session(end && end->verb == DO_KILL ? end->arg[0] : 0);
}

unsigned script_play(const script *s)
{
    t = (tale){.script = s, .next = 1};
    sim_begin(s->seed);
    sim_make_dir("/w");
    sim_watch_promises();
    for (unsigned from = 0, to; from < s->count; from = to + 1) {
        for (to = from; to < s->count && !is_end(&s->steps[to]) && (to == from || s->steps[to].verb != DO_OPEN);) to++;
        bool ends = to < s->count && is_end(&s->steps[to]);
        play_session(&s->steps[from], &s->steps[to], ends ? &s->steps[to] : NULL);
        if (!ends) to--;
    }
    sim_end();
    return t.sessions;
}

void script_trust_disks(void)
{
    trusts = true;
}

bool script_fails_in_child(const script *s, bool aloud)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        is_child = true;
        if (!aloud) MUST(freopen("/dev/null", "w", stderr) != NULL);
        alarm(HANGS_S);
        (void)script_play(s);
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child);
    return status != 0;
}
