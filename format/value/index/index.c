/*
 * format/value/index/index.c: finds elements of tuples and arrays, by the indexes in front of them where
 * there are such. to
 *
 * A lookup seeks the first entry whose key is not below what is sought, by interpolation among
 * integers (hashes are such), else by bisection. A complete index then has the elements one entry
 * after the other. From an incomplete one the container itself is walked, which is in the same
 * order, beginning at the last entry that is strictly below: elements in front of an entry may have
 * its key too.
 *
 * Nothing in an index is believed: an offset is compared with the container's size, what stands
 * there is decoded within the container, and compared with what was sought.
 */
#include "format/value/index/index.h"

#include "format/value/decode.h"
#include "format/value/typecode.h"

enum { LINEAR, ENTRIES, SORTED }; /* u9_find.how */

/* Interpolations before it is bisection, so that no distribution of keys is worse than that. */
enum { INTERPOLATIONS = 8 };

static bool is_container(const u9_value *v)
{
    return v->type == U9_TUPLE || v->type == U9_ARRAY;
}

/* What went wrong with an element. */
static u9_err broken(u9_err err)
{
    return err == U9_LIMIT ? err : U9_CORRUPT;
}

u9_walk u9_walk_indexes(const u9_value *container)
{
    u9_value bare = u9_value_bare(container);
    if (!container->start) return u9_walk_bytes(NULL, 0);
    return u9_walk_bytes(container->start, (size_t)(bare.start - container->start));
}

/* */
static u9_keyspec keyspec_of(const uint8_t symbol[8])
{
    static const char names[][9] = {
        [U9_KEYSPEC_I] = "i\0\0\0\0\0\0\0",
        [U9_KEYSPEC_H] = "h\0\0\0\0\0\0\0",
        [U9_KEYSPEC_K] = "k\0\0\0\0\0\0\0",
        [U9_KEYSPEC_KH] = "kh\0\0\0\0\0\0",
    };
    for (unsigned k = U9_KEYSPEC_I; k <= U9_KEYSPEC_KH; k++)
        if (memcmp(symbol, names[k], 8) == 0) return (u9_keyspec)k;
    return U9_KEYSPEC_OTHER;
}

/* A plain array, no index in front, and its memory. */
static u9_err next_array(u9_walk *walk, u9_value *out, u9_span *span)
{
    u9_err err = u9_walk_next(walk, out);
    if (err != U9_OK) return err == U9_LIMIT ? err : U9_CORRUPT;
    return !u9i_is_index(out->code) && u9_array_span(out, span) == U9_OK ? U9_OK : U9_CORRUPT;
}

u9_err u9_index_next(u9_walk *walk, u9_index *out)
{
    if (walk->left == 0) return U9_END;
    if (!u9i_is_index(walk->next[0])) return U9_CORRUPT;
    unsigned width = u9i_index_width(walk->next[0]);
    u9i_in in = u9i_in_init(walk->next + 1, walk->left - 1);
    uint64_t l = u9i_in_uint(&in, width);
    const uint8_t *body = u9i_in_span(&in, l);
    if (!body) return U9_CORRUPT;
    u9_walk parts = u9_walk_bytes(body, (size_t)l);
    u9_index index = {.complete = walk->next[0] <= 0x53, .start = walk->next};
    if (u9_walk_next(&parts, &index.ks) != U9_OK || index.ks.type != U9_SYMBOL) return U9_CORRUPT;
    u9_err err = next_array(&parts, &index.ka, &index.keys);
    if (err == U9_OK) err = next_array(&parts, &index.ia, &index.offsets);
    if (err != U9_OK) return err;
    if (parts.left > 0 || index.offsets.code < 0x05 || index.offsets.code > 0x07 ||
        index.ka.count != index.ia.count)
        return U9_CORRUPT; /* */
    index.keyspec = keyspec_of(index.ks.data);
    index.encoded = 1 + width + (size_t)l;
    walk->next = in.next;
    walk->left = in.left;
    *out = index;
    return U9_OK;
}

bool u9i_index_subject(u9_keyspec keyspec, const u9_value *element, u9_value *out)
{
    if (keyspec == U9_KEYSPEC_I || keyspec == U9_KEYSPEC_H) {
        *out = *element;
        return true;
    }
    u9_walk walk = u9_walk_elements(element);
    return u9_walk_next(&walk, out) == U9_OK;
}

void u9i_index_aspect(u9_keyspec keyspec, unsigned width, uint64_t position,
                      const u9_value *subject, u9_value *out)
{
    if (keyspec == U9_KEYSPEC_K) {
        *out = *subject;
        return;
    }
    if (keyspec != U9_KEYSPEC_I) position = u9_value_hash(subject) >> (64 - 8 * width);
    *out = (u9_value){.type = U9_UINT, .u = position};
}

bool u9i_index_keys_fit(const u9_index *index)
{
    if (index->keyspec == U9_KEYSPEC_K) return true;
    return index->keys.code <= (index->keyspec == U9_KEYSPEC_I ? 0x07 : 0x03);
}

u9_value u9i_index_key(const u9_index *index, uint64_t entry)
{
    u9_value key = {.type = index->keys.type, .code = index->keys.code, .size = index->keys.stride};
    if (key.type == U9_UTF8 || key.type == U9_BYTES) { /* without a look at the typecode */
        key.data = index->keys.data + entry * key.size;
    } else if (u9i_packed_size(key.code) > 0) {
        u9i_look_packed(key.code, index->keys.data + entry * index->keys.stride, &key);
    } else {
        u9_err err = u9_value_at(&index->ka, entry, &key);
        (void)err; /* there is such an entry */
    }
    return key;
}

int64_t u9i_index_offset(const u9_index *index, uint64_t entry)
{
    unsigned width = (unsigned)index->offsets.stride; /* of an int */
    return (int64_t)u9i_sign_extend(u9i_get_be(index->offsets.data + entry * width, width), width);
}

u9_err u9i_index_follow(const u9_value *container, const u9_index *index, uint64_t entry,
                        u9_walk *out)
{
    u9_walk walk = u9_walk_elements(container);
    int64_t offset = u9i_index_offset(index, entry);
    if (offset < 0 || (uint64_t)offset >= container->size) return U9_CORRUPT; /* */
    size_t at = (size_t)offset;
    u9_span span;
    if (u9_array_span(container, &span) == U9_OK) { /* the stride is not 0: there are bytes */
        if (at % span.stride != 0) return U9_CORRUPT;
        walk.due -= at / span.stride;
    }
    walk.next += at;
    walk.left -= at;
    *out = walk;
    return U9_OK;
}

int u9i_index_side(const u9_index *index, uint64_t entry, const u9_value *aspect)
{
    u9_value key = u9i_index_key(index, entry);
    return u9_value_compare(&key, aspect);
}

/* An integer as an unsigned number in the same order: with another sign where keys have one. */
static uint64_t rank_of(const u9_index *index, const u9_value *integer)
{
    return integer->u ^ (index->keys.code >= 0x04 ? UINT64_C(1) << 63 : 0);
}

static uint64_t rank_at(const u9_index *index, uint64_t entry)
{
    u9_value key = u9i_index_key(index, entry);
    return rank_of(index, &key);
}

/* True if keys are integers and this is one that such keys can be. */
static bool has_rank(const u9_index *index, const u9_value *aspect)
{
    if (aspect->type != U9_UINT && aspect->type != U9_INT) return false;
    bool negative = aspect->type == U9_INT && aspect->i < 0;
    if (index->keys.code <= 0x03) return !negative;
    return index->keys.code <= 0x07 && (negative || aspect->u <= INT64_MAX);
}

/* seek_entry() by interpolation, in an index that has entries. */
static u9_err seek_rank(const u9_index *index, uint64_t rank, uint64_t *entry)
{
    uint64_t low = 0, high = index->keys.count - 1;
    uint64_t below = rank_at(index, low), above = rank_at(index, high);
    if (below > above) return U9_CORRUPT; /* noticed */
    if (rank <= below || rank > above) {
        *entry = rank <= below ? 0 : high + 1;
        return U9_OK;
    }
    for (unsigned steps = 0; high - low > 1; steps++) { /* rank is above low's, not above high's */
        double part = (double)(rank - below) / (double)(above - below);
        if (steps >= INTERPOLATIONS) part = 0.5;
        uint64_t step = (uint64_t)(part * (double)(high - low));
        if (step >= high - low) step = high - low - 1;
        uint64_t middle = low + (step > 0 ? step : 1), at = rank_at(index, middle);
        if (at < below || at > above) return U9_CORRUPT; /* noticed */
        if (at < rank) {
            low = middle;
            below = at;
        } else {
            high = middle;
            above = at;
        }
    }
    *entry = high;
    return U9_OK;
}

/* The first entry whose key is not below `aspect`; the number of entries if all are. */
static u9_err seek_entry(const u9_index *index, const u9_value *aspect, uint64_t *entry)
{
    uint64_t low = 0, high = index->keys.count; /* those before low are below, from high on not */
    if (!u9i_index_keys_fit(index)) return U9_CORRUPT; /* */
    if (high > 0 && has_rank(index, aspect)) return seek_rank(index, rank_of(index, aspect), entry);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (u9i_index_side(index, middle, aspect) < 0) low = middle + 1;
        else high = middle;
    }
    *entry = low;
    return U9_OK;
}

/* The best index for a question, a complete one before another. U9_END: none. */
static u9_err choose(const u9_value *container, u9_keyspec good, u9_keyspec fair, u9_index *out)
{
    u9_walk walk = u9_walk_indexes(container);
    u9_index index;
    u9_err err;
    int best = 0;
    while ((err = u9_index_next(&walk, &index)) == U9_OK) {
        int worth = index.keyspec == good ? 4 : index.keyspec == fair ? 2 : 0;
        if (worth > 0) worth += index.complete;
        if (worth <= best) continue;
        best = worth;
        *out = index;
    }
    return err == U9_END && best > 0 ? U9_OK : err;
}

/* The next element and what of it is compared. U9_CORRUPT where it has nothing that the index is
 * of. */
static u9_err next_subject(const u9_index *index, u9_walk *walk, u9_value *element, u9_value *subject)
{
    u9_err err = u9_walk_next(walk, element);
    if (err) return err;
    return u9i_index_subject(index->keyspec, element, subject) ? U9_OK : U9_CORRUPT;
}

static void aspect_of(const u9_find *f, const u9_value *subject, u9_value *out)
{
    u9i_index_aspect(f->index.keyspec, (unsigned)f->index.keys.stride, 0, subject, out);
}

/* Aims at the first element that can match. */
static u9_err aim(u9_find *f)
{
    if (!u9i_index_keys_fit(&f->index)) return U9_CORRUPT; /* */
    aspect_of(f, &f->sought, &f->aspect);
    u9_err err = seek_entry(&f->index, &f->aspect, &f->entry);
    if (err || f->index.complete || f->entry == 0) return err;
    err = u9i_index_follow(&f->container, &f->index, f->entry - 1, &f->walk);
    if (err) return err;
    u9_walk ahead = f->walk;
    u9_value element, subject, aspect;
    err = next_subject(&f->index, &ahead, &element, &subject);
    if (err) return broken(err);
    aspect_of(f, &subject, &aspect);
    return u9i_index_side(&f->index, f->entry - 1, &aspect) == 0 ? U9_OK : U9_CORRUPT; /* */
}

u9_err u9_find_begin(u9_find *find, const u9_value *container, u9_by by, const u9_value *sought)
{
    if (!is_container(container) || (by != U9_BY_ELEMENT && by != U9_BY_KEY)) return U9_ARG;
    u9_keyspec good = by == U9_BY_KEY ? U9_KEYSPEC_K : U9_KEYSPEC_H;
    u9_keyspec fair = by == U9_BY_KEY ? U9_KEYSPEC_KH : U9_KEYSPEC_H;
    u9_find f = {.container = u9_value_bare(container), .sought = *sought, .how = LINEAR};
    f.walk = u9_walk_elements(&f.container);
    u9_err err = choose(container, good, fair, &f.index);
    if (err == U9_OK) {
        f.how = f.index.complete ? ENTRIES : SORTED;
        err = aim(&f);
    } else if (err == U9_END) {
        f.index.keyspec = good; /* what of each element is compared */
        err = U9_OK;
    }
    if (err == U9_OK) *find = f;
    return err;
}

/* By a complete index: the entries with the aspect sought, one after the other. */
static u9_err next_entry(u9_find *f, u9_value *out)
{
    for (;; f->entry++) {
        if (f->entry == f->index.keys.count) return U9_END;
        int side = u9i_index_side(&f->index, f->entry, &f->aspect);
        if (side != 0) return side > 0 ? U9_END : U9_CORRUPT;
        u9_value element, subject, aspect;
        u9_err err = u9i_index_follow(&f->container, &f->index, f->entry, &f->walk);
        if (err) return err;
        if (f->last && f->walk.next <= f->last) return U9_CORRUPT; /* none is found twice */
        f->last = f->walk.next;
        err = next_subject(&f->index, &f->walk, &element, &subject);
        if (err) return broken(err);
        if (u9_value_compare(&subject, &f->sought) == 0) {
            f->entry++;
            *out = element;
            return U9_OK;
        }
        aspect_of(f, &subject, &aspect); /* is only the hash the same? */
        if (u9_value_compare(&aspect, &f->aspect) != 0) return U9_CORRUPT;
    }
}

/* By an incomplete index: the elements in its order, up to the first whose aspect is above.
 * [X-5] */
static u9_err next_sorted(u9_find *f, u9_value *out)
{
    for (;;) {
        u9_value element, subject, aspect;
        u9_err err = next_subject(&f->index, &f->walk, &element, &subject);
        if (err) return err == U9_END ? err : broken(err);
        aspect_of(f, &subject, &aspect);
        int side = u9_value_compare(&aspect, &f->aspect);
        if (side > 0) return U9_END;
        if (side < 0 && f->last) return U9_CORRUPT; /* behind one that was not below */
        if (side < 0) continue;
        f->last = f->walk.next;
        bool hashed = f->index.keyspec != U9_KEYSPEC_K;
        if (hashed && u9_value_compare(&subject, &f->sought) != 0) continue;
        *out = element;
        return U9_OK;
    }
}

static u9_err next_of_all(u9_find *f, u9_value *out)
{
    for (;;) {
        u9_value element, subject;
        u9_err err = u9_walk_next(&f->walk, &element);
        if (err) return err == U9_END ? err : broken(err);
        if (!u9i_index_subject(f->index.keyspec, &element, &subject)) continue;
        if (u9_value_compare(&subject, &f->sought) != 0) continue;
        *out = element;
        return U9_OK;
    }
}

u9_err u9_find_next(u9_find *find, u9_value *element)
{
    if (find->over != U9_OK) return find->over;
    find->over = find->how == ENTRIES  ? next_entry(find, element)
                 : find->how == SORTED ? next_sorted(find, element)
                                       : next_of_all(find, element);
    return find->over;
}

u9_err u9_value_by_key(const u9_value *container, const u9_value *key, u9_value *element)
{
    u9_find find;
    u9_err err = u9_find_begin(&find, container, U9_BY_KEY, key);
    if (err == U9_OK) err = u9_find_next(&find, element);
    return err == U9_END ? U9_ABSENT : err;
}

/* Leads the walk to the nearest entry that is not above position k; how far from there it is. */
static u9_err jump(const u9_value *bare, const u9_index *index, uint64_t k, u9_walk *walk,
                   uint64_t *steps)
{
    u9_value position = {.type = U9_UINT, .u = k};
    uint64_t entry;
    u9_err err = seek_entry(index, &position, &entry);
    if (err) return err;
    if (entry == index->keys.count || u9i_index_side(index, entry, &position) != 0) {
        if (index->complete) return U9_CORRUPT; /* */
        if (entry == 0) return U9_OK;
        entry--;
    }
    err = u9i_index_follow(bare, index, entry, walk);
    if (err == U9_OK) *steps = k - u9i_index_key(index, entry).u;
    return err;
}

/* Value k of those that stand back to back in `left` bytes at p. U9_END: there are not so many. */
static u9_err walk_to(const uint8_t *p, size_t left, uint64_t k, u9_value *out)
{
    size_t step;
    for (; left > 0 && k > 0; k--) {
        u9_err err = u9i_skip(p, left, &step);
        if (err) return err;
        p += step;
        left -= step;
    }
    return left > 0 ? u9i_look(p, left, out) : U9_END;
}

/* Element k of a tuple with indexes in front: by the best index `i` among them, else by a walk. */
static u9_err at_by_index(const u9_value *container, uint64_t k, u9_value *out)
{
    u9_value bare = u9_value_bare(container);
    u9_walk walk = u9_walk_elements(&bare);
    u9_index index;
    u9_err chosen = choose(container, U9_KEYSPEC_I, U9_KEYSPEC_I, &index);
    if (chosen != U9_OK && chosen != U9_END) return chosen;
    u9_err err = chosen == U9_OK ? jump(&bare, &index, k, &walk, &k) : U9_OK;
    if (err) return err;
    err = walk_to(walk.next, walk.left, k, out);
    return err && chosen == U9_OK ? broken(err) : err;
}

u9_err u9_value_at(const u9_value *container, uint64_t k, u9_value *out)
{
    if (container->type != U9_TUPLE && container->type != U9_ARRAY) return U9_ARG;
    if (k >= container->count) return U9_END;
    if (container->type == U9_ARRAY) {
        unsigned packed = u9i_packed_size(*container->typecode);
        if (packed > 0) {
            u9i_look_packed(*container->typecode, container->data + k * packed, out);
            return U9_OK;
        }
        u9i_typecode t = u9i_typecode_of(container->typecode);
        u9i_element(&t, container->data + k * t.stride, out);
        return U9_OK;
    }
    if (u9i_is_index(container->code)) return at_by_index(container, k, out); /* */
    return walk_to(container->data, (size_t)container->size, k, out);
}
