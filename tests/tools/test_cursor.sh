#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# tests/tools/test_cursor.sh BINDIR TMPDIR: a part of a log from where it begins, either way; times as people write them;
# cursors that are saved and gone on with. [Q-1] [Q-2] [Q-3]
. "$(dirname "$0")/claims.sh"

lines() { seq -f "record %.0f" "$1" "$2"; }
cat_of() { "$u9" cat "$@" 2>err; }
some() { cat_of "$@" | tr '\n' ' '; }

# Of LOG, damaged in one place, of which err tells: an end within what is lost, or right behind it, has that in front of it.
ends_in_loss() {
    local first last
    first=$(sed -n 's/.*records \([0-9]*\)\.\.[0-9]* (.*/\1/p' err) last=$(sed -n 's/.*records [0-9]*\.\.\([0-9]*\) (.*/\1/p' err)
    claim 'what is lost is told' test "$first" -lt "$((last - 1))"
    for to in $((first + 1)) $((last - 1)) $((last + 1)); do
        claim "back from #$to, behind #$first: what is lost is told first" refused 3 "records $first\.\.$last " \
            "$u9" cat --reverse -n 3 --to "#$to" "$1"
        claim 'then the records before it' same "$(some --reverse -n 2 --to "#$to" "$1")" "record $((first - 1)) record $((first - 2)) "
    done
    for at in $((first + 1)) $((last - 1)) $((last + 1)); do
        cat_of --from "#$((at - 1))" -n 1 --save-cursor spot log >/dev/null
        claim "back from a cursor saved at $at: what is lost is told" refused 3 "records $first\.\.$last " "$u9" cat --reverse -n 3 --cursor spot "$1"
        claim 'once' test "$(grep -c CORRUPT refused)" -eq 1
        claim 'and the records before it follow' same "$(some --reverse -n 2 --cursor spot "$1")" "record $((first - 1)) record $((first - 2)) "
    done
    cat_of --from "#$((first - 1))" -n 1 --save-cursor spot log >/dev/null
    claim 'of one saved where the loss begins, nothing' same "$(some --reverse -n 1 --cursor spot "$1")$(cat err)" "record $((first - 1)) "
    claim 'back from where the loss begins: nothing is lost there' same "$(some --reverse -n 1 --to "#$first" "$1")$(cat err)" "record $((first - 1)) "
    claim 'further back, neither' same "$(some --reverse -n 1 --to "#$((first - 5))" "$1")$(cat err)" "record $((first - 6)) "
}

both_ways() {
    lines 0 11999 | "$u9" append --segment-size 64K --print-keys log >keys
    claim 'there are several segments' test "$(find log -name '*.u9' | wc -l)" -gt 2
    cat_of --reverse log >out
    claim '--reverse: all, the last one first' cmp out <(lines 0 11999 | tac)
    claim '-n 3: the last three' same "$(some --reverse -n 3 log)" 'record 11999 record 11998 record 11997 '
    claim '--from and --to hold either way' \
        same "$(some --from '#10' --to '#13' log)$(some --from '#10' --to '#13' --reverse log)" \
        'record 10 record 11 record 12 record 12 record 11 record 10 '
    a=$(sed -n 11p keys) b=$(sed -n 14p keys)
    claim 'by key, too' same "$(some --from "$a" --to "$b" --reverse log)" 'record 12 record 11 record 10 '
    claim 'a range of bytes as well' cmp <(cat_of --range 0-64K --segment 2 --reverse log) <(cat_of --range 0-64K --segment 2 log | tac)
    claim 'a segment goes by its number or its file' cmp <(cat_of --segment 2 log) <(cat_of --segment 0000000000000002.u9 log)
    claim 'or the digits of that' cmp <(cat_of --segment 2 log) <(cat_of --segment 0000000000000002 log)
    cp -r log bad
    victim=$(find bad -name '*.u9' | sort | sed -n 2p)
    harm "$victim" 'record [0-9]' 100
    cat_of bad >on; on=$?
    cat_of --reverse bad >back; back=$?
    claim 'of a damaged log, too: status 3 either way' same "$on $back $(wc -l <err)" '3 3 1'
    claim 'and the same records' cmp <(tac back) on
    ends_in_loss bad
    rm "$victim"
    cat_of bad >on
    ends_in_loss bad
    lines 0 9 | sed 's/record \(.*\)/key\1\tvalue \1/' >pairs
    { sed -n '6,$p' pairs; sed -n '1,5p' pairs; } | "$u9" append --key rkey --key-field '\t' keyed
    claim 'keys in no order: from that record on' same "$(some --from key3 keyed)" 'value 3 value 4 '
    claim 'or up to it' same "$(some --to key6 keyed)" 'value 5 '
    seq 3000 | awk '{ print "{\"t\":" 1700000000 + $1 * 7919 % 3001 ",\"i\":" $1 "}" }' |
        "$u9" import --time-field t jsonl imported 2>import.err
    "$u9" cat --keys imported | awk 'NR % 500 == 7' >some.keys
    while IFS=$(printf '\t') read -r key value; do
        claim "keys of times in no order: from $key on" same "$("$u9" cat --from "$key" -n 1 imported)" "$value"
    done <some.keys
    claim 'one that is not there is refused' refused 1 "no record of keyed has this key" "$u9" cat --from keyx keyed
}

times() {
    claim 'since yesterday: all' test "$(cat_of --since yesterday log | wc -l)" -eq 12000
    claim 'until now: all' test "$(cat_of --until now log | wc -l)" -eq 12000
    claim 'since an hour ago' test "$(cat_of --since '1 hour ago' log | wc -l)" -eq 12000
    claim 'until an hour ago: none' test "$(cat_of --until '1 hour ago' log | wc -l)" -eq 0
    claim 'since tomorrow, backwards: none' test "$(cat_of --since tomorrow --reverse log | wc -l)" -eq 0
    at=$("$u9" cat --format json --from '#6000' -n 1 log | sed 's/.*"time":"\([^"]*\)".*/\1/')
    claim 'a time of a record: all from its frame on' test "$(cat_of --since "$at" -n 1 log | cut -d' ' -f2)" -le 6000
    claim 'together nothing twice, and nothing left out' cmp <(cat_of --until "$at" log; cat_of --since "$at" log) <(lines 0 11999)
    claim 'what is no time is named' refused 2 "'hurs': not a unit of time" "$u9" cat --since '2 hurs ago' log
    claim 'nothing is guessed' refused 2 "--until noon: not a time like .*: 'noon': not understood" "$u9" cat --until noon log
}

saved() {
    cat_of -n 10 --cursor place --save-cursor place log >out
    claim '--cursor and --save-cursor of one file: the first time it begins at the start' cmp out <(lines 0 9)
    claim 'the file holds one line' same "$(grep -c '^u9cursor1 ' place) $(wc -l <place)" '1 1'
    cat_of -n 10 --cursor place --save-cursor place log >out
    claim 'then it goes on' cmp out <(lines 10 19)
    claim 'the text itself will do' same "$(some -n 2 --cursor "$(cat place)" log)" 'record 20 record 21 '
    claim 'and back from there' same "$(some -n 2 --reverse --cursor place log)" 'record 19 record 18 '
    cat_of --cursor place --save-cursor place log >out
    claim 'up to the end' cmp out <(lines 20 11999)
    claim 'where nothing is new' same "$(some --cursor place --save-cursor place log)" ''
    lines 12000 12004 | "$u9" append log
    claim 'until more is there' cmp <(cat_of --cursor place log) <(lines 12000 12004)
    claim 'no other file is left' same "$(echo place*)" place
    claim 'a cursor of another log is refused, and says so' refused 1 'one of another log' "$u9" cat --cursor place keyed
    claim 'one that was cut, too' refused 1 'not the line of a saved cursor' "$u9" cat --cursor "$(cut -c 1-80 place) " log
    claim 'a file that is not there' refused 1 '--cursor nowhere: No such file' "$u9" cat --cursor nowhere log
    claim 'two beginnings are one too many' refused 2 '--cursor and --from' "$u9" cat --cursor place --from '#1' log
    seq 5 | "$u9" append backwards 2>err
    cat_of --reverse -n 2 --cursor back.at --save-cursor back.at backwards >out
    claim 'backwards, too: at the end' same "$(cat out)" $'5\n4'
    cat_of --reverse -n 2 --cursor back.at --save-cursor back.at backwards >out
    claim 'and goes on there' same "$(cat out)" $'3\n2'
    cat_of -n 5 --save-cursor early log >out
    "$u9" trim log --before '#8000' >out
    claim 'trimmed since: told, and on with what is kept' \
        test "$(cat_of --cursor early -n 1 log | cut -d' ' -f2)" -gt 5
    claim 'in a line on standard error' grep -q 'trimmed' err
    claim 'a folder that is not there is refused before anything is printed' refused 1 '^u9 cat: --save-cursor nowhere/place: No such file' "$u9" cat -n 1 --save-cursor nowhere/place log
    claim 'which is all that is said' same "$(wc -l <refused)" 1
    mkdir full
    mkfifo pipe
    ln -s early link
    for name in full pipe; do
        claim "a $name is not replaced" refused 1 "--save-cursor $name: not a regular file" "$u9" cat -n 1 --save-cursor "$name" log
    done
    claim 'and nothing is left there' same "$(echo full* pipe*)" 'full pipe'
    cat_of -n 7 --save-cursor link log >out
    claim 'a link stays one, and what it names is written' same "$(readlink link) $(cat_of --cursor early -n 1 log)" "early $(cat_of --cursor link -n 1 log)"
}

versions() {
    for n in 1 2 3 4; do printf 'a\tv%s\nb\tw%s\n' $n $n; done | "$u9" append --key rkey --key-field '\t' many
    claim 'get --all: all versions, oldest first' same "$("$u9" get --all many a | tr '\n' ' ')" 'v1 v2 v3 v4 '
    claim '--reverse: newest first' same "$("$u9" get --all --reverse many a | tr '\n' ' ')" 'v4 v3 v2 v1 '
    claim '-n 2: so many of each' same "$("$u9" get --all --reverse -n 2 many a b | tr '\n' ' ')" 'v4 v3 w4 w3 '
    claim 'the newest before a record' same "$("$u9" get --to '#4' many a b | tr '\n' ' ')" 'v2 w2 '
    claim 'backwards the same' same "$("$u9" get --to '#4' --reverse many a b | tr '\n' ' ')" 'v2 w2 '
    claim 'the first from one on' same "$("$u9" get --all -n 1 --from '#3' many a b | tr '\n' ' ')" 'v3 w2 '
    claim '--limit goes with --all' refused 2 'goes with --all' "$u9" get -n 1 many a
}

# What is new of some keys.
saved_of_keys() {
    printf 'a\t1\nb\t1\na\t2\n' | "$u9" append --key rkey --key-field '\t' polled
    poll() { "$u9" get --all --keys --cursor polled.at --save-cursor polled.at polled "$@" 2>err | tr '\t\n' '= '; }
    claim 'get --cursor --save-cursor: all the first time' same "$(poll a b)" 'a=1 a=2 b=1 '
    claim 'then nothing' same "$(poll a b)" ''
    claim 'which is status 1, and told of each key' refused 1 'b: polled has no record with this key in the part' \
        "$u9" get --cursor polled.at polled a b
    printf 'c\t1\nb\t2\nb\t3\n' | "$u9" append --key-field '\t' polled
    claim 'then what is new' same "$(poll a b)" 'b=2 b=3 '
    claim 'of keys that were not asked for before nothing is left' same "$(poll c)" ''
    claim 'from a saved place on, as cat has it' same "$("$u9" get --all --cursor "$(cat polled.at)" --reverse polled b | tr '\n' ' ')" '3 2 1 '
    claim 'the newest of what is new' same "$(printf 'a\t3\na\t4\n' | "$u9" append --key-field '\t' polled && "$u9" get --cursor polled.at polled a)" 4
    claim 'what a limit leaves out would be passed over: refused' refused 2 '--limit leaves records out' \
        "$u9" get --all -n 1 --save-cursor polled.at polled a
    claim 'a cursor of another log is refused' refused 1 'one of another log' "$u9" get --cursor polled.at many a
}

# Of LOG: the first record that is lost, and the first behind it.
loss_in() {
    "$fsck" "$1" >checked
    first=$(sed -n 's/.*: lost: records \([0-9]*\)\.\..*/\1/p' checked) behind=$(($(sed -n 's/.*: lost: records [0-9]*\.\.//p' checked) + 1))
}

# A part that begins or ends by a key within what is lost, or next to it, tells that; one that lies beside it does not.
parts_beside_losses() {
    for part in '0 5999' '6000 6399' '6400 11999'; do # no frame has records of two sessions, whatever it has
        # shellcheck disable=SC2086
        lines $part | "$u9" append --segment-size 64K --print-keys whole
    done >keys
    cp -r whole lossy
    harm "$(grep -l 'record 6200' lossy/*.u9 | head -n 1)" 'record 6200'
    loss_in lossy
    claim 'records are lost in the midst' test "$first" -ge 6000 -a "$behind" -gt "$first" -a "$behind" -le 6400
    for at in "$first" "$(((first + behind) / 2))" "$((behind - 1))"; do
        key=$(sed -n "$((at + 1))p" keys)
        for how in 'cat' 'cat --reverse' 'export jsonl' 'grep record'; do
            # shellcheck disable=SC2086
            claim "$how --from the key of #$at, of #$first to #$((behind - 1)) lost: told" refused 3 "records $first\.\.$((behind - 1)) " \
                "$u9" $how --from "$key" lossy
            claim 'once' test "$(grep -c CORRUPT refused)" -eq 1
        done
        claim 'cat: and what is left is printed' cmp <(cat_of --from "$key" lossy) <(lines "$behind" 11999)
        claim "--to that key: told" refused 3 "records $first\.\.$((behind - 1)) " "$u9" cat --to "$key" lossy
        run "$u9" get --all --from "$key" lossy "$key"
        claim 'get --from it: that it may be lost' test "$status $(grep -c CORRUPT err) $(grep -c 'may be lost' err)" = '3 1 1'
    done
    key=$(sed -n "$((first))p" keys)
    claim '--from the record before: told' refused 3 "records $first\.\." "$u9" cat --from "$key" lossy
    claim 'which comes first' same "$(some -n 2 --from "$key" lossy)" "record $((first - 1)) record $behind "
    key=$(sed -n "$((behind + 2))p" keys)
    for how in '' '--reverse'; do
        # shellcheck disable=SC2086
        for part in "--to #$first" "--to #$((first - 1))" "--from #$behind" "--from #$((behind + 1))" "--from $key"; do
            run "$u9" cat $how $part lossy
            claim "cat $how $part, of #$first to #$((behind - 1)) lost: all that is asked for is there" same "$status $(cat err)" '0 '
        done
        # shellcheck disable=SC2086
        for part in "--to #$((first + 1))" "--from #$((behind - 1))"; do
            claim "cat $how $part: not all" refused 3 "records $first\.\." "$u9" cat $how $part lossy
        done
    done
    harm "$(find whole -name '*.u9' | sort | tail -n 1)" 'record 11999'
    loss_in whole
    key=$(tail -n 1 keys)
    claim "--from the last key, which is lost: told" refused 3 "records $first\.\." "$u9" cat --from "$key" whole
    lines 0 11999 | awk '{ print "k" NR % 1000 "\t" $0 }' | "$u9" append --segment-size 64K --key rkey --key-field '\t' unordered
    harm "$(find unordered -name '*.u9' | sort | head -n 1)" 'record [0-9]' 100
    loss_in unordered
    key=k$(((first + 1) % 1000))
    claim '--from a key that the first records may have had' refused 3 "records $first\.\." "$u9" cat --from "$key" unordered
    claim 'once, either way' test "$(grep -c CORRUPT refused) $("$u9" cat --reverse --from "$key" unordered 2>&1 | grep -c CORRUPT)" = '1 1'
    for how in 'cat --from' 'cat --to' 'export jsonl --from' 'grep record --to'; do
        # shellcheck disable=SC2086
        claim "$how one that no record has any more: as well" refused 3 "records $first\.\." "$u9" $how kx unordered
        claim 'and that there is none' test "$(grep -c 'has this key' refused) $(grep -c CORRUPT refused)" = '1 1'
    done
}

# The newest record that is left is printed with the word that newer ones were lost.
newest_lost() {
    k=$(printf '%050d' 7)
    for part in '0 1999' '2000 2049' '2050 2999'; do # each record from 2000 on is the newest of its key
        # shellcheck disable=SC2086
        lines $part | awk -v k="$k" '{ print k ($2 + 1) % 1000 "\t" $0 }' | "$u9" append --segment-size 64K --key rkey --key-field '\t' values
    done
    lost=2025
    harm "$(grep -l "record $lost" values/*.u9 | head -n 1)" "record $lost"
    loss_in values
    claim 'records are lost in the midst' test "$first" -ge 2000 -a "$first" -le "$lost" -a "$lost" -lt "$behind" -a "$behind" -le 2050
    key=$k$(((lost + 1) % 1000)) other=$k$(((behind + 1) % 1000))
    run "$u9" get values "$key"
    claim "get $key, whose newest record is lost: the one before, status 3" same "$status $(cat out)" "3 record $((lost - 1000))"
    claim 'where the damage is, once' test "$(grep -c CORRUPT err)" -eq 1
    claim 'and what that means' grep -q "^u9 get: $key: newer records of values were lost, and may have had this key" err
    run "$u9" get values "$other"
    claim 'of a key whose newest record is behind that, nothing' same "$status $(cat out err)" "0 record $behind"
    run "$u9" get values "$other" "$key" "$other"
    claim 'of both: told of the one' same "$status $(tr '\n' ' ' <out)$(grep -c 'newer records' err)" \
        "3 record $behind record $((lost - 1000)) record $behind 1"
    for how in '--reverse' '--to #2999'; do
        # shellcheck disable=SC2086
        run "$u9" get $how values "$key"
        claim "get $how: the same" same "$status $(cat out) $(grep -c 'newer records' err)" "3 record $((lost - 1000)) 1"
    done
    for how in '' '--reverse'; do
        # shellcheck disable=SC2086
        run "$u9" get --all $how values "$key"
        claim "get --all $how: those that are left, status 3" same "$status $(wc -l <out)" '3 2'
        claim 'and it is told' grep -q 'records.* were lost' err
    done
    run "$u9" get --all values "$key" "$other"
    claim 'get --all of some: told of each' test "$status $(grep -c 'may have had this key' err)" = '3 2'
    lines 0 2999 | "$u9" append --segment-size 64K made
    key=$("$u9" cat --keys -n 1 made | cut -f 1)
    harm "$(find made -name '*.u9' | sort | sed -n 2p)" 'record [0-9]' 100
    run "$u9" get made "$key"
    claim 'an identifier that is found is in no doubt' same "$status $(cat out err)" '0 record 0'
    run "$u9" get made "$key" 0000000000001-00000000001-00000001
    claim 'nor is it beside one that is not, which may be lost' same "$status $(cat out) $(grep -c 'newer records' err)" '3 record 0 0'
}

# What was trimmed is no damage, and is not missing without a word.
trimmed() {
    lines 0 11999 | "$u9" append --segment-size 64K short
    "$u9" trim --keep 100K short >out
    first=$("$u9" stat --json short | grep -oE '"first_ordinal":"[0-9]+"' | tr -dc 0-9)
    for words in "--from #0" "--from #$((first - 1))" "--to #$first" "--from #1 --to #2" "--reverse --from #0"; do
        # shellcheck disable=SC2086
        run "$u9" cat $words short
        claim "cat $words: it is said where the log begins" same "$status $(cat err)" \
            "0 u9 cat: note: short begins at record $first: what was before it was trimmed"
    done
    for words in '' "--from #$first" "--to #$((first + 1))"; do
        # shellcheck disable=SC2086
        run "$u9" cat $words short
        claim "cat $words: that is no news" same "$status $(cat err)" '0 '
    done
    run "$u9" export csv --from '#0' short
    claim 'export says it once' same "$status $(wc -l <out) $(cat err)" \
        "0 $((12000 - first + 1)) u9 export: note: short begins at record $first: what was before it was trimmed"
    run "$u9" cat --from '#0' log.none
    claim 'of no log nothing' same "$status $(grep -c begins err)" '1 0'
}

for group in both_ways times saved versions saved_of_keys parts_beside_losses newest_lost trimmed; do
    $group
done
tally
