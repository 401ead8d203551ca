#!/usr/bin/env bash
# tests/tools/test_bench.sh BINDIR TMPDIR: that u9bench runs each of its workloads, tells all that it measures, in each
# of its forms, and leaves nothing behind. What it measures is not looked at.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

bench=$bin/u9bench
mkdir stores

# Without peers, whatever is installed: u9, and floors that need nothing but the processor.
measure() { run "$bench" --quiet --dir stores --engines u9,sha256,lz4,kernel,openssl,mapped,search,follow-within,follow-between "$@"; }

workloads() { "$bench" --list | sed -n '/^$/q; s/ .*//p' | grep -vxE 'ids|values|segments'; }
is_json() { tr -d '\n' <"$1" | "$u9" value encode >/dev/null; }
absent() { ! grep -q "$1" "$2"; }

lists() {
    run "$bench" --list
    claim 'the list names workloads' grep -q '^append ' out
    claim 'and tables by themselves' grep -q '^segments ' out
    claim 'and engines, built or not' grep -qE '^rocksdb +([0-9]|not built)' out
    claim 'and those that want a pool' grep -q '^pool-append ' out
    claim 'which are refused elsewhere' refused 2 "'pool-get' wants --dir rados:" "$bench" pool-get
    claim 'and those that want S3' grep -q '^s3-scan ' out
    claim 'likewise' refused 2 "'s3-get' wants --dir s3://" "$bench" s3-get
    claim 'where nothing else runs' refused 2 "'append' wants --dir DIR" "$bench" --dir s3://bucket/x append
    claim 'and how each is set' grep -q '^u9 .*muids' out
    claim 'the version is told as by the other tools' test "$("$bench" --version)" = "u9bench $("$u9" --version | sed 's/^u9 //')"
    claim 'and help by one letter, too' test "$("$bench" -h)" = "$("$bench" --help)"
    claim 'help tells the options' test "$("$bench" --help | grep -cE -- '--(records|rounds|engines|data|html|json)')" -eq 6
}

refusals() {
    claim 'a workload that is none is refused' refused 2 'is no workload' "$bench" nothing
    claim 'and an engine that is none' refused 2 'is no engine' "$bench" --engines u9,nothing append
    claim 'a slip in a workload is told with what was meant' refused 2 "did you mean 'append-1k'" "$bench" apend-1k
    claim 'in a table by itself, too' refused 2 "did you mean 'segments'" "$bench" segmens
    claim 'and in an engine' refused 2 "did you mean 'sha256'" "$bench" --engines u9,sha265 append
    claim 'and in an option' refused 2 "unrecognized option '--rounsd'; did you mean '--rounds'" "$bench" --rounsd=1 append
    claim 'what is like nothing is not guessed at' refused 2 'see --list' "$bench" qqqq
    claim 'and no round' refused 2 'not a number' "$bench" --rounds 0 append
}

all_of_it() {
    local names name
    names=$(workloads)
    measure -n 1000 -r 1 --json all.json --html all.html --markdown all.md --plot all.svg
    claim 'all workloads run' test "$status" -eq 0
    claim 'the stores are gone' test -z "$(ls stores)"
    claim 'the JSON is JSON' is_json all.json
    claim 'no row of it failed' absent '"state": "failed"' all.json
    claim 'no number of it is none' absent -E '\b(nan|inf)\b' all.json
    for name in $names; do
        # What needs a floor for its pace does not run without it.
        claim "$name is in the JSON" grep -q "\"name\": \"$name\"" all.json
        [ "$name" = rolls ] || claim "$name is on the page" grep -q "<h2 id=\"$name\">" all.html
        [ "$name" = rolls ] || claim "$name is in the Markdown" grep -q "^## $name: " all.md
        [ "$name" = rolls ] || claim "$name is in the table" grep -q "^$name: " out
    done
    for name in mb_per_s records_per_s calls_per_s p50_us p99_us p999_us most_us cpu_s rss_peak_mib anon_peak_mib \
        disk_per_byte disk_per_record seconds sync_s open_s close_s u9_is_better; do
        claim "$name is in each row that ran" test "$(grep -c '"state": "ran"' all.json)" -eq "$(grep -c "\"$name\": " all.json)"
    done
}

page() {
    claim 'the page needs no other file' absent -E '<(script|link|img|iframe)|src=|url\(|href="[^#]' all.html
    claim 'its pictures are whole' test "$(grep -o '<svg' all.html | wc -l)" -eq "$(grep -o '</svg>' all.html | wc -l)"
    claim 'the plot is one picture' test "$(grep -c '<svg' all.svg) $(grep -c '</svg>' all.svg)" = '1 1'
    claim 'with its style in it' grep -q '<style>' all.svg
    claim 'the Markdown shows it' grep -q '](all.svg)' all.md
    claim 'the page tells how engines are set' grep -q 'id="engines"' all.html
    claim 'the table tells the targets' grep -q '^targets$' out
}

counts() {
    measure -n 3000 -r 3 --json three.json append
    claim 'three rounds are three values' test "$(grep -cE '"values": \[[^],]+, [^],]+, [^],]+\]' three.json)" -ge 2
    claim 'all records were appended' grep -q '"records": 3000,' three.json
    claim 'another workload is not in it' absent '"name": "commit"' three.json
    measure -n 3000 -r 1 --json sized.json --batch 7 --value-size 333 append
    claim 'batches and value sizes can be chosen' grep -q '"batch": 7,' sized.json
    printf 'one <line>\nand "another"\nthe third & last\n' >'l&i"nes'
    measure -n 3000 -r 1 --json lines.json --html lines.html --data 'l&i"nes' append
    claim 'values can be lines of a file' test "$status" -eq 0
    claim 'whose name stands in the JSON' grep -q 'l&i\\"nes' lines.json
    claim 'and on the page' grep -q 'l&amp;i&quot;nes' lines.html
    claim 'that JSON is JSON, too' is_json lines.json
}

failures() {
    run "$bench" --quiet --dir stores/missing --engines u9 -n 1000 -r 1 append
    claim 'a directory that is not there ends it' test "$status" -eq 4
    run "$bench" --quiet --dir stores --io nothing --engines u9,sha256 -n 1000 -r 1 --json bad.json append
    claim 'a run that fails is status 1' test "$status" -eq 1
    claim 'its row says so' grep -q '"state": "failed"' bad.json
    claim 'other rows have run' grep -q '"state": "ran"' bad.json
    claim 'its store is gone' test -z "$(ls stores)"
}

lists
refusals
all_of_it
page
counts
failures
tally
