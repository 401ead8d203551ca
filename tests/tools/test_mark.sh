#!/usr/bin/env bash
# tests/tools/test_mark.sh BINDIR TMPDIR: what the tools say of a log whose end is not where its mark was, and of
# logs that are copied in every way. [M-3] [M-4] [M-6]
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

append() { "$u9" append "$@" 2>append.err; }
lines() { seq "$1" "$2"; }
newest() { find "$1" -name '*.u9' | sort | tail -n 1; }

# damaged LOG PATTERN SENTENCE: u9fsck finds damage, and says PATTERN.
damaged() {
    run "$fsck" "$1"
    claim "$3" test "$status $(grep -Ec "$2" out)" = '4 1'
}

# fine LOG SENTENCE: u9fsck finds nothing, and the mark counts.
fine() {
    run "$fsck" --verbose "$1"
    claim "$2" test "$status $(grep -c '^  mark: durable is all before record ' out)" = '0 1'
}

creation() {
    : | append empty
    claim 'an empty log is a log' test "$("$u9" cat empty | wc -c)" -eq 0
    fine empty 'u9fsck finds it clean'
    run "$u9" info empty
    claim 'info shows its key kind' grep -Eq '^key kind +muid$' out
    claim 'and that it is closed' grep -Eq '^end +closed$' out
    claim 'and its mark' grep -Eq '^mark +durable is all before record 0, at offset ' out
    : | append --key rkey:tid kinds
    claim 'its key kind is fixed' test "$(append --key muid kinds <<<x; echo $?)" -ne 0
    run "$u9" info --json empty
    claim 'as JSON, too' grep -q '"mark":"counts","mark_segment":"1"' out
}

cut_closed() {
    lines 1 20000 | append log
    cp -R log old
    lines 1 20000 | append log
    fine log 'a closed log is clean'
    for size in 400000 1000 32 0; do
        cp -R log "cut$size"
        truncate -s "$size" "$(newest "cut$size")"
        damaged "cut$size" 'CORRUPT: mark: ' "cut to $size bytes: not torn, but damage"
        have=$("$u9" cat "cut$size" 2>cat.err | wc -l)
        claim 'and what is lost is told to the record' grep -q "records $have..39999 ($((40000 - have)) lost)" out
        append "cut$size" <<<x
        claim 'an append that goes on behind it says so' grep -q 'CORRUPT: mark: ' append.err
        damaged "cut$size" 'CORRUPT: cut: ' 'it stays told when the log went on'
        claim 'with what is lost' grep -q "records $have..39999 ($((40000 - have)) lost)" out
        claim 'and the record behind it is read' test "$("$u9" cat "cut$size" 2>cat.err | tail -n 1)" = x
    done
    cp -R log older
    cp old/*.u9 older/
    damaged older 'CORRUPT: mark: .*records 20000..39999 \(20000 lost\)' 'an older copy of the segment is seen'
    append older <<<x
    claim 'it is not continued' test "$(find older -name '*.u9' | wc -l)" -eq 2
    cp -R log gone
    rm "$(newest gone)"
    damaged gone 'CORRUPT: mark: .*records 0..39999 \(40000 lost\)' 'without its only segment it is a log that lost all'
    run "$fsck" --repair gone
    claim 'that is not repaired, and what can be done is said' \
        grep -q '^gone: next: if they are gone for good: begin a new log elsewhere, or here once .mark is moved away$' out
    claim 'nothing is appended to it' test "$(append gone <<<x; echo $?)" -eq 1
    claim 'nor made there' test -z "$(newest gone)"
    : >gone/0000000000000002.u9
    damaged gone 'CORRUPT: mark: .*records 0..39999 \(40000 lost\)' 'an empty file beside the mark hides that from nobody'
    claim 'who appends is told who says what is lost' eval '! append gone <<<x && grep -q "u9fsck gone says what is damaged" append.err'
    claim 'and it is said how a new log can begin here' grep -q 'next: if they are gone for good: .* here once .mark is moved away$' out
    rm gone/.mark
    claim 'which it does' eval 'append gone <<<x && same "$("$u9" cat gone)" x'
    cp -R log unmarked
    rm unmarked/.mark
    run "$fsck" --verbose unmarked
    claim 'without a mark it is as whole' test "$status" -eq 0
    claim 'and nothing from outside confirms that' grep -q 'the end is not confirmed from outside: there is no mark' out
    run "$fsck" unmarked
    claim 'u9fsck says in one line what nobody can tell then' \
        grep -qx 'note: without a mark nobody can tell whether the end is missing; `u9 append unmarked` makes one' out
    run "$u9" info unmarked
    claim 'so does u9 info' grep -q '^note: without a mark .*`u9 append unmarked` makes one$' out
    run "$u9" info "$(newest unmarked)"
    claim 'but not of a segment alone, which has none' test "$(grep -c 'without a mark' out)" -eq 0
    append unmarked <<<x
    run "$fsck" unmarked
    claim 'and no more once it has one' test "$(grep -c 'without a mark' out)" -eq 0
    fine unmarked 'the next writer makes one'
}

copies() {
    cp -al log linked
    run "$fsck" --verbose linked
    claim 'a mark with other names promises nothing' \
        test "$status $(grep -c 'the mark has other names' out)" = '0 1'
    rm "$(newest linked)" && cp "$(newest old)" linked/
    run "$fsck" linked
    claim 'so an older state beside it is no damage' test "$status" -eq 0
    cp -R linked cut && ln cut/.mark spare
    truncate -s 5000 "$(newest cut)"
    run "$fsck" cut
    claim 'nor is a log that was cut' same "$status" 0
    claim 'but why nothing is known of its end is said' \
        grep -qx "note: cut/.mark has other names (hard links), and may be a copy's: nothing confirms the end from outside" out
    command=$(sed -n 's/^note: if it is this log.s: `\(.*\)`, and u9fsck says whether what it promises is here$/\1/p' out)
    run "$u9" info cut
    claim 'so does u9 info' grep -qF "note: if it is this log's: \`$command\`, and u9fsck says" out
    claim 'to say that it is takes that command' eval "$command"
    damaged cut 'CORRUPT: mark: .*records 0\.\.39999 ' 'and what is lost is told'
    rm -r cut spare
    append linked <<<x
    fine linked 'the next writer has one of its own'
    append log <<<x
    fine log 'and so has the log itself'
    cp -R log foreign
    cp empty/.mark foreign/
    run "$fsck" --verbose foreign
    claim 'the mark of another log promises nothing' \
        test "$status $(grep -c 'the mark is of another log' out)" = '0 1'
    append foreign <<<x
    fine foreign 'and is replaced'
    "$u9" append empty </dev/null 2>/dev/null
    rm "$(newest empty)"
    run "$u9" cat empty
    claim 'where the only segment is gone, records may be lost that the mark does not count' \
        eval 'same "$status" 3 && grep -q "CORRUPT: mark: .*; no record that the mark counts is lost" err'
    for what in mkfifo mkdir 'ln -s away'; do
        rm -rf none && cp -R log none && rm none/.mark
        $what none/.mark
        run "$fsck" none
        claim "of what is no file in its place ($what) it is said what it is" eval 'same "$status" 0 && grep -Eqx \
            "note: none/.mark is (a (FIFO|directory)|a link to away, which is not there): nothing confirms the end from outside" out'
        append none <<<x
        fine none 'and the next writer makes one there'
    done
    cp -R log slots
    printf 'xxxx' | dd of=slots/.mark bs=1 seek=100 conv=notrunc status=none
    run "$fsck" slots
    claim 'one bad slot is a note' test "$status $(grep -c '^note: .*\.mark \[0,4096)' out)" = '0 1'
    claim 'that says which clause refuses it' grep -q '(slot\.[a-z]*: ' out
    claim 'as JSON does' test "$("$fsck" --json slots | grep -c '"clause": *"slot\.')" -eq 1
    printf 'xxxx' | dd of=slots/.mark bs=1 seek=4300 conv=notrunc status=none
    run "$fsck" slots
    claim 'two are UNKNOWN, and no record is lost' \
        test "$status $(grep -c 'UNKNOWN: mark: .*; no record is lost' out)" = '4 2'
    append slots <<<x
    run "$fsck" slots
    claim 'the next writer mends them' test "$status" -eq 0
    "$fsck" --quiet --salvage saved slots
    fine saved 'what is salvaged has a mark of its own'
}

# A mark of before, and the newest segment away: as a copy is that was made while the log went on.
older() {
    append --segment-size=64K grown <<<first
    cp grown/.mark before
    lines 1 3000 | append --segment-size=64K grown # which fills the segment, whatever the frames are
    lines 1 3000 | append --segment-size=64K grown
    claim 'there are several segments' test "$(find grown -name '*.u9' | wc -l)" -ge 2
    rm "$(newest grown)"
    cp before grown/.mark
    run "$fsck" --verbose grown
    claim 'a seal that is younger than the mark misses nothing' test "$status $(grep -c CORRUPT out)" = '0 0'
    claim 'that the state is an older one is said' grep -q 'the end is that of an older state' out
    run "$u9" info grown
    claim 'by info as well' grep -q '^end .*older state' out
    claim 'and in JSON' test "$("$u9" info --json grown | grep -c '"closed":false,"confirmed":true,"older":true')" = 1
    append grown <<<x
    fine grown 'it is appended to'
    claim 'and then it is older no more' test "$("$u9" info --json grown | grep -c '"older":false')" = 1
}

# A writer that has rolled and committed, and still has the log open: descriptor 7 feeds it.
live_copies() {
    local way why
    mkfifo feed
    "$u9" append --print-keys --segment-size=64K live <feed >keys 2>append.err &
    local writer=$!
    exec 7>feed
    lines 1 30000 >&7
    while [ "$(wc -l <keys)" -lt 30000 ]; do sleep 0.02; done
    for way in 'cp -R' 'cp -a' tar rsync 'mark first'; do
        lines 1 3000 >&7 # under way while the files are copied
        case $way in
        tar) mkdir "copy.$way" && tar -C live -cf - . 2>/dev/null | tar -C "copy.$way" -xf - ;;
        rsync)
            command -v rsync >/dev/null || continue
            rsync -a live/ "copy.$way/" ;;
        'mark first') mkdir "copy.$way" && cp live/.mark "copy.$way/" && cp live/*.u9 "copy.$way/" ;;
        *) $way live "copy.$way" ;;
        esac
        run "$fsck" "copy.$way"
        # A file may be copied before its header is written, and the mark when its records are.
        why=$(grep -Evc '^note: |: (mark|missing|cut|lost|next): |: header: .*; no record is lost|: (clean|torn): |^copy\..*: CORRUPT: [0-9]+ records' out)
        case $way in
        'mark first' | rsync) # which takes names in order, and the mark's comes first
            claim "a live copy by $way, which takes the mark first, is whole as far as it goes" \
            test "$(grep -c 'CORRUPT' out)" = 0 ;;
        *) claim "a live copy by $way has nothing told of it but what came later than its files" test "$why" = 0 ;;
        esac
    done
    cp -al live linked
    run "$fsck" linked
    claim 'of a copy by hard links the mark says nothing' test "$(grep -c ': mark: ' out)" = 0
    mkdir last && cp live/*.u9 last/
    lines 1 3000 >&7
    exec 7>&-
    wait "$writer"
    cp live/.mark last/
    run "$fsck" last
    claim 'with a mark that is newer than the segments, what is missing is told' \
        test "$(grep -c 'CORRUPT: \(mark\|missing\|cut\): ' out)" -ge 1
    rm -r linked
    fine live 'the log itself is whole'
}

creation
cut_closed
copies
older
live_copies
tally
