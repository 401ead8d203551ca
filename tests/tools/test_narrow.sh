#!/usr/bin/env bash
# tests/tools/test_narrow.sh BINDIR TMPDIR: on a terminal of 36 columns what is for people is no wider, and says the same;
# what is for programs, and records, stay as they are.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

if ! command -v script >/dev/null; then
    skip 'no script(1) to make a terminal'
    tally
    exit
fi
mkdir path && ln -s "$u9" "$fsck" path
PATH=$PWD/path:$PATH
# on COLUMNS COMMAND: what is shown on such a terminal, colours and lines that are written over left out.
on() { TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null | sed -E 's/\r*$//; s/.*\r//; s/\x1b\[[0-9;]*[mK]//g' >out; }
# The lines that are too wide, but for those of one word.
wide() { awk 'length > 36 && NF > 1' out; }
# Its words, one a line, but how many seconds ago something was.
words() { tr -s ' ' '\n' <out | grep -vx '([0-9]*'; }
fits() { # COMMAND
    verb=${1%% *}
    tried="${tried-} $verb"
    on 36 "u9 $1"
    claim "u9 $1" same "$(wide)" ''
    claim 'says something' test -s out
}
same_words() { # COMMAND
    on 36 "$1"
    claim "$1: has lines that go on in others" grep -q '^  ' out
    words >narrow
    on 200 "$1"
    words >usual
    claim '... and the same words as on a wide terminal' cmp narrow usual
}

for i in 1 2 3 4; do seq -f "{\"n\":$i%06g,\"who\":\"somebody\"}" 600 | u9 append --json --segment-size 64K log; done
seq 70001 70009 | tee lines | u9 append other
u9 append hurt lines lines
harm hurt/0000000000000001.u9 70005
echo '[{"name":["text",2.5]},12345678901234]' | u9 value encode >value
printf '{"a":1}\n{"a":}\n' >bad.jsonl

for command in 'append -v new lines' 'append --print-keys new lines' 'append nowhere/new lines' 'append log nothing' 'append' \
    'cat other' 'cat hurt' 'cat nothing' 'tail other' 'tail hurt' 'tail nothing' 'grep 7 hurt' \
    'grep nothing nowhere' 'get other nothing' 'get hurt 660F0977B092F-1E2CE821AC2-00000002' 'info log' 'info hurt' 'info nothing' 'stat log' \
    'stat nothing' 'stat --watch --every 10 -n 2 log' 'du log' 'du -s log' 'du nothing' 'mark nothing' 'index log' 'index --check log' \
    'index nothing' 'trim log' 'trim log --keep 64K --dry-run' 'trim nothing --keep 1K' 'tier log --to place --dry-run' \
    'tier log --to place' 'tier nothing --to place' 'split log' 'split nothing -n 2' 'scan log' 'scan hurt' \
    'snapshot -v log snap' 'snapshot hurt hurtsnap' 'merge out other hurt' 'merge out other' 'send other' 'recv new2' \
    'import jsonl imported bad.jsonl' 'import nothing log' 'export jsonl other' 'export jsonl hurt' 'export mcap other' \
    'id new muid' 'id new nothing' 'id show' 'value show value' 'value show lines' 'value nothing' 'value decode value' \
    'nothing' '--help' '--yson'; do
    fits "$command"
done
verbs=$(u9 --help | sed -n 's/^  \([a-z]*\)  *[a-zA-Z].*  .*/\1/p' | grep -vx u9)
claim 'each verb is among these' same "$(for v in $verbs; do [[ " $tried " == *" $v "* ]] || echo "$v"; done)" ''
for verb in $verbs; do fits "$verb --help"; done
for options in '' -q -v --map '--repair --heal' '--salvage saved' --nothing --help '--carve found'; do
    on 36 "u9fsck $options hurt"
    claim "u9fsck $options" same "$(wide)" ''
done

same_words 'u9 info hurt'
same_words 'u9fsck hurt'
same_words 'u9 cat nothing'
same_words 'u9 trim log --keep 64K --dry-run'

# What is no more than it has to be in a line: for programs, and to be copied.
on 36 'u9 mark log'
claim 'a mark is a line' same "$(cat out)" "$(u9 mark log)"
on 36 'u9 split log -n 2'
claim 'a range, too' same "$(cat out)" "$(u9 split log -n 2)"
on 36 'u9 info --json log'
claim 'and JSON' same "$(cat out)" "$(u9 info --json log)"
on 36 'u9fsck --json hurt'
claim 'of u9fsck as well' same "$(cat out)" "$(u9fsck --json hurt)"
on 36 'u9 id show muid 660F0977B092F-1E2CE821AC2-00000002'
claim 'and of an identifier' same "$(wc -l <out)" 1
printf 'a record of words that is wider than the terminal, and  two blanks\n' | tee text | u9 append words
on 36 'u9 cat words'
claim 'a record is not broken' cmp out text
on 36 'u9 scan log --count who'
claim 'nor is one that is counted' same "$(cat out)" "$(u9 scan log --count who)"
long=a-folder-whose-name-is-wider-than-the-terminal
on 36 "u9 cat $long"
claim 'a word that is wider has a line of its own' grep -qx "$long:" out
on 80 'u9 cat a-folder-that-is-not-there-whose-name-is-long; u9 info log'
claim 'terminals of 80 columns break lines as they do' grep -qE '^mark .* as of [^ ]* \([0-9]+ (s|min) ago\)$' out
tally
