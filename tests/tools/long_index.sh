#!/usr/bin/env bash
# tests/tools/long_index.sh BINDIR TMPDIR: a segment of 100 million records with keys in no order gets its index in 64 MiB
# of memory, which is proven, and found by. Takes minutes, and 12 GiB of disk; for `make test-long`. INDEX_RECORDS:
# how many records instead.
. "$(dirname "$0")/claims.sh"

records=${INDEX_RECORDS:-100000000}
bounded() { (ulimit -v 1048576 && exec "$@"); }

free=$(df --output=avail -B1 . | tail -n 1)
if [ "$free" -lt $((records * 120)) ]; then
    skip "a segment of $records records: there is no room for it"
    tally
    exit
fi

# The first session ends at once; the second goes on in the file, which so gets no index inside.
keys() { awk -v n="$1" -v from="$2" 'BEGIN { for (i = from; i < n; i++) printf "k%010d\t%d\n", i * 7368787 % 2147483647, i }'; }
append() { "$u9" append "$@" --key-field '\t' --segment-size 1T --index-memory 16G --sync none log 2>append.err; }
keys 1 0 | append --key rkey
keys "$records" 1 | append
claim 'they are one segment' test "$(find log -name '*.u9' | wc -l)" -eq 1
began=$SECONDS
run bounded "$u9" index --memory 64M log
echo "# made in $((SECONDS - began)) s, $(stat -c %s log/*.u9x) bytes"
claim 'it gets its index' grep -q "index made now: $records records, $records entries" out
began=$SECONDS
run bounded "$u9" index --check --memory 64M log
echo "# proven in $((SECONDS - began)) s"
claim 'which is proven' grep -q 'all right' out
for i in 0 $((records / 3)) $((records - 1)); do
    claim "record $i is found by it" same "$(bounded "$u9" get log "$(printf 'k%010d' $((i * 7368787 % 2147483647)))")" "$i"
done
tally
