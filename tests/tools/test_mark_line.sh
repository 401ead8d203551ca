#!/usr/bin/env bash
# tests/tools/test_mark_line.sh BINDIR TMPDIR: a line of a log's mark, kept elsewhere, proves the log or what became of
# it; and an older state that was put back on purpose is made whole. [M-7] [M-8] [M-9]
spec=$(cd "$(dirname "$0")/../.." && pwd)/SPEC.md
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

append() { "$u9" append "$@" 2>append.err; }
newest() { find "$1" -name '*.u9' | sort | tail -n 1; }

# ends STATUS PATTERN SENTENCE COMMAND...: the command exits so, and says PATTERN.
ends() {
    local want=$1 pattern=$2 sentence=$3
    shift 3
    run "$@"
    cat out err >both
    claim "$sentence" test "$status $(grep -Ec -- "$pattern" both)" = "$want 1"
}

# hold LOG: a writer has the log from here on, until let_go.
hold() {
    mkfifo pipe.in pipe.out
    "$u9" append --print-keys --sync commit "$1" <pipe.in >pipe.out 2>hold.err &
    exec 7>pipe.in 8<pipe.out
    echo x >&7
    read -r _ <&8
}
let_go() {
    exec 7>&-
    wait
    exec 8<&-
    rm pipe.in pipe.out
}

lines() {
    seq 20000 | append log
    cp -R log old
    ends 0 '^u9mark1( [0-9a-f]+){9}$' 'u9 mark prints one line' "$u9" mark log
    line=$(cat out)
    seq 20000 | append log
    "$u9" mark log >later
    ends 0 'line: met: records 0\.\.19999 are those' 'the log meets it when it went on' "$fsck" --mark "$line" log
    ends 0 'line: met: records 0\.\.39999 are those' 'a file may hold the line' "$fsck" --mark later log
    ends 0 'line: met' 'or standard input' "$fsck" --mark - log <later
    ends 4 'CORRUPT: mark: .*records 20000\.\.39999 \(20000 lost\)' 'an older state with its own mark does not' \
        "$fsck" --mark later old
    claim 'which is said' grep -q '^line: NOT MET' out
    ends 0 'clean' 'though by itself it is clean' "$fsck" old
    seq 20000 | append old
    ends 4 'CORRUPT: fork' 'nor does one that went on otherwise' "$fsck" --mark later old
    ends 0 'line: met' 'up to where they parted it is the same' "$fsck" --mark "$line" old
    seq 10 | append other
    ends 4 'NOT MET: it is of another log' 'nor does another log' "$fsck" --mark "$line" other
    claim 'which is told of the line, not of a segment' \
        eval 'grep -q "^line: NOT MET: it is of another log, and this one proves nothing of it$" out && ! grep -q CORRUPT out'
    claim 'as JSON, too' eval '"$fsck" --json --mark "$line" other >json && grep -c "\"line\":\"foreign\"" json && ! grep -q corrupt json || test $? = 4'
    ends 0 '"line":"met","proven_from":"0","proven_to":"20000"' 'as JSON, too' "$fsck" --json --mark "$line" log
    ends 4 '"line":"unmet","proven_from":null' 'where it is not met as well' "$fsck" --json --mark later old
    claim 'quiet, the status tells' test -z "$("$fsck" --quiet --mark "$line" log)"
    "$u9" mark --json log >json
    claim 'u9 mark --json has the line and its fields' \
        grep -q '^{"type":"mark","path":"log","line":"u9mark1 .*","first_ordinal":"0","segment":"1","boundary":"' json
    hold log
    ends 0 'line: met' 'beside a writer, too' "$fsck" --mark "$("$u9" mark log)" log
    let_go
}

refusals() {
    ends 1 'has no mark' 'a log without a mark has no line' \
        bash -c 'cp -R log bare && rm bare/.mark && exec "$0" mark bare' "$u9"
    ends 1 'a segment file alone has no mark' 'nor has a segment' "$u9" mark "$(newest log)"
    mkdir plain && for byte in $(sed -n '/^```hex E-2/,/^```$/{/^```/d;s/;.*//;p}' "$spec"); do
        printf '%b' "\\x$byte"
    done >plain/0000000000000001.u9
    ends 1 'plain seed files have no mark, and are never' 'nor have plain seed files' "$u9" mark plain
    ends 1 'nowhere' 'nor what is not there' "$u9" mark nowhere
    ends 2 'no LOG given' 'u9 mark wants a log' "$u9" mark
    ends 16 'the check does not fit' 'a line with a wrong digit is no line' \
        "$fsck" --mark "${line/ 20000 / 20001 }" log
    ends 16 'the chain is not there: the line was cut' 'nor is half of one' "$fsck" --mark "${line% * * *}" log
    ends 16 'of another version' 'nor a later form of one' "$fsck" --mark 'u9mark2 x' log
    ends 16 'LINE is empty' 'nor is nothing' "$fsck" --mark '' log
    printf '%s\n' "$line" "$line" >lines
    ends 16 '^u9fsck: --mark: lines: more than one line: give one of them' 'nor are several lines' "$fsck" --mark lines log
    ends 0 'line: met' 'blanks and line ends behind a line are passed over' "$fsck" --mark "$line"$' \r\n' log
    ends 16 'not the line of a mark' 'nor another file' "$fsck" --mark "$(newest log)" log
    ends 8 'No such file' 'a file that is not there is told' "$fsck" --mark missing log
    ends 16 '--accept-loss goes with --repair' '--accept-loss alone does nothing' "$fsck" --accept-loss log
    ends 16 '--repair goes without' '--repair is not mixed' "$fsck" --repair --mark "$line" log
}

given_up() {
    rm -rf old && mkdir old && seq 100 | append was && cp was/*.u9 old/ && seq 100 | append was && cp was/.mark old/
    ends 0 'meets its mark: there is no loss' 'a log that meets its mark needs no repair' "$fsck" --repair --accept-loss was
    cp -R was gap && seq 20000 | append gap --segment-size=64k && rm gap/0000000000000002.u9
    ends 4 'the damage that is left is not repaired here: only what the mark' 'damage within the log is not given up' \
        "$fsck" --repair --accept-loss gap
    ends 4 '^old: --accept-loss would give up 100 records from 100 on, which its mark promised$' \
        'for an older state --repair says what it would do' "$fsck" --repair old
    claim 'and the damage that is left' grep -q 'CORRUPT: mark' out
    claim 'and does nothing' test "$(find old -type f | wc -l)" -eq 2
    claim 'and names what does it' grep -q '^old: next: to give up what is missing, for good: u9fsck --repair --accept-loss old$' out
    claim 'and not what was just done' eval '! grep -q "next: u9fsck --repair" out'
    cp -R old again
    cp -R old late
    seq 5 | "$u9" append late 2>err
    claim 'who appends before is told what that costs' grep -q 'these records are lost; an append goes behind them, and ends what --accept-loss could do' err
    seq 20000 | append topless --segment-size=64k
    rm "topless/$(ls topless | tail -n 1)"
    run "$u9" append topless /dev/null
    claim 'who may not append is told what gives the loss up' eval \
        'grep -q "put a newer copy back, or give it up for good" err && grep -q "u9fsck --repair --accept-loss topless" err'
    ends 1 'clean' 'which it does' "$fsck" --repair --accept-loss topless
    seq 5 | append topless
    ends 0 'clean' 'and the log goes on' "$fsck" topless
    ends 1 '^old: given up 100 records from 100 on, which its mark promised$' '--accept-loss gives them up' "$fsck" --repair --accept-loss old
    claim 'and says where the log goes on' grep -q '; the log goes on at record 100 in 0000000000000002\.u9$' out
    claim 'and what became of the mark' grep -q '^old: the old mark is kept as old/\.mark\.old-1$' out
    claim 'and checks what there is then' grep -q '^old: clean: 100 records' out
    claim 'the old mark is beside' cmp old/.mark.old-1 was/.mark
    ends 0 'clean' 'the log is whole' "$fsck" old
    seq 5 | append old
    claim 'and goes on' test "$("$u9" cat old | wc -l)" -eq 105
    ends 0 'line: met' 'its lines are met' "$fsck" --mark "$("$u9" mark old)" old
    ends 4 'NOT MET' 'those of the other history are not' "$fsck" --mark "$("$u9" mark was)" old
    ends 1 '"type":"repair".*"state":"accepted","next_ordinal":"100","lost":"100","new_segment":"2","kept":".mark.old-1"' \
        'as JSON, too' "$fsck" --json --repair --accept-loss again
    rm was/*.u9
    ends 4 'nothing is given up: nothing is left of the log but its mark' 'of which nothing is left is not made whole' \
        "$fsck" --repair --accept-loss was
    ends 0 'nothing is given up: .*has no mark' 'a log without a mark has nothing to give up' \
        "$fsck" --repair --accept-loss bare
    hold again
    ends 8 'another writer has the log' 'beside a writer nothing is given up' "$fsck" --repair --accept-loss again
    let_go
}

lines
refusals
given_up
tally
