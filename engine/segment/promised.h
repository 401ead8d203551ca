/*
 * engine/segment/promised.h: how much of an unclosed file is surely on stable storage.
 */
#ifndef U9I_PROMISED_H
#define U9I_PROMISED_H

#include "engine/segment/probe.h"

/*
 * Up to where a promise reaches that is known without reading all of the file: the mark's, or the latest of a valid
 * frame near the file's end. It was synced up to there: what is cached in front of it is what the disk has. 0: none.
 * Hashes a MiB or a few behind the last frame's, whatever the file's size; what fails promises nothing.
 */
uint64_t u9i_promised_end(const u9i_facts *facts, u9i_file *file, u9i_windows *windows);

#endif
