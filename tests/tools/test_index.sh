#!/usr/bin/env bash
# tests/tools/test_index.sh BINDIR TMPDIR: u9 index makes the indexes that segments lack, proves them, and removes them;
# and whatever stands beside a segment changes no answer. [K-1] [K-4]
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
sums() { find log -name '*.u9' -exec cksum {} + | sort; }

seq 60000 | append log --segment-size 256K --sync none
sums >before
key=$("$u9" cat --keys log | sed -n 59990p | cut -f 1 | cut -d ' ' -f 1)
segments=$(find log -name '*.u9' | wc -l)

ends 0 "^log: $segments segments: $((segments - 1)) with an index inside, 0 beside, 0 made now, 1 without\$" \
    '--dry-run says what there is' "$u9" index --dry-run log
claim 'and makes nothing' test -z "$(find log -name '*.u9x')"
ends 0 'index made now: [0-9]+ records, [0-9]+ entr' 'what is missing is made' "$u9" index log
claim 'in one file beside the segment' test "$(find log -name '*.u9x' | wc -l)" = 1
index=$(find log -name '*.u9x')
claim 'of the same permissions' same "$(stat -c %a "$index")" "$(stat -c %a "${index%x}")"
ends 0 'index beside it: [0-9]+ records' 'once more there is nothing to make' "$u9" index log
sums | cmp -s - before
result $? 'and no segment was changed'
ends 0 ' 1 beside, 0 made now, 0 without; all that there is was proven$' '--check proves all of them' "$u9" index --check log
ends 0 '"type":"index","path":"log","segments":"[0-9]+","inside":"[0-9]+","beside":"1","made":"0","none":"0","dropped":"0","unused":"0","entries":"[0-9]+","wrong":"0"' \
    'a result as JSON' "$u9" index --check --json log
claim 'with an object for each segment' same "$(grep -c '"type":"segment"' out)" "$segments"
ends 0 '^59990$' 'a record is found' "$u9" get log "$key"
ends 0 '^log: clean: 60000 records' 'u9fsck does not mind the file' "$fsck" log
ends 0 "^indexes +$((segments - 1)) inside, 1 beside, 0 without\$" 'u9 info counts them' "$u9" info log

# body FILE OFFSET: the body of the frame there, whose length stands in its header, and whose trailer has 80 bytes.
body() {
    local length
    length=$((16#$(od -An -tx1 -j $(($2 + 56)) -N 8 "$1" | tr -d ' \n')))
    tail -c +$(($2 + 65)) "$1" | head -c $((length - 80))
}
body "$index" 4096 >page
ends 0 'u9page' 'u9 value show reads a page' "$u9" value show page
ends 0 'array.*int64' 'with the places of its records' "$u9" value show page
next=$((4096 + (64 + $(wc -c <page) + 80 + 15) / 16 * 16))
body "$index" $next >root
ends 0 'u9page' 'and a root' "$u9" value show root
cmp -s page root && result 1 'which is another' || result 0 'which is another'
body "$index" 32 >open
ends 0 'u9open' 'and which segment it is of' "$u9" value show open
chmod 640 "${index%x}"
ends 0 'no index: it has another owner or other permissions' 'a file of other permissions is not used' "$u9" index --dry-run log
ends 0 'index made now' 'but made again' "$u9" index log
claim 'with those of the segment' same "$(stat -c %a "$index")" 640

printf 'XXXX' | dd of="$index" bs=1 seek=4200 conv=notrunc 2>/dev/null
ends 0 '^59990$' 'a damaged one changes no answer' "$u9" get log "$key"
ends 3 '\(page\.place: no frame stands where a page' 'and is said to be one, and by which clause' "$u9" index --check log
cp "$(find log -name '*.u9' | sort | head -n 1)" "$index"
ends 0 '^59990$' 'nor does another file in its place' "$u9" get log "$key"
truncate -s 5000 "$index"
ends 0 '^59990$' 'nor half of one' "$u9" get log "$key"
ends 0 'index made now' 'it is made again' "$u9" index log

cp "$index" old
seq 10 | append log
ends 0 'no index: it is stale' 'of a segment that went on it is stale' "$u9" index --dry-run log
ends 0 'index made now' 'and made again' "$u9" index log --memory 64K
cp old "$index" && chmod 640 "$index"
ends 0 'no index: it is stale' 'an older one that is put back is not used' "$u9" index --dry-run log
claim 'the log reads the same all the while' same "$("$u9" cat log | cksum)" "$({ seq 60000; seq 10; } | cksum)"

ends 0 '; 1 file removed$' '--drop removes the file' "$u9" index --drop log
claim 'and no other' test -z "$(find log -name '*.u9x*')"
ends 0 'no index: none was made$' '--check says why a segment has none' "$u9" index --check log
ends 0 '^59990$' 'without it the record is found' "$u9" get log "$key"

echo 'one and only' | append one
ends 0 'no index: none was made$' 'a segment of which one can be made' "$u9" index --check one
harm "$(find one -name '*.u9')" 'one and only'
ends 0 'no index: records of the segment were lost to damage$' 'and one of whose records none is left' "$u9" index --check one

cp -a log bad
harm bad/0000000000000002.u9 '[1-5][0-9]\{4\}' 300
lost=$("$u9" cat bad 2>/dev/null | diff - <("$u9" cat log) | sed -n 's/^> //p' | tail -n 1)
lost=$("$u9" cat --keys log | awk -F '\t' -v n="$lost" '$2 == n {print $1}')
ends 0 '^59990$' 'one record is looked up, not the log read: damage elsewhere is not met' "$u9" get bad "$key"
ends 0 '^59990$' 'all records of a key as well' "$u9" get --all bad "$key"
claim 'nothing is told of it' test ! -s err
ends 3 'it may be lost$' 'a key that was lost is told' "$u9" get --all bad "$lost"
claim 'and what was lost' grep -q CORRUPT both
harm "bad/$(basename "${index%x}")" '[1-5][0-9]\{4\}' 100
ends 0 'index made now.*; others were lost to damage$' 'of a segment that lost records as well' "$u9" index bad
ends 0 'index beside it.*; others were lost to damage; all right$' 'it is proven, and an index whose records were lost is not wrong' "$u9" index --check bad

mkdir single && cp "${index%x}" single/
ends 0 'index made now' 'a single file gets one as well' "$u9" index "single/$(basename "${index%x}")"
ends 0 'index beside it.*all right' 'that is proven' "$u9" index --check "single/$(basename "${index%x}")"

if [ "$(id -u)" != 0 ]; then
    chmod 500 log
    ends 4 'cannot make an index beside segment .*; nothing is lost: lookups make one in memory' \
        'a directory that cannot be written is told' "$u9" index log
    chmod 700 log
else
    skip 'root writes into any directory'
fi
ends 2 'one of them at a time' 'one thing at a time' "$u9" index --check --drop log
ends 2 'at least 64K' 'some memory is needed' "$u9" index --memory 1K log
ends 1 'nowhere' 'a log that is not there' "$u9" index nowhere
ends 0 'u9 index' 'u9 --help names it' grep -E '^  index' <("$u9" --help | sed 's/^  index/  index u9 index/')
tally
