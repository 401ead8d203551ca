/*
 * format/value/index/index_check.c: the proof that indexes are right. to
 *
 * A complete index is right if its entries ascend strictly, by key and then by offset, if each
 * element of the container is found among them by bisection, and if there are as many entries as
 * elements: then each entry is some element's, without memory for which ones were met. An
 * incomplete one is walked along with the container, which is in the same order.
 */
#include "format/base/fault.h"
#include "format/value/index/index.h"

typedef struct proof {
    const uint8_t *base; /* that offsets of faults count from */
    u9_value container;
    u9_index index;
    u9_fault *fault;
} proof;

static u9_err refuse_index(const proof *p, const uint8_t *at, const char *rule, const char *text)
{
    return u9i_refuse(p->fault, U9_CORRUPT, (uint64_t)(at - p->base), rule, text);
}

static u9_err refuse_key(const proof *p, uint64_t entry, const char *rule, const char *text)
{
    return refuse_index(p, p->index.keys.data + entry * p->index.keys.stride, rule, text);
}

static u9_err refuse_offset(const proof *p, uint64_t entry, const char *rule, const char *text)
{
    return refuse_index(p, p->index.offsets.data + entry * p->index.offsets.stride, rule, text);
}

/* */
static u9_err prove_order(const proof *p)
{
    for (uint64_t entry = 1; entry < p->index.keys.count; entry++) {
        u9_value key = u9i_index_key(&p->index, entry);
        int side = u9i_index_side(&p->index, entry - 1, &key);
        bool behind = u9i_index_offset(&p->index, entry - 1) < u9i_index_offset(&p->index, entry);
        if (side > 0) return refuse_key(p, entry, "X-4", "a key is below the one before it");
        if (side == 0 && !behind)
            return refuse_offset(p, entry, "X-4",
                                 "entries with one key are not in the order of the elements");
        if (!p->index.complete && !behind)
            return refuse_offset(p, entry, "X-5",
                                 "an incomplete index's offset is not above the one before it");
    }
    return U9_OK;
}

/* True if a complete index has this entry. */
static bool has_entry(const proof *p, const u9_value *aspect, int64_t offset)
{
    uint64_t low = 0, high = p->index.keys.count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int side = u9i_index_side(&p->index, middle, aspect);
        int64_t at = u9i_index_offset(&p->index, middle);
        if (side == 0 && at == offset) return true;
        if (side < 0 || (side == 0 && at < offset)) low = middle + 1;
        else high = middle;
    }
    return false;
}

/* The next element, what of it is indexed, and where it begins. U9_END behind the last. */
static u9_err next_aspect(const proof *p, u9_walk *walk, uint64_t position, u9_value *aspect,
                          int64_t *offset)
{
    const uint8_t *at = walk->next;
    u9_value element, subject;
    u9_err err = u9_walk_next(walk, &element);
    if (err == U9_CORRUPT || err == U9_TORN)
        return refuse_index(p, at, "V-4", "an element is malformed");
    if (err) return err;
    if (p->container.size == 0)
        return refuse_index(p, at, "X-2", "an index of elements without bytes");
    if (!u9i_index_subject(p->index.keyspec, &element, &subject))
        return refuse_index(p, at, "X-3",
                            "an element without a key in a container that is indexed by keys");
    *offset = (int64_t)(at - p->container.data);
    u9i_index_aspect(p->index.keyspec, (unsigned)p->index.keys.stride, position, &subject, aspect);
    return U9_OK;
}

/* */
static u9_err prove_complete(const proof *p)
{
    u9_walk walk = u9_walk_elements(&p->container);
    for (uint64_t position = 0;; position++) {
        const uint8_t *at = walk.next;
        u9_value aspect;
        int64_t offset;
        u9_err err = next_aspect(p, &walk, position, &aspect, &offset);
        if (err == U9_END && position != p->index.keys.count)
            return refuse_index(p, p->index.ka.start, "X-4",
                                "a complete index has not as many entries as there are elements");
        if (err) return err == U9_END ? U9_OK : err;
        if (!has_entry(p, &aspect, offset))
            return refuse_index(p, at, "X-4",
                                "a complete index has no entry of this element's key and offset");
    }
}

/* */
static u9_err prove_incomplete(const proof *p)
{
    u9_walk walk = u9_walk_elements(&p->container);
    u9_value last, aspect;
    uint64_t entry = 0;
    for (uint64_t position = 0;; position++) {
        const uint8_t *at = walk.next;
        int64_t offset;
        u9_err err = next_aspect(p, &walk, position, &aspect, &offset);
        if (err == U9_END && entry < p->index.keys.count)
            return refuse_offset(p, entry, "X-2", "an offset does not lead to an element");
        if (err) return err == U9_END ? U9_OK : err;
        if (position > 0 && u9_value_compare(&last, &aspect) > 0)
            return refuse_index(p, at, "X-5",
                                "an element is not in the order of the incomplete index");
        last = aspect;
        if (entry < p->index.keys.count && u9i_index_offset(&p->index, entry) == offset) {
            if (u9i_index_side(&p->index, entry, &aspect) != 0)
                return refuse_key(p, entry, "X-5", "a key is not that of the element it leads to");
            entry++;
        }
        if (entry == 0)
            return refuse_index(p, at, "X-5",
                                "an incomplete index has no entry for the first element");
    }
}

u9_err u9_index_check(const u9_value *container, u9_fault *fault)
{
    if (container->type != U9_TUPLE && container->type != U9_ARRAY) return U9_ARG;
    proof p = {.base = container->start, .container = u9_value_bare(container), .fault = fault};
    u9_walk walk = u9_walk_indexes(container);
    for (;;) {
        const uint8_t *at = walk.next;
        u9_err err = u9_index_next(&walk, &p.index);
        if (err == U9_END) return U9_OK;
        if (err) return refuse_index(&p, at, "X-1", "an index that is not (ks ka ia)");
        if (p.index.keyspec == U9_KEYSPEC_OTHER) continue;
        if (!u9i_index_keys_fit(&p.index))
            return refuse_index(&p, p.index.ka.start, "X-3",
                                "keys of a type that the keyspec has not");
        err = prove_order(&p);
        if (err == U9_OK) err = p.index.complete ? prove_complete(&p) : prove_incomplete(&p);
        if (err) return err;
    }
}
