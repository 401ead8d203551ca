/*
 * tests/format/value/diff/test_value_diff_random.c: random patches to random values, held against the model in
 * diff_model.h; and the tree of pieces, looked at from inside.
 */
#include "format/value/diff/overlay.h"
#include "tests/format/value/diff/diff_fixture.h"
#include "tests/format/value/diff/diff_model.h"
#include "tests/format/value/value_gen.h"
#include "tests/suites.h"

enum { ROOM = 1 << 16 };

/* A random path into `it`, mostly one that leads somewhere. */
static void random_path(rng *r, const item *it, u9_builder *b)
{
    uint8_t odd[64];
    fine(u9_build_tuple_open(b));
    for (bool first = true; it->container && rng_below(r, first ? 12 : 4) > 0; first = false) {
        uint64_t k = rng_below(r, it->count + 1);
        const item *kid = k < it->count ? it->kids[k] : NULL;
        if (k == it->count && rng_below(r, 4) > 0 && it->count > 0) continue;
        if (kid && kid->container && kid->count > 0 && rng_below(r, 2)) {
            fine(u9_build_tuple_open(b));
            item_build(kid->kids[0], b);
            fine(u9_build_tuple_close(b));
        } else if (rng_below(r, 40) == 0) {
            fine(u9_build_raw(b, odd, value_gen(r, odd, sizeof odd, 2)));
        } else {
            fine(u9_build_uint(b, k));
        }
        if (!kid) break;
        it = kid;
    }
    fine(u9_build_tuple_close(b));
}

/* A random value: of any kind, a small number, or a part of what is there. */
static void random_arg(rng *r, const item *it, u9_builder *b)
{
    uint8_t any[64];
    switch (rng_below(r, 3)) {
    case 0: fine(u9_build_raw(b, any, value_gen(r, any, sizeof any, 3))); break;
    case 1: fine(u9_build_int(b, (int64_t)rng_below(r, 1000) - 500)); break;
    default:
        while (it->container && it->count > 0 && (it->count > 8 || rng_below(r, 3) > 0))
            it = it->kids[rng_below(r, it->count)];
        item_build(it, b);
    }
}

/* Elements with keys that are there, or others. */
static void random_map(rng *r, const item *it, u9_builder *b)
{
    fine(u9_build_tuple_open(b));
    for (uint64_t n = rng_below(r, 4); n > 0; n--) {
        if (rng_below(r, 20) == 0) {
            random_arg(r, it, b);
            continue;
        }
        const item *kid = it->container && it->count > 0 ? it->kids[rng_below(r, it->count)] : it;
        fine(u9_build_tuple_open(b));
        if (kid->container && kid->count > 0) item_build(kid->kids[0], b);
        else random_arg(r, it, b);
        random_arg(r, it, b);
        fine(u9_build_tuple_close(b));
    }
    fine(u9_build_tuple_close(b));
}

static void random_cut(rng *r, u9_builder *b)
{
    uint64_t from = rng_below(r, 4);
    fine(u9_build_uint(b, from));
    if (rng_below(r, 30) > 0) fine(u9_build_uint(b, from + rng_below(r, 4)));
}

static block random_patch(rng *r, const item *it)
{
    static const char *const names[] = {
        "set", "delete", "insert", "append", "add", "merge", "append",  "insert", "set",    "merge", "min",
        "max", "and",    "or",     "xor",    "+",   "&",     "prepend", "concat", "cut",    "cut",   "cas",
        "^",   "|",      "move",   "move",   "move"};
    static uint8_t room[1 << 20];
    const char *name = names[rng_below(r, sizeof names / sizeof names[0])];
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    fine(u9_build_tuple_open(&b));
    fine(u9_build_symbol(&b, name));
    random_path(r, it, &b);
    if (strcmp(name, "merge") == 0) random_map(r, it, &b);
    else if (strcmp(name, "move") == 0) random_path(r, it, &b);
    else if (strcmp(name, "cut") == 0) random_cut(r, &b);
    else if (strcmp(name, "delete") != 0) random_arg(r, it, &b);
    if (*name == 'i' || strcmp(name, "cas") == 0 || rng_below(r, 30) == 0) random_arg(r, it, &b);
    fine(u9_build_tuple_close(&b));
    return block_of(room, b.size);
}

/* Each path of up to `depth` steps, by positions and, at its end, by key, leads to the same both
 * ways. */
static void expect_paths(const u9_diff *d, const u9_diff *plain, uint64_t *steps, unsigned count,
                         unsigned depth)
{
    uint8_t room[256];
    u9_builder b;
    u9_value path, want, key;
    u9_view got, there;
    u9_builder_init(&b, room, sizeof room);
    fine(u9_build_tuple_open(&b));
    for (unsigned k = 0; k < count; k++) fine(u9_build_uint(&b, steps[k]));
    fine(u9_build_tuple_close(&b));
    fine(u9_value_decode(room, b.size, &path));
    u9_err err = u9_diff_get(plain, &path, &there);
    ck_assert_int_eq(u9_diff_get(d, &path, &got), err);
    if (err) return;
    want = there.value;
    expect_reads_as(&got, &want);
    if (count == depth || (want.type != U9_TUPLE && want.type != U9_ARRAY)) return;
    u9_walk walk = u9_walk_elements(&want);
    u9_value element;
    for (uint64_t k = 0; k <= want.count; k++) {
        steps[count] = k;
        expect_paths(d, plain, steps, count + 1, depth);
        if (u9_walk_next(&walk, &element) != U9_OK) continue;
        u9_walk inner = u9_walk_elements(&element);
        if (u9_walk_next(&inner, &key) != U9_OK) continue;
        u9_view by_key;
        fine(u9_view_by_key(&got, &key, &by_key));
        fine(u9_view_by_key(&there, &key, &there));
        expect_reads_as(&by_key, &there.value);
        there = (u9_view){.type = want.type, .count = want.count, .value = want};
    }
}

/* What one random patch does to the diff, to a diff over the value reduced so far, and in the
 * model. */
typedef struct trial {
    fixture f;
    item *model;
    block stepwise;
} trial;

static void apply_everywhere(trial *t, block p)
{
    u9_value v = value_of(p), base;
    u9_diff one;
    fine(u9_value_decode(t->stepwise.bytes, t->stepwise.size, &base));
    u9_diff_init(&one, &base, NULL, 0, u9_grow_heap, NULL);
    u9_err err = u9_diff_apply(&t->f.diff, p.bytes, p.size, &t->f.fault);
    ck_assert_int_eq(u9_diff_apply(&one, p.bytes, p.size, NULL), err);
    ck_assert_int_eq(item_apply(&t->model, &v), err);
    u9_view root = u9_diff_root(&one);
    if (!err) t->stepwise = reduce_view(&root);
    u9_diff_release(&one, free);
}

static void expect_all_agree(const trial *t)
{
    static uint8_t room[ROOM];
    u9_builder b;
    block got = reduce(&t->f);
    u9_value reduced = value_of(got), model, stepwise = value_of(t->stepwise);
    u9_builder_init(&b, room, sizeof room);
    item_build(t->model, &b);
    fine(u9_value_decode(room, b.size, &model));
    ck_assert_int_eq(u9_value_compare(&reduced, &model), 0);
    ck_assert_int_eq(u9_value_compare(&reduced, &stepwise), 0);
    u9_diff plain;
    uint64_t steps[4];
    u9_diff_init(&plain, &reduced, NULL, 0, NULL, NULL);
    expect_paths(&t->f.diff, &plain, steps, 0, 3);
}

/* [D-6] [D-8] */
START_TEST(reading_through_random_patches_is_reading_the_reduced_value_and_what_the_model_says)
{
    rng r = {(uint64_t)_i};
    uint8_t bytes[600];
    unsigned applied = 0;
    for (unsigned round = 0; round < 12; round++) {
        trial t;
        u9_value v;
        size_t size;
        do {
            size = value_gen(&r, bytes, sizeof bytes, 5);
            fine(u9_value_decode(bytes, size, &v));
        } while (v.type != U9_TUPLE && v.type != U9_ARRAY);
        begin_over(&t.f, block_of(bytes, size));
        t.stepwise = t.f.base;
        t.model = item_of(&v);
        for (unsigned k = 0; k < 24 && t.model->container && t.stepwise.size < 3000; k++) {
            apply_everywhere(&t, random_patch(&r, t.model));
            if (k % 4 == 3) expect_all_agree(&t);
        }
        applied += (unsigned)t.f.diff.patches;
        item_free(t.model);
        finish(&t.f);
        forget_blocks();
    }
    ck_assert_uint_gt(applied, 60);
}
END_TEST

/* The pieces below p are balanced and count what is there; *next is the first of them in the row,
 * and then the one behind them. */
static void expect_balanced(const u9_piece *p, const u9_piece *up, const u9_piece **next)
{
    if (!p) return;
    int height[2] = {0, 0};
    uint64_t total = p->count;
    for (unsigned side = 0; side < 2; side++) {
        const u9_piece *child = p->child[side];
        if (side == 1) {
            ck_assert_ptr_eq(*next, p);
            *next = p->next;
        }
        expect_balanced(child, p, next);
        height[side] = child ? child->height : 0;
        total += child ? child->total : 0;
    }
    ck_assert_ptr_eq(p->up, up);
    ck_assert_uint_eq(p->total, total);
    ck_assert_int_eq(p->height, 1 + (height[0] > height[1] ? height[0] : height[1]));
    ck_assert_int_le(abs(height[0] - height[1]), 1);
}

static void expect_tree(const u9_diff *d)
{
    const u9_piece *next = &d->top->head;
    expect_balanced(d->top->top, NULL, &next);
    ck_assert_ptr_null(next);
}

/* [D-8] Enough pieces that the tree must be balanced; a plain array says what is wanted. */
START_TEST(many_patches_to_one_container_are_found_again)
{
    enum { ELEMENTS = 3000, PATCHES = 20000 };
    static uint64_t want[ELEMENTS + PATCHES], numbers[ELEMENTS];
    static uint8_t room[1 << 19];
    rng r = {7};
    u9_builder b;
    fixture f;
    size_t count = ELEMENTS;
    for (size_t k = 0; k < count; k++) want[k] = numbers[k] = k;
    u9_builder_init(&b, room, sizeof room);
    fine(u9_build_numbers(&b, 0x03, numbers, ELEMENTS));
    begin_over(&f, block_of(room, b.size));
    for (uint64_t n = 0; n < PATCHES; n++) {
        uint64_t k = rng_below(&r, count), op = n % 3;
        u9_builder_init(&b, room, sizeof room);
        fine(u9_build_tuple_open(&b));
        fine(u9_build_symbol(&b, op == 0 ? "insert" : op == 1 ? "set" : "delete"));
        fine(u9_build_tuple_open(&b));
        fine(u9_build_uint(&b, k));
        fine(u9_build_tuple_close(&b));
        if (op < 2) fine(u9_build_uint(&b, 1000000 + n));
        fine(u9_build_tuple_close(&b));
        fine(u9_diff_apply(&f.diff, room, b.size, NULL));
        if (op == 0) memmove(want + k + 1, want + k, (count++ - k) * sizeof *want);
        if (op == 2) memmove(want + k, want + k + 1, (--count - k) * sizeof *want);
        if (op < 2) want[k] = 1000000 + n;
    }
    expect_tree(&f.diff);
    u9_view root = u9_diff_root(&f.diff), element;
    ck_assert_uint_eq(root.count, count);
    for (size_t k = 0; k < count; k++) {
        fine(u9_view_at(&root, k, &element));
        ck_assert_uint_eq(element.value.u, want[k]);
    }
    finish(&f);
}
END_TEST

START_TEST(a_row_that_grows_at_one_end_is_balanced)
{
    static const char *const patches[] = {"(append () 5)", "(insert (0) 5)", "(insert (1) 5 6 7)"};
    for (unsigned i = 0; i < 3; i++) {
        fixture f;
        begin(&f, "(1 2)");
        for (unsigned k = 0; k < 1000; k++) fine(patch(&f, patches[i]));
        expect_tree(&f.diff);
        ck_assert_uint_lt(f.diff.top->top->height, 18);
        finish(&f);
        forget_blocks();
    }
}
END_TEST

Suite *suite_value_diff_random(void)
{
    Suite *s = suite_create("value_diff_random");
    TCase *t = tcase_create("random");
    tcase_add_checked_fixture(t, NULL, forget_blocks);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(
        t, reading_through_random_patches_is_reading_the_reduced_value_and_what_the_model_says, 0,
        40);
    tcase_add_test(t, many_patches_to_one_container_are_found_again);
    tcase_add_test(t, a_row_that_grows_at_one_end_is_balanced);
    suite_add_tcase(s, t);
    return s;
}
