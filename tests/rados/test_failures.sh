#!/bin/bash
# tests/rados/test_failures.sh BUILD DIR: logs above a Ceph cluster of two object daemons, with two copies of each object in
# files, while daemons are killed, stopped and started again, the pool is full, and writers are killed, cut off and stopped.
#
# Threads append and commit meanwhile (u9radostests --appenders); each number that was durable must be in the log in the
# end, once, and u9fsck find nothing. [RD-3] [RD-5] [RD-6] [RD-7] [RD-8]
#
# Prints "ok" or "FAILED" for each, then "N passed, N failed". Exits 0, too, where there is no cluster to be had, which it
# says. U9_LONG in the environment: as often and as long as is ever asked for (writers killed 100 times, a file of
# 1 GB taken over); U9_RADOS_ROUNDS: how often a writer is killed. U9_RADOS_ONLY="NAMES": some of it.
set -u
build=$(cd "$1" && pwd) dir=$2 passed=0 failed=0
mkdir -p "$dir" && dir=$(cd "$dir" && pwd) && cd "$(dirname "$0")/../.." || exit 2
cluster=$dir/failures
lease=1
rounds=${U9_RADOS_ROUNDS:-$([ -n "${U9_LONG-}" ] && echo 100 || echo 8)}
slow_s=20 # a daemon that is silent for 6 s is taken for dead
scripts/rados stop "$cluster" # of a run that was killed
trap 'end_all; scripts/rados stop "$cluster"; ip netns del "$net" 2>/dev/null' EXIT
pids=

# A network of two, on which the cluster is on this side; who runs on the other can be cut off. Not everywhere to be had.
net=u9-$$ far=u9f$$
make_net() {
    local subnet=10.231.$(($$ % 250))
    ip netns add "$net" && ip link add "u9n$$" type veth peer name "$far" netns "$net" &&
        ip address add "$subnet.1/24" dev "u9n$$" && ip link set "u9n$$" up &&
        ip -n "$net" address add "$subnet.2/24" dev "$far" && ip -n "$net" link set "$far" up && export U9_RADOS_ADDRESS="$subnet.1"
}
make_net 2>/dev/null || ip netns del "$net" 2>/dev/null
end_all() { for p in $pids; do kill -KILL "$p" 2>/dev/null; done; }

export U9_RADOS_STORE=bluestore
started=
for port in $((17000 + $$ % 900)) $((18000 + $$ % 900)) $((19000 + $$ % 900)); do
    rm -rf "$cluster"
    scripts/rados start "$cluster" "$port" 2 2 && started=1 && break
    [ $? -eq 3 ] || break
done
if [ -z "$started" ]; then
    echo '== test_failures.sh: SKIPPED: there is no Ceph cluster here, see above =='
    exit 0
fi
conf=$cluster/ceph.conf
base_options="conf=$conf&lease=$lease&wait=20&timeout=90" # of requests; a machine that has much else to do is slow

tell() { # STATUS NAME
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok     $2"
        return
    fi
    failed=$((failed + 1))
    echo "FAILED $2"
    for f in err new out; do [ ! -s "$dir/$f" ] || sed "s/^/#  $f: /" "$dir/$f" | tail -n 8; done
}

ask() { timeout 30 ceph -c "$conf" --connect-timeout 10 "$@" 2>/dev/null; }
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
pid_of() { cat "$cluster/$1.pid"; }
daemon() { kill "-$1" "$(pid_of "$2")"; } # SIGNAL NAME
again() { scripts/rados again "$cluster" "$1"; }

# until_true SECONDS COMMAND...
until_true() {
    local end=$(($(now_ms) + $1 * 1000))
    shift
    while ! "$@"; do
        [ "$(now_ms)" -lt "$end" ] || return 1
        sleep 0.2
    done
}
osds_up() { ask osd stat | grep -q " $1 up"; }
count() { wc -l <"$dir/acked"; }
more_than() { [ "$(count)" -gt "$1" ]; }
goes_on() { until_true "${1:-60}" more_than "$(($(count) + 200))"; } # it is acknowledged, now
is_gone() { ! kill -0 "$1" 2>/dev/null; }

log='' first=0
# begin NAME: a new log; nothing of it is acknowledged yet.
begin() {
    log=rados:u9/$1
    first=0
    : >"$dir/acked"
    : >"$dir/err"
}
address() { echo "$log?$base_options${1-}"; }
# appenders [THREADS [MORE-OPTIONS]]: begins to append in the background, behind the numbers of those before. `far_away`: from
# the other side of the network.
far_away=
appenders() {
    ${far_away:+ip netns exec "$net"} "$build/u9radostests" --appenders "$(address "${2-}")" "${1:-8}" "$first" >>"$dir/acked" 2>"$dir/err" &
    appender=$!
    pids="$pids $appender"
    first=$((first + 1000000))
}
# finish: ends them in good order; their status. killed: otherwise.
finish() {
    kill -TERM "$appender"
    wait "$appender"
}
killed() {
    kill -KILL "$appender"
    wait "$appender" 2>/dev/null
}
# whole: what was acknowledged is in the log, nothing is twice, and the log is clean.
whole() {
    "$build/u9" cat "$(address)" 2>"$dir/new" | cut -d: -f1 | sort >"$dir/have" || return 1
    sort "$dir/acked" >"$dir/want"
    echo "$(wc -l <"$dir/want") acknowledged, $(wc -l <"$dir/have") there" >"$dir/out"
    [ -s "$dir/want" ] && [ -z "$(comm -23 "$dir/want" "$dir/have")" ] && [ -z "$(uniq -d "$dir/have")" ] &&
        "$build/u9fsck" "$(address)" >>"$dir/out" 2>&1
}
longest() { sed -n 's/^longest \([0-9]*\)[.].*/\1/p' "$dir/err"; }

# is_whole: all copies of all objects are there again.
is_whole() {
    local pg
    for pg in 0 1 2 3 4 5 6 7; do ask tell "1.$pg" query | grep -m 1 '"state"' | grep -q 'active+clean"' || return 1; done
}

# One daemon of two is killed and started again, and then the other, while 8 threads append.
one_daemon() {
    begin one
    appenders 8
    goes_on
    local status=$?
    for osd in osd.0 osd.1; do
        daemon KILL $osd
        until_true 60 osds_up 1
        goes_on || status=1
        again $osd
        until_true 60 osds_up 2
        until_true 60 is_whole # it was given what it missed: until then the other one alone has that
        goes_on || status=1
    done
    tell $status 'object daemons are killed and come back, one after the other: 8 threads go on'
    finish
    tell $? 'none of their calls failed'
    [ "$(longest)" -lt 90 ]
    tell $? "none took longer than the deadline: $(grep longest "$dir/err")"
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

# Both at once, for less than the deadline; then for more.
both_daemons() {
    begin both
    appenders 8
    goes_on
    daemon KILL osd.0
    daemon KILL osd.1
    sleep 2
    again osd.0
    again osd.1
    goes_on 60
    tell $? 'both are killed and come back: 8 threads go on'
    finish
    tell $? "none of their calls failed: $(grep longest "$dir/err")"
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"

    appenders 8 '&timeout=3'
    goes_on
    daemon KILL osd.0
    daemon KILL osd.1
    local from
    from=$(now_ms)
    until_true 60 is_gone "$appender"
    local took=$(($(now_ms) - from))
    wait "$appender"
    tell $(($? != 3)) 'both are gone past the deadline: appending fails'
    grep -qE '(POISONED|IO): .*pool u9, object [fd][.][0-9a-f.]+: .*Connection timed out' "$dir/err"
    tell $? "with a sentence that names pool, object and cause: $(head -n 2 "$dir/err" | tail -n 1)"
    [ "$took" -lt 60000 ] # a write, or, if it was about to begin one, the requests for a new segment, each 3 s
    tell $? "and in time: gone $took ms behind them, with 3 s for each request; $(grep longest "$dir/err")"
    again osd.0
    again osd.1
    until_true 60 osds_up 2
    appenders 8
    goes_on 60
    tell $? 'the next writer goes on'
    finish
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

# It is asked when something changes, and by who comes anew.
monitor() {
    begin monitor
    appenders 8
    goes_on
    daemon STOP mon.a
    goes_on && sleep 2 && goes_on
    tell $? 'the monitor is stopped: who is at work goes on'
    local from
    from=$(now_ms)
    "$build/u9" info "$(address '&timeout=3')" >"$dir/out" 2>"$dir/new"
    local status=$? took=$(($(now_ms) - from))
    [ $status -ne 0 ] && [ $took -lt 12000 ] && grep -q 'pool u9' "$dir/new" && grep -q 'connecting to the cluster' "$dir/new"
    tell $? "who comes anew is told so, $took ms later with 3 s for each request: $(head -n 1 "$dir/new")"
    daemon CONT mon.a
    until_true 30 osds_up 2
    "$build/u9" info "$(address)" >"$dir/out" 2>"$dir/new"
    tell $? 'it goes on: who comes anew is served'
    finish
    tell $? "none of the writer's calls failed: $(grep longest "$dir/err")"
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

slow_daemon() {
    begin slow
    appenders 8
    goes_on
    daemon STOP osd.0
    sleep "$slow_s"
    daemon CONT osd.0
    goes_on
    tell $? "a daemon is stopped for $slow_s s and goes on: so do 8 threads"
    until_true 60 osds_up 2
    finish
    tell $? "none of their calls failed: $(grep longest "$dir/err")"
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

# What the monitors take for full is set below what is there.
ratios() { for kind in full backfillfull nearfull; do ask osd "set-$kind-ratio" "$1" >/dev/null; done; }
full_pool() {
    begin full
    appenders 8
    goes_on
    ratios 0.0001
    until_true 60 grep -q '^full: ' "$dir/err"
    grep -qE '^full: IO: .*pool u9, object [fd][.].*No space left' "$dir/err"
    tell $? "a pool that is full is an ordinary error: $(grep '^full: ' "$dir/err")"
    "$build/u9fsck" "$(address)" >"$dir/out" 2>&1
    tell $? 'the log can be read meanwhile'
    ratios 0.95
    goes_on
    tell $? 'there is room again: the same handle goes on'
    finish
    tell $? "and nothing else failed: $(grep longest "$dir/err")"
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

# has_in_time MS: the next writer has the log within the lease and two seconds; what a look at it takes is let go besides, as
# that says how much the machine has else to do.
has_in_time() {
    local from
    from=$(now_ms)
    "$build/u9" info "$(address)" >"$dir/new" 2>&1
    [ "$1" -le $(((lease + 2) * 1000 + $(now_ms) - from)) ]
}
is_in_time() { # the newest appenders opened the log
    local tenths
    tenths=$(sed -n 's/^opened \([0-9.]*\) s.*/\1/p' "$dir/err" | tr -d . | sed 's/^0*//')
    has_in_time $((${tenths:-0} * 100))
}

# Cut off: the cluster takes nothing from it any more.
cut_off() {
    begin cut
    appenders 8
    goes_on
    local object client
    for object in $(rados -c "$conf" -p u9 -N u9 ls 2>/dev/null | grep '^d[.]'); do
        client=$(rados -c "$conf" -p u9 -N u9 lock info "$object" u9 2>/dev/null | grep -oE '[0-9.]+:[0-9]+/[0-9]+' | head -n 1)
        [ -z "$client" ] || break
    done
    ask osd blocklist add "$client" >/dev/null
    local cut=$appender
    until_true 60 is_gone "$cut"
    wait "$cut"
    local status=$?
    cp "$dir/err" "$dir/cut"
    tell $((status != 3)) 'a writer that the cluster shuts out fails'
    grep -qE '^(POISONED|IO): .*pool u9.*shut this client out' "$dir/cut" # IO: it was about to begin a segment
    tell $? "with a sentence: $(grep -m 1 'pool u9' "$dir/cut")"
    appenders 8
    goes_on
    tell $? 'the next one takes over'
    is_in_time
    tell $? "within the lease and two seconds: $(grep opened "$dir/err")"
    finish
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

# As full, by a quota, which takes a manager that counts.
quota() {
    if ! again mgr.x 2>/dev/null; then
        echo '       quota: SKIPPED: there is no manager here (ceph-mgr)'
        return
    fi
    begin quota
    appenders 8
    goes_on
    ask osd pool set-quota u9 max_bytes 1000000 >/dev/null
    until_true 60 grep -q '^full: ' "$dir/err"
    grep -qE '^full: IO: .*pool u9, object [fd][.].*Disk quota exceeded' "$dir/err"
    tell $? "a pool whose quota is used up is an ordinary error: $(grep '^full: ' "$dir/err")"
    ask osd pool set-quota u9 max_bytes 0 >/dev/null
    goes_on
    tell $? 'there is no quota any more: the same handle goes on'
    finish
    tell $? "and nothing else failed: $(grep longest "$dir/err")"
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
    daemon KILL mgr.x
}

# No byte goes from the writer to the cluster, until somebody else has the log.
cut_cable() {
    if [ -z "${U9_RADOS_ADDRESS-}" ]; then
        echo '       cut_cable: SKIPPED: no network of its own can be made here'
        return
    fi
    begin cable
    far_away=1
    appenders 8
    far_away=
    goes_on
    ip -n "$net" link set "$far" down
    local cut=$appender status
    mv "$dir/err" "$dir/cut"
    appenders 8
    goes_on
    tell $? 'a writer is cut off from the network: the next one takes over'
    is_in_time
    tell $? "within the lease and two seconds: $(grep opened "$dir/err")"
    ip -n "$net" link set "$far" up
    until_true 60 is_gone "$cut"
    wait "$cut"
    status=$?
    [ $status -eq 3 ] && grep -qE '^POISONED: .* has the log now .pool u9' "$dir/cut"
    tell $? "the first one comes back, and is told who has the log: $(grep -m 1 POISONED "$dir/cut")"
    goes_on
    tell $? 'the other goes on'
    finish
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

# A writer is killed whose file has grown over many objects: each of them is taken over.
large_file() {
    local lines=128000 writer from status took
    [ -z "${U9_LONG-}" ] || lines=1000000
    begin large
    rm -f "$dir/lines"
    mkfifo "$dir/lines"
    "$build/u9" append --segment-size=4G "$(address)" "$dir/lines" 2>"$dir/err" &
    writer=$!
    pids="$pids $writer"
    exec 9>"$dir/lines" # stays open: the writer waits for more
    yes "$(printf '%0999d' 7)" | head -n "$lines" >&9
    all_there() { "$build/u9" info "$(address)" 2>/dev/null | grep -q "^records *$1\$"; }
    until_true 90 all_there "$lines"
    tell $? "$lines records are in a file of $((lines / 1000)) MB, in $((lines / 4194)) objects, that is open"
    kill -KILL "$writer"
    wait "$writer" 2>/dev/null
    exec 9>&-
    rm "$dir/lines"
    from=$(now_ms)
    echo more | "$build/u9" append "$(address)" 2>"$dir/new"
    status=$? took=$(($(now_ms) - from))
    [ $status -eq 0 ] && has_in_time $took
    tell $? "its writer is killed: the next one has the log, and its record is in it, $took ms later"
    all_there $((lines + 1)) && "$build/u9fsck" "$(address)" >"$dir/out" 2>&1
    tell $? 'nothing is lost'
}

# The next writer has the log within the lease and two seconds; but for one of the rounds, as the machine has else to do, too.
kills() {
    begin kills
    local i status=0 late=0
    : >"$dir/opened"
    for i in $(seq "$rounds"); do
        appenders 4
        sleep "$((RANDOM % 3)).$((RANDOM % 10))"
        if is_gone "$appender"; then status=1; break; fi
        killed
        is_in_time || late=$((late + 1))
        grep '^opened' "$dir/err" >>"$dir/opened"
    done
    [ $late -le 1 ] || status=1
    tell $status "a writer is killed at any time, $rounds times: the next one has the log within the lease and two seconds ($(sort -k 2n "$dir/opened" | tail -n 1) at most)"
    appenders 4
    goes_on
    finish
    tell $? 'the last one goes on'
    whole
    tell $? "nothing that was acknowledged is lost: $(head -n 1 "$dir/out")"
}

for name in ${U9_RADOS_ONLY:-one_daemon both_daemons monitor slow_daemon full_pool quota cut_off cut_cable large_file kills}; do
    began=$(now_ms)
    $name
    end_all
    echo "       ($name: $((($(now_ms) - began) / 1000)) s)"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
