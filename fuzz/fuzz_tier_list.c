/*
 * fuzz/fuzz_tier_list.c: hostile lists of what stands in another place. [TR-2] Input: the list's value; its hash is put
 * behind it here, so that what is refused is refused for what it says.
 *
 * Whatever comes: what is taken, written again, is taken again and says the same; nothing is kept of what is refused.
 */
#include "engine/log/tier_list.h"

#include <stdlib.h>
#include <string.h>
#include <u9/value.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void check_same(const u9i_tier_list *a, const u9i_tier_list *b)
{
    CHECK(a->count == b->count && strcmp(a->place, b->place) == 0 && strcmp(a->kind, b->kind) == 0);
    for (size_t i = 0; i < a->count; i++) {
        CHECK(a->segments[i].number == b->segments[i].number && a->segments[i].next == b->segments[i].next);
        CHECK(i == 0 || a->segments[i - 1].number < a->segments[i].number);
        CHECK(u9i_tier_list_find(a, a->segments[i].number) == &a->segments[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u9i_tier_list list, again;
    enum { HASH_ROOM = 32 };
    uint8_t sha[U9I_HASH_SIZE], *whole = malloc(size + HASH_ROOM), *written;
    u9_builder b;
    size_t written_size;
    CHECK(whole != NULL);
    if (size > 0) memcpy(whole, data, size);
    u9i_hash(whole, size, sha);
    u9_builder_init(&b, whole + size, HASH_ROOM);
    CHECK(u9_build_bytes(&b, sha, sizeof sha) == U9_OK);
    if (u9i_tier_list_decode(whole, size + b.size, &list) == U9_OK) {
        CHECK(u9i_tier_list_encode(&list, list.place, &written, &written_size) == U9_OK);
        CHECK(u9i_tier_list_decode(written, written_size, &again) == U9_OK);
        check_same(&list, &again);
        u9i_tier_list_free(&list);
        u9i_tier_list_free(&again);
        free(written);
    } else {
        CHECK(list.count == 0 && list.segments == NULL && list.place == NULL);
    }
    free(whole);
    return 0;
}
