/*
 * format/value/diff/diff.c: the diff itself: patches that come, reducers, paths that are read. [D-1]
 * [D-2] [D-7]
 */
#include "format/value/diff/patch.h"

#include <assert.h>
#include <string.h>

/* What a reducer builds lies in the diff's memory at once: in the free end of a chunk, or in a new
 * one. */
static u9_err grow_result(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    u9_diff *d = ctx;
    const uint8_t *old = *bytes;
    size_t size = *cap;
    u9_err err = u9i_memory_reserve(d, need);
    if (err) return err;
    *bytes = u9i_memory_rest(d, cap);
    if (size > 0) memcpy(*bytes, old, size);
    return U9_OK;
}

/* [D-7] What the reducer has built comes in the place of the old value. */
static u9_err take_result(const u9i_patch *p, const u9_builder *b)
{
    u9_value v;
    if (b->depth > 0)
        return u9i_patch_refuse(p, U9_ARG, NULL, "D-7", "the reducer has left a container open");
    if (b->size == 0 && p->absent) return U9_OK;
    if (b->size == 0) {
        u9_err err = u9i_patch_want_step(p);
        return err ? err : u9i_patch_drop(p);
    }
    if (u9_value_check(b->bytes, b->size, NULL, NULL) || u9_value_decode(b->bytes, b->size, &v))
        return u9i_patch_refuse(p, U9_ARG, NULL, "D-7",
                                "the reducer has not built one well-formed value");
    u9_err err = u9i_patch_want_depth(p, &v, p->steps);
    if (err) return err;
    (void)u9i_memory_take(p->diff, b->size);
    err = u9i_patch_reserve(p, p->closed, 0);
    if (err) return err;
    u9i_patch_put(p, b->bytes, b->size);
    return U9_OK;
}

static u9_err run_reducer(u9i_patch *p, const u9_reducer *reducer)
{
    u9_diff *d = p->diff;
    unsigned now = d->now;
    size_t used = d->used;
    u9_builder b;
    u9_builder_init_growing(&b, grow_result, d);
    d->busy = 1;
    u9_err err = reducer->apply(reducer->ctx, p->absent ? NULL : &p->old, &p->args, &b);
    d->busy = 0;
    err =
        err ? u9i_patch_refuse(p, err, NULL, "D-7", "the reducer refused it") : take_result(p, &b);
    if (err) {
        d->now = now;
        d->used = used;
    }
    return err;
}

/* [V-9] The bytes of a name; false if it is none. */
static bool symbol_of(const char *name, uint8_t out[U9I_SYMBOL_SIZE])
{
    size_t size = 0;
    memset(out, 0, U9I_SYMBOL_SIZE);
    for (; name && name[size] != '\0'; size++) {
        if (size == U9I_SYMBOL_SIZE || (uint8_t)name[size] > 0x7f) return false;
        out[size] = (uint8_t)name[size];
    }
    return size > 0;
}

static const u9_reducer *find_reducer(const u9_reducer *list, size_t count, const uint8_t *symbol)
{
    uint8_t name[U9I_SYMBOL_SIZE];
    for (size_t i = 0; i < count; i++)
        if (symbol_of(list[i].op, name) && memcmp(name, symbol, U9I_SYMBOL_SIZE) == 0)
            return &list[i];
    return NULL;
}

u9_err u9_diff_register(u9_diff *d, const u9_reducer *list, size_t count)
{
    uint8_t name[U9I_SYMBOL_SIZE];
    for (size_t i = 0; i < count; i++)
        if (!symbol_of(list[i].op, name) || u9i_op_find(name) || find_reducer(list, i, name))
            return U9_ARG;
    d->reducers = list;
    d->reducer_count = count;
    return U9_OK;
}

/* [D-1] Takes a proved value apart. */
static u9_err read_patch(u9i_patch *p, size_t size, u9_value *op)
{
    u9_value v;
    u9_err err = u9_value_decode(p->bytes, size, &v);
    assert(err == U9_OK);
    u9_walk walk = u9_walk_elements(&v);
    if (v.type != U9_TUPLE || u9_walk_next(&walk, op) || op->type != U9_SYMBOL)
        return u9i_patch_refuse(p, U9_ARG, p->bytes, "D-1",
                                "a patch is a tuple that begins with a symbol");
    if (u9_walk_next(&walk, &p->path) || !u9i_is_container(p->path.type))
        return u9i_patch_refuse(p, U9_ARG, op->start, "D-1",
                                "no path behind the op: a tuple or array of steps");
    p->args = (u9_value){.type = U9_TUPLE, .code = 0x43, .data = walk.next, .size = walk.left};
    p->args.count = v.count - 2;
    return U9_OK;
}

u9_err u9_diff_apply(u9_diff *d, const void *bytes, size_t size, u9_fault *fault)
{
    u9i_patch p = {.diff = d, .bytes = bytes, .fault = fault};
    u9_value symbol;
    if (d->busy)
        return u9i_patch_refuse(&p, U9_STATE, NULL, "D-7", "a patch from within a reducer");
    u9_err err = u9_value_check(bytes, size, NULL, fault);
    if (!err) err = read_patch(&p, size, &symbol);
    if (err) return err;
    const u9i_patch_op *op = u9i_op_find(symbol.data);
    const u9_reducer *reducer = find_reducer(d->reducers, d->reducer_count, symbol.data);
    if (!op && !reducer)
        return u9i_patch_refuse(&p, U9_ARG, symbol.start, "D-1",
                                "an op that nobody has registered");
    if (op && (p.args.count < op->least || p.args.count > op->most))
        return u9i_patch_refuse(&p, U9_ARG, symbol.start, "D-3",
                                "too few or too many arguments for the op");
    err = u9i_patch_follow(&p);
    if (!err) err = op ? op->apply(&p) : run_reducer(&p, reducer);
    if (!err) d->patches++;
    return err;
}

u9_view u9_diff_root(const u9_diff *d)
{
    return d->root;
}

u9_err u9_diff_get(const u9_diff *d, const u9_value *path, u9_view *out)
{
    u9_view view = d->root, next;
    u9_value step;
    uint64_t k;
    if (!u9i_is_container(path->type)) return U9_ARG;
    u9_walk walk = u9_walk_elements(path);
    for (unsigned steps = 0;; steps++) {
        u9_err err = u9_walk_next(&walk, &step);
        if (err == U9_END) break;
        if (!err && steps == U9_DEPTH_MAX) err = U9_LIMIT;
        if (!err) err = u9i_take_step(&view, &step, false, &k, &next);
        if (err) return err;
        view = next;
    }
    *out = view;
    return U9_OK;
}

void u9_diff_init(u9_diff *d, const u9_value *base, void *memory, size_t size, u9_grow_fn *grow,
                  void *grow_ctx)
{
    *d = (u9_diff){.root = u9i_plain_view(base), .grow = grow, .grow_ctx = grow_ctx};
    if (!memory) return;
    d->chunk[0].bytes = memory;
    d->chunk[0].cap = size;
    d->chunks = d->given = 1;
}

void u9_diff_reset(u9_diff *d, const u9_value *base)
{
    d->root = u9i_plain_view(base);
    d->top = NULL;
    d->patches = 0;
    d->now = 0;
    d->used = 0;
}

void u9_diff_release(u9_diff *d, void (*release)(void *bytes))
{
    while (d->chunks > d->given) release(d->chunk[--d->chunks].bytes);
    *d = (u9_diff){.given = 0};
}
