/*
 * fuzz/fuzz_diff.c: any bytes as a value and patches to it [D-1] to [D-10].
 *
 * The input is a row of pieces, each behind a byte that gives its length. The first is the base: if
 * it is a well-formed value, then what is read through all patches, their reduction, and what comes
 * out when each patch is reduced before the next one comes must be equal; if it is none, all must
 * be safe. Each other piece is a patch: as it stands, or put together from an op, steps and a
 * value. The base and the patches lie in blocks of their own, so that the sanitizer sees each byte
 * read too far, and are not changed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value_diff.h>

enum { ROOM = 1 << 16, PATCHES_MAX = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

static uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size);
    must(copy != NULL || size == 0);
    if (size > 0) memcpy(copy, bytes, size);
    return copy;
}

/* What is left of the input. */
typedef struct input {
    const uint8_t *next;
    size_t left;
} input;

static uint8_t take_byte(input *in)
{
    if (in->left == 0) return 0;
    in->left--;
    return *in->next++;
}

static input take_piece(input *in)
{
    size_t size = take_byte(in);
    if (size > in->left) size = in->left;
    input piece = {in->next, size};
    in->next += size;
    in->left -= size;
    return piece;
}

/* A value: the piece itself, a part of the base, or a number. */
static void put_value(u9_builder *b, input piece, const u9_value *base, bool proved)
{
    u9_value v = *base;
    if (u9_value_check(piece.next, piece.left, NULL, NULL) == U9_OK) {
        must(u9_build_raw(b, piece.next, piece.left) == U9_OK);
        return;
    }
    uint8_t way = take_byte(&piece);
    if (proved && way % 3 == 0) {
        while (piece.left > 0 && u9_value_at(&v, take_byte(&piece), &v) == U9_OK) {
        }
        must(u9_build_value(b, &v) == U9_OK);
        return;
    }
    must(u9_build_int(b, way) == U9_OK);
}

/* op, the number of steps, steps (a byte each: a position, or from 0xe0 on a key: one of the base),
 * value. */
static void put_patch(u9_builder *b, input piece, const u9_value *base, bool proved)
{
    static const char *const ops[] = {"set", "delete", "insert", "append", "add", "merge",   "twice",  "odd",
                                      "min", "max",    "and",    "|",      "xor", "prepend", "concat", "+",
                                      "cas", "cut",    "move"};
    unsigned op = take_byte(&piece) % 19, steps = take_byte(&piece) & 7;
    must(u9_build_tuple_open(b) == U9_OK && u9_build_symbol(b, ops[op]) == U9_OK &&
         u9_build_tuple_open(b) == U9_OK);
    while (steps-- > 0) {
        uint8_t step = take_byte(&piece);
        u9_value element, key;
        if (step < 0xe0) {
            must(u9_build_uint(b, step) == U9_OK);
        } else if (proved && u9_value_at(base, step - 0xe0, &element) == U9_OK &&
                   u9_value_at(&element, 0, &key) == U9_OK) {
            must(u9_build_tuple_open(b) == U9_OK && u9_build_value(b, &key) == U9_OK &&
                 u9_build_tuple_close(b) == U9_OK);
        }
    }
    must(u9_build_tuple_close(b) == U9_OK);
    if (op == 17) { /* cut */
        uint8_t from = take_byte(&piece) & 15;
        must(u9_build_uint(b, from) == U9_OK && u9_build_uint(b, from + (take_byte(&piece) & 15)) == U9_OK);
    } else if (op == 18) { /* move: a path */
        must(u9_build_tuple_open(b) == U9_OK);
        for (unsigned n = take_byte(&piece) & 3; n > 0; n--)
            must(u9_build_uint(b, take_byte(&piece) & 15) == U9_OK);
        must(u9_build_tuple_close(b) == U9_OK);
    } else if (op != 1) {
        if (op == 16) { /* cas: what is there, perhaps */
            input copy = piece;
            put_value(b, copy, base, proved);
        }
        put_value(b, piece, base, proved);
    }
    must(u9_build_tuple_close(b) == U9_OK);
}

/* A reducer: the old value and the arguments, twice; nothing where there is neither. */
static u9_err twice(void *ctx, const u9_view *old, const u9_value *args, u9_builder *out)
{
    (void)ctx;
    if (!old) return U9_OK;
    u9_err err = u9_build_tuple_open(out);
    for (unsigned k = 0; !err && k < 2; k++) {
        err = u9_view_build(old, out);
        if (!err) err = u9_build_value(out, args);
    }
    return err ? err : u9_build_tuple_close(out);
}

/* Reads all that there is; as deep as the value is. */
static uint64_t read_all(const u9_view *view, unsigned depth)
{
    u9_view element, again;
    uint64_t count = 1;
    bool indexed = view->value.code >= 0x51 && view->value.code <= 0x57; /* and it may be wrong */
    if (depth > 70) return count;
    u9_view_walk walk = u9_view_elements(view);
    for (uint64_t k = 0; u9_view_next(&walk, &element) == U9_OK; k++) {
        u9_err err = k < 20 ? u9_view_at(view, k, &again) : U9_END;
        if (k < 20 && !indexed) must(err == U9_OK && again.type == element.type);
        if (!element.changed && element.value.start)
            count += element.value.start[element.value.encoded - 1];
        count += read_all(&element, depth + 1);
    }
    return count;
}

/* Reads and reduces; false if the value is too large for that. */
static bool reduce(const u9_diff *d, uint8_t room[ROOM], size_t *size)
{
    u9_view root = u9_diff_root(d);
    u9_builder b;
    u9_value v;
    (void)read_all(&root, 0);
    u9_builder_init(&b, room, ROOM);
    u9_err err = u9_view_build(&root, &b);
    *size = b.size;
    if (err) must(err == U9_LIMIT && b.size > ROOM);
    if (err) return false;
    must(u9_value_check(room, b.size, NULL, NULL) == U9_OK);
    must(u9_value_decode(room, b.size, &v) == U9_OK && u9_view_equals(&root, &v));
    must(v.type == root.type && (!root.changed || v.count == root.count));
    return true;
}

static const u9_reducer reducers[] = {{"twice", twice, NULL}};

/* The values that come out when each patch is reduced before the next one. */
typedef struct stepwise {
    uint8_t bytes[ROOM];
    size_t size;
    bool on;
} stepwise;

static void take_step(stepwise *s, const uint8_t *patch, size_t size, u9_err want)
{
    static uint8_t room[ROOM];
    u9_diff d;
    u9_value v;
    must(u9_value_decode(s->bytes, s->size, &v) == U9_OK);
    u9_diff_init(&d, &v, NULL, 0, u9_grow_heap, NULL);
    must(u9_diff_register(&d, reducers, 1) == U9_OK);
    must(u9_diff_apply(&d, patch, size, NULL) == want);
    s->on = reduce(&d, room, &s->size);
    if (s->on) memcpy(s->bytes, room, s->size);
    u9_diff_release(&d, free);
}

static void patch_it(u9_diff *d, stepwise *s, input piece, const u9_value *base, bool proved)
{
    static uint8_t room[ROOM];
    u9_builder b;
    u9_fault fault;
    u9_builder_init(&b, room, sizeof room);
    bool raw = piece.left > 0 && *piece.next >= 0x40 && *piece.next < 0x50;
    if (raw) must(u9_build_raw(&b, piece.next, piece.left) == U9_OK);
    else put_patch(&b, piece, base, proved);
    uint8_t *patch = copy_of(room, b.size);
    u9_err err = u9_diff_apply(d, patch, b.size, &fault);
    must(err == U9_OK || (fault.err == err && fault.rule[0] && fault.text[0]));
    if (s->on) take_step(s, patch, b.size, err);
    must(memcmp(room, patch, b.size) == 0);
    free(patch);
}

static void try_patches(input *in, const u9_value *base, bool proved)
{
    static uint8_t room[ROOM];
    static stepwise s;
    uint8_t memory[1000];
    u9_diff d;
    u9_value at_once, by_steps;
    size_t size;
    s.on = proved;
    s.size = base->encoded;
    memcpy(s.bytes, base->start, s.size);
    u9_diff_init(&d, base, memory, sizeof memory, u9_grow_heap, NULL);
    must(u9_diff_register(&d, reducers, 1) == U9_OK);
    for (unsigned k = 0; in->left > 0 && k < PATCHES_MAX; k++)
        patch_it(&d, &s, take_piece(in), base, proved);
    u9_view root = u9_diff_root(&d);
    if (!proved) {
        u9_builder counter;
        u9_builder_init(&counter, NULL, 0);
        must(u9_view_build(&root, &counter) != U9_OK);
        (void)read_all(&root, 0);
    } else if (reduce(&d, room, &size) && s.on) {
        must(u9_value_decode(room, size, &at_once) == U9_OK);
        must(u9_value_decode(s.bytes, s.size, &by_steps) == U9_OK);
        must(u9_value_compare(&at_once, &by_steps) == 0);
    }
    u9_diff_release(&d, free);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size}, piece = take_piece(&in);
    u9_value base;
    uint8_t *bytes = copy_of(piece.next, piece.left);
    if (u9_value_decode(bytes, piece.left, &base) == U9_OK) {
        bool proved = u9_value_check(bytes, piece.left, NULL, NULL) == U9_OK;
        try_patches(&in, &base, proved);
    }
    must(piece.left == 0 || memcmp(bytes, piece.next, piece.left) == 0);
    free(bytes);
    return 0;
}
