/*
 * engine/segment/mapping.c: see mapping.h.
 */
#include "engine/segment/mapping.h"

#include <assert.h>
#include <stdlib.h>

static void mapping_check(const u9i_mapping *m)
{
    assert(m->bytes != NULL && m->size > 0 && m->size <= SIZE_MAX && m->guarded != NULL);
}

u9i_mapping *u9i_mapping_new(u9i_file *file, uint64_t size, bool random)
{
    uint64_t now;
    const void *bytes = NULL;
    if (size == 0 || size > SIZE_MAX / 2 || u9i_file_size(file, &now) != 0 || now != size)
        return NULL;
    u9i_mapping *m = malloc(sizeof *m);
    if (m == NULL) return NULL;
    *m = (u9i_mapping){.env = file->env, .size = size};
    if (u9i_file_map(file, 0, (size_t)size, &bytes) == 0)
        m->guarded = u9i_guard_watch(bytes, (size_t)size);
    if (m->guarded == NULL) {
        if (bytes) u9i_unmap(m->env, bytes, (size_t)size);
        free(m);
        return NULL;
    }
    m->bytes = bytes;
    if (random) u9i_map_advise(m->env, bytes, (size_t)size, U9I_MAP_RANDOM);
    mapping_check(m);
    return m;
}

void u9i_mapping_free(u9i_mapping *m)
{
    if (m == NULL) return;
    mapping_check(m);
    u9i_guard_leave(m->guarded);
    u9i_unmap(m->env, m->bytes, (size_t)m->size);
    free(m);
}

void u9i_mapping_fetch(const u9i_mapping *m, uint64_t from, uint64_t size)
{
    if (from >= m->size) return;
    if (size > m->size - from) size = m->size - from;
    u9i_map_advise(m->env, m->bytes + from, (size_t)size, U9I_MAP_SOON);
}

void u9i_mapping_pass(const u9i_mapping *m, uint64_t from, uint64_t to)
{
    if (to > m->size) to = m->size;
    if (from < to) u9i_map_advise(m->env, m->bytes + from, (size_t)(to - from), U9I_MAP_DONE);
}
