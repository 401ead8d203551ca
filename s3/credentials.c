/*
 * s3/credentials.c: keys, region and endpoint, from the environment and a file. [TR-8]
 *
 * They are read for each call anew, so that what is renewed while a process runs counts; they stand on the stack of the
 * call and are overwritten there; and no message has them.
 */
#include "s3/s3.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8192 };

void u9s_credentials_wipe(u9s_credentials *c)
{
    explicit_bzero(c, sizeof *c);
}

static bool take(const char *value, char *out, size_t size)
{
    if (value == NULL || value[0] == 0 || strlen(value) >= size) return false;
    memcpy(out, value, strlen(value) + 1);
    return true;
}

static bool take_env(const char *name, char *out, size_t size)
{
    return take(getenv(name), out, size);
}

/* Cuts blanks off both ends of a line, in place. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) text[--n] = 0;
    return text;
}

static void take_line(u9s_credentials *c, char *line)
{
    char *is = strchr(line, '=');
    if (is == NULL) return;
    *is = 0;
    const char *name = trim(line), *value = trim(is + 1);
    if (strcmp(name, "aws_access_key_id") == 0) (void)take(value, c->key, sizeof c->key);
    else if (strcmp(name, "aws_secret_access_key") == 0) (void)take(value, c->secret, sizeof c->secret);
    else if (strcmp(name, "aws_session_token") == 0) (void)take(value, c->token, sizeof c->token);
    else if (strcmp(name, "region") == 0 && c->region[0] == 0) (void)take(value, c->region, sizeof c->region);
    else if (strcmp(name, "endpoint_url") == 0 && c->endpoint[0] == 0) (void)take(value, c->endpoint, sizeof c->endpoint);
}

static void read_section(FILE *file, const char *profile, u9s_credentials *c)
{
    char line[LINE], section[256];
    bool in = false;
    snprintf(section, sizeof section, "[%.250s]", profile);
    while (fgets(line, sizeof line, file)) {
        char *text = trim(line);
        if (text[0] == '[') in = strcmp(text, section) == 0;
        else if (in && text[0] != '#' && text[0] != ';') take_line(c, text);
    }
    explicit_bzero(line, sizeof line);
}

static void read_credentials(u9s_credentials *c)
{
    char path[4200];
    const char *home = getenv("HOME"), *named = getenv("AWS_SHARED_CREDENTIALS_FILE"), *profile = getenv("AWS_PROFILE");
    if (named && named[0]) snprintf(path, sizeof path, "%s", named);
    else if (home) snprintf(path, sizeof path, "%s/.aws/credentials", home);
    else return;
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    setvbuf(file, NULL, _IONBF, 0); /* what it holds stands in no buffer that is freed as it is */
    read_section(file, profile && profile[0] ? profile : "default", c);
    fclose(file);
}

int u9s_credentials_get(u9s_credentials *c)
{
    memset(c, 0, sizeof *c);
    if (!take_env("AWS_ENDPOINT_URL_S3", c->endpoint, sizeof c->endpoint))
        (void)take_env("AWS_ENDPOINT_URL", c->endpoint, sizeof c->endpoint);
    if (!take_env("AWS_REGION", c->region, sizeof c->region))
        (void)take_env("AWS_DEFAULT_REGION", c->region, sizeof c->region);
    bool keys = take_env("AWS_ACCESS_KEY_ID", c->key, sizeof c->key) &&
                take_env("AWS_SECRET_ACCESS_KEY", c->secret, sizeof c->secret);
    if (keys) (void)take_env("AWS_SESSION_TOKEN", c->token, sizeof c->token);
    else c->key[0] = 0, read_credentials(c); /* both of one place */
    if (c->region[0] == 0) memcpy(c->region, "us-east-1", sizeof "us-east-1");
    size_t n = strlen(c->endpoint);
    while (n > 0 && c->endpoint[n - 1] == '/') c->endpoint[--n] = 0;
    if (c->key[0] && c->secret[0]) return 0;
    u9s_credentials_wipe(c);
    return -EACCES;
}
