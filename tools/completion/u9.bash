# bash completion of u9, u9fsck and u9bench. Made by `make manual` from what --help of the tools prints: do not edit.
# shellcheck shell=bash

_u9_verbs='append cat tail grep get info stat du mark index trim tier split scan snapshot merge send recv import export id value'
_u9_keys='# $1: a log, $2: how a key begins: the first and the last keys that begin so, where keys come in their order, and so are gone
# to straight: of logs of kind muid and tid. Nothing else of the log is read.
shown=$(timeout 2 u9 cat --keys -n 1 -- "$1" 2>/dev/null | head -n 1 | cut -f 1)
if printf %s "$shown" | grep -Eqx "[0-9A-F]{13}-[0-9A-F]{11}-[0-9A-F]{8}"; then
    low=0000000000000-00000000000-00000000 high=FFFFFFFFFFFFF-FFFFFFFFFFF-FFFFFFFF
elif printf %s "$shown" | grep -Eqx "[2-7a-z]{13}"; then
    low=2222222222222 high=bzzzzzzzzzzzz
else
    exit 0
fi
[ ${#2} -lt ${#low} ] || exit 0
past=$((${#2} + 1))
low=$2$(printf %s $low | cut -c $past-) high=$2$(printf %s $high | cut -c $past-)
for way in --limit=20 "--reverse --limit=20"; do
    timeout 2 u9 cat --keys $way --from="$low" --to="$high" -- "$1" 2>/dev/null
done | cut -f 1 | grep -Ex "[0-9A-F]{13}-[0-9A-F]{11}-[0-9A-F]{8}|[2-7a-z]{13}" | sort -u'

# Options: LETTER|NAME|ARGUMENT|o, if it may be left out|WORDS
_u9_table() {
    case $1 in
    append) echo '|cluster|N||
|generator|N[,CLUSTER]||
|index-memory|SIZE||
j|json|||
|keep|SIZE||
|keep-age|AGE||
|key|KIND||muid gid:log gid:volume gid:segment tid uid8 rkey rkey:tid rkey:literal:
|key-field|SEP||
|lock-file|PATH|o|
|lz4|||
|medallion|N||
|null|||
|print-keys|||
|progress|||
|rados|ADDRESS||
|segment-size|SIZE||
|skip-bad|||
|sync|POLICY||commit interval none
v|verbose|||
|whole|||
?|help|||
|usage|||
V|version|||' ;;
    cat) echo '|cursor|TEXT,FILE||
|format|FORMAT||lines json raw
|from|KEY,#ORDINAL||
f|follow|||
|keys|||
|mend|||
|no-pager|||
|null|||
n|limit|N||
|range|B-E||
|reverse|||
|save-cursor|FILE||
|segment|N||
|since|TIME||
|to|KEY,#ORDINAL||
|until|TIME||
?|help|||
|usage|||
V|version|||' ;;
    tail) echo '|format|FORMAT||lines json raw
f|follow|||
|keys|||
|null|||
n|limit|N||
?|help|||
|usage|||
V|version|||' ;;
    grep) echo 'c|count|||
e|regexp|PATTERN||
|from|KEY,#ORDINAL||
F|fixed|||
i|ignore-case|||
|json|||
j|jobs|N||
|keys|||
n|limit|N||
|reverse|||
|since|TIME||
|to|KEY,#ORDINAL||
|until|TIME||
v|invert|||
?|help|||
|usage|||
V|version|||' ;;
    get) echo '|all|||
|cursor|TEXT,FILE||
|format|FORMAT||lines json raw
|from|KEY,#ORDINAL||
|keys|||
|null|||
n|limit|N||
|reverse|||
|save-cursor|FILE||
|since|TIME||
|to|KEY,#ORDINAL||
|until|TIME||
?|help|||
|usage|||
V|version|||' ;;
    info) echo 'j|json|||
|no-pager|||
?|help|||
|usage|||
V|version|||' ;;
    stat) echo '|every|MS||
j|json|||
n|limit|N||
w|watch|||
?|help|||
|usage|||
V|version|||' ;;
    du) echo 'j|json|||
s|segments|||
?|help|||
|usage|||
V|version|||' ;;
    mark) echo 'j|json|||
?|help|||
|usage|||
V|version|||' ;;
    index) echo '|check|||
|drop|||
|dry-run|||
j|json|||
|memory|SIZE||
?|help|||
|usage|||
V|version|||' ;;
    trim) echo '|accept|||
|before|KEY,#ORDINAL||
|dry-run|||
j|json|||
|keep|SIZE||
|older|TIME||
?|help|||
|usage|||
V|version|||' ;;
    tier) echo '|dry-run|||
j|json|||
|keep|SIZE||
|older|TIME||
|to|PLACE||
|verify|||
?|help|||
|usage|||
V|version|||' ;;
    split) echo 'j|json|||
n|ranges|N||
|size|SIZE||
?|help|||
|usage|||
V|version|||' ;;
    scan) echo '|count-by|FIELD||
|json|||
j|jobs|N||
|range|LINE||
?|help|||
|usage|||
V|version|||' ;;
    snapshot) echo '|copy|||
j|json|||
|keep-trimmed|||
|strict|||
|verify-all|||
v|verbose|||
?|help|||
|usage|||
V|version|||' ;;
    merge) echo 'j|json|||
|lz4|||
|segment-size|SIZE||
|sort|SIZE||
|strict|||
?|help|||
|usage|||
V|version|||' ;;
    send) echo '|duplex|||
|from|#ORDINAL||
f|follow|||
|progress|||
v|verbose|||
?|help|||
|usage|||
V|version|||' ;;
    recv) echo '|duplex|||
|lz4|||
q|quiet|||
|segment-size|SIZE||
|sync|POLICY||commit interval none
v|verbose|||
?|help|||
|usage|||
V|version|||' ;;
    import) echo '|cluster|N||
|generator|N[,CLUSTER]||
|key|KIND||muid gid:log gid:volume gid:segment tid uid8 rkey rkey:tid rkey:literal:
|key-field|NAME||
|lock-file|PATH|o|
|lz4|||
|medallion|N||
|progress|||
|rados|ADDRESS||
|segment-size|SIZE||
|separator|SEP||
|skip-bad|||
|skip-rows|N||
|sync|POLICY||commit interval none
|table|NAME||
|time-field|NAME||
|typed|||
|value-field|NAME||
v|verbose|||
?|help|||
|usage|||
V|version|||' ;;
    export) echo '|from|KEY,#ORDINAL||
|key-field|NAME||
n|limit|N||
|progress|||
|reverse|||
|separator|SEP||
|since|TIME||
|skip-bad|||
|table|NAME||
|time-field|NAME||
|to|KEY,#ORDINAL||
|topic|NAME||
|until|TIME||
v|verbose|||
?|help|||
|usage|||
V|version|||' ;;
    id) echo '|layout|1..4||1 2 3 4
n|count|N||
|type|TYPE||volume log segment tid any literal:
|cluster|N||
|generator|N[,CLUSTER]||
|mode|MODE||spread time-sequential
|rados|ADDRESS||
|wait|SECONDS||
|zookeeper|HOST:PORT/PATH||
|bytes|||
|lenient|||
|strict|||
?|help|||
|usage|||
V|version|||' ;;
    value) echo 'j|json|||
|no-pager|||
|skip-bad|||
t|text|||
x|hex|||
?|help|||
|usage|||
V|version|||' ;;
    u9fsck) echo '|accept-loss|||
|carve|OUT||
|heal|TIME|o|
|html|FILE||
|json|||
j|jobs|N||
|linked|||
|map|||
|mark|LINE,FILE||
n||||
p||||
q|quiet|||
|repair|||
|salvage|OUT||
|undo|||
v|verbose|||
y||||
?|help|||
|usage|||
V|version|||' ;;
    u9bench) echo '|list|||
|batch|N||
|data|FILE||
d|dir|DIR||
e|engines|NAMES||
i|io|TABLE||posix uring
l|lines|DIR||
|minutes|N||
n|records|N||
|policy|NAME||commit interval none
r|rounds|N||
|threads|N||
|value-size|BYTES||
|html|FILE||
|json|FILE||
|markdown|FILE||
|plot|FILE||
q|quiet|||
?|help|||
|usage|||
V|version|||' ;;
    esac
}
_u9_usage() {
    case $1 in
    append) echo 'LOG [FILE...]' ;;
    cat) echo 'LOG' ;;
    tail) echo 'LOG' ;;
    grep) echo 'FIELD=VALUE|PATTERN LOG' ;;
    get) echo 'LOG KEY...' ;;
    info) echo 'LOG' ;;
    stat) echo 'LOG' ;;
    du) echo 'LOG' ;;
    mark) echo 'LOG' ;;
    index) echo 'LOG' ;;
    trim) echo 'LOG' ;;
    tier) echo 'LOG' ;;
    split) echo 'LOG' ;;
    scan) echo 'LOG' ;;
    snapshot) echo 'LOG DIR' ;;
    merge) echo 'OUT LOG...' ;;
    send) echo 'LOG' ;;
    recv) echo 'LOG' ;;
    import) echo 'FORMAT LOG [FILE]' ;;
    export) echo 'FORMAT LOG [FILE]' ;;
    id) echo 'new KIND
show KIND TEXT...
make KIND FIELD=VALUE...' ;;
    value) echo 'encode [FILE...]
decode [FILE...]
show [FILE...]
patch BASE [FILE...]' ;;
    u9fsck) echo 'LOG' ;;
    u9bench) echo '[WORKLOAD...]' ;;
    esac
}
_u9_values() {
    case "$1 $2" in
    'import FORMAT') echo 'jsonl csv journal mcap avro sqlite' ;;
    'export FORMAT') echo 'jsonl csv mcap avro sqlite' ;;
    'id KIND') echo 'muid gid gid:volume gid:log gid:segment tid uid8 rkey rkey:tid' ;;
    esac
}

# Fills `line`: the words in front of the cursor as blanks part them. Readline parts them at `=` and `:` as well.
_u9_words() {
    local rest=$COMP_LINE i token
    line=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        token=${COMP_WORDS[i]}
        if [[ $i = 0 || -z $rest || $rest = [[:blank:]]* ]]; then
            rest=${rest#"${rest%%[![:blank:]]*}"}
            line+=("$token")
        else
            line[${#line[@]}-1]+=$token
        fi
        rest=${rest#"$token"}
    done
}

# _u9_offer BEGINNING WORD...: those that begin so, without what stands in front of the last `=` or `:`, which stays in the line.
_u9_offer() {
    local begin=$1 kept=${1%"${1##*[:=]}"} word
    shift
    for word in "$@"; do [[ $word != "$begin"* ]] || COMPREPLY+=("${word#"$kept"}"); done
}

_u9_paths() { # BEGINNING -f|-d [PATTERN]: files, or folders; of files all folders and those that are named so
    local path
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
        # shellcheck disable=SC2053 # a pattern
        if [[ -d $path || -z ${3-} || $path = $3 ]]; then COMPREPLY+=("$path"); fi
    done < <(compgen "$2" -- "$1")
}

# _u9_argument COMMAND WHAT WORDS BEGINNING: WHAT is the name of an argument, WORDS what it may be.
_u9_argument() {
    local word
    if [[ -n $3 ]]; then
        read -ra word <<<"$3"
        case $3 in *:) compopt -o nospace 2>/dev/null ;; esac
        _u9_offer "$4" "${word[@]}"
        return
    fi
    case $2 in
    LOG) _u9_paths "$4" -f '*.u9' ;;
    FILE | PATH | BASE | *,FILE) _u9_paths "$4" -f ;;
    DIR | OUT) _u9_paths "$4" -d ;;
    KEY) mapfile -t word < <(sh -c "$_u9_keys" u9 "${logs/#\~\//$HOME/}" "$4") && _u9_offer "$4" "${word[@]}" ;;
    WORKLOAD) mapfile -t word < <(u9bench --list 2>/dev/null | sed -n 's/^\([a-z0-9-]*\)  *[A-Z].*/\1/p') && _u9_offer "$4" "${word[@]}" ;;
    esac
}

# The option that WORD names, of TABLE: its line.
_u9_option() { # TABLE WORD
    local name=${2#--}
    case $2 in
    --*)
        name=${name%%=*}
        grep -m 1 "^[^|]*|$name|" <<<"$1" || grep -m 1 "^[^|]*|$name" <<<"$1"
        ;;
    -?*)
        grep -m 1 "^${2: -1}|" <<<"$1"
        ;;
    esac
}

_u9_complete() {
    local line=() command table usage word option given=() logs='' cur last ended='' i part
    _u9_words
    command=${line[0]##*/} i=1
    cur=${line[${#line[@]}-1]}
    if [[ $command = u9 ]]; then
        if [[ ${#line[@]} -le 2 ]]; then
            # shellcheck disable=SC2086 # words
            _u9_offer "$cur" $_u9_verbs help --help --version
            return
        fi
        if [[ ${line[1]} = help ]]; then
            # shellcheck disable=SC2086 # words
            [[ ${#line[@]} -ne 3 ]] || _u9_offer "$cur" $_u9_verbs
            return
        fi
        command=${line[1]} i=2
    fi
    table=$(_u9_table "$command")
    [[ -n $table ]] || return
    # What of the words in front is an argument; what the last one of them asks for.
    for (( ; i < ${#line[@]} - 1; i++)); do
        word=${line[i]} last=''
        if [[ -z $ended && $word = -- ]]; then
            ended=1
        elif [[ -z $ended && $word = -?* ]]; then
            [[ $word = --*=* ]] && continue
            IFS='|' read -r -a option <<<"$(_u9_option "$table" "$word")"
            if [[ -n ${option[2]-} && -z ${option[3]-} ]]; then last=1 && i=$((i + 1)); fi
        else
            given+=("$word")
        fi
    done
    if [[ -n $last && $i -ge ${#line[@]} ]]; then
        _u9_argument "$command" "${option[2]}" "${option[4]-}" "$cur"
        return
    fi
    if [[ -z $ended && $cur = --*=* ]]; then
        IFS='|' read -r -a option <<<"$(_u9_option "$table" "$cur")"
        _u9_argument "$command" "${option[2]-}" "${option[4]-}" "${cur#*=}"
        return
    fi
    if [[ -z $ended && $cur = -* ]]; then
        while IFS='|' read -r -a option; do
            if [[ -z ${option[1]} ]]; then
                _u9_offer "$cur" "-${option[0]}"
            elif [[ -n ${option[2]-} && -z ${option[3]-} ]]; then
                _u9_offer "$cur" "--${option[1]}="
            else
                _u9_offer "$cur" "--${option[1]}"
            fi
        done <<<"$table"
        case ${COMPREPLY[*]} in *=) [[ ${#COMPREPLY[@]} -ne 1 ]] || compopt -o nospace 2>/dev/null ;; esac
        return
    fi
    # The argument at this place, of each usage that fits those in front.
    logs=${given[0]-}
    local seen='|'
    while read -r -a usage; do
        for i in "${!given[@]}"; do
            part=${usage[i]-}
            [[ $part != [a-z]* || $part = "${given[i]}" ]] || continue 2
        done
        i=${#given[@]}
        part=${usage[i]-}
        [[ -n $part || ${#usage[@]} -eq 0 ]] || part=${usage[${#usage[@]}-1]}
        [[ $i -lt ${#usage[@]} || $part = *...* ]] || continue
        part=${part#\[} part=${part%\]} part=${part%...}
        [[ $seen != *"|$part|"* ]] || continue
        seen+="$part|"
        if [[ $part = [a-z]* ]]; then _u9_offer "$cur" "$part"; else _u9_argument "$command" "$part" "$(_u9_values "$command" "$part")" "$cur"; fi
    done <<<"$(_u9_usage "$command")"
}

complete -F _u9_complete u9 u9fsck u9bench
