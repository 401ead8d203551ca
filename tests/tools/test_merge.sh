#!/usr/bin/env bash
# tests/tools/test_merge.sh BINDIR TMPDIR: u9 merge makes one log of several, in the order of their keys, repeats once. [A-5]
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

append() { "$u9" append "$@" 2>append.err; }
keyed() { # LOG: records "key TAB value" from standard input
    append "$1" --key rkey --key-field "$(printf '\t')"
}
lines() { "$u9" cat --keys "$1"; }

# ends STATUS PATTERN SENTENCE COMMAND...: the command exits so, and says PATTERN in one line.
ends() {
    local want=$1 pattern=$2 sentence=$3
    shift 3
    run "$@"
    cat out err >both
    claim "$sentence" test "$status $(grep -Ec -- "$pattern" both)" = "$want 1"
}

printf 'b\t1\nd\t2\nf\t3\n' | keyed a
printf 'a\t4\nd\t2\nf\t9\n' | keyed b
ends 0 '^ab: 5 records of 6 in 2 logs; 1 repeat, 1 key with different records$' 'two logs become one' "$u9" merge ab a b
claim 'the key that differs is named' grep -q 'f: the logs have different records of it' err
claim 'in the order of keys' same "$(lines ab)" "$(printf 'a\t4\nb\t1\nd\t2\nf\t3\nf\t9')"
claim 'it is a clean log' "$fsck" -q ab
printf 'g\t1\n' | keyed ab
claim 'and goes on' same "$(lines ab | tail -n 1)" "$(printf 'g\t1')"
ends 1 'must not exist' 'nothing is overwritten' "$u9" merge ab a b
ends 1 'no such|No such' 'a log that is not there is named' "$u9" merge out2 a none
claim 'and nothing is made' test ! -e out2 -a ! -e out2.partial
printf 'z\t1\ny\t2\n' | keyed unordered
ends 1 '^u9 merge: unordered.*record 1 is below the one before' 'a log that is not in order is refused' "$u9" merge out3 a unordered
claim 'and told how it can be' grep -q -- '^u9 merge: --sort SIZE sorts it first' err
ends 0 '1 log sorted first$' 'or sorted, if that is asked for' "$u9" merge --sort 1M out3 a unordered
claim 'into its place' same "$(lines out3 | cut -f 1 | tr -d '\n')" bdfyz
ends 1 'more than the 100 bytes' 'within the memory that is given' "$u9" merge --sort 100 out4 unordered a
seq 3 | append muids
ends 1 "kind 'rkey'" 'kinds must be the same' "$u9" merge out4 muids a
seq 2000 | append one --segment-size 64K --sync none
"$u9" snapshot one two >/dev/null
seq 2001 2100 | append one --sync none
seq 5000 5010 | append two --sync none
ends 0 '"records":"2111","repeats":"2000","conflicts":"0"' 'a log and a snapshot that went on become one again' \
    "$u9" merge --json --lz4 joined one two
claim 'with all of either' same "$("$u9" cat joined | sort -n | cksum)" "$( (seq 2100; seq 5000 5010) | sort -n | cksum)"
harm one/0000000000000001.u9 1500
ends 3 'a log is damaged: no log was made' '--strict refuses damage' "$u9" merge --strict whole one
claim 'and makes nothing' test ! -e whole -a ! -e whole.partial
ends 3 '1 damaged place, ' 'else it is told' "$u9" merge rest one two
claim 'and what one lost the other gives' same "$("$u9" cat rest | sort -n | uniq | head -2000 | cksum)" "$(seq 2000 | cksum)"
long=$(printf 'm%.0s' $(seq 250))
ends 4 'cannot make the new log here: File name too long' 'a name that is too long is said to be that' "$u9" merge "$long" one
ends 2 'no LOG given' 'logs are asked for' "$u9" merge nothing
tally
