/*
 * tools/verb_id.c: `u9 id`: its options, and `u9 id new`: fresh identifiers (SPEC-values.md, I-*).
 *
 * What belongs together is checked here, before anything is read or printed. id_show.c and
 * id_make.c do the rest of the work.
 */
#include "tools/id.h"

#include "tools/args.h"
#include "tools/id_rados.h"
#include "tools/id_zookeeper.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9/idgen.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct id {
    struct id_ask ask;
    enum { NEW, SHOW, MAKE } verb;
    uint64_t count, generator, cluster, wait; /* seconds */
    uint64_t with_generator; /* the cluster behind its comma, */
    int has_comma;           /*   if there is one */
    u9_uid8_mode mode;
    const char *type; /* behind the kind's colon, or of --type */
    const char *zookeeper, *rados;
    unsigned given; /* a bit for each option's key, from KEYS_BEGIN on */
    char **words;
};

enum { KEYS_BEGIN = 256, LENIENT = KEYS_BEGIN, STRICT, BYTES, TYPE, LAYOUT, MODE, GENERATOR,
       CLUSTER, ZOOKEEPER, RADOS, WAIT, COUNT };

static const struct argp_option option_table[] = {
    {"count", 'n', "N", 0, "new: how many (default 1)", 1},
    {"type", TYPE, "TYPE", 0, "gid: volume, log (what new and make take if not told) or segment. rkey: what "
     "the key must be, tid, literal:VALUE or any", 1},
    {"layout", LAYOUT, "1..4", 0, "uid8: the layout (default 4, which reads all; with --zookeeper "
     "1, the first)", 1},
    {"generator", GENERATOR, "N[,CLUSTER]", 0, "new uid8: the number of this generator, which no other may "
     "use at the same time", 2},
    {"cluster", CLUSTER, "N", 0, "new uid8: the number of the cluster, 0 to 15 (default 0)", 2},
    {"mode", MODE, "MODE", 0, "new uid8: spread (or 0, the default) or time-sequential (or 1)", 2},
    {"zookeeper", ZOOKEEPER, "HOST:PORT/PATH", 0, "new uid8: claims a number there", 2},
    {"rados", RADOS, "ADDRESS", 0, "new uid8: claims a number at rados:POOL/NAME, a name that is no log's", 2},
    {"wait", WAIT, "SECONDS", 0, "--zookeeper: for how long it waits for a number (default 60)", 2},
    {"lenient", LENIENT, 0, 0, "show: takes besides muids in lower case, as 32 digits, and with "
     "zeros of any width; GIDs with the top bit of byte 7 clear; TIDs with their top bit set", 3},
    {"strict", STRICT, 0, 0, "show gid: byte 7 must repeat the prefix", 3},
    {"bytes", BYTES, 0, 0, "show: TEXT is the packed bytes in hex", 3},
    {0},
};

static const char kinds_text[] =
    "Makes identifiers, also from their fields, and takes them apart.\v"
    "Kinds:\n"
    "  muid   timestamp, medallion, offset: TTTTTTTTTTTTT-MMMMMMMMMMM-OOOOOOOO\n"
    "  gid    type, milliseconds, randomness: 24 characters; also gid:TYPE\n"
    "  tid    microseconds and a clock id: 13 characters\n"
    "  uid8   milliseconds, sequence, generator, cluster: 16 hex digits\n"
    "  rkey   a record key, 1 to 512 characters (show only); also rkey:TYPE\n"
    "\n"
    "new: prints fresh ones, one a line. show: takes each TEXT (`-`: lines of standard input) "
    "apart, a JSON object a line; for what is refused {\"error\":...}, with its line if it is one, and exit status 1 at the "
    "end. make: prints the one that has these fields:\n"
    "\n"
    "  muid   timestamp (microseconds), medallion, offset\n"
    "  gid    timestamp_ms, type, random (18 hex digits)\n"
    "  tid    timestamp (microseconds), clock_id; also rkey:tid\n"
    "  uid8   timestamp_ms, sequence, generator, cluster, mode\n"
    "\n"
    "time=2026-01-31T23:59:59.5Z (or @SECONDS) stands for any timestamp. Fields that are not given are "
    "0, the random of a GID the lowest: so `make tid time=2026-01-31` is the first of that day.";

static int cannot_make(u9_err err)
{
    if (err == U9_LIMIT) return tool_say(TOOL_IO, "the clock is beyond the last identifier");
    if (err == U9_AGAIN) return tool_say(TOOL_IO, "the clock stands still, or was set back");
    return tool_say(TOOL_IO, "no randomness can be had");
}

static int make_muids(const struct id *id)
{
    char text[U9_MUID_TEXT_SIZE + 1];
    u9_muidgen *gen;
    u9_muid muid;
    u9_fault fault;
    if (u9_muidgen_new(NULL, &gen, &fault) != U9_OK) return tool_fault(&fault);
    u9_err err = U9_OK;
    for (uint64_t i = 0; i < id->count && err == U9_OK && !tool_stdout_failed(); i++) {
        err = u9_muidgen_next(gen, &muid);
        if (err == U9_OK) err = u9_muid_format(&muid, text);
        if (err == U9_OK) puts(text);
    }
    u9_muidgen_free(gen);
    return err == U9_OK ? TOOL_DONE : cannot_make(err);
}

static int make_gids(const struct id *id)
{
    char text[U9_GID_TEXT_SIZE + 1];
    u9_gid_type type = id->ask.gid_type != U9_GID_ANY ? id->ask.gid_type : U9_GID_LOG;
    u9_gidgen *gen;
    u9_gid gid;
    u9_fault fault;
    if (u9_gidgen_new(NULL, &gen, &fault) != U9_OK) return tool_fault(&fault);
    u9_err err = U9_OK;
    for (uint64_t i = 0; i < id->count && err == U9_OK && !tool_stdout_failed(); i++) {
        err = u9_gidgen_next(gen, type, &gid);
        if (err == U9_OK) err = u9_gid_format(&gid, U9_GID_STRICT, text);
        if (err == U9_OK) puts(text);
    }
    u9_gidgen_free(gen);
    return err == U9_OK ? TOOL_DONE : cannot_make(err);
}

static int make_tids(const struct id *id)
{
    char text[U9_TID_TEXT_SIZE + 1];
    u9_tidgen *gen;
    u9_tid tid;
    u9_fault fault;
    if (u9_tidgen_new(NULL, &gen, &fault) != U9_OK) return tool_fault(&fault);
    u9_err err = U9_OK;
    for (uint64_t i = 0; i < id->count && err == U9_OK && !tool_stdout_failed(); i++) {
        err = u9_tidgen_next(gen, NULL, &tid);
        if (err == U9_OK) err = u9_tid_format(&tid, 0, text);
        if (err == U9_OK) puts(text);
    }
    u9_tidgen_free(gen);
    return err == U9_OK ? TOOL_DONE : cannot_make(err);
}

/* A run of this tool before may have used up the millisecond that it began and ended in. */
static int make_uid8s(const struct id *id)
{
    char text[U9_UID8_TEXT_SIZE + 1];
    unsigned layout = id->ask.layout ? id->ask.layout : U9_UID8_LAYOUT_MAX;
    u9_uid8gen_options options = {
        .size = sizeof options, .layout = layout, .mode = id->mode,
        .generator = (uint32_t)id->generator, .cluster = (uint32_t)id->cluster,
        .seen_ms = tool_now_us() / 1000};
    u9_uid8gen *gen;
    u9_uid8 uid8;
    u9_fault fault;
    u9_err err = u9_uid8gen_new(&options, &gen, &fault);
    if (err == U9_ARG) tool_usage("%s", fault.text);
    if (err != U9_OK) return tool_fault(&fault);
    for (uint64_t i = 0; i < id->count && err == U9_OK && !tool_stdout_failed(); i++) {
        err = u9_uid8gen_next(gen, &uid8);
        if (err == U9_OK) err = u9_uid8_format(&uid8, layout, text, NULL);
        if (err == U9_OK) puts(text);
    }
    u9_uid8gen_free(gen);
    return err == U9_OK ? TOOL_DONE : cannot_make(err);
}

static int make(const struct id *id)
{
    switch (id->ask.kind) {
    case ID_MUID: return make_muids(id);
    case ID_GID: return make_gids(id);
    case ID_TID: return make_tids(id);
    case ID_UID8:
        if (id->rados) return tool_id_rados(id->rados, id->ask.layout, id->mode, (unsigned)id->cluster, id->count);
        if (!id->zookeeper) return make_uid8s(id);
        return tool_id_zookeeper(id->zookeeper, id->ask.layout, id->mode, id->count,
                                 (unsigned)id->wait);
    case ID_RKEY:
    case ID_KINDS: break;
    }
    tool_usage("record keys are given, not made; TIDs (new tid) are record keys too");
}

static int given(const struct id *id, int key)
{
    return (id->given >> (key - KEYS_BEGIN) & 1) != 0;
}

/* KIND or KIND:TYPE. */
static void take_kind(struct id *id, const char *kind)
{
    static const char *const names[ID_KINDS] = {"muid", "gid", "tid", "uid8", "rkey"};
    size_t size = strcspn(kind, ":");
    unsigned k = 0;
    while (k < ID_KINDS && !(strlen(names[k]) == size && strncmp(kind, names[k], size) == 0)) k++;
    if (k == ID_KINDS || (kind[size] && k != ID_GID && k != ID_RKEY))
        tool_usage("'%s' is not a kind of identifiers: muid gid tid uid8 rkey", kind);
    id->ask.kind = (enum id_kind)k;
    if (!kind[size]) return;
    if (id->type) tool_usage("%s: there is a --type already", kind);
    id->type = kind + size + 1;
}

/* A record key's type is data: what is wrong with it is the answer to each TEXT. */
static void take_type(struct id *id)
{
    static const u9_gid_type types[] = {U9_GID_VOLUME, U9_GID_LOG, U9_GID_SEGMENT};
    if (!id->type) return;
    if (id->ask.kind == ID_RKEY) {
        id->ask.rkey_type = id->type;
        return;
    }
    if (id->ask.kind != ID_GID) tool_usage("--type goes with gid and rkey");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(id->type, u9_gid_type_name(types[i])) == 0) id->ask.gid_type = types[i];
    if (id->ask.gid_type == U9_GID_ANY)
        tool_usage("'%s' is not a type of GIDs: volume log segment", id->type);
}

/* A number that is out of range is told so, whatever else is missing. */
static void check_number(const struct id *id)
{
    char note[20];
    unsigned layout = id->ask.layout ? id->ask.layout : U9_UID8_LAYOUT_MAX;
    snprintf(note, sizeof note, "layout %u", layout);
    tool_within("--generator", id->generator, 0, tool_generator_max(layout), note);
    tool_within("--cluster", id->cluster, 0, U9_UID8_CLUSTER_MAX, "");
    if (id->zookeeper && (given(id, GENERATOR) || given(id, CLUSTER)))
        tool_usage("--zookeeper gives --generator and --cluster");
    if (id->rados && (id->zookeeper || given(id, GENERATOR))) tool_usage("--rados gives --generator");
    if (!id->zookeeper && !id->rados && !given(id, GENERATOR))
        tool_usage("uid8: no --generator=N[,CLUSTER] given (or --zookeeper, or --rados)");
    if (given(id, WAIT) && !id->zookeeper) tool_usage("--wait goes with --zookeeper");
}

static void check_new(const struct id *id)
{
    int uid8 = id->ask.kind == ID_UID8;
    if (*id->words) tool_usage("new: '%s' is too much", *id->words);
    if (id->ask.lenient || id->ask.strict || id->ask.bytes)
        tool_usage("--lenient, --strict and --bytes go with show");
    if (given(id, LAYOUT) && !uid8) tool_usage("--layout goes with uid8");
    if (!uid8 && (given(id, MODE) || given(id, GENERATOR) || given(id, CLUSTER) || id->zookeeper || id->rados))
        tool_usage("--generator, --cluster, --mode, --zookeeper and --rados go with uid8");
    if (given(id, WAIT) && !uid8) tool_usage("--wait goes with --zookeeper");
    if (uid8) check_number(id);
}

static void check_show(const struct id *id)
{
    if (!*id->words) tool_usage("show: no TEXT given");
    if (given(id, COUNT) || given(id, WAIT)) tool_usage("-n and --wait go with new");
    if (given(id, MODE) || given(id, GENERATOR) || given(id, CLUSTER) || id->zookeeper || id->rados)
        tool_usage("--generator, --cluster, --mode, --zookeeper and --rados go with new uid8");
    if (given(id, LAYOUT) && id->ask.kind != ID_UID8) tool_usage("--layout goes with uid8");
    if (id->ask.strict && id->ask.kind != ID_GID) tool_usage("--strict goes with gid");
    if (id->ask.strict && id->ask.lenient) tool_usage("--strict or --lenient, not both");
}

static void check_make(const struct id *id)
{
    if (!*id->words) tool_usage("make: no FIELD=VALUE given");
    if (given(id, COUNT) || given(id, WAIT)) tool_usage("-n and --wait go with new");
    if (id->ask.lenient || id->ask.strict || id->ask.bytes)
        tool_usage("--lenient, --strict and --bytes go with show");
    if (given(id, MODE) || given(id, GENERATOR) || given(id, CLUSTER) || id->zookeeper || id->rados)
        tool_usage("--generator, --cluster, --mode, --zookeeper and --rados go with new uid8; make has "
                   "generator=N");
    if (given(id, LAYOUT) && id->ask.kind != ID_UID8) tool_usage("--layout goes with uid8");
}

static void take_words(struct id *id)
{
    static const char *const verbs[] = {"new", "show", "make"};
    static void (*const checks[])(const struct id *) = {check_new, check_show, check_make};
    char **words = id->words;
    unsigned verb = 0;
    while (verb < 3 && strcmp(words[0], verbs[verb]) != 0) verb++;
    if (verb == 3) tool_usage("'%s' is neither `new` nor `show` nor `make`", words[0]);
    id->verb = verb == 0 ? NEW : verb == 1 ? SHOW : MAKE;
    if (!words[1]) tool_usage("%s: no kind given (muid gid tid uid8 rkey)", words[0]);
    take_kind(id, words[1]);
    take_type(id);
    if (id->has_comma && given(id, CLUSTER)) tool_usage("--generator=N,CLUSTER names the cluster, and --cluster too: which?");
    if (id->has_comma) id->cluster = id->with_generator;
    id->words = words + 2;
    checks[verb](id);
}

enum { GENERATOR_LAST = 2047 }; /* of the widest layout */

static uint64_t number(const char *option, const char *arg, uint64_t max)
{
    uint64_t value;
    if (!tool_number_parse(arg, &value) || value > max)
        tool_usage("%s %s: not a number from 0 to %" PRIu64, option, tool_shown(arg), max);
    return value;
}

static u9_uid8_mode mode_of(const char *arg)
{
    if (strcmp(arg, "spread") == 0 || strcmp(arg, "0") == 0) return U9_UID8_SPREAD;
    if (strcmp(arg, "time-sequential") != 0 && strcmp(arg, "1") != 0)
        tool_usage("'%s' is not a mode: spread, time-sequential", arg);
    return U9_UID8_TIME_SEQUENTIAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct id *id = (struct id *)state->input;
    if (key == 'n') id->given |= 1u << (COUNT - KEYS_BEGIN);
    if (key >= LENIENT && key < COUNT) id->given |= 1u << (key - KEYS_BEGIN);
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case 'n': id->count = number("-n", arg, UINT64_MAX); break;
    case LENIENT: id->ask.lenient = 1; break;
    case STRICT: id->ask.strict = 1; break;
    case BYTES: id->ask.bytes = 1; break;
    case TYPE: id->type = arg; break;
    case LAYOUT:
        id->ask.layout = (unsigned)number("--layout", arg, U9_UID8_LAYOUT_MAX);
        if (id->ask.layout == 0) tool_usage("--layout 0: there are layouts 1 to 4");
        break;
    case MODE: id->mode = mode_of(arg); break;
    case GENERATOR: id->has_comma = tool_generator("--generator", arg, &id->generator, &id->with_generator); break;
    case CLUSTER: id->cluster = number("--cluster", arg, UINT64_MAX); break;
    case ZOOKEEPER: id->zookeeper = arg; break;
    case RADOS: id->rados = arg; break;
    case WAIT:
        id->wait = number("--wait", arg, UINT64_MAX);
        tool_within("--wait", id->wait, 1, 86400, "");
        break;
    case ARGP_KEY_ARGS: id->words = state->argv + state->next; break;
    case ARGP_KEY_NO_ARGS: tool_usage("`new`, `show` or `make`?");
    case ARGP_KEY_END: take_words(id); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_id(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "new KIND\nshow KIND TEXT...\nmake KIND FIELD=VALUE...",
        kinds_text, NULL, NULL, NULL};
    struct id id = {.count = 1, .wait = 60};
    tool_parse(&parser, argc, argv, &id);
    if (id.verb == MAKE) return id_make(&id.ask, id.words);
    return id.verb == NEW ? make(&id) : id_show(&id.ask, id.words);
}
