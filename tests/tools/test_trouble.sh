#!/usr/bin/env bash
# tests/tools/test_trouble.sh BINDIR TMPDIR: what the tools do when it is not the log that is in trouble: no
# memory, no room for what they print, no such place, a disk that does not give some bytes.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

verbs='append cat get info send recv id value'

# tells STATUS TOOL WORD...: that status, one line on stderr.
tells() {
    local want=$1
    shift
    run "$@"
    [ "$status" -eq "$want" ] && [ "$(wc -l <err)" -eq 1 ]
}
full() { "$@" >/dev/full; }
closed() { "$@" >&-; }

helps() {
    for verb in $verbs ''; do
        for option in --help --version; do
            # shellcheck disable=SC2086 # no verb is no word
            claim "u9 $verb $option needs room for what it prints" tells 4 full "$u9" $verb $option
        done
        # shellcheck disable=SC2086
        claim "u9 $verb --help, closed standard output" tells 4 closed "$u9" $verb --help
        # shellcheck disable=SC2086
        "$u9" $verb --help >out
        claim "u9 $verb --help has no blanks at the end of a line" eval '! grep -q " $" out'
    done
    claim 'u9 append --usage needs room, too' tells 4 full "$u9" append --usage
    claim 'u9fsck --help needs room for what it prints' tells 8 full "$fsck" --help
    claim 'u9fsck --version needs room for what it prints' tells 8 full "$fsck" --version
    "$fsck" --help >out
    claim 'u9fsck --help has no blanks at the end of a line' eval '! grep -q " $" out'
    "$u9" append --help 2>err | true
    claim 'a reader of the help that goes away is no message' test ! -s err
}

places() {
    run "$fsck" --salvage=/nonexist/x log
    claim 'salvage to no place: the place is named' grep -q '^u9fsck: /nonexist/x.*No such file' err
    claim 'and no copy without a file is advised' eval '! grep -q "a copy without" err'
    claim 'as an operational error' same "$status" 8
    run "$u9" cat nowhere
    claim 'nor where there is no log' eval 'grep -q "^u9 cat: nowhere: .*No such file" err && ! grep -q "a copy without" err'
    run bash -c 'ulimit -n 5; exec "$0" cat "$1"' "$u9" log
    claim 'nor where descriptors are short' eval '! grep -q "a copy without" err'
}

# A mistake is named with what would be right, on one line.
words() {
    local row
    while IFS='|' read -r want words pattern; do
        eval "run \"$u9\" $words" </dev/null
        row=$([ "$status" -eq "$want" ] && [ "$(wc -l <err)" -eq 1 ] && grep -F -- "$pattern" err)
        claim "u9 $words: $pattern" test -n "$row"
    done <<'END'
1|append log ''|: '': No such file
1|recv ''|: the path is empty
1|cat ''|: the path is empty
1|get log ''|: '': not a key of kind muid
1|value encode ''|: '': No such file
2|append --segment-size '' new in|--segment-size '': not a size of at least 64K and below 4T
2|append --segment-size 4TiB new in|--segment-size 4TiB: not a size of at least 64K and below 4T
2|append --segment-size 64iB new in|--segment-size 64iB: not a size of at least 64K and below 4T
2|append --segment-size KiB new in|--segment-size KiB: not a size of at least 64K and below 4T
2|append --segment-size 4T new in|--segment-size 4T: not a size of at least 64K and below 4T
2|append --segment-size 99999999999T new in|not a size of at least 64K and below 4T
2|append --generator 2048 --key uid8 new in|not a number from 0 to 2047
2|cat --limit '' log|--limit '': not a number
2|cat --range '' log|--range '': not a range of bytes
2|cat --since '' log|--since '': not a time like
1|cat --from '' log|--from '': neither #ORDINAL nor a key
1|tail -f ''|: the path is empty
1|cat -f ''|: the path is empty
2|send --from '' log|--from '': not an ordinal
2|id new muid -n x|-n x: not a number from 0 to 1
2|id new muid -n -1|-n -1: not a number from 0 to 1
2|id new muid -n 99999999999999999999|not a number from 0 to 1
2|id new uid8 --generator '' --cluster 1|--generator '': not a number, or two with a comma between
END
}

# {F43} {F73} One allocation fails, the first, the second ...: the tool does all it is asked to, or says that memory is short.

build_preload() {
    cat >failing.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static long count, at = -1, from;
static int fails(void)
{
    if (at < 0) from = getenv("FAIL_FROM") ? atol(getenv("FAIL_FROM")) : 0;
    if (at < 0) at = getenv("FAIL_AT") ? atol(getenv("FAIL_AT")) : 0;
    long now = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (now != at && (from == 0 || now < from)) return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
__attribute__((destructor)) static void tell(void)
{
    char text[32];
    int fd = open("count", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int size = snprintf(text, sizeof text, "%ld\n", count);
    if (fd >= 0 && write(fd, text, (size_t)size) == size) close(fd);
}
END
    cc -shared -fPIC -o failing.so failing.c 2>/dev/null && LD_PRELOAD=./failing.so true 2>/dev/null
}

# From one allocation on all fail: that is said once, however many threads come to it. The first lines of two threads may be torn.
all_short() {
    local at all
    "$u9" append many --segment-size 64K --sync none <(seq 40000)
    for words in 'scan -j 4 --count-by 1 many' 'scan -j 4 many' 'grep -j 4 77 many' 'du many' 'export avro many'; do
        # shellcheck disable=SC2086
        LD_PRELOAD=./failing.so FAIL_AT=0 "$u9" $words >/dev/null 2>&1
        all=$(cat count)
        for at in $((all / 4)) $((all / 2)) $((all * 3 / 4)); do
            # shellcheck disable=SC2086
            LD_PRELOAD=./failing.so FAIL_FROM=$at run "$u9" $words
            claim "u9 $words: memory is short for all threads from allocation $at of $all on, which is told once" \
                test "$(grep -ci memory err)" -le 1 -a "$(wc -l <err)" -le 1 -a "$status" -le 4
        done
    done
}

# short_of_memory STATUS WORD...: it ends as it does with memory, or with STATUS and a line about memory. (The first
# ten and every fifth behind them, or all: tests/thorough.h.)
short_of_memory() {
    local trouble=$1 all at good got words
    shift
    rm -rf new.log*
    LD_PRELOAD=./failing.so FAIL_AT=0 "$@" <sent >good 2>/dev/null
    good=$?
    all=$(cat count)
    for ((at = 1; at <= all; at += at < 10 || ${U9_LONG:-0} ? 1 : 5)); do
        ! compgen -G 'new.log*' >/dev/null || rm -rf new.log*
        LD_PRELOAD=./failing.so FAIL_AT=$at "$@" <sent >got 2>said
        got=$?
        IFS= read -rd '' words <said
        if [ $got -eq "$trouble" ] && [[ $words = *memory* ]]; then continue; fi
        if [ $got -eq $good ] && cmp -s <(without_ages good) <(without_ages got); then continue; fi
        echo "allocation $at of $all: status $got"
        cat said
        return 1
    done
    [ "$all" -gt 1 ]
}

memory() {
    if grep -q '__[at]san_init\|__gcov_exit' "$u9" || ! build_preload; then
        skip 'allocations that fail: not with sanitizers or counters, which need their own, not without a compiler and glibc'
        return
    fi
    local key
    key=$("$u9" cat --keys --limit 1 log | cut -f1)
    printf '{"a":[1,"x\\n"],"b":{"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"k":0}}\n' >in.json
    "$u9" value encode in.json >encoded
    "$u9" send log >sent
    for words in 'append new.log in' 'append --json new.log in.json' 'append --lz4 log in' 'cat log' \
        'cat --format json log' "get log $key" 'info log' 'info --json log' 'send log' 'recv new.log' \
        "id show muid $key" 'id make muid timestamp=1' 'value encode in.json' 'value decode encoded' \
        'value show encoded' 'cat --version' 'import jsonl new.log in.json' 'export csv log' 'grep -j 1 7 log'; do
        # shellcheck disable=SC2086
        claim "u9 $words: memory that is short is told" short_of_memory 4 "$u9" $words
    done
    for words in log '--json log' '--salvage new.log log' '--version'; do
        # shellcheck disable=SC2086
        claim "u9fsck $words: memory that is short is told" short_of_memory 8 "$fsck" $words
    done
    all_short
}

# A disk that does not give some bytes of the log, and a clock on which each look is a second later.
build_sick() {
    cat >sick.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    const char *sick = getenv("SICK");
    if (sick && at < atol(sick) + 4096 && at + (off_t)n > atol(sick)) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, bytes, n, at);
}
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    if (fd < 0) return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, from);
    errno = ENODEV;
    return MAP_FAILED;
}
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static time_t looks;
    int err = (int)syscall(SYS_clock_gettime, clock, now);
    if (getenv("LATER")) now->tv_sec += __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
    return err;
}
END
    [ "$(uname -m)" = x86_64 ] && cc -shared -fPIC -o sick.so sick.c 2>/dev/null && LD_PRELOAD=./sick.so true 2>/dev/null
}

disks() {
    if grep -q '__[at]san_init\|__gcov_exit' "$u9" || ! build_sick; then
        skip 'bytes that cannot be read: not with sanitizers or counters, not without a compiler, nor on other processors'
        return
    fi
    seq 40000 | "$u9" append --segment-size 64K --sync none sick 2>/dev/null
    claim 'there are several segments' test "$(find sick -name '*.u9' | wc -l)" -gt 3
    file=$(find sick -name '*.u9' | sort | sed -n 2p)
    U9_IO=posix LD_PRELOAD=./sick.so SICK=16384 run "$fsck" "$file"
    claim 'bytes that the disk does not give are damage' test "$status" -eq 4
    claim 'told as unreadable' grep -Eq "^$file \\[[0-9]+,[0-9]+\\): CORRUPT: unreadable: .*\\[R-11\\]$" out
    claim 'what to do about the disk is said' grep -q ': next: the disk does not give some bytes: write nothing to it, copy the files with ddrescue$' out
    claim 'and that another try may give more' grep -q ': next: then check the copy: what the disk gave at another try may be whole in it$' out
    claim 'not that it finds the same' eval '! grep -q "another try finds the same" out'
    U9_IO=posix LD_PRELOAD=./sick.so SICK=16384 run "$fsck" --json "$file"
    claim 'as JSON, too' eval 'tail -n1 out | grep -q "\"another_try\":true,\"next\":\[.*ddrescue"'
    run "$fsck" "$file"
    claim 'with nothing of it when the disk is well' eval '! grep -Eq "ddrescue|unreadable" out'
    if command -v script >/dev/null; then
        script -qec "env U9_IO=posix LD_PRELOAD=./sick.so LATER=1 $fsck -j1 sick" screen </dev/null >/dev/null
        claim 'u9fsck on a terminal tells how far it is, and when it will be done' \
            grep -aEq 'u9fsck: [0-9.]+ [kM]?B of [0-9.]+ [kM]B, [0-9]+%, .*/s, ETA [0-9]+:[0-9][0-9]:[0-9][0-9]' screen
        script -qec "env U9_IO=posix LD_PRELOAD=./sick.so LATER=1 $fsck -q -j1 sick" screen </dev/null >/dev/null
        claim 'but not with -q' eval '! grep -aq ETA screen'
    else
        skip 'there is no script(1): no terminal to tell progress on'
    fi
}

seq -f 'record %.0f' 20 >in
"$u9" append log in
helps
places
words
memory
disks
: >nothing.u9
odd=$(printf 'new\nline\033[31mred')
cp -r log "$odd"
rm "$odd"/*.u9
run "$u9" cat "$odd"
claim 'a line on damage is one, whatever the log is called' same "$(wc -l <err) $(grep -c '^u9 cat: new?line?.31mred/0000000000000001.u9 ' err)" '1 1'
run "$fsck" nothing.u9
claim 'an empty file is no log, and nothing is promised of salvaging it' \
    test "$status $(grep -c 'the file is empty' err) $(grep -c salvage err)" = '8 1 0'

tally
