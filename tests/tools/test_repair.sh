#!/usr/bin/env bash
# tests/tools/test_repair.sh BINDIR TMPDIR: u9fsck mends in place what is proven, undoes it, and carves logs out of
# what is none any more.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

flip() { # FILE OFFSET: its byte becomes another
    local byte
    byte=$(od -An -tu1 -j"$2" -N1 "$1")
    # shellcheck disable=SC2059 # the byte is the format
    printf "\\x$(printf %02x $((byte ^ ${3:-1})))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
segment() { ls "$1"/*.u9 | sed -n "$2p"; }
picture() { (cd "$1" && find . -type f ! -name '*.u9x' | sort | xargs sha256sum | sha256sum); }
ends() { # STATUS PATTERN SENTENCE COMMAND...
    local want=$1 pattern=$2 sentence=$3
    shift 3
    run "$@"
    claim "$sentence" eval 'same "$status" '"$want"' && grep -q -- "$pattern" out err'
}

make_logs() {
    seq 1 2000 | "$u9" append log
    seq 2001 4000 | "$u9" append log
    seq 1 500 | sed 's/^/other /' | "$u9" append other
    seq 1 4000 >want
    cp -R log whole
}

repairs() {
    cp -R whole hurt
    first=$(segment hurt 1)
    flip "$first" 11
    before=$(picture hurt)
    ends 4 'could mend (-p): .*disk header' '-n says what could be mended' "$fsck" --repair -n hurt
    claim 'and changes nothing' same "$before" "$(picture hurt)"
    ends 4 'could mend (-p): .*disk header' 'so does --repair alone' "$fsck" --repair hurt
    claim 'and changes nothing' same "$before" "$(picture hurt)"
    ends 1 '1 place mended.*bytes before are in .repair-1' '-p mends it: exit status 1' "$fsck" --repair -p hurt
    claim 'the segment is as it was' cmp "$first" "$(segment whole 1)"
    ends 0 'nothing is found that can be mended' 'then there is nothing left' "$fsck" --repair -p hurt
    ends 1 '1 place is as before' '--undo puts the bytes back' "$fsck" --undo hurt
    claim 'each of them' same "$before" "$(picture hurt)"
    ends 8 'nothing is saved' 'and then there is nothing to be undone' "$fsck" --undo hurt
}

heals() {
    # small frames: what a search takes goes with the square of a frame's size
    seq 1 600 >few
    head -n 300 few | "$u9" append bit
    tail -n 300 few | "$u9" append bit
    file=$(segment bit 1)
    # in the payload of the frame with the first records, behind the one with the u9open
    flip "$file" 6000 4
    run "$u9" cat bit
    claim 'a flipped bit costs records' test "$(wc -l <out)" -lt 600
    before=$(picture bit)
    ends 4 '1 index made' '-p leaves it, and makes the index that the segment lacks, which is no repair' "$fsck" --repair -p --heal=60s bit
    ends 1 'came back' '-y --heal finds the bit' "$fsck" --repair -y --heal=60s bit
    claim 'and says how many it tried' grep -Eq '^bit: [0-9]+ bits tried, ' out
    "$u9" cat bit >out
    claim 'and all records are there' cmp out few
    ends 1 'as before' 'it can be undone' "$fsck" --undo bit
    ends 1 'index' 'and so can the index that was made alone' "$fsck" --undo bit
    ends 4 'nothing is found that can be mended; but 1 index can be made (-p)' 'of which -n says that it can be made, not mended' "$fsck" --repair -n bit
    claim 'in each line' eval 'grep -q "^could make (-p): bit/0000000000000001.u9x: an index" out && ! grep -q "^could mend" out'
    claim 'which is gone' test -z "$(find bit -name '*.u9x')"
    claim 'byte for byte' same "$before" "$(picture bit)"
    ends 1 '"type":"step","kind":"bit".*"doing":true' 'as JSON, too' "$fsck" --json --repair -y --heal bit
}

# A header that is damaged: the second frame's, with the first records; the first one, which opens the log, ends with a block.
mends() {
    cp -R whole header
    flip "$(segment header 1)" $((4096 + 60)) 255 # its length
    "$u9" cat header >out 2>err
    claim 'a damaged header costs the records of its frame' test $? -eq 3 -a "$(wc -l <out)" -lt 4000
    claim 'and is told' grep -Eq '^u9 cat: header/0*1\.u9 \[[0-9]+,[0-9]+\): CORRUPT: .*records .* lost' err
    run "$u9" cat --mend header
    claim 'u9 cat --mend has all records: exit status 0' same "$status $(sha256sum <out)" "0 $(sha256sum <want)"
    claim 'and tells that a frame was mended' \
        grep -Eq '^u9 cat: header/0*1\.u9 \[4096,[0-9]+\): CORRUPT: .*; the frame was mended, no record is lost' err
    claim 'that one alone' same "$(wc -l <err)" 1
    claim 'the file is as it was' eval '! cmp -s "$(segment header 1)" "$(segment whole 1)"'
}

# An index is for the records that there were when it was made.
goes_on() {
    seq 1 2000 | "$u9" append on
    run "$u9" index on
    claim 'a segment has an index beside it' test -s "$(segment on 1)x"
    cp "$(segment on 1)x" made
    seq 2001 4000 | "$u9" append on
    run "$u9" index --check on
    claim 'which is stale when the segment went on' grep -q 'it is stale: the segment went on' out
    ends 0 'could make (-p): on/0*1.u9x: an index' '-n says that it can be made anew' "$fsck" --repair -n on
    claim 'and leaves it' cmp made "$(segment on 1)x"
    ends 0 '1 index made' '-p makes it anew' "$fsck" --repair -p on
    ends 0 'index beside it: 4000 records, [0-9]* entr.*all right' 'of all records: u9 index --check finds nothing' "$u9" index --check on
    claim 'nor that anything lacks one' grep -q ' 1 beside, 0 made now, 0 without; all that there is was proven' out
    ends 1 '' 'it can be undone' "$fsck" --undo on
    claim 'what was stale does not come back' test ! -e "$(segment on 1)x"
}

refuses() {
    cp -R whole linked
    flip "$(segment linked 1)" 3
    ln "$(segment linked 1)" spare
    ends 4 'next: u9fsck --repair --linked -p linked mends that, in a snapshot' 'who only says what can be mended names the option for a file with another name' \
        "$fsck" --repair linked
    ends 8 'hard links' 'a file with another name is not changed' "$fsck" --repair -p linked
    claim 'and what would change it is said' grep -q 'with --linked all its names are changed at once' err
    ends 1 'mended' 'but with --linked' "$fsck" --repair -p --linked linked
    cp -R whole led
    flip "$(segment led 1)" 3
    mv "$(segment led 1)" victim
    cp victim before
    ln -s ../victim led/0000000000000001.u9
    ends 4 'next: u9fsck --repair --linked -p led' 'so it is for a symbolic link' "$fsck" --repair led
    ends 8 'symbolic link' 'what that leads to is not changed' "$fsck" --repair -y led
    claim 'not a byte of it' cmp victim before
    ends 1 'mended' 'but with --linked' "$fsck" --repair -y --linked led
    ends 8 'symbolic link' 'nor is it undone' "$fsck" --undo led
    ends 1 'as before' 'but with --linked' "$fsck" --undo --linked led
    claim 'byte for byte' cmp victim before
    cp -R whole live
    flip "$(segment live 1)" 3
    mkfifo pipe
    "$u9" append live --print-keys <pipe >keys &
    writer=$!
    exec 7>pipe
    echo more >&7
    while ! [ -s keys ]; do # until it is at work; who asks for the lock might have it first
        kill -0 $writer || break
    done
    ends 8 'another writer' 'a log that somebody writes to is left alone' "$fsck" --repair -y live
    exec 7>&-
    wait $writer
    ends 1 'mended' 'and mended afterwards' "$fsck" --repair -p live
}

# As many indexes are said to be made as are.
emptied() {
    seq 1 5000 | "$u9" append --segment-size 64K hollow
    : >"$(segment hollow "$(find hollow -name '*.u9' | wc -l)")"
    ends 4 'nothing is found that can be mended; but 1 index can be made (-p)' 'no index can be made of a segment without a frame' "$fsck" --repair hollow
    ends 4 'but 1 index made' 'and none is' "$fsck" --repair -p hollow
    ends 4 'hollow: nothing is found that can be mended$' 'nor is one said to be left' "$fsck" --repair hollow
}

# A segment that was trimmed since has nothing to undo; one that was taken away has.
trims() {
    seq 1 8000 | "$u9" append --segment-size 64K trimmed
    cp -R trimmed hurt.trimmed
    for number in 1 3; do flip "$(segment hurt.trimmed $number)" 3; done
    third=$(segment hurt.trimmed 3)
    cp "$third" third
    cp -R hurt.trimmed away
    ends 1 '2 places mended' 'two segments are mended' "$fsck" --repair -p hurt.trimmed
    "$u9" trim hurt.trimmed --before "#$("$u9" cat hurt.trimmed/0000000000000001.u9 | wc -l)"
    claim 'and the first is trimmed' eval '! test -e hurt.trimmed/0000000000000001.u9 && test -e "$third"'
    ends 1 '^hurt.trimmed: 1 place is as before' 'what is left of that repair is undone' "$fsck" --undo hurt.trimmed
    claim 'and what is not is told' grep -q '^hurt.trimmed: 1 of the places that were mended went with segments that were trimmed since' out
    claim 'the other is what it was' cmp third "$third"
    ends 8 'nothing is saved' 'and then there is nothing to be undone' "$fsck" --undo hurt.trimmed
    "$fsck" -q --repair -p away
    mv away/0000000000000001.u9 kept
    ends 8 'the file is not here, and was not trimmed' 'what is only away is to be put back first' "$fsck" --undo away
    mv kept away/0000000000000001.u9
    ends 1 '2 places are as before' 'and then both are undone' "$fsck" --undo away
}

# What cannot be made beside the log leaves it mended, and that is told.
indexes() {
    seq 1 5000 | "$u9" append --segment-size 64K beside
    flip "$(segment beside 2)" 3
    last=$(find beside -name '*.u9' | wc -l)
    seq 5001 5100 | "$u9" append beside
    before=$(picture beside)
    name=$(segment beside "$last")
    rm -f beside/*.u9x
    mkdir "${name}x"
    ends 4 '^beside: 1 place can be mended' 'who asks what could be mended is told' "$fsck" --repair beside
    ends 9 '1 place mended.*; the bytes before are in .repair-1, --undo puts them back$' \
        'a repair that cannot make an index mends all the same, and says so: 1 and 8 at once' "$fsck" --repair -p beside
    claim 'with why' grep -q '^u9fsck: beside: cannot make an index' err
    claim 'and with what is left' grep -q '^beside: clean: 5100 records' out
    rmdir "${name}x"
    ends 1 '1 place is as before' 'that can be undone' "$fsck" --undo beside
    claim 'byte for byte' same "$before" "$(picture beside)"
    claim 'and no index stays' test -z "$(find beside -name '*.u9x')"
}

names() {
    cp -R whole mixed
    a=$(segment mixed 1)
    cp whole/"$(basename "$a")" one
    mv "$a" mixed/00000000000000aa.u9
    ends 1 "the file gets the name of its number: $(basename "$a")" 'a misnamed segment gets its name' "$fsck" --repair -p mixed
    claim 'with its bytes' cmp one "$a"
}

carves() {
    head -c 123457 /dev/urandom >image
    cat "$(segment other 1)" >>image
    head -c 4321 /dev/urandom >>image
    cat "$(segment whole 1)" >>image
    head -c 50000 /dev/zero >>image
    ends 0 '2 logs, 2 segments' 'logs are carved out of an image' "$fsck" --carve carved image
    claim 'each into its own directory' test "$(find carved -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 2
    for dir in carved/*; do "$u9" cat "$dir" | sha256sum; done | sort >got
    { "$u9" cat other | sha256sum; "$u9" cat whole | sha256sum; } | sort >wanted
    claim 'with all their records' cmp got wanted
    ends 8 'already exists' 'nothing is overwritten' "$fsck" --carve carved image
    for way in '--carve new' --undo; do # shellcheck disable=SC2086 # words
        ends 16 '--map and --html go without' "no picture is made by $way" "$fsck" $way --map --html page.html image
    done
    claim 'nor anything else' test ! -e new -a ! -e page.html
    mkdir renamed
    cp "$(segment whole 1)" renamed/holiday.jpg
    ends 0 '1 log, ' 'renamed files are a log again' "$fsck" --carve again renamed
    "$u9" cat again/* >out.txt
    claim 'with all records' cmp out.txt want
    cp "$(segment whole 1)" half
    harm half 1999
    ends 4 'half.out: next: u9fsck LOG says of each log' 'of what is damaged in an image the next step is said' "$fsck" --carve half.out half
    head -c 100000 /dev/urandom >noise
    ends 8 'no frame of a log' 'in noise there is none' "$fsck" --carve none noise
    claim 'and nothing is made' test ! -e none
    ends 0 '"type":"carved".*"proven":true' 'as JSON, too' "$fsck" --json --carve json image
    seq 30000 | "$u9" append --segment-size 64K endless
    rm endless/.mark "$(segment endless "$(ls endless | wc -l)")"
    ends 3 'ordinals  *from 0 on$' 'of a log whose end is missing it is not said where that was' "$u9" info endless
    ends 4 '"next_ordinal":null' 'as JSON, too' "$fsck" --json endless
    claim 'quietly no word of a log that is whole' same "$("$fsck" -q --carve hushed image 2>&1)" ''
    claim 'but of one that is not' test "$("$fsck" -q --carve hushed.half half | wc -l)" -eq 1
    head -c 2000000 /dev/zero | tr '\0' x >big
    "$u9" append --whole large big
    mkdir extents
    head -c 1000000 "$(segment large 1)" >extents/1
    tail -c +65537 "$(segment whole 1)" >>extents/1
    head -c 65536 "$(segment whole 1)" >extents/2
    ends 4 'of 1 more there is a header, and not the rest; 1 whole frame is left out, as it may be' \
        'what may be a record is counted' "$fsck" --carve apart extents
    ends 4 '"held":"1"' 'as JSON, too' "$fsck" --json --carve apart.json extents
}

make_logs
repairs
heals
mends
goes_on
refuses
emptied
trims
indexes
names
carves
tally
