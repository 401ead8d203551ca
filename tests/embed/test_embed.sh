#!/bin/sh
# tests/embed/test_embed.sh BUILDDIR TMPDIR: the examples of README.md and docs/embed.md build and run as they stand.
#
# An example is the block ```c whose first line begins with the comment "example: embed". It is compiled
# against include/ and BUILDDIR/libu9.a with warnings as errors, as C11, and run in an empty
# directory: it must exit 0 and print something. The same is done, as C++17, with the
# block ```cpp that begins with "example: cpp"; and with that in C of docs/embed.md, which must print as many lines then.
#
# U9_README is the first file (README.md), CC and CXX are the compilers, SANITIZE the flags that libu9.a was
# built with.
set -eu
export LC_ALL=C

if [ $# -ne 2 ]; then
    echo 'usage: tests/embed/test_embed.sh BUILDDIR TMPDIR' >&2
    exit 2
fi
build=$(cd "$1" && pwd)
mkdir -p "$2"
root=$(cd "$(dirname "$0")/../.." && pwd)
readme=${U9_README:-$root/README.md}
embed=$root/docs/embed.md
tmp=$(mktemp -d "$(cd "$2" && pwd)/embed.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

fail() {
    echo "test_embed: $*" >&2
    exit 1
}

for page in "$readme" "$embed"; do [ -f "$page" ] || fail "there is no $page"; done
[ -f "$build/libu9.a" ] || fail "there is no $build/libu9.a"

# example PAGE LANGUAGE COMMENT FILE: the first block in it whose first line begins with the comment; none if its fence is
# not closed.
example() {
    awk -v fence="\`\`\`$2" -v comment="$3" '
/^```/ && inside { if (wanted) { closed = 1; exit } inside = 0; next }
/^```/ { inside = 1; first = ($0 == fence); next }
first { wanted = index($0, comment) == 1; first = 0 }
inside && wanted { print }
END { if (!closed) exit 1 }
' "$1" >"$4" || fail "$1 has no block that begins with $3"
}
example "$readme" c '/* example: embed' "$tmp/short.c"
example "$readme" cpp '// example: cpp' "$tmp/short.cc"
example "$embed" c '/* example: embed' "$tmp/example.c"
example "$embed" cpp '// example: cpp' "$tmp/example.cc"

libs=$(${PKG_CONFIG:-pkg-config} --libs liburing libcrypto liblz4)

# build_and_run NAME FILE COMPILER FLAGS...
build_and_run() {
    name=$1
    file=$2
    shift 2
    # shellcheck disable=SC2086 # lists of words
    "$@" -Wall -Wextra -Werror ${SANITIZE-} -I"$root/include" -o "$tmp/$name" "$tmp/$file" \
        -x none "$build/libu9.a" $libs -pthread || fail "the example does not compile as $name"
    mkdir "$tmp/$name.d"
    status=0
    (cd "$tmp/$name.d" && "$tmp/$name" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null) || status=$?
    [ "$status" -eq 0 ] || fail "the example as $name exits $status: $(cat "$tmp/$name.err")"
    [ -s "$tmp/$name.out" ] || fail "the example as $name prints nothing"
    [ ! -s "$tmp/$name.err" ] || fail "the example as $name complains: $(cat "$tmp/$name.err")"
}

build_and_run README.c short.c "${CC:-cc}" -std=c11 -x c
build_and_run README.cpp short.cc "${CXX:-g++}" -std=c++17 -x c++
build_and_run C11 example.c "${CC:-cc}" -std=c11 -x c
build_and_run C++17 example.c "${CXX:-g++}" -std=c++17 -x c++
build_and_run u9.hpp example.cc "${CXX:-g++}" -std=c++17 -x c++
[ "$(wc -l <"$tmp/C11.out")" -eq "$(wc -l <"$tmp/C++17.out")" ] ||
    fail 'the example prints more or fewer lines as C++17 than as C11'
grep -q '^GET 304$' "$tmp/u9.hpp.out" || fail 'the example of u9.hpp does not print the newest record'
echo "test_embed: ok ($(cat "$tmp"/example.c* | wc -l) lines, $(cat "$tmp/C11.out" "$tmp/u9.hpp.out" | wc -l) printed)"
