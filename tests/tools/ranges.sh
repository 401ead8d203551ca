# shellcheck shell=bash
# tests/tools/ranges.sh: totals of a log by one reader, by a process for each range, and by ranks of MPI, for tests that hold
# them against each other. Sourced beside claims.sh.

# What does not tell of time: records, bytes, digest.
totals() { "$u9" scan "$@" 2>scan.err | grep -E '^(records|bytes|digest) '; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# Adds two digests: 128 bits, in hex.
add_digests() {
    local sum='' carry=0 i part
    for i in 24 16 8 0; do
        part=$((16#${1:$i:8} + 16#${2:$i:8} + carry))
        carry=$((part >> 32))
        sum=$(printf '%08x' $((part & 0xffffffff)))$sum
    done
    echo "$sum"
}

# by_lines LOG N [PLANNED]: totals of processes that read one line each, in whatever order they end; the lines are of a plan
# for the log at another address.
by_lines() {
    local digest=00000000000000000000000000000000 records=0 bytes=0 one
    rm -f part.*
    while read -r line; do
        "$u9" scan "$1" --json --range "$line" >"part.$(echo "$line" | cut -d ' ' -f 3)" 2>>lines.err &
    done < <("$u9" split "${3-$1}" -n "$2")
    wait
    for part in part.*; do
        one=$(cat "$part")
        records=$((records + $(field records <<<"$one")))
        bytes=$((bytes + $(field bytes <<<"$one")))
        digest=$(add_digests "$digest" "$(field digest <<<"$one")")
    done
    printf 'records %s\nbytes   %s\ndigest  %s\n' "$records" "$bytes" "$digest"
}

has_mpi() { [ -x "$bin/examples/scan_mpi" ] && command -v mpirun >/dev/null; }

# by_ranks N LOG [COMMAND...]: of N ranks on this machine, who talk to each other by its memory and by loopback; started by a
# command that is put in front.
by_ranks() {
    local root=()
    [ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
    "${@:3}" timeout 300 mpirun "${root[@]}" --oversubscribe --mca btl 'self,vader' --mca oob_tcp_if_include lo -n "$1" \
        "$bin/examples/scan_mpi" "$2"
}
