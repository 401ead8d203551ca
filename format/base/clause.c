/*
 * format/base/clause.c: names, rules and sentences of the clauses of u9/clause.h. Pure; thread-safe. [M-11] [K-5]
 */
#include <u9/clause.h>

#include <stdbool.h>
#include <stddef.h>

static const struct {
    const char *name, *rule, *text;
} clauses[] = {
    [U9_CLAUSE_NONE] = {"none", "", "nothing is wrong"},

    [U9_CLAUSE_SLOT_READ] = {"slot.read", "M-3", "the slot cannot be read from the disk"},
    [U9_CLAUSE_SLOT_HEADER] = {"slot.header", "H-4", "the slot's disk header is damaged"},
    [U9_CLAUSE_SLOT_BOUNDARY] = {"slot.boundary", "F-6", "no boundary stands behind the slot's disk header"},
    [U9_CLAUSE_SLOT_MAGIC] = {"slot.magic", "F-6", "the magic bytes of the slot's frame are wrong"},
    [U9_CLAUSE_SLOT_LENGTH] = {"slot.length", "F-6", "the slot's frame is longer than the slot"},
    [U9_CLAUSE_SLOT_OVERLAP] = {"slot.overlap", "F-6", "another boundary stands in the slot's frame"},
    [U9_CLAUSE_SLOT_SIGNATURE] = {"slot.signature", "F-6", "the signature of the slot's frame does not fit its hash"},
    [U9_CLAUSE_SLOT_TRAILER] = {"slot.trailer", "F-6", "the trailer of the slot's frame is damaged"},
    [U9_CLAUSE_SLOT_HASH] = {"slot.hash", "F-6", "the payload of the slot's frame does not have its hash"},
    [U9_CLAUSE_SLOT_CHAIN] = {"slot.chain", "M-2", "the slot's frame does not follow its disk header"},
    [U9_CLAUSE_SLOT_COUNT] = {"slot.count", "M-2", "the slot's frame says that it holds records"},
    [U9_CLAUSE_SLOT_KIND] = {"slot.kind", "M-2", "the slot's frame holds no plain mark"},
    [U9_CLAUSE_SLOT_FORM] = {"slot.form", "C-8", "the slot's mark is not as one is written"},
    [U9_CLAUSE_SLOT_END] = {"slot.end", "M-2", "the mark names an end that no frame can have"},
    [U9_CLAUSE_SLOT_SECRET] = {"slot.secret", "M-2", "the mark's secret does not make its boundary"},

    [U9_CLAUSE_PAGE_PLACE] = {"page.place", "K-1", "no frame stands where a page of the index must begin"},
    [U9_CLAUSE_PAGE_KIND] = {"page.kind", "K-1", "something else stands where a page of the index must be"},
    [U9_CLAUSE_PAGE_FORM] = {"page.form", "C-7", "a page of the index is not as one is written"},
    [U9_CLAUSE_PAGE_ROOT] = {"page.root", "K-2", "a root stands where a page of the index must be"},
    [U9_CLAUSE_PAGE_EMPTY] = {"page.empty", "C-9", "a page of the index is empty"},
    [U9_CLAUSE_PAGE_KEYSPEC] = {"page.keyspec", "C-9", "a page of the index has keys of another kind than its root"},
    [U9_CLAUSE_PAGE_ORDER] = {"page.order", "C-9", "the entries of a page of the index do not ascend"},
    [U9_CLAUSE_PAGE_NOWHERE] = {"page.nowhere", "C-9", "an entry of the index leads to no place that there can be"},
    [U9_CLAUSE_PAGE_FRAMES] = {"page.frames", "C-9", "entries of the index for frames lead to one twice, or backwards"},
    [U9_CLAUSE_PAGE_FIRST] = {"page.first", "C-9", "a page of the index does not begin with the key that its root says"},
    [U9_CLAUSE_PAGE_ABOVE] = {"page.above", "C-9", "a page of the index ends above the next one's first key, or the greatest"},
    [U9_CLAUSE_PAGE_ENTRIES] = {"page.entries", "C-9", "the pages of the index have not as many entries as its root says"},

    [U9_CLAUSE_ROOT_NONE] = {"root.none", "C-9", "a page without a root's elements stands where a root of the index must be"},
    [U9_CLAUSE_ROOT_EMPTY] = {"root.empty", "C-9", "a root of the index has no pages"},
    [U9_CLAUSE_ROOT_TWICE] = {"root.twice", "K-1", "the index has two roots of one form, or a third one"},
    [U9_CLAUSE_ROOT_HASHED] = {"root.hashed", "K-2", "a root that leads to frames has hashed keys"},
    [U9_CLAUSE_ROOT_FILTERED] = {"root.filtered", "K-2", "a root that leads to frames has a filter"},
    [U9_CLAUSE_ROOT_END] = {"root.end", "K-1", "the index is of another end of the data"},
    [U9_CLAUSE_ROOT_ENTRIES] = {"root.entries", "C-9", "a root of the index has more pages than entries"},
    [U9_CLAUSE_ROOT_KEYSPEC] = {"root.keyspec", "K-1", "the roots of the index are of different keys"},
    [U9_CLAUSE_ROOT_RECORDS] = {"root.records", "K-1", "the roots of the index are of different numbers of records"},
    [U9_CLAUSE_ROOT_ORDER] = {"root.order", "C-9", "the keys of a root of the index do not ascend"},
    [U9_CLAUSE_ROOT_LAST] = {"root.last", "C-9", "the last page of the index begins above its greatest key"},
    [U9_CLAUSE_ROOT_SLICES] = {"root.slices", "C-10", "the filter is none for so many entries"},
    [U9_CLAUSE_ROOT_LOST] = {"root.lost", "C-9", "the ranges of what was lost do not ascend, or are too many"},

    [U9_CLAUSE_FILTER_PLACE] = {"filter.place", "C-10", "no frame stands where a slice of the filter must begin"},
    [U9_CLAUSE_FILTER_KIND] = {"filter.kind", "C-10", "something else stands where a slice of the filter must be"},
    [U9_CLAUSE_FILTER_FORM] = {"filter.form", "C-10", "a slice of the filter is not as one is written"},
    [U9_CLAUSE_FILTER_SIZE] = {"filter.size", "C-10", "a slice of the filter has another size than its place in the row asks"},
};

/* True for a number that some clause has. */
static bool is_clause(u9_clause clause)
{
    return (unsigned)clause < sizeof clauses / sizeof clauses[0] && clauses[clause].name;
}

const char *u9_clause_name(u9_clause clause)
{
    return is_clause(clause) ? clauses[clause].name : "?";
}

const char *u9_clause_text(u9_clause clause)
{
    return is_clause(clause) ? clauses[clause].text : "?";
}

const char *u9_clause_rule(u9_clause clause)
{
    return is_clause(clause) ? clauses[clause].rule : "";
}
