/*
 * s3/upload.c: a new object: written from the start to the end, there when it is finished, and not before. [TR-4] [TR-7]
 *
 * What is written is held back until U9S_PARTS parts are together. What ends before is one request; else these go as parts,
 * in flight together, and what comes then likewise. A part has U9S_PART bytes, or more where the object would have too many.
 * Its making fails where an object of the key is: the request says so, and for services that do not hear that of parts it is
 * looked for before.
 */
#include "s3/s3.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 9000, UPLOAD_ID = 1024, QUERY = 4 * UPLOAD_ID, FIRST_ROOM = 1 << 20 };

static const char only_new[] = "if-none-match: *";

struct u9s_upload {
    uint8_t *bytes;      /* held back, */
    size_t held, room;   /*   so many; and there is room for */
    uint64_t sent;       /* went before them */
    size_t part;         /* bytes of one */
    char id[UPLOAD_ID];  /* "": it is not one in parts, yet */
    char (*etags)[U9S_ETAG_MAX];
    unsigned count, etags_room;
    int err;             /* it has failed */
    bool done;
};

static u9s_env *env_of(const u9s_file *f)
{
    return u9s_env_of(f->file.env);
}

int u9s_upload_begin(u9s_file *f)
{
    u9s_entry there;
    u9s_forget(f->dir);
    const char *name = f->key + strlen(f->dir->prefix);
    int err = u9s_look(f->dir, name, true, &there);
    if (err != -ENOENT) return err ? err : -EEXIST;
    f->upload = calloc(1, sizeof *f->upload);
    if (f->upload == NULL) return -ENOMEM;
    f->upload->part = U9S_PART;
    return 0;
}

int u9s_upload_reserve(u9s_file *f, uint64_t end)
{
    u9s_upload *u = f->upload;
    if (u == NULL) return -EROFS;
    if (u->sent > 0 || u->held > 0) return 0;
    while (end / u->part >= PARTS_MAX) u->part *= 2;
    return u->part > 1 << 30 ? -EFBIG : 0;
}

/* Parts */

static bool part_query(const u9s_upload *u, unsigned number, char *out, size_t size)
{
    out[0] = 0;
    if (number > 0) snprintf(out, size, "partNumber=%u&", number);
    strcat(out, "uploadId=");
    return u9s_encode(u->id, strlen(u->id), false, out, size);
}

/* Parts that nobody will complete cost as much as others. */
static void drop_parts(u9s_file *f, const u9s_upload *u)
{
    char query[QUERY];
    if (!part_query(u, 0, query, sizeof query)) return;
    u9s_request r = {.method = "DELETE", .key = f->key, .query = query, .untold = true};
    (void)u9s_perform(env_of(f), &r, 1);
    u9s_request_free(&r);
}

/*
 * What was begun for this key, and is not ours: by a run that was killed, or by a request of which the answer was lost.
 * Nobody will go on with it. A failure hinders nobody.
 */
static void abort_leftovers(u9s_file *f)
{
    char query[4 * U9S_KEY_MAX] = "prefix=", key[U9S_KEY_MAX + 1];
    const char *from, *to;
    u9s_upload left = {.held = 0};
    if (!u9s_encode(f->key, strlen(f->key), false, query, sizeof query - 16)) return;
    strcat(query, "&uploads=");
    u9s_request r = {.method = "GET", .key = "", .query = query, .untold = true};
    int err = u9s_perform(env_of(f), &r, 1);
    const char *at = r.bytes ? r.bytes : "", *end = at + r.got;
    while (err == 0 && u9s_answer_element(&at, end, "Upload", &from, &to)) {
        const char *in = from;
        if (!u9s_answer_next(&in, to, "Key", key, sizeof key) || strcmp(key, f->key) != 0) continue;
        in = from;
        bool named = u9s_answer_next(&in, to, "UploadId", left.id, sizeof left.id);
        if (named && strcmp(left.id, f->upload->id) != 0) drop_parts(f, &left);
    }
    u9s_request_free(&r);
}

static int begin_parts(u9s_file *f)
{
    u9s_request r = {.method = "POST", .key = f->key, .query = "uploads=", .what = "beginning to upload"};
    int err = u9s_perform(env_of(f), &r, 1);
    const char *at = r.bytes ? r.bytes : "";
    if (err == 0 && !u9s_answer_next(&at, at + r.got, "UploadId", f->upload->id, UPLOAD_ID))
        err = u9s_fail(env_of(f), f->key, -EPROTO, "beginning to upload: no UploadId came");
    if (err == 0) abort_leftovers(f); /* now: libcurl, too, asks again where a connection was lost that it had kept */
    u9s_request_free(&r);
    return err == -ENOENT ? -EIO : err;
}

static bool room_for_etags(u9s_upload *u)
{
    if (u->count + U9S_PARTS <= u->etags_room) return true;
    unsigned room = 2 * u->etags_room + 4 * U9S_PARTS;
    char(*more)[U9S_ETAG_MAX] = realloc(u->etags, room * sizeof *more);
    if (more == NULL) return false;
    u->etags = more;
    u->etags_room = room;
    return true;
}

/* All that is held goes, U9S_PARTS parts at most. */
static int send_parts(u9s_file *f)
{
    u9s_upload *u = f->upload;
    u9s_request r[U9S_PARTS];
    char query[U9S_PARTS][QUERY];
    unsigned n = 0;
    int err = u->id[0] ? 0 : begin_parts(f);
    if (err == 0 && !room_for_etags(u)) err = -ENOMEM;
    for (size_t at = 0; at < u->held && err == 0; at += u->part, n++) {
        assert(n < U9S_PARTS);
        size_t size = u->held - at < u->part ? u->held - at : u->part;
        if (!part_query(u, u->count + n + 1, query[n], QUERY)) err = -ENAMETOOLONG;
        r[n] = (u9s_request){.method = "PUT", .key = f->key, .query = query[n], .body = u->bytes + at, .body_size = size,
                             .what = "uploading a part"};
    }
    if (err == 0 && n > 0) err = u9s_perform(env_of(f), r, n);
    for (unsigned i = 0; i < n; i++) {
        if (err == 0 && r[i].etag[0] == 0) err = u9s_fail(env_of(f), f->key, -EPROTO, "uploading a part: no ETag came");
        if (err == 0) memcpy(u->etags[u->count + i], r[i].etag, U9S_ETAG_MAX);
        u9s_request_free(&r[i]);
    }
    if (err != 0) return err == -ENOENT ? u9s_fail(env_of(f), f->key, -EIO, "uploading a part: the upload is not there any more") : err;
    u->count += n;
    u->sent += u->held;
    u->held = 0;
    return 0;
}

static char *list_parts(const u9s_upload *u, size_t *size)
{
    size_t room = 64 + (size_t)u->count * (U9S_ETAG_MAX + 80);
    char *text = malloc(room);
    if (text == NULL) return NULL;
    size_t n = (size_t)snprintf(text, room, "<CompleteMultipartUpload>");
    for (unsigned i = 0; i < u->count; i++)
        n += (size_t)snprintf(text + n, room - n, "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>", i + 1, u->etags[i]);
    n += (size_t)snprintf(text + n, room - n, "</CompleteMultipartUpload>");
    *size = n;
    return text;
}

/* 200 may be said before it is known whether it is so: what comes then tells. */
static int complete(u9s_file *f)
{
    u9s_upload *u = f->upload;
    char query[QUERY];
    size_t size;
    char *text = list_parts(u, &size);
    if (text == NULL || !part_query(u, 0, query, sizeof query)) {
        free(text);
        return -ENOMEM;
    }
    u9s_request r = {.method = "POST", .key = f->key, .query = query, .header = {only_new}, .body = text, .body_size = size,
                     .what = "completing the upload"};
    int err = u9s_perform(env_of(f), &r, 1);
    if (err == 0 && (r.got == 0 || memmem(r.bytes, r.got, "CompleteMultipartUploadResult", 29) == NULL))
        err = u9s_fail(env_of(f), f->key, -EIO, "completing the upload: it was refused");
    u9s_request_free(&r);
    free(text);
    return err == -ENOENT ? -EEXIST : err; /* the answer to a first try was lost: or it is not there, as who compares finds */
}

static int put_whole(u9s_file *f)
{
    u9s_upload *u = f->upload;
    u9s_request r = {.method = "PUT", .key = f->key, .header = {only_new}, .body = u->bytes ? u->bytes : (const uint8_t *)"",
                     .body_size = u->held, .what = "uploading"};
    int err = u9s_perform(env_of(f), &r, 1);
    u9s_request_free(&r);
    return err == -ENOENT ? -EIO : err;
}

/* Writing */

static bool make_room(u9s_upload *u, size_t n)
{
    size_t need = u->held + n, all = U9S_PARTS * u->part, room = u->room ? u->room : FIRST_ROOM;
    if (need <= u->room) return true;
    while (room < need) room *= 2;
    if (room > all) room = all;
    uint8_t *more = realloc(u->bytes, room);
    if (more == NULL) return false;
    u->bytes = more;
    u->room = room;
    return true;
}

int u9s_upload_write(u9s_file *f, uint64_t off, const void *bytes, size_t n)
{
    u9s_upload *u = f->upload;
    const uint8_t *from = bytes;
    if (u == NULL || u->done) return -EROFS;
    if (u->err == 0 && off != u->sent + u->held) u->err = -ESPIPE;
    while (n > 0 && u->err == 0) {
        size_t all = U9S_PARTS * u->part, some = all - u->held < n ? all - u->held : n;
        if (some == 0) {
            u->err = send_parts(f); /* there is more to come: so it has parts */
            continue;
        }
        if (!make_room(u, some)) u->err = -ENOMEM;
        if (u->err != 0) break;
        memcpy(u->bytes + u->held, from, some);
        u->held += some;
        from += some;
        n -= some;
    }
    return u->err;
}

int u9s_upload_truncate(u9s_file *f, uint64_t size)
{
    u9s_upload *u = f->upload;
    if (u == NULL || u->done) return -EROFS;
    if (size < u->sent || size > u->sent + u->held) return -EINVAL;
    u->held = (size_t)(size - u->sent);
    return 0;
}

int u9s_upload_finish(u9s_file *f)
{
    u9s_upload *u = f->upload;
    if (u == NULL) return 0;
    if (u->done || u->err != 0) return u->err;
    if (u->id[0] == 0) {
        u->err = put_whole(f);
    } else {
        if (u->held > 0) u->err = send_parts(f);
        if (u->err == 0) u->err = complete(f);
    }
    u->done = u->err == 0;
    f->entry.size = u->sent + (u->id[0] ? 0 : u->held);
    u9s_forget(f->dir);
    return u->err;
}

void u9s_upload_drop(u9s_file *f)
{
    u9s_upload *u = f->upload;
    if (u == NULL) return;
    if (u->id[0] && !u->done) drop_parts(f, u);
    free(u->bytes);
    free(u->etags);
    free(u);
    f->upload = NULL;
}
