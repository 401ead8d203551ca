#!/usr/bin/env bash
# tests/tools/test_cli.sh BINDIR TMPDIR: u9 and u9fsck from a user's chair, end to end.
# What cannot be tried here (permissions as root, a full disk without one) is skipped.
# shellcheck disable=SC2016 # conditions and $bytes are meant as they stand
# shellcheck source=tests/tools/claims.sh
golden=$(cd "$(dirname "$0")/../golden" && pwd)
. "$(dirname "$0")/claims.sh"
mounted=

cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    cd / && chmod -R u+rwx "$tmp" && rm -rf "$tmp"
}
trap cleanup EXIT

# exits STATUS SENTENCE COMMAND...: that exit status, and nothing on stderr.
exits() {
    local want=$1 sentence=$2
    shift 2
    run "$@"
    [ "$status" -eq "$want" ] && [ ! -s err ]
    result $? "$sentence"
}

# prints TEXT SENTENCE COMMAND...: exactly that on stdout, nothing on stderr, status 0.
prints() {
    local want=$1 sentence=$2
    shift 2
    run "$@"
    [ "$status" -eq 0 ] && [ ! -s err ] && [ "$(cat out)" = "$want" ]
    result $? "$sentence"
}

# mistake STATUS PATTERN SENTENCE COMMAND...: that status, and one line on stderr that fits.
mistake() {
    local want=$1 pattern=$2 sentence=$3
    shift 3
    run "$@"
    [ "$status" -eq "$want" ] && [ "$(wc -l <err)" -eq 1 ] && grep -Eq -- "$pattern" err
    result $? "$sentence"
}

append() { "$u9" append "$@"; }

# said PATTERN...: err has exactly these lines.
said() {
    local pattern at=0
    [ "$(wc -l <err)" -eq $# ] || return 1
    for pattern; do
        at=$((at + 1))
        sed -n ${at}p err | grep -Eq -- "$pattern" || return 1
    done
}

# plainly COMMAND...: as somebody who is not root, to whom permissions mean something.
plainly() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
    else
        "$@"
    fi
}
lines() { seq -f "record %.0f" "$1" "$2"; }

# flip FILE OFFSET: inverts one byte.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059
    printf "\\x$(printf %02x $((byte ^ 255)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
segment() { find "$1" -name '*.u9' | sort | sed -n "${2-1}p"; }
flip_text() { # FILE TEXT: inverts a byte of TEXT where it first stands
    flip "$1" "$(grep -abo -m1 -- "$2" "$1" | head -n 1 | cut -d: -f1)"
}

help_and_usage() {
    run "$u9" --help
    claim 'u9 --help lists the verbs' grep -q '^  append .*LOG' out
    prints "u9 0.1.0" 'u9 --version' "$u9" --version
    prints "u9fsck 0.1.0" 'u9fsck --version' "$fsck" --version
    for verb in append cat get info id value; do
        run "$u9" $verb --help
        claim "u9 $verb --help goes to standard output" grep -q "^Usage: u9 $verb" out
    done
    for verb in append cat get info id value; do
        run "$u9" $verb -h
        claim "u9 $verb -h is --help" grep -q "^Usage: u9 $verb" out
    done
    exits 0 'u9 -h' "$u9" -h
    exits 0 'u9fsck -h' "$fsck" -h
    run "$u9" cat x -h --keys
    claim '-h is --help in any place' grep -q '^Usage: u9 cat' out
    run "$u9" get --help
    claim 'get --help says when answers come' \
        grep -q 'answers come at the end of the input' <(tr -s '\n ' ' ' <out)
    mistake 2 'u9: no verb' 'no verb is a usage error' "$u9"
    mistake 2 "u9: unknown verb 'dance'" 'an unknown verb is named' "$u9" dance
    mistake 2 'u9 append: .*--dance' 'an unknown option is named' "$u9" append --dance
    mistake 2 'u9 append: no LOG' 'append without a log' "$u9" append
    mistake 2 'u9 cat: no LOG' 'cat without a log' "$u9" cat
    mistake 2 'u9 cat: .*--limit' 'an option without its argument' "$u9" cat --limit
    mistake 2 'u9 cat: .*log2' 'a second log' "$u9" cat log1 log2
    mistake 2 'u9 get: no LOG' 'get without a log' "$u9" get
    mistake 2 'u9 get: no KEY' 'get without a key' "$u9" get log
    mistake 2 'u9 info: no LOG' 'info without a log' "$u9" info
    mistake 16 'u9fsck: no LOG' 'u9fsck without a log' "$fsck"
    mistake 16 'u9fsck: .*--dance' 'u9fsck with an unknown option' "$fsck" --dance
    mistake 16 'go with --repair' 'u9fsck -y alone' "$fsck" -y x
    mistake 16 'each go by themselves' 'u9fsck --carve --undo' "$fsck" --carve y --undo x
    mistake 2 "'tidy' is not a format" 'an unknown format' "$u9" cat --format tidy x
    mistake 2 "'often' is not a policy" 'an unknown policy' "$u9" append --sync often x
    mistake 2 'segment-size 1K: not a size of at least 64K and below 4T' 'a tiny segment' \
        "$u9" append --segment-size 1K x
    mistake 2 'uuid: no key kind has this name' 'append --key with an unknown kind' "$u9" append --key uuid x
    claim 'none of these made a log' test ! -e x
}

append_and_cat() {
    lines 1 1000 >input
    exits 0 'append takes a file' append log input
    run "$u9" cat log
    claim 'cat gives the lines back' cmp out input
    printf 'one\ntwo' | append lastline
    prints $'one\ntwo' 'a last line without newline is a record' "$u9" cat lastline
    printf 'a\n\nb\n' | append empty -
    run "$u9" cat empty
    claim 'an empty line is a record' test "$(wc -l <out)" -eq 3
    printf 'x\ny\0z\0' | append --null nul
    run "$u9" cat --format json nul
    claim '--null ends records at NUL' test "$(grep -c . out)" -eq 2
    claim '--null keeps newlines' grep -q '"values":\["x\\ny"\]' out
    printf 'x\ny\0z\0' >want
    "$u9" cat --null nul >out
    claim 'cat --null gives the same bytes back' cmp out want
    "$u9" cat --null --format json nul >out
    claim 'cat --null ends JSON objects, too' test "$(tr -cd '\0' <out | wc -c)" -eq 2
    mistake 2 '--null goes with --format lines or json' 'raw has no ends' \
        "$u9" cat --null --format raw nul
    for format in raw json; do
        mistake 2 '--keys goes with --format lines only: raw and json have the keys within' \
            "cat --keys --format $format" "$u9" cat --keys --format $format nul
        mistake 2 '--keys goes with --format lines only' \
            "and before the log is opened" "$u9" get --keys --format $format nowhere x
    done
    append --whole whole input lastline/../input
    run "$u9" cat --format json whole
    claim '--whole makes each file one record' test "$(wc -l <out)" -eq 2
    printf 'caf\xc3\xa9\n\xff\xfe\n' | append bytes
    run "$u9" cat --format json bytes
    claim 'a UTF-8 line is utf8' grep -q '"values":\["café"\]' out
    claim 'another line is bytes' grep -q '"values":\[{"$bytes":"fffe"}\]' out
    printf 'caf\xc3\xa9\n\xff\xfe\n' >want
    run "$u9" cat bytes
    claim 'lines prints both as they are' cmp out want
    run "$u9" cat --format raw bytes
    claim 'raw prints utf9 tuples with the key first' \
        test "$(od -An -tx1 -N 4 out | tr -d ' ')" = "4a181c10"
    exits 0 'appending goes on in the same log' append log input
    claim 'and adds to it' test "$("$u9" cat log | wc -l)" -eq 2000
    run append --verbose verbose input
    claim '--verbose sums up on stderr' grep -Eq '^u9 append: 1000 records, 9893 bytes' err
    run append --verbose verbose - <<<one
    claim 'one record is one record' grep -Eq '^u9 append: 1 record, 3 bytes' err
    : | append nothing
    claim 'without input a log is made, which is empty' test "$("$u9" cat nothing | wc -c)" -eq 0
    mkdir void
    mistake 1 'void: no log is here' 'an empty directory is no log' "$u9" cat void
    lines 1 30000 >big
    append --segment-size 64K --sync none many big
    claim '--segment-size rolls' test -n "$(segment many 2)"
    append --sync interval interval input
    claim '--sync interval: all is there' test "$("$u9" cat interval | wc -l)" -eq 1000
    append --lz4 packed big
    run "$u9" cat packed
    claim '--lz4: all is there' cmp out big
    claim '--lz4 makes it smaller' test "$(stat -c %s "$(segment packed)")" -lt 300000
    head -c 20000000 /dev/zero | tr '\0' x >long
    printf 'short\n' | cat - long >toolong
    mistake 1 'toolong:2: longer than a record may be .*; 1 record was appended before it$' \
        'a line above the limit is named' \
        append toolong.log toolong
    prints short 'and what stood before it is appended' "$u9" cat toolong.log
    head -c 16000000 long | append --whole large
    claim 'a record of 16 MB goes through' test "$("$u9" cat large | wc -c)" -eq 16000001
}

json() {
    cat >in.json <<'END'
"text \u00e9 \" \\ \n"
["a",[1,-2,[]],2.5]
9223372036854775807
-9223372036854775808
0.1
{"b":[true,null],"$a":{"$bytes":"00ff"}}
18446744073709551615
{"$oid":"507f"}

9007199254740993
END
    exits 0 '--json takes all JSON' append --json json in.json
    "$u9" cat --format json json | sed 's/.*"values"://' >values
    cat >want <<'END'
["text é \" \\ \n"]}
[["a",[1,-2,[]],2.5]]}
[9223372036854775807]}
[-9223372036854775808]}
[0.1]}
[{"b":[true,null],"$a":{"$bytes":"00ff"}}]}
[18446744073709551615]}
[{"$oid":"507f"}]}
[9007199254740993]}
END
    claim 'cat --format json gives them back, integers of 64 bits and keys with $ as they were, without the blank line' cmp values want
    run "$u9" get --format json json "$("$u9" cat --keys --limit 1 --from '#5' json | cut -f1)"
    claim 'so does get' grep -Fq '"values":[{"b":[true,null],"$a":{"$bytes":"00ff"}}]}' out
    run "$u9" cat --limit 4 json
    claim 'lines prints nested tuples as JSON, numbers as text' \
        test "$(sed -n 3,4p out | tr '\n' ' ')" = '["a",[1,-2,[]],2.5] 9223372036854775807 '
    for bad in '{"$int":1}' '[1,[{"$int":1}]]'; do
        printf '"fine"\n%s\n' "$bad" >bad.json
        mistake 1 'bad.json:2:[15]: "\$int" wants a string \(a key of your own is "\$\$int"\); 1 record was' \
            "--json refuses $bad, naming line and key" append --json bad bad.json
    done
    printf '"fine"\n{"a":1,"a":2}\n' >bad.json
    mistake 1 'bad.json:2:13: an object has the key "a" twice; 1 record was' 'two members of one name' \
        append --json bad bad.json
    printf '"fine"\n{"a"\n' >bad.json
    mistake 1 'bad.json:2:4: not a JSON value: .*; 1 record was appended before it$' \
        'broken JSON is named' append -j bad bad.json
    printf '1e999\n' >bad.json
    mistake 1 'bad.json:1:1: 1e999 is too large for a float64; 0 records were' 'a number that is too big' append --json bad bad.json
    { head -c 100 /dev/zero | tr '\0' '['; head -c 100 /dev/zero | tr '\0' ']'; } >deep.json
    mistake 1 'deep.json:1:[0-9]+: .*64 deep' 'containers nested too deep' append --json bad deep.json
    claim 'what stood before was appended' test "$("$u9" cat bad | sort -u)" = fine
    { printf '1\n\n?\n'; printf '{"$int":1}\n%.0s' {1..9}; printf ' \t\r\n[2\n'
        head -c 17000000 /dev/zero | tr '\0' x; printf '\n2'; } >bad.json
    run "$u9" append --json --skip-bad --print-keys skipped bad.json
    claim '--skip-bad goes on behind lines that are refused' same "$("$u9" cat skipped | tr '\n' ' ')" '1 2 '
    claim 'prints no keys for them' test "$(wc -l <out)" -eq 2
    claim 'names the first few' same "$(grep -Ec '^u9 append: bad.json:[3-7]:1: .*; skipped$' err) $(wc -l <err)" '5 6'
    claim 'counts all, and exits 1' \
        same "$status $(tail -n 1 err)" '1 u9 append: 12 lines were skipped, the first 5 are named above'
    printf 'b\t1\nx2\nc\t?\nd\t4\n' | "$u9" append --json --skip-bad --key rkey --key-field '\t' skipkeys 2>err
    claim 'lines without a key are skipped, too, and columns are those of the line' \
        same "$? $("$u9" cat --keys skipkeys | tr '\t\n' '= ')$(grep -Ec 'input:(2|3:3): ' err)" '1 b=1 d=4 2'
    exits 0 'where nothing is bad --skip-bad changes nothing' append --json --skip-bad skipped in.json
    mistake 2 '--skip-bad goes with --json' '--skip-bad of lines' append --skip-bad skipped in.json
}

keys() {
    lines 1 500 >input
    exits 0 'append --print-keys' append --print-keys keys input
    cp out keys.txt
    claim 'prints a canonical key for each' \
        test "$(grep -Ecx '[0-9A-F]{13}-[0-9A-F]{11}-[0-9A-F]{8}' keys.txt)" -eq 500
    claim 'the keys ascend' sort -cu keys.txt
    paste keys.txt input >want
    run "$u9" cat --keys keys
    claim 'cat --keys prints key, tab, value' cmp out want
    exits 0 '--key-field takes the keys from the lines' append --key-field '\t' rekeyed want
    run "$u9" cat --keys rekeyed
    claim 'keys and values are the same again' cmp out want
    printf 'nokey\n' >bad.txt
    mistake 1 'bad.txt:1: .*no separator' 'a line without a key' append --key-field , badkey bad.txt
    printf '5D5EAC793E61F,x\n5d5eac793e61f,y\n' >bad.txt
    mistake 1 'bad.txt:2: .*not a key of the log.s kind: .*; 1 record was appended before it$' 'a key that is no muid' \
        append --key-field , badkey bad.txt
    mistake 2 'does not go with' '--whole with --key-field' append --whole --key-field , k bad.txt
    a=$(sed -n 100p keys.txt) b=$(sed -n 200p keys.txt)
    run "$u9" cat --from "$a" --to "$b" keys
    claim '--from is inclusive, --to exclusive, by key' \
        test "$(sed -n '1p;$p' out | tr '\n' ' '; wc -l <out)" = 'record 100 record 199 100'
    run "$u9" cat --from '#10' --to '#12' keys
    claim 'and by ordinal' test "$(tr '\n' ' ' <out)" = 'record 11 record 12 '
    before=$(printf '%013X' $((16#${a%%-*} - 1)))
    claim 'a key that is not there: from the first above it' \
        test "$("$u9" cat --keys --limit 1 --from "$before" keys | cut -f1)" = \
        "$(awk -v b="$before" '$0 >= b' keys.txt | head -n 1)"
    mistake 1 '--from x: neither' 'a bound that is neither' "$u9" cat --from x keys
    mistake 2 '--to #x: not an ordinal' 'a bad ordinal' "$u9" cat --to '#x' keys
    prints '' '--limit 0 prints nothing' "$u9" cat --limit 0 keys
    mistake 2 '--limit -3: the number must be positive' 'a limit below 0' "$u9" cat --limit -3 keys
    mistake 2 '--index-memory 1: not a size of 1M to 16G' 'a memory that no index fits' "$u9" append --index-memory 1 keys
    mistake 2 '--limit 1x: not a number' 'a limit that is no number' "$u9" cat --limit 1x keys
    mistake 2 '--limit 99999999999999999999: too large' 'a limit beyond 64 bits' \
        "$u9" cat --limit 99999999999999999999 keys
    mistake 2 '--from is behind --to' 'ordinals the wrong way round' \
        "$u9" cat --from '#12' --to '#10' keys
    mistake 1 '--from is behind --to' 'keys the wrong way round, which the log says' "$u9" cat --from "$b" --to "$a" keys
    times
}

times() {
    run "$u9" cat --since 2020-01-01T00:00:00Z --until 2100-01-01T00:00:00.5+02:00 keys
    claim '--since, --until: all' test "$(wc -l <out)" -eq 500
    prints '' '--since in the future: none' "$u9" cat --since 2100-01-01T00:00:00Z keys
    prints '' '--until @seconds in the past: none' "$u9" cat --until @1000000000 keys
    for since in 2020-01-01 2020-01-01T00:00:00 '2020-01-01 00:00:00.5'; do
        run "$u9" cat --since "$since" --until 2099-12-31 keys
        claim "--since $since: all" test "$(wc -l <out)" -eq 500
    done
    "$u9" cat --format json --limit 1 keys >one
    time=$(sed 's/.*"time":"\([^Z"]*\)Z.*/\1/' one)
    prints 'record 1' 'a time with a zone is the same wherever one is' \
        env TZ=EAST-9 "$u9" cat --since "${time}Z" --limit 1 keys
    prints 'record 1' 'what is finer is cut off' "$u9" cat --since "${time}999Z" --limit 1 keys
    prints '' 'to the microsecond' env TZ=WEST9 "$u9" cat --until "${time}Z" keys
    prints 'record 1' 'a date alone is its midnight' "$u9" cat --since "${time%T*}" --limit 1 keys
    prints '' 'and not later' "$u9" cat --until "${time%T*}" keys
    mistake 2 '--since is later than --until' 'times the wrong way round' \
        "$u9" cat --since 2020-01-02 --until 2020-01-01 keys
    for time in noon 2020-13-01T00:00:00Z 2020-02-30T00:00:00Z 2020-02-30 2020-1-1 2020-01-01T @ @1. \
        2020-01-01Z 2020-01-01T00:00:00+1:000 2020-01-01T00:00:00.Z 1960-01-01T00:00:00Z; do
        mistake 2 'not a time like' "--since $time is refused" "$u9" cat --since "$time" keys
    done
    "$u9" cat --format json --limit 1 keys >one
    claim 'json has a time with microseconds' \
        grep -Eq '"time":"20[0-9]{2}-[0-9-]{5}T[0-9:]{8}\.[0-9]{6}Z"' one
    claim 'and starts with ordinal and key' \
        grep -q "^{\"ordinal\":\"0\",\"key\":\"$(head -n 1 keys.txt)\",\"time\"" one
}

ranges() {
    lines 1 30000 >big
    append ranges big
    file=$(segment ranges)
    size=$(stat -c %s "$file")
    : >parts
    for cut in 0-100K 100K-200001 200001-300K "300K-$size"; do
        "$u9" cat --segment 1 --range "$cut" ranges >>parts
    done
    claim 'ranges of a segment miss nothing and repeat nothing' cmp parts big
    "$u9" cat --range 0-100K "$file" >parts
    "$u9" cat --range 100K- "$file" >>parts
    claim 'a single file needs no --segment' cmp parts big
    run "$u9" cat "$file"
    claim 'a single file reads as a log' cmp out big
    mistake 2 'of which segment' '--range of a log needs --segment' "$u9" cat --range 0-1 ranges
    mistake 2 'not a range' 'a bad range' "$u9" cat --range 5-x "$file"
    mistake 2 '--range 100-10: reversed: it ends before it begins' 'a reversed range' \
        "$u9" cat --range 100-10 "$file"
    mistake 2 '--range 10-10: .*nothing is in it' 'an empty range' "$u9" cat --range 10-10 "$file"
    mistake 2 'segment 0' 'segment 0' "$u9" cat --segment 0 ranges
    mistake 1 'segment' 'a segment that is not there' "$u9" cat --segment 9 ranges
}

gets() {
    first=$(sed -n 1p keys.txt) last=$(tail -n 1 keys.txt)
    none=0000000000001-00000000001-00000001
    prints $'record 500\nrecord 1' 'get prints records in the order asked for' \
        "$u9" get keys "$last" "$first"
    mistake 1 "u9 get: $none: keys has no record" 'an absent key is named' "$u9" get keys $none
    run "$u9" get keys $none "$first"
    claim 'and does not stop the others' test "$status $(cat out)" = '1 record 1'
    mistake 1 'u9 get: x: not a key of kind muid: .*; `u9 cat --keys` shows keys' 'a key that is no muid' "$u9" get keys x
    mistake 1 'u9 get: #1: .*; `u9 cat --from` shows a record by its number' 'a number' "$u9" get keys '#1'
    printf '%s\n%s\n' "$first" "$last" >ask
    prints $'record 1\nrecord 500' 'get - reads keys' "$u9" get keys - <ask
    run "$u9" get --format json keys "$first"
    claim 'get --format json' grep -q '"values":\["record 1"\]' out
    printf '%s\told\n%s\tother\n%s\tnew\n' "$first" "$last" "$first" | append --key-field '\t' twice
    prints new 'get prints the newest' "$u9" get twice "$first"
    prints $'old\nnew' 'get --all prints all, oldest first' "$u9" get --all twice "$first"
    mistake 1 'has no record' 'get --all of an absent key' "$u9" get --all twice $none
    prints $'new\nother\nnew' 'a key that is asked for twice is answered twice' \
        "$u9" get twice "$first" "$last" "$first"
    prints $'other\nold\nnew\nother' 'get --all answers in the order of the keys, too' \
        "$u9" get --all twice "$last" "$first" "$last"
    prints $'new\nother\nnew' 'keys of - stand among the others' \
        "$u9" get twice "$first" - "$first" <<<"$last"
    prints '' 'get - of no keys is no answer' "$u9" get keys - </dev/null
    printf '%s\nx\n%s\n' "$first" "$none" >ask
    run "$u9" get keys - "$last" <ask
    claim 'what is no key and what is absent does not stop the others' \
        test "$status $(tr '\n' ' ' <out) $(wc -l <err)" = '1 record 1 record 500  2'
    "$u9" get --null --keys keys "$first" "$last" >out
    claim 'get --null' test "$(tr '\0' ' ' <out)" = "$first"$'\trecord 1 '"$last"$'\trecord 500 '
    "$u9" cat --keys many | cut -f1 | sort -R --random-source=big >ask
    timeout 20 "$u9" get --keys many - <ask >out
    claim 'the log is read once, however many keys are asked for' cmp <(cut -f1 out) ask
    claim 'and each has its record' cmp <(sort out) <("$u9" cat --keys many | sort)
}

infos() {
    run "$u9" info keys
    for line in 'state +clean' 'end +closed' 'segments +1' 'records +500' 'key kind +muid' \
        "first key +$(head -n 1 keys.txt)" "last key +$(tail -n 1 keys.txt)" 'compression +none' \
        'last time +[^ ]*Z \([0-9]+ (s|min) ago\)$'; do
        claim "info says: $line" grep -Eq "^$line" out
    done
    run "$u9" info --json keys
    cp out want
    run "$u9" info -j keys
    claim 'info -j is info --json' cmp out want
    run "$u9" info --json keys
    claim 'info --json is one line' test "$(wc -l <out)" -eq 1
    claim 'with numbers as strings' grep -q '"state":"clean".*"records":"500"' out
    run "$u9" info packed
    claim 'info of a compressed log' grep -Eq '^compression +lz4 in [0-9]+ frames' out
}

ids() {
    muid=5D5EAC793E61F-1F8CB77AE1E-FFFFFFFF
    prints '{"kind":"muid","text":"'$muid'","bytes":"5d5eac793e61f1f8cb77ae1effffffff","time":"2022-01-19T08:00:30.975519Z","timestamp":"1642579230975519","medallion":"2168077135390","offset":-1}' \
        'id show takes a muid apart' "$u9" id show muid $muid
    run "$u9" id show muid --bytes 5D5EAC793E61F1F8CB77AE1EFFFFFFFF
    claim 'id show --bytes' grep -q "\"text\":\"$muid\"" out
    run "$u9" id show muid --lenient ${muid,,}
    claim 'id show --lenient' grep -q "\"text\":\"$muid\"" out
    exits 1 'a refused one is an answer, and status 1' "$u9" id show muid ${muid,,}
    claim 'with the reason' grep -Eq '^\{"error":".+"\}$' out
    printf '%s\nx\n%s' $muid $muid >ask
    exits 1 'id show - answers line by line' "$u9" id show muid - <ask
    claim 'in order' test "$(cut -c-8 out | tr '\n' ' ')" = '{"kind": {"error" {"kind": '
    claim 'and says of a refused one which line it is' grep -q '^{"error":".*","line":"2"}$' out
    exits 0 'id new' "$u9" id new muid -n 1000
    claim 'makes ascending keys of one medallion' sort -cu out
    claim 'one medallion, offset 1' test "$(cut -d- -f2- out | sort -u | wc -l)" -eq 1
    claim 'between 2^40 and 2^41' grep -Eq '^[0-9A-F]{13}-1[0-9A-F]{10}-00000001$' out
    mistake 2 "'uuid' is not a kind" 'id new with an unknown kind' "$u9" id new uuid
    mistake 2 'no kind' 'id new without a kind' "$u9" id new
    mistake 2 'no TEXT' 'id show without a text' "$u9" id show muid
    mistake 2 "'burn' is neither" 'id with an unknown word' "$u9" id burn muid
    mistake 2 'new.*show.*or.*make' 'id alone' "$u9" id
}

durability() {
    mkfifo pipe nobody
    "$u9" append waiting nobody 2>waiting.err &
    local pid=$!
    # Exactly these two: a shell that is not u9 yet blocks SIGCHLD besides, and would clean up as this one does.
    await "grep -q '^SigBlk:[[:space:]]*0*4002$' /proc/$pid/status"
    kill -TERM $pid
    wait $pid
    claim 'SIGTERM ends who waits for somebody to write into a FIFO' test $? -eq 143
    "$u9" append --print-keys live - <pipe >live.keys &
    pid=$!
    exec 9>pipe
    echo one >&9
    await 'test -s live.keys'
    claim 'a line of a waiting pipe is durable at once' test "$(wc -l <live.keys)" -eq 1
    claim 'and readable' test "$("$u9" cat live 2>/dev/null)" = one
    mistake 1 'u9 append: .*live' 'a second writer is refused' append live input
    printf 'two\nunfinished' >&9
    await 'test "$(wc -l <live.keys)" -eq 2'
    kill -TERM $pid
    wait $pid
    claim 'SIGTERM ends append with 143' test $? -eq 143
    exec 9>&-
    prints $'one\ntwo' 'the log is closed cleanly, without the unfinished line' "$u9" cat live
    claim 'and is clean' "$fsck" -q live
    # A shell without job control starts its children deaf to SIGINT, but not to this.
    (trap - INT; exec env --default-signal=INT "$u9" append live - <pipe) &
    pid=$!
    exec 9>pipe
    echo three >&9
    await 'test "$("$u9" cat live 2>/dev/null | wc -l)" -eq 3'
    kill -INT $pid
    wait $pid
    claim 'SIGINT ends it with 130' test $? -eq 130
    exec 9>&-
    claim 'that log is clean, too' "$fsck" -q live
    "$u9" append torn - <pipe &
    pid=$!
    exec 9>pipe
    echo kept >&9
    await 'test "$("$u9" cat torn 2>/dev/null)" = kept'
    kill -KILL $pid
    wait $pid 2>/dev/null
    exec 9>&-
    run "$u9" cat torn
    claim 'after a kill a committed record is there, and it is no loss' \
        test "$status $(cat out)" = '0 kept'
    exits 0 'u9fsck: an unclosed log is clean' "$fsck" torn
    claim 'with a note' grep -q '^note: .*torn: unclosed' out
    claim 'of one record in its frames' grep -q ' 1 record in [0-9]* frame' out
    run "$u9" info torn
    claim 'info says torn' grep -Eq '^state +torn' out
}

# await CONDITION: up to 10 s.
await() {
    local i
    for ((i = 0; i < 200; i++)); do
        ! eval "$1" || return 0
        sleep 0.05
    done
}

damage() {
    lines 1 30000 >big
    append whole.log big
    exits 0 'u9fsck of a whole log' "$fsck" whole.log
    claim 'says clean' grep -q '^whole.log: clean: 30000 records in' out
    prints '' 'u9fsck -q of a whole log says nothing' "$fsck" -q whole.log
    cp -R whole.log bad.log
    flip_text "$(segment bad.log)" 'record 15000'
    exits 4 'u9fsck of a damaged log' "$fsck" bad.log
    shape='^bad.log/0{15}1\.u9 \[[0-9]+,[0-9]+\): CORRUPT: hash: .+; records [0-9]+\.\.[0-9]+ \([0-9]+ lost\) \[F-6\]$'
    claim 'one line for the damage' test "$(grep -Ec "$shape" out)" -eq 1
    claim 'and a summary' grep -Eq '^bad.log: CORRUPT: .*; 1 damaged place, [0-9]+ records lost' out
    exits 4 'u9fsck --json -j1' "$fsck" --json -j1 bad.log
    mv out want
    exits 4 'u9fsck --json' "$fsck" --json bad.log
    claim 'says the same' cmp out want
    claim 'a damage and a summary' test "$(cut -c-17 out | tr '\n' ' ')" = \
        '{"type":"damage", {"type":"summary" '
    range=$(sed -n 's/.*"ordinal":"\([0-9]*\)","lost":"\([0-9]*\)","at_most":false}$/\1 \2/p' out)
    from=${range% *} lost=${range#* }
    claim 'the lost range holds the flipped record' \
        test "$from" -le 14999 -a $((from + lost)) -gt 14999
    sed "$((from + 1)),$((from + lost))d" big >want
    run "$u9" cat bad.log
    claim 'cat prints all others, tells the damage, and exits 3' \
        test "$status $(grep -c CORRUPT err) $(cmp out want)" = '3 1 '
    "$u9" cat --keys whole.log >all
    key=$(sed -n 15000p all | cut -f1)
    run "$u9" get bad.log "$key"
    claim 'get of a lost key: it may be lost, status 3' \
        test "$status $(grep -c 'may be lost' err)" = '3 1'
    run "$u9" info bad.log
    claim 'info says corrupt, status 3' test "$status $(grep -c '^state  *corrupt: 1' out)" = '3 1'
    exits 4 'u9fsck --salvage' "$fsck" --salvage saved bad.log
    claim 'says what it did' \
        grep -Eq "^saved: $((30000 - lost)) records written, re-read and verified; $lost records lost$" out
    sed "$((from + 1)),$((from + lost))d" all >want
    run "$u9" cat --keys saved
    claim 'the salvaged log has all others, with their keys' cmp out want
    exits 0 'and is clean' "$fsck" saved
    mistake 8 'saved: already exists' 'an OUT that exists is refused' "$fsck" --salvage saved bad.log
    mistake 8 'is the log itself' 'as is the log itself' "$fsck" --salvage bad.log bad.log
    mistake 8 'none/out' 'an OUT in no directory' "$fsck" --salvage none/out bad.log
    cp -R many cut.log
    truncate -s 40960 "$(segment cut.log 2)"
    exits 4 'a cut segment is damage, as its end had been promised' "$fsck" cut.log
    rm "$(segment cut.log 2)"
    exits 4 'and so is one that is missing' "$fsck" cut.log
    unknown_kind
    unknown_losses
    cp -R many blank.log
    : >"blank.log/$(printf %016x $(($(find many -name '*.u9' | wc -l) + 1))).u9"
    exits 0 'a segment whose creation was cut short is clean' "$fsck" blank.log
    claim 'with a note' grep -Eq '^note: .*torn: blank: ' out
}

# A record in parts [C-6]: whole, and with its first part damaged.
parts() {
    cp "$golden/every_frame.u9" parts.u9
    exits 0 'u9fsck of a record in parts' "$fsck" parts.u9
    run "$u9" cat parts.u9
    claim 'cat prints it' grep -q '^as if this record did not fit into one body$' out
    printf '\001' | dd of=parts.u9 bs=1 seek=1480 conv=notrunc status=none
    exits 4 'with a part damaged' "$fsck" parts.u9
    claim 'u9fsck says which part, where, and how many bytes are missing' grep -Eq \
        'CORRUPT: part: .*; part 0, at 1376, is missing, 40 of its 65 bytes; record 6\.\.6 \(1 lost\) \[C-6\]$' out
    run "$fsck" --json parts.u9
    claim 'in JSON, too' grep -q '"part":"0","part_at":"1376","part_lacks":"40","part_total":"65"' out
    exits 4 'u9fsck --salvage of it' "$fsck" --salvage parts.saved parts.u9
    claim 'saves the others' grep -Eq '^parts.saved: 6 records written, .*; 1 record lost$' out
}

# Records larger than what is handed out at once: in, out in each format, found by key, salvaged. [C-6]
large_records() {
    yes "$(printf 'caf\xc3\xa9 and a line of text')" | head -c 20000001 >text
    { cat text; printf '\377'; } >binary
    exits 0 'append --whole of files above 16 MiB' append --whole --print-keys big.log text binary
    mv out big.keys
    claim 'prints their keys' test "$(wc -l <big.keys)" -eq 2
    exits 0 'u9fsck of them' "$fsck" big.log
    claim 'says clean' grep -q '^big.log: clean: 2 records in' out
    "$u9" cat big.log >out
    { cat text; echo; cat binary; echo; } >want
    claim 'cat gives the same bytes back' cmp out want
    run "$u9" get --null big.log "$(head -n 1 big.keys)"
    { cat text; printf '\0'; } >want
    claim 'get finds one by its key' cmp out want
    "$u9" cat --format json --limit 1 big.log | tail -c 40 >out
    claim 'as JSON one is a string' grep -q '[a-z]"\]}$' out
    "$u9" cat --format json --from '#1' big.log | head -c 200 >out
    claim 'and the other, which is no text, hex digits' grep -q '"values":\[{"$bytes":"636166c3a920' out
    claim 'of all its bytes' test "$("$u9" cat --format json --from '#1' big.log | wc -c)" -gt 40000002
    "$u9" cat --format raw big.log >want
    exits 0 'u9fsck --salvage of them' "$fsck" --salvage big.saved big.log
    "$u9" cat --format raw big.saved >out
    claim 'copies them byte for byte' cmp out want
    mistake 1 'longer than 16 MiB, and no file' 'a pipe does not tell its length' \
        bash -c 'cat "$2" | "$0" append --whole "$1"' "$u9" piped.log text
    exits 0 'standard input that is a file does' bash -c '"$0" append --whole "$1" <"$2"' "$u9" piped.log text
    claim 'and is there' test "$("$u9" cat piped.log | wc -c)" -eq 20000002
    flip "$(segment big.log)" 3000000
    run "$u9" cat big.log
    claim 'with a part damaged it is lost, and only it' test "$status $(wc -c <out)" = '3 20000003'
    claim 'which is said' grep -q 'CORRUPT: part: ' err
    rm -r text binary want out big.keys big.log big.saved piped.log
}

# The secret of an unclosed segment: two bytes of it. The mark has a copy; without that there is none. {F67}
lost_secret() {
    cp -R torn unsigned.log
    flip "$(segment unsigned.log)" 10
    flip "$(segment unsigned.log)" 11
    run "$u9" cat unsigned.log
    claim 'a log that lost its secret is read by the copy in its mark' test "$(cat out)" = kept
    rm unsigned.log/.mark
    exits 4 'u9fsck of a log without its secret' "$fsck" unsigned.log
    run "$u9" cat unsigned.log
    claim 'from which nothing can be read' test "$status $(cat out)" = '3 '
    exits 4 'u9fsck --salvage of it' "$fsck" --salvage unsigned.saved unsigned.log
    claim 'says that nothing proves what it saves' grep -Eq \
        '^unsigned.log/0{15}1.u9 .*: CORRUPT: unsigned: .*; no record is lost \[G-3\]$' out
    claim 'and how much that is' grep -Eq '^unsigned.saved: 1 of them unsigned: ' out
    prints kept 'it has all' "$u9" cat unsigned.saved
    exits 4 'a segment alone' "$fsck" --json --salvage unsigned.alone "$(segment unsigned.log)"
    claim 'is salvaged too, and each output told in JSON' grep -q \
        '^{"type":"output","path":"unsigned.alone","number":1,"records":"1","unsigned":"1","from":"unsigned.log/' out
    claim 'and summed up' grep -q '"salvaged":"1".*"unsigned":"1","outputs":"1","gave_up":false' out
}

# A log is copied, both go on, and the copy's segment is put back. {F65}
branches() {
    lines 1 3 | append fork.log
    cp -R fork.log copy.log
    lines 4 6 | append fork.log
    echo 'only in the copy' | append copy.log
    cp "$(segment copy.log)" "fork.log/0000000000000002.u9"
    exits 4 'u9fsck of a log with a branch' "$fsck" fork.log
    claim 'says that it forks' grep -Eq ': CORRUPT: fork: ' out
    exits 4 'u9fsck --salvage of it' "$fsck" --salvage fork.saved fork.log
    claim 'says what is in each' test "$(grep -Ec '^fork.saved(: 6|.fork-2: 1) records? written' out)" -eq 2
    claim 'and from where a branch is' grep -Eq \
        '^fork.saved.fork-2: a branch, from record 3 in fork.log/0{15}2.u9 at [0-9]+ on$' out
    lines 1 6 >want
    run "$u9" cat fork.saved
    claim 'the log is in one' cmp out want
    prints 'only in the copy' 'the branch in another' "$u9" cat fork.saved.fork-2
    mkdir fork.taken.fork-2
    run "$fsck" --salvage fork.taken fork.log
    claim 'where a branch finds its name taken, nothing gets one' test "$status" -eq 8 -a ! -e fork.taken
    claim 'and it says so' said '^u9fsck: fork.taken.fork-2: the new log must not exist yet: File exists$' \
        '^u9fsck: fork.taken is incomplete: fork.taken.partial holds 6 of the records$'
    run "$fsck" --json --salvage fork.json fork.log
    claim 'in JSON, too' test "$(grep -c '^{"type":"output"' out) $(grep -c '"outputs":"2"' out)" = '2 1'
}

# A file of frames without trailers [E-3]: the example of SPEC.md.
plain() {
    local byte
    for byte in $(sed -n '/^```hex E-2/,/^```$/{/^```/d;s/;.*//;p}' "$golden/../../SPEC.md"); do
        printf '%b' "\\x$byte"
    done >plain.u9
    prints 'hello' 'cat of a plain seed file' "$u9" cat --limit 1 plain.u9
    run "$u9" cat --format json plain.u9
    claim 'in JSON, values without a key have none' same "$(cut -d, -f2- out)" \
        '"key":"5D5EAC793E61F-1BFC71B112D-0000000B","time":null,"values":["hello"]}
"key":null,"time":null,"values":[5]}
"key":null,"time":null,"values":["world"]}
"key":null,"time":null,"values":[[1,2]]}'
    run "$u9" cat --range 48- --format json plain.u9
    claim 'a range counts for itself' same "$(cat out)" '{"ordinal":"0","key":null,"time":null,"values":[[1,2]]}'
    prints 'hello' 'get by a key' "$u9" get plain.u9 5D5EAC793E61F-1BFC71B112D-0000000B
    run "$u9" info plain.u9
    claim 'info says what it is' \
        test "$status $(grep -Ec '^(end  *plain seed file: no promises|without key  *3)$' out)" = '0 2'
    exits 0 'u9fsck of it' "$fsck" plain.u9
    claim 'u9fsck, too' grep -q \
        '^plain.u9: clean: 4 records in 2 frames.*; plain seed file: no promises, 3 values without a key$' out
    mkdir plain.log
    cp plain.u9 plain.log/0000000000000001.u9
    mistake 1 'a plain seed file is never appended to' 'an append is refused' append plain.log big
    claim 'and changes nothing' cmp plain.u9 plain.log/0000000000000001.u9
    exits 0 'u9fsck --salvage makes a log of it' "$fsck" --salvage plain.saved plain.log
    claim 'with all values' same "$("$u9" cat plain.saved | tr '\n' ' ')" 'hello 5 world [1,2] '
    printf x | dd of=plain.u9 bs=1 seek=100 conv=notrunc status=none
    exits 4 'a damaged one' "$fsck" plain.u9
    claim 'is UNKNOWN' grep -q \
        '\[32,160): UNKNOWN: hash: .*; records from 0 on, how many is not known \[F-6\]$' out
}

# Where nothing that is left says of which kind keys are, they are shown in hex, and asked for so.
unknown_kind() {
    printf 'one\t1\ntwo\t2\n' | "$u9" append --key rkey --key-field '\t' kindless 2>append.err
    rm kindless/.mark
    file=$(segment kindless 1)
    truncate -s -4096 "$file"
    printf xxxx | dd of="$file" bs=1 seek=100 conv=notrunc status=none
    "$u9" cat --keys kindless >out 2>err
    claim 'keys of an unknown kind are shown' same "$(cut -f 1 out | tr '\n' ' ')" '6f6e65 74776f '
    for key in 6f6e65 74776f; do
        claim "and found as they are shown: $key" same "$("$u9" get --keys kindless $key 2>err)" "$(grep "^$key" out)"
    done
    run "$u9" get kindless 6f6e6
    claim 'but what is none is not' test "$status" -eq 1
}

# Nobody can know how much was in what is gone: no number is made up.
unknown_losses() {
    cp -R many gone.log
    rm gone.log/.mark # which would know
    last=$(find gone.log -name '*.u9' | sort | tail -n 1)
    dd if=/dev/urandom of="$last" bs=1 seek=64 conv=notrunc status=none \
        count=$(($(stat -c %s "$last") - 64))
    exits 4 'u9fsck of a log whose last segment is gone' "$fsck" gone.log
    claim 'says that the loss is not known' \
        grep -Eq ' 1 damaged place, records lost: not known$' out
    run "$u9" info gone.log
    claim 'info, too' \
        test "$status $(grep -Ec '^state .*, records lost: not known \(' out)" = '3 1'
    run "$u9" info --json gone.log
    claim 'and in JSON' grep -q '"unknown_losses":"1"' out
    exits 4 'u9fsck --salvage of it' "$fsck" --salvage gone.saved gone.log
    claim 'says the same' grep -q ' verified; records lost: not known$' out
    rm "$(segment gone.log 2)"
    exits 4 'with another segment missing' "$fsck" gone.log
    claim 'what is known is the least' grep -Eq ' 2 damaged places, at least [0-9]+ records lost$' out
    run "$u9" info gone.log
    claim 'info, too, says so' grep -Eq '^state .*, at least [0-9]+ records lost \(' out
}

# stopped_by SIGNAL COMMAND...: runs it, and sends it the signal when it reads for the fourth time: it has not read all by then.
stopped_by() {
    local signal=$1
    shift
    ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 strace -qq -o /dev/null -e "inject=pread64:signal=$signal:when=4" "$@" >out 2>err
    status=$?
}

# A command that can make no file longer than so many KiB. What counts how much of it runs (make coverage) goes
# elsewhere: counters that are cut short would spoil those of all other runs.
capped() { # KIB COMMAND...
    GCOV_PREFIX=$TMPDIR/capped GCOV_ERROR_FILE=/dev/null bash -c 'ulimit -f "$0"; exec "$@"' "$@"
}

unfinished() {
    lines 1 100000 >much
    append --sync none long.log much
    run capped 2048 "$fsck" --salvage short long.log
    claim 'salvage without room fails, says why, and how far it came' \
        test "$status" -eq 8 -a ! -e short
    claim 'in three lines' said '^u9fsck: short.*: File too large' '^u9fsck: long.log was only read and is as it was' \
        '^u9fsck: short is incomplete: short.partial holds [0-9]+ of the records$'
    exits 0 'the next run' "$fsck" --salvage short long.log
    claim 'replaces what was left' test ! -e short.partial
    claim 'and has all' cmp <("$u9" cat short) much
    if ! strace -qq -o /dev/null -e inject=getppid:retval=1:when=1 true 2>/dev/null; then
        skip 'signals in the midst of it: strace is not here, or may not trace'
        return
    fi
    stopped_by INT "$fsck" long.log
    claim 'SIGINT stops a check' test "$status" -eq 32
    claim 'which says so' said '^u9fsck: stopped by SIGINT before the end$'
    claim 'and sums nothing up' test ! -s out
    stopped_by TERM "$fsck" --salvage stopped long.log
    claim 'SIGTERM stops a salvage' test "$status" -eq 32 -a ! -e stopped
    claim 'which says how far it came' said '^u9fsck: stopped by SIGTERM before the end$' \
        '^u9fsck: stopped is incomplete: stopped.partial holds [0-9]+ of the records$'
}

paths() {
    mkdir empty.d
    echo 'not a log' >text
    mistake 1 'u9 cat: nowhere: .*No such file' 'no such log' "$u9" cat nowhere
    mistake 8 'u9fsck: nowhere: .*No such file' 'no such log for u9fsck' "$fsck" nowhere
    mistake 8 'u9fsck: nowhere: .*No such file' 'nor to salvage' "$fsck" --salvage no nowhere
    mistake 1 'u9 info: nowhere: .*No such file' 'no such log for info' "$u9" info nowhere
    mistake 1 'u9 get: nowhere: .*No such file' 'no such log for get' "$u9" get nowhere "$first"
    mistake 1 'u9 cat: text/x: .*Not a directory' 'a log below a file' "$u9" cat text/x
    mistake 1 'u9 cat: text' 'a file that is no log' "$u9" cat text
    run "$fsck" text
    claim 'a file that is no log for u9fsck' same "$status" 8
    claim 'is told with what may still find one' said '^u9fsck: text: .*not a log' '^u9fsck: .*--salvage OUT .*--carve OUT '
    mistake 1 'u9 info: empty.d' 'a directory without segments' "$u9" info empty.d
    mistake 8 'u9fsck: empty.d' 'a directory without segments for u9fsck' "$fsck" empty.d
    mistake 1 'u9 append: missing: No such file' 'no such input' append new missing
    mistake 1 'u9 append: text/x: Not a directory' 'an input below a file' append new text/x
    mistake 1 'u9 append: empty.d: Is a directory' 'a directory as input' append new input empty.d
    claim 'is found before anything is appended' test ! -e new
    mistake 1 'u9 append: a/b/c' 'a log in no directory' append a/b/c input
    mistake 1 'u9 append: text' 'a file as a log to append to' append text input
    rm -f pipe second && mkfifo pipe && echo x >second
    append fading pipe second 2>err &
    exec 9>pipe
    echo one >&9
    rm second
    exec 9>&-
    wait $!
    status=$?
    claim 'an input that is gone when its turn comes: status 1' test "$status" -eq 1
    claim 'after what stood before it' \
        said '^u9 append: second: No such file or directory; 1 record was appended before it$'
    long=$(printf '%05000d' 0)
    mistake 4 'u9 append: 0+: File name too long' 'a path that is too long is named, with the reason' \
        append new "$long"
    mistake 4 'u9 cat: 0+: .*File name too long' 'as that of a log is' "$u9" cat "$long"
    permissions
    for_readers
}

permissions() {
    append locked input
    cp -R many half.log
    cp input secret
    mkdir -m 500 readonly
    chmod 711 "$tmp"
    chmod -R a+rX input many half.log
    chmod 0 locked "$(segment half.log 2)" secret
    mkdir -m 777 open.d
    if ! plainly test -x "$u9" -a -r input -a ! -r secret; then
        skip 'permissions: nobody here whom they would stop'
    else
        mistake 4 'locked: .*Permission denied' 'an unreadable log' plainly "$u9" cat locked
        mistake 4 'readonly/log.*: .*Permission denied' 'an unwritable place' \
            plainly "$u9" append readonly/log input
        mistake 4 'secret: Permission denied' 'an unreadable input' \
            plainly "$u9" append open.d/new secret
        hint='half.log/0+2.u9: .*Permission denied$'
        mistake 4 "$hint" 'a segment that may not be read is named, and not called damaged' \
            plainly "$u9" cat half.log
        mistake 4 "$hint" 'by info, too' plainly "$u9" info half.log
        mistake 4 "$hint" 'and by get' plainly "$u9" get half.log "$first"
        run plainly "$u9" scan half.log -j 3
        claim 'a scan one of whose ranges fails has failed, and has no totals' test "$status $(wc -l <out)" = '4 0'
        mistake 8 "$hint" 'and by u9fsck' plainly "$fsck" half.log
    fi
    chmod 700 locked
}

# Whoever may only read a log finds what is in it, with an index in memory where none can be made beside a segment.
for_readers() {
    cp -R many unsealed.log
    chmod -R a+rX unsealed.log
    if ! plainly test -x "$u9" -a -r "$(segment unsealed.log 1)" -a ! -w unsealed.log; then
        skip 'a log of somebody else: nobody here who may only read it'
        return
    fi
    claim 'the last segment has no index' grep -q ' 1 without' <("$u9" index unsealed.log --check)
    find unsealed.log | sort >before
    "$u9" cat unsealed.log --keys --reverse -n 1 >in_the_last
    "$u9" cat unsealed.log --keys -n 1 >in_the_first
    claim 'a record of it is found by who may only read' \
        same "$(plainly "$u9" get unsealed.log "$(cut -f 1 in_the_last)")" "$(cut -f 2 in_the_last)"
    claim 'and one of a sealed one' \
        same "$(plainly "$u9" get unsealed.log "$(cut -f 1 in_the_first)")" "$(cut -f 2 in_the_first)"
    claim 'nothing was written for that' cmp before <(find unsealed.log | sort)
}

# closed COMMAND...: with standard output closed; full: with one that has no room.
closed() { "$@" >&-; }
full() { "$@" >/dev/full; }

outputs() {
    for verb in cat info; do
        mistake 4 "u9 $verb: standard output: Bad file" "$verb, closed stdout" closed "$u9" $verb keys
        mistake 4 "u9 $verb: standard output: No space" "$verb to /dev/full" full "$u9" $verb keys
    done
    mistake 4 'standard output: No space' 'get to /dev/full' full "$u9" get keys "$first"
    mistake 4 'standard output: No space' 'id new to /dev/full' full "$u9" id new muid
    mistake 8 'u9fsck: standard output: No space' 'u9fsck to /dev/full' full "$fsck" keys
    mistake 4 'standard output: No space' 'append --print-keys to /dev/full' \
        full "$u9" append --print-keys fullkeys input
    mistake 4 'standard output: Bad file' 'append --print-keys, closed stdout' \
        closed "$u9" append --print-keys closedkeys input
    claim 'and the log does not hold the message' "$fsck" -q closedkeys
    mistake 4 'standard input: Bad file' 'append, closed stdin' eval 'append noinput - <&-'
    "$u9" cat ranges 2>err | head -n 1 >out
    claim 'a reader that goes away is no message' test ! -s err
    "$u9" append --print-keys gone big 2>err | head -n 1 >out
    claim 'nor is one of keys, and the log is closed' "$fsck" -q gone
    claim 'quietly' test ! -s err
    if command -v script >/dev/null; then
        run script -qec "$u9 cat --format raw keys" /dev/null
        claim 'raw is refused on a terminal' grep -q 'not for a terminal' out
        printf 'a\033[31mb\n' | append color
        run script -qec "$u9 cat color" /dev/null
        claim 'control characters become visible on a terminal' grep -qF 'a\x1b[31mb' out
    else
        skip 'terminals: there is no script(1)'
    fi
}

no_space() {
    mkdir small
    if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=24m none small 2>/dev/null; then
        mounted=$tmp/small
        yes 'a line that takes room' | head -c 60000000 >much
        mistake 4 'u9 append: .*No space left' 'a full disk is one clear line' append small/log much
        claim 'what was appended is there' "$fsck" -q small/log
        kept=$("$u9" cat small/log | wc -l)
        claim 'as many as it says' grep -q " $kept records were appended before" err
        listed=$(stat -c '%n %s %b' small/log/*)
        for _ in 1 2 3; do mistake 4 'No space left' 'still full' append small/log much; done
        claim 'an append that is refused at once leaves the files as they were' \
            same "$(stat -c '%n %s %b' small/log/*)" "$listed"
        rm -rf small/log
        "$u9" append --segment-size=1M small/log much 2>err
        cat /dev/zero >small/ballast 2>err
        claim 'a log on a full disk is trimmed' "$u9" trim --keep 4M small/log
        claim 'and is whole' "$fsck" -q small/log
        claim 'and goes on' "$u9" append small/log "$tmp/small/log/.mark" --whole
    else
        skip 'a full disk: cannot mount one here'
    fi
    lines 1 100000 >much
    mistake 4 'u9 append: .*File too large' 'so is a file size limit' \
        capped 2048 "$u9" append limited much
    claim 'what was appended under it is there' "$fsck" -q limited
    cp -r limited unclosed
    truncate -s +4096 "$(ls -d unclosed/*.u9 | tail -n 1)"
    for log in limited unclosed; do
        listed=$(ls "$log" | wc -l)
        for _ in 1 2 3; do
            mistake 4 'u9 append: .*File too large' "no room in $log" \
                capped 1 "$u9" append "$log" much
        done
        claim 'refused appends leave no files' test "$(ls "$log" | wc -l)" -eq "$listed"
    done
}

for group in help_and_usage append_and_cat json keys ranges gets infos ids durability damage parts large_records plain \
    lost_secret branches unfinished paths outputs no_space; do
    $group
done
tally
