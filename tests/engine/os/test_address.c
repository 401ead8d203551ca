/*
 * tests/engine/os/test_address.c: addresses of what stores bring: what they say, which env is whose, and what is refused.
 * (engine/os/address.h)
 */
#include "engine/os/address.h"

#include "tests/check.h"
#include "tests/engine/scarce.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lake {
    u9i_env env;
    char name[8], colour[8];
    unsigned depth_mm;
    uint64_t volume;
} lake;

#define FIELD(name) .off = offsetof(lake, name), .size = sizeof((lake *)NULL)->name

static const u9i_address_option options[] = {
    {"colour=WORD", .variable = "LAKE_COLOUR", .kind = U9I_OPTION_TEXT, FIELD(colour)},
    {"depth=M (0.5 to 9)", .preset = "2", .kind = U9I_OPTION_NUMBER, FIELD(depth_mm), .unit = 1000, .min = 500, .max = 9000},
    {"volume=SIZE (1K to 1G)", .variable = "LAKE_VOLUME", .kind = U9I_OPTION_SIZE, FIELD(volume), .unit = 1, .min = 1 << 10,
     .max = 1 << 30},
};

/* None is called "dry". */
static bool complete(u9i_env *env, char *why, size_t size)
{
    if (strcmp(((lake *)env)->name, "dry") != 0) return true;
    snprintf(why, size, "there is no water in it");
    return false;
}

static u9i_address_type type = {.prefix = "lake:", .form = "lake:NAME/FISH", .env.name = "lake", .size = sizeof(lake),
                                .pool_off = offsetof(lake, name), .pool_size = 8, .options = options, .count = 3,
                                .complete = complete};

/* Another store's. */
static u9i_address_type ponds = {.prefix = "pond:", .form = "pond:NAME", .env.name = "pond", .size = sizeof(lake),
                                 .pool_off = offsetof(lake, name), .pool_size = 8, .complete = complete};

static const char *rest;
static char why[200];

static lake *find(const char *address)
{
    u9i_env *env = NULL;
    rest = NULL;
    why[0] = 0;
    return u9i_address_find(&type, address, &env, &rest, why, sizeof why) ? (lake *)env : NULL;
}

static void expect_refused(const char *address, const char *sentence)
{
    ck_assert_msg(find(address) == NULL && rest == NULL, "'%s' was taken", address);
    ck_assert_msg(strstr(why, sentence) != NULL, "'%s' says: %s", address, why);
}

START_TEST(an_address_without_options_has_what_is_preset)
{
    lake *l = find("lake:erie/perch/2");
    ck_assert_ptr_nonnull(l);
    ck_assert_str_eq(l->name, "erie");
    ck_assert_str_eq(l->env.name, "lake");
    ck_assert_str_eq(rest, "lake:erie/perch/2");
    ck_assert(l->depth_mm == 2000 && l->volume == 0 && l->colour[0] == 0);
    ck_assert_ptr_eq(l->env.clock, u9i_env_posix.clock);
    ck_assert_ptr_eq(find("lake:erie?"), l);
    ck_assert_str_eq(rest, "lake:erie");
}
END_TEST

START_TEST(options_stand_behind_the_name)
{
    lake *l = find("lake:como/eel?depth=0.5&volume=64K&colour=green");
    ck_assert_ptr_nonnull(l);
    ck_assert_str_eq(rest, "lake:como/eel");
    ck_assert_str_eq(l->colour, "green");
    ck_assert(l->depth_mm == 500 && l->volume == 64 << 10);
    ck_assert_ptr_eq(find("lake:como/trout"), l); /* without options it is the first one of its pool */
    l = find("lake:garda?colour=/blue&volume=1G");
    ck_assert_ptr_nonnull(l);
    ck_assert_str_eq(l->colour, "/blue");
    ck_assert_str_eq(rest, "lake:garda");
    ck_assert(find("lake:lugano?depth=9")->depth_mm == 9000);
}
END_TEST

START_TEST(other_options_are_another_env_with_a_number)
{
    lake *first = find("lake:bled?depth=3"), *second = find("lake:bled/carp?depth=4");
    ck_assert(first && second && first != second);
    ck_assert_str_eq(rest, "lake:bled?2/carp");
    ck_assert_ptr_eq(find(rest), second);
    ck_assert_ptr_eq(find("lake:bled/pike?depth=4.0"), second);
    ck_assert_ptr_eq(find("lake:bled?1/pike"), first);
    ck_assert_str_eq(rest, "lake:bled/pike");
    ck_assert_ptr_eq(find("lake:bled/pike?depth=3"), first);
    const char *kept = rest;
    ck_assert_ptr_eq(find("lake:bled/pike"), first);
    ck_assert_ptr_eq(rest, kept);
    ck_assert_ptr_ne(find("lake:ohrid?depth=3"), first);
}
END_TEST

START_TEST(what_is_no_address_is_refused_with_a_sentence)
{
    char long_name[4200] = "lake:erie/";
    expect_refused("lake:", "an address is lake:NAME/FISH");
    expect_refused("lake:/perch", "an address is lake:NAME/FISH");
    expect_refused("lake:superior/perch", "an address is lake:NAME/FISH"); /* its name is longer than there is room for */
    memset(long_name + strlen(long_name), 'x', 4100);
    expect_refused(long_name, "an address is lake:NAME/FISH");
    expect_refused("lake:dry/bone", "there is no water in it");
    type.named = true;
    expect_refused("lake:erie", "an address is lake:NAME/FISH");
    expect_refused("lake:erie?depth=3", "an address is lake:NAME/FISH");
    ck_assert_ptr_nonnull(find("lake:erie/perch"));
    type.named = false;
    expect_refused("lake:erie?0/perch", "'?0' in front of a name");
    expect_refused("lake:erie?7/perch", "'?7' in front of a name");
    expect_refused("lake:erie?7", "'?7' in front of a name");
    expect_refused("lake:erie?7x", "'7x' is none of");
    expect_refused("lake:erie?123456789/perch", "'123456789/perch' is none of"); /* nobody has so many */
    expect_refused("lake:erie?1/perch?depth=3", "'?1' in front of a name");
}
END_TEST

START_TEST(an_option_that_is_none_is_refused_with_those_that_are)
{
    static const char *const odd[] = {"taste=sweet", "depth", "depth=", "depth=0.4", "depth=9.001", "depth=x", "depth=1x", "depth=1.x",
                                      "depth=.5", "depth=-1", "depth=1e1", "depth=2K", "volume=1023", "volume=1.5K",
                                      "volume=2G", "volume=1048576K", "volume=1KK", "volume=9999999999999999", "colour=",
                                      "colour=crimson!", "x"};
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) {
        char address[64], sentence[128];
        snprintf(address, sizeof address, "lake:tahoe/bass?depth=1&%s&depth=2", odd[i]);
        snprintf(sentence, sizeof sentence,
                 "'%s' is none of colour=WORD, depth=M (0.5 to 9), volume=SIZE (1K to 1G)", odd[i]);
        if (strcmp(odd[i], "volume=1048576K") == 0) ck_assert(find(address)->volume == 1 << 30);
        else expect_refused(address, sentence);
    }
    expect_refused("lake:tahoe?0123456789012345678901234567890123456789012345678901234567890123456789",
                   "'012345678901234567890123456789012345678901234567890123456789' is none of");
    u9i_env *env; /* what has no room is left out */
    ck_assert(!u9i_address_find(&type, "lake:tahoe?taste=sweet", &env, &rest, why, 24));
    ck_assert_str_eq(why, "'taste=sweet' is none o");
}
END_TEST

START_TEST(an_address_without_memory_is_that_and_found_the_next_time)
{
    unsigned failed = 1, n = 0;
    for (lake *l = NULL; failed > 0; n++) {
        scarce_begin(SCARCE_MEMORY, n + 1, ENOMEM, false);
        l = find("lake:tana/tilapia?depth=3");
        failed = scarce_end(NULL);
        ck_assert((l == NULL) == (failed > 0));
        ck_assert_str_eq(failed ? why : rest, failed ? "" : "lake:tana/tilapia");
    }
    ck_assert_uint_ge(n, 4); /* env, place, path; and none */
}
END_TEST

START_TEST(the_environment_says_what_an_address_does_not)
{
    setenv("LAKE_COLOUR", "red", 1);
    setenv("LAKE_VOLUME", "2M", 1);
    lake *l = find("lake:nyos?colour=blue");
    ck_assert_str_eq(l->colour, "blue");
    ck_assert(l->volume == 2 << 20);
    setenv("LAKE_VOLUME", "much", 1);
    expect_refused("lake:kivu", "LAKE_VOLUME is not as it has to be: volume=SIZE (1K to 1G)");
    ck_assert_ptr_nonnull(find("lake:kivu?volume=1M"));
    unsetenv("LAKE_COLOUR");
    setenv("LAKE_VOLUME", "", 1);
    ck_assert_ptr_nonnull(find("lake:chad"));
    unsetenv("LAKE_VOLUME");
}
END_TEST

START_TEST(a_path_is_in_the_env_that_its_address_found)
{
    const char *in;
    lake *first = find("lake:van?depth=3"), *second = find("lake:van?depth=4"), *other = find("lake:urmia");
    ck_assert_int_eq(u9i_address_path_in(&first->env, "lake:van/fish/one", &in), 0);
    ck_assert_str_eq(in, "/fish/one");
    ck_assert_int_eq(u9i_address_path_in(&second->env, "lake:van?2/fish", &in), 0);
    ck_assert_str_eq(in, "/fish");
    ck_assert_int_eq(u9i_address_path_in(&first->env, "lake:van", &in), 0);
    ck_assert_str_eq(in, "");
    ck_assert_int_eq(u9i_address_path_in(&first->env, "plain/path", &in), 0);
    ck_assert_str_eq(in, "plain/path");
    ck_assert_int_eq(u9i_address_path_in(&second->env, "lake:van/fish", &in), -EXDEV);
    ck_assert_int_eq(u9i_address_path_in(&first->env, "lake:van?2/fish", &in), -EXDEV);
    ck_assert_int_eq(u9i_address_path_in(&other->env, "lake:van/fish", &in), -EXDEV);
    ck_assert_int_eq(u9i_address_path_in(&first->env, "lake:va/fish", &in), -EXDEV);
    ck_assert_int_eq(u9i_address_path_in(&first->env, "lake:von/fish", &in), -EXDEV);
    ck_assert_int_eq(u9i_address_path_in(&u9i_env_posix, "lake:van/fish", &in), 0); /* there it is a file's name */
    ck_assert_str_eq(in, "lake:van/fish");
}
END_TEST

START_TEST(what_two_stores_call_the_same_is_not)
{
    u9i_env *env = NULL;
    lake *l = find("lake:ladoga");
    ck_assert(u9i_address_find(&ponds, "pond:ladoga", &env, &rest, why, sizeof why));
    ck_assert_ptr_ne(env, l);
    ck_assert_str_eq(env->name, "pond");
    ck_assert_ptr_eq(find("lake:ladoga"), l);
}
END_TEST

Suite *suite_address(void)
{
    Suite *suite = suite_create("address");
    TCase *tc = tcase_create("address");
    tcase_add_test(tc, an_address_without_options_has_what_is_preset);
    tcase_add_test(tc, options_stand_behind_the_name);
    tcase_add_test(tc, other_options_are_another_env_with_a_number);
    tcase_add_test(tc, what_is_no_address_is_refused_with_a_sentence);
    tcase_add_test(tc, an_option_that_is_none_is_refused_with_those_that_are);
    tcase_add_test(tc, an_address_without_memory_is_that_and_found_the_next_time);
    tcase_add_test(tc, the_environment_says_what_an_address_does_not);
    tcase_add_test(tc, a_path_is_in_the_env_that_its_address_found);
    tcase_add_test(tc, what_two_stores_call_the_same_is_not);
    suite_add_tcase(suite, tc);
    return suite;
}
