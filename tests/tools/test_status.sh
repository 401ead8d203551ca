#!/usr/bin/env bash
# tests/tools/test_status.sh BINDIR TMPDIR: the exit statuses of u9(1), for every verb: a log, a file and a folder that are not
# there, a text that is no key, options that are wrong whatever the log is; and help for each.
# shellcheck disable=SC2086 # words are words
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

# ends STATUS PATTERN WORD...: `u9 WORD...` ends so, with a line on standard error that has the pattern, and no other line.
ends() {
    local want=$1 pattern=$2
    shift 2
    run "$u9" "$@" <sent
    [ "$status" = "$want" ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$pattern" err
}
# each STATUS PATTERN, then lines of words: the verb, and what stands behind it.
each() {
    local want=$1 pattern=$2 words
    while read -r words; do claim "u9 $words: $want" ends "$want" "$pattern" $words; done
}
verbs=$("$u9" --help | sed -n 's/^  \([a-z]*\)  *[a-zA-Z].*  .*/\1/p' | grep -vx u9)

printf 'alpha\nbeta\n' >lines
echo '{"k":"no key"}' >rows
printf '%s,x\n' 'no key' >keyed
"$u9" append log lines
"$u9" send log >sent
"$u9" value encode <<<1 >value
mkdir void
key=$("$u9" cat --keys -n 1 log | cut -f 1)

verbs_read=$(grep -vx id <<<"$verbs" | tr '\n' ' ')

# A verb reads a log, or what else it is given; a line for each, in the order of the list, and NOWHERE in its place.
cat >reads <<END
append NOWHERE/log lines
cat NOWHERE
tail NOWHERE
grep x NOWHERE
get NOWHERE $key
info NOWHERE
stat NOWHERE
du NOWHERE
mark NOWHERE
index NOWHERE
trim --keep 1 NOWHERE
tier --to there NOWHERE
split -n 2 NOWHERE
scan NOWHERE
snapshot NOWHERE copy
merge all NOWHERE
send NOWHERE
recv NOWHERE/log
import jsonl NOWHERE/log rows
export jsonl NOWHERE
value encode NOWHERE
END
claim 'each verb but id, which reads nothing, is in the table' same "$(cut -d ' ' -f 1 reads | paste -sd ' ')" "${verbs_read% }"
# What grep finds it says by its status, so that all else is 2.
absent() { # PATTERN PLACE
    each 1 "$1" < <(sed "/^grep/d;s|NOWHERE|$2|" reads)
    each 2 "$1" < <(sed -n "/^grep/s|NOWHERE|$2|p" reads)
}
absent 'No such file' nowhere
absent 'Not a directory' lines/log
each 1 'void: .*no log' < <(sed '/^\(append\|recv\|import\|id\|value\|grep\) /d;s|NOWHERE|void|' reads)
each 2 'void: .*no log' <<<'grep x void'

each 1 'No such file' <<END
append log nowhere
append --lock-file=nowhere/numbers --key uid8 ids lines
cat --cursor nowhere log
cat --save-cursor nowhere/place log
get --save-cursor nowhere/place log $key
import csv new nowhere
import csv new nowhere/file
export csv log nowhere/file
merge nowhere/all log
snapshot log nowhere/copy
value decode nowhere
value show nowhere
value patch nowhere
END
claim 'nothing was made' same "$(echo new* all* copy*)" 'new* all* copy*'

each 1 'not a key' <<END
get log x
append --key-field , log keyed
trim --before x log
END
each 1 'neither #ORDINAL nor a key' <<END
cat --from x log
cat --to x log
get --from x log $key
export --to x csv log
END
each 1 "none of the log's kind" <<<'import --key-field k jsonl log rows'
each 2 'not an ordinal\|not a number' <<END
cat --from #x log
get --to #x log $key
export --from #x csv log
trim --before #x log
send --from #x log
END
claim 'a text that is no key is answered, as others are' same "$("$u9" id show muid x | cut -c 1-8) ${PIPESTATUS[0]}" '{"error" 0'
run "$u9" id show muid x
claim 'with status 1' same $status 1

for verb in $verbs; do
    each 2 "unrecognized option '--frobnicate'" <<<"$verb --frobnicate log"
    claim "u9 help $verb is u9 $verb --help" cmp <("$u9" help $verb) <("$u9" $verb --help)
done
# Help fits its terminal: of 80 columns, or of 36.
claim 'no line of the list is wider than 79 columns' same "$("$u9" --help | grep -cE '^.{80}')" 0
if command -v script >/dev/null; then
    for words in 'u9 import --help' 'u9 id -h' 'u9fsck --help' 'u9 help cat' 'u9 du --usage'; do
        script -qec "stty cols 36; $bin/$words" /dev/null </dev/null | tr -d '\r' >out
        claim "$words: on a terminal of 36 columns" same "$(grep -cE '^.{37}' out) $(grep -c '^Usage: u9' out)" '0 1'
    done
    script -qec "stty cols 36; $u9 --help" /dev/null </dev/null | tr -d '\r' >out
    claim 'the list has a verb on a line there, and what it does below' grep -qx '  snapshot LOG DIR' out
else
    skip 'no script(1) to make a terminal'
fi
claim 'u9 help alone is the list' cmp <("$u9" help) <("$u9" --help)
each 2 "unknown verb 'cta'; did you mean .u9 cat.?" <<<'help cta'

# A signal when it reads for the fourth time: not all was read by then.
stopped_by() { # SIGNAL WORD...
    local signal=$1
    shift
    U9_IO=posix ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 \
        strace -qq -o /dev/null -e "inject=pread64:signal=$signal:when=4" "$u9" "$@" >out 2>err
    status=$?
}
if strace -qq -o /dev/null -e inject=getppid:retval=1:when=1 true 2>/dev/null; then
    seq 300000 | "$u9" append --sync none large
    for words in 'merge halved large' 'snapshot --copy large halved' 'export csv large halved'; do
        stopped_by INT $words
        claim "u9 $words: stopped by SIGINT" same $status 130
        stopped_by TERM $words
        claim "u9 $words: stopped by SIGTERM" same "$status $(wc -l <err)" "143 $([ "${words%% *}" = export ] && echo 0 || echo 1)"
        claim 'and what is half made has no name' test ! -e halved
    done
else
    skip 'signals in the midst of it: strace is not here, or may not trace'
fi

claim 'grep: found' same "$("$u9" grep alpha log; echo $?)" 'alpha
0'
claim 'grep: not found' same "$("$u9" grep gamma log; echo $?)" 1
for i in 1 2 3; do seq -f "${i}0%03g" 1 100 | "$u9" append hurt; done
harm "$(find hurt -name '*.u9' | sort | head -n 1)" 20050
claim 'grep: not found, but some was lost' refused 3 CORRUPT "$u9" grep gamma hurt
tally
