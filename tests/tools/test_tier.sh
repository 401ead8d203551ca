#!/usr/bin/env bash
# tests/tools/test_tier.sh BINDIR TMPDIR: u9 tier copies what is complete to another place (here a folder: S3 is tried by
# tests/s3), drops here what it is told to, and all tools read both as one log. [TR-1] [TR-5] [TR-6]
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

make() { seq 20000 | "$u9" append "$1" --segment-size 64K --sync none 2>append.err; } # LOG: some eight segments
here() { find "$1" -name '*.u9' | wc -l; }
digest() { "$u9" cat "$@" 2>cat.err | cksum; }
says() { grep -Eq -- "$1" out err; } # PATTERN

fills() {
    make log
    all=$(here log) want=$(digest log)
    run "$u9" tier log
    claim 'without a place it says so, and how one is given' eval 'test "$status" -eq 1 && grep -q "^u9 tier: --to PLACE says where: " err'
    run "$u9" tier log --to far --dry-run
    claim 'a dry run says what would be copied' says '^log: would copy [5-9] segments, [0-9.]+ kB; the place has 0, 0 bytes$'
    claim 'and makes nothing' test ! -e far -a ! -e log/.tier
    run "$u9" tier log --to far
    claim 'then they are copied' \
        says "^log: copied $((all - 1)) segments, [0-9.]+ kB; the place has $((all - 1)), [0-9.]+ kB, all records below [0-9]+\$"
    claim 'they are the same files' cmp -s log/0000000000000002.u9 far/0000000000000002.u9
    cp -r log hurt
    at=$(LC_ALL=C grep -abo '[0-9]\{4\}' hurt/0000000000000002.u9 | sed -n '100{s/:.*//p;q}') # a record
    printf XXXX | dd of=hurt/0000000000000002.u9 bs=1 seek="$at" conv=notrunc status=none
    claim 'where a segment here is damaged' test "$(digest hurt)" != "$want"
    run "$fsck" hurt
    claim 'u9fsck says that it may be whole there' says ' next: the place that .u9 tier. copied to may have it whole: a file that is moved'
    mv hurt/0000000000000002.u9 aside
    claim 'it is read there once its file is moved away' same "$(digest hurt)" "$want"
    run "$u9" tier log --keep 100K
    claim 'the place is known by now, and what it has is dropped' says '; dropped [3-9] here, [0-9.]+ kB; the place has'
    claim 'from the disk' test "$(here log)" -lt "$all"
    claim 'both are read as one log' same "$(digest log)" "$want"
    claim 'from the end, too' same "$("$u9" cat --reverse log | cksum)" "$(seq 20000 -1 1 | cksum)"
    key=$("$u9" cat --keys -n 1 log | cut -f 1 | cut -d ' ' -f 1)
    claim 'by key' same "$("$u9" get log "$key")" 1
    claim 'by several threads' same "$("$u9" scan --json -j 2 log | grep -o '"records":"[0-9]*"')" '"records":"20000"'
    claim 'and checked as one' "$fsck" log
    claim 'the place is a log, too' "$fsck" far
    (cd log && "$u9" cat . >../inside 2>/dev/null)
    claim 'the place is found from wherever the log is read' same "$(cksum <inside)" "$want"
    (cd "$tmp" && mv log moved && mv moved log)
    run "$u9" snapshot log snap
    claim 'a snapshot has all of it' same "$(digest snap)" "$want"
    seq 20001 30000 | "$u9" append log --segment-size 64K --sync none 2>append.err
    run "$u9" tier log --json
    claim 'JSON says the same' says '"type":"tier","path":"log","dry_run":false,"segments":"[1-9]'
    claim 'what was appended since is there, and read' same "$(digest log)" "$(seq 30000 | cksum)"
    run "$u9" tier log --older 1h
    claim 'what is younger stays' says '^log: copied 0 segments, 0 bytes; the place has'
    run "$u9" tier log --to other
    claim 'a log has one place' says 'its segments go to another place already: '
    run "$u9" tier far --to other
    claim 'which has none itself' says 'this is such a place itself'
    run "$u9" tier log --keep 1K --older 1d
    claim 'one thing says what goes' test "$status" -eq 2
    run "$u9" tier log --to ''
    claim 'a place has a name' test "$status" -eq 2
}

# Why nothing goes: which segment, in what state, what to do.
stays() {
    local golden=$root/tests/golden/v1 log only
    cp -r "$golden/killed" "$golden/killed_next" "$golden/damaged" .
    seq 3 | "$u9" append closed 2>append.err
    for log in killed damaged closed; do
        only="^$log: its only segment, 0{15}1\\.u9, is the newest, which stays: "
        case $log in
        killed) only="${only}it is being written, or a killed writer left it: then the next \`u9 append\` begins another$" ;;
        damaged) only="${only}it is damaged, and \`u9fsck damaged\` says what to do$" ;;
        closed) only="${only}the next \`u9 append\` goes on in it, until it is full" ;;
        esac
        run "$u9" tier $log --to "far-$log" --dry-run
        claim "of a $log log tier says why nothing goes" says "$only"
        run "$u9" trim $log --keep 1 --dry-run
        claim 'and so does trim' says "$only"
        run "$u9" trim $log --keep 1 --dry-run --json
        claim 'in JSON it is one object' test "$(wc -l <out)" -eq 1
    done
    run "$u9" tier killed_next --to far-killed
    claim 'of several that writers left, too' says '^killed_next: none of its 3 segments was filled, or closed, and another begun behind it: '
    rm killed_next/0000000000000003.u9 killed_next/.tier
    run "$u9" trim killed_next --keep 1 --dry-run
    claim 'a killed one that goes was written until nobody knows when' says ', [-0-9T:.]+Z \([0-9]+ d ago\) to a time that is not known; '
}

writes_meanwhile() {
    mkfifo pipe
    "$u9" append live --segment-size 64K <pipe 2>live.err &
    exec 7>pipe
    seq 20000 >&7
    for _ in $(seq 400); do
        [ "$("$u9" cat live 2>/dev/null | wc -l)" -lt 15000 ] || break
        sleep 0.05
    done
    run "$u9" tier live --to there --keep 1
    claim 'beside a writer all is copied, and nothing dropped' test "$status" -eq 1 -a "$(here there)" -gt 3
    # shellcheck disable=SC2016
    claim 'which is said, with what to do' says 'all is copied, nothing was dropped: .* `u9 append --keep SIZE'
    exec 7>&-
    wait
    claim 'and nothing lost' same "$(digest live)" "$(seq 20000 | cksum)"
}

# Who trims otherwise.
trims() {
    seq 20000 | "$u9" append ahead --segment-size 64K --sync none 2>append.err
    "$u9" tier ahead --to behind >out 2>&1
    seq 20001 40000 | "$u9" append ahead --segment-size 64K --sync none --keep 64K 2>append.err
    run "$u9" trim ahead --keep 64K
    # shellcheck disable=SC2016
    claim 'what its place has not is dropped by nobody' says '^ahead: what its place has not got yet stays: `u9 tier` copies it$'
    claim 'and read with what it has' same "$(digest ahead)" "$(seq 40000 | cksum)"
    run "$u9" trim ahead --before '#10' --dry-run
    claim 'nor is what is there alone said to go' says '^ahead: nothing to drop'
}

loses() {
    rm far/0000000000000002.u9
    run "$fsck" log
    claim 'a segment that the place lost is damage' test "$status" -ge 4
    claim 'told with its path there' says "$tmp/far/0000000000000002.u9"
    mv far/0000000000000001.u9 aside
    run "$fsck" log
    claim 'the first ones, too, and not as if they were deleted here' eval \
        'says "$tmp/far/0000000000000002.u9 .*CORRUPT: missing" && ! says "trim --accept" && says "writers may refuse the log"'
    mv aside far/0000000000000001.u9
    harm far/0000000000000003.u9 '[0-9]\{4\}' 100
    run "$fsck" log
    claim 'as is what is damaged there' says 'far/0000000000000003.u9 .*CORRUPT: hash: '
    claim 'of which the place is not said to have it whole' test "$(grep -c 'may have it whole' out)" -eq 0
    "$u9" cat log >out 2>err
    status=$?
    claim 'behind which reading goes on' test "$status" -eq 3 -a "$(tail -n 1 out)" = 30000 -a "$(head -n 1 out)" = 1
    mv far away
    run "$u9" cat log
    claim 'without the place nothing is read' same "$status $(wc -c <out)" '4 0'
    claim 'and it is named' says "its oldest segments are at $tmp/far, which cannot be opened"
    mv away far
    printf x >>log/.tier
    run "$u9" cat log
    # shellcheck disable=SC2016
    claim 'a damaged list is told' says 'its file .tier, .* is damaged: `u9 tier LOG --to PLACE` makes it anew'
    echo more | "$u9" append log --keep 64K >out 2>err
    status=$?
    claim 'a writer that is to trim tells it' test "$status" -eq 4
    # shellcheck disable=SC2016
    claim 'and what to do' says 'was not trimmed as its options say: .* is damaged: nothing was trimmed, and `u9 tier LOG --to PLACE` makes it anew'
    claim 'and that all it wrote is there' eval '! says "not known to be durable"'
    mv far away
    run "$u9" tier log --to far
    claim 'no other place is made for it' eval 'test "$status" -eq 1 -a ! -e far && says "it has, or may have, segments that are not here: is it mounted"'
    mv away far
    mv log/.tier list
    for what in 'ln -s /no/such/list log/.tier' 'mkfifo log/.tier'; do
        $what
        before=$(here log)
        run timeout 10 "$u9" cat log
        claim "no list is to be had by $what: nothing is read" test "$status" -eq 4 -a ! -s out
        run timeout 10 "$u9" trim log --keep 64K
        claim 'nor trimmed' test "$status" -eq 4 -a "$(here log)" -eq "$before"
        rm log/.tier
    done
    mv list log/.tier
    "$u9" tier log --to far >out 2>err
    claim 'and made anew' same "$("$u9" cat log 2>err | tail -n 2 | tr '\n' ' ')" '30000 more '
    mkdir -p nolib/bin && cp "$u9" nolib/bin/
    printf 'x' >nolib/bin/libu9-s3.so.0
    run nolib/bin/u9 cat s3://bucket/log
    claim 'for S3 a library is needed' says 's3://bucket/log: segments in S3 need libu9-s3, .*\(Debian: libu9-s3-0\)'
}

# What is damaged goes as it is, and is told; a log that was put back is not mixed with what is there.
harmed() {
    make bad
    cp -R bad older
    harm bad/0000000000000002.u9 '[0-9]\{4\}' 100
    run "$u9" tier bad --to bad.far
    claim 'a damaged segment is told' test "$status" -eq 3
    claim 'as is where it stands' says 'bad/0000000000000002.u9 .*CORRUPT: hash: .* lost'
    claim 'and what that means for the copy' says '1 place damaged or missing, .* records lost'
    rm -r bad && mv older bad
    seq 10 | "$u9" append bad --segment-size 64K 2>append.err
    run "$u9" tier bad --to bad.far
    claim 'a better one here takes its place' says 'copied [12] segments?, '
    claim 'which is whole then' same "$status $("$u9" cat bad.far 2>&1 | head -n 9000 | cksum)" "0 $(seq 9000 | cksum)"
    cp -R bad older
    make bad
    run "$u9" tier bad --to bad.far
    claim 'what was sealed since goes' test "$status" -eq 0
    rm -r bad && mv older bad
    run "$u9" tier bad --keep 64K
    claim 'a log that was put back drops nothing' test "$status" -eq 1
    claim 'and is told to be older' says 'it is an older state'
}

fills
harmed
stays
writes_meanwhile
trims
loses
tally
