/*
 * format/id/rkey.c: record keys, and the types that say which of them a collection takes.
 *
 * Owns: u9_rkey_rule. Rules: [I-13] syntax, [I-14] types, [I-18] order.
 *
 * A record key is its text; it has no other form. No locale is asked what a letter is.
 */
#include <u9/id.h>

#include "format/id/reason.h"

#include <stdbool.h>
#include <string.h>

static bool is_key_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '-' || c == '_' || c == ':' || c == '~';
}

/* [I-13] */
static u9_id_reason check_syntax(const char *key, size_t size)
{
    if (size == 0) return U9_RKEY_EMPTY;
    if (size > U9_RKEY_SIZE_MAX) return U9_RKEY_LENGTH;
    for (size_t i = 0; i < size; i++)
        if (!is_key_character(key[i])) return U9_RKEY_CHARACTER;
    bool dots = key[0] == '.' && (size == 1 || (size == 2 && key[1] == '.'));
    return dots ? U9_RKEY_DOTS : U9_ID_FINE;
}

/* [I-14] */
static u9_id_reason check_rule(const char *key, size_t size, const u9_rkey_rule *rule)
{
    switch (rule->type) {
    case U9_RKEY_TID: return u9_tid_is_valid(key, size) ? U9_ID_FINE : U9_RKEY_NO_TID;
    case U9_RKEY_LITERAL:
        if (size != rule->literal_size || memcmp(key, rule->literal, size) != 0)
            return U9_RKEY_OTHER;
        break;
    case U9_RKEY_ANY: break;
    }
    return U9_ID_FINE;
}

u9_err u9_rkey_check(const char *key, size_t size, const u9_rkey_rule *rule, u9_id_reason *why)
{
    u9_id_reason reason = check_syntax(key, size);
    if (reason == U9_ID_FINE && rule) reason = check_rule(key, size, rule);
    return u9i_told(reason, why);
}

static bool starts(const char *text, size_t size, const char *with, size_t with_size)
{
    return size >= with_size && memcmp(text, with, with_size) == 0;
}

u9_err u9_rkey_rule_parse(const char *text, size_t size, u9_rkey_rule *out, u9_id_reason *why)
{
    static const char literal[] = "literal:";
    u9_rkey_rule rule = {U9_RKEY_ANY, NULL, 0};
    if (size == 3 && starts(text, size, "tid", 3)) {
        rule.type = U9_RKEY_TID;
    } else if (starts(text, size, literal, sizeof literal - 1)) {
        rule.type = U9_RKEY_LITERAL;
        rule.literal = text + sizeof literal - 1;
        rule.literal_size = size - (sizeof literal - 1);
        if (check_syntax(rule.literal, rule.literal_size) != U9_ID_FINE)
            return u9i_told(U9_RKEY_TYPE_LITERAL, why);
    } else if (size != 3 || !starts(text, size, "any", 3)) {
        return u9i_told(U9_RKEY_TYPE_NAME, why);
    }
    *out = rule;
    return u9i_told(U9_ID_FINE, why);
}

/* [I-18] memcmp takes bytes as unsigned, and no NULL, not even for none of them. */
int u9_rkey_compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t common = a_size < b_size ? a_size : b_size;
    int order = common > 0 ? memcmp(a, b, common) : 0;
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}
