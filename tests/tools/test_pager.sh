#!/usr/bin/env bash
# tests/tools/test_pager.sh BINDIR TMPDIR: what goes to a terminal goes through a pager, and nothing else does.
# shellcheck source=tests/tools/claims.sh
. "$(dirname "$0")/claims.sh"

if ! command -v script >/dev/null; then
    skip 'no script(1) to make a terminal'
    tally
    exit
fi
in_terminal() { TERM=xterm script -qec "$*" /dev/null </dev/null | tr -d '\r' >out; }
# The pagers are scripts, so that nobody has to turn pages.
mkdir path
printf '#!/bin/sh\nexec sed s/^/paged:/\n' >path/pages
printf '#!/bin/sh\nexec sed "s/^/less $LESS:/"\n' >path/less
printf '#!/bin/sh\nhead -n 1\n' >path/glance
chmod +x path/*
PATH=$PWD/path:$PATH
unset U9_PAGER PAGER LESS

printf 'alpha\nbeta\n' | "$u9" append log
in_terminal "$u9" cat log
claim 'less is the pager where none is named, and leaves what fits on the screen' same "$(cat out)" 'less FRX:alpha
less FRX:beta'
LESS=S in_terminal "$u9" cat log
claim 'who has options for it keeps them' same "$(head -n 1 out)" 'less S:alpha'
PAGER=pages in_terminal "$u9" cat log
claim '$PAGER is another' same "$(head -n 1 out)" 'paged:alpha'
PAGER=less U9_PAGER=pages in_terminal "$u9" cat log
claim '$U9_PAGER goes before it' same "$(head -n 1 out)" 'paged:alpha'
for none in '' cat; do
    PAGER=pages U9_PAGER=$none in_terminal "$u9" cat log
    claim "'$none' is none" same "$(head -n 1 out)" alpha
done
export U9_PAGER=pages
in_terminal "$u9" cat --no-pager log
claim 'nor is there one with --no-pager' same "$(head -n 1 out)" alpha
claim 'nor where the output is no terminal' same "$("$u9" cat log | head -n 1)" alpha
in_terminal "$u9" tail log
claim 'tail is short enough' same "$(head -n 1 out)" alpha
(unset U9_PAGER && TERM=dumb script -qec "$u9 cat log" /dev/null </dev/null | tr -d '\r' >out)
claim 'a dumb terminal has none by itself' same "$(head -n 1 out)" alpha

in_terminal "$u9" info log
claim 'info is paged' grep -q '^paged:records      2$' out
in_terminal "$u9" info --no-pager log
claim 'unless it is not to be' grep -q '^records      2$' out
echo 1 | "$u9" value encode >v
in_terminal "$u9" value show v
claim 'value show is paged' grep -q '^paged:  *0 ' out

printf 'a\033[31mb\n' | "$u9" append colour
in_terminal "$u9" cat colour
claim 'control characters are shown, and not sent, through a pager, too' grep -qF 'paged:a\x1b[31mb' out
in_terminal "$u9" cat --format raw log
claim 'raw records are not for a terminal, pager or not' grep -q 'not for a terminal' out

in_terminal "$u9 cat nothing; echo status \$?"
claim 'a refusal is seen, and is the status' same "$(grep -c 'nothing' out) $(tail -n 1 out)" '1 status 1'
for i in 1 2 3; do seq -f "${i}0%03g" 1 100 | "$u9" append hurt; done
harm "$(find hurt -name '*.u9' | sort | head -n 1)" 10050
in_terminal "$u9 cat hurt; echo status \$?"
claim 'what is told of damage goes through it, too, and so is its status' same "$(grep -c '^paged:u9 cat: .*CORRUPT' out) $(tail -n 1 out)" '1 status 3'
claim 'the prompt comes behind all of it' same "$(tail -n 2 out | head -n 1)" 'paged:30100'
seq 100000 | "$u9" append long
U9_PAGER=glance in_terminal "$u9 cat long; echo ended"
claim 'a pager that goes away early ends it, without a word' same "$(cat out)" '1
ended'
# A signal means what the pager makes of it: u9 stops writing, waits for it, and only then ends by the signal. It comes to u9
# alone, or, as Ctrl-C does, to all on the terminal; this pager goes on in either case, and says so.
cat >path/stays <<'END'
#!/bin/sh
trap 'echo interrupted' INT
parent_of() { sed 's/.*) . \([0-9]*\).*/\1/' /proc/$1/stat; }
read -r first
u9=$(parent_of $PPID)
if [ "$WHOM" = u9 ]; then kill -$SIGNAL $u9; else kill -$SIGNAL 0; fi
echo "$first"
tail -c 1 >/dev/null
[ "$(parent_of $$) $(parent_of $PPID)" = "$PPID $u9" ] && echo 'the pager ends first'
END
chmod +x path/stays
for signal in 2 15 1; do
    whom=u9
    [ $signal != 2 ] || whom='u9 all'
    for whom in $whom; do
    # Its own process group, which Ctrl-C is for: bash gives one to each job.
        cat >job <<END
set -m
trap : INT
WHOM=$whom SIGNAL=$signal U9_PAGER=stays $u9 cat long 2>/dev/null
echo "status \$?"
END
        in_terminal bash job
        claim "signal $signal to $whom: the pager goes on to its end, then u9 ends by it" \
            same "$(grep -Ev 'interrupted|job: line|^Terminated' out | tr '\n' ' ')" "1 the pager ends first status $((128 + signal)) "
        [ $whom = u9 ] || claim 'and the pager had it, too' grep -qx interrupted out
    done
done
U9_PAGER=/nonexistent/pager in_terminal "$u9 cat log; echo ended"
claim 'one that is not there is said' same "$(tail -n 1 out) $(grep -c 'nonexistent' out)" 'ended 1'
claim 'and does not keep anything back' grep -qx alpha out
tally
