# shellcheck shell=bash disable=SC2034 # the tests use what is set here
# tests/tools/claims.sh: what the tests of the tools share. Sourced, with their arguments: BINDIR, where u9
# and u9fsck are, and TMPDIR, where each test has an empty folder of its own, which goes with it.
#
# A test prints `ok N - sentence` or `not ok N - sentence` for each claim, `skip - why` for what cannot be
# tried here, and ends with `tally`: "N passed, N failed"; the exit status is 1 if any failed.
set -u
export LC_ALL=C.UTF-8 TZ=UTC U9_PAGER=cat # terminals that tests make have nobody who turns pages

if [ $# -ne 2 ]; then
    echo "usage: $0 BINDIR TMPDIR" >&2
    exit 2
fi
bin=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && tmp=$(cd "$2" && mktemp -d "$PWD/claims.XXXXXX") || exit 2
cd "$tmp" || exit 2
u9=$bin/u9
fsck=$bin/u9fsck
passed=0 failed=0 number=0
trap 'cd / && rm -rf "$tmp"' EXIT

result() { # STATUS SENTENCE
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok $number - $2"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $number - $2"
    echo "#   status ${status-}"
    for file in out err claim.out claim.err; do
        [ ! -s $file ] || echo "#   $file: $(head -c 400 $file)"
    done
}
skip() { echo "skip - SKIPPED: $1"; }
tally() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# claim SENTENCE COMMAND...: the command succeeds.
claim() {
    local sentence=$1
    shift
    "$@" >claim.out 2>claim.err
    result $? "$sentence"
}

# run COMMAND...: fills out, err and status.
run() {
    "$@" >out 2>err
    status=$?
}

# What FILE says, but for how long ago each time in it was.
without_ages() { sed -E 's/ \([0-9]+ (s|min|h|d) ago\)//g' "$1"; }

# For claims: the words are the same; the command exits with STATUS and its words have PATTERN in them.
# Overwrites four bytes of the N-th place (1) in FILE where PATTERN stands: of a record, never what is between frames.
harm() { # FILE PATTERN [N]
    local at
    at=$(LC_ALL=C grep -abo "$2" "$1" | sed -n "${3:-1}{s/:.*//p;q}")
    printf 'XXXX' | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}
same() { [ "$1" = "$2" ] || { echo "is '$1', not '$2'"; false; }; }
refused() { # STATUS PATTERN COMMAND...
    local want=$1 pattern=$2 got=0
    shift 2
    "$@" >refused 2>&1 || got=$?
    if [ "$got" = "$want" ] && grep -q -- "$pattern" refused; then return 0; fi
    echo "status $got"
    cat refused
    return 1
}
