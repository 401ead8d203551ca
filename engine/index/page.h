/*
 * engine/index/page.h: a page of an index that was proven: entries whose keys ascend, and where those of a key are. [C-7]
 *
 * Its directory tells, for the upper bits of a key less the first one, where those with such bits begin: some eight of
 * them, if keys are spread evenly. Entries stand in memory, or are read, the few that are wanted: what is read then is
 * not proven any more, and never believed to be more than a place to look at.
 *
 * Threads: any. A page never changes.
 */
#ifndef U9I_PAGE_H
#define U9I_PAGE_H

#include "engine/index/keys.h"
#include "engine/os/env.h"

typedef struct u9i_page {
    const uint8_t *keys, *places; /* as in C-7; NULL: they are read, from */
    uint64_t keys_at, places_at;  /*   these offsets in the file */
    uint64_t first, span;         /* upper half of the first key; of the last one less that */
    uint32_t count;
    unsigned width;               /* bytes of a key */
    unsigned shift;               /* bits of a key less the first that do not count */
    uint8_t *own;                 /* memory that keys and places stand in, or NULL */
    bool lent;                    /* it is not kept: who has opened it frees it */
    struct u9i_fences *fences;    /* of form 1: it is searched by these; else NULL */
    uint32_t groups;              /* (span >> shift) + 1; 0: there is no directory */
    uint32_t directory[];         /* groups + 1 elements; the last one is `count` */
} u9i_page;

/* A page of so many entries, not 0, in memory, and how large its directory would be; of that nothing is there yet. */
u9i_page u9i_page_plan(const uint8_t *keys, const uint8_t *places, uint32_t count, unsigned width);
size_t u9i_page_directory_bytes(const u9i_page *plan); /* 0 without groups */

/* The page, with its directory if it has groups. NULL: there is no memory. */
u9i_page *u9i_page_make(const u9i_page *plan);
void u9i_page_free(u9i_page *page); /* NULL is fine */

/* Entry i of such arrays. */
u9i_key_entry u9i_page_entry(const uint8_t *keys, const uint8_t *places, unsigned width, size_t i);

/*
 * By (key, place): whether its first entry stands before `e`; and the last one that does. `file` is asked
 * where entries are read. U9_CORRUPT: none does, or what was read is not what was proven; U9_IO.
 */
U9_MUST_CHECK u9_err u9i_page_begins_before(const u9i_page *page, u9i_file *file, const u9i_key_entry *e, bool *out);
U9_MUST_CHECK u9_err u9i_page_last_before(const u9i_page *page, u9i_file *file, const u9i_key_entry *e, u9i_key_entry *out);

/* Reads bytes that are there. U9_CORRUPT: not all of them; U9_IO. */
U9_MUST_CHECK u9_err u9i_page_read(u9i_file *file, uint64_t at, uint8_t *out, size_t size);

#endif
