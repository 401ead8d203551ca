#!/usr/bin/env bash
# tests/tools/test_trim.sh BINDIR TMPDIR: u9 trim drops the oldest segments, by size, time, key and number, says what it
# did, and takes what somebody deleted by hand; and a writer keeps what it is told to keep. [L-10]
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

append() { "$u9" append "$@" 2>append.err; }
files() { find "$1" -name '*.u9' | sort; }
count() { files "$1" | wc -l; }
first() { "$u9" info --json "$1" | sed 's/.*"first_ordinal":"\([0-9]*\)".*/\1/'; }

# ends STATUS PATTERN SENTENCE COMMAND...: the command exits so, and says PATTERN in one line.
ends() {
    local want=$1 pattern=$2 sentence=$3
    shift 3
    run "$@"
    cat out err >both
    claim "$sentence" test "$status $(grep -Ec -- "$pattern" both)" = "$want 1"
}

make() { # LOG: records 0..19999 in some eight segments
    seq 20000 | append "$1" --segment-size 64K --sync none
}

drops() {
    make log
    before=$(count log)
    find log -type f -exec cksum {} + | sort >sums
    ends 0 '^log: would drop [1-9] segments?, [0-9]+ records, [0-9.]+ kB, [-0-9T:.]+Z \([0-9]+ (s|min) ago\) to [-0-9T:.]+Z \([0-9]+ (s|min) ago\); it would begin at record [0-9]+, in [0-9a-f]{16}\.u9$' \
        '--dry-run says what would go' "$u9" trim log --keep 256K --dry-run
    find log -type f -exec cksum {} + | sort | cmp -s - sums
    result $? 'and changes nothing'
    would=$(without_ages out | sed 's/would //g')
    run "$u9" trim log --keep 256K
    claim 'then it goes' same "$(without_ages out | sed 's/dropped/drop/; s/begins/begin/')" "$would"
    claim 'whole segments, of which at least so much stays' \
        test "$(count log)" -lt "$before" -a "$(cat log/*.u9 | wc -c)" -ge 262144
    kept=$(first log)
    ends 0 "^trimmed +kept from record $kept on, [0-9a-f]{16}\.u9$" 'u9 info says from where on the log is kept' "$u9" info log
    ends 0 "\"trim_segment\":\"[0-9]+\",\"trim_ordinal\":\"$kept\",\"begins_late\":false" 'as JSON, too' "$u9" info --json log
    ends 0 '^log: clean: ' 'u9fsck finds it clean' "$fsck" log
    "$fsck" -v log >out
    claim 'and says so with -v' grep -q "trimmed: kept from record $kept on" out
    claim 'the records that are left are those that were there' \
        same "$("$u9" cat log | cksum)" "$(seq $((kept + 1)) 20000 | cksum)"
    ends 0 "^log: nothing to drop; it begins at record $kept" 'once more there is nothing to drop, but for what the trim itself added' \
        "$u9" trim log --keep 264K
    seq 3 | append log
    claim 'the log goes on' same "$("$u9" cat log | tail -n 1)" 3
    ends 0 '"type":"trim","path":"log","dry_run":false,"accept":false,"segments":"[1-9]","records":"[0-9]+","bytes":"[0-9]+","first_time":"[^"]+","last_time":"[^"]+","first_segment":"[0-9]+","first_ordinal":"[0-9]+"' \
        'a result as JSON' "$u9" trim log --before '#19000' --json
    claim 'what is below a number goes, no more' test "$(first log)" -gt "$kept" -a "$(first log)" -le 19000
    ends 0 'begins at record 20000' 'all but the newest that holds records' "$u9" trim log --keep 0
    ends 0 'nothing to drop' 'which stays' "$u9" trim log --keep 0
}

by_time_and_key() {
    make log2
    ends 0 'nothing to drop' 'nothing is so old' "$u9" trim log2 --older 1h
    ends 0 'nothing to drop' 'nor from before that day' "$u9" trim log2 --older 2020-01-01
    key=$("$u9" cat --keys log2 | sed -n 10000p | cut -f 1 | cut -d ' ' -f 1)
    "$u9" get log2 "$key" >out
    claim 'there is a key in the middle' same "$(cat out)" 10000
    run "$u9" trim log2 --before "$key"
    claim 'what is below a key goes, no more' test "$status" -eq 0 -a "$(first log2)" -gt 5000 -a "$(first log2)" -lt 10000
    ends 0 '^10000$' 'and its record is there' "$u9" get log2 "$key"
    ends 0 'dropped' 'by now all is old but the newest segment' "$u9" trim log2 --older 0s
    ends 1 "has no record with this key; it begins at record [0-9]+$" 'u9 get says where the log begins' "$u9" get log2 "$key"
}

lines() {
    make log3
    "$u9" mark log3 >late
    "$u9" trim log3 --before '#15000' >/dev/null
    ends 3 'line: met: records [0-9]+\.\.19999 .*nothing is proven of records 0\.\.' \
        'a line from before a trim proves what is kept' "$fsck" --mark late log3
    seq 5 | append log4
    "$u9" mark log4 >early
    seq 20000 | append log4 --segment-size 64K --sync none
    "$u9" trim log4 --before '#15000' >/dev/null
    ends 1 'no longer provable' 'one of what was trimmed is no longer provable' "$fsck" --mark early log4
    rm -rf log3 log4
}

by_hand() {
    make log5
    rm log5/0000000000000001.u9 log5/0000000000000002.u9
    ends 1 'the oldest segments are missing, up to 0000000000000002.u9: .*u9 trim --accept' \
        'a writer refuses a log whose beginning was deleted, and names the way on' "$u9" append log5 /dev/null
    ends 4 '^log5: next: if the oldest segments were deleted on purpose: u9 trim --accept log5$' 'u9fsck names it' "$fsck" log5
    ends 3 'log5: the oldest segments are missing: .*u9 trim --accept' 'so does u9 info' "$u9" info log5
    ends 0 '^log5: would accept that its oldest segments, with [0-9]+ records, are gone; it would begin at record [0-9]+, in 0000000000000003\.u9$' \
        '--accept --dry-run says what it would do' "$u9" trim --accept --dry-run log5
    ends 0 '^log5: accepted .*; it begins at record [0-9]+, in 0000000000000003\.u9$' '--accept does it' "$u9" trim --accept log5
    ends 0 '^log5: clean' 'the log is whole' "$fsck" log5
    ends 0 'its beginning is not missing' 'then there is nothing to accept' "$u9" trim --accept log5
    seq 5 | append log5
    claim 'and goes on' same "$("$u9" cat log5 | tail -n 1)" 5
    rm log5/0000000000000005.u9
    ends 0 'its beginning is not missing' 'what is missing in the middle is not accepted' "$u9" trim --accept log5
    ends 4 'CORRUPT: missing' 'it stays missing' "$fsck" log5
}

beside_a_writer() {
    make log6
    mkfifo pipe.in pipe.out
    "$u9" append --print-keys --sync commit log6 <pipe.in >pipe.out 2>hold.err &
    exec 7>pipe.in 8<pipe.out
    echo x >&7
    read -r _ <&8
    ends 1 'another writer has the log' 'beside a writer nothing is dropped' "$u9" trim log6 --keep 128K
    claim 'and the options that do it are named' grep -q 'u9 append --keep SIZE --keep-age AGE.*keep_bytes and keep_age_us' err
    ends 0 'would drop' '--dry-run may look' "$u9" trim log6 --keep 128K --dry-run
    exec 7>&-
    wait
    exec 8<&-
    echo y | append log6 --keep 128K
    claim 'a writer that keeps so much drops the rest' test "$(cat log6/*.u9 | wc -c)" -lt 262144
    ends 0 '^log6: clean' 'of a log that stays whole' "$fsck" log6
    seq 60000 | append log6 --keep 128K --segment-size 64K --sync none
    claim 'from segment to segment' test "$(count log6)" -le 6
    ends 0 '^log6: clean' 'which is whole then, too' "$fsck" log6
    claim 'with all its newest records' same "$("$u9" cat log6 | tail -n 100 | cksum)" "$(seq 59901 60000 | cksum)"
    echo z | append log6 --keep-age 0s
    claim 'an age of nothing is no age' same "$("$u9" cat log6 | tail -n 1)" z
}

refusals() {
    ends 2 'what is to go\? --keep, --older, --before or --accept' 'nothing is dropped unasked' "$u9" trim log
    ends 2 '--keep and --older: one of them at a time' 'by one thing at a time' "$u9" trim log --keep 1G --older 1d
    ends 2 '--keep 1X: not a size' 'a size is a size' "$u9" trim log --keep 1X
    ends 0 '' 'and may be written as it is elsewhere' "$u9" trim log --dry-run --keep 1gib
    ends 2 '--older soon: not a time like' 'a time is a time' "$u9" trim log --older soon
    make log7
    ends 0 'would drop [1-9]' 'in all the ways in which --since takes it' "$u9" trim log7 --older tomorrow --dry-run
    ends 0 'nothing to drop' 'and others' "$u9" trim log7 --older '2 weeks ago' --dry-run
    ends 2 '--before # x: not a number' 'a number is a number' "$u9" trim log --before '#x'
    ends 2 '--keep-age 3: not an age' 'an age has a unit' "$u9" append log --keep-age 3
    ends 1 '--before xyz: not a key of kind muid' 'a key is one of the log' "$u9" trim log --before xyz
    ends 2 'no LOG given' 'a log is given' "$u9" trim --keep 1G
    ends 1 'nowhere' 'which is there' "$u9" trim nowhere --keep 1G
    ends 1 'only a log directory|Not a directory' 'a segment alone is not trimmed' "$u9" trim "$(files log | head -n 1)" --keep 1
    claim 'u9 --help lists it' grep -q '  trim  .*drops the oldest segments' <("$u9" --help)
}

drops
by_time_and_key
lines
by_hand
beside_a_writer
refusals
tally
