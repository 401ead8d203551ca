/*
 * tests/format/value/diff/diff_fixture.c: see diff_fixture.h.
 */
#include "tests/format/value/diff/diff_fixture.h"

enum { ROOM = 1 << 16 };

static block held[4096];
static size_t held_count;

block block_of(const void *bytes, size_t size)
{
    block b = {malloc(size), size};
    ck_assert(b.bytes != NULL && held_count < sizeof held / sizeof held[0]);
    memcpy(b.bytes, bytes, size);
    return held[held_count++] = b;
}

void forget_blocks(void)
{
    while (held_count > 0) free(held[--held_count].bytes);
}

/* `<44 03 02 04 01 fe>`: bytes of one value, in hex. */
static const char *read_hex(const char *c, u9_builder *b)
{
    uint8_t bytes[512];
    size_t size = 0;
    for (; *c != '>'; c++) {
        char pair[3] = {c[0], c[0] == ' ' ? '\0' : c[1], '\0'};
        if (*c == ' ') continue;
        bytes[size++] = (uint8_t)strtoul(pair, NULL, 16);
        c++;
    }
    fine(u9_build_raw(b, bytes, size));
    return c + 1;
}

static const char *read_number(const char *c, u9_builder *b)
{
    const char *end = c + strcspn(c, " ()");
    if (memchr(c, '.', (size_t)(end - c)) || c[0] == 'n') {
        if (end[-1] == 'f') fine(u9_build_float32(b, strtof(c, NULL)));
        else fine(u9_build_float64(b, strtod(c, NULL)));
    } else if (*c == '-') {
        fine(u9_build_int(b, strtoll(c, NULL, 10)));
    } else {
        fine(u9_build_uint(b, strtoull(c, NULL, 10)));
    }
    return end;
}

static void read_text(const char *c, u9_builder *b)
{
    while (*c) {
        const char *end;
        char name[9] = {0};
        switch (*c) {
        case ' ': c++; continue;
        case '(':
            fine(u9_build_tuple_open(b));
            c++;
            continue;
        case ')':
            fine(u9_build_tuple_close(b));
            c++;
            continue;
        case '<': c = read_hex(c + 1, b); continue;
        case '"':
            end = strchr(c + 1, '"');
            fine(u9_build_utf8(b, c + 1, (size_t)(end - c - 1)));
            c = end + 1;
            continue;
        default: break;
        }
        if (strchr("-0123456789", *c)) {
            c = read_number(c, b);
            continue;
        }
        end = c + strcspn(c, " ()");
        memcpy(name, c, (size_t)(end - c));
        fine(u9_build_symbol(b, name));
        c = end;
    }
}

block say(const char *text)
{
    static uint8_t room[ROOM];
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    read_text(text, &b);
    return block_of(room, b.size);
}

u9_value value_of(block b)
{
    u9_value v;
    fine(u9_value_check(b.bytes, b.size, NULL, NULL));
    fine(u9_value_decode(b.bytes, b.size, &v));
    return v;
}

void begin_over(fixture *f, block base)
{
    u9_value v;
    f->base = base;
    f->copy = block_of(base.bytes, base.size);
    fine(u9_value_decode(base.bytes, base.size, &v));
    u9_diff_init(&f->diff, &v, NULL, 0, u9_grow_heap, NULL);
}

void begin(fixture *f, const char *base)
{
    begin_over(f, say(base));
}

u9_err patch(fixture *f, const char *text)
{
    block p = say(text);
    u9_err err = u9_diff_apply(&f->diff, p.bytes, p.size, &f->fault);
    memset(p.bytes, 0xff, p.size); /* it was borrowed for the call only */
    return err;
}

block reduce_view(const u9_view *view)
{
    static uint8_t room[ROOM];
    u9_builder b, counter;
    u9_builder_init(&b, room, sizeof room);
    fine(u9_view_build(view, &b));
    u9_builder_init(&counter, NULL, 0);
    ck_assert_int_eq(u9_view_build(view, &counter), U9_LIMIT);
    ck_assert_uint_eq(counter.size, b.size);
    return block_of(room, b.size);
}

block reduce(const fixture *f)
{
    u9_view root = u9_diff_root(&f->diff);
    return reduce_view(&root);
}

void finish(fixture *f)
{
    u9_diff_release(&f->diff, free);
    ck_assert_mem_eq(f->base.bytes, f->copy.bytes, f->base.size);
}

void expect_bytes(block got, block want)
{
    char hex[2][512] = {"", ""};
    for (size_t i = 0; i < got.size && i < 250; i++)
        snprintf(hex[0] + 2 * i, 3, "%02x", got.bytes[i]);
    for (size_t i = 0; i < want.size && i < 250; i++)
        snprintf(hex[1] + 2 * i, 3, "%02x", want.bytes[i]);
    ck_assert_msg(got.size == want.size && memcmp(got.bytes, want.bytes, got.size) == 0,
                  "%s, not %s", hex[0], hex[1]);
}

void expect_reads_as(const u9_view *view, const u9_value *reduced)
{
    u9_view by_walk, by_position;
    u9_value element;
    ck_assert_int_eq(u9_view_equals(view, reduced), 1);
    ck_assert_uint_eq(view->count,
                      view->type == U9_TUPLE || view->type == U9_ARRAY ? reduced->count : 0);
    if (!view->changed) {
        ck_assert_int_eq(u9_value_compare(&view->value, reduced), 0);
        return;
    }
    ck_assert_int_eq(view->type, reduced->type);
    ck_assert_uint_eq(view->value.size, 0);
    u9_view_walk walk = u9_view_elements(view);
    for (uint64_t k = 0; k < view->count; k++) {
        fine(u9_view_next(&walk, &by_walk));
        fine(u9_view_at(view, k, &by_position));
        fine(u9_value_at(reduced, k, &element));
        expect_reads_as(&by_walk, &element);
        ck_assert(by_position.changed == by_walk.changed);
        ck_assert(u9_view_equals(&by_position, &element));
    }
    ck_assert_int_eq(u9_view_next(&walk, &by_walk), U9_END);
    ck_assert_int_eq(u9_view_at(view, view->count, &by_walk), U9_END);
}

void expect(const fixture *f, const char *text)
{
    block got = reduce(f);
    u9_value reduced = value_of(got);
    u9_view root = u9_diff_root(&f->diff);
    expect_bytes(got, say(text));
    expect_reads_as(&root, &reduced);
}

void expect_change(const char *base, const char *text, const char *want)
{
    fixture f;
    begin(&f, base);
    u9_err err = patch(&f, text);
    ck_assert_msg(err == U9_OK, "%s: %s: %s", text, u9_err_name(err), f.fault.text);
    expect(&f, want);
    ck_assert_uint_eq(f.diff.patches, 1);
    finish(&f);
}

void expect_refused_bytes(const char *base, block p, u9_err want, const char *rule)
{
    fixture f;
    begin(&f, base);
    u9_err err = u9_diff_apply(&f.diff, p.bytes, p.size, &f.fault);
    ck_assert_msg(err == want, "%s, not %s", u9_err_name(err), u9_err_name(want));
    ck_assert_int_eq(f.fault.err, want);
    ck_assert_str_eq(f.fault.rule, rule);
    ck_assert_uint_gt(strlen(f.fault.text), 0);
    ck_assert(f.fault.offset == U9_NOWHERE || f.fault.offset <= p.size);
    ck_assert_int_eq(u9_diff_apply(&f.diff, p.bytes, p.size, NULL), want);
    ck_assert(u9_diff_root(&f.diff).changed == NULL);
    expect_bytes(reduce(&f), f.base);
    ck_assert_uint_eq(f.diff.patches, 0);
    finish(&f);
}

void expect_refused(const char *base, const char *text, u9_err want, const char *rule)
{
    expect_refused_bytes(base, say(text), want, rule);
}

u9_err get(const fixture *f, const char *path, u9_view *out)
{
    u9_value v = value_of(say(path));
    return u9_diff_get(&f->diff, &v, out);
}

void expect_at(const fixture *f, const char *path, const char *want)
{
    u9_view view;
    u9_value v = value_of(say(want));
    fine(get(f, path, &view));
    ck_assert_msg(u9_view_equals(&view, &v), "%s is not %s", path, want);
}

const char *nest(unsigned count, const char *inner)
{
    static char text[8][512];
    static unsigned turn;
    char *t = text[turn++ % 8];
    memset(t, '(', count);
    strcpy(t + count, inner);
    size_t size = strlen(t);
    memset(t + size, ')', count);
    t[size + count] = '\0';
    return t;
}

const char *nested(unsigned count)
{
    return nest(count, "");
}

const char *deep_patch(const char *op, unsigned steps, const char *args)
{
    static char text[1024];
    snprintf(text, sizeof text, "(%s (", op);
    while (steps-- > 0) strcat(text, "0 ");
    return strcat(strcat(strcat(text, ") "), args), ")");
}

u9_err wrap(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    call *c = ctx;
    u9_walk walk = u9_walk_elements(args);
    u9_value v;
    c->calls++;
    c->had_old = old != NULL;
    u9_err err = u9_build_tuple_open(out);
    if (!err) err = old ? u9_view_build(old, out) : u9_build_symbol(out, "none");
    while (!err && u9_walk_next(&walk, &v) == U9_OK) err = u9_build_value(out, &v);
    if (!err) err = u9_build_tuple_close(out);
    return err ? err : c->err;
}

static u9_err nothing(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    (void)ctx, (void)old, (void)args, (void)out;
    return U9_OK;
}

static u9_err two(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    (void)ctx, (void)old, (void)args;
    fine(u9_build_uint(out, 1));
    return u9_build_uint(out, 2);
}

static u9_err leave_open(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    (void)ctx, (void)old, (void)args;
    return u9_build_tuple_open(out);
}

static u9_err junk(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    (void)ctx, (void)old, (void)args;
    return u9_build_raw(out, "\x49\x01\x50", 3); /* a tuple of a reserved bytecode */
}

static u9_err meddle(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    call *c = ctx;
    (void)old, (void)args;
    block p = say("(set () 1)");
    ck_assert_int_eq(u9_diff_apply(c->diff, p.bytes, p.size, NULL), U9_STATE);
    return u9_build_uint(out, 3);
}

/* Builds far more than a chunk holds, bit by bit, from an old value that lies in the diff's
 * memory. */
static u9_err multiply(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    const call *c = ctx;
    (void)args;
    fine(u9_build_tuple_open(out));
    for (unsigned k = 0; k < 20000; k++) fine(u9_view_build(old, out));
    fine(u9_build_tuple_close(out));
    return c->err;
}

void begin_with_reducers(fixture *f, const char *base, call *c)
{
    static u9_reducer list[7];
    *c = (call){.diff = &f->diff};
    list[0] = (u9_reducer){"wrap", wrap, c};
    list[1] = (u9_reducer){"nothing", nothing, c};
    list[2] = (u9_reducer){"two", two, c};
    list[3] = (u9_reducer){"open", leave_open, c};
    list[4] = (u9_reducer){"junk", junk, c};
    list[5] = (u9_reducer){"meddle", meddle, c};
    list[6] = (u9_reducer){"multiply", multiply, c};
    begin(f, base);
    fine(u9_diff_register(&f->diff, list, 7));
}

u9_err grow_miser(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    miser *m = ctx;
    if (m->calls++ >= m->allowed) return U9_NOMEM;
    return u9_grow_heap(NULL, bytes, cap, need);
}
