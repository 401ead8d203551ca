/*
 * tests/engine/read/model.c: see model.h.
 */
#include "tests/engine/read/model.h"

#include <u9/lookup.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t model_drawn = 1;

uint64_t model_draw(uint64_t n)
{
    model_drawn ^= model_drawn << 13;
    model_drawn ^= model_drawn >> 7;
    model_drawn ^= model_drawn << 17;
    return model_drawn % n;
}

u9_log *model_open(const model *m, u9_mode mode)
{
    u9_log *log;
    u9_fault fault;
    u9_options o = {.size = sizeof o, .mode = mode, .io = sim_io(), .segment_size = SEGMENT, .kind = m->kind,
                    .policy = U9_POLICY_NONE, .lz4 = m->lz4};
    ck_assert_msg(u9_log_open(LOG, &o, &log, &fault) == U9_OK, "%s", fault.text);
    return log;
}

/* A key that may be given: of 16 bytes, 8 or text. */
static void draw_key(model *m, size_t i)
{
    bool text = strncmp(m->kind, "rkey", 4) == 0;
    m->keys[i].size = text ? 8 + model_draw(40) : strcmp(m->kind, "uid8") == 0 ? 8 : 16;
    for (size_t n = 0; n < m->keys[i].size; n++)
        m->keys[i].raw[n] = text ? (uint8_t)('a' + model_draw(26)) : (uint8_t)model_draw(256);
    if (!text && m->keys[i].size == 16) {
        u9_muid id = {.timestamp = 1 + model_draw(1000000), .medallion = 1 + model_draw(1000), .offset = (int32_t)(1 + model_draw(3))};
        ck_assert_int_eq(u9_muid_pack(&id, m->keys[i].raw), U9_OK);
    }
}

void model_append(u9_log *w, model *m, size_t i, bool fresh)
{
    uint8_t value[5 + 400] = {0x02};
    u9_place place;
    u9_key key = {.data = fresh ? NULL : m->keys[i].raw, .size = m->keys[i].size};
    u9_entry e = {.key = key, .values = value, .size = 5};
    uint32_t v = ++m->values;
    for (unsigned n = 0; n < 4; n++) value[1 + n] = (uint8_t)(v >> (24 - 8 * n));
    if (model_draw(2)) { /* also larger ones */
        value[5] = 0x1d, value[6] = 1, value[7] = (uint8_t)model_draw(120);
        e.size = (size_t)(5 + 3 + 256 + value[7]);
    }
    ck_assert_int_eq(u9_log_append(w, &e.key, e.values, e.size, &place), U9_OK);
    if (fresh) {
        m->keys[i].size = place.key_size;
        memcpy(m->keys[i].raw, place.key, place.key_size);
    }
    m->keys[i].there = true;
    m->keys[i].versions++;
    m->keys[i].ordinal = place.ordinal;
    m->keys[i].value = v;
    m->next = place.ordinal + 1;
}

/* What a lookup must say of this key. */
void model_look_up(u9_log *log, const model *m, size_t i)
{
    uint8_t buf[ROOM];
    u9_record r;
    u9_fault fault = {.text = ""};
    u9_key key = {.data = m->keys[i].raw, .size = m->keys[i].size};
    u9_err err = u9_log_get(log, &key, buf, sizeof buf, &r, &fault);
    if (!m->keys[i].there) {
        ck_assert_msg(err == U9_ABSENT, "key %zu: %d, %s", i, err, fault.text);
        return;
    }
    ck_assert_msg(err == U9_OK, "key %zu, record %llu of %llu: %d, %s", i, (unsigned long long)m->keys[i].ordinal,
                  (unsigned long long)m->next, err, fault.text);
    ck_assert_uint_eq(r.ordinal, m->keys[i].ordinal);
    ck_assert_uint_eq(r.key.size, key.size);
    ck_assert_mem_eq(r.key.data, key.data, key.size);
    u9_value v;
    ck_assert_int_eq(u9_value_decode(r.values, r.values_size, &v), U9_OK);
    ck_assert_uint_eq(v.u, m->keys[i].value);
}

void model_look_up_all(u9_log *log, const model *m)
{
    for (size_t i = 0; i < m->count; i++) model_look_up(log, m, i);
}

void model_look_anew(const model *m)
{
    u9_log *r = model_open(m, U9_READ);
    model_look_up_all(r, m);
    close_log(r);
}

const char *const model_kinds[4] = {"muid", "muid", "uid8", "rkey"};

void model_draw_keys(model *m)
{
    m->count = KEYS;
    for (size_t n = 0; n < KEYS; n++) draw_key(m, n);
}

model *model_new(int i)
{
    model *m = calloc(1, sizeof *m);
    ck_assert(m != NULL);
    model_drawn = (uint64_t)i * 77 + 5;
    m->kind = model_kinds[i % 4];
    model_draw_keys(m);
    return m;
}

int model_count_version(void *ctx, const u9_record *r)
{
    told *t = ctx;
    ck_assert(t->count == 0 || r->ordinal > t->last);
    t->last = r->ordinal;
    t->count++;
    return 0;
}
