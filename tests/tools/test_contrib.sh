#!/usr/bin/env bash
# tests/tools/test_contrib.sh BINDIR TMPDIR: u9read.py, written after SPEC.md, reads what u9 cat reads, from
# logs of the first version and from new ones, and tells where they are damaged; file(1) knows a log. [H-1] [F-6] [R-3]
here=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
contrib=$here/tools/contrib
golden=$here/tests/golden/v1

# Lines of what the script leaves out, arrays and objects, are left out of both.
agree() {
    "$u9" cat --format json "$1" >theirs 2>theirs.err
    PYTHONDONTWRITEBYTECODE=1 python3 "$contrib/u9read.py" "$1" >ours 2>ours.err
    status=$?
    local damaged=0 left
    ! grep -qE ': (CORRUPT|UNKNOWN): ' theirs.err || damaged=1
    left=$(grep -n 'left_out' ours | sed 's/:.*/d/')
    sed -i -e "$left" ours
    sed -i -e "$left" theirs
    cmp theirs ours && test "$status" -eq "$damaged"
}

golden_logs() {
    local log name
    for log in "$golden"/*/; do
        name=$(basename "$log")
        case $name in
        foreign | missing_last) continue ;; # left out, as the script says
        killed_blank | renamed)
            run python3 "$contrib/u9read.py" "$log"
            claim "no log is in $name" test "$status" -eq 2
            continue
            ;;
        esac
        claim "the second reader reads $name as u9 cat does" agree "$log"
    done
}

new_logs() {
    local kind
    # shellcheck disable=SC2046 # words, or none
    for kind in muid tid gid:log gid:volume gid:segment uid8 rkey:tid rkey:literal:self; do
        "$u9" append --key "$kind" $([ $kind != uid8 ] || echo --generator 3) "new-$kind" <<<$'one\ntwo\nthree' 2>append.err
        claim "it reads a new log of $kind keys" agree "new-$kind"
        claim 'with all records' test "$(wc -l <ours)" -eq 3
    done
    lines() { seq 1 40000 | sed 's/$/ a line that is there again and again/'; }
    lines | "$u9" append --lz4 pressed 2>append.err
    claim 'it reads compressed frames' agree pressed
    claim 'all of them' test "$(wc -l <ours)" -eq 40000
    lines | "$u9" append --segment-size 1M plenty 2>append.err
    claim 'it reads several segments' agree plenty
    claim 'there are some' test -f plenty/0000000000000002.u9
    claim 'all of them' test "$(wc -l <ours)" -eq 40000
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

if python3 -c '' 2>probe.err; then
    golden_logs
    new_logs
else
    skip 'Python 3 is not installed'
fi
magic
tally
