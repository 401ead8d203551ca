#!/usr/bin/env bash
# tests/tools/test_grep.sh BINDIR TMPDIR: u9 grep: patterns and fields, in the order of the log with any number of
# threads, what is counted, coloured and damaged, and the exit status.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

# none OPTION...: nothing is found, and nothing said: status 1.
none() {
    run "$u9" grep "$@"
    same "$status $(cat out err)" '1 '
}
# finds WANTED OPTION...: these lines, status 0 and not a word.
finds() {
    local wanted=$1
    shift
    run "$u9" grep "$@"
    same $status 0 && same "$(cat out)" "$wanted" && same "$(cat err)" ''
}
finds_file() { # WANTED OPTION...
    local wanted=$1
    shift
    run "$u9" grep "$@"
    same $status 0 && cmp out "$wanted" && same "$(cat err)" ''
}

cat >lines <<'END'
{"user":{"name":"ada","id":7},"status":200,"a.b":"dot"}
{"user":{"name":"Bob","id":8},"status":404}
{"status":"404","note":"a=b"}
{"status":4040}
END
"$u9" append --json docs lines
line() { "$u9" cat docs | sed -n "$1p"; }
claim 'a member of the value, be it number or text' finds "$(line 2)
$(line 3)" status=404 docs
claim 'one within a member, by a path with dots' finds "$(line 2)" user.name=Bob docs
claim 'a name with a dot in it is one, too' finds "$(line 1)" a.b=dot docs
claim 'a part of the value is not the value' none user.name=Bo docs
claim 'in which case matters' none user.name=bob docs
claim 'but not with -i' finds "$(line 2)" -i user.name=bob docs
claim 'a field that no record has' none colour=red docs
claim 'which all the others have not' finds "$(line 1)
$(line 4)" -v status=404 docs
claim 'a pattern is an extended expression' finds "$(line 1)
$(line 2)" '"(ada|Bob)"' docs
claim 'and with -e it may have a = in it' finds "$(line 3)" -e a=b docs
claim '-F takes it as it stands' finds "$(line 1)" -F a.b docs
claim 'with -i in either case' finds "$(line 1)" -F -i A.B docs
claim 'a pattern that is none is wrong usage' refused 2 'not a regular expression' "$u9" grep '(' docs
claim 'no LOG is, too' refused 2 'no LOG' "$u9" grep x
claim 'and -F of a field' refused 2 'no pattern' "$u9" grep -F a=b docs
claim 'a log that is not there is trouble, not nothing found' refused 2 'nothing' "$u9" grep x nothing
claim '--json gives what cat gives' finds "$("$u9" cat --format json docs | sed -n 2p)" --json Bob docs
claim '-c counts' finds 2 -c status=404 docs
claim 'none is counted, and is none' refused 1 '^0$' "$u9" grep -c nobody docs
claim 'as JSON' finds '{"type":"grep","path":"docs","count":"2"}' --json -c status=404 docs

seq 1 30000 | "$u9" append log --segment-size 64K
seq 1 30000 | grep 7 >want
# Of a range of the log 1 MiB is held back; with three threads there are twelve ranges.
seq 1 1300 | sed "s/\$/ $(printf '%012000d' 0)/" >wide
"$u9" append wide.log --sync none wide
for jobs in 1 2 3 8; do
    claim "in the order of the log with $jobs threads" finds "$(cat want)" -j $jobs 7 log
    claim 'the first of them' finds "$(head -n 2000 want)" -j $jobs -n 2000 7 log
    claim 'as many as there are' finds "$(wc -l <want)" -j $jobs -c 7 log
    claim 'and more than are held back' finds_file wide -j $jobs '' wide.log
done
claim '-c of no more than -n' finds 5 -c -n 5 7 log
claim 'a reader that goes away is no fault' sh -c 'test "$("$1" grep -j 3 "" log | head -n 1)" = 1' sh "$u9"

claim 'a part of the log, by numbers' finds "$(seq 101 200 | grep 7)" --from '#100' --to '#200' 7 log
claim 'by a key, which --keys shows' finds "$(seq 101 200 | grep 7)" --from "$("$u9" cat --keys --from '#100' -n 1 log | cut -f 1)" --to '#200' 7 log
claim 'the last ones first' finds "$(seq 1 30000 | grep 7 | tail -n 3 | tac)" --reverse -n 3 7 log
claim 'by time' finds "$(wc -l <want)" --since '1 hour ago' --until tomorrow -c 7 log
claim 'in which nothing may be' refused 1 '^0$' "$u9" grep --until yesterday -c 7 log
claim '--keys puts the key in front' finds "$("$u9" cat --keys --from '#6' -n 1 log)" --keys -n 1 7 --from '#6' log
claim 'where the pattern may be, too' finds "$("$u9" cat --keys --from '#41' -n 1 log)" --keys "^$("$u9" cat --keys --from '#41' -n 1 log | cut -f 1)" log
claim 'times the wrong way round are wrong usage' refused 2 'nothing lies between' "$u9" grep --since now --until yesterday 7 log
claim 'as --keys and --json are' refused 2 'within' "$u9" grep --keys --json 7 log
claim 'a key that is none is refused' refused 2 'neither #ORDINAL nor a key' "$u9" grep --from nokey 7 log

if command -v script >/dev/null; then
    in_terminal() { script -qec "$*" /dev/null </dev/null | tr -d '\r'; }
    claim 'on a terminal what matches is in colour' same "$(in_terminal "$u9" grep -n 1 7 log | grep -ao '.\[1;31m7.\[m' | cat -v)" '^[[1;31m7^[[m'
    claim 'not with NO_COLOR' same "$(NO_COLOR=1 in_terminal "$u9" grep -n 1 7 log | grep -ac '1;31m')" 0
else
    skip 'no script(1) to make a terminal'
fi

head -c 17000000 /dev/zero | tr '\0' s >big
"$u9" append --whole large big
echo small | "$u9" append large
run "$u9" grep s large
claim 'a large record is not searched, which is said' same "$status $(cat out) $(cat err)" \
    '0 small u9 grep: note: 1 large record was not searched'
run "$u9" scan large --count-by 1
claim 'nor is one counted by scan' same "$status $(cat out) $(cat err)" $'0 1\t"small" u9 scan: note: 1 large record was not counted'

echo '{"by":{"$bytes":"ffee"},"s":{"$symbol":"sym"},"f":{"$float32":1.5},"n":{"$float64":"nan"},"u":{"$utf8":"ff"}}' | "$u9" append --json odd
for field in by s f n u; do
    value=$("$u9" scan --count-by $field odd | cut -f 2)
    claim "what JSON has no type for is found as $value" finds 1 -c "$field=$value" odd
done
claim 'and as lines show it' finds 1 -c s=sym odd
printf 'b\t1\nc\t3\n' | "$u9" append --key rkey --key-field '\t' between
printf 'a\t2\n' | "$u9" append --key-field '\t' between
printf '\4' | dd of=between/0000000000000001.u9 bs=1 seek=604 conv=notrunc status=none # behind the first frame
run "$u9" cat --from b between
claim 'what is damaged in front of a key is told once, by cat' same "$(grep -c 'CORRUPT: fill' err)" 1
run "$u9" grep --from b 1 between
claim 'and here' same "$(grep -c 'CORRUPT: fill' err)" 1
for i in 1 2 3; do seq -f "${i}0%03g" 1 100 | "$u9" append hurt; done
harm "$(find hurt -name '*.u9' | sort | head -n 1)" 20050
run "$u9" grep -j 3 050 hurt
claim 'damage is told: status 3' same "$status $(wc -l <err)" '3 1'
claim 'and what is whole is found' same "$(tr '\n' ' ' <out)" '10050 30050 '
run "$u9" grep nobody hurt
claim 'also if nothing is' same $status 3
run "$u9" grep --from '#210' 050 hurt
claim 'in a part of the log, what is damaged in it' same "$status $(wc -l <err) $(cat out)" '0 0 30050'
run "$u9" grep --from '#50' 050 hurt
claim 'is told' same "$status $(wc -l <err) $(cat out)" '3 1 30050'
tally
