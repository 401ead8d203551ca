/*
 * s3/cache.c: blocks of objects that were read, kept for the next reader: in this process's memory, or in a directory. [TR-9]
 *
 * Bounded: what was not used for longest goes when there is no room. In memory one table for all envs. In a directory a
 * file a block, named by the hash of what it is of, with the hash of its bytes in front: other processes use it too, and one
 * that is damaged is as if it were not there. What is kept there counts as used when its time is; a process looks at what
 * others made when it has added 16 MiB, or when there is no room.
 */
#include "s3/s3.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SHA = 32, BUCKETS = 4096, LOOK_EVERY = 64, NAME = 2 * 16 + 1, REMAINS_S = 3600 };

/* Which block it is, as 32 bytes that no other one has. */
static bool hash_id(const u9s_block_id *id, uint8_t out[SHA])
{
    char text[U9S_KEY_MAX + U9S_ETAG_MAX + 64];
    int n = snprintf(text, sizeof text, "%016llx %s %s %llu %zu", (unsigned long long)id->env, id->etag, id->key,
                     (unsigned long long)id->off, id->size);
    return n > 0 && (size_t)n < sizeof text && EVP_Digest(text, (size_t)n, out, NULL, EVP_sha256(), NULL) == 1;
}

/* In memory */

typedef struct kept {
    struct kept *next;           /* in its bucket */
    struct kept *newer, *older;
    uint8_t id[SHA];
    size_t n;
    uint8_t bytes[];
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static kept *buckets[BUCKETS];
static kept *newest, *oldest;
static uint64_t total;

static kept **bucket_of(const uint8_t id[SHA])
{
    return &buckets[(id[0] << 8 | id[1]) % BUCKETS];
}

static void unlink_kept(kept *k)
{
    if (k->newer) k->newer->older = k->older;
    else newest = k->older;
    if (k->older) k->older->newer = k->newer;
    else oldest = k->newer;
}

static void make_newest(kept *k)
{
    k->newer = NULL;
    k->older = newest;
    if (newest) newest->newer = k;
    newest = k;
    if (oldest == NULL) oldest = k;
}

static kept *find_kept(const uint8_t id[SHA])
{
    kept *k = *bucket_of(id);
    while (k && memcmp(k->id, id, SHA) != 0) k = k->next;
    return k;
}

static void drop_oldest(void)
{
    kept *k = oldest, **at = bucket_of(k->id);
    while (*at != k) at = &(*at)->next;
    *at = k->next;
    unlink_kept(k);
    total -= k->n;
    free(k);
}

static bool get_in_memory(const uint8_t id[SHA], size_t from, void *to, size_t n)
{
    pthread_mutex_lock(&lock);
    kept *k = find_kept(id);
    bool there = k && from <= k->n && n <= k->n - from;
    if (there) {
        memcpy(to, k->bytes + from, n);
        unlink_kept(k);
        make_newest(k);
    }
    pthread_mutex_unlock(&lock);
    return there;
}

static void put_in_memory(const uint8_t id[SHA], uint64_t limit, const void *bytes, size_t n)
{
    kept *k = malloc(sizeof *k + n);
    if (k == NULL) return;
    memcpy(k->id, id, SHA);
    memcpy(k->bytes, bytes, n);
    k->n = n;
    pthread_mutex_lock(&lock);
    if (find_kept(id) || n > limit) {
        free(k);
    } else {
        while (oldest && total + n > limit) drop_oldest();
        k->next = *bucket_of(id);
        *bucket_of(id) = k;
        make_newest(k);
        total += n;
    }
    pthread_mutex_unlock(&lock);
}

/* In a directory */

static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static char known_dir[512]; /* the one that was looked at last, */
static uint64_t known;      /*   and the bytes in it by then, and by what was added since */
static unsigned added;

static void block_path(const u9s_env *e, const uint8_t id[SHA], char *out, size_t size)
{
    char name[NAME];
    for (unsigned i = 0; i < 16; i++) snprintf(name + 2 * i, 3, "%02x", id[i]);
    snprintf(out, size, "%s/%s", e->cache_dir, name);
}

static bool read_exactly(int fd, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = read(fd, (char *)to + done, n - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static bool write_exactly(int fd, const void *from, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = write(fd, (const char *)from + done, n - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        done += (size_t)put;
    }
    return true;
}

/* What stands in a block's file, if its hash is right. */
static bool read_block(int fd, uint8_t *bytes, size_t *n)
{
    uint8_t sha[SHA], own[SHA];
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size < SHA || st.st_size > SHA + U9S_BLOCK) return false;
    *n = (size_t)st.st_size - SHA;
    return read_exactly(fd, sha, SHA) && read_exactly(fd, bytes, *n) &&
           EVP_Digest(bytes, *n, own, NULL, EVP_sha256(), NULL) == 1 && memcmp(sha, own, SHA) == 0;
}

static bool get_on_disk(const u9s_env *e, const uint8_t id[SHA], size_t from, void *to, size_t n)
{
    char path[600];
    size_t size = 0;
    block_path(e, id, path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    uint8_t *bytes = malloc(U9S_BLOCK);
    bool there = bytes && read_block(fd, bytes, &size);
    bool fits = there && from <= size && n <= size - from;
    if (fits) {
        memcpy(to, bytes + from, n);
        (void)futimens(fd, NULL);
    }
    close(fd);
    free(bytes);
    if (!there) (void)unlink(path);
    return fits;
}

/* A file of the cache, by its name alone. */
typedef struct seen {
    char name[NAME];
    struct timespec used;
    uint64_t size;
} seen;

static bool is_block_name(const char *name)
{
    return strlen(name) == NAME - 1 && strspn(name, "0123456789abcdef") == NAME - 1;
}

/* A block that nobody is writing any more: who began to was killed. */
static bool is_remains(const char *name, const struct stat *st)
{
    return strspn(name, "0123456789abcdef") == NAME - 1 && name[NAME - 1] == '.' && st->st_mtime < time(NULL) - REMAINS_S;
}

static int by_use(const void *a, const void *b)
{
    const seen *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

static seen *look_at_all(DIR *dir, size_t *count, uint64_t *bytes)
{
    seen *all = NULL;
    size_t room = 0;
    struct stat st;
    *count = 0;
    *bytes = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (is_remains(entry->d_name, &st)) (void)unlinkat(dirfd(dir), entry->d_name, 0);
        if (!is_block_name(entry->d_name)) continue;
        if (*count == room) {
            seen *more = realloc(all, (room ? 2 * room : 64) * sizeof *more);
            if (more == NULL) break;
            all = more;
            room = room ? 2 * room : 64;
        }
        seen *s = &all[(*count)++];
        memcpy(s->name, entry->d_name, NAME);
        s->used = st.st_mtim;
        s->size = (uint64_t)st.st_size;
        *bytes += s->size;
    }
    return all;
}

/* Removes what was not used for longest, until there is room for n more and an eighth besides. The lock is held. */
static void make_room(const u9s_env *e, size_t n)
{
    size_t count;
    DIR *dir = opendir(e->cache_dir);
    if (dir == NULL) return;
    seen *all = look_at_all(dir, &count, &known);
    bool over = known + n > e->cache_size;
    uint64_t goal = e->cache_size - e->cache_size / 8;
    if (over && count) qsort(all, count, sizeof *all, by_use);
    for (size_t i = 0; i < count && over && known + n > goal; i++)
        if (unlinkat(dirfd(dir), all[i].name, 0) == 0) known -= all[i].size;
    free(all);
    closedir(dir);
    snprintf(known_dir, sizeof known_dir, "%s", e->cache_dir);
    added = 0;
}

static void put_on_disk(const u9s_env *e, const uint8_t id[SHA], const void *bytes, size_t n)
{
    char path[600], partial[640];
    uint8_t sha[SHA];
    static atomic_uint serial;
    if (n + SHA > e->cache_size || EVP_Digest(bytes, n, sha, NULL, EVP_sha256(), NULL) != 1) return;
    if (mkdir(e->cache_dir, 0700) != 0 && errno != EEXIST) return;
    pthread_mutex_lock(&disk_lock);
    if (strcmp(known_dir, e->cache_dir) != 0 || added >= LOOK_EVERY || known + n + SHA > e->cache_size) make_room(e, n + SHA);
    known += n + SHA;
    added++;
    pthread_mutex_unlock(&disk_lock);
    block_path(e, id, path, sizeof path);
    snprintf(partial, sizeof partial, "%s.%ld.%u", path, (long)getpid(), atomic_fetch_add(&serial, 1));
    int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return;
    bool whole = write_exactly(fd, sha, SHA) && write_exactly(fd, bytes, n);
    if (close(fd) != 0 || !whole || rename(partial, path) != 0) (void)unlink(partial);
}

/* Either */

bool u9s_cache_get(const u9s_env *e, const u9s_block_id *id, size_t from, void *to, size_t n)
{
    uint8_t sha[SHA];
    if (id->etag[0] == 0 || !hash_id(id, sha)) return false;
    return e->cache_dir[0] ? get_on_disk(e, sha, from, to, n) : get_in_memory(sha, from, to, n);
}

void u9s_cache_put(const u9s_env *e, const u9s_block_id *id, const void *bytes, size_t n)
{
    uint8_t sha[SHA];
    if (n == 0 || id->etag[0] == 0 || !hash_id(id, sha)) return;
    if (e->cache_dir[0]) put_on_disk(e, sha, bytes, n);
    else put_in_memory(sha, e->cache_size, bytes, n);
}
