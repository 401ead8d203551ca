/*
 * tests/rados/model.c: the protocol of one writer as a model, and every order of its steps. [RD-5] [RD-6] [RD-7] [RD-8]
 *
 * Writer 1 has the log with epoch 1 and appends cells (a cell is a write; OBJECT_CELLS fill an object), UNDER_WAY of its
 * requests at once; writer 2 takes over at any time (the lease is the weakest there is: it has run out whenever that is of use), may
 * be stopped between any two of its steps, and then 3 takes over from both. Who has taken over may remove the file, too. Each writer goes on in its own time, and
 * what it has sent arrives later, in the order sent, or never. Each step is one operation of RADOS on one object, and all
 * orders are gone through: a state is entered once.
 *
 * What must hold when a taker has settled the size:
 *   - every cell that a writer before was told is done, is in the file at that size
 *   - no cell changes afterwards but by who has the log
 *   - who took over after has a higher epoch, and the one before is told of nothing more
 *
 * WEAKEN in the environment takes one rule away, and the model must then find a state that is wrong: "proof" (writes
 * compare nothing), "order" (the next object is made before the one before is acknowledged, and the taker stops at the
 * first that is missing), "tombstone" (no object is made behind the end), "count" (what is acknowledged is not asked for
 * once more), "early" (the size is looked at before the objects got the epoch), "raise" (the epoch is not compared when it
 * is raised). `model` alone runs all of these, and the true one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITERS = 3, OBJECTS = 3, OBJECT_CELLS = 1, CELLS = OBJECTS * OBJECT_CELLS, UNDER_WAY = 3, TABLE = 1 << 25 };

/* Of a request that is on its way to an object. */
enum { NONE, CREATE, WRITE };

/* Of a taker, in the order of its steps. */
enum { IDLE, READ_EPOCH, RAISE, FENCE, LOOK, WRITES, GONE };

typedef struct request {
    uint8_t kind, cell; /* CREATE: `cell` is the object */
    uint8_t result;     /* 0: on its way; 1: done; 2: refused */
} request;

typedef struct party {
    uint8_t step, epoch, seen; /* `seen`: the epoch that it read */
    uint8_t at;                /* FENCE: the object; */
    uint8_t made, next;        /* WRITES: objects that are there; the next cell */
    uint8_t begin;             /* the cell that it began at: the size that it settled */
    uint8_t told;              /* cells of its own that it was told are done: a bit each */
    request way[UNDER_WAY];
} party;

typedef struct state {
    uint8_t epoch;                      /* of the directory */
    uint8_t owner_of[CELLS];            /* whose byte stands there; 0: nobody's */
    uint8_t object[OBJECTS];            /* its epoch + 1; 0: it is not there */
    uint8_t settled, settled_by;        /* size in cells, by the last who did */
    uint8_t removed;                    /* by it: the file is gone */
    uint8_t seen[CELLS];                /* what the one who settled saw */
    party p[WRITERS];
} state;

static const char *weaken = "";
static state *stack;
static size_t depth, room;
static uint64_t entered, *table;
static const char *broken;

static bool without(const char *rule)
{
    return strcmp(weaken, rule) == 0;
}

static uint64_t hash_of(const state *s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof *s; i++) h = (h ^ ((const uint8_t *)s)[i]) * 0x100000001b3u;
    h ^= h >> 29;
    return h ? h : 1;
}

/* States are told apart by 64 bits of hash. */
static void enter(const state *s)
{
    uint64_t h = hash_of(s);
    size_t i = (size_t)(h * 0x9e3779b97f4a7c15u >> 40) % TABLE;
    while (table[i] != 0 && table[i] != h) i = (i + 1) % TABLE;
    if (table[i] == h) return;
    table[i] = h;
    if (++entered > TABLE / 2) {
        fprintf(stderr, "model: too many states\n");
        exit(2);
    }
    if (depth == room) stack = realloc(stack, (room = room ? 2 * room : 1024) * sizeof *stack);
    stack[depth++] = *s;
}

/* A step that breaks what must hold is the end of the search. */
static void wrong(const char *what)
{
    if (broken == NULL) broken = what;
}

static void check(const state *s)
{
    if (s->settled_by == 0 || s->removed) return;
    const party *now = &s->p[s->settled_by - 1];
    for (unsigned w = 0; w + 1 < s->settled_by; w++) {
        const party *before = &s->p[w];
        for (unsigned c = 0; c < CELLS; c++) {
            bool told = before->told >> c & 1;
            bool over = c >= now->begin && s->owner_of[c] == s->settled_by; /* the new one has gone on there */
            if (told && c < s->settled && s->seen[c] != w + 1 && s->owner_of[c] != w + 1 && !over && s->seen[c] < w + 1)
                wrong("a cell that was acknowledged is not what the next one saw");
            if (told && c >= s->settled) wrong("a cell that was acknowledged is behind the settled size");
        }
    }
    for (unsigned c = 0; c < s->settled; c++)
        if (s->owner_of[c] != s->seen[c]) wrong("a cell changed after the log was taken over");
    for (unsigned c = s->settled; c < CELLS; c++)
        if (s->owner_of[c] != 0 && s->owner_of[c] < s->settled_by) wrong("a cell of a former writer came behind the settled size");
}

/* Requests arrive in the order in which one writer sent them to one object: way[0] is the oldest. */
static unsigned object_of(const request *r)
{
    return r->kind == CREATE ? r->cell : r->cell / OBJECT_CELLS;
}

static bool may_arrive(const party *p, unsigned i)
{
    if (p->way[i].kind == NONE || p->way[i].result != 0) return false;
    for (unsigned k = 0; k < i; k++)
        if (p->way[k].result == 0 && object_of(&p->way[k]) == object_of(&p->way[i])) return false;
    return true;
}

static void arrive(state s, unsigned w, unsigned i)
{
    party *p = &s.p[w];
    request *r = &p->way[i];
    if (r->kind == CREATE) {
        r->result = s.object[r->cell] ? 2 : 1;
        if (r->result == 1) s.object[r->cell] = (uint8_t)(p->epoch + 1);
    } else {
        unsigned o = r->cell / OBJECT_CELLS;
        bool good = s.object[o] != 0 && (without("proof") || s.object[o] <= p->epoch + 1);
        r->result = good ? 1 : 2;
        if (good) s.owner_of[r->cell] = (uint8_t)(w + 1);
    }
    enter(&s);
    check(&s);
}

static void drop(party *p, unsigned i)
{
    for (; i + 1 < UNDER_WAY; i++) p->way[i] = p->way[i + 1];
    p->way[UNDER_WAY - 1] = (request){0};
}

/* Takes a result: the lease may be over, so the epoch is asked for once more. [RD-7] */
static void take(state s, unsigned w, unsigned i)
{
    party *p = &s.p[w];
    request r = p->way[i];
    drop(p, i);
    if (r.result == 2 || (r.kind == WRITE && !without("count") && s.epoch != p->epoch)) {
        p->step = GONE;
        memset(p->way, 0, sizeof p->way);
    } else if (r.kind == CREATE) {
        if (p->made <= r.cell) p->made = (uint8_t)(r.cell + 1);
    } else {
        p->told |= (uint8_t)(1u << r.cell);
        if (s.settled_by > w + 1 && (r.cell >= s.settled || s.removed)) wrong("a cell is acknowledged that the next writer does not have");
    }
    enter(&s);
    check(&s);
}

static bool is_making(const party *p, unsigned object)
{
    for (unsigned i = 0; i < UNDER_WAY; i++)
        if (p->way[i].kind == CREATE && p->way[i].cell == object) return true;
    return false;
}

/* The next request of one who writes: an object, where that is needed, or a cell. */
static void send(state s, unsigned w)
{
    party *p = &s.p[w];
    unsigned i = 0, object = p->next / OBJECT_CELLS;
    while (i < UNDER_WAY && p->way[i].kind != NONE) i++;
    if (p->next == CELLS || i == UNDER_WAY) return;
    bool ahead = without("order") && p->made + 1u < OBJECTS && is_making(p, p->made) && !is_making(p, p->made + 1u);
    if (ahead) p->way[i] = (request){CREATE, (uint8_t)(p->made + 1), 0};
    else if (object >= p->made && !is_making(p, p->made)) p->way[i] = (request){CREATE, p->made, 0};
    else if (object < p->made) p->way[i] = (request){WRITE, p->next++, 0};
    else return;
    enter(&s);
}

static void settle(state *s, unsigned w)
{
    party *p = &s->p[w];
    uint8_t size = 0;
    for (unsigned c = 0; c < CELLS; c++)
        if (s->owner_of[c]) size = (uint8_t)(c + 1);
    p->begin = p->next = s->settled = size;
    s->settled_by = (uint8_t)(w + 1);
    memcpy(s->seen, s->owner_of, sizeof s->seen);
    p->made = p->at;
}

/* One step of taking over. It may also stop for good: then it is simply never taken. */
static void take_over(state s, unsigned w)
{
    party *p = &s.p[w];
    uint8_t mine = (uint8_t)(p->epoch + 1);
    switch (p->step) {
    case IDLE:
        p->step = READ_EPOCH;
        p->seen = s.epoch;
        break;
    case READ_EPOCH:
        if (s.epoch != p->seen && !without("raise")) {
            p->step = GONE;
            break;
        }
        s.epoch = p->epoch = (uint8_t)(p->seen + 1);
        p->step = without("early") ? LOOK : FENCE;
        p->at = 0;
        break;
    case FENCE: /* a request an object: its epoch, or made anew */
        if (p->at == OBJECTS) p->step = without("early") ? WRITES : LOOK;
        else if (s.object[p->at] > mine) p->step = GONE;
        else if (s.object[p->at] != 0) s.object[p->at++] = mine;
        else {
            if (!without("tombstone")) s.object[p->at++] = mine;
            p->step = without("early") ? WRITES : LOOK;
        }
        if (p->step == WRITES) p->made = p->at;
        break;
    case LOOK: /* what was removed is in no directory; else the size goes into the entry in an operation that proves the epoch */
        if (s.epoch != p->epoch || s.removed) {
            p->step = GONE;
            break;
        }
        settle(&s, w);
        p->step = without("early") ? FENCE : WRITES;
        break;
    default: return;
    }
    enter(&s);
    check(&s);
}

/* Whoever has the log, and has it surely, trims: the file and its objects go. */
static void remove_file(state s, unsigned w)
{
    if (s.removed || s.settled_by != w + 1 || s.epoch != s.p[w].epoch) return;
    s.removed = 1;
    memset(s.object, 0, sizeof s.object);
    memset(s.owner_of, 0, sizeof s.owner_of);
    s.p[w].next = CELLS;
    enter(&s);
}

static void explore(const state *s)
{
    for (unsigned w = 0; w < WRITERS && broken == NULL; w++) {
        const party *p = &s->p[w];
        if (p->step == WRITES && w > 0) remove_file(*s, w);
        if (p->step == WRITES) send(*s, w);
        else if (p->step != GONE && (w == 0 || s->p[w - 1].step != IDLE)) take_over(*s, w);
        for (unsigned i = 0; i < UNDER_WAY; i++) {
            if (may_arrive(p, i)) arrive(*s, w, i);
            if (p->way[i].kind != NONE && p->way[i].result != 0) take(*s, w, i);
        }
    }
}

/* True if nothing is wrong in any state. */
static bool run(const char *rule)
{
    state begin = {.epoch = 1, .p[0] = {.step = WRITES, .epoch = 1}};
    weaken = rule;
    broken = NULL;
    depth = 0;
    entered = 0;
    memset(table, 0, TABLE * sizeof *table);
    enter(&begin);
    while (depth > 0 && broken == NULL) {
        state s = stack[--depth];
        explore(&s);
    }
    printf("%-10s %9llu states: %s\n", rule[0] ? rule : "as it is", (unsigned long long)entered, broken ? broken : "nothing is wrong");
    return broken == NULL;
}

int main(void)
{
    static const char *const rules[] = {"proof", "order", "tombstone", "count", "early", "raise"};
    table = malloc(TABLE * sizeof *table);
    if (table == NULL) return 2;
    bool good = run("");
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (run(rules[i])) {
            printf("without %s nothing is wrong either: the model does not show what it is for\n", rules[i]);
            good = false;
        }
    free(table);
    free(stack);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
