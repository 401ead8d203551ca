/*
 * tests/index_reader.h: a reader of indexes, written from the specification alone: from a file's last block to the root,
 * to the page, to the record. It knows values by <u9/value.h>, and nothing else of the library.
 *
 * A judge for tests: files are whole, and what it is given is not doubted. [C-4] [C-7] [C-9] [C-10] [K-1] [K-2] [K-4]
 */
#ifndef INDEX_READER_H
#define INDEX_READER_H

#include <stddef.h>
#include <stdint.h>

typedef struct index_reader_file {
    const uint8_t *bytes;
    size_t size;
} index_reader_file;

/*
 * The newest record of this raw key in the segment, by the index in `index`: the same file if it is sealed, or the one
 * beside it. Returns 1 and where its tuple stands; 0: there is none; -1: there is no such index.
 */
int index_reader_find(index_reader_file segment, index_reader_file index, const void *key, size_t key_size,
                      const uint8_t **record, size_t *size);

/* How often a filter said that a key is not there, since the program began. */
extern unsigned index_reader_filtered;
/* The hash seed of the last root with hashes of keys that was read. */
extern uint64_t index_reader_seed;

#endif
