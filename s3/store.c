/*
 * s3/store.c: what libu9-s3 offers: itself, for u9_store_add.
 */
#include "s3/s3.h"

#include <u9.h>
#include <u9/s3.h>

#include <string.h>

const u9_store_host *u9s_host;

static const u9_store store = {.prefix = "s3://", .find = u9s_find, .explain = u9s_explain};

const u9_store *u9_s3_store(const u9_store_host *host)
{
    if (strcmp(host->version, U9_VERSION_TEXT) != 0 || host->env_size != sizeof(u9i_env)) return NULL;
    if (u9s_host == NULL && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
    u9s_host = host;
    return &store;
}
