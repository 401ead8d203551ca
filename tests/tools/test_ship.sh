#!/usr/bin/env bash
# tests/tools/test_ship.sh BINDIR TMPDIR: u9 send and u9 recv, over pipes and a UNIX socket. [T-9] to [T-12]
# On the io table uring: only what a receiver writes. What is refused, and what a sender does by itself, is the same there.
# shellcheck disable=SC2016 # conditions are meant as they stand
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
dir=$tmp

records() { "$u9" cat --keys "$1"; }
copied() { # LOG COPY: the same records under the same keys, in a log that is whole
    records "$1" >want && records "$2" >have && cmp want have && "$fsck" -q "$2"
}
# until_so COMMAND...: waits until it succeeds; a minute is a failure.
until_so() {
    local tries
    for tries in $(seq 1200); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "never: $*"
    return 1
}
has_read() { [ "$(sed -n 's/^rchar: //p' "/proc/$1/io")" -ge "$2" ]; } # PID BYTES
# piped SENDER... -- RECEIVER...: both statuses in `both`.
piped() {
    local send=() said
    while [ "$1" != -- ]; do send+=("$1") && shift; done
    shift
    "${send[@]}" 2>send.err | "$@" 2>recv.err
    said=("${PIPESTATUS[@]}")
    both="${said[*]}"
}

pipes() {
    seq 1 50000 | "$u9" append log
    printf 'a\tb\nc\td\n' | "$u9" append rkeys --key rkey --key-field '\t'
    piped "$u9" send log -- "$u9" recv copy
    claim 'send | recv: both are content' same "$both" '0 0'
    claim 'and quiet' test ! -s send.err -a ! -s recv.err
    claim 'the copy has the same records under the same keys' copied log copy
    claim 'in as many frames' same "$(frames copy)" "$(frames log)"
    piped "$u9" send rkeys -- "$u9" recv rkeys.copy
    claim 'a log of record keys is copied' copied rkeys rkeys.copy
    claim 'with its kind' same "$("$u9" info rkeys.copy | sed -n 's/^key kind *//p')" rkey
    "$u9" send log >stream
    claim 'a stream may lie in a file' "$u9" recv --sync none --lz4 --segment-size 64K from.file <stream
    claim 'and makes the same log' copied log from.file
    piped "$u9" send -v log -- "$u9" recv -v copy
    claim 'once more: nothing is new' grep -q ' 0 records .* 50000 had come before' recv.err
    claim '-v says what was sent' grep -q ' 50000 records in [0-9]* batches' send.err
}
# Frames that hold records: each begins at another place.
frames() { "$u9" send -v "$1" 2>&1 >/dev/null | sed 's/.* in \([0-9]*\) batch.*/\1/'; }

breaks() {
    local size cut
    size=$(stat -c %s stream)
    for cut in 13 70 1000 $((size / 3)) $((size / 2)) $((size - 1)); do
        claim "a stream cut at $cut: status 4, and where it goes on" \
            refused 4 'the same command goes on at record [0-9]' \
            sh -c 'head -c "$1" stream | "$2" recv broken' sh "$cut" "$u9"
    done
    claim 'the whole stream mends it' "$u9" recv broken <stream
    claim 'and it is the same log' copied log broken
    seq 50001 50100 | "$u9" append log
    piped "$u9" send log --from '#50000' -- "$u9" recv -v broken
    claim '--from sends less' same "$both" '0 0'
    claim 'and the copy has all' copied log broken
    claim 'of what was there nothing was sent' grep -q ' 100 records .* 0 had come before' recv.err
    "$u9" send log 2>gone.err | head -c 10 >/dev/null
    claim 'a reader that goes away is no message' test ! -s gone.err
    mkfifo fifo
    "$u9" recv stopped <fifo 2>err.stopped &
    local pid=$!
    exec 9>fifo
    head -c 100000 stream >&9
    until_so has_read $pid 100000
    kill -TERM $pid
    wait $pid
    claim 'a signal ends it' same $? 143
    exec 9>&-
    claim 'it says where it goes on' grep -q 'stopped by SIGTERM; the same command goes on at record' err.stopped
    claim 'and the log is closed' sh -c '"$1" info stopped | grep -q "^end *closed"' sh "$u9"
    claim 'and goes on there' "$u9" recv stopped <stream
}

refusals() {
    seq 1 10 | "$u9" append other
    piped "$u9" send other -- "$u9" recv copy
    claim 'a log with more records is no beginning' grep -q 'not a beginning of what is sent' recv.err
    claim 'status 1' same "$both" '0 1'
    seq 11 60000 | "$u9" append other
    piped "$u9" send other -- "$u9" recv copy
    claim 'nor is one with others' grep -q 'record 49999 is another one here' recv.err
    claim 'which the same command does not mend' sh -c '! grep -q "the same command goes on" recv.err'
    piped "$u9" send other --from '#20' -- "$u9" recv new
    claim 'what lies before must be there' grep -q 'record 0 is the first one sent\|those before it are not here' recv.err
    piped "$u9" send rkeys -- "$u9" recv copy
    claim 'another key kind is refused' grep -q "of kind 'muid', not 'rkey'" recv.err
    claim 'something else is no stream' refused 1 'standard input: offset 0: no frame begins here \[T-2\]' \
        sh -c 'echo hello | "$1" recv no' sh "$u9"
    claim 'nor is nothing' refused 4 'nothing came' sh -c '"$1" recv no </dev/null' sh "$u9"
    claim 'a frame of any length is refused at its place' refused 1 'offset 4: .*longer than is accepted' \
        sh -c 'printf "\377u9\0\377\377\377\377\377\377\377\377" | "$1" recv no' sh "$u9"
    claim 'nothing was made' test ! -e no
    claim 'more than there is' refused 1 'the log has 50100 records' \
        sh -c '"$1" send log --from "#70000" >/dev/null' sh "$u9"
    claim 'no such log' refused 1 'No such file' sh -c '"$1" send nowhere >/dev/null' sh "$u9"
    for wrong in 'send' 'recv' 'send log log' 'recv log log' 'send log --from 7' 'send log --from #x' \
        'send log --duplex --from #7' 'recv log --sync never' 'recv log --segment-size 1' 'send log --bad'; do
        # shellcheck disable=SC2086 # words
        claim "wrong usage: $wrong" refused 2 "^u9 ${wrong%% *}: " "$u9" $wrong
    done
    for verb in send recv; do
        claim "$verb --help" sh -c '"$1" "$2" --help | grep -q -- --duplex' sh "$u9" $verb
    done
    if command -v script >/dev/null; then
        claim 'send is not for a terminal' sh -c 'script -qec "$1 send log" /dev/null </dev/null | grep -q "not for a terminal"' sh "$u9"
        claim 'nor does recv read one' sh -c 'script -qec "$1 recv no" /dev/null </dev/null | grep -q "not come from a terminal"' sh "$u9"
        claim 'progress is shown on a terminal, with an ETA' sh -c \
            'script -qefc "until grep -q ET[A] screen || [ \$((n += 1)) -gt 80 ]; do dd bs=20000 count=1 status=none; sleep 0.05; done <stream |
                $1 recv shown" screen </dev/null >/dev/null; grep -q "u9 recv: .*ETA" screen' sh "$u9"
    else
        skip 'terminals: there is no script(1)'
    fi
}

damage() {
    local file at
    cp -R log hurt
    file=hurt/0000000000000001.u9
    at=$(LC_ALL=C grep -abo 25000 $file | sed -n '1{s/:.*//p;q}') # a record: where frames end is chance
    printf '\377\377\377\377' | dd of=$file bs=1 seek="$at" conv=notrunc status=none
    piped "$u9" send hurt -- "$u9" recv saved
    claim 'damage: both say so' same "$both" '3 3'
    claim 'the sender names it' grep -q 'CORRUPT: ' send.err
    claim 'and what to do' grep -q 'u9fsck --salvage' send.err
    claim 'the receiver names the first record that is lost' grep -q 'the sender: records of the log from [0-9]* on are lost' recv.err
    claim 'and its log is whole' "$fsck" -q saved
    records log >want
    claim 'and a beginning' sh -c '"$1" cat --keys saved >have && [ -s have ] && head -n "$(wc -l <have)" want | cmp - have' sh "$u9"
}

# A reader far slower than the writer: the sender's memory does not grow with the log.
memory() {
    local megabytes kb=()
    for megabytes in 4 64; do
        head -c ${megabytes}000000 /dev/zero | tr '\0' 'x' | fold -w 999 | "$u9" append --sync none big$megabytes
        rm -f slow && mkfifo slow
        "$u9" send big$megabytes >slow 2>/dev/null &
        local pid=$!
        exec 8<slow
        for _ in $(seq $((megabytes / 4))); do
            dd bs=60000 count=50 iflag=fullblock status=none <&8 >/dev/null
            sleep 0.05
        done
        kb+=("$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' /proc/$pid/status)")
        exec 8<&-
        wait $pid
    done
    claim "a slow reader: ${kb[0]} kB for 4 MB, ${kb[1]} kB for 64 MB" test "${kb[1]}" -lt $((kb[0] + 8000))
    rm -rf big4 big64
}

# two COMMAND... -- COMMAND...: both at the ends of a UNIX socket, each with it as stdin and stdout.
two() {
    local left=()
    while [ "$1" != -- ]; do left+=("$1") && shift; done
    shift
    rm -f socket
    timeout 60 socat UNIX-LISTEN:socket EXEC:"${left[*]}" 2>left.err &
    local pid=$!
    until_so test -S socket
    timeout 60 socat UNIX-CONNECT:socket EXEC:"$*" 2>right.err
    wait $pid
}

sockets() {
    if ! command -v socat >/dev/null; then
        skip 'sockets: there is no socat'
        return
    fi
    rm -f socket
    timeout 60 socat -u UNIX-LISTEN:socket - 2>/dev/null | "$u9" recv over.socket 2>recv.err &
    local pid=$!
    until_so test -S socket
    "$u9" send log | timeout 60 socat -u - UNIX-CONNECT:socket
    wait $pid
    claim 'one way over a socket' copied log over.socket
    two "$u9" recv -v --duplex two.ways -- "$u9" send -v --duplex log
    claim 'two ways over a socket' copied log two.ways
    claim 'the sender heard that all is stored' grep -q 'u9 send: 50100 records' right.err
    seq 1 7 | "$u9" append log
    two "$u9" send -v --duplex log -- "$u9" recv -v --duplex two.ways
    claim 'the other way round, and only what is missing' grep -q 'u9 send: 7 records in 1 batch' left.err
    claim 'and both are the same again' copied log two.ways
    # A slow way in between: kappa, iota and the socket hold the sender back.
    head -c 20000000 /dev/zero | tr '\0' 'y' | fold -w 999 | "$u9" append --sync none large
    two "$u9" recv -v --duplex large.copy -- "$u9" send -v --duplex large
    claim 'a large one' copied large large.copy
    [ -d other ] || seq 1 60000 | "$u9" append other
    two "$u9" recv --duplex two.ways -- "$u9" send --duplex other
    claim 'a log that is no beginning: the sender hears it' grep -q 'u9 send: the receiver: .*not a beginning' right.err
    claim 'and the receiver says it' grep -q 'u9 recv: .*not a beginning' left.err
}

groups='pipes breaks refusals damage memory sockets'
[ "${U9_IO-}" != uring ] || groups='pipes breaks sockets'
for group in $groups; do $group; done
tally
