/*
 * tests/engine/os/pages.c: the engine's large pages, used again.
 *
 * A handle maps windows of tens of megabytes and touches a few pages of them; tests open hundreds of
 * thousands of handles, and half of what the longest suites took was the kernel's work to map, fault in and
 * unmap these. The linker puts these two functions in front of the engine's (Makefile: --wrap): they keep
 * what is given back, wipe what was touched at its front, have the kernel take back what was touched behind
 * that, and hand it out again, zeroed as process pages are; not where a test has allocations fail. A build with a sanitizer does without, so that
 * there a use after the end still faults.
 */
#include "tests/engine/scarce.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SLOTS = 16, STRETCH = 128 /* pages */ };

/* The engine's own. Weak: not there where nothing is wrapped. */
__attribute__((weak)) void *__real_u9i_pages(size_t size);
__attribute__((weak)) void __real_u9i_pages_free(void *pages, size_t size);
void *__wrap_u9i_pages(size_t size);
void __wrap_u9i_pages_free(void *pages, size_t size);

static struct {
    void *pages;
    size_t size;
} kept[SLOTS];

/* Whoever finds it taken does without: a thread beside, or a child that was forked meanwhile. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

void *__wrap_u9i_pages(size_t size)
{
    void *found = NULL;
    if (!scarce_is(SCARCE_MEMORY) && !atomic_flag_test_and_set(&busy)) {
        for (int i = 0; i < SLOTS && found == NULL; i++)
            if (kept[i].pages && kept[i].size == size) {
                found = kept[i].pages;
                kept[i].pages = NULL;
            }
        atomic_flag_clear(&busy);
    }
    return found ? found : __real_u9i_pages(size);
}

/* By stretches, as long as the last page of one was touched. False: what was touched cannot be told. */
static bool wipe(char *pages, size_t size)
{
    unsigned char resident[STRETCH] = {1};
    size_t at = 0, count = 1;
    for (; at < size && (resident[count - 1] & 1); at += count * PAGE) {
        size_t left = (size - at + PAGE - 1) / PAGE;
        count = left < STRETCH ? left : STRETCH;
        if (mincore(pages + at, count * PAGE, resident) != 0) return false;
        for (size_t i = 0; i < count; i++)
            if (resident[i] & 1) memset(pages + at + i * PAGE, 0, PAGE);
    }
    return at >= size || madvise(pages + at, size - at, MADV_DONTNEED) == 0;
}

void __wrap_u9i_pages_free(void *pages, size_t size)
{
    if (pages && wipe(pages, size) && !atomic_flag_test_and_set(&busy)) {
        for (int i = 0; i < SLOTS && pages; i++)
            if (kept[i].pages == NULL) {
                kept[i].pages = pages;
                kept[i].size = size;
                pages = NULL;
            }
        atomic_flag_clear(&busy);
    }
    __real_u9i_pages_free(pages, size);
}
