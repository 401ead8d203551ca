/*
 * tests/tools/test_value_json.c: what SPEC-values.md says of JSON (J-*), read as tests of the
 * mapping itself. How the tools use it is tests/tools/test_value.sh's part.
 */
#include <u9.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/format/base/hex.h"
#include "tests/format/value/value_gen.h"
#include "tools/value_json.h"

Suite *suite_value_json(void);

enum { ROOM = 1 << 16 };

static size_t column; /* of what was refused last */

/* The value as JSON, to be freed. */
static char *printed(const uint8_t *bytes, size_t size)
{
    FILE *out = stdout;
    char *text = NULL;
    size_t length = 0;
    u9_value v;
    ck_assert_int_eq(u9_value_decode(bytes, size, &v), U9_OK);
    stdout = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stdout);
    tool_put_json(&v);
    fclose(stdout);
    stdout = out;
    ck_assert_uint_eq(length, strlen(text));
    ck_assert(u9_utf8_valid(text, length));
    return text;
}

static void expect_json(const char *notation, const char *json)
{
    u9_fault fault;
    u9_builder b;
    u9_builder_init_growing(&b, tool_grow, NULL);
    ck_assert_msg(u9_value_parse(notation, strlen(notation), NULL, &b, &fault) == U9_OK, "%s: %s",
                  notation, fault.text);
    char *text = printed(b.bytes, b.size);
    ck_assert_str_eq(text, json);
    free(text);
    free(b.bytes);
}

static void expect_value(const char *json, const char *notation)
{
    char text[4096];
    u9_builder b;
    u9_builder_init_growing(&b, tool_grow, NULL);
    const char *why = tool_read_json(&b, json, strlen(json), &column);
    ck_assert_msg(why == NULL, "%s: %s", json, why);
    ck_assert_int_eq(u9_value_text(b.bytes, b.size, text, sizeof text, NULL, NULL), U9_OK);
    ck_assert_str_eq(text, notation);
    free(b.bytes);
}

typedef struct pair {
    const char *notation, *json;
} pair;

/* [J-1] to [J-6] What is written so and read so. */
static const pair both_ways[] = {
    {"5", "5"},
    {"-9007199254740991", "-9007199254740991"},
    {"9007199254740991", "9007199254740991"},
    {"9007199254740993", "9007199254740993"},
    {"-9007199254740993", "-9007199254740993"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854775808"},
    {"18446744073709551615", "18446744073709551615"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"1.5", "1.5"},
    {"-0.0", "-0.0"},
    {"1e16", "1e16"},
    {"5e-324", "5e-324"},
    {"inf", "{\"$float64\":\"inf\"}"},
    {"nan(x\"7ff0000000000001\")", "{\"$float64\":\"nan(x\\\"7ff0000000000001\\\")\"}"},
    {"float32(0.1)", "{\"$float32\":0.1}"},
    {"float32(-inf)", "{\"$float32\":\"-inf\"}"},
    {"float32(nan(x\"7fa00000\"))", "{\"$float32\":\"nan(x\\\"7fa00000\\\")\"}"},
    {"'true", "true"},
    {"'false", "false"},
    {"'null", "null"},
    {"'True", "{\"$symbol\":\"True\"}"},
    {"'trues", "{\"$symbol\":\"trues\"}"},
    {"'\"\"", "{\"$symbol\":\"\"}"},
    {"'\"a\\x00b\"", "{\"$symbol\":\"a\\u0000b\"}"},
    {"'\"\\xff\\x00a\"", "{\"$symbol_bytes\":\"ff0061\"}"},
    {"\"caf\xc3\xa9 \\\" \\\\ \\n\\t\\x00\\x7f\"",
     "\"caf\xc3\xa9 \\\" \\\\ \\n\\t\\u0000\\u007f\""},
    {"\"\\xc2\\x85\"", "\"\\u0085\""},
    {"\"\\xff\"", "{\"$utf8\":\"ff\"}"},
    {"x\"\"", "{\"$bytes\":\"\"}"},
    {"x\"00ff\"", "{\"$bytes\":\"00ff\"}"},
    {"alpha", "{\"$greek\":\"alpha\"}"},
    {"tau0", "{\"$greek\":\"tau0\"}"},
    {"tau(5)", "{\"$tau\":\"5\"}"},
    {"tau(18446744073709551615)", "{\"$tau\":\"18446744073709551615\"}"},
    {"pidfd(4294967295 0)", "{\"$pidfd\":[4294967295,0]}"},
    {"()", "[]"},
    {"(1 (2 ()) \"a\")", "[1,[2,[]],\"a\"]"},
    {"(('a 1))", "[[{\"$symbol\":\"a\"},1]]"},
    {"[int16: 1 2 -3]", "{\"$array\":[\"int16\",1,2,-3]}"},
    {"[int16:]", "{\"$array\":[\"int16\"]}"},
    {"[uint64: 18446744073709551615]", "{\"$array\":[\"uint64\",18446744073709551615]}"},
    {"[float32: 0.1 nan]", "{\"$array\":[\"float32\",0.1,{\"$float32\":\"nan\"}]}"},
    {"[float64: 1.0 inf]", "{\"$array\":[\"float64\",1.0,{\"$float64\":\"inf\"}]}"},
    {"[array 2 float32: [1.0 0.1]]", "{\"$array\":[\"array 2 float32\",[1.0,0.1]]}"},
    {"[array 2 array 1 int8: [[1] [2]]]", "{\"$array\":[\"array 2 array 1 int8\",[[1],[2]]]}"},
    {"[utf8.16 1: \"a\" \"\\xff\"]", "{\"$array\":[\"utf8.16 1\",\"a\",{\"$utf8\":\"ff\"}]}"},
    {"[bytes 1: x\"00\"]", "{\"$array\":[\"bytes 1\",{\"$bytes\":\"00\"}]}"},
    {"[symbol: 'a 'true]", "{\"$array\":[\"symbol\",{\"$symbol\":\"a\"},true]}"},
    {"[tau.16: 5]", "{\"$array\":[\"tau.16\",{\"$tau\":\"5\"}]}"},
    {"[pidfd: pidfd(1 2)]", "{\"$array\":[\"pidfd\",{\"$pidfd\":[1,2]}]}"},
    {"([int8: 1] [int8: 2])", "[{\"$array\":[\"int8\",1]},{\"$array\":[\"int8\",2]}]"},
    {"cidx('kh [uint8:] [int16:]) ()", "{}"},
    {"cidx('kh [uint8: 155] [int16: 0]) ((\"a\" 1))", "{\"a\":1}"},
    {"cidx('kh [uint8: 19] [int16: 0]) ((\"$x\" 1))", "{\"$x\":1}"},
};

START_TEST(each_value_is_written_as_the_specification_says)
{
    for (size_t i = 0; i < sizeof both_ways / sizeof *both_ways; i++)
        expect_json(both_ways[i].notation, both_ways[i].json);
}
END_TEST

START_TEST(and_is_read_from_that)
{
    for (size_t i = 0; i < sizeof both_ways / sizeof *both_ways; i++)
        expect_value(both_ways[i].json, both_ways[i].notation);
}
END_TEST

/* [J-1] to [J-6] What else is written so. */
START_TEST(forms_packing_and_indexes_are_not_written)
{
    expect_json("uint64(5)", "5");
    expect_json("tuple.64(utf8.16(\"a\"))", "[\"a\"]");
    expect_json("[fixtuple2 4: (1 \"on\") (2 \"up\")]", "[[1,\"on\"],[2,\"up\"]]");
    expect_json("[array 1 tuple 1: [(1)] [(2)]]", "[[[1]],[[2]]]");
    expect_json("cidx('i [uint8: 0] [int16: 0]) (1)", "[1]");
    expect_json("cidx('i [uint8: 0] [int16: 0]) [int8: 1]", "{\"$array\":[\"int8\",1]}");
    expect_json("array.32[array.16 1 utf8.16 1: [\"a\"]]",
                "{\"$array\":[\"array.16 1 utf8.16 1\",[\"a\"]]}");
}
END_TEST

/* [J-6] */
START_TEST(a_tuple_is_an_object_only_if_it_reads_back_as_one)
{
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ((\"a\" 1))",
                "{\"a\":1}"); /* the index is not asked */
    expect_json("((\"a\" 1))", "[[\"a\",1]]");
    expect_json("iidx('kh [uint8: 1] [int16: 0]) ((\"a\" 1))", "[[\"a\",1]]");
    expect_json("cidx('k [uint8: 1] [int16: 0]) ((\"a\" 1))", "[[\"a\",1]]");
    expect_json("cidx('i [uint8:] [int16:]) cidx('kh [uint8:] [int16:]) ()", "[]");
    expect_json("cidx('kh [uint8:] [int16:]) cidx('i [uint8:] [int16:]) ()", "{}");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ((\"a\" 1 2))", "[[\"a\",1,2]]");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) (5)", "[5]");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) (('a 1))", "[[{\"$symbol\":\"a\"},1]]");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ((\"\\xff\" 1))", "[[{\"$utf8\":\"ff\"},1]]");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ((\"\\x00\" 1))", "[[\"\\u0000\",1]]");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ([int8: 1 2])", "[{\"$array\":[\"int8\",1,2]}]");
    expect_json("cidx('kh [uint8: 1 1] [int16: 0 4]) ((\"a\" 1) (\"a\" 2))",
                "[[\"a\",1],[\"a\",2]]");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) (cidx('i [uint8:] [int16:]) (\"a\" 1))",
                "[[\"a\",1]]");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ((\"\" ()))", "{\"\":[]}");
    expect_json("(cidx('kh [uint8: 1] [int16: 0]) ((\"$\\\"\" 1)) 2)", "[{\"$\\\"\":1},2]");
}
END_TEST

/* [J-2] [J-3] [J-4] [J-6] */
START_TEST(a_reader_takes_more_than_is_written)
{
    expect_value(" [ 1 , 2 ] ", "(1 2)");
    expect_value("9223372036854775807", "9223372036854775807");
    expect_value("-9223372036854775808", "-9223372036854775808");
    expect_value("{\"$int\":\"5\"}", "5");
    expect_value("{\"$int\":\"18446744073709551615\"}", "18446744073709551615");
    expect_value("-0", "0");
    expect_value("{\"$float64\":-0}", "-0.0");
    expect_value("{\"$float64\":18446744073709551616}", "1.8446744073709552e19");
    expect_value("0.1000000000000000055511151231257827021181583404541015625", "0.1");
    expect_value("0.1000000000000000055511151231257827021181583404541015626", "0.1");
    expect_value("1E2", "100.0");
    expect_value("1e-400", "0.0");
    expect_value("{\"$float64\":1}", "1.0");
    expect_value("{\"$float64\":\"1.5\"}", "1.5");
    expect_value("{\"$float32\":\"1.5\"}", "float32(1.5)");
    expect_value("{\"$float32\":16777217}", "float32(16777216.0)");
    expect_value("{\"$array\":[\"float64\",1]}", "[float64: 1.0]");
    expect_value("{\"$array\":[\" array.8 1\\nint8 ; x\",[1]]}", "[array 1 int8: [1]]");
    expect_value("{\"$bytes\":\"00FF\"}", "x\"00ff\"");
    expect_value("{\"$utf8\":\"61\"}", "\"a\"");
    expect_value("{\"$symbol\":\"true\"}", "'true");
    expect_value("{\"$symbol_bytes\":\"6100\"}", "'a");
    expect_value("\"\\ud83c\\udfbc\\u0000\"", "\"\xf0\x9f\x8e\xbc\\x00\"");
}
END_TEST

/* [J-1] [J-5] */
START_TEST(what_is_no_value_is_refused_and_named)
{
    static const char *const refused[][2] = {
        {"", "not a JSON value"},
        {"[1", "not a JSON value"},
        {"1 2", "not a JSON value"},
        {"nan", "not a JSON value"},
        {"\"\\ud800\"", "not a JSON value"},
        {"\"\xff\"", "not a JSON value"},
        {"1e400", "1e400 is too large for a float64"},
        {"-1.8e308", "-1.8e308 is too large for a float64"},
        {"18446744073709551616", "18446744073709551616 is not an integer from -2^63 to 2^64 - 1"},
        {"36893488147419103232", "36893488147419103232 is not an integer"},
        {"-9223372036854775809", "-9223372036854775809 is not an integer"},
        {"-18446744073709551617", "is not an integer"},
        {"100000000000000000000000000000000000000000", "is not an integer"},
        {"{\"$array\":[\"uint64\",18446744073709551616]}", "is not an integer"},
        {"{\"a\":1,\"a\":2}", "an object has the key \"a\" twice"},
        {"{\"a\":1,\"\\u0061\":2}", "an object has the key \"a\" twice"},
        {"{\"$int\":\"5\",\"$int\":\"5\"}", "the key \"$int\" twice"},
        {"{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,\"4\":1}",
         "the key \"4\" twice"},
        {"{\"\\u0000\":1}", "a key with a NUL in it"},
        {"\"\\udc00\"", "not a JSON value: half of a surrogate pair"},
        {"\"\\ud83c\\u0041\"", "not a JSON value: half of a surrogate pair"},
        {"\"\\ud83c\\ud83c\\udfbc\"", "not a JSON value: half of a surrogate pair"},
        {"\"\xc0\x80\"", "not a JSON value: not valid UTF-8"},
        {"\"\xed\xa0\x80\"", "not a JSON value: not valid UTF-8"},
        {"01", "not a JSON value: trailing garbage"},
        {"1.", "not a JSON value: malformed number"},
        {"[1,]", "not a JSON value"},
        {"{\"a\":1,}", "not a JSON value"},
        {"[1 /* one */]", "not a JSON value"},
        {"'a'", "not a JSON value"},
        {"\"\t\"", "not a JSON value"},
        {"\xef\xbb\xbf"
         "1",
         "not a JSON value"},
        {"{\"$malformed\":\"00\"}",
         "\"$malformed\" is no value (a key of your own is \"$$malformed\")"},
        {"{\"$int\":5}", "\"$int\" wants a string (a key of your own is \"$$int\")"},
        {"{\"$int\":\"5x\"}", "\"$int\" wants a string of digits"},
        {"{\"$int\":\"\"}", "\"$int\": '' is not such a value"},
        {"{\"$int\":\"1-\"}", "'1-' is not such a value"},
        {"{\"$int\":\"5\\u0000\"}", "wants a string of digits"},
        {"{\"$int\":\"18446744073709551616\"}", "is not such a value"},
        {"{\"$tau\":\"-5\"}", "\"$tau\": '-5' is not such a value"},
        {"{\"$tau\":5}", "\"$tau\" wants a string"},
        {"{\"$float64\":\"x\"}", "\"$float64\": 'x' is not such a value"},
        {"{\"$float64\":null}", "wants a number or a text"},
        {"{\"$float64\":\"1) ;\"}", "is not such a value"},
        {"{\"$float32\":1e39}", "1e39 is too large for a float32 (a key of your own is"},
        {"{\"$float32\":\"inf\\u0000\"}", "wants a number or a text"},
        {"{\"$float32\":[1]}", "wants a number or a text"},
        {"{\"$greek\":\"beta\"}", "\"$greek\" wants \"alpha\""},
        {"{\"$greek\":\"tau\"}", "\"$greek\" wants"},
        {"{\"$greek\":0}", "\"$greek\" wants"},
        {"{\"$pidfd\":[1]}", "\"$pidfd\" wants two numbers"},
        {"{\"$pidfd\":[1,2,3]}", "\"$pidfd\" wants two numbers"},
        {"{\"$pidfd\":[1,-2]}", "\"$pidfd\" wants two numbers"},
        {"{\"$pidfd\":[4294967296,2]}", "\"$pidfd\" wants two numbers"},
        {"{\"$pidfd\":\"1\"}", "\"$pidfd\" wants two numbers"},
        {"{\"$bytes\":\"0\"}", "\"$bytes\" wants a string of hex digits"},
        {"{\"$bytes\":\"0g\"}", "hex digits"},
        {"{\"$bytes\":5}", "hex digits"},
        {"{\"$utf8\":\"é\"}", "hex digits"},
        {"{\"$bytes\":\"0\\u0000\"}", "hex digits"},
        {"{\"$symbol\":\"123456789\"}", "a symbol has at most 8 bytes"},
        {"{\"$symbol_bytes\":\"000000000000000000\"}", "a symbol has at most 8 bytes"},
        {"{\"$symbol\":5}", "\"$symbol\" wants a string"},
        {"{\"$array\":5}", "\"$array\" wants an array that begins with a typecode"},
        {"{\"$array\":[]}", "begins with a typecode"},
        {"{\"$array\":[5]}", "begins with a typecode"},
        {"{\"$array\":[\"int9\"]}", "\"$array\": 'int9' is not a typecode: line 1, column 1"},
        {"{\"$array\":[\"int8 1\"]}", "is not a typecode"},
        {"{\"$array\":[\"int8\",128]}", "an array's element is not what its typecode says"},
        {"{\"$array\":[\"int8\",1.5]}", "an array's element is not"},
        {"{\"$array\":[\"int8\",[1]]}", "an array's element is not"},
        {"{\"$array\":[\"int8\",{}]}", "an array's element is not"},
        {"{\"$array\":[\"int8\",{\"$array\":[\"int8\"]}]}", "an array's element is not"},
        {"{\"$array\":[\"utf8 2\",\"a\"]}", "an array's element is not"},
        {"{\"$array\":[\"float32\",\"a\"]}", "an array's element is not"},
        {"{\"$array\":[\"array 2 int8\",[1]]}", "an array's element is not"},
        {"{\"$array\":[\"array 2 int8\",[1,2,3]]}", "an array's element is not"},
        {"{\"$array\":[\"array 2 int8\",1]}", "an array's element is not"},
        {"{\"$array\":[\"float32\",1e39]}", "1e39 is too large for a float32"},
        {"{\"$array\":[\"fixtuple1 1\",[1]]}", "arrays of tuples are JSON arrays"},
        {"{\"$array\":[\"array 1 tuple 1\"]}", "arrays of tuples are JSON arrays"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        u9_builder b;
        u9_builder_init_growing(&b, tool_grow, NULL);
        const char *why = tool_read_json(&b, refused[i][0], strlen(refused[i][0]), &column);
        ck_assert_msg(why != NULL, "%s is taken", refused[i][0]);
        ck_assert_msg(strstr(why, refused[i][1]) != NULL, "%s: %s", refused[i][0], why);
        free(b.bytes);
    }
}
END_TEST

START_TEST(what_is_refused_is_named_with_its_column)
{
    static const struct {
        const char *json;
        size_t column;
    } refused[] = {
        {"1 2", 3},
        {"[1,]", 4},
        {"[1,2", 4},
        {" 18446744073709551616", 2},
        {"[1, 1e400]", 5},
        {"[\"\xc3\xa9\\n\", 1e400]", 9},
        {"\"\xc3\xa9\xff\"", 3},
        {"\"\xc3\xa9\\ud800\"", 3},
        {"[{\"$int\":5}]", 2},
        {"{\"a\":1,\"a\":2}", 13},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        u9_builder b;
        u9_builder_init_growing(&b, tool_grow, NULL);
        const char *why = tool_read_json(&b, refused[i].json, strlen(refused[i].json), &column);
        ck_assert_msg(why && column == refused[i].column, "%s: %s, column %zu", refused[i].json,
                      why, column);
        free(b.bytes);
    }
}
END_TEST

/* What is read from the text is written as that text. */
static void expect_same_text(const char *text)
{
    u9_builder b;
    u9_builder_init_growing(&b, tool_grow, NULL);
    const char *why = tool_read_json(&b, text, strlen(text), &column);
    ck_assert_msg(why == NULL, "%s: %s", text, why);
    char *again = printed(b.bytes, b.size);
    ck_assert_str_eq(again, text);
    free(again);
    free(b.bytes);
}

/* [J-1] [J-6] JSON that is read and written again is what it was. */
START_TEST(a_key_of_ones_own_comes_back_as_it_went_in)
{
    static const char *const own[] = {
        "{\"$oid\":\"507f1f77bcf86cd799439011\"}",
        "{\"$\":1}",
        "{\"$Int\":\"5\"}",
        "{\"$$oid\":1}",
        "{\"$$\":1}",
        "[{\"$date\":{\"$numberLong\":\"1\"}}]",
        "{\"$int\":\"5\",\"$bytes\":\"0g\"}",
        "{\"$$int\":\"5\",\"a\":1}",
        "{\"$a\":1,\"$$a\":2}",
        "{\"$$int\":\"5\"}",
        "{\"$$$int\":\"5\"}",
        "{\"$$malformed\":1}",
        "{\"$$symbol_bytes\":{\"$$array\":[]}}",
        "{\"$ints\":1}",
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) expect_same_text(own[i]);
}
END_TEST

/* [J-6] */
START_TEST(a_mark_more_stands_only_where_a_key_would_read_as_one_of_ours)
{
    static const char *const ours[] = {"int",          "float32", "float64", "symbol",
                                       "symbol_bytes", "utf8",    "bytes",   "greek",
                                       "tau",          "pidfd",   "array",   "malformed"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        char notation[96], json[96];
        snprintf(json, sizeof json, "{\"$$%s\":1}", ours[i]);
        u9_builder b;
        u9_builder_init_growing(&b, tool_grow, NULL);
        ck_assert_ptr_null(tool_read_json(&b, json, strlen(json), &column));
        ck_assert_int_eq(u9_value_text(b.bytes, b.size, notation, sizeof notation, NULL, NULL),
                         U9_OK);
        snprintf(json, sizeof json, "((\"$%s\" 1))", ours[i]);
        ck_assert_msg(strstr(notation, json) != NULL, "%s", notation);
        free(b.bytes);
    }
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ((\"int\" 1))", "{\"int\":1}");
    expect_json("cidx('kh [uint8: 1] [int16: 0]) ((\"$int\" 1))", "{\"$$int\":1}");
    expect_json("cidx('kh [uint8: 1 2] [int16: 0 9]) ((\"$int\" 1) (\"$tau\" 2))",
                "{\"$int\":1,\"$tau\":2}");
}
END_TEST

/* [J-2] */
START_TEST(integers_of_every_size_are_plain_numbers_in_and_out)
{
    char text[32];
    rng r = {11};
    for (int i = 0; i < 20000; i++) {
        uint64_t number = rng_next(&r) >> rng_below(&r, 64);
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
        expect_same_text(text);
        snprintf(text, sizeof text, "-%llu", (unsigned long long)(number / 2 + 1));
        expect_same_text(text);
    }
}
END_TEST

/* [J-3] All bits of all kinds of floats, NaNs and zeros among them. */
START_TEST(floats_survive_to_the_bit)
{
    rng r = {13};
    for (int i = 0; i < 40000; i++) {
        uint8_t bytes[9] = {i % 2 ? 0x08 : 0x09};
        size_t size = i % 2 ? 5 : 9;
        uint64_t bits = rng_next(&r);
        if (i % 7 == 0) bits |= 0x7ff0;             /* not a number, or infinite */
        if (i % 11 == 0) bits &= ~(uint64_t)0x7f7f; /* small beyond measure */
        if (i % 1000 == 0) bits = i % 3000 ? 0x80 : 0;
        for (size_t k = 1; k < size; k++, bits >>= 8) bytes[k] = (uint8_t)bits;
        char *text = printed(bytes, size);
        u9_builder b;
        u9_builder_init_growing(&b, tool_grow, NULL);
        const char *why = tool_read_json(&b, text, strlen(text), &column);
        ck_assert_msg(why == NULL, "%s: %s", text, why);
        ck_assert_msg(b.size == size && memcmp(b.bytes, bytes, size) == 0, "%s", text);
        free(text);
        free(b.bytes);
    }
}
END_TEST

/* [J-6] [J-7] Objects in objects, whatever `$` their keys begin with. */
START_TEST(random_objects_are_the_same_text_when_they_come_back)
{
    static const char *const names[] = {"int",       "bytes", "array", "tau",
                                        "malformed", "oid",   "ref",   ""};
    static const char *const forms[] = {"{\"%s\":%s}", "{\"%s\":%s,\"z\":1.5}", "{\"%s\":[%s,{}]}"};
    static char text[ROOM], more[ROOM];
    rng r = {17};
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)rng_next(&r));
        for (uint64_t n = rng_below(&r, 20); n > 0; n--) {
            size_t marks = rng_below(&r, 4), form = rng_below(&r, 3), name = rng_below(&r, 8);
            if (marks == 1 && form != 1 && name < 5) marks = 2; /* would stand for another value */
            char key[24];
            snprintf(key, sizeof key, "%.*s%s", (int)marks, "$$$", names[name]);
            snprintf(more, sizeof more, forms[form], key, text);
            strcpy(text, more);
        }
        expect_same_text(text);
    }
}
END_TEST

/* n times `open`, `middle`, n times `shut`: NULL, or why it is refused. */
static const char *read_nested(unsigned n, const char *open, const char *middle, const char *shut)
{
    static char text[ROOM];
    u9_builder b;
    *text = '\0';
    for (unsigned i = 0; i < n; i++) strcat(text, open);
    strcat(text, middle);
    for (unsigned i = 0; i < n; i++) strcat(text, shut);
    u9_builder_init_growing(&b, tool_grow, NULL);
    const char *why = tool_read_json(&b, text, strlen(text), &column);
    if (!why) ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_OK);
    if (why) ck_assert_msg(strstr(why, "nested more than 64 deep") != NULL, "%s", why);
    free(b.bytes);
    return why;
}

/* [J-1] */
START_TEST(values_are_read_64_containers_deep)
{
    ck_assert_ptr_null(read_nested(64, "[", "", "]"));
    ck_assert_ptr_nonnull(read_nested(65, "[", "", "]"));
    ck_assert_ptr_null(read_nested(32, "{\"a\":", "1", "}"));
    ck_assert_ptr_nonnull(read_nested(33, "{\"a\":", "1", "}"));
    ck_assert_ptr_null(read_nested(31, "{\"a\":", "[[]]", "}"));
    ck_assert_ptr_nonnull(read_nested(31, "{\"a\":", "[[[]]]", "}"));
    ck_assert_ptr_null(read_nested(31, "{\"a\":", "{}", "}"));
    ck_assert_ptr_null(read_nested(31, "{\"a\":", "{\"$array\":[\"array 1 int8\",[1]]}", "}"));
    ck_assert_ptr_nonnull(
        read_nested(31, "{\"a\":", "{\"$array\":[\"array 1 array 1 int8\"]}", "}"));
    ck_assert_ptr_null(read_nested(63, "[", "{\"$array\":[\"int8\",1]}", "]"));
    ck_assert_ptr_nonnull(read_nested(64, "[", "{\"$array\":[\"int8\",1]}", "]"));
    ck_assert_ptr_nonnull(read_nested(63, "[", "{\"$array\":[\"array 1 int8\"]}", "]"));
}
END_TEST

START_TEST(what_is_malformed_is_written_as_hex_and_never_read)
{
    static const uint8_t bad[] = {0x4a, 0x02, 0x81, 0x0c};
    char *text = printed(bad, sizeof bad);
    ck_assert_str_eq(text, "{\"$malformed\":\"4a02810c\"}");
    free(text);
}
END_TEST

/* [J-7] */
START_TEST(random_values_are_equal_when_they_come_back)
{
    static uint8_t bytes[ROOM];
    rng r = {7};
    for (int i = 0; i < 10000; i++) {
        size_t size = value_gen(&r, bytes, 400, (unsigned)rng_below(&r, 60));
        u9_builder once, twice;
        u9_value before, after;
        char *text = printed(bytes, size);
        u9_builder_init_growing(&once, tool_grow, NULL);
        u9_builder_init_growing(&twice, tool_grow, NULL);
        const char *why = tool_read_json(&once, text, strlen(text), &column);
        ck_assert_msg(why == NULL, "%s: %s", text, why);
        ck_assert_int_eq(u9_value_decode(bytes, size, &before), U9_OK);
        ck_assert_int_eq(u9_value_decode(once.bytes, once.size, &after), U9_OK);
        ck_assert_msg(u9_value_compare(&before, &after) == 0, "%s", text);
        free(text);
        text = printed(once.bytes, once.size);
        ck_assert_ptr_null(tool_read_json(&twice, text, strlen(text), &column));
        ck_assert_msg(once.size == twice.size && memcmp(once.bytes, twice.bytes, once.size) == 0,
                      "%s", text);
        free(text);
        free(once.bytes);
        free(twice.bytes);
    }
}
END_TEST

/* [J-6] [J-7] Its index leads to each of its keys. */
START_TEST(objects_of_any_size_come_back_to_the_same_bytes)
{
    static char text[20 * 5000];
    for (unsigned n = 0; n < 5000; n = n * 3 + 1) {
        size_t at = 0;
        u9_builder once, twice;
        u9_value map, key, found;
        for (unsigned k = 0; k < n; k++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%c\"key%u\":%u", k ? ',' : '{',
                                   n - 1 - k, k);
        snprintf(text + at, sizeof text - at, "%s}", n ? "" : "{");
        u9_builder_init_growing(&once, tool_grow, NULL);
        u9_builder_init_growing(&twice, tool_grow, NULL);
        ck_assert_ptr_null(tool_read_json(&once, text, strlen(text), &column));
        char *again = printed(once.bytes, once.size);
        ck_assert_str_eq(again, text);
        ck_assert_ptr_null(tool_read_json(&twice, again, strlen(again), &column));
        ck_assert_uint_eq(once.size, twice.size);
        ck_assert_int_eq(memcmp(once.bytes, twice.bytes, once.size), 0);
        ck_assert_int_eq(u9_value_decode(once.bytes, once.size, &map), U9_OK);
        ck_assert_int_eq(u9_index_check(&map, NULL), U9_OK);
        ck_assert_int_eq(u9_value_decode("\x24"
                                         "key0",
                                         5, &key),
                         U9_OK);
        ck_assert_int_eq(u9_value_by_key(&map, &key, &found), n ? U9_OK : U9_ABSENT);
        free(again);
        free(once.bytes);
        free(twice.bytes);
    }
}
END_TEST

START_TEST(a_value_beyond_16_mib_is_refused)
{
    size_t size = VALUE_SIZE_MAX + 3;
    char *text = (char *)malloc(size);
    ck_assert_ptr_nonnull(text);
    memset(text, 'a', size);
    text[0] = text[size - 1] = '"';
    u9_builder b;
    u9_builder_init_growing(&b, tool_grow, NULL);
    const char *why = tool_read_json(&b, text, size, &column);
    ck_assert_ptr_nonnull(why);
    ck_assert_ptr_nonnull(strstr(why, "16 MiB"));
    free(b.bytes);
    free(text);
}
END_TEST

Suite *suite_value_json(void)
{
    Suite *s = suite_create("value_json");
    TCase *t = tcase_create("json");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, each_value_is_written_as_the_specification_says);
    tcase_add_test(t, and_is_read_from_that);
    tcase_add_test(t, forms_packing_and_indexes_are_not_written);
    tcase_add_test(t, a_tuple_is_an_object_only_if_it_reads_back_as_one);
    tcase_add_test(t, a_reader_takes_more_than_is_written);
    tcase_add_test(t, what_is_no_value_is_refused_and_named);
    tcase_add_test(t, what_is_refused_is_named_with_its_column);
    tcase_add_test(t, a_key_of_ones_own_comes_back_as_it_went_in);
    tcase_add_test(t, a_mark_more_stands_only_where_a_key_would_read_as_one_of_ours);
    tcase_add_test(t, integers_of_every_size_are_plain_numbers_in_and_out);
    tcase_add_test(t, floats_survive_to_the_bit);
    tcase_add_test(t, values_are_read_64_containers_deep);
    tcase_add_test(t, what_is_malformed_is_written_as_hex_and_never_read);
    tcase_add_test(t, random_values_are_equal_when_they_come_back);
    tcase_add_test(t, random_objects_are_the_same_text_when_they_come_back);
    tcase_add_test(t, objects_of_any_size_come_back_to_the_same_bytes);
    tcase_add_test(t, a_value_beyond_16_mib_is_refused);
    suite_add_tcase(s, t);
    return s;
}
