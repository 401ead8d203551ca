/*
 * rados/store.c: what libu9-rados offers: itself, for u9_store_add.
 */
#include "rados/rados.h"

#include <u9.h>
#include <u9/rados.h>

#include <string.h>

const u9_store_host *u9r_host;

static const u9_store store = {.prefix = "rados:", .find = u9r_find, .explain = u9r_explain};

const u9_store *u9_rados_store(const u9_store_host *host)
{
    if (strcmp(host->version, U9_VERSION_TEXT) != 0 || host->env_size != sizeof(u9i_env)) return NULL;
    u9r_host = host;
    return &store;
}
