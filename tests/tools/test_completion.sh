#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# tests/tools/test_completion.sh BINDIR TMPDIR: what bash, zsh and fish offer behind a line that was begun.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/claims.sh"
PATH=$bin:$PATH
at=$root/tools/completion

# offers LINE: what bash offers at its end, on one line. Words are parted as readline parts them: at blanks, `=` and `:`.
. "$at/u9.bash"
offers() (
    set +u
    LINE=$1 COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=() rest=$1
    while [ -n "$rest" ]; do
        case $rest in
        [[:blank:]]*) rest=${rest#"${rest%%[![:blank:]]*}"} && continue ;;
        [=:]*) word=${rest%%[!=:]*} ;;
        *) word=${rest%%[=:[:blank:]]*} ;;
        esac
        COMP_WORDS+=("$word") rest=${rest#"$word"}
    done
    case $LINE in *[[:blank:]]) COMP_WORDS+=("") ;; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    how=$(complete -p "${COMP_WORDS[0]##*/}") && how=${how#*-F } && ${how%% *} u9 "${COMP_WORDS[COMP_CWORD]}" ""
    printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "
) 2>&1
offered() { claim "bash: '$1': $2" same "$(offers "$1")" "$2"; }
has() { claim "bash: '$1': $2 is one of them" has_word "$2" "${3-$(offers "$1")}"; }
has_word() { case " $2 " in *" $1 "*) ;; *) echo "not in: $2" && false ;; esac; }

words_of_bash() {
    offered 'u9 ap' append
    offered 'u9 s' 'scan send snapshot split stat'
    offered 'u9 he' help
    offered 'u9 help s' 'scan send snapshot split stat'
    offered 'u9 help scan ' ''
    offered 'u9 --ve' --version
    offered 'u9 cat --re' --reverse
    offered 'u9 append --key' '--key-field= --key='
    offered 'u9 append --sync=' 'commit interval none'
    offered 'u9 append --sync=in' interval
    offered 'u9 append --sync c' commit
    offered 'u9 append --key=gid:' 'log segment volume'
    offered 'u9 append --key gid:l' log
    offered 'u9 append --key=rk' 'rkey rkey:literal: rkey:tid'
    offered 'u9 get --format j' json
    offered 'u9 id ' 'make new show'
    offered 'u9 id new u' uid8
    offered 'u9 id new --mode=s' spread
    offered 'u9 value d' decode
    offered 'u9fsck --sa' --salvage=
    offered 'u9fsck --j' '--jobs= --json'
    offered "$bin/u9 app" append
    offered 'u9 cat -n ' ''
    offered 'u9 append --cluster=' ''
    offered 'u9 nothing --' ''
    offered 'u9 cat -- --re' ''
    [ ! -x "$bin/u9bench" ] || has 'u9bench app' append-1k
    verbs=$(offers 'u9 ')
    for verb in $("$u9" --help | sed -n 's/^  \([a-z]*\)  *[a-zA-Z].*  .*/\1/p' | grep -vx u9); do has 'u9 ' "$verb" "$verbs"; done
}

paths_of_bash() {
    mkdir -p logs/old && printf 'a\nb\n' | "$u9" append logs/mylog && : >logs/notes && : >other
    offered 'u9 cat l' logs
    offered 'u9 cat logs/' 'logs/mylog logs/old'
    offered 'u9 info --json logs/m' logs/mylog
    offered 'u9 cat logs/mylog/0' logs/mylog/0000000000000001.u9
    offered 'u9 append logs/mylog o' other
    offered 'u9 cat --cursor=o' other
    offered 'u9 cat --cursor o' other
    offered 'u9 cat -n 3 logs/m' logs/mylog
    offered 'u9 append --lock-file l' logs
    offered 'u9fsck --salvage=l' logs
    offered 'u9fsck --salvage out l' logs
    offered 'u9 cat logs/mylog l' ''
    offered 'u9 snapshot logs/mylog l' logs
}

# Of many the first and the last: what they all begin with is completed.
keys_of_bash() {
    seq 100 | "$u9" append --print-keys keyed >keys
    "$u9" id make muid time=2001-01-01 medallion=5 offset=7 >early
    first=$(head -n 1 keys) last=$(tail -n 1 keys)
    has 'u9 get keyed ' "$first"
    has 'u9 get keyed ' "$last"
    has "u9 get keyed ${last%????}" "$last"
    has "u9 get keyed $first ${last%????}" "$last"
    claim 'not all of them' test "$(offers 'u9 get keyed ' | wc -w)" -le 40
    offered "u9 get keyed ${last%?}" "$(grep "^${last%?}" keys | paste -sd ' ')"
    offered "u9 get keyed $(cut -c 1-8 early)" ''
    seq 5 | "$u9" append --key tid --print-keys tids >keys
    has 'u9 get tids ' "$(head -n 1 keys)"
    printf 'k1\tv\n' | "$u9" append --key rkey --key-field '\t' own
    offered 'u9 get own k' ''
    offered 'u9 get nolog k' ''
}

# What is offered for an option is taken by it, and stands in its help.
values_are_taken() {
    grep -v '^#' "$at/values" | grep ' --' | while read -r command option words; do
        case $command in u9*) tool=$bin/$command ;; *) tool="$u9 $command" ;; esac
        [ "$command" != u9bench ] || [ -x "$tool" ] || continue
        $tool --help | tr '\n' ' ' | sed 's/  */ /g' >help
        for word in $words; do
            case $word in *:) word=${word}x ;; esac
            # shellcheck disable=SC2086 # words
            case $command in id) $tool $option "$word" new muid ;; u9bench) $tool $option "$word" --list ;; *) $tool $option "$word" nolog/nolog </dev/null ;; esac >out 2>&1
            grep -q -e 'is not a' -e 'not a number' -e 'there are layouts' -e 'unknown' out && echo "$command $option $word: $(cat out)"
            case $word in [0-9]) continue ;; esac
            grep -qF "${word%:x}" help || echo "$command $option $word: not in its help"
        done
    done >bad
    claim 'what is offered for an option is taken, and stands in its help' same "$(cat bad)" ''
    for kind in $(sed -n 's/^append --key //p' "$at/values"); do
        case $kind in *:) kind=${kind}x ;; esac
        claim "a log may have keys of kind $kind" "$u9" append --generator=5 --key "$kind" "of-$kind" /dev/null
    done
}

other_shells() {
    if command -v fish >/dev/null; then
        export HOME=$tmp XDG_CONFIG_HOME=$tmp XDG_DATA_HOME=$tmp
        fish_offers() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$at/u9.fish" "$1" 2>&1 | cut -f 1 | sort | paste -sd ' '; }
        claim 'fish: verbs' same "$(fish_offers 'u9 s')" 'scan send snapshot split stat'
        claim 'fish: help, of a verb' same "$(fish_offers 'u9 he') $(fish_offers 'u9 help s')" 'help scan send snapshot split stat'
        claim 'fish: options' same "$(fish_offers 'u9 cat --rev')" --reverse
        claim 'fish: what an option takes' same "$(fish_offers 'u9 append --sync ')" 'commit interval none'
        claim 'fish: what is done with identifiers' same "$(fish_offers 'u9 id n')" new
        claim 'fish: keys' has_word "$last2" "$(fish_offers "u9 get keyed ${last2%???}")"
    else
        skip 'fish is not installed'
    fi
    if command -v zsh >/dev/null; then
        cat >in_terminal <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1= LISTMAX=1000; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; echo REA''DY"
zpty -r -m z said '*READY*'
for line in "${@:2}"; do
    zpty -n -w z "$line"$'\t\x01echo LI\'\'NE: \x05\n'
    zpty -r -m z said '*LINE: *'$'\n*'
    print -r -- ${${said##*LINE: }%%[[:cntrl:]]*}
done
END
        key=$("$u9" cat --keys -n 1 logs/mylog | cut -f 1)
        zsh_lines=('u9 app' 'u9 cat --rev' 'u9 append --sync=in' 'u9 id n' 'u9 info logs/my' 'u9fsck --salv' "u9 get --all logs/mylog ${key%????????????}" 'u9 help spl')
        timeout 100 zsh -f in_terminal "$at" "${zsh_lines[@]}" >made 2>&1 # of each, at a terminal, by the tabulator
        zsh_makes() { # LINE
            local i
            for ((i = 0; i < ${#zsh_lines[@]}; i++)); do [ "${zsh_lines[i]}" != "$1" ] || sed -n $((i + 1))p made; done
        }
        claim 'zsh: a verb' same "$(zsh_makes 'u9 app')" 'u9 append'
        claim 'zsh: help of a verb' same "$(zsh_makes 'u9 help spl')" 'u9 help split'
        claim 'zsh: an option' same "$(zsh_makes 'u9 cat --rev')" 'u9 cat --reverse'
        claim 'zsh: what an option takes' same "$(zsh_makes 'u9 append --sync=in')" 'u9 append --sync=interval'
        claim 'zsh: what is done with identifiers' same "$(zsh_makes 'u9 id n')" 'u9 id new'
        claim 'zsh: a log' same "$(zsh_makes 'u9 info logs/my')" 'u9 info logs/mylog'
        claim 'zsh: of u9fsck' same "$(zsh_makes 'u9fsck --salv')" 'u9fsck --salvage'
        claim 'zsh: what all keys begin with' same "$(zsh_makes "u9 get --all logs/mylog ${key%????????????}")" "u9 get --all logs/mylog ${key%?}"
    else
        skip 'zsh is not installed'
    fi
}

words_of_bash
paths_of_bash
keys_of_bash
last2=$("$u9" cat --reverse -n 1 --keys keyed | cut -f 1)
values_are_taken
other_shells
tally
