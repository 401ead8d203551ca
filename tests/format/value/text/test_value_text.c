/*
 * tests/format/value/text/test_value_text.c: what SPEC-values.md says of the text notation (N-*), read as
 * tests.
 *
 * Texts and bytes are handed to the library in blocks of exactly their size, so that a run under
 * AddressSanitizer sees each byte read or written too far.
 *
 * The file is long because it is flat: what each value is written as, what else a reader takes,
 * what it refuses, and random values.
 */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value_text.h>

#include "tests/format/base/hex.h"
#include "tests/format/value/value_gen.h"

Suite *suite_value_text(void);

enum { ROOM = 1 << 16 };

static u9_err grow(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    (void)ctx;
    uint8_t *more = (uint8_t *)realloc(*bytes, need);
    ck_assert_ptr_nonnull(more);
    *bytes = more;
    *cap = need;
    return U9_OK;
}

/* Reads `size` characters of text from a block of their own. */
static u9_err parse(const char *text, size_t size, size_t *used, u9_builder *b, u9_fault *fault)
{
    char *block = (char *)exactly(text, size);
    u9_err err = u9_value_parse(block, size, used, b, fault);
    free(block);
    return err;
}

static void expect_bytes(const char *text, const uint8_t *bytes, size_t size)
{
    u9_fault fault;
    u9_builder b;
    u9_builder_init_growing(&b, grow, NULL);
    ck_assert_msg(parse(text, strlen(text), NULL, &b, &fault) == U9_OK, "%s: %s", text, fault.text);
    ck_assert_msg(b.size == size && memcmp(b.bytes, bytes, size) == 0, "%s: other bytes", text);
    free(b.bytes);
}

static void expect_text(const uint8_t *bytes, size_t size, const char *text)
{
    static char printed[16 * ROOM];
    size_t length = 0;
    u9_fault fault;
    uint8_t *block = (uint8_t *)exactly(bytes, size);
    u9_err err = u9_value_text(block, size, printed, sizeof printed, &length, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", text, fault.text);
    ck_assert_str_eq(printed, text);
    ck_assert_uint_eq(length, strlen(text));
    free(block);
}

typedef struct pair {
    const char *hex, *text;
} pair;

/* [N-2] [N-3] [N-4] [N-5] [N-6] [N-7] Each form of each bytecode, and the borders between the
 * forms. */
static const pair goldens[] = {
    {"80", "0"},
    {"ff", "127"},
    {"0080", "128"},
    {"00ff", "255"},
    {"010100", "256"},
    {"01ffff", "65535"},
    {"0200010000", "65536"},
    {"02ffffffff", "4294967295"},
    {"030000000100000000", "4294967296"},
    {"03ffffffffffffffff", "18446744073709551615"},
    {"04ff", "-1"},
    {"0480", "-128"},
    {"05ff7f", "-129"},
    {"058000", "-32768"},
    {"06ffff7fff", "-32769"},
    {"0680000000", "-2147483648"},
    {"07ffffffff7fffffff", "-2147483649"},
    {"078000000000000000", "-9223372036854775808"},
    {"0005", "uint8(5)"},
    {"007f", "uint8(127)"},
    {"010005", "uint16(5)"},
    {"0100ff", "uint16(255)"},
    {"0200000005", "uint32(5)"},
    {"030000000000000005", "uint64(5)"},
    {"0405", "int8(5)"},
    {"047f", "int8(127)"},
    {"0400", "int8(0)"},
    {"050005", "int16(5)"},
    {"05ff80", "int16(-128)"},
    {"06ffffffff", "int32(-1)"},
    {"07ffffffffffffffff", "int64(-1)"},
    {"077fffffffffffffff", "int64(9223372036854775807)"},
    {"083fc00000", "float32(1.5)"},
    {"093ff8000000000000", "1.5"},
    {"0a75396f70656e0000", "'u9open"},
    {"0a6162636465666768", "'abcdefgh"},
    {"0a0000000000000000", "'\"\""},
    {"0a0061000000000000", "'\"\\x00a\""},
    {"0a613a620000000000", "'\"a:b\""},
    {"0aff00000000000000", "'\"\\xff\""},
    {"0a2d2e2b2f2a000000", "'-.+/*"},
    {"0a2161233e3f407e00", "'!a#>?@~"},
    {"0a4120420000000000", "'\"A B\""},
    {"0ac3a9000000000000", "'\"\xc3\xa9\""},
    {"0b0000053900000003", "pidfd(1337 3)"},
    {"0bffffffffffffffff", "pidfd(4294967295 4294967295)"},
    {"10", "alpha"},
    {"11", "omega"},
    {"12", "iota"},
    {"13", "kappa"},
    {"14", "tau0"},
    {"150005", "tau(5)"},
    {"15ffff", "tau(65535)"},
    {"1600010000", "tau(65536)"},
    {"1600000005", "tau.32(5)"},
    {"170000000100000000", "tau(4294967296)"},
    {"1700000000ffffffff", "tau.64(4294967295)"},
    {"20", "\"\""},
    {"2568656c6c6f", "\"hello\""},
    {"180161", "utf8.8(\"a\")"},
    {"19000161", "utf8.16(\"a\")"},
    {"1a0000000161", "utf8.32(\"a\")"},
    {"1b000000000000000161", "utf8.64(\"a\")"},
    {"1800", "utf8.8(\"\")"},
    {"181030313233343536373839616263646566", "\"0123456789abcdef\""},
    {"27225c0a090d007f", "\"\\\"\\\\\\n\\t\\x0d\\x00\\x7f\""},
    {"23e282ac", "\"\xe2\x82\xac\""},
    {"22c280", "\"\\xc2\\x80\""},
    {"22c29f", "\"\\xc2\\x9f\""},
    {"22c2a0", "\"\xc2\xa0\""},
    {"24f09f8ebc", "\"\xf0\x9f\x8e\xbc\""},
    {"21ff", "\"\\xff\""},
    {"22e282", "\"\\xe2\\x82\""},
    {"23eda080", "\"\\xed\\xa0\\x80\""},
    {"24c3a9c361", "\"\xc3\xa9\\xc3\x61\""},
    {"30", "x\"\""},
    {"320aff", "x\"0aff\""},
    {"1c01ff", "bytes.8(x\"ff\")"},
    {"1d0001ff", "bytes.16(x\"ff\")"},
    {"1e00000001ff", "bytes.32(x\"ff\")"},
    {"1f0000000000000001ff", "bytes.64(x\"ff\")"},
    {"1c10000102030405060708090a0b0c0d0e0f", "x\"000102030405060708090a0b0c0d0e0f\""},
    {"4800", "()"},
    {"490185", "(5)"},
    {"4b0481480020", "(1 () \"\")"},
    {"4f0780818283848586", "(0 1 2 3 4 5 6)"},
    {"4008088081828384858687", "(0 1 2 3 4 5 6 7)"},
    {"400000", "tuple.8()"},
    {"40010185", "tuple.8(5)"},
    {"4100030002812161", "tuple.16(1 \"a\")"},
    {"42000000010000000181", "tuple.32(1)"},
    {"430000000000000001000000000000000181", "tuple.64(1)"},
    {"440302000506", "[uint8: 5 6]"},
    {"45000300010103e8", "array.16[uint16: 1000]"},
    {"46000000040000000304ff0001", "array.32[int8: -1 0 1]"},
    {"47000000000000000200000000000000010007", "array.64[uint8: 7]"},
    {"44010005", "[int16:]"},
    {"4405010200010000", "[uint32: 65536]"},
    {"4409010300000000000000ff", "[uint64: 255]"},
    {"44050106ffffffff", "[int32: -1]"},
    {"440901078000000000000000", "[int64: -9223372036854775808]"},
    {"44090208412000007f800000", "[float32: 10.0 inf]"},
    {"440901093ff8000000000000", "[float64: 1.5]"},
    {"440501087fa00001", "[float32: nan(x\"7fa00001\")]"},
    {"4409010a6162000000000000", "[symbol: 'ab]"},
    {"4409010b0000000100000002", "[pidfd: pidfd(1 2)]"},
    {"4405021500010002", "[tau.16: 1 2]"},
    {"4405011600000001", "[tau.32: 1]"},
    {"440901170000000000000001", "[tau.64: 1]"},
    {"440b0318036f6e6574776f736978", "[utf8 3: \"one\" \"two\" \"six\"]"},
    {"4405011900026869", "[utf8.16 2: \"hi\"]"},
    {"4407011a000000026869", "[utf8.32 2: \"hi\"]"},
    {"440b011b00000000000000026869", "[utf8.64 2: \"hi\"]"},
    {"4402021800", "[utf8 0: \"\" \"\"]"},
    {"4404021c010aff", "[bytes 1: x\"0a\" x\"ff\"]"},
    {"440a024a0481226f6e82227570", "[fixtuple2 4: (1 \"on\") (2 \"up\")]"},
    {"4402034800", "[fixtuple0 0: () () ()]"},
    {"440a0240030281216103818283", "[tuple 3: (1 \"a\") (1 2 3)]"},
    {"440601410001000180", "[tuple.16 1: (0)]"},
    {"440a0142000000010000000180", "[tuple.32 1: (0)]"},
    {"441201430000000000000001000000000000000180", "[tuple.64 1: (0)]"},
    {"441402440804050001000200030004fffefffdfffcfffb", "[array 4 int16: [1 2 3 4] [-2 -3 -4 -5]]"},
    {"44070145000100010005", "[array.16 1 uint8: [5]]"},
    {"440b014404024402020001020304", "[array 2 array 2 uint8: [[1 2] [3 4]]]"},
    {"4405024400001800", "[array 0 utf8 0: [] []]"},
    {"44040144000000", "[array 0 uint8: []]"},
    {"440c014a0a21614405020500010002", "[fixtuple2 10: (\"a\" [int16: 1 2])]"},
    {"52000000110a690000000000000044010000440100054800", "cidx.32('i [uint8:] [int16:]) ()"},
    {"5300000000000000110a690000000000000044010000440100054800",
     "cidx.64('i [uint8:] [int16:]) ()"},
    {"54110a690000000000000044010000440100054800", "iidx('i [uint8:] [int16:]) ()"},
    {"5500110a690000000000000044010000440100054800", "iidx.16('i [uint8:] [int16:]) ()"},
    {"56000000110a690000000000000044010000440100054800", "iidx.32('i [uint8:] [int16:]) ()"},
    {"5700000000000000110a690000000000000044010000440100054800",
     "iidx.64('i [uint8:] [int16:]) ()"},
    {"4a2c54110a6900000000000000440100004401000754110a68000000000000004401000044010006440201000185",
     "(iidx('i [uint8:] [int64:]) iidx('h [uint8:] [int32:]) [uint8: 1] 5)"},
};

enum { GOLDENS = sizeof goldens / sizeof *goldens };

START_TEST(every_form_has_a_text_of_its_own)
{
    uint8_t bytes[256];
    for (size_t i = 0; i < GOLDENS; i++) {
        size_t size = unhex(goldens[i].hex, bytes);
        expect_text(bytes, size, goldens[i].text);
    }
}
END_TEST

START_TEST(every_text_reads_back_to_the_same_bytes)
{
    uint8_t bytes[256];
    for (size_t i = 0; i < GOLDENS; i++) {
        size_t size = unhex(goldens[i].hex, bytes);
        expect_bytes(goldens[i].text, bytes, size);
    }
}
END_TEST

/* [N-1] to [N-7] What a reader takes besides, and what a writer makes of it. */
static const char *const also_read[][2] = {
    {" \t\r\n5 ; five", "5"},
    {"; nothing\n;\n5", "5"},
    {"5;five", "5"},
    {"-0", "0"},
    {"(1(2)\"a\"[int8:3])", "(1 (2) \"a\" [int8: 3])"},
    {"( 1 (2) \"a\"[ int8 : 3 ]) ", "(1 (2) \"a\" [int8: 3])"},
    {"(;(\n1;)\n)", "(1)"},
    {"\"\\x41\\x0A\"", "\"A\\n\""},
    {"x\" AB cd\n\t\"", "x\"abcd\""},
    {"'\"ab\"", "'ab"},
    {"'\"a\\x00\"", "'a"},
    {"1e2", "100.0"},
    {"1E+2", "100.0"},
    {"1e-2", "0.01"},
    {"0.0e5", "0.0"},
    {"-0.000", "-0.0"},
    {"1e-400", "0.0"},
    {"nan(x\"7ff8000000000000\")", "nan"},
    {"float64(5)", "5.0"},
    {"float64(inf)", "inf"},
    {"float32( 5 )", "float32(5.0)"},
    {"[float32: 1 -2]", "[float32: 1.0 -2.0]"},
    {"uint8(200)", "200"},
    {"int64(-9223372036854775808)", "-9223372036854775808"},
    {"tau.16(5)", "tau(5)"},
    {"utf8(\"a\")", "\"a\""},
    {"bytes( x\"00\" )", "x\"00\""},
    {"tuple(1)", "(1)"},
    {"array[int8: 1]", "[int8: 1]"},
    {"array.8[int8: 1]", "[int8: 1]"},
    {"[utf8.8 1: \"a\"]", "[utf8 1: \"a\"]"},
    {"pidfd( 1\n2 )", "pidfd(1 2)"},
    {"[array.8 1 int8: [1]]", "[array 1 int8: [1]]"},
    {"[array\n2;x\nint8\n: [ 1 2 ] ]", "[array 2 int8: [1 2]]"},
    {"cidx.16('i [uint8:] [int16:]) ;x\n ()", "cidx('i [uint8:] [int16:]) ()"},
};

START_TEST(a_reader_takes_blanks_comments_and_names_of_shortest_forms)
{
    for (size_t i = 0; i < sizeof also_read / sizeof *also_read; i++) {
        const char *text = also_read[i][0];
        u9_fault fault;
        u9_builder b;
        u9_builder_init_growing(&b, grow, NULL);
        ck_assert_msg(parse(text, strlen(text), NULL, &b, &fault) == U9_OK, "%s: %s", text,
                      fault.text);
        expect_text(b.bytes, b.size, also_read[i][1]);
        free(b.bytes);
    }
}
END_TEST

typedef struct refusal {
    const char *text;
    u9_err err;
    const char *rule;
    size_t offset;
    const char *sentence;
} refusal;

static const refusal refusals[] = {
    {"5 6", U9_CORRUPT, "N-1", 2, "line 1, column 3: more than one value"},
    {"5'a", U9_CORRUPT, "N-1", 1, "a blank is missing behind the value"},
    {"\"a\"5", U9_CORRUPT, "N-1", 3, "a blank is missing behind the value"},
    {"alpha:", U9_CORRUPT, "N-1", 5, "a blank is missing behind the value"},
    {"(1 2", U9_TORN, "N-1", 4, "line 1, column 5: expected a value or ')', but the text ends"},
    {"(1 [int8: 2", U9_TORN, "N-1", 11, "expected a value or ']', but the text ends"},
    {"(1\n  \xc3\xa9\xc3\xa9 2)", U9_CORRUPT, "N-2", 5,
     "line 2, column 3: expected a value, not the byte c3"},
    {"(\"\xc3\xa9\xc3\xa9\" ?)", U9_CORRUPT, "N-2", 8,
     "line 1, column 7: expected a value, not '?'"},
    {")", U9_CORRUPT, "N-2", 0, "expected a value, not ')'"},
    {"(1 ]", U9_CORRUPT, "N-2", 3, "expected a value, not ']'"},
    {"foo", U9_TORN, "N-2", 0, "expected a value, not 'foo'"},
    {"symbol", U9_TORN, "N-2", 0, "expected a value, not 'symbol'"},
    {"Alpha", U9_TORN, "N-2", 0, "not 'Alpha'"},
    {"fixtuple1", U9_TORN, "N-2", 0, "expected a value"},
    {"tau0.16", U9_TORN, "N-2", 0, "expected a value"},
    {"utf8.7(\"\")", U9_CORRUPT, "N-2", 0, "expected a value, not 'utf8.7'"},
    {"tau.8(5)", U9_CORRUPT, "N-2", 0, "not 'tau.8'"},
    {"cidx.8('i [uint8:] [int16:]) ()", U9_CORRUPT, "N-2", 0, "not 'cidx.8'"},
    {"pidfd.64(1 2)", U9_CORRUPT, "N-2", 0, "not 'pidfd.64'"},
    {"007", U9_TORN, "N-2", 0, "expected a whole number, not '007'"},
    {"-", U9_TORN, "N-2", 0, "expected a whole number"},
    {"+5", U9_TORN, "N-2", 0, "not '+5'"},
    {"--5", U9_TORN, "N-4", 0, "expected a number, inf, -inf or nan, not '--5'"},
    {"5x", U9_TORN, "N-4", 0, "not '5x'"},
    {"uint8(1.5)", U9_CORRUPT, "N-2", 6, "expected a whole number, not '1.5'"},
    {"18446744073709551616", U9_TORN, "N-5", 0, "18446744073709551616 does not fit in uint64"},
    {"-9223372036854775809", U9_TORN, "N-5", 0, "does not fit in int64"},
    {"\"a", U9_TORN, "N-3", 2, "but the text ends"},
    {"\"a\nb\"", U9_CORRUPT, "N-3", 2, "not the end of the line"},
    {"\"\x01\"", U9_CORRUPT, "N-3", 1, "not the byte 01"},
    {"\"\x7f\"", U9_CORRUPT, "N-3", 1, "not the byte 7f"},
    {"\"\xff\"", U9_CORRUPT, "N-3", 1,
     "expected a character of UTF-8 (other bytes: \\xNN) or '\"', not the byte ff"},
    {"\"\x80\xbf\"", U9_CORRUPT, "N-3", 1, "not the byte 80"},
    {"\"\xe2\x82\"", U9_CORRUPT, "N-3", 1, "not the byte e2"},
    {"\"\xed\xa0\x80\"", U9_CORRUPT, "N-3", 1, "not the byte ed"},
    {"\"\xc3", U9_TORN, "N-3", 2, "but the text ends"},
    {"\"\xf0\x9f\x8e", U9_TORN, "N-3", 4, "but the text ends"},
    {"\"\\q\"", U9_CORRUPT, "N-3", 2, "expected \\\\ \\\" \\n \\t or \\xNN, not 'q'"},
    {"\"\\", U9_TORN, "N-3", 2, "but the text ends"},
    {"\"\\x4g\"", U9_CORRUPT, "N-3", 4, "expected two hex digits behind \\x"},
    {"x\"123\"", U9_CORRUPT, "N-3", 5, "expected the second hex digit of a byte, not '\"'"},
    {"x\"1 2\"", U9_CORRUPT, "N-3", 3, "expected the second hex digit of a byte"},
    {"x\"0g\"", U9_CORRUPT, "N-3", 3, "not 'g'"},
    {"x\"zz\"", U9_CORRUPT, "N-3", 2, "expected hex digits, two a byte, or '\"', not 'zz'"},
    {"x \"00\"", U9_CORRUPT, "N-3", 0, "expected x\"...\", not 'x'"},
    {"x", U9_TORN, "N-3", 0, "expected x\"...\", not 'x'"},
    {"foo ", U9_CORRUPT, "N-2", 0, "expected a value, not 'foo'"},
    {"x ", U9_CORRUPT, "N-3", 0, "expected x\"...\", not 'x'"},
    {"5x ", U9_CORRUPT, "N-4", 0, "not '5x'"},
    {"'", U9_TORN, "N-3", 1, "expected a symbol's name, or a name in quotes, but"},
    {"''", U9_CORRUPT, "N-3", 1, "expected a symbol's name"},
    {"'abcdefghi", U9_CORRUPT, "N-3", 1, "a symbol of more than 8 bytes"},
    {"'\"abcdefghi\"", U9_CORRUPT, "N-3", 1, "a symbol of more than 8 bytes"},
    {"'a:b", U9_CORRUPT, "N-1", 2, "a blank is missing behind the value"},
    {"1.", U9_TORN, "N-4", 0, "not '1.'"},
    {".5", U9_TORN, "N-2", 0, "not '.5'"},
    {"1e", U9_TORN, "N-4", 0, "not '1e'"},
    {"01.5", U9_TORN, "N-4", 0, "not '01.5'"},
    {"1.5.2", U9_TORN, "N-4", 0, "not '1.5.2'"},
    {"1e+", U9_TORN, "N-4", 0, "not '1e+'"},
    {"1e309", U9_TORN, "N-4", 0, "larger than any float64 but inf"},
    {"float32(1e39)", U9_CORRUPT, "N-4", 8, "larger than any float32 but inf"},
    {"nan(x\"7ff0000000000000\")", U9_CORRUPT, "N-4", 4, "not the 8 bytes of a NaN"},
    {"nan(x\"7fc00000\")", U9_CORRUPT, "N-4", 4, "not the 8 bytes"},
    {"float32(nan(x\"7ff8000000000001\"))", U9_CORRUPT, "N-4", 12, "not the 4 bytes of a NaN"},
    {"nan(5)", U9_CORRUPT, "N-4", 4, "expected x\"...\", not '5'"},
    {"nan(x\"7ff8000000000001\"", U9_TORN, "N-4", 23, "expected ')', but the text ends"},
    {"uint8(256)", U9_CORRUPT, "N-5", 6, "256 does not fit in uint8"},
    {"int8(128)", U9_CORRUPT, "N-5", 5, "128 does not fit in int8"},
    {"int8(-129)", U9_CORRUPT, "N-5", 5, "-129 does not fit in int8"},
    {"uint16(-1)", U9_CORRUPT, "N-5", 7, "-1 does not fit in uint16"},
    {"tau.16(65536)", U9_CORRUPT, "N-5", 7, "65536 does not fit in uint16"},
    {"tau", U9_TORN, "N-5", 3, "expected '(' right behind the name, but the text ends"},
    {"tau (5)", U9_CORRUPT, "N-5", 3, "expected '(' right behind the name, not ' '"},
    {"array(1)", U9_CORRUPT, "N-5", 5, "expected '[' right behind the name, not '('"},
    {"uint8(5 6)", U9_CORRUPT, "N-5", 8, "expected ')', not '6'"},
    {"pidfd(4294967296 0)", U9_CORRUPT, "N-5", 6, "does not fit in uint32"},
    {"pidfd(1)", U9_CORRUPT, "N-2", 7, "expected a whole number, not ')'"},
    {"utf8.16(x\"00\")", U9_CORRUPT, "N-3", 8, "expected '\"', not 'x'"},
    {"bytes.16(\"a\")", U9_CORRUPT, "N-3", 9, "expected x\"...\", not '\"'"},
    {"[]", U9_CORRUPT, "N-6", 1, "expected a typecode, not ']'"},
    {"[int8 1]", U9_CORRUPT, "N-6", 6, "expected ':', not '1'"},
    {"[alpha:]", U9_CORRUPT, "N-6", 1, "expected a typecode, not 'alpha'"},
    {"[tau: 1]", U9_CORRUPT, "N-6", 1, "expected tau.16, tau.32 or tau.64, not 'tau'"},
    {"[cidx:]", U9_CORRUPT, "N-6", 1, "expected a typecode"},
    {"[utf8:]", U9_CORRUPT, "N-6", 5, "expected a number from 0 to 2^64 - 1, not ':'"},
    {"[utf8 -1:]", U9_CORRUPT, "N-6", 6, "expected a number from 0"},
    {"[utf8.8 256:]", U9_CORRUPT, "N-6", 1, "8 bits do not hold a length of 256 bytes"},
    {"[fixtuple8 1:]", U9_CORRUPT, "N-6", 1, "expected a typecode, not 'fixtuple8'"},
    {"[fixtuple1 256:]", U9_CORRUPT, "N-6", 1, "8 bits do not hold"},
    {"[array.8 128 int16:]", U9_CORRUPT, "N-6", 1, "8 bits do not hold a length of 256 bytes"},
    {"[array.8 300 utf8 0:]", U9_CORRUPT, "N-6", 1, "8 bits do not hold"},
    {"[array 18446744073709551615 int16:]", U9_CORRUPT, "N-6", 1,
     "an element of more than 2^64 - 1 bytes"},
    {"[tuple 18446744073709551615:]", U9_CORRUPT, "N-6", 27,
     "an element of more than 2^64 - 1 bytes"},
    {"(18446744073709551616)", U9_CORRUPT, "N-5", 1, "does not fit in uint64"},
    {"(1e309)", U9_CORRUPT, "N-4", 1, "larger than any float64 but inf"},
    {"[int8: 128]", U9_CORRUPT, "N-5", 7, "128 does not fit in int8"},
    {"[int8: \"a\"]", U9_CORRUPT, "N-2", 7, "expected a whole number, not '\"'"},
    {"[int8: int8(1)]", U9_CORRUPT, "N-2", 7, "not 'int8'"},
    {"[tau.16: tau(1)]", U9_CORRUPT, "N-2", 9, "not 'tau'"},
    {"[float32: 'a]", U9_CORRUPT, "N-4", 10, "expected a number, inf, -inf or nan"},
    {"[symbol: a]", U9_CORRUPT, "N-6", 9, "expected a symbol, not 'a'"},
    {"[pidfd: 1 2]", U9_CORRUPT, "N-6", 8, "expected pidfd(pid fd), not '1'"},
    {"[utf8 2: \"abc\"]", U9_CORRUPT, "N-6", 9, "3 bytes, where the typecode says 2"},
    {"[bytes 1: \"a\"]", U9_CORRUPT, "N-3", 10, "expected x\"...\""},
    {"[bytes 1: x\"\"]", U9_CORRUPT, "N-6", 10, "0 bytes, where the typecode says 1"},
    {"[fixtuple2 2: 5]", U9_CORRUPT, "N-6", 14, "expected '(' of a tuple, not '5'"},
    {"[array 1 int8: 5]", U9_CORRUPT, "N-6", 15, "expected '[' of an array, not '5'"},
    {"[fixtuple2 2: (1)]", U9_CORRUPT, "N-6", 16, "1 elements, where 2 are due"},
    {"[fixtuple2 2: (1 2 3)]", U9_CORRUPT, "N-6", 19, "more than 2 elements"},
    {"[fixtuple1 2: (1)]", U9_CORRUPT, "N-6", 14, "a tuple of 1 bytes, where the typecode says 2"},
    {"[tuple 1: (1 2)]", U9_CORRUPT, "N-6", 10, "a tuple of 2 bytes, where the typecode says 1"},
    {"[array 2 int8: [1]]", U9_CORRUPT, "N-6", 17, "1 elements, where 2 are due"},
    {"[array 2 int8: [1 2 3]]", U9_CORRUPT, "N-6", 20, "more than 2 elements"},
    {"cidx('k)()", U9_CORRUPT, "N-6", 7, "1 elements, where 3 are due"},
    {"iidx('k [int8:] [int16:] 5) ()", U9_CORRUPT, "N-6", 25, "more than 3 elements"},
    {"cidx(5 [int8:] [int16:]) ()", U9_CORRUPT, "N-7", 0, "an index is a symbol, an array of keys"},
    {"cidx('k [int8:] [int8:]) ()", U9_CORRUPT, "N-7", 0, "an index is"},
    {"cidx('k (1) [int16: 0]) ()", U9_CORRUPT, "N-7", 0, "an index is"},
    {"cidx('k [int8: 1] [int16:]) ()", U9_CORRUPT, "N-7", 0, "an index is"},
    {"cidx('k [int8:] [int16:])", U9_TORN, "N-7", 25,
     "the tuple or array that the index is of, but the text ends"},
    {"cidx('k [int8:] [int16:]) 5", U9_TORN, "N-7", 26,
     "the tuple or array that the index is of, not '5'"},
    {"(cidx('k [int8:] [int16:]))", U9_CORRUPT, "N-7", 26,
     "the tuple or array that the index is of, not ')'"},
    {"iidx.16('k [int8:] [int16:]) utf8(\"\")", U9_CORRUPT, "N-7", 29, "not 'utf8'"},
};

/* [N-5] What the form does not hold: 256 bytes in one of 8 bits. */
START_TEST(what_is_longer_than_its_form_says_is_refused)
{
    static const struct {
        const char *before, *each, *behind;
    } texts[] = {{"utf8.8(\"", "x", "\")"},
                 {"bytes.8(x\"", "00", "\")"},
                 {"tuple.8(", "1 ", ")"},
                 {"array.8[int8: ", "1 ", "]"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (unsigned count = 200; count <= 256; count += 56) {
            char text[600];
            uint8_t out[600];
            size_t used;
            u9_builder b;
            u9_fault fault;
            u9_builder_init(&b, out, sizeof out);
            strcpy(text, texts[i].before);
            for (unsigned k = 0; k < count; k++) strcat(text, texts[i].each);
            strcat(text, texts[i].behind);
            u9_err err = u9_value_parse(text, strlen(text), &used, &b, &fault);
            ck_assert_int_eq(err, count < 256 ? U9_OK : U9_CORRUPT);
            if (err != U9_OK) ck_assert_str_eq(fault.rule, "N-5");
        }
}
END_TEST

START_TEST(what_is_refused_is_named_with_its_place_and_what_was_expected)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        uint8_t room[64];
        size_t used = 77;
        u9_fault fault = {.err = U9_OK};
        u9_builder b;
        u9_builder_init(&b, room, sizeof room);
        u9_err err = parse(r->text, strlen(r->text), NULL, &b, &fault);
        ck_assert_msg(err == r->err && fault.err == err, "%s: %d, %s", r->text, (int)err,
                      fault.text);
        ck_assert_msg(strcmp(fault.rule, r->rule) == 0, "%s: [%s] %s", r->text, fault.rule,
                      fault.text);
        ck_assert_msg(fault.offset == r->offset, "%s: offset %d: %s", r->text, (int)fault.offset,
                      fault.text);
        ck_assert_msg(strstr(fault.text, r->sentence) != NULL, "%s: %s", r->text, fault.text);
        ck_assert_uint_eq(b.size, 0);
        ck_assert_int_eq(parse(r->text, strlen(r->text), NULL, &b, NULL), r->err);
        if (i == 0) continue; /* with `used` it is the first of two values */
        ck_assert_int_eq(parse(r->text, strlen(r->text), &used, &b, NULL), r->err);
        ck_assert_uint_eq(used, 77);
    }
}
END_TEST

/* n times `open`, `middle`, and n times `shut`; to be freed. */
static char *nested(unsigned n, const char *open, const char *middle, const char *shut)
{
    char *text = (char *)calloc(1, n * (strlen(open) + strlen(shut)) + strlen(middle) + 1);
    ck_assert_ptr_nonnull(text);
    char *p = text;
    for (unsigned i = 0; i < n; i++) p = strcpy(p, open) + strlen(open);
    p = strcpy(p, middle) + strlen(middle);
    for (unsigned i = 0; i < n; i++) p = strcpy(p, shut) + strlen(shut);
    return text;
}

static void expect_nested(unsigned n, const char *open, const char *middle, const char *shut,
                          u9_err want)
{
    u9_fault fault = {.err = U9_OK};
    u9_builder b;
    char *text = nested(n, open, middle, shut);
    u9_builder_init_growing(&b, grow, NULL);
    u9_err err = u9_value_parse(text, strlen(text), NULL, &b, &fault);
    ck_assert_msg(err == want, "%u times %s: %s", n, open, fault.text);
    if (err == U9_OK) ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_OK);
    else ck_assert_str_eq(fault.rule, "N-8");
    free(b.bytes);
    free(text);
}

/* [N-8] */
START_TEST(containers_are_read_as_deep_as_values_are)
{
    expect_nested(64, "(", "", ")", U9_OK);
    expect_nested(65, "(", "", ")", U9_LIMIT);
    expect_nested(63, "(", "[int8: 1]", ")", U9_OK);
    expect_nested(64, "(", "[int8: 1]", ")", U9_LIMIT);
    expect_nested(61, "(", "[array 1 array 1 int8: [[1]]]", ")", U9_OK);
    expect_nested(62, "(", "[array 1 array 1 int8: [[1]]]", ")", U9_LIMIT);
    expect_nested(62, "(", "[array 1 array 1 int8:]", ")", U9_LIMIT);
    expect_nested(62, "(", "[fixtuple1 1: (1)]", ")", U9_OK);
    expect_nested(63, "(", "[fixtuple1 1:]", ")", U9_LIMIT);
    expect_nested(62, "(", "cidx('i [int8:] [int16:]) ()", ")", U9_OK);
    expect_nested(63, "(", "cidx('i [int8:] [int16:]) ()", ")", U9_LIMIT);
}
END_TEST

/* [N-8] */
START_TEST(typecodes_nest_as_deeply_as_values_do)
{
    char *deep = nested(500, "array 1 ", "int8", "");
    uint8_t typecode[U9_TYPECODE_MAX];
    size_t size = 77;
    u9_fault fault;
    ck_assert_int_eq(u9_typecode_parse(deep, strlen(deep), typecode, &size, &fault), U9_LIMIT);
    ck_assert_str_eq(fault.rule, "N-8");
    const char *last = deep + strlen(deep) - strlen("int8");
    ck_assert_int_eq(u9_typecode_parse(last - 64 * 8, 64 * 8 + 4, typecode, &size, NULL), U9_LIMIT);
    ck_assert_uint_eq(size, 77);
    ck_assert_int_eq(u9_typecode_parse(last - 63 * 8, 63 * 8 + 4, typecode, &size, NULL), U9_OK);
    ck_assert_uint_eq(size, 63 * 3 + 1);
    free(deep);
}
END_TEST

/* [N-8] */
START_TEST(an_array_has_as_many_empty_elements_as_a_value_may)
{
    expect_nested(1, "[utf8 0:", "", "]", U9_OK);
    for (unsigned n = 255; n <= 256; n++) {
        char *elements = nested(n, " \"\"", "", "");
        expect_nested(1, "[utf8 0:", elements, "]", n == 255 ? U9_OK : U9_LIMIT);
        free(elements);
    }
    expect_nested(1, "[array 256 utf8 0:", "", "]", U9_LIMIT);
    expect_nested(1, "[array 100 utf8 0:", "", "]", U9_OK);
}
END_TEST

/* [N-4] */
START_TEST(floats_are_written_with_the_fewest_digits)
{
    static const struct {
        uint64_t bits;
        const char *text;
    } floats[] = {
        {0x0000000000000000, "0.0"},
        {0x8000000000000000, "-0.0"},
        {0x3ff0000000000000, "1.0"},
        {0x0000000000000001, "5e-324"},
        {0x000fffffffffffff, "2.225073858507201e-308"},
        {0x0010000000000000, "2.2250738585072014e-308"},
        {0x7fefffffffffffff, "1.7976931348623157e308"},
        {0x3fd3333333333334, "0.30000000000000004"},
        {0x3fb999999999999a, "0.1"},
        {0x3d30000000000000, "5.684341886080802e-14"},
        {0x4340000000000000, "9007199254740992.0"},
        {0x4341c37937e08000, "1e16"},
        {0x430c6bf52633ffff, "999999999999999.9"},
        {0x4341c37937e07fff, "9999999999999998.0"},
        {0x3f1a36e2eb1c432d, "0.0001"},
        {0x3f1a36e2eb1c432c, "9.999999999999999e-5"},
        {0x44b52d02c7e14af6, "1e23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e23"},
        {0x444b1ae4d6e2ef50, "1e21"},
        {0xc05edccccccccccd, "-123.45"},
        {0x7ff0000000000000, "inf"},
        {0xfff0000000000000, "-inf"},
        {0x7ff8000000000000, "nan"},
        {0xfff8000000000000, "nan(x\"fff8000000000000\")"},
        {0x7ff0000000000001, "nan(x\"7ff0000000000001\")"},
    };
    static const struct {
        uint32_t bits;
        const char *text;
    } narrow[] = {
        {0x00000001, "1e-45"},
        {0x007fffff, "1.1754942e-38"},
        {0x00800000, "1.1754944e-38"},
        {0x7f7fffff, "3.4028235e38"},
        {0x3dcccccd, "0.1"},
        {0x4b800000, "16777216.0"},
        {0x80000000, "-0.0"},
        {0x5a0e1bca, "1e16"},
        {0x7f800000, "inf"},
        {0x7fc00000, "nan"},
        {0x7fa00000, "nan(x\"7fa00000\")"},
    };
    uint8_t bytes[9];
    char text[64];
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        snprintf(text, sizeof text, "09%016llx", (unsigned long long)floats[i].bits);
        size_t size = unhex(text, bytes);
        expect_text(bytes, size, floats[i].text);
        expect_bytes(floats[i].text, bytes, size);
    }
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        snprintf(text, sizeof text, "08%08x", narrow[i].bits);
        size_t size = unhex(text, bytes);
        snprintf(text, sizeof text, "float32(%s)", narrow[i].text);
        expect_text(bytes, size, text);
        expect_bytes(text, bytes, size);
    }
}
END_TEST

/* The float that a text is read as. */
static double real_of(const char *text)
{
    uint8_t bytes[16];
    u9_value v;
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_msg(u9_value_parse(text, strlen(text), NULL, &b, NULL) == U9_OK, "%s", text);
    ck_assert_int_eq(u9_value_decode(bytes, b.size, &v), U9_OK);
    ck_assert_int_eq(v.type, U9_FLOAT64);
    return v.f;
}

/* Digits of a number that count. */
static int digits_of(const char *text)
{
    int digits = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && digits == 0)) continue;
        digits++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return digits - zeros;
}

/* [N-4] The C library, which is asked in the C locale here, is the other opinion. */
START_TEST(random_floats_read_back_to_their_bits_and_no_fewer_digits_do)
{
    rng r = {4};
    for (int i = 0; i < 20000; i++) {
        uint8_t value[9] = {0x09};
        char text[64], other[64];
        double real, back;
        uint64_t bits = rng_next(&r);
        if (i % 3 == 0) bits &= ~(UINT64_MAX >> 12); /* powers of 2: the float below is nearer */
        if (i % 5 == 0) bits &= 0x800fffffffffffff;  /* the smallest */
        memcpy(&real, &bits, sizeof real);
        if (!isfinite(real) || real == 0) continue;
        for (int k = 0; k < 8; k++) value[1 + k] = (uint8_t)(bits >> (56 - 8 * k));
        ck_assert_int_eq(u9_value_text(value, 9, text, sizeof text, NULL, NULL), U9_OK);
        back = strtod(text, NULL);
        ck_assert_msg(memcmp(&back, &real, sizeof real) == 0, "%a is no %s", real, text);
        back = real_of(text);
        ck_assert_msg(memcmp(&back, &real, sizeof real) == 0, "%s reads as %a", text, back);
        int fewest = 1;
        do snprintf(other, sizeof other, "%.*e", fewest - 1, real);
        while (strtod(other, NULL) != real && fewest++ < 17);
        ck_assert_msg(digits_of(text) <= fewest, "%s is longer than %s", text, other);
    }
}
END_TEST

/* [N-4] */
START_TEST(decimal_numbers_are_read_as_the_nearest_float)
{
    rng r = {5};
    for (int i = 0; i < 20000; i++) {
        char text[1300];
        size_t digits = 1 + rng_below(&r, i % 20 == 0 ? 1000 : 25), dot = rng_below(&r, digits),
               at = 0;
        if (rng_next(&r) % 2) text[at++] = '-';
        text[at++] = (char)('1' + rng_below(&r, 9));
        for (size_t k = 1; k < digits; k++) {
            if (k == dot) text[at++] = '.';
            text[at++] = (char)('0' + rng_below(&r, 10));
        }
        snprintf(text + at, sizeof text - at, "e%d", (int)rng_below(&r, 700) - 350);
        double want = strtod(text, NULL), got = isfinite(want) ? real_of(text) : want;
        ck_assert_msg(memcmp(&want, &got, sizeof want) == 0, "%s is %a, not %a", text, want, got);
    }
    /* Half the way between 1 and the next float, and a little more, 1000 digits behind. */
    char text[1100] = "1.00000000000000011102230246251565404236316680908203125";
    ck_assert(real_of(text) == 1.0);
    memset(text + strlen(text), '0', 900);
    ck_assert(real_of(text) == 1.0);
    strcat(text, "1");
    ck_assert(real_of(text) == nextafter(1.0, 2.0));
    ck_assert(real_of("0.000000000000000000000000000001e30") == 1.0);
    ck_assert(real_of("1e-99999999999999999999999") == 0.0);
    ck_assert(real_of("0e99999999999999999999999") == 0.0);
}
END_TEST

START_TEST(random_values_read_back_to_the_same_bytes)
{
    static uint8_t bytes[ROOM];
    static char text[64 * ROOM];
    rng r = {1};
    for (int i = 0; i < 20000; i++) {
        size_t size = value_gen(&r, bytes, i % 100 == 0 ? 20000 : 400, (unsigned)rng_below(&r, 65)),
               length = 0, used = 0;
        u9_fault fault;
        u9_builder b;
        ck_assert_msg(u9_value_text(bytes, size, text, sizeof text, &length, &fault) == U9_OK, "%s",
                      fault.text);
        ck_assert(u9_utf8_valid(text, length) && strlen(text) == length);
        u9_builder_init_growing(&b, grow, NULL);
        ck_assert_msg(parse(text, length, &used, &b, &fault) == U9_OK, "%s: %s", text, fault.text);
        ck_assert_uint_eq(used, length);
        ck_assert_msg(b.size == size && memcmp(b.bytes, bytes, size) == 0, "%s", text);
        free(b.bytes);
    }
}
END_TEST

/* [N-8] A text that is cut anywhere is torn, or a shorter one, and nothing is read behind it. */
START_TEST(texts_that_are_cut_off_are_torn_or_end_with_a_value)
{
    static uint8_t bytes[400], again[1 << 12];
    static char text[1 << 14];
    rng r = {2};
    for (int i = 0; i < 300; i++) {
        size_t size = value_gen(&r, bytes, 100, 5), length = 0;
        ck_assert_int_eq(u9_value_text(bytes, size, text, sizeof text, &length, NULL), U9_OK);
        for (size_t cut = 1; cut < length; cut++) {
            size_t used = 0;
            u9_builder b;
            u9_builder_init(&b, again, sizeof again);
            u9_err err = parse(text, cut, &used, &b, NULL);
            /* A name that is cut, as `uint1`, is another one or none. */
            ck_assert(err == U9_TORN || err == U9_CORRUPT || (err == U9_OK && used <= cut));
            if (err == U9_OK) ck_assert_int_eq(u9_value_check(again, b.size, NULL, NULL), U9_OK);
        }
    }
}
END_TEST

START_TEST(malformed_bytes_have_no_text)
{
    static const uint8_t bad[] = {0x4b, 0x04, 0x81, 0x0c, 0x81, 0x81};
    char text[8] = "before";
    size_t length = 77;
    u9_fault fault;
    ck_assert_int_eq(u9_value_text(bad, sizeof bad, text, sizeof text, &length, &fault),
                     U9_CORRUPT);
    ck_assert_uint_eq(fault.offset, 3);
    ck_assert_str_eq(fault.rule, "V-6");
    ck_assert_str_eq(text, "before");
    ck_assert_uint_eq(length, 77);
    ck_assert_int_eq(u9_value_text(bad, 4, text, sizeof text, &length, &fault), U9_TORN);
    ck_assert_int_eq(u9_value_text(bad, 0, text, sizeof text, &length, NULL), U9_TORN);
}
END_TEST

START_TEST(a_text_without_room_is_cut_and_its_length_is_told)
{
    static const uint8_t hello[] = {0x25, 'h', 'e', 'l', 'l', 'o'};
    for (size_t cap = 0; cap <= 8; cap++) {
        char *text = (char *)malloc(cap + 1);
        ck_assert_ptr_nonnull(text);
        text[cap] = 'X';
        size_t length = 0;
        u9_fault fault;
        ck_assert_int_eq(u9_value_text(hello, sizeof hello, text, cap, &length, &fault),
                         cap < 8 ? U9_LIMIT : U9_OK);
        ck_assert_uint_eq(length, 7);
        ck_assert_int_eq(text[cap], 'X');
        if (cap < 8) ck_assert_int_eq(fault.err, U9_LIMIT);
        if (cap > 0) ck_assert_uint_eq(strlen(text), cap - 1);
        if (cap > 0) ck_assert_int_eq(strncmp(text, "\"hello\"", cap - 1), 0);
        free(text);
    }
    ck_assert_int_eq(u9_value_text(hello, sizeof hello, NULL, 0, NULL, NULL), U9_LIMIT);
}
END_TEST

static u9_err take_some(void *ctx, const char *text, size_t size)
{
    (void)text;
    size_t *left = (size_t *)ctx;
    ck_assert_uint_gt(size, 0);
    if (size > *left) return U9_IO;
    *left -= size;
    return U9_OK;
}

START_TEST(printing_ends_when_nobody_takes_the_text)
{
    static uint8_t bytes[5 + 100000] = {0x1a, 0x00, 0x01, 0x86, 0xa0};
    size_t left = 1000;
    memset(bytes + 5, 'a', 100000);
    ck_assert_int_eq(u9_value_print(bytes, sizeof bytes, take_some, &left, NULL), U9_IO);
    left = 100002;
    ck_assert_int_eq(u9_value_print(bytes, sizeof bytes, take_some, &left, NULL), U9_OK);
    ck_assert_uint_eq(left, 0);
}
END_TEST

START_TEST(values_in_a_row_are_read_one_by_one)
{
    static const char text[] = " 1 ;one\n (2 3)\"four\"; five\n";
    static const size_t ends[] = {2, 14, 20};
    uint8_t bytes[32];
    size_t at = 0, used = 77;
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(u9_value_parse(text + at, strlen(text) - at, &used, &b, NULL), U9_OK);
        at += used;
        ck_assert_uint_eq(at, ends[i]);
    }
    used = 77;
    ck_assert_int_eq(u9_value_parse(text + at, strlen(text) - at, &used, &b, NULL), U9_END);
    ck_assert_int_eq(u9_value_parse("", 0, NULL, &b, NULL), U9_END);
    ck_assert_uint_eq(used, 77);
    ck_assert_uint_eq(b.size, 1 + 4 + 5);
    ck_assert_int_eq(memcmp(bytes,
                            "\x81\x4a\x02\x82\x83\x24"
                            "four",
                            10),
                     0);
}
END_TEST

START_TEST(a_value_is_added_to_the_tuple_that_is_open)
{
    uint8_t bytes[64], want[64];
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_uint(&b, 1), U9_OK);
    ck_assert_int_eq(u9_value_parse("cidx('i [uint8:] [int16:]) (uint8(5))", 37, NULL, &b, NULL),
                     U9_OK);
    ck_assert_int_eq(u9_value_parse("(2 ?)", 5, NULL, &b, NULL), U9_CORRUPT);
    ck_assert_int_eq(u9_value_parse("\"a\"", 3, NULL, &b, NULL), U9_OK);
    ck_assert_int_eq(u9_build_uint(&b, 3), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    size_t size = unhex("4c1c81"
                        "510011"
                        "0a6900000000000000"
                        "44010000"
                        "44010005"
                        "49020005"
                        "2161"
                        "83",
                        want);
    ck_assert_uint_eq(b.size, size);
    ck_assert_int_eq(memcmp(bytes, want, size), 0);
}
END_TEST

START_TEST(a_value_is_as_deep_as_the_tuple_that_it_is_added_to_allows)
{
    uint8_t bytes[300];
    u9_fault fault;
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    for (int i = 0; i < 63; i++) ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_value_parse("(())", 4, NULL, &b, &fault), U9_LIMIT);
    ck_assert_str_eq(fault.rule, "N-8");
    ck_assert_int_eq(u9_value_parse("()", 2, NULL, &b, NULL), U9_OK);
    for (int i = 0; i < 63; i++) ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    ck_assert_int_eq(u9_value_check(bytes, b.size, NULL, NULL), U9_OK);
}
END_TEST

START_TEST(no_value_is_read_into_an_open_array)
{
    static const uint8_t int8[] = {0x04};
    uint8_t bytes[64];
    u9_fault fault;
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_array_open(&b, int8, 1), U9_OK);
    ck_assert_int_eq(u9_value_parse("5", 1, NULL, &b, &fault), U9_STATE);
    ck_assert_int_eq(fault.err, U9_STATE);
}
END_TEST

START_TEST(a_buffer_that_is_too_small_stays_as_it_was)
{
    static const char text[] = "(1 \"hello\" [int16: 1 2])";
    uint8_t want[64];
    size_t size = unhex("4b0f"
                        "81"
                        "2568656c6c6f"
                        "44050205"
                        "00010002",
                        want);
    for (size_t cap = 0; cap <= size + 1; cap++) {
        uint8_t *bytes = (uint8_t *)malloc(cap + 1);
        ck_assert_ptr_nonnull(bytes);
        u9_fault fault;
        u9_builder b;
        u9_builder_init(&b, bytes, cap);
        u9_err err = u9_value_parse(text, strlen(text), NULL, &b, &fault);
        ck_assert_int_eq(err, cap < size ? U9_LIMIT : U9_OK);
        ck_assert_uint_eq(b.size, cap < size ? 0 : size);
        if (err == U9_OK) ck_assert_int_eq(memcmp(bytes, want, size), 0);
        if (err != U9_OK) ck_assert_str_eq(fault.rule, "");
        free(bytes);
    }
}
END_TEST

static u9_err never(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    (void)ctx, (void)bytes, (void)cap, (void)need;
    return U9_NOMEM;
}

START_TEST(what_growing_says_comes_back)
{
    u9_fault fault;
    u9_builder b;
    u9_builder_init_growing(&b, never, NULL);
    ck_assert_int_eq(u9_value_parse("(1)", 3, NULL, &b, &fault), U9_NOMEM);
    ck_assert_int_eq(fault.err, U9_NOMEM);
    ck_assert_uint_eq(b.size, 0);
}
END_TEST

/* [N-6] */
START_TEST(typecodes_have_texts_of_their_own)
{
    static const pair typecodes[] = {
        {"05", "int16"},
        {"15", "tau.16"},
        {"180a", "utf8 10"},
        {"19000a", "utf8.16 10"},
        {"1c00", "bytes 0"},
        {"4030", "tuple 48"},
        {"4c30", "fixtuple4 48"},
        {"43000000000000000a", "tuple.64 10"},
        {"44080405", "array 4 int16"},
        {"44080444020200", "array 4 array 2 uint8"},
        {"45019000c81802", "array 200 utf8 2"},
        {"45000600021a00000003", "array.16 2 utf8.32 3"},
    };
    for (size_t i = 0; i < sizeof typecodes / sizeof *typecodes; i++) {
        uint8_t want[32], got[U9_TYPECODE_MAX];
        char text[64];
        size_t size, length = 0;
        size = unhex(typecodes[i].hex, want);
        ck_assert_int_eq(u9_typecode_text(want, size, text, sizeof text, &length), U9_OK);
        ck_assert_str_eq(text, typecodes[i].text);
        ck_assert_uint_eq(length, strlen(text));
        size_t got_size = 0;
        ck_assert_int_eq(u9_typecode_parse(text, length, got, &got_size, NULL), U9_OK);
        ck_assert_uint_eq(got_size, size);
        ck_assert_int_eq(memcmp(got, want, size), 0);
    }
}
END_TEST

START_TEST(what_is_no_typecode_is_refused)
{
    uint8_t typecode[U9_TYPECODE_MAX];
    size_t size = 77, length = 77;
    char text[8];
    u9_fault fault;
    ck_assert_int_eq(u9_typecode_parse("int8 x", 6, typecode, &size, &fault), U9_CORRUPT);
    ck_assert_uint_eq(fault.offset, 5);
    ck_assert_int_eq(u9_typecode_parse("", 0, typecode, &size, &fault), U9_TORN);
    ck_assert_int_eq(u9_typecode_parse("array 2", 7, typecode, &size, &fault), U9_TORN);
    ck_assert_int_eq(u9_typecode_parse("alpha ", 6, typecode, &size, NULL), U9_CORRUPT);
    ck_assert_uint_eq(size, 77);
    ck_assert_int_eq(u9_typecode_text("\x10", 1, text, sizeof text, &length), U9_CORRUPT);
    ck_assert_int_eq(u9_typecode_text("\x18", 1, text, sizeof text, &length), U9_TORN);
    ck_assert_int_eq(u9_typecode_text("\x05\x05", 2, text, sizeof text, &length), U9_CORRUPT);
    ck_assert_uint_eq(length, 77);
    ck_assert_int_eq(u9_typecode_text("\x08", 1, text, 7, &length), U9_LIMIT);
    ck_assert_str_eq(text, "float3");
    ck_assert_uint_eq(length, 7);
}
END_TEST

/* Drops the blanks, which are the same in bytes and texts but for where lines end. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++)
        if (!strchr(" \n", *c)) *to++ = *c;
    *to = '\0';
}

/* The example that a hex fence begins with; its comments are the text of its bytes. */
static void expect_example(FILE *spec, const char *head)
{
    char line[400], text[4000] = "", hex[4000] = "", printed[4000];
    uint8_t bytes[2000];
    while (fgets(line, sizeof line, spec) && strncmp(line, "```", 3) != 0) {
        char *comment = strchr(line, ';');
        ck_assert_msg(comment || line[0] == ' ', "%s: no text for %s", head, line);
        if (comment) *comment++ = '\0';
        strcat(hex, line);
        if (comment) strcat(text, comment);
    }
    squeeze(hex);
    size_t size = unhex(hex, bytes);
    expect_bytes(text, bytes, size);
    ck_assert_int_eq(u9_value_text(bytes, size, printed, sizeof printed, NULL, NULL), U9_OK);
    squeeze(text);
    squeeze(printed);
    ck_assert_str_eq(printed, text);
}

START_TEST(the_examples_of_the_specification_are_what_their_comments_say)
{
    FILE *spec = fopen("SPEC-values.md", "r");
    char line[1 << 14];
    int examples = 0;
    ck_assert_ptr_nonnull(spec);
    while (fgets(line, sizeof line, spec)) {
        if (strncmp(line, "```hex N-", 9) != 0) continue;
        expect_example(spec, line);
        examples++;
    }
    fclose(spec);
    ck_assert_int_ge(examples, 6);
}
END_TEST

/* Every well-formed value that begins anywhere in these bytes, printed and read back. How many. */
static unsigned round_trips(const uint8_t *bytes, size_t size)
{
    static char text[16 * ROOM];
    unsigned n = 0;
    for (size_t at = 0; at < size; at++) {
        u9_value v;
        size_t length;
        if (u9_value_decode(bytes + at, size - at, &v) != U9_OK || v.encoded > ROOM / 64 ||
            u9_value_check(v.start, v.encoded, NULL, NULL) != U9_OK)
            continue;
        ck_assert_int_eq(u9_value_text(v.start, v.encoded, text, sizeof text, &length, NULL), U9_OK);
        expect_bytes(text, v.start, v.encoded);
        n++;
    }
    return n;
}

/* The corpora hold bytes of all kinds, values among them. [N-1] */
START_TEST(every_value_in_the_fuzz_corpora_reads_back_to_the_same_bytes)
{
    static const char *const corpora[] = {"value", "order", "index", "diff", "transit", "frame"};
    static uint8_t bytes[ROOM];
    char path[600];
    for (unsigned i = 0; i < sizeof corpora / sizeof corpora[0]; i++) {
        snprintf(path, sizeof path, "fuzz/corpus/%s", corpora[i]);
        DIR *folder = opendir(path);
        ck_assert_msg(folder != NULL, "%s", path);
        unsigned n = 0;
        for (struct dirent *e; (e = readdir(folder)) != NULL;) {
            snprintf(path, sizeof path, "fuzz/corpus/%s/%s", corpora[i], e->d_name);
            FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
            if (!f) continue;
            n += round_trips(bytes, fread(bytes, 1, sizeof bytes, f));
            fclose(f);
        }
        closedir(folder);
        ck_assert_msg(n >= 50, "%s: %u values", corpora[i], n);
    }
}
END_TEST

Suite *suite_value_text(void)
{
    Suite *s = suite_create("value_text");
    TCase *t = tcase_create("text");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, every_form_has_a_text_of_its_own);
    tcase_add_test(t, every_text_reads_back_to_the_same_bytes);
    tcase_add_test(t, a_reader_takes_blanks_comments_and_names_of_shortest_forms);
    tcase_add_test(t, what_is_refused_is_named_with_its_place_and_what_was_expected);
    tcase_add_test(t, what_is_longer_than_its_form_says_is_refused);
    tcase_add_test(t, containers_are_read_as_deep_as_values_are);
    tcase_add_test(t, typecodes_nest_as_deeply_as_values_do);
    tcase_add_test(t, an_array_has_as_many_empty_elements_as_a_value_may);
    tcase_add_test(t, floats_are_written_with_the_fewest_digits);
    tcase_add_test(t, random_floats_read_back_to_their_bits_and_no_fewer_digits_do);
    tcase_add_test(t, decimal_numbers_are_read_as_the_nearest_float);
    tcase_add_test(t, random_values_read_back_to_the_same_bytes);
    tcase_add_test(t, every_value_in_the_fuzz_corpora_reads_back_to_the_same_bytes);
    tcase_add_test(t, texts_that_are_cut_off_are_torn_or_end_with_a_value);
    tcase_add_test(t, malformed_bytes_have_no_text);
    tcase_add_test(t, a_text_without_room_is_cut_and_its_length_is_told);
    tcase_add_test(t, printing_ends_when_nobody_takes_the_text);
    tcase_add_test(t, values_in_a_row_are_read_one_by_one);
    tcase_add_test(t, a_value_is_added_to_the_tuple_that_is_open);
    tcase_add_test(t, a_value_is_as_deep_as_the_tuple_that_it_is_added_to_allows);
    tcase_add_test(t, no_value_is_read_into_an_open_array);
    tcase_add_test(t, a_buffer_that_is_too_small_stays_as_it_was);
    tcase_add_test(t, what_growing_says_comes_back);
    tcase_add_test(t, typecodes_have_texts_of_their_own);
    tcase_add_test(t, what_is_no_typecode_is_refused);
    tcase_add_test(t, the_examples_of_the_specification_are_what_their_comments_say);
    suite_add_tcase(s, t);
    return s;
}
