/*
 * tests/sim/frozen.c: all that a power cut may leave of a directory, one state after the other. Where power.c draws
 * from the seed, here somebody else chooses: of each thing that is not durable whether, and how much of it, is there.
 * {F04}
 *
 * A frozen directory stays as the cut found it: its files have what is durable, and the list of what is not; writes
 * that were under way stand at its end.
 */
#include "tests/must.h"
#include "tests/sim/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PIECES_MAX = 8, FILES_MAX = 32 };

static sim_node *frozen_at(const char *path)
{
    sim_node *dir = NULL;
    MUST_SAY(sim_walk(path, &dir) == 0 && dir->is_dir, "%s: not a directory", path);
    return dir;
}

static void add_file(sim_node *files[FILES_MAX], size_t *count, sim_node *file)
{
    for (size_t i = 0; i < *count; i++)
        if (files[i] == file) return;
    MUST_SAY(*count < FILES_MAX, "too many files are frozen");
    files[(*count)++] = file;
}

/* The files that there may be, each once: those that are durable, and those that came. */
static size_t list_files(sim_node *dir, sim_node *files[FILES_MAX])
{
    const sim_node *kept = dir->kept ? dir->kept : dir;
    size_t count = 0;
    for (size_t i = 0; i < kept->count; i++)
        if (!kept->entries[i].node->is_dir) add_file(files, &count, kept->entries[i].node);
    for (const sim_name_op *op = dir->name_ops; op; op = op->next)
        if (!op->node->is_dir) add_file(files, &count, op->node);
    return count;
}

static unsigned pieces_of(const sim_effect *e)
{
    size_t n = (e->n + SIM_PIECE - 1) / SIM_PIECE;
    return e->resize ? 1 : n < PIECES_MAX ? (unsigned)n : PIECES_MAX;
}

unsigned sim_frozen(const char *path, sim_unit units[SIM_UNITS_MAX])
{
    sim_node *files[FILES_MAX];
    unsigned n = 0;
    pthread_mutex_lock(&world.lock);
    sim_node *dir = frozen_at(path);
    size_t count = list_files(dir, files);
    for (const sim_name_op *op = dir->name_ops; op; op = op->next) {
        MUST_SAY(n < SIM_UNITS_MAX, "too much is open");
        units[n++] = (sim_unit){.pieces = 1};
    }
    for (size_t i = 0; i < count; i++)
        for (const sim_effect *e = files[i]->effects; e; e = e->next) {
            MUST_SAY(n < SIM_UNITS_MAX, "too much is open");
            units[n++] = (sim_unit){.pieces = (UINT64_C(1) << pieces_of(e)) - 1, .write = !e->resize};
        }
    pthread_mutex_unlock(&world.lock);
    return n;
}

/* The last piece takes what there is behind it. */
static void play_pieces(sim_image *image, const sim_effect *e, uint64_t pieces)
{
    unsigned count = pieces_of(e);
    if (e->resize && pieces) sim_play_effect(image, e);
    for (unsigned k = 0; !e->resize && k < count; k++)
        if (pieces >> k & 1)
            sim_play_part(image, e, (size_t)k * SIM_PIECE, k + 1 == count ? e->n : (size_t)(k + 1) * SIM_PIECE);
}

/* A file as it would be: durable, all of it. */
static sim_node *thawed(const sim_node *file, const uint64_t *pieces)
{
    sim_node *node = sim_node_new(false);
    sim_image_copy(&node->image, &file->durable);
    for (const sim_effect *e = file->effects; e; e = e->next) play_pieces(&node->image, e, *pieces++);
    sim_image_copy(&node->durable, &node->image);
    node->owner = file->owner;
    node->mode = file->mode;
    return node;
}

static unsigned count_effects(const sim_node *file)
{
    unsigned n = 0;
    for (const sim_effect *e = file->effects; e; e = e->next) n++;
    return n;
}

static sim_node *choose_names(sim_node *dir, const uint64_t **pieces)
{
    const sim_node *kept = dir->kept ? dir->kept : dir;
    sim_node *names = sim_node_new(true);
    for (size_t i = 0; i < kept->count; i++) sim_add_kept(names, kept->entries[i].name, kept->entries[i].node);
    for (const sim_name_op *op = dir->name_ops; op; op = op->next)
        if (*(*pieces)++) sim_play_name(names, op);
    return names;
}

void sim_thaw(const char *path, const char *to, const uint64_t pieces[SIM_UNITS_MAX])
{
    sim_node *files[FILES_MAX], *out = NULL;
    sim_make_dir(to);
    pthread_mutex_lock(&world.lock);
    sim_node *dir = frozen_at(path), *names = choose_names(dir, &pieces);
    size_t count = list_files(dir, files);
    MUST(sim_walk(to, &out) == 0);
    while (out->count > 0) sim_remove_entry(out, &out->entries[out->count - 1]);
    sim_note_names_synced(out);
    for (size_t i = 0; i < count; pieces += count_effects(files[i++]))
        for (size_t k = 0; k < names->count; k++) {
            if (names->entries[k].node != files[i]) continue;
            sim_node *node = thawed(files[i], pieces);
            sim_add_entry(out, names->entries[k].name, node);
            sim_node_drop(node);
        }
    for (size_t k = 0; k < names->count; k++) names->entries[k].node->names++; /* see sim_add_kept */
    sim_node_drop(names);
    pthread_mutex_unlock(&world.lock);
}

uint64_t sim_digest(const char *path)
{
    static const uint8_t zeros[SIM_CHUNK];
    uint64_t sum = 0;
    pthread_mutex_lock(&world.lock);
    const sim_node *dir = frozen_at(path);
    for (size_t i = 0; i < dir->count; i++) {
        const sim_image *image = &dir->entries[i].node->image;
        sum = XXH3_64bits_withSeed(dir->entries[i].name, strlen(dir->entries[i].name), sum + image->size);
        for (size_t k = 0; k < image->count; k++)
            if (image->chunks[k] && memcmp(image->chunks[k]->bytes, zeros, SIM_CHUNK) != 0)
                sum = XXH3_64bits_withSeed(image->chunks[k]->bytes, SIM_CHUNK, sum + k);
    }
    pthread_mutex_unlock(&world.lock);
    return sum;
}
