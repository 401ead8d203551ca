/*
 * tools/id_make.c: `u9 id make`: an identifier from its fields (SPEC-values.md, I-1, I-6, I-8, I-10).
 *
 * The fields are those that `u9 id show` prints, and `time` in place of the timestamp. What is wrong with
 * one is a usage error that names it and its range; so what comes to the library is always in range.
 */
#include "tools/id.h"

#include "tools/args.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 5, TEXT_MAX = 40 };

struct field {
    const char *name;
    int64_t min, max;
    const char *const *words; /* names of 0, 1, ...; NULL: none */
    int hex;                  /* bytes 7 to 15 of a GID */
};

/* The first field of each kind is its timestamp. */
static const char *const types[] = {"volume", "log", "segment", NULL};
static const char *const modes[] = {"spread", "time-sequential", NULL};
static const u9_gid_type type_numbers[] = {U9_GID_VOLUME, U9_GID_LOG, U9_GID_SEGMENT};

static const struct field muid_fields[FIELDS_MAX + 1] = {
    {"timestamp", 0, (int64_t)U9_MUID_TIMESTAMP_MAX, NULL, 0},
    {"medallion", 0, (int64_t)U9_MUID_MEDALLION_MAX, NULL, 0},
    {"offset", INT32_MIN, INT32_MAX, NULL, 0},
    {0},
};

static const struct field gid_fields[FIELDS_MAX + 1] = {
    {"timestamp_ms", 0, (int64_t)U9_GID_TIMESTAMP_MAX, NULL, 0},
    {"type", 0, -1, types, 0},
    {"random", 0, 0, NULL, 1},
    {0},
};

static const struct field tid_fields[FIELDS_MAX + 1] = {
    {"timestamp", 0, (int64_t)U9_TID_TIMESTAMP_MAX, NULL, 0},
    {"clock_id", 0, U9_TID_CLOCK_ID_MAX, NULL, 0},
    {0},
};

static const struct field uid8_fields[FIELDS_MAX + 1] = {
    {"timestamp_ms", 0, (int64_t)U9_UID8_TIMESTAMP_MAX, NULL, 0},
    {"sequence", 0, U9_UID8_SEQUENCE_MAX, NULL, 0},
    {"generator", 0, UINT32_MAX, NULL, 0}, /* the layout says how many */
    {"cluster", 0, U9_UID8_CLUSTER_MAX, NULL, 0},
    {"mode", 0, 1, modes, 0},
    {0},
};

/* What was given: numbers in the order of the fields, and which. */
struct made {
    const struct field *fields;
    int64_t values[FIELDS_MAX];
    int given[FIELDS_MAX];
    uint8_t random[U9_GID_RANDOM_SIZE];
};

static int signed_parse(const char *text, int64_t *out)
{
    uint64_t number;
    int below = *text == '-';
    if (!tool_number_parse(text + below, &number) || number > INT64_MAX) return 0;
    *out = below ? -(int64_t)number : (int64_t)number;
    return 1;
}

/* 18 hex digits, the first bit set: what else is in bytes 7 to 15 has no text. */
static void take_random(struct made *m, const char *arg, const char *value)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    size_t size = strlen(value);
    int fine = size == sizeof m->random * 2 && strspn(value, digits) == size;
    for (size_t i = 0; fine && i < size; i++)
        m->random[i / 2] = (uint8_t)(m->random[i / 2] << 4 | ((strchr(digits, value[i]) - digits) & 15));
    if (!fine || m->random[0] < 0x80)
        tool_usage("%s: not 18 hex digits, the first of them 8 or above", arg);
}

static void take_value(struct made *m, unsigned i, const char *arg, const char *value)
{
    const struct field *f = &m->fields[i];
    if (f->hex) {
        take_random(m, arg, value);
        return;
    }
    for (unsigned w = 0; f->words && f->words[w]; w++)
        if (strcmp(value, f->words[w]) == 0) {
            m->values[i] = w;
            return;
        }
    if (f->words && f->min > f->max)
        tool_usage("%s: not one of %s, %s and %s", arg, f->words[0], f->words[1], f->words[2]);
    if (!signed_parse(value, &m->values[i]) || m->values[i] < f->min || m->values[i] > f->max) {
        if (f->words) tool_usage("%s: neither %s nor %s", arg, f->words[0], f->words[1]);
        tool_usage("%s: not a number from %" PRId64 " to %" PRId64, arg, f->min, f->max);
    }
}

/* A clock's time: cut to milliseconds where the timestamp has those. */
static void take_time(struct made *m, const char *arg, const char *value)
{
    const struct field *f = &m->fields[0];
    uint64_t time = tool_time("time", value) / (strcmp(f->name, "timestamp_ms") == 0 ? 1000 : 1);
    if (time > (uint64_t)f->max) tool_usage("%s: %s goes from 0 to %" PRId64, arg, f->name, f->max);
    m->values[0] = (int64_t)time;
}

static void take_field(struct made *m, const char *arg)
{
    char names[100] = "time";
    size_t size = strcspn(arg, "=");
    if (!arg[size]) tool_usage("'%s' is not FIELD=VALUE", arg);
    int timed = size == 4 && memcmp(arg, "time", 4) == 0;
    unsigned i = 0;
    for (; !timed && m->fields[i].name; i++) {
        const char *name = m->fields[i].name;
        if (strlen(name) == size && memcmp(arg, name, size) == 0) break;
        strncat(strcat(names, " "), name, 20);
    }
    if (!m->fields[i].name) tool_usage("'%.*s' is not a field: %s", (int)size, arg, names);
    if (m->given[i]) tool_usage("%s: %s is given already", arg, m->fields[i].name);
    m->given[i] = 1;
    if (timed) take_time(m, arg, arg + size + 1);
    else take_value(m, i, arg, arg + size + 1);
}

static u9_err make_muid_text(const struct made *m, char *text)
{
    const u9_muid id = {(uint64_t)m->values[0], (uint64_t)m->values[1], (int32_t)m->values[2]};
    return u9_muid_format(&id, text);
}

/* Without `random`: the lowest of those that `u9 id new` makes. */
static u9_err make_gid_text(const struct id_ask *ask, const struct made *m, char *text)
{
    u9_gid_type type = ask->gid_type != U9_GID_ANY ? ask->gid_type : U9_GID_LOG;
    u9_gid id;
    if (m->given[1] && ask->gid_type != U9_GID_ANY) tool_usage("type= is given already");
    if (m->given[1]) type = type_numbers[m->values[1]];
    u9_err err = u9_gid_floor(type, (uint64_t)m->values[0], U9_GID_STRICT, &id);
    if (err != U9_OK) return err;
    if (m->given[2]) memcpy(id.random, m->random, sizeof id.random);
    return u9_gid_format(&id, 0, text);
}

static u9_err make_tid_text(const struct made *m, char *text)
{
    u9_tid id;
    u9_err err = u9_tid_from_time((uint64_t)m->values[0], (uint32_t)m->values[1], 0, &id);
    return err == U9_OK ? u9_tid_format(&id, 0, text) : err;
}

static u9_err make_uid8_text(const struct id_ask *ask, const struct made *m, char *text)
{
    unsigned layout = ask->layout ? ask->layout : U9_UID8_LAYOUT_MAX;
    const u9_uid8 id = {.timestamp_ms = (uint64_t)m->values[0], .sequence = (uint32_t)m->values[1],
                        .generator = (uint32_t)m->values[2], .cluster = (uint32_t)m->values[3],
                        .mode = (u9_uid8_mode)m->values[4]};
    u9_id_reason why = U9_ID_FINE;
    u9_err err = u9_uid8_format(&id, layout, text, &why);
    if (err == U9_OK) return U9_OK;
    if (why == U9_UID8_GENERATOR)
        tool_usage("generator=%" PRIu32 ": not a number from 0 to %" PRIu32 " (layout %u)", id.generator,
                   tool_generator_max(layout), layout);
    tool_usage("layout %u: %s", layout, u9_id_reason_text(why));
}

int id_make(const struct id_ask *ask, char **fields)
{
    static const struct field *const of[ID_KINDS] = {
        [ID_MUID] = muid_fields, [ID_GID] = gid_fields,  [ID_TID] = tid_fields,
        [ID_UID8] = uid8_fields, [ID_RKEY] = tid_fields,
    };
    char text[TEXT_MAX] = "";
    struct made m = {.fields = of[ask->kind]};
    u9_err err = U9_ARG;
    if (ask->kind == ID_RKEY && (!ask->rkey_type || strcmp(ask->rkey_type, "tid") != 0))
        tool_usage("record keys are their text; of the fields of a TID are those of rkey:tid");
    for (; *fields; fields++) take_field(&m, *fields);
    if (!m.given[0]) tool_usage("make: neither %s= nor time= is given", m.fields[0].name);
    switch (ask->kind) {
    case ID_MUID: err = make_muid_text(&m, text); break;
    case ID_GID: err = make_gid_text(ask, &m, text); break;
    case ID_UID8: err = make_uid8_text(ask, &m, text); break;
    case ID_TID:
    case ID_RKEY: err = make_tid_text(&m, text); break;
    case ID_KINDS: break;
    }
    if (err != U9_OK) tool_usage("make: the fields do not fit");
    puts(text);
    return TOOL_DONE;
}
