#!/usr/bin/env bash
# tests/tools/long_large.sh BINDIR TMPDIR: a record of 5 GiB on its way through all tools, each of which may have 1 GiB
# of address space: in, checked, out, by its key, over a pipe, salvaged. Takes minutes, and room for it twice; for
# `make test-long`.
. "$(dirname "$0")/claims.sh"

bytes=${LARGE_BYTES:-5368709120}
bounded() { (ulimit -v 1048576 && exec "$@"); }
digest() { sha256sum | cut -d ' ' -f 1; }

free=$(df --output=avail -B1 . | tail -n 1)
if [ "$free" -lt $((bytes * 21 / 10)) ]; then
    skip "a record of $bytes bytes: there is no room for it twice"
    tally
    exit
fi

# No two mebibytes are alike: 64 of them, shifted by ever more bytes.
head -c 67108864 /dev/urandom >seed
for ((i = 0; i * 67108864 < bytes; i++)); do
    tail -c +$((1 + i * 4097)) seed
    head -c $((i * 4097)) seed
done | head -c "$bytes" >big
rm seed
want=$(digest <big)
run bounded "$u9" append --whole --print-keys log big
claim 'it goes in' test "$status" -eq 0
key=$(cat out)
rm big
claim 'and stands in one segment' test "$(find log -name '*.u9' | wc -l)" -eq 1
claim 'which passes the size of segments' test "$(stat -c %s log/*.u9)" -gt "$bytes"
run bounded "$fsck" log
claim 'it is whole' grep -q '^log: clean: 1 record in' out
claim 'it comes out' same "$(bounded "$u9" cat --format raw log | tail -c "$bytes" | digest)" "$want"
claim 'by its key, too' same "$(bounded "$u9" get --null log "$key" | head -c "$bytes" | digest)" "$want"
claim 'as JSON it has two digits for each byte' \
    test "$(bounded "$u9" cat --format json log | wc -c)" -gt $((2 * bytes))
bounded "$u9" send log | bounded "$u9" recv copy
claim 'it goes over a pipe' test "${PIPESTATUS[*]}" = '0 0'
claim 'and is the same there' same "$(bounded "$u9" cat --format raw copy | tail -c "$bytes" | digest)" "$want"
rm -r copy
run bounded "$fsck" --salvage saved log
claim 'it is salvaged' grep -q '^saved: 1 record written, re-read and verified; 0 records lost' out
claim 'and is the same there' same "$(bounded "$u9" cat --format raw saved | tail -c "$bytes" | digest)" "$want"
tally
