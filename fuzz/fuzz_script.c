/*
 * fuzz/fuzz_script.c: any script of sessions, failing calls, lies of the disk, kills and power cuts is played above the
 * simulated disk, and the oracle asks after each session (tests/sim/play.c). to [R-14] [W-2]
 *
 * The input: two bytes, the seed of the world, and 7 for each step: the verb, its first number in three bytes, the second
 * in two, the third in one. What fails says by which line it is repeated.
 */
#include "format/base/bytes.h"
#include "tests/sim/script.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 2, STEP = 7, STEPS = 80 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* What the simulated disk keeps is not what a test refuses to its tool (tests/engine/scarce.c): nothing is refused here. */
void *__real_malloc(size_t size)
{
    return malloc(size);
}

void *__real_calloc(size_t count, size_t size)
{
    return calloc(count, size);
}

void *__real_realloc(void *bytes, size_t size)
{
    return realloc(bytes, size);
}

char *__real_strdup(const char *text)
{
    return strdup(text);
}

static script now;

/* In place of Check's: a test that failed is a find. */
void _ck_assert_failed(const char *file, int line, const char *expression, const char *format, ...)
{
    static char text[SCRIPT_TEXT_MAX];
    va_list list;
    va_start(list, format);
    script_tell(&now, text);
    fprintf(stderr, "%s:%d: does not hold: %s: ", file, line, expression);
    if (format) vfprintf(stderr, format, list);
    fprintf(stderr, "\nmake sim SEED=%llu SCRIPT='%s'\n", (unsigned long long)now.seed, text);
    va_end(list);
    abort();
}

static void read_script(const uint8_t *data, size_t size)
{
    now = (script){.seed = u9i_get_be(data, SEED)};
    for (size_t at = SEED; at + STEP <= size && now.count < STEPS; at += STEP)
        now.steps[now.count++] = (script_step){(script_verb)(data[at] % SCRIPT_VERB_COUNT),
                                               {(unsigned)u9i_get_be(data + at + 1, 3), (unsigned)u9i_get_be(data + at + 4, 2), data[at + 6]}};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SEED) return -1;
    read_script(data, size);
    (void)script_play(&now);
    return 0;
}

static void put_step(uint8_t *out, const script_step *step)
{
    out[0] = (uint8_t)step->verb;
    u9i_set_be(out + 1, 3, step->arg[0]);
    u9i_set_be(out + 4, 2, step->arg[1]);
    out[6] = (uint8_t)step->arg[2];
}

/* Steps come, go or change as a whole: those that come are some of a script that is drawn. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t count = size > SEED ? (size - SEED) / STEP : 0, room = max_size > SEED ? (max_size - SEED) / STEP : 0;
    size_t at = count ? seed / 8 % count : 0, n = 1 + seed / 1024 % 5;
    uint8_t *step = data + SEED + at * STEP;
    script drawn;
    script_draw(&drawn, seed);
    if (size < SEED && max_size >= SEED) memset(data, 0, SEED);
    switch (count ? seed % 8 : 0) {
    case 0:
    case 1: /* in front of it */
        n = n < drawn.count ? n : drawn.count;
        n = n < room - count ? n : room - count;
        if (count >= room) break;
        memmove(step + n * STEP, step, (count - at) * STEP);
        for (size_t i = 0; i < n; i++) put_step(step + i * STEP, &drawn.steps[(seed / 64 + i) % drawn.count]);
        count += n;
        break;
    case 2:
        n = n < count - at ? n : count - at;
        memmove(step, step + n * STEP, (count - at - n) * STEP);
        count -= n;
        break;
    case 3: (void)!LLVMFuzzerMutate(data, SEED, SEED); break;
    case 4: step[0] = (uint8_t)(seed >> 20); break;
    default: (void)!LLVMFuzzerMutate(step + 1, STEP - 1, STEP - 1); break;
    }
    return SEED + count * STEP;
}
