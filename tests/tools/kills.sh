# shellcheck shell=bash disable=SC2154,SC2034,SC2015,SC2094,SC2119,SC2120
# (what is set elsewhere, and used there; A && B || C as it stands; files of one name in two folders; a run under nothing)
# tests/tools/kills.sh: verbs that are killed at any of their calls of the system, by strace. Sourced after claims.sh by
# test_kill.sh, and by test_power.sh, where the power goes at the same moment.
#
# A victim NAME is four functions, called in a folder that has what the first one made:
#   NAME_make      makes what it begins with. `round` counts from 0: each round is another one, in small things
#   NAME_run ...   does it, under the command that it is given; what it prints is kept in $acked, outside of the folder
#   NAME_judge     after the kill: what was acknowledged is there, what is there was appended, nothing is damaged
#   NAME_again     the same once more comes to its end, and to the end that it would have come to
# The last two say nothing and succeed, or fail.
#
# `strike NAME COUNT [TRIES]`: one claim. A call is killed when a thread makes its n-th of that kind, before it is done; who
# makes fewer this time comes to its end. TRIES (COUNT) calls at most are tried until COUNT came to it; with TRIES fewer fail.

acked=$tmp/acked
victims='writer roller indexer trimmer copier snapshot receiver resumer repairer undoer salvager carver merger accepter'
appenders='writer roller receiver resumer salvager carver merger' # what the others write goes by no io table

# Calls in which memory and threads are had are left out: there are many, and they say nothing of the disk.
of_files='openat|newfstatat|statx|fstat|getdents64|flock|fcntl|fallocate|ftruncate|fadvise64|p?writev?2?|pwrite64|p?readv?2?|pread64|lseek'
of_names='fsync|fdatasync|syncfs|rename|renameat2?|mkdir(at)?|unlink(at)?|rmdir|link(at)?|f?chmod(at)?|f?chown(at)?|close'
of_rings='io_uring_(setup|enter|register)|eventfd2'

can_trace() { strace -f -qq -o /dev/null -e inject=getppid:retval=1:when=1 true 2>/dev/null; }

# Lines "KIND NTH": each call that a run makes, a kind's as often as the thread that makes most of them.
calls() { # NAME
    "$1_run" strace -f -qq -o "$tmp/trace" >"$tmp/whole" 2>"$tmp/err"
    [ $? -lt 8 ] || return 1 # 1, 4, 5: u9fsck has mended, and something is damaged
    awk -v kinds="^($of_files|$of_names|$of_rings)\$" '
        { name = $2; sub(/\(.*/, "", name) }
        index($2, "(") && name ~ kinds && ++made[$1, name] > most[name] { most[name] = made[$1, name] }
        END { for (name in most) for (n = 1; n <= most[name]; n++) print name, n }' "$tmp/trace" | sort
}

# Where the folders are, and what happens with a kill: test_power.sh has others.
place=$tmp/place
fresh() { rm -rf "$place/work" && cp -a "$place/base" "$place/work"; }
crash() { :; }

# after_kill NAME: all that is asked then, in a folder of its own.
after_kill() {
    crash || return 1
    cd "$place/work" || return 1
    "$1_judge" >"$tmp/judge" 2>&1 || { echo 'judge' >"$tmp/which"; cd "$tmp" && return 1; }
    "$1_again" >"$tmp/judge" 2>&1 || { echo 'again' >"$tmp/which"; cd "$tmp" && return 1; }
    cd "$tmp" || return 1
}

# one NAME KIND NTH
one() {
    fresh && cd "$place/work" || return 1
    "$1_run" strace -f -qq -o /dev/null -e inject="$2:signal=KILL:when=$3" 2>/dev/null >"$acked"
    [ $? -eq 137 ] && killed=$((killed + 1))
    cd "$tmp" || return 1
    # A key that was cut off is none.
    head -n "$(tr -cd '\n' <"$acked" | wc -c)" "$acked" >"$acked.whole" && mv "$acked.whole" "$acked"
    [ -z "${KEEP-}" ] || { rm -rf "$KEEP" && cp -a "$place/work" "$KEEP"; }
    after_kill "$1"
}

strike() { # NAME COUNT [TRIES]
    local name=$1 most=${3:-$2} tries=0 least=$(($2 / 4 + 1)) bad='' points kind nth
    [ -z "${3-}" ] || least=$2
    killed=0
    for ((round = 0; killed < $2 && tries < most; round++)); do
        rm -rf "$place/base" && mkdir -p "$place/base" && cd "$place/base" || return
        points=''
        "${name}_make" >/dev/null 2>"$tmp/err" && cd "$tmp" && fresh && cd "$place/work" &&
            points=$(calls "$name" | shuf -n $(($2 - killed < most - tries ? $2 - killed : most - tries)) --random-source=<(yes "$round $name"))
        cd "$tmp" || return
        [ -n "$points" ] || { bad="$bad nothing-to-kill" && break; }
        while read -r kind nth; do
            tries=$((tries + 1))
            one "$name" "$kind" "$nth" && continue
            bad="$bad $kind:$nth"
            echo "# $name, round $round, killed at $kind:$nth: $(cat "$tmp/which"): $(head -c 600 "$tmp/judge")"
            [ -z "${KEEP-}" ] || break 2
        done <<<"$points"
    done
    [ -z "${3-}" ] && [ "$2" -lt 8 ] || [ "$killed" -ge "$least" ] || bad="$bad too-few-were-come-to" # of few tries any may miss
    kills=$((kills + killed))
    claim "$name: nothing is lost, and what was begun is finished ($killed kills of $tries tries, $round rounds)$bad" test -z "$bad"
}
kills=0

clean() { "$fsck" -q "$1"; }
no_log() { [ ! -d "$1" ] || "$fsck" "$1" 2>&1 | grep -q 'there is no log\|holds no log\|ABSENT\|no log'; }
# begins LOG WANT LEAST: its records are the first of WANT, so many at least.
begins() {
    "$u9" cat "$1" >"$tmp/seen" || return 1
    [ "$(wc -l <"$tmp/seen")" -ge "$3" ] && head -n "$(wc -l <"$tmp/seen")" "$2" | cmp - "$tmp/seen"
}
# holds LOG WANT: exactly these.
holds() { "$u9" cat "$1" | cmp - "$2"; }
keys() { "$u9" cat --keys "$1"; }
sums() { (cd "$1" && find . -name '*.u9' -type f -exec cksum {} + | sort); }
# A session that is killed when COUNT records are durable: of what follows nothing is known.
broken_session() { # LOG COUNT [OPTION...]
    local log=$1 count=$2 pid
    shift 2
    mkfifo "$tmp/feed" "$tmp/told"
    "$u9" append --print-keys --sync=commit "$@" "$log" <"$tmp/feed" >"$tmp/told" 2>/dev/null &
    pid=$!
    exec 7>"$tmp/feed" 8<"$tmp/told"
    cat >&7
    head -n "$count" <&8 >/dev/null
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    exec 7>&- 8<&-
    rm "$tmp/feed" "$tmp/told"
}

# A writer. A file of 64 KiB is full after 70 records; a part of a batch would show as a gap.
writer_make() { for ((i = 1; i <= 260 + 13 * round; i++)); do printf '%d %0*d\n' "$i" $((900 - 50 * (round % 16))) "$i"; done >input; }
writer_run() { "$@" "$u9" append --print-keys --sync=commit --segment-size=64K log input; }
writer_judge() {
    no_log log && { [ ! -s "$acked" ]; return; }
    clean log && begins log input "$(wc -l <"$acked")" || return 1
    keys log | cut -f 1 | head -n "$(wc -l <"$acked")" | cmp - "$acked"
}
writer_again() {
    [ -d log ] && [ -n "$("$u9" cat log 2>/dev/null | head -n 1)" ] || : >"$tmp/seen"
    { cat "$tmp/seen" && echo more; } >"$tmp/want"
    echo more | "$u9" append log && clean log && holds log "$tmp/want"
}

# One that rolls after each second record, and drops what is old as it goes.
roller_make() { for ((i = 1; i <= 24; i++)); do printf '%d %s\n' "$i" "$(head -c $((22000 + 700 * (round % 8))) /dev/urandom | base64 -w 0)"; done >input; }
roller_run() { "$@" "$u9" append --print-keys --sync=commit --segment-size=64K --keep=300K --lz4 log input; }
roller_judge() {
    local first last
    no_log log && { [ ! -s "$acked" ]; return; }
    clean log && "$u9" cat log >"$tmp/seen" || return 1
    [ -s "$tmp/seen" ] || { [ ! -s "$acked" ]; return; }
    first=$(head -n 1 "$tmp/seen" | cut -d ' ' -f 1) last=$(tail -n 1 "$tmp/seen" | cut -d ' ' -f 1)
    [ "$last" -ge "$(wc -l <"$acked")" ] && sed -n "$first,${last}p" input | cmp - "$tmp/seen" || return 1
    [ "$first" -eq 1 ] || [ "$(cat log/*.u9 | wc -c)" -ge 300000 ] || return 1
    [ ! -s "$acked" ] || keys log | cut -f 1 | grep -qxF "$(tail -n 1 "$acked")"
}
roller_again() {
    echo more | "$u9" append --keep=300K log && clean log && [ "$("$u9" cat log | tail -n 1)" = more ]
}

# Who makes the indexes that sessions that broke off did not.
indexer_make() {
    local i
    for i in 1 2 3; do seq $((10000 * i)) $((10000 * i + 1500 + 100 * round)) | broken_session log 1400; done
    "$u9" cat log >want
    keys log | awk 'NR % 700 == 1 { print $1 }' >some
    sums log >sums
}
indexer_run() { "$@" "$u9" index --memory=64K log; }
indexer_judge() {
    sums log | cmp - sums && clean log && holds log want && xargs "$u9" get log <some >/dev/null
}
indexer_again() {
    "$u9" index log && "$u9" index --check --json log >"$tmp/proof" || return 1
    tail -n 1 "$tmp/proof" | grep '"none":"0"' | grep '"unused":"0"' | grep '"wrong":"0"' || return 1
    [ -z "$(find log -mindepth 1 ! -name '*.u9' ! -name '*.u9x' ! -name .mark ! -name .live)" ] && indexer_judge
}

# Who drops the oldest segments: what is dropped goes from the front, and what is to stay stays.
trimmer_make() {
    seq $((12000 + 500 * round)) >input
    "$u9" append log --segment-size=64K --sync=none <input
    cp -a log other && "$u9" trim other --before '#8000' && "$u9" cat other >want && rm -rf other
}
trimmer_run() { "$@" "$u9" trim log --before '#8000'; }
trimmer_judge() {
    clean log && "$u9" cat log >"$tmp/seen" && [ "$(wc -l <"$tmp/seen")" -ge "$(wc -l <want)" ] &&
        tail -n "$(wc -l <"$tmp/seen")" input | cmp - "$tmp/seen"
}
trimmer_again() { "$u9" trim log --before '#8000' && clean log && holds log want; }

# A snapshot that is made for the first time, of copies.
copier_make() {
    seq $((9000 + 300 * round)) >input
    "$u9" append log --segment-size=64K --sync=none <input
    sums log >sums
}
copier_run() { "$@" "$u9" snapshot --copy log snap; }
copier_judge() {
    sums log | cmp - sums && clean log || return 1
    [ ! -e snap ] || { clean snap && holds snap input; }
}
copier_again() { copier_run && [ ! -e snap.partial ] && copier_judge && [ -e snap ]; }

# One that is brought up to date, with links; the log was trimmed meanwhile.
snapshot_make() {
    seq 9000 | "$u9" append log --segment-size=64K --sync=none
    "$u9" snapshot log snap
    seq 9001 $((14000 + 300 * round)) | "$u9" append log --segment-size=64K --sync=none
    "$u9" trim log --before '#4000'
    "$u9" cat log >input
    sums log >sums
}
snapshot_run() { "$@" "$u9" snapshot log snap; }
snapshot_judge() {
    local first last
    sums log | cmp - sums && clean log && clean snap && "$u9" cat snap >"$tmp/seen" || return 1
    first=$(head -n 1 "$tmp/seen") last=$(tail -n 1 "$tmp/seen")
    [ "$first" -le "$(head -n 1 input)" ] && [ "$last" -ge 9000 ] && seq "$first" "$last" | cmp - "$tmp/seen"
}
snapshot_again() { snapshot_run && clean snap && holds snap input; }

# Who receives a log, from its start or where it stood.
receiver_make() {
    seq $((4000 + 300 * round)) | "$u9" append log --segment-size=64K --sync=none
    "$u9" send log >stream
    keys log >want
    "$u9" cat log >input
    echo 0 >least
}
receiver_run() { "$@" "$u9" recv --segment-size=64K copy <stream; }
receiver_judge() {
    no_log copy && [ "$(cat least)" -eq 0 ] && return
    clean copy && begins copy input "$(cat least)"
}
receiver_again() { receiver_run && clean copy && keys copy | cmp - want; }
resumer_make() {
    receiver_make
    head -c $(($(wc -c <stream) / (2 + round % 3))) stream | "$u9" recv --segment-size=64K copy
    "$u9" cat copy | wc -l >least
}
resumer_run() { receiver_run "$@"; }
resumer_judge() { receiver_judge; }
resumer_again() { receiver_again; }

# Who mends in place. The disk header is damaged, and frames' headers.
poke() { # FILE OFFSET: its byte becomes another
    local byte
    byte=$(od -An -tu1 -j"$2" -N1 "$1")
    # shellcheck disable=SC2059 # the byte is the format
    printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
repairer_make() {
    local file
    seq 3000 | "$u9" append --segment-size=64K whole
    seq 3001 $((5000 + 100 * round)) | "$u9" append --segment-size=64K whole
    cp -a whole log
    find log -name '*.u9' | sort >files
    poke "$(sed -n 1p files)" 11
    for i in 1 2; do
        file=$(sed -n "${i}p" files)
        # In the magic of the third frame, and in the hash of the fourth.
        poke "$file" "$(LC_ALL=C grep -abo utf9f "$file" | sed -n 3p | cut -d : -f 1)"
        poke "$file" $(($(LC_ALL=C grep -abo utf9f "$file" | sed -n 4p | cut -d : -f 1) - 30))
    done
    sums log >hurt
    "$u9" cat log >least 2>/dev/null
    "$u9" cat whole >most
    sums whole >mended
}
repairer_run() { "$@" "$fsck" --repair -y log; }
repairer_judge() {
    "$u9" cat log 2>/dev/null >"$tmp/seen"
    [ -z "$(comm -23 <(sort least) <(sort "$tmp/seen"))" ] && [ -z "$(comm -13 <(sort most) <(sort "$tmp/seen"))" ] || return 1
    rm -rf other && cp -a log other
    "$fsck" --undo other # 8: nothing is saved, as nothing was changed
    sums other | cmp - hurt
}
repairer_again() {
    repairer_run
    [ $? -le 1 ] && sums log | cmp - mended && clean log && holds log most || return 1
    # One that was killed before its indexes were made left them to the next one, which is a repair by itself.
    "$fsck" --undo log >undone
    [ $? -le 1 ] || return 1
    ! grep -q 'the repair before' undone || { "$fsck" --undo log; [ $? -le 1 ]; } || return 1
    sums log | cmp - hurt
}

# Who puts back what was mended.
undoer_make() { repairer_make && { repairer_run || [ $? -eq 1 ]; }; }
undoer_run() { "$@" "$fsck" --undo log; }
undoer_judge() {
    rm -rf other && cp -a log other
    "$fsck" --repair -y other
    [ $? -le 1 ] && sums other | cmp - mended && clean other
}
undoer_again() {
    undoer_run
    case $? in 1) ;; 8) ;; *) return 1 ;; esac
    sums log | cmp - hurt
}

# Who saves what is whole of a damaged log.
salvager_make() {
    repairer_make
    harm "$(sed -n 2p files)" "$(sed -n 1500p most)"
    sums log >hurt
    "$fsck" --salvage=out log
    clean out && "$u9" cat out >want && [ -s want ] && rm -rf out
}
salvager_run() { "$@" "$fsck" --salvage=out log; }
salvager_judge() {
    sums log | cmp - hurt || return 1
    [ ! -e out ] || { clean out && holds out want; }
}
salvager_again() {
    [ -e out ] || salvager_run
    [ -e out ] && [ ! -e out.partial ] && salvager_judge
}

# Who finds two logs in what is none any more.
carver_make() {
    seq 2000 | "$u9" append one --segment-size=64K
    seq 2001 $((5000 + 100 * round)) | "$u9" append two --segment-size=64K
    cat one/*.u9 two/*.u9 >image
    rm -r one two
    seq $((5000 + 100 * round)) >want
}
carver_run() { "$@" "$fsck" --carve=out image; }
carver_is_done() { [ -n "$(ls out 2>/dev/null)" ] && [ ! -e out/.u9-unfinished ]; }
carver_judge() {
    carver_is_done || return 0
    for log in out/*; do clean "$log" || return 1; done
    for log in out/*; do "$u9" cat "$log"; done | sort -n | cmp - want
}
carver_again() {
    carver_is_done || carver_run || return 1
    carver_is_done && carver_judge
}

# Who makes one log of two.
merger_make() {
    seq 2000 | "$u9" append one --segment-size=64K
    seq 2001 $((5000 + 100 * round)) | "$u9" append two --segment-size=64K
    seq $((5000 + 100 * round)) >want
}
merger_run() { "$@" "$u9" merge --segment-size=64K out one two; }
merger_judge() {
    clean one && clean two || return 1
    [ ! -e out ] || { clean out && holds out want; }
}
merger_again() {
    [ -e out ] || merger_run
    [ -e out ] && [ ! -e out.partial ] && merger_judge
}

# Who gives a loss up: a log that was put back as it once was, under the mark that it has now.
accepter_make() {
    seq 2000 | "$u9" append log
    cp -a log old
    seq 2001 $((3000 + 100 * round)) | "$u9" append log
    cp -a log/.mark old/.mark
    rm -rf log && mv old log
    "$u9" cat log 2>/dev/null >want
    [ -s want ]
}
accepter_run() { "$@" "$fsck" --repair --accept-loss log; }
accepter_judge() {
    "$u9" cat log 2>/dev/null | cmp - want
}
accepter_again() {
    clean log || accepter_run || [ $? -le 1 ] || return 1
    clean log && holds log want && echo more | "$u9" append log && clean log
}
