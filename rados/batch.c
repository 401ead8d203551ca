/*
 * rados/batch.c: requests to many objects at once, and waiting for all of them.
 */
#include "rados/rados.h"

#include <assert.h>

rados_completion_t u9r_batch_next(u9r_batch *b)
{
    assert(b->count <= U9R_BATCH);
    if (b->count == U9R_BATCH || rados_aio_create_completion2(NULL, NULL, &b->done[b->count]) != 0) return NULL;
    return b->done[b->count++];
}

void u9r_batch_wait(u9r_batch *b, int *results)
{
    for (unsigned i = 0; i < b->count; i++) {
        rados_aio_wait_for_complete(b->done[i]);
        if (results) results[i] = rados_aio_get_return_value(b->done[i]);
        rados_aio_release(b->done[i]);
    }
    b->count = 0;
}
