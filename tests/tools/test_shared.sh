#!/usr/bin/env bash
# tests/tools/test_shared.sh BINDIR TMPDIR: the tools need no client of ZooKeeper or Ceph, and say what is missing when
# they are asked for what needs one.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

# The tool where no library of ours is beside it; the system's own are shadowed by files that are no libraries.
alone() {
    mkdir -p alone/bin alone/shadow
    cp "$u9" "$fsck" alone/bin
    : >alone/shadow/libu9-zk.so.0
    : >alone/shadow/libu9-rados.so.0
}

needs_none() { # TOOL
    ! readelf -d "$1" | grep -Eq 'NEEDED.*(zookeeper|rados|ceph)'
}

alone
for tool in "$u9" "$fsck"; do
    claim "${tool##*/} is linked with no client of ZooKeeper or Ceph" needs_none "$tool"
done
export LD_LIBRARY_PATH=$tmp/alone/shadow${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

claim 'a tool without these libraries appends' \
    sh -c 'printf "alpha\nbeta\n" | alone/bin/u9 append log'
claim 'and checks' alone/bin/u9fsck log
run alone/bin/u9 id new uid8 --zookeeper 127.0.0.1:1/nobody --wait 2
claim 'numbers from ZooKeeper are refused where libu9-zk is missing' test "$status" -eq 1
claim 'in one line' test "$(wc -l <err)" -eq 1
claim 'that names the library, the reason and the package' \
    grep -Eq '127.0.0.1:1/nobody: .* need libu9-zk, .*libu9-zk.so.0: .*\(Debian: libu9-zk0\)$' err
claim 'and nothing is printed' test ! -s out
run alone/bin/u9 info rados:pool/log
claim 'a log in Ceph is refused where libu9-rados is missing' test "$status" -ne 0
claim 'in words that name library and package' \
    grep -Eq 'rados:pool/log: .* need libu9-rados, .*libu9-rados.so.0: .*\(Debian: libu9-rados0\)$' err
run alone/bin/u9fsck rados:pool/log
claim 'u9fsck says the same' grep -q 'Debian: libu9-rados0' err

# Beside the tool the first look is taken; what is there and is another library is named, with what it lacks.
cp "$bin/libu9.so.0" alone/bin/libu9-zk.so.0
run alone/bin/u9 id new uid8 --zookeeper 127.0.0.1:1/nobody --wait 2
claim 'a library that lacks a function is named, and the function' \
    grep -q 'alone/bin/libu9-zk.so.0: undefined symbol: u9_zk_open' err
claim 'and that is an error' test "$status" -eq 1
rm alone/bin/libu9-zk.so.0

# As it is installed: bin/u9 and lib/, found from anywhere.
if [ -e "$bin/libu9-zk.so.0" ]; then
    mkdir -p alone/lib
    cp "$bin/libu9-zk.so.0" "$bin/libu9.so.0" alone/lib
    run alone/bin/u9 id new uid8 --zookeeper 127.0.0.1:1/nobody --wait 1
    claim 'libu9-zk in ../lib is found, and libu9 beside it' grep -q 'no connection within 1000 ms' err
else
    skip 'libu9-zk was not built'
fi
tally
