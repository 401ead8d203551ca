/*
 * engine/segment/mended_file.c: see mended_file.h. [Y-6]
 *
 * An env of its own for each: of its file system there is what a reader asks of a file, and tasks go to the executor of
 * the env below.
 */
#include "engine/segment/mended_file.h"

#include <errno.h>
#include <stdlib.h>

typedef struct mended_file {
    u9i_file file; /* first: its env is `env` */
    u9i_env env;
    u9i_file *inner;
    const u9i_mender *mender;
    const u9i_secret *secret;
} mended_file;

static mended_file *of_file(u9i_file *file)
{
    return (mended_file *)(void *)file;
}

static u9i_env *under(u9i_env *env)
{
    return ((mended_file *)(void *)((uint8_t *)env - offsetof(mended_file, env)))->inner->env;
}

static void close_mended(u9i_file *file)
{
    u9i_file_close(of_file(file)->inner);
    free(file);
}

static int size_mended(u9i_file *file, uint64_t *out)
{
    return u9i_file_size(of_file(file)->inner, out);
}

static int read_mended(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    const mended_file *m = of_file(file);
    int err = u9i_file_read(m->inner, off, buf, n, got);
    if (err == 0) u9i_mend_bytes(m->mender, m->secret, off, buf, *got);
    return err;
}

/* What is mended may stand in a hole. */
static uint64_t data_mended(u9i_file *file, uint64_t off)
{
    const mended_file *m = of_file(file);
    uint64_t data = u9i_file_data(m->inner, off);
    const u9i_rejoined *r = u9i_mended_from(m->mender, off);
    if (r == NULL || r->frame.offset >= data) return data;
    return r->frame.offset > off ? r->frame.offset : off;
}

static int evict_mended(u9i_file *file, uint64_t from)
{
    return u9i_file_sync_and_evict_from(of_file(file)->inner, from);
}

static int map_mended(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    (void)file, (void)off, (void)n, (void)out;
    return -ENODEV;
}

static const u9i_fs mended_fs = {.close = close_mended,
                                 .size = size_mended,
                                 .read = read_mended,
                                 .data = data_mended,
                                 .sync_and_evict = evict_mended,
                                 .map = map_mended};

static void submit_under(u9i_env *env, u9i_task *task, uint64_t due_us)
{
    u9i_task_submit(under(env), task, due_us);
}

static void finish_under(u9i_env *env, u9i_task *task)
{
    u9i_task_finish(under(env), task);
}

/* What reads ahead cancels nothing. */
static const u9i_executor under_executor = {.submit = submit_under, .finish = finish_under};

u9i_file *u9i_mended_file_new(u9i_file *inner, const u9i_mender *mender, const u9i_secret *secret)
{
    mended_file *m = malloc(sizeof *m);
    if (m == NULL) return NULL;
    *m = (mended_file){.env = *inner->env, .inner = inner, .mender = mender, .secret = secret};
    m->env.fs = &mended_fs;
    m->env.executor = &under_executor;
    m->file.env = &m->env;
    return &m->file;
}

bool u9i_mended_reads(const u9i_file *file)
{
    return file->env->fs == &mended_fs;
}

const u9i_rejoined *u9i_mended_at(const u9i_file *file, uint64_t p)
{
    if (!u9i_mended_reads(file)) return NULL;
    const u9i_rejoined *r = u9i_mended_from(((const mended_file *)(const void *)file)->mender, p);
    return r && r->frame.offset == p ? r : NULL;
}
