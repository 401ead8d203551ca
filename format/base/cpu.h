/*
 * format/base/cpu.h: what this processor can that not every one of its kind can.
 *
 * U9I_X86 is 1 where code for 64-bit x86 is compiled at all; U9I_PORTABLE leaves it out.
 */
#ifndef U9I_CPU_H
#define U9I_CPU_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(U9I_PORTABLE)
#define U9I_X86 1
#else
#define U9I_X86 0
#endif

/* Asked once, then remembered; from any thread. Both are false where U9I_X86 is 0. */
bool u9i_cpu_has_sha(void);  /* the SHA instructions, and SSE 4.1 */
bool u9i_cpu_has_avx2(void); /* and the system keeps its registers */

#endif
