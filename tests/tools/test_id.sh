#!/usr/bin/env bash
# tests/tools/test_id.sh BINDIR TMPDIR: `u9 id` from a user's chair: what it makes, what it takes
# apart, what it refuses.
# shellcheck disable=SC2016 # backticks are meant as they stand
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
trap '' PIPE

# id STATUS ARGUMENT...: runs `u9 id`, fills out and err; false if it exits otherwise or says a word.
id() {
    local want=$1
    shift
    "$u9" id "$@" >out 2>err
    status=$?
    [ "$status" -eq "$want" ] && [ ! -s err ]
}

# shows SENTENCE JSON ARGUMENT...: `u9 id show` prints exactly this.
shows() {
    local sentence=$1 json=$2
    shift 2
    id 0 show "$@" && [ "$(cat out)" = "$json" ]
    result $? "$sentence"
}

# refuses SENTENCE REASON ARGUMENT...: one answer, an error, that names the reason; status 1.
refuses() {
    local sentence=$1 reason=$2
    shift 2
    id 1 show "$@" && [ "$(cat out)" = "{\"error\":\"$reason\"}" ]
    result $? "$sentence"
}

# mistake SENTENCE PATTERN ARGUMENT...: a usage error: one line on stderr, nothing else, status 2.
mistake() {
    local sentence=$1 pattern=$2
    shift 2
    "$u9" id "$@" >out 2>err
    status=$?
    [ "$status" -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -Eq -- "$pattern" err
    result $? "$sentence"
}

muids() {
    local muid=5D5EAC793E61F-1BFC71B112D-FFFFFFFF
    local json='{"kind":"muid","text":"'$muid'","bytes":"5d5eac793e61f1bfc71b112dffffffff","time":"2022-01-19T08:00:30.975519Z","timestamp":"1642579230975519","medallion":"1923190821165","offset":-1}'
    shows 'a muid is taken apart' "$json" muid $muid
    shows '--bytes takes its packed bytes' "$json" muid --bytes 5d5eac793e61f1bfc71b112dffffffff
    shows 'in either case' "$json" muid --bytes 5D5EAC793E61F1BFC71B112DFFFFFFFF
    shows '--lenient takes lower case' "$json" muid --lenient ${muid,,}
    shows '--lenient takes 32 digits' "$json" muid --lenient ${muid//-/}
    shows 'a short form prints in full' \
        '{"kind":"muid","text":"5D5EAC793E61F-00000000000-00000000","bytes":"5d5eac793e61f0000000000000000000","time":"2022-01-19T08:00:30.975519Z","timestamp":"1642579230975519","medallion":"0","offset":0}' \
        muid 5D5EAC793E61F
    shows 'zeros as the first description prints them are no lenient matter' "$(cat out)" muid 5D5EAC793E61F-0000000000000-00000
    shows 'the global object has no time' \
        '{"kind":"muid","text":"FFFFFFFFFFFFF-FFFFFFFFFFF-00000004","bytes":"ffffffffffffffffffffffff00000004","time":null,"timestamp":"4503599627370495","medallion":"17592186044415","offset":4}' \
        muid FFFFFFFFFFFFF-FFFFFFFFFFF-00000004
    refuses 'lower case needs --lenient' 'hex digits must be upper case' muid ${muid,,}
    refuses 'an empty text is refused' 'the text is empty' muid ''
    refuses 'a trailing dash is refused' 'a part is empty, or there are more than three' muid 5D5EAC793E61F-
    refuses 'a leading dash too' 'a part is empty, or there are more than three' muid -- -1BFC71B112D-0000000B
    refuses 'a trailing newline is refused' 'a character is neither a hex digit nor a dash' muid "$muid"$'\n'
    refuses '15 bytes are no muid' 'a packed muid is exactly 16 bytes' muid --bytes 5d5eac793e61f1bfc71b112dffffff
    refuses 'half a byte is none' 'bytes are given as pairs of hex digits' muid --bytes 5d5eac793e61f1bfc71b112dfffffff
    id 0 new muid -n 1000
    result $? 'new muid makes muids'
    claim 'as many as asked for' test "$(wc -l <out)" -eq 1000
    [ -s out ] && sort -cu out
    result $? 'ascending'
    claim 'of one medallion, from 2^40 up, at offset 1' test \
        "$(grep -Ec "^[0-9A-F]{13}-$(head -n 1 out | cut -d- -f2 | grep '^1')-00000001$" out)" -eq 1000
    cp out ask
    id 0 show muid - <ask && [ "$(wc -l <out)" -eq 1000 ]
    result $? 'and they are muids'
    id 0 new muid -n 0 && [ ! -s out ]
    result $? 'new -n 0 makes none'
}

gids() {
    local json='{"kind":"gid","text":"74ggbzxuMf-2uAmM7FwXntwW","bytes":"a0019ad0fea2a69539e81048fc71d1ad","time":"2025-11-29T19:02:20.070000Z","type":"log","timestamp_ms":"1764442940070","random":"9539e81048fc71d1ad"}'
    shows 'a GID is taken apart' "$json" gid 74ggbzxuMf-2uAmM7FwXntwW
    shows 'a GID of the type asked for' "$json" gid --type log 74ggbzxuMf-2uAmM7FwXntwW
    shows 'gid:log is the same' "$json" gid:log 74ggbzxuMf-2uAmM7FwXntwW
    shows '--bytes takes its packed bytes' "$json" gid --bytes a0019ad0fea2a69539e81048fc71d1ad
    refuses 'a GID of another type' 'a GID of another type' gid --type volume 74ggbzxuMf-2uAmM7FwXntwW
    refuses 'or bytes of one' 'a GID of another type' gid:segment --bytes a0019ad0fea2a69539e81048fc71d1ad
    refuses '--strict wants the prefix in byte 7' 'byte 7 does not repeat the prefix' gid --strict 74ggbzxuMf-2uAmM7FwXntwW
    shows '--strict takes it there' \
        '{"kind":"gid","text":"8H1G77cxTA-3SkJyH5Z4rR4T","bytes":"c0000000000001c00000000000000000","time":"1970-01-01T00:00:00.001000Z","type":"segment","timestamp_ms":"1","random":"c00000000000000000"}' \
        gid --strict 8H1G77cxTA-3SkJyH5Z4rR4T
    refuses 'a clear top bit in byte 7' 'the top bit of byte 7 is clear' gid 8H22mAoKLj-2dVseX433Zwhx
    shows 'unless --lenient' \
        '{"kind":"gid","text":"8H22mAoKLj-2dVseX433Zwhx","bytes":"c0018bcfe568007fffffffffffffffff","time":"2023-11-14T22:13:20.000000Z","type":"segment","timestamp_ms":"1700000000000","random":"7fffffffffffffffff"}' \
        gid --lenient 8H22mAoKLj-2dVseX433Zwhx
    shows 'a time beyond the year 9999 is none' \
        '{"kind":"gid","text":"5tXzGtaDne-4FzkJ37568tQv","bytes":"80ffffffffffffffffffffffffffffff","time":null,"type":"volume","timestamp_ms":"281474976710655","random":"ffffffffffffffffff"}' \
        gid 5tXzGtaDne-4FzkJ37568tQv
    refuses 'a wrong length' 'a GID is exactly 24 characters, or 16 bytes' gid GonvVp7KLK1dzdCoW4fexb
    refuses 'no dash' 'the first dash is not the 11th character' gid 5rMJhdWYe92deCanWXyGaHdm
    refuses 'a 0' 'a character is not a base58 digit' gid 5rMH0TvfXM-2dVsgjY1c6yLa
    refuses 'too large a time part' 'the first 10 digits are more than 7 bytes' gid zzzzzzzzzz-2dVsgjY1c6yLa
    refuses 'too large a random part' 'the last 13 digits are more than 9 bytes' gid 5rMH4TvfXM-zzzzzzzzzzzzz
    refuses 'an unknown prefix' 'the first byte is not the prefix of a volume, log or segment' gid 9VMQcXEeFR-2dYjDTxUkerYG
    id 0 new gid -n 100 && id 0 show gid --strict --type log - <<<"$(cat out)"
    result $? 'new gid makes GIDs of logs, byte 7 being the prefix'
    for type in volume log segment; do
        id 0 new gid --type $type -n 100 && id 0 show gid:$type --strict - <<<"$(cat out)"
        result $? "new gid --type $type"
        id 0 new gid:$type -n 100 && [ "$(sort -u out | wc -l)" -eq 100 ]
        result $? "new gid:$type"
    done
}

tids() {
    local json='{"kind":"tid","text":"3jui7kd54zh2y","bytes":"17e9c582462fb41e","time":"2023-04-29T03:42:21.953005Z","timestamp":"1682739741953005","clock_id":30}'
    shows 'a TID is taken apart' "$json" tid 3jui7kd54zh2y
    shows '--bytes takes its packed bytes' "$json" tid --bytes 17e9c582462fb41e
    refuses 'a set top bit' 'the top bit is set: the first character is above b' tid j222222222222
    shows 'unless --lenient' \
        '{"kind":"tid","text":"j222222222222","bytes":"f000000000000000","time":"2505-03-05T17:36:42.639360Z","timestamp":"16888498602639360","clock_id":0}' \
        tid --lenient j222222222222
    refuses 'more than 64 bits' 'the first character is above j: more than 64 bits' tid kjzfcijpj2z2a
    refuses 'a wrong length' 'a TID is exactly 13 characters, or 8 bytes' tid 3jzfcijpj2z2
    refuses 'a character that is no digit' 'a character is not one of 2-7 and a-z' tid 3JZFCIJPJ2Z2A
    id 0 new tid -n 1000 && [ "$(sort -u out | wc -l)" -eq 1000 ]
    result $? 'new tid makes TIDs'
    [ -s out ] && sort -cu out
    result $? 'ascending'
    cp out ask
    id 0 show tid - <ask && [ "$(grep -o '"clock_id":[0-9]*' out | sort -u | wc -l)" -eq 1 ]
    result $? 'of one clock id'
}

uid8s() {
    local json='{"kind":"uid8","text":"0853cdcab4ca1025","bytes":"0853cdcab4ca1025","time":"1974-07-14T19:42:16.275000Z","mode":1,"timestamp_ms":"143062936275","sequence":10,"generator":2,"cluster":5}'
    shows 'an eight-byte identifier is taken apart' "$json" uid8 0853cdcab4ca1025
    shows 'upper case is the same' "$json" uid8 0853CDCAB4CA1025
    shows '--bytes takes its packed bytes' "$json" uid8 --bytes 0853cdcab4ca1025
    shows 'layout 3 has the mode' "$json" uid8 --layout 3 0853cdcab4ca1025
    refuses 'layout 2 does not' 'bits are set that this layout reserves' uid8 --layout 2 0853cdcab4ca1025
    shows 'the layout is the last if not told' \
        '{"kind":"uid8","text":"ffffffffffffefff","bytes":"ffffffffffffefff","time":"2109-05-15T07:35:11.103000Z","mode":0,"timestamp_ms":"4398046511103","sequence":63,"generator":2047,"cluster":15}' \
        uid8 ffffffffffffefff
    for layout in 1 2 3; do
        refuses "layout $layout has fewer generators" 'bits are set that this layout reserves' uid8 --layout $layout ffffffffffffefff
    done
    refuses 'a wrong length' 'an eight-byte identifier is exactly 16 hex digits, or 8 bytes' uid8 cb54ecf28400000
    refuses 'a character that is no digit' 'a character is not a hex digit' uid8 'cb54ecf2840000 0'
    id 0 new uid8 --generator 63 --cluster 15 --layout 1 -n 300 && [ "$(sort -u out | wc -l)" -eq 300 ]
    result $? 'new uid8 makes eight-byte identifiers'
    claim 'of that generator and cluster' test "$(grep -Ec '^[0-9a-f]{12}03ff$' out)" -eq 300
    cp out ask
    id 0 show uid8 --layout 1 - <ask && [ "$(wc -l <out)" -eq 300 ]
    result $? 'of that layout'
    id 0 new uid8 --generator 2047 --cluster 1 --mode time-sequential -n 300
    result $? 'the last layout has 2048 generators'
    [ -s out ] && sort -cu out
    result $? 'and a mode in which they ascend'
    for _ in 1 2 3 4 5 6 7 8; do "$u9" id new uid8 --generator 1 --cluster 1 -n 70; done >out 2>err
    claim 'runs of the tool one after the other repeat nothing' test "$(sort -u out | wc -l)" -eq 560
    mistake 'a generator above those of the layout' '--generator 64: not a number from 0 to 63 \(layout 1\)' new uid8 --generator 64 --cluster 0 --layout 1
    mistake 'a cluster above 15' '--cluster 16: not a number from 0 to 15' new uid8 --generator 0 --cluster 16
    mistake 'a mode that the layout does not have' 'does not have this mode' new uid8 --generator 0 --cluster 0 --layout 2 --mode 1
    mistake 'that a number is out of range comes before what is missing' \
        '--generator 5000: not a number from 0 to 2047 \(layout 4\)' new uid8 --generator=5000
    mistake 'the second number too' '--cluster 16: not a number from 0 to 15' new uid8 --generator=1,16
    mistake 'two clusters' '--generator=N,CLUSTER names the cluster, and --cluster too: which\?' new uid8 --generator=1,3 --cluster 4
    mistake 'no generator' 'no --generator=N\[,CLUSTER\] given' new uid8
    mistake 'a cluster alone is no generator' 'no --generator=N\[,CLUSTER\] given' new uid8 --cluster 3
    mistake 'a generator that is no number' 'not a number' new uid8 --generator=1,
    mistake '--wait without --zookeeper' 'goes with --zookeeper' new uid8 --generator=1 --wait 5
    mistake '--rados with a number' '--rados gives --generator' new uid8 --generator=1 --rados ids
    mistake '--rados with another kind' 'go with uid8' new muid --rados ids
    id 0 new uid8 --generator=5,3 && grep -Eq '^[0-9a-f]{12}0053$' out
    result $? 'generator and cluster in one'
    id 0 new uid8 --generator=5 && grep -Eq '^[0-9a-f]{12}0050$' out
    result $? 'the cluster is 0 if not told'
    run "$u9" id new uid8 --zookeeper 127.0.0.1:1/nobody --wait 2 # said after one
    if grep -q 'without ZooKeeper' err; then
        skip 'this u9 was built without ZooKeeper'
    else
        claim 'a tool that waits for a number says so, and how long' \
            grep -q '127.0.0.1:1/nobody: waiting for a number, up to 2 s' err
        claim 'and gives up then' grep -q 'no connection within 2000 ms' err
        claim 'with an error' test "$status" -ne 0
    fi
    mistake 'an unknown mode' 'is not a mode' new uid8 --generator 0 --cluster 0 --mode fast
    mistake 'no such layout' '--layout 5: not a number from 0 to 4' show uid8 --layout 5 0853cdcab4ca1025
    mistake 'nor this' 'layouts 1 to 4' show uid8 --layout 0 0853cdcab4ca1025
}

rkeys() {
    shows 'a record key is taken apart' \
        '{"kind":"rkey","text":"self","bytes":"73656c66","time":null,"valid_as":["any","literal"]}' rkey self
    local json='{"kind":"rkey","text":"3jui7kd54zh2y","bytes":"336a7569376b6435347a683279","time":"2023-04-29T03:42:21.953005Z","valid_as":["tid","any","literal"]}'
    shows 'a TID is one too' "$json" rkey 3jui7kd54zh2y
    shows '--type tid' "$json" rkey --type tid 3jui7kd54zh2y
    shows 'rkey:tid is the same' "$json" rkey:tid 3jui7kd54zh2y
    shows '--type literal' "$json" rkey --type literal:3jui7kd54zh2y 3jui7kd54zh2y
    shows '--type any' "$json" rkey --type any 3jui7kd54zh2y
    shows '--bytes takes its bytes' "$json" rkey --bytes 336a7569376b6435347a683279
    shows 'a TID whose top bit is set has the syntax, but no time' \
        '{"kind":"rkey","text":"j222222222222","bytes":"6a323232323232323232323232","time":null,"valid_as":["tid","any","literal"]}' \
        rkey --type tid j222222222222
    refuses 'a key that is no TID' 'the key is not a TID' rkey --type tid self
    refuses 'another key than the literal' 'the key is not the literal of its type' rkey --type literal:self Self
    refuses 'an unknown type' 'the type is none of tid, literal:VALUE and any' rkey --type TID 3jui7kd54zh2y
    refuses 'an empty one' 'the type is none of tid, literal:VALUE and any' rkey --type '' a
    refuses 'a literal that is no key' 'the VALUE of the type literal:VALUE is not a key' rkey --type literal: x
    refuses 'an empty key' 'the key is empty' rkey ''
    refuses 'a dot' '`.` and `..` are not keys' rkey .
    refuses 'two dots' '`.` and `..` are not keys' rkey --type any ..
    refuses 'a slash' 'a character is none of A-Z a-z 0-9 . - _ : ~' rkey alpha/beta
    refuses 'bytes that are no text' 'a character is none of A-Z a-z 0-9 . - _ : ~' rkey $'\xff'
    local long
    long=$(printf '%512s' '' | tr ' ' o)
    id 0 show rkey "$long" && grep -q "\"text\":\"$long\"" out
    result $? 'a key of 512 characters'
    refuses 'but not of 513' 'the key has more than 512 characters' rkey "o$long"
    refuses 'nor as bytes' 'the key has more than 512 characters' rkey --bytes "${long//o/6f}6f"
    mistake 'record keys are not made' 'given, not made' new rkey
}

# makes SENTENCE TEXT ARGUMENT...: `u9 id make` prints exactly this.
makes() {
    local sentence=$1 text=$2
    shift 2
    id 0 make "$@" && [ "$(cat out)" = "$text" ]
    result $? "$sentence"
}

fields() {
    makes 'a muid from its fields' 5D5EAC793E61F-1BFC71B112D-FFFFFFFF \
        muid timestamp=1642579230975519 medallion=1923190821165 offset=-1
    makes 'in any order, at a time' 5D5EAC793E61F-00000000000-80000000 \
        muid offset=-2147483648 time=2022-01-19T08:00:30.975519Z
    makes 'a GID from its fields' 74ggbzxuMf-2uAmM7FwXntwW \
        gid:log timestamp_ms=1764442940070 random=9539e81048FC71d1ad
    makes 'its type is a field too' 8H1G77cxTA-3SkJyH5Z4rR4T gid type=segment timestamp_ms=1
    makes 'without random it is the lowest that new makes' 74geupMzS3-3386Ju4o4DBPD gid timestamp_ms=1700000000000
    makes 'a time is cut to its milliseconds' 74geupMzS3-3386Ju4o4DBPD gid time=@1700000000.000999
    makes 'a TID from its fields' 3jui7kd54zh2y tid timestamp=1682739741953005 clock_id=30
    makes 'a TID from a time' 3jui7kd54zh22 tid time=2023-04-29T03:42:21.953005Z
    makes 'a record key from a time' 3jui7kd54zh2y rkey:tid time=2023-04-29T03:42:21.953005Z clock_id=30
    makes 'an eight-byte identifier from its fields' 0853cdcab4ca1025 \
        uid8 mode=1 timestamp_ms=143062936275 sequence=10 generator=2 cluster=5
    makes 'the mode has a name' 0853cdcab4ca1025 \
        uid8 mode=time-sequential timestamp_ms=143062936275 sequence=10 generator=2 cluster=5
    makes 'a layout holds what it holds' 00b26d61e2bf03ff \
        uid8 --layout 1 timestamp_ms=1406714400000 sequence=63 generator=63 cluster=15
    id 0 new gid:volume && cp out ask && id 0 show gid - <ask
    local shown
    mapfile -t shown < <(sed 's/[{}"]//g; s/,/\n/g; s/:/=/g' out | grep -E '^(type|timestamp_ms|random)=')
    makes 'what show prints is taken back' "$(cat ask)" gid "${shown[@]}"
    mistake 'no field' 'no FIELD=VALUE' make muid
    mistake 'no value' "'offset' is not FIELD=VALUE" make muid offset
    mistake 'an unknown field' "'clock_id' is not a field: time timestamp medallion offset" make muid clock_id=1
    mistake 'no timestamp' 'neither timestamp_ms= nor time=' make uid8 generator=1
    mistake 'a field twice' 'offset=2: offset is given already' make muid timestamp=1 offset=1 offset=2
    mistake 'a timestamp and a time' 'timestamp is given already' make tid timestamp=1 time=@1
    mistake 'a medallion out of range' 'medallion=17592186044416: not a number from 0 to 17592186044415' make muid timestamp=1 medallion=17592186044416
    mistake 'an offset out of range' 'offset=2147483648: not a number from -2147483648 to 2147483647' make muid timestamp=1 offset=2147483648
    mistake 'a timestamp out of range' 'timestamp=4503599627370496: not a number from 0' make muid timestamp=4503599627370496
    mistake 'a timestamp below 0' 'timestamp=-1: not a number from 0 to 9007199254740991' make tid timestamp=-1
    mistake 'a clock id out of range' 'clock_id=1024: not a number from 0 to 1023' make tid timestamp=1 clock_id=1024
    mistake 'a clock id that is no number' 'clock_id=x: not a number from 0 to 1023' make tid timestamp=1 clock_id=x
    mistake 'a time beyond the field' 'timestamp_ms goes from 0 to 4398046511103' make uid8 time=2200-01-01
    mistake 'a time that is none' 'time noon: not a time' make tid time=noon
    mistake 'a generator above those of the layout' 'generator=64: not a number from 0 to 63 \(layout 1\)' make uid8 --layout 1 timestamp_ms=1 generator=64
    mistake 'a mode that the layout does not have' 'does not have this mode' make uid8 --layout 2 timestamp_ms=1 mode=1
    mistake 'a mode that is none' 'mode=2: neither spread nor time-sequential' make uid8 timestamp_ms=1 mode=2
    mistake 'a type that is none' 'type=leaf: not one of volume, log and segment' make gid timestamp_ms=1 type=leaf
    mistake 'two types of GIDs' 'type= is given already' make gid:log timestamp_ms=1 type=log
    mistake 'random bytes that have no text' 'random=7fffffffffffffffff: not 18 hex digits' make gid timestamp_ms=1 random=7fffffffffffffffff
    mistake 'too few of them' 'not 18 hex digits' make gid timestamp_ms=1 random=80
    mistake 'any record key' 'record keys are their text' make rkey timestamp=1
    mistake '-n for make' '-n and --wait go with new' make tid -n 2 timestamp=1
    mistake '--generator for make' 'make has generator=N' make uid8 --generator 1 timestamp_ms=1
    mistake '--bytes for make' 'go with show' make tid --bytes timestamp=1
}

lines() {
    printf '3jui7kd54zh2y\nx\n\n3jui7kd54zh2y\0\n3jui7kd54zh2y\r\n3jui7kd54zh2y' >ask
    id 1 show tid - <ask
    result $? 'with - it answers each line, and exits 1 if any was refused'
    claim 'in the order of the input' test "$(cut -c-8 out | tr '\n' ' ')" = \
        '{"kind": {"error" {"error" {"error" {"error" {"kind": '
    id 0 show tid - </dev/null && [ ! -s out ]
    result $? 'no line, no answer'
    printf 'self\n' | "$u9" id show rkey a - b >out 2>err
    claim '- stands among other texts' test "$(grep -o '"text":"[a-z]*"' out | tr '\n' ' ')" = \
        '"text":"a" "text":"self" "text":"b" '
    printf -- '-\n--\n' | id 0 show rkey - && grep -q '"text":"--"' out
    result $? 'a line may be a dash'
    head -c 3000000 /dev/zero | tr '\0' 'a' >ask
    id 1 show rkey - <ask && [ "$(cat out)" = '{"error":"the key has more than 512 characters","line":"1"}' ]
    result $? 'a line may be long'
    head -c 100000 /dev/urandom >ask
    "$u9" id show gid - <ask >out 2>err
    claim 'each line of anything has an answer' test "$(wc -l <out)" -eq "$(awk 'END { print NR }' <(tr -c '\n' x <ask))"
    mkfifo ask.pipe answer.pipe
    "$u9" id show tid - <ask.pipe >answer.pipe &
    exec 3>ask.pipe 4<answer.pipe
    local answer=
    for _ in 1 2 3; do
        echo 3jui7kd54zh2y >&3
        IFS= read -r -t 20 answer <&4 || answer=
    done
    exec 3>&- 4<&-
    wait
    claim 'each answer comes before the next question' test "${answer:0:7}" = '{"kind"'
}

words() {
    for kind in muid gid tid uid8 rkey; do
        "$u9" id --help >out 2>err
        claim "--help tells of $kind" grep -Eq "^  $kind " out
    done
    for option in lenient layout type bytes count generator cluster mode wait; do
        claim "--help tells of --$option" grep -q -- "--$option" out
    done
    mistake 'an unknown kind' "'uuid' is not a kind" new uuid
    mistake 'a type where there is none' "is not a kind" show muid:log x
    mistake 'no kind' 'no kind' show
    mistake 'no text' 'no TEXT' show tid
    for word in timestamp timestamp_ms medallion offset clock_id sequence random time=; do
        "$u9" id --help >out 2>err
        claim "--help tells of the field $word" grep -q -- "$word" out
    done
    mistake 'neither new nor show nor make' 'neither' brew tid
    mistake 'nothing' 'new.*show.*make' --lenient
    mistake 'two types' '--type' show gid:log --type log x
    mistake 'an unknown type of GIDs' 'not a type of GIDs' show gid --type leaf x
    mistake 'a type for muids' 'goes with gid and rkey' show muid --type log x
    mistake 'a layout for TIDs' 'goes with uid8' show tid --layout 1 x
    mistake 'a generator for muids' 'go with uid8' new muid --generator 1
    mistake '-n for show' '-n and --wait go with new' show tid -n 3 x
    mistake '--bytes for new' 'go with show' new tid --bytes
    mistake '--strict for TIDs' 'goes with gid' show tid --strict x
    mistake 'more than a kind for new' 'too much' new tid x
    mistake '-n of no number' 'not a number' new tid -n many
    mistake 'an unknown option' 'unrecognized|unknown' show tid --fast x
}

muids
gids
tids
uid8s
rkeys
fields
lines
words
tally
