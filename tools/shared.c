/*
 * tools/shared.c: see shared.h.
 */
#include "tools/shared.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_MAX = 4096 };

/* The folder of the running tool, with its slash. False: that is not known. */
static bool own_folder(char *folder)
{
    ssize_t n = readlink("/proc/self/exe", folder, FOLDER_MAX - 1);
    folder[n > 0 ? n : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) slash[1] = 0;
    return slash != NULL;
}

/* What it needs of libu9 stands beside it, where the system need not know it: that is loaded first then. */
static void *load(const char *folder, const char *path)
{
    char libu9[FOLDER_MAX + 64];
    void *handle = dlopen(path, RTLD_NOW);
    snprintf(libu9, sizeof libu9, "%slibu9.so.0", folder);
    if (handle || access(libu9, R_OK) != 0 || dlopen(libu9, RTLD_NOW) == NULL) return handle;
    return dlopen(path, RTLD_NOW);
}

void *tool_shared(const char *library, const char **why)
{
    static const char *const from[] = {"", "../lib/"};
    char own[FOLDER_MAX], folder[FOLDER_MAX + 16], path[FOLDER_MAX + 64];
    void *handle = NULL;
    size_t i = own_folder(own) ? 0 : 2;
    for (; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s%s", own, from[i]);
        snprintf(path, sizeof path, "%s%s", folder, library);
        if (access(path, R_OK) == 0) break;
    }
    handle = i < 2 ? load(folder, path) : dlopen(library, RTLD_NOW);
    if (handle == NULL) *why = dlerror();
    return handle;
}

bool tool_shared_find(void *handle, const char *name, void *function, const char **why)
{
    void *found = dlsym(handle, name);
    if (found == NULL) *why = dlerror();
    memcpy(function, &found, sizeof found); /* ISO C has no cast for it */
    return found != NULL;
}
