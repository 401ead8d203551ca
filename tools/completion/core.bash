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
