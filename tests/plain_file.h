/*
 * tests/plain_file.h: plain seed files, made by the seed's own rules: a header, and frames without trailers.
 */
#ifndef PLAIN_FILE_H
#define PLAIN_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct plain_file {
    uint8_t *bytes; /* free() it: plain_free */
    size_t size;
    uint8_t secret[16];
} plain_file;

/* With the secret seed, seed + 1, ... seed + 15. */
plain_file plain_begin(uint8_t seed);
/* Puts a frame with this payload at the end; returns where it begins. */
size_t plain_frame(plain_file *p, const void *payload, size_t size);
/* The same, with the padding that the seed's expression gives when it is taken at its word. */
size_t plain_frame_by_the_letter(plain_file *p, const void *payload, size_t size);
void plain_zeros(plain_file *p, size_t count);
void plain_free(plain_file *p);

/* The file that is the example of SPEC.md. */
plain_file plain_example(void);

#endif
