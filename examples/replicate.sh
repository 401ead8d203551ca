#!/bin/sh
# examples/replicate.sh: keeps a copy of a log on another machine, over ssh, for as long as it runs.
#
#   examples/replicate.sh LOG HOST COPY
#
# Each record goes over once it is durable here, and the sender hears when it is on the disk there. The copy has the same
# records, keys and batches. When the connection, a machine or a program breaks, it begins again behind the last record
# that the copy has. It ends on SIGINT or SIGTERM, and where another try would end the same: 3, records of LOG were lost
# to damage; 1 or 2, one side refuses (COPY holds another log, say), and has said why.
#
# RSH is what takes HOST and a command, ssh if nothing is said; PAUSE the seconds between two tries (5).
set -u
[ $# -eq 3 ] || {
    echo 'usage: replicate.sh LOG HOST COPY' >&2
    exit 2
}
log=$1 host=$2 copy=$3
pipes=$(mktemp -d) || exit 4
trap 'rm -rf "$pipes"' EXIT
stopped=
trap 'stopped=yes; kill $sender 2>/dev/null' INT TERM # the sender then ends the stream, and all is stored there
mkfifo "$pipes/there" "$pipes/back" || exit 4
sender=

# Waits for a process, over signals that come to us meanwhile; $status is how it ended.
ended() {
    while
        wait "$1"
        status=$?
        kill -0 "$1" 2>/dev/null
    do :; done
}

while :; do
    u9 send --follow --duplex "$log" >"$pipes/there" <"$pipes/back" &
    sender=$!
    ${RSH:-ssh} "$host" "u9 recv --quiet --duplex '$copy'" <"$pipes/there" >"$pipes/back" &
    receiver=$!
    ended $sender
    sent=$status
    ended $receiver
    for status in $sent $status; do
        case $status in 1 | 2 | 3) exit "$status" ;; esac
    done
    [ "$sent" -ne 0 ] || exit 0
    [ -z "$stopped" ] || exit 4
    sleep "${PAUSE:-5}"
done
