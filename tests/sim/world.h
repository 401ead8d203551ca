/*
 * tests/sim/world.h: what the files of the simulation share: the world, and the types of its disk. Tests see
 * sim.h only.
 *
 * Locking: world.lock is held from sim_enter to sim_leave, in a queue's calls and in the verbs of tests. Tasks,
 * hooks and callbacks of the engine are called without it.
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include "engine/os/inline.h"
#define SIM_WITHIN
#include "tests/sim/sim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* What the world needs is to be had where the engine's memory is refused: tests/engine/scarce.h. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
#define malloc(size) __real_malloc(size)
#define calloc(n, size) __real_calloc(n, size)
#define realloc(p, size) __real_realloc(p, size)
#define strdup(text) __real_strdup(text)

/* Bytes of files */

enum { SIM_CHUNK = 16384, SIM_PAGE = 4096 };

typedef struct sim_chunk {
    unsigned refs; /* images that share it */
    uint8_t bytes[SIM_CHUNK];
} sim_chunk;

/* Behind `size` all bytes of the last chunk are zero. */
typedef struct sim_image {
    sim_chunk **chunks; /* NULL: zeros */
    size_t count;
    uint64_t size;
} sim_image;

size_t sim_image_read(const sim_image *image, uint64_t off, void *buf, size_t n);
void sim_image_write(sim_image *image, uint64_t off, const void *buf, size_t n);
void sim_image_resize(sim_image *image, uint64_t size);
/* The first offset at or behind `off` that was written to, by chunks; the size if none was. */
uint64_t sim_image_data(const sim_image *image, uint64_t off);
/* Shares the bytes of `from`; what `to` had is given back. */
void sim_image_copy(sim_image *to, const sim_image *from);
void sim_image_release(sim_image *image);

/* Directories and files */

typedef struct sim_entry {
    char *name;
    struct sim_node *node;
} sim_entry;

/* What the engine did to a file and is not durable. In a queue's slot as long as nobody was told. */
typedef struct sim_effect {
    struct sim_effect *next;
    uint64_t told; /* tick at which it was told done; 0: not yet */
    bool resize;   /* of the file, to `off`; else `n` bytes were written there */
    uint64_t off;
    size_t n;
    uint8_t bytes[];
} sim_effect;

/* What it did to the names in a directory and is not durable. */
typedef struct sim_name_op {
    struct sim_name_op *next;
    char *from; /* this name went, NULL: none */
    char *to;   /* this name came, of `node` */
    struct sim_node *node;
} sim_name_op;

typedef struct sim_node {
    uint64_t number;
    bool is_dir;
    unsigned holds; /* names and open handles; freed with the last */
    unsigned names; /* of these, names */
    uint64_t changed_us;
    uint64_t owner, mode;  /* 0 at first */
    const void *locked_by; /* the handle that has the lock; NULL: none. See sim_locked. */
    unsigned lock_life;    /* of the handle's process */
    sim_image image;       /* of a file: what is written, */
    sim_image durable;     /*   and what was synced of it; */
    sim_effect *effects, *last_effect; /* what makes the one of the other, oldest first */
    sim_entry *entries;    /* of a directory, by name */
    size_t count;
    struct sim_node *kept; /* a directory of those that are durable; NULL: they all are; else */
    sim_name_op *name_ops; /*   what makes the one of the other, oldest first */
    uint8_t posted[128];   /* in a directory: what was posted there last, */
    size_t posted_size;    /*   0: nothing is, */
    const void *posted_by; /*   by which handle */
} sim_node;

sim_node *sim_node_new(bool is_dir);
void sim_node_drop(sim_node *node); /* gives one hold back */
/* The node at a path, without a hold; or its parent, and the last name. 0, -ENOENT, -ENOTDIR. */
int sim_walk(const char *path, sim_node **out);
int sim_walk_parent(const char *path, sim_node **parent, char name[256]);
sim_entry *sim_entry_of(sim_node *dir, const char *name); /* NULL: there is none */
void sim_add_entry(sim_node *dir, const char *name, sim_node *node); /* takes a hold */
void sim_remove_entry(sim_node *dir, sim_entry *entry);
void sim_touch(sim_node *node); /* it changed now */

/* What is done to files and names, and what of it is durable. The lock is held. (power.c) */
sim_effect *sim_note_effect(sim_node *file, bool resize, uint64_t off, const void *bytes, size_t n);
/* The same for a write that is durable when it is done, and with it the sizes that were told before it began. */
void sim_note_durable(sim_node *file, uint64_t began, uint64_t off, const void *bytes, size_t n);
void sim_note_told(sim_effect *effect); /* its call has returned, or its completion was taken */
/* All that was told by the tick at which the sync began is durable. U9I_FOREVER: now. */
void sim_note_synced(sim_node *file, uint64_t began);
void sim_drop_effects(sim_node *file);
/* Before the change: the name `from` goes (NULL: none), `to` comes (NULL: none). */
void sim_note_name(sim_node *dir, const char *from, const char *to, sim_node *node);
void sim_note_names_synced(sim_node *dir);
/* A name that a test gives, or takes away (node NULL), is durable. */
void sim_keep_name(sim_node *dir, const char *name, sim_node *node);
void sim_copy_kept(const sim_node *dir, sim_node *copy); /* after the copy has all entries */
/* At the end of each call: the power may go. */
void sim_count_power(void);
/* A name among those that are kept; what was done to a name, done to these. */
void sim_add_kept(sim_node *kept, const char *name, sim_node *node);
void sim_play_name(sim_node *kept, const sim_name_op *op);
void sim_play_effect(sim_image *image, const sim_effect *e);
/* Bytes [from, to) of it; the image is as long as the write makes it. */
void sim_play_part(sim_image *image, const sim_effect *e, size_t from, size_t to);

/* Handles */

typedef struct sim_dir {
    u9i_dir dir;
    sim_node *node;
    sim_node *locks; /* what its lock is on: the directory or the single file */
    const char *path;
    pid_t owner;
    unsigned life;
} sim_dir;

typedef struct sim_file {
    u9i_file file;
    sim_node *node;
    u9i_open_mode mode;
    const char *path;
    uint64_t segment;
    pid_t owner;
    unsigned life;
    bool killed; /* with its process: it is a copy */
} sim_file;

/* The file as its process sees it: what a killed one still does, it does to a copy. */
sim_file *sim_file_of(u9i_file *file);

/* Calls */

/* One call, from sim_enter to sim_leave, or an operation of a queue. */
typedef struct sim_call {
    size_t op; /* in the diary */
    bool half; /* a write that fails is to be done by half */
} sim_call;

/*
 * Begins a call: what is due may run, time moves, a test may hold it; takes the lock. 0, or the error that
 * a plan has for it.
 */
int sim_enter(sim_call *call, sim_kind kind, const char *path, uint64_t begin, uint64_t end);
/* Ends it with its result, which is returned. */
int sim_leave(sim_call *call, int error);
/* The two halves of them, for operations that are under way: the lock is held. */
int sim_note(sim_call *call, sim_kind kind, const char *path, uint64_t begin, uint64_t end);
void sim_tell(const sim_call *call, int64_t result);
/* A call that is entered only if a plan has an error for it; the lock is held. */
int sim_note_failure(sim_kind kind, const char *path);
void sim_moved(const sim_call *call, uint64_t bytes); /* so many were read or written */

/* The text, kept until sim_end. Without the lock. */
const char *sim_keep(const char *text);
/* The number of a segment's name, 0 if it is none. */
uint64_t sim_segment_of(const char *path);
void sim_check_owner(pid_t owner);

/* Trouble: what a read of a node shows. 0, or its error. The lock is held. */
int sim_show(const sim_node *node, uint64_t off, void *buf, size_t got);
/* The error of a page that cannot be read, without counting. */
int sim_unreadable(const sim_node *node, uint64_t from, uint64_t to);
void sim_asked(void);

/* True if anybody but this handle has the node's lock. */
bool sim_locked(const sim_node *node, const void *handle);

/* Numbers drawn from the seed: below `n`, for choices. The lock is held, or there are no threads. */
uint64_t sim_draw(uint64_t n);
uint64_t sim_now(void); /* of the monotonic clock, which stands still */

extern const u9i_fs sim_fs;
extern const u9i_queue_type sim_queue_type;
extern const u9i_watch_type sim_watch_type;

/* The posts of u9i_fs. (watch.c) */
int sim_post(u9i_dir *dir, const char *name, const void *bytes, size_t n);
int sim_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got);

typedef struct sim_plan {
    sim_kind kind;
    unsigned nth, seen;
    int error;
    bool sticky, half;
} sim_plan;

typedef struct sim_trouble {
    sim_node *node; /* one hold on it; NULL: this one is over */
    uint64_t from, to;
    int error;       /* 0: zeros */
    unsigned reads;  /* how many more; 0: all, until `until` */
    sim_until until; /* where reads are not counted */
    unsigned delay;  /* how many reads before it begins */
    bool begun;
} sim_trouble;

/* A write that a killed process left under way. */
typedef struct sim_late {
    struct sim_late *next;
    sim_node *node; /* one hold on it */
    uint64_t off, due_us;
    size_t n;
    uint8_t bytes[];
} sim_late;

/* A lie that is to be told. */
typedef struct sim_lie_plan {
    sim_lie_kind kind;
    unsigned nth; /* 0: none */
    uint64_t arg;
} sim_lie_plan;

/* The lie about an operation that is submitted: nth 0 if it is done as it should. The lock is held. (lies.c) */
sim_lie_plan sim_ask_lies(const u9i_op *op);
/* Does it: the effect, or NULL where there is none; a write's bytes that land are told as done. */
sim_effect *sim_do_lie(const sim_lie_plan *lie, sim_node *file, const u9i_op *op);
/* What a write promises, as it is submitted. */
void sim_look_at_promises(const sim_file *file, const u9i_op *op);
uint64_t sim_sum(const u9i_op *op); /* of the bytes that it writes */
void sim_breach(const char *what, const char *path, uint64_t off); /* ends the test */
/* True if anything is under way, and not done, that was submitted with this handle. */
bool sim_uses(const u9i_file *file);
/* True if a write of the file that begins below `end` is under way, and not done. */
bool sim_is_under_way(const sim_node *node, uint64_t end);

/* The kill, with the lock held. (queue.c has what is under way, kill.c all else.) */
void sim_kill_now(void);
void sim_collect_late(void);
bool sim_has_late(const sim_node *node);
void sim_add_late(sim_node *node, const u9i_op *op);
/* What is under way, and not done: each write once, in a drawn order; and no slot has an effect any more. */
void sim_each_pending(void (*each)(sim_node *node, const u9i_op *op));
void sim_forget_effect(const sim_effect *effect);
/* SIM_WILD: what is done by now, of all queues. */
void sim_progress(void);
/* What is due by now lands; all of it: U9I_FOREVER. */
void sim_land_due(uint64_t now_us);

enum { SIM_PLANS_MAX = 8, SIM_TROUBLES_MAX = 16 };

typedef struct sim_world {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a hold, a wake */
    bool in_use, threads;
    unsigned width; /* of the executor */
    pthread_t thread; /* without threads: the only one */
    pid_t process;

    sim_node *root;
    uint64_t numbers; /* of nodes, so far */
    void *texts;      /* kept until the end: a tree of search.h */

    uint64_t now_us, wall_ahead_us; /* of the wall clock before the monotonic one */
    unsigned machine; /* which one this is; 0: it has no id */
    uint64_t secrets, choices;      /* states of what is drawn */
    u9i_inline tasks;
    u9i_dir *posix_root; /* with threads */
    unsigned task_chance;
    bool in_task;

    sim_op *ops;
    size_t op_count, op_room;
    uint64_t tick;
    sim_plan plans[SIM_PLANS_MAX];
    unsigned plan_count, fired;
    void (*on_call)(sim_kind kind);
    const char *spared; /* the name that plans pass by; NULL: none */
    const char *aimed;  /* the only name that plans look at; NULL: all are */
    sim_order order;
    struct queue *queues;
    unsigned life;      /* how many processes were killed */
    unsigned kill_nth;  /* writes until a kill; 0: none comes */
    unsigned power_nth; /* calls until the power goes; 0: it stays */
    bool freezes;       /* it leaves open then what is not durable */
    sim_lie_plan lies[SIM_PLANS_MAX];
    unsigned lied;      /* how many were told */
    bool watches;       /* promises, */
    unsigned promised;  /*   of which so many were seen */
    sim_late *late;     /* in the order in which they land */
    bool held;
    sim_kind hold;
    unsigned hold_nth; /* calls until the one that stops; 0: none does */

    sim_trouble troubles[SIM_TROUBLES_MAX], *trouble; /* the one told last */
    void (*before_list)(unsigned nth);
    void (*before_call)(sim_kind kind);
    bool is_before; /* it runs */
    unsigned lists;
    uint64_t posts, renames, writes; /* so many posts, changes of names, of files: what watches are told of */
} sim_world;

extern sim_world world;

/*
 * Time passes until then, and what is due runs at its time; or one task that is due already: true if there was
 * one. Without the lock, and without threads.
 */
void sim_run_tasks(uint64_t until_us);
bool sim_run_task(void);
void sim_let_a_task_run(void); /* perhaps: sim_task_chance */

#endif
