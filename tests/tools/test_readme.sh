#!/usr/bin/env bash
# tests/tools/test_readme.sh BINDIR TMPDIR: README.md is short, and says nothing that something else does not show: its commands
# print what it says, its figures stand in bench/RESULTS.md, its faults in tests/FAULTS.md and in the test that it names, and
# what it and docs/ lead to is there. Its programs are run by tests/embed and python/tests.
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"
readme=${U9_README:-$root/README.md}

short() {
    claim 'README is read in five minutes: 155 lines at most' test "$(wc -l <"$readme")" -le 155
    claim 'none of over 120 characters' same "$(grep -nE '^.{121}' "$readme")" ''
}

# Of C and C++ what stands in main(), of Python all but what is printed.
programs() {
    local language
    for language in c cpp python; do
        sed -n "/^\`\`\`$language\$/,/^\`\`\`\$/p" "$readme" | sed '1d;$d' >program
        [ $language = python ] || sed -i '1,/^{$/d; /^}$/,$d' program
        sed -i '/^# ->/d; /^$/d' program
        claim "to embed it in $language takes ten lines at most, and some" test "$(wc -l <program)" -le 10 -a -s program
    done
}

# What stands behind `$ ` is run, line by line; keys are those of today.
session() {
    sed -n '/^```sh$/,/^```$/p' "$readme" | awk '/^```/ { inside = 0 } /^\$ / { inside = 1 } inside' >session
    local key='[0-9A-F]{13}-[0-9A-F]{11}-[0-9A-F]{8}'
    mkdir path && ln -s "$u9" "$fsck" path
    grep '^\$ ' session | sed 's/^\$ //' >commands
    claim 'there is something to try' test "$(wc -l <commands)" -ge 4
    PATH=$PWD/path:$PATH bash -e <(head -n 1 commands) >printed 2>&1
    grep -oxE "$key" session | paste - printed | sed 's|\(.*\)\t\(.*\)|s/\1/\2/|' >today
    sed -f today session | grep -v '^\$ ' >want
    sed 1d commands | sed -f today >rest
    PATH=$PWD/path:$PATH run bash -e rest
    cat printed out err >all
    claim 'the commands print what stands below them' cmp all want
}

# links FILE: what it leads to and is not there.
links() {
    local at=$1 to file anchor
    grep -oE '\]\([^) ]*\)' "$at" | sed 's/^](\(.*\))$/\1/' | grep -v '^http' | sort -u | while read -r to; do
        file=${to%%#*} anchor=
        case $to in *'#'*) anchor=${to#*#} ;; esac
        file=$(dirname "$at")/${file:-$(basename "$at")}
        [ -e "$file" ] || { echo "$at: $to"; continue; }
        [ -z "$anchor" ] || sed -n 's/^##* //p' "$file" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n-' | grep -qx -- "$anchor" || echo "$at: $to"
    done
}
leads() {
    for at in "$readme" "$root"/docs/*.md; do links "$at"; done >lost
    claim 'each link of README and docs/ leads somewhere' same "$(cat lost)" ''
    claim 'the picture is one' grep -q '^<svg xmlns=' "$root/docs/log.svg"
    for at in "$root"/docs/*.md; do
        claim "README, or what it names, leads to ${at##*/}" grep -qF "${at##*/})" "$readme" "$root"/docs/*.md
    done
}

faults() {
    grep -E '\| F[0-9]{2} \|' "$readme" | sed -E 's/.*\| (F[0-9]{2}) \| ([^ ]*) \|$/\1 \2/' >shown
    claim 'a dozen faults are shown' test "$(wc -l <shown)" -ge 12
    while read -r case test; do
        grep -q "^| $case |" "$root/tests/FAULTS.md" || echo "$case is no case"
        grep -qF "{$case}" "$root/tests/engine/$test" || echo "$case is not shown by $test"
    done <shown >wrong
    claim 'each is a case, and its test shows it' same "$(cat wrong)" ''
}

# Each figure is that of its row in bench/RESULTS.md; of the stores, the bold one is the best or the least; an empty cell has
# no row there.
figures() {
    awk -F ' *\\| *' '
    function bare(cell) { gsub(/\*\*/, "", cell); sub(/ \(.*/, "", cell); return cell }
    function number(cell) { cell = bare(cell); gsub(/,/, "", cell); return cell + 0 }
    function wrong(what) { print workload ": " what }
    FNR == NR && /^## [a-z0-9-]*: / { section = substr($0, 4); sub(/:.*/, "", section); rows = 0; next }
    FNR == NR && /^#/ { section = ""; next }
    FNR == NR && section != "" && NF > 3 && $2 !~ /^-|^row$/ {
        if (!((section, bare($2)) in figure)) { figure[section, bare($2)] = bare($3); label[section, ++count[section]] = bare($2) }
        next
    }
    FNR == NR { next }
    /^\| workload \|/ { for (i = 3; i < NF; i++) store[i] = $i; columns = NF; next }
    columns && /^\| `/ {
        shown++
        workload = $2; sub(/^`/, "", workload); sub(/`.*/, "", workload)
        if (!count[workload]) { wrong("no such workload in bench/RESULTS.md"); next }
        low = high = number($3); bold = 0
        for (i = 3; i < columns; i++) {
            found = ""
            for (k = 1; k <= count[workload] && found == ""; k++) {
                name = label[workload, k]
                if (store[i] == "floor" ? figure[workload, name] == bare($i) && name !~ /^(u9$|u9,|RocksDB|LevelDB|LMDB|SQLite)/ \
                                        : store[i] == "u9" ? k == 1 : name == store[i] || index(name, store[i] ",") == 1) found = name
            }
            if ($i == "") { if (found != "" && store[i] != "floor") wrong(store[i] " is left out"); continue }
            if (found == "" || figure[workload, found] != bare($i)) wrong(store[i] " is " (found == "" ? "no row" : figure[workload, found]) ", not " $i)
            if (store[i] == "floor") continue
            if (number($i) < low) low = number($i)
            if (number($i) > high) high = number($i)
        }
        for (i = 3; i < columns; i++) if ($i ~ /^\*\*/) { bold = 1; if (number($i) != low && number($i) != high) wrong(store[i] " is neither best nor least") }
        if (!bold) wrong("which store is the best one?")
    }
    columns && /^$/ { columns = 0 }
    END { if (shown < 10) print "only " shown + 0 " rows of speeds" }' "$root/bench/RESULTS.md" "$readme" >wrong
    claim 'each figure stands in bench/RESULTS.md' same "$(cat wrong)" ''
}

for group in short programs session leads faults figures; do
    $group
done
tally
