#!/usr/bin/env bash
# tests/tools/test_snapshot.sh BINDIR TMPDIR: u9 snapshot copies a log that another process writes, takes what is new when it is
# called again, goes on after it was killed, and never harms the log. [A-1] to [A-4]
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

append() { "$u9" append "$@" 2>append.err; }

# ends STATUS PATTERN SENTENCE COMMAND...: the command exits so, and says PATTERN in one line.
ends() {
    local want=$1 pattern=$2 sentence=$3
    shift 3
    run "$@"
    cat out err >both
    claim "$sentence" test "$status $(grep -Ec -- "$pattern" both)" = "$want 1"
}

# until COMMAND...: it succeeds at last.
until_it() {
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

# is_start LOG COUNT: its records are 1..N, N at least COUNT.
is_start() {
    "$u9" cat "$1" >records 2>cat.err || return 1
    local n
    n=$(wc -l <records)
    [ "$n" -ge "$2" ] && seq "$n" | cmp -s - records
}

alone() {
    seq 20000 | append log --segment-size 64K --sync none
    n=$(find log -name '*.u9' | wc -l)
    ends 0 "^snap: records 0..19999 of log: $((n - 1)) segments linked, 1 copied \(.*\), 0 there before$" \
        'segments are linked, the last one is copied' "$u9" snapshot log snap
    ends 0 '^snap: clean: 20000 records' 'u9fsck finds the snapshot clean' "$fsck" snap
    claim 'the records are those of the log' same "$("$u9" cat snap | cksum)" "$(seq 20000 | cksum)"
    claim 'a line of its mark is met by the log' "$fsck" -q --mark <("$u9" mark snap) log
    ends 0 " 0 segments linked, 0 copied .*, $n there before$" 'once more nothing is to be done' "$u9" snapshot log snap
    seq 20001 20010 | append log --sync none
    ends 0 '"next_ordinal":"20010"' 'what is new comes when it is called again' "$u9" snapshot --json log snap
    claim 'all of it' same "$("$u9" cat snap | cksum)" "$(seq 20010 | cksum)"
    run "$u9" snapshot -v --copy log copies
    claim '--copy links nothing' test "$(find copies -name '*.u9' -links 1 | wc -l)" -eq "$(find log -name '*.u9' | wc -l)"
    claim 'and -v says what became of each' test "$(grep -c ': copied, ' err)" -eq "$(find log -name '*.u9' | wc -l)"
    ends 1 'is no snapshot' 'a directory that is none is not touched' "$u9" snapshot log .
    ends 2 'no DIR given' 'DIR is asked for' "$u9" snapshot log
    seq 3 | append snap
    ends 1 'was written to' 'nor is a snapshot that was written to' "$u9" snapshot log snap
    cp -R log older
    seq 20011 40000 | append log --sync none
    "$u9" snapshot log snap3 >/dev/null
    ends 1 'is an older state than' 'an older state of the log is said to be that' "$u9" snapshot older snap3
    rm -rf older
    claim 'the log does not know of that' same "$("$u9" cat log | cksum)" "$(seq 40000 | cksum)"
}

damaged() {
    seq 20000 | append bad --segment-size 64K --sync none
    harm bad/0000000000000002.u9 '[0-9]\{4\}' 100
    ends 3 'no snapshot was made' '--strict refuses a damaged log' "$u9" snapshot --strict bad bad2
    claim 'and makes nothing' test ! -e bad2 -a ! -e bad2.partial
    ends 3 '1 damaged place as in the log' 'else the copy is damaged as the log is' "$u9" snapshot bad bad2
    claim 'to the record' same "$("$u9" cat bad2 2>/dev/null | cksum)" "$("$u9" cat bad 2>/dev/null | cksum)"
    ends 3 'what was there before is damaged, too' 'which is not forgotten' "$u9" snapshot bad bad2
    ends 3 'nothing was changed, as asked' 'nor by --strict' "$u9" snapshot --strict bad bad2
    seq 2000 | append late --sync none
    "$u9" snapshot late late2 >/dev/null
    harm late/0000000000000001.u9 '[0-9]\{4\}' 100
    seq 2001 2010 | append late
    ends 3 '1 damaged place in the log.*; whole here, as before: 1 of 1' 'what is damaged since stays' "$u9" snapshot late late2
    claim 'whole in the snapshot' same "$("$u9" cat late2 | cksum)" "$(seq 2010 | cksum)"
}

# A writer in another process appends, rolls and trims meanwhile.
beside() {
    mkfifo feed
    "$u9" append live --segment-size 64K --sync interval <feed 2>writer.err &
    writer=$!
    exec 7>feed
    seq 30000 >&7
    until_it is_start live 20000
    result $? 'a writer is at work'
    good=1
    for i in 1 2 3 4 5; do
        seq $((30000 + (i - 1) * 5000 + 1)) $((30000 + i * 5000)) >&7 &
        feeder=$!
        "$u9" cat live >before 2>cat.err
        "$u9" snapshot live moving >out 2>err || good=0
        is_start moving "$(wc -l <before)" || good=0
        "$fsck" -q moving || good=0
        wait "$feeder"
    done
    result $((1 - good)) 'each snapshot beside it is clean and has what was there before'
    good=1
    for i in 1 2 3 4 5 6; do
        rm -rf killed
        "$u9" snapshot --copy live killed >out 2>err &
        victim=$!
        # Once it has begun to fill the directory, it is killed wherever it stands.
        for ((k = 0; k < 200; k++)); do
            [ -e killed ] || [ "$(find killed.partial -name '*.u9' 2>/dev/null | wc -l)" -ge "$i" ] && break
        done
        kill -9 "$victim" 2>/dev/null
        wait "$victim" 2>/dev/null
        [ ! -e killed ] || "$fsck" -q killed || good=0
        "$u9" snapshot --copy live killed >out 2>err || good=0
        is_start killed 30000 || good=0
        "$fsck" -q killed || good=0
        [ ! -e killed.partial ] || good=0
    done
    result $((1 - good)) 'killed anywhere it leaves no half, and goes on'
    exec 7>&-
    wait "$writer"
    claim 'the writer did not notice' same "$?" 0
    claim 'the log is whole' "$fsck" -q live
    claim 'the last snapshot has all' same "$("$u9" snapshot live moving >/dev/null && "$u9" cat moving | cksum)" "$(seq 55000 | cksum)"
    "$u9" trim live --before '#40000' >/dev/null
    ends 0 'removed, which the log has not any more' 'what was trimmed goes' "$u9" snapshot live moving
    claim 'and the rest is there' same "$("$u9" cat moving | cksum)" "$("$u9" cat live | cksum)"
    "$u9" trim live --before '#50000' >/dev/null
    ends 0 ', [0-9]+ there before$' 'but stays with --keep-trimmed' "$u9" snapshot --keep-trimmed live moving
    claim 'all of it' test "$("$u9" cat moving | wc -l)" -gt "$("$u9" cat live | wc -l)"
    claim 'which u9fsck finds clean' "$fsck" -q moving
}

# A limit on the size of files stands for a disk that is full.
full() {
    local limit=$1
    shift
    (ulimit -f "$limit" && exec "$@")
}

no_room() {
    ends 4 '^u9 snapshot: small\.partial/[0-9]{16}\.u9: cannot make this file of the snapshot: File too large' \
        'a disk that is full is told of the snapshot' full 16 "$u9" snapshot --copy log small
    claim 'and nothing is said against the log' eval '! grep -q "^u9 snapshot: log/\|salvage" both && grep -q "^u9 snapshot: log was only read" both'
    ends 4 '^u9 merge: lone\.partial: .*: File too large' 'as it is of a merge' full 16 "$u9" merge lone log
    claim 'also there' grep -q '^u9 merge: log was only read' both
    ends 8 '^u9fsck: saved\.partial: .*: File too large' 'and of a salvage' full 16 "$fsck" --salvage saved log
    claim 'and there' grep -q '^u9fsck: log was only read' both
    ends 0 '^small: records [0-9]*\.\.[0-9]* of ' 'the same command goes on when there is room' "$u9" snapshot --copy log small
    ends 0 'log: clean' 'and the log is whole' "$fsck" log
}

elsewhere() {
    other=/dev/shm
    if [ ! -w $other ] || [ "$(stat -c %d $other)" = "$(stat -c %d .)" ]; then
        skip 'no other file system is at hand'
        return
    fi
    there=$(mktemp -d $other/u9-snapshot.XXXXXX)
    ends 0 'was copied: Invalid cross-device link' 'on another file system all is copied, and why is said' \
        "$u9" snapshot log "$there/snap"
    claim 'which is the log' same "$("$u9" cat "$there/snap" | cksum)" "$("$u9" cat log | cksum)"
    ends 0 ' 0 segments linked, 0 copied ' 'once' "$u9" snapshot log "$there/snap"
    rm -rf "$there"
}

# What was made by an earlier run is looked at: what is missing of it, shared, or altered.
later() {
    seq 10 | "$u9" append --segment-size 64K brief 2>err
    "$u9" snapshot brief early >out
    seq 11 8000 | "$u9" append --segment-size 64K brief 2>err
    "$u9" trim brief --before '#4000' >out
    ends 1 'trimmed beyond all that this has' 'what stays must reach to where the log begins now' "$u9" snapshot --keep-trimmed brief early
    ends 0 'early: clean: 10 records' 'nothing was changed' "$fsck" early
    ends 0 'removed, which the log has not any more' 'without it the snapshot is the log' "$u9" snapshot brief early
    claim 'all of it' same "$("$u9" cat early | cksum)" "$("$u9" cat brief | cksum)"
    seq 8000 | "$u9" append --segment-size 64K linked 2>err
    "$u9" snapshot linked shot >out
    claim 'a snapshot is linked' test -n "$(find shot -name '*.u9' -links +1)"
    ends 0 ' 0 segments linked, ' 'with --copy all of it is copied' "$u9" snapshot --copy linked shot
    claim 'what was linked before, too' test -z "$(find shot -name '*.u9' -links +1)"
    ends 0 ' 0 segments linked, 0 copied ' 'once' "$u9" snapshot --copy linked shot
    for record in 1000 8000; do # of the first segment, and of the last one
        harm "$(grep -l $record shot/*.u9 | head -n 1)" $record
        ends 4 '^shot/.*: CORRUPT: ' 'what is altered in it is damage' "$fsck" shot
        ends 0 ' 0 segments linked, 0 copied ' 'nobody reads it again' "$u9" snapshot --copy linked shot
        ends 0 ' 1 copied ' 'but with --verify-all, which takes it from the log' "$u9" snapshot --copy --verify-all linked shot
        ends 0 'shot: clean' 'and it is whole' "$fsck" shot
    done
    seq 16000 | "$u9" append --segment-size 64K gap 2>err
    mv gap/0000000000000002.u9 aside
    ends 3 'CORRUPT: missing' 'a segment is missing in the log' "$u9" snapshot gap filled
    mv aside gap/0000000000000002.u9
    ends 0 ' 1 segment linked' 'once it is back the snapshot gets it, and is not called damaged' "$u9" snapshot gap filled
    ends 0 ' 0 segments linked' 'nor later' "$u9" snapshot gap filled
    claim 'as it is whole' "$fsck" -q filled
    mv gap/0000000000000002.u9 gap/0000000000000077.u9
    ends 1 '0{15}2\.u9 has another name in the log: `u9fsck --repair -p`' 'a name that is wrong in the log is said to be that' \
        "$u9" snapshot gap filled
}

alone
damaged
later
beside
no_room
elsewhere
tally
