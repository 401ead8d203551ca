#!/usr/bin/env bash
# tests/mpi/test_mpi.sh BINDIR TMPDIR: ranks of MPI (examples/scan_mpi.c) come to the totals of one reader, of logs that are
# here, in S3, in a Ceph pool, or in two of these; on this host, and on two, which are network namespaces of it (root); also
# where an object daemon of the pool is killed when they have read half. [P-3] [P-4]
# shellcheck source=tests/tools/ranges.sh
. "$(dirname "$0")/../tools/ranges.sh"
# shellcheck source=tests/s3/servers.sh
. "$(dirname "$0")/../s3/servers.sh"
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/../tools/claims.sh"
tree=$OLDPWD
export HOME=$tmp
holders=()
address=127.0.0.1
trap 'stop_server; "$tree/scripts/rados" stop cluster; kill "${holders[@]}" 2>/dev/null; cd / && rm -rf "$tmp"' EXIT

# Two hosts, 10.99.0.1 and 10.99.0.2, each a namespace that a process holds. False: this machine does not permit it.
is_apart() { [ -e "/proc/$1/ns/net" ] && [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
make_hosts() {
    local i
    { [ "$(id -u)" -eq 0 ] && command -v ip && unshare -n true; } >/dev/null 2>&1 || return 1
    for i in 0 1; do
        unshare -n sleep 3600 &
        holders[i]=$!
        until is_apart "${holders[i]}" || ! kill -0 "${holders[i]}" 2>/dev/null; do :; done
    done
    on 0 ip link add veth0 type veth peer name veth1 netns "${holders[1]}" || return 1
    for i in 0 1; do
        on $i ip link set lo up && on $i ip addr add "10.99.0.$((i + 1))/24" dev veth$i && on $i ip link set veth$i up || return 1
    done
    address=10.99.0.1
    cat >rsh <<END
#!/bin/bash
while [[ "\$1" == -* ]]; do shift; done
case \$1 in 10.99.0.1) host=${holders[0]} ;; *) host=${holders[1]} ;; esac
shift
exec nsenter -t "\$host" -n sh -c "\$*"
END
    chmod +x rsh
}
on() { # HOST COMMAND...
    nsenter -t "${holders[$1]}" -n "${@:2}"
}

# by_hosts N LOG: half of N ranks on each.
by_hosts() {
    local net=10.99.0.0/24
    on 0 timeout 300 mpirun --allow-run-as-root --mca plm_rsh_agent "$tmp/rsh" --mca orte_keep_fqdn_hostnames 1 \
        --mca btl self,tcp --mca btl_tcp_if_include $net --mca oob_tcp_if_include $net \
        --host "10.99.0.1:$(($1 / 2)),10.99.0.2:$(($1 / 2))" -n "$1" "$bin/examples/scan_mpi" "$2"
}

# come_to_one LOG WHAT: the totals of one reader.
come_to_one() {
    local log=$1 n
    "${here[@]}" "$u9" scan -j 1 "$log" 2>scan.err | grep -E '^(records|bytes|digest) ' >one
    claim "one reader reads $2" test "$(wc -l <one)" -eq 3
    for n in 1 2 4; do claim "$n ranks come to the same" same "$(by_ranks $n "$log" "${here[@]}" 2>mpi.err)" "$(cat one)"; done
    [ ${#holders[@]} -eq 2 ] || return
    for n in 2 4; do claim "$n ranks of two hosts, too" same "$(by_hosts $n "$log" 2>mpi.err)" "$(cat one)"; done
}

# A cluster of two object daemons, with two copies, where all hosts reach it. False: there is none to be had.
start_cluster() {
    local port
    for port in 17311 18323 19331 21347; do
        "${here[@]}" env U9_INSTALL=0 U9_RADOS_STORE=bluestore U9_RADOS_BYTES=1073741824 U9_RADOS_ADDRESS="$address" \
            "$tree/scripts/rados" start cluster "$port" 2 2 2>cluster.err && return
        [ $? -eq 3 ] || return
        rm -rf cluster
    done
}

# The daemon that was killed is there again.
again() {
    "${here[@]}" "$tree/scripts/rados" again cluster osd.0
    for _ in $(seq 300); do
        "${here[@]}" timeout 20 ceph -c cluster/ceph.conf osd stat 2>/dev/null | grep -q ' 2 up' && return
        sleep 0.2
    done
    return 1
}

# kill_half_way LOG BYTES COMMAND...: what ranks print that have read half of the log's BYTES when one of the two daemons is
# killed: what comes to them is counted, and they are stopped meanwhile. Once more if they were through by then.
kill_half_way() {
    local log=$1 half=$(($2 / 2)) ranks job
    shift 2
    for _ in 1 2 3; do
        "$@" >ranks 2>mpi.err &
        job=$!
        while kill -0 $job 2>/dev/null; do
            mapfile -t ranks < <(pgrep -xf "$bin/examples/scan_mpi ${log/\?/.}")
            [ "$(have_read "${ranks[@]}")" -lt $half ] || break
        done
        if kill -STOP "${ranks[@]}" 2>/dev/null; then
            kill -KILL "$(cat cluster/osd.0.pid)"
            kill -CONT "${ranks[@]}"
            wait $job
            cat ranks
            return
        fi
        wait $job
    done
    echo 'the ranks were through each time'
}
have_read() { # PROCESS...
    (cd /proc && cat "${@/%//io}" </dev/null 2>/dev/null | awk '/^rchar/ { n += $2 } END { print n + 0 }')
}

if ! has_mpi; then
    echo 'mpi: SKIPPED: libopenmpi-dev or openmpi-bin is not installed (or MPI=0)'
    exit 0
fi
make_hosts || {
    kill "${holders[@]}" 2>/dev/null
    holders=()
    skip 'two hosts: this machine makes no network namespaces, or who runs this is not root'
}
here=() # in front of what is run where the server is
[ ${#holders[@]} -eq 0 ] || here=(nsenter -t "${holders[0]}" -n)
seq 60000 | "$u9" append log --segment-size 64K --sync none 2>append.err
come_to_one "$tmp/log" 'a log that is here'
if [ -e "$bin/libu9-s3.so" ]; then
    start_python "$address" "${here[@]}"
    claim 'segments go to S3' "${here[@]}" "$u9" tier log --to s3://bucket/log --keep 1M
    come_to_one "$tmp/log" 'a log that is here and there'
    come_to_one s3://bucket/log 'one that is there'
else
    skip 'logs in S3: libcurl4-openssl-dev is not installed (or S3=0)'
fi
if [ -e "$bin/libu9-rados.so" ] && start_cluster; then
    pool="rados:u9/log?conf=$tmp/cluster/ceph.conf" large="rados:u9/large?conf=$tmp/cluster/ceph.conf"
    seq 60000 | "${here[@]}" "$u9" append "$pool" --segment-size 64K --sync none 2>append.err
    come_to_one "$pool" 'a log in a pool'
    if [ -e "$bin/libu9-s3.so" ]; then
        claim 'its segments go to S3' "${here[@]}" "$u9" tier "$pool" --to s3://bucket/pool --keep 1M
        come_to_one "$pool" 'a log that is in a pool and in S3'
    fi
    seq -f '%0999.0f' 100000 | "${here[@]}" "$u9" append "$large" --segment-size 2M --sync none 2>append.err
    "${here[@]}" "$u9" scan -j 1 "$large" 2>scan.err | grep -E '^(records|bytes|digest) ' >one
    for n in 2 4; do
        claim "$n ranks, and an object daemon is killed when half is read: the same" \
            same "$(kill_half_way "$large" 102500000 by_ranks $n "$large" "${here[@]}")" "$(cat one)"
        claim 'it comes back' again
    done
    [ ${#holders[@]} -eq 0 ] || claim '4 ranks of two hosts, too' \
        same "$(kill_half_way "$large" 102500000 by_hosts 4 "$large")" "$(cat one)"
else
    skip "logs in a pool: there is no Ceph here$(sed 's/^/: /' cluster.err 2>/dev/null)"
fi
tally
