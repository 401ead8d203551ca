/*
 * u9/clause.h: which clause refuses a slot of a log's mark, or a page of an index: what is told of them beside a reason
 * (u9/check.h) or a number of wrong entries (u9/index.h). SPEC.md, M-11 and K-5.
 *
 * Pure; any thread.
 */
#ifndef U9_CLAUSE_H
#define U9_CLAUSE_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first that does not hold, in this order. Numbers are pinned, and so are the names: "slot.header". */
typedef enum u9_clause {
    U9_CLAUSE_NONE = 0,

    /* A slot of the mark */
    U9_CLAUSE_SLOT_READ = 1,      /* its bytes cannot be read */
    U9_CLAUSE_SLOT_HEADER = 2,    /* disk header */
    U9_CLAUSE_SLOT_BOUNDARY = 3,  /* the clauses of a frame, in the order of u9_reason */
    U9_CLAUSE_SLOT_MAGIC = 4,
    U9_CLAUSE_SLOT_LENGTH = 5,
    U9_CLAUSE_SLOT_OVERLAP = 6,
    U9_CLAUSE_SLOT_SIGNATURE = 7,
    U9_CLAUSE_SLOT_TRAILER = 8,
    U9_CLAUSE_SLOT_HASH = 9,
    U9_CLAUSE_SLOT_CHAIN = 10,    /* not that of a first frame */
    U9_CLAUSE_SLOT_COUNT = 11,    /* a frame of records */
    U9_CLAUSE_SLOT_KIND = 12,     /* it holds something else, or a wrapping */
    U9_CLAUSE_SLOT_FORM = 13,     /* not as a u9mark is written */
    U9_CLAUSE_SLOT_END = 14,      /* an end that no frame can have */
    U9_CLAUSE_SLOT_SECRET = 15,   /* one that does not make its boundary */

    /* A page of an index, roots among them */
    U9_CLAUSE_PAGE_PLACE = 32,    /* no valid frame where it must begin */
    U9_CLAUSE_PAGE_KIND = 33,     /* that holds something else */
    U9_CLAUSE_PAGE_FORM = 34,     /* not as a u9page is written */
    U9_CLAUSE_PAGE_ROOT = 35,     /* a root where a page must be */
    U9_CLAUSE_PAGE_EMPTY = 36,
    U9_CLAUSE_PAGE_KEYSPEC = 37,  /* another one than the root's */
    U9_CLAUSE_PAGE_ORDER = 38,    /* its entries do not ascend */
    U9_CLAUSE_PAGE_NOWHERE = 39,  /* an entry leads to 2^64 - 1 */
    U9_CLAUSE_PAGE_FRAMES = 40,   /* of form 1: two entries lead into one frame, or backwards */
    U9_CLAUSE_PAGE_FIRST = 41,    /* its first key is not the one that the root says */
    U9_CLAUSE_PAGE_ABOVE = 42,    /* its last key is above the next page's first, or above the index's last */
    U9_CLAUSE_PAGE_ENTRIES = 43,  /* all together have not as many entries as the root says */

    /* Its roots */
    U9_CLAUSE_ROOT_NONE = 64,     /* what stands there is a page of another kind */
    U9_CLAUSE_ROOT_EMPTY = 65,
    U9_CLAUSE_ROOT_TWICE = 66,    /* two are of one form, or there is a third */
    U9_CLAUSE_ROOT_HASHED = 67,   /* of form 1, and of hashed keys */
    U9_CLAUSE_ROOT_FILTERED = 68, /* of form 1, and with a filter */
    U9_CLAUSE_ROOT_END = 69,      /* of another data end */
    U9_CLAUSE_ROOT_ENTRIES = 70,  /* fewer entries than pages */
    U9_CLAUSE_ROOT_KEYSPEC = 71,  /* another keyspec or seed than the other root's */
    U9_CLAUSE_ROOT_RECORDS = 72,  /* another number of records */
    U9_CLAUSE_ROOT_ORDER = 73,    /* its keys do not ascend */
    U9_CLAUSE_ROOT_LAST = 74,     /* its last page begins above the greatest key */
    U9_CLAUSE_ROOT_SLICES = 75,   /* a filter of another size than that of so many entries */
    U9_CLAUSE_ROOT_LOST = 76,     /* of an index beside a segment: the ranges of what was lost are none, or too many */

    /* Slices of its filter: they are passed, and keys looked for in the pages */
    U9_CLAUSE_FILTER_PLACE = 96,  /* no valid frame where one must begin */
    U9_CLAUSE_FILTER_KIND = 97,   /* that holds something else */
    U9_CLAUSE_FILTER_FORM = 98,   /* not as a u9bits is written */
    U9_CLAUSE_FILTER_SIZE = 99    /* of another size */
} u9_clause;

U9_API const char *u9_clause_name(u9_clause clause); /* "slot.header": stable; of none "none", of no clause "?" */
U9_API const char *u9_clause_text(u9_clause clause); /* a sentence; static */
U9_API const char *u9_clause_rule(u9_clause clause); /* the rule of SPEC.md: "M-2"; of none "" */

#ifdef __cplusplus
}
#endif

#endif
