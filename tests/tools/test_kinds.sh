#!/usr/bin/env bash
# tests/tools/test_kinds.sh BINDIR TMPDIR: logs keyed by every key kind, through the tools. [L-6]
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

for kind in muid gid:log gid:volume gid:segment tid uid8 rkey:tid; do
    log=${kind/:/-} under=()
    [ "$kind" != uid8 ] || under=(--generator=0)
    printf 'a\nb\nc\n' | "$u9" append "$log" --key "$kind" "${under[@]}" --print-keys >keys
    printf 'd\n' | "$u9" append "$log" "${under[@]}" --print-keys >>keys # the kind is the log's
    last=$(tail -n 1 keys)
    claim "$kind: keys are fresh" same "$(sort -u keys | wc -l)" 4
    claim "$kind: get finds the newest" same "$("$u9" get --keys "$log" "$last")" "$last"$'\t'd
    claim "$kind: cat shows the keys" same "$("$u9" cat --keys "$log" | cut -f 1)" "$(cat keys)"
    claim "$kind: info names the kind" same "$("$u9" info "$log" | sed -n 's/^key kind *//p')" "$kind"
    claim "$kind: info names the last key" same "$("$u9" info "$log" | sed -n 's/^last key *//p')" "$last"
    claim "$kind: the log is whole" "$fsck" "$log"
    case $kind in
    uid8) ;; # their order is not that of time
    *)
        claim "$kind: keys only grow, across sessions too" same "$(LC_ALL=C sort keys)" "$(cat keys)"
        claim "$kind: cat --from a key" same "$("$u9" cat "$log" --from "$last")" d
        ;;
    esac
    claim "$kind: a key of another form is refused" refused 1 "kind $kind" "$u9" get "$log" 'no key'
    claim "$kind: salvage keeps kind and keys" "$fsck" -q --salvage "$log.saved" "$log"
    claim "$kind: what is salvaged is the same" \
        same "$("$u9" cat --keys "$log.saved")" "$("$u9" cat --keys "$log")"
done

claim 'a log that is written where it is made keeps its node' sh -c '[ -s /etc/machine-id ] || exit 0
    [ "$("$1" cat --keys muid | cut -d - -f 2 | uniq | wc -l)" -eq 1 ]' - "$u9"
cp -r muid muid.copy
for log in muid muid.copy; do echo e | "$u9" append $log --print-keys | cut -d - -f 2; done >keys
claim 'a copy has a node of its own' same "$(sort -u keys | wc -l)" 2
echo f | "$u9" append muid --medallion 0x1ABCDEF0123 --print-keys >keys
claim '--medallion gives one in hex' grep -q -- '-1ABCDEF0123-00000001$' keys
echo g | "$u9" append muid --medallion 5 --print-keys >keys
claim 'or in decimal' grep -q -- '-00000000005-00000001$' keys
for bad in 0 17592186044415 0x 1F x; do
    claim "--medallion $bad is refused" refused 2 '--medallion' "$u9" append muid --medallion $bad /dev/null
done
soon=$(printf '%013X-10000000001-00000001' $((($(date +%s) + 3600) * 1000000)))
far=$(printf '%013X-10000000001-00000001' $((($(date +%s) + 864000) * 1000000)))
{ echo "$soon=x"; } | "$u9" append ahead --key-field =
echo y | "$u9" append ahead --print-keys >keys # another session
claim 'a fresh key is above a given one that is ahead of the clock' test "$(cat keys)" '>' "$soon"
{ echo "$far=x"; } | "$u9" append ahead --key-field =
echo y | "$u9" append ahead --print-keys >keys
claim 'but does not follow one from the far future' test "$(cat keys)" '<' "$far"
claim 'a literal key stands in each record' \
    same "$(printf 'x\ny\n' | "$u9" append literal --key rkey:literal:self --print-keys | uniq -c | tr -s ' ')" ' 2 self'
claim 'get of a literal gives the newest' same "$("$u9" get literal self)" y
claim 'a literal log takes no other key' refused 1 'not the literal' \
    sh -c "printf 'other,z\n' | '$u9' append literal --key-field ,"
printf 'foo,x\nb.a:c~d,y\nfoo,z\n' | "$u9" append rkey --key rkey --key-field ,
claim 'record keys are taken from the line' same "$("$u9" get rkey foo b.a:c~d | tr '\n' ' ')" 'z y '
claim 'all versions of a record key' same "$("$u9" get rkey --all foo | tr '\n' ' ')" 'x z '
claim 'a bad record key is refused' refused 1 'a character' \
    sh -c "printf 'a/b,z\n' | '$u9' append rkey --key-field ,"
claim 'record keys are not made' refused 1 "keys of kind 'rkey' are not made" \
    sh -c "echo z | '$u9' append rkey"
claim 'a log keeps its kind' refused 1 "of kind 'rkey', not 'tid'" \
    sh -c "echo z | '$u9' append rkey --key tid"
claim 'eight-byte IDs carry generator and cluster' sh -c \
    "echo z | '$u9' append u8 --key uid8 --generator 5 --cluster 3 --print-keys | '$u9' id show uid8 - |
     grep '\"generator\": *5' | grep '\"cluster\": *3'"
echo z | "$u9" append u8 --generator=6,4 --print-keys | "$u9" id show uid8 - >keys
claim 'also in one word' sh -c "grep '\"generator\": *6' keys | grep '\"cluster\": *4'"
need='--lock-file picks one that is free on this machine, --rados=ADDRESS one that is free in a cluster, --generator=N\[,CLUSTER\] gives one'
claim 'without a number a log of eight-byte IDs is not made' refused 2 "$need" \
    sh -c "echo z | '$u9' append none --key uid8"
claim 'nor is its folder' test ! -e none
claim 'nor is anything appended' refused 1 "$need" sh -c "echo z | '$u9' append u8"
claim 'a cluster alone is no number' refused 1 "$need" sh -c "echo z | '$u9' append u8 --cluster 3"
claim 'nothing was' same "$("$u9" cat u8 | wc -l)" 2
claim 'keys may be given without a number' \
    sh -c "echo 0853cdcab4ca1025=z | '$u9' append given --key uid8 --key-field ="
claim 'a number out of range is told' refused 2 '--generator 2048: not a number from 0 to 2047' \
    "$u9" append u8 --generator 2048 /dev/null
claim 'and so is a cluster' refused 2 '--cluster 16: not a number from 0 to 15' "$u9" append u8 --generator=1,16 /dev/null
claim '--generator and --lock-file are not both' refused 2 'does not go with it' \
    "$u9" append u8 --generator 1 --lock-file /dev/null
claim 'nor does either go with --rados' refused 2 'claims the number' \
    "$u9" append u8 --generator 1 --rados numbers /dev/null
claim 'nor is any name an address' refused 2 'not an address rados:POOL/NAME' "$u9" append u8 --rados numbers /dev/null

# Three at once, each longer than its start takes: under the numbers of the lock file no ID comes twice.
seq 5000 >many
for n in 1 2 3; do "$u9" append at$n --key uid8 --lock-file --sync none --print-keys many >keys$n & done
wait
claim 'three logs at once, with a lock file, make no ID twice' same "$(cat keys1 keys2 keys3 | sort -u | wc -l)" 15000
claim 'it stands beside them' test -s .u9-numbers
claim 'another path may be given' sh -c "echo z | '$u9' append at1 --lock-file=numbers --cluster 9 --print-keys |
    '$u9' id show uid8 - | grep '\"generator\": *0' | grep '\"cluster\": *9' && test -s numbers"
claim 'a lock file that cannot be made is told' refused 1 'none/such: no generator number' \
    sh -c "echo z | '$u9' append at1 --lock-file=none/such"
long=$(printf '%0512d' 7)
printf '%s,z\n' "$long" | "$u9" append long --key rkey --key-field , --print-keys >keys
claim 'a record key may have 512 characters' same "$(cat keys)" "$long"
claim 'and is found' same "$("$u9" get long "$long")" z

# A log of which no u9open and no u9end is left: its kind is not known, and is not made up.
printf 'k1,a\nk2,b\n' | "$u9" append lost --key rkey --key-field ,
printf X | dd of=lost/0000000000000001.u9 bs=1 seek=150 conv=notrunc status=none
truncate -s -4096 lost/0000000000000001.u9
claim 'what is no key there is told' refused 1 'k1: not a key of kind muid, nor hex' "$u9" get lost k1
claim 'hex finds a record' same "$("$u9" get lost 6b31)" a
claim 'it is not gone on with as another kind' refused 1 "look like those of 'rkey', not of 'muid'" \
    sh -c "echo z | '$u9' append lost"
claim 'but as one that its keys are of' sh -c "echo k3,z | '$u9' append lost --key rkey --key-field ,"
claim 'which it is then' same "$("$u9" get lost k1 k3)" $'a\nz'

tally
