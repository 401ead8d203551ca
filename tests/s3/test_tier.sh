#!/usr/bin/env bash
# tests/s3/test_tier.sh BINDIR TMPDIR: sealed segments in S3: u9 tier, and reading a log from here and there, and from there
# alone. On a server of its own (server.py, which checks signatures and does what is asked for wrong), or with
# U9_S3_SERVER=radosgw on a Ceph object gateway: then without what only the first can do.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/../tools/claims.sh"
tree=$OLDPWD
server=${U9_S3_SERVER-python}
export AWS_ACCESS_KEY_ID=AK AWS_SECRET_ACCESS_KEY=SK AWS_REGION=us-east-1 HOME=$tmp no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
unset AWS_SESSION_TOKEN AWS_PROFILE AWS_ENDPOINT_URL_S3 AWS_SHARED_CREDENTIALS_FILE U9_S3_CACHE U9_S3_CACHE_SIZE

# The server

start_python() {
    mkdir -p store/bucket
    python3 "$tree/tests/s3/server.py" store port & # store is the server's, nothing of a tested tool's
    server_pid=$!
    trap 'kill "$server_pid" 2>/dev/null; cd / && rm -rf "$tmp"' EXIT
    for _ in $(seq 200); do
        [ ! -s port ] || break
        sleep 0.05
    done
    AWS_ENDPOINT_URL=http://127.0.0.1:$(cat port)
    export AWS_ENDPOINT_URL
}

start_radosgw() {
    local n port
    for n in 1 2; do
        port=$((20000 + RANDOM % 10000))
        trap '"$tree/scripts/s3" stop "$tmp/gateway"; cd / && rm -rf "$tmp"' EXIT
        "$tree/scripts/s3" start gateway "$port" 2>gateway.err && break
        [ $? -eq 3 ] && [ "$n" -lt 2 ] && rm -rf gateway && continue
        echo "s3: SKIPPED on a radosgw: $(tail -n 1 gateway.err)"
        exit 0
    done
    export AWS_ENDPOINT_URL=http://127.0.0.1:$((port + 1))
    make_bucket
}

# Another server that has the keys AK and SK: U9_S3_SERVER=http://...
start_given() {
    export AWS_ENDPOINT_URL=$server
    make_bucket
}

make_bucket() {
    ask -X PUT "$AWS_ENDPOINT_URL/bucket" >bucket.out 2>&1 || { echo "not ok - the gateway makes no bucket"; cat bucket.out; exit 1; }
}

# A request of the tests' own, which needs curl.
ask() {
    curl -sS --fail --aws-sigv4 aws:amz:us-east-1:s3 -u AK:SK \
        -H "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" "$@"
}

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
    claim 'a plan for the place alone is one for any machine' same \
        "$("$u9" scan --json -j 2 s3://bucket/a/log | grep -o '"records":"[0-9]*"')" "\"records\":\"$records\""
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
    cp -r log copy
    claim 'a copy of what is here reads the same place' same "$(digest copy)" "$(seq 30000 | cksum)"
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
        claim 'and leaves nothing' same "$(stored large)" ''
        fault '2 PUT partNumber=3 503' '1 PUT partNumber=4 lose'
    fi
    tiers large --to s3://bucket/large --verify
    claim 'a large segment is copied in parts' says '^large: copied 1 segment, 8[0-9](\.[0-9])? MB'
    if there; then
        claim 'each of 16 MiB' test "$(requested '^PUT .*partNumber=[0-9]*&uploadId=.* 200')" -ge 5
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
    fault '99 GET 0000000000000001.u9 503'
    run "$u9" cat busy
    claim 'a server that stays busy is' test "$status" -ge 3
    claim 'told with status and times' says 'status 503 SlowDown, 5 times|unreadable'
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

# [TR-8]
credentials() {
    mkdir -p .aws
    printf '[other]\naws_access_key_id = XX\n[default]\naws_access_key_id = AK\naws_secret_access_key = SK\nregion = eu-west-1\n' >.aws/credentials
    claim 'keys from the file in the home' same \
        "$(unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION && digest s3://bucket/a/log)" "$(digest s3://bucket/a/log)"
    sed 's/default/mine/' .aws/credentials >keys && rm -r .aws
    claim 'or from the one that is named' same \
        "$(unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY && AWS_PROFILE=mine AWS_SHARED_CREDENTIALS_FILE=keys digest s3://bucket/a/log)" \
        "$(digest s3://bucket/a/log)"
    claim 'no list has keys in it' test "$(grep -c -a -e SK -e AK log/.tier)" = 0
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
    U9_S3_CACHE=small U9_S3_CACHE_SIZE=1M run "$u9" cat --format raw wide
    claim 'a scan of more than the cache holds' same "$(cksum <out)" "$("$u9" cat --format raw wide | cksum)"
    claim 'leaves no more than its bound' test "$(cat small/* | wc -c)" -le 1048576 -a "$(cat small/* | wc -c)" -gt 500000
    run "$u9" cat 's3://bucket/wide?cache_size=1'
    claim 'a bound that is none is refused' says 'none of cache=DIR, cache_size=SIZE'
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
    rm far/0000000000000002.u9
    run "$fsck" near
    claim 'what is lost there is told with its path' says "$tmp/far/0000000000000002.u9"
    run "$u9" snapshot near snap
    claim 'damage goes into a snapshot as it is' test "$status" -eq 3
}

case $server in
http*) start_given ;;
*) "start_$server" ;;
esac
fills
large
credentials
caches
if there; then
    folder
    interrupted
    killed
    damaged
    trouble
fi
tally
