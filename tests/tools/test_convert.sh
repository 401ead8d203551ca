#!/usr/bin/env bash
# tests/tools/test_convert.sh BINDIR TMPDIR: u9 import and u9 export: the files that other tools made (tests/golden/convert),
# what these tools make of ours, what comes back the same, and how bad input is refused.
golden=$(cd "$(dirname "$0")/../golden/convert" && pwd)
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

# holds WANTED LOG: `u9 cat` prints these lines.
holds() { same "$("$u9" cat "$2")" "$1"; }
# imports WANTED OPTION... FORMAT FILE: into a log of its own these records, status 0.
imports() {
    local wanted=$1
    shift
    rm -rf taken
    "$u9" import "${@:1:$#-1}" taken "${@:$#}" 2>err || { cat err; return 1; }
    holds "$wanted" taken
}
# here FORMAT COMMAND: was this u9 built with that format? Else the claims of it are skipped, once.
here() {
    case $("$u9" import "$1" nolog /dev/null 2>&1) in *'built without'*) skip "u9 was built without $1" && return 1 ;; esac
}

csv='{"id":1,"name":"Ada, Countess","note":"said \"hi\""}
{"id":2,"name":"two\nlines","note":""}
{"id":3,"name":"Šárka","note":"007"}'
claim 'CSV of Python: cells are text' imports "$(sed -E 's/"id":([0-9])/"id":"\1"/' <<<"$csv")" csv "$golden/python.csv"
claim 'or what they look like, but in quotes, and but for 007' imports "${csv//,\"note\":\"\"/}" --typed csv "$golden/python.csv"
run "$u9" import csv --separator 1 taken /dev/null
claim 'what numbers are made of is none' same "$status $(head -n 1 err)" "2 u9 import: --separator '1': not one character that may stand between cells"
claim 'other separators' imports '{"a":"1","b":"x,y"}' --separator '\t' csv <(printf 'a\tb\n1\tx,y\n')
claim 'a byte order mark is none of the name' imports '{"a":"1"}' csv <(printf '\xef\xbb\xbfa\n1\n')
claim 'nor of one in quotes' imports '{"a,b":"1"}' csv <(printf '\xef\xbb\xbf"a,b"\n1\n')

trips='{"id":1,"name":null,"kind":"BUS","stops":[],"last":null,"tags":{},"hash":{"$bytes":"00ff"},"raw":{"$bytes":"78"},"share":{"$float32":0.5}}
{"id":-9223372036854775808,"name":"Brno–Aš","kind":"TRAIN","stops":[{"at":5,"ok":true},{"at":2147483647,"ok":false}],"last":{"at":-1,"ok":true},"tags":{"a":1.5,"b":-0.25},"hash":{"$bytes":"0102"},"raw":{"$bytes":""},"share":{"$float32":0.1}}'
claim "Avro of Apache's library" imports "$trips" avro "$golden/null.avro"
for codec in deflate zstandard; do
    run "$u9" import avro $codec "$golden/$codec.avro"
    if grep -q "codec is $codec" err; then skip "u9 was built without what $codec needs"; else claim "with its codec $codec" holds "$trips" $codec; fi
done

messages=$(for i in 0 1 2; do echo '{"topic":"/reading","sequence":'$i',"log_time":170000000000000000'$i',"publish_time":1699999999000000000,"encoding":"json","schema":"Reading","data":{"n":'$i',"place":"Šumava"}}'; done
    echo '{"topic":"/raw","sequence":7,"log_time":1700000001000000000,"publish_time":0,"encoding":"x-raw","data":{"$bytes":"00ff0a"}}')
claim 'MCAP of its own library' imports "$messages" mcap "$golden/plain.mcap"
claim 'what is left out is said, once each' same "$(grep -c 'left out' err)" 3
claim 'with chunks of lz4' imports "$messages" mcap "$golden/lz4.mcap"
run "$u9" import mcap packed "$golden/zstd.mcap"
if grep -q 'built without' err; then skip 'u9 was built without zstd'; else claim 'with chunks of zstd' holds "$messages" packed; fi
claim 'a field of it alone, with keys of its time' imports '0
1
2
7' mcap --value-field sequence --time-field log_time "$golden/plain.mcap"
claim 'which the keys tell' same "$("$u9" cat --keys taken | cut -f 1 | cut -c 1-13 | paste -sd ' ')" \
    '60A24181E4000 60A24181E4000 60A24181E4000 60A24182D8240'

entries=$(sed -n 's/^__CURSOR=//p' "$golden/journal.export")
claim "systemd's journal" imports '{"__CURSOR":"'"${entries%%$'\n'*}"'","__REALTIME_TIMESTAMP":"1700000000000000","__MONOTONIC_TIMESTAMP":"1000","_BOOT_ID":"0123456789abcdef0123456789abcdef","MESSAGE":"plain line","PRIORITY":"6"}
{"__CURSOR":"'"${entries##*$'\n'}"'","__REALTIME_TIMESTAMP":"1700000001000000","__MONOTONIC_TIMESTAMP":"2000","_BOOT_ID":"0123456789abcdef0123456789abcdef","MESSAGE":"two\nlines","TAG":["one","two"],"DATA":{"$bytes":"ff000a"}}' \
    journal --time-field __REALTIME_TIMESTAMP "$golden/journal.export"
claim 'with keys of its times' same "$("$u9" cat --keys taken | cut -c 1-14 | paste -sd ' ')" '60A24181E4000- 60A24182D8240-'

# What each format gives back.
cat >values <<'END'
{"a":1,"b":2.5,"c":"x","d":null,"e":true,"f":"1,\"2\"\n","g":"007","h":" "}
{"a":-9223372036854775808,"b":-1e300,"c":"","d":null,"e":false,"f":"true","g":"12","h":"é"}
END
"$u9" append --json docs values
cat >special <<'END'
{"b":{"$bytes":"00ff"},"s":{"$symbol":"abc"},"n":18446744073709551615,"t":[1,{"x":[]}],"f":{"$float32":0.5},"i":{"$float64":"inf"}}
{"b":"text"}
END
"$u9" append --json odd special
echo plain | "$u9" append lines
returns() { # LOG FORMAT [OPTION...] -- [OPTION...]: of export; of import
    local log=$1 format=$2 out=()
    shift 2
    while [ "$1" != -- ]; do out+=("$1") && shift; done
    rm -rf back back.file
    "$u9" export "$format" "$log" back.file "${out[@]}" && "$u9" import "$format" back back.file "${@:2}" && holds "$("$u9" cat "$log")" back
}
claim 'JSON lines hold all values' returns odd jsonl --
claim 'CSV holds numbers, texts, null, true and false' returns docs csv -- --typed
printf '{"\xef\xbb\xbfa":"b"}\n' | "$u9" append --json marked
claim 'and a name that begins as a byte order mark does' returns marked csv --
printf '{}\n{}\n' | "$u9" append --json bare
claim 'and objects without members' returns bare csv -- --typed
claim 'MCAP holds all of an object' returns odd mcap -- --value-field data
claim 'Avro all but arrays and objects' returns docs avro --
claim 'a value that is no object is a field' returns lines csv -- --value-field value
claim 'so it is in MCAP' sh -c '"$1" export mcap lines l.mcap && "$1" import mcap l l.mcap --value-field data && test "$("$1" cat l)" = "{\"value\":\"plain\"}"' sh "$u9"
{ echo '"\n"' && printf '"%s"\n' "$(yes '\n' | head -n 100000 | tr -d '\n')"; } | "$u9" append --json escapes
claim 'and texts of many escapes behind a short one' sh -c '"$1" export mcap escapes e.mcap && "$1" import mcap e e.mcap --value-field data && test "$("$1" cat e | tail -n 1 | wc -c)" = 200013' sh "$u9"
claim 'with the keys' sh -c '"$1" export csv docs --key-field k >k.csv && "$1" import csv --typed --key-field k keyed k.csv && test "$("$1" cat --keys keyed)" = "$("$1" cat --keys docs)"' sh "$u9"
claim 'and the times' sh -c '"$1" export jsonl docs --time-field t | grep -c "\"t\":\"20..-..-..T..:..:..\.......Z\"" | grep -qx 2' sh "$u9"
claim 'a part of the log' same "$("$u9" export jsonl docs --from '#1' | wc -l)" 1
for format in csv avro; do
    run "$u9" export $format odd odd.$format
    claim "of what $format has not it is said, once each" same "$status $(sort -u err | wc -l) $(wc -l <err)" '0 4 4'
done
claim 'CSV lines end as RFC 4180 says' sh -c 'test "$("$1" export csv lines | od -An -c | tr -d " \n")" = "value\\r\\nplain\\r\\n"' sh "$u9"

if here sqlite; then
    claim 'a table of SQLite' imports '{"id":-2,"name":"","km":-0.25,"raw":{"$bytes":""},"left":9223372036854775807}
{"id":1,"name":"Brno","km":12.5,"raw":{"$bytes":"00ff"},"left":null}' sqlite --table trips "$golden/table.db"
    claim 'that is not there is refused' refused 1 'no such table' "$u9" import sqlite none "$golden/table.db"
    (head -c 512 "$golden/table.db" && head -c 512 /dev/zero) >hurt.db
    claim 'and so is a damaged database' refused 1 'the database is damaged' "$u9" import sqlite none --table trips hurt.db
    claim 'SQLite holds bytes, too' sh -c '"$1" export sqlite odd o.db 2>err && "$1" import sqlite o o.db && "$1" cat o | grep -q "^{\"b\":{\"\$bytes\":\"00ff\"}"' sh "$u9"
    claim 'it is said what it has not' same "$(grep -c note: err)" 5
    claim 'a file that is there stays' refused 1 'exists' "$u9" export sqlite odd o.db
    if command -v sqlite3 >/dev/null; then
        "$u9" export sqlite docs d.db --table 'my "t"' 2>err
        claim 'sqlite3 reads ours' same "$(sqlite3 d.db 'select a, b, c, e, g, typeof(a), typeof(b) from "my ""t"""')" '1|2.5|x|1|007|integer|real
-9223372036854775808|-1.0e+300||0|12|integer|real'
    else
        skip 'sqlite3 is not installed'
    fi
fi
# Infinities and NaN, of both widths.
echo '{"i":{"$float64":"inf"},"j":{"$float64":"-inf"},"n":{"$float64":"nan"},"f":{"$float32":"-inf"},"g":{"$float32":"nan"}}' >wild.json
"$u9" append --json wild wild.json
claim 'Avro holds infinities and NaN, without a word' sh -c '"$1" export avro wild w.avro 2>err && test ! -s err && "$1" import avro w w.avro && "$1" cat w | cmp - wild.json' sh "$u9"
run "$u9" export csv wild
claim 'CSV does not: their JSON text is written, which is said' same "$(tr -d '\r' <out | tail -n 1) $(wc -l <err)" \
    '"{""$float64"":""inf""}","{""$float64"":""-inf""}","{""$float64"":""nan""}","{""$float32"":""-inf""}","{""$float32"":""nan""}" 1'
if here sqlite; then
    run "$u9" export sqlite wild w.db
    claim 'SQLite holds infinities; that NaN is NULL is said once' same "$status $(grep -c NaN err)" '0 1'
    claim 'and nothing else but that a float32 is a REAL' same "$(grep -vc NaN err)" 1
    "$u9" import sqlite w2 w.db
    claim 'they come back so' holds '{"i":{"$float64":"inf"},"j":{"$float64":"-inf"},"n":null,"f":{"$float64":"-inf"},"g":null}' w2
    # 400 kB of text, and room for 100: SQLite cannot put back what it began either.
    yes "$(printf '%0500d' 0)" | head -n 800 | "$u9" append wide
    run bash -c 'ulimit -f 100; exec "$0" export sqlite wide w3.db' "$u9"
    claim 'a table that does not fit is told, and nothing is left of it' same "$status $(grep -c 'w3.db: ' err) $(echo w3.db*)" '4 1 w3.db*'
    : >w4.db-journal
    claim 'a file that would be taken for its journal is not touched' refused 1 'w4.db-journal: File exists: it would be taken for a part of w4.db' \
        "$u9" export sqlite wide w4.db
    claim 'it is still there, alone' same "$(echo w4.db*)" w4.db-journal
    mkfifo nobase
    claim 'a FIFO is no database' refused 1 'nobase: sqlite is read from a regular file' "$u9" import sqlite w5 nobase
fi
if command -v avrocat >/dev/null; then
    "$u9" export avro docs d.avro
    claim "Apache's avrocat reads ours" same "$(avrocat d.avro | head -n 1)" \
        '{"a": 1, "b": 2.5, "c": "x", "d": null, "e": true, "f": "1,\"2\"\n", "g": "007", "h": " "}'
else
    skip 'avrocat is not installed (avro-bin)'
fi
if command -v mcap >/dev/null; then
    "$u9" export mcap docs d.mcap
    claim 'mcap reads ours' sh -c 'mcap cat d.mcap --json | grep -c "\"a\":" | grep -qx 2'
elif command -v node >/dev/null && node -e 'require("@mcap/core")' 2>/dev/null; then
    "$u9" export mcap docs d.mcap
    claim "MCAP's library reads ours" same "$(node -e 'const { McapStreamReader } = require("@mcap/core");
        const r = new McapStreamReader({ validateCrcs: true }), out = [];
        r.append(require("fs").readFileSync("d.mcap"));
        for (let x; (x = r.nextRecord()); ) if (x.type === "Message") out.push(Buffer.from(x.data).toString());
        console.log(out.join("\n") + " " + r.done())')" "$("$u9" cat docs) true"
else
    skip 'neither mcap nor the library @mcap/core for node is installed'
fi
if [ -x /lib/systemd/systemd-journal-remote ] && command -v journalctl >/dev/null; then
    printf '__REALTIME_TIMESTAMP=1700000000000000\n__MONOTONIC_TIMESTAMP=1\n_BOOT_ID=%032d\nMESSAGE=hello\n\n' 7 >in.export
    /lib/systemd/systemd-journal-remote -o j.journal in.export >/dev/null 2>&1
    claim 'journalctl tells what is taken' sh -c 'journalctl --file j.journal -o export | "$1" import journal j --value-field MESSAGE && test "$("$1" cat j)" = hello' sh "$u9"
else
    skip 'systemd-journal-remote is not installed, which makes a journal to read'
fi
if command -v python3 >/dev/null; then
    claim 'Python reads our CSV' same "$("$u9" export csv docs | python3 -c 'import csv, sys
sys.stdin.reconfigure(newline="")
print([r["f"] for r in csv.DictReader(sys.stdin)])')" "['1,\"2\"\\n', 'true']"
fi

# What is bad is named with its place; what went before stays, and with --skip-bad what comes behind is taken.
printf 'a,b\n1,2\n3\n"x" y,5\n6,7\n' >bad.csv
run "$u9" import csv bad bad.csv
claim 'a row that lacks a cell is refused with its line' same "$status $(cat err)" \
    '1 u9 import: bad.csv:3: 1 cell, but there are 2 columns; 1 record was appended before it; --skip-rows=1 goes on with it, --skip-rows=2 behind it'
claim 'what stood in front is there' holds '{"a":"1","b":"2"}' bad
sed -i 's/^3$/3,4/' bad.csv
run "$u9" import csv --skip-rows=1 bad bad.csv
claim 'once it is mended, it goes on with it' same "$status $("$u9" cat bad | tr '\n' ' ')$(cut -d ';' -f 2- err)" \
    '1 {"a":"1","b":"2"} {"a":"3","b":"4"}  1 record was appended before it; --skip-rows=2 goes on with it, --skip-rows=3 behind it'
claim 'or behind it' sh -c '"$1" import csv --skip-rows=3 bad bad.csv && test "$("$1" cat bad | tail -n 1)" = "{\"a\":\"6\",\"b\":\"7\"}"' sh "$u9"
claim 'behind the last there is nothing, and that is no fault' sh -c '"$1" import csv --skip-rows=4 bad bad.csv && test "$("$1" cat bad | wc -l)" = 3' sh "$u9"
claim 'behind more than there are is a slip' refused 1 'bad.csv: --skip-rows 5: there are only 4' "$u9" import csv --skip-rows=5 bad bad.csv
claim 'a number is asked for' refused 2 '--skip-rows x: not a number' "$u9" import csv --skip-rows=x bad bad.csv
sed -i 's/^3,4$/3/' bad.csv
run "$u9" import csv --skip-bad bad2 bad.csv
claim 'with --skip-bad the others are taken' holds '{"a":"1","b":"2"}
{"a":"6","b":"7"}' bad2
claim 'all are told, and the status is 1' same "$status $(grep -c '; skipped$' err) $(tail -n 1 err)" '1 2 u9 import: 2 rows were skipped'
refuses() { # PATTERN FORMAT INPUT [OPTION...]
    printf "$3" >input
    refused 1 "$1" "$u9" import "$2" refusing input "${@:4}"
}
claim 'quotes that do not end' refuses 'input:2: the file ends within quotes; 0 records were appended before it$' csv 'a\n"x'
claim 'of the first row it is said how to leave it out' refuses 'input:1: .*; 0 records were appended before it; --skip-rows=1 goes on behind it$' jsonl '{\n'
claim 'two columns of one name' refuses "two columns are named 'a'" csv 'a,a\n'
claim 'what is no JSON' refuses 'input:1: not a JSON value' jsonl '{\n'
claim 'what stands behind a value' refuses 'input:1: not a JSON value: there is something here' jsonl '{"a":1} "never closed\n'
claim 'or behind a number' refuses 'input:1: not a JSON value: there is something here' jsonl '5"6 7\n'
claim 'blanks that are none' refuses 'input:1: not a JSON value: there is something here' jsonl '[1,\v2]\n'
claim 'also around it' refuses 'input:1: not a JSON value: there is something here' jsonl '\f3\f\n'
claim 'a key with a NUL in it' refuses 'none of them NUL' jsonl '{"k":"a\\u0000b"}' --key-field k
claim 'a time with one' refuses 'no time stands in its field t' jsonl '{"t":"2026-01-31T12:00:00Z\\u0000"}' --time-field t
claim 'a row without the key' refuses 'input:1: it has no field k' jsonl '{"a":1}' --key-field k
claim 'a key of another kind' refuses "none of the log's kind" jsonl '{"k":"x y"}' --key-field k
claim 'eight-byte keys of times are refused, with what would do' refuses \
    'uid8: --key-field takes such keys from the rows; .u9 id make. makes' jsonl '{"t":1}' --key uid8 --time-field t
claim 'record keys, too' refuses 'rkey: record keys are texts of your own, which --key-field takes' jsonl '{"t":1}' --key rkey --time-field t
claim 'fresh eight-byte keys want a generator' refused 2 'lock-file picks one .*--generator=N' "$u9" import jsonl --key uid8 refusing input
claim 'which is one of them' refused 2 '--generator 2048: not a number from 0 to 2047' "$u9" import jsonl --generator 2048 refusing input
claim 'or is picked' refused 2 'does not go with it' "$u9" import jsonl --generator 1 --lock-file refusing input
claim 'none of these made a log' test ! -e refusing
printf '{"t":"2026-01-31T12:00:00.123456789Z"}\n{"t":"2026-01-31T12:00:00.1234567899999999999999Z"} \n' >nanos
run "$u9" import jsonl --time-field t nanos.log nanos
claim 'of a time with more decimals than six these are the time' same "$status $("$u9" id show muid $("$u9" cat --keys nanos.log | cut -f 1) | grep -c '12:00:00.123456')" '0 2'
claim 'a time that is none' refuses 'no time stands in its field t' jsonl '{"t":"soon"}' --time-field t
claim 'a journal that is cut off' refuses 'at byte 5: the file ends within the entry' journal 'A=1\n\nMESSAGE\n\3'
claim 'a line that is no field' refuses 'at byte 0: a line that is no field' journal 'a=1\n\n'
claim 'what is no MCAP' refuses 'not an MCAP file' mcap 'hello'
claim 'and no Avro' refuses 'not an Avro object file' avro 'Obj'
head -c 300 "$golden/plain.mcap" >cut.mcap
claim 'MCAP that is cut off' refused 1 'cut.mcap at byte [0-9]*: the file ends' "$u9" import mcap cut cut.mcap
{ head -c 700 "$golden/lz4.mcap" | head -c 300; printf X; tail -c +302 "$golden/lz4.mcap"; } >hurt.mcap
claim 'a chunk that is damaged' refused 1 'hurt.mcap at byte [0-9]*: a chunk' "$u9" import mcap hurt hurt.mcap
sed 's/"n":1/"n":7/' "$golden/plain.mcap" >altered.mcap
claim 'MCAP whose checksum of all data is wrong' refused 1 \
    'altered.mcap at byte [0-9]*: the checksum of the data in front of it is wrong; 4 records were appended before it; ' \
    "$u9" import mcap altered altered.mcap
claim 'is read to its end, if that is asked for' refused 1 'u9 import: 1 row was skipped' "$u9" import mcap altered2 altered.mcap --skip-bad
head -c 850 "$golden/null.avro" >cut.avro
claim 'Avro that is cut off' refused 1 'cut.avro: row 1: the file ends within it' "$u9" import avro cut cut.avro
counted() { # ROWS: Avro that says so of three
    printf 'Obj\1\2\026avro.schema\014"long"\0SSSSSSSSSSSSSSSS'"$1"'\6\2\4\6SSSSSSSSSSSSSSSS' >counted.avro
}
counted '\6'
claim 'Avro whose rows are counted' imports $'1\n2\n3' avro counted.avro
counted '\2'
claim 'Avro that counts too few' refused 1 'counted.avro: row 2: 2 bytes in front of it are of no row of their block; 1 record was' "$u9" import avro few counted.avro
counted '\10'
claim 'or too many' refused 1 'counted.avro: row 4: its block ends within it' "$u9" import avro many counted.avro
counted '\376\377\377\377\017'
claim 'or so many as have no room' refused 1 'counted.avro: row 1: a block of 2147483647 rows in 3 bytes; 0 records' "$u9" import avro most counted.avro
claim 'lines of CSV that end in carriage returns' refuses 'input: the name of column 2 has a carriage return in it: ' csv 'a,b\r1,2\r'
claim 'a name with a NUL' refuses 'input: the name of column 1 has a NUL in it' csv 'a\0b,c\n'
printf '\357\273\277{"a":1}\n' >marked.jsonl
claim 'a byte order mark is passed over in JSON lines' imports '{"a":1}' jsonl marked.jsonl
printf '\357\273\277{"a":1}\n{"a":2}\n' >marked2.jsonl
"$u9" append --json ordered marked.jsonl marked2.jsonl
claim 'and by append, of each file' holds "$(printf '{"a":1}\n{"a":1}\n{"a":2}')" ordered
claim 'an export that fails leaves no file' sh -c '! "$1" export csv odd --key-field b new.csv 2>err && test ! -e new.csv && grep -q "has a field of the name" err' sh "$u9"
claim 'nor a record without a row' same "$("$u9" export csv odd --key-field b --skip-bad 2>&1 >/dev/null | tail -n 1)" 'u9 export: 2 records were skipped'
printf '1\n2\n' | "$u9" append hurt2 && echo 30303030 | "$u9" append hurt2 && echo 4 | "$u9" append hurt2
harm "$(find hurt2 -name '*.u9')" 30303030
run "$u9" export csv hurt2
claim 'damage is told once, and the status is 3' same "$status $(wc -l <err) $(tr -s '\r\n' ' ' <out)" '3 1 value "1" "2" "4" '
run "$u9" export csv hurt2 --key-field value --skip-bad
claim 'also where records were skipped' eval 'test "$status" -eq 3 && grep -q "records were skipped" err'
for format in jsonl journal csv; do
    run "$u9" import $format blank /dev/null
    claim "nothing to import from $format is said, and a log is made" same "$status $(cat err) $("$u9" cat blank | wc -l)" '0 u9 import: note: /dev/null: there is nothing in it 0'
done
claim 'but no log of a table that is not there' sh -c '! "$1" import sqlite none2 /dev/null 2>err && test ! -e none2' sh "$u9"
claim 'of a log that is there, too' sh -c 'echo 1 | "$1" append --key uid8 --generator 5 eight && ! echo 1 | "$1" import jsonl eight 2>err && grep -q "generator=N" err' sh "$u9"
generators() { "$u9" cat --keys "$1" | cut -f 1 | "$u9" id show uid8 - | sed -E 's/.*"generator": *([0-9]*).*"cluster": *([0-9]*).*/\1,\2/' | uniq -c | tr -s ' \n' ' '; }
printf '1\n2\n' | "$u9" import jsonl eight --generator=6 --cluster 3
claim 'it makes them under the number that is given' same "$(generators eight)" ' 1 5,0 2 6,3 '
printf '1\n2\n' | "$u9" import jsonl --key uid8 --lock-file=numbers nine
claim 'or under one that is free here' same "$(generators nine) $(test -s numbers && echo kept)" ' 2 0,0  kept'
claim 'given in the rows they are taken' sh -c '"$1" export jsonl --key-field k eight >eight.jsonl && "$1" import jsonl --key uid8 --key-field k eight2 eight.jsonl && test "$("$1" cat --keys eight2 | cut -f 1)" = "$("$1" cat --keys eight | cut -f 1)"' sh "$u9"

mkfifo pipe nobody
"$u9" import jsonl waiting nobody 2>err &
importer=$!
# It is u9 by now, and no shell yet to be that, and has its handlers.
for ((i = 0; i < 200; i++)); do
    grep -q '^Name:.*u9$' /proc/$importer/status && grep -q '^SigCgt:.*[4-7c-f]..[2367abef]$' /proc/$importer/status && break || sleep 0.05
done
claim 'who waits for somebody to write into a FIFO waits' kill -TERM $importer
wait $importer
claim 'until a signal ends it: by its status, without a word, without a log' same "$? $(cat err) $(ls -d waiting 2>/dev/null)" '143  '
echo 7 >nobody &
"$u9" import jsonl waiting nobody
claim 'or until somebody writes' holds 7 waiting
wait
"$u9" import jsonl stopped pipe 2>err &
exec 3>pipe
seq 100000 >&3
kill -INT $!
wait $!
status=$?
exec 3>&-
"$u9" cat stopped >got
claim 'a signal ends it, and what was taken is there' sh -c "test $status = 130 && test \$(wc -l <got) -gt 1000 && seq \$(wc -l <got) | cmp -s - got"
claim 'it is said how it goes on' grep -q "^u9 import: stopped by SIGINT: --skip-rows=$(wc -l <got) goes on behind what was taken$" err
claim 'which it does' bash -c 'seq 100000 | "$1" import jsonl --skip-rows=$(wc -l <got) stopped && seq 100000 | cmp -s - <("$1" cat stopped)' bash "$u9"
"$u9" import jsonl --skip-rows=1000000 stopped pipe 2>err &
exec 3>pipe
seq 100000 >&3
kill -INT $!
wait $!
exec 3>&-
claim 'also while what is there already is passed over' grep -q '^u9 import: stopped by SIGINT: --skip-rows=1000000 goes on' err
claim 'or is broken' refused 1 'skip-rows=30 goes on with it' sh -c "printf 'a\n1\n\"x\n' | '$u9' import csv passing - --skip-rows=30"
claim 'a format that is none' refused 2 "there is no format 'xml'" "$u9" import xml log
claim 'a log that is not there' refused 1 nothing "$u9" export csv nothing
claim 'a file that is not there makes no log' sh -c '! "$1" import csv fresh nofile 2>err && test ! -e fresh' sh "$u9"
tally
