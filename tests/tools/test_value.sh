#!/usr/bin/env bash
# tests/tools/test_value.sh BINDIR TMPDIR: `u9 value` from a user's chair: JSON and text to values, back,
# and shown; what is refused, and where. [J-1] to [J-7], [N-1] to [N-8]
# shellcheck disable=SC2016 # $bytes and backticks are meant as they stand
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
trap '' PIPE

# value ARGUMENT...: runs `u9 value`, fills out, err and status.
value() {
    "$u9" value "$@" >out 2>err
    status=$?
}

# gives WANT SENTENCE INPUT ARGUMENT...: from that input exactly that output, not a word on stderr.
gives() {
    local want=$1 sentence=$2 input=$3
    shift 3
    value "$@" <<<"$input"
    [ "$status" -eq 0 ] && [ ! -s err ] && [ "$(cat out)" = "$want" ]
    result $? "$sentence"
}

# refuses PATTERN SENTENCE INPUT ARGUMENT...: status 1, and one line on stderr that fits.
refuses() {
    local pattern=$1 sentence=$2 input=$3
    shift 3
    value "$@" <<<"$input"
    [ "$status" -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -Eq -- "$pattern" err
    result $? "$sentence"
}

# mistake PATTERN SENTENCE ARGUMENT...: a usage error, one line on stderr that fits.
mistake() {
    local pattern=$1 sentence=$2
    shift 2
    value "$@" </dev/null
    [ "$status" -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -Eq -- "$pattern" err
    result $? "$sentence"
}

# nth N: a line of out.
nth() { sed -n "$1p" out; }

encoding() {
    gives $'85\n2568656c6c6f' 'encode takes JSON lines' $'5\n"hello"' encode --hex
    gives $'85\n86' 'blank lines are skipped' $'\n5\r\n \t\n6\n' encode --hex
    printf '[1,[2],[]]' >in
    value encode --hex in
    claim 'a file, and a line without newline' test "$status $(cat out)" = '0 4b06814901824800'
    printf '1\n' >one
    printf '2\n' >two
    "$u9" value encode one - two <<<'3' >out
    claim 'files in a row, - among them' test "$(od -An -tx1 out | tr -d ' ')" = 818382
    value encode one nowhere two
    claim 'a file that is not there is named, and ends it' \
        test "$status $(cat err)" = '1 u9 value: nowhere: No such file or directory'
    value encode . <<<''
    claim 'a folder is no input' grep -q '^u9 value: \.: Is a directory$' err
    refuses '^u9 value: standard input:2:[0-9]+: not a JSON value: ' 'what is no JSON is named with line and column' \
        $'1\n[2\n3' encode --hex
    claim 'and what stood before it is written' test "$(cat out)" = 81
    refuses 'input:1:1: "\$int" wants a string \(a key of your own is "\$\$int"\)$' \
        'a key of ours with something else in it, and how to say that it is your own' '{"$int":1}' encode
    refuses 'input:1:13: an object has the key "a" twice$' 'a key that is there twice' '{"a":1,"a":1}' encode
    refuses 'input:1:2: 18446744073709551616 is not an integer from -2\^63 to 2\^64 - 1$' \
        'an integer above the range is refused' '[18446744073709551616]' encode
    refuses 'input:1:1: -9223372036854775809 is not an integer' 'and one below it' '-9223372036854775809' encode
    claim 'and nothing is written for it' test ! -s out
    refuses 'input:1:1: 1e400 is too large for a float64$' 'a float that is too large, too' 1e400 encode
    refuses 'input:1:[0-9]+: .*64 deep' 'nesting beyond 64' "$(printf '%065d' 0 | tr 0 '[')$(printf '%065d' 0 | tr 0 ']')" encode
    head -c 20000000 /dev/zero | tr '\0' x | { printf '1\n"'; cat; printf '"\n'; } >in
    value encode --hex in
    claim 'a value beyond 16 MiB is refused' grep -Eq '^u9 value: in:2:1: longer than .*16 MiB' err
    claim 'with status 1, the one before it written' test "$status $(cat out)" = '1 81'
    cp in long
    printf '1\n[2\n\n{"a":1,"a":1}\n18446744073709551616\n3' >in
    value encode --hex --skip-bad in
    claim '--skip-bad goes on behind lines that are refused' test "$(tr '\n' ' ' <out)" = '81 83 '
    claim 'names them' test "$(grep -Ec '^u9 value: in:(2:2|4:13|5:1): .*; skipped$' err)" = 3
    claim 'counts them, and exits 1' test "$status $(tail -n 1 err)" = '1 u9 value: 3 lines were skipped'
    { printf '?\n%.0s' {1..1000}; echo 5; } >in
    value encode --hex --skip-bad in in
    claim 'of many it names the first few' test "$(grep -c '^u9 value: in:[1-5]:1: ' err) $(wc -l <err)" = '5 6'
    claim 'and counts all, in all files' test "$status $(tr '\n' ' ' <out)$(tail -n 1 err)" = \
        '1 85 85 u9 value: 2000 lines were skipped, the first 5 are named above'
    value encode --hex --skip-bad long one
    claim 'values that are too long are skipped, too' test "$status $(tr '\n' ' ' <out)" = '1 81 81 '
    { head -c 101000000 /dev/zero | tr '\0' x; printf '\n7\n'; } | "$u9" value encode --hex --skip-bad >out 2>err
    claim 'and lines beyond all measure' same "$? $(cat out) $(grep -c 'input:1: .*96 MiB; skipped' err)" '1 87 1'
    value encode --hex --skip-bad one
    claim 'where nothing is bad it changes nothing' test "$status $(cat out err)" = '0 81'
    if command -v script >/dev/null; then
        script -qec "echo 1 | '$u9' value encode; echo \"status \$?\"" /dev/null >out </dev/null 2>&1
        claim 'binary never goes to a terminal' grep -q 'values are not for a terminal.*--hex' out
        claim 'that is status 1' grep -q 'status 1' out
        script -qec "echo 1 | '$u9' value encode --hex" /dev/null >out </dev/null 2>&1
        claim 'but hex does' grep -q '^81' out
    fi
}

patching() {
    printf "(\"ann\" ('age 40) (1 2))" >base
    gives $'("ann" (\'age 42) (1 2 3))' 'patch applies patches in the text notation' \
        "('+ (1 1) 2) ('append (2) 3)" patch --text base
    gives $'("ann" (\'age 41) (1 2))\n("ann" (\'age 42) (1 2))' 'each tau0 writes the value, and so does the end' \
        "('+ (1 1) 1) tau0 ('+ (1 1) 1)" patch --text base
    gives $'("ann" (\'age 41) (1 2))' 'but not twice the same' "('+ (1 1) 1) tau0" patch --text base
    gives "$(cat base)" 'without patches it is written as it is' '' patch --text base
    refuses "^u9 value: standard input:2:2: another value is there than the one expected \[D-13\]$" \
        'a patch that is refused is named by its place, with its rule' $'(\'+ (1 1) 2)\n (\'cas (0) 5 6)' patch --text base
    claim 'and nothing is written' test ! -s out
    value patch --text --skip-bad base <<<"('add (0) 1) ('+ (1 1) 2) ('set (9) 1)"
    claim '--skip-bad goes on behind it, and exits 1' same "$status $(cat out)" $'1 ("ann" (\'age 42) (1 2))'
    claim 'and counts' grep -q '^u9 value: 2 lines were skipped$' err
    "$u9" value encode --text base >base.u9v
    "$u9" value encode --text <<<"('+ (1 1) 2)" >one
    value patch base.u9v one one
    claim 'values and patches are bytes otherwise, patches in many files' \
        test "$status $("$u9" value decode --text out)" = $'0 ("ann" (\'age 44) (1 2))'
    "$u9" value encode --text --hex base >base.hex
    value patch --hex base.hex <<<'4b 0e 0a2b00000000000000 4a02 8181 82 ; two more'
    claim 'or hex digits' test "$status $(cat out)" = "0 $(sed s/a8/aa/ base.hex)"
    refuses 'input: offset 11: .*\[V-4\]$' 'a patch that is no value is named by its offset' '4b 0a 0a2b00000000000000 48 85' patch --hex base.hex
    mistake 'which file has the value' 'a base is wanted' patch
    refuses 'more than one value is here' 'and only one' '' patch --text <(echo 1 2)
    refuses 'no value is here to be patched' 'and one at all' '' patch /dev/null
    refuses 'no value is here to be patched' 'as text, too' '' patch --text /dev/null
    refuses "^u9 value: standard input:2:1: expected a value or '\)', but the text ends \[N-1\]$" \
        'a patch that is cut short is not dropped' "('+ (1) 1" patch --text base
}

json() {
    cat >want <<'END'
0
-1
9007199254740991
9007199254740993
-9223372036854775808
18446744073709551615
1.0
{"$float64":"nan"}
{"$float32":0.1}
true
{"$symbol":"u9open"}
"é\n\u0000\u007f"
{"$utf8":"ff"}
{"$bytes":"0102ff"}
{"$greek":"omega"}
{"$tau":"5"}
{"$pidfd":[1337,3]}
[1,[2,[]]]
{"$array":["int16",1,2,3]}
{"$array":["array 2 utf8 1",["a","b"],["c","d"]]}
-0.0
5e-324
{"b":1,"a":{"$$x":[]},"":{}}
{"_id":{"$oid":"507f1f77bcf86cd799439011"},"$set":{"$$bytes":1}}
END
    "$u9" value encode want >bytes && "$u9" value decode bytes >out 2>err
    claim 'decode gives what encode took' cmp out want
    "$u9" value encode out >again
    claim 'and that gives the same bytes' cmp bytes again
    "$u9" value decode --text bytes >text && "$u9" value encode --text text >again
    claim 'so does the text notation' cmp bytes again
    "$u9" value encode --hex want >hex && "$u9" value decode --hex hex >out
    claim 'so do hex lines' cmp out want
    "$u9" append --json log want && "$u9" cat --format json log | sed 's/.*"values":\[\(.*\)\]}$/\1/' >out
    claim 'append --json and cat --format json have the same mapping' cmp out want
    gives '[[1,"on"],[2,"up"]]' 'arrays of tuples are lists of lists' '440a02 4a04 81226f6e 82227570' decode --hex
    gives '5' 'other forms are the same number' '03 0000000000000005' decode --hex
}

text() {
    gives $'(1 "a" [int16: 1 2])\nuint16(5)' 'decode --text prints a value a line' \
        '4b 0b 81 2161 44 05 02 05 0001 0002 01 0005' decode --text --hex
    gives $'4a028182\n85\n2161' 'encode --text takes values in any lines, and comments' \
        $' (1 ; one\n 2);two\n\n5\n"a" ; end' encode --text --hex
    printf '5' >in
    value encode --text --hex in
    claim 'no newline at the end is fine' test "$status $(cat out)" = '0 85'
    printf '; nothing' >in
    value encode --text --hex in
    claim 'nothing but a comment is nothing' test "$status $(cat out err)" = '0 '
    refuses "^u9 value: standard input:2:4: expected a value, not 'foo' \[N-2\]$" 'a fault is named with line and column' \
        $'1 2 (3\n4) foo 5' encode --text --hex
    claim 'and what stood before it is written' test "$(tr '\n' ' ' <out)" = '81 82 4a028384 '
    refuses "^u9 value: standard input:3:6: expected a value, not '\]'" 'in a value of several lines, too' \
        $'5 (\n"é"\n "é" ]' encode --text --hex
    refuses "^u9 value: standard input:2:1: .*but the text ends \[N-1\]$" 'text that ends early' '(1 2' encode --text
    refuses 'input:1:10: 128 does not fit in int8' 'columns count on behind a value' '1 [int8: 128]' encode --text --hex
    head -c 20000000 /dev/zero | tr '\0' x | { printf '1\n"'; cat; printf '"\n'; } >in
    value encode --text --hex in
    claim 'a value beyond 16 MiB is refused' grep -Eq '^u9 value: in:2:1: a value of more than 16 MiB$' err
    { printf '('; seq 1 300000; printf ')\n'; } >in
    "$u9" value encode --text in >bytes && "$u9" value decode bytes >out
    claim 'a value of many lines goes through' test "$(tr ',' '\n' <out | wc -l)" -eq 300000
    { cat in; printf '5 ?\n'; } | "$u9" value encode --text --hex >out 2>err
    claim 'and lines are counted behind it' grep -q 'input:300002:3: expected a value' err
    mkfifo pieces
    "$u9" value encode --text --hex <pieces >out 2>err &
    exec 9>pieces
    for piece in '(1 2' '3' ') ui' 'nt16(' '5) "\x' '41"' ' 7' '8'; do
        printf '%s' "$piece" >&9
        until read -r _ _ state _ <"/proc/$!/stat" && [[ $state = [SZ] ]]; do sleep 0.01; done # it has taken all
    done
    exec 9>&-
    wait $!
    claim 'pieces that come one by one are put together' test "$(tr '\n' ' ' <out)" = '4a028197 010005 2141 ce '
}

decoding() {
    gives $'1\n2' 'decode takes hex in any lines, with comments' $'8 ; half\n1 82' decode --hex
    refuses '^u9 value: standard input:2: .g. is not a hex digit$' 'what is no hex digit is named' $'81\n8g' decode --hex
    refuses 'input:2: half a byte at the end$' 'half a byte' $'81 8' decode --hex
    refuses '^u9 value: standard input: offset 4: a reserved bytecode \[V-6\]$' 'a bad value is named with its offset' \
        '81 4a 02 83 0c' decode --hex
    claim 'and what stood before it is written' test "$(cat out)" = 1
    refuses 'offset 1: the value passes the end of the bytes \[V-8\]$' 'a value that is cut off' '81 4a 02 83' decode --hex
    { printf '\x81\x1a\x01\x00\x00\x00'; head -c 17000000 /dev/zero; } >in
    value decode in
    claim 'is refused with its offset' test "$status $(cat err)" = '1 u9 value: in: offset 1: a value of more than 16 MiB'
    { printf '\x1b\xff\xff\xff\xff\xff\xff\xff\xff'; cat /dev/zero 2>/dev/null; } | timeout 20 "$u9" value decode >out 2>err
    claim 'however much it claims, and however much there is to read' grep -q 'offset 0: a value of more than 16 MiB' err
    { printf '\x1a\x00\xff\xff\xfb'; head -c 16777211 /dev/zero | tr '\0' x; printf '\x81'; } >in
    value decode in
    claim 'one of just 16 MiB is not' test "$status $(wc -l <out) $(tail -n 1 out)" = '0 2 1'
    mkfifo ask answer
    "$u9" value decode <ask >answer &
    exec 3>ask 4<answer
    local answer=
    for _ in 1 2 3; do
        printf '\x21\x61' >&3
        IFS= read -r -t 20 answer <&4 || answer=
    done
    exec 3>&- 4<&-
    wait
    claim 'each value is printed before the next is read' test "$answer" = '"a"'
    yes '"text"' 2>/dev/null | head -n 100000 | "$u9" value encode | "$u9" value decode | sort -u >out
    claim 'values are many' test "$(cat out)" = '"text"'
}

showing() {
    cat >want <<'END'
       0  4d 1a                               tuple of 5 in 26 bytes
       2    85                                5
       3    4b 0b                             tuple of 3 in 11 bytes
       5      22 cf84                         "τ"
       8      04 ff                           -1
      10      49 04                           tuple of 1 in 4 bytes
      12        33 000102                     x"000102"
      16    18 01 61                          utf8.8("a")
      19    44 05 02 05                       array of 2 in 4 bytes: int16
      23      0001 fffe                       1 -2
      27    14                                tau0
END
    value show --hex <<<'4d 1a 85 4b0b 22cf84 04ff 4904 33000102 180161 44 05 02 05 0001 fffe 14'
    claim 'show prints offset, bytes, meaning' cmp out want
    claim 'and exits 0' test "$status$(cat err)" = 0
    value show --hex <<<'81 51 0017 0a6b00000000000000 4403020001 02 44050205 0000 0003 4a06 490181 490182'
    claim 'an index is shown' test "$(nth 2)" = '       1  51 0017                             cidx in 23 bytes'
    claim 'with its parts' test "$(nth 3)" = "       4    0a 6b00000000000000               'k"
    claim 'and its container behind it' test "$(nth 8)" = '      27  4a 06                               tuple of 2 in 6 bytes'
    value show --hex <<<"1c 28 $(printf '%080d' 0)"
    claim 'long contents are cut' grep -Eq '^       0  1c 28 0{32}…  x"0{62}…$' out
    value show --hex <<<'44 0c 02 44 04 04 00 01020304 05060708'
    claim 'arrays in arrays are rows' test "$(nth 5)" = \
        '      11      05 06 07 08                     5 6 7 8'
    value show --hex <<<'44 0a 02 4a04 81226f6e 82227570'
    claim 'tuples in arrays have their elements' test "$(nth 4)" = '       6      22 6f6e                         "on"'
    value show --hex --json <<<'4a 04 85 22cf84'
    claim '--json prints an object a line' test "$(cat out)" = \
        '{"offset":"0","depth":0,"bytes":"4a 04","meaning":"tuple of 2 in 4 bytes"}
{"offset":"2","depth":1,"bytes":"85","meaning":"5"}
{"offset":"3","depth":1,"bytes":"22 cf84","meaning":"\"τ\""}'
    value show --hex <<<'81 4b 04 85 0c 8181'
    claim 'up to the bad place all is shown' test "$(nth 3)" = '       3    85                                5'
    claim 'then that, with its rule' test "$(nth 4)" = '       4    0c8181                            here: a reserved bytecode [V-6]'
    claim 'and on standard error, with status 1' test "$status $(cat err)" = \
        '1 u9 value: standard input: offset 4: a reserved bytecode [V-6]'
    value show --hex <<<'4b 04 49 02 85'
    claim 'of a tuple that is cut off, what there is' test "$(nth 3)" = '       4      85                              5'
    claim 'and where it ends' grep -q '^       5 .*the end: the value passes the end of the bytes \[V-8\]$' out
    value show --hex <<<'49 02 85 86'
    claim 'bytes behind the last element are the bad place' grep -q '^       3    86 .*here: bytes behind' out
    value show --hex <<<'4a 01 85'
    claim 'so is the end of a tuple that is short' grep -q '^       3 .*the end: a tuple ends before its last element' out
    value show --hex <<<'44 06 02 05 0001000200'
    claim 'of an array that does not fit nothing is shown' grep -q "^       0  44060205.*here: an array's length" out
    printf '5\n' | "$u9" value encode >one
    value show one one
    claim 'each file is a stream of its own' test "$(nth 2)" = '       0  85                                  5'
}

words() {
    "$u9" value --help >out 2>err
    for word in encode decode show --text --hex --json '\$array' '\$symbol' N-\*; do
        claim "--help tells of $word" grep -q -e "$word" out
    done
    mistake 'encode.*decode.*show' 'nothing'
    mistake "'print' is none of" 'an unknown word' print x
    mistake '--skip-bad goes with' '--skip-bad of decode' decode --skip-bad
    mistake '--skip-bad goes with' '--skip-bad of text' encode --text --skip-bad
    mistake '--json goes with show' '--json of decode' decode --json
    mistake '--text goes with' '--text of show' show --text
    mistake 'unrecognized|unknown' 'an unknown option' decode --fast
    value decode </dev/null
    claim 'no bytes, no values' test "$status$(cat out err)" = 0
    printf '1\n' | "$u9" value encode --hex >/dev/full 2>err
    claim 'a full disk is told' test "$? $(grep -c 'No space left' err)" = '4 1'
}

encoding
patching
json
text
decoding
showing
words
tally
