#!/bin/bash
# tests/rados/test_engine.sh BUILD DIR SUITE...: suites of the engine, and the tools, above a Ceph cluster of their own.
#
# Prints "ok" or "FAILED" for each, then "N passed, N failed". Exits 0, too, where there is no cluster to be had, which it
# says. Which suites: rados_suites and rados_suites_long in the Makefile. Those that are on neither list:
#   bytes to spec, env to store           know no log, or are about the system's calls and the simulated disk themselves
#   earlier, unreadable, power, faults, settled    each case needs reads or calls that fail, power that is cut, or caches
#   seats                                 ask which view a reader has at one moment: in a pool it is told of a commit behind it
#   heap, hardship, api                   are about allocations, and structs of earlier versions, wherever a log stands
#   golden_logs, split_apart              read logs of earlier versions where they lie in the source tree
#   space, sparse                         are about blocks, holes and reservations, of which a pool has none
#   mapped, facts                         are about mapped files, of which a pool has none
#   log                                   a third of its cases link, rename or look at files by the system's calls
#   tier                                  copies to a directory of the system beside the log
set -u
build=$(cd "$1" && pwd) dir=$2 passed=0 failed=0
shift 2
mkdir -p "$dir" && dir=$(cd "$dir" && pwd) && cd "$(dirname "$0")/../.." || exit 2
cluster=$dir/engine
scripts/rados stop "$cluster" # of a run that was killed
rm -rf "$dir/merged" "$dir/scratch"
mkdir "$dir/scratch"
trap 'scripts/rados stop "$cluster"' EXIT
started=
for port in $((17000 + $$ % 900)) $((18000 + $$ % 900)) $((19000 + $$ % 900)); do
    rm -rf "$cluster"
    scripts/rados start "$cluster" "$port" && started=1 && break
    [ $? -eq 3 ] || break
done
if [ -z "$started" ]; then
    echo '== test_engine.sh: SKIPPED: there is no Ceph cluster here, see above =='
    exit 0
fi
conf=$cluster/ceph.conf

tell() { # STATUS NAME
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok     $2"
    else
        failed=$((failed + 1))
        echo "FAILED $2"
    fi
}

# claim NAME COMMAND...
claim() {
    local name=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err" </dev/null
    local status=$?
    [ $status -eq 0 ] || cat "$dir/out" "$dir/err"
    tell $status "$name"
}

# prints NAME TEXT COMMAND...: it says so
prints() {
    local name=$1 text=$2
    shift 2
    "$@" >"$dir/out" 2>"$dir/err" </dev/null
    grep -qF -- "$text" "$dir/out" "$dir/err" && tell 0 "$name" && return
    cat "$dir/out" "$dir/err"
    tell 1 "$name"
}

u9=$build/u9
log="rados:u9/tools/log?conf=$conf"
claim 'a directory above is made as a log is' "$u9" append "rados:u9/tools?conf=$conf" /dev/null
seq 1 300000 >"$dir/lines"
seq 1 5000 >"$dir/few"
claim 'u9 append takes an address' "$u9" append --segment-size=4M "$log" "$dir/lines"
"$u9" cat "$log" | cmp - "$dir/lines"
tell $? 'u9 cat gives back what was appended'
prints 'u9 info takes an address' 'records      300000' "$u9" info "$log"
prints 'u9fsck takes an address' 'clean: 300000 records' "$build/u9fsck" "$log"
claim 'u9 index takes an address' "$u9" index "$log"
key=$("$u9" info "$log" | sed -n 's/^last key *//p')
prints 'u9 get finds a key' 300000 "$u9" get "$log" "$key"
claim 'u9 mark takes an address' "$u9" mark "$log"
claim 'u9 trim takes an address' "$u9" trim --before='#100000' "$log"
prints 'a log that was trimmed is whole' 'clean' "$build/u9fsck" "$log"
claim 'a snapshot is made beside it' "$u9" snapshot "$log" "rados:u9/tools/copy?conf=$conf"
prints 'the snapshot is whole' 'clean' "$build/u9fsck" "rados:u9/tools/copy?conf=$conf"
prints 'a snapshot elsewhere is refused with a sentence' 'where the log does' "$u9" snapshot "$log" "$dir/copy"
claim 'logs are merged into the pool' "$u9" merge "rados:u9/tools/merged?conf=$conf" "$log"
claim 'and out of it' "$u9" merge "$dir/merged" "$log"
claim 'what is left is salvaged' "$build/u9fsck" --salvage="rados:u9/tools/saved?conf=$conf" "$log"
# Segments that go on to another pool, and to another namespace of this one.
ceph -c "$conf" osd pool create other 8 >"$dir/out" 2>&1
seq 1 100000 >"$dir/few"
for place in "rados:other/far?conf=$conf" "rados:u9/far?conf=$conf&namespace=far"; do
    name=${place#rados:} && name=${name%%/*}
    near="rados:u9/near-$name?conf=$conf"
    "$u9" append --segment-size=256K "$near" "$dir/few" 2>"$dir/err"
    prints "a log's segments go to the pool $name" 'copied 9 segments' "$u9" tier "$near" --to "$place"
    prints 'the oldest are dropped where it stands' 'dropped 8 here' "$u9" tier "$near" --keep 300K
    "$u9" cat "$near" | cmp - "$dir/few"
    tell $? 'both are read as one log'
    prints 'which is whole' 'clean: 100000 records' "$build/u9fsck" "$near"
    "$u9" cat "$place" >"$dir/out"
    head -n "$(wc -l <"$dir/out")" "$dir/few" | cmp - "$dir/out" && [ "$(wc -l <"$dir/out")" -gt 80000 ]
    tell $? 'so is the place by itself'
done
prints 'it has one place' 'go to another place already' "$u9" tier "$near" --to "$log"
prints 'a log is no place for itself' 'the place is the log itself' "$u9" tier "$log" --to "rados:u9/./tools/log?conf=$conf&lease=3" --keep 1
prints 'and all of it stays' 'clean' "$build/u9fsck" "$log"
for i in 1 2 3 4; do "$u9" tier "rados:u9/tools/saved?conf=$conf" --to "rados:other/saved?conf=$conf" >"$dir/tier.$i" 2>&1 & done
wait
[ "$(grep -l 'to their other place already' "$dir"/tier.[1-4] | wc -l)" -ge 1 ] &&
    [ "$(grep -hE 'copied [0-9]+ segment' "$dir"/tier.[1-4] | wc -l)" -ge 1 ]
tell $? 'one run at a time copies segments of a log in a pool'
prints 'a pool that is no place is told' 'there is no such pool' "$u9" tier "$log" --to "rados:nopool/far?conf=$conf"
seq 1 5000 >"$dir/few"

# Requests that the daemon was sent. A look at them is none.
requests() { ceph --admin-daemon "$(echo "$cluster"/osd.0.*.asok)" perf dump osd 2>/dev/null | tr -d ' ,' | sed -n 's/^"op"://p'; }

# Who follows is told by the cluster, and asks for nothing while nothing is done.
claim 'a log to follow is made' "$u9" append "rados:u9/tools/followed?conf=$conf" /dev/null
"$u9" cat -f "rados:u9/tools/followed?conf=$conf" >"$dir/followed" 2>"$dir/err" &
follower=$!
sleep 1.5
before=$(requests)
sleep 5
asked=$(($(requests) - before))
[ "$asked" -le 10 ]
tell $? "a follower of a log in which nothing happens asks for nothing: $asked requests in 5 s"
began=${EPOCHREALTIME/[.,]/}
echo told | "$u9" append "rados:u9/tools/followed?conf=$conf"
for _ in $(seq 900); do grep -q told "$dir/followed" && break; sleep 0.01; done
took=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
grep -q told "$dir/followed" && [ "$took" -lt 9000 ] # untold it looks every 10 s
tell $? "it is told of what another process appends: $took ms from before that began"
kill "$follower"
wait "$follower" 2>/dev/null

# A get of a random key: with a handle that is open, and its index page known. What others ask for meanwhile is counted, too,
# so it is tried up to three times. wait_lines N: that many lines are there.
look=16 # requests of a look at the log, now and then; a watch, the first time
wait_lines() { for _ in $(seq 600); do [ "$(wc -l <"$dir/gets")" -ge "$1" ] && return; sleep 0.1; done; }
count_gets() { # TRY
    : >"$dir/gets"
    "$build/u9radostests" --gets "rados:u9/gets.$1?conf=$conf" 200000 >"$dir/gets" 2>"$dir/err" &
    getter=$!
    wait_lines 1
    before=$(requests)
    kill -USR1 "$getter"
    wait_lines 2
    cold=$(($(requests) - before))
    kill -USR1 "$getter"
    wait_lines 3
    warm=$(($(requests) - before - cold))
    kill -USR1 "$getter"
    wait "$getter"
}
for try in 1 2 3; do
    count_gets $try || break
    [ "$cold" -gt $((200 + look)) ] || [ "$warm" -gt $((100 + look)) ] || break
done
[ "$(wc -l <"$dir/gets")" -eq 3 ]
tell $? 'each key is found'
[ "$cold" -gt 0 ] && [ "$cold" -le $((200 + look)) ]
tell $? "100 random keys are found in two requests each at most: $cold"
[ "$warm" -gt 0 ] && [ "$warm" -le $((100 + look)) ]
tell $? "and once more, as the pages are known, in one each: $warm"

# Identifiers under numbers of the cluster: of three at once.
for i in 1 2 3; do "$u9" id new uid8 --rados "rados:u9/numbers?conf=$conf" --cluster 2 -n 5000 >"$dir/ids.$i" 2>>"$dir/err" & done
wait
[ "$(cat "$dir"/ids.[123] | sort -u | wc -l)" -eq 15000 ]
tell $? 'u9 id makes identifiers under numbers of the cluster: 15,000 of three processes are different'
for i in 1 2 3; do
    rm -rf "$dir/ids.log.$i"
    "$u9" append --key uid8 --sync none --print-keys --rados="rados:u9/numbers?conf=$conf" "$dir/ids.log.$i" "$dir/few" \
        >"$dir/ids.$i" 2>>"$dir/err" &
done
wait
[ "$(cat "$dir"/ids.[123] | sort -u | wc -l)" -eq 15000 ] &&
    [ "$("$u9" id show uid8 - <"$dir/ids.1" | grep -o '"generator": *[0-9]*' | sort -u | wc -l)" -eq 1 ]
tell $? 'u9 append makes keys under numbers of the cluster: 15,000 of three logs on this machine are different'
prints 'a pool that is not there is told' 'there is no such pool' "$u9" id new uid8 --rados "rados:nopool/numbers?conf=$conf"

prints 'an option that is none is told' 'is none of' "$u9" cat "rados:u9/x?colour=red"

# A pool that is full: what the monitors take for full is set below what is there.
full() { # RATIO WORD-THAT-THE-POOL-HAS-THEN
    for kind in full backfillfull nearfull; do ceph -c "$conf" osd "set-$kind-ratio" "$1"; done >"$dir/out" 2>&1
    for _ in $(seq 100); do
        [ "$(ceph -c "$conf" osd dump 2>/dev/null | grep "^pool .* 'u9' " | grep -cE 'flags [a-z,]*,full')" = "$2" ] && return
        sleep 0.2
    done
    echo "# of pools u9 not $2 are full after 100 looks, with a ratio of $1"
}
full 0.0001 1
"$u9" append "$log" "$dir/lines" >"$dir/out" 2>"$dir/err"
status=$?
grep -q 'No space left on device' "$dir/err" && grep -q 'pool u9, object f\.' "$dir/err" && [ $status -eq 4 ]
tell $? 'a pool that is full is an error that names pool and object'
full 0.95 0
claim 'and once there is room, the log goes on' "$u9" append "$log" "$dir/lines"
prints 'nothing of it is damaged' 'clean' "$build/u9fsck" "$log"

# Two at a time: they wait for requests and leases, mostly.
export U9_BIN_DIR=$build U9_TEST_DIR=$dir/scratch CK_TIMEOUT_MULTIPLIER=$([ -n "${U9_LONG-}" ] && echo 20 || echo 4)
run_suite() {
    U9_IO="rados:u9/?conf=$conf&namespace=$1&lease=2&wait=6&grace=30" "$build/u9tests" "$1" >"$dir/$1.log" 2>&1
    echo $? >"$dir/$1.status"
}
for suite in "$@"; do
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
    run_suite "$suite" &
done
wait
rm -rf "$dir/scratch" # what ends early leaves its folder
for suite in "$@"; do
    status=$(cat "$dir/$suite.status")
    ended=$(grep -ac '^ended here:' "$dir/$suite.log")
    tell $status "suite $suite: $(grep -a 'Checks:' "$dir/$suite.log")$([ "$ended" -eq 0 ] || echo "; $ended ended where a store has not what they try")"
    [ $status -eq 0 ] || grep -a '[FE]:' "$dir/$suite.log"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
