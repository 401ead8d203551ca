#!/usr/bin/env bash
# tests/tools/test_next.sh BINDIR TMPDIR: a person with a damaged log does what u9fsck says next, and nothing else: it helps, is not
# what was just done, and loses nothing without a word of it.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

segment() { find "$1" -name '*.u9' | sort | sed -n "$2p"; }
flip() { # FILE OFFSET: one bit
    local byte
    byte=$(od -An -tu1 -j"$2" -N1 "$1")
    # shellcheck disable=SC2059 # the byte is the format
    printf "\\x$(printf %02x $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
first_record() { LC_ALL=C grep -abo 'record ' "$1" | sed -n '1{s/:.*//p;q}'; } # wherever its frame begins
zeros() { dd if=/dev/zero of="$1" bs=4096 seek="$2" count="$3" conv=notrunc status=none; }
next() { sed -n "s/^$1: next: //p" out; }

# damaged NAME: a copy of the whole log, for the caller to harm.
damaged() { rm -rf "$1" && cp -R whole "$1"; }

# writes LOG: a writer does as u9fsck said.
writes() {
    local log=$1 got=0
    rm -rf try && cp -R "$log" try
    echo late | "$u9" append --sync none try >try.out 2>&1 || got=$?
    case $(next "$log") in
    *'writers refuse'*) claim "$log: writers do refuse it" test $got -ne 0 ;;
    *'a writer goes on'*) claim "$log: a writer does go on" same $got 0 ;;
    *'append nothing'*) claim "$log: a writer would go on" same $got 0 ;;
    *) claim "$log: what writers do is said" grep -q 'accept\|next append\|move\|-p ' <(next "$log") ;;
    esac
}

# looked STATUS LOG: u9fsck, whose lines a terminal has room for, but for those of each place.
looked() {
    local want=$1 log=$2
    run "$fsck" "$log"
    writes "$log"
    claim "$log: u9fsck exits with $want" same "$status" "$want"
    claim "$log: its lines fit a terminal" test -z "$(grep -Ev "^(note: )?$log/" out | awk 'length > 100')"
}

# follows LOG PATTERN: one of what is said to be next has this, and is a command that is run; its answer is in out.
follows() {
    local log=$1 pattern=$2 command
    command=$(next "$log" | grep -o -- 'u9\(fsck\)\? -.*\|u9 trim .*' | grep -- "$pattern" | head -n 1)
    claim "$log: next is $pattern" test -n "$command"
    [ -n "$command" ] || return 0
    command=$(echo "$command" | sed 's/ \(says\|copies\|mends\|gives\|finds\|looks\|saves\|makes\|brings\).*//; s/;.*//; s/OUT/made/')
    # shellcheck disable=SC2086 # words
    case $command in u9fsck*) run "$fsck" ${command#u9fsck} ;; *) run "$u9" ${command#u9} ;; esac
    claim "$log: and not once more" eval '! next "$log" | grep -qF -- "$command "'
}

clean() { # LOG [RECORDS]
    local log=$1
    run "$fsck" "$log"
    claim "$log is clean" eval 'same "$status" 0 && grep -q "^$log: clean" out && test -z "$(next "$log")"'
    claim "with ${2:-all} records" same "$("$u9" cat "$log" | wc -l)" "${2:-12000}"
}

make_log() {
    seq -f 'record %.0f' 12000 | "$u9" append --segment-size 64K --sync none whole
    seq -f 'other %.0f' 3000 | "$u9" append --segment-size 64K --sync none other
    last=$(find whole -name '*.u9' | wc -l)
    claim 'there are several segments' test "$last" -gt 4
}

truncated() {
    damaged end
    truncate -s "$(first_record "$(segment end "$last")")" "$(segment end "$last")"
    cp -R end put
    cp -R end early
    looked 4 end
    claim 'to append is not said to be safe' grep -q '^end: next: append nothing before that is decided' out
    follows end '--heal end'
    claim 'what would be lost is said first' grep -Eq '^end: --accept-loss would give up [0-9]+ records from [0-9]+ on' out
    claim 'nothing was changed by that' diff -r put end
    follows end '--accept-loss'
    claim 'what was lost is said' grep -Eq '^end: given up [0-9]+ records from [0-9]+ on' out
    clean end "$("$u9" cat put 2>/dev/null | wc -l)"
    cp "$(segment whole "$last")" put
    clean put
    seq 3 | "$u9" append early 2>err
    claim 'an append is told what it costs' same "$(grep -c 'these records are lost; an append goes behind them\|still brings them back' err)" 2
    looked 4 early
    claim 'and gives the loss up no more' eval '! next early | grep -q accept-loss'
    cp "$(segment whole "$last")" early
    clean early 12003
    damaged top
    rm "$(segment top "$last")"
    for verb in "append top /dev/null" "trim --keep 64K top"; do
        # shellcheck disable=SC2086 # words
        run "$u9" $verb
        claim "u9 ${verb%% *} that is refused names what gives the loss up" grep -Eq '^u9 .*: u9fsck --repair --accept-loss top \([0-9]+ records? from [0-9]+ on\)$' err
    done
    "$u9" send whole 2>/dev/null | run "$u9" recv top
    claim 'u9 recv, too' grep -q 'u9fsck --repair --accept-loss top' err
    looked 4 top
    follows top '--repair top'
    follows top '--accept-loss'
    clean top "$("$u9" cat top | wc -l)"
}

middle() {
    damaged cut
    truncate -s "$(first_record "$(segment cut 2)")" "$(segment cut 2)"
    looked 4 cut
    claim 'of a segment that ends early a whole copy is asked for' eval 'next cut | grep -q "^0000000000000002.u9 ends too early: put a whole or newer copy"'
    follows cut '--repair cut'
    follows cut '--salvage'
    clean made "$("$u9" cat cut 2>/dev/null | wc -l)"
    rm -rf made
    damaged gone
    rm "$(segment gone 2)"
    looked 4 gone
    claim 'a missing segment is asked for' eval 'next gone | grep -q "^put the missing segment back (0000000000000002.u9), from"'
    claim 'no repair is said to bring a missing segment' eval '! next gone | grep -q -- --repair'
    cp "$(segment whole 2)" gone
    clean gone
    damaged row
    rm row/0000000000000002.u9 row/0000000000000003.u9 row/0000000000000004.u9
    looked 4 row
    claim 'of several in a row all are asked for' eval 'next row | grep -q "^put the missing segments back (up to 0000000000000004.u9)"'
    cp whole/000000000000000[234].u9 row
    clean row
    damaged first
    rm "$(segment first 1)"
    looked 4 first
    follows first 'trim --accept'
    clean first "$("$u9" cat first | wc -l)"
}

bytes() {
    damaged zero
    dd if=/dev/zero of="$(segment zero 2)" bs=1 seek="$(first_record "$(segment zero 2)")" count=64 conv=notrunc status=none
    looked 4 zero
    follows zero '--salvage'
    clean made "$("$u9" cat zero 2>/dev/null | wc -l)"
    rm -rf made
    damaged header
    zeros "$(segment header 2)" 0 1
    cp -R header header.before
    looked 4 header
    follows header '--repair header'
    follows header '--repair -p header'
    claim 'what no repair brings is said to hold no record' grep -q '^header: next: that log is clean; here, what is damaged holds no record' out
    run "$fsck" --repair -y header
    claim 'and no repair is said to be next then' eval '! next header | grep -q -- --repair'
    run "$fsck" --salvage made header
    clean made
    rm -rf made
    run "$fsck" --undo header
    claim 'an undo leaves nothing of a repair' diff -r header.before header
    seq -f 'record %.0f' 200 >few
    "$u9" append bit <few
    cp -R bit bit.whole
    flip "$(segment bit 1)" "$(first_record "$(segment bit 1)")"
    looked 4 bit
    follows bit '--heal bit'
    follows bit '--heal -y bit'
    clean bit 200
    claim 'byte for byte' cmp "$(segment bit 1)" "$(segment bit.whole 1)"
    cp -R bit.whole lost
    zeros "$(segment lost 1)" 0 1
    zeros "$(segment lost 1)" $(($(stat -c %s "$(segment lost 1)") / 4096 - 1)) 1
    rm lost/.mark
    looked 4 lost
    follows lost '--salvage'
    claim 'what nothing signs is told' grep -q '^made: 200 of them unsigned: ' out
    clean made 200
    rm -rf made
}

files() {
    damaged twice
    cp "$(segment twice 2)" twice/00000000000000aa.u9
    looked 0 twice
    claim 'a copy is to be moved away' eval 'next twice | grep -q "^00000000000000aa.u9 is a copy .* move it away$"'
    rm twice/00000000000000aa.u9
    clean twice
    damaged named
    mv "$(segment named 2)" named/00000000000000aa.u9
    looked 0 named
    follows named '--repair -p'
    clean named
    if strace -o /dev/null true 2>/dev/null; then
        damaged swap
        first=$(segment swap 1) second=$(segment swap 2)
        mv "$first" aside && mv "$second" "$first" && mv aside "$second"
        # the first call names what is saved, the second gives a file its name aside
        U9_IO=posix strace -f -o /dev/null -e trace=renameat -e inject=renameat:signal=SIGKILL:when=3 \
            "$fsck" -q --repair -p swap >out 2>&1
        claim 'a repair was broken off between names' test -n "$(find swap -name '.repair-1.*.name')"
        looked 4 swap
        claim 'nothing is to be put back then, or given up' eval '! next swap | grep -q "put the\|accept"'
        follows swap '--repair -p'
        clean swap
    else
        skip 'a repair that is broken off between names: no strace here'
    fi
    damaged foreign
    cp "$(segment other 1)" foreign/00000000000000bb.u9
    looked 4 foreign
    claim 'a foreign one is to be moved out, and nothing else is asked' eval 'next foreign | grep -q "^00000000000000bb.u9 is none of this log: move it out" && ! next foreign | grep -q u9fsck'
    rm foreign/00000000000000bb.u9
    clean foreign
    damaged renamed
    for file in renamed/*.u9; do mv "$file" "${file%.u9}.bak"; done
    looked 4 renamed
    claim 'nothing is to be given up where files have other names' eval '! next renamed | grep -q "accept-loss\|--repair"'
    follows renamed '--carve'
    mv made/* carved
    rmdir made
    clean carved
    damaged mark
    printf XXXX | dd of=mark/.mark bs=1 seek=100 conv=notrunc status=none
    printf XXXX | dd of=mark/.mark bs=1 seek=4196 conv=notrunc status=none
    looked 4 mark
    claim 'a damaged mark is made anew by an append' eval 'next mark | grep -q "the next append writes it anew"'
    seq 3 | "$u9" append mark
    run "$fsck" mark
    claim 'and so it is' same "$status" 0
}

# unknown LOG: its last segment ends in bytes that look like no crash, and nothing outside of it tells of its end.
unknown() {
    local last
    last=$(find "$1" -name '*.u9' | sort | tail -n 1)
    truncate -s -4096 "$last"
    head -c 700 /dev/zero | tr '\0' Z >>"$last"
    rm -f "$1/.mark"
}

ends() {
    "$u9" append tail <few
    unknown tail
    cp -R tail on
    looked 4 tail
    follows tail '--repair tail'
    follows tail '--accept-loss'
    claim 'that is said' grep -q '^tail: accepted 1 end that nobody can judge: they are told no more, as 0000000000000002.u9 says$' out
    clean tail 200
    seq 3 | "$u9" append on 2>err
    looked 4 on
    claim 'nothing is said to be mended behind an end that is passed' eval '! next on | grep -q -- --repair on'
    follows on '--accept-loss'
    clean on 203
    seq 3 | "$u9" append on
    clean on 206
    unknown on
    looked 4 on
    run "$fsck" --json --repair --accept-loss tail
    claim 'where none is, nothing is accepted' eval 'same "$status" 0 && ! grep -q accepted out'
}

# The frame that closes a log is gone, and with it, perhaps, what was appended behind it: all tools that read say the same.
closing() {
    local verb
    "$u9" append short <few
    zeros short/0000000000000001.u9 $(($(stat -c %s short/0000000000000001.u9) / 4096 - 1)) 1
    run "$fsck" short
    claim 'what came behind a mark that is not met may be lost' eval \
        'same "$status" 4 && grep -q "^short: next: all that its mark counts is read in full; what came behind that may be lost$" out'
    for verb in cat info scan tail; do
        run "$u9" $verb short
        claim "u9 $verb exits as if records were lost" same "$status" 3
    done
}

# Bits in what is no record: behind the data of a segment, in the frame that closes the log.
seals() {
    local file
    for log in seal index; do
        damaged $log
        file=$(segment $log 2)
        if [ $log = seal ]; then flip "$file" $(($(stat -c %s "$file") - 3996)); else head -c 700 few >>"$file"; fi
        cp -R $log $log.hurt
        run "$u9" cat $log
        claim 'who reads records is not told of what holds none' same "$status $(wc -l <out) $(cat err)" '0 12000 '
        looked 4 $log
        follows $log '--repair --heal'
        if [ $log = seal ]; then
            follows $log '--heal -y'
            claim 'the seal is what it was' cmp "$file" "$(segment whole 2)"
        else
            follows $log '-p'
        fi
        clean $log
        run "$fsck" --undo $log
        claim 'and an undo takes that back' diff -r $log $log.hurt
    done
    cp -R bit.whole close
    file=$(segment close 1)
    flip "$file" $(($(stat -c %s "$file") - 3996))
    cp -R close open
    looked 4 close
    follows close '--repair --heal'
    claim 'nothing is given up before it is mended' eval '! next close | grep -q -- "--accept-loss close"'
    follows close '--heal -y'
    clean close 200
    zeros "$(segment open 1)" $(($(stat -c %s "$(segment open 1)") / 4096 - 1)) 1
    looked 4 open
    follows open '--repair open'
    claim 'no record is said to be given up' grep -q '^open: --accept-loss would give up the end as it was, with no fewer records' out
    follows open '--accept-loss'
    clean open 200
}

# Files of 0 bytes, as file systems leave them behind a crash: each is named, and between which records they were.
empties() {
    damaged empty
    : >"$(segment empty 2)"
    : >"$(segment empty 3)"
    run "$fsck" empty
    writes empty
    claim 'each of two that are empty is named' same "$(grep -c '^empty: lost:   in 000000000000000[23].u9, which is empty$' out)" 2
    claim 'with which records these held' grep -Eqx 'empty: lost: records [0-9]+\.\.[0-9]+' out
    claim 'and whole copies are asked for' eval 'next empty | grep -qx "0000000000000002.u9 to 0000000000000003.u9 are empty or missing: put whole copies there"'
    claim 'which no repair makes' eval '! next empty | grep -e --repair'
    cp whole/000000000000000[23].u9 empty
    clean empty
    rm empty/0000000000000002.u9
    : >empty/0000000000000003.u9
    run "$fsck" empty
    writes empty
    claim 'one that is missing beside one that is empty is named, too' eval \
        'grep -qx "empty: lost:   in 0000000000000002.u9, which is not here" out && grep -qx "empty: lost:   in 0000000000000003.u9, which is empty" out'
    cp whole/000000000000000[23].u9 empty
    rm empty/0000000000000003.u9
    : >empty/0000000000000002.u9
    run "$fsck" empty
    writes empty
    claim 'and the other way round' eval \
        'grep -qx "empty: lost:   in 0000000000000002.u9, which is empty" out && grep -qx "empty: lost:   in 0000000000000003.u9, which is not here" out'
    cp whole/000000000000000[23].u9 empty
    : >empty/0000000000000002.u9
    run "$fsck" empty
    writes empty
    claim 'of one alone it is said that it is empty' eval 'next empty | grep -q "^0000000000000002.u9 is empty: put a whole copy of it there"'
    cp whole/0000000000000002.u9 empty
    rm empty/.mark
    : >"$(segment empty "$last")"
    : >"$(segment empty $((last - 1)))"
    run "$fsck" empty
    kept=$("$u9" cat empty 2>/dev/null | wc -l)
    claim 'at the end, where nothing says how many records there were, it is from which on' \
        grep -q "^empty: lost: records of $(basename "$(segment whole $((last - 1)))"), which is not known: from $kept on$" out
    claim 'and both are named' same "$(grep -c '^empty: lost:   in 000000000000000[0-9].u9, which is empty$' out)" 2
    cp whole/*.u9 whole/.mark empty
    : >"$(segment empty 1)"
    : >"$(segment empty 2)"
    run "$fsck" empty
    claim 'at the beginning both are named' same "$(grep -c '^empty: lost:   in 000000000000000[12].u9, which is empty$' out)" 2
    claim 'and up to which record these are' grep -Eq \
        "^empty: lost: records of 0000000000000002.u9, which is not known: some of 0\.\.$((12000 - $("$u9" cat empty 2>/dev/null | wc -l) - 1))$" out
    for file in empty/*.u9; do : >"$file"; done
    run "$fsck" empty
    writes empty
    claim 'of all, the mark says how many there were' grep -q '^empty: lost: records of .*, which is not known: some of 0\.\.11999$' out
    run "$fsck" --json empty
    claim 'in JSON, too' eval 'tail -n 1 out | grep -q "\"within\":{\"from\":\"0\",\"to\":\"12000\"},\"places\":\[{\"file\":\"0000000000000001.u9\",\"stands\":\"empty\"}"'
    run "$fsck" empty
    claim 'and nothing is to be given up where nothing is left to go on from' eval '! next empty | grep -e accept -e --repair'
    cp whole/*.u9 empty
    clean empty
}

# What stands where a segment should, or beside them.
strangers() {
    damaged d
    rm "$(segment d 2)"
    mkdir d/0000000000000002.u9
    run "$fsck" d
    writes d
    claim 'a directory is to be moved out, and the segment put back' same "$(next d | grep -c '^0000000000000002.u9 is a directory: move it out of the directory$\|^put the missing segment back (0000000000000002.u9)')" 2
    rmdir d/0000000000000002.u9
    cp "$(segment whole 2)" d
    clean d
    mkfifo d/0000000000000077.u9
    run "$fsck" d
    claim 'a FIFO beside them is only to be moved out' same "$(next d | grep -v 'a writer goes on')" \
        '0000000000000077.u9 is a FIFO: move it out of the directory'
    rm d/0000000000000077.u9
    for number in 1 2 "$last"; do # the oldest, one within, the newest: what they say may be on a disk that is not mounted
        damaged link
        file=$(segment link "$number") name=$(basename "$file")
        mkdir -p disk
        mv "$file" disk
        ln -s ../disk/"$name" link
        clean link
        mv disk unmounted
        cp -PR link before
        run "$fsck" link
        writes link
        claim 'a link to nothing is told, with where it leads' eval \
            'next link | grep -qx "$name is a link to ../disk/$name, which is not there: bring that back first, as by a mount"'
        claim 'and nothing is offered by which anything is given up' eval '! next link | grep "accept"'
        run "$u9" trim --accept link
        claim 'nor is it given up if asked' eval 'same "$status" 1 && grep -q "no file stands here" err'
        run "$u9" append link few
        claim 'and who appends is told what stands there' eval 'same "$status" 1 && grep -q "/$name: no file stands here" err'
        run "$u9" info link
        claim 'also by u9 info nothing is offered' eval '! grep "accept" err'
        run "$fsck" --repair --accept-loss link
        claim 'whatever is asked, it is as it was' diff -r --no-dereference before link
        rm -rf before
        mv unmounted disk
        clean link
    done
    rm -rf disk
    ln -s "$(printf 'gone\033[31m\377')" link/0000000000000077.u9
    run "$fsck" --json link
    claim 'what a link says does nothing to a terminal' grep -q '"0000000000000077.u9 is a link to gone?.31m?, which is not there: ' out
    rm link/0000000000000077.u9
    damaged swap
    mv swap/0000000000000002.u9 kept
    mv swap/0000000000000003.u9 swap/0000000000000002.u9
    mv kept swap/0000000000000003.u9
    looked 0 swap
    follows swap '--repair -p'
    clean swap
    damaged void
    file=$(segment void 2)
    head -c "$(stat -c %s "$file")" /dev/zero >void.bytes
    cat void.bytes >"$file"
    looked 4 void
    cp "$(segment whole 2)" void
    clean void
    cp other/.mark void
    run "$fsck" void
    claim 'a mark of another log is told' grep -q '^note: void/.mark is of another log' out
    seq 3 | "$u9" append void
    run "$fsck" void
    claim 'until an append makes one' eval '! grep -q note out'
    damaged top
    cp "$(segment top 2)" "$(segment top "$last")"
    looked 4 top
    claim 'what stands in the place of the newest is not called that' eval 'next top | grep -q "^put the missing segment back ($(basename "$(segment top "$last")"))" && ! next top | grep -q "too early"'
    cp "$(segment whole "$last")" top
    clean top
    damaged mixed
    echo junk >mixed/.repair-1
    run "$fsck" --repair -p mixed
    claim 'saved bytes that are damaged are said to be in the way' grep -q '^u9fsck: mixed/.repair-1: .* is in the way until it is moved out' err
    rm mixed/.repair-1
    run "$fsck" --repair -p mixed
    claim 'and without them a repair goes on' same "$(cat err)" ''
    cp -R whole newer
    echo more | "$u9" append newer
    cp "$(segment whole "$last")" newer
    looked 4 newer
    claim 'a newer copy is asked for' eval 'next newer | grep -q "ends too early: put a whole or newer copy"'
    follows newer '--repair newer'
    follows newer '--accept-loss'
    clean newer
}

# One byte more in the midst of a file: all behind it is whole, where no reader looks for it.
shifted() {
    for i in $(seq 20); do seq "$i" $((i + 4)) | "$u9" append --sync none more; done
    file=$(segment more 1)
    at=$(LC_ALL=C grep -abo u9frame "$file" | sed -n '4{s/:.*//p;q}')
    { head -c "$at" "$file" && printf x && tail -c +$((at + 1)) "$file"; } >longer
    cat longer >"$file"
    looked 4 more
    claim 'of a file that is longer it is not said that it ends too early' eval \
        'next more | grep -q "^0000000000000001.u9 is not as it was: put a whole or newer copy of it there" && ! grep -q "too early" out'
    follows more --carve
    mv made/* carved.more
    claim 'which finds all that is whole' test "$("$u9" cat carved.more 2>cat.err | wc -l)" -ge 95
    rmdir made
}

# A log of one segment, which is no more what it was: what is said holds, with a mark and without.
alone() {
    for how in noise nothing; do
        rm -rf one && cp -R bit.whole one
        if [ $how = noise ]; then "$u9" append bits <few && cat bits/*.u9 | tr '\0-\377' '\1-\377\0' >one/0000000000000001.u9; else : >one/0000000000000001.u9; fi
        looked 4 one
        claim "of one segment of $how the mark says what was lost" grep -q '^one: lost: records 0\.\.199$' out
        claim 'and to append is not said to be safe' eval 'next one | grep -q "^append nothing: the loss would be final"'
        cp "$(segment bit.whole 1)" one
        clean one 200
        rm -rf bits
    done
    "$u9" append bits <few && cat bits/*.u9 | tr '\0-\377' '\1-\377\0' >one/0000000000000001.u9
    rm one/.mark
    rm -rf bare && cp -R bit.whole bare && rm bare/*.u9
    for how in -n -p -y '-p --accept-loss'; do
        # shellcheck disable=SC2086 # words
        run "$fsck" --repair $how bare
        claim "of a mark alone --repair $how says what it promises" eval 'same "$status" 4 && grep -q "^bare: lost: records 0\.\.199$" out'
    done
    looked 4 one
    claim 'without a mark a whole copy is asked for' same "$(next one | head -n 1)" \
        'nothing here is a segment that can be read: put a whole copy of 0000000000000001.u9 there'
    claim 'and nobody is told to append for one' eval '! grep -q "u9 append" out'
    cp "$(segment bit.whole 1)" one
    clean one 200
}

lines() {
    "$u9" append a <few
    cp -R a b
    seq 5 | "$u9" append a
    seq 7 | "$u9" append b
    cp b/0000000000000001.u9 a/0000000000000002.u9
    looked 4 a
    claim 'of two lines it is said that writers refuse' eval 'next a | grep -q "writers refuse the log$"'
    claim 'and nothing of a name that is not free, or of what is not given up' eval '! next a | grep -q -- "--repair"'
    follows a '--salvage'
    clean made 207
    clean made.fork-2 5
    rm -rf made made.fork-2
}

# A limit on the size of files stands for a disk that is full.
full() {
    damaged room
    zeros "$(segment room 2)" 0 1
    rm -f room/*.u9x
    cp -R room room.before
    status=0
    (ulimit -f 4 && exec "$fsck" --repair -p room) >out 2>err || status=$?
    claim 'a repair without room is an operational error' same "$status" 8
    claim 'which says what is full' grep -q '^u9fsck: room: .*: File too large' err
    claim 'and that nothing was changed' eval 'grep -q "^u9fsck: room: nothing of it was changed" err && diff -r room.before room'
    (ulimit -f 16 && exec "$fsck" --carve found whole) >out 2>err
    claim 'a carve without room says so of OUT' eval 'grep -q "^u9fsck: found/.*File too large" err && grep -q "^u9fsck: whole was only read" err'
    run "$fsck" --carve found whole
    claim 'and goes on when there is' same "$status" 0
    run "$fsck" --json --salvage salvaged cut
    claim 'behind a salvage nothing is next' eval 'tail -n 1 out | grep -q "\"next\":\[\]"'
}

# What is said to be typed is typed, as it stands, and means this log.
names() {
    local name command
    for name in 'a log' "it's" '-dash' '$HOME' '*' '~' $'two\nlines' $'it\'s \\ \x1b[2J' 'ümlaut' "$(printf '%250s' x)"; do
        cp -R whole "./$name"
        dd if=/dev/zero of="./$name/0000000000000002.u9" bs=32 count=1 conv=notrunc status=none
        run "$fsck" --repair -- "$name"
        claim "${name@Q}: a line stays one, and does nothing to a terminal" eval \
            'test "$(tr -d "\n" <out | LC_ALL=C tr -dc "\0-\037\177" | wc -c)" -eq 0 && ! grep -q "^lines" out'
        status=0
        command=$(sed -n 's/.*: next: \(u9fsck --repair -[py] .*\) mends that; --undo takes it back$/\1/p' out)
        claim "${name@Q}: what mends it is said" test -n "$command"
        (u9fsck() { "$fsck" "$@"; } && eval "$command") >out 2>err || status=$?
        claim "${name@Q}: and does" same "$status" 1
        run "$fsck" "./$name"
        claim "${name@Q}: it is clean then" same "$status" 0
        rm -rf "./$name"
    done
    name=$(printf '%0200d/%0200d/%0200d' 1 2 3)
    mkdir -p "$name" && cp -R whole "$name/log" && zeros "$(segment "$name/log" 2)" 0 1
    run "$fsck" "$name/log"
    claim 'of a very long name commands have LOG' grep -q 'next: u9fsck --repair LOG says' out
}

make_log
names
truncated
middle
bytes
files
ends
closing
seals
empties
strangers
shifted
alone
lines
full
tally
