#!/bin/sh
# tests/embed/test_install.sh BUILDDIR TMPDIR: `make install` honours DESTDIR and each folder that it is told; programs
# compile, link and run with what pkg-config says of them; `make uninstall` leaves nothing.
set -eu
export LC_ALL=C
unset PREFIX BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR DESTDIR

if [ $# -ne 2 ]; then
    echo 'usage: tests/embed/test_install.sh BUILDDIR TMPDIR' >&2
    exit 2
fi
cd "$(dirname "$0")/../.."
mkdir -p "$2"
tmp=$(mktemp -d "$(cd "$2" && pwd)/install.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
root=$tmp/root

fail() {
    echo "test_install: $*" >&2
    exit 1
}

cat >"$tmp/program.c" <<'TEXT'
#include <u9.h>
#include <stdio.h>
#include <string.h>

#if U9_VERSION_NUMBER != U9_VERSION_MAJOR * 1000000 + U9_VERSION_MINOR * 1000 + U9_VERSION_PATCH
#error "numbers that do not fit"
#endif

int main(void)
{
    u9_muid muid = {123, 456, 1};
    char text[U9_MUID_TEXT_SIZE + 1];
    if (u9_muid_format(&muid, text) != U9_OK || strcmp(u9_version(), U9_VERSION_TEXT) != 0) return 1;
    printf("%s %s\n", u9_version(), text);
    return 0;
}
TEXT

# try_it VARIABLES BINDIR LIBDIR INCLUDEDIR DATADIR DOCDIR: installs there, tries what is there, uninstalls.
try_it() {
    variables=$1 bin=$root$2 lib=$root$3 include=$root$4 data=$root$5 doc=$root$6
    # shellcheck disable=SC2086 # words
    make -s BUILD="$build" DESTDIR="$root" $variables install >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; fail "$variables: cannot be installed"; }
    for f in "$bin/u9" "$bin/u9fsck" "$lib/libu9.a" "$lib/libu9.so.0" "$lib/pkgconfig/u9.pc" "$include/u9.h" \
        "$include/u9.hpp" "$include/u9/log.h" "$data/bash-completion/completions/u9" "$doc/SPEC.md"; do
        [ -e "$f" ] || fail "$variables: there is no ${f#"$root"}"
    done
    # Nothing outside of what was named: each file stands below one of these.
    find "$root" ! -type d | grep -vF -e "$bin/" -e "$lib/" -e "$include/" -e "$doc/" -e /man/ -e "$data/" >"$tmp/else" &&
        fail "$variables: installed elsewhere: $(cat "$tmp/else")"
    export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
    version=$(pkg-config --modversion u9)
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-cc} -std=c11 -Wall -Werror $(pkg-config --cflags u9) -o "$tmp/program" "$tmp/program.c" $(pkg-config --libs u9) ||
        fail "$variables: a program does not link with what pkg-config says"
    said=$(LD_LIBRARY_PATH=$lib "$tmp/program")
    [ "$said" = "$version 000000000007B-000000001C8-00000001" ] || fail "$variables: the program said: $said"
    case $(LD_LIBRARY_PATH=$lib "$bin/u9" --version) in
    *" $version") ;;
    *) fail "$variables: u9 --version is not $version" ;;
    esac
    for beside in zk rados; do
        [ -e "$lib/libu9-$beside.so" ] || continue
        pkg-config --libs "u9-$beside" | grep -q -e "-lu9-$beside" || fail "$variables: u9-$beside.pc does not name its library"
    done
    # shellcheck disable=SC2086 # words
    make -s BUILD="$build" DESTDIR="$root" $variables uninstall >"$tmp/log" 2>&1
    left=$(find "$root" ! -type d)
    [ -z "$left" ] || fail "$variables: uninstall left: $left"
    rm -rf "$root"
}

build=$1
try_it 'PREFIX=/usr/local' /usr/local/bin /usr/local/lib /usr/local/include /usr/local/share /usr/local/share/doc/u9
try_it 'PREFIX=/usr LIBDIR=/usr/lib/x86_64-odd-gnu DOCDIR=/usr/share/doc/libu9-dev' \
    /usr/bin /usr/lib/x86_64-odd-gnu /usr/include /usr/share /usr/share/doc/libu9-dev
try_it 'PREFIX=/opt/u9 BINDIR=/opt/tools LIBDIR=/srv/lib64 INCLUDEDIR=/srv/headers DATADIR=/srv/data MANDIR=/srv/man DOCDIR=/srv/texts' \
    /opt/tools /srv/lib64 /srv/headers /srv/data /srv/texts
echo 'test_install: ok (3 places)'
