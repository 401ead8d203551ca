/*
 * engine/os/guard.c: see guard.h and u9/guard.h.
 *
 * A slot of the table changes hands with an odd `turn`: so the handler never takes the begin of one mapping together
 * with the end of another. The slot that it looks for is at rest, since whoever touches a mapping holds it.
 *
 *     free (begin 0) -- watch: turn odd, then even --> watched -- leave: turn odd, then even --> free
 */
#include "engine/os/guard.h"

#include <u9/guard.h>

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS = 16384 };

static u9i_guarded table[SLOTS];
static atomic_size_t used; /* no slot at or behind this was ever taken */

static atomic_bool installed;
static uintptr_t page_size;
static struct sigaction before; /* what the handler passes on to; set before it is one */

static u9i_guarded *find_slot(uintptr_t at)
{
    size_t n = atomic_load(&used);
    for (u9i_guarded *g = table; g < table + n; g++) {
        unsigned turn = atomic_load(&g->turn);
        uintptr_t begin = atomic_load(&g->begin), end = atomic_load(&g->end);
        if (begin <= at && at < end && turn % 2 == 0 && atomic_load(&g->turn) == turn) return g;
    }
    return NULL;
}

/* The kernel's call itself where it takes the same arguments: libc's may be wrapped by what a handler must not enter. */
static bool lay_zeros(uintptr_t page)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#if defined(__x86_64__) || defined(__aarch64__)
    return syscall(SYS_mmap, page, page_size, PROT_READ, flags, -1, 0) != -1;
#else
    return mmap((void *)page, page_size, PROT_READ, flags, -1, 0) != MAP_FAILED;
#endif
}

/* Notes the page first: who sees its zeros can see that they are. */
static bool cover_page(u9i_guarded *g, uintptr_t at)
{
    uintptr_t page = at / page_size * page_size, end = page + page_size, low = atomic_load(&g->low), high = atomic_load(&g->high);
    while (page < low && !atomic_compare_exchange_weak(&g->low, &low, page)) continue;
    while (end > high && !atomic_compare_exchange_weak(&g->high, &high, end)) continue;
    return lay_zeros(page);
}

/* Not ours: as if the guard were not there. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(sig, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(sig);
    } else if (info->si_code > 0 || before.sa_handler == SIG_DFL) {
        struct sigaction plain = {
            .sa_handler = SIG_DFL}; /* nobody can ignore what a thread has done itself */
        (void)sigaction(sig, &plain, NULL);
        if (info->si_code <= 0)
            (void)raise(sig); /* it was sent: nothing sends it again on return */
    }
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
    int kept = errno;
    uintptr_t at = (uintptr_t)info->si_addr;
    u9i_guarded *g = info->si_code > 0 ? find_slot(at) : NULL; /* else a process has sent it */
    if (g == NULL || !cover_page(g, at)) pass_on(sig, info, context);
    errno = kept;
}

bool u9i_guard_ready(void)
{
    return atomic_load_explicit(&installed, memory_order_acquire);
}

static bool stands_first(void)
{
    struct sigaction now;
    return u9i_guard_ready() && sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == on_bus;
}

u9_err u9_guard_install(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    u9_err err = U9_OK;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&installed)) {
        page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
        if (sigaction(SIGBUS, NULL, &before) != 0) err = U9_IO;
        struct sigaction guard = {.sa_sigaction = on_bus,
                                  .sa_mask = before.sa_mask,
                                  .sa_flags =
                                      SA_SIGINFO | SA_ONSTACK | (before.sa_flags & SA_NODEFER)};
        if (err == U9_OK && sigaction(SIGBUS, &guard, NULL) != 0) err = U9_IO;
        atomic_store(&installed, err == U9_OK);
    }
    pthread_mutex_unlock(&lock);
    return err;
}

/* What holds of a slot that is watched. */
static void guarded_check(const u9i_guarded *g)
{
    uintptr_t begin = atomic_load(&g->begin), high = atomic_load(&g->high);
    assert(atomic_load(&g->turn) % 2 == 0 && begin != 0 && begin < atomic_load(&g->end));
    assert(high == 0 || (atomic_load(&g->low) >= begin && high > begin));
}

/* A free slot, with an odd turn; NULL: there is none. */
static u9i_guarded *take_slot(void)
{
    static atomic_size_t next;
    for (size_t tries = 0; tries < SLOTS; tries++) {
        size_t i = atomic_fetch_add(&next, 1) % SLOTS, n = atomic_load(&used);
        unsigned turn = atomic_load(&table[i].turn);
        if (turn % 2 == 1 || atomic_load(&table[i].begin) != 0) continue;
        if (!atomic_compare_exchange_strong(&table[i].turn, &turn, turn + 1)) continue;
        while (n <= i && !atomic_compare_exchange_weak(&used, &n, i + 1)) continue;
        return &table[i];
    }
    return NULL;
}

u9i_guarded *u9i_guard_watch(const void *map, size_t size)
{
    u9i_guarded *g = stands_first() ? take_slot() : NULL;
    if (g == NULL) return NULL;
    atomic_store(&g->low, UINTPTR_MAX);
    atomic_store(&g->high, 0);
    atomic_store(&g->begin, (uintptr_t)map);
    atomic_store(&g->end, (uintptr_t)map + size);
    atomic_fetch_add(&g->turn, 1);
    guarded_check(g);
    return g;
}

void u9i_guard_leave(u9i_guarded *g)
{
    guarded_check(g);
    atomic_fetch_add(&g->turn, 1);
    atomic_store(&g->begin, 0);
    atomic_store(&g->end, 0);
    atomic_fetch_add(&g->turn, 1);
}

bool u9i_guard_broken_in(const u9i_guarded *g, size_t from, size_t to, size_t *at)
{
    if (!u9i_guard_broken(g)) return false;
    uintptr_t begin = atomic_load(&g->begin), low = atomic_load(&g->low),
              high = atomic_load(&g->high);
    if (low >= begin + to || high <= begin + from) return false;
    *at = low > begin + from ? (size_t)(low - begin) : from;
    return true;
}
