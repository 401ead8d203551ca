/*
 * tools/fsck_lost.h: what damage has cost, for who is woken by it: which records, between which keys and when they
 * were written, what to do next, and whether another try could still help.
 *
 * It goes by what a check tells, in its order: a loss lies between the stretch of frames in front of it and the one
 * behind. The first TOOL_LOST_MAX are kept, of the others it is known how many there are.
 *
 * What is said to do next helps, or says that it may not: never what was just tried, and nothing by which anything is
 * lost without a word of it.
 */
#ifndef U9_TOOLS_FSCK_LOST_H
#define U9_TOOLS_FSCK_LOST_H

#include "tools/fsck_places.h"
#include "tools/key.h"
#include "tools/text.h"

#include <u9/check.h>
#include <u9/repair.h>

#include <jansson.h>
#include <stdio.h>

enum { TOOL_LOST_MAX = 32, TOOL_ADVICE_MAX = 16, TOOL_ADVICE_SIZE = 800, TOOL_STRANGERS_MAX = 4 };

/* What stands on one side of a loss. */
typedef struct tool_edge {
    int known;
    uint64_t time_us;
    uint64_t ordinal; /* of the record next to the loss; behind the one in front of it */
    tool_key key;     /* size 0: none is known */
} tool_edge;

typedef struct tool_loss {
    u9_reason reason;
    uint64_t segment, ordinal, lost; /* as in u9_damage */
    int at_most;
    int gap;        /* not 0: segments behind number `front` up to `last` are not there, as far as they ever were */
    uint64_t front, last;
    tool_edge before, behind;
} tool_loss;

/* What was tried in this run: it is not said to be done next. */
typedef struct tool_tried {
    int ran;             /* not 0: a repair, which looked for flipped bits, too, (heal) and had not the time for all (gave_up) */
    int heal, gave_up;
    uint64_t safe, unsafe; /* places that could still be mended, by -p and only by -y, */
    int shared;          /*   not 0: some in files with other names */
    int saved;           /* not 0: a salvage ran, and no other step is due */
    int loss_known;      /* not 0: whether the log is older than its mark was asked, and this is the answer */
    u9_loss_state loss;
    int accepted;        /* not 0: it was asked to give up what can be */
} tool_tried;

/* The first of some files, and how many there are. */
typedef struct tool_files {
    char name[64];
    uint64_t count;
} tool_files;

/* What has a segment's name and is no file. */
typedef struct tool_stranger {
    char name[TOOL_SEGMENT_SIZE], what[TOOL_PLACE_SIZE];
    tool_place place;
} tool_stranger;

typedef struct tool_lost {
    tool_loss losses[TOOL_LOST_MAX];
    size_t count; /* of these */
    size_t open,
        keyless;      /* the first of them behind which no stretch came yet, or none with a key */
    uint64_t more;    /* losses beside these */
    tool_edge last;   /* the last stretch's end */
    uint64_t reasons; /* a bit for each that was told as damage, */
    uint64_t notes;   /*   or as a note */
    tool_files missing, cut, foreign; /* that are not there, end too early, are none of the log's; */
    tool_files emptied;  /* that are of 0 bytes, */
    uint64_t empty_front, empty_last; /* the first of them, and the last segment in front of it that was read */
    tool_stranger strangers[TOOL_STRANGERS_MAX]; /* the first of what is no file, */
    uint64_t strange; /*   and of all how many there are */
    int gap;          /* the damage at hand is of a segment that is not there */
    uint64_t blank;   /* the highest number of what was told to be a creation cut short */
    uint64_t passed;  /* number of the last segment that was read, */
    uint64_t gone, in_front; /*   and of the first that is missing, with the one read in front of it; 0: none */
    uint64_t tails;   /* ends that are unknown: perhaps nothing stood behind them */
    int forked;       /* records were promised, and are left out: no writer takes the log */
    uint64_t parts, parts_at; /* the segment, and the offset in it, of the last end that was reached otherwise than named */
    uint64_t unknown; /* the last segment that has no secret: nothing in it is mended */
    tool_files misnamed, copies;      /*   have another's name, and copies of others beside them */
    int mendable;     /* a repair may find something, */
    int shifted;      /* bytes came into a file, or went: what is behind them is whole, and not where it should be */
    int healable;     /*   and a search for flipped bits */
    tool_tried tried;
} tool_lost;

/* The next damage, or stretch, that a check tells. */
void tool_lost_damage(tool_lost *lost, const u9_damage *damage);
void tool_lost_stretch(tool_lost *lost, const u9_stretch *stretch);

/* What to do with the log at `path`, a sentence each; `out` has room for TOOL_ADVICE_MAX. Returns how many. */
size_t tool_lost_advice(const tool_lost *lost, const char *path, const u9_report *report,
                        char (*out)[TOOL_ADVICE_SIZE]);

/*
 * Of a loss of which neither number nor count is known: true if it is known between which records it is, [*from, *to);
 * *to TOOL_NONE: nothing is known behind it.
 */
int tool_lost_within(const tool_loss *loss, const u9_report *report, uint64_t *from, uint64_t *to);

/* Not 0 if another try, or a copy from another disk, may find more than was found now. */
int tool_lost_again(const tool_lost *lost, const u9_report *report);

/* What is lost and what to do, as lines that each begin with the log's path. Nothing without damage. */
void tool_put_lost(FILE *out, const tool_lost *lost, const char *path, const u9_report *report);

/* True if there is a file in a directory that is none of a log's by its name. */
int tool_other_files(const char *path);

/* The same as members of a summary. Takes `json`; NULL: no memory. */
json_t *tool_json_lost(json_t *json, const tool_lost *lost, const char *path,
                       const u9_report *report);

#endif
