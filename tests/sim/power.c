/*
 * tests/sim/power.c: what a power cut leaves of a directory: bytes and names that were synced.
 */
#include "tests/must.h"
#include "tests/sim/world.h"

void sim_note_synced(sim_node *file)
{
    sim_image_copy(&file->durable, &file->image);
}

void sim_note_names_synced(sim_node *dir)
{
    for (size_t i = 0; i < dir->count; i++) dir->entries[i].unsynced = false;
}

void sim_cut_power(const char *path)
{
    sim_node *dir = NULL;
    pthread_mutex_lock(&world.lock);
    MUST_SAY(sim_walk(path, &dir) == 0 && dir->is_dir, "%s: not a directory", path);
    for (size_t i = dir->count; i > 0; i--) {
        sim_entry *entry = &dir->entries[i - 1];
        if (entry->unsynced) {
            sim_remove_entry(dir, entry);
        } else if (!entry->node->is_dir) {
            sim_image_copy(&entry->node->image, &entry->node->durable);
            sim_touch(entry->node);
        }
    }
    pthread_mutex_unlock(&world.lock);
}
