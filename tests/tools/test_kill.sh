#!/usr/bin/env bash
# tests/tools/test_kill.sh BINDIR TMPDIR: a writer is killed at its n-th call of the system, by strace: for each kind of
# call that it makes, io_uring_enter among them. What it said is durable is there, in order; what is there was appended;
# nothing is damaged; the next session goes on. {F15}
#
# A share of all calls is tried, KILLS (24) of them; KILLS=all: each.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

kills=${KILLS:-24}

# From 1 to 260, each as long as that a file of 64 KiB is full after 70; a part of a batch would show as a gap.
for i in {1..260}; do printf '%d %0900d\n' "$i" "$i"; done >input

append() { "$@" "$u9" append --print-keys --sync=commit --segment-size=64K log input; }

if ! strace -f -qq -o /dev/null -e inject=getppid:retval=1:when=1 true 2>/dev/null; then
    skip 'strace is not here, or may not trace'
    tally
    exit
fi

# Calls in which memory and threads are had are left out: there are many, and they say nothing of the disk.
append strace -f -qq -c -o counts >whole 2>err
of_files='openat|newfstatat|statx|getdents64|flock|fcntl|fallocate|ftruncate|pwrite64|pwritev2|write|pread64|read'
of_names='fsync|fdatasync|renameat2?|unlinkat|linkat|close|io_uring_setup|io_uring_enter|eventfd2'
calls=$(awk -v kinds="^($of_files|$of_names)\$" '$4 ~ /^[0-9]+$/ && $NF ~ kinds { print $4, $NF }' counts)
total=$(awk '{ n += $1 } END { print n }' <<<"$calls")
claim 'the writer makes calls of many kinds, and all is acknowledged' test "$total" -gt 80 -a "$(wc -l <whole)" -eq 260
rm -rf log
[ "$kills" = all ] && kills=$total
step=$(((total + kills - 1) / kills))

# judge NAME NTH: what is there after it.
judge() {
    [ -d log ] || { [ ! -s acked ]; return; }
    "$fsck" log >said 2>&1
    local status=$?
    grep -q 'there is no log\|holds no log\|ABSENT\|no log' said && { [ ! -s acked ]; return; }
    [ "$status" -eq 0 ] || return 1
    "$u9" cat --keys log >seen 2>/dev/null || return 1
    cut -f 1 seen | head -n "$(wc -l <acked)" | cmp -s - acked || return 1
    cut -f 2 seen | cmp -s - <(head -n "$(wc -l <seen)" input) || return 1
    echo more | "$u9" append log >/dev/null 2>&1 && "$fsck" log >said 2>&1 && "$u9" cat log | tail -n 1 | grep -qx more
}

tried=0 killed=0 bad='' at=0
while read -r count name; do
    for ((nth = 1; nth <= count; nth++)); do
        at=$((at + 1))
        [ $((at % step)) -eq 0 ] || continue
        append strace -f -qq -o /dev/null -e inject="$name:signal=KILL:when=$nth" 2>/dev/null >out
        [ $? -ne 0 ] && killed=$((killed + 1))
        grep -E '^.+$' out | head -n "$(tr -cd '\n' <out | wc -c)" >acked # not the line that was cut off
        judge || bad="$bad $name:$nth"
        rm -rf log
        tried=$((tried + 1))
    done
done <<<"$calls"

claim "what was acknowledged is there after each kill, and nothing is damaged ($tried kills$bad)" test -z "$bad"
claim 'most of these calls were come to again' test "$killed" -gt $((tried / 2))
tally
