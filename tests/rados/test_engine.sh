#!/bin/bash
# tests/rados/test_engine.sh BUILD DIR SUITE...: suites of the engine, and the tools, above a Ceph cluster of their own.
#
# Prints "ok" or "FAILED" for each, then "N passed, N failed". Exits 0, too, where there is no cluster to be had, which it
# says.
set -u
build=$(cd "$1" && pwd) dir=$2 passed=0 failed=0
shift 2
mkdir -p "$dir" && dir=$(cd "$dir" && pwd) && cd "$(dirname "$0")/../.." || exit 2
cluster=$dir/engine
rm -rf "$cluster"
trap 'scripts/rados stop "$cluster"' EXIT
started=
for port in 17211 18223 19231 21247; do
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
prints 'an option that is none is told' 'is none of' "$u9" cat "rados:u9/x?colour=red"

# A pool that is full: what the monitors take for full is set below what is there.
full() { # RATIO WORD-THAT-THE-POOL-HAS-THEN
    for kind in full backfillfull nearfull; do ceph -c "$conf" osd "set-$kind-ratio" "$1"; done >"$dir/out" 2>&1
    for _ in $(seq 100); do
        [ "$(ceph -c "$conf" osd dump 2>/dev/null | grep '^pool' | grep -cE 'flags [a-z,]*,full')" = "$2" ] && return
        sleep 0.2
    done
}
full 0.0001 1
"$u9" append "$log" "$dir/lines" >"$dir/out" 2>"$dir/err"
status=$?
grep -q 'No space left on device' "$dir/err" && grep -q 'pool u9, object f\.' "$dir/err" && [ $status -eq 4 ]
tell $? 'a pool that is full is an error that names pool and object'
full 0.95 0
claim 'and once there is room, the log goes on' "$u9" append "$log" "$dir/lines"
prints 'nothing of it is damaged' 'clean' "$build/u9fsck" "$log"

export U9_BIN_DIR=$build U9_TEST_DIR=$dir CK_DEFAULT_TIMEOUT=120
for suite in "$@"; do
    U9_IO="rados:u9/?conf=$conf&namespace=$suite&lease=0.5&wait=2&grace=0" "$build/u9tests" "$suite" >"$dir/$suite.log" 2>&1
    status=$?
    tell $status "suite $suite: $(grep -a 'Checks:' "$dir/$suite.log")"
    [ $status -eq 0 ] || grep -a '[FE]:' "$dir/$suite.log"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
