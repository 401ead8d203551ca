/*
 * engine/read/part_row.c: see part_row.h. [C-6]
 */
#include "engine/read/part_row.h"

#include <assert.h>
#include <string.h>

void u9i_part_row_check(const u9i_part_row *p)
{
    assert(!p->open || p->bytes != NULL);
    assert(!p->open || (p->next > 0 && p->at >= p->first && p->first >= U9I_DISK_HEADER_SIZE));
    assert(!p->whole || p->open || p->seen == p->total);
}

void u9i_part_row_reset(u9i_part_row *p)
{
    *p = (u9i_part_row){.bytes = p->bytes};
}

/* False: the part begins a row, its own or one whose beginning is not there. */
static bool goes_on(const u9i_part_row *p, const u9i_part_record *part)
{
    return p->open && part->number >= p->next && part->total == p->total;
}

static void copy_part(u9i_part_row *p, const u9i_part_record *part)
{
    if (p->seen >= U9I_BODY_MAX) return;
    size_t room = (size_t)(U9I_BODY_MAX - p->seen), n = part->bytes.size < room ? part->bytes.size : room;
    if (n > 0) memcpy(p->bytes + p->seen, part->bytes.data, n);
}

void u9i_part_row_take(u9i_part_row *p, const u9i_frame *f, const u9i_part_record *part)
{
    if (!goes_on(p, part))
        *p = (u9i_part_row){.open = true, .whole = true, .total = part->total, .first = f->offset, .bytes = p->bytes};
    if (p->whole && (part->number != p->next || part->before != p->at)) {
        p->whole = false;
        p->missing = part->number > 0 ? part->number - 1 : 0;
        p->missing_at = part->before;
    }
    if (p->whole) copy_part(p, part);
    p->seen += part->bytes.size;
    p->next = (uint64_t)part->number + 1;
    p->at = f->offset;
    u9i_part_row_check(p);
}

bool u9i_part_row_close(u9i_part_row *p)
{
    assert(p->open);
    if (p->whole && p->seen != p->total) { /* the last part itself is too short or too long */
        p->whole = false;
        p->missing = p->next - 1;
        p->missing_at = p->at;
    }
    p->open = false;
    u9i_part_row_check(p);
    return p->whole;
}
