#!/usr/bin/env bash
# tests/mpi/test_mpi.sh BINDIR TMPDIR: ranks of MPI (examples/scan_mpi.c) come to the totals of one reader, of a log that is
# here, one in S3, and one that is here and there; on this host, and on two, which are network namespaces of it (root). [P-3] [P-4]
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
trap 'stop_server; kill "${holders[@]}" 2>/dev/null; cd / && rm -rf "$tmp"' EXIT

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
tally
