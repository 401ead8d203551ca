#!/usr/bin/env bash
# tests/tools/test_split.sh BINDIR TMPDIR: u9 split plans ranges as lines, u9 scan reads a log by threads, by lines, and,
# where there is an MPI, by ranks: the totals are those of one reader. [P-3] to [P-6]
walk=$(cd "$(dirname "$0")/../.." && pwd)/docs/tools.md
# shellcheck source=tests/tools/ranges.sh
. "$(dirname "$0")/ranges.sh"
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

splits() {
    seq 30000 | append log --segment-size 64K --sync none
    run "$u9" split log -n 5
    claim 'a plan has a line for each range' same "$(grep -Ec '^u9range1( [0-9a-f]+){10}$' out)" 5
    claim 'they touch' same "$(cut -d ' ' -f 8-10 out | head -n 4)" "$(cut -d ' ' -f 5-7 out | tail -n 4)"
    claim 'so many ranges as it takes for a size' test "$("$u9" split log --size 64K | wc -l)" -gt 10
    ends 0 '"type":"range","number":"5","count":"5","from":\{"segment":"[0-9]+","offset":"[0-9]+"\},"to":.*"bytes":"[0-9]+","line":"u9range1 .*"\}$' \
        'or JSON' "$u9" split log -n 5 --json
    ends 2 'how many ranges' 'how many is to be said' "$u9" split log
    ends 2 'how many ranges' 'in one way' "$u9" split log -n 3 --size 1M
    ends 2 'from 1 to 65536' 'one at least' "$u9" split log -n 0
    ends 2 'at least 4K' 'not of a few bytes' "$u9" split log --size 100
    ends 1 'none: ' 'no plan of what is not there' "$u9" split none -n 3
}

scans() {
    totals log -j 1 >one
    claim 'a scan counts records and bytes' same "$(head -n 2 one)" "$(printf 'records 30000\nbytes   %s' \
        "$("$u9" cat log --format raw | wc -c)")"
    for n in 2 3 8; do claim "the totals and digest are those for $n threads" same "$(totals log -j $n)" "$(cat one)"; done
    for n in 1 3 9; do claim "and those of $n processes, one for each line" same "$(by_lines log $n)" "$(cat one)"; done
    ends 0 '"type":"scan","path":"log","records":"30000",.*"digest":"[0-9a-f]{32}","ranges":"[0-9]+","threads":"2","seconds":[0-9.e-]+\}$' \
        'as JSON' "$u9" scan log -j 2 --json
    line=$("$u9" split log -n 3 | sed -n 2p)
    ends 2 'the line was changed' 'a line that was mistyped is refused' "$u9" scan log --range "${line/ 3 / 4 }"
    ends 2 'not the line of a range' 'what is no line, too' "$u9" scan log --range 0-64M
    seq 10 | append other
    ends 1 'another log' 'a line of another log' "$u9" scan other --range "$line"
    ends 2 '-j' 'so many threads are too many' "$u9" scan log -j 5000
    totals log --range "$line" >grown
    seq 30001 31000 | append log
    claim 'a line reads what it named when the log has grown' same "$(totals log --range "$line")" "$(cat grown)"
    claim 'and the scan all of it' same "$(totals log | head -n 1)" 'records 31000'
    cp -R log copy
    claim 'a copy elsewhere is as good' same "$(totals copy --range "$line")" "$(cat grown)"
}

counts() {
    for i in 1 2 3 1 2 1; do printf '{"who":"user%s","n":%s,"deep":{"n":%s}}\n' $i $i 7; done >people
    printf '"just text"\n[1,2]\n' >>people
    append --json people.log <people
    run "$u9" scan people.log --count-by who
    claim 'a field by its name, the most frequent first' same "$(cat out)" \
        "$(printf '3\t"user1"\n2\t"user2"\n1\t"user3"\n2\t-')"
    run "$u9" scan people.log --count-by n -j 3
    claim 'numbers too' same "$(cat out)" "$(printf '3\t1\n2\t2\n1\t3\n2\t-')"
    run "$u9" scan people.log --count-by n --json
    claim 'as JSON' same "$(grep '"type":"count"' out | head -n 1)" '{"type":"count","count":"3","value":1}'
    claim 'with the totals' grep -q '"type":"scan".*"records":"8"' out
    yes 'aaaa' | head -n 5000 | append some.log
    yes 'bbbb' | head -n 7000 | append some.log
    run "$u9" scan some.log --count-by 1
    claim 'a value by its position' same "$(cat out)" "$(printf '7000\t"bbbb"\n5000\t"aaaa"')"
    claim 'the same by any number of threads' same "$("$u9" scan some.log --count-by 1 -j 5)" "$(cat out)"
    run "$u9" scan some.log --count-by 0
    claim 'the key is at position 0, and each is another' same "$(wc -l <out) $(cut -f 1 out | sort -u)" '12000 1'
    ends 2 'FIELD is empty' 'a field is wanted' "$u9" scan some.log --count-by ''
}

damaged() {
    cp -R log broken
    harm broken/0000000000000003.u9 '[0-9]\{4\}' 100
    rm broken/0000000000000005.u9
    for n in 1 2 4; do
        run "$u9" scan broken -j $n
        claim "with $n threads lost data is exit status 3" same "$status" 3
        grep -E '^(records|bytes|digest) ' out >"broken.$n"
        sort err >"told.$n"
    done
    claim 'the totals are the same for all' same "$(cat broken.2 broken.4)" "$(cat broken.1 broken.1)"
    claim 'so is what is told, with where' same "$(cat told.2 told.4)" "$(cat told.1 told.1)"
    claim 'each loss once' same "$(grep -c 'CORRUPT: ' told.4) $(grep -c 'CORRUPT: missing' told.4)" '2 1'
    claim 'nothing else is lost' same "$(head -n 1 broken.1 | cut -d ' ' -f 2)" "$("$u9" cat broken 2>cat.err | wc -l)"
    claim 'lines of the damaged log tell the same' same "$(by_lines broken 4)" "$(cat broken.1)"
    line=$("$u9" split log -n 40 | awk '$5 == 5 && $8 == 5' | head -n 1)
    ends 1 'segment 5, which the range names, is not there' 'a line of what is gone is refused' "$u9" scan broken --range "$line"
}

trimmed() {
    cp -R log cut
    "$u9" split cut -n 3 >lines
    "$u9" trim cut --keep 448K >trim.out
    ends 1 'trimmed before it was read' 'a line of what was trimmed says so, exit status 1' \
        "$u9" scan cut --range "$(head -n 1 lines)"
    ends 1 '^records [1-9]' 'and reads what is left' "$u9" scan cut --range "$(sed -n 2p lines)"
    claim 'one of what was kept reads it' "$u9" scan cut --range "$(tail -n 1 lines)"
}

# The commands that docs/tools.md shows of this, as they stand there.
documented() {
    for i in $(seq 3000); do echo "{\"status\":$((200 + i % 3))}"; done | append --json mylog
    mkdir path && ln -s "$u9" path/u9
    sed -n '/^\$ u9 split mylog/,/^```/s/^\$ //p' "$walk" >commands
    PATH=$PWD/path:$PATH run bash -e commands
    claim 'what docs/tools.md shows of it runs' same "$status $(wc -l <commands)" '0 5'
    claim 'the ranges have all records' same "$(grep '^records ' out | head -n 3 | awk '{ n += $2 } END { print n }')" 3000
    claim 'as the scan has' grep -q '^records 3000$' out
    claim 'and the counts' same "$(tail -n 3 out | tr '\t\n' '  ')" '1000 200 1000 201 1000 202 '
}

by_mpi() {
    if ! has_mpi; then
        skip 'ranks of MPI: libopenmpi-dev or openmpi-bin is not installed'
        return
    fi
    totals log >one
    for n in 1 2 4; do claim "$n ranks of MPI come to the same" same "$(by_ranks $n log 2>mpi.err)" "$(cat one)"; done
    by_ranks 2 broken >out 2>mpi.err
    claim 'and lost data is exit status 3' same "$? $(cat out)" "3 $(cat broken.1)"
}

splits
scans
counts
damaged
trimmed
documented
by_mpi
tally
