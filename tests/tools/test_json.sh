#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR
# tests/tools/test_json.sh BINDIR TMPDIR: what the tools print as JSON is what u9-json(5) describes: each member of each object,
# and no other.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/claims.sh"
page=$root/man/u9-json.5

# Objects are kept by their type; those without one by what they begin with, and the summary of a carve beside what it carved.
says() { # COMMAND...
    "$@" 2>err >said
    sed -n -e '/^{"type":"summary".*,"files":/{s/^/carved /p;d}' -e 's/^{"type":"\([a-z]*\)"/\1 &/p;t' \
        -e 's/^{"path":/info &/p' -e 's/^{"ordinal":/record &/p' -e 's/^{"offset":/value &/p' said >>seen
    claim "$(basename "$1") ${*:2:2} prints JSON" test -s said
}
segment() { find "$1" -name '*.u9' | sort | sed -n "$2p"; }
overwrite() { printf 'XXXXXXXX' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# unknown LOG: its last segment ends in bytes that look like no crash, and nothing outside of it tells of its end.
unknown() {
    local last
    last=$(find "$1" -name '*.u9' | sort | tail -n 1)
    truncate -s -4096 "$last"
    head -c 700 /dev/zero | tr '\0' Z >>"$last"
    rm -f "$1/.mark"
}

reading() {
    seq -f '{"name":"n%.0f"}' 6000 >lines
    "$u9" append --json --segment-size 64K log lines
    says "$u9" cat --format json -n 3 log
    says "$u9" info --json log
    says "$u9" mark --json log
    says "$u9" split --json -n 2 log
    says "$u9" scan --json log
    says "$u9" scan --json --count-by other log
    says "$u9" scan --json --count-by name log
    says "$u9" grep --json --count --fixed n7 log
    says "$u9" stat --json log
    says "$u9" du --json --segments log
    says "$u9" trim --json --keep 1 --dry-run log
    says "$u9" tier --json --to place --dry-run log
    says "$u9" snapshot --json log copy
    says "$u9" merge --json merged log copy
    says "$u9" index --json --check log
    printf '[1,"two"]' | "$u9" value encode >encoded
    says "$u9" value show --json encoded
    says "$fsck" --json --mark "$("$u9" mark log)" log
}

damaged() {
    cp -R log hurt
    harm "$(grep -l n3000 hurt/*.u9)" n3000
    overwrite "$(segment hurt 1)" 2
    overwrite hurt/.mark 100
    mv "$(segment hurt 3)" hurt/0000000000000010.u9
    says "$fsck" --json hurt
    head -c 17000000 /dev/zero | tr '\0' x >big
    "$u9" append --whole large big
    overwrite large/0000000000000001.u9 9000000
    overwrite large/.mark 100
    says "$fsck" --json large
    says "$fsck" --json --salvage saved hurt
    says "$fsck" --json --repair -p hurt
    says "$fsck" --json --undo hurt
    says "$fsck" --json --carve found hurt
    seq 100 | "$u9" append fork
    cp -R fork other
    seq 5 | "$u9" append fork
    seq 7 | "$u9" append other
    cp other/0000000000000001.u9 fork/0000000000000002.u9
    says "$fsck" --json --salvage forked fork
    cp -R log emptied
    : >"$(segment emptied 1)"
    : >"$(segment emptied 2)"
    says "$fsck" --json emptied
    seq 100 | "$u9" append tails
    unknown tails
    says "$fsck" --json --repair --accept-loss tails
}

# What an object has, and what of it is described; a member of a member is there by its own name.
members() { grep -o '[{,]"[a-z0-9_]*":' | tr -d '{,":' | sort -u; }
described() { # TYPE...
    for type in "$@"; do
        sed -n "/^\.\\\\\" object $type\$/,/^\.\\\\\" end\$/s/^\.It Em \(.*\.\)\?//p" "$page"
    done | sort -u
}

compared() {
    sed -n 's/^\.\\" object //p' "$page" | while read -r type; do
        sections=$type
        case $type in summary) sections='summary info' ;; esac
        grep "^$type {" seen | sed -e 's/^[a-z]* //' -e '/"type":"count"/s/"value":{.*/"value":0}/' -e 's/"values":\[.*/"values":[]}/' | members >printed
        # shellcheck disable=SC2086 # words
        described $sections | if [ $type = summary ]; then grep -vxE 'inside|beside|without|indexes'; else cat; fi >told
        echo "$type: $(comm -23 printed told | tr '\n' ' '): $(comm -13 printed told | tr '\n' ' ')"
    done >differences
    claim 'each member that is printed is described' same "$(sed 's/: [^:]*$//' differences | grep -v ': *$')" ''
    claim 'and each that is described is printed here' same "$(grep -v ': *$' differences)" ''
    sed 's/ .*//' seen | sort -u >types
    sed -n 's/^\.\\" object //p' "$page" | sort -u >named
    claim 'and so is each kind of object' cmp types named
}

reading
damaged
compared
tally
