#!/usr/bin/env bash
# tests/tools/test_examples.sh BINDIR TMPDIR: the programs in examples/ do what their heads say, also when they are killed.
source=$(cd "$(dirname "$0")/../../examples" && pwd)
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
bin=$bin/examples

# A number below $1, the same ones in each run.
seed=1
draw() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

events() {
    run "$bin/event_store" events 8 25
    claim 'eight threads keep the books even' same "$status $(cat out)" '0 400 events, the sum of all accounts is 0'
    run "$bin/event_store" events 1 5
    claim 'they go on where they were' same "$status $(cat out)" '0 410 events, the sum of all accounts is 0'
    recorded() { "$u9" info killed 2>/dev/null | sed -n 's/^records *//p'; }
    for _ in 1 2 3 4; do
        before=$(recorded)
        "$bin/event_store" killed 4 100000 >/dev/null 2>&1 &
        draw 200
        until [ "$(recorded)" -gt $((${before:-0} + drawn)) ] 2>/dev/null; do sleep 0.01; done
        kill -9 $!
        wait $! 2>/dev/null
    done
    run "$bin/event_store" killed 1 1
    claim 'and after kills: of a transfer both events are there, or none' \
        eval '[ $status -eq 0 ] && grep -q "the sum of all accounts is 0$" out'
    run "$bin/event_store" events 65 1
    claim 'too many threads are refused' same "$status" 2
}

# Sets keys to growing numbers until it is killed; what it was told "ok" to stands in `acknowledged`.
set_until_killed() { # HOW MANY ANSWERS
    local i=0
    mkfifo asks
    "$bin/wal_map" map <asks >answers &
    exec 7>asks
    for ((i = 0; i < $1 + 50; i++)); do printf 'set key%d %d\n' $((i % 7)) $((base + i)); done >&7
    until [ "$(wc -l <answers)" -ge "$1" ]; do sleep 0.01; done
    kill -9 $!
    wait $! 2>/dev/null
    exec 7>&-
    rm asks
    acknowledged=$(grep -c '^ok$' answers)
}

map() {
    local base=0 round i want lost=0
    printf 'set colour blue\nset b 2\nget colour\ndel colour\nget colour\nlist\nnonsense\n' >in
    run "$bin/wal_map" map <in
    claim 'a map answers' same "$(head -n 6 out)" "$(printf 'ok\nok\nblue\nok\n-\nb=2')"
    claim 'and helps' grep -q '^set KEY VALUE' out
    run "$bin/wal_map" map <<<list
    claim 'its log brings it back' same "$(cat out)" b=2
    for round in 1 2 3 4; do
        draw 40
        set_until_killed $((drawn + 1))
        run "$bin/wal_map" map <<<list
        for ((i = acknowledged > 7 ? acknowledged - 7 : 0; i < acknowledged; i++)); do
            want=$(sed -n "s/^key$((i % 7))=//p" out)
            [ -n "$want" ] && [ "$want" -ge $((base + i)) ] || lost=$((lost + 1))
        done
        base=$((base + 1000))
    done
    claim 'what it said "ok" to is there after each kill' same $lost 0
    cp -r map damaged
    harm damaged/0000000000000001.u9 key0
    run "$bin/wal_map" damaged <<<list
    claim 'a map that forgot something does not go on' eval '[ $status -eq 1 ] && [ ! -s out ] && grep -q "^wal_map: damaged" err'
}

queue() {
    local jobs=60
    "$bin/work_queue" work queue cursor $((jobs / 2)) >done1 2>err &
    run "$bin/work_queue" put queue one two
    claim 'jobs are put in' same "$(cat out)" "$(printf 'queued one\nqueued two')"
    # shellcheck disable=SC2046
    "$bin/work_queue" put queue $(seq $((jobs - 2))) >/dev/null
    wait $!
    : >done2
    claim 'a worker that was there before the log does them in order' same \
        "$(cat done1)" "$( (printf 'one\ntwo\n' && seq $((jobs / 2 - 2))) | sed 's/^/done /')"
    for _ in 1 2 3; do
        "$bin/work_queue" work queue cursor >>done2 2>>err &
        draw 5
        before=$(wc -l <done2)
        until [ "$(wc -l <done2)" -gt $((before + drawn)) ] || grep -qx "done $((jobs - 2))" done2; do sleep 0.01; done
        kill -9 $!
        wait $! 2>/dev/null
    done
    "$bin/work_queue" work queue cursor >>done2 2>>err &
    until grep -qx "done $((jobs - 2))" done2; do sleep 0.01; done
    kill -9 $!
    wait $! 2>/dev/null
    claim 'killed and started again it does each at least once, and in order' same \
        "$(cat done1 done2 | uniq)" "$( (printf 'one\ntwo\n' && seq $((jobs - 2))) | sed 's/^/done /')"
    claim 'without a complaint' test ! -s err
    echo nonsense >bad
    run "$bin/work_queue" work queue bad 1
    claim 'a file that holds no cursor is refused' eval '[ $status -eq 1 ] && grep -q "^work_queue: " err'
}

words() {
    for i in $(seq 200); do echo "the $i. line of a text of a few words and the number $((i % 7))"; done >text
    "$u9" append text.log --segment-size 64K text 2>/dev/null
    tr -cs 'A-Za-z0-9' '\n' <text | grep . | LC_ALL=C sort | uniq -c | sed 's/^ *//' |
        LC_ALL=C sort -k1,1nr -k2 | head -n 10 >want
    for n in 1 2 5; do
        run "$bin/word_count" text.log $n
        claim "$n threads count the words" same "$status $(cat out)" "0 $(cat want)"
    done
    run "$bin/word_count" nowhere 2
    claim 'no log, no words' eval '[ $status -eq 1 ] && grep -q "^word_count: nowhere" err'
}

# A command of our own stands in the place of ssh.
replicates() {
    cat >rsh <<'END'
#!/bin/sh
[ "$1" = there ] || exit 255
shift
echo $$ >rsh.pid
exec sh -c "exec $*"
END
    chmod +x rsh
    seq 5 | "$u9" append from 2>/dev/null
    PATH=$(dirname "$u9"):$PATH RSH=./rsh PAUSE=0 "$source/replicate.sh" from there to >out 2>err &
    keeper=$!
    until [ "$("$u9" cat to 2>/dev/null | wc -l)" -eq 5 ]; do sleep 0.05; done
    kill -9 "$(cat rsh.pid)"
    seq 6 9 | "$u9" append from 2>/dev/null
    until [ "$("$u9" cat to 2>/dev/null | wc -l)" -eq 9 ]; do sleep 0.05; done
    claim 'a copy is kept up to date, over a break' cmp <("$u9" cat --keys from 2>&1) <("$u9" cat --keys to 2>/dev/null)
    kill -TERM $keeper
    wait $keeper
    claim 'a signal ends it when all is there' same $? 0
    echo other | "$u9" append other 2>/dev/null
    PATH=$(dirname "$u9"):$PATH RSH=./rsh PAUSE=0 run "$source/replicate.sh" from there other
    claim 'a copy of another log is refused, once' same "$status" 1
}

events
map
queue
words
replicates
tally
