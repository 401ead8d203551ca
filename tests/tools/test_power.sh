#!/usr/bin/env bash
# tests/tools/test_power.sh BINDIR TMPDIR: the power goes: a file system of its own (ext4 in a file, mounted by loop) is shut
# down by EXT4_IOC_SHUTDOWN, which forgets the journal and all that is in its cache, is mounted again, replays its journal,
# and then what was acknowledged is there, and nothing is damaged. Once and again on the same log while a writer is
# at work that rolls and drops what is old; and with the victims of kills.sh, each cut at a call of the system. {F07} {F15} {F17}
#
# What this cannot show: that a disk's own cache was flushed, since the file below has none.
#
# POWER (4) cuts of the first kind, KILLS of the second (one of each of KILL_VICTIMS); `make kill-long` has hundreds. On
# the io table uring only one who appends. Needs root.
here=$(cd "$(dirname "$0")" && pwd)
# A mount namespace of our own: whatever becomes of us, the mount goes with us, and nobody else sees it.
if [ -z "${U9_OWN_MOUNTS-}" ] && unshare -m true 2>/dev/null; then
    U9_OWN_MOUNTS=1 exec unshare -m "$here/${0##*/}" "$@"
fi
# shellcheck disable=SC2015 # A && B || C is meant as it stands
# shellcheck source=tests/tools/claims.sh
. "$here/claims.sh"
# shellcheck source=tests/tools/kills.sh
. "$here/kills.sh"

image=$tmp/image mnt=$tmp/mnt
trap 'cd / && { umount "$mnt" 2>/dev/null; rm -rf "$tmp"; }' EXIT

# 0x8004587d: EXT4_IOC_SHUTDOWN; 2: EXT4_GOING_FLAGS_NOLOGFLUSH.
shut_down() { perl -e 'my $how = pack "L", 2; open my $d, "<", $ARGV[0] or die; ioctl($d, 0x8004587d, $how) or die "$!\n"' "$mnt"; }
let_go() { # what the dead had under way may hold it for a moment
    local i
    for ((i = 0; i < 200; i++)); do
        umount "$mnt" 2>/dev/null && return
        sleep 0.02
    done
    return 1
}
cut_power() { shut_down && let_go && mount -o loop "$image" "$mnt"; }

why_not() {
    [ -n "${U9_OWN_MOUNTS-}" ] || { echo 'no mount namespace of our own (not root?)' && return; }
    command -v mkfs.ext4 >/dev/null && command -v perl >/dev/null || { echo 'mkfs.ext4 or perl is not here' && return; }
    truncate -s 96M "$image" && mkfs.ext4 -q -F "$image" && mkdir "$mnt" || { echo 'no file system can be made' && return; }
    mount -o loop "$image" "$mnt" 2>/dev/null || { echo 'loop mounts are refused' && return; }
    cut_power 2>/dev/null || echo 'EXT4_IOC_SHUTDOWN is refused'
}
why=$(why_not)
if [ -n "$why" ]; then
    skip "power cuts: $why"
    tally
    exit
fi

# The one log, in which session after session is cut off. Records are numbers, whose keys are kept once they are told.
log=$mnt/log next=1
: >keys

# session LEAST: a writer has the power cut when so many records of it are acknowledged. What it tells after that counts, too.
session() {
    mkfifo told
    seq "$next" $((next + 4 * $1 + 2000)) | sed "s/\$/ $(printf '%0*d' $((next * 7 % 900 + 20)) 0)/" |
        "$u9" append --print-keys --sync=commit --segment-size=64K --keep=1M "$log" >told 2>err &
    {
        sed -u "$1q" # which takes no byte more than these lines
        shut_down
        cat
    } <told >acked
    wait
    rm told
    head -n "$(tr -cd '\n' <acked | wc -c)" acked >whole # not a key that was cut off
    let_go && mount -o loop "$image" "$mnt"
}

# What is kept is a row without gaps that goes up to what was acknowledged at least; its keys are those that were told.
judge() {
    local first last
    [ -d "$log" ] || { [ ! -s whole ]; return; }
    no_log "$log" && { [ ! -s whole ]; return; }
    "$fsck" "$log" || return 1
    "$u9" cat --keys "$log" >seen || return 1
    [ -s seen ] || { [ ! -s whole ]; return; }
    first=$(head -n 1 seen | cut -f 2 | cut -d ' ' -f 1) last=$(tail -n 1 seen | cut -f 2 | cut -d ' ' -f 1)
    [ "$last" -ge $((next - 1 + $(wc -l <whole))) ] || { echo "ends at $last"; return 1; }
    cut -f 2 seen | cut -d ' ' -f 1 | cmp - <(seq "$first" "$last") || return 1
    [ "$first" -eq 1 ] || [ "$(cat "$log"/*.u9 | wc -c)" -ge 1048576 ] || { echo 'too much is dropped'; return 1; }
    [ ! -s whole ] || grep -qF "$(tail -n 1 whole)	$((next - 1 + $(wc -l <whole))) " seen || { echo 'another key'; return 1; }
    next=$((last + 1))
}

cuts=0 bad=''
for ((i = 0; i < ${POWER:-4}; i++)); do
    session $((1 + i * 379 % 1500)) || { bad="$bad no-mount:$i" && break; }
    cuts=$((cuts + 1))
    judge >judged 2>&1 && continue
    bad="$bad $i"
    echo "# cut $i: $(head -c 600 judged)"
    [ -z "${KEEP-}" ] || { cp -a "$mnt" "$KEEP"; cp whole seen "$KEEP"; }
    break
done
claim "what was acknowledged is there after $cuts power cuts, and nothing is damaged$bad" test -z "$bad"
claim 'the log holds records of these sessions' test "$next" -gt $((cuts * 2))

# The same with whoever is killed, at the same moment.
place=$mnt/place
fresh() {
    rm -rf "$place/work" && cp -a "$place/base" "$place/work" && sync -f "$place"
}
crash() { cut_power; }
mkdir "$place"
if can_trace; then
    few='indexer snapshot resumer repairer'
    [ "${U9_IO-}" != uring ] || few=resumer
    read -ra chosen <<<"${KILL_VICTIMS-$few}"
    [ ${#chosen[@]} -gt 0 ] || read -ra chosen <<<"$victims"
    for victim in "${chosen[@]}"; do
        each=$(((${KILLS:-${#chosen[@]}} + ${#chosen[@]} - 1) / ${#chosen[@]}))
        strike "$victim" $each ${KILLS:+$((4 * each + 4))}
    done
else
    skip 'power cuts at calls of the system: strace is not here, or may not trace'
fi
tally
