#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# tests/tools/test_manual.sh BINDIR TMPDIR: the manual is what the tools, the headers and the examples say, names all that
# is there, has no fault that mandoc knows of, and gives HTML.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/claims.sh"
man=$root/man

# Asked once more if need be: where a disk or processor is slow just then, an example's log may have other frames.
is_fresh() { "$root/scripts/manual" check "$bin" >first 2>&1 || "$root/scripts/manual" check "$bin" || { cat first; false; }; }

# What BINDIR's programs, headers and runs of the examples give is what stands in the pages.
fresh() {
    claim 'options, faces and what examples print are those of the pages (else: make manual)' is_fresh
    mkdir -p copy/scripts copy/tools
    cp -r "$root/man" "$root/include" copy
    cp -r "$root/tools/completion" copy/tools
    cp "$root/scripts/manual" copy/scripts
    cp /bin/true copy/scripts/completion # that of the tree was compared
    # Three pages are enough to be made again.
    find copy/man -name '*.[1-8]' ! -name 'u9-info.1' ! -name 'u9-get.1' ! -name libu9_log.3 -delete
    find copy/include/u9 -type f ! -name log.h -delete
    sed -i 's/^\.It Fl j , Fl Fl json$/.It Fl j , Fl Fl yson/' copy/man/u9-info.1
    sed -i -e '/^\.It Fl Fl reverse$/d' -e 's/^b	2$/b	3/' copy/man/u9-get.1
    sed -i 's/uint64_t ordinal/uint32_t ordinal/' copy/man/libu9_log.3
    run copy/scripts/manual check "$bin"
    for page in u9-info.1 u9-get.1 libu9_log.3; do
        claim "$page is not what it should be" grep -q "^--- man/$page" out
    done
    claim 'an option that is not there is found' grep -q '^-.It Fl j , Fl Fl yson' out
    claim 'one that was forgotten, too' grep -q '^+.It Fl Fl reverse' out
    claim 'an example that prints something else is found' grep -q '^-b	3' out
    claim 'a declaration that is another is found' grep -q '^-.*uint32_t ordinal' out
    claim 'that is status 1' same "$status" 1
    run copy/scripts/manual write "$bin"
    for page in u9-info.1 u9-get.1 libu9_log.3; do
        claim "and $page is put right again" diff "copy/man/$page" "$man/$page"
    done
}

pages() {
    for verb in $("$u9" --help | sed -n 's/^  \([a-z]*\)  *[a-zA-Z].*  .*/\1/p' | grep -vx u9); do
        claim "u9 $verb has a page" test -f "$man/u9-$verb.1"
    done
    for page in u9.1 u9bench.1 u9fsck.8 libu9.3 u9-log.5 u9-recovery.7; do claim "there is $page" test -f "$man/$page"; done
    for header in "$root"/include/u9/*.h; do
        name=$(basename "$header" .h)
        sed -n 's/^[^#*]*_API .*[ *]\(u9_[a-z0-9_]*\)(.*/\1/p' "$header" | sort -u >declared
        sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \(u9_[a-z0-9_]*\).*/\1/p' "$man/libu9_$name.3" | sort -u >named
        claim "libu9_$name(3) names the $(wc -l <declared) functions of u9/$name.h, and no others" cmp declared named
    done
    if [ -f "$bin/libu9.a" ]; then
        nm -g --defined-only "$bin/libu9.a" 2>/dev/null | sed -n 's/.* [TD] \(u9_[a-z0-9_]*\)$/\1/p' | sort -u >exported
        sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \(u9_[a-z0-9_]*\).*/\1/p' "$man"/libu9_*.3 | sort -u >named
        claim 'what libu9.a exports is named by some page' same "$(comm -23 exported named)" ''
        claim 'and it exports something' test -s exported
    fi
    sed -n 's/^\.\(It \)\?\(Pq \)\?Xr \([^ ]*\) \([0-9]\).*/\3.\4/p' "$man"/*.[1-8] >refs
    sort -u refs | while read -r page; do [ -f "$man/$page" ] || echo "$page"; done >lost
    claim 'each page that is referred to is there' same "$(cat lost)" ''
}

# Each example of C in libu9(3) compiles, and runs.
examples() {
    sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$man/libu9.3" | sed -e '/^\./d' -e 's/\\e/\\/g' -e 's/\\-/-/g' >example.c
    # shellcheck disable=SC2046 # words
    run "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$root/include" -o example example.c "$bin/libu9.a" \
        $("${PKG_CONFIG:-pkg-config}" --libs liburing libcrypto liblz4) -pthread
    claim 'the example of libu9(3) compiles' same "$status" 0
    run ./example
    claim 'and runs' same "$status $(cat out)" '0 record 0 is durable'
}

# mandoc looks for pages that are referred to among those that are installed, so not for these.
lint() {
    if ! command -v mandoc >/dev/null; then
        skip 'mandoc is not installed: the pages are not looked through for faults'
        return
    fi
    mandoc -Tlint "$man"/*.[1-8] 2>/dev/null | grep -v 'referenced manual not found' >faults
    claim 'mandoc finds no fault' same "$(cat faults)" ''
    run "$root/scripts/docs" html
    claim 'there is HTML of each page' same "$status $(find html -name '*.[1-8].html' | wc -l)" "0 $(find "$man" -name '*.[1-8]' | wc -l)"
    grep -oh 'href="[^"#]*"' html/*.html | sort -u | sed 's/href="\(.*\)"/\1/' | while read -r at; do [ -f "html/$at" ] || echo "$at"; done >lost
    claim 'no link of it leads nowhere' same "$(cat lost)" ''
    claim 'the index leads to each page' same "$(grep -c '<dt><a href=' html/index.html)" "$(find "$man" -name '*.[1-8]' | wc -l)"
}

installed() {
    make -s -C "$root" install-manual DESTDIR="$PWD/root" PREFIX=/usr >out 2>err
    for page in man1/u9.1 man3/libu9.3 man5/u9-log.5 man7/u9-recovery.7 man8/u9fsck.8; do
        claim "make install has $page" test -f "root/usr/share/man/$page"
    done
    for at in bash-completion/completions/u9 zsh/site-functions/_u9 fish/vendor_completions.d/u9.fish; do
        claim "and completions: $at" test -f "root/usr/share/$at"
    done
    claim 'a function leads to its page' cmp root/usr/share/man/man3/u9_log_append.3 "$man/libu9_log.3"
    make -s -C "$root" uninstall DESTDIR="$PWD/root" PREFIX=/usr >out 2>err
    claim 'make uninstall leaves nothing of it' same "$(find root ! -type d)" ''
}

for group in fresh pages examples lint installed; do
    $group
done
tally
