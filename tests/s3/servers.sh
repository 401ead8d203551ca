# shellcheck shell=bash
# `tree`, `tmp` and `server` are those of who sources it. shellcheck disable=SC2154
# tests/s3/servers.sh: S3 for tests, with the bucket `bucket` and the keys u9-tester and u9-tests-secret, which are in the
# environment, as the endpoint is once there is a server. Sourced; claims.sh and `tree`, the root of the tree, are there when one is started.
export AWS_ACCESS_KEY_ID=u9-tester AWS_SECRET_ACCESS_KEY=u9-tests-secret AWS_REGION=us-east-1
unset AWS_SESSION_TOKEN AWS_PROFILE AWS_ENDPOINT_URL_S3 AWS_SHARED_CREDENTIALS_FILE U9_S3_CACHE U9_S3_CACHE_SIZE

endpoint() { # URL
    local host=${1#*://}
    export AWS_ENDPOINT_URL=$1 no_proxy=${host%:*} NO_PROXY=${host%:*}
}

# The tests' own, in `store`: start_python [ADDRESS [COMMAND...]], on loopback, or there, by a command that is put in front.
start_python() {
    local address=${1-127.0.0.1}
    [ $# -eq 0 ] || shift
    mkdir -p store/bucket
    "$@" python3 "$tree/tests/s3/server.py" store port "$address" & # store is the server's, nothing of a tested tool's
    server_pid=$!
    for _ in $(seq 200); do
        [ ! -s port ] || break
        sleep 0.05
    done
    endpoint "http://$address:$(cat port)"
}

# Ceph's object gateway. Where it cannot be had, the test ends.
start_radosgw() {
    local n port
    for n in 1 2; do
        port=$((20000 + RANDOM % 10000))
        gateway=$tmp/gateway
        "$tree/scripts/s3" start gateway "$port" 2>gateway.err && break
        [ $? -eq 3 ] && [ "$n" -lt 2 ] && rm -rf gateway && continue
        echo "s3: SKIPPED on a radosgw: $(tail -n 1 gateway.err)"
        exit 0
    done
    endpoint "http://127.0.0.1:$((port + 1))"
    make_bucket
}

# Another server that has these keys: U9_S3_SERVER=http://...
start_given() {
    endpoint "$server"
    make_bucket
}

stop_server() {
    [ -z "${server_pid-}" ] || kill "$server_pid" 2>/dev/null
    [ -z "${gateway-}" ] || "$tree/scripts/s3" stop "$gateway"
}

make_bucket() {
    ask -X PUT "$AWS_ENDPOINT_URL/bucket" >bucket.out 2>&1 || { echo "not ok - the gateway makes no bucket"; cat bucket.out; exit 1; }
}

# A request of the tests' own, which needs curl.
ask() {
    curl -sS --fail --aws-sigv4 aws:amz:us-east-1:s3 -u u9-tester:u9-tests-secret \
        -H "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" "$@"
}
