/*
 * u9/guard.h: what lets a process read segments of its logs as mapped files, without a system call and without a copy
 * (SPEC.md, R-16): those that are sealed, and those that are closed, up to where they were.
 *
 * Where a mapped page cannot be had, for the disk fails or the file was cut meanwhile, the kernel sends a SIGBUS, which
 * ends a process that is not prepared. The guard is: it lays a page of zeros over the place, and the reader that was
 * there notices, and tells an error. Without it nothing is mapped, and every read is a call. The tools of u9 have it on.
 */
#ifndef U9_GUARD_H
#define U9_GUARD_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Installs the guard, a handler of SIGBUS, for the whole process and for good; called again, it does nothing. Segments
 * that are opened from then on may be mapped. A SIGBUS that is not about a page of this library's mappings goes to
 * what was there before: a handler is called as it would have been, the default ends the process.
 *
 * The host goes on to own the signal: who installs another handler later passes on to this one what is not his (as
 * sigaction told him); in any case nothing more is mapped from then on, but what is mapped stays so. SIGBUS must not
 * be blocked in a thread that reads, for then the kernel ends the process. A record that a cursor shows may stand in
 * a mapping: if its bytes cannot be read any more while the host looks at them, it sees zeros, and the next call on the
 * cursor tells U9_IO (EIO, the file and the offset); a system call that is given such bytes (write) fails with EFAULT.
 *
 * U9_OK; U9_IO: there is no such signal to be had (errno). Thread-safe. The handler itself takes no lock and no
 * memory, keeps errno, and calls only mmap. A forked child has the guard as well.
 */
U9_API u9_err u9_guard_install(void);

#ifdef __cplusplus
}
#endif
#endif
