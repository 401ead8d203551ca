/*
 * s3/s3.h: what the files of libu9-s3 share: a bucket, requests to it, objects as files of a directory.
 *
 * Room: s3
 * Sees: include engine/os
 *
 *   address.c      options                               store.c  what libu9 is given
 *   credentials.c  keys, region, endpoint: from the environment and a file [TR-8]
 *   request.c      signed requests, several in flight, tried again; what is known of a failure [TR-7]
 *   answer.c       what a bucket says in XML
 *   cache.c        blocks of objects, in memory or on disk, bounded [TR-9]
 *   ahead.c        what is about to be read is asked for, and nobody waits [TR-9]
 *   dir.c          the calls on directories              file.c   the calls on files
 *   upload.c       a new object, in one request or in parts [TR-4]
 *   queue.c        reads and writes that are under way
 *
 * A directory is a bucket and a prefix; its files are the objects right below it. They are read by ranges, and written
 * once, from the start to the end. Nothing is locked, mapped, linked or watched.
 *
 * Locks: that of u9s_env (idle connections), of u9s_dir (the listing: held while it is asked for), of u9s_ahead, of the
 * cache. None of them is taken under another, but that of u9s_env under that of u9s_ahead.
 */
#ifndef U9S_S3_H
#define U9S_S3_H

#include "engine/os/store.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    U9S_NAME_MAX = 255,
    U9S_KEY_MAX = 1024,        /* of S3 */
    U9S_BUCKET_MAX = 64,
    U9S_BLOCK = 256 << 10,     /* what is cached of an object at a time, [TR-9] */
    U9S_SMALL = 8 << 10,       /*   or, where no more is asked for, this much */
    U9S_PART = 16 << 20,       /* the least size of a part [TR-7] */
    U9S_PARTS = 4,             /* so many of an upload are in flight; one that is no longer than them is a single request */
    U9S_IN_FLIGHT = 8,         /* requests of one call */
    U9S_TRIES = 5,             /* of each request */
    U9S_ETAG_MAX = 80
};

/* A bucket, as somebody may reach it */

typedef struct u9s_env {
    u9i_env env;
    char bucket[U9S_BUCKET_MAX];
    char cache_dir[512];   /* "": in memory */
    uint64_t cache_size;   /* bytes */
    unsigned timeout_s;
    uint64_t identity;     /* of the bucket */
    pthread_mutex_t lock;
    CURLM *idle[8];        /* with connections that are open still */
    unsigned idle_count;
    unsigned generation;   /* of forks, when these were made */
} u9s_env;

extern const u9_store_host *u9s_host;
extern const u9i_fs u9s_fs;
extern const u9i_queue_type u9s_queue_type;
extern const u9i_watch_type u9s_watch_type;

static inline u9s_env *u9s_env_of(u9i_env *env)
{
    return (u9s_env *)env;
}

/* Credentials */

typedef struct u9s_credentials {
    char key[256], secret[512], token[4096]; /* token "": none */
    char region[64];
    char endpoint[256]; /* scheme and host, without a slash behind; "": Amazon's own, of the region */
} u9s_credentials;

/* What the environment and the file say now. 0; -EACCES: there are none, noted. */
int u9s_credentials_get(u9s_credentials *out);
/* Overwrites them. */
void u9s_credentials_wipe(u9s_credentials *c);

/* Addresses */

bool u9s_find(const char *path, u9i_env **env, const char **rest, char *why, size_t size);
/* The key that a path stands for in the bucket of `e`, without slashes at its ends. -EXDEV, -ENAMETOOLONG. */
int u9s_key_of(const u9s_env *e, const char *path, char key[U9S_KEY_MAX]);

/* Requests */

typedef struct u9s_request {
    /* What is asked: all is borrowed until it is answered. */
    const char *method;    /* GET, PUT, POST, DELETE */
    const char *key;       /* "": the bucket itself */
    const char *query;     /* names in order, encoded; NULL: none */
    const char *header[3]; /* "name: value"; NULL: none */
    const void *body;
    size_t body_size;
    uint64_t from, to;     /* a GET: only these bytes; `to` 0: all */
    const char *what;      /* what it does, for a message */
    bool optional;         /* nobody waits for it: it is tried once, */
    bool untold;           /*   and of this, too, a failure is not noted */

    /* The answer. */
    int err;               /* 0; a negative errno, noted */
    long status;
    char etag[U9S_ETAG_MAX]; /* as it stood there */
    char *bytes;           /* what came: heap */
    size_t got, room;
    unsigned tries;
} u9s_request;

/*
 * Does all of them, U9S_IN_FLIGHT at a time; each is tried again where the server is busy or the connection was lost. The
 * error of the first that failed and is not optional, or 0; what comes behind that may not have been asked for, and has the
 * same error. -ENOENT and -EEXIST (the condition was not met) are not noted. None is one that a disk has for its bytes.
 */
int u9s_perform(u9s_env *e, u9s_request *requests, unsigned count);
void u9s_request_free(u9s_request *r);

/*
 * Requests that go by themselves, each tried once: all calls in one thread, but for wake. An answer is told by next, which
 * waits a second at most, or until it is woken: NULL then.
 */
typedef struct u9s_transfers u9s_transfers;
u9s_transfers *u9s_transfers_new(u9s_env *e); /* NULL: no memory */
void u9s_transfers_free(u9s_transfers *t);    /* what is under way is given up */
bool u9s_transfers_begin(u9s_transfers *t, u9s_request *r); /* it is `optional`. False: it was not begun */
void u9s_transfers_stop(u9s_transfers *t, u9s_request *r);
u9s_request *u9s_transfers_next(u9s_transfers *t);
void u9s_transfers_wake(u9s_transfers *t);

/* Notes what failed, for the sentence that will be made of it, and returns `err`. */
int u9s_fail(const u9s_env *e, const char *key, int err, const char *what);
void u9s_explain(int sys, char *out, size_t size);

/* Appends to `out` what stands for these bytes in an address; slashes stay, if `slashes`. False: there is no room. */
bool u9s_encode(const char *text, size_t n, bool slashes, char *out, size_t size);

/* What a bucket says */

/* The text of the next element of this name from *at on, decoded, in `out`; *at is behind it. False: there is none. */
bool u9s_answer_next(const char **at, const char *end, const char *name, char *out, size_t size);
/* The next element of this name from *at on, whole: [*from, *to). False: there is none. */
bool u9s_answer_element(const char **at, const char *end, const char *name, const char **from, const char **to);

/* Cache */

/* A block of an object that does not change. */
typedef struct u9s_block_id {
    uint64_t env;   /* its identity */
    const char *key, *etag;
    uint64_t off;   /* of its first byte, */
    size_t size;    /*   and of how many it is at most: U9S_BLOCK or U9S_SMALL */
} u9s_block_id;

/* Bytes [from, from + n) of a block are copied to `to`, if it is there. */
bool u9s_cache_get(const u9s_env *e, const u9s_block_id *id, size_t from, void *to, size_t n);
/*
 * Keeps a block, of U9S_BLOCK bytes or fewer, at the expense of those that were not used for longest. None of an object
 * without an ETag.
 */
void u9s_cache_put(const u9s_env *e, const u9s_block_id *id, const void *bytes, size_t n);

/* Directories and files */

typedef struct u9s_entry {
    char name[U9S_NAME_MAX + 1];
    char etag[U9S_ETAG_MAX];
    uint64_t size, changed_us;
} u9s_entry;

typedef struct u9s_dir {
    u9i_dir dir;
    char prefix[U9S_KEY_MAX]; /* with a slash behind, if it is not "" */
    unsigned generation;
    pthread_mutex_t lock;     /* of what follows */
    u9s_entry *entries;       /* by name */
    size_t count, room;
    unsigned pages, alone;    /* it took so many; names were listed by themselves since, so often */
    uint64_t listed_us;       /* monotonic; 0: never */
    struct u9s_ahead *ahead;  /* NULL: nobody has read on yet */
} u9s_dir;

static inline u9s_dir *u9s_dir_of(u9i_dir *dir)
{
    return (u9s_dir *)dir;
}

typedef struct u9s_upload u9s_upload;

typedef struct u9s_file {
    u9i_file file;
    u9s_dir *dir;
    char key[U9S_KEY_MAX];
    u9s_entry entry;
    u9s_upload *upload;       /* NULL: it is read */
    _Atomic uint64_t next;    /* where the last read ended: who goes on there reads on, */
    _Atomic uint64_t row;     /*   and began to do so here; */
    _Atomic uint64_t asked;   /*   all before this was asked for ahead, behind the end in the file that follows */
} u9s_file;

static inline u9s_file *u9s_file_of(u9i_file *file)
{
    return (u9s_file *)file;
}

/* The key of a name in the directory. -ENAMETOOLONG. */
int u9s_dir_key(const u9s_dir *d, const char *name, char key[U9S_KEY_MAX]);
/* What a name stands for: now, or (of a segment) when it was last listed. -ENOENT. */
int u9s_look(u9s_dir *d, const char *name, bool now, u9s_entry *out);
/* Those in front of a name in the listing, the nearest first; how many. */
unsigned u9s_neighbours(u9s_dir *d, const char *name, u9s_entry *out, unsigned max);
/* The one behind it. False: there is none. */
bool u9s_next(u9s_dir *d, const char *name, u9s_entry *out);
/* The listing is not to be believed any more. */
void u9s_forget(u9s_dir *d);

int u9s_open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out);
void u9s_close_file(u9i_file *file);
int u9s_file_size(u9i_file *file, uint64_t *out);

typedef struct u9s_range {
    u9s_file *file;
    uint64_t off;
    void *buf;
    size_t n, got;
    int err;
    size_t block; /* by which it is cached: set by who reads it */
} u9s_range;

/* Reads all of them, what is not cached by requests that are in flight together. */
void u9s_read_ranges(u9s_range *ranges, unsigned count);
int u9s_file_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got);

/* Whether an answer is of another object than the one that was listed under this key: its blocks are not that one's. */
bool u9s_is_another(const u9s_file *f, const u9s_request *came);
/* Keeps the blocks of this size that an answer brought, if it is one of this object. */
void u9s_keep(const u9s_file *f, const u9s_request *came, size_t block);

/* Reading ahead */

/*
 * Begins to get [from, to) of `f` into the cache, blocks of U9S_BLOCK, unless that is under way; `by` is the file that is
 * read, `f` that or what follows it: copied. False: not now.
 */
bool u9s_ahead_ask(const u9s_file *f, const u9s_file *by, uint64_t from, uint64_t to);
/* Waits for the block that begins there, if it is under way: whether it came, the cache tells. False: it is not. */
bool u9s_ahead_wait(const u9s_file *f, uint64_t off);
/* Ends what a file that is not read any more has under way of its own; and what a directory has. */
void u9s_ahead_drop(const u9s_file *f);
void u9s_ahead_close(u9s_dir *d);

/* Uploads */

/* A new object begins. -EEXIST: there is one of this key. */
int u9s_upload_begin(u9s_file *f);
int u9s_upload_reserve(u9s_file *f, uint64_t end);
int u9s_upload_write(u9s_file *f, uint64_t off, const void *bytes, size_t n);
int u9s_upload_truncate(u9s_file *f, uint64_t size);
/* The object is there, whole: or -EEXIST, somebody made one meanwhile. Once more is fine. */
int u9s_upload_finish(u9s_file *f);
/* Lets go of it; what was not finished is as if it had not begun. */
void u9s_upload_drop(u9s_file *f);

#endif
