/*
 * tests/engine/files.h: files and directories of tests, wherever they live: on the simulated disk if one is in
 * use and has the path, or the directory that it is in; on the real one elsewhere. What cannot be done
 * ends the test.
 */
#ifndef TESTS_ENGINE_FILES_H
#define TESTS_ENGINE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the path is one of the simulated disk. */
bool is_simulated(const char *path);

bool exists(const char *path);
uint64_t file_size(const char *path);
void read_bytes(const char *path, uint64_t offset, void *bytes,
                size_t size);                       /* all of them are there */
uint8_t *read_file(const char *path, size_t *size); /* free() it */
void write_file(const char *path, const void *bytes, size_t size); /* makes it, or replaces what it holds */
void make_dir(const char *path);                                   /* fine if it is there */
void move_file(const char *from, const char *to); /* or a directory */
void copy_log(const char *from, const char *to); /* a directory of files */
void remove_log(const char *path);               /* and what is in it; fine if it is not there */
/* Without it the segments alone tell what was durable, as before there were marks; fine if it is not there. */
void remove_mark(const char *log);
/* The names in a directory, in order: free() each and the array. */
char **list_names(const char *path, size_t *count);
/* How many segments are in a log; 0 if there is no such directory. */
unsigned segments_in(const char *log);

void flip_bit(const char *path, uint64_t offset, unsigned bit);
void fill_bytes(const char *path, uint64_t offset, uint64_t count, uint8_t value);
/* Overwrites bytes of a file, which may grow by it. */
void put_bytes(const char *path, uint64_t offset, const void *bytes, size_t size);
void cut_file(const char *path, uint64_t size);
void extend_file(const char *path, uint64_t size); /* with zeros */

/* As the simulated disk's verbs: files are made by it, and how many bytes there were to be read. */
void make_bytes(const char *path, uint64_t offset, const void *bytes, size_t size);
void make_size(const char *path, uint64_t size);
size_t read_some(const char *path, uint64_t offset, void *bytes, size_t size);
void copy_any(const char *from, const char *to); /* a file, or a directory of files, there or not */

/*
 * Where all stand in a store (U9_IO is its address): they do so in an empty namespace from now on, and a writer there
 * does nothing by itself for most of a minute, as in a simulated world while no time passes. False: in none.
 */
bool stored_begin(void);

/* H over the names and contents of all files in a directory. */
void picture(const char *log, uint8_t out[16]);

#endif
