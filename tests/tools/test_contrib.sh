#!/usr/bin/env bash
# tests/tools/test_contrib.sh BINDIR TMPDIR: u9read.py, written after SPEC.md, reads what u9 cat reads, from logs of
# the first version and from new ones, whole, torn, or with damaged frames; u9judge.py beside it tells as u9fsck does
# where they are damaged, and what is lost by it; file(1) knows a log.
# [H-1] [F-6] [R-3] [L-2] [L-9] [M-4] [J-5] [J-6] [J-8] [L-6] [B-2] [B-4] [B-5] [C-2] [V-6] [V-8] [V-10] [N-4]
here=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
contrib=$here/tools/contrib
golden=$here/tests/golden/v1
python=/usr/bin/python3
[ -x $python ] || python=python3
python="$python -S -E -B"

# reads PROGRAM LOG: fills ours and ours.err; its exit status. What read_all has read is there already.
reads() {
    local before=read/${2##*/}.$1
    if [ -e "$before.status" ]; then
        cp "$before.out" ours && cp "$before.err" ours.err
        return "$(cat "$before.status")"
    fi
    $python "$contrib/$1.py" "$2" >ours 2>ours.err
}
# read_all LOG...: of other names each, by both programs in one process, which forks.
read_all() {
    mkdir read
    $python - "$contrib" "$@" <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import u9judge, u9read
for log in sys.argv[2:]:
    for program in (u9judge, u9read):
        said = 'read/%s.%s.' % (os.path.basename(log), program.__name__)
        child = os.fork()
        if child == 0:
            for fd, name in ((1, 'out'), (2, 'err')):
                os.dup2(os.open(said + name, os.O_WRONLY | os.O_CREAT), fd)
            sys.argv = [program.__name__, log]
            program.main()
        with open(said + 'status', 'w') as status:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=status)
END
}

# What is told of damage, without the words: file, range, verdict, reason; of a name the file. [R-15]
places() {
    sed -nE -e 's/^(u9judge: )?note: (.*\.u9)( \[[0-9]+,[0-9]+\): torn)?: name[:;].*$/\2: name/p' \
        -e 's/^(u9judge: )?(note: )?(.*\[[0-9]+,[0-9]+\): [A-Za-z]+: [a-z]+)[:;].*$/\3/p' "$1"
}

# The same records as u9 cat, the same damage as u9fsck, which also tells what costs u9 cat nothing.
agree() {
    "$u9" cat --format json "$1" >theirs 2>/dev/null
    "$fsck" "$1" >theirs.err 2>&1
    reads u9judge "$1"
    status=$?
    local damaged=0
    ! grep -qE '\): (CORRUPT|UNKNOWN): ' theirs.err || damaged=1
    cmp theirs ours && diff <(places theirs.err) <(places ours.err) && test "$status" -eq "$damaged"
}

# Behind agree: u9read.py reads the same records, and tells nothing of what is whole. What it tells is there, as it
# tells a place only where u9fsck does; what is torn it tells as well.
plainly() {
    local told
    reads u9read "$1"
    status=$?
    cmp theirs ours && test "$status" -eq "$([ -s ours.err ] && echo 1 || echo 0)" || return 1
    told=$(sed -nE 's/^u9read: (.*) \[([0-9]+),[0-9]+\): ([a-z]+); lost: [0-9?]+$/\1 \2 \3/p' ours.err)
    sed -nE 's/^(note: )?(.*) \[([0-9]+),[0-9]+\): [A-Za-z]+: ([a-z]+):.*$/\2 \3 \4/p' theirs.err >known
    test "$(grep -c . <<<"$told")" -eq "$(wc -l <ours.err)" && test -z "$(grep -vxFf known <<<"$told")"
}

# both LOG WHAT: they agree, and u9read.py reads it plainly.
both() {
    claim "$2" agree "$1"
    local was=$status
    claim "$2, with u9read.py alone" plainly "$1"
    status=$was
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
            run reads u9judge "$log"
            claim "no log is in $name" test "$status" -eq 2
            run reads u9read "$log"
            claim 'nor for u9read.py' test "$status" -eq 2
            run "$u9" cat "$log"
            claim 'nor for u9 cat' grep -q 'no log is here' err
            continue
        fi
        claim "the second reader reads $name as u9 cat and u9fsck do" agree "$log"
        claim "and tells what is lost of $name, and where, as its expectation says" expected "$log.expect"
        case $name in
        damaged_header) # its secret is in another segment [H-5]
            run reads u9read "$log"
            claim 'u9read.py tells a header that is damaged' grep -q '0001.u9 \[32,[0-9]*): boundary; lost: ?$' ours.err
            claim 'and reads nothing that u9 cat does not' test -z "$(grep -vxFf theirs ours)"
            ;;
        *) claim "u9read.py alone reads $name as u9 cat does" plainly "$log" ;;
        esac
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
    both whole 'it reads a row of segments'
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
    both twice 'that there is a copy'
    row_of named && mv named/0000000000000002.u9 named/0000000000000000.u9
    both named 'that one has the name of another'
    claim 'all of them' test "$(wc -l <ours)" -eq 4000
    row_of spare && printf 'UUUUU' | dd of=spare/0000000000000001.u9 bs=1 seek=9 conv=notrunc status=none
    claim 'it finds the secret that a header lost' agree spare
    claim 'all of them' test "$(wc -l <ours)" -eq 4000
    cp -r "$golden/rkey" unopened && printf 'U' | dd of=unopened/0000000000000001.u9 bs=1 seek=150 conv=notrunc status=none
    both unopened 'it finds the kind of keys that the first frame lost'
    claim 'which is damaged' test "$status" -eq 1
    row_of kept && "$u9" trim --keep 64K kept >out 2>&1
    both kept 'it reads a log that was trimmed'
    claim 'and says nothing of it' test ! -s ours.err
    claim 'there is less' test ! -f kept/0000000000000001.u9
    row_of other && echo one | append foreign && cp foreign/*.u9 other/00000000000000ff.u9
    both other "it leaves another log's segment alone"
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
    both back 'it reads a log that its mark fits'
    cp older/*.u9 back/
    claim 'it tells that a log was put back, as u9 cat does' agree back
    claim 'by the mark' grep -q 'CORRUPT: mark; lost: 3' ours.err
    claim 'with exit status 1' test "$status" -eq 1
    cp older/.mark back/
    both back 'and nothing of the older log'
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
[{"$float32":3.4028235e38},{"$float32":1.5474251e26},{"$float32":1e-45}]
[true,{"$symbol":"x"},{"$array":["symbol",true,{"$symbol":"q"}]}]
END
    append --json containers containers.json
    both containers 'it reads objects and arrays'
    sed -E 's/^.*"values":\[(.*)\]\}$/\1/' ours >values
    claim 'and writes them as they were given' diff containers.json values
}

# Bodies that no writer makes, in frames that are valid.
forged() {
    $python - "$contrib" forged <<'END'
import os, struct, sys
sys.path.insert(0, sys.argv[1])
from u9read import FRAME_MAGIC, MAGIC, h, xor
secret = bytes(range(16))

def number(width, n):
    return n.to_bytes(width, 'big')
def tuple_of(*elements):
    inside = b''.join(elements)
    return b'\x42' + number(4, len(inside)) + number(4, len(elements)) + inside
def control(name, *elements):
    return tuple_of(b'\x0a' + name.ljust(8, b'\0'), *elements)
def mask(body):
    return control(b'u9mask', b'\x1c\x10' + bytes(16), b'\x1e' + number(4, len(body)) + body)
def lz4(body):  # literals alone
    block = bytes([0xf0, len(body) - 15]) + body
    return control(b'u9lz4', b'\x03' + number(8, len(body)), b'\x1e' + number(4, len(block)) + block)
def append(count, body, time=1):
    global out, last, ordinal
    p, (previous, chain) = len(out), last
    payload = body + bytes.fromhex('404d080a75396672616d650003') + struct.pack(
        '>QBIBQBQBQBQH', ordinal, 2, count, 3, p, 3, previous, 3, p if p > 32 else 0, 3, time, 0x1c10) + chain
    out += h(secret) + h(payload) + h(xor(h(payload), secret)) + FRAME_MAGIC + number(8, len(payload)) + payload
    out += bytes(-len(out) % 16)
    last, ordinal = (p, h(payload)), ordinal + count

out = MAGIC + secret + bytes(8)
last, ordinal = (0, h(out)), 0
key, zero = b'\x1c\x10' + bytes(15) + b'\x01', b'\x03' + bytes(8)
index = bytes.fromhex('5414 0a69000000000000 00 44020100aa 440301050000')  # i: one entry
opened = control(b'u9open', *[b'\x1c\x10' + b'L' * 16] * 2, b'\x03' + number(8, 1), zero, zero, zero,
                 *[b'\x1c\x10' + bytes(16)] * 2, zero, zero, b'\x1c\x10' + h(out), b'\0\0', b'\x19' + number(2, 4) + b'muid')
append(0, b'\x41' + number(2, len(opened) - 9) + number(2, 14) + opened[9:])
def deep(n, value=b'\x81'):
    return value if n == 0 else deep(n - 1, tuple_of(value))
def object_of(n, value=b'\x10'):  # the index is an object's, the second pair has no key
    pairs = tuple_of(b'\x21a', value) + tuple_of(b'\x81', b'\x82')
    fields = bytes.fromhex('0a6b68000000000000 4403020001 02 44050205 0000 0000')
    value = b'\x51' + number(2, len(fields)) + fields + b'\x42' + number(4, len(pairs)) + number(4, 2) + pairs
    return value if n == 0 else object_of(n - 1, value)
endless = b'\x47' + number(8, 2) + number(8, 2 ** 64 - 1) + b'\x18\0'  # its elements take no bytes
for value in (index + tuple_of(b'\x81'), index * 5000 + tuple_of(b'\x81'), index + b'\x81', index + b'\x25hello', deep(64), deep(65),
              deep(900), index[:-3] + b'\1\0\0' + tuple_of(b'\x81'), endless, object_of(25)):
    append(1, tuple_of(key, value, b'\x82'))
record = tuple_of(key, b'\x81')
for body in (record, mask(record), lz4(record), mask(mask(record)), mask(lz4(record)), lz4(mask(record)), b'', zero, tuple_of(),
             tuple_of(b'\x81'), record * 2, record + b'\0', control(b'u9trim', zero, zero), lz4(record)[:-1]):
    append(1, body)
    append(0, body)
for body in (control(b'u9later', b'\x0c'), control(b'u9trim', zero), control(b'u9end', zero), mask(control(b'u9later')), opened):
    append(0, body)
for time in (0, 1, 253402300799999999, 253402300800000000, 2 ** 64 - 1):
    append(1, record, time)
os.mkdir(sys.argv[2])
with open(os.path.join(sys.argv[2], '0000000000000001.u9'), 'wb') as file:
    file.write(out + bytes(-len(out) % 4096))
END
    both forged 'it reads what no writer wrote'
    claim 'all that is a record' test "$(wc -l <ours)" -eq 16
    claim 'also what is nested too deeply' test "$(grep -c '"$malformed":' ours)" -eq 4
}

new_logs() {
    local kind
    # shellcheck disable=SC2046 # words, or none
    for kind in muid tid gid:log gid:volume gid:segment uid8 rkey:tid rkey:literal:self; do
        "$u9" append --key "$kind" $([ $kind != uid8 ] || echo --generator 3) "new-$kind" <<<$'one\ntwo\nthree' 2>append.err
        both "new-$kind" "it reads a new log of $kind keys"
        claim 'with all records' test "$(wc -l <ours)" -eq 3
    done
    long_lines | "$u9" append --lz4 pressed 2>append.err
    both pressed 'it reads compressed frames'
    claim 'all of them' test "$(wc -l <ours)" -eq 400
    lines | "$u9" append --segment-size 64K plenty 2>append.err
    both plenty 'it reads several segments'
    claim 'there are some' test -f plenty/0000000000000002.u9
    claim 'all of them' test "$(wc -l <ours)" -eq 4000
    harm plenty/0000000000000001.u9 'again and again'
    both plenty 'it tells a damaged frame, as u9 cat does'
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
    cp "$golden/rolled/0000000000000002.u9" zero.u9
    printf '\0' | dd of=zero.u9 bs=1 seek=32 conv=notrunc 2>dd.err
    run file -b -m "$contrib/u9.magic" zero.u9
    claim 'whatever its boundary begins with' grep -qx 'u9 record log, version 1, segment 2' out
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
    forged
    kaitai
else
    skip 'Python 3 is not installed'
fi
magic
tally
