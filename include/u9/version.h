/*
 * u9/version.h: which version of libu9 this is, for the preprocessor, and which one a program runs with.
 *
 * The three numbers are the one source of the version: the build, the packages and the tools take it from here. While
 * MAJOR is 0 the interface grows from one MINOR to the next, and what a program was built against stays: symbols have the
 * version node of the MINOR that brought them (U9_0.1), structs grow at their ends. CHANGELOG.md says what came when.
 */
#ifndef U9_VERSION_H
#define U9_VERSION_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_VERSION_MAJOR 0
#define U9_VERSION_MINOR 1
#define U9_VERSION_PATCH 0

/* One number that grows with each version: 1002003 is 1.2.3. */
#define U9_VERSION_NUMBER (U9_VERSION_MAJOR * 1000000 + U9_VERSION_MINOR * 1000 + U9_VERSION_PATCH)

#define U9_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define U9_VERSION_TEXT_FROM(major, minor, patch) U9_VERSION_TEXT_OF(major, minor, patch)
/* "0.1.0" */
#define U9_VERSION_TEXT U9_VERSION_TEXT_FROM(U9_VERSION_MAJOR, U9_VERSION_MINOR, U9_VERSION_PATCH)

/*
 * The version of the library that is there when the program runs, as U9_VERSION_TEXT is that of the header it was built
 * with: "0.1.0". Static, never NULL. Any thread.
 */
U9_API const char *u9_version(void);

#ifdef __cplusplus
}
#endif
#endif
