/*
 * engine/log/tier_list.h: the file `.tier`: which segments of a log stand in another place, and which place that is. [TR-2]
 *
 * It stands beside the segments in both places, and is one value and the hash of it. Here it says where `there` is; there
 * it says nothing of that. It is read whole and written anew whole.
 *
 * Threads: a list belongs to one at a time.
 */
#ifndef U9I_TIER_LIST_H
#define U9I_TIER_LIST_H

#include "engine/os/env.h"
#include "engine/segment/probe.h"
#include "format/base/hash.h"
#include "format/base/limits.h"
#include "format/frame/control.h"


/* A segment that stands there. */
typedef struct u9i_tiered {
    uint64_t number;
    uint64_t size;               /* of the file */
    uint64_t first, next;        /* ordinals: of its first record, and of the one behind its last */
    uint64_t first_us, last_us;  /* when it was begun; no record of it is newer */
    uint8_t boundary[U9I_HASH_SIZE];
    uint64_t end;                /* of its data, as its successor names it, */
    uint8_t chain[U9I_HASH_SIZE]; /* and that one's chain */
    uint8_t sha[U9I_HASH_SIZE];  /* H of the whole file */
    bool damaged;                /* it was when it was copied: what is here may be mended since */
    bool lost;                   /* it is neither here nor there, as was found out; stands in no file */
    uint8_t *keys;               /* its first and its last key, as values back to back; NULL: it says none */
    size_t keys_size;
} u9i_tiered;

typedef struct u9i_tier_list {
    char *place; /* an address, or the path of a directory; "": it is this one */
    uint8_t log[16];
    char kind[U9I_KIND_MAX + 1]; /* of the keys */
    u9i_tiered *segments; /* ascending numbers */
    size_t count, room;
} u9i_tier_list;

extern const char u9i_tier_name[];

void u9i_tier_list_free(u9i_tier_list *list);

/* The list of a directory. -ENOENT: there is none; -EBADMSG: it is damaged; -ENOMEM, what reading it gave. */
int u9i_tier_list_read(u9i_dir *dir, u9i_tier_list *out);

/* The bytes that stand in the file; heap. U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_tier_list_encode(const u9i_tier_list *list, const char *place, uint8_t **out, size_t *size);
/* The reverse. U9_CORRUPT, U9_NOMEM. `out` is all zeros then. */
U9_MUST_CHECK u9_err u9i_tier_list_decode(const void *bytes, size_t size, u9i_tier_list *out);

/* The segment of this number; NULL: it is not there. */
const u9i_tiered *u9i_tier_list_find(const u9i_tier_list *list, uint64_t number);

/* True if it is of this segment, and of this line: both end alike, as far as the end is named here. [TR-4] */
bool u9i_tiered_is(const u9i_tiered *segment, const u9i_facts *facts);

/* Adds a segment, or puts it in the place of one of its number; takes `keys`, also where it fails. False: no memory. */
bool u9i_tier_list_put(u9i_tier_list *list, const u9i_tiered *segment);

/* Which of them a place has, by their names: there[i], which are false, of segments[i]. 0 or a negative errno. */
int u9i_tier_list_present(const u9i_tier_list *list, u9i_dir *place, bool *there);

/* H of all bytes of a file, of so many. 0 or a negative errno. */
int u9i_tiered_hash(u9i_file *file, uint64_t size, uint8_t out[U9I_HASH_SIZE]);

/* Whether the file of this name is what was copied, by its H. 0 or a negative errno. [TR-4] */
int u9i_tiered_compare(const u9i_tiered *segment, u9i_dir *dir, const char *name, bool *same);

#endif
