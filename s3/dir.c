/*
 * s3/dir.c: the calls on directories: names right below a prefix, and what they stand for. [TR-1] [TR-5]
 *
 * A listing is kept, and answers what is asked of names for two seconds; then a name is listed by itself, until that has
 * been done as often as the listing had pages. Who opens a segment goes by it however old it is: segments do not change, and
 * what is another object by then says so when it is read (file.c).
 */
#include "s3/s3.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRESH_US = 2000000, ENTRIES_MAX = 1 << 24, TOKEN = 1500 };

void u9s_forget(u9s_dir *d)
{
    pthread_mutex_lock(&d->lock);
    d->listed_us = 0;
    pthread_mutex_unlock(&d->lock);
}

int u9s_dir_key(const u9s_dir *d, const char *name, char key[U9S_KEY_MAX])
{
    int n = snprintf(key, U9S_KEY_MAX, "%s%s", d->prefix, name);
    return n < U9S_KEY_MAX && strlen(name) <= U9S_NAME_MAX ? 0 : -ENAMETOOLONG;
}

/* Listing */

/* "2026-11-23T06:03:40.000Z" */
static uint64_t time_of(const char *text)
{
    struct tm tm = {0};
    if (strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) == NULL) return 0;
    time_t at = timegm(&tm);
    return at > 0 ? (uint64_t)at * 1000000 : 0;
}

static bool take_number(const char *text, uint64_t *out)
{
    size_t n = strlen(text);
    if (n == 0 || n > 18 || strspn(text, "0123456789") < n) return false;
    *out = strtoull(text, NULL, 10);
    return true;
}

/* An object of the listing; what is not right below the prefix is passed by. */
static int add_entry(u9s_dir *d, const char *from, const char *to)
{
    char key[U9S_KEY_MAX + 1], size[32], time[40];
    u9s_entry entry = {.size = 0};
    size_t n = strlen(d->prefix);
    const char *at = from, *end;
    if (!u9s_answer_element(&at, to, "Key", &at, &end)) return -EPROTO;
    at = from;
    if (!u9s_answer_next(&at, to, "Key", key, sizeof key)) return 0;
    if (strncmp(key, d->prefix, n) != 0 || key[n] == 0 || strchr(key + n, '/') || strlen(key + n) > U9S_NAME_MAX) return 0;
    memcpy(entry.name, key + n, strlen(key + n) + 1);
    at = from;
    if (!u9s_answer_next(&at, to, "Size", size, sizeof size) || !take_number(size, &entry.size)) return -EPROTO;
    at = from;
    if (u9s_answer_next(&at, to, "LastModified", time, sizeof time)) entry.changed_us = time_of(time);
    at = from;
    if (!u9s_answer_next(&at, to, "ETag", entry.etag, sizeof entry.etag)) entry.etag[0] = 0;
    if (d->count == ENTRIES_MAX) return -EFBIG;
    if (d->count == d->room) {
        u9s_entry *more = realloc(d->entries, (d->room ? 2 * d->room : 64) * sizeof *more);
        if (more == NULL) return -ENOMEM;
        d->entries = more;
        d->room = d->room ? 2 * d->room : 64;
    }
    d->entries[d->count++] = entry;
    return 0;
}

/* Whole, and it says how it goes on, if it does: nothing is passed over because it was not listed. */
static bool is_whole_page(const char *begin, const char *end, const char *next, const char *before)
{
    static const char close[] = "</ListBucketResult>";
    char more[8] = "";
    const char *at = begin;
    if (begin == end || memmem(begin, (size_t)(end - begin), close, sizeof close - 1) == NULL) return false;
    bool goes_on = u9s_answer_next(&at, end, "IsTruncated", more, sizeof more) && strcmp(more, "true") == 0;
    return next[0] ? strcmp(next, before) != 0 : !goes_on;
}

static int add_page(u9s_dir *d, const u9s_request *r, char next[TOKEN])
{
    char before[TOKEN];
    const char *begin = r->bytes ? r->bytes : "", *end = begin + r->got, *at = begin, *from, *to;
    int err = 0;
    memcpy(before, next, TOKEN);
    while (err == 0 && u9s_answer_element(&at, end, "Contents", &from, &to)) err = add_entry(d, from, to);
    at = begin;
    if (!u9s_answer_next(&at, end, "NextContinuationToken", next, TOKEN)) next[0] = 0;
    return err ? err : is_whole_page(begin, end, next, before) ? 0 : -EPROTO;
}

static int by_entry_name(const void *a, const void *b)
{
    return strcmp(((const u9s_entry *)a)->name, ((const u9s_entry *)b)->name);
}

/* One page of what begins so, and what the next one begins with; "": there is none. */
static int list_page(u9s_dir *d, const char *prefix, char next[TOKEN])
{
    char query[3 * TOKEN + 3 * U9S_KEY_MAX + 100] = "";
    u9s_env *e = u9s_env_of(d->dir.env);
    bool fine = true;
    if (next[0]) {
        strcpy(query, "continuation-token=");
        fine = u9s_encode(next, strlen(next), false, query, sizeof query);
        if (fine) strcat(query, "&");
    }
    strcat(query, "delimiter=%2F&list-type=2&prefix=");
    fine = fine && u9s_encode(prefix, strlen(prefix), false, query, sizeof query);
    if (!fine) return -ENAMETOOLONG;
    u9s_request r = {.method = "GET", .key = "", .query = query, .what = "listing"};
    int err = u9s_perform(e, &r, 1);
    if (err == -ENOENT) err = u9s_fail(e, d->prefix, -ENODEV, "listing: status 404");
    if (err == 0 && (err = add_page(d, &r, next)) != 0) (void)u9s_fail(e, d->prefix, err, "the listing cannot be read");
    u9s_request_free(&r);
    return err;
}

/* The lock is held. */
static int list_all(u9s_dir *d)
{
    char next[TOKEN] = "";
    int err = 0;
    d->count = d->pages = d->alone = 0;
    do err = list_page(d, d->prefix, next), d->pages++;
    while (err == 0 && next[0]);
    if (err != 0) d->count = 0;
    if (d->count) qsort(d->entries, d->count, sizeof *d->entries, by_entry_name);
    d->listed_us = err ? 0 : u9i_monotonic_us(d->dir.env);
    return err;
}

/* The lock is held. */
static bool is_fresh(const u9s_dir *d)
{
    return d->listed_us != 0 && u9i_monotonic_us(d->dir.env) - d->listed_us < FRESH_US;
}

/* The lock is held. */
static int list_if_old(u9s_dir *d)
{
    return is_fresh(d) ? 0 : list_all(d);
}

/* What this name stands for now: it is the first of those that begin so. The lock is held. */
static int list_alone(u9s_dir *d, const char *name, u9s_entry *out)
{
    u9s_dir one = {.dir.env = d->dir.env};
    char key[U9S_KEY_MAX], next[TOKEN] = "";
    memcpy(one.prefix, d->prefix, sizeof one.prefix);
    int err = u9s_dir_key(d, name, key);
    if (err == 0) err = list_page(&one, key, next);
    bool there = err == 0 && one.count > 0 && strcmp(one.entries->name, name) == 0;
    if (there) *out = *one.entries;
    free(one.entries);
    return err ? err : there ? 0 : -ENOENT;
}

static const u9s_entry *find_entry(const u9s_dir *d, const char *name)
{
    u9s_entry key;
    if (d->count == 0 || strlen(name) > U9S_NAME_MAX) return NULL;
    memcpy(key.name, name, strlen(name) + 1);
    return bsearch(&key, d->entries, d->count, sizeof key, by_entry_name);
}

/* "0000000000000001.u9" */
static bool is_segment(const char *name)
{
    return strspn(name, "0123456789abcdef") == 16 && strcmp(name + 16, ".u9") == 0;
}

int u9s_look(u9s_dir *d, const char *name, bool now, u9s_entry *out)
{
    pthread_mutex_lock(&d->lock);
    const u9s_entry *entry = !now && d->listed_us != 0 && is_segment(name) ? find_entry(d, name) : NULL;
    bool alone = entry == NULL && !is_fresh(d) && ++d->alone < d->pages;
    int err = entry ? 0 : alone ? list_alone(d, name, out) : list_if_old(d);
    if (entry == NULL && !alone && err == 0) entry = find_entry(d, name);
    if (entry) *out = *entry;
    pthread_mutex_unlock(&d->lock);
    return err || alone || entry ? err : -ENOENT;
}

unsigned u9s_neighbours(u9s_dir *d, const char *name, u9s_entry *out, unsigned max)
{
    unsigned n = 0;
    pthread_mutex_lock(&d->lock);
    const u9s_entry *at = find_entry(d, name);
    while (at && at > d->entries && n < max) out[n++] = *--at;
    pthread_mutex_unlock(&d->lock);
    return n;
}

/* Of the same kind. */
bool u9s_next(u9s_dir *d, const char *name, u9s_entry *out)
{
    pthread_mutex_lock(&d->lock);
    const u9s_entry *at = find_entry(d, name), *end = d->entries + d->count;
    const char *kind = strchr(name, '.');
    while (at && ++at < end && strcmp(strchr(at->name, '.') ? strchr(at->name, '.') : "", kind ? kind : "") != 0) continue;
    bool there = at && at < end;
    if (there) *out = *at;
    pthread_mutex_unlock(&d->lock);
    return there;
}

static int list(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    u9s_dir *d = u9s_dir_of(dir);
    pthread_mutex_lock(&d->lock);
    int err = list_if_old(d);
    for (size_t i = 0; i < d->count && err == 0; i++) err = each(ctx, d->entries[i].name);
    pthread_mutex_unlock(&d->lock);
    return err;
}

/* An object's identity is its key and what its bytes are called. */
static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

static int identify(u9i_dir *dir, const char *name, uint64_t identity[2])
{
    u9s_dir *d = u9s_dir_of(dir);
    u9s_entry entry = {.name = ""};
    int err = strcmp(name, ".") == 0 ? 0 : u9s_look(d, name, true, &entry);
    if (err != 0) return err;
    identity[0] = u9s_env_of(dir->env)->identity;
    identity[1] = mix(mix(mix(0xcbf29ce484222325u, d->prefix), entry.name), entry.etag);
    return 0;
}

static int stat_name(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    u9s_entry entry = {.name = ""};
    *out = (u9i_stamp){.links = 1, .mode = 0400};
    int err = strcmp(name, ".") == 0 ? 0 : u9s_look(u9s_dir_of(dir), name, true, &entry);
    if (err == 0) err = identify(dir, name, out->identity);
    out->size = entry.size;
    out->changed_us = entry.changed_us;
    return err;
}

/* Opening: nothing is asked for yet but whether something is there. */

static u9s_dir *new_dir(u9i_env *env, const char *prefix)
{
    u9s_dir *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->dir.env = env;
    d->generation = u9s_host->forks();
    snprintf(d->prefix, sizeof d->prefix, "%s%s", prefix, prefix[0] ? "/" : "");
    pthread_mutex_init(&d->lock, NULL);
    u9s_host->acquire();
    return d;
}

static void close_dir(u9i_dir *dir)
{
    u9s_dir *d = u9s_dir_of(dir);
    if (d->generation == u9s_host->forks()) {
        u9s_ahead_close(d);
        pthread_mutex_destroy(&d->lock);
        u9s_host->release();
    }
    free(d->entries);
    free(d);
}

/* The address is of one object, in the directory that is its prefix. */
static int open_single(u9i_env *env, char *key, u9i_dir **out)
{
    u9s_entry entry;
    char *slash = strrchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    if (name[0] == 0 || strlen(name) > U9S_NAME_MAX) return -ENOENT;
    char single[U9S_NAME_MAX + 1];
    memcpy(single, name, strlen(name) + 1);
    if (slash) *slash = 0;
    u9s_dir *d = new_dir(env, slash ? key : "");
    if (d == NULL) return -ENOMEM;
    memcpy(d->dir.single, single, strlen(single) + 1);
    int err = u9s_look(d, single, true, &entry);
    if (err != 0) close_dir(&d->dir);
    else *out = &d->dir;
    return err;
}

static int open_dir(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    char key[U9S_KEY_MAX];
    int err = u9s_key_of(u9s_env_of(env), path, key);
    if (err != 0) return err;
    u9s_dir *d = new_dir(env, key);
    if (d == NULL) return -ENOMEM;
    pthread_mutex_lock(&d->lock);
    err = list_all(d);
    bool empty = d->count == 0;
    pthread_mutex_unlock(&d->lock);
    if (err == 0 && (!empty || create || key[0] == 0)) {
        *out = &d->dir;
        return 0;
    }
    close_dir(&d->dir);
    return err ? err : open_single(env, key, out);
}

/* Changes */

static int remove_name(u9i_dir *dir, const char *name)
{
    u9s_dir *d = u9s_dir_of(dir);
    u9s_entry entry;
    char key[U9S_KEY_MAX];
    int err = u9s_dir_key(d, name, key);
    if (err == 0) err = u9s_look(d, name, true, &entry);
    if (err != 0) return err;
    u9s_request r = {.method = "DELETE", .key = key, .what = "removing"};
    err = u9s_perform(u9s_env_of(dir->env), &r, 1);
    u9s_request_free(&r);
    u9s_forget(d);
    return err == -ENOENT ? 0 : err;
}

/* A copy within the bucket, and the old one goes. */
static int rename_name(u9i_dir *dir, const char *from, const char *to)
{
    u9s_dir *d = u9s_dir_of(dir);
    u9s_env *e = u9s_env_of(dir->env);
    char old[U9S_KEY_MAX], new[U9S_KEY_MAX], source[4 * U9S_KEY_MAX] = "x-amz-copy-source: /";
    int err = u9s_dir_key(d, from, old);
    if (err == 0) err = u9s_dir_key(d, to, new);
    if (err != 0) return err;
    strcat(source, e->bucket);
    strcat(source, "/");
    if (!u9s_encode(old, strlen(old), true, source, sizeof source)) return -ENAMETOOLONG;
    u9s_request r = {.method = "PUT", .key = new, .header = {source}, .what = "putting it in its place"};
    err = u9s_perform(e, &r, 1);
    const char *at = r.bytes ? r.bytes : "";
    if (err == 0 && (r.got == 0 || memmem(at, r.got, "<ETag>", 6) == NULL)) /* 200 is said before it is done */
        err = u9s_fail(e, new, -EIO, "putting it in its place: the copy failed");
    u9s_request_free(&r);
    u9s_forget(d);
    return err ? err : remove_name(dir, from);
}

static int sync_dir(u9i_dir *dir)
{
    (void)dir; /* what is acknowledged is durable */
    return 0;
}

static int refuse_dir(u9i_dir *dir)
{
    (void)dir;
    return -EROFS;
}

static bool is_locked(u9i_dir *dir, const char *name)
{
    (void)dir;
    (void)name;
    return false;
}

static int link_name(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    (void)dir;
    (void)name;
    (void)to;
    (void)new_name;
    return -EXDEV;
}

static int dress(u9i_dir *dir, const char *name, const u9i_stamp *like)
{
    (void)name;
    (void)like;
    return refuse_dir(dir);
}

static int post(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    (void)name;
    (void)bytes;
    return n == 0 ? 0 : refuse_dir(dir);
}

static int posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got)
{
    (void)dir;
    (void)name;
    (void)bytes;
    (void)n;
    (void)got;
    return -ENOENT;
}

/* Files: those that are not files.c's */

static int refuse_file(u9i_file *file)
{
    (void)file;
    return -EROFS;
}

static uint64_t data_at(u9i_file *file, uint64_t off)
{
    (void)file;
    return off;
}

static int reserve(u9i_file *file, uint64_t end)
{
    return u9s_upload_reserve(u9s_file_of(file), end);
}

static int zero(u9i_file *file, uint64_t from, uint64_t to)
{
    (void)from;
    (void)to;
    return refuse_file(file);
}

static int truncate_file(u9i_file *file, uint64_t size)
{
    return u9s_upload_truncate(u9s_file_of(file), size);
}

static int sync_file(u9i_file *file, uint64_t from)
{
    (void)from;
    return u9s_file_of(file)->upload ? u9s_upload_finish(u9s_file_of(file)) : 0;
}

static int map(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    (void)file;
    (void)off;
    (void)n;
    (void)out;
    return -ENODEV;
}

const u9i_fs u9s_fs = {
    .open_dir = open_dir, .close_dir = close_dir, .lock = refuse_dir, .locked = is_locked, .list = list,
    .stat = stat_name, .identify = identify, .rename = rename_name, .link = link_name, .dress = dress,
    .remove = remove_name, .sync_dir = sync_dir, .post = post, .posted = posted, .open = u9s_open_file,
    .close = u9s_close_file, .lock_file = refuse_file, .size = u9s_file_size, .read = u9s_file_read, .data = data_at,
    .reserve = reserve, .zero = zero, .truncate = truncate_file, .sync_and_evict = sync_file, .map = map,
};

static int open_watch(u9i_dir *dir, const char *name, bool bytes, u9i_watch **out)
{
    (void)dir;
    (void)name;
    (void)bytes;
    (void)out;
    return -ENOSYS; /* nobody tells: who follows looks now and then */
}

const u9i_watch_type u9s_watch_type = {.open = open_watch};
