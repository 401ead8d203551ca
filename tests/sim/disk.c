/*
 * tests/sim/disk.c: the disk: nodes, the names that lead to them, and what tests do with files themselves. A
 * node lives as long as a name or an open handle holds it.
 *
 * The functions on nodes are called with the lock held; the verbs of tests take it.
 */
#include "tests/must.h"
#include "tests/sim/world.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NAME_MAX_BYTES = 255 };

/* Nodes */

sim_node *sim_node_new(bool is_dir)
{
    sim_node *node = calloc(1, sizeof *node);
    assert(node);
    node->number = ++world.numbers;
    node->is_dir = is_dir;
    node->holds = 1;
    sim_touch(node);
    return node;
}

/* A directory's names go with it: those that hold nodes are taken away one by one, deepest first. */
void sim_node_drop(sim_node *node)
{
    sim_node *chain[DEPTH_MAX];
    unsigned depth = 0;
    for (chain[depth++] = node; depth > 0;) {
        sim_node *top = chain[depth - 1];
        if (top->holds == 1 && top->count > 0) {
            sim_entry *last = &top->entries[--top->count];
            free(last->name);
            assert(depth < DEPTH_MAX);
            chain[depth++] = last->node;
            continue;
        }
        depth--;
        if (--top->holds > 0) continue;
        sim_image_release(&top->image);
        sim_image_release(&top->durable);
        sim_drop_effects(top);
        sim_note_names_synced(top); /* what is kept of them goes too */
        free(top->entries);
        free(top);
    }
}

void sim_touch(sim_node *node)
{
    node->changed_us = sim_now() + world.wall_ahead_us;
}

/* The place of a name in a directory: of the first entry that is not before it. */
static size_t place_of(const sim_node *dir, const char *name)
{
    size_t from = 0, to = dir->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(dir->entries[middle].name, name) < 0) from = middle + 1;
        else to = middle;
    }
    return from;
}

sim_entry *sim_entry_of(sim_node *dir, const char *name)
{
    size_t i = place_of(dir, name);
    return i < dir->count && strcmp(dir->entries[i].name, name) == 0 ? &dir->entries[i] : NULL;
}

void sim_add_entry(sim_node *dir, const char *name, sim_node *node)
{
    assert(dir->is_dir && sim_entry_of(dir, name) == NULL);
    dir->entries = realloc(dir->entries, (dir->count + 1) * sizeof *dir->entries);
    assert(dir->entries);
    sim_entry *entry = &dir->entries[place_of(dir, name)];
    memmove(entry + 1, entry, (size_t)(dir->entries + dir->count++ - entry) * sizeof *entry);
    *entry = (sim_entry){.name = strdup(name), .node = node};
    node->holds++;
    node->names++;
    sim_touch(dir);
}

void sim_remove_entry(sim_node *dir, sim_entry *entry)
{
    sim_node *node = entry->node;
    free(entry->name);
    memmove(entry, entry + 1, (size_t)(dir->entries + dir->count - (entry + 1)) * sizeof *entry);
    dir->count--;
    node->names--;
    sim_node_drop(node);
    sim_touch(dir);
}

/* Paths */

/* The next name in a path, which moves behind it: false if there is none, or it is too long. */
static bool next_name(const char **path, char name[256], int *err)
{
    const char *p = *path;
    while (*p == '/' || (*p == '.' && (p[1] == '/' || p[1] == 0))) p++;
    size_t n = strcspn(p, "/");
    *path = p + n;
    if (n > NAME_MAX_BYTES) *err = -ENAMETOOLONG;
    if (n == 0 || n > NAME_MAX_BYTES) return false;
    memcpy(name, p, n);
    name[n] = 0;
    return true;
}

/* Follows a path: chain[0] is the root. The last name may be missing: then chain[depth] is NULL. */
static int follow(const char *path, sim_node **last, sim_node **parent, char name[256])
{
    sim_node *chain[DEPTH_MAX] = {world.root};
    unsigned depth = 0;
    int err = 0;
    char next[256];
    name[0] = 0;
    while (next_name(&path, next, &err)) {
        if (chain[depth] == NULL) return -ENOENT;
        if (!chain[depth]->is_dir) return -ENOTDIR;
        if (strcmp(next, "..") == 0) {
            if (depth > 0) depth--;
            continue;
        }
        if (depth + 1 == DEPTH_MAX) return -ELOOP;
        sim_entry *entry = sim_entry_of(chain[depth], next);
        chain[++depth] = entry ? entry->node : NULL;
        memcpy(name, next, sizeof next);
    }
    *last = chain[depth];
    *parent = depth > 0 ? chain[depth - 1] : NULL;
    return err;
}

int sim_walk(const char *path, sim_node **out)
{
    sim_node *last, *parent;
    char name[256];
    int err = follow(path, &last, &parent, name);
    if (err == 0 && last == NULL) err = -ENOENT;
    if (err == 0) *out = last;
    return err;
}

int sim_walk_parent(const char *path, sim_node **parent, char name[256])
{
    sim_node *last;
    int err = follow(path, &last, parent, name);
    if (err == 0 && *parent == NULL) err = -EBUSY; /* the root itself */
    return err;
}

/* Verbs of tests */

static void lock(void)
{
    MUST_SAY(world.in_use, "there is no simulated disk");
    pthread_mutex_lock(&world.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&world.lock);
}

static sim_node *node_at(const char *path)
{
    sim_node *node = NULL;
    int err = sim_walk(path, &node);
    MUST_SAY(err == 0, "%s: %s", path, strerror(-err));
    return node;
}

static sim_node *parent_of(const char *path, char name[256])
{
    sim_node *parent = NULL;
    int err = sim_walk_parent(path, &parent, name);
    MUST_SAY(err == 0, "%s: %s", path, strerror(-err));
    return parent;
}

/* The file at a path, made if there is none. */
static sim_node *file_at(const char *path)
{
    char name[256];
    sim_node *parent = parent_of(path, name);
    sim_entry *entry = sim_entry_of(parent, name);
    if (entry == NULL) {
        sim_node *node = sim_node_new(false);
        sim_keep_name(parent, name, node);
        sim_add_entry(parent, name, node);
        sim_node_drop(node);
        return node;
    }
    MUST_SAY(!entry->node->is_dir, "%s: a directory", path);
    return entry->node;
}

static bool look_up(const char *path, bool *is_dir)
{
    sim_node *node;
    if (!world.in_use) return false;
    lock();
    bool there = sim_walk(path, &node) == 0;
    if (there) *is_dir = node->is_dir;
    unlock();
    return there;
}

bool sim_holds(const char *path)
{
    bool unused;
    return look_up(path, &unused);
}

bool sim_is_dir(const char *path)
{
    bool is_dir = false;
    return look_up(path, &is_dir) && is_dir;
}

void sim_make_dir(const char *path)
{
    lock();
    sim_node *dir = world.root;
    char name[256];
    int err = 0;
    while (next_name(&path, name, &err)) {
        sim_entry *entry = sim_entry_of(dir, name);
        if (entry == NULL) {
            sim_node *node = sim_node_new(true);
            sim_add_entry(dir, name, node);
            sim_node_drop(node);
            entry = sim_entry_of(dir, name);
        }
        dir = entry->node;
        MUST_SAY(dir->is_dir, "%s: not a directory", name);
    }
    MUST_SAY(err == 0, "the name is too long");
    unlock();
}

uint64_t sim_size(const char *path)
{
    lock();
    uint64_t size = node_at(path)->image.size;
    unlock();
    return size;
}

unsigned sim_links(const char *path)
{
    lock();
    unsigned links = node_at(path)->names;
    unlock();
    return links;
}

void sim_dress(const char *path, uint64_t owner, uint64_t mode)
{
    lock();
    sim_node *node = node_at(path);
    node->owner = owner;
    node->mode = mode;
    sim_touch(node);
    unlock();
}

size_t sim_read(const char *path, uint64_t off, void *buf, size_t n)
{
    lock();
    size_t got = sim_image_read(&node_at(path)->image, off, buf, n);
    unlock();
    return got;
}

void sim_write(const char *path, uint64_t off, const void *bytes, size_t n)
{
    lock();
    sim_node *node = file_at(path);
    sim_image_write(&node->image, off, bytes, n);
    sim_image_write(&node->durable, off, bytes, n);
    sim_touch(node);
    unlock();
}

void sim_decay(const char *path, uint64_t off, uint8_t mask)
{
    uint8_t byte = 0;
    lock();
    sim_node *node = node_at(path);
    MUST_SAY(sim_image_read(&node->image, off, &byte, 1) == 1, "%s: no byte at %llu", path, (unsigned long long)off);
    byte ^= mask;
    sim_image_write(&node->image, off, &byte, 1);
    sim_image_write(&node->durable, off, &byte, 1);
    unlock();
}

void sim_resize(const char *path, uint64_t size)
{
    lock();
    sim_node *node = file_at(path);
    sim_image_resize(&node->image, size);
    sim_image_resize(&node->durable, size);
    sim_touch(node);
    unlock();
}

void sim_remove(const char *path)
{
    char name[256];
    lock();
    sim_node *parent = parent_of(path, name);
    sim_entry *entry = sim_entry_of(parent, name);
    if (entry) sim_keep_name(parent, name, NULL);
    if (entry) sim_remove_entry(parent, entry);
    unlock();
}

void sim_move(const char *from, const char *to)
{
    char name[256], new_name[256];
    lock();
    sim_node *parent = parent_of(from, name), *new_parent = parent_of(to, new_name);
    sim_entry *entry = sim_entry_of(parent, name);
    MUST_SAY(entry != NULL, "%s: not there", from);
    MUST_SAY(sim_entry_of(new_parent, new_name) == NULL, "%s: there already", to);
    sim_keep_name(new_parent, new_name, entry->node);
    sim_keep_name(parent, name, NULL);
    sim_add_entry(new_parent, new_name, entry->node);
    sim_remove_entry(parent, sim_entry_of(parent, name));
    unlock();
}

void sim_link(const char *path, const char *other)
{
    char name[256];
    lock();
    sim_node *parent = parent_of(other, name);
    sim_keep_name(parent, name, node_at(path));
    sim_add_entry(parent, name, node_at(path));
    unlock();
}

static void copy_file(const sim_node *from, const char *to)
{
    sim_node *node = file_at(to);
    sim_drop_effects(node);
    sim_image_copy(&node->image, &from->image);
    sim_image_copy(&node->durable, &from->durable);
    sim_touch(node);
}

void sim_copy(const char *from, const char *to)
{
    if (sim_is_dir(from)) sim_make_dir(to);
    lock();
    const sim_node *node = node_at(from);
    if (!node->is_dir) copy_file(node, to);
    for (size_t i = 0; i < node->count; i++) {
        char path[4400];
        if (node->entries[i].node->is_dir) continue;
        snprintf(path, sizeof path, "%s/%s", to, node->entries[i].name);
        copy_file(node->entries[i].node, path);
    }
    if (node->is_dir) sim_copy_kept(node, node_at(to));
    unlock();
}

char **sim_names(const char *path, size_t *count)
{
    lock();
    const sim_node *dir = node_at(path);
    char **names = calloc(dir->count + 1, sizeof *names);
    for (size_t i = 0; i < dir->count; i++) names[i] = strdup(dir->entries[i].name);
    *count = dir->count;
    unlock();
    return names;
}
