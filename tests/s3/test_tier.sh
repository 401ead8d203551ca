#!/usr/bin/env bash
# tests/s3/test_tier.sh BINDIR TMPDIR: sealed segments in S3: u9 tier, and reading a log from here and there, and from there
# alone. On a server of its own (server.py, which checks signatures and does what is asked for wrong), or with
# U9_S3_SERVER=radosgw on a Ceph object gateway: then without what only the first can do.
# shellcheck source=tests/tools/ranges.sh
. "$(dirname "$0")/../tools/ranges.sh"
# shellcheck source=tests/s3/servers.sh
. "$(dirname "$0")/servers.sh"
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/../tools/claims.sh"
tree=$OLDPWD
server=${U9_S3_SERVER-python}
export HOME=$tmp
there() { [ "$server" = python ]; } # what follows looks into the store, or asks for faults
stored() { find store/bucket -path "*$1/*.u9" | sort; }
fault() { printf '%s\n' "$@" >store/faults; }
requests() { : >store/requests; }
requested() { grep -c -- "$1" store/requests; } # PATTERN
digest() { "$u9" cat "$@" 2>cat.err | cksum; }
append() { "$u9" append "$@" 2>append.err; }
make() { seq "${2-20000}" | append "$1" --segment-size 64K --sync none; } # LOG [N]: some eight segments
here() { find "$1" -name '*.u9' | wc -l; }
tiers() { run "$u9" tier "$@"; }
says() { grep -Eq -- "$1" out err; } # PATTERN

# [TR-1] [TR-3] [TR-5]
fills() {
    make log
    want=$(digest log) all=$(here log)
    tiers log --to s3://bucket/a/log --dry-run
    claim 'a dry run says what would be copied' says '^log: would copy [5-9] segments, [0-9.]+ kB; the place has 0'
    claim 'and makes nothing' test ! -e log/.tier
    tiers log --to s3://bucket/a/log
    claim 'sealed segments are copied' says "^log: copied $((all - 1)) segments, [0-9.]+ kB; the place has $((all - 1)), .*all records below [0-9]+$"
    claim 'the log is read as before' same "$(digest log)" "$want"
    claim 'and clean' "$fsck" log
    records=$("$u9" cat s3://bucket/a/log 2>err | wc -l)
    claim 'the place alone is a log, up to its last sealed segment' same "$(digest s3://bucket/a/log)" "$(seq "$records" | cksum)"
    claim 'which has most of it' test "$records" -gt 10000 -a "$records" -lt 20000
    run "$fsck" s3://bucket/a/log
    claim 'and is clean' test "$status" -eq 0
    tiers log --to s3://bucket/a/log --json
    claim 'once more there is nothing to copy' says '"type":"tier","path":"log","dry_run":false,"segments":"0"'
    tiers log
    claim 'the place is known by now' test "$status" -eq 0
    tiers log --to s3://bucket/elsewhere
    claim 'it has one place' says 'its segments go to another place already: s3://bucket/a/log'
    tiers log --keep 100K
    claim 'then the oldest are dropped here' says 'copied 0 segments.*; dropped [3-9] here, [0-9.]+ kB; the place has'
    claim 'from the disk' test "$(here log)" -lt "$all"
    claim 'and none of it is lost' same "$(digest log)" "$want"
    run "$fsck" log
    claim 'nor told as lost' test "$status" -eq 0
    key=$("$u9" cat --keys -n 1 log 2>/dev/null | cut -f 1 | cut -d ' ' -f 1)
    claim 'a key of a segment that is there alone is found' same "$("$u9" get log "$key" 2>err)" 1
    claim 'from the end backwards' same "$("$u9" cat --reverse log | cksum)" "$(seq 20000 -1 1 | cksum)"
    claim 'from a number on' same "$("$u9" cat --from '#100' -n 2 log | tr '\n' ' ')" '101 102 '
    claim 'scans by several threads read both' same \
        "$("$u9" scan --json -j 2 log | grep -o '"records":"[0-9]*"')" '"records":"20000"'
    claim 'each segment of the place has its index, the last one too' same \
        "$("$u9" index --dry-run s3://bucket/a/log | grep -c 'index in the segment')" "$((all - 1))"
    if there; then
        requests
        "$u9" cat -n 1 s3://bucket/a/log >out 2>err
        claim 'to open it, the beginning of each segment is asked for once' test \
            "$(requested 'u9 bytes=0-[0-9]* ')" -le "$(($(stored a/log | wc -l) + 1))" # and one is read then
    fi
    seq 20001 30000 | append log --segment-size 64K --sync none
    claim 'the log goes on' same "$(digest log)" "$(seq 30000 | cksum)"
    tiers log
    claim 'what was sealed since follows' says '^log: copied [1-9][0-9]* segments'
    claim 'and is read there' same "$("$u9" cat s3://bucket/a/log | head -n 20000 | cksum)" "$want"
    claim 'a follower of the place shows what is there, and waits' same \
        "$(timeout 6 "$u9" cat -f s3://bucket/a/log 2>err | head -n 20000 | cksum)" "$want"
    run append s3://bucket/a/log </dev/null
    claim 'a place is not written to' test "$status" -ne 0
    run "$u9" snapshot s3://bucket/a/log snap
    claim 'a snapshot of the place alone is refused, with what does it' says 'a merge goes from anywhere to anywhere'
    run "$fsck" --salvage=saved s3://bucket/a/log
    claim 'so is a salvage' test "$status" -ne 0 -a ! -e snap -a ! -e saved
    run "$u9" merge merged s3://bucket/a/log
    claim 'a merge is as good' same "$status $(digest merged)" "0 $(digest s3://bucket/a/log)"
    run "$u9" snapshot log snap
    claim 'a snapshot of here and there has both' same "$status $(digest snap)" "0 $(digest log)"
    run "$fsck" --salvage=saved log
    claim 'and a salvage' same "$status $(digest saved)" "0 $(digest log)"
    cp -r log copy
    claim 'a copy of what is here reads the same place' same "$(digest copy)" "$(seq 30000 | cksum)"
}

# A process for each range, here or anywhere, and ranks of MPI: what they come to together is the scan. [TR-5] [P-4]
ranges() {
    local place=s3://bucket/ranged n
    make ranged
    totals ranged -j 1 >one
    tiers ranged --to $place --keep 100K
    claim 'a log is here and there' says 'dropped [3-9] here'
    for n in 1 2 5; do claim "$n processes with a range each read all of it" same "$(by_lines ranged $n)" "$(cat one)"; done
    totals $place -j 1 >alone
    claim 'of the place alone' same "$(head -n 1 alone)" "records $("$u9" cat $place | wc -l)"
    for n in 1 2 5; do claim "$n processes read all of it" same "$(by_lines $place $n)" "$(cat alone)"; done
    claim 'by a plan of the place it is read wherever its segments are' same "$(by_lines ranged 4 $place)" "$(cat alone)"
    "$u9" split ranged -n 4 >plan
    run "$u9" scan $place --range "$(tail -n 1 plan)"
    claim 'a range of what the place has not yet is refused' test "$status" -eq 1
    claim 'with a sentence' says 'segment [0-9]+, which the range names, is not there'
    if has_mpi; then
        for n in 1 2 4; do
            claim "$n ranks of MPI come to the same" same "$(by_ranks $n ranged 2>mpi.err)" "$(cat one)"
            claim 'of the place, too' same "$(by_ranks $n $place 2>>mpi.err)" "$(cat alone)"
        done
    else
        skip 'ranks of MPI: libopenmpi-dev or openmpi-bin is not installed'
    fi
    there || return
    rm store/bucket/ranged/0000000000000003.u9
    run "$u9" scan ranged -j 1
    grep -E '^(records|bytes|digest) ' out >broken
    claim 'what the place lost, ranges tell as a scan does' same "$status $(by_lines ranged 4)" "3 $(cat broken)"
    claim 'once' same "$(grep -c 'CORRUPT: missing' lines.err)" 1
    fault '9999 GET ranged/0000000000000002.u9 503'
    run "$u9" scan ranged --range "$(head -n 1 plan)"
    claim 'a range that cannot be read is no range of fewer records' test "$status" -ge 3
    rm store/faults
}

# [TR-4] [TR-7]: larger than 64 MiB, so in parts
large() {
    head -c 100000000 /dev/urandom >random
    split -b 10000000 random piece.
    for f in piece.*; do "$u9" append --whole large "$f" --segment-size 72M --sync none 2>append.err; done
    want=$("$u9" cat --format raw large | cksum)
    if there; then
        # Parts that a run left which was killed: seen by what is asked for.
        fault '9 PUT partNumber=2 403'
        tiers large --to s3://bucket/large
        claim 'a part that is refused fails the run, with key and status' \
            says 's3://bucket/large/0000000000000001\.u9: uploading a part: status 403 AccessDenied'
        claim 'and leaves nothing' same "$(stored large)$(cat store/uploads)" ''
        fault '9 PUT partNumber=2 hang'
        "$u9" tier large --to s3://bucket/large >kill.out 2>&1 &
        victim=$!
        until [ -s store/uploads ] || ! kill -0 "$victim" 2>/dev/null; do :; done
        kill -9 "$victim"
        wait "$victim" 2>/dev/null
        rm store/faults
        claim 'a run that is killed leaves its parts' test -s store/uploads
        fault '2 PUT partNumber=3 503' '1 PUT partNumber=4 lose' '1 POST uploads= lose' '1 POST uploadId= lose'
    fi
    tiers large --to s3://bucket/large --verify
    claim 'a large segment is copied in parts' says '^large: copied 1 segment, 8[0-9](\.[0-9])? MB'
    ! there || claim 'it was there already where the answer to the last request was lost' says '1 was there already'
    if there; then
        claim 'each of 16 MiB' test "$(requested '^PUT .*partNumber=[0-9]*&uploadId=.* 200')" -ge 5
        claim 'no parts are left, of that run or of the answer that was lost' same "$(cat store/uploads)" ''
        claim 'and once more where the server was busy' test "$(requested '^PUT .*partNumber=3&.* 503')" -eq 2
    fi
    tiers large --keep 1
    claim 'and dropped here' says 'dropped 1 here'
    claim 'it is read back as it was' same "$("$u9" cat --format raw large | cksum)" "$want"
    rm -rf large random piece.*
}

# [TR-3] [TR-4]
interrupted() {
    make stop
    want=$(digest stop)
    fault '1 PUT 0000000000000003.u9 403'
    tiers stop --to s3://bucket/stop
    claim 'a run that fails says where' says 's3://bucket/stop/0000000000000003\.u9.*uploading: status 403 AccessDenied'
    claim 'and that it can go on' says '2 segments were copied before that: the same command goes on'
    claim 'what was copied is told' same "$("$u9" cat s3://bucket/stop | cksum)" \
        "$(seq "$("$u9" cat s3://bucket/stop | wc -l)" | cksum)"
    rm store/bucket/stop/.tier stop/.tier # as if it had been killed before it said so
    requests
    tiers stop --to s3://bucket/stop
    claim 'what no list names is compared' says 'copied [5-9] segments, .* \(2 were there already\)'
    claim 'and not sent again' same "$(requested '^PUT .*0000000000000001.u9 .* 200')" 0
    rm stop/.tier
    tiers stop --to s3://bucket/stop
    claim 'the list here is made anew from the one there' test "$status" -eq 0 -a -s stop/.tier
    rm store/bucket/stop/.tier
    tiers stop
    claim 'and the one there from the one here' test "$status" -eq 0 -a -s store/bucket/stop/.tier
    echo x >>stop/.tier
    run "$u9" cat stop
    claim 'a list that is damaged is told' says 'its file .tier, .* is damaged'
    tiers stop --to s3://bucket/stop
    claim 'and mended by the next run' same "$(digest stop)" "$want"
    fault '1 PUT 0000000000000002.u9 lose'
    rm store/bucket/stop/0000000000000002.u9
    tiers stop
    claim 'an answer that is lost, of an object that is there then, is no failure' says 'copied 1 segment, .*1 was there already'
    echo other >store/bucket/stop/0000000000000004.u9
    tiers stop
    claim 'something else of the name is told and left' says 's3://bucket/stop/0000000000000004.u9: something else stands there'
    claim 'as it is' same "$(cat store/bucket/stop/0000000000000004.u9)" other
    rm store/bucket/stop/0000000000000004.u9
    make foreign 3000
    tiers foreign --to s3://bucket/stop
    claim 'a place is one log'\''s' says 's3://bucket/stop: what stands there is another log'
    flock stop/.tier.lock sleep 5 &
    sleeper=$!
    until ! flock -n stop/.tier.lock true; do :; done
    tiers stop
    claim 'one run at a time' says 'its segments are being copied to their other place already'
    kill "$sleeper" 2>/dev/null
    wait "$sleeper" 2>/dev/null
}

# A place of many segments, in pages of three names, is not listed for each of them.
listings() {
    make crowd 60000
    all=$(here crowd)
    requests
    tiers crowd --to s3://bucket/crowd
    claim 'a segment costs as many requests where there are many' test "$all" -gt 20 -a "$(requested list-type)" -lt $((all * 6))
    claim 'and all are there' same "$(digest s3://bucket/crowd)" "$(seq "$("$u9" cat s3://bucket/crowd | wc -l)" | cksum)"
}

# Killed at its requests, one after the other; run again it goes on. [TR-3]
killed() {
    local n=0 left=0
    make kill
    want=$(digest kill)
    while [ "$n" -lt 12 ]; do
        n=$((n + 1))
        fault "$n * bucket stop" # no such fault: counted down, and the server goes on
        "$u9" tier kill --to s3://bucket/kill --keep 100K >kill.out 2>&1 &
        victim=$!
        until [ "$(cut -d ' ' -f 1 store/faults)" = 0 ] || ! kill -0 "$victim" 2>/dev/null; do :; done
        kill -9 "$victim" 2>/dev/null
        wait "$victim" 2>/dev/null
        rm -f store/faults
        [ "$(digest kill)" = "$want" ] || left=$((left + 1))
    done
    claim 'killed anywhere the log is whole' same "$left" 0
    tiers kill --to s3://bucket/kill --keep 100K
    claim 'and the last run ends it' test "$status" -eq 0
    claim 'with all that there was' same "$(digest kill)" "$want"
}

# [TR-6]
damaged() {
    make hurt
    want=$(digest hurt)
    "$u9" tier hurt --to s3://bucket/hurt --keep 100K >out 2>err
    mv store/bucket/hurt/0000000000000002.u9 lost
    run "$fsck" hurt
    claim 'a lost object is a lost segment' test "$status" -ge 4
    claim 'told with its key' says 's3://bucket/hurt/0000000000000002\.u9'
    "$u9" cat hurt >out 2>err
    status=$?
    claim 'a reader goes on behind it' test "$status" -eq 3 -a "$(tail -n 1 out)" = 20000 -a "$(head -n 1 out)" = 1
    run "$fsck" s3://bucket/hurt
    claim 'at the place as well' test "$status" -ge 4
    cp lost store/bucket/hurt/0000000000000002.u9
    harm store/bucket/hurt/0000000000000002.u9 3000
    run "$fsck" hurt
    claim 'an altered one is damage in it' says 's3://bucket/hurt/0000000000000002\.u9'
    "$u9" cat hurt >out 2>err
    claim 'which costs what it touched' test "$(wc -l <out)" -gt 15000 -a "$(wc -l <out)" -lt 20000
    head -c 20000 lost >store/bucket/hurt/0000000000000002.u9
    "$u9" cat hurt >out 2>err
    status=$?
    claim 'one that was cut short, too' test "$status" -eq 3 -a "$(tail -n 1 out)" = 20000
    cp lost store/bucket/hurt/0000000000000002.u9
    claim 'put back, all is well' same "$(digest hurt)" "$want"
    make heal
    "$u9" tier heal --to s3://bucket/heal >out 2>err
    head -c 20000 store/bucket/heal/0000000000000002.u9 >shorter && mv shorter store/bucket/heal/0000000000000002.u9
    tiers heal
    claim 'what is here still is copied again' says '^heal: copied 1 segment'
    claim 'and whole there' "$fsck" s3://bucket/heal
}

# [TR-7]
trouble() {
    make busy
    "$u9" tier busy --to s3://bucket/busy --keep 100K >out 2>err
    want=$(seq 20000 | cksum)
    fault '2 GET .u9 503' '1 GET .u9 cut' '1 GET .u9 lose' '1 GET list-type 500'
    claim 'a busy server, a cut and a lost answer are no failure' same "$(digest busy)" "$want"
    fault '9999 GET busy/0000000000000001.u9 503'
    requests
    run "$u9" cat busy
    claim 'a server that stays busy is' test "$status" -ge 4
    claim 'told with status and times' says 's3://bucket/busy/0000000000000001.u9: reading: status 503 SlowDown, 5 times'
    claim 'and no verdict on its bytes' test "$(grep -Ec 'CORRUPT|UNKNOWN|unreadable' err)" = 0
    claim 'it is not asked for each block' test "$(requested busy/0000000000000001.u9)" -lt 40
    rm store/faults
    AWS_SECRET_ACCESS_KEY=wrong run "$u9" cat busy
    claim 'a wrong key is refused' says 's3://bucket/busy.*status 403 SignatureDoesNotMatch'
    claim 'and not told' test "$(cat out err | grep -c wrong)" = 0
    (unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY && run "$u9" cat busy && cat out err >nokeys)
    claim 'without keys it says what is missing' grep -q 'no keys: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set' nokeys
    AWS_ENDPOINT_URL=http://127.0.0.1:1 run "$u9" cat busy
    claim 'nobody there is an error' says 'its oldest segments are at s3://bucket/busy, which cannot be'
    run "$u9" cat s3://nobody/log
    claim 'nor is there a bucket' says 'NoSuchBucket'
    run "$u9" cat s3://bucket/nothing
    claim 'no such log is told' test "$status" -ne 0
}

# refuses PATTERN SENTENCE FAULT [ADDRESS]: what answers so is an error, told so; nothing is read that is less than there is.
refuses() {
    fault "$3"
    run "$u9" cat "${4-s3://bucket/odd}"
    claim "$2: is an error" test "$status" -ge 4
    claim "$2: is told" says "$1"
    rm store/faults
}

# Answers that a service, or who stands in between, may give. [TR-7]
odd_answers() {
    local odd=0
    make odd
    "$u9" tier odd --to s3://bucket/odd >out 2>err
    want=$(digest s3://bucket/odd)
    refuses 'the listing cannot be read' 'a listing that is cut, and does not say so' '9 GET list-type open'
    refuses 'the listing cannot be read' 'a listing that goes on, and not how' '9 GET list-type vague'
    refuses 'the listing cannot be read' 'a listing without an end' '99999 GET list-type endless'
    refuses 'status 301: the bucket is in another region' 'a redirection' '9 GET list-type 301'
    refuses 'status 403 AccessDenied' 'a refusal' '9 GET list-type 403'
    refuses 'listing: status 404' 'nobody who knows buckets' '9 GET list-type 404'
    refuses 'reading: the answer is not what was asked for' 'fewer bytes' '999 GET odd/0000 open'
    refuses 'reading: the answer is not what was asked for' 'more bytes' '999 GET odd/0000000000000003.u9 all'
    refuses 'reading: it is another object than was listed' 'another object' '999 GET odd/0000 other'
    refuses 'reading: Timeout was reached, 5 times' 'no answer' '999 GET odd/0000000000000002.u9 hang' 's3://bucket/odd?timeout=1'
    refuses 'reading: Timeout was reached, 5 times' 'an answer that trickles' '999 GET odd/0000000000000002.u9 trickle' 's3://bucket/odd?timeout=1'
    fault '99 GET odd/0000000000000002.u9 other'
    run "$u9" cat 's3://bucket/odd?cache=otherblocks'
    rm store/faults
    claim 'what came of another object is not kept' same "$(digest 's3://bucket/odd?cache=otherblocks')" "$want"
    printf x >"store/bucket/odd/a&b<c>\"d'"
    printf x >"store/bucket/odd/$(printf 'two\nlines')"
    claim 'other objects may have any name' same "$(digest s3://bucket/odd)" "$want"
    for seed in 1 2 3; do
        head -c $((seed * 1700000)) /dev/urandom >bytes
        mkdir -p store/bucket/bytes && cp bytes "store/bucket/bytes/object$seed"
        for address in s3://bucket/bytes "s3://bucket/bytes?cache=reads&cache_size=1M"; do
            "$bin/u9s3reads" "$address" "object$seed" bytes $seed 2>err || odd=$((odd + 1))
        done
    done
    claim 'reads of any lengths that are asked for together have the bytes that are there' same "$odd" 0
}

# [TR-8]
credentials() {
    mkdir -p .aws
    printf '[other]\naws_access_key_id = XX\n[default]\naws_access_key_id = u9-tester\naws_secret_access_key = u9-tests-secret\nregion = eu-west-1\n' >.aws/credentials
    claim 'keys from the file in the home' same \
        "$(unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION && digest s3://bucket/a/log)" "$(digest s3://bucket/a/log)"
    sed 's/default/mine/' .aws/credentials >keys && rm -r .aws
    claim 'or from the one that is named' same \
        "$(unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY && AWS_PROFILE=mine AWS_SHARED_CREDENTIALS_FILE=keys digest s3://bucket/a/log)" \
        "$(digest s3://bucket/a/log)"
    claim 'no list has keys in it' test "$(grep -c -a -e u9-tests-secret -e u9-tester log/.tier)" = 0
}

# [TR-9]
caches() {
    run "$u9" cat "s3://bucket/a/log?cache=blocks"
    bytes=$(cat blocks/* | wc -c)
    claim 'what is read is kept' test "$bytes" -gt 100000
    if there; then
        requests
        claim 'and read from there' same "$(digest 's3://bucket/a/log?cache=blocks')" "$(digest s3://bucket/a/log)"
        : >store/requests
        digest 's3://bucket/a/log?cache=blocks' >again
        claim 'without a request for it' same "$(requested '\.u9 bytes')" 0
        for f in blocks/*; do printf 'xxxx' | dd of="$f" bs=1 seek=1000 conv=notrunc 2>/dev/null; done
        claim 'a block that is damaged is asked for again' same "$(digest 's3://bucket/a/log?cache=blocks')" "$(cat again)"
        claim 'and again' test "$(requested '\.u9 bytes')" -gt 0
    fi
    head -c 6000000 /dev/urandom >random
    for n in 1 2 3; do "$u9" append --whole wide random --segment-size 8M --sync none 2>append.err; done
    "$u9" tier wide --to s3://bucket/wide --keep 1 >out 2>err
    ! there || requests
    U9_S3_CACHE=small U9_S3_CACHE_SIZE=1M run "$u9" cat --format raw wide
    ! there || claim 'what is read ahead is no more than it keeps: little is asked for twice' test \
        "$(sed -n 's/.*\.u9 bytes=\([0-9]*\)-\([0-9]*\) .*/\1 \2/p' store/requests | awk '{ n += $2 - $1 + 1 } END { print n }')" -lt 14000000
    claim 'a scan of more than the cache holds' same "$(cksum <out)" "$("$u9" cat --format raw wide | cksum)"
    claim 'leaves no more than its bound' test "$(cat small/* | wc -c)" -le 1048576 -a "$(cat small/* | wc -c)" -gt 500000
    run "$u9" cat 's3://bucket/wide?cache_size=1'
    claim 'a bound that is none is refused' says 'none of cache=DIR, cache_size=SIZE'
    run "$u9" cat 's3://bucket?0/wide'
    claim 'options in front of the prefix are told' says "'\?0' in front of a name .*options stand behind the name"
    run "$u9" cat 's3://buck!t/wide'
    claim 'a bucket of another name than buckets have is told' says "a bucket's name has 3 to 63 letters"
}

# [TR-1] [TR-5] A segment that was closed, not sealed, has its index beside it, there too.
indexes() {
    make parted
    "$u9" tier parted --to s3://bucket/parted --keep 1 >out 2>err # which ends the last segment as it is
    seq 5000 | append parted --segment-size 64K --sync none
    want=$(digest parted)
    tiers parted --keep 1
    claim 'each segment of the place has an index, one of them beside it' same \
        "$("$u9" index --dry-run s3://bucket/parted | grep -o 'index [bi][en].*:' | sort | uniq -c | sort -n | head -n 1 | tr -s ' ')" ' 1 index beside it:'
    claim 'none is without' test "$("$u9" index --dry-run s3://bucket/parted | grep -c 'no index')" = 0
    beside=$("$u9" index --dry-run s3://bucket/parted | sed -n 's/.*\/\([0-9a-f]*\).u9: index beside it.*/\1/p')
    claim 'it is not here' test ! -e "parted/$beside.u9" -a ! -e "parted/$beside.u9x"
    claim 'and known here' same "$("$u9" index --dry-run parted | grep -c "$beside.u9: index beside it")" 1
    claim 'what is read is the same' same "$(digest parted)" "$want"
    for at in s3://bucket/parted parted; do
        key=$("$u9" cat --keys --from '#19900' -n 1 $at 2>err | cut -f 1 | cut -d ' ' -f 1)
        ! there || requests
        claim 'a key of it is found' same "$("$u9" get $at "$key" 2>err)" 19901
    done
    ! there || claim 'by its index' test "$(requested "$beside.u9x")" -gt 0
    claim 'no segment is taken for here by its index alone' "$u9" index parted
    claim 'and all is clean' "$fsck" parted
    ! there || cp "store/bucket/parted/0000000000000001.u9" "store/bucket/parted/$beside.u9x" # of another segment
    ! there || claim 'another index is none' same "$("$u9" get s3://bucket/parted "$key" 2>err)" 19901
}

# [TR-9] What comes next is asked for before it is wanted, and what fails of that is nobody's failure.
reads_ahead() {
    local address='s3://bucket/row?timeout=60'
    head -c 30000000 /dev/urandom | base64 -w 100 >lines
    append row lines --segment-size 16M --sync none
    "$u9" tier row --to s3://bucket/row >out 2>err
    want=$("$u9" cat row 2>err | head -n "$("$u9" info --json "$address" | grep -o '"records":"[0-9]*' | grep -o '[0-9]*$')" | cksum)
    requests
    claim 'two objects in a row' same "$(digest "$address")" "$want"
    claim 'each byte is asked for once, but for ends' test \
        "$(sed -n 's/.*\.u9 bytes=\([0-9]*\)-\([0-9]*\) .*/\1 \2/p' store/requests | awk '{ n += $2 - $1 + 1 } END { print n }')" -lt \
        "$(($(cat store/bucket/row/*.u9 | wc -c) + 1000000))"
    fault '1 GET bytes=8388608- hang'
    claim 'who reads does not wait for what is asked for ahead' same \
        "$(timeout 30 "$u9" cat "$address" 2>err | head -c 5000000 | cksum)" "$(head -c 5000000 lines | cksum)"
    for _ in $(seq 100); do # the server may come to it later than the reader to its end
        grep -q '^0 ' store/faults && break
        sleep 0.1
    done
    claim 'and it was asked for' grep -q '^0 ' store/faults
    fault '1 GET bytes=8388608- hang'
    claim 'what never comes is asked for again' same "$(digest 's3://bucket/row?timeout=1')" "$want"
    fault '1 GET bytes=4194304- 503' '1 GET bytes=8388608- cut' '1 GET bytes=6291456- lose' '1 GET bytes=10485760- other'
    claim 'so is what fails in passing' same "$(digest "$address")" "$want"
    fault '999 GET bytes=8388608- 403'
    run "$u9" cat "$address"
    claim 'what fails for good is told when it is wanted' says 'row/0000000000000001.u9: reading: status 403'
    claim 'and all before it was read' test "$status" -ge 4 -a "$(wc -c <out)" -gt 5000000
    claim 'rightly' same "$(cksum <out)" "$(head -c "$(wc -c <out)" lines | cksum)"
    fault '999 GET bytes=8388608- other'
    run "$u9" cat "$address"
    claim 'another object is, too' says 'row/0000000000000001.u9: reading: it is another object than was listed'
    rm store/faults
    claim 'ranges by two threads' same "$(totals "$address" -j 2)" "$(totals "$address" -j 1)"
    rm -r row lines store/bucket/row
}

# [TR-1] a folder is a place, too; no server
folder() {
    make near
    want=$(digest near)
    tiers near --to far
    claim 'a folder is a place' says '^near: copied [5-9] segments'
    tiers near --keep 100K
    claim 'read as one' same "$(digest near)" "$want"
    claim 'and by itself' "$fsck" far
    make itself
    ln -s itself alias
    for place in itself alias "$tmp/./itself"; do
        tiers itself --to "$place" --keep 100K
        claim "a log is no place for itself: $place" says 'the place is the log itself'
    done
    claim 'and all of it stays' same "$(digest itself)" "$(seq 20000 | cksum)"
    make other 60000
    "$u9" trim --before '#40000' other >out 2>err
    want=$(digest other)
    tiers itself --to other
    claim 'nor is another log one' says 'what stands there is another log'
    claim 'which stays as it is' same "$(digest other)" "$want"
    want=$(digest near)
    rm far/0000000000000002.u9
    run "$fsck" near
    claim 'what is lost there is told with its path' says "$tmp/far/0000000000000002.u9"
    run "$u9" snapshot near damaged
    claim 'damage goes into a snapshot as it is' test "$status" -eq 3
}

# [TR-5] [TR-6] a log in the pool of the cluster that the gateway has
pool() {
    local log="rados:u9/log?conf=$gateway/ceph.conf" n
    make "$log"
    totals "$log" -j 1 >one
    tiers "$log" --to near
    claim 'a folder is no place for a log in a pool' says 'a log that does not stand in a folder has no folder for a place'
    tiers "$log" --to s3://bucket/pool/log --keep 100K
    claim 'segments go from a pool to S3' says 'copied [5-9] segments.*; dropped [3-9] here'
    claim 'both are read as one log' same "$(digest "$log")" "$(seq 20000 | cksum)"
    claim 'from the end backwards' same "$("$u9" cat --reverse "$log" | cksum)" "$(seq 20000 -1 1 | cksum)"
    claim 'from a number on' same "$("$u9" cat --from '#100' -n 2 "$log" | tr '\n' ' ')" '101 102 '
    claim 'and clean' "$fsck" "$log"
    claim 'the place alone, too' "$fsck" s3://bucket/pool/log
    key=$("$u9" cat --keys -n 1 "$log" 2>err | cut -f 1 | cut -d ' ' -f 1)
    claim 'a key of a segment that is in S3 alone is found' same "$("$u9" get "$log" "$key" 2>err)" 1
    claim 'scans by two threads read both' same "$(totals "$log" -j 2)" "$(cat one)"
    for n in 1 3; do claim "$n processes with a range each, too" same "$(by_lines "$log" $n)" "$(cat one)"; done
    seq 20001 30000 | append "$log" --segment-size 64K --sync none
    tiers "$log"
    claim 'the log goes on, and what was sealed since follows' says 'copied [1-9][0-9]* segments'
    claim 'all is read' same "$(digest "$log")" "$(seq 30000 | cksum)"
    mkdir bare
    cp -L "$u9" "$bin"/libu9.so.0 "$bin"/libu9-rados.so.0 bare
    bare/u9 cat "$log" >out 2>err
    claim 'without libu9-s3 it is told what is missing' says "s3://bucket/pool/log: no library was added .*libu9-s3"
    ask -X DELETE "$AWS_ENDPOINT_URL/bucket/pool/log/0000000000000002.u9" >claim.out 2>&1
    run "$fsck" "$log"
    claim 'a lost object is a lost segment, told with its key' says 's3://bucket/pool/log/0000000000000002\.u9'
    "$u9" cat "$log" >out 2>err
    status=$?
    claim 'a reader goes on behind it' test "$status" -eq 3 -a "$(tail -n 1 out)" = 30000 -a "$(head -n 1 out)" = 1
}

trap 'stop_server; cd / && rm -rf "$tmp"' EXIT
case $server in
http*) start_given ;;
*) "start_$server" ;;
esac
fills
ranges
large
indexes
credentials
caches
if there; then
    reads_ahead
    folder
    listings
    interrupted
    killed
    damaged
    trouble
    odd_answers
fi
[ -z "${gateway-}" ] || [ ! -e "$bin/libu9-rados.so" ] || pool
tally
