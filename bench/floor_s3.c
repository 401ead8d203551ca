/*
 * bench/floor_s3.c: floors of a log in S3: bare loops of libcurl that read as many bytes, by ranges.
 *
 * Reading is ranges of 2 MiB, 8 under way, or of 64 KiB all over the store, one at a time. Objects have 16 MiB, and are made
 * before. Keys and endpoint come from the environment alone: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL,
 * AWS_REGION.
 */
#include "bench/drive_append.h"
#include "bench/engine.h"
#include "bench/pool.h"
#include "bench/pool_objects.h"

#if PEER_CURL

#include <curl/curl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECT = 16 << 20, RANGE = 2 << 20, SMALL_RANGE = 64 << 10, IN_FLIGHT = 8, URL_ROOM = PATH_ROOM + 600 };

/* One that is under way; it keeps its connection for the next. */
typedef struct request {
    CURL *curl;
    struct curl_slist *headers;
    size_t got;
    char room[RANGE + 1];
} request;

static char bucket[128], prefix[PATH_ROOM]; /* prefix: with a slash behind */
static uint8_t *object_bytes;

static const char *version_of_curl(void)
{
    return curl_version_info(CURLVERSION_NOW)->version;
}

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "u9bench: S3: %s: %s\n", what, why);
    exit(4);
}

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    if (value && value[0]) return value;
    if (otherwise == NULL) fail(name, "it is not set");
    return otherwise;
}

static void connect_to(const char *address)
{
    const char *begin = address + strlen(BUCKET), *name = begin + strcspn(begin, "/?");
    snprintf(bucket, sizeof bucket, "%.*s", (int)(name - begin), begin);
    snprintf(prefix, sizeof prefix, "%.*s/", (int)strcspn(name + 1, "?"), name + 1);
    if (posix_memalign((void **)&object_bytes, 4096, OBJECT) != 0) die("memory", NULL);
    for (size_t i = 0; i < OBJECT; i++) object_bytes[i] = (uint8_t)(i * 31 + i / 4096);
}

static size_t take(char *bytes, size_t one, size_t n, void *ctx)
{
    request *r = ctx;
    (void)one;
    if (n > RANGE - r->got) return 0;
    memcpy(r->room + r->got, bytes, n);
    r->got += n;
    r->room[r->got] = 0;
    return n;
}

static void add_hash(request *r, const void *bytes, size_t n)
{
    uint8_t sha[32];
    char text[64 + 2 * sizeof sha] = "x-amz-content-sha256: ";
    if (EVP_Digest(bytes, n, sha, NULL, EVP_sha256(), NULL) != 1) die("hashing", NULL);
    for (size_t i = 0; i < sizeof sha; i++) sprintf(text + strlen(text), "%02x", sha[i]);
    r->headers = curl_slist_append(r->headers, text);
}

static request *new_request(const char *method, size_t body)
{
    char sign[128];
    request *r = calloc(1, sizeof *r);
    if (r == NULL || (r->curl = curl_easy_init()) == NULL) die("memory", NULL);
    snprintf(sign, sizeof sign, "aws:amz:%s:s3", variable("AWS_REGION", "us-east-1"));
    add_hash(r, object_bytes, body);
    curl_easy_setopt(r->curl, CURLOPT_AWS_SIGV4, sign);
    curl_easy_setopt(r->curl, CURLOPT_USERNAME, variable("AWS_ACCESS_KEY_ID", NULL));
    curl_easy_setopt(r->curl, CURLOPT_PASSWORD, variable("AWS_SECRET_ACCESS_KEY", NULL));
    if (body > 0) {
        r->headers = curl_slist_append(r->headers, "content-type: application/octet-stream");
        curl_easy_setopt(r->curl, CURLOPT_POSTFIELDSIZE, (long)body);
        curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, object_bytes);
    }
    curl_easy_setopt(r->curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
    curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(r->curl, CURLOPT_PRIVATE, r);
    curl_easy_setopt(r->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(r->curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(r->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(r->curl, CURLOPT_LOW_SPEED_TIME, 60L);
    return r;
}

static void free_request(request *r)
{
    curl_easy_cleanup(r->curl);
    curl_slist_free_all(r->headers);
    free(r);
}

/* "": the bucket itself. */
static void aim(request *r, const char *key, const char *query)
{
    char url[URL_ROOM], own[160];
    snprintf(own, sizeof own, "https://s3.%.60s.amazonaws.com", variable("AWS_REGION", "us-east-1"));
    snprintf(url, sizeof url, "%s/%s/%s%s%s", variable("AWS_ENDPOINT_URL", own), bucket, key, query ? "?" : "",
             query ? query : "");
    curl_easy_setopt(r->curl, CURLOPT_URL, url);
    r->got = 0;
}

static void perform(request *r, const char *what)
{
    CURLcode code = curl_easy_perform(r->curl);
    if (code != CURLE_OK) fail(what, curl_easy_strerror(code));
}

/* Removing */

static void remove_key(const char *key)
{
    request *r = new_request("DELETE", 0);
    aim(r, key, NULL);
    perform(r, "removing");
    free_request(r);
}

/* Those of one page of the listing; how many. */
static unsigned remove_some(request *list)
{
    static const char open[] = "<Key>";
    char key[PATH_ROOM];
    unsigned n = 0;
    for (const char *at = list->room; (at = strstr(at, open)) != NULL; n++) {
        at += strlen(open);
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "<"), at);
        remove_key(key);
    }
    return n;
}

void remove_keys(const char *address)
{
    char query[URL_ROOM];
    connect_to(address);
    request *list = new_request("GET", 0);
    char *encoded = curl_easy_escape(list->curl, prefix, 0);
    snprintf(query, sizeof query, "list-type=2&prefix=%s", encoded ? encoded : "");
    do {
        aim(list, "", query);
        perform(list, "listing");
    } while (encoded && remove_some(list) > 0);
    curl_free(encoded);
    free_request(list);
}

/* Reading */

static void name_object(uint64_t at, char out[PATH_ROOM + 32])
{
    snprintf(out, PATH_ROOM + 32, "%sfloor.%08llx", prefix, (unsigned long long)(at / OBJECT));
}

static void write_objects(uint64_t bytes)
{
    char key[PATH_ROOM + 32];
    request *r = new_request("PUT", OBJECT);
    for (uint64_t at = 0; at < bytes; at += OBJECT) {
        name_object(at, key);
        aim(r, key, NULL);
        perform(r, "uploading");
    }
    free_request(r);
}

static void aim_at(request *r, uint64_t at, size_t n)
{
    char key[PATH_ROOM + 32], range[64];
    name_object(at, key);
    aim(r, key, NULL);
    snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)(at % OBJECT), (unsigned long long)(at % OBJECT + n - 1));
    curl_easy_setopt(r->curl, CURLOPT_RANGE, range);
}

/* All of it that came; how many requests did. */
static unsigned see_what_came(CURLM *multi, request *came[IN_FLIGHT])
{
    int left;
    unsigned n = 0;
    for (CURLMsg *m; (m = curl_multi_info_read(multi, &left)) != NULL;) {
        if (m->msg != CURLMSG_DONE) continue;
        if (m->data.result != CURLE_OK) fail("reading", curl_easy_strerror(m->data.result));
        char *private = NULL;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &private);
        came[n++] = (request *)(void *)private;
    }
    for (unsigned i = 0; i < n; i++) {
        if (came[i]->got != RANGE) fail("reading", "not all came");
        see_bytes(came[i]->room, RANGE);
        curl_multi_remove_handle(multi, came[i]->curl);
    }
    return n;
}

static void read_s3(const job_spec *job, result *out)
{
    request *idle[IN_FLIGHT];
    unsigned n = IN_FLIGHT;
    int running = 0;
    uint64_t bytes = data_bytes(job->records), at = 0;
    connect_to(job->dir);
    write_objects(bytes);
    for (unsigned i = 0; i < IN_FLIGHT; i++) idle[i] = new_request("GET", 0);
    CURLM *multi = curl_multi_init();
    double start = now();
    while (at < bytes || n < IN_FLIGHT) {
        for (; n > 0 && at < bytes; at += RANGE) {
            aim_at(idle[--n], at, RANGE);
            curl_multi_add_handle(multi, idle[n]->curl);
        }
        curl_multi_perform(multi, &running);
        n += see_what_came(multi, idle + n);
        if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    out->seconds = now() - start;
    out->records = job->records;
}

static void range_s3(const job_spec *job, result *out)
{
    enum { READS = 100 };
    static latencies took;
    uint64_t places = data_bytes(job->records) / SMALL_RANGE;
    connect_to(job->dir);
    write_objects(data_bytes(job->records));
    request *r = new_request("GET", 0);
    double start = now();
    while (places > 0 && out->records < READS) {
        aim_at(r, mixed(out->records++) % places * SMALL_RANGE, SMALL_RANGE);
        uint64_t before = now_ns();
        perform(r, "reading");
        see_bytes(r->room, r->got);
        note_latency(&took, now_ns() - before);
    }
    out->seconds = now() - start;
    keep_latencies(&took, out);
}

#else

#define version_of_curl NULL
#define read_s3 NULL
#define range_s3 NULL

void remove_keys(const char *address)
{
    (void)address;
}

#endif

const engine floor_s3_read = {
    .name = "curl-read", .label = "libcurl, GETs of 2 MiB", .side = SIDE_FLOOR, .place = BUCKET,
    .config = "as many bytes as the records have, in objects of 16 MiB: ranged GETs of 2 MiB, 8 under way, signed",
    .version = version_of_curl, .whole = read_s3};

const engine floor_s3_range = {
    .name = "curl-range", .label = "libcurl, GETs of 64 KiB", .side = SIDE_FLOOR, .place = BUCKET,
    .config = "the same objects: a hundred ranged GETs of 64 KiB all over them, one at a time: a round trip",
    .version = version_of_curl, .whole = range_s3};
