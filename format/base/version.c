/*
 * format/base/version.c: see u9/version.h.
 */
#include <u9/version.h>

const char *u9_version(void)
{
    return U9_VERSION_TEXT;
}
