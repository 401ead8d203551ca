#!/usr/bin/env bash
# tests/tools/test_tail.sh BINDIR TMPDIR: u9 tail: how many records, of which log, over damage, and behind a writer.
# Nothing here waits for a time: each step waits until what it needs is there.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

# until_so COMMAND...: waits until it succeeds; a minute is a failure.
until_so() {
    local tries
    for tries in $(seq 1200); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "never, in $tries tries: $*"
    return 1
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
# shows FIRST LAST OPTION...: the numbers from FIRST to LAST, status 0 and not a word.
shows() {
    local first=$1 last=$2
    shift 2
    run "$u9" tail "$@"
    seq "$first" "$last" >want
    same $status 0 && cmp want out && same "$(cat err)" ''
}

seq 1 60000 | "$u9" append log --segment-size 64K
claim 'the last ten without a number' shows 59991 60000 log
claim 'as many as are asked for' shows 59998 60000 -n 3 log
claim 'over segments' shows 20001 60000 -n 40000 log
claim 'of which there are some' test "$(find log -name '*.u9' | wc -l)" -gt 3
claim 'all, where there are fewer' shows 1 60000 -n 70000 log
claim 'none of none' shows 2 1 -n 0 log
claim 'as cat --reverse has them' sh -c '"$1" cat --reverse -n 25 --keys log | tac >want; "$1" tail -n 25 --keys log | cmp want' sh "$u9"
claim 'json, too' sh -c '"$1" tail -n 1 --format json log | grep -q "\"ordinal\":\"59999\""' sh "$u9"
claim 'no log is refused' refused 1 'nothing' "$u9" tail nothing
claim 'so is a second one' refused 2 'too much' "$u9" tail log log
claim 'raw records have no NULs behind them' refused 2 'null' "$u9" tail --format raw --null log

head -c 17000000 /dev/zero | tr '\0' x >big
"$u9" append --whole large big
claim 'a large record comes whole' sh -c 'test "$("$1" tail large | wc -c)" = 17000001' sh "$u9"

for i in 1 2 3; do seq -f "${i}0%03g" 1 100 | "$u9" append hurt; done
harm "$(find hurt -name '*.u9' | sort | head -n 1)" 20050
run "$u9" tail hurt -n 99
claim 'damage further in front than what is shown is not told' same "$status $(wc -l <out) $(cat err)" '0 99 '
run "$u9" tail hurt -n 100
claim 'right in front of it, it is told: status 3' same "$status $(wc -l <out) $(grep -c 'CORRUPT' err)" '3 100 1'
claim 'and what is shown is as many' same "$(sed -n '1p;$p' out | tr '\n' ' ')" '30001 30100 '
claim '-n is called by its name' refused 2 '^u9 tail: -n x: ' "$u9" tail hurt -n x
run "$u9" tail hurt -n 150
claim 'among it, it is told: status 3' same $status 3
claim 'once' same "$(wc -l <err)" 1
claim 'and as many others are shown' same "$(wc -l <out)" 150
claim 'of both sides' same "$(sed -n '1p;$p' out | tr '\n' ' ')" '10051 30100 '
harm "$(find hurt -name '*.u9' | sort | head -n 1)" 30050
run "$u9" tail hurt -n 2
claim 'behind all that is shown, it is told: status 3' same "$status $(tr '\n' ' ' <out) $(grep -c '(100 lost)' err)" '3 10099 10100  2'
for i in 1 2; do seq -f "lost%g" 9 | "$u9" append lost && harm "$(find lost -name '*.u9')" lost5; done
run "$u9" tail lost
claim 'of a log of which nothing is left all is told, once' same "$status $(wc -c <out) $(wc -l <err)" '3 0 2'

"$u9" tail -f -n 2 new >out.f 2>err.f &
follower=$!
mkfifo lines
"$u9" append new <lines &
writer=$!
exec 8>lines
seq 1 5 >&8
claim 'a log that comes later is waited for' until_so has_lines out.f 1
claim 'and shown before its writer closes it' until_so grep -qx 5 out.f
exec 8>&-
wait $writer
seq 6 9 | "$u9" append new
claim 'and what another session appends' until_so grep -qx 9 out.f
kill -TERM $follower
wait $follower
claim 'SIGTERM ends it: status 0' same $? 0
claim 'each once, in order' sh -c 'sort -nuc out.f && seq 1 9 | tail -n "$(wc -l <out.f)" | cmp - out.f'
claim 'and nothing was said' same "$(cat err.f)" ''

"$u9" tail -f -n 2 new >out.g &
follower=$!
until_so has_lines out.g 2
echo 10 | "$u9" append new
claim 'of a log that is there the last, then what follows' until_so grep -qx 10 out.g
kill -INT $follower
wait $follower
claim 'SIGINT ends it, too' same $? 0
claim 'nothing between is lost' same "$(tr '\n' ' ' <out.g)" '8 9 10 '
tally
