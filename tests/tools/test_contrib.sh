#!/usr/bin/env bash
# tests/tools/test_contrib.sh BINDIR TMPDIR: u9read.py, written after SPEC.md, reads what u9 cat reads, from logs of
# the first version and from new ones, and tells as u9fsck does where they are damaged, and what is lost by it;
# file(1) knows a log. [H-1] [F-6] [R-3] [L-2] [L-9] [M-4] [J-5] [J-6] [J-8]
here=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
contrib=$here/tools/contrib
golden=$here/tests/golden/v1
python=/usr/bin/python3
[ -x $python ] || python=python3
python="$python -S -E -B"

# reads LOG: fills ours and ours.err; its exit status. What read_all has read is there already.
reads() {
    local before=read/${1##*/}
    if [ -e "$before.status" ]; then
        cp "$before.out" ours && cp "$before.err" ours.err
        return "$(cat "$before.status")"
    fi
    $python "$contrib/u9read.py" "$1" >ours 2>ours.err
}
# read_all LOG...: of other names each, by one process, which forks.
read_all() {
    mkdir read
    $python - "$contrib" "$@" <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import u9read
for log in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        for fd, name in ((1, 'out'), (2, 'err')):
            os.dup2(os.open('read/%s.%s' % (os.path.basename(log), name), os.O_WRONLY | os.O_CREAT), fd)
        sys.argv = ['u9read.py', log]
        u9read.main()
    with open('read/%s.status' % os.path.basename(log), 'w') as said:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=said)
END
}

# What is told of damage, without the words: file, range, verdict, reason; of a name the file. [R-15]
places() {
    sed -nE -e 's/^(u9read: )?note: (.*\.u9)( \[[0-9]+,[0-9]+\): torn)?: name[:;].*$/\2: name/p' \
        -e 's/^(u9read: )?(note: )?(.*\[[0-9]+,[0-9]+\): [A-Za-z]+: [a-z]+)[:;].*$/\3/p' "$1"
}

# The same records as u9 cat, the same damage as u9fsck, which also tells what costs u9 cat nothing.
agree() {
    "$u9" cat --format json "$1" >theirs 2>/dev/null
    "$fsck" "$1" >theirs.err 2>&1
    reads "$1"
    status=$?
    local damaged=0
    ! grep -qE '\): (CORRUPT|UNKNOWN): ' theirs.err || damaged=1
    cmp theirs ours && diff <(places theirs.err) <(places ours.err) && test "$status" -eq "$damaged"
}

# Each damage of an expectation: verdict, reason, segment, range, and what is lost. [R-3] [R-15]
expected() {
    sed -nE 's/^damage ([a-z]+) ([a-z]+) ([0-9]+) ([0-9]+) ([0-9]+) [0-9?]+ ([0-9?]+).*$/\1 \2 \3 \4 \5 \6/p' "$1" >wanted
    tr '[:upper:]' '[:lower:]' <ours.err |
        sed -nE 's/^.*0*([1-9a-f][0-9a-f]*)\.u9 \[([0-9]+),([0-9]+)\): ([a-z]+): ([a-z]+); lost: (at most )?([0-9?]+)$/\4 \5 \1 \2 \3 \7/p' >told
    diff wanted told && test "$(wc -l <told)" -eq "$(wc -l <ours.err)"
}

golden_paths=("$golden"/*/)
golden_paths=("${golden_paths[@]%/}")
golden_logs() {
    local log name
    read_all "${golden_paths[@]}"
    for log in "${golden_paths[@]}"; do
        name=$(basename "$log")
        if [ "$name" = killed_blank ] || [ "$name" = renamed ]; then
            run reads "$log"
            claim "no log is in $name" test "$status" -eq 2
            run "$u9" cat "$log"
            claim 'nor for u9 cat' grep -q 'no log is here' err
            continue
        fi
        claim "the second reader reads $name as u9 cat and u9fsck do" agree "$log"
        claim "and tells what is lost of $name, and where, as its expectation says" expected "$log.expect"
    done
    rm -r read
}

lines() { seq 1 4000 | sed 's/$/ a line that is there again and again/'; }
long_lines() { seq 1 400 | sed "s/\$/$(printf ' again and again%.0s' {1..500})/"; }

alone() {
    local expect log
    for expect in "$golden"/alone_*.expect; do
        log=$golden/$(sed -n 's/^log //p' "$expect")
        claim "it reads $(basename "$expect" .expect), a file by itself" agree "$log"
        [ "${log%.u9}" = "$log" ] || claim 'and tells what is lost of it' expected "$expect"
    done
}

append() { "$u9" append "$@" 2>append.err; }

row_of() { # NAME: a copy of the log `plenty`, as it was written
    rm -rf "$1"
    cp -r whole "$1"
}

rows() {
    lines | append --segment-size 64K whole
    claim 'it reads a row of segments' agree whole
    local last
    last=$(find whole -name '*.u9' | sort | tail -n 1)
    last=${last#whole/}
    row_of gone && rm "gone/$last"
    claim 'it tells that the last segment is gone, by the mark' agree gone
    claim 'and that this is damage' test "$status" -eq 1
    row_of begun && rm begun/0000000000000001.u9
    claim 'that the first one is' agree begun
    claim 'and how many records were in it' grep -q "missing; lost: $((4000 - $(wc -l <ours)))\$" ours.err
    lines | append --segment-size 64K lagging && cp lagging/.mark older.mark
    last=$(find lagging -name '*.u9' | sort | tail -n 1)
    lines | append --segment-size 64K lagging && cp older.mark lagging/.mark && rm "$last"
    claim 'that the one that an older mark names is' agree lagging
    claim 'which is all' same "$(grep -c missing ours.err) $(wc -l <ours.err)" '1 1'
    row_of twice && cp twice/0000000000000002.u9 twice/00000000000000aa.u9
    claim 'that there is a copy' agree twice
    row_of named && mv named/0000000000000002.u9 named/0000000000000000.u9
    claim 'that one has the name of another' agree named
    claim 'all of them' test "$(wc -l <ours)" -eq 4000
    row_of spare && printf 'UUUUU' | dd of=spare/0000000000000001.u9 bs=1 seek=9 conv=notrunc status=none
    claim 'it finds the secret that a header lost' agree spare
    claim 'all of them' test "$(wc -l <ours)" -eq 4000
    row_of kept && "$u9" trim --keep 64K kept >out 2>&1
    claim 'it reads a log that was trimmed' agree kept
    claim 'and says nothing of it' test ! -s ours.err
    claim 'there is less' test ! -f kept/0000000000000001.u9
    row_of other && echo one | append foreign && cp foreign/*.u9 other/00000000000000ff.u9
    claim "it leaves another log's segment alone" agree other
    cp -r "$golden/killed" left && cp -r left right
    echo left | append left
    echo right | append right
    cp right/0000000000000002.u9 left/0000000000000003.u9
    claim 'it tells a fork' agree left
    claim 'of one record' grep -q 'CORRUPT: fork; lost: 1' ours.err
}

marks() {
    seq 1 3 | append back
    cp -r back older
    seq 4 6 | append back
    claim 'it reads a log that its mark fits' agree back
    cp older/*.u9 back/
    claim 'it tells that a log was put back, as u9 cat does' agree back
    claim 'by the mark' grep -q 'CORRUPT: mark; lost: 3' ours.err
    claim 'with exit status 1' test "$status" -eq 1
    cp older/.mark back/
    claim 'and nothing of the older log' agree back
    claim 'with exit status 0' test "$status" -eq 0
    printf 'UUU' | dd of=back/.mark bs=1 seek=100 conv=notrunc status=none
    claim 'a bad slot is a note' agree back
    claim 'that it tells' grep -q 'note: .*torn: mark' ours.err
}

containers() {
    cat >containers.json <<'END'
{"a":1,"b":[1,2.5,{"$float32":1.5}],"c":{}}
[{"$array":["int16",1,2,3]},{"$array":["float32",1.5,{"$float32":"nan"}]},{"$array":["utf8 3","one","two"]}]
[{"$array":["array 2 int16",[1,2],[3,4]]},{"$array":["tau.16",{"$tau":"5"}]},{"$array":["uint8"]}]
{"$$int":5}
[true,{"$symbol":"x"},{"$array":["symbol",true,{"$symbol":"q"}]}]
END
    append --json containers containers.json
    claim 'it reads objects and arrays' agree containers
    sed -E 's/^.*"values":\[(.*)\]\}$/\1/' ours >values
    claim 'and writes them as they were given' diff containers.json values
}

new_logs() {
    local kind
    # shellcheck disable=SC2046 # words, or none
    for kind in muid tid gid:log gid:volume gid:segment uid8 rkey:tid rkey:literal:self; do
        "$u9" append --key "$kind" $([ $kind != uid8 ] || echo --generator 3) "new-$kind" <<<$'one\ntwo\nthree' 2>append.err
        claim "it reads a new log of $kind keys" agree "new-$kind"
        claim 'with all records' test "$(wc -l <ours)" -eq 3
    done
    long_lines | "$u9" append --lz4 pressed 2>append.err
    claim 'it reads compressed frames' agree pressed
    claim 'all of them' test "$(wc -l <ours)" -eq 400
    lines | "$u9" append --segment-size 64K plenty 2>append.err
    claim 'it reads several segments' agree plenty
    claim 'there are some' test -f plenty/0000000000000002.u9
    claim 'all of them' test "$(wc -l <ours)" -eq 4000
    harm plenty/0000000000000001.u9 'again and again'
    claim 'it tells a damaged frame, as u9 cat does' agree plenty
    claim 'with exit status 1' test "$status" -eq 1
}

magic() {
    if ! command -v file >/dev/null; then
        skip 'file(1) is not installed'
        return
    fi
    run file -b -m "$contrib/u9.magic" "$golden/rolled/0000000000000002.u9"
    claim 'file(1) knows a segment, and its number' grep -qx 'u9 record log, version 1, segment 2' out
    run file -b --mime-type -m "$contrib/u9.magic" "$golden/rolled/0000000000000002.u9"
    claim 'and its MIME type, that of u9-mime.xml' \
        grep -q "type=\"$(cat out)\"" "$contrib/u9-mime.xml"
    echo one | "$u9" append marked 2>append.err
    run file -b -m "$contrib/u9.magic" marked/.mark
    claim 'and a mark' grep -qx 'u9 record log, version 1, mark' out
    run file -b -m "$contrib/u9.magic" "$here/README.md"
    claim 'and nothing else' test "$(grep -c u9 out)" -eq 0
}

# What Kaitai Struct's compiler makes of u9.ksy finds each frame of a file with one of every kind, and others. [F-1] [F-4] [C-2]
kaitai() {
    local with_packages=${python%% *} # not -S
    local segment
    if ! command -v kaitai-struct-compiler >/dev/null || ! $with_packages -c 'import kaitaistruct' 2>probe.err; then
        skip 'u9.ksy: kaitai-struct-compiler, or python3-kaitaistruct, is not installed'
        return
    fi
    run kaitai-struct-compiler -t python --outdir . "$contrib/u9.ksy"
    claim 'u9.ksy compiles' test "$status" -eq 0
    cat >frames.py <<'END'
import sys
from u9 import U9

for unit in U9.from_file(sys.argv[1]).units:
    if unit.is_frame:
        print(unit.start, unit.frame.trailer.offset, unit.frame.trailer.ordinal, unit.frame.trailer.count, unit.frame.body.name)
END
    run $with_packages frames.py "$golden/../every_frame.u9"
    claim 'and finds all frames, by their trailers' test "$(awk '$1 == $2' out | wc -l)" -eq 13
    claim 'with what is in them' test "$(awk '{ printf "%s ", $5 }' out)" = \
        'u9open None u9lz4 u9mask None u9trim u9part u9part u9later u9page u9page u9page u9end '
    for segment in "$golden"/damaged*/*.u9; do $with_packages frames.py "$segment" || echo "failed: $segment"; done >out 2>&1
    claim 'also in damaged files' test "$(grep -c failed out)" -eq 0
}

if $python -c '' 2>probe.err; then
    golden_logs
    alone
    new_logs
    rows
    marks
    containers
    kaitai
else
    skip 'Python 3 is not installed'
fi
magic
tally
