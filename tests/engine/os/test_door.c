/*
 * tests/engine/os/test_door.c: each call of the envs that stand on the system, while any one call of the system below it
 * fails, or is interrupted, or any one allocation comes to nothing: it is told with its errno, or it makes no difference
 * where it is only a hint; no descriptor stays open and no memory is kept; and the next call finds all as it should be.
 */
#include "engine/os/posix.h"
#include "tests/engine/fixture.h"
#include "tests/engine/os/envs.h"
#include "tests/engine/scarce.h"
#include "tests/must.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { SIZE = 3 * BLOCK, TRIES_MAX = 100 };

static u9i_env *env;
static u9i_dir *dir;   /* has the files a, of SIZE bytes, and b, and the directory sub */
static u9i_file *file; /* is a, open for writing */

/* What is done, each from what prepare() has made: 0, or a negative errno. */

static int reopen(const char *path, bool create)
{
    u9i_dir *other;
    int err = u9i_dir_open(env, path, create, &other);
    if (err == 0) u9i_dir_close(other);
    return err;
}

static int make_a_dir(void)
{
    return reopen(at("dir/new"), true);
}

static int open_a_dir(void)
{
    return reopen(at("dir"), false);
}

static int open_a_single(void)
{
    return reopen(at("dir/a"), false);
}

static int count_name(void *ctx, const char *name)
{
    *(unsigned *)ctx += name[0] != '.';
    return 0;
}

static int list_names_in(void)
{
    unsigned names = 0;
    int err = u9i_dir_list(dir, count_name, &names);
    MUST(err != 0 || names == 3);
    return err;
}

static int stat_it(void)
{
    u9i_stamp stamp;
    int err = u9i_dir_stat(dir, "a", &stamp);
    MUST(err != 0 || (stamp.size == SIZE && stamp.links == 1));
    return err;
}

static int identify_it(void)
{
    uint64_t identity[2];
    return u9i_dir_identify(dir, "a", identity);
}

static int rename_it(void)
{
    return u9i_dir_rename(dir, "b", "c");
}

static int link_it(void)
{
    return u9i_dir_link(dir, "b", dir, "c");
}

static int dress_it(void)
{
    u9i_stamp like = {.owner = (uint64_t)getuid() << 32 | getgid(), .mode = 0400};
    return u9i_dir_dress(dir, "b", &like);
}

/* Only root may, and finds that out by asking. */
static int dress_as_another(void)
{
    u9i_stamp like = {.owner = UINT64_C(4242) << 32 | 4242, .mode = 0400};
    int err = u9i_dir_dress(dir, "b", &like);
    return err == -EPERM ? 0 : err;
}

static int remove_file_in(void)
{
    return u9i_dir_remove(dir, "b");
}

static int remove_sub(void)
{
    return u9i_dir_remove(dir, "sub");
}

static int sync_it(void)
{
    return u9i_dir_sync(dir);
}

static int open_by(u9i_open_mode mode, const char *name)
{
    u9i_file *other;
    int err = u9i_file_open(dir, name, mode, &other);
    if (err == 0) u9i_file_close(other);
    return err;
}

static int open_to_read(void)
{
    return open_by(U9I_OPEN_READ, "a");
}

static int open_to_write(void)
{
    return open_by(U9I_OPEN_WRITE, "a");
}

static int create_one(void)
{
    return open_by(U9I_OPEN_CREATE, "c");
}

static int lock_both(void)
{
    u9i_dir *other;
    int err = u9i_dir_open(env, at("dir"), false, &other);
    if (err != 0) return err;
    err = u9i_dir_lock(other);
    if (err == 0) err = u9i_file_lock(file);
    u9i_dir_close(other);
    return err;
}

/* Who cannot ask is not told that there is none. */
static int ask_for_a_writer(void)
{
    (void)u9i_dir_writer_active(dir, "a");
    return 0;
}

static int size_of_it(void)
{
    uint64_t size;
    int err = u9i_file_size(file, &size);
    MUST(err != 0 || size == SIZE);
    return err;
}

static int read_it(void)
{
    static uint8_t bytes[SIZE + 10];
    size_t got = 0;
    int err = u9i_file_read(file, 0, bytes, sizeof bytes, &got);
    MUST(err != 0 || (got == SIZE && memcmp(bytes, buffers, SIZE) == 0));
    return err;
}

/* An answer is never below where it was asked, nor beyond the end. */
static int find_data(void)
{
    uint64_t data = u9i_file_data(file, BLOCK), written = u9i_file_written(file, BLOCK);
    MUST(data >= BLOCK && data <= SIZE && written >= BLOCK && written <= SIZE);
    return 0;
}

static int reserve_more(void)
{
    return u9i_file_reserve(file, 2 * SIZE);
}

static int zero_some(void)
{
    return u9i_file_zero(file, SIZE, SIZE + 2 * BLOCK);
}

static int cut_it(void)
{
    return u9i_file_truncate(file, BLOCK);
}

static int evict_it(void)
{
    return u9i_file_sync_and_evict(file);
}

static int map_it(void)
{
    const void *map;
    int err = u9i_file_map(file, 0, BLOCK, &map);
    if (err != 0) return err;
    u9i_map_advise(env, map, BLOCK, U9I_MAP_RANDOM);
    u9i_map_advise(env, map, BLOCK, U9I_MAP_SOON);
    MUST(memcmp(map, buffers, BLOCK) == 0);
    u9i_map_advise(env, map, BLOCK, U9I_MAP_DONE);
    MUST(memcmp(map, buffers, BLOCK) == 0);
    u9i_map_advise(env, (const uint8_t *)map + 1, 10, U9I_MAP_DONE); /* no page lies in it */
    u9i_unmap(env, map, BLOCK);
    return 0;
}

static int post_it(void)
{
    int err = u9i_dir_post(dir, ".post", "word", 4), ended = u9i_dir_post(dir, ".post", NULL, 0);
    return err != 0 ? err : ended;
}

static int look_at_post(void)
{
    char bytes[8];
    size_t got = 0;
    int err = u9i_dir_posted(dir, "a", bytes, sizeof bytes, &got);
    MUST(err != 0 || got == sizeof bytes);
    return err;
}

/* Without inotify there is a timer instead. */
static int watch_it(void)
{
    u9i_watch *watch;
    int err = u9i_watch_open(dir, ".post", false, &watch);
    if (err != 0) return err;
    MUST(u9i_watch_fd(watch) >= 0);
    err = u9i_dir_post(dir, ".post", "word", 4);
    int told = err == 0 ? u9i_watch_wait(watch, u9i_monotonic_us(env) + 100 * MS) : 0, ended = u9i_dir_post(dir, ".post", NULL, 0);
    MUST(err != 0 || told != 0);
    u9i_watch_close(watch);
    return err != 0 ? err : told < 0 ? told : ended;
}

static int do_op(u9i_queue *queue, u9i_op_kind kind, size_t n, bool durable)
{
    u9i_op op = {.kind = kind, .file = file, .buf = buffers, .n = n, .durable = durable};
    int64_t result = u9i_queue_do(queue, &op);
    MUST(result < 0 || result == (int64_t)n);
    return result < 0 ? (int)result : 0;
}

/* Its buffers hold what the file does, throughout. */
static int use_a_queue(void)
{
    u9i_queue *queue;
    int err = u9i_queue_open(env, buffers, BUFFER, BUFFERS, &queue);
    if (err != 0) return err;
    err = do_op(queue, U9I_OP_WRITE, SIZE, false);
    if (err == 0) err = do_op(queue, U9I_OP_SYNC, 0, false);
    if (err == 0) err = do_op(queue, U9I_OP_WRITE, BLOCK, true);
    if (err == 0) err = do_op(queue, U9I_OP_READ, SIZE, false);
    u9i_queue_close(queue);
    return err;
}

static int draw_some(void)
{
    uint8_t bytes[16];
    return u9i_random(env, bytes, sizeof bytes) ? 0 : -errno;
}

static int ask_for_the_machine(void)
{
    uint8_t id[U9I_MACHINE_SIZE];
    (void)!u9i_machine(env, id);
    return 0;
}

typedef struct act {
    int (*go)(void);
    bool hints; /* a call that fails may make no difference */
    bool goes_on; /* an interruption makes none */
} act;

static const act acts[] = {
    {make_a_dir, false, false},      {open_a_dir, false, false},      {open_a_single, false, false},
    {list_names_in, false, false},   {stat_it, false, false},         {identify_it, false, false},
    {rename_it, false, false},       {link_it, false, false},         {dress_it, false, false},
    {dress_as_another, false, false}, {remove_file_in, false, false}, {remove_sub, false, false},
    {sync_it, false, true},          {open_to_read, true, false},     {open_to_write, true, false},
    {create_one, true, false},       {lock_both, true, false},        {ask_for_a_writer, true, true},
    {size_of_it, false, false},      {read_it, false, true},          {find_data, true, true},
    {reserve_more, true, false},     {zero_some, false, true},        {cut_it, false, true},
    {evict_it, false, false},        {map_it, false, false},          {post_it, false, false},
    {look_at_post, false, false},    {watch_it, true, false},         {use_a_queue, true, true},
    {draw_some, false, true},        {ask_for_the_machine, true, true}};

enum { ACTS = sizeof acts / sizeof *acts };

static void prepare(void)
{
    dir = open_new(env, at("dir"));
    put_file(dir, "a", buffers, SIZE);
    u9i_file_close(make_file(dir, "b"));
    u9i_dir_close(open_new(env, at("dir/sub")));
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_WRITE, &file), 0);
}

static void clear(void)
{
    u9i_file_close(file);
    u9i_dir_close(dir);
    for (unsigned i = 0; i < 2; i++) remove_log(at(i == 0 ? "dir/sub" : "dir/new"));
    remove_log(at("dir"));
}

/* The lowest descriptor that is free. */
static int free_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    MUST(fd >= 0);
    close(fd);
    return fd;
}

/* Once, with the nth of them failing. False: none did. */
static bool go_badly(const act *a, scarcity what, unsigned nth, int error, bool sticky)
{
    size_t kept;
    int lowest = free_descriptor();
    scarce_begin(what, nth, error, sticky);
    int err = a->go();
    unsigned failed = scarce_end(&kept);
    int told = what == SCARCE_MEMORY ? -ENOMEM : -error;
    MUST_SAY(kept == 0, "%u: %zu blocks are kept", nth, kept);
    MUST_SAY(free_descriptor() == lowest, "%u: a descriptor stays open", nth);
    MUST_SAY(err == 0 || (failed > 0 && err == told), "%u: %d", nth, err);
    if (failed > 0 && error == EINTR && a->goes_on) MUST_SAY(err == 0, "%u: it does not go on", nth);
    if (failed > 0 && error != EINTR && !a->hints) MUST_SAY(err == told, "%u: a failure is not told", nth);
    return failed > 0;
}

/* {F14} {F32} */
START_TEST(a_call_that_fails_below_the_door_is_told_with_its_errno)
{
    static const int errors[] = {EIO, EINTR, EIO};
    const act *a = &acts[_i % ACTS];
    env = env_row(_i / ACTS);
    if (env == NULL) return;
    fill_buffers();
    for (unsigned i = 0; i < 4; i++) {
        scarcity what = i == 3 ? SCARCE_MEMORY : SCARCE_CALLS;
        bool more = true;
        for (unsigned nth = 1; more; nth++) {
            prepare();
            more = go_badly(a, what, nth, i == 3 ? ENOMEM : errors[i], i == 2);
            clear();
            MUST(nth < TRIES_MAX);
        }
    }
    prepare();
    ck_assert_int_eq(a->go(), 0);
    clear();
}
END_TEST

/* What is said of a file system, and not of the file: space cannot be reserved, or direct writes are taken and not done. */
START_TEST(what_a_file_system_does_not_have_is_done_without)
{
    static const int none[] = {EOPNOTSUPP, ENOSYS};
    env = env_row(_i);
    if (env == NULL) return;
    for (unsigned i = 0; i < 2; i++) {
        prepare();
        scarce_begin(SCARCE_CALLS, 2, none[i], false); /* the size is asked for first */
        int err = reserve_more();
        ck_assert_uint_eq(scarce_end(NULL), 1);
        ck_assert_int_eq(err, 0);
        ck_assert_int_eq(size_of_it(), 0); /* none was */
        clear();
    }
    prepare();
    scarce_begin(SCARCE_CALLS, 1, EINVAL, false);
    int err = zero_some();
    ck_assert_uint_eq(scarce_end(NULL), 1);
    ck_assert_int_eq(err, ((u9i_posix_file *)file)->direct >= 0 ? 0 : -EINVAL);
    clear();
}
END_TEST

/* Who asks what is written behind a place is told too little rather than too much. */
START_TEST(where_nothing_can_be_asked_all_is_taken_for_data)
{
    env = env_row(_i);
    if (env == NULL) return;
    prepare();
    ck_assert_int_eq(u9i_file_truncate(file, 4 * SIZE), 0);
    for (unsigned nth = 1; nth < 3; nth++) {
        scarce_begin(SCARCE_CALLS, nth, EIO, true);
        uint64_t data = u9i_file_data(file, 2 * SIZE);
        (void)scarce_end(NULL);
        ck_assert_uint_eq(data, 2 * SIZE);
    }
    clear();
}
END_TEST

START_TEST(a_link_into_another_kind_of_place_is_refused)
{
    env = &u9i_env_posix;
    prepare();
    sim_begin(1);
    u9i_dir *other = open_new(sim_env(), "/other");
    ck_assert_int_eq(u9i_dir_link(dir, "b", other, "c"), -EXDEV);
    u9i_dir_close(other);
    sim_end();
    clear();
}
END_TEST

/* What machine-id(5) says, and what an image has there before it is started for the first time. */
START_TEST(a_machine_has_an_id_of_32_digits_that_are_not_all_zero) /* [I-22] */
{
    static const struct {
        const char *text;
        bool is_one;
    } rows[] = {
        {"0123456789abcdef0123456789abcdef\n", true},
        {"0123456789abcdef0123456789abcdef", true},
        {"0123456789abcdef0123456789abcdef  ", false},
        {"0123456789abcdef0123456789abcdefa", false},
        {"0123456789abcdef0123456789abcde\n", false},
        {"0123456789abcdef0123456789abcdxf\n", false},
        {"0123456789abcdef0123456789abcdex\n", false},
        {"00000000000000000000000000000000\n", false},
        {"uninitialized\n", false},
        {"", false},
    };
    char path[3400];
    uint8_t id[U9I_MACHINE_SIZE];
    strcpy(path, at("machine-id"));
    scarce_lead("/etc/machine-id", path);
    ck_assert(!u9i_machine(&u9i_env_posix, id));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_file(path, rows[i].text, strlen(rows[i].text));
        ck_assert_msg(u9i_machine(&u9i_env_posix, id) == rows[i].is_one, "%s", rows[i].text);
        if (rows[i].is_one) ck_assert_mem_eq(id, "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef", 16);
        remove_log(path);
    }
    scarce_lead(NULL, NULL);
}
END_TEST

Suite *suite_door(void)
{
    const TTest *const tests[] = {a_call_that_fails_below_the_door_is_told_with_its_errno};
    Suite *suite = suite_create("door");
    TCase *tc = tcase_create("door");
    add_rows(tc, tests, 1, ENV_HOST_ROWS * ACTS);
    tcase_add_loop_test(tc, what_a_file_system_does_not_have_is_done_without, 0, ENV_HOST_ROWS);
    tcase_add_loop_test(tc, where_nothing_can_be_asked_all_is_taken_for_data, 0, ENV_HOST_ROWS);
    tcase_add_test(tc, a_link_into_another_kind_of_place_is_refused);
    tcase_add_test(tc, a_machine_has_an_id_of_32_digits_that_are_not_all_zero);
    suite_add_tcase(suite, tc);
    return suite;
}
