/*
 * tests/second_reader_main.c: prints what the second reader finds in a log or a segment file.
 */
#include "second_reader.h"

#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>

static void number(uint64_t v, const char *before)
{
    if (v == UINT64_MAX) printf(" ?");
    else printf(" %s%" PRIu64, before, v);
}

int main(int argc, char **argv)
{
    static const char *const verdicts[] = {"clean", "torn", "unknown", "corrupt"};
    static const char *const reasons[] = {"none",    "header",    "boundary", "magic", "length",
                                          "overlap", "signature", "trailer",  "hash",  "follow",
                                          "padding", "fill",      "body",     "cut",   "missing",
                                          "foreign", "unclosed",  "seal",     "blank",     "fork",
                                          "mark",    "unreadable", "part",    "name",      "unsigned",
                                          "trimmed"};
    static const char *const ends[] = {"open", "closed", "sealed"};
    second_log log;
    if (argc != 2) {
        fprintf(stderr, "usage: %s LOG-DIRECTORY-OR-SEGMENT\n", argv[0]);
        return 2;
    }
    if (second_read(argv[1], &log) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], log.error);
        second_free(&log);
        return 1;
    }
    for (size_t i = 0; i < log.n_records; i++) {
        const second_record *r = &log.records[i];
        uint8_t sha[SHA256_DIGEST_LENGTH];
        SHA256(r->bytes, r->size, sha);
        printf("record %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu %02x%02x%02x%02x\n", r->ordinal,
               r->segment, r->frame, r->size, sha[0], sha[1], sha[2], sha[3]);
    }
    for (size_t i = 0; i < log.n_damages; i++) {
        const second_damage *d = &log.damages[i];
        printf("damage %s %s %" PRIu64 " %" PRIu64 " %" PRIu64, verdicts[d->verdict],
               reasons[d->reason], d->segment, d->begin, d->end);
        number(d->ordinal, "");
        number(d->lost, d->at_most ? "<=" : "");
        printf("\n");
    }
    printf("end %s %" PRIu64 " %" PRIu64, ends[log.end], log.end_segment, log.end_offset);
    number(log.next_ordinal, "");
    printf(" beyond %" PRIu64 "\n", log.beyond);
    second_free(&log);
    return 0;
}
