/*
 * tests/golden/v1/make.c: writes the golden logs of the first version. Run by ./make, never by a test.
 *
 * It is linked with the library of the first version and uses its public headers alone. What it appends is
 * written down here; clock and randomness are its own, so that every run gives the same bytes (of what
 * LZ4 compresses: with the same LZ4). A writer that did not close is a child that killed itself; the space
 * that it had reserved is cut back to one block of zeros, and damage is done to files at rest.
 *
 *     make_logs FOLDER     makes FOLDER/NAME for each name in the table at the end; none may be there
 *
 * It is long because each log is a function of its own: read the table, then the log in question.
 */
#include <u9.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, FRAMES_MAX = 64, ROOM = 1 << 20, TICK_US = 1000, PAD = 3 };

#define FIRST_US UINT64_C(1700000000000000) /* 2023-11-14 22:13:20 UTC */

/* Ends the run with the place where something went otherwise than it must. */
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "make.c:%d: %s: %s\n", __LINE__, #what, strerror(errno));              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Time and chance: shared with the children, made anew for each log. */
static struct fate {
    uint64_t wall_us, monotonic_us, state;
} *fate;

/* In place of the system's: the wall clock goes on by a millisecond each time it is asked, and how long
 * things take is nothing, so that no disk is too slow. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    uint64_t now = id == CLOCK_REALTIME ? fate->wall_us += TICK_US : fate->monotonic_us;
    t->tv_sec = (time_t)(now / 1000000);
    t->tv_nsec = (long)(now % 1000000 * 1000);
    return 0;
}

/* In place of the system's: splitmix64, from the log's name. */
ssize_t getrandom(void *out, size_t size, unsigned flags)
{
    uint8_t *bytes = out;
    (void)flags;
    for (size_t i = 0; i < size; i++) {
        uint64_t z = fate->state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        bytes[i] = (uint8_t)(z >> 56);
    }
    return (ssize_t)size;
}

static void begin_fate(const char *name)
{
    fate->wall_us = FIRST_US;
    fate->monotonic_us = 1000000000;
    fate->state = 1;
    for (; *name; name++) fate->state = fate->state * 257 + (uint8_t)*name;
}

/* Appending */

static u9_options small(void)
{
    return (u9_options){.size = sizeof(u9_options), .mode = U9_CREATE, .segment_size = 65536,
                        .io = "posix"};
}

static u9_log *open_with(const char *log, u9_options o)
{
    u9_log *w;
    u9_fault fault;
    if (u9_log_open(log, &o, &w, &fault) == U9_OK) return w;
    fprintf(stderr, "make.c: %s\n", fault.text);
    exit(1);
}

static u9_log *open_small(const char *log)
{
    return open_with(log, small());
}

static u9_log *open_lz4(const char *log)
{
    u9_options o = small();
    o.lz4 = 1;
    return open_with(log, o);
}

static u9_log *open_kind(const char *log, const char *kind)
{
    u9_options o = small();
    o.kind = kind;
    o.generator = 7;
    o.cluster = 2;
    return open_with(log, o);
}

static void sync_log(u9_log *w)
{
    MUST(u9_log_sync(w) == U9_OK);
}

static void close_log(u9_log *w)
{
    MUST(u9_log_close(w, NULL) == U9_OK);
}

/* Longer than the writer waits before a frame of its own carries the promise of the last sync. */
static void rest(void)
{
    fate->monotonic_us += 900000;
    usleep(300000);
}

/* The values of a text in the notation [N-1], back to back. */
static size_t values_of(const char *text, uint8_t *out)
{
    u9_builder b;
    size_t used, at = 0, size = strlen(text);
    u9_err err;
    u9_builder_init(&b, out, ROOM);
    while ((err = u9_value_parse(text + at, size - at, &used, &b, NULL)) == U9_OK) at += used;
    MUST(err == U9_END);
    return b.size;
}

static uint8_t room[ROOM];

/* Appends one record with a given key (NULL: a fresh one). */
static void put_key(u9_log *w, const char *key, const char *values)
{
    uint8_t raw[U9_KEY_SIZE_MAX];
    u9_key k = {raw, 0};
    if (key) MUST(u9_key_parse(u9_log_kind(w), key, strlen(key), raw, &k.size, NULL) == U9_OK);
    MUST(u9_log_append(w, key ? &k : NULL, room, values_of(values, room), NULL) == U9_OK);
}

static void put(u9_log *w, const char *values)
{
    put_key(w, NULL, values);
}

/* A record that stands in frames of its own: all is synced before it and after it. */
static void put_alone(u9_log *w, const char *values)
{
    sync_log(w);
    put(w, values);
    sync_log(w);
}

/* `size` bytes of one text that says which; it compresses well, and no 512 of them are zero. */
static void put_long(u9_log *w, const char *which, size_t size)
{
    char line[100];
    int n = snprintf(line, sizeof line, "%s: what is appended stays as it is. ", which);
    char *text = malloc(size);
    u9_builder b;
    for (size_t i = 0; i < size; i++) text[i] = line[i % (size_t)n];
    u9_builder_init(&b, room, ROOM);
    MUST(u9_build_utf8(&b, text, size) == U9_OK);
    MUST(u9_log_append(w, NULL, room, b.size, NULL) == U9_OK);
    free(text);
}

/* A whole session: these records, each synced, then a clean close. */
static void session(const char *log, const char *first, const char *second)
{
    u9_log *w = open_small(log);
    put(w, first);
    sync_log(w);
    put(w, second);
    close_log(w);
}

/* Files */

static const char *segment(const char *log, unsigned number)
{
    static char paths[4][4200];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%016x.u9", log, number);
    return path;
}

typedef struct file {
    const char *path;
    uint8_t *bytes;
    size_t size;
    size_t frames[FRAMES_MAX + 1]; /* where they begin; behind the last: where that ends */
    size_t count;
} file;

static uint64_t be64(const uint8_t *b)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | b[i];
    return v;
}

/* Reads a segment and finds its frames: every aligned boundary with the magic behind it. [F-1] */
static file take(const char *path)
{
    file f = {.path = path};
    struct stat st;
    FILE *in = fopen(path, "rb");
    MUST(in && fstat(fileno(in), &st) == 0);
    f.size = (size_t)st.st_size;
    f.bytes = calloc(1, f.size + 64);
    MUST(fread(f.bytes, 1, f.size, in) == f.size);
    fclose(in);
    for (size_t p = 32; p + 64 <= f.size && f.count < FRAMES_MAX; p += 16)
        if (memcmp(f.bytes + p, f.bytes + 32, 16) == 0 &&
            memcmp(f.bytes + p + 48, "\xff\xffutf9f", 8) == 0) {
            f.frames[f.count++] = p;
            f.frames[f.count] = p + 64 + (be64(f.bytes + p + 56) + 15) / 16 * 16;
        }
    return f;
}

static void give(file *f)
{
    FILE *out = fopen(f->path, "wb");
    MUST(out && fwrite(f->bytes, 1, f->size, out) == f->size && fclose(out) == 0);
    free(f->bytes);
}

/* One bit in the middle of a frame's payload. */
static void flip_in_frame(file *f, size_t which)
{
    MUST(which < f->count);
    f->bytes[f->frames[which] + 64 + be64(f->bytes + f->frames[which] + 56) / 2] ^= 0x10;
}

/*
 * A writer that never closes: it appends, then it is no more. Its reservation is cut back to the block
 * that its last byte is in and one block of zeros.
 */
static void killed(const char *log, void (*appends)(u9_log *), u9_options o)
{
    int status;
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        appends(open_with(log, o));
        kill(getpid(), SIGKILL);
    }
    MUST(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    unsigned last = 1;
    while (access(segment(log, last + 1), F_OK) == 0) last++;
    file f = take(segment(log, last));
    size_t used = f.size, reserved = f.size;
    while (used > 0 && f.bytes[used - 1] == 0) used--;
    f.size = (used + BLOCK - 1) / BLOCK * BLOCK + BLOCK;
    MUST(f.size <= reserved);
    give(&f);
}

/* The logs: closed */

static void make_muid(const char *log)
{
    u9_log *w = open_small(log);
    put(w, "\"the first record\"");
    put(w, "\"GET\" 200 0.25");
    sync_log(w);
    put(w, "\"each sync\" 'ends 1 \"frame\"");
    rest();
    put(w, "\"behind an empty frame that promises what is before it\"");
    close_log(w);
}

/* Keys that were given: of the past, twice the same, an hour ahead of the clock, and three days. */
static void make_given(const char *log)
{
    static const uint64_t ahead_us[] = {0, UINT64_C(3600000000), UINT64_C(259200000000)};
    char key[U9_MUID_TEXT_SIZE + 1];
    u9_log *w = open_small(log);
    put_key(w, "5D5EAC793E61F-1BFC71B112D-0000000B", "\"given\" 1");
    put(w, "\"fresh\"");
    put_key(w, "5D5EAC793E61F-1BFC71B112D-0000000B", "\"given again: the newest\" 2");
    for (unsigned i = 1; i < 3; i++) {
        u9_muid far = {.timestamp = FIRST_US + ahead_us[i], .medallion = 0x1bfc71b112d, .offset = 1};
        MUST(u9_muid_format(&far, key) == U9_OK);
        sync_log(w);
        put_key(w, key, "\"ahead of the clock\"");
        sync_log(w);
        put(w, "\"fresh, behind a key ahead of the clock\"");
    }
    close_log(w);
}

static void make_sessions(const char *log)
{
    session(log, "\"session 1\" 1", "\"session 1\" 2");
    session(log, "\"session 2\" 1", "\"session 2\" 2");
    close_log(open_small(log)); /* appends nothing, so writes nothing */
    u9_log *w = open_lz4(log);
    for (unsigned i = 0; i < 3; i++) put_long(w, "session 3", 300);
    close_log(w);
    session(log, "\"session 4\" 1", "\"session 4\" 2");
}

static void make_rolled(const char *log)
{
    char which[40];
    u9_log *w = open_small(log);
    for (unsigned i = 0; i < 34; i++) {
        snprintf(which, sizeof which, "record %u", i);
        put_long(w, which, 4000);
        if (i % 3 == 2) sync_log(w);
    }
    close_log(w);
}

static void make_closed_then_next(const char *log)
{
    u9_log *w = open_small(log);
    put_long(w, "fills the segment", 70000);
    close_log(w);
    session(log, "\"in the next segment\" 1", "\"in the next segment\" 2");
}

/* Frames */

static void make_lz4(const char *log)
{
    u9_log *w = open_lz4(log);
    for (unsigned i = 0; i < 20; i++) put_long(w, "compressed", 200 + i);
    put_alone(w, "\"too short to be smaller compressed\"");
    put_long(w, "compressed", 5000);
    close_log(w);
}

/* Appends a record with the segment's boundary at each offset modulo 16, behind `pad` bytes. */
static void put_boundaries(u9_log *w, const char *log, size_t pad, size_t text)
{
    uint8_t value[2000];
    memset(value, 'p', sizeof value);
    sync_log(w);
    file f = take(segment(log, 1));
    for (size_t i = 0; i < 16; i++) memcpy(value + pad + 17 * i, f.bytes + 32, 16);
    free(f.bytes);
    u9_builder b;
    u9_builder_init(&b, room, ROOM);
    MUST(u9_build_bytes(&b, value, pad + 17 * 16 + text) == U9_OK);
    MUST(u9_log_append(w, NULL, room, b.size, NULL) == U9_OK);
}

static void expect_frames(const char *log, uint64_t lz4, uint64_t masked)
{
    u9_report r = {.size = sizeof r};
    MUST(u9_check(log, NULL, &r, NULL) == U9_OK);
    MUST(r.lz4_frames == lz4);
    MUST(r.mask_frames == masked);
}

static void make_masked(const char *log)
{
    u9_log *w = open_small(log);
    put(w, "\"before the masked frame\"");
    put_boundaries(w, log, 0, 0);
    put_alone(w, "\"behind it\"");
    close_log(w);
    expect_frames(log, 0, 1);
}

/* LZ4 copies the first boundary as it is: one pad of 16 puts it where it may not stand. That body is
 * stored plain, which must be masked. */
static void make_masked_lz4(const char *log)
{
    u9_log *w = open_lz4(log);
    put_long(w, "compressed", 500);
    put_boundaries(w, log, PAD, 1000);
    put_boundaries(w, log, PAD + 1, 1000);
    close_log(w);
    expect_frames(log, 2, 1);
}

/* Key kinds */

static void kind_session(const char *log, const char *kind, bool fresh, const char *given)
{
    u9_log *w = open_kind(log, kind);
    if (fresh) put(w, "\"a fresh key\"");
    put_key(w, given, "\"a given key\" 1");
    if (fresh) put(w, "\"a fresh key\" 'too");
    put_key(w, given, "\"a given key\" 2");
    close_log(w);
}

static void make_gid(const char *log, const char *kind, u9_gid_type type)
{
    char text[U9_GID_TEXT_SIZE + 1];
    u9_gid gid = {.type = type, .timestamp_ms = UINT64_C(1600000000000)};
    memset(gid.random, 0xc5, sizeof gid.random);
    gid.random[0] = (uint8_t)type;
    MUST(u9_gid_format(&gid, 0, text) == U9_OK);
    kind_session(log, kind, true, text);
    kind_session(log, kind, true, text);
}

static void make_gid_log(const char *log)
{
    make_gid(log, "gid:log", U9_GID_LOG);
}

static void make_gid_volume(const char *log)
{
    make_gid(log, "gid:volume", U9_GID_VOLUME);
}

static void make_gid_segment(const char *log)
{
    make_gid(log, "gid:segment", U9_GID_SEGMENT);
}

static void make_tid(const char *log)
{
    kind_session(log, "tid", true, "3jzfcijpj2z2a");
    kind_session(log, "tid", true, "3jzfcijpj2z2b");
}

static void make_uid8(const char *log)
{
    kind_session(log, "uid8", true, "00000000000000f1");
    kind_session(log, "uid8", true, "00000000000000f1");
}

static void make_rkey(const char *log)
{
    char longest[513];
    memset(longest, '~', 512);
    longest[512] = 0;
    u9_log *w = open_kind(log, "rkey");
    put_key(w, "a", "\"the shortest key\"");
    put_key(w, longest, "\"the longest key\"");
    put_key(w, "self", "\"a record key\" 1");
    sync_log(w);
    put_key(w, "app.example:A-Z_0-9~...", "\"each kind of character\"");
    put_key(w, "sixteen.bytes.ab", "\"one byte over what fits a short text\"");
    close_log(w);
    kind_session(log, "rkey", false, "self");
}

static void make_rkey_tid(const char *log)
{
    kind_session(log, "rkey:tid", true, "3jzfcijpj2z2a");
    kind_session(log, "rkey:tid", true, "3jzfcijpj2z2a");
}

static void make_rkey_literal(const char *log)
{
    kind_session(log, "rkey:literal:self", true, "self");
    kind_session(log, "rkey:literal:self", true, "self");
}

/* Records */

/* Batches of 5, of 1 and of 64; in one, references: to the record before, to the batch, to another. */
static void make_batches(const char *log)
{
    static const char *const texts[] = {"\"one\"", "\"two\" 2", "", "(\"three\" (4))", "\"five\""};
    static const u9_muid refs[] = {{0, 0, -1}, {0, 0, 0}, {FIRST_US, 1923190821165, 11}};
    static const size_t at[] = {2};
    static uint8_t values[64][64];
    u9_entry entries[64];
    u9_log *w = open_small(log);
    memset(entries, 0, sizeof entries);
    for (size_t i = 0; i < 5; i++) {
        entries[i].size = values_of(texts[i], room);
        memcpy(values[i], room, entries[i].size);
    }
    for (size_t i = 0; i < 64; i++) entries[i].values = values[i];
    MUST(u9_log_append_batch(w, entries, 5, NULL) == U9_OK);
    MUST(u9_log_append_batch(w, entries + 1, 1, NULL) == U9_OK);
    sync_log(w);
    for (size_t i = 1; i < 4; i++) {
        values[i][0] = 0x1c;
        values[i][1] = 16;
        MUST(u9_muid_pack(&refs[i - 1], values[i] + 2) == U9_OK);
        entries[i].size = 18;
        entries[i].refs = at;
        entries[i].ref_count = 1;
    }
    MUST(u9_log_append_batch(w, entries, 4, NULL) == U9_OK);
    for (size_t i = 0; i < 64; i++) {
        char text[40];
        snprintf(text, sizeof text, "\"of 64\" %zu", i);
        entries[i].size = values_of(text, values[i]);
        entries[i].ref_count = 0;
    }
    MUST(u9_log_append_batch(w, entries, 64, NULL) == U9_OK);
    close_log(w);
}

static void make_values(const char *log)
{
    static const char *const texts[] = {
        "", /* a key and nothing else */
        "0 1 -1 255 256 -129 4294967296 18446744073709551615 -9223372036854775808",
        "uint16(5) int64(-3) uint8(0)",
        "0.0 -0.0 1.5 1e300 inf -inf nan nan(x\"fff8000000000001\") float32(1.5) float32(nan)",
        "'a 'symbol8 '\"a b\" '\"\" 'u9 pidfd(1337 3)",
        "alpha omega iota kappa tau0 tau(5) tau(70000)",
        "\"\" \"gr\xc3\xbc\xc3\x9f\" \"not utf-8: \\xff\\xfe\" \"line\\nbreak\\ttab\\x00nul\" utf8.16(\"x\")",
        "x\"\" x\"00ff\" bytes.32(x\"0102\")",
        "() (()) (1 (2 (3 (4 (5 (6 (7 (8)))))))) tuple.32(\"a\" 'b)",
        "[int16: 210 -3] [uint8:] [float64: 0.5 -1.0] [array 4 int16: [1 2 3 4] [-2 -3 -4 -5]]",
        "[utf8.16 2: \"ab\" \"cd\"] [tuple 3: (1 \"a\") (2 \"b\")] array.64[int8:]",
        "cidx('k [uint8: 1 2] [int16: 0 3]) ((1) (2))",
        "(('name \"t1\") ('samples [int16: 210 -3]) ('nested (('deep (('deeper (1 2 3)))))))",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))"
        "))))))))))))))))))))))))))))))))))"};
    u9_log *w = open_small(log);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        put(w, texts[i]);
        if (i % 4 == 3) sync_log(w);
    }
    close_log(w);
}

/* Around the sizes at which the forms of a length change; large ones, compressed (one that is stored
 * as it is stands in closed_then_next). */
static void make_large(const char *log)
{
    static const size_t sizes[] = {15, 16, 255, 256, 65535, 65536, 70000};
    u9_log *w = open_lz4(log);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) put_long(w, "large", sizes[i]);
    put_long(w, "larger", 300000);
    close_log(w);
}

/* Not closed */

static void two_frames(u9_log *w)
{
    put(w, "\"killed\" 1");
    put(w, "\"killed\" 2");
    sync_log(w);
    put(w, "\"killed\" 3");
    sync_log(w);
}

static void make_killed(const char *log)
{
    killed(log, two_frames, small());
}

static void and_a_promise(u9_log *w)
{
    two_frames(w);
    rest();
}

static void make_killed_promised(const char *log)
{
    killed(log, and_a_promise, small());
}

static void in_lz4(u9_log *w)
{
    for (unsigned i = 0; i < 3; i++) put_long(w, "killed", 400);
    sync_log(w);
}

static void make_killed_lz4(const char *log)
{
    u9_options o = small();
    o.lz4 = 1;
    killed(log, in_lz4, o);
}

static void nothing_written(u9_log *w)
{
    put(w, "\"never synced\"");
}

/* Space was reserved, and nothing was written: a creation cut short. */
static void make_killed_blank(const char *log)
{
    killed(log, nothing_written, small());
}

static void make_blank_next(const char *log)
{
    killed(log, two_frames, small());
    killed(log, nothing_written, small()); /* segment 2 */
    session(log, "\"behind a blank segment\" 1", "\"behind a blank segment\" 2");
}

static void make_blank_last(const char *log)
{
    killed(log, two_frames, small());
    killed(log, nothing_written, small());
}

static void rolls(u9_log *w)
{
    put_long(w, "fills the segment", 64000);
    sync_log(w);
    put(w, "\"behind a sealed segment\"");
    sync_log(w);
}

/* Every session was killed, and the next went on behind it. */
static void make_killed_next(const char *log)
{
    killed(log, two_frames, small());
    killed(log, and_a_promise, small());
    session(log, "\"behind two that were killed\" 1", "\"behind two that were killed\" 2");
}

/* A closed segment is continued, and that session is killed. */
static void make_continued_killed(const char *log)
{
    session(log, "\"closed\" 1", "\"closed\" 2");
    killed(log, two_frames, small());
}

static void make_continued_killed_next(const char *log)
{
    make_continued_killed(log);
    session(log, "\"behind it\" 1", "\"behind it\" 2");
}

/* Torn */

static void a_long_last_frame(u9_log *w)
{
    put(w, "\"kept\" 1");
    sync_log(w);
    put(w, "\"kept\" 2");
    sync_log(w);
    put_long(w, "the last frame", 5000);
    sync_log(w);
}

/* The last frame's second block never came to the disk. */
static void make_torn(const char *log)
{
    killed(log, a_long_last_frame, small());
    file f = take(segment(log, 1));
    size_t block = (f.frames[f.count - 1] / BLOCK + 1) * BLOCK;
    memset(f.bytes + block, 0, BLOCK);
    give(&f);
}

/* The file ends in the last frame. */
static void make_torn_cut(const char *log)
{
    killed(log, a_long_last_frame, small());
    file f = take(segment(log, 1));
    f.size = f.frames[f.count - 1] + 3000;
    give(&f);
}

static void make_torn_next(const char *log)
{
    make_torn(log);
    session(log, "\"behind a torn tail\" 1", "\"behind a torn tail\" 2");
}

static void make_torn_twice(const char *log)
{
    make_torn_next(log);
    killed(log, a_long_last_frame, small()); /* it continues segment 2 */
    file f = take(segment(log, 2));
    memset(f.bytes + f.frames[f.count - 1], 0, 512 - f.frames[f.count - 1] % 512);
    give(&f);
    session(log, "\"behind two torn tails\" 1", "\"behind two torn tails\" 2");
}

/* Damage at an end that nothing promised, and no tear's shape. */
static void make_unknown(const char *log)
{
    killed(log, a_long_last_frame, small());
    file f = take(segment(log, 1));
    flip_in_frame(&f, f.count - 1);
    give(&f);
}

static void make_unknown_next(const char *log)
{
    make_unknown(log);
    session(log, "\"behind an end of which nothing is known\" 1", "\"behind it\" 2");
}

/* Three frames of one sync: a record of 64 KiB fills one, and compressed they are small. */
static void three_frames_at_once(u9_log *w)
{
    put(w, "\"kept\" 1");
    sync_log(w);
    put_long(w, "kept 2", 66000);
    put_long(w, "second of one sync", 66000);
    put_long(w, "third of one sync", 66000);
    sync_log(w);
}

static u9_options small_lz4(void)
{
    u9_options o = small();
    o.lz4 = 1;
    return o;
}

/* A whole frame stands behind an unpromised one that is damaged. */
static void make_beyond(const char *log)
{
    killed(log, three_frames_at_once, small_lz4());
    file f = take(segment(log, 1));
    flip_in_frame(&f, f.count - 2);
    give(&f);
}

static void make_beyond_next(const char *log)
{
    make_beyond(log);
    session(log, "\"the frame beyond is void\" 1", "\"the frame beyond is void\" 2");
}

/* Corrupt */

static void make_damaged(const char *log)
{
    session(log, "\"session 1\" 1", "\"session 1\" 2");
    session(log, "\"session 2\" 1", "\"session 2\" 2");
    file f = take(segment(log, 1));
    flip_in_frame(&f, 2); /* the second record's */
    give(&f);
}

/* Every second frame is damaged, each in another place: what the clauses of F-6 look at. */
static void make_damaged_frames(const char *log)
{
    char text[40];
    u9_log *w = open_small(log);
    for (unsigned i = 0; i < 15; i++) {
        snprintf(text, sizeof text, "\"%s\" %u", i % 2 ? "lost" : "kept", i);
        put_alone(w, text);
    }
    close_log(w);
    file f = take(segment(log, 1));
    MUST(f.count == 17);
    f.bytes[f.frames[2] + 3] ^= 0x01;                         /* boundary */
    f.bytes[f.frames[4] + 53] ^= 0x01;                        /* magic */
    f.bytes[f.frames[6] + 57] ^= 0x01;                        /* length: too long */
    memcpy(f.bytes + f.frames[8] + 80, f.bytes + 32, 16);     /* overlap */
    f.bytes[f.frames[10] + 40] ^= 0x01;                       /* signature */
    f.bytes[f.frames[12] + 64 + be64(f.bytes + f.frames[12] + 56) - 70] ^= 0x01; /* trailer */
    f.bytes[f.frames[14] + 64 + 2] ^= 0x01;                   /* hash */
    give(&f);
}

/* The secret is damaged, too: its copy in the u9end mends it. [H-5] */
static void make_damaged_header(const char *log)
{
    session(log, "\"kept\" 1", "\"kept\" 2");
    file f = take(segment(log, 1));
    f.bytes[8 + 5] ^= 0x04;
    f.bytes[8 + 9] ^= 0x20;
    give(&f);
}

static void make_damaged_open(const char *log)
{
    session(log, "\"kept\" 1", "\"kept\" 2");
    file f = take(segment(log, 1));
    flip_in_frame(&f, 0);
    give(&f);
}

/* Padding behind a frame, and fill up to a block, that are not zero: no record is lost. */
static void make_damaged_fill(const char *log)
{
    session(log, "\"kept\" 1", "\"kept, too\" 2");
    file f = take(segment(log, 1));
    size_t end = f.frames[2] + 64 + be64(f.bytes + f.frames[2] + 56);
    MUST(end % 16 != 0);
    f.bytes[end] = 0x55;
    f.bytes[f.frames[2] - 100] = 0xaa;
    give(&f);
}

static void make_damaged_sealed(const char *log)
{
    u9_log *w = open_small(log);
    put(w, "\"kept\" 1");
    put_alone(w, "\"lost\" 2");
    put_long(w, "kept, fills the segment", 56000);
    put_alone(w, "\"in the next segment\"");
    close_log(w);
    file f = take(segment(log, 1));
    flip_in_frame(&f, 2);
    give(&f);
}

/* The last record was promised by a frame that is whole: a gap in front of it. */
static void make_damaged_promised(const char *log)
{
    killed(log, and_a_promise, small());
    file f = take(segment(log, 1));
    memset(f.bytes + f.frames[2], 0, f.frames[3] - f.frames[2]);
    give(&f);
}

/* What the three frames of one sync promise ends before them: of the two that are lost only one was
 * promised, and what stands behind them is beyond. */
static void make_damaged_end(const char *log)
{
    killed(log, three_frames_at_once, small_lz4());
    file f = take(segment(log, 1));
    flip_in_frame(&f, 1);
    flip_in_frame(&f, 2);
    give(&f);
}

static void make_damaged_end_next(const char *log)
{
    make_damaged_end(log);
    session(log, "\"behind damage\" 1", "\"behind damage\" 2");
}

/* The first frame behind a sealed segment was promised by the seal. */
static void make_damaged_first(const char *log)
{
    killed(log, rolls, small());
    file f = take(segment(log, 2));
    memset(f.bytes + 32, 0, f.frames[f.count] - 32);
    give(&f);
}

/* Rows of segments */

/* Segment 1 is named by segment 2, and its seal was never written. */
static void make_unsealed(const char *log)
{
    killed(log, rolls, small());
    file f = take(segment(log, 1));
    memset(f.bytes + f.frames[f.count - 1], 0, f.size - f.frames[f.count - 1]);
    give(&f);
}

static void make_torn_seal(const char *log)
{
    killed(log, rolls, small());
    file f = take(segment(log, 1));
    f.size = f.frames[f.count - 1] + 100;
    give(&f);
}

static void make_missing(const char *log)
{
    make_killed_next(log);
    MUST(unlink(segment(log, 2)) == 0);
}

static void make_missing_last(const char *log)
{
    killed(log, rolls, small());
    MUST(unlink(segment(log, 2)) == 0);
}

static void make_foreign(const char *log)
{
    char other[4200];
    snprintf(other, sizeof other, "%s.other", log);
    make_killed_next(log);
    make_killed_next(other);
    MUST(rename(segment(other, 2), segment(log, 2)) == 0);
    MUST(unlink(segment(other, 1)) == 0 && unlink(segment(other, 3)) == 0 && rmdir(other) == 0);
}

/* A segment under another name: a file, and no log's directory. */
static void make_renamed(const char *log)
{
    char name[4200];
    make_killed_next(log);
    snprintf(name, sizeof name, "%s/events.saved", log);
    MUST(rename(segment(log, 2), name) == 0);
    MUST(unlink(segment(log, 1)) == 0 && unlink(segment(log, 3)) == 0);
}

static const struct {
    const char *name;
    void (*make)(const char *log);
} logs[] = {
#define LOG(name) {#name, make_##name}
    LOG(muid), LOG(given), LOG(sessions), LOG(rolled), LOG(closed_then_next),
    LOG(lz4), LOG(masked), LOG(masked_lz4),
    LOG(gid_log), LOG(gid_volume), LOG(gid_segment), LOG(tid), LOG(uid8),
    LOG(rkey), LOG(rkey_tid), LOG(rkey_literal),
    LOG(batches), LOG(values), LOG(large),
    LOG(killed), LOG(killed_promised), LOG(killed_lz4), LOG(killed_blank), LOG(blank_next),
    LOG(blank_last), LOG(killed_next), LOG(continued_killed),
    LOG(continued_killed_next),
    LOG(torn), LOG(torn_cut), LOG(torn_next), LOG(torn_twice), LOG(unknown), LOG(unknown_next),
    LOG(beyond), LOG(beyond_next),
    LOG(damaged), LOG(damaged_frames), LOG(damaged_header), LOG(damaged_open),
    LOG(damaged_fill), LOG(damaged_sealed), LOG(damaged_promised), LOG(damaged_end), LOG(damaged_end_next), LOG(damaged_first),
    LOG(unsealed), LOG(torn_seal), LOG(missing), LOG(missing_last), LOG(foreign), LOG(renamed),
#undef LOG
};

int main(int argc, char **argv)
{
    MUST(argc == 2);
    fate = mmap(NULL, sizeof *fate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(fate != MAP_FAILED);
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        char path[4000];
        snprintf(path, sizeof path, "%s/%s", argv[1], logs[i].name);
        begin_fate(logs[i].name);
        logs[i].make(path);
    }
    return 0;
}
