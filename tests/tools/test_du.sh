#!/usr/bin/env bash
# tests/tools/test_du.sh BINDIR TMPDIR: u9 du: what takes the space of a log adds up to what its files have; u9 stat: how a
# log stands, also while it is written. Nothing here waits for a time: each step waits until what it needs is there.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

# field NAME FILE [TYPE]: a member of the last JSON object of that type, or of any.
field() { grep "\"type\":\"${3:-}" "$2" | tail -n 1 | grep -oE "\"$1\":(\"[^\"]*\"|[^,}]*)" | cut -d : -f 2- | tr -d '"'; }
sum() { local n=0 i; for i in "$@"; do n=$((n + i)); done; echo $n; }
files_of() { cat "$1"/*.u9 "$1"/*.u9x 2>/dev/null | wc -c; }
# adds_up FILE TYPE: parts of an object are all of it.
adds_up() {
    local parts=() name
    for name in data key header index reserved damaged; do parts+=("$(field "${name}_bytes" "$@")"); done
    same "$(sum "${parts[@]}")" "$(sum "$(field bytes "$@")" "$(field saved_bytes "$@")")"
}

takes_space() {
    seq -f 'line %.0f' 1 20000 | "$u9" append log --segment-size 64K
    run "$u9" du --json log
    claim 'du says something, and not a word of trouble' same "$status $(wc -l <out) $(cat err)" '0 1 '
    claim 'all is what the files have' same "$(field bytes out)" "$(files_of log)"
    claim 'the parts add up to it' adds_up out du
    claim 'the records are those' same "$(field records out)" 20000
    claim 'data are the values: text, and a byte or two in front of it' same "$(field data_bytes out)" \
        "$(seq -f 'line %.0f' 1 20000 | awk '{ n += length($0) + (length($0) < 16 ? 1 : 2) } END { print n }')"
    "$u9" scan --json log >scan.out 2>/dev/null
    claim 'data and keys are what records have' same "$(sum "$(field data_bytes out)" "$(field key_bytes out)")" "$(field bytes scan.out scan)"
    "$u9" info --json log >info.out
    claim 'each frame has a header and a trailer' test "$(field header_bytes out)" -ge $((144 * $(grep -oE '"frames":"[0-9]+"' info.out | tr -dc 0-9)))
    claim 'and indexes, of sealed segments' test "$(field index_bytes out)" -gt 0
    claim 'nothing is damaged, nothing compressed' same "$(field damaged_bytes out) $(field saved_bytes out)" '0 0'

    run "$u9" du --json --segments log
    claim 'each segment has an object' same "$(grep -c '"type":"share"' out)" "$(find log -name '*.u9' | wc -l)"
    claim 'and its parts add up' adds_up out share
    claim 'all of them are all' same "$(grep '"type":"share"' out | grep -oE '"bytes":"[0-9]+"' | tr -dc '0-9\n' | awk '{ n += $1 } END { print n }')" "$(field bytes out du)"
    claim 'it is that of its file' same "$(field bytes out share)" "$(wc -c <"$(find log -name '*.u9' | sort | tail -n 1)")"

    run "$u9" du log
    claim 'people get sizes and shares' grep -qE '^data +[0-9.]+ kB +[0-9.]+ %$' out
    claim 'no line is wider than 36 columns' same "$(grep -cE '^.{37}' out)" 0
    run "$u9" du -s log
    claim 'segments stand on a line each' grep -qE '^0000000000000001\.u9 +[0-9.]+ kB( +[0-9.]+ (kB|bytes)| +0){5}$' out
    claim 'of no more than 80 columns' same "$(grep -cE '^.{81}' out)" 0
    if command -v script >/dev/null; then
        script -qec "stty cols 36; $u9 du -s log" /dev/null </dev/null | tr -d '\r' >out
        claim 'on a narrow terminal in blocks' same "$(grep -cE '^.{37}' out) $(grep -cx '0000000000000002.u9' out)" '0 1'
    fi

    "$u9" index log >index.out
    run "$u9" du --json log
    claim 'an index beside a segment counts' same "$(field bytes out)" "$(files_of log)"
    claim 'and the parts still add up' adds_up out du
    "$u9" append --lz4 packed <(yes 'what is said again and again' | head -n 20000)
    run "$u9" du --json packed
    claim 'what compression saved is told' test "$(field saved_bytes out)" -gt "$(field bytes out)"
    claim 'and that adds up, too' adds_up out du
    claim 'no log is refused' refused 1 nothing "$u9" du nothing
    claim 'a segment file is one' same "$("$u9" du --json "$(find log -name '*1.u9')" | grep -c '"type":"du"')" 1
}

damaged() {
    cp -R log hurt
    harm hurt/0000000000000002.u9 'line 4'
    run "$u9" du --json hurt
    claim 'damage is told: status 3' same "$status $(grep -c CORRUPT err)" '3 1'
    claim 'with what it takes' test "$(field damaged_bytes out)" -gt 0
    claim 'and all adds up' adds_up out du
}

until_so() {
    local tries
    for tries in $(seq 1200); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "never, in $tries tries: $*"
    return 1
}

stands() {
    run "$u9" stat --json log
    claim 'stat of a closed log' same "$status $(field first_ordinal out) $(field next_ordinal out) $(field durable_ordinal out) $(field behind out)" '0 0 20000 20000 0'
    claim 'the last one has a time' grep -q '"last_time":"20' out
    run "$u9" stat log
    claim 'people get lines' same "$(sed -n 's/^\([a-z]*\) .*/\1/p' out | paste -sd ' ')" 'log records durable behind rate bytes last ago'
    claim 'no line of them is wider than 36 columns' same "$(grep -cE '^.{37}' out)" 0
    claim 'records are told with their numbers' grep -qx 'records  0..19999' out
    claim 'and so are those that are durable' grep -qx 'durable  0..19999' out
    seq 30 | "$u9" append young
    run "$u9" stat --json young
    claim 'what was written within a minute has a rate, in bytes, too' \
        test "$(field records_per_second out | cut -c 1-3)" = 0.5 -a "$(field bytes_per_second out | cut -d . -f 1)" -gt 0
    "$u9" append --segment-size 64K rolled <(seq 60000)
    claim 'also over segments' test "$("$u9" stat --json rolled | grep -oE '"bytes_per_second":[0-9]+' | tr -dc 0-9)" -gt $(($(files_of rolled) / 120))
    "$u9" trim --keep 200K log >trim.out
    run "$u9" stat --json log
    claim 'of a trimmed one it begins where that does' same "$(field first_ordinal out)" "$("$u9" cat -n 1 --format json log | grep -oE '"ordinal":"[0-9]+"' | tr -dc 0-9)"
    "$u9" append empty /dev/null
    run "$u9" stat --json empty
    claim 'an empty one has none' same "$status $(field first_ordinal out) $(field next_ordinal out)" '0 null 0'
    claim 'and that is said' sh -c '"$1" stat empty | grep -q "none, the next is 0"' sh "$u9"
    claim 'nor is any durable' sh -c '"$1" stat empty | grep -qx "durable  none"' sh "$u9"
    claim 'watched, it says so, too' same "$("$u9" stat -w --every 10 -n 1 empty)" '0/s  durable none  behind 0  0 bytes/s  last none'
    cp -R log unmarked && rm unmarked/.mark
    claim 'without a mark nobody knows what is durable' same "$("$u9" stat --json unmarked | grep -o '"durable_ordinal":null')" '"durable_ordinal":null'
    claim 'no log is refused' refused 1 nothing "$u9" stat nothing
    claim 'no look is too often' refused 2 'every' "$u9" stat --watch --every 1 log
    claim '--limit needs --watch' refused 2 'go with --watch' "$u9" stat -n 3 log
}

watched() {
    run "$u9" stat --watch --every 10 -n 3 log
    claim 'so many lines, then it ends' same "$status $(wc -l <out) $(cat err)" '0 3 '
    claim 'a line says how fast, what is durable, what is behind' same "$(sort -u out)" '0/s  durable #19999  behind 0  0 bytes/s  last #19999'
    mkfifo lines
    "$u9" append live <lines &
    local writer=$! watcher
    exec 8>lines
    echo one >&8
    until_so sh -c '"$1" stat --json live | grep -q "\"durable_ordinal\":\"1\""' sh "$u9"
    "$u9" stat --watch --json --every 20 live >out.w 2>err.w 8>&- &
    watcher=$!
    until_so grep -q '"next_ordinal":"1"' out.w
    printf 'two\nthree\n' >&8
    claim 'what is appended meanwhile is seen' until_so grep -q '"next_ordinal":"3","durable_ordinal":"3","behind":"0"' out.w
    claim 'with a rate' grep -qE '"records_per_second":[0-9.]*[1-9]' out.w
    claim 'in bytes, too' grep -qE '"bytes_per_second":[0-9.]*[1-9]' out.w
    exec 8>&-
    wait $writer
    kill -TERM $watcher
    wait $watcher
    claim 'SIGTERM ends it: status 0, not a word' same "$? $(cat err.w)" '0 '
    if command -v script >/dev/null; then
        script -qec "stty cols 24; $u9 stat --watch --every 10 -n 3 live" /dev/null </dev/null >out
        claim 'on a terminal one line is written over' same "$(wc -l <out) $(tr '\r' '\n' <out | grep -c durable)" '1 3'
        script -qec "stty cols 36; $u9 stat --watch --every 10 -n 1 live" /dev/null </dev/null >wide
        claim 'rate, durable and behind fit into 36 columns' same "$(tr '\r' '\n' <wide | sed 's/.*\[K//' | grep durable)" '0/s  durable #2  behind 0'
        claim 'with what fits' same "$(tr '\r' '\n' <out | sed 's/.*\[K//' | grep durable | sort -u)" '0/s  durable #2'
    else
        skip 'no script(1) to make a terminal'
    fi
}

takes_space
damaged
stands
watched
tally
