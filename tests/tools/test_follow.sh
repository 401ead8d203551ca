#!/usr/bin/env bash
# tests/tools/test_follow.sh BINDIR TMPDIR: u9 cat -f and u9 send -f beside writers that roll, trim, are killed and
# come back. Nothing here waits for a time: each step waits until what it needs is there. [M-10]
# shellcheck disable=SC2016 # conditions are meant as they stand
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

# until_so COMMAND...: waits until it succeeds; a minute is a failure.
until_so() {
    local tries
    for tries in $(seq 1200); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "never: $*"
    return 1
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
catches() { grep -q '^SigBlk:[[:space:]]*0*4002$' "/proc/$1/status"; } # PID: its two signals do not kill it
ended() { ! kill -0 "$1"; }
# stops PID SIGNAL: fills status.
stops() {
    kill "-$2" "$1"
    wait "$1"
    status=$?
}

cat_follows() {
    "$u9" cat -f log >cat.out 2>cat.err &
    local follower=$!
    mkfifo lines
    "$u9" append log --segment-size 64K <lines &
    local writer=$!
    exec 8>lines
    seq 1 10 >&8
    claim 'a log that comes later is waited for, and shown before its writer closes it' until_so has_lines cat.out 10
    echo eleven >&8
    claim 'and each line as it is committed' until_so grep -qx eleven cat.out
    seq 12 12000 >&8
    claim 'over rolls' until_so has_lines cat.out 12000
    claim 'of which there were some' test "$(find log -name '*.u9' | wc -l)" -gt 1
    kill -KILL $writer
    wait $writer 2>/dev/null
    exec 8>&-
    seq 12001 12100 | "$u9" append log --segment-size 64K
    claim 'over a kill of the writer, and the next session' until_so has_lines cat.out 12100
    "$u9" trim log --keep 1 >/dev/null
    seq 12101 12110 | "$u9" append log
    claim 'over a trim of what it has read' until_so has_lines cat.out 12110
    stops $follower TERM
    claim 'SIGTERM ends it: status 0' same $status 0
    { seq 1 10; echo eleven; seq 12 12110; } >want
    claim 'each line was there once, in order' cmp want cat.out
    claim 'and nothing was said, but what the killed writer may have left' same "$(grep -v ': note: ' cat.err)" ''
}

cat_ends() {
    seq 1 5 | "$u9" append small
    claim '-f with --limit ends by itself' sh -c 'test "$("$1" cat -f small --limit 3 | wc -l)" = 3' sh "$u9"
    "$u9" cat -f small >int.out &
    local pid=$!
    until_so has_lines int.out 5
    stops $pid INT
    claim 'SIGINT ends it: status 0' same $status 0
    "$u9" cat -f nothing >none.out 2>&1 &
    pid=$!
    until_so catches $pid
    stops $pid TERM
    claim 'also while it waits for a log' same $status 0
    claim 'which it does not make' test ! -e nothing
    "$u9" tail -f -n 0 later >tail.out &
    pid=$!
    until_so catches $pid
    seq 1 15 | "$u9" append later
    claim 'all of a log that comes later follows the last records of none' until_so has_lines tail.out 15
    stops $pid TERM
    claim 'in order' cmp tail.out <(seq 1 15)
    mkfifo gone
    "$u9" cat -f small >gone &
    pid=$!
    head -n 5 <gone >/dev/null
    claim 'a reader that goes away ends it, though nothing more comes' until_so ended $pid
    wait $pid
    claim '-f of a part is refused' refused 2 'a whole log' "$u9" cat -f small --segment 1
    claim 'a file cannot be followed' refused 1 'single file' "$u9" cat -f small/0000000000000001.u9
}

# Records of a log, however it ends.
count() { "$u9" info "$1" 2>/dev/null | sed -n 's/^records *\([0-9]*\)$/\1/p'; }
digest() { "$u9" cat --keys "$1" 2>/dev/null | sha256sum; }
has_count() { [ "$(count "$1")" = "$2" ]; }

# One round: a writer of 6,000 records, a sender, a receiver; who is named is killed, all else goes with it.
round() { # NAME RECORDS-BEFORE VICTIM...
    local from pid_of_send pid_of_recv pid_of_writer victim
    from=$(count copy)
    "$u9" send -f source --from "#${from:-0}" >pipe 2>send.err &
    pid_of_send=$!
    "$u9" recv copy <pipe 2>recv.err &
    pid_of_recv=$!
    "$u9" append source --segment-size 64K <lines &
    pid_of_writer=$!
    exec 8>lines
    seq $(($2 + 1)) $(($2 + 3000)) >&8
    claim "$1: what is committed is copied while the writer goes on" until_so has_count copy $(($2 + 3000))
    seq $(($2 + 3001)) $(($2 + 6000)) >&8
    shift 2
    for victim in "$@"; do
        eval "kill -KILL \$pid_of_$victim"
    done 2>/dev/null
    exec 8>&-
    wait $pid_of_writer
    [ "$*" != '' ] || kill -TERM $pid_of_send
    wait $pid_of_send
    status=$?
    wait $pid_of_recv
} 2>/dev/null

replicates() {
    mkfifo pipe
    [ -p lines ] || mkfifo lines
    round 'a receiver that will be killed' 0 recv
    round 'a sender that will be killed' "$(count source)" send
    round 'a writer that will be killed' "$(count source)" writer send
    round 'all of them' "$(count source)" recv send writer
    round 'none of them' "$(count source)"
    claim 'SIGTERM ends the stream as the end of the log would' same $status 0
    "$u9" send source --from "#$(count copy)" | "$u9" recv copy
    claim 'a last send and recv are content' same "${PIPESTATUS[*]}" '0 0'
    claim 'the copy is the same log: no record lost, none twice' same "$(digest copy)" "$(digest source)"
    claim 'and whole' "$fsck" -q copy
    "$u9" send -f copy/0000000000000001.u9 >out 2>err
    claim 'a file is not followed' same $? 1
}

cat_follows
[ "${U9_IO-}" = uring ] || cat_ends # nothing is written meanwhile
replicates
tally
