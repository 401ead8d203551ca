/*
 * format/base/cpu.c: see cpu.h. GCC's __builtin_cpu_supports would do, but it does not know the SHA
 * instructions before version 14, and asks for a constructor.
 */
#include "format/base/cpu.h"

#if U9I_X86

#include <cpuid.h>
#include <stdatomic.h>

enum { ASKED = 1, HAS_SHA = 2, HAS_AVX2 = 4 };

/* The system saves the upper halves of the vector registers: bits 1 and 2 of XCR0. */
static bool keeps_vectors(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

static unsigned ask_processor(void)
{
    unsigned eax, ebx, ecx, edx, has = ASKED;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return has;
    bool sse41 = ecx & bit_SSE4_1;
    bool vectors = (ecx & bit_OSXSAVE) && (ecx & bit_AVX) && keeps_vectors();
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return has;
    if (sse41 && (ebx & bit_SHA)) has |= HAS_SHA;
    if (vectors && (ebx & bit_AVX2)) has |= HAS_AVX2;
    return has;
}

static bool processor_has(unsigned what)
{
    static atomic_uint known; /* a race asks twice */
    unsigned has = atomic_load_explicit(&known, memory_order_relaxed);
    if (has == 0) {
        has = ask_processor();
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return has & what;
}

bool u9i_cpu_has_sha(void)
{
    return processor_has(HAS_SHA);
}

bool u9i_cpu_has_avx2(void)
{
    return processor_has(HAS_AVX2);
}

#else

bool u9i_cpu_has_sha(void)
{
    return false;
}

bool u9i_cpu_has_avx2(void)
{
    return false;
}

#endif
