#!/usr/bin/env bash
# tests/tools/test_fsck.sh BINDIR TMPDIR: what u9fsck says to who is woken by it: what is damaged, which records are
# lost, what to do next; by how many threads it was found; and the log as a picture.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

lines() { seq -f "record %.0f of a log" "$1" "$2"; }
segment() { find "$1" -name '*.u9' | sort | sed -n "$2p"; }

# flip FILE OFFSET: inverts one byte.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059
    printf "\\x$(printf %02x $((byte ^ 255)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Where the first record behind OFFSET begins: between frames there is fill, and where those end is chance.
record_behind() { LC_ALL=C grep -abo 'record ' "$1" | awk -F: -v from="$2" '$1 >= from { print $1; exit }'; }

exits() { # STATUS SENTENCE COMMAND...
    local want=$1 sentence=$2
    shift 2
    run "$@"
    claim "$sentence" same "$status" "$want"
}

# Six segments or more: the second has damage in its midst, the fourth is missing, the fifth has a hole.
make_logs() {
    lines 1 40000 | "$u9" append --segment-size 256K --sync none whole 2>/dev/null
    claim 'there are several segments' test "$(find whole -name '*.u9' | wc -l)" -gt 5
    cp -R whole bad
    flip "$(segment bad 2)" "$(record_behind "$(segment bad 2)" 100000)"
    punched=1
    fallocate -p -o 131072 -l 65536 "$(segment bad 5)" 2>/dev/null || {
        punched=''
        dd if=/dev/zero of="$(segment bad 5)" bs=65536 seek=2 count=1 conv=notrunc status=none
    }
    rm "$(segment bad 4)"
    cp -R whole flipped
    flip "$(segment flipped 2)" "$(record_behind "$(segment flipped 2)" 100000)"
}

tired() {
    exits 0 'a whole log' "$fsck" whole
    claim 'is one line' test "$(wc -l <out)" -eq 1
    exits 4 'a damaged one' "$fsck" bad
    claim 'says of each loss which records it is' test "$(grep -Ec '^bad: lost: records [0-9]+\.\.[0-9]+$' out)" -ge 3
    claim 'and when and with which keys those around them were written' same "$(grep -Ec '^bad: lost:   after [0-9T:.Z-]+ \([0-9]+ (s|min) ago\), key [0-9A-F-]+$' out)" \
        "$(grep -Ec '^bad: lost:   before [0-9T:.Z-]+ \([0-9]+ (s|min) ago\), key [0-9A-F-]+$' out)"
    claim 'which file is to be put back' grep -q '^bad: next: put the missing segment back (0000000000000004.u9)' out
    claim 'in lines that a terminal has room for, but for those of each place' test -z "$(grep -v '^bad/' out | awk 'length > 100')"
    claim 'and that what is whole can be saved' grep -Eq '^bad: next: u9fsck --salvage OUT bad copies the [0-9]+ whole records' out
    kept=$("$u9" cat bad 2>/dev/null | wc -l)
    claim 'as many as can be read' grep -q "copies the $kept whole records" out
    claim 'no escapes where no terminal is' eval '! grep -q "$(printf "\033")" out'
    exits 4 'damage that was read well' "$fsck" flipped
    claim 'is said to be the same at another try' grep -q '^flipped: next: another try finds the same' out
    exits 4 'u9fsck -q' "$fsck" -q bad
    claim 'tells damage alone' eval '! grep -Eq "^bad: (lost|next)" out'
    run "$fsck" --json bad
    claim 'u9fsck --json tells losses and what to do' eval 'tail -n1 out | grep -Eq \
        "\"losses\":\[\{\"segment\":\"2\".*\"behind\":\{\"time\":\"[^\"]+\",\"key\":\"[^\"]+\"\}.*\"another_try\":true,\"next\":\[\"put the missing"'
    run "$fsck" --json flipped
    claim 'and that another try finds the same' eval 'tail -n1 out | grep -q "\"another_try\":false"'
    run "$fsck" --json whole
    claim 'and nothing of a whole log' eval 'grep -q "\"losses\":\[\],\"more_losses\":\"0\",\"another_try\":false,\"next\":\[\]" out'
}

# The time of record N of the whole log.
written() { "$u9" cat --format json --from "#$1" -n 1 whole | sed 's/.*"time":"\([^"]*\)".*/\1/'; }

# Frames without records say nothing: those of a new segment's beginning and of an index and a seal are written at other times.
between_records() {
    local log first last
    for log in gone emptied; do
        cp -R whole $log
        if [ $log = gone ]; then rm "$(segment $log 4)"; else : >"$(segment $log 4)"; fi
        for jobs in 1 3; do
            run "$fsck" -j$jobs $log
            first=$(sed -n "s/^$log: lost: records \([0-9]*\)\.\..*/\1/p" out)
            last=$(sed -n "s/^$log: lost: records [0-9]*\.\.\([0-9]*\)$/\1/p" out)
            claim "$log: what is lost was written behind the record in front of it" grep -q "^$log: lost:   after $(written $((first - 1))) (" out
            claim "$log: and before the one behind it" grep -q "^$log: lost:   before $(written $((last + 1))) (" out
        done
    done
}

jobs() {
    for log in whole bad; do
        "$fsck" -v -j1 "$log" >one
        for n in 2 3 7; do
            "$fsck" -v -j$n "$log" >more
            claim "u9fsck -j$n of the $log log says what -j1 does" cmp <(without_ages one) <(without_ages more)
        done
    done
    exits 16 'u9fsck -j0' "$fsck" -j0 whole
    exits 16 'u9fsck -jx' "$fsck" -jx whole
}

picture() {
    exits 4 'u9fsck --map' "$fsck" --map bad
    claim 'draws damage where it is' grep -Eq '^0{15}2\.u9 +=+X+[=i.]* [0-9.]+ kB$' out
    claim 'what is missing' grep -Eq '^0{15}4\.u9 +X+ missing$' out
    if [ $punched ]; then
        claim 'a hole' grep -Eq '^0{15}5\.u9 +=+X*o+X*[=i.]* [0-9.]+ kB$' out
    else
        claim 'zeros, since no hole can be made here' grep -Eq '^0{15}5\.u9 +=+X+[=i.]* [0-9.]+ kB$' out
    fi
    claim 'and what the signs are' grep -q '^o hole  X corrupt  ? unknown  t torn  = intact  i index  \. reserved$' out
    exits 0 'u9fsck --map of a whole log' "$fsck" --map whole
    claim 'draws segments that are intact once' grep -Eq '^\.\.\. +[0-9]+ more, intact$' out
    seq 1 40000 | "$u9" append --segment-size 256K --sync none short 2>/dev/null
    exits 0 'of one with short records' "$fsck" --map short
    claim 'the index at the end of a sealed segment' grep -Eq '^0{15}1\.u9 +=+i+ [0-9.]+ kB$' out
    last=$(segment short '$')
    end=$(stat -c %s "$last")
    truncate -s +256K "$last"
    exits 0 'of one whose last file is larger than what was written' "$fsck" --map short
    claim 'the space behind that' grep -Eq "^$(basename "$last") +=+\\.{5,} [0-9.]+ kB\$" out
    printf 'what was never a frame' | dd of="$last" bs=1 seek=$((end + 130000)) conv=notrunc status=none
    exits 0 'and has something in it' "$fsck" --map short
    claim 'up to where that ends it is torn' grep -Eq "^$(basename "$last") +=+t{3,}\\.{3,} [0-9.]+ kB\$" out
    exits 16 'u9fsck --repair -n --accept-loss' "$fsck" --repair -n --accept-loss bad
    exits 16 'u9fsck --map --json' "$fsck" --map --json whole
    exits 16 'u9fsck --map --salvage' "$fsck" --map --salvage x whole
    if command -v script >/dev/null; then
        TERM=xterm run script -qec "$fsck --map bad" /dev/null
        claim 'on a terminal it has colours' grep -q "$(printf '\033\\[31;1mX')" out
        TERM=xterm NO_COLOR=1 run script -qec "$fsck --map bad" /dev/null
        for columns in 36 50 61 80; do
            NO_COLOR=1 script -qec "stty cols $columns; $fsck -q --map bad" /dev/null </dev/null | tr -d '\r' | grep -v '^bad/' >out
            claim "of $columns columns it needs no more" test -z "$(awk "length > $columns" out)"
            claim "and shows what is missing and what the signs are" eval \
                'grep -Eq "^0*4\.u9 +X+ missing$" out && tr "\n" " " <out | grep -q "o hole  *X corrupt  *? unknown  *t torn  *= intact  *i index"'
        done
        TERM=xterm NO_COLOR=1 run script -qec "$fsck --map bad" /dev/null
        claim 'but not with NO_COLOR' eval '! grep -q "$(printf "\033\\[31")" out'
    else
        skip 'there is no script(1): no terminal to draw on'
    fi
}

page() {
    cp -R bad 'b<a>d'
    exits 4 'u9fsck --html' "$fsck" -q --html page.html 'b<a>d'
    claim 'makes a page with the picture' test "$(grep -o '<svg' page.html | wc -l)" -ge 6
    claim 'and no name in it is read as HTML' eval 'grep -q "<h1>b&lt;a&gt;d</h1>" page.html && ! grep -q "b<a>" page.html'
    claim 'it needs nothing else' eval '! grep -Eq "https?:|src=|<script|@import|url\(" page.html'
    claim 'it tells what is damaged' grep -q 'a segment is missing' page.html
    claim 'what was lost, and when' grep -Eq '<tr><td>[0-9]+\.\.[0-9]+<td class="t">[0-9]{4}-' page.html
    exits 12 'a page that is there is not written over' "$fsck" -q --html page.html bad
    claim 'which is told' grep -q '^u9fsck: page.html: File exists' err
    status=0
    (ulimit -f 1 && exec "$fsck" -q --html cut.html bad) >/dev/null 2>err || status=$?
    claim 'a page for which there is no room is told' eval 'same "$status" 12 && grep -q "^u9fsck: cut.html: File too large" err'
    claim 'and none is left that is cut' test ! -e cut.html
    exits 8 'nor a file of the log' "$fsck" -q --html "$(segment whole 1)" whole
    exits 0 'which is whole as before' "$fsck" whole
}

# {F62} [H-1] The secret of a file, of which its boundary is the hash, stands in nothing that is printed.
secrets() {
    local log file
    for log in whole bad; do
        for file in "$log"/*.u9; do od -An -tx1 -j8 -N16 "$file" | tr -d ' \n' && echo; done
    done | sort -u >secrets
    claim 'each file has a secret' test "$(grep -Ec '^[0-9a-f]{32}$' secrets)" -eq "$(find whole -name '*.u9' | wc -l)"
    for log in whole bad; do
        "$fsck" --verbose $log
        "$fsck" --json --verbose $log
        "$fsck" -q --html - $log
        "$fsck" --map $log
        "$fsck" --repair -n $log
        "$u9" info $log
        "$u9" info --json $log
        "$u9" mark $log
        "$u9" mark --json $log
    done >printed 2>&1
    claim 'much is printed' grep -q '^u9mark1 ' printed
    claim 'also by the boundary' grep -qiF "$("$u9" mark --json whole | sed 's/.*"boundary":"\([^"]*\)".*/\1/')" printed
    claim 'but not the secret of any file' eval '! tr -d " :-" <printed | grep -qiFf secrets'
    claim 'which would be found' eval '{ cat printed; sed -n "1s/^../& /p" secrets; } | tr -d " :-" | grep -qiFf secrets'
}

# A writer is at work while the log is checked again and again: nothing is wrong at any time.
live() {
    lines 1 300000 | "$u9" append --segment-size 1M live 2>/dev/null &
    writer=$!
    alarms=0 checks=0
    while kill -0 $writer 2>/dev/null; do
        if [ -n "$(find live -name '*.u9' 2>/dev/null)" ]; then
            "$fsck" -j2 live >live.out 2>live.err
            status=$?
            # A log that has no first frame yet is no log yet.
            [ $status -eq 0 ] || { [ $status -eq 8 ] && ! grep -q CORRUPT live.out; } || alarms=$((alarms + 1))
            checks=$((checks + 1))
        fi
    done
    wait $writer
    claim "a live log is clean at each of $checks checks" same "$alarms" 0
    exits 0 'and in the end' "$fsck" live
}

info() {
    exits 3 'u9 info of a damaged log' "$u9" info bad
    claim 'names each damaged place' test "$(grep -c '^damage  *bad/.*CORRUPT' out)" -eq 3
    run "$u9" info whole
    claim 'and none of a whole log' eval '! grep -q "^damage" out'
}

# What a person who is woken by it stumbles over.
words() {
    lines 1 500 | "$u9" append --sync none small 2>/dev/null
    lines 1 50 | "$u9" append --sync none another 2>/dev/null
    exits 4 'a line of another log' "$fsck" --mark "$("$u9" mark another)" whole
    claim 'does not make a clean log corrupt' grep -q '^whole: clean:' out
    claim 'and gives no advice about it' eval '! grep -Eq "^whole: (next|lost)" out'
    cp -R whole misnamed
    mv "$(segment misnamed 3)" misnamed/00000000000000aa.u9
    exits 0 'a segment by another name' "$fsck" misnamed
    claim 'is told with what to do' grep -q '^misnamed: next: u9fsck --repair -p misnamed gives 00000000000000aa.u9 the name of its number' out
    claim 'and nothing of it is called torn' eval '! grep -q torn out && grep -q "^misnamed: clean: " out'
    claim 'also not by u9 info' eval '"$u9" info misnamed | grep -Eq "^state +clean$"'
    claim 'or in JSON' eval '! "$fsck" --json misnamed | grep -q torn'
    cp -R whole copied
    cp "$(segment copied 3)" copied/00000000000000aa.u9
    exits 0 'a copy of a segment' "$fsck" copied
    claim 'is to be moved away, which no repair does' eval \
        'grep -q "^copied: next: 00000000000000aa.u9 is a copy .*: move it away" out && ! grep -q "next:.*--repair" out'
    cp -R whole unmarked
    : >unmarked/.mark
    exits 0 'an emptied mark' "$fsck" unmarked
    claim 'is told' grep -q '^note: unmarked/.mark is empty' out
    mkdir none renamed
    : >nothing
    cp "$(segment whole 1)" renamed/holiday.jpg
    for what in none nothing; do
        exits 8 "--repair of $what" "$fsck" --repair $what
        claim 'says so once' test "$(wc -l <err)" -eq 1
    done
    exits 8 'renamed files' "$fsck" --salvage saved renamed
    claim 'are left to --carve, which is said' grep -q -- '--carve OUT finds logs in them' err
    exits 0 'a page to standard output' "$fsck" --html - whole
    claim 'is all there is' eval 'head -n1 out | grep -q "^<!doctype html>" && tail -n1 out | grep -q "</html>"'
    claim 'and no file is made' test ! -e -
    exits 16 '--html - with --json' "$fsck" --json --html - whole
    exits 0 'a salvage of what has an end' "$fsck" --salvage again whole
    claim 'does not speak of what is beyond it' eval '! grep -q beyond out'
    cp -R small broken
    flip "$(segment broken 1)" 9
    exits 1 'an index that a repair made' "$fsck" --repair -p broken
    claim 'is there' test -e "$(segment broken 1)x"
    exits 1 'and goes with it' "$fsck" --undo broken
    claim 'when it is undone' test ! -e "$(segment broken 1)x"
    exits 0 'an index alone is no repair' "$fsck" --repair -p small
    claim 'though it is made' test -e "$(segment small 1)x"
}

# A hole that no reader could go through in time. {F61} [R-11]
endless() {
    local verb
    lines 1 1000 | "$u9" append endless 2>/dev/null
    truncate -s 1T "$(segment endless 1)" 2>/dev/null || return
    for verb in "$u9 cat" "$u9 cat --mend" "$u9 scan" "$u9 info" "$fsck -j1" "$fsck -j2" "$fsck --map" "$fsck --repair -n" \
        "$fsck --salvage endless.saved" "$fsck --carve endless.carved"; do
        exits 0 "a hole of a TiB costs \`${verb##*/}\` nothing" timeout 50 $verb endless
    done
    claim 'nor a record' same "$("$u9" cat endless.saved | wc -l)" 1000
}

make_logs
words
endless
info
tired
between_records
jobs
picture
page
secrets
live
tally
