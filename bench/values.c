/*
 * bench/values.c: rows on utf9 values, beside msgpack-c on the same records, and an array beside a
 * plain one.
 *
 * A pass goes once over a set and returns a sum of what it saw. Both sides must come to the same sum, in
 * every pass, so no work can be left out. The sides take turns in each round and are measured in time
 * that the thread has worked; a ratio is the median of the rounds' ratios.
 */
#include "bench/bench.h"
#include "bench/values.h"

#include <stdio.h>
#include <stdlib.h>

#define SECONDS 0.04 /* that a side works in a round */

/* What is measured, and what the other side does for it. */
static const struct race {
    enum pass pass;
    const char *name;
    pass_fn *const *other;
    const char *how;
} races[] = {
    {ENCODE, "encode", msgpack_side, "msgpack_pack_*"},
    {CHECK, "check", msgpack_side, "msgpack_unpack"},
    {CHECK_TEXT, "check, UTF-8 too", msgpack_side, ""},
    {WALK, "walk", msgpack_side, "msgpack_unpack, each object"},
    {WALK_CHECKED, "walk, checked before", msgpack_side, "msgpack_unpack, each object"},
    {FIELD, "one field", msgpack_side, "msgpack_unpack, one object"},
    {CONS, "cons", msgpack_side, "msgpack_unpack, all packed again"},
    {CONS, "cons", splice_side, "header and field packed, the rest copied unseen"},
    {MATCH, "match", msgpack_side, "msgpack_unpack, two objects"},
    {COMPARE, "compare", msgpack_side, ""},
    {HASH, "hash", msgpack_side, ""},
    {PRINT, "print as text", msgpack_side, "msgpack_unpack, msgpack_object_print_buffer"},
    {PARSE, "parse text", msgpack_side, ""},
    {ENCODE_NUMBERS, "encode", msgpack_side, "msgpack_pack_int32"},
    {SUM_BY_WALK, "sum by walk", msgpack_side, "msgpack_unpack, each object"},
    {SUM, "sum", msgpack_side, "msgpack_unpack, each object"},
    {SUM, "sum", plain_side, "array of big-endian int32"},
};

static const record_set *const sets[] = {&line_set, &row_set, &number_set};

enum { RACES = sizeof races / sizeof races[0], SETS = sizeof sets / sizeof sets[0] };

/* By set, race and round: items a second on our side and on the other, and their ratio. */
static double ours[SETS][RACES][ROUNDS_MAX], others[SETS][RACES][ROUNDS_MAX],
    ratios[SETS][RACES][ROUNDS_MAX];

static bool takes_part(const record_set *set, const struct race *race)
{
    if (race->other != msgpack_side && race->other[race->pass] == NULL) return false;
    return (set->numbers != NULL) == (race->pass >= ENCODE_NUMBERS);
}

static size_t encoded_size(const record_set *set)
{
    return set->u9.at[set->count];
}

static double rate_of(const record_set *set, pass_fn *pass, uint64_t sum)
{
    unsigned long passes = 0;
    double start = thread_seconds(), took;
    do {
        if (pass(set) != sum) die("a pass that saw something else", NULL);
        passes++;
        took = thread_seconds() - start;
    } while (took < SECONDS);
    return (double)passes * (double)set->count / took;
}

static void run_race(unsigned s, unsigned r, unsigned long round)
{
    const record_set *set = sets[s];
    pass_fn *our_pass = u9_side[races[r].pass], *other_pass = races[r].other[races[r].pass];
    uint64_t sum = our_pass(set);
    if (other_pass && other_pass(set) != sum) {
        fprintf(stderr, "u9bench: %s, %s: the sides differ\n", set->name, races[r].name);
        exit(4);
    }
    ours[s][r][round] = rate_of(set, our_pass, sum);
    if (!other_pass) return;
    others[s][r][round] = rate_of(set, other_pass, sum);
    ratios[s][r][round] = ours[s][r][round] / others[s][r][round];
}

static void print_race(unsigned s, unsigned r, unsigned long rounds)
{
    double rate = median_of(ours[s][r], rounds), ratio = median_of(ratios[s][r], rounds);
    double each = (double)encoded_size(sets[s]) / (double)sets[s]->count; /* bytes */
    printf("%-12s %-20s %9.2f %7.2f", sets[s]->name, races[r].name, rate / 1e6, rate * each / 1e9);
    if (races[r].other[races[r].pass])
        printf(" %9.2f %6.2f %6.2f %6.2f  %s", median_of(others[s][r], rounds) / 1e6, ratio,
               ratios[s][r][0], ratios[s][r][rounds - 1], races[r].how);
    putchar('\n');
}

static void encode_all(pass_fn *const *passes)
{
    passes[ENCODE](&line_set);
    passes[ENCODE](&row_set);
    passes[ENCODE_NUMBERS](&number_set);
}

void bench_values(const bench_options *options)
{
    unsigned long rounds = options->rounds;
    make_sets(options->lines);
    encode_all(u9_side);
    if (msgpack_side[ENCODE]) encode_all(msgpack_side);
    else puts("values: msgpack-c was not installed when u9bench was built");
    printf("values: %zu lines of %zu bytes encoded, %zu rows of %zu, %zu numbers, %lu rounds\n",
           line_set.count, encoded_size(&line_set) / line_set.count, row_set.count,
           encoded_size(&row_set) / row_set.count, number_set.count, rounds);
    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned s = 0; s < SETS; s++)
            for (unsigned r = 0; r < RACES; r++)
                if (takes_part(sets[s], &races[r])) run_race(s, r, round);
    printf("%-12s %-20s %9s %7s %9s %6s %6s %6s  %s\n", "", "", "u9 M/s", "GB/s", "other M/s",
           "ratio", "least", "most", "the other side");
    for (unsigned s = 0; s < SETS; s++)
        for (unsigned r = 0; r < RACES; r++)
            if (takes_part(sets[s], &races[r])) print_race(s, r, rounds);
    bench_indexes(options);
}
