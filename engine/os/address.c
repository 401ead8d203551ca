/*
 * engine/os/address.c: see address.h.
 */
#include "engine/os/address.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_SIZE = 4096, NUMBER_MAX_SIZE = 15 };

static const char digits[] = "0123456789";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct place {
    struct place *next;
    const u9i_address_type *type;
    unsigned number; /* among those of its pool, from 1 on */
    u9i_env *env;
} *places;
static struct kept {
    struct kept *next;
    char path[];
} *paths;

/* What an address says */

typedef struct parts {
    const char *pool, *name, *options; /* options "": none */
    size_t pool_size, name_size;
    bool numbered; /* the number stands there */
    unsigned number;
} parts;

static parts part_address(const u9i_address_type *type, const char *path)
{
    parts p = {.pool = path + strlen(type->prefix), .number = 1};
    p.pool_size = strcspn(p.pool, "/?");
    const char *at = p.pool + p.pool_size;
    size_t n = *at == '?' ? strspn(at + 1, digits) : 0;
    p.numbered = n > 0 && n < 9 && (at[n + 1] == '/' || at[n + 1] == 0);
    if (p.numbered) {
        p.number = (unsigned)strtoul(at + 1, NULL, 10);
        at += n + 1;
    }
    p.name = at;
    p.name_size = strcspn(at, "?");
    p.options = at[p.name_size] ? at + p.name_size + 1 : "";
    return p;
}

/* Options */

static void *field_of(u9i_env *e, const u9i_address_option *o)
{
    return (char *)e + o->off;
}

static bool take_string(void *field, size_t size, const char *value, size_t n)
{
    if (n == 0 || n >= size) return false;
    memset(field, 0, size);
    memcpy(field, value, n);
    return true;
}

static bool take_amount(const u9i_address_option *o, void *field, const char *value, size_t n)
{
    char text[NUMBER_MAX_SIZE + 1];
    if (!take_string(text, sizeof text, value, n) || strspn(text, digits) == 0) return false;
    const char *at = text;
    uint64_t number = 0, unit = o->unit;
    for (; *at && strchr(digits, *at); at++) number = number * 10 + unit * (uint64_t)(*at - '0');
    if (*at == '.' && unit > 1)
        for (at++; *at && strchr(digits, *at); at++) number += (unit /= 10) * (uint64_t)(*at - '0');
    unsigned shift = o->kind == U9I_OPTION_SIZE ? *at == 'K' ? 10 : *at == 'M' ? 20 : *at == 'G' ? 30 : 0 : 0;
    if (at[shift > 0] != 0 || number > o->max >> shift || number << shift < o->min) return false;
    number <<= shift;
    if (o->kind == U9I_OPTION_SIZE) *(uint64_t *)field = number;
    else *(unsigned *)field = (unsigned)number;
    return true;
}

static bool take_given(u9i_env *e, const u9i_address_option *o, const char *value, size_t n)
{
    return o->kind == U9I_OPTION_TEXT ? take_string(field_of(e, o), o->size, value, n) : take_amount(o, field_of(e, o), value, n);
}

/* KEY=VALUE. Which option that was; the number of options: none of them, or not as it has to be. */
static unsigned take_option(const u9i_address_type *type, u9i_env *e, const char *text, size_t n)
{
    for (unsigned i = 0; i < type->count; i++) {
        const u9i_address_option *o = &type->options[i];
        size_t key = strcspn(o->form, "=") + 1;
        if (n >= key && memcmp(text, o->form, key) == 0) return take_given(e, o, text + key, n - key) ? i : type->count;
    }
    return type->count;
}

static bool refuse_option(const u9i_address_type *type, const char *text, size_t n, char *why, size_t size)
{
    int at = snprintf(why, size, "'%.*s' is none of ", (int)(n < 60 ? n : 60), text);
    for (unsigned i = 0; i < type->count && at < (int)size; i++)
        at += snprintf(why + at, size - (size_t)at, "%s%s", i ? ", " : "", type->options[i].form);
    return false;
}

static bool take_options(const u9i_address_type *type, u9i_env *e, const char *options, char *why, size_t size)
{
    uint32_t given = 0;
    for (const char *at = options; *at;) {
        size_t n = strcspn(at, "&");
        unsigned i = take_option(type, e, at, n);
        if (i == type->count) return refuse_option(type, at, n, why, size);
        given |= UINT32_C(1) << i;
        at += n + (at[n] == '&');
    }
    for (unsigned i = 0; i < type->count; i++) {
        const u9i_address_option *o = &type->options[i];
        const char *variable = o->variable ? getenv(o->variable) : NULL, *value = variable && *variable ? variable : o->preset;
        if (value == NULL || given >> i & 1 || take_given(e, o, value, strlen(value))) continue;
        snprintf(why, size, "%s is not as it has to be: %s", o->variable, o->form);
        return false;
    }
    return true;
}

static u9i_env *new_env(const u9i_address_type *type)
{
    u9i_env *e = calloc(1, type->size);
    if (e == NULL) return NULL;
    *e = u9i_env_posix;
    e->name = type->env.name;
    e->fs = type->env.fs;
    e->queue = type->env.queue;
    e->watch = type->env.watch;
    return e;
}

static char *pool_of(const u9i_address_type *type, u9i_env *e)
{
    return (char *)e + type->pool_off;
}

static bool take_address(const u9i_address_type *type, u9i_env *e, const parts *p, char *why, size_t size)
{
    if (!take_string(pool_of(type, e), type->pool_size, p->pool, p->pool_size) || (type->named && p->name_size == 0)) {
        snprintf(why, size, "an address is %s", type->form);
        return false;
    }
    if (p->name_size > NAME_MAX_SIZE) {
        snprintf(why, size, "an address is %s, and that has %u bytes at most behind the pool", type->form, NAME_MAX_SIZE);
        return false;
    }
    return take_options(type, e, p->options, why, size) && type->complete(e, why, size);
}

/* What is kept. The lock is held. */

static bool is_like(const u9i_address_type *type, u9i_env *a, u9i_env *b)
{
    bool like = strcmp(pool_of(type, a), pool_of(type, b)) == 0;
    for (unsigned i = 0; i < type->count && like; i++)
        like = memcmp(field_of(a, &type->options[i]), field_of(b, &type->options[i]), type->options[i].size) == 0;
    return like;
}

static struct place *find_numbered(const u9i_address_type *type, const char *pool, unsigned number)
{
    struct place *p = places;
    while (p && (p->type != type || p->number != number || strcmp(pool_of(type, p->env), pool) != 0)) p = p->next;
    return p;
}

/* The place of an env that is like `e`, or of `e` itself. */
static struct place *keep_env(const u9i_address_type *type, u9i_env *e)
{
    unsigned number = 1;
    for (struct place *p; (p = find_numbered(type, pool_of(type, e), number)) != NULL; number++)
        if (is_like(type, p->env, e)) return p;
    struct place *p = malloc(sizeof *p);
    if (p == NULL) return NULL;
    *p = (struct place){.next = places, .type = type, .number = number, .env = e};
    return places = p;
}

static const char *keep_path(const struct place *p, const parts *of)
{
    char number[16] = "";
    if (p->number > 1) snprintf(number, sizeof number, "?%u", p->number);
    size_t size = strlen(p->type->prefix) + of->pool_size + strlen(number) + of->name_size + 1;
    struct kept *k = malloc(sizeof *k + size);
    if (k == NULL) return NULL;
    snprintf(k->path, size, "%s%.*s%s%.*s", p->type->prefix, (int)of->pool_size, of->pool, number, (int)of->name_size, of->name);
    struct kept *there = paths;
    while (there && strcmp(there->path, k->path) != 0) there = there->next;
    if (there) {
        free(k);
        return there->path;
    }
    k->next = paths;
    paths = k;
    return k->path;
}

bool u9i_address_find(const u9i_address_type *type, const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    parts p = part_address(type, path);
    struct place *found = NULL;
    u9i_env *e = new_env(type);
    why[0] = 0;
    if (e == NULL || !take_address(type, e, &p, why, size)) {
        free(e);
        return false;
    }
    pthread_mutex_lock(&lock);
    if (p.options[0] == 0) found = find_numbered(type, pool_of(type, e), p.number);
    if (found == NULL && !p.numbered) found = keep_env(type, e);
    if (found == NULL || found->env != e) free(e);
    if (found == NULL && p.numbered)
        snprintf(why, size, "'?%u' in front of a name is of an address that was used before, and none was: options stand "
                            "behind the name", p.number);
    *rest = found ? keep_path(found, &p) : NULL;
    if (*rest) *env = found->env;
    pthread_mutex_unlock(&lock);
    return *rest != NULL;
}

int u9i_address_path_in(const u9i_env *env, const char *path, const char **in)
{
    pthread_mutex_lock(&lock);
    const struct place *p = places;
    while (p && p->env != env) p = p->next;
    pthread_mutex_unlock(&lock);
    *in = path;
    if (p == NULL || strncmp(path, p->type->prefix, strlen(p->type->prefix)) != 0) return 0;
    parts of = part_address(p->type, path);
    const char *pool = pool_of(p->type, p->env);
    if (of.number != p->number || of.pool_size != strlen(pool) || memcmp(of.pool, pool, of.pool_size) != 0) return -EXDEV;
    *in = of.name;
    return 0;
}
