/*
 * s3/request.c: requests to a bucket, signed (SigV4, by libcurl), several in flight, and tried again. [TR-7]
 *
 * All of a call go together: what the server was too busy for, or what a lost connection left open, is asked for once more,
 * after a while that doubles. Connections stay open between calls, in handles that one call at a time has. A request whose
 * connection was lost may have been done: what asks for something new says that it must not be there, and who asked finds
 * out whose it is.
 */
#include "s3/s3.h"

#include <assert.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ANSWER_MAX = 16 << 20, WAIT_US = 100000, WAIT_US_MAX = 2000000, HASH = 32, SLOWEST = 4096 };

static _Thread_local struct {
    int err;
    char text[400];
} note;

int u9s_fail(const u9s_env *e, const char *key, int err, const char *what)
{
    if (err == 0 || err == -ENOENT || err == -EEXIST) return err;
    note.err = err;
    snprintf(note.text, sizeof note.text, " (s3://%s/%.120s: %.200s)", e->bucket, key, what);
    return err;
}

void u9s_explain(int sys, char *out, size_t size)
{
    if (note.err != -sys) return;
    snprintf(out, size, "%s", note.text);
    note.err = 0;
}

/* One that is under way. */
typedef struct flight {
    u9s_request *r;
    u9s_env *env;
    CURL *curl;
    struct curl_slist *headers;
    CURLcode code;
    char url[9000];
    int failed; /* it could not even be made; a negative errno */
    bool odd;   /* what came is not what was asked for */
    bool over;  /* nothing comes any more */
    struct flight *next; /* of a u9s_transfers */
} flight;

/* Connections */

static CURLM *take_multi(u9s_env *e)
{
    CURLM *m = NULL;
    pthread_mutex_lock(&e->lock);
    if (e->generation != u9s_host->forks()) e->idle_count = 0; /* a parent's: its connections are not ours */
    e->generation = u9s_host->forks();
    if (e->idle_count > 0) m = e->idle[--e->idle_count];
    pthread_mutex_unlock(&e->lock);
    return m ? m : curl_multi_init();
}

static void give_multi(u9s_env *e, CURLM *m)
{
    pthread_mutex_lock(&e->lock);
    bool room = e->idle_count < sizeof e->idle / sizeof *e->idle;
    if (room) e->idle[e->idle_count++] = m;
    pthread_mutex_unlock(&e->lock);
    if (!room) curl_multi_cleanup(m);
}

/* What comes */

static size_t take_body(char *bytes, size_t one, size_t n, void *ctx)
{
    flight *f = ctx;
    u9s_request *r = f->r;
    (void)one;
    f->odd = n > ANSWER_MAX - r->got;
    if (f->odd) return 0;
    if (r->got + n + 1 > r->room) {
        size_t room = 2 * (r->got + n + 1), all = r->to > r->from ? (size_t)(r->to - r->from + 1) : 0;
        if (r->bytes == NULL && all > r->got + n && all <= ANSWER_MAX) room = all;
        char *more = realloc(r->bytes, room);
        if (more == NULL) return 0;
        r->bytes = more;
        r->room = room;
    }
    memcpy(r->bytes + r->got, bytes, n);
    r->got += n;
    r->bytes[r->got] = 0;
    return n;
}

static bool is_header(const char *line, size_t n, const char *name, const char **value, size_t *size)
{
    size_t length = strlen(name);
    if (n <= length || line[length] != ':' || strncasecmp(line, name, length) != 0) return false;
    *value = line + length + 1;
    *size = n - length - 1;
    while (*size > 0 && strchr(" \t", **value)) (*value)++, (*size)--;
    while (*size > 0 && strchr(" \t\r\n", (*value)[*size - 1])) (*size)--;
    return true;
}

static size_t take_header(char *line, size_t one, size_t n, void *ctx)
{
    u9s_request *r = ((flight *)ctx)->r;
    const char *value;
    size_t size;
    (void)one;
    if (is_header(line, n, "etag", &value, &size) && size < sizeof r->etag) {
        memcpy(r->etag, value, size);
        r->etag[size] = 0;
    }
    return n;
}

/* What is asked */

static bool make_url(flight *f, const u9s_credentials *c)
{
    const u9s_request *r = f->r;
    char *url = f->url;
    size_t size = sizeof f->url;
    if (c->endpoint[0]) snprintf(url, size, "%s/%s/", c->endpoint, f->env->bucket);
    else snprintf(url, size, "https://s3.%s.amazonaws.com/%s/", c->region, f->env->bucket);
    if (!u9s_encode(r->key, strlen(r->key), true, url, size)) return false;
    size_t n = strlen(url);
    if (r->query == NULL) return true;
    return (size_t)snprintf(url + n, size - n, "?%s", r->query) < size - n;
}

static bool add_header(flight *f, const char *text)
{
    struct curl_slist *more = curl_slist_append(f->headers, text);
    if (more) f->headers = more;
    return more != NULL;
}

static bool add_headers(flight *f, const u9s_credentials *c)
{
    const u9s_request *r = f->r;
    uint8_t sha[HASH];
    char hash[64 + HASH * 2] = "x-amz-content-sha256: ", token[sizeof c->token + 32];
    size_t at = strlen(hash);
    if (EVP_Digest(r->body ? r->body : "", r->body_size, sha, NULL, EVP_sha256(), NULL) != 1) return false;
    for (size_t i = 0; i < sizeof sha; i++) at += (size_t)sprintf(hash + at, "%02x", sha[i]);
    bool fine = add_header(f, hash);
    for (size_t i = 0; i < sizeof r->header / sizeof *r->header && fine; i++)
        if (r->header[i]) fine = add_header(f, r->header[i]);
    if (fine && r->body) fine = add_header(f, "content-type: application/octet-stream");
    if (fine && c->token[0]) {
        snprintf(token, sizeof token, "x-amz-security-token: %s", c->token);
        fine = add_header(f, token);
        explicit_bzero(token, sizeof token);
    }
    return fine;
}

static bool set_method(flight *f)
{
    const u9s_request *r = f->r;
    bool fine = true;
#define SET(option, value) (fine = fine && curl_easy_setopt(f->curl, option, value) == CURLE_OK)
    if (strcmp(r->method, "GET") != 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_size);
        SET(CURLOPT_POSTFIELDS, r->body ? r->body : "");
        SET(CURLOPT_CUSTOMREQUEST, r->method);
    }
    if (r->to > 0) {
        char range[64];
        snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)r->from, (unsigned long long)r->to - 1);
        SET(CURLOPT_RANGE, range);
    }
    return fine;
}

static bool set_up(flight *f, const u9s_credentials *c)
{
    char sign[128];
    bool fine = true;
    snprintf(sign, sizeof sign, "aws:amz:%s:s3", c->region);
    SET(CURLOPT_URL, f->url);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_AWS_SIGV4, sign);
    SET(CURLOPT_USERNAME, c->key);
    SET(CURLOPT_PASSWORD, c->secret);
    SET(CURLOPT_HTTPHEADER, f->headers);
    SET(CURLOPT_WRITEFUNCTION, take_body);
    SET(CURLOPT_WRITEDATA, f);
    SET(CURLOPT_HEADERFUNCTION, take_header);
    SET(CURLOPT_HEADERDATA, f);
    SET(CURLOPT_PRIVATE, f);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_EXPECT_100_TIMEOUT_MS, 200L);
    SET(CURLOPT_CONNECTTIMEOUT, (long)f->env->timeout_s);
    SET(CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST); /* bytes a second */
    SET(CURLOPT_LOW_SPEED_TIME, (long)f->env->timeout_s);
#undef SET
    return fine && set_method(f);
}

static void begin(flight *f, u9s_request *r, u9s_env *e, CURLM *multi, const u9s_credentials *c)
{
    *f = (flight){.r = r, .env = e, .code = CURLE_GOT_NOTHING}; /* unless it is said to be done */
    r->got = 0;
    r->status = 0;
    r->etag[0] = 0;
    r->tries++;
    f->failed = -ENOMEM;
    f->curl = curl_easy_init();
    if (f->curl == NULL || !add_headers(f, c)) return;
    if (!make_url(f, c)) f->failed = -ENAMETOOLONG;
    else if (set_up(f, c) && curl_multi_add_handle(multi, f->curl) == CURLM_OK) f->failed = 0;
}

/* What came of it. No error is one of a disk: that a service is not to be had says nothing of the bytes. */

static int err_of_code(CURLcode code)
{
    if (code == CURLE_OPERATION_TIMEDOUT) return -ETIMEDOUT;
    if (code == CURLE_COULDNT_CONNECT) return -ECONNREFUSED;
    if (code == CURLE_COULDNT_RESOLVE_HOST) return -EHOSTUNREACH;
    if (code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR) return -ENOMEM;
    if (code == CURLE_PARTIAL_FILE || code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR)
        return -ECONNRESET;
    return -EPROTO;
}

static bool is_busy(long status)
{
    return status >= 500 || status == 429 || status == 408;
}

static int err_of_status(const u9s_request *r, const char *code)
{
    if (r->status >= 200 && r->status < 300) return 0;
    if (r->status == 404) return strcmp(code, "NoSuchBucket") == 0 ? -ENODEV : -ENOENT;
    if (r->status == 412) return -EEXIST;
    if (r->status == 401 || r->status == 403) return -EACCES;
    if (r->status == 416) return -ESTALE;
    return is_busy(r->status) ? -EBUSY : -EPROTO;
}

/* Whether it is worth another try. */
static bool is_passing(const flight *f, const char *code)
{
    long s = f->r->status;
    if (f->code != CURLE_OK) return err_of_code(f->code) != -ENOMEM && f->code != CURLE_UNSUPPORTED_PROTOCOL &&
                                    f->code != CURLE_URL_MALFORMAT && f->code != CURLE_PEER_FAILED_VERIFICATION;
    return is_busy(s) || (s == 409 && strcmp(code, "ConditionalRequestConflict") == 0) ||
           strcmp(code, "RequestTimeout") == 0 || strcmp(code, "SlowDown") == 0;
}

/* Bytes of a range are all there. */
static bool is_whole(const u9s_request *r)
{
    return r->to == 0 || strcmp(r->method, "GET") != 0 ||
           (r->got == r->to - r->from && (r->status == 206 || r->from == 0));
}

static void explain(const flight *f, const char *code)
{
    u9s_request *r = f->r;
    char what[200];
    if (r->err == -ENOMEM) snprintf(what, sizeof what, "%s: out of memory", r->what);
    else if (f->failed != 0) snprintf(what, sizeof what, "%s: the address is too long", r->what);
    else if (f->odd) snprintf(what, sizeof what, "%s: the answer is not what was asked for", r->what);
    else if (f->code != CURLE_OK) snprintf(what, sizeof what, "%s: %s", r->what, curl_easy_strerror(f->code));
    else if (r->status >= 300 && r->status < 400)
        snprintf(what, sizeof what, "%s: status %ld: the bucket is in another region, or at another endpoint", r->what, r->status);
    else snprintf(what, sizeof what, "%s: status %ld%s%.60s", r->what, r->status, code[0] ? " " : "", code);
    if (r->tries > 1) snprintf(what + strlen(what), sizeof what - strlen(what), ", %u times", r->tries);
    (void)u9s_fail(f->env, r->key, r->err, what);
}

/* The code of a refusal: a word; what is none is told nobody. */
static void take_code(const u9s_request *r, char *out, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.";
    const char *at = r->bytes;
    if (!u9s_answer_next(&at, r->bytes + r->got, "Code", out, size) || out[strspn(out, letters)] != 0) out[0] = 0;
}

/* True: it is to be tried again. */
static bool conclude(flight *f)
{
    u9s_request *r = f->r;
    char code[64] = "";
    if (f->failed == 0) {
        (void)curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &r->status);
        if (r->status >= 300 && r->got > 0) take_code(r, code, sizeof code);
        f->odd |= f->code == CURLE_OK && err_of_status(r, code) == 0 && !is_whole(r);
        r->err = f->odd ? -EPROTO : f->code != CURLE_OK ? err_of_code(f->code) : err_of_status(r, code);
    } else {
        r->err = f->failed;
    }
    if (r->err == 0 || r->optional) return false;
    if (f->failed == 0 && !f->odd && is_passing(f, code) && r->tries < U9S_TRIES) return true;
    if (!r->untold) explain(f, code);
    return false;
}

static void end_flight(flight *f, CURLM *multi)
{
    if (f->curl) {
        (void)curl_multi_remove_handle(multi, f->curl);
        curl_easy_cleanup(f->curl);
    }
    curl_slist_free_all(f->headers);
}

/* Those that are done say how. */
static void take_outcomes(CURLM *multi)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(multi, &left)) != NULL;) {
        char *private = NULL;
        if (m->msg != CURLMSG_DONE || curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &private) != CURLE_OK) continue;
        flight *f = (flight *)(void *)private;
        f->code = m->data.result;
        f->over = true;
    }
}

/* Some that go together, once. How many of them are to be tried again, which come first then. */
static unsigned fly(u9s_env *e, CURLM *multi, u9s_request **some, unsigned n, const u9s_credentials *c)
{
    flight flights[U9S_IN_FLIGHT];
    unsigned again = 0;
    int running = 1;
    for (unsigned i = 0; i < n; i++) begin(&flights[i], some[i], e, multi, c);
    while (curl_multi_perform(multi, &running) == CURLM_OK && running > 0)
        if (curl_multi_poll(multi, NULL, 0, 1000, NULL) != CURLM_OK) break;
    take_outcomes(multi);
    for (unsigned i = 0; i < n; i++) {
        if (conclude(&flights[i])) some[again++] = some[i];
        end_flight(&flights[i], multi);
    }
    return again;
}

/* Up to U9S_IN_FLIGHT of them, until they are answered. */
static void perform_some(u9s_env *e, CURLM *multi, u9s_request *requests, unsigned n, const u9s_credentials *c)
{
    u9s_request *some[U9S_IN_FLIGHT];
    uint64_t wait_us = WAIT_US;
    for (unsigned i = 0; i < n; i++) {
        requests[i].tries = 0;
        some[i] = &requests[i];
    }
    while ((n = fly(e, multi, some, n, c)) > 0) {
        u9i_sleep_us(&e->env, wait_us);
        if (wait_us < WAIT_US_MAX) wait_us *= 2;
    }
}

int u9s_perform(u9s_env *e, u9s_request *requests, unsigned count)
{
    u9s_credentials c;
    CURLM *multi = NULL;
    int err = u9s_credentials_get(&c);
    if (err != 0)
        (void)u9s_fail(e, requests->key, err, "no keys: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and "
                                              "~/.aws/credentials has none for the profile");
    else if ((multi = take_multi(e)) == NULL) err = u9s_fail(e, requests->key, -ENOMEM, "out of memory");
    int stop = err;
    for (unsigned i = 0; i < count; i++) {
        u9s_request *r = &requests[i];
        unsigned n = count - i < U9S_IN_FLIGHT ? count - i : U9S_IN_FLIGHT;
        if (stop != 0) r->err = stop;
        else if (i % U9S_IN_FLIGHT == 0) perform_some(e, multi, r, n, &c);
        if (err == 0 && !r->optional) err = r->err;
        if ((i + 1) % U9S_IN_FLIGHT == 0 && err != -ENOENT && err != -EEXIST) stop = err;
    }
    u9s_credentials_wipe(&c);
    if (multi) give_multi(e, multi);
    return err;
}

void u9s_request_free(u9s_request *r)
{
    free(r->bytes);
    r->bytes = NULL;
    r->got = r->room = 0;
}

/* One by one */

struct u9s_transfers {
    u9s_env *env;
    CURLM *multi;
    flight *first;
};

u9s_transfers *u9s_transfers_new(u9s_env *e)
{
    u9s_transfers *t = calloc(1, sizeof *t);
    CURLM *multi = t ? take_multi(e) : NULL;
    if (multi) {
        t->env = e;
        t->multi = multi;
        return t;
    }
    free(t);
    return NULL;
}

static void drop_flight(u9s_transfers *t, flight *f)
{
    flight **at = &t->first;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    end_flight(f, t->multi);
    free(f);
}

void u9s_transfers_free(u9s_transfers *t)
{
    while (t->first) drop_flight(t, t->first);
    give_multi(t->env, t->multi);
    free(t);
}

bool u9s_transfers_begin(u9s_transfers *t, u9s_request *r)
{
    u9s_credentials c;
    flight *f = u9s_credentials_get(&c) == 0 ? malloc(sizeof *f) : NULL;
    if (f) {
        begin(f, r, t->env, t->multi, &c);
        f->over = f->failed != 0;
        f->next = t->first;
        t->first = f;
    }
    u9s_credentials_wipe(&c);
    return f != NULL;
}

void u9s_transfers_stop(u9s_transfers *t, u9s_request *r)
{
    flight *f = t->first;
    while (f && f->r != r) f = f->next;
    if (f) drop_flight(t, f);
}

u9s_request *u9s_transfers_next(u9s_transfers *t)
{
    int running;
    for (unsigned i = 0; i < 2; i++) {
        if (i > 0) (void)curl_multi_poll(t->multi, NULL, 0, 1000, NULL);
        (void)curl_multi_perform(t->multi, &running);
        take_outcomes(t->multi);
        flight *f = t->first;
        while (f && !f->over) f = f->next;
        if (f == NULL) continue;
        u9s_request *r = f->r;
        (void)conclude(f);
        drop_flight(t, f);
        return r;
    }
    return NULL;
}

void u9s_transfers_wake(u9s_transfers *t)
{
    (void)curl_multi_wakeup(t->multi);
}
