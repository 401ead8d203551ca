/*
 * engine/check/snapshot_state.c: see snapshot_state.h.
 */
#include "engine/check/snapshot_state.h"

#include "engine/check/small_file.h"
#include "engine/os/process.h"
#include "format/base/bytes.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

const char u9i_snapshot_name[] = ".snapshot";
static const char new_name[] = ".snapshot.new"; /* until it takes its place */
static const char word[] = "u9snapshot1 ";

enum { BYTES = 16 + 4 * 8 + U9I_HASH_SIZE + 1, CHECK = 4, WORD = sizeof word - 1 };
enum { LINE = WORD + 2 * (BYTES + CHECK) + 1 };

_Static_assert(U9I_SNAPSHOT_STATES * LINE <= U9I_BLOCK, "all lines fit into one block");

static void pack(const u9i_snapshot_state *s, uint8_t out[BYTES + CHECK])
{
    uint8_t hash[U9I_HASH_SIZE];
    memcpy(out, s->log, 16);
    u9i_set_be(out + 16, 8, s->segment);
    u9i_set_be(out + 24, 8, s->size);
    u9i_set_be(out + 32, 8, s->offset);
    u9i_set_be(out + 40, 8, s->last);
    memcpy(out + 48, s->chain, U9I_HASH_SIZE);
    out[BYTES - 1] = s->damaged;
    u9i_hash(out, BYTES, hash);
    memcpy(out + BYTES, hash, CHECK);
}

static bool unpack(const uint8_t in[BYTES + CHECK], u9i_snapshot_state *s)
{
    uint8_t hash[U9I_HASH_SIZE];
    u9i_hash(in, BYTES, hash);
    if (memcmp(hash, in + BYTES, CHECK) != 0 || in[BYTES - 1] > 1) return false;
    *s = (u9i_snapshot_state){.segment = u9i_get_be(in + 16, 8), .size = u9i_get_be(in + 24, 8),
                              .offset = u9i_get_be(in + 32, 8), .last = u9i_get_be(in + 40, 8),
                              .damaged = in[BYTES - 1] != 0};
    memcpy(s->log, in, 16);
    memcpy(s->chain, in + 48, U9I_HASH_SIZE);
    return true;
}

static void put_line(const u9i_snapshot_state *s, uint8_t *out)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[BYTES + CHECK];
    pack(s, bytes);
    memcpy(out, word, WORD);
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[WORD + 2 * i] = (uint8_t)digits[bytes[i] >> 4];
        out[WORD + 2 * i + 1] = (uint8_t)digits[bytes[i] & 15];
    }
    out[LINE - 1] = '\n';
}

static bool get_line(const uint8_t *line, u9i_snapshot_state *s)
{
    uint8_t bytes[BYTES + CHECK];
    if (memcmp(line, word, WORD) != 0 || line[LINE - 1] != '\n') return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        int high = u9i_hex_digit(line[WORD + 2 * i]), low = u9i_hex_digit(line[WORD + 2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return unpack(bytes, s);
}

int u9i_snapshot_note_read(u9i_dir *dir, u9i_snapshot_note *out)
{
    uint8_t text[U9I_SNAPSHOT_STATES * LINE + 1];
    u9i_file *file;
    size_t got;
    out->count = 0;
    int err = u9i_file_open(dir, u9i_snapshot_name, U9I_OPEN_READ, &file);
    if (err == -ENOENT) return 0;
    if (err != 0) return err;
    err = u9i_file_read(file, 0, text, sizeof text, &got);
    u9i_file_close(file);
    if (err != 0) return err;
    if (got == 0 || got % LINE != 0 || got / LINE > U9I_SNAPSHOT_STATES) return -EINVAL;
    for (unsigned i = 0; i < got / LINE; i++)
        if (!get_line(text + i * LINE, &out->states[i])) return -EINVAL;
    out->count = (unsigned)(got / LINE);
    return 0;
}

const u9i_snapshot_state *u9i_snapshot_state_of(const u9i_snapshot_note *note, uint64_t number, uint64_t size)
{
    for (unsigned i = 0; i < note->count; i++)
        if (note->states[i].segment == number && note->states[i].size == size) return &note->states[i];
    return NULL;
}

int u9i_snapshot_note_write(u9i_dir *dir, const u9i_snapshot_note *note)
{
    assert(note->count > 0 && note->count <= U9I_SNAPSHOT_STATES);
    uint8_t *block = u9i_pages(U9I_BLOCK);
    if (block == NULL) return -ENOMEM;
    for (unsigned i = 0; i < note->count; i++) put_line(&note->states[i], block + i * LINE);
    int err = u9i_small_file_put(dir, new_name, u9i_snapshot_name, block, note->count * LINE);
    u9i_pages_free(block, U9I_BLOCK);
    return err;
}
