#!/usr/bin/env bash
# tests/tools/test_kill.sh BINDIR TMPDIR: who writes a log, rolls, makes indexes, trims, takes snapshots, receives, mends,
# puts back, salvages, carves, merges or gives a loss up is killed at its n-th call of the system, by strace: for each kind of
# call that it makes, io_uring_enter among them. What it said is durable is there, in order; what is there was appended;
# nothing is damaged; and the next run comes to the end that this one would have come to. {F15} {F16} {F63}
#
# A share of all calls is tried, one of each who is killed, or as many as it takes until KILLS were killed; `make kill-long`
# has thousands. KILL_VICTIMS: only these; else all, or on the io table uring those who append.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tools/claims.sh
. "$here/claims.sh"
# shellcheck source=tests/tools/kills.sh
. "$here/kills.sh"

if ! can_trace; then
    skip 'strace is not here, or may not trace'
    tally
    exit
fi
[ "${U9_IO-}" != uring ] || [ -n "${KILLS-}" ] || victims=$appenders
read -ra chosen <<<"${KILL_VICTIMS:-$victims}"
each=$(((${KILLS:-0} + ${#chosen[@]} - 1) / ${#chosen[@]}))
for victim in "${chosen[@]}"; do
    if [ -n "${KILLS-}" ]; then strike "$victim" $each $((4 * each + 4)); else strike "$victim" 1; fi
done
if [ -n "${KILLS-}" ]; then
    claim "as many were killed as were to be, $kills of $KILLS" test "$kills" -ge "$KILLS"
else
    claim "of ${#chosen[@]} tries many killed: $kills" test "$kills" -gt $((${#chosen[@]} / 4))
fi
tally
