/*
 * fuzz/fuzz_s3_answer.c: what a bucket, or who stands in between, may say: elements are found within what came, each further
 * on than the one before, and their text fits and is what stands there.
 */
#include "s3/s3.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void look_for(const char *from, const char *to, const char *name)
{
    char text[64], none[1], address[3 * sizeof text + 1] = "";
    for (const char *at = from, *before = at, *begin, *end; u9s_answer_element(&at, to, name, &begin, &end); before = at) {
        CHECK(before < begin && begin <= end && end < at && at <= to);
        const char *in = before;
        memset(text, 'x', sizeof text);
        if (!u9s_answer_next(&in, to, name, text, sizeof text)) continue;
        CHECK(in == at && strlen(text) < sizeof text && strlen(text) <= (size_t)(end - begin));
        address[0] = 0;
        CHECK(u9s_encode(text, strlen(text), false, address, sizeof address) && strcspn(address, "<>&\"/ \n") == strlen(address));
        in = before;
        CHECK(u9s_answer_next(&in, to, name, none, sizeof none) == (begin == end));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"Contents", "Key", "Size", "ETag", "Code", "UploadId", "IsTruncated"};
    char *own = malloc(size ? size : 1); /* nothing behind it is read */
    CHECK(own != NULL);
    if (size > 0) memcpy(own, data, size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) look_for(own, own + size, names[i]);
    free(own);
    return 0;
}
