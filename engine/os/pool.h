/*
 * engine/os/pool.h: the executor of the envs on the system: threads that all logs of the process share.
 */
#ifndef U9I_POOL_H
#define U9I_POOL_H

#include "engine/os/env.h"

extern const u9i_executor u9i_pool_executor;

/*
 * Each open dir has a part in the pool. The last release waits until no thread is left; it must not be called
 * from a task. A forked child gives back only what it took itself: see u9i_fork_generation.
 */
void u9i_pool_acquire(void);
void u9i_pool_release(void);

#endif
