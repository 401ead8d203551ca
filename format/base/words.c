/*
 * format/base/words.c: see words.h.
 */
#include "format/base/words.h"

#include "format/base/hash.h"

#include <string.h>

enum { HEX = 2 * U9I_HASH_SIZE };

char *u9i_put_hex(char *out, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    return out;
}

char *u9i_put_decimal(char *out, uint64_t n)
{
    char digits[20], *next = digits + sizeof digits;
    do *--next = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    size_t size = (size_t)(digits + sizeof digits - next);
    memcpy(out, next, size);
    return out + size;
}

void u9i_put_check(const char *line, size_t size, char out[U9I_CHECK_WORD])
{
    uint8_t hash[U9I_HASH_SIZE];
    u9i_hash(line, size, hash);
    (void)u9i_put_hex(out, hash, U9I_CHECK_WORD / 2);
}

bool u9i_take_hex(const char *text, size_t size, uint8_t *out)
{
    if (size != HEX) return false;
    for (size_t i = 0; i < size; i++) {
        int digit = u9i_hex_digit((unsigned char)text[i]);
        if (digit < 0 || (text[i] >= 'A' && text[i] <= 'F')) return false;
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | digit : digit << 4);
    }
    return true;
}

bool u9i_take_decimal(const char *text, size_t size, uint64_t *out)
{
    uint64_t n = 0;
    if (size == 0 || (size > 1 && text[0] == '0')) return false;
    for (size_t i = 0; i < size; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (text[i] < '0' || text[i] > '9' || n > UINT64_MAX / 10 || (n == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}
